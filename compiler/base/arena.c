/* The arena: sizes and formats in, memory of one lifetime out; a compilation's limits of memory and time are its own. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"

enum { FIRST_CHUNK = 16 << 10, LAST_CHUNK = 1 << 20 };

typedef struct kj_arena_chunk {
    struct kj_arena_chunk *next;
    size_t size; /* bytes after this header */
    alignas(max_align_t) char bytes[];
} chunk;

typedef struct interned {
    const char *text;
    size_t len;
    uint64_t hash;
} interned;

/* Open addressing; the capacity is a power of two and at least a quarter is free. */
typedef struct kj_intern {
    interned *slots;
    size_t capacity, count;
} interns;

_Noreturn void kj_arena_exhausted(kj_arena *a)
{
    longjmp(*a->fail, 1);
}

void kj_arena_init(kj_arena *a, jmp_buf *fail)
{
    *a = (kj_arena){.fail = fail, .limit = SIZE_MAX};
}

void kj_arena_free(kj_arena *a)
{
    for (chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    *a = (kj_arena){.fail = a->fail, .limit = a->limit, .until = a->until, .ended = a->ended};
}

void kj_arena_check_time(kj_arena *a)
{
    struct timespec now;
    if (a->until <= 0)
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if ((double)now.tv_sec * 1000 + (double)now.tv_nsec / 1e6 < a->until)
        return;
    a->ended = KJ_ARENA_LATE;
    kj_arena_exhausted(a);
}

/* Chunks double, so that small compilations stay small. A big allocation gets a chunk alone,
 * behind the current one, whose free end stays in use. */
static void *new_chunk(kj_arena *a, size_t size)
{
    size_t usual = a->chunks ? a->chunks->size * 2 : FIRST_CHUNK;
    if (usual < FIRST_CHUNK)
        usual = FIRST_CHUNK;
    if (usual > LAST_CHUNK)
        usual = LAST_CHUNK;
    kj_arena_check_time(a);
    bool alone = a->chunks && size > usual / 4;
    size_t bytes = alone || size > usual ? size : usual;
    chunk *c = bytes <= SIZE_MAX - sizeof(chunk) ? calloc(1, sizeof(chunk) + bytes) : NULL;
    if (!c)
        kj_arena_exhausted(a);
    c->size = bytes;
    if (alone) {
        c->next = a->chunks->next;
        a->chunks->next = c;
    } else {
        c->next = a->chunks;
        a->chunks = c;
        a->next = c->bytes + size;
        a->end = c->bytes + bytes;
    }
    return c->bytes;
}

void *kj_arena_alloc(kj_arena *a, size_t size)
{
    if (size > SIZE_MAX - alignof(max_align_t))
        kj_arena_exhausted(a);
    if (!size)
        size = 1;
    size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    if (size > a->limit - a->used) {
        a->ended = KJ_ARENA_FULL;
        kj_arena_exhausted(a);
    }
    a->used += size;
    if (size > (size_t)(a->end - a->next))
        return new_chunk(a, size);
    void *p = a->next;
    a->next += size;
    return p;
}

void *kj_arena_calloc(kj_arena *a, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size)
        kj_arena_exhausted(a);
    return kj_arena_alloc(a, n * size);
}

/* ---- Names ---- */

/* The slot that holds the name, or the free one where it belongs. */
static interned *find(const interns *names, const char *text, size_t len, uint64_t hash)
{
    for (size_t i = hash & (names->capacity - 1);; i = (i + 1) & (names->capacity - 1)) {
        interned *s = &names->slots[i];
        if (!s->text || (s->hash == hash && s->len == len && memcmp(s->text, text, len) == 0))
            return s;
    }
}

static void grow(kj_arena *a, interns *names)
{
    interns bigger = {.capacity = names->capacity ? names->capacity * 2 : 64,
                      .count = names->count};
    bigger.slots = KJ_NEW_ARRAY(a, interned, bigger.capacity);
    for (size_t i = 0; i < names->capacity; i++) {
        const interned *s = &names->slots[i];
        if (s->text)
            *find(&bigger, s->text, s->len, s->hash) = *s;
    }
    *names = bigger;
}

const char *kj_intern(kj_arena *a, const char *text, size_t len)
{
    if (!a->names)
        a->names = KJ_NEW(a, interns);
    if (a->names->count * 4 >= a->names->capacity * 3)
        grow(a, a->names);
    uint64_t hash = kj_hash(text, len);
    interned *s = find(a->names, text, len, hash);
    if (!s->text) {
        char *copy = kj_arena_alloc(a, len + 1);
        memcpy(copy, text, len);
        *s = (interned){.text = copy, .len = len, .hash = hash};
        a->names->count++;
    }
    return s->text;
}

/* ---- Text ---- */

/* Returns what the text needs without the NUL. */
static size_t format_text(kj_arena *a, char *out, size_t size, const char *format, va_list args)
{
    int n = kj_vsnprintf(out, size, format, args);
    if (n < 0)
        kj_arena_exhausted(a);
    return (size_t)n;
}

char *kj_arena_vprintf(kj_arena *a, const char *format, va_list args)
{
    char small[256];
    va_list again;
    va_copy(again, args);
    size_t len = format_text(a, small, sizeof small, format, args);
    char *text = kj_arena_alloc(a, len + 1);
    if (len < sizeof small)
        memcpy(text, small, len);
    else
        format_text(a, text, len + 1, format, again);
    va_end(again);
    return text;
}

char *kj_arena_printf(kj_arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = kj_arena_vprintf(a, format, args);
    va_end(args);
    return text;
}
