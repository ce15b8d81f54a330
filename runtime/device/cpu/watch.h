/* Launches that are checked for races: what is noted of accesses, and what orders them. */
#ifndef KJ_WATCH_H
#define KJ_WATCH_H

#include "device/cpu/cpu.h"

enum {
    KJ_WATCH_PAGE_BITS = 12,
    KJ_WATCH_THREAD_BITS = 10,
    KJ_WATCH_THREADS = 1 << KJ_WATCH_THREAD_BITS, /* of a block, at most */
    KJ_WATCH_ROWS = 4096,
    KJ_WATCH_SET = (1 << KJ_WATCH_PAGE_BITS) / 4 / 64, /* words */
};

/* An access: who is its site and thread. Tick 0: there is none. */
typedef struct note {
    uint32_t block, tick, who;
} note;

/* Loads or atomics: the last, another of its block and interval, one of another block. */
typedef struct notes {
    note last, beside, before;
} notes;

/* What is kept of few cells. Of stores that all threads make alike the last hides others that it does not stand for:
 * one of another value, or that is not tested; and another thread's of the same value. */
typedef struct aside {
    notes atomics;
    note other, beside;
    uint64_t value; /* of `other` */
} aside;

typedef struct cell {
    note store;
    notes loads;
    uint64_t value;    /* that was stored, by a store that all threads make alike */
    uint32_t released; /* the tick of the last release by an atomic here */
    uint32_t aside;    /* 1 + index in watch.asides; 0: none */
} cell;
_Static_assert(sizeof(cell) == 64, "docs/language.md says so");

typedef struct page {
    uintptr_t key; /* address >> KJ_WATCH_PAGE_BITS */
    cell *cells;
    int bits;         /* of a cell's scalar: 1 << bits bytes */
    uint32_t changed; /* the tick of the last store or atomic in it */
    uint32_t pending; /* loads of the interval that began with this barrier wait in watch.rows */
    uint32_t began;   /* the block's begin since which `set` counts */
    uint64_t set
        [KJ_WATCH_SET]; /* which cells of shared memory the block has written; of scalars of 4 bytes and more */
} page;

/* Loads of shared memory by a gang's row. They are noted when something is stored in their page before the next
 * barrier: mostly that comes first, and nothing can race with them. */
typedef struct row {
    uint32_t site, flags, thread;
    uint64_t lanes;
    uintptr_t at;
    int64_t stride;
} row;

/* For whom fences order. */
typedef enum kj_scope { KJ_TO_BLOCK, KJ_TO_ALL, KJ_SCOPES } kj_scope;

/* What an atomic behind a fence hands over (watch_order.c): whose accesses of the block, up to which tick. */
typedef struct release {
    uint32_t block, whose, tick, until;
    uint32_t before, far; /* 1 + index of earlier ones of the same; 0: there is none */
    uint32_t number;      /* of those up to this one */
} release;

/* How far things are, of a thread. */
typedef struct progress {
    uint32_t fence[KJ_SCOPES]; /* its last; that for the block may be one for all */
    uint32_t seen;             /* the last release that its atomics have met */
    uint32_t knows[KJ_SCOPES]; /* what it had seen at its last fence */
    uint32_t *together;        /* by lane: the last syncwarp() with that one; NULL: none */
} progress;

typedef struct side {
    uint32_t site, flags, block, thread;
} side;

/* When an array of a thread's own was new, and in which block: that of the last one, where blocks wait for one another. */
typedef struct start {
    uint32_t tick, block;
} start;

typedef struct watch {
    kj_host_watch told; /* first: the code's pointer is to both */
    const kj_kernel_info *kernel;
    int64_t grid_shape[3], block_shape[3]; /* of the grid whose block runs */
    uint32_t tick, grid, barrier; /* of the last grid_sync(), of the block's last barrier */
    uint32_t block;
    bool lost;          /* there is no memory to go on */
    bool fences, warps; /* there have been some */
    bool narrow;        /* some for the block alone */
    bool decides;       /* some loads say whether threads come to a barrier */
    bool races, inits;  /* what is looked for */
    bool found;
    side at, other; /* the race that is told */
    bool unset;
    side bare;       /* the load of what was not written that is told */
    int nsites;      /* there is room for */
    bool *quiet;     /* by site: of an array that nothing in the launch writes */
    uint16_t *alike; /* by site: flags of its stores, and KJ_WATCH_OF_LOADS of its loads */
    uint32_t first;  /* the tick of the grid's begin */
    uint32_t began;  /* and of the block's */
    bool sets;       /* page.set is kept: blocks run one after the other, from begin to end */
    row *rows;       /* KJ_WATCH_ROWS */
    size_t nrows;
    start *begun;               /* by local array and thread: since when it is new */
    uint32_t narrays;           /* there is room for */
    page **near;                /* by site: where it was last */
    page **pages;               /* a hash table */
    size_t npages, room, bytes; /* bytes: of their cells */
    aside *asides;
    size_t nasides, asides_room;
    release *releases;
    size_t nreleases, releases_room;
    uint32_t *latest; /* a hash table: 1 + index in releases of the last of each list */
    size_t latest_room;
    uint32_t forgotten; /* releases before this tick are not known any more */
    uint32_t block_fence, block_seen, block_knows[KJ_SCOPES]; /* of all, before the last barrier */
    uint32_t most_seen, most_known[KJ_SCOPES];                /* and so far */
    progress threads[KJ_WATCH_THREADS];
} watch;

static inline uint32_t kj_thread_of(const note *n)
{
    return n->who % KJ_WATCH_THREADS;
}

static inline size_t kj_hash_of(uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20);
}

/* ---- watch.c ---- */

void kj_watch_listen(kj_host_watch *told); /* to what the code tells */

/* ---- watch_memory.c ---- */

/* The page of an address, with cells of scalars of at most 1 << bits bytes; NULL: no memory, the watch is lost. */
page *kj_watch_page(watch *w, uint32_t site, uintptr_t address, int bits);
aside *kj_watch_aside(watch *w, cell *c);         /* of a cell; NULL likewise */
bool kj_watch_lost(watch *w, const void *memory); /* it is NULL, or other memory was */
bool kj_watch_is_large(const watch *w);           /* too much to be kept for the next launch */
void kj_watch_forget(watch *w);                   /* all that was noted */

/* ---- watch_order.c ---- */

/* Does the thread know of the access, by what atomics have handed over? */
bool kj_was_handed(const watch *w, const note *n, uint32_t thread);
/* The thread's atomic on the cell. */
void kj_watch_meet(watch *w, uint32_t thread, cell *c, uint32_t flags);
/* By an atomic with a fence behind it the thread knows of what was released there. */
void kj_watch_acquire(watch *w, uint32_t thread, const cell *c, uint32_t flags);
/* The last syncwarp() of two threads of a block; 0: there was none. */
uint32_t kj_watch_together(const watch *w, uint32_t thread, uint32_t other);
/* A barrier of the block; another block begins. */
void kj_watch_joined(watch *w);
void kj_watch_alone(watch *w);
/* What was so far orders nothing that comes. */
void kj_watch_unordered(watch *w);
void kj_watch_no_releases(watch *w);
/* Of kj_host_watch. */
void kj_watch_on_fence(kj_host_watch *told, uint32_t thread, uint64_t lanes, int32_t block);
void kj_watch_on_warp(kj_host_watch *told, uint32_t thread, uint64_t lanes,
                      const uint32_t *members);

static inline uint32_t kj_most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static inline uint32_t kj_least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

#endif
