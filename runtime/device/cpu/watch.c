/* Launches that are checked for races. In: what the code's threads do (kj_host_watch), block after block; out: the
 * first race, as the launch's fault.
 *
 * What counts is what could happen, not what did: two accesses race if nothing orders them. The code runs on one
 * thread, so all that happens has a number, its tick. Of each scalar that was accessed the last store, the last loads and
 * the last atomics are noted, with block, thread and tick. Ordered before what a thread does now is what
 *   - it did itself;
 *   - has a tick below the block's last barrier, for its own block; below the last grid_sync(), for all;
 *   - has a tick below the last syncwarp() of both lanes;
 *   - was handed over: released by a fence and an atomic behind it, and acquired by an atomic on the same scalar and a
 *     fence behind that. Of these a thread keeps the tick up to which it knows what was released, whatever it was
 *     released by: two that are ordered so only by chance are not told.
 * A few loads stand for all: two threads of the block that runs, of two warps where there are any, for whatever a
 * later store of that block meets, and one of a block before. */
#include "device/cpu/watch.h"

#include <stdlib.h>
#include <string.h>

#define LAST_TICK 0xf0000000u
enum {
    OWN_BITS = 40,
    OWN_BYTES = 30
}; /* of an address in a thread's own array: KJ_WATCH_OWN, and the thread */
_Static_assert(KJ_WATCH_OWN(1) == (int64_t)1 << OWN_BITS &&
                   OWN_BYTES + KJ_WATCH_THREAD_BITS == OWN_BITS,
               "such addresses are in pages of their own");

/* ---- Races ---- */

static uint32_t place_of(const watch *w, const side *s)
{
    return w->kernel->sites[s->site]->span.begin;
}

