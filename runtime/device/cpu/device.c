/* The CPU as a device: its table of operations, and what there is to say about it. */
#include "device/cpu/cpu.h"
#include "device/dlpack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int cpu_count(void)
{
    return 1;
}

/* "AMD EPYC 9654 96-Core Processor" as the system calls it. */
static void cpu_model(char *out, size_t size)
{
    char line[512];
    kj_snprintf(out, size, "CPU");
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        colon[strcspn(colon, "\n")] = '\0';
        kj_snprintf(out, size, "%.*s", (int)size - 1, colon);
        break;
    }
    fclose(file);
}

static const char *vector_isa(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
        return "AVX-512";
    if (__builtin_cpu_supports("avx2"))
        return "AVX2";
    return __builtin_cpu_supports("avx") ? "AVX" : "SSE";
#elif defined(__aarch64__)
    return "NEON";
#else
    return "scalar";
#endif
}

static void cpu_describe(const kj_device *dev, int ordinal, kjit_device_info *out)
{
    char model[80];
    cpu_model(model, sizeof model);
    *out = (kjit_device_info){.kind = "cpu", .ordinal = ordinal, .memory = kj_machine_memory()};
    out->units = dev ? kj_pool_workers(dev->pool) : kj_machine_cpus();
    kj_snprintf(out->name, sizeof out->name, "%s (%d thread%s, %s)", model, out->units,
                out->units == 1 ? "" : "s", vector_isa());
}

extern const kj_device_ops kj_cpu_device;

static kjit_status cpu_attribute(kj_device *dev, kjit_attribute attribute, int64_t *out,
                                 kj_failure *why)
{
    const kj_device_ops *ops = &kj_cpu_device;
    (void)why;
    switch (attribute) {
    case KJIT_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *out = ops->max_threads; break;
    case KJIT_ATTRIBUTE_MAX_BLOCK_X: *out = ops->max_block[0]; break;
    case KJIT_ATTRIBUTE_MAX_BLOCK_Y: *out = ops->max_block[1]; break;
    case KJIT_ATTRIBUTE_MAX_BLOCK_Z: *out = ops->max_block[2]; break;
    case KJIT_ATTRIBUTE_MAX_GRID_X: *out = ops->max_grid[0]; break;
    case KJIT_ATTRIBUTE_MAX_GRID_Y: *out = ops->max_grid[1]; break;
    case KJIT_ATTRIBUTE_MAX_GRID_Z: *out = ops->max_grid[2]; break;
    case KJIT_ATTRIBUTE_WARP_SIZE: *out = 32; break;
    case KJIT_ATTRIBUTE_MULTIPROCESSORS: *out = kj_pool_workers(dev->pool); break;
    case KJIT_ATTRIBUTE_SHARED_PER_BLOCK:
    case KJIT_ATTRIBUTE_SHARED_PER_BLOCK_OPTIN: *out = ops->max_shared; break;
    case KJIT_ATTRIBUTE_CONCURRENT_KERNELS:
    case KJIT_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case KJIT_ATTRIBUTE_MANAGED_MEMORY:
    case KJIT_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
    case KJIT_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case KJIT_ATTRIBUTE_UNIFIED_ADDRESSING:
    case KJIT_ATTRIBUTE_INTEGRATED: *out = 1; break;
    case KJIT_ATTRIBUTE_MEMORY_POOLS: *out = 0; break;
    default: return KJIT_NO_DEVICE;
    }
    return KJIT_OK;
}

static kjit_status cpu_open(int ordinal, int workers, kj_device **out, kj_failure *why)
{
    (void)ordinal;
    if (workers > KJ_MAX_WORKERS)
        return kj_because(why, KJIT_INVALID, "workers is %d: it must be %d at most", workers,
                          KJ_MAX_WORKERS);
    kjit_status status = kj_loader_check(why);
    if (status != KJIT_OK)
        return status;
    kj_device *dev = calloc(1, sizeof *dev);
    if (!dev)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    status = kj_pool_create(workers > 0 ? workers : kj_machine_cpus(), &dev->pool, why);
    if (status != KJIT_OK) {
        free(dev);
        return status;
    }
    kj_queues_init(&dev->queues);
    dev->cached = kj_machine_cache(kj_pool_workers(dev->pool));
    *out = dev;
    return KJIT_OK;
}

static void cpu_close(kj_device *dev)
{
    kj_watch_free(atomic_load(&dev->watch));
    kj_pool_free(dev->pool);
    kj_queues_destroy(&dev->queues);
    free(dev);
}

/* All of them have the host's. */
static kj_reach cpu_peer(kj_device *dev, const kj_device *other)
{
    (void)dev, (void)other;
    return KJ_SAME;
}

static kjit_status cpu_alloc(kj_device *dev, kj_chunk *chunk, kj_failure *why)
{
    (void)dev;
    kjit_status status =
        chunk->how & KJ_OPENED      ? kj_share_open(chunk->handle, chunk->size, &chunk->data, why)
        : chunk->how & KJ_SHAREABLE ? kj_share_alloc(chunk->size, &chunk->data, why)
                                    : kj_memory_alloc(chunk->size, &chunk->data, why);
    chunk->device = (uintptr_t)chunk->data;
    chunk->queue = NULL;
    return status;
}

