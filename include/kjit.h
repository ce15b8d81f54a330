/* kjit: compile kernels written in the .knl array language at run time and launch them on the CPU
 * or a GPU.
 *
 * A program makes a context (a device and its memory), compiles modules, makes arrays, launches
 * kernels on streams:
 *
 *     kjit_context *ctx;   kjit_module *mod;   kjit_array *x;
 *     kjit_context_create(NULL, &ctx, NULL, 0);
 *     kjit_module_compile(ctx, "k.knl", source, strlen(source), NULL, &mod);
 *     kjit_array_wrap(ctx, data, KJIT_F32, 1, (int64_t[]){n}, NULL, KJIT_HOST, &x);
 *     kjit_launch(mod, "scale", &(kjit_config){.grid = {blocks}, .block = {256}},
 *                 (kjit_arg[]){kjit_arg_array(x), kjit_arg_f64(2.0)}, 2);
 *
 * These, kjit_array_create, kjit_copy and the functions that free are all that a first program
 * needs. The sections up to "Launches" are for every program, those behind it for who wants more.
 *
 * Errors: every call that can fail returns a kjit_status; kjit_last_error(ctx) is the sentence for
 * the calling thread's last failure. A handle that is NULL, or was freed, gives KJIT_INVALID. A call
 * that fails creates and changes nothing, and gives NULL through `out`. Functions that free accept
 * NULL; functions that ask accept it too and give 0, NULL or "".
 * Out of memory, also inside the compiler, is KJIT_NO_MEMORY, and what the compiler did not expect is
 * KJIT_INTERNAL: the process and the context go on. A compilation that LLVM could not end leaves its
 * memory behind, some megabytes. Where memory runs out while the first one makes LLVM ready, the process compiles no
 * more: what is compiled then is KJIT_NO_MEMORY. Calls need 64 KiB of stack.
 * Threads: a context and what belongs to it may be used from many threads at once; a handle must
 * not be freed while another thread uses it.
 * Lifetimes: everything holds what it needs: a view its memory, an array, module, stream or event
 * its context, queued work its arrays and its module. Handles may be freed in any order, at once
 * after the call that queued their work. What was freed must not be used again: every call finds
 * that out, until 100 more of its kind have been freed, by the program or within kjit's calls; then
 * it may have become another.
 * Fork: in a child process the parent's contexts give KJIT_NO_DEVICE and freeing does nothing; it
 * can make its own. A fork waits for what other threads compile, 10 s at most: what takes longer
 * may hold locks that the child then waits for when it compiles. A thread that may be cancelled
 * (pthread_cancel) disables that around its calls: one that ends within a call keeps its locks.
 * Versions: structs get more members, and programs that were built with another kjit.h than the library go on. Those that end in
 * `reserved` get them there, and keep their size: it must be zeros, as where a struct is set by its members' names or from {0}.
 * Those that begin with `size` get them at their ends: the program sets it to the sizeof; one that cannot be is KJIT_INVALID. A
 * member that an older program does not know is 0, which is as before there was one; what a newer program asks for and the
 * library does not know is KJIT_INVALID, and what it wants to be told there is 0. kjit_arg gets more kinds.
 * The library writes to no file or terminal it was not asked to, but for its cache of compiled code
 * (kjit_context_options.cache); it installs no handlers and never ends the process. */
#ifndef KJIT_H
#define KJIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KJIT_VERSION_MAJOR 0
#define KJIT_VERSION_MINOR 1
#define KJIT_VERSION_PATCH 0

#if defined(__GNUC__)
#define KJIT_API __attribute__((visibility("default")))
#else
#define KJIT_API
#endif

/* ---- Status ---- */

/* Every code, its number (kept for ever) and its general sentence. */
#define KJIT_STATUS_MAP(X) \
    X(OK, 0, "success") \
    X(INVALID, 1, "an argument is not valid") \
    X(NO_MEMORY, 2, "out of memory") \
    X(COMPILE, 3, "the source has errors") \
    X(NOT_FOUND, 4, "no such thing") \
    X(TYPE, 5, "a type does not match") \
    X(SHAPE, 6, "a shape does not match") \
    X(LAUNCH, 7, "the launch is not possible") \
    X(FAULT, 8, "a kernel failed while it ran") \
    X(IO, 9, "a file could not be read or written") \
    X(FORMAT, 10, "a file's content is not as it should be") \
    X(NO_DEVICE, 11, "the device is not available") \
    X(ASSERT, 12, "an assertion failed") \
    X(INTERRUPTED, 13, "interrupted") \
    X(INTERNAL, 14, "internal error") \
    X(LOST, 15, "the device was lost") \
    X(CANCELLED, 16, "cancelled") \
    X(TIMEOUT, 17, "the time has run out") \
    X(LIMIT, 18, "a limit of the context is exceeded")

typedef enum kjit_status {
#define KJIT_STATUS_ENUM(name, number, text) KJIT_##name = number,
    KJIT_STATUS_MAP(KJIT_STATUS_ENUM)
#undef KJIT_STATUS_ENUM
} kjit_status;

KJIT_API const char *kjit_status_name(kjit_status status);    /* "KJIT_TYPE" */
KJIT_API const char *kjit_status_message(kjit_status status); /* "a type does not match" */
KJIT_API const char *kjit_version(void);                      /* "0.1.0" */

/* ---- Types ---- */

/* Element types. bool is one byte, 0 or 1; f16 is IEEE's half, bf16 the upper half of an f32. A
 * small vector is its scalars one behind the other (x, y, z, w), aligned as one of them is, and a
 * complex number its parts (real, imag). The numbers are kept for ever. */
typedef enum kjit_dtype {
    KJIT_BOOL = 0,
    KJIT_I8 = 1,
    KJIT_I16 = 2,
    KJIT_I32 = 3,
    KJIT_I64 = 4,
    KJIT_U8 = 5,
    KJIT_U16 = 6,
    KJIT_U32 = 7,
    KJIT_U64 = 8,
    KJIT_F32 = 9,
    KJIT_F64 = 10,
    KJIT_F16 = 11,
    KJIT_BF16 = 12,
    KJIT_C64 = 13,
    KJIT_C128 = 14,
    KJIT_F32X2 = 16,
    KJIT_F32X4 = 17,
    KJIT_F64X2 = 18,
    KJIT_I32X2 = 19,
    KJIT_I32X4 = 20,
    KJIT_U8X4 = 21,
    KJIT_U32X2 = 22,
    KJIT_U32X4 = 23,
    KJIT_F16X2 = 24,
    KJIT_F16X4 = 25,
    KJIT_BF16X2 = 26,
    KJIT_BF16X4 = 27,
    KJIT_F32X3 = 28,
    KJIT_F64X3 = 29,
    KJIT_F64X4 = 30,
    KJIT_F16X3 = 31,
    KJIT_BF16X3 = 32,
    KJIT_I8X2 = 33,
    KJIT_I8X3 = 34,
    KJIT_I8X4 = 35,
    KJIT_I16X2 = 36,
    KJIT_I16X3 = 37,
    KJIT_I16X4 = 38,
    KJIT_I32X3 = 39,
    KJIT_I64X2 = 40,
    KJIT_I64X3 = 41,
    KJIT_I64X4 = 42,
    KJIT_U8X2 = 43,
    KJIT_U8X3 = 44,
    KJIT_U16X2 = 45,
    KJIT_U16X3 = 46,
    KJIT_U16X4 = 47,
    KJIT_U32X3 = 48,
    KJIT_U64X2 = 49,
    KJIT_U64X3 = 50,
    KJIT_U64X4 = 51,
    KJIT_FIRST_RECORD = 64, /* from here on the records of a context's modules: see kjit_record */
    KJIT_LAST_RECORD = 0xffff
} kjit_dtype;

KJIT_API size_t kjit_dtype_size(kjit_dtype dtype);      /* bytes; 0 for no type, and for records */
KJIT_API const char *kjit_dtype_name(kjit_dtype dtype); /* "f32"; NULL for these */

#define KJIT_MAX_NDIM 6

typedef struct kjit_context kjit_context;
typedef struct kjit_module kjit_module;
typedef struct kjit_array kjit_array;
typedef struct kjit_smart kjit_smart;
typedef struct kjit_stream kjit_stream;
typedef struct kjit_event kjit_event;
typedef struct kjit_launch_plan kjit_launch_plan;
typedef struct kjit_graph kjit_graph;

/* ---- Devices and contexts ---- */

typedef struct kjit_device_info {
    char name[128];  /* "AMD EPYC (2 threads, AVX-512)" */
    char kind[16];   /* "cpu", "cuda" */
    int ordinal;     /* within its kind */
    uint64_t memory; /* bytes in all */
    int units;       /* worker threads, or multiprocessors */
    uint64_t reserved[8];
} kjit_device_info;

/* The devices of this machine, GPUs first; returns how many there are and fills at most `max`. */
KJIT_API int kjit_devices(kjit_device_info *out, int max);

/* Why kjit_devices has none of that kind ("cuda"), as "the NVIDIA driver was not found"; NULL where
 * it has some, or never does. */
KJIT_API const char *kjit_device_absent(const char *kind);

/* What a context may take: each limit, what it is where the context is untrusted and says nothing else, and
 * what it counts. What goes beyond one fails and names it; the context goes on. The status is KJIT_LIMIT, but
 * KJIT_TIMEOUT of launch_ms, KJIT_COMPILE of compile_code, and KJIT_FAULT of launch_depth and launches, which are
 * found where a kernel runs. */
#define KJIT_LIMIT_MAP(X) \
    X(array_bytes, 1073741824, \
      "bytes of arrays' memory: of every kind, with what launches move to a device") \
    X(print_bytes, 1048576, \
      "bytes that are printed between two calls of kjit_set_print, and by a run block") \
    X(value_bytes, 67108864, "bytes of a run block's lists and strings") \
    X(launch_ms, 10000, "milliseconds of a launch that has no timeout_ms") \
    X(run_ms, 60000, "milliseconds of a run block") \
    X(compile_ms, 10000, "milliseconds of a module's or a variant's compilation") \
    X(compile_bytes, 268435456, "bytes of a compilation, without LLVM's own") \
    X(compile_code, 16000, "instructions of a kernel before they are optimised, 64000 at most") \
    X(launch_depth, 24, "launches by launched kernels, one by the other") \
    X(launches, 65536, "launches by kernels that wait at once")

/* All zeros are no limits, in an untrusted context those above; UINT64_MAX is no limit in either.
 * array_bytes: memory of the program's own that is wrapped is not counted, what waits to be given back is:
 * before an array is refused all work is waited for, and that is given back. print_bytes: of the launch
 * or statement that goes beyond them, whole lines are printed as far as they fit. launch_ms and run_ms need a
 * context that is cancellable; one that a launch says itself may be longer. compile_ms is looked at where the
 * compiler takes memory and between its steps, of which LLVM's take their time: compile_code bounds that.
 * launch_depth and launches: of the CPU device; a GPU's driver has its own, 24 and 2048. */
#define KJIT_LIMITS_VERSION 1
typedef struct kjit_limits {
    int version; /* KJIT_LIMITS_VERSION */
#define KJIT_LIMIT_FIELD(name, untrusted, text) uint64_t name;
    KJIT_LIMIT_MAP(KJIT_LIMIT_FIELD)
#undef KJIT_LIMIT_FIELD
    uint64_t reserved[16];
} kjit_limits;

