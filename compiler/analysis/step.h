/* How far values move from one thread to the next along an axis of threadIdx: typed AST in. What threads assign under
 * different conditions counts as if all did; that they may differ then, kj_dep (uniform.h) tells. For those who estimate
 * what accesses cost, as a value that moves by an element is a vector's load. */
#ifndef KJ_STEP_H
#define KJ_STEP_H

#include "tast/tast.h"

/* Where lanes go by the threads' numbers, NUMBER_Y is blockDim.x * threadIdx.y, of which threadIdx.x, ALONG_X, makes the
 * number, ONE. */
typedef enum kj_step {
    KJ_STEP_STAYS,
    KJ_STEP_ONE,
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
} kj_steps;

/* Of all variables, in the arena. False where that takes too many rounds: then nothing is known. */
bool kj_steps_find(kj_steps *f, kj_arena *arena, const kj_tkernel *kernel, int axis, bool flat);

kj_step kj_step_of(const kj_steps *f, const kj_texpr *e);
/* Of where an access is in its array. */
kj_step kj_step_of_place(const kj_steps *f, const kj_tarray *a, kj_texpr *const *index);
/* Does it move by one from turn to turn of a loop? */
bool kj_goes_by_turns(const kj_steps *f, const kj_texpr *e);

#endif
