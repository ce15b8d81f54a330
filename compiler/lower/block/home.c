/* Loops over the gangs of a block, and the variables that live from one region to the next. */
#include "base/guard.h"
#include "lower/block/block.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

/* ---- The gang's shape ---- */

/* The largest power of two that is not above n, which is at least 1. */
static int power_below(int64_t n)
{
    int p = 1;
    while (p * 2 <= n)
        p *= 2;
    return p;
}

/* Does the kernel work on 64-bit elements? They take twice the registers. */
static bool is_wide(const kj_tkernel *k)
{
    for (int i = 0; i < k->nroots; i++)
        if (kj_unit(k->roots[i]) == 8)
            return true;
    return false;
}

static int parts_of(const kj_tarray *a)
{
    return a->of ? kj_count_parts(a->of) : 1;
}

/* Scalars in the largest elements: all of them are in registers together. */
static int most_parts(const kj_tkernel *k)
{
    int n = 1;
    for (int i = 0; i < k->nroots; i++)
        if (parts_of(k->roots[i]) > n)
            n = parts_of(k->roots[i]);
    return n;
}

/* Scalars of local arrays a thread: in registers they share these with everything else. */
static int64_t count_locals(const kj_tkernel *k)
{
    int64_t n = 0;
    for (int i = 0; i < k->nroots; i++)
        if (k->roots[i]->space == KJ_LOCAL)
            n += k->roots[i]->static_count * parts_of(k->roots[i]);
    return n;
}

/* Four vector registers a value along x, and as many again by rows: enough independent operations
 * to hide their latency, and rows share what does not depend on them. Where warps are asked for, a
 * row is one: what a warp has in common is then a scalar. */
void kj_gang_choose(kj_lower *lo)
{
    const int64_t *block = lo->kernel->block;
    int64_t threads = block[0] * block[1] * block[2];
    int64_t locals = count_locals(lo->kernel);
    lo->masks_cost = lo->vector < 16; /* AVX-512 masks words for nothing */
    int vectors = is_wide(lo->kernel) ? 2 : 4, parts = most_parts(lo->kernel);
    vectors = parts < vectors ? vectors / parts : 1;
    if (locals > 4)
        vectors = locals >= 16 ? 1 : (int)(16 / locals);
    int most = lo->vector * power_below(vectors);
    int in_all = locals > 4 || lo->deps->atomics ? most : 2 * most;
    most = most > KJ_MAX_LANES ? KJ_MAX_LANES : most;
    bool warps = lo->deps->warps;
    lo->flat = threads > block[0] && (warps ? block[0] % KJ_WARP != 0 : block[0] < 8);
    int64_t along = lo->flat ? threads : block[0];
    int lanes = power_below(along);
    if (lanes < 8 && lanes < along)
        lanes *= 2;
    lo->gang_lanes = warps ? KJ_WARP : lanes > most ? most : lanes;
    lo->gang_rows = 1;
    KJ_REQUIRE(power_below(lo->gang_lanes) == lo->gang_lanes);
    if (!lo->flat && lo->gang_lanes > 1)
        while (lo->gang_rows < KJ_MAX_ROWS && lo->gang_rows * 2 * lo->gang_lanes <= in_all &&
               block[1] % (lo->gang_rows * 2) == 0)
            lo->gang_rows *= 2;
    lo->width = (along + lo->gang_lanes - 1) / lo->gang_lanes * lo->gang_lanes;
    lo->threads = lo->flat ? lo->width : lo->width * block[1] * block[2];
}

int64_t kj_scratch_alloc(kj_lower *lo, int64_t size)
{
    int64_t at = lo->scratch;
    lo->scratch += (size * lo->threads + 63) / 64 * 64;
    return at;
}

/* ---- threadIdx ---- */

