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
#include <stdlib.h>
#include <string.h>

#include "device/cpu/cpu.h"

enum {
    PAGE = 4096,
    PAGE_BITS = 12,
    THREAD_BITS = 10,
    MOST_THREADS = 1 << THREAD_BITS,
    FIRST_PAGES = 256,
    FIRST_RELEASES = 256,
    COARSEST = 3 /* a scalar of 8 bytes */
};

/* An access: who is its site and thread. Tick 0: there is none. */
typedef struct note {
    uint32_t block, tick, who;
} note;

/* Loads or atomics: the last, another of its block and interval, one of another block. */
typedef struct notes {
    note last, beside, before;
} notes;

typedef struct cell {
    note store;
    notes loads;
    uint32_t value;    /* that was stored, by a store that all threads make alike */
    uint32_t released; /* the tick of the last release by an atomic here */
    uint32_t atomics;  /* 1 + index in watch.atomics; 0: none */
} cell;

typedef struct page {
    uintptr_t key; /* address >> PAGE_BITS */
    cell *cells;
    int bits; /* bytes of a cell's scalar: 1 << bits */
} page;

/* What a thread's atomic behind a fence hands over: its own accesses up to the fence, those of its block up to the
 * barrier before, of its warp up to their last syncwarp(). */
typedef struct release {
    uint32_t block, thread, fence, tick, barrier, warp;
    uint32_t before; /* 1 + index of the one before of the block; 0: it is the first */
} release;

/* How far things are, of a thread. */
typedef struct progress {
    uint32_t fence;     /* its last */
    uint32_t seen;      /* the last release that its atomics have met */
    uint32_t knows;     /* what it had seen at its last fence */
    uint32_t warp;      /* its last syncwarp() */
    uint32_t *together; /* by lane: the last with that one; NULL: `warp` is of all of its warp */
} progress;

typedef struct side {
    uint32_t site, flags, block, thread;
} side;

typedef struct watch {
    kj_host_watch told; /* first: the code's pointer is to both */
    const kj_kernel_info *kernel;
    const kj_host_launch *launch;
    uint32_t tick, grid, barrier; /* of the last grid_sync(), of the block's last barrier */
    uint32_t block;
    bool lost;   /* there is no memory to go on */
    bool fences; /* there have been some */
    bool found;
    side at, other; /* the race that is told */
    bool *quiet;    /* by site: of an array that nothing in the launch writes */
    uint8_t *alike; /* by site: flags of its stores */
    page **near;    /* by site: where it was last */
    page **pages;   /* a hash table */
    size_t npages, room;
    notes *atomics;
    size_t natomics, atomics_room;
    release *releases;
    size_t nreleases, releases_room;
    uint32_t *latest; /* a hash table: 1 + index in releases of a block's last */
    size_t latest_room;
    uint32_t block_fence, block_seen, block_knows; /* of all its threads, before its last barrier */
    uint32_t most_seen, most_known;                /* and so far */
    progress threads[MOST_THREADS];
} watch;

/* ---- Memory ---- */

static size_t hash_of(uintptr_t key)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20);
}

static bool is_lost(watch *w, const void *memory)
{
    w->lost |= memory == NULL;
    return w->lost;
}

static bool grow_pages(watch *w)
{
    size_t room = w->room ? 2 * w->room : FIRST_PAGES;
    page **all = calloc(room, sizeof *all);
    if (is_lost(w, all))
        return false;
    for (size_t i = 0; i < w->room; i++) {
        if (!w->pages[i])
            continue;
        size_t at = hash_of(w->pages[i]->key) % room;
        while (all[at])
            at = (at + 1) % room;
        all[at] = w->pages[i];
    }
    free(w->pages);
    w->pages = all;
    w->room = room;
    return true;
}

static page *add_page(watch *w, uintptr_t key, int bits)
{
    if (w->npages * 2 >= w->room && !grow_pages(w))
        return NULL;
    page *p = malloc(sizeof *p);
    if (is_lost(w, p))
        return NULL;
    *p = (page){key, calloc((size_t)PAGE >> bits, sizeof(cell)), bits};
    if (is_lost(w, p->cells)) {
        free(p);
        return NULL;
    }
    size_t at = hash_of(key) % w->room;
    while (w->pages[at])
        at = (at + 1) % w->room;
    w->npages++;
    return w->pages[at] = p;
}

