/* Launches on a GPU, by the driver (cuLaunchKernel, cuLaunchCooperativeKernel): a kernel's
 * parameters are the launch's slots where they are. */
#include <stdlib.h>

#include "base/room.h"
#include "device/cuda/cuda_device.h"

static const char *name_of(const kj_launch_call *call)
{
    return call->what ? call->what : "a kernel";
}

/* What the block's shape and the kernel's needs make impossible is a failure of the launch. */
static kjit_status refused(kj_device *dev, const kj_launch_call *call, kj_cu_result result,
                           kj_failure *why)
{
    const int64_t *block = call->values->block, *grid = call->values->grid;
    int registers;
    if (result == KJ_CU_INVALID_VALUE)
        return kj_because(why, KJIT_LAUNCH,
                          "%s: the driver refuses a grid of (%lld, %lld, %lld) blocks of (%lld, "
                          "%lld, %lld) threads",
                          name_of(call), (long long)grid[0], (long long)grid[1], (long long)grid[2],
                          (long long)block[0], (long long)block[1], (long long)block[2]);
    if (result == KJ_CU_LAUNCH_OUT_OF_RESOURCES &&
        dev->cu->FuncGetAttribute(&registers, KJ_CU_FUNC_NUM_REGS, call->exec->function) ==
            KJ_CU_SUCCESS)
        return kj_because(why, KJIT_LAUNCH,
                          "%s: a block of %lld threads with %d registers each is more than a "
                          "multiprocessor has: launch smaller blocks",
                          name_of(call), (long long)(block[0] * block[1] * block[2]), registers);
    return kj_cuda_failed(dev, result, why, "launch %s", name_of(call));
}

kj_cu_result kj_cuda_ready_counter(kj_device *dev, const kj_exec *exec, kj_cuda_counter *counter)
{
    kj_cu_address made;
    if (!exec->grid_sync || counter->at)
        return KJ_CU_SUCCESS;
    kj_cu_result result = dev->cu->MemAlloc(&made, sizeof(unsigned));
    if (result != KJ_CU_SUCCESS)
        return result;
    result = dev->cu->MemsetD32Async(made, 0, 1, dev->memory_stream);
    kj_cu_result end = kj_cuda_sync(dev, dev->memory_stream);
    if (result == KJ_CU_SUCCESS)
        result = end;
    if (result == KJ_CU_SUCCESS)
        counter->at = made;
    else if (!kj_cuda_is_lost(dev)) /* else it may be cleared yet */
        kj_cuda_note(dev, dev->cu->MemFree(made));
    return result;
}

/* How far a launch has got into its stream. */
typedef enum progress {
    NOWHERE,
    BEGUN, /* with what goes in front of the kernel, or some of it */
    LAUNCHED
} progress;

static kj_cu_result launch(kj_device *dev, kj_cu_stream stream, const kj_launch_call *call,
                           void **params)
{
    const kj_exec *exec = call->exec;
    const int64_t *grid = call->values->grid, *block = call->values->block;
    int64_t dynamic = (int64_t)call->scratch - exec->shared;
    if (exec->grid_sync)
        return dev->cu->LaunchCooperativeKernel(
            exec->function, (unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2],
            (unsigned)block[0], (unsigned)block[1], (unsigned)block[2], (unsigned)dynamic, stream,
            params);
    return dev->cu->LaunchKernel(exec->function, (unsigned)grid[0], (unsigned)grid[1],
                                 (unsigned)grid[2], (unsigned)block[0], (unsigned)block[1],
                                 (unsigned)block[2], (unsigned)dynamic, stream, params, NULL);
}

/* Before a launch whose blocks wait for one another. */
static kj_cu_result reset(kj_device *dev, kj_cu_stream stream, kj_cuda_counter *counter,
                          const kj_exec *exec, progress *at)
{
    if (counter->suspect) {
        kj_cu_result result = dev->cu->MemsetD32Async(counter->at, 0, 1, stream);
        if (result != KJ_CU_SUCCESS)
            return result;
        *at = BEGUN;
    }
    counter->suspect = exec->ends_early;
    return KJ_CU_SUCCESS;
}

static kj_cu_result go(kj_device *dev, kj_cu_stream stream, const kj_hop *hop, progress *at)
{
    if (hop->size == 0)
        return KJ_CU_SUCCESS;
    kj_cu_result result = dev->cu->MemcpyHtoDAsync(hop->device, hop->host, hop->size, stream);
    if (result == KJ_CU_SUCCESS)
        *at = BEGUN;
    return result;
}

static kj_cu_result come(kj_device *dev, kj_cu_stream stream, const kj_hop *hop)
{
    return hop->size == 0 ? KJ_CU_SUCCESS
                          : dev->cu->MemcpyDtoHAsync(hop->host, hop->device, hop->size, stream);
}

static kj_cu_result put(kj_device *dev, kj_cu_stream stream, kj_cuda_counter *counter,
                        const kj_launch_call *call, progress *at)
{
    const kj_exec *exec = call->exec;
    *at = NOWHERE;
    kj_cu_result result = exec->grid_sync ? reset(dev, stream, counter, exec, at) : KJ_CU_SUCCESS;
    for (int i = 0; i < 2 && result == KJ_CU_SUCCESS; i++)
        result = go(dev, stream, &call->there[i], at);
    if (result != KJ_CU_SUCCESS)
        return result;
    kj_room room;
    kj_room_begin(&room);
    void **params = kj_room_take(&room, (size_t)exec->nargs * sizeof *params);
    for (int i = 0; params && i < exec->nargs; i++)
        params[i] = exec->args[i] == KJ_ARG_COUNTER ? (void *)&counter->at
                                                    : &call->values->slots[exec->args[i]];
    result = params ? launch(dev, stream, call, params) : KJ_CU_OUT_OF_MEMORY;
    kj_room_end(&room);
    if (result != KJ_CU_SUCCESS)
        return result;
    *at = LAUNCHED;
    return come(dev, stream, &call->back);
}

