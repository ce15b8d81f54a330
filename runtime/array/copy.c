/* Copies between arrays: any two layouts, host or device, now or in a stream. */
#include <stdlib.h>
#include <string.h>

#include "array/array.h"

/* A queued copy: keeps both memories until it has run; NULL: the stream does. */
typedef struct copy_work {
    kj_work work;
    kjit_stream *stream;
    kj_buffer *dst, *src;
} copy_work;

/* Of another context than the stream's it may be the last. */
static void let_go(kj_buffer *buffer, const kjit_stream *stream)
{
    if (!buffer)
        return;
    kjit_context *ctx = buffer->ctx;
    if (ctx == stream->ctx) {
        kj_buffer_drop(buffer);
        return;
    }
    kj_context_hold(ctx);
    kj_buffer_drop(buffer);
    kj_context_drop(ctx);
}

static void drop_work(copy_work *w)
{
    let_go(w->dst, w->stream);
    let_go(w->src, w->stream);
    free(w);
}

static void copy_done(kj_work *work, kjit_status status, const kj_host_fault *fault)
{
    (void)fault;
    copy_work *w = (copy_work *)work;
    kj_trace_end(work->times, status);
    kj_stream_ended(w->stream, work, status);
    drop_work(w);
}

static kj_buffer *keep(kj_buffer *buffer, const kjit_stream *stream)
{
    if (!kj_buffer_is_held(buffer, stream))
        return NULL;
    kj_buffer_hold(buffer);
    return buffer;
}

/* Some copies take memory aside: what is pending may be all that it lacks. */
static kjit_status submit(kjit_context *ctx, kj_queue *queue, const kj_transfer *t, kj_work *work,
                          kj_failure *why)
{
    kjit_status status = ctx->ops->copy(ctx->dev, queue, t, work, why);
    if (status != KJIT_NO_MEMORY)
        return status;
    kj_make_room(ctx);
    return ctx->ops->copy(ctx->dev, queue, t, work, why);
}

static kjit_status run(kjit_context *ctx, const kj_transfer *t, kj_buffer *dst, kj_buffer *src,
                       kjit_stream *stream)
{
    kj_failure why;
    copy_work *w = NULL;
    kjit_status status = kj_stream_begin(stream);
    if (status != KJIT_OK)
        return status;
    if (stream) {
        w = calloc(1, sizeof *w);
        if (!w)
            return kj_no_memory(ctx);
        *w = (copy_work){{.done = copy_done}, stream, keep(dst, stream), keep(src, stream)};
    }
    kj_times *times = kj_trace_copy(ctx, t, stream);
    if (w)
        w->work.times = times;
    status = submit(ctx, kj_queue_of(stream), t, w ? &w->work : NULL, &why);
    if (status != KJIT_OK && w)
        drop_work(w);
    return kj_stream_submitted(ctx, stream, times, status, &why);
}

static kjit_status run_timed(kjit_context *ctx, const kj_timing_hook *hook, const kj_transfer *t,
                             kj_buffer *dst, kj_buffer *src, kjit_stream *stream)
{
    ctx->ops->wait(ctx->dev, kj_queue_of(stream));
    double start = kj_now_ms();
    kjit_status status = run(ctx, t, dst, src, stream);
    ctx->ops->wait(ctx->dev, kj_queue_of(stream));
    kj_timing timing = {.kind = KJ_TIMING_COPY,
                        .name = kj_transfer_name(t),
                        .bytes = (int64_t)t->size,
                        .ms = kj_now_ms() - start};
    for (int i = 0; i < t->ndim; i++)
        timing.bytes *= t->shape[i];
    if (status == KJIT_OK)
        hook->report(hook->user, &timing);
    return status;
}

kjit_status kj_transfer_by(kjit_context *ctx, const kj_transfer *t, kj_buffer *dst, kj_buffer *src,
                           kjit_stream *stream)
{
    const kj_timing_hook *hook = atomic_load(&ctx->timing);
    return hook ? run_timed(ctx, hook, t, dst, src, stream) : run(ctx, t, dst, src, stream);
}

