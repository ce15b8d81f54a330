/* The CUDA device's table of operations, opening and closing it, and what there is to say about
 * it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "device/cuda/cuda_device.h"
#include "device/dlpack.h"
#include "target/ptx_version.h"

static int cuda_count(void)
{
    const kj_cuda_driver *cu = kj_cuda_driver_get();
    return cu ? cu->ndevices : 0;
}

static void cuda_describe(const kj_device *dev, int ordinal, kjit_device_info *out)
{
    const kj_cuda_driver *cu = kj_cuda_driver_get();
    *out = (kjit_device_info){.kind = "cuda", .ordinal = ordinal};
    (void)dev;
    if (!cu || ordinal >= cu->ndevices)
        return;
    const kj_cuda_chip *chip = &cu->devices[ordinal];
    char name[80];
    size_t memory;
    if (cu->DeviceGetName(name, sizeof name, chip->device) != KJ_CU_SUCCESS)
        kj_snprintf(name, sizeof name, "a GPU");
    if (cu->DeviceTotalMem(&memory, chip->device) == KJ_CU_SUCCESS)
        out->memory = memory;
    if (cu->DeviceGetAttribute(&out->units, KJ_CU_DEVICE_MULTIPROCESSOR_COUNT, chip->device) !=
        KJ_CU_SUCCESS)
        out->units = 0;
    kj_snprintf(out->name, sizeof out->name, "%s (sm_%d, CUDA %d.%d)", name, chip->capability,
                cu->version / 1000, cu->version % 1000 / 10);
}

/* ---- The context ---- */

/* ---- Opening and closing ---- */

static kj_cu_result ask(kj_device *dev)
{
    const struct {
        kj_cu_device_attribute attribute;
        int *value;
    } questions[] = {
        {KJ_CU_DEVICE_MULTIPROCESSOR_COUNT, &dev->multiprocessors},
        {KJ_CU_DEVICE_MAX_THREADS_PER_MULTIPROCESSOR, &dev->multiprocessor_threads},
        {KJ_CU_DEVICE_MANAGED_MEMORY, &dev->managed},
        {KJ_CU_DEVICE_COOPERATIVE_LAUNCH, &dev->cooperative},
        {KJ_CU_DEVICE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &dev->max_shared},
    };
    kj_cu_result result = KJ_CU_SUCCESS;
    for (size_t i = 0; i < sizeof questions / sizeof *questions && result == KJ_CU_SUCCESS; i++)
        result =
            dev->cu->DeviceGetAttribute(questions[i].value, questions[i].attribute, dev->device);
    return result;
}

static kj_cu_result make_streams(kj_device *dev)
{
    kj_cu_result result = dev->cu->StreamCreate(&dev->stream, KJ_CU_STREAM_NON_BLOCKING);
    if (result != KJ_CU_SUCCESS)
        return result;
    result = dev->cu->StreamCreate(&dev->memory_stream, KJ_CU_STREAM_NON_BLOCKING);
    if (result == KJ_CU_SUCCESS) {
        result = kj_cuda_pool_open(dev);
        if (result == KJ_CU_SUCCESS)
            return result;
        dev->cu->StreamDestroy(dev->memory_stream);
    }
    dev->cu->StreamDestroy(dev->stream);
    return result;
}

/* In the device's context, which is released if this fails. */
static kjit_status open_context(kj_device *dev, kj_failure *why)
{
    kj_cu_result result = dev->cu->DevicePrimaryCtxRetain(&dev->context, dev->device);
    if (result != KJ_CU_SUCCESS)
        return kj_cuda_failed(dev, result, why, "open the device");
    kjit_status status = kj_cuda_enter(dev, why);
    if (status == KJIT_OK) {
        result = make_streams(dev);
        if (result != KJ_CU_SUCCESS)
            status = kj_cuda_failed(dev, result, why, "open the device");
        kj_cuda_leave(dev);
    }
    if (status != KJIT_OK)
        dev->cu->DevicePrimaryCtxRelease(dev->device);
    return status;
}

static kjit_status cuda_open(int ordinal, int workers, kj_device **out, kj_failure *why)
{
    const kj_cuda_driver *cu = kj_cuda_driver_get();
    (void)workers;
    if (!cu || ordinal >= cu->ndevices)
        return kj_because(why, KJIT_NO_DEVICE, "%s",
                          cu ? "there is no such device" : kj_cuda_absent());
    kj_device *dev = calloc(1, sizeof *dev);
    if (!dev)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    dev->cu = cu;
    dev->device = cu->devices[ordinal].device;
    dev->capability = cu->devices[ordinal].capability;
    pthread_mutex_init(&dev->first_lock, NULL);
    pthread_mutex_init(&dev->lock, NULL);
    pthread_cond_init(&dev->ended, NULL);
    kj_cuda_allow(cu);
    kj_cu_result result = ask(dev);
    kjit_status status = result == KJ_CU_SUCCESS
                             ? open_context(dev, why)
                             : kj_cuda_failed(dev, result, why, "ask what the device is like");
    kj_cuda_disallow(cu);
    if (status == KJIT_OK) {
        *out = dev;
        return status;
    }
    pthread_cond_destroy(&dev->ended);
    pthread_mutex_destroy(&dev->lock);
    pthread_mutex_destroy(&dev->first_lock);
    free(dev);
    return status;
}

