/* The typed AST: one kernel, one specialisation, everything resolved.
 *
 * Sema turns a kernel's AST and a kj_spec into a kj_tkernel; the devices lower it. What is left:
 *   - Every expression is a scalar of a kj_dtype, every conversion is explicit, both operands of a
 *     binary operator have one type (a shift count has the left operand's), a*b + c is KJ_TE_FMA
 *     where contraction applies.
 *   - No tuples: `let x, y = grid(2)` is two declarations; a tuple variable is one variable a
 *     component.
 *   - No calls of `fn`: each call is a fresh copy of its body, in place where it can be, else as a
 *     KJ_TS_INLINE statement when it leaves early, or a KJ_TE_INLINE expression where evaluation is
 *     conditional (then without barriers; sema refuses those with a hint).
 *   - No array expressions: a view's offset, shape and strides are scalar expressions over hidden
 *     `let` variables that sema declares where the view is made. An array parameter of a fn is its
 *     argument's view.
 *   - Indices, sizes, strides and offsets are i64, in elements.
 *   - No values of several scalars (kj_aggregate): a variable is one variable a part, a part of an
 *     array's elements a view whose offset and strides count scalars of its own type, and a load or
 *     store of an element one of each part. Only roots have such elements; their own strides count
 *     what the elements are aligned to (kj_unit).
 *   - Evaluation order is left to right; only atomics, stores, and calls of type KJ_VOID (fences
 *     and the like) have effects. Calls with how == WARP depend on which threads run: they stay
 *     under the conditions they were written under.
 *   - A load stands in one place, so that what is known of an access is known there. The values of a
 *     failed assert alone are parts of its condition.
 * Arena-allocated, immutable once built, but for `divergence` fields, which kj_uniform fills. */
#ifndef KJ_TAST_H
#define KJ_TAST_H

#include "kernel.h"
#include "parse/ast.h"

typedef struct kj_texpr kj_texpr;
typedef struct kj_tstmt kj_tstmt;

/* A scalar variable. Each has one declaration (KJ_TS_DECL, a parameter, a for loop, or a barrier),
 * seen before its uses. */
typedef struct kj_var {
    const char *name; /* as written, or a hint for hidden ones ("row.offset") */
    kj_span span;
    kj_dtype type;
    int id;       /* dense within the kernel: 0 .. nvars-1 */
    bool mutable; /* some KJ_TS_ASSIGN assigns it: never a let, a parameter or a loop variable */
    int param;    /* index in kj_tkernel.params, or -1 */
} kj_var;

typedef enum kj_space { KJ_GLOBAL, KJ_SHARED, KJ_LOCAL, KJ_CONST } kj_space;

/* When does it hold that an index is inside? (analysis/limits.c) */
typedef enum kj_held {
    KJ_HELD_NEVER, /* so far as is known: it is tested */
    KJ_HELD_BY_LAUNCH,
    KJ_HELD_ALWAYS
} kj_held;

/* Does what held hold because a check before it, in a loop, is made? */
typedef enum kj_reliance {
    KJ_RELIES_NOT,
    KJ_RELIES_COUNTED, /* on such as a loop can make in front of its turns: kj_is_counted */
    KJ_RELIES,         /* on others, too: the access may not be made before what is in the loop */
} kj_reliance;

/* What says that one number is less than another, and where. */
typedef enum kj_source_of_fact {
    KJ_BY_CONDITION,
    KJ_BY_LOOP,
    KJ_BY_REQUIRES,
    KJ_BY_CHECK /* another index, looked at before */
} kj_source_of_fact;
typedef struct kj_reason {
    kj_source_of_fact by;
    kj_span span;
} kj_reason;

/* By what an index is known to be inside, or what is not known of it. */
enum { KJ_MOST_REASONS = 3 };
typedef struct kj_ground {
    bool unreached; /* no thread comes there */
    bool low, high; /* not known: that it is not below 0, that it is below the extent */
    int64_t least, most,
        extent[2]; /* of the index, and of the extent the same, as far as they are known */
    kj_reason
        reasons[KJ_MOST_REASONS]; /* why it is below the extent, where its most does not say so */
    int nreasons;
} kj_ground;

