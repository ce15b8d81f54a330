/* Operators: the types of their operands and results (literals too), contraction to fused
 * multiply-adds, powers as products. */
#include <string.h>

#include "sema/value/value.h"

enum { MAX_POWER = 64 };

/* What a view is of has indices that were left out. */
void kj_hint_element(kj_sema *s, kj_message *m, const kj_tarray *a, const char *text)
{
    if (a->root && a->root->ndim > a->ndim)
        kj_hint(s->diag, m, "a kernel works on elements, and one of '%s' has %d indices",
                a->root->name, a->root->ndim);
    else if (a->ndim == 1 && text[strlen(text) - 1] == ']' && strchr(text, ':'))
        kj_hint(s->diag, m,
                "a kernel works on elements: for v in %s { ... } has one after the other", text);
    else
        kj_hint(s->diag, m, "a kernel works on elements: %s[%s]", text,
                a->ndim == 1 ? "i" : "i, ...");
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), len = strlen(end);
    return n > len && strcmp(text + n - len, end) == 0;
}

/* n > 0 == true is a chain, n > 0 and 0 == true: the comparison alone is meant. */
static bool write_truth(kj_sema *s, kj_message *m)
{
    const kj_expr *e = s->compares;
    if (!e || e->kind != KJ_E_CHAIN || e->u.chain.nops != 2)
        return false;
    const kj_expr *first = e->u.chain.operands, *second = first->next, *third = second->next;
    bool ends = third->kind == KJ_E_BOOL;
    const kj_expr *truth = ends ? third : first;
    kj_op op = e->u.chain.ops[ends];
    if (truth->kind != KJ_E_BOOL || (op != KJ_OP_EQ && op != KJ_OP_NE))
        return false;
    kj_span of = ends ? (kj_span){first->span.begin, second->span.end}
                      : (kj_span){second->span.begin, third->span.end};
    bool same = (op == KJ_OP_EQ) == (truth->u.integer != 0);
    kj_write(s->diag, m, e->span, same ? "%s" : "not (%s)", kj_source_text(s, of, "..."));
    return true;
}

/* b += 1: what stands before an operator that assigns, which a call of its type would not be. */
static bool is_updated(kj_sema *s, kj_span at)
{
    const char *text = s->diag->source->text + at.end;
    text += strspn(text, " ");
    size_t n = strspn(text, "+-*/%&|^<>");
    return n > 0 && text[n] == '=' && text[n + 1] != '=' && !(n == 1 && strchr("<>", *text));
}

bool kj_no_number(kj_sema *s, const kj_operand *v, const char *what)
{
    if (v->kind == KJ_V_ERROR)
        return true;
    if (kj_is_untyped(v) || (v->kind == KJ_V_SCALAR && v->u.scalar.e->type != KJ_BOOL))
        return false;
    if (v->kind == KJ_V_TUPLE && v->u.tuple.n == 0 && kj_in_type_arguments(s, v->span))
        return true;
    const char *text = kj_source_text(s, v->span, "...");
    kj_message *m = kj_sema_error(s, v->span, KJ_RULE_NOT_A_NUMBER,
                                  "%s works on numbers, not on %s", what, kj_describe(s, v));
    if (kj_hint_unbounded(s, m, "number") || write_truth(s, m))
        return true;
    if (v->kind == KJ_V_SCALAR && is_updated(s, v->span))
        kj_hint(s->diag, m, "%s is a bool: declare it with a number, or %s", text,
                "change it with 'not', 'and' and 'or'");
    else if (v->kind == KJ_V_SCALAR) {
        kj_hint(s->diag, m, "write i32(%s) for 0 or 1", text);
        if (strcmp(text, "...") != 0)
            kj_fix(s->diag, m, v->span, "i32(%s)", text);
    } else if (v->kind == KJ_V_TUPLE && ends_with(text, ".shape"))
        kj_write(s->diag, m, v->span, "%s[0]", text);
    else if (v->kind == KJ_V_TUPLE && !kj_is_aggregate(v) && !text[strcspn(text, "(.[ ,")])
        kj_hint(s->diag, m, "its parts are %s[0] to %s[%d]", text, text, v->u.tuple.n - 1);
    else if (v->kind == KJ_V_TUPLE)
        kj_hint_tuple_part(s, m, v);
    else if (v->kind == KJ_V_ARRAY)
        kj_hint_element(s, m, v->u.array, kj_operand_text(s, v->span, "..."));
    return true;
}

