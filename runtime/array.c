/* Arrays and views: shapes over shared, counted memory. Nothing here reads an element. */
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

/* ---- Buffers ---- */

void kj_buffer_hold(kj_buffer *buffer)
{
    atomic_fetch_add_explicit(&buffer->refs, 1, memory_order_relaxed);
}

/* Host memory is handed out untouched, so what is promised in all is counted against what the
 * machine has. */
static kjit_status reserve(kjit_context *ctx, kjit_memory memory, size_t size, kj_failure *why)
{
    if (memory == KJIT_DEVICE && !ctx->ops->host_memory)
        return KJIT_OK;
    size_t before = atomic_fetch_add(&ctx->reserved, size);
    if (size <= ctx->memory && before <= ctx->memory - size)
        return KJIT_OK;
    atomic_fetch_sub(&ctx->reserved, size);
    return kj_because(why, KJIT_NO_MEMORY,
                      "out of memory: an array of %zu bytes, %zu in use, %llu in all", size, before,
                      (unsigned long long)ctx->memory);
}

static void unreserve(kjit_context *ctx, kjit_memory memory, size_t size)
{
    if (memory == KJIT_HOST || ctx->ops->host_memory)
        atomic_fetch_sub(&ctx->reserved, size);
}

static kjit_status new_memory(kjit_context *ctx, kjit_memory memory, size_t size, void **out,
                              kj_failure *why)
{
    return memory == KJIT_HOST ? kj_memory_alloc(size, out, why)
                               : ctx->ops->alloc(ctx->dev, size, out, why);
}

/* Tried once. */
static kjit_status try_alloc(kjit_context *ctx, kjit_memory memory, size_t size, void **out,
                             kj_failure *why)
{
    kjit_status status = reserve(ctx, memory, size, why);
    if (status != KJIT_OK || kj_spare_take(ctx, memory, size, out))
        return status;
    status = new_memory(ctx, memory, size, out, why);
    if (status != KJIT_OK)
        unreserve(ctx, memory, size);
    return status;
}

/* Memory has run out: gives back all that nothing uses. */
static void make_room(kjit_context *ctx)
{
    kj_failure why;
    ctx->ops->wait(ctx->dev, NULL); /* queued work lets go of what it holds */
    kj_spares_empty(ctx);
    kj_pending_flush(ctx);
    if (ctx->ops->trim)
        ctx->ops->trim(ctx->dev, 0, &why); /* if it cannot, the next attempt tells */
}

static kjit_status alloc_memory(kjit_context *ctx, kjit_memory memory, size_t size, void **out)
{
    kj_failure why;
    kj_pending_check(ctx);
    kjit_status status = try_alloc(ctx, memory, size, out, &why);
    if (status == KJIT_NO_MEMORY) {
        make_room(ctx);
        status = try_alloc(ctx, memory, size, out, &why);
    }
    return status == KJIT_OK ? status : kj_fail_why(ctx, status, &why);
}

static kjit_status free_memory(kjit_context *ctx, kjit_memory memory, void *data, size_t size,
                               kj_failure *why)
{
    kjit_status status = kj_memory_release(ctx, memory, data, size, why);
    unreserve(ctx, memory, size);
    return status;
}

static kjit_status free_buffer(kj_pending *item, kj_failure *why)
{
    kj_buffer *b = (kj_buffer *)item;
    kjit_status status = free_memory(b->ctx, b->memory, b->data, b->size, why);
    free(b);
    return status;
}

/* How much of the device's memory arrays have; what is pending is no array's. */
static size_t used_of(const kj_buffer *buffer)
{
    return buffer->owned && buffer->memory == KJIT_DEVICE ? buffer->size : 0;
}

void kj_buffer_drop(kj_buffer *buffer)
{
    if (atomic_fetch_sub_explicit(&buffer->refs, 1, memory_order_acq_rel) != 1)
        return;
    kjit_context *ctx = buffer->ctx;
    kjit_memory memory = buffer->memory;
    atomic_fetch_sub(&ctx->used, used_of(buffer));
    if (buffer->owned) {
        if (kj_spare_keep(ctx, memory, buffer->data, buffer->size)) {
            unreserve(ctx, memory, buffer->size);
        } else if (memory != KJIT_HOST) {
            kj_pending_add(ctx, KJ_PENDING_MEMORY, &buffer->pending);
            return;
        } else {
            kj_failure why;
            free_memory(ctx, memory, buffer->data, buffer->size, &why); /* it cannot fail */
        }
    }
    if (buffer->deleter)
        buffer->deleter(buffer->owner);
    free(buffer);
    kj_context_drop(ctx);
}

