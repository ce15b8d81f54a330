/* The runtime's own structures: contexts, arrays, modules, streams.
 *
 * Ownership: buffers, modules, streams and events each hold their context (kj_context_hold /
 * kj_context_drop), arrays hold their buffer, queued work holds the buffers and the module it uses.
 * So the order in which a program frees its handles does not matter. Every public function first
 * asks whether the handles that it was given live, by kj_enter_context, kj_enter_array and the
 * like. A context that was destroyed goes on for what holds it, so what works on that calls no
 * public function with the context. */
#ifndef KJ_RUNTIME_H
#define KJ_RUNTIME_H

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "device.h"
#include "float_env.h"
#include "guard.h"
#include "handle.h"
#include "room.h"
#include "store.h"

/* ---- Contexts and errors (context.c, error.c) ---- */

typedef enum kj_timing_kind {
    KJ_TIMING_COMPILE,
    KJ_TIMING_LOAD, /* of code from the cache */
    KJ_TIMING_LAUNCH,
    KJ_TIMING_COPY
} kj_timing_kind;

/* One launch or copy that has ended, or the compilation that a launch began with. */
typedef struct kj_timing {
    kj_timing_kind kind;
    const char *name; /* of the kernel; of a copy: "host to device", "device to host", ... */
    int64_t grid[3], block[3]; /* of a launch */
    int64_t bytes;             /* of a copy */
    double ms;
} kj_timing;

/* While a context has a hook, each launch and copy runs to its end before the call returns, on
 * streams too, and is then reported on the calling thread. The hook must stay valid until it is
 * replaced and those calls have returned. */
typedef struct kj_timing_hook {
    void (*report)(void *user, const kj_timing *timing);
    void *user;
} kj_timing_hook;

void kj_set_timing(kjit_context *ctx, const kj_timing_hook *hook); /* NULL: none */

/* What a thread has in a context (thread.c). */
typedef struct kj_thread {
    struct kj_thread *next, *prev; /* of the context */
    struct kj_thread *beside;      /* of the thread */
    struct kj_thread_list *list;   /* of its thread, which has this */
    kjit_context *ctx;             /* NULL: of failures that have none */
    char *text;                    /* of its last failure, malloc'd; NULL: use fallback */
    const char *fallback;          /* when there was no memory for the text */
    kjit_stream *stream;           /* its default stream, or NULL */
    uint64_t failed; /* which of the thread's failures the last was, from 1; 0: none */
} kj_thread;

/* Whom traces go to (trace.c). */
typedef struct kj_tracer {
    pthread_mutex_t lock; /* held while the function is called or exchanged */
    kjit_trace_fn *trace; /* or NULL */
    void *user;
    atomic_bool on; /* there is one */
} kj_tracer;

/* The stream that all others are ordered with (default_stream.c). */
typedef struct kj_legacy {
    pthread_mutex_t lock;
    kjit_stream *stream;     /* NULL: nobody asked for it */
    kj_mark *mark;           /* in it, for the others to wait for */
    uint64_t marked;         /* behind that many pieces of work */
    _Atomic uint64_t issued; /* pieces of work put into it */
} kj_legacy;

/* A growing string; after a failed allocation it stays empty with failed set. */
typedef struct kj_str {
    char *data;
    size_t size, capacity;
    bool failed;
} kj_str;

/* Whom the lines of kernels go to. */
typedef struct kj_printer {
    kjit_print_fn *print; /* or NULL */
    void *user;
    bool of_run; /* a run block's, which may use the context */
} kj_printer;

/* What spare.c keeps, the oldest first. */
enum { KJ_SPARES = 8 };

typedef struct kj_spare {
    void *data;
    size_t size;
    kjit_memory memory;
} kj_spare;

typedef struct kj_spares {
    pthread_mutex_t lock;
    int runs, n; /* run blocks that run */
    size_t bytes;
    kj_spare kept[KJ_SPARES];
} kj_spares;

