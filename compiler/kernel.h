/* What compiled code and a launch agree on: what a launch fixes, how it hands its arguments over, what
 * the code reports, and how all of that lies in memory. The devices know this, and no typed AST. */
#ifndef KJ_KERNEL_H
#define KJ_KERNEL_H

#include "base/diag.h"
#include "lang/checks.h"
#include "lang/tally.h"
#include "lang/types.h"

typedef struct kj_tkernel kj_tkernel; /* typed AST: tast.h */

/* ---- Limits ---- */

enum { KJ_SMALL = 1 << 28 };

/* Bytes of a cache's line: what workers write apart lies in lines of their own, and whole ones go past the caches. */
enum { KJ_LINE = 64 };

/* Of no array that a kernel takes an extent is over this. */
#define KJ_MOST_EXTENT ((int64_t)1 << 48)
enum { KJ_WARP = 32 }; /* threads */
enum { KJ_MAX_FILLED = 64, KJ_MAX_PARAMS = 256 /* of a kernel as declared, and as typed */ };

/* ---- What a launch fixes ---- */

/* How an array lies in memory. ROWS: the last axis has stride 1, the others any. */
typedef enum kj_layout { KJ_LAYOUT_C, KJ_LAYOUT_F, KJ_LAYOUT_STRIDED, KJ_LAYOUT_ROWS } kj_layout;
static inline bool kj_is_dense(kj_layout layout)
{
    return layout == KJ_LAYOUT_C || layout == KJ_LAYOUT_F;
}

/* Of a dense array in C order whose last axis, of several, is this short, a launch's code may know how long it
 * is: the step from one row to the next is a constant then. */
enum { KJ_SHORT_LAST = 4 };

/* Of a block whose row is no multiple of GANG threads, a launch's code may know along which axes as many as WIDE of the
 * grid are side by side: so many that its gangs may go on into the next block (analysis/across.c). Of kernels with arrays
 * of bytes, or pairs of them, a vector is twice as many threads, and of others that stream rows. */
enum { KJ_GANG = 16, KJ_GANG_OF_BYTES = 32, KJ_WIDE = 32 };
static inline bool kj_is_short(const int64_t block[3], int axis, int gang)
{
    return block[0] % gang != 0 && block[axis] % gang != 0 && (axis == 0 || block[axis] > 1);
}
static inline bool kj_is_small_element(kj_dtype type)
{
    return type < KJ_NTYPES && kj_types[type].size < 4;
}

/* Blocks that lie side by side and run together, at most. */
enum { KJ_RUN_OF_BLOCKS = 256 };

/* What a launch fixes about a kernel. Arrays are indexed like the kernel's declarations. */
typedef struct kj_spec {
    const kj_dtype *generics; /* one a generic parameter */
    const kj_value *consts;   /* one a const parameter, in order */
    const kj_layout *layouts; /* one a parameter; ignored for scalars */
    const uint8_t *lasts;     /* one a parameter: its last extent, 0: not known; NULL: of none */
    int64_t block[3];         /* 0: leave blockDim to run time */
    bool small; /* extents and threads along an axis are under KJ_SMALL, arrays span under 2^31
                   elements */
    bool no_contract; /* --fp-contract=off */
    bool disjoint;    /* no two array arguments share memory */
    bool aligned;     /* every array's first element is at a multiple of 16 bytes */
    unsigned
        wide; /* of a CPU, a bit an axis: so many threads of the grid are side by side that gangs fit, blocks or
                      not (KJ_WIDE) */
    unsigned checks; /* what running code looks for: KJ_CHECK_... bits, neither NONE nor ALL */
    bool polls;      /* loops look at the launch's halt */
    bool
        untrusted; /* of anybody's source: @unchecked changes nothing, arrays of kernels begin as zeros */
} kj_spec;

typedef enum kj_index {
    KJ_THREAD_IDX,
    KJ_BLOCK_IDX,
    KJ_BLOCK_DIM,
    KJ_GRID_DIM,
    KJ_LANE_ID, /* axis 0; of the linear thread number, x fastest, modulo KJ_WARP */
} kj_index;

