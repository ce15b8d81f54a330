/* Trees of element-wise operations. In: an operator or function and its operands; out: a node with
 * the type and shape of the result, or a failure that says which operand does not go. */
#include "run/lazy/lazy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

kj_dtype kj_lazy_type(kj_rvalue v)
{
    return v.kind == KJ_R_LAZY ? v.u.object->u.lazy->type
                               : (kj_dtype)kjit_array_dtype(v.u.object->u.array);
}

int kj_lazy_shape(kj_rvalue v, const int64_t **shape)
{
    if (v.kind == KJ_R_LAZY) {
        *shape = v.u.object->u.lazy->shape;
        return v.u.object->u.lazy->ndim;
    }
    *shape = kjit_array_shape(v.u.object->u.array);
    return kjit_array_ndim(v.u.object->u.array);
}

/* ---- Operands ---- */

bool kj_lazy_take(kj_run *r, kj_span at, const kj_rvalue *v, int n, kj_rvalue *own)
{
    for (int i = 0; i < n; i++) {
        own[i] = v[i];
        own[i].typed = own[i].wide = false; /* beside arrays every number is plain */
        if (v[i].kind != KJ_R_ARRAY)
            kj_run_keep(v[i]);
        else if (!kj_run_numbers(r, at, v[i], &own[i]))
            return false;
    }
    return true;
}

bool kj_lazy_taken(kj_rvalue *own, int n, bool ok)
{
    for (int i = 0; i < n; i++)
        kj_run_drop(&own[i]);
    return ok;
}

/* ---- Shapes ---- */

static bool different_shapes(kj_run *r, kj_span at, int ndim, const int64_t *shape, int n,
                             const int64_t *other)
{
    char x[KJ_SHAPE_TEXT], y[KJ_SHAPE_TEXT];
    kj_run_fail(r, KJIT_SHAPE, at, "the shapes %s and %s do not go together",
                kj_shape_text(ndim, shape, x), kj_shape_text(n, other, y));
    if (ndim - n == 1 || n - ndim == 1) /* a / a.sum(axis=1) */
        return kj_run_hint(r, "axes meet from the last one on; equal extents do, and 1 and any; "
                              "a.sum(axis=1, keepdims=true) and its like keep their axis");
    return kj_run_hint(r, "axes meet from the last one on; equal extents do, and 1 and any");
}

/* The shape that operands stretch to: axes are aligned at the last. */
static bool broadcast(kj_run *r, kj_span at, kj_lazy *e)
{
    for (int i = 0; i < e->n; i++) {
        const int64_t *shape;
        int64_t before[KJIT_MAX_NDIM];
        if (!kj_is_array(e->args[i]))
            continue;
        int n = kj_lazy_shape(e->args[i], &shape), ndim = e->ndim > n ? e->ndim : n;
        memcpy(before, e->shape, sizeof before);
        for (int k = 1; k <= ndim; k++) {
            int64_t a = k <= e->ndim ? before[e->ndim - k] : 1, b = k <= n ? shape[n - k] : 1;
            if (a != b && a != 1 && b != 1)
                return different_shapes(r, at, e->ndim, before, n, shape);
            e->shape[ndim - k] = a == 1 ? b : a;
        }
        e->ndim = ndim;
    }
    int64_t count;
    char text[KJ_SHAPE_TEXT];
    if (!kj_shape_count(e->ndim, e->shape, 1, &count))
        return kj_run_fail(
            r, KJIT_SHAPE, at,
            "the operands stretch to the shape %s, of more elements than there can be",
            kj_shape_text(e->ndim, e->shape, text));
    return true;
}

/* ---- Types ---- */

/* KJ_VOID: it has none. */
static kj_dtype own_type(kj_rvalue v)
{
    if (v.kind == KJ_R_LAZY && v.u.object->u.lazy->untyped)
        return KJ_VOID;
    return kj_is_array(v) ? kj_lazy_type(v) : v.kind == KJ_R_BOOL ? KJ_BOOL : KJ_VOID;
}

