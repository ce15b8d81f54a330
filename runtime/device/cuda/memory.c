/* Device memory from a pool of the device's own, and page-locked host memory for copies.
 *
 * Memory is only ever released when no work uses it, and is handed out when the pool's stream has
 * caught up, so it can be used in every stream. The pool keeps what is released until memory runs
 * out. */
#include "cuda_device.h"

/* ---- The pool ---- */

kj_cu_result kj_cuda_pool_open(kj_device *dev)
{
    const kj_cuda_driver *cu = dev->cu;
    int supported = 0;
    kj_cu_result result =
        cu->DeviceGetAttribute(&supported, KJ_CU_DEVICE_MEMORY_POOLS_SUPPORTED, dev->device);
    if (result != KJ_CU_SUCCESS || !supported || !cu->MemPoolCreate || !cu->MemPoolDestroy ||
        !cu->MemPoolSetAttribute || !cu->MemPoolTrimTo || !cu->MemAllocFromPoolAsync ||
        !cu->MemFreeAsync)
        return result;
    kj_cu_pool_properties properties = {.type = KJ_CU_MEM_ALLOCATION_TYPE_PINNED,
                                        .location_type = KJ_CU_MEM_LOCATION_TYPE_DEVICE,
                                        .location = dev->device};
    result = cu->MemPoolCreate(&dev->pool, &properties);
    if (result != KJ_CU_SUCCESS)
        return result;
    uint64_t keep = UINT64_MAX;
    result = cu->MemPoolSetAttribute(dev->pool, KJ_CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep);
    if (result != KJ_CU_SUCCESS)
        cu->MemPoolDestroy(dev->pool);
    return result;
}

void kj_cuda_pool_close(kj_device *dev)
{
    if (!dev->pool)
        return;
    kj_cuda_note(dev, dev->cu->StreamSynchronize(dev->memory_stream));
    kj_cuda_note(dev, dev->cu->MemPoolDestroy(dev->pool));
}

void kj_cuda_scrape(kj_device *dev)
{
    kj_cuda_wait(dev, NULL);
    if (!dev->pool || kj_cuda_is_lost(dev))
        return;
    kj_cuda_note(dev, dev->cu->StreamSynchronize(dev->memory_stream));
    kj_cuda_note(dev, dev->cu->MemPoolTrimTo(dev->pool, 0));
}

/* ---- Allocation ---- */

static kj_cu_result take(kj_device *dev, size_t size, kj_cu_address *out)
{
    const kj_cuda_driver *cu = dev->cu;
    if (!dev->pool)
        return cu->MemAlloc(out, size);
    kj_cu_result result = cu->MemAllocFromPoolAsync(out, size, dev->pool, dev->memory_stream);
    if (result != KJ_CU_SUCCESS)
        return result;
    result = cu->StreamSynchronize(dev->memory_stream);
    if (result != KJ_CU_SUCCESS)
        kj_cuda_note(dev, cu->MemFreeAsync(*out, dev->memory_stream));
    return result;
}

static kjit_status no_memory(kj_device *dev, size_t size, kj_failure *why)
{
    size_t left, total;
    if (dev->cu->MemGetInfo(&left, &total) != KJ_CU_SUCCESS)
        return kj_because(why, KJIT_NO_MEMORY, "out of device memory: %zu bytes were asked for",
                          size);
    return kj_because(why, KJIT_NO_MEMORY,
                      "out of device memory: %zu bytes were asked for, %zu of %zu are free", size,
                      left, total);
}

kjit_status kj_cuda_alloc(kj_device *dev, size_t size, void **out, kj_failure *why)
{
    kj_cu_address address = 0;
    kjit_status status = kj_cuda_enter(dev, why);
    if (status != KJIT_OK)
        return status;
    kj_cu_result result = size ? take(dev, size, &address) : KJ_CU_SUCCESS;
    if (result == KJ_CU_OUT_OF_MEMORY) {
        kj_cuda_scrape(dev);
        result = take(dev, size, &address);
    }
    if (result == KJ_CU_OUT_OF_MEMORY)
        status = no_memory(dev, size, why);
    else if (result != KJ_CU_SUCCESS)
        status = kj_cuda_failed(dev, result, why, "allocate %zu bytes of device memory", size);
    kj_cuda_leave(dev);
    if (status == KJIT_OK)
        *out = (void *)(uintptr_t)address;
    return status;
}

void kj_cuda_release(kj_device *dev, void *memory, size_t size)
{
    kj_failure why;
    kj_cu_address address = (kj_cu_address)(uintptr_t)memory;
    (void)size;
    if (!memory || kj_cuda_enter(dev, &why) != KJIT_OK)
        return;
    kj_cuda_note(dev, dev->pool ? dev->cu->MemFreeAsync(address, dev->memory_stream)
                                : dev->cu->MemFree(address));
    kj_cuda_leave(dev);
}

/* ---- Page-locked memory ---- */

kj_cu_result kj_cuda_stage_take(kj_device *dev, void **out)
{
    pthread_mutex_lock(&dev->lock);
    *out = dev->stages;
    if (*out)
        dev->stages = *(void **)*out;
    pthread_mutex_unlock(&dev->lock);
    return *out ? KJ_CU_SUCCESS : dev->cu->MemHostAlloc(out, KJ_CUDA_STAGE, 0);
}

void kj_cuda_stage_give(kj_device *dev, void *stage)
{
    if (!stage)
        return;
    pthread_mutex_lock(&dev->lock);
    *(void **)stage = dev->stages;
    dev->stages = stage;
    pthread_mutex_unlock(&dev->lock);
}

void kj_cuda_stages_free(kj_device *dev)
{
    while (dev->stages) {
        void *stage = dev->stages;
        dev->stages = *(void **)stage;
        kj_cuda_note(dev, dev->cu->MemFreeHost(stage));
    }
}
