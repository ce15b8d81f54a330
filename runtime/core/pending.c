/* Deferred deallocation. In: what has lost its last reference; out: it is given back to the device,
 * many at a time.
 *
 * A context has two queues: one of arrays' memory, one of modules, streams and events; and a third
 * whose limit is nothing: of the caller's memory that is page-locked no longer, and of memory that
 * is given back in a stream's order. A queue that is over a limit is emptied, in order, by the
 * calls of users that free or allocate: never by a thread that ends queued work, which would wait
 * for itself. What waits here keeps its hold on the context; after kjit_context_destroy nothing
 * waits longer than until such a call, or until it is all that holds the context. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

/* ---- Limits ---- */

enum { DEFAULT_COUNT = 10 };
static const double DEFAULT_RATIO = 0.2;

/* What the environment says; what isn't a number from 0 on says nothing. */
static double variable(const char *name, double otherwise)
{
    const char *text = secure_getenv(name);
    bool number = text && *text >= '0' && *text <= '9' && !strpbrk(text, "xX");
    char *end;
    if (!number)
        return otherwise;
    double value = kj_strtod(text, &end);
    return *end || !isfinite(value) ? otherwise : value;
}

static size_t bytes_of(double ratio, uint64_t memory)
{
    double bytes = ratio * (double)memory;
    return bytes < (double)SIZE_MAX ? (size_t)bytes : SIZE_MAX;
}

kjit_status kj_pendings_init(kj_pendings *p, const kjit_context_options *options, uint64_t memory,
                             kj_failure *why)
{
    double ratio = options->max_pending_ratio;
    int count = options->max_pending_count;
    if (isnan(ratio))
        return kj_because(why, KJIT_INVALID, "max_pending_ratio is not a number");
    if (count == 0) {
        double most = variable("KJIT_MAX_PENDING_DEALLOCS_COUNT", DEFAULT_COUNT);
        count = most < INT_MAX ? (int)most : INT_MAX;
    }
    if (ratio == 0)
        ratio = variable("KJIT_MAX_PENDING_DEALLOCS_RATIO", DEFAULT_RATIO);
    atomic_init(&p->any_never, false);
    p->max_count = count > 0 ? count : 0;
    p->max_bytes = ratio > 0 ? bytes_of(ratio, memory) : 0;
    pthread_mutex_init(&p->lock, NULL);
    pthread_mutex_init(&p->flushing, NULL);
    pthread_mutex_init(&p->prompt, NULL);
    return KJIT_OK;
}

void kj_pendings_destroy(kj_pendings *p)
{
    pthread_mutex_destroy(&p->lock);
    pthread_mutex_destroy(&p->flushing);
    pthread_mutex_destroy(&p->prompt);
}

/* ---- The queues ---- */

void kj_pending_add(kjit_context *ctx, kj_pending_kind kind, kj_pending *item)
{
    kj_pendings *p = &ctx->pendings;
    kj_pending_queue *q = &p->queues[kind];
    item->next = NULL;
    pthread_mutex_lock(&p->lock);
    if (q->last)
        q->last->next = item;
    else
        q->first = item;
    q->last = item;
    q->count++;
    q->bytes += item->size;
    if (kind == KJ_PENDING_NEVER)
        atomic_store_explicit(&p->any_never, true, memory_order_release);
    pthread_mutex_unlock(&p->lock);
}

void kj_pending_failed(kjit_context *ctx, kjit_status status, const kj_failure *why)
{
    kj_pendings *p = &ctx->pendings;
    pthread_mutex_lock(&p->lock);
    if (p->status == KJIT_OK) {
        p->status = status;
        p->why = *why;
    }
    p->failed++;
    pthread_mutex_unlock(&p->lock);
}

kjit_status kj_pending_failure(kjit_context *ctx)
{
    kj_failure why;
    kj_pendings *p = &ctx->pendings;
    pthread_mutex_lock(&p->lock);
    kjit_status status = p->status;
    if (status != KJIT_OK)
        why = p->why;
    p->status = KJIT_OK;
    pthread_mutex_unlock(&p->lock);
    return status == KJIT_OK ? status : kj_fail_why(ctx, status, &why);
}

/* Gives the first item of what was taken out of a queue back, and goes on with the next. */
static kj_pending *deallocate(kjit_context *ctx, kj_pending *item)
{
    kj_failure why;
    kj_pending *next = item->next;
    kjit_status status = item->deallocate(item, &why);
    if (status != KJIT_OK)
        kj_pending_failed(ctx, status, &why);
    kj_context_drop(ctx);
    return next;
}

/* Has the queue to be emptied? All are after the context was destroyed. Under the lock. */
static bool due(const kj_pendings *p, kj_pending_kind kind, bool all)
{
    const kj_pending_queue *q = &p->queues[kind];
    if (!q->first)
        return false;
    if (p->closed || kind == KJ_PENDING_NEVER)
        return true;
    return p->deferred == 0 && (all || q->count > p->max_count || q->bytes > p->max_bytes);
}

