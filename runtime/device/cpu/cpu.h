/* The CPU device: a pool of workers that run blocks, queues with a thread each, code loaded from
 * objects. */
#ifndef KJ_CPU_H
#define KJ_CPU_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/guard.h"
#include "device/device.h"

/* ---- The pool (pool.c) ---- */

typedef struct kj_pool kj_pool;
enum { KJ_MAX_WORKERS = 1024 };

/* workers counts the launching thread: one less is started, or as many as the system allows. */
kjit_status kj_pool_create(int workers, kj_pool **out, kj_failure *why);
void kj_pool_free(kj_pool *pool);
int kj_pool_workers(const kj_pool *pool);

/* Work in pieces, blocks: `run` does those from first to last in a worker's memory, on any thread;
 * false when one failed, and no others are begun. */
typedef struct kj_job {
    bool (*run)(void *ctx, uint64_t first, uint64_t last, void *memory);
    void *ctx;
    uint64_t blocks;
    bool serial; /* on the calling thread, in their order */
    /* Or NULL: of each thread that takes part, before its first piece and behind its last. */
    void (*begin)(void *ctx, void *memory);
    void (*end)(void *ctx, void *memory);
} kj_job;
kjit_status kj_pool_run_job(kj_pool *pool, const kj_job *job, size_t scratch, atomic_uint *cost,
                            kj_failure *why);
/* Of pieces that are blocks: KJIT_FAULT also where one has failed and others went on. */
kjit_status kj_pool_run_blocks(kj_pool *pool, const kj_job *job, const kj_host_fault *fault,
                               size_t scratch, atomic_uint *cost, kj_failure *why);
static inline void kj_set_halt(kj_host_launch *values, kj_halt_word halt)
{
    values->halt = halt.halt;
    values->going = halt.going;
}
/* Is the launch to end? Then that is its fault, in front of the block. */
bool kj_is_halted(const kj_host_launch *values, uint64_t block);
uint64_t kj_count_blocks(const kj_host_launch *values); /* of its grid */

/* Runs blocks 0 .. grid on the pool and the calling thread; many threads may do so at once.
 * `values->fault` is set by the caller, and is none yet. `cost` is the kernel's: what a block took before, 0 at
 * first. KJIT_FAULT when a block reported one. */
kjit_status kj_pool_run(kj_pool *pool, kj_host_entry entry, const kj_host_launch *values,
                        size_t scratch, atomic_uint *cost, kj_failure *why);

/* ---- Kernels that count in arrays (tally.c) ---- */

/* A launch whose threads count in copies of their own; false, and nothing was run: it had better be an ordinary one. */
bool kj_pool_run_counting(kj_pool *pool, const kj_launch_call *call, const kj_host_launch *values,
                          kjit_status *status, kj_failure *why);

/* ---- Grids whose blocks wait for one another (grid_sync.c) ---- */

/* Each block has `scratch` bytes of its own. */
kjit_status kj_pool_run_grid(kj_pool *pool, kj_host_entry entry, const kj_host_launch *values,
                             size_t scratch, atomic_uint *cost, kj_failure *why);

/* ---- Kernels that launch kernels (child_launch.c) ---- */

kjit_status kj_pool_run_family(kj_pool *pool, const kj_launch_call *call, kj_host_launch *values,
                               kj_failure *why);

/* ---- Queues and marks (queue.c) ---- */

/* All queues of a device share one lock: what they do under it is short. */
typedef struct kj_queues {
    pthread_mutex_t lock;
    pthread_cond_t done; /* some task has ended */
    kj_queue *first;
    uint64_t tickets;   /* tasks ever queued */
    atomic_int pending; /* tasks queued that have not ended */
} kj_queues;

void kj_queues_init(kj_queues *queues);
void kj_queues_destroy(kj_queues *queues);

/* A piece of queued work. run is called by the queue's thread, then the task is freed. */
typedef struct kj_task {
    struct kj_task *next;
    uint64_t ticket;
    void (*run)(struct kj_task *task);
} kj_task;

/* A task's work begins; and has ended, which its owner is told. */
void kj_task_begins(kj_work *work);
void kj_task_ends(kj_work *work, kjit_status status, const kj_host_fault *fault);

kjit_status kj_queue_create(kj_device *dev, kj_queue_kind kind, void *handle, kj_queue **out,
                            kj_failure *why);
kjit_status kj_queue_free(kj_queue *queue, kj_failure *why);
kjit_status kj_queue_add(kj_queue *queue, kj_task *task,
                         kj_failure *why); /* takes the task over if it succeeds */
void kj_queue_wait(kj_device *dev, kj_queue *queue);
void kj_queue_finish(kj_queue *queue);
bool kj_queue_idle(kj_queue *queue);

kjit_status kj_mark_create(kj_device *dev, bool timing, kj_mark **out, kj_failure *why);
kjit_status kj_mark_free(kj_mark *mark, kj_failure *why);
kjit_status kj_mark_record(kj_device *dev, kj_mark *mark, kj_queue *queue, kj_failure *why);
void kj_mark_wait(kj_mark *mark);
bool kj_mark_reached(kj_mark *mark);
kjit_status kj_mark_join(kj_device *dev, kj_mark *mark, kj_queue *queue, kj_failure *why);
bool kj_mark_elapsed(kj_mark *from, kj_mark *to, double *ms);

