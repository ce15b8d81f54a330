/* Semantic analysis, AST -> typed AST: what all of its parts share, and the first of them: typed
 * nodes, statement lists, names, types, messages.
 *
 * One kj_sema is one walk: over the file's constants, over one function to check it, or over one
 * kernel to build a specialisation. Expressions give a kj_operand; what they need computed
 * beforehand (a view's offset, an inlined body) is appended to the current sink, the statement
 * list being built. Operands evaluated before such statements and not stable under them are put
 * into hidden `let`s (kj_spill), so the order stays left to right. Where a statement may not be
 * executed unconditionally (arms of `and`, `or`, conditional expressions, loop conditions) a
 * kj_branch collects them into a KJ_TE_INLINE. */
#ifndef KJ_SEMA_NODE_H
#define KJ_SEMA_NODE_H

#include "lang/run_kinds.h"
#include "lang/signature.h"
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
typedef struct kj_open kj_open; /* value/open.c */
typedef struct kj_opens kj_opens;
typedef struct kj_each kj_each; /* body/each.c */

typedef enum kj_operand_kind {
    KJ_V_ERROR,   /* reported: silences what follows */
    KJ_V_NONE,    /* a call without a result */
    KJ_V_LITERAL, /* u.literal: an untyped constant, held as I64, U64 (over i64) or F64 */
    KJ_V_CHOICE,  /* u.choice: one of two untyped constants, or choices, by a condition */
    KJ_V_SCALAR,  /* u.scalar */
    KJ_V_TUPLE,   /* u.tuple; also a value of an aggregate type, an item a part */
    KJ_V_ARRAY,   /* u.array */
    KJ_V_PLACE,   /* u.place: an element of an array, neither read nor assigned yet */
    KJ_V_SYMBOL,  /* u.symbol: what is no value: a type, function, builtin, kernel */
} kj_operand_kind;

