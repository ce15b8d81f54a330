/* The default streams of a context: the legacy one, which all others are ordered with, and each
 * thread's own.
 *
 * Work in the legacy stream waits for all that was put into the others before it, and theirs for
 * what was put into the legacy stream before. Both are said by marks, at the last moment: a piece
 * of legacy work first joins a mark in each stream that has work it was not told of; any other
 * piece of work first joins the legacy stream's mark, when there is legacy work that its stream
 * doesn't wait for yet. Without legacy work this costs a load and a comparison. */
#include "stream/stream.h"

/* ---- Order with the legacy stream ---- */

/* Marks what has been put into a stream so far; the mark is made for the first of them. Under the
 * legacy lock. */
static kjit_status mark(const kjit_stream *s, kj_mark **mark, kj_failure *why)
{
    const kj_device_ops *ops = s->ctx->ops;
    kjit_status status = *mark ? KJIT_OK : ops->marks->create(s->ctx->dev, false, mark, why);
    return status == KJIT_OK ? ops->marks->record(s->ctx->dev, *mark, s->queue, why) : status;
}

static kjit_status join(const kjit_stream *s, kj_mark *mark, kj_failure *why)
{
    return s->ctx->ops->marks->join(s->ctx->dev, mark, s->queue, why);
}

/* Of other libraries' work in a stream nothing is known. Another thread's default stream cannot be
 * named, but on a GPU the driver orders it with the legacy one. */
static bool has_news(kjit_stream *s)
{
    if (s->kind == KJ_QUEUE_LEGACY || (s->kind == KJ_QUEUE_THREAD && !s->ctx->ops->host_memory))
        return false;
    return atomic_exchange(&s->fresh, false) || s->kind == KJ_QUEUE_EXTERNAL;
}

/* The legacy stream waits for the work of all others so far. */
static kjit_status gather(kjit_stream *legacy, kj_failure *why)
{
    kjit_context *ctx = legacy->ctx;
    kjit_status status = KJIT_OK;
    pthread_mutex_lock(&ctx->legacy.lock);
    pthread_mutex_lock(&ctx->lock);
    for (kjit_stream *s = ctx->streams; s && status == KJIT_OK; s = s->next) {
        if (!has_news(s))
            continue;
        status = mark(s, &s->mark, why);
        if (status == KJIT_OK)
            status = join(legacy, s->mark, why);
        if (status != KJIT_OK)
            atomic_store(&s->fresh, true);
    }
    pthread_mutex_unlock(&ctx->lock);
    pthread_mutex_unlock(&ctx->legacy.lock);
    return status;
}

/* A stream waits for the legacy work so far. */
static kjit_status follow(kjit_stream *s, kj_failure *why)
{
    kj_legacy *legacy = &s->ctx->legacy;
    kjit_status status = KJIT_OK;
    pthread_mutex_lock(&legacy->lock);
    uint64_t issued = atomic_load(&legacy->issued);
    if (legacy->stream && legacy->marked != issued) {
        status = mark(legacy->stream, &legacy->mark, why);
        if (status == KJIT_OK)
            legacy->marked = issued;
    }
    if (status == KJIT_OK && legacy->stream && atomic_load(&s->followed) != issued)
        status = join(s, legacy->mark, why);
    if (status == KJIT_OK)
        atomic_store(&s->followed, issued);
    pthread_mutex_unlock(&legacy->lock);
    return status;
}

kjit_status kj_stream_usable(kjit_stream *s)
{
    kj_failure why;
    const kj_device_ops *ops = s->ctx->ops;
    kjit_status status = ops->driver ? ops->driver->usable(s->queue, &why) : KJIT_OK;
    return status == KJIT_OK ? status : kj_fail_why(s->ctx, status, &why);
}