const char *kj_lazy_describe(kj_rvalue v, char buf[48])
{
    if (!kj_is_array(v))
        return kj_run_kind_name(v);
    kj_snprintf(buf, 48, "an array of %s", kj_type_name(kj_lazy_type(v)));
    return buf;
}

bool kj_lazy_wrong_kind(kj_run *r, kj_span at, const char *what, const char *wanted, kj_rvalue v)
{
    char text[48];
    return kj_run_fail(r, KJIT_TYPE, at, "%s works on %s, not on %s", what, wanted,
                       kj_lazy_describe(v, text));
}

bool kj_lazy_is_bool(kj_rvalue v)
{
    return own_type(v) == KJ_BOOL;
}

/* Arrays and numbers that can be computed with. */
bool kj_lazy_numbers(kj_run *r, kj_span at, const char *what, const kj_rvalue *v, int n)
{
    for (int i = 0; i < n; i++) {
        if (kj_lazy_is_bool(v[i])) {
            kj_lazy_wrong_kind(r, at, what, "numbers", v[i]);
            return kj_run_wrap(r, "i32", i, "write ", "i32(x) makes 0 and 1 of it");
        }
        if (kj_is_array(v[i]) || kj_run_is_number(v[i]) || kj_run_is_complex(v[i]))
            continue;
        kj_lazy_wrong_kind(r, at, what, "arrays and numbers", v[i]);
        return v[i].kind == KJ_R_LIST || v[i].kind == KJ_R_TUPLE
                   ? kj_run_hint(r, "array(...) makes an array of it")
                   : false;
    }
    return true;
}

static bool misfit(kj_run *r, kj_span at, kj_rvalue v, kj_dtype type, int array)
{
    kj_run_fail(r, KJIT_TYPE, at, "%s does not fit %s, the type it meets here",
                kj_run_short(v).text, kj_type_name(type));
    return kj_is_complex_type(type)
               ? kj_run_wrap(r, "c128", array, "write ", "convert the array: c128(a)")
           : kj_is_float(type)
               ? kj_run_wrap(r, "f64", array, "write ", "convert the array: f64(a)")
               : kj_run_wrap(r, "i64", array, "write ", "convert the array: i64(a)");
}

bool kj_lazy_is_complex(kj_rvalue v)
{
    return kj_is_array(v) ? kj_is_complex_type(kj_lazy_type(v)) : kj_run_is_complex(v);
}

/* Does the type hold the number? */
static bool holds(kj_dtype type, kj_rvalue v)
{
    if (kj_is_complex_type(type))
        type = kj_aggregate_of(type)->elem;
    if (type == KJ_BOOL)
        return false;
    if (kj_run_is_complex(v))
        return kj_value_fits(kj_float(KJ_F64, v.u.f), type) &&
               kj_value_fits(kj_float(KJ_F64, v.imag), type);
    return kj_value_fits(kj_run_to_value(v), type);
}

/* What numbers are alone, and together. */
typedef struct literals {
    kj_dtype whole;
    bool real, complex;
} literals;

static bool note_number(void *ctx, kj_rvalue v)
{
    literals *l = ctx;
    if (kj_run_is_complex(v)) {
        l->complex = true;
        return true;
    }
    kj_dtype its = kj_default_type(kj_run_to_value(v));
    l->real |= v.kind == KJ_R_FLOAT;
    if (its == KJ_U64 || (its == KJ_I64 && l->whole == KJ_I32))
        l->whole = its;
    return true;
}

static kj_dtype type_of_literals(const literals *l)
{
    return l->complex ? KJ_C64 : l->real ? KJ_F32 : l->whole;
}

kj_dtype kj_lazy_types_alone(const kj_rvalue *untyped, int n)
{
    literals l = {KJ_I32, false, false};
    for (int i = 0; i < n; i++)
        kj_lazy_each_number(untyped[i], note_number, &l);
    return type_of_literals(&l);
}

