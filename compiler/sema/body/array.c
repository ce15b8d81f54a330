/* Arrays in expressions: indexing a[i], slices a[1:5] and other views, their types, shapes and
 * strides.
 *
 * A view is a kj_tarray whose offset, shape and strides are constants, launch values or hidden
 * lets declared where the view is made: nothing of it is computed again where it is used. */
#include <string.h>

#include "sema/body/body.h"

/* One axis of an indexing: at, or start:stop:step. */
typedef struct selection {
    kj_texpr *at; /* NULL: a slice */
    kj_written as;
    kj_texpr *start, *stop;
    int64_t step;
    bool whole; /* ':' alone */
} selection;

/* ---- Indices ---- */

static void index_count_error(kj_sema *s, const kj_expr *e, const kj_tarray *a, int n)
{
    kj_message *m = kj_sema_error(
        s, e->span, KJ_RULE_INDEX_COUNT, "an element of %s has %d %s, not %d",
        kj_array_type(s, a->elem, a->ndim), a->ndim, a->ndim == 1 ? "index" : "indices", n);
    const kj_expr *first = e->kind == KJ_E_INDEX ? e->u.index.args : NULL;
    if (a->ndim == 1 && n == 2 && first && (kj_is_new_axis(first) || kj_is_new_axis(first->next)))
        kj_write(s->diag, m, e->span, "%s.reshape(%s)",
                 kj_operand_text(s, e->u.index.base->span, "..."),
                 kj_is_new_axis(first) ? "1, -1" : "-1, 1");
    else if (n < a->ndim)
        kj_hint(s->diag, m, "fewer indices make a view, and an element is needed here");
    else {
        if (e->kind == KJ_E_INDEX)
            kj_take_with_axes(s, m, e, 0);
        if (a->span.end)
            kj_note(s->diag, m, a->span, "declared here");
    }
}

/* Refuses what is certainly outside: a negative literal, or one past a known extent. */
static bool check_literal(kj_sema *s, const kj_operand *v, const kj_tarray *a, kj_span of, int axis)
{
    if (v->kind != KJ_V_LITERAL || v->u.literal.type != KJ_I64 || axis >= a->ndim)
        return true;
    int64_t i = v->u.literal.i;
    if (i < 0) {
        kj_message *m = kj_sema_error(s, v->span, KJ_RULE_NEGATIVE_INDEX,
                                      "a negative index is outside the array");
        if (a->root == a && a->name)
            kj_hint(s->diag, m, "counted from the end: %s.shape[%d] - %lld", a->name, axis,
                    -(long long)i);
        else
            kj_hint(s->diag, m, "counted from the end it is the axis's extent less %lld",
                    -(long long)i);
        return false;
    }
    const kj_texpr *extent = a->shape[axis];
    if (kj_is_const(extent) && i >= extent->u.value.i && !kj_is_hypothetical(s)) {
        kj_sema_error(s, v->span, KJ_RULE_INDEX_RANGE,
                      "index %lld is outside axis %d of '%s', which has %lld elements",
                      (long long)i, axis, kj_source_text(s, of, a->name),
                      (long long)extent->u.value.i);
        return false;
    }
    return true;
}

/* Evaluated indices, a tuple alone spread out. Returns their number, -1 after an error. */
static int spread(kj_operand *v, int n, kj_operand out[KJ_MAX_NDIM])
{
    if (n == 1 && v[0].kind == KJ_V_TUPLE && !kj_is_complex(&v[0])) {
        n = v[0].u.tuple.n;
        v = v[0].u.tuple.items;
    }
    for (int i = 0; i < n; i++) {
        if (v[i].kind == KJ_V_ERROR)
            return -1;
        if (i < KJ_MAX_NDIM)
            out[i] = v[i];
    }
    return n;
}

bool kj_element_at(kj_sema *s, const kj_expr *place, const kj_expr *base, kj_tarray **array,
                   kj_operand *v, int n, kj_texpr **index)
{
    kj_tarray *a = *array;
    kj_operand at[KJ_MAX_NDIM];
    n = spread(v, n, at);
    if (n < 0)
        return false;
    if (n != a->ndim) {
        index_count_error(s, place, a, n);
        return false;
    }
    bool ok = true;
    kj_written as[KJ_MAX_NDIM];
    for (int i = 0; i < n; i++) {
        ok = check_literal(s, &at[i], a, base->span, i) && ok;
        as[i] = kj_written_index(&at[i], base->span);
        index[i] = kj_index_value(s, at[i], "an index");
        ok = ok && index[i];
    }
    if (ok)
        *array = kj_watched(s, kj_index_checked(s, a, index, as), place->span);
    return ok;
}

