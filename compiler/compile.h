/* The pipeline: text -> tokens -> AST -> typed AST -> LLVM IR -> host object or PTX.
 *
 * kj_program comes from kj_parse and kj_sema_program, once a file. kj_compile makes one
 * specialisation of one kernel into code for a target. The runtime loads and launches what comes
 * out and knows nothing of LLVM's IR. */
#ifndef KJ_COMPILE_H
#define KJ_COMPILE_H

#include "sema/sema.h"

typedef enum kj_stage {
    KJ_STAGE_TAST,
    KJ_STAGE_LLVM,
    KJ_STAGE_OPT,
    KJ_STAGE_ASM,
    KJ_STAGE_OBJECT
} kj_stage;

typedef struct kj_compile_options {
    int opt_level;    /* 0 .. 3 */
    bool no_contract; /* --fp-contract=off */
    bool verify;      /* run LLVM's verifier (tests) */
    const char *cpu;  /* a level, or LLVM's name of a CPU; NULL: the CPU this runs on */
    /* A GPU in place of the host: "sm_90". ASM and OBJECT are then both PTX text. */
    const char *arch;
    int ptx_version; /* newest PTX the driver takes, 84 is 8.4; 0: the oldest that has `arch` */
    bool ftz;        /* a GPU's f32 instructions take subnormal numbers for zeros */
    const char *libdevice; /* path of the toolkit's math library; NULL: the embedded one */
} kj_compile_options;

/* What the host entry gets. `slots` holds the parameters in the launch's order, 8 bytes a slot: a
 * scalar is its value in the low bytes; an array is its data pointer, shape[ndim] and stride[ndim]
 * (elements). */
typedef struct kj_host_fault {
    int32_t
        kind; /* 0: none; see kj_fault_kind; the first fault of a launch wins (compare and swap) */
    uint32_t offset; /* of a divergent barrier: place in the source; of an assert: its site's id */
    int64_t block[3];
    int64_t arrived, alive;           /* divergent barrier: threads of the block */
    int64_t thread[3];                /* assert */
    uint64_t values[KJ_MAX_REPORTED]; /* assert: in the low bytes */
} kj_host_fault;

typedef enum kj_fault_kind {
    KJ_FAULT_NONE,
    KJ_FAULT_DIVERGENT_BARRIER,
    KJ_FAULT_ASSERT,
    KJ_FAULT_GRID_BARRIER /* the CPU's: `alive` blocks, of which `arrived` wait and none runs */
} kj_fault_kind;

/* What a launch of a kernel with sites writes, where its last slot (one more than its parameters
 * have) points to. Each line of print is a record: the site's id, the block's and the thread's
 * linear number, and the site's values, 8 bytes each. */
typedef struct kj_report {
    kj_host_fault fault; /* of a GPU; a CPU has it in the launch */
    uint64_t used;       /* bytes of records, had they all fitted */
    uint64_t end;        /* bytes of those that did, if not all; UINT64_MAX at first */
    uint64_t lost;       /* records that did not */
    uint64_t words[];    /* KJ_PRINT_BYTES, of a kernel that prints */
} kj_report;

enum { KJ_PRINT_BYTES = 1 << 20 };

/* Bytes of stack that threads running kernels have: more than any kernel takes. */
enum { KJ_WORKER_STACK = 8 << 20, KJ_MAX_STACK = 4 << 20 };

/* Whom a kernel tells of the grids that it launches. `child` is kj_child.id, `slots` all of the
 * child's. Gives 0, or why there will be no launch (KJ_LAUNCH_...). */
typedef struct kj_host_spawner kj_host_spawner;
struct kj_host_spawner {
    int32_t (*spawn)(kj_host_spawner *spawner, int32_t child, const int64_t grid[3],
                     const uint64_t *slots);
};

typedef struct kj_host_launch {
    int64_t grid[3];
    int64_t block[3];
    kj_host_fault *fault;
    kj_host_spawner *spawner; /* of a kernel that launches others, and its children */
    uint64_t slots[];
} kj_host_launch;

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

/* Code for one specialisation. Owned by the caller: kj_code_free. */
typedef struct kj_code {
    void *bytes; /* the object, or NUL-terminated text for the textual stages */
    size_t size;
    const char *entry; /* symbol of the entry; in the arena given to kj_compile */
    int64_t
        scratch;   /* bytes a worker needs for values that live across barriers; a multiple of 64 */
    int64_t stack; /* bytes that it and its children take of a CPU's stack, each */
    const kj_tkernel *kernel; /* for packing arguments, requires and shared sizes; in that arena */
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

/* Compiles a specialisation up to `stage`. Messages about the source go to diag (then false, with
 * diag->errors > 0); what is wrong with the toolchain is an error at the kernel's name with code
 * "internal". Thread-safe for distinct arenas. */
bool kj_compile(kj_arena *arena, kj_diag *diag, const kj_program *program,
                const kj_kernel_decl *kernel, const kj_spec *spec,
                const kj_compile_options *options, kj_stage stage, kj_code *out);
/* kj_compile in two steps, between which code that was kept from another time can take the place of
 * the second: the typed kernel, which with the entry is all that a launch needs beside the code; and
 * the code. */
bool kj_specialise(kj_arena *arena, kj_diag *diag, const kj_program *program,
                   const kj_kernel_decl *kernel, const kj_spec *spec, kj_code *out);
bool kj_generate(kj_arena *arena, kj_diag *diag, const kj_compile_options *options, kj_stage stage,
                 kj_code *code);
/* Compiles n kernels, at least one, into one module. out[i] is what kernel i came to; the bytes are
 * the first's, of them all. */
bool kj_compile_all(kj_arena *arena, kj_diag *diag, const kj_program *program,
                    const kj_kernel_decl *const *kernels, const kj_spec *specs, int n,
                    const kj_compile_options *options, kj_stage stage, kj_code *out);
void kj_code_free(kj_code *code);

/* Everything but source, specialisation and options that code depends on: the compiler and the LLVM
 * it was made with; and the target's features. One line each. */
const char *kj_identity(kj_arena *arena);
const char *kj_target_name(kj_arena *arena, const kj_compile_options *options);

/* In PTX that is to be linked with CUDA's device runtime. */
#define KJ_DEVRT_SYMBOL "__cudaCDP2LaunchDeviceV2"

/* The levels of CPUs there can be code for, lowest first: "x86-64-v2" and so on; NULL past the last. */
const char *kj_cpu_level(int i);
/* What a level has and the CPU this runs on does not, as LLVM calls it, in the arena; NULL: nothing. */
const char *kj_cpu_lacks(kj_arena *arena, const char *level);

/* The GPUs there can be code for, oldest first: "sm_75" and so on; NULL past the last. */
const char *kj_gpu(int i);

/* The name of a GPU's variable for a const array that the host fills. A CPU has the addresses of
 * those a kernel uses in slots behind the parameters', in the order of its roots. */
#define KJ_FILLED_SYMBOL "kj_const_%s"

/* Bytes of shared memory a block needs under these launch values; -1 when a shape is negative or
 * the sum overflows. */
int64_t kj_shared_bytes(const kj_tkernel *kernel, const kj_eval_env *env);

#endif
