/* Math functions on the host, in f64 by the C library: for run blocks, and for constants where the
 * builtin's error bound is 0, so that every device agrees. */
#include <math.h>

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

/* A NaN has no sign. */
static double signed_as(double x, double sign)
{
    return isnan(sign) ? fabs(x) : copysign(x, sign);
}
static double log_of_gamma(double x)
{
    int sign; /* which lgamma would leave in a variable of the process */
    return lgamma_r(x, &sign);
}

/* Of one, two or three floats. */
static const struct {
    double (*one)(double);
    double (*two)(double, double);
    double (*three)(double, double, double);
} functions[KJ_NBUILTINS] = {
    [KJ_BI_SQRT] = {.one = sqrt},
    [KJ_BI_FABS] = {.one = fabs},
    [KJ_BI_FLOOR] = {.one = floor},
    [KJ_BI_CEIL] = {.one = ceil},
    [KJ_BI_TRUNC] = {.one = trunc},
    [KJ_BI_RINT] = {.one = rint},
    [KJ_BI_ROUND] = {.one = round},
    [KJ_BI_RSQRT] = {.one = reciprocal_sqrt},
    [KJ_BI_CBRT] = {.one = cbrt},
    [KJ_BI_EXP] = {.one = exp},
    [KJ_BI_EXP2] = {.one = exp2},
    [KJ_BI_EXP10] = {.one = power_of_ten},
    [KJ_BI_EXPM1] = {.one = expm1},
    [KJ_BI_LOG] = {.one = log},
    [KJ_BI_LOG2] = {.one = log2},
    [KJ_BI_LOG10] = {.one = log10},
    [KJ_BI_LOG1P] = {.one = log1p},
    [KJ_BI_SIN] = {.one = sin},
    [KJ_BI_COS] = {.one = cos},
    [KJ_BI_TAN] = {.one = tan},
    [KJ_BI_SINPI] = {.one = sine_of_pi},
    [KJ_BI_COSPI] = {.one = cosine_of_pi},
    [KJ_BI_ASIN] = {.one = asin},
    [KJ_BI_ACOS] = {.one = acos},
    [KJ_BI_ATAN] = {.one = atan},
    [KJ_BI_SINH] = {.one = sinh},
    [KJ_BI_COSH] = {.one = cosh},
    [KJ_BI_TANH] = {.one = tanh},
    [KJ_BI_ASINH] = {.one = asinh},
    [KJ_BI_ACOSH] = {.one = acosh},
    [KJ_BI_ATANH] = {.one = atanh},
    [KJ_BI_ERF] = {.one = erf},
    [KJ_BI_ERFC] = {.one = erfc},
    [KJ_BI_GAMMA] = {.one = tgamma},
    [KJ_BI_LGAMMA] = {.one = log_of_gamma},
    [KJ_BI_NEXTAFTER] = {.two = nextafter},
    [KJ_BI_COPYSIGN] = {.two = signed_as},
    [KJ_BI_HYPOT] = {.two = hypot},
    [KJ_BI_POW] = {.two = pow},
    [KJ_BI_ATAN2] = {.two = atan2},
    [KJ_BI_FMOD] = {.two = fmod},
    [KJ_BI_REMAINDER] = {.two = remainder},
    [KJ_BI_FMA] = {.three = fma},
};

bool kj_host_math(kj_builtin id, const double *x, double *out)
{
    if (functions[id].one)
        *out = functions[id].one(x[0]);
    else if (functions[id].two)
        *out = functions[id].two(x[0], x[1]);
    else if (functions[id].three)
        *out = functions[id].three(x[0], x[1], x[2]);
    else
        return false;
    return true;
}
