/* The entry function: a typed kernel in, an LLVM function that runs a range of its blocks out.
 *
 *     entry:  parameters, scalars and data pointers, from the launch's slots
 *     blocks: for each block: its position, its shared arrays, its regions
 *
 * Shared arrays stand behind the scratch memory of values that live across barriers, in the order
 * of their ids, each on a 64-byte boundary; kj_shared_bytes counts them the same way. Margins around them (lower/memory/amid.c)
 * are counted with the scratch memory. */
#include "lower/block/block.h"

#include <stddef.h>
#include <string.h>

enum {
    PIECE = 1 << 20,            /* bytes that are cleared between two looks at the halt */
    LOCAL_ON_STACK = 128 << 10, /* bytes of a gang's local arrays that may stand on the stack */
    RUN_OF_LINES = 64,          /* blocks of one row of threads that run together */
    RUN_OF_ROWS = 8,            /* blocks of several rows that do, row by row */
    RUN_OF_THREADS = 512,       /* threads along x of blocks together that gangs go across */
    RUN_OF_STREAM = 4096,       /* threads along x of blocks together that stream whole rows */
};

static void make_function(kj_lower *lo, const char *name)
{
    LLVMTypeRef params[4] = {lo->ptr, lo->i64, lo->i64, lo->ptr};
    lo->fn = LLVMAddFunction(lo->module, name, LLVMFunctionType(lo->i32, params, 4, false));
    kj_attribute(lo, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "nounwind", 0);
    kj_attribute(lo, 1, "noalias", 0);
    kj_attribute(lo, 4, "noalias", 0);
    /* CPUs that would rather not use their widest registers lose more by splitting our vectors */
    kj_attribute_vectors(lo);
    kj_attribute_text(lo, "warn-stack-size", "0"); /* the frame's size is told to compile.c */
    lo->launch = LLVMGetParam(lo->fn, 0);
    lo->scratch_base = LLVMGetParam(lo->fn, 3);
    LLVMPositionBuilderAtEnd(lo->allocas, kj_new_block(lo, "entry"));
    LLVMPositionBuilderAtEnd(lo->b, kj_new_block(lo, "load"));
}

/* ---- Parameters ---- */

static LLVMValueRef load_launch(kj_lower *lo, LLVMTypeRef type, int64_t offset)
{
    LLVMValueRef index = kj_i64(lo, offset);
    return LLVMBuildLoad2(lo->b, type, LLVMBuildGEP2(lo->b, lo->i8, lo->launch, &index, 1, ""), "");
}

static void load_params(kj_lower *lo)
{
    for (int axis = 0; axis < 3; axis++)
        lo->grid[axis] = load_launch(lo, lo->i64,
                                     (int64_t)offsetof(kj_host_launch, grid) +
                                         8 * (int64_t)kj_swapped(axis, lo->kernel->lanes));
    if (lo->kernel->polls)
        kj_halt_near(lo, load_launch(lo, lo->ptr, (int64_t)offsetof(kj_host_launch, halt)));
    int64_t slot = (int64_t)offsetof(kj_host_launch, slots);
    bool tallies = false, past = false;
    for (int i = 0; i < lo->kernel->nparams; i++) {
        const kj_tparam *p = &lo->kernel->params[i];
        if (p->var) {
            bool is_bool = p->var->type == KJ_BOOL;
            LLVMValueRef v = load_launch(lo, is_bool ? lo->i8 : lo->types[p->var->type], slot);
            lo->params[i] =
                is_bool ? LLVMBuildICmp(lo->b, LLVMIntNE, v, LLVMConstInt(lo->i8, 0, false), "")
                        : v;
            slot += 8;
            continue;
        }
        int ndim = p->array->ndim;
        tallies |= p->array->tally != KJ_TALLY_NONE;
        past |= p->array->past;
        lo->roots[p->array->id] = load_launch(lo, lo->ptr, slot);
        for (int d = 0; d < ndim; d++) {
            lo->dims[i][d] = load_launch(lo, lo->i64, slot + 8 * (1 + d));
            lo->dims[i][KJ_MAX_NDIM + d] = load_launch(lo, lo->i64, slot + 8 * (1 + ndim + d));
        }
        if (p->array->last)
            lo->dims[i][ndim - 1] = kj_i64(lo, p->array->last);
        slot += 8 * (1 + 2 * ndim);
    }
    for (int i = 0; i < lo->kernel->nroots; i++) {
        if (!lo->kernel->roots[i]->filled)
            continue;
        lo->roots[i] = load_launch(lo, lo->ptr, slot);
        slot += 8;
    }
    if (lo->kernel->nsites > 0)
        lo->report = load_launch(lo, lo->ptr, slot);
    if (tallies) {
        LLVMValueRef own =
            load_launch(lo, lo->types[KJ_I16], (int64_t)offsetof(kj_host_launch, own_tallies));
        lo->own =
            LLVMBuildICmp(lo->b, LLVMIntNE, own, LLVMConstInt(lo->types[KJ_I16], 0, false), "own");
    }
    if (past) {
        lo->past = load_launch(lo, lo->types[KJ_I16], (int64_t)offsetof(kj_host_launch, past));
        lo->past = LLVMBuildSExt(lo->b, lo->past, lo->i64, "past");
    }
    kj_watch_open(lo);
}

