/* Semantic analysis: walks over expressions and statements. */
#ifndef KJ_SEMA_BODY_H
#define KJ_SEMA_BODY_H

#include "sema/value/value.h"

/* ---- expr.c ---- */

/* The type named by an expression (dtype arguments), or KJ_VOID after an error. */
kj_dtype kj_dtype_argument(kj_sema *s, const kj_expr *e);
/* Any expression. `want` is the type the place would like, for what has none of its own; KJ_VOID
 * if it does not care. */
kj_operand kj_expr_any(kj_sema *s, const kj_expr *e, kj_dtype want);
/* One that is a value: symbols and calls without a result are errors. */
kj_operand kj_expr_value(kj_sema *s, const kj_expr *e, kj_dtype want);
/* The same, where a choice of literals may stay untyped. */
kj_operand kj_expr_untyped(kj_sema *s, const kj_expr *e, kj_dtype want);
/* What an expression came to as a value: no symbol, no call without a result. */
kj_operand kj_checked_value(kj_sema *s, const kj_expr *e, kj_operand v);
/* Several as kj_expr_untyped, left to right, each before the next's statements. */
void kj_expr_list(kj_sema *s, const kj_expr *e, kj_operand *out, int n);
kj_operand kj_symbol_value(kj_sema *s, kj_symbol *sym, kj_span span);
/* The same, but elements of arrays, and parts of them, stay places; other expressions are values. */
kj_operand kj_place_expr(kj_sema *s, const kj_expr *e);

/* One value, for what is declared or assigned as `want`; several and one for an index or range(...): where these are
 * integers, they are meant, unless the expression has floats. */
kj_operand kj_expr_for(kj_sema *s, const kj_expr *e, kj_dtype want);
kj_operand kj_expr_converted(kj_sema *s, const kj_expr *e, kj_dtype to);
void kj_index_list(kj_sema *s, const kj_expr *e, kj_operand *out, int n);
kj_operand kj_index_whole(kj_sema *s, const kj_expr *e);

/* ---- precedence.c ---- */

/* a & b at a comparison that C would do before it, of which one is a bool and one a number (reported). */
bool kj_joins_comparison(kj_sema *s, const kj_expr *e, const kj_operand *a, const kj_operand *b);
/* n == 1 or 2, whose `right` is a number that is written there: reported; false: it is none. */
bool kj_repeats_comparison(kj_sema *s, const kj_expr *e, const kj_operand *right);

/* ---- meant.c: for whom operators compute, kj_sema.meant ---- */

/* Does it compute with floats? */
bool kj_has_floats(kj_sema *s, const kj_expr *e);
/* What it is within an expression that is for `want`. */
kj_dtype kj_meant_within(const kj_sema *s, const kj_expr *e, kj_dtype want);

/* The parts' values into the variables of a value. */
void kj_assign_parts(kj_sema *s, const kj_operand *to, const kj_operand *v);

/* ---- member.c ---- */

/* A module of Python's that people write: np, math, cuda. */
bool kj_is_module(const char *name);
/* Refuses a name of such a module, and says what it is called here. */
kj_operand kj_module_member(kj_sema *s, const kj_expr *e);
/* What a member is written behind, evaluated: the member, which may be a place. */
kj_operand kj_member_of(kj_sema *s, const kj_expr *e, kj_operand v);

/* ---- array.c ---- */

kj_operand kj_index_expr(kj_sema *s, const kj_expr *e);
kj_operand kj_index_place(kj_sema *s, const kj_expr *e);
/* a[i]: an element, read, or a view of the other axes. */
kj_operand kj_item_of(kj_sema *s, kj_tarray *a, kj_texpr *i, kj_span span);
/* What an operator [] is written behind, evaluated: the rest of kj_index_place. */
kj_operand kj_index_of(kj_sema *s, const kj_expr *e, kj_operand base);
/* Evaluated indices (or one tuple of them) as those of one element of *a, which then has the checks of
 * that access; false after an error. */
bool kj_element_at(kj_sema *s, const kj_expr *place, const kj_expr *base, kj_tarray **a,
                   kj_operand *v, int n, kj_texpr **index);
/* An index as the source has it: where, the type as which it is told, u64 or i64, and of what; where that is empty, or
 * long, of the array by its name. */
