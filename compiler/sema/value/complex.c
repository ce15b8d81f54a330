/* Complex numbers: construction, conversions, operators. A value is its two parts; a real number
 * beside it keeps to one, so that 2 * z multiplies each part and inf * z makes no NaN of a 0.
 *
 * 2.5j has no type yet: it is a complex value of kj_complex_literal, whose parts are literals. */
#include "sema/value/value.h"

/* A complex number of two parts, or a real one. */
typedef struct number {
    kj_operand part[2];
    int n;
} number;

static bool is_literal(const kj_operand *v)
{
    return kj_is_untyped(v) || (kj_is_aggregate(v) && v->u.tuple.of == &kj_complex_literal);
}

bool kj_is_complex(const kj_operand *v)
{
    return kj_is_aggregate(v) && v->u.tuple.of->kind == KJ_COMPLEX;
}

kj_operand kj_complex(kj_sema *s, kj_operand re, kj_operand im, kj_span span)
{
    if (re.kind == KJ_V_ERROR || im.kind == KJ_V_ERROR)
        return kj_no_value(span);
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, 2);
    items[0] = re;
    items[1] = im;
    return kj_tuple(
        items, 2,
        re.kind == KJ_V_LITERAL ? &kj_complex_literal : kj_complex_of(re.u.scalar.e->type), span);
}

static kj_operand literal(double f, kj_span span)
{
    return kj_literal(kj_float(KJ_F64, f), span);
}

/* ---- Common types ---- */

static bool take(kj_sema *s, const kj_operand *v, number *x, const char *what)
{
    bool complex = kj_is_complex(v);
    if (!complex && kj_no_number(s, v, what))
        return false;
    for (int i = 0; i < 2; i++)
        x->part[i] = complex ? v->u.tuple.items[i] : *v;
    x->n = complex ? 2 : 1;
    return true;
}

/* All parts in one type that complex numbers have, where one of the numbers has a type or `want`
 * asks for it. */
static bool unify(kj_sema *s, number *x, int n, kj_dtype want, kj_span span, const char *what)
{
    kj_operand v[6];
    int count = 0, literals = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < x[i].n; k++) {
            literals += x[i].part[k].kind == KJ_V_LITERAL;
            v[count++] = x[i].part[k];
        }
    if (literals == count && want == KJ_VOID)
        return true;
    if (!kj_unify(s, v, count, want, span, what))
        return false;
    kj_dtype elem = v[0].u.scalar.e->type;
    count = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < x[i].n; k++, count++) {
            x[i].part[k] = v[count];
            if (!kj_complex_of(elem))
                x[i].part[k] =
                    kj_scalar(kj_te_convert(s, v[count].u.scalar.e, KJ_F32, v[count].span));
        }
    return true;
}

static kj_dtype elem_of(kj_dtype want)
{
    return want == KJ_F64 || want == KJ_C128 ? KJ_F64 : KJ_F32;
}

bool kj_complex_unify(kj_sema *s, kj_operand *v, int n, kj_dtype want, kj_span span,
                      const char *what)
{
    number x[3];
    for (int i = 0; i < n; i++) {
        if (!take(s, &v[i], &x[i], what))
            return false;
        if (x[i].n == 1)
            x[i].part[1] = literal(0, v[i].span);
        x[i].n = 2;
    }
    if (!unify(s, x, n, elem_of(want), span, what))
        return false;
    for (int i = 0; i < n; i++)
        v[i] = kj_complex(s, x[i].part[0], x[i].part[1], v[i].span);
    return true;
}

bool kj_becomes_complex(kj_sema *s, kj_operand *v, const kj_aggregate *to, const char *what)
{
    const kj_operand old = *v;
    bool complex = kj_is_complex(v);
    if (!is_literal(v) && !kj_converts(kj_type_of(v), to->type))
        return false;
    *v =
        kj_complex(s, kj_scalar(kj_coerce(s, complex ? old.u.tuple.items[0] : old, to->elem, what)),
                   kj_scalar(kj_coerce(s, complex ? old.u.tuple.items[1] : literal(0, old.span),
                                       to->elem, what)),
                   old.span);
    return true;
}

