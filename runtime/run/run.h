/* The interpreter of run blocks, sectioned by file. Enters by kjit_run (block.c): a checked
 * module and options; leaves: what the block printed, saved and launched, and a status with a
 * located sentence.
 */
#ifndef KJ_RUN_H
#define KJ_RUN_H

#include "run/lazy/lazy.h"

/* ---- expr.c, operator.c, convert.c: expressions ---- */

bool kj_run_eval(kj_run *r, const kj_expr *e, kj_rvalue *out);
/* The same, but an array may come as what is still to compute: KJ_R_LAZY. */
bool kj_run_eval_lazily(kj_run *r, const kj_expr *e, kj_rvalue *out);
/* The same of what becomes a float: ints may be beyond 64 bits. */
bool kj_run_eval_for_float(kj_run *r, const kj_expr *e, kj_rvalue *out);
/* For operands from eval_lazily, the result may be KJ_R_LAZY too. */
bool kj_run_binary(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue b, kj_rvalue *out);
/* Behind a failure of the first: ^ of floats is meant as a power. Returns false. */
bool kj_run_hint_power(kj_run *r, kj_span a, kj_span b, bool assigns);
/* The same of a division of integers: f32(a) + b in place of f32(a + b), which wraps before it is converted. */
bool kj_run_hint_quotient(kj_run *r, const kj_expr *e);
/* The same of kj_run_wrap: the text there, with one of its operands within a call. */
bool kj_run_hint_operand(kj_run *r, kj_span whole, const kj_span *operands, int n);
bool kj_run_unary(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue *out);
/* The value as the declared type, in place. `what` names it in messages. */
bool kj_run_convert(kj_run *r, kj_span at, const kj_type_ref *type, const char *what, kj_rvalue *v);
/* Is it an array of that type? Else both as texts, which kj_run_end_mismatch lets go of; that returns false. */
typedef struct kj_mismatch {
    kj_text wanted, got; /* "f32[,]" */
    int axes;      /* of elements of that type: how many more it has than it should; 0: as many */
    bool converts; /* element by element, it would be */
} kj_mismatch;

bool kj_run_is_of(kj_run *r, const kj_type_ref *type, kj_rvalue v, kj_mismatch *out);
bool kj_run_hint_axes(kj_run *r, const kj_mismatch *m);
bool kj_run_end_mismatch(kj_run *r, kj_span at, kj_mismatch *m);
/* A type by its name, one of the file's records too: KJ_VOID where there is none. */
kjit_dtype kj_run_type(const kj_run *r, const char *name);
kjit_dtype kj_run_type_in(const kj_run *r, const kj_file *file, const char *name);
/* The conversion f32(x) spells. */
bool kj_run_cast(kj_run *r, kj_span at, kjit_dtype to, kj_rvalue v, kj_rvalue *out);

/* The item that a name, or blur.name of a file that is used, stands for; NULL: none, or a variable hides it. */
const kj_item *kj_run_declared(kj_run *r, const kj_expr *e);

/* ---- constant.c ---- */

bool kj_run_constant(kj_run *r, const kj_item *item, kj_rvalue *out);
/* Of a fn's parameter: as kernels have it. */
bool kj_run_default(kj_run *r, const kj_param_decl *p, kj_rvalue *out);

/* ---- round.c: round(x, n) ---- */

/* v[0] to v[1] decimal places. */
bool kj_run_round(kj_run *r, kj_span at, const kj_rvalue v[2], kj_rvalue *out);

/* ---- call.c: calls ---- */

bool kj_run_eval_call(kj_run *r, const kj_expr *e, kj_rvalue *out);
/* What a name that no variable has stands for, among the file's and the language's; until the next call. */
const kj_rnamed *kj_run_named(kj_run *r, const char *name);

/* ---- function.c ---- */

/* A call of a function of the file. */
bool kj_run_function(kj_run *r, const kj_expr *e, const kj_item *fn, kj_rvalue *out);

/* ---- subroutine.c ---- */

/* A call of a function of run blocks; what it gives may be KJ_R_LAZY. */
bool kj_run_subroutine(kj_run *r, const kj_expr *e, const kj_item *fn, kj_rvalue *out);
/* `return e`, in one; e may be NULL. */
bool kj_run_return(kj_run *r, const kj_expr *e);

/* ---- record.c: records, each an array without axes ---- */

/* A new record from another, or from a tuple or list of its fields' values. */
bool kj_run_record_of(kj_run *r, kj_span at, const kj_aggregate *of, kj_rvalue v, kj_rvalue *out);
bool kj_run_record_call(kj_run *r, const kj_expr *e, const kj_aggregate *of, kj_rvalue *out);
/* The value as a field, at `to`; `what` names it. */
bool kj_run_record_field(kj_run *r, kj_span at, const char *what, const kj_field *f, kj_rvalue v,
                         char *to);