kj_dtype kj_lazy_type_alone(kj_rvalue untyped)
{
    return kj_lazy_types_alone(&untyped, 1);
}

typedef struct fit {
    kj_dtype type;
    kj_rvalue bad;
} fit;

static bool note_misfit(void *ctx, kj_rvalue v)
{
    fit *f = ctx;
    f->bad = v;
    return holds(f->type, v);
}

bool kj_lazy_alone(kj_run *r, kj_span at, kj_rvalue v)
{
    fit f = {kj_is_array(v) ? kj_lazy_type(v) : KJ_VOID, v};
    if (v.kind != KJ_R_LAZY || !v.u.object->u.lazy->untyped ||
        kj_lazy_each_number(v, note_misfit, &f))
        return true;
    kj_run_fail(r, KJIT_TYPE, at, "%s does not fit %s, the type it has alone",
                kj_run_short(f.bad).text, kj_type_name(f.type));
    return kj_run_hint(r, "give it a type: f64(...)");
}

bool kj_lazy_holds(kj_dtype type, kj_rvalue untyped)
{
    fit f = {type, untyped};
    bool kind = !kj_is_int(type) || kj_is_int(kj_lazy_type_alone(untyped));
    return kind && kj_lazy_each_number(untyped, note_misfit, &f);
}

/* The type that operands meet in; numbers are literals to it. */
bool kj_lazy_unify(kj_run *r, kj_span at, const char *what, const kj_rvalue *v, int n,
                   kj_dtype *type)
{
    literals l = {KJ_I32, false, false};
    *type = KJ_VOID;
    for (int pass = 0; pass < 2; pass++) /* floats first: not each two integers have a type */
        for (int i = 0; i < n; i++) {
            kj_dtype own = own_type(v[i]), both;
            if (own == KJ_VOID && pass == 0)
                kj_lazy_each_number(v[i], note_number, &l);
            if (own == KJ_VOID || (kj_is_int(own) || own == KJ_BOOL) != (pass == 1))
                continue;
            both = *type == KJ_VOID ? own : kj_common_type(*type, own);
            if (both == KJ_VOID) {
                kj_run_fail(r, KJIT_TYPE, at, "%s has no common type for %s and %s", what,
                            kj_type_name(*type), kj_type_name(own));
                bool truth = *type == KJ_BOOL || own == KJ_BOOL;
                int odd = own == KJ_BOOL || own == KJ_U64 ? i : n == 2 ? 1 - i : -1;
                return truth ? kj_run_wrap(r, "i32", odd, "write ", "convert one: i32(a)")
                             : kj_run_wrap(r, "i64", odd, "write ", "convert one: i64(a)");
            }
            *type = both;
        }
    if (*type == KJ_VOID)
        *type = type_of_literals(&l);
    else if (l.complex && *type != KJ_BOOL)
        *type = kj_common_type(*type, KJ_C64);
    else if (l.real && kj_is_int(*type))
        *type = KJ_F32;
    for (int i = 0; i < n; i++) {
        fit f = {*type, v[i]};
        if (own_type(v[i]) == KJ_VOID && !kj_lazy_each_number(v[i], note_misfit, &f))
            return misfit(r, at, f.bad, *type, n == 2 ? 1 - i : -1);
    }
    return true;
}

bool kj_lazy_common(kj_run *r, kj_span at, const char *what, const kj_rvalue *v, int n,
                    kj_dtype *type)
{
    return kj_lazy_numbers(r, at, what, v, n) && kj_lazy_unify(r, at, what, v, n, type);
}

/* ---- Nodes ---- */

static int leaves_of(kj_rvalue v)
{
    return v.kind == KJ_R_LAZY ? v.u.object->u.lazy->leaves : 1;
}

static int depth_of(kj_rvalue v)
{
    return v.kind == KJ_R_LAZY ? v.u.object->u.lazy->depth : 0;
}

