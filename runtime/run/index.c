/* a[i, j:k] and a.shape, by Python's rules. In: a value and what stands in the brackets; out: a
 * place that can be read and assigned: an item, an element, or a view. */
#include "run/run.h"

#include <string.h>

/* ---- Indices and slices ---- */

typedef struct axis_range {
    bool single; /* an index: start */
    int64_t start, stop, step;
} axis_range;

/* x[x > 5] */
static bool hint_mask(kj_run *r, const kj_expr *e, int axes, int of_mask)
{
    enum { MOST = 24 };
    const char *text = r->source->text;
    uint32_t end = e->span.begin, begin;
    while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '['))
        end--;
    for (begin = end; begin > 0 && kj_is_word(text[begin - 1]);)
        begin--;
    int of = (int)(end - begin), mask = (int)(e->span.end - e->span.begin);
    if (of == 0 || of > MOST || mask > MOST)
        return kj_run_hint(
            r, "where(condition, value, array) is the array with another value where the condition "
               "holds; use std.select has select.where(array, condition)");
    if (axes > of_mask && of_mask == 1) /* whole rows of it */
        return kj_run_hint(r,
                           "for i in select.places(%.*s) { ... %.*s[i] ... } goes over those rows, "
                           "with use std.select at the top",
                           mask, text + e->span.begin, of, text + begin);
    if (axes > 1)
        return kj_run_hint(r,
                           "%.*s[:] = where(%.*s, ..., %.*s) sets those elements; "
                           "select.where(%.*s.ravel(), (%.*s).ravel()) gives them, with use "
                           "std.select at the top",
                           of, text + begin, mask, text + e->span.begin, of, text + begin, of,
                           text + begin, mask, text + e->span.begin);
    return kj_run_hint(r,
                       "%.*s[:] = where(%.*s, ..., %.*s) sets those elements; select.where(%.*s, "
                       "%.*s) gives them, "
                       "with use std.select at the top",
                       of, text + begin, mask, text + e->span.begin, of, text + begin, of,
                       text + begin, mask, text + e->span.begin);
}

/* x[a], of the indices in an array */
static bool hint_indices(kj_run *r, const kj_expr *e)
{
    enum { MOST = 24 };
    int n = (int)(e->span.end - e->span.begin);
    const char *text = n > MOST ? "a" : r->source->text + e->span.begin;
    return kj_run_hint(
        r,
        "an index is of one element: for i in %.*s { ... } goes from one to the next; "
        "many are gathered by a kernel: out[i] = a[indices[i]]",
        n > MOST ? 1 : n, text);
}

/* a[[1, 2]] */
static bool hint_list(kj_run *r, const kj_expr *e)
{
    enum { MOST = 4, LONGEST = 80 };
    const char *source = r->source->text;
    uint32_t open = e->span.begin, begin;
    while (open > 0 && source[open - 1] == ' ')
        open--;
    for (begin = open > 0 ? open - 1 : 0; begin > 0 && kj_is_word(source[begin - 1]);)
        begin--;
    const kj_expr *item = e->kind == KJ_E_LIST ? e->u.list.items : NULL;
    kj_text t = {0};
    bool alone = open > 0 && source[open - 1] == '[' && source[e->span.end] == ']';
    bool simple = item && alone && begin + 1 < open && kj_count(item) <= MOST;
    for (; simple && item; item = item->next)
        kj_text_printf(&t, "%s%.*s[%.*s]", t.size ? ", " : "", (int)(open - 1 - begin),
                       source + begin, (int)(item->span.end - item->span.begin),
                       source + item->span.begin);
    if (simple && !t.failed && t.size <= LONGEST)
        kj_run_hint(r, "one index or slice for each axis: array([%s])", t.data);
    else
        kj_run_hint(r, "one index or slice for each axis: array([a[0], a[2]]), a[::2]");
    kj_text_free(&t);
    return false;
}

