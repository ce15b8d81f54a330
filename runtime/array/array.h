/* Arrays: memory and its owners, shapes, copies, and elements as text. */
#ifndef KJ_ARRAY_H
#define KJ_ARRAY_H

#include "core/core.h"
#include "stream/stream.h"

/* ---- Memory of arrays, used again (recycle.c) ---- */

/* What recycle.c keeps, the oldest first. */
enum { KJ_SPARES = 8 };

typedef struct kj_recycled {
    void *data;
    size_t size;
    kjit_memory memory;
} kj_recycled;

typedef struct kj_recycler {
    pthread_mutex_t lock;
    int runs, n; /* run blocks that run */
    size_t bytes;
    kj_recycled kept[KJ_SPARES];
} kj_recycler;

/* A run block begins, and ends. */
void kj_recycler_begin(kjit_context *ctx);
void kj_recycler_end(kjit_context *ctx);
bool kj_recycler_empty(kjit_context *ctx); /* gives all back to the system; was there something? */
/* False: it is not kept, the caller releases it. */
bool kj_recycle_keep(kjit_context *ctx, kjit_memory memory, void *data, size_t size);
bool kj_recycle_take(kjit_context *ctx, kjit_memory memory, size_t size, void **out);

/* ---- Chunks of memory (allocator.c) ---- */

/* The program's allocator, which may be NULL; from then on it is used. */
kjit_status kj_allocator_begin(kjit_context *ctx, const kjit_allocator *allocator, kj_failure *why);
void kj_allocator_end(kjit_context *ctx); /* all has been given back */
void kj_allocator_defer(kjit_context *ctx, bool begin);
/* What is free and in all, if it tells. */
kjit_status kj_allocator_memory(kjit_context *ctx, kjit_memory_info *out, kj_failure *why);
/* Of every kind; the failure is its. */
kjit_status kj_chunk_alloc(kjit_context *ctx, kj_chunk *chunk, kj_failure *why);
kjit_status kj_chunk_pin(kjit_context *ctx, kj_chunk *chunk, kj_failure *why);
/* Shareable memory's handle: KJ_SHARE_HANDLE bytes of a larger piece, in which it begins at
 * `offset`. */
kjit_status kj_chunk_share(kjit_context *ctx, const kj_chunk *chunk, unsigned char *handle,
                           uint64_t *offset, kj_failure *why);
kjit_status kj_chunk_release(kjit_context *ctx, const kj_chunk *chunk, kj_failure *why);

typedef struct kj_buffer kj_buffer;

/* ---- Arrays (array.c, view.c, shape.c, item.c, dlpack.c, strides.c, copy.c)
 * ---- */

struct kj_buffer {
    kj_pending pending;
    atomic_int refs;
    kjit_context *ctx;
    kjit_memory memory;
    void *data;
    size_t size;
    bool owned;
    void *owner; /* of wrapped memory: what `deleter`, when not NULL, is called with at the end */
    void (*deleter)(void *owner);
    bool read_only;          /* neither copies nor kernels may write it */
    unsigned how;            /* of kj_chunk */
    uintptr_t shift;         /* from data to the address kernels find it at */
    struct kj_buffer *below; /* what it registers memory of, or NULL */
    struct kj_buffer *next;  /* of the context's registrations */
    kjit_stream *stream;     /* that orders it, held; or NULL */
};

struct kjit_array {
    kj_handle handle;
    kjit_context *ctx;
    kj_buffer *buffer;
    char *data;
    kjit_dtype dtype;
    const kj_aggregate *of; /* what dtype is; NULL: a scalar */
    int ndim;
    int64_t size; /* elements */
    int64_t shape[KJIT_MAX_NDIM];
    int64_t strides[KJIT_MAX_NDIM]; /* bytes */
    uintptr_t low, high;            /* the addresses its elements lie in: [low, high) */
    kj_layout layout;               /* of the elements; C where both would do */
    bool aligned;      /* data and strides are multiples of what elements are aligned to */
    bool overwritten;  /* by the launch it is given to, in full: it need not be moved there first */
    kjit_smart *smart; /* whose side on the device it is, or NULL */
};

