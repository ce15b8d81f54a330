/* Launches: arguments are bound, the variant is found, its conditions are checked, its parameters
 * packed, and the device runs it. Nothing is allocated on the way of a launch without a stream. */
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

enum { MAX_SLOTS = KJ_MAX_PARAMS * (1 + 2 * KJIT_MAX_NDIM) + KJ_MAX_FILLED + 1 };

/* ---- What launch-time expressions may ask ---- */

static kj_value env_param(void *ctx, int param)
{
    return kj_binding_scalar(ctx, param);
}

/* Strides in elements; in what those are aligned to, where they are several scalars. Dense layouts
 * give the strides their shape implies: what an array says of an axis with one element, or of an
 * empty array, is not to be believed. */
static int64_t stride_of(const kjit_array *a, int axis)
{
    int64_t stride = (int64_t)kj_array_elem(a) / kj_array_align(a);
    if (!kj_is_dense(a->layout))
        return a->strides[axis] / kj_array_align(a);
    if (a->layout == KJ_LAYOUT_C)
        for (int i = a->ndim - 1; i > axis; i--)
            stride = (int64_t)((uint64_t)stride * (uint64_t)a->shape[i]);
    else
        for (int i = 0; i < axis; i++)
            stride *= a->shape[i];
    return stride;
}

static int64_t env_dim(void *ctx, int param, int axis, bool stride)
{
    kj_binding *b = ctx;
    const kjit_array *a = b->args[b->runtime[param]]->u.array;
    return stride ? stride_of(a, axis) : a->shape[axis];
}

static int64_t env_index(void *ctx, kj_index which, int axis)
{
    kj_binding *b = ctx;
    return which == KJ_GRID_DIM ? b->grid[axis] : b->block[axis];
}

kj_eval_env kj_binding_env(kj_binding *b)
{
    return (kj_eval_env){.ctx = b, .param = env_param, .dim = env_dim, .index = env_index};
}

/* ---- Packing ---- */

static uint64_t scalar_slot(kj_value v)
{
    uint64_t slot = kj_is_float(v.type) ? 0 : v.u;
    if (kj_is_float(v.type))
        kj_value_write(&slot, 0, v);
    return slot;
}

static size_t pack(const kj_binding *b, const kj_staged *staged, uint64_t *slots)
{
    size_t n = 0;
    for (int i = 0; i < b->nruntime; i++) {
        int param = b->runtime[i];
        if (b->kernel->decl->params[param].ndim == 0) {
            slots[n++] = scalar_slot(kj_binding_scalar(b, i));
            continue;
        }
        const kjit_array *a = b->args[param]->u.array;
        slots[n++] = staged ? kj_staged_address(staged, a) : (uintptr_t)a->data;
        for (int k = 0; k < a->ndim; k++)
            slots[n++] = (uint64_t)a->shape[k];
        for (int k = 0; k < a->ndim; k++)
            slots[n++] = (uint64_t)stride_of(a, k);
    }
    return n;
}

/* ---- Queued launches ---- */

/* Keeps what a queued launch uses until it has run. */
typedef struct launch_work {
    kj_work work;
    kjit_module *mod;
    const kj_tkernel *kernel;
    kj_reported *reported; /* or NULL */
    kjit_stream *stream;
    int nbuffers;
    kj_buffer *buffers[];
} launch_work;

static void drop_work(launch_work *w)
{
    for (int i = 0; i < w->nbuffers; i++)
        kj_buffer_drop(w->buffers[i]);
    kj_module_drop(w->mod);
    free(w);
}

static void launch_done(kj_work *work, kjit_status status, const kj_host_fault *fault)
{
    launch_work *w = (launch_work *)work;
    if (w->reported)
        kj_report_deliver(w->reported);
    if (status == KJIT_FAULT)
        kj_stream_failed(w->stream, status, kj_fault_text(w->mod, w->kernel, fault));
    else
        kj_stream_ended(w->stream, work, status);
    kj_report_free(w->reported);
    drop_work(w);
}

static void keep(launch_work *w, kj_buffer *buffer)
{
    kj_buffer_hold(buffer);
    w->buffers[w->nbuffers++] = buffer;
}

