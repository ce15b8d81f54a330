/* Declarations and assignments: tuples taken apart, `op=` spelled out, targets checked. */
#include "sema_impl.h"

/* ---- let and var ---- */

/* A new variable for a value, or for an immutable one the constant itself. Tuples become a
 * variable a component. */
static kj_operand declared(kj_sema *s, const char *name, kj_span span, bool mutable, kj_operand v)
{
    if (v.kind == KJ_V_SCALAR) {
        kj_texpr *e = v.u.scalar.e;
        if (!mutable && kj_is_const(e))
            return v;
        kj_var *var = kj_new_var(s, name, span, e->type, mutable);
        kj_emit_decl(s, var, e, span);
        return kj_scalar(kj_te_var(s, var, span));
    }
    if (v.kind == KJ_V_TUPLE) {
        kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)v.u.tuple.n + 1);
        for (int i = 0; i < v.u.tuple.n; i++)
            items[i] = declared(s, kj_arena_printf(s->arena, "%s.%d", name, i), span, mutable,
                                v.u.tuple.items[i]);
        v.u.tuple.items = items;
    }
    if (v.kind == KJ_V_ARRAY && mutable) {
        kj_message *m = kj_sema_error(s, span, "array-variable",
                                      "'%s' is an array, and arrays are not assigned", name);
        kj_hint(s->diag, m, "write let %s = ...", name);
        return kj_no_value(span);
    }
    return v;
}

static void declare_names(kj_sema *s, const kj_stmt *st, kj_operand v)
{
    const kj_name *name = st->u.let.names;
    kj_role role = st->u.let.mutable ? KJ_ROLE_VAR : KJ_ROLE_LET;
    if (!name->next) {
        v = declared(s, name->name, name->span, st->u.let.mutable, v);
        kj_declare_value(s, name->name, name->span, role, v);
        return;
    }
    int n = 0;
    for (const kj_name *each = name; each; each = each->next)
        n++;
    if (v.kind != KJ_V_ERROR && (v.kind != KJ_V_TUPLE || v.u.tuple.n != n)) {
        kj_sema_error(s, st->u.let.init->span, "tuple-arity", "%d names take a tuple of %d, not %s",
                      n, n, kj_describe(s, &v));
        v = kj_no_value(v.span);
    }
    for (int i = 0; name; name = name->next, i++) {
        kj_operand part = v.kind == KJ_V_ERROR ? v : v.u.tuple.items[i];
        part = declared(s, name->name, name->span, st->u.let.mutable, part);
        kj_declare_value(s, name->name, name->span, role, part);
    }
}

void kj_let_stmt(kj_sema *s, const kj_stmt *st)
{
    const kj_name *name = st->u.let.names;
    kj_type type = kj_resolve_type(s, st->u.let.type);
    if (!st->u.let.mutable && !name->next && type.kind == KJ_T_NONE &&
        kj_array_decl(s, name, st->u.let.init))
        return;
    s->naming = name->next ? NULL : name->name;
    kj_operand v =
        kj_expr_value(s, st->u.let.init, type.kind == KJ_T_SCALAR ? type.dtype : KJ_VOID);
    s->naming = NULL;
    if (type.kind == KJ_T_NONE)
        v = kj_settle(s, v);
    else
        v = kj_coerce_type(
            s, v, &type, name->next ? "this" : kj_arena_printf(s->diag->arena, "'%s'", name->name));
    declare_names(s, st, v);
}

/* ---- Assignments ---- */

static void refuse_target(kj_sema *s, const kj_expr *target, const kj_symbol *sym)
{
    const char *name = sym->name;
    if (sym->kind != KJ_SYM_VALUE && sym->kind != KJ_SYM_CONST) {
        kj_sema_error(s, target->span, "not-assignable", "'%s' is not a variable", name);
        return;
    }
    if (sym->value.kind == KJ_V_ARRAY) {
        kj_message *m = kj_sema_error(s, target->span, "not-assignable",
                                      "'%s' is an array, and arrays are not assigned", name);
        kj_hint(s->diag, m, "an element is: %s[i] = ...", name);
        return;
    }
    kj_role role = sym->kind == KJ_SYM_CONST ? KJ_ROLE_CONST : sym->role;
    kj_message *m = kj_sema_error(s, target->span, "not-assignable",
                                  "'%s' is %s and cannot be assigned", name, kj_role_text(role));
    if (role == KJ_ROLE_LET)
        kj_hint(s->diag, m, "declare it with 'var'");
    else if (role == KJ_ROLE_PARAM)
        kj_hint(s->diag, m, "copy it: var v = %s", name);
    if (sym->span.end)
        kj_note(s->diag, m, sym->span, "declared here");
}