static inline size_t kj_array_elem(const kjit_array *a) /* bytes of an element */
{
    return a->of ? (size_t)a->of->size : kj_types[a->dtype].size;
}
static inline int kj_array_align(const kjit_array *a)
{
    return a->of ? a->of->align : kj_types[a->dtype].size;
}
/* Are data and strides, as far as they matter, multiples of so many bytes, a power of 2? (array.c) */
bool kj_array_is_aligned(const kjit_array *a, int bytes);
static inline kjit_status kj_enter_array(const kjit_array *a)
{
    return kj_lives(a, KJ_ARRAY) ? kj_enter(a->ctx) : kj_no_handle(a, KJ_ARRAY);
}
/* Where kernels find it, if they work on it where it is. */
static inline uintptr_t kj_array_address(const kjit_array *a)
{
    return (uintptr_t)a->data + a->buffer->shift;
}
static inline bool kj_is_vectors(const kjit_array *a)
{
    return kj_is_vector(a->of);
}

/* ---- Buffers (buffer.c) ---- */

/* Memory has run out: waits for all work and gives back all that nothing uses. The device is then
 * to be asked once more. */
void kj_make_room(kjit_context *ctx);
kjit_status kj_buffer_create(kjit_context *ctx, kjit_memory memory, size_t size, kj_buffer **out);
/* With the chunk's kind, size and how; in the stream's order, if that isn't NULL and can be. */
kjit_status kj_buffer_create_as(kjit_context *ctx, const kj_chunk *like, kjit_stream *stream,
                                kj_buffer **out);
/* Over memory that is somebody else's, of the chunk's kind, data and size. */
kjit_status kj_buffer_wrap(kjit_context *ctx, const kj_chunk *chunk, kj_buffer **out);
/* The bytes from `data` on, page-locked as memory of the chunk's kind; it holds the other. */
kjit_status kj_buffer_register(kj_buffer *below, const kj_chunk *chunk, kj_buffer **out);
kj_chunk kj_buffer_chunk(const kj_buffer *buffer);
void kj_buffer_hold(kj_buffer *buffer);
void kj_buffer_drop(kj_buffer *buffer); /* on any thread */
/* Must work that is put into the stream hold it? It need not where the stream orders its end. */
static inline bool kj_buffer_is_held(const kj_buffer *buffer, const kjit_stream *stream)
{
    return !buffer->stream || buffer->stream != stream;
}

/* Elements of a shape; false when an extent is negative or the bytes pass PTRDIFF_MAX. */
bool kj_shape_count(int ndim, const int64_t *shape, size_t elem, int64_t *count);
/* Strides in bytes of a dense array; axes of extent 0 count as 1. */
void kj_dense_strides(int ndim, const int64_t *shape, size_t elem, char order, int64_t *strides);
kj_layout kj_layout_of(int ndim, const int64_t *shape, const int64_t *strides, size_t elem);
/* Do the ranges their elements lie in overlap? */
bool kj_arrays_meet(const kjit_array *a, const kjit_array *b);
/* A view from the first element of `a` on, of elements that it has. */
kjit_status kj_array_restride(kjit_array *a, int ndim, const int64_t *shape, const int64_t *strides,
                              kjit_array **out);
/* "(3, 4)" into buf, as Python writes a tuple; returns buf. */
enum { KJ_SHAPE_TEXT = 24 * KJIT_MAX_NDIM };
const char *kj_shape_text(int ndim, const int64_t *shape, char buf[KJ_SHAPE_TEXT]);

/* kjit_array_create, kjit_array_create_with and kjit_array_wrap_owned in a context that may have
 * been destroyed. */
