/* Dispatches: a bound launch -> what the device takes: slots with addresses, extents, strides and
 * scalars; and its way there, now or in a stream. */
#include <stdlib.h>
#include <string.h>

#include "launch/launch.h"

/* ---- Packing ---- */

static uint64_t scalar_slot(kj_value v)
{
    uint64_t slot = kj_is_float(v.type) ? 0 : v.u;
    if (kj_is_float(v.type))
        kj_value_write(&slot, 0, v);
    return slot;
}

static size_t pack_arguments(const kj_binding *b, const kj_staging *staged, uint64_t *slots)
{
    size_t n = 0;
    for (int i = 0; i < b->nruntime; i++) {
        int param = b->runtime[i];
        if (b->kernel->decl->params[param].ndim == 0) {
            slots[n++] = scalar_slot(kj_binding_scalar(b, i));
            continue;
        }
        const kjit_array *a = b->args[param]->u.array;
        slots[n++] = staged ? kj_staging_address(staged, a) : kj_array_address(a);
        for (int k = 0; k < a->ndim; k++)
            slots[n++] = (uint64_t)a->shape[k];
        for (int k = 0; k < a->ndim; k++)
            slots[n++] = (uint64_t)kj_binding_stride(b, param, k);
    }
    return n;
}

/* All slots of a launch; returns how many. */
static size_t pack(const kj_binding *b, const kj_variant *variant, const kj_staging *staged,
                   const kj_reported *reported, kj_host_launch *values)
{
    kjit_module *mod = b->kernel->mod;
    memcpy(values->grid, b->grid, sizeof values->grid);
    memcpy(values->block, b->block, sizeof values->block);
    values->fault = NULL;
    size_t n = pack_arguments(b, staged, values->slots);
    if (mod->ctx->ops->host_memory)
        n += kj_const_array_slots(mod, variant->kernel, values->slots + n);
    if (reported)
        values->slots[n++] = kj_report_address(reported);
    return n;
}

/* The slots that a dispatch has room for. */
static size_t most_slots(const kj_binding *b)
{
    size_t n = (size_t)b->kernel->mod->program->nfilled + 1;
    for (int i = 0; i < b->nruntime; i++)
        n += 1 + 2 * (size_t)b->kernel->decl->params[b->runtime[i]].ndim;
    return n;
}

/* ---- Dispatches ---- */

static void keep(kj_dispatch *dispatch, kj_buffer *buffer, const kjit_stream *stream)
{
    if (!kj_buffer_is_held(buffer, stream))
        return;
    kj_buffer_hold(buffer);
    dispatch->buffers[dispatch->nbuffers++] = buffer;
}

static kj_launch_call call_of(const kjit_context *ctx, const kj_ready *ready,
                              kj_host_launch *values)
{
    return (kj_launch_call){.exec = ready->variant->exec,
                            .values = values,
                            .scratch = ready->scratch,
                            .what = ready->variant->what,
                            .most_depth = ctx->limits.most.launch_depth,
                            .most_launches = ctx->limits.most.launches};
}

kjit_status kj_dispatch_new(const kj_binding *b, const kj_ready *ready, const kj_staging *staged,
                            const kj_reported *reported, const kjit_stream *stream,
                            kj_dispatch **out)
{
    size_t nbuffers = (size_t)b->nruntime + (size_t)(staged ? staged->npieces : 0);
    kj_dispatch *p = malloc(sizeof *p + nbuffers * sizeof *p->buffers + sizeof(kj_host_launch) +
                            most_slots(b) * sizeof(uint64_t));
    if (!p)
        return kj_no_memory(b->kernel->mod->ctx);
    atomic_init(&p->refs, 1);
    p->nbuffers = 0;
    p->mod = b->kernel->mod;
    p->variant = ready->variant;
    p->call = call_of(p->mod->ctx, ready, (kj_host_launch *)(p->buffers + nbuffers));
    p->call.nslots = pack(b, ready->variant, staged, reported, p->call.values);
    kj_report_ride(reported, &p->call);
    kj_module_hold(p->mod);
    for (int i = 0; i < b->nruntime; i++) {
        const kjit_arg *arg = b->args[b->runtime[i]];
        if (arg && kj_arg_is_array(arg))
            keep(p, arg->u.array->buffer, stream);
    }
    for (int i = 0; staged && i < staged->npieces; i++)
        keep(p, staged->pieces[i], stream);
    *out = p;
    return KJIT_OK;
}