static kj_buffer *new_buffer(kjit_context *ctx, kjit_memory memory, void *data, size_t size,
                             bool owned)
{
    kj_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return NULL;
    atomic_init(&buffer->refs, 1);
    buffer->pending = (kj_pending){.size = size, .deallocate = free_buffer};
    buffer->ctx = ctx;
    buffer->memory = memory;
    buffer->data = data;
    buffer->size = size;
    buffer->owned = owned;
    atomic_fetch_add(&ctx->used, used_of(buffer));
    kj_context_hold(ctx);
    return buffer;
}

kjit_status kj_buffer_create(kjit_context *ctx, kjit_memory memory, size_t size, kj_buffer **out)
{
    void *data = NULL;
    kj_failure why;
    kjit_status status = alloc_memory(ctx, memory, size, &data);
    if (status != KJIT_OK)
        return status;
    *out = new_buffer(ctx, memory, data, size, true);
    if (*out)
        return KJIT_OK;
    status = free_memory(ctx, memory, data, size, &why);
    if (status != KJIT_OK)
        kj_pending_failed(ctx, status, &why);
    return kj_no_memory(ctx);
}

/* ---- Arrays ---- */

static bool is_aligned(const kjit_array *a)
{
    uintptr_t bits = a->size > 0 ? (uintptr_t)a->data : 0;
    for (int i = 0; a->size > 0 && i < a->ndim; i++) {
        if (a->shape[i] > 1)
            bits |= (uintptr_t)a->strides[i];
    }
    return bits % (uintptr_t)kj_array_align(a) == 0; /* alignments are powers of 2 */
}

/* Where the elements lie; the strides were checked to stay within an address space. */
static void set_range(kjit_array *a, size_t elem)
{
    a->low = a->high = (uintptr_t)a->data;
    for (int i = 0; a->size > 0 && i < a->ndim; i++) {
        int64_t reach = (a->shape[i] - 1) * a->strides[i];
        *(reach < 0 ? &a->low : &a->high) += (uintptr_t)reach;
    }
    a->high += a->size > 0 ? elem : 0;
}

bool kj_arrays_meet(const kjit_array *a, const kjit_array *b)
{
    bool apart = a->buffer->memory != b->buffer->memory && !a->ctx->ops->host_memory;
    return !apart && a->size > 0 && b->size > 0 && a->low < b->high && b->low < a->high;
}

/* A handle on the buffer, whose reference it takes over only when it succeeds. */
static kjit_array *new_array(kj_buffer *buffer, char *data, kjit_dtype dtype, int ndim,
                             const int64_t *shape, const int64_t *strides)
{
    kjit_array *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    size_t elem = kj_dtype_size(buffer->ctx, dtype);
    a->ctx = buffer->ctx;
    a->buffer = buffer;
    a->data = data;
    a->dtype = dtype;
    a->of = kj_dtype_aggregate(buffer->ctx, dtype);
    a->ndim = ndim;
    if (ndim > 0) {
        memcpy(a->shape, shape, (size_t)ndim * sizeof *shape);
        memcpy(a->strides, strides, (size_t)ndim * sizeof *strides);
    }
    kj_shape_count(ndim, shape, elem, &a->size);
    a->layout = kj_layout_of(ndim, shape, strides, elem);
    a->aligned = is_aligned(a);
    set_range(a, elem);
    return a;
}

/* What create and wrap ask of their arguments. */
static kjit_status check(kjit_context *ctx, kjit_dtype dtype, int ndim, const int64_t *shape,
                         kjit_memory memory, int64_t *count)
{
    size_t elem = kj_dtype_size(ctx, dtype);
    if (elem == 0)
        return kj_fail(ctx, KJIT_TYPE, "%d is no element type", (int)dtype);
    if (ndim < 0 || ndim > KJIT_MAX_NDIM)
        return kj_fail(ctx, KJIT_SHAPE, "an array has 0 to %d dimensions, not %d", KJIT_MAX_NDIM,
                       ndim);
    if (ndim > 0 && !shape)
        return kj_fail(ctx, KJIT_INVALID, "shape is NULL");
    if (memory != KJIT_HOST && memory != KJIT_DEVICE)
        return kj_fail(ctx, KJIT_INVALID, "%d is no kind of memory", (int)memory);
    char text[KJ_SHAPE_TEXT];
    for (int i = 0; i < ndim; i++) {
        if (shape[i] < 0)
            return kj_fail(ctx, KJIT_SHAPE, "the shape %s has a negative extent",
                           kj_shape_text(ndim, shape, text));
    }
    if (!kj_shape_count(ndim, shape, elem, count))
        return kj_fail(ctx, KJIT_NO_MEMORY,
                       "out of memory: an array of shape %s is more than an address space",
                       kj_shape_text(ndim, shape, text));
    return KJIT_OK;
}