/* The values of a launch, as conditions and shapes ask for them: `ctx` has them. */
typedef struct kj_eval_env {
    void *ctx;
    kj_value (*param)(void *ctx, int param);                     /* scalar parameter */
    int64_t (*dim)(void *ctx, int param, int axis, bool stride); /* array parameter */
    int64_t (*index)(void *ctx, kj_index which, int axis);       /* blockDim, gridDim */
} kj_eval_env;

/* ---- What is compiled, and for what ---- */

typedef enum kj_stage {
    KJ_STAGE_CHECKS,
    KJ_STAGE_NOTES,
    KJ_STAGE_TAST,
    KJ_STAGE_UNIFORM,
    KJ_STAGE_REGIONS,
    KJ_STAGE_LLVM,
    KJ_STAGE_OPT,
    KJ_STAGE_ASM,
    KJ_STAGE_OBJECT
} kj_stage;

/* LLVM instructions of one function as they are lowered, at most. */
enum { KJ_MAX_CODE = 64000 };

typedef struct kj_compile_options {
    int opt_level;    /* 0 .. 3 */
    bool no_contract; /* --fp-contract=off */
    bool verify;      /* look at what each stage has made */
    const char *cpu;  /* a level, or LLVM's name of a CPU; NULL: the CPU this runs on */
    /* A GPU in place of the host: "sm_90". ASM and OBJECT are then both PTX text. */
    const char *arch;
    int ptx_version; /* newest PTX the driver takes, 84 is 8.4; 0: the oldest that has `arch` */
    bool ftz;        /* a GPU's f32 instructions take subnormal numbers for zeros */
    unsigned checks; /* kj_spec's */
    bool
        replay; /* of a CPU: thread after thread, without writing to memory that outlives the block */
    bool polls;     /* loops look whether their launch is to end: of a cancellable context */
    bool untrusted; /* kj_spec's */
    int most_code; /* instructions as lowered of a kernel and those it launches; 0: KJ_MAX_CODE each */
    const char *libdevice; /* path of the toolkit's math library; NULL: the embedded one */
} kj_compile_options;

/* ---- What threads report ---- */

/* What a thread reports: that an assert failed, that an index is outside, or a line of print. Its
 * values are those of the parts that have a type, in order: two of a complex one. */
typedef struct kj_site_part {
    const char
        *text;     /* of print: to be written; of an assert: what the value is of; NULL: not told */
    kj_dtype type; /* KJ_VOID: text alone */
} kj_site_part;

/* What a fault is that a site tells of. */
typedef enum kj_site_kind {
    KJ_SITE_ASSERT,
    KJ_SITE_BOUNDS, /* its values are the index and the extent */
    KJ_SITE_REQUIRES,
    KJ_SITE_SHAPE,
    KJ_SITE_OVERLAP,
    KJ_SITE_LAUNCH,
    KJ_SITE_WARP,
    KJ_SITE_NAN,
    KJ_SITE_INDEX
} kj_site_kind;

typedef struct kj_site {
    int id; /* index in kj_kernel_info.sites */
    kj_site_kind kind;
    kj_span span;
    const kj_called *call; /* of the function that the place is in; NULL: it is in the kernel */
    bool fault;            /* an assert's: the thread ends */
    const char *failed;    /* of a fault, what it is: NULL: "assertion failed" */
    const char *message;   /* an assert's, or NULL */
    const char
        *indexed; /* of an index: the array's name; its values are the index and the extent */
    int axis;     /* and which of its axes; -1: the only one */
    int child;    /* of which kernel of the launch: 0, or kj_child.id */
    bool dropped; /* nothing asks what an atomic that is told of gave */
    int watched; /* 1 + the place's parameter, 0 of no parameter's array: of an access that is told of */
    kj_dtype elem; /* of such a one, what its array's elements are; KJ_VOID: they have parts */
    const kj_site_part *parts;
    int nparts, nvalues;
} kj_site;

enum { KJ_MAX_REPORTED = 16 }; /* values */

/* ---- The entry ---- */

/* What the host entry gets. `slots` holds the parameters in the launch's order, 8 bytes a slot: a
 * scalar is its value in the low bytes; an array is its data pointer, shape[ndim] and stride[ndim]
 * (elements). */