typedef struct kj_written {
    kj_span at;
    kj_dtype type;
    kj_span of;
    bool alone; /* what is written as `of` has no other axis, whatever the view has */
} kj_written;
kj_written kj_written_index(const kj_operand *v, kj_span of);
/* The text of a constant one. */
const char *kj_index_text(kj_sema *s, const kj_texpr *index, const kj_written *as);
/* The index in v[i] of a vector or an array in a record; NULL after an error, as of other values. */
kj_texpr *kj_part_index(kj_sema *s, const kj_expr *e, const kj_operand *v);

/* ---- as_array.c ---- */

/* Of x[i] or x.size, refused by `m` as x is one value: is x a parameter? Then it is told no more. */
bool kj_take_as_array(kj_sema *s, kj_message *m, const kj_expr *e);
/* Of a[i, j], a[i][j], a.shape[1] or a.shape as n values, refused by `m` as a parameter has fewer axes: do all its uses
 * ask for as many? Told so, and no more. n: else 0. */
void kj_take_with_axes(kj_sema *s, kj_message *m, const kj_expr *e, int n);

/* ---- index_check.c ---- */

/* In front of `next` the check of an index along an axis, written `at`, where indices are checked and it
 * is not known to be inside. */
kj_index_check *kj_index_check_of(kj_sema *s, const kj_tarray *a, int axis, kj_texpr *index,
                                  kj_written as, kj_index_check *next);
/* The same of an index that an access will have along the axis. */
kj_index_check *kj_axis_checked(kj_sema *s, const kj_tarray *a, int axis, kj_texpr *index,
                                kj_written as, kj_index_check *next);
/* An index into a value of several parts, looked at where it stands; returns the index. */
kj_texpr *kj_index_of_value(kj_sema *s, const char *name, int axis, int ndim, kj_texpr *index,
                            kj_written as, int64_t extent);
/* Looks here at the indices that a view was made with, unless it has no elements: where it goes nobody will. */
void kj_check_view(kj_sema *s, const kj_tarray *a, kj_span span);
/* The array as one access to the element at `index` has it. as: how they are written; NULL: where they are, as i64. */
kj_tarray *kj_index_checked(kj_sema *s, kj_tarray *a, kj_texpr *const *index, const kj_written *as);

/* ---- cuda_call.c ---- */

enum { KJ_MOST_OF_CUDA = 3 }; /* arguments */
/* Is it __clz(n) or the like, a function of CUDA that converts its arguments, and no name here? */
bool kj_is_call_of_cuda(kj_sema *s, const kj_expr *e);
/* What such a call, whose arguments these are, is here. */
void kj_hint_call_of_cuda(kj_sema *s, kj_message *m, const kj_expr *e, const kj_operand *v);

/* ---- facts.c ---- */

/* The least that an integer can be where it stands, as far as that can be told; INT64_MIN: it cannot. */
int64_t kj_least(const kj_sema *s, const kj_texpr *e);
/* Likewise the greatest; INT64_MAX: it cannot be told. */
int64_t kj_most(const kj_sema *s, const kj_texpr *e);
/* What a condition tells, where it holds or does not; kept until the end of what was known then. */
void kj_facts_of(kj_sema *s, const kj_texpr *test, bool holds);
void kj_facts_end(kj_sema *s, const kj_fact *until);

/* ---- shared_array.c ---- */

/* Reports a write to a const array. */
bool kj_writable(kj_sema *s, const kj_tarray *a, const kj_expr *base, kj_span at);
/* let name = shared.array(...): true when the initialiser is that call (also after an error). */
bool kj_array_decl(kj_sema *s, const kj_name *name, const kj_expr *init);
/* The same of several names, and as many arrays. */
bool kj_array_decls(kj_sema *s, const kj_name *names, const kj_expr *init);

/* ---- atomic.c ---- */

kj_operand kj_atomic_call(kj_sema *s, const kj_expr *e, kj_builtin id);
kj_operand kj_cache_call(kj_sema *s, const kj_expr *e, kj_builtin id);

/* ---- argument.c ---- */

int kj_count_params(const kj_item *fn);
/* Which parameter each argument of the call is for, in the order they are written in; false after an
 * error. */
