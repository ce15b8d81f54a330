/* The kernel vocabulary's arithmetic, bits and math on a run block's numbers. In: numbers; out: a
 * number. Functions of floats that are exact work in the numbers' own type, as kernels do (lang/math.c), others in
 * f64, by the host's (lang/host_math.c). */
#include "run/value/value.h"

#include <math.h>
#include <string.h>

int kj_run_math_id(const char *name)
{
    static const char *const groups[] = {"arithmetic", "bits", "math", "complex"};
    for (int i = 0; i < KJ_NBUILTINS; i++) {
        if (strcmp(kj_builtins[i].name, name) != 0)
            continue;
        for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
            if (strcmp(kj_builtins[i].group, groups[g]) == 0)
                return i;
        }
    }
    return -1;
}

static bool smaller(kj_run *r, kj_span at, kj_rvalue a, kj_rvalue b, bool *out)
{
    kj_rvalue less;
    if (!kj_run_binary_numbers(r, at, KJ_OP_LT, a, b, &less))
        return false;
    *out = less.u.i;
    return true;
}

static bool is_minus_zero(kj_rvalue v)
{
    return v.kind == KJ_R_FLOAT && v.u.f == 0 && signbit(v.u.f);
}

/* The operand itself; a NaN loses against a number, and -0.0 is less than 0. */
static bool least(kj_run *r, kj_span at, bool greatest, const kj_rvalue *args, int n,
                  kj_rvalue *out)
{
    *out = args[0];
    for (int i = 1; i < n; i++) {
        bool better;
        if (!smaller(r, at, greatest ? *out : args[i], greatest ? args[i] : *out, &better))
            return false;
        if (kj_run_as_float(*out) == 0 && kj_run_as_float(args[i]) == 0)
            better = is_minus_zero(greatest ? *out : args[i]);
        if (better || (out->kind == KJ_R_FLOAT && isnan(out->u.f)))
            *out = args[i];
    }
    return true;
}

static bool absolute(kj_rvalue v, kj_rvalue *out)
{
    *out = v;
    if (v.kind == KJ_R_FLOAT)
        out->u.f = fabs(v.u.f);
    else if (v.u.i < 0 && v.dtype != KJIT_U64)
        *out = kj_run_uint(0 - (uint64_t)v.u.i);
    return true;
}

static bool ceil_div(kj_run *r, kj_span at, const kj_rvalue v[2], const kj_rmeeting *m,
                     kj_rvalue *out)
{
    if (v[0].kind == KJ_R_FLOAT || v[1].kind == KJ_R_FLOAT) {
        kj_run_fail(r, KJIT_TYPE, at, "ceil_div takes ints, not %s",
                    kj_run_kind_name(v[v[0].kind == KJ_R_FLOAT ? 0 : 1]));
        return kj_run_wrap(r, "int", v[0].kind != KJ_R_FLOAT, "write ",
                           "int(x) is a float's integer part");
    }
    kj_whole x = kj_run_whole_of(v[0]), y = kj_run_whole_of(v[1]);
    if (y == 0)
        return kj_run_fail(r, KJIT_TYPE, at, "division by zero");
    kj_whole quotient = x / y + (x % y != 0 && (x < 0) == (y < 0));
    return kj_run_whole(r, at, "ceil_div", m, quotient, out);
}

/* In its own type; a plain int has 64 bits. */
static bool bits(kj_run *r, kj_span at, kj_builtin id, kj_rvalue v, kj_rvalue *out)
{
    if (v.kind == KJ_R_FLOAT)
        return kj_run_fail(r, KJIT_TYPE, at, "%s works on the bits of an int, not of a float",
                           kj_builtins[id].name);
    kj_value folded, value = kj_int(v.typed               ? v.type
                                    : v.dtype == KJIT_U64 ? KJ_U64
                                                          : KJ_I64,
                                    v.u.i);
    kj_fold_builtin(id, 0, &value, 1, &folded);
    *out = id == KJ_BI_BREV && v.typed ? kj_run_typed(folded) : kj_run_from_value(folded);
    out->wide = v.wide;
    return true;
}

/* The type that these are computed in: that of operands which have one. Plain ints have 64 bits; words
 * are i32 where all fit into that, else u32. */
static bool type_of_integers(kj_run *r, kj_span at, const char *name, const char *letters,
                             const kj_rvalue *v, int n, kj_dtype own, kj_dtype *type)
{
    bool words = letters[0] == 'w', big = false;
    for (int i = 0; i < n; i++) {
        if (v[i].kind == KJ_R_FLOAT)
            return kj_run_fail(r, KJIT_TYPE, at, "%s takes ints, not a float", name);
        kj_value value = kj_run_to_value(v[i]);
        bool small = kj_value_fits(value, KJ_I32);
        if ((words || letters[i] == 'd') && !small && !(words && kj_value_fits(value, KJ_U32)))
            return kj_run_fail(r, KJIT_TYPE, at, "argument %d of %s is an int of 32 bits", i + 1,
                               name);
        big |= words ? !small : v[i].dtype == KJIT_U64 && letters[i] != 'd';
    }
    *type = words ? big ? KJ_U32 : KJ_I32 : big ? KJ_U64 : KJ_I64;
    if (kj_is_int(own) && (!words || own == KJ_U32))
        *type = own;
    for (int i = 0; i < n && !words; i++)
        if (letters[i] != 'd' && !kj_value_fits(kj_run_to_value(v[i]), *type))
            return kj_run_fail(r, KJIT_TYPE, at, "%s does not fit %s, the type it meets here",
                               kj_run_short(v[i]).text, kj_type_name(*type));
    return true;
}

