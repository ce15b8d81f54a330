/* Parameters: arrays are roots whose shapes and strides the launch gives, numbers that the body assigns
 * are variables of its own. */
#include "sema/body/body.h"

static kj_texpr *dim(kj_sema *s, kj_tarray *a, int axis, bool stride)
{
    kj_texpr *e = kj_te(s, KJ_TE_DIM, KJ_I64, a->span);
    e->u.dim.array = a;
    e->u.dim.axis = axis;
    e->u.dim.stride = stride;
    return e;
}

/* The stride from one element to the next. */
static kj_texpr *unit_stride(kj_sema *s, const kj_tarray *a)
{
    return kj_te_i64(s, kj_elem_size(a) / kj_unit(a), a->span);
}

/* The stride along `axis` when axis `unit` is dense and `next` is the one beside it. */
static kj_texpr *dense_stride(kj_sema *s, kj_tarray *a, int axis, int unit, int next)
{
    if (axis == unit)
        return unit_stride(s, a);
    return axis == next ? kj_i64_mul(s, a->shape[unit], unit_stride(s, a), a->span)
                        : dim(s, a, axis, true);
}

kj_tarray *kj_param_array(kj_sema *s, const char *name, kj_span span, const kj_type *t,
                          kj_layout layout, int param)
{
    kj_tarray made = {.name = name,
                      .span = span,
                      .elem = t->dtype,
                      .of = t->of,
                      .ndim = t->ndim,
                      .space = KJ_GLOBAL,
                      .layout = layout,
                      .param = param};
    kj_tarray *a = kj_new_root(s, &made);
    for (int i = 0; i < t->ndim; i++)
        a->shape[i] = dim(s, a, i, false);
    for (int i = 0; i < t->ndim; i++) {
        if (layout == KJ_LAYOUT_C)
            a->stride[i] = dense_stride(s, a, i, t->ndim - 1, t->ndim - 2);
        else if (layout == KJ_LAYOUT_F)
            a->stride[i] = dense_stride(s, a, i, 0, 1);
        else if (layout == KJ_LAYOUT_ROWS && i == t->ndim - 1)
            a->stride[i] = unit_stride(s, a);
        else
            a->stride[i] = dim(s, a, i, true);
    }
    return a;
}

/* ---- Assigned ---- */

static bool begins_with(const kj_expr *target, const char *name)
{
    while (target->kind == KJ_E_MEMBER || target->kind == KJ_E_INDEX)
        target = target->kind == KJ_E_MEMBER ? target->u.member.base : target->u.index.base;
    return target->kind == KJ_E_NAME && target->u.name == name;
}

/* Is the name, or a part of what it stands for, assigned? A variable of the same name counts too. */
static bool assigns(const kj_stmt *st, const char *name)
{
    for (; st; st = st->next) {
        const kj_expr *target = st->kind == KJ_S_ASSIGN ? st->u.assign.targets : NULL;
        for (; target; target = target->next)
            if (begins_with(target, name))
                return true;
        if ((st->kind == KJ_S_IF &&
             (assigns(st->u.if_.yes, name) || assigns(st->u.if_.no, name))) ||
            (st->kind == KJ_S_FOR && assigns(st->u.for_.body, name)) ||
            (st->kind == KJ_S_WHILE && assigns(st->u.while_.body, name)))
            return true;
    }
    return false;
}

void kj_own_params(kj_sema *s, const kj_item *item)
{
    for (const kj_param_decl *p = item->params; p; p = p->next) {
        kj_symbol *sym = kj_scope_find(s->scope, p->name);
        bool number = sym->value.kind == KJ_V_SCALAR || sym->value.kind == KJ_V_TUPLE;
        if (!number || p->is_const || !assigns(item->body, p->name))
            continue;
        sym->value = kj_declared(s, p->name, p->span, true, sym->value);
        sym->role = KJ_ROLE_VAR;
    }
}
