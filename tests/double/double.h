/* The driver double: a libcuda.so.1 for tests. kjit loads it where KJIT_CUDA_DRIVER names it.
 *
 * It keeps the CUDA driver's books and breaks every promise that the driver doesn't make: device
 * memory has addresses that the host cannot touch and is full of 0xCB before it is written, streams
 * are queues that other threads work off in an order and with delays drawn from a seed, page-locked
 * memory is read when a copy runs and not when it is called, handles and addresses are never used
 * twice. Kernels are executed by ptx.h's interpreter; one that fails puts its context into an error
 * that later calls return. What the driver's documentation forbids (a "misuse") and what is left at
 * the end of the process (a "leak") are reported then, and the exit status is 97.
 *
 * The environment says what is simulated:
 *   KJIT_DOUBLE_CHIP=90        the GPUs' compute capability (rows of chips.def)
 *   KJIT_DOUBLE_CUDA=13000     the driver's version; calls that are newer are not there
 *   KJIT_DOUBLE_DEVICES=1      how many GPUs
 *   KJIT_DOUBLE_MEMORY=bytes   of memory each (default 8 GiB)
 *   KJIT_DOUBLE_POOLS=0        GPUs without stream-ordered allocation
 *   KJIT_DOUBLE_MANAGED=0      GPUs without managed memory
 *   KJIT_DOUBLE_PEERS=0        GPUs that cannot reach one another's memory
 *   KJIT_DOUBLE_SEED=1         another order and other delays of queued work
 *   KJIT_DOUBLE_APART=1        lanes of a warp that went apart meet again only where they synchronise;
 *                              2: they may go apart anywhere
 *   KJIT_DOUBLE_SYNC=1         queued work runs within the call that queues it
 *   KJIT_DOUBLE_WORKERS=2      threads that run queued work; one more calls host functions
 *   KJIT_DOUBLE_STEPS=n        instructions of one warp before its launch counts as hung (0: never)
 *   KJIT_DOUBLE_NOOP=1         launches do nothing: what is left is the cost of launching
 *   KJIT_DOUBLE_WAITS=1        page-locked memory is given when all work in the context has ended
 *   KJIT_DOUBLE_FAIL=list      calls that fail: symbol:nth:code[:always], separated by commas. The
 *                              nth call of that name (1 is the first), or all from it on, returns
 *                              the code. The symbol may be without its _v2. A call that frees or
 *                              waits has done so all the same, and what a failed call did not
 *                              free is no leak, nor what is left when cuCtxPushCurrent
 *                              always fails.
 *   KJIT_DOUBLE_LOG=file       a line for each call and each piece of queued work (appended):
 *                              "call 12 T1 cuMemFree_v2(0x1000000000100) = 0", T1 being the thread
 *                              that called first; "run 7 W1 begin launch kj_f stream 3", and its
 *                              "... end": W1 is a thread of the double's, T1 one that waits
 *   KJIT_DOUBLE_REPORT=file    where the report goes (appended) instead of stderr
 *   KJIT_DOUBLE_EXIT=n         the exit status of a process with misuses or leaks; 0: its own
 *
 * One lock (calls.c) guards all state; whoever waits or runs queued work gives it up meanwhile. */
#ifndef DOUBLE_H
#define DOUBLE_H

#include "cu.h"
#include "ptx.h"
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- Settings (config.c) ---- */

typedef struct drv_chip {
    int sm;
    const char *name;
    int multiprocessors, threads, blocks, shared, optin, l2, memory_clock, bus_width;
} drv_chip;

typedef struct drv_settings {
    const drv_chip *chip;
    int version, devices, workers, exit_status, apart;
    size_t memory;
    uint64_t seed, steps;
    bool pools, managed, peers, sync, noop, waits;
    const char *fail, *log, *report;
} drv_settings;

const drv_settings *config(void);
/* The newest PTX that a driver of that version takes: 84 for 12040. */
int config_ptx(int cuda_version);

/* ---- Calls (calls.c) ---- */

