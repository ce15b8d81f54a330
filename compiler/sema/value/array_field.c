/* Arrays in fields of records, vel: f32[3]. In memory they are views: p.vel has an axis more than
 * p, and p[i].vel is that view's row i. In a value they are its parts. */
#include "sema/value/value.h"

/* ---- In memory ---- */

/* The axes that the elements have behind the first n, which count the units of `view`. */
static void add_axes(kj_sema *s, kj_tarray *view, const kj_aggregate *of)
{
    view->elem = of->elem;
    view->of = of->fields[0].of;
    view->whole = NULL;
    int64_t stride = kj_elem_size(view) / kj_unit(view);
    for (int i = of->ndim - 1; i >= 0; i--) {
        view->shape[view->ndim + i] = kj_te_i64(s, of->shape[i], view->span);
        view->stride[view->ndim + i] = kj_te_i64(s, stride, view->span);
        stride *= of->shape[i];
    }
    view->ndim += of->ndim;
}

kj_operand kj_array_field_view(kj_sema *s, kj_tarray *a, kj_span span)
{
    if (a->ndim + a->of->ndim > KJ_MAX_NDIM) {
        kj_sema_error(s, span, KJ_RULE_TOO_MANY_AXES,
                      "'%s' would have %d axes: an array has at most %d", a->name,
                      a->ndim + a->of->ndim, KJ_MAX_NDIM);
        return kj_no_value(span);
    }
    kj_tarray *view = KJ_NEW(s->arena, kj_tarray);
    *view = *a;
    add_axes(s, view, a->of);
    return (kj_operand){.kind = KJ_V_ARRAY, .span = span, .u.array = view};
}

/* Checks of the place's own indices, which are the first, as those of what is made of it. */
static kj_index_check *checks_at(kj_sema *s, kj_index_check *c, kj_texpr **index)
{
    kj_index_check *first = c, **end = &first;
    for (; c && !c->index; c = c->next) {
        *end = KJ_NEW(s->arena, kj_index_check);
        **end = *c;
        (*end)->index = index[c->axis] = kj_hold(s, index[c->axis], "index");
        end = &(*end)->next;
    }
    return first;
}

/* The element alone: an array of no axes yet. */
static kj_tarray *alone(kj_sema *s, const kj_operand *place)
{
    const kj_tarray *a = place->u.place.array;
    kj_tarray *view = KJ_NEW(s->arena, kj_tarray);
    *view = *a;
    view->checks = checks_at(s, a->checks, place->u.place.index);
    for (int i = 0; i < a->ndim; i++)
        view->offset = kj_i64_add(s, view->offset,
                                  kj_i64_mul(s, place->u.place.index[i], a->stride[i], place->span),
                                  place->span);
    if (view->offset)
        view->offset = kj_hold(s, view->offset, kj_arena_printf(s->arena, "%s.offset", a->name));
    view->ndim = 0;
    view->layout = KJ_LAYOUT_C;
    return view;
}

kj_operand kj_array_field_place(kj_sema *s, const kj_operand *place)
{
    kj_tarray *view = alone(s, place);
    add_axes(s, view, place->u.place.array->of);
    return (kj_operand){.kind = KJ_V_ARRAY, .span = place->span, .u.array = view};
}

static kj_tarray *make_row(kj_sema *s, kj_tarray *view, int64_t n, int64_t step)
{
    view->whole = NULL;
    view->shape[0] = kj_te_i64(s, n, view->span);
    view->stride[0] = kj_te_i64(s, step, view->span);
    view->ndim = 1;
    return view;
}

kj_tarray *kj_row_at(kj_sema *s, const kj_operand *place)
{
    const kj_aggregate *of = place->u.place.array->of;
    kj_tarray *view = alone(s, place);
    view->elem = of->elem;
    view->of = of->fields[0].of;
    return make_row(s, view, of->n, kj_elem_size(view) / kj_unit(view));
}

kj_tarray *kj_words_at(kj_sema *s, const kj_operand *place, kj_dtype word)
{
    kj_tarray *a = place->u.place.array;
    kj_field first = {.type = word};
    kj_operand at = *place;
    at.u.place.array = kj_part_view(s, a, &first);
    return make_row(s, alone(s, &at), a->of->size / kj_types[word].size, 1);
}

