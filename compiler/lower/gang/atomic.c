/* Atomics of a gang: LLVM's atomicrmw, loops of compare and swap (f16, min and max of floats),
 * counts of several threads joined, counts in copies and in few elements.
 *
 * Where a block's threads run one at a time, an atomic on shared memory is a plain update. Updates of one
 * place whose results nobody asks for are combined first, and done once; sums of floats in the order of
 * the threads, as single updates would. */
#include "lower/gang/gang.h"

#include <math.h>
#include <string.h>

/* ---- Atomics ---- */

static LLVMAtomicRMWBinOp rmw_op(kj_builtin id, kj_dtype type)
{
    bool f = kj_is_float(type), s = kj_is_signed(type);
    switch (id) {
    case KJ_BI_ATOMIC_ADD: return f ? LLVMAtomicRMWBinOpFAdd : LLVMAtomicRMWBinOpAdd;
    case KJ_BI_ATOMIC_MIN:
        return f ? LLVMAtomicRMWBinOpFMin : s ? LLVMAtomicRMWBinOpMin : LLVMAtomicRMWBinOpUMin;
    case KJ_BI_ATOMIC_MAX:
        return f ? LLVMAtomicRMWBinOpFMax : s ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpUMax;
    case KJ_BI_ATOMIC_AND: return LLVMAtomicRMWBinOpAnd;
    case KJ_BI_ATOMIC_OR: return LLVMAtomicRMWBinOpOr;
    case KJ_BI_ATOMIC_XOR: return LLVMAtomicRMWBinOpXor;
    case KJ_BI_ATOMIC_INC: return LLVMAtomicRMWBinOpUIncWrap;
    case KJ_BI_ATOMIC_DEC: return LLVMAtomicRMWBinOpUDecWrap;
    default: return LLVMAtomicRMWBinOpXchg;
    }
}

/* What stands in memory afterwards. */
static kj_tile combine(kj_lower *lo, kj_builtin id, kj_tile old, kj_tile v)
{
    switch (id) {
    case KJ_BI_ATOMIC_ADD: return kj_tile_binary(lo, KJ_OP_ADD, old, v);
    case KJ_BI_ATOMIC_AND: return kj_tile_binary(lo, KJ_OP_AND, old, v);
    case KJ_BI_ATOMIC_OR: return kj_tile_binary(lo, KJ_OP_OR, old, v);
    case KJ_BI_ATOMIC_XOR: return kj_tile_binary(lo, KJ_OP_XOR, old, v);
    case KJ_BI_ATOMIC_MIN:
    case KJ_BI_ATOMIC_MAX: return kj_lower_min(lo, old, v, id == KJ_BI_ATOMIC_MAX);
    case KJ_BI_ATOMIC_INC:
    case KJ_BI_ATOMIC_DEC: break;
    default: return v;
    }
    bool up = id == KJ_BI_ATOMIC_INC;
    kj_tile zero = kj_tile_const(lo, kj_int(v.type, 0)), one = kj_tile_const(lo, kj_int(v.type, 1));
    kj_tile next = kj_tile_binary(lo, up ? KJ_OP_ADD : KJ_OP_SUB, old, one);
    kj_tile over = kj_tile_binary(lo, up ? KJ_OP_GE : KJ_OP_GT, old, v);
    if (up)
        return kj_tile_select(lo, over, zero, next);
    over = kj_tile_binary(lo, KJ_OP_OR, over, kj_tile_binary(lo, KJ_OP_EQ, old, zero));
    return kj_tile_select(lo, over, v, next);
}

static LLVMValueRef combine_one(kj_lower *lo, kj_builtin id, kj_dtype type, LLVMValueRef old,
                                LLVMValueRef v)
{
    return combine(lo, id, kj_tile_scalar(type, old), kj_tile_scalar(type, v)).v[0];
}

