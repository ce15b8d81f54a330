/* Expressions: a typed scalar expression becomes a tile for the gang's threads. */
#include "lower/gang/gang.h"

/* ---- Variables ---- */

static kj_slot new_slot(kj_lower *lo, kj_dtype type, int rows, int lanes, const char *name)
{
    kj_slot s = {.rows = (uint8_t)rows, .lanes = (uint8_t)lanes};
    for (int r = 0; r < rows; r++)
        s.at[r] = kj_alloca(lo, kj_vec(lo, type, lanes), name);
    return s;
}

static kj_tile load_slot(kj_lower *lo, const kj_slot *s, kj_dtype type)
{
    kj_tile t = kj_tile_like(type, s->rows, s->lanes);
    for (int r = 0; r < s->rows; r++)
        t.v[r] = LLVMBuildLoad2(lo->b, kj_vec(lo, type, s->lanes), s->at[r], "");
    return t;
}

static void store_slot(kj_lower *lo, const kj_slot *s, kj_tile t)
{
    for (int r = 0; r < s->rows; r++)
        LLVMBuildStore(lo->b, kj_tile_vector(lo, t, r, s->lanes), s->at[r]);
}

static void store_masked(kj_lower *lo, const kj_slot *s, kj_tile t, kj_mask m)
{
    m = kj_mask_reduce(lo, m, s->rows, s->lanes);
    if (m.kind == KJ_SOME && (s->rows > 1 || s->lanes > 1))
        t = kj_tile_select(lo, m.t, t, load_slot(lo, s, t.type));
    store_slot(lo, s, t);
}

kj_tile kj_slot_read(kj_lower *lo, const kj_var *v)
{
    if (v->param >= 0)
        return kj_tile_scalar(v->type, lo->params[v->param]);
    const kj_slot *s = &lo->slots[v->id];
    if (s->counter)
        return kj_counter_read(lo, s->counter);
    return s->known ? s->tile : load_slot(lo, s, v->type);
}

bool kj_same_mask(kj_mask a, kj_mask b)
{
    if (a.kind != b.kind || a.kind != KJ_SOME)
        return a.kind == b.kind;
    if (a.t.rows != b.t.rows || a.t.lanes != b.t.lanes || a.t.form != b.t.form)
        return false;
    for (int r = 0; r < a.t.rows; r++)
        if (a.t.v[r] != b.t.v[r])
            return false;
    return true;
}

/* Where all threads that know the variable run, nobody has the others' part: no selection. */
void kj_slot_write(kj_lower *lo, const kj_var *v, kj_tile t, kj_mask m)
{
    kj_slot *s = &lo->slots[v->id];
    s->begun = false;
    if (kj_same_mask(s->since, m))
        store_slot(lo, s, t);
    else
        store_masked(lo, s, t, m);
}

void kj_slot_assign(kj_lower *lo, const kj_tstmt *s, kj_mask m)
{
    const kj_var *v = s->u.assign.var;
    kj_slot *slot = &lo->slots[v->id];
    kj_tile t = slot->counter ? kj_counter_step(lo, slot->counter, load_slot(lo, slot, v->type), m)
                              : kj_lower_expr(lo, s->u.assign.value, m);
    kj_slot_write(lo, v, t, m);
}

void kj_slot_make(kj_lower *lo, const kj_var *v)
{
    kj_slot *s = &lo->slots[v->id];
    uint8_t dep = lo->deps->var[v->id];
    if (!s->at[0])
        *s = new_slot(lo, v->type, kj_rows_of(lo, dep), kj_lanes_of(lo, dep), v->name);
}

void kj_slot_begin(kj_lower *lo, const kj_var *v, kj_tile t, kj_mask m)
{
    kj_slot *s = &lo->slots[v->id];
    if (v->mutable && !kj_seam_keeps(lo, v, t)) {
        s->known = false;
        kj_slot_make(lo, v);
        s->since = m;
        store_slot(lo, s, t);
        s->begun = true;
        s->tile = t;
        return;
    }
    if (lo->target->declared && !v->mutable)
        lo->target->declared(lo, v, t, m);
    s->begun = false;
    s->known = !(lo->resume && s == &lo->home[v->id]); /* code that goes on knows no values */
    s->tile = t;
}

/* ---- Conditional evaluation ---- */

static bool is_leaf(const kj_texpr *e)
{
    return e->kind == KJ_TE_CONST || e->kind == KJ_TE_VAR || e->kind == KJ_TE_INDEX;
}

