/* Handles: their memory, and what is said of those that are NULL or were freed. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

/* AddressSanitizer finds who uses more of a freed handle than its head. */
#if defined(__SANITIZE_ADDRESS__)
#define KJ_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KJ_POISON 1
#endif
#endif
#ifdef KJ_POISON
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(memory, size) ((void)(memory), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(memory, size) ((void)(memory), (void)(size))
#endif

/* The freed ones of a kind, the one that was freed longest ago first. */
typedef struct shelf {
    pthread_mutex_t lock;
    kj_handle *first, *last;
    int n;
    size_t size; /* bytes of a handle */
} shelf;

struct kj_shelves {
    shelf of[KJ_HANDLE_KINDS];
};

/* Set once, by whoever makes the first handle; until then there is nothing to find. */
static _Atomic(kj_shelves *) shelves;

static void free_shelves(kj_shelves *s)
{
    for (int kind = 0; s && kind < KJ_HANDLE_KINDS; kind++)
        pthread_mutex_destroy(&s->of[kind].lock);
    free(s);
}

/* NULL: out of memory, this time. */
static kj_shelves *have_shelves(void)
{
    kj_shelves *s = atomic_load(&shelves), *none = NULL;
    if (s || !(s = calloc(1, sizeof *s)))
        return s;
    for (int kind = 0; kind < KJ_HANDLE_KINDS; kind++)
        pthread_mutex_init(&s->of[kind].lock, NULL);
    if (atomic_compare_exchange_strong(&shelves, &none, s))
        return s;
    free_shelves(s); /* another thread was faster */
    return none;
}

/* The one that was freed longest ago. Under the lock. */
static kj_handle *take(shelf *s)
{
    kj_handle *h = s->first;
    if (!h)
        return NULL;
    s->first = h->next;
    if (!s->first)
        s->last = NULL;
    s->n--;
    return h;
}

void *kj_handle_new(kj_handle_kind kind, size_t size)
{
    kj_shelves *all = have_shelves();
    kj_handle *h = NULL;
    if (!all)
        return NULL;
    shelf *s = &all->of[kind];
    pthread_mutex_lock(&s->lock);
    s->size = size;
    if (s->n > KJ_HANDLES_KEPT)
        h = take(s);
    pthread_mutex_unlock(&s->lock);
    if (h) {
        ASAN_UNPOISON_MEMORY_REGION(h, size);
        memset(h + 1, 0, size - sizeof *h);
    } else if (!(h = calloc(1, size)))
        return NULL;
    h->kind = kind;
    h->next = NULL;
    atomic_store_explicit(&h->mark, kj_handle_mark(kind), memory_order_relaxed);
    return h;
}

bool kj_handle_close(void *handle)
{
    kj_handle *h = handle;
    return atomic_exchange(&h->mark, 0) != 0;
}

void kj_handle_open(void *handle)
{
    kj_handle *h = handle;
    atomic_store(&h->mark, kj_handle_mark(h->kind));
}

void kj_handle_hide(void *handle)
{
    kj_handle *h = handle;
    atomic_fetch_or(&h->mark, KJ_HIDDEN);
}

void kj_handle_free(void *handle)
{
    kj_handle *h = handle;
    shelf *s = &atomic_load(&shelves)->of[h->kind];
    kj_handle_close(h);
    pthread_mutex_lock(&s->lock);
    ASAN_POISON_MEMORY_REGION(h + 1, s->size - sizeof *h);
    if (s->last)
        s->last->next = h;
    else
        s->first = h;
    s->last = h;
    s->n++;
    pthread_mutex_unlock(&s->lock);
}

kj_shelves *kj_handles_lock(void)
{
    kj_shelves *s = have_shelves();
    for (int kind = 0; s && kind < KJ_HANDLE_KINDS; kind++)
        pthread_mutex_lock(&s->of[kind].lock);
    return s;
}

void kj_handles_unlock(kj_shelves *s)
{
    for (int kind = KJ_HANDLE_KINDS - 1; s && kind >= 0; kind--)
        pthread_mutex_unlock(&s->of[kind].lock);
}

/* When the library is unloaded nobody can be asked about them any more. */
__attribute__((destructor)) static void end(void)
{
    kj_shelves *s = atomic_load(&shelves);
    for (int kind = 0; s && kind < KJ_HANDLE_KINDS; kind++) {
        kj_handle *h;
        pthread_mutex_lock(&s->of[kind].lock);
        while ((h = take(&s->of[kind]))) {
            ASAN_UNPOISON_MEMORY_REGION(h, s->of[kind].size);
            free(h);
        }
        pthread_mutex_unlock(&s->of[kind].lock);
    }
}

/* ---- What is said of them ---- */

kjit_status kj_no_handle(const void *handle, kj_handle_kind kind)
{
    static const struct {
        const char *noun, *end;
    } words[] = {
#define WORDS(kind, noun, end) [KJ_##kind] = {noun, end},
        KJ_HANDLE_MAP(WORDS)
#undef WORDS
    };
    if (!handle)
        return kj_fail(NULL, KJIT_INVALID, "the %s is NULL", words[kind].noun);
    return kj_fail(NULL, KJIT_INVALID, "the %s was %s", words[kind].noun, words[kind].end);
}

bool kj_can_ask(const void *handle, kj_handle_kind kind)
{
    if (kj_lives(handle, kind))
        return true;
    if (handle)
        kj_no_handle(handle, kind);
    return false;
}

bool kj_can_free(const void *handle, kj_handle_kind kind)
{
    const kj_handle *h = handle;
    if (h && atomic_load_explicit(&h->mark, memory_order_relaxed) == kj_handle_mark(kind))
        return true;
    if (h)
        kj_no_handle(h, kind);
    return false;
}