/* A block has one worker on a CPU. */
static LLVMValueRef update_shared(kj_lower *lo, kj_builtin id, kj_dtype type, LLVMValueRef at,
                                  LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef old = LLVMBuildLoad2(lo->b, lo->types[type], at, "");
    LLVMValueRef next;
    if (id == KJ_BI_ATOMIC_CAS) {
        LLVMTypeRef bits = LLVMIntTypeInContext(lo->ctx, kj_types[type].bits);
        LLVMValueRef was = LLVMBuildBitCast(lo->b, old, bits, ""),
                     want = LLVMBuildBitCast(lo->b, a, bits, "");
        next = LLVMBuildSelect(lo->b, LLVMBuildICmp(lo->b, LLVMIntEQ, was, want, ""), b, old, "");
    } else {
        next = combine_one(lo, id, type, old, a);
    }
    LLVMBuildStore(lo->b, next, at);
    return old;
}

/* Locks are made of exchanges: what a thread did to memory before one is seen by those who find its
 * value. LLVM writes no order into a GPU's instruction itself. */
static LLVMValueRef exchange(kj_lower *lo, LLVMValueRef at, LLVMValueRef v, bool shared)
{
    lo->target->order(lo, shared);
    LLVMValueRef old = LLVMBuildAtomicRMW(lo->b, LLVMAtomicRMWBinOpXchg, at, v,
                                          LLVMAtomicOrderingMonotonic, false);
    lo->target->order(lo, shared);
    return lo->target->scope(lo, old, shared);
}

/* Is there no instruction for it? */
static bool needs_swap(const kj_lower *lo, kj_builtin id, kj_dtype type)
{
    if (id == KJ_BI_ATOMIC_INC || id == KJ_BI_ATOMIC_DEC)
        return !lo->target->counts || kj_types[type].bits == 64;
    if (kj_is_half(type) && id == KJ_BI_ATOMIC_ADD)
        return !lo->target->has_half(lo, type, KJ_HALF_ADD);
    if (kj_is_half(type) && id == KJ_BI_ATOMIC_EXCH)
        return lo->target->swaps_f16;
    return kj_is_float(type) && (id == KJ_BI_ATOMIC_MIN || id == KJ_BI_ATOMIC_MAX);
}

/* What an update makes of the old value. */
typedef LLVMValueRef next_fn(kj_lower *lo, LLVMValueRef old, const void *arg);

/* Compares and swaps until nobody came between. */
static LLVMValueRef update_by_swap(kj_lower *lo, kj_dtype type, LLVMValueRef at, bool shared,
                                   next_fn *next_of, const void *arg)
{
    LLVMTypeRef bits = LLVMIntTypeInContext(lo->ctx, kj_types[type].bits);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(lo->b), loop = kj_new_block(lo, "again"),
                      swap = kj_new_block(lo, "swap"), done = kj_new_block(lo, "done");
    LLVMValueRef first = LLVMBuildLoad2(lo->b, bits, at, "");
    LLVMSetOrdering(first, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(first, kj_types[type].size);
    lo->target->scope(lo, first, shared);
    LLVMBuildBr(lo->b, loop);
    LLVMPositionBuilderAtEnd(lo->b, loop);
    LLVMValueRef was = LLVMBuildPhi(lo->b, bits, ""),
                 old = LLVMBuildBitCast(lo->b, was, lo->types[type], "");
    LLVMValueRef next = LLVMBuildBitCast(lo->b, next_of(lo, old, arg), bits, "");
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntEQ, next, was, ""), done, swap);
    LLVMPositionBuilderAtEnd(lo->b, swap);
    LLVMValueRef pair = lo->target->compare_swap(lo, at, was, next, false, shared);
    LLVMValueRef seen = LLVMBuildExtractValue(lo->b, pair, 0, "");
    LLVMBuildCondBr(lo->b, LLVMBuildExtractValue(lo->b, pair, 1, ""), done, loop);
    LLVMAddIncoming(was, (LLVMValueRef[]){first, seen}, (LLVMBasicBlockRef[]){before, swap}, 2);
    LLVMPositionBuilderAtEnd(lo->b, done);
    return old;
}

