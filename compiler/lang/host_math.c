/* Math functions on the host, by the C library. In f64, for run blocks. Of literals, which no device computes: with
 * the digits of a long double, rounded to f64 once. */
#include <math.h>

#include "lang/signature.h"
#include "lang/types.h"

static double reciprocal_sqrt(double x)
{
    return 1 / sqrt(x);
}
static double power_of_ten(double x)
{
    return pow(10, x);
}

/* sin(pi * x), of exactly what x is beyond an even number. */
static double sine_of_pi(double x)
{
    const double pi = 0x1.921fb54442d18p+1;
    double rest = remainder(x, 2), size = fabs(rest), sine;
    if (size <= 0.25)
        sine = sin(pi * size);
    else
        sine = size < 0.75 ? cos(pi * (0.5 - size)) : sin(pi * (1 - size));
    return copysign(sine, sine == 0 ? x : rest);
}
static double cosine_of_pi(double x)
{
    const double pi = 0x1.921fb54442d18p+1;
    double size = fabs(remainder(x, 2));
    if (size <= 0.25)
        return cos(pi * size);
    return size < 0.75 ? sin(pi * (0.5 - size)) : -cos(pi * (1 - size));
}

static double log_of_gamma(double x)
{
    int sign; /* which lgamma would leave in a variable of the process */
    return lgamma_r(x, &sign);
}

/* The same with more digits, for those that are not exact. */
static long double reciprocal_sqrt_long(long double x)
{
    return 1 / sqrtl(x);
}
static long double power_of_ten_long(long double x)
{
    return powl(10, x);
}
static const long double pi_long = 3.14159265358979323846264338327950288L;
static long double sine_of_pi_long(long double x)
{
    long double rest = remainderl(x, 2), size = fabsl(rest), sine;
    if (size <= 0.25L)
        sine = sinl(pi_long * size);
    else
        sine = size < 0.75L ? cosl(pi_long * (0.5L - size)) : sinl(pi_long * (1 - size));
    return copysignl(sine, sine == 0 ? x : rest);
}
static long double cosine_of_pi_long(long double x)
{
    long double size = fabsl(remainderl(x, 2));
    if (size <= 0.25L)
        return cosl(pi_long * size);
    return size < 0.75L ? sinl(pi_long * (0.5L - size)) : -cosl(pi_long * (1 - size));
}
static long double log_of_gamma_long(long double x)
{
    int sign;
    return lgammal_r(x, &sign);
}

/* ---- What the C library does not have ---- */

static const long double half_sqrt2 = 0.70710678118654752440084436210484904L;

static long double reciprocal_cbrt_long(long double x)
{
    return 1 / cbrtl(x);
}
static long double reciprocal_hypot_long(long double x, long double y)
{
    return 1 / hypotl(x, y);
}
static long double norm_long(long double x, long double y, long double z)
{
    return hypotl(hypotl(x, y), z);
}
static long double reciprocal_norm_long(long double x, long double y, long double z)
{
    return 1 / norm_long(x, y, z);
}
static long double norm4_long(long double x, long double y, long double z, long double w)
{
    return hypotl(hypotl(x, y), hypotl(z, w));
}
static long double reciprocal_norm4_long(long double x, long double y, long double z, long double w)
{
    return 1 / norm4_long(x, y, z, w);
}

