/* What is assigned: a variable, some of its parts, or an element: read and written, in order with what computes the value. */
#include <string.h>

#include "sema/body/body.h"

/* ---- Variables ---- */

/* c = b, c, d = d, c: is another array's name assigned? */
static bool is_given_array(kj_sema *s, const kj_expr *target)
{
    const char *text = s->diag->source->text + target->span.end, *end;
    text += strcspn(text, "=\n");
    if (*text != '=')
        return false;
    text += 1 + strspn(text + 1, " \t");
    for (end = text; kj_is_word(*end);)
        end++;
    const kj_symbol *sym =
        kj_scope_find(s->scope, kj_intern(s->program->arena, text, (size_t)(end - text)));
    return end > text && strchr("\r\n;,}# ", *end) && sym && sym->kind == KJ_SYM_VALUE &&
           sym->value.kind == KJ_V_ARRAY;
}

static void refuse_target(kj_sema *s, const kj_expr *target, const kj_symbol *sym)
{
    const char *name = sym->name;
    if (sym->kind != KJ_SYM_VALUE && sym->kind != KJ_SYM_CONST) {
        kj_sema_error(s, target->span, KJ_RULE_NOT_ASSIGNABLE, "'%s' is not a variable", name);
        return;
    }
    if (sym->value.kind == KJ_V_ARRAY) {
        kj_message *m = kj_sema_error(s, target->span, KJ_RULE_NOT_ASSIGNABLE,
                                      "'%s' is an array, and arrays are not assigned", name);
        if (is_given_array(s, target))
            kj_hint(s->diag, m,
                    "all elements are copied by %s[:] = b; one of two arrays is chosen once, let c "
                    "= a if test else b",
                    name);
        else
            kj_hint(s->diag, m, "an element is: %s[i] = ..., and all of them: %s[:] = ...", name,
                    name);
        return;
    }
    kj_role role = sym->kind == KJ_SYM_CONST ? KJ_ROLE_CONST : sym->role;
    kj_message *m = kj_sema_error(s, target->span, KJ_RULE_NOT_ASSIGNABLE,
                                  "'%s' is %s and cannot be assigned", name, kj_role_text(role));
    if (role == KJ_ROLE_LET)
        kj_hint_var(s, m, sym->span);
    else if (role == KJ_ROLE_PARAM) /* a const one */
        kj_hint(s->diag, m, "copy it: var v = %s", name);
    else if (role == KJ_ROLE_LOOP)
        kj_hint(s->diag, m,
                "copy it, var w = %s; elements of arrays are assigned by their index, x[i] = ...",
                name);
    if (sym->span.end)
        kj_note(s->diag, m, sym->span, "declared here");
}

kj_symbol *kj_variable_named(kj_sema *s, const kj_expr *target)
{
    kj_symbol *sym = kj_scope_find(s->scope, target->u.name);
    if (kj_is_free_name(sym)) {
        kj_undeclared_target(s, target->u.name, target->span);
        return NULL;
    }
    if (sym->kind == KJ_SYM_VALUE && sym->value.kind == KJ_V_ERROR)
        return NULL;
    if (sym->kind == KJ_SYM_VALUE && sym->role == KJ_ROLE_VAR)
        return sym;
    refuse_target(s, target, sym);
    return NULL;
}

void kj_assign_value(kj_sema *s, const kj_operand *to, kj_operand v, const char *what)
{
    kj_open_given(s, to, &v);
    if (to->kind == KJ_V_SCALAR) {
        kj_texpr *e = kj_coerce(s, v, to->u.scalar.e->type, what);
        if (e)
            kj_emit_assign(s, to->u.scalar.e->u.var, e, v.span);
        return;
    }
    if (to->kind != KJ_V_TUPLE || v.kind == KJ_V_ERROR)
        return;
    if (to->u.tuple.of) {
        v = kj_coerce_aggregate(s, v, to->u.tuple.of, what);
        if (v.kind == KJ_V_ERROR)
            return;
    }
    if (v.kind != KJ_V_TUPLE || v.u.tuple.n != to->u.tuple.n) {
        kj_sema_error(s, v.span, KJ_RULE_TUPLE_ARITY, "%s is %s, not %s", what, kj_describe(s, to),
                      kj_describe(s, &v));
        return;
    }
    for (int i = 0; i < v.u.tuple.n; i++)
        kj_assign_value(s, &to->u.tuple.items[i], v.u.tuple.items[i], what);
}

/* ---- Parts and elements ---- */

bool kj_is_element(const kj_assigned *p)
{
    return p->at->kind == KJ_V_PLACE;
}

kj_operand kj_read_assigned(kj_sema *s, const kj_assigned *p, kj_span span)
{
    if (p->chosen)
        return kj_choose_part(s, p->at, p->n, p->chosen, span);
    return kj_place_value(s, *p->at);
}

