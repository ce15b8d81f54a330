/* Declarations and assignments: tuples taken apart, `op=` spelled out, targets checked. */
#include <string.h>

#include "sema/body/body.h"

/* ---- let and var ---- */

static const char *part_name(kj_sema *s, const char *name, const kj_operand *v, int i)
{
    if (v->u.tuple.of && v->u.tuple.of->fields[i].name)
        return kj_arena_printf(s->arena, "%s.%s", name, v->u.tuple.of->fields[i].name);
    return kj_arena_printf(s->arena, "%s.%d", name, i);
}

static void refuse_array_variable(kj_sema *s, const char *name, kj_span span)
{
    kj_message *m = kj_sema_error(s, span, KJ_RULE_ARRAY_VARIABLE,
                                  "'%s' is an array, and arrays are not assigned", name);
    kj_hint(s->diag, m, "write let %s = ...", name);
    kj_fix_word(s, m, span, "var", "let");
}

static void note_open(kj_var_note *note, kj_open *open)
{
    note->open = open;
    note->digits = kj_open_digits(open);
    note->of_literals = true;
}

/* Variables that are scalars, or parts of one. */
static void mark_open(kj_sema *s, const kj_operand *v, kj_open *open)
{
    if (v->kind == KJ_V_SCALAR)
        note_open(&s->vars[v->u.scalar.e->u.var->id], open);
    for (int i = 0; v->kind == KJ_V_TUPLE && i < v->u.tuple.n; i++)
        mark_open(s, &v->u.tuple.items[i], open);
}

static kj_operand declare_open(kj_sema *s, const char *name, kj_span span, kj_operand v)
{
    kj_open *open = kj_open_variable(s, name, span, &v);
    kj_operand typed = open ? kj_open_typed(s, open, v) : kj_settle(s, v);
    if (typed.kind != KJ_V_ERROR)
        typed = kj_declared(s, name, span, true, typed);
    if (open)
        mark_open(s, &typed, open);
    return typed;
}

kj_operand kj_declared(kj_sema *s, const char *name, kj_span span, bool mutable, kj_operand v)
{
    bool imaginary = kj_is_complex(&v) && v.u.tuple.of == &kj_complex_literal;
    if (mutable && (kj_is_untyped(&v) || imaginary))
        return declare_open(s, name, span, v);
    if (kj_is_untyped(&v))
        return kj_hold_choice(s, v);
    if (v.kind == KJ_V_SCALAR) {
        kj_texpr *e = v.u.scalar.e;
        if (!mutable && kj_is_const(e))
            return kj_scalar(e);
        kj_var *var = kj_new_var(s, name, span, e->type, mutable);
        if (!mutable)
            kj_note_literals(s, var, e);
        kj_emit_decl(s, var, e, span);
        return kj_scalar(kj_te_var(s, var, span));
    }
    if (v.kind == KJ_V_TUPLE) {
        kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)v.u.tuple.n + 1);
        for (int i = 0; i < v.u.tuple.n; i++) {
            int nodes = s->nodes;
            if (s->too_big)
                return kj_no_value(span);
            items[i] = kj_declared(s, part_name(s, name, &v, i), span, mutable, v.u.tuple.items[i]);
            if (s->nodes == nodes)
                kj_spend(s, 1); /* of tuples of tuples there are twice as many with each name */
        }
        v.u.tuple.items = items;
    }
    if (v.kind == KJ_V_ARRAY && mutable) {
        refuse_array_variable(s, name, span);
        return kj_no_value(span);
    }
    return v;
}

/* let x, y = grid(1) */
static void hint_axes(kj_sema *s, kj_message *m, const kj_expr *init, int n)
{
    const kj_expr *callee = init->kind == KJ_E_CALL ? init->u.call.callee : NULL;
    const kj_expr *arg = callee ? init->u.call.args : NULL;
    bool grid = callee && callee->kind == KJ_E_NAME &&
                (strcmp(callee->u.name, "grid") == 0 || strcmp(callee->u.name, "gridsize") == 0);
    if (grid && arg && !arg->next && n <= 3)
        kj_write(s->diag, m, init->span, "%s(%d)", callee->u.name, n);
}