kjit_status kj_array_create(kjit_context *ctx, kjit_dtype dtype, int ndim, const int64_t *shape,
                            char order, kjit_memory memory, kjit_array **out);
kjit_status kj_array_create_with(kjit_context *ctx, kjit_dtype dtype, int ndim,
                                 const int64_t *shape, const kjit_array_options *options,
                                 kjit_array **out);
kjit_status kj_array_wrap(kjit_context *ctx, void *data, kjit_dtype dtype, int ndim,
                          const int64_t *shape, const int64_t *strides, kjit_memory memory,
                          void *owner, void (*deleter)(void *owner), kjit_array **out);
/* kjit_array_free on any thread: it gives nothing back, but for kj_context_drop. */
void kj_array_drop(kjit_array *a);
/* An array over a buffer of its own: takes the reference over, and drops it when it fails. */
kjit_status kj_array_over(kj_buffer *buffer, char *data, kjit_dtype dtype, int ndim,
                          const int64_t *shape, const int64_t *strides, kjit_array **out);
/* A view of a's memory, from `data` on. */
kjit_status kj_array_view(kjit_array *a, char *data, kjit_dtype dtype, int ndim,
                          const int64_t *shape, const int64_t *strides, kjit_array **out);

/* The transfer of all elements of src to dst, of one shape and dtype. False when there is none to
 * move. */
bool kj_transfer_init(kj_transfer *t, const kjit_array *dst, const kjit_array *src);
/* Can one be copied to the other? KJIT_SHAPE if not. */
kjit_status kj_check_shapes(const kjit_array *dst, const kjit_array *src);
/* kjit_copy where the arrays are of two contexts (peer.c). */
kjit_status kj_copy_between(kjit_array *dst, kjit_array *src, kjit_stream *stream);
/* Carries a transfer between two buffers out, by kjit_copy's rules. */
kjit_status kj_transfer_submit(const kj_transfer *t, kj_buffer *dst, kj_buffer *src,
                               kjit_stream *stream);
/* The same by the device of a context whose memory it need not be. */
kjit_status kj_transfer_by(kjit_context *ctx, const kj_transfer *t, kj_buffer *dst, kj_buffer *src,
                           kjit_stream *stream);
/* An array whose elements the host can read where they are: `a` itself, held, or a copy. All queued
 * work has ended. */
kjit_status kj_array_on_host(kjit_array *a, kjit_array **out);
/* Puts a view of vectors as their scalars in place of the array, and leaves others; when that
 * fails, *a is freed and NULL. */
kjit_status kj_array_numbers(kjit_array **a);

/* ---- Elements as text (format.c, float_text.c) ---- */

/* kjit_array_format; whole: of long axes not the ends alone. */
kjit_status kj_array_format(kjit_array *a, bool whole, char **out);

enum { KJ_SCALAR_TEXT = 64 };
/* One element as NumPy prints a scalar: "0.1", "1e-05", "True"; returns buf. */
const char *kj_scalar_text(kjit_dtype dtype, const void *element, char buf[KJ_SCALAR_TEXT]);
/* "(1+2j)", as Python does. */
const char *kj_complex_text(double re, double im, kj_dtype part, char buf[KJ_SCALAR_TEXT]);

/* Smart arrays (smart.c). The argument that launches see in place of a KJIT_ARG_SMART, the smart
 * array's own; for launches that are kept, to be dropped by them. */
kjit_status kj_smart_argument(kjit_context *ctx, const kjit_arg *given, const kjit_arg **out);
const kjit_array *kj_smart_either(kjit_smart *s); /* for what both sides are, without a move */
void kj_smart_hold(kjit_smart *s);
void kj_smart_drop(kjit_smart *s);
/* A launch uses it: before, the newest elements go to the device; behind it, what was written is the
 * newest there. */
kjit_status kj_smart_enter(kjit_smart *s);
void kj_smart_leave(kjit_smart *s, bool written);

#endif
