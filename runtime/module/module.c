/* Modules: what they are, their kernels, what was said about them; and their end. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "module/module.h"

/* ---- Making ---- */

kjit_module *kj_module_new(kjit_context *ctx)
{
    kjit_module *mod = kj_handle_new(KJ_MODULE, sizeof *mod);
    if (!mod)
        return NULL;
    mod->ctx = ctx;
    kj_context_hold(ctx);
    atomic_init(&mod->refs, 1);
    pthread_mutex_init(&mod->fill_lock, NULL);
    kj_compiling_begin(ctx, &mod->arena);
    return mod;
}

void kj_list_kernels(kjit_module *mod)
{
    mod->nkernels = mod->program->nkernels;
    mod->nall = mod->program->nall;
    mod->filled = KJ_NEW_ARRAY(&mod->arena, kj_const_array_copy, (size_t)mod->program->nfilled + 1);
    mod->kernels = KJ_NEW_ARRAY(&mod->arena, kj_kernel, (size_t)mod->nall + 1);
    for (int i = 0; i < mod->nall; i++) {
        kj_kernel *k = &mod->kernels[i];
        k->mod = mod;
        k->decl = &mod->program->kernels[i];
        k->name_hash = kj_hash(k->decl->name, strlen(k->decl->name));
        k->key_words = kj_key_words(k->decl);
        pthread_mutex_init(&k->lock, NULL);
    }
}

/* ---- Ending ---- */

void kj_module_hold(kjit_module *mod)
{
    atomic_fetch_add_explicit(&mod->refs, 1, memory_order_relaxed);
}

/* Frees a module; the status is the first failure of unloading its code. */
static kjit_status free_module(kj_pending *item, kj_failure *why)
{
    kjit_module *mod = KJ_WHOLE(kjit_module, pending, item);
    kjit_status first = KJIT_OK;
    kj_failure other;
    for (int i = 0; i < mod->nall; i++) {
        kj_kernel *k = &mod->kernels[i];
        for (int b = 0; b < KJ_BUCKETS; b++) {
            kj_variant *v = atomic_load(&k->buckets[b]), *next;
            for (; v; v = next) {
                next = atomic_load(&v->next);
                kjit_status status = kj_variant_free(v, mod->ctx, first == KJIT_OK ? why : &other);
                if (first == KJIT_OK)
                    first = status;
            }
        }
        pthread_mutex_destroy(&k->lock);
        free(k->assumed);
    }
    kj_const_arrays_free(mod);
    pthread_mutex_destroy(&mod->fill_lock);
    kj_arena_free(&mod->arena);
    if (mod->deleter)
        mod->deleter(mod->owner);
    kj_handle_free(mod);
    return first;
}

/* Was code of it loaded? */
static bool has_code(const kjit_module *mod)
{
    for (int i = 0; i < mod->nall; i++) {
        for (int b = 0; b < KJ_BUCKETS; b++) {
            if (atomic_load_explicit(&mod->kernels[i].buckets[b], memory_order_relaxed))
                return true;
        }
    }
    return false;
}

void kj_module_drop(kjit_module *mod)
{
    if (atomic_fetch_sub_explicit(&mod->refs, 1, memory_order_acq_rel) != 1)
        return;
    kjit_context *ctx = mod->ctx;
    if (has_code(mod)) {
        mod->pending.deallocate = free_module;
        kj_pending_add(ctx, KJ_PENDING_RESOURCES, &mod->pending);
        return;
    }
    kj_failure why;
    free_module(&mod->pending, &why); /* without code it cannot fail */
    kj_context_drop(ctx);
}

void kjit_module_free(kjit_module *mod)
{
    if (!kj_can_free(mod, KJ_MODULE) || kj_forked(mod->ctx) || !kj_handle_close(mod))
        return;
    kjit_context *ctx = mod->ctx;
    kj_context_hold(ctx);
    kj_module_drop(mod);
    kj_freed(ctx);
}

/* ---- What a module is ---- */

kjit_diagnostic kj_diagnostic_of(const kjit_module *mod, const kj_message *m)
{
    kj_position begin = kj_where(&mod->source, m->span.begin),
                end = kj_where(&mod->source, m->span.end);
    return (kjit_diagnostic){.file = begin.file,
                             .message = m->text,
                             .hint = m->hint,
                             .code = kj_rules[m->rule].code,
                             .line = (int)begin.line,
                             .column = (int)begin.column,
                             .end_line = (int)end.line,
                             .end_column = (int)end.column,
                             .severity = m->severity == KJ_WARNING};
}

