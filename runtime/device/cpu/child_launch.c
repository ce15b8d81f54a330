/* Grids that kernels launch.
 *
 * They run when the grid that launched them has ended: all grids of a generation together, their
 * blocks one row of work for the pool, and then those that they launched, until there are none. The
 * launch that the host made ends behind the last. */
#include <stdlib.h>
#include <string.h>

#include "device/cpu/cpu.h"

enum { MOST_BYTES = 1 << 30 }; /* of a generation's launches */

typedef struct launched {
    struct launched *next;
    const kj_child_entry *child;
    kj_host_launch *values; /* behind this */
} launched;

/* A generation, and what it is told to launch: the next one. */
typedef struct generation {
    kj_host_spawner spawner; /* first: the code's pointer is to both */
    const kj_launch_call *call;
    uint64_t depth; /* of what it is told to launch; 1: by the host's launch */
    kj_host_fault *fault;
    kj_halt_word halt;
    pthread_mutex_t lock;
    launched *first, **tail;
    size_t count, bytes;
} generation;

/* The grids of a generation as one row of blocks. */
typedef struct row {
    launched **grids;
    uint64_t *begin; /* of each grid, its first block's place in the row; and the end */
    size_t count;
} row;

static int32_t spawn(kj_host_spawner *spawner, int32_t child, const int64_t extents[3],
                     const uint64_t *slots)
{
    generation *g = (generation *)spawner;
    const kj_child_entry *c = &g->call->exec->children[child - 1];
    if (g->depth > g->call->most_depth)
        return KJ_LAUNCH_BEYOND_DEPTH;
    size_t size = sizeof(launched) + sizeof(kj_host_launch) + c->nslots * sizeof *slots;
    launched *l = malloc(size);
    if (!l)
        return KJ_LAUNCH_NO_MEMORY;
    *l = (launched){.child = c, .values = (kj_host_launch *)(l + 1)};
    l->values->fault = g->fault;
    kj_set_halt(l->values, g->halt);
    memcpy(l->values->grid, extents, sizeof l->values->grid);
    memcpy(l->values->block, c->block, sizeof l->values->block);
    memcpy(l->values->slots, slots, c->nslots * sizeof *slots);
    pthread_mutex_lock(&g->lock);
    bool allowed = g->count < g->call->most_launches, fits = g->bytes + size <= MOST_BYTES;
    if (allowed && fits) {
        *g->tail = l;
        g->tail = &l->next;
        g->count++;
        g->bytes += size;
    }
    pthread_mutex_unlock(&g->lock);
    if (!allowed || !fits)
        free(l);
    return !allowed ? KJ_LAUNCH_BEYOND_COUNT : fits ? 0 : KJ_LAUNCH_TOO_MANY;
}

static void open_generation(generation *g, const kj_launch_call *call, uint64_t depth,
                            const kj_host_launch *values)
{
    *g = (generation){.spawner = {spawn, kj_watch_of(values)},
                      .call = call,
                      .depth = depth,
                      .fault = values->fault,
                      .halt = {values->halt, values->going}};
    g->tail = &g->first;
    pthread_mutex_init(&g->lock, NULL);
}

static void close_generation(generation *g)
{
    for (launched *l = g->first, *next; l; l = next) {
        next = l->next;
        free(l);
    }
    pthread_mutex_destroy(&g->lock);
}

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

/* Runs the grids of a list; they tell `next` what they launch. */
static kjit_status run_generation(kj_pool *pool, const generation *g, generation *next,
                                  kj_failure *why)
{
    row r = {.grids = calloc(g->count, sizeof *r.grids),
             .begin = calloc(g->count + 1, sizeof *r.begin)};
    size_t scratch = 0;
    atomic_uint cost;
    kjit_status status = KJIT_OK;
    atomic_init(&cost, 0);
    if (!r.grids || !r.begin)
        status =
            kj_because(why, KJIT_NO_MEMORY, "out of memory: %zu launches by kernels", g->count);
    for (launched *l = g->first; l && status == KJIT_OK; l = l->next) {
        l->values->spawner = &next->spawner;
        scratch = l->child->scratch > scratch ? l->child->scratch : scratch;
        r.grids[r.count] = l;
        r.begin[r.count + 1] = r.begin[r.count] + kj_count_blocks(l->values);
        r.count++;
    }
    if (status == KJIT_OK) {
        kj_job job = {.run = run_row,
                      .ctx = &r,
                      .blocks = r.begin[r.count],
                      .serial = next->spawner.watch != NULL};
        status = kj_pool_run_blocks(pool, &job, g->fault, scratch, &cost, why);
    }
    free(r.grids);
    free(r.begin);
    return status;
}

kjit_status kj_pool_run_family(kj_pool *pool, const kj_launch_call *call, kj_host_launch *values,
                               kj_failure *why)
{
    generation of[2], *now = &of[0], *next = &of[1];
    uint64_t depth = 1;
    open_generation(now, call, depth, values);
    values->spawner = &now->spawner;
    kjit_status status =
        kj_pool_run(pool, call->exec->entry, values, call->scratch, &call->exec->cost, why);
    while (status == KJIT_OK && now->count > 0) {
        generation *ended = now;
        open_generation(next, call, ++depth, values);
        status = run_generation(pool, now, next, why);
        close_generation(now);
        now = next;
        next = ended;
    }
    close_generation(now);
    return status;
}
