/* The variables that live from one region to the next, across barriers: carries out what
 * analysis/regions.c has decided of each (its kj_place). */
#include "lower/block/block.h"

#include <llvm-c/DebugInfo.h>

int64_t kj_scratch_room(kj_lower *lo, int64_t bytes)
{
    int64_t at = lo->scratch, lines = (bytes + KJ_LINE - 1) / KJ_LINE;
    lo->scratch += (lines | 1) * KJ_LINE;
    return at;
}

int64_t kj_scratch_alloc(kj_lower *lo, int64_t size)
{
    return kj_scratch_room(lo, size * lo->threads);
}

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

static int64_t scratch_of(kj_lower *lo, const kj_var *v)
{
    if (lo->scratch_at[v->id] < 0)
        lo->scratch_at[v->id] = kj_scratch_alloc(lo, kj_types[v->type].size);
    return lo->scratch_at[v->id];
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

/* An array's, by a name: more is known of it than of what stands in memory. */
static bool is_extent(const kj_place *p)
{
    return !p->var->mutable && p->init && p->init->kind == KJ_TE_DIM;
}

void kj_gang_enter(kj_lower *lo, int region)
{
    for (int id = 0; id < lo->kernel->nvars; id++) {
        const kj_place *p = &lo->regions->places[id];
        if (!p->var || p->var->param >= 0 || !kj_region_uses(lo->regions, region, id))
            continue;
        if (p->home == KJ_HOME_BLOCK && is_extent(p)) {
            set_variable(lo, p->var, kj_lower_expr(lo, p->init, kj_all));
        } else if (p->home == KJ_HOME_BLOCK) {
            set_variable(lo, p->var, read_home(lo, p, region));
        } else if (p->home == KJ_HOME_REMAT) {
            set_variable(lo, p->var, kj_lower_expr(lo, p->init, kj_all));
        } else if (p->home == KJ_HOME_THREAD) {
            kj_tile t = kj_scratch_load(lo, scratch_of(lo, p->var), p->var->type);
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
        if (p->home == KJ_HOME_THREAD) {
            kj_scratch_store(lo, scratch_of(lo, p->var), kj_slot_read(lo, p->var), kj_all);
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
    } else if (p->home == KJ_HOME_THREAD) {
        uint8_t dep = lo->deps->var[v->id];
        kj_scratch_store(lo, scratch_of(lo, v), t,
                         kj_mask_reduce(lo, m, kj_rows_of(lo, dep), kj_lanes_of(lo, dep)));
    }
}
