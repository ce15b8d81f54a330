/* One element of an array, wherever its memory is: read into and written from the caller's; and all
 * of them, made one value. */
#include <string.h>

#include "array/array.h"

/* The element at an index, as an array without axes. */
static kjit_status element(const kjit_array *a, const int64_t *index, const void *value,
                           kjit_array *out)
{
    char *data = a->data;
    if (!value)
        return kj_fail(a->ctx, KJIT_INVALID, "value is NULL");
    if (!index && a->ndim > 0)
        return kj_fail(a->ctx, KJIT_INVALID, "index is NULL");
    for (int i = 0; i < a->ndim; i++) {
        if (index[i] < 0 || index[i] >= a->shape[i])
            return kj_fail(a->ctx, KJIT_SHAPE,
                           "index %lld is outside of axis %d with %lld elements",
                           (long long)index[i], i, (long long)a->shape[i]);
    }
    for (int i = 0; i < a->ndim; i++)
        data += index[i] * a->strides[i];
    *out = *a;
    out->ndim = 0;
    out->size = 1;
    out->data = data;
    return KJIT_OK;
}

/* The caller's memory, as an array like the element. */
static kjit_array outside(const kjit_array *item, void *value, kj_buffer *buffer)
{
    kjit_array a = *item;
    *buffer = (kj_buffer){.ctx = item->ctx, .memory = KJIT_HOST, .data = value};
    a.buffer = buffer;
    a.data = value;
    a.aligned = (uintptr_t)value % (uintptr_t)kj_array_align(item) == 0;
    return a;
}

static kjit_status move(const kjit_array *dst, const kjit_array *src)
{
    kj_transfer t;
    kj_transfer_init(&t, dst, src);
    return kj_transfer_submit(&t, dst->buffer, src->buffer, NULL);
}

kjit_status kjit_array_get(kjit_array *a, const int64_t *index, void *value)
{
    kjit_array item;
    kj_buffer buffer;
    kjit_status status = kj_enter_array(a);
    if (status == KJIT_OK)
        status = element(a, index, value, &item);
    if (status != KJIT_OK)
        return status;
    kjit_array to = outside(&item, value, &buffer);
    return move(&to, &item);
}

kjit_status kjit_array_set(kjit_array *a, const int64_t *index, const void *value)
{
    kjit_array item;
    kj_buffer buffer;
    kjit_status status = kj_enter_array(a);
    if (status == KJIT_OK)
        status = element(a, index, value, &item);
    if (status == KJIT_OK && a->buffer->read_only)
        status = kj_fail(a->ctx, KJIT_INVALID, "the array is read-only");
    if (status != KJIT_OK)
        return status;
    kjit_array from = outside(&item, (void *)(uintptr_t)value, &buffer);
    return move(&item, &from);
}

/* ---- All of them ---- */

/* A new array of one element, where copies to `a` need not cross the bus. */
static kjit_status one_like(const kjit_array *a, const void *value, kjit_stream *stream,
                            kjit_array **out)
{
    kjit_array *host, *one;
    kjit_status status = kj_array_create(a->ctx, a->dtype, 0, NULL, 'C', KJIT_HOST, &host);
    *out = host;
    if (status != KJIT_OK)
        return status;
    memcpy(host->data, value, kj_array_elem(a));
    if (kj_host_works(a->buffer->memory))
        return status;
    status = kj_array_create(a->ctx, a->dtype, 0, NULL, 'C', KJIT_DEVICE, &one);
    *out = one;
    if (status == KJIT_OK) /* what a graph repeats has the value already */
        status = kjit_copy(one, host, kj_stream_records(stream) ? NULL : stream);
    kjit_array_free(host);
    return status;
}

static kjit_status fill(kjit_array *a, const void *value, kjit_stream *stream)
{
    static const int64_t strides[KJIT_MAX_NDIM];
    kjit_array *one, *spread = NULL;
    kjit_status status = one_like(a, value, stream, &one);
    if (status == KJIT_OK)
        status = kj_array_restride(one, a->ndim, a->shape, strides, &spread);
    if (status == KJIT_OK)
        status = kjit_copy(a, spread, stream);
    kjit_array_free(spread);
    kjit_array_free(one);
    return status;
}

kjit_status kjit_array_fill(kjit_array *a, const void *value, kjit_stream *stream)
{
    kjit_status status = kj_enter_array(a);
    if (status != KJIT_OK)
        return status;
    if (!value)
        return kj_fail(a->ctx, KJIT_INVALID, "value is NULL");
    if (a->buffer->read_only)
        return kj_fail(a->ctx, KJIT_INVALID, "the array is read-only");
    status = kj_check_stream(a->ctx, stream);
    if (status != KJIT_OK)
        return status;
    return a->size > 0 ? fill(a, value, stream) : kj_nothing_to_do(a->ctx, stream);
}
