/* Text that grows at its end, with malloc: written on without looking, for a failed allocation is
 * found at the end, in `failed`. */
#ifndef KJ_STR_H
#define KJ_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* A growing string; after a failed allocation it stays empty with failed set. */
typedef struct kj_str {
    char *data;
    size_t size, capacity;
    bool failed;
} kj_str;

void kj_str_add(kj_str *t, const char *text, size_t size);
void kj_str_puts(kj_str *t, const char *text);
void kj_str_printf(kj_str *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void kj_str_vprintf(kj_str *t, const char *format, va_list args);
void kj_str_free(kj_str *t);

#endif
