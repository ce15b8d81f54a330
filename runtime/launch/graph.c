/* Graphs: launches and copies that were recorded from a stream, done again as a whole.
 *
 * A recorded launch is a prepared one, a recorded copy has its own views of both arrays. Where the
 * device can take every step as one piece of work of its own it does; else a launch of the graph
 * goes through the list. */
#include <stdlib.h>
#include <string.h>

#include "launch/launch.h"

typedef struct step {
    kj_prepared *launch;   /* or NULL, then it is a copy */
    kjit_array *dst, *src; /* views of the graph's own */
    kj_transfer transfer;  /* of a copy that the device can take in a graph */
    bool together;         /* the device can take the step in a graph */
} step;

struct kjit_graph {
    kj_handle handle;
    atomic_int refs;
    kjit_context *ctx; /* held */
    int n, room;
    step *steps;
    kj_graph *device; /* all of them as one; or NULL */
    kj_pending pending;
};

/* ---- Graphs and their steps ---- */

static void drop_step(step *s)
{
    if (s->launch)
        kj_prepared_drop(s->launch);
    kj_array_drop(s->dst);
    kj_array_drop(s->src);
}

static kjit_status deallocate(kj_pending *item, kj_failure *why)
{
    kjit_graph *g = KJ_WHOLE(kjit_graph, pending, item);
    (void)why; /* the device's graph is gone whatever it says */
    g->ctx->ops->graphs->free(g->ctx->dev, g->device);
    kj_handle_free(g);
    return KJIT_OK;
}

/* On any thread. What the steps hold goes now; what a driver has waits for a thread that may call
 * it. */
static void drop(kjit_graph *g)
{
    if (!g || atomic_fetch_sub_explicit(&g->refs, 1, memory_order_acq_rel) != 1)
        return;
    kjit_context *ctx = g->ctx;
    bool later = g->device && !ctx->ops->host_memory;
    if (g->device && !later)
        ctx->ops->graphs->free(ctx->dev, g->device);
    for (int i = 0; i < g->n; i++)
        drop_step(&g->steps[i]);
    free(g->steps);
    if (later) {
        g->pending.deallocate = deallocate;
        kj_pending_add(ctx, KJ_PENDING_RESOURCES, &g->pending);
        return;
    }
    kj_handle_free(g);
    kj_context_drop(ctx);
}

/* Room for one step more? */
static bool grow(kjit_graph *g)
{
    if (g->n < g->room)
        return true;
    int room = g->room ? 2 * g->room : 16;
    step *longer = realloc(g->steps, (size_t)room * sizeof *longer);
    if (!longer)
        return false;
    g->steps = longer;
    g->room = room;
    return true;
}

/* Adds a step to what a stream records, and takes it over, also when it fails. */
static kjit_status record(kjit_stream *stream, step *s)
{
    pthread_mutex_lock(&stream->lock);
    kjit_graph *g = atomic_load_explicit(&stream->recording, memory_order_relaxed);
    bool added = g && grow(g);
    if (added)
        g->steps[g->n++] = *s;
    pthread_mutex_unlock(&stream->lock);
    if (added)
        return KJIT_OK;
    drop_step(s);
    return g ? kj_no_memory(stream->ctx)
             : kj_fail(stream->ctx, KJIT_INVALID, "the recording of the stream's graph has ended");
}

kjit_status kj_graph_record_launch(kj_prepared *p, kjit_stream *stream)
{
    step s = {.launch = p, .together = p->dispatch || p->grid[0] == 0};
    if (p->timeout_ms > 0)
        return kj_fail(stream->ctx, KJIT_INVALID,
                       "config.timeout_ms is %g: a graph's launches have no timeout of their own",
                       p->timeout_ms);
    kj_prepared_hold(p);
    return record(stream, &s);
}

kjit_status kj_graph_record_bound(kj_binding *b, kjit_stream *stream)
{
    kj_prepared *p;
    kjit_status status = kj_prepared_new(b, &p);
    if (status != KJIT_OK)
        return status;
    status = kj_graph_record_launch(p, stream);
    kj_prepared_drop(p);
    return status;
}

static kjit_status view(kjit_array *a, kjit_array **out)
{
    kjit_status status = kj_array_view(a, a->data, a->dtype, a->ndim, a->shape, a->strides, out);
    if (status == KJIT_OK)
        kj_handle_hide(*out);
    return status;
}