/* An operand as an array; a choice of numbers in the type that the operation takes. */
static bool compute_operand(kj_run *r, kj_span at, kj_rvalue *v, kj_dtype as)
{
    kj_rvalue typed;
    if (v->kind != KJ_R_LAZY || !v->u.object->u.lazy->untyped || as == KJ_VOID)
        return kj_lazy_finish(r, at, v);
    if (!kj_lazy_retyped(r, at, *v, as, &typed))
        return false;
    kj_run_drop(v);
    *v = typed;
    return kj_lazy_finish(r, at, v);
}

/* Is it a product that a sum of this type fuses with, and so rounds only once? */
static bool fuses(const kj_lazy *e, kj_rvalue v)
{
    if (e->form != KJ_X_BINARY || (e->op != KJ_OP_ADD && e->op != KJ_OP_SUB) ||
        v.kind != KJ_R_LAZY || !kj_is_float(e->type))
        return false;
    const kj_lazy *product = v.u.object->u.lazy;
    return product->form == KJ_X_BINARY && product->op == KJ_OP_MUL && product->type == e->type;
}

/* A product stays one, of operands that are computed. */
static bool compute_factors(kj_run *r, kj_span at, kj_rvalue *v)
{
    kj_lazy e = *v->u.object->u.lazy;
    kj_rvalue made;
    bool ok = true;
    for (int i = 0; i < e.n; i++) {
        kj_run_keep(e.args[i]);
        ok = ok && (e.args[i].kind != KJ_R_LAZY || compute_operand(r, at, &e.args[i], e.types[i]));
    }
    e.leaves = e.n;
    e.depth = 1;
    if (!ok)
        return kj_lazy_taken(e.args, e.n, false);
    if (!kj_run_lazy(r, at, &e, &made))
        return false;
    kj_run_drop(v);
    *v = made;
    return true;
}

/* The node as a value. Operands too large to be part of one kernel are computed first, but for the
 * numbers of a choice, which would have a type then. */
bool kj_lazy_make(kj_run *r, kj_span at, kj_lazy *e, kj_rvalue *out)
{
    if (!broadcast(r, at, e))
        return false;
    int leaves = 0;
    for (int i = 0; i < e->n; i++)
        leaves += leaves_of(e->args[i]);
    bool ok = true;
    for (int i = 0; i < e->n; i++) {
        kj_run_keep(e->args[i]);
        bool large = leaves > KJ_LAZY_LEAVES && leaves_of(e->args[i]) > 1;
        bool number = i > 0 && e->form == KJ_X_WHERE && kj_lazy_is_untyped(e->args[i]);
        if (ok && !number && (large || depth_of(e->args[i]) >= KJ_LAZY_DEPTH)) {
            leaves -= leaves_of(e->args[i]);
            ok = fuses(e, e->args[i]) ? compute_factors(r, at, &e->args[i])
                                      : compute_operand(r, at, &e->args[i], e->types[i]);
            leaves += leaves_of(e->args[i]);
        }
        if (depth_of(e->args[i]) >= e->depth)
            e->depth = depth_of(e->args[i]) + 1;
    }
    e->leaves = leaves;
    if (ok)
        return kj_run_lazy(r, at, e, out);
    for (int i = 0; i < e->n; i++)
        kj_run_drop(&e->args[i]);
    return false;
}

kj_lazy kj_lazy_node(kj_lazy_form form, kj_dtype type, const kj_rvalue *args, int n, kj_dtype as)
{
    kj_lazy e = {.form = form, .type = type, .n = n, .depth = 1, .part = -1};
    for (int i = 0; i < n; i++) {
        e.args[i] = args[i];
        e.types[i] = as;
    }
    return e;
}

/* ---- Operators ---- */

/* What has 64 bits is converted to floats that have as many. */
static bool no_division(kj_run *r, kj_span at, const kj_rvalue *v)
{
    bool wide = kj_types[own_type(v[0])].bits == 64 || kj_types[own_type(v[1])].bits == 64;
    kj_run_fail(r, KJIT_TYPE, at, "'/' divides floats, and both sides are integers");
    return kj_run_wrap(r, wide ? "f64" : "f32", 0, "write '//' for the integer quotient, or ",
                       wide ? "write '//' for the integer quotient, or convert one side: f64(a)"
                            : "write '//' for the integer quotient, or convert one side: f32(a)");
}

