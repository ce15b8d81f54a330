/* Whole-array expressions of run blocks, sectioned by file. In: arrays and numbers that operators
 * and functions work on element by element; out: launches of kernels written for the expression.
 *
 * An operator on an array builds a tree, a value of kind KJ_R_LAZY. Where an array is needed the
 * tree is computed, as one kernel: it never outlives the expression of the source that it stands
 * for, so nothing its arrays hold changes before. Kernels are made as source text and go through
 * the module's own pipeline; the text names no value of the run but literals, so it is the key
 * they are kept by. Types follow the rules of kernels, a number those of a literal. */
#ifndef KJ_LAZY_H
#define KJ_LAZY_H

#include "run/value/value.h"

/* ---- node.c: trees ---- */

static inline bool kj_is_array(kj_rvalue v)
{
    return v.kind == KJ_R_ARRAY || v.kind == KJ_R_LAZY;
}
kj_dtype kj_lazy_type(kj_rvalue array);
int kj_lazy_shape(kj_rvalue array, const int64_t **shape); /* gives the number of axes */
/* References of one's own to operands, in which vectors count as their numbers, one axis more; and
 * the end of them, which gives `ok`. */
bool kj_lazy_take(kj_run *r, kj_span at, const kj_rvalue *v, int n, kj_rvalue *own);
bool kj_lazy_taken(kj_rvalue *own, int n, bool ok);
/* The type that operands of `what` meet in; fails where they are no numbers. */
bool kj_lazy_common(kj_run *r, kj_span at, const char *what, const kj_rvalue *v, int n,
                    kj_dtype *type);
/* The same of operands that are numbers. They may be bools of the run block, or arrays of bool. */
bool kj_lazy_unify(kj_run *r, kj_span at, const char *what, const kj_rvalue *v, int n,
                   kj_dtype *type);
bool kj_lazy_numbers(kj_run *r, kj_span at, const char *what, const kj_rvalue *v, int n);
/* The type that numbers and choices of numbers have alone, and the one that some have together. */
kj_dtype kj_lazy_type_alone(kj_rvalue untyped);
kj_dtype kj_lazy_types_alone(const kj_rvalue *untyped, int n);
bool kj_lazy_alone(kj_run *r, kj_span at, kj_rvalue v); /* fails where that does not hold them */
bool kj_lazy_holds(kj_dtype type, kj_rvalue untyped);   /* all its numbers, as they are */
bool kj_lazy_is_bool(kj_rvalue v);
bool kj_lazy_is_complex(kj_rvalue v);
/* "an array of f32", "a list", for messages; and such a message. */
const char *kj_lazy_describe(kj_rvalue v, char buf[48]);
bool kj_lazy_wrong_kind(kj_run *r, kj_span at, const char *what, const char *wanted, kj_rvalue v);
/* An operation that takes each argument as `as`; and as a value. */
kj_lazy kj_lazy_node(kj_lazy_form form, kj_dtype type, const kj_rvalue *args, int n, kj_dtype as);
bool kj_lazy_make(kj_run *r, kj_span at, kj_lazy *e, kj_rvalue *out);
/* Results are KJ_R_LAZY, one argument at least is an array; the arguments stay the caller's. */
bool kj_lazy_binary(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue b, kj_rvalue *out);
bool kj_lazy_unary(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue *out);
bool kj_lazy_cast(kj_run *r, kj_span at, kj_dtype to, kj_rvalue a, kj_rvalue *out);
/* c64(re, im) of real arrays and numbers. */
bool kj_lazy_complex(kj_run *r, kj_span at, kj_dtype to, const kj_rvalue parts[2], kj_rvalue *out);

/* ---- untyped.c: choices of numbers, which have no type until they meet one ---- */

/* A number, or a choice of numbers. */
bool kj_lazy_is_untyped(kj_rvalue v);
/* Is a choice between the two one of numbers, and not of too many? */
bool kj_lazy_stays_untyped(const kj_rvalue arms[2]);
/* v[1] where v[0], else v[2]: one of numbers. */
bool kj_lazy_untyped_choice(kj_run *r, kj_span at, const kj_rvalue v[3], kj_rvalue *out);
/* Are all, and one a choice, and what is computed of them not of too many? Of a function: and what it
 * is of numbers has no type either. */
