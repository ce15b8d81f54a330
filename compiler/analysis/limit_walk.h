/* The walk that decides checks, in parts: limit_walk.c has expressions, branches and the accesses,
 * limit_loop.c loops and inlined blocks. */
#ifndef KJ_ANALYSIS_LIMIT_WALK_H
#define KJ_ANALYSIS_LIMIT_WALK_H

#include "analysis/limits.h"

typedef struct kj_limit_end {
    const kj_var *var;
    int node;
} kj_limit_end;

/* Values of variables at the end of a branch. */
typedef struct kj_limit_ends {
    int n;
    kj_limit_end *each;
} kj_limit_ends;

/* A variable that a loop assigns: what it is before the first turn and was assigned in any, and the same
 * without what cannot make it less (low), or more (high). */
/* What is guessed of one assignment, in a ring in their order. */
typedef struct kj_limit_guess {
    struct kj_limit_guess *next;
    const kj_texpr *value;
    int how;
} kj_limit_guess;

typedef struct kj_limit_turn {
    const kj_var *var;
    int any, low, high;
    kj_limit_guess *guess; /* the one that was looked at last; NULL: there is none */
    bool plain;            /* low and high were not found to hold */
} kj_limit_turn;

typedef struct kj_limit_loop {
    struct kj_limit_loop *up;
    const kj_tstmt *stmt;
    kj_limit_turn *each;
    int n;
    int born;    /* what was counted before it */
    bool guess;  /* nothing is known of the variables: `each` is being found */
    bool trial;  /* there will be another walk, from which loops around learn */
    bool failed; /* in a turn one became less than its low, or more than its high */
} kj_limit_loop;

/* A block that is left early. */
typedef struct kj_limit_left {
    struct kj_limit_left *up;
    const kj_tblock *block;
    kj_limit_end *each;
    int n;
    bool any; /* it ends somewhere */
} kj_limit_left;

typedef struct kj_limit_walk {
    kj_limit_state state;
    bool launched;
    kj_reliance confirms;    /* checks are decided: does one that held rely on others so far? */
    bool looped;             /* some loop was seen */
    bool dead;               /* what stands here is not reached */
    bool broke;              /* the loop around has a break */
    const kj_var **assigned; /* so far, from assigned_from on each once */
    int nassigned, assigned_cap, assigned_from;
    kj_limit_test *tests;
    int ntests, test_cap;
    kj_limit_access *first, **last;
    int *stamps, stamp; /* of variables that begin in what is looked through */
    kj_limit_loop *loop;
    kj_limit_left *left;
    int guesses; /* loops around that are being guessed at */
    int visits;  /* of statements, of which loops in loops have many */
} kj_limit_walk;

/* Of others nothing is known but facts, such as u32(f) < 8. */
static inline bool kj_has_range(const kj_var *v)
{
    return kj_is_int(v->type) || v->type == KJ_BOOL;
}

/* ---- limit_walk.c ---- */

void kj_limit_stmts(kj_limit_walk *w, kj_tstmt *s);
void kj_limit_expr(kj_limit_walk *w, kj_texpr *e);
/* The variable begins here. */
void kj_limit_born(kj_limit_walk *w, const kj_var *v, int node);
void kj_limit_assigned(kj_limit_walk *w, const kj_var *v, int from);
/* The variables, declared before, that statements assign; returns how many. */
int kj_limit_assigned_in(kj_limit_walk *w, const kj_tstmt *list, const kj_var ***out);

/* ---- limit_loop.c ---- */

void kj_limit_for(kj_limit_walk *w, const kj_tstmt *s);
void kj_limit_while(kj_limit_walk *w, const kj_tstmt *s);
/* The variable gets a value of that range: what loops around make of that. */
void kj_limit_turns(kj_limit_walk *w, const kj_var *v, const kj_texpr *value, int range);
void kj_limit_block(kj_limit_walk *w, const kj_tblock *block);
void kj_limit_leave(kj_limit_walk *w, const kj_tblock *block);

#endif
