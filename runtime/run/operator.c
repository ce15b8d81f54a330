/* Operators of run blocks. In: values; out: a value. Those on arrays are lazy_node.c's.
 *
 * Numbers behave as in Python, with 64-bit ints that wrap and IEEE floats: int and float make a
 * float, `/` always makes one, a bool counts as 0 or 1. Integers divided by 0 are an error here,
 * where there is someone to tell. */
#include "run/lazy/lazy.h"

#include <math.h>
#include <string.h>

static bool wrong_operands(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue b)
{
    return kj_run_fail(r, KJIT_TYPE, at, "'%s' does not work on %s and %s", kj_ops[op].spelling,
                       kj_run_kind_name(a), kj_run_kind_name(b));
}

/* ---- Numbers ---- */

/* A bool as an int; unsigned numbers keep their type. */
static kj_value number_of(kj_rvalue v)
{
    return v.kind == KJ_R_BOOL ? kj_int(KJ_I64, v.u.i) : kj_run_to_value(v);
}

/* -1, 0, 1; 2 when one is NaN. Exact, also between ints and floats. */
static int compare_numbers(kj_value a, kj_value b)
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

static bool compare_result(kj_op op, int order)
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

static bool binary_numbers(kj_run *r, kj_span at, kj_op op, kj_rvalue va, kj_rvalue vb,
                           kj_rvalue *out)
{
    kj_value a = number_of(va), b = number_of(vb);
    bool floats = kj_is_float(a.type) || kj_is_float(b.type);
    kj_op_class class = kj_ops[op].class;
    if (class == KJ_OPS_COMPARE) {
        *out = kj_run_bool(compare_result(op, compare_numbers(a, b)));
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
    kj_dtype type = floats || op == KJ_OP_DIV ? KJ_F64 : a.type;
    if (type != KJ_F64 && class != KJ_OPS_SHIFT && b.type == KJ_U64)
        type = KJ_U64;
    *out =
        kj_run_from_value(kj_fold_binary(op, kj_fold_convert(a, type), kj_fold_convert(b, type)));
    return true;
}

bool kj_run_unary(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue *out)
{
    if (kj_is_array(a))
        return kj_lazy_unary(r, at, op, a, out);
    if (op == KJ_OP_NOT) {
        bool truth;
        if (!kj_run_truth(r, at, a, &truth))
            return false;
        *out = kj_run_bool(!truth);
        return true;
    }
    if (kj_run_is_complex(a) && op == KJ_OP_NEG) {
        *out = a;
        out->u.f = -a.u.f;
        out->imag = -a.imag;
        return true;
    }
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

/* ---- Sequences and the rest ---- */

/* Numbers, one of them complex. */
static bool is_complex_pair(kj_rvalue a, kj_rvalue b)
{
    return (kj_run_is_complex(a) && (kj_run_is_complex(b) || kj_run_is_number(b))) ||
           (kj_run_is_complex(b) && kj_run_is_number(a));
}

static bool equal(kj_run *r, kj_span at, kj_rvalue a, kj_rvalue b, bool *out);

static bool equal_items(kj_run *r, kj_span at, const kj_robject *a, const kj_robject *b, bool *out)
{
    *out = a->u.seq.n == b->u.seq.n;
    if (r->depth >= KJ_RUN_MAX_DEPTH)
        return kj_run_fail(r, KJIT_TYPE, at, "the lists are nested too deeply to compare");
    r->depth++;
    bool ok = true;
    for (int64_t i = 0; ok && *out && i < a->u.seq.n; i++)
        ok = equal(r, at, a->u.seq.items[i], b->u.seq.items[i], out);
    r->depth--;
    return ok;
}

static bool equal(kj_run *r, kj_span at, kj_rvalue a, kj_rvalue b, bool *out)
{
    *out = false;
    if (kj_run_is_number(a) && kj_run_is_number(b))
        *out = compare_numbers(number_of(a), number_of(b)) == 0;
    else if (is_complex_pair(a, b))
        *out = kj_run_as_float(a) == kj_run_as_float(b) && a.imag == b.imag;
    else if (a.kind == KJ_R_ARRAY || b.kind == KJ_R_ARRAY)
        return kj_run_fail(r, KJIT_TYPE, at, "arrays inside of lists are not compared");
    else if (a.kind != b.kind)
        return true;
    else if (a.kind == KJ_R_TUPLE || a.kind == KJ_R_LIST)
        return equal_items(r, at, a.u.object, b.u.object, out);
    else if (a.kind == KJ_R_STRING)
        *out = a.u.object->u.string.len == b.u.object->u.string.len &&
               memcmp(a.u.object->u.string.text, b.u.object->u.string.text,
                      a.u.object->u.string.len) == 0;
    else if (a.kind == KJ_R_DTYPE)
        *out = a.dtype == b.dtype;
    else if (a.kind == KJ_R_KERNEL)
        *out = a.u.kernel == b.u.kernel;
    else
        *out = a.kind == KJ_R_NONE || a.u.object == b.u.object;
    return true;
}

static int compare_strings(const kj_robject *a, const kj_robject *b)
{
    size_t n = a->u.string.len < b->u.string.len ? a->u.string.len : b->u.string.len;
    int order = memcmp(a->u.string.text, b->u.string.text, n);
    if (order == 0)
        return a->u.string.len < b->u.string.len ? -1 : a->u.string.len > b->u.string.len;
    return order < 0 ? -1 : 1;
}

static bool concatenate(kj_run *r, kj_span at, kj_rvalue a, kj_rvalue b, kj_rvalue *out)
{
    const kj_robject *x = a.u.object, *y = b.u.object;
    if (a.kind == KJ_R_STRING) {
        kj_str t = {0};
        kj_str_add(&t, x->u.string.text, x->u.string.len);
        kj_str_add(&t, y->u.string.text, y->u.string.len);
        bool ok = t.failed ? kj_run_no_memory(r, at)
                           : kj_run_string(r, at, t.data ? t.data : "", t.size, out);
        kj_str_free(&t);
        return ok;
    }
    if (!kj_run_sequence(r, at, a.kind, x->u.seq.n + y->u.seq.n, out))
        return false;
    kj_rvalue *items = out->u.object->u.seq.items;
    for (int64_t i = 0; i < x->u.seq.n + y->u.seq.n; i++) {
        items[i] = i < x->u.seq.n ? x->u.seq.items[i] : y->u.seq.items[i - x->u.seq.n];
        kj_run_keep(items[i]);
    }
    return true;
}

bool kj_run_binary(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue b, kj_rvalue *out)
{
    if (op == KJ_OP_MATMUL)
        return kj_lazy_matmul(r, at, a, b, out);
    if (kj_run_is_number(a) && kj_run_is_number(b))
        return binary_numbers(r, at, op, a, b, out);
    if (is_complex_pair(a, b))
        return kj_run_complex_binary(r, at, op, a, b, out);
    if (kj_is_array(a) || kj_is_array(b))
        return kj_lazy_binary(r, at, op, a, b, out);
    if (op == KJ_OP_EQ || op == KJ_OP_NE) {
        bool same;
        if (!equal(r, at, a, b, &same))
            return false;
        *out = kj_run_bool(same == (op == KJ_OP_EQ));
        return true;
    }
    if (a.kind == b.kind && op == KJ_OP_ADD &&
        (a.kind == KJ_R_STRING || a.kind == KJ_R_TUPLE || a.kind == KJ_R_LIST))
        return concatenate(r, at, a, b, out);
    if (a.kind == b.kind && a.kind == KJ_R_STRING && kj_ops[op].class == KJ_OPS_COMPARE) {
        *out = kj_run_bool(compare_result(op, compare_strings(a.u.object, b.u.object)));
        return true;
    }
    wrong_operands(r, at, op, a, b);
    if (op == KJ_OP_ADD && (a.kind == KJ_R_STRING || b.kind == KJ_R_STRING))
        return kj_run_hint(r, "str(x) makes a string of it");
    return false;
}
