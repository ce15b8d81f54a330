/* References of functions that libm does not have: the host's in long double (compiler/lang/host_math.c), and MPFR. */
#include <math.h>

#include "ulp.h"

#include "lang/types.h"

#define WIDER_1(name, id) \
    long double name##_wider(long double x) \
    { \
        long double out = 0; \
        kj_long_math(id, &x, &out); \
        return out; \
    } \
    double name##_wide(double x) \
    { \
        return (double)name##_wider(x); \
    }
WIDER_1(rcbrt, KJ_BI_RCBRT)
WIDER_1(erfinv, KJ_BI_ERFINV)
WIDER_1(erfcinv, KJ_BI_ERFCINV)
WIDER_1(erfcx, KJ_BI_ERFCX)
WIDER_1(normcdf, KJ_BI_NORMCDF)
WIDER_1(normcdfinv, KJ_BI_NORMCDFINV)
WIDER_1(bessel_i0, KJ_BI_CYL_BESSEL_I0)
WIDER_1(bessel_i1, KJ_BI_CYL_BESSEL_I1)

static const long double degree = 0.0174532925199432957692369076848861271L;

long double degrees_wider(long double x)
{
    return x / degree;
}
long double radians_wider(long double x)
{
    return x * degree;
}
double degrees_wide(double x)
{
    return (double)degrees_wider(x);
}
double radians_wide(double x)
{
    return (double)radians_wider(x);
}
long double rhypot_wider(long double x, long double y)
{
    return 1 / hypotl(x, y);
}
double rhypot_wide(double x, double y)
{
    return (double)rhypot_wider(x, y);
}
long double norm3d_wider(long double x, long double y, long double z)
{
    return hypotl(hypotl(x, y), z);
}
double norm3d_wide(double x, double y, double z)
{
    return (double)norm3d_wider(x, y, z);
}
long double rnorm3d_wider(long double x, long double y, long double z)
{
    return 1 / norm3d_wider(x, y, z);
}
double rnorm3d_wide(double x, double y, double z)
{
    return (double)rnorm3d_wider(x, y, z);
}

long double norm4d_wider(long double x, long double y, long double z, long double w)
{
    return hypotl(hypotl(x, y), hypotl(z, w));
}
double norm4d_wide(double x, double y, double z, double w)
{
    return (double)norm4d_wider(x, y, z, w);
}
long double rnorm4d_wider(long double x, long double y, long double z, long double w)
{
    return 1 / norm4d_wider(x, y, z, w);
}
double rnorm4d_wide(double x, double y, double z, double w)
{
    return (double)rnorm4d_wider(x, y, z, w);
}

/* Of Bessel's functions beyond 8: there they have few digits near their zeros. */
double wave_amplitude(double x)
{
    return fabs(x) < 8 ? 0 : sqrt(0.63661977236758134 / fabs(x));
}

/* ---- MPFR ---- */

void exact_degrees(mpfr_t out, mpfr_t *x)
{
    mpfr_t pi;
    mpfr_init2(pi, 2 * PRECISION);
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_div_ui(pi, pi, 180, MPFR_RNDN);
    mpfr_div(out, x[0], pi, MPFR_RNDN);
    mpfr_clear(pi);
}

void exact_radians(mpfr_t out, mpfr_t *x)
{
    mpfr_t pi;
    mpfr_init2(pi, 2 * PRECISION);
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_div_ui(pi, pi, 180, MPFR_RNDN);
    mpfr_mul(out, x[0], pi, MPFR_RNDN);
    mpfr_clear(pi);
}

void exact_rcbrt(mpfr_t out, mpfr_t *x)
{
    bool minus = mpfr_signbit(x[0]);
    mpfr_cbrt(out, x[0], MPFR_RNDN);
    mpfr_ui_div(out, 1, out, MPFR_RNDN);
    mpfr_setsign(out, out, minus, MPFR_RNDN);
}

void exact_rhypot(mpfr_t out, mpfr_t *x)
{
    mpfr_hypot(out, x[0], x[1], MPFR_RNDN);
    mpfr_ui_div(out, 1, out, MPFR_RNDN);
}

void exact_norm3d(mpfr_t out, mpfr_t *x)
{
    mpfr_hypot(out, x[0], x[1], MPFR_RNDN);
    mpfr_hypot(out, out, x[2], MPFR_RNDN);
}

void exact_rnorm3d(mpfr_t out, mpfr_t *x)
{
    exact_norm3d(out, x);
    mpfr_ui_div(out, 1, out, MPFR_RNDN);
}

void exact_norm4d(mpfr_t out, mpfr_t *x)
{
    exact_norm3d(out, x);
    mpfr_hypot(out, out, x[3], MPFR_RNDN);
}

void exact_rnorm4d(mpfr_t out, mpfr_t *x)
{
    exact_norm4d(out, x);
    mpfr_ui_div(out, 1, out, MPFR_RNDN);
}

void exact_j0(mpfr_t out, mpfr_t *x)
{
    mpfr_j0(out, x[0], MPFR_RNDN);
}

void exact_j1(mpfr_t out, mpfr_t *x)
{
    mpfr_j1(out, x[0], MPFR_RNDN);
}

void exact_y0(mpfr_t out, mpfr_t *x)
{
    mpfr_y0(out, x[0], MPFR_RNDN);
    if (mpfr_zero_p(x[0]))
        mpfr_set_inf(out, -1);
}

void exact_y1(mpfr_t out, mpfr_t *x)
{
    mpfr_y1(out, x[0], MPFR_RNDN);
    if (mpfr_zero_p(x[0]))
        mpfr_set_inf(out, -1);
}

