/* Captures of streams, and the graphs that are made of them. A graph is carried out by one piece of
 * work, its parts one behind the other: nothing but one stream's work is captured. */
#include "double.h"
#include <stdlib.h>

/* What was captured; a graph and those that were made of it share it. */
typedef struct drv_nodes {
    int refs, count;
    drv_op **ops;
} drv_nodes;

typedef struct drv_capture {
    struct drv_capture *next; /* of those under way */
    drv_stream *stream;
    CUstreamCaptureMode mode;
    const drv_thread *thread;
    bool spoilt;
    drv_nodes *nodes;
} drv_capture;

typedef struct drv_graph {
    drv_object object;
    drv_nodes *nodes;
} drv_graph;

typedef struct drv_exec {
    drv_object object;
    drv_nodes *nodes;
    drv_op *last; /* its last launch */
} drv_exec;

typedef struct drv_graph_op {
    drv_op op;
    drv_nodes *nodes;
} drv_graph_op;

static drv_capture *captures;

static void nodes_drop(drv_nodes *nodes)
{
    if (--nodes->refs)
        return;
    for (int i = 0; i < nodes->count; i++) {
        op_uses_end(nodes->ops[i]);
        op_drop(nodes->ops[i]);
    }
    free(nodes->ops);
    free(nodes);
}

/* ---- Captures ---- */

void capture_add(drv_op *op)
{
    drv_capture *capture = op->stream->capture;
    drv_nodes *nodes = capture->nodes;
    if (!op->replays)
        capture_refuses(op->stream, op->what);
    nodes->ops = realloc(nodes->ops, (size_t)(nodes->count + 1) * sizeof *nodes->ops);
    nodes->ops[nodes->count++] = op;
}

bool capture_refuses(drv_stream *stream, const char *what)
{
    if (!stream->capture)
        return false;
    stream->capture->spoilt = true;
    misuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "stream %p is captured, which can have no %s",
           object_handle(stream), what);
    return true;
}

bool capture_is_implied(const drv_context *context)
{
    bool found = false;
    for (drv_capture *c = captures; c; c = c->next) {
        if (!c->stream->blocking || c->stream->object.context != context)
            continue;
        found = c->spoilt = true;
        misuse(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
               "the legacy stream waits for stream %p, which is captured",
               object_handle(c->stream));
    }
    return found;
}

/* By the mode of the capture, and of the thread that calls: its own captures forbid, and others'
 * that are for all, unless it looks at its own alone or at none. */
static bool forbids(const drv_capture *c)
{
    const drv_thread *self = thread_self();
    if (c->mode == CU_STREAM_CAPTURE_MODE_RELAXED || self->mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    return c->thread == self || (c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                                 self->mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
}

bool capture_forbids(void)
{
    bool found = false;
    for (drv_capture *c = captures; c; c = c->next) {
        if (!forbids(c))
            continue;
        found = c->spoilt = true;
        misuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "stream %p is captured in mode %d",
               object_handle(c->stream), (int)c->mode);
    }
    return found;
}

bool capture_is_waited_for(const drv_context *context)
{
    bool found = false;
    for (drv_capture *c = captures; c; c = c->next) {
        if (c->stream->object.context == context)
            found |= capture_refuses(c->stream, "wait for its context");
    }
    return found;
}

CUresult do_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    drv_thread *self = thread_self();
    if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no mode");
    CUstreamCaptureMode before = self->mode;
    self->mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

CUresult do_cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode)
{
    drv_stream *stream = stream_find(handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return misuse(CUDA_ERROR_INVALID_VALUE, "mode %d", (int)mode);
    if (stream == stream->object.context->legacy || stream->capture)
        return misuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                      "the legacy stream, or one that is captured already");
    drv_capture *made = calloc(1, sizeof *made);
    *made =
        (drv_capture){.next = captures, .stream = stream, .mode = mode, .thread = thread_self()};
    made->nodes = calloc(1, sizeof *made->nodes);
    made->nodes->refs = 1;
    captures = made;
    stream->capture = made;
    return CUDA_SUCCESS;
}

/* What it has, with its reference; NULL where it is spoilt. */
static drv_nodes *end_capture(drv_stream *stream)
{
    drv_capture *capture = stream->capture;
    drv_nodes *nodes = capture->nodes;
    for (drv_capture **at = &captures; *at; at = &(*at)->next) {
        if (*at == capture) {
            *at = capture->next;
            break;
        }
    }
    if (capture->spoilt) {
        nodes_drop(nodes);
        nodes = NULL;
    }
    stream->capture = NULL;
    free(capture);
    return nodes;
}

void capture_drop(drv_stream *stream)
{
    if (!stream->capture)
        return;
    misuse(CUDA_ERROR_INVALID_HANDLE, "stream %p ends while it is captured", object_handle(stream));
    stream->capture->spoilt = true;
    end_capture(stream);
}

CUresult do_cuStreamEndCapture(CUstream handle, CUgraph *out)
{
    drv_stream *stream = stream_find(handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    const drv_capture *capture = stream->capture;
    if (!out || !capture)
        return misuse(CUDA_ERROR_ILLEGAL_STATE,
                      "no place for the graph, or a stream that is not captured");
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != thread_self())
        return misuse(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "begun by thread T%d",
                      capture->thread->number);
    drv_nodes *nodes = end_capture(stream);
    *out = NULL;
    if (!nodes)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    drv_graph *made = object_new(sizeof *made, KIND_GRAPH, context_current());
    made->nodes = nodes;
    *out = object_handle(made);
    return CUDA_SUCCESS;
}

