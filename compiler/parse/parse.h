/* What the lexer, the grammar and the constructors of nodes share during one parse. Not for the
 * stages after it. */
#ifndef KJ_PARSE_H
#define KJ_PARSE_H

#include "parse/ast.h"

typedef struct kj_bracket {
    char kind;  /* ( [ { */
    int behind; /* the token before it, or 0 */
    kj_span span;
} kj_bracket;

/* An f-string being read; its values end where as many brackets are open as at its beginning. */
typedef struct kj_format {
    kj_span span;
    int nopen;
} kj_format;

/* A name that was declared, anywhere in the file. */
typedef struct kj_declared {
    const struct kj_declared *next;
    const char *name;
} kj_declared;

typedef struct kj_parser {
    kj_arena *arena;
    kj_diag *diag;
    const kj_source *source;
    kj_file *file;
    uint32_t begin; /* where it begins */
    kj_item *last_item;
    size_t memory_limit; /* of arena->used */
    bool stopped;        /* nothing more is read or reported */
    bool stray;          /* a stray character was reported: what follows on its line is not */
    int foreign; /* a block of another language is read: braces open before it, and 1; 0: none */
    uint32_t foreign_brace; /* where it begins */
    bool after_decorator;   /* one that was reported stands before a def */
    bool unending[3]; /* no comment of C ends behind here, no docstring, none of apostrophes */
    bool gives;       /* the item has a result */
    bool enumerates;  /* the item is an enum */
    bool astray;      /* outside of all items there was an error: what is indented is not told */
    const kj_declared *declared;   /* the last first */
    const kj_declared *misspelled; /* names that begin with a digit, told where they are declared */

    /* The lexer's */
    void *scanner;
    uint32_t offset;  /* of the next byte */
    kj_bracket *open; /* brackets not closed yet, the innermost last */
    int nopen, open_capacity;
    int nbraces;          /* of them { */
    kj_format formats[8]; /* f-strings not closed yet */
    int nformats;
    kj_bracket unclosed; /* a ( or [ that this token shows to be unclosed; kind 0: none */
    bool unopened;       /* this token is a ) or ] for which none is open */
    bool wrong_closer;   /* it takes the place of the other, which closes `unclosed` */
    bool supplying;      /* a missing } was reported */
    int unwritten;       /* tokens that a text of statements was given to begin with: run { */
    int misnamed[8];     /* keywords that were used as names, and reported: names from there on */
    int nmisnamed;
    int lost; /* columns before a header that has no {, and 1: its block, that is lost, is indented more */
    bool lost_else; /* an else follows that block */
    int held;       /* waits until what is missing before it was supplied; 0: none */
    kj_span held_span;

    /* The last token given to the parser and the two before it, for messages; 0 before the first */
    int token, prev, before_prev;
    kj_span span, prev_span, before_prev_span;
    int first; /* that which the statement begins with */
    kj_span first_span;
} kj_parser;

/* ---- Lists as the grammar builds them ---- */

#define KJ_LIST(name, type) \
    typedef struct name { \
        type *first, *last; \
        uint32_t depth; /* of the deepest */ \
        int n; \
    } name

KJ_LIST(kj_exprs, kj_expr);
KJ_LIST(kj_stmts, kj_stmt);
KJ_LIST(kj_type_refs, kj_type_ref);
KJ_LIST(kj_names, kj_name);
KJ_LIST(kj_attrs, kj_attr);
KJ_LIST(kj_params, kj_param_decl);
KJ_LIST(kj_generics, kj_generic);

/* A comparison being read: a < b <= c. */
typedef struct kj_chain {
    kj_exprs operands;
    kj_op *ops;
    kj_span op_span; /* the first's */
} kj_chain;

typedef struct kj_string {
    const char *text;
    size_t len;
} kj_string;

/* T, space.T */
typedef struct kj_dotted {
    const char *space, *name;
} kj_dotted;

/* { statements } */
typedef struct kj_block {
    kj_stmts stmts;
    kj_span end; /* the closing brace */
} kj_block;

/* <generics>(params) -> result */
typedef struct kj_signature {
    kj_generic *generics;
    kj_param_decl *params;
    kj_type_ref *result;
} kj_signature;