bool kj_lazy_are_untyped(const kj_rvalue *v, int n);
bool kj_lazy_keeps_untyped(kj_builtin id, const kj_rvalue *v, int n);
/* Asks of every number, until one says no. */
typedef bool kj_lazy_number_fn(void *ctx, kj_rvalue number);
bool kj_lazy_each_number(kj_rvalue untyped, kj_lazy_number_fn *visit, void *ctx);
/* Of such operands: the choice of what it is of each number. */
typedef struct kj_lazy_fn {
    bool is_op;
    kj_op op;
    kj_builtin builtin;
} kj_lazy_fn;
bool kj_lazy_of_choices(kj_run *r, kj_span at, const kj_lazy_fn *f, const kj_rvalue *v, int n,
                        kj_rvalue *out);
/* A choice in the type that it met. */
bool kj_lazy_retyped(kj_run *r, kj_span at, kj_rvalue v, kj_dtype type, kj_rvalue *out);

/* ---- call.c: calls of functions ---- */

/* v[1] where v[0], else v[2]; spans: theirs, for failures. */
bool kj_lazy_choice(kj_run *r, kj_span at, kj_lazy_form form, const char *what,
                    const kj_span spans[3], const kj_rvalue *v, kj_rvalue *out);

/* Likewise; of functions with several results a tuple. */
bool kj_lazy_call(kj_run *r, kj_span at, kj_builtin id, const kj_rvalue *args, int n,
                  kj_rvalue *out);

/* ---- domain.c: what a kernel runs over ---- */

enum { KJ_DOMAIN_AXES = KJIT_MAX_NDIM + 1 }; /* one more, to exchange two */

/* An array in it. */
typedef struct kj_domain_array {
    kjit_array *array;
    int64_t strides[KJ_DOMAIN_AXES]; /* bytes, along each axis of the domain */
    bool has[KJ_DOMAIN_AXES];        /* else it is the same all along the axis */
    kjit_array *view; /* what the kernel gets: the axes it has, or one with one element */
    kjit_array
        *packed; /* the same where elements are not aligned, of which `view` is a copy; or NULL */
} kj_domain_array;

/* The axes of the result, joined where every array goes on evenly from one into the next. */
typedef struct kj_domain {
    int ndim;
    int64_t shape[KJ_DOMAIN_AXES];
    int group[KJ_DOMAIN_AXES]; /* axes of different groups stay apart */
    int narrays, room;
    kj_domain_array *arrays, few[4];
    bool failed; /* one found no memory, and is missing */
} kj_domain;

void kj_domain_init(kj_domain *s, int ndim, const int64_t *shape);
int kj_domain_find(const kj_domain *s, const kjit_array *a); /* narrays: it isn't there */
/* Its place among the arrays; the same view twice is one. Its axes are the domain's last. */
int kj_domain_add(kj_domain *s, kjit_array *a);
/* One more, whose axes are still to be said; returns its place. */
int kj_domain_append(kj_domain *s, kjit_array *a);
/* Drops axes of one element, puts the others in the order of array `by`'s strides (unless that is
 * -1), joins neighbours. At least one axis is left. */
void kj_domain_join(kj_domain *s, int by);
bool kj_domain_views(kj_run *r, kj_span at, kj_domain *s); /* ends with kj_domain_free */
/* What the kernel stored into an array's view is in the array. */
bool kj_domain_stored(kj_run *r, kj_span at, const kj_domain *s, int array);
void kj_domain_free(kj_domain *s);

/* ---- text.c: trees as source text ---- */

/* A kernel being written, and the arguments of its launch in order. */
typedef struct kj_lazy_kernel {
    kj_run *run;
    kj_span at;    /* for failures */
    kj_span named; /* the text that timings show */
    kj_domain domain;
    kj_text params, lets, body; /* lets: what values need before them */
    kj_text functions;          /* what calls those of the file, by names of no variable here */
    kjit_arg *args, few[8];
    int nargs, room, nscalars, nlets;
    bool uses;   /* `functions` begins with uses of the files that the run's does not use itself */
    bool failed; /* an argument found no memory */
} kj_lazy_kernel;

/* The file that `use std.<space>` in such a text is of; NULL: it is none of those. */
const kj_file *kj_lazy_used(const kj_program *program, const char *space);
/* Adds the arrays of a value to the domain. */
void kj_lazy_gather(kj_domain *s, kj_rvalue v);
/* Declares the domain's arrays as parameters a0, a1, ... */
void kj_lazy_params(kj_lazy_kernel *k);
/* One more argument. */
void kj_lazy_argument(kj_lazy_kernel *k, kjit_arg arg);
/* One more parameter, with its argument; one for an array of one axis. */
void kj_lazy_parameter(kj_lazy_kernel *k, const char *name, const char *type, kjit_arg arg);
void kj_lazy_flat(kj_lazy_kernel *k, const char *name, kjit_array *a);
/* Array i at the position i0, i1, ... */
void kj_lazy_element(const kj_lazy_kernel *k, kj_text *t, int i);
/* The value at the position i0, i1, ..., as an expression of type `type`; numbers become
 * parameters. It stands behind the lets, which kj_lazy_lets puts. */
