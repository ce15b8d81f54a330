/* Semantic analysis, the parts' shared view: AST -> typed AST.
 *
 * One kj_sema is one walk: over the file's constants, over one function to check it, or over one
 * kernel to build a specialisation. Expressions give a kj_operand; what they need computed
 * beforehand (a view's offset, an inlined body) is appended to the current sink, the statement
 * list being built. Operands evaluated before such statements and not stable under them are put
 * into hidden `let`s (kj_spill), so the order stays left to right. Where a statement may not be
 * executed unconditionally (arms of `and`, `or`, conditional expressions, loop conditions) a
 * kj_branch collects them into a KJ_TE_INLINE.
 *
 *   sema_program.c  the file: declarations, and every body checked
 *   sema_kernel.c   one specialisation: parameters, requires, attributes
 *   sema_scope.c    names
 *   sema_type.c     types as written, conversions
 *   sema_message.c  errors and their words
 *   sema_const.c    constants and const arrays
 *   sema_build.c    typed nodes; sema_sink.c: statement lists, variables, hidden lets
 *   sema_expr.c     expressions; sema_op.c: operators; sema_literal.c: untyped constants
 *   sema_array.c    views, loads; sema_member.c: members
 *   sema_aggregate.c  values of several scalars; sema_vector.c: arithmetic on small vectors
 *   sema_complex.c  arithmetic on complex numbers; sema_cmath.c: functions of them
 *   sema_record.c   records declared and made; sema_fixed.c: arrays in their fields
 *   sema_memory.c   shared and local arrays; sema_atomic.c: atomics
 *   sema_call.c     calls of functions, inlined; sema_builtin.c: calls of builtins
 *   sema_random.c   calls of the random generator
 *   sema_report.c   assert and print
 *   sema_sync.c     barriers, fences, warps
 *   sema_launch.c   launches by kernels
 *   sema_stmt.c     statements; sema_assign.c: declarations and assignments
 *   sema_run.c      the run block's names; sema_run_call.c: its calls and launches */
#ifndef KJ_SEMA_H
#define KJ_SEMA_H

#include "sema/program.h"
#include "tast/tast.h"

enum {
    KJ_MAX_NESTING = 1500,        /* expressions, statements and calls within each other */
    KJ_MAX_NODES = 200000,        /* typed nodes of a kernel */
    KJ_MAX_CHECKED = 4000000,     /* typed nodes of all checks of a file */
    KJ_MAX_LOCAL_BYTES = 1 << 19, /* a local array */
};

typedef struct kj_sema kj_sema;
typedef struct kj_symbol kj_symbol;
typedef struct kj_scope kj_scope;
typedef struct kj_frame kj_frame;

typedef enum kj_operand_kind {
    KJ_V_ERROR,   /* reported: silences what follows */
    KJ_V_NONE,    /* a call without a result */
    KJ_V_LITERAL, /* u.literal: an untyped constant, held as I64, U64 (over i64) or F64 */
    KJ_V_SCALAR,  /* u.scalar */
    KJ_V_TUPLE,   /* u.tuple; also a value of an aggregate type, an item a part */
    KJ_V_ARRAY,   /* u.array */
    KJ_V_PLACE,   /* u.place: an element of an array, neither read nor assigned yet */
    KJ_V_SYMBOL,  /* u.symbol: what is no value: a type, function, builtin, kernel */
} kj_operand_kind;

typedef struct kj_operand {
    kj_operand_kind kind;
    kj_span span;
    union {
        kj_value literal;
        struct {
            kj_texpr *e, *a, *b;
        } scalar; /* a, b: e is the float product a * b, written right here */
        struct {
            struct kj_operand *items;
            int n;
            const kj_aggregate *of; /* NULL: no more than a tuple; else items are typed */
        } tuple;
        kj_tarray *array;
        struct {
            kj_tarray *array;
            kj_texpr **index;
        } place;
        const kj_symbol *symbol;
    } u;
} kj_operand;

