/* Streams: queues of the device, with the failures of their work kept until someone asks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/stream.h"

kjit_status kj_not_its_stream(kjit_context *ctx, const kjit_stream *s)
{
    return kj_fail(ctx, KJIT_INVALID, "the stream %s",
                   kj_lives(s, KJ_STREAM) ? "belongs to another context" : "was freed");
}

kj_queue *kj_queue_of(kjit_stream *stream)
{
    return stream ? stream->queue : NULL;
}

void kj_stream_failed(kjit_stream *stream, kjit_status status, char *text)
{
    pthread_mutex_lock(&stream->lock);
    if (stream->status == KJIT_OK) {
        stream->status = status;
        stream->failure = atomic_fetch_add(&stream->ctx->failures, 1);
        stream->text = text;
        text = NULL;
    }
    pthread_mutex_unlock(&stream->lock);
    free(text);
}

void kj_stream_ended(kjit_stream *stream, const kj_work *work, kjit_status status)
{
    if (status != KJIT_OK)
        kj_stream_failed(stream, status, work->why ? strdup(work->why) : NULL);
}

/* Takes the failure of the stream's work, once; *text is malloc'd or NULL. */
static kjit_status take_failure(kjit_stream *s, char **text)
{
    pthread_mutex_lock(&s->lock);
    kjit_status status = s->status;
    *text = s->text;
    s->status = KJIT_OK;
    s->text = NULL;
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* The stream whose failure came before the others', or NULL; of a run block's streams, or of all
 * others. Under the context's lock. */
static kjit_stream *first_failed(kjit_context *ctx, bool of_run)
{
    kjit_stream *first = NULL;
    uint64_t least = UINT64_MAX;
    for (kjit_stream *s = ctx->streams; s; s = s->next) {
        pthread_mutex_lock(&s->lock);
        if (s->status != KJIT_OK && s->of_run == of_run && s->failure < least) {
            least = s->failure;
            first = s;
        }
        pthread_mutex_unlock(&s->lock);
    }
    return first;
}

kjit_status kj_stream_report(kjit_context *ctx, kjit_status status, char *text)
{
    const char *lost = ctx->ops->driver ? ctx->ops->driver->lost(ctx->dev) : NULL;
    if (status == KJIT_OK && lost)
        return kj_fail(ctx, KJIT_LOST, "%s", lost);
    if (status != KJIT_OK)
        kj_fail(ctx, status, "%s", text ? text : kjit_status_message(status));
    free(text);
    return status;
}

static void link_stream(kjit_stream *s)
{
    pthread_mutex_lock(&s->ctx->lock);
    s->number = ++s->ctx->streams_made;
    s->next = s->ctx->streams;
    if (s->next)
        s->next->prev = s;
    s->ctx->streams = s;
    pthread_mutex_unlock(&s->ctx->lock);
}

void kj_stream_unlink(kjit_stream *s)
{
    if (s->prev)
        s->prev->next = s->next;
    else
        s->ctx->streams = s->next;
    if (s->next)
        s->next->prev = s->prev;
}

/* What it records will be no graph. */
static void abandon(kjit_stream *s)
{
    if (kj_stream_records(s))
        atomic_load(&s->recorder)->abandon(s);
}

/* What nobody was told of it is for kjit_synchronize to tell; the first failure, if there are more. */
static void leave_failure(kjit_stream *s)
{
    kjit_context *ctx = s->ctx;
    kj_failure why;
    if (s->status == KJIT_OK)
        return;
    snprintf(why.text, sizeof why.text, "%s", s->text ? s->text : kjit_status_message(s->status));
    pthread_mutex_lock(&ctx->lock);
    if (ctx->left.status == KJIT_OK) {
        ctx->left.status = s->status;
        ctx->left.why = why;
    }
    pthread_mutex_unlock(&ctx->lock);
}

kjit_status kj_stream_end(kjit_stream *s, kj_failure *why)
{
    kj_failure other;
    kjit_context *ctx = s->ctx;
    abandon(s);
    kjit_status status = ctx->ops->queue_free(s->queue, why);
    if (!s->of_run)
        leave_failure(s);
    if (s->mark) {
        kjit_status end = ctx->ops->marks->free(s->mark, status == KJIT_OK ? why : &other);
        if (status == KJIT_OK)
            status = end;
    }
    pthread_mutex_destroy(&s->lock);
    free(s->text);
    kj_handle_free(s);
    return status;
}

void kj_stream_report_goes(kjit_stream *s, kj_returning *r)
{
    pthread_mutex_lock(&s->lock);
    r->next = s->returning;
    if (r->next)
        r->next->prev = r;
    s->returning = r;
    pthread_mutex_unlock(&s->lock);
}

void kj_stream_report_comes(kjit_stream *s, kj_returning *r)
{
    pthread_mutex_lock(&s->lock);
    if (r->prev)
        r->prev->next = r->next;
    else
        s->returning = r->next;
    if (r->next)
        r->next->prev = r->prev;
    pthread_mutex_unlock(&s->lock);
}

void kj_stream_hold(kjit_stream *s)
{
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
}

void kj_stream_drop(kjit_stream *s)
{
    if (atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) == 1)
        kj_pending_add(s->ctx, KJ_PENDING_RESOURCES, &s->pending);
}

