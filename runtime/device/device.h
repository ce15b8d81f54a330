/* What every device fills in: memory, copies, code, launches, queues and marks.
 *
 * The runtime above speaks to a device only through its kj_device_ops (one const table a folder
 * under device/, listed in devices.c). A call that can fail returns a kjit_status and, beside it, one
 * sentence in kj_failure; it then has created nothing. All calls are thread-safe. Pointers that a
 * device hands out are its own to interpret, but for a device with `host_memory`: its memory is the
 * host's, and it works on host arrays where they are.
 *
 * Queues: work in one kj_queue runs in order, each piece after the one before has ended. A NULL
 * queue is the default one: such a call first waits for all work queued before it on the device,
 * and has finished on return. Queued work ends with kj_work.done, called once, from any thread,
 * before anyone who waits for the work goes on. */
#ifndef KJ_DEVICE_H
#define KJ_DEVICE_H

#include "kernel.h"
#include "kjit.h"

typedef struct kj_device kj_device; /* an opened device; each device's own */
typedef struct kj_queue kj_queue;
typedef struct kj_mark kj_mark;   /* a point in a queue, with its time */
typedef struct kj_exec kj_exec;   /* loaded code of one specialisation */
typedef struct kj_graph kj_graph; /* steps that are launched as one */

typedef struct kj_failure {
    char text[1000];
} kj_failure;

/* When a piece of work ran, by kj_now_ms. */
typedef struct kj_times {
    double begin, end; /* end: 0 when it is not known */
} kj_times;

/* As in kj_host_launch. */
typedef struct kj_halt_word {
    const uint32_t *halt;
    uint32_t going;
} kj_halt_word;

/* Queued work as its owner sees it. The status tells how it ended; `fault` is for KJIT_FAULT. For
 * every other failure the device may leave a sentence in `why` before it calls done; it is read
 * there, and so are the times. */
typedef struct kj_work {
    void (*done)(struct kj_work *work, kjit_status status, const kj_host_fault *fault);
    const char *why;
    int step;          /* of a graph's launch that failed: the step's number */
    kj_times *times;   /* for the device to fill in; NULL: nobody asks */
    kj_halt_word halt; /* of a graph on a device with host_memory: of its launches */
} kj_work;

/* Whose stream a queue is. The driver's two default streams and those of other libraries are not
 * the queue's to destroy, and may have others' work; a thread's is used by that thread alone, but
 * for waiting and asking. */
typedef enum kj_queue_kind {
    KJ_QUEUE_OWN,
    KJ_QUEUE_LEGACY,
    KJ_QUEUE_THREAD,
    KJ_QUEUE_EXTERNAL
} kj_queue_kind;

/* The two questions that kinds of memory answer. On a device with host_memory the answer is yes,
 * whatever the kind. */

/* Does the host's processor read and write it? Managed memory moves to who touches it, but not
 * every device lets the host touch it while kernels run: it counts as the device's. */
static inline bool kj_host_works(kjit_memory memory)
{
    return memory != KJIT_DEVICE && memory != KJIT_MANAGED;
}
/* Do kernels work on it where it is? */
static inline bool kj_device_works(kjit_memory memory)
{
    return memory != KJIT_HOST && memory != KJIT_PINNED;
}

/* How memory is or was allocated. */
enum {
    KJ_PORTABLE = 1,
    KJ_WRITE_COMBINED = 2,
    KJ_ATTACH_HOST = 4,
    KJ_SHAREABLE = 8,   /* with other processes */
    KJ_REGISTERED = 16, /* host memory of the caller's, page-locked for a while */
    KJ_OPENED = 32,     /* KJ_SHAREABLE memory of another process */
    KJ_ZEROED = 128,    /* all of it, before anybody sees it */
    KJ_UNCOUNTED = 64   /* of no array: kjit_limits.array_bytes is not about it */
};

/* A piece of memory of some kind. */
typedef struct kj_chunk {
    kjit_memory memory;
    unsigned how;
    size_t size;
    void *data;
    uintptr_t device; /* the address that kernels find it at; data's for most */
    const unsigned char
        *handle;     /* of KJ_OPENED, while it is opened: what the other's `share` gave */
    kj_queue *queue; /* device memory in a queue's order; `alloc` sets NULL where there is none */
} kj_chunk;

enum { KJ_SHARE_HANDLE = 64 }; /* bytes */

