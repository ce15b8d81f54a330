/* Stream-ordered allocation and the pools it is from.
 *
 * Addresses are never used again, but a pool that may make one stream wait for another does as the
 * driver may: an allocation waits for memory that is yet to be freed elsewhere. */
#include "double.h"
#include <stdlib.h>
#include <string.h>

typedef struct drv_pool {
    drv_object object;
    int device;
    cuuint64_t threshold; /* bytes that are kept when nobody uses them */
    int reuse[3];
    bool shared[64]; /* by device: those whose work may use its memory */
    cuuint64_t used, reserved, used_high, reserved_high;
    drv_op **frees; /* that may not have run yet */
    int nfrees;
} drv_pool;

static drv_pool *defaults[64]; /* by device */

bool pool_shared(const drv_memory *memory, int device)
{
    return memory->pool->shared[device];
}

int pool_device(const drv_object *pool)
{
    return ((const drv_pool *)pool)->device;
}

static drv_pool *new_pool(int device)
{
    drv_pool *made = object_new(sizeof *made, KIND_POOL, NULL);
    made->device = device;
    for (int i = 0; i < 3; i++)
        made->reuse[i] = 1;
    return made;
}

static drv_pool *default_pool(int device)
{
    if (!defaults[device]) {
        defaults[device] = new_pool(device);
        defaults[device]->object.builtin = true;
    }
    return defaults[device];
}

static CUresult give_default(CUmemoryPool *out, CUdevice device)
{
    if (!out || device < 0 || device >= config()->devices)
        return misuse(CUDA_ERROR_INVALID_DEVICE, "there is no device %d, or no place for the pool",
                      device);
    if (!config()->pools)
        return CUDA_ERROR_NOT_SUPPORTED;
    *out = object_handle(default_pool(device));
    return CUDA_SUCCESS;
}

CUresult do_cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice device)
{
    return give_default(out, device);
}

CUresult do_cuDeviceGetMemPool(CUmemoryPool *out, CUdevice device)
{
    return give_default(out, device);
}

CUresult do_cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *props)
{
    if (!out || !props || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        props->location.type != CU_MEM_LOCATION_TYPE_DEVICE || props->location.id < 0 ||
        props->location.id >= config()->devices || props->win32SecurityAttributes)
        return misuse(CUDA_ERROR_INVALID_VALUE, "properties that no pool of a device has");
    if (!config()->pools || props->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return CUDA_ERROR_NOT_SUPPORTED;
    *out = object_handle(new_pool(props->location.id));
    return CUDA_SUCCESS;
}

CUresult do_cuMemPoolDestroy(CUmemoryPool handle)
{
    drv_pool *pool = object_find(handle, KIND_POOL);
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    if (pool->object.builtin)
        return misuse(CUDA_ERROR_INVALID_VALUE, "a device's default pool cannot be destroyed");
    for (int i = 0; i < pool->nfrees; i++)
        op_drop(pool->frees[i]);
    free(pool->frees);
    pool->frees = NULL;
    pool->nfrees = 0;
    object_end(&pool->object);
    return CUDA_SUCCESS;
}

CUresult do_cuMemPoolTrimTo(CUmemoryPool handle, size_t keep)
{
    drv_pool *pool = object_find(handle, KIND_POOL);
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    cuuint64_t least = pool->used > keep ? pool->used : keep;
    if (pool->reserved > least)
        pool->reserved = least;
    return CUDA_SUCCESS;
}

/* The pool's own device has access, and keeps it. */
CUresult do_cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc *accesses, size_t count)
{
    drv_pool *pool = object_find(handle, KIND_POOL);
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    if (!accesses)
        return misuse(CUDA_ERROR_INVALID_VALUE, "nobody is named");
    for (size_t i = 0; i < count; i++) {
        const CUmemAccessDesc *a = &accesses[i];
        if (a->location.type != CU_MEM_LOCATION_TYPE_DEVICE || a->location.id < 0 ||
            a->location.id >= config()->devices || a->location.id == pool->device)
            return misuse(CUDA_ERROR_INVALID_DEVICE, "no other device: %d", a->location.id);
        if (!config()->peers)
            return CUDA_ERROR_INVALID_DEVICE;
        pool->shared[a->location.id] = a->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    }
    return CUDA_SUCCESS;
}

CUresult do_cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value)
{
    drv_pool *pool = object_find(handle, KIND_POOL);
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    if (!value)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no value");
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        pool->reuse[attribute - 1] = *(int *)value;
        break;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: pool->threshold = *(cuuint64_t *)value; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: pool->reserved_high = *(cuuint64_t *)value; break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: pool->used_high = *(cuuint64_t *)value; break;
    default: return misuse(CUDA_ERROR_INVALID_VALUE, "attribute %d cannot be set", (int)attribute);
    }
    return CUDA_SUCCESS;
}

