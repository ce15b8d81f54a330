/* Allocation, and what an address is. Stream-ordered allocation is in api_pool.c. */
#include "double.h"

CUresult do_cuMemGetInfo_v2(size_t *available, size_t *total)
{
    if (!available || !total)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the sizes");
    *total = config()->memory;
    *available = config()->memory - memory_used(context_current()->device);
    return CUDA_SUCCESS;
}

/* Addresses without memory: nothing is mapped to them here. */
typedef struct drv_range {
    drv_object object;
    uint64_t begin;
    size_t size;
} drv_range;

CUresult do_cuMemAddressReserve(CUdeviceptr *out, size_t size, size_t align, CUdeviceptr hint,
                                unsigned long long flags)
{
    (void)hint;
    if (!out || size == 0 || size % 4096 || (align & (align - 1)) || flags)
        return misuse(CUDA_ERROR_INVALID_VALUE,
                      "%zu bytes, aligned to %zu: whole pages, a power of two and no flags", size,
                      align);
    drv_range *made = object_new(sizeof *made, KIND_RANGE, NULL);
    made->begin = memory_addresses(size, align < 4096 ? 4096 : align);
    made->size = size;
    *out = made->begin;
    return CUDA_SUCCESS;
}

CUresult do_cuMemAddressFree(CUdeviceptr address, size_t size)
{
    for (drv_object *o = object_next(NULL, KIND_RANGE); o; o = object_next(o, KIND_RANGE)) {
        const drv_range *range = (drv_range *)o;
        if (range->begin == address && range->size == size) {
            object_end(o);
            return CUDA_SUCCESS;
        }
    }
    return misuse(CUDA_ERROR_INVALID_VALUE, "%zu bytes at %#llx were not reserved, or freed", size,
                  address);
}

CUresult do_cuMemAlloc_v2(CUdeviceptr *out, size_t size)
{
    if (!out || size == 0)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the address, or no bytes");
    const drv_memory *made = memory_new(context_current(), size, 256, OWNER_PROGRAM);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *out = made->begin;
    return CUDA_SUCCESS;
}

/* The allocation to be freed; NULL after recording why there is none. */
drv_memory *memory_to_free(CUdeviceptr address)
{
    drv_memory *found = memory_range(address, 0, "address");
    if (!found)
        return NULL;
    if (found->begin != address || found->owner == OWNER_MODULE || found->owner == OWNER_IPC) {
        misuse(CUDA_ERROR_INVALID_VALUE,
               "%#llx is inside the %zu bytes at %#llx, or a module's, or another process's",
               address, found->size, (unsigned long long)found->begin);
        return NULL;
    }
    if (found->context != context_current()) {
        misuse(CUDA_ERROR_INVALID_CONTEXT, "%#llx is of another context", address);
        return NULL;
    }
    return found;
}

CUresult do_cuMemFree_v2(CUdeviceptr address)
{
    if (address == 0)
        return CUDA_SUCCESS;
    drv_memory *managed = pinned_at((const void *)(uintptr_t)address);
    if (managed && managed->owner == OWNER_MANAGED && managed->begin == address)
        return pinned_end(managed);
    drv_memory *found = memory_to_free(address);
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    if (clock_missing(NULL, &found->uses))
        misuse(CUDA_ERROR_INVALID_VALUE,
               "%#llx is freed and nobody waited for the work that uses it", address);
    memory_end(found);
    memory_give_back(found);
    return CUDA_SUCCESS;
}

drv_memory *memory_on_device(uint64_t address, size_t size, const char *what)
{
    drv_memory *found = pinned_at((const void *)(uintptr_t)address);
    if (found && size > found->begin + found->size - address) {
        misuse(CUDA_ERROR_INVALID_VALUE,
               "%s: %zu bytes at %#llx reach past the %zu page-locked bytes at %#llx", what, size,
               (unsigned long long)address, found->size, (unsigned long long)found->begin);
        return NULL;
    }
    return found ? found : memory_range(address, size, what);
}

/* ---- Managed memory: the host's, which the device reaches too ---- */

CUresult do_cuMemAllocManaged(CUdeviceptr *out, size_t size, unsigned flags)
{
    void *made;
    if (!out || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the address, or flags %#x", flags);
    if (!config()->managed)
        return CUDA_ERROR_NOT_SUPPORTED;
    CUresult result = pinned_new(OWNER_MANAGED, &made, size, 0);
    if (!result)
        *out = (uintptr_t)made;
    return result;
}

/* Of memory that all devices reach at any time it is but a hint. */
CUresult do_cuStreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t size,
                                   unsigned flags)
{
    drv_stream *stream = stream_find(handle);
    drv_memory *found = pinned_at((const void *)(uintptr_t)address);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!found || found->owner != OWNER_MANAGED || found->begin != address ||
        (size && size != found->size) ||
        (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST &&
         flags != CU_MEM_ATTACH_SINGLE))
        return misuse(CUDA_ERROR_INVALID_VALUE,
                      "%zu bytes at %#llx are no managed memory, or flags %#x", size, address,
                      flags);
    if (capture_refuses(stream, "attachment"))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    drv_op *op = op_new(sizeof *op, stream, "attach %#llx", address);
    op_uses(op, found);
    op_queue(op);
    return CUDA_SUCCESS;
}

/* ---- What an address is ---- */

CUresult do_cuMemGetAddressRange_v2(CUdeviceptr *begin, size_t *size, CUdeviceptr address)
{
    const drv_memory *found = memory_range(address, 0, "address");
    if (!found)
        return CUDA_ERROR_NOT_FOUND;
    if (begin)
        *begin = found->begin;
    if (size)
        *size = found->size;
    return CUDA_SUCCESS;
}

/* Any address may be asked about: what is not the driver's is an error, no misuse. */
CUresult do_cuPointerGetAttribute(void *out, CUpointer_attribute attribute, CUdeviceptr address)
{
    const drv_memory *found = memory_at(address);
    if (found && found->freed)
        found = NULL;
    bool device = found != NULL;
    if (!found)
        found = pinned_at((const void *)(uintptr_t)address);
    bool managed = found && found->owner == OWNER_MANAGED;
    if (!out)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the attribute");
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: *(CUcontext *)out = object_handle(found->context); break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)out = device || managed ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)out = address; break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (device)
            return CUDA_ERROR_INVALID_VALUE;
        *(void **)out = (void *)(uintptr_t)address;
        break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned *)out = managed; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)out = found->context->device; break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(CUdeviceptr *)out = found->begin; break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)out = found->size; break;
    case CU_POINTER_ATTRIBUTE_MAPPED: *(int *)out = 1; break;
    default:
        return misuse(CUDA_ERROR_INVALID_VALUE, "attribute %d is not modelled", (int)attribute);
    }
    return CUDA_SUCCESS;
}