#define KJ_APPEND(list, node) \
    do { \
        if ((list)->last) \
            (list)->last->next = (node); \
        else \
            (list)->first = (node); \
        (list)->last = (node); \
        (list)->n++; \
    } while (0)

/* ---- Constructors (tree.c): what the actions call. `span` is all of what was read. ---- */

/* A node's memory; a program that is too large ends the parse. */
void *kj_node(kj_parser *p, kj_span span, size_t size);

kj_expr *kj_make_int(kj_parser *p, kj_span span, uint64_t value);
kj_expr *kj_make_float(kj_parser *p, kj_span span, double value);
kj_expr *kj_make_imaginary(kj_parser *p, kj_span span, double value);
kj_expr *kj_make_bool(kj_parser *p, kj_span span, bool value);
kj_expr *kj_make_string(kj_parser *p, kj_span span, kj_string value);
kj_expr *kj_make_name(kj_parser *p, kj_span span, const char *name);
kj_expr *kj_make_unary(kj_parser *p, kj_span span, kj_op op, kj_expr *arg);
kj_expr *kj_make_binary(kj_parser *p, kj_span span, kj_op op, kj_span op_span, kj_expr *lhs,
                        kj_expr *rhs);
kj_expr *kj_make_logic(kj_parser *p, kj_span span, bool is_or, kj_expr *lhs, kj_expr *rhs);
kj_expr *kj_make_cond(kj_parser *p, kj_span span, kj_expr *test, kj_expr *yes, kj_expr *no);
kj_expr *kj_make_call(kj_parser *p, kj_span span, kj_expr *callee, kj_exprs args);
kj_expr *kj_make_index(kj_parser *p, kj_span span, kj_expr *base, kj_exprs args);
kj_expr *kj_make_slice(kj_parser *p, kj_span span, kj_expr *start, kj_expr *stop, kj_expr *step);
kj_expr *kj_make_member(kj_parser *p, kj_span span, kj_expr *base, const char *name,
                        kj_span name_span);
/* A tuple or a list. */
kj_expr *kj_make_list(kj_parser *p, kj_span span, kj_expr_kind kind, kj_exprs items);
/* One is itself, several are a tuple. */
kj_expr *kj_make_value(kj_parser *p, kj_span span, kj_exprs items);
/* One more value of an f-string: {e:spec}, or {e=:spec} (named), which shows the text of e too; text of the
 * spec NULL: none. */
kj_exprs kj_piece_append(kj_parser *p, kj_exprs list, kj_expr *e, kj_span text, bool named,
                         kj_string spec);
/* keyword=value */
kj_expr *kj_make_keyword(kj_expr *value, const char *keyword, kj_span span);

kj_chain kj_chain_start(kj_parser *p, kj_expr *lhs, kj_op op, kj_span op_span, kj_expr *rhs);
kj_chain kj_chain_more(kj_parser *p, kj_chain chain, kj_op op, kj_expr *rhs);
kj_expr *kj_make_comparison(kj_parser *p, kj_span span, kj_chain chain);

kj_exprs kj_expr_append(kj_exprs list, kj_expr *e);
/* A NULL statement, after an error, is left out. */
kj_stmts kj_stmt_append(kj_stmts list, kj_stmt *s);

/* A type and the extents or dimensions behind it. */
kj_type_ref *kj_make_type(kj_parser *p, kj_span span, kj_span name_span, kj_dotted name, int ndim,
                          kj_exprs extents);
kj_type_ref *kj_make_tuple_type(kj_parser *p, kj_span span, kj_type_refs parts);
kj_type_refs kj_type_append(kj_type_refs list, kj_type_ref *type);

kj_stmt *kj_make_let(kj_parser *p, kj_span span, bool mutable, kj_names names, kj_type_ref *type,
                     kj_expr *init);
kj_stmt *kj_make_param_stmt(kj_parser *p, kj_span span, kj_names names, kj_type_ref *type,
                            kj_expr *init);
kj_stmt *kj_make_assign(kj_parser *p, kj_span span, kj_exprs targets, kj_expr *value);
kj_stmt *kj_make_update(kj_parser *p, kj_span span, kj_exprs targets, kj_op op, kj_span op_span,
                        kj_expr *value);
