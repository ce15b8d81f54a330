/* Traces: when compilations, launches, copies and callbacks ran. In: work on its way to the device;
 * out: an event for the context's trace function, when it has ended.
 *
 * Nothing waits for a trace: the device notes when queued work began and ended (kj_work.times), and
 * it is told with the work's end. Calls without a stream wait anyway, and are timed here. */
#include <stdlib.h>
#include <string.h>

#include "stream/stream.h"

/* Work that is traced. What the device fills in comes first: it is how the work holds it. */
typedef struct traced {
    kj_times times;
    kjit_context *ctx;
    bool queued;
    kjit_trace_event event;
    char name[];
} traced;

void kjit_set_trace(kjit_context *ctx, kjit_trace_fn *trace, void *user)
{
    if (kj_enter_context(ctx) != KJIT_OK)
        return;
    pthread_mutex_lock(&ctx->tracer.lock);
    ctx->tracer.trace = trace;
    ctx->tracer.user = user;
    atomic_store(&ctx->tracer.on, trace != NULL);
    pthread_mutex_unlock(&ctx->tracer.lock);
}

static void deliver(kjit_context *ctx, kjit_trace_event *event, const kj_times *times)
{
    event->start_us = times->begin * 1e3;
    event->duration_us = (times->end - times->begin) * 1e3;
    pthread_mutex_lock(&ctx->tracer.lock);
    kj_calling calling;
    kj_calling_begin(&calling, ctx);
    if (ctx->tracer.trace)
        ctx->tracer.trace(ctx->tracer.user, event);
    kj_calling_end(&calling);
    pthread_mutex_unlock(&ctx->tracer.lock);
}

bool kj_tracing(const kjit_context *ctx)
{
    return atomic_load_explicit(&ctx->tracer.on, memory_order_relaxed);
}

/* NULL without memory: then there is an event less. */
static traced *begin(kjit_context *ctx, kjit_trace_kind kind, const char *name,
                     const kjit_stream *stream)
{
    size_t size = strlen(name) + 1;
    traced *t = calloc(1, sizeof *t + size);
    if (!t)
        return NULL;
    memcpy(t->name, name, size);
    t->ctx = ctx;
    t->queued = stream != NULL;
    t->event =
        (kjit_trace_event){.kind = kind, .name = t->name, .stream = kjit_stream_number(stream)};
    if (!stream) {
        ctx->ops->wait(ctx->dev, NULL); /* as the call is going to */
        t->times.begin = kj_now_ms();
    }
    return t;
}

/* The elements that it reads, and those that it writes. A stride of 0 has one element for all. */
static int64_t used_bytes(const kj_param_info *p, const uint64_t *slots)
{
    int64_t bytes = p->size * (p->read + p->written);
    for (int d = 0; d < p->ndim; d++)
        bytes *= slots[1 + p->ndim + d] || !slots[1 + d] ? (int64_t)slots[1 + d] : 1;
    return bytes;
}

static int64_t bytes_of_launch(const kj_kernel_info *kernel, const kj_host_launch *values)
{
    int64_t bytes = 0;
    const uint64_t *slots = values->slots;
    for (int i = 0; i < kernel->nparams; slots += kj_param_slots(&kernel->params[i++])) {
        if (kernel->params[i].is_array)
            bytes += used_bytes(&kernel->params[i], slots);
    }
    return bytes;
}

kj_times *kj_trace_launch(kjit_context *ctx, const char *name, const kj_kernel_info *kernel,
                          const kj_host_launch *values, const kjit_stream *stream)
{
    if (!kj_tracing(ctx))
        return NULL;
    traced *t = begin(ctx, KJIT_TRACE_LAUNCH, name, stream);
    if (!t)
        return NULL;
    memcpy(t->event.grid, values->grid, sizeof t->event.grid);
    memcpy(t->event.block, values->block, sizeof t->event.block);
    t->event.bytes = bytes_of_launch(kernel, values);
    return &t->times;
}

kj_times *kj_trace_copy(kjit_context *ctx, const kj_transfer *transfer, const kjit_stream *stream)
{
    if (!kj_tracing(ctx))
        return NULL;
    traced *t = begin(ctx, KJIT_TRACE_COPY, kj_transfer_name(transfer), stream);
    if (!t)
        return NULL;
    t->event.from = transfer->src_memory;
    t->event.to = transfer->dst_memory;
    t->event.bytes = (int64_t)transfer->size;
    for (int i = 0; i < transfer->ndim; i++)
        t->event.bytes *= transfer->shape[i];
    return &t->times;
}

kj_times *kj_trace_whole(kjit_context *ctx, kjit_trace_kind kind, const char *name,
                         const kjit_stream *stream)
{
    traced *t = kj_tracing(ctx) ? begin(ctx, kind, name, stream) : NULL;
    return t ? &t->times : NULL;
}

void kj_trace_end(kj_times *times, kjit_status status)
{
    traced *t = (traced *)times;
    if (!t)
        return;
    if (!t->queued)
        times->end = kj_now_ms();
    if ((status == KJIT_OK || status == KJIT_FAULT) && times->end > 0)
        deliver(t->ctx, &t->event, times);
    free(t);
}

void kj_trace_compiled(kjit_context *ctx, bool loaded, const char *name, double begin_ms)
{
    kjit_trace_event event = {.kind = loaded ? KJIT_TRACE_LOAD : KJIT_TRACE_COMPILE, .name = name};
    deliver(ctx, &event, &(kj_times){.begin = begin_ms, .end = kj_now_ms()});
}