/* `a if i == 0 else (b if i == 1 else ...)`, as an index chooses one of a value's parts: two instructions a
 * part, where a branch for each would take more, and a mask. */
static const kj_texpr *behind_parts(const kj_texpr *e)
{
    for (; e->kind == KJ_TE_SELECT && is_leaf(e->u.select.yes); e = e->u.select.no) {
        const kj_texpr *test = e->u.select.test;
        if (test->kind != KJ_TE_BINARY || test->u.binary.op != KJ_OP_EQ ||
            !is_leaf(test->u.binary.lhs) || test->u.binary.rhs->kind != KJ_TE_CONST)
            break;
    }
    return e;
}

static bool harmless(const kj_texpr *e)
{
    return kj_is_harmless(behind_parts(e));
}

/* Evaluates `e` into `out` for the threads of m for which `test` holds, behind a branch that skips
 * it for none. */
static void evaluate_if(kj_lower *lo, const kj_texpr *e, kj_tile test, kj_mask m,
                        const kj_slot *out)
{
    bool uniform = test.rows == 1 && test.lanes == 1;
    kj_mask inside = uniform ? m : kj_mask_and(lo, m, kj_mask_of(test));
    LLVMValueRef any = uniform ? test.v[0] : kj_mask_any(lo, inside);
    LLVMBasicBlockRef then = kj_new_block(lo, "then"), done = kj_new_block(lo, "done");
    LLVMBuildCondBr(lo->b, any, then, done);
    LLVMPositionBuilderAtEnd(lo->b, then);
    store_masked(lo, out, kj_lower_expr(lo, e, inside), inside);
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, done);
}

static kj_slot result_slot(kj_lower *lo, const kj_texpr *e)
{
    uint8_t dep = kj_dep(lo->deps, e);
    kj_slot s = new_slot(lo, e->type, kj_rows_of(lo, dep), kj_lanes_of(lo, dep), "choice");
    kj_tile zero = kj_tile_scalar(e->type, LLVMConstNull(lo->types[e->type]));
    store_slot(lo, &s, zero);
    return s;
}

static kj_tile lower_logic(kj_lower *lo, const kj_texpr *e, kj_mask m)
{
    kj_tile lhs = kj_lower_expr(lo, e->u.logic.lhs, m);
    const kj_texpr *rhs = e->u.logic.rhs;
    if (harmless(rhs)) {
        kj_mask a = kj_mask_of(lhs), b = kj_mask_of(kj_lower_expr(lo, rhs, m));
        return e->u.logic.is_or ? kj_mask_or(lo, a, b).t : kj_mask_and(lo, a, b).t;
    }
    kj_slot out = result_slot(lo, e);
    store_slot(lo, &out, lhs);
    evaluate_if(lo, rhs, e->u.logic.is_or ? kj_tile_unary(lo, KJ_OP_NOT, lhs) : lhs, m, &out);
    return load_slot(lo, &out, KJ_BOOL);
}

static bool is_short(const kj_texpr *e, int *budget)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    bool ok = --*budget >= 0 && e->kind != KJ_TE_INLINE && e->kind != KJ_TE_ATOMIC;
    for (int i = 0, n = kj_operands(e, operands); i < n && ok; i++)
        ok = is_short(operands[i], budget);
    return ok;
}

/* An element if its index is inside an array: nearly always all of the gang's threads choose that.
 * For them `e` is evaluated alone, without masks; returns where both ways meet. */
static LLVMBasicBlockRef choose_all(kj_lower *lo, const kj_texpr *e, kj_tile test,
                                    const kj_slot *out)
{
    LLVMBasicBlockRef every = kj_new_block(lo, "every"), few = kj_new_block(lo, "few"),
                      done = kj_new_block(lo, "chosen");
    LLVMBuildCondBr(lo->b, kj_mask_within(lo, lo->present, kj_mask_of(test)), every, few);
    LLVMPositionBuilderAtEnd(lo->b, every);
    store_slot(lo, out, kj_lower_expr(lo, e, lo->present));
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, few);
    return done;
}