/* One thread's. */
typedef struct own {
    kj_builtin id;
    kj_dtype type;
    LLVMValueRef v;
} own;

static LLVMValueRef next_of_one(kj_lower *lo, LLVMValueRef old, const void *arg)
{
    const own *u = arg;
    return combine_one(lo, u->id, u->type, old, u->v);
}

static LLVMValueRef update_atomic(kj_lower *lo, kj_builtin id, kj_dtype type, LLVMValueRef at,
                                  LLVMValueRef a, LLVMValueRef b, bool shared)
{
    if (needs_swap(lo, id, type)) {
        bool orders = id == KJ_BI_ATOMIC_EXCH;
        if (orders)
            lo->target->order(lo, shared);
        LLVMValueRef old = update_by_swap(lo, type, at, shared, next_of_one, &(own){id, type, a});
        if (orders)
            lo->target->order(lo, shared);
        return old;
    }
    if (id == KJ_BI_ATOMIC_EXCH)
        return exchange(lo, at, a, shared);
    if (id != KJ_BI_ATOMIC_CAS) {
        LLVMTypeRef type_of_a = LLVMTypeOf(a);
        if (kj_is_half(type))
            a = LLVMBuildBitCast(lo->b, a, kj_half_type(lo, type, 1), "");
        LLVMValueRef old =
            LLVMBuildAtomicRMW(lo->b, rmw_op(id, type), at, a, LLVMAtomicOrderingMonotonic, false);
        return LLVMBuildBitCast(lo->b, lo->target->scope(lo, old, shared), type_of_a, "");
    }
    LLVMTypeRef bits = LLVMIntTypeInContext(lo->ctx, kj_types[type].bits);
    a = LLVMBuildBitCast(lo->b, a, bits, "");
    b = LLVMBuildBitCast(lo->b, b, bits, "");
    LLVMValueRef pair = lo->target->compare_swap(lo, at, a, b, true, shared);
    return LLVMBuildBitCast(lo->b, LLVMBuildExtractValue(lo->b, pair, 0, ""), lo->types[type], "");
}

static bool is_plain(const kj_lower *lo, const kj_tarray *a, bool alone)
{
    return alone || (a->root->space == KJ_SHARED && lo->target->serial);
}

/* `alone`: the array is a copy that the worker alone has. */
static LLVMValueRef update(kj_lower *lo, const kj_texpr *e, LLVMValueRef base, LLVMValueRef index,
                           LLVMValueRef a, LLVMValueRef b, bool alone)
{
    const kj_tarray *array = e->u.atomic.array;
    LLVMValueRef at = kj_lower_element(lo, array->elem, base, index);
    bool shared = array->root->space == KJ_SHARED;
    if (is_plain(lo, array, alone))
        return update_shared(lo, e->u.atomic.id, array->elem, at, a, b);
    return update_atomic(lo, e->u.atomic.id, array->elem, at, a, b, shared);
}

/* Ways to go by whether an array is the worker's own. */
typedef struct fork {
    LLVMBasicBlockRef common, done;
} fork;

static bool is_tally(const kj_lower *lo, const kj_texpr *e)
{
    return lo->own && e->u.atomic.array->root->tally;
}

/* What follows is for the worker's own. */
static fork fork_own(kj_lower *lo)
{
    LLVMBasicBlockRef copy = kj_new_block(lo, "copy");
    fork f = {kj_new_block(lo, "common"), kj_new_block(lo, "done")};
    LLVMBuildCondBr(lo->b, lo->own, copy, f.common);
    LLVMPositionBuilderAtEnd(lo->b, copy);
    return f;
}