/* ---- Indices into a value ---- */

/* ---- Values of them ---- */

/* The flat list of what is given. */
typedef struct filling {
    const kj_aggregate *of;
    kj_operand *items;
    int n;
    const char *what;
} filling;

static bool add_item(kj_sema *s, filling *f, kj_operand v)
{
    const kj_field *part = &f->of->fields[f->n];
    kj_type type = {part->of ? KJ_T_AGGREGATE : KJ_T_SCALAR, part->type, part->of, 0, NULL, 0};
    v = kj_coerce_type(s, v, &type, kj_arena_printf(s->diag->arena, "an element of %s", f->what));
    f->items[f->n++] = v;
    return v.kind != KJ_V_ERROR;
}

static kj_operand mismatch(kj_sema *s, const filling *f, const kj_operand *v)
{
    kj_message *m = kj_sema_error(s, v->span, KJ_RULE_TYPE_MISMATCH, "%s is %s, not %s", f->what,
                                  f->of->name, kj_describe(s, v));
    if (f->of->ndim == 1 && f->of->n <= 4)
        kj_hint(s->diag, m, "write (%s)",
                f->of->n == 1   ? "a,"
                : f->of->n == 2 ? "a, b"
                : f->of->n == 3 ? "a, b, c"
                                : "a, b, c, d");
    return kj_no_value(v->span);
}

/* ((a, b), (c, d)): tuples as the axes go. */
static bool fits(const kj_operand *v, const kj_aggregate *of, int axis)
{
    if (axis == of->ndim)
        return true;
    if (v->kind != KJ_V_TUPLE || v->u.tuple.of || v->u.tuple.n != of->shape[axis])
        return false;
    for (int i = 0; i < v->u.tuple.n; i++)
        if (!fits(&v->u.tuple.items[i], of, axis + 1))
            return false;
    return true;
}

static bool from_tuple(kj_sema *s, filling *f, const kj_operand *v, int axis)
{
    bool ok = true;
    if (axis == f->of->ndim)
        return add_item(s, f, *v);
    for (int i = 0; ok && i < v->u.tuple.n; i++)
        ok = from_tuple(s, f, &v->u.tuple.items[i], axis + 1);
    return ok;
}

static bool is_alike(const kj_tarray *a, const kj_aggregate *of)
{
    bool same = a->ndim == of->ndim && a->elem == of->elem;
    for (int i = 0; same && i < of->ndim; i++)
        same = kj_is_const_i64(a->shape[i], of->shape[i]);
    return same;
}

/* A view of the same shape, read. */
static bool from_array(kj_sema *s, filling *f, kj_tarray *a, kj_texpr **index, int axis,
                       kj_span span)
{
    bool ok = true;
    if (axis == a->ndim)
        return add_item(s, f, kj_hold_value(s, kj_load_element(s, a, index, span), a->name));
    for (int64_t i = 0; ok && i < f->of->shape[axis]; i++) {
        index[axis] = kj_te_i64(s, i, span);
        ok = from_array(s, f, a, index, axis + 1, span);
    }
    return ok;
}

kj_operand kj_array_field_value(kj_sema *s, kj_operand v, const kj_aggregate *of, const char *what)
{
    filling f = {of, KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)of->n), 0, what};
    kj_texpr *index[KJ_MAX_NDIM];
    bool ok;
    if (fits(&v, of, 0))
        ok = from_tuple(s, &f, &v, 0);
    else if (v.kind == KJ_V_ARRAY && is_alike(v.u.array, of))
        ok = from_array(s, &f, v.u.array, index, 0, v.span);
    else
        return mismatch(s, &f, &v);
    return ok ? kj_tuple(f.items, of->n, of, v.span) : kj_no_value(v.span);
}

bool kj_hint_of_held(kj_sema *s, kj_message *m, const kj_operand *v)
{
    if (v->kind != KJ_V_TUPLE || !kj_is_fixed(v->u.tuple.of))
        return false;
    kj_hint(s->diag, m,
            "a field of an element is a view, as in f(a[i].v); one of a record held as a value is "
            "not: loop over it");
    return true;
}
