/* Levels say who takes part, one for the block, or gangs of threads, in statements that contain
 * barriers. A construct all threads agree about is plain control flow. One they may disagree about
 * has a byte a thread in scratch memory, set for those inside; regions in it begin with that mask,
 * a thread that breaks, continues or returns clears its bytes up to the construct it leaves, and a
 * barrier compares the bytes set with the threads alive. */
#include "lower/block/block.h"

const kj_level *kj_level_deciding(const kj_level *l)
{
    while (l && l->active < 0)
        l = l->up;
    return l;
}

kj_mask kj_level_mask(kj_lower *lo, kj_mask m, const kj_level *l)
{
    l = kj_level_deciding(l);
    return l ? kj_mask_and(lo, kj_mask_of(kj_scratch_load(lo, l->active, KJ_BOOL)), m) : m;
}

typedef struct those_there {
    kj_gang_fn *each;
    void *arg;
} those_there;

static void gang_there(kj_lower *lo, kj_mask m, void *arg)
{
    const those_there *t = arg;
    t->each(lo, kj_level_mask(lo, m, lo->level), t->arg);
}

void kj_level_each(kj_lower *lo, kj_gang_fn *each, void *arg)
{
    kj_gang_each(lo, false, gang_there, &(those_there){each, arg});
}

void kj_level_set(kj_lower *lo, int64_t at, kj_mask m)
{
    kj_tile t = kj_tile_like(KJ_BOOL, lo->rows, lo->lanes);
    for (int r = 0; r < lo->rows; r++)
        t.v[r] = kj_mask_row(lo, m, r, lo->lanes);
    kj_scratch_store(lo, at, t, kj_all);
}

static void clear_bytes(kj_lower *lo, int64_t at, kj_mask gone)
{
    if (at >= 0)
        kj_level_set(lo, at,
                     kj_mask_andnot(lo, kj_mask_of(kj_scratch_load(lo, at, KJ_BOOL)), gone));
}

void kj_level_leave(kj_lower *lo, const void *target, bool again, kj_mask m)
{
    for (const kj_level *l = lo->level; l; l = l->up) {
        bool last = target ? l->target == target : l->loop;
        clear_bytes(lo, l->active, m);
        if (!last || !again)
            clear_bytes(lo, l->stay, m);
        if (last)
            return;
    }
}

kj_gang_state kj_block_level(kj_lower *lo)
{
    kj_gang_state s = {lo->rows, lo->lanes, lo->slots, lo->present};
    lo->rows = lo->lanes = 1;
    lo->slots = lo->home;
    lo->present = kj_all;
    return s;
}

void kj_gang_back(kj_lower *lo, kj_gang_state s)
{
    lo->rows = s.rows;
    lo->lanes = s.lanes;
    lo->slots = s.slots;
    lo->present = s.present;
}
