/* Arrays and views: shapes over shared, counted memory. Nothing here reads an element. */
#include <stdlib.h>
#include <string.h>

#include "array/array.h"

/* ---- Arrays ---- */

bool kj_array_is_aligned(const kjit_array *a, int bytes)
{
    uintptr_t bits = a->size > 0 ? (uintptr_t)a->data : 0;
    for (int i = 0; a->size > 0 && i < a->ndim; i++) {
        if (a->shape[i] > 1)
            bits |= (uintptr_t)a->strides[i];
    }
    return bits % (uintptr_t)bytes == 0; /* alignments are powers of 2 */
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
    bool apart = kj_host_works(a->buffer->memory) != kj_host_works(b->buffer->memory) &&
                 !a->ctx->ops->host_memory;
    return !apart && a->size > 0 && b->size > 0 && a->low < b->high && b->low < a->high;
}

/* A handle on the buffer, whose reference it takes over only when it succeeds. */
static kjit_array *new_array(kj_buffer *buffer, char *data, kjit_dtype dtype, int ndim,
                             const int64_t *shape, const int64_t *strides)
{
    kjit_array *a = kj_handle_new(KJ_ARRAY, sizeof *a);
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
    a->aligned = kj_array_is_aligned(a, kj_array_align(a));
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
    if ((int)memory < KJIT_HOST || memory > KJIT_MANAGED)
        return kj_fail(ctx, KJIT_INVALID, "%d is no kind of memory", (int)memory);
    char text[KJ_SHAPE_TEXT];
    for (int i = 0; i < ndim; i++) {
        if (shape[i] < 0)
            return kj_fail(ctx, KJIT_SHAPE, "the shape %s has a negative extent",
                           kj_shape_text(ndim, shape, text));
    }
    kj_failure why;
    if (kj_shape_count(ndim, shape, elem, count))
        return KJIT_OK;
    if (kj_limit_allows(ctx, SIZE_MAX, &why) != KJIT_OK)
        return kj_fail_why(ctx, KJIT_LIMIT, &why);
    return kj_fail(ctx, KJIT_NO_MEMORY,
                   "out of memory: an array of shape %s is more than an address space",
                   kj_shape_text(ndim, shape, text));
}

/* Where elements lie, from the first. */
typedef struct span {
    int64_t low, high; /* not above 0, and past the last byte */
} span;

/* False when it is more than an address space. */
static bool span_of(int ndim, const int64_t *shape, const int64_t *strides, size_t elem, span *out)
{
    int64_t size;
    *out = (span){0, (int64_t)elem};
    for (int i = 0; i < ndim; i++) {
        if (shape[i] == 0) {
            *out = (span){0, 0};
            return true;
        }
    }
    for (int i = 0; i < ndim; i++) {
        int64_t reach, *end;
        if (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach))
            return false;
        end = reach < 0 ? &out->low : &out->high;
        if (__builtin_add_overflow(*end, reach, end))
            return false;
    }
    return !__builtin_sub_overflow(out->high, out->low, &size);
}

/* Do all elements lie at addresses that exist? */
static bool span_fits(const void *data, int ndim, const int64_t *shape, const int64_t *strides,
                      size_t elem)
{
    span s;
    int64_t first = (int64_t)(intptr_t)data, end;
    return first >= 0 && span_of(ndim, shape, strides, elem, &s) && first >= -s.low &&
           !__builtin_add_overflow(first, s.high, &end);
}