static void fork_common(kj_lower *lo, const fork *f)
{
    LLVMBuildBr(lo->b, f->done);
    LLVMPositionBuilderAtEnd(lo->b, f->common);
}

static void fork_end(kj_lower *lo, const fork *f)
{
    LLVMBuildBr(lo->b, f->done);
    LLVMPositionBuilderAtEnd(lo->b, f->done);
}

/* One update, whose old value nobody asks for. */
static void update_once(kj_lower *lo, const kj_texpr *e, LLVMValueRef base, LLVMValueRef index,
                        LLVMValueRef v)
{
    if (!is_tally(lo, e)) {
        update(lo, e, base, index, v, NULL, false);
        return;
    }
    fork f = fork_own(lo);
    update(lo, e, base, index, v, NULL, true);
    fork_common(lo, &f);
    update(lo, e, base, index, v, NULL, false);
    fork_end(lo, &f);
}

/* Can values be combined before memory sees them, in any order and grouping? */
static bool combines(const kj_lower *lo, kj_builtin id, kj_dtype type)
{
    return (id == KJ_BI_ATOMIC_ADD && (!kj_is_float(type) || lo->kernel->fastmath)) ||
           id == KJ_BI_ATOMIC_MIN || id == KJ_BI_ATOMIC_MAX || id == KJ_BI_ATOMIC_AND ||
           id == KJ_BI_ATOMIC_OR || id == KJ_BI_ATOMIC_XOR;
}

/* Can they be added to one place at once, one after the other? Halves round at each, which takes as
 * much code. */
static bool adds_in_order(kj_builtin id, kj_dtype type)
{
    return id == KJ_BI_ATOMIC_ADD && kj_is_float(type) && !kj_is_half(type);
}

static LLVMValueRef identity(kj_lower *lo, kj_builtin id, kj_dtype type)
{
    LLVMTypeRef t = lo->types[type];
    if (kj_is_float(type))
        return kj_tile_const(lo, kj_float(type, id == KJ_BI_ATOMIC_ADD ? -0.0 : (double)NAN)).v[0];
    return LLVMConstInt(t, kj_tally_identity(kj_tally_of(id, type), type), false);
}

/* A value of every thread: of those that do not run, one that changes nothing. */
static kj_tile of_all(kj_lower *lo, kj_builtin id, kj_tile v, kj_mask m)
{
    v = kj_tile_spread(lo, v, lo->rows, lo->lanes);
    if (m.kind == KJ_SOME)
        v = kj_tile_select(lo, m.t, v, kj_tile_scalar(v.type, identity(lo, id, v.type)));
    return v;
}

/* All threads' values combined into one: rows first, then halves of the vector. */
static LLVMValueRef reduce(kj_lower *lo, kj_builtin id, kj_tile v)
{
    kj_tile sum = kj_tile_like(v.type, 1, v.lanes);
    sum.v[0] = v.v[0];
    for (int r = 1; r < v.rows; r++) {
        kj_tile row = sum;
        row.v[0] = v.v[r];
        sum = combine(lo, id, sum, row);
    }
    while (sum.lanes > 1) {
        kj_tile half[2];
        for (int h = 0; h < 2; h++) {
            LLVMValueRef index[KJ_MAX_LANES];
            for (int l = 0; l < sum.lanes / 2; l++)
                index[l] = LLVMConstInt(lo->i32, (unsigned)(l + h * sum.lanes / 2), false);
            half[h] = kj_tile_like(sum.type, 1, sum.lanes / 2);
            LLVMValueRef mask = LLVMConstVector(index, sum.lanes / 2u);
            half[h].v[0] = LLVMBuildShuffleVector(lo->b, sum.v[0],
                                                  LLVMGetPoison(LLVMTypeOf(sum.v[0])), mask, "");
            if (sum.lanes == 2)
                half[h].v[0] = LLVMBuildExtractElement(lo->b, half[h].v[0],
                                                       LLVMConstInt(lo->i32, 0, false), "");
        }
        sum = combine(lo, id, half[0], half[1]);
    }
    return sum.v[0];
}

