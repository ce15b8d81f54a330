/* Memory for one compilation: allocated piece by piece, freed at once.
 *
 * Everything the front end and sema build (tokens' text, AST, typed AST, messages) lives in the
 * arena of its compilation and is never freed alone. An allocation that fails longjmps to the
 * compilation's entry (kj_arena.fail), so no caller checks for NULL. Not thread-safe: an arena
 * belongs to one compilation. Formatted text is the same in every locale: a decimal point is a
 * point. */
#ifndef KJ_ARENA_H
#define KJ_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "base/text.h"

typedef enum kj_arena_end { KJ_ARENA_GOES_ON, KJ_ARENA_FULL, KJ_ARENA_LATE } kj_arena_end;

typedef struct kj_arena {
    struct kj_arena_chunk *chunks;
    char *next, *end;
    jmp_buf *fail; /* where an out-of-memory goes; set by the entry that owns the arena */
    size_t used;   /* bytes handed out */
    size_t limit;  /* of used: more is out of memory; SIZE_MAX from kj_arena_init */
    double
        until; /* ms of the monotonic clock: what is asked for later is out of memory; 0: any time */
    kj_arena_end ended; /* why there was no more, if it was one of the two */
    struct kj_intern *names;
} kj_arena;

void kj_arena_init(kj_arena *a, jmp_buf *fail);
void kj_arena_free(kj_arena *a);

/* Zeroed, aligned for any object. */
void *kj_arena_alloc(kj_arena *a, size_t size);
#define KJ_NEW(arena, type) ((type *)kj_arena_alloc(arena, sizeof(type)))
#define KJ_NEW_ARRAY(arena, type, n) ((type *)kj_arena_calloc(arena, n, sizeof(type)))
void *kj_arena_calloc(kj_arena *a, size_t n, size_t size); /* the product is checked */
/* Between steps that ask for no memory: out of memory when it is later than `until`. */
void kj_arena_check_time(kj_arena *a);
_Noreturn void kj_arena_exhausted(kj_arena *a); /* out of memory: goes where `fail` says */

/* The one copy of a name: equal names have equal pointers. */
const char *kj_intern(kj_arena *a, const char *text, size_t len);

char *kj_arena_printf(kj_arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *kj_arena_vprintf(kj_arena *a, const char *format, va_list args);

#endif
