/* Launches: arguments are bound, the variant is found, its conditions are checked, host arrays are
 * moved, and the device runs it. Nothing is allocated on the way of a launch without a stream. */
#include <string.h>

#include "launch/launch.h"

/* ---- Getting ready ---- */

kjit_status kj_launch_find(kj_binding *b, kj_variant **out)
{
    kj_spec spec = kj_binding_spec(b);
    kj_eval_env env = kj_binding_env(b);
    return kj_variant_get(b->kernel, &spec, b->key, &env, b->label, out);
}

static kjit_status fail_shared(const kj_binding *b, const char *kernel, const kj_shared_fault *why)
{
    kjit_context *ctx = b->kernel->mod->ctx;
    if (why->extent.type != KJ_U64 && why->extent.i < 0)
        return kj_fail(ctx, KJIT_LAUNCH,
                       "kernel '%s': an extent of the shared array '%s' is %lld, which is below 0",
                       kernel, why->array, (long long)why->extent.i);
    return kj_fail(ctx, KJIT_LAUNCH,
                   "kernel '%s': the shared array '%s', with an extent of %llu, is larger than the "
                   "%lld bytes of shared memory that there are for a block",
                   kernel, why->array, (unsigned long long)why->extent.u,
                   (long long)ctx->ops->max_shared);
}

kjit_status kj_launch_scratch(kj_binding *b, const kj_variant *variant, size_t *out)
{
    kjit_context *ctx = b->kernel->mod->ctx;
    int64_t shared = variant->shared;
    if (shared < 0) {
        kj_eval_env env = kj_binding_env(b);
        kj_shared_fault why;
        shared = kj_shared_bytes(variant->kernel, &env, &why);
        if (shared < 0)
            return fail_shared(b, variant->kernel->name, &why);
    }
    if (shared > ctx->ops->max_shared)
        return kj_fail(ctx, KJIT_LAUNCH,
                       "kernel '%s' needs %lld bytes of shared memory for a block; there are %lld",
                       variant->kernel->name, (long long)shared, (long long)ctx->ops->max_shared);
    *out = (size_t)(variant->scratch + shared);
    kj_failure why;
    kjit_status status = kj_limit_arrays(ctx, *out, &why); /* there is room for it now */
    if (status != KJIT_OK)
        return kj_fail(ctx, status, "kernel '%s', its block's local and shared arrays: %s",
                       variant->kernel->name, why.text);
    kj_unlimit_arrays(ctx, *out);
    return KJIT_OK;
}

kjit_status kj_launch_resident(kj_binding *b, const kj_ready *ready, int64_t *out)
{
    kjit_context *ctx = b->kernel->mod->ctx;
    int threads = (int)(b->block[0] * b->block[1] * b->block[2]);
    kj_failure why;
    kjit_status status =
        ctx->ops->resident(ctx->dev, ready->variant->exec, threads, ready->scratch, out, &why);
    return status == KJIT_OK ? status : kj_fail_why(ctx, status, &why);
}

static kjit_status check_resident(kj_binding *b, const kj_ready *ready)
{
    int64_t most, blocks = b->grid[0] * b->grid[1];
    kjit_status status = kj_launch_resident(b, ready, &most);
    if (status == KJIT_OK && (blocks > most || blocks * b->grid[2] > most))
        return kj_fail_crowd(b->kernel->mod, ready->variant->kernel, blocks * b->grid[2],
                             b->block[0] * b->block[1] * b->block[2], most);
    return status;
}

kjit_status kj_launch_ready(kj_binding *b, kj_ready *out)
{
    kjit_status status = kj_launch_find(b, &out->variant);
    if (status == KJIT_OK && out->variant->kernel->conditions)
        status = kj_check_requires(b, out->variant);
    if (status == KJIT_OK && b->read_only)
        status = kj_check_writes(b, out->variant);
    if (status == KJIT_OK)
        status = kj_launch_scratch(b, out->variant, &out->scratch);
    if (status == KJIT_OK && out->variant->kernel->grid_sync)
        status = check_resident(b, out);
    return status;
}

/* ---- Launching ---- */

/* staged: where host arrays were moved, or NULL. */
static kjit_status dispatch_bound(kj_binding *b, const kj_ready *ready, const kj_staging *staged,
                                  kj_reported *reported, kj_halt *halt, kjit_stream *stream)
{
    kj_dispatch *dispatch;
    if (!stream)
        return kj_launch_now(b, ready, staged, reported, halt);
    kjit_status status = kj_dispatch_new(b, ready, staged, reported, stream, &dispatch);
    if (status != KJIT_OK)
        return status;
    status = kj_dispatch_launch(dispatch, b->label, reported, halt, stream);
    kj_dispatch_drop(dispatch);
    return status;
}

static kjit_status run_with(kj_binding *b, const kj_ready *ready, const kj_staging *staged,
                            kj_halt *halt, kjit_stream *stream)
{
    kj_reported *reported = NULL;
    kjit_status status = KJIT_OK;
    if (kj_is_reported(b->kernel->mod->ctx, ready->variant->kernel))
        status = kj_report_begin(b->kernel->mod, ready->variant, stream, halt, &reported);
    if (status != KJIT_OK)
        return status;
    bool rides = kj_report_rides(reported);
    status = dispatch_bound(b, ready, staged, reported, halt, stream);
    bool gone = rides && stream && status == KJIT_OK; /* it may have ended already */
    return reported && !gone ? kj_report_end(reported, status) : status;
}