/* Until here the legacy stream waits for its work. */
static kjit_status deallocate(kj_pending *item, kj_failure *why)
{
    kjit_stream *s = KJ_WHOLE(kjit_stream, pending, item);
    kjit_context *ctx = s->ctx;
    pthread_mutex_lock(&ctx->lock);
    kj_stream_unlink(s);
    pthread_mutex_unlock(&ctx->lock);
    return kj_stream_end(s, why);
}

kjit_status kj_stream_new(kjit_context *ctx, kj_queue_kind kind, void *handle, kjit_stream **out)
{
    kjit_stream *s = kj_handle_new(KJ_STREAM, sizeof *s);
    if (!s)
        return kj_no_memory(ctx);
    kj_failure why;
    kjit_status status = ctx->ops->queue_create(ctx->dev, kind, handle, &s->queue, &why);
    if (status != KJIT_OK) {
        kj_handle_free(s);
        return kj_fail_why(ctx, status, &why);
    }
    s->ctx = ctx;
    s->pending.deallocate = deallocate;
    s->kind = kind;
    atomic_init(&s->refs, 1);
    s->thread = pthread_self();
    atomic_init(&s->fresh, false);
    atomic_init(&s->followed, 0);
    pthread_mutex_init(&s->lock, NULL);
    link_stream(s);
    *out = s;
    return KJIT_OK;
}

/* A stream whose handle is the caller's. */
static kjit_status create(kjit_context *ctx, kj_queue_kind kind, void *handle, kjit_stream **out)
{
    kjit_status status = kj_stream_new(ctx, kind, handle, out);
    if (status == KJIT_OK)
        kj_context_hold(ctx);
    return status;
}

kjit_status kjit_stream_create(kjit_context *ctx, kjit_stream **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_context(ctx), ctx);
    if (status != KJIT_OK)
        return status;
    return create(ctx, KJ_QUEUE_OWN, NULL, out);
}

kjit_status kjit_stream_external(kjit_context *ctx, void *handle, kjit_stream **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_context(ctx), ctx);
    if (status != KJIT_OK)
        return status;
    switch ((uintptr_t)handle) {
    case 0:
        return kj_fail(ctx, KJIT_INVALID,
                       "the stream's handle is 0, which may mean either default stream: 1 is the "
                       "legacy one, 2 the thread's");
    case 1: return kjit_stream_legacy_default(ctx, out);
    case 2: return kjit_stream_per_thread_default(ctx, out);
    default: return create(ctx, KJ_QUEUE_EXTERNAL, handle, out);
    }
}

bool kj_stream_is_default(const kjit_stream *s)
{
    return s->kind == KJ_QUEUE_LEGACY || s->kind == KJ_QUEUE_THREAD;
}

void kjit_stream_free(kjit_stream *s)
{
    if (!kj_can_free(s, KJ_STREAM) || kj_enter(s->ctx) != KJIT_OK || kj_stream_is_default(s) ||
        !kj_handle_close(s))
        return;
    kjit_context *ctx = s->ctx;
    kj_failure why;
    abandon(s);
    if (s->kind == KJ_QUEUE_EXTERNAL) { /* its owner may be about to destroy it */
        kjit_status status = deallocate(&s->pending, &why);
        if (status != KJIT_OK)
            kj_pending_failed(ctx, status, &why);
        kj_freed(ctx);
        return;
    }
    kj_context_hold(ctx);
    kj_stream_drop(s);
    kj_freed(ctx);
}

