/* Arrays of other processes. In: a shareable array; out: a handle, bytes that say what it is and
 * where its memory; and there an array over the same memory. Nothing in a handle is believed. */
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "array/array.h"

/* What the bytes of a handle are. */
typedef struct ipc_content {
    char magic[8], kind[8];
    int32_t version, process, dtype, ndim;
    int64_t shape[KJIT_MAX_NDIM], strides[KJIT_MAX_NDIM];
    int64_t offset; /* of the first element, in the memory */
    uint64_t size;  /* of the memory, bytes */
    unsigned char memory[KJ_SHARE_HANDLE];
    uint64_t sum; /* of all that stands before */
} ipc_content;

_Static_assert(sizeof(ipc_content) <= sizeof(kjit_ipc_handle), "a handle holds it");

static const char magic[8] = {'k', 'j', 'i', 't', '-', 'i', 'p', 'c'};
enum { VERSION = 1 };

static uint64_t sum_of(const ipc_content *c)
{
    return XXH3_64bits(c, offsetof(ipc_content, sum));
}

/* ---- Showing ---- */

kjit_status kjit_array_ipc_handle(kjit_array *a, kjit_ipc_handle *out)
{
    kjit_status status = kj_enter_array(a);
    if (status != KJIT_OK)
        return status;
    kjit_context *ctx = a->ctx;
    if (!out)
        return kj_no_out(ctx);
    if (kj_is_record(a->of))
        return kj_fail(ctx, KJIT_TYPE,
                       "the records of '%s' are no other process's: share its "
                       "fields (kjit_array_field)",
                       a->of->name);
    const kj_chunk chunk = kj_buffer_chunk(a->buffer);
    if (chunk.size == 0)
        return kj_fail(ctx, KJIT_INVALID, "an array without elements has no memory to be shared");
    if (!(chunk.how & KJ_SHAREABLE))
        return kj_fail(ctx, KJIT_INVALID,
                       "the array's memory was not made to be shared: see kjit_array_options");
    ipc_content c;
    uint64_t before;
    kj_failure why;
    memset(&c, 0, sizeof c);
    status = kj_chunk_share(ctx, &chunk, c.memory, &before, &why);
    if (status != KJIT_OK)
        return kj_fail_why(ctx, status, &why);
    memcpy(c.magic, magic, sizeof magic);
    memcpy(c.kind, ctx->ops->kind, strlen(ctx->ops->kind));
    c.version = VERSION;
    c.process = (int32_t)getpid();
    c.dtype = (int32_t)a->dtype;
    c.ndim = a->ndim;
    memcpy(c.shape, a->shape, sizeof c.shape);
    memcpy(c.strides, a->strides, sizeof c.strides);
    c.offset = a->data - (char *)chunk.data + (int64_t)before;
    c.size = chunk.size + before;
    c.sum = sum_of(&c);
    memset(out, 0, sizeof *out);
    memcpy(out->bytes, &c, sizeof c);
    return status;
}

/* ---- Opening ---- */

/* Does all of it lie in the memory that it says there is? */
static bool is_inside(const ipc_content *c, size_t elem)
{
    int64_t count, low = c->offset, high = c->offset;
    if (!kj_shape_count(c->ndim, c->shape, elem, &count) || c->size > PTRDIFF_MAX ||
        c->offset < 0 || (uint64_t)c->offset > c->size)
        return false;
    for (int i = 0; count > 0 && i < c->ndim; i++) {
        int64_t reach, *end;
        if (__builtin_mul_overflow(c->shape[i] - 1, c->strides[i], &reach))
            return false;
        end = reach < 0 ? &low : &high;
        if (__builtin_add_overflow(*end, reach, end))
            return false;
    }
    return count == 0 || (low >= 0 && !__builtin_add_overflow(high, (int64_t)elem, &high) &&
                          (uint64_t)high <= c->size);
}

static kjit_status check_content(kjit_context *ctx, const ipc_content *c)
{
    if (memcmp(c->magic, magic, sizeof magic) != 0 || c->sum != sum_of(c))
        return kj_fail(ctx, KJIT_FORMAT, "these bytes are no handle of an array");
    if (c->version != VERSION)
        return kj_fail(ctx, KJIT_FORMAT,
                       "the handle is of another kjit, whose handles are version %d",
                       (int)c->version);
    if (strncmp(c->kind, ctx->ops->kind, sizeof c->kind) != 0)
        return kj_fail(ctx, KJIT_INVALID,
                       "the handle is of a '%.8s' array, the context's device a '%s'", c->kind,
                       ctx->ops->kind);
    if (c->process == (int32_t)getpid())
        return kj_fail(ctx, KJIT_INVALID, "the handle is of an array of this very process");
    size_t elem = c->dtype < KJIT_FIRST_RECORD ? kjit_dtype_size((kjit_dtype)c->dtype) : 0;
    if (elem == 0 || c->ndim < 0 || c->ndim > KJIT_MAX_NDIM || !is_inside(c, elem))
        return kj_fail(ctx, KJIT_FORMAT, "the handle contradicts itself");
    return KJIT_OK;
}

kjit_status kjit_ipc_open(kjit_context *ctx, const kjit_ipc_handle *handle, kjit_array **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_context(ctx), ctx);
    if (status != KJIT_OK)
        return status;
    if (!handle)
        return kj_fail(ctx, KJIT_INVALID, "handle is NULL");
    ipc_content c;
    memcpy(&c, handle->bytes, sizeof c);
    status = check_content(ctx, &c);
    if (status != KJIT_OK)
        return status;
    const kj_chunk chunk = {
        .memory = KJIT_DEVICE, .how = KJ_OPENED, .size = (size_t)c.size, .handle = c.memory};
    kj_buffer *buffer;
    status = kj_buffer_create_as(ctx, &chunk, NULL, &buffer);
    if (status != KJIT_OK)
        return status;
    return kj_array_over(buffer, (char *)buffer->data + c.offset, (kjit_dtype)c.dtype, c.ndim,
                         c.shape, c.strides, out);
}