/* The sum of the old value and all threads', in the order of their numbers: what single updates come
 * to. In another grouping it could differ in more than its last bits, and overflow. */
static LLVMValueRef next_of_all(kj_lower *lo, LLVMValueRef old, const void *arg)
{
    const kj_tile *v = arg;
    for (int r = 0; r < v->rows; r++) {
        if (v->lanes == 1) {
            old = LLVMBuildFAdd(lo->b, old, v->v[r], "");
            continue;
        }
        LLVMTypeRef type = LLVMTypeOf(v->v[r]);
        old = kj_intrinsic(lo, "llvm.vector.reduce.fadd", &type, 1, (LLVMValueRef[]){old, v->v[r]},
                           2);
    }
    return old;
}

static void add_in_order(kj_lower *lo, const kj_texpr *e, LLVMValueRef base, LLVMValueRef index,
                         kj_tile v)
{
    const kj_tarray *array = e->u.atomic.array;
    LLVMValueRef at = kj_lower_element(lo, array->elem, base, index);
    if (is_plain(lo, array, false)) {
        LLVMValueRef old = LLVMBuildLoad2(lo->b, lo->types[array->elem], at, "");
        LLVMBuildStore(lo->b, next_of_all(lo, old, &v), at);
    } else {
        update_by_swap(lo, array->elem, at, array->root->space == KJ_SHARED, next_of_all, &v);
    }
}

/* A gang's values, thread by thread: one for all, or in memory. Small integers are kept small. */
typedef struct spilled {
    LLVMValueRef one, at;
    LLVMTypeRef type; /* of elements in memory */
    bool stays;       /* in memory: LLVM doesn't take its elements out of registers instead */
    kj_tile tile;
} spilled;

static spilled spill(kj_lower *lo, kj_tile t, const char *name)
{
    spilled s = {.tile = t};
    if (t.rows == 1 && t.lanes == 1) {
        s.one = t.v[0];
        return s;
    }
    int lanes = lo->lanes, bits = kj_types[t.type].bits;
    for (int narrow = 8; kj_is_int(t.type) && kj_is_natural(t) && narrow < bits; narrow *= 2)
        if (kj_bits(t) <= narrow)
            bits = narrow;
    s.type = kj_is_int(t.type) ? LLVMIntTypeInContext(lo->ctx, (unsigned)bits) : lo->types[t.type];
    LLVMTypeRef row = LLVMVectorType(s.type, (unsigned)lanes);
    s.at = kj_alloca(lo, LLVMArrayType2(row, (uint64_t)lo->rows), name);
    for (int r = 0; r < lo->rows; r++) {
        LLVMValueRef index = kj_i64(lo, r), v = kj_tile_vector(lo, t, r, lanes);
        v = kj_is_int(t.type) ? LLVMBuildTrunc(lo->b, v, row, "") : v;
        LLVMBuildStore(lo->b, v, LLVMBuildGEP2(lo->b, row, s.at, &index, 1, ""));
    }
    return s;
}

/* Indices, which become addresses. A load, an addition and a store at an address that an instruction has
 * just taken out of a vector register take some CPUs (Zen 4) 20 ns, where the same for the next lane is a
 * multiple of 8 bytes further in the code; at one that comes from memory, half a nanosecond. Those that
 * are a lane apart are computed, not taken out. */
static spilled spill_index(kj_lower *lo, kj_tile t)
{
    spilled s = spill(lo, t, "at");
    s.stays = t.form != KJ_LINEAR && t.lanes > 1;
    return s;
}

