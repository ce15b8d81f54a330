/* kjit_run: a module's run block from its beginning to its end. In: a checked module and the
 * caller's options; out: what the block does, and a status with a sentence that shows the place. */
#include "run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The failure as text ---- */

/* A message that is a diagnostic itself, of a place in a kernel, stands first; then who launched
 * it. */
static void put_located(kj_run *r, kj_diag *d, kj_text *t)
{
    bool located = strchr(r->message, '\n') != NULL;
    kj_message *m = kj_error(d, r->at, KJ_RULE_RUN, "%s", located ? "" : r->message);
    if (r->hint && !located)
        kj_hint(d, m, "%s", r->hint);
    const char *text = kj_diag_text(d);
    if (!located) {
        kj_text_puts(t, text);
        return;
    }
    const char *what = strstr(text, " error: \n");
    size_t before = what ? (size_t)(what - text) : 0;
    kj_text_puts(t, r->message);
    kj_text_puts(t, r->message[strlen(r->message) - 1] == '\n' ? "" : "\n");
    kj_text_add(t, text, before);
    kj_text_puts(t, r->launching ? " note: launched here\n" : " note: found here\n");
    kj_text_puts(t, what ? what + strlen(" error: \n") : text);
}

static kjit_status give_failure(kj_run *r)
{
    kj_text t = {0};
    const char *message = r->message ? r->message : kjit_status_message(r->status);
    if (!r->message || r->at.begin == kj_run_nowhere.begin) {
        kj_text_printf(&t, "%s: error: %s", r->source->name, message);
        if (r->hint)
            kj_text_printf(&t, "\nhint: %s", r->hint);
    } else {
        jmp_buf no_memory;
        kj_arena arena;
        kj_diag d;
        kj_arena_init(&arena, &no_memory);
        if (setjmp(no_memory) == 0) {
            kj_diag_init(&d, &arena, r->source);
            put_located(r, &d, &t);
        } else {
            t.failed = true;
        }
        kj_arena_free(&arena);
    }
    kjit_status status =
        t.failed || !t.data
            ? kj_fail(r->ctx, r->status, "%s", kjit_status_message(r->status))
            : kj_fail(r->ctx, r->status, "%.*s", (int)kj_trimmed(t.data, t.size), t.data);
    kj_text_free(&t);
    return status;
}

/* ---- The run ---- */

static bool run_to_end(kj_run *r)
{
    const kj_item *block = r->program->run;
    if (!kj_run_check_options(r) || !kj_run_statements(r, block->body))
        return false;
    return kj_run_check(r, kj_synchronize_run(r->ctx, r->number), block->end) &&
           kj_run_save_all(r) && kj_run_digest(r);
}

/* Its arithmetic is the language's, whatever the program has set. */
static void run_block(void *run)
{
    kj_float_env env = kj_float_enter();
    kj_run *r = run;
    pthread_t outer = atomic_exchange(&r->ctx->runner, pthread_self());
    run_to_end(r);
    atomic_store(&r->ctx->runner, outer);
    kj_float_leave(env);
}

/* Expressions are evaluated as they are nested, which takes stack. */
static void run_with_stack(kj_run *r)
{
    enum { NEEDED = 5 << 19 };
    if (!kj_with_stack(NEEDED, run_block, r))
        kj_run_no_memory(r, kj_run_nowhere);
}

static bool begin(kj_run *r, kjit_module *mod, const kjit_run_options *options)
{
    size_t items = 1;
    for (const kj_item *item = mod->program->file->items; item; item = item->next)
        items++;
    r->module = mod;
    r->ctx = mod->ctx;
    r->program = mod->program;
    r->source = mod->program->file->source;
    r->options = options;
    r->objects.next = r->objects.prev = &r->objects;
    r->consts = calloc(items, sizeof *r->consts);
    return r->consts != NULL;
}

/* Whatever the run still holds, wherever it ended. */
static void end(kj_run *r)
{
    while (r->objects.next != &r->objects)
        kj_run_free_object(r->objects.next);
    free(r->names);
    free(r->consts);
    kj_text_free(&r->functions);
    free(r->message);
    free(r->hint);
    free(r);
}

static kjit_status no_run_block(kjit_module *mod)
{
    kj_text t = {0};
    kj_run_suggest(mod->program, &t);
    kjit_status status =
        t.failed ? kj_no_memory(mod->ctx) : kj_fail(mod->ctx, KJIT_NOT_FOUND, "%s", t.data);
    kj_text_free(&t);
    return status;
}

/* Is the list there that the options speak of? */
static kjit_status check_list(kjit_context *ctx, const char *name, const char *const *list, int n)
{
    if (n < 0)
        return kj_fail(ctx, KJIT_INVALID, "n%s is %d: it must be 0 or more", name, n);
    if (n > 0 && !list)
        return kj_fail(ctx, KJIT_INVALID, "%s is NULL", name);
    for (int i = 0; i < n; i++) {
        if (!list[i])
            return kj_fail(ctx, KJIT_INVALID, "%s[%d] is NULL", name, i);
    }
    return KJIT_OK;
}

static kjit_status check_options(kjit_context *ctx, const kjit_run_options *o)
{
    kjit_status status = check_list(ctx, "params", o->params, o->nparams);
    return status == KJIT_OK ? check_list(ctx, "saves", o->saves, o->nsaves) : status;
}

kjit_status kjit_run(kjit_module *mod, const kjit_run_options *options)
{
    static const kjit_run_options none = {0};
    kjit_status status = kj_enter_module(mod);
    if (status == KJIT_OK) /* what it does is the context's work */
        status = kj_enter_context(mod->ctx);
    if (status != KJIT_OK)
        return status;
    if (atomic_load(&mod->ctx->runner) == pthread_self())
        return kj_fail(mod->ctx, KJIT_INVALID,
                       "a run block is running: its functions cannot start another");
    if (!mod->program)
        return kj_fail(mod->ctx, KJIT_COMPILE, "%s has errors", mod->source.name);
    if (!mod->program->run)
        return no_run_block(mod);
    status = kj_module_fits(mod);
    if (status != KJIT_OK)
        return status;
    if (!options)
        options = &none;
    status = check_options(mod->ctx, options);
    if (status != KJIT_OK)
        return status;
    kj_run *r = calloc(1, sizeof *r);
    if (!r || !begin(r, mod, options)) {
        free(r);
        return kj_no_memory(mod->ctx);
    }
    kj_print_flush(r->ctx); /* what was printed before */
    pthread_mutex_lock(&r->ctx->run_lock);
    r->number = ++r->ctx->runs;
    atomic_store(&r->ctx->runner, pthread_self());
    uint64_t failures = atomic_load(&r->ctx->failures);
    kj_print_to_run(r->ctx, r->number, r->options->write, r->options->user);
    kj_run_time_begin(r);
    kj_recycler_begin(r->ctx);
    run_with_stack(r);
    if (r->status != KJIT_OK && r->queued)
        kj_synchronize_run(r->ctx, r->number); /* nothing of it runs on; what it printed is there */
    kj_run_time_end(r);
    kj_print_to_run(r->ctx, 0, NULL, NULL);
    kj_run_ended(r->ctx, r->number, failures);
    atomic_store(&r->ctx->runner, 0);
    pthread_mutex_unlock(&r->ctx->run_lock);
    if (r->status != KJIT_OK)
        status = give_failure(r);
    end(r);
    kj_recycler_end(mod->ctx);
    kj_print_flush(mod->ctx); /* what others printed meanwhile */
    return status;
}