static bool integers(kj_run *r, kj_span at, kj_builtin id, const kj_rvalue *v, int n,
                     const kj_rmeeting *m, kj_rvalue *out)
{
    const char *letters = kj_builtin_letters(id);
    kj_value values[KJ_BUILTIN_ARGS], folded;
    kj_dtype type = KJ_VOID;
    if (!type_of_integers(r, at, kj_builtins[id].name, letters, v, n, m->common, &type))
        return false;
    for (int i = 0; i < n; i++)
        values[i] = kj_fold_convert(kj_run_to_value(v[i]), letters[i] == 'd' ? KJ_I32 : type);
    if (id == KJ_BI_SAD) {
        kj_whole x = kj_run_whole_of(v[0]), y = kj_run_whole_of(v[1]);
        return kj_run_whole(r, at, "sad", m, (x < y ? y - x : x - y) + kj_run_whole_of(v[2]), out);
    }
    kj_fold_integers(id, values, &folded);
    *out = m->typed ? kj_run_typed(folded) : kj_run_from_value(folded);
    out->wide = m->wide && !m->typed;
    return true;
}

/* What constants fold to: of ints in 64 bits, of floats in f64. */
static void folded(kj_builtin id, const kj_rvalue *args, int n, kj_rvalue *out)
{
    kj_value values[KJ_BUILTIN_ARGS], result;
    for (int i = 0; i < n; i++) {
        bool real = kj_builtin_letters(id)[i] == 'f' && args[i].kind != KJ_R_FLOAT;
        values[i] = real ? kj_float(KJ_F64, kj_run_as_float(args[i])) : kj_run_to_value(args[i]);
    }
    kj_fold_builtin(id, 0, values, n, &result);
    *out = kj_run_from_value(result);
}

/* A float of floats. The exact ones are rounded once, to the type that the result has. */
static bool of_floats(kj_builtin id, const kj_rvalue *args, int n, const kj_rmeeting *m,
                      kj_rvalue *out)
{
    kj_value values[KJ_BUILTIN_ARGS], result;
    double x[KJ_BUILTIN_ARGS], y;
    kj_dtype type = kj_is_float(m->type) ? m->type : KJ_F64;
    for (int i = 0; i < n; i++) {
        values[i] = kj_fold_convert(kj_run_to_value(args[i]), type);
        x[i] = values[i].f;
    }
    if (kj_fold_builtin(id, 0, values, n, &result))
        y = result.f;
    else if (!kj_host_math(id, x, &y))
        return false;
    *out = kj_run_real(m, y);
    return true;
}

/* f32_rd and its kin. */
static void converted(kj_builtin id, kj_rvalue arg, kj_rvalue *out)
{
    kj_value value = kj_run_to_value(arg), result;
    kj_fold_builtin(id, 0, &value, 1, &result);
    *out = kj_run_typed(result);
}

static bool divide(kj_run *r, kj_span at, const kj_rvalue *v, kj_rvalue *out)
{
    if (!kj_run_sequence(r, at, KJ_R_TUPLE, 2, out))
        return false;
    kj_rvalue *items = out->u.object->u.seq.items;
    return kj_run_binary_numbers(r, at, KJ_OP_FLOORDIV, v[0], v[1], &items[0]) &&
           kj_run_binary_numbers(r, at, KJ_OP_MOD, v[0], v[1], &items[1]);
}

static bool load_exponent(kj_run *r, kj_span at, const kj_rvalue *args, const kj_rmeeting *m,
                          kj_rvalue *out)
{
    if (args[1].kind == KJ_R_FLOAT || args[1].dtype == KJIT_U64)
        return kj_run_fail(r, KJIT_TYPE, at, "ldexp's exponent is an i32");
    int64_t e = args[1].u.i;
    e = e > INT32_MAX ? INT32_MAX : e < INT32_MIN ? INT32_MIN : e;
    *out = kj_run_real(m, ldexp(kj_run_as_float(args[0]), (int)e));
    return true;
}

static bool pair(kj_run *r, kj_span at, kj_builtin id, double x, const kj_rmeeting *m,
                 kj_rvalue *out)
{
    if (!kj_run_sequence(r, at, KJ_R_TUPLE, 2, out))
        return false;
    kj_rvalue *items = out->u.object->u.seq.items;
    kj_value value = kj_float(KJ_F64, x), first = value, second = value;
    if (id == KJ_BI_SINCOS) {
        first.f = sin(x);
        second.f = cos(x);
    } else {
        kj_fold_builtin(id, 0, &value, 1, &first);
        kj_fold_builtin(id, 1, &value, 1, &second);
    }
    items[0] = kj_run_real(m, first.f);
    items[1] = id == KJ_BI_FREXP ? kj_run_int(second.i) : kj_run_real(m, second.f);
    return true;
}

