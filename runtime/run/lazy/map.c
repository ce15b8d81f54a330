/* Element-wise expressions. In: a tree, and perhaps the array it is stored into; out: one launch
 * that computes each element and stores it. */
#include "run/lazy/lazy.h"

#include <stdlib.h>
#include <string.h>

/* ---- The kernel ---- */

static void put_body(kj_lazy_kernel *k, int to, kj_rvalue v)
{
    kj_text *t = &k->body, value = {0};
    char axes[KJ_DOMAIN_AXES] = "012345";
    axes[k->domain.ndim] = 0;
    kj_lazy_extents(k);
    kj_lazy_positions(t, axes);
    kj_lazy_inside(t, axes);
    kj_lazy_value(k, &value, v, (kj_dtype)k->domain.arrays[to].array->dtype);
    kj_lazy_lets(k, t);
    kj_lazy_element(k, t, to);
    kj_text_printf(t, " = %s\n}\n", value.data ? value.data : "");
    t->failed |= value.failed;
    kj_text_free(&value);
}

/* Every element of the target gets its value; v is of its shape or stretches to it. */
static bool map(kj_run *r, kj_span at, kj_span named, kjit_array *target, kj_rvalue v)
{
    kj_lazy_kernel k = {.run = r, .at = at, .named = named};
    int64_t grid[3], block[3];
    if (target->size == 0)
        return true;
    kj_domain_init(&k.domain, target->ndim, target->shape);
    kj_lazy_gather(&k.domain, v);
    bool read = kj_domain_find(&k.domain, target) < k.domain.narrays;
    int to = kj_domain_add(&k.domain, target);
    kj_domain_join(&k.domain, to);
    bool ok = kj_domain_views(r, at, &k.domain);
    if (ok) {
        k.domain.arrays[to].view->overwritten = !read;
        kj_lazy_params(&k);
        put_body(&k, to, v);
        kj_lazy_blocks(k.domain.ndim, k.domain.shape, grid, block);
        ok = kj_lazy_launch(&k, grid, block, "") && kj_domain_stored(r, at, &k.domain, to);
    }
    kj_lazy_free(&k);
    return ok;
}

/* ---- New arrays ---- */

/* Are its arrays of `ndim` axes in F order? *all: so far; returns whether there was one. */
static bool look_at_orders(kj_rvalue v, int ndim, bool *all)
{
    bool any = false;
    if (v.kind == KJ_R_ARRAY && v.u.object->u.array->ndim == ndim) {
        any = true;
        *all = *all && v.u.object->u.array->layout == KJ_LAYOUT_F;
    }
    for (int i = 0; v.kind == KJ_R_LAZY && i < v.u.object->u.lazy->n; i++)
        any |= look_at_orders(v.u.object->u.lazy->args[i], ndim, all);
    return any;
}

kjit_memory kj_lazy_memory(kj_rvalue v)
{
    kjit_memory memory = KJIT_HOST;
    if (v.kind == KJ_R_ARRAY)
        return kj_host_works(v.u.object->u.array->buffer->memory) ? KJIT_HOST : KJIT_DEVICE;
    for (int i = 0; v.kind == KJ_R_LAZY && i < v.u.object->u.lazy->n; i++) {
        if (kj_lazy_memory(v.u.object->u.lazy->args[i]) == KJIT_DEVICE)
            memory = KJIT_DEVICE;
    }
    return memory;
}

static bool in_fortran_order(kj_rvalue v)
{
    bool all = true;
    return look_at_orders(v, v.u.object->u.lazy->ndim, &all) && all;
}

/* What a tree comes to, as a new array. */
static bool compute(kj_run *r, kj_span at, kj_span named, kj_rvalue v, kj_rvalue *out)
{
    const kj_lazy *e = v.u.object->u.lazy;
    kjit_array *made = NULL;
    if (!kj_lazy_alone(r, at, v))
        return false;
    if (!kj_run_check(r,
                      kjit_array_create(r->ctx, (kjit_dtype)e->type, e->ndim, e->shape,
                                        in_fortran_order(v) ? 'F' : 'C', kj_lazy_memory(v), &made),
                      at) ||
        !kj_run_array(r, at, made, out))
        return false;
    if (!map(r, at, named, made, v)) {
        kj_run_drop(out);
        return false;
    }
    return true;
}

static bool finish(kj_run *r, kj_span at, kj_span named, kj_rvalue *v)
{
    kj_rvalue result;
    if (!compute(r, at, named, *v, &result))
        return false;
    kj_run_drop(v);
    *v = result;
    return true;
}

static bool settle_condition(kj_run *r, kj_span at, kj_rvalue *condition)
{
    kj_rvalue own;
    if (!kj_is_array(*condition))
        return true;
    if (!kj_lazy_cast(r, at, KJ_BOOL, *condition, &own))
        return false;
    kj_run_drop(condition);
    *condition = own;
    return finish(r, at, at, condition);
}

