/* Grids that kernels launch (dynamic parallelism).
 *
 * Those that the threads of one block launch run one after the other, each with all that comes of it
 * before the next, as in the stream that a block has of its own on a GPU: they are a chain, in the order
 * of the launches. Chains of different blocks know nothing of each other: the first grids of all
 * that wait run together, their blocks one row of work for the pool; what they launch are chains
 * of their own, which end before the grid's own chain goes on. The launch that the host made
 * ends behind the last. */
#include <stdlib.h>
#include <string.h>

#include "device/cpu/cpu.h"

enum { MOST_BYTES = 1 << 30 }; /* of a family's grids that have not ended */

typedef struct launched launched;
typedef struct family family;

/* Grids in the order in which they were added. */
typedef struct list {
    launched *first, *last;
    size_t count;
} list;

/* Whom the blocks of a grid tell what to launch. */
typedef struct parent {
    kj_host_spawner spawner; /* first: the code's pointer is to both */
    family *family;
    uint64_t depth; /* of what it is told to launch; 1: by the host's launch */
    size_t open;    /* chains of what it was told that have not ended */
    list told;      /* by blocks that may run at once: under the family's lock */
} parent;

struct launched {
    parent parent;  /* of what it launches */
    launched *next; /* in its chain; before there are chains, in what its launcher was told */
    launched *also; /* in the list of those that are to run */
    launched *of;   /* who waits for its chain; NULL: only the host does */
    int64_t block;  /* of the launcher */
    size_t size;
    const kj_child_entry *child;
    kj_host_launch *values; /* behind this */
};

/* All grids of a launch by the host. */
struct family {
    const kj_launch_call *call;
    kj_host_fault *fault;
    kj_halt_word halt;
    pthread_mutex_t lock;
    size_t waiting, bytes; /* grids that have not begun; memory of those that have not ended */
    atomic_uint cost;      /* of their blocks: the pool's */
    list ready;            /* each the first of its chain */
};

/* The grids that run together as one row of blocks. */
typedef struct row {
    launched **grids;
    uint64_t *begin; /* of each grid, its first block's place in the row; and the end */
    size_t count;
} row;

/* ---- Launches ---- */

static int32_t spawn(kj_host_spawner *spawner, int32_t child, int64_t block,
                     const int64_t extents[3], const uint64_t *slots)
{
    parent *by = (parent *)spawner;
    family *f = by->family;
    const kj_child_entry *c = &f->call->exec->children[child - 1];
    if (by->depth > f->call->most_depth)
        return KJ_LAUNCH_BEYOND_DEPTH;
    size_t size = sizeof(launched) + sizeof(kj_host_launch) + c->nslots * sizeof *slots;
    launched *l = malloc(size);
    if (!l)
        return KJ_LAUNCH_NO_MEMORY;
    *l = (launched){
        .parent = {.spawner = {spawn, spawner->watch}, .family = f, .depth = by->depth + 1},
        .block = block,
        .size = size,
        .child = c,
        .values = (kj_host_launch *)(l + 1)};
    *l->values = (kj_host_launch){.fault = f->fault, .spawner = &l->parent.spawner};
    kj_set_halt(l->values, f->halt);
    memcpy(l->values->grid, extents, sizeof l->values->grid);
    memcpy(l->values->block, c->block, sizeof l->values->block);
    memcpy(l->values->slots, slots, c->nslots * sizeof *slots);
    pthread_mutex_lock(&f->lock);
    bool allowed = f->waiting < f->call->most_launches, fits = f->bytes + size <= MOST_BYTES;
    if (allowed && fits) {
        launched **end = by->told.first ? &by->told.last->next : &by->told.first;
        *end = by->told.last = l;
        by->told.count++;
        f->waiting++;
        f->bytes += size;
    }
    pthread_mutex_unlock(&f->lock);
    if (!allowed || !fits)
        free(l);
    return !allowed ? KJ_LAUNCH_BEYOND_COUNT : fits ? 0 : KJ_LAUNCH_TOO_MANY;
}

/* ---- Chains ---- */

static void make_ready(family *f, launched *l)
{
    launched **end = f->ready.first ? &f->ready.last->also : &f->ready.first;
    *end = f->ready.last = l;
    l->also = NULL;
    f->ready.count++;
}

static void drop(family *f, launched *l)
{
    f->bytes -= l->size;
    free(l);
}

/* It has ended, and all that came of it. */
static void end_grid(family *f, launched *l)
{
    while (l) {
        launched *next = l->next, *of = l->of;
        drop(f, l);
        if (next)
            make_ready(f, next);
        l = !next && of && --of->parent.open == 0 ? of : NULL;
    }
}

/* By block; of one block as they are. */
static launched *merge(launched *a, launched *b)
{
    launched *first, **end = &first;
    while (a && b) {
        launched **from = b->block < a->block ? &b : &a;
        *end = *from;
        end = &(*from)->next;
        *from = *end;
    }
    *end = a ? a : b;
    return first;
}

