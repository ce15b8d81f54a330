/* What integers can be (range.c). */
#ifndef KJ_WARN_RANGE_H
#define KJ_WARN_RANGE_H

#include "tast/tast.h"

/* By the id of a variable that never changes: its declaration or loop; NULL, or beyond room: not known. */
typedef struct kj_made {
    const kj_tstmt **of;
    int room;
} kj_made;

/* Does a call take integers for what they are? *then: what becomes of them, as "compared"; NULL: they are handed on. */
bool kj_takes_integers(const kj_texpr *e, const char **then);

/* May a binary operation give what its type does not hold? */
bool kj_leaves_type(const kj_made *made, const kj_texpr *operation);

#endif
