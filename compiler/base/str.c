/* A growing text. Callers write on without looking: a failed allocation is found at the end, in
 * `failed`. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/text.h"

static bool reserve(kj_str *t, size_t more)
{
    if (t->failed)
        return false;
    if (t->capacity - t->size > more)
        return true;
    size_t capacity = t->capacity ? t->capacity : 128;
    while (capacity - t->size <= more) {
        if (capacity > SIZE_MAX / 2) {
            t->failed = true;
            return false;
        }
        capacity *= 2;
    }
    char *data = realloc(t->data, capacity);
    if (!data) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->capacity = capacity;
    return true;
}

void kj_str_add(kj_str *t, const char *text, size_t size)
{
    if (!reserve(t, size))
        return;
    memcpy(t->data + t->size, text, size);
    t->size += size;
    t->data[t->size] = '\0';
}

void kj_str_puts(kj_str *t, const char *text)
{
    kj_str_add(t, text, strlen(text));
}

void kj_str_vprintf(kj_str *t, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int size = kj_vsnprintf(NULL, 0, format, args);
    if (size < 0) {
        t->failed = true;
    } else if (reserve(t, (size_t)size)) {
        kj_vsnprintf(t->data + t->size, (size_t)size + 1, format, again);
        t->size += (size_t)size;
    }
    va_end(again);
}

void kj_str_printf(kj_str *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    kj_str_vprintf(t, format, args);
    va_end(args);
}

void kj_str_free(kj_str *t)
{
    free(t->data);
    *t = (kj_str){0};
}