kj_dtype kj_wider_default(kj_dtype a, kj_dtype b)
{
    if (kj_is_float(a) || kj_is_float(b))
        return KJ_F32;
    if (b == KJ_U64 || (b == KJ_I64 && a == KJ_I32))
        return b;
    return a;
}

static kj_dtype literal_type(kj_dtype want, const kj_operand *v, int n)
{
    kj_dtype type = KJ_I32;
    bool fits = kj_is_float(want) || kj_is_int(want);
    for (int i = 0; i < n; i++) {
        type = kj_wider_default(type, kj_untyped_type(&v[i]));
        fits = fits && !kj_misfit(&v[i], want);
    }
    return fits ? want : type;
}

/* A literal that its company's type does not hold. */
static void literal_misfit(kj_sema *s, const kj_operand *v, kj_dtype type)
{
    const char *text = kj_literal_text(s, v->u.literal);
    kj_message *m =
        kj_sema_error(s, v->span, KJ_RULE_CONSTANT_RANGE,
                      "%s does not fit %s, the type it meets here", text, kj_type_name(type));
    if (kj_is_int(type))
        kj_hint(s->diag, m, "convert the other side to a wider type, or write %s(%s), which is %s",
                kj_type_name(type), kj_source_text(s, v->span, text),
                kj_literal_text(s, kj_fold_convert(v->u.literal, type)));
    else
        kj_hint(s->diag, m, "convert the other side to f64");
}

static void hint_for_one(kj_sema *s, kj_message *m, const kj_operand *own, const kj_operand *other)
{
    const char *wide = kj_widened_text(s, own->u.scalar.e, KJ_U64);
    if (!wide)
        wide = kj_arena_printf(s->diag->arena, "u64(%s)", kj_source_text(s, own->span, "..."));
    kj_hint(s->diag, m, "convert one: %s, or i64(%s) if it is below 2^63", wide,
            kj_source_text(s, other->span, "..."));
}

/* The common type of the operands that are no literals, KJ_VOID where there are none. That of floats
 * first: it takes every integer, and of these not each two have one. */
static bool common_type(kj_sema *s, const kj_operand *v, int n, kj_span span, const char *what,
                        kj_dtype *type)
{
    *type = KJ_VOID;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++) {
            if (kj_is_untyped(&v[i]) || kj_is_float(v[i].u.scalar.e->type) != (pass == 0))
                continue;
            kj_dtype own = v[i].u.scalar.e->type,
                     both = *type == KJ_VOID ? own : kj_common_type(*type, own);
            if (both == KJ_VOID) {
                kj_message *m = kj_sema_error(s, span, KJ_RULE_TYPE_MISMATCH,
                                              "%s has no common type for %s and %s", what,
                                              kj_type_name(*type), kj_type_name(own));
                if (*type != KJ_BOOL && own != KJ_BOOL)
                    hint_for_one(s, m, &v[kj_is_signed(own) ? i : 0],
                                 &v[kj_is_signed(own) ? 0 : i]);
                return false;
            }
            *type = both;
        }
    return true;
}

/* Of a guess at the types of variables, where an operand that is too narrow for a literal may be wider
 * in the end. */
static kj_dtype type_of_guess(const kj_operand *v, int n, kj_dtype type)
{
    for (int i = 0; i < n && type != KJ_VOID; i++) {
        const kj_operand *misfit = kj_is_untyped(&v[i]) ? kj_misfit(&v[i], type) : NULL;
        if (misfit)
            type = kj_common_type(type, kj_default_type(misfit->u.literal));
    }
    return type;
}

