/* Contexts, the failures of the threads that use them, and what they give back later.
 *
 * Ownership: buffers, modules, streams and events each hold their context (kj_context_hold /
 * kj_context_drop), arrays hold their buffer, queued work holds the buffers and the module it uses.
 * So the order in which a program frees its handles does not matter. Every public function first
 * asks whether the handles that it was given live, by kj_enter_context, kj_enter_array and the
 * like. A context that was destroyed goes on for what holds it, so what works on that calls no
 * public function with the context. */
#ifndef KJ_CORE_H
#define KJ_CORE_H

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/float_env.h"
#include "base/guard.h"
#include "base/room.h"
#include "base/text.h"
#include "core/handle.h"
#include "device/device.h"

/* ---- Contexts (context.c) ---- */

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
    struct kj_thread *next, *prev;          /* of the context */
    struct kj_thread *beside;               /* of the thread */
    struct kj_thread_list *list;            /* of its thread, which has this */
    kjit_context *ctx;                      /* NULL: of failures that have none */
    char *text;                             /* of its last failure, malloc'd; NULL: use fallback */
    char *json;                             /* the same as diagnostics, where it is some, or NULL */
    kjit_fault *fault;                      /* what it is, where it is a kernel's fault, or NULL */
    const char *fallback;                   /* when there was no memory for the text */
    kjit_stream *stream;                    /* its default stream, or NULL */
    void (*left)(struct kj_thread *thread); /* it has ended, with a stream; under the lock */
    uint64_t failed; /* which of the thread's failures the last was, from 1; 0: none */
    int parameter;   /* of a kernel, which that is about, from 1; 0: about none */
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

/* Lines of kernels that wait, and whom they go to. */
typedef struct kj_printout {
    kjit_print_fn *print; /* or NULL */
    void *user;
    kj_text text;
    uint64_t counted; /* bytes since the function is there: kjit_limits.print_bytes */
} kj_printout;

/* The file that the first launch which fails is written to (launch/capsule.c). */
typedef struct kj_capsules {
    pthread_mutex_t lock; /* held while a launch is made, and written */
    char *path;           /* NULL: none was begun */
    bool written;
    kjit_status status; /* that it could not be, and why */
    char *why;
    atomic_bool on; /* one was begun, and nothing was written yet */
} kj_capsules;

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

typedef struct kj_untold kj_untold; /* stream/stream.c */

typedef struct kj_halt kj_halt;           /* halt.c */
typedef struct kj_halt_slab kj_halt_slab; /* likewise */

/* The launches that can be ended, and when they are. */
typedef struct kj_halts {
    bool
        cancellable; /* kjit_context_options has it: all launches are among them, and their code polls */
    pthread_mutex_t lock;
    kj_halt *first;
    kj_halt_slab *slabs;
    double deadline;  /* of the context, by kj_now_ms; 0: none */
    atomic_bool over; /* it has passed */
    pthread_cond_t sooner;
    pthread_t clock;
    bool started, ending;
} kj_halts;

/* Memory on both sides for a launch's few words (slot.c). */
enum { KJ_SLOT_BYTES = 512 };
typedef struct kj_slot_slab kj_slot_slab;
typedef struct kj_slot {
    struct kj_slot *next; /* that is free */
    void *host;           /* page-locked */
    uintptr_t device;
    bool ready; /* both are as whoever takes slots wants them first; false at first */
} kj_slot;

typedef struct kj_slots {
    pthread_mutex_t lock;
    kj_slot *free;
    kj_slot_slab *slabs;
} kj_slots;

/* What the context may take, and takes (limits.c). */
#define KJ_NO_LIMIT UINT64_MAX

typedef struct kj_context_limits {
    kjit_limits most; /* KJ_NO_LIMIT where there is none; its version is not set */
    bool untrusted;
    _Atomic uint64_t array_bytes; /* that there are, where they have a limit */
    double run_until; /* of the run block that runs, by kj_now_ms; 0: any time. Of its thread */
} kj_context_limits;