/* Something that has lost its last reference: a member of what it is (pending.c). */
typedef struct kj_pending {
    struct kj_pending *next;
    size_t size; /* bytes of device memory */
    /* Gives it back and frees it; after a failure too. */
    kjit_status (*deallocate)(struct kj_pending *item, kj_failure *why);
} kj_pending;

/* What an item is the `member` of. */
#define KJ_WHOLE(type, member, item) ((type *)(void *)((char *)(item)-offsetof(type, member)))

typedef enum kj_pending_kind {
    KJ_PENDING_NEVER, /* memory of the caller's that is page-locked, or that a stream orders */
    KJ_PENDING_MEMORY,
    KJ_PENDING_RESOURCES, /* modules, streams, events */
    KJ_PENDING_KINDS
} kj_pending_kind;

typedef struct kj_pending_queue {
    kj_pending *first, *last;
    int count;
    size_t bytes;
} kj_pending_queue;

typedef struct kj_pendings {
    pthread_mutex_t lock;     /* of all below; never held while something is given back */
    pthread_mutex_t flushing; /* held while the two queues are emptied */
    pthread_mutex_t prompt;   /* the same for what never waits */
    atomic_bool any_never;    /* there is some of that, or it is being given back */
    kj_pending_queue queues[KJ_PENDING_KINDS];
    int max_count;
    size_t max_bytes;
    int deferred;       /* times that defer_cleanup is open */
    bool closed;        /* the context was destroyed */
    kjit_status status; /* the first failure that nobody was told */
    kj_failure why;
    uint64_t failed;
} kj_pendings;

typedef struct kj_buffer kj_buffer;

struct kjit_context {
    kj_handle handle;
    const kj_device_ops *ops;
    kj_device *dev;
    int ordinal;
    atomic_int refs;
    const unsigned char
        *alive; /* 1 in the process that made the context, 0 in its forked children; or NULL */
    pid_t pid;
    uint64_t memory;        /* bytes of host memory there are */
    atomic_size_t reserved; /* bytes of it promised to arrays */
    atomic_size_t used;     /* bytes of arrays' memory of the device */
    _Atomic(const kj_timing_hook *) timing;
    pthread_mutex_t lock; /* streams, opening the store */
    kj_thread *threads;   /* under thread.c's lock */
    kjit_stream *streams;
    int streams_made;
    _Atomic uint64_t failures; /* of streams, so far */
    kj_legacy legacy;
    kj_tracer tracer;
    char *cache_path; /* of compiled code, or NULL */
    kj_store store;   /* of compiled code */
    bool store_opened;
    struct kj_lazy_cache *lazy; /* modules that run blocks made of array expressions, or NULL */
    kj_records *records;        /* of its modules */
    kj_spares spares;
    kj_buffer *registered; /* under the lock */
    kjit_allocator allocator;
    kj_pendings pendings;
    kj_printer printer; /* under the lock, like what waits for it */
    kj_str printed;
    atomic_bool has_printed;
    pthread_mutex_t print_lock; /* held while the print function is called or exchanged */
    pthread_mutex_t run_lock;   /* run blocks take turns: each has its own print function */
};

bool kj_forked(const kjit_context *ctx); /* it is the parent's of this process */
/* KJIT_NO_DEVICE in a forked child; KJIT_INVALID in a function that the context calls (below). */
kjit_status kj_enter(const kjit_context *ctx);
/* Around a call of the program's function that may not use the context, since work or a lock waits
 * for its end. */
typedef struct kj_calling {
    const kjit_context *ctx;
    const struct kj_calling *outer;
} kj_calling;
void kj_calling_begin(kj_calling *c, const kjit_context *ctx);
void kj_calling_end(const kj_calling *c);
/* A context that the program gives: KJIT_INVALID for NULL and one that was destroyed. The others
 * are alike. */
static inline kjit_status kj_enter_context(const kjit_context *ctx)
{
    return kj_lives(ctx, KJ_CONTEXT) ? kj_enter(ctx) : kj_no_handle(ctx, KJ_CONTEXT);
}
/* The beginning of a call that makes something. `entered` is what entering comes to; the context,
 * which need not be there otherwise, is told that `out` is NULL. */