/* The symbol of a `var`, or NULL after an error. */
static kj_symbol *variable(kj_sema *s, const kj_expr *target)
{
    kj_symbol *sym = kj_scope_find(s->scope, target->u.name);
    if (!sym) {
        kj_undeclared(s, target->u.name, target->span);
        return NULL;
    }
    if (sym->kind == KJ_SYM_VALUE && sym->value.kind == KJ_V_ERROR)
        return NULL;
    if (sym->kind == KJ_SYM_VALUE && sym->role == KJ_ROLE_VAR)
        return sym;
    refuse_target(s, target, sym);
    return NULL;
}

/* value -> the variables behind `to`, after conversion; parts of tuples first all evaluated by
 * the caller. */
static void assign_value(kj_sema *s, const kj_operand *to, kj_operand v, const char *what)
{
    if (to->kind == KJ_V_SCALAR) {
        kj_texpr *e = kj_coerce(s, v, to->u.scalar.e->type, what);
        if (e)
            kj_emit_assign(s, to->u.scalar.e->u.var, e, v.span);
        return;
    }
    if (to->kind != KJ_V_TUPLE || v.kind == KJ_V_ERROR)
        return;
    if (v.kind != KJ_V_TUPLE || v.u.tuple.n != to->u.tuple.n) {
        kj_sema_error(s, v.span, "tuple-arity", "%s is %s, not %s", what, kj_describe(s, to),
                      kj_describe(s, &v));
        return;
    }
    for (int i = 0; i < v.u.tuple.n; i++)
        assign_value(s, &to->u.tuple.items[i], v.u.tuple.items[i], what);
}

/* An element being assigned: where it is. */
typedef struct place {
    kj_tarray *array;
    kj_operand index[KJ_MAX_NDIM];
} place;

static bool element_place(kj_sema *s, const kj_expr *target, place *p)
{
    const kj_expr *base = target->u.index.base;
    kj_operand array = kj_expr_value(s, base, KJ_VOID), v[KJ_MAX_NDIM];
    kj_texpr *index[KJ_MAX_NDIM];
    int n = kj_count(target->u.index.args);
    if (array.kind == KJ_V_ERROR)
        return false;
    if (array.kind != KJ_V_ARRAY) {
        kj_sema_error(s, base->span, "not-an-array", "this is %s, not an array",
                      kj_describe(s, &array));
        return false;
    }
    for (const kj_expr *arg = target->u.index.args; arg; arg = arg->next) {
        if (arg->kind == KJ_E_SLICE) {
            kj_message *m = kj_sema_error(s, arg->span, "index-count",
                                          "a kernel assigns one element at a time");
            kj_hint(s->diag, m, "write a loop over the slice");
            return false;
        }
    }
    if (n > KJ_MAX_NDIM)
        n = KJ_MAX_NDIM;
    kj_expr_list(s, target->u.index.args, v, n);
    p->array = array.u.array;
    if (!kj_element_at(s, target, p->array, v, n, index))
        return false;
    for (int i = 0; i < p->array->ndim; i++)
        p->index[i] = kj_scalar(index[i]);
    return kj_writable(s, p->array, base, target->span);
}

static void store(kj_sema *s, const place *p, kj_operand v, kj_span span)
{
    kj_texpr *e = kj_coerce(s, v, p->array->elem,
                            kj_arena_printf(s->diag->arena, "an element of '%s'", p->array->name));
    if (!e)
        return;
    kj_tstmt *st = kj_emit(s, KJ_TS_STORE, span);
    st->u.store.array = p->array;
    for (int i = 0; i < p->array->ndim; i++)
        st->u.store.index[i] = p->index[i].u.scalar.e;
    st->u.store.value = e;
    kj_array_used(s, p->array, false, true);
}

