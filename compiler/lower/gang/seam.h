/* Seams of a torus: what seam.c asks of seam_find.c. */
#ifndef KJ_LOWER_SEAM_H
#define KJ_LOWER_SEAM_H

#include "lower/gang/gang.h"

/* A test of a coordinate, `a op b`, where b is one number. */
typedef struct kj_border {
    kj_op op;
    const kj_texpr *a, *b;
    bool inside; /* what it is away from the border */
} kj_border;

/* A coordinate that is held between two numbers, or on one side, where the other is NULL. */
typedef struct kj_clamped {
    const kj_texpr *line, *least, *most;
} kj_clamped;

/* Is it a neighbour modulo the number of those that there are? A coordinate away from a border, and something else at
 * it? */
bool kj_is_wrap(const kj_lower *lo, const kj_texpr *e);
bool kj_is_choice(const kj_lower *lo, const kj_texpr *e, kj_border *out);
/* max(x, 0), min(x, n) or clamp(x, 0, n)? */
bool kj_is_clamped(const kj_lower *lo, const kj_texpr *e, kj_clamped *out);
/* Is it `if l < 0 { l += w }`, of a variable that is assigned in such statements alone? And is it such a variable? */
bool kj_is_mending(const kj_lower *lo, const kj_tstmt *s, kj_border *out);
bool kj_is_mended(kj_lower *lo, const kj_var *v);
/* Is the variable declared in the statements? */
bool kj_seam_declares(const kj_seam *s, const kj_var *v);

#endif
