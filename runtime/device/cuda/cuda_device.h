/* The CUDA device: its own structures, and what its files give each other.
 *
 * Every call enters the device's primary context and leaves it again, so the caller's current
 * context is what it was. Queued work is a list of tasks a queue, in the order in which it was
 * given to the queue's stream; events behind some of them tell how far the device is. Whoever
 * waits, asks or queues more ends the tasks that have been reached: no thread of kjit's own is
 * needed, and the driver's threads only ever copy memory (host functions, which may not call the
 * driver).
 *
 * After an error that the driver doesn't recover from the device is lost: every call says so, tasks
 * end with that status, and nothing is freed any more, for the context cannot. */
#ifndef KJ_CUDA_DEVICE_H
#define KJ_CUDA_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "device/cuda/driver.h"
#include "device/device.h"

/* ---- The driver and its results (driver.c, error.c) ---- */

/* The newest target that the driver and LLVM have for a capability: "sm_90"; NULL: none. */
const char *kj_cuda_target(const kj_cuda_driver *driver, int capability);

/* "cannot <format>: <what the result means>", and the status that goes with it. */
kjit_status kj_cuda_because(const kj_cuda_driver *driver, kj_cu_result result, kj_failure *why,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same on a device, which is lost if the result says so. */
kjit_status kj_cuda_failed(kj_device *dev, kj_cu_result result, kj_failure *why, const char *format,
                           ...) __attribute__((format(printf, 4, 5)));

/* Does it say that the system, the device or the driver has no such thing, whatever was asked? What
 * kjit can do without is done without then. */
bool kj_cuda_is_missing(kj_cu_result result);
void kj_cuda_note(kj_device *dev, kj_cu_result result); /* loses the device if the result says so */
void kj_cuda_lose(kj_device *dev, kj_cu_result result); /* whatever it says */
kjit_status kj_cuda_gone(const kj_device *dev, kj_failure *why); /* KJIT_LOST, and why */

/* ---- What others capture (capture.c) ---- */

/* Between the two the calling thread's calls are allowed whatever others capture: entering and
 * leaving a context does that. */
void kj_cuda_allow(const kj_cuda_driver *cu);
void kj_cuda_disallow(const kj_cuda_driver *cu);
/* Do others put work into the stream too, under the name it has in this thread? */
bool kj_cuda_is_shared(const kj_queue *queue);
/* Is a shared stream, or what work in it would wait for, being captured? Nothing may be put there
 * then, nor its end be asked for. The context is entered; the first gives the driver's reason. */
kj_cu_result kj_cuda_ask_capture(kj_queue *queue);
bool kj_cuda_is_captured(kj_queue *queue);
kjit_status kj_cuda_usable(kj_queue *queue, kj_failure *why);
/* Waits for the queue's tasks, not for its stream. The context is entered. */
kj_cu_result kj_cuda_wait_listed(kj_queue *queue);

/* ---- The device (device.c) ---- */

/* A launch that has not been seen to end, for the message when the device is lost. */
typedef struct kj_cuda_launch {
    struct kj_cuda_launch *next, *prev;
    const char *what;
} kj_cuda_launch;

typedef struct kj_cuda_event {
    struct kj_cuda_event *next;
    kj_cu_event event;
    bool timing;
} kj_cuda_event;

/* Of the barriers in kernels with grid_sync(): a word on the device, 0 between launches. A failed
 * assert ends blocks that others count on, so behind a kernel that has some it may be another. */
typedef struct kj_cuda_counter {
    kj_cu_address at; /* 0 before the first such kernel */
    bool suspect;
} kj_cuda_counter;

typedef struct kj_cuda_task kj_cuda_task;
typedef struct kj_cuda_base kj_cuda_base;
typedef struct kj_cuda_span kj_cuda_span;

struct kj_device {
    const kj_cuda_driver *cu;
    kj_cu_device device;
    kj_cu_context context;
    int capability, multiprocessors, multiprocessor_threads;
    int managed;                /* it has managed memory */
    int cooperative;            /* grids may wait for all of their blocks */
    int max_shared;             /* bytes a block can have */
    kj_cu_stream stream;        /* of calls without a queue */
    kj_cuda_counter counter;    /* of that stream's kernels; under first_lock */
    kj_cu_stream memory_stream; /* orders what the pool gives and takes; it never has work */
    kj_cu_pool pool;            /* NULL where the device has none */

    pthread_mutex_t first_lock; /* while something is made at its first use */
    uint64_t admitted;          /* devices that reach the pool's memory, or cannot */
    kj_cu_module mover_module;
    kj_cu_function mover;
    kj_cuda_base *base; /* of spans; NULL before the first */

    pthread_mutex_t lock; /* of all that follows; never held while the driver is called */
    pthread_cond_t ended; /* some task has */
    kj_queue *queues;
    uint64_t tickets;   /* tasks ever queued */
    atomic_int pending; /* tasks queued that have not ended */
    kj_cuda_launch *launches;
    kj_cuda_event *events[2]; /* for use again; with times, the second */
    void *stages; /* page-locked memory for use again; each begins with the next's address */
    kj_cuda_task *remains; /* of a lost device: what a host function might still look at */
    atomic_bool lost;
    char lost_text[sizeof(kj_failure)];
};

static inline bool kj_cuda_is_lost(const kj_device *dev)
{
    return atomic_load_explicit(&dev->lost, memory_order_acquire);
}

/* Makes the device's context current; fails when it is lost. Ends with kj_cuda_leave. */
kjit_status kj_cuda_enter(kj_device *dev, kj_failure *why);
void kj_cuda_leave(kj_device *dev);
/* The same for giving something back. When it fails there is nothing to leave, and *status says
 * how: a device that was lost has nothing to be given back, which is KJIT_OK. */
bool kj_cuda_enter_to_free(kj_device *dev, kjit_status *status, kj_failure *why);

/* ---- Memory (pool.c) ---- */

enum { KJ_CUDA_STAGE = 2 << 20 }; /* bytes of page-locked memory that copies go through */

/* What is allocated for so many bytes: something, and up to a whole vector. */
static inline size_t kj_cuda_room(size_t size)
{
    if (size == 0 || size > SIZE_MAX - KJ_WHOLE)
        return size == 0 ? 1 : size;
    return (size + KJ_WHOLE - 1) / KJ_WHOLE * KJ_WHOLE;
}

/* Device memory, from the pool where there is one. */
kjit_status kj_cuda_take(kj_device *dev, size_t size, bool pooled, void **out, kj_failure *why);
kjit_status kj_cuda_give(kj_device *dev, void *memory, size_t size, bool pooled, kj_failure *why);
/* KJIT_NO_MEMORY, with what there is. */
kjit_status kj_cuda_no_memory(kj_device *dev, size_t size, kj_failure *why);
kjit_status kj_cuda_trim(kj_device *dev, size_t keep, kj_failure *why);
kjit_status kj_cuda_memory(kj_device *dev, kjit_memory_info *out, kj_failure *why);
/* Waits for all queued work and gives what the pool doesn't use back to the driver. */
void kj_cuda_scrape(kj_device *dev);
/* Memory for the device's own work; when it has run out it is tried once more after that. */
kjit_status kj_cuda_aside(kj_device *dev, size_t size, void **out, kj_failure *why);
void kj_cuda_aside_drop(kj_device *dev, void *memory);
/* The device's context is entered. */
kj_cu_result kj_cuda_pool_open(kj_device *dev);
void kj_cuda_pool_close(kj_device *dev);
kj_cu_result kj_cuda_stage_take(kj_device *dev, void **out);
void kj_cuda_stage_give(kj_device *dev, void *stage); /* NULL is nothing */
void kj_cuda_stages_free(kj_device *dev);

/* ---- Kinds of memory (alloc.c) ---- */

kjit_status kj_cuda_alloc(kj_device *dev, kj_chunk *chunk, kj_failure *why);
kjit_status kj_cuda_release(kj_device *dev, const kj_chunk *chunk, kj_failure *why);
kjit_status kj_cuda_zero(kj_device *dev, const kj_chunk *chunk, kj_failure *why);
kjit_status kj_cuda_pin(kj_device *dev, kj_chunk *chunk, kj_failure *why);
kjit_status kj_cuda_reach(kj_device *dev, kj_chunk *chunk, kj_failure *why);

/* ---- Queues and marks (queue.c, mark.c) ---- */

/* Queued work: allocated by who queues it, freed when it has ended. */
struct kj_cuda_task {
    kj_cuda_task *next;
    uint64_t ticket;
    kj_cuda_event *reached; /* recorded behind it; NULL: a later task's tells */
    kj_cuda_launch launch;  /* linked when it has a `what` */
    kj_work *work;          /* NULL: nobody is told */
    kj_cuda_span *span;     /* or NULL */
    /* Called before that, on a task that has ended; on a lost device it makes sure that no host
     * function goes on. May be NULL. */
    void (*end)(kj_device *dev, kj_cuda_task *task, bool lost);
};

struct kj_queue {
    kj_device *dev;
    kj_queue *next, *prev;
    kj_queue_kind kind;
    kj_cu_stream stream;     /* of KJ_QUEUE_THREAD: a handle that means another stream elsewhere */
    pthread_t thread;        /* which made it */
    atomic_bool lent;        /* of KJ_QUEUE_OWN: others know the stream too */
    pthread_mutex_t issue;   /* held from the first driver call of a task until it is listed */
    int unmarked;            /* tasks listed since a group of them was; under `issue` */
    bool due;                /* a group was: who queues the next task ends some; alike */
    kj_cuda_counter counter; /* under `issue` */
    void *stage;             /* of copies in this stream, one after the other; under `issue` */
    kj_cuda_task *head, *tail; /* under the device's lock, as is what follows */
    bool draining;             /* some thread ends its tasks */
};

/* A task of at least sizeof(kj_cuda_task) bytes, zeroed; NULL without memory. */
void *kj_cuda_task_new(size_t size, kj_work *work, const char *what);
/* Lists a task whose work is in the stream now; returns its ticket. With `exact` an event is recorded
 * right behind it. The context is entered, queue->issue held. */
uint64_t kj_cuda_queued(kj_queue *queue, kj_cuda_task *task, bool exact);
/* Releases queue->issue, and ends tasks when it is time to. */
void kj_cuda_issued(kj_queue *queue);
/* Ends tasks that have been reached, and doesn't wait. The context is entered. */
void kj_cuda_drain(kj_queue *queue);
/* Ends tasks up to the ticket, waiting for them: of all queues, or of one, which may be gone. */
void kj_cuda_finish(kj_device *dev, const kj_queue *only, uint64_t ticket);
/* Have the tasks of a queue, which may be gone, ended up to the ticket? Never waits. */
bool kj_cuda_ended(kj_device *dev, const kj_queue *only, uint64_t ticket);
/* Waits for a stream; what it gives is an end of the device. The context is entered. */
kj_cu_result kj_cuda_sync(kj_device *dev, kj_cu_stream stream);
/* Frees a task that has ended or was never listed. */
void kj_cuda_task_drop(kj_device *dev, kj_cuda_task *task);
void kj_cuda_launch_begin(kj_device *dev, kj_cuda_launch *launch);
void kj_cuda_launch_end(kj_device *dev, kj_cuda_launch *launch);
/* An event that was used before or a new one; NULL when there is none. The context is entered. */
kj_cuda_event *kj_cuda_event_take(kj_device *dev, bool timing);
void kj_cuda_event_give(kj_device *dev, kj_cuda_event *event);
void kj_cuda_events_free(kj_device *dev, bool entered);

kjit_status kj_cuda_queue_create(kj_device *dev, kj_queue_kind kind, void *handle, kj_queue **out,
                                 kj_failure *why);
kjit_status kj_cuda_queue_free(kj_queue *queue, kj_failure *why);
void *kj_cuda_queue_handle(kj_queue *queue);
void kj_cuda_wait(kj_device *dev, kj_queue *queue);
void kj_cuda_queue_finish(kj_queue *queue);
bool kj_cuda_idle(kj_queue *queue);

kjit_status kj_cuda_mark_create(kj_device *dev, bool timing, kj_mark **out, kj_failure *why);
kjit_status kj_cuda_mark_free(kj_mark *mark, kj_failure *why);
kjit_status kj_cuda_mark_record(kj_device *dev, kj_mark *mark, kj_queue *queue, kj_failure *why);
void kj_cuda_mark_wait(kj_mark *mark);
bool kj_cuda_mark_reached(kj_mark *mark);
kjit_status kj_cuda_mark_join(kj_device *dev, kj_mark *mark, kj_queue *queue, kj_failure *why);
bool kj_cuda_mark_elapsed(kj_mark *from, kj_mark *to, double *ms);

/* ---- When work ran (timing.c) ---- */

/* Around what a task puts into the queue's stream, if its owner asks for the times: `issue` is
 * held, the context is entered. kj_cuda_queued calls the second. */
void kj_cuda_span_begin(kj_queue *queue, kj_cuda_task *task);
void kj_cuda_span_end(kj_queue *queue, kj_cuda_task *task);
/* Of a task that ends: fills the times in if it was reached. */
void kj_cuda_span_drop(kj_device *dev, kj_cuda_task *task, bool reached);
void kj_cuda_base_free(kj_device *dev);

/* ---- Host functions (callback.c) ---- */

kjit_status kj_cuda_call(kj_device *dev, kj_queue *queue, void (*run)(kj_work *work), kj_work *work,
                         kj_failure *why);
/* A task's host functions run one after the other, each between these two; `state` is 0 at first.
 * False: they were cancelled, and the task's owner may be gone. */
bool kj_cuda_host_begin(atomic_int *state);
void kj_cuda_host_end(atomic_int *state);
/* Of a lost device's task: one may be running, and others may or may not follow. Afterwards none
 * does. */
void kj_cuda_host_cancel(atomic_int *state);

/* ---- Copies (copy.c, strided_copy.c) ---- */

kjit_status kj_cuda_copy(kj_device *dev, kj_queue *queue, const kj_transfer *transfer,
                         kj_work *work, kj_failure *why);
/* Puts a transfer within the device's memory into a stream; its ends don't overlap. */
kj_cu_result kj_cuda_move(kj_device *dev, kj_cu_stream stream, const kj_transfer *t);
/* The same for a row whose ends do, through `room` bytes of memory aside. */
kj_cu_result kj_cuda_move_over(kj_device *dev, kj_cu_stream stream, const kj_transfer *t,
                               void *aside, size_t room);
/* Is it a row between page-locked memory of the host's, and the device? The driver copies that by
 * itself, whenever it gets there. */
bool kj_cuda_is_locked_row(const kj_transfer *t, size_t *bytes);
/* Puts a row between the host and the device into a stream. */
kj_cu_result kj_cuda_put_row(kj_device *dev, kj_cu_stream stream, const kj_transfer *t,
                             size_t bytes);
/* The kernel that moves what is no row, loaded when it is first needed. */
kj_cu_result kj_cuda_mover(kj_device *dev, kj_cu_function *out);
void kj_cuda_mover_free(kj_device *dev);

/* ---- Other processes (ipc.c) ---- */

size_t kj_cuda_share_size(size_t size); /* that shareable memory is allocated in */
kjit_status kj_cuda_share(kj_device *dev, const kj_chunk *chunk, unsigned char *handle,
                          kj_failure *why);
kjit_status kj_cuda_share_open(kj_device *dev, kj_chunk *chunk, kj_failure *why);
kjit_status kj_cuda_share_close(kj_device *dev, const kj_chunk *chunk, kj_failure *why);

/* ---- Other GPUs (peer.c) ---- */

kj_reach kj_cuda_peer(kj_device *dev, const kj_device *other);
/* Puts a transfer with an end in another device's memory into a stream. */
kj_cu_result kj_cuda_move_between(kj_device *dev, kj_cu_stream stream, const kj_transfer *t);

/* ---- The device runtime (devrt.c) ---- */

/* The library, for free(). */
kjit_status kj_cuda_devrt(const kj_cuda_driver *cu, char **data, size_t *size, kj_failure *why);

/* ---- Code and launches (load.c, launch.c) ---- */

enum { KJ_CUDA_MAX_ARGS = 4096 };

struct kj_exec {
    kj_cu_module module;
    kj_cu_function function;
    int64_t shared;  /* bytes of shared arrays that are in the code */
    bool grid_sync;  /* the kernel has one */
    bool ends_early; /* it may, by a failed assert or a halt */
    int nargs;
    int args[]; /* slot of each parameter, or KJ_ARG_COUNTER */
};

kjit_status kj_cuda_load(kj_device *dev, const kj_code *code, kj_exec **out, kj_failure *why);
kjit_status kj_cuda_unload(kj_device *dev, kj_exec *exec, kj_failure *why);
kjit_status kj_cuda_fill(kj_device *dev, kj_exec *exec, const char *symbol, const void *data,
                         size_t size, kj_failure *why);
kjit_status kj_cuda_assemble(kj_device *dev, const char *ptx, void **out, size_t *size,
                             kj_failure *why);
kjit_status kj_cuda_inspect(kj_device *dev, const kj_exec *exec, int threads, size_t shared,
                            kjit_kernel_info *out, kj_failure *why);
kjit_status kj_cuda_resident(kj_device *dev, const kj_exec *exec, int threads, size_t scratch,
                             int64_t *out, kj_failure *why);
bool kj_cuda_can_launch(const kj_device *dev, const kj_launch_call *call);
/* Makes the counter of a stream's kernels with grid_sync() for the first of them. */
kj_cu_result kj_cuda_ready_counter(kj_device *dev, const kj_exec *exec, kj_cuda_counter *counter);
/* Puts a launch into a stream that is captured: of one that fails some may be there. The context is entered, the
 * counter ready. */
kj_cu_result kj_cuda_put(kj_device *dev, kj_cu_stream stream, kj_cuda_counter *counter,
                         const kj_launch_call *call);
kjit_status kj_cuda_launch_run(kj_device *dev, kj_queue *queue, const kj_launch_call *call,
                               kj_work *work, kj_host_fault *fault, kj_failure *why);

/* ---- Graphs (graph.c) ---- */

kjit_status kj_cuda_graph_create(kj_device *dev, const kj_graph_step *steps, int n, kj_graph **out,
                                 kj_failure *why);
kjit_status kj_cuda_graph_launch(kj_device *dev, kj_queue *queue, kj_graph *graph, kj_work *work,
                                 kj_failure *why);
void kj_cuda_graph_free(kj_device *dev, kj_graph *graph);

#endif