void kj_dispatch_hold(kj_dispatch *dispatch)
{
    atomic_fetch_add_explicit(&dispatch->refs, 1, memory_order_relaxed);
}

void kj_dispatch_drop(kj_dispatch *dispatch)
{
    if (!dispatch || atomic_fetch_sub_explicit(&dispatch->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (int i = 0; i < dispatch->nbuffers; i++)
        kj_buffer_drop(dispatch->buffers[i]);
    kj_module_drop(dispatch->mod);
    free(dispatch);
}

/* ---- In a stream ---- */

/* Keeps what a queued launch uses until it has run. */
typedef struct launch_work {
    kj_work work;
    kj_dispatch *dispatch;
    kj_reported *reported; /* or NULL */
    kj_halt *halt;         /* or NULL */
    kjit_stream *stream;
} launch_work;

static void launch_done(kj_work *work, kjit_status status, const kj_host_fault *fault)
{
    launch_work *w = (launch_work *)work;
    kj_trace_end(work->times, status);
    if (status == KJIT_FAULT)
        kj_stream_failed(w->stream, kj_fault_status(fault),
                         kj_launch_fault_told(w->dispatch->mod, w->dispatch->variant,
                                              &w->dispatch->call, kj_halt_word_of(w->halt), fault));
    else if (!w->reported)
        kj_stream_ended(w->stream, work, status);
    if (w->reported && status == KJIT_FAULT) {
        kj_report_deliver_in(w->reported, w->stream);
        kj_report_free(w->reported);
    } else if (w->reported) {
        kj_report_comes(w->reported, work, status);
    }
    kj_halt_drop(w->halt);
    kj_dispatch_drop(w->dispatch);
    free(w);
}

static kjit_status queue(kj_dispatch *dispatch, const char *name, kj_reported *reported,
                         kj_halt *halt, kjit_stream *stream)
{
    kj_launch_call call = dispatch->call;
    kjit_context *ctx = dispatch->mod->ctx;
    kj_failure why;
    kjit_status status = kj_stream_begin(stream);
    if (status != KJIT_OK)
        return status;
    launch_work *w = malloc(sizeof *w);
    if (!w)
        return kj_no_memory(ctx);
    kj_times *times =
        kj_trace_launch(ctx, name, dispatch->variant->kernel, dispatch->call.values, stream);
    *w = (launch_work){.work = {.done = launch_done, .times = times},
                       .dispatch = dispatch,
                       .reported = kj_report_rides(reported) ? reported : NULL,
                       .halt = halt,
                       .stream = stream};
    kj_dispatch_hold(dispatch);
    kj_halt_hold(halt);
    call.halt = kj_stream_halt(stream, halt);
    kj_report_goes(w->reported);
    status = ctx->ops->launch(ctx->dev, stream->queue, &call, &w->work, NULL, &why);
    if (status != KJIT_OK) {
        kj_report_stays(w->reported);
        kj_halt_drop(halt);
        kj_dispatch_drop(dispatch);
        free(w);
    }
    return kj_stream_submitted(ctx, stream, times, status, &why);
}

/* ---- Both ways ---- */

/* A launch on its way: as a dispatch in a stream, or now. */
typedef struct flight {
    kjit_module *mod;
    const kj_variant *variant;
    const kj_launch_call *call;
    kj_dispatch *dispatch;
    const char *label;
    kj_reported *reported;
    kj_halt *halt;
    kjit_stream *stream;
} flight;

static const char *name_of(const flight *way)
{
    return way->label ? way->label : way->variant->kernel->name;
}

static kjit_status submit(const flight *way)
{
    kjit_context *ctx = way->mod->ctx;
    kj_failure why;
    kj_host_fault fault;
    if (way->stream)
        return queue(way->dispatch, name_of(way), way->reported, way->halt, way->stream);
    kj_times *times =
        kj_trace_launch(ctx, name_of(way), way->variant->kernel, way->call->values, NULL);
    kjit_status status = ctx->ops->launch(ctx->dev, NULL, way->call, NULL, &fault, &why);
    kj_trace_end(times, status);
    if (status == KJIT_OK)
        return status;
    return status == KJIT_FAULT
               ? kj_fail_fault(way->mod, kj_fault_status(&fault),
                               kj_launch_fault_told(way->mod, way->variant, way->call,
                                                    way->call->halt, &fault))
               : kj_fail_why(ctx, status, &why);
}

static kjit_status submit_timed(const flight *way, const kj_timing_hook *hook)
{
    kjit_stream *stream = way->stream;
    kjit_context *ctx = way->mod->ctx;
    const kj_host_launch *values = way->call->values;
    kj_timing timing = {.kind = KJ_TIMING_LAUNCH, .name = name_of(way)};
    memcpy(timing.grid, values->grid, sizeof timing.grid);
    memcpy(timing.block, values->block, sizeof timing.block);
    ctx->ops->wait(ctx->dev, kj_queue_of(stream));
    double start = kj_now_ms();
    kjit_status status = submit(way);
    if (stream)
        ctx->ops->wait(ctx->dev, stream->queue);
    if (status != KJIT_OK)
        return status;
    timing.ms = kj_now_ms() - start;
    hook->report(hook->user, &timing);
    return KJIT_OK;
}

static kjit_status submit_watched(const flight *way)
{
    const kj_timing_hook *hook = atomic_load_explicit(&way->mod->ctx->timing, memory_order_acquire);
    return hook ? submit_timed(way, hook) : submit(way);
}

/* Room for the values of a launch with that many slots. */
static kj_host_launch *values_in(kj_room *room, size_t slots)
{
    return kj_room_take(room, sizeof(kj_host_launch) + slots * sizeof(uint64_t));
}

/* The device writes to the values of what it does at once, so they are a copy. */
static kjit_status launch_copy(const kj_dispatch *dispatch, const char *label, const kj_halt *halt)
{
    kj_room room;
    kj_launch_call call = dispatch->call;
    kjit_status status;
    kj_room_begin(&room);
    call.values = values_in(&room, call.nslots);
    call.halt = kj_halt_word_of(halt);
    if (call.values) {
        memcpy(call.values, dispatch->call.values,
               sizeof *call.values + call.nslots * sizeof *call.values->slots);
        status = submit_watched(&(flight){
            .mod = dispatch->mod, .variant = dispatch->variant, .call = &call, .label = label});
    } else {
        status = kj_no_memory(dispatch->mod->ctx);
    }
    kj_room_end(&room);
    return status;
}

kjit_status kj_dispatch_launch(kj_dispatch *dispatch, const char *label, kj_reported *reported,
                               kj_halt *halt, kjit_stream *stream)
{
    if (!stream)
        return launch_copy(dispatch, label, halt);
    return submit_watched(&(flight){.mod = dispatch->mod,
                                    .variant = dispatch->variant,
                                    .call = &dispatch->call,
                                    .dispatch = dispatch,
                                    .label = label,
                                    .reported = reported,
                                    .halt = halt,
                                    .stream = stream});
}

kjit_status kj_launch_now(kj_binding *b, const kj_ready *ready, const kj_staging *staged,
                          const kj_reported *reported, const kj_halt *halt)
{
    kj_launch_call call = call_of(b->kernel->mod->ctx, ready, values_in(&b->room, most_slots(b)));
    if (!call.values)
        return kj_no_memory(b->kernel->mod->ctx);
    call.nslots = pack(b, ready->variant, staged, reported, call.values);
    kj_report_ride(reported, &call);
    call.halt = kj_halt_word_of(halt);
    return submit_watched(&(flight){
        .mod = b->kernel->mod, .variant = ready->variant, .call = &call, .label = b->label});
}
