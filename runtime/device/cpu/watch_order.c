/* What hands accesses over from thread to thread: fences with atomics, barriers of a block and of a warp.
 *
 * A release says up to which tick a thread's accesses, or those of a warp or of all the block, are handed over. The releases
 * of one of these are a list in which ticks grow, so that the last one that a thread knows is all it has to be asked
 * for. What a fence orders for its block alone has lists of its own, which other blocks see as far as somebody who knew of
 * it handed it on to them. */
#include "device/cpu/watch.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_RELEASES = 256, MOST_RELEASES = 1 << 20 };

/* Whose accesses: a thread's, or */
enum {
    ALL = KJ_WATCH_THREADS,
    WARPS,                                      /* a warp's */
    KNOWN = WARPS + KJ_WATCH_THREADS / KJ_WARP, /* its releases to the block alone, up to a tick */
    WHOSE
};

/* ---- Releases ---- */

static const release *release_at(const watch *w, uint32_t i)
{
    static const release none;
    return i ? &w->releases[i - 1] : &none;
}

static uint32_t *latest_of(const watch *w, uint32_t block, uint32_t whose)
{
    uint64_t key = (uint64_t)block * (KJ_SCOPES * WHOSE) + whose;
    size_t at = kj_hash_of(key) % w->latest_room;
    while (w->latest[at] && (w->releases[w->latest[at] - 1].block != block ||
                             w->releases[w->latest[at] - 1].whose != whose))
        at = (at + 1) % w->latest_room;
    return &w->latest[at];
}

void kj_watch_no_releases(watch *w)
{
    if (w->nreleases)
        memset(w->latest, 0, w->latest_room * sizeof *w->latest);
    w->nreleases = 0;
}

static bool grow_releases(watch *w)
{
    size_t room = w->releases_room ? 2 * w->releases_room : FIRST_RELEASES;
    if (room > MOST_RELEASES) {
        kj_watch_no_releases(w);
        w->forgotten =
            w->tick; /* whoever knows of a release since then is taken to know of all before */
        return true;
    }
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
        *latest_of(w, all[i].block, all[i].whose) = (uint32_t)i + 1;
    return true;
}

/* From now on accesses before `until` are handed over. */
static void cover(watch *w, kj_scope scope, uint32_t whose, uint32_t until)
{
    whose += scope * WHOSE;
    if (until <= w->began || (w->nreleases == w->releases_room && !grow_releases(w)))
        return;
    uint32_t *latest = latest_of(w, w->block, whose), before = *latest;
    const release *last = release_at(w, before), *far = release_at(w, last->far);
    if (until <= last->until)
        return;
    bool further = last->number - far->number == far->number - release_at(w, far->far)->number;
    w->releases[w->nreleases++] = (release){.block = w->block,
                                            .whose = whose,
                                            .tick = w->tick,
                                            .until = until,
                                            .number = last->number + 1,
                                            .before = before,
                                            .far = further ? far->far : before};
    *latest = (uint32_t)w->nreleases;
}

/* Those of the lanes that the thread has met. */
static void cover_warp(watch *w, kj_scope scope, uint32_t thread)
{
    const uint32_t *together = w->threads[thread].together;
    const int64_t *block = w->block_shape;
    uint32_t first = thread / KJ_WARP * KJ_WARP, least = w->threads[thread].fence[scope],
             n = (uint32_t)(block[0] * block[1] * block[2]) - first;
    if (!together)
        return;
    n = n < KJ_WARP ? n : KJ_WARP;
    for (uint32_t l = 0; l < n; l++)
        least = kj_least(least, together[l]);
    cover(w, scope, WARPS + first / KJ_WARP, least);
    for (uint32_t l = 0; l < n; l++)
        if (together[l] > least)
            cover(w, scope, first + l, kj_least(together[l], w->threads[thread].fence[scope]));
}

/* The thread's atomic on the cell hands over what is behind its fences. */
static void hand_over(watch *w, uint32_t thread, cell *c)
{
    const progress *t = &w->threads[thread];
    c->released = ++w->tick;
    for (kj_scope scope = KJ_TO_BLOCK; scope < KJ_SCOPES; scope++) {
        if (scope == KJ_TO_BLOCK && !w->narrow)
            continue;
        cover(w, scope, thread, t->fence[scope]);
        cover_warp(w, scope, thread);
    }
    cover(w, KJ_TO_ALL, ALL, kj_least(w->barrier, kj_most(t->fence[KJ_TO_ALL], w->block_fence)));
    if (w->narrow)
        cover(w, KJ_TO_ALL, KNOWN, kj_most(t->knows[KJ_TO_BLOCK], w->block_knows[KJ_TO_BLOCK]));
}

/* Up to which tick are they handed over to a thread that knows so much? */
static uint32_t covered(const watch *w, uint32_t block, uint32_t whose, uint32_t known)
{
    const release *r = release_at(w, *latest_of(w, block, whose));
    while (r->tick > known) {
        const release *far = release_at(w, r->far);
        r = far->tick > known ? far : release_at(w, r->before);
    }
    return r->until;
}

static bool is_covered(const watch *w, const note *n, kj_scope scope, uint32_t known)
{
    uint32_t by = kj_thread_of(n), whose = scope * WHOSE;
    return known > n->tick &&
           (n->tick < covered(w, n->block, whose + by, known) ||
            n->tick < covered(w, n->block, whose + WARPS + by / KJ_WARP, known) ||
            n->tick < covered(w, n->block, whose + ALL, known));
}