/* ---- Construction ---- */

/* A bool is 0 or 1 to a conversion. */
static bool take_any(kj_sema *s, const kj_operand *v, number *x, const char *what)
{
    if (v->kind != KJ_V_SCALAR || v->u.scalar.e->type != KJ_BOOL)
        return take(s, v, x, what);
    *x = (number){.n = 1, .part = {*v}};
    return true;
}

static kj_operand converted(kj_sema *s, const kj_operand *v, kj_dtype to)
{
    return v->kind == KJ_V_LITERAL
               ? kj_scalar(kj_te_const(s, kj_fold_convert(v->u.literal, to), v->span))
               : kj_scalar(kj_hold(s, kj_te_convert(s, v->u.scalar.e, to, v->span), "part"));
}

kj_operand kj_construct_complex(kj_sema *s, const kj_expr *e, const kj_aggregate *of, kj_operand *v,
                                int n)
{
    number x[2];
    if (n < 1 || n > 2)
        return kj_arity_error(s, e, of->name, "(real, imag), (x) of a number", 1, 2);
    for (int i = 0; i < n; i++)
        if (!take_any(s, &v[i], &x[i], of->name))
            return kj_no_value(e->span);
    if (n == 2 && (x[0].n == 2 || x[1].n == 2)) {
        kj_sema_error(s, v[x[0].n == 2 ? 0 : 1].span, KJ_RULE_TYPE_MISMATCH,
                      "a part of %s is a real number, not complex", of->name);
        return kj_no_value(e->span);
    }
    kj_operand none = literal(0, e->span);
    const kj_operand *imag = n == 2 ? &x[1].part[0] : x[0].n == 2 ? &x[0].part[1] : &none;
    kj_operand re = converted(s, &x[0].part[0], of->elem), im = converted(s, imag, of->elem);
    return kj_complex(s, re, im, e->span);
}

/* ---- Operators ---- */

static kj_operand held(kj_sema *s, kj_operand v)
{
    return v.kind == KJ_V_SCALAR ? kj_scalar(kj_hold(s, v.u.scalar.e, "part")) : v;
}

kj_operand kj_real_call(kj_sema *s, kj_builtin id, kj_operand v)
{
    kj_texpr *e = v.u.scalar.e;
    kj_dtype type = kj_builtin_result(id, 0, e->type);
    return kj_scalar(kj_te_call(s, id, &e, 1, type, e->span));
}

kj_operand kj_choose(kj_sema *s, kj_operand test, kj_operand yes, kj_operand no)
{
    kj_texpr *e = test.u.scalar.e;
    if (kj_is_const(e))
        return e->u.value.u ? yes : no;
    kj_texpr *first = kj_hold(s, yes.u.scalar.e, "part");
    kj_texpr *second = kj_hold(s, no.u.scalar.e, "part");
    return kj_scalar(kj_hold(s, kj_te_select(s, e, first, second, e->span), "part"));
}

static kj_operand sum(kj_sema *s, kj_op op, const number *a, const number *b, kj_span span)
{
    kj_operand re = kj_binary(s, op, a->part[0], b->part[0], span), im = a->part[1];
    if (a->n == 2 && b->n == 2)
        im = kj_binary(s, op, a->part[1], b->part[1], span);
    else if (b->n == 2)
        im = op == KJ_OP_SUB ? kj_unary(s, KJ_OP_NEG, b->part[1], span) : b->part[1];
    return kj_complex(s, re, im, span);
}

/* Both parts of z, op x. */
static kj_operand scaled(kj_sema *s, kj_op op, const number *z, kj_operand x, kj_span span)
{
    return kj_complex(s, kj_binary(s, op, z->part[0], x, span),
                      kj_binary(s, op, z->part[1], x, span), span);
}

