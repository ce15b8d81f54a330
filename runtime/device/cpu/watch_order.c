/* What hands accesses over from thread to thread: fences with atomics, barriers of a block and of a warp. */
#include "device/cpu/watch.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_RELEASES = 256 };

/* ---- Releases ---- */

static size_t hash_of(uint32_t block)
{
    return (size_t)(block * UINT64_C(0x9e3779b97f4a7c15) >> 20);
}

static uint32_t *latest_of(const watch *w, uint32_t block)
{
    size_t at = hash_of(block) % w->latest_room;
    while (w->latest[at] && w->releases[w->latest[at] - 1].block != block)
        at = (at + 1) % w->latest_room;
    return &w->latest[at];
}

static bool grow_releases(watch *w)
{
    size_t room = w->releases_room ? 2 * w->releases_room : FIRST_RELEASES;
    release *all = realloc(w->releases, room * sizeof *all);
    uint32_t *latest = calloc(2 * room, sizeof *latest);
    w->releases = all ? all : w->releases;
    if (kj_watch_lost(w, all) || kj_watch_lost(w, latest)) {
        free(latest);
        return false;
    }
    free(w->latest);
    w->latest = latest;
    w->latest_room = 2 * room;
    w->releases_room = room;
    for (size_t i = 0; i < w->nreleases; i++)
        *latest_of(w, all[i].block) = (uint32_t)i + 1;
    return true;
}

/* The thread's atomic on the cell hands over what is behind its fences. */
static void hand_over(watch *w, uint32_t thread, cell *c)
{
    const progress *t = &w->threads[thread];
    if (w->nreleases == w->releases_room && !grow_releases(w))
        return;
    uint32_t *latest = latest_of(w, w->block);
    release r = {.block = w->block,
                 .thread = thread,
                 .fence = kj_most(t->fence, w->block_fence),
                 .tick = ++w->tick,
                 .barrier = w->barrier,
                 .warp = t->warp,
                 .before = *latest};
    w->releases[w->nreleases++] = r;
    *latest = (uint32_t)w->nreleases;
    c->released = r.tick;
}

bool kj_was_handed(const watch *w, const note *n, uint32_t thread)
{
    uint32_t known = kj_most(w->threads[thread].knows, w->block_knows), by = kj_thread_of(n);
    if (known <= n->tick || w->latest_room == 0)
        return false;
    for (uint32_t i = *latest_of(w, n->block); i; i = w->releases[i - 1].before) {
        const release *r = &w->releases[i - 1];
        if (r->tick < n->tick)
            return false;
        bool all =
            n->tick < r->barrier || (by / KJ_WARP == r->thread / KJ_WARP && n->tick < r->warp);
        if (r->tick <= known && (all || (by == r->thread && n->tick < r->fence)))
            return true;
    }
    return false;
}

void kj_watch_acquire(watch *w, uint32_t thread, const cell *c)
{
    progress *t = &w->threads[thread];
    t->seen = kj_most(t->seen, c->released);
    t->knows = kj_most(t->knows, t->seen);
    w->most_seen = kj_most(w->most_seen, t->seen);
    w->most_known = kj_most(w->most_known, t->knows);
}

void kj_watch_meet(watch *w, uint32_t thread, cell *c, uint32_t flags)
{
    progress *t = &w->threads[thread];
    uint32_t released = c->released;
    if (flags & KJ_WATCH_ORDERS) {
        w->fences = true;
        t->fence = ++w->tick;
    }
    if (t->fence || w->block_fence)
        hand_over(w, thread, c);
    t->seen = kj_most(t->seen, released);
    w->most_seen = kj_most(w->most_seen, t->seen);
}

void kj_watch_on_fence(kj_host_watch *told, uint32_t thread, uint64_t lanes, int32_t block)
{
    watch *w = (watch *)told;
    (void)block;
    w->fences = true;
    w->tick++;
    for (; lanes; lanes &= lanes - 1) {
        progress *t = &w->threads[(thread + (uint32_t)__builtin_ctzll(lanes)) % KJ_WATCH_THREADS];
        t->fence = w->tick;
        t->knows = kj_most(t->seen, w->block_seen);
        w->most_known = kj_most(w->most_known, t->knows);
    }
}

/* ---- Warps ---- */

uint32_t kj_watch_together(const watch *w, uint32_t thread, uint32_t other)
{
    const progress *t = &w->threads[thread];
    if (thread / KJ_WARP != other / KJ_WARP)
        return 0;
    return t->together ? t->together[other % KJ_WARP] : t->warp;
}

static bool part_warp(watch *w, uint32_t first)
{
    for (uint32_t i = first; i < first + KJ_WARP; i++) {
        progress *t = &w->threads[i];
        if (t->together)
            continue;
        t->together = calloc(KJ_WARP, sizeof *t->together);
        if (kj_watch_lost(w, t->together))
            return false;
        for (int l = 0; l < KJ_WARP; l++)
            t->together[l] = t->warp;
    }
    return true;
}

/* The lanes of a call that name one another wait for one another, and know what each of them knew. */
void kj_watch_on_warp(kj_host_watch *told, uint32_t thread, uint64_t lanes, const uint32_t *members)
{
    watch *w = (watch *)told;
    uint32_t first = thread % KJ_WATCH_THREADS / KJ_WARP * KJ_WARP;
    w->tick++;
    w->warps = true;
    if (w->lost || !part_warp(w, first))
        return;
    for (uint64_t left = lanes & UINT32_MAX; left; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        uint32_t group = members[lane] & (uint32_t)lanes;
        progress *t = &w->threads[first + (uint32_t)lane];
        for (uint32_t rest = group; rest; rest &= rest - 1) {
            int l = __builtin_ctz(rest);
            for (int k = 0; k < KJ_WARP; k++)
                t->together[k] =
                    kj_most(t->together[k], w->threads[first + (uint32_t)l].together[k]);
        }
        for (uint32_t rest = group; rest; rest &= rest - 1)
            t->together[__builtin_ctz(rest)] = w->tick;
        t->warp = w->tick;
    }
}

/* ---- Blocks ---- */

void kj_watch_joined(watch *w)
{
    for (int i = 0; w->fences && i < KJ_WATCH_THREADS; i++)
        w->block_fence = kj_most(w->block_fence, w->threads[i].fence);
    w->block_seen = w->most_seen;
    w->block_knows = w->most_known;
}

void kj_watch_alone(watch *w)
{
    for (int i = 0; w->fences && i < KJ_WATCH_THREADS; i++)
        w->threads[i].fence = w->threads[i].seen = w->threads[i].knows = 0;
    w->block_fence = w->block_seen = w->block_knows = w->most_seen = w->most_known = 0;
}