typedef enum kj_symbol_kind {
    KJ_SYM_VALUE,
    KJ_SYM_TYPE,
    KJ_SYM_BUILTIN,
    KJ_SYM_NAMESPACE, /* shared, local, atomic: builtins with a dot */
    KJ_SYM_CONST,     /* a top-level constant; its value once resolved */
    KJ_SYM_FN,
    KJ_SYM_KERNEL,
} kj_symbol_kind;

/* How a value was declared, for assignments and their messages. */
typedef enum kj_role {
    KJ_ROLE_LET,
    KJ_ROLE_VAR,
    KJ_ROLE_PARAM,
    KJ_ROLE_LOOP,
    KJ_ROLE_CONST,
    KJ_ROLE_PREDEFINED,
} kj_role;

typedef enum kj_progress { KJ_UNSEEN, KJ_BUSY, KJ_DONE } kj_progress;

struct kj_symbol {
    const char *name; /* interned */
    kj_span span;
    kj_symbol_kind kind;
    kj_role role;
    kj_operand value;    /* VALUE, CONST */
    kj_dtype type;       /* TYPE */
    kj_builtin builtin;  /* BUILTIN */
    const kj_item *item; /* CONST, FN, KERNEL; TYPE: a record's, else NULL */
    void (*resolve)(kj_sema *s, kj_symbol *sym); /* lays a record out; or NULL */
    int index;                                   /* FN: dense */
    kj_progress progress;                        /* CONST, records */
};

/* A type as declared. */
typedef struct kj_type {
    enum { KJ_T_ERROR, KJ_T_NONE, KJ_T_SCALAR, KJ_T_AGGREGATE, KJ_T_ARRAY, KJ_T_TUPLE } kind;
    kj_dtype dtype;
    const kj_aggregate *of; /* that dtype is; NULL: a scalar */
    int ndim;
    struct kj_type *parts;
    int n;
} kj_type;

/* A statement list being built. */
typedef struct kj_sink {
    struct kj_sink *up;
    kj_tstmt *first, **tail;
    bool barrier;
} kj_sink;

/* Code that may not run: its statements, to be wrapped. */
typedef struct kj_branch {
    kj_sink sink;
    bool dead;
} kj_branch;

/* A function or kernel whose body is being walked. */
struct kj_frame {
    kj_frame *up;
    const kj_item *item;
    int fn;               /* kj_symbol.index, -1 for a kernel */
    kj_span call;         /* where it is called from; its own name when checked alone */
    const char *bindings; /* "T = f32", or NULL */
    kj_tblock *block;     /* what a return leaves */
    kj_type result;
    bool direct; /* the one return is the last statement: its value is the call's, no variables */
    kj_operand value; /* direct: the value returned */
    kj_var **results; /* else: variables that returns assign, a scalar component each */
    int nresults;
    int loops; /* around the statement being walked */
};

typedef struct kj_const_use {
    struct kj_const_use *next;
    const kj_tarray *source;
    kj_tarray *array;
} kj_const_use;

/* What sema knows of a variable beside the kj_var. */
typedef struct kj_var_note {
    kj_var *var;
    const kj_texpr *host; /* its value as an expression that the host can evaluate, or NULL */
    bool assigned;
} kj_var_note;

struct kj_sema {
    kj_arena *arena;
    kj_diag *diag;
    const kj_program *program;
    kj_program *made; /* the same while it is being made, and with it all constants */
    kj_scope *scope;
    kj_sink *sink;
    kj_frame *frame;
    kj_tkernel *kernel; /* NULL while constants are resolved */
    const kj_spec *spec;
    const char *naming; /* the name being declared: hidden variables are called after it */
    bool *broken;       /* by function index: it has errors, calls of it are silent */
    int nfns;
    int dead; /* over 0: in code that is checked but not kept */
    int depth;
    int nodes, total; /* typed nodes of this walk; of all before it */
    bool too_big;
    bool in_run; /* the run block is being checked */
    kj_var_note *vars;
    int nvars, var_cap;
    kj_tarray **roots;
    int nroots, root_cap;
    const kj_site **sites;
    int nsites, site_cap;
    kj_tkernel *family; /* the kernel that the host launches; NULL when bodies are only checked */
    int child;          /* the kernel's number in it: 0, or kj_child.id */
    kj_const_use *const_uses;
    struct kj_record_frame *laying; /* the record being laid out, or NULL */
};