kjit_status kj_transfer_submit(const kj_transfer *t, kj_buffer *dst, kj_buffer *src,
                               kjit_stream *stream)
{
    return kj_transfer_by(dst->ctx, t, dst, src, stream);
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
    kjit_memory memory = kj_host_works(src->buffer->memory) ? KJIT_HOST : KJIT_DEVICE;
    kjit_status status =
        kj_array_create(dst->ctx, src->dtype, src->ndim, src->shape, 'C', memory, &aside);
    if (status != KJIT_OK)
        return status;
    status = kjit_copy(aside, src, stream);
    if (status == KJIT_OK)
        status = kjit_copy(dst, aside, stream);
    kjit_array_free(aside);
    return status;
}

kjit_status kj_check_shapes(const kjit_array *dst, const kjit_array *src)
{
    char from[KJ_SHAPE_TEXT], to[KJ_SHAPE_TEXT];
    if (dst->ndim == src->ndim &&
        memcmp(dst->shape, src->shape, (size_t)dst->ndim * sizeof *dst->shape) == 0)
        return KJIT_OK;
    return kj_fail(dst->ctx, KJIT_SHAPE, "a copy from shape %s to %s",
                   kj_shape_text(src->ndim, src->shape, from),
                   kj_shape_text(dst->ndim, dst->shape, to));
}

/* One of the two may be told of the other. */
static kjit_status enter(const kjit_array *dst, const kjit_array *src)
{
    bool to = kj_lives(dst, KJ_ARRAY), from = kj_lives(src, KJ_ARRAY);
    const kjit_array *right = to ? dst : src, *wrong = to ? src : dst;
    if (to && from) {
        kjit_status status = kj_enter(dst->ctx);
        return status == KJIT_OK && src->ctx != dst->ctx ? kj_enter(src->ctx) : status;
    }
    return kj_fail(to || from ? right->ctx : NULL, KJIT_INVALID, "%s %s", to ? "src" : "dst",
                   wrong ? "was freed" : "is NULL");
}

kjit_status kjit_copy(kjit_array *dst, kjit_array *src, kjit_stream *stream)
{
    kjit_status status = enter(dst, src);
    if (status != KJIT_OK)
        return status;
    kjit_context *ctx = dst->ctx;
    if (dst->buffer->read_only)
        return kj_fail(ctx, KJIT_INVALID, "the array that is to be copied to is read-only");
    if (src->ctx != ctx)
        return kj_copy_between(dst, src, stream);
    status = kj_check_stream(ctx, stream);
    if (status != KJIT_OK)
        return status;
    if (dst->dtype != src->dtype)
        return kj_fail(ctx, KJIT_TYPE, "a copy from %s to %s: the element types differ",
                       kj_dtype_name(src->ctx, src->dtype), kj_dtype_name(src->ctx, dst->dtype));
    status = kj_check_shapes(dst, src);
    kj_transfer t;
    if (status != KJIT_OK)
        return status;
    if (!kj_transfer_init(&t, dst, src))
        return kj_nothing_to_do(ctx, stream);
    bool aside = disturbs(&t, dst, src);
    if (kj_stream_records(stream))
        return atomic_load(&stream->recorder)->copy(dst, src, aside ? NULL : &t, stream);
    if (aside)
        return copy_aside(dst, src, stream);
    return kj_transfer_submit(&t, dst->buffer, src->buffer, stream);
}

/* A dense array elsewhere with the same elements, in the source's order. */
static kjit_status copy_to(kjit_array *src, kjit_memory memory, kjit_stream *stream,
                           kjit_array **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_array(src), src->ctx);
    if (status != KJIT_OK)
        return status;
    char order = src->layout == KJ_LAYOUT_F ? 'F' : 'C';
    kjit_array *dst;
    status = kj_array_create(src->ctx, src->dtype, src->ndim, src->shape, order, memory, &dst);
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
    if (!kj_host_works(a->buffer->memory) && !ctx->ops->host_memory)
        return kjit_to_host(a, NULL, out);
    ctx->ops->wait(ctx->dev, NULL);
    kj_waited(ctx); /* as the copy from a device does */
    return kjit_array_slice(a, NULL, NULL, NULL, out);
}