static int compare(const watch *w, const side *a, const side *b)
{
    uint32_t x[] = {place_of(w, a), a->flags & KJ_WATCH_KIND, a->block, a->thread},
             y[] = {place_of(w, b), b->flags & KJ_WATCH_KIND, b->block, b->thread};
    for (int i = 0; i < 4; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Of all races of the block the one is told that comes first in the source. */
static void tell(watch *w, const note *n, uint32_t kind, const side *now)
{
    side then = {n->who >> KJ_WATCH_THREAD_BITS, kind, n->block, kj_thread_of(n)};
    side at = *now, other = then;
    if (compare(w, &then, now) > 0) {
        at = then;
        other = *now;
    }
    int order = w->found ? compare(w, &at, &w->at) : -1;
    if (order < 0 || (order == 0 && compare(w, &other, &w->other) < 0)) {
        w->at = at;
        w->other = other;
    }
    w->found = true;
}

/* It is neither ordered by barriers nor the thread's own. */
static bool is_unordered(const watch *w, const note *n, const side *now)
{
    bool own = n->block == w->block;
    uint32_t by = kj_thread_of(n);
    if (own && (by == now->thread || n->tick < kj_watch_together(w, now->thread, by)))
        return false;
    return !(w->fences && kj_was_handed(w, n, now->thread));
}

static inline bool is_ordered(const watch *w, const note *n, const side *now)
{
    uint32_t old = n->block == w->block || now->flags & KJ_WATCH_SHARED ? w->barrier : w->grid;
    return n->tick < old || !is_unordered(w, n, now);
}

static void meet_notes(watch *w, const notes *all, uint32_t kind, const side *now)
{
    if (!is_ordered(w, &all->last, now))
        tell(w, &all->last, kind, now);
    if (!is_ordered(w, &all->beside, now))
        tell(w, &all->beside, kind, now);
    if (!is_ordered(w, &all->before, now))
        tell(w, &all->before, kind, now);
}

/* Another thread's, of the same interval: what the new one comes behind stands for nothing more. */
static void keep_beside(const watch *w, notes *all, const side *now)
{
    uint32_t by = kj_thread_of(&all->last), its = kj_thread_of(&all->beside);
    bool parted = by / KJ_WARP != now->thread / KJ_WARP;
    if (w->warps && all->last.tick < kj_watch_together(w, now->thread, by))
        return;
    if (parted || all->beside.tick == 0 || its == now->thread ||
        (w->warps && all->beside.tick < kj_watch_together(w, now->thread, its)))
        all->beside = all->last;
}

static inline void keep(const watch *w, notes *all, const side *now)
{
    if (all->last.block != w->block) {
        all->before = all->last;
        all->beside.tick = 0;
    } else if (all->last.tick < w->barrier) {
        all->beside.tick = 0;
    } else if (kj_thread_of(&all->last) != now->thread) {
        keep_beside(w, all, now);
    }
    all->last = (note){w->block, w->tick, now->site << KJ_WATCH_THREAD_BITS | now->thread};
}

/* Is it a load of the block's interval that decides whether threads come to a barrier? */
static bool decides(const watch *w, const note *n)
{
    return n->block == w->block && n->tick >= w->barrier &&
           w->alike[n->who >> KJ_WATCH_THREAD_BITS] & KJ_WATCH_DECIDES;
}

/* What races with a load races with one that decides; so those stand for others of their threads, or for all. */
static bool is_stood_for(const watch *w, const notes *all, const side *now)
{
    if (now->flags & KJ_WATCH_DECIDES || w->fences || w->warps)
        return false;
    bool last = decides(w, &all->last), beside = decides(w, &all->beside);
    return (last && beside) || (last && kj_thread_of(&all->last) == now->thread) ||
           (beside && kj_thread_of(&all->beside) == now->thread);
}

/* Does the language say what comes of this store and an access of another thread? */
static bool is_defined(uint32_t flags, bool own)
{
    return flags & (own ? KJ_WATCH_SAME : KJ_WATCH_SAME_GRID);
}

static void meet_store(watch *w, const note *store, uint64_t stored, const side *now,
                       uint64_t value)
{
    if (is_ordered(w, store, now))
        return;
    bool own = store->block == w->block;
    uint32_t alike = w->alike[store->who >> KJ_WATCH_THREAD_BITS],
             kind = now->flags & KJ_WATCH_KIND;
    if (kind == KJ_WATCH_STORE && is_defined(alike, own) && is_defined(now->flags, own) &&
        stored == value)
        return;
    if (kind == KJ_WATCH_LOAD && is_defined(alike, own) && alike & KJ_WATCH_TESTED &&
        !(now->flags & KJ_WATCH_DECIDES))
        return;
    tell(w, store, KJ_WATCH_STORE, now);
}

static void meet_stores(watch *w, const cell *c, const side *now, uint64_t value)
{
    meet_store(w, &c->store, c->value, now, value);
    if (!c->aside)
        return;
    const aside *all = &w->asides[c->aside - 1];
    meet_store(w, &all->other, all->value, now, value);
    meet_store(w, &all->beside, c->value, now, value);
}

/* What a store that all threads make alike hides: of others the last tells all. */
static void keep_store(watch *w, cell *c, const side *now, uint64_t value)
{
    const uint32_t kinds = KJ_WATCH_SAME | KJ_WATCH_SAME_GRID | KJ_WATCH_TESTED;
    uint32_t old = now->flags & KJ_WATCH_SHARED ? w->barrier : w->grid, its;
    if (!(now->flags & KJ_WATCH_SAME) || c->store.tick < old)
        return;
    uint32_t before = w->alike[c->store.who >> KJ_WATCH_THREAD_BITS];
    bool differs = c->value != value || now->flags & kinds & ~before;
    if (!differs && is_ordered(w, &c->store, now))
        return;
    aside *all = kj_watch_aside(w, c);
    if (!all)
        return;
    its = kj_thread_of(&all->beside);
    if (differs) {
        all->other = c->store;
        all->value = c->value;
        all->beside.tick = 0;
    } else if (all->beside.tick < old || its == now->thread ||
               kj_thread_of(&c->store) / KJ_WARP != now->thread / KJ_WARP) {
        all->beside = c->store;
    }
}

/* Is the load meant to stand beside what comes now? */
static bool is_meant(const watch *w, const note *load, const side *now)
{
    uint32_t kind = now->flags & KJ_WATCH_KIND,
             of_load = w->alike[load->who >> KJ_WATCH_THREAD_BITS];
    if (kind == KJ_WATCH_ATOMIC)
        return of_load & KJ_WATCH_GUESS;
    return now->flags & KJ_WATCH_TESTED && !(of_load & KJ_WATCH_DECIDES) &&
           is_defined(now->flags, load->block == w->block);
}

static void meet_load(watch *w, const note *load, const side *now)
{
    if (!is_ordered(w, load, now) && !is_meant(w, load, now))
        tell(w, load, KJ_WATCH_LOAD, now);
}

static void meet_loads(watch *w, const cell *c, const side *now)
{
    meet_load(w, &c->loads.last, now);
    meet_load(w, &c->loads.beside, now);
    meet_load(w, &c->loads.before, now);
}

/* Where the thread's own atomic came after all others, or one that is ordered before it, what that gave can have told
 * it so. */
static bool came_last(const watch *w, const notes *all, const side *now)
{
    const note *last = &all->last;
    return last->block == w->block && last->tick >= w->began &&
           !w->kernel->sites[last->who >> KJ_WATCH_THREAD_BITS]->dropped &&
           is_ordered(w, last, now);
}

static void meet_atomics(watch *w, const notes *all, const side *now)
{
    if (!came_last(w, all, now))
        meet_notes(w, all, KJ_WATCH_ATOMIC, now);
}

static void compare_cell(watch *w, cell *c, const side *now, uint64_t value)
{
    uint32_t kind = now->flags & KJ_WATCH_KIND;
    meet_stores(w, c, now, value);
    if (kind != KJ_WATCH_LOAD)
        meet_loads(w, c, now);
    bool guess = kind == KJ_WATCH_LOAD && now->flags & KJ_WATCH_GUESS;
    if (kind != KJ_WATCH_ATOMIC && c->aside && !guess)
        meet_atomics(w, &w->asides[c->aside - 1].atomics, now);
}

/* Was something written there since the array began? Where another block has begun its own in between, who knows. */
static bool is_set(const watch *w, const cell *c, const side *now, uint32_t array)
{
    if (now->flags & KJ_WATCH_SHARED)
        return c->store.block == w->block && c->store.tick >= w->first;
    const start *own =
        array < w->narrays ? &w->begun[array * KJ_WATCH_THREADS + now->thread] : NULL;
    return own && (own->block != w->block || c->store.tick >= own->tick);
}

static void tell_unset(watch *w, const side *now)
{
    if (!w->unset || compare(w, now, &w->bare) < 0)
        w->bare = *now;
    w->unset = true;
}

static inline void access_cell(watch *w, cell *c, const side *now, uintptr_t at, uint64_t value)
{
    uint32_t kind = now->flags & KJ_WATCH_KIND;
    bool local = now->flags & KJ_WATCH_LOCAL;
    if (w->inits && kind != KJ_WATCH_STORE && now->flags & (KJ_WATCH_SHARED | KJ_WATCH_LOCAL) &&
        !is_set(w, c, now, (uint32_t)(at >> OWN_BITS)))
        tell_unset(w, now);
    if (w->races &&
        now->flags & KJ_WATCH_ORDERS) /* it meets what was released before it meets the rest */
        kj_watch_acquire(w, now->thread, c, now->flags);
    if (w->races && !local)
        compare_cell(w, c, now, value);
    if (kind == KJ_WATCH_LOAD) {
        if (!w->decides || !is_stood_for(w, &c->loads, now))
            keep(w, &c->loads, now);
        if (w->races && now->flags & KJ_WATCH_ORDERS)
            kj_watch_meet(w, now->thread, c, now->flags);
    } else if (kind == KJ_WATCH_STORE) {
        if (w->races && !local)
            keep_store(w, c, now, value);
        c->store = (note){w->block, w->tick, now->site << KJ_WATCH_THREAD_BITS | now->thread};
        c->value = value;
    } else if (w->races) {
        aside *all = kj_watch_aside(w, c);
        if (all)
            keep(w, &all->atomics, now);
        kj_watch_meet(w, now->thread, c, now->flags);
    }
}

/* ---- What the code tells ---- */

/* Where the last access of a row was: the next is mostly in the same page. */
typedef struct spot {
    uintptr_t key;
    page *page;
} spot;

static void note_rows(watch *w);

static void set_cell(const watch *w, page *p, size_t first, int bits)
{
    if (p->bits < 2)
        return;
    if (p->began != w->began)
        memset(p->set, 0, sizeof p->set);
    p->began = w->began;
    for (size_t i = first; i < first + ((size_t)1 << (bits - p->bits)); i++)
        p->set[i / 64] |= (uint64_t)1 << i % 64;
}

static inline void access_at(watch *w, spot *s, const side *now, uintptr_t at, uint64_t value)
{
    int bits = (int)KJ_WATCH_SIZE(now->flags);
    if (now->flags & KJ_WATCH_LOCAL) /* each thread has its own */
        at += (uintptr_t)now->thread << OWN_BYTES;
    uintptr_t key = at >> KJ_WATCH_PAGE_BITS, mask = ((uintptr_t)1 << KJ_WATCH_PAGE_BITS) - 1;
    if (!s->page || s->key != key)
        *s = (spot){key, kj_watch_page(w, now->site, at, bits)};
    page *p = s->page;
    if (!p)
        return;
    if ((now->flags & KJ_WATCH_KIND) != KJ_WATCH_LOAD) {
        if (p->pending == w->barrier)
            note_rows(w);
        p->changed = w->tick;
    }
    size_t first = (at & mask) >> p->bits;
    cell *c = &p->cells[first];
    if (w->sets && now->flags & KJ_WATCH_SHARED && (now->flags & KJ_WATCH_KIND) == KJ_WATCH_STORE)
        set_cell(w, p, first, bits);
    for (int n = 1 << (bits - p->bits); n > 0; n--)
        access_cell(w, c++, now, at, value);
}

static void access_row(watch *w, const row *r, uint64_t value)
{
    side now = {r->site, r->flags, w->block, r->thread};
    spot s = {0, NULL};
    uint64_t lanes = r->lanes;
    bool atomic = (r->flags & KJ_WATCH_KIND) == KJ_WATCH_ATOMIC || r->flags & KJ_WATCH_ORDERS;
    if (r->stride == 0 && !atomic && !(r->flags & KJ_WATCH_LOCAL)) /* two of them stand for all */
        lanes = (lanes & -lanes) | (uint64_t)1 << (63 - __builtin_clzll(lanes));
    for (; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctzll(lanes);
        now.thread = r->thread + (uint32_t)lane;
        access_at(w, &s, &now, r->at + (uintptr_t)(lane * r->stride), value);
    }
}

static void note_rows(watch *w)
{
    size_t n = w->nrows;
    bool inits = w->inits; /* that was looked at when they came */
    w->nrows = 0;
    w->inits = false;
    for (size_t i = 0; i < n; i++)
        access_row(w, &w->rows[i], 0);
    w->inits = inits;
}

/* ---- Loads that wait ---- */

/* Is all of what the row loads written by the block? Of cells of its scalars, one behind the other or one alone. */
static bool are_set(const watch *w, const page *p, uint32_t flags, uintptr_t from, uintptr_t to)
{
    uintptr_t mask = ((uintptr_t)1 << KJ_WATCH_PAGE_BITS) - 1;
    size_t first = (from & mask) >> p->bits, n = ((to - from) >> p->bits) + 1;
    if (!w->sets || p->bits != (int)KJ_WATCH_SIZE(flags) || p->bits < 2 || p->began != w->began)
        return false;
    for (size_t i = first; i < first + n;) {
        size_t word = i / 64, at = i % 64, some = first + n - i < 64 - at ? first + n - i : 64 - at;
        uint64_t wanted = (some == 64 ? UINT64_MAX : ((uint64_t)1 << some) - 1) << at;
        if ((p->set[word] & wanted) != wanted)
            return false;
        i += some;
    }
    return true;
}

/* Can the loads wait? Within a page, where nothing has changed since the barrier, and in order by barriers alone. */
static bool waits(watch *w, const row *r)
{
    if (!w->races || w->fences || w->warps || !(r->flags & KJ_WATCH_SHARED) ||
        (r->flags & (KJ_WATCH_KIND | KJ_WATCH_ORDERS)) != KJ_WATCH_LOAD || r->stride < 0)
        return false;
    int first = __builtin_ctzll(r->lanes), last = 63 - __builtin_clzll(r->lanes);
    int64_t size = (int64_t)1 << KJ_WATCH_SIZE(r->flags);
    uintptr_t from = r->at + (uintptr_t)(first * r->stride),
              to = r->at + (uintptr_t)(last * r->stride);
    if (from >> KJ_WATCH_PAGE_BITS != to >> KJ_WATCH_PAGE_BITS || (w->inits && r->stride > size))
        return false;
    page *p = kj_watch_page(w, r->site, from, (int)KJ_WATCH_SIZE(r->flags));
    if (!p || p->changed >= w->barrier || (w->inits && !are_set(w, p, r->flags, from, to)))
        return false;
    if (w->nrows == KJ_WATCH_ROWS)
        note_rows(w);
    w->rows[w->nrows++] = *r;
    p->pending = w->barrier;
    return true;
}

/* Is there something to be told of an access of the site? */
static inline bool begins(watch *w, uint32_t site, uint32_t flags)
{
    if ((flags & KJ_WATCH_KIND) == KJ_WATCH_STORE)
        w->alike[site] = (uint16_t)((flags & ~(unsigned)KJ_WATCH_OF_LOADS) |
                                    (w->alike[site] & KJ_WATCH_OF_LOADS));
    else
        w->alike[site] |= (uint16_t)(flags & KJ_WATCH_OF_LOADS);
    w->decides |= (flags & KJ_WATCH_DECIDES) != 0;
    return !w->lost && !w->quiet[site];
}

static void on_row(kj_host_watch *told, uint32_t site, uint32_t flags, uint32_t thread,
                   uint64_t lanes, uintptr_t at, int64_t stride, uint64_t value)
{
    watch *w = (watch *)told;
    row r = {site, flags, thread, lanes, at, stride};
    if (!begins(w, site, flags) || !lanes)
        return;
    if (flags & KJ_WATCH_ORDERS)
        note_rows(w);
    if (!waits(w, &r))
        access_row(w, &r, value);
}

static void on_each(kj_host_watch *told, uint32_t site, uint32_t flags, uint32_t thread,
                    uint64_t lanes, uintptr_t at, const int64_t *offsets, uint64_t value)
{
    watch *w = (watch *)told;
    side now = {site, flags, w->block, thread};
    spot s = {0, NULL};
    if (!begins(w, site, flags))
        return;
    if (flags & KJ_WATCH_ORDERS)
        note_rows(w);
    for (; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctzll(lanes);
        now.thread = thread + (uint32_t)lane;
        access_at(w, &s, &now, at + ((uintptr_t)offsets[lane] << KJ_WATCH_SIZE(flags)), value);
    }
}

/* What ends here was written before; what is read before it is written again has an older tick. */
static void on_begun(kj_host_watch *told, uint32_t array, uint32_t thread, uint64_t lanes)
{
    watch *w = (watch *)told;
    w->tick++;
    if (array >= w->narrays) {
        uint32_t n = array + 1;
        start *all = realloc(w->begun, (size_t)n * KJ_WATCH_THREADS * sizeof *all);
        if (kj_watch_lost(w, all))
            return;
        w->begun = all;
        w->narrays = n;
    }
    for (; lanes; lanes &= lanes - 1)
        w->begun[array * KJ_WATCH_THREADS + thread + (uint32_t)__builtin_ctzll(lanes)] =
            (start){w->tick, w->block};
}

static void on_barrier(kj_host_watch *told)
{
    watch *w = (watch *)told;
    kj_watch_joined(w);
    w->barrier = ++w->tick;
    w->nrows = 0;
}

static void on_fence(kj_host_watch *told, uint32_t thread, uint64_t lanes, int32_t block)
{
    note_rows((watch *)told);
    kj_watch_on_fence(told, thread, lanes, block);
}

static void on_warp(kj_host_watch *told, uint32_t thread, uint64_t lanes, const uint32_t *members)
{
    note_rows((watch *)told);
    kj_watch_on_warp(told, thread, lanes, members);
}

static int32_t on_block(kj_host_watch *told, const kj_host_launch *launch, int64_t block)
{
    watch *w = (watch *)told;
    if (w->found || w->unset || w->lost)
        return 1;
    if (w->tick > LAST_TICK) { /* what was so far is taken for ordered */
        kj_watch_forget(w);
        kj_watch_unordered(w);
        w->tick = w->grid = w->first = 1;
        memset(w->begun, 0, (size_t)w->narrays * KJ_WATCH_THREADS * sizeof *w->begun);
    }
    /* copies: a launched grid is gone when the failure is told */
    memcpy(w->grid_shape, launch->grid, sizeof w->grid_shape);
    memcpy(w->block_shape, launch->block, sizeof w->block_shape);
    w->block = (uint32_t)block;
    w->began = w->barrier = ++w->tick;
    w->nrows = 0;
    kj_watch_alone(w);
    return 0;
}

void kj_watch_listen(kj_host_watch *told)
{
    *told = (kj_host_watch){on_block, on_barrier, on_row, on_each, on_begun, on_fence, on_warp};
}
