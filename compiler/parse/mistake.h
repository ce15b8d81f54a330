/* A syntax error while it is put into words; of error.c, outside.c, operator.c, header.c and keyword.c. */
#ifndef KJ_PARSE_MISTAKE_H
#define KJ_PARSE_MISTAKE_H

#include "parse/parse.h"

#define BRACE_PLACE "the '{' of a block stands on the line of its header"
#define ARRAY_TYPES "types of arrays are written f32[], with two axes f32[,]"
#define NO_COMPREHENSIONS "there are no comprehensions: write a loop that fills an array"

typedef struct kj_mistake {
    kj_parser *p;
    kj_span at;        /* the unexpected token, or the place behind the last one of its line */
    const char *token; /* its name in the grammar */
    const char *text;  /* as shown: 'else', the end of the line */
    const char *const *expected;
    int n;
} kj_mistake;

/* Could this token have come? */
bool kj_wants(const kj_mistake *x, const char *token);

/* use blur, use lib/blur.knl, use std::sort: false where it is none of these. */
bool kj_wrong_use(const kj_mistake *x);
bool kj_wrong_test(const kj_mistake *x); /* of a test's head */
/* for (i, v) in ...: as it is, without the parentheses; false where it is none. */
bool kj_unwrap_names(const kj_mistake *x, kj_message *m);
/* x .* y, x .^ 2 of Julia and MATLAB, f.(x), 0..n: what is written for the dot and what stands behind it. */
void kj_hint_behind_dot(const kj_mistake *x, kj_message *m);
/* let (a, b) = ..., of names alone: as it is, without the brackets; false where it is none. */
bool kj_unwrap_declared(const kj_mistake *x, kj_message *m);

/* Is it the unexpected one? */
bool kj_met(const kj_mistake *x, const char *token);

const char *kj_mistake_source(kj_parser *p, kj_span span);

kj_message *kj_mistake_error(const kj_mistake *x, const char *text);

/* expected 'wanted' before the token */
kj_message *kj_expected(const kj_mistake *x, const char *wanted);

/* habit_stmt.c: at what stands behind n, or at (n,) */
bool kj_habit_only_part_at(const kj_mistake *x, kj_message *m);

void kj_mistake_hint(const kj_mistake *x, kj_message *m, const char *text);

/* Is it the first word of the line? */
bool kj_line_begins(const kj_parser *p, kj_span at, const char *word);

/* var<workgroup>, var<storage, read>: what it is here, where the < stands at `at` (outside.c). */
const char *kj_foreign_variable(const kj_parser *p, kj_span at);
/* Hints about a name that stands where a keyword might: one of another language, or where an item could begin one of
 * those misspelled. */
void kj_hint_keyword(const kj_mistake *x, kj_message *m, kj_span name, bool item);

/* outside.c: reports one where an item could begin. */
void kj_at_item(const kj_mistake *x);

/* operator.c: reports one behind a complete expression. */
void kj_behind_expression(const kj_mistake *x);
/* Reports `=>` and the like, or an operator that a blank parts; false: it is none. */
bool kj_comparison_reversed(const kj_mistake *x);
bool kj_operator_parted(const kj_mistake *x);
/* Is the // at `slashes` a division, by a number or a name that there is, and no comment? */
bool kj_divides(const kj_mistake *x, uint32_t slashes);

/* Does the block begin on the line, behind what is wrong? */
bool kj_has_brace(const kj_mistake *x);

/* header.c: reports one where few tokens could come, by their names. */
void kj_at_tokens(const kj_mistake *x);
void kj_mistake_paths(const kj_mistake *x, kj_message *m); /* :: */
/* k[grid=1, block=4], a[i=0] (habit_stmt.c) */
bool kj_habit_index_names(const kj_mistake *x, kj_message *m);
/* A word before a parameter or its type that is none here is to be left out; false: it is another. */
bool kj_leave_qualifier(const kj_mistake *x, kj_message *m, kj_span word);
/* A colon where a block begins: Python's, or what other languages have for '->'. */
void kj_at_colon(const kj_mistake *x);
void kj_at_field_end(const kj_mistake *x);
/* Reports a ) or ] for which none is open; a } within a body that closed the item; false: it is none. */
bool kj_closes_nothing(const kj_mistake *x);
bool kj_closed_too_early(const kj_mistake *x);
/* A function or variable of C at the top of a file. */
bool kj_hint_c_item(const kj_mistake *x, kj_message *m);
bool kj_before_colon(const kj_mistake *x); /* x: */

/* keyword.c: print "x", behind the word; of a run block's functions any, save "a.npy", a */
bool kj_follows_call(const kj_mistake *x);
/* keyword.c: is it the misspelled keyword that a statement begins with, an operator or part of a header that is
 * a word, the const of a parameter? Then it is reported. */
bool kj_misspelled_statement(const kj_mistake *x);
bool kj_misspelled_operator(const kj_mistake *x);
bool kj_misspelled_parameter(const kj_mistake *x);
/* Does the file, or the language, give the name to something? */
bool kj_mistake_is_name(const kj_mistake *x, kj_span word);
bool kj_mistake_is_declared(const kj_mistake *x, kj_span word); /* the file alone */

#endif