static bool special(kj_run *r, kj_span at, kj_builtin id, const kj_rvalue *args, int n,
                    const kj_rmeeting *m, kj_rvalue *out)
{
    const char *name = kj_builtins[id].name;
    kj_rvalue low;
    if (kj_builtin_converts(id)) {
        converted(id, args[0], out);
        return true;
    }
    switch (id) {
    case KJ_BI_MIN:
    case KJ_BI_MAX:
        return least(r, at, id == KJ_BI_MAX, args, n, out) && kj_run_as_met(r, at, name, m, out);
    case KJ_BI_CLAMP:
        return least(r, at, true, args, 2, &low) &&
               least(r, at, false, (kj_rvalue[]){low, args[2]}, 2, out) &&
               kj_run_as_met(r, at, name, m, out);
    case KJ_BI_ABS: return absolute(args[0], out) && kj_run_as_met(r, at, name, m, out);
    case KJ_BI_CEIL_DIV: return ceil_div(r, at, args, m, out);
    case KJ_BI_DIVMOD: return divide(r, at, args, out);
    case KJ_BI_ILOGB: folded(id, args, n, out); return true;
    case KJ_BI_SIGN: folded(id, args, n, out); return kj_run_as_met(r, at, name, m, out);
    case KJ_BI_MULHI:
    case KJ_BI_ADD_SAT:
    case KJ_BI_SUB_SAT:
    case KJ_BI_HADD:
    case KJ_BI_RHADD:
    case KJ_BI_SAD:
    case KJ_BI_FUNNELSHIFT_L:
    case KJ_BI_FUNNELSHIFT_R:
    case KJ_BI_FUNNELSHIFT_LC:
    case KJ_BI_FUNNELSHIFT_RC:
    case KJ_BI_BYTE_PERM:
    case KJ_BI_DP4A:
    case KJ_BI_DP2A_LO:
    case KJ_BI_DP2A_HI: return integers(r, at, id, args, n, m, out);
    case KJ_BI_POPC:
    case KJ_BI_CLZ:
    case KJ_BI_FFS:
    case KJ_BI_BREV: return bits(r, at, id, args[0], out);
    case KJ_BI_SELP:
        if (args[0].kind != KJ_R_BOOL)
            return kj_run_fail(r, KJIT_TYPE, at, "selp chooses by a bool, not by %s",
                               kj_run_kind_name(args[0]));
        *out = args[args[0].u.i ? 1 : 2];
        return true;
    case KJ_BI_LDEXP: return load_exponent(r, at, args, m, out);
    case KJ_BI_SINCOS:
    case KJ_BI_MODF:
    case KJ_BI_FREXP: return pair(r, at, id, kj_run_as_float(args[0]), m, out);
    case KJ_BI_ISNAN: *out = kj_run_bool(isnan(kj_run_as_float(args[0]))); return true;
    case KJ_BI_ISINF: *out = kj_run_bool(isinf(kj_run_as_float(args[0]))); return true;
    case KJ_BI_ISFINITE: *out = kj_run_bool(isfinite(kj_run_as_float(args[0]))); return true;
    default:
        return kj_run_fail(r, KJIT_TYPE, at, "'%s' works in kernels only", kj_builtins[id].name);
    }
}

bool kj_run_math(kj_run *r, kj_span at, kj_builtin id, const kj_rvalue *args, int n, kj_rvalue *out)
{
    const char *name = kj_builtins[id].name;
    int wanted = kj_builtin_arity(id);
    bool complex = strcmp(kj_builtins[id].group, "complex") == 0;
    bool more = (id == KJ_BI_MIN || id == KJ_BI_MAX) && n > wanted; /* as in Python */
    if (n != wanted && !more)
        return kj_run_fail(r, KJIT_TYPE, at, "%s takes %d argument%s, not %d", name, wanted,
                           wanted == 1 ? "" : "s", n);
    for (int i = 0; i < n; i++) {
        complex |= kj_run_is_complex(args[i]);
        if (!kj_run_is_number(args[i]) && !kj_run_is_complex(args[i]))
            return kj_run_fail(r, KJIT_TYPE, at, "%s works on numbers, not on %s", name,
                               kj_run_kind_name(args[i]));
    }
    if (complex)
        return kj_run_complex_math(r, at, id, args, n, out);
    kj_rmeeting m;
    const char *count = strchr(kj_builtin_letters(id), 'd'); /* the last, whose type is its own */
    int numbers = count && count == kj_builtin_letters(id) + n - 1 ? n - 1 : n;
    if (!kj_run_meet(r, at, args, id == KJ_BI_SELP ? 0 : numbers, &m))
        return false;
    if (!kj_builtin_is_of_floats(id))
        return special(r, at, id, args, n, &m, out);
    return of_floats(id, args, n, &m, out) ||
           kj_run_fail(r, KJIT_TYPE, at, "'%s' works in kernels only", name);
}
