/* Uniformity: which values differ between the threads of a block, and along which axes.
 *
 * A dependence is a set of the axes of threadIdx that a value may vary with; the empty set is a
 * value that is the same for the whole block. Control counts: a variable assigned under a condition
 * takes the condition's dependence, one assigned in a loop that threads leave at different times
 * takes that of the exits. Barrier placement, scalar or vector code, branch or mask are all decided
 * from these sets. A load from an address is as uniform as the address as long as it is one load: a gang's
 * threads make it together, and what runs once for the block has the block's. But the gangs of a region make it
 * one after the other, and what others store between them is no fault of the kernel's: between gangs it may
 * differ (KJ_DEP_GANG), and where threads run one after the other, as under a lock (spin.c), between them.
 * What an operation of a warp gives depends on which threads there are and run: it may vary along all
 * axes. What a barrier gives is the whole block's.
 *
 * What is the same for a block may differ between blocks; the same rules say what does not.
 *
 * The axes are those of the gang: where its lanes run along another one than threadIdx.x
 * (kj_tkernel.lanes), KJ_DEP_X is that one. */
#ifndef KJ_UNIFORM_H
#define KJ_UNIFORM_H

#include "tast/tast.h"

enum {
    KJ_DEP_X = 1,
    KJ_DEP_Y = 2,
    KJ_DEP_Z = 4,
    KJ_DEP_THREAD = 7,
    KJ_DEP_ATOMIC =
        8, /* may depend on what an atomic gives, or a load that sees others' stores (spin.c) */
    KJ_DEP_BLOCK = 16,  /* the same for a block's threads, but not for all blocks */
    KJ_DEP_AGAIN = 32,  /* may depend on a load that sees others' stores, so on when it is made */
    KJ_DEP_GANG = 64,   /* the same for a gang's threads, but not for all of the block's gangs */
    KJ_DEP_GIVEN = 128, /* may depend on what other threads have stored, voted or given in a warp */
    KJ_DEP_VARIES = KJ_DEP_THREAD | KJ_DEP_GANG, /* not the same for all of a block's threads */
};

/* `a // by`, `a % by`, `a >> by` or `a & by`, of threads' numbers and one of the launch's: where that is large, or a mask that
 * has all of the lower bits (high: none), threads side by side access elements side by side. */
typedef struct kj_large {
    struct kj_large *next;
    kj_op op;
    bool high;
    const kj_texpr *by;
} kj_large;

enum {
    KJ_ROWS_LOOKED_AT = 16
}; /* of a kernel: accesses whose lanes may lie side by side (lower/memory/row.c) */

typedef struct kj_deps {
    uint8_t *var;     /* by kj_var.id */
    uint8_t *element; /* by root id: KJ_DEP_ATOMIC, KJ_DEP_GIVEN where one may hold what they say */
    bool overlap;     /* what it writes may be elements of any array of global memory */
    bool atomics;     /* the kernel has some */
    bool warps;       /* it asks for lanes or has operations of a warp: gangs are whole warps */
    uint8_t lane;     /* of laneid */
    bool alone;       /* on a CPU its threads had best run one by one (alone.c), */
    const kj_large *large; /* but where all of these are; NULL: always (large.c) */
    int lanes;             /* kj_tkernel.lanes: KJ_DEP_X is of that axis */
} kj_deps;

/* For a CPU: the kernel, or where its gangs' lanes had best run along another axis of threadIdx than x, or by the threads'
 * numbers, a copy that says so (lanes.c). */
const kj_tkernel *kj_with_lanes(kj_arena *arena, const kj_tkernel *kernel);
/* Does it show in which order a block's threads run? */
bool kj_shows_order(const kj_tkernel *kernel);
/* Is the block so narrow that lanes may go by the threads' numbers? */
bool kj_is_narrow(const kj_tkernel *kernel);
/* So many threads are a vector: KJ_GANG, or KJ_GANG_OF_BYTES. */
int kj_least_gang(const kj_tkernel *kernel);
/* May a gang's lanes go on from one block into the next along that axis of threadIdx (across.c)? */
bool kj_go_across(kj_arena *arena, const kj_tkernel *kernel, int axis);
/* Which parameters are only counted in (tally.c). */
void kj_find_tallies(kj_arena *arena, kj_tkernel *kernel);

/* How many values of 4 bytes a thread has at once, in variables that differ from thread to thread (live.c). */
int kj_live_values(kj_arena *arena, const kj_tkernel *k, const kj_deps *deps);

/* Also fills the `divergence` of every loop (its trip count and exits) and tblock (its leaves), and puts
 * declarations of what is the block's in front of their region, where nothing keeps them. */
kj_deps *kj_uniform(kj_arena *arena, const kj_tkernel *kernel);

/* An error for each grid_sync() that not all threads of the grid come to together. */
void kj_check_grid(kj_arena *arena, kj_diag *diag, const kj_tkernel *kernel);

/* Does a load of it see what other threads store, each time? */
bool kj_is_fetched_again(const kj_tarray *a);

/* Had a CPU best run the kernel's threads one by one (alone.c)? Finds deps->alone and deps->large. */
void kj_run_alone(kj_arena *arena, const kj_tkernel *kernel, kj_deps *deps);

/* The dependence of an expression; of one that loads, where it is evaluated once. */
uint8_t kj_dep(const kj_deps *deps, const kj_texpr *e);

/* Of the accesses that are told of (KJ_CHECKS_WATCHED), by site: KJ_WATCH_SAME and so on of stores, KJ_WATCH_OF_LOADS of
 * loads (stored.c, deciding.c). */
const uint16_t *kj_stored_alike(kj_arena *arena, const kj_tkernel *kernel, const kj_deps *deps);
void kj_find_deciding(kj_arena *arena, const kj_tkernel *kernel, uint16_t *flags);

/* ---- Which variables are made of which, by arithmetic (flow.c) ---- */

typedef struct kj_flow kj_flow;

kj_flow *kj_find_flow(kj_arena *arena, const kj_tkernel *kernel);
/* A variable's set, by id, has grown: so do those of all that are made of it. */
void kj_flow_from(kj_flow *flow, int var, uint8_t *sets);

/* ---- What runs once for the block (once.c) ---- */

/* May it as well be evaluated once for the block? */
bool kj_is_common(const kj_tkernel *kernel, const kj_deps *deps, const kj_texpr *e);
/* Is what a construct around regions evaluates itself, evaluated once? */
bool kj_asks_once(const kj_tkernel *kernel, const kj_deps *deps, const kj_tstmt *s);
/* May the statement run once, at an end of a region: does it only set what the block has in common? */
bool kj_runs_once(const kj_tkernel *kernel, const kj_deps *deps, const kj_tstmt *s);
/* May what loads be evaluated before it, too? */
bool kj_can_wait(const kj_tstmt *s);
/* Does it load from such an array; NULL: from any? */
bool kj_loads(const kj_texpr *e, bool (*which)(const kj_tarray *a));

/* Do others, too, store to it? */
static inline bool kj_is_for_all(const kj_tarray *a)
{
    return a->root->space == KJ_GLOBAL || a->root->space == KJ_SHARED;
}

/* The sets as text, for --emit=uniform. */
const char *kj_uniform_dump(kj_arena *arena, const kj_source *source, const kj_tkernel *kernel,
                            const kj_deps *deps);
/* For tests: what is wrong with them, or NULL. */
const char *kj_uniform_check(kj_arena *arena, const kj_tkernel *kernel, const kj_deps *deps);

#endif