/* `axes` of the array that it is an index of, or 0. */
static bool whole_number(kj_run *r, const kj_expr *e, const char *what, int axes, kj_rvalue *out)
{
    const int64_t *shape;
    if (!kj_run_eval(r, e, out))
        return false;
    if (out->kind != KJ_R_INT) {
        kj_run_fail(r, KJIT_TYPE, e->span, "%s is an int, not %s", what, kj_run_kind_name(*out));
        if (out->kind == KJ_R_ARRAY || out->kind == KJ_R_LAZY)
            return kj_is_int(kj_lazy_type(*out))
                       ? hint_indices(r, e)
                       : hint_mask(r, e, axes, kj_lazy_shape(*out, &shape));
        if (out->kind == KJ_R_STRING && axes > 0)
            return kj_run_hint(r, "a column of a table is load(path, name=%s)",
                               kj_quoted(r->source, e->span, false, "\"x\"").text);
        if (out->kind == KJ_R_LIST)
            return hint_list(r, e);
        return out->kind == KJ_R_FLOAT ? kj_run_hint_int(r, e->span) : false;
    }
    return true;
}

/* As far as axes go. */
static int64_t bounded(kj_rvalue v)
{
    return v.dtype == KJIT_U64 ? INT64_MAX : v.u.i;
}

static bool integer(kj_run *r, const kj_expr *e, const char *what, int64_t *out)
{
    kj_rvalue v;
    bool ok = whole_number(r, e, what, 0, &v);
    *out = ok ? bounded(v) : 0;
    return ok;
}

static int64_t clipped(int64_t i, int64_t n, int64_t least, int64_t most)
{
    if (i < 0)
        i += n;
    return i < least ? least : i > most ? most : i;
}

/* As Python's slice.indices: afterwards start + k * step stays within 0 .. n-1 while it is before
 * stop. */
static bool slice_range(kj_run *r, const kj_expr *e, int64_t n, axis_range *out)
{
    int64_t step = 1;
    if (e->u.slice.step && !integer(r, e->u.slice.step, "a slice's step", &step))
        return false;
    if (step == 0)
        return kj_run_fail(r, KJIT_SHAPE, e->u.slice.step->span, "a slice's step cannot be 0");
    int64_t least = step > 0 ? 0 : -1, most = step > 0 ? n : n - 1;
    int64_t start = step > 0 ? least : most, stop = step > 0 ? most : least;
    if (e->u.slice.start) {
        if (!integer(r, e->u.slice.start, "a slice's start", &start))
            return false;
        start = clipped(start, n, least, most);
    }
    if (e->u.slice.stop) {
        if (!integer(r, e->u.slice.stop, "a slice's stop", &stop))
            return false;
        stop = clipped(stop, n, least, most);
    }
    *out = (axis_range){.start = start, .stop = stop, .step = step};
    return true;
}

static bool index_range(kj_run *r, const kj_expr *e, int axes, int64_t n, const char *what,
                        axis_range *out)
{
    kj_rvalue v;
    char text[32];
    if (e->kind == KJ_E_SLICE)
        return slice_range(r, e, n, out);
    if (!whole_number(r, e, "an index", axes, &v))
        return false;
    int64_t i = bounded(v);
    if (i >= n || i < -n) {
        kj_snprintf(text, sizeof text, v.dtype == KJIT_U64 ? "%llu" : "%lld", (long long)v.u.i);
        return kj_run_fail(r, KJIT_SHAPE, e->span, "index %s is out of range: %s %lld", text, what,
                           (long long)n);
    }
    if (i < 0)
        i += n;
    *out = (axis_range){.single = true, .start = i, .stop = i + 1, .step = 1};
    return true;
}

static int64_t slice_count(const axis_range *a)
{
    if (a->step > 0)
        return a->start < a->stop ? (a->stop - a->start - 1) / a->step + 1 : 0;
    return a->start > a->stop ? (a->start - a->stop - 1) / -a->step + 1 : 0;
}

/* ---- Arrays ---- */

/* A view with every axis, single ones of extent 1; those are then taken out from the last. */
static bool make_view(kj_run *r, kj_rplace *p, int ndim, const axis_range *axes)
{
    int64_t start[KJIT_MAX_NDIM], stop[KJIT_MAX_NDIM], step[KJIT_MAX_NDIM];
    int singles = 0;
    for (int i = 0; i < ndim; i++) {
        start[i] = axes[i].start;
        stop[i] = axes[i].stop;
        step[i] = axes[i].step;
        singles += axes[i].single;
    }
    kjit_array *view = NULL;
    if (!kj_run_check(r, kjit_array_slice(p->base.u.object->u.array, start, stop, step, &view),
                      p->at) ||
        !kj_run_array(r, p->at, view, &p->view))
        return false;
    p->one = singles == ndim && !kj_run_is_record(p->base);
    p->view.u.object->fixed = p->base.u.object->fixed;
    for (int i = ndim - 1; i >= 0 && !p->one; i--) {
        if (!axes[i].single)
            continue;
        kjit_array *less = NULL;
        if (!kj_run_check(r, kjit_array_at(p->view.u.object->u.array, i, 0, &less), p->at))
            return false;
        kjit_array_free(p->view.u.object->u.array);
        p->view.u.object->u.array = less;
    }
    return true;
}