typedef struct kjit_context_options {
    const char *device; /* "auto" (also NULL): the first of kjit_devices; "cpu", "cuda", "cuda:1" */
    int workers; /* CPU device: worker threads, 1024 at most; 0: one a core available to the process */
    /* Directory where compiled code is kept for other contexts and processes; NULL:
     * $KJIT_CACHE_DIR, else kjit in $XDG_CACHE_HOME, else ~/.cache/kjit; "" or "off": nowhere. One
     * that cannot be used is as if there were none. */
    const char *cache;
    /* Deferred deallocation: see kjit_deallocate_pending. */
    int max_pending_count;    /* 0: $KJIT_MAX_PENDING_DEALLOCS_COUNT, else 10; negative: none */
    double max_pending_ratio; /* of the device's memory; 0: $KJIT_MAX_PENDING_DEALLOCS_RATIO, else
                                 0.2; negative: none */
    const struct kjit_allocator *allocator; /* where arrays' memory comes from; NULL: kjit's own */
    /* 1: launches can be ended wherever they are, by kjit_stream_cancel, kjit_cancel and deadlines:
     * the code of loops that may go on for long looks in every turn whether it is to end, which costs
     * some of them time (docs/embedding.md). 0: launches end between blocks, see kjit_stream_cancel. */
    int cancellable;
    /* Whole-array expressions of run blocks whose compiled kernels the context keeps for the next time,
     * also when their module was freed: past that many the one that was used longest ago goes, and is
     * compiled, or loaded from the cache, when it comes again. One is about 160 KiB on the CPU, 230 with
     * a GPU. 0: 256; negative: none is kept. */
    int max_expressions;
    const kjit_limits *limits; /* NULL: all zeros; copied */
    /* 1: sources may be anybody's. The context is cancellable and has limits, indices are looked at whatever
     * sources say and KJIT_CHECK_NONE is KJIT_INVALID, new memory, shared and local arrays are zeros, run
     * blocks read and write no files but those of kjit_run_options, `use` finds no files but in the folders of
     * kjit_compile_options.path. docs/security.md says what that promises, and what it does not. */
    int untrusted;
    uint64_t reserved[16];
} kjit_context_options;

/* NULL options are all defaults. On failure *out is NULL, and `error`, when not NULL, gets the
 * sentence, which is kjit_last_error(NULL)'s: at most error_size bytes with the NUL. */
KJIT_API kjit_status kjit_context_create(const kjit_context_options *options, kjit_context **out,
                                         char *error, size_t error_size);
/* Waits for all queued work, then lets the context go. From then on calls that are given it fail,
 * and kjit_run; but its arrays, modules, streams and events are usable as long as they live, and its
 * device closes when the last of them has been freed too. */
KJIT_API void kjit_context_destroy(kjit_context *ctx);
KJIT_API kjit_status kjit_context_device(kjit_context *ctx, kjit_device_info *out);
/* *can is 1 where a device reaches the other's memory: the same device, CPUs, GPUs that are
 * connected so. Copies are possible all the same (kjit_copy), through host memory. */
KJIT_API kjit_status kjit_can_access_peer(kjit_context *ctx, kjit_context *other, int *can);
/* Waits for the work of every stream; returns the first failure that nobody has been told: of work,
 * also of streams that were freed meanwhile, else of a deallocation. Those of the streams that a run
 * block uses are told by its kjit_run. */
KJIT_API kjit_status kjit_synchronize(kjit_context *ctx);

/* The kernels that run now, "kernel 'scale' (scale.knl:7), grid (4, 1, 1), block (256, 1, 1)", with semicolons
 * between several: at most size bytes with the NUL; returns out, of which nothing is written with a size of 0,
 * and "" where it is NULL. "" when none does, or the device does not tell (a GPU). For a program that is about to
 * end: it takes no locks, and may be called in a signal handler; a module that is freed meanwhile may make nonsense
 * of it. Launches note that they run from the first call on, so make one beforehand. */
KJIT_API const char *kjit_running(kjit_context *ctx, char *out, size_t size);

/* What devices are like: every attribute, its number (kept for ever) and what it is. */
#define KJIT_ATTRIBUTE_MAP(X) \
    X(MAX_THREADS_PER_BLOCK, 1, "threads a block may have") \
    X(MAX_BLOCK_X, 2, "block.x at most") \
    X(MAX_BLOCK_Y, 3, "block.y at most") \
    X(MAX_BLOCK_Z, 4, "block.z at most") \
    X(MAX_GRID_X, 5, "grid.x at most") \
    X(MAX_GRID_Y, 6, "grid.y at most") \
    X(MAX_GRID_Z, 7, "grid.z at most") \
    X(WARP_SIZE, 8, "threads of a warp") \
    X(MULTIPROCESSORS, 9, "multiprocessors, or worker threads") \
    X(THREADS_PER_MULTIPROCESSOR, 10, "threads a multiprocessor holds at once") \
    X(BLOCKS_PER_MULTIPROCESSOR, 11, "blocks a multiprocessor holds at once") \
    X(SHARED_PER_BLOCK, 12, "bytes of shared memory a block may have") \
    X(SHARED_PER_BLOCK_OPTIN, 13, "the same where a launch asks for more, as kjit's do") \
    X(SHARED_PER_MULTIPROCESSOR, 14, "bytes of shared memory of a multiprocessor") \
    X(REGISTERS_PER_BLOCK, 15, "32-bit registers a block may have") \
    X(REGISTERS_PER_MULTIPROCESSOR, 16, "32-bit registers of a multiprocessor") \
    X(CONSTANT_MEMORY, 17, "bytes of constant memory") \
    X(L2_CACHE, 18, "bytes of the second-level cache") \
    X(CLOCK, 19, "kHz of the multiprocessors") \
    X(MEMORY_CLOCK, 20, "kHz of the memory") \
    X(MEMORY_BUS_WIDTH, 21, "bits between chip and memory") \
    X(CAPABILITY_MAJOR, 22, "compute capability: 9 of 9.0") \
    X(CAPABILITY_MINOR, 23, "compute capability: 0 of 9.0") \
    X(ASYNC_ENGINES, 24, "copies that run beside kernels") \
    X(CONCURRENT_KERNELS, 25, "1: kernels of different streams run at once") \
    X(COOPERATIVE_LAUNCH, 26, "1: kernels may have grid_sync()") \
    X(MEMORY_POOLS, 27, "1: memory is allocated in a stream's order") \
    X(MANAGED_MEMORY, 28, "1: there is memory that moves to who uses it") \
    X(CONCURRENT_MANAGED_ACCESS, 29, "1: which host and device may use at once") \
    X(CAN_MAP_HOST_MEMORY, 30, "1: kernels work on page-locked host memory") \
    X(UNIFIED_ADDRESSING, 31, "1: host and device share one address space") \
    X(INTEGRATED, 32, "1: its memory is the host's") \
    X(ECC, 33, "1: its memory corrects errors") \
    X(PCI_DOMAIN, 34, "the domain of its PCI bus") \
    X(PCI_BUS, 35, "its PCI bus") \
    X(PCI_DEVICE, 36, "its number on that bus")

typedef enum kjit_attribute {
#define KJIT_ATTRIBUTE_ENUM(name, number, text) KJIT_ATTRIBUTE_##name = number,
    KJIT_ATTRIBUTE_MAP(KJIT_ATTRIBUTE_ENUM)
#undef KJIT_ATTRIBUTE_ENUM
} kjit_attribute;

/* KJIT_NO_DEVICE for what the device doesn't have: a CPU has no registers a block. */
KJIT_API kjit_status kjit_device_attribute(kjit_context *ctx, kjit_attribute attribute,
                                           int64_t *out);

/* Takes what kernels print: whole lines, those of a launch ordered by block and thread. */
typedef void kjit_print_fn(void *user, const char *text, size_t size);
/* Without one (NULL) it is dropped. It is called by the calls that wait, on their thread: a launch
 * or copy without a stream, a synchronisation, destroying the context; with the lines of all work
 * that has ended; by one thread at a time. It may not use the context: calls are KJIT_INVALID, and
 * neither the context nor a stream of it is freed, other handles are. What launches of a run block
 * print goes to its `write` instead (kjit_run). */
KJIT_API void kjit_set_print(kjit_context *ctx, kjit_print_fn *print, void *user);

/* The calling thread's last failure on this context, or of a call that had none (a handle was NULL,
 * freed or a forked parent's, a context could not be made), if that is newer; for NULL, or a context
 * that was destroyed, the last failure of all. A call whose handles are of several contexts fails on
 * that of its first one. "" when there was none; success doesn't clear it. A
 * failure that has a place in the source is the text a terminal shows: "file:line:col: error: ...",
 * the line, a caret, a hint. Valid until the thread's next call, and no longer than the context of
 * that failure. */
KJIT_API const char *kjit_last_error(kjit_context *ctx);

/* What a kernel's fault is: every kind, its number (kept for ever) and what it is. Kinds may be added. */
#define KJIT_FAULT_MAP(X) \
    X(BOUNDS, 1, "an index is outside of its array") \
    X(ASSERT, 2, "an assertion failed") \
    X(RACE, 3, "two threads access an element, one of them writing, and nothing orders them") \
    X(INIT, 4, "an element is read before something was written there") \
    X(BARRIER, 5, "not all threads of a block reach a barrier") \
    X(GRID_BARRIER, 6, "not all blocks reach a grid_sync()") \
    X(WARP, 7, "the mask of an operation of a warp names other lanes than come to it") \
    X(NAN, 8, "a NaN or an infinity is made of finite numbers") \
    X(INDEX, 9, "what an index is made of wraps") \
    X(REQUIRES, 10, "a `requires` of a kernel that a kernel launches does not hold") \
    X(SHAPE, 11, "a reshape to another number of elements") \
    X(OVERLAP, 12, \
      "an assignment to a view that shares elements with its value, in another order") \
    X(LAUNCH, 13, "a launch by a kernel is not possible") \
    X(CANCELLED, 14, "the launch was cancelled") \
    X(TIMEOUT, 15, "the launch ran out of time")

typedef enum kjit_fault_kind {
#define KJIT_FAULT_ENUM(name, number, text) KJIT_FAULT_##name = number,
    KJIT_FAULT_MAP(KJIT_FAULT_ENUM)
#undef KJIT_FAULT_ENUM
} kjit_fault_kind;

KJIT_API const char *kjit_fault_kind_name(
    kjit_fault_kind kind); /* "KJIT_FAULT_BOUNDS"; NULL: none */

/* How a thread accesses an element. */
typedef enum kjit_access {
    KJIT_ACCESS_NONE = 0,
    KJIT_ACCESS_READ = 1,
    KJIT_ACCESS_WRITE = 2,
    KJIT_ACCESS_ATOMIC = 3
} kjit_access;

/* A fault of a kernel: what the sentence of kjit_last_error says, as values. What a fault does not have is
 * NULL or 0, of block, thread and axis -1. Lines and columns are as in kjit_diagnostic. */
typedef struct kjit_fault {
    size_t size; /* bytes: the program sets it to its sizeof(kjit_fault) before the call */
    kjit_fault_kind kind;
    kjit_status status;         /* KJIT_FAULT; KJIT_CANCELLED, KJIT_TIMEOUT of these kinds */
    const char *text;           /* kjit_last_error's */
    const char *message, *hint; /* the sentence without its place, and what helps, or NULL */
    const char
        *kernel; /* which ran there, also one that a kernel launched; of CANCELLED and TIMEOUT the
                           one that the program did */
    const char *file;
    int line, column, end_line, end_column;
    int64_t block[3],
        thread[3]; /* of BARRIER, CANCELLED and TIMEOUT no thread, of GRID_BARRIER no block */
    /* BOUNDS, RACE, INIT: the array's name where the source has one. BOUNDS: the axis from 0 on, and what it has */
    const char *array;
    int axis;
    int index_unsigned; /* 1: the index is a uint64_t's bits */
    int64_t index, extent;
    int64_t arrived,
        expected; /* BARRIER: threads of the block; GRID_BARRIER: blocks that wait, and all */
    /* RACE: how the thread accesses the element, and the other access */
    kjit_access access, other_access;
    const char *other_file;
    int other_line, other_column, other_end_line, other_end_column;
    int64_t other_block[3], other_thread[3];
} kjit_fault;