/* An index that is looked at before an element is accessed: 0 <= index < extent, else it is a fault. */
typedef struct kj_index_check {
    struct kj_index_check *next;
    kj_texpr *index; /* i64; NULL: the access's own, along `axis` */
    int axis;
    kj_texpr *extent; /* i64 */
    const kj_site *site;
    kj_held held;
    kj_ground ground;
    int test; /* by the launch: its number */
    kj_reliance relies;
} kj_index_check;

static inline kj_texpr *kj_checked_index(const kj_index_check *c, kj_texpr *const *index)
{
    return c->index ? c->index : index[c->axis];
}

/* What was found of a place that is checked, in the order of the source. */
typedef struct kj_checked {
    const kj_site *site;
    kj_held held;
    kj_ground ground; /* of the access that decided it */
} kj_checked;

/* An array or a view of one. Roots (root == itself) are kernel parameters, shared, local and const
 * arrays. */
typedef struct kj_tarray {
    const char *name;
    kj_span span;
    kj_dtype elem;
    const kj_aggregate *of; /* the element type, where that is no scalar */
    int ndim;
    kj_space space;
    struct kj_tarray *root;
    kj_texpr *offset;              /* from the root's first element; NULL is 0 */
    kj_texpr *shape[KJ_MAX_NDIM];  /* i64: constants, KJ_TE_DIM of a parameter, or expressions */
    kj_texpr *stride[KJ_MAX_NDIM]; /* i64, in elements; the last is constant 1 under KJ_LAYOUT_C
                                      and KJ_LAYOUT_ROWS */
    kj_layout layout;
    /* Where in the last axis of a parameter an element at 0 of the own last one is, and 1 more; 0: that goes along
     * another, or by other steps, or from where is not known. */
    int64_t row;
    bool
        bytes; /* a field of a packed record: offset and strides count bytes, and so it is accessed */
    /* The part'th of the equal scalars of each element of `whole`, or NULL. */
    const struct kj_tarray *whole;
    int part;
    /* Of what accesses one element, and of views that an index was needed for. */
    kj_index_check *checks;
    bool decided;       /* of an access: the checks are its own, and known to be needed or not */
    kj_reliance relies; /* the most that one of those that held does */
    kj_site *watch;     /* of what accesses one element: its place, where accesses are told of */
    const char *cache;  /* how a GPU caches what is accessed, "cg" as in ld.cg; NULL: as it likes */
    /* of roots: */
    int id;             /* dense among the kernel's roots */
    int param;          /* index in kj_tkernel.params, or -1 */
    int last;           /* of a parameter: kj_spec.lasts */
    bool read, written; /* by any load, store, atomic in the kernel */
    bool past;          /* by analysis/past.c, of a parameter */
    kj_tally_op tally;  /* by analysis/tally.c, likewise */
    kj_dtype tallied;   /* so: what its elements are taken for there, by a view maybe */
    const void *data;   /* const arrays: the elements, C order, in memory form; NULL with filled */
    int filled; /* const arrays that the host fills: 1 + index in kj_program.filled, else 0 */
    const char *symbol;   /* of those: a GPU's variable */
    int64_t static_count; /* shared, local, const: elements; 0 when the shape is known only at the
                             launch */
    /* in sema alone: one of two arrays, the first where the test holds; accesses are of either */
    kj_texpr *test; /* NULL: a root of the kernel */
    struct kj_tarray *arms[2];
    bool
        narrow; /* of sema, too: a const array of literals, without a type, that have lost digits */
} kj_tarray;

/* Bytes of an element, and those that offset and strides count. */
static inline int64_t kj_elem_size(const kj_tarray *a)
{
    return a->of ? a->of->size : kj_types[a->elem].size;
}
static inline int kj_unit(const kj_tarray *a)
{
    return a->bytes ? 1 : a->of ? a->of->align : kj_types[a->elem].size;
}