/* ---- Arrays ---- */

/* `room` is what is left of the stack's part. */
static void place_locals(kj_lower *lo, const kj_tarray *a, int64_t *room)
{
    int64_t size = a->static_count * kj_elem_size(a);
    int64_t gang = size * lo->gang_rows * lo->gang_lanes;
    if (gang > *room)
        lo->regions->crossing[a->id] = true;
    if (lo->regions->crossing[a->id])
        lo->local_scratch[a->id] = kj_scratch_room(lo, size * kj_local_pitch(lo, a));
    else
        *room -= gang;
}

static LLVMValueRef put_margin(kj_lower *lo, LLVMValueRef offset)
{
    if (!lo->rooms)
        return offset;
    lo->margins += KJ_MARGIN;
    return LLVMBuildAdd(lo->b, offset, kj_i64(lo, KJ_MARGIN), "");
}

/* Where the shared arrays stand, in a block: from `offset` bytes (an i64 value) behind the scratch
 * memory's begin. Returns where they end. */
static LLVMValueRef place_shared(kj_lower *lo, LLVMValueRef offset)
{
    LLVMValueRef begin = offset;
    lo->margins = 0;
    if (kj_has_margins(lo))
        lo->rooms = KJ_NEW_ARRAY(lo->arena, LLVMValueRef, (size_t)lo->kernel->nroots + 1);
    for (int i = 0; i < lo->kernel->nroots; i++) {
        const kj_tarray *a = lo->kernel->roots[i];
        if (a->space != KJ_SHARED)
            continue;
        offset = put_margin(lo, offset);
        lo->roots[i] = LLVMBuildGEP2(lo->b, lo->i8, lo->scratch_base, &offset, 1, a->name);
        kj_tile bytes = kj_tile_int(lo, kj_elem_size(a));
        for (int d = 0; d < a->ndim; d++)
            bytes = kj_tile_binary(lo, KJ_OP_MUL, bytes, kj_lower_expr(lo, a->shape[d], kj_all));
        if (lo->rooms)
            lo->rooms[i] = bytes.v[0];
        LLVMValueRef end =
            LLVMBuildAdd(lo->b, LLVMBuildAdd(lo->b, offset, bytes.v[0], ""), kj_i64(lo, 63), "");
        offset = LLVMBuildAnd(lo->b, end, kj_i64(lo, -64), "");
    }
    return offset == begin ? offset : put_margin(lo, offset);
}

static void clear(kj_lower *lo, LLVMValueRef offset, LLVMValueRef bytes)
{
    LLVMValueRef at = LLVMBuildGEP2(lo->b, lo->i8, lo->scratch_base, &offset, 1, "");
    LLVMBuildMemSet(lo->b, at, LLVMConstInt(lo->i8, 0, false), bytes, 1);
}

/* The same of much memory, which the system may have to bring first: a piece after the other, and looks at the halt
 * between them. */
