/* Halts: what ends launches before they have run. A launch has a word that its code and its device look at;
 * whoever cancels it sets the word, and so does the context's clock, a thread that there is from the first
 * deadline on.
 *
 * The word of a device with host_memory is in the halt; others find theirs in page-locked memory that kernels
 * see, which the context keeps until its end. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "core/core.h"

enum { CLOCK_STACK = 64 << 10, WORDS = 1024 /* of a slab */ };

struct kj_halt {
    kj_halt *next, *prev; /* of the context */
    kjit_context *ctx;
    const kjit_stream *stream; /* NULL: the call waits; of those that are listed it may be gone */
    atomic_int refs;
    double deadline;      /* by kj_now_ms; 0: none */
    kj_halt_reason whose; /* deadline it is */
    _Atomic uint32_t *word;
    uint64_t device; /* where kernels find it */
    _Atomic uint32_t own;
};

/* Words that a device sees. */
struct kj_halt_slab {
    kj_halt_slab *next;
    kj_chunk chunk;
    int used;
    uint16_t free[WORDS]; /* a stack, from `used` on */
};

/* ---- Words ---- */

static kjit_status new_slab(kjit_context *ctx, kj_halt_slab **out, kj_failure *why)
{
    kj_halt_slab *s = calloc(1, sizeof *s);
    if (!s)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    s->chunk = (kj_chunk){.memory = KJIT_MAPPED, .size = WORDS * sizeof(uint32_t)};
    kjit_status status = ctx->ops->alloc(ctx->dev, &s->chunk, why);
    if (status != KJIT_OK) {
        free(s);
        return status;
    }
    for (int i = 0; i < WORDS; i++)
        s->free[i] = (uint16_t)i;
    *out = s;
    return KJIT_OK;
}

static kj_halt_slab *slab_with_room(const kj_halts *halts)
{
    kj_halt_slab *s = halts->slabs;
    while (s && s->used == WORDS)
        s = s->next;
    return s;
}

/* Under the lock, but not while the device allocates: that may wait for kernels that run, and who ends them
 * needs the lock. Of two threads that allocate at once both keep what they got: freeing may wait as well. */
static kjit_status find_slab(kjit_context *ctx, kj_halt_slab **out, kj_failure *why)
{
    kj_halts *halts = &ctx->halts;
    kj_halt_slab *fresh = NULL;
    while (!(*out = slab_with_room(halts))) {
        pthread_mutex_unlock(&halts->lock);
        kjit_status status = new_slab(ctx, &fresh, why);
        pthread_mutex_lock(&halts->lock);
        if (status != KJIT_OK)
            return status;
        fresh->next = halts->slabs;
        halts->slabs = fresh;
    }
    return KJIT_OK;
}

/* Under the lock. */
static kjit_status take_word(kj_halt *h, kj_failure *why)
{
    kj_halt_slab *s;
    h->word = &h->own;
    if (h->ctx->ops->host_memory)
        return KJIT_OK;
    kjit_status status = find_slab(h->ctx, &s, why);
    if (status != KJIT_OK)
        return status;
    int at = s->free[s->used++];
    h->word = (_Atomic uint32_t *)s->chunk.data + at;
    h->device = s->chunk.device + (size_t)at * sizeof(uint32_t);
    atomic_store(h->word, KJ_HALT_NONE);
    return KJIT_OK;
}

/* Under the lock. */
static void give_word(const kj_halt *h)
{
    if (h->word == &h->own)
        return;
    uintptr_t at = (uintptr_t)h->word;
    kj_halt_slab *s = h->ctx->halts.slabs;
    while (at - (uintptr_t)s->chunk.data >= s->chunk.size)
        s = s->next;
    s->free[--s->used] = (uint16_t)((at - (uintptr_t)s->chunk.data) / sizeof(uint32_t));
}

/* ---- The clock ---- */

/* The first who ends a launch says why. */
static void set(const kj_halt *h, kj_halt_reason reason)
{
    uint32_t none = KJ_HALT_NONE;
    atomic_compare_exchange_strong(h->word, &none, (uint32_t)reason);
}