static void declare_names(kj_sema *s, const kj_stmt *st, kj_operand v)
{
    const kj_name *name = st->u.let.names;
    kj_role role = st->u.let.mutable ? KJ_ROLE_VAR : KJ_ROLE_LET;
    if (!name->next) {
        v = kj_declared(s, name->name, name->span, st->u.let.mutable, v);
        kj_declare_value(s, name->name, name->span, role, v);
        return;
    }
    int n = 0;
    for (const kj_name *each = name; each; each = each->next)
        n++;
    if (v.kind != KJ_V_ERROR && (v.kind != KJ_V_TUPLE || v.u.tuple.n != n)) {
        kj_message *m =
            kj_sema_error(s, st->u.let.init->span, KJ_RULE_TUPLE_ARITY,
                          "%d names take a tuple of %d, not %s", n, n, kj_describe(s, &v));
        hint_axes(s, m, st->u.let.init, n);
        kj_take_with_axes(s, m, st->u.let.init, n);
        v = kj_no_value(v.span);
    }
    for (int i = 0; name; name = name->next, i++) {
        kj_operand part = v.kind == KJ_V_ERROR ? v : v.u.tuple.items[i];
        part = kj_declared(s, name->name, name->span, st->u.let.mutable, part);
        kj_declare_value(s, name->name, name->span, role, part);
    }
}

void kj_let_stmt(kj_sema *s, const kj_stmt *st)
{
    const kj_name *name = st->u.let.names;
    kj_type type = kj_resolve_type(s, st->u.let.type);
    if (type.kind == KJ_T_NONE && (name->next ? kj_array_decls(s, name, st->u.let.init)
                                              : kj_array_decl(s, name, st->u.let.init))) {
        if (st->u.let.mutable)
            refuse_array_variable(s, name->name, name->span);
        return;
    }
    s->naming = name->next ? NULL : name->name;
    kj_operand v = kj_expr_for(s, st->u.let.init, kj_wanted(&type));
    bool literal = v.kind == KJ_V_LITERAL;
    s->naming = NULL;
    if (type.kind != KJ_T_NONE)
        v = kj_coerce_type(
            s, v, &type, name->next ? "this" : kj_arena_printf(s->diag->arena, "'%s'", name->name));
    if (literal && type.kind == KJ_T_SCALAR && v.kind == KJ_V_SCALAR)
        v.u.scalar.e->written = true; /* in the type that was asked for */
    else if (type.kind == KJ_T_SCALAR)
        v = kj_asked_for(s, v);
    declare_names(s, st, v);
}

/* ---- Assignments ---- */

static void assign_variable(kj_sema *s, const kj_symbol *sym, kj_operand v)
{
    const kj_message *before = s->diag->last;
    kj_assign_value(s, &sym->value, v, kj_arena_printf(s->diag->arena, "'%s'", sym->name));
    kj_message *refused = s->diag->last;
    if (refused != before && !refused->note)
        kj_note_open(s, refused, &sym->value);
    if (refused != before && !refused->note && sym->span.end)
        kj_note(s->diag, refused, sym->span, "'%s' is %s, declared here", sym->name,
                kj_describe(s, &sym->value));
}

/* ---- Where ---- */

/* The name that a[i].x and v.y begin with, or NULL. */
static const kj_expr *root_name(const kj_expr *target)
{
    while (target->kind == KJ_E_INDEX || target->kind == KJ_E_MEMBER)
        target = target->kind == KJ_E_INDEX ? target->u.index.base : target->u.member.base;
    return target->kind == KJ_E_NAME ? target : NULL;
}

/* v.x of a variable. */
static bool field_place(kj_sema *s, const kj_expr *target, kj_assigned *p)
{
    const kj_aggregate *of = p->at->kind == KJ_V_TUPLE ? p->at->u.tuple.of : NULL;
    if (!of || kj_is_fixed(of)) {
        kj_sema_error(s, target->u.member.name_span, KJ_RULE_UNKNOWN_MEMBER, "%s has no members",
                      kj_describe(s, p->at));
        return false;
    }
    const kj_field *part = kj_part_named(s, of, target, false);
    for (int i = 0; part && i < p->n; i++)
        p->at[i] = p->at[i].u.tuple.items[part - of->fields];
    return part != NULL;
}