/* The value where k is the number that was chosen. */
static void assign_where(kj_sema *s, kj_texpr *chosen, int k, const kj_operand *to,
                         const kj_operand *v)
{
    for (int i = 0; to->kind == KJ_V_TUPLE && i < to->u.tuple.n; i++)
        assign_where(s, chosen, k, &to->u.tuple.items[i], &v->u.tuple.items[i]);
    if (to->kind != KJ_V_SCALAR)
        return;
    kj_texpr *old = to->u.scalar.e;
    kj_texpr *test = kj_te_binary(s, KJ_OP_EQ, chosen, kj_te_i64(s, k, v->span), v->span);
    kj_emit_assign(s, old->u.var, kj_te_select(s, test, v->u.scalar.e, old, v->span), v->span);
}

static kj_operand as_type(kj_sema *s, kj_operand v, const kj_aggregate *of, kj_dtype type,
                          const char *what)
{
    return of ? kj_coerce_aggregate(s, v, of, what) : kj_scalar(kj_coerce(s, v, type, what));
}

static void assign_chosen(kj_sema *s, const kj_assigned *p, kj_operand v, const char *what)
{
    v = as_type(s, v, kj_is_aggregate(p->at) ? p->at->u.tuple.of : NULL, kj_type_of(p->at), what);
    if (v.kind == KJ_V_ERROR)
        return;
    v = kj_hold_value(s, v, "value");
    for (int k = 0; k < p->n; k++)
        assign_where(s, p->chosen, k, &p->at[k], &v);
}

void kj_store_assigned(kj_sema *s, const kj_assigned *p, kj_operand v, kj_span span)
{
    if (!kj_is_element(p)) {
        if (p->chosen)
            assign_chosen(s, p, v, "this part");
        else
            kj_assign_value(s, p->at, v, "this");
        return;
    }
    kj_tarray *a = p->at->u.place.array;
    const char *what = kj_arena_printf(s->diag->arena, "an element of '%s'", a->name);
    v = as_type(s, v, a->of, a->elem, what);
    if (v.kind != KJ_V_ERROR)
        kj_store_element(s, a, p->at->u.place.index, v, span);
}

kj_dtype kj_assigned_type(const kj_assigned *p)
{
    return kj_is_element(p) ? p->at->u.place.array->elem : kj_type_of(p->at);
}

/* ---- Order ---- */

void kj_spill_assigned(kj_sema *s, kj_assigned *p, kj_tstmt ***at)
{
    for (int i = 0; kj_is_element(p) && i < p->at->u.place.array->ndim; i++) {
        kj_operand index = kj_scalar(p->at->u.place.index[i]);
        kj_spill(s, &index, at);
        p->at->u.place.index[i] = index.u.scalar.e;
    }
}

/* May the indices come to something else behind the value than in front of it, or change it? */
static bool meets_effects(kj_sema *s, const kj_assigned *p, const kj_operand *v)
{
    bool effect = kj_operand_has_effect(s, v), stable = true;
    for (int i = 0; kj_is_element(p) && i < p->at->u.place.array->ndim; i++) {
        const kj_texpr *index = p->at->u.place.index[i];
        effect |= kj_has_effect(index);
        stable = stable && kj_is_stable(index);
    }
    return effect && !stable;
}

void kj_swap_behind(kj_sema *s, kj_tstmt **before, kj_tstmt **between)
{
    kj_tstmt **end = s->sink->tail, *first = *before;
    if (end == between || before == between)
        return;
    *before = *between;
    *end = first;
    *between = NULL;
    s->sink->tail = between;
}

void kj_put_behind(kj_sema *s, const kj_assigned *p, kj_operand *v, kj_tstmt **before,
                   kj_tstmt **between)
{
    kj_tstmt **end = s->sink->tail;
    if (before == between) {
        if (meets_effects(s, p, v))
            kj_spill(s, v, &end);
        return;
    }
    kj_swap_behind(s, before, between);
    kj_spill(s, v, end == between ? &before : &end);
}

bool kj_assigned_acts(const kj_assigned *p, const kj_tstmt *before)
{
    bool effects = false;
    for (const kj_tstmt *st = before; st; st = st->next)
        effects |= st->kind != KJ_TS_DECL || (st->u.decl.init && kj_has_effect(st->u.decl.init));
    for (int i = 0; i < p->at->u.place.array->ndim; i++)
        effects |= kj_has_effect(p->at->u.place.index[i]);
    return effects;
}

void kj_copy_assigned(kj_sema *s, const kj_assigned *p, const kj_operand *from, kj_span span)
{
    for (int i = 0; i < p->at->u.place.array->ndim; i++)
        p->at->u.place.index[i] = kj_hold(s, p->at->u.place.index[i], "index");
    kj_copy_element(s, p->at, from, span);
}
