/* Functions of the program that are called in a stream's order. */
#include <stdlib.h>

#include "stream/stream.h"

typedef struct callback {
    kj_work work;
    kjit_stream *stream;
    kjit_stream_fn *fn;
    void *user;
    atomic_bool called;
} callback;

static void call(callback *c, kjit_status status)
{
    atomic_store(&c->called, true);
    kj_calling calling;
    kj_calling_begin(&calling, c->stream->ctx);
    c->fn(c->stream, status, c->user);
    kj_calling_end(&calling);
}

/* What a report says of a launch that the stream has passed, but which has not ended. Under the stream's
 * lock. */
static kjit_status report_failed(const kjit_stream *stream)
{
    const kj_returning *r = stream->returning;
    while (r && !kj_has_failed(&r->report->fault))
        r = r->next;
    return r ? kj_fault_status(&r->report->fault) : KJIT_OK;
}

/* In the stream: with what its work before this came to. */
static void run_callback(kj_work *work)
{
    callback *c = (callback *)work;
    pthread_mutex_lock(&c->stream->lock);
    kjit_status status = c->stream->status;
    if (status == KJIT_OK)
        status = report_failed(c->stream);
    pthread_mutex_unlock(&c->stream->lock);
    call(c, status);
}

static void callback_done(kj_work *work, kjit_status status, const kj_host_fault *fault)
{
    (void)fault;
    callback *c = (callback *)work;
    if (!atomic_load(&c->called))
        call(c, status);
    kj_stream_ended(c->stream, work, status);
    kj_trace_end(work->times, status);
    free(c);
}

kjit_status kjit_stream_callback(kjit_stream *s, kjit_stream_fn *fn, void *user)
{
    kjit_status status = kj_enter_stream(s);
    if (status != KJIT_OK)
        return status;
    if (!fn)
        return kj_fail(s->ctx, KJIT_INVALID, "the function is NULL");
    status = kj_graph_refuse(s);
    if (status == KJIT_OK)
        status = kj_stream_begin(s);
    if (status != KJIT_OK)
        return status;
    callback *c = calloc(1, sizeof *c);
    if (!c)
        return kj_no_memory(s->ctx);
    *c = (callback){.work.done = callback_done, .stream = s, .fn = fn, .user = user};
    kj_times *times = kj_trace_whole(s->ctx, KJIT_TRACE_CALLBACK, "callback", s);
    c->work.times = times;
    kj_failure why;
    status = s->ctx->ops->call(s->ctx->dev, s->queue, run_callback, &c->work, &why);
    if (status != KJIT_OK)
        free(c);
    return kj_stream_submitted(s->ctx, s, times, status, &why);
}
