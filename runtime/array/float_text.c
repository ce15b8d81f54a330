/* Numbers as text: floats with the fewest digits that read back as the same value, or with a fixed number of them. Digits come
 * from base/decimal.c, in the rarest cases from the C library's exact conversions, their layout from here: the result does not
 * depend on the locale. The rules of NumPy's printing, which these serve, are in format.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/format.h"
#include "base/decimal.h"

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

static void trim_zeros(kj_decimal *d)
{
    while (d->n > 1 && d->digits[d->n - 1] == '0')
        d->n--;
}

/* The digits of a number that is 1 or more, and what its last one stands for. */
static void put_digits(kj_digits from, kj_decimal *d)
{
    char text[24];
    int at = (int)sizeof text;
    for (uint64_t rest = from.digits; rest; rest /= 10)
        text[--at] = (char)('0' + rest % 10);
    d->n = (int)sizeof text - at;
    d->exponent = from.exponent + d->n - 1;
    memcpy(d->digits, text + at, (size_t)d->n);
}

/* A number as c * 2**q. */
typedef struct binary {
    uint64_t c;
    int q;
    bool edge; /* below it the type's numbers lie twice as dense, it being a power of two */
} binary;

/* The finite v, 0 or more, with as many bits as its type has, or as are left of a subnormal number. */
static binary binary_of(double v, kj_dtype type)
{
    int bits = type == KJ_F64 ? 53 : type == KJ_F32 ? 24 : type == KJ_F16 ? 11 : 8;
    int least = type == KJ_F64 ? -1074 : type == KJ_F32 ? -149 : type == KJ_F16 ? -24 : -133;
    int exponent;
    frexp(v, &exponent);
    binary b = {.q = exponent - bits > least ? exponent - bits : least};
    b.c = (uint64_t)ldexp(v, -b.q);
    b.edge = b.c == 1ULL << (bits - 1) && b.q > least;
    return b;
}

void kj_shortest(double v, kj_dtype type, kj_decimal *d)
{
    binary b = binary_of(fabs(v), type);
    *d = (kj_decimal){.negative = signbit(v), .n = 1, .digits = "0"};
    if (b.c > 0)
        put_digits(kj_digits_shortest(b.c, b.q, b.edge), d);
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
    binary b = binary_of(fabs(v), KJ_F64);
    kj_digits digits;
    d->negative = signbit(v);
    if (b.c > 0 && kj_digits_nearest(b.c, b.q, n, &digits)) {
        put_digits(digits, d);
        return;
    }
    char text[KJ_DIGITS + 16];
    kj_snprintf(text, sizeof text, "%.*e", n - 1, fabs(v));
    d->n = take_digits(text, d->digits, &d->exponent);
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
    char reversed[8];
    int e = abs(d->exponent), n = 0;
    for (; e > 0 || n < exponent_digits; e /= 10)
        reversed[n++] = (char)('0' + e % 10);
    buf[at++] = 'e';
    buf[at++] = d->exponent < 0 ? '-' : '+';
    while (n > 0)
        buf[at++] = reversed[--n];
    buf[at] = '\0';
    return at;
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

static const char *int_text(kj_value v, char buf[KJ_SCALAR_TEXT])
{
    bool negative = kj_is_signed(v.type) && v.i < 0;
    char *at = buf + KJ_SCALAR_TEXT;
    *--at = '\0';
    for (uint64_t rest = negative ? 0 - v.u : v.u; rest || !*at; rest /= 10)
        *--at = (char)('0' + rest % 10);
    *buf = '-';
    memmove(buf + negative, at, (size_t)(buf + KJ_SCALAR_TEXT - at));
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
    return int_text(v, buf);
}

const char *kj_scalar_text(kjit_dtype dtype, const void *element, char buf[KJ_SCALAR_TEXT])
{
    kj_float_env env = kj_float_enter();
    const char *text = scalar_text(dtype, element, buf);
    kj_float_leave(env);
    return text;
}