typedef struct kj_host_fault {
    int32_t kind;    /* 0: none; see kj_fault_kind */
    uint32_t offset; /* of a divergent barrier: place in the source; of an assert: its site's id */
    /* Which of a launch's faults it is: the one with the greatest `order`, then `within`; both are 0
     * at first, and who writes a fault holds `lock`. */
    uint64_t order;  /* ~ of the block's number, above it from KJ_FAULT_CHILD on kj_child.id: blocks
                       of kernels that it launched come behind its own */
    uint64_t within; /* of the block: ~ of the thread's number, behind the barriers it passed */
    uint32_t lock;
    int64_t block[3];
    int64_t arrived, alive;           /* divergent barrier: threads of the block */
    int64_t thread[3];                /* assert */
    uint64_t values[KJ_MAX_REPORTED]; /* assert: in the low bytes */
    /* The halt was found to be set, and the launch did not run to its end; the first who finds it says where,
     * but who is within a block knows better than one that has not begun. */
    uint32_t halted;    /* kj_halted */
    uint32_t halted_at; /* the loop's or the statement's place in the source */
    uint64_t halted_why;
    int64_t halted_block[3], halted_front[3]; /* that one's, and the one that has not begun */
} kj_host_fault;

enum { KJ_FAULT_CHILD = 56 }; /* no grid has as many blocks as there are numbers below that bit */

/* The greater is told. */
typedef enum kj_halted {
    KJ_HALTED_NOT,
    KJ_HALTED_FRONT,
    KJ_HALTED_STATEMENT,
    KJ_HALTED_LOOP
} kj_halted;

typedef enum kj_fault_kind {
    KJ_FAULT_NONE,
    KJ_FAULT_DIVERGENT_BARRIER,
    KJ_FAULT_ASSERT,
    KJ_FAULT_GRID_BARRIER, /* the CPU's: `alive` blocks, of which `arrived` wait and none runs */
    KJ_FAULT_RACE,         /* at the site `offset`; values: KJ_RACE_... */
    KJ_FAULT_UNSET         /* likewise; no values: nothing was written there */
} kj_fault_kind;

/* Of a race, what `values` has of the other access, and how both are made (kj_watch_flags). */
enum {
    KJ_RACE_SITE,
    KJ_RACE_FLAGS,
    KJ_RACE_OWN_FLAGS,
    KJ_RACE_THREAD,
    KJ_RACE_BLOCK = KJ_RACE_THREAD + 3
};

/* A launch's halt: 4 bytes that the host sets when the launch is to end, and why: 0 before, in code that polls;
 * else any other value than at first is KJ_HALT_CANCELLED. */
typedef enum kj_halt_reason {
    KJ_HALT_NONE,
    KJ_HALT_CANCELLED,
    KJ_HALT_TIMEOUT,   /* the launch's own; and these: its time is over, too */
    KJ_HALT_DEADLINE,  /* the context's */
    KJ_HALT_LAUNCH_MS, /* limits of the context's */
    KJ_HALT_RUN_MS,
    KJ_HALT_STEP = 8 /* of who counts: multiples are no reason */
} kj_halt_reason;

/* What a launch of a kernel with sites writes, where its last slot (one more than its parameters
 * have) points to. Each line of print is a record: the site's id, the block's and the thread's
 * linear number, and the site's values, 8 bytes each. */
typedef struct kj_report {
    kj_host_fault fault; /* of a GPU; a CPU has it in the launch */
    uint64_t used;       /* bytes of records, had they all fitted */
    uint64_t end;        /* bytes of those that did, if not all; UINT64_MAX at first */
    uint64_t lost;       /* records that did not */
    uint64_t halt;       /* of a GPU, in code that polls: where it finds the halt */
    uint64_t near_halt;  /* and what it was when the launch began, or a thread saw since */
    uint64_t words[];    /* KJ_PRINT_BYTES, of a kernel that prints */
} kj_report;

enum { KJ_PRINT_BYTES = 1 << 20 };

/* Bytes of stack that threads running kernels have: more than any kernel takes. */
enum { KJ_WORKER_STACK = 8 << 20, KJ_MAX_STACK = 4 << 20 };

/* Whom a kernel tells of the grids that it launches, and of what its threads access. `child` is kj_child.id,
 * `block` the linear number of the block that launches it, `slots` all of the child's. Returns 0, or why there will
 * be no launch (KJ_LAUNCH_...). */
