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

/* -1, 0, 1; 2 when one is NaN. Exact, also between ints and floats. */
static int compare(kj_value a, kj_value b)
{
    if (kj_is_float(a.type) || kj_is_float(b.type)) {
        long double x = kj_is_float(a.type) ? (long double)a.f
                        : a.type == KJ_U64  ? (long double)a.u
                                            : (long double)a.i;
        long double y = kj_is_float(b.type) ? (long double)b.f
                        : b.type == KJ_U64  ? (long double)b.u
                                            : (long double)b.i;
        return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
    }
    if (a.type != b.type) { /* an unsigned one stands above every i64 */
        bool below = a.type == KJ_U64 ? b.i >= 0 && b.u > a.u : a.i < 0 || a.u < b.u;
        bool above = a.type == KJ_U64 ? b.i < 0 || a.u > b.u : a.i >= 0 && a.u > b.u;
        return below ? -1 : above;
    }
    if (a.type == KJ_U64)
        return a.u < b.u ? -1 : a.u > b.u;
    return a.i < b.i ? -1 : a.i > b.i;
}

/* A plain number beside a float of another type is as that has it, if it has it. */
static kj_value beside(kj_rvalue own, kj_rvalue other)
{
    kj_value v = number_of(own);
    bool adapts = !own.typed && !own.wide && other.typed && kj_is_float(other.type);
    return adapts && kj_value_fits(v, other.type) ? kj_fold_convert(v, other.type) : v;
}

int kj_run_compare_numbers(kj_rvalue a, kj_rvalue b)
{
    return compare(beside(a, b), beside(b, a));
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
static const kj_whole beyond = (kj_whole)1 << 100;

static bool in_64_bits(kj_whole v)
{
    return v >= INT64_MIN && v <= (kj_whole)UINT64_MAX;
}

static kj_whole product(kj_whole a, kj_whole b)
{
    kj_whole both;
    return __builtin_mul_overflow(a, b, &both) ? beyond : both;
}

static kj_whole whole_power(kj_whole base, kj_whole n)
{
    kj_whole result = 1;
    for (; n && in_64_bits(result); n >>= 1) {
        if (n & 1)
            result = product(result, base);
        base = n > 1 && in_64_bits(base) ? product(base, base) : base;
    }
    return result;
}

static kj_whole shifted(kj_op op, kj_whole v, kj_whole count)
{
    int places = count < 64 ? (int)count : 64;
    if (op == KJ_OP_SHR)
        return v >> places;
    return v == 0 || places < 64 ? product(v, (kj_whole)1 << places) : beyond;
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

static bool compute(kj_run *r, kj_span at, kj_op op, const kj_rvalue v[2], kj_rvalue *out)
{
    bool floats = v[0].kind == KJ_R_FLOAT || v[1].kind == KJ_R_FLOAT;
    kj_whole x = floats ? 0 : kj_run_whole_of(v[0]), y = floats ? 0 : kj_run_whole_of(v[1]);
    kj_rmeeting m;
    char what[8];
    if (!meet(r, at, op, v, &m))
        return false;
    kj_snprintf(what, sizeof what, "'%s'", kj_ops[op].spelling);
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
    kj_value a = number_of(va), b = number_of(vb);
    bool floats = kj_is_float(a.type) || kj_is_float(b.type);
    kj_op_class class = kj_ops[op].class;
    if (class == KJ_OPS_COMPARE) {
        *out = kj_run_bool(kj_run_compare_result(op, kj_run_compare_numbers(va, vb)));
        return true;
    }
    if ((class == KJ_OPS_BITS || class == KJ_OPS_SHIFT) && floats) {
        kj_run_fail(r, KJIT_TYPE, at, "'%s' works on ints, not on %s", kj_ops[op].spelling,
                    kj_run_kind_name(kj_is_float(a.type) ? va : vb));
        r->powers = op == KJ_OP_XOR;
        return r->powers ? false
                         : kj_run_wrap(r, "int", !kj_is_float(a.type), "write ",
                                       "int(x) is a float's integer part");
    }
    if (class == KJ_OPS_BITS && va.kind == KJ_R_BOOL && vb.kind == KJ_R_BOOL) {
        *out = kj_run_bool(kj_fold_binary(op, kj_run_to_value(va), kj_run_to_value(vb)).b);
        return true;
    }
    if (!floats && b.u == 0 && (op == KJ_OP_DIV || op == KJ_OP_FLOORDIV || op == KJ_OP_MOD))
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
    if (op == KJ_OP_NEG && a.kind != KJ_R_FLOAT)
        return kj_run_meet(r, at, &a, 1, &m) &&
               kj_run_whole(r, at, "'-'", &m, -kj_run_whole_of(a), out);
    v = kj_fold_unary(op, a.typed ? kj_fold_convert(v, a.type) : v);
    *out = a.typed ? kj_run_typed(v) : kj_run_from_value(v);
    out->wide = a.wide;
    return true;
}
