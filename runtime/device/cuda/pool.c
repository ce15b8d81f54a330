/* Device memory from a pool of the device's own, and page-locked host memory for copies.
 *
 * Memory is only ever released when no work uses it, and is handed out when the pool's stream has
 * caught up, so it can be used in every stream. The pool keeps what is released until memory runs
 * out. */
#include "device/cuda/cuda_device.h"

/* ---- The pool ---- */

/* It keeps what is released, and never makes one stream wait for another's work to reuse memory
 * that was freed there. Both are about time alone: a driver that knows no such setting is not asked
 * again. */
static void set_up(kj_device *dev)
{
    uint64_t keep = UINT64_MAX;
    int no = 0;
    const struct {
        kj_cu_pool_attribute attribute;
        void *value;
    } settings[] = {{KJ_CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep},
                    {KJ_CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &no}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        kj_cuda_note(
            dev, dev->cu->MemPoolSetAttribute(dev->pool, settings[i].attribute, settings[i].value));
}

/* Does the pool give memory, when there is any? A few bytes, which it then has for the next who
 * asks. */
static kj_cu_result try_pool(kj_device *dev)
{
    enum { FEW = 512 };
    kj_cu_address memory;
    kj_cu_result result =
        dev->cu->MemAllocFromPoolAsync(&memory, FEW, dev->pool, dev->memory_stream);
    if (result == KJ_CU_OUT_OF_MEMORY)
        return KJ_CU_SUCCESS;
    if (result == KJ_CU_SUCCESS)
        result = dev->cu->MemFreeAsync(memory, dev->memory_stream);
    return result == KJ_CU_SUCCESS ? dev->cu->StreamSynchronize(dev->memory_stream) : result;
}

/* A device may say that it has pools where the system then has none, as in virtual machines. */
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
    if (result == KJ_CU_SUCCESS) {
        set_up(dev);
        result = try_pool(dev);
        if (result == KJ_CU_SUCCESS)
            return result;
        cu->MemPoolDestroy(dev->pool);
    }
    dev->pool = NULL;
    return kj_cuda_is_missing(result) ? KJ_CU_SUCCESS : result;
}

void kj_cuda_pool_close(kj_device *dev)
{
    if (!dev->pool)
        return;
    kj_cuda_note(dev, dev->cu->StreamSynchronize(dev->memory_stream));
    kj_cuda_note(dev, dev->cu->MemPoolDestroy(dev->pool));
}

kjit_status kj_cuda_trim(kj_device *dev, size_t keep, kj_failure *why)
{
    if (!dev->pool)
        return KJIT_OK;
    kjit_status status = kj_cuda_enter(dev, why);
    if (status != KJIT_OK)
        return status;
    kj_cu_result result = dev->cu->StreamSynchronize(dev->memory_stream);
    if (result == KJ_CU_SUCCESS)
        result = dev->cu->MemPoolTrimTo(dev->pool, keep);
    if (result != KJ_CU_SUCCESS)
        status = kj_cuda_failed(dev, result, why, "trim the pool of memory");
    kj_cuda_leave(dev);
    return status;
}

void kj_cuda_scrape(kj_device *dev)
{
    kj_failure why;
    kj_cuda_wait(dev, NULL);
    kj_cuda_trim(dev, 0, &why); /* if it cannot, the next attempt tells */
}

/* What the pool has, where the driver tells. */
static kj_cu_result ask_pool(kj_device *dev, kjit_memory_info *out)
{
    const struct {
        kj_cu_pool_attribute attribute;
        uint64_t *value;
    } questions[] = {{KJ_CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &out->pool_reserved},
                     {KJ_CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &out->pool_used},
                     {KJ_CU_MEMPOOL_ATTR_USED_MEM_HIGH, &out->pool_highest}};
    kj_cu_result result = KJ_CU_SUCCESS;
    for (size_t i = 0; i < sizeof questions / sizeof *questions && result == KJ_CU_SUCCESS; i++)
        result =
            dev->cu->MemPoolGetAttribute(dev->pool, questions[i].attribute, questions[i].value);
    return result;
}

