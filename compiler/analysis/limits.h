/* Which indices are inside of their axes: what can be said when a kernel is compiled, and what as soon as
 * a launch gives extents, numbers and the grid.
 *
 * kj_limits walks over a typed kernel whose accesses have checks (kj_index_check) and finds, of each
 * index and extent, an interval: a node of a graph whose leaves are constants and what a launch fixes.
 * A check that holds whatever these are is proved. One that may hold by them becomes a test of the
 * launch, a bit: kj_unheld evaluates the graph and says which do not hold. Code is made for such a set:
 * kj_settle takes those checks out of the kernel that are proved, or hold at the launch. */
#ifndef KJ_ANALYSIS_LIMITS_H
#define KJ_ANALYSIS_LIMITS_H

#include "analysis/interval.h"
#include "tast/tast.h"

/* ---- What a launch evaluates ---- */

typedef struct kj_limit {
    kj_interval_op op;
    kj_dtype type;
    int a, b, c; /* nodes before this one; of a leaf what it is of */
    kj_interval known;
} kj_limit;

/* An index below an extent, where `high`, and not below 0, where `low`; or else a path that has no value: it
 * is not taken. */
typedef struct kj_limit_test {
    int index, extent, path; /* nodes */
    bool low, high;
} kj_limit_test;

enum { KJ_MAX_TESTS = 64, KJ_MAX_LIMITS = 1024 };

typedef struct kj_limits {
    const kj_limit *nodes;
    int n;
    const int *given; /* nodes that are a launch's own: all else follows from them */
    int ngiven;
    kj_limit_test tests[KJ_MAX_TESTS];
    int ntests;
} kj_limits;

/* ---- limits.c, limit_walk.c ---- */

/* Is it a number of the launch, or of an array that does not change in a loop? */
bool kj_is_lasting_extent(const kj_texpr *e);
/* Is the checked index the variable of a loop that counts up by a constant, and the extent a lasting one? Then the first
 * turn and the last say all. */
bool kj_is_counted(const kj_tstmt *loop, const kj_index_check *c, kj_texpr *const *index);
/* Decides the checks of the kernel. Without `launched`, as of a kernel that kernels launch, no values of
 * a launch will be there. */
void kj_limits_find(kj_arena *arena, kj_tkernel *kernel, bool launched);
/* Leaves the checks that are neither proved nor hold at the launch, and the sites of those, also of the
 * kernels that it launches: `unheld` has a bit for each test. */
/* Gives the operations whose values are looked at their sites: of checks the bits of --check (values.c). */
void kj_look_at_values(kj_arena *arena, const kj_source *source, kj_tkernel *kernel,
                       unsigned checks);
void kj_limits_settle(kj_arena *arena, kj_tkernel *kernel, uint64_t unheld);
/* A line for each check, for --emit=checks. */
const char *kj_limits_dump(kj_arena *arena, const kj_source *source, const kj_tkernel *kernel);

/* ---- limit_graph.c ---- */

typedef struct kj_limit_graph {
    kj_arena *arena;
    kj_limit *nodes;
    int n, cap;
    int *table; /* of nodes + 1, by hash */
    int table_size;
} kj_limit_graph;

void kj_graph_init(kj_limit_graph *g, kj_arena *arena);
int kj_graph_const(kj_limit_graph *g, int64_t lo, int64_t hi);
int kj_graph_leaf(kj_limit_graph *g, kj_interval_op op, int a, int b, kj_interval known);
int kj_graph_node(kj_limit_graph *g, kj_interval_op op, kj_dtype type, int a, int b, int c);
static inline kj_interval kj_known(const kj_limit_graph *g, int node)
{
    return g->nodes[node].known;
}
/* The graph that the tests need, with their nodes renumbered; no tests where it is too large. */
void kj_graph_prune(const kj_limit_graph *g, kj_limits *out);

/* ---- limit_facts.c, limit_range.c ---- */

/* of + by, which does not wrap; of is NULL: by alone. */
typedef struct kj_limit_sum {
    const kj_texpr *of;
    int64_t by;
} kj_limit_sum;

/* Of two integers: lhs < rhs, or lhs <= rhs where or_equal; each side is to be believed as long as no
 * variable in it has been assigned. `most` and `least`: nodes of rhs and lhs. */
