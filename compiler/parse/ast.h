/* What the parser builds: the source's shape and places, no types, nothing resolved.
 *
 * Everything lives in the compilation's arena. Lists are linked by `next` and never shared.
 * After syntax errors the tree holds what could be recovered (a node is complete or absent).
 * Names are interned: compare pointers. */
#ifndef KJ_AST_H
#define KJ_AST_H

#include "base/diag.h"
#include "lang/types.h"

/* The longest way from an item down to a leaf, in expressions and statements: what is deeper, be
 * it parentheses, a chain of + or a ladder of elif, is an error of the parser. So a pass may
 * recurse over the tree. */
enum { KJ_MAX_DEPTH = 1000 };

typedef struct kj_expr kj_expr;
typedef struct kj_stmt kj_stmt;
typedef struct kj_item kj_item;

/* A type as written: f32, T, f32[,] (dims 2, no extents), f32[3, 3] (extents), (f32, i64) (tuple
 * of parts). The name of a used file's record has its namespace before it: "blur.Params". */
typedef struct kj_type_ref {
    struct kj_type_ref *next; /* in a tuple */
    kj_span span;
    const char *name;           /* NULL for a tuple */
    kj_span name_span;          /* of an alias: where what it stands for is named */
    const char *space, *member; /* of a used file's: its parts; else NULL */
    int ndim;                   /* 0: a scalar */
    kj_expr *extents;           /* of a fixed array; else NULL */
    const struct kj_file *file; /* whose names stand in them; NULL: the one that it is written in */
    struct kj_type_ref *parts;
} kj_type_ref;

typedef enum kj_expr_kind {
    KJ_E_INT,    /* u.integer; a literal over u64 is an error of the lexer */
    KJ_E_FLOAT,  /* u.real */
    KJ_E_IMAG,   /* u.real: 2.5j */
    KJ_E_BOOL,   /* u.integer: 0 or 1 */
    KJ_E_STRING, /* u.string: escapes resolved */
    KJ_E_NAME,   /* u.name */
    KJ_E_UNARY,  /* u.unary: op NEG INVERT NOT */
    KJ_E_BINARY, /* u.binary: arithmetic and a single comparison */
    KJ_E_CHAIN,  /* u.chain: a < b <= c: operands by next, one op fewer */
    KJ_E_LOGIC,  /* u.logic: and, or */
    KJ_E_COND,   /* u.cond: `a if c else b` */
    KJ_E_CALL,   /* u.call: f(x), shared.array(...), k[grid, block](a), k.forall(n)(a) */
    KJ_E_INDEX,  /* u.index: a[i, j:k]; args may hold KJ_E_SLICE */
    KJ_E_SLICE,  /* u.slice: start:stop:step, any of them NULL; only inside [] */
    KJ_E_MEMBER, /* u.member: a.shape, threadIdx.x, atomic.add */
    KJ_E_TUPLE,  /* u.list: (a, b) */
    KJ_E_LIST,   /* u.list: [a, b], of constants and run blocks */
    KJ_E_FORMAT, /* u.list: f"a{b:8.3f}", of run blocks: texts, and values whose keyword is the format */
} kj_expr_kind;

struct kj_expr {
    kj_expr_kind kind;
    uint32_t depth; /* levels of the tree below and here */
    kj_span span;
    kj_expr *next;       /* in an argument list */
    const char *keyword; /* as an argument `keyword=expr`, else NULL; in an f-string its format */
    kj_span keyword_span;
    /* clang-format off */
    union {
        uint64_t integer;
        double real;
        struct { const char *text; size_t len; } string;
        const char *name;
        struct { kj_op op; kj_expr *arg; } unary;
        struct { kj_op op; kj_span op_span; kj_expr *lhs, *rhs; } binary;
        struct { kj_op *ops; int nops; kj_expr *operands; } chain;
        struct { bool is_or; kj_expr *lhs, *rhs; } logic;
        struct { kj_expr *test, *yes, *no; } cond;
        struct { kj_expr *callee, *args; } call;
        struct { kj_expr *base, *args; } index;
        struct { kj_expr *start, *stop, *step; } slice;
        struct { kj_expr *base; const char *name; kj_span name_span; } member;
        struct { kj_expr *items; int n; } list;
    } u;
    /* clang-format on */
};

typedef struct kj_name {
    struct kj_name *next;
    const char *name;
    kj_span span;
} kj_name;

/* @unroll, @launch_bounds(256, 2), @fastmath */
typedef struct kj_attr {
    struct kj_attr *next;
    const char *name;
    kj_span span;
    kj_expr *args;
} kj_attr;