/* The target is an element of what is one value. */
static void refuse_element(kj_sema *s, const kj_expr *target, const kj_operand *v)
{
    kj_message *m = kj_sema_error(s, target->u.index.base->span, KJ_RULE_NOT_AN_ARRAY,
                                  "this is %s, not an array", kj_describe(s, v));
    if (kj_take_as_array(s, m, target))
        return;
    kj_take_with_axes(s, m, target, 0);
    if (v->kind == KJ_V_TUPLE)
        kj_hint(s->diag, m, "a tuple's parts are assigned together: t = (3, t[1])");
}

/* v[i] of a variable: where i is known to the thread only, one of all parts. */
static bool part_place(kj_sema *s, const kj_expr *target, kj_assigned *p)
{
    if (kj_is_complex(p->at)) {
        kj_sema_error(s, target->span, KJ_RULE_NOT_ASSIGNABLE, "this cannot be assigned");
        return false;
    }
    if (!kj_is_aggregate(p->at)) {
        refuse_element(s, target, p->at);
        return false;
    }
    int parts = p->at->u.tuple.n;
    kj_texpr *i = kj_part_index(s, target, p->at);
    if (!i)
        return false;
    if (kj_is_const(i)) {
        for (int k = 0; k < p->n; k++)
            p->at[k] = p->at[k].u.tuple.items[i->u.value.i];
        return true;
    }
    kj_operand *all = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)(p->n * parts));
    for (int k = 0; k < p->n * parts; k++)
        all[k] = p->at[k / parts].u.tuple.items[k % parts];
    if (p->chosen)
        i = kj_i64_add(s, kj_i64_mul(s, p->chosen, kj_te_i64(s, parts, target->span), target->span),
                       i, target->span);
    *p = (kj_assigned){all, p->n * parts, kj_hold(s, i, "index")};
    return true;
}

/* What v.x[i].y means of the variable v. */
static bool variable_place(kj_sema *s, const kj_expr *target, const kj_operand *v, kj_assigned *p)
{
    if (target->kind == KJ_E_MEMBER)
        return variable_place(s, target->u.member.base, v, p) && field_place(s, target, p);
    if (target->kind == KJ_E_INDEX)
        return variable_place(s, target->u.index.base, v, p) && part_place(s, target, p);
    *p = (kj_assigned){KJ_NEW(s->arena, kj_operand), 1, NULL};
    *p->at = *v;
    return true;
}

/* Something that is in memory and may be written? */
static bool is_place(kj_sema *s, const kj_expr *target, const kj_assigned *p)
{
    if (kj_is_element(p) || p->at->kind == KJ_V_ARRAY) {
        const kj_expr *root = root_name(target);
        return kj_writable(s, kj_is_element(p) ? p->at->u.place.array : p->at->u.array,
                           root ? root : target, target->span);
    }
    if (p->at->kind == KJ_V_ERROR)
        return false;
    kj_message *m =
        kj_sema_error(s, target->span, KJ_RULE_NOT_ASSIGNABLE, "this cannot be assigned");
    if (target->kind == KJ_E_MEMBER && strcmp(target->u.member.name, "shape") == 0)
        kj_hint(s->diag, m, "a view of another shape is a.reshape(1, 3), also a.reshape((1, -1))");
    return false;
}

static bool find_assigned(kj_sema *s, const kj_expr *target, kj_assigned *p)
{
    const kj_expr *root = root_name(target);
    const kj_symbol *sym = root ? kj_scope_find(s->scope, root->u.name) : NULL;
    if (sym && sym->kind == KJ_SYM_VALUE && kj_is_aggregate(&sym->value))
        return kj_variable_named(s, root) && variable_place(s, target, &sym->value, p);
    *p = (kj_assigned){KJ_NEW(s->arena, kj_operand), 1, NULL};
    if (target->kind == KJ_E_MEMBER) {
        *p->at = kj_place_expr(s, target);
        return is_place(s, target, p);
    }
    const kj_expr *e = target->u.index.base;
    kj_operand base = kj_place_expr(s, e);
    if (base.kind == KJ_V_PLACE && kj_is_fixed(base.u.place.array->of))
        base = kj_place_value(s, base);
    *p->at = kj_no_value(target->span);
    if (base.kind == KJ_V_ARRAY || (base.kind == KJ_V_PLACE && base.u.place.array->of))
        *p->at = kj_index_of(s, target, base);
    else if (kj_is_aggregate(&base))
        kj_sema_error(s, target->span, KJ_RULE_NOT_ASSIGNABLE, "this cannot be assigned");
    else if (base.kind != KJ_V_ERROR)
        refuse_element(s, target, &base);
    return p->at->kind != KJ_V_ERROR && is_place(s, target, p);
}

