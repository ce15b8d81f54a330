/* Untyped choices as operands: `0.1 if c else 0.2`, whose arms are literals or choices. */
#include "base/guard.h"
#include "sema/node/node.h"

bool kj_is_untyped(const kj_operand *v)
{
    return v->kind == KJ_V_LITERAL || v->kind == KJ_V_CHOICE;
}

int kj_choice_leaves(const kj_operand *v)
{
    return v->kind == KJ_V_CHOICE
               ? kj_choice_leaves(&v->u.choice.arms[0]) + kj_choice_leaves(&v->u.choice.arms[1])
               : 1;
}

bool kj_is_simple_choice(const kj_operand *v)
{
    return v->kind == KJ_V_CHOICE && kj_choice_leaves(v) == 2;
}

/* The number of the literal that is chosen, of those from *next on. */
static kj_texpr *number(kj_sema *s, const kj_operand *v, int *next)
{
    if (v->kind != KJ_V_CHOICE)
        return kj_te_const(s, kj_int(KJ_I32, (*next)++), v->span);
    kj_texpr *yes = number(s, &v->u.choice.arms[0], next);
    kj_texpr *no = number(s, &v->u.choice.arms[1], next);
    return kj_te_select(s, v->u.choice.test, yes, no, v->span);
}

kj_texpr *kj_choice_number(kj_sema *s, const kj_operand *v)
{
    return kj_is_simple_choice(v) ? v->u.choice.test : number(s, v, &(int){0});
}

static kj_operand rebuilt(kj_sema *s, const kj_operand *v, kj_texpr *which, int *next)
{
    if (v->kind != KJ_V_CHOICE) {
        ++*next;
        return *v;
    }
    kj_operand out = *v;
    out.u.choice.arms = KJ_NEW_ARRAY(s->arena, kj_operand, 2);
    out.u.choice.arms[0] = rebuilt(s, &v->u.choice.arms[0], which, next);
    kj_texpr *first_no = kj_te_const(s, kj_int(KJ_I32, *next), v->span);
    out.u.choice.test = kj_te_binary(s, KJ_OP_LT, which, first_no, v->span);
    out.u.choice.arms[1] = rebuilt(s, &v->u.choice.arms[1], which, next);
    return out;
}

kj_operand kj_choice_of(kj_sema *s, kj_operand v, kj_texpr *number)
{
    KJ_REQUIRE(number->kind == KJ_TE_VAR || kj_is_leaf(number) ||
               kj_is_simple_choice(&v)); /* it is used again and again */
    if (!kj_is_simple_choice(&v))
        return rebuilt(s, &v, number, &(int){0});
    v.u.choice.test = number;
    return v;
}
