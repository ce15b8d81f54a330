/* What integers can be (range.c). */
#ifndef KJ_WARN_RANGE_H
#define KJ_WARN_RANGE_H

#include "tast/tast.h"

/* By the id of a variable that never changes: its declaration or loop; NULL, or beyond room: not known. */
typedef struct kj_made {
    const kj_tstmt **of;
    int room;
    bool exact; /* arithmetic is to give what it would in more bits */
} kj_made;

/* Of a power, what the compiler holds in a variable where it stands, or computes in an arm of a choice: what that is; else
 * e. */
const kj_texpr *kj_in_place(const kj_made *made, const kj_texpr *e);

/* x ** 3, which is products by now: the x; or NULL. */
const kj_texpr *kj_power_base(const kj_made *made, const kj_texpr *e);

/* Does a call take integers for what they are? *then: what becomes of them, as "compared"; NULL: they are handed on. */
bool kj_takes_integers(const kj_texpr *e, const char **then);

/* May a binary operation give what its type does not hold? */
bool kj_leaves_type(const kj_made *made, const kj_texpr *operation);

/* Would a type of at most 32 bits hold what arithmetic gives if nothing in it wrapped? */
bool kj_fits(const kj_made *made, const kj_texpr *e, kj_dtype type);

#endif