bool kj_match_arguments(kj_sema *s, const kj_expr *call, const kj_item *fn, int *place);
/* Is the default rightly missing, and (that of a fn) a constant of the parameter's type? Else that is
 * reported. before: the first parameter with a default, up to p; or NULL. */
void kj_check_default_place(kj_sema *s, const kj_param_decl *before, const kj_param_decl *p);
/* Of a fn's parameter that has one and is not given. */
kj_operand kj_default_argument(kj_sema *s, const kj_item *fn, const kj_param_decl *p);
void kj_check_default(kj_sema *s, const kj_param_decl *p, const kj_type *type, kj_operand v);

/* ---- instance.c ---- */

/* A function as one call has it. */
typedef struct kj_instance {
    const kj_item *item;
    const kj_expr *call; /* NULL: none yet */
    kj_dtype *generics;
    const kj_param_decl **from; /* the parameter that decided a generic */
    bool *exact;                /* it did so as an array's element type */
    bool *literal;              /* only literals spoke of it */
    kj_scope *scope;            /* generics, then parameters */
    kj_type *types;             /* of the parameters */
} kj_instance;

int kj_count_generics(const kj_item *item);
bool kj_names_generic(const kj_item *item, const kj_type_ref *type); /* is it T, or T[]? */
/* Generics known by nothing yet. */
void kj_open_generics(kj_sema *s, kj_instance *in);
/* What the arguments, one a parameter, say of them; false after an error. */
bool kj_infer(kj_sema *s, kj_instance *in, const kj_operand *v, const kj_expr *e);
/* "T = f32, U = i32"; NULL without generics. */
const char *kj_bindings_text(kj_sema *s, const kj_instance *in);
/* The scope of generics and parameters, and the parameters' types in it; false after an error. */
bool kj_open_instance(kj_sema *s, kj_instance *in);
/* What the arguments, one a parameter, make of an item's generics; and the parameters' types.
 * False after an error. */
bool kj_infer_call(kj_sema *s, const kj_item *item, const kj_operand *v, const kj_expr *e,
                   kj_dtype *generics, kj_type **types);

/* ---- call.c ---- */

/* No argument of the call has a name; else says so. */
bool kj_no_keywords(kj_sema *s, const kj_expr *e, const char *name);
kj_operand kj_fn_call(kj_sema *s, const kj_expr *e, const kj_symbol *fn);
bool kj_checked_alone(const kj_sema *s);
/* Walks a function's body once with made-up arguments; generics as given. */
void kj_fn_check(kj_sema *s, const kj_symbol *fn, const kj_dtype *generics);

/* ---- builtin.c ---- */

kj_operand kj_call_expr(kj_sema *s, const kj_expr *e, kj_dtype want);

/* ---- sync.c ---- */

bool kj_is_sync(kj_builtin id);
kj_operand kj_sync_call(kj_sema *s, kj_builtin id, const kj_operand *v, int given, kj_span span);

/* ---- random.c ---- */

/* v: seed and counter. */
kj_operand kj_random_float(kj_sema *s, kj_builtin id, const kj_operand *v, kj_dtype type,
                           kj_span span);
/* v: lo, hi, seed and counter. */
kj_operand kj_random_integer(kj_sema *s, kj_operand *v, kj_dtype want, kj_span span);

/* ---- report.c ---- */

kj_operand kj_assert_call(kj_sema *s, const kj_expr *e, kj_operand condition);
/* values: of the arguments that are no strings, held. */
kj_operand kj_print_call(kj_sema *s, const kj_expr *e, const kj_operand *values);
/* Ends the thread, and the launch, unless the test holds; `failed` is kj_site's, and when it is NULL
 * the values of the test are told. */
void kj_emit_assert(kj_sema *s, const kj_expr *written, kj_texpr *test, kj_site_kind kind,
                    const char *failed, const char *message);

typedef struct kj_fail_words {
    const char *failed, *message;
    const char *const *values; /* what each is called */
} kj_fail_words;

/* The same without a test, of a launch. */
void kj_emit_failure(kj_sema *s, kj_span span, kj_fail_words words, kj_texpr **values, int n);

/* ---- stmt.c ---- */