kjit_status kjit_array_create(kjit_context *ctx, kjit_dtype dtype, int ndim, const int64_t *shape,
                              char order, kjit_memory memory, kjit_array **out)
{
    kjit_status status = kj_enter(ctx);
    if (out)
        *out = NULL;
    if (status != KJIT_OK)
        return status;
    if (!out)
        return kj_fail(ctx, KJIT_INVALID, "out is NULL");
    if (order != 'C' && order != 'F')
        return kj_fail(ctx, KJIT_INVALID, "order is 'C' or 'F'");
    int64_t count;
    status = check(ctx, dtype, ndim, shape, memory, &count);
    if (status != KJIT_OK)
        return status;
    size_t elem = kj_dtype_size(ctx, dtype);
    int64_t strides[KJIT_MAX_NDIM];
    kj_dense_strides(ndim, shape, elem, order, strides);
    kj_buffer *buffer;
    status = kj_buffer_create(ctx, memory, (size_t)count * elem, &buffer);
    if (status != KJIT_OK)
        return status;
    *out = new_array(buffer, buffer->data, dtype, ndim, shape, strides);
    if (*out)
        return KJIT_OK;
    kj_buffer_drop(buffer);
    return kj_no_memory(ctx);
}

/* Do all elements lie at addresses that exist? */
static bool span_fits(const void *data, int ndim, const int64_t *shape, const int64_t *strides,
                      size_t elem)
{
    int64_t low = (int64_t)(intptr_t)data, high = low, end;
    if (low < 0)
        return false;
    for (int i = 0; i < ndim; i++) {
        int64_t reach;
        if (shape[i] <= 1)
            continue;
        if (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) ||
            __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high))
            return false;
    }
    return low >= 0 && !__builtin_add_overflow(high, (int64_t)elem, &end);
}

kjit_status kjit_array_wrap_owned(kjit_context *ctx, void *data, kjit_dtype dtype, int ndim,
                                  const int64_t *shape, const int64_t *strides, kjit_memory memory,
                                  void *owner, void (*deleter)(void *owner), kjit_array **out)
{
    kjit_status status = kj_enter(ctx);
    if (out)
        *out = NULL;
    if (status != KJIT_OK)
        return status;
    if (!out)
        return kj_fail(ctx, KJIT_INVALID, "out is NULL");
    int64_t count, dense[KJIT_MAX_NDIM];
    status = check(ctx, dtype, ndim, shape, memory, &count);
    if (status != KJIT_OK)
        return status;
    size_t elem = kj_dtype_size(ctx, dtype);
    if (!strides) {
        kj_dense_strides(ndim, shape, elem, 'C', dense);
        strides = dense;
    }
    if (count > 0 && !data)
        return kj_fail(ctx, KJIT_INVALID, "data is NULL");
    if (count > 0 && !span_fits(data, ndim, shape, strides, elem))
        return kj_fail(ctx, KJIT_SHAPE, "the strides reach beyond the address space");
    kj_buffer *buffer = new_buffer(ctx, memory, data, (size_t)count * elem, false);
    if (!buffer)
        return kj_no_memory(ctx);
    *out = new_array(buffer, data, dtype, ndim, shape, strides);
    if (!*out) {
        kj_buffer_drop(buffer);
        return kj_no_memory(ctx);
    }
    buffer->owner = owner;
    buffer->deleter = deleter;
    return KJIT_OK;
}

kjit_status kjit_array_wrap(kjit_context *ctx, void *data, kjit_dtype dtype, int ndim,
                            const int64_t *shape, const int64_t *strides, kjit_memory memory,
                            kjit_array **out)
{
    return kjit_array_wrap_owned(ctx, data, dtype, ndim, shape, strides, memory, NULL, NULL, out);
}

void kj_array_drop(kjit_array *a)
{
    if (a)
        kj_buffer_drop(a->buffer);
    free(a);
}

void kjit_array_free(kjit_array *a)
{
    if (!a || kj_enter(a->ctx) != KJIT_OK)
        return;
    kjit_context *ctx = a->ctx;
    kj_context_hold(ctx);
    kj_array_drop(a);
    kj_freed(ctx);
}

/* ---- Views ---- */

kjit_status kj_array_view(kjit_array *a, char *data, kjit_dtype dtype, int ndim,
                          const int64_t *shape, const int64_t *strides, kjit_array **out)
{
    *out = new_array(a->buffer, data, dtype, ndim, shape, strides);
    if (!*out)
        return kj_no_memory(a->ctx);
    kj_buffer_hold(a->buffer);
    return KJIT_OK;
}