typedef enum kj_texpr_kind {
    KJ_TE_CONST,  /* u.value */
    KJ_TE_VAR,    /* u.var */
    KJ_TE_DIM,    /* u.dim: shape or stride of an array parameter, as given at the launch; i64 */
    KJ_TE_INDEX,  /* u.index: threadIdx.x ...; i64. blockDim is a constant when the spec knows it */
    KJ_TE_UNARY,  /* u.unary: NEG INVERT NOT; + is its operand */
    KJ_TE_BINARY, /* u.binary: all of ops.def but POW (a call or products by now) */
    KJ_TE_LOGIC,  /* u.logic: short-circuit and/or of bools */
    KJ_TE_SELECT, /* u.select: only the chosen arm is evaluated */
    KJ_TE_CONVERT, /* u.unary.arg to type: as kj_fold_convert; to bool is != 0 */
    KJ_TE_BITS,    /* u.unary.arg's bits as that type, of the same width */
    KJ_TE_FMA,     /* u.fma: a * b + c rounded once; negated a or c stand as UNARY NEG */
    KJ_TE_LOAD,    /* u.load */
    KJ_TE_CALL,    /* u.call: a builtin with how != SEMA that is no atomic */
    KJ_TE_ATOMIC,  /* u.atomic: the old value */
    KJ_TE_ADDRESS, /* u.dim.array: of the root's first element, an i64; in launches by kernels */
    KJ_TE_INLINE,  /* u.inline_: runs the block, then is the value of `result` */
} kj_texpr_kind;

/* The direct operands of an expression, in the order of evaluation; returns how many. An access also
 * has its array's offset and strides as operands, and what its checks compare; an inlined call has
 * none. */
enum { KJ_MAX_CHECKS = KJ_MAX_NDIM + 1 /* an axis each, and a vector's part */ };
enum { KJ_MAX_OPERANDS = 2 * KJ_MAX_NDIM + 2 * KJ_MAX_CHECKS + 3 };
int kj_operands(const kj_texpr *e, const kj_texpr *out[KJ_MAX_OPERANDS]);
/* Without the conversions around it. */
const kj_texpr *kj_unconverted(const kj_texpr *e);
/* Those of a store's place. */
int kj_access_operands(const kj_tarray *a, kj_texpr *const *index,
                       const kj_texpr *out[KJ_MAX_OPERANDS]);
/* Is it a conversion of an integer to a type that has all values of its operand's? */
bool kj_keeps_value(const kj_texpr *e);
/* Is a loop's step a constant 1 or -1? */
bool kj_steps_by_one(const kj_texpr *step);
/* The values of a loop's variable: n of them, modulo 2^64. */
typedef struct kj_turns {
    uint64_t start, step, n;
} kj_turns;
/* Those of a `for`, where they are known: none with a step of 0. */
bool kj_known_turns(const kj_tstmt *s, kj_turns *out);
enum { KJ_UNROLL_TURNS = 256 }; /* of an @unroll that is written out */
/* May it be computed for threads that would not reach it, by so few operations that no branch is worth its price? */
bool kj_is_harmless(const kj_texpr *e);
/* The same number, of what is at hand: constants, variables, extents, threads' indices, and operators on these. What is
 * made of anything else is not the same as itself. */
bool kj_is_same_number(const kj_texpr *a, const kj_texpr *b);
/* Has it checks, or statements of its own? */
bool kj_may_fail(const kj_texpr *e);
/* Goes through the statements [s, end), whatever is within them, in the order of evaluation: calls
 * `visit` for each statement (e is NULL) before its parts, and for each expression, which belongs to
 * s, before its operands. A visit that returns false is the last; returns what the last one did. */
typedef bool kj_visit(void *ctx, const kj_tstmt *s, const kj_texpr *e);
bool kj_walk(const kj_tstmt *s, const kj_tstmt *end, kj_visit *visit, void *ctx);
/* What s evaluates itself: not the statements in it. */
bool kj_walk_own(const kj_tstmt *s, kj_visit *visit, void *ctx);
bool kj_walk_expr(const kj_tstmt *s, const kj_texpr *e, kj_visit *visit, void *ctx);
/* The first operation of a warp in the statements [s, end), at any depth; NULL when there is none.
 */
const kj_texpr *kj_warp_operation(const kj_tstmt *s, const kj_tstmt *end);
const kj_texpr *kj_own_warp_operation(const kj_tstmt *s); /* in what s evaluates itself */

typedef struct kj_tblock kj_tblock;