/* ---- Views ---- */

/* Counted from the start of the axis, where one below 0 counts from the end. NULL after an error. */
static kj_texpr *slice_bound(kj_sema *s, const kj_expr *e, const kj_tarray *base, int axis)
{
    kj_operand v = kj_most_i64(
        s, kj_settle_as(s, kj_index_whole(s, e), KJ_VOID)); /* no u64 counts from the end */
    kj_texpr *bound = kj_index_value(s, v, "an index");
    if (!bound || kj_least(s, bound) >= 0)
        return bound ? kj_hold(s, bound, "bound") : NULL;
    if (kj_is_const(bound))
        return kj_i64_add(s, base->shape[axis], bound, e->span);
    bound = kj_hold(s, bound, "bound");
    kj_texpr *below = kj_te_binary(s, KJ_OP_LT, bound, kj_te_i64(s, 0, e->span), e->span);
    kj_texpr *from_end = kj_i64_add(s, base->shape[axis], bound, e->span);
    return kj_hold(s, kj_te_select(s, below, from_end, bound, e->span), "bound");
}

/* Bounds beyond the axis are taken back to it as far as elements depend on that: a start behind the
 * last element leaves none, so that the offset stays what the source says. */
static bool select_slice(kj_sema *s, const kj_expr *e, const kj_tarray *base, int axis,
                         selection *out)
{
    const kj_expr *start = e->u.slice.start, *stop = e->u.slice.stop;
    kj_value by = kj_int(KJ_I64, 1);
    out->whole = !start && !stop && !e->u.slice.step;
    if (e->u.slice.step && !kj_whole_const(s, e->u.slice.step, "a slice's step", &by))
        return false;
    int64_t step = kj_value_fits(by, KJ_I64) ? by.i : INT64_MAX;
    if (step == 0) {
        kj_sema_error(s, e->u.slice.step->span, KJ_RULE_SLICE_STEP, "a slice's step is not 0");
        return false;
    }
    if (step > KJ_MOST_EXTENT || step < -KJ_MOST_EXTENT) /* longer than any axis */
        step = step < 0 ? -KJ_MOST_EXTENT : KJ_MOST_EXTENT;
    kj_texpr *extent = base->shape[axis];
    kj_texpr *first = kj_te_i64(s, 0, e->span), *none = kj_te_i64(s, -1, e->span);
    kj_texpr *last = step < 0 ? kj_i64_sub(s, extent, kj_te_i64(s, 1, e->span), e->span) : NULL;
    out->step = step;
    out->start = start ? slice_bound(s, start, base, axis) : step < 0 ? last : first;
    out->stop = stop ? slice_bound(s, stop, base, axis) : step < 0 ? none : extent;
    if (!out->start || !out->stop)
        return false;
    if (start && step < 0)
        out->start = kj_hold(
            s, kj_i64_max(s, kj_i64_min(s, out->start, last, e->span), none, e->span), "start");
    else if (start && kj_least(s, out->start) < 0)
        out->start = kj_hold(s, kj_i64_max(s, out->start, first, e->span), "start");
    if (stop)
        out->stop = step < 0 ? kj_i64_max(s, out->stop, none, e->span)
                             : kj_i64_min(s, out->stop, extent, e->span);
    if (stop && step > 0 && kj_least(s, out->stop) < 0) /* so that lengths do not wrap */
        out->stop = kj_i64_max(s, out->stop, first, e->span);
    return true;
}

static bool select_index(kj_sema *s, kj_operand v, const kj_tarray *base, kj_span of, int axis,
                         selection *out)
{
    if (!check_literal(s, &v, base, of, axis))
        return false;
    out->as = kj_written_index(&v, of);
    out->at = kj_index_value(s, v, "an index");
    if (out->at)
        out->at = kj_hold(s, out->at, "index");
    return out->at != NULL;
}