typedef struct kj_host_spawner kj_host_spawner;
typedef struct kj_host_watch kj_host_watch;
typedef struct kj_host_launch kj_host_launch;
struct kj_host_spawner {
    int32_t (*spawn)(kj_host_spawner *spawner, int32_t child, int64_t block, const int64_t grid[3],
                     const uint64_t *slots);
    kj_host_watch *watch; /* of a launch that is checked: KJ_CHECKS_WATCHED */
};

/* What code that is checked (KJ_CHECKS_WATCHED) tells of what its threads do, before they do it. `thread` is
 * the linear number of a row's first thread, `lanes` has a bit for each of its threads that takes part. */
struct kj_host_watch {
    /* A block begins, or goes on behind grid_sync(); non-zero: it ends here. */
    int32_t (*block)(kj_host_watch *watch, const kj_host_launch *launch, int64_t block);
    void (*barrier)(kj_host_watch *watch); /* all of the block have come */
    /* Lane l accesses the scalar at `at` + l * stride bytes. `value`: what all of them store (KJ_WATCH_SAME...). */
    void (*row)(kj_host_watch *watch, uint32_t site, uint32_t flags, uint32_t thread,
                uint64_t lanes, uintptr_t at, int64_t stride, uint64_t value);
    /* Lane l accesses scalar offsets[l] behind `at`. */
    void (*each)(kj_host_watch *watch, uint32_t site, uint32_t flags, uint32_t thread,
                 uint64_t lanes, uintptr_t at, const int64_t *offsets, uint64_t value);
    /* The threads' own arrays number `array` begin: nothing was written there. */
    void (*begun)(kj_host_watch *watch, uint32_t array, uint32_t thread, uint64_t lanes);
    /* `block`: it orders for the threads of the block alone. */
    void (*fence)(kj_host_watch *watch, uint32_t thread, uint64_t lanes, int32_t block);
    void (*warp)(kj_host_watch *watch, uint32_t thread, uint64_t lanes, const uint32_t *members);
};

/* Flags of an access. Scalars have 1 << KJ_WATCH_SIZE(flags) bytes. */
enum kj_watch_flags {
    KJ_WATCH_LOAD = 0,
    KJ_WATCH_STORE = 1,
    KJ_WATCH_ATOMIC = 2,
    KJ_WATCH_KIND = 3,
    KJ_WATCH_SAME = 4,      /* all threads of the block that store here store one value */
    KJ_WATCH_SAME_GRID = 8, /* and of the grid */
    KJ_WATCH_TESTED = 16,   /* what stands in the array decides whether they do */
    KJ_WATCH_ORDERS = 32,   /* an atomic with fences on both sides */
    KJ_WATCH_SHARED = 64,
    KJ_WATCH_LOCAL =
        128, /* `at` is KJ_WATCH_OWN(array), and bytes from the array's begin are added */
    KJ_WATCH_SIZE_AT = 8,
    KJ_WATCH_GUESS =
        1024, /* a load: of what an atomic.cas on the array then expects, or by one that found another value */
    KJ_WATCH_DECIDES = 2048, /* a load: what it gives decides whether threads come to a barrier */
    KJ_WATCH_OF_LOADS = KJ_WATCH_GUESS | KJ_WATCH_DECIDES,
};
#define KJ_WATCH_OWN(array) ((int64_t)(array) << 40)
#define KJ_WATCH_SIZE(flags) ((flags) >> KJ_WATCH_SIZE_AT & 3)

struct kj_host_launch {
    int64_t grid[3];
    int64_t block[3];
    kj_host_fault *fault;
    kj_host_spawner *spawner; /* of a kernel that launches others or is watched, and its children */
    const uint32_t *halt;     /* it is to end when this is not `going`; NULL: nobody can end it */
    uint32_t going;           /* 0 of code that polls, whose halt is never NULL */
    uint16_t
        own_tallies; /* kj_param_info.tally: those arrays are copies that the caller alone has */
    /* Its stores go past the caches (device/cpu/past.c): -KJ_LINE, all bits of an address but those within a line
     * (kj_tarray.past); else 0. */
    int16_t past;
    uint64_t slots[];
};

