/* Text that grows at its end, in an arena or by malloc: written on without looking. The "C" locale's,
 * whichever the program around the library has set. */
#ifndef KJ_TEXT_H
#define KJ_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/c_locale.h"

/* Begins as {0}, or as {.arena = a}. NUL-terminated; NULL while it is empty. Out of memory, that of an
 * arena goes where its arena's does; the other sets `failed`, to be looked at in the end, and stays as
 * it is. */
typedef struct kj_text {
    struct kj_arena *arena; /* NULL: malloc */
    char *data;
    size_t size, capacity;
    bool failed;
} kj_text;

void kj_text_add(kj_text *t, const char *text, size_t size);
void kj_text_puts(kj_text *t, const char *text);
void kj_text_printf(kj_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void kj_text_vprintf(kj_text *t, const char *format, va_list args);
/* These write out what a terminal must not be given, as \x1b; `lines`: line ends stay. */
void kj_text_plain(kj_text *t, const char *text, size_t size, bool lines);
void kj_text_vplain(kj_text *t, bool lines, const char *format, va_list args);
void kj_text_free(kj_text *t); /* of one by malloc */

/* How many of its n bytes are left without blanks and line ends behind. */
size_t kj_trimmed(const char *text, size_t n);

#endif
