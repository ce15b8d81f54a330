/* Which thread of a block was the first to fail: a CPU runs them side by side, and stops when it sees that
 * some have. Where the same comes of it (analysis/replay.c), the block is run again, thread after thread,
 * by code that is made for that and writes nothing. */
#include <stdlib.h>
#include <string.h>

#include "module/module.h"

enum { SIDE_BY_SIDE = 63 }; /* blocks in front of it that one may have run with, at most */

typedef struct replay {
    kjit_module *mod;
    const kj_variant *variant;
    const kj_launch_call *call;
    kj_arena arena;
    kj_code code;
    kj_exec *exec;
    bool compiled;
    kj_host_fault fault;
} replay;

/* The bytes from the first element of an array to its last, by its slots. */
typedef struct range {
    uint64_t begin, end;
} range;

static range range_of(const kj_param_info *p, const uint64_t *slots)
{
    range r = {slots[0], slots[0] + (uint64_t)p->size};
    for (int d = 0; d < p->ndim; d++) {
        int64_t extent = (int64_t)slots[1 + d], stride = (int64_t)slots[1 + p->ndim + d];
        uint64_t way = (uint64_t)((extent - 1) * stride * p->unit);
        if (extent == 0)
            return (range){0, 0};
        if (stride < 0)
            r.begin += way;
        else
            r.end += way;
    }
    return r;
}

/* Is what the launch wrote in no other of its arrays? */
static bool are_apart(const kj_kernel_info *kernel, const uint64_t *slots)
{
    range others[KJ_MAX_PARAMS];
    bool apart = true;
    for (int i = 0; i < kernel->nparams; i++) {
        const kj_param_info *p = &kernel->params[i];
        others[i] = p->is_array ? range_of(p, slots) : (range){0, 0};
        for (int k = 0; k < i; k++)
            apart &= !(p->written || kernel->params[k].written) ||
                     others[k].end <= others[i].begin || others[i].end <= others[k].begin;
        slots += p->is_array ? 1 + 2 * p->ndim : 1;
    }
    return apart;
}

static void compile(void *data)
{
    replay *r = data;
    const kj_variant *v = r->variant;
    kj_diag diag;
    kj_spec spec = *v->spec;
    spec.checks &= ~(unsigned)KJ_CHECKS_WATCHED;
    spec.disjoint = are_apart(v->kernel, r->call->values->slots);
    kj_compile_options options = r->mod->options;
    options.replay = true;
    spec.polls = options.polls = false;
    options.opt_level = 1;
    kj_diag_init(&diag, &r->arena, &r->mod->source);
    r->compiled =
        kj_specialise(&r->arena, &diag, r->mod->program, v->decl, &spec, NULL, &r->code) &&
        kj_may_be_replayed(&r->arena, &r->code) &&
        kj_generate(&r->arena, &diag, &options, r->mod->ctx->ops->stage, &r->code);
}

static bool prepare(replay *r)
{
    kjit_context *ctx = r->mod->ctx;
    kj_complaint complaint;
    kj_failure why;
    if (kj_guarded_apart(&r->arena, compile, r, &complaint) != KJ_DONE || !r->compiled)
        return false;
    bool loaded = ctx->ops->load(ctx->dev, &r->code, &r->exec, &why) == KJIT_OK;
    kj_code_free(&r->code);
    return loaded;
}

static int64_t number_of(const kj_host_launch *values, const kj_host_fault *f)
{
    return f->block[0] + values->grid[0] * (f->block[1] + values->grid[1] * f->block[2]);
}

/* Up to the block that is known to have failed. */
static bool run(replay *r, const kj_host_fault *known)
{
    kjit_context *ctx = r->mod->ctx;
    kj_launch_call call = *r->call;
    kj_failure why;
    size_t size = sizeof *call.values + call.nslots * sizeof call.values->slots[0];
    kj_host_launch *values = malloc(size);
    if (!values)
        return false;
    memcpy(values, call.values, size);
    call.values = values;
    call.exec = r->exec;
    call.scratch = call.scratch - (size_t)r->variant->scratch + (size_t)r->code.scratch;
    int64_t last = number_of(values, known), before = r->code.fused ? known->block[0] : 0;
    before = before < SIDE_BY_SIDE ? before : SIDE_BY_SIDE;
    kjit_status status =
        ctx->ops->replay(ctx->dev, &call, last - before, before + 1, &r->fault, &why);
    free(values);
    return status == KJIT_FAULT && r->fault.kind == KJ_FAULT_ASSERT;
}

char *kj_launch_fault_text(kjit_module *mod, const kj_variant *variant, const kj_launch_call *call,
                           const kj_host_fault *fault)
{
    kjit_context *ctx = mod->ctx;
    char *text = NULL;
    if (ctx->ops->replay && !ctx->halts.cancellable && variant->spec &&
        fault->kind == KJ_FAULT_ASSERT) {
        replay r = {.mod = mod, .variant = variant, .call = call};
        kj_failure why;
        kj_arena_init(&r.arena, NULL);
        /* what is found must be what was known, or have come before it */
        if (prepare(&r) && run(&r, fault) && r.fault.order >= fault->order &&
            (r.fault.order > fault->order || r.fault.within >= fault->within))
            text = kj_fault_text(mod, r.code.kernel, &r.fault);
        if (r.exec)
            ctx->ops->unload(ctx->dev, r.exec, &why);
        kj_arena_free(&r.arena);
    }
    return text ? text : kj_fault_text(mod, variant->kernel, fault);
}