static kj_tile lower_select(kj_lower *lo, const kj_texpr *e, kj_mask m)
{
    kj_tile inside;
    if (kj_seam_choice(lo, e, m, &inside))
        return inside;
    kj_tile test = kj_lower_expr(lo, e->u.select.test, m);
    if (harmless(e->u.select.yes) && harmless(e->u.select.no)) {
        kj_tile yes = kj_lower_expr(lo, e->u.select.yes, m);
        return kj_tile_select(lo, test, yes, kj_lower_expr(lo, e->u.select.no, m));
    }
    kj_slot out = result_slot(lo, e);
    LLVMBasicBlockRef chosen = NULL;
    int budget = 16;
    if (test.form == KJ_PREFIX && kj_is_present(lo, m) && is_short(e->u.select.yes, &budget))
        chosen = choose_all(lo, e->u.select.yes, test, &out);
    test = kj_tile_dense(lo, test);
    evaluate_if(lo, e->u.select.yes, test, m, &out);
    evaluate_if(lo, e->u.select.no, kj_tile_unary(lo, KJ_OP_NOT, test), m, &out);
    if (chosen) {
        LLVMBuildBr(lo->b, chosen);
        LLVMPositionBuilderAtEnd(lo->b, chosen);
    }
    return load_slot(lo, &out, e->type);
}

/* ---- Leaves ---- */

static kj_tile bounded(const kj_lower *lo, LLVMValueRef v, int64_t least, int64_t most)
{
    kj_tile t = kj_tile_scalar(KJ_I64, v);
    kj_bound(&t, least, (uint64_t)most);
    t.narrow = LLVMTypeOf(v) == lo->i32;
    return t;
}

/* The most blocks along an axis. */
static int64_t grid_most(const kj_lower *lo, int axis)
{
    int64_t threads = lo->kernel->block[axis];
    return !lo->kernel->small ? INT32_MAX : threads ? (KJ_SMALL - 1) / threads : KJ_SMALL - 1;
}

static kj_tile lower_index(kj_lower *lo, const kj_texpr *e)
{
    int axis = kj_swapped(e->u.index.axis, lo->kernel->lanes);
    switch (e->u.index.which) {
    case KJ_THREAD_IDX: return lo->thread[axis];
    case KJ_LANE_ID: return lo->lane;
    case KJ_BLOCK_IDX: return bounded(lo, lo->block[axis], 0, grid_most(lo, axis) - 1);
    case KJ_BLOCK_DIM:
        return lo->extent[axis] ? bounded(lo, lo->extent[axis], 1, 1024)
                                : kj_tile_int(lo, lo->kernel->block[axis]);
    default: return bounded(lo, lo->grid[axis], 1, grid_most(lo, axis));
    }
}

static kj_tile lower_dim(kj_lower *lo, const kj_texpr *e)
{
    const kj_tarray *a = e->u.dim.array;
    bool stride = e->u.dim.stride;
    LLVMValueRef v = lo->dims[a->param][e->u.dim.axis + (stride ? KJ_MAX_NDIM : 0)];
    if (LLVMIsAConstantInt(v))
        return kj_tile_int(lo, LLVMConstIntGetSExtValue(v));
    int64_t most = KJ_MOST_EXTENT;
    if (lo->kernel->small && !stride)
        most = KJ_SMALL - 1;
    else if (LLVMTypeOf(v) == lo->i32)
        most = INT32_MAX;
    return bounded(lo, v, stride ? -most : 0, most);
}

/* ---- Operations ---- */

static kj_tile lower_binary(kj_lower *lo, const kj_texpr *e, kj_tile lhs, kj_tile rhs)
{
    kj_op op = e->u.binary.op;
    kj_tile t;
    if (op == KJ_OP_MOD && kj_seam_remainder(lo, e, lhs, rhs, &t))
        return t;
    t = kj_tile_binary(lo, op, lhs, rhs);
    return op == KJ_OP_FLOORDIV || op == KJ_OP_MOD ? t : kj_relaxed(lo, t);
}

/* The product's factors and the summand, of operands in the order of evaluation. */
static kj_tile lower_fma(kj_lower *lo, const kj_texpr *e, const kj_tile v[3])
{
    kj_tile args[3] = {v[0], v[1], v[2]};
    if (e->u.fma.sum_first) {
        args[0] = v[1];
        args[1] = v[2];
        args[2] = v[0];
    }
    return kj_relaxed(lo, kj_tile_intrinsic(lo, "llvm.fma", args, 3));
}