typedef struct kj_limit_fact {
    const kj_texpr *lhs, *rhs;
    kj_limit_sum less, more; /* the two, taken apart */
    int most, least;
    kj_reason why;
    bool or_equal, moves; /* moves: it has mutable variables */
    bool lhs_holds, rhs_holds;
} kj_limit_fact;

typedef struct kj_limit_undo {
    int var, node; /* var >= 0: what it was */
    int fact;      /* else a fact, and */
    bool lhs, rhs; /* which sides it had */
} kj_limit_undo;

typedef struct kj_limit_var {
    int node;             /* its interval; 0: nothing is known */
    const kj_texpr *made; /* what it was declared as, unless it is assigned later; or NULL */
    const kj_texpr *init; /* the same, if that gives the same value wherever it stands */
    int born, moved;      /* its declaration and last assignment, by kj_limit_state.born */
} kj_limit_var;

/* What is known where the walk is. */
typedef struct kj_limit_state {
    kj_arena *arena;
    kj_limit_graph graph;
    const kj_tkernel *kernel;
    kj_limit_var *vars;
    kj_limit_fact *facts;
    int nfacts, fact_cap;
    kj_limit_undo *undo;
    int nundo, undo_cap;
    int path;      /* has no value in a launch whose threads do not come here */
    int born;      /* declarations and assignments so far */
    int names;     /* that are being looked through */
    int choices;   /* and conditional expressions */
    kj_reason why; /* what is learned now is known */
    kj_reason reasons[KJ_MOST_REASONS]; /* that the last kj_is_less went by */
    int nreasons;
    int looks;     /* at expressions, so far: beyond KJ_MOST_LOOKS at no more */
    int last_look; /* of the comparison that is going on */
} kj_limit_state;

/* Ranges and comparisons of all that a kernel is looked at for, of which each is of less than a microsecond. Where they end
 * nothing more is found out, and indices are looked at when the kernel runs. */
enum { KJ_MOST_LOOKS = 5000000 };

typedef struct kj_limit_mark {
    int nfacts, nundo, path;
} kj_limit_mark;

void kj_state_init(kj_limit_state *s, kj_arena *arena, const kj_tkernel *kernel);
kj_limit_mark kj_state_mark(const kj_limit_state *s);
void kj_state_back(kj_limit_state *s, kj_limit_mark mark);
void kj_state_set(kj_limit_state *s, const kj_var *v, int node);
/* It was assigned: facts about it are of the past. */
void kj_state_moved(kj_limit_state *s, const kj_var *v);
/* What is behind a conversion that keeps values, or a name. */
const kj_texpr *kj_plain(const kj_limit_state *s, const kj_texpr *e);
bool kj_mentions(const kj_texpr *e, const kj_var *v); /* NULL: one that is assigned */
/* Does it give the same value wherever it stands? */
bool kj_is_lasting(const kj_texpr *e);
/* The node of an integer's or bool's interval. */
int kj_range_of(kj_limit_state *s, const kj_texpr *e);
/* That of a sum, difference or product before its type makes it wrap. */
int kj_exact_range(kj_limit_state *s, const kj_texpr *e);
const kj_texpr *kj_sum_of(const kj_limit_state *s, const kj_texpr *e); /* NULL: it is no sum */
/* An expression as another one and a constant; of a constant alone NULL. */
kj_limit_sum kj_parts_of(kj_limit_state *s, const kj_texpr *e);
/* Have they the same value? Of NULL and NULL, too. */
bool kj_is_same(kj_limit_state *s, const kj_texpr *a, const kj_texpr *b);
/* Narrowed by facts of the very expression, or of it and a constant. */
int kj_told_range(kj_limit_state *s, const kj_texpr *e, int range);
/* Of a - b, before its type makes it wrap, narrowed by facts that say b is not over a. */
int kj_told_difference(kj_limit_state *s, const kj_texpr *e, int range);
/* The test holds, or does not. */
void kj_learn(kj_limit_state *s, const kj_texpr *test, bool holds);
void kj_learn_less(kj_limit_state *s, const kj_texpr *lhs, const kj_texpr *rhs, bool or_equal);
void kj_learn_least(kj_limit_state *s, const kj_texpr *e, int64_t least);
/* Is it known that a < b, by facts? */
bool kj_is_less(kj_limit_state *s, const kj_texpr *a, const kj_texpr *b);

#endif