static launched *sort(launched *first, size_t count)
{
    if (count < 2)
        return first;
    launched *last = first;
    for (size_t i = 1; i < count / 2; i++)
        last = last->next;
    launched *second = last->next;
    last->next = NULL;
    return merge(sort(first, count / 2), sort(second, count - count / 2));
}

/* Makes chains of what a grid's blocks have launched, and their first grids ready. Returns how many. */
static size_t open_chains(family *f, parent *p, launched *of)
{
    size_t chains = 0;
    launched *next;
    for (launched *l = sort(p->told.first, p->told.count), *before = NULL; l; l = next) {
        next = l->next;
        l->of = of;
        if (!before || before->block != l->block) {
            if (before)
                before->next = NULL;
            make_ready(f, l);
            chains++;
        }
        before = l;
    }
    p->told = (list){.first = NULL};
    return chains;
}

/* A grid has run. The last of its chain need not wait for what it launched: who waits for it does,
 * so that a kernel may launch itself without end. */
static void has_run(family *f, launched *l)
{
    if (!l->parent.told.first) {
        end_grid(f, l);
    } else if (l->next) {
        l->parent.open = open_chains(f, &l->parent, l);
    } else {
        size_t chains = open_chains(f, &l->parent, l->of);
        if (l->of)
            l->of->parent.open += chains - 1;
        drop(f, l);
    }
}

/* ---- Running ---- */

/* The grid that a place in the row is of. */
static size_t grid_at(const row *r, uint64_t place)
{
    size_t low = 0, high = r->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (r->begin[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool run_row(void *ctx, uint64_t first, uint64_t last, void *memory)
{
    const row *r = ctx;
    bool runs = true;
    for (size_t i = grid_at(r, first); i < r->count && r->begin[i] < last && runs; i++) {
        uint64_t from = first > r->begin[i] ? first : r->begin[i];
        uint64_t to = last < r->begin[i + 1] ? last : r->begin[i + 1];
        const launched *l = r->grids[i];
        kj_watch_grid(kj_watch_of(l->values), true); /* such a row is run in one piece */
        runs = !kj_is_halted(l->values, from - r->begin[i]) &&
               l->child->entry(l->values, (int64_t)(from - r->begin[i]),
                               (int64_t)(to - r->begin[i]), memory) != KJ_HOST_FAULT;
    }
    return runs;
}

/* Runs the grids that are ready. */
static kjit_status run_ready(kj_pool *pool, family *f, bool serial, launched *first, size_t count,
                             kj_failure *why)
{
    row r = {.grids = calloc(count, sizeof *r.grids), .begin = calloc(count + 1, sizeof *r.begin)};
    size_t scratch = 0;
    kjit_status status = KJIT_OK;
    if (!r.grids || !r.begin)
        status = kj_because(why, KJIT_NO_MEMORY, "out of memory: %zu launches by kernels", count);
    for (launched *l = first; l && status == KJIT_OK; l = l->also) {
        scratch = l->child->scratch > scratch ? l->child->scratch : scratch;
        r.grids[r.count] = l;
        r.begin[r.count + 1] = r.begin[r.count] + kj_count_blocks(l->values);
        r.count++;
    }
    if (status == KJIT_OK) {
        kj_job job = {.run = run_row, .ctx = &r, .blocks = r.begin[r.count], .serial = serial};
        status = kj_pool_run_blocks(pool, &job, f->fault, scratch, &f->cost, why);
    }
    free(r.grids);
    free(r.begin);
    return status;
}

static void forget(family *f, list told)
{
    for (launched *l = told.first, *next; l; l = next) {
        next = l->next;
        drop(f, l);
    }
}

/* Runs what is ready, and what then is, until nothing is, or one has failed: what is left then is forgotten. */
static kjit_status run_family(kj_pool *pool, family *f, bool serial, kjit_status status,
                              kj_failure *why)
{
    while (f->ready.first) {
        list now = f->ready;
        f->ready = (list){.first = NULL};
        f->waiting -= now.count;
        if (status == KJIT_OK)
            status = run_ready(pool, f, serial, now.first, now.count, why);
        for (launched *l = now.first, *next; l; l = next) {
            next = l->also;
            if (status != KJIT_OK) {
                forget(f, l->parent.told);
                end_grid(f, l);
            } else {
                has_run(f, l);
            }
        }
    }
    return status;
}

kjit_status kj_pool_run_family(kj_pool *pool, const kj_launch_call *call, kj_host_launch *values,
                               kj_failure *why)
{
    family f = {.call = call, .fault = values->fault, .halt = {values->halt, values->going}};
    parent host = {.spawner = {spawn, kj_watch_of(values)}, .family = &f, .depth = 1};
    atomic_init(&f.cost, 0);
    pthread_mutex_init(&f.lock, NULL);
    values->spawner = &host.spawner;
    kjit_status status =
        kj_pool_run(pool, call->exec->entry, values, call->scratch, &call->exec->cost, why);
    open_chains(&f, &host, NULL);
    status = run_family(pool, &f, host.spawner.watch != NULL, status, why);
    pthread_mutex_destroy(&f.lock);
    return status;
}
