/* The one style of source text, `kjit fmt`: text in, the same program laid out out.
 *
 * Lines end where they did, but for what has one place: a block is on one line or its braces end and
 * begin lines, `else` follows the `}` before it. Blanks, indentation, empty lines and the columns of
 * comments are decided here; names, literals and comments stay as they are. */
#ifndef KJ_FORMAT_H
#define KJ_FORMAT_H

#include "parse/ast.h"

/* The source of `diag` in the style, in the arena; NULL after an error, which is reported there: what has errors
 * of syntax stays as it is. Its AST is the source's, and formatted again it is the same. */
const char *kj_formatted(kj_arena *arena, kj_diag *diag, size_t *size);

/* ---- Between the files here ---- */

/* On a line of its own. */
typedef struct kj_remark {
    struct kj_remark *next;
    kj_span span;
    bool blank; /* an empty line is before it */
} kj_remark;

/* A token, and what is before it. */
typedef struct kj_word {
    int kind; /* KJ_TK_...; of a whole f-string KJ_TK_FORMAT */
    kj_span span;
    kj_remark *remarks;
    bool breaks;     /* a line begins with it */
    bool blank;      /* and an empty line is before that */
    int blanks;      /* before it, where no line begins */
    kj_span comment; /* behind it on its line; empty: none */
} kj_word;

typedef struct kj_words {
    const char *text; /* the source's */
    kj_word *all;
    int n; /* the last is the end of the file */
} kj_words;

/* The source's words and remarks, and where lines end (words.c). */
kj_words kj_words_read(kj_arena *arena, const kj_source *source);
/* Sets `blanks` of each (blanks.c). */
void kj_words_space(kj_arena *arena, kj_words *words);
/* All of it as text (lines.c). */
kj_text kj_words_write(kj_arena *arena, const kj_words *words);

#endif
