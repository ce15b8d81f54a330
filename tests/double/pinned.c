/* Page-locked host memory: allocated here, or the program's own and registered. */
#include "double.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { KEPT = 4096 }; /* freed blocks whose addresses stay unreadable */

static drv_memory *blocks; /* living, the latest first */
static drv_memory *ended;  /* given back, and perhaps still used by work */
static pthread_rwlock_t blocks_lock = PTHREAD_RWLOCK_INITIALIZER;

static void add(drv_memory *block)
{
    pthread_rwlock_wrlock(&blocks_lock);
    block->live = true;
    block->next = blocks;
    blocks = block;
    pthread_rwlock_unlock(&blocks_lock);
}

static void take_out(drv_memory *block)
{
    pthread_rwlock_wrlock(&blocks_lock);
    for (drv_memory **at = &blocks; *at; at = &(*at)->next) {
        if (*at == block) {
            *at = block->next;
            break;
        }
    }
    block->live = false;
    pthread_rwlock_unlock(&blocks_lock);
}

drv_memory *pinned_next(const drv_memory *after)
{
    return after ? after->next : blocks;
}

drv_memory *pinned_at(const void *host)
{
    for (drv_memory *m = blocks; m; m = m->next) {
        if ((uintptr_t)host - m->begin < m->size)
            return m;
    }
    return NULL;
}

bool pinned_find(uint64_t address, ptx_range *out)
{
    pthread_rwlock_rdlock(&blocks_lock);
    const drv_memory *found = pinned_at((const void *)(uintptr_t)address);
    if (found)
        *out = (ptx_range){found->begin, found->begin + found->size, found->host};
    pthread_rwlock_unlock(&blocks_lock);
    return found != NULL;
}

/* Of managed memory a driver gives addresses, as many as there are; pages come as they are used. */
#define MANAGED_MOST ((size_t)1 << 46)

CUresult pinned_new(drv_owner owner, void **out, size_t size, unsigned flags)
{
    if (!out || size == 0)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the address, or no bytes");
    if (flags & ~(unsigned)(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
                            CU_MEMHOSTALLOC_WRITECOMBINED))
        return misuse(CUDA_ERROR_INVALID_VALUE, "flags %#x", flags);
    if (size > (owner == OWNER_MANAGED ? MANAGED_MOST : config()->memory))
        return CUDA_ERROR_OUT_OF_MEMORY;
    drv_memory *made = calloc(1, sizeof *made);
    *made = (drv_memory){
        .owner = owner, .size = size, .context = context_current(), .made = call_number()};
    made->begin =
        (uint64_t) - (int64_t)((size + 255) & ~(size_t)255); /* its end at the guard page */
    made->flags = flags;
    if (!memory_map(made)) {
        free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->begin = (uintptr_t)made->host;
    add(made);
    *out = made->host;
    return CUDA_SUCCESS;
}

CUresult do_cuMemAllocHost_v2(void **out, size_t size)
{
    return pinned_new(OWNER_PINNED, out, size, 0);
}

CUresult do_cuMemHostAlloc(void **out, size_t size, unsigned flags)
{
    CUresult waited = config()->waits ? context_wait(context_current()) : CUDA_SUCCESS;
    if (waited != CUDA_SUCCESS)
        return waited;
    return pinned_new(OWNER_PINNED, out, size, flags);
}

static void unmap(const drv_memory *block)
{
    static int kept;
    if (kept++ < KEPT)
        mmap(block->map, block->map_size, PROT_NONE,
             MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    else
        munmap(block->map, block->map_size);
}

void pinned_sweep(void)
{
    for (drv_memory **at = &ended; *at;) {
        drv_memory *block = *at;
        if (block->pending) {
            at = &block->next;
            continue;
        }
        *at = block->next;
        if (block->owner != OWNER_REGISTERED)
            unmap(block);
        clock_free(&block->uses);
        free(block);
    }
}

void pinned_drop(drv_memory *block)
{
    take_out(block);
    block->next = ended;
    ended = block;
    if (!workers_busy())
        pinned_sweep();
}

CUresult pinned_end(drv_memory *block)
{
    if (block->context != context_current())
        misuse(CUDA_ERROR_INVALID_CONTEXT, "%p is of another context", (void *)block->host);
    if (clock_missing(NULL, &block->uses))
        misuse(CUDA_ERROR_INVALID_VALUE, "%p is freed and nobody waited for the work that uses it",
               (void *)block->host);
    pinned_drop(block);
    return CUDA_SUCCESS;
}

CUresult do_cuMemFreeHost(void *host)
{
    drv_memory *block = pinned_at(host);
    if (!block || block->owner != OWNER_PINNED || block->host != host)
        return misuse(CUDA_ERROR_INVALID_VALUE,
                      "%p is no page-locked memory of the driver's, or was freed", host);
    return pinned_end(block);
}

CUresult do_cuMemHostRegister_v2(void *host, size_t size, unsigned flags)
{
    const unsigned known =
        CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY;
    if (!host || size == 0 || (flags & ~known) || memory_is_device((uintptr_t)host))
        return misuse(CUDA_ERROR_INVALID_VALUE, "%zu bytes at %p, flags %#x", size, host, flags);
    for (const drv_memory *m = blocks; m; m = m->next) {
        if ((uintptr_t)host < m->begin + m->size && m->begin < (uintptr_t)host + size)
            return misuse(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                          "%zu bytes at %p are page-locked already, by call %llu", size, host,
                          (unsigned long long)m->made);
    }
    drv_memory *made = calloc(1, sizeof *made);
    *made = (drv_memory){.owner = OWNER_REGISTERED,
                         .size = size,
                         .context = context_current(),
                         .made = call_number()};
    made->begin = (uintptr_t)host;
    made->host = host;
    made->flags = flags;
    add(made);
    return CUDA_SUCCESS;
}

CUresult do_cuMemHostUnregister(void *host)
{
    drv_memory *block = pinned_at(host);
    if (!block || block->owner != OWNER_REGISTERED || block->host != host)
        return misuse(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "%p is not registered", host);
    return pinned_end(block);
}

CUresult do_cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *host, unsigned flags)
{
    if (!out || flags || !pinned_at(host))
        return misuse(CUDA_ERROR_INVALID_VALUE, "%p is not page-locked, or flags %u are not 0",
                      host, flags);
    *out = (uintptr_t)host;
    return CUDA_SUCCESS;
}
