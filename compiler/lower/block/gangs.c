/* Loops over the gangs of a block, and threadIdx in each. */
#include "lower/block/block.h"

#include <string.h>

/* ---- threadIdx ---- */

enum { MOST_THREADS = 1024 }; /* of a block */

static kj_tile known_index(kj_tile t)
{
    kj_bound(&t, 0, MOST_THREADS - 1);
    return t;
}

static kj_tile along_lanes(kj_lower *lo)
{
    kj_tile t = kj_tile_scalar(KJ_I64, lo->x);
    if (lo->lanes > 1) {
        t.lanes = (uint8_t)lo->lanes;
        t.form = KJ_LINEAR;
        t.stride = 1;
        t.even = (uint8_t)__builtin_ctz((unsigned)lo->lanes);
    }
    if (!lo->run || !lo->across)
        return known_index(t);
    kj_bound(&t, 0, MOST_THREADS * KJ_RUN_OF_BLOCKS - 1);
    return t;
}

/* x, y, z from the linear thread number; in 32 bits, where vectors can be divided by constants. */
static void flat_index(kj_lower *lo)
{
    const int64_t *block = lo->kernel->block;
    kj_tile linear = along_lanes(lo), rest = kj_tile_dense(lo, kj_tile_convert(lo, linear, KJ_I32));
    for (int axis = 0; axis < 3; axis++) {
        kj_tile extent = kj_tile_const(lo, kj_int(KJ_I32, block[axis]));
        kj_tile at = kj_tile_binary(lo, KJ_OP_MOD, rest, extent);
        lo->thread[axis] = known_index(kj_tile_convert(lo, at, KJ_I64));
        rest = kj_tile_binary(lo, KJ_OP_FLOORDIV, rest, extent);
        if (block[axis] == 1)
            lo->thread[axis] = kj_tile_int(lo, 0);
        else if (block[axis] == block[0] * block[1] * block[2])
            lo->thread[axis] = linear;
    }
}

/* A gang's row begins with lane 0; a single thread's lane is known by its number. */
static kj_tile lane_index(kj_lower *lo)
{
    kj_tile t = kj_tile_int(lo, 0);
    if (lo->lanes == 1) {
        const int64_t *block = lo->kernel->block;
        LLVMValueRef number = lo->x;
        if (!lo->flat && block[0] % KJ_WARP) {
            LLVMValueRef rows = LLVMBuildMul(lo->b, lo->z, kj_i64(lo, block[1]), "");
            rows = LLVMBuildAdd(lo->b, rows, lo->y, "");
            rows = LLVMBuildMul(lo->b, rows, kj_i64(lo, block[0]), "");
            number = LLVMBuildAdd(lo->b, rows, number, "");
        }
        t.v[0] = LLVMBuildAnd(lo->b, number, kj_i64(lo, KJ_WARP - 1), "");
    } else {
        t.lanes = KJ_WARP;
        t.form = KJ_LINEAR;
        t.stride = 1;
        t.even = (uint8_t)__builtin_ctz(KJ_WARP);
    }
    kj_bound(&t, 0, KJ_WARP - 1);
    return t;
}

static void set_index(kj_lower *lo)
{
    if (lo->deps->warps)
        lo->lane = lane_index(lo);
    if (lo->flat) {
        flat_index(lo);
        return;
    }
    lo->thread[0] = along_lanes(lo);
    lo->thread[1] = kj_tile_like(KJ_I64, lo->rows, 1);
    for (int r = 0; r < lo->rows; r++)
        lo->thread[1].v[r] = LLVMBuildAdd(lo->b, lo->y, kj_i64(lo, r), "");
    lo->thread[1] = known_index(lo->thread[1]);
    lo->thread[2] = known_index(kj_tile_scalar(KJ_I64, lo->z));
}

/* ---- Loops ---- */

typedef struct count_loop {
    LLVMBasicBlockRef head, before;
    LLVMValueRef i;
    LLVMValueRef limit; /* in place of stop */
    int64_t stop, step;
} count_loop;

/* for i = 0; i < stop; i += step; at least once */
static count_loop open_loop(kj_lower *lo, int64_t stop, int64_t step, const char *name)
{
    count_loop l = {.stop = stop, .step = step, .before = LLVMGetInsertBlock(lo->b)};
    if (stop <= step) {
        l.i = kj_i64(lo, 0);
        return l;
    }
    l.head = kj_new_block(lo, name);
    LLVMBuildBr(lo->b, l.head);
    LLVMPositionBuilderAtEnd(lo->b, l.head);
    l.i = LLVMBuildPhi(lo->b, lo->i64, name);
    return l;
}