/* Empties a queue if it has to be; the caller holds the context. */
static bool empty(kjit_context *ctx, kj_pending_kind kind, bool all)
{
    kj_pendings *p = &ctx->pendings;
    kj_pending *item = NULL;
    pthread_mutex_lock(&p->lock);
    if (due(p, kind, all)) {
        item = p->queues[kind].first;
        p->queues[kind] = (kj_pending_queue){0};
    }
    pthread_mutex_unlock(&p->lock);
    bool any = item;
    while (item)
        item = deallocate(ctx, item);
    return any;
}

/* Empties what never waits. Who has waited for the last work that used it must not go on before it
 * is given back, by whichever thread. */
static void prompt(kjit_context *ctx)
{
    kj_pendings *p = &ctx->pendings;
    if (!atomic_load_explicit(&p->any_never, memory_order_acquire))
        return;
    pthread_mutex_lock(&p->prompt);
    empty(ctx, KJ_PENDING_NEVER, true);
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->any_never, p->queues[KJ_PENDING_NEVER].first != NULL);
    pthread_mutex_unlock(&p->lock);
    pthread_mutex_unlock(&p->prompt);
}

/* Empties all that have to be. Streams end their work here, whose last references make new
 * items. */
static bool flush(kjit_context *ctx, bool all)
{
    bool any = false, more = true;
    while (more) {
        prompt(ctx);
        more = empty(ctx, KJ_PENDING_MEMORY, all);
        more |= empty(ctx, KJ_PENDING_RESOURCES, all);
        any |= more;
    }
    return any;
}

bool kj_pending_flush(kjit_context *ctx)
{
    pthread_mutex_lock(&ctx->pendings.flushing);
    bool any = flush(ctx, true);
    pthread_mutex_unlock(&ctx->pendings.flushing);
    return any;
}

void kj_waited(kjit_context *ctx)
{
    kj_print_flush(ctx);
    prompt(ctx);
}

void kj_pending_check(kjit_context *ctx)
{
    kj_pendings *p = &ctx->pendings;
    if (kj_is_calling(ctx))
        return; /* work or a lock waits for this thread */
    prompt(ctx);
    pthread_mutex_lock(&p->lock);
    bool closed = p->closed;
    bool any = due(p, KJ_PENDING_MEMORY, false) || due(p, KJ_PENDING_RESOURCES, false);
    pthread_mutex_unlock(&p->lock);
    if (!any)
        return;
    if (closed)
        pthread_mutex_lock(&p->flushing);
    else if (pthread_mutex_trylock(&p->flushing) != 0)
        return; /* another thread is at it, or one that this one waits for */
    flush(ctx, false);
    pthread_mutex_unlock(&p->flushing);
}

void kj_freed(kjit_context *ctx)
{
    kj_pending_check(ctx);
    kj_context_drop(ctx);
}

/* Is all that holds the context, but for one, what waits in its queues? Under the lock. */
static bool is_last_but_pending(const kjit_context *ctx)
{
    const kj_pendings *p = &ctx->pendings;
    int pending = 0;
    for (int kind = 0; kind < KJ_PENDING_KINDS; kind++)
        pending += p->queues[kind].count;
    return p->closed && pending > 0 && atomic_load(&ctx->refs) == pending + 1;
}

bool kj_pending_let_go(kjit_context *ctx)
{
    kj_pendings *p = &ctx->pendings;
    pthread_mutex_lock(&p->lock);
    while (is_last_but_pending(ctx)) {
        pthread_mutex_unlock(&p->lock);
        kj_pending_flush(ctx);
        pthread_mutex_lock(&p->lock);
    }
    bool last = atomic_fetch_sub(&ctx->refs, 1) == 1;
    pthread_mutex_unlock(&p->lock);
    return last;
}

void kj_pending_close(kjit_context *ctx)
{
    pthread_mutex_lock(&ctx->pendings.lock);
    ctx->pendings.closed = true;
    pthread_mutex_unlock(&ctx->pendings.lock);
    kj_pending_flush(ctx);
}

/* ---- For users ---- */

kjit_status kjit_deallocate_pending(kjit_context *ctx)
{
    kjit_status status = kj_enter_context(ctx);
    if (status != KJIT_OK)
        return status;
    kj_pending_flush(ctx);
    return kj_pending_failure(ctx);
}

kjit_status kjit_memory_trim(kjit_context *ctx, uint64_t keep)
{
    kj_failure why;
    kjit_status status = kj_enter_context(ctx);
    if (status != KJIT_OK)
        return status;
    kj_pending_check(ctx);
    const kj_memory_ops *memory = ctx->ops->memory;
    if (memory && memory->trim)
        status = memory->trim(ctx->dev, keep < SIZE_MAX ? (size_t)keep : SIZE_MAX, &why);
    return status == KJIT_OK ? status : kj_fail_why(ctx, status, &why);
}
