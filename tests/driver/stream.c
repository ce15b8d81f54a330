/* Queues of work: what waits for what. Work is carried out by worker.c. */
#include "double.h"
#include <stdarg.h>
#include <stdlib.h>

static uint64_t ops_made;

/* ---- Streams ---- */

drv_stream *stream_new(drv_context *context, unsigned flags, int priority)
{
    drv_stream *made = object_new(sizeof *made, KIND_STREAM, context);
    made->flags = flags;
    made->blocking = !(flags & CU_STREAM_NON_BLOCKING);
    made->priority = priority;
    return made;
}

drv_stream *stream_find(CUstream handle)
{
    if (!handle || handle == CU_STREAM_LEGACY)
        return context_current()->legacy;
    if (handle == CU_STREAM_PER_THREAD) {
        misuse(CUDA_ERROR_INVALID_HANDLE, "the stream of a thread is not modelled");
        return NULL;
    }
    return object_here(handle, KIND_STREAM);
}

bool stream_idle(const drv_stream *stream)
{
    return !stream->first;
}

/* ---- Work ---- */

void *op_new(size_t size, drv_stream *stream, const char *format, ...)
{
    drv_op *made = calloc(1, size);
    made->number = ++ops_made;
    made->stream = stream;
    made->refs = 1;
    va_list args;
    va_start(args, format);
    vsnprintf(made->what, sizeof made->what, format, args);
    va_end(args);
    return made;
}

drv_op *op_keep(drv_op *op)
{
    op->refs++;
    return op;
}

void op_drop(drv_op *op)
{
    if (!op || --op->refs)
        return;
    free(op->after);
    free(op);
}

void op_after(drv_op *op, drv_op *earlier)
{
    if (!earlier || earlier->done)
        return;
    op->after = realloc(op->after, (size_t)(op->nafter + 1) * sizeof(drv_op *));
    op->after[op->nafter++] = op_keep(earlier);
}

void op_uses(drv_op *op, drv_memory *memory)
{
    struct use *use = malloc(sizeof *use);
    *use = (struct use){.next = op->uses, .memory = memory};
    op->uses = use;
    memory->pending++;
}

/* The legacy stream's work waits for all that was queued in the streams that are not non-blocking,
 * and theirs for it. */
static void add_legacy_order(drv_op *op)
{
    const drv_stream *own = op->stream;
    const drv_context *context = own->object.context;
    if (own != context->legacy) {
        if (own->blocking)
            op_after(op, context->legacy->last);
        return;
    }
    for (drv_stream *s = worker_streams(); s; s = s->next) {
        if (s != own && s->blocking && s->object.context == context)
            op_after(op, s->last);
    }
}

void op_queue(drv_op *op)
{
    drv_stream *stream = op->stream;
    add_legacy_order(op);
    if (stream->last)
        stream->last->next = op;
    else
        stream->first = op;
    stream->last = op;
    worker_accept(op);
}

CUresult op_wait(drv_op *op)
{
    const drv_context *context = op->stream->object.context;
    op_keep(op);
    worker_hurry(op);
    while (!op->done)
        call_wait();
    op_drop(op);
    return context->error;
}

CUresult stream_wait(drv_stream *stream)
{
    return stream->last ? op_wait(stream->last) : stream->object.context->error;
}

CUresult context_wait(drv_context *context)
{
    for (drv_stream *s = worker_streams(); s;) {
        if (s->object.context == context && s->last) {
            op_wait(s->last);
            s = worker_streams(); /* the list may have changed meanwhile */
        } else {
            s = s->next;
        }
    }
    return context->error;
}