bool kj_unify(kj_sema *s, kj_operand *v, int n, kj_dtype want, kj_span span, const char *what)
{
    kj_dtype type;
    bool real = false;
    if (!common_type(s, v, n, span, what, &type))
        return false;
    for (int i = 0; i < n; i++)
        real |= kj_is_untyped(&v[i]) && kj_is_float(kj_untyped_type(&v[i]));
    if (type == KJ_VOID)
        type = literal_type(want, v, n);
    if (real && kj_is_int(type))
        type = KJ_F32;
    if (kj_is_guessing(s))
        type = type_of_guess(v, n, type);
    for (int i = 0; i < n; i++) {
        if (v[i].kind == KJ_V_SCALAR && v[i].u.scalar.e->type == type)
            continue;
        const kj_operand *misfit = kj_is_untyped(&v[i]) ? kj_misfit(&v[i], type) : NULL;
        if (misfit) {
            literal_misfit(s, misfit, type);
            return false;
        }
        kj_texpr *e = v[i].kind == KJ_V_SCALAR ? kj_te_convert(s, v[i].u.scalar.e, type, v[i].span)
                                               : kj_coerce(s, v[i], type, what);
        if (!e)
            return false;
        v[i] = kj_scalar(e);
    }
    return true;
}

/* ---- Sums, products and fused multiply-adds ---- */

static kj_texpr *fma_node(kj_sema *s, kj_texpr *a, kj_texpr *b, kj_texpr *c, bool sum_first,
                          kj_span span)
{
    if (kj_is_const(a) && kj_is_const(b) && kj_is_const(c)) {
        kj_value args[3] = {a->u.value, b->u.value, c->u.value}, v;
        if (kj_fold_builtin(KJ_BI_FMA, 0, args, 3, &v)) {
            kj_texpr *e = kj_te_const(s, v, span);
            e->written = a->written || b->written || c->written;
            return e;
        }
    }
    kj_texpr *e = kj_te(s, KJ_TE_FMA, a->type, span);
    e->u.fma.a = a;
    e->u.fma.b = b;
    e->u.fma.c = c;
    e->u.fma.sum_first = sum_first;
    return e;
}

/* a*b + c and its kin; NULL when neither side is a product written here. With two, the left one
 * is fused. */
static kj_texpr *contract(kj_sema *s, kj_op op, const kj_operand *x, const kj_operand *y,
                          kj_span span)
{
    bool minus = op == KJ_OP_SUB;
    if ((op != KJ_OP_ADD && !minus) || (s->spec ? s->spec->no_contract : s->no_contract))
        return NULL;
    if (x->u.scalar.a) {
        kj_texpr *c = minus ? kj_te_unary(s, KJ_OP_NEG, y->u.scalar.e, y->span) : y->u.scalar.e;
        return fma_node(s, x->u.scalar.a, x->u.scalar.b, c, false, span);
    }
    if (y->u.scalar.a) {
        kj_texpr *a = minus ? kj_te_unary(s, KJ_OP_NEG, y->u.scalar.a, y->span) : y->u.scalar.a;
        return fma_node(s, a, y->u.scalar.b, x->u.scalar.e, true, span);
    }
    return NULL;
}

static bool is_bool(const kj_operand *v)
{
    return v->kind == KJ_V_SCALAR && v->u.scalar.e->type == KJ_BOOL;
}

