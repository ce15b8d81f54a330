/* Arrays to and from DLPack, the structure array libraries hand each other memory by. In: an array,
 * or another library's tensor; out: a tensor that keeps the array, an array that keeps the tensor.
 * No element is moved. */
#include "device/dlpack.h"

#include <stdlib.h>
#include <string.h>

#include "array/array.h"

enum { KINDS = KJIT_MANAGED + 1 }; /* of memory */

/* ---- Types and devices ---- */

/* False: DLPack has no word for it. */
static bool type_of(kjit_dtype dtype, kj_dl_dtype *out)
{
    const kj_aggregate *of = kj_aggregate_of((kj_dtype)dtype);
    kj_dtype elem = of ? of->elem : (kj_dtype)dtype;
    if (!kj_is_scalar(elem))
        return false;
    bool complex = of && of->kind == KJ_COMPLEX;
    *out = (kj_dl_dtype){.code = elem == KJ_BOOL      ? KJ_DL_BOOL
                                 : complex            ? KJ_DL_COMPLEX
                                 : elem == KJ_BF16    ? KJ_DL_BFLOAT
                                 : kj_is_float(elem)  ? KJ_DL_FLOAT
                                 : kj_is_signed(elem) ? KJ_DL_INT
                                                      : KJ_DL_UINT,
                         .bits = (uint8_t)(8 * kj_types[elem].size * (complex ? 2 : 1)),
                         .lanes = (uint16_t)(of && !complex ? of->n : 1)};
    return true;
}

static kjit_status dtype_of(kjit_context *ctx, kj_dl_dtype type, kjit_dtype *out)
{
    kj_dl_dtype own;
    for (kjit_dtype d = KJIT_BOOL; d < KJIT_FIRST_RECORD; d++) {
        if (kjit_dtype_size(d) > 0 && type_of(d, &own) && own.code == type.code &&
            own.bits == type.bits && own.lanes == type.lanes) {
            *out = d;
            return KJIT_OK;
        }
    }
    return kj_fail(ctx, KJIT_TYPE,
                   "a tensor of DLPack's type code %d with %d bits and %d lanes: kjit has no such "
                   "element type",
                   type.code, type.bits, type.lanes);
}

/* The kind of memory a tensor is in. Only a device's own has a number that counts; what is on the
 * host is so for every device. */
static kjit_status memory_of(kjit_context *ctx, kj_dl_device device, kjit_memory *out)
{
    for (int memory = 0; memory < KINDS; memory++) {
        if (ctx->ops->dlpack[memory] == device.type &&
            (memory != KJIT_DEVICE || device.id == ctx->ordinal)) {
            *out = (kjit_memory)memory;
            return KJIT_OK;
        }
    }
    *out = KJIT_HOST;
    if (device.type == KJ_DL_CUDA_HOST)
        return KJIT_OK;
    return kj_fail(ctx, KJIT_NO_DEVICE,
                   "the tensor is on device %d of DLPack's type %d, where this context (%s:%d) "
                   "does not reach",
                   device.id, device.type, ctx->ops->kind, ctx->ordinal);
}

/* ---- Out ---- */

/* What a tensor's manager_ctx is: either structure, and what it points to. */
typedef struct exported {
    union {
        struct DLManagedTensor unversioned;
        struct DLManagedTensorVersioned versioned;
    } tensor;
    kjit_array *array;
    int64_t shape[KJIT_MAX_NDIM], strides[KJIT_MAX_NDIM];
} exported;

/* On any thread, one of the library's too where the tensor's taker was a context. */
static void drop_exported(exported *e)
{
    if (!kj_forked(e->array->ctx))
        kj_array_drop(e->array);
    free(e);
}

static void delete_unversioned(struct DLManagedTensor *self)
{
    if (self)
        drop_exported(self->manager_ctx);
}

static void delete_versioned(struct DLManagedTensorVersioned *self)
{
    if (self)
        drop_exported(self->manager_ctx);
}

/* Strides in elements; those of an axis that nobody steps along are as if it were dense. */
static kjit_status set_strides(exported *e, const kjit_array *a)
{
    int64_t elem = (int64_t)kj_array_elem(a), dense[KJIT_MAX_NDIM];
    kj_dense_strides(a->ndim, a->shape, (size_t)elem, 'C', dense);
    for (int i = 0; i < a->ndim; i++) {
        int64_t stride = a->size > 0 && a->shape[i] > 1 ? a->strides[i] : dense[i];
        if (stride % elem != 0)
            return kj_fail(a->ctx, KJIT_SHAPE,
                           "axis %d has a stride of %lld bytes, and elements have %lld: DLPack "
                           "counts strides in elements; copy the array first",
                           i, (long long)stride, (long long)elem);
        e->shape[i] = a->shape[i];
        e->strides[i] = stride / elem;
    }
    return KJIT_OK;
}

static kjit_status fill(exported *e, kjit_array *a, kj_dl_tensor *t)
{
    kjit_memory memory = a->buffer->memory;
    *t = (kj_dl_tensor){.data = a->size > 0 ? a->data : NULL,
                        .device = {a->ctx->ops->dlpack[memory], 0},
                        .ndim = a->ndim,
                        .shape = e->shape,
                        .strides = e->strides};
    if (memory == KJIT_DEVICE)
        t->device.id = a->ctx->ordinal;
    if (!type_of(a->dtype, &t->dtype))
        return kj_fail(a->ctx, KJIT_TYPE, "DLPack has no type for %s",
                       kj_dtype_name(a->ctx, a->dtype));
    kjit_status status = set_strides(e, a);
    if (status == KJIT_OK)
        status = kj_array_restride(a, a->ndim, a->shape, a->strides, &e->array);
    if (status == KJIT_OK)
        kj_handle_hide(e->array);
    return status;
}