struct kj_texpr {
    kj_texpr_kind kind;
    kj_dtype type;
    bool written; /* its type was asked for, as in u8(a + b) */
    kj_span span;
    const kj_site
        *checked; /* of an operation whose value is looked at (analysis/values.c); or NULL */
    /* clang-format off */
    union {
        struct { kj_value value; kj_span from; }; /* from: where it was written, a parameter's in the call */
        kj_var *var;
        struct { kj_tarray *array; int axis; bool stride; } dim;
        struct { kj_index which; int axis; } index;
        struct { kj_op op; kj_texpr *arg; } unary;
        struct { kj_op op; kj_texpr *lhs, *rhs; } binary;
        struct { bool is_or; kj_texpr *lhs, *rhs; } logic;
        struct { kj_texpr *test, *yes, *no; } select;
        struct { kj_texpr *a, *b, *c; bool sum_first; } fma; /* sum_first: c is evaluated before a and b, as in c + a * b */
        struct { kj_tarray *array; kj_texpr *index[KJ_MAX_NDIM]; } load;
        struct { kj_builtin id; kj_texpr *args[KJ_BUILTIN_ARGS]; int nargs, part; } call; /* part: which result */
        struct { kj_builtin id; kj_tarray *array; kj_texpr *index[KJ_MAX_NDIM], *args[2]; } atomic;
        struct { kj_tblock *block; kj_var *result; } inline_;
    } u;
    /* clang-format on */
};

/* An inlined body, or a kernel's: a KJ_TS_LEAVE anywhere inside it ends it. */
struct kj_tblock {
    kj_tstmt *body;
    kj_span span;       /* of the call */
    const char *name;   /* of the function */
    bool leaves;        /* holds a KJ_TS_LEAVE for it (a return in tail position needs none) */
    bool barrier;       /* holds a KJ_TS_BARRIER, at any depth */
    uint8_t divergence; /* how its leaves diverge (uniform.h) */
};

typedef enum kj_tstmt_kind {
    KJ_TS_DECL,   /* u.decl: the variable begins here; a NULL init is 0 */
    KJ_TS_ARRAY,  /* u.array: a shared or local array begins here (locals start with unspecified
                     elements) */
    KJ_TS_ASSIGN, /* u.assign */
    KJ_TS_STORE,  /* u.store: a[i] op= v is a load and a store, with hidden lets for the indices */
    KJ_TS_EXPR,   /* u.expr, for its effect */
    KJ_TS_IF,     /* u.if_ */
    KJ_TS_FOR,    /* u.for_: Python's range: bounds evaluated once; step 0 runs no iteration */
    KJ_TS_WHILE,  /* u.while_ */
    KJ_TS_BREAK,  /* of the nearest loop in the same tblock */
    KJ_TS_CONTINUE,
    KJ_TS_LEAVE,   /* u.leave: ends that block (results were assigned before) */
    KJ_TS_INLINE,  /* u.block: an inlined call as a statement; the result variables are declared
                     before it */
    KJ_TS_BARRIER, /* u.barrier: with an argument, a bool, also counts or combines what the threads
                      have for it into `result`; implied: the source has none there */
    KJ_TS_REPORT,  /* u.report; that of a failed assert ends the thread */
    KJ_TS_LAUNCH,  /* u.launch: its values are the grid's three extents and the child's slots but
                      the last, the report; the result an i32, 0 or why there is no launch */
} kj_tstmt_kind;

struct kj_tstmt {
    kj_tstmt_kind kind;
    kj_span span;
    kj_tstmt *next;
    bool barrier;       /* a KJ_TS_BARRIER stands in it, at any depth */
    uint8_t divergence; /* of loops, how their iterations diverge (uniform.h) */
    /* clang-format off */
    union {
        struct { kj_var *var; kj_texpr *init; } decl;
        kj_tarray *array;
        struct { kj_var *var; kj_texpr *value; } assign;
        struct { kj_tarray *array; kj_texpr *index[KJ_MAX_NDIM]; kj_texpr *value; } store;
        kj_texpr *expr;
        struct { kj_texpr *test; kj_tstmt *yes, *no; } if_;
        struct { kj_var *var; kj_texpr *start, *stop, *step; kj_tstmt *body; bool unroll; } for_;
        struct { kj_texpr *test; kj_tstmt *body; } while_;
        kj_tblock *leave;
        kj_tblock *block;
        struct { const kj_site *site; kj_texpr **values; } report;
        struct { kj_builtin id; kj_texpr *arg; kj_var *result; bool implied; } barrier;
        struct { const struct kj_child *child; kj_texpr **values; int nvalues; kj_var *result; } launch;
    } u;
    /* clang-format on */
};

