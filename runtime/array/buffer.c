/* Buffers: counted memory, made here, of somebody else's, or page-locked for a while. The last
 * reference may be dropped on any thread: what is to be given back waits in the context's
 * queues. */
#include <stdlib.h>

#include "array/array.h"

void kj_buffer_hold(kj_buffer *buffer)
{
    atomic_fetch_add_explicit(&buffer->refs, 1, memory_order_relaxed);
}

/* ---- Memory ---- */

/* Is it taken from the host's memory, by this process? */
static bool is_hosts(const kjit_context *ctx, const kj_chunk *chunk)
{
    return (kj_host_works(chunk->memory) || ctx->ops->host_memory) && !(chunk->how & KJ_OPENED);
}

/* Host memory is handed out untouched, so what is promised in all is counted against what the
 * machine has. */
static kjit_status reserve(kjit_context *ctx, const kj_chunk *chunk, kj_failure *why)
{
    size_t size = chunk->size;
    if (!is_hosts(ctx, chunk))
        return KJIT_OK;
    size_t before = atomic_fetch_add(&ctx->reserved, size);
    if (size <= ctx->memory && before <= ctx->memory - size)
        return KJIT_OK;
    atomic_fetch_sub(&ctx->reserved, size);
    if (!(chunk->how & KJ_UNCOUNTED) && kj_limit_allows(ctx, size, why) != KJIT_OK)
        return KJIT_LIMIT; /* the context's is what the host has asked for */
    return kj_because(why, KJIT_NO_MEMORY,
                      "out of memory: an array of %zu bytes, %zu in use, %llu in all", size, before,
                      (unsigned long long)ctx->memory);
}

static void unreserve(kjit_context *ctx, const kj_chunk *chunk)
{
    if (is_hosts(ctx, chunk))
        atomic_fetch_sub(&ctx->reserved, chunk->size);
}

/* Can it be used again for any array of its kind? */
static bool is_plain(const kj_chunk *chunk)
{
    return chunk->how == 0 && !chunk->queue &&
           (chunk->memory == KJIT_HOST || chunk->memory == KJIT_DEVICE);
}

/* Tried once. */
static kjit_status try_alloc(kjit_context *ctx, kj_chunk *chunk, kj_failure *why)
{
    kjit_status status = reserve(ctx, chunk, why);
    if (status != KJIT_OK)
        return status;
    if (is_plain(chunk) && kj_recycle_take(ctx, chunk->memory, chunk->size, &chunk->data)) {
        chunk->device = (uintptr_t)chunk->data;
        return status;
    }
    status = kj_chunk_alloc(ctx, chunk, why);
    if (status != KJIT_OK)
        unreserve(ctx, chunk);
    return status;
}

void kj_make_room(kjit_context *ctx)
{
    kj_failure why;
    ctx->ops->wait(ctx->dev, NULL); /* queued work lets go of what it holds */
    kj_recycler_empty(ctx);
    kj_pending_flush(ctx);
    const kj_memory_ops *memory = ctx->ops->memory;
    if (memory && memory->trim)
        memory->trim(ctx->dev, 0, &why); /* if it cannot, the next attempt tells */
}

static kjit_status alloc_memory(kjit_context *ctx, kj_chunk *chunk)
{
    kj_failure why;
    kj_pending_check(ctx);
    kjit_status status = try_alloc(ctx, chunk, &why);
    if (status == KJIT_NO_MEMORY || status == KJIT_LIMIT) {
        kj_make_room(ctx);
        status = try_alloc(ctx, chunk, &why);
    }
    return status == KJIT_OK ? status : kj_fail_why(ctx, status, &why);
}

static kjit_status free_memory(kjit_context *ctx, const kj_chunk *chunk, kj_failure *why)
{
    kjit_status status = kj_chunk_release(ctx, chunk, why);
    if (!(chunk->how & KJ_REGISTERED))
        unreserve(ctx, chunk);
    return status;
}

/* ---- The end ---- */

kj_chunk kj_buffer_chunk(const kj_buffer *b)
{
    return (kj_chunk){.memory = b->memory,
                      .how = b->how,
                      .size = b->size,
                      .data = b->data,
                      .device = (uintptr_t)b->data + b->shift,
                      .queue = kj_queue_of(b->stream)};
}

/* How much of the device's memory arrays have; what is pending is no array's. */
static size_t used_of(const kj_buffer *b)
{
    return b->owned && !kj_host_works(b->memory) && !(b->how & KJ_OPENED) ? b->size : 0;
}

static void unlink_registration(kj_buffer *b)
{
    pthread_mutex_lock(&b->ctx->lock);
    for (kj_buffer **at = &b->ctx->registered; *at; at = &(*at)->next) {
        if (*at == b) {
            *at = b->next;
            break;
        }
    }
    pthread_mutex_unlock(&b->ctx->lock);
}

static kjit_status free_buffer(kj_pending *item, kj_failure *why)
{
    kj_buffer *b = KJ_WHOLE(kj_buffer, pending, item);
    kj_chunk chunk = kj_buffer_chunk(b);
    kjit_status status = free_memory(b->ctx, &chunk, why);
    if (b->how & KJ_REGISTERED)
        unlink_registration(b);
    if (b->below)
        kj_buffer_drop(b->below);
    if (b->stream)
        kj_stream_drop(b->stream);
    free(b);
    return status;
}