static kj_tile known_index(kj_tile t)
{
    kj_bound(&t, 0, 1023);
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
    return known_index(t);
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
        t.v[0] = LLVMBuildAnd(lo->b, lo->x, kj_i64(lo, KJ_WARP - 1), "");
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

static kj_mask first_lanes(kj_lower *lo, int64_t n)
{
    kj_tile t = kj_tile_like(KJ_BOOL, 1, lo->lanes);
    t.form = KJ_PREFIX;
    t.v[0] = LLVMConstInt(lo->i32, (uint64_t)n, false);
    return kj_mask_of(t);
}

void kj_gang_each(kj_lower *lo, bool scalar, kj_gang_fn *each, void *arg)
{
    const int64_t *block = lo->kernel->block;
    kj_slot *outer = lo->slots;
    lo->rows = scalar ? 1 : lo->gang_rows;
    lo->lanes = scalar ? 1 : lo->gang_lanes;
    memset(lo->locals, 0, (size_t)lo->kernel->nroots * sizeof *lo->locals);
    size_t nslots = (size_t)lo->kernel->nvars + 1;
    lo->slots = KJ_NEW_ARRAY(lo->arena, kj_slot, nslots);
    int64_t along = lo->flat ? block[0] * block[1] * block[2] : block[0];
    int64_t full = along / lo->lanes * lo->lanes;
    count_loop z = open_loop(lo, lo->flat ? 1 : block[2], 1, "z");
    count_loop y = open_loop(lo, lo->flat ? 1 : block[1], lo->rows, "y");
    count_loop run = open_run(lo);
    lo->z = z.i;
    lo->y = y.i;
    if (full) {
        count_loop x = open_loop(lo, full, lo->lanes, "x");
        lo->x = x.i;
        set_index(lo);
        each(lo, kj_all, arg);
        close_loop(lo, &x);
    }
    if (full < along) {
        memset(lo->slots, 0, nslots * sizeof *lo->slots);
        lo->x = kj_i64(lo, full);
        set_index(lo);
        each(lo, first_lanes(lo, along - full), arg);
    }
    close_loop(lo, &run);
    close_loop(lo, &y);
    close_loop(lo, &z);
    lo->slots = outer;
    lo->rows = lo->lanes = 1;
}

kj_gang_state kj_block_level(kj_lower *lo)
{
    kj_gang_state s = {lo->rows, lo->lanes, lo->slots};
    lo->rows = lo->lanes = 1;
    lo->slots = lo->home;
    return s;
}

void kj_gang_back(kj_lower *lo, kj_gang_state s)
{
    lo->rows = s.rows;
    lo->lanes = s.lanes;
    lo->slots = s.slots;
}

/* ---- Homes ---- */

/* A region that assigns a uniform variable reads it from a copy: each gang begins with the value of
 * before. */
static bool is_copied(const kj_lower *lo, const kj_place *p, int region)
{
    return p->var && p->var->mutable && p->home == KJ_HOME_BLOCK &&
           kj_region_writes(lo->regions, region, p->var->id);
}

void kj_gang_prepare(kj_lower *lo, int region)
{
    for (int id = 0; id < lo->kernel->nvars; id++) {
        const kj_place *p = &lo->regions->places[id];
        if (!is_copied(lo, p, region))
            continue;
        LLVMTypeRef type = lo->types[p->var->type];
        if (!lo->before[id])
            lo->before[id] = kj_alloca(lo, type, p->var->name);
        LLVMBuildStore(lo->b, LLVMBuildLoad2(lo->b, type, lo->home[id].at[0], ""), lo->before[id]);
    }
}

static kj_tile read_home(kj_lower *lo, const kj_place *p, int region)
{
    const kj_var *v = p->var;
    LLVMValueRef at = is_copied(lo, p, region) ? lo->before[v->id] : lo->home[v->id].at[0];
    return kj_tile_scalar(v->type, LLVMBuildLoad2(lo->b, lo->types[v->type], at, ""));
}

static int64_t context_of(kj_lower *lo, const kj_var *v)
{
    if (lo->context[v->id] < 0)
        lo->context[v->id] = kj_scratch_alloc(lo, kj_types[v->type].size);
    return lo->context[v->id];
}

/* Of a value a thread: the extents its variable has. Threads that share an element agree on it. */
static kj_tile narrowed(kj_lower *lo, kj_tile t, uint8_t dep)
{
    int rows = kj_rows_of(lo, dep), lanes = kj_lanes_of(lo, dep);
    for (int r = 0; r < t.rows && lanes < t.lanes; r++)
        t.v[r] = LLVMBuildExtractElement(lo->b, t.v[r], LLVMConstInt(lo->i32, 0, false), "");
    t.lanes = (uint8_t)lanes;
    t.rows = (uint8_t)rows;
    return t;
}

static void set_variable(kj_lower *lo, const kj_var *v, kj_tile t)
{
    kj_slot *s = &lo->slots[v->id];
    if (v->mutable) {
        kj_slot_make(lo, v);
        kj_slot_write(lo, v, t, kj_all);
    } else {
        s->known = true;
        s->tile = t;
    }
}

void kj_gang_enter(kj_lower *lo, int region)
{
    for (int id = 0; id < lo->kernel->nvars; id++) {
        const kj_place *p = &lo->regions->places[id];
        if (!p->var || p->var->param >= 0 || !kj_region_uses(lo->regions, region, id))
            continue;
        if (p->home == KJ_HOME_BLOCK) {
            set_variable(lo, p->var, read_home(lo, p, region));
        } else if (p->home == KJ_HOME_REMAT) {
            set_variable(lo, p->var, kj_lower_expr(lo, p->init, kj_all));
        } else if (p->home == KJ_HOME_CONTEXT) {
            kj_tile t = kj_context_load(lo, context_of(lo, p->var), p->var->type);
            set_variable(lo, p->var, narrowed(lo, t, lo->deps->var[id]));
        }
    }
}

/* A thread's own variables go back for all of the gang: those that did not run kept what they had.
 * A uniform one goes back when some thread arrived: only such a gang has the value the block goes
 * on with. */
void kj_gang_leave(kj_lower *lo, int region, kj_mask arrived)
{
    for (int id = 0; id < lo->kernel->nvars; id++) {
        const kj_place *p = &lo->regions->places[id];
        if (!p->var || !p->var->mutable || !kj_region_writes(lo->regions, region, id))
            continue;
        if (p->home == KJ_HOME_CONTEXT) {
            kj_context_store(lo, context_of(lo, p->var), kj_slot_read(lo, p->var), kj_all);
        } else if (p->home == KJ_HOME_BLOCK) {
            LLVMValueRef at = lo->home[id].at[0], now = kj_slot_read(lo, p->var).v[0];
            LLVMValueRef old = LLVMBuildLoad2(lo->b, lo->types[p->var->type], at, "");
            LLVMBuildStore(lo->b, LLVMBuildSelect(lo->b, kj_mask_any(lo, arrived), now, old, ""),
                           at);
        }
    }
}

void kj_home_store(kj_lower *lo, const kj_var *v, kj_tile t, kj_mask m)
{
    const kj_place *p = &lo->regions->places[v->id];
    if (p->home == KJ_HOME_BLOCK) {
        LLVMBuildStore(lo->b, narrowed(lo, kj_tile_dense(lo, t), 0).v[0], lo->home[v->id].at[0]);
    } else if (p->home == KJ_HOME_CONTEXT) {
        uint8_t dep = lo->deps->var[v->id];
        kj_context_store(lo, context_of(lo, v), t,
                         kj_mask_reduce(lo, m, kj_rows_of(lo, dep), kj_lanes_of(lo, dep)));
    }
}
