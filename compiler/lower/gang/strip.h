/* Loops by strips: what strip.c asks of others. */
#ifndef KJ_LOWER_STRIP_H
#define KJ_LOWER_STRIP_H

#include "lower/gang/gang.h"

enum { KJ_MOST_WALKS = 8, KJ_MOST_ROOTS = 4, KJ_MOST_LETS = 8, KJ_MOST_ONES = 2 };

/* An access of a loop that walks: its place is one element further in each turn. */
typedef struct kj_along {
    const kj_tarray *array;
    kj_texpr *const *index;
    uint8_t dep; /* of its place */
    bool stores;
    bool always;                     /* in each turn, by all threads of the loop */
    bool narrow;                     /* by a sum of fewer than 64 bits, which may wrap around */
    bool moved;                      /* by strips */
    kj_access at;                    /* its place in the first turn */
    LLVMValueRef first[KJ_MAX_ROWS]; /* and each lane's address */
} kj_along;

typedef struct kj_roots {
    const kj_tarray *root[KJ_MOST_ROOTS];
    int n;
} kj_roots;

struct kj_strip {
    const kj_tstmt *loop;
    bool down;
    int length;  /* of a strip, in turns */
    bool apart;  /* threads take a number of turns each */
    bool fails;  /* a turn may tell a fault */
    bool strays; /* a load's place changes in the turns, and walks not */
    bool counts; /* of an index that could have been looked at in front of the loop */
    kj_along walks[KJ_MOST_WALKS]; /* in the order of execution */
    int nwalks;
    kj_roots stored, loaded; /* the launch's arrays of the loop's other stores and loads */
    const kj_tstmt *lets[KJ_MOST_LETS]; /* of the loop's body, that places are made of */
    int nlets;
    const kj_texpr *ones[KJ_MOST_ONES]; /* places walk where these are 1 */
    int nones;
    LLVMValueRef turns; /* of the loop: an i64 without a sign */
    kj_tile steps;      /* from each thread's first turn to its last: integers */
    LLVMValueRef turn;  /* of the strip: an i64 */
};

/* ---- strip_find.c ---- */

/* What a loop has that may go by strips; false where that is nothing. */
bool kj_strip_find(const kj_lower *lo, const kj_tstmt *loop, kj_strip *out);

/* ---- strip.c ---- */

/* May there be one more of such loops? Then it is counted. */
bool kj_strip_more(kj_lower *lo);
/* How many turns each thread takes, and the most: that is exact where `few` holds, an i1. */
typedef struct kj_lengths {
    kj_tile each; /* i32 */
    LLVMValueRef most, few;
} kj_lengths;
kj_lengths kj_strip_lengths(kj_lower *lo, const kj_strip *strip, const kj_range *range, kj_mask m);
/* The loop's variable, and the lets of its body that places are made of, are those of that turn. */
void kj_strip_goto(kj_lower *lo, const kj_strip *strip, kj_tile turn, kj_mask m);
/* The variable in turn `number`, counted from 0. */
kj_tile kj_strip_turn(kj_lower *lo, const kj_strip *strip, kj_tile start, kj_tile number);

/* ---- strip_allow.c ---- */

/* Finds the threads' addresses in the first turn, that of `start`, and goes on here if the loop may go by
 * strips, else at `rest`. */
void kj_strip_branch(kj_lower *lo, kj_strip *strip, kj_tile start, LLVMBasicBlockRef rest,
                     kj_mask m);

#endif