/* Whether legacy work would wait for what is captured, which that survives. */
static bool is_implied(const drv_context *context)
{
    const drv_capture *c = captures;
    while (c && !(c->stream->blocking && c->stream->object.context == context))
        c = c->next;
    return c;
}

CUresult do_cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status)
{
    bool legacy = !handle || handle == CU_STREAM_LEGACY;
    if (legacy && is_implied(context_current()))
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    const drv_stream *stream = stream_find(handle);
    if (!stream || !status)
        return CUDA_ERROR_INVALID_VALUE;
    *status = !stream->capture          ? CU_STREAM_CAPTURE_STATUS_NONE
              : stream->capture->spoilt ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                        : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return CUDA_SUCCESS;
}

/* ---- Graphs ---- */

CUresult do_cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph handle, unsigned long long flags)
{
    const drv_graph *graph = object_find(handle, KIND_GRAPH);
    if (!graph)
        return CUDA_ERROR_INVALID_VALUE;
    if (!out || flags)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for it, or flags %#llx", flags);
    drv_exec *made = object_new(sizeof *made, KIND_EXEC, graph->object.context);
    made->nodes = graph->nodes;
    made->nodes->refs++;
    *out = object_handle(made);
    return CUDA_SUCCESS;
}

/* How many there are: they are not to be had one by one. */
CUresult do_cuGraphGetNodes(CUgraph handle, CUgraphNode *nodes, size_t *count)
{
    const drv_graph *graph = object_find(handle, KIND_GRAPH);
    if (!graph)
        return CUDA_ERROR_INVALID_VALUE;
    if (nodes || !count)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the count, or one for the nodes");
    *count = (size_t)graph->nodes->count;
    return CUDA_SUCCESS;
}

CUresult do_cuGraphDestroy(CUgraph handle)
{
    drv_graph *graph = object_find(handle, KIND_GRAPH);
    if (!graph)
        return CUDA_ERROR_INVALID_VALUE;
    nodes_drop(graph->nodes);
    object_end(&graph->object);
    return CUDA_SUCCESS;
}

/* A launch that runs has its own. */
CUresult do_cuGraphExecDestroy(CUgraphExec handle)
{
    drv_exec *exec = object_find(handle, KIND_EXEC);
    if (!exec)
        return CUDA_ERROR_INVALID_VALUE;
    op_drop(exec->last);
    exec->last = NULL;
    nodes_drop(exec->nodes);
    object_end(&exec->object);
    return CUDA_SUCCESS;
}

static CUresult run_graph(drv_op *op)
{
    const drv_nodes *nodes = ((drv_graph_op *)op)->nodes;
    CUresult status = CUDA_SUCCESS;
    for (int i = 0; i < nodes->count && !status; i++) {
        call_lock();
        log_line("run %llu node %d %s", (unsigned long long)op->number, i, nodes->ops[i]->what);
        call_unlock();
        status = nodes->ops[i]->run(nodes->ops[i]);
    }
    return status;
}

static void finish_graph(drv_op *op, CUresult status)
{
    drv_nodes *nodes = ((drv_graph_op *)op)->nodes;
    for (int i = 0; i < nodes->count; i++) {
        if (nodes->ops[i]->finish)
            nodes->ops[i]->finish(nodes->ops[i], status);
    }
    nodes_drop(nodes);
}

/* Uses all that the parts use; NULL after telling what of it is gone. */
static drv_graph_op *new_launch(drv_stream *stream, drv_nodes *nodes)
{
    drv_graph_op *made = op_new(sizeof *made, stream, "graph of %d", nodes->count);
    made->nodes = nodes;
    for (int i = 0; i < nodes->count; i++) {
        for (const struct use *use = nodes->ops[i]->uses; use; use = use->next) {
            if (use->memory ? !use->memory->freed : !((drv_object *)use->module)->dead) {
                use->memory ? op_uses(&made->op, use->memory)
                            : op_uses_module(&made->op, use->module);
                continue;
            }
            misuse(CUDA_ERROR_INVALID_VALUE, "part %d of the graph, %s: what it uses was ended", i,
                   nodes->ops[i]->what);
            op_uses_end(&made->op);
            op_drop(&made->op);
            return NULL;
        }
    }
    nodes->refs++;
    return made;
}

CUresult do_cuGraphLaunch(CUgraphExec handle, CUstream in)
{
    drv_exec *exec = object_find(handle, KIND_EXEC);
    drv_stream *stream = stream_find(in);
    if (!exec || !stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (capture_refuses(stream, "graph"))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    drv_graph_op *op = new_launch(stream, exec->nodes);
    if (!op)
        return CUDA_ERROR_INVALID_VALUE;
    op->op.run = run_graph;
    op->op.finish = finish_graph;
    op_after(&op->op, exec->last); /* launches of one graph never run at once */
    op_drop(exec->last);
    exec->last = op_keep(&op->op);
    op_queue(&op->op);
    return CUDA_SUCCESS;
}
