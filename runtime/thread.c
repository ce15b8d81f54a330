/* What threads have in contexts: their last errors and their default streams. What went wrong where
 * there was no context is in a record of no context.
 *
 * All of it is under one lock of the process, and found by one key: a thread that ends and a
 * context that ends have to find out which of them is first, and what tells them must outlive
 * both. */
#include <stdlib.h>

#include "runtime.h"

/* A thread's records, one a context. */
typedef struct kj_home {
    kj_thread *first;  /* under the lock, by either that ends */
    uint64_t failures; /* the thread's, so far */
} home;

static struct {
    pthread_once_t once;
    pthread_mutex_t lock;
    pthread_key_t key;
    bool usable;
} threads = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static void lock(void)
{
    pthread_mutex_lock(&threads.lock);
}

static void unlock(void)
{
    pthread_mutex_unlock(&threads.lock);
}

/* Frees a record that no thread lists any more. Under the lock. */
static void end_record(kj_thread *t)
{
    if (t->prev)
        t->prev->next = t->next;
    else if (t->ctx)
        t->ctx->threads = t->next;
    if (t->next)
        t->next->prev = t->prev;
    free(t->text);
    free(t);
}

/* The stream of a thread that ends. Under the lock. */
static void leave(kjit_context *ctx, kjit_stream *stream)
{
    kj_handle_close(stream);
    pthread_mutex_lock(&ctx->lock);
    stream->left = true;
    pthread_mutex_unlock(&ctx->lock);
    kj_context_hold(ctx);
    kj_pending_add(ctx, KJ_PENDING_RESOURCES, &stream->pending);
}

static void thread_ended(void *data)
{
    home *h = data;
    kj_thread *t;
    lock();
    while ((t = h->first)) {
        h->first = t->beside;
        if (t->stream && !kj_forked(t->ctx))
            leave(t->ctx, t->stream);
        end_record(t);
    }
    unlock();
    free(h);
}

static void before_fork(void)
{
    lock();
    kj_handles_lock();
}

/* A child goes on with the locks free. */
static void after_fork(void)
{
    kj_handles_unlock();
    unlock();
}

static void begin(void)
{
    threads.usable = pthread_atfork(before_fork, after_fork, after_fork) == 0 &&
                     pthread_key_create(&threads.key, thread_ended) == 0;
}

bool kj_threads_begin(void)
{
    pthread_once(&threads.once, begin);
    return threads.usable;
}

/* When the library is unloaded nothing is left for threads to call. */
__attribute__((destructor)) static void end(void)
{
    if (threads.usable)
        pthread_key_delete(threads.key);
}

void kj_threads_end(kjit_context *ctx)
{
    lock();
    while (ctx->threads) {
        kj_thread *t = ctx->threads, **at = &t->home->first;
        while (*at != t)
            at = &(*at)->beside;
        *at = t->beside;
        end_record(t);
    }
    unlock();
}

void kj_threads_lose_streams(kjit_context *ctx)
{
    lock();
    for (kj_thread *t = ctx->threads; t; t = t->next)
        t->stream = NULL;
    unlock();
}

/* The calling thread's; NULL: out of memory. */
static home *own_home(void)
{
    if (!kj_threads_begin())
        return NULL;
    home *h = pthread_getspecific(threads.key);
    if (h)
        return h;
    h = calloc(1, sizeof *h);
    if (h && pthread_setspecific(threads.key, h) == 0)
        return h;
    free(h);
    return NULL;
}

/* Under the lock. */
static kj_thread *find(const home *h, const kjit_context *ctx)
{
    kj_thread *t = h ? h->first : NULL;
    while (t && t->ctx != ctx)
        t = t->beside;
    return t;
}

/* Under the lock. */
static kj_thread *add(home *h, kjit_context *ctx)
{
    kj_thread *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    *t = (kj_thread){.beside = h->first, .home = h, .ctx = ctx, .fallback = ""};
    h->first = t;
    if (!ctx)
        return t;
    t->next = ctx->threads;
    if (t->next)
        t->next->prev = t;
    ctx->threads = t;
    return t;
}

kj_thread *kj_thread_in(kjit_context *ctx)
{
    home *h = own_home();
    if (!h)
        return NULL;
    lock();
    kj_thread *t = find(h, ctx);
    if (!t)
        t = add(h, ctx);
    unlock();
    return t;
}

kj_thread *kj_thread_failing(kjit_context *ctx)
{
    kj_thread *t = kj_thread_in(ctx);
    if (t)
        t->failed = ++t->home->failures;
    return t;
}

const char *kj_thread_failure(const kjit_context *ctx)
{
    const kj_thread *last = NULL;
    home *h = own_home();
    lock();
    for (const kj_thread *t = h ? h->first : NULL; t; t = t->beside) {
        bool asked = !ctx || !t->ctx || t->ctx == ctx;
        if (asked && t->failed > (last ? last->failed : 0))
            last = t;
    }
    const char *text = !last ? "" : last->text ? last->text : last->fallback;
    unlock();
    return text;
}