/* 1: the failure that kjit_last_error tells of is a kernel's fault, *out is it. Else 0, as for an out that is
 * NULL or says no size, and where there was no memory to keep it; nothing is written then. A launch has one fault,
 * the first by its blocks' and threads' order; a launch without a stream gives it, else the call that is told of
 * the stream's first failure, or kjit_run. No more than out->size bytes are written; what a program knows and the library does not is 0, and
 * size stays. The texts are the library's, as long as that of kjit_last_error: until the thread's next call.
 * Devices give the same of what both find: RACE, INIT, BARRIER and GRID_BARRIER are found by the CPU
 * alone. Success does not clear it. */
KJIT_API int kjit_last_fault(kjit_context *ctx, kjit_fault *out);

/* ---- Modules ---- */

typedef struct kjit_diagnostic {
    const char *file, *message, *hint, *code; /* hint may be NULL */
    int line, column, end_line, end_column;   /* 1-based; columns in characters */
    int severity;                             /* 0 error, 1 warning */
    uint64_t reserved[4];
} kjit_diagnostic;

typedef void kjit_diagnose_fn(void *user, const kjit_diagnostic *diagnostic);

/* A source that another one uses. */
typedef struct kjit_source {
    const char *name; /* for messages; sources of one name are one, which is read once */
    const char *text;
    size_t size;
    uint64_t reserved[2];
} kjit_source;

/* Gives the source that `use "path"` in the source `from` asks for. KJIT_OK: *out is it, and what it points
 * to stays until the next call or the end of the compilation. KJIT_NOT_FOUND: it is looked for elsewhere.
 * All else fails the compilation: the message is that status's. */
typedef kjit_status kjit_find_fn(void *user, const char *path, const char *from, kjit_source *out);

enum { KJIT_UNOPTIMISED = -1 };

/* What running kernels are checked for, bits. What a check finds ends the launch with KJIT_FAULT and its place; the
 * context works on. Those other than BOUNDS cost time, and are made only where they are asked for; one that the
 * context's device does not have is KJIT_INVALID. Forms of kjit_module_emit have the tests that are asked for.
 * BOUNDS: an index outside of its array's axis, before the element is accessed; on every device, and always but
 * with NONE, which leaves indices alone. ALL: all that the device has. RACE, of the CPU: two threads of a launch that
 * access an element, one of them writing, without anything that orders them; both places are told. INIT, of the CPU: an
 * element of a shared or local array that is read before it is written. Launches that are checked for these run on one
 * thread. WARP: an operation of a warp that a lane which its mask names, and that has not returned, does not come to
 * (found by a CPU), or that a lane comes to which it does not name. NAN: an operation that makes a NaN or an infinity
 * of finite numbers. INDEX: sums, differences, products and shifts of 32 bits or fewer that wrap on their way into an
 * index. */
enum {
    KJIT_CHECK_BOUNDS = 1,
    KJIT_CHECK_NONE = 2,
    KJIT_CHECK_RACE = 4,
    KJIT_CHECK_INIT = 8,
    KJIT_CHECK_WARP = 32,
    KJIT_CHECK_NAN = 64,
    KJIT_CHECK_INDEX = 128,
    KJIT_CHECK_ALL = 1 << 30
};

typedef struct kjit_check_info {
    const char *name, *what; /* "bounds", and a line on what it finds */
    unsigned bit;
    uint64_t reserved[4];
} kjit_check_info;

/* Row i of the checks; non-zero while there is one. out may be NULL. */
KJIT_API int kjit_check(int i, kjit_check_info *out);

/* All zeros is the default. */
typedef struct kjit_compile_options {
    int opt_level;   /* 1 to 3; 0: the default, 3; KJIT_UNOPTIMISED: -O0 */
    int no_contract; /* 1: a*b + c rounds twice */
    int verify; /* 1: look at what each stage makes of what is compiled; a mistake is KJIT_COMPILE */
    /* What kjit_module_emit compiles for: "sm_90" and the like; NULL: the context's device. */
    const char *arch;
    /* GPU: bitcode to take math functions from in place of the embedded library, the CUDA toolkit's
     * libdevice.10.bc; NULL: the embedded, with the CPU's results bit for bit. */
    const char *libdevice;
    int ftz; /* 1: GPU: f32 operations take subnormal numbers for zeros */
    /* What code for a CPU may use: a level of x86-64, "x86-64-v2" (SSE4.2), "x86-64-v3" (AVX2, FMA)
     * or "x86-64-v4" (AVX-512), or of aarch64, "armv8-a" or "armv8.1-a" (atomics of one instruction);
     * NULL or "native": all that this machine has. Results are the same bits. Of a level that this
     * machine does not have there are forms (kjit_module_emit), but launches give KJIT_NO_DEVICE. */
    const char *cpu;
    /* Which warnings there are, separated by commas: "off", "all", "error" (one fails the compilation
     * as an error does), names as in docs/diagnostics.md, "no-" in front of those that are not
     * wanted; a later word has its way. NULL: all. A word that is none of these is KJIT_INVALID. */
    const char *warn;
    /* Called for each error and warning of the source, in the order of their places, before
     * kjit_module_compile returns, on its thread; the texts are the module's. NULL: nobody. */
    kjit_diagnose_fn *diagnose;
    void *user; /* the first argument of diagnose and find */
    /* KJIT_CHECK_... bits; 0: BOUNDS, in launches alone; an unknown one is KJIT_INVALID. */
    unsigned check;
    /* Where `use "file.knl"` finds sources, in this order; `use std.NAME` takes the library's, which needs
     * none of it. find: is asked first, on the thread of the call, which may not end by a jump; NULL: nobody.
     * sources: a table, by name, from the folder of the name of the source that says so: "lib/a.knl" that
     * says `use "b.knl"` is given "lib/b.knl". path: folders, separated by colons; NULL: none. What is found
     * in a folder finds others beside itself. kjit_module_compile reads files in those folders and below
     * alone: a path that is absolute, or has '..' in it, names none. */
    kjit_find_fn *find;
    const kjit_source *sources;
    int nsources;
    const char *path;
    int statements; /* 1: the source is what stands in a run block, without `run {` and `}` */
    /* What a run will be given, as kjit_run_options has it: warnings count with these numbers and not with the
     * defaults; of what is no number nothing is counted. */
    const char *const *params;
    int nparams;
    uint64_t reserved[16];
} kjit_compile_options;

/* Checks the source; kernels are compiled at their first launch, once for each combination of
 * types, constants, layouts and block size. `name` is for messages. On KJIT_COMPILE *out is a
 * module that only has diagnostics (free it too). The source is copied. NULL options are all
 * defaults. */
KJIT_API kjit_status kjit_module_compile(kjit_context *ctx, const char *name, const char *source,
                                         size_t size, const kjit_compile_options *options,
                                         kjit_module **out);
/* The same of a file; a path that is not absolute is from the current directory on. Files that it uses are
 * also looked for beside the file that says so, before `path`, and behind it in the folders of the
 * environment's KJIT_PATH, wherever they lead. */
KJIT_API kjit_status kjit_module_load(kjit_context *ctx, const char *path,
                                      const kjit_compile_options *options, kjit_module **out);
KJIT_API void kjit_module_free(kjit_module *mod);

/* All diagnostics as the text a terminal shows, or one JSON object a line; owned by the module. An object
 * has file, line, column, endLine, endColumn, severity ("error", "warning"), code and message; where there
 * is one, hint, fix (a range and its text), note (a file, a range and its message) and, of a name that is none behind
 * its dot, members: the names that may stand there, as far as what stands before the dot is known; of an index, an
 * assert or a race that failed in a function, calls (files and ranges, the innermost first; a note may have its own). */
KJIT_API const char *kjit_module_log(kjit_module *mod);
KJIT_API const char *kjit_module_log_json(kjit_module *mod);
/* Returns how many there are and fills at most `max`, in the order of their places; the texts are the
 * module's. */
KJIT_API int kjit_module_diagnostics(kjit_module *mod, kjit_diagnostic *out, int max);

/* What mends a mistake: the text stands for that from line and column to end_line and end_column, or
 * is put there where they are the same. */
typedef struct kjit_fix {
    const char *text;
    int line, column, end_line, end_column; /* as in kjit_diagnostic */
    uint64_t reserved[4];
} kjit_fix;

/* The fix of the i-th of kjit_module_diagnostics; 1, or 0 where none is known, or no such is. The
 * text is the module's. */
KJIT_API int kjit_module_fix(kjit_module *mod, int i, kjit_fix *out);

/* Fills `const name: f32[256]`, a const array without a value, from an array of its type and shape:
 * for launches from then on. Waits for all queued work; may be done again. No launch of the module
 * may be made at the same time. */
KJIT_API kjit_status kjit_module_set_const(kjit_module *mod, const char *name, kjit_array *array);

/* The source in the one style (docs/language.md, "Layout"): the same program, its blanks, line ends of blocks and
 * indentation changed, comments kept. What is formatted stays as it is. *out is for free(), NUL-terminated;
 * *out_size, when out_size is not NULL, its bytes without the NUL. Names need not be known, nor files that it
 * uses; errors of syntax are KJIT_COMPILE, kjit_last_error has their text. Any thread. */
KJIT_API kjit_status kjit_format(kjit_context *ctx, const char *name, const char *source,
                                 size_t size, char **out, size_t *out_size);

/* Kernel names, in the file's order; NULL past the last. */
KJIT_API const char *kjit_module_kernel(kjit_module *mod, int i);
KJIT_API int kjit_module_has_run(kjit_module *mod);

/* A param of the run block, as the text says it. */
typedef struct kjit_param_info {
    const char *name;
    const char *type;  /* "f32[,]"; NULL: that of its default */
    const char *value; /* its default, on one line; NULL: a run must be given one */
    const char *doc;   /* the comment behind it on its line, or NULL */
    uint64_t reserved[4];
} kjit_param_info;

/* The i-th, in the file's order: 1, or 0 past the last. The texts are the module's. */
KJIT_API int kjit_module_param(kjit_module *mod, int i, kjit_param_info *out);

/* A test of the file, which kjit_run runs with kjit_run_options.test. */
typedef struct kjit_test_info {
    const char *title; /* one line; no other test of the file has it */
    const char *fails; /* what the message of its failure holds; NULL: it is to succeed */
    int line;          /* where it begins */
    uint64_t reserved[4];
} kjit_test_info;

/* The same of its tests; those of files that it uses are not among them. */
KJIT_API int kjit_module_test(kjit_module *mod, int i, kjit_test_info *out);

/* A kernel as its file declares it. */
typedef struct kjit_kernel_decl {
    size_t size;      /* of the struct, set by the caller: sizeof */
    const char *name; /* of a file that the module uses: "blur.rows" */
    const char *head; /* "kernel saxpy<T: float>(a: T, x: T[], y: T[])", on one line */
    const char *doc;  /* the comment right before it, its lines without the #; or NULL */
    const char *file; /* where its name stands, as in kjit_diagnostic */
    int line, column;
    int nparams; /* const ones are counted, too */
    int max_threads,
        min_blocks; /* of @launch_bounds: threads of a block, blocks on a multiprocessor; 0: none */
    const char *attributes;   /* "@fastmath @launch_bounds(256)", on one line; NULL: none */
    const char *requirements; /* "x.size == y.size", a line each; NULL: none */
} kjit_kernel_decl;