static bool power(kj_run *r, kj_span at, const kj_rvalue *v, kj_rvalue *out)
{
    enum { MAX_POWER = 64 }; /* the most that kernels write as products */
    kj_dtype type;
    int64_t least = kj_lazy_is_complex(v[0]) ? -MAX_POWER : 0;
    if (v[1].kind == KJ_R_INT && v[1].u.i >= least && v[1].u.i <= MAX_POWER) {
        kj_lazy e = kj_lazy_node(KJ_X_BINARY, kj_lazy_type(v[0]), v, 2, KJ_VOID);
        e.op = KJ_OP_POW;
        return kj_lazy_make(r, at, &e, out);
    }
    if (!kj_lazy_unify(r, at, "'**'", v, 2, &type))
        return false;
    if (!kj_is_float(type) && !kj_is_complex_type(type)) {
        kj_run_fail(r, KJIT_TYPE, at, "'**' on integers needs one exponent, from 0 to %d",
                    MAX_POWER);
        return kj_run_wrap(r, "f32", 0, "write ",
                           "f32(a) ** b works, or a shift for powers of two");
    }
    kj_lazy e = kj_lazy_node(KJ_X_BINARY, type, v, 2, type);
    e.op = KJ_OP_POW;
    return kj_lazy_make(r, at, &e, out);
}

static bool is_real(kj_rvalue v)
{
    kj_dtype own = own_type(v);
    return kj_is_float(own == KJ_VOID && !kj_run_is_complex(v) ? kj_lazy_type_alone(v) : own);
}

static bool shift(kj_run *r, kj_span at, kj_op op, const char *what, const kj_rvalue *v,
                  kj_rvalue *out)
{
    for (int i = 0; i < 2; i++) {
        if (is_real(v[i]))
            return kj_lazy_wrong_kind(r, at, what, "integers", v[i]);
    }
    kj_dtype type = own_type(v[own_type(v[0]) == KJ_VOID ? 1 : 0]);
    fit f = {type, v[0]};
    if (type == KJ_VOID) /* a choice that has too many numbers */
        type = kj_lazy_type_alone(v[0]);
    else if (own_type(v[0]) == KJ_VOID && !kj_lazy_each_number(v[0], note_misfit, &f))
        return misfit(r, at, f.bad, type, 1);
    kj_lazy e = kj_lazy_node(KJ_X_BINARY, type, v, 2, type);
    e.op = op;
    e.types[1] = KJ_I64; /* a number as it is, which the type may not hold */
    return kj_lazy_make(r, at, &e, out);
}

static bool binary(kj_run *r, kj_span at, kj_op op, const kj_rvalue *v, kj_rvalue *out)
{
    kj_op_class class = kj_ops[op].class;
    if (kj_lazy_are_untyped(v, 2)) {
        if (op == KJ_OP_DIV && !is_real(v[0]) && !is_real(v[1]))
            return no_division(r, at, v);
        return kj_lazy_of_choices(r, at, &(kj_lazy_fn){.is_op = true, .op = op}, v, 2, out);
    }
    bool equality = op == KJ_OP_EQ || op == KJ_OP_NE;
    kj_dtype type = KJ_BOOL;
    char what[8];
    kj_snprintf(what, sizeof what, "'%s'", kj_ops[op].spelling);
    if (!((equality || class == KJ_OPS_BITS) && kj_lazy_is_bool(v[0]) && kj_lazy_is_bool(v[1]))) {
        if (!kj_lazy_numbers(r, at, what, v, 2))
            return false;
        bool complex = kj_lazy_is_complex(v[0]) || kj_lazy_is_complex(v[1]);
        if (complex && op > KJ_OP_DIV && op != KJ_OP_POW && !equality)
            return kj_run_fail(r, KJIT_TYPE, at, "%s does not work on complex numbers", what);
        if (class == KJ_OPS_SHIFT)
            return shift(r, at, op, what, v, out);
        if (op == KJ_OP_POW)
            return power(r, at, v, out);
        if (!kj_lazy_unify(r, at, what, v, 2, &type))
            return false;
        if (class == KJ_OPS_BITS && kj_is_float(type)) {
            r->powers = op == KJ_OP_XOR;
            return kj_lazy_wrong_kind(r, at, what, "integers and bools", v[is_real(v[1])]);
        }
        if (op == KJ_OP_DIV && !kj_is_float(type) && !complex)
            return no_division(r, at, v);
    }
    kj_lazy e = kj_lazy_node(KJ_X_BINARY, class == KJ_OPS_COMPARE ? KJ_BOOL : type, v, 2, type);
    e.op = op;
    return kj_lazy_make(r, at, &e, out);
}

