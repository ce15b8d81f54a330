/* Copies between arrays: any two layouts, host or device, now or in a stream. */
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

/* A queued copy: keeps both memories until it has run. */
typedef struct copy_work {
    kj_work work;
    kj_buffer *dst, *src;
} copy_work;

static void copy_done(kj_work *work, kjit_status status, const kj_host_fault *fault)
{
    (void)status; /* on the devices there are, a copy that was queued succeeds */
    (void)fault;
    copy_work *w = (copy_work *)work;
    kj_buffer_drop(w->dst);
    kj_buffer_drop(w->src);
    free(w);
}

static kjit_status run(kjit_context *ctx, const kj_transfer *t, kjit_array *dst, kjit_array *src,
                       kjit_stream *stream)
{
    kj_failure why;
    copy_work *w = NULL;
    if (stream) {
        w = calloc(1, sizeof *w);
        if (!w)
            return kj_no_memory(ctx);
        *w = (copy_work){{.done = copy_done}, dst->buffer, src->buffer};
        kj_buffer_hold(w->dst);
        kj_buffer_hold(w->src);
    }
    kjit_status status =
        ctx->ops->copy(ctx->dev, kj_queue_of(stream), t, w ? &w->work : NULL, &why);
    if (status == KJIT_OK)
        return status;
    if (w)
        copy_done(&w->work, status, NULL);
    return kj_fail_why(ctx, status, &why);
}

static kjit_status run_timed(kjit_context *ctx, const kj_timing_hook *hook, const kj_transfer *t,
                             kjit_array *dst, kjit_array *src, kjit_stream *stream)
{
    static const char *const names[2][2] = {{"host to host", "host to device"},
                                            {"device to host", "device to device"}};
    ctx->ops->wait(ctx->dev, kj_queue_of(stream));
    double start = kj_now_ms();
    kjit_status status = run(ctx, t, dst, src, stream);
    ctx->ops->wait(ctx->dev, kj_queue_of(stream));
    kj_timing timing = {.kind = KJ_TIMING_COPY,
                        .name = names[src->buffer->memory][dst->buffer->memory],
                        .bytes = dst->size * (int64_t)t->size,
                        .ms = kj_now_ms() - start};
    if (status == KJIT_OK)
        hook->report(hook->user, &timing);
    return status;
}

/* Would writing one disturb the other while it is read? One row is moved safely whatever its
 * direction. */
static bool disturbs(const kj_transfer *t, const kjit_array *dst, const kjit_array *src)
{
    if (!kj_arrays_meet(dst, src))
        return false;
    if (t->ndim == 0)
        return false;
    return t->ndim > 1 || t->dst_stride[0] != (int64_t)t->size ||
           t->src_stride[0] != (int64_t)t->size;
}

static kjit_status copy_aside(kjit_array *dst, kjit_array *src, kjit_stream *stream)
{
    kjit_array *aside;
    kjit_status status = kjit_array_create(dst->ctx, src->dtype, src->ndim, src->shape, 'C',
                                           src->buffer->memory, &aside);
    if (status != KJIT_OK)
        return status;
    status = kjit_copy(aside, src, stream);
    if (status == KJIT_OK)
        status = kjit_copy(dst, aside, stream);
    kjit_array_free(aside);
    return status;
}

kjit_status kjit_copy(kjit_array *dst, kjit_array *src, kjit_stream *stream)
{
    kjit_status status = dst && src ? kj_enter(dst->ctx) : KJIT_INVALID;
    if (status != KJIT_OK)
        return status;
    kjit_context *ctx = dst->ctx;
    if (src->ctx != ctx || (stream && stream->ctx != ctx))
        return kj_fail(ctx, KJIT_INVALID,
                       "a copy's arrays and stream belong to different contexts");
    if (dst->dtype != src->dtype)
        return kj_fail(ctx, KJIT_TYPE, "a copy from %s to %s: the element types differ",
                       kjit_dtype_name(src->dtype), kjit_dtype_name(dst->dtype));
    char from[KJ_SHAPE_TEXT], to[KJ_SHAPE_TEXT];
    if (dst->ndim != src->ndim ||
        memcmp(dst->shape, src->shape, (size_t)dst->ndim * sizeof *dst->shape) != 0)
        return kj_fail(ctx, KJIT_SHAPE, "a copy from shape %s to %s",
                       kj_shape_text(src->ndim, src->shape, from),
                       kj_shape_text(dst->ndim, dst->shape, to));
    kj_transfer t;
    if (!kj_transfer_init(&t, dst, src))
        return KJIT_OK;
    if (disturbs(&t, dst, src))
        return copy_aside(dst, src, stream);
    const kj_timing_hook *hook = atomic_load(&ctx->timing);
    return hook ? run_timed(ctx, hook, &t, dst, src, stream) : run(ctx, &t, dst, src, stream);
}

/* A dense array elsewhere with the same elements, in the source's order. */
static kjit_status copy_to(kjit_array *src, kjit_memory memory, kjit_stream *stream,
                           kjit_array **out)
{
    if (out)
        *out = NULL;
    kjit_status status = src ? kj_enter(src->ctx) : KJIT_INVALID;
    if (status != KJIT_OK)
        return status;
    if (!out)
        return kj_fail(src->ctx, KJIT_INVALID, "out is NULL");
    char order = src->layout == KJ_LAYOUT_F ? 'F' : 'C';
    kjit_array *dst;
    status = kjit_array_create(src->ctx, src->dtype, src->ndim, src->shape, order, memory, &dst);
    if (status != KJIT_OK)
        return status;
    status = kjit_copy(dst, src, stream);
    if (status == KJIT_OK)
        *out = dst;
    else
        kjit_array_free(dst);
    return status;
}

kjit_status kjit_to_device(kjit_array *host, kjit_stream *stream, kjit_array **out)
{
    return copy_to(host, KJIT_DEVICE, stream, out);
}

kjit_status kjit_to_host(kjit_array *device, kjit_stream *stream, kjit_array **out)
{
    return copy_to(device, KJIT_HOST, stream, out);
}

kjit_status kj_array_on_host(kjit_array *a, kjit_array **out)
{
    kjit_context *ctx = a->ctx;
    if (a->buffer->memory == KJIT_DEVICE && !ctx->ops->host_memory)
        return kjit_to_host(a, NULL, out);
    ctx->ops->wait(ctx->dev, NULL);
    return kjit_array_slice(a, NULL, NULL, NULL, out);
}