void kj_lazy_value(kj_lazy_kernel *k, kj_text *t, kj_rvalue v, kj_dtype type);
void kj_lazy_lets(kj_lazy_kernel *k, kj_text *t);
/* The name by which the kernel calls a function of the file. */
void kj_lazy_function(kj_lazy_kernel *k, kj_text *t, const kj_item *fn);
/* The kernel's own name. */
void kj_lazy_name(const kj_lazy_kernel *k, kj_text *t);

/* ---- grid.c: threads and their positions ---- */

/* An axis is named by a letter: its extent is n0, a thread's position i0. */
void kj_lazy_extents(kj_lazy_kernel *k); /* "let n0 = a0.shape[0]" and so on, for 0, 1, ... */
void kj_lazy_positions(kj_text *t, const char *axes);
void kj_lazy_inside(kj_text *t, const char *axes); /* "if i0 < n0 {" */
/* The positions along several axes from one number over them all, and that number from them. */
void kj_lazy_indices(kj_text *t, const char *axes, const char *number);
void kj_lazy_number(kj_text *t, const char *axes, const char *name);
/* For the axes of kj_lazy_positions. */
void kj_lazy_blocks(int n, const int64_t *extents, int64_t grid[3], int64_t block[3]);
/* An axis is done in chunks: those of threads that take one each are named c, and stand before the
 * last of the axes that are kept. */
void kj_lazy_chunk_axes(const char *kept, int64_t chunks, char axes[KJ_DOMAIN_AXES + 2]);
/* threads: of the block that takes a chunk; 0: a thread does. */
void kj_lazy_chunk_blocks(const kj_domain *d, const char *kept, int64_t chunks, int threads,
                          int64_t grid[3], int64_t block[3]);

/* ---- cache.c: modules, kept by their text, a limited number of them ---- */

typedef struct kj_lazy_cache kj_lazy_cache;

/* The module of this source under the run's compile options; functions: it is the run's file with more
 * behind it, and uses what that uses. Ends with kj_module_drop. */
kjit_status kj_lazy_module(kj_run *r, bool functions, const kj_text *text, kjit_module **out);

/* ---- launch.c ---- */

/* Compiles "kernel expr(params) { body }" and launches it. What timings show is the source's text
 * at k->named, then `what`. */
bool kj_lazy_launch(kj_lazy_kernel *k, const int64_t grid[3], const int64_t block[3],
                    const char *what);
void kj_lazy_free(kj_lazy_kernel *k);

/* ---- map.c: element by element ---- */

/* Where its result is: in the device's memory when one of its arrays is. */
kjit_memory kj_lazy_memory(kj_rvalue v);

/* A tree becomes the array it stands for, in place, and so do the items of a tuple. Other values
 * stay. */
bool kj_lazy_finish(kj_run *r, kj_span at, kj_rvalue *v);
/* Before the elements of an array change within an expression: all trees there are, which stand for
 * what was written before, are computed now. */
bool kj_lazy_settle(kj_run *r, kj_span at);
/* The same as kj_lazy_finish for a name that holds `old`: in its array where that fits and nobody else has it. */
bool kj_lazy_replace(kj_run *r, kj_span at, kj_rvalue old, kj_rvalue *v);
/* target[...] = v, as if all of v were computed first. `at` is the value's place, `whole` the
 * assignment's. */
bool kj_lazy_store(kj_run *r, kj_span at, kj_span whole, kjit_array *target, kj_rvalue v);

/* ---- reduce_kernel.c: reductions, on the device ---- */

typedef enum kj_fold_op {
    KJ_FOLD_SUM,
    KJ_FOLD_MEAN,
    KJ_FOLD_MIN,
    KJ_FOLD_MAX,
    KJ_FOLD_ARGMIN,
    KJ_FOLD_ARGMAX,
    KJ_FOLD_ANY,
    KJ_FOLD_ALL,
    KJ_FOLD_BY, /* a function of two */
} kj_fold_op;