/* Runs the blocks first <= b < last, b = x + grid.x * (y + grid.y * z). `shared` is 64-byte aligned
 * memory of kj_code.scratch + kj_shared_bytes() bytes, the worker's own, or NULL when that is 0.
 * A kernel with grid_sync() is given one block at a time, and each block memory of its own, whose
 * first 8 bytes are 0 at first: a block that waits is called again when all blocks do. */
typedef enum kj_host_end {
    KJ_HOST_DONE,
    KJ_HOST_FAULT, /* launch->fault was set: stop */
    KJ_HOST_WAITS,
} kj_host_end;
typedef int32_t (*kj_host_entry)(const kj_host_launch *launch, int64_t first, int64_t last,
                                 void *shared);

/* In the place of a slot: the address of 4 bytes that are 0 before the first launch of a kernel
 * with grid_sync(), and that no other launch uses at the same time. */
enum { KJ_ARG_COUNTER = -1 };

/* Why a launch by a kernel fails: numbers of CUDA's device runtime, and limits of the context. */
enum {
    KJ_LAUNCH_NO_MEMORY = 2,
    KJ_LAUNCH_TOO_DEEP = 65,
    KJ_LAUNCH_TOO_MANY = 69,
    KJ_LAUNCH_BEYOND_DEPTH = -1,
    KJ_LAUNCH_BEYOND_COUNT = -2
};

/* ---- Memory ---- */

/* The most bytes that a thread of a GPU loads at once. LLVM makes such loads also where less is used
 * (NVPTXTTIImpl::isLegalMaskedLoad): memory that a kernel is given goes up to a multiple. */
enum { KJ_WHOLE = 16 };

/* ---- Kernels ---- */

/* A value of the launch's order, as a kernel uses it. */
typedef struct kj_param_info {
    bool is_array, read, written;
    int ndim;
    int64_t size;      /* bytes of an element */
    int unit;          /* and those that strides count */
    kj_tally_op tally; /* of an array that is only counted in (analysis/tally.c) */
    kj_dtype elem;     /* of such a one: as what it is counted in */
} kj_param_info;

/* How many slots it takes. */
static inline int kj_param_slots(const kj_param_info *p)
{
    return p->is_array ? 1 + 2 * p->ndim : 1;
}

/* The bytes of an array from its first element to its last; none of an empty one. */
typedef struct kj_bytes {
    uint64_t begin, end;
} kj_bytes;

static inline kj_bytes kj_array_bytes(const kj_param_info *p, const uint64_t *slots)
{
    kj_bytes r = {slots[0], slots[0] + (uint64_t)p->size};
    for (int d = 0; d < p->ndim; d++) {
        int64_t extent = (int64_t)slots[1 + d], stride = (int64_t)slots[1 + p->ndim + d];
        uint64_t way = (uint64_t)((extent - 1) * stride * p->unit);
        if (extent <= 0)
            return (kj_bytes){0, 0};
        if (stride < 0)
            r.begin += way;
        else
            r.end += way;
    }
    return r;
}

static inline bool kj_bytes_meet(kj_bytes a, kj_bytes b)
{
    return a.begin < b.end && b.begin < a.end;
}

/* A const array that the host fills. */
typedef struct kj_const_array_info {
    int index;        /* in kj_program.filled */
    const char *name; /* of a used file's: "blur.TABLE" */
    const char
        *symbol; /* a GPU's variable; a CPU has the addresses of those a kernel uses in slots behind
                           the parameters', in the order of its roots */
    kj_span span;
    kj_dtype elem;
    const kj_aggregate *of; /* what an element is, where that is no scalar */
    int64_t elem_size;      /* bytes */
    int ndim;
    int64_t shape[KJ_MAX_NDIM];
} kj_const_array_info;