kj_cu_result kj_cuda_put(kj_device *dev, kj_cu_stream stream, kj_cuda_counter *counter,
                         const kj_launch_call *call)
{
    progress at;
    return put(dev, stream, counter, call, &at);
}

/* What a launch that did not get into its stream as a whole comes to. What is there uses memory that its owner is
 * about to give back, so it is waited for; who cannot wait has lost the device, and then nothing is given back. A
 * kernel that has run is no launch that failed: what was to come back with it comes now. */
static kjit_status clear_away(kj_device *dev, kj_cu_stream stream, const kj_launch_call *call,
                              progress at, kj_cu_result result, kj_failure *why)
{
    if (at != NOWHERE)
        kj_cuda_sync(dev, stream);
    if (at != LAUNCHED)
        return refused(dev, call, result, why);
    kj_cuda_note(dev, result);
    if (!kj_cuda_is_lost(dev))
        result = come(dev, stream, &call->back);
    return result == KJ_CU_SUCCESS
               ? KJIT_OK
               : kj_cuda_failed(dev, result, why, "fetch what %s came to", name_of(call));
}

/* Puts a launch into a stream as a whole, or fails with nothing of it there. */
static kjit_status put_whole(kj_device *dev, kj_cu_stream stream, kj_cuda_counter *counter,
                             const kj_launch_call *call, kj_failure *why)
{
    progress at;
    kj_cu_result result = put(dev, stream, counter, call, &at);
    return result == KJ_CU_SUCCESS ? KJIT_OK : clear_away(dev, stream, call, at, result, why);
}

/* Into the stream of calls without a queue, whose counter is every thread's. */
static kjit_status put_now(kj_device *dev, const kj_launch_call *call, kj_failure *why)
{
    bool counts = call->exec->grid_sync;
    if (counts)
        pthread_mutex_lock(&dev->first_lock);
    kj_cu_result ready = kj_cuda_ready_counter(dev, call->exec, &dev->counter);
    kjit_status status = ready == KJ_CU_SUCCESS
                             ? put_whole(dev, dev->stream, &dev->counter, call, why)
                             : refused(dev, call, ready, why);
    if (counts)
        pthread_mutex_unlock(&dev->first_lock);
    return status;
}

static kjit_status launch_now(kj_device *dev, const kj_launch_call *call, kj_failure *why)
{
    kj_cuda_launch note = {.what = name_of(call)};
    kj_cuda_wait(dev, NULL);
    kjit_status status = kj_cuda_enter(dev, why);
    if (status != KJIT_OK)
        return status;
    kj_cuda_launch_begin(dev, &note);
    status = put_now(dev, call, why);
    kj_cu_result end = kj_cuda_sync(dev, dev->stream);
    if (end != KJ_CU_SUCCESS)
        status = kj_cuda_failed(dev, end, why, "run %s", name_of(call));
    kj_cuda_launch_end(dev, &note);
    kj_cuda_leave(dev);
    return status;
}

static kjit_status launch_queued(kj_queue *q, const kj_launch_call *call, kj_work *work,
                                 kj_failure *why)
{
    kj_device *dev = q->dev;
    kj_cuda_task *task = kj_cuda_task_new(sizeof *task, work, name_of(call));
    if (!task)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    kjit_status status = kj_cuda_enter(dev, why);
    if (status == KJIT_OK) {
        pthread_mutex_lock(&q->issue);
        kj_cu_result ready = kj_cuda_ready_counter(dev, call->exec, &q->counter);
        kj_cuda_span_begin(q, task);
        status = ready == KJ_CU_SUCCESS ? put_whole(dev, q->stream, &q->counter, call, why)
                                        : refused(dev, call, ready, why);
        if (status == KJIT_OK)
            kj_cuda_queued(q, task, false);
        kj_cuda_issued(q);
        kj_cuda_leave(dev);
    }
    if (status != KJIT_OK)
        kj_cuda_task_drop(dev, task);
    return status;
}

bool kj_cuda_can_launch(const kj_device *dev, const kj_launch_call *call)
{
    return call->scratch <= (size_t)dev->max_shared &&
           (!call->exec->grid_sync || (dev->cooperative && dev->cu->LaunchCooperativeKernel));
}

kjit_status kj_cuda_launch_run(kj_device *dev, kj_queue *queue, const kj_launch_call *call,
                               kj_work *work, kj_host_fault *fault, kj_failure *why)
{
    (void)fault; /* what goes wrong on a GPU is the end of the device */
    if (!kj_cuda_can_launch(dev, call))
        return call->scratch > (size_t)dev->max_shared
                   ? kj_because(why, KJIT_LAUNCH,
                                "%s needs %zu bytes of shared memory for a block; this GPU has %d",
                                name_of(call), call->scratch, dev->max_shared)
                   : kj_because(why, KJIT_NO_DEVICE,
                                "%s has a grid_sync(), and the %s has no cooperative launches",
                                name_of(call), dev->cooperative ? "driver" : "device");
    return queue ? launch_queued(queue, call, work, why) : launch_now(dev, call, why);
}