typedef struct kjit_kernel_param {
    size_t size; /* likewise */
    const char *name;
    const char *type;  /* as it is written: "f32[,]", "T", "Particle[]" */
    const char *value; /* the default, on one line; NULL: a launch must give it */
    const char *doc;   /* the comment behind it on its line, or NULL */
    int has_dtype; /* 1: dtype is the type's, or that of an array's elements; 0: it is generic */
    kjit_dtype dtype;
    const char *generic; /* the type parameter that the launch decides, "T"; else NULL */
    const char *bound;   /* what it may be: "int", "float", "complex", "number"; NULL: any type */
    int ndim;            /* an array's axes; 0: it is none */
    int is_const;        /* 1: code is made for its value: const n: i32 */
    int may_be_written;  /* 0: the kernel surely writes no element of the array */
} kjit_kernel_param;

/* The module's kernel of that name, and its i-th parameter, from 0 on: KJIT_NOT_FOUND where there is none,
 * KJIT_INVALID for an out that is NULL or says no size. No more than out->size bytes are written; what a program
 * knows and the library does not is 0, and size stays. The texts are the module's. Any thread. */
KJIT_API kjit_status kjit_module_kernel_decl(kjit_module *mod, const char *kernel,
                                             kjit_kernel_decl *out);
KJIT_API kjit_status kjit_module_kernel_param(kjit_module *mod, const char *kernel, int i,
                                              kjit_kernel_param *out);
/* A constant of the module's file, as its text says it; names of an enum are among them, as "Cell.WALL". */
typedef struct kjit_const_info {
    const char *name;
    const char *type;  /* "f32[256]"; NULL: that of its value */
    const char *value; /* NULL: an array that the host fills; of an enum's names the number */
    const char *doc;   /* the comment behind it on its line, or NULL */
    uint64_t reserved[4];
} kjit_const_info;

/* The i-th, in the file's order: 1, or 0 past the last. The texts are the module's. */
KJIT_API int kjit_module_const(kjit_module *mod, int i, kjit_const_info *out);
/* Names of the records that the module's file declares, in its order; NULL past the last. */
KJIT_API const char *kjit_module_record_name(kjit_module *mod, int i);

/* Intermediate forms of every kernel (or the one named): what = "tokens" and "ast" (always
 * of the whole file), "checks" (which indices are known to be inside), "notes"
 * (what kjit explain shows: lines cut by tabs, whose form may change), "tast", "uniform", "regions",
 * "llvm", "opt", "asm"; for a GPU also "ptx", the same as "asm", and "cubin", which takes a driver.
 * *out is for free(), NUL-terminated; *size, when size is not NULL, its bytes without the NUL.
 * Generic types stand as f32, or i32 where only integers are allowed, const parameters as
 * kjit_module_assume says, else as their defaults or 1, arrays in C order and apart from one
 * another; `block` may be NULL: then what a kernel requires or is bounded to, else (256, 1, 1). Indices are checked in
 * them where the options have KJIT_CHECK_BOUNDS. */
KJIT_API kjit_status kjit_module_emit(kjit_module *mod, const char *what, const char *kernel,
                                      const int64_t block[3], char **out, size_t *size);

/* ---- Code that is made ahead of time ---- */

typedef struct kjit_image_options {
    size_t size; /* of the struct: sizeof */
    const char
        *cpus; /* levels of CPUs, "x86-64-v2,armv8-a"; NULL: all of this one's family; "": none */
    const char *archs; /* GPUs, "sm_75,sm_90"; NULL: none */
    /* Is told what there is code for: a kernel, and what launches of it fix, "block (256, 1, 1), T = f32"; the texts
     * are valid during the call, in which no other may be made. NULL: nobody. */
    void (*told)(void *user, const char *kernel, const char *launch);
    void *user;
} kjit_image_options;

/* The module as bytes, for programs that have no compiler: kjit_module_from_image makes a module of them again. It
 * has code for launches with such types, const parameters and blocks as the module's launches until now had, for
 * arrays of any sizes and strides; of a kernel that was not launched, and whose const parameters have values, for such
 * as kjit_module_emit shows. Each is compiled for every target, of which a launch takes the best that its device
 * runs. Options may be NULL. *out is for free(). KJIT_INVALID for a module whose launches are looked at for races or
 * what was not set, or that is of an image; KJIT_COMPILE where it cannot be compiled for a target. Any thread. */
KJIT_API kjit_status kjit_module_image(kjit_module *mod, const kjit_image_options *options,
                                       void **out, size_t *size);
/* A module of an image that this version of kjit made, in a context that is cancellable, or untrusted, if that was.
 * The bytes are the program's: they stay as they are as long as the module lives, and hold machine code that is run,
 * so that they must come from who is trusted. The module has no run block, tests and forms, and nothing of it is kept
 * in the cache; a launch that no code fits is KJIT_COMPILE. KJIT_NO_DEVICE: none of its code is for the context's device. KJIT_INVALID: they are no image, or of
 * another version. */
KJIT_API kjit_status kjit_module_from_image(kjit_context *ctx, const void *image, size_t size,
                                            kjit_module **out);
/* The same of bytes that something else owns: `deleter` is called with `owner`, once, when the module and all work of it have
 * gone; not when this call fails. That may be within any call and on any thread, also one of the
 * library's: it may call no function of kjit's. */
KJIT_API kjit_status kjit_module_from_image_owned(kjit_context *ctx, const void *image, size_t size,
                                                  void *owner, void (*deleter)(void *owner),
                                                  kjit_module **out);

/* What a kernel takes of a GPU's multiprocessor, in the specialisation that kjit_module_emit shows.
 */
typedef struct kjit_kernel_info {
    int registers;    /* a thread */
    int64_t local;    /* bytes of local memory a thread: spills and arrays that have no registers */
    int64_t shared;   /* bytes of shared memory a block that don't depend on the launch */
    int64_t constant; /* bytes of constant memory */
    int max_threads;  /* threads a block may have */
    int blocks;       /* blocks that fit on a multiprocessor together, of the block shape given */
    double occupancy; /* their part of the threads a multiprocessor can hold: 0 to 1 */
    uint64_t reserved[8];
} kjit_kernel_info;

/* KJIT_NO_DEVICE on the CPU device, whose code has no such figures, and for another `arch` than the
 * device's. */
KJIT_API kjit_status kjit_module_kernel_info(kjit_module *mod, const char *kernel,
                                             const int64_t block[3], kjit_kernel_info *out);

/* ---- Arrays ---- */

/* Where elements are. Host memory: a launch on a GPU moves arrays of HOST and PINNED memory there
 * and back; copies in a stream from and to PINNED and MAPPED memory run beside the
 * host, those from and to HOST memory take its processor, when the stream gets there. A CPU works
 * on all kinds where they are. The program may read and write all but DEVICE memory itself,
 * when no work that uses it is under way. */
typedef enum kjit_memory {
    KJIT_HOST = 0,
    KJIT_DEVICE = 1,
    KJIT_PINNED = 2, /* the host's, page-locked */
    KJIT_MAPPED = 3, /* the host's, page-locked; kernels work on it where it is */
    KJIT_MANAGED = 4 /* the host's and the device's: it moves to who touches it */
} kjit_memory;

/* A new array with unspecified elements, 64-byte aligned. order is 'C' or 'F'. What does not fit in
 * the memory there is gives KJIT_NO_MEMORY here, not a crash when it is touched. */
KJIT_API kjit_status kjit_array_create(kjit_context *ctx, kjit_dtype dtype, int ndim,
                                       const int64_t *shape, char order, kjit_memory memory,
                                       kjit_array **out);
/* How an array is made; all zeros is a host array in C order. */
typedef struct kjit_array_options {
    kjit_memory memory;
    char order;             /* 'C', 'F'; 0: C, or of kjit_array_like the other's */
    const int64_t *strides; /* [ndim], bytes; NULL: dense in `order`. Negative ones are possible */
    int portable;           /* PINNED, MAPPED: 1: page-locked for every device's context */
    int wc;                 /* PINNED, MAPPED: 1: write-combined: slow for the host to read */
    int attach_host;        /* MANAGED: 1: the host is who touches it first */
    int shareable;          /* DEVICE: 1: other processes can open it */
    /* DEVICE: allocated in the stream's order, and given back in it: the call doesn't wait. Work in
     * this stream can use it at once, elsewhere it must come after this stream has got there; what
     * is freed while this stream uses it goes when that has run, and is never pending. NULL, a
     * default or external stream, on a CPU and where a GPU has no pools: the ordinary way, which
     * every stream can use at once. */
    kjit_stream *stream;
    uint64_t reserved[8];
} kjit_array_options;

/* NULL options are all defaults. A set option that is another kind's is KJIT_INVALID;
 * KJIT_NO_DEVICE for managed memory where the device has none. */
KJIT_API kjit_status kjit_array_create_with(kjit_context *ctx, kjit_dtype dtype, int ndim,
                                            const int64_t *shape, const kjit_array_options *options,
                                            kjit_array **out);
/* A new array of the same type and shape, in F order if the other is, else in C order. NULL
 * options: in memory of its kind. */
KJIT_API kjit_status kjit_array_like(kjit_array *a, const kjit_array_options *options,
                                     kjit_array **out);
/* An array over the same memory as a host array's, which is page-locked (NULL options: KJIT_PINNED)
 * until the new array, its views and queued work have gone; options: memory (PINNED or MAPPED) and
 * portable. Memory that was wrapped must stay until then: until kjit_array_free has returned, or
 * what synchronises with the last queued work. KJIT_INVALID for what is page-locked already, as a
 * whole or in part. */
KJIT_API kjit_status kjit_array_register(kjit_array *host, const kjit_array_options *options,
                                         kjit_array **out);
/* An array over memory of the caller's, which must outlive it and its views; strides in bytes, NULL
 * for C order. KJIT_INVALID where the memory isn't of the kind it is said to be, for a GPU's
 * PINNED, MAPPED and MANAGED, and for strides that let an element begin amid another's number, as
 * those do that count elements. Any others can be copied, saved and printed; a launch wants elements
 * aligned to their size. */
KJIT_API kjit_status kjit_array_wrap(kjit_context *ctx, void *data, kjit_dtype dtype, int ndim,
                                     const int64_t *shape, const int64_t *strides,
                                     kjit_memory memory, kjit_array **out);
/* The same over memory that something else owns: `deleter`, when not NULL, is called with `owner`,
 * once, when the last array, view and queued work over it has gone; not when this call fails. That
 * may be within any call and on any thread, also one of the library's: it may call no function of
 * kjit's. */
KJIT_API kjit_status kjit_array_wrap_owned(kjit_context *ctx, void *data, kjit_dtype dtype,
                                           int ndim, const int64_t *shape, const int64_t *strides,
                                           kjit_memory memory, void *owner,
                                           void (*deleter)(void *owner), kjit_array **out);
/* A view: per axis start, stop, step as in Python after clipping: start and stop are within -1 ..
 * extent, the step may be negative. NULL for a list: whole axes, from the end where the step is
 * negative; step 1. Shares the memory and keeps it alive. */
KJIT_API kjit_status kjit_array_slice(kjit_array *a, const int64_t *start, const int64_t *stop,
                                      const int64_t *step, kjit_array **out);