/* What options ask of the memory, and whether that fits its kind. */
static kjit_status check_options(kjit_context *ctx, const kjit_array_options *o, kj_chunk *chunk)
{
    bool locked = o->memory == KJIT_PINNED || o->memory == KJIT_MAPPED;
    if (o->order != 0 && o->order != 'C' && o->order != 'F')
        return kj_fail(ctx, KJIT_INVALID, "order is 'C' or 'F'");
    if ((o->portable || o->wc) && !locked)
        return kj_fail(ctx, KJIT_INVALID, "portable and wc are for pinned and mapped memory");
    if (o->attach_host && o->memory != KJIT_MANAGED)
        return kj_fail(ctx, KJIT_INVALID, "attach_host is for managed memory");
    if ((o->shareable || o->stream) && o->memory != KJIT_DEVICE)
        return kj_fail(ctx, KJIT_INVALID, "shareable and stream are for device memory");
    if (o->shareable && o->stream)
        return kj_fail(ctx, KJIT_INVALID, "memory in a stream's order cannot be shareable");
    *chunk = (kj_chunk){.memory = o->memory,
                        .how = (o->portable ? KJ_PORTABLE : 0u) | (o->wc ? KJ_WRITE_COMBINED : 0u) |
                               (o->attach_host ? KJ_ATTACH_HOST : 0u) |
                               (o->shareable ? KJ_SHAREABLE : 0u)};
    kjit_status status = kj_check_reserved(ctx, KJ_RESERVED(o, "the options'"));
    return status == KJIT_OK ? kj_check_stream(ctx, o->stream) : status;
}

kjit_status kj_array_over(kj_buffer *buffer, char *data, kjit_dtype dtype, int ndim,
                          const int64_t *shape, const int64_t *strides, kjit_array **out)
{
    *out = new_array(buffer, data, dtype, ndim, shape, strides);
    if (*out)
        return KJIT_OK;
    kjit_context *ctx = buffer->ctx;
    kj_buffer_drop(buffer);
    return kj_no_memory(ctx);
}

kjit_status kj_array_create_with(kjit_context *ctx, kjit_dtype dtype, int ndim,
                                 const int64_t *shape, const kjit_array_options *o,
                                 kjit_array **out)
{
    int64_t count, strides[KJIT_MAX_NDIM];
    kj_chunk chunk;
    *out = NULL;
    kjit_status status = check(ctx, dtype, ndim, shape, o->memory, &count);
    if (status == KJIT_OK)
        status = check_options(ctx, o, &chunk);
    if (status != KJIT_OK)
        return status;
    span s;
    size_t elem = kj_dtype_size(ctx, dtype);
    if (o->strides && ndim > 0)
        memcpy(strides, o->strides, (size_t)ndim * sizeof *strides);
    else
        kj_dense_strides(ndim, shape, elem, o->order ? o->order : 'C', strides);
    if (!span_of(ndim, shape, strides, elem, &s))
        return kj_fail(ctx, KJIT_SHAPE, "the strides reach beyond the address space");
    kj_buffer *buffer;
    chunk.size = (size_t)(s.high - s.low);
    status = kj_buffer_create_as(ctx, &chunk, o->stream, &buffer);
    if (status != KJIT_OK)
        return status;
    return kj_array_over(buffer, (char *)buffer->data - s.low, dtype, ndim, shape, strides, out);
}

kjit_status kjit_array_create_with(kjit_context *ctx, kjit_dtype dtype, int ndim,
                                   const int64_t *shape, const kjit_array_options *options,
                                   kjit_array **out)
{
    static const kjit_array_options defaults = {0};
    kjit_status status = KJ_MAKES(out, kj_enter_context(ctx), ctx);
    if (status != KJIT_OK)
        return status;
    return kj_array_create_with(ctx, dtype, ndim, shape, options ? options : &defaults, out);
}

kjit_status kj_array_create(kjit_context *ctx, kjit_dtype dtype, int ndim, const int64_t *shape,
                            char order, kjit_memory memory, kjit_array **out)
{
    kjit_array_options options = {.memory = memory, .order = order};
    return kj_array_create_with(ctx, dtype, ndim, shape, &options, out);
}

kjit_status kjit_array_create(kjit_context *ctx, kjit_dtype dtype, int ndim, const int64_t *shape,
                              char order, kjit_memory memory, kjit_array **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_context(ctx), ctx);
    return status == KJIT_OK ? kj_array_create(ctx, dtype, ndim, shape, order, memory, out)
                             : status;
}

