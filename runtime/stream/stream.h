/* Streams, events and traces. */
#ifndef KJ_STREAM_H
#define KJ_STREAM_H

#include "core/core.h"

/* ---- Streams (stream.c, default_stream.c, event.c) ---- */

/* What its next launch looks at, whose halt may be NULL. */
kj_halt_word kj_stream_halt(const kjit_stream *stream, const kj_halt *halt);
kjit_status kj_not_its_stream(kjit_context *ctx, const kjit_stream *s);

/* The report of a launch in a stream, on its way back; of its list, under the stream's lock. */
typedef struct kj_returning {
    struct kj_returning *next, *prev;
    const kj_report *report;
} kj_returning;

/* Who makes a graph of what is put into a stream (launch/graph.c). */
typedef struct kj_recorder {
    /* In place of doing it. The copy's arguments are checked; `simple` is its transfer where it is one
     * that needs nothing else, else NULL. */
    kjit_status (*copy)(kjit_array *dst, kjit_array *src, const kj_transfer *simple,
                        kjit_stream *stream);
    void (*abandon)(kjit_stream *stream); /* the stream is freed */
} kj_recorder;

/* Those of kinds KJ_QUEUE_LEGACY and KJ_QUEUE_THREAD are the context's: they don't hold it, and end
 * with kjit_context_destroy. */
struct kjit_stream {
    kj_handle handle;
    kj_pending pending;
    atomic_int refs; /* the handle's, and those of memory that it orders */
    kjit_context *ctx;
    kj_queue *queue;
    kj_queue_kind kind;
    int number;               /* from 1, in the order in which a context's streams are made */
    kjit_stream *next, *prev; /* of the context */
    pthread_mutex_t lock;
    kjit_status status; /* the first failure of its work, until someone synchronises */
    uint64_t failure;   /* its number among those of the context's streams */
    kj_telling telling;
    uint64_t run; /* the run block that uses it and is told of its failures, or 0; under its lock */
    _Atomic(kjit_graph *) recording;       /* what it records, under its lock; or NULL */
    _Atomic(const kj_recorder *) recorder; /* who does that; NULL: it never did */
    _Atomic uint32_t
        cancels; /* times KJ_HALT_STEP: the halt of its launches in a context that is not cancellable */
    kj_returning *returning;   /* reports of its launches, on their way back from the device */
    pthread_t thread;          /* of KJ_QUEUE_THREAD: the one that may put work into it */
    bool left;                 /* that thread has ended; under the context's lock */
    kj_mark *mark;             /* for the legacy stream to wait for; under its lock; or NULL */
    atomic_bool fresh;         /* there is work that the legacy stream was not told to wait for */
    _Atomic uint64_t followed; /* of kj_legacy.issued: what later work waits for */
};

struct kjit_event {
    kj_handle handle;
    kj_pending pending;
    kjit_context *ctx;
    kj_mark *mark;
    bool timing;
};

static inline kjit_status kj_enter_stream(const kjit_stream *s)
{
    return kj_lives(s, KJ_STREAM) ? kj_enter(s->ctx) : kj_no_handle(s, KJ_STREAM);
}
static inline kjit_status kj_enter_event(const kjit_event *e)
{
    return kj_lives(e, KJ_EVENT) ? kj_enter(e->ctx) : kj_no_handle(e, KJ_EVENT);
}
/* Can the context's work be put into the stream, which may be NULL? */
static inline kjit_status kj_check_stream(kjit_context *ctx, const kjit_stream *s)
{
    return !s || (kj_lives(s, KJ_STREAM) && s->ctx == ctx) ? KJIT_OK : kj_not_its_stream(ctx, s);
}
kj_queue *kj_queue_of(kjit_stream *stream); /* NULL for NULL */
kjit_status kj_stream_new(kjit_context *ctx, kj_queue_kind kind, void *handle, kjit_stream **out);
/* After what kjit put into it; until then the legacy stream waits for that. */
kjit_status kj_stream_end(kjit_stream *stream, kj_failure *why);
bool kj_stream_is_default(const kjit_stream *stream); /* it is the context's */
/* A call that has nothing to do. Without a stream it still comes after all that is queued. */
kjit_status kj_nothing_to_do(kjit_context *ctx, const kjit_stream *stream);
/* Gives a stream's failure, if it is one, to the calling thread, else that the device was lost;
 * takes what is told of it. */
