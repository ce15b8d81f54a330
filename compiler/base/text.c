/* A growing text (a string builder). */
#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/plain.h"

static char *grown(const kj_text *t, size_t capacity)
{
    if (!t->arena)
        return realloc(t->data, capacity);
    char *data = kj_arena_alloc(t->arena, capacity);
    if (t->size)
        memcpy(data, t->data, t->size);
    return data;
}

/* Room for `more` bytes and the NUL. */
static bool reserve(kj_text *t, size_t more)
{
    if (t->failed)
        return false;
    if (t->capacity - t->size > more)
        return true;
    bool fits = more < SIZE_MAX / 4 && t->size < SIZE_MAX / 4;
    size_t need = t->size + more + 1;
    size_t capacity = fits ? (need < 64 ? 128 : need * 2) : SIZE_MAX / 2;
    char *data = grown(t, capacity);
    t->failed = !data;
    if (!data)
        return false;
    t->data = data;
    t->capacity = capacity;
    return true;
}

void kj_text_add(kj_text *t, const char *text, size_t size)
{
    if (!reserve(t, size))
        return;
    memcpy(t->data + t->size, text, size);
    t->size += size;
    t->data[t->size] = '\0';
}

void kj_text_puts(kj_text *t, const char *text)
{
    kj_text_add(t, text, strlen(text));
}

/* Formats into what room there is; returns the size that the whole takes, -1 out of memory. */
static int format_into(kj_text *t, const char *format, va_list args)
{
    return kj_vsnprintf(t->data + t->size, t->capacity - t->size, format, args);
}

void kj_text_vprintf(kj_text *t, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int size = reserve(t, 0) ? format_into(t, format, args) : -1;
    if (size >= 0 && (size_t)size >= t->capacity - t->size) {
        t->data[t->size] = '\0';
        size = reserve(t, (size_t)size) ? format_into(t, format, again) : -1;
    }
    va_end(again);
    if (size >= 0)
        t->size += (size_t)size;
    else if (t->arena)
        kj_arena_exhausted(t->arena);
    else
        t->failed = true;
}

void kj_text_printf(kj_text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    kj_text_vprintf(t, format, args);
    va_end(args);
}

void kj_text_plain(kj_text *t, const char *text, size_t size, bool lines)
{
    const char *end = text + size, *kept = text;
    char out[KJ_PLAIN_MOST];
    while (text < end) {
        size_t n = kj_shown_as(text, end, out);
        if (out[0] && !(lines && *text == '\n')) {
            kj_text_add(t, kept, (size_t)(text - kept));
            kj_text_puts(t, out);
            kept = text + n;
        }
        text += n;
    }
    kj_text_add(t, kept, (size_t)(end - kept));
}

void kj_text_vplain(kj_text *t, bool lines, const char *format, va_list args)
{
    kj_text raw = {.arena = t->arena};
    kj_text_vprintf(&raw, format, args);
    if (raw.failed)
        t->failed = true;
    else
        kj_text_plain(t, raw.data, raw.size, lines);
    if (!raw.arena)
        kj_text_free(&raw);
}

void kj_text_free(kj_text *t)
{
    free(t->data);
    *t = (kj_text){0};
}

size_t kj_trimmed(const char *text, size_t n)
{
    while (n > 0 && memchr(" \t\n", text[n - 1], 3))
        n--;
    return n;
}