/* ---- Statements ---- */

/* a[i, :] = v */
static void assign_view(kj_sema *s, const kj_stmt *st, kj_tarray *target, kj_tstmt **before)
{
    kj_each each;
    kj_tstmt **between = s->sink->tail;
    kj_each_open(s, &each, st->u.assign.value, target->elem);
    if (!st->u.assign.augmented)
        kj_swap_behind(s, before, between);
    kj_assign_row(s, &each, st, target);
}

/* The value; true: an element, unread, that is copied to the target's place. */
static bool value_or_element(kj_sema *s, const kj_stmt *st, const kj_assigned *p,
                             const kj_tstmt *before, kj_operand *v)
{
    const kj_expr *e = st->u.assign.value;
    const kj_aggregate *of = p && kj_is_element(p) ? p->at->u.place.array->of : NULL;
    bool copied = kj_is_copied(of) && !st->u.assign.augmented &&
                  (e->kind == KJ_E_INDEX || e->kind == KJ_E_MEMBER) && !kj_assigned_acts(p, before);
    if (!copied) {
        *v = kj_expr_value(s, e, p ? kj_assigned_type(p) : KJ_VOID);
        return false;
    }
    *v = kj_place_expr(s, e);
    const kj_tarray *from = v->kind == KJ_V_PLACE ? v->u.place.array : NULL;
    if (!from || !from->of || !kj_same_aggregate(from->of, of)) {
        *v = kj_settle_as(s, kj_checked_value(s, e, kj_place_value(s, *v)), KJ_VOID);
        return false;
    }
    for (int i = 0; i < from->ndim; i++)
        v->u.place.index[i] = kj_hold(s, v->u.place.index[i], "index");
    return true;
}

/* a[i] = v, a[i].x op= v and the like */
static void assign_part(kj_sema *s, const kj_stmt *st, const kj_expr *target)
{
    kj_assigned p;
    kj_operand old = {.kind = KJ_V_ERROR}, v;
    kj_tstmt **before = s->sink->tail;
    bool ok = find_assigned(s, target, &p);
    if (ok && p.at->kind == KJ_V_ARRAY) {
        assign_view(s, st, p.at->u.array, before);
        return;
    }
    if (ok && st->u.assign.augmented) {
        for (int i = 0; kj_is_element(&p) && i < p.at->u.place.array->ndim; i++)
            p.at->u.place.index[i] = kj_hold(s, p.at->u.place.index[i], "index");
        old = kj_read_assigned(s, &p, target->span);
    }
    kj_tstmt **at = s->sink->tail;
    bool copied = value_or_element(s, st, ok ? &p : NULL, *before, &v);
    if (!ok)
        return;
    if (copied) {
        kj_put_behind(s, &p, &v, before, at);
        kj_copy_assigned(s, &p, &v, st->span);
        return;
    }
    if (!st->u.assign.augmented) {
        kj_put_behind(s, &p, &v, before, at);
    } else if (kj_could_see(s, at, &v)) {
        kj_spill_assigned(s, &p, &at);
        kj_spill(s, &old, &at);
    }
    if (st->u.assign.augmented) {
        v = kj_binary(s, st->u.assign.op, old, v, st->span);
        v.span = st->u.assign.value->span;
    }
    if (v.kind == KJ_V_TUPLE) { /* all parts read before the first is assigned */
        kj_tstmt **end = s->sink->tail;
        kj_spill(s, &v, &end);
    }
    s->updates = st->u.assign.augmented ? st : NULL;
    kj_store_assigned(s, &p, v, st->span);
    s->updates = NULL;
}

