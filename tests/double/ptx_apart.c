/* Lanes that stay apart: since Volta nothing but a synchronisation brings the lanes of a warp together
 * again. Groups never join where they meet; which goes on, and for how long, is drawn from the seed.
 * At the second level a group falls apart anywhere, as compilers and chips may let it: PTX promises
 * lockstep at no instruction. */
#include "ptx_exec.h"

enum {
    BURSTS = 8, /* of 1, 2, 4 ... 128 instructions */
    SPLIT = 16, /* one in so many bursts begins with a split */
    PARTS = 4,  /* no split where as many groups run: each costs as much as the whole warp */
};

static void sweep(ptx_warp *warp)
{
    int kept = 0;
    for (int i = 0; i < warp->ngroups; i++)
        if (warp->groups[i].lanes)
            warp->groups[kept++] = warp->groups[i];
    warp->ngroups = kept;
}

/* A part of the group goes its own way from here on. */
static void fall_apart(ptx_warp *warp, int index)
{
    ptx_group *g = &warp->groups[index];
    uint32_t part = g->lanes & (uint32_t)ptx_random(warp->exec);
    if (!part || part == g->lanes)
        return;
    warp->current = index;
    ptx_split(warp, part, g->pc, PTX_RUNS);
}

int ptx_pick_apart(ptx_warp *warp, int *burst)
{
    int running = 0, picked = -1;
    sweep(warp);
    for (int i = 0; i < warp->ngroups; i++) {
        if (warp->groups[i].state != PTX_RUNS)
            continue;
        uint64_t random = ++running > 1 ? ptx_random(warp->exec) : 0;
        if (random % (unsigned)running == 0)
            picked = i;
    }
    if (running == 0)
        return -1;
    bool anywhere = warp->exec->launch->apart > 1;
    if (anywhere && running < PARTS && ptx_random(warp->exec) % SPLIT == 0) {
        fall_apart(warp, picked);
        running++;
    }
    int most = 1 << ptx_random(warp->exec) % BURSTS;
    if ((running > 1 || anywhere) && most < *burst)
        *burst = most;
    return picked;
}