static kj_operand product(kj_sema *s, number *a, number *b, kj_span span)
{
    for (int i = 0; i < a->n; i++)
        a->part[i] = held(s, a->part[i]);
    for (int i = 0; i < b->n; i++)
        b->part[i] = held(s, b->part[i]);
    if (b->n == 1)
        return scaled(s, KJ_OP_MUL, a, b->part[0], span);
    if (a->n == 1)
        return scaled(s, KJ_OP_MUL, b, a->part[0], span);
    kj_operand p[4]; /* re * re, im * im, re * im, im * re */
    for (int i = 0; i < 4; i++)
        p[i] = kj_binary(s, KJ_OP_MUL, a->part[i % 2], b->part[i == 1 || i == 2], span);
    return kj_complex(s, kj_binary(s, KJ_OP_SUB, p[0], p[1], span),
                      kj_binary(s, KJ_OP_ADD, p[2], p[3], span), span);
}

static kj_operand larger_size(kj_sema *s, kj_operand a, kj_operand b)
{
    kj_texpr *sizes[2] = {kj_real_call(s, KJ_BI_FABS, a).u.scalar.e,
                          kj_real_call(s, KJ_BI_FABS, b).u.scalar.e};
    return kj_scalar(kj_te_call(s, KJ_BI_MAX, sizes, 2, sizes[0]->type, sizes[0]->span));
}

/* What both sides of a quotient are multiplied by, so that no sum of two parts overflows: a power of 2. */
static kj_operand scale_of(kj_sema *s, kj_operand p, kj_operand q, kj_operand u, kj_span span)
{
    kj_operand size = larger_size(s, larger_size(s, p, q), u);
    kj_dtype type = size.u.scalar.e->type;
    kj_operand most = literal(type == KJ_F32 ? 0x1p126 : 0x1p1022, span), one[2];
    for (int i = 0; i < 2; i++)
        one[i] =
            kj_scalar(kj_te_const(s, kj_fold_convert(kj_float(KJ_F64, i ? 0.25 : 1), type), span));
    return kj_choose(s, held(s, kj_binary(s, KJ_OP_LT, most, size, span)), one[1], one[0]);
}

/* (a + bi) / (c + di) by Smith's method: with |c| >= |d| it is ((a + b*r) + (b - a*r)i) / (c + d*r)
 * where r = d/c. Otherwise both are divided by i first: b - ai, d - ci. Of huge numbers
 * both sides are scaled. */
static kj_operand quotient(kj_sema *s, const number *x, const number *y, kj_span span)
{
    kj_operand a = held(s, x->part[0]), b = held(s, x->part[1]), c = held(s, y->part[0]),
               d = held(s, y->part[1]);
    kj_operand turned = held(s, kj_binary(s, KJ_OP_LT, kj_real_call(s, KJ_BI_FABS, c),
                                          kj_real_call(s, KJ_BI_FABS, d), span));
    kj_operand p = kj_choose(s, turned, b, a),
               q = kj_choose(s, turned, kj_unary(s, KJ_OP_NEG, a, span), b),
               u = kj_choose(s, turned, d, c),
               v = kj_choose(s, turned, kj_unary(s, KJ_OP_NEG, c, span), d);
    kj_operand r = kj_choose(s, kj_binary(s, KJ_OP_EQ, u, literal(0, span), span), v,
                             kj_binary(s, KJ_OP_DIV, v, u, span));
    kj_operand *parts[] = {&p, &q, &u, &v}, scale = scale_of(s, p, q, u, span);
    for (int i = 0; i < 4; i++)
        *parts[i] = held(s, kj_binary(s, KJ_OP_MUL, *parts[i], scale, span));
    number over = {.n = 2};
    over.part[0] = kj_binary(s, KJ_OP_ADD, p, kj_binary(s, KJ_OP_MUL, q, r, span), span);
    over.part[1] = kj_binary(s, KJ_OP_SUB, q, kj_binary(s, KJ_OP_MUL, p, r, span), span);
    kj_operand below = kj_binary(s, KJ_OP_ADD, u, kj_binary(s, KJ_OP_MUL, v, r, span), span);
    return scaled(s, KJ_OP_DIV, &over, held(s, below), span);
}

