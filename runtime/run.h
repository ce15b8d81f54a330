/* The interpreter of run blocks, sectioned by file. Enters by kjit_run (run_block.c): a checked
 * module and options; leaves: what the block printed, saved and launched, and a status with a
 * located sentence.
 *
 * Values: a kj_rvalue is a scalar, or a reference to a counted object. A function that gives a
 * value through `out` gives one reference, which the caller drops with kj_run_drop; kj_run_keep
 * makes another. All objects of a run stand in one list, and what is left there when the run ends
 * is freed then: after a failure nobody has to drop anything. Functions give false after
 * kj_run_fail (the first failure is kept), true otherwise. */
#ifndef KJ_RUN_H
#define KJ_RUN_H

#include "runtime.h"

typedef enum kj_rkind {
    KJ_R_NONE,    /* what a statement-like call gives */
    KJ_R_BOOL,    /* u.i: 0 or 1 */
    KJ_R_INT,     /* u.i; dtype KJIT_U64: the bits of an unsigned number, of 2^63 and above */
    KJ_R_FLOAT,   /* u.f; dtype: the type whose digits it is printed with */
    KJ_R_COMPLEX, /* u.f and imag; dtype KJIT_C64: of f32 values */
    KJ_R_DTYPE,   /* dtype */
    KJ_R_KERNEL,  /* u.kernel */
    KJ_R_STRING,  /* from here on u.object */
    KJ_R_TUPLE,
    KJ_R_LIST,
    KJ_R_RANGE,
    KJ_R_ARRAY,
    KJ_R_LAZY, /* an array that was not computed yet: only within an expression of the source */
    KJ_R_STREAM,
    KJ_R_EVENT,
    KJ_R_SMART,
    KJ_R_SCOPE, /* what only `with` takes */
} kj_rkind;

/* Kinds of KJ_R_SCOPE. */
typedef enum kj_rscope { KJ_SCOPE_DEFER, KJ_SCOPE_PINNED, KJ_SCOPE_MAPPED } kj_rscope;

typedef struct kj_robject kj_robject;

typedef struct kj_rvalue {
    kj_rkind kind;
    bool literal; /* a number as it stands in the source: no variable has it */
    kjit_dtype dtype;
    union {
        int64_t i;
        double f;
        const kj_kernel_decl *kernel;
        kj_robject *object;
    } u;
    double imag;
} kj_rvalue;

struct kj_robject {
    kj_robject *prev, *next;
    int64_t refs;
    kj_rkind kind;
    bool fixed; /* an array of a const: its elements cannot be assigned */
    bool busy;  /* a sequence that is being printed */
    union {
        struct {
            char *text;
            size_t len;
        } string;
        struct {
            kj_rvalue *items;
            int64_t n, room;
        } seq;
        struct {
            int64_t start, stop, step;
        } range;
        kjit_array *array;
        struct kj_lazy *lazy;
        kjit_stream *stream;
        kjit_event *event;
        kjit_smart *smart;
        struct {
            kj_rscope kind;
            kj_rvalue arrays;  /* of KJ_SCOPE_PINNED and _MAPPED: a tuple */
            kjit_array **kept; /* theirs, while the page-locked ones are in their place */
        } scope;
    } u;
};

/* What a name stands for. */
typedef struct kj_rbinding {
    const char *name;
    kj_rvalue value;
    bool fixed; /* let, param, loop variable */
} kj_rbinding;

typedef enum kj_rflow { KJ_FLOW_NEXT, KJ_FLOW_BREAK, KJ_FLOW_CONTINUE, KJ_FLOW_RETURN } kj_rflow;

typedef enum kj_run_id {
#define RUN(id, name, signature, doc) KJ_RUN_##id,
#include "run_builtins.def"
#undef RUN
    KJ_NRUN,
} kj_run_id;

enum { KJ_RUN_MAX_PARAMS = 6, KJ_RUN_MAX_DEPTH = 2000 };

/* A builtin's parameters, read from its signature. */
typedef struct kj_rsignature {
    bool read;
    int n;
    struct {
        const char *name;
        int len;
        bool optional, rest;
    } params[KJ_RUN_MAX_PARAMS];
} kj_rsignature;

