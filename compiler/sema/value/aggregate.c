/* Values of several scalars: small vectors and complex numbers.
 *
 * Such a value is a tuple that knows its type: an item a part, each a scalar expression that may be
 * used again (a constant, a variable, a hidden let), except where an operator has just made it. An
 * element of an array stays a place until it is read or assigned, so that a[i].x touches x only. */
#include <string.h>

#include "sema/value/value.h"

bool kj_is_aggregate(const kj_operand *v)
{
    return v->kind == KJ_V_TUPLE && v->u.tuple.of;
}

kj_dtype kj_type_of(const kj_operand *v)
{
    if (v->kind == KJ_V_SCALAR)
        return v->u.scalar.e->type;
    return kj_is_aggregate(v) ? v->u.tuple.of->type : KJ_VOID;
}

/* ---- Making values ---- */

kj_operand kj_build(kj_sema *s, const kj_aggregate *of, kj_make_part *make, void *ctx, kj_span span)
{
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)of->n + 1);
    for (int i = 0; i < of->n; i++) {
        const kj_field *part = &of->fields[i];
        items[i] =
            part->of ? kj_build(s, part->of, make, ctx, span) : kj_scalar(make(s, ctx, part));
        if (items[i].kind == KJ_V_ERROR)
            return kj_no_value(span);
    }
    return kj_tuple(items, of->n, of, span);
}

kj_operand kj_hold_value(kj_sema *s, kj_operand v, const char *name)
{
    if (v.kind == KJ_V_SCALAR)
        return kj_scalar(kj_hold(s, v.u.scalar.e, name));
    if (v.kind != KJ_V_TUPLE)
        return kj_hold_choice(s, v);
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)v.u.tuple.n + 1);
    for (int i = 0; i < v.u.tuple.n; i++)
        items[i] = kj_hold_value(s, v.u.tuple.items[i], name);
    v.u.tuple.items = items;
    return v;
}

/* ---- Parts ---- */

static const char *fields_text(kj_sema *s, const kj_aggregate *of, int most)
{
    const char *text = "";
    for (int i = 0; i < of->n && i <= most; i++)
        text = kj_arena_printf(s->diag->arena, "%s%s%s", text, i ? ", " : "",
                               i < most ? of->fields[i].name : "...");
    return text;
}

const char *kj_fields_text(kj_sema *s, const kj_aggregate *of)
{
    return fields_text(s, of, KJ_MOST_LISTED);
}

static void no_field(kj_sema *s, const kj_aggregate *of, const char *name, kj_span at, kj_rule rule,
                     const kj_expr *member, bool array)
{
    kj_message *m = kj_sema_error(s, at, rule, "%s has no field '%s'", of->name, name);
    if (member && kj_is_shown(s->diag, m))
        m->members = kj_arena_printf(s->diag->arena, "%s%s", fields_text(s, of, of->n),
                                     kj_is_vector(of) && !array ? ", view(...)" : "");
    if (!kj_is_shown(s->diag, m) || (member && kj_hint_part(s, m, of, member)) ||
        (array && kj_hint_method(s, m, member)))
        return;
    kj_near near = kj_near_to(name);
    for (int i = 0; i < of->n; i++)
        kj_near_offer(&near, of->fields[i].name);
    if (near.best)
        kj_suggest(s, m, name, near.best, false);
    else
        kj_hint(s->diag, m, "fields: %s", kj_fields_text(s, of));
}

void kj_no_field(kj_sema *s, const kj_aggregate *of, const char *name, kj_span at, kj_rule rule)
{
    no_field(s, of, name, at, rule, NULL, false);
}

const kj_field *kj_part_named(kj_sema *s, const kj_aggregate *of, const kj_expr *member, bool array)
{
    for (int i = 0; i < of->n; i++)
        if (strcmp(of->fields[i].name, member->u.member.name) == 0)
            return &of->fields[i];
    no_field(s, of, member->u.member.name, member->u.member.name_span, KJ_RULE_UNKNOWN_MEMBER,
             member, array);
    return NULL;
}