/* Elements from start up to stop, or down to it; never fewer than none. */
static kj_texpr *slice_length(kj_sema *s, const selection *sel, kj_span span)
{
    bool down = sel->step < 0;
    int64_t step = down ? -sel->step : sel->step;
    kj_texpr *from = down ? sel->stop : sel->start, *to = down ? sel->start : sel->stop;
    kj_texpr *n = kj_i64_sub(s, to, from, span);
    if (kj_least(s, n) < 0)
        n = kj_i64_max(s, n, kj_te_i64(s, 0, span), span);
    if (step == 1)
        return n;
    n = kj_i64_add(s, n, kj_te_i64(s, step - 1, span), span);
    return kj_te_binary(s, KJ_OP_FLOORDIV, n, kj_te_i64(s, step, span), span);
}

/* Still in C order without gaps: single rows, then at most one range, then whole axes. */
static bool stays_dense(const kj_tarray *base, const selection *sel, int n)
{
    bool ranged = false;
    for (int i = 0; i < n; i++) {
        if ((sel[i].at || !sel[i].whole) && ranged)
            return false;
        if (!sel[i].at) {
            if (sel[i].step != 1)
                return false;
            ranged = true;
        }
    }
    return base->layout == KJ_LAYOUT_C;
}

/* What is `row` of the view? */
static int64_t row_of(const kj_tarray *base, const selection *sel, int n)
{
    const selection *last = n == base->ndim ? &sel[n - 1] : NULL;
    if (!last || (!last->at && last->whole) || !base->row)
        return base->row;
    bool known = !last->at && last->step == 1 && kj_is_const(last->start);
    int64_t row;
    return known && !__builtin_add_overflow(base->row, last->start->u.value.i, &row) ? row : 0;
}

static kj_operand make_view(kj_sema *s, kj_tarray *base, const selection *sel, int n, kj_span span)
{
    const char *name = s->naming ? s->naming : base->name;
    kj_tarray *view = KJ_NEW(s->arena, kj_tarray);
    *view = (kj_tarray){.name = name,
                        .span = span,
                        .elem = base->elem,
                        .of = base->of,
                        .bytes = base->bytes,
                        .whole = base->whole,
                        .part = base->part,
                        .row = row_of(base, sel, n),
                        .space = base->space,
                        .root = base->root,
                        .checks = base->checks,
                        .id = -1,
                        .param = -1,
                        .offset = base->offset};
    for (int i = 0; i < base->ndim; i++) {
        if (i >= n || (!sel[i].at && sel[i].whole)) {
            view->shape[view->ndim] = base->shape[i];
            view->stride[view->ndim++] = base->stride[i];
            continue;
        }
        kj_texpr *from = sel[i].at ? sel[i].at : sel[i].start;
        if (!kj_is_const_i64(from, 0))
            view->offset =
                kj_i64_add(s, view->offset, kj_i64_mul(s, from, base->stride[i], span), span);
        if (sel[i].at) {
            view->checks = kj_index_check_of(s, base, i, sel[i].at, sel[i].as, view->checks);
            continue;
        }
        view->shape[view->ndim] =
            kj_hold(s, slice_length(s, &sel[i], span),
                    kj_arena_printf(s->arena, "%s.shape%d", name, view->ndim));
        kj_texpr *stride = kj_i64_mul(s, base->stride[i], kj_te_i64(s, sel[i].step, span), span);
        view->stride[view->ndim] =
            kj_hold(s, stride, kj_arena_printf(s->arena, "%s.stride%d", name, view->ndim));
        view->ndim++;
    }
    if (view->offset)
        view->offset = kj_hold(s, view->offset, kj_arena_printf(s->arena, "%s.offset", name));
    view->layout = stays_dense(base, sel, n) ? KJ_LAYOUT_C : KJ_LAYOUT_STRIDED;
    return (kj_operand){.kind = KJ_V_ARRAY, .span = span, .u.array = view};
}

kj_operand kj_item_of(kj_sema *s, kj_tarray *a, kj_texpr *i, kj_span span)
{
    if (a->ndim == 1)
        return kj_load_element(s, a, &i, span);
    selection row = {.at = i, .as = {.at = span, .type = KJ_I64}};
    return make_view(s, a, &row, 1, span);
}

static kj_operand element(kj_sema *s, kj_tarray *a, kj_texpr *const *index, kj_span span)
{
    kj_operand v = {.kind = KJ_V_PLACE, .span = span};
    v.u.place.array = a;
    v.u.place.index = KJ_NEW_ARRAY(s->arena, kj_texpr *, KJ_MAX_NDIM);
    for (int i = 0; i < a->ndim; i++)
        v.u.place.index[i] = index[i];
    return v;
}

