/* Functions of complex numbers on the host, by the C library, in f64: of literals and of a run block's numbers. */
#include <complex.h>
#include <float.h>
#include <math.h>
#undef I

#include "lang/types.h"

typedef double _Complex number;

/* CMPLX, which clang does not have in C17. */
static number number_of(kj_parts z)
{
    return (union {
               double part[2];
               number z;
           }){.part = {z.re, z.im}}
        .z;
}

static kj_parts parts_of(number z)
{
    return (kj_parts){creal(z), cimag(z)};
}

/* To a base; of real numbers what the real function is. */
static number log_2(number z)
{
    kj_parts l = parts_of(clog(z) / log(2));
    return number_of((kj_parts){cimag(z) == 0 ? log2(fabs(creal(z))) : l.re, l.im});
}
static number log_10(number z)
{
    kj_parts l = parts_of(clog(z) / log(10));
    return number_of((kj_parts){cimag(z) == 0 ? log10(fabs(creal(z))) : l.re, l.im});
}

static number conjugate(number z)
{
    return conj(z);
}

static number (*const functions[KJ_NBUILTINS])(number) = {
    [KJ_BI_EXP] = cexp,     [KJ_BI_LOG] = clog,     [KJ_BI_LOG2] = log_2,
    [KJ_BI_LOG10] = log_10, [KJ_BI_SQRT] = csqrt,   [KJ_BI_SIN] = csin,
    [KJ_BI_COS] = ccos,     [KJ_BI_TAN] = ctan,     [KJ_BI_SINH] = csinh,
    [KJ_BI_COSH] = ccosh,   [KJ_BI_TANH] = ctanh,   [KJ_BI_ASIN] = casin,
    [KJ_BI_ACOS] = cacos,   [KJ_BI_ATAN] = catan,   [KJ_BI_ASINH] = casinh,
    [KJ_BI_ACOSH] = cacosh, [KJ_BI_ATANH] = catanh, [KJ_BI_CONJ] = conjugate,
};

bool kj_host_complex(kj_builtin id, kj_parts z, kj_parts *out)
{
    if (!functions[id])
        return false;
    *out = parts_of(functions[id](number_of(z)));
    return true;
}

static double sign_of(double x)
{
    return !isnan(x) && signbit(x) ? -1 : 1;
}

/* a * b, and 0 with the signs' product where one of them is 0, whatever the other. */
static double times(double a, double b)
{
    double p = a * b;
    return isnan(p) && (a == 0 || b == 0) ? 0 * sign_of(a) * sign_of(b) : p;
}

kj_parts kj_host_rect(double length, double angle)
{
    return (kj_parts){times(length, cos(angle)), times(length, sin(angle))};
}

/* log |z| - log r, what rounding took from a length r, which a large exponent makes a large factor of. Of no finite
 * number nothing. */
static long double lost(kj_parts z, long double r)
{
    long double a = fmaxl(fabsl(z.re), fabsl(z.im)), b = fminl(fabsl(z.re), fabsl(z.im)) / r;
    long double v = ((a - r) / r * ((a + r) / r) + b * b) / 2;
    return isfinite(v) ? v : 0;
}

/* r**x * exp(turn), where log |z| is log r + less; also where one of the factors is beyond all numbers. */
static long double length_of_power(long double r, long double less, double x, long double turn)
{
    long double a = powl(r, x), b = expl((less == 0 ? 0 : x * less) + turn);
    if (isnormal(a) && isnormal(b))
        return a * b;
    return expl((long double)times(x, (double)(logl(r) + less)) + turn);
}

kj_parts kj_host_complex_power(kj_parts z, kj_parts w, bool real)
{
    if (w.re == 0 && w.im == 0)
        return (kj_parts){1, 0};
    if (z.re == 0 && z.im == 0) /* of which there is no logarithm */
        return w.re > 0 ? (kj_parts){0, 0} : (kj_parts){NAN, NAN};
    long double r = hypotl(z.re, z.im), less = lost(z, r);
    double phi = atan2(z.im, z.re), angle = w.re * phi;
    if (!real)
        angle += times(w.im, (double)(logl(r) + less));
    long double length = length_of_power(r, less, w.re, real ? 0 : -(long double)w.im * phi);
    double scale = length > DBL_MAX ? 0x1p64 : 1; /* the parts may still be numbers */
    kj_parts v = kj_host_rect((double)(length / scale), angle);
    return (kj_parts){v.re * scale, v.im * scale};
}

/* ---- Without the C library ---- */

/* As Python: without a second look at infinities. */
kj_parts kj_host_product(kj_parts x, kj_parts y)
{
    return (kj_parts){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

/* (a + bi) / (c + di) by Smith's method: with |c| >= |d| it is ((a + b*r) + (b - a*r)i) / (c + d*r)
 * where r = d/c. Otherwise both are divided by i first: b - ai, d - ci. Of huge numbers
 * both sides are scaled. */
kj_parts kj_host_quotient(kj_parts x, kj_parts y)
{
    bool turned = fabs(y.re) < fabs(y.im);
    kj_parts over = turned ? (kj_parts){x.im, -x.re} : x;
    kj_parts under = turned ? (kj_parts){y.im, -y.re} : y;
    double r = under.re == 0 ? under.im : under.im / under.re;
    double size = fmax(fmax(fabs(x.re), fabs(x.im)), fabs(under.re));
    double scale = size > 0x1p1022 ? 0.25 : 1;
    over = (kj_parts){over.re * scale, over.im * scale};
    under = (kj_parts){under.re * scale, under.im * scale};
    double below = under.re + under.im * r;
    return (kj_parts){(over.re + over.im * r) / below, (over.im - over.re * r) / below};
}

static kj_parts products(kj_parts z, int n)
{
    kj_parts all = {1, 0};
    bool any = false;
    for (; n; n >>= 1) {
        if (n & 1)
            all = any ? kj_host_product(all, z) : z;
        any |= n & 1;
        z = kj_host_product(z, z);
    }
    return all;
}

static kj_parts moved(kj_parts z, int e)
{
    return (kj_parts){ldexp(z.re, e), ldexp(z.im, e)};
}

/* By squaring, as kernels do with integers. Of inverse ones z has a length near 1 first, since z ** -n may overflow where
 * they do not. */
kj_parts kj_host_whole_power(kj_parts z, int n)
{
    double size = fmax(fabs(z.re), fabs(z.im));
    int e = n < -1 && size > 0 && isfinite(size) ? ilogb(size) : 0;
    if (n >= 0)
        return products(z, n);
    return moved(kj_host_quotient((kj_parts){1, 0}, products(moved(z, -e), -n)), e * n);
}