static kjit_status record_copy(kjit_array *dst, kjit_array *src, const kj_transfer *simple,
                               kjit_stream *stream)
{
    step s = {.together = simple != NULL};
    if (simple)
        s.transfer = *simple;
    kjit_status status = view(dst, &s.dst);
    if (status == KJIT_OK)
        status = view(src, &s.src);
    if (status == KJIT_OK)
        return record(stream, &s);
    drop_step(&s);
    return status;
}

/* ---- Recording ---- */

/* Ends a stream's recording; returns what was recorded, or NULL. */
static kjit_graph *take(kjit_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    kjit_graph *g = atomic_exchange(&stream->recording, NULL);
    pthread_mutex_unlock(&stream->lock);
    return g;
}

static void abandon(kjit_stream *stream)
{
    drop(take(stream));
}

static const kj_recorder recorder = {record_copy, abandon};

kjit_status kjit_graph_begin(kjit_stream *stream)
{
    kjit_status status = kj_enter_stream(stream);
    if (status != KJIT_OK)
        return status;
    kjit_graph *g = kj_handle_new(KJ_GRAPH, sizeof *g), *none = NULL;
    if (!g)
        return kj_no_memory(stream->ctx);
    kj_handle_close(g); /* until it has been recorded */
    atomic_init(&g->refs, 1);
    g->ctx = stream->ctx;
    kj_context_hold(g->ctx);
    atomic_store(&stream->recorder, &recorder);
    if (atomic_compare_exchange_strong(&stream->recording, &none, g))
        return KJIT_OK; /* from here on another thread may end it, and free it */
    kj_handle_free(g);
    kj_context_drop(stream->ctx); /* the stream holds it, too */
    return kj_fail(stream->ctx, KJIT_INVALID, "the stream records a graph already");
}

/* Is there something to do? An empty launch is none. */
static bool takes_part(const step *s)
{
    return !s->launch || s->launch->dispatch;
}

/* Asks the device to take all steps as one. That it cannot is no failure: there is the list. */
static void unite(kjit_graph *g)
{
    kjit_context *ctx = g->ctx;
    int n = 0;
    kj_failure why;
    kj_graph_step *steps = g->n > 0 ? malloc((size_t)g->n * sizeof *steps) : NULL;
    bool together = steps;
    for (int i = 0; together && i < g->n; i++) {
        const step *s = &g->steps[i];
        together = s->together;
        if (together && takes_part(s))
            steps[n++] = s->launch ? (kj_graph_step){.launch = &s->launch->dispatch->call}
                                   : (kj_graph_step){.copy = &s->transfer};
    }
    if (together && n > 0 && ctx->ops->graphs &&
        ctx->ops->graphs->create(ctx->dev, steps, n, &g->device, &why) != KJIT_OK)
        g->device = NULL;
    free(steps);
}

kjit_status kjit_graph_end(kjit_stream *stream, kjit_graph **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_stream(stream), stream->ctx);
    if (status != KJIT_OK)
        return status;
    kjit_graph *g = take(stream);
    if (!g)
        return kj_fail(stream->ctx, KJIT_INVALID, "the stream records no graph");
    unite(g);
    kj_handle_open(g);
    *out = g;
    return KJIT_OK;
}

/* ---- Launching ---- */

/* A launch of a graph that the device has as one, in a stream. */
typedef struct graph_work {
    kj_work work;
    kjit_graph *graph;
    kj_halt *halt; /* or NULL */
    kjit_stream *stream;
} graph_work;

/* The device's step of that number, which is a launch. */
static const kj_dispatch *dispatch_at(const kjit_graph *g, int number)
{
    const step *s = g->steps;
    while (!takes_part(s) || number-- > 0)
        s++;
    return s->launch->dispatch;
}

static void graph_done(kj_work *work, kjit_status status, const kj_host_fault *fault)
{
    graph_work *w = (graph_work *)work;
    kj_trace_end(work->times, status);
    if (status == KJIT_FAULT) {
        const kj_dispatch *p = dispatch_at(w->graph, work->step);
        kj_stream_failed(
            w->stream, kj_fault_status(fault),
            kj_launch_fault_told(p->mod, p->variant, &p->call, kj_halt_word_of(w->halt), fault));
    } else {
        kj_stream_ended(w->stream, work, status);
    }
    kj_halt_drop(w->halt);
    drop(w->graph);
    free(w);
}