/* A view without axis `axis`, at `index`. */
KJIT_API kjit_status kjit_array_at(kjit_array *a, int axis, int64_t index, kjit_array **out);
/* A view of another shape: the elements in C or F order (order 'C' or 'F') fill it in the same
 * order. One extent may be -1: what is left over. KJIT_SHAPE when the number of elements differs,
 * and when the elements would have to be moved: any dense array can be reshaped in its own order,
 * others where NumPy would not copy either. */
KJIT_API kjit_status kjit_array_reshape(kjit_array *a, int ndim, const int64_t *shape, char order,
                                        kjit_array **out);
/* A view with one axis, of all elements in C or F order; as kjit_array_reshape. */
KJIT_API kjit_status kjit_array_ravel(kjit_array *a, char order, kjit_array **out);
/* A view whose axis i is the array's axes[i]: [ndim], each axis once; NULL: in reverse. */
KJIT_API kjit_status kjit_array_transpose(kjit_array *a, const int *axes, kjit_array **out);
/* Views of `section` elements each, the last of what is left, of an array with one axis: *n is how
 * many there are, out gets the first `max` of them, NULL behind the last. On failure out has
 * none. */
KJIT_API kjit_status kjit_array_split(kjit_array *a, int64_t section, kjit_array **out, int64_t max,
                                      int64_t *n);
/* A view of the same memory as elements of another type: vectors as their scalars, with one axis
 * more, the last; or scalars as vectors of that type, which takes the last axis: its elements lie
 * side by side, as many as a vector has; or numbers as other numbers of as many bytes, bit by bit.
 * The array's own type is a plain view. */
KJIT_API kjit_status kjit_array_view(kjit_array *a, kjit_dtype dtype, kjit_array **out);
/* A view of one field of each element: "x" to "w" of vectors, "real" and "imag", a record's by its
 * name. Of an array in the record the view has its axes behind the array's own. */
KJIT_API kjit_status kjit_array_field(kjit_array *a, const char *name, kjit_array **out);
/* The memory goes with its last array, view and queued work. */
KJIT_API void kjit_array_free(kjit_array *a);

KJIT_API kjit_dtype kjit_array_dtype(const kjit_array *a);
KJIT_API int kjit_array_ndim(const kjit_array *a);
KJIT_API int64_t kjit_array_size(const kjit_array *a);           /* elements */
KJIT_API const int64_t *kjit_array_shape(const kjit_array *a);   /* [ndim] */
KJIT_API const int64_t *kjit_array_strides(const kjit_array *a); /* [ndim], bytes */
/* Do the elements lie densely in C or F order ('C', 'F')? An array without elements, or axes longer
 * than 1, does in both. */
KJIT_API int kjit_array_is_contiguous(const kjit_array *a, char order);
KJIT_API kjit_memory kjit_array_memory(const kjit_array *a);
/* What the array's memory holds may only be read from now on: a launch that would write it, copies there and
 * kjit_array_set are KJIT_INVALID, as of its views. For memory that a program wraps and must not change, before
 * it is used. */
KJIT_API kjit_status kjit_array_protect(kjit_array *a);
/* 1 for what came read-only through DLPack or is protected, and its views. */
KJIT_API int kjit_array_is_read_only(const kjit_array *a);
/* The first element; an address of the device's for KJIT_DEVICE. */
KJIT_API void *kjit_array_data(const kjit_array *a);

/* One element: its bytes, of the array's dtype, at `value` (any alignment); index [ndim], each from
 * 0 to the extent less 1, NULL for an array without axes. After all work queued before, and done on
 * return. */
KJIT_API kjit_status kjit_array_get(kjit_array *a, const int64_t *index, void *value);
KJIT_API kjit_status kjit_array_set(kjit_array *a, const int64_t *index, const void *value);
/* All elements become the one at `value`: its bytes, of the array's dtype, copied by the call. Any
 * memory and layout; with a stream it is queued as kjit_copy is, and may be part of a graph;
 * without (NULL) it comes after all work queued before, and is done on return. */
KJIT_API kjit_status kjit_array_fill(kjit_array *a, const void *value, kjit_stream *stream);

/* Copies all elements between arrays of one dtype and shape, any layouts, overlapping or not, host
 * or device. With a stream it is queued (wrapped memory must live until it ran); without (NULL) it
 * comes after all work queued before on any stream, and is done on return.
 * The arrays may belong to different contexts, on any devices; kjit_last_error(dst's) then has the
 * sentence. Such a stream is one of either context, or of the GPU's where the other is a CPU; the
 * other context's work must have ended. Between two GPUs, arrays that are not dense in one order
 * go through host memory: the call then waits for the stream, and is done on return. */
KJIT_API kjit_status kjit_copy(kjit_array *dst, kjit_array *src, kjit_stream *stream);
/* A new array with the same elements, in F order if the source is, else in C order. */
KJIT_API kjit_status kjit_to_device(kjit_array *host, kjit_stream *stream, kjit_array **out);
KJIT_API kjit_status kjit_to_host(kjit_array *device, kjit_stream *stream, kjit_array **out);

/* ---- Files ---- */

/* By the path's ending (a load of any other is taken for .npy).
 * .npy: every dtype, C and F order, versions 1 to 3, either byte order is read; bit for bit what
 * NumPy writes. An array of vectors is one of their scalars there, with one axis more, the last.
 * .csv, .tsv, .txt: tables of numbers, [rows, columns]; of one column [rows]. Columns are separated
 * by what the first line has of `,`, `;` and tabs, in .txt by blanks; lines that begin with # are
 * comments, and a first line with something that is no number has the names of the columns. Without
 * a dtype they are i64 where all are whole (12, 0x0c), u64 where only that holds them, bool where all
 * are true or false (1 and 0 beside numbers), else f64. A cell that is empty, NA, n/a, nan, null or none,
 * in capitals or not, is NaN, which only floats have. Numbers are written with as many digits as read
 * back the same; a `.gz` behind the ending is gzip.
 * .png, .pgm, .ppm, .pnm: pictures, u8 or u16: grey [h, w], with transparency (PNG) [h, w, 2], colour
 * [h, w, 3], with transparency (PNG) [h, w, 4]; palettes become colours. Saved are these, bool (0 is
 * black) and floats, of which `low` becomes black and `high` white. .pfm: f32 [h, w] or [h, w, 3]. .apng: such
 * pictures, [n, h, w] or [n, h, w, 2 to 4], `fps` a second; a load has the first. .npz: several arrays with names, by
 * libzip where that is installed, else KJIT_IO; a NULL name is arr_0, arr_1 ...; a load takes the name, or the only one.
 * .jpg, .jpeg: read only, u8 [h, w] or [h, w, 3], by libturbojpeg where that is installed, else KJIT_IO.
 * .wav: sound, [frames] or [frames, channels]: PCM of 8, 16, 24 and 32 bits and floats of 32 and 64. Without a dtype they
 * are f32, integers parts of their largest, from -1 to 1; as an integer type, which must hold them, they are the file's
 * own integers (u8 of 8 bits, with 128 in the middle). Saved are floats, as 32 bits, and u8, i16 and i32 as PCM.
 * .raw, .bin, .dat: the elements alone, of numbers or vectors of them, in C order; a load says of which dtype (KJIT_TYPE
 * without). Saved in C order, the low byte first.
 * A save writes a temporary file beside the target and renames it: a failure leaves nothing
 * half-written. Targets that are no regular files are refused, links are followed. Both come after
 * all work queued before. */
KJIT_API kjit_status kjit_array_load(kjit_context *ctx, const char *path, kjit_array **out);
/* How a file becomes an array. All zeros, and NULL: as it is there. */
typedef struct kjit_load_options {
    const char *name; /* of a table's column; NULL: all columns */
    int as_dtype;     /* 1: elements become `dtype` */
    /* A scalar: numbers are converted as f32(x) does; pictures scaled, from 0 to 1 where it is a float.
     * KJIT_FORMAT for a cell of a table that it does not hold. Or a record: a .npy file of records, as
     * below, or a table with columns of its fields' names, in any order ("pos.x" of a vector's). */
    kjit_dtype dtype;
    const char
        *format; /* "raw", "csv", ...: the file is read as one with that ending; NULL: by its own */
    /* Of raw bytes, where dtype is what the elements there are of, and nothing is converted: */
    const int64_t
        *shape; /* [ndim], one extent may be -1: as large as the file allows. What the file has
                             beyond that is left. NULL: one axis, of all; a KJIT_FORMAT where bytes are left */
    int ndim;
    int big_endian; /* 1: of each number the high byte comes first */
    int64_t offset; /* bytes before the first element */
    uint64_t reserved[8];
} kjit_load_options;
KJIT_API kjit_status kjit_array_load_with(kjit_context *ctx, const char *path,
                                          const kjit_load_options *options, kjit_array **out);
/* A .npy file of records as elements of that type. Its fields must be the record's, by name, type
 * and shape; their order, the gaps between them and their bytes' order may be others. What is saved
 * is as NumPy writes a structured dtype with these offsets, and zeros in the gaps. */
KJIT_API kjit_status kjit_array_load_records(kjit_context *ctx, const char *path, kjit_dtype dtype,
                                             kjit_array **out);
KJIT_API kjit_status kjit_array_save(kjit_array *a, const char *path);
typedef struct kjit_save_options {
    double low, high;    /* what becomes black and white in a picture of floats; both 0: 0 and 1 */
    int64_t sample_rate; /* frames a second of sound (.wav); 0: 44100 */
    double fps;          /* pictures a second of an animation (.apng); 0: 25 */
    uint64_t reserved[8];
} kjit_save_options;
typedef struct kjit_named_array {
    const char *name; /* of a table's column, in an archive; or NULL */
    kjit_array *array;
    uint64_t reserved[2];
} kjit_named_array;
/* An array as kjit_array_save writes it (n is 1); or several of this context: in an archive, or of one axis and one
 * length as the columns of a table. NULL options are all zeros. */
KJIT_API kjit_status kjit_arrays_save(kjit_context *ctx, const char *path,
                                      const kjit_named_array *arrays, int n,
                                      const kjit_save_options *options);

/* How many frames a second a .wav file has. */
KJIT_API kjit_status kjit_sample_rate(kjit_context *ctx, const char *path, int64_t *out);

/* The elements as NumPy 2.4 prints them, of an array without axes the number as `print` writes it,
 * after all work queued before; *out is for free(). */
KJIT_API kjit_status kjit_array_format(kjit_array *a, char **out);

/* ---- Streams and events ---- */

/* Work in a stream runs in order, beside the caller and other streams. A kernel's failure there is
 * given by the next call that synchronises the stream or the context; events tell no failures, see
 * kjit_stream_failure.
 * A stream may be NULL but for kjit_graph_begin and the functions that begin with kjit_stream_ (of
 * which kjit_stream_wait says what NULL is): the call then waits for all work queued before on every
 * stream, runs, and has finished on return. */

KJIT_API kjit_status kjit_stream_create(kjit_context *ctx, kjit_stream **out);
/* The default streams are the context's: the same handle each time, valid until the context is
 * destroyed; freeing one does nothing.
 * Work in the legacy default stream waits for all that was put before it into the other streams,
 * and theirs for what was put before into the legacy one. On a GPU it is the driver's own: other
 * libraries' work there is ordered with it too. kjit_stream_default is another name of it. */
KJIT_API kjit_status kjit_stream_default(kjit_context *ctx, kjit_stream **out);
KJIT_API kjit_status kjit_stream_legacy_default(kjit_context *ctx, kjit_stream **out);
/* The calling thread's own, on a GPU the driver's: a stream like any other, but that another thread
 * which puts work into it is told KJIT_INVALID. It goes with the thread. */