static kj_operand arithmetic(kj_sema *s, kj_op op, kj_operand *v, kj_span span)
{
    const char *what = kj_arena_printf(s->diag->arena, "'%s'", kj_ops[op].spelling);
    if (kj_no_number(s, &v[0], what) || kj_no_number(s, &v[1], what))
        return kj_no_value(span);
    bool open = v[0].open || v[1].open, floats[2];
    for (int i = 0; i < 2; i++)
        floats[i] =
            kj_is_float(v[i].kind == KJ_V_SCALAR ? v[i].u.scalar.e->type : kj_untyped_type(&v[i]));
    if (!kj_unify(s, v, 2, KJ_VOID, span, what))
        return kj_no_value(span);
    kj_texpr *a = v[0].u.scalar.e, *b = v[1].u.scalar.e;
    bool real = kj_is_float(a->type);
    if (op == KJ_OP_DIV && !real &&
        open) /* a variable that turns out to be a float, of some kind */
        return kj_open_literal(true, span);
    if (op == KJ_OP_DIV && !real)
        return kj_refuse_quotient(s, v, span);
    if (kj_ops[op].class == KJ_OPS_BITS && real) {
        kj_hint_power(s,
                      kj_sema_error(s, span, KJ_RULE_TYPE_MISMATCH,
                                    "'%s' works on integers, not on %s", kj_ops[op].spelling,
                                    kj_type_name(a->type)),
                      op, v, floats);
        return kj_no_value(span);
    }
    kj_texpr *fused = real ? contract(s, op, &v[0], &v[1], span) : NULL;
    if (fused)
        return kj_scalar(fused);
    kj_operand result = kj_scalar(kj_te_binary(s, op, a, b, span));
    if (op == KJ_OP_MUL && real) {
        result.u.scalar.a = a;
        result.u.scalar.b = b;
    }
    return result;
}

/* ---- ** ---- */

static kj_operand as_products(kj_sema *s, kj_operand x, int n, kj_span span)
{
    x = kj_settle(s, x);
    if (x.kind != KJ_V_SCALAR)
        return kj_no_value(span);
    kj_dtype type = x.u.scalar.e->type;
    kj_texpr *product = NULL, *square = n ? kj_hold(s, x.u.scalar.e, "base") : NULL;
    for (; n; n >>= 1) {
        if (n & 1)
            product = product ? kj_te_binary(s, KJ_OP_MUL, product, square, span) : square;
        if (n > 1)
            square = kj_hold(s, kj_te_binary(s, KJ_OP_MUL, square, square, span), "square");
    }
    if (!product) {
        kj_keep_effects(s, &x);
        product = kj_te_const(s, kj_fold_convert(kj_int(KJ_I32, 1), type), span);
    }
    return kj_scalar(product);
}

static kj_operand power(kj_sema *s, kj_operand *v, kj_span span)
{
    if (kj_no_number(s, &v[0], "'**'") || kj_no_number(s, &v[1], "'**'"))
        return kj_no_value(span);
    if (v[1].kind == KJ_V_LITERAL && !kj_is_float(v[1].u.literal.type) &&
        v[1].u.literal.u <= MAX_POWER)
        return as_products(s, v[0], (int)v[1].u.literal.i, span);
    if (v[1].kind == KJ_V_SCALAR && kj_is_const(v[1].u.scalar.e) &&
        kj_is_int(v[1].u.scalar.e->type) && v[1].u.scalar.e->u.value.u <= MAX_POWER)
        return as_products(s, v[0], (int)v[1].u.scalar.e->u.value.i, span);
    if (!kj_unify(s, v, 2, KJ_VOID, span, "'**'"))
        return kj_no_value(span);
    kj_texpr *args[2] = {v[0].u.scalar.e, v[1].u.scalar.e};
    if (!kj_is_float(args[0]->type)) {
        kj_message *m =
            kj_sema_error(s, span, KJ_RULE_INTEGER_POWER,
                          "'**' on integers needs a constant exponent from 0 to %d", MAX_POWER);
        const char *type = kj_type_name(kj_is_float(s->meant) ? s->meant : KJ_F64);
        kj_span sign = kj_between(s, v[0].span, v[1].span, "**");
        const char *target = kj_source_text(s, v[0].span, "...");
        if (sign.end > sign.begin && s->diag->source->text[sign.end] == '=' &&
            !strchr(target, '(')) {
            kj_write(s->diag, m, span, "%s = %s(%s(%s) ** %s)", target, kj_type_name(args[0]->type),
                     kj_type_name(KJ_F64), target, kj_operand_text(s, v[1].span, "..."));
            return kj_no_value(span);
        }
        kj_hint(s->diag, m, "write %s(%s) ** %s, or a shift for powers of two", type,
                kj_source_text(s, v[0].span, "..."), kj_operand_text(s, v[1].span, "..."));
        if (kj_is_float(s->meant))
            kj_fix(s->diag, m, v[0].span, "%s(%s)", type, kj_source_text(s, v[0].span, "..."));
        return kj_no_value(span);
    }
    return kj_scalar(kj_te_call(s, KJ_BI_POW, args, 2, args[0]->type, span));
}