/* v, in memory of its own. */
static bool separate(kj_run *r, kj_span at, kj_span whole, kj_rvalue v, kj_rvalue *out)
{
    *out = v;
    kj_run_keep(v);
    if (v.kind == KJ_R_LAZY)
        return finish(r, at, whole, out);
    kjit_array *a = v.u.object->u.array, *copy = NULL;
    kj_run_drop(out);
    return kj_run_check(r,
                        kjit_array_create(r->ctx, a->dtype, a->ndim, a->shape, 'C',
                                          a->buffer->memory, &copy),
                        at) &&
           kj_run_array(r, at, copy, out) && kj_run_check(r, kjit_copy(copy, a, NULL), at);
}

/* A product that a sum may fuse with stays one, of what its factors hold now; those that are trees come later. */
static bool settle_factors(kj_run *r, kj_span at, kj_lazy *e)
{
    for (int i = 0; i < e->n; i++) {
        kj_rvalue own;
        if (e->args[i].kind != KJ_R_ARRAY)
            continue;
        if (!separate(r, at, at, e->args[i], &own))
            return false;
        kj_run_drop(&e->args[i]);
        e->args[i] = own;
    }
    e->settled = true;
    return true;
}

/* The whole before its parts, which go with it: the newest first. */
bool kj_lazy_settle(kj_run *r, kj_span at)
{
    for (kj_robject *o = r->trees.prev; o != &r->trees; o = o->prev) {
        if (o->u.lazy->settled)
            continue;
        kj_lazy *e = o->u.lazy;
        kj_rvalue result;
        if (e->untyped) { /* what it chooses from never changes */
            if (!settle_condition(r, at, &e->args[0]))
                return false;
            e->settled = true;
            continue;
        }
        if (e->form == KJ_X_BINARY && e->op == KJ_OP_MUL && kj_is_float(e->type)) {
            if (!settle_factors(r, at, e))
                return false;
            continue;
        }
        if (!compute(r, at, at, (kj_rvalue){.kind = KJ_R_LAZY, .u.object = o}, &result))
            return false;
        for (int i = 0; i < e->n; i++)
            kj_run_drop(&e->args[i]);
        e->form = KJ_X_CAST;
        e->part = -1;
        e->n = e->leaves = e->depth = 1;
        e->args[0] = result;
        e->types[0] = e->type;
        e->settled = true;
    }
    return true;
}

bool kj_lazy_finish(kj_run *r, kj_span at, kj_rvalue *v)
{
    if (v->kind == KJ_R_LAZY)
        return finish(r, at, at, v);
    /* a function's several results */
    for (int64_t i = 0; v->kind == KJ_R_TUPLE && i < v->u.object->u.seq.n; i++) {
        kj_rvalue *item = &v->u.object->u.seq.items[i];
        if (item->kind == KJ_R_LAZY && !finish(r, at, at, item))
            return false;
    }
    return true;
}

/* How often the tree has the array; false where part of the tree is another's, too. */
static bool count_uses(kj_rvalue v, const kj_robject *array, int64_t *uses)
{
    if (v.kind == KJ_R_ARRAY)
        *uses += v.u.object == array;
    if (v.kind != KJ_R_LAZY)
        return true;
    bool ok = v.u.object->refs == 1;
    for (int i = 0; ok && i < v.u.object->u.lazy->n; i++)
        ok = count_uses(v.u.object->u.lazy->args[i], array, uses);
    return ok;
}

/* May v be computed where `old` is, which only a name and v itself have? */
static bool replaces(kj_rvalue v, kj_rvalue old)
{
    int64_t uses = 0;
    if (old.kind != KJ_R_ARRAY || old.u.object->fixed || !count_uses(v, old.u.object, &uses) ||
        old.u.object->refs != 1 + uses)
        return false;
    const kjit_array *a = old.u.object->u.array;
    const kj_lazy *e = v.u.object->u.lazy;
    return a->buffer->refs == 1 && a->buffer->owned && a->dtype == (kjit_dtype)e->type &&
           a->ndim == e->ndim &&
           memcmp(a->shape, e->shape, (size_t)e->ndim * sizeof *e->shape) == 0 &&
           a->layout == (in_fortran_order(v) ? KJ_LAYOUT_F : KJ_LAYOUT_C) &&
           a->buffer->memory == kj_lazy_memory(v);
}

bool kj_lazy_replace(kj_run *r, kj_span at, kj_rvalue old, kj_rvalue *v)
{
    if (v->kind != KJ_R_LAZY || !replaces(*v, old))
        return kj_lazy_finish(r, at, v);
    if (!kj_lazy_alone(r, at, *v) || !map(r, at, at, old.u.object->u.array, *v))
        return false;
    kj_run_drop(v);
    kj_run_keep(old);
    *v = old;
    return true;
}

/* ---- Arrays that are there ---- */

