/* How far values move from one thread to the next along an axis of threadIdx: typed AST in. What threads assign under
 * different conditions counts as if all did; that they may differ then, kj_dep (uniform.h) tells. For those who estimate
 * what accesses cost, as a value that moves by an element is a vector's load. */
#ifndef KJ_STEP_H
#define KJ_STEP_H

#include "tast/tast.h"

/* SELDOM is what most neighbours have in common, as i // h and i >> s: what it adds to a step changes nothing. TURNS goes on
 * by one and back to 0 within a gang, as i % 4. TWO is 2 * i, of which butterflies subtract what makes it ONE, mostly.
 * Where lanes go by the threads' numbers, NUMBER_Y is blockDim.x * threadIdx.y, of which threadIdx.x, ALONG_X, makes
 * the number, ONE. Of a sum with what adds nothing the later one stays. */
typedef enum kj_step {
    KJ_STEP_STAYS,
    KJ_STEP_SELDOM,
    KJ_STEP_TURNS, /* only with `large` */
    KJ_STEP_ONE,
    KJ_STEP_TWO,
    KJ_STEP_LINE, /* by a number that is the same for all: i * n */
    KJ_STEP_ALONG_X,
    KJ_STEP_ALONG_Y,
    KJ_STEP_NUMBER_Y,
    KJ_STEP_FAR
} kj_step;

typedef struct kj_steps {
    const kj_tkernel *kernel;
    int axis;
    bool flat;    /* the lanes go by the threads' numbers */
    kj_step *var; /* by kj_var.id: what is known of it so far */
    bool *turns;  /* likewise: a loop of more than a few turns counts in it, by ones */
    bool changed;
    bool large; /* numbers that are not known tell neighbours hardly apart: i // h, i & (h - 1) */
    kj_origin *const *origins; /* with `large` */
} kj_steps;

/* Are neighbours' elements one, or side by side, mostly? */
static inline bool kj_step_is_short(kj_step s)
{
    return s <= KJ_STEP_ONE;
}

/* Of all variables, in the arena. False where that takes too many rounds: then nothing is known. */
bool kj_steps_find(kj_steps *f, kj_arena *arena, const kj_tkernel *kernel, int axis, bool flat,
                   bool large);

kj_step kj_step_of(const kj_steps *f, const kj_texpr *e);
/* Of where an access is in its array. */
kj_step kj_step_of_place(const kj_steps *f, const kj_tarray *a, kj_texpr *const *index);
/* Does the mask `by`, of a & by, leave the upper bits, as -h and ~(h - 1) do? Else the lower ones. */
bool kj_mask_is_high(const kj_steps *f, const kj_texpr *by);
/* The launch's numbers that decide how threads' accesses lie (large.c), found with `large`; false: what decides it is not
 * all the launch's, or is too much. */
struct kj_large;
bool kj_find_large(kj_arena *arena, const kj_steps *steps, const struct kj_large **out);
/* Does it move by one from turn to turn of a loop? */
bool kj_goes_by_turns(const kj_steps *f, const kj_texpr *e);

#endif
