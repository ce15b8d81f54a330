/* What is measured: every function of floats with a bound, and the operations that are rounded
 * correctly. libm in a wider type is quick and nearly right; MPFR decides. */
#include <math.h>

#include "ulp.h"

/* ---- What libm does not have ---- */

static double rsqrt_d(double x)
{
    return 1 / sqrt(x);
}
static long double rsqrt_l(long double x)
{
    return 1 / sqrtl(x);
}
static double divide_d(double x, double y)
{
    return x / y;
}
static long double divide_l(long double x, long double y)
{
    return x / y;
}
static double lgamma_d(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}
static long double lgamma_ld(long double x)
{
    int sign;
    return lgammal_r(x, &sign);
}

static const long double PI = 3.14159265358979323846264338327950288L;

static long double sinpi_l(long double x)
{
    long double rest = remainderl(x, 2), size = fabsl(rest);
    long double sine = size <= 0.25L  ? sinl(PI * size)
                       : size < 0.75L ? cosl(PI * (0.5L - size))
                                      : sinl(PI * (1 - size));
    return copysignl(sine, rest);
}
static long double cospi_l(long double x)
{
    long double size = fabsl(remainderl(x, 2));
    return size <= 0.25L  ? cosl(PI * size)
           : size < 0.75L ? sinl(PI * (0.5L - size))
                          : -cosl(PI * (1 - size));
}
static double sinpi_d(double x)
{
    return (double)sinpi_l(x);
}
static double cospi_d(double x)
{
    return (double)cospi_l(x);
}

/* ---- MPFR ---- */

#define EXACT_1(name, function) \
    static void name(mpfr_t out, mpfr_t *x) \
    { \
        function(out, x[0], MPFR_RNDN); \
    }
#define EXACT_2(name, function) \
    static void name(mpfr_t out, mpfr_t *x) \
    { \
        function(out, x[0], x[1], MPFR_RNDN); \
    }
EXACT_1(exact_sqrt, mpfr_sqrt)
EXACT_1(exact_cbrt, mpfr_cbrt)
EXACT_1(exact_exp, mpfr_exp)
EXACT_1(exact_exp2, mpfr_exp2)
EXACT_1(exact_exp10, mpfr_exp10)
EXACT_1(exact_expm1, mpfr_expm1)
EXACT_1(exact_log, mpfr_log)
EXACT_1(exact_log2, mpfr_log2)
EXACT_1(exact_log10, mpfr_log10)
EXACT_1(exact_log1p, mpfr_log1p)
EXACT_1(exact_sin, mpfr_sin)
EXACT_1(exact_cos, mpfr_cos)
EXACT_1(exact_tan, mpfr_tan)
EXACT_1(exact_asin, mpfr_asin)
EXACT_1(exact_acos, mpfr_acos)
EXACT_1(exact_atan, mpfr_atan)
EXACT_1(exact_sinh, mpfr_sinh)
EXACT_1(exact_cosh, mpfr_cosh)
EXACT_1(exact_tanh, mpfr_tanh)
EXACT_1(exact_asinh, mpfr_asinh)
EXACT_1(exact_acosh, mpfr_acosh)
EXACT_1(exact_atanh, mpfr_atanh)
EXACT_1(exact_erf, mpfr_erf)
EXACT_1(exact_erfc, mpfr_erfc)
EXACT_1(exact_gamma, mpfr_gamma)
EXACT_2(exact_divide, mpfr_div)
EXACT_2(exact_hypot, mpfr_hypot)
EXACT_2(exact_pow, mpfr_pow)
EXACT_2(exact_atan2, mpfr_atan2)
EXACT_2(exact_fmod, mpfr_fmod)
EXACT_2(exact_remainder, mpfr_remainder)

static void exact_fma(mpfr_t out, mpfr_t *x)
{
    mpfr_fma(out, x[0], x[1], x[2], MPFR_RNDN);
}

static void exact_lgamma(mpfr_t out, mpfr_t *x)
{
    int sign;
    mpfr_lgamma(out, &sign, x[0], MPFR_RNDN);
}

/* MPFR gives +infinity for -0. */
static void exact_rsqrt(mpfr_t out, mpfr_t *x)
{
    mpfr_rec_sqrt(out, x[0], MPFR_RNDN);
    if (mpfr_zero_p(x[0]))
        mpfr_copysign(out, out, x[0], MPFR_RNDN);
}

