/* Functions of complex literals: computed in 64 bits, and literals again, as those of real ones are. */
#include <complex.h>
#include <math.h>
#undef I

#include "sema/value/value.h"

typedef double _Complex number;

/* CMPLX, which clang does not have in C17. */
static number number_of(double re, double im)
{
    return (union {
               double part[2];
               number z;
           }){.part = {re, im}}
        .z;
}

static bool take(const kj_operand *v, number *out, bool *open)
{
    const kj_operand *part = kj_is_complex(v) ? v->u.tuple.items : v;
    double f[2] = {0, 0};
    for (int i = 0; i < (kj_is_complex(v) ? 2 : 1); i++) {
        if (part[i].kind != KJ_V_LITERAL)
            return false;
        f[i] = kj_fold_convert(part[i].u.literal, KJ_F64).f;
        *open |= part[i].open;
    }
    *out = number_of(f[0], f[1]);
    return true;
}

static kj_operand real(double f, bool open, kj_span span)
{
    return open ? kj_open_literal(true, span) : kj_literal(kj_float(KJ_F64, f), span);
}

static kj_operand whole(kj_sema *s, number z, bool open, kj_span span)
{
    return kj_complex(s, real(creal(z), open, span), real(cimag(z), open, span), span);
}

/* 1 where the exponent is 0; of 0, of which there is no logarithm, 0 where the exponent's real part is
 * positive, else NaN. */
static number power(number z, number w)
{
    if (w == 0)
        return 1;
    if (z == 0)
        return creal(w) > 0 ? number_of(0, 0) : number_of(NAN, NAN);
    return cpow(z, w);
}

static bool apply(kj_builtin id, number z, number *out)
{
    switch (id) {
    case KJ_BI_CONJ: *out = conj(z); return true;
    case KJ_BI_EXP: *out = cexp(z); return true;
    case KJ_BI_LOG: *out = clog(z); return true;
    case KJ_BI_LOG2: *out = clog(z) * M_LOG2E; return true;
    case KJ_BI_LOG10: *out = clog(z) * M_LOG10E; return true;
    case KJ_BI_SQRT: *out = csqrt(z); return true;
    case KJ_BI_ASIN: *out = casin(z); return true;
    case KJ_BI_ACOS: *out = cacos(z); return true;
    case KJ_BI_ATAN: *out = catan(z); return true;
    case KJ_BI_ASINH: *out = casinh(z); return true;
    case KJ_BI_ACOSH: *out = cacosh(z); return true;
    case KJ_BI_ATANH: *out = catanh(z); return true;
    case KJ_BI_SIN: *out = csin(z); return true;
    case KJ_BI_COS: *out = ccos(z); return true;
    case KJ_BI_TAN: *out = ctan(z); return true;
    case KJ_BI_SINH: *out = csinh(z); return true;
    case KJ_BI_COSH: *out = ccosh(z); return true;
    case KJ_BI_TANH: *out = ctanh(z); return true;
    default: return false;
    }
}

static kj_operand polar(kj_sema *s, number z, bool open, kj_span span)
{
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, 2);
    items[0] = real(cabs(z), open, span);
    items[1] = real(carg(z), open, span);
    return kj_tuple(items, 2, NULL, span);
}

bool kj_fold_complex(kj_sema *s, kj_builtin id, const kj_operand *v, int n, kj_span span,
                     kj_operand *out)
{
    number z[2], made;
    bool open = false;
    if (n < 1 || n > 2 || !take(&v[0], &z[0], &open) || (n == 2 && !take(&v[1], &z[1], &open)))
        return false;
    if (id == KJ_BI_POW && n == 2)
        *out = whole(s, power(z[0], z[1]), open, span);
    else if (id == KJ_BI_RECT && n == 2)
        *out = whole(s, number_of(creal(z[0]) * cos(creal(z[1])), creal(z[0]) * sin(creal(z[1]))),
                     open, span);
    else if (id == KJ_BI_ABS && n == 1)
        *out = real(cabs(z[0]), open, span);
    else if (id == KJ_BI_PHASE && n == 1)
        *out = real(carg(z[0]), open, span);
    else if (id == KJ_BI_POLAR && n == 1)
        *out = polar(s, z[0], open, span);
    else if (n == 1 && apply(id, z[0], &made))
        *out = whole(s, made, open, span);
    else
        return false;
    return true;
}