kj_operand kj_choose_part(kj_sema *s, const kj_operand *at, int n, kj_texpr *i, kj_span span)
{
    if (at->kind == KJ_V_TUPLE) {
        kj_operand out = *at, *same = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)n);
        out.u.tuple.items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)at->u.tuple.n);
        for (int part = 0; part < at->u.tuple.n; part++) {
            for (int k = 0; k < n; k++)
                same[k] = at[k].u.tuple.items[part];
            out.u.tuple.items[part] = kj_choose_part(s, same, n, i, span);
        }
        return out;
    }
    kj_texpr *chosen = kj_hold(s, at[n - 1].u.scalar.e, "part");
    for (int k = n - 2; k >= 0; k--) {
        kj_texpr *test = kj_te_binary(s, KJ_OP_EQ, i, kj_te_i64(s, k, span), span);
        chosen = kj_te_select(s, test, kj_hold(s, at[k].u.scalar.e, "part"), chosen, span);
    }
    return kj_scalar(chosen);
}

/* Brings values to one type, part by part; false where there is none. */
static bool alike(kj_sema *s, kj_operand *v, int n, kj_span span)
{
    int scalars = 0;
    for (int k = 0; k < n; k++)
        scalars += v[k].kind == KJ_V_SCALAR || kj_is_untyped(&v[k]);
    if (scalars == n)
        return kj_unify(s, v, n, KJ_VOID, span, "a tuple that an index chooses from");
    for (int k = 0; k < n; k++)
        if (v[k].kind != KJ_V_TUPLE || v[k].u.tuple.n != v->u.tuple.n ||
            v[k].u.tuple.of != v->u.tuple.of) {
            kj_message *m = kj_sema_error(s, span, KJ_RULE_NEEDS_CONSTANT,
                                          "the items of this tuple are of several types, and its "
                                          "index is known to the thread only");
            kj_hint(s->diag, m,
                    "a constant index takes any, and so does a loop over a tuple without break and "
                    "continue");
            return false;
        }
    kj_operand *column = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)n);
    for (int k = 0; k < n; k++) {
        kj_operand *own = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)v[k].u.tuple.n + 1);
        for (int i = 0; i < v[k].u.tuple.n; i++)
            own[i] = v[k].u.tuple.items[i];
        v[k].u.tuple.items = own;
    }
    for (int i = 0; i < v->u.tuple.n; i++) {
        for (int k = 0; k < n; k++)
            column[k] = v[k].u.tuple.items[i];
        if (!alike(s, column, n, span))
            return false;
        for (int k = 0; k < n; k++)
            v[k].u.tuple.items[i] = column[k];
    }
    return true;
}

kj_operand kj_item_at(kj_sema *s, const kj_operand *tuple, kj_texpr *i, kj_span span)
{
    int n = tuple->u.tuple.n;
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)n + 1);
    for (int k = 0; k < n; k++)
        items[k] = tuple->u.tuple.items[k];
    if (n == 0 || !alike(s, items, n, span))
        return kj_no_value(span);
    return kj_choose_part(s, items, n, kj_hold(s, i, "index"), span);
}

kj_operand kj_one_of(kj_sema *s, const kj_operand *v, int i)
{
    kj_operand one = v->u.tuple.items[i];
    bool later = false;
    for (int k = i + 1; k < v->u.tuple.n; k++)
        later |= kj_operand_has_effect(s, &v->u.tuple.items[k]);
    for (int k = 0; k < v->u.tuple.n; k++) {
        kj_tstmt **end = s->sink->tail;
        if (k != i)
            kj_keep_effects(s, &v->u.tuple.items[k]);
        else if (later)
            kj_spill(s, &one, &end);
    }
    if (one.kind == KJ_V_SCALAR) /* in front of the index it is no product written there */
        one.u.scalar.a = one.u.scalar.b = NULL;
    return one;
}