static void close_loop(kj_lower *lo, const count_loop *l)
{
    if (!l->head)
        return;
    LLVMValueRef next = LLVMBuildAdd(lo->b, l->i, kj_i64(lo, l->step), "");
    LLVMValueRef stop = l->limit ? l->limit : kj_i64(lo, l->stop);
    LLVMValueRef more = LLVMBuildICmp(lo->b, LLVMIntULT, next, stop, "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(lo->b), done = kj_new_block(lo, "done");
    LLVMValueRef back = LLVMBuildCondBr(lo->b, more, l->head, done);
    /* A gang is work enough, and much code where a masked access is a branch a lane. */
    if (!lo->regions->barrier || lo->vector < 8)
        kj_loop_hint(lo, back, "llvm.loop.unroll.disable", 0);
    LLVMAddIncoming(l->i, (LLVMValueRef[]){kj_i64(lo, 0), next},
                    (LLVMBasicBlockRef[]){l->before, latch}, 2);
    LLVMPositionBuilderAtEnd(lo->b, done);
}

/* The blocks of a run, side by side along x: each goes through its part of the same rows, so that
 * memory is walked as it lies. */
static count_loop open_run(kj_lower *lo)
{
    count_loop l = {.step = 1, .before = LLVMGetInsertBlock(lo->b)};
    if (!lo->run)
        return l;
    l.limit = lo->run;
    l.head = kj_new_block(lo, "run");
    LLVMBuildBr(lo->b, l.head);
    LLVMPositionBuilderAtEnd(lo->b, l.head);
    l.i = LLVMBuildPhi(lo->b, lo->i64, "run");
    lo->block[0] = LLVMBuildAdd(lo->b, lo->first, l.i, "");
    return l;
}

/* n is an i64. */
static kj_mask first_lanes(kj_lower *lo, LLVMValueRef n)
{
    kj_tile t = kj_tile_like(KJ_BOOL, 1, lo->lanes);
    t.form = KJ_PREFIX;
    t.v[0] = LLVMBuildTrunc(lo->b, n, lo->i32, "");
    return kj_mask_of(t);
}

/* ---- Replays ---- */

/* Threads behind one that has failed have nothing to add. */
static void run_alone(kj_lower *lo, kj_gang_fn *each, kj_mask m, void *arg)
{
    const int64_t *block = lo->kernel->block;
    LLVMBasicBlockRef fail = lo->fail;
    LLVMBasicBlockRef on = kj_new_block(lo, "on"), over = kj_new_block(lo, "over");
    LLVMValueRef n = LLVMBuildMul(lo->b, lo->z, kj_i64(lo, block[1]), "");
    n = LLVMBuildMul(lo->b, LLVMBuildAdd(lo->b, n, lo->y, ""), kj_i64(lo, block[0]), "");
    n = LLVMBuildAdd(lo->b, n, lo->x, "");
    LLVMValueRef least = LLVMBuildLoad2(lo->b, lo->i64, lo->least, "");
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntULT, n, least, ""), on, over);
    LLVMPositionBuilderAtEnd(lo->b, on);
    lo->fail = over;
    each(lo, m, arg);
    lo->fail = fail;
    LLVMBuildBr(lo->b, over);
    LLVMPositionBuilderAtEnd(lo->b, over);
}

bool kj_goes_on(const kj_lower *lo)
{
    return lo->kernel->lanes != 0 && lo->target->may_fail(lo);
}

/* Blocks that run row by row go on with their other gangs. */
static void run_through(kj_lower *lo, kj_gang_fn *each, kj_mask m, void *arg)
{
    LLVMBasicBlockRef fail = lo->fail, over = kj_new_block(lo, "over");
    lo->fail = over;
    lo->told = NULL; /* it ends there */
    each(lo, m, arg);
    lo->fail = fail;
    lo->told = NULL;
    LLVMBuildBr(lo->b, over);
    LLVMPositionBuilderAtEnd(lo->b, over);
}

static void run_gang(kj_lower *lo, kj_gang_fn *each, kj_mask m, void *arg)
{
    lo->present = m;
    if (lo->before_gang)
        kj_halt_look(lo, lo->before_gang);
    if (lo->least) {
        run_alone(lo, each, m, arg);
        return;
    }
    if (lo->run && kj_goes_on(lo)) {
        run_through(lo, each, m, arg);
        return;
    }
    const kj_level *outermost = lo->level;
    while (outermost && outermost->up)
        outermost = outermost->up;
    if (lo->kernel->checks & KJ_CHECK_WARP && lo->lanes == KJ_WARP)
        kj_alive_begin(lo, kj_level_mask(lo, m, outermost));
    each(lo, m, arg);
    memset(lo->alive, 0, sizeof lo->alive);
}