static bool place_in_array(kj_run *r, const kj_expr *args, kj_rplace *p)
{
    bool records = kj_run_is_record(p->base);
    if (!records && !kj_run_numbers(r, p->at, p->base, &p->numbers))
        return false;
    if (!records)
        p->base = p->numbers;
    kjit_array *a = p->base.u.object->u.array;
    int ndim = kjit_array_ndim(a), n = 0;
    const int64_t *shape = kjit_array_shape(a);
    axis_range axes[KJIT_MAX_NDIM];
    bool element = true;
    for (const kj_expr *e = args; e; e = e->next, n++) {
        if (n == ndim) {
            while (e->next)
                e = e->next;
            return kj_run_fail(r, KJIT_SHAPE, (kj_span){args->span.begin, e->span.end},
                               "more indices than the array's %d ax%s", ndim,
                               ndim == 1 ? "is" : "es");
        }
        if (!index_range(r, e, ndim, shape[n], "the axis has an extent of", &axes[n]))
            return false;
        element = element && axes[n].single;
    }
    for (int i = n; i < ndim; i++) {
        axes[i] = (axis_range){.start = 0, .stop = shape[i], .step = 1};
        element = false;
    }
    if (!element || records || !kj_host_works(kjit_array_memory(a)))
        return make_view(r, p, ndim, axes);
    p->element = kjit_array_data(a);
    for (int i = 0; i < ndim; i++)
        p->element += axes[i].start * kjit_array_strides(a)[i];
    return true;
}

bool kj_run_settle(kj_run *r, kj_span at)
{
    if (r->queued && !kj_run_check(r, kj_synchronize_run(r->ctx, r->number), at))
        return false;
    r->queued = false;
    return true;
}

/* One element of device memory. */
static bool device_element(kj_run *r, kj_rplace *p, kj_rvalue *out)
{
    kj_rvalue host;
    if (!kj_run_on_host(r, p->at, p->view, &host))
        return false;
    *out = kj_run_load(kjit_array_dtype(host.u.object->u.array),
                       kjit_array_data(host.u.object->u.array));
    kj_run_drop(&host);
    return true;
}

static bool copy_into(kj_run *r, kj_span at, kj_rvalue to, kj_rvalue from)
{
    kj_rvalue numbers;
    if (!kj_run_numbers(r, at, from, &numbers) ||
        !kj_run_check(r, kjit_copy(to.u.object->u.array, numbers.u.object->u.array, NULL), at))
        return false;
    kj_run_drop(&numbers);
    return true;
}

/* a[...] = scalar. Device memory gets a filled host array. */
static bool fill_view(kj_run *r, kj_rplace *p, kj_span at, kj_rvalue v)
{
    unsigned char element[KJ_RUN_ELEMENT];
    kjit_array *view = p->view.u.object->u.array;
    if (!kj_run_pack(r, at, kjit_array_dtype(view), v, element))
        return false;
    if (kj_host_works(kjit_array_memory(view))) {
        if (!kj_run_settle(r, at))
            return false;
        kj_run_fill(view, element);
        return true;
    }
    kj_rvalue host;
    if (!kj_run_new_array(r, at, kjit_array_dtype(view), kjit_array_ndim(view),
                          kjit_array_shape(view), KJIT_HOST, &host))
        return false;
    kj_run_fill(host.u.object->u.array, element);
    if (!copy_into(r, at, p->view, host))
        return false;
    kj_run_drop(&host);
    return true;
}

