/* kjit_run: a module's run block from its beginning to its end. In: a checked module and the
 * caller's options; out: what the block does, and a status with a sentence that shows the place. */
#include "run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The run ---- */

static bool run_to_end(kj_run *r)
{
    if (!kj_run_check_options(r) || !kj_run_statements(r, r->block->body))
        return false;
    return kj_run_check(r, kj_synchronize_run(r->ctx, r->number), r->block->end) &&
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
    enum { NEEDED = 5 << 19, LEVEL = 4096 }; /* of a level in calls of calls */
    bool calls = r->max_depth > KJ_RUN_MAX_DEPTH;
    size_t needed = calls ? (size_t)r->max_depth * LEVEL : NEEDED;
    if (!kj_with_stack(needed, run_block, r))
        kj_run_fail(r, KJIT_NO_MEMORY, kj_run_nowhere, KJ_NO_THREAD);
}

static bool begin(kj_run *r, kjit_module *mod, const kj_item *block,
                  const kjit_run_options *options)
{
    r->max_depth = KJ_RUN_MAX_DEPTH;
    for (int i = 0; i < mod->program->nfiles; i++)
        for (const kj_item *item = mod->program->files[i]->items; item; item = item->next)
            if (item->kind == KJ_I_RUN_FN)
                r->max_depth = KJ_RUN_MAX_DEPTH_OF_CALLS;
    r->module = mod;
    r->ctx = mod->ctx;
    r->program = mod->program;
    r->block = block;
    r->file = mod->program->file;
    r->source = mod->program->file->source;
    r->options = options;
    r->objects.next = r->objects.prev = &r->objects;
    r->trees.next = r->trees.prev = &r->trees;
    r->consts = calloc((size_t)mod->program->nitems + 1, sizeof *r->consts);
    return r->consts != NULL;
}

/* Whatever the run still holds, wherever it ended. */
static void end(kj_run *r)
{
    while (r->objects.next != &r->objects)
        kj_run_free_object(r->objects.next);
    while (r->trees.next != &r->trees)
        kj_run_free_object(r->trees.next);
    free(r->names);
    free(r->consts);
    kj_text_free(&r->functions);
    free(r->message);
    free(r->hint);
    free(r->json);
    free(r->fault);
    free(r);
}

static kjit_status no_run_block(kjit_module *mod, const kjit_run_options *options)
{
    if (mod->image)
        return kj_fail(
            mod->ctx, KJIT_NOT_FOUND,
            "%s was made ahead of time: of its file there are the kernels, and no run block",
            mod->source.name);
    kj_text hint = {0};
    const char *message = kj_run_suggest(mod->program, &hint);
    kjit_status status =
        hint.failed ? kj_no_memory(mod->ctx)
                    : kj_run_fail_nowhere(mod, options, KJIT_NOT_FOUND, message, hint.data);
    kj_text_free(&hint);
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
    kjit_status status = kj_check_reserved(ctx, KJ_RESERVED(o, "the options'"));
    if (status == KJIT_OK)
        status = check_list(ctx, "params", o->params, o->nparams);
    return status == KJIT_OK ? check_list(ctx, "saves", o->saves, o->nsaves) : status;
}

/* What the options ask for. */
static kjit_status find_block(kjit_module *mod, const kjit_run_options *o, const kj_item **out)
{
    *out = o->test ? kj_test_named(mod, o->test) : mod->program->run;
    if (!*out && o->test)
        return kj_fail(mod->ctx, KJIT_NOT_FOUND, "%s has no test '%s'", mod->source.name, o->test);
    if (!*out)
        return no_run_block(mod, o);
    if (o->test && (o->nparams > 0 || o->nsaves > 0))
        return kj_fail(mod->ctx, KJIT_INVALID, "a test takes no params and no saves");
    return KJIT_OK;
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
    const kj_item *block;
    if (!options)
        options = &none;
    status = find_block(mod, options, &block);
    if (status == KJIT_OK)
        status = kj_module_fits(mod);
    if (status == KJIT_OK)
        status = check_options(mod->ctx, options);
    if (status != KJIT_OK)
        return status;
    kj_run *r = calloc(1, sizeof *r);
    if (!r || !begin(r, mod, block, options)) {
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
    kj_limit_run(r->ctx, true);
    atomic_fetch_add(&r->ctx->want_json, r->options->json == 1);
    kj_const_array_kept *kept = options->test ? kj_const_arrays_keep(mod) : NULL;
    if (options->test && !kept)
        kj_run_fail(r, KJIT_NO_MEMORY, kj_run_nowhere, "out of memory");
    else
        run_with_stack(r);
    if (r->status != KJIT_OK && r->queued)
        kj_synchronize_run(r->ctx, r->number); /* nothing of it runs on; what it printed is there */
    kj_limit_run(r->ctx, false);
    kj_run_time_end(r);
    kj_print_to_run(r->ctx, 0, NULL, NULL);
    kj_run_ended(r->ctx, r->number, failures);
    atomic_fetch_sub(&r->ctx->want_json, r->options->json == 1);
    atomic_store(&r->ctx->runner, 0);
    if (kept)
        kj_const_arrays_reset(mod, kept);
    pthread_mutex_unlock(&r->ctx->run_lock);
    if (block->fails)
        kj_run_judge(r);
    if (r->status != KJIT_OK)
        status = kj_run_give_failure(r);
    end(r);
    kj_recycler_end(mod->ctx);
    kj_print_flush(mod->ctx); /* what others printed meanwhile */
    return status;
}