/* ---- Shifts, comparisons, tuples ---- */

/* The count in the type of what is shifted. One that the type might not hold is as good as its width. */
static kj_texpr *shift_count(kj_sema *s, const kj_operand *v, kj_dtype type)
{
    static const kj_dtype naturals[] = {[KJ_I16] = KJ_U16, [KJ_I32] = KJ_U32, [KJ_I64] = KJ_U64};
    int bits = kj_types[type].bits;
    kj_value width = {.type = KJ_U64, .u = (uint64_t)bits};
    if (v->kind != KJ_V_SCALAR) {
        kj_value n = v->u.literal;
        return kj_te_const(s, kj_fold_convert(n.u < width.u ? n : width, type), v->span);
    }
    kj_texpr *n = v->u.scalar.e;
    if (kj_types[n->type].bits > bits) {
        kj_dtype natural = kj_is_signed(n->type) ? naturals[n->type] : n->type;
        kj_texpr *args[2] = {kj_te_convert(s, n, natural, v->span),
                             kj_te_const(s, kj_fold_convert(width, natural), v->span)};
        n = kj_te_call(s, KJ_BI_MIN, args, 2, natural, v->span);
    }
    return kj_te_convert(s, n, type, v->span);
}

static kj_operand shift(kj_sema *s, kj_op op, kj_operand *v, kj_span span)
{
    const char *what = kj_arena_printf(s->diag->arena, "'%s'", kj_ops[op].spelling);
    if (kj_no_number(s, &v[0], what) || kj_no_number(s, &v[1], what))
        return kj_no_value(span);
    kj_dtype type[2];
    for (int i = 0; i < 2; i++) {
        type[i] = v[i].kind == KJ_V_SCALAR ? v[i].u.scalar.e->type : kj_untyped_type(&v[i]);
        if (kj_is_float(type[i])) {
            kj_sema_error(s, v[i].span, KJ_RULE_TYPE_MISMATCH, "'%s' works on integers, not on %s",
                          kj_ops[op].spelling, kj_describe(s, &v[i]));
            return kj_no_value(span);
        }
    }
    if (v[0].open)
        return v[0];
    if (kj_is_untyped(&v[0]))
        v[0] = kj_scalar(kj_coerce(s, v[0], type[1], "the shifted number"));
    if (v[1].kind == KJ_V_CHOICE)
        v[1] = kj_settle(s, v[1]);
    if (v[0].kind == KJ_V_ERROR || v[1].kind == KJ_V_ERROR)
        return kj_no_value(span);
    kj_texpr *a = v[0].u.scalar.e;
    return kj_scalar(kj_te_binary(s, op, a, shift_count(s, &v[1], a->type), span));
}

/* With what one item's comparison gives, a bool or, of values of several parts, a bool a part: `all` so far,
 * or NULL. */
static kj_texpr *also_equal(kj_sema *s, kj_op op, kj_texpr *all, const kj_operand *one,
                            kj_span span)
{
    if (one->kind == KJ_V_TUPLE) {
        for (int i = 0; i < one->u.tuple.n; i++)
            all = also_equal(s, op, all, &one->u.tuple.items[i], span);
        return all;
    }
    kj_texpr *same = one->u.scalar.e;
    if (!all)
        return same;
    if (!kj_is_missed(same)) /* `and` leaves out items that do not decide */
        return kj_te_logic(s, op == KJ_OP_NE, all, same, span);
    return kj_te_binary(s, op == KJ_OP_NE ? KJ_OP_OR : KJ_OP_AND, all, same, span);
}

