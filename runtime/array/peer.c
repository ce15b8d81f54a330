/* Copies between arrays of different contexts. Where one device has both memories, as CPUs and the
 * contexts of one GPU do, and where one of them is the host's or managed, it is an ordinary copy of
 * one of the two devices; rows between two GPUs are the driver's; all else goes through host
 * memory. */
#include <stdlib.h>
#include <string.h>

#include "array/array.h"

static kj_reach reach_of(kjit_context *ctx, kjit_context *other)
{
    bool alike = ctx->ops == other->ops && ctx->ops->peer;
    return alike ? ctx->ops->peer(ctx->dev, other->dev) : KJ_APART;
}

kjit_status kjit_can_access_peer(kjit_context *ctx, kjit_context *other, int *can)
{
    kjit_status status = kj_enter_context(ctx);
    if (status != KJIT_OK)
        return status;
    if (!kj_lives(other, KJ_CONTEXT))
        return kj_fail(ctx, KJIT_INVALID, "other %s", other ? "was destroyed" : "is NULL");
    if (!can)
        return kj_fail(ctx, KJIT_INVALID, "can is NULL");
    if (kj_forked(other))
        return kj_fail(ctx, KJIT_NO_DEVICE, "the other context was made before a fork");
    *can = reach_of(ctx, other) != KJ_APART;
    return KJIT_OK;
}

/* What went wrong in another context than the one that is told. */
static kjit_status tell(kjit_context *ctx, kjit_context *other, kjit_status status)
{
    return status == KJIT_OK || ctx == other ? status
                                             : kj_fail_lines(ctx, status, kjit_last_error(other));
}

/* Numbers of records are each context's own. */
static kjit_status check_types(const kjit_array *dst, const kjit_array *src)
{
    char why[KJ_DIFFERENCE_TEXT];
    bool records = kj_is_record(dst->of) && kj_is_record(src->of);
    if (records ? kj_same_elements(dst->of, src->of, why)
                : dst->dtype == src->dtype && !dst->of == !src->of)
        return KJIT_OK;
    return kj_fail(dst->ctx, KJIT_TYPE, "a copy from %s to %s: the element types differ%s%s",
                   kj_dtype_name(src->ctx, src->dtype), kj_dtype_name(dst->ctx, dst->dtype),
                   records ? ": " : "", records ? why : "");
}

static kjit_status check_stream(kjit_context *dst, kjit_context *src, kjit_context *gpu,
                                const kjit_stream *stream)
{
    if (stream && !kj_lives(stream, KJ_STREAM))
        return kj_not_its_stream(dst, stream);
    if (!stream || stream->ctx->ops == gpu->ops)
        return !stream || stream->ctx == dst || stream->ctx == src
                   ? KJIT_OK
                   : kj_fail(dst, KJIT_INVALID, "the stream belongs to neither array's context");
    return kj_fail(dst, KJIT_INVALID,
                   "a copy between a CPU's array and a GPU's takes a stream of the GPU's context");
}

static bool on_host(const kjit_array *a)
{
    return kj_host_works(a->buffer->memory) || a->ctx->ops->host_memory;
}

/* Writing one would change the other. */
static bool overlap(const kjit_array *a, const kjit_array *b)
{
    return on_host(a) == on_host(b) && a->low < b->high && b->low < a->high;
}

/* Now, with all elements in host memory on their way. */
static kjit_status copy_by_host(kjit_array *dst, kjit_array *src)
{
    kjit_array *host, *same;
    kjit_status status = kjit_to_host(src, NULL, &host);
    if (status != KJIT_OK)
        return tell(dst->ctx, src->ctx, status);
    status = kj_array_wrap(dst->ctx, host->data, dst->dtype, host->ndim, host->shape, host->strides,
                           KJIT_HOST, NULL, NULL, &same);
    if (status == KJIT_OK) {
        status = kjit_copy(dst, same, NULL);
        kjit_array_free(same);
    }
    kjit_array_free(host);
    return status;
}

/* By `ctx`, one of the two. False: there is no such way. */
static bool direct(kj_transfer *t, kjit_context *ctx, const kjit_array *dst, const kjit_array *src)
{
    kjit_context *other = dst->ctx == ctx ? src->ctx : dst->ctx;
    size_t bytes;
    bool to_other = dst->ctx == other;
    const kjit_array *ours = to_other ? src : dst, *theirs = to_other ? dst : src;
    if (overlap(dst, src))
        return false;
    if (ctx->ops != other->ops || on_host(theirs)) {
        *(to_other ? &t->dst_memory : &t->src_memory) = KJIT_HOST;
        return true;
    }
    if (theirs->buffer->memory == KJIT_MANAGED || reach_of(ctx, other) == KJ_SAME)
        return true;
    *(to_other ? &t->dst_device : &t->src_device) = other->dev;
    return ours->buffer->memory == KJIT_DEVICE && kj_transfer_is_row(t, &bytes);
}

kjit_status kj_copy_between(kjit_array *dst, kjit_array *src, kjit_stream *stream)
{
    kjit_context *gpu = dst->ctx->ops->host_memory ? src->ctx : dst->ctx;
    kjit_status status = check_stream(dst->ctx, src->ctx, gpu, stream);
    if (status == KJIT_OK)
        status = check_types(dst, src);
    if (status == KJIT_OK)
        status = kj_check_shapes(dst, src);
    kj_transfer t;
    if (status != KJIT_OK)
        return status;
    if (!kj_transfer_init(&t, dst, src)) {
        kj_nothing_to_do(src->ctx, stream);
        return kj_nothing_to_do(dst->ctx, stream);
    }
    kjit_context *ctx = stream ? stream->ctx : gpu;
    if (kj_stream_records(stream))
        return tell(dst->ctx, ctx, atomic_load(&stream->recorder)->copy(dst, src, NULL, stream));
    bool is_direct = direct(&t, ctx, dst, src);
    if (stream && is_direct)
        return tell(dst->ctx, ctx, kj_transfer_by(ctx, &t, dst->buffer, src->buffer, stream));
    status = kj_stream_begin(stream);
    if (status != KJIT_OK)
        return tell(dst->ctx, ctx, status);
    if (stream) /* with what others have put there */
        ctx->ops->wait(ctx->dev, kj_queue_of(stream));
    dst->ctx->ops->wait(dst->ctx->dev, NULL);
    src->ctx->ops->wait(src->ctx->dev, NULL);
    kj_waited(dst->ctx);
    kj_waited(src->ctx);
    if (!is_direct)
        return copy_by_host(dst, src);
    return tell(dst->ctx, ctx, kj_transfer_by(ctx, &t, dst->buffer, src->buffer, NULL));
}