/* What the caller gets can be used at once: all queued work has ended. */
static kjit_status export(kjit_array *a, bool versioned, exported **out)
{
    *out = NULL;
    exported *e = calloc(1, sizeof *e);
    if (!e)
        return kj_no_memory(a->ctx);
    kjit_status status =
        fill(e, a, versioned ? &e->tensor.versioned.dl_tensor : &e->tensor.unversioned.dl_tensor);
    if (status != KJIT_OK) {
        free(e);
        return status;
    }
    a->ctx->ops->wait(a->ctx->dev, NULL);
    kj_waited(a->ctx);
    *out = e;
    return KJIT_OK;
}

kjit_status kjit_array_to_dlpack(kjit_array *a, struct DLManagedTensorVersioned **out)
{
    exported *e;
    kjit_status status = KJ_MAKES(out, kj_enter_array(a), a->ctx);
    if (status == KJIT_OK)
        status = export(a, true, &e);
    if (status != KJIT_OK)
        return status;
    struct DLManagedTensorVersioned *t = &e->tensor.versioned;
    t->version.major = KJ_DL_MAJOR;
    t->version.minor = KJ_DL_MINOR;
    t->flags = a->buffer->read_only ? KJ_DL_READ_ONLY : 0;
    t->manager_ctx = e;
    t->deleter = delete_versioned;
    *out = t;
    return KJIT_OK;
}

kjit_status kjit_array_to_dlpack_unversioned(kjit_array *a, struct DLManagedTensor **out)
{
    exported *e;
    kjit_status status = KJ_MAKES(out, kj_enter_array(a), a->ctx);
    if (status == KJIT_OK && a->buffer->read_only)
        status = kj_fail(a->ctx, KJIT_INVALID,
                         "the array is read-only, which DLPack's unversioned tensor cannot say");
    if (status == KJIT_OK)
        status = export(a, false, &e);
    if (status != KJIT_OK)
        return status;
    struct DLManagedTensor *t = &e->tensor.unversioned;
    t->manager_ctx = e;
    t->deleter = delete_unversioned;
    *out = t;
    return KJIT_OK;
}

/* ---- In ---- */

/* Strides in bytes. */
static kjit_status byte_strides(kjit_context *ctx, const kj_dl_tensor *t, size_t elem,
                                int64_t strides[KJIT_MAX_NDIM])
{
    for (int i = 0; i < t->ndim; i++) {
        if (__builtin_mul_overflow(t->strides[i], (int64_t)elem, &strides[i]))
            return kj_fail(ctx, KJIT_SHAPE, "the strides reach beyond the address space");
    }
    return KJIT_OK;
}

static kjit_status import(kjit_context *ctx, const kj_dl_tensor *t, void *owner,
                          void (*deleter)(void *owner), kjit_array **out)
{
    kjit_dtype dtype = KJIT_BOOL;
    kjit_memory memory;
    uintptr_t data = (uintptr_t)t->data;
    int64_t strides[KJIT_MAX_NDIM] = {0};
    kjit_status status = dtype_of(ctx, t->dtype, &dtype);
    if (status == KJIT_OK)
        status = memory_of(ctx, t->device, &memory);
    if (status != KJIT_OK)
        return status;
    if (data && __builtin_add_overflow(data, t->byte_offset, &data))
        return kj_fail(ctx, KJIT_INVALID, "the tensor's byte_offset leaves the address space");
    bool strided = t->strides && t->ndim > 0 && t->ndim <= KJIT_MAX_NDIM;
    if (strided)
        status = byte_strides(ctx, t, kjit_dtype_size(dtype), strides);
    if (status != KJIT_OK)
        return status;
    return kj_array_wrap(ctx, (void *)data, dtype, t->ndim, t->shape, strided ? strides : NULL,
                         memory, owner, deleter, out);
}

static void release_unversioned(void *owner)
{
    struct DLManagedTensor *t = owner;
    if (t->deleter)
        t->deleter(t);
}

static void release_versioned(void *owner)
{
    struct DLManagedTensorVersioned *t = owner;
    if (t->deleter)
        t->deleter(t);
}

kjit_status kjit_array_from_dlpack(kjit_context *ctx, struct DLManagedTensorVersioned *tensor,
                                   kjit_array **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_context(ctx), ctx);
    if (status != KJIT_OK)
        return status;
    if (!tensor)
        return kj_fail(ctx, KJIT_INVALID, "tensor is NULL");
    if (tensor->version.major != KJ_DL_MAJOR)
        return kj_fail(ctx, KJIT_FORMAT, "the tensor is of DLPack %u.%u; kjit knows version %d",
                       tensor->version.major, tensor->version.minor, KJ_DL_MAJOR);
    status = import(ctx, &tensor->dl_tensor, tensor, release_versioned, out);
    if (status == KJIT_OK)
        (*out)->buffer->read_only = (tensor->flags & KJ_DL_READ_ONLY) != 0;
    return status;
}

kjit_status kjit_array_from_dlpack_unversioned(kjit_context *ctx, struct DLManagedTensor *tensor,
                                               kjit_array **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_context(ctx), ctx);
    if (status != KJIT_OK)
        return status;
    if (!tensor)
        return kj_fail(ctx, KJIT_INVALID, "tensor is NULL");
    return import(ctx, &tensor->dl_tensor, tensor, release_unversioned, out);
}
