/* Launches of kernels with grid_sync(): all blocks up to the barrier, then all from there on.
 *
 * A block that waits returns, and is called again for its next turn; what it keeps is in memory of
 * its own. */
#include <string.h>

#include "device/cpu/cpu.h"

typedef struct grid {
    kj_host_entry entry;
    const kj_host_launch *values;
    char *memory;
    size_t size; /* of a block's */
    atomic_uint_fast64_t waiting;
} grid;

static bool run_turn(void *ctx, uint64_t first, uint64_t last, void *memory)
{
    grid *g = ctx;
    uint64_t waiting = 0;
    int32_t end = KJ_HOST_DONE;
    (void)memory;
    for (uint64_t b = first; b < last && end != KJ_HOST_FAULT; b++) {
        end = kj_is_halted(g->values, b)
                  ? KJ_HOST_FAULT
                  : g->entry(g->values, (int64_t)b, (int64_t)b + 1, g->memory + b * g->size);
        waiting += end == KJ_HOST_WAITS;
    }
    atomic_fetch_add_explicit(&g->waiting, waiting, memory_order_relaxed);
    return end != KJ_HOST_FAULT;
}

/* Turn after turn, until no block waits. */
static kjit_status run_turns(kj_pool *pool, grid *g, atomic_uint *cost, kj_failure *why)
{
    kj_host_watch *watch = kj_watch_of(g->values);
    kj_job job = {
        .run = run_turn, .ctx = g, .blocks = kj_count_blocks(g->values), .serial = watch != NULL};
    uint64_t waiting;
    do {
        atomic_store_explicit(&g->waiting, 0, memory_order_relaxed);
        kj_watch_grid(watch, false);
        kjit_status status = kj_pool_run_job(pool, &job, 0, cost, why);
        if (status != KJIT_OK)
            return status;
        waiting = atomic_load_explicit(&g->waiting, memory_order_relaxed);
    } while (waiting == job.blocks);
    if (waiting == 0)
        return KJIT_OK;
    *g->values->fault = (kj_host_fault){
        .kind = KJ_FAULT_GRID_BARRIER, .arrived = (int64_t)waiting, .alive = (int64_t)job.blocks};
    return KJIT_FAULT;
}

kjit_status kj_pool_run_grid(kj_pool *pool, kj_host_entry entry, const kj_host_launch *values,
                             size_t scratch_size, atomic_uint *cost, kj_failure *why)
{
    uint64_t blocks = kj_count_blocks(values);
    grid g = {.entry = entry, .values = values, .size = scratch_size};
    void *memory;
    kjit_status status = kj_memory_alloc(blocks * scratch_size, &memory, why);
    if (status != KJIT_OK)
        return status;
    g.memory = memory;
    for (uint64_t b = 0; b < blocks; b++) /* all wait at the beginning */
        memset(g.memory + b * scratch_size, 0, sizeof(uint64_t));
    status = run_turns(pool, &g, cost, why);
    kj_memory_free(memory, blocks * scratch_size);
    return status;
}