static void clear_pieces(kj_lower *lo, LLVMValueRef offset, LLVMValueRef bytes)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(lo->b), piece = kj_new_block(lo, "piece"),
                      cleared = kj_new_block(lo, "cleared");
    LLVMValueRef size = kj_i64(lo, PIECE), zero = kj_i64(lo, 0);
    LLVMBuildBr(lo->b, piece);
    LLVMPositionBuilderAtEnd(lo->b, piece);
    LLVMValueRef from = LLVMBuildPhi(lo->b, lo->i64, "from");
    kj_halt_poll_block(lo);
    LLVMValueRef left[2] = {LLVMBuildSub(lo->b, bytes, from, ""), size};
    clear(lo, LLVMBuildAdd(lo->b, offset, from, ""),
          kj_intrinsic(lo, "llvm.umin", &lo->i64, 1, left, 2));
    LLVMValueRef next = LLVMBuildAdd(lo->b, from, size, "");
    LLVMAddIncoming(from, (LLVMValueRef[]){zero, next},
                    (LLVMBasicBlockRef[]){before, LLVMGetInsertBlock(lo->b)}, 2);
    LLVMValueRef more = LLVMBuildICmp(lo->b, LLVMIntULT, next, bytes, "");
    LLVMBuildCondBr(lo->b, more, piece, cleared);
    LLVMPositionBuilderAtEnd(lo->b, cleared);
}

static bool has_much_shared(const kj_lower *lo)
{
    int64_t bytes = 0;
    for (int i = 0; i < lo->kernel->nroots; i++) {
        const kj_tarray *a = lo->kernel->roots[i];
        if (a->space == KJ_SHARED && a->static_count == 0)
            return true;
        if (a->space == KJ_SHARED && bytes <= PIECE)
            bytes += a->static_count * kj_elem_size(a);
    }
    return bytes > PIECE;
}

/* Nothing of other blocks is left in what a block of an untrusted kernel begins with. */
static void clear_arrays(kj_lower *lo, LLVMValueRef shared, LLVMValueRef end)
{
    if (!lo->kernel->untrusted)
        return;
    if (shared != end)
        (lo->halt && has_much_shared(lo) ? clear_pieces
                                         : clear)(lo, shared, LLVMBuildSub(lo->b, end, shared, ""));
    for (int i = 0; i < lo->kernel->nroots; i++) {
        const kj_tarray *a = lo->kernel->roots[i];
        int64_t bytes = a->static_count * kj_elem_size(a) * kj_local_pitch(lo, a);
        if (a->space == KJ_LOCAL && lo->regions->crossing[a->id])
            (lo->halt && bytes > PIECE ? clear_pieces : clear)(
                lo, kj_i64(lo, lo->local_scratch[a->id]), kj_i64(lo, bytes));
    }
}

static void place_variables(kj_lower *lo)
{
    size_t n = (size_t)lo->kernel->nvars + 1;
    lo->home = KJ_NEW_ARRAY(lo->arena, kj_slot, n);
    lo->of_gang = KJ_NEW_ARRAY(lo->arena, kj_slot, n);
    lo->before = KJ_NEW_ARRAY(lo->arena, LLVMValueRef, n);
    lo->scratch_at = KJ_NEW_ARRAY(lo->arena, int64_t, n);
    for (int id = 0; id < lo->kernel->nvars; id++) {
        const kj_place *p = &lo->regions->places[id];
        lo->scratch_at[id] = -1;
        if (!p->var || p->home != KJ_HOME_BLOCK)
            continue;
        LLVMTypeRef type = lo->types[p->var->type];
        lo->home[id] =
            (kj_slot){.rows = 1, .lanes = 1, .at = {kj_kept_alloca(lo, type, p->var->name)}};
        LLVMBuildStore(lo->b, LLVMConstNull(type), lo->home[id].at[0]);
    }
}

/* ---- Blocks ---- */

static void make_position(kj_lower *lo, LLVMValueRef b)
{
    LLVMValueRef rest = LLVMBuildUDiv(lo->b, b, lo->grid[0], "");
    lo->block[0] = LLVMBuildURem(lo->b, b, lo->grid[0], "");
    lo->block[1] = LLVMBuildURem(lo->b, rest, lo->grid[1], "");
    lo->block[2] = LLVMBuildUDiv(lo->b, rest, lo->grid[1], "");
}

/* Of those that gangs go across, as many as come to whole gangs. A row that streams is as long as may be: the processor
 * fetches ahead of what goes on, and has pages of memory at hand for few rows. */
