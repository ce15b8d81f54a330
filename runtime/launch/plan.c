/* Prepared launches: a bound launch is kept, to be made again without looking at its arguments.
 *
 * Most are dispatches, which go to the device as they are. Those that need more at each launch (host
 * and smart arrays that are moved, a report of what is printed, const arrays that the host fills)
 * keep their arguments alone, and are bound each time. */
#include <stdlib.h>
#include <string.h>

#include "launch/launch.h"

/* ---- Arguments of one's own ---- */

static kjit_status own_value(kjit_context *ctx, const kjit_arg *arg, kjit_arg *out)
{
    size_t size = kj_dtype_size(ctx, arg->dtype);
    void *value = malloc(size);
    if (!value)
        return kj_no_memory(ctx);
    memcpy(value, arg->u.value, size);
    *out = kjit_arg_value(arg->dtype, value);
    return KJIT_OK;
}

/* A bound argument's copy, that depends on nothing of the caller's. */
static kjit_status own(kjit_context *ctx, const kjit_arg *arg, kjit_arg *out)
{
    kjit_array *a = kj_arg_is_array(arg) ? arg->u.array : NULL, *view;
    if (arg->kind == KJIT_ARG_VALUE)
        return own_value(ctx, arg, out);
    *out = *arg;
    out->name = NULL;
    if (!a)
        return KJIT_OK;
    kjit_status status = kj_array_view(a, a->data, a->dtype, a->ndim, a->shape, a->strides, &view);
    if (status != KJIT_OK)
        return status;
    kj_handle_hide(view);
    out->u.array = view;
    view->smart = a->smart;
    if (view->smart)
        kj_smart_hold(view->smart);
    return KJIT_OK;
}

static void disown(kjit_arg *arg)
{
    if (arg->kind == KJIT_ARG_VALUE)
        free((void *)(uintptr_t)arg->u.value);
    if (!kj_arg_is_array(arg))
        return;
    if (arg->u.array && arg->u.array->smart)
        kj_smart_drop(arg->u.array->smart);
    kj_array_drop(arg->u.array);
}

/* ---- Preparing ---- */

/* Does every launch of it take the same values? */
static bool is_constant(const kj_binding *b, const kj_variant *variant)
{
    const kj_kernel_info *k = variant->kernel;
    return k->nfilled == 0 && !kj_is_reported(b->kernel->mod->ctx, k) &&
           !kj_staging_needed(b, variant) && !b->smart;
}

/* *out is NULL where a dispatch is not all that is needed. */
static kjit_status make_dispatch(kj_binding *b, kj_dispatch **out)
{
    kj_ready ready;
    *out = NULL;
    if (b->grid[0] == 0)
        return KJIT_OK;
    kjit_status status = kj_launch_ready(b, &ready);
    if (status != KJIT_OK || !is_constant(b, ready.variant))
        return status;
    return kj_dispatch_new(b, &ready, NULL, NULL, NULL, out);
}

static kjit_status own_all(kj_prepared *p, const kj_binding *b)
{
    kjit_status status = KJIT_OK;
    for (int i = 0; i < p->kernel->decl->nparams && status == KJIT_OK; i++) {
        if (!b->args[i])
            continue;
        status = own(p->kernel->mod->ctx, b->args[i], &p->args[i]);
        p->given[i] = status == KJIT_OK;
    }
    return status;
}

kjit_status kj_prepared_new(kj_binding *b, kj_prepared **out)
{
    size_t n = (size_t)b->kernel->decl->nparams;
    kj_prepared *p = calloc(1, sizeof *p + n * sizeof *p->args + n * sizeof *p->given);
    if (!p)
        return kj_no_memory(b->kernel->mod->ctx);
    atomic_init(&p->refs, 1);
    p->kernel = b->kernel;
    p->given = (bool *)(p->args + n);
    kj_module_hold(p->kernel->mod);
    memcpy(p->grid, b->grid, sizeof p->grid);
    memcpy(p->block, b->block, sizeof p->block);
    p->timeout_ms = b->timeout_ms;
    kjit_status status = own_all(p, b);
    if (status == KJIT_OK)
        status = make_dispatch(b, &p->dispatch);
    if (status == KJIT_OK)
        *out = p;
    else
        kj_prepared_drop(p);
    return status;
}

void kj_prepared_hold(kj_prepared *p)
{
    atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
}

void kj_prepared_drop(kj_prepared *p)
{
    if (atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1)
        return;
    kj_dispatch_drop(p->dispatch);
    for (int i = 0; i < p->kernel->decl->nparams; i++)
        if (p->given[i])
            disown(&p->args[i]);
    kj_module_drop(p->kernel->mod);
    free(p);
}

/* ---- Launching ---- */

/* Whose each argument is, in a binding that is to be bound. */
static void place(const kj_prepared *p, kj_binding *b)
{
    memcpy(b->grid, p->grid, sizeof b->grid);
    memcpy(b->block, p->block, sizeof b->block);
    b->timeout_ms = p->timeout_ms;
    for (int i = 0; i < p->kernel->decl->nparams; i++)
        b->args[i] = p->given[i] ? &p->args[i] : NULL;
}

static kjit_status launch_anew(const kj_prepared *p, kjit_stream *stream)
{
    kj_binding b;
    kjit_status status = kj_binding_begin(p->kernel, &b);
    if (status == KJIT_OK) {
        place(p, &b);
        status = kj_bind_placed(&b);
    }
    if (status == KJIT_OK)
        status = kj_launch_bound(&b, stream);
    kj_binding_end(&b);
    return status;
}