void exact_normcdf(mpfr_t out, mpfr_t *x)
{
    mpfr_t root;
    mpfr_init2(root, 2 * PRECISION);
    mpfr_sqrt_ui(root, 2, MPFR_RNDN);
    mpfr_div(root, x[0], root, MPFR_RNDN);
    mpfr_neg(root, root, MPFR_RNDN);
    mpfr_erfc(out, root, MPFR_RNDN);
    mpfr_div_2ui(out, out, 1, MPFR_RNDN);
    mpfr_clear(root);
}

/* 1 / (sqrt(pi) x) is all there is of it where x*x has no digits beside 1/2. */
void exact_erfcx(mpfr_t out, mpfr_t *x)
{
    mpfr_t square;
    mpfr_init2(square, 2 * PRECISION);
    if (mpfr_cmp_d(x[0], 0x1p100) > 0) {
        mpfr_const_pi(square, MPFR_RNDN);
        mpfr_sqrt(square, square, MPFR_RNDN);
        mpfr_mul(square, square, x[0], MPFR_RNDN);
        mpfr_ui_div(out, 1, square, MPFR_RNDN);
    } else if (mpfr_cmp_d(x[0], 0x1p20) > 0) {
        mpfr_set_ld(out, erfcx_wider(mpfr_get_ld(x[0], MPFR_RNDN)), MPFR_RNDN);
    } else {
        mpfr_sqr(square, x[0], MPFR_RNDN);
        mpfr_exp(square, square, MPFR_RNDN);
        mpfr_erfc(out, x[0], MPFR_RNDN);
        mpfr_mul(out, out, square, MPFR_RNDN);
    }
    mpfr_clear(square);
}

/* Newton's steps to t with f(t) = x, from `start`, which is nearly that; f' is `slope` exp(-t*t) */
static void solve(mpfr_t out, mpfr_t x, double start, int (*f)(mpfr_t, const mpfr_t, mpfr_rnd_t),
                  int sign)
{
    mpfr_t value, slope;
    mpfr_inits2(2 * PRECISION, value, slope, (mpfr_ptr)NULL);
    mpfr_set_d(out, start, MPFR_RNDN);
    for (int i = 0; i < 4 && isfinite(start); i++) {
        f(value, out, MPFR_RNDN);
        mpfr_sub(value, value, x, MPFR_RNDN);
        mpfr_sqr(slope, out, MPFR_RNDN);
        mpfr_exp(slope, slope, MPFR_RNDN);
        mpfr_mul(value, value, slope, MPFR_RNDN);
        mpfr_const_pi(slope, MPFR_RNDN);
        mpfr_sqrt(slope, slope, MPFR_RNDN);
        mpfr_div_2ui(slope, slope, 1, MPFR_RNDN);
        mpfr_mul_si(slope, slope, sign, MPFR_RNDN);
        mpfr_mul(value, value, slope, MPFR_RNDN);
        mpfr_sub(out, out, value, MPFR_RNDN);
    }
    mpfr_clears(value, slope, (mpfr_ptr)NULL);
}

void exact_erfinv(mpfr_t out, mpfr_t *x)
{
    solve(out, x[0], erfinv_wide(mpfr_get_d(x[0], MPFR_RNDN)), mpfr_erf, 1);
}

void exact_erfcinv(mpfr_t out, mpfr_t *x)
{
    solve(out, x[0], erfcinv_wide(mpfr_get_d(x[0], MPFR_RNDN)), mpfr_erfc, -1);
}

void exact_normcdfinv(mpfr_t out, mpfr_t *x)
{
    mpfr_t twice;
    mpfr_init2(twice, 2 * PRECISION);
    mpfr_mul_2ui(twice, x[0], 1, MPFR_RNDN);
    exact_erfcinv(out, &twice);
    mpfr_sqrt_ui(twice, 2, MPFR_RNDN);
    mpfr_mul(out, out, twice, MPFR_RNDN);
    mpfr_neg(out, out, MPFR_RNDN);
    mpfr_clear(twice);
}

/* The sum of (x*x/4)^k / (k! (k + order)!), for order 1 times x/2. */
static void bessel_i(mpfr_t out, mpfr_t x, unsigned order)
{
    if (!mpfr_number_p(x) || mpfr_cmpabs_ui(x, 1000) > 0) {
        mpfr_set_ld(out,
                    order ? bessel_i1_wider(mpfr_get_ld(x, MPFR_RNDN))
                          : bessel_i0_wider(mpfr_get_ld(x, MPFR_RNDN)),
                    MPFR_RNDN);
        return;
    }
    mpfr_t term, square;
    mpfr_inits2(2 * PRECISION, term, square, (mpfr_ptr)NULL);
    mpfr_sqr(square, x, MPFR_RNDN);
    mpfr_div_2ui(square, square, 2, MPFR_RNDN);
    mpfr_set_ui(term, 1, MPFR_RNDN);
    mpfr_set_ui(out, 1, MPFR_RNDN);
    for (unsigned k = 1;
         mpfr_cmp_ui(square, 0) > 0 && mpfr_get_exp(term) > mpfr_get_exp(out) - PRECISION; k++) {
        mpfr_mul(term, term, square, MPFR_RNDN);
        mpfr_div_ui(term, term, (unsigned long)k * (k + order), MPFR_RNDN);
        mpfr_add(out, out, term, MPFR_RNDN);
    }
    if (order) {
        mpfr_mul(out, out, x, MPFR_RNDN);
        mpfr_div_2ui(out, out, 1, MPFR_RNDN);
    }
    mpfr_clears(term, square, (mpfr_ptr)NULL);
}

void exact_bessel_i0(mpfr_t out, mpfr_t *x)
{
    bessel_i(out, x[0], 0);
}

void exact_bessel_i1(mpfr_t out, mpfr_t *x)
{
    bessel_i(out, x[0], 1);
}