/* Ends what is due; returns when to look again, 0: there is nothing to wait for. Under the lock. */
static double look(kj_halts *halts, double now)
{
    double next = halts->over ? 0 : halts->deadline;
    if (next > 0 && next <= now) {
        atomic_store(&halts->over, true);
        next = 0;
    }
    for (kj_halt *h = halts->first; h; h = h->next) {
        if (h->deadline > 0 && h->deadline <= now)
            set(h, h->whose);
        else if (halts->over)
            set(h, KJ_HALT_DEADLINE);
        else if (h->deadline > 0 && (next == 0 || h->deadline < next))
            next = h->deadline;
    }
    return next;
}

static void *clock_main(void *data)
{
    kj_halts *halts = data;
    pthread_mutex_lock(&halts->lock);
    while (!halts->ending) {
        double next = look(halts, kj_now_ms());
        struct timespec at = {.tv_sec = (time_t)(next / 1000)};
        at.tv_nsec = (long)((next - (double)at.tv_sec * 1000) * 1e6);
        if (next > 0)
            pthread_cond_timedwait(&halts->sooner, &halts->lock, &at);
        else
            pthread_cond_wait(&halts->sooner, &halts->lock);
    }
    pthread_mutex_unlock(&halts->lock);
    return NULL;
}

/* There is a new deadline. Under the lock; false: the system gives no thread. */
static bool wake_clock(kj_halts *halts)
{
    if (!halts->started)
        halts->started = kj_thread_start(&halts->clock, CLOCK_STACK, clock_main, halts);
    pthread_cond_signal(&halts->sooner);
    return halts->started;
}

void kj_halts_init(kj_halts *halts, bool cancellable)
{
    pthread_condattr_t monotonic;
    halts->cancellable = cancellable;
    pthread_mutex_init(&halts->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&halts->sooner, &monotonic);
    pthread_condattr_destroy(&monotonic);
    atomic_init(&halts->over, false);
}

void kj_halts_end(kjit_context *ctx)
{
    kj_halts *halts = &ctx->halts;
    kj_failure why;
    pthread_mutex_lock(&halts->lock);
    halts->ending = true;
    pthread_cond_signal(&halts->sooner);
    pthread_mutex_unlock(&halts->lock);
    if (halts->started)
        pthread_join(halts->clock, NULL);
    for (kj_halt_slab *s = halts->slabs, *next; s; s = next) {
        next = s->next;
        ctx->ops->release(ctx->dev, &s->chunk, &why);
        free(s);
    }
    pthread_cond_destroy(&halts->sooner);
    pthread_mutex_destroy(&halts->lock);
}

/* ---- Halts ---- */

static void list(kj_halt *h)
{
    kj_halts *halts = &h->ctx->halts;
    h->next = halts->first;
    if (h->next)
        h->next->prev = h;
    halts->first = h;
    if (halts->over)
        set(h, KJ_HALT_DEADLINE);
}

/* When a launch is to end that says so itself, or does not (0), by kj_now_ms, and by what; 0: at any time. */
static void find_end(kj_halt *h, double timeout_ms)
{
    kjit_context *ctx = h->ctx;
    uint64_t most = ctx->limits.most.launch_ms;
    double now = kj_now_ms(), run = kj_print_run(ctx) ? ctx->limits.run_until : 0;
    h->whose = timeout_ms > 0 ? KJ_HALT_TIMEOUT : KJ_HALT_LAUNCH_MS;
    if (timeout_ms > 0)
        h->deadline = now + timeout_ms;
    else if (most != KJ_NO_LIMIT)
        h->deadline = now + (double)(most < KJIT_MAX_MS ? most : KJIT_MAX_MS);
    if (run > 0 && (h->deadline == 0 || run < h->deadline)) {
        h->deadline = run;
        h->whose = KJ_HALT_RUN_MS;
    }
}

