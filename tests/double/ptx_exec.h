/* A launch in progress: blocks, warps and their lanes; what the instructions' functions share. */
#ifndef PTX_EXEC_H
#define PTX_EXEC_H

#include <string.h>

#include "ptx_impl.h"

typedef struct ptx_exec ptx_exec;
typedef struct ptx_block ptx_block;

/* One activation of a function in a warp: all lanes called from the same place share it, each with
 * its own elements of the columns. Lanes of one frame and instruction can run together. */
typedef struct ptx_frame {
    struct ptx_frame *next; /* of the warp's */
    struct ptx_frame *caller;
    int site; /* the call */
    int depth;
    const ptx_function *function;
    char *columns;
    char *params; /* call_params bytes a lane */
    size_t local; /* where its part of a lane's local memory starts */
    int block;    /* its special registers are of that block */
} ptx_frame;

/* From a lane's own memory to the next lane's, so that each is aligned. */
static inline size_t ptx_stride(size_t size)
{
    return (size + 15) & ~(size_t)15;
}

static inline size_t ptx_columns_size(const ptx_function *function)
{
    return ((size_t)function->frame + 127) / 64 * 64;
}

static inline size_t ptx_params_size(const ptx_function *function)
{
    return PTX_LANES * ptx_stride(function->call_params + 1);
}

typedef enum ptx_state {
    PTX_RUNS,
    PTX_WAITS_WARP,  /* for other lanes of its warp */
    PTX_WAITS_BLOCK, /* at a barrier */
} ptx_state;

/* Lanes that run together. */
typedef struct ptx_group {
    uint32_t lanes;
    int pc;
    ptx_frame *frame;
    ptx_state state;
    int barrier;
    uint32_t mask; /* of the instruction at which it waits for its warp */
} ptx_group;

typedef struct ptx_copy ptx_copy;

struct ptx_warp {
    char *columns; /* of the frame that runs */
    ptx_frame *frame;
    uint32_t active; /* lanes of the group that runs */
    uint32_t alive;
    ptx_exec *exec;
    ptx_block *block;
    int index;
    ptx_frame *frames;
    ptx_group groups[PTX_LANES * 2]; /* some may be empty for a moment */
    int ngroups, current;
    int meets;           /* where the running group meets another */
    uint64_t impatience; /* of groups that could run and do not */
    uint32_t carry;      /* of add.cc, a bit a lane */
    uint64_t steps;
    char *local; /* a lane's after another's */
    size_t local_size;
    ptx_copy *copies; /* that have not arrived (ptx_copy.c) */
    size_t ncopies, copies_room;
    unsigned batches[PTX_LANES]; /* of copies: how many each lane has committed */
};

typedef struct ptx_barrier {
    unsigned arrived;  /* threads, and those of bar.arrive */
    unsigned expected; /* 0: all that live */
    unsigned hits;
    unsigned waiting;
} ptx_barrier;

struct ptx_block {
    int serial; /* which of the launch's blocks it is, counted as they start */
    unsigned id[3];
    ptx_warp *warps;
    int nwarps;
    unsigned alive; /* threads */
    char *shared;
    ptx_barrier barriers[PTX_BARRIERS];
};

/* A range that an instruction's addresses fell in before. */
typedef enum ptx_base { PTX_ABSOLUTE, PTX_OF_BLOCK, PTX_OF_WARP, PTX_OF_FRAME } ptx_base;

typedef struct ptx_span {
    uint64_t begin, size;
    uintptr_t host; /* of begin, from its base */
    ptx_base base;
} ptx_span;

typedef struct ptx_marks ptx_marks;
typedef struct ptx_pending ptx_pending;

struct ptx_exec {
    const ptx_launch *launch;
    ptx_module *module;
    const ptx_function *entry;
    ptx_fault *fault;
    int code; /* of the fault; 0 */
    ptx_span *spans;
    uint64_t random;
    ptx_marks *marks; /* of global memory, the last used first */
    int nthreads, nwarps;
    size_t shared_size;      /* static with its gaps, and dynamic */
    uint64_t dynamic_shared; /* its address */
    int serial;
    ptx_pending *launched, **launched_end; /* by the kernel, in order */
    ptx_pending *buffers;                  /* for launches to come, the last first */
    unsigned npending;                     /* of both */
};