static launch_work *new_work(const kj_binding *b, const kj_staged *staged, kjit_stream *stream)
{
    size_t most = (size_t)b->nruntime + (size_t)(staged ? staged->npieces : 0);
    launch_work *w = calloc(1, sizeof *w + most * sizeof *w->buffers);
    if (!w)
        return NULL;
    w->work.done = launch_done;
    w->stream = stream;
    w->mod = b->kernel->mod;
    kj_module_hold(w->mod);
    for (int i = 0; i < b->nruntime; i++) {
        const kjit_arg *arg = b->args[b->runtime[i]];
        if (arg && arg->kind == KJIT_ARG_ARRAY)
            keep(w, arg->u.array->buffer);
    }
    for (int i = 0; staged && i < staged->npieces; i++)
        keep(w, staged->pieces[i]);
    return w;
}

/* ---- Launching ---- */

/* A launch on its way: what it is compiled to, where its host arrays were moved, what it reports
 * to; the latter two may be NULL. */
typedef struct flight {
    const kj_variant *variant;
    const kj_staged *staged;
    kj_reported *reported;
    kjit_stream *stream;
} flight;

static kjit_status submit(kj_binding *b, const kj_launch_call *call, const flight *way)
{
    kjit_stream *stream = way->stream;
    kjit_module *mod = b->kernel->mod;
    kjit_context *ctx = mod->ctx;
    kj_failure why;
    kj_host_fault f;
    launch_work *w = NULL;
    if (stream && !(w = new_work(b, way->staged, stream)))
        return kj_no_memory(ctx);
    if (w) {
        w->kernel = way->variant->kernel;
        w->reported = ctx->ops->host_memory ? way->reported : NULL;
    }
    kjit_status status =
        ctx->ops->launch(ctx->dev, kj_queue_of(stream), call, w ? &w->work : NULL, &f, &why);
    if (status == KJIT_OK)
        return status;
    if (w)
        drop_work(w);
    return status == KJIT_FAULT ? kj_fail_fault(mod, way->variant->kernel, &f)
                                : kj_fail_why(ctx, status, &why);
}

static kjit_status submit_timed(kj_binding *b, const kj_timing_hook *hook,
                                const kj_launch_call *call, const flight *way)
{
    kjit_stream *stream = way->stream;
    kjit_context *ctx = b->kernel->mod->ctx;
    ctx->ops->wait(ctx->dev, kj_queue_of(stream));
    double start = kj_now_ms();
    kjit_status status = submit(b, call, way);
    if (stream)
        ctx->ops->wait(ctx->dev, stream->queue);
    if (status != KJIT_OK)
        return status;
    kj_timing timing = {.kind = KJ_TIMING_LAUNCH,
                        .name = b->label ? b->label : b->kernel->decl->name,
                        .ms = kj_now_ms() - start};
    memcpy(timing.grid, b->grid, sizeof timing.grid);
    memcpy(timing.block, b->block, sizeof timing.block);
    hook->report(hook->user, &timing);
    return KJIT_OK;
}

static kjit_status shared_size(kj_binding *b, const kj_variant *variant, size_t *out)
{
    kjit_context *ctx = b->kernel->mod->ctx;
    int64_t shared = variant->shared;
    if (shared < 0) {
        kj_eval_env env = kj_binding_env(b);
        shared = kj_shared_bytes(variant->kernel, &env);
        if (shared < 0)
            return kj_fail(ctx, KJIT_LAUNCH,
                           "kernel '%s': a shared array has a negative or an absurd size",
                           variant->kernel->name);
    }
    if (shared > ctx->ops->max_shared)
        return kj_fail(ctx, KJIT_LAUNCH,
                       "kernel '%s' needs %lld bytes of shared memory for a block; there are %lld",
                       variant->kernel->name, (long long)shared, (long long)ctx->ops->max_shared);
    *out = (size_t)(variant->scratch + shared);
    return KJIT_OK;
}