kjit_status kjit_array_like(kjit_array *a, const kjit_array_options *options, kjit_array **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_array(a), a->ctx);
    if (status != KJIT_OK)
        return status;
    kjit_array_options own = options ? *options : (kjit_array_options){.memory = a->buffer->memory};
    if (own.order == 0)
        own.order = a->layout == KJ_LAYOUT_F ? 'F' : 'C';
    return kj_array_create_with(a->ctx, a->dtype, a->ndim, a->shape, &own, out);
}

kjit_status kjit_array_register(kjit_array *host, const kjit_array_options *options,
                                kjit_array **out)
{
    static const kjit_array_options defaults = {.memory = KJIT_PINNED};
    const kjit_array_options *o = options ? options : &defaults;
    kjit_status status = KJ_MAKES(out, kj_enter_array(host), host->ctx);
    if (status != KJIT_OK)
        return status;
    kjit_context *ctx = host->ctx;
    if (host->buffer->memory != KJIT_HOST)
        return kj_fail(ctx, KJIT_INVALID,
                       "only plain host memory can be page-locked, and this is not, or is already");
    if (o->memory != KJIT_PINNED && o->memory != KJIT_MAPPED)
        return kj_fail(ctx, KJIT_INVALID, "host memory becomes pinned or mapped memory only");
    if (o->order || o->strides || o->wc)
        return kj_fail(ctx, KJIT_INVALID,
                       "order, strides and wc of memory that exists cannot be chosen");
    kj_chunk chunk;
    kj_buffer *buffer;
    status = check_options(ctx, o, &chunk);
    if (status != KJIT_OK)
        return status;
    chunk.data = host->data + (host->low - (uintptr_t)host->data);
    chunk.size = host->high - host->low;
    status = kj_buffer_register(host->buffer, &chunk, &buffer);
    if (status != KJIT_OK)
        return status;
    return kj_array_over(buffer, host->data, host->dtype, host->ndim, host->shape, host->strides,
                         out);
}

/* Elements that begin amid each other's numbers are nobody's: who counts strides in elements has a 1 among them. */
static kjit_status check_strides(kjit_context *ctx, kjit_dtype dtype, size_t elem, int ndim,
                                 const int64_t *shape, const int64_t *strides)
{
    const kj_aggregate *of = kj_dtype_aggregate(ctx, dtype);
    uint64_t align = (uint64_t)(of ? of->align : (int)elem);
    for (int i = 0; i < ndim; i++) {
        uint64_t step = strides[i] < 0 ? 0 - (uint64_t)strides[i] : (uint64_t)strides[i];
        if (shape[i] > 1 && step < elem && step % align != 0)
            return kj_fail(ctx, KJIT_INVALID,
                           "the stride of axis %d is %lld: strides are in bytes, and an element of "
                           "%s has %lld",
                           i, (long long)strides[i], kj_dtype_name(ctx, dtype), (long long)elem);
    }
    return KJIT_OK;
}

kjit_status kj_array_wrap(kjit_context *ctx, void *data, kjit_dtype dtype, int ndim,
                          const int64_t *shape, const int64_t *strides, kjit_memory memory,
                          void *owner, void (*deleter)(void *owner), kjit_array **out)
{
    int64_t count, dense[KJIT_MAX_NDIM];
    *out = NULL;
    kjit_status status = check(ctx, dtype, ndim, shape, memory, &count);
    if (status != KJIT_OK)
        return status;
    size_t elem = kj_dtype_size(ctx, dtype);
    if (!strides) {
        kj_dense_strides(ndim, shape, elem, 'C', dense);
        strides = dense;
    }
    if (count > 0 && !data)
        return kj_fail(ctx, KJIT_INVALID, "data is NULL");
    if (count > 0)
        status = check_strides(ctx, dtype, elem, ndim, shape, strides);
    if (status != KJIT_OK)
        return status;
    if (count > 0 && !span_fits(data, ndim, shape, strides, elem))
        return kj_fail(ctx, KJIT_SHAPE, "the strides reach beyond the address space");
    kj_buffer *buffer;
    span s = {0, 0};
    span_of(ndim, shape, strides, elem, &s);
    kj_chunk chunk = {
        .memory = memory, .data = (char *)data + s.low, .size = (size_t)(s.high - s.low)};
    status = kj_buffer_wrap(ctx, &chunk, &buffer);
    if (status == KJIT_OK)
        status = kj_array_over(buffer, data, dtype, ndim, shape, strides, out);
    if (status != KJIT_OK)
        return status;
    buffer->owner = owner;
    buffer->deleter = deleter;
    return KJIT_OK;
}