kjit_status kj_prepared_launch(kj_prepared *p, kjit_stream *stream)
{
    if (p->grid[0] == 0)
        return kj_nothing_to_do(p->kernel->mod->ctx, stream);
    if (!p->dispatch)
        return launch_anew(p, stream);
    kj_halt *halt;
    kjit_status status = kj_halt_new(p->kernel->mod->ctx, stream, p->timeout_ms, &halt);
    if (status != KJIT_OK)
        return status;
    status = kj_dispatch_launch(p->dispatch, NULL, NULL, halt, stream);
    kj_halt_drop(halt);
    if (!stream)
        kj_waited(p->kernel->mod->ctx);
    return status;
}

/* ---- Plans ---- */

struct kjit_launch_plan {
    kj_handle handle;
    kjit_context *ctx; /* its module's */
    kj_prepared *now;
};

static kjit_status enter_plan(const kjit_launch_plan *plan)
{
    return kj_lives(plan, KJ_PLAN) ? kj_enter(plan->ctx) : kj_no_handle(plan, KJ_PLAN);
}

kjit_status kjit_launch_plan_create(kjit_module *mod, const char *kernel, const kjit_config *config,
                                    const kjit_arg *args, int nargs, kjit_launch_plan **out)
{
    kj_kernel *k;
    kj_binding b;
    kj_prepared *p;
    kjit_status status =
        KJ_MAKES(out, kj_launch_enter(mod, kernel, NULL, args, nargs, &k), mod->ctx);
    if (status != KJIT_OK)
        return status;
    if (!config)
        return kj_fail(mod->ctx, KJIT_INVALID, "config is NULL");
    status = kj_binding_begin(k, &b);
    if (status == KJIT_OK)
        status = kj_launch_bind(&b, config, args, nargs);
    if (status == KJIT_OK)
        status = kj_prepared_new(&b, &p);
    kj_binding_end(&b);
    if (status != KJIT_OK)
        return status;
    kjit_launch_plan *plan = kj_handle_new(KJ_PLAN, sizeof *plan);
    if (!plan) {
        kj_prepared_drop(p);
        return kj_no_memory(mod->ctx);
    }
    plan->ctx = mod->ctx;
    plan->now = p;
    *out = plan;
    return KJIT_OK;
}

/* Puts one bound argument into a launch that nobody else has. */
static kjit_status replace(kj_prepared *p, kj_binding *b, int param)
{
    kjit_arg mine;
    kj_dispatch *dispatch;
    kjit_status status = own(p->kernel->mod->ctx, b->args[param], &mine);
    if (status != KJIT_OK)
        return status;
    status = make_dispatch(b, &dispatch);
    if (status != KJIT_OK) {
        disown(&mine);
        return status;
    }
    if (p->given[param])
        disown(&p->args[param]);
    p->args[param] = mine;
    p->given[param] = true;
    kj_dispatch_drop(p->dispatch);
    p->dispatch = dispatch;
    return KJIT_OK;
}

/* Binds the plan's launch with one argument in place of what it has, and keeps that. */
static kjit_status bind_with(kjit_launch_plan *plan, kj_binding *b, int param, const kjit_arg *arg)
{
    kj_prepared *p = plan->now, *fresh;
    kjit_status status = KJIT_OK;
    place(p, b);
    b->args[param] = arg;
    if (arg->kind == KJIT_ARG_SMART)
        status = kj_smart_argument(p->kernel->mod->ctx, arg, &b->args[param]);
    if (status == KJIT_OK)
        status = kj_bind_placed(b);
    if (status != KJIT_OK)
        return status;
    if (atomic_load_explicit(&p->refs, memory_order_acquire) == 1)
        return replace(p, b, param);
    status = kj_prepared_new(b, &fresh);
    if (status != KJIT_OK)
        return status;
    plan->now = fresh;
    kj_prepared_drop(p);
    return KJIT_OK;
}

kjit_status kjit_launch_plan_set(kjit_launch_plan *plan, int param, kjit_arg arg)
{
    kj_binding b;
    kjit_status status = enter_plan(plan);
    if (status != KJIT_OK)
        return status;
    kj_kernel *kernel = plan->now->kernel;
    if (param < 0 || param >= kernel->decl->nparams)
        return kj_fail(plan->ctx, KJIT_INVALID,
                       "kernel '%s': there is no parameter %d: they are numbered from 0 to %d",
                       kernel->decl->name, param, kernel->decl->nparams - 1);
    status = kj_binding_begin(kernel, &b);
    if (status == KJIT_OK)
        status = bind_with(plan, &b, param, &arg);
    kj_binding_end(&b);
    return status;
}

kjit_status kjit_launch_plan_run(kjit_launch_plan *plan, kjit_stream *stream)
{
    kjit_status status = enter_plan(plan);
    if (status == KJIT_OK)
        status = kj_check_stream(plan->ctx, stream);
    if (status != KJIT_OK)
        return status;
    return kj_stream_records(stream) ? kj_graph_record_launch(plan->now, stream)
                                     : kj_prepared_launch(plan->now, stream);
}

void kjit_launch_plan_free(kjit_launch_plan *plan)
{
    if (!kj_can_free(plan, KJ_PLAN) || kj_forked(plan->ctx) || !kj_handle_close(plan))
        return;
    kjit_context *ctx = plan->ctx;
    kj_context_hold(ctx);
    kj_prepared_drop(plan->now);
    kj_handle_free(plan);
    kj_freed(ctx);
}