struct kjit_context {
    kj_handle handle;
    const kj_device_ops *ops;
    kj_device *dev;
    int ordinal;
    atomic_int refs;
    void (*end)(kjit_context *ctx); /* what context.c does when nobody holds it */
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
    kj_untold *untold;         /* failures of streams that were freed; under the lock */
    uint64_t runs;             /* run blocks so far; under run_lock */
    _Atomic pthread_t runner;  /* the thread that a run block is running on, or 0 */
    kj_legacy legacy;
    kj_tracer tracer;
    kj_capsules capsules;
    char *cache_path;       /* of compiled code, or NULL */
    struct kj_store *store; /* of compiled code */
    bool store_opened;
    struct kj_lazy_cache *lazy;   /* modules that run blocks made of array expressions, or NULL */
    int max_expressions;          /* kjit_context_options has it */
    kj_records *records;          /* of its modules */
    struct kj_recycler *recycler; /* memory of arrays, used again */
    struct kj_buffer *registered; /* under the lock */
    kjit_allocator allocator;
    kj_pendings pendings;
    kj_printout printed, printed_in_run; /* the program's, and the run block's; under the lock */
    uint64_t printing_run;               /* the run block under way, or 0; under the lock */
    atomic_int want_json;                /* run blocks that run now and give their failures so */
    atomic_bool has_printed;
    kj_halts halts;
    kj_slots slots;
    kj_context_limits limits;
    pthread_mutex_t print_lock; /* held while a print function is called or exchanged */
    _Atomic pthread_t
        print_owner; /* the thread that holds it, or 0: a run block's may use the context */
    pthread_mutex_t run_lock; /* run blocks take turns: each has its own print function */
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
bool kj_is_calling(const kjit_context *ctx); /* this thread is in such a function */
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
/* A struct that begins with its size, which the caller set: as much of the library's own as that, and zeros for what
 * the library does not know. One that is taken may have nothing but zeros there. */
bool kj_is_struct_size(size_t size);
kjit_status kj_check_size(kjit_context *ctx, const char *what, size_t size);
void kj_give_struct(void *out, size_t size, const void *own, size_t known);
kjit_status kj_take_struct(kjit_context *ctx, const char *what, const void *given, size_t size,
                           void *own, size_t known);
/* A struct that ends in `reserved`, as the program gives it. */
kjit_status kj_check_reserved(kjit_context *ctx, const char *what, const void *reserved,
                              size_t size);
kjit_status kj_reserved_because(kj_failure *why, const char *what, const void *reserved,
                                size_t size);
#define KJ_RESERVED(given, whose) whose " reserved is", (given)->reserved, sizeof(given)->reserved
kjit_status kj_no_out(kjit_context *ctx);
/* What a type is in a context, which has records of its own; NULL: a scalar, or no type. */
static inline const kj_aggregate *kj_dtype_aggregate(kjit_context *ctx, kjit_dtype dtype)
{
    return kj_aggregate_in(ctx->records, (kj_dtype)dtype);
}
size_t kj_dtype_size(kjit_context *ctx, kjit_dtype dtype);      /* 0 for no type */
const char *kj_dtype_name(kjit_context *ctx, kjit_dtype dtype); /* NULL for no type */

void kj_context_hold(kjit_context *ctx);
/* On any thread. The last to let go of one that was destroyed gives back what is pending. */
void kj_context_drop(kjit_context *ctx);
void kj_lazy_cache_free(kjit_context *ctx); /* for good (run/lazy/cache.c) */

/* ---- Limits (limits.c) ---- */

kjit_status kj_limits_init(kj_context_limits *l, const kjit_context_options *options,
                           kj_failure *why);
/* KJIT_LIMIT: `limit` is exceeded, by what the sentence says. */
kjit_status kj_beyond(kj_failure *why, const char *limit, uint64_t most, const char *what);
/* Before so many bytes of arrays are allocated, and behind their end. SIZE_MAX: more than there are addresses. */
kjit_status kj_limit_arrays(kjit_context *ctx, size_t size, kj_failure *why);
/* Whether that would be allowed: where there is no memory either, the limit is what the host hears of. */
kjit_status kj_limit_allows(kjit_context *ctx, size_t size, kj_failure *why);
void kj_unlimit_arrays(kjit_context *ctx, size_t size);

/* The arena of a compilation that begins now; behind its end it has no limits any more. */
void kj_compiling_begin(kjit_context *ctx, kj_arena *arena);
void kj_compiling_end(kj_arena *arena);
/* A run block begins, which is to end in time; and 0: it has ended. On its thread. */
void kj_limit_run(kjit_context *ctx, bool begins);
/* KJIT_LIMIT when its time is over. */
kjit_status kj_check_run(kjit_context *ctx);

/* ---- Memory for a launch's few words (slot.c) ---- */

void kj_slots_init(kj_slots *slots);
void kj_slots_end(kjit_context *ctx);                /* before its device closes */
kj_slot *kj_slot_take(kjit_context *ctx);            /* NULL: there is no memory */
void kj_slot_give(kjit_context *ctx, kj_slot *slot); /* which nothing on its way uses */

/* ---- Ending launches early (halt.c) ---- */

void kj_halts_init(kj_halts *halts, bool cancellable);
void kj_halts_end(kjit_context *ctx); /* before its device closes */
/* Of a launch that is about to be made, in a context that is cancellable. */
kjit_status kj_halt_list(kjit_context *ctx, const kjit_stream *stream, double timeout_ms,
                         kj_halt **out);
static inline kjit_status kj_halt_new(kjit_context *ctx, const kjit_stream *stream,
                                      double timeout_ms, kj_halt **out)
{
    *out = NULL;
    return ctx->halts.cancellable ? kj_halt_list(ctx, stream, timeout_ms, out) : KJIT_OK;
}
/* It is listed until the last has let go. */
void kj_halt_hold(kj_halt *h); /* for NULL nothing */
void kj_halt_let_go(kj_halt *h);
static inline void kj_halt_drop(kj_halt *h)
{
    if (h)
        kj_halt_let_go(h);
}
kj_halt_word kj_halt_word_of(const kj_halt *h);
uint64_t kj_halt_address(const kj_halt *h); /* where kernels find it, without host_memory */
/* Cancels those of the stream; NULL: all. */
void kj_halt_all(kjit_context *ctx, const kjit_stream *stream);
/* KJIT_INVALID for what is no time, or needs a context that is cancellable. */
kjit_status kj_check_timeout(kjit_context *ctx, const char *what, double ms);
/* KJIT_TIMEOUT when the context's deadline has passed. */
kjit_status kj_check_time(kjit_context *ctx);

/* ---- Threads and their failures (thread.c, error.c) ---- */

/* The calling thread's, made when it is first asked for; NULL: out of memory. */
kj_thread *kj_thread_in(kjit_context *ctx);
kj_thread *kj_thread_failing(kjit_context *ctx); /* the same, and this is its last failure */
/* The sentence of the calling thread's last failure, of the context's and those without any; NULL
 * for it: of all. "" if there was none. And where it is a kernel's fault, what it is, with that. */
const char *kj_thread_failure(const kjit_context *ctx);
bool kj_thread_fault(const kjit_context *ctx, kjit_fault *out);
/* That of the thread's last failure there, if none came behind it: malloc'd, or NULL. */
kjit_fault *kj_thread_take_fault(kjit_context *ctx);
bool kj_threads_begin(void);                     /* false: the system has no room */
void kj_threads_end(kjit_context *ctx);          /* frees those of all threads */
void kj_threads_lose_streams(kjit_context *ctx); /* their default streams are gone */
/* Notes the sentence for the calling thread and returns the status. The context may be NULL. A name, or what a file
 * holds, may be in it as it is: what is no plain text is written out (base/plain.h), line ends too. */
kjit_status kj_fail(kjit_context *ctx, kjit_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same of a text that has line ends of its own, without those behind it. */
kjit_status kj_fail_lines(kjit_context *ctx, kjit_status status, const char *text);
/* What is told of a failure: its text, as kj_fail_lines takes it, and what it is where it is a kernel's
 * fault, in one block with its strings. Both are malloc'd, or NULL. */
typedef struct kj_telling {
    char *text;
    kjit_fault *fault;
} kj_telling;

/* kj_fail_lines with both, which are taken; without a text that of the status. */
kjit_status kj_fail_telling(kjit_context *ctx, kjit_status status, kj_telling telling);
void kj_telling_free(kj_telling telling);
/* Both of the thread's last failure there, which has none from then on. */
kj_telling kj_failed_telling(kjit_context *ctx);
/* All of the thread's last failure there, put aside while others may fail, and its last one again: neither takes memory. */
typedef struct kj_kept_failure {
    char *text, *json;
    kjit_fault *fault;
    int parameter;
} kj_kept_failure;
kj_kept_failure kj_failure_keep(kjit_context *ctx);
void kj_failure_again(kjit_context *ctx, kj_kept_failure kept); /* takes it */
/* The thread's last failure there as JSON, where it came as diagnostics with that (kj_diag_told); else NULL. */
const char *kj_failed_as_json(kjit_context *ctx);
kjit_status kj_fail_why(kjit_context *ctx, kjit_status status, const kj_failure *why);
kjit_status kj_no_memory(kjit_context *ctx);
/* What a step of a compilation that did not end makes of a call. */
kjit_status kj_fail_early(kjit_context *ctx, const kj_arena *arena, kj_outcome outcome,
                          const kj_complaint *complaint);
/* The failure just noted is about that parameter of a kernel; and which one it is about, -1 for none. */
void kj_fail_about(kjit_context *ctx, int parameter);
int kj_failed_about(kjit_context *ctx);

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

/* ---- What kernels print (print.c) ---- */

/* The run block that the calling thread is running, by its number; 0: none. */
uint64_t kj_print_run(const kjit_context *ctx);
/* How many more bytes what `run` (0: the program) launches may print; false: nobody takes them. */
bool kj_print_room(kjit_context *ctx, uint64_t run, uint64_t *room);
/* So many are to be printed: they are counted. Returns how many of them may be. */
uint64_t kj_print_count(kjit_context *ctx, uint64_t run, uint64_t size);
/* Lines of a launch that `run` made, to wait. Those of a run block that has ended are the program's. */
void kj_print_keep(kjit_context *ctx, uint64_t run, const kj_text *text);
/* Hands out what was printed so far: to a run block what its launches did, to all others the rest. */
void kj_print_flush(kjit_context *ctx);
/* The calling thread's run block, by its number, begins, and has such a function or NULL; 0: it ends. */
void kj_print_to_run(kjit_context *ctx, uint64_t run, kjit_print_fn *print, void *user);

#endif