kj_tile kj_operate(kj_lower *lo, const kj_texpr *e, kj_tile v[KJ_BUILTIN_ARGS], kj_mask m)
{
    switch (e->kind) {
    case KJ_TE_UNARY: return kj_relaxed(lo, kj_tile_unary(lo, e->u.unary.op, v[0]));
    case KJ_TE_BINARY: return lower_binary(lo, e, v[0], v[1]);
    case KJ_TE_CONVERT: return kj_tile_convert(lo, v[0], e->type);
    case KJ_TE_BITS: return kj_tile_recast(lo, v[0], e->type);
    case KJ_TE_FMA: return lower_fma(lo, e, v);
    default: return kj_lower_call(lo, e, v, m);
    }
}

/* All operands are evaluated, then comes the operation. */
static kj_tile lower_operation(kj_lower *lo, const kj_texpr *e, kj_mask m)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    kj_tile v[1 + KJ_BUILTIN_ARGS];
    if (e->kind == KJ_TE_CALL && kj_seam_clamped(lo, e, m, v))
        return v[0];
    int n = kj_operands(e, operands);
    for (int i = 0; i < n; i++)
        v[1 + i] = kj_lower_expr(lo, operands[i], m);
    bool warp = e->kind == KJ_TE_CALL && kj_builtins[e->u.call.id].how == KJ_HOW_WARP;
    if (e->checked && warp)
        kj_lower_warp_check(lo, e, v[1], m);
    v[0] = kj_is_early(lo, e, v + 1, n) ? kj_operate_early(lo, e, v + 1, n, m)
                                        : kj_operate(lo, e, v + 1, m);
    if (e->checked && !warp)
        kj_lower_value_check(lo, e, v, m);
    return v[0];
}

static kj_tile lower_atomic(kj_lower *lo, const kj_texpr *e, kj_mask m, bool used)
{
    kj_access at = kj_lower_access(lo, e->u.atomic.array, e->u.atomic.index, m);
    kj_tile args[2] = {{.type = KJ_VOID}};
    for (int i = 0; i < 2 && e->u.atomic.args[i]; i++)
        args[i] = kj_lower_expr(lo, e->u.atomic.args[i], m);
    if (kj_is_replayed(lo, e->u.atomic.array)) /* nobody asks for its value (analysis/replay.c) */
        return kj_tile_scalar(e->type, LLVMConstNull(lo->types[e->type]));
    bool exch = e->u.atomic.id == KJ_BI_ATOMIC_EXCH, cas = e->u.atomic.id == KJ_BI_ATOMIC_CAS;
    if (!cas)
        kj_watch_access(lo, e->u.atomic.array, &at, KJ_WATCH_ATOMIC | (exch ? KJ_WATCH_ORDERS : 0),
                        NULL, m);
    kj_tile was = kj_lower_atomic(lo, e, &at, args, m, used || (cas && lo->watch));
    if (cas)
        kj_watch_cas(lo, e->u.atomic.array, &at, was, args[0], m);
    return was;
}

void kj_lower_effect(kj_lower *lo, const kj_texpr *e, kj_mask m)
{
    if (e->kind == KJ_TE_ATOMIC)
        lower_atomic(lo, e, m, false);
    else
        kj_lower_expr(lo, e, m);
}

kj_tile kj_lower_expr(kj_lower *lo, const kj_texpr *e, kj_mask m)
{
    switch (e->kind) {
    case KJ_TE_CONST: return kj_tile_const(lo, e->u.value);
    case KJ_TE_VAR: return kj_slot_read(lo, e->u.var);
    case KJ_TE_DIM: return lower_dim(lo, e);
    case KJ_TE_ADDRESS: return kj_lower_address(lo, e->u.dim.array);
    case KJ_TE_INDEX: return lower_index(lo, e);
    case KJ_TE_UNARY:
    case KJ_TE_BINARY:
    case KJ_TE_CONVERT:
    case KJ_TE_BITS:
    case KJ_TE_FMA:
    case KJ_TE_CALL: return lower_operation(lo, e, m);
    case KJ_TE_LOGIC: return lower_logic(lo, e, m);
    case KJ_TE_SELECT: return lower_select(lo, e, m);
    case KJ_TE_LOAD: return kj_lower_load(lo, e->u.load.array, e->u.load.index, m);
    case KJ_TE_ATOMIC: return lower_atomic(lo, e, m, true);
    case KJ_TE_INLINE: {
        const kj_var *result = e->u.inline_.result;
        kj_tile zero = kj_tile_scalar(result->type, LLVMConstNull(lo->types[result->type]));
        kj_slot_begin(lo, result, zero, m);
        kj_lower_inline(lo, e->u.inline_.block, m);
        return kj_slot_read(lo, result);
    }
    }
    return kj_tile_int(lo, 0);
}