bool kj_was_handed(const watch *w, const note *n, uint32_t thread)
{
    const progress *t = &w->threads[thread];
    bool own = n->block == w->block;
    uint32_t known = kj_most(t->knows[own ? KJ_TO_BLOCK : KJ_TO_ALL], w->block_knows[KJ_TO_ALL]);
    if (known <= n->tick || w->latest_room == 0)
        return false;
    if (n->tick < w->forgotten || is_covered(w, n, KJ_TO_ALL, known))
        return true;
    return w->narrow &&
           is_covered(w, n, KJ_TO_BLOCK,
                      own ? known : covered(w, n->block, KJ_TO_ALL * WHOSE + KNOWN, known));
}

/* ---- Fences ---- */

/* Behind a fence it is known what the thread's atomics have met; behind one for the block, of what other blocks released
 * only what some thread of the block knows, from which it may have come. */
static void know(watch *w, progress *t, kj_scope scope)
{
    uint32_t seen = kj_most(t->seen, w->block_seen);
    t->knows[KJ_TO_BLOCK] = seen;
    if (scope == KJ_TO_BLOCK)
        seen = kj_least(seen, w->most_known[KJ_TO_ALL]);
    t->knows[KJ_TO_ALL] = kj_most(t->knows[KJ_TO_ALL], seen);
    for (int i = 0; i < KJ_SCOPES; i++)
        w->most_known[i] = kj_most(w->most_known[i], t->knows[i]);
}

static void fence(watch *w, progress *t, kj_scope scope)
{
    w->fences = true;
    w->narrow |= scope == KJ_TO_BLOCK;
    for (kj_scope i = KJ_TO_BLOCK; i <= scope; i++)
        t->fence[i] = w->tick;
}

static kj_scope scope_of(uint32_t flags)
{
    return flags & KJ_WATCH_SHARED ? KJ_TO_BLOCK : KJ_TO_ALL;
}

void kj_watch_acquire(watch *w, uint32_t thread, const cell *c, uint32_t flags)
{
    progress *t = &w->threads[thread];
    t->seen = kj_most(t->seen, c->released);
    w->most_seen = kj_most(w->most_seen, t->seen);
    know(w, t, scope_of(flags));
}

void kj_watch_meet(watch *w, uint32_t thread, cell *c, uint32_t flags)
{
    progress *t = &w->threads[thread];
    uint32_t released = c->released;
    if (flags & KJ_WATCH_ORDERS) {
        w->tick++;
        fence(w, t, scope_of(flags));
    }
    if (t->fence[KJ_TO_BLOCK] || w->block_fence)
        hand_over(w, thread, c);
    t->seen = kj_most(t->seen, released);
    w->most_seen = kj_most(w->most_seen, t->seen);
}

void kj_watch_on_fence(kj_host_watch *told, uint32_t thread, uint64_t lanes, int32_t block)
{
    watch *w = (watch *)told;
    w->tick++;
    for (; lanes; lanes &= lanes - 1) {
        progress *t = &w->threads[(thread + (uint32_t)__builtin_ctzll(lanes)) % KJ_WATCH_THREADS];
        kj_scope scope = block ? KJ_TO_BLOCK : KJ_TO_ALL;
        fence(w, t, scope);
        know(w, t, scope);
    }
}

/* ---- Warps ---- */

uint32_t kj_watch_together(const watch *w, uint32_t thread, uint32_t other)
{
    const progress *t = &w->threads[thread];
    if (thread / KJ_WARP != other / KJ_WARP)
        return 0;
    return t->together ? t->together[other % KJ_WARP] : 0;
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
    }
    return true;
}

static void learn(progress *t, const progress *other)
{
    for (int l = 0; l < KJ_WARP; l++)
        t->together[l] = kj_most(t->together[l], other->together[l]);
    for (int i = 0; i < KJ_SCOPES; i++) {
        t->fence[i] = kj_most(t->fence[i], other->fence[i]);
        t->knows[i] = kj_most(t->knows[i], other->knows[i]);
    }
    t->seen = kj_most(t->seen, other->seen);
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
        for (uint32_t rest = group; rest; rest &= rest - 1)
            learn(t, &w->threads[first + (uint32_t)__builtin_ctz(rest)]);
        for (uint32_t rest = group; rest; rest &= rest - 1)
            t->together[__builtin_ctz(rest)] = w->tick;
    }
}

/* ---- Blocks ---- */

void kj_watch_joined(watch *w)
{
    for (int i = 0; w->fences && i < KJ_WATCH_THREADS; i++)
        w->block_fence = kj_most(w->block_fence, w->threads[i].fence[KJ_TO_ALL]);
    w->block_seen = w->most_seen;
    memcpy(w->block_knows, w->most_known, sizeof w->block_knows);
}

void kj_watch_alone(watch *w)
{
    for (int i = 0; w->fences && i < KJ_WATCH_THREADS; i++)
        w->threads[i] = (progress){.together = w->threads[i].together};
    w->block_fence = w->block_seen = w->most_seen = 0;
    memset(w->block_knows, 0, sizeof w->block_knows);
    memset(w->most_known, 0, sizeof w->most_known);
}

void kj_watch_unordered(watch *w)
{
    w->fences = w->narrow = w->warps = false;
    kj_watch_no_releases(w);
    w->forgotten = 0;
    for (int i = 0; i < KJ_WATCH_THREADS; i++) {
        free(w->threads[i].together);
        w->threads[i] = (progress){0};
    }
}
