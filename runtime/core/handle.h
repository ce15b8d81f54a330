/* Handles: what a program holds on to, and may hold on to for too long.
 *
 * Each begins with a kj_handle. Its memory never goes back to the system until the library is
 * unloaded: it becomes a handle of the same kind again, once KJ_HANDLES_KEPT others have been freed
 * after it. So a handle that was freed can be looked at, and says so. */
#ifndef KJ_HANDLE_H
#define KJ_HANDLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "kjit.h"

enum { KJ_HANDLES_KEPT = 100 };

/* The kinds: enum, what messages say, and how it ends. */
#define KJ_HANDLE_MAP(X) \
    X(CONTEXT, "context", "destroyed") \
    X(MODULE, "module", "freed") \
    X(ARRAY, "array", "freed") \
    X(SMART, "smart array", "freed") \
    X(STREAM, "stream", "freed") \
    X(EVENT, "event", "freed") \
    X(PLAN, "plan", "freed") \
    X(GRAPH, "graph", "freed")

typedef enum kj_handle_kind {
#define KJ_HANDLE_ENUM(kind, noun, end) KJ_##kind,
    KJ_HANDLE_MAP(KJ_HANDLE_ENUM)
#undef KJ_HANDLE_ENUM
        KJ_HANDLE_KINDS
} kj_handle_kind;

/* In a mark: the library's own, which the program cannot free. */
#define KJ_HIDDEN 0x80000000u

typedef struct kj_handle {
    atomic_uint mark;       /* that of its kind; 0: it is freed, or not the program's yet */
    kj_handle_kind kind;    /* for ever */
    struct kj_handle *next; /* of those that wait to be used again */
} kj_handle;

static inline unsigned kj_handle_mark(kj_handle_kind kind)
{
    return 0x6b6a6974u + (unsigned)kind;
}

/* The handle, which may be NULL, is one of the kind, and was not freed. */
static inline bool kj_lives(const void *handle, kj_handle_kind kind)
{
    const kj_handle *h = handle;
    return h && (atomic_load_explicit(&h->mark, memory_order_relaxed) & ~KJ_HIDDEN) ==
                    kj_handle_mark(kind);
}

/* A new one, of `size` bytes, all zeros behind its head; NULL: out of memory. */
void *kj_handle_new(kj_handle_kind kind, size_t size);
/* The program has freed it, though others may use what it stands for; false: it had before. */
bool kj_handle_close(void *handle);
void kj_handle_open(void *handle); /* the program gets what was closed from the beginning */
/* What the library keeps for itself: a handle that was freed long ago, whose memory it now has, must
 * not free it. */
void kj_handle_hide(void *handle);
/* Nothing uses it any more. */
void kj_handle_free(void *handle);

/* Says that a handle is NULL or was freed: KJIT_INVALID. */
kjit_status kj_no_handle(const void *handle, kj_handle_kind kind);
/* Is it one that the program can free? Says it if it was freed already; NULL may be freed. */
bool kj_can_free(const void *handle, kj_handle_kind kind);
/* Does one live that is only asked for something? Says it if it was freed; NULL may be asked. */
bool kj_can_ask(const void *handle, kj_handle_kind kind);

/* Around a fork: no handle is being made or freed. The second takes what the first gave. */
typedef struct kj_shelves kj_shelves;
kj_shelves *kj_handles_lock(void);
void kj_handles_unlock(kj_shelves *shelves);

#endif
