/* Arrays seen as elements of another type, and one field of their elements: views, like slices. */
#include <string.h>

#include "array/array.h"

static const char *type_name(kjit_context *ctx, kjit_dtype dtype)
{
    const char *name = kj_dtype_name(ctx, dtype);
    return name ? name : "a type that does not exist";
}

/* Vectors as their scalars. */
static kjit_status view_parts(kjit_array *a, kjit_array **out)
{
    int64_t shape[KJIT_MAX_NDIM], strides[KJIT_MAX_NDIM];
    if (a->ndim == KJIT_MAX_NDIM)
        return kj_fail(a->ctx, KJIT_SHAPE,
                       "an array of %s with %d dimensions has no view with one more", a->of->name,
                       a->ndim);
    memcpy(shape, a->shape, sizeof shape);
    memcpy(strides, a->strides, sizeof strides);
    shape[a->ndim] = a->of->n;
    strides[a->ndim] = kj_types[a->of->elem].size;
    return kj_array_view(a, a->data, (kjit_dtype)a->of->elem, a->ndim + 1, shape, strides, out);
}

/* Scalars as vectors. */
static kjit_status view_whole(kjit_array *a, const kj_aggregate *to, kjit_array **out)
{
    int last = a->ndim - 1;
    if (last < 0 || a->shape[last] != to->n)
        return kj_fail(a->ctx, KJIT_SHAPE,
                       "a view as %s takes a last axis of %d elements, as a.reshape(-1, %d) has",
                       to->name, to->n, to->n);
    if (a->strides[last] != kj_types[to->elem].size)
        return kj_fail(a->ctx, KJIT_SHAPE,
                       "a view as %s takes elements that lie side by side along the last axis: "
                       "copy the array first",
                       to->name);
    return kj_array_view(a, a->data, (kjit_dtype)to->type, last, a->shape, a->strides, out);
}

/* Of numbers, whose bits may be taken for one another's. */
static bool same_width(kj_dtype a, kj_dtype b)
{
    return kj_is_scalar(a) && kj_is_scalar(b) && a != KJ_BOOL && b != KJ_BOOL &&
           kj_types[a].size == kj_types[b].size;
}

kjit_status kjit_array_view(kjit_array *a, kjit_dtype dtype, kjit_array **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_array(a), a->ctx);
    if (status != KJIT_OK)
        return status;
    const kj_aggregate *to = kj_aggregate_of((kj_dtype)dtype);
    if (dtype == a->dtype)
        return kj_array_view(a, a->data, dtype, a->ndim, a->shape, a->strides, out);
    if (a->of && (kj_dtype)dtype == a->of->elem)
        return view_parts(a, out);
    if (to && (kj_dtype)a->dtype == to->elem)
        return view_whole(a, to, out);
    if (same_width((kj_dtype)a->dtype, (kj_dtype)dtype))
        return kj_array_view(a, a->data, dtype, a->ndim, a->shape, a->strides, out);
    return kj_fail(a->ctx, KJIT_TYPE, "an array of %s has no view as %s",
                   type_name(a->ctx, a->dtype), type_name(a->ctx, dtype));
}

kjit_status kj_array_numbers(kjit_array **a)
{
    if (!kj_is_vectors(*a))
        return KJIT_OK;
    kjit_array *view = NULL;
    kjit_status status = view_parts(*a, &view);
    kjit_array_free(*a);
    *a = view;
    return status;
}

/* An array in the field is axes behind a's own. */
static kjit_status view_field(kjit_array *a, const kj_field *f, kjit_array **out)
{
    char *data = a->data + (a->size > 0 ? f->offset : 0);
    if (!kj_is_fixed(f->of))
        return kj_array_view(a, data, (kjit_dtype)f->type, a->ndim, a->shape, a->strides, out);
    int64_t shape[KJIT_MAX_NDIM], strides[KJIT_MAX_NDIM];
    int ndim = a->ndim + f->of->ndim;
    if (ndim > KJIT_MAX_NDIM)
        return kj_fail(a->ctx, KJIT_SHAPE, "'%s' would be an array of %d dimensions: at most %d",
                       f->name, ndim, KJIT_MAX_NDIM);
    memcpy(shape, a->shape, sizeof shape);
    memcpy(strides, a->strides, sizeof strides);
    int64_t stride = f->of->size / f->of->n;
    for (int i = ndim - 1; i >= a->ndim; i--) {
        shape[i] = f->of->shape[i - a->ndim];
        strides[i] = stride;
        stride *= shape[i];
    }
    return kj_array_view(a, data, (kjit_dtype)f->of->elem, ndim, shape, strides, out);
}

static kjit_status no_field(kjit_array *a, const char *name)
{
    enum { MOST = 64 };
    const char *names[MOST], *near = NULL;
    int n = 0;
    for (; a->of && n < MOST && n < a->of->n; n++)
        names[n] = a->of->fields[n].name;
    near = kj_nearest(name, names, (size_t)n);
    if (near)
        return kj_fail(a->ctx, KJIT_NOT_FOUND, "%s has no field '%.100s'; did you mean '%s'?",
                       type_name(a->ctx, a->dtype), name, near);
    return kj_fail(a->ctx, KJIT_NOT_FOUND, "%s has no field '%.100s'", type_name(a->ctx, a->dtype),
                   name);
}

kjit_status kjit_array_field(kjit_array *a, const char *name, kjit_array **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_array(a), a->ctx);
    if (status != KJIT_OK)
        return status;
    if (!name)
        return kj_fail(a->ctx, KJIT_INVALID, "name is NULL");
    for (int i = 0; a->of && i < a->of->n; i++) {
        if (strcmp(a->of->fields[i].name, name) == 0)
            return view_field(a, &a->of->fields[i], out);
    }
    return no_field(a, name);
}