kj_stmt *kj_make_expr_stmt(kj_parser *p, kj_span span, kj_exprs values);
/* break, continue, return, requires, launch */
kj_stmt *kj_make_stmt(kj_parser *p, kj_span span, kj_stmt_kind kind, kj_expr *e);
kj_stmt *kj_make_if(kj_parser *p, kj_span span, kj_expr *test, kj_block yes, kj_stmts no);
/* The else part that an elif is: an if alone. */
kj_stmts kj_make_elif(kj_parser *p, kj_span span, kj_expr *test, kj_block yes, kj_stmts no);
kj_stmt *kj_make_for(kj_parser *p, kj_span span, kj_names names, kj_expr *iter, kj_block body);
kj_stmt *kj_make_while(kj_parser *p, kj_span span, kj_expr *test, kj_block body);
kj_stmt *kj_make_with(kj_parser *p, kj_span span, kj_expr *value, const char *name,
                      kj_span name_span, kj_stmts body);
kj_stmt *kj_widen(kj_span span, kj_stmt *s); /* the same, as all of the span */
kj_stmt *kj_make_block(kj_parser *p, kj_span span, kj_block body);
kj_stmt *kj_with_attrs(kj_attrs attrs, kj_span span, kj_stmt *s);

/* ---- Constructors of declarations (item.c) ---- */

kj_names kj_name_append(kj_parser *p, kj_names list, kj_span span, const char *name);
kj_attrs kj_attr_append(kj_parser *p, kj_attrs list, kj_span span, const char *name, kj_exprs args);
kj_params kj_param_append(kj_params list, kj_param_decl *param);
kj_param_decl *kj_make_param(kj_parser *p, kj_span span, bool is_const, const char *name,
                             kj_type_ref *type, kj_expr *init);
/* Of a function of run blocks: type and default may be NULL. */
kj_param_decl *kj_make_host_param(kj_parser *p, kj_span span, const char *name, kj_type_ref *type,
                                  kj_expr *init);
kj_generics kj_generic_append(kj_parser *p, kj_generics list, kj_span span, const char *name,
                              const char *bound, kj_span bound_span);

/* Items; kj_add_item appends to the file. */
kj_item *kj_make_const(kj_parser *p, kj_span span, const char *name, kj_span name_span,
                       kj_type_ref *type, kj_expr *value);
kj_item *kj_make_function(kj_parser *p, kj_span span, kj_item_kind kind, const char *name,
                          kj_span name_span, kj_signature signature, kj_block body);
kj_item *kj_make_enum(kj_parser *p, kj_span span, const char *name, kj_span name_span,
                      kj_type_ref *type, kj_params names);
kj_item *kj_make_record(kj_parser *p, kj_span span, const char *name, kj_span name_span,
                        kj_params fields);
/* use path, use std.path; name NULL: what the path ends with. */
kj_item *kj_make_use(kj_parser *p, kj_span span, kj_string path, kj_span path_span, bool library,
                     const char *name, kj_span name_span);
/* use first.path */
kj_item *kj_make_use_library(kj_parser *p, kj_span span, const char *first, kj_span first_span,
                             const char *path, kj_span path_span, const char *name,
                             kj_span name_span);
kj_item *kj_make_run(kj_parser *p, kj_span span, kj_span name_span, kj_block body);
kj_item *kj_make_test(kj_parser *p, kj_span span, kj_string title, kj_span title_span,
                      kj_block body);
/* `word` is to be "fails". */
kj_item *kj_make_failing_test(kj_parser *p, kj_span span, kj_string title, kj_span title_span,
                              const char *word, kj_span word_span, kj_string fails,
                              kj_span fails_span, kj_block body);
kj_item *kj_make_alias(kj_parser *p, kj_span span, const char *name, kj_span name_span,
                       kj_type_ref *type);
kj_item *kj_make_run_function(kj_parser *p, kj_span span, const char *name, kj_span name_span,
                              kj_params params, kj_block body);
void kj_add_item(kj_parser *p, kj_attrs attrs, kj_span span, kj_item *item);

/* ---- alias.c ---- */

/* Types that are written by names of the file's own (`type Cell = u8`) become what those stand for. */
void kj_expand_aliases(kj_arena *arena, kj_diag *diag, kj_file *file);