static kjit_status launch_united(kjit_graph *g, kjit_stream *stream)
{
    kjit_context *ctx = g->ctx;
    kj_failure why;
    kjit_status status = kj_stream_begin(stream);
    if (status != KJIT_OK)
        return status;
    graph_work *w = stream ? malloc(sizeof *w) : NULL;
    if (stream && !w)
        return kj_no_memory(ctx);
    if (w) {
        *w = (graph_work){.work.done = graph_done, .graph = g, .stream = stream};
        status = kj_halt_new(ctx, stream, 0, &w->halt);
        if (status != KJIT_OK) {
            free(w);
            return status;
        }
        w->work.halt = kj_stream_halt(stream, w->halt);
        atomic_fetch_add_explicit(&g->refs, 1, memory_order_relaxed);
    }
    kj_times *times = kj_trace_whole(ctx, KJIT_TRACE_GRAPH, "graph", stream);
    if (w)
        w->work.times = times;
    status = ctx->ops->graphs->launch(ctx->dev, kj_queue_of(stream), g->device, w ? &w->work : NULL,
                                      &why);
    if (status != KJIT_OK && w) {
        kj_halt_drop(w->halt);
        drop(w->graph);
        free(w);
    }
    return kj_stream_submitted(ctx, stream, times, status, &why);
}

static kjit_status launch_step(const step *s, kjit_stream *stream)
{
    return s->launch ? kj_prepared_launch(s->launch, stream) : kjit_copy(s->dst, s->src, stream);
}

/* A graph launched in a stream that records another becomes a part of that. */
static kjit_status record_step(const step *s, kjit_stream *stream)
{
    return s->launch ? kj_graph_record_launch(s->launch, stream)
                     : record_copy(s->dst, s->src, s->together ? &s->transfer : NULL, stream);
}

/* One after the other. A kernel whose assert fails ends itself, not what comes after it: as in a
 * stream, where nobody has asked yet. Who cancels one means the launches behind it too, and no copies. */
static kjit_status launch_each(kjit_graph *graph,
                               kjit_status (*launch)(const step *, kjit_stream *),
                               kjit_stream *stream)
{
    kjit_status first = KJIT_OK;
    kj_telling telling = {0};
    bool cancelled = false;
    if (graph->n == 0)
        return kj_nothing_to_do(graph->ctx, stream);
    for (int i = 0; i < graph->n; i++) {
        if (cancelled && graph->steps[i].launch)
            continue;
        kjit_status status = launch(&graph->steps[i], stream);
        cancelled |= status == KJIT_CANCELLED;
        if (status != KJIT_OK && first == KJIT_OK) {
            first = status;
            telling = kj_failed_telling(graph->ctx);
        }
        if (status != KJIT_OK && !kj_is_fault(status))
            break;
    }
    if (first != KJIT_OK)
        kj_fail_telling(graph->ctx, first, telling);
    return first;
}

static kjit_status enter_graph(const kjit_graph *g)
{
    return kj_lives(g, KJ_GRAPH) ? kj_enter(g->ctx) : kj_no_handle(g, KJ_GRAPH);
}

kjit_status kjit_graph_launch(kjit_graph *graph, kjit_stream *stream)
{
    kjit_status status = enter_graph(graph);
    if (status == KJIT_OK)
        status = kj_check_stream(graph->ctx, stream);
    if (status != KJIT_OK)
        return status;
    kjit_context *ctx = graph->ctx;
    bool records = kj_stream_records(stream);
    bool timed = atomic_load_explicit(&ctx->timing, memory_order_acquire);
    bool united = graph->device && (stream || !ctx->ops->host_memory);
    if (united && !records && !timed)
        return launch_united(graph, stream);
    return launch_each(graph, records ? record_step : launch_step, stream);
}

void kjit_graph_free(kjit_graph *graph)
{
    if (!kj_can_free(graph, KJ_GRAPH) || kj_forked(graph->ctx) || !kj_handle_close(graph))
        return;
    kjit_context *ctx = graph->ctx;
    kj_context_hold(ctx);
    drop(graph);
    kj_freed(ctx);
}