KJIT_API kjit_status kjit_stream_per_thread_default(kjit_context *ctx, kjit_stream **out);
/* A stream of another library's, a CUstream or cudaStream_t of the context's device, which must
 * outlive the handle and is never destroyed by kjit. It is ordered with the work that others put
 * there; synchronising and asking take that in. 1 is the legacy default stream, 2 the thread's, as
 * in __cuda_array_interface__; 0 is KJIT_INVALID. KJIT_NO_DEVICE on a CPU (but for 1 and 2).
 * While the stream is captured into a graph of the driver's (cudaStreamBeginCapture), what would put
 * work there, wait for it or ask is KJIT_INVALID, and the capture goes on; so it is with kjit's own
 * streams that others were told of. All other calls may be made meanwhile, whatever the mode. */
KJIT_API kjit_status kjit_stream_external(kjit_context *ctx, void *handle, kjit_stream **out);
/* Does not wait: the work in it runs on, and a failure that nobody has been told is left for
 * kjit_synchronize. But for a stream of another library's, whose work that kjit put there has ended. */
KJIT_API void kjit_stream_free(kjit_stream *s);
/* The driver's CUstream, for other libraries; NULL on a CPU. */
KJIT_API void *kjit_stream_handle(const kjit_stream *s);
/* From 1, in the order in which the context's streams were made: kjit_trace_event has it. */
KJIT_API int kjit_stream_number(const kjit_stream *s);
/* Waits for the stream's work. Tells its first failure since someone was told; of those behind it
 * nobody is. */
KJIT_API kjit_status kjit_stream_synchronize(kjit_stream *s);
KJIT_API kjit_status kjit_stream_query(kjit_stream *s, int *done); /* never waits */
/* The first failure of the stream's work that has ended, which nobody has been told: it is told then, as by
 * kjit_stream_synchronize. KJIT_OK where there is none yet. Never waits: for who has waited by an event. */
KJIT_API kjit_status kjit_stream_failure(kjit_stream *s);

/* Ends the launches that were put into the stream before, by any thread, and returns at once: those that
 * run stop, those that wait do not begin, each of them fails with KJIT_CANCELLED and says where it was.
 * Their arrays have what was written until then. The stream's first failure is told as ever; copies and
 * functions in it are done, and so is what is put there from now on.
 * A kernel stops in a turn of a loop or between two blocks in a context whose options have `cancellable`.
 * In others on a CPU it stops between groups of blocks (8 groups a worker), on a GPU all launches run to their
 * end. */
KJIT_API kjit_status kjit_stream_cancel(kjit_stream *s);
/* The same of all launches in the context: of every stream, and, where it is cancellable, those that other
 * threads have made without one. */
KJIT_API kjit_status kjit_cancel(kjit_context *ctx);
enum { KJIT_MAX_MS = 1 << 30 }; /* of a deadline or a timeout: twelve days */
/* The context's work ends so many milliseconds from now: launches that run or wait then, and later ones,
 * fail with KJIT_TIMEOUT, a run block ends between two statements, and nothing is compiled for a launch any
 * more. What is in compilation is finished; copies and files are not looked at. 0: no deadline, work goes on
 * as ever; a new one takes the old one's place. At most KJIT_MAX_MS; the context must be cancellable; else
 * KJIT_INVALID. */
KJIT_API kjit_status kjit_set_deadline(kjit_context *ctx, double ms);

/* status: the stream's first failure that nobody has been told yet, else KJIT_OK. Who synchronises
 * is told all the same. */
typedef void kjit_stream_fn(kjit_stream *s, kjit_status status, void *user);
/* Calls fn(s, ..., user) once, after all work put into the stream before, on another thread; later
 * work waits until it returns, and then runs whatever the status was. The function may use neither
 * the context, like a kjit_print_fn, nor the GPU's driver. Nor may it wait for another stream's: they
 * may be called one after another, in any order. */
KJIT_API kjit_status kjit_stream_callback(kjit_stream *s, kjit_stream_fn *fn, void *user);

/* Later work of the stream waits for the event's last record before this call: for nothing when
 * there was none. NULL: the call waits. */
KJIT_API kjit_status kjit_stream_wait(kjit_stream *s, kjit_event *e);
/* timing: 1 for events that kjit_event_elapsed may be asked of; 0: cheaper ones, for order. */
KJIT_API kjit_status kjit_event_create(kjit_context *ctx, int timing, kjit_event **out);
KJIT_API void kjit_event_free(kjit_event *e);
KJIT_API kjit_status kjit_event_record(kjit_event *e, kjit_stream *s);
/* Returns at once when the event was never recorded. */
KJIT_API kjit_status kjit_event_synchronize(kjit_event *e);
/* *done: its last record has been reached, or there was none. Never waits. */
KJIT_API kjit_status kjit_event_query(kjit_event *e, int *done);
/* Milliseconds between two events with timing that were recorded and reached, else KJIT_INVALID. */
KJIT_API kjit_status kjit_event_elapsed(kjit_event *from, kjit_event *to, double *ms);

/* ---- Launches ---- */

/* Limits, the same on every device: grid.x below 2^31, grid.y and grid.z at most 65535; block.x and
 * block.y at most 1024, block.z 64, 1024 threads in all, and what @launch_bounds says; 227 KiB of
 * shared memory a block. */
typedef struct kjit_config {
    int64_t grid[3];     /* blocks; 0 in [1] or [2] means 1; 0 in [0] is an empty launch */
    int64_t block[3];    /* threads; 0 in [1] or [2] means 1 */
    kjit_stream *stream; /* NULL: the launch has finished on return */
    /* Milliseconds from when the launch is put into its stream, which is behind its compilation and copies of
     * host arrays. If its kernel runs when they are over it ends with KJIT_TIMEOUT; if it has not begun it fails
     * so when its turn comes: what it waits for, in its stream or for a place on the device, goes on. 0: any
     * time; at most KJIT_MAX_MS. KJIT_INVALID in a context that is not cancellable, and where a graph is recorded. */
    double timeout_ms;
    uint64_t reserved[4];
} kjit_config;

typedef enum kjit_arg_kind {
    KJIT_ARG_ARRAY,
    KJIT_ARG_INT,
    KJIT_ARG_FLOAT,
    KJIT_ARG_BOOL,
    KJIT_ARG_VALUE,
    KJIT_ARG_SMART,
    KJIT_ARG_IN,
    KJIT_ARG_OUT,
    KJIT_ARG_UINT
} kjit_arg_kind;

/* One argument: arrays as they are, numbers converted to the parameter's type. What that type
 * cannot hold is KJIT_TYPE: a number out of range, a float for an integer, a bool for a number or
 * the reverse. A generic type is its arrays'; where only numbers have it, that of those given with one
 * (kjit_arg_value), else i32 (i64, u64 if too big) or f32. `name`, when not NULL, gives the parameter
 * by name (const parameters usually); the others are taken in order. */
typedef struct kjit_arg {
    kjit_arg_kind kind;
    const char *name;
    union {
        kjit_array *array;
        int64_t i;
        uint64_t u;
        double f;
        kjit_smart *smart;
        const void *value; /* of KJIT_ARG_VALUE: an element, read by the launch */
    } u;
    kjit_dtype dtype; /* of KJIT_ARG_VALUE: its type; the parameter's, where this is no number */
} kjit_arg;

static inline kjit_arg kjit_arg_array(kjit_array *a)
{
    kjit_arg arg;
    arg.kind = KJIT_ARG_ARRAY;
    arg.name = NULL;
    arg.u.array = a;
    return arg;
}
/* A host array that the launch only reads: what the kernel writes does not come back. On a CPU that is
 * a copy, made where the kernel writes it. Or one that a GPU only brings back: elements are
 * unspecified until the kernel writes them, and come back so; on a CPU it is as kjit_arg_array's,
 * which goes both ways as far as the kernel reads and writes. Arrays in other memory are worked on
 * where they are, as ever. */
static inline kjit_arg kjit_arg_in(kjit_array *a)
{
    kjit_arg arg = kjit_arg_array(a);
    arg.kind = KJIT_ARG_IN;
    return arg;
}
static inline kjit_arg kjit_arg_out(kjit_array *a)
{
    kjit_arg arg = kjit_arg_array(a);
    arg.kind = KJIT_ARG_OUT;
    return arg;
}
static inline kjit_arg kjit_arg_i64(int64_t i)
{
    kjit_arg arg;
    arg.kind = KJIT_ARG_INT;
    arg.name = NULL;
    arg.u.i = i;
    return arg;
}
static inline kjit_arg kjit_arg_u64(uint64_t u)
{
    kjit_arg arg;
    arg.kind = KJIT_ARG_UINT;
    arg.name = NULL;
    arg.u.u = u;
    return arg;
}
static inline kjit_arg kjit_arg_f64(double f)
{
    kjit_arg arg;
    arg.kind = KJIT_ARG_FLOAT;
    arg.name = NULL;
    arg.u.f = f;
    return arg;
}
static inline kjit_arg kjit_arg_bool(int b)
{
    kjit_arg arg;
    arg.kind = KJIT_ARG_BOOL;
    arg.name = NULL;
    arg.u.i = b != 0;
    return arg;
}
/* A vector, complex number or record, in memory. A complex parameter takes either complex type,
 * and real numbers too; one that is a tuple any record of its types, by place. Of a scalar type: a
 * number that is of it. */
static inline kjit_arg kjit_arg_value(kjit_dtype dtype, const void *value)
{
    kjit_arg arg;
    arg.kind = KJIT_ARG_VALUE;
    arg.name = NULL;
    arg.u.value = value;
    arg.dtype = dtype;
    return arg;
}
static inline kjit_arg kjit_arg_named(const char *name, kjit_arg arg)
{
    arg.name = name;
    return arg;
}

/* What forms (kjit_module_emit) and kjit_module_kernel_info take the const parameters of that name for from then on, in
 * all kernels that have one: an integer, a float or a bool that fits their types, as at a launch
 * (those of files that are used take it where it fits). Launches see nothing of it.
 * Not at the same time as another call of the module. KJIT_NOT_FOUND: no kernel has one of that name. */
KJIT_API kjit_status kjit_module_assume(kjit_module *mod, const char *name, kjit_arg value);

/* Host arrays are moved to the device and, where the kernel writes them, back; a launch with host
 * arrays on a stream moves them in the stream. (The CPU device works on them where they are.) The
 * kernel's `requires` are checked before anything runs. With an empty grid nothing runs or is
 * compiled, but the arguments are checked, as far as that needs no compiled kernel: a `requires`,
 * and that an array which the kernel writes is none to read alone, are not.
 * KJIT_TYPE: an argument's type; KJIT_SHAPE: its number of dimensions, an extent over 2^48;
 * KJIT_LAUNCH: the number of arguments, the grid, the block, a `requires`; KJIT_COMPILE,
 * KJIT_NO_MEMORY; KJIT_FAULT: an index outside of its array, a failed assert. */
KJIT_API kjit_status kjit_launch(kjit_module *mod, const char *kernel, const kjit_config *config,
                                 const kjit_arg *args, int nargs);
/* One thread an element: the block size is chosen (by occupancy, on a GPU), the grid covers n; the
 * kernel checks grid(1) against its sizes. */
KJIT_API kjit_status kjit_launch_forall(kjit_module *mod, const char *kernel, int64_t n,
                                        kjit_stream *stream, const kjit_arg *args, int nargs);

/* The threads a block that kjit_launch_forall takes for these arguments and as many elements as
 * the largest array has. */
KJIT_API kjit_status kjit_forall_block(kjit_module *mod, const char *kernel, const kjit_arg *args,
                                       int nargs, int64_t *threads);
