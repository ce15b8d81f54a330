/* Values of run blocks, and the state of a run that they are of.
 *
 * Values: a kj_rvalue is a scalar, or a reference to a counted object. A function that gives a
 * value through `out` gives one reference, which the caller drops with kj_run_drop; kj_run_keep
 * makes another. All objects of a run stand in one list, and what is left there when the run ends
 * is freed then: after a failure nobody has to drop anything. Functions give false after
 * kj_run_fail (the first failure is kept), true otherwise. */
#ifndef KJ_VALUE_H
#define KJ_VALUE_H

#include "lang/run_kinds.h"
#include "lang/signature.h"
#include "launch/launch.h"

/* Kinds of KJ_R_SCOPE. */
typedef enum kj_rscope { KJ_SCOPE_DEFER, KJ_SCOPE_PINNED, KJ_SCOPE_MAPPED } kj_rscope;

typedef struct kj_robject kj_robject;

typedef struct kj_rvalue {
    kj_rkind kind;
    bool literal;     /* a number as it stands in the source: no variable has it */
    bool typed, wide; /* of a number: meet.c; else it is plain */
    kjit_dtype dtype;
    kj_dtype type; /* of a typed number */
    union {
        int64_t i;
        double f;
        const kj_kernel_decl *kernel;
        kj_robject *object;
    } u;
    union {
        double imag;
        int64_t
            beyond; /* of an int, how often 2**64 is added to it: 0, but where operators pass on to each other what 64
                         * bits do not hold */
    };
} kj_rvalue;

