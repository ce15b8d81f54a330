/* Streams and events: queues of the device, with the failures of their work kept until someone
 * asks. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime.h"

double kj_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
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

/* Gives it to the calling thread; when there is none, that the device was lost. */
static kjit_status report(kjit_context *ctx, kjit_status status, char *text)
{
    const char *lost = ctx->ops->lost ? ctx->ops->lost(ctx->dev) : NULL;
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
    s->next = s->ctx->streams;
    if (s->next)
        s->next->prev = s;
    s->ctx->streams = s;
    pthread_mutex_unlock(&s->ctx->lock);
}

static void unlink_stream(kjit_stream *s)
{
    pthread_mutex_lock(&s->ctx->lock);
    if (s->prev)
        s->prev->next = s->next;
    else
        s->ctx->streams = s->next;
    if (s->next)
        s->next->prev = s->prev;
    pthread_mutex_unlock(&s->ctx->lock);
}

static kjit_status free_stream(kj_pending *item, kj_failure *why)
{
    kjit_stream *s = (kjit_stream *)item;
    kjit_status status = s->ctx->ops->queue_free(s->queue, why);
    unlink_stream(s);
    pthread_mutex_destroy(&s->lock);
    free(s->text);
    free(s);
    return status;
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

kjit_status kjit_stream_create(kjit_context *ctx, kjit_stream **out)
{
    if (out)
        *out = NULL;
    kjit_status status = kj_enter(ctx);
    if (status != KJIT_OK)
        return status;
    if (!out)
        return kj_fail(ctx, KJIT_INVALID, "out is NULL");
    kjit_stream *s = calloc(1, sizeof *s);
    if (!s)
        return kj_no_memory(ctx);
    kj_failure why;
    status = ctx->ops->queue_create(ctx->dev, &s->queue, &why);
    if (status != KJIT_OK) {
        free(s);
        return kj_fail_why(ctx, status, &why);
    }
    s->ctx = ctx;
    atomic_init(&s->refs, 1);
    s->pending.deallocate = free_stream;
    pthread_mutex_init(&s->lock, NULL);
    kj_context_hold(ctx);
    link_stream(s);
    *out = s;
    return KJIT_OK;
}

void kjit_stream_free(kjit_stream *s)
{
    if (!s || kj_enter(s->ctx) != KJIT_OK)
        return;
    kjit_context *ctx = s->ctx;
    kj_graph_abandon(s);
    kj_context_hold(ctx);
    kj_stream_drop(s);
    kj_freed(ctx);
}

kjit_status kjit_stream_synchronize(kjit_stream *s)
{
    kjit_status status = s ? kj_enter(s->ctx) : KJIT_INVALID;
    if (status != KJIT_OK)
        return status;
    status = kj_graph_refuse(s);
    if (status != KJIT_OK)
        return status;
    s->ctx->ops->wait(s->ctx->dev, s->queue);
    kj_print_flush(s->ctx);
    kj_pending_prompt(s->ctx);
    char *text;
    status = take_failure(s, &text);
    return report(s->ctx, status, text);
}

kjit_status kjit_synchronize(kjit_context *ctx)
{
    kjit_status status = kj_enter(ctx);
    if (status != KJIT_OK)
        return status;
    ctx->ops->wait(ctx->dev, NULL);
    kj_print_flush(ctx);
    kj_pending_prompt(ctx);
    char *text = NULL;
    pthread_mutex_lock(&ctx->lock);
    for (kjit_stream *s = ctx->streams; s && status == KJIT_OK; s = s->next)
        status = take_failure(s, &text);
    pthread_mutex_unlock(&ctx->lock);
    if (status == KJIT_OK) {
        status = kj_pending_failure(ctx);
        if (status != KJIT_OK)
            return status;
    }
    return report(ctx, status, text);
}

kjit_status kjit_stream_query(kjit_stream *s, int *done)
{
    kjit_status status = s ? kj_enter(s->ctx) : KJIT_INVALID;
    if (status != KJIT_OK)
        return status;
    if (!done)
        return kj_fail(s->ctx, KJIT_INVALID, "done is NULL");
    *done = s->ctx->ops->idle(s->queue);
    return KJIT_OK;
}

static kjit_status free_event(kj_pending *item, kj_failure *why)
{
    kjit_event *e = (kjit_event *)item;
    kjit_status status = e->ctx->ops->mark_free(e->mark, why);
    free(e);
    return status;
}

kjit_status kjit_event_create(kjit_context *ctx, kjit_event **out)
{
    if (out)
        *out = NULL;
    kjit_status status = kj_enter(ctx);
    if (status != KJIT_OK)
        return status;
    if (!out)
        return kj_fail(ctx, KJIT_INVALID, "out is NULL");
    kjit_event *e = calloc(1, sizeof *e);
    if (!e)
        return kj_no_memory(ctx);
    kj_failure why;
    status = ctx->ops->mark_create(ctx->dev, &e->mark, &why);
    if (status != KJIT_OK) {
        free(e);
        return kj_fail_why(ctx, status, &why);
    }
    e->ctx = ctx;
    e->pending.deallocate = free_event;
    kj_context_hold(ctx);
    *out = e;
    return KJIT_OK;
}

void kjit_event_free(kjit_event *e)
{
    if (!e || kj_enter(e->ctx) != KJIT_OK)
        return;
    kjit_context *ctx = e->ctx;
    kj_context_hold(ctx);
    kj_pending_add(ctx, KJ_PENDING_RESOURCES, &e->pending);
    kj_freed(ctx);
}

/* What recording and waiting ask of their arguments; the stream may be NULL. */
static kjit_status enter_event(kjit_event *e, const kjit_stream *s)
{
    kjit_status status = e ? kj_enter(e->ctx) : KJIT_INVALID;
    if (status == KJIT_OK && s && s->ctx != e->ctx)
        return kj_fail(e->ctx, KJIT_INVALID,
                       "the stream and the event belong to different contexts");
    return status == KJIT_OK ? kj_graph_refuse(s) : status;
}

kjit_status kjit_event_record(kjit_event *e, kjit_stream *s)
{
    kj_failure why;
    kjit_status status = enter_event(e, s);
    if (status != KJIT_OK)
        return status;
    status = e->ctx->ops->mark_record(e->ctx->dev, e->mark, kj_queue_of(s), &why);
    return status == KJIT_OK ? status : kj_fail_why(e->ctx, status, &why);
}

kjit_status kjit_stream_wait(kjit_stream *s, kjit_event *e)
{
    kj_failure why;
    kjit_status status = enter_event(e, s);
    if (status != KJIT_OK)
        return status;
    status = e->ctx->ops->mark_join(e->ctx->dev, e->mark, kj_queue_of(s), &why);
    return status == KJIT_OK ? status : kj_fail_why(e->ctx, status, &why);
}

kjit_status kjit_event_synchronize(kjit_event *e)
{
    kjit_status status = enter_event(e, NULL);
    if (status != KJIT_OK)
        return status;
    e->ctx->ops->mark_wait(e->mark);
    kj_print_flush(e->ctx);
    kj_pending_prompt(e->ctx);
    return report(e->ctx, KJIT_OK, NULL);
}

kjit_status kjit_event_elapsed(kjit_event *from, kjit_event *to, double *ms)
{
    kjit_status status = from && to ? enter_event(from, NULL) : KJIT_INVALID;
    if (status != KJIT_OK)
        return status;
    if (from->ctx != to->ctx)
        return kj_fail(from->ctx, KJIT_INVALID, "the events belong to different contexts");
    if (!ms)
        return kj_fail(from->ctx, KJIT_INVALID, "ms is NULL");
    if (from->ctx->ops->mark_elapsed(from->mark, to->mark, ms))
        return KJIT_OK;
    status = report(from->ctx, KJIT_OK, NULL);
    if (status != KJIT_OK)
        return status;
    return kj_fail(from->ctx, KJIT_INVALID,
                   "an event was not recorded, or has not been reached yet");
}