typedef struct kj_run {
    kjit_module *module;
    kjit_context *ctx;
    const kj_program *program;
    const kj_source *source;
    const kjit_run_options *options;
    kj_robject objects; /* head of the ring */
    kj_rbinding *names;
    int nnames, roomnames;
    kj_rvalue *consts; /* one a top-level const, KJ_R_NONE until it is asked for */
    kj_rflow flow;
    int depth;
    uint64_t unseeded; /* random calls without a seed so far */
    bool queued;       /* something was put into a stream: work may be under way */
    kj_timing_hook timing;
    kj_rsignature signatures[KJ_NRUN];
    struct {
        const char *name;
        int id;
    } known[256]; /* interned name -> builtin */
    /* the failure */
    kjit_status status;
    kj_span at;
    char *message, *hint;
    bool launching; /* a launch failed, not what came upon its failure later */
} kj_run;

/* A call of a builtin: arguments by parameter; what was left out is KJ_R_NONE with given false. */
typedef struct kj_rcall {
    kj_run_id id;
    kj_span span;
    const kj_expr *args_expr;
    kj_rvalue self; /* of a member */
    kj_span self_span;
    kj_rvalue args[KJ_RUN_MAX_PARAMS];
    kj_span spans[KJ_RUN_MAX_PARAMS];
    bool given[KJ_RUN_MAX_PARAMS];
    kj_rvalue *rest; /* of a parameter `name...` */
    int nrest;
} kj_rcall;

/* ---- run_block.c: a run's beginning and end ---- */