/* The angle of 2x half turns, from the nearest multiple of a quarter turn: that many quarters are
 * left out, and what is left has no rounding error. */
static long quarter_turns(mpfr_t rest, mpfr_t x)
{
    long quarters;
    mpfr_t doubled, four;
    mpfr_inits2(2 * PRECISION, doubled, four, (mpfr_ptr)NULL);
    mpfr_mul_2ui(doubled, x, 1, MPFR_RNDN);
    mpfr_set_ui(four, 4, MPFR_RNDN);
    mpfr_fmod(doubled, doubled, four, MPFR_RNDN);
    quarters = mpfr_get_si(doubled, MPFR_RNDN);
    mpfr_sub_si(doubled, doubled, quarters, MPFR_RNDN);
    mpfr_const_pi(rest, MPFR_RNDN);
    mpfr_mul(rest, rest, doubled, MPFR_RNDN);
    mpfr_div_2ui(rest, rest, 1, MPFR_RNDN);
    mpfr_clears(doubled, four, (mpfr_ptr)NULL);
    return quarters & 3;
}

static void sine_of_turns(mpfr_t out, mpfr_t x, long more)
{
    if (!mpfr_number_p(x)) {
        mpfr_set_nan(out);
        return;
    }
    mpfr_t rest;
    mpfr_init2(rest, PRECISION);
    long quarters = quarter_turns(rest, x) + more;
    (quarters & 1 ? mpfr_cos : mpfr_sin)(out, rest, MPFR_RNDN);
    if (quarters & 2)
        mpfr_neg(out, out, MPFR_RNDN);
    mpfr_clear(rest);
}

static void exact_sinpi(mpfr_t out, mpfr_t *x)
{
    sine_of_turns(out, x[0], 0);
}

static void exact_cospi(mpfr_t out, mpfr_t *x)
{
    sine_of_turns(out, x[0], 1);
}

/* ---- The list ---- */

#define ONE(word, d, l, mp, where) \
    { \
        .name = word, .call = word "(x)", .nargs = 1, .arguments = where, .wide.one = d, \
        .wider.one = l, .exact = mp \
    }
#define TWO(word, text, d, l, mp, where) \
    { \
        .name = word, .call = text, .nargs = 2, .arguments = where, .wide.two = d, .wider.two = l, \
        .exact = mp \
    }
#define WAVE(word, d, l, mp) \
    { \
        .name = word, .call = word "(x)", .nargs = 1, .wide.one = d, .wider.one = l, .exact = mp, \
        .amplitude = wave_amplitude \
    }
#define THREE(word, text, d, l, mp) \
    { \
        .name = word, .call = text, .nargs = 3, .arguments = ALIKE, .wide.three = d, \
        .wider.three = l, .exact = mp \
    }

#define FOUR(word, d, l, mp) \
    { \
        .name = word, .call = word "(x, y, z, w)", .nargs = 4, .arguments = ALIKE, .wide.four = d, \
        .wider.four = l, .exact = mp \
    }