/* What a call needs before it is carried out, and what injected failures must know of it. */
typedef enum call_flags {
    ANY = 0,     /* nothing */
    INIT = 1,    /* cuInit */
    CTX = 2,     /* a current context without an error */
    WAITS = 4,   /* it waits for queued work */
    FREES = 8,   /* it gives something back */
    UNSAFE = 16, /* not while a stream is captured whose mode forbids it */
    DONE = 32    /* it is done even so: the capture is spoilt all the same */
} call_flags;

typedef struct call_row {
    const char *symbol, *base; /* "cuMemAlloc_v2", "cuMemAlloc" */
    int since;                 /* the first driver version that has it */
    int flags;
    void (*entry)(void);
} call_row;

extern const call_row call_rows[];
extern const int call_row_count;

/* The running call's name and number; "" and 0 outside. */
const char *call_name(void);
uint64_t call_number(void);

/* What is waited for, each by its own threads, so that none is woken for nothing. */
typedef enum call_sign {
    WORK_ENDED, /* by whoever needs it */
    WORK_CAME,  /* by the worker that watches for it */
    WORK_LEFT,  /* by the other workers: there is more than the one that watches can run */
    HOST_CAME,  /* functions of the host */
    SIGNS
} call_sign;

/* Gives up the lock until the sign is given. */
void call_wait(call_sign sign);
void call_wait_until(call_sign sign, double time); /* at most; 0: no limit */
void call_lock(void);
void call_unlock(void);
void call_wake(call_sign sign); /* all who wait for that sign */
void call_wake_one(call_sign sign);
bool calls_forked(void); /* this is a child of the process that called cuInit */

/* Each row's work, done under the lock. */
#define CALL(name, suffix, since, flags, params, args, line) CUresult do_##name##suffix params;
#include "calls.def"
#undef CALL

/* ---- Failures that are asked for (inject.c) ---- */

/* The code that this call is to return; 0: what it does. A fault of queued work, 700 for instance,
 * stays in the context; 4 says that the driver has shut down, and stays for all. */
CUresult inject(int row);
bool inject_shut_down(void);
/* The program was kept from giving back what it has: a context could not be made current, or it
 * could not learn whether work that uses it had ended. */
bool inject_excuses_leaks(void);

/* ---- Handles (handle.c): typed, never reused ---- */

typedef enum drv_kind {
    KIND_CONTEXT,
    KIND_STREAM,
    KIND_EVENT,
    KIND_MODULE,
    KIND_FUNCTION,
    KIND_POOL,
    KIND_LINK,
    KIND_GRAPH,
    KIND_EXEC,
    KIND_LIBRARY,
    KIND_KERNEL, /* of a library */
    KIND_RANGE,  /* of addresses */
    KIND_COUNT
} drv_kind;

typedef struct drv_context drv_context;
typedef struct drv_op drv_op;
typedef struct drv_memory drv_memory;
typedef struct drv_module drv_module;

typedef struct drv_object {
    drv_kind kind;
    bool dead;
    bool builtin; /* the driver's own: never a leak */
    uint64_t number;
    drv_context *context; /* NULL for contexts and pools */
    uint64_t made, ended; /* the numbers of those calls */
} drv_object;

/* An object of `size` bytes that starts with its `object`, zeroed; lives until the process ends. */
void *object_new(size_t size, drv_kind kind, drv_context *context);
void object_end(drv_object *object);
void *object_handle(const void *object);
/* NULL after recording a misuse: not a handle of that kind, or one that has ended. */
void *object_find(const void *handle, drv_kind kind);
/* The same, and of the current context. */
void *object_here(const void *handle, drv_kind kind);
bool object_is(const void *handle, drv_kind kind);
const char *object_kind(drv_kind kind);
/* The living objects of a kind, in order of creation: the first after that one (NULL: of all). */
drv_object *object_next(const drv_object *after, drv_kind kind);

/* ---- What comes before what (clock.c) ---- */

