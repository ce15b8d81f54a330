/* Chunks of memory. In: a kind, a size and how it is to be made; out: the memory, from the system
 * or the device. */
#include "runtime.h"

kjit_status kj_chunk_alloc(kjit_context *ctx, kj_chunk *chunk, kj_failure *why)
{
    if (chunk->memory != KJIT_HOST)
        return ctx->ops->alloc(ctx->dev, chunk, why);
    kjit_status status = kj_memory_alloc(chunk->size, &chunk->data, why);
    chunk->device = (uintptr_t)chunk->data;
    return status;
}

kjit_status kj_chunk_pin(kjit_context *ctx, kj_chunk *chunk, kj_failure *why)
{
    return ctx->ops->pin(ctx->dev, chunk, why);
}

kjit_status kj_chunk_release(kjit_context *ctx, const kj_chunk *chunk, kj_failure *why)
{
    if (chunk->memory != KJIT_HOST)
        return ctx->ops->release(ctx->dev, chunk, why);
    kj_memory_free(chunk->data, chunk->size);
    return KJIT_OK;
}
