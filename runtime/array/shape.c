/* An array's elements in another shape: reshape, ravel, transpose, split. In: an array; out: views
 * of its memory. What would have to move elements is refused. */
#include <string.h>

#include "array/array.h"

/* ---- Reshape ---- */

static kjit_status wrong_size(const kjit_array *a, int ndim, const int64_t *shape)
{
    char from[KJ_SHAPE_TEXT], to[KJ_SHAPE_TEXT];
    return kj_fail(a->ctx, KJIT_SHAPE,
                   "an array of shape %s cannot have the shape %s: it has %lld element%s",
                   kj_shape_text(a->ndim, a->shape, from), kj_shape_text(ndim, shape, to),
                   (long long)a->size, a->size == 1 ? "" : "s");
}

/* The shape with a number for -1: as many elements as the array has. */
static kjit_status full_shape(const kjit_array *a, int ndim, const int64_t *shape, int64_t *full)
{
    char text[KJ_SHAPE_TEXT];
    int open = -1;
    if (ndim < 0 || ndim > KJIT_MAX_NDIM)
        return kj_fail(a->ctx, KJIT_SHAPE, "an array has 0 to %d dimensions, not %d", KJIT_MAX_NDIM,
                       ndim);
    if (ndim > 0 && !shape)
        return kj_fail(a->ctx, KJIT_INVALID, "shape is NULL");
    for (int i = 0; i < ndim; i++) {
        if (shape[i] < -1 || (shape[i] == -1 && open >= 0))
            return kj_fail(a->ctx, KJIT_SHAPE, "the shape %s: %s", kj_shape_text(ndim, shape, text),
                           shape[i] < -1 ? "an extent is negative" : "only one extent may be -1");
        full[i] = shape[i] == -1 ? 1 : shape[i];
        if (shape[i] == -1)
            open = i;
    }
    int64_t count;
    if (!kj_shape_count(ndim, full, 1, &count) ||
        (open < 0 ? count != a->size : count == 0 || a->size % count != 0))
        return wrong_size(a, ndim, shape);
    if (open >= 0)
        full[open] = a->size / count;
    return KJIT_OK;
}

/* The axis that is k-th when they are counted from the one whose index runs fastest. */
static int fast_axis(int ndim, char order, int k)
{
    return order == 'F' ? k : ndim - 1 - k;
}

static int64_t times(int64_t stride, int64_t n)
{
    return (int64_t)((uint64_t)stride * (uint64_t)n); /* addresses are modulo 2^64 */
}

/* Strides that put the elements of a non-empty array, counted in that order, into another shape;
 * false when there are none. From the fastest axes on, each new one takes its extent of what is
 * left of an old one; where that does not go evenly, the next old axis must continue the steps of
 * this one. */
static bool reshaped(const kjit_array *a, char order, int ndim, const int64_t *shape,
                     int64_t *strides)
{
    int64_t left = 1, stride = (int64_t)kj_array_elem(a);
    int next = 0;
    for (int k = 0; k < ndim; k++) {
        int axis = fast_axis(ndim, order, k);
        while (shape[axis] > 1 && (left == 1 || left % shape[axis] != 0)) {
            int old = fast_axis(a->ndim, order, next++);
            if (a->shape[old] == 1)
                continue;
            if (left == 1)
                stride = a->strides[old];
            else if (a->strides[old] != times(stride, left))
                return false;
            left *= a->shape[old];
        }
        strides[axis] = stride;
        stride = times(stride, shape[axis]);
        left /= shape[axis];
    }
    return true;
}

static kjit_status reshape(kjit_array *a, int ndim, const int64_t *shape, char order,
                           kjit_array **out)
{
    int64_t full[KJIT_MAX_NDIM] = {0}, strides[KJIT_MAX_NDIM];
    char from[KJ_SHAPE_TEXT], to[KJ_SHAPE_TEXT];
    if (order != 'C' && order != 'F')
        return kj_fail(a->ctx, KJIT_INVALID, "order is 'C' or 'F'");
    kjit_status status = full_shape(a, ndim, shape, full);
    if (status != KJIT_OK)
        return status;
    if (a->size == 0)
        kj_dense_strides(ndim, full, kj_array_elem(a), order, strides);
    else if (!reshaped(a, order, ndim, full, strides))
        return kj_fail(a->ctx, KJIT_SHAPE,
                       "an array of shape %s whose elements lie as these do has no view of shape "
                       "%s in %c order: copy it to an array in %c order first",
                       kj_shape_text(a->ndim, a->shape, from), kj_shape_text(ndim, full, to), order,
                       order);
    return kj_array_restride(a, ndim, full, strides, out);
}

