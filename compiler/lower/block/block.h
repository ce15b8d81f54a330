/* Lowering: the gangs of a block, and the entry that a launch calls. */
#ifndef KJ_LOWER_BLOCK_H
#define KJ_LOWER_BLOCK_H

#include "lower/gang/gang.h"

/* ---- shape.c ---- */

/* Chooses the gang for the kernel's block: rows and lanes, or lanes over the thread number; `single`: one
 * thread. */
void kj_gang_choose(kj_lower *lo, bool single);

/* ---- ways.c ---- */

/* Are all numbers of deps->large, so that gangs of lo->gang_lanes access rows? An i1, of what an entry begins with. */
LLVMValueRef kj_numbers_are_large(kj_lower *lo);

/* ---- gangs.c ---- */

/* Emits loops over the block's gangs (single threads with `scalar`); `each` emits one gang's code
 * under a mask that is never empty. */
typedef void kj_gang_fn(kj_lower *lo, kj_mask m, void *arg);
void kj_gang_each(kj_lower *lo, bool scalar, kj_gang_fn *each, void *arg);
/* Of those along the lanes: i64 values; NULL: the first, to the last, by ones. The step is of single threads. */
typedef struct kj_within {
    LLVMValueRef start, stop, step;
} kj_within;
/* The same of those within that alone. */
void kj_gang_within(kj_lower *lo, bool scalar, const kj_within *extent, kj_gang_fn *each,
                    void *arg);
/* Of a replay: where a block begins; and where it goes no further if some thread has failed. */
void kj_replay_begin(kj_lower *lo);
void kj_replay_pause(kj_lower *lo);
/* Do blocks run in another order than the source's, so that a smaller one may come behind one that fails, and is not to
 * be left out? */
bool kj_goes_on(const kj_lower *lo);

/* ---- reach.c ---- */

/* In front of a region: which threads have something to do in it. */
kj_within kj_within_of(kj_lower *lo, const kj_node *n);

/* ---- home.c ---- */

/* The variables a region finds and leaves in their homes: before its gangs, and at each one's begin
 * and end. */
void kj_gang_prepare(kj_lower *lo, int region);
void kj_gang_enter(kj_lower *lo, int region);
void kj_gang_leave(kj_lower *lo, int region, kj_mask arrived);
/* Stores an immutable variable where other regions find it. */
void kj_home_store(kj_lower *lo, const kj_var *v, kj_tile t, kj_mask m);
/* Room in scratch memory, in bytes of the block, and of each thread. An odd number of lines: what a gang has of one
 * thing after the other then lies in all sets of a cache, not in the few that a power of two comes back to. */
int64_t kj_scratch_room(kj_lower *lo, int64_t bytes);
int64_t kj_scratch_alloc(kj_lower *lo, int64_t size);

/* ---- block.c ---- */

/* The code of one block of threads; falls into `done`. */
void kj_lower_regions(kj_lower *lo, LLVMBasicBlockRef done);

/* ---- barrier.c ---- */

void kj_lower_barrier(kj_lower *lo, const kj_node *n);

/* ---- level.c ---- */

/* Goes over to code that runs once for the block; `back` undoes it. */
typedef struct kj_gang_state {
    int rows, lanes;
    kj_slot *slots;
    kj_mask present;
} kj_gang_state;
kj_gang_state kj_block_level(kj_lower *lo);
void kj_gang_back(kj_lower *lo, kj_gang_state s);

/* A construct of the block level that threads are inside of. */
struct kj_level {
    kj_level *up;
    const void *target; /* the loop statement or tblock it stands for; NULL for a condition */
    bool loop;
    int64_t active; /* scratch offset of the bytes; -1: whoever is active one level up */
    int64_t stay;   /* of a divergent loop: the bytes of threads still looping; else -1 */
    LLVMBasicBlockRef next,
        end; /* of a loop: its next iteration; where to go on when no thread is left */
};
/* The level whose bytes say who is active; NULL when all threads are. */
const kj_level *kj_level_deciding(const kj_level *level);
kj_mask kj_level_mask(kj_lower *lo, kj_mask m, const kj_level *level); /* those of m who are */
/* From what runs once for the block: `each` for its gangs, under the mask of the threads that take part. */
void kj_level_each(kj_lower *lo, kj_gang_fn *each, void *arg);
/* The bytes at a scratch offset, of the gang's threads. */
void kj_level_set(kj_lower *lo, int64_t at, kj_mask m);
/* Threads of a region leave a construct of the block level: `target`, or the nearest loop when that
 * is NULL; with `again` only for its next iteration. */
void kj_level_leave(kj_lower *lo, const void *target, bool again, kj_mask m);

/* ---- grid.c ---- */

/* A variable of code that runs once for the block, for now and behind grid_sync(). */
LLVMValueRef kj_kept_alloca(kj_lower *lo, LLVMTypeRef type, const char *name);
/* Keeps a scalar likewise, where that is needed: then `at` is not NULL. */
void kj_kept_value(kj_lower *lo, kj_tile t, LLVMValueRef *at);
kj_tile kj_kept_read(kj_lower *lo, kj_tile t, LLVMValueRef at);
/* Of a CPU's entry: before anything has scratch memory; where a block begins or goes on; where it
 * waits. */
void kj_grid_open(kj_lower *lo);
void kj_grid_resume(kj_lower *lo);
void kj_grid_wait(kj_lower *lo);

/* ---- cpu.c ---- */

/* Adds the entry (a kj_host_entry) of out->kernel to the module; notes the bytes of scratch memory it
 * needs in `out`. */
void kj_lower_cpu(kj_arena *arena, const kj_entry_spec *spec, kj_code *out);

/* ---- gpu.c ---- */

/* Adds a GPU's entry of out->kernel. Its parameters are all of the launch's slots, also those that
 * nothing uses; notes them and the bytes of static shared arrays in `out`. */
void kj_lower_gpu(kj_arena *arena, const kj_entry_spec *spec, kj_code *out);
bool kj_has_asserts(const kj_tkernel *k); /* anything that a thread can fail by */

/* ---- gpu_barrier.c ---- */

void kj_gpu_lower_barrier(kj_lower *lo, const kj_tstmt *s, kj_mask m); /* kj_lowering.barrier */
void kj_block_barrier(kj_lower *lo);                                   /* syncthreads() */
/* The barrier that the intrinsic is, of what each thread says or of nothing; returns what came of it. */
LLVMValueRef kj_gpu_barrier(kj_lower *lo, const char *name, LLVMValueRef arg);
LLVMValueRef kj_is_first_thread(kj_lower *lo); /* of its block */

/* ---- gpu_clear.c ---- */

/* At an untrusted kernel's begin: its shared arrays become zeros, those that are variables of the module and those
 * in the dynamic memory (or NULL), which has so many bytes, an i32. */
void kj_gpu_clear_shared(kj_lower *lo, LLVMValueRef dynamic, LLVMValueRef bytes);

/* ---- gpu_halt.c ---- */

LLVMValueRef kj_gpu_clock(kj_lower *lo); /* kj_lowering.clock */
/* At the entry's begin: where the halt is, and a look at it. */
void kj_halt_find(kj_lower *lo);
/* Instead of syncthreads(), where no thread has left: all end, or none. */
void kj_halt_leave_together(kj_lower *lo);

#endif