/* A new array of a list's records. */
bool kj_run_record_list(kj_run *r, kj_span at, kj_rvalue list, const kj_aggregate *of,
                        kj_rvalue *out);
/* To all elements of an array of records: one record, or as many. */
bool kj_run_record_store(kj_run *r, kj_span at, kjit_array *to, kj_rvalue v);

/* ---- stmt.c ---- */

bool kj_run_statements(kj_run *r, const kj_stmt *s); /* r->flow says how they ended */

/* ---- index.c: a[i], a[i] = v, a.shape ---- */

/* What stands at base[args]; base must outlive it. */
typedef struct kj_rplace {
    kj_rvalue base;
    kj_span at;
    int64_t item;      /* of a sequence, string or range */
    char *element;     /* in a host array */
    kj_rvalue view;    /* else: a view of an array, or KJ_R_NONE */
    kj_rvalue numbers; /* an array: what `base` then is, a reference of the place's own */
    bool one;          /* the view is one element, every extent 1 */
} kj_rplace;
bool kj_run_place(kj_run *r, kj_span at, kj_rvalue base, const kj_expr *args, kj_rplace *out);
/* A field of an array's elements, base.x, as a place. */
bool kj_run_field_place(kj_run *r, const kj_expr *target, kj_rvalue base, kj_rplace *out);
bool kj_run_place_get(kj_run *r, kj_rplace *p, kj_rvalue *out);
/* `whole` is the assignment. */
bool kj_run_place_set(kj_run *r, kj_rplace *p, kj_span value_at, kj_span whole, kj_rvalue v);
void kj_run_place_drop(kj_rplace *p);
/* Before the host reads or writes elements where they are: what was queued has ended. */
bool kj_run_settle(kj_run *r, kj_span at);
/* Item i of a sequence or array, for loops and unpacking; false at the end without a failure
 * recorded. */
bool kj_run_item(kj_run *r, kj_span at, kj_rvalue base, int64_t i, kj_rvalue *out);
bool kj_run_attribute(kj_run *r, kj_span at, kj_run_id id, kj_rvalue base, kj_rvalue *out);
/* a.x, where there is no attribute of that name. */
bool kj_run_field(kj_run *r, const kj_expr *member, kj_rvalue base, kj_rvalue *out);

/* ---- param.c: params and their overrides, --save ---- */

/* "5", "-0x1f", "2.5e3", "1+2j", "true", "inf": an int, float, complex number or bool; else
 * KJ_R_NONE. The text ends with a NUL. */
kj_rvalue kj_run_parse_number(const char *text, size_t len);

/* Do the params and saves of the options name what the block has? */
bool kj_run_check_options(kj_run *r);
/* Declares a param: its default, or what the options give. */
bool kj_run_param(kj_run *r, const kj_stmt *s);
/* "data.npy", "data.npz:y", "data.raw,dtype=f32,shape=480x640": where an array comes from (param_file.c). */
typedef struct kj_rsource {
    char *path;        /* for free(); what else is said stands behind its end */
    const char *dtype; /* or NULL */
    kjit_load_options how;
    int64_t shape[KJIT_MAX_NDIM];
} kj_rsource;
bool kj_run_hint_file(kj_run *r,
                      const char *path); /* behind a failure: one that is not there? False */
bool kj_run_source(kj_run *r, const char *text, kj_rsource *out);
/* --save, at the end of the block. */
bool kj_run_save_all(kj_run *r);

/* ---- param_number.c: what an option's text makes of a param ---- */

/* A number of that kind. */
bool kj_run_param_number(kj_run *r, const char *name, const char *text, kj_rkind wanted,
                         kj_rvalue *out);
/* "1,2,3" for a list, of any length, or a tuple of its length, with items like those of `like`. */
bool kj_run_param_items(kj_run *r, const char *name, const char *text, kj_rvalue like,
                        kj_rvalue *out);
/* The same for an array of one axis: a list of its elements, which are of that type. */
bool kj_run_param_elements(kj_run *r, const char *name, const char *text, kj_dtype type,
                           kj_rvalue *out);
/* The sentence about a text that is not of that kind. */
bool kj_run_param_wrong(kj_run *r, const char *name, const char *text, kj_rkind wanted);

/* ---- time.c: what --time says ---- */

/* Each launch and copy of the run's context is reported from here on, until end. */
void kj_run_time_begin(kj_run *r);
void kj_run_time_end(kj_run *r);

/* ---- digest.c: what --digest says ---- */

