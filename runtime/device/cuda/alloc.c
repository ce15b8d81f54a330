/* Memory of every kind, as arrays have it. In: chunks with a kind and how they are to be made; out:
 * their addresses, for the host and for kernels. Device memory itself is pool.c's. */
#include "device/cuda/cuda_device.h"

/* ---- Device memory in a stream's order ---- */

static kj_cuda_task *new_task(void)
{
    return kj_cuda_task_new(sizeof(kj_cuda_task), NULL, NULL);
}

/* Puts the allocation of a chunk, or its end, into its stream. It is a task, so that who waits for
 * all work waits for it too. The context is entered. */
static kj_cu_result put(kj_device *dev, kj_chunk *c, bool end, kj_cuda_task *task)
{
    kj_queue *q = c->queue;
    kj_cu_address address = (kj_cu_address)c->device;
    pthread_mutex_lock(&q->issue);
    kj_cu_result result =
        end ? dev->cu->MemFreeAsync(address, q->stream)
            : dev->cu->MemAllocFromPoolAsync(&address, kj_cuda_room(c->size), dev->pool, q->stream);
    if (result == KJ_CU_SUCCESS)
        kj_cuda_queued(q, task, false);
    kj_cuda_issued(q);
    if (result != KJ_CU_SUCCESS)
        kj_cuda_task_drop(dev, task);
    c->device = (uintptr_t)address;
    c->data = (void *)c->device;
    return result;
}

/* Sets the chunk's queue to NULL, and does nothing, where others capture the stream. */
static kjit_status alloc_in_order(kj_device *dev, kj_chunk *chunk, kj_failure *why)
{
    kjit_status status = kj_cuda_enter(dev, why);
    if (status != KJIT_OK)
        return status;
    bool captured = kj_cuda_is_captured(chunk->queue);
    kj_cuda_task *task = captured ? NULL : new_task();
    kj_cu_result result = captured ? KJ_CU_SUCCESS
                          : task   ? put(dev, chunk, false, task)
                                   : KJ_CU_OUT_OF_MEMORY;
    if (captured)
        chunk->queue = NULL;
    if (result == KJ_CU_OUT_OF_MEMORY)
        status = kj_cuda_no_memory(dev, chunk->size, why);
    else if (result != KJ_CU_SUCCESS)
        status =
            kj_cuda_failed(dev, result, why, "allocate %zu bytes of device memory", chunk->size);
    kj_cuda_leave(dev);
    return status;
}

/* While the stream is captured, and where there is no memory for a task: after its work, in
 * another. */
static kj_cu_result free_beside(kj_device *dev, const kj_chunk *c)
{
    kj_cu_result result = kj_cuda_wait_listed(c->queue);
    return result == KJ_CU_SUCCESS
               ? dev->cu->MemFreeAsync((kj_cu_address)c->device, dev->memory_stream)
               : result;
}

static kjit_status free_in_order(kj_device *dev, const kj_chunk *chunk, kj_failure *why)
{
    kjit_status status;
    kj_chunk own = *chunk;
    if (!kj_cuda_enter_to_free(dev, &status, why))
        return status;
    kj_cuda_task *task = kj_cuda_is_captured(own.queue) ? NULL : new_task();
    kj_cu_result result = task ? put(dev, &own, true, task) : free_beside(dev, &own);
    if (result != KJ_CU_SUCCESS)
        status = kj_cuda_failed(dev, result, why, "free %zu bytes of device memory", own.size);
    kj_cuda_leave(dev);
    return status;
}

/* ---- Page-locked host memory, and managed memory ---- */

static unsigned flags_of(const kj_chunk *b)
{
    return (b->how & KJ_PORTABLE ? KJ_CU_MEMHOSTALLOC_PORTABLE : 0u) |
           (b->how & KJ_WRITE_COMBINED ? KJ_CU_MEMHOSTALLOC_WRITECOMBINED : 0u) |
           (b->memory == KJIT_MAPPED ? KJ_CU_MEMHOSTALLOC_DEVICEMAP : 0u);
}

/* Where kernels find page-locked memory that they are to work on. */
static kj_cu_result find_on_device(kj_device *dev, kj_chunk *b)
{
    kj_cu_address address = (kj_cu_address)(uintptr_t)b->data;
    kj_cu_result result = KJ_CU_SUCCESS;
    if (b->memory == KJIT_MAPPED)
        result = dev->cu->MemHostGetDevicePointer(&address, b->data, 0);
    b->device = (uintptr_t)address;
    return result;
}