/* Elements of `size` bytes (1, 2, 4 or 8) from one place to another, axis by axis; strides are in
 * bytes and may be negative or 0. Made by kj_transfer_init: no axis has extent 1 or 0, axes that
 * lie densely in both are one. */
enum { KJ_MAX_AXES = KJIT_MAX_NDIM + 1 };
typedef struct kj_transfer {
    char *dst;
    const char *src;
    kjit_memory dst_memory, src_memory;
    size_t size;
    int ndim;
    int64_t shape[KJ_MAX_AXES], dst_stride[KJ_MAX_AXES], src_stride[KJ_MAX_AXES];
    /* Of another device of the same kind whose memory that end is in: then it is a row
     * (kj_transfer_is_row). NULL: it is the copying device's, or the host's. */
    kj_device *dst_device, *src_device;
} kj_transfer;

/* How a device is to the memory of another of its kind. */
typedef enum kj_reach { KJ_APART, KJ_REACHED, KJ_SAME } kj_reach;

/* Bytes that go between page-locked memory and the device's with a launch. */
typedef struct kj_hop {
    void *host;
    uintptr_t device;
    size_t size;
} kj_hop;

/* A launch: `values` has grid, block and `nslots` slots; its fault pointer is the device's to
 * set. */
typedef struct kj_launch_call {
    kj_exec *exec;
    kj_host_launch *values;
    size_t nslots;
    size_t scratch;    /* bytes of memory each block in flight needs, shared arrays included */
    const char *what;  /* for messages: "kernel 'scale' (scale.knl:7)"; lives as long as the exec */
    kj_halt_word halt; /* for a device with host_memory */
    uint64_t most_depth, most_launches; /* kjit_limits' launch_depth and launches: of a CPU */
    kj_hop there[2],
        back; /* in front of it and behind, before it has ended; size 0: none. Without host_memory */
} kj_launch_call;

/* One of the two. */
typedef struct kj_graph_step {
    const kj_launch_call *launch;
    const kj_transfer *copy;
} kj_graph_step;

/* Bytes of stack that a driver may take when it is opened or loads code. */
enum { KJ_DRIVER_STACK = 1 << 20 };

/* What a device does not have is NULL: the whole group, or what is said to be NULL in it. */

/* Points in queues: others wait for them, and times are told by them. */
typedef struct kj_mark_ops {
    /* timing: `elapsed` may be asked. */
    kjit_status (*create)(kj_device *dev, bool timing, kj_mark **out, kj_failure *why);
    kjit_status (*free)(kj_mark *mark, kj_failure *why);
    kjit_status (*record)(kj_device *dev, kj_mark *mark, kj_queue *queue, kj_failure *why);
    void (*wait)(kj_mark *mark);    /* until its last record so far has been reached */
    bool (*reached)(kj_mark *mark); /* or was there none? */
    /* Later work of the queue waits for the mark's last record so far. */
    kjit_status (*join)(kj_device *dev, kj_mark *mark, kj_queue *queue, kj_failure *why);
    /* False unless both were recorded and reached. */
    bool (*elapsed)(kj_mark *from, kj_mark *to, double *ms);
} kj_mark_ops;

/* Memory besides the device's own. */
typedef struct kj_memory_ops {
    /* Page-locks the chunk's data as memory of its kind and sets its device; release ends it. */
    kjit_status (*pin)(kj_device *dev, kj_chunk *chunk, kj_failure *why);
    /* What tells another process's `alloc` of KJ_OPENED memory where this KJ_SHAREABLE memory is.
     * That gives KJIT_INVALID for a handle that is none, and where the memory is gone. */
    kjit_status (*share)(kj_device *dev, const kj_chunk *chunk,
                         unsigned char handle[KJ_SHARE_HANDLE], kj_failure *why);
    /* The chunk's device, of data that somebody else has made so. NULL with host_memory. */
    kjit_status (*reach)(kj_device *dev, kj_chunk *chunk, kj_failure *why);
    /* Memory that it keeps without using it, beyond `keep` bytes, goes back to the system. NULL
     * where it keeps none. */
    kjit_status (*trim)(kj_device *dev, size_t keep, kj_failure *why);
    /* All bytes of device or managed memory become 0, in its queue if it has one. NULL with host_memory. */
    kjit_status (*zero)(kj_device *dev, const kj_chunk *chunk, kj_failure *why);
} kj_memory_ops;

