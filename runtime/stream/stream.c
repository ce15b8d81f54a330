/* Streams: queues of the device, with the failures of their work kept until someone asks. */
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

void kj_stream_failed(kjit_stream *stream, kjit_status status, kj_telling telling)
{
    pthread_mutex_lock(&stream->lock);
    if (stream->status == KJIT_OK) {
        stream->status = status;
        stream->failure = atomic_fetch_add(&stream->ctx->failures, 1);
        stream->telling = telling;
        telling = (kj_telling){0};
    }
    pthread_mutex_unlock(&stream->lock);
    kj_telling_free(telling);
}

void kj_stream_ended(kjit_stream *stream, const kj_work *work, kjit_status status)
{
    if (status != KJIT_OK)
        kj_stream_failed(stream, status,
                         (kj_telling){.text = work->why ? strdup(work->why) : NULL});
}

/* Takes the failure of the stream's work, once. */
static kjit_status take_failure(kjit_stream *s, kj_telling *telling)
{
    pthread_mutex_lock(&s->lock);
    kjit_status status = s->status;
    *telling = s->telling;
    s->status = KJIT_OK;
    s->telling = (kj_telling){0};
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* A failure of a stream that was freed before someone was told. */
struct kj_untold {
    kj_untold *next;
    kjit_status status;
    uint64_t failure, run;
    kj_telling telling;
};

/* Where the first failure is that nobody was told, of a run's streams or (0) of no run's. */
typedef struct untold {
    uint64_t least;
    kjit_stream *stream; /* one of the two, or neither */
    kj_untold **left;
} untold;

/* Under the context's lock. */
static untold first_untold(kjit_context *ctx, uint64_t run)
{
    untold first = {.least = UINT64_MAX};
    for (kjit_stream *s = ctx->streams; s; s = s->next) {
        pthread_mutex_lock(&s->lock);
        if (s->status != KJIT_OK && s->run == run && s->failure < first.least)
            first = (untold){s->failure, s, NULL};
        pthread_mutex_unlock(&s->lock);
    }
    for (kj_untold **at = &ctx->untold; *at; at = &(*at)->next) {
        if ((*at)->run == run && (*at)->failure < first.least)
            first = (untold){(*at)->failure, NULL, at};
    }
    return first;
}

static kjit_status take_left(kj_untold **at, kj_telling *telling)
{
    kj_untold *u = *at;
    kjit_status status = u->status;
    *telling = u->telling;
    *at = u->next;
    free(u);
    return status;
}

void kj_untold_free(kjit_context *ctx)
{
    kj_telling telling;
    while (ctx->untold) {
        take_left(&ctx->untold, &telling);
        kj_telling_free(telling);
    }
}

kjit_status kj_stream_report(kjit_context *ctx, kjit_status status, kj_telling telling)
{
    const char *lost = ctx->ops->driver ? ctx->ops->driver->lost(ctx->dev) : NULL;
    if (status == KJIT_OK && lost)
        return kj_fail_lines(ctx, KJIT_LOST, lost);
    if (status != KJIT_OK)
        kj_fail_telling(ctx, status, telling);
    else
        kj_telling_free(telling);
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

static void unlink_stream(kjit_stream *s)
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

/* What nobody was told of it outlives it. Under the context's lock, after its work. */
static void leave_failure(kjit_stream *s)
{
    kjit_context *ctx = s->ctx;
    kj_untold *u = s->status != KJIT_OK && s->run != KJ_RUN_ENDED ? malloc(sizeof *u) : NULL;
    if (!u)
        return;
    *u = (kj_untold){ctx->untold, s->status, s->failure, s->run, s->telling};
    s->telling = (kj_telling){0};
    ctx->untold = u;
}

kjit_status kj_stream_end(kjit_stream *s, kj_failure *why)
{
    kj_failure other;
    kjit_context *ctx = s->ctx;
    abandon(s);
    ctx->ops->finish(s->queue); /* until here the legacy stream waits for its work */
    pthread_mutex_lock(&ctx->lock);
    unlink_stream(s);
    leave_failure(s);
    pthread_mutex_unlock(&ctx->lock);
    kjit_status status = ctx->ops->queue_free(s->queue, why);
    if (s->mark) {
        kjit_status end = ctx->ops->marks->free(s->mark, status == KJIT_OK ? why : &other);
        if (status == KJIT_OK)
            status = end;
    }
    pthread_mutex_destroy(&s->lock);
    kj_telling_free(s->telling);
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

static kjit_status deallocate(kj_pending *item, kj_failure *why)
{
    return kj_stream_end(KJ_WHOLE(kjit_stream, pending, item), why);
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
    atomic_init(&s->cancels, 0);
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
        kjit_status status = kj_stream_end(s, &why);
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
    kj_telling telling;
    status = take_failure(s, &telling);
    return kj_stream_report(s->ctx, status, telling);
}

kj_halt_word kj_stream_halt(const kjit_stream *stream, const kj_halt *halt)
{
    if (halt || !stream)
        return kj_halt_word_of(halt);
    return (kj_halt_word){(const uint32_t *)&stream->cancels, atomic_load(&stream->cancels)};
}

kjit_status kjit_stream_cancel(kjit_stream *s)
{
    kjit_status status = kj_enter_stream(s);
    if (status != KJIT_OK)
        return status;
    atomic_fetch_add(&s->cancels, KJ_HALT_STEP);
    kj_halt_all(s->ctx, s);
    return KJIT_OK;
}

kjit_status kjit_cancel(kjit_context *ctx)
{
    kjit_status status = kj_enter_context(ctx);
    if (status != KJIT_OK)
        return status;
    pthread_mutex_lock(&ctx->lock);
    for (kjit_stream *s = ctx->streams; s; s = s->next)
        atomic_fetch_add(&s->cancels, KJ_HALT_STEP);
    pthread_mutex_unlock(&ctx->lock);
    kj_halt_all(ctx, NULL);
    return KJIT_OK;
}

kjit_status kj_nothing_to_do(kjit_context *ctx, const kjit_stream *stream)
{
    if (!stream) {
        ctx->ops->wait(ctx->dev, NULL);
        kj_waited(ctx);
    }
    return KJIT_OK;
}

/* Waits for all work; the first failure that nobody was told of the run's streams, or (0) of no run's. */
static kjit_status wait_for_all(kjit_context *ctx, uint64_t run, kj_telling *telling)
{
    kjit_status status = KJIT_OK;
    *telling = (kj_telling){0};
    ctx->ops->wait(ctx->dev, NULL);
    kj_waited(ctx);
    pthread_mutex_lock(&ctx->lock);
    untold first = first_untold(ctx, run);
    if (first.stream)
        status = take_failure(first.stream, telling);
    else if (first.left)
        status = take_left(first.left, telling);
    pthread_mutex_unlock(&ctx->lock);
    return status;
}

kjit_status kjit_synchronize(kjit_context *ctx)
{
    kj_telling telling;
    kjit_status status = kj_enter_context(ctx);
    if (status != KJIT_OK)
        return status;
    status = wait_for_all(ctx, 0, &telling);
    if (status == KJIT_OK) {
        status = kj_pending_failure(ctx);
        if (status != KJIT_OK)
            return status;
    }
    return kj_stream_report(ctx, status, telling);
}

kjit_status kj_synchronize_run(kjit_context *ctx, uint64_t run)
{
    kj_telling telling;
    kjit_status status = wait_for_all(ctx, run, &telling);
    return kj_stream_report(ctx, status, telling);
}

void kj_stream_of_run(kjit_stream *s, uint64_t run)
{
    pthread_mutex_lock(&s->lock);
    s->run = run;
    pthread_mutex_unlock(&s->lock);
}

/* A default stream is everybody's again, without what failed since the run has begun. */
static void leave_run(kjit_stream *s, uint64_t begun)
{
    pthread_mutex_lock(&s->lock);
    s->run = kj_stream_is_default(s) ? 0 : KJ_RUN_ENDED;
    if (s->status != KJIT_OK && s->failure >= begun) {
        s->status = KJIT_OK;
        kj_telling_free(s->telling);
        s->telling = (kj_telling){0};
    }
    pthread_mutex_unlock(&s->lock);
}

void kj_run_ended(kjit_context *ctx, uint64_t run, uint64_t begun)
{
    kj_telling telling;
    pthread_mutex_lock(&ctx->lock);
    for (kjit_stream *s = ctx->streams; s; s = s->next)
        if (s->run == run)
            leave_run(s, begun);
    for (kj_untold **at = &ctx->untold; *at;) {
        if ((*at)->run != run) {
            at = &(*at)->next;
            continue;
        }
        take_left(at, &telling);
        kj_telling_free(telling);
    }
    pthread_mutex_unlock(&ctx->lock);
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

kjit_status kjit_stream_failure(kjit_stream *s)
{
    kjit_status status = kj_enter_stream(s);
    if (status != KJIT_OK)
        return status;
    kj_telling telling;
    status = take_failure(s, &telling);
    return kj_stream_report(s->ctx, status, telling);
}