static kj_operand tuple_equality(kj_sema *s, kj_op op, const kj_operand *a, const kj_operand *b,
                                 kj_span span)
{
    if (a->kind != b->kind || a->u.tuple.n != b->u.tuple.n) {
        kj_sema_error(s, span, KJ_RULE_TUPLE_ARITY, "%s is compared with %s", kj_describe(s, a),
                      kj_describe(s, b));
        return kj_no_value(span);
    }
    kj_texpr *all = NULL;
    /* all is evaluated, though the first that differs decides */
    bool effects = kj_operand_has_effect(s, a) || kj_operand_has_effect(s, b);
    kj_operand x = effects ? kj_hold_value(s, *a, "left") : *a,
               y = effects ? kj_hold_value(s, *b, "right") : *b;
    for (int i = 0; i < x.u.tuple.n; i++) {
        kj_operand one = kj_binary(s, op, x.u.tuple.items[i], y.u.tuple.items[i], span);
        if (one.kind == KJ_V_ERROR)
            return one;
        all = also_equal(s, op, all, &one, span);
    }
    return kj_scalar(all ? all : kj_te_bool(s, op == KJ_OP_EQ, span));
}

static bool is_number(const kj_operand *v)
{
    return kj_is_untyped(v) || (v->kind == KJ_V_SCALAR && v->u.scalar.e->type != KJ_BOOL);
}

/* n == true, b == 1 */
static kj_operand refuse_mixed(kj_sema *s, kj_op op, const kj_operand *v, kj_span span)
{
    const kj_operand *truth = &v[!is_bool(&v[0])], *number = &v[is_bool(&v[0])];
    const kj_texpr *known = truth->u.scalar.e;
    kj_message *m = kj_sema_error(
        s, span, KJ_RULE_NOT_A_NUMBER, "'%s' compares two numbers or two bools, not %s and %s",
        kj_ops[op].spelling, kj_describe(s, &v[0]), kj_describe(s, &v[1]));
    bool literal = number->kind == KJ_V_LITERAL && !kj_is_float(number->u.literal.type) &&
                   number->u.literal.u <= 1;
    if (kj_hint_unbounded(s, m, "number") || write_truth(s, m))
        return kj_no_value(span);
    if (kj_is_const(known))
        kj_write(s->diag, m, span, "%s %s 0", kj_operand_text(s, number->span, "..."),
                 (known->u.value.u != 0) == (op == KJ_OP_EQ) ? "!=" : "==");
    else if (literal)
        kj_write(s->diag, m, span,
                 (number->u.literal.u != 0) == (op == KJ_OP_EQ) ? "%s" : "(not %s)",
                 kj_operand_text(s, truth->span, "..."));
    else {
        kj_hint(s->diag, m, "write i32(%s) for 0 or 1", kj_source_text(s, truth->span, "..."));
        kj_fix(s->diag, m, truth->span, "i32(%s)", kj_source_text(s, truth->span, "..."));
    }
    return kj_no_value(span);
}

static kj_operand comparison(kj_sema *s, kj_op op, kj_operand *v, kj_span span)
{
    bool equality = op == KJ_OP_EQ || op == KJ_OP_NE;
    if (equality && (v[0].kind == KJ_V_TUPLE || v[1].kind == KJ_V_TUPLE))
        return tuple_equality(s, op, &v[0], &v[1], span);
    if (equality && is_bool(&v[0]) && is_bool(&v[1]))
        return kj_scalar(kj_te_binary(s, op, v[0].u.scalar.e, v[1].u.scalar.e, span));
    const char *what = kj_arena_printf(s->diag->arena, "'%s'", kj_ops[op].spelling);
    bool mixed = is_bool(&v[0]) != is_bool(&v[1]) && is_number(&v[is_bool(&v[0])]);
    if (equality && mixed)
        return refuse_mixed(s, op, v, span);
    if (kj_no_number(s, &v[0], what) || kj_no_number(s, &v[1], what) ||
        !kj_unify(s, v, 2, KJ_VOID, span, what))
        return kj_no_value(span);
    return kj_scalar(kj_te_binary(s, op, v[0].u.scalar.e, v[1].u.scalar.e, span));
}

/* A choice beside a value of several parts is one number for all of them. */
static void settle_for_parts(kj_sema *s, kj_operand *v, const kj_operand *beside)
{
    if (kj_is_aggregate(beside))
        *v = kj_settle_as(s, *v, beside->u.tuple.of->elem);
}

