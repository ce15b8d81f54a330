/* Measures how far the math functions are from the exact results: the pieces' shared view.
 *
 *   reference.c  what is measured, and beside what: libm in a wider type, and MPFR
 *   special.c    the same of what libm does not have
 *   error.c      errors in units of the last place
 *   sample.c     arguments: all floats in turn, or drawn over all exponents
 *   measure.c    a function over many arguments, on several threads
 *   main.c       the command */
#ifndef ULP_H
#define ULP_H

#include <stdbool.h>
#include <stdint.h>

#include <kjit.h>
#include <mpfr.h>

enum { MAX_ARGS = 4, PRECISION = 300 };

typedef struct subject {
    const char *name, *call; /* as the kernel writes it: "pow(x, y)" */
    int nargs;
    enum { ANYWHERE, POWERS, ALIKE, POSITIVE_F64 } arguments; /* which are drawn more often */
    /* In double and long double: by how many arguments there are. */
    union {
        double (*one)(double);
        double (*two)(double, double);
        double (*three)(double, double, double);
        double (*four)(double, double, double, double);
    } wide;
    union {
        long double (*one)(long double);
        long double (*two)(long double, long double);
        long double (*three)(long double, long double, long double);
        long double (*four)(long double, long double, long double, long double);
    } wider;
    void (*exact)(mpfr_t out, mpfr_t *args); /* rounded to PRECISION bits */
    /* What the unit is taken from where the result is smaller; may be left out. */
    double (*amplitude)(double);
} subject;

extern const subject subjects[];
extern const int nsubjects;

/* Arguments and a result of f32 as the doubles of equal value. */
double wide_value(const subject *s, const double *args);
long double wider_value(const subject *s, const double *args);

/* ---- error.c: |got - exact| in units of the last place of `exact`, or of `size` where that is larger ----
 * Infinity for a number where NaN or another infinity belongs, and the reverse. */

double error_f32(double got, double exact, double size);
double error_f64(double got, long double exact, double size);
double error_exact(const subject *s, bool is_double, double got, const double *args);

/* ---- sample.c ---- */

typedef struct sampler {
    uint64_t state;
} sampler;

sampler sampler_new(const char *name, bool is_double, uint64_t chunk);
void sample(sampler *from, const subject *s, bool is_double, double *args);

/* ---- measure.c ---- */

/* Where no error is over one half, the result is rounded correctly or exact, and `error` what libm
 * says of it. */
typedef struct worst {
    double error;
    double args[MAX_ARGS];
} worst;

typedef struct plan {
    const char *device;
    int workers;
    int64_t samples; /* of a function in each type; rounded up to whole chunks */
    bool all_f32;    /* of one argument: every float */
} plan;

/* False after a message on standard error. */
bool measure(const plan *p, const subject *s, bool is_double, worst *out);

/* special.c: of functions that libm does not have. */
double rcbrt_wide(double x);
long double rcbrt_wider(long double x);
void exact_rcbrt(mpfr_t out, mpfr_t *x);
double erfinv_wide(double x);
long double erfinv_wider(long double x);
void exact_erfinv(mpfr_t out, mpfr_t *x);
double erfcinv_wide(double x);
long double erfcinv_wider(long double x);
void exact_erfcinv(mpfr_t out, mpfr_t *x);
double erfcx_wide(double x);
long double erfcx_wider(long double x);
void exact_erfcx(mpfr_t out, mpfr_t *x);
double normcdf_wide(double x);
long double normcdf_wider(long double x);
void exact_normcdf(mpfr_t out, mpfr_t *x);
double normcdfinv_wide(double x);
long double normcdfinv_wider(long double x);
void exact_normcdfinv(mpfr_t out, mpfr_t *x);
double bessel_i0_wide(double x);
long double bessel_i0_wider(long double x);
void exact_bessel_i0(mpfr_t out, mpfr_t *x);
double bessel_i1_wide(double x);
long double bessel_i1_wider(long double x);
void exact_bessel_i1(mpfr_t out, mpfr_t *x);
double degrees_wide(double x);
long double degrees_wider(long double x);
void exact_degrees(mpfr_t out, mpfr_t *x);
double radians_wide(double x);
long double radians_wider(long double x);
void exact_radians(mpfr_t out, mpfr_t *x);
double rhypot_wide(double x, double y);
long double rhypot_wider(long double x, long double y);
void exact_rhypot(mpfr_t out, mpfr_t *x);
double norm3d_wide(double x, double y, double z);
long double norm3d_wider(long double x, long double y, long double z);
void exact_norm3d(mpfr_t out, mpfr_t *x);
double rnorm3d_wide(double x, double y, double z);
long double rnorm3d_wider(long double x, long double y, long double z);
void exact_rnorm3d(mpfr_t out, mpfr_t *x);
double norm4d_wide(double x, double y, double z, double w);
long double norm4d_wider(long double x, long double y, long double z, long double w);
void exact_norm4d(mpfr_t out, mpfr_t *x);
double rnorm4d_wide(double x, double y, double z, double w);
long double rnorm4d_wider(long double x, long double y, long double z, long double w);
void exact_rnorm4d(mpfr_t out, mpfr_t *x);
double wave_amplitude(double x);
void exact_j0(mpfr_t out, mpfr_t *x);
void exact_j1(mpfr_t out, mpfr_t *x);
void exact_y0(mpfr_t out, mpfr_t *x);
void exact_y1(mpfr_t out, mpfr_t *x);

#endif