typedef struct kj_fold {
    kj_fold_op op;
    kj_dtype elem; /* of what is reduced */
    kj_dtype acc;  /* of sums, least ones, ... on the way; of ANY and ALL i32, 0 or 1 */
    kj_dtype out;
    int64_t count; /* elements behind a result */
    /* Of KJ_FOLD_BY, where elem is any type that becomes acc by itself: */
    const kj_item *function; /* of the file, or NULL */
    kj_builtin builtin;
    kjit_array *first; /* one element: joined before all others */
    bool exclusive;    /* of a scan: without the element itself */
} kj_fold;

/* Of a chunk: how many elements it has, and over how many sums they are dealt. */
enum { KJ_FOLD_CHUNK = 8192, KJ_FOLD_LANES = 128 };

/* What a step came to. */
typedef struct kj_partial {
    kjit_array *values, *places; /* of one axis; places of ARGMIN and ARGMAX */
    int ndim;                    /* what they are of */
    int64_t shape[KJIT_MAX_NDIM];
    bool reduced[KJIT_MAX_NDIM]; /* still to reduce */
    kjit_array *shaped[2];       /* as the next step sees them */
} kj_partial;

bool kj_fold_places(kj_fold_op op);
/* Of KJ_FOLD_BY: "f(a, b)". */
void kj_fold_joined(kj_lazy_kernel *k, kj_text *t, const kj_fold *f, const char *a, const char *b);
/* Reduces the axes that `reduced` says. `result` has one axis, for the positions along the others,
 * in C order; NULL: one step of it all, and the caller has the rest to do and to free. */
bool kj_fold_launch(kj_run *r, kj_span at, const kj_fold *f, kj_rvalue v, const bool *reduced,
                    kjit_array *result, kj_partial *left);
void kj_partial_free(kj_partial *p);

/* ---- scan.c: cumulative sums, on the device ---- */

/* target: of the value's shape, in C order. */
bool kj_scan_launch(kj_run *r, kj_span at, const kj_fold *types, kj_rvalue v, int axis,
                    kjit_array *target);
/* The same sums, of those before each element: first 0, and then, to the bit, each sum one place further. */
bool kj_scan_launch_before(kj_run *r, kj_span at, const kj_fold *types, kj_rvalue v, int axis,
                           kjit_array *target);

/* ---- random_kernel.c: arrays in C order filled ---- */

/* offset + scale * u, at most `most`, for each number u in [0, 1) of the seed; f32 or f64. */
bool kj_lazy_random_uniform(kj_run *r, kj_span at, uint64_t seed, double offset, double scale,
                            double most, kjit_array *out);
/* Integers from low to high - 1. */
bool kj_lazy_random_integers(kj_run *r, kj_span at, uint64_t seed, int64_t low, int64_t high,
                             kjit_array *out);

/* ---- matmul.c: A @ B ---- */

bool kj_lazy_matmul(kj_run *r, kj_span at, kj_rvalue a, kj_rvalue b, kj_rvalue *out);

/* ---- reduce.c: reductions as the run block calls them; reduce_host.c: on the host ---- */

/* What a call works on, of numbers; the reference is the caller's. */
bool kj_reduce_operand(kj_run *r, const kj_rcall *c, kj_rvalue *own);
/* Which axes argument `arg` says; without it all are reduced. */
bool kj_reduce_axes(kj_run *r, const kj_rcall *c, int arg, int ndim, bool *reduced);
/* How many elements each result is made of; where no number tells, there is no result. */
int64_t kj_reduce_count(const int64_t *shape, int ndim, const bool *reduced);

/* To a number where all axes are reduced and none is kept, else to an array. */
bool kj_fold_value(kj_run *r, kj_span at, const kj_fold *f, kj_rvalue v, const bool *reduced,
                   bool keep, kj_rvalue *out);

/* The numbers of one axis to one, by the steps of kj_fold_launch; places of ARGMIN and ARGMAX, or
 * NULL: elements in C order. */
bool kj_fold_on_host(kj_run *r, kj_span at, const kj_fold *f, kjit_array *values,
                     kjit_array *places, kj_rvalue *out);

/* How many elements of two arrays on the host, of one type and shape, are equal; without b, how many are as `element`. */
int64_t kj_fold_same(kjit_array *a, kjit_array *b, const char *element);

/* Of f->op and f->elem the other types. Sums are made in f64, or exactly in 64 bits. */
void kj_fold_types(kj_fold *f);

#endif