static kjit_status fly(kj_binding *b, size_t scratch, const flight *way)
{
    _Alignas(kj_host_launch) char storage[sizeof(kj_host_launch) + MAX_SLOTS * sizeof(uint64_t)];
    kj_host_launch *values = (kj_host_launch *)storage;
    memcpy(values->grid, b->grid, sizeof values->grid);
    memcpy(values->block, b->block, sizeof values->block);
    values->fault = NULL;
    kj_launch_call call = {.exec = way->variant->exec,
                           .values = values,
                           .nslots = pack(b, way->staged, values->slots),
                           .scratch = scratch,
                           .what = way->variant->what};
    if (b->kernel->mod->ctx->ops->host_memory)
        call.nslots +=
            kj_filled_slots(b->kernel->mod, way->variant->kernel, values->slots + call.nslots);
    if (way->reported)
        values->slots[call.nslots++] = kj_report_address(way->reported);
    const kj_timing_hook *hook =
        atomic_load_explicit(&b->kernel->mod->ctx->timing, memory_order_acquire);
    return hook ? submit_timed(b, hook, &call, way) : submit(b, &call, way);
}

/* staged: where host arrays were moved, or NULL. */
static kjit_status run(kj_binding *b, const kj_variant *variant, size_t scratch,
                       const kj_staged *staged, kjit_stream *stream)
{
    flight way = {.variant = variant, .staged = staged, .stream = stream};
    kjit_status status = KJIT_OK;
    if (variant->kernel->nsites > 0)
        status = kj_report_begin(b->kernel->mod, variant, stream, &way.reported);
    if (status != KJIT_OK)
        return status;
    status = fly(b, scratch, &way);
    /* A queued launch on the host has the report, and may have ended already. */
    bool gone = stream && status == KJIT_OK && b->kernel->mod->ctx->ops->host_memory;
    return way.reported && !gone ? kj_report_end(way.reported, status) : status;
}

static kjit_status run_staged(kj_binding *b, const kj_variant *variant, size_t scratch,
                              kjit_stream *stream)
{
    kj_staged staged;
    kjit_status status = kj_stage_in(b, variant, stream, &staged);
    if (status != KJIT_OK)
        return status;
    status = run(b, variant, scratch, &staged, stream);
    if (status == KJIT_OK)
        status = kj_stage_out(&staged, stream);
    else if (status == KJIT_FAULT) /* what was written until then is there, as on a CPU */
        kj_stage_out(&staged, stream);
    kj_stage_drop(&staged);
    return status;
}

/* The code for the binding's arguments and block. */
static kjit_status find_variant(kj_binding *b, kj_variant **out)
{
    kj_spec spec = {.generics = b->generics,
                    .consts = b->consts,
                    .layouts = b->layouts,
                    .block = {b->block[0], b->block[1], b->block[2]},
                    .small = b->small,
                    .disjoint = b->disjoint,
                    .aligned = b->aligned,
                    .no_contract = b->kernel->mod->options.no_contract};
    return kj_variant_get(b->kernel, &spec, b->key, b->label, out);
}

/* How many blocks a grid of the variant may have, all of them being resident. */
static kjit_status count_resident(kj_binding *b, const kj_variant *variant, size_t scratch,
                                  int64_t *out)
{
    kjit_context *ctx = b->kernel->mod->ctx;
    int threads = (int)(b->block[0] * b->block[1] * b->block[2]);
    kj_failure why;
    kjit_status status = ctx->ops->resident(ctx->dev, variant->exec, threads, scratch, out, &why);
    return status == KJIT_OK ? status : kj_fail_why(ctx, status, &why);
}

static kjit_status check_resident(kj_binding *b, const kj_variant *variant, size_t scratch)
{
    int64_t most, blocks = b->grid[0] * b->grid[1];
    kjit_status status = count_resident(b, variant, scratch, &most);
    if (status == KJIT_OK && (blocks > most || blocks * b->grid[2] > most))
        return kj_fail_crowd(b, variant->kernel, most);
    return status;
}

