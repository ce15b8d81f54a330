/* Streams, events, and functions of the host in a stream. */
#include "double.h"

typedef struct drv_event {
    drv_object object;
    unsigned flags;
    drv_op *op; /* the last record; NULL: none yet */
} drv_event;

/* ---- Streams ---- */

static CUresult create(CUstream *out, unsigned flags, int priority)
{
    if (!out || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING))
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the stream, or flags %#x", flags);
    *out = object_handle(stream_new(context_current(), flags, priority));
    return CUDA_SUCCESS;
}

CUresult do_cuStreamCreate(CUstream *out, unsigned flags)
{
    return create(out, flags, 0);
}

CUresult do_cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority)
{
    return create(out, flags, priority < -5 ? -5 : priority > 0 ? 0 : priority);
}

CUresult do_cuStreamDestroy_v2(CUstream handle)
{
    drv_stream *stream = stream_find(handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (stream->object.builtin)
        return misuse(CUDA_ERROR_INVALID_HANDLE, "the default stream cannot be destroyed");
    stream_end(stream);
    return CUDA_SUCCESS;
}

CUresult do_cuStreamSynchronize(CUstream handle)
{
    drv_stream *stream = stream_find(handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    return capture_refuses(stream, "wait for it") ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                                                  : stream_wait(stream);
}

CUresult do_cuStreamQuery(CUstream handle)
{
    drv_stream *stream = stream_find(handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (capture_refuses(stream, "query"))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return stream_idle(stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult do_cuStreamGetFlags(CUstream handle, unsigned *flags)
{
    const drv_stream *stream = stream_find(handle);
    if (!stream || !flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = stream->flags;
    return CUDA_SUCCESS;
}

CUresult do_cuStreamGetPriority(CUstream handle, int *priority)
{
    const drv_stream *stream = stream_find(handle);
    if (!stream || !priority)
        return CUDA_ERROR_INVALID_VALUE;
    *priority = stream->priority;
    return CUDA_SUCCESS;
}

/* Of any context's stream. */
CUresult do_cuStreamGetCtx(CUstream handle, CUcontext *out)
{
    const drv_stream *stream = (uintptr_t)handle <= (uintptr_t)CU_STREAM_PER_THREAD
                                   ? stream_find(handle)
                                   : object_find(handle, KIND_STREAM);
    if (!stream || !out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = object_handle(stream->object.context);
    return CUDA_SUCCESS;
}

/* ---- Events ---- */

CUresult do_cuEventCreate(CUevent *out, unsigned flags)
{
    if (!out || (flags & ~(unsigned)(CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING)))
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the event, or flags %#x", flags);
    drv_event *made = object_new(sizeof *made, KIND_EVENT, context_current());
    made->flags = flags;
    *out = object_handle(made);
    return CUDA_SUCCESS;
}

CUresult do_cuEventRecord(CUevent handle, CUstream in)
{
    drv_event *event = object_here(handle, KIND_EVENT);
    drv_stream *stream = stream_find(in);
    if (!event || !stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (capture_refuses(stream, "events"))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    drv_op *op = op_new(sizeof *op, stream, "event %llu", (unsigned long long)event->object.number);
    op_drop(event->op);
    event->op = op_keep(op);
    op_queue(op);
    return CUDA_SUCCESS;
}

CUresult do_cuEventQuery(CUevent handle)
{
    const drv_event *event = object_here(handle, KIND_EVENT);
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    return !event->op || op_done(event->op) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult do_cuEventSynchronize(CUevent handle)
{
    const drv_event *event = object_here(handle, KIND_EVENT);
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    return event->op ? op_wait(event->op) : event->object.context->error;
}

/* An event may be of another context than the stream that waits. */
CUresult do_cuStreamWaitEvent(CUstream in, CUevent handle, unsigned flags)
{
    drv_stream *stream = stream_find(in);
    const drv_event *event = object_find(handle, KIND_EVENT);
    if (!event || !stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (flags)
        return misuse(CUDA_ERROR_INVALID_VALUE, "flags are %u, not 0", flags);
    if (capture_refuses(stream, "wait for events"))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (!event->op)
        return CUDA_SUCCESS;
    drv_op *op =
        op_new(sizeof *op, stream, "wait for event %llu", (unsigned long long)event->object.number);
    op_after(op, event->op);
    op_queue(op);
    return CUDA_SUCCESS;
}

static CUresult elapsed(float *ms, CUevent start, CUevent end)
{
    const drv_event *from = object_here(start, KIND_EVENT), *to = object_here(end, KIND_EVENT);
    if (!from || !to)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!ms)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the time");
    if ((from->flags | to->flags) & CU_EVENT_DISABLE_TIMING)
        return misuse(CUDA_ERROR_INVALID_HANDLE, "an event without timing");
    if (!from->op || !to->op)
        return misuse(CUDA_ERROR_INVALID_HANDLE, "an event that was not recorded");
    if (!from->op->done || !to->op->done)
        return CUDA_ERROR_NOT_READY;
    *ms = (float)((to->op->ended - from->op->ended) * 1e3);
    return CUDA_SUCCESS;
}

CUresult do_cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
    return elapsed(ms, start, end);
}

CUresult do_cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end)
{
    return elapsed(ms, start, end);
}

CUresult do_cuEventDestroy_v2(CUevent handle)
{
    drv_event *event = object_here(handle, KIND_EVENT);
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    op_drop(event->op);
    event->op = NULL;
    object_end(&event->object);
    return CUDA_SUCCESS;
}

/* ---- Functions of the host ---- */

typedef struct drv_host_op {
    drv_op op;
    CUhostFn function;
    CUstreamCallback callback;
    void *user;
} drv_host_op;

static CUresult run_host(drv_op *op)
{
    const drv_host_op *host = (drv_host_op *)op;
    call_lock();
    drv_thread *here = thread_self();
    here->in_host_function = true;
    clock_seen(&op->clock); /* whom the function tells of it knows what came before */
    call_unlock();
    if (host->function)
        host->function(host->user);
    else
        host->callback(op->stream->object.builtin ? op->stream->alias : object_handle(op->stream),
                       op->status, host->user);
    here->in_host_function = false;
    return CUDA_SUCCESS;
}

/* After an error in the context it is not called. */
CUresult do_cuLaunchHostFunc(CUstream in, CUhostFn function, void *user)
{
    drv_stream *stream = stream_find(in);
    if (!stream || !function)
        return stream ? misuse(CUDA_ERROR_INVALID_VALUE, "no function") : CUDA_ERROR_INVALID_HANDLE;
    drv_host_op *op = op_new(sizeof *op, stream, "host function");
    op->op.run = run_host;
    op->op.host = true;
    op->op.replays = true;
    op->function = function;
    op->user = user;
    op_queue(&op->op);
    return CUDA_SUCCESS;
}

/* After an error it is called with that. */
CUresult do_cuStreamAddCallback(CUstream in, CUstreamCallback callback, void *user, unsigned flags)
{
    drv_stream *stream = stream_find(in);
    if (!stream || !callback || flags)
        return stream ? misuse(CUDA_ERROR_INVALID_VALUE, "no function, or flags")
                      : CUDA_ERROR_INVALID_HANDLE;
    drv_host_op *op = op_new(sizeof *op, stream, "callback");
    op->op.run = run_host;
    op->op.host = true;
    op->op.always = true;
    op->callback = callback;
    op->user = user;
    op_queue(&op->op);
    return CUDA_SUCCESS;
}
