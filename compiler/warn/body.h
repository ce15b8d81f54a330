/* One body being looked at: names with what is known of them, and the rules that ask for it. */
#ifndef KJ_WARN_BODY_H
#define KJ_WARN_BODY_H

#include "warn/warn.h"

typedef enum kj_named_kind { KJ_B_LET, KJ_B_VAR, KJ_B_PARAM, KJ_B_OTHER } kj_named_kind;

/* What a number grows by from a thread to the next along an axis: `by`, times so many pitches that a launch fixes. */
typedef struct kj_step {
    int64_t by; /* 0: it is the same for both */
    int pitches;
} kj_step;

typedef struct kj_named_value {
    struct kj_named_value *outer,
        *before;      /* of the same name; declared before it, in open blocks */
    const char *name; /* interned */
    kj_span span;
    kj_named_kind kind;
    bool read, assigned, closed;
    bool shares,
        changed;    /* of a run block: may be another's array; is changed in place, if it is one */
    bool array;     /* a parameter that is one: what is stored through it is seen outside */
    bool own_array; /* shared or local: no memory whose axes matter */
    int ndim;       /* of a parameter that is an array */
    const struct kj_steps *steps;  /* of a let or a loop's variable; NULL: not known */
    const struct kj_indices *view; /* of a let of some of a parameter's elements */
    unsigned axes; /* of the thread's place in its grid that the value comes from: 1 x, 2 y, 4 z */
    int64_t least; /* the value is this at least; -1: nobody knows */
    bool meets, wide;    /* see kj_meets_least and kj_is_wide; its elements are */
    const kj_expr *init; /* of a let: who asks for the let asks for what is in it */
    kj_span
        looped; /* where the last loop has it as its own variable; begin 0: none since it was assigned */
    bool guarded;         /* something asks where its low end is */
    const kj_expr *below; /* an index that goes further back than `least` allows; or NULL */
} kj_named_value;

/* A name that a loop had as its own variable, and where. */
typedef struct kj_looped {
    kj_named_value *name;
    kj_span at;
    const struct kj_looped *before;
} kj_looped;

enum { KJ_MOST_RANDOMS = 16 };

typedef struct kj_body {
    kj_arena *arena;
    kj_diag *diag;
    const kj_file *file;
    const kj_item *item;
    kj_named_value *last;    /* declared, in open blocks */
    const kj_looped *looped; /* the last first */
    kj_named_value **slots;  /* by name, the innermost; cap is 0 or a power of two */
    size_t cap, count;
    int depth;  /* blocks that are open */
    int picked; /* conditions around that are for few threads, as i == 0 is */
    const kj_expr *randoms[KJ_MOST_RANDOMS]; /* numbers that lets of open blocks were given */
    int nrandoms;
    const kj_stmt *loop;   /* the innermost around; or NULL */
    int loop_picked;       /* conditions as `picked` around that */
    int inits;             /* values of lets that are being looked through */
    const char *slow_hint; /* what to write for it */
    const kj_expr *slow;   /* the first index whose last axis neighbours share; or NULL */
    const kj_expr *row;    /* a[i] of an a[i][j] that was seen */
    bool fast;             /* some index is along the last axis */
    const kj_expr *flat;   /* as `slow`, of i * w + j; how far apart neighbours are in it: */
    kj_step flat_apart;
    const char *flat_hint;
    bool unsure; /* another order may be worse for what some index is of */
} kj_body;

/* Names (names.c). */
/* Is it the run block, a test, or a function of run blocks? */
static inline bool kj_warn_in_run(const kj_body *b)
{
    return b->item->kind == KJ_I_RUN || b->item->kind == KJ_I_RUN_FN || b->item->kind == KJ_I_TEST;
}
kj_named_value *kj_warn_declare(kj_body *b, const char *name, kj_span span, kj_named_kind kind);
void kj_warn_of_looped(kj_body *b, kj_named_value *v); /* read, behind a loop? */
kj_named_value *kj_warn_find(const kj_body *b,
                             const char *name); /* NULL: it is none of the body's */
void kj_warn_close(kj_body *b,
                   kj_named_value *until); /* closes blocks: what was not read is said */

/* Where threads are (place.c). */
/* Is it a builtin of that name, and no name of the body's? */
bool kj_warn_is_builtin(const kj_body *b, const kj_expr *e, const char *name);
/* p of p[1], where let p = grid(2); NULL: it is none. */
kj_named_value *kj_grid_of_item(const kj_body *b, const kj_expr *e);
unsigned kj_axes_of(const kj_body *b, const kj_expr *e);
int64_t kj_least_of(const kj_body *b, const kj_expr *e);
/* Of a value whose least is known: is it that in the first thread and turn? */
bool kj_meets_least(const kj_body *b, const kj_expr *e);
/* Is it certain that it is computed in i32 or i64, where i - 1 is less than i? */
bool kj_is_wide(const kj_body *b, const kj_expr *e);
bool kj_is_wide_as(const kj_type_ref *t);
void kj_see_bounds(kj_body *b, const kj_expr *index); /* is it below 0? */
void kj_see_comparison(kj_body *b, kj_op op, const kj_expr *lhs, const kj_expr *rhs);
void kj_guard(kj_body *b, const kj_expr *e); /* every name in it */

/* How far apart what they use is (element.c). */
void kj_see_index(kj_body *b, const kj_expr *e);
void kj_see_call_with_arrays(kj_body *b, const kj_expr *call); /* of the file's own */
void kj_warn_of_slow_axis(kj_body *b);                         /* when all was seen */

/* Statements and expressions by themselves (statement.c). */
void kj_warn_of_list(kj_body *b, const kj_stmt *list);
void kj_warn_of_condition(kj_body *b, const kj_expr *test);
void kj_warn_of_divisor(kj_body *b, kj_op op, const kj_expr *divisor, kj_span span);
void kj_warn_of_operation(kj_body *b, const kj_expr *e);
void kj_warn_of_assignment(kj_body *b, const kj_stmt *st);
void kj_warn_of_value(kj_body *b, const kj_expr *e); /* as a statement */
/* The text there without the blanks around it; NULL: it is long, or of several lines. */
const char *kj_warn_text(kj_body *b, uint32_t begin, uint32_t end);

/* Random numbers of kernels (random.c). */
void kj_warn_of_random(kj_body *b, const kj_expr *e);
void kj_warn_of_same_numbers(kj_body *b, const kj_expr *init); /* of a let */

/* What is certain of names and functions (pure.c). */
bool kj_warn_is_zero(const kj_body *b,
                     const kj_expr *e); /* an integer, unless something asks for it */
/* Is it nobody else's, in a run block: no array or view of one that has a name, or may have? */
bool kj_warn_is_new(const kj_expr *e);
bool kj_warn_returns(const kj_stmt *body); /* a value, at its end */
/* Of a builtin: does it give a value, and nothing else? */
bool kj_warn_gives_only(const kj_body *b, const char *name);
bool kj_warn_member_gives_only(const char *name); /* ".sum" of a value, "random.uniform" */
/* A call of the file's function that gives a value, and nothing else. */
bool kj_warn_only_returns(const kj_body *b, const kj_expr *call);

/* Texts that are printed (text.c). */
void kj_warn_of_print(kj_body *b, const kj_expr *call);

#endif