/* x[0] / x[1]; of literals in f64, and a literal again. */
static kj_operand divided(kj_sema *s, number *x, kj_span span)
{
    if (x[1].n == 1)
        return scaled(s, KJ_OP_DIV, &x[0], held(s, x[1].part[0]), span);
    bool literals = x[1].part[0].kind == KJ_V_LITERAL;
    if (x[0].n == 1)
        x[0].part[1] = literal(0, span);
    x[0].n = 2;
    if (!unify(s, x, 2, literals ? KJ_F64 : KJ_VOID, span, "'/'"))
        return kj_no_value(span);
    kj_operand z = quotient(s, &x[0], &x[1], span);
    if (!literals || z.kind == KJ_V_ERROR)
        return z;
    return kj_complex(s, literal(z.u.tuple.items[0].u.scalar.e->u.value.f, span),
                      literal(z.u.tuple.items[1].u.scalar.e->u.value.f, span), span);
}

static kj_operand equality(kj_sema *s, kj_op op, const number *x, kj_span span)
{
    kj_operand zero = literal(0, span), v[2];
    for (int i = 0; i < 2; i++)
        v[i] = kj_binary(s, op, x[0].n > i ? x[0].part[i] : zero, x[1].n > i ? x[1].part[i] : zero,
                         span);
    if (v[0].kind != KJ_V_SCALAR || v[1].kind != KJ_V_SCALAR)
        return kj_no_value(span);
    return kj_scalar(kj_te_binary(s, op == KJ_OP_NE ? KJ_OP_OR : KJ_OP_AND, v[0].u.scalar.e,
                                  v[1].u.scalar.e, span));
}

kj_operand kj_complex_binary(kj_sema *s, kj_op op, kj_operand a, kj_operand b, kj_span span)
{
    const char *what = kj_arena_printf(s->diag->arena, "'%s'", kj_ops[op].spelling);
    number x[2];
    bool known = op <= KJ_OP_DIV || op == KJ_OP_POW || op == KJ_OP_EQ || op == KJ_OP_NE;
    if (!known) {
        kj_message *m = kj_sema_error(s, span, KJ_RULE_NOT_COMPLEX,
                                      "%s does not work on complex numbers", what);
        if (kj_ops[op].class == KJ_OPS_COMPARE)
            kj_hint(s->diag, m, "they have no order: compare abs(z), z.real or z.imag");
        return kj_no_value(span);
    }
    if (!take(s, &a, &x[0], what) || !take(s, &b, &x[1], what))
        return kj_no_value(span);
    if (op == KJ_OP_POW)
        return kj_complex_power(s, a, b, KJ_VOID, span);
    if (!unify(s, x, 2, KJ_VOID, span, what))
        return kj_no_value(span);
    switch (op) {
    case KJ_OP_ADD:
    case KJ_OP_SUB: return sum(s, op, &x[0], &x[1], span);
    case KJ_OP_MUL: return product(s, &x[0], &x[1], span);
    case KJ_OP_DIV: return divided(s, x, span);
    default: return equality(s, op, x, span);
    }
}

/* ---- Powers ---- */

/* The integer that the exponent is, where products do; false for others. */
static bool whole(const kj_operand *v, int *n)
{
    const kj_value *x = v->kind == KJ_V_LITERAL ? &v->u.literal
                        : v->kind == KJ_V_SCALAR && kj_is_const(v->u.scalar.e)
                            ? &v->u.scalar.e->u.value
                            : NULL;
    if (!x || !kj_is_int(x->type) || (!kj_is_signed(x->type) && x->u > KJ_MAX_PRODUCTS) ||
        x->i < -KJ_MAX_PRODUCTS || x->i > KJ_MAX_PRODUCTS)
        return false;
    *n = (int)x->i;
    return true;
}

static kj_operand held_value(kj_sema *s, kj_operand z, const char *name)
{
    return is_literal(&z) ? z : kj_hold_value(s, z, name);
}

