/* For whom operators compute: kj_sema.meant, by which a message about `/` or `**` of integers knows whether its fix would
 * compute what was meant. In: expressions and what they are for; out: what is meant within. */
#include "sema/body/body.h"

static bool is_float_name(kj_sema *s, const kj_expr *e)
{
    while (e->kind == KJ_E_INDEX || e->kind == KJ_E_MEMBER)
        e = e->kind == KJ_E_INDEX ? e->u.index.base : e->u.member.base;
    const kj_symbol *sym = e->kind == KJ_E_NAME ? kj_scope_find(s->scope, e->u.name) : NULL;
    const kj_operand *v = sym ? &sym->value : NULL;
    if (!v || sym->kind != KJ_SYM_VALUE)
        return false;
    return kj_is_float(v->kind == KJ_V_ARRAY ? v->u.array->elem : kj_type_of(v));
}

/* Nobody knows of a call, but for conversions to integers. */
bool kj_has_floats(kj_sema *s, const kj_expr *e)
{
    const kj_symbol *callee = e->kind == KJ_E_CALL ? kj_named(s, e->u.call.callee) : NULL;
    switch (e->kind) {
    case KJ_E_INT: return false;
    case KJ_E_FLOAT: return true;
    case KJ_E_UNARY: return kj_has_floats(s, e->u.unary.arg);
    case KJ_E_BINARY: return kj_has_floats(s, e->u.binary.lhs) || kj_has_floats(s, e->u.binary.rhs);
    case KJ_E_COND: return kj_has_floats(s, e->u.cond.yes) || kj_has_floats(s, e->u.cond.no);
    case KJ_E_NAME:
    case KJ_E_INDEX:
    case KJ_E_MEMBER: return is_float_name(s, e);
    default: return !callee || callee->kind != KJ_SYM_TYPE || !kj_is_int(callee->type);
    }
}

kj_dtype kj_meant_within(const kj_sema *s, const kj_expr *e, kj_dtype want)
{
    bool compares = e->kind == KJ_E_BINARY && kj_ops[e->u.binary.op].class == KJ_OPS_COMPARE;
    bool operates = e->kind == KJ_E_BINARY || e->kind == KJ_E_UNARY || e->kind == KJ_E_COND;
    if (!operates || compares)
        return KJ_VOID;
    return kj_is_float(want) ? want : want == KJ_VOID || kj_is_int(want) ? s->meant : KJ_VOID;
}