const char *kjit_module_log(kjit_module *mod)
{
    return kj_can_ask(mod, KJ_MODULE) ? mod->log : "";
}

const char *kjit_module_log_json(kjit_module *mod)
{
    return kj_can_ask(mod, KJ_MODULE) ? mod->log_json : "";
}

int kjit_module_diagnostics(kjit_module *mod, kjit_diagnostic *out, int max)
{
    if (!kj_can_ask(mod, KJ_MODULE))
        return 0;
    for (int i = 0; out && i < mod->nmessages && i < max; i++)
        out[i] = kj_diagnostic_of(mod, mod->messages[i]);
    return mod->nmessages;
}

int kjit_module_fix(kjit_module *mod, int i, kjit_fix *out)
{
    if (!kj_can_ask(mod, KJ_MODULE) || !out || i < 0 || i >= mod->nmessages ||
        !mod->messages[i]->fix)
        return 0;
    const kj_message *m = mod->messages[i];
    kj_position begin = kj_where(&mod->source, m->fix_span.begin),
                end = kj_where(&mod->source, m->fix_span.end);
    *out = (kjit_fix){.text = m->fix,
                      .line = (int)begin.line,
                      .column = (int)begin.column,
                      .end_line = (int)end.line,
                      .end_column = (int)end.column};
    return 1;
}

const char *kjit_module_kernel(kjit_module *mod, int i)
{
    return kj_can_ask(mod, KJ_MODULE) && i >= 0 && i < mod->nkernels ? mod->kernels[i].decl->name
                                                                     : NULL;
}

int kjit_module_has_run(kjit_module *mod)
{
    return kj_can_ask(mod, KJ_MODULE) && mod->program && mod->program->run;
}

bool kj_is_called(const kjit_module *mod, const char *full, const char *name)
{
    const char *dot = strchr(name, '.');
    if (!dot)
        return false;
    size_t size = (size_t)(dot - name);
    const kj_item *use = mod->program->file->items;
    for (; use && use->kind == KJ_I_USE; use = use->next) {
        const char *space = use->used ? use->used->space : NULL;
        if (space && strlen(use->name) == size && memcmp(use->name, name, size) == 0)
            return strncmp(full, space, strlen(space)) == 0 &&
                   strcmp(full + strlen(space), dot) == 0;
    }
    return false;
}

kj_kernel *kj_module_find(kjit_module *mod, const char *name)
{
    uint64_t hash = kj_hash(name, strlen(name));
    for (int i = 0; i < mod->nall; i++) {
        kj_kernel *k = &mod->kernels[i];
        if (k->name_hash == hash && strcmp(k->decl->name, name) == 0)
            return k;
    }
    for (int i = 0; i < mod->nall; i++)
        if (kj_is_called(mod, mod->kernels[i].decl->name, name))
            return &mod->kernels[i];
    return NULL;
}

kjit_status kj_no_kernel(kjit_module *mod, const char *name)
{
    const char *names[64];
    size_t n = 0;
    for (; n < 64 && n < (size_t)mod->nall; n++)
        names[n] = mod->kernels[n].decl->name;
    const char *near = NULL;
    for (size_t i = 0; i < n && !near; i++) { /* fill, of util.fill */
        const char *dot = strrchr(names[i], '.');
        near = dot && strcmp(dot + 1, name) == 0 ? names[i] : NULL;
    }
    near = near ? near : kj_nearest(name, names, n);
    if (near)
        return kj_fail(mod->ctx, KJIT_NOT_FOUND, "%s has no kernel '%.100s'; did you mean '%s'?",
                       mod->source.name, name, near);
    return kj_fail(mod->ctx, KJIT_NOT_FOUND, "%s has no kernel '%.100s'", mod->source.name, name);
}

kjit_status kj_module_fits(const kjit_module *mod)
{
    if (!mod->lacks || mod->ctx->ops->code)
        return KJIT_OK;
    return kj_fail(mod->ctx, KJIT_NO_DEVICE, "code for %s does not run here: this CPU has no %s",
                   mod->options.cpu, mod->lacks);
}

kjit_status kj_not_compiled(const kjit_module *mod)
{
    return kj_fail(mod->ctx, KJIT_COMPILE, "%s: the source has errors (kjit_module_log has them)",
                   mod->source.name);
}