void kj_replay_begin(kj_lower *lo)
{
    const int64_t *block = lo->kernel->block;
    if (lo->least)
        LLVMBuildStore(lo->b, kj_i64(lo, block[0] * block[1] * block[2]), lo->least);
}

void kj_replay_pause(kj_lower *lo)
{
    const int64_t *block = lo->kernel->block;
    if (!lo->least)
        return;
    LLVMBasicBlockRef on = kj_new_block(lo, "on");
    LLVMValueRef least = LLVMBuildLoad2(lo->b, lo->i64, lo->least, "");
    LLVMValueRef all = kj_i64(lo, block[0] * block[1] * block[2]);
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntEQ, least, all, ""), on, lo->stop);
    LLVMPositionBuilderAtEnd(lo->b, on);
}

static void forget_locals(kj_lower *lo)
{
    size_t n = (size_t)lo->kernel->nroots;
    memset(lo->locals, 0, n * sizeof *lo->locals);
    memset(lo->since, 0, n * sizeof *lo->since);
}

static void forget_slots(kj_lower *lo)
{
    memset(lo->slots, 0, ((size_t)lo->kernel->nvars + 1) * sizeof *lo->slots);
}

/* ---- Across blocks ---- */

/* The gangs of lo->rows rows of all blocks of a run, from its first thread along x to its last: whole ones, and what
 * is left. */
static void each_across(kj_lower *lo, kj_gang_fn *each, void *arg)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(lo->b), head = kj_new_block(lo, "x");
    LLVMBasicBlockRef whole = kj_new_block(lo, "whole"), rest = kj_new_block(lo, "rest"),
                      left = kj_new_block(lo, "left"), done = kj_new_block(lo, "done");
    LLVMValueRef count = LLVMBuildMul(lo->b, lo->run, kj_i64(lo, lo->kernel->block[0]), "");
    LLVMBuildBr(lo->b, head);
    LLVMPositionBuilderAtEnd(lo->b, head);
    LLVMValueRef x = LLVMBuildPhi(lo->b, lo->i64, "x");
    LLVMValueRef next = LLVMBuildAdd(lo->b, x, kj_i64(lo, lo->lanes), "");
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntULE, next, count, ""), whole, rest);
    LLVMPositionBuilderAtEnd(lo->b, whole);
    lo->x = x;
    forget_slots(lo);
    set_index(lo);
    run_gang(lo, each, kj_all, arg);
    LLVMAddIncoming(x, (LLVMValueRef[]){kj_i64(lo, 0), next},
                    (LLVMBasicBlockRef[]){before, LLVMGetInsertBlock(lo->b)}, 2);
    kj_loop_hint(lo, LLVMBuildBr(lo->b, head), "llvm.loop.unroll.disable", 0);
    LLVMPositionBuilderAtEnd(lo->b, rest);
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntULT, x, count, ""), left, done);
    LLVMPositionBuilderAtEnd(lo->b, left);
    forget_slots(lo);
    set_index(lo);
    lo->few = lo->twin = true; /* it runs once a run */
    run_gang(lo, each, first_lanes(lo, LLVMBuildSub(lo->b, count, x, "")), arg);
    lo->few = lo->twin = false;
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, done);
}

/* ---- Of a block ---- */

/* The last threads of a row, fewer than a gang. */
static void run_rest(kj_lower *lo, int64_t along, int64_t full, kj_gang_fn *each, void *arg)
{
    forget_slots(lo);
    lo->x = kj_i64(lo, full);
    set_index(lo);
    run_gang(lo, each, first_lanes(lo, kj_i64(lo, along - full)), arg);
}