kj_operand kj_binary(kj_sema *s, kj_op op, kj_operand a, kj_operand b, kj_span span)
{
    kj_operand v[2] = {a, b};
    kj_op_class class = kj_ops[op].class;
    if (a.kind == KJ_V_ERROR || b.kind == KJ_V_ERROR)
        return kj_no_value(span);
    if (class == KJ_OPS_ARRAYS) {
        kj_sema_error(s, span, KJ_RULE_OPERATOR, "'%s' multiplies whole arrays, in a run block",
                      kj_ops[op].spelling);
        return kj_no_value(span);
    }
    if (a.kind == KJ_V_LITERAL && b.kind == KJ_V_LITERAL)
        return kj_literal_binary(s, op, a, b, span);
    if (kj_is_untyped(&a) && kj_is_untyped(&b))
        return kj_choice_binary(s, op, a, b, span);
    settle_for_parts(s, &a, &b);
    settle_for_parts(s, &b, &a);
    if (kj_is_complex(&a) || kj_is_complex(&b))
        return kj_complex_binary(s, op, a, b, span);
    if (kj_is_aggregate(&a) || kj_is_aggregate(&b))
        return kj_aggregate_binary(s, op, a, b, span);
    if (class == KJ_OPS_COMPARE)
        return comparison(s, op, v, span);
    if (class == KJ_OPS_SHIFT)
        return shift(s, op, v, span);
    if (op == KJ_OP_POW)
        return power(s, v, span);
    if (class == KJ_OPS_BITS && is_bool(&a) && is_bool(&b))
        return kj_scalar(kj_te_binary(s, op, a.u.scalar.e, b.u.scalar.e, span));
    return arithmetic(s, op, v, span);
}

/* ~a of bools; `not` takes more along than ~ does. */
static void hint_not(kj_sema *s, kj_message *m, kj_span operand, kj_span all)
{
    const kj_source *source = s->diag->source;
    const char *text =
        kj_arena_printf(s->arena, kj_not_is_joined(source, all) ? "(not %s)" : "not %s",
                        kj_operand_text(s, operand, "..."));
    bool word = all.begin > 0 && kj_is_word(source->text[all.begin - 1]); /* return~a */
    kj_hint(s->diag, m, "write %s", text);
    kj_fix(s->diag, m, all, "%s%s", word ? " " : "", text);
}

kj_operand kj_unary(kj_sema *s, kj_op op, kj_operand a, kj_span span)
{
    if (a.kind == KJ_V_ERROR)
        return a;
    if (op == KJ_OP_NOT) {
        kj_texpr *e = kj_condition(s, a, "the operand of 'not'");
        return e ? kj_scalar(kj_te_unary(s, op, e, span)) : kj_no_value(span);
    }
    if (a.kind == KJ_V_LITERAL)
        return kj_literal_unary(s, op, a, span);
    if (a.kind == KJ_V_CHOICE)
        return kj_choice_unary(s, op, &a, span);
    if (kj_is_aggregate(&a))
        return kj_aggregate_unary(s, op, a, span);
    if (op == KJ_OP_INVERT && is_bool(&a)) {
        kj_message *m =
            kj_sema_error(s, span, KJ_RULE_NOT_A_NUMBER, "'~' works on integers, not on bool");
        hint_not(s, m, a.span, span);
        return kj_no_value(span);
    }
    if (kj_no_number(s, &a, kj_arena_printf(s->arena, "'%s'", kj_ops[op].spelling)))
        return kj_no_value(span);
    if (op == KJ_OP_PLUS)
        return kj_scalar(a.u.scalar.e);
    if (op == KJ_OP_INVERT && kj_is_float(a.u.scalar.e->type)) {
        kj_sema_error(s, span, KJ_RULE_TYPE_MISMATCH, "'~' works on integers, not on %s",
                      kj_describe(s, &a));
        return kj_no_value(span);
    }
    return kj_scalar(kj_te_unary(s, op, a.u.scalar.e, span));
}