typedef enum kj_stmt_kind {
    KJ_S_LET,    /* u.let: let/var names [: type] = init; several names take a tuple */
    KJ_S_ASSIGN, /* u.assign: targets = value, or target op= value */
    KJ_S_EXPR,   /* u.expr */
    KJ_S_IF,     /* u.if_: elif is an if alone in no */
    KJ_S_FOR,    /* u.for_: for names in iter { body } */
    KJ_S_WHILE,  /* u.while_ */
    KJ_S_BLOCK,  /* u.block: @unchecked { body } */
    KJ_S_WITH,   /* u.with: with value as name { body }, of run blocks; or NULL */
    KJ_S_BREAK,
    KJ_S_CONTINUE,
    KJ_S_RETURN,   /* u.expr: NULL, an expression or a tuple */
    KJ_S_REQUIRES, /* u.expr */
    KJ_S_LAUNCH,   /* u.expr: the call of a kernel, of kernels */
    KJ_S_PARAM,    /* u.let: param name [: type] = init, of run blocks */
} kj_stmt_kind;

struct kj_stmt {
    kj_stmt_kind kind;
    uint32_t depth;
    kj_span span;
    kj_stmt *next;
    kj_attr *attrs; /* of a loop or block */
    /* clang-format off */
    union {
        struct { bool mutable; kj_name *names; kj_type_ref *type; kj_expr *init; } let; /* a param's init may be NULL */
        struct { kj_expr *targets; kj_op op; bool augmented; kj_expr *value; } assign;
        kj_expr *expr;
        struct { kj_expr *test; kj_stmt *yes, *no; } if_;
        struct { kj_name *names; kj_expr *iter; kj_stmt *body; } for_;
        struct { kj_expr *test; kj_stmt *body; } while_;
        struct { kj_stmt *body; } block;
        struct { kj_expr *value; kj_name *name; kj_stmt *body; } with;
    } u;
    /* clang-format on */
};

typedef struct kj_param_decl {
    struct kj_param_decl *next;
    const char *name;
    kj_span span;
    bool is_const;                  /* const T: i32 = 16 */
    kj_type_ref *type;              /* of a function of run blocks: or NULL */
    kj_expr *init;                  /* default, or NULL */
    const struct kj_operand *value; /* of a fn's: what that is in kernels (sema) */
} kj_param_decl;

/* <T: float, U> */
typedef struct kj_generic {
    struct kj_generic *next;
    const char *name;
    kj_span span;
    const char *bound; /* "int", "float", "complex", "number", or NULL for any element type */
    kj_span bound_span;
} kj_generic;

typedef enum kj_item_kind {
    KJ_I_USE, /* use "path" [as name], use std.path [as name]; name is the namespace's */
    KJ_I_CONST,
    KJ_I_FN,
    KJ_I_KERNEL,
    KJ_I_RECORD,
    KJ_I_RUN,
    KJ_I_RUN_FN, /* run name(params) { body }: of run blocks */
    KJ_I_TEST,   /* test "title" [fails "message"] { body }: a run block of its own; no name */
    KJ_I_TYPE, /* type name = type: an alias, which types are written out from when the file is read; also
                  an enum, which is one of its integer type */
} kj_item_kind;

struct kj_item {
    kj_item_kind kind;
    kj_span span;
    kj_item *next;
    const struct kj_file *file;
    int number;       /* among the items of all files (sema) */
    const char *name; /* NULL for run and test */
    kj_span name_span;
    const char *path;     /* use: as it is written, without the std. of the library's */
    bool library;         /* use: std. */
    struct kj_file *used; /* use: the file, once it is found */
    kj_attr *attrs;
    kj_type_ref *type;  /* const: NULL if inferred; fn: result, NULL for none */
    kj_expr *value;     /* const; NULL: an array that the host fills */
    bool enumerates;    /* type: an enum's, whose names are the constants behind it */
    bool typed;         /* such a type was written; else it is i32, and the names are literals */
    const kj_item *of;  /* const: the enum that has it; its name is "Cell.WALL" */
    const char *member; /* and there "WALL" */
    const struct kj_item *
        *members; /* enum: those constants, by a hash of their names; see kj_enumerator */
    size_t slots; /* of which so many are free or taken, a power of two */
    const struct kj_item
        *base; /* it is that much, `step`, more than this one; NULL: it has its value */
    int step;
    kj_generic *generics;
    kj_param_decl *params; /* record: the fields */
    kj_stmt *body;
    kj_span end;       /* the closing brace */
    const char *title; /* test */
    const char *fails; /* test: what the message that it ends with holds; NULL: it succeeds */
    kj_span fails_span;
};

typedef struct kj_file {
    const kj_source *source;
    uint32_t begin; /* where its text stands there */
    kj_item *items;
    const char *id;    /* what it is called for who finds files: another for each */
    const char *space; /* as messages call its namespace; NULL: it is the file that was given */
    bool checked;      /* it was checked elsewhere */
    struct kj_scope *scope; /* sema's own */
    const kj_item **named;  /* its items by a hash of their names; see kj_item_called */
    size_t slots;
} kj_file;

