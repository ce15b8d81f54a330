/* The C library's formats and numbers, in the locale "C" and rounded to nearest. */
#include "base/c_locale.h"

#include "base/float_env.h"

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
    kj_float_env env = kj_float_enter();
    int n = vsnprintf(out, size, format, args);
    kj_float_leave(env);
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
    kj_float_env env = kj_float_enter();
    double value = strtod_l(text, end, c);
    kj_float_leave(env);
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
    kj_float_env env = kj_float_enter();
    float value = strtof_l(text, end, c);
    kj_float_leave(env);
    freelocale(c);
    return value;
}