static LLVMValueRef spill_read(kj_lower *lo, const spilled *s, LLVMValueRef thread)
{
    if (!s->at)
        return s->one;
    LLVMValueRef v =
        LLVMBuildLoad2(lo->b, s->type, LLVMBuildGEP2(lo->b, s->type, s->at, &thread, 1, ""), "");
    LLVMSetVolatile(v, s->stays);
    return kj_is_int(s->tile.type)
               ? LLVMBuildIntCast2(lo->b, v, lo->types[s->tile.type], !kj_is_natural(s->tile), "")
               : v;
}

static LLVMValueRef running_bits(kj_lower *lo, kj_mask m)
{
    LLVMValueRef all = LLVMConstInt(lo->i64, 0, false);
    for (int r = 0; r < lo->rows; r++) {
        LLVMTypeRef type = LLVMIntTypeInContext(lo->ctx, (unsigned)lo->lanes);
        LLVMValueRef row = LLVMBuildBitCast(lo->b, kj_mask_row(lo, m, r, lo->lanes), type, "");
        row = LLVMBuildZExt(lo->b, row, lo->i64, "");
        all = LLVMBuildOr(lo->b, all,
                          LLVMBuildShl(lo->b, row, kj_i64(lo, (int64_t)r * lo->lanes), ""), "");
    }
    return all;
}

/* An atomic of a gang, thread after thread. */
typedef struct each {
    const kj_texpr *e;
    LLVMValueRef base;
    spilled index, a, b;
    LLVMValueRef old; /* memory for the old values, NULL when nobody asks */
    bool alone;       /* update's */
} each;

static void update_one(kj_lower *lo, const each *u, LLVMValueRef thread)
{
    LLVMValueRef b = u->e->u.atomic.args[1] ? spill_read(lo, &u->b, thread) : NULL;
    LLVMValueRef was = update(lo, u->e, u->base, spill_read(lo, &u->index, thread),
                              spill_read(lo, &u->a, thread), b, u->alone);
    if (u->old)
        LLVMBuildStore(lo->b, was,
                       LLVMBuildGEP2(lo->b, lo->types[u->e->type], u->old, &thread, 1, ""));
}

static void update_running(kj_lower *lo, const each *u, LLVMValueRef bits)
{
    kj_bit_loop l = kj_bits_begin(lo, bits, false);
    update_one(lo, u, l.thread);
    kj_bits_end(lo, &l);
}

static void update_all(kj_lower *lo, const each *u, kj_mask m)
{
    const kj_tarray *array = u->e->u.atomic.array;
    if (!is_plain(lo, array, u->alone) && needs_swap(lo, u->e->u.atomic.id, array->elem)) {
        update_running(lo, u, running_bits(lo, m)); /* a loop each would be much code */
        return;
    }
    LLVMBasicBlockRef every = kj_new_block(lo, "every"), some = kj_new_block(lo, "some"),
                      done = kj_new_block(lo, "done");
    LLVMBuildCondBr(lo->b, kj_mask_full(lo, m), every, some);
    LLVMPositionBuilderAtEnd(lo->b, every);
    for (int t = 0; t < lo->rows * lo->lanes; t++)
        update_one(lo, u, kj_i64(lo, t));
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, some);
    update_running(lo, u, running_bits(lo, m));
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, done);
}

/* How many elements an array has whose places are numbers below that, in whatever view; NULL: that is not
 * known. */
static LLVMValueRef count_elements(kj_lower *lo, const kj_tarray *a)
{
    const kj_tarray *root = a->root;
    if (root->of) /* places are of its parts */
        return NULL;
    if (root->param < 0)
        return root->static_count ? kj_i64(lo, root->static_count) : NULL;
    LLVMValueRef n = lo->dims[root->param][0];
    for (int d = 1; d < root->ndim; d++)
        n = LLVMBuildMul(lo->b, n, lo->dims[root->param][d], "");
    return n;
}

/* The threads whose place is that one. Places are compared in as few bits as they are kept in: the number
 * fits these, for there are fewer elements than threads. */
