/* PTX, executed: the driver double's GPU.
 *
 * ptx_load parses a module's text as the driver's compiler would and lays out its variables;
 * ptx_run executes one launch, block after block, 32-lane warps, exact IEEE arithmetic. What it
 * doesn't know is an error that names the line, never a guess. Global memory is the caller's: an
 * address (below 1 << 56) is looked up with ptx_memory, so that every access is checked to the
 * byte. Thread-safe for distinct modules; a module's launches are the caller's to order. */
#ifndef PTX_H
#define PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Device memory: a range of addresses and the host memory that stands behind it. */
typedef struct ptx_range {
    uint64_t begin, end; /* of the allocation that holds the address */
    char *host;          /* what begin is here */
} ptx_range;

/* Finds the allocation with that address; false when there is none. May be asked from the thread
 * that runs the launch, often: answers are remembered for the length of a launch. */
typedef struct ptx_memory {
    void *ctx;
    bool (*find)(void *ctx, uint64_t address, ptx_range *out);
    /* For a module's global and constant variables; addresses like any others. */
    uint64_t (*alloc)(void *ctx, size_t size, size_t align);
    void (*release)(void *ctx, uint64_t address);
} ptx_memory;

typedef struct ptx_module ptx_module;
typedef struct ptx_kernel ptx_kernel;

/* The chip and the newest PTX that the simulated driver takes: 90 for sm_90, 84 for PTX 8.4. */
typedef struct ptx_limits {
    int chip, version;
    bool devrt; /* the device runtime is linked to it: kernels may launch kernels */
} ptx_limits;

/* NULL with the code the driver gives (CUDA_ERROR_INVALID_PTX 218, _UNSUPPORTED_PTX_VERSION 222,
 * _NO_BINARY_FOR_GPU 209, _OUT_OF_MEMORY 2) and a line of explanation a mistake in `log`. The text
 * is copied. */
ptx_module *ptx_load(const char *text, const ptx_limits *limits, const ptx_memory *memory,
                     char *log, size_t log_size, int *code);
void ptx_unload(ptx_module *module);

const ptx_kernel *ptx_find_kernel(const ptx_module *module, const char *name);
/* Kernel i, from 0 on; NULL behind the last. */
const ptx_kernel *ptx_kernel_at(const ptx_module *module, int i);
const char *ptx_kernel_name(const ptx_kernel *kernel);
bool ptx_find_global(const ptx_module *module, const char *name, uint64_t *address, size_t *size);

typedef struct ptx_param {
    size_t offset, size; /* in the kernel's parameter memory */
} ptx_param;

typedef struct ptx_kernel_info {
    int nparams;
    const ptx_param *params;
    size_t param_size;
    int registers;        /* an estimate: the declared virtual registers, capped at 255 */
    size_t local, shared; /* bytes: local a thread, static shared a block */
    int max_threads;      /* by .maxntid or .reqntid; 1024 without */
    unsigned required[3]; /* .reqntid; 0 without */
} ptx_kernel_info;

const ptx_kernel_info *ptx_kernel_about(const ptx_kernel *kernel);

typedef struct ptx_launch {
    const ptx_kernel *kernel;
    const void *params; /* param_size bytes */
    unsigned grid[3], block[3];
    size_t dynamic_shared;
    bool cooperative; /* all blocks run at once; else a few */
    uint64_t seed;    /* of the order in which blocks and warps run */
    uint64_t steps;   /* most instructions of one warp before it counts as hung; 0: no limit */
    int apart;        /* lanes that went apart meet again only where they synchronise; 2: they go
                       * apart anywhere */
} ptx_launch;

typedef struct ptx_fault {
    /* "illegal global address 0x7f... (4 bytes, store), kernel saxpy, PTX line 40 (saxpy.knl:9),
     * block (1, 0, 0), thread (3, 0, 0)" */
    char text[640];
    unsigned block[3], thread[3];
    int line;
} ptx_fault;

/* 0, or the code the driver would give and the first fault: 700 illegal address, 716 misaligned
 * address, 715 illegal instruction, 719 launch failed (trap, divergent barrier), 702 hung. */
int ptx_run(const ptx_launch *launch, ptx_fault *fault);

/* Memory for a while, aligned to 64 bytes, and back, with the same size (ptx_spare.c); NULL: there is none. It holds what it
 * held before. */
void *ptx_take(size_t size);
void ptx_give(void *memory, size_t size);

#endif
