/* Errors in units of the last place: |got - exact| / 2^(e - p + 1), where 2^e <= |exact| < 2^(e+1)
 * and p is the digits of the type; subnormal numbers have the unit of the least normal one. An
 * infinity that came of rounding counts as the number that would come next. */
#include <math.h>
#include <string.h>

#include "ulp.h"

typedef struct type {
    int digits, least, most; /* exponents e of normal numbers */
} type;

static const type single = {24, -126, 127}, twice = {53, -1022, 1023};

/* Where one of the two is no number: is `got` what it should be? */
static double classes(double got, bool exact_is_nan, double exact_infinity)
{
    bool right = exact_is_nan ? isnan(got) : got == exact_infinity;
    return right ? 0 : INFINITY;
}

double error_f32(double got, double exact, double size)
{
    if (isnan(got) || isnan(exact) || isinf(exact))
        return classes(got, isnan(exact), exact);
    if (isinf(got)) {
        if (fabs(exact) >= 0x1p128 && (got > 0) == (exact > 0))
            return 0;
        got = copysign(0x1p128, got);
    }
    /* all floats pass here: quicker than ilogb and ldexp */
    double most = fmax(fabs(exact), size);
    uint64_t bits;
    memcpy(&bits, &most, sizeof bits);
    int e = (int)(bits >> 52 & 2047) - 1023;
    e = e < single.least ? single.least : e > single.most ? single.most : e;
    bits = (uint64_t)(single.digits - 1 - e + 1023) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return fabs(got - exact) * scale;
}

double error_f64(double got, long double exact, double size)
{
    if (isnan(got) || isnan(exact) || isinf(exact))
        return classes(got, isnan(exact), (double)exact);
    long double value = got;
    if (isinf(got)) {
        if (fabsl(exact) >= 0x1p1024L && (got > 0) == (exact > 0))
            return 0;
        value = copysignl(0x1p1024L, got);
    }
    long double most = fmaxl(fabsl(exact), size);
    int e = most == 0 ? twice.least : ilogbl(most);
    e = e < twice.least ? twice.least : e > twice.most ? twice.most : e;
    return (double)ldexpl(fabsl(value - exact), twice.digits - 1 - e);
}

static double error_mpfr(const type *t, double got, mpfr_t exact, double size)
{
    if (isnan(got) || !mpfr_number_p(exact))
        return classes(got, mpfr_nan_p(exact), mpfr_get_d(exact, MPFR_RNDN));
    mpfr_t apart;
    mpfr_init2(apart, 2 * PRECISION);
    mpfr_set_d(apart, got, MPFR_RNDN);
    long e = mpfr_zero_p(exact) ? t->least : mpfr_get_exp(exact) - 1;
    if (isinf(got) && e > t->most && (got > 0) == (mpfr_sgn(exact) > 0)) {
        mpfr_clear(apart);
        return 0;
    }
    if (isinf(got))
        mpfr_set_si_2exp(apart, got > 0 ? 1 : -1, t->most + 1, MPFR_RNDN);
    e = size > 0 && e < ilogb(size) ? ilogb(size) : e;
    e = e < t->least ? t->least : e > t->most ? t->most : e;
    mpfr_sub(apart, apart, exact, MPFR_RNDN);
    mpfr_mul_2si(apart, apart, t->digits - 1 - e, MPFR_RNDN);
    double error = fabs(mpfr_get_d(apart, MPFR_RNDA));
    mpfr_clear(apart);
    return error;
}

double error_exact(const subject *s, bool is_double, double got, const double *args)
{
    mpfr_t x[MAX_ARGS], exact;
    mpfr_init2(exact, PRECISION);
    for (int i = 0; i < s->nargs; i++) {
        mpfr_init2(x[i], 53);
        mpfr_set_d(x[i], args[i], MPFR_RNDN);
    }
    s->exact(exact, x);
    double size = s->amplitude ? s->amplitude(args[0]) : 0;
    double error = error_mpfr(is_double ? &twice : &single, got, exact, size);
    for (int i = 0; i < s->nargs; i++)
        mpfr_clear(x[i]);
    mpfr_clear(exact);
    return error;
}