/* A kernel parameter in the launch's order: a scalar or an array. Const parameters are gone. */
typedef struct kj_tparam {
    const char *name;
    kj_var *var;      /* scalar, else NULL */
    kj_tarray *array; /* array, else NULL */
} kj_tparam;

typedef struct kj_trequire {
    struct kj_trequire *next;
    kj_span span;
    kj_texpr
        *test; /* over parameters, their shapes, block and grid dimensions: evaluated on the host */
} kj_trequire;

typedef struct kj_tkernel {
    const char *name;
    kj_span span; /* of the name */
    kj_span item; /* of all of it, to the closing brace */
    kj_tparam *params;
    int nparams;
    kj_tblock *body;
    kj_tarray **roots; /* all root arrays, by id */
    int nroots, nvars;
    const kj_site **sites; /* of its reports, by id */
    int nsites;
    bool prints; /* some site is a print's */
    struct kj_child
        *children; /* kernels that it launches, and they; of the one that the host does */
    int child;     /* 0, or kj_child.id */
    bool launches;
    const kj_tstmt *grid_sync; /* its first grid_sync(); NULL: blocks don't wait for one another */
    kj_trequire *requires;
    int64_t block[3]; /* from the spec; 0 when unknown */
    int lanes; /* 0, or the axis that is exchanged with x in `block`, and for a gang: its lanes run along
                  that one. Nodes have the source's axes */
    bool flat;    /* a gang's lanes go by the threads' numbers */
    bool across;  /* they go on into the next block, along x of `block` (analysis/across.c) */
    bool shares;  /* then: rows of a gang have loops in common */
    bool streams; /* what a row of threads accesses lies side by side, but for a few rows' */
    kj_texpr
        *numbers;  /* or NULL: its blocks share out those of a grid that has so many threads, an i64
                          that the launch gives (analysis/grid_stride.c) */
    kj_span turns; /* and the loop whose turns those threads have */
    int launch_bounds[2]; /* max threads, min blocks; 0 when not given */
    int max_registers;    /* of a thread; 0 when not given */
    bool fastmath, unchecked;
    bool small, disjoint, aligned, polls, untrusted; /* from the spec */
    unsigned wide, checks;                           /* likewise */
    /* Of indices that are checked (analysis/limits.h): */
    const struct kj_limits *limits; /* what a launch evaluates; NULL: nothing */
    struct kj_limit_access *accesses;
    kj_checked *checked;
    int nchecked;
} kj_tkernel;

/* A gang's axis for the source's, and back, where its lanes run along that one. */
static inline int kj_swapped(int axis, int lanes)
{
    return axis == 0 ? lanes : axis == lanes ? 0 : axis;
}

/* An access whose array is its own. */
typedef struct kj_limit_access {
    struct kj_limit_access *next;
    kj_tarray *array;
} kj_limit_access;

/* One specialisation of a kernel that kernels launch. */
typedef struct kj_child {
    struct kj_child *next;
    int id; /* from 1 on */
    const struct kj_kernel_decl *decl;
    kj_spec spec;
    kj_span span; /* of the first launch */
    kj_tkernel *kernel;
    const char *entry; /* compile.c's */
} kj_child;

/* By kj_var.id: what the kernel's code gives a variable, of a loop's the begin and the step. */
typedef struct kj_origin {
    struct kj_origin *next;
    const kj_texpr *value;
} kj_origin;
kj_origin **kj_origins(kj_arena *arena, const kj_tkernel *kernel);

/* The expression's value at a launch: over parameters, dimensions and indices. False when it needs a
 * thread (sema has refused those for requires). */
bool kj_eval(const kj_texpr *e, const kj_eval_env *env, kj_value *out);

/* The typed AST as an indented listing, for --emit=tast and tests. */
const char *kj_tast_dump(kj_arena *arena, const kj_tkernel *kernel);

/* For tests: what is wrong with it, or NULL. */
const char *kj_tast_check(kj_arena *arena, const kj_tkernel *kernel);

#endif