kjit_status kjit_array_reshape(kjit_array *a, int ndim, const int64_t *shape, char order,
                               kjit_array **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_array(a), a->ctx);
    return status == KJIT_OK ? reshape(a, ndim, shape, order, out) : status;
}

kjit_status kjit_array_ravel(kjit_array *a, char order, kjit_array **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_array(a), a->ctx);
    return status == KJIT_OK ? reshape(a, 1, &a->size, order, out) : status;
}

/* ---- Transpose and split ---- */

kjit_status kjit_array_transpose(kjit_array *a, const int *axes, kjit_array **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_array(a), a->ctx);
    if (status != KJIT_OK)
        return status;
    int64_t shape[KJIT_MAX_NDIM], strides[KJIT_MAX_NDIM];
    unsigned seen = 0;
    for (int i = 0; i < a->ndim; i++) {
        int axis = axes ? axes[i] : a->ndim - 1 - i;
        if (axis < 0 || axis >= a->ndim)
            return kj_fail(a->ctx, KJIT_SHAPE, "there is no axis %d in an array of %d dimensions",
                           axis, a->ndim);
        if (seen >> axis & 1)
            return kj_fail(a->ctx, KJIT_SHAPE, "a transposition names axis %d twice", axis);
        seen |= 1U << axis;
        shape[i] = a->shape[axis];
        strides[i] = a->strides[axis];
    }
    return kj_array_restride(a, a->ndim, shape, strides, out);
}

/* The elements of [from, from + n) of an array with one axis. */
static kjit_status piece(kjit_array *a, int64_t from, int64_t n, kjit_array **out)
{
    char *data = a->data + from * a->strides[0];
    return kj_array_view(a, data, a->dtype, 1, &n, a->strides, out);
}

kjit_status kjit_array_split(kjit_array *a, int64_t section, kjit_array **out, int64_t max,
                             int64_t *n)
{
    if (n)
        *n = 0;
    for (int64_t i = 0; out && i < max; i++)
        out[i] = NULL;
    kjit_status status = kj_enter_array(a);
    if (status != KJIT_OK)
        return status;
    if (!n || max < 0 || (max > 0 && !out))
        return kj_fail(a->ctx, KJIT_INVALID,
                       n ? "out is NULL or of a negative length" : "n is NULL");
    if (a->ndim != 1)
        return kj_fail(a->ctx, KJIT_SHAPE, "only an array of 1 dimension is split, not of %d",
                       a->ndim);
    if (section < 1)
        return kj_fail(a->ctx, KJIT_SHAPE, "a section has at least 1 element, not %lld",
                       (long long)section);
    int64_t count = a->size / section + (a->size % section != 0);
    for (int64_t i = 0; i < count && i < max && status == KJIT_OK; i++) {
        int64_t left = a->size - i * section;
        status = piece(a, i * section, left < section ? left : section, &out[i]);
    }
    for (int64_t i = 0; status != KJIT_OK && i < max; i++) {
        kjit_array_free(out[i]);
        out[i] = NULL;
    }
    *n = status == KJIT_OK ? count : 0;
    return status;
}

/* ---- Questions ---- */

int kjit_array_is_contiguous(const kjit_array *a, char order)
{
    if (!kj_can_ask(a, KJ_ARRAY) || (order != 'C' && order != 'F'))
        return 0;
    int64_t dense[KJIT_MAX_NDIM];
    kj_dense_strides(a->ndim, a->shape, kj_array_elem(a), order, dense);
    for (int i = 0; i < a->ndim && a->size > 0; i++) {
        if (a->shape[i] > 1 && a->strides[i] != dense[i])
            return 0;
    }
    return 1;
}