static kj_mask threads_at(kj_lower *lo, const each *u, LLVMValueRef place)
{
    kj_tile here = kj_tile_like(KJ_BOOL, lo->rows, lo->lanes);
    LLVMTypeRef row = LLVMVectorType(u->index.type, (unsigned)lo->lanes);
    LLVMValueRef one = kj_splat(lo, LLVMBuildTrunc(lo->b, place, u->index.type, ""), lo->lanes);
    for (int r = 0; r < lo->rows; r++) {
        LLVMValueRef v = kj_tile_vector(lo, u->index.tile, r, lo->lanes);
        v = LLVMBuildTrunc(lo->b, v, row, "");
        here.v[r] = LLVMBuildICmp(lo->b, LLVMIntEQ, v, one, "");
    }
    return kj_mask_of(here);
}

static LLVMValueRef count_bits(kj_lower *lo, LLVMValueRef bits)
{
    return kj_intrinsic(lo, "llvm.ctpop", &lo->i64, 1, &bits, 1);
}

/* Each element is added to once, for all threads that count there. */
static void update_by_element(kj_lower *lo, const each *u, kj_mask m, LLVMValueRef count)
{
    kj_dtype type = u->e->type;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(lo->b), loop = kj_new_block(lo, "element"),
                      done = kj_new_block(lo, "updated");
    LLVMBuildBr(lo->b, loop);
    LLVMPositionBuilderAtEnd(lo->b, loop);
    LLVMValueRef place = LLVMBuildPhi(lo->b, lo->i64, "place"),
                 n = count_bits(lo, running_bits(lo, kj_mask_and(lo, threads_at(lo, u, place), m)));
    n = LLVMBuildMul(lo->b, LLVMBuildIntCast2(lo->b, n, lo->types[type], false, ""), u->a.one, "");
    update_shared(lo, KJ_BI_ATOMIC_ADD, type, kj_lower_element(lo, type, u->base, place), n, NULL);
    LLVMValueRef next = LLVMBuildAdd(lo->b, place, kj_i64(lo, 1), "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(lo->b);
    LLVMValueRef again = LLVMBuildICmp(lo->b, LLVMIntULT, next, count, "");
    kj_loop_hint(lo, LLVMBuildCondBr(lo->b, again, loop, done), "llvm.loop.unroll.disable", 0);
    LLVMAddIncoming(place, (LLVMValueRef[]){kj_i64(lo, 0), next},
                    (LLVMBasicBlockRef[]){before, latch}, 2);
    LLVMPositionBuilderAtEnd(lo->b, done);
}

/* How many threads must run for an element, so that comparing all with its place is faster than adding for
 * one after the other. */
static int64_t threads_each(kj_lower *lo, const each *u)
{
    int bytes = lo->rows * lo->lanes * (int)LLVMGetIntTypeWidth(u->index.type) / 8,
        vectors = bytes / (4 * lo->vector);
    return vectors > 2 ? 2 * vectors : 4;
}

/* Of an array that no other thread changes meanwhile. Where it has few elements for the threads that run, many
 * of these count in the same one, and each would wait for what the one before it stored. */
static void update_plain(kj_lower *lo, const each *u, kj_mask m)
{
    bool counts = u->e->u.atomic.id == KJ_BI_ATOMIC_ADD && kj_is_int(u->e->type) && u->a.one &&
                  u->index.at && !u->old;
    LLVMValueRef count = counts ? count_elements(lo, u->e->u.atomic.array) : NULL;
    int64_t enough = count ? threads_each(lo, u) : 0, all = (int64_t)lo->rows * lo->lanes;
    if (!count || (LLVMIsConstant(count) && LLVMConstIntGetSExtValue(count) > all / enough)) {
        update_all(lo, u, m);
        return;
    }
    LLVMBasicBlockRef few = kj_new_block(lo, "few"), many = kj_new_block(lo, "many"),
                      done = kj_new_block(lo, "done");
    LLVMValueRef least = LLVMBuildMul(lo->b, count, kj_i64(lo, enough), ""),
                 running = count_bits(lo, running_bits(lo, m));
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntULE, least, running, ""), few, many);
    LLVMPositionBuilderAtEnd(lo->b, few);
    update_by_element(lo, u, m, count);
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, many);
    update_all(lo, u, m);
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, done);
}