bool kj_lazy_binary(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue b, kj_rvalue *out)
{
    kj_rvalue own[2];
    return kj_lazy_take(r, at, (kj_rvalue[]){a, b}, 2, own) &&
           kj_lazy_taken(own, 2, binary(r, at, op, own, out));
}

static bool unary(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue *out)
{
    kj_dtype type = kj_lazy_type(a);
    if (op == KJ_OP_NOT)
        return kj_run_fail(r, KJIT_TYPE, at, "an array is neither true nor false");
    if (op == KJ_OP_INVERT && (kj_is_float(type) || kj_lazy_is_complex(a)))
        return kj_lazy_wrong_kind(r, at, "'~'", "integers and bools", a);
    bool sign = op == KJ_OP_NEG || op == KJ_OP_PLUS;
    if (sign && !kj_lazy_numbers(r, at, op == KJ_OP_NEG ? "'-'" : "'+'", &a, 1))
        return false;
    if (kj_lazy_are_untyped(&a, 1))
        return kj_lazy_of_choices(r, at, &(kj_lazy_fn){.is_op = true, .op = op}, &a, 1, out);
    kj_lazy e = kj_lazy_node(KJ_X_UNARY, type, &a, 1, type);
    e.op = op;
    return kj_lazy_make(r, at, &e, out);
}

bool kj_lazy_unary(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue *out)
{
    kj_rvalue own;
    return kj_lazy_take(r, at, &a, 1, &own) && kj_lazy_taken(&own, 1, unary(r, at, op, own, out));
}

static bool cast(kj_run *r, kj_span at, kj_dtype to, kj_rvalue a, kj_rvalue *out)
{
    if (kj_lazy_is_complex(a) && !kj_is_complex_type(to)) {
        kj_run_fail(r, KJIT_TYPE, at, "complex numbers are not converted to %s", kj_type_name(to));
        return kj_run_hint(r, "convert a part: %s(a.real)", kj_type_name(to));
    }
    kj_lazy e = kj_lazy_node(KJ_X_CAST, to, &a, 1, own_type(a) == KJ_VOID ? to : kj_lazy_type(a));
    return kj_lazy_make(r, at, &e, out);
}

bool kj_lazy_cast(kj_run *r, kj_span at, kj_dtype to, kj_rvalue a, kj_rvalue *out)
{
    kj_rvalue own;
    return kj_lazy_take(r, at, &a, 1, &own) && kj_lazy_taken(&own, 1, cast(r, at, to, own, out));
}

bool kj_lazy_complex(kj_run *r, kj_span at, kj_dtype to, const kj_rvalue parts[2], kj_rvalue *out)
{
    kj_rvalue own[2];
    if (!kj_lazy_take(r, at, parts, 2, own))
        return false;
    kj_lazy e = kj_lazy_node(KJ_X_CAST, to, own, 2, kj_aggregate_of(to)->elem);
    return kj_lazy_taken(own, 2, kj_lazy_make(r, at, &e, out));
}
