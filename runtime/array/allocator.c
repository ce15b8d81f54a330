/* Chunks of memory. In: a kind, a size and how it is to be made; out: the memory, from the
 * program's allocator where it has functions for that, else from the system or the device. */
#include <string.h>

#include "array/array.h"

/* ---- The program's allocator ---- */

static bool in_pairs(const kjit_allocator *a)
{
    return !a->memalloc == !a->memfree && !a->memhostalloc == !a->memhostfree &&
           !a->mempin == !a->memunpin && !a->defer_cleanup_begin == !a->defer_cleanup_end;
}

/* Its functions find the device's context to be the thread's. */
static kjit_status enter(kjit_context *ctx, kj_failure *why)
{
    return ctx->ops->driver ? ctx->ops->driver->enter(ctx->dev, why) : KJIT_OK;
}

/* The end of a call that began with `enter`, and the sentence when it failed. */
static kjit_status leave(kjit_context *ctx, kjit_status status, const char *function,
                         kj_failure *why)
{
    if (ctx->ops->driver)
        ctx->ops->driver->leave(ctx->dev);
    if (status == KJIT_OK)
        return status;
    return kj_because(why, status, "the allocator's %s failed: %s", function,
                      kjit_status_message(status));
}

kjit_status kj_allocator_begin(kjit_context *ctx, const kjit_allocator *allocator, kj_failure *why)
{
    if (!allocator)
        return KJIT_OK;
    if (allocator->version != KJIT_ALLOCATOR_VERSION)
        return kj_because(why, KJIT_INVALID, "the allocator's version is %d: it must be %d",
                          allocator->version, KJIT_ALLOCATOR_VERSION);
    kjit_status status = kj_reserved_because(why, KJ_RESERVED(allocator, "the allocator's"));
    if (status != KJIT_OK)
        return status;
    if (!in_pairs(allocator))
        return kj_because(why, KJIT_INVALID,
                          "the allocator has one function of a pair without the other");
    ctx->allocator = *allocator;
    if (!allocator->initialize)
        return KJIT_OK;
    status = enter(ctx, why);
    return status == KJIT_OK ? leave(ctx, allocator->initialize(allocator->user), "initialize", why)
                             : status;
}

void kj_allocator_end(kjit_context *ctx)
{
    const kjit_allocator *a = &ctx->allocator;
    kj_failure why; /* there is nobody left to tell */
    if (a->reset && enter(ctx, &why) == KJIT_OK)
        leave(ctx, a->reset(a->user), "reset", &why);
}

void kj_allocator_defer(kjit_context *ctx, bool begin)
{
    const kjit_allocator *a = &ctx->allocator;
    void (*tell)(void *) = begin ? a->defer_cleanup_begin : a->defer_cleanup_end;
    if (tell)
        tell(a->user);
}

kjit_status kj_allocator_memory(kjit_context *ctx, kjit_memory_info *out, kj_failure *why)
{
    const kjit_allocator *a = &ctx->allocator;
    if (!a->get_memory_info)
        return KJIT_OK;
    kjit_status status = enter(ctx, why);
    if (status != KJIT_OK)
        return status;
    return leave(ctx, a->get_memory_info(a->user, &out->free, &out->total), "get_memory_info", why);
}

/* ---- Chunks ---- */

typedef enum source { SYSTEM, DEVICE, ALLOCATOR } source;

/* Where memory of its kind comes from; managed memory and other processes' is always the
 * device's. */
static source source_of(const kjit_context *ctx, const kj_chunk *c)
{
    const kjit_allocator *a = &ctx->allocator;
    if (c->memory == KJIT_HOST)
        return SYSTEM;
    if (c->memory == KJIT_MANAGED || c->how & KJ_OPENED)
        return DEVICE;
    if (c->memory == KJIT_DEVICE)
        return a->memalloc ? ALLOCATOR : DEVICE;
    return (c->how & KJ_REGISTERED ? a->mempin != NULL : a->memhostalloc != NULL) ? ALLOCATOR
                                                                                  : DEVICE;
}