/* A place for failures that the source is not to blame for. */
static const kj_span kj_run_nowhere = {UINT32_MAX, UINT32_MAX};
/* Records the failure, if it is the first; gives false. */
bool kj_run_fail(kj_run *r, kjit_status status, kj_span at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* One sentence that helps, for the failure just recorded; gives false. */
bool kj_run_hint(kj_run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool kj_run_no_memory(kj_run *r, kj_span at);
/* True for KJIT_OK; else records the context's sentence at `at`. */
bool kj_run_check(kj_run *r, kjit_status status, kj_span at);

/* ---- run_value.c: values and names ---- */

void kj_run_keep(kj_rvalue v);
void kj_run_drop(kj_rvalue *v); /* leaves KJ_R_NONE */
void kj_run_free_object(kj_robject *o);
static inline kj_rvalue kj_run_none(void)
{
    return (kj_rvalue){.kind = KJ_R_NONE};
}
static inline kj_rvalue kj_run_bool(bool b)
{
    return (kj_rvalue){.kind = KJ_R_BOOL, .u.i = b};
}
static inline kj_rvalue kj_run_int(int64_t i)
{
    return (kj_rvalue){.kind = KJ_R_INT, .dtype = KJIT_I64, .u.i = i};
}
static inline kj_rvalue kj_run_uint(uint64_t u)
{
    return (kj_rvalue){
        .kind = KJ_R_INT, .dtype = u > INT64_MAX ? KJIT_U64 : KJIT_I64, .u.i = (int64_t)u};
}
static inline kj_rvalue kj_run_float(double f)
{
    return (kj_rvalue){.kind = KJ_R_FLOAT, .dtype = KJIT_F64, .u.f = f};
}
/* New objects. The array, stream, event or smart array is the object's from the call on, also when
 * it fails. */
bool kj_run_string(kj_run *r, kj_span at, const char *text, size_t len, kj_rvalue *out);
bool kj_run_sequence(kj_run *r, kj_span at, kj_rkind kind, int64_t n,
                     kj_rvalue *out); /* n times KJ_R_NONE */
bool kj_run_range(kj_run *r, kj_span at, int64_t start, int64_t stop, int64_t step, kj_rvalue *out);
bool kj_run_array(kj_run *r, kj_span at, kjit_array *a, kj_rvalue *out);
bool kj_run_lazy(kj_run *r, kj_span at, const struct kj_lazy *e,
                 kj_rvalue *out); /* takes its arguments' references */
bool kj_run_stream(kj_run *r, kj_span at, kjit_stream *s, kj_rvalue *out);
bool kj_run_event(kj_run *r, kj_span at, kjit_event *e, kj_rvalue *out);
bool kj_run_smart(kj_run *r, kj_span at, kjit_smart *s, kj_rvalue *out);
bool kj_run_scope(kj_run *r, kj_span at, kj_rscope kind, kj_rvalue arrays, kj_rvalue *out);
bool kj_run_append(kj_run *r, kj_span at, kj_rvalue list,
                   kj_rvalue item);        /* takes the item's reference */
const char *kj_run_kind_name(kj_rvalue v); /* "an int", "a string": for messages */
int64_t kj_run_range_count(const kj_robject *range);
bool kj_run_is_number(kj_rvalue v);       /* bool, int or float */
double kj_run_as_float(kj_rvalue number); /* of a complex one the real part */
/* A number as kj_value (I64, U64, F64, BOOL), and back (floats keep f32's digits, unsigned ones
 * theirs). */
kj_value kj_run_to_value(kj_rvalue number);
kj_rvalue kj_run_from_value(kj_value v);
bool kj_run_truth(kj_run *r, kj_span at, kj_rvalue v, bool *out);

/* Names: a block's are those above the count it began with. */
bool kj_run_bind(kj_run *r, kj_span at, const char *name, kj_rvalue value,
                 bool fixed); /* takes the reference */
kj_rbinding *kj_run_binding_of(kj_run *r, const char *name);
void kj_run_leave(kj_run *r, int count);

/* ---- run_expr.c, run_op.c, run_math.c, run_convert.c: expressions ---- */

bool kj_run_eval(kj_run *r, const kj_expr *e, kj_rvalue *out);
/* The same, but an array may come as what is still to compute: KJ_R_LAZY. */
bool kj_run_eval_lazily(kj_run *r, const kj_expr *e, kj_rvalue *out);
/* For operands from eval_lazily, the result may be KJ_R_LAZY too. */
bool kj_run_binary(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue b, kj_rvalue *out);
bool kj_run_unary(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue *out);
/* A function of the kernel vocabulary on numbers: -1 when `name` is none of those. */
int kj_run_math_id(const char *name);
bool kj_run_math(kj_run *r, kj_span at, kj_builtin id, const kj_rvalue *args, int n,
                 kj_rvalue *out);
/* The value as the declared type, in place. `what` names it in messages. */
bool kj_run_convert(kj_run *r, kj_span at, const kj_type_ref *type, const char *what, kj_rvalue *v);
/* A type by its name, one of the file's records too: KJ_VOID where there is none. */
kjit_dtype kj_run_type(const kj_run *r, const char *name);
/* The conversion f32(x) spells. */
bool kj_run_cast(kj_run *r, kj_span at, kjit_dtype to, kj_rvalue v, kj_rvalue *out);

/* ---- run_complex.c ---- */

kj_rvalue kj_run_complex(double re, double im);
bool kj_run_is_complex(kj_rvalue v);
/* A complex or other number as KJIT_C64 or KJIT_C128. */
kj_rvalue kj_run_to_complex(kjit_dtype dtype, kj_rvalue v);
/* kj_run_binary and kj_run_math of numbers, one of them complex; and complex functions of any. */
bool kj_run_complex_binary(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue b,
                           kj_rvalue *out);
bool kj_run_complex_math(kj_run *r, kj_span at, kj_builtin id, const kj_rvalue *args, int n,
                         kj_rvalue *out);

/* ---- run_stmt.c ---- */

bool kj_run_statements(kj_run *r, const kj_stmt *s); /* r->flow says how they ended */

/* ---- run_index.c: a[i], a[i] = v, a.shape ---- */

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

/* ---- run_call.c: calls ---- */

bool kj_run_eval_call(kj_run *r, const kj_expr *e, kj_rvalue *out);
/* What a plain name calls: a kj_run_id, KJ_NRUN plus a kj_builtin of the kernels, or -1. */
int kj_run_callable(kj_run *r, const char *name);
int kj_run_member_id(const char *name); /* ".sum" by "sum", or -1 */
const char *kj_run_builtin_name(kj_run_id id);
/* Argument i as an integer, a float, text, an array, a stream; a failure names the parameter. */
bool kj_run_arg_int(kj_run *r, const kj_rcall *c, int i, int64_t *out);
bool kj_run_arg_float(kj_run *r, const kj_rcall *c, int i, double *out);
/* to - from; fails where that is no number of f64. */
bool kj_run_arg_distance(kj_run *r, const kj_rcall *c, double from, double to, double *out);
bool kj_run_arg_text(kj_run *r, const kj_rcall *c, int i, const char **out);
bool kj_run_arg_array(kj_run *r, const kj_rcall *c, int i, kjit_array **out);
bool kj_run_arg_dtype(kj_run *r, const kj_rcall *c, int i,
                      kjit_dtype *out); /* leaves *out when not given */
bool kj_run_arg_stream(kj_run *r, const kj_rcall *c, int i,
                       kjit_stream **out); /* NULL when not given */
bool kj_run_arg_shape(kj_run *r, const kj_rcall *c, int i, int *ndim, int64_t shape[KJIT_MAX_NDIM]);

/* ---- run_elements.c: host elements ---- */

/* Walks up to two host arrays of one shape in C order, a row of elements at a time. */
typedef struct kj_rrows {
    int ndim;
    int64_t shape[KJIT_MAX_NDIM], at[KJIT_MAX_NDIM], strides[2][KJIT_MAX_NDIM];
    char *data[2];
    int64_t n, step[2]; /* of a row */
    int64_t left;       /* rows */
} kj_rrows;
void kj_run_rows(kj_rrows *w, kjit_array *a, kjit_array *b); /* b may be NULL */
bool kj_run_next_row(kj_rrows *w);

/* The elements in C order as doubles, a chunk at a time: gives how many, 0 at the end. */
enum { KJ_RUN_CHUNK = 128 }; /* on the stack, twice */
typedef struct kj_rfloats {
    kj_rrows rows;
    kjit_dtype dtypes[2];
    int64_t done; /* of this row */
} kj_rfloats;
void kj_run_floats(kj_rfloats *f, kjit_array *a, kjit_array *b); /* b may be NULL */
int64_t kj_run_next_floats(kj_rfloats *f, double *a, double *b);

kj_rvalue kj_run_load(kjit_dtype dtype, const void *p);
/* The value's bytes as an element; fails when the type does not hold it. */
enum { KJ_RUN_ELEMENT = 16 }; /* bytes of the largest element that is one number */
bool kj_run_pack(kj_run *r, kj_span at, kjit_dtype dtype, kj_rvalue v,
                 unsigned char out[KJ_RUN_ELEMENT]);
void kj_run_load_floats(kjit_dtype dtype, const char *p, int64_t step, int64_t n, double *out);
void kj_run_store_floats(kjit_dtype dtype, char *p, int64_t n,
                         const double *from); /* float types, dense */
/* start, start + step, ... as elements of a new array, of a type that holds them; no bools. */
void kj_run_store_line(kjit_dtype dtype, void *p, int64_t n, int64_t start, int64_t step);
void kj_run_fill(kjit_array *a, const unsigned char element[KJ_RUN_ELEMENT]);
/* The array itself (a new reference), or vectors seen as their scalars, with one axis more; records
 * are refused. */
bool kj_run_numbers(kj_run *r, kj_span at, kj_rvalue a, kj_rvalue *out);
/* The same in host memory, and records as they are: in its own place if it is there, else a copy.
 * All queued work has ended. */
bool kj_run_on_host(kj_run *r, kj_span at, kj_rvalue a, kj_rvalue *out);
bool kj_run_new_array(kj_run *r, kj_span at, kjit_dtype dtype, int ndim, const int64_t *shape,
                      kjit_memory memory, kj_rvalue *out);

/* ---- run_record.c: records, each an array without axes ---- */

bool kj_run_is_record(kj_rvalue v); /* or many */
/* Refuses records where numbers are meant. */
bool kj_run_no_records(kj_run *r, kj_span at, kj_rvalue v);
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

/* ---- run_print.c: values as text ---- */

/* As Python prints it; `quoted`: strings as they stand inside a tuple or list. */
bool kj_run_put_value(kj_run *r, kj_span at, kj_str *t, kj_rvalue v, bool quoted);
/* The text of a number in a fixed buffer, for messages. */
typedef struct kj_rshort {
    char text[KJ_SCALAR_TEXT];
} kj_rshort;
kj_rshort kj_run_short(kj_rvalue v);

/* ---- run_param.c: params and their overrides, --save ---- */

/* "5", "-0x1f", "2.5e3", "1+2j", "true", "inf": an int, float, complex number or bool; else
 * KJ_R_NONE. The text ends with a NUL. */
kj_rvalue kj_run_parse_number(const char *text, size_t len);

/* Do the params and saves of the options name what the block has? */
bool kj_run_check_options(kj_run *r);
/* Declares a param: its default, or what the options give. */
bool kj_run_param(kj_run *r, const kj_stmt *s);
/* --save, at the end of the block. */
bool kj_run_save_all(kj_run *r);

/* ---- run_time.c: what --time says ---- */

/* Each launch and copy of the run's context is reported from here on, until end. */
void kj_run_time_begin(kj_run *r);
void kj_run_time_end(kj_run *r);

/* ---- run_digest.c: what --digest says ---- */

bool kj_run_digest(kj_run *r);

/* ---- run_launch.c ---- */

/* k[grid, block](...), k.forall(n)(...), or k.max_cooperative_blocks(block)(...), an int. */
bool kj_run_launch(kj_run *r, const kj_expr *call, const kj_kernel_decl *kernel, kj_rvalue *out);
bool kj_run_unconfigured(kj_run *r, kj_span at,
                         const kj_kernel_decl *kernel); /* fails: says how to launch it */

/* ---- run_random.c: Philox 4x32-10 ---- */

void kj_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* ---- run_suggest.c: a run block for a file without one ---- */

void kj_run_suggest(const kj_program *program, kj_str *out);

/* ---- Builtins: one function a row ---- */

typedef bool kj_run_builtin(kj_run *r, kj_rcall *c, kj_rvalue *out);
/* run_make.c */
kj_run_builtin kj_run_make_filled, kj_run_make_like, kj_run_make_full, kj_run_make_arange,
    kj_run_make_linspace;
/* run_list.c */
kj_run_builtin kj_run_make_array;
/* array(items, dtype) */
bool kj_run_items_array(kj_run *r, kj_span at, kj_rvalue items, kjit_dtype dtype, kj_rvalue *out);
/* run_random.c */
kj_run_builtin kj_run_random_uniform, kj_run_random_normal, kj_run_random_randint;
/* run_move.c */
kj_run_builtin kj_run_view, kj_run_load_file, kj_run_save_file, kj_run_to_device, kj_run_array_in,
    kj_run_copy, kj_run_swap, kj_run_direction, kj_run_copy_to_host, kj_run_copy_to_device;
/* run_shape.c */
kj_run_builtin kj_run_reshape, kj_run_ravel, kj_run_split, kj_run_is_contiguous;
/* run_smart.c */
kj_run_builtin kj_run_smart_array, kj_run_changed;
/* A smart array's .host or .gpu. */
/* .shape, .size, .ndim, .dtype */
bool kj_run_measure(kj_run *r, kj_span at, kj_run_id id, const kjit_array *a, kj_rvalue *out);
bool kj_run_side(kj_run *r, kj_span at, kj_run_id id, kj_rvalue base, kj_rvalue *out);
/* lazy_reduce.c */
kj_run_builtin kj_run_reduce, kj_run_cumsum;
/* lazy_node.c */
kj_run_builtin kj_run_where;
/* run_stream.c */
kj_run_builtin kj_run_new_stream, kj_run_default_stream, kj_run_new_event, kj_run_synchronize,
    kj_run_elapsed, kj_run_device, kj_run_m_synchronize, kj_run_auto_synchronize, kj_run_query,
    kj_run_record, kj_run_wait;
/* run_with.c */
kj_run_builtin kj_run_defer_cleanup, kj_run_page_locked;
/* A value begins a `with`, and ends it, also after a failure; *named: what `as` names. */
bool kj_run_enter(kj_run *r, kj_span at, kj_rvalue v, kj_rvalue *named);
bool kj_run_exit(kj_run *r, kj_span at, kj_rvalue v);
/* run_assert.c */
kj_run_builtin kj_run_assert, kj_run_assert_close;
/* run_basic.c */
kj_run_builtin kj_run_print, kj_run_make_range, kj_run_len, kj_run_make_str, kj_run_m_append;
/* run_convert.c */
kj_run_builtin kj_run_make_int, kj_run_make_float;

#endif
