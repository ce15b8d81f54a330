/* Untyped choices: of `0.1 if c else 0.2` each arm is a literal, and so is the whole, until it meets a
 * type. Operators and exact built-in functions work on the arms. */
#include "sema/value/value.h"

enum { MAX_LEAVES = 64 }; /* a choice of more literals takes its type at once */

kj_dtype kj_untyped_type(const kj_operand *v)
{
    if (v->kind == KJ_V_LITERAL)
        return kj_default_type(v->u.literal);
    kj_dtype a = kj_untyped_type(&v->u.choice.arms[0]), b = kj_untyped_type(&v->u.choice.arms[1]);
    return kj_wider_default(a, b);
}

const kj_operand *kj_misfit(const kj_operand *v, kj_dtype type)
{
    if (v->kind == KJ_V_LITERAL) {
        bool fits = (kj_is_float(type) || !kj_is_float(v->u.literal.type)) &&
                    kj_value_fits(v->u.literal, type);
        return fits ? NULL : v;
    }
    const kj_operand *first = kj_misfit(&v->u.choice.arms[0], type);
    return first ? first : kj_misfit(&v->u.choice.arms[1], type);
}

/* Literals beside a float are floats. */
static kj_operand as_floats(kj_sema *s, kj_operand v)
{
    if (v.kind == KJ_V_LITERAL) {
        v.u.literal = kj_fold_convert(v.u.literal, KJ_F64);
        return v;
    }
    const kj_operand *arms = v.u.choice.arms;
    v.u.choice.arms = KJ_NEW_ARRAY(s->arena, kj_operand, 2);
    for (int i = 0; i < 2; i++)
        v.u.choice.arms[i] = as_floats(s, arms[i]);
    return v;
}

kj_operand kj_conditional(kj_sema *s, kj_texpr *test, kj_operand yes, kj_operand no, kj_dtype want,
                          kj_span span)
{
    kj_operand v[2] = {yes, no};
    bool untyped = kj_is_untyped(&yes) && kj_is_untyped(&no);
    if (untyped && kj_is_float(kj_untyped_type(&yes)) != kj_is_float(kj_untyped_type(&no))) {
        yes = as_floats(s, yes);
        no = as_floats(s, no);
    }
    if (untyped && kj_is_const(test))
        return test->u.value.u ? yes : no;
    if (untyped && kj_choice_leaves(&yes) + kj_choice_leaves(&no) <= MAX_LEAVES) {
        kj_operand choice = {.kind = KJ_V_CHOICE, .span = span};
        choice.u.choice.test = test;
        choice.u.choice.arms = KJ_NEW_ARRAY(s->arena, kj_operand, 2);
        choice.u.choice.arms[0] = yes;
        choice.u.choice.arms[1] = no;
        return choice;
    }
    bool bools = kj_type_of(&yes) == KJ_BOOL && kj_type_of(&no) == KJ_BOOL;
    if (!bools && (kj_no_number(s, &v[0], "a choice with a number") ||
                   kj_no_number(s, &v[1], "a choice with a number") ||
                   !kj_unify(s, v, 2, want, span, "a conditional expression")))
        return kj_no_value(span);
    return kj_scalar(kj_te_select(s, test, v[0].u.scalar.e, v[1].u.scalar.e, span));
}

kj_texpr *kj_convert_untyped(kj_sema *s, const kj_operand *v, kj_dtype to)
{
    if (v->kind == KJ_V_LITERAL)
        return kj_te_const(s, kj_fold_convert(v->u.literal, to), v->span);
    kj_texpr *yes = kj_convert_untyped(s, &v->u.choice.arms[0], to);
    kj_texpr *no = kj_convert_untyped(s, &v->u.choice.arms[1], to);
    return kj_te_select(s, v->u.choice.test, yes, no, v->span);
}

kj_texpr *kj_coerce_choice(kj_sema *s, const kj_operand *v, kj_dtype to, const char *what)
{
    kj_texpr *yes = kj_coerce(s, v->u.choice.arms[0], to, what);
    kj_texpr *no = kj_coerce(s, v->u.choice.arms[1], to, what);
    return yes && no ? kj_te_select(s, v->u.choice.test, yes, no, v->span) : NULL;
}

kj_operand kj_settle_as(kj_sema *s, kj_operand v, kj_dtype type)
{
    if (v.kind != KJ_V_CHOICE)
        return v;
    bool fits = (kj_is_float(type) || kj_is_int(type)) && !kj_misfit(&v, type);
    return fits ? kj_scalar(kj_coerce(s, v, type, "this")) : kj_settle(s, v);
}

kj_operand kj_hold_choice(kj_sema *s, kj_operand v)
{
    if (v.kind != KJ_V_CHOICE)
        return v;
    return kj_choice_of(s, v, kj_hold(s, kj_choice_number(s, &v), "choice"));
}

kj_operand kj_choice_binary(kj_sema *s, kj_op op, kj_operand a, kj_operand b, kj_span span)
{
    bool left = a.kind == KJ_V_CHOICE;
    if (left && b.kind == KJ_V_CHOICE) { /* the conditions of b will stand in each arm of a */
        a = kj_hold_choice(s, a);
        b = kj_hold_choice(s, b);
    }
    const kj_operand *arms = left ? a.u.choice.arms : b.u.choice.arms;
    kj_operand out[2];
    for (int i = 0; i < 2; i++) {
        out[i] = left ? kj_binary(s, op, arms[i], b, span) : kj_binary(s, op, a, arms[i], span);
        if (out[i].kind == KJ_V_ERROR)
            return out[i];
    }
    return kj_conditional(s, left ? a.u.choice.test : b.u.choice.test, out[0], out[1], KJ_VOID,
                          span);
}

kj_operand kj_choice_unary(kj_sema *s, kj_op op, const kj_operand *a, kj_span span)
{
    kj_operand out[2];
    for (int i = 0; i < 2; i++) {
        out[i] = kj_unary(s, op, a->u.choice.arms[i], span);
        if (out[i].kind == KJ_V_ERROR)
            return out[i];
    }
    return kj_conditional(s, a->u.choice.test, out[0], out[1], KJ_VOID, span);
}