kjit_status kj_halt_list(kjit_context *ctx, const kjit_stream *stream, double timeout_ms,
                         kj_halt **out)
{
    kj_failure why;
    kj_halts *halts = &ctx->halts;
    kj_halt *h = calloc(1, sizeof *h);
    if (!h)
        return kj_no_memory(ctx);
    h->ctx = ctx;
    h->stream = stream;
    atomic_init(&h->refs, 1);
    atomic_init(&h->own, KJ_HALT_NONE);
    find_end(h, timeout_ms);
    pthread_mutex_lock(&halts->lock);
    kjit_status status = take_word(h, &why);
    bool listed = status == KJIT_OK;
    if (listed) {
        list(h);
        if (h->deadline > 0 && !wake_clock(halts))
            status = kj_because(&why, KJIT_NO_MEMORY, "the system gives no more threads");
    }
    pthread_mutex_unlock(&halts->lock);
    if (status == KJIT_OK) {
        *out = h;
        return KJIT_OK;
    }
    if (listed)
        kj_halt_drop(h);
    else
        free(h);
    return kj_fail_why(ctx, status, &why);
}

void kj_halt_hold(kj_halt *h)
{
    if (h)
        atomic_fetch_add_explicit(&h->refs, 1, memory_order_relaxed);
}

void kj_halt_let_go(kj_halt *h)
{
    if (atomic_fetch_sub_explicit(&h->refs, 1, memory_order_acq_rel) != 1)
        return;
    kj_halts *halts = &h->ctx->halts;
    pthread_mutex_lock(&halts->lock);
    if (h->prev)
        h->prev->next = h->next;
    else
        halts->first = h->next;
    if (h->next)
        h->next->prev = h->prev;
    give_word(h);
    pthread_mutex_unlock(&halts->lock);
    free(h);
}

kj_halt_word kj_halt_word_of(const kj_halt *h)
{
    return (kj_halt_word){h ? (const uint32_t *)h->word : NULL, KJ_HALT_NONE};
}

uint64_t kj_halt_address(const kj_halt *h)
{
    return h ? h->device : 0;
}

void kj_halt_all(kjit_context *ctx, const kjit_stream *stream)
{
    pthread_mutex_lock(&ctx->halts.lock);
    for (kj_halt *h = ctx->halts.first; h; h = h->next)
        if (!stream || h->stream == stream)
            set(h, KJ_HALT_CANCELLED);
    pthread_mutex_unlock(&ctx->halts.lock);
}

/* ---- Deadlines ---- */

kjit_status kj_check_timeout(kjit_context *ctx, const char *what, double ms)
{
    if (!(ms >= 0 && ms <= KJIT_MAX_MS))
        return kj_fail(ctx, KJIT_INVALID, "%s is %g: it must be from 0 to %d milliseconds", what,
                       ms, (int)KJIT_MAX_MS);
    if (ms > 0 && !ctx->halts.cancellable)
        return kj_fail(ctx, KJIT_INVALID,
                       "%s is %g, and the context is not cancellable: its kernels would not end",
                       what, ms);
    return KJIT_OK;
}

kjit_status kj_check_time(kjit_context *ctx)
{
    if (!atomic_load_explicit(&ctx->halts.over, memory_order_relaxed))
        return KJIT_OK;
    return kj_fail(ctx, KJIT_TIMEOUT, "the time has run out");
}

kjit_status kjit_set_deadline(kjit_context *ctx, double ms)
{
    kjit_status status = kj_enter_context(ctx);
    if (status == KJIT_OK)
        status = kj_check_timeout(ctx, "the deadline", ms);
    if (status != KJIT_OK)
        return status;
    kj_halts *halts = &ctx->halts;
    pthread_mutex_lock(&halts->lock);
    atomic_store(&halts->over, false);
    halts->deadline = ms > 0 ? kj_now_ms() + ms : 0;
    bool wakes = ms == 0 || wake_clock(halts);
    if (!wakes)
        halts->deadline = 0;
    pthread_mutex_unlock(&halts->lock);
    return wakes ? KJIT_OK : kj_fail(ctx, KJIT_NO_MEMORY, "the system gives no more threads");
}

const char *kjit_running(kjit_context *ctx, char *out, size_t size)
{
    if (!out || size == 0)
        size = 0;
    else
        *out = 0;
    if (kj_lives(ctx, KJ_CONTEXT) && ctx->ops->running)
        ctx->ops->running(ctx->dev, out, size);
    return out ? out : "";
}
