/* x.view(u32): the bits of a value, or the memory of an array, as another type of the same width. */
#include <string.h>

#include "sema/body/body.h"

static bool is_plain(kj_dtype t)
{
    return kj_is_scalar(t) && t != KJ_BOOL;
}

static kj_operand refuse(kj_sema *s, kj_span at, const kj_operand *v, kj_dtype to)
{
    kj_message *m = kj_sema_error(s, at, KJ_RULE_TYPE_MISMATCH, "%s has no view as %s",
                                  kj_describe(s, v), kj_sema_type_name(s, to));
    kj_hint(s->diag, m, "a view has as many bits: of f32 as i32 or u32, of f64 as i64 or u64");
    return kj_no_value(at);
}

static kj_operand view_array(kj_sema *s, const kj_operand *v, kj_dtype to, kj_span span)
{
    const kj_tarray *a = v->u.array;
    const kj_aggregate *of = kj_sema_aggregate(s, to);
    bool numbers = !a->of && !of && is_plain(a->elem) && is_plain(to);
    bool vectors = a->of && of && a->of->kind == KJ_VECTOR && of->kind == KJ_VECTOR &&
                   a->of->n == of->n && a->of->align == of->align;
    kj_dtype elem = of ? of->elem : to;
    if ((!numbers && !vectors) ||
        kj_types[a->of ? a->of->elem : a->elem].bits != kj_types[elem].bits)
        return refuse(s, span, v, to);
    kj_tarray *view = KJ_NEW(s->arena, kj_tarray);
    *view = *a;
    view->elem = to;
    view->of = of;
    view->id = view->param = -1;
    view->span = span;
    return (kj_operand){.kind = KJ_V_ARRAY, .span = span, .u.array = view};
}

static kj_operand view_vector(kj_sema *s, const kj_operand *v, kj_dtype to, kj_span span)
{
    const kj_aggregate *from = v->u.tuple.of, *of = kj_sema_aggregate(s, to);
    if (!from || from->kind != KJ_VECTOR || !of || of->kind != KJ_VECTOR || of->n != from->n ||
        kj_types[of->elem].bits != kj_types[from->elem].bits)
        return refuse(s, span, v, to);
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)of->n);
    for (int i = 0; i < of->n; i++)
        items[i] = kj_scalar(kj_te_bits(s, v->u.tuple.items[i].u.scalar.e, of->elem, span));
    return kj_tuple(items, of->n, of, span);
}

bool kj_is_view_call(kj_sema *s, const kj_expr *e)
{
    const kj_expr *callee = e->u.call.callee;
    return callee->kind == KJ_E_MEMBER && strcmp(callee->u.member.name, "view") == 0 &&
           !kj_named(s, callee);
}

kj_operand kj_view_call(kj_sema *s, const kj_expr *e)
{
    const kj_expr *base = e->u.call.callee->u.member.base, *arg = e->u.call.args;
    kj_operand v = kj_expr_value(s, base, KJ_VOID);
    if (!arg || arg->next)
        return kj_arity_error(s, e, "view", "(u32)", 1, 1);
    kj_dtype to = kj_dtype_argument(s, arg);
    if (v.kind == KJ_V_ERROR || to == KJ_VOID)
        return kj_no_value(e->span);
    if (v.kind == KJ_V_ARRAY)
        return view_array(s, &v, to, e->span);
    if (kj_is_untyped(&v)) {
        kj_message *m =
            kj_sema_error(s, v.span, KJ_RULE_TYPE_MISMATCH, "a literal has no bits of its own");
        kj_hint(s->diag, m, "give it a type: f32(%s).view(%s)", kj_source_text(s, v.span, "1.5"),
                kj_sema_type_name(s, to));
        return kj_no_value(e->span);
    }
    if (v.kind == KJ_V_TUPLE)
        return view_vector(s, &v, to, e->span);
    kj_texpr *x = v.kind == KJ_V_SCALAR ? v.u.scalar.e : NULL;
    if (!x || !is_plain(x->type) || !is_plain(to) || kj_types[x->type].bits != kj_types[to].bits)
        return refuse(s, e->span, &v, to);
    return kj_scalar(kj_te_bits(s, x, to, e->span));
}