kj_operand kj_part_at(kj_sema *s, const kj_operand *v, kj_texpr *i, kj_span span)
{
    if (kj_is_const(i))
        return kj_one_of(s, v, (int)i->u.value.i);
    return kj_choose_part(s, v->u.tuple.items, v->u.tuple.n, kj_hold(s, i, "index"), span);
}

/* ---- In arrays ---- */

/* What counts units of `a` counts those of its part. */
static kj_texpr *rescaled(kj_sema *s, const kj_tarray *a, const kj_tarray *view, kj_texpr *e)
{
    return e ? kj_i64_mul(s, e, kj_te_i64(s, kj_unit(a) / kj_unit(view), a->span), a->span) : NULL;
}

kj_tarray *kj_part_view(kj_sema *s, kj_tarray *a, const kj_field *part)
{
    kj_tarray *view = KJ_NEW(s->arena, kj_tarray);
    bool bytes = kj_lies_anywhere(a), equal = kj_is_uniform(a->of) && !bytes;
    *view = (kj_tarray){.name = part->name ? kj_arena_printf(s->arena, "%s.%s", a->name, part->name)
                                           : a->name,
                        .span = a->span,
                        .elem = part->type,
                        .of = part->of,
                        .ndim = a->ndim,
                        .space = a->space,
                        .root = a->root,
                        .layout = KJ_LAYOUT_STRIDED,
                        .bytes = bytes,
                        .whole = equal ? a : NULL,
                        .part = equal ? (int)(part->offset / a->of->least) : 0,
                        .checks = a->checks,
                        .cache = a->cache,
                        .id = -1,
                        .param = -1};
    view->offset = kj_i64_add(s, rescaled(s, a, view, a->offset),
                              kj_te_i64(s, part->offset / kj_unit(view), a->span), a->span);
    for (int i = 0; i < a->ndim; i++) {
        view->shape[i] = a->shape[i];
        view->stride[i] = rescaled(s, a, view, a->stride[i]);
    }
    return view;
}

/* Part by part as a[i].p.x is found: where a part lies, and whether it is accessed in bytes, depends on all that it is
 * within. */
static kj_operand load_parts(kj_sema *s, kj_tarray *a, kj_texpr *const *index, kj_span span)
{
    if (!a->of)
        return kj_scalar(kj_hold(s, kj_load(s, a, index, span), a->name));
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)a->of->n + 1);
    for (int i = 0; i < a->of->n; i++)
        items[i] = load_parts(s, kj_part_view(s, a, &a->of->fields[i]), index, span);
    return kj_tuple(items, a->of->n, a->of, span);
}

kj_operand kj_load_element(kj_sema *s, kj_tarray *a, kj_texpr *const *index, kj_span span)
{
    if (!a->of)
        return kj_scalar(kj_load(s, a, index, span));
    kj_texpr *held[KJ_MAX_NDIM];
    for (int i = 0; i < a->ndim; i++)
        held[i] = kj_hold(s, index[i], "index");
    return load_parts(s, a, held, span);
}

kj_operand kj_place_value(kj_sema *s, kj_operand v)
{
    if (v.kind != KJ_V_PLACE)
        return v;
    return kj_is_fixed(v.u.place.array->of)
               ? kj_array_field_place(s, &v)
               : kj_load_element(s, v.u.place.array, v.u.place.index, v.span);
}

static void store_parts(kj_sema *s, kj_tarray *a, kj_texpr *const *index, const kj_operand *v,
                        kj_span span)
{
    if (!a->of)
        kj_store(s, a, index, v->u.scalar.e, span);
    for (int i = 0; a->of && i < a->of->n; i++)
        store_parts(s, kj_part_view(s, a, &a->of->fields[i]), index, &v->u.tuple.items[i], span);
}

static void store_chosen(kj_sema *s, const kj_tarray *a, kj_texpr *const *index, kj_operand v,
                         kj_span span)
{
    kj_tstmt *arms[2];
    for (int i = 0; i < 2; i++) {
        kj_sink sink;
        kj_sink_open(s, &sink);
        kj_store_element(s, kj_arm(s, a, i), index, v, span);
        arms[i] = kj_sink_close(s, &sink);
    }
    kj_tstmt *st = kj_emit(s, KJ_TS_IF, span);
    st->u.if_.test = a->root->test;
    st->u.if_.yes = arms[0];
    st->u.if_.no = arms[1];
}