static kjit_status launch(kj_binding *b, kjit_stream *stream)
{
    kjit_context *ctx = b->kernel->mod->ctx;
    kj_variant *variant;
    kjit_status status = find_variant(b, &variant);
    if (status == KJIT_OK && variant->kernel->requires)
        status = kj_check_requires(b, variant);
    if (status == KJIT_OK && b->read_only)
        status = kj_check_writes(b, variant);
    if (status == KJIT_OK && b->kernel->mod->program->nfilled > 0)
        status = kj_filled_ready(b->kernel->mod, variant);
    size_t scratch = 0;
    if (status == KJIT_OK)
        status = shared_size(b, variant, &scratch);
    if (status == KJIT_OK && variant->kernel->grid_sync)
        status = check_resident(b, variant, scratch);
    if (status != KJIT_OK)
        return status;
    if (!ctx->ops->host_memory && kj_stage_needed(b, variant))
        return run_staged(b, variant, scratch, stream);
    return run(b, variant, scratch, NULL, stream);
}

/* What both kinds of launches ask of their arguments; gives the kernel. */
static kjit_status enter(kjit_module *mod, const char *name, const kjit_stream *stream,
                         const kjit_arg *args, int nargs, kj_kernel **kernel)
{
    kjit_status status = mod ? kj_enter(mod->ctx) : KJIT_INVALID;
    if (status != KJIT_OK)
        return status;
    if (!mod->program)
        return kj_fail(mod->ctx, KJIT_COMPILE, "%s: the source has errors", mod->source.name);
    if (!name || nargs < 0 || (!args && nargs > 0))
        return kj_fail(mod->ctx, KJIT_INVALID,
                       name ? "the arguments are NULL or of a negative number"
                            : "the kernel's name is NULL");
    if (stream && stream->ctx != mod->ctx)
        return kj_fail(mod->ctx, KJIT_INVALID, "the stream belongs to another context");
    *kernel = kj_module_find(mod, name);
    return *kernel ? KJIT_OK : kj_no_kernel(mod, name);
}

/* Launches; without a stream the call waits, also for what the kernel prints. */
static kjit_status finish(kj_binding *b, kjit_stream *stream)
{
    kjit_status status = launch(b, stream);
    if (!stream)
        kj_print_flush(b->kernel->mod->ctx);
    return status;
}

kjit_status kj_launch_labelled(kjit_module *mod, const char *kernel, const char *label,
                               const kjit_config *config, const kjit_arg *args, int nargs)
{
    kj_kernel *k;
    kj_binding b;
    kjit_status status = enter(mod, kernel, config ? config->stream : NULL, args, nargs, &k);
    if (status != KJIT_OK)
        return status;
    if (!config)
        return kj_fail(mod->ctx, KJIT_INVALID, "config is NULL");
    b.label = label;
    status = kj_check_dims(k, config, &b);
    if (status == KJIT_OK)
        status = kj_bind(k, args, nargs, &b);
    if (status != KJIT_OK || b.grid[0] == 0)
        return status;
    return finish(&b, config->stream);
}

kjit_status kjit_launch(kjit_module *mod, const char *kernel, const kjit_config *config,
                        const kjit_arg *args, int nargs)
{
    return kj_launch_labelled(mod, kernel, NULL, config, args, nargs);
}

kjit_status kjit_max_cooperative_blocks(kjit_module *mod, const char *kernel,
                                        const int64_t block[3], const kjit_arg *args, int nargs,
                                        int64_t *out)
{
    kj_kernel *k;
    kj_binding b;
    kjit_status status = enter(mod, kernel, NULL, args, nargs, &k);
    if (status != KJIT_OK)
        return status;
    if (!block || !out)
        return kj_fail(mod->ctx, KJIT_INVALID, "the block or the result's place is NULL");
    kjit_config config = {.grid = {1}, .block = {block[0], block[1], block[2]}};
    b.label = NULL;
    status = kj_check_dims(k, &config, &b);
    if (status == KJIT_OK)
        status = kj_bind(k, args, nargs, &b);
    kj_variant *variant = NULL;
    if (status == KJIT_OK)
        status = find_variant(&b, &variant);
    size_t scratch = 0;
    if (status == KJIT_OK)
        status = shared_size(&b, variant, &scratch);
    return status == KJIT_OK ? count_resident(&b, variant, scratch, out) : status;
}

/* ---- For all of so many elements ---- */

/* Threads a block: 256, fewer where the kernel asks for that, more where the grid would be too
 * large. */