/* Steps in a row as one piece of work. Without it they are queued one by one. */
typedef struct kj_graph_ops {
    /* *out is NULL when it cannot be done with these steps. The calls, their values and what the
     * steps work on live as long as the graph is launched. It may be launched by several threads;
     * with host_memory in queues alone. */
    kjit_status (*create)(kj_device *dev, const kj_graph_step *steps, int n, kj_graph **out,
                          kj_failure *why);
    kjit_status (*launch)(kj_device *dev, kj_queue *queue, kj_graph *graph, kj_work *work,
                          kj_failure *why);
    void (*free)(kj_device *dev, kj_graph *graph); /* its launches have ended */
} kj_graph_ops;

/* Code for another machine than the host. */
typedef struct kj_code_ops {
    /* Says what code for this device is compiled for: sets arch and ptx_version. The strings live as
     * long as the device. */
    void (*target)(const kj_device *dev, kj_compile_options *options);
    /* Fills the code's variable of that name (kj_const_array_info.symbol); no work is under way. */
    kjit_status (*fill)(kj_device *dev, kj_exec *exec, const char *symbol, const void *data,
                        size_t size, kj_failure *why);
    /* Machine code of PTX text, for free(); and what loaded code takes of the device for a block of
     * that many threads and bytes of shared memory (0: those in the code). */
    kjit_status (*assemble)(kj_device *dev, const char *ptx, void **out, size_t *size,
                            kj_failure *why);
    kjit_status (*inspect)(kj_device *dev, const kj_exec *exec, int threads, size_t shared,
                           kjit_kernel_info *out, kj_failure *why);
} kj_code_ops;

/* A driver between, which other code of the process uses too. */
typedef struct kj_driver_ops {
    /* Why there are no devices: a sentence without a full stop ("no NVIDIA driver is installed
     * (libcuda.so.1 was not found)"). */
    const char *(*absent)(void);
    /* Why every call fails with KJIT_LOST from now on; NULL while the device works. */
    const char *(*lost)(const kj_device *dev);
    /* Makes the device's context the thread's until `leave`. */
    kjit_status (*enter)(kj_device *dev, kj_failure *why);
    void (*leave)(kj_device *dev);
    void *(*queue_handle)(kj_queue *queue); /* the driver's stream */
    /* May work be put into the queue now, and its end be asked for? Not while other code makes
     * something else of what is put there. */
    kjit_status (*usable)(kj_queue *queue, kj_failure *why);
} kj_driver_ops;