/* Of an array that may be the worker's own: then without locks, whose time a loop does not add to. */
static void update_tally(kj_lower *lo, const each *u, kj_mask m)
{
    each of_copy = *u;
    of_copy.alone = true;
    fork f = fork_own(lo);
    update_plain(lo, &of_copy, m);
    fork_common(lo, &f);
    update_running(lo, u, running_bits(lo, m));
    fork_end(lo, &f);
}

static kj_tile update_each(kj_lower *lo, const kj_texpr *e, const kj_access *at,
                           const kj_tile *args, kj_mask m, bool used)
{
    each u = {.e = e,
              .base = at->base,
              .index = spill_index(lo, at->offset),
              .a = spill(lo, args[0], "value")};
    if (e->u.atomic.args[1])
        u.b = spill(lo, args[1], "new");
    kj_tile out = kj_tile_like(e->type, lo->rows, lo->lanes);
    LLVMTypeRef row = kj_vec(lo, e->type, lo->lanes);
    if (used) {
        u.old = kj_alloca(lo, LLVMArrayType2(row, (uint64_t)lo->rows), "old");
        for (int r = 0; r < lo->rows; r++) {
            LLVMValueRef i = kj_i64(lo, r);
            LLVMBuildStore(lo->b, LLVMConstNull(row), LLVMBuildGEP2(lo->b, row, u.old, &i, 1, ""));
        }
    }
    if (is_tally(lo, e))
        update_tally(lo, &u, m);
    else if (is_plain(lo, e->u.atomic.array, false))
        update_plain(lo, &u, m);
    else
        update_all(lo, &u, m);
    for (int r = 0; r < lo->rows && used; r++) {
        LLVMValueRef i = kj_i64(lo, r);
        out.v[r] = LLVMBuildLoad2(lo->b, row, LLVMBuildGEP2(lo->b, row, u.old, &i, 1, ""), "");
    }
    return used ? out : kj_tile_scalar(e->type, LLVMConstNull(lo->types[e->type]));
}

kj_tile kj_lower_atomic(kj_lower *lo, const kj_texpr *e, const kj_access *at, const kj_tile *args,
                        kj_mask m, bool used)
{
    kj_builtin id = e->u.atomic.id;
    if (lo->rows == 1 && lo->lanes == 1 && is_tally(lo, e)) {
        update_once(lo, e, at->base, at->offset.v[0], kj_tile_vector(lo, args[0], 0, 1));
        return kj_tile_scalar(e->type, LLVMConstNull(lo->types[e->type]));
    }
    if (lo->rows == 1 && lo->lanes == 1) {
        LLVMValueRef a = kj_tile_vector(lo, args[0], 0, 1),
                     b = e->u.atomic.args[1] ? kj_tile_vector(lo, args[1], 0, 1) : NULL;
        return kj_tile_scalar(e->type, update(lo, e, at->base, at->offset.v[0], a, b, false));
    }
    bool one = at->offset.rows == 1 && at->offset.lanes == 1 && !used;
    LLVMValueRef index = at->offset.v[0];
    if (one && combines(lo, id, e->type)) {
        update_once(lo, e, at->base, index, reduce(lo, id, of_all(lo, id, args[0], m)));
        return kj_tile_scalar(e->type, LLVMConstNull(lo->types[e->type]));
    }
    if (one && adds_in_order(id, e->type)) {
        add_in_order(lo, e, at->base, index, of_all(lo, id, args[0], m));
        return kj_tile_scalar(e->type, LLVMConstNull(lo->types[e->type]));
    }
    return update_each(lo, e, at, args, m, used);
}
