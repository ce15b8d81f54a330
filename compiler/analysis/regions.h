/* Regions: a kernel cut at its barriers, so that one worker can run all threads of a block (loop
 * fission, as PoCL calls it, too).
 *
 * They hang in a tree over the typed AST's statements. A region is a run of statements without a
 * barrier: it becomes a loop over the block's threads. Everything around regions (loops,
 * conditions, inlined calls that hold a barrier) runs once for the block. Where the block's threads
 * may disagree about such a construct it is `divergent`: then a byte a thread says who is active,
 * and every barrier inside compares the threads that arrive with those alive. */
#ifndef KJ_REGIONS_H
#define KJ_REGIONS_H

#include "analysis/uniform.h"

typedef enum kj_node_kind {
    KJ_N_REGION, /* stmt up to end, for each thread */
    KJ_N_SCALAR, /* stmt: a declaration or assignment of a uniform variable, once */
    KJ_N_BARRIER,
    KJ_N_IF,     /* yes, no */
    KJ_N_LOOP,   /* for or while: yes is the body */
    KJ_N_INLINE, /* yes is the body */
    KJ_N_EXIT,   /* break, continue or leave by all threads: a jump */
} kj_node_kind;

/* A bound of the threads that have something to do in a region (reach.c): `index` op `limit`, of what goes on by one number
 * along a gang's lanes, and of what is the block's; with MOD the index is a multiple. */
typedef struct kj_reach {
    kj_op op; /* LT LE GT GE EQ MOD */
    const kj_texpr *index, *limit;
} kj_reach;

enum { KJ_REACHES = 3 };

typedef struct kj_node {
    kj_node_kind kind;
    struct kj_node *next;
    const kj_tstmt *stmt, *end;
    bool divergent; /* IF, LOOP, INLINE */
    bool exits;     /* REGION: threads leave constructs outside it */
    int region; /* REGION: its number; divergent IF and LOOP: that of the condition's evaluation,
                   BARRIER: of its argument's; else -1 */
    const kj_tstmt *spin;       /* a loop in that waits for others: thread after thread; or NULL */
    kj_reach reach[KJ_REACHES]; /* REGION */
    int nreach;
    bool alone; /* REGION: its threads had best run one by one (alone.c) */
    struct kj_node *yes, *no;
} kj_node;

/* Where a variable lives between regions. */
typedef enum kj_home {
    KJ_HOME_GANG,   /* nowhere: one region has all its uses */
    KJ_HOME_BLOCK,  /* uniform: one scalar for the block */
    KJ_HOME_THREAD, /* a value a thread, in the worker's scratch memory */
    KJ_HOME_REMAT,  /* computed again by each region from `init` */
} kj_home;

typedef struct kj_place {
    kj_home home;
    int region; /* the one region that uses it, or -1: several */
    const kj_var *var;
    const kj_texpr *init; /* of its declaration */
} kj_place;

typedef struct kj_regions {
    kj_node *body;
    kj_place *places; /* by variable id */
    bool *crossing;   /* by root id: a local array used by several regions */
    uint64_t *uses,
        *writes; /* bit sets a region: variables it needs, and assigns; see kj_region_uses */
    int nregions, words;
    bool fused;   /* no barriers, shared arrays or waits: neighbouring blocks may run row by row */
    bool barrier; /* the kernel has one: the kernel's own leaves are block-level */
} kj_regions;

kj_regions *kj_cut(kj_arena *arena, const kj_tkernel *kernel, const kj_deps *deps);
/* Finds which threads have something to do in each region (reach.c). */
void kj_find_reaches(const kj_tkernel *kernel, const kj_deps *deps, kj_regions *regions);
/* For a CPU: in which of those regions had the threads best run one by one (alone.c)? */
void kj_run_regions_alone(kj_arena *arena, const kj_tkernel *kernel, const kj_deps *deps,
                          kj_regions *regions);
/* The first loop in [s, end) that waits for other threads; NULL when none does (spin.c). */
const kj_tstmt *kj_find_spin(kj_arena *arena, const kj_tkernel *kernel, const kj_tstmt *s,
                             const kj_tstmt *end);
/* The first in what s evaluates itself. */
const kj_tstmt *kj_find_own_spin(kj_arena *arena, const kj_tkernel *kernel, const kj_tstmt *s);
/* May some statements of the kernel, whichever they are, hold such a loop? */
bool kj_may_spin(kj_arena *arena, const kj_tkernel *kernel);
/* Does a loop wait for other threads by loads: by those that are fetched again each time, or plain ones
 * beside an atomic or a fence? `only`: by those that name this array; NULL: by any. */
bool kj_waits_by_loads(kj_arena *arena, const kj_tkernel *kernel, const kj_tstmt *loop,
                       const kj_tarray *only);
/* Does what loads of that array find end it, of whatever loop? */
bool kj_ends_by_loads(kj_arena *arena, const kj_tkernel *kernel, const kj_tstmt *loop,
                      const kj_tarray *only);
/* Does what atomics on it give? */
bool kj_ends_by_atomics(kj_arena *arena, const kj_tkernel *kernel, const kj_tstmt *loop,
                        const kj_tarray *only);
/* Does an atomic leave what it finds: atomic.add(a, i, 0)? It is a load then. */
bool kj_is_poll(const kj_texpr *e);
/* What a thread has for itself, made of its number and of what atomics gave it: variables by id, local arrays by root id. */
typedef struct kj_owned {
    bool *var, *element;
} kj_owned;
const kj_owned *kj_find_owned(kj_arena *arena, const kj_tkernel *kernel);
/* Does that, beside what it loads, decide when it leaves the loop? Else all may leave it at once. */
bool kj_ends_by_own(kj_arena *arena, const kj_tkernel *kernel, const kj_owned *owned,
                    const kj_tstmt *loop);
/* By loads, or by what atomics give? */
bool kj_waits(kj_arena *arena, const kj_tkernel *kernel, const kj_tstmt *loop);
/* For a CPU: the kernel with one store where both ways of a condition end with it (joined.c). */
const kj_tkernel *kj_with_stores_joined(kj_arena *arena, const kj_tkernel *kernel);
/* For a CPU: the kernel with a turn a thread in place of a grid-stride loop (grid_stride.c). */
const kj_tkernel *kj_with_turns_shared_out(kj_arena *arena, const kj_tkernel *kernel);
/* For a CPU: puts barriers between operations of a warp and loops that wait for other threads (apart.c). */
void kj_set_apart(kj_arena *arena, const kj_tkernel *kernel);
/* For a CPU: which arrays' stores may go past the caches (past.c). */
void kj_find_past(kj_arena *arena, const kj_tkernel *kernel);
/* An error for each operation of a warp in a region that is run thread after thread. */
void kj_check_warps(kj_diag *diag, const kj_regions *regions);
/* May a block that has failed be run once more (replay.c)? */
bool kj_may_replay(kj_arena *arena, const kj_tkernel *kernel);
/* As text, for --emit=regions. */
const char *kj_regions_dump(kj_arena *arena, const kj_source *source, const kj_tkernel *kernel,
                            const kj_regions *regions);
/* For tests: what is wrong with them, or NULL. */
const char *kj_regions_check(kj_arena *arena, const kj_tkernel *kernel, const kj_deps *deps,
                             const kj_regions *regions);

static inline bool kj_region_uses(const kj_regions *regions, int region, int var)
{
    return regions->uses[region * regions->words + var / 64] >> (var % 64) & 1;
}

static inline bool kj_region_writes(const kj_regions *regions, int region, int var)
{
    return regions->writes[region * regions->words + var / 64] >> (var % 64) & 1;
}

#endif