/* `tail`: a return here ends the body by itself. */
bool kj_stmts(kj_sema *s, const kj_stmt *list, bool tail);
/* The same in a scope of their own. */
bool kj_block(kj_sema *s, const kj_stmt *body, bool tail);
/* Says of a statement, and of the list being built, whether there is a barrier in it. */
void kj_mark_barrier(kj_sema *s, kj_tstmt *st, bool barrier);
bool kj_loop_attrs(kj_sema *s, const kj_stmt *st); /* has it @unroll? */

/* ---- for.c ---- */

void kj_for_stmt(kj_sema *s, const kj_stmt *st);

/* ---- assigned.c ---- */

/* What is assigned: an element of an array, or variables; of n alike the one whose number is
 * `chosen`. */
typedef struct kj_assigned {
    kj_operand *at;
    int n;
    kj_texpr *chosen; /* NULL: n is 1 */
} kj_assigned;

bool kj_is_element(const kj_assigned *p);
/* The type of one scalar; KJ_VOID where it has several. */
kj_dtype kj_assigned_type(const kj_assigned *p);
/* The symbol of a `var`, or NULL after an error. */
kj_symbol *kj_variable_named(kj_sema *s, const kj_expr *target);
kj_operand kj_read_assigned(kj_sema *s, const kj_assigned *p, kj_span span);
void kj_store_assigned(kj_sema *s, const kj_assigned *p, kj_operand v, kj_span span);
/* value -> the variables behind `to`, after conversion; parts of tuples first all evaluated by
 * the caller. */
void kj_assign_value(kj_sema *s, const kj_operand *to, kj_operand v, const char *what);
/* Does the target do something before it is known what is assigned? Its statements are those from `before`. */
bool kj_assigned_acts(const kj_assigned *p, const kj_tstmt *before);
/* What was evaluated before other statements stays as it was then. */
void kj_spill_assigned(kj_sema *s, kj_assigned *p, kj_tstmt ***at);
/* The statements from `before` up to `between` go behind those that follow. */
void kj_swap_behind(kj_sema *s, kj_tstmt **before, kj_tstmt **between);
/* The statements that the target needed, from `before` up to `between`, go behind those of the value,
 * which is computed first. */
void kj_put_behind(kj_sema *s, const kj_assigned *p, kj_operand *v, kj_tstmt **before,
                   kj_tstmt **between);
/* An element that is unread, to the target's place. */
void kj_copy_assigned(kj_sema *s, const kj_assigned *p, const kj_operand *from, kj_span span);

/* ---- assign.c ---- */

/* Parameters that the body assigns become variables, in the scope where they are declared. */
void kj_own_params(kj_sema *s, const kj_item *item);
/* A new variable for a value, or for an immutable one the constant itself, a literal still without a type.
 * Tuples become a variable a component. */
kj_operand kj_declared(kj_sema *s, const char *name, kj_span span, bool mutable, kj_operand v);
void kj_let_stmt(kj_sema *s, const kj_stmt *st);
void kj_assign_stmt(kj_sema *s, const kj_stmt *st);

/* ---- each.c ---- */

/* A part of an expression that is evaluated before the loops. */
typedef struct kj_each_leaf {
    struct kj_each_leaf *next;       /* in its bucket */
    struct kj_each_leaf *next_array; /* that is one */
    const kj_expr *e;
    kj_operand v;
    bool meets; /* row.c */
} kj_each_leaf;

enum { KJ_EACH_BUCKETS = 64 };

/* An expression of views that is computed for each of their elements. */
struct kj_each {
    kj_each *up;
    const kj_expr *e;
    kj_each_leaf *parts[KJ_EACH_BUCKETS], *arrays, **last;
    const kj_tarray *of; /* whose elements the loops are over */
    int ndim;
    kj_texpr *shape[KJ_MAX_NDIM], *index[KJ_MAX_NDIM]; /* of the loops */
    kj_texpr *start, *step; /* of one axis: where the loop begins, 1 or -1; NULL: 0 and 1 */
};