kjit_status kj_cuda_memory(kj_device *dev, kjit_memory_info *out, kj_failure *why)
{
    size_t left, total;
    kjit_status status = kj_cuda_enter(dev, why);
    if (status != KJIT_OK)
        return status;
    kj_cu_result result = dev->cu->MemGetInfo(&left, &total);
    if (result == KJ_CU_SUCCESS && dev->pool && dev->cu->MemPoolGetAttribute)
        result = ask_pool(dev, out);
    if (kj_cuda_is_missing(result)) /* the pool's figures alone */
        result = KJ_CU_SUCCESS;
    if (result == KJ_CU_SUCCESS) {
        out->free = left;
        out->total = total;
    } else {
        status = kj_cuda_failed(dev, result, why, "ask what memory there is");
    }
    kj_cuda_leave(dev);
    return status;
}

/* ---- Allocation ---- */

static kj_cu_result take(kj_device *dev, size_t size, bool pooled, kj_cu_address *out)
{
    const kj_cuda_driver *cu = dev->cu;
    if (!dev->pool || !pooled)
        return cu->MemAlloc(out, kj_cuda_room(size));
    kj_cu_result result =
        cu->MemAllocFromPoolAsync(out, kj_cuda_room(size), dev->pool, dev->memory_stream);
    if (result != KJ_CU_SUCCESS)
        return result;
    result = cu->StreamSynchronize(dev->memory_stream);
    if (result != KJ_CU_SUCCESS)
        kj_cuda_note(dev, cu->MemFreeAsync(*out, dev->memory_stream));
    return result;
}

kjit_status kj_cuda_no_memory(kj_device *dev, size_t size, kj_failure *why)
{
    size_t left, total;
    if (dev->cu->MemGetInfo(&left, &total) != KJ_CU_SUCCESS)
        return kj_because(why, KJIT_NO_MEMORY, "out of device memory: %zu bytes were asked for",
                          size);
    return kj_because(why, KJIT_NO_MEMORY,
                      "out of device memory: %zu bytes were asked for, %zu of %zu are free", size,
                      left, total);
}

kjit_status kj_cuda_take(kj_device *dev, size_t size, bool pooled, void **out, kj_failure *why)
{
    kj_cu_address address = 0;
    kjit_status status = kj_cuda_enter(dev, why);
    if (status != KJIT_OK)
        return status;
    kj_cu_result result = size ? take(dev, size, pooled, &address) : KJ_CU_SUCCESS;
    if (result == KJ_CU_OUT_OF_MEMORY)
        status = kj_cuda_no_memory(dev, size, why);
    else if (result != KJ_CU_SUCCESS)
        status = kj_cuda_failed(dev, result, why, "allocate %zu bytes of device memory", size);
    kj_cuda_leave(dev);
    if (status == KJIT_OK)
        *out = (void *)(uintptr_t)address;
    return status;
}

kjit_status kj_cuda_give(kj_device *dev, void *memory, size_t size, bool pooled, kj_failure *why)
{
    kj_cu_address address = (kj_cu_address)(uintptr_t)memory;
    kjit_status status = KJIT_OK;
    if (!memory || !kj_cuda_enter_to_free(dev, &status, why))
        return status;
    kj_cu_result result = dev->pool && pooled ? dev->cu->MemFreeAsync(address, dev->memory_stream)
                                              : dev->cu->MemFree(address);
    if (result != KJ_CU_SUCCESS)
        status = kj_cuda_failed(dev, result, why, "free %zu bytes of device memory", size);
    kj_cuda_leave(dev);
    return status;
}

kjit_status kj_cuda_aside(kj_device *dev, size_t size, void **out, kj_failure *why)
{
    kjit_status status = kj_cuda_take(dev, size, true, out, why);
    if (status != KJIT_NO_MEMORY)
        return status;
    kj_cuda_scrape(dev);
    return kj_cuda_take(dev, size, true, out, why);
}

void kj_cuda_aside_drop(kj_device *dev, void *memory)
{
    kj_failure why;
    kj_cuda_give(dev, memory, 0, true, &why); /* who fails here has nobody to tell */
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
