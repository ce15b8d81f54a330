/* Measures how far the math functions are from the exact results: the pieces' shared view.
 *
 *   reference.c  what is measured, and beside what: libm in a wider type, and MPFR
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

enum { MAX_ARGS = 3, PRECISION = 300 };

typedef struct subject {
    const char *name, *call; /* as the kernel writes it: "pow(x, y)" */
    int nargs;
    enum { ANYWHERE, POWERS, ALIKE, POSITIVE_F64 } arguments; /* which are drawn more often */
    /* In double and long double: by how many arguments there are. */
    union {
        double (*one)(double);
        double (*two)(double, double);
        double (*three)(double, double, double);
    } wide;
    union {
        long double (*one)(long double);
        long double (*two)(long double, long double);
        long double (*three)(long double, long double, long double);
    } wider;
    void (*exact)(mpfr_t out, mpfr_t *args); /* rounded to PRECISION bits */
} subject;

extern const subject subjects[];
extern const int nsubjects;

/* Arguments and a result of f32 as the doubles of equal value. */
double wide_value(const subject *s, const double *args);
long double wider_value(const subject *s, const double *args);

/* ---- error.c: |got - exact| in units of the last place of `exact` ----
 * Infinity for a number where NaN or another infinity belongs, and the reverse. */

double error_f32(double got, double exact);
double error_f64(double got, long double exact);
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

#endif