/* ---- Errors (error.c) ---- */

/* Reports an error that ends the parse. */
void kj_parse_stop(kj_parser *p, kj_span at, kj_rule rule, const char *text);
/* Likewise: nested too deeply. `of` is what there are more than KJ_MAX_DEPTH of, or NULL. */
void kj_parse_too_deep(kj_parser *p, kj_span at, const char *of);

/* What a token is called in messages. */
const char *kj_token_name(int token);
/* What bison found: the token it cannot use, by the names of knl.y, and those it could. */
void kj_syntax_error(kj_parser *p, kj_span at, const char *unexpected, const char *const *expected,
                     int n);

/* ---- keyword.c ---- */

/* Reports a keyword that stands where a name does, and takes it for one from there on. */
kj_message *kj_misnamed(kj_parser *p, kj_span at, int token);
/* A hint and a fix for a parameter that is written otherwise; of one that is called like a keyword only the hint. */
void kj_write_parameter(kj_parser *p, kj_message *m, kj_span at, const char *name,
                        const char *type);
/* Is the token a keyword that the file takes for a name, and stands here as one? The first time it is
 * reported. */
bool kj_is_misnamed(kj_parser *p, int token, kj_span span);
/* The file gives the name to something: it is no keyword that was misspelled. */
void kj_declares(kj_parser *p, const char *name, kj_span span);
void kj_hint_lone_name(kj_parser *p, kj_message *m,
                       const char *name); /* a name that is a statement */
/* Does the file above, or the language, give the name to something? */
bool kj_parse_is_name(const kj_parser *p, const char *word);
/* indent.c: does a line show which of the open blocks of the item that ends at `end` lacks its }? (Reported.) */
bool kj_told_by_indent(kj_parser *p, uint32_t end);
/* indent.c: fn main() { run { ... } }, of the word run: the run block, where it is all that the function has, and in *around the
 * function; else empty. */
kj_span kj_run_within(kj_parser *p, uint32_t run, kj_span *around);
/* continued.c: does an operator end the line whose end is met, and the next one go on with its operand? (Reported.) */
bool kj_line_goes_on(kj_parser *p);
#define GOES_ON "a statement goes on over a line end only inside ( ) or [ ]"

/* i := grid(1), of a name that nothing declares before (reported); false: it is none. */
bool kj_habit_walrus(kj_parser *p, kj_span at);
/* local.array(4, f32) tmp */
void kj_habit_array(kj_parser *p, kj_message *m, kj_span name);
/* assert (a == b).all() of Python, where more follows its parentheses; false: it is none. */
bool kj_habit_statement_word(kj_parser *p, const kj_expr *e, kj_span span);
/* For a statement without effect that begins there: is its first word a keyword misspelled? */
bool kj_hint_misspelled(kj_parser *p, kj_message *m, uint32_t begin);

/* ---- word.c ---- */

/* What to write for a word of another language; NULL where it is none. `begins_block` (or NULL): what
 * stands in its braces is no code here. */
const char *kj_foreign_word(const char *word, bool *begins_block);

/* ---- What other languages write (habit.c, expressions habit_expr.c, statements habit_stmt.c, loops
 * c_loop.c): hints and fixes from the text
 * around; false: it is none ---- */

/* Has the line a mistake already, before `span`? */
bool kj_is_told(const kj_parser *p, kj_span span);
/* Is the last message in the line above, and nothing in front of `span` in its line? */
bool kj_is_told_above(const kj_parser *p, kj_span span);