const subject subjects[] = {
    TWO("/", "x / y", divide_d, divide_l, exact_divide, ANYWHERE),
    THREE("fma", "fma(x, y, z)", fma, fmal, exact_fma),
    ONE("degrees", degrees_wide, degrees_wider, exact_degrees, ANYWHERE),
    ONE("radians", radians_wide, radians_wider, exact_radians, ANYWHERE),
    ONE("sqrt", sqrt, sqrtl, exact_sqrt, ANYWHERE),
    ONE("rsqrt", rsqrt_d, rsqrt_l, exact_rsqrt, ANYWHERE),
    ONE("cbrt", cbrt, cbrtl, exact_cbrt, ANYWHERE),
    TWO("hypot", "hypot(x, y)", hypot, hypotl, exact_hypot, ALIKE),
    ONE("rcbrt", rcbrt_wide, rcbrt_wider, exact_rcbrt, ANYWHERE),
    TWO("rhypot", "rhypot(x, y)", rhypot_wide, rhypot_wider, exact_rhypot, ALIKE),
    THREE("norm3d", "norm3d(x, y, z)", norm3d_wide, norm3d_wider, exact_norm3d),
    THREE("rnorm3d", "rnorm3d(x, y, z)", rnorm3d_wide, rnorm3d_wider, exact_rnorm3d),
    FOUR("norm4d", norm4d_wide, norm4d_wider, exact_norm4d),
    FOUR("rnorm4d", rnorm4d_wide, rnorm4d_wider, exact_rnorm4d),
    ONE("exp", exp, expl, exact_exp, ANYWHERE),
    ONE("exp2", exp2, exp2l, exact_exp2, ANYWHERE),
    ONE("exp10", exp10, exp10l, exact_exp10, ANYWHERE),
    ONE("expm1", expm1, expm1l, exact_expm1, ANYWHERE),
    ONE("log", log, logl, exact_log, ANYWHERE),
    ONE("log2", log2, log2l, exact_log2, ANYWHERE),
    ONE("log10", log10, log10l, exact_log10, ANYWHERE),
    ONE("log1p", log1p, log1pl, exact_log1p, ANYWHERE),
    TWO("pow", "pow(x, y)", pow, powl, exact_pow, POWERS),
    ONE("sin", sin, sinl, exact_sin, ANYWHERE),
    ONE("cos", cos, cosl, exact_cos, ANYWHERE),
    ONE("tan", tan, tanl, exact_tan, ANYWHERE),
    ONE("sinpi", sinpi_d, sinpi_l, exact_sinpi, ANYWHERE),
    ONE("cospi", cospi_d, cospi_l, exact_cospi, ANYWHERE),
    ONE("asin", asin, asinl, exact_asin, ANYWHERE),
    ONE("acos", acos, acosl, exact_acos, ANYWHERE),
    ONE("atan", atan, atanl, exact_atan, ANYWHERE),
    TWO("atan2", "atan2(x, y)", atan2, atan2l, exact_atan2, ALIKE),
    ONE("sinh", sinh, sinhl, exact_sinh, ANYWHERE),
    ONE("cosh", cosh, coshl, exact_cosh, ANYWHERE),
    ONE("tanh", tanh, tanhl, exact_tanh, ANYWHERE),
    ONE("asinh", asinh, asinhl, exact_asinh, ANYWHERE),
    ONE("acosh", acosh, acoshl, exact_acosh, ANYWHERE),
    ONE("atanh", atanh, atanhl, exact_atanh, ANYWHERE),
    ONE("erf", erf, erfl, exact_erf, ANYWHERE),
    ONE("erfc", erfc, erfcl, exact_erfc, ANYWHERE),
    ONE("erfinv", erfinv_wide, erfinv_wider, exact_erfinv, ANYWHERE),
    ONE("erfcinv", erfcinv_wide, erfcinv_wider, exact_erfcinv, ANYWHERE),
    ONE("erfcx", erfcx_wide, erfcx_wider, exact_erfcx, ANYWHERE),
    ONE("normcdf", normcdf_wide, normcdf_wider, exact_normcdf, ANYWHERE),
    ONE("normcdfinv", normcdfinv_wide, normcdfinv_wider, exact_normcdfinv, ANYWHERE),
    ONE("cyl_bessel_i0", bessel_i0_wide, bessel_i0_wider, exact_bessel_i0, ANYWHERE),
    ONE("cyl_bessel_i1", bessel_i1_wide, bessel_i1_wider, exact_bessel_i1, ANYWHERE),
    WAVE("j0", j0, j0l, exact_j0),
    WAVE("j1", j1, j1l, exact_j1),
    WAVE("y0", y0, y0l, exact_y0),
    WAVE("y1", y1, y1l, exact_y1),
    ONE("gamma", tgamma, tgammal, exact_gamma, ANYWHERE),
    ONE("lgamma", lgamma_d, lgamma_ld, exact_lgamma, POSITIVE_F64),
    TWO("fmod", "fmod(x, y)", fmod, fmodl, exact_fmod, ALIKE),
    TWO("remainder", "remainder(x, y)", remainder, remainderl, exact_remainder, ALIKE),
};
const int nsubjects = sizeof subjects / sizeof *subjects;

double wide_value(const subject *s, const double *args)
{
    switch (s->nargs) {
    case 1: return s->wide.one(args[0]);
    case 2: return s->wide.two(args[0], args[1]);
    case 3: return s->wide.three(args[0], args[1], args[2]);
    default: return s->wide.four(args[0], args[1], args[2], args[3]);
    }
}

long double wider_value(const subject *s, const double *args)
{
    switch (s->nargs) {
    case 1: return s->wider.one(args[0]);
    case 2: return s->wider.two(args[0], args[1]);
    case 3: return s->wider.three(args[0], args[1], args[2]);
    default: return s->wider.four(args[0], args[1], args[2], args[3]);
    }
}