#define KJ_MAKES(out, entered, ctx) \
    ((out) ? (*(out) = NULL, (entered)) : kj_no_out((entered) == KJIT_OK ? (ctx) : NULL))
kjit_status kj_no_out(kjit_context *ctx);
void kj_context_hold(kjit_context *ctx);
/* On any thread. The last to let go of one that was destroyed gives back what is pending. */
void kj_context_drop(kjit_context *ctx);
void kj_lazy_cache_free(kjit_context *ctx); /* for good (lazy_cache.c) */

/* The calling thread's, made when it is first asked for; NULL: out of memory. */
kj_thread *kj_thread_in(kjit_context *ctx);
kj_thread *kj_thread_failing(kjit_context *ctx); /* the same, and this is its last failure */
/* The sentence of the calling thread's last failure, of the context's and those without any; NULL
 * for it: of all. "" if there was none. */
const char *kj_thread_failure(const kjit_context *ctx);
bool kj_threads_begin(void);                     /* false: the system has no room */
void kj_threads_end(kjit_context *ctx);          /* frees those of all threads */
void kj_threads_lose_streams(kjit_context *ctx); /* their default streams are gone */
/* Notes the sentence for the calling thread and gives the status. The context may be NULL. */
kjit_status kj_fail(kjit_context *ctx, kjit_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
kjit_status kj_fail_why(kjit_context *ctx, kjit_status status, const kj_failure *why);
kjit_status kj_no_memory(kjit_context *ctx);

/* ---- Deferred deallocation (pending.c) ---- */

/* memory: bytes of the device. */
kjit_status kj_pendings_init(kj_pendings *p, const kjit_context_options *options, uint64_t memory,
                             kj_failure *why);
void kj_pendings_destroy(kj_pendings *p);
/* Takes an item over, with its hold on the context. It gives nothing back: any thread may. */
void kj_pending_add(kjit_context *ctx, kj_pending_kind kind, kj_pending *item);
/* A call of the program's has waited for work: hands on what that has printed, and gives back what
 * never waits. */
void kj_waited(kjit_context *ctx);
/* Empties what is over its limit: for calls of users that allocate, and by kj_freed for those that
 * free; these hold the context before they let go of anything. */
void kj_pending_check(kjit_context *ctx);
void kj_freed(kjit_context *ctx); /* and drops that hold */
/* Drops a hold; true: it was the last. Whoever is the last but for what is pending in a context that
 * was destroyed gives all of that back first: the order of two threads is the lock's. */
bool kj_pending_let_go(kjit_context *ctx);
bool kj_pending_flush(kjit_context *ctx); /* all, unless it is deferred; was there something? */
void kj_pending_close(kjit_context *ctx); /* the context is destroyed: all, now and from now on */
/* Keeps the failure of a deallocation until kj_pending_failure gives it to the calling thread. */
void kj_pending_failed(kjit_context *ctx, kjit_status status, const kj_failure *why);
kjit_status kj_pending_failure(kjit_context *ctx);

/* ---- Memory of arrays, used again (spare.c) ---- */

/* A run block begins, and ends. */
void kj_spares_begin(kjit_context *ctx);
void kj_spares_end(kjit_context *ctx);
bool kj_spares_empty(kjit_context *ctx); /* gives all back to the system; was there something? */
/* False: it is not kept, the caller releases it. */
bool kj_spare_keep(kjit_context *ctx, kjit_memory memory, void *data, size_t size);
bool kj_spare_take(kjit_context *ctx, kjit_memory memory, size_t size, void **out);

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

/* ---- Arrays (array.c, array_view.c, array_shape.c, array_item.c, dlpack.c, layout.c, copy.c)
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

/* What a type is in a context, which has records of its own; NULL: a scalar, or no type. */
static inline const kj_aggregate *kj_dtype_aggregate(kjit_context *ctx, kjit_dtype dtype)
{
    return kj_aggregate_in(ctx->records, (kj_dtype)dtype);
}
size_t kj_dtype_size(kjit_context *ctx, kjit_dtype dtype);      /* 0 for no type */
const char *kj_dtype_name(kjit_context *ctx, kjit_dtype dtype); /* NULL for no type */

static inline size_t kj_array_elem(const kjit_array *a) /* bytes of an element */
{
    return a->of ? (size_t)a->of->size : kj_types[a->dtype].size;
}
static inline int kj_array_align(const kjit_array *a)
{
    return a->of ? a->of->align : kj_types[a->dtype].size;
}
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
/* "(3, 4)" into buf, as Python writes a tuple; gives buf. */
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
const char *kj_transfer_name(const kj_transfer *t); /* "host to device" */
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

/* ---- Text (format.c, format_float.c) ---- */

void kj_str_add(kj_str *t, const char *text, size_t size);
void kj_str_puts(kj_str *t, const char *text);
void kj_str_printf(kj_str *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void kj_str_vprintf(kj_str *t, const char *format, va_list args);
void kj_str_free(kj_str *t);

enum { KJ_SCALAR_TEXT = 64 };
/* One element as NumPy prints a scalar: "0.1", "1e-05", "True"; gives buf. */
const char *kj_scalar_text(kjit_dtype dtype, const void *element, char buf[KJ_SCALAR_TEXT]);
/* "(1+2j)", as Python does. */
const char *kj_complex_text(double re, double im, kj_dtype part, char buf[KJ_SCALAR_TEXT]);

/* ---- Files (file.c) ---- */

/* A file being written beside its target; kj_file_commit renames it, kj_file_abandon removes it. */
typedef struct kj_out_file {
    int fd;
    char *path, *temp;
} kj_out_file;

/* KJIT_IO: "cannot read 'x.npy': " and errno's sentence. */
kjit_status kj_file_error(kjit_context *ctx, const char *what, const char *path);
kjit_status kj_file_begin(kjit_context *ctx, const char *path, kj_out_file *file);
kjit_status kj_file_write(kjit_context *ctx, kj_out_file *file, const void *data, size_t size);
kjit_status kj_file_commit(kjit_context *ctx, kj_out_file *file);
void kj_file_abandon(kj_out_file *file);

/* Reads exactly size bytes; gives how many there were, or -1 with errno. */
int64_t kj_file_read(int fd, void *data, size_t size);

bool kj_ends_with(const char *path, const char *end); /* whatever the case of its letters */
kjit_status kj_file_kind(kjit_context *ctx, const char *path); /* is it one arrays are saved by? */
/* record: what its elements are to be, or NULL: a file of numbers. */
kjit_status kj_npy_load(kjit_context *ctx, const char *path, const kj_aggregate *record,
                        kjit_array **out);
kjit_status kj_npy_save(kjit_array *host, const char *path);
kjit_status kj_png_load(kjit_context *ctx, const char *path, kjit_array **out);
kjit_status kj_png_save(kjit_array *host, const char *path);

#include "stream.h"

/* ---- Modules (module.c, variant.c) ---- */

/* Code of one kernel for one kj_spec. Found by its key; never removed while the module lives. */
typedef struct kj_variant {
    _Atomic(struct kj_variant *) next;
    const kj_tkernel *kernel;
    kj_exec *exec;
    kj_arena arena;
    const char *what;        /* "kernel 'scale' (scale.knl:7)" */
    uint64_t *filled;        /* by index: the version that the code's variable has */
    int64_t scratch;         /* bytes before the shared arrays */
    int64_t shared;          /* bytes of shared arrays; -1: by the launch's values */
    _Atomic int64_t for_all; /* threads of a block that kjit_launch_forall takes in place of this
                                variant's; 0: it was not asked yet */
    uint64_t hash;
    uint64_t key[];
} kj_variant;

enum { KJ_BUCKETS = 32 };

/* A kernel as the launch sees it. */
typedef struct kj_kernel {
    kjit_module *mod;
    const kj_kernel_decl *decl;
    uint64_t name_hash;
    int key_words;
    pthread_mutex_t lock; /* held while a variant is compiled and added */
    _Atomic(kj_variant *) buckets[KJ_BUCKETS];
} kj_kernel;

/* A const array that the host fills: of kj_program.filled. */
typedef struct kj_filled {
    kjit_array *array; /* its elements in C order, on the host; NULL until it is filled */
    uint64_t version;
} kj_filled;

struct kjit_module {
    kj_handle handle;
    kj_pending pending;
    kjit_context *ctx;
    atomic_int refs;
    kj_compile_options options; /* of launches */
    const char *arch;           /* what forms are shown for; NULL: the context's device */
    const char *lacks;          /* what this CPU has not of options.cpu, or NULL */
    kj_arena arena;
    kj_source source;
    kj_diag diag;
    const kj_file *file;
    bool parsed;               /* without errors: file is all of the source */
    const kj_program *program; /* NULL when there were errors */
    kj_kernel *kernels;
    int nkernels;
    pthread_mutex_t fill_lock;
    kj_filled *filled;
    const char *log, *log_json;
    const kj_message **messages; /* in the order of their places */
    int nmessages;
};

static inline kjit_status kj_enter_module(const kjit_module *mod)
{
    return kj_lives(mod, KJ_MODULE) ? kj_enter(mod->ctx) : kj_no_handle(mod, KJ_MODULE);
}
void kj_module_hold(kjit_module *mod);
void kj_module_drop(kjit_module *mod);                         /* on any thread */
kj_kernel *kj_module_find(kjit_module *mod, const char *name); /* NULL: none */
/* KJIT_NOT_FOUND, with a name that is near. */
kjit_status kj_no_kernel(kjit_module *mod, const char *name);
kjit_status kj_not_compiled(const kjit_module *mod); /* KJIT_COMPILE */
/* KJIT_NO_DEVICE where its code is to be for a CPU that has more than this one. */
kjit_status kj_module_fits(const kjit_module *mod);
/* What a step that did not end makes of a call. */
kjit_status kj_fail_early(kjit_context *ctx, kj_outcome outcome, const kj_complaint *complaint);

/* The variant for a key, compiled if it is new; `label` is the kernel's name for timings and
 * messages, NULL: its own. */
kjit_status kj_variant_get(kj_kernel *kernel, const kj_spec *spec, const uint64_t *key,
                           const char *label, kj_variant **out);
kjit_status kj_variant_free(kj_variant *variant, kjit_context *ctx, kj_failure *why);

/* ---- Launches (bind.c, launch.c, explain.c) ---- */

/* A launch as it is bound: what its arguments fix. From kj_binding_begin, whether or not that
 * succeeds, to kj_binding_end numbers are converted and computed as the language does. */
typedef struct kj_binding {
    kj_kernel *kernel;
    const char *label; /* the kernel's name for timings and messages; NULL: its own */
    int64_t grid[3], block[3];
    int nconsts, nruntime;
    const kjit_arg **args; /* by parameter */
    kj_dtype *generics;
    kj_value *consts;
    kj_value *scalars; /* by parameter: converted */
    kj_layout *layouts;
    bool small, disjoint, aligned; /* as in kj_spec */
    bool read_only, smart, in;     /* one of the arrays is, or is given as In(a) */
    int *runtime;                  /* parameter of each kj_tkernel.params */
    kj_field *parts;               /* alike: of a KJIT_ARG_VALUE, the scalar that is meant */
    uint64_t *key;
    kj_room room;
    kj_float_env env; /* the program's */
} kj_binding;

kjit_status kj_binding_begin(kj_kernel *kernel, kj_binding *b);
static inline void kj_binding_end(kj_binding *b)
{
    kj_room_end(&b->room);
    kj_float_leave(b->env);
}

/* kjit_launch under another name. */
kjit_status kj_launch_labelled(kjit_module *mod, const char *kernel, const char *label,
                               const kjit_config *config, const kjit_arg *args, int nargs);
kjit_status kj_bind(kj_binding *b, const kjit_arg *args, int nargs);
/* The same when b->args says already whose each argument is. */
kjit_status kj_bind_placed(kj_binding *b);
kjit_status kj_check_dims(kj_binding *b, const kjit_config *config);
kj_eval_env kj_binding_env(kj_binding *b);
/* A stride of a bound array, in elements, as kernels get it. */
int64_t kj_binding_stride(const kjit_array *a, int axis);
/* A scalar of kj_tkernel.params. */
kj_value kj_binding_scalar(const kj_binding *b, int i);

static inline bool kj_arg_is_array(const kjit_arg *arg)
{
    return arg->kind == KJIT_ARG_ARRAY || arg->kind == KJIT_ARG_IN || arg->kind == KJIT_ARG_OUT;
}
/* Smart arrays (smart.c). The argument that launches see in place of a KJIT_ARG_SMART, the smart
 * array's own; for launches that are kept, to be dropped by them; before a launch: the newest
 * elements go to the device; and after it: what it writes is newest there. */
kjit_status kj_smart_argument(kjit_context *ctx, const kjit_arg *given, const kjit_arg **out);
const kjit_array *kj_smart_either(kjit_smart *s); /* for what both sides are, without a move */
void kj_smart_hold(kjit_smart *s);
void kj_smart_drop(kjit_smart *s);
kjit_status kj_smart_enter(const kj_binding *b, const kj_variant *variant);
void kj_smart_leave(const kj_binding *b, const kj_variant *variant);

kjit_status kj_check_requires(kj_binding *b, const kj_variant *variant);
/* The text of a fault, as a diagnostic; malloc'd, NULL when there is no memory. */
char *kj_fault_text(kjit_module *mod, const kj_tkernel *kernel, const kj_host_fault *fault);
/* The device cannot do what a kernel launches. */
kjit_status kj_fail_launching(kjit_module *mod, const kj_tkernel *kernel, const char *why);
/* More blocks than `most` at a grid_sync(). */
kjit_status kj_fail_crowd(const kj_binding *b, const kj_tkernel *kernel, int64_t most);
/* A const array that the host was to fill before the kernel was launched. */
kjit_status kj_fail_unfilled(kjit_module *mod, const kj_tarray *array, const char *kernel);
/* Refuses to write an array that is read-only. */
kjit_status kj_check_writes(const kj_binding *b, const kj_variant *variant);
kjit_status kj_fail_fault(kjit_module *mod, const kj_tkernel *kernel, const kj_host_fault *fault);

/* ---- Const arrays that the host fills (filled.c) ---- */

/* Before a launch: KJIT_LAUNCH when one that the kernel uses was never filled. */
kjit_status kj_filled_ready(kjit_module *mod, kj_variant *variant);
/* For a CPU's slots: the addresses of those the kernel uses; gives how many. */
size_t kj_filled_slots(kjit_module *mod, const kj_tkernel *kernel, uint64_t *slots);
void kj_filled_free(kjit_module *mod);

/* ---- What kernels print and assert (report.c) ---- */

/* The report of one launch. */
typedef struct kj_reported kj_reported;
kjit_status kj_report_begin(kjit_module *mod, const kj_variant *variant, kjit_stream *stream,
                            kj_reported **out);
uint64_t kj_report_address(const kj_reported *r); /* for the launch's last slot */
/* The launch ended so, or with a stream was queued. Takes the report over; but of a launch queued
 * on a device with host_memory, whose work delivers and frees it. */
kjit_status kj_report_end(kj_reported *r, kjit_status status);
void kj_report_deliver(kj_reported *r); /* what was printed, to the context */
void kj_report_free(kj_reported *r);
/* Does one say that a launch failed that the stream has passed, but which has not ended? For who is
 * called in the stream, under its lock. */
bool kj_report_failed(const kjit_stream *stream);
/* Hands what was printed so far to the context's print function. */
void kj_print_flush(kjit_context *ctx);
/* After that, others are to take it; gives those before. */
kj_printer kj_print_exchange(kjit_context *ctx, kj_printer printer);

#endif