static kj_operand index_array(kj_sema *s, const kj_expr *e, kj_tarray *base)
{
    int n = kj_count(e->u.index.args);
    kj_span of = e->u.index.base->span;
    bool slices = false;
    selection sel[KJ_MAX_NDIM] = {{.step = 1}};
    for (const kj_expr *arg = e->u.index.args; arg; arg = arg->next)
        slices |= arg->kind == KJ_E_SLICE;
    if (n > base->ndim) {
        index_count_error(s, e, base, n);
        return kj_no_value(e->span);
    }
    const kj_expr *arg = e->u.index.args;
    if (slices) {
        for (int i = 0; i < n; i++, arg = arg->next)
            if (!(arg->kind == KJ_E_SLICE
                      ? select_slice(s, arg, base, i, &sel[i])
                      : select_index(s, kj_index_whole(s, arg), base, of, i, &sel[i])))
                return kj_no_value(e->span);
        return make_view(s, base, sel, n, e->span);
    }
    kj_operand v[KJ_MAX_NDIM], at[KJ_MAX_NDIM];
    kj_texpr *index[KJ_MAX_NDIM];
    kj_index_list(s, arg, v, n);
    int nat = spread(v, n, at);
    if (nat >= base->ndim)
        return kj_element_at(s, e, e->u.index.base, &base, v, n, index)
                   ? element(s, base, index, e->span)
                   : kj_no_value(e->span);
    for (int i = 0; i < nat; i++)
        if (!select_index(s, at[i], base, of, i, &sel[i]))
            return kj_no_value(e->span);
    return nat < 0 ? kj_no_value(e->span) : make_view(s, base, sel, nat, e->span);
}

/* The index of one of n parts: false where it is a constant outside, which is replaced where that is no error. */
static bool is_part(kj_sema *s, kj_texpr **i, int64_t n)
{
    if (!kj_is_const(*i) || ((*i)->u.value.i >= 0 && (*i)->u.value.i < n))
        return true;
    if (!kj_is_hypothetical(s))
        return false;
    *i = kj_te_i64(s, 0, (*i)->span);
    return true;
}

/* The index of a constant outside: of a shape it is the axes that are too few. */
static void outside_tuple(kj_sema *s, const kj_expr *e, const char *index, int n)
{
    const kj_expr *of = e->u.index.base, *at = e->u.index.args;
    const char *member = of->kind == KJ_E_MEMBER ? of->u.member.name : "";
    if (strcmp(member, "shape") != 0 && strcmp(member, "strides") != 0 &&
        strcmp(member, "steps") != 0) {
        kj_sema_error(s, at->span, KJ_RULE_INDEX_RANGE, "index %s is outside a tuple of %d", index,
                      n);
        return;
    }
    kj_message *m = kj_sema_error(
        s, at->span, KJ_RULE_INDEX_RANGE, "index %s is outside: '%s' has %d %s", index,
        kj_source_text(s, of->u.member.base->span, "the array"), n, n == 1 ? "axis" : "axes");
    kj_take_with_axes(s, m, e, 0);
}

/* t[i]: the parts that are left out still happen. */
static kj_operand index_tuple(kj_sema *s, const kj_expr *e, const kj_operand *t)
{
    const kj_expr *arg = e->u.index.args;
    if (!arg || arg->next || arg->kind == KJ_E_SLICE) {
        kj_sema_error(s, e->span, KJ_RULE_INDEX_COUNT, "a tuple has one index");
        return kj_no_value(e->span);
    }
    kj_operand items = *t;
    kj_tstmt **at = s->sink->tail;
    kj_operand v = kj_expr_value(s, arg, KJ_VOID);
    if (kj_could_see(s, at, &v))
        kj_spill(s, &items, &at);
    t = &items;
    kj_written as = kj_written_index(&v, e->u.index.base->span);
    kj_texpr *i = kj_index_value(s, v, "a tuple's index");
    if (!i)
        return kj_no_value(e->span);
    if (t->u.tuple.n == 0) {
        if (!kj_is_hypothetical(s))
            kj_sema_error(s, e->span, KJ_RULE_INDEX_RANGE, "an empty tuple has no items");
        return kj_no_value(e->span);
    }
    if (!is_part(s, &i, t->u.tuple.n)) {
        outside_tuple(s, e, kj_index_text(s, i, &as), t->u.tuple.n);
        return kj_no_value(e->span);
    }
    if (!kj_is_const(i)) {
        i = kj_hold(s, i, "index");
        return kj_item_at(s, t, kj_index_of_value(s, "a tuple", 0, 1, i, as, t->u.tuple.n),
                          e->span);
    }
    return kj_one_of(s, t, (int)i->u.value.i);
}