/* All that is to be known of a specialised kernel at its launches. */
typedef struct kj_kernel_info {
    const char *name;
    kj_span span;                       /* of its name */
    kj_param_info *params;              /* in the launch's order; const parameters are gone */
    int nparams, nslots;                /* nslots: with the report's */
    const kj_const_array_info **filled; /* those it uses, in the order of its roots */
    int nfilled;
    const kj_site **sites; /* of its reports, by id */
    int nsites;
    bool prints;                    /* some site is a print's */
    bool polls;                     /* its loops look at the halt */
    bool conditions;                /* it has requires */
    const struct kj_limits *limits; /* what says which checks of indices hold; NULL: nothing */
    unsigned watched;               /* what its code tells a kj_host_watch for: KJ_CHECKS_WATCHED */
    bool launches;                  /* it launches kernels */
    const char **launched;          /* those, and what they launch, by kj_child.id - 1 */
    int nlaunched;
    kj_span launch;          /* if so: the first place where it does */
    bool grid_sync;          /* its blocks wait for one another */
    kj_span grid_sync_at;    /* if so: the first place where they do */
    int64_t block[3];        /* 0: any */
    int64_t shared;          /* bytes of its shared arrays; -1: by the launch's values */
    const kj_tkernel *typed; /* for kj_shared_bytes and kj_requires_hold */
} kj_kernel_info;

/* Why there is no number of bytes: a shared array's extent that is below 0, or with which it overflows. */
typedef struct kj_shared_fault {
    const char *array;
    kj_value extent; /* a number of KJ_I64 or KJ_U64 */
} kj_shared_fault;

/* Bytes of shared memory a block needs under these launch values; -1, and why in `fault`, if that is not NULL, when
 * there is none. */
int64_t kj_shared_bytes(const kj_kernel_info *kernel, const kj_eval_env *env,
                        kj_shared_fault *fault);
/* Does every requires of the kernel hold? Else *failed is the clause that does not; { 0, 0 }: it
 * cannot be evaluated. */
bool kj_requires_hold(const kj_kernel_info *kernel, const kj_eval_env *env, kj_span *failed);
/* Which of the checks that may hold by a launch's values do not: a bit each. Code is made for such a set. */
uint64_t kj_unheld(const struct kj_limits *limits, const kj_eval_env *env);
/* What that depends on, beside the block: two launches with the same have the same. Returns how many, at most
 * KJ_MAX_GIVEN; -1: there are more. */
enum { KJ_MAX_GIVEN = 32 };
int kj_given(const struct kj_limits *limits, const kj_eval_env *env, int64_t *out);

/* ---- Code ---- */

/* What is so of a CPU's code or is not; who keeps code keeps all of them (pack_kernel.c, the runtime's cache).
 * fused: neighbouring blocks run side by side. across: and gangs go from one into the next. past: it asks
 * kj_host_launch.past. shared_out: a grid-stride loop's turns are its threads, however many the grid has. */
#define KJ_CODE_FLAGS(F) F(fused) F(across) F(past) F(shared_out)

/* Code for one specialisation. Owned by the caller: kj_code_free. */
typedef struct kj_code {
    void *bytes; /* the object, or NUL-terminated text for the textual stages */
    size_t size;
    const char *entry; /* symbol of the entry; in the arena given to kj_compile */
    int64_t
        scratch; /* bytes a worker needs for values that live across barriers, and between shared arrays; a multiple of 64 */
#define FLAG(name) bool name;
    KJ_CODE_FLAGS(FLAG)
#undef FLAG
    uint64_t unheld; /* what kj_unheld said of the launch it is for; all ones: of any */
    int64_t stack;   /* bytes that it and its children take of a CPU's stack, each */
    const kj_kernel_info *kernel; /* in that arena */
    /* Of PTX: the entry's parameters in order, each the number of the launch slot whose low bytes
     * it is, or KJ_ARG_COUNTER; in the arena. Shared arrays of a static shape are in the code, `shared` bytes as
     * kj_shared_bytes counts them; the others stand one behind the other in dynamic shared memory,
     * in the order of their ids. */
    const int *args;
    int nargs;
    int64_t shared;
    /* The kernels that this one launches, and they, by kj_child.id from 1 on; of them `entry`,
     * `scratch`, `kernel`, `shared` and `nargs`, the slots; in the arena. */
    struct kj_code *children;
    int nchildren;
} kj_code;

void kj_code_free(kj_code *code);

/* In PTX that is to be linked with CUDA's device runtime. */
#define KJ_DEVRT_SYMBOL "__cudaCDP2LaunchDeviceV2"

#endif
