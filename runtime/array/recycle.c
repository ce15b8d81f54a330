/* Memory that run blocks use again. In: buffers whose last array has gone; out: the same memory for
 * the next array of that size, whose pages need not be fetched and cleared by the system again.
 *
 * It is kept only while a run block runs; elsewhere freeing gives back at once. */
#include <string.h>

#include "array/array.h"

enum { SMALLEST = 1 << 16 };

static size_t most(const kjit_context *ctx)
{
    return (size_t)(ctx->memory / 8);
}

/* Takes number i out of the list. */
static kj_recycled take_out(kj_recycler *s, int i)
{
    kj_recycled spare = s->kept[i];
    s->n--;
    s->bytes -= spare.size;
    memmove(&s->kept[i], &s->kept[i + 1], (size_t)(s->n - i) * sizeof *s->kept);
    return spare;
}

static void let_go(kjit_context *ctx, int most_left, size_t most_bytes)
{
    kj_failure why;
    while (ctx->recycler->n > most_left || ctx->recycler->bytes > most_bytes) {
        kj_recycled oldest = take_out(ctx->recycler, 0);
        kj_chunk chunk = {.memory = oldest.memory,
                          .size = oldest.size,
                          .data = oldest.data,
                          .device = (uintptr_t)oldest.data};
        kjit_status status = kj_chunk_release(ctx, &chunk, &why);
        if (status != KJIT_OK)
            kj_pending_failed(ctx, status, &why);
    }
}

void kj_recycler_begin(kjit_context *ctx)
{
    pthread_mutex_lock(&ctx->recycler->lock);
    ctx->recycler->runs++;
    pthread_mutex_unlock(&ctx->recycler->lock);
}

void kj_recycler_end(kjit_context *ctx)
{
    pthread_mutex_lock(&ctx->recycler->lock);
    if (--ctx->recycler->runs == 0)
        let_go(ctx, 0, 0);
    pthread_mutex_unlock(&ctx->recycler->lock);
}

bool kj_recycler_empty(kjit_context *ctx)
{
    pthread_mutex_lock(&ctx->recycler->lock);
    bool any = ctx->recycler->n > 0;
    let_go(ctx, 0, 0);
    pthread_mutex_unlock(&ctx->recycler->lock);
    return any;
}

bool kj_recycle_keep(kjit_context *ctx, kjit_memory memory, void *data, size_t size)
{
    kj_recycler *s = ctx->recycler;
    if (size < SMALLEST || size > most(ctx))
        return false;
    pthread_mutex_lock(&s->lock);
    bool keep = s->runs > 0;
    if (keep) {
        let_go(ctx, KJ_SPARES - 1, most(ctx) - size);
        s->kept[s->n++] = (kj_recycled){.data = data, .size = size, .memory = memory};
        s->bytes += size;
    }
    pthread_mutex_unlock(&s->lock);
    return keep;
}

bool kj_recycle_take(kjit_context *ctx, kjit_memory memory, size_t size, void **out)
{
    kj_recycler *s = ctx->recycler;
    if (size < SMALLEST)
        return false;
    pthread_mutex_lock(&s->lock);
    int i = s->n - 1;
    while (i >= 0 && (s->kept[i].size != size || s->kept[i].memory != memory))
        i--;
    if (i >= 0)
        *out = take_out(s, i).data;
    pthread_mutex_unlock(&s->lock);
    return i >= 0;
}