/* Is each of its elements in memory of its own? False also where that is not plain to see. */
static bool are_apart(const kjit_array *a)
{
    uint64_t reach = kj_array_elem(a) - 1;
    bool taken[KJIT_MAX_NDIM] = {false};
    for (int k = 0; k < a->ndim; k++) {
        int next = -1;
        for (int i = 0; i < a->ndim; i++)
            if (!taken[i] && (next < 0 || llabs(a->strides[i]) < llabs(a->strides[next])))
                next = i;
        taken[next] = true;
        uint64_t stride = (uint64_t)llabs(a->strides[next]);
        if (a->shape[next] <= 1)
            continue;
        if (stride <= reach)
            return false;
        reach += (uint64_t)(a->shape[next] - 1) * stride;
    }
    return true;
}

/* Does an element of v depend on elements of the target at other places? */
static bool reads_elsewhere(kj_rvalue v, const kjit_array *target)
{
    if (v.kind == KJ_R_ARRAY) {
        const kjit_array *a = v.u.object->u.array;
        bool same = a->data == target->data && a->ndim == target->ndim;
        for (int i = 0; same && i < a->ndim; i++)
            same = a->shape[i] == target->shape[i] &&
                   (a->shape[i] == 1 || a->strides[i] == target->strides[i]);
        return !(same && are_apart(target)) && kj_arrays_meet(a, target);
    }
    for (int i = 0; v.kind == KJ_R_LAZY && i < v.u.object->u.lazy->n; i++) {
        if (reads_elsewhere(v.u.object->u.lazy->args[i], target))
            return true;
    }
    return false;
}

static bool stretches(kj_run *r, kj_span at, kj_rvalue v, const kjit_array *target)
{
    const int64_t *shape;
    int n = kj_lazy_shape(v, &shape);
    bool fits = n <= target->ndim;
    for (int i = 1; fits && i <= n; i++)
        fits = shape[n - i] == target->shape[target->ndim - i] || shape[n - i] == 1;
    if (fits)
        return true;
    char x[KJ_SHAPE_TEXT], y[KJ_SHAPE_TEXT];
    return kj_run_fail(r, KJIT_SHAPE, at, "the shape %s does not go into the shape %s",
                       kj_shape_text(n, shape, x), kj_shape_text(target->ndim, target->shape, y));
}

static bool put(kj_run *r, kj_span at, kj_span whole, kjit_array *target, kj_rvalue v)
{
    kjit_array *a = v.kind == KJ_R_ARRAY ? v.u.object->u.array : NULL;
    if (a && a->dtype == target->dtype && a->ndim == target->ndim &&
        memcmp(a->shape, target->shape, (size_t)a->ndim * sizeof *a->shape) == 0)
        return kj_run_check(r, kjit_copy(target, a, NULL), at);
    return map(r, at, whole, target, v);
}

static bool store_typed(kj_run *r, kj_span at, kj_span whole, kjit_array *target, kj_rvalue v)
{
    kj_dtype to = (kj_dtype)target->dtype, from = kj_lazy_type(v);
    kj_rvalue own;
    if (!kj_converts(from, to)) {
        kj_run_fail(r, KJIT_TYPE, at, "an element of the array is %s, not %s", kj_type_name(to),
                    kj_type_name(from));
        r->converts = kj_type_name(to);
        return kj_run_hint(r, "convert the value: %s(...)", kj_type_name(to));
    }
    if (!reads_elsewhere(v, target))
        return put(r, at, whole, target, v);
    if (!separate(r, at, whole, v, &own))
        return false;
    bool ok = put(r, at, whole, target, own);
    kj_run_drop(&own);
    return ok;
}

static bool store(kj_run *r, kj_span at, kj_span whole, kjit_array *target, kj_rvalue v)
{
    kj_dtype to = (kj_dtype)target->dtype;
    kj_rvalue typed;
    if (!stretches(r, at, v, target))
        return false;
    if (!kj_lazy_is_untyped(v))
        return store_typed(r, at, whole, target, v);
    if (!kj_lazy_holds(to, v))
        return kj_lazy_alone(r, at, v) && store_typed(r, at, whole, target, v);
    if (!kj_lazy_retyped(r, at, v, to, &typed))
        return false;
    bool ok = store_typed(r, at, whole, target, typed);
    kj_run_drop(&typed);
    return ok;
}

bool kj_lazy_store(kj_run *r, kj_span at, kj_span whole, kjit_array *target, kj_rvalue v)
{
    kjit_array *numbers = NULL;
    kj_rvalue own = v;
    if (v.kind != KJ_R_ARRAY)
        kj_run_keep(v);
    else if (!kj_run_numbers(r, at, v, &own))
        return false;
    if (kj_is_vectors(target) &&
        !kj_run_check(r, kjit_array_view(target, (kjit_dtype)target->of->elem, &numbers), at))
        return false;
    bool ok = store(r, at, whole, numbers ? numbers : target, own);
    kjit_array_free(numbers);
    kj_run_drop(&own);
    return ok;
}