bool kj_habit_declaration(kj_parser *p, kj_message *m, kj_span at); /* int i = 0, float t[4] */
bool kj_habit_parameter(kj_parser *p, kj_message *m, kj_span at);   /* float *x */
bool kj_habit_type(kj_parser *p, kj_message *m, kj_span at);        /* *f32, &[f32] */
void kj_habit_range(kj_parser *p, kj_message *m, kj_span at);       /* 0..n; at: 0.. */
void kj_habit_range_to(kj_parser *p, kj_message *m, kj_span at);    /* a[..3]; at: its first dot */
const char *kj_habit_type_named(const char *word);           /* "f32" for float; NULL: none */
bool kj_habit_axes(kj_parser *p, kj_message *m, kj_span at); /* f32[:, :], f32[][] */
/* (float)n; at: what is converted */
bool kj_habit_cast(kj_parser *p, kj_message *m, kj_span at);
/* let x = f(3), seed=1): a call that is closed before its last argument, whose '=' is at the span */
bool kj_habit_closed_early(kj_parser *p, kj_message *m, kj_span at);
/* x is nan, x is not nan */
bool kj_habit_is_nan(kj_parser *p, kj_message *m, kj_span at, bool negated);
bool kj_habit_as(kj_parser *p, kj_message *m, kj_span at); /* n as f32 */
/* `a xor b`, `a mod b`: reports it; false: the word there is none of those. */
bool kj_habit_operator(kj_parser *p, kj_span at);
bool kj_habit_record(kj_parser *p, kj_message *m, kj_span at);       /* P{x: 1}, at the brace */
bool kj_habit_new(kj_parser *p, kj_message *m, kj_span at);          /* new P(1), new f32[3] */
bool kj_habit_raise(kj_parser *p);                                   /* raise X("text"): an error */
bool kj_habit_only_part(kj_parser *p, kj_message *m, uint32_t name); /* n, = a.shape */
bool kj_habit_rows(kj_parser *p, kj_message *m);                     /* [1, 2; 3, 4] */
void kj_habit_shift(kj_parser *p, kj_span at);                       /* n >>> 3: an error */
void kj_habit_ternary(kj_parser *p, kj_message *m, kj_span at);      /* c ? a : b */
/* habit_stmt.c: open: the call's bracket; pointer: behind the & */
bool kj_hint_memory(kj_parser *p, kj_message *m, uint32_t open, uint32_t pointer);
bool kj_habit_array_type(kj_parser *p, kj_message *m, kj_span at);
bool kj_habit_address(kj_parser *p, kj_message *m, kj_span at);           /* atomicAdd(&x[0] */
bool kj_habit_dereference(kj_parser *p, kj_message *m, kj_span at);       /* *x = 1 */
void kj_habit_element(kj_parser *p, kj_message *m, const kj_expr *call);  /* m(0, 0) = 1 */
void kj_habit_typed_names(kj_parser *p, kj_message *m, const kj_stmt *s); /* var a, b: i32 = 0, 1 */
bool kj_habit_cast_words(kj_parser *p, kj_message *m);                    /* (unsigned char)x */
void kj_habit_not(kj_parser *p, kj_message *m, kj_span at);               /* !a */
void kj_habit_not_operand(kj_parser *p, kj_message *m, kj_span at);       /* a & not b */
void kj_habit_step(kj_parser *p, kj_span at);                             /* i++, --i: an error */
bool kj_habit_for(kj_parser *p, kj_message *m, kj_span at); /* for (int i = 0; ...); at: the ( */
/* The same without parentheses, from `begin` on; false: it is none. True: nothing of its block is told. */
bool kj_habit_for_open(kj_parser *p, kj_message *m, uint32_t begin);
void kj_habit_block(kj_parser *p, kj_message *m,
                    kj_span at); /* no braces; at: a colon, or behind the header */
void kj_habit_call(kj_parser *p, kj_message *m, kj_span at);   /* print x */
bool kj_habit_braces(kj_parser *p, kj_message *m, kj_span at); /* {{ ... }} */
/* The // of a comment in which the parser went astray; else the source's size. */
uint32_t kj_habit_comment(const kj_parser *p, kj_span at);
/* All of a comment that begins and ends with marks that long. */
void kj_habit_mend_comment(kj_parser *p, kj_message *m, kj_span all, uint32_t mark);

/* ---- Layout (newline.c): what brackets and line ends mean ---- */

/* Takes the token just read, keeps the account of brackets, and gives the token the parser
 * should see: it, or a } that is missing before it. */
int kj_layout_token(kj_parser *p, int token, kj_span *span);
int kj_layout_unwritten(kj_parser *p, kj_span *span); /* a token that the text lacks, here; or 0 */
/* Does the line end (with the blank lines behind it) that was just read end a statement? Not
 * inside ( ) and [ ], nor before else and elif. */