static int64_t most_together(const kj_lower *lo)
{
    bool rows = lo->kernel->block[1] * lo->kernel->block[2] > 1 && !lo->flat;
    bool streams = rows && lo->kernel->streams;
    if (!lo->across && !streams)
        return rows ? RUN_OF_ROWS : RUN_OF_LINES;
    int64_t width = lo->kernel->block[0], n = 1;
    int64_t most = streams ? KJ_RUN_OF_BLOCKS : RUN_OF_LINES,
            threads = streams ? RUN_OF_STREAM : RUN_OF_THREADS;
    while (n < most && (n * width % lo->gang_lanes != 0 || n * width < threads))
        n *= 2;
    return n;
}

/* How many blocks from b on lie side by side and are run together: an i64. */
static LLVMValueRef run_length(kj_lower *lo, LLVMValueRef b)
{
    LLVMValueRef most = kj_i64(lo, most_together(lo));
    LLVMValueRef counts[2] = {LLVMBuildSub(lo->b, lo->share[1], b, ""),
                              LLVMBuildSub(lo->b, lo->grid[0], lo->block[0], "")};
    for (int i = 0; i < 2; i++) {
        LLVMValueRef less = LLVMBuildICmp(lo->b, LLVMIntULT, counts[i], most, "");
        most = LLVMBuildSelect(lo->b, less, counts[i], most, "");
    }
    return most;
}

static LLVMValueRef of_two(kj_lower *lo, const char *name, LLVMValueRef a, LLVMValueRef b)
{
    return kj_intrinsic(lo, name, &lo->i64, 1, (LLVMValueRef[]){a, b}, 2);
}

/* The blocks of this call: those it was given; or as large a share of those of a grid with a thread a number. The first
 * ones have one more where it doesn't come out even. A grid's other axes have all of them again. */
static void find_share(kj_lower *lo)
{
    LLVMValueRef *share = lo->share, width = kj_i64(lo, lo->kernel->block[0]);
    share[0] = LLVMGetParam(lo->fn, 1);
    share[1] = LLVMGetParam(lo->fn, 2);
    if (!lo->kernel->numbers)
        return;
    kj_tile numbers = kj_lower_expr(lo, lo->kernel->numbers, (kj_mask){.kind = KJ_ALL});
    LLVMValueRef n = kj_tile_vector(lo, kj_tile_wide(lo, numbers), 0, 1), blocks = lo->grid[0];
    LLVMValueRef rows = LLVMBuildMul(lo->b, lo->grid[1], lo->grid[2], "");
    n = of_two(lo, "llvm.smax", n, kj_i64(lo, 0));
    if (lo->kernel->small) /* no more are there to be stored */
        n = of_two(lo, "llvm.smin", n, kj_i64(lo, KJ_SMALL));
    /* n / width, rounded up; as many as can be counted, which nobody waits for */
    n = LLVMBuildAdd(lo->b, n, LLVMBuildSub(lo->b, width, kj_i64(lo, 1), ""), "");
    LLVMValueRef countable = LLVMBuildUDiv(lo->b, kj_i64(lo, INT64_MAX / 2), rows, "");
    lo->grid[0] = of_two(lo, "llvm.umin", LLVMBuildUDiv(lo->b, n, width, ""), countable);
    lo->given = blocks;
    LLVMValueRef each = LLVMBuildUDiv(lo->b, lo->grid[0], blocks, ""),
                 more =
                     LLVMBuildMul(lo->b, LLVMBuildURem(lo->b, lo->grid[0], blocks, ""), rows, "");
    for (int i = 0; i < 2; i++)
        share[i] = LLVMBuildAdd(lo->b, LLVMBuildMul(lo->b, share[i], each, ""),
                                of_two(lo, "llvm.umin", share[i], more), "");
}

/* Whoever learns of the end finds what went past the caches in memory. */
static void make_return(kj_lower *lo, kj_host_end end)
{
    if (lo->passes) {
        LLVMBasicBlockRef fence = kj_new_block(lo, "fence"), ordered = kj_new_block(lo, "ordered");
        LLVMValueRef none = LLVMBuildICmp(lo->b, LLVMIntEQ, lo->past, kj_i64(lo, 0), "");
        LLVMBuildCondBr(lo->b, none, ordered, fence);
        LLVMPositionBuilderAtEnd(lo->b, fence);
        LLVMBuildFence(lo->b, LLVMAtomicOrderingSequentiallyConsistent, false, "");
        LLVMBuildBr(lo->b, ordered);
        LLVMPositionBuilderAtEnd(lo->b, ordered);
    }
    LLVMBuildRet(lo->b, LLVMConstInt(lo->i32, end, false));
}