kjit_status kj_stream_begin(kjit_stream *s)
{
    kj_failure why;
    kjit_status status = KJIT_OK;
    if (!s)
        return status;
    if (s->kind == KJ_QUEUE_THREAD && !pthread_equal(s->thread, pthread_self()))
        return kj_fail(s->ctx, KJIT_INVALID, "the stream is another thread's default stream");
    status = kj_stream_usable(s);
    if (status != KJIT_OK)
        return status;
    if (s->kind == KJ_QUEUE_LEGACY)
        status = gather(s, &why);
    else if (atomic_load_explicit(&s->ctx->legacy.issued, memory_order_acquire) !=
             atomic_load_explicit(&s->followed, memory_order_relaxed))
        status = follow(s, &why);
    return status == KJIT_OK ? status : kj_fail_why(s->ctx, status, &why);
}

void kj_stream_issued(kjit_stream *s)
{
    if (!s)
        return;
    if (s->kind == KJ_QUEUE_LEGACY)
        atomic_fetch_add(&s->ctx->legacy.issued, 1);
    else if (!atomic_load(&s->fresh))
        atomic_store(&s->fresh, true);
}

kjit_status kj_stream_submitted(kjit_context *ctx, kjit_stream *s, kj_times *times,
                                kjit_status status, const kj_failure *why)
{
    if (!s || status != KJIT_OK)
        kj_trace_end(times, status);
    if (!s)
        kj_waited(ctx);
    if (status != KJIT_OK)
        return kj_fail_why(ctx, status, why);
    kj_stream_issued(s);
    return KJIT_OK;
}

/* ---- The default streams ---- */

kjit_status kjit_stream_legacy_default(kjit_context *ctx, kjit_stream **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_context(ctx), ctx);
    if (status != KJIT_OK)
        return status;
    pthread_mutex_lock(&ctx->legacy.lock);
    if (!ctx->legacy.stream)
        status = kj_stream_new(ctx, KJ_QUEUE_LEGACY, NULL, &ctx->legacy.stream);
    *out = ctx->legacy.stream;
    pthread_mutex_unlock(&ctx->legacy.lock);
    return status;
}

kjit_status kjit_stream_default(kjit_context *ctx, kjit_stream **out)
{
    return kjit_stream_legacy_default(ctx, out);
}

/* The stream of a thread that ends. Under the lock. */
static void thread_left(kj_thread *thread)
{
    kjit_context *ctx = thread->ctx;
    kjit_stream *stream = thread->stream;
    kj_handle_close(stream);
    pthread_mutex_lock(&ctx->lock);
    stream->left = true;
    pthread_mutex_unlock(&ctx->lock);
    kj_context_hold(ctx);
    kj_pending_add(ctx, KJ_PENDING_RESOURCES, &stream->pending);
}

kjit_status kjit_stream_per_thread_default(kjit_context *ctx, kjit_stream **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_context(ctx), ctx);
    if (status != KJIT_OK)
        return status;
    kj_thread *thread = kj_thread_in(ctx);
    if (!thread)
        return kj_no_memory(ctx);
    if (!thread->stream) {
        kj_pending_check(ctx); /* the streams of threads that have ended */
        thread->left = thread_left;
        status = kj_stream_new(ctx, KJ_QUEUE_THREAD, NULL, &thread->stream);
    }
    *out = thread->stream;
    return status;
}

/* A default stream that is not pending yet; NULL: none is left. */
static kjit_stream *first_default(kjit_context *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    kjit_stream *s = ctx->streams;
    while (s && (!kj_stream_is_default(s) || s->left))
        s = s->next;
    pthread_mutex_unlock(&ctx->lock);
    return s;
}

void kj_default_streams_free(kjit_context *ctx)
{
    kj_failure why;
    kjit_stream *s;
    pthread_mutex_lock(&ctx->legacy.lock);
    kj_mark *mark = ctx->legacy.mark;
    ctx->legacy.stream = NULL;
    ctx->legacy.mark = NULL;
    pthread_mutex_unlock(&ctx->legacy.lock);
    kj_threads_lose_streams(ctx);
    while ((s = first_default(ctx)))
        kj_stream_end(s, &why); /* nobody is left to be told */
    if (mark)
        ctx->ops->marks->free(mark, &why);
}