static kj_texpr *fixed_index(kj_sema *s, const kj_expr *e, const kj_aggregate *of)
{
    kj_operand v[KJ_MAX_NDIM];
    int n = kj_count(e->u.index.args);
    for (const kj_expr *arg = e->u.index.args; arg; arg = arg->next)
        n = arg->kind == KJ_E_SLICE ? -1 : n;
    if (n != of->ndim) {
        kj_message *m = kj_sema_error(s, e->span, KJ_RULE_INDEX_COUNT, "a value of %s has %d %s",
                                      of->name, of->ndim, of->ndim == 1 ? "index" : "indices");
        if (n < 0)
            kj_hint(s->diag, m, "views are of what is in memory, as p[i].v[:2] is");
        return NULL;
    }
    kj_index_list(s, e->u.index.args, v, n);
    kj_texpr *at = NULL;
    for (int i = 0; i < n; i++) {
        kj_written as = kj_written_index(&v[i], e->u.index.base->span);
        kj_texpr *k = kj_index_value(s, v[i], "an index");
        if (!k)
            return NULL;
        if (!is_part(s, &k, of->shape[i])) {
            kj_sema_error(s, v[i].span, KJ_RULE_INDEX_RANGE,
                          "index %s is outside axis %d of %s, which has %lld elements",
                          kj_index_text(s, k, &as), i, of->name, (long long)of->shape[i]);
            return NULL;
        }
        k = kj_hold(s, k, "index");
        k = kj_index_of_value(s, of->name, i, of->ndim, k, as, of->shape[i]);
        at = at ? kj_i64_add(s, kj_i64_mul(s, at, kj_te_i64(s, of->shape[i], e->span), e->span), k,
                             e->span)
                : k;
    }
    return kj_hold(s, at, "index");
}

/* The index in v[i], of a vector (or the place of one) of n; NULL after an error. */
static kj_texpr *vector_index(kj_sema *s, const kj_expr *e, const kj_operand *v, int n,
                              kj_written *as)
{
    const kj_expr *arg = e->u.index.args;
    if (!arg || arg->next || arg->kind == KJ_E_SLICE) {
        kj_sema_error(s, e->span, KJ_RULE_INDEX_COUNT, "%s has one index", kj_describe(s, v));
        return NULL;
    }
    kj_operand at = kj_expr_value(s, arg, KJ_VOID);
    *as = kj_written_index(&at, e->u.index.base->span);
    kj_texpr *i = kj_index_value(s, at, "an index");
    if (!i || is_part(s, &i, n))
        return i;
    kj_sema_error(s, arg->span, KJ_RULE_INDEX_RANGE,
                  "index %s is outside of %s, which has %d elements", kj_index_text(s, i, as),
                  kj_describe(s, v), n);
    return NULL;
}

kj_texpr *kj_part_index(kj_sema *s, const kj_expr *e, const kj_operand *v)
{
    const kj_aggregate *of = v->u.tuple.of;
    if (kj_is_fixed(of))
        return fixed_index(s, e, of);
    if (!kj_is_record(of)) {
        kj_written as;
        kj_texpr *i = vector_index(s, e, v, of->n, &as);
        return i ? kj_index_of_value(s, of->name, 0, 1, i, as, of->n) : NULL;
    }
    kj_message *m =
        kj_sema_error(s, e->span, KJ_RULE_NOT_AN_ARRAY, "this is %s, not an array", of->name);
    if (!kj_take_as_array(s, m, e))
        kj_hint(s->diag, m, "a field is written .%s", of->fields[0].name);
    return NULL;
}

/* v[i] of a vector, or of an array in a record. */
static kj_operand index_value(kj_sema *s, const kj_expr *e, const kj_operand *v)
{
    kj_tstmt **at = s->sink->tail;
    kj_texpr *i = kj_part_index(s, e, v);
    kj_operand parts = *v;
    if (i && (s->sink->tail != at || kj_has_effect(i)))
        kj_spill(s, &parts, &at);
    return i ? kj_part_at(s, &parts, i, e->span) : kj_no_value(e->span);
}