typedef struct kj_device_ops {
    const char *kind; /* "cpu": the name users give */
    bool host_memory;
    kj_stage stage;  /* what load takes */
    bool variants;   /* kj_spec's `disjoint` and `aligned` make a difference to its code */
    bool lasts;      /* kj_spec's `lasts` do */
    bool wide;       /* kj_spec's `wide` does */
    unsigned checks; /* that its code can have: kj_check bits */
    int64_t max_block[3], max_threads, max_grid[3], max_shared;
    int32_t dlpack[KJIT_MANAGED + 1]; /* DLPack's device type for each kjit_memory */

    int (*count)(void); /* devices of this kind on this machine */
    /* What a device is like; `dev` may be NULL when it isn't open. */
    void (*describe)(const kj_device *dev, int ordinal, kjit_device_info *out);
    /* workers: of kjit_context_options. */
    kjit_status (*open)(int ordinal, int workers, kj_device **out, kj_failure *why);
    void (*close)(kj_device *dev); /* all work has ended, all that was made is freed */

    /* What gives something back has done so when it fails, as far as it could be done. On a device
     * that was lost it does nothing, and does not fail. */

    /* Memory of the chunk's kind, KJIT_HOST excepted: its data and device. At a multiple of 256
     * bytes on a device without host_memory. */
    kjit_status (*alloc)(kj_device *dev, kj_chunk *chunk, kj_failure *why);
    kjit_status (*release)(kj_device *dev, const kj_chunk *chunk, kj_failure *why);
    /* What is free, in all, and of its pool. */
    kjit_status (*memory_info)(kj_device *dev, kjit_memory_info *out, kj_failure *why);
    /* The transfer is copied; `work` may be NULL without a queue. Of one that fails nothing is on its way, or the
     * device is lost. */
    kjit_status (*copy)(kj_device *dev, kj_queue *queue, const kj_transfer *transfer, kj_work *work,
                        kj_failure *why);

    /* The compiler's log, if there is one, is the failure's text. */
    kjit_status (*load)(kj_device *dev, const kj_code *code, kj_exec **out, kj_failure *why);
    kjit_status (*unload)(kj_device *dev, kj_exec *exec, kj_failure *why);
    /* Slots are copied. Without a queue KJIT_FAULT comes with *fault; with one, a fault goes to
     * work->done. Of one that fails nothing is on its way, or the device is lost. */
    kjit_status (*launch)(kj_device *dev, kj_queue *queue, const kj_launch_call *call,
                          kj_work *work, kj_host_fault *fault, kj_failure *why);
    /* Runs `count` blocks from `first` on, one after the other, here and now; NULL: it cannot, or need not. */
    kjit_status (*replay)(kj_device *dev, const kj_launch_call *call, int64_t first, int64_t count,
                          kj_host_fault *fault, kj_failure *why);
    /* Blocks of so many threads and bytes of memory each (kj_launch_call.scratch) that a kernel
     * with grid_sync() may have. */
    kjit_status (*resident)(kj_device *dev, const kj_exec *exec, int threads, size_t scratch,
                            int64_t *out, kj_failure *why);

    /* handle: the stream of KJ_QUEUE_EXTERNAL. */
    kjit_status (*queue_create)(kj_device *dev, kj_queue_kind kind, void *handle, kj_queue **out,
                                kj_failure *why);
    kjit_status (*queue_free)(kj_queue *queue, kj_failure *why); /* of one that has been finished */
    void (*wait)(kj_device *dev,
                 kj_queue *queue);   /* until what is queued now has ended; NULL: in every queue */
    void (*finish)(kj_queue *queue); /* the same, without others' work in a shared stream */
    bool (*idle)(kj_queue *queue);
    /* Calls `run` in the queue, on a thread of the device's, before work->done; on a device that is
     * lost it may be left out. */
    kjit_status (*call)(kj_device *dev, kj_queue *queue, void (*run)(kj_work *work), kj_work *work,
                        kj_failure *why);
    const kj_mark_ops *marks;

    /* ---- What a device may leave out ---- */

    /* KJIT_NO_DEVICE where it has no such thing, and nothing in *why. */
    kjit_status (*attribute)(kj_device *dev, kjit_attribute attribute, int64_t *out,
                             kj_failure *why);
    kj_reach (*peer)(kj_device *dev, const kj_device *other);
    /* The launches that run now, as text for who ends the process: without locks, from any thread and in
     * signal handlers. */
    void (*running)(kj_device *dev, char *out, size_t size);
    const kj_memory_ops *memory;
    const kj_graph_ops *graphs;
    const kj_code_ops *code;
    const kj_driver_ops *driver;
} kj_device_ops;

/* The devices of this build, the preferred first; NULL past the last (devices.c). */
const kj_device_ops *kj_device_kind(int i);

bool kj_has_failed(const kj_host_fault *fault);
/* What a launch that has failed came to: a fault is told before a halt. */
kjit_status kj_fault_status(const kj_host_fault *fault);
/* Is it of a launch that ended before its end (kj_fault_status)? What it wrote until then is there, and what
 * comes behind it goes on. */
bool kj_is_fault(kjit_status status);
/* Writes the sentence and returns the status: `return kj_because(why, KJIT_NO_MEMORY, "...")`. */
kjit_status kj_because(kj_failure *why, kjit_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- Host memory, for arrays and for devices that use it (host_memory.c, machine.c) ---- */

/* 64-byte aligned, large blocks on huge pages where the system has them. A size that cannot fit in
 * the memory there is fails here, not when it is touched. */
kjit_status kj_memory_alloc(size_t size, void **out, kj_failure *why);
void kj_memory_free(void *memory, size_t size);
size_t kj_page_size(void); /* of the system: 4 KiB, on some machines 16 or 64 */

double kj_now_ms(void); /* of the monotonic clock */
/* Bytes of memory and CPUs that this process may use: the machine's, less what its control group
 * and affinity take. */
uint64_t kj_machine_memory(void);
uint64_t kj_machine_memory_free(void);
int kj_machine_cpus(void);
/* Bytes that the last caches of so many CPUs hold; or what $KJIT_CPU_CACHE says. */
uint64_t kj_machine_cache(int cpus);

/* ---- Transfers (transfer.c) ---- */

const char *kj_transfer_name(const kj_transfer *t); /* "host to device" */
/* Carries a transfer out between host addresses. */
void kj_transfer_run(const kj_transfer *transfer);
/* Does it move neighbouring bytes only? *bytes is how many. */
bool kj_transfer_is_row(const kj_transfer *transfer, size_t *bytes);

#endif
