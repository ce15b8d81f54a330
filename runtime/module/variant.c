/* Variants: one kernel compiled for what a launch fixes. Found without a lock, compiled once under
 * the kernel's. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "compile.h"
#include "module/cache.h"
#include "module/image.h"

static uint64_t hash_key(const uint64_t *key, int n)
{
    uint64_t h = KJ_HASH_BEGIN;
    for (int i = 0; i < n; i++)
        h = kj_hash_word(h, key[i]);
    return h;
}

/* What a launch asks for. */
typedef struct wanted {
    const uint64_t *key;
    uint64_t hash;
    const kj_eval_env *env;
} wanted;

static kj_variant *after(const kj_variant *v)
{
    return atomic_load_explicit(&v->next, memory_order_acquire);
}

/* The first one from v on that has the key. */
static kj_variant *alike(const kj_kernel *kernel, const wanted *w, kj_variant *v)
{
    size_t size = (size_t)kernel->key_words * sizeof *w->key;
    while (v && (v->hash != w->hash || memcmp(v->key, w->key, size) != 0))
        v = after(v);
    return v;
}

/* The one, from v on, that was compiled for a launch like this: most are like the one before. */
static kj_variant *made_for(const kj_kernel *kernel, const wanted *w, kj_variant *v)
{
    int64_t given[KJ_MAX_GIVEN];
    int n = kj_given(v->kernel->limits, w->env, given);
    while (n >= 0 && v &&
           (v->ngiven != n || memcmp(v->given, given, (size_t)n * sizeof *given) != 0))
        v = alike(kernel, w, after(v));
    return n >= 0 ? v : NULL;
}

/* Is it for any launch of its key, and no other is for some? So it is in images. */
static bool is_only_one(const kj_kernel *kernel, const wanted *w, const kj_variant *v)
{
    return v->unheld == UINT64_MAX && !alike(kernel, w, after(v));
}

/* Those of one key differ in what their launches hold, and all know how to tell. */
static kj_variant *find(const kj_kernel *kernel, const wanted *w, int *among)
{
    const _Atomic(kj_variant *) *bucket = &kernel->buckets[w->hash % KJ_BUCKETS];
    kj_variant *v = alike(kernel, w, atomic_load_explicit(bucket, memory_order_acquire));
    *among = 0;
    if (!v || !v->kernel->limits || is_only_one(kernel, w, v))
        return v;
    kj_variant *same = made_for(kernel, w, v), *any = NULL;
    if (same)
        return same;
    uint64_t unheld = kj_unheld(v->kernel->limits, w->env);
    for (; v && v->unheld != unheld; v = alike(kernel, w, after(v)), ++*among)
        any = v->unheld == UINT64_MAX ? v : any;
    return v ? v : any;
}

typedef struct compilation {
    kj_kernel *kernel;
    const kj_spec *spec;
    const kj_eval_env *env; /* of the launch it is for; NULL: for any */
    const char *label;
    const kj_made *made; /* ahead of time; NULL: it is compiled */
    kj_variant *variant;
    kj_cached cached;
    kj_code code;
    bool compiled;
    const char *errors; /* in the variant's arena */
    kjit_status loaded;
    kj_failure why;
} compilation;

/* A kernel and its place, for a device's messages. */
static const char *what(kj_arena *arena, const kj_kernel *kernel, const char *label)
{
    if (label)
        return kj_arena_printf(arena, "%s", label);
    const kj_source *source = &kernel->mod->source;
    kj_position at = kj_where(source, kernel->decl->item->name_span.begin);
    return kj_arena_printf(arena, "kernel '%s' (%s:%u)", kernel->decl->name, at.file, at.line);
}

static const kj_spec *kept_spec(kj_arena *arena, const kj_kernel_decl *decl, const kj_spec *spec)
{
    kj_spec *out = KJ_NEW(arena, kj_spec);
    kj_dtype *generics = KJ_NEW_ARRAY(arena, kj_dtype, (size_t)decl->ngenerics + 1);
    kj_value *consts = KJ_NEW_ARRAY(arena, kj_value, (size_t)decl->nconsts + 1);
    kj_layout *layouts = KJ_NEW_ARRAY(arena, kj_layout, (size_t)decl->nparams + 1);
    memcpy(generics, spec->generics, (size_t)decl->ngenerics * sizeof *generics);
    memcpy(consts, spec->consts, (size_t)decl->nconsts * sizeof *consts);
    uint8_t *lasts = KJ_NEW_ARRAY(arena, uint8_t, (size_t)decl->nparams + 1);
    memcpy(lasts, spec->lasts, (size_t)decl->nparams);
    memcpy(layouts, spec->layouts, (size_t)decl->nparams * sizeof *layouts);
    *out = *spec;
    out->generics = generics;
    out->consts = consts;
    out->layouts = layouts;
    out->lasts = lasts;
    return out;
}