/* What is evaluated before the statements from `at` on stays as it was then. */
static void spill_index(kj_sema *s, kj_operand *place, kj_tstmt **at)
{
    kj_texpr **held = KJ_NEW_ARRAY(s->arena, kj_texpr *, KJ_MAX_NDIM);
    for (int i = 0; i < place->u.place.array->ndim; i++) {
        kj_operand index = kj_scalar(place->u.place.index[i]);
        kj_spill(s, &index, &at);
        held[i] = index.u.scalar.e;
    }
    place->u.place.index = held;
}

/* a[i][k] of an array of vectors: the parts are an axis more. */
static kj_operand part_of_element(kj_sema *s, const kj_expr *e, const kj_operand *v)
{
    kj_tarray *a = v->u.place.array;
    kj_written as;
    kj_tstmt **at = s->sink->tail;
    kj_texpr *i = vector_index(s, e, v, a->of->n, &as);
    kj_operand out = *v;
    as.alone = true;
    if (!i)
        return kj_no_value(e->span);
    if (s->sink->tail != at || kj_has_effect(i))
        spill_index(s, &out, at);
    if (kj_is_const(i)) {
        out.u.place.array = kj_part_view(s, a, &a->of->fields[i->u.value.i]);
        return out;
    }
    kj_tarray *view = kj_part_view(s, a, &a->of->fields[0]);
    view->name = a->name; /* of all parts */
    view->whole = NULL;
    view->shape[view->ndim] = kj_te_i64(s, a->of->n, e->span);
    view->stride[view->ndim++] = kj_te_i64(s, kj_elem_size(view) / kj_unit(view), e->span);
    view->checks = kj_axis_checked(s, view, view->ndim - 1, i, as, view->checks);
    out.u.place.array = view;
    out.u.place.index[view->ndim - 1] = i;
    return out;
}

kj_operand kj_index_expr(kj_sema *s, const kj_expr *e)
{
    return kj_place_value(s, kj_index_place(s, e));
}

kj_operand kj_index_place(kj_sema *s, const kj_expr *e)
{
    const char *naming = s->naming;
    s->naming = NULL; /* b[i] of b[i][j] is not what is declared */
    kj_operand base = kj_place_expr(s, e->u.index.base);
    s->naming = naming;
    return kj_index_of(s, e, base);
}

kj_operand kj_index_of(kj_sema *s, const kj_expr *e, kj_operand base)
{
    if (base.kind == KJ_V_PLACE && kj_is_vector(base.u.place.array->of) &&
        base.u.place.array->ndim < KJ_MAX_NDIM)
        return part_of_element(s, e, &base);
    base = kj_place_value(s, base);
    if (base.kind == KJ_V_ARRAY)
        return index_array(s, e, base.u.array);
    if (kj_is_aggregate(&base) && !kj_is_complex(&base))
        return index_value(s, e, &base);
    if (base.kind == KJ_V_TUPLE && !base.u.tuple.of)
        return index_tuple(s, e, &base);
    if (base.kind == KJ_V_ERROR)
        return base;
    if (base.kind == KJ_V_SYMBOL && base.u.symbol->kind == KJ_SYM_KERNEL) {
        kj_message *m = kj_sema_error(s, e->span, KJ_RULE_NOT_A_VALUE,
                                      "a kernel's launch by a kernel begins with 'launch'");
        kj_hint(s->diag, m, "write launch %s(...)",
                kj_source_text(s, e->span, base.u.symbol->name));
        return kj_no_value(e->span);
    }
    kj_span at = e->u.index.base->span;
    if (base.kind != KJ_V_SYMBOL) {
        kj_message *m = kj_sema_error(s, at, KJ_RULE_NOT_AN_ARRAY, "this is %s, not an array",
                                      kj_describe(s, &base));
        if (!kj_take_as_array(s, m, e))
            kj_take_with_axes(s, m, e, 0);
        return kj_no_value(e->span);
    }
    kj_message *m =
        kj_sema_error(s, at, KJ_RULE_NOT_AN_ARRAY, "'%s' is not an array", base.u.symbol->name);
    if (strcmp(kj_builtins[base.u.symbol->builtin].group, "index") == 0 &&
        base.u.symbol->kind == KJ_SYM_BUILTIN)
        kj_hint(s->diag, m, "write %s.x, .y or .z", base.u.symbol->name);
    else if (base.u.symbol->kind == KJ_SYM_FN || base.u.symbol->kind == KJ_SYM_BUILTIN)
        kj_hint(s->diag, m, "a call is written %s(...)", base.u.symbol->name);
    return kj_no_value(e->span);
}