typedef struct drv_tick {
    struct drv_stream *stream;
    uint64_t turn; /* of a piece of work in its stream, from 1 */
} drv_tick;

typedef struct drv_clock {
    int count, room;
    drv_tick *ticks;
} drv_clock;

void clock_add(drv_clock *clock, const drv_op *op);
void clock_join(drv_clock *clock, const drv_clock *other);
/* The host has waited for all of it. */
void clock_seen(drv_clock *clock);
/* The first of `needed` that neither the clock (NULL: an empty one) nor the host knows to have
 * ended; NULL: none. */
const drv_tick *clock_missing(const drv_clock *clock, const drv_clock *needed);
void clock_free(drv_clock *clock);

/* ---- Threads and contexts (context.c) ---- */

typedef struct drv_thread {
    int number; /* T1 is the first that called */
    drv_context *stack[32];
    int depth;
    bool in_host_function;
    CUstreamCaptureMode mode; /* what others' captures forbid it */
    struct drv_thread *next;
} drv_thread;

struct drv_context {
    drv_object object;
    int device;
    int retained; /* of a primary context */
    bool primary;
    bool reset;     /* until it is retained again */
    CUresult error; /* what every later call returns */
    bool peers[64]; /* by device: those whose memory its work may use */
    struct drv_stream *legacy, *streams;
    drv_clock departed;         /* the work of streams that were destroyed */
    struct drv_own_stream *own; /* the streams of threads */
};

drv_thread *thread_self(void);
drv_context *context_current(void);
/* Its later calls return that, and so do those of contexts that the device gets after it. */
void context_fail(drv_context *context, CUresult error);
bool device_lost(int device);
drv_thread *thread_first(void);

/* ---- Reports (report.c) ---- */