/* ---- Code (loader.c) ---- */

/* KJIT_NO_DEVICE where the system does not let this process run code that it makes. */
kjit_status kj_loader_check(kj_failure *why);
kjit_status kj_cpu_load(kj_device *dev, const kj_code *code, kj_exec **out, kj_failure *why);
kjit_status kj_unload(kj_device *dev, kj_exec *exec, kj_failure *why);

/* A kernel that the exec's launches, or one of these. */
typedef struct kj_child_entry {
    kj_host_entry entry;
    size_t scratch, nslots;
    int64_t block[3];
} kj_child_entry;

struct kj_exec {
    kj_host_entry entry;
    bool grid_sync;   /* the kernel has one */
    atomic_uint cost; /* of a block, in ns: the pool's */
    size_t stack;     /* bytes that the code takes */
    void *code;       /* the memory that it stands in */
    size_t size;
    kj_child_entry *children;     /* NULL: it launches none */
    const kj_kernel_info *kernel; /* the code's */
    unsigned watched;             /* what the code tells of its threads for: KJ_CHECKS_WATCHED */
    bool counts;                  /* some parameter is only counted in: kj_param_info.tally */
    bool past, shared_out;        /* as kj_code has them */
};

/* ---- Stores past the caches (past.c) ---- */

/* kj_host_launch.past for a launch of code that asks it, where caches hold so many bytes. shared_out: the grid does not say
 * how many threads there are. */
int16_t kj_goes_past(const kj_kernel_info *kernel, const kj_host_launch *values, uint64_t cached,
                     bool shared_out);

/* ---- Launches that are checked (watch.c) ---- */

/* The watch of a launch; NULL without memory. */
kj_host_watch *kj_watch_begin(kj_device *dev, const kj_kernel_info *kernel,
                              const kj_host_launch *values);
/* A grid begins, or goes on behind grid_sync(): what was before is ordered before all that comes. NULL: nothing. */
void kj_watch_grid(kj_host_watch *watch, bool begins);
/* The launch has ended so; returns how it is with what was found, which is the launch's fault then. */
kjit_status kj_watch_end(kj_device *dev, kj_host_watch *watch, kjit_status status,
                         kj_host_fault *fault, kj_failure *why);

void kj_watch_free(kj_host_watch *watch);

static inline kj_host_watch *kj_watch_of(const kj_host_launch *values)
{
    return values->spawner ? values->spawner->watch : NULL;
}

/* ---- Memory that other processes can open (ipc.c) ---- */

kjit_status kj_share_alloc(size_t size, void **out, kj_failure *why);
kjit_status kj_share_open(const unsigned char *handle, size_t size, void **out, kj_failure *why);
void kj_share_free(void *memory); /* of either */
kjit_status kj_cpu_share(kj_device *dev, const kj_chunk *chunk, unsigned char *handle,
                         kj_failure *why);

/* ---- Graphs (graph.c) ---- */

kjit_status kj_cpu_graph_create(kj_device *dev, const kj_graph_step *steps, int n, kj_graph **out,
                                kj_failure *why);
kjit_status kj_cpu_graph_launch(kj_device *dev, kj_queue *queue, kj_graph *graph, kj_work *work,
                                kj_failure *why);
void kj_cpu_graph_free(kj_device *dev, kj_graph *graph);

/* ---- What runs (running.c) ---- */

enum { KJ_MAX_RUNNING = 16 };

typedef struct kj_running {
    atomic_bool taken;
    _Atomic(const char *) what; /* NULL: not yet, or no more */
    int64_t grid[3], block[3];
} kj_running;

/* Once somebody has asked. NULL: there is no place. */
kj_running *kj_running_begin(kj_device *dev, const char *what, const kj_host_launch *values);
void kj_running_end(kj_running *r);
void kj_cpu_running(kj_device *dev, char *out, size_t size);

/* ---- The device (device.c) ---- */

/* kj_device_ops.launch. */
kjit_status kj_cpu_launch(kj_device *dev, kj_queue *queue, const kj_launch_call *call,
                          kj_work *work, kj_host_fault *fault, kj_failure *why);
/* kj_device_ops.replay. */
kjit_status kj_cpu_replay(kj_device *dev, const kj_launch_call *call, int64_t first, int64_t count,
                          kj_host_fault *fault, kj_failure *why);
/* A launch on the calling thread and the pool, of these values, whose fault is set. */
kjit_status kj_cpu_run(kj_device *dev, const kj_launch_call *call, kj_host_launch *values,
                       kj_failure *why);

struct kj_device {
    kj_pool *pool;
    kj_queues queues;
    _Atomic(kj_host_watch *) watch; /* of the last launch that was checked, for the next; or NULL */
    kj_running running[KJ_MAX_RUNNING];
    atomic_bool asked; /* what runs */
    uint64_t cached;   /* bytes of arrays that the caches hold from one launch to the next */
};

#endif