bool kj_layout_newline(kj_parser *p);
/* Until the block that begins in this line has ended, and its last line, nothing is told. */
void kj_layout_skip_block(kj_parser *p);
/* fn norm(self) -> f32 { ... } in a record, at its first word: an error, and what follows up to the record's end is none of
 * its fields. */
void kj_layout_refuse_method(kj_parser *p, kj_span span);
/* Forgets open ( and [, after an error at the start of a line. */
void kj_layout_close(kj_parser *p);
void kj_layout_lacks_brace(kj_parser *p); /* a } that is missing at the item's end is not told */
/* An f-string begins; false where it is in too many others: that is reported. */
bool kj_layout_open_format(kj_parser *p, kj_span span);
/* In an f-string, behind one of its values? */
bool kj_layout_in_format(const kj_parser *p);
/* Does the ) or ] close nothing that was opened in this value of an f-string? */
bool kj_layout_leaves_value(const kj_parser *p, char kind);
/* Reports what is missing before it. */
void kj_layout_value_error(kj_parser *p, kj_span span);
/* Could a := here be meant for the = of a statement? */
bool kj_layout_assigns(const kj_parser *p);
bool kj_layout_begins_statement(const kj_parser *p);
/* The block of the header at `at`, which has no {, is lost: what ends it is dropped. */
void kj_layout_lose_block(kj_parser *p, kj_span at);
/* Is the token just read such an end? */
bool kj_layout_drops(kj_parser *p, int token, kj_span span);
/* The } of a value: brackets that are open in it are reported. */
void kj_layout_close_value(kj_parser *p, kj_span span);

/* ---- Literals (literal.c): the text of a token in, its value out; errors are reported ---- */

uint64_t kj_literal_int(kj_parser *p, kj_span span, const char *text, size_t len);
double kj_literal_float(kj_parser *p, kj_span span, const char *text, size_t len);
kj_string kj_literal_string(kj_parser *p, kj_span span, const char *text, size_t len);
/* Of an f-string, between its values. */
kj_string kj_literal_piece(kj_parser *p, kj_span span, const char *text, size_t len);
void kj_literal_bad_number(kj_parser *p, kj_span span, const char *text, size_t len);
/* For a word that is a statement: was another meant? */
bool kj_hint_statement(kj_parser *p, kj_message *m, const char *word);
/* ---- Stray characters and spellings (stray.c) ---- */

/* Reports the comment of C or docstring that begins here, and moves behind it; false: it has no end. */
bool kj_stray_comment(kj_parser *p, kj_span span, const char *end);
/* Is it a name that begins with a digit? It is reported where it is declared. */
bool kj_stray_name(kj_parser *p, kj_span span, const char *text, size_t len);
bool kj_stray_transpose(kj_parser *p, kj_span span); /* x', of which the rest is read again */
void kj_stray_update(kj_parser *p, kj_span span);    /* &&= */
bool kj_stray_remark(kj_parser *p, kj_span span);    /* ! a comment, to the end of the line */
bool kj_hint_pointer(kj_parser *p, kj_message *m, const kj_expr *e); /* float *d; (c_value.c) */
void kj_stray_cast(kj_parser *p, kj_span span, const char *text);    /* static_cast<float> */
const char *kj_stray_vector(kj_parser *p, kj_span span, const char *text); /* vec4<f32>: its type */
void kj_stray_macro(kj_parser *p, kj_span span, const char *text);         /* vec! */
/* pointer.c: of what cannot be assigned to, auto& v. */
void kj_hint_reference(kj_parser *p, kj_message *m, const kj_expr *e);
/* macro.c: an @ with something behind it: the token that is read, up to *end: of a macro of Julia's (reported) what it
 * stands for, 0: nothing; else KJ_TK_AT. */
int kj_stray_at(kj_parser *p, uint32_t at, uint32_t *end);
void kj_stray_range(kj_parser *p, kj_span span);    /* 0.. */
bool kj_stray_range_of(kj_parser *p, kj_span span); /* n..; false: no value is before it */
void kj_stray_brace(kj_parser *p, kj_span span, const char *text); /* in an f-string */
void kj_stray_conversion(kj_parser *p, kj_span span);              /* {x!r} */
void kj_stray_character(kj_parser *p, kj_span span, const char *text, size_t len);

#endif