static kjit_status alloc_by_program(kjit_context *ctx, kj_chunk *c, kj_failure *why)
{
    const kjit_allocator *a = &ctx->allocator;
    void *device = NULL;
    c->data = NULL;
    c->device = 0;
    if (c->size == 0)
        return KJIT_OK;
    kjit_status status = enter(ctx, why);
    if (status != KJIT_OK)
        return status;
    if (c->memory == KJIT_DEVICE)
        status = leave(ctx, a->memalloc(a->user, c->size, &c->data), "memalloc", why);
    else
        status = leave(ctx,
                       a->memhostalloc(a->user, c->size, c->memory == KJIT_MAPPED,
                                       (c->how & KJ_PORTABLE) != 0,
                                       (c->how & KJ_WRITE_COMBINED) != 0, &c->data, &device),
                       "memhostalloc", why);
    if (status == KJIT_OK && !c->data)
        return kj_because(why, KJIT_INTERNAL, "the allocator gave no memory, and no failure");
    c->device = (uintptr_t)(device ? device : c->data);
    return status;
}

/* Is it memory that the context's limit of arrays is about? */
static bool is_counted(const kj_chunk *c)
{
    return !(c->how & (KJ_OPENED | KJ_REGISTERED | KJ_UNCOUNTED));
}

static kjit_status alloc(kjit_context *ctx, kj_chunk *chunk, kj_failure *why)
{
    source from = source_of(ctx, chunk);
    if (from == DEVICE)
        return ctx->ops->alloc(ctx->dev, chunk, why);
    chunk->queue = NULL;
    if (from == ALLOCATOR)
        return alloc_by_program(ctx, chunk, why);
    kjit_status status = kj_memory_alloc(chunk->size, &chunk->data, why);
    chunk->device = (uintptr_t)chunk->data;
    return status;
}

static kjit_status make_zero(kjit_context *ctx, const kj_chunk *chunk, kj_failure *why)
{
    if (chunk->size == 0)
        return KJIT_OK;
    if (!ctx->ops->host_memory && !kj_host_works(chunk->memory))
        return ctx->ops->memory->zero(ctx->dev, chunk, why);
    memset(chunk->data, 0, chunk->size);
    return KJIT_OK;
}

kjit_status kj_chunk_alloc(kjit_context *ctx, kj_chunk *chunk, kj_failure *why)
{
    bool counted = is_counted(chunk);
    kjit_status status = counted ? kj_limit_arrays(ctx, chunk->size, why) : KJIT_OK;
    if (status != KJIT_OK)
        return status;
    status = alloc(ctx, chunk, why);
    if (status == KJIT_OK && chunk->how & KJ_ZEROED) {
        kj_failure unused;
        status = make_zero(ctx, chunk, why);
        if (status != KJIT_OK) {
            kj_chunk_release(ctx, chunk, &unused);
            return status;
        }
    }
    if (status != KJIT_OK && counted)
        kj_unlimit_arrays(ctx, chunk->size);
    return status;
}

static kjit_status no_kinds(kj_failure *why)
{
    return kj_because(why, KJIT_NO_DEVICE, "the device has no memory but its own");
}

kjit_status kj_chunk_pin(kjit_context *ctx, kj_chunk *chunk, kj_failure *why)
{
    const kjit_allocator *a = &ctx->allocator;
    void *device = NULL;
    if (!a->mempin)
        return ctx->ops->memory ? ctx->ops->memory->pin(ctx->dev, chunk, why) : no_kinds(why);
    kjit_status status = enter(ctx, why);
    if (status != KJIT_OK)
        return status;
    status = leave(
        ctx, a->mempin(a->user, chunk->data, chunk->size, chunk->memory == KJIT_MAPPED, &device),
        "mempin", why);
    chunk->device = (uintptr_t)(device ? device : chunk->data);
    return status;
}