CUresult do_cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value)
{
    const drv_pool *pool = object_find(handle, KIND_POOL);
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    if (!value)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the value");
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        *(int *)value = pool->reuse[attribute - 1];
        break;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: *(cuuint64_t *)value = pool->threshold; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: *(cuuint64_t *)value = pool->reserved; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: *(cuuint64_t *)value = pool->reserved_high; break;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: *(cuuint64_t *)value = pool->used; break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: *(cuuint64_t *)value = pool->used_high; break;
    default:
        return misuse(CUDA_ERROR_INVALID_VALUE, "attribute %d is not modelled", (int)attribute);
    }
    return CUDA_SUCCESS;
}

/* ---- Allocation ---- */

typedef struct drv_pool_op {
    drv_op op;
    drv_memory *memory;
} drv_pool_op;

static void show(drv_op *op, CUresult status)
{
    if (!status)
        memory_show(((drv_pool_op *)op)->memory);
}

void pool_take_back(drv_memory *memory)
{
    drv_pool *pool = memory->pool;
    pool->used -= memory->size;
    cuuint64_t kept = pool->used > pool->threshold ? pool->used : pool->threshold;
    if (pool->reserved > kept)
        pool->reserved = kept;
}

static void give_back(drv_op *op, CUresult status)
{
    (void)status;
    memory_give_back(op->frees);
}

static void forget_done(drv_pool *pool)
{
    int left = 0;
    for (int i = 0; i < pool->nfrees; i++) {
        if (pool->frees[i]->done)
            op_drop(pool->frees[i]);
        else
            pool->frees[left++] = pool->frees[i];
    }
    pool->nfrees = left;
}

/* Lets an allocation wait for the first free of enough memory in another stream. */
static void depend(drv_pool *pool, drv_op *op, size_t size)
{
    forget_done(pool);
    for (int i = 0; i < pool->nfrees; i++) {
        drv_op *earlier = pool->frees[i];
        if (earlier->stream != op->stream && earlier->frees->size >= size) {
            op_after(op, earlier);
            return;
        }
    }
}

static CUresult allocate(CUdeviceptr *out, size_t size, drv_pool *pool, drv_stream *stream)
{
    if (!out)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the address");
    if (!config()->pools)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (size == 0) {
        *out = 0;
        return CUDA_SUCCESS;
    }
    if (capture_refuses(stream, "allocation"))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    drv_memory *made = memory_new(stream->object.context, size, 256, OWNER_POOL);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->pool = pool;
    pool->used += size;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
    if (pool->used > pool->reserved)
        pool->reserved = pool->used;
    if (pool->reserved > pool->reserved_high)
        pool->reserved_high = pool->reserved;
    *out = made->begin;
    drv_pool_op *op = op_new(sizeof *op, stream, "allocate %#llx", (unsigned long long)*out);
    op->memory = made;
    op->op.finish = show;
    if (pool->reuse[CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES - 1])
        depend(pool, &op->op, size);
    op_keep(&op->op);
    op_queue(&op->op);
    clock_add(&made->born, &op->op);
    op_drop(&op->op);
    return CUDA_SUCCESS;
}

CUresult do_cuMemAllocAsync(CUdeviceptr *out, size_t size, CUstream handle)
{
    drv_stream *stream = stream_find(handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    return allocate(out, size, default_pool(stream->object.context->device), stream);
}

CUresult do_cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t size, CUmemoryPool handle, CUstream in)
{
    drv_pool *pool = object_find(handle, KIND_POOL);
    drv_stream *stream = stream_find(in);
    if (!pool || !stream)
        return CUDA_ERROR_INVALID_VALUE;
    return allocate(out, size, pool, stream);
}

CUresult do_cuMemFreeAsync(CUdeviceptr address, CUstream handle)
{
    drv_stream *stream = stream_find(handle);
    drv_memory *found = memory_to_free(address);
    if (!stream || !found)
        return CUDA_ERROR_INVALID_VALUE;
    if (!found->pool)
        return misuse(CUDA_ERROR_INVALID_VALUE, "%#llx was not allocated in stream order", address);
    if (capture_refuses(stream, "free"))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    memory_end(found);
    drv_op *op = op_new(sizeof *op, stream, "free %#llx", address);
    op->frees = found;
    op->finish = give_back;
    forget_done(found->pool);
    found->pool->frees =
        realloc(found->pool->frees, (size_t)(found->pool->nfrees + 1) * sizeof(drv_op *));
    found->pool->frees[found->pool->nfrees++] = op_keep(op);
    op_queue(op);
    return CUDA_SUCCESS;
}