/* What this very launch takes of a GPU's multiprocessor: kjit_module_kernel_info of the code that
 * it runs, with the shared memory that its values ask for. Nothing is launched. KJIT_NO_DEVICE on
 * the CPU device, whose code has no such figures. */
KJIT_API kjit_status kjit_launch_info(kjit_module *mod, const char *kernel,
                                      const kjit_config *config, const kjit_arg *args, int nargs,
                                      kjit_kernel_info *out);

/* The blocks that a grid of a kernel with grid_sync() may have at most, launched with these
 * arguments and blocks of this shape: all of them are resident at once. A launch of more is
 * KJIT_LAUNCH. On the CPU it is as many as keep 1 GiB of shared memory and of values that live
 * across barriers. */
KJIT_API kjit_status kjit_max_cooperative_blocks(kjit_module *mod, const char *kernel,
                                                 const int64_t block[3], const kjit_arg *args,
                                                 int nargs, int64_t *out);

/* ---- Prepared launches and graphs ---- */

/* A launch that is prepared: arguments are checked and bound once, the code is compiled, and what
 * the device takes is kept; a run makes the launch anew. The plan has its own views of the arrays
 * and its own copies of values, so none of the caller's handles need live on. Elements are read
 * when it runs. `config->stream` is not looked at.
 * A plan may be run by many threads at once, but not while it is changed or freed. Runs with host
 * arrays on a GPU or smart arrays, of a kernel that prints or asserts, or of one that reads a const
 * array which the host fills, cost what a kjit_launch does. */
KJIT_API kjit_status kjit_launch_plan_create(kjit_module *mod, const char *kernel,
                                             const kjit_config *config, const kjit_arg *args,
                                             int nargs, kjit_launch_plan **out);
/* Gives a parameter, by its number in the declaration (from 0, const parameters too), another
 * argument for later runs; arg.name is not looked at. All is checked as in a launch; when that
 * fails the plan stays as it was. */
KJIT_API kjit_status kjit_launch_plan_set(kjit_launch_plan *plan, int param, kjit_arg arg);
/* Launches in a stream; NULL: the launch has finished on return. */
KJIT_API kjit_status kjit_launch_plan_run(kjit_launch_plan *plan, kjit_stream *stream);
KJIT_API void kjit_launch_plan_free(kjit_launch_plan *plan); /* its runs go on */

/* A graph: launches and copies that are recorded, and done again as a whole. From kjit_graph_begin
 * on what is launched and copied in the stream, plans' runs and other graphs included, is checked
 * and kept, and not done; kjit_graph_end gives it. Each step keeps what it was given as a plan
 * does. Until then nothing else can be put into the stream, and it cannot be synchronised
 * (KJIT_INVALID); freeing it drops what was recorded. */
KJIT_API kjit_status kjit_graph_begin(kjit_stream *stream);
KJIT_API kjit_status kjit_graph_end(kjit_stream *stream, kjit_graph **out);
/* Does the steps in their order, in any stream of the context; NULL: they have finished on return.
 * In a stream they are one piece of work; but with host arrays on a GPU, with smart arrays, and
 * with kernels that print, assert or read const arrays which the host fills, the steps are queued
 * one after the other, and where one cannot be those before it run. A graph may be launched by many
 * threads; launches in different streams have no order, unless events give them one. */
KJIT_API kjit_status kjit_graph_launch(kjit_graph *graph, kjit_stream *stream);
KJIT_API void kjit_graph_free(kjit_graph *graph); /* its launches go on */

/* ---- Records ---- */

/* `record P { ... }` of a source is laid out as a C compiler lays out a struct of the same fields (a packed one
 * where @packed stands before it)
 * in the same order: an array of P may wrap an array of such structs. Its number is the context's:
 * modules that declare a record of the same name and fields have one type. A launch also takes
 * records of another name, where the fields have the same names, types and offsets. */
typedef struct kjit_record {
    const char *name;
    size_t size, align; /* bytes */
    int nfields;
    uint64_t reserved[4];
} kjit_record;

typedef struct kjit_field {
    const char *name;
    kjit_dtype dtype; /* of the field, or of the elements of an array in the record */
    size_t offset;    /* bytes from the record's beginning */
    int ndim;         /* 0: one value; else an array in C order */
    int64_t shape[KJIT_MAX_NDIM];
    uint64_t reserved[4];
} kjit_field;

/* The record of that name in the module's source: KJIT_NOT_FOUND where there is none. */
KJIT_API kjit_status kjit_module_record(kjit_module *mod, const char *name, kjit_dtype *out);
/* What a record is, and its fields, i from 0 on. The names are the context's. */
KJIT_API kjit_status kjit_record_info(kjit_context *ctx, kjit_dtype dtype, kjit_record *out);
KJIT_API kjit_status kjit_record_field(kjit_context *ctx, kjit_dtype dtype, int i, kjit_field *out);

/* ---- Smart arrays ---- */

/* One array on the host and on the device, moved only when the side that is asked for
 * is not the newest. A move comes after all queued work and is done when the call returns, also
 * that of a launch in a stream. The side that is not there is made when it is first needed. On the
 * CPU device, and over KJIT_MAPPED arrays, both are one memory: where launches have been queued,
 * ask for the host's side before it is read or written again; the call waits for them. */

/* With unspecified elements, the host's the newest. As kjit_array_create. */
KJIT_API kjit_status kjit_smart_create(kjit_context *ctx, kjit_dtype dtype, int ndim,
                                       const int64_t *shape, char order, kjit_smart **out);
/* Over an array of any memory, whose elements are the newest; it keeps that memory, the array may
 * be freed. The other side is dense, in F order if the array is. Read-only arrays: KJIT_INVALID. */
KJIT_API kjit_status kjit_smart_from(kjit_array *a, kjit_smart **out);
/* A view of the host's, or the device's side, with the newest elements; to be freed. */
KJIT_API kjit_status kjit_smart_host(kjit_smart *s, kjit_array **out);
KJIT_API kjit_status kjit_smart_gpu(kjit_smart *s, kjit_array **out);
/* Elements were written there by other means than a launch with kjit_arg_smart: that side is the
 * newest, whatever was before. */
KJIT_API kjit_status kjit_smart_host_changed(kjit_smart *s);
KJIT_API kjit_status kjit_smart_gpu_changed(kjit_smart *s);
/* A smart array: the launch moves its newest elements to the device where they are not there, and
 * leaves what the kernel writes there. */
static inline kjit_arg kjit_arg_smart(kjit_smart *s)
{
    kjit_arg arg;
    arg.kind = KJIT_ARG_SMART;
    arg.name = NULL;
    arg.u.smart = s;
    return arg;
}
/* Moves nothing back: what only the device has is gone with it. Queued work goes on. */
KJIT_API void kjit_smart_free(kjit_smart *s);

/* ---- Memory ---- */

/* Deferred deallocation. What has lost its last reference is not given back to the device at once,
 * for that may wait for the device's work, but put into one of two queues of the context: one for
 * the memory of arrays (not KJIT_HOST: that goes at once, and so does what kjit_array_register has
 * page-locked), one for modules, streams, events and graphs, which count 0 bytes. When then a queue has
 * more than max_pending_count items or more than max_pending_ratio times the device's memory in
 * bytes (kjit_context_options), all of it is given back, in order, by that call; what queued work
 * let go of, by the next call that frees or allocates. That waits for the streams that were freed.
 * When memory runs out all work is waited for, both queues are emptied, and the allocation is tried
 * once more. Destroying the context empties both. A deallocation that fails keeps none of the
 * others from being done. */

typedef struct kjit_memory_info {
    uint64_t free, total; /* bytes of the device's memory, whoever uses it */
    uint64_t used;        /* bytes of the arrays in it that this context has made */
    /* Bytes of the pool that they are taken from: what it has of the device, what of that is in use
     * and the most that ever was. 0 where there is no pool. */
    uint64_t pool_reserved, pool_used, pool_highest;
    uint64_t pending_bytes;                /* that wait for being given back */
    int pending_memory, pending_resources; /* items of the two queues */
    int max_pending_count;                 /* the limits */
    uint64_t max_pending_bytes;
    uint64_t failed_deallocations; /* ever */
    uint64_t reserved[8];
} kjit_memory_info;

KJIT_API kjit_status kjit_context_memory(kjit_context *ctx, kjit_memory_info *out);
/* Gives all that is pending back now, unless kjit_defer_cleanup_begin keeps it. The status is the
 * first failure of a deallocation, this or an earlier one, that nobody has been told. */
KJIT_API kjit_status kjit_deallocate_pending(kjit_context *ctx);
/* What the pool has and doesn't use goes back to the system, but for `keep` bytes. What is pending
 * is in use. */
KJIT_API kjit_status kjit_memory_trim(kjit_context *ctx, uint64_t keep);
/* Between the two nothing is given back, whatever is pending, even when memory runs out. They nest,
 * and are the context's: any thread may end it. The end only ends it: the next call that frees or
 * allocates empties what is over its limit. KJIT_INVALID for an end without a beginning. */
KJIT_API kjit_status kjit_defer_cleanup_begin(kjit_context *ctx);
KJIT_API kjit_status kjit_defer_cleanup_end(kjit_context *ctx);

/* An allocator of the program's: functions in place of kjit's own, for one context. A NULL member
 * is kjit's own; those that give back come with those they belong to. The table is copied. They are
 * called on any thread, several at a time, with the GPU's primary context current, and may not call
 * kjit on the same context. Each gives a status: KJIT_NO_MEMORY makes kjit give back what is
 * pending and ask once more; others fail the call that needed it. What queued work uses is given
 * back after it, and deferred as above. */
#define KJIT_ALLOCATOR_VERSION 1
typedef struct kjit_allocator {
    int version;                           /* KJIT_ALLOCATOR_VERSION */
    void *user;                            /* handed to every function */
    kjit_status (*initialize)(void *user); /* before all others, by kjit_context_create */
    /* Device memory, at a multiple of 256 bytes, that every stream can use at once. */
    kjit_status (*memalloc)(void *user, size_t size, void **out);
    kjit_status (*memfree)(void *user, void *memory, size_t size);
    /* Page-locked host memory; if `mapped` is not 0, *device is where kernels find it. NULL there
     * is the same address. */
    kjit_status (*memhostalloc)(void *user, size_t size, int mapped, int portable, int wc,
                                void **out, void **device);
    kjit_status (*memhostfree)(void *user, void *memory, size_t size);
    /* Page-locks memory that there is. */
    kjit_status (*mempin)(void *user, void *memory, size_t size, int mapped, void **device);
    kjit_status (*memunpin)(void *user, void *memory, size_t size);
    /* The driver's 64 bytes (CUipcMemHandle) for device memory that other processes are to open,
     * and where that begins in what they open. NULL: it cannot be shared. */
    kjit_status (*get_ipc_handle)(void *user, void *memory, size_t size, void *handle,
                                  uint64_t *offset);
    kjit_status (*get_memory_info)(void *user, uint64_t *free, uint64_t *total);
    kjit_status (*reset)(void *user); /* the context has ended, and has given all back */
    /* Around what kjit_defer_cleanup_begin and _end do, with whatever context is current. */
    void (*defer_cleanup_begin)(void *user);
    void (*defer_cleanup_end)(void *user);
    void (*reserved[8])(void);
} kjit_allocator;

/* ---- Other libraries ---- */

/* DLPack, version 1, and the unversioned structure of before: arrays from and to other libraries,
 * without a copy. <dlpack/dlpack.h> has the structures; it is not needed to hand them on. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;
/* A tensor over the array's elements, which keeps their memory until its deleter is called (from
 * any thread). All work queued before has ended on return; what the array is used for later the
 * taker must be told. KJIT_TYPE for records, KJIT_SHAPE where strides are no whole elements;
 * KJIT_INVALID for an unversioned one of a read-only array, as it could not say so. */