kjit_status kjit_array_wrap_owned(kjit_context *ctx, void *data, kjit_dtype dtype, int ndim,
                                  const int64_t *shape, const int64_t *strides, kjit_memory memory,
                                  void *owner, void (*deleter)(void *owner), kjit_array **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_context(ctx), ctx);
    if (status != KJIT_OK)
        return status;
    return kj_array_wrap(ctx, data, dtype, ndim, shape, strides, memory, owner, deleter, out);
}

kjit_status kjit_array_wrap(kjit_context *ctx, void *data, kjit_dtype dtype, int ndim,
                            const int64_t *shape, const int64_t *strides, kjit_memory memory,
                            kjit_array **out)
{
    return kjit_array_wrap_owned(ctx, data, dtype, ndim, shape, strides, memory, NULL, NULL, out);
}

void kj_array_drop(kjit_array *a)
{
    if (!a)
        return;
    kjit_context *ctx = a->ctx;
    kj_context_hold(ctx);
    kj_buffer_drop(a->buffer);
    kj_handle_free(a);
    kj_context_drop(ctx);
}

void kjit_array_free(kjit_array *a)
{
    if (!kj_can_free(a, KJ_ARRAY) || kj_forked(a->ctx) || !kj_handle_close(a))
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
    kjit_status status = KJ_MAKES(out, kj_enter_array(a), a->ctx);
    if (status != KJIT_OK)
        return status;
    int64_t shape[KJIT_MAX_NDIM], strides[KJIT_MAX_NDIM];
    char *data = a->data;
    for (int i = 0; i < a->ndim; i++) {
        int64_t n = a->shape[i], by = step ? step[i] : 1;
        int64_t from = start ? start[i] : by < 0 ? n - 1 : 0;
        int64_t to = stop ? stop[i] : by < 0 ? -1 : n;
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
    kjit_status status = KJ_MAKES(out, kj_enter_array(a), a->ctx);
    if (status != KJIT_OK)
        return status;
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
    return kj_can_ask(a, KJ_ARRAY) ? a->dtype : KJIT_BOOL;
}

int kjit_array_ndim(const kjit_array *a)
{
    return kj_can_ask(a, KJ_ARRAY) ? a->ndim : 0;
}

int64_t kjit_array_size(const kjit_array *a)
{
    return kj_can_ask(a, KJ_ARRAY) ? a->size : 0;
}

const int64_t *kjit_array_shape(const kjit_array *a)
{
    return kj_can_ask(a, KJ_ARRAY) ? a->shape : NULL;
}

const int64_t *kjit_array_strides(const kjit_array *a)
{
    return kj_can_ask(a, KJ_ARRAY) ? a->strides : NULL;
}

kjit_memory kjit_array_memory(const kjit_array *a)
{
    return kj_can_ask(a, KJ_ARRAY) ? a->buffer->memory : KJIT_HOST;
}

kjit_status kjit_array_protect(kjit_array *a)
{
    kjit_status status = kj_enter_array(a);
    if (status == KJIT_OK)
        a->buffer->read_only = true;
    return status;
}

int kjit_array_is_read_only(const kjit_array *a)
{
    return kj_can_ask(a, KJ_ARRAY) && a->buffer->read_only;
}

void *kjit_array_data(const kjit_array *a)
{
    return kj_can_ask(a, KJ_ARRAY) ? a->data : NULL;
}
