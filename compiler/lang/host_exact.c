/* Functions that are exact, or rounded once, on the host as on every device: by the C library, in f64. */
#include <math.h>

#include "lang/types.h"

/* A NaN has no sign. */
static double signed_as(double x, double sign)
{
    return isnan(sign) ? fabs(x) : copysign(x, sign);
}

/* Of one to three floats. */
static const struct {
    double (*one)(double);
    double (*two)(double, double);
    double (*three)(double, double, double);
} functions[KJ_NBUILTINS] = {
    [KJ_BI_SQRT] = {.one = sqrt},           [KJ_BI_FABS] = {.one = fabs},
    [KJ_BI_FLOOR] = {.one = floor},         [KJ_BI_CEIL] = {.one = ceil},
    [KJ_BI_TRUNC] = {.one = trunc},         [KJ_BI_RINT] = {.one = rint},
    [KJ_BI_ROUND] = {.one = rint},          [KJ_BI_NEXTAFTER] = {.two = nextafter},
    [KJ_BI_COPYSIGN] = {.two = signed_as},  [KJ_BI_FMOD] = {.two = fmod},
    [KJ_BI_REMAINDER] = {.two = remainder}, [KJ_BI_FMA] = {.three = fma},
};

bool kj_host_exact(kj_builtin id, const double *x, double *out)
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