typedef struct kj_operand {
    kj_operand_kind kind;
    bool open; /* a literal that stands for a variable of which no type is known (value/open.c) */
    kj_span span;
    /* Of an integer literal, how often 2**64 is added to it: 0, but where operators of literals hand on what 64 bits do
     * not hold. */
    int64_t beyond;
    union {
        kj_value literal;
        struct {
            kj_texpr *test;
            struct kj_operand *arms; /* if it is true, if not */
        } choice;
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
    KJ_SYM_FILE,      /* a used file's names */
    KJ_SYM_CONST,     /* a top-level constant; its value once resolved */
    KJ_SYM_FN,
    KJ_SYM_KERNEL,
    KJ_SYM_RUN_FN, /* a function of run blocks */
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

typedef enum kj_progress { KJ_UNRESOLVED, KJ_RESOLVING, KJ_RESOLVED } kj_progress;

/* What is certain of a value of the run block before it runs. */
typedef struct kj_known {
    kj_rkind kind; /* KJ_R_NONE: nothing is */
    kj_dtype
        type; /* of an array's elements, a number, a KJ_R_DTYPE; of a shape KJ_I64; KJ_VOID: not known */
    int ndim;     /* axes; items of a tuple; -1: not known */
    bool literal; /* an int that is `value` */
    int64_t value;
    /* with KJ_R_NONE: the record that it is one of, where that is certain; else NULL */
    const kj_aggregate *of;
} kj_known;

struct kj_symbol {
    const char *name; /* interned */
    kj_span span;
    kj_symbol_kind kind;
    kj_role role;
    kj_operand value;      /* VALUE, CONST */
    kj_dtype type;         /* TYPE */
    kj_builtin builtin;    /* BUILTIN */
    const kj_known *known; /* of a VALUE of run blocks: what is certain of it; or NULL */
    const kj_known *first; /* and of what it is declared with */
    const kj_item
        *item; /* CONST, FN, KERNEL, RUN_FN, FILE; TYPE: a record's or alias's, else NULL */
    void (*resolve)(kj_sema *s, kj_symbol *sym); /* lays a record out; or NULL */
    int index;                                   /* FN: dense */
    kj_progress progress;                        /* CONST, records */
    bool broken;                                 /* an alias of what is no type */
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
    int fn;          /* kj_symbol.index, -1 for a kernel */
    kj_span call;    /* where it is called from; its own name when checked alone */
    kj_called *told; /* the same for those who are told of faults in it; NULL: for nobody yet */
    const char *bindings; /* "T = f32", or NULL */
    kj_tblock *block;     /* what a return leaves */
    kj_type result;
    bool direct; /* the one return is the last statement: its value is the call's, no variables */
    kj_operand value; /* direct: the value returned */
    kj_var **results; /* else: variables that returns assign, a scalar component each */
    int nresults;
    int loops;     /* around the statement being walked */
    uint64_t copy; /* of loops over tuples around it: which turns are being written out */
};

typedef struct kj_const_use {
    struct kj_const_use *next;
    const kj_tarray *source;
    kj_tarray *array;
} kj_const_use;

/* Has what a variable was given so far all its digits in an f32, too; and has somebody relied on that? */
typedef struct kj_digits {
    bool lost, asked;
} kj_digits;

/* What sema knows of a variable beside the kj_var. */
typedef struct kj_var_note {
    kj_var *var;
    const kj_texpr *host; /* its value as an expression that the host can evaluate, or NULL */
    bool assigned;
    int64_t least;     /* it is known not to be less; INT64_MIN: nothing is */
    int64_t most;      /* likewise, nor to be more; INT64_MAX: nothing is */
    kj_open *open;     /* it began as a literal; or NULL */
    bool of_literals;  /* so far it was given literals, and what was computed of them */
    bool exact;        /* of those that are assigned once: all digits of these are there */
    kj_digits *digits; /* of an open one */
} kj_var_note;

/* What a condition has told of a variable, and what was known before (body/facts.c). */
typedef struct kj_fact {
    struct kj_fact *before;
    const kj_var *var;
    int64_t least;
} kj_fact;

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
    int unchecked;    /* over 0: in blocks whose indices are not looked at */
    int dead;         /* over 0: in code that is checked but not kept */
    bool no_contract; /* --fp-contract=off, where there is no spec */
    bool assumed;     /* const parameters have values that no launch gave: 1, or their defaults */
    int depth;
    int nodes, total; /* typed nodes of this walk; of all before it */
    bool too_big;
    bool asks_grid; /* gridDim was named */
    kj_dtype
        meant; /* the type of float or integer that what operators compute is for; KJ_VOID: not known */
    const kj_stmt *updates;  /* the one whose operator's result is being assigned; or NULL */
    const kj_expr *iterates; /* what the loop is over whose header is looked at; or NULL */
    const kj_expr *compares; /* the innermost comparison whose operands are looked at; or NULL */
    const kj_expr *divides;  /* the quotient that is made; or NULL */
    bool exact;              /* what is computed next is an operand, which may be beyond 64 bits */
    int lanes;            /* of the vectors whose parts an operator works on; 0: there are none */
    bool lost;            /* what runs has an expression without a value: there is an error */
    bool in_run;          /* the run block, a test or a function of run blocks is being checked */
    bool in_run_function; /* such a function */
    bool in_test;         /* a test */
    const kj_file *run_file; /* whose they are */
    kj_scope *changing;      /* names in it that something else is assigned to */
    struct kj_callable
        *callable; /* what is known of functions that it calls (file/run_function.c) */
    kj_var_note *vars;
    int nvars, var_cap;
    kj_fact *facts;  /* that hold here */
    kj_opens *opens; /* of the body being walked, or NULL */
    kj_each *each;   /* an expression being walked element by element, or NULL */
    kj_tarray **roots;
    int nroots, root_cap;
    const kj_site **sites;
    int nsites, site_cap;
    kj_tkernel *family; /* the kernel that the host launches; NULL when bodies are only checked */
    int child;          /* the kernel's number in it: 0, or kj_child.id */
    kj_const_use *const_uses;
    struct kj_record_frame *laying; /* the record being laid out, or NULL */
};

/* ---- message.c ---- */

/* Reports an error in the body being walked; with a note of the call when it is an instance of a
 * generic. */
kj_message *kj_sema_error(kj_sema *s, kj_span at, kj_rule rule, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Is it code that no thread comes to with the values that are known here? What they make wrong is no error then; a
 * launch with such values is checked with them. */
static inline bool kj_is_hypothetical(const kj_sema *s)
{
    return s->dead > 0 || s->assumed;
}
/* Was it told that the function or kernel of that name stands where none is declared? Or does the name stand in
 * tex2D<float>(...), where the one before it was told? */
bool kj_was_misplaced(const kj_diag *d, const char *name, kj_span span);
kj_operand kj_no_value(kj_span at); /* KJ_V_ERROR */
enum { KJ_MOST_LISTED = 24 }; /* names, or values, that a hint has; "..." stands for the rest */
/* A short piece of source, or otherwise. */
const char *kj_source_text(kj_sema *s, kj_span span, const char *otherwise);
/* The same as an operand: in parentheses if it is more than a name, number, call or element. */
const char *kj_operand_text(kj_sema *s, kj_span span, const char *otherwise);
/* Where the text stands between two operands; a span that ends before it begins: nowhere. */
kj_span kj_between(const kj_sema *s, kj_span before, kj_span after, const char *text);
/* max<float>(x, y) of C++, of a function that is no value: the types of arguments are known. */
void kj_fix_type_arguments(kj_sema *s, kj_message *m);
/* Is this in, or at the end of, a <f32, 4> before a call's parentheses, of what is an error already? */
bool kj_in_type_arguments(const kj_sema *s, kj_span at);
/* array<f32, 4>(...) in a kernel */
bool kj_hint_array_type(kj_sema *s, kj_message *m, const char *name);
/* Of a name that is declared a second time, in a block of so many names; 0: in a file. */
void kj_hint_again(kj_sema *s, kj_message *m, const kj_symbol *old, size_t names);
/* The type parameter without a bound that stands for the type here; NULL: none. */
const char *kj_unbounded(const kj_sema *s, kj_dtype type);
/* In a generic function or kernel that is looked at for bool, too: which bound keeps to numbers. */
bool kj_hint_unbounded(kj_sema *s, kj_message *m, const char *bound);
void kj_hint_assert(kj_sema *s, kj_message *m, const kj_stmt *requires); /* where it cannot stand */
const char *kj_describe(kj_sema *s, const kj_operand *v); /* "i32", "f32[,]", "a tuple of 2" */
const char *kj_array_type(kj_sema *s, kj_dtype elem, int ndim);

static inline const char *kj_sema_type_name(const kj_sema *s, kj_dtype t)
{
    return kj_type_name_in(s->program->records, t);
}
const char *kj_literal_text(kj_sema *s, kj_value v);
const char *kj_role_text(kj_role role);
void kj_hint_types(kj_sema *s, kj_message *m); /* which scalar types there are */
/* type.c: of a type of another language, int32_t, or a width that there is not, i128. */
bool kj_hint_type(kj_sema *s, kj_message *m, const char *name);
bool kj_is_no_type(const char *name); /* void, None */

/* ---- scope.c ---- */

kj_scope *kj_scope_new(kj_arena *arena, kj_scope *up);
kj_scope *kj_scope_of_file(kj_arena *arena, kj_scope *predefined, const kj_file *file);
void kj_scope_push(kj_sema *s);
void kj_scope_pop(kj_sema *s);
/* Here and in those around; NULL when there is none. */
kj_symbol *kj_scope_find(const kj_scope *scope, const char *name);
/* Is there a kernel of that name, which something else has where it is named? */
bool kj_hides_kernel(const kj_scope *scope, const char *name);
/* What a name means, or a used file's or an enum's behind a dot; NULL for all else. */
kj_symbol *kj_scope_named(const kj_scope *scope, const kj_expr *e);
/* The symbol that an expression names, dotted builtins included; NULL when it is no name
 * (nothing is reported). */
kj_symbol *kj_named(kj_sema *s, const kj_expr *e);
/* Is it blur.name, or an enum's Cell.NAME? */
bool kj_is_of_file(const kj_scope *scope, const kj_expr *e);
/* Of such an expression what it means; NULL after an error. */
kj_symbol *kj_member_of_file(kj_sema *s, const kj_expr *e);
/* space.name, of a used file; NULL after an error: there is no such namespace, or no such name in it. */
kj_symbol *kj_scope_member(kj_sema *s, const char *space, const char *name, kj_span span);
kj_symbol *kj_scope_add(kj_arena *arena, kj_scope *scope, const char *name, kj_span span,
                        kj_symbol_kind kind);
/* As above in s->scope; an error when the name is declared in this very scope already. */
kj_symbol *kj_declare(kj_sema *s, const char *name, kj_span span, kj_symbol_kind kind);
void kj_declare_value(kj_sema *s, const char *name, kj_span span, kj_role role, kj_operand value);
/* What was told so far is told again: another body begins, in the same scope. */
void kj_undeclared_anew(kj_sema *s);
/* Reports an undeclared name, with the best hint there is, once in each body. */
void kj_undeclared(kj_sema *s, const char *name, kj_span span);
/* The same without a hint; NULL: it was told. */
kj_message *kj_undeclared_here(kj_sema *s, const char *name, kj_span span);
void kj_undeclared_target(kj_sema *s, const char *name, kj_span span); /* of an assignment */
/* siblings.c: how a name that is not declared stands in its body, by the text. */
typedef struct kj_first_use {
    bool plain;        /* it begins `x = ...`, whose value is none of x's */
    bool again;        /* it stands in the body once more, behind that */
    bool behind_block; /* it is read where the block of its assignment has ended */
} kj_first_use;
kj_first_use kj_first_use_of(const kj_source *source, const char *name, kj_span span);
bool kj_begins_statement(const kj_source *source,
                         uint32_t at);         /* nothing of it stands before `at` */
const kj_file *kj_file_here(const kj_sema *s); /* whose text is checked */
/* G of a file that is used: util.G. False: none has it, or several. */
bool kj_hint_used(kj_sema *s, kj_message *m, const char *name);
/* Does the item around the span call what has the name, or name members of it? */
bool kj_is_called_in(const kj_source *source, const char *name, kj_span span, bool members);
/* Is it the language's, and used as such in the item, so that no variable there can have its name? */
bool kj_is_needed(const kj_sema *s, const char *name, kj_span span);
bool kj_any_is_needed(const kj_sema *s, const kj_expr *names);
/* May a variable have its name: is it none, or of the language's functions? */
bool kj_is_free_name(const kj_symbol *sym);
/* const N = n: 'n' does not mean 'N'. */
bool kj_is_being_declared(kj_sema *s, const char *near, kj_span span);
/* Where a var or let of the item, before the span, declares it; NULL: none does. */
const char *kj_declared_before(const kj_source *source, const char *name, kj_span span);
/* What to write for a name whose block has ended: `behind` the name where it is declared. */
void kj_hint_ended(kj_sema *s, kj_message *m, const char *name, const char *behind);
bool kj_is_of_const(const kj_source *source, kj_span at); /* on the line of a const */
/* The axis alone that axis=0) there gives; NULL: there is more, or none. */
const char *kj_axis_given(kj_sema *s, uint32_t at);
/* A function of run blocks, in a kernel or a constant's value. */
void kj_hint_of_run(kj_sema *s, kj_message *m, const char *name);
/* "Did you mean" of a name that is near, with a fix where it can be no name of its own: of those of a program one that
 * differs in a digit or the last letter may be another of a row (x0 and x1, dx and dy, row and rows), of the language's
 * all but slips of the finger (kj_is_slip). */
bool kj_hint_axis_of_thread(kj_sema *s, kj_message *m, const char *name); /* threadIdxx */
void kj_suggest(kj_sema *s, kj_message *m, const char *name, const char *near, bool of_language);
bool kj_throws_away(kj_sema *s, const kj_expr *target); /* _ = f(x), where _ is no var */
/* Of one that has several targets: are all of them names, and none declared? Told in one message. */
bool kj_undeclared_targets(kj_sema *s, const kj_expr *targets);
void kj_undeclared_type(kj_sema *s, const char *name, kj_span span);
/* A function of CUDA that converts its arguments, a row of cuda_calls.def; floats: of floats, where there are two. NULL: it
 * is none. */
typedef struct kj_cuda_call {
    const char *name, *type, *words;
} kj_cuda_call;

const kj_cuda_call *kj_cuda_call_named(const char *name, bool floats);

/* Is it what a line of C's preprocessor would have declared (directive.c)? The second: perhaps, by a file. */
bool kj_hint_defined(kj_sema *s, kj_message *m, const char *name);
void kj_hint_included(kj_sema *s, kj_message *m, const char *name);
/* Hints at what a name of Python's, C's or CUDA's is here; false: it is none (elsewhere.c). */
bool kj_hint_habit(kj_sema *s, kj_message *m, const char *name);
/* The same of one behind `np.`, `math.` and the like; what nothing is known of gets a hint as well. */
void kj_hint_module_member(kj_sema *s, kj_message *m, const char *name);
/* Of a function as C and CUDA call it: sinf, __syncthreads, __expf, __popcll. */
bool kj_hint_own_function(kj_sema *s, kj_message *m, const char *name);
/* The type here: of f32, half or float32; NULL: it is none. */
const char *kj_type_meant(const char *name);
/* half, float32: where a value is wanted, a type is of no use. */
bool kj_is_type_elsewhere(const char *name);
/* a[:, None], a[np.newaxis] */
bool kj_is_new_axis(const kj_expr *e);
/* Hints at the function of std/ for what NumPy calls so (library.c); false: there is none. */
bool kj_hint_library(kj_sema *s, kj_message *m, const char *name);
/* Of a run block that calls one as a function: what of it is called; for other symbols nothing. */
void kj_hint_namespace(kj_sema *s, kj_message *m, const kj_symbol *sym);
bool kj_hint_module(kj_sema *s, kj_message *m, const kj_symbol *space, const char *name);
/* Has the library's file the item for itself? Only what `kjit doc` knows is told of. */
bool kj_is_internal(const kj_sema *s, const kj_item *use, const kj_item *item);
/* Of a member that is not there, `e`: x.sqrt() is sqrt(x), a.length a.size (method.c). */
bool kj_hint_method(kj_sema *s, kj_message *m, const kj_expr *e);
/* The same of the fields of complex numbers and vectors: z.conjugate(), v.xy. */
bool kj_hint_part(kj_sema *s, kj_message *m, const kj_aggregate *of, const kj_expr *e);
/* x ^ 2 of two operands; real: is it a float? */
void kj_hint_power(kj_sema *s, kj_message *m, kj_op op, const kj_operand *v, const bool *real);
/* A hint with the text of an expression in the place of each @ in it. */
const char *kj_hint_of(kj_sema *s, const char *hint, const kj_expr *e);
/* Of where(c, a, b) in a kernel, whose name stands there. */
bool kj_hint_where(kj_sema *s, kj_message *m, kj_span name);
bool kj_hint_axis(kj_sema *s, kj_message *m, const kj_expr *e); /* np.max(a, 0) */
/* The fix of a name, the message's place, from the words of its hint, where they are a name and no more:
 * "f32", "sin(...)", "i32 or i64". */
void kj_fix_name(kj_sema *s, kj_message *m, const char *words);
/* Where what is called was declared, if it hides a built-in function there: does it? */
void kj_note_hidden(kj_sema *s, kj_message *m, const kj_symbol *sym);
bool kj_note_hiding(kj_sema *s, kj_message *m, const char *name, kj_span declared);
/* A call, whose name is the message's place, is written so: `code`, which ends at a comma, has letters for its arguments, in
 * their order. False: it has others. */
bool kj_hint_call(kj_sema *s, kj_message *m, const char *code);
/* Does the call stand by itself, so that an operator in its place needs no brackets? */
bool kj_stands_alone(const kj_source *s, kj_span call);
/* The fix that puts another word in the place of one before the name, in its line. */
void kj_fix_word(kj_sema *s, kj_message *m, kj_span name, const char *from, const char *to);
/* Of a let, declared there, that is assigned. */
void kj_hint_var(kj_sema *s, kj_message *m, kj_span name);
/* The nearest visible name of those that can stand there, or NULL. */
const char *kj_nearest_visible(kj_sema *s, const char *name, kj_span at);
/* standing.c: can what is named stand in the place of the word there, by the text around it: called, indexed, as a
 * namespace, as an argument or as a value? */
bool kj_can_stand(const kj_sema *s, const kj_symbol *sym, kj_span at);
/* predefined.c: types, builtins, inf, nan, pi. */
kj_scope *kj_predefined(kj_arena *arena);

/* ---- type.c ---- */

kj_type kj_resolve_type(kj_sema *s, const kj_type_ref *ref);
/* KJ_VOID after an error. */
kj_dtype kj_type_of_symbol(kj_sema *s, kj_symbol *sym, const char *name, kj_span span);
kj_dtype kj_type_by_name(kj_sema *s, const char *name, kj_span span);
void kj_alias_resolve(kj_sema *s, kj_symbol *sym); /* of `type name = ...` */
/* False where it is the name of an array or tuple, which is reported. */
bool kj_type_is_one(kj_sema *s, const kj_symbol *sym, kj_span span);

/* What a place of that type asks of an expression. */
static inline kj_dtype kj_wanted(const kj_type *t)
{
    return t->kind == KJ_T_SCALAR || t->kind == KJ_T_AGGREGATE ? t->dtype : KJ_VOID;
}

static inline const kj_aggregate *kj_sema_aggregate(const kj_sema *s, kj_dtype t)
{
    return kj_aggregate_in(s->program->records, t);
}

/* ---- node.c ---- */

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
kj_texpr *kj_te_bits(kj_sema *s, kj_texpr *a, kj_dtype to, kj_span span); /* of the same width */
kj_texpr *kj_te_logic(kj_sema *s, bool is_or, kj_texpr *a, kj_texpr *b, kj_span span);
kj_texpr *kj_te_select(kj_sema *s, kj_texpr *test, kj_texpr *yes, kj_texpr *no, kj_span span);
kj_texpr *kj_te_call(kj_sema *s, kj_builtin id, kj_texpr *const *args, int nargs, kj_dtype type,
                     kj_span span);
/* Result `part` of a builtin that has several. */
kj_texpr *kj_te_part(kj_sema *s, kj_builtin id, int part, kj_texpr *const *args, int nargs,
                     kj_dtype type, kj_span span);
/* i64 arithmetic of offsets: drops + 0 and * 1. */
kj_texpr *kj_i64_add(kj_sema *s, kj_texpr *a, kj_texpr *b, kj_span span);
kj_texpr *kj_i64_sub(kj_sema *s, kj_texpr *a, kj_texpr *b, kj_span span);
kj_texpr *kj_i64_mul(kj_sema *s, kj_texpr *a, kj_texpr *b, kj_span span);
kj_texpr *kj_i64_min(kj_sema *s, kj_texpr *a, kj_texpr *b, kj_span span);
kj_texpr *kj_i64_max(kj_sema *s, kj_texpr *a, kj_texpr *b, kj_span span);
bool kj_is_const(const kj_texpr *e);
bool kj_is_const_i64(const kj_texpr *e, int64_t i);
bool kj_is_leaf(const kj_texpr *e); /* a constant or a name that never changes: may be used again */
bool kj_is_stable(const kj_texpr *e); /* the same before and after any statement */
bool kj_has_effect(const kj_texpr *e);
/* Is it evaluated though its value is not wanted: for an effect, or an index that may be outside? */
bool kj_is_missed(const kj_texpr *e);
/* The expression over parameters, dimensions and block sizes only that has the value of `e`, or
 * NULL; then *bad is the place that needs a thread. */
kj_texpr *kj_host_expr(kj_sema *s, const kj_texpr *e, kj_span *bad);
kj_texpr *kj_te_index(kj_sema *s, kj_index which, int axis, kj_span span);

/* ---- digits.c ---- */

/* Has it, as it stands in an f32 with few digits, more of them as an f64? */
bool kj_loses_digits(double x);
/* An f32 only since that is what numbers are that meet no other type? */
bool kj_of_literals(const kj_sema *s, const kj_texpr *e);
/* A variable is given e, once and for all. */
void kj_note_literals(kj_sema *s, const kj_var *v, const kj_texpr *e);
/* Has it all digits for certain? Of what is computed nothing is. */
bool kj_keeps_digits(const kj_sema *s, const kj_texpr *e);
/* A scalar of a type that stands in the source: that one, if it is such an f32, is meant. */
kj_operand kj_asked_for(kj_sema *s, kj_operand v);
/* Warns where `a`, about to be converted for what stands at span, is no longer what it was, since it was an f32. */
void kj_warn_of_digits(kj_sema *s, const kj_texpr *a, kj_dtype to, kj_span span);

/* ---- choice.c ---- */

/* A literal, or a choice of literals. */
bool kj_is_untyped(const kj_operand *v);
int kj_choice_leaves(const kj_operand *v);     /* how many literals */
bool kj_is_simple_choice(const kj_operand *v); /* both arms are literals */
/* Which is chosen, as one expression, a bool or i32; and the choice by that, once it is held in a
 * variable: all its conditions are evaluated by then, as the program has them. */
kj_texpr *kj_choice_number(kj_sema *s, const kj_operand *v);
kj_operand kj_choice_of(kj_sema *s, kj_operand v, kj_texpr *number);

/* ---- sink.c ---- */

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
/* Has evaluating it effects? And a value that is not used, of which stays what is missed. */
bool kj_operand_has_effect(kj_sema *s, const kj_operand *v);
void kj_keep_effects(kj_sema *s, const kj_operand *v);
/* Could an operand from before `at`, the sink's tail then, see what `later`, evaluated since, does?
 * Then it is spilled at `at`. */
bool kj_could_see(kj_sema *s, kj_tstmt **at, const kj_operand *later);
/* Puts what is not stable in `v` into hidden lets at `*at`, a place in the current sink; moves
 * the place behind. */
void kj_spill(kj_sema *s, kj_operand *v, kj_tstmt ***at);
void kj_branch_open(kj_sema *s, kj_branch *b, bool dead);

/* ---- signature.c ---- */
/* A function of the file that nothing but run blocks calls, as one of theirs: "run f(a, b) { ... }"; NULL: it is
 * another. */
const char *kj_as_run_function(kj_sema *s, const kj_item *fn);
kj_operand kj_refuse_list(kj_sema *s, const kj_expr *e);

const char *kj_call_words(kj_builtin id); /* how a call of it goes on: "()" or "(...)" */
/* "(x, y): what it does" */
const char *kj_builtin_words(kj_sema *s, kj_builtin id);
/* Refuses an argument by place behind one by name. */
bool kj_names_last(kj_sema *s, const kj_expr *args);
/* Is what is asked first a condition: all, any, assert, where? */
bool kj_asks_condition(const char *called);
/* Of such a call, all(a = b): a comparison is written ==; what has a name behind the first, of NULL, loses it. */
void kj_hint_equals(kj_sema *s, kj_message *m, const kj_expr *arg, const char *first_of);
/* Refuses it in a run block, where other arguments have names. */
bool kj_names_condition(kj_sema *s, const kj_expr *call, const char *called, const char *signature);
/* Reports the wrong number of arguments, with the signature; no value. */
enum { KJ_ANY_NUMBER = INT32_MAX }; /* of arguments */
kj_operand kj_arity_error(kj_sema *s, const kj_expr *call, const char *name, const char *signature,
                          int least, int most);

#endif
