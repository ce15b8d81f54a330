/* Events: marks in streams, that others wait for and that times are measured between. */
#include "stream/stream.h"

static kjit_status deallocate(kj_pending *item, kj_failure *why)
{
    kjit_event *e = KJ_WHOLE(kjit_event, pending, item);
    kjit_status status = e->ctx->ops->marks->free(e->mark, why);
    kj_handle_free(e);
    return status;
}

kjit_status kjit_event_create(kjit_context *ctx, int timing, kjit_event **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_context(ctx), ctx);
    if (status != KJIT_OK)
        return status;
    kjit_event *e = kj_handle_new(KJ_EVENT, sizeof *e);
    if (!e)
        return kj_no_memory(ctx);
    kj_failure why;
    status = ctx->ops->marks->create(ctx->dev, timing != 0, &e->mark, &why);
    if (status != KJIT_OK) {
        kj_handle_free(e);
        return kj_fail_why(ctx, status, &why);
    }
    e->ctx = ctx;
    e->timing = timing != 0;
    e->pending.deallocate = deallocate;
    kj_context_hold(ctx);
    *out = e;
    return KJIT_OK;
}

void kjit_event_free(kjit_event *e)
{
    if (!kj_can_free(e, KJ_EVENT) || kj_forked(e->ctx) || !kj_handle_close(e))
        return;
    kjit_context *ctx = e->ctx;
    kj_context_hold(ctx);
    kj_pending_add(ctx, KJ_PENDING_RESOURCES, &e->pending);
    kj_freed(ctx);
}

/* What recording and waiting ask of their arguments; the stream may be NULL. */
static kjit_status enter_event(kjit_event *e, const kjit_stream *s)
{
    kjit_status status = kj_enter_event(e);
    if (status == KJIT_OK)
        status = kj_check_stream(e->ctx, s);
    return status == KJIT_OK ? kj_graph_refuse(s) : status;
}

static kjit_status begin(kjit_event *e, kjit_stream *s)
{
    kjit_status status = enter_event(e, s);
    return status == KJIT_OK ? kj_stream_begin(s) : status;
}

kjit_status kjit_event_record(kjit_event *e, kjit_stream *s)
{
    kj_failure why;
    kjit_status status = begin(e, s);
    if (status != KJIT_OK)
        return status;
    status = e->ctx->ops->marks->record(e->ctx->dev, e->mark, kj_queue_of(s), &why);
    return kj_stream_submitted(e->ctx, s, NULL, status, &why);
}

/* A sentence of what does not go together is for the context of the call's first handle. */
static kjit_status begin_wait(kjit_stream *s, kjit_event *e)
{
    if (s && kj_lives(s, KJ_STREAM) && kj_lives(e, KJ_EVENT) && s->ctx != e->ctx) {
        kjit_status status = kj_enter_stream(s);
        return status == KJIT_OK
                   ? kj_fail(s->ctx, KJIT_INVALID, "the event belongs to another context")
                   : status;
    }
    return begin(e, s);
}

kjit_status kjit_stream_wait(kjit_stream *s, kjit_event *e)
{
    kj_failure why;
    kjit_status status = begin_wait(s, e);
    if (status != KJIT_OK)
        return status;
    status = e->ctx->ops->marks->join(e->ctx->dev, e->mark, kj_queue_of(s), &why);
    return kj_stream_submitted(e->ctx, s, NULL, status, &why);
}

kjit_status kjit_event_synchronize(kjit_event *e)
{
    kjit_status status = enter_event(e, NULL);
    if (status != KJIT_OK)
        return status;
    e->ctx->ops->marks->wait(e->mark);
    kj_waited(e->ctx);
    return kj_stream_report(e->ctx, KJIT_OK, (kj_telling){0});
}

kjit_status kjit_event_query(kjit_event *e, int *done)
{
    kjit_status status = enter_event(e, NULL);
    if (status != KJIT_OK)
        return status;
    if (!done)
        return kj_fail(e->ctx, KJIT_INVALID, "done is NULL");
    *done = e->ctx->ops->marks->reached(e->mark);
    return kj_stream_report(e->ctx, KJIT_OK, (kj_telling){0});
}

kjit_status kjit_event_elapsed(kjit_event *from, kjit_event *to, double *ms)
{
    kjit_status status = kj_enter_event(from);
    if (status == KJIT_OK)
        status = kj_enter_event(to);
    if (status != KJIT_OK)
        return status;
    if (from->ctx != to->ctx)
        return kj_fail(from->ctx, KJIT_INVALID, "the events belong to different contexts");
    if (!ms)
        return kj_fail(from->ctx, KJIT_INVALID, "ms is NULL");
    if (!from->timing || !to->timing)
        return kj_fail(from->ctx, KJIT_INVALID,
                       "%s was made without timing: kjit_event_create(ctx, 1, ...) makes an event "
                       "with it",
                       from->timing ? "the second event" : "the first event");
    if (from->ctx->ops->marks->elapsed(from->mark, to->mark, ms))
        return KJIT_OK;
    status = kj_stream_report(from->ctx, KJIT_OK, (kj_telling){0});
    if (status != KJIT_OK)
        return status;
    return kj_fail(from->ctx, KJIT_INVALID,
                   "an event was not recorded, or has not been reached yet");
}
