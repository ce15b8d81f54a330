/* Print functions, and the lines of kernels that wait for them: the program's, and those of the run block
 * that a thread is running.
 *
 * Lines wait in the context until a call that waits for work hands them out: a print function is
 * never called from a thread the program does not know, and a run block's from its own only. */
#include <string.h>

#include "core/core.h"

static bool in_run(const kjit_context *ctx)
{
    return atomic_load(&ctx->runner) == pthread_self();
}

uint64_t kj_print_run(const kjit_context *ctx)
{
    return in_run(ctx) ? ctx->runs : 0;
}

/* Under the lock. */
static kj_printout *out_of(kjit_context *ctx, uint64_t run)
{
    return run > 0 && run == ctx->printing_run ? &ctx->printed_in_run : &ctx->printed;
}

static uint64_t room_of(const kjit_context *ctx, const kj_printout *out)
{
    uint64_t most = ctx->limits.most.print_bytes;
    return out->counted < most ? most - out->counted : 0;
}

bool kj_print_room(kjit_context *ctx, uint64_t run, uint64_t *room)
{
    pthread_mutex_lock(&ctx->lock);
    const kj_printout *out = out_of(ctx, run);
    bool taken = out->print != NULL;
    *room = room_of(ctx, out);
    pthread_mutex_unlock(&ctx->lock);
    return taken;
}

uint64_t kj_print_count(kjit_context *ctx, uint64_t run, uint64_t size)
{
    pthread_mutex_lock(&ctx->lock);
    kj_printout *out = out_of(ctx, run);
    uint64_t room = room_of(ctx, out), given = size < room ? size : room;
    if (ctx->limits.most.print_bytes != KJ_NO_LIMIT)
        out->counted += given;
    pthread_mutex_unlock(&ctx->lock);
    return given;
}

void kj_print_keep(kjit_context *ctx, uint64_t run, const kj_text *text)
{
    if (text->size == 0 && !text->failed)
        return;
    pthread_mutex_lock(&ctx->lock);
    kj_printout *out = out_of(ctx, run);
    if (out->print) {
        if (text->size > 0)
            kj_text_add(&out->text, text->data, text->size);
        out->text.failed |= text->failed;
        atomic_store(&ctx->has_printed, true);
    }
    pthread_mutex_unlock(&ctx->lock);
}

/* Under the print lock. Until the lines are handed over there are some, so that whoever has waited for
 * the work that printed them waits for that, too. Where memory was short, there are fewer lines than
 * kernels printed. A run block's function may use the context. */
static void flush(kjit_context *ctx, bool of_run)
{
    static const char lost[] = "(lines of kernels are lost: out of memory)\n";
    pthread_mutex_lock(&ctx->lock);
    kj_printout *waiting = of_run ? &ctx->printed_in_run : &ctx->printed, out = *waiting;
    waiting->text = (kj_text){0};
    pthread_mutex_unlock(&ctx->lock);
    kj_calling calling;
    kj_calling_begin(&calling, of_run ? NULL : ctx);
    if (out.print && out.text.size > 0)
        out.print(out.user, out.text.data, out.text.size);
    if (out.print && out.text.failed)
        out.print(out.user, lost, strlen(lost));
    kj_calling_end(&calling);
    kj_text_free(&out.text);
    pthread_mutex_lock(&ctx->lock);
    const kj_text *a = &ctx->printed.text, *b = &ctx->printed_in_run.text;
    atomic_store(&ctx->has_printed, a->size > 0 || a->failed || b->size > 0 || b->failed);
    pthread_mutex_unlock(&ctx->lock);
}

static void lock(kjit_context *ctx)
{
    pthread_mutex_lock(&ctx->print_lock);
    atomic_store(&ctx->print_owner, pthread_self());
}

static void unlock(kjit_context *ctx)
{
    atomic_store(&ctx->print_owner, 0);
    pthread_mutex_unlock(&ctx->print_lock);
}

void kj_print_flush(kjit_context *ctx)
{
    if (!atomic_load_explicit(&ctx->has_printed, memory_order_acquire) ||
        atomic_load(&ctx->print_owner) == pthread_self()) /* from its print function */
        return;
    lock(ctx);
    flush(ctx, in_run(ctx));
    unlock(ctx);
}

static void give_to(kjit_context *ctx, bool of_run, kjit_print_fn *print, void *user)
{
    bool calling = atomic_load(&ctx->print_owner) == pthread_self(); /* from a print function */
    if (!calling) {
        lock(ctx);
        flush(ctx, of_run);
    }
    pthread_mutex_lock(&ctx->lock);
    kj_printout *out = of_run ? &ctx->printed_in_run : &ctx->printed;
    out->print = print;
    out->user = user;
    out->counted = 0;
    pthread_mutex_unlock(&ctx->lock);
    if (!calling)
        unlock(ctx);
}

static void set_run(kjit_context *ctx, uint64_t run)
{
    pthread_mutex_lock(&ctx->lock);
    ctx->printing_run = run;
    pthread_mutex_unlock(&ctx->lock);
}

void kj_print_to_run(kjit_context *ctx, uint64_t run, kjit_print_fn *print, void *user)
{
    if (run == 0) /* what comes later is the program's */
        set_run(ctx, 0);
    give_to(ctx, true, print, user);
    if (run != 0)
        set_run(ctx, run);
}

void kjit_set_print(kjit_context *ctx, kjit_print_fn *print, void *user)
{
    if (kj_enter_context(ctx) == KJIT_OK)
        give_to(ctx, false, print, user);
}