/* t > 0 with erfc(t) = y < 1, or with `whole` erf(t) = y: Halley's steps from S. Winitzki's estimate. */
static long double inverse_erf(long double y, bool whole)
{
    const long double slope = 1.12837916709551257389615890312154517L; /* 2 / sqrt(pi) */
    long double w = logl(whole ? (1 - y) * (1 + y) : y * (2 - y));
    long double b = 4.3307467L + w / 2, t = sqrtl(sqrtl(b * b - w / 0.147L) - b);
    if (whole && y < 0x1p-20L) /* where the estimate's difference has no digits */
        t = y / slope;
    for (int i = 0; i < 6; i++) {
        long double d = whole ? erfl(t) - y : y - erfcl(t);
        d /= slope * expl(-t * t);
        t -= d / (1 + t * d);
    }
    return t;
}
static long double erfinv_long(long double x)
{
    long double a = fabsl(x);
    if (x == 0 || !(a < 1))
        return a == 1 ? x * INFINITY : x == 0 ? x : NAN;
    return copysignl(a < 0.5L ? inverse_erf(a, true) : inverse_erf(1 - a, false), x);
}
static long double erfcinv_long(long double x)
{
    if (!(x > 0 && x < 2))
        return x == 0 ? INFINITY : x == 2 ? -INFINITY : NAN;
    if (x > 0.5L && x < 1.5L)
        return erfinv_long(1 - x);
    return x < 1 ? inverse_erf(x, false) : -inverse_erf(2 - x, false);
}
static long double normcdfinv_long(long double x)
{
    return 0.0L - erfcinv_long(2 * x) / half_sqrt2; /* of 0.5 it is 0.0 */
}
static long double normcdf_long(long double x)
{
    return erfcl(-x * half_sqrt2) / 2;
}

/* The asymptotic series, where its terms become small enough. */
static long double erfcx_long(long double x)
{
    long double term = 1, sum = 1;
    if (x < 12)
        return expl(x * x) * erfcl(x);
    for (int k = 1; k < 40; k++)
        sum += term *= -(2 * k - 1) / (2 * x * x);
    return 0.56418958354775628694807945156077259L / x * sum; /* 1 / sqrt(pi) */
}

/* Of (x/2)^order / order! the sum of (x*x/4)^k / (k! (k + order)!), order being 0 or 1. */
static long double modified_bessel(long double x, int order)
{
    long double term = 1, sum = 1, square = x * x / 4;
    if (!(square < 600 * 600))
        return isnan(x) ? x : order ? copysignl(INFINITY, x) : INFINITY;
    for (int k = 1; term > sum * 0x1p-70L; k++)
        sum += term *= square / ((long double)k * (k + order));
    return order ? x / 2 * sum : sum;
}
static long double bessel_i0_long(long double x)
{
    return modified_bessel(x, 0);
}
static long double bessel_i1_long(long double x)
{
    return modified_bessel(x, 1);
}