/* ---- sema_message.c ---- */

/* Reports an error in the body being walked; with a note of the call when it is an instance of a
 * generic. */
kj_message *kj_sema_error(kj_sema *s, kj_span at, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
kj_operand kj_no_value(kj_span at); /* KJ_V_ERROR */
/* A short piece of source, or otherwise. */
const char *kj_source_text(kj_sema *s, kj_span span, const char *otherwise);
const char *kj_describe(kj_sema *s, const kj_operand *v); /* "i32", "f32[,]", "a tuple of 2" */
const char *kj_array_type(kj_sema *s, kj_dtype elem, int ndim);
static inline const char *kj_sema_type_name(const kj_sema *s, kj_dtype t)
{
    return kj_type_name_in(s->program->records, t);
}
const char *kj_literal_text(kj_sema *s, kj_value v);
const char *kj_role_text(kj_role role);

/* ---- sema_scope.c ---- */

kj_scope *kj_scope_new(kj_arena *arena, kj_scope *up);
void kj_scope_push(kj_sema *s);
void kj_scope_pop(kj_sema *s);
/* Here and in those around; NULL when there is none. */
kj_symbol *kj_scope_find(const kj_scope *scope, const char *name);
kj_symbol *kj_scope_add(kj_arena *arena, kj_scope *scope, const char *name, kj_span span,
                        kj_symbol_kind kind);
/* As above in s->scope; an error when the name is declared in this very scope already. */
kj_symbol *kj_declare(kj_sema *s, const char *name, kj_span span, kj_symbol_kind kind);
void kj_declare_value(kj_sema *s, const char *name, kj_span span, kj_role role, kj_operand value);
/* Reports an undeclared name, with the best hint there is. */
void kj_undeclared(kj_sema *s, const char *name, kj_span span);
void kj_undeclared_target(kj_sema *s, const char *name, kj_span span); /* of an assignment */
void kj_undeclared_type(kj_sema *s, const char *name, kj_span span);
/* The nearest visible name, or NULL. */
const char *kj_nearest_visible(kj_sema *s, const char *name);
kj_scope *kj_predefined(kj_arena *arena); /* types, builtins, inf, nan, pi */

/* ---- sema_type.c ---- */

kj_type kj_resolve_type(kj_sema *s, const kj_type_ref *ref);
kj_dtype kj_type_by_name(kj_sema *s, const char *name, kj_span span); /* KJ_VOID after an error */
/* The type named by an expression (dtype arguments), or KJ_VOID after an error. */
kj_dtype kj_dtype_argument(kj_sema *s, const kj_expr *e);
/* The value as a `to`, by the rules of assignment; reports (and gives NULL) otherwise. `what`
 * names the place. */
kj_texpr *kj_coerce(kj_sema *s, kj_operand v, kj_dtype to, const char *what);
kj_operand kj_coerce_type(kj_sema *s, kj_operand v, const kj_type *to, const char *what);
/* A literal gets its default type; others stay. */
kj_operand kj_settle(kj_sema *s, kj_operand v);
/* Must be bool; NULL after an error. */
kj_texpr *kj_condition(kj_sema *s, kj_operand v, const char *what);
/* Any integer as i64; NULL after an error about what, "an index". */
kj_texpr *kj_index_value(kj_sema *s, kj_operand v, const char *what);
bool kj_type_in_bound(kj_dtype t, const char *bound);
/* What a place of that type asks of an expression. */
static inline kj_dtype kj_wanted(const kj_type *t)
{
    return t->kind == KJ_T_SCALAR || t->kind == KJ_T_AGGREGATE ? t->dtype : KJ_VOID;
}

/* ---- sema_build.c ---- */

/* Counts typed nodes. Inlining can square and square again: past the limit the outermost call is
 * named, once. */
void kj_spend(kj_sema *s, int nodes);
kj_texpr *kj_te(kj_sema *s, kj_texpr_kind kind, kj_dtype type, kj_span span);
kj_texpr *kj_te_const(kj_sema *s, kj_value v, kj_span span);
kj_texpr *kj_te_i64(kj_sema *s, int64_t i, kj_span span);
kj_texpr *kj_te_bool(kj_sema *s, bool b, kj_span span);
kj_texpr *kj_te_var(kj_sema *s, kj_var *v, kj_span span);
/* Folded where the operands are constants; types agree already. */
kj_texpr *kj_te_binary(kj_sema *s, kj_op op, kj_texpr *a, kj_texpr *b, kj_span span);
kj_texpr *kj_te_unary(kj_sema *s, kj_op op, kj_texpr *a, kj_span span);
kj_texpr *kj_te_convert(kj_sema *s, kj_texpr *a, kj_dtype to, kj_span span);
kj_texpr *kj_te_logic(kj_sema *s, bool is_or, kj_texpr *a, kj_texpr *b, kj_span span);
kj_texpr *kj_te_call(kj_sema *s, kj_builtin id, kj_texpr *const *args, int nargs, kj_dtype type,
                     kj_span span);
/* Result `part` of a builtin that has several. */
kj_texpr *kj_te_part(kj_sema *s, kj_builtin id, int part, kj_texpr *const *args, int nargs,
                     kj_dtype type, kj_span span);
/* i64 arithmetic of offsets: drops + 0 and * 1. */
kj_texpr *kj_i64_add(kj_sema *s, kj_texpr *a, kj_texpr *b, kj_span span);
kj_texpr *kj_i64_sub(kj_sema *s, kj_texpr *a, kj_texpr *b, kj_span span);
kj_texpr *kj_i64_mul(kj_sema *s, kj_texpr *a, kj_texpr *b, kj_span span);
bool kj_is_const(const kj_texpr *e);
bool kj_is_const_i64(const kj_texpr *e, int64_t i);
bool kj_is_leaf(const kj_texpr *e); /* a constant or a name that never changes: may be used again */
bool kj_is_stable(const kj_texpr *e); /* the same before and after any statement */
bool kj_has_effect(const kj_texpr *e);

kj_operand kj_scalar(kj_texpr *e); /* KJ_V_ERROR for NULL */
/* of: the type of a value of several scalars, or NULL. */
static inline kj_operand kj_tuple(kj_operand *items, int n, const kj_aggregate *of, kj_span span)
{
    kj_operand v = {.kind = KJ_V_TUPLE, .span = span};
    v.u.tuple.items = items;
    v.u.tuple.n = n;
    v.u.tuple.of = of;
    return v;
}
kj_operand kj_literal(kj_value v, kj_span span);
bool kj_is_constant(const kj_operand *v); /* a literal or a constant scalar */

kj_var *kj_new_var(kj_sema *s, const char *name, kj_span span, kj_dtype type, bool mutable);
kj_tarray *kj_new_root(kj_sema *s, const kj_tarray *of);
void kj_add_site(kj_sema *s, kj_site *site);
void kj_array_used(kj_sema *s, kj_tarray *a, bool read, bool written);

void kj_sink_open(kj_sema *s, kj_sink *sink);
kj_tstmt *kj_sink_close(kj_sema *s, kj_sink *sink); /* back to the one before; its statements */
kj_tstmt *kj_emit(kj_sema *s, kj_tstmt_kind kind, kj_span span);
void kj_emit_decl(kj_sema *s, kj_var *v, kj_texpr *init, kj_span span);
void kj_emit_assign(kj_sema *s, kj_var *v, kj_texpr *value, kj_span span);
void kj_splice(kj_sema *s, kj_tstmt *list, bool barrier);
/* A leaf with the value of `e`: itself, or a hidden let. */
kj_texpr *kj_hold(kj_sema *s, kj_texpr *e, const char *name);
/* Puts what is not stable in `v` into hidden lets at `*at`, a place in the current sink; moves
 * the place behind. */
void kj_spill(kj_sema *s, kj_operand *v, kj_tstmt ***at);
void kj_branch_open(kj_sema *s, kj_branch *b, bool dead);
kj_operand kj_branch_close(kj_sema *s, kj_branch *b, kj_operand v, kj_span span);
/* The expression over parameters, dimensions and block sizes only that has the value of `e`, or
 * NULL; then *bad is the place that needs a thread. */
kj_texpr *kj_host_expr(kj_sema *s, const kj_texpr *e, kj_span *bad);

/* ---- sema_literal.c, sema_op.c, sema_expr.c ---- */

kj_operand kj_literal_binary(kj_sema *s, kj_op op, kj_operand a, kj_operand b, kj_span span);
kj_operand kj_literal_unary(kj_sema *s, kj_op op, kj_operand a, kj_span span);
kj_operand kj_literal_integer(uint64_t u, kj_span span);
/* Applies a binary operator to evaluated operands. */
kj_operand kj_binary(kj_sema *s, kj_op op, kj_operand a, kj_operand b, kj_span span);
kj_operand kj_unary(kj_sema *s, kj_op op, kj_operand a, kj_span span);
/* Brings scalars and literals to one type (want, when all are literals and it is not KJ_VOID);
 * false after an error. */
bool kj_unify(kj_sema *s, kj_operand *v, int n, kj_dtype want, kj_span span, const char *what);
bool kj_no_number(kj_sema *s, const kj_operand *v,
                  const char *what); /* reports what is neither scalar nor literal */

/* Any expression. `want` is the type the place would like, for what has none of its own; KJ_VOID
 * if it does not care. */
kj_operand kj_expr_any(kj_sema *s, const kj_expr *e, kj_dtype want);
/* One that is a value: symbols and calls without a result are errors. */
kj_operand kj_expr_value(kj_sema *s, const kj_expr *e, kj_dtype want);
/* Several, left to right, each before the next's statements. */
void kj_expr_list(kj_sema *s, const kj_expr *e, kj_operand *out, int n);
/* A constant of the type (any when KJ_VOID: then literals stay); false after an error. */
bool kj_expr_const(kj_sema *s, const kj_expr *e, kj_dtype type, const char *what, kj_value *out);
kj_operand kj_symbol_value(kj_sema *s, kj_symbol *sym, kj_span span);
/* The symbol that an expression names, dotted builtins included; NULL when it is no name
 * (nothing is reported). */
kj_symbol *kj_named(kj_sema *s, const kj_expr *e);

/* ---- sema_array.c, sema_member.c, sema_memory.c, sema_atomic.c ---- */

kj_operand kj_index_expr(kj_sema *s, const kj_expr *e);
kj_operand kj_member_expr(kj_sema *s, const kj_expr *e);
/* The same, but elements of arrays, and parts of them, stay places; other expressions are values. */
kj_operand kj_place_expr(kj_sema *s, const kj_expr *e);
kj_operand kj_index_place(kj_sema *s, const kj_expr *e);
kj_operand kj_member_place(kj_sema *s, const kj_expr *e);
/* What an operator [] is written behind, evaluated: the rest of kj_index_place. */
kj_operand kj_index_of(kj_sema *s, const kj_expr *e, kj_operand base);
kj_texpr *kj_load(kj_sema *s, kj_tarray *a, kj_texpr *const *index, kj_span span);
/* Evaluated indices (or one tuple of them) as those of one element; false after an error. */
bool kj_element_at(kj_sema *s, const kj_expr *place, kj_tarray *a, kj_operand *v, int n,
                   kj_texpr **index);
kj_texpr *kj_te_index(kj_sema *s, kj_index which, int axis, kj_span span);
/* Reports a write to a const array. */
bool kj_writable(kj_sema *s, const kj_tarray *a, const kj_expr *base, kj_span at);
/* let name = shared.array(...): true when the initialiser is that call (also after an error). */
bool kj_array_decl(kj_sema *s, const kj_name *name, const kj_expr *init);
kj_operand kj_atomic_call(kj_sema *s, const kj_expr *e, kj_builtin id);
kj_operand kj_cache_call(kj_sema *s, const kj_expr *e, kj_builtin id);
kj_operand kj_random_call(kj_sema *s, const kj_expr *e, kj_builtin id,
                          kj_dtype want);                /* sema_random.c */
kj_operand kj_assert_call(kj_sema *s, const kj_expr *e); /* sema_report.c */
kj_operand kj_print_call(kj_sema *s, const kj_expr *e);
/* Ends the thread, and the launch, unless the test holds; `failed` is kj_site's, and when it is NULL
 * the values of the test are told. */
void kj_emit_assert(kj_sema *s, kj_texpr *test, const char *failed, const char *message);
typedef struct kj_fail_words {
    const char *failed, *message;
    const char *const *values; /* what each is called */
} kj_fail_words;
/* The same without a test. */
void kj_emit_failure(kj_sema *s, kj_span span, kj_fail_words words, kj_texpr **values, int n);

/* ---- sema_aggregate.c, sema_vector.c ---- */

bool kj_is_aggregate(const kj_operand *v);
/* The type of a scalar or a value of several; KJ_VOID for what has none of its own. */
kj_dtype kj_type_of(const kj_operand *v);
/* A value whose scalars `make` gives, in order; `offset`: a scalar's, in bytes. */
typedef kj_texpr *kj_make_part(kj_sema *s, void *ctx, const kj_field *part, int64_t offset);
kj_operand kj_build(kj_sema *s, const kj_aggregate *of, kj_make_part *make, void *ctx,
                    kj_span span);
/* The part that a name behind a dot means; NULL after an error. */
const kj_field *kj_part_named(kj_sema *s, const kj_aggregate *of, const kj_expr *member);
/* Says that there is no field of that name; the names of its fields. */
void kj_no_field(kj_sema *s, const kj_aggregate *of, const char *name, kj_span at,
                 const char *code);
const char *kj_fields_text(kj_sema *s, const kj_aggregate *of);
/* The index in v[i], of a vector (or the place of one) of n; NULL after an error. */
kj_texpr *kj_vector_index(kj_sema *s, const kj_expr *e, const kj_operand *v, int n);
/* The same of a vector or an array in a record; other values are refused. */
kj_texpr *kj_part_index(kj_sema *s, const kj_expr *e, const kj_operand *v);
/* Part i of a value; of equal parts also one whose number (i64) the thread knows. */
kj_operand kj_part_at(kj_sema *s, const kj_operand *v, kj_texpr *i, kj_span span);
/* The array of one part of the elements. */
kj_tarray *kj_part_view(kj_sema *s, kj_tarray *a, const kj_field *part);
/* An element, read; a place, read; and what is no place, as it is. */
kj_operand kj_load_element(kj_sema *s, kj_tarray *a, kj_texpr *const *index, kj_span span);
kj_operand kj_place_value(kj_sema *s, kj_operand v);
/* value: of the element's type, and evaluated. */
void kj_store_element(kj_sema *s, kj_tarray *a, kj_texpr *const *index, kj_operand value,
                      kj_span span);
/* Parts that may be used again and again. */
kj_operand kj_hold_value(kj_sema *s, kj_operand v, const char *name);
kj_operand kj_coerce_aggregate(kj_sema *s, kj_operand v, const kj_aggregate *to, const char *what);
kj_operand kj_aggregate_binary(kj_sema *s, kj_op op, kj_operand a, kj_operand b, kj_span span);
kj_operand kj_aggregate_unary(kj_sema *s, kj_op op, kj_operand a, kj_span span);
/* f32x4(...), ...: the call of a type. */
kj_operand kj_construct(kj_sema *s, const kj_expr *e, const kj_aggregate *of);
/* A builtin of numbers, one of whose arguments is an aggregate. */
kj_operand kj_aggregate_builtin(kj_sema *s, const kj_expr *e, kj_builtin id, kj_operand *v, int n);
/* at[i], i (i64) known to the thread only: scalars, or values of one type. */
kj_operand kj_choose_part(kj_sema *s, const kj_operand *at, int n, kj_texpr *i, kj_span span);
enum { KJ_MAX_PARTS = 4 }; /* of a vector */
kj_operand kj_construct_vector(kj_sema *s, const kj_expr *e, const kj_aggregate *of,
                               const kj_operand *v, int n);
kj_operand kj_vector_builtin(kj_sema *s, const kj_expr *e, kj_builtin id, kj_operand *v);
/* dot, all, any */
kj_operand kj_vector_call(kj_sema *s, const kj_expr *e, kj_builtin id);

/* ---- sema_complex.c, sema_cmath.c ---- */

bool kj_is_complex(const kj_operand *v);
/* Of two parts of one type that complex numbers have, or of two literals. */
kj_operand kj_complex(kj_sema *s, kj_operand re, kj_operand im, kj_span span);
/* Brings complex and real numbers to one complex type (that of `want`, when all are literals);
 * false after an error. */
bool kj_complex_unify(kj_sema *s, kj_operand *v, int n, kj_dtype want, kj_span span,
                      const char *what);
/* *v as a `to`, where that widens; false where it doesn't, and *v is as it was. */
bool kj_becomes_complex(kj_sema *s, kj_operand *v, const kj_aggregate *to, const char *what);
kj_operand kj_construct_complex(kj_sema *s, const kj_expr *e, const kj_aggregate *of, kj_operand *v,
                                int n);
kj_operand kj_complex_binary(kj_sema *s, kj_op op, kj_operand a, kj_operand b, kj_span span);
kj_operand kj_complex_power(kj_sema *s, kj_operand a, kj_operand b, kj_dtype want, kj_span span);
kj_operand kj_complex_pow(kj_sema *s, kj_operand z, kj_operand w, bool real, kj_span span);
kj_operand kj_complex_builtin(kj_sema *s, const kj_expr *e, kj_builtin id, kj_dtype want,
                              kj_operand *v, int n);
kj_operand kj_complex_rect(kj_sema *s, const kj_expr *e, kj_dtype want, kj_operand *v);
/* conj, phase, polar, rect */
kj_operand kj_complex_call(kj_sema *s, const kj_expr *e, kj_builtin id, kj_dtype want);
/* Of scalars: a builtin of one argument; one of two, both evaluated, to be used again. */
kj_operand kj_real_call(kj_sema *s, kj_builtin id, kj_operand v);
kj_operand kj_choose(kj_sema *s, kj_operand test, kj_operand yes, kj_operand no);

/* ---- sema_record.c, sema_fixed.c ---- */

static inline const kj_aggregate *kj_sema_aggregate(const kj_sema *s, kj_dtype t)
{
    return kj_aggregate_in(s->program->records, t);
}
/* Lays out what a record's symbol declares, if that wasn't done. */
void kj_record_resolve(kj_sema *s, kj_symbol *sym);
kj_operand kj_record_construct(kj_sema *s, const kj_expr *e, const kj_aggregate *of);
/* An array whose elements are KJ_FIXED, with their axes behind its own; one such element. */
kj_operand kj_fixed_view(kj_sema *s, kj_tarray *a, kj_span span);
kj_operand kj_fixed_place(kj_sema *s, const kj_operand *place);
/* Nested tuples, or an array of that shape, as a value of that type. */
kj_operand kj_fixed_value(kj_sema *s, kj_operand v, const kj_aggregate *of, const char *what);

/* ---- sema_call.c, sema_builtin.c, sema_sync.c ---- */

/* A builtin that is more than a name for sema, applied to evaluated arguments. */
kj_operand kj_apply_builtin(kj_sema *s, const kj_expr *e, kj_builtin id, kj_dtype want,
                            kj_operand *v, int n);

kj_operand kj_call_expr(kj_sema *s, const kj_expr *e, kj_dtype want);
kj_operand kj_fn_call(kj_sema *s, const kj_expr *e, const kj_symbol *fn);
bool kj_checked_alone(const kj_sema *s);
/* Walks a function's body once with made-up arguments; generics as given. */
void kj_fn_check(kj_sema *s, const kj_symbol *fn, const kj_dtype *generics);
/* What the arguments, one a parameter, make of an item's generics; and the parameters' types.
 * False after an error. */
bool kj_infer_call(kj_sema *s, const kj_item *item, const kj_operand *v, const kj_expr *e,
                   kj_dtype *generics, kj_type **types);
bool kj_is_sync(kj_builtin id);
kj_operand kj_sync_call(kj_sema *s, const kj_expr *e, kj_builtin id);
int kj_builtin_arity(kj_builtin id);      /* of one with a signature: its arguments */
const char *kj_call_words(kj_builtin id); /* how a call of it goes on: "()" or "(...)" */
/* "(x, y): what it does" */
const char *kj_builtin_words(kj_sema *s, kj_builtin id);
/* Reports the wrong number of arguments, with the signature. */
void kj_arity_error(kj_sema *s, const kj_expr *call, const char *name, const char *signature,
                    int least, int most);

/* ---- sema_launch.c ---- */

void kj_launch_stmt(kj_sema *s, const kj_stmt *st);
/* Can a kernel launch this one, which is built now? Reports why not. */
bool kj_child_check(kj_diag *diag, const kj_child *child);

/* ---- sema_stmt.c, sema_assign.c ---- */

/* `tail`: a return here ends the body by itself. */
void kj_stmts(kj_sema *s, const kj_stmt *list, bool tail);
void kj_let_stmt(kj_sema *s, const kj_stmt *st);
void kj_assign_stmt(kj_sema *s, const kj_stmt *st);
bool kj_always_returns(const kj_stmt *list);

/* ---- sema_const.c, sema_kernel.c, sema_run.c ---- */

void kj_const_resolve(kj_sema *s, kj_symbol *sym);
kj_tarray *kj_const_array(kj_sema *s, const kj_tarray *source); /* the kernel's own root for it */
/* Notes the kernel's attributes in `k`; false after an error. */
bool kj_kernel_attrs(kj_sema *s, const kj_item *item, kj_tkernel *k);
kj_tarray *kj_param_array(kj_sema *s, const char *name, kj_span span, const kj_type *t,
                          kj_layout layout, int param);
kj_tkernel *kj_kernel_build(kj_sema *s, const kj_kernel_decl *decl, const kj_spec *spec);
void kj_sema_run(kj_sema *s, const kj_item *run);
void kj_sema_run_expr(kj_sema *s, const kj_expr *e);
void kj_sema_run_list(kj_sema *s, const kj_expr *e);
/* The symbol of a name used in the run block; NULL after an error. */
kj_symbol *kj_sema_run_find(kj_sema *s, const char *name, kj_span span);
void kj_sema_run_name(kj_sema *s, const kj_expr *e);
void kj_sema_run_call(kj_sema *s, const kj_expr *e);
void kj_sema_run_member(kj_sema *s, const kj_expr *e);
const kj_kernel_decl *kj_kernel_named(const kj_program *p, const char *name);

#endif
