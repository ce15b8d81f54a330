/* The C library's formats and numbers, in the locale "C". */
#include "text.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

static locale_t c_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0); /* the C library has it ready */
}

int kj_vsnprintf(char *out, size_t size, const char *format, va_list args)
{
    locale_t c = c_locale();
    if (!c)
        return -1;
    locale_t before = uselocale(c);
    int n = vsnprintf(out, size, format, args);
    uselocale(before);
    freelocale(c);
    return n;
}

int kj_snprintf(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = kj_vsnprintf(out, size, format, args);
    va_end(args);
    return n;
}

double kj_strtod(const char *text, char **end)
{
    locale_t c = c_locale();
    if (end)
        *end = (char *)(size_t)text;
    if (!c)
        return 0;
    double value = strtod_l(text, end, c);
    freelocale(c);
    return value;
}

float kj_strtof(const char *text, char **end)
{
    locale_t c = c_locale();
    if (end)
        *end = (char *)(size_t)text;
    if (!c)
        return 0;
    float value = strtof_l(text, end, c);
    freelocale(c);
    return value;
}