/* Of one to four floats. */
static const struct {
    double (*one)(double);
    double (*two)(double, double);
    long double (*one_long)(long double);
    long double (*two_long)(long double, long double);
    long double (*three_long)(long double, long double, long double);
    long double (*four_long)(long double, long double, long double, long double);
} functions[KJ_NBUILTINS] = {
    [KJ_BI_RSQRT] = {.one = reciprocal_sqrt, .one_long = reciprocal_sqrt_long},
    [KJ_BI_CBRT] = {.one = cbrt, .one_long = cbrtl},
    [KJ_BI_EXP] = {.one = exp, .one_long = expl},
    [KJ_BI_EXP2] = {.one = exp2, .one_long = exp2l},
    [KJ_BI_EXP10] = {.one = power_of_ten, .one_long = power_of_ten_long},
    [KJ_BI_EXPM1] = {.one = expm1, .one_long = expm1l},
    [KJ_BI_LOG] = {.one = log, .one_long = logl},
    [KJ_BI_LOG2] = {.one = log2, .one_long = log2l},
    [KJ_BI_LOG10] = {.one = log10, .one_long = log10l},
    [KJ_BI_LOG1P] = {.one = log1p, .one_long = log1pl},
    [KJ_BI_SIN] = {.one = sin, .one_long = sinl},
    [KJ_BI_COS] = {.one = cos, .one_long = cosl},
    [KJ_BI_TAN] = {.one = tan, .one_long = tanl},
    [KJ_BI_SINPI] = {.one = sine_of_pi, .one_long = sine_of_pi_long},
    [KJ_BI_COSPI] = {.one = cosine_of_pi, .one_long = cosine_of_pi_long},
    [KJ_BI_ASIN] = {.one = asin, .one_long = asinl},
    [KJ_BI_ACOS] = {.one = acos, .one_long = acosl},
    [KJ_BI_ATAN] = {.one = atan, .one_long = atanl},
    [KJ_BI_SINH] = {.one = sinh, .one_long = sinhl},
    [KJ_BI_COSH] = {.one = cosh, .one_long = coshl},
    [KJ_BI_TANH] = {.one = tanh, .one_long = tanhl},
    [KJ_BI_ASINH] = {.one = asinh, .one_long = asinhl},
    [KJ_BI_ACOSH] = {.one = acosh, .one_long = acoshl},
    [KJ_BI_ATANH] = {.one = atanh, .one_long = atanhl},
    [KJ_BI_ERF] = {.one = erf, .one_long = erfl},
    [KJ_BI_ERFC] = {.one = erfc, .one_long = erfcl},
    [KJ_BI_GAMMA] = {.one = tgamma, .one_long = tgammal},
    [KJ_BI_LGAMMA] = {.one = log_of_gamma, .one_long = log_of_gamma_long},
    [KJ_BI_RCBRT] = {.one_long = reciprocal_cbrt_long},
    [KJ_BI_ERFINV] = {.one_long = erfinv_long},
    [KJ_BI_ERFCINV] = {.one_long = erfcinv_long},
    [KJ_BI_ERFCX] = {.one_long = erfcx_long},
    [KJ_BI_NORMCDF] = {.one_long = normcdf_long},
    [KJ_BI_NORMCDFINV] = {.one_long = normcdfinv_long},
    [KJ_BI_CYL_BESSEL_I0] = {.one_long = bessel_i0_long},
    [KJ_BI_CYL_BESSEL_I1] = {.one_long = bessel_i1_long},
    [KJ_BI_J0] = {.one = j0, .one_long = j0l},
    [KJ_BI_J1] = {.one = j1, .one_long = j1l},
    [KJ_BI_Y0] = {.one = y0, .one_long = y0l},
    [KJ_BI_Y1] = {.one = y1, .one_long = y1l},
    [KJ_BI_RHYPOT] = {.two_long = reciprocal_hypot_long},
    [KJ_BI_NORM3D] = {.three_long = norm_long},
    [KJ_BI_RNORM3D] = {.three_long = reciprocal_norm_long},
    [KJ_BI_NORM4D] = {.four_long = norm4_long},
    [KJ_BI_RNORM4D] = {.four_long = reciprocal_norm4_long},
    [KJ_BI_HYPOT] = {.two = hypot, .two_long = hypotl},
    [KJ_BI_POW] = {.two = pow, .two_long = powl},
    [KJ_BI_ATAN2] = {.two = atan2, .two_long = atan2l},
};

bool kj_host_math(kj_builtin id, const double *x, double *out)
{
    if (functions[id].one)
        *out = functions[id].one(x[0]);
    else if (functions[id].two)
        *out = functions[id].two(x[0], x[1]);
    else
        return kj_host_exact(id, x, out) || kj_literal_math(id, x, out);
    return true;
}

bool kj_long_math(kj_builtin id, const long double *x, long double *out)
{
    if (functions[id].one_long)
        *out = functions[id].one_long(x[0]);
    else if (functions[id].two_long)
        *out = functions[id].two_long(x[0], x[1]);
    else if (functions[id].three_long)
        *out = functions[id].three_long(x[0], x[1], x[2]);
    else if (functions[id].four_long)
        *out = functions[id].four_long(x[0], x[1], x[2], x[3]);
    else
        return false;
    return true;
}

bool kj_literal_math(kj_builtin id, const double *x, double *out)
{
    long double wide[KJ_BUILTIN_ARGS], result;
    for (int i = 0; i < KJ_BUILTIN_ARGS; i++)
        wide[i] = i < kj_builtin_arity(id) ? x[i] : 0;
    if (!kj_long_math(id, wide, &result))
        return false;
    *out = (double)result;
    return true;
}