KJIT_API kjit_status kjit_array_to_dlpack(kjit_array *a, struct DLManagedTensorVersioned **out);
KJIT_API kjit_status kjit_array_to_dlpack_unversioned(kjit_array *a, struct DLManagedTensor **out);
/* An array over a tensor, which is the array's on success: its deleter is called as that of
 * kjit_array_wrap_owned. Its memory is what DLPack says it is: KJIT_HOST, PINNED
 * (of CUDA; KJIT_HOST on the CPU device), MANAGED, or the context's own GPU's, KJIT_DEVICE;
 * elsewhere: KJIT_NO_DEVICE. Lanes are vectors. What writes the tensor must have finished.
 * KJIT_TYPE for element types that kjit has not, KJIT_SHAPE for more than 6 dimensions, KJIT_FORMAT
 * for another version than 1. On failure the tensor is still the caller's. */
KJIT_API kjit_status kjit_array_from_dlpack(kjit_context *ctx,
                                            struct DLManagedTensorVersioned *tensor,
                                            kjit_array **out);
KJIT_API kjit_status kjit_array_from_dlpack_unversioned(kjit_context *ctx,
                                                        struct DLManagedTensor *tensor,
                                                        kjit_array **out);

/* ---- Other processes ---- */

/* kjit_array_ipc_handle makes a handle of an array whose memory was made
 * with kjit_array_options.shareable: bytes, which may be sent by any means and say all of it;
 * kjit_ipc_open gives, in another process of the same machine and user, with a context on a device
 * of the same kind (the same GPU, or one that reaches it), an array over the same memory, of
 * KJIT_DEVICE. Nothing orders what the two processes do: who is told of a handle or of results must
 * be told after the work that made them has ended. The memory must not be freed before the other
 * process has freed its array and deallocated what is pending. */
typedef struct kjit_ipc_handle {
    unsigned char bytes[256];
} kjit_ipc_handle;
/* KJIT_INVALID for memory that is not shareable, KJIT_TYPE for records, whose numbers are a
 * context's own: their fields can be shared. */
KJIT_API kjit_status kjit_array_ipc_handle(kjit_array *a, kjit_ipc_handle *out);
/* KJIT_FORMAT for bytes that are no handle. KJIT_INVALID for one of another kind of device or of
 * this very process, and where the memory is gone or cannot be opened. */
KJIT_API kjit_status kjit_ipc_open(kjit_context *ctx, const kjit_ipc_handle *handle,
                                   kjit_array **out);

/* ---- Capsules ---- */

/* A launch that failed in one file, to be run again anywhere: its source and the files that it uses, options,
 * kernel, grid, block, arguments, and the elements of its arrays as they were before it. It is an .npz archive;
 * docs/capsules.md says what is in it.
 *
 * From now on until kjit_capsule_end, of the launches of this context the first that ends with a fault
 * (kjit_last_fault) is written to that path, where nothing is written before. Meanwhile launches take turns, those
 * in a stream have ended when their call returns, and before each what its kernel writes is copied. Launches
 * of plans and graphs are not looked at. KJIT_IO where that file cannot be written, or .npz files not;
 * KJIT_INVALID when one was begun already. */
KJIT_API kjit_status kjit_capsule_begin(kjit_context *ctx, const char *path);
/* *written, when written is not NULL, is 1 where there is a capsule now, else 0: no launch failed. Why one could
 * not be written is the status of this call; KJIT_INVALID: none was begun. */
KJIT_API kjit_status kjit_capsule_end(kjit_context *ctx, int *written);
/* Makes the launch of a capsule, without a stream: the status is that of kjit_launch, and kjit_last_error and
 * kjit_last_fault tell of it. check: KJIT_CHECK_... bits in the place of the capsule's own; 0: those, as far as the
 * device has them. KJIT_FORMAT for what is no capsule. Capsules may be anybody's: give those to a context that
 * is untrusted. They name no files but the library's. */
KJIT_API kjit_status kjit_replay(kjit_context *ctx, const char *path, unsigned check);

/* ---- Traces ---- */

typedef enum kjit_trace_kind {
    KJIT_TRACE_COMPILE = 0,
    KJIT_TRACE_LOAD = 1, /* of compiled code, from the cache */
    KJIT_TRACE_LAUNCH = 2,
    KJIT_TRACE_COPY = 3,
    KJIT_TRACE_CALLBACK = 4,
    KJIT_TRACE_GRAPH =
        5 /* that the device has as one piece of work; else its launches and copies */
} kjit_trace_kind;

/* Something that has ended. A launch's bytes are those of the arrays that it reads and of those that
 * it writes, as if it took each element once. */
typedef struct kjit_trace_event {
    kjit_trace_kind kind;
    const char *name;             /* of the kernel; of a copy: "host to device" */
    int stream;                   /* kjit_stream_number; 0: a call without a stream, or the host */
    int64_t grid[3], block[3];    /* of a launch */
    int64_t bytes;                /* of a copy, or of a launch's arrays */
    kjit_memory from, to;         /* alike */
    double start_us, duration_us; /* microseconds; the start by CLOCK_MONOTONIC */
    uint64_t reserved[4];
} kjit_trace_event;

/* Valid during the call. */
typedef void kjit_trace_fn(void *user, const kjit_trace_event *event);
/* From then on each compilation (on a CPU also that of the code by which the first fault of a kernel
 * is looked for), launch, copy, callback and graph is shown to `trace` (NULL: nobody) when it has
 * ended, those in streams when the device is seen to have ended them, at the latest by the call that
 * waits for them: from any thread, one at a time, in no order. Nothing runs at another time for it.
 * The function may not use the context, like a kjit_print_fn. When this returns the one before is not
 * called any more. */
KJIT_API void kjit_set_trace(kjit_context *ctx, kjit_trace_fn *trace, void *user);

/* ---- The cache of compiled code ---- */

/* Launches keep what they compile in the context's cache (kjit_context_options.cache) and take it
 * from there, whichever process made it: a hit does no compilation. An entry is used only if all is
 * as it was: the source's bytes, the options, the specialisation, this library and its LLVM, the
 * processor and its features. $KJIT_CACHE_SIZE limits the directory ("512M", the default), which is
 * looked at with one new entry in 16 and with each that is large beside the limit. */
typedef struct kjit_cache_info {
    const char *directory; /* NULL: none can be named */
    const char *off;       /* why nothing is kept, as "it belongs to another user"; or NULL */
    uint64_t limit;        /* bytes; beyond it the entries used longest ago are removed */
    uint64_t reserved[4];
} kjit_cache_info;

typedef struct kjit_cache_entry {
    const char *file, *kernel, *variant; /* variant: "block (256, 1, 1), T = f32" */
    uint64_t size;                       /* bytes */
    int64_t used;                        /* when last, in seconds since 1970 */
    const char
        *unusable; /* why a module's launches cannot use it, "the source has changed"; or NULL */
    uint64_t reserved[4];
} kjit_cache_entry;

/* The texts are the context's. */
KJIT_API kjit_status kjit_cache_describe(kjit_context *ctx, kjit_cache_info *out);
/* Shows every entry, the last used first; with a module those of its kernels, from a file of the
 * same name or the same source, and whether its launches can use them. The entry is valid during
 * the call of `visit`. */
KJIT_API kjit_status kjit_cache_list(kjit_context *ctx, kjit_module *mod,
                                     void (*visit)(void *user, const kjit_cache_entry *entry),
                                     void *user);
/* Removes all entries; *removed, when not NULL, is how many. */
KJIT_API kjit_status kjit_cache_clear(kjit_context *ctx, int *removed);

/* ---- Run blocks ---- */

typedef struct kjit_run_options {
    /* "name=value": 5, 2.5, true, 1,2,3 (a list, a tuple or an array of one axis), @file.npy, @table.csv, @photo.png,
     * @file.npz:name; as kjit_load_options has them "@file.raw,dtype=f32,shape=480x640,offset=16,order=big", and
     * format=raw. */
    const char *const *params;
    int nparams;
    /* "name=file": arrays to save when the block has ended; "name=file.png,low=0,high=100" and
     * "name=file.wav,sample_rate=48000" as kjit_save_options has them. */
    const char *const *saves;
    int nsaves;
    int time;   /* 1: report launches and transfers; a line for all of what comes often */
    int digest; /* 1: at the end write a line for each array of the block's outermost scope: name,
                   type, shape, a 64-bit hash of the elements in C order (all NaNs are alike). Equal
                   results have equal lines, on any device. */
    void (*write)(void *user, const char *text, size_t size); /* printed and drawn; NULL drops it */
    void (*report)(void *user, const char *text, size_t size); /* what time writes */
    /* Asked between statements; non-zero ends with KJIT_INTERRUPTED. */
    int (*interrupted)(void *user);
    void *user;
    /* 1: a failure's kjit_last_error is JSON, as kjit_module_log_json's, an object a line: the failure, then
     * notes (of severity "note": who launched, who called). One of no place has no line. */
    int json;
    /* What plot and show draw for: how many characters a line has (0: 72), and 1 where colours may be said by escape
     * codes, as to a terminal. */
    int columns;
    int colours;
    /* The title of a test to run in the run block's place, without params and saves; NULL: the run block. One that
     * is to fail gives KJIT_OK where it fails with a message that holds what it says; where it ends otherwise, a
     * failure. */
    const char *test;
    uint64_t reserved[16];
} kjit_run_options;

/* Runs the module's run block, or a test. Failures are located: kjit_last_error has "file:line:col: error:
 * ..." and the line. KJIT_INVALID: the params or saves are not as the block has them (with a place
 * where a param is given no value), or the context was destroyed, which may not happen meanwhile either; KJIT_NOT_FOUND:
 * there is no run block, and the sentence has one to add, or no test of that title. Other failures are those of its own work:
 * what other threads have queued is waited for where the block waits for all, but told to them (of a
 * default stream that the block uses, to the block). Runs in one context take turns, as each
 * has a `write` of its own: one of the functions above that starts another is told KJIT_INVALID.
 * Where the calling thread has less than 2.5 MiB of stack left, the block and these functions run
 * on another thread, while the caller waits. */
KJIT_API kjit_status kjit_run(kjit_module *mod, const kjit_run_options *options);

/* ---- The language's own reference ---- */

typedef struct kjit_builtin_info {
    const char *name, *group, *signature, *doc;
    int ulp32, ulp64;
    uint64_t reserved[4];
} kjit_builtin_info;

/* Row i of the vocabulary; non-zero while there is one. First the kernels' groups, then "run
 * block", whose signatures are what stands after the name: "(shape, dtype=f32)"; a name with a
 * leading dot is a member. */
KJIT_API int kjit_builtin(int i, kjit_builtin_info *out);

/* What else has a name: words and operators of the language ("while"), codes of messages ("undeclared"), files of the
 * library ("std.sort", whose form is empty) and what is called of them ("sort.keys"). group: "declaration", "statement",
 * "operator", "value", "type", "attribute", "error", "warning" or "std"; form: how it is written; text: what it is, of
 * the library lines that begin with #. Both are of so many bytes, without a NUL behind them, and stay. */
typedef struct kjit_word_info {
    char name[48];
    const char *group;
    const char *form, *text;
    size_t form_size, text_size;
    uint64_t reserved[4];
} kjit_word_info;

/* Row i of them; non-zero while there is one. */
KJIT_API int kjit_word(int i, kjit_word_info *out);

#ifdef __cplusplus
}
#endif

#endif
