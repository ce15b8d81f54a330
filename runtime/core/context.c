/* Contexts as everybody else needs them: entered by calls of the API, which a forked child is refused, held, let go. */
#include <unistd.h>

#include "core/core.h"

bool kj_forked(const kjit_context *ctx)
{
    return ctx->alive ? !*ctx->alive : ctx->pid != getpid();
}

/* The functions of the program's that this thread is in. */
static _Thread_local const kj_calling *calling;

void kj_calling_begin(kj_calling *c, const kjit_context *ctx)
{
    *c = (kj_calling){.ctx = ctx, .outer = calling};
    calling = c;
}

void kj_calling_end(const kj_calling *c)
{
    calling = c->outer;
}

bool kj_is_calling(const kjit_context *ctx)
{
    const kj_calling *c = calling;
    while (c && c->ctx != ctx)
        c = c->outer;
    return c != NULL;
}

kjit_status kj_enter(const kjit_context *ctx)
{
    if (kj_is_calling(ctx))
        return kj_fail(NULL, KJIT_INVALID, "a function that the context calls may not use it");
    if (!kj_forked(ctx))
        return KJIT_OK;
    return kj_fail(NULL, KJIT_NO_DEVICE,
                   "the context was made before a fork: a child process has to make its own");
}

void kj_context_hold(kjit_context *ctx)
{
    atomic_fetch_add_explicit(&ctx->refs, 1, memory_order_relaxed);
}

void kj_context_drop(kjit_context *ctx)
{
    if (kj_pending_let_go(ctx))
        ctx->end(ctx);
}

kjit_status kjit_context_device(kjit_context *ctx, kjit_device_info *out)
{
    kjit_status status = kj_enter_context(ctx);
    if (status != KJIT_OK)
        return status;
    if (!out)
        return kj_no_out(ctx);
    ctx->ops->describe(ctx->dev, ctx->ordinal, out);
    return KJIT_OK;
}

void kj_set_timing(kjit_context *ctx, const kj_timing_hook *hook)
{
    atomic_store(&ctx->timing, hook);
}