/* Of a literal it is one. */
static kj_operand products(kj_sema *s, kj_operand z, int n, kj_span span)
{
    kj_operand all = kj_literal(kj_int(KJ_I64, 1), span), square = held_value(s, z, "base");
    for (; n; n >>= 1) {
        if (n & 1)
            all = all.kind == KJ_V_LITERAL ? square : kj_binary(s, KJ_OP_MUL, all, square, span);
        if (n > 1)
            square = held_value(s, kj_binary(s, KJ_OP_MUL, square, square, span), "square");
    }
    if (all.kind != KJ_V_LITERAL)
        return all;
    return is_literal(&z) ? kj_complex(s, literal(1, span), literal(0, span), span)
                          : kj_coerce_aggregate(s, all, z.u.tuple.of, "this");
}

/* z * 2 ** (e * times) */
static kj_operand moved(kj_sema *s, kj_operand z, kj_operand e, int times, kj_span span)
{
    kj_operand by =
        held(s, kj_binary(s, KJ_OP_MUL, e, kj_literal(kj_int(KJ_I64, times), span), span));
    kj_operand part[2];
    for (int i = 0; i < 2; i++) {
        kj_texpr *args[2] = {z.u.tuple.items[i].u.scalar.e, by.u.scalar.e};
        part[i] = held(s, kj_scalar(kj_te_call(s, KJ_BI_LDEXP, args, 2, args[0]->type, span)));
    }
    return kj_complex(s, part[0], part[1], span);
}

/* The exponent of the larger part; 0 where it has none: it is 0, infinite or NaN. */
static kj_operand exponent_of(kj_sema *s, kj_operand z, kj_span span)
{
    enum { MOST = 2000 };
    kj_operand size = larger_size(s, z.u.tuple.items[0], z.u.tuple.items[1]);
    kj_operand e = held(s, kj_real_call(s, KJ_BI_ILOGB, size));
    for (int i = 0; i < 2; i++) {
        kj_operand most = kj_literal(kj_int(KJ_I64, i ? -MOST : MOST), span);
        kj_operand none = kj_binary(s, i ? KJ_OP_LT : KJ_OP_GT, e, most, span);
        e = kj_choose(s, held(s, none), kj_scalar(kj_te_const(s, kj_int(KJ_I32, 0), span)), e);
    }
    return e;
}

/* 1 / z ** n. Of larger n z has a length near 1 first, by a power of 2, since z ** n may overflow where that does not. */
static kj_operand inverse_of_products(kj_sema *s, kj_operand z, int n, kj_span span)
{
    if (n == 1)
        return kj_binary(s, KJ_OP_DIV, literal(1, span), products(s, z, n, span), span);
    z = kj_hold_value(s, z, "base");
    kj_operand e = exponent_of(s, z, span);
    kj_operand p = kj_hold_value(s, products(s, moved(s, z, e, -1, span), n, span), "power");
    kj_operand q = kj_binary(s, KJ_OP_DIV, literal(1, span), p, span);
    return moved(s, kj_hold_value(s, q, "inverse"), e, -n, span);
}

kj_operand kj_complex_power(kj_sema *s, kj_operand a, kj_operand b, kj_dtype want, kj_span span)
{
    int n;
    bool is_whole = kj_is_complex(&a) && whole(&b, &n);
    if (is_whole && n >= 0)
        return products(s, a, n, span);
    if (is_whole && !is_literal(&a))
        return inverse_of_products(s, a, -n, span);
    kj_operand v[2] = {a, is_whole ? kj_literal(kj_int(KJ_I64, n), span) : b}, folded;
    if (kj_fold_complex(s, KJ_BI_POW, v, 2, span, &folded))
        return folded;
    bool real = !kj_is_complex(&b);
    if (!kj_complex_unify(s, v, 2, want, span, "'**'"))
        return kj_no_value(span);
    return kj_complex_pow(s, v[0], v[1], real, span);
}