static kj_cu_result alloc_host(kj_device *dev, kj_chunk *b)
{
    kj_cu_result result = dev->cu->MemHostAlloc(&b->data, kj_cuda_room(b->size), flags_of(b));
    if (result != KJ_CU_SUCCESS)
        return result;
    result = find_on_device(dev, b);
    if (result != KJ_CU_SUCCESS)
        kj_cuda_note(dev, dev->cu->MemFreeHost(b->data));
    return result;
}

/* The driver gives managed memory as addresses, also those that nothing can ever stand behind; who
 * writes there loses the device, or the machine its memory. */
static bool nothing_holds(kj_device *dev, size_t size)
{
    size_t memory;
    return dev->cu->DeviceTotalMem(&memory, dev->device) == KJ_CU_SUCCESS && size > memory &&
           size - memory > kj_machine_memory();
}

static kj_cu_result alloc_managed(kj_device *dev, kj_chunk *b)
{
    kj_cu_address address = 0;
    if (nothing_holds(dev, b->size))
        return KJ_CU_OUT_OF_MEMORY;
    unsigned flags = b->how & KJ_ATTACH_HOST ? KJ_CU_MEM_ATTACH_HOST : KJ_CU_MEM_ATTACH_GLOBAL;
    kj_cu_result result = dev->cu->MemAllocManaged(&address, kj_cuda_room(b->size), flags);
    b->device = (uintptr_t)address;
    b->data = (void *)b->device;
    return result;
}

static const char *name_of(kjit_memory memory)
{
    return memory == KJIT_MANAGED ? "managed" : memory == KJIT_MAPPED ? "mapped" : "page-locked";
}

kjit_status kj_cuda_alloc(kj_device *dev, kj_chunk *chunk, kj_failure *why)
{
    if (chunk->how & KJ_OPENED)
        return kj_cuda_share_open(dev, chunk, why);
    if (chunk->memory == KJIT_DEVICE &&
        (!dev->pool || chunk->size == 0 || chunk->how & KJ_SHAREABLE))
        chunk->queue = NULL;
    if (chunk->queue) {
        kjit_status status = alloc_in_order(dev, chunk, why);
        if (status != KJIT_OK || chunk->queue)
            return status;
    }
    if (chunk->memory == KJIT_DEVICE) {
        bool shareable = chunk->how & KJ_SHAREABLE;
        kjit_status status =
            kj_cuda_take(dev, shareable ? kj_cuda_share_size(chunk->size) : chunk->size, !shareable,
                         &chunk->data, why);
        chunk->device = (uintptr_t)chunk->data;
        return status;
    }
    const char *name = name_of(chunk->memory);
    if (chunk->memory == KJIT_MANAGED && !(dev->managed && dev->cu->MemAllocManaged))
        return kj_because(why, KJIT_NO_DEVICE, "the device has no managed memory");
    kjit_status status = kj_cuda_enter(dev, why);
    if (status != KJIT_OK)
        return status;
    kj_cu_result result =
        chunk->memory == KJIT_MANAGED ? alloc_managed(dev, chunk) : alloc_host(dev, chunk);
    if (result == KJ_CU_OUT_OF_MEMORY)
        status = kj_because(why, KJIT_NO_MEMORY, "out of %s memory: %zu bytes were asked for", name,
                            chunk->size);
    else if (result != KJ_CU_SUCCESS)
        status =
            kj_cuda_failed(dev, result, why, "allocate %zu bytes of %s memory", chunk->size, name);
    kj_cuda_leave(dev);
    return status;
}

kjit_status kj_cuda_zero(kj_device *dev, const kj_chunk *chunk, kj_failure *why)
{
    kj_cu_stream stream = chunk->queue ? chunk->queue->stream : dev->memory_stream;
    kjit_status status = kj_cuda_enter(dev, why);
    if (status != KJIT_OK)
        return status;
    kj_cu_result result =
        dev->cu->MemsetD8Async((kj_cu_address)chunk->device, 0, chunk->size, stream);
    if (result == KJ_CU_SUCCESS && !chunk->queue)
        result = kj_cuda_sync(dev, stream);
    if (result != KJ_CU_SUCCESS)
        status = kj_cuda_failed(dev, result, why, "clear %zu bytes of device memory", chunk->size);
    kj_cuda_leave(dev);
    return status;
}

