/* Shapes and strides: sizes that cannot overflow, dense layouts, the axes of a transfer. */
#include <stdio.h>
#include <string.h>

#include "array/array.h"

bool kj_shape_count(int ndim, const int64_t *shape, size_t elem, int64_t *count)
{
    int64_t n = 1;
    bool empty = false;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] < 0)
            return false;
        empty |= shape[i] == 0;
    }
    for (int i = 0; i < ndim && !empty; i++) {
        if (__builtin_mul_overflow(n, shape[i], &n))
            return false;
    }
    int64_t bytes;
    if (!empty && (__builtin_mul_overflow(n, (int64_t)elem, &bytes) || bytes > PTRDIFF_MAX))
        return false;
    *count = empty ? 0 : n;
    return true;
}

void kj_dense_strides(int ndim, const int64_t *shape, size_t elem, char order, int64_t *strides)
{
    int64_t stride = (int64_t)elem;
    for (int k = 0; k < ndim; k++) {
        int i = order == 'F' ? k : ndim - 1 - k;
        strides[i] = stride;
        if (shape[i] > 1 && __builtin_mul_overflow(stride, shape[i], &stride))
            stride = 0; /* only with an axis of extent 0: no element is there */
    }
}

static bool is_dense(int ndim, const int64_t *shape, const int64_t *strides, size_t elem,
                     char order)
{
    int64_t expected[KJIT_MAX_NDIM];
    kj_dense_strides(ndim, shape, elem, order, expected);
    for (int i = 0; i < ndim; i++) {
        if (shape[i] != 1 && strides[i] != expected[i])
            return false;
    }
    return true;
}

kj_layout kj_layout_of(int ndim, const int64_t *shape, const int64_t *strides, size_t elem)
{
    for (int i = 0; i < ndim; i++) {
        if (shape[i] == 0)
            return KJ_LAYOUT_C;
    }
    if (is_dense(ndim, shape, strides, elem, 'C'))
        return KJ_LAYOUT_C;
    if (is_dense(ndim, shape, strides, elem, 'F'))
        return KJ_LAYOUT_F;
    bool rows = shape[ndim - 1] == 1 || strides[ndim - 1] == (int64_t)elem;
    return rows ? KJ_LAYOUT_ROWS : KJ_LAYOUT_STRIDED;
}

const char *kj_shape_text(int ndim, const int64_t *shape, char buf[KJ_SHAPE_TEXT])
{
    int at = kj_snprintf(buf, KJ_SHAPE_TEXT, "(");
    for (int i = 0; i < ndim; i++)
        at += kj_snprintf(buf + at, (size_t)(KJ_SHAPE_TEXT - at), "%s%lld", i ? ", " : "",
                          (long long)shape[i]);
    kj_snprintf(buf + at, (size_t)(KJ_SHAPE_TEXT - at), "%s", ndim == 1 ? ",)" : ")");
    return buf;
}

/* The outermost axis first: larger destination strides go outside, so that writes run forward. */
static void sort_axes(kj_transfer *t)
{
    for (int i = 1; i < t->ndim; i++) {
        for (int j = i; j > 0 && t->dst_stride[j] > t->dst_stride[j - 1]; j--) {
            int64_t shape = t->shape[j], dst = t->dst_stride[j], src = t->src_stride[j];
            t->shape[j] = t->shape[j - 1];
            t->dst_stride[j] = t->dst_stride[j - 1];
            t->src_stride[j] = t->src_stride[j - 1];
            t->shape[j - 1] = shape;
            t->dst_stride[j - 1] = dst;
            t->src_stride[j - 1] = src;
        }
    }
}

/* Makes neighbouring axes one where both sides step through them evenly. */
static void join_axes(kj_transfer *t)
{
    int n = 0;
    for (int i = 1; i < t->ndim; i++) {
        if (t->dst_stride[n] == t->dst_stride[i] * t->shape[i] &&
            t->src_stride[n] == t->src_stride[i] * t->shape[i]) {
            t->shape[n] *= t->shape[i];
        } else {
            n++;
            t->shape[n] = t->shape[i];
        }
        t->dst_stride[n] = t->dst_stride[i];
        t->src_stride[n] = t->src_stride[i];
    }
    if (t->ndim > 0)
        t->ndim = n + 1;
}

/* Elements of several scalars are moved piece by piece, along an axis of their own. */
static void add_pieces(kj_transfer *t, int size)
{
    t->shape[0] = (int64_t)t->size / size;
    t->dst_stride[0] = t->src_stride[0] = size;
    t->size = (size_t)size;
    t->ndim = t->shape[0] > 1;
}

bool kj_transfer_init(kj_transfer *t, const kjit_array *dst, const kjit_array *src)
{
    *t = (kj_transfer){.dst = dst->data,
                       .src = src->data,
                       .dst_memory = dst->buffer->memory,
                       .src_memory = src->buffer->memory,
                       .size = kj_array_elem(dst)};
    if (dst->size == 0)
        return false;
    if (dst->of)
        add_pieces(t, dst->aligned && src->aligned ? kj_array_align(dst) : 1);
    for (int i = 0; i < dst->ndim; i++) {
        if (dst->shape[i] == 1)
            continue;
        int64_t last = dst->shape[i] - 1, ds = dst->strides[i], ss = src->strides[i];
        if (ds < 0) { /* walk the axis the other way */
            t->dst += last * ds;
            t->src += last * ss;
            ds = -ds;
            ss = -ss;
        }
        t->shape[t->ndim] = dst->shape[i];
        t->dst_stride[t->ndim] = ds;
        t->src_stride[t->ndim] = ss;
        t->ndim++;
    }
    sort_axes(t);
    join_axes(t);
    return true;
}