/* a[...] = (1, 2, 3): as an array of these numbers. */
static bool copy_items(kj_run *r, kj_rplace *p, kj_span at, kj_rvalue items)
{
    kj_rvalue made;
    const kjit_array *view = p->view.u.object->u.array;
    if (!kj_run_items_array(r, at, items, kjit_array_dtype(view), &made))
        return false;
    const kjit_array *from = made.u.object->u.array;
    char x[KJ_SHAPE_TEXT], y[KJ_SHAPE_TEXT];
    if (from->ndim != view->ndim ||
        memcmp(from->shape, view->shape, (size_t)view->ndim * sizeof *view->shape) != 0)
        return kj_run_fail(r, KJIT_SHAPE, at, "the shape %s does not go into the shape %s",
                           kj_shape_text(from->ndim, from->shape, x),
                           kj_shape_text(view->ndim, view->shape, y));
    if (!copy_into(r, at, p->view, made))
        return false;
    kj_run_drop(&made);
    return true;
}

static bool set_in_array(kj_run *r, kj_rplace *p, kj_span at, kj_span whole, kj_rvalue v)
{
    if (p->base.u.object->fixed)
        return kj_run_fail(r, KJIT_TYPE, p->at, "the elements of a const cannot be assigned");
    if (kj_run_is_record(p->view))
        return kj_run_record_store(r, at, p->view.u.object->u.array, v);
    if (kj_is_array(v) && (p->element || p->one))
        return kj_run_fail(r, KJIT_TYPE, at, "an array is not an element");
    if (p->element) {
        unsigned char element[KJ_RUN_ELEMENT];
        kjit_dtype dtype = kjit_array_dtype(p->base.u.object->u.array);
        if (!kj_run_pack(r, at, dtype, v, element) || !kj_run_settle(r, at))
            return false;
        memcpy(p->element, element, kjit_dtype_size(dtype));
        return true;
    }
    if (v.kind == KJ_R_TUPLE || v.kind == KJ_R_LIST)
        return copy_items(r, p, at, v);
    return kj_is_array(v) ? kj_lazy_store(r, at, whole, p->view.u.object->u.array, v)
                          : fill_view(r, p, at, v);
}

/* ---- Sequences ---- */

static bool place_in_sequence(kj_run *r, const kj_expr *args, int64_t n, kj_rplace *p)
{
    axis_range range;
    const kj_robject *from = p->base.u.object;
    if (!args || args->next)
        return kj_run_fail(r, KJIT_SHAPE, p->at, "%s takes one index", kj_run_kind_name(p->base));
    if (!index_range(r, args, 0, n, "the length is", &range))
        return false;
    p->item = range.start;
    if (range.single)
        return true;
    if (p->base.kind != KJ_R_TUPLE && p->base.kind != KJ_R_LIST)
        return kj_run_fail(r, KJIT_TYPE, args->span, "%s cannot be sliced",
                           kj_run_kind_name(p->base));
    int64_t count = slice_count(&range);
    if (!kj_run_sequence(r, p->at, p->base.kind, count, &p->view))
        return false;
    for (int64_t i = 0; i < count; i++) {
        kj_rvalue v = from->u.seq.items[range.start + i * range.step];
        kj_run_keep(v);
        p->view.u.object->u.seq.items[i] = v;
    }
    return true;
}

bool kj_run_place(kj_run *r, kj_span at, kj_rvalue base, const kj_expr *args, kj_rplace *out)
{
    *out = (kj_rplace){.base = base, .at = at, .view = kj_run_none(), .numbers = kj_run_none()};
    switch (base.kind) {
    case KJ_R_ARRAY: return place_in_array(r, args, out);
    case KJ_R_TUPLE:
    case KJ_R_LIST: return place_in_sequence(r, args, base.u.object->u.seq.n, out);
    case KJ_R_RANGE: return place_in_sequence(r, args, kj_run_range_count(base.u.object), out);
    default: return kj_run_fail(r, KJIT_TYPE, at, "%s cannot be indexed", kj_run_kind_name(base));
    }
}

/* A field of all elements. */
static bool view_field(kj_run *r, const kj_expr *member, kj_rvalue base, kj_rvalue *out)
{
    const char *name = member->u.member.name;
    kj_span at = member->u.member.name_span;
    kjit_array *field = NULL;
    *out = kj_run_none();
    if (base.kind != KJ_R_ARRAY || !base.u.object->u.array->of)
        return kj_run_fail(r, KJIT_NOT_FOUND, at, "%s has no '%s'", kj_run_kind_name(base), name);
    if (!kj_run_check(r, kjit_array_field(base.u.object->u.array, name, &field), at) ||
        !kj_run_array(r, at, field, out))
        return false;
    out->u.object->fixed = base.u.object->fixed;
    return true;
}

