/* Intervals of integers, and what operators make of them. A least that is INT64_MIN, or a most that is INT64_MAX, stands
 * for everything beyond, so that no sum of ends wraps; a least that is INT64_MAX for that number or more, all that is
 * beyond an i64: kj_interval_fit makes of such a result what a type holds. What is made of parts of intervals lies within
 * what is made of the whole ones. */
#ifndef KJ_ANALYSIS_INTERVAL_H
#define KJ_ANALYSIS_INTERVAL_H

#include "lang/types.h"

typedef struct kj_interval {
    int64_t lo, hi; /* lo > hi: no value, the code does not run */
} kj_interval;

typedef enum kj_interval_op {
    /* leaves: what a launch fixes */
    KJ_IV_CONST,
    KJ_IV_EXTENT, /* of the array parameter a along the axis b */
    KJ_IV_PARAM,  /* the scalar parameter a */
    KJ_IV_BLOCK,  /* threads of a block along the axis a */
    KJ_IV_GRID,   /* blocks along the axis a */
    /* whole numbers, before a type makes them wrap */
    KJ_IV_ADD,
    KJ_IV_SUB,
    KJ_IV_MUL,
    KJ_IV_DIV, /* floored; by 0 it is 0 */
    KJ_IV_MOD,
    KJ_IV_CEIL, /* a / b rounded up, b > 0 */
    KJ_IV_SHR,
    KJ_IV_AND,
    KJ_IV_OR, /* or ^ */
    KJ_IV_MIN,
    KJ_IV_MAX,
    KJ_IV_ABS,
    KJ_IV_HULL,     /* either */
    KJ_IV_ENDS,     /* from a's least to b's most */
    KJ_IV_MOST,     /* a, which is at most some b */
    KJ_IV_LEAST,    /* a, which is at least some b */
    KJ_IV_OTHER,    /* a, which is not b */
    KJ_IV_BOTH,     /* anything, unless a or b has no value */
    KJ_IV_RANGE,    /* the variable of range(a, b, c) in its loop */
    KJ_IV_FIT,      /* a, or what `type` holds where it has other values */
    KJ_IV_WHERE_FIT /* b where all of a is in `type`, else c */
} kj_interval_op;

static const int64_t kj_no_least = INT64_MIN, kj_no_most = INT64_MAX;

kj_interval kj_interval_of_type(kj_dtype type);
kj_interval kj_interval_of_const(kj_value v); /* of an integer or bool */
/* Does the type hold all of it, none of which wrapped? */
bool kj_interval_fits(kj_interval x, kj_dtype type);
/* Of the operators that are no leaves. */
kj_interval kj_interval_apply(kj_interval_op op, kj_dtype type, kj_interval a, kj_interval b,
                              kj_interval c);

#endif