/* a[i] = v and a[i] op= v */
static void assign_element(kj_sema *s, const kj_stmt *st, const kj_expr *target)
{
    place p;
    kj_operand old = {.kind = KJ_V_ERROR}, v;
    bool ok = element_place(s, target, &p);
    kj_texpr *index[KJ_MAX_NDIM];
    if (ok && st->u.assign.augmented) {
        for (int i = 0; i < p.array->ndim; i++)
            p.index[i] = kj_scalar(index[i] = kj_hold(s, p.index[i].u.scalar.e, "index"));
        old = kj_scalar(kj_load(s, p.array, index, target->span));
    }
    kj_tstmt **at = s->sink->tail;
    v = kj_expr_value(s, st->u.assign.value, ok ? p.array->elem : KJ_VOID);
    if (!ok)
        return;
    if (s->sink->tail != at) {
        for (int i = 0; i < p.array->ndim; i++)
            kj_spill(s, &p.index[i], &at);
        kj_spill(s, &old, &at);
    }
    if (st->u.assign.augmented) {
        v = kj_binary(s, st->u.assign.op, old, v, st->span);
        v.span = st->u.assign.value->span;
    }
    store(s, &p, v, st->span);
}

static void assign_name(kj_sema *s, const kj_stmt *st, const kj_expr *target)
{
    kj_symbol *sym = variable(s, target);
    kj_dtype want = sym && sym->value.kind == KJ_V_SCALAR ? sym->value.u.scalar.e->type : KJ_VOID;
    kj_operand old = sym ? kj_symbol_value(s, sym, target->span) : kj_no_value(target->span);
    kj_tstmt **at = s->sink->tail;
    kj_operand v = kj_expr_value(s, st->u.assign.value, want);
    if (!sym)
        return;
    if (st->u.assign.augmented) {
        if (s->sink->tail != at)
            kj_spill(s, &old, &at);
        v = kj_binary(s, st->u.assign.op, old, v, st->span);
        v.span = st->u.assign.value->span;
    } else if (v.kind == KJ_V_TUPLE) { /* t = (t[1], t[0]): all read before the first is assigned */
        kj_tstmt **end = s->sink->tail;
        kj_spill(s, &v, &end);
    }
    assign_value(s, &sym->value, v, kj_arena_printf(s->diag->arena, "'%s'", sym->name));
}

static void assign_one(kj_sema *s, const kj_expr *target, kj_operand v, kj_span span)
{
    place p;
    kj_symbol *sym;
    switch (target->kind) {
    case KJ_E_NAME:
        sym = variable(s, target);
        if (sym)
            assign_value(s, &sym->value, v, kj_arena_printf(s->diag->arena, "'%s'", sym->name));
        break;
    case KJ_E_INDEX:
        if (element_place(s, target, &p))
            store(s, &p, v, span);
        break;
    default: kj_sema_error(s, target->span, "not-assignable", "this cannot be assigned"); break;
    }
}

/* a, b = b, a: all values first, in hidden lets, then the targets from left to right. */
static void assign_several(kj_sema *s, const kj_stmt *st, int n)
{
    kj_operand v = kj_expr_value(s, st->u.assign.value, KJ_VOID);
    if (st->u.assign.augmented) {
        kj_sema_error(s, st->span, "not-assignable", "an operator assigns one target at a time");
        return;
    }
    if (v.kind != KJ_V_ERROR && (v.kind != KJ_V_TUPLE || v.u.tuple.n != n)) {
        kj_sema_error(s, st->u.assign.value->span, "tuple-arity",
                      "%d targets take a tuple of %d, not %s", n, n, kj_describe(s, &v));
        v = kj_no_value(v.span);
    }
    kj_tstmt **end = s->sink->tail;
    kj_spill(s, &v, &end);
    int i = 0;
    for (const kj_expr *target = st->u.assign.targets; target; target = target->next, i++)
        assign_one(s, target, v.kind == KJ_V_ERROR ? v : v.u.tuple.items[i], st->span);
}

void kj_assign_stmt(kj_sema *s, const kj_stmt *st)
{
    const kj_expr *target = st->u.assign.targets;
    int n = kj_count(target);
    s->naming = NULL;
    if (n > 1)
        assign_several(s, st, n);
    else if (target->kind == KJ_E_NAME)
        assign_name(s, st, target);
    else if (target->kind == KJ_E_INDEX)
        assign_element(s, st, target);
    else
        assign_one(s, target, kj_expr_value(s, st->u.assign.value, KJ_VOID), st->span);
}