void *kjit_stream_handle(const kjit_stream *s)
{
    if (!kj_can_ask(s, KJ_STREAM) || kj_forked(s->ctx) || !s->ctx->ops->driver)
        return NULL;
    return s->ctx->ops->driver->queue_handle(s->queue);
}

int kjit_stream_number(const kjit_stream *s)
{
    return kj_can_ask(s, KJ_STREAM) ? s->number : 0;
}

kjit_status kjit_stream_synchronize(kjit_stream *s)
{
    kjit_status status = kj_enter_stream(s);
    if (status != KJIT_OK)
        return status;
    status = kj_graph_refuse(s);
    if (status == KJIT_OK)
        status = kj_stream_usable(s);
    if (status != KJIT_OK)
        return status;
    s->ctx->ops->wait(s->ctx->dev, s->queue);
    kj_waited(s->ctx);
    char *text;
    status = take_failure(s, &text);
    return kj_stream_report(s->ctx, status, text);
}

kjit_status kj_nothing_to_do(kjit_context *ctx, const kjit_stream *stream)
{
    if (!stream) {
        ctx->ops->wait(ctx->dev, NULL);
        kj_waited(ctx);
    }
    return KJIT_OK;
}

/* Waits for all work; the first failure that nobody was told of the run block's streams, or of all
 * others. *text is malloc'd or NULL. */
static kjit_status wait_for_all(kjit_context *ctx, bool of_run, char **text)
{
    kjit_status status = KJIT_OK;
    *text = NULL;
    ctx->ops->wait(ctx->dev, NULL);
    kj_waited(ctx);
    pthread_mutex_lock(&ctx->lock);
    kjit_stream *first = first_failed(ctx, of_run);
    if (first)
        status = take_failure(first, text);
    pthread_mutex_unlock(&ctx->lock);
    return status;
}

/* That of streams that were freed meanwhile. */
static kjit_status tell_left(kjit_context *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    kjit_status status = ctx->left.status;
    kj_failure why = ctx->left.why;
    ctx->left.status = KJIT_OK;
    pthread_mutex_unlock(&ctx->lock);
    return status == KJIT_OK ? status : kj_fail_why(ctx, status, &why);
}

kjit_status kjit_synchronize(kjit_context *ctx)
{
    char *text;
    kjit_status status = kj_enter_context(ctx);
    if (status != KJIT_OK)
        return status;
    status = wait_for_all(ctx, false, &text);
    if (status != KJIT_OK)
        return kj_stream_report(ctx, status, text);
    status = tell_left(ctx);
    if (status == KJIT_OK)
        status = kj_pending_failure(ctx);
    return status == KJIT_OK ? kj_stream_report(ctx, status, NULL) : status;
}

kjit_status kj_synchronize_run(kjit_context *ctx)
{
    char *text;
    kjit_status status = wait_for_all(ctx, true, &text);
    return kj_stream_report(ctx, status, text);
}

void kj_streams_of_run_end(kjit_context *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    for (kjit_stream *s = ctx->streams; s; s = s->next) {
        pthread_mutex_lock(&s->lock);
        if (kj_stream_is_default(s))
            s->of_run = false;
        pthread_mutex_unlock(&s->lock);
    }
    pthread_mutex_unlock(&ctx->lock);
}

void kj_stream_of_run(kjit_stream *s)
{
    pthread_mutex_lock(&s->lock);
    s->of_run = true;
    pthread_mutex_unlock(&s->lock);
}

kjit_status kj_graph_refuse(const kjit_stream *stream)
{
    if (!kj_stream_records(stream))
        return KJIT_OK;
    return kj_fail(stream->ctx, KJIT_INVALID,
                   "the stream records a graph, which has launches and copies alone");
}

kjit_status kjit_stream_query(kjit_stream *s, int *done)
{
    kjit_status status = kj_enter_stream(s);
    if (status != KJIT_OK)
        return status;
    if (!done)
        return kj_fail(s->ctx, KJIT_INVALID, "done is NULL");
    status = kj_stream_usable(s);
    if (status == KJIT_OK)
        *done = s->ctx->ops->idle(s->queue);
    return status;
}
