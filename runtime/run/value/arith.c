/* Operators on a run block's numbers: arithmetic, comparisons, shifts, powers.
 *
 * Numbers behave as in Python, with IEEE floats, and ints that are computed exactly: a result that its
 * type (meet.c), or 64 bits, have no room for is an error, as is a division of ints by 0: here there is
 * someone to tell. int and float make a float, `/` of ints an f64, a bool counts as 0 or 1. */
#include "run/value/value.h"

#include "base/c_locale.h"

/* A bool as an int; unsigned numbers keep their type. */
static kj_value number_of(kj_rvalue v)
{
    return v.kind == KJ_R_BOOL ? kj_int(KJ_I64, v.u.i) : kj_run_to_value(v);
}

/* A plain number beside a float of another type is as that has it, if it has it. */
static kj_value beside(kj_rvalue own, kj_rvalue other)
{
    kj_value v = number_of(own);
    bool adapts = !own.typed && !own.wide && other.typed && kj_is_float(other.type);
    return adapts && kj_value_fits(v, other.type) ? kj_fold_convert(v, other.type) : v;
}

/* Exact, as long doubles have 64 digits. */
static long double value_of(kj_value v)
{
    return kj_is_float(v.type) ? (long double)v.f
           : v.type == KJ_U64  ? (long double)v.u
                               : (long double)v.i;
}

int kj_run_compare_numbers(kj_rvalue a, kj_rvalue b)
{
    if (a.kind != KJ_R_FLOAT && b.kind != KJ_R_FLOAT) {
        kj_whole x = kj_run_whole_of(a), y = kj_run_whole_of(b);
        return x < y ? -1 : x > y;
    }
    long double x = value_of(beside(a, b)), y = value_of(beside(b, a));
    return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
}

bool kj_run_compare_result(kj_op op, int order)
{
    switch (op) {
    case KJ_OP_EQ: return order == 0;
    case KJ_OP_NE: return order != 0;
    case KJ_OP_LT: return order == -1;
    case KJ_OP_LE: return order == -1 || order == 0;
    case KJ_OP_GT: return order == 1;
    default: return order == 1 || order == 0;
    }
}

/* ---- Ints ---- */

/* What nothing has room for. */
static const kj_whole beyond = (kj_whole)1 << 121;

static bool is_beyond(kj_whole v)
{
    return v >= beyond || v <= -beyond;
}

static kj_whole product(kj_whole a, kj_whole b)
{
    kj_whole both;
    return __builtin_mul_overflow(a, b, &both) ? beyond : both;
}

static kj_whole whole_power(kj_whole base, kj_whole n)
{
    kj_whole result = 1;
    for (; n && !is_beyond(result); n >>= 1) {
        if (n & 1)
            result = product(result, base);
        base = n > 1 && !is_beyond(base) ? product(base, base) : base;
    }
    return result;
}

static kj_whole shifted(kj_op op, kj_whole v, kj_whole count)
{
    int places = count < 121 ? (int)count : 121;
    if (op == KJ_OP_SHR)
        return v >> places;
    return v == 0 || places < 121 ? product(v, (kj_whole)1 << places) : beyond;
}

/* y is not 0 where it divides, and not below 0 where it is a count. */
static kj_whole whole(kj_op op, kj_whole x, kj_whole y)
{
    kj_whole quotient;
    switch (op) {
    case KJ_OP_ADD: return x + y;
    case KJ_OP_SUB: return x - y;
    case KJ_OP_MUL: return product(x, y);
    case KJ_OP_POW: return whole_power(x, y);
    case KJ_OP_AND: return x & y;
    case KJ_OP_OR: return x | y;
    case KJ_OP_XOR: return x ^ y;
    case KJ_OP_SHL:
    case KJ_OP_SHR: return shifted(op, x, y);
    default:
        quotient = x / y - (x % y != 0 && (x < 0) != (y < 0));
        return op == KJ_OP_MOD ? x - quotient * y : quotient;
    }
}

/* ---- Of two ---- */

/* A count, and an exponent of an int, leave the type to the other. */
static bool meet(kj_run *r, kj_span at, kj_op op, const kj_rvalue v[2], kj_rmeeting *out)
{
    bool power = op == KJ_OP_POW && v[0].kind != KJ_R_FLOAT && v[1].kind != KJ_R_FLOAT;
    if (!power && kj_ops[op].class != KJ_OPS_SHIFT)
        return kj_run_meet(r, at, v, 2, out);
    if (!kj_run_meet(r, at, v, 1, out))
        return false;
    out->wide |= !v[0].typed && (v[1].typed || v[1].wide); /* it is no literal's result */
    return true;
}