/* ---- Faults (ptx_run.c) ---- */

/* The first one is kept; the launch ends. */
void ptx_raise(ptx_warp *warp, const ptx_inst *inst, int lane, int code, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
uint64_t ptx_random(ptx_exec *exec);

/* ---- The executor (ptx_exec.c) ---- */

/* Runs the warp for about that many instructions, until none of its lanes can run, or a fault. */
void ptx_run_warp(ptx_warp *warp, int turns);
/* The frame of a function called at an instruction by the lanes that run. */
ptx_frame *ptx_enter(ptx_warp *warp, const ptx_function *function, ptx_frame *caller, int site);
/* Splits lanes off the group that runs, or all of it; they go on at pc, in that state. */
ptx_group *ptx_split(ptx_warp *warp, uint32_t lanes, int pc, ptx_state state);

/* ---- Launches by kernels (ptx_launch.c) ---- */

/* Calls a function of the device runtime; false after a fault. */
bool ptx_call_devrt(ptx_warp *warp, const ptx_inst *inst, const ptx_call *call, uint32_t lanes);
/* The parameters of a launch that has not been made yet. */
bool ptx_find_buffer(const ptx_exec *exec, uint64_t address, ptx_span *span);
/* Runs what the grid, which has ended, has launched; frees it all. */
void ptx_run_pending(ptx_exec *exec);

/* ---- Lanes that stay apart (ptx_apart.c) ---- */

/* The group to go on with and for how many instructions, drawn from the seed; -1: none runs. */
int ptx_pick_apart(ptx_warp *warp, int *burst);

/* ---- Waiting for one another (ptx_sync.c) ---- */

/* The instruction at the running group's pc, done for those lanes whose partners have come. */
void ptx_meet(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes);
void ptx_barrier_arrive(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes);
/* Threads ended: whoever waited for them goes on. */
void ptx_leave(ptx_warp *warp, uint32_t lanes);
/* No lane of the warp can run: a fault if lanes wait for what cannot come any more. */
void ptx_check_waiting(ptx_warp *warp);
/* The same of a block that cannot run; false when it has ended. */
bool ptx_report_waiting(ptx_block *block);

/* ---- Memory (ptx_memory.c) ---- */

/* The function of a load or store, whose registers are known now. */
ptx_fn *ptx_choose_access(const ptx_inst *inst, bool store);
/* The host's address of a lane's access; 0 after a fault. */
uintptr_t ptx_locate(ptx_warp *warp, const ptx_inst *inst, int lane, unsigned bytes, bool write);

/* The same of any number of bytes, so aligned. */
uintptr_t ptx_locate_piece(ptx_warp *warp, const ptx_inst *inst, int lane, unsigned align,
                           unsigned bytes, bool write);

/* ---- Memory that is only read (ptx_readonly.c) ---- */

/* The allocation of an access: it is marked from now on, if the module reads any such memory. */
void ptx_add_marks(ptx_exec *exec, const ptx_span *span);
/* An access to global memory by ld.global.nc or, write, by a store or an atomic update. */
void ptx_mark(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes, unsigned bytes, bool write,
              const uintptr_t where[PTX_LANES]);
void ptx_free_marks(ptx_exec *exec);

/* ---- Instructions: each choice gives the function of a form ---- */

#define OP(pattern, operands, choose) ptx_fn *choose(const ptx_form *form);
#define OP_CONTROL(pattern, operands, choose, control) ptx_fn *choose(const ptx_form *form);
#include "ptx_ops.def"

/* cvt's, whose registers are known now. */
ptx_fn *ptx_choose_conversion(const ptx_inst *inst);
ptx_fn ptx_read_clock, ptx_pack, ptx_unpack;

#endif