static kjit_status cpu_release(kj_device *dev, const kj_chunk *chunk, kj_failure *why)
{
    (void)dev, (void)why;
    if (chunk->how & (KJ_SHAREABLE | KJ_OPENED))
        kj_share_free(chunk->data);
    else if (!(chunk->how & KJ_REGISTERED))
        kj_memory_free(chunk->data, chunk->size);
    return KJIT_OK;
}

/* It copies with its processor: nothing is won by locked pages. */
static kjit_status cpu_pin(kj_device *dev, kj_chunk *chunk, kj_failure *why)
{
    (void)dev, (void)why;
    chunk->device = (uintptr_t)chunk->data;
    return KJIT_OK;
}

static kjit_status cpu_memory(kj_device *dev, kjit_memory_info *out, kj_failure *why)
{
    (void)dev, (void)why;
    out->total = kj_machine_memory();
    out->free = kj_machine_memory_free();
    return KJIT_OK;
}

/* ---- Copies ---- */

typedef struct copy_task {
    kj_task task;
    kj_transfer transfer;
    kj_work *work;
} copy_task;

static void run_copy(kj_task *task)
{
    copy_task *t = (copy_task *)task;
    kj_task_begins(t->work);
    kj_transfer_run(&t->transfer);
    kj_task_ends(t->work, KJIT_OK, NULL);
}

static kjit_status cpu_copy(kj_device *dev, kj_queue *queue, const kj_transfer *transfer,
                            kj_work *work, kj_failure *why)
{
    if (!queue) {
        kj_queue_wait(dev, NULL);
        kj_transfer_run(transfer);
        return KJIT_OK;
    }
    copy_task *t = calloc(1, sizeof *t);
    if (!t)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    *t = (copy_task){.task.run = run_copy, .transfer = *transfer, .work = work};
    kjit_status status = kj_queue_add(queue, &t->task, why);
    if (status != KJIT_OK)
        free(t);
    return status;
}

/* ---- Callbacks ---- */

typedef struct call_task {
    kj_task task;
    void (*run)(kj_work *work);
    kj_work *work;
} call_task;

static void run_call(kj_task *task)
{
    call_task *t = (call_task *)task;
    kj_task_begins(t->work);
    t->run(t->work);
    kj_task_ends(t->work, KJIT_OK, NULL);
}

static kjit_status cpu_call(kj_device *dev, kj_queue *queue, void (*run)(kj_work *work),
                            kj_work *work, kj_failure *why)
{
    (void)dev;
    call_task *t = calloc(1, sizeof *t);
    if (!t)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    *t = (call_task){.task.run = run_call, .run = run, .work = work};
    kjit_status status = kj_queue_add(queue, &t->task, why);
    if (status != KJIT_OK)
        free(t);
    return status;
}

/* So that a grid cannot take all memory by mistake. */
static kjit_status cpu_resident(kj_device *dev, const kj_exec *exec, int threads, size_t scratch,
                                int64_t *out, kj_failure *why)
{
    enum { MOST_BYTES = 1 << 30 };
    (void)dev, (void)exec, (void)threads, (void)why;
    *out = MOST_BYTES / (int64_t)(scratch ? scratch : 1);
    return KJIT_OK;
}

static const kj_mark_ops marks = {
    .create = kj_mark_create,
    .free = kj_mark_free,
    .record = kj_mark_record,
    .wait = kj_mark_wait,
    .reached = kj_mark_reached,
    .join = kj_mark_join,
    .elapsed = kj_mark_elapsed,
};

static const kj_memory_ops memory = {.pin = cpu_pin, .share = kj_cpu_share};

static const kj_graph_ops graphs = {
    .create = kj_cpu_graph_create,
    .launch = kj_cpu_graph_launch,
    .free = kj_cpu_graph_free,
};

const kj_device_ops kj_cpu_device = {
    .kind = "cpu",
    .host_memory = true,
    .stage = KJ_STAGE_OBJECT,
    .lasts = true,
    .wide = true,
    .checks = KJ_CHECKS_CPU,
    .max_block = {1024, 1024, 64},
    .max_threads = 1024,
    .max_grid = {INT32_MAX, 65535, 65535},
    .max_shared = 227 << 10,
    .dlpack = {[KJIT_HOST] = KJ_DL_CPU,
               [KJIT_DEVICE] = KJ_DL_CPU,
               [KJIT_PINNED] = KJ_DL_CPU,
               [KJIT_MAPPED] = KJ_DL_CPU,
               [KJIT_MANAGED] = KJ_DL_CPU},
    .count = cpu_count,
    .describe = cpu_describe,
    .running = kj_cpu_running,
    .attribute = cpu_attribute,
    .open = cpu_open,
    .close = cpu_close,
    .peer = cpu_peer,
    .alloc = cpu_alloc,
    .release = cpu_release,
    .memory_info = cpu_memory,
    .copy = cpu_copy,
    .load = kj_cpu_load,
    .unload = kj_unload,
    .resident = cpu_resident,
    .launch = kj_cpu_launch,
    .replay = kj_cpu_replay,
    .queue_create = kj_queue_create,
    .queue_free = kj_queue_free,
    .wait = kj_queue_wait,
    .finish = kj_queue_finish,
    .idle = kj_queue_idle,
    .call = cpu_call,
    .marks = &marks,
    .memory = &memory,
    .graphs = &graphs,
};