/* Cells of scalars of 1 << bits bytes, where they were of larger ones. */
static bool refine(watch *w, page *p, int bits)
{
    size_t n = (size_t)PAGE >> bits;
    cell *cells = calloc(n, sizeof *cells);
    if (is_lost(w, cells))
        return false;
    for (size_t i = 0; i < n; i++)
        cells[i] = p->cells[i >> (p->bits - bits)];
    free(p->cells);
    p->cells = cells;
    p->bits = bits;
    return true;
}

static page *find_page(watch *w, uint32_t site, uintptr_t key, int bits)
{
    page *p = w->near[site];
    if (!p || p->key != key) {
        size_t at = w->room ? hash_of(key) % w->room : 0;
        while (w->room && w->pages[at] && w->pages[at]->key != key)
            at = (at + 1) % w->room;
        p = w->room && w->pages[at] ? w->pages[at] : add_page(w, key, bits);
        if (!p)
            return NULL;
        w->near[site] = p;
    }
    return p->bits <= bits || refine(w, p, bits) ? p : NULL;
}

static notes *atomics_of(watch *w, cell *c)
{
    if (c->atomics)
        return &w->atomics[c->atomics - 1];
    if (w->natomics == w->atomics_room) {
        size_t room = w->atomics_room ? 2 * w->atomics_room : FIRST_PAGES;
        notes *all = realloc(w->atomics, room * sizeof *all);
        if (is_lost(w, all))
            return NULL;
        w->atomics = all;
        w->atomics_room = room;
    }
    w->atomics[w->natomics] = (notes){.last.tick = 0};
    c->atomics = (uint32_t)++w->natomics;
    return &w->atomics[c->atomics - 1];
}

/* ---- Handing over ---- */

static uint32_t most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
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
    if (is_lost(w, all) || is_lost(w, latest)) {
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
                 .fence = most(t->fence, w->block_fence),
                 .tick = ++w->tick,
                 .barrier = w->barrier,
                 .warp = t->warp,
                 .before = *latest};
    w->releases[w->nreleases++] = r;
    *latest = (uint32_t)w->nreleases;
    c->released = r.tick;
}

/* Does the thread know of the access by what was handed over? */
static bool was_handed(const watch *w, const note *n, uint32_t thread)
{
    uint32_t known = most(w->threads[thread].knows, w->block_knows), by = n->who % MOST_THREADS;
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

static void meet(watch *w, uint32_t thread, cell *c, uint32_t flags)
{
    progress *t = &w->threads[thread];
    bool orders = flags & KJ_WATCH_ORDERS;
    uint32_t released = c->released;
    if (orders) {
        w->fences = true;
        t->fence = ++w->tick;
    }
    if (t->fence || w->block_fence)
        hand_over(w, thread, c);
    t->seen = most(t->seen, released);
    w->most_seen = most(w->most_seen, t->seen);
    if (orders) {
        t->knows = most(t->knows, t->seen);
        w->most_known = most(w->most_known, t->knows);
    }
}

static void on_fence(kj_host_watch *told, uint32_t thread, uint64_t lanes, int32_t block)
{
    watch *w = (watch *)told;
    (void)block;
    w->fences = true;
    w->tick++;
    for (; lanes; lanes &= lanes - 1) {
        progress *t = &w->threads[(thread + (uint32_t)__builtin_ctzll(lanes)) % MOST_THREADS];
        t->fence = w->tick;
        t->knows = most(t->seen, w->block_seen);
        w->most_known = most(w->most_known, t->knows);
    }
}

/* ---- Warps ---- */

static uint32_t together_with(const watch *w, uint32_t thread, uint32_t other)
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
        if (is_lost(w, t->together))
            return false;
        for (int l = 0; l < KJ_WARP; l++)
            t->together[l] = t->warp;
    }
    return true;
}