/* On a device that was lost there is nothing to be given back. */
static kjit_status release_by_program(kjit_context *ctx, const kj_chunk *c, kj_failure *why)
{
    const kjit_allocator *a = &ctx->allocator;
    if (!c->data)
        return KJIT_OK;
    kjit_status status = enter(ctx, why);
    if (status != KJIT_OK)
        return status == KJIT_LOST ? KJIT_OK : status;
    if (c->memory == KJIT_DEVICE)
        return leave(ctx, a->memfree(a->user, c->data, c->size), "memfree", why);
    if (c->how & KJ_REGISTERED)
        return leave(ctx, a->memunpin(a->user, c->data, c->size), "memunpin", why);
    return leave(ctx, a->memhostfree(a->user, c->data, c->size), "memhostfree", why);
}

kjit_status kj_chunk_release(kjit_context *ctx, const kj_chunk *chunk, kj_failure *why)
{
    if (is_counted(chunk))
        kj_unlimit_arrays(ctx, chunk->size);
    switch (source_of(ctx, chunk)) {
    case SYSTEM: kj_memory_free(chunk->data, chunk->size); return KJIT_OK;
    case DEVICE: return ctx->ops->release(ctx->dev, chunk, why);
    default: return release_by_program(ctx, chunk, why);
    }
}

kjit_status kj_chunk_share(kjit_context *ctx, const kj_chunk *chunk, unsigned char *handle,
                           uint64_t *offset, kj_failure *why)
{
    const kjit_allocator *a = &ctx->allocator;
    *offset = 0;
    if (source_of(ctx, chunk) != ALLOCATOR)
        return ctx->ops->memory ? ctx->ops->memory->share(ctx->dev, chunk, handle, why)
                                : no_kinds(why);
    if (!a->get_ipc_handle)
        return kj_because(why, KJIT_INVALID, "the allocator has no get_ipc_handle");
    kjit_status status = enter(ctx, why);
    if (status != KJIT_OK)
        return status;
    return leave(ctx, a->get_ipc_handle(a->user, chunk->data, chunk->size, handle, offset),
                 "get_ipc_handle", why);
}

kjit_status kjit_defer_cleanup_begin(kjit_context *ctx)
{
    kjit_status status = kj_enter_context(ctx);
    if (status != KJIT_OK)
        return status;
    pthread_mutex_lock(&ctx->pendings.lock);
    ctx->pendings.deferred++;
    pthread_mutex_unlock(&ctx->pendings.lock);
    kj_allocator_defer(ctx, true);
    return KJIT_OK;
}

kjit_status kjit_defer_cleanup_end(kjit_context *ctx)
{
    kjit_status status = kj_enter_context(ctx);
    if (status != KJIT_OK)
        return status;
    pthread_mutex_lock(&ctx->pendings.lock);
    bool open = ctx->pendings.deferred > 0;
    if (open)
        ctx->pendings.deferred--;
    pthread_mutex_unlock(&ctx->pendings.lock);
    if (!open)
        return kj_fail(ctx, KJIT_INVALID, "no defer_cleanup is open");
    kj_allocator_defer(ctx, false);
    return KJIT_OK;
}

kjit_status kjit_context_memory(kjit_context *ctx, kjit_memory_info *out)
{
    kj_failure why;
    kjit_status status = kj_enter_context(ctx);
    if (status != KJIT_OK)
        return status;
    if (!out)
        return kj_no_out(ctx);
    *out = (kjit_memory_info){0};
    status = ctx->ops->memory_info(ctx->dev, out, &why);
    if (status == KJIT_OK)
        status = kj_allocator_memory(ctx, out, &why);
    if (status != KJIT_OK)
        return kj_fail_why(ctx, status, &why);
    kj_pendings *p = &ctx->pendings;
    pthread_mutex_lock(&p->lock);
    out->pending_bytes = p->queues[KJ_PENDING_MEMORY].bytes;
    out->pending_memory = p->queues[KJ_PENDING_MEMORY].count;
    out->pending_resources = p->queues[KJ_PENDING_RESOURCES].count;
    out->max_pending_count = p->max_count;
    out->max_pending_bytes = p->max_bytes;
    out->failed_deallocations = p->failed;
    pthread_mutex_unlock(&p->lock);
    out->used = atomic_load(&ctx->used);
    return KJIT_OK;
}