kjit_status kj_array_restride(kjit_array *a, int ndim, const int64_t *shape, const int64_t *strides,
                              kjit_array **out)
{
    return kj_array_view(a, a->data, a->dtype, ndim, shape, strides, out);
}

/* Elements of start:stop:step; all three are within -1 .. extent but for the step. */
static int64_t slice_count(int64_t start, int64_t stop, int64_t step)
{
    if (step > 0)
        return stop > start ? (stop - start - 1) / step + 1 : 0;
    uint64_t down = -(uint64_t)step;
    return start > stop ? (int64_t)((uint64_t)(start - stop - 1) / down) + 1 : 0;
}

kjit_status kjit_array_slice(kjit_array *a, const int64_t *start, const int64_t *stop,
                             const int64_t *step, kjit_array **out)
{
    if (out)
        *out = NULL;
    kjit_status status = a ? kj_enter(a->ctx) : KJIT_INVALID;
    if (status != KJIT_OK)
        return status;
    if (!out)
        return kj_fail(a->ctx, KJIT_INVALID, "out is NULL");
    int64_t shape[KJIT_MAX_NDIM], strides[KJIT_MAX_NDIM];
    char *data = a->data;
    for (int i = 0; i < a->ndim; i++) {
        int64_t n = a->shape[i], from = start ? start[i] : 0, to = stop ? stop[i] : n,
                by = step ? step[i] : 1;
        if (by == 0)
            return kj_fail(a->ctx, KJIT_INVALID, "axis %d: the step of a slice is 0", i);
        if (from < -1 || from > n || to < -1 || to > n)
            return kj_fail(a->ctx, KJIT_SHAPE, "axis %d: the slice %lld:%lld is outside of 0:%lld",
                           i, (long long)from, (long long)to, (long long)n);
        shape[i] = slice_count(from, to, by);
        strides[i] = shape[i] > 1 ? a->strides[i] * by : a->strides[i];
        if (shape[i] == 0)
            continue;
        if (from < 0 || from >= n)
            return kj_fail(a->ctx, KJIT_SHAPE, "axis %d: the slice starts at %lld of %lld elements",
                           i, (long long)from, (long long)n);
        if (a->size > 0)
            data += from * a->strides[i];
    }
    return kj_array_view(a, data, a->dtype, a->ndim, shape, strides, out);
}

kjit_status kjit_array_at(kjit_array *a, int axis, int64_t index, kjit_array **out)
{
    if (out)
        *out = NULL;
    kjit_status status = a ? kj_enter(a->ctx) : KJIT_INVALID;
    if (status != KJIT_OK)
        return status;
    if (!out)
        return kj_fail(a->ctx, KJIT_INVALID, "out is NULL");
    if (axis < 0 || axis >= a->ndim)
        return kj_fail(a->ctx, KJIT_SHAPE, "there is no axis %d in an array of %d dimensions", axis,
                       a->ndim);
    if (index < 0 || index >= a->shape[axis])
        return kj_fail(a->ctx, KJIT_SHAPE, "index %lld is outside of axis %d with %lld elements",
                       (long long)index, axis, (long long)a->shape[axis]);
    int64_t shape[KJIT_MAX_NDIM] = {0}, strides[KJIT_MAX_NDIM] = {0};
    for (int i = 0, k = 0; i < a->ndim; i++) {
        if (i == axis)
            continue;
        shape[k] = a->shape[i];
        strides[k++] = a->strides[i];
    }
    char *data = a->size > 0 ? a->data + index * a->strides[axis] : a->data;
    return kj_array_view(a, data, a->dtype, a->ndim - 1, shape, strides, out);
}

/* ---- What an array is ---- */

kjit_dtype kjit_array_dtype(const kjit_array *a)
{
    return a ? a->dtype : KJIT_BOOL;
}

int kjit_array_ndim(const kjit_array *a)
{
    return a ? a->ndim : 0;
}

int64_t kjit_array_size(const kjit_array *a)
{
    return a ? a->size : 0;
}

const int64_t *kjit_array_shape(const kjit_array *a)
{
    return a ? a->shape : NULL;
}

const int64_t *kjit_array_strides(const kjit_array *a)
{
    return a ? a->strides : NULL;
}

kjit_memory kjit_array_memory(const kjit_array *a)
{
    return a ? a->buffer->memory : KJIT_HOST;
}

int kjit_array_is_read_only(const kjit_array *a)
{
    return a && a->buffer->read_only;
}

void *kjit_array_data(const kjit_array *a)
{
    return a ? a->data : NULL;
}
