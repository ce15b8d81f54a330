/* The C library's formats and numbers, in the locale "C" and rounded to nearest; plain decimal numbers are read without it. */
#include "base/c_locale.h"

#include "base/decimal.h"
#include "base/float_env.h"

#include <locale.h>
#include <math.h>
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

/* A plain decimal number, "-12.5e-3", of at most 19 digits. */
typedef struct plain {
    kj_digits d;
    bool negative;
    const char *end;
} plain;

static const char *read_digits(const char *at, uint64_t *digits, int *n)
{
    for (; kj_is_digit(*at); at++) {
        *n += *n > 0 || *at != '0';
        *digits = *digits * 10 + (uint64_t)(*at - '0'); /* wraps where there are too many */
    }
    return at;
}

static bool read_plain(const char *text, plain *p)
{
    enum { DIGITS = 19, EXPONENT = 9999 };
    *p = (plain){.negative = *text == '-'};
    const char *begin = text + (*text == '-' || *text == '+');
    int n = 0;
    const char *at = read_digits(begin, &p->d.digits, &n);
    bool any = at > begin;
    if (*at == '.') {
        const char *point = at + 1;
        at = read_digits(point, &p->d.digits, &n);
        if (at - point > EXPONENT)
            return false;
        p->d.exponent = -(int)(at - point);
        any |= at > point;
    }
    if (!any || n > DIGITS || kj_to_lower(*at) == 'x')
        return false;
    const char *e = at + 1 + (kj_to_lower(*at) == 'e' && (at[1] == '-' || at[1] == '+'));
    if (kj_to_lower(*at) == 'e' && kj_is_digit(*e)) {
        int power = 0;
        bool negative = at[1] == '-';
        for (at = e; kj_is_digit(*at); at++)
            if ((power = power * 10 + (*at - '0')) > EXPONENT)
                return false;
        p->d.exponent += negative ? -power : power;
    }
    p->end = at;
    return true;
}

/* Powers of ten that doubles have. */
static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* What a type of floats has: bits of a number, least and largest exponents of these as whole numbers, the last power of ten. */
typedef struct form {
    int bits, least, most, tens;
} form;

static const form f64 = {53, -1074, 971, 22}, f32 = {24, -149, 104, 10};

/* The number nearest to d; false where that is not decided here. Of two numbers that the type has, the quotient or product is
 * rounded once, in the type itself or with twice its bits and two. */
static bool nearest(const form *f, kj_digits d, double *out)
{
    uint64_t c;
    int q;
    *out = 0;
    if (d.digits == 0)
        return true;
    if (d.digits >> f->bits == 0 && d.exponent >= -f->tens && d.exponent <= f->tens) {
        *out = d.exponent < 0 ? (double)d.digits / tens[-d.exponent]
                              : (double)d.digits * tens[d.exponent];
        return true;
    }
    if (!kj_digits_binary(d, f->bits, &c, &q) || q < f->least || q > f->most)
        return false;
    *out = ldexp((double)c, q);
    return true;
}

/* As strtod, of a plain number; false else. The environment is the language's. */
static bool quick(const char *text, char **end, const form *f, double *out)
{
    plain p;
    if (!read_plain(text, &p) || !nearest(f, p.d, out))
        return false;
    *out = p.negative ? -*out : *out;
    if (end)
        *end = (char *)(size_t)p.end;
    return true;
}

/* The C library's, of anything else. */
static double slow_double(const char *text, char **end)
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

static float slow_float(const char *text, char **end)
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

double kj_strtod(const char *text, char **end)
{
    double value;
    kj_float_env env = kj_float_enter();
    if (!quick(text, end, &f64, &value))
        value = slow_double(text, end);
    kj_float_leave(env);
    return value;
}

float kj_strtof(const char *text, char **end)
{
    double value;
    kj_float_env env = kj_float_enter();
    float single = quick(text, end, &f32, &value) ? (float)value : slow_float(text, end);
    kj_float_leave(env);
    return single;
}