kjit_status kj_cuda_release(kj_device *dev, const kj_chunk *chunk, kj_failure *why)
{
    kjit_status status;
    kj_cu_result result;
    if (chunk->how & KJ_OPENED)
        return kj_cuda_share_close(dev, chunk, why);
    if (chunk->queue)
        return free_in_order(dev, chunk, why);
    if (chunk->memory == KJIT_DEVICE)
        return kj_cuda_give(dev, chunk->data, chunk->size, !(chunk->how & KJ_SHAREABLE), why);
    if (!kj_cuda_enter_to_free(dev, &status, why))
        return status;
    if (chunk->how & KJ_REGISTERED)
        result = dev->cu->MemHostUnregister(chunk->data);
    else if (chunk->memory == KJIT_MANAGED)
        result = dev->cu->MemFree((kj_cu_address)chunk->device);
    else
        result = dev->cu->MemFreeHost(chunk->data);
    if (result != KJ_CU_SUCCESS)
        status = kj_cuda_failed(dev, result, why,
                                chunk->how & KJ_REGISTERED ? "unlock %zu bytes of memory"
                                                           : "free %zu bytes of memory",
                                chunk->size);
    kj_cuda_leave(dev);
    return status;
}

/* ---- Memory of the program's ---- */

kjit_status kj_cuda_pin(kj_device *dev, kj_chunk *chunk, kj_failure *why)
{
    unsigned flags = (chunk->how & KJ_PORTABLE ? KJ_CU_MEMHOSTREGISTER_PORTABLE : 0u) |
                     (chunk->memory == KJIT_MAPPED ? KJ_CU_MEMHOSTREGISTER_DEVICEMAP : 0u);
    kjit_status status = kj_cuda_enter(dev, why);
    if (status != KJIT_OK)
        return status;
    kj_cu_result result = dev->cu->MemHostRegister(chunk->data, chunk->size, flags);
    if (result == KJ_CU_SUCCESS) {
        result = find_on_device(dev, chunk);
        if (result != KJ_CU_SUCCESS)
            kj_cuda_note(dev, dev->cu->MemHostUnregister(chunk->data));
    }
    if (result != KJ_CU_SUCCESS)
        status =
            kj_cuda_failed(dev, result, why, "page-lock %zu bytes at %p", chunk->size, chunk->data);
    kj_cuda_leave(dev);
    return status;
}

/* Is the byte there of that kind, and where do kernels find it? KJ_CU_INVALID_VALUE: it is not. */
static kj_cu_result ask(kj_device *dev, kjit_memory kind, kj_cu_address place, kj_cu_address *found)
{
    const kj_cuda_driver *cu = dev->cu;
    unsigned type, managed = 0;
    *found = place;
    kj_cu_result result =
        cu->PointerGetAttribute(&type, KJ_CU_POINTER_ATTRIBUTE_MEMORY_TYPE, place);
    if (result != KJ_CU_SUCCESS)
        return result;
    result = cu->PointerGetAttribute(&managed, KJ_CU_POINTER_ATTRIBUTE_IS_MANAGED, place);
    if (result != KJ_CU_SUCCESS && result != KJ_CU_INVALID_VALUE) /* an old driver has none */
        return result;
    if (kind == KJIT_MANAGED ? !managed : managed || type != KJ_CU_MEMORYTYPE_HOST)
        return KJ_CU_INVALID_VALUE;
    if (kind == KJIT_PINNED)
        return KJ_CU_SUCCESS;
    return cu->PointerGetAttribute(found, KJ_CU_POINTER_ATTRIBUTE_DEVICE_POINTER, place);
}

kjit_status kj_cuda_reach(kj_device *dev, kj_chunk *chunk, kj_failure *why)
{
    const kj_cu_address first = (kj_cu_address)(uintptr_t)chunk->data, rest = chunk->size - 1;
    kj_cu_address address, last;
    kjit_status status = kj_cuda_enter(dev, why);
    if (status != KJIT_OK)
        return status;
    kj_cu_result result = ask(dev, chunk->memory, first, &address);
    if (result == KJ_CU_SUCCESS)
        result = ask(dev, chunk->memory, first + rest, &last);
    if (result == KJ_CU_SUCCESS && last - address != rest)
        result = KJ_CU_INVALID_VALUE;
    if (result == KJ_CU_INVALID_VALUE)
        status = kj_because(why, KJIT_INVALID, "the memory at %p is not %s", chunk->data,
                            name_of(chunk->memory));
    else if (result != KJ_CU_SUCCESS)
        status = kj_cuda_failed(dev, result, why, "ask what the memory at %p is", chunk->data);
    else
        chunk->device = (uintptr_t)address;
    kj_cuda_leave(dev);
    return status;
}