static int64_t usual_block(const kj_kernel *k, int64_t n)
{
    const kj_device_ops *ops = k->mod->ctx->ops;
    int64_t block = n / 256 < ops->max_grid[0] ? 256 : ops->max_threads;
    int64_t bound = k->decl->launch_bounds[0];
    return bound > 0 && bound < block ? bound : block;
}

static kjit_status bind_for_all(kj_kernel *k, int64_t n, int64_t block, kjit_stream *stream,
                                const kjit_arg *args, int nargs, kj_binding *b)
{
    kjit_config config = {
        .grid = {n / block + (n % block != 0)}, .block = {block}, .stream = stream};
    b->label = NULL;
    kjit_status status = kj_check_dims(k, &config, b);
    return status == KJIT_OK ? kj_bind(k, args, nargs, b) : status;
}

/* The part of a multiprocessor's threads that run together in blocks of the binding's size; 0 when
 * the device cannot tell. */
static double occupancy(kj_binding *b, const kj_variant *variant)
{
    const kj_device_ops *ops = b->kernel->mod->ctx->ops;
    kjit_kernel_info info;
    kj_failure why;
    size_t scratch;
    bool known = shared_size(b, variant, &scratch) == KJIT_OK &&
                 ops->inspect(b->kernel->mod->ctx->dev, variant->exec, (int)b->block[0], scratch,
                              &info, &why) == KJIT_OK;
    return known ? info.occupancy : 0;
}

/* Where less than half of a multiprocessor's threads would run together in blocks of the usual
 * size, another one may be better: small ones share registers out, large ones share what a block
 * has. Each that is tried is compiled. */
static int64_t choose_block(const kj_binding *usual, kj_variant *variant, int64_t n,
                            const kjit_arg *args, int nargs)
{
    static const int64_t sizes[] = {128, 512, 1024, 64};
    kj_binding b = *usual;
    double best = occupancy(&b, variant);
    int64_t chosen = b.block[0], most = b.kernel->decl->launch_bounds[0];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && best < 0.5; i++) {
        if (most > 0 && sizes[i] > most)
            continue;
        bool fits = bind_for_all(b.kernel, n, sizes[i], NULL, args, nargs, &b) == KJIT_OK &&
                    find_variant(&b, &variant) == KJIT_OK &&
                    (!variant->kernel->requires || kj_check_requires(&b, variant) == KJIT_OK);
        double part = fits ? occupancy(&b, variant) : 0;
        if (part > best) {
            best = part;
            chosen = sizes[i];
        }
    }
    return chosen;
}

/* A variant of the usual size knows what was chosen in its place. */
static kjit_status bind_chosen(kj_binding *b, int64_t n, kjit_stream *stream, const kjit_arg *args,
                               int nargs)
{
    kj_variant *variant;
    kjit_status status = find_variant(b, &variant);
    if (status != KJIT_OK)
        return status;
    int64_t block = atomic_load_explicit(&variant->for_all, memory_order_relaxed);
    if (block == 0) {
        block = choose_block(b, variant, n, args, nargs);
        atomic_store_explicit(&variant->for_all, block, memory_order_relaxed);
    }
    if (block == b->block[0])
        return KJIT_OK;
    return bind_for_all(b->kernel, n, block, stream, args, nargs, b);
}

kjit_status kjit_launch_forall(kjit_module *mod, const char *kernel, int64_t n, kjit_stream *stream,
                               const kjit_arg *args, int nargs)
{
    kj_kernel *k;
    kj_binding b;
    kjit_status status = enter(mod, kernel, stream, args, nargs, &k);
    if (status != KJIT_OK)
        return status;
    if (n < 0)
        return kj_fail(mod->ctx, KJIT_LAUNCH, "kernel '%s': a launch for all of %lld elements",
                       kernel, (long long)n);
    status = bind_for_all(k, n, usual_block(k, n), stream, args, nargs, &b);
    if (status != KJIT_OK || n == 0)
        return status;
    if (mod->ctx->ops->inspect)
        status = bind_chosen(&b, n, stream, args, nargs);
    return status == KJIT_OK ? finish(&b, stream) : status;
}