kjit_status kj_stream_report(kjit_context *ctx, kjit_status status, kj_telling telling);
static inline bool kj_stream_records(const kjit_stream *stream) /* a graph */
{
    return stream && atomic_load_explicit(&stream->recording, memory_order_acquire);
}
void kj_stream_hold(kjit_stream *stream);
void kj_stream_drop(kjit_stream *stream); /* on any thread */
/* Around what is put into a stream, NULL included. The first comes before, and may fail. The second
 * says whether the device took it: the stream then has it, or without one the call has waited; else
 * the sentence is the context's. Its trace (NULL: it has none) ends, but for queued work's. */
kjit_status kj_stream_begin(kjit_stream *stream);
kjit_status kj_stream_submitted(kjit_context *ctx, kjit_stream *stream, kj_times *times,
                                kjit_status status, const kj_failure *why);
void kj_stream_issued(kjit_stream *stream); /* there is work in it, which nothing else says */
/* A failure while other code captures the stream into a graph of its own. */
kjit_status kj_stream_usable(kjit_stream *stream);
void kj_default_streams_free(kjit_context *ctx);
/* A run block (by number, from 1) uses the stream until the run ends: it is told of the failures of its
 * streams, also of those that were freed, and nobody else is. */
#define KJ_RUN_ENDED UINT64_MAX
void kj_stream_of_run(kjit_stream *stream, uint64_t run);
kjit_status kj_synchronize_run(kjit_context *ctx, uint64_t run);
/* After its work. begun: how many failures of streams there were before. */
void kj_run_ended(kjit_context *ctx, uint64_t run, uint64_t begun);
void kj_untold_free(kjit_context *ctx);
/* Keeps the work's first failure; takes what is told of it. */
void kj_stream_failed(kjit_stream *stream, kjit_status status, kj_telling telling);
/* A piece of its work has ended, not by KJIT_FAULT: keeps why it failed, if it did. */
void kj_stream_ended(kjit_stream *stream, const kj_work *work, kjit_status status);

/* KJIT_INVALID when the stream, which may be NULL, records a graph: what is asked of it is no part of
 * one. */
kjit_status kj_graph_refuse(const kjit_stream *stream);
/* A report sets out, and has come back. */
void kj_stream_report_goes(kjit_stream *stream, kj_returning *r);
void kj_stream_report_comes(kjit_stream *stream, kj_returning *r);

/* ---- Traces (trace.c) ---- */

bool kj_tracing(const kjit_context *ctx);
/* A launch, copy, callback or graph on its way, or nothing (NULL) while nobody traces. kj_trace_end
 * takes it when it has ended, or was not queued; with a stream its times are the device's to fill
 * in. */
kj_times *kj_trace_launch(kjit_context *ctx, const char *name, const kj_kernel_info *kernel,
                          const kj_host_launch *values, const kjit_stream *stream);
kj_times *kj_trace_copy(kjit_context *ctx, const kj_transfer *transfer, const kjit_stream *stream);
kj_times *kj_trace_whole(kjit_context *ctx, kjit_trace_kind kind, const char *name,
                         const kjit_stream *stream); /* of which there is no more to say */
void kj_trace_end(kj_times *times, kjit_status status);
/* Code was compiled, or loaded from the cache, from begin_ms until now. */
void kj_trace_compiled(kjit_context *ctx, bool loaded, const char *name, double begin_ms);

#endif
