/* Operators on numbers.
 *
 * Numbers behave as in Python, with 64-bit ints that wrap and IEEE floats: int and float make a
 * float, `/` always makes one, a bool counts as 0 or 1. Integers divided by 0 are an error here,
 * where there is someone to tell. */
#include "run/value/value.h"

#include <math.h>

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

int kj_run_compare_numbers(kj_rvalue a, kj_rvalue b)
{
    return compare(number_of(a), number_of(b));
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

static bool power(kj_value a, kj_value b, kj_rvalue *out)
{
    if (kj_is_float(a.type) || kj_is_float(b.type) || (b.type == KJ_I64 && b.i < 0)) {
        *out = kj_run_float(pow(kj_fold_convert(a, KJ_F64).f, kj_fold_convert(b, KJ_F64).f));
        return true;
    }
    uint64_t base = a.u, result = 1;
    for (uint64_t n = b.u; n; n >>= 1) {
        if (n & 1)
            result *= base;
        base *= base;
    }
    *out = a.type == KJ_U64 ? kj_run_uint(result) : kj_run_int((int64_t)result);
    return true;
}

__extension__ typedef __int128 wide;

/* Of an unsigned number and a negative one, which no type of 64 bits holds both. */
static kj_rvalue divide_apart(kj_op op, kj_value a, kj_value b)
{
    wide x = a.type == KJ_U64 ? (wide)a.u : a.i, y = b.type == KJ_U64 ? (wide)b.u : b.i;
    wide quotient = x / y - (x % y != 0); /* their signs differ: it is rounded down */
    if (op == KJ_OP_FLOORDIV)
        return kj_run_int((int64_t)quotient);
    wide rest = x - quotient * y;
    return b.type == KJ_U64 ? kj_run_uint((uint64_t)rest) : kj_run_int((int64_t)rest);
}

static bool is_negative(kj_value v)
{
    return v.type == KJ_I64 && v.i < 0;
}

bool kj_run_binary_numbers(kj_run *r, kj_span at, kj_op op, kj_rvalue va, kj_rvalue vb,
                           kj_rvalue *out)
{
    kj_value a = number_of(va), b = number_of(vb);
    bool floats = kj_is_float(a.type) || kj_is_float(b.type);
    kj_op_class class = kj_ops[op].class;
    if (class == KJ_OPS_COMPARE) {
        *out = kj_run_bool(kj_run_compare_result(op, compare(a, b)));
        return true;
    }
    if (op == KJ_OP_POW)
        return power(a, b, out);
    if ((class == KJ_OPS_BITS || class == KJ_OPS_SHIFT) && floats) {
        kj_run_fail(r, KJIT_TYPE, at, "'%s' works on ints, not on %s", kj_ops[op].spelling,
                    kj_run_kind_name(kj_is_float(a.type) ? va : vb));
        return kj_run_hint(r, "int(x) is a float's integer part");
    }
    if (class == KJ_OPS_BITS && va.kind == KJ_R_BOOL && vb.kind == KJ_R_BOOL) {
        *out = kj_run_bool(kj_fold_binary(op, kj_run_to_value(va), kj_run_to_value(vb)).b);
        return true;
    }
    if (!floats && b.u == 0 && (op == KJ_OP_DIV || op == KJ_OP_FLOORDIV || op == KJ_OP_MOD))
        return kj_run_fail(r, KJIT_TYPE, at, "division by zero");
    bool apart = (a.type == KJ_U64 && is_negative(b)) || (is_negative(a) && b.type == KJ_U64);
    if (!floats && apart && (op == KJ_OP_FLOORDIV || op == KJ_OP_MOD)) {
        *out = divide_apart(op, a, b);
        return true;
    }
    kj_dtype type = floats || op == KJ_OP_DIV ? KJ_F64 : a.type;
    if (type != KJ_F64 && class != KJ_OPS_SHIFT && b.type == KJ_U64)
        type = KJ_U64;
    *out =
        kj_run_from_value(kj_fold_binary(op, kj_fold_convert(a, type), kj_fold_convert(b, type)));
    return true;
}

bool kj_run_unary_number(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue *out)
{
    if (!kj_run_is_number(a) || (op == KJ_OP_INVERT && a.kind == KJ_R_FLOAT))
        return kj_run_fail(r, KJIT_TYPE, at, "'%s' does not work on %s", kj_ops[op].spelling,
                           kj_run_kind_name(a));
    if (op == KJ_OP_INVERT && a.kind == KJ_R_BOOL)
        *out = kj_run_bool(!a.u.i);
    else if (op == KJ_OP_NEG && a.kind == KJ_R_INT && a.dtype == KJIT_U64 && a.u.i == INT64_MIN)
        *out = kj_run_int(INT64_MIN); /* the literal -9223372036854775808 */
    else
        *out = kj_run_from_value(kj_fold_unary(op, number_of(a)));
    if (a.kind == KJ_R_FLOAT)
        out->dtype = a.dtype; /* exact: still of its type */
    return true;
}