struct kj_robject {
    kj_robject *prev, *next;
    int64_t refs;
    kj_rkind kind;
    bool fixed;      /* an array of a const: its elements cannot be assigned */
    bool busy;       /* a sequence that is being printed */
    size_t bytes;    /* that it has of the run's value_bytes */
    uint64_t *taken; /* those */
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

/* A tree that would pass these is computed in parts. */
enum { KJ_LAZY_OPERANDS = KJ_MAX_RUN_ARGS, KJ_LAZY_LEAVES = 64, KJ_LAZY_DEPTH = 100 };

typedef enum kj_lazy_form {
    KJ_X_BINARY, /* op */
    KJ_X_UNARY,  /* op; INVERT of bools is `not` */
    KJ_X_CALL,   /* builtin, or a function of the file */
    KJ_X_WHERE,  /* args[1] where args[0], else args[2] */
    KJ_X_CAST,   /* to type, of one argument; of two the parts of a complex number */
} kj_lazy_form;

/* One operation. Its operands are numbers, arrays and further operations. */
typedef struct kj_lazy {
    kj_lazy_form form;
    kj_op op;
    kj_builtin builtin;
    const kj_item *function; /* of a KJ_X_CALL; or NULL */
    int part;                /* of a KJ_X_CALL with several results, which one; -1: it has one */
    kj_dtype type;           /* of an element */
    int ndim;
    int64_t shape[KJIT_MAX_NDIM];
    int n;
    kj_rvalue args[KJ_LAZY_OPERANDS];
    kj_dtype types[KJ_LAZY_OPERANDS]; /* of each argument, as the operation takes it */
    int leaves, depth;                /* of the tree */
    bool untyped;                     /* a choice of numbers: `type` is what they are alone */
    bool settled;                     /* it was computed: a KJ_X_CAST of the array it came to */
} kj_lazy;

/* What a name stands for. */
typedef struct kj_rbinding {
    const char *name;
    kj_rvalue value;
    bool fixed;              /* let, param, loop variable */
    const kj_type_ref *type; /* of a var that declares one: of all its values; else NULL */
} kj_rbinding;

typedef enum kj_rflow { KJ_FLOW_NEXT, KJ_FLOW_BREAK, KJ_FLOW_CONTINUE, KJ_FLOW_RETURN } kj_rflow;

/* Of calls of functions within each other; of expressions and statements, those of callers too. */
enum { KJ_RUN_MAX_CALLS = 1000, KJ_RUN_MAX_DEPTH = 2000, KJ_RUN_MAX_DEPTH_OF_CALLS = 10000 };

/* Where the functions were called in which a run failed: the innermost first, the outermost last. */
typedef struct kj_rcallers {
    struct {
        kj_span span;
        int times; /* one behind the other */
    } at[8];
    int n; /* of all there are */
} kj_rcallers;

/* What a name of the file, or of the language, stands for. */
typedef struct kj_rnamed {
    const char *name;    /* interned */
    const kj_file *file; /* where it is said */
    const kj_item *item; /* or NULL */
    int callable;        /* else: a kj_run_id, KJ_NRUN plus a kj_builtin of the kernels, or -1 */
} kj_rnamed;

typedef struct kj_run {
    uint64_t number; /* of the context's runs, from 1 */
    kjit_module *module;
    kjit_context *ctx;
    const kj_program *program;
    const kj_item *block; /* what runs: the run block, or a test */
    const kj_file *file;  /* whose names are in sight */
    const kj_source *source;
    const kjit_run_options *options;
    kj_robject objects; /* head of the ring */
    kj_robject trees;   /* of those that are KJ_R_LAZY */
    kj_rbinding *names;
    int nnames, roomnames;
    int frame;         /* names from here on are in sight */
    int calls;         /* functions that run */
    int withs;         /* and in the innermost, of `with` blocks */
    kj_rvalue *consts; /* by the number of an item, KJ_R_NONE until it is asked for */
    kj_rflow flow;
    kj_rvalue result; /* of KJ_FLOW_RETURN, in a function; may be KJ_R_LAZY */
    int depth, max_depth;
    uint64_t value_bytes; /* of its objects, where they have a limit */
    uint64_t unseeded;    /* random calls without a seed so far */
    bool queued;          /* something was put into a stream: work may be under way */
    kj_timing_hook timing;
    struct kj_often *often; /* what --time has told of (time.c) */
    kj_text functions; /* the file without what only kernels and the run block need; or empty */
    kj_run_signature signatures[KJ_NRUN];
    kj_rnamed known[256];
    /* the failure */
    kjit_status status;
    kj_span at;
    const char *converts; /* the type that what was to be assigned is to be converted to; or NULL */
    bool exact;           /* what is computed next is an operand, and may be beyond 64 bits */
    bool powers;          /* ^ of floats, which is meant as a power */
    const char *wraps;    /* the function that operand number `wrapped` is to stand in; or NULL */
    const char *wrap_lead;
    int wrapped;
    char *message, *hint, *json; /* the last: the message, where it came as diagnostics */
    kjit_fault *fault;           /* or NULL */
    kj_rcallers callers;
    kj_span
        inside; /* where a function of the library found it, whose call is `at`; empty: nowhere */
    kj_span wanted; /* what a failure was to say, of a test's that says otherwise; empty: nothing */
    bool launching; /* a launch failed, not what came upon its failure later */
    kj_span declared; /* of what it is about; empty: nowhere */
} kj_run;

/* A call of a builtin: arguments by parameter; what was left out is KJ_R_NONE with given false. */
typedef struct kj_rcall {
    kj_run_id id;
    kj_span span;
    const kj_expr *args_expr;
    kj_rnamed function; /* of reduce and scan: what is given for the parameter f */
    kj_rvalue self;     /* of a member */
    kj_span self_span;
    kj_rvalue args[KJ_RUN_MAX_PARAMS];
    kj_span spans[KJ_RUN_MAX_PARAMS];
    bool given[KJ_RUN_MAX_PARAMS];
    kj_rvalue *rest; /* of a parameter `name...` */
    const kj_expr **rest_exprs;
    int nrest;
} kj_rcall;

/* ---- fail.c: failures ---- */

/* A place for failures that the source is not to blame for. */
static const kj_span kj_run_nowhere = {UINT32_MAX, UINT32_MAX};
/* Records the failure, if it is the first; returns false. */
bool kj_run_fail(kj_run *r, kjit_status status, kj_span at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool kj_run_say(kj_run *r, kjit_status status, kj_span at, const kj_saying *say);
/* One sentence that helps, for the failure just recorded; returns false. */
bool kj_run_hint(kj_run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, of an operator's operand or a call's argument, by its number, that is to stand in a call of `function`: `lead` and
 * the whole written so, where its text is known (kj_run_hint_operand), else `otherwise`. */
bool kj_run_wrap(kj_run *r, const char *function, int operand, const char *lead,
                 const char *otherwise);
bool kj_run_hint_int(kj_run *r, kj_span at);                /* a float stands there for an int */
bool kj_run_hint_comma(kj_run *r, kj_span at, kj_rvalue v); /* of 1,5; false: there is none */
/* The value has no such member, a row of run_builtins.def; what is meant may be an array of it. */
bool kj_run_lacks(kj_run *r, kj_span at, kj_rvalue v, kj_run_id row);
bool kj_run_no_memory(kj_run *r, kj_span at);
/* Expressions, statements or calls are; `what`: of the first two, which. */
bool kj_run_too_deep(kj_run *r, kj_span at, const char *what);
/* True for KJIT_OK; else records the context's sentence at `at`. */
bool kj_run_check(kj_run *r, kjit_status status, kj_span at);
/* False, and a failure, where so many more bytes of values are beyond the context's limit. */
bool kj_run_has_room(kj_run *r, kj_span at, uint64_t bytes);

/* ---- value.c: values and names ---- */

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
bool kj_run_lazy(kj_run *r, kj_span at, const kj_lazy *e,
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
kj_rvalue kj_run_typed(kj_value v); /* the same, of that type from now on */
/* A condition, an option: `what` names it in messages. */
bool kj_run_truth(kj_run *r, kj_span at, const char *what, kj_rvalue v, bool *out);

/* Names: a block's are those above the count it began with, a function's those above its frame. */
bool kj_run_bind(kj_run *r, kj_span at, const char *name, kj_rvalue value,
                 bool fixed); /* takes the reference */
kj_rbinding *kj_run_binding_of(kj_run *r, const char *name);
void kj_run_leave(kj_run *r, int count);

/* ---- meet.c: the types of numbers ---- */

/* What an operation's numbers have in common. */
typedef struct kj_rmeeting {
    kj_dtype common; /* of those that have a type; KJ_VOID: none has, or there is none for them */
    kj_dtype type;   /* of the result; KJ_VOID: it is exact where it is an int, f64 where a float */
    bool typed, wide;
} kj_rmeeting;

/* Fails where a plain number does not fit the float type that it meets. */
bool kj_run_meet(kj_run *r, kj_span at, const kj_rvalue *v, int n, kj_rmeeting *out);
/* Their results: a float; an int, which fails where it does not fit; and what was computed as if of
 * plain numbers. `what` names the operation in messages. */
kj_rvalue kj_run_real(const kj_rmeeting *m, double x);
__extension__ typedef __int128 kj_whole;
bool kj_run_whole(kj_run *r, kj_span at, const char *what, const kj_rmeeting *m, kj_whole v,
                  kj_rvalue *out);
bool kj_run_as_met(kj_run *r, kj_span at, const char *what, const kj_rmeeting *m, kj_rvalue *v);
/* What numbers are for something generic; plain ones alone are i64, u64 or f64. */
bool kj_run_meet_alone(kj_run *r, kj_span at, const char *what, const kj_rvalue *v, int n,
                       kj_dtype *type);
/* The value of an int. */
kj_whole kj_run_whole_of(kj_rvalue v);
/* As it stands beside a float: a float where it is beyond 64 bits. */
kj_rvalue kj_run_beside_float(kj_rvalue v);
/* The failure of an operator whose result 64 bits do not hold. */
bool kj_run_beyond(kj_run *r, kj_span at, kj_op op, kj_whole v);
/* As a variable or a list's item holds it, which may change: a plain number is wide. */
kj_rvalue kj_run_widened(kj_rvalue v);

/* ---- arith.c: operators on numbers ---- */

/* -1, 0, 1; 2 when one is NaN. Exact, also between ints and floats. */
int kj_run_compare_numbers(kj_rvalue a, kj_rvalue b);
bool kj_run_compare_result(kj_op op, int order);
/* Of numbers that are not complex. */
bool kj_run_binary_numbers(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue b,
                           kj_rvalue *out);
bool kj_run_unary_number(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue *out);

/* ---- math.c ---- */

/* A function of the kernel vocabulary on numbers: -1 when `name` is none of those. */
int kj_run_math_id(const char *name);
bool kj_run_math(kj_run *r, kj_span at, kj_builtin id, const kj_rvalue *args, int n,
                 kj_rvalue *out);

/* ---- complex.c ---- */

kj_rvalue kj_run_complex(double re, double im);
bool kj_run_is_complex(kj_rvalue v);
/* A complex or other number as KJIT_C64 or KJIT_C128. */
kj_rvalue kj_run_to_complex(kjit_dtype dtype, kj_rvalue v);
/* Do the parts of a number, complex or not, become infinite in that type only where they are? */
bool kj_run_parts_fit(kj_rvalue v, kj_dtype to);
/* kj_run_binary and kj_run_math of numbers, one of them complex; and complex functions of any. */
bool kj_run_complex_binary(kj_run *r, kj_span at, kj_op op, kj_rvalue a, kj_rvalue b,
                           kj_rvalue *out);
bool kj_run_complex_math(kj_run *r, kj_span at, kj_builtin id, const kj_rvalue *args, int n,
                         kj_rvalue *out);

/* ---- args.c: arguments of builtins ---- */

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
/* An extent may be -1. */
bool kj_run_arg_open_shape(kj_run *r, const kj_rcall *c, int i, int *ndim,
                           int64_t shape[KJIT_MAX_NDIM]);

/* ---- elements.c: host elements ---- */

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

/* ---- Records ---- */

bool kj_run_is_record(kj_rvalue v); /* or many */
/* Refuses records where numbers are meant. */
bool kj_run_no_records(kj_run *r, kj_span at, kj_rvalue v);

/* ---- print.c: values as text ---- */

/* As Python prints it. */
enum {
    KJ_PUT_PLAIN = 0,
    KJ_PUT_QUOTED = 1, /* strings as they stand inside a tuple or list */
    KJ_PUT_WHOLE = 2,  /* of long axes not the ends alone */
};
bool kj_run_put_value(kj_run *r, kj_span at, kj_text *t, kj_rvalue v, int how);
/* What print and the like write, and the end of the text; false where it found no memory, or is too much. */
bool kj_run_write(kj_run *r, kj_span at, kj_text *t);
/* format.c: by a format as of an f-string; NULL or "": as print writes it. */
bool kj_run_format(kj_run *r, kj_span at, const char *spec, kj_rvalue v, kj_text *t);
/* The text of a number in a fixed buffer, for messages. */
typedef struct kj_rshort {
    char text[KJ_SCALAR_TEXT];
} kj_rshort;
kj_rshort kj_run_short(kj_rvalue v);

#endif
