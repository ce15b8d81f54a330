/* Atomics of integers that come to the same in any order and grouping. */
#ifndef KJ_TALLY_H
#define KJ_TALLY_H

#include "lang/types.h"

typedef enum kj_tally_op {
    KJ_TALLY_NONE,
    KJ_TALLY_ADD,
    KJ_TALLY_AND,
    KJ_TALLY_OR,
    KJ_TALLY_XOR,
    KJ_TALLY_MIN,
    KJ_TALLY_MAX
} kj_tally_op;

/* The one that an atomic on elements of that type is; NONE: its order shows. */
kj_tally_op kj_tally_of(kj_builtin id, kj_dtype type);
/* What changes nothing: the bits of the integer, zeros above. */
uint64_t kj_tally_identity(kj_tally_op op, kj_dtype type);

#endif