/* An operator as messages name it; without printf, which would take longer than the operation. */
static void put_quoted(char out[8], kj_op op)
{
    int n = 0;
    out[n++] = '\'';
    for (const char *s = kj_ops[op].spelling; *s && n < 6; s++)
        out[n++] = *s;
    out[n++] = '\'';
    out[n] = 0;
}

static bool compute(kj_run *r, kj_span at, kj_op op, const kj_rvalue v[2], kj_rvalue *out)
{
    bool floats = v[0].kind == KJ_R_FLOAT || v[1].kind == KJ_R_FLOAT;
    kj_whole x = floats ? 0 : kj_run_whole_of(v[0]), y = floats ? 0 : kj_run_whole_of(v[1]);
    kj_rmeeting m;
    char what[8];
    if (!meet(r, at, op, v, &m))
        return false;
    put_quoted(what, op);
    if (kj_ops[op].class == KJ_OPS_SHIFT && y < 0)
        return kj_run_fail(r, KJIT_TYPE, at, "%s by a count below 0", what);
    if (!floats && op != KJ_OP_DIV && !(op == KJ_OP_POW && y < 0))
        return kj_run_whole(r, at, what, &m, whole(op, x, y), out);
    kj_dtype type = kj_is_float(m.type) ? m.type : KJ_F64;
    kj_value a = kj_fold_convert(number_of(v[0]), type), b = kj_fold_convert(number_of(v[1]), type);
    *out = kj_run_real(&m, kj_fold_binary(op, a, b).f);
    return true;
}

bool kj_run_binary_numbers(kj_run *r, kj_span at, kj_op op, kj_rvalue va, kj_rvalue vb,
                           kj_rvalue *out)
{
    bool floats = va.kind == KJ_R_FLOAT || vb.kind == KJ_R_FLOAT;
    kj_op_class class = kj_ops[op].class;
    if (floats || op == KJ_OP_DIV || (op == KJ_OP_POW && kj_run_whole_of(vb) < 0)) {
        va = kj_run_beside_float(va);
        vb = kj_run_beside_float(vb);
    }
    if (class == KJ_OPS_COMPARE) {
        *out = kj_run_bool(kj_run_compare_result(op, kj_run_compare_numbers(va, vb)));
        return true;
    }
    if ((class == KJ_OPS_BITS || class == KJ_OPS_SHIFT) && floats) {
        kj_run_fail(r, KJIT_TYPE, at, "'%s' works on ints, not on %s", kj_ops[op].spelling,
                    kj_run_kind_name(va.kind == KJ_R_FLOAT ? va : vb));
        r->powers = op == KJ_OP_XOR;
        return r->powers ? false
                         : kj_run_wrap(r, "int", va.kind != KJ_R_FLOAT, "write ",
                                       "int(x) is a float's integer part");
    }
    if (class == KJ_OPS_BITS && va.kind == KJ_R_BOOL && vb.kind == KJ_R_BOOL) {
        *out = kj_run_bool(kj_fold_binary(op, kj_run_to_value(va), kj_run_to_value(vb)).b);
        return true;
    }
    if (!floats && kj_run_whole_of(vb) == 0 &&
        (op == KJ_OP_DIV || op == KJ_OP_FLOORDIV || op == KJ_OP_MOD))
        return kj_run_fail(r, KJIT_TYPE, at, "division by zero");
    return compute(r, at, op, (kj_rvalue[]){va, vb}, out);
}

/* ---- Of one ---- */

bool kj_run_unary_number(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue *out)
{
    if (!kj_run_is_number(a) || (op == KJ_OP_INVERT && a.kind == KJ_R_FLOAT))
        return kj_run_fail(r, KJIT_TYPE, at, "'%s' does not work on %s", kj_ops[op].spelling,
                           kj_run_kind_name(a));
    kj_value v = number_of(a);
    kj_rmeeting m;
    if (op == KJ_OP_INVERT && a.kind == KJ_R_BOOL) {
        *out = kj_run_bool(!a.u.i);
        return true;
    }
    if ((op == KJ_OP_NEG && a.kind != KJ_R_FLOAT) || (a.kind == KJ_R_INT && a.beyond)) {
        kj_whole whole = op == KJ_OP_PLUS ? kj_run_whole_of(a) : -kj_run_whole_of(a);
        char what[8];
        put_quoted(what, op);
        return kj_run_meet(r, at, &a, 1, &m) &&
               kj_run_whole(r, at, what, &m, whole - (op == KJ_OP_INVERT), out);
    }
    v = kj_fold_unary(op, a.typed ? kj_fold_convert(v, a.type) : v);
    *out = a.typed ? kj_run_typed(v) : kj_run_from_value(v);
    out->wide = a.wide;
    return true;
}