void kj_buffer_drop(kj_buffer *b)
{
    if (atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1)
        return;
    kjit_context *ctx = b->ctx;
    kj_chunk chunk = kj_buffer_chunk(b);
    kj_failure why;
    atomic_fetch_sub(&ctx->used, used_of(b));
    if (b->how & KJ_REGISTERED || b->stream) {
        kj_pending_add(ctx, KJ_PENDING_NEVER, &b->pending);
        return;
    }
    if (b->owned && is_plain(&chunk) && kj_recycle_keep(ctx, b->memory, b->data, b->size)) {
        unreserve(ctx, &chunk);
    } else if (b->owned && b->memory != KJIT_HOST) {
        kj_pending_add(ctx, KJ_PENDING_MEMORY, &b->pending);
        return;
    } else if (b->owned) {
        free_memory(ctx, &chunk, &why); /* the host's, which cannot fail */
    }
    if (b->below)
        kj_buffer_drop(b->below);
    if (b->deleter)
        b->deleter(b->owner);
    free(b);
    kj_context_drop(ctx);
}

/* ---- The beginning ---- */

static kj_buffer *new_buffer(kjit_context *ctx, const kj_chunk *chunk, bool owned)
{
    kj_buffer *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    atomic_init(&b->refs, 1);
    b->pending = (kj_pending){.size = chunk->size, .deallocate = free_buffer};
    b->ctx = ctx;
    b->memory = chunk->memory;
    b->how = chunk->how;
    b->data = chunk->data;
    b->shift = chunk->device - (uintptr_t)chunk->data;
    b->size = chunk->size;
    b->owned = owned;
    atomic_fetch_add(&ctx->used, used_of(b));
    kj_context_hold(ctx);
    return b;
}

kjit_status kj_buffer_create_as(kjit_context *ctx, const kj_chunk *like, kjit_stream *stream,
                                kj_buffer **out)
{
    kj_failure why;
    bool lasts = stream && stream->kind == KJ_QUEUE_OWN; /* as long as the memory it orders */
    bool clears = ctx->limits.untrusted && !(like->how & (KJ_OPENED | KJ_UNCOUNTED));
    kj_chunk chunk = {.memory = like->memory,
                      .how = like->how | (clears ? KJ_ZEROED : 0u),
                      .size = like->size,
                      .handle = like->handle,
                      .queue = lasts ? stream->queue : NULL};
    kjit_status status = alloc_memory(ctx, &chunk);
    if (status != KJIT_OK)
        return status;
    *out = new_buffer(ctx, &chunk, true);
    if (*out && chunk.queue) {
        kj_stream_hold(stream);
        kj_stream_issued(stream);
        (*out)->stream = stream;
    }
    if (*out)
        return KJIT_OK;
    status = free_memory(ctx, &chunk, &why);
    if (status != KJIT_OK)
        kj_pending_failed(ctx, status, &why);
    return kj_no_memory(ctx);
}

kjit_status kj_buffer_create(kjit_context *ctx, kjit_memory memory, size_t size, kj_buffer **out)
{
    return kj_buffer_create_as(ctx, &(kj_chunk){.memory = memory, .size = size}, NULL, out);
}

kjit_status kj_buffer_wrap(kjit_context *ctx, const kj_chunk *chunk, kj_buffer **out)
{
    kj_failure why;
    kj_chunk own = *chunk;
    own.device = (uintptr_t)own.data;
    const kj_memory_ops *memory = ctx->ops->memory;
    kjit_status status = KJIT_OK;
    if (own.memory > KJIT_DEVICE && own.size > 0 && memory && memory->reach)
        status = memory->reach(ctx->dev, &own, &why);
    if (status != KJIT_OK)
        return kj_fail_why(ctx, status, &why);
    *out = new_buffer(ctx, &own, false);
    return *out ? KJIT_OK : kj_no_memory(ctx);
}

/* ---- Registrations ---- */

/* Links it, unless memory of it is page-locked already. */
static bool link_registration(kj_buffer *b)
{
    kjit_context *ctx = b->ctx;
    uintptr_t first = (uintptr_t)b->data;
    bool apart = true;
    pthread_mutex_lock(&ctx->lock);
    for (const kj_buffer *r = ctx->registered; r; r = r->next)
        apart = apart &&
                (first >= (uintptr_t)r->data + r->size || (uintptr_t)r->data >= first + b->size);
    if (apart) {
        b->next = ctx->registered;
        ctx->registered = b;
    }
    pthread_mutex_unlock(&ctx->lock);
    return apart;
}

static kjit_status pin(kjit_context *ctx, kj_chunk *chunk, kj_failure *why)
{
    kjit_status status = kj_chunk_pin(ctx, chunk, why);
    if (status != KJIT_NO_MEMORY)
        return status;
    kj_make_room(ctx);
    return kj_chunk_pin(ctx, chunk, why);
}

kjit_status kj_buffer_register(kj_buffer *below, const kj_chunk *chunk, kj_buffer **out)
{
    kjit_context *ctx = below->ctx;
    kj_failure why;
    kj_chunk own = *chunk;
    own.device = (uintptr_t)own.data;
    kj_buffer *b = new_buffer(ctx, &own, false);
    if (!b)
        return kj_no_memory(ctx);
    kj_pending_check(ctx); /* what was let go of on another thread is not in its way */
    kj_buffer_hold(below);
    b->below = below;
    b->read_only = below->read_only;
    *out = b;
    if (own.size == 0) /* there is nothing to lock */
        return KJIT_OK;
    kjit_status status = KJIT_OK;
    if (!link_registration(b)) {
        status =
            kj_because(&why, KJIT_INVALID,
                       "the memory from %p on, or a part of it, is page-locked already", own.data);
    } else {
        status = pin(ctx, &own, &why);
        if (status != KJIT_OK)
            unlink_registration(b);
    }
    if (status != KJIT_OK) {
        kj_buffer_drop(b);
        return kj_fail_why(ctx, status, &why);
    }
    b->how |= KJ_REGISTERED;
    b->shift = own.device - (uintptr_t)own.data;
    return KJIT_OK;
}