/* Parses the source of `diag` from `begin` on, which is where a file begins; errors are reported there. The
 * tree takes no more of the arena than `room`, at most KJ_TREE_MAX. Never NULL. */
enum { KJ_TREE_MAX = 256 << 20 }; /* 64 MiB of source can ask for gigabytes */
kj_file *kj_parse(kj_arena *arena, kj_diag *diag, uint32_t begin, size_t room);
/* Types that are written by names of files that it uses (`blur.Image`), whose own are done, become what
 * those stand for (alias.c). */
void kj_expand_aliases_of_files(kj_arena *arena, kj_diag *diag, kj_file *file);

/* A word of the text: KJ_TK_..., and where it stands. */
typedef struct kj_token {
    int kind;
    kj_span span;
} kj_token;

typedef struct kj_tokens {
    kj_token *all;
    int n;
} kj_tokens;

/* The tokens of a text that parses, without the line ends; the last is the end of the file, of what is no text there
 * is none. */
kj_tokens kj_tokens_read(kj_arena *arena, const kj_source *source);
/* The tokens of the first file as the parser gets them, a line each: line and column, what it is, its text. Of what
 * cannot be read it has what was meant, or nothing. */
const char *kj_tokens_dump(kj_arena *arena, const kj_source *source);
/* The tree as an indented listing, for --emit=ast and tests; in the arena. */
const char *kj_ast_dump(kj_arena *arena, const kj_file *file);

int kj_count(const kj_expr *list); /* its expressions */

/* The keyword that a word at `name`, which is no name, was meant to be, where a statement begins with it and goes on
 * behind a blank; NULL: none (keyword.c). */
const char *kj_keyword_meant(kj_arena *arena, const kj_source *s, kj_span name);

/* (int)-x, which reads as a difference: the conversion that was meant, and all that it takes the place of; `name` is the
 * type's. NULL: it is no cast (habit_expr.c). */
const char *kj_cast_meant(kj_arena *arena, const kj_source *s, kj_span name, kj_span *all);

/* .eq. of Fortran, with its dot there: what it is here, NULL: it is none; and as a hint with its fix. */
const char *kj_dotted_meant(const kj_source *s, uint32_t dot);
bool kj_hint_dotted(kj_diag *diag, kj_message *m, uint32_t dot);

/* What to write for an attribute that measures; NULL: it is another. */
const char *kj_habit_timing(const char *attribute);

/* Would an operator beside what stands there be within a `not` of it, or refuse one? Then it needs parentheses
 * (habit_expr.c). */
bool kj_not_is_joined(const kj_source *s, kj_span at);

/* ---- walk.c ---- */

/* The parts of an expression that are expressions, in their order. */
typedef void kj_part_fn(void *ctx, const kj_expr *part);
void kj_each_part(const kj_expr *e, kj_part_fn *visit, void *ctx);
/* Is it a sum, a difference, a product, a power or a negative? */
bool kj_is_sum(const kj_expr *e);
/* Writes of such a one, from *done on, which goes to behind what was converted: its first part as function(part), of what is
 * one in it too: the fewest that make the whole of the type that they are converted to, so that nothing wraps in its
 * own. False: it does not stand in the source as it is. */
bool kj_convert_parts(kj_text *t, const char *source, const kj_expr *e, const char *function,
                      uint32_t *done);
/* The parameter that a call's nth argument is for, by its name if it has one; -1: there is none. */
int kj_param_of(const kj_item *fn, const kj_expr *arg, int nth);

/* The file's first item whose name these bytes are; NULL: there is none. */
const kj_item *kj_item_called(const kj_file *file, const char *name, size_t len);
void kj_items_named(kj_arena *arena, kj_file *file); /* once it has them all */

/* The constant of an enum that has this name there, which is interned; NULL: none, or `of` is no enum. */
const kj_item *kj_enumerator(const kj_item *of, const char *name);
void kj_enumerator_add(kj_item *of, const kj_item *constant); /* what has its name already stays */

/* The expressions of a statement, without types, but not of those in it; and the lists of those. */
void kj_each_own_expr(const kj_stmt *st, kj_part_fn *visit, void *ctx);
void kj_blocks_of(const kj_stmt *st, const kj_stmt *out[2]);

/* The expressions of statements, and of those in them. */
void kj_each_expr(const kj_stmt *list, kj_part_fn *visit, void *ctx);

/* The statement of the list behind which nothing of it runs, by its shape alone: a return, break or
 * continue, an if both of whose blocks have one, an endless loop; or NULL. */
const kj_stmt *kj_end_of(const kj_stmt *list);

int kj_count_names(const kj_name *names);
/* The values of `let a, b = 1, 2`, one for each name; NULL: it has one name, or one value. */
const kj_expr *kj_let_items(const kj_stmt *let);

#endif