/* Evaluates what the expression is made of. False: it is of no views, or there was an error. */
bool kj_each_open(kj_sema *s, kj_each *each, const kj_expr *e, kj_dtype want);
/* The loops are over the target's elements, or those of the view of most axes. False after an error. */
bool kj_each_over(kj_sema *s, kj_each *each, const kj_tarray *target);
typedef void kj_each_body(kj_sema *s, kj_each *each, void *ctx);
void kj_each_loop(kj_sema *s, kj_each *each, kj_each_body *body, void *ctx);
/* What the expression is for the elements of a turn. */
kj_operand kj_each_value(kj_sema *s, kj_each *each, kj_dtype want);
/* The element of a turn, unread, where the expression is a view and no more. */
bool kj_each_place(kj_sema *s, kj_each *each, kj_operand *out);
/* Was it evaluated before? Then what it is in this turn. */
bool kj_each_find(kj_sema *s, const kj_expr *e, kj_operand *out);

/* ---- row.c ---- */

/* target = value or target op= value of a view; what the value is made of is evaluated. */
void kj_assign_row(kj_sema *s, kj_each *each, const kj_stmt *st, kj_tarray *target);
bool kj_same_shape(const kj_sema *s, const kj_tarray *a,
                   const kj_tarray *b); /* as far as that can be told */

/* ---- reduce.c ---- */

/* sum(a, axis=0), which is told. */
bool kj_axis_call(kj_sema *s, const kj_expr *e, kj_builtin id);
/* sum(a), min(a), dot(a, b): true if the call is one of these, or wrong; then *out is its value. */
bool kj_reduce_call(kj_sema *s, const kj_expr *e, kj_builtin id, kj_operand *out);
/* a.sum() */
bool kj_reduce_method(kj_sema *s, const kj_expr *e, kj_operand *out);

/* ---- const.c ---- */

/* An extent that a type has behind it, 1 or more; false after an error. */
bool kj_extent_of(kj_sema *s, const kj_type_ref *ref, const kj_expr *e, int64_t *out);

/* ---- reshape.c ---- */

kj_operand kj_transposed(kj_sema *s, const kj_tarray *a, kj_span span);
/* a.reshape(2, -1), a.ravel(), evaluated. any_order: nothing is known of the array's yet. */
kj_operand kj_reshape(kj_sema *s, const kj_expr *e, kj_operand base, const kj_operand *v, int n,
                      bool any_order);

/* ---- launch.c ---- */

void kj_launch_stmt(kj_sema *s, const kj_stmt *st);
/* Can a kernel launch this one, which is built now? Reports why not. */
bool kj_child_check(kj_diag *diag, const kj_child *child);

/* ---- const.c ---- */

/* A scalar or literal that is known, for a place of that type (any when KJ_VOID); false after an error. */
bool kj_expr_known(kj_sema *s, const kj_expr *e, kj_dtype type, const char *what, kj_operand *v);
/* A constant of the type (any when KJ_VOID: then literals stay); false after an error. */
bool kj_expr_const(kj_sema *s, const kj_expr *e, kj_dtype type, const char *what, kj_value *out);
/* Of any type of integers. */
bool kj_integer_const(kj_sema *s, const kj_expr *e, const char *what, int64_t *out);
/* The same of any integer, in the type it has. */
bool kj_whole_const(kj_sema *s, const kj_expr *e, const char *what, kj_value *out);
void kj_const_resolve(kj_sema *s, kj_symbol *sym);
kj_tarray *kj_const_array(kj_sema *s, const kj_tarray *source); /* the kernel's own root for it */
/* The parts of an aggregate's value, constants all, in memory form. */
void kj_write_parts(const kj_operand *v, char *to);

/* ---- record.c ---- */

/* Lays out what a record's symbol declares, if that wasn't done. */
void kj_record_resolve(kj_sema *s, kj_symbol *sym);
kj_operand kj_record_construct(kj_sema *s, const kj_expr *e, const kj_aggregate *of);
/* A tuple of scalars, aggregates and such tuples as a record, which a launch gives; NULL after an error. And a
 * value of that as the tuple. */
const kj_aggregate *kj_tuple_record(kj_sema *s, const kj_type *t, kj_span span);
kj_operand kj_tuple_of_record(kj_sema *s, kj_operand v);

/* ---- param.c ---- */

kj_tarray *kj_param_array(kj_sema *s, const char *name, kj_span span, const kj_type *t,
                          kj_layout layout, int param);

#endif
