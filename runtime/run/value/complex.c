/* Complex numbers of run blocks. In: numbers, one of them complex; out: what operators and the C
 * library's functions make of them, in f64. */
#include "run/value/value.h"

#include <complex.h>
#include <math.h>
#include <string.h>

static double complex make(double re, double im)
{
    double parts[2] = {re, im};
    double complex z;
    memcpy(&z, parts, sizeof z);
    return z;
}

static double complex as_complex(kj_rvalue v)
{
    return make(kj_run_as_float(v), v.kind == KJ_R_COMPLEX ? v.imag : 0);
}

/* As Python: without a second look at infinities. */
static double complex product(double complex a, double complex b)
{
    return make(creal(a) * creal(b) - cimag(a) * cimag(b),
                creal(a) * cimag(b) + cimag(a) * creal(b));
}

kj_rvalue kj_run_complex(double re, double im)
{
    return (kj_rvalue){.kind = KJ_R_COMPLEX, .dtype = KJIT_C128, .u.f = re, .imag = im};
}

static kj_rvalue from_complex(double complex z)
{
    return kj_run_complex(creal(z), cimag(z));
}

bool kj_run_is_complex(kj_rvalue v)
{
    return v.kind == KJ_R_COMPLEX;
}

kj_rvalue kj_run_to_complex(kjit_dtype dtype, kj_rvalue v)
{
    kj_dtype part = kj_aggregate_of((kj_dtype)dtype)->elem;
    bool real = v.kind != KJ_R_COMPLEX; /* an int is rounded once */
    kj_value re = real ? kj_run_to_value(v) : kj_float(KJ_F64, v.u.f);
    kj_value im = kj_float(KJ_F64, real ? 0 : v.imag);
    kj_rvalue out = kj_run_complex(kj_fold_convert(re, part).f, kj_fold_convert(im, part).f);
    out.dtype = dtype;
    return out;
}

/* ---- Operators ---- */

/* By squaring, as kernels do with integers. */
static double complex whole_power(double complex z, int64_t n)
{
    double complex all = 1;
    for (uint64_t k = n < 0 ? 0 - (uint64_t)n : (uint64_t)n; k; k >>= 1) {
        if (k & 1)
            all = product(all, z);
        z = product(z, z);
    }
    return n < 0 ? 1 / all : all;
}

static double complex power(kj_rvalue a, kj_rvalue b)
{
    enum { MOST = 64 };
    if (b.kind == KJ_R_INT && b.dtype != KJIT_U64 && b.u.i >= -MOST && b.u.i <= MOST)
        return whole_power(as_complex(a), b.u.i);
    double complex z = as_complex(a), w = as_complex(b);
    if (w == 0) /* the two that have no logarithm to be computed by, as kernels do */
        return 1;
    if (z == 0)
        return creal(w) > 0 ? 0 : make(NAN, NAN);
    return cpow(z, w);
}

bool kj_run_complex_binary(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue b,
                           kj_rvalue *out)
{
    double complex x = as_complex(a), y = as_complex(b);
    switch (op) {
    case KJ_OP_ADD: *out = from_complex(x + y); return true;
    case KJ_OP_SUB: *out = from_complex(x - y); return true;
    case KJ_OP_MUL: *out = from_complex(product(x, y)); return true;
    case KJ_OP_DIV: *out = from_complex(x / y); return true;
    case KJ_OP_POW: *out = from_complex(power(a, b)); return true;
    case KJ_OP_EQ: *out = kj_run_bool(x == y); return true;
    case KJ_OP_NE: *out = kj_run_bool(x != y); return true;
    default: break;
    }
    kj_run_fail(r, KJIT_TYPE, at, "'%s' does not work on complex numbers", kj_ops[op].spelling);
    return kj_ops[op].class == KJ_OPS_COMPARE
               ? kj_run_hint(r, "they have no order: compare abs(z), z.real or z.imag")
               : false;
}

/* ---- Functions ---- */

