/* Arithmetic in a given direction of rounding, of constants and of a run block's numbers. In: add_rd and its kin, and
 * floats of one type; out: the exact result rounded once to it.
 *
 * The processor's mode is changed around one operation. Its operands come from volatile variables and its result goes
 * to one, which keeps compilers from moving it out of there. */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "lang/half.h"
#include "lang/signature.h"
#include "lang/types.h"

char kj_builtin_rounding(kj_builtin id)
{
    const char *name = kj_builtins[id].name, *end = strrchr(name, '_');
    return end && end != name && end[1] == 'r' && strchr("nduz", end[2]) && end[2] && !end[3]
               ? end[2]
               : 0;
}

static int mode(char to)
{
    return to == 'd'   ? FE_DOWNWARD
           : to == 'u' ? FE_UPWARD
           : to == 'z' ? FE_TOWARDZERO
                       : FE_TONEAREST;
}

/* Which operation, by the name's first letters. */
static double of_doubles(const char *name, const double *v)
{
    volatile double a = v[0], b = v[1], c = v[2], r;
    switch (name[0]) {
    case 'a': r = a + b; break;
    case 'm': r = a * b; break;
    case 'd': r = a / b; break;
    case 'f': r = fma(a, b, c); break;
    default:
        if (name[1] == 'u')
            r = a - b;
        else
            r = sqrt(a);
    }
    return r;
}

static double of_floats(const char *name, const double *v)
{
    volatile float a = (float)v[0], b = (float)v[1], c = (float)v[2], r;
    switch (name[0]) {
    case 'a': r = a + b; break;
    case 'm': r = a * b; break;
    case 'd': r = a / b; break;
    case 'f': r = fmaf(a, b, c); break;
    default:
        if (name[1] == 'u')
            r = a - b;
        else
            r = sqrtf(a);
    }
    return (double)r;
}

/* A result that was rounded in that direction before, to a half: between the two lies none of its numbers. */
static double to_half(kj_dtype type, double x, char to)
{
    double r = kj_half_round(type, x);
    if (to == 'd' && r > x)
        return kj_half_next(type, r, -INFINITY);
    if (to == 'u' && r < x)
        return kj_half_next(type, r, INFINITY);
    return to == 'z' && fabs(r) > fabs(x) ? kj_half_next(type, r, 0) : r;
}

/* f32_rd and its kin. What is not exact in f64 is a sum of two numbers that are; rounding that twice in one direction
 * is no error. */
static kj_value converted(kj_builtin id, kj_value v)
{
    int before = fegetround();
    fesetround(mode(kj_builtin_rounding(id)));
    double x = v.f;
    if (!kj_is_float(v.type)) {
        int64_t high = kj_is_signed(v.type) ? v.i >> 32 : (int64_t)(v.u >> 32);
        x = of_doubles("add", (double[]){(double)high * 0x1p32, (double)(v.u & UINT32_MAX), 0});
    }
    volatile double wide = x;
    volatile float narrow = (float)wide;
    fesetround(before);
    kj_dtype type = kj_builtin_result(id, 0, KJ_VOID);
    return kj_float(type, type == KJ_F32 ? (double)narrow : x);
}

kj_value kj_fold_directed(kj_builtin id, const kj_value *v, int n)
{
    if (kj_builtin_converts(id))
        return converted(id, v[0]);
    const char *name = kj_builtins[id].name;
    char to = kj_builtin_rounding(id);
    double x[3] = {0};
    kj_dtype type = v[0].type;
    for (int i = 0; i < n; i++)
        x[i] = v[i].f;
    if (kj_is_half(type) && to == 'n' && name[0] == 'f') /* the others may be rounded twice */
        return kj_float(type, kj_half_fma(type, x[0], x[1], x[2]));
    int before = fegetround();
    fesetround(mode(to));
    double r = type == KJ_F64 ? of_doubles(name, x) : of_floats(name, x);
    fesetround(before);
    return kj_float(type, kj_is_half(type) ? to_half(type, r, to) : r);
}