/* The gangs of lo->lanes threads from start on, while there are some before stop, by steps. */
static void each_whole_within(kj_lower *lo, LLVMValueRef start, LLVMValueRef stop,
                              LLVMValueRef step, kj_gang_fn *each, void *arg)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(lo->b), head = kj_new_block(lo, "x"),
                      done = kj_new_block(lo, "done");
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntULT, start, stop, ""), head, done);
    LLVMPositionBuilderAtEnd(lo->b, head);
    lo->x = LLVMBuildPhi(lo->b, lo->i64, "x");
    LLVMValueRef x = lo->x;
    set_index(lo);
    run_gang(lo, each, kj_all, arg);
    LLVMValueRef next = LLVMBuildAdd(lo->b, x, step, "");
    LLVMAddIncoming(x, (LLVMValueRef[]){start, next},
                    (LLVMBasicBlockRef[]){before, LLVMGetInsertBlock(lo->b)}, 2);
    LLVMValueRef more = LLVMBuildICmp(lo->b, LLVMIntULT, next, stop, "");
    LLVMValueRef back = LLVMBuildCondBr(lo->b, more, head, done);
    if (lo->lanes > 1 || lo->vector < 8)
        kj_loop_hint(lo, back, "llvm.loop.unroll.disable", 0);
    LLVMPositionBuilderAtEnd(lo->b, done);
}

/* Those within lo->bounds: whole ones, and that of the last threads of the row. */
static void each_within(kj_lower *lo, int64_t along, int64_t full, kj_gang_fn *each, void *arg)
{
    const kj_within *e = lo->bounds;
    LLVMValueRef start = e->start ? e->start : kj_i64(lo, 0);
    LLVMValueRef stop = e->stop ? e->stop : kj_i64(lo, along), step = kj_i64(lo, lo->lanes);
    LLVMValueRef ends[2] = {stop, kj_i64(lo, full)};
    if (full)
        each_whole_within(lo, LLVMBuildAnd(lo->b, start, kj_i64(lo, -lo->lanes), ""),
                          kj_intrinsic(lo, "llvm.smin", &lo->i64, 1, ends, 2),
                          e->step ? e->step : step, each, arg);
    if (full == along)
        return;
    LLVMBasicBlockRef rest = kj_new_block(lo, "rest"), done = kj_new_block(lo, "done");
    LLVMValueRef some = LLVMBuildICmp(lo->b, LLVMIntUGT, stop, ends[1], "");
    LLVMBuildCondBr(lo->b, some, rest, done);
    LLVMPositionBuilderAtEnd(lo->b, rest);
    run_rest(lo, along, full, each, arg);
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, done);
}

/* The gangs of lo->rows rows, in the rows from lo->y on. */
static void each_along(kj_lower *lo, kj_gang_fn *each, void *arg)
{
    const int64_t *block = lo->kernel->block;
    int64_t along = lo->flat ? block[0] * block[1] * block[2] : block[0];
    int64_t full = along / lo->lanes * lo->lanes;
    if (lo->run && lo->across) {
        each_across(lo, each, arg);
        return;
    }
    if (lo->bounds) {
        forget_slots(lo);
        each_within(lo, along, full, each, arg);
        return;
    }
    count_loop run = open_run(lo);
    forget_slots(lo);
    if (full) {
        count_loop x = open_loop(lo, full, lo->lanes, "x");
        lo->x = x.i;
        set_index(lo);
        run_gang(lo, each, kj_all, arg);
        close_loop(lo, &x);
    }
    if (full < along)
        run_rest(lo, along, full, each, arg);
    close_loop(lo, &run);
}

/* The rows that are left are a gang of their own. */
static void each_row(kj_lower *lo, kj_gang_fn *each, void *arg)
{
    int64_t high = lo->flat ? 1 : lo->kernel->block[1], left = high % lo->rows;
    if (high > left) {
        count_loop y = open_loop(lo, high - left, lo->rows, "y");
        lo->y = y.i;
        each_along(lo, each, arg);
        close_loop(lo, &y);
    }
    if (left) {
        lo->y = kj_i64(lo, high - left);
        lo->rows = (int)left;
        forget_locals(lo);
        each_along(lo, each, arg);
    }
}

void kj_gang_each(kj_lower *lo, bool scalar, kj_gang_fn *each, void *arg)
{
    kj_slot *outer = lo->slots;
    lo->rows = scalar ? 1 : lo->gang_rows;
    lo->lanes = scalar ? 1 : lo->gang_lanes;
    forget_locals(lo);
    lo->slots = lo->of_gang;
    forget_slots(lo);
    count_loop z = open_loop(lo, lo->flat ? 1 : lo->kernel->block[2], 1, "z");
    lo->z = z.i;
    each_row(lo, each, arg);
    close_loop(lo, &z);
    lo->slots = outer;
    lo->rows = lo->lanes = 1;
    lo->present = kj_all;
}

void kj_gang_within(kj_lower *lo, bool scalar, const kj_within *extent, kj_gang_fn *each, void *arg)
{
    if (extent->start || extent->stop || extent->step)
        lo->bounds = extent;
    kj_gang_each(lo, scalar, each, arg);
    lo->bounds = NULL;
}