static kjit_status run(kj_binding *b, const kj_ready *ready, const kj_staging *staged,
                       kjit_stream *stream)
{
    kj_halt *halt;
    kjit_status status = kj_halt_new(b->kernel->mod->ctx, stream, b->timeout_ms, &halt);
    if (status != KJIT_OK)
        return status;
    status = run_with(b, ready, staged, halt, stream);
    kj_halt_drop(halt);
    return status;
}

static kjit_status run_staged(kj_binding *b, const kj_ready *ready, kjit_stream *stream)
{
    kj_staging staged;
    kjit_status status = kj_staging_in(b, ready->variant, stream, &staged);
    if (status != KJIT_OK)
        return status;
    status = run(b, ready, &staged, stream);
    if (status == KJIT_OK)
        status = kj_staging_out(&staged, stream);
    else if (kj_is_fault(status)) /* what was written until then is there, as on a CPU */
        kj_staging_out(&staged, stream);
    kj_staging_drop(&staged);
    return status;
}

kjit_status kj_launch_go(kj_binding *b, const kj_ready *ready, kjit_stream *stream)
{
    kjit_module *mod = b->kernel->mod;
    kjit_status status = KJIT_OK;
    if (mod->program->nfilled > 0)
        status = kj_const_arrays_ready(mod, ready->variant);
    if (status != KJIT_OK)
        return status;
    if (kj_staging_needed(b, ready->variant))
        status = run_staged(b, ready, stream);
    else
        status = run(b, ready, NULL, stream);
    if (!stream)
        kj_waited(mod->ctx);
    return status;
}

kjit_status kj_launch_bound(kj_binding *b, kjit_stream *stream)
{
    kj_ready ready;
    if (kj_stream_records(stream))
        return kj_graph_record_bound(b, stream);
    kjit_status status = kj_launch_ready(b, &ready);
    if (status == KJIT_OK && b->smart)
        status = kj_smart_args_enter(b, ready.variant);
    if (status != KJIT_OK)
        return status;
    status = kj_capsule_wanted(b->kernel->mod->ctx) ? kj_capsule_launch(b, &ready, stream)
                                                    : kj_launch_go(b, &ready, stream);
    if (b->smart)
        kj_smart_args_leave(b, ready.variant);
    return status;
}

kjit_status kj_launch_enter(kjit_module *mod, const char *name, const kjit_stream *stream,
                            const kjit_arg *args, int nargs, kj_kernel **kernel)
{
    kjit_status status = kj_enter_compiled(mod);
    if (status != KJIT_OK)
        return status;
    if (!name)
        return kj_fail(mod->ctx, KJIT_INVALID, "the kernel's name is NULL");
    if (nargs < 0)
        return kj_fail(mod->ctx, KJIT_INVALID, "nargs is %d", nargs);
    if (!args && nargs > 0)
        return kj_fail(mod->ctx, KJIT_INVALID, "args is NULL, and nargs is %d", nargs);
    status = kj_check_stream(mod->ctx, stream);
    if (status != KJIT_OK)
        return status;
    *kernel = kj_module_find(mod, name);
    return *kernel ? KJIT_OK : kj_no_kernel(mod, name);
}

kjit_status kj_launch_bind(kj_binding *b, const kjit_config *config, const kjit_arg *args,
                           int nargs)
{
    kjit_status status = kj_check_dims(b, config);
    if (status == KJIT_OK)
        status = kj_check_reserved(b->kernel->mod->ctx, KJ_RESERVED(config, "the config's"));
    if (status == KJIT_OK && config->timeout_ms != 0)
        status = kj_check_timeout(b->kernel->mod->ctx, "config.timeout_ms", config->timeout_ms);
    b->timeout_ms = config->timeout_ms;
    return status == KJIT_OK ? kj_bind(b, args, nargs) : status;
}

kjit_status kj_launch_labelled(kjit_module *mod, const char *kernel, const char *label,
                               const kjit_config *config, const kjit_arg *args, int nargs)
{
    kj_kernel *k;
    kj_binding b;
    kjit_status status =
        kj_launch_enter(mod, kernel, config ? config->stream : NULL, args, nargs, &k);
    if (status != KJIT_OK)
        return status;
    if (!config)
        return kj_fail(mod->ctx, KJIT_INVALID, "config is NULL");
    status = kj_binding_begin(k, &b);
    if (status == KJIT_OK)
        status = kj_launch_bind(&b, config, args, nargs);
    b.label = label;
    if (status == KJIT_OK)
        status = b.grid[0] > 0 ? kj_launch_bound(&b, config->stream)
                               : kj_nothing_to_do(mod->ctx, config->stream);
    kj_binding_end(&b);
    return status;
}

kjit_status kjit_launch(kjit_module *mod, const char *kernel, const kjit_config *config,
                        const kjit_arg *args, int nargs)
{
    return kj_launch_labelled(mod, kernel, NULL, config, args, nargs);
}
