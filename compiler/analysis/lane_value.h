/* What the threads of a warp have of an integer, exactly: a typed kernel whose block is known in, a number a thread out, and what
 * all threads of its warp have in common added to it. So an access's sectors and banks, and whether a branch splits a warp, are
 * counted thread by thread (notes.h). What is not known so is not known at all: nothing here is true mostly (as in step.h).
 *
 * Threads of a warp are taken to be at the same turn of a loop, and arithmetic on what they have in common not to wrap; very
 * numbers of 32 bits wrap as they do. */
#ifndef KJ_LANE_VALUE_H
#define KJ_LANE_VALUE_H

#include "analysis/uniform.h"

enum { KJ_WARP_THREADS = 32, KJ_BLOCK_THREADS = 1024, KJ_LOOPS_AROUND = 64 };

/* Of thread t: lane[t] + c + u + by * scaled[t], with a u that its warp has in common, a multiple of `multiple`. */
typedef struct kj_lane_value {
    bool set, known;
    bool data;             /* not known, as memory says what it is */
    bool edge;             /* in some warps, where a bound is reached, it is another number */
    const int64_t *lane;   /* NULL: 0 */
    int64_t c;             /* the same for all */
    int64_t multiple;      /* 0: u is 0 */
    const kj_texpr *by;    /* a number that a warp has in common; NULL: none */
    const int64_t *scaled; /* with by */
    const kj_tstmt
        *within; /* of a variable: the loop in which that is so; NULL: wherever it stands */
} kj_lane_value;

typedef struct kj_lanes {
    kj_arena *arena;
    const kj_tkernel *kernel;
    const kj_deps *deps;
    kj_origin *const *origins;
    int n;                                  /* threads of a block */
    kj_lane_value *var;                     /* by kj_var.id */
    int *depth;                             /* likewise: constructs around its declaration */
    const kj_tstmt *loops[KJ_LOOPS_AROUND]; /* around what is looked at */
    int nloops;
    const bool
        *active; /* those that come to where it is looked, as far as that is certain; NULL: all */
    size_t room; /* numbers that may still be kept */
    bool changed;
} kj_lanes;

/* False: the block is not known, or nothing is found in a few rounds. */
/* (lane_var.c) */
bool kj_lanes_find(kj_lanes *l, kj_arena *arena, const kj_tkernel *kernel, const kj_deps *deps);
/* The walk that asks says in which loops it is. */
void kj_lanes_enter(kj_lanes *l, const kj_tstmt *loop);
void kj_lanes_leave(kj_lanes *l);

kj_lane_value kj_lane_value_of(kj_lanes *l, const kj_texpr *e);
/* Of where an access is in its array, in kj_unit's. */
kj_lane_value kj_lane_value_of_place(kj_lanes *l, const kj_tarray *a, kj_texpr *const *index);
static inline int64_t kj_lane(const kj_lane_value *v, int thread)
{
    return (v->lane ? v->lane[thread] : 0) + v->c;
}
kj_lane_value kj_lane_difference(kj_lanes *l, const kj_lane_value *a, const kj_lane_value *b);
/* Does what memory holds decide it? */
bool kj_lane_is_data(const kj_lanes *l, const kj_texpr *e);
/* Is it the very number, for each thread? */
static inline bool kj_lane_is_exact(const kj_lane_value *v)
{
    return v->known && !v->multiple && !v->by;
}
/* ---- lane_split.c ---- */

/* Has each warp one value? */
bool kj_lane_is_same(const kj_lanes *l, const kj_lane_value *v);

/* The greatest common divisor; of 0 and 0 0. */
int64_t kj_lane_divisor(int64_t a, int64_t b);
/* Does a[t] differ from b[t] by the same number in all threads? NULL: 0. */
bool kj_lanes_are_apart(const kj_lanes *l, const int64_t *a, const int64_t *b, int64_t *by);

/* Takes out of `active`, a bool a thread, those for which it is certain that the test does not come to `holds`. */
void kj_lanes_narrow(kj_lanes *l, const kj_texpr *test, bool holds, bool *active);
/* Does it hold for one thread of a warp at most, as i == n, whichever that is? */
bool kj_lanes_hold_for_one(kj_lanes *l, const kj_texpr *test);

/* How a condition splits warps. */
typedef enum kj_split {
    KJ_SPLIT_NOT,     /* it is the same for each warp */
    KJ_SPLIT_ONE,     /* one thread of some warp may go its own way */
    KJ_SPLIT_AT_EDGE, /* only warps in which a row of threads crosses a bound */
    KJ_SPLIT_SOME,    /* of the block's warps `*warps` */
    KJ_SPLIT_DATA,    /* memory says which */
    KJ_SPLIT_UNKNOWN
} kj_split;
/* Of the turns of `for`, as range() has them; how many, where that is known. */
kj_split kj_lanes_split_turns(kj_lanes *l, const kj_tstmt *loop, int64_t *turns);
kj_split kj_lanes_split(kj_lanes *l, const kj_texpr *test, int *warps);

#endif
