/* Floats as decimal digits: the fewest that read back as the same value, or a fixed number of them.
 *
 * Digits come from the C library's exact conversions, their layout from here: the result does not
 * depend on the locale. The rules of NumPy's printing, which these serve, are in format.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/format.h"

/* The digits of "%.*e", without sign and point; the exponent goes to *exponent. */
static int take_digits(const char *text, char *digits, int *exponent)
{
    int n = 0;
    for (; *text != 'e'; text++) {
        if (*text >= '0' && *text <= '9')
            digits[n++] = *text;
    }
    *exponent = atoi(text + 1);
    return n;
}

static double read_back(const char *text, kj_dtype type)
{
    if (type == KJ_F32)
        return (double)kj_strtof(text, NULL);
    return kj_fold_convert(kj_float(KJ_F64, kj_strtod(text, NULL)), type).f;
}

/* Could the neighbour in the last digit be nearer to what reads back? Below a power of 2 values lie
 * twice as dense, so the nearest decimal of few digits may miss while the next one does not. */
static bool bump_reads_back(char *digits, int n, int exponent, double v, kj_dtype type)
{
    char text[40];
    int i = n - 1;
    while (i >= 0 && digits[i] == '9')
        i--;
    if (i < 0)
        return false;
    char bumped[KJ_DIGITS];
    memcpy(bumped, digits, (size_t)n);
    bumped[i]++;
    memset(bumped + i + 1, '0', (size_t)(n - 1 - i));
    kj_snprintf(text, sizeof text, "%.*se%d", n, bumped, exponent - (n - 1));
    if (read_back(text, type) != v)
        return false;
    memcpy(digits, bumped, (size_t)n);
    return true;
}

static void trim_zeros(kj_decimal *d)
{
    while (d->n > 1 && d->digits[d->n - 1] == '0')
        d->n--;
}

void kj_shortest(double v, kj_dtype type, kj_decimal *d)
{
    char text[64];
    int most = type == KJ_F64 ? 17 : type == KJ_F32 ? 9 : 5;
    d->negative = signbit(v);
    v = fabs(v);
    for (int n = 1; n <= most; n++) {
        kj_snprintf(text, sizeof text, "%.*e", n - 1, v);
        d->n = take_digits(text, d->digits, &d->exponent);
        if (read_back(text, type) == v || bump_reads_back(d->digits, d->n, d->exponent, v, type))
            break;
    }
    trim_zeros(d);
}

void kj_rounded(double v, kj_dtype type, int precision, bool fractional, kj_decimal *d)
{
    kj_shortest(v, type, d);
    int kept = fractional ? d->exponent + 1 + precision : 1 + precision;
    if (d->n <= kept)
        return;
    kj_exact(v, kept, d);
    trim_zeros(d);
}

void kj_exact(double v, int n, kj_decimal *d)
{
    char text[KJ_DIGITS + 16];
    kj_snprintf(text, sizeof text, "%.*e", n - 1, fabs(v));
    d->n = take_digits(text, d->digits, &d->exponent);
    d->negative = signbit(v);
}

int kj_decimal_positional(const kj_decimal *d, char *buf)
{
    int at = 0;
    if (d->negative)
        buf[at++] = '-';
    int whole = d->exponent + 1; /* digits before the point */
    for (int i = 0; i < whole; i++)
        buf[at++] = i < d->n ? d->digits[i] : '0';
    if (whole <= 0)
        buf[at++] = '0';
    buf[at++] = '.';
    for (int i = whole; i < 0 && !(d->n == 1 && d->digits[0] == '0'); i++)
        buf[at++] = '0';
    for (int i = whole > 0 ? whole : 0; i < d->n; i++) {
        if (d->n > 1 || d->digits[0] != '0')
            buf[at++] = d->digits[i];
    }
    buf[at] = '\0';
    return at;
}

int kj_decimal_scientific(const kj_decimal *d, int fraction, int exponent_digits, char *buf)
{
    int at = 0;
    if (d->negative)
        buf[at++] = '-';
    buf[at++] = d->digits[0];
    buf[at++] = '.';
    for (int i = 1; i <= fraction; i++)
        buf[at++] = i < d->n ? d->digits[i] : '0';
    int e = d->exponent;
    enum { EXPONENT = 12 }; /* bytes that every caller has left */
    return at + kj_snprintf(buf + at, EXPONENT, "e%c%0*d", e < 0 ? '-' : '+', exponent_digits,
                            e < 0 ? -e : e);
}

static const char *float_text(double v, kj_dtype type, char buf[KJ_SCALAR_TEXT])
{
    if (isnan(v))
        return strcpy(buf, "nan");
    if (isinf(v))
        return strcpy(buf, v < 0 ? "-inf" : "inf");
    kj_decimal d;
    kj_shortest(v, type, &d);
    double size = fabs(v);
    if (v == 0 || (size >= 1e-4 && size < 1e16)) {
        int at = kj_decimal_positional(&d, buf);
        if (buf[at - 1] == '.')
            strcpy(buf + at, "0");
        return buf;
    }
    kj_decimal_scientific(&d, d.n - 1, 2, buf);
    char *point = strchr(buf, '.');
    if (d.n == 1)
        memmove(point, point + 1, strlen(point));
    return buf;
}

/* Without ".0". */
static const char *part_text(double v, kj_dtype type, char buf[KJ_SCALAR_TEXT])
{
    float_text(v, type, buf);
    size_t n = strlen(buf);
    if (n > 2 && strcmp(buf + n - 2, ".0") == 0)
        buf[n - 2] = '\0';
    return buf;
}

const char *kj_complex_text(double re, double im, kj_dtype part, char buf[KJ_SCALAR_TEXT])
{
    char x[KJ_SCALAR_TEXT], y[KJ_SCALAR_TEXT];
    part_text(re, part, x);
    part_text(im, part, y);
    if (re == 0 && !signbit(re))
        kj_snprintf(buf, KJ_SCALAR_TEXT, "%.30sj", y);
    else
        kj_snprintf(buf, KJ_SCALAR_TEXT, "(%.28s%s%.28sj)", x, *y == '-' ? "" : "+", y);
    return buf;
}

static const char *scalar_text(kjit_dtype dtype, const void *element, char buf[KJ_SCALAR_TEXT])
{
    const kj_aggregate *of = kj_aggregate_of((kj_dtype)dtype);
    if (of)
        return kj_complex_text(kj_value_read(element, of->elem, 0).f,
                               kj_value_read(element, of->elem, 1).f, of->elem, buf);
    kj_dtype type = (kj_dtype)dtype;
    kj_value v = kj_value_read(element, type, 0);
    if (kj_is_float(type))
        return float_text(v.f, type, buf);
    if (type == KJ_BOOL)
        return strcpy(buf, v.u ? "True" : "False");
    if (kj_is_signed(type))
        kj_snprintf(buf, KJ_SCALAR_TEXT, "%lld", (long long)v.i);
    else
        kj_snprintf(buf, KJ_SCALAR_TEXT, "%llu", (unsigned long long)v.u);
    return buf;
}

const char *kj_scalar_text(kjit_dtype dtype, const void *element, char buf[KJ_SCALAR_TEXT])
{
    kj_float_env env = kj_float_enter();
    const char *text = scalar_text(dtype, element, buf);
    kj_float_leave(env);
    return text;
}