/* The field of one record, where that is a number. */
static bool is_number(kj_rvalue field)
{
    const kjit_array *a = field.u.object->u.array;
    return a->ndim == 0 && (!a->of || a->of->kind == KJ_COMPLEX);
}

bool kj_run_field_place(kj_run *r, const kj_expr *target, kj_rvalue base, kj_rplace *out)
{
    *out = (kj_rplace){.base = base, .at = target->span, .numbers = kj_run_none()};
    kj_rvalue field;
    if (!view_field(r, target, base, &field))
        return false;
    out->view = field;
    if (!kj_run_is_record(field) && !kj_run_numbers(r, target->span, field, &out->view))
        return false;
    if (!kj_run_is_record(field))
        kj_run_drop(&field);
    out->one = is_number(out->view);
    return true;
}

/* Item i of what is no array; i is within it. */
static bool item_at(kj_rvalue base, int64_t i, kj_rvalue *out)
{
    const kj_robject *o = base.u.object;
    if (base.kind == KJ_R_RANGE) {
        uint64_t step = (uint64_t)o->u.range.step;
        *out =
            kj_run_widened(kj_run_int((int64_t)((uint64_t)o->u.range.start + (uint64_t)i * step)));
        return true;
    }
    *out = o->u.seq.items[i];
    kj_run_keep(*out);
    return true;
}

bool kj_run_place_get(kj_run *r, kj_rplace *p, kj_rvalue *out)
{
    if (p->element) {
        if (!kj_run_settle(r, p->at))
            return false;
        *out = kj_run_load(kjit_array_dtype(p->base.u.object->u.array), p->element);
        return true;
    }
    if (p->one)
        return device_element(r, p, out);
    if (p->view.kind != KJ_R_NONE) {
        *out = p->view;
        kj_run_keep(*out);
        return true;
    }
    return item_at(p->base, p->item, out);
}

bool kj_run_place_set(kj_run *r, kj_rplace *p, kj_span value_at, kj_span whole, kj_rvalue v)
{
    if (p->base.kind == KJ_R_ARRAY)
        return set_in_array(r, p, value_at, whole, v);
    if (p->base.kind != KJ_R_LIST) {
        kj_run_fail(r, KJIT_TYPE, p->at, "the items of %s cannot be assigned",
                    kj_run_kind_name(p->base));
        return p->base.kind == KJ_R_TUPLE ? kj_run_hint(r, "those of a list can: [1, 2]") : false;
    }
    if (p->view.kind != KJ_R_NONE)
        return kj_run_fail(r, KJIT_TYPE, p->at, "a slice of a list cannot be assigned");
    kj_run_keep(v);
    kj_run_drop(&p->base.u.object->u.seq.items[p->item]);
    p->base.u.object->u.seq.items[p->item] = kj_run_widened(v);
    return true;
}

void kj_run_place_drop(kj_rplace *p)
{
    kj_run_drop(&p->view);
    kj_run_drop(&p->numbers);
}

bool kj_run_item(kj_run *r, kj_span at, kj_rvalue base, int64_t i, kj_rvalue *out)
{
    switch (base.kind) {
    case KJ_R_TUPLE:
    case KJ_R_LIST: return i < base.u.object->u.seq.n && item_at(base, i, out);
    case KJ_R_RANGE: return i < kj_run_range_count(base.u.object) && item_at(base, i, out);
    case KJ_R_ARRAY: {
        kjit_array *a = base.u.object->u.array;
        if (kjit_array_ndim(a) == 0 || i >= kjit_array_shape(a)[0])
            return false;
        kj_rplace p;
        kj_expr index = {.kind = KJ_E_INT, .span = at, .u.integer = (uint64_t)i};
        bool ok = kj_run_place(r, at, base, &index, &p) && kj_run_place_get(r, &p, out);
        if (ok)
            kj_run_place_drop(&p);
        return ok;
    }
    default:
        kj_run_fail(r, KJIT_TYPE, at, "a for loop cannot go over %s", kj_run_kind_name(base));
        return base.kind == KJ_R_INT
                   ? kj_run_hint(r, "write range(%s)", kj_quoted(r->source, at, false, "...").text)
                   : false;
    }
}