/* For when a launch fails; NULL: it cannot be run again. */
static kj_replays *replays_of(const compilation *c)
{
    const kjit_context *ctx = c->kernel->mod->ctx;
    if (c->code.kernel->nsites == 0 || !ctx->ops->replay || (c->made && ctx->halts.cancellable))
        return NULL;
    kj_arena *arena = &c->variant->arena;
    kj_replays *r = KJ_NEW(arena, kj_replays);
    r->kernel = c->kernel;
    r->name = c->label ? c->variant->what : c->kernel->decl->name;
    r->spec = kept_spec(arena, c->kernel->decl, c->spec);
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

static void compile(compilation *c, kj_arena *arena)
{
    kjit_module *mod = c->kernel->mod;
    kj_diag diag;
    kj_compile_options options = mod->options;
    if (mod->ctx->ops->code)
        mod->ctx->ops->code->target(mod->ctx->dev, &options);
    kj_diag_init(&diag, arena, &mod->source);
    c->compiled = kj_specialise(arena, &diag, mod->program, c->kernel->decl, c->spec, c->env,
                                UINT64_MAX, &c->code);
    if (c->compiled) {
        kj_cached_begin(&c->cached, c->kernel, c->spec, c->variant->key, c->code.unheld, &options,
                        arena);
        c->compiled =
            kj_cached_make(&c->cached, arena, &diag, &options, mod->ctx->ops->stage, &c->code);
    }
    if (!c->compiled)
        c->errors = kj_diag_told(&diag, atomic_load(&mod->ctx->want_json) > 0);
}

static void get_code(void *data)
{
    compilation *c = data;
    const kjit_module *mod = c->kernel->mod;
    kj_arena *arena = &c->variant->arena;
    c->variant->filled = KJ_NEW_ARRAY(arena, uint64_t, (size_t)mod->program->nfilled + 1);
    c->variant->what = what(arena, c->kernel, c->label);
    if (!c->made)
        compile(c, arena);
    else if (!(c->compiled = kj_image_code(mod, c->made, arena, &c->code)))
        c->errors = "the image of the module ends too early";
    c->variant->unheld = c->code.unheld;
    if (c->compiled)
        c->variant->replays = replays_of(c);
}

static void load(void *data)
{
    compilation *c = data;
    kjit_context *ctx = c->kernel->mod->ctx;
    c->loaded = ctx->ops->load(ctx->dev, &c->code, &c->variant->exec, &c->why);
}

/* A driver compiles when it loads. */
static kjit_status load_code(compilation *c)
{
    if (!kj_with_stack(KJ_DRIVER_STACK, load, c))
        return kj_because(&c->why, KJIT_NO_MEMORY, KJ_NO_THREAD);
    return c->loaded;
}

/* Is it the code of the launch that asks, by what holds there? */
static bool is_for_launch(const compilation *c)
{
    const struct kj_limits *limits = c->code.kernel->limits;
    return limits && c->env && (!c->made || c->variant->unheld == kj_unheld(limits, c->env));
}

static kjit_status build(compilation *c)
{
    kjit_context *ctx = c->kernel->mod->ctx;
    kj_variant *v = c->variant;
    kj_complaint complaint;
    kj_outcome outcome = c->made ? kj_guarded_near(&v->arena, get_code, c, &complaint)
                                 : kj_guarded_apart(&v->arena, get_code, c, &complaint);
    kj_compiling_end(&v->arena);
    kj_cached_end(&c->cached);
    if (outcome != KJ_DONE)
        return kj_fail_early(ctx, &v->arena, outcome, &complaint);
    if (!c->compiled)
        return kj_fail_lines(ctx, KJIT_COMPILE, c->errors);
    v->kernel = c->code.kernel;
    v->scratch = c->code.scratch;
    v->shared = v->kernel->shared;
    v->ngiven = -1;
    if (is_for_launch(c))
        v->ngiven = kj_given(v->kernel->limits, c->env, v->given);
    kjit_status status = load_code(c);
    if (status == KJIT_NO_MEMORY) {
        kj_make_room(ctx);
        status = load_code(c);
    }
    kj_code_free(&c->code);
    if (status == KJIT_NO_DEVICE && v->kernel->launches)
        return kj_fail_launching(c->kernel->mod, v->kernel, c->why.text);
    return status == KJIT_OK ? status : kj_fail_why(ctx, status, &c->why);
}

kjit_status kj_variant_free(kj_variant *variant, kjit_context *ctx, kj_failure *why)
{
    kjit_status status = KJIT_OK;
    if (variant->exec)
        status = ctx->ops->unload(ctx->dev, variant->exec, why);
    kj_replays_free(variant->replays, ctx);
    kj_arena_free(&variant->arena);
    free(variant);
    return status;
}

/* Under the kernel's lock. */
static kjit_status add(kj_kernel *kernel, const kj_spec *spec, const wanted *w, const char *label,
                       const kj_made *made, kj_variant **out)
{
    kjit_context *ctx = kernel->mod->ctx;
    size_t size = (size_t)kernel->key_words * sizeof *w->key;
    kjit_status status = kj_module_fits(kernel->mod);
    if (status == KJIT_OK)
        status = kj_check_time(ctx);
    if (status != KJIT_OK)
        return status;
    kj_variant *v = calloc(1, sizeof *v + size);
    if (!v)
        return kj_no_memory(ctx);
    kj_compiling_begin(ctx, &v->arena);
    v->hash = w->hash;
    memcpy(v->key, w->key, size);
    compilation c = {.kernel = kernel,
                     .spec = spec,
                     .env = w->env,
                     .label = label,
                     .made = made,
                     .variant = v,
                     .cached = {.lock = -1, .kept = made != NULL}};
    const kj_timing_hook *hook = atomic_load(&ctx->timing);
    bool tracing = kj_tracing(ctx);
    double start = hook || tracing ? kj_now_ms() : 0;
    status = build(&c);
    if (status != KJIT_OK) {
        kj_failure why;
        kj_variant_free(v, ctx, &why); /* it has no code */
        return status;
    }
    if (hook)
        hook->report(hook->user,
                     &(kj_timing){.kind = c.cached.kept ? KJ_TIMING_LOAD : KJ_TIMING_COMPILE,
                                  .name = label ? label : kernel->decl->name,
                                  .ms = kj_now_ms() - start});
    if (tracing)
        kj_trace_compiled(ctx, c.cached.kept, label ? label : kernel->decl->name, start);
    _Atomic(kj_variant *) *bucket = &kernel->buckets[w->hash % KJ_BUCKETS];
    atomic_init(&v->next, atomic_load(bucket));
    atomic_store_explicit(bucket, v, memory_order_release);
    *out = v;
    return KJIT_OK;
}

/* All code that there is for the key: which of it a launch takes is asked of what is there. */
static kjit_status add_made(kj_kernel *kernel, const kj_spec *spec, const wanted *w,
                            const char *label)
{
    int n;
    const kj_made *made = kj_image_find(kernel, w->key, &n);
    kjit_status status = made ? KJIT_OK : kj_image_lacks(kernel, spec);
    kj_variant *unused;
    for (int i = 0; i < n && status == KJIT_OK; i++)
        status = add(kernel, spec, w, label, &made[i], &unused);
    return status;
}

kjit_status kj_variant_get(kj_kernel *kernel, const kj_spec *spec, const uint64_t *key,
                           const kj_eval_env *env, const char *label, kj_variant **out)
{
    enum { MOST = 4 }; /* of one key for launches that hold this or that; then one for all others */
    wanted w = {.key = key, .hash = hash_key(key, kernel->key_words), .env = env};
    int among;
    *out = find(kernel, &w, &among);
    if (*out)
        return KJIT_OK;
    pthread_mutex_lock(&kernel->lock);
    kjit_status status = KJIT_OK;
    *out = find(kernel, &w, &among); /* another thread was first */
    if (!*out && kernel->mod->image) {
        status = add_made(kernel, spec, &w, label);
        if (status == KJIT_OK)
            *out = find(kernel, &w, &among);
        if (status == KJIT_OK && !*out)
            status = kj_image_lacks(kernel, spec);
    } else if (!*out) {
        w.env = among < MOST ? env : NULL;
        status = add(kernel, spec, &w, label, NULL, out);
    }
    pthread_mutex_unlock(&kernel->lock);
    return status;
}
