/* Numbers and letters as text, the same in whatever locale the program around the library has set: a
 * decimal point is a point, and letters are those of ASCII. What else a format does is the C
 * library's. No other file of the library calls its functions for that. */
#ifndef KJ_C_LOCALE_H
#define KJ_C_LOCALE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* As snprintf and vsnprintf; without memory for a locale they give -1. */
int kj_snprintf(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int kj_vsnprintf(char *out, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* As strtod and strtof; without memory for a locale nothing is read, and the number is 0. */
double kj_strtod(const char *text, char **end);
float kj_strtof(const char *text, char **end);

static inline char kj_to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}
static inline bool kj_is_letter(char c)
{
    return kj_to_lower(c) >= 'a' && kj_to_lower(c) <= 'z';
}
static inline bool kj_is_digit(char c)
{
    return c >= '0' && c <= '9';
}
/* In names, after their first letter. */
static inline bool kj_is_word(char c)
{
    return kj_is_letter(c) || kj_is_digit(c) || c == '_';
}

#endif
