/* Which thread of a block was the first to fail: a CPU runs them side by side, and stops when it sees that
 * some have. Where the same comes of it (analysis/replay.c), the block is run again, thread after thread,
 * by code that is made for that, the first time, and writes nothing. */
#include <stdlib.h>
#include <string.h>

#include "module/cache.h"
#include "module/image.h"
#include "stream/stream.h"

typedef struct kj_replay {
    kj_arena arena;
    kj_code code;
    kj_exec *exec; /* NULL: the same would not come of it */
} kj_replay;

/* Is what the launch wrote in no other of its arrays? */
static bool are_apart(const kj_kernel_info *kernel, const uint64_t *slots)
{
    kj_bytes others[KJ_MAX_PARAMS];
    bool apart = true;
    for (int i = 0; i < kernel->nparams; i++) {
        const kj_param_info *p = &kernel->params[i];
        others[i] = p->is_array ? kj_array_bytes(p, slots) : (kj_bytes){0, 0};
        for (int k = 0; k < i; k++)
            apart &=
                !(p->written || kernel->params[k].written) || !kj_bytes_meet(others[i], others[k]);
        slots += kj_param_slots(p);
    }
    return apart;
}

/* ---- Its code ---- */

typedef struct making {
    const kj_variant *variant;
    bool apart;
    kj_replay *replay;
    kj_cached cached;
    bool compiled;
} making;

static void get_made(making *m)
{
    const kj_kernel *kernel = m->variant->replays->kernel;
    const kj_made *made = kj_image_find_replay(kernel, m->variant->key, m->apart);
    m->compiled = made && kj_image_code(kernel->mod, made, &m->replay->arena, &m->replay->code);
}

static void compile(void *data)
{
    making *m = data;
    const kj_variant *v = m->variant;
    if (v->replays->kernel->mod->image) {
        get_made(m);
        return;
    }
    kj_kernel *kernel = v->replays->kernel;
    kjit_module *mod = kernel->mod;
    kj_arena *arena = &m->replay->arena;
    kj_code *code = &m->replay->code;
    kj_diag diag;
    kj_spec spec = *v->replays->spec;
    spec.checks &= ~(unsigned)KJ_CHECKS_WATCHED;
    spec.disjoint = m->apart;
    kj_compile_options options = mod->options;
    options.replay = true;
    options.opt_level = 1;
    kj_diag_init(&diag, arena, &mod->source);
    if (!kj_specialise(arena, &diag, mod->program, kernel->decl, &spec, NULL, UINT64_MAX, code) ||
        !kj_may_be_replayed(arena, code))
        return;
    kj_cached_begin(&m->cached, kernel, &spec, v->key, code->unheld, &options, arena);
    m->compiled = kj_cached_make(&m->cached, arena, &diag, &options, mod->ctx->ops->stage, code);
}

static void free_replay(kj_replay *r, kjit_context *ctx)
{
    kj_failure why;
    if (r && r->exec)
        ctx->ops->unload(ctx->dev, r->exec, &why);
    if (r)
        kj_arena_free(&r->arena);
    free(r);
}

/* NULL: it was not possible this time. */
static kj_replay *make(const kj_variant *v, bool apart)
{
    kjit_context *ctx = v->replays->kernel->mod->ctx;
    double start = kj_now_ms();
    kj_complaint complaint;
    kj_failure why;
    making m = {.variant = v,
                .apart = apart,
                .replay = calloc(1, sizeof *m.replay),
                .cached = {.lock = -1}};
    if (!m.replay)
        return NULL;
    kj_compiling_begin(ctx, &m.replay->arena);
    bool done = kj_guarded_apart(&m.replay->arena, compile, &m, &complaint) == KJ_DONE;
    kj_compiling_end(&m.replay->arena);
    kj_cached_end(&m.cached);
    if (done && m.compiled)
        done = ctx->ops->load(ctx->dev, &m.replay->code, &m.replay->exec, &why) == KJIT_OK;
    kj_code_free(&m.replay->code);
    if (!done) {
        free_replay(m.replay, ctx);
        return NULL;
    }
    if (!m.compiled)
        kj_arena_free(&m.replay->arena);
    else if (kj_tracing(ctx))
        kj_trace_compiled(ctx, m.cached.kept, v->replays->name, start);
    return m.replay;
}

/* The lock is of their own: who compiles under the kernel's may wait for work, of which this is a part. */
static const kj_replay *find(const kj_variant *v, bool apart)
{
    kj_replays *r = v->replays;
    pthread_mutex_lock(&r->lock);
    if (!r->made[apart])
        r->made[apart] = make(v, apart);
    const kj_replay *replay = r->made[apart];
    pthread_mutex_unlock(&r->lock);
    return replay && replay->exec ? replay : NULL;
}

void kj_replays_free(kj_replays *replays, kjit_context *ctx)
{
    if (!replays)
        return;
    for (int apart = 0; apart < 2; apart++)
        free_replay(replays->made[apart], ctx);
    pthread_mutex_destroy(&replays->lock);
}

/* ---- The run ---- */

static int64_t number_of(const kj_host_launch *values, const kj_host_fault *f)
{
    return f->block[0] + values->grid[0] * (f->block[1] + values->grid[1] * f->block[2]);
}

/* Up to the block that is known to have failed. What is found must be what was known, or have come before it. */
static bool run(const kj_replay *r, const kj_variant *variant, const kj_launch_call *launch,
                kj_halt_word halt, const kj_host_fault *known, kj_host_fault *found)
{
    kjit_context *ctx = variant->replays->kernel->mod->ctx;
    kj_launch_call call = *launch;
    kj_failure why;
    size_t size = sizeof *call.values + call.nslots * sizeof call.values->slots[0];
    kj_host_launch *values = malloc(size);
    if (!values)
        return false;
    memcpy(values, call.values, size);
    values->halt = halt.halt;
    values->going = halt.going;
    call.values = values;
    call.exec = r->exec;
    call.scratch = call.scratch - (size_t)variant->scratch + (size_t)r->code.scratch;
    int64_t last = number_of(values, known), before = r->code.fused ? known->block[0] : 0;
    before = before < KJ_RUN_OF_BLOCKS ? before : KJ_RUN_OF_BLOCKS - 1;
    kjit_status status = ctx->ops->replay(ctx->dev, &call, last - before, before + 1, found, &why);
    free(values);
    return status == KJIT_FAULT && found->kind == KJ_FAULT_ASSERT && found->order >= known->order &&
           (found->order > known->order || found->within >= known->within);
}

kj_telling kj_launch_fault_told(kjit_module *mod, const kj_variant *variant,
                                const kj_launch_call *call, kj_halt_word halt,
                                const kj_host_fault *fault)
{
    const kj_replay *replay = NULL;
    kj_host_fault found;
    if (variant->replays && fault->kind == KJ_FAULT_ASSERT)
        replay = find(variant, are_apart(variant->kernel, call->values->slots));
    kj_telling told = {0};
    if (replay && run(replay, variant, call, halt, fault, &found))
        told = kj_fault_told(mod, replay->code.kernel, &found);
    return told.text ? told : kj_fault_told(mod, variant->kernel, fault);
}