static double complex conjugate(double complex z)
{
    return conj(z);
}

/* To a base; of real numbers what the real function is. */
static double complex log_2(double complex z)
{
    double complex l = clog(z) / log(2);
    return make(cimag(z) == 0 ? log2(fabs(creal(z))) : creal(l), cimag(l));
}
static double complex log_10(double complex z)
{
    double complex l = clog(z) / log(10);
    return make(cimag(z) == 0 ? log10(fabs(creal(z))) : creal(l), cimag(l));
}

static const struct {
    kj_builtin id;
    double complex (*function)(double complex);
    double (*real)(double complex);
} functions[] = {
    {KJ_BI_EXP, cexp, NULL},     {KJ_BI_LOG, clog, NULL},       {KJ_BI_SQRT, csqrt, NULL},
    {KJ_BI_SIN, csin, NULL},     {KJ_BI_COS, ccos, NULL},       {KJ_BI_TAN, ctan, NULL},
    {KJ_BI_SINH, csinh, NULL},   {KJ_BI_COSH, ccosh, NULL},     {KJ_BI_TANH, ctanh, NULL},
    {KJ_BI_ASIN, casin, NULL},   {KJ_BI_ACOS, cacos, NULL},     {KJ_BI_ATAN, catan, NULL},
    {KJ_BI_ASINH, casinh, NULL}, {KJ_BI_ACOSH, cacosh, NULL},   {KJ_BI_ATANH, catanh, NULL},
    {KJ_BI_LOG2, log_2, NULL},   {KJ_BI_LOG10, log_10, NULL},   {KJ_BI_ABS, NULL, cabs},
    {KJ_BI_PHASE, NULL, carg},   {KJ_BI_CONJ, conjugate, NULL},
};

static bool polar(kj_run *r, kj_span at, double complex z, kj_rvalue *out)
{
    if (!kj_run_sequence(r, at, KJ_R_TUPLE, 2, out))
        return false;
    out->u.object->u.seq.items[0] = kj_run_float(cabs(z));
    out->u.object->u.seq.items[1] = kj_run_float(carg(z));
    return true;
}

/* isnan, isinf, isfinite */
static kj_rvalue tested(kj_builtin id, double complex z)
{
    double re = creal(z), im = cimag(z);
    return kj_run_bool(id == KJ_BI_ISNAN   ? isnan(re) || isnan(im)
                       : id == KJ_BI_ISINF ? isinf(re) || isinf(im)
                                           : isfinite(re) && isfinite(im));
}

bool kj_run_complex_math(kj_run *r, kj_span at, kj_builtin id, const kj_rvalue *args, int n,
                         kj_rvalue *out)
{
    double complex z = as_complex(args[0]);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (functions[i].id != id)
            continue;
        *out = functions[i].real ? kj_run_float(functions[i].real(z))
                                 : from_complex(functions[i].function(z));
        return true;
    }
    double length = kj_run_as_float(args[0]), angle = n > 1 ? kj_run_as_float(args[1]) : 0;
    bool real = !kj_run_is_complex(args[0]) && (n < 2 || !kj_run_is_complex(args[1]));
    switch (id) {
    case KJ_BI_POW: *out = from_complex(power(args[0], args[1])); return true;
    case KJ_BI_POLAR: return polar(r, at, z, out);
    case KJ_BI_ISNAN:
    case KJ_BI_ISINF:
    case KJ_BI_ISFINITE: *out = tested(id, z); return true;
    case KJ_BI_SELP:
        if (args[0].kind == KJ_R_BOOL) {
            *out = args[args[0].u.i ? 1 : 2];
            return true;
        }
        break;
    case KJ_BI_RECT:
        if (real) {
            *out = kj_run_complex(length * cos(angle), length * sin(angle));
            return true;
        }
        break;
    default: break;
    }
    return kj_run_fail(r, KJIT_TYPE, at, "'%s' does not work on complex numbers",
                       kj_builtins[id].name);
}
