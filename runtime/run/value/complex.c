/* Complex numbers of run blocks. In: numbers, one of them complex; out: what operators and the host's
 * functions (lang/host_complex.c) make of them, in f64. */
#include "run/value/value.h"

#include <math.h>

kj_rvalue kj_run_complex(double re, double im)
{
    return (kj_rvalue){.kind = KJ_R_COMPLEX, .dtype = KJIT_C128, .u.f = re, .imag = im};
}

static kj_rvalue from_parts(kj_parts z)
{
    return kj_run_complex(z.re, z.im);
}

static kj_parts parts_of(kj_rvalue v)
{
    return (kj_parts){kj_run_as_float(v), v.kind == KJ_R_COMPLEX ? v.imag : 0};
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

bool kj_run_parts_fit(kj_rvalue v, kj_dtype to)
{
    kj_parts z = parts_of(v);
    return kj_value_fits(kj_float(KJ_F64, z.re), to) && kj_value_fits(kj_float(KJ_F64, z.im), to);
}

/* ---- Operators, as kernels have them, each operation rounded ----
 *
 * A real number has no imaginary part, not one of 0. */

static kj_parts sum(kj_rvalue a, kj_rvalue b)
{
    kj_parts x = parts_of(a), y = parts_of(b);
    bool both = kj_run_is_complex(a) && kj_run_is_complex(b);
    return (kj_parts){x.re + y.re, both ? x.im + y.im : kj_run_is_complex(a) ? x.im : y.im};
}

static kj_parts difference(kj_rvalue a, kj_rvalue b)
{
    kj_parts x = parts_of(a), y = parts_of(b);
    bool both = kj_run_is_complex(a) && kj_run_is_complex(b);
    return (kj_parts){x.re - y.re, both ? x.im - y.im : kj_run_is_complex(a) ? x.im : -y.im};
}

static kj_parts scaled(kj_parts z, double by)
{
    return (kj_parts){z.re * by, z.im * by};
}

static kj_parts power(kj_rvalue a, kj_rvalue b)
{
    if (b.kind == KJ_R_INT && b.dtype != KJIT_U64 && b.u.i >= -KJ_MAX_PRODUCTS &&
        b.u.i <= KJ_MAX_PRODUCTS)
        return kj_host_whole_power(parts_of(a), (int)b.u.i);
    return kj_host_complex_power(parts_of(a), parts_of(b), !kj_run_is_complex(b));
}

bool kj_run_complex_binary(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue b,
                           kj_rvalue *out)
{
    kj_parts x = parts_of(a), y = parts_of(b);
    switch (op) {
    case KJ_OP_ADD: *out = from_parts(sum(a, b)); return true;
    case KJ_OP_SUB: *out = from_parts(difference(a, b)); return true;
    case KJ_OP_MUL:
        *out = from_parts(!kj_run_is_complex(a)   ? scaled(y, x.re)
                          : !kj_run_is_complex(b) ? scaled(x, y.re)
                                                  : kj_host_product(x, y));
        return true;
    case KJ_OP_DIV:
        *out = from_parts(kj_run_is_complex(b) ? kj_host_quotient(x, y)
                                               : (kj_parts){x.re / y.re, x.im / y.re});
        return true;
    case KJ_OP_POW: *out = from_parts(power(a, b)); return true;
    case KJ_OP_EQ: *out = kj_run_bool(x.re == y.re && x.im == y.im); return true;
    case KJ_OP_NE: *out = kj_run_bool(x.re != y.re || x.im != y.im); return true;
    default: break;
    }
    kj_run_fail(r, KJIT_TYPE, at, "'%s' does not work on complex numbers", kj_ops[op].spelling);
    return kj_ops[op].class == KJ_OPS_COMPARE
               ? kj_run_hint(r, "they have no order: compare abs(z), z.real or z.imag")
               : false;
}

/* ---- Functions ---- */

static bool polar(kj_run *r, kj_span at, kj_parts z, kj_rvalue *out)
{
    if (!kj_run_sequence(r, at, KJ_R_TUPLE, 2, out))
        return false;
    out->u.object->u.seq.items[0] = kj_run_float(hypot(z.re, z.im));
    out->u.object->u.seq.items[1] = kj_run_float(atan2(z.im, z.re));
    return true;
}

/* isnan, isinf, isfinite */
static kj_rvalue tested(kj_builtin id, kj_parts z)
{
    return kj_run_bool(id == KJ_BI_ISNAN   ? isnan(z.re) || isnan(z.im)
                       : id == KJ_BI_ISINF ? isinf(z.re) || isinf(z.im)
                                           : isfinite(z.re) && isfinite(z.im));
}

bool kj_run_complex_math(kj_run *r, kj_span at, kj_builtin id, const kj_rvalue *args, int n,
                         kj_rvalue *out)
{
    kj_parts z = parts_of(args[0]), made;
    if (kj_host_complex(id, z, &made)) {
        *out = from_parts(made);
        return true;
    }
    double length = kj_run_as_float(args[0]), angle = n > 1 ? kj_run_as_float(args[1]) : 0;
    bool real = !kj_run_is_complex(args[0]) && (n < 2 || !kj_run_is_complex(args[1]));
    switch (id) {
    case KJ_BI_POW: *out = from_parts(power(args[0], args[1])); return true;
    case KJ_BI_ABS: *out = kj_run_float(hypot(z.re, z.im)); return true;
    case KJ_BI_PHASE: *out = kj_run_float(atan2(z.im, z.re)); return true;
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
            *out = from_parts(kj_host_rect(length, angle));
            return true;
        }
        break;
    default: break;
    }
    return kj_run_fail(r, KJIT_TYPE, at, "'%s' does not work on complex numbers",
                       kj_builtins[id].name);
}