void kj_store_element(kj_sema *s, kj_tarray *a, kj_texpr *const *index, kj_operand v, kj_span span)
{
    kj_texpr *held[KJ_MAX_NDIM];
    bool again = a->of || kj_is_chosen(a) || kj_is_in_bytes(a);
    for (int i = 0; i < a->ndim; i++)
        held[i] = again ? kj_hold(s, index[i], "index") : index[i];
    if (again) /* all is read before the first part is written */
        v = kj_hold_value(s, v, "value");
    if (kj_is_chosen(a)) {
        store_chosen(s, a, held, v, span);
        return;
    }
    store_parts(s, a, held, &v, span);
    kj_array_used(s, a, false, true);
}

/* ---- Conversions ---- */

enum { HINTED = 16 }; /* items in a hint */

/* Items that are not written there are those of a variable, or what a call gives. */
static const char *items_text(kj_sema *s, const kj_operand *v)
{
    const char *text = "";
    for (int i = 0; i < v->u.tuple.n; i++) {
        if (i == KJ_MOST_LISTED)
            return kj_arena_printf(s->diag->arena, "%s, ...", text);
        kj_span at = v->u.tuple.items[i].span;
        bool here = at.begin >= v->span.begin && at.end <= v->span.end && v->u.tuple.n > 1;
        const char *item =
            here ? kj_source_text(s, at, "...")
                 : kj_arena_printf(s->diag->arena, "%s[%d]", kj_operand_text(s, v->span, "..."), i);
        text = kj_arena_printf(s->diag->arena, "%s%s%s", text, *text ? ", " : "", item);
    }
    return text;
}

kj_operand kj_coerce_aggregate(kj_sema *s, kj_operand v, const kj_aggregate *to, const char *what)
{
    if (v.kind == KJ_V_ERROR || (kj_is_aggregate(&v) && kj_same_aggregate(v.u.tuple.of, to)))
        return v;
    if (to->kind == KJ_COMPLEX && kj_becomes_complex(s, &v, to, what))
        return v;
    if (kj_is_fixed(to))
        return kj_array_field_value(s, v, to, what);
    kj_message *m = kj_sema_error(s, v.span, KJ_RULE_TYPE_MISMATCH, "%s is %s, not %s", what,
                                  to->name, kj_describe(s, &v));
    const char *text = kj_source_text(s, v.span, "...");
    if (v.kind == KJ_V_TUPLE && !kj_is_aggregate(&v) && v.u.tuple.n == to->n && to->n <= HINTED)
        kj_hint(s->diag, m, "write %s(%s)", to->name, items_text(s, &v));
    else if (kj_is_record(to))
        kj_hint(s->diag, m, "write %s(...) with its fields", to->name);
    else if (v.kind == KJ_V_SCALAR || kj_is_untyped(&v) || kj_is_aggregate(&v))
        kj_hint(s->diag, m, "write %s(%s)", to->name, text);
    return kj_no_value(v.span);
}

/* ---- Operators, calls ---- */

kj_operand kj_aggregate_unary(kj_sema *s, kj_op op, kj_operand a, kj_span span)
{
    if (kj_is_record(a.u.tuple.of) || kj_is_fixed(a.u.tuple.of)) {
        kj_sema_error(s, span, KJ_RULE_TYPE_MISMATCH, "'%s' works on numbers, not on %s",
                      kj_ops[op].spelling, a.u.tuple.of->name);
        return kj_no_value(span);
    }
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)a.u.tuple.n);
    for (int i = 0; i < a.u.tuple.n; i++) {
        items[i] = kj_unary(s, op, a.u.tuple.items[i], span);
        if (items[i].kind == KJ_V_ERROR)
            return kj_no_value(span);
    }
    a.u.tuple.items = items;
    return a;
}