/* ---- Attributes ---- */

bool kj_run_field(kj_run *r, const kj_expr *member, kj_rvalue base, kj_rvalue *out)
{
    const char *name = member->u.member.name;
    if (base.kind == KJ_R_COMPLEX && (strcmp(name, "real") == 0 || strcmp(name, "imag") == 0)) {
        *out = kj_run_float(name[0] == 'r' ? base.u.f : base.imag);
        out->dtype = base.dtype == KJIT_C64 ? KJIT_F32 : KJIT_F64;
        return true;
    }
    kj_rplace p = {.at = member->span};
    if (!view_field(r, member, base, out) || !is_number(*out))
        return out->kind == KJ_R_ARRAY;
    p.view = *out;
    if (!device_element(r, &p, out))
        return false;
    kj_run_drop(&p.view);
    return true;
}

static bool tuple_of(kj_run *r, kj_span at, int n, const int64_t *numbers, int64_t divisor,
                     kj_rvalue *out)
{
    if (!kj_run_sequence(r, at, KJ_R_TUPLE, n, out))
        return false;
    for (int i = 0; i < n; i++)
        out->u.object->u.seq.items[i] = kj_run_int(numbers[i] / divisor);
    return true;
}

static bool transposed(kj_run *r, kj_span at, kj_rvalue base, kj_rvalue *out)
{
    int64_t shape[KJIT_MAX_NDIM], strides[KJIT_MAX_NDIM];
    kjit_array *a = base.u.object->u.array, *view = NULL;
    for (int i = 0; i < a->ndim; i++) {
        shape[i] = a->shape[a->ndim - 1 - i];
        strides[i] = a->strides[a->ndim - 1 - i];
    }
    bool ok = kj_run_check(r, kj_array_restride(a, a->ndim, shape, strides, &view), at) &&
              kj_run_array(r, at, view, out);
    if (ok)
        out->u.object->fixed = base.u.object->fixed;
    return ok;
}

bool kj_run_measure(kj_run *r, kj_span at, kj_run_id id, const kjit_array *a, kj_rvalue *out)
{
    switch (id) {
    case KJ_RUN_M_SHAPE: return tuple_of(r, at, kjit_array_ndim(a), kjit_array_shape(a), 1, out);
    case KJ_RUN_M_SIZE: *out = kj_run_int(kjit_array_size(a)); return true;
    case KJ_RUN_M_NDIM: *out = kj_run_int(kjit_array_ndim(a)); return true;
    default: *out = (kj_rvalue){.kind = KJ_R_DTYPE, .dtype = kjit_array_dtype(a)}; return true;
    }
}

bool kj_run_attribute(kj_run *r, kj_span at, kj_run_id id, kj_rvalue base, kj_rvalue *out)
{
    const char *name = kj_run_builtins[id].name + 1;
    if (base.kind == KJ_R_SMART)
        return kj_run_side(r, at, id, base, out);
    if (base.kind != KJ_R_ARRAY)
        return kj_run_lacks(r, at, base, id);
    if (id == KJ_RUN_M_HOST || id == KJ_RUN_M_GPU)
        return kj_run_fail(r, KJIT_NOT_FOUND, at, "only a smart array has a '%s'", name);
    kjit_array *a = base.u.object->u.array;
    switch (id) {
    case KJ_RUN_M_SHAPE:
    case KJ_RUN_M_SIZE:
    case KJ_RUN_M_NDIM:
    case KJ_RUN_M_DTYPE: return kj_run_measure(r, at, id, a, out);
    case KJ_RUN_M_STRIDES:
        return tuple_of(r, at, kjit_array_ndim(a), kjit_array_strides(a), 1, out);
    case KJ_RUN_M_STEPS:
        return tuple_of(r, at, kjit_array_ndim(a), kjit_array_strides(a), (int64_t)kj_array_elem(a),
                        out);
    case KJ_RUN_M_T: return transposed(r, at, base, out);
    default:
        kj_run_fail(r, KJIT_TYPE, at, "'%s' is a function", name);
        return kj_run_hint(r, "call it: .%s(...)", name);
    }
}