static void cuda_close(kj_device *dev)
{
    kj_failure why;
    kj_cuda_allow(dev->cu);
    bool entered = kj_cuda_enter(dev, &why) == KJIT_OK;
    if (entered) {
        kj_cuda_mover_free(dev);
        kj_cuda_stages_free(dev);
        kj_cuda_pool_close(dev);
        if (dev->counter.at)
            kj_cuda_note(dev, dev->cu->MemFree(dev->counter.at));
        kj_cuda_note(dev, dev->cu->StreamDestroy(dev->memory_stream));
        kj_cuda_note(dev, dev->cu->StreamDestroy(dev->stream));
    }
    kj_cuda_base_free(dev);
    kj_cuda_events_free(dev, entered);
    if (entered)
        kj_cuda_leave(dev);
    kj_cuda_note(dev, dev->cu->DevicePrimaryCtxRelease(dev->device));
    kj_cuda_disallow(dev->cu);
    while (dev->remains) {
        kj_cuda_task *task = dev->remains;
        dev->remains = task->next;
        free(task);
    }
    pthread_cond_destroy(&dev->ended);
    pthread_mutex_destroy(&dev->lock);
    pthread_mutex_destroy(&dev->first_lock);
    free(dev);
}

static const char *cuda_lost(const kj_device *dev)
{
    return kj_cuda_is_lost(dev) ? dev->lost_text : NULL;
}

static kjit_status cuda_attribute(kj_device *dev, kjit_attribute attribute, int64_t *out,
                                  kj_failure *why)
{
    static const kj_cu_device_attribute drivers[] = {
#define ATTRIBUTE(name, drivers, number) [KJIT_ATTRIBUTE_##name] = KJ_CU_DEVICE_##drivers,
#include "device/cuda/attribute.def"
#undef ATTRIBUTE
    };
    int value;
    if (kj_cuda_is_lost(dev))
        return kj_cuda_gone(dev, why);
    if (attribute == KJIT_ATTRIBUTE_MEMORY_POOLS) { /* what came of it when it was opened */
        *out = dev->pool != NULL;
        return KJIT_OK;
    }
    kj_cu_result result = dev->cu->DeviceGetAttribute(&value, drivers[attribute], dev->device);
    if (result != KJ_CU_SUCCESS)
        return kj_cuda_failed(dev, result, why, "ask what the device is like");
    *out = value;
    return KJIT_OK;
}

static void cuda_target(const kj_device *dev, kj_compile_options *options)
{
    options->arch = kj_cuda_target(dev->cu, dev->capability);
    options->ptx_version = kj_ptx_of_driver(dev->cu->version);
}

static const kj_mark_ops marks = {
    .create = kj_cuda_mark_create,
    .free = kj_cuda_mark_free,
    .record = kj_cuda_mark_record,
    .wait = kj_cuda_mark_wait,
    .reached = kj_cuda_mark_reached,
    .join = kj_cuda_mark_join,
    .elapsed = kj_cuda_mark_elapsed,
};

static const kj_memory_ops memory = {
    .pin = kj_cuda_pin,
    .share = kj_cuda_share,
    .reach = kj_cuda_reach,
    .trim = kj_cuda_trim,
    .zero = kj_cuda_zero,
};

static const kj_graph_ops graphs = {
    .create = kj_cuda_graph_create,
    .launch = kj_cuda_graph_launch,
    .free = kj_cuda_graph_free,
};

static const kj_code_ops code = {
    .target = cuda_target,
    .fill = kj_cuda_fill,
    .assemble = kj_cuda_assemble,
    .inspect = kj_cuda_inspect,
};

static const kj_driver_ops driver = {
    .absent = kj_cuda_absent,
    .lost = cuda_lost,
    .enter = kj_cuda_enter,
    .leave = kj_cuda_leave,
    .queue_handle = kj_cuda_queue_handle,
    .usable = kj_cuda_usable,
};

const kj_device_ops kj_cuda_device = {
    .kind = "cuda",
    .stage = KJ_STAGE_OBJECT,
    .checks = KJ_CHECKS_EVERY,
    .variants = true,
    .max_block = {1024, 1024, 64},
    .max_threads = 1024,
    .max_grid = {INT32_MAX, 65535, 65535},
    .max_shared = 227 << 10,
    .dlpack = {[KJIT_HOST] = KJ_DL_CPU,
               [KJIT_DEVICE] = KJ_DL_CUDA,
               [KJIT_PINNED] = KJ_DL_CUDA_HOST,
               [KJIT_MAPPED] = KJ_DL_CUDA_HOST,
               [KJIT_MANAGED] = KJ_DL_CUDA_MANAGED},
    .count = cuda_count,
    .describe = cuda_describe,
    .attribute = cuda_attribute,
    .open = cuda_open,
    .close = cuda_close,
    .peer = kj_cuda_peer,
    .alloc = kj_cuda_alloc,
    .release = kj_cuda_release,
    .memory_info = kj_cuda_memory,
    .copy = kj_cuda_copy,
    .load = kj_cuda_load,
    .unload = kj_cuda_unload,
    .resident = kj_cuda_resident,
    .launch = kj_cuda_launch_run,
    .queue_create = kj_cuda_queue_create,
    .queue_free = kj_cuda_queue_free,
    .wait = kj_cuda_wait,
    .finish = kj_cuda_queue_finish,
    .idle = kj_cuda_idle,
    .call = kj_cuda_call,
    .marks = &marks,
    .memory = &memory,
    .graphs = &graphs,
    .code = &code,
    .driver = &driver,
};