bool kj_run_digest(kj_run *r);

/* ---- launch.c ---- */

/* k[grid, block](...), k.forall(n)(...), or k.max_cooperative_blocks(block)(...), an int. */
bool kj_run_launch(kj_run *r, const kj_expr *call, const kj_kernel_decl *kernel, kj_rvalue *out);
bool kj_run_unconfigured(kj_run *r, kj_span at,
                         const kj_kernel_decl *kernel); /* fails: says how to launch it */

/* ---- random.c: Philox 4x32-10 ---- */

void kj_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* ---- suggest.c: a run block for a file without one ---- */

/* What is wrong with a file that is run without one; the hint stays empty where there is none. */
const char *kj_run_suggest(const kj_program *program, kj_text *hint);

/* ---- test.c: tests ---- */

/* At the end of one that is to fail: a failure that says what it must is none. */
void kj_run_judge(kj_run *r);

/* ---- failure.c ---- */

/* The run's failure becomes the context's, as text or JSON. */
kjit_status kj_run_give_failure(kj_run *r);
/* One of no place in the file; the hint may be NULL. */
kjit_status kj_run_fail_nowhere(kjit_module *mod, const kjit_run_options *options,
                                kjit_status status, const char *message, const char *hint);

/* ---- Builtins: one function a row ---- */

typedef bool kj_run_builtin(kj_run *r, kj_rcall *c, kj_rvalue *out);
/* make.c */
kj_run_builtin kj_run_make_filled, kj_run_make_like, kj_run_make_full, kj_run_make_arange,
    kj_run_make_linspace;
/* list.c */
kj_run_builtin kj_run_make_array;
/* array(items, dtype) */
bool kj_run_items_array(kj_run *r, kj_span at, kj_rvalue items, kjit_dtype dtype, kj_rvalue *out);
/* A list or tuple of numbers that a call works on becomes an array of them, in `made`, which is the caller's; else that is
 * nothing. */
bool kj_run_take_list(kj_run *r, kj_rcall *c, kj_rvalue *made);
/* random.c */
kj_run_builtin kj_run_random_uniform, kj_run_random_normal, kj_run_random_randint;
/* transfer.c */
kj_run_builtin kj_run_view, kj_run_load_file, kj_run_save_file, kj_run_sample_rate,
    kj_run_to_device, kj_run_array_in, kj_run_copy, kj_run_swap, kj_run_direction,
    kj_run_copy_to_host, kj_run_copy_to_device;
bool kj_run_may_use_files(kj_run *r, kj_span at); /* those that the block names */
/* shape.c */
kj_run_builtin kj_run_reshape, kj_run_ravel, kj_run_split, kj_run_is_contiguous;
/* smart.c */
kj_run_builtin kj_run_smart_array, kj_run_changed;
/* A smart array's .host or .gpu. */
/* .shape, .size, .ndim, .dtype */
bool kj_run_measure(kj_run *r, kj_span at, kj_run_id id, const kjit_array *a, kj_rvalue *out);
bool kj_run_side(kj_run *r, kj_span at, kj_run_id id, kj_rvalue base, kj_rvalue *out);
/* lazy/reduce.c */
kj_run_builtin kj_run_reduce, kj_run_spread, kj_run_cumsum, kj_run_reduce_by, kj_run_scan_by;
/* lazy/node.c */
kj_run_builtin kj_run_where;
/* stream.c */
kj_run_builtin kj_run_new_stream, kj_run_default_stream, kj_run_new_event, kj_run_synchronize,
    kj_run_elapsed, kj_run_device, kj_run_m_synchronize, kj_run_auto_synchronize, kj_run_query,
    kj_run_record, kj_run_wait;
/* with.c */
kj_run_builtin kj_run_defer_cleanup, kj_run_page_locked;
/* A value begins a `with`, and ends it, also after a failure; *named: what `as` names. */
bool kj_run_enter(kj_run *r, kj_span at, kj_rvalue v, kj_rvalue *named);
bool kj_run_exit(kj_run *r, kj_span at, kj_rvalue v);
/* assert.c */
kj_run_builtin kj_run_assert, kj_run_assert_close;
/* basic.c */
kj_run_builtin kj_run_print, kj_run_make_range, kj_run_len, kj_run_enumerate, kj_run_zip,
    kj_run_make_str, kj_run_make_format, kj_run_m_append;
/* draw.c */
kj_run_builtin kj_run_plot, kj_run_show;
/* Where low= or high= is given: has the picture shades between them? */
bool kj_run_check_shades(kj_run *r, kj_span at, const kjit_array *picture);
/* convert.c */
kj_run_builtin kj_run_make_int, kj_run_make_float;

#endif