static void make_blocks(kj_lower *lo)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(lo->b), head = kj_new_block(lo, "blocks");
    LLVMBasicBlockRef block = kj_new_block(lo, "block"), next = kj_new_block(lo, "endblock"),
                      end = kj_new_block(lo, "end");
    LLVMValueRef last = lo->share[1];
    lo->fail = lo->stop = kj_new_block(lo, "fail");
    LLVMBuildBr(lo->b, head);
    LLVMPositionBuilderAtEnd(lo->b, head);
    LLVMValueRef b = LLVMBuildPhi(lo->b, lo->i64, "b");
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntSLT, b, last, ""), block, end);
    LLVMPositionBuilderAtEnd(lo->b, block);
    make_position(lo, b);
    kj_replay_begin(lo);
    kj_halt_poll_block(lo);
    kj_looks_plan(lo, lo->regions->fused && !lo->least ? most_together(lo) : 1);
    if (lo->regions->fused && !lo->least) {
        lo->first = lo->block[0];
        lo->run = run_length(lo, b);
    }
    /* the size of scratch is known when all is lowered */
    LLVMValueRef later = LLVMBuildFreeze(lo->b, LLVMGetUndef(lo->i64), "scratch");
    LLVMValueRef end_of_shared = place_shared(lo, later);
    kj_watch_block(lo, b);
    kj_grid_resume(lo);
    clear_arrays(lo, later, end_of_shared);
    if (kj_goes_on(lo))
        lo->fail = next;
    kj_lower_regions(lo, next);
    kj_replay_pause(lo);
    LLVMReplaceAllUsesWith(later, kj_i64(lo, lo->scratch));
    LLVMInstructionEraseFromParent(later);
    LLVMValueRef count = lo->run ? lo->run : kj_i64(lo, 1);
    LLVMValueRef following = LLVMBuildAdd(lo->b, b, count, "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(lo->b);
    LLVMBuildBr(lo->b, head);
    LLVMAddIncoming(b, (LLVMValueRef[]){lo->share[0], following},
                    (LLVMBasicBlockRef[]){before, latch}, 2);
    LLVMPositionBuilderAtEnd(lo->b, end);
    make_return(lo, KJ_HOST_DONE);
    LLVMPositionBuilderAtEnd(lo->b, lo->stop);
    make_return(lo, KJ_HOST_FAULT);
}

/* ---- What the parts of lowering ask for ---- */

/* One f32 by an x86 instruction: what LLVM knows to be a conversion it may move into a sign that
 * comes from an f64, and then calls a function for that which no library here has. */
static LLVMValueRef narrow_f16(kj_lower *lo, LLVMValueRef v)
{
    LLVMValueRef zero = LLVMConstInt(lo->i32, 0, false), four = LLVMConstInt(lo->i32, 4, false),
                 none = LLVMConstNull(kj_vec(lo, KJ_F32, 4));
    LLVMValueRef args[2] = {LLVMBuildInsertElement(lo->b, none, v, zero, ""),
                            four}; /* as the processor rounds anyway */
    LLVMValueRef out = kj_intrinsic(lo, "llvm.x86.vcvtps2ph.128", NULL, 0, args, 2);
    return LLVMBuildExtractElement(lo->b, out, zero, "");
}

static bool has_half(const kj_lower *lo, kj_dtype type, kj_half_op op)
{
    return type == KJ_F16 && lo->half && (op == KJ_HALF_WIDEN || op == KJ_HALF_NARROW);
}

static LLVMValueRef scope(kj_lower *lo, LLVMValueRef atomic, bool block)
{
    (void)lo;
    (void)block;
    return atomic;
}

/* The processor keeps the order of what stands around an atomic; so has LLVM to. */
static void order(kj_lower *lo, bool block)
{
    (void)block;
    LLVMBuildFence(lo->b, LLVMAtomicOrderingAcquireRelease, false, "");
}