/* Records that a rule was broken, with the running call; returns the code: `return misuse(...)`. */
CUresult misuse(CUresult code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Something that is worth a line in the report, but no mistake: a kernel's fault. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void leak(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A line of the log. */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool report_ended(void);                       /* the process is ending and the report is written */
void report_leaks(void);                       /* leak.c: of everything */
void report_left(drv_context *context);        /* leak.c: of what dies with a context */
void report_reset(const drv_context *context); /* all of it ends, and nothing is told */
const char *error_name(CUresult code);
const char *error_text(CUresult code);

/* ---- Queued work (stream.c, worker.c) ---- */

typedef struct drv_stream {
    drv_object object;
    bool blocking;  /* waits for the legacy stream and it for this */
    CUstream alias; /* what a builtin one is called */
    unsigned flags;
    int priority;
    drv_op *first, *last; /* not yet done */
    drv_op *tail;         /* the last that was queued, done or not */
    struct drv_capture *capture;
    uint64_t turns, seen;       /* of its work: queued, and known by the host to have ended */
    struct drv_stream *next;    /* of the streams with work */
    struct drv_stream *sibling; /* of the context's living streams */
} drv_stream;

struct drv_op {
    uint64_t number;
    drv_stream *stream;
    uint64_t turn;
    drv_clock clock; /* what has ended when it has */
    drv_op *next;
    drv_op **after; /* work of other streams that comes first */
    int nafter;
    int refs;
    bool running, done;
    bool hurried;  /* somebody waits for it */
    uint64_t walk; /* the last that came by, of those through what is needed (worker.c) */
    bool host;     /* a function of the host */
    bool replays;  /* it may be part of a graph */
    bool always;   /* runs after an error too, which `status` is then */
    CUresult status;
    double start, ended; /* when it may run, and when it had */
    char what[96];
    struct use {
        struct use *next;
        drv_memory *memory; /* or */
        drv_module *module;
    } * uses;
    drv_memory *frees;           /* in stream order */
    CUresult (*run)(drv_op *op); /* without the lock; an error becomes the context's */
    void (*finish)(drv_op *op, CUresult status); /* with the lock; may be NULL */
};

drv_stream *stream_new(drv_context *context, unsigned flags, int priority);
/* NULL for a handle that is none, or the legacy stream that may not be used now, after recording
 * that. */
drv_stream *stream_find(CUstream handle);
/* Whether its work has ended, which the host then knows. */
bool stream_idle(drv_stream *stream);
void stream_end(drv_stream *stream);
/* Waits for what is queued; the context's error. */
CUresult stream_wait(drv_stream *stream);
CUresult context_wait(drv_context *context);

/* Work of `size` bytes that starts with its op. op_queue takes the caller's reference. */
void *op_new(size_t size, drv_stream *stream, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void op_after(drv_op *op, drv_op *earlier); /* `earlier` may be NULL or done */
void op_uses(drv_op *op, drv_memory *memory);
void op_uses_module(drv_op *op, drv_module *module);
void op_uses_end(drv_op *op);
void op_queue(drv_op *op);
CUresult op_wait(drv_op *op);
bool op_done(drv_op *op); /* which the host then knows */
drv_op *op_keep(drv_op *op);
void op_drop(drv_op *op); /* may be NULL */

drv_stream *worker_streams(void); /* those with work */
void worker_accept(drv_op *op);
void worker_hurry(drv_op *op);
/* Runs a piece of the work that those need, on the calling thread; false: none has its turn. */
bool worker_help(drv_op *const *needed, size_t count);
uint64_t worker_seed(const drv_op *op);
bool workers_busy(void); /* something runs */
void workers_rest(void); /* waits until no work of the device does */
/* What runs may end, for a while; what waits is not begun. The first under the lock. */
void workers_stop(void);
void workers_end(void);

/* ---- Captures and graphs (api_graph.c) ---- */

/* Work for a stream that is captured: takes the caller's reference. */
void capture_add(drv_op *op);
/* Is the stream captured? Then that, which no capture may have, is told and the capture spoilt. */
bool capture_refuses(drv_stream *stream, const char *what);
/* Would legacy work wait for a stream that is captured? That is told. */
bool capture_is_implied(const drv_context *context);
/* Is a stream of the context captured? Then a call that would wait for it is told. */
bool capture_is_waited_for(const drv_context *context);
/* May the running call, which is UNSAFE, not be made now? */
bool capture_forbids(void);
void capture_drop(drv_stream *stream); /* the stream ends */

/* ---- Memory (memory.c, pinned.c) ---- */

typedef enum drv_owner {
    OWNER_PROGRAM,
    OWNER_POOL,
    OWNER_MODULE,
    OWNER_PINNED,
    OWNER_REGISTERED,
    OWNER_MANAGED,
    OWNER_IPC /* another process's */
} drv_owner;

/* A range of addresses, never used twice but for the host's own. */
struct drv_memory {
    drv_owner owner;
    uint64_t begin;
    size_t size;
    char *host;
    void *map; /* with its guard pages */
    size_t map_size;
    drv_context *context;
    struct drv_pool *pool;
    unsigned flags;
    bool live;            /* the device can reach it */
    bool freed;           /* the program has given it back */
    int pending;          /* pieces of queued work that use it */
    drv_clock born, uses; /* the work that allocated it; that used it last in each stream */
    bool shared;          /* with other processes, by a file: */
    int file;
    uint64_t inode;
    int opens; /* of another process's */
    uint64_t made, ended;
    drv_memory *next; /* of pinned.c's list */
};

enum { POISON = 0xCB };

/* NULL when the device's memory is full. A pool's is the device's to reach after memory_show. */
drv_memory *memory_new(drv_context *context, size_t size, size_t align, drv_owner owner);
void memory_show(drv_memory *memory);
void memory_end(drv_memory *memory);       /* the program has given it back */
void memory_give_back(drv_memory *memory); /* and the device */
bool memory_map(drv_memory *memory);       /* the host memory behind it */
void memory_sweep(void);                   /* what kernels could have reached; none runs */
/* Its memory is a file's from now on. False: there is none to be had. */
bool memory_share(drv_memory *memory);
/* The memory of such a file; takes it over. */
drv_memory *memory_open(drv_context *context, size_t size, int file);
size_t memory_used(int device);
drv_memory *memory_next(const drv_memory *after); /* all of device memory there ever was */
/* Addresses that nothing else has. */
uint64_t memory_addresses(size_t size, size_t align);
bool memory_is_device(uint64_t address);
drv_memory *memory_at(uint64_t address); /* the range around it, ended or not; NULL */
/* NULL, after recording why, unless all of the range is in one living allocation. */
drv_memory *memory_range(uint64_t address, size_t size, const char *what);
drv_memory *memory_to_free(CUdeviceptr address); /* api_memory.c; likewise */
/* The same for what the device reaches on the host too. */
drv_memory *memory_on_device(uint64_t address, size_t size, const char *what);
void pool_take_back(drv_memory *memory); /* memory_give_back\'s part in api_pool.c */
int pool_device(const drv_object *pool);
bool pool_shared(const drv_memory *memory, int device); /* may its work use what the pool gave? */
/* May the current context's work use memory of that device? */
bool memory_in_reach(const drv_memory *memory);
bool memory_find(void *ctx, uint64_t address, ptx_range *out); /* ptx_memory's; without the lock */

drv_memory *pinned_at(const void *host); /* the living page-locked range around it */
drv_memory *pinned_next(const drv_memory *after);
CUresult pinned_end(drv_memory *block); /* the program has given it back */
void pinned_drop(drv_memory *block);    /* the same of what ends with its context */
CUresult pinned_new(drv_owner owner, void **out, size_t size, unsigned flags);
void pinned_sweep(void); /* what queued work could have used; none runs */
bool pinned_find(uint64_t address, ptx_range *out); /* without the lock */

/* ---- Modules (api_module.c) ---- */

struct drv_module {
    drv_object object;
    ptx_module *ptx;
    ptx_memory memory;
    int pending; /* launches that are queued or run */
    drv_clock uses;
    pthread_mutex_t launching; /* one launch at a time */
    struct drv_function *functions;
};

typedef struct drv_function {
    drv_object object;
    drv_module *module;
    const ptx_kernel *kernel;
    const ptx_kernel_info *info;
    char *name;
    int dynamic; /* the most dynamic shared memory that a launch may ask for */
    int carveout;
    struct drv_function *next;
} drv_function;

/* Also that of a kernel of a library, in the current context; NULL after recording a misuse. */
drv_function *function_find(CUfunction handle);
int function_registers(const drv_function *function);
CUresult function_attribute(const drv_function *function, CUfunction_attribute attribute,
                            int *value);
CUresult function_set_attribute(drv_function *function, CUfunction_attribute attribute, int value);
CUresult kernel_param(const ptx_kernel_info *info, size_t index, size_t *offset, size_t *size);
/* The program unloads it. */
void module_end(drv_module *module);

/* ---- What is compiled (jit.c) ---- */

/* Where the JIT's options want what it says; the chip, or 0: the context's. */
typedef struct jit_options {
    char *info, *error;
    size_t info_size, error_size;
    void **info_filled, **error_filled, **time;
    int target;
} jit_options;

CUresult jit_read(unsigned count, const CUjit_option *options, void **values, jit_options *out);
CUresult jit_check_input(unsigned count, const CUjit_option *options, void **values);
void jit_say(const jit_options *options, const char *error);
/* A copy of a text up to its final 0, malloc's; NULL after recording that there is none. */
char *jit_text(const char *text);
/* devrt: the device runtime is linked to it. */
CUresult module_compile(CUmodule *out, const char *text, bool devrt, const jit_options *options);
CUresult module_load(CUmodule *out, const void *image, const jit_options *options);
/* The PTX text of what a program loads, malloc's; NULL with the code the driver gives. */
char *image_text(const void *image, bool *devrt, CUresult *result); /* api_link.c */
/* Code for that chip runs on the device: that of the same major version, and no newer. */
bool chip_runs(int code);
bool chip_known(int sm); /* config.c */

#endif
