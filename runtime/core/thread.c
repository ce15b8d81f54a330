/* What threads have in contexts: their last errors and their default streams. What went wrong where
 * there was no context is in a record of no context.
 *
 * All of it is under one lock of the process, and found by one key: a thread that ends and a
 * context that ends have to find out which of them is first, and what tells them must outlive
 * both. */
#include <stdlib.h>

#include "core/core.h"

/* What a thread has, one record a context. */
typedef struct kj_thread_list {
    kj_thread *first;  /* under the lock, by either that ends */
    uint64_t failures; /* the thread's, so far */
} kj_thread_list;

static struct {
    pthread_once_t once;
    pthread_mutex_t lock;
    pthread_key_t key;
    bool usable;
    kj_shelves *held; /* during a fork */
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
    free(t->json);
    free(t->fault);
    free(t);
}

static void thread_ended(void *data)
{
    kj_thread_list *list = data;
    kj_thread *t;
    lock();
    while ((t = list->first)) {
        list->first = t->beside;
        if (t->stream && !kj_forked(t->ctx))
            t->left(t);
        end_record(t);
    }
    unlock();
    free(list);
}

static void before_fork(void)
{
    lock();
    threads.held = kj_handles_lock();
}

/* A child goes on with the locks free. */
static void after_fork(void)
{
    kj_handles_unlock(threads.held);
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
        kj_thread *t = ctx->threads, **at = &t->list->first;
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
static kj_thread_list *own_list(void)
{
    if (!kj_threads_begin())
        return NULL;
    kj_thread_list *list = pthread_getspecific(threads.key);
    if (list)
        return list;
    list = calloc(1, sizeof *list);
    if (list && pthread_setspecific(threads.key, list) == 0)
        return list;
    free(list);
    return NULL;
}

/* Under the lock. */
static kj_thread *find(const kj_thread_list *list, const kjit_context *ctx)
{
    kj_thread *t = list ? list->first : NULL;
    while (t && t->ctx != ctx)
        t = t->beside;
    return t;
}

/* Under the lock. */
static kj_thread *add(kj_thread_list *list, kjit_context *ctx)
{
    kj_thread *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    *t = (kj_thread){.beside = list->first, .list = list, .ctx = ctx, .fallback = ""};
    list->first = t;
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
    kj_thread_list *list = own_list();
    if (!list)
        return NULL;
    lock();
    kj_thread *t = find(list, ctx);
    if (!t)
        t = add(list, ctx);
    unlock();
    return t;
}

kj_thread *kj_thread_failing(kjit_context *ctx)
{
    kj_thread *t = kj_thread_in(ctx);
    if (t)
        t->failed = ++t->list->failures;
    return t;
}

/* Under the lock. */
static const kj_thread *last_failed(const kj_thread_list *list, const kjit_context *ctx)
{
    const kj_thread *last = NULL;
    for (const kj_thread *t = list ? list->first : NULL; t; t = t->beside) {
        bool asked = !ctx || !t->ctx || t->ctx == ctx;
        if (asked && t->failed > (last ? last->failed : 0))
            last = t;
    }
    return last;
}

const char *kj_thread_failure(const kjit_context *ctx)
{
    kj_thread_list *list = own_list();
    lock();
    const kj_thread *last = last_failed(list, ctx);
    const char *text = !last ? "" : last->text ? last->text : last->fallback;
    unlock();
    return text;
}

bool kj_thread_fault(const kjit_context *ctx, kjit_fault *out)
{
    kj_thread_list *list = own_list();
    lock();
    const kj_thread *last = last_failed(list, ctx);
    bool found = last && last->fault;
    if (found) {
        *out = *last->fault;
        out->text = last->text;
    }
    unlock();
    return found;
}

kjit_fault *kj_thread_take_fault(kjit_context *ctx)
{
    kj_thread *t = kj_thread_in(ctx);
    if (!t || t->failed != t->list->failures)
        return NULL;
    kjit_fault *fault = t->fault;
    t->fault = NULL;
    return fault;
}