static LLVMValueRef compare_swap(kj_lower *lo, LLVMValueRef at, LLVMValueRef expected,
                                 LLVMValueRef v, bool orders, bool block)
{
    LLVMAtomicOrdering as =
        orders ? LLVMAtomicOrderingSequentiallyConsistent : LLVMAtomicOrderingMonotonic;
    (void)block;
    return LLVMBuildAtomicCmpXchg(lo->b, at, expected, v, as, as, false);
}

static LLVMValueRef fault(kj_lower *lo)
{
    return load_launch(lo, lo->ptr, (int64_t)offsetof(kj_host_launch, fault));
}

static bool may_fail(const kj_lower *lo)
{
    return lo->kernel->nsites > 0 || lo->regions->barrier || lo->kernel->polls;
}

static bool together(const kj_lower *lo)
{
    return !kj_level_deciding(lo->level);
}

static const kj_lowering lowering = {
    .serial = true,
    .returns = true,
    .has_half = has_half,
    .narrow_f16 = narrow_f16,
    .to_int = kj_float_to_int,
    .extreme = kj_float_extreme,
    .access_local = kj_local_of_gang,
    .scope = scope,
    .order = order,
    .compare_swap = compare_swap,
    .fault = fault,
    .may_fail = may_fail,
    .fence = kj_gang_fence,
    .warp = kj_gang_warp,
    .launch = kj_gang_launch,
    .declared = kj_home_store,
    .leave = kj_level_leave,
    .together = together,
    .each_there = kj_level_each,
};

/* Gangs where that is quicker, else one thread after the other. */
static void make_two_ways(kj_lower *lo)
{
    LLVMBasicBlockRef gangs = kj_new_block(lo, "gangs"), alone = kj_new_block(lo, "alone");
    LLVMBuildCondBr(lo->b, kj_numbers_are_large(lo), gangs, alone);
    LLVMPositionBuilderAtEnd(lo->b, gangs);
    make_blocks(lo);
    LLVMPositionBuilderAtEnd(lo->b, alone);
    place_variables(lo); /* as if they had not been seen */
    lo->slots = lo->home;
    lo->told = NULL;
    kj_gang_choose(lo, true);
    make_blocks(lo);
}

void kj_lower_cpu(kj_arena *arena, const kj_entry_spec *spec, kj_code *out)
{
    const kj_tkernel *kernel = spec->kernel;
    kj_lower lo;
    kj_lower_start(&lo, arena, kernel, spec);
    lo.vector = spec->vector;
    lo.target = &lowering;
    lo.regions = spec->regions;
    lo.local_scratch = KJ_NEW_ARRAY(arena, int64_t, (size_t)kernel->nroots + 1);
    bool two_ways = lo.deps->large && lo.regions->fused && !spec->replay;
    kj_gang_choose(&lo, spec->replay || (lo.deps->alone && !two_ways));
    out->across = lo.across;
    kj_grid_open(&lo);
    make_function(&lo, spec->entry);
    LLVMBasicBlockRef load = LLVMGetInsertBlock(lo.b);
    int64_t on_stack = LOCAL_ON_STACK;
    load_params(&lo);
    for (int i = 0; i < kernel->nroots; i++) {
        if (kernel->roots[i]->space == KJ_CONST && !kernel->roots[i]->filled)
            kj_lower_const(&lo, kernel->roots[i], 0);
        else if (kernel->roots[i]->space == KJ_LOCAL)
            place_locals(&lo, kernel->roots[i], &on_stack);
    }
    place_variables(&lo);
    if (spec->replay)
        lo.least = kj_alloca(&lo, lo.i64, "least");
    lo.rows = lo.lanes = 1;
    lo.slots = lo.home;
    find_share(&lo);
    lo.front = lo.watch ? NULL : LLVMGetInsertBlock(lo.b);
    (two_ways ? make_two_ways : make_blocks)(&lo);
    LLVMBuildBr(lo.allocas, load);
    kj_lower_seal(&lo);
    out->scratch = lo.scratch + lo.margins;
    out->fused = lo.regions->fused;
    out->past = lo.passes;
    out->shared_out = lo.kernel->numbers != NULL;
}