/* The lanes of a call that name one another wait for one another, and know what each of them knew. */
static void on_warp(kj_host_watch *told, uint32_t thread, uint64_t lanes, const uint32_t *members)
{
    watch *w = (watch *)told;
    uint32_t first = thread % MOST_THREADS / KJ_WARP * KJ_WARP;
    w->tick++;
    if (w->lost || !part_warp(w, first))
        return;
    for (uint64_t left = lanes & UINT32_MAX; left; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        uint32_t group = members[lane] & (uint32_t)lanes;
        progress *t = &w->threads[first + (uint32_t)lane];
        for (uint32_t rest = group; rest; rest &= rest - 1) {
            int l = __builtin_ctz(rest);
            for (int k = 0; k < KJ_WARP; k++)
                t->together[k] = most(t->together[k], w->threads[first + (uint32_t)l].together[k]);
        }
        for (uint32_t rest = group; rest; rest &= rest - 1)
            t->together[__builtin_ctz(rest)] = w->tick;
        t->warp = w->tick;
    }
}

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
    side then = {n->who >> THREAD_BITS, kind, n->block, n->who % MOST_THREADS};
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

static bool is_ordered(const watch *w, const note *n, const side *now)
{
    if (n->tick < w->grid)
        return true;
    bool own = n->block == w->block;
    uint32_t by = n->who % MOST_THREADS;
    if ((own || now->flags & KJ_WATCH_SHARED) && n->tick < w->barrier)
        return true;
    if (own && (by == now->thread || n->tick < together_with(w, now->thread, by)))
        return true;
    return w->fences && was_handed(w, n, now->thread);
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

static void keep(const watch *w, notes *all, const side *now)
{
    note n = {w->block, w->tick, now->site << THREAD_BITS | now->thread};
    uint32_t by = all->last.who % MOST_THREADS;
    if (all->last.block != w->block) {
        all->before = all->last;
        all->beside.tick = 0;
    } else if (all->last.tick < w->barrier) {
        all->beside.tick = 0;
    } else if (by != now->thread &&
               (all->beside.tick == 0 || all->beside.who % MOST_THREADS == now->thread ||
                by / KJ_WARP != now->thread / KJ_WARP)) {
        all->beside = all->last;
    }
    all->last = n;
}

/* Does the language say what comes of this store and an access of another thread? */
static bool is_defined(uint32_t flags, bool own)
{
    return flags & (own ? KJ_WATCH_SAME : KJ_WATCH_SAME_GRID);
}

static void meet_store(watch *w, const cell *c, const side *now, uint32_t value)
{
    if (is_ordered(w, &c->store, now))
        return;
    bool own = c->store.block == w->block;
    uint32_t alike = w->alike[c->store.who >> THREAD_BITS], kind = now->flags & KJ_WATCH_KIND;
    if (kind == KJ_WATCH_STORE && is_defined(alike, own) && is_defined(now->flags, own) &&
        c->value == value)
        return;
    if (kind == KJ_WATCH_LOAD && is_defined(alike, own) && alike & KJ_WATCH_TESTED)
        return;
    tell(w, &c->store, KJ_WATCH_STORE, now);
}

static void meet_loads(watch *w, const cell *c, const side *now)
{
    const notes *all = &c->loads;
    bool tested = now->flags & KJ_WATCH_TESTED;
    if (!is_ordered(w, &all->last, now) &&
        !(tested && is_defined(now->flags, all->last.block == w->block)))
        tell(w, &all->last, KJ_WATCH_LOAD, now);
    if (!is_ordered(w, &all->beside, now) &&
        !(tested && is_defined(now->flags, all->beside.block == w->block)))
        tell(w, &all->beside, KJ_WATCH_LOAD, now);
    if (!is_ordered(w, &all->before, now) && !(tested && is_defined(now->flags, false)))
        tell(w, &all->before, KJ_WATCH_LOAD, now);
}

static void access_cell(watch *w, cell *c, const side *now, uint64_t value)
{
    uint32_t kind = now->flags & KJ_WATCH_KIND, word = (uint32_t)(value ^ value >> 32);
    meet_store(w, c, now, word);
    if (kind != KJ_WATCH_LOAD)
        meet_loads(w, c, now);
    if (kind != KJ_WATCH_ATOMIC && c->atomics)
        meet_notes(w, &w->atomics[c->atomics - 1], KJ_WATCH_ATOMIC, now);
    if (kind == KJ_WATCH_LOAD) {
        keep(w, &c->loads, now);
    } else if (kind == KJ_WATCH_STORE) {
        c->store = (note){w->block, w->tick, now->site << THREAD_BITS | now->thread};
        c->value = word;
    } else {
        notes *all = atomics_of(w, c);
        if (all)
            keep(w, all, now);
        meet(w, now->thread, c, now->flags);
    }
}

/* ---- What the code tells ---- */

static void access_at(watch *w, const side *now, uintptr_t at, uint64_t value)
{
    int bits = (int)KJ_WATCH_SIZE(now->flags);
    page *p = find_page(w, now->site, at >> PAGE_BITS, bits);
    if (!p)
        return;
    cell *c = &p->cells[at % PAGE >> p->bits];
    for (int n = 1 << (bits - p->bits); n > 0; n--)
        access_cell(w, c++, now, value);
}

/* Is there something to be told of an access of the site? */
static bool begins(watch *w, uint32_t site, uint32_t flags)
{
    if ((flags & KJ_WATCH_KIND) == KJ_WATCH_STORE)
        w->alike[site] = (uint8_t)flags;
    return !w->lost && !w->quiet[site];
}

static void on_row(kj_host_watch *told, uint32_t site, uint32_t flags, uint32_t thread,
                   uint64_t lanes, uintptr_t at, int64_t stride, uint64_t value)
{
    watch *w = (watch *)told;
    side now = {site, flags, w->block, thread};
    if (!begins(w, site, flags) || !lanes)
        return;
    if (stride == 0 && (flags & KJ_WATCH_KIND) != KJ_WATCH_ATOMIC) { /* two of them stand for all */
        int last = 63 - __builtin_clzll(lanes), first = __builtin_ctzll(lanes);
        now.thread = thread + (uint32_t)first;
        access_at(w, &now, at, value);
        now.thread = thread + (uint32_t)last;
        if (last != first)
            access_at(w, &now, at, value);
        return;
    }
    for (; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctzll(lanes);
        now.thread = thread + (uint32_t)lane;
        access_at(w, &now, at + (uintptr_t)(lane * stride), value);
    }
}

static void on_each(kj_host_watch *told, uint32_t site, uint32_t flags, uint32_t thread,
                    uint64_t lanes, uintptr_t at, const int64_t *offsets, uint64_t value)
{
    watch *w = (watch *)told;
    side now = {site, flags, w->block, thread};
    if (!begins(w, site, flags))
        return;
    for (; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctzll(lanes);
        now.thread = thread + (uint32_t)lane;
        access_at(w, &now, at + ((uintptr_t)offsets[lane] << KJ_WATCH_SIZE(flags)), value);
    }
}

static void on_barrier(kj_host_watch *told)
{
    watch *w = (watch *)told;
    for (int i = 0; w->fences && i < MOST_THREADS; i++)
        w->block_fence = most(w->block_fence, w->threads[i].fence);
    w->block_seen = w->most_seen;
    w->block_knows = w->most_known;
    w->barrier = ++w->tick;
}

static int32_t on_block(kj_host_watch *told, const kj_host_launch *launch, int64_t block,
                        const void *shared)
{
    watch *w = (watch *)told;
    (void)shared;
    if (w->found || w->lost)
        return 1;
    w->launch = launch;
    w->block = (uint32_t)block;
    w->barrier = ++w->tick;
    for (int i = 0; w->fences && i < MOST_THREADS; i++)
        w->threads[i].fence = w->threads[i].seen = w->threads[i].knows = 0;
    w->block_fence = w->block_seen = w->block_knows = w->most_seen = w->most_known = 0;
    return 0;
}

/* ---- Launches ---- */

/* The bytes of an array, from its slots on. */
typedef struct range {
    uintptr_t begin, end;
} range;

static range range_of(const kj_param_info *p, const uint64_t *slots)
{
    range r = {(uintptr_t)slots[0], (uintptr_t)slots[0] + (uintptr_t)p->size};
    for (int d = 0; d < p->ndim; d++) {
        int64_t n = (int64_t)slots[1 + d], step = (int64_t)slots[1 + p->ndim + d] * p->unit;
        if (n <= 0)
            return (range){0, 0};
        if (step < 0)
            r.begin += (uintptr_t)((n - 1) * step);
        else
            r.end += (uintptr_t)((n - 1) * step);
    }
    return r;
}

/* Nothing that a launch only reads can be part of a race. */
static bool find_quiet(watch *w, const kj_host_launch *values)
{
    const kj_kernel_info *k = w->kernel;
    size_t n = (size_t)k->nparams + 1, at = 0;
    range *ranges = calloc(n, sizeof *ranges);
    bool *quiet = calloc(n, sizeof *quiet);
    for (int i = 0; ranges && quiet && i < k->nparams; i++) {
        const kj_param_info *p = &k->params[i];
        ranges[i] = p->is_array ? range_of(p, values->slots + at) : (range){0, 0};
        at += p->is_array ? 1 + 2 * (size_t)p->ndim : 1;
        quiet[i] = p->is_array && !p->written && !k->launches;
    }
    for (int i = 0; ranges && quiet && i < k->nparams; i++)
        for (int j = 0; j < k->nparams; j++)
            if (k->params[j].written && ranges[i].begin < ranges[j].end &&
                ranges[j].begin < ranges[i].end)
                quiet[i] = false;
    for (int i = 0; ranges && quiet && i < k->nsites; i++)
        w->quiet[i] = k->sites[i]->watched > 0 && quiet[k->sites[i]->watched - 1];
    bool done = ranges && quiet;
    free(ranges);
    free(quiet);
    return done;
}

static void free_watch(watch *w)
{
    for (size_t i = 0; i < w->room; i++) {
        if (w->pages[i])
            free(w->pages[i]->cells);
        free(w->pages[i]);
    }
    for (int i = 0; i < MOST_THREADS; i++)
        free(w->threads[i].together);
    free(w->pages);
    free(w->atomics);
    free(w->releases);
    free(w->latest);
    free(w->quiet);
    free(w->alike);
    free(w->near);
    free(w);
}

kj_host_watch *kj_watch_begin(const kj_kernel_info *kernel, const kj_host_launch *values)
{
    watch *w = calloc(1, sizeof *w);
    size_t n = (size_t)kernel->nsites + 1;
    if (!w)
        return NULL;
    w->told = (kj_host_watch){on_block, on_barrier, on_row, on_each, on_fence, on_warp};
    w->kernel = kernel;
    w->tick = w->grid = 1;
    w->quiet = calloc(n, sizeof *w->quiet);
    w->alike = calloc(n, sizeof *w->alike);
    w->near = calloc(n, sizeof(page *));
    if (w->quiet && w->alike && w->near && find_quiet(w, values))
        return &w->told;
    free_watch(w);
    return NULL;
}

void kj_watch_grid(kj_host_watch *told)
{
    watch *w = (watch *)told;
    if (w)
        w->grid = ++w->tick;
}

/* The place of number i among those of a box. */
static void place_in(const int64_t box[3], uint32_t i, int64_t out[3])
{
    out[0] = i % box[0];
    out[1] = i / box[0] % box[1];
    out[2] = i / box[0] / box[1];
}

static kj_host_fault fault_of(const watch *w)
{
    kj_host_fault f = {.kind = KJ_FAULT_RACE, .offset = w->at.site};
    int64_t place[3];
    place_in(w->launch->grid, w->at.block, f.block);
    place_in(w->launch->block, w->at.thread, f.thread);
    f.values[KJ_RACE_SITE] = w->other.site;
    f.values[KJ_RACE_FLAGS] = w->other.flags;
    f.values[KJ_RACE_OWN_FLAGS] = w->at.flags;
    place_in(w->launch->block, w->other.thread, place);
    memcpy(&f.values[KJ_RACE_THREAD], place, sizeof place);
    place_in(w->launch->grid, w->other.block, place);
    memcpy(&f.values[KJ_RACE_BLOCK], place, sizeof place);
    return f;
}

kjit_status kj_watch_end(kj_host_watch *told, kjit_status status, kj_host_fault *fault,
                         kj_failure *why)
{
    watch *w = (watch *)told;
    bool ran = status == KJIT_OK || status == KJIT_FAULT;
    if (ran && fault->kind == KJ_FAULT_NONE && w->lost) {
        status = kj_because(why, KJIT_NO_MEMORY,
                            "out of memory: what is noted of a launch that is checked");
    } else if (ran && fault->kind == KJ_FAULT_NONE && w->found) {
        *fault = fault_of(w);
        status = KJIT_FAULT;
    }
    free_watch(w);
    return status;
}