static void assign_name(kj_sema *s, const kj_stmt *st, const kj_expr *target)
{
    kj_symbol *sym = kj_variable_named(s, target);
    kj_dtype want = sym ? kj_type_of(&sym->value) : KJ_VOID;
    kj_operand old = sym ? kj_symbol_value(s, sym, target->span) : kj_no_value(target->span);
    kj_tstmt **at = s->sink->tail;
    kj_operand v = kj_expr_for(s, st->u.assign.value, want);
    if (!sym)
        return;
    if (st->u.assign.augmented) {
        if (kj_could_see(s, at, &v))
            kj_spill(s, &old, &at);
        v = kj_binary(s, st->u.assign.op, old, v, st->span);
        v.span = st->u.assign.value->span;
    }
    if (v.kind == KJ_V_TUPLE) { /* t = (t[1], t[0]): all read before the first is assigned */
        kj_tstmt **end = s->sink->tail;
        kj_spill(s, &v, &end);
    }
    s->updates = st->u.assign.augmented ? st : NULL;
    assign_variable(s, sym, v);
    s->updates = NULL;
}

static void assign_one(kj_sema *s, const kj_expr *target, kj_operand v, kj_span span)
{
    kj_assigned p;
    kj_symbol *sym;
    switch (target->kind) {
    case KJ_E_NAME:
        sym = kj_variable_named(s, target);
        if (sym)
            assign_variable(s, sym, v);
        break;
    case KJ_E_INDEX:
    case KJ_E_MEMBER:
        if (!find_assigned(s, target, &p))
            break;
        if (p.at->kind == KJ_V_ARRAY)
            kj_sema_error(s, target->span, KJ_RULE_NOT_ASSIGNABLE,
                          "a view is assigned by a statement of its own");
        else
            kj_store_assigned(s, &p, v, span);
        break;
    default:
        kj_sema_error(s, target->span, KJ_RULE_NOT_ASSIGNABLE, "this cannot be assigned");
        break;
    }
}

/* a, b = b, a: all values first, in hidden lets, then the targets from left to right. */
static void assign_several(kj_sema *s, const kj_stmt *st, int n)
{
    kj_operand v = kj_expr_untyped(s, st->u.assign.value, KJ_VOID);
    if (st->u.assign.augmented) {
        kj_sema_error(s, st->span, KJ_RULE_NOT_ASSIGNABLE,
                      "an operator assigns one target at a time");
        return;
    }
    if (v.kind != KJ_V_ERROR && (v.kind != KJ_V_TUPLE || v.u.tuple.n != n)) {
        kj_sema_error(s, st->u.assign.value->span, KJ_RULE_TUPLE_ARITY,
                      "%d targets take a tuple of %d, not %s", n, n, kj_describe(s, &v));
        v = kj_no_value(v.span);
    }
    kj_tstmt **end = s->sink->tail;
    kj_spill(s, &v, &end);
    int i = 0;
    if (kj_undeclared_targets(s, st->u.assign.targets))
        return;
    for (const kj_expr *target = st->u.assign.targets; target; target = target->next, i++)
        if (!kj_throws_away(s, target))
            assign_one(s, target, v.kind == KJ_V_ERROR ? v : v.u.tuple.items[i], st->span);
}

void kj_assign_stmt(kj_sema *s, const kj_stmt *st)
{
    const kj_expr *target = st->u.assign.targets;
    int n = kj_count(target);
    s->naming = NULL;
    if (n > 1)
        assign_several(s, st, n);
    else if (!st->u.assign.augmented && kj_throws_away(s, target)) {
        kj_operand v = kj_expr_value(s, st->u.assign.value, KJ_VOID);
        kj_tstmt **end = s->sink->tail;
        kj_spill(s, &v, &end);
    } else if (target->kind == KJ_E_NAME)
        assign_name(s, st, target);
    else if (target->kind == KJ_E_INDEX || target->kind == KJ_E_MEMBER)
        assign_part(s, st, target);
    else
        assign_one(s, target, kj_expr_value(s, st->u.assign.value, KJ_VOID), st->span);
}

/* ---- Parameters that are assigned ---- */

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
            (st->kind == KJ_S_WHILE && assigns(st->u.while_.body, name)) ||
            (st->kind == KJ_S_BLOCK && assigns(st->u.block.body, name)))
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
