/* Lines: words and remarks to text. A block is four blanks further in; what goes on in brackets stands behind the
 * bracket, or where that ends its line, four blanks further in than the line. Comments behind code that stood in one
 * column, line below line, do so again. */
#include <string.h>

#include "format/format.h"
#include "knl.tab.h"

enum { STEP = 4, APART = 2 }; /* of blocks; of comments behind code */

typedef struct level {
    int kind;
    int column; /* of the bracket */
    int indent; /* of its line */
    bool hangs; /* its line ends with it */
} level;

/* Code, or an own remark, and the comment behind it. */
typedef struct line {
    size_t begin, end; /* in the text of all code */
    int width;         /* characters */
    kj_span comment;
    int column, apart; /* where the comment stood, and how far behind the code */
} line;

typedef struct writer {
    kj_arena *arena;
    const char *text; /* the source's */
    kj_text code;
    line *lines;
    int nlines, column, indent; /* of the line that is being written */
    level *open;
    int nopen, nblocks;
} writer;

/* ---- Lines of code ---- */

static int width_of(const char *text, size_t n)
{
    int width = 0;
    for (size_t i = 0; i < n; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

static void put_blanks(kj_text *t, int n)
{
    static const char blanks[] = "                                ";
    for (int most = (int)sizeof blanks - 1; n > 0; n -= most)
        kj_text_add(t, blanks, (size_t)(n < most ? n : most));
}

static void put(writer *w, kj_span span)
{
    size_t n = span.end - span.begin;
    kj_text_add(&w->code, w->text + span.begin, n);
    w->column += width_of(w->text + span.begin, n);
}

static void begin_line(writer *w, int indent)
{
    w->lines[w->nlines] = (line){.begin = w->code.size};
    put_blanks(&w->code, indent);
    w->column = w->indent = indent;
}

static void end_line(writer *w)
{
    line *l = &w->lines[w->nlines++];
    l->end = w->code.size;
    l->width = w->column;
}

static void empty_line(writer *w)
{
    begin_line(w, 0);
    end_line(w);
}

static void note_comment(writer *w, const kj_word *word)
{
    if (word->comment.begin == word->comment.end)
        return;
    line *l = &w->lines[w->nlines];
    uint32_t at = word->comment.begin, begin = at;
    while (begin > 0 && w->text[begin - 1] != '\n')
        begin--;
    while (at > begin && (w->text[at - 1] == ' ' || w->text[at - 1] == '\t'))
        at--;
    l->comment = word->comment;
    l->column = width_of(w->text + begin, word->comment.begin - begin);
    l->apart = (int)(word->comment.begin - at);
}

/* ---- Indentation ---- */

static int indent_inside(const writer *w)
{
    const level *top = w->nopen > 0 ? &w->open[w->nopen - 1] : NULL;
    if (!top || top->kind == KJ_TK_LBRACE)
        return STEP * w->nblocks;
    return top->hangs ? top->indent + STEP : top->column + 1;
}

static int indent_of(const writer *w, const kj_word *word)
{
    const level *top = w->nopen > 0 ? &w->open[w->nopen - 1] : NULL;
    if (word->kind == KJ_TK_RBRACE)
        return STEP * (w->nblocks - 1);
    if (top && (word->kind == KJ_TK_RPAREN || word->kind == KJ_TK_RBRACKET))
        return top->hangs ? top->indent : top->column;
    return indent_inside(w);
}

static void open_level(writer *w, const kj_word *word)
{
    bool block = word->kind == KJ_TK_LBRACE;
    w->open[w->nopen++] = (level){word->kind, w->column, w->indent, word[1].breaks};
    w->nblocks += block;
}

static void close_level(writer *w)
{
    if (w->nopen > 0)
        w->nblocks -= w->open[--w->nopen].kind == KJ_TK_LBRACE;
}

/* ---- Words ---- */

static void write_remarks(writer *w, const kj_word *word)
{
    for (const kj_remark *r = word->remarks; r; r = r->next) {
        if (r->blank)
            empty_line(w);
        begin_line(w, indent_inside(w));
        put(w, r->span);
        end_line(w);
    }
}

static void write_word(writer *w, const kj_word *word, bool first)
{
    if (word->breaks) {
        if (!first)
            end_line(w);
        write_remarks(w, word);
        if (word->blank && word->kind != KJ_TK_END)
            empty_line(w);
        begin_line(w, word->kind == KJ_TK_END ? 0 : indent_of(w, word));
    }
    put_blanks(&w->code, word->blanks);
    w->column += word->blanks;
    if (word->kind == KJ_TK_RBRACE || word->kind == KJ_TK_RPAREN || word->kind == KJ_TK_RBRACKET)
        close_level(w);
    if (word->kind == KJ_TK_LBRACE || word->kind == KJ_TK_LPAREN || word->kind == KJ_TK_LBRACKET)
        open_level(w, word);
    put(w, word->span);
    note_comment(w, word);
}

/* ---- Comments behind code ---- */

static bool has_comment(const line *l)
{
    return l->comment.begin < l->comment.end;
}

/* The lines from the first on whose comments stood in one column; returns how many. */
static int align(const line *first, const line *end, int *column)
{
    int n = 0, width = 0, apart = first->apart;
    for (const line *l = first; l < end && has_comment(l) && l->column == first->column; l++, n++) {
        width = l->width > width ? l->width : width;
        apart = l->apart < apart ? l->apart : apart;
    }
    *column = width + (apart > APART ? apart : APART);
    return n;
}

static kj_text join(const writer *w)
{
    kj_text out = {.arena = w->arena};
    const line *end = w->lines + w->nlines;
    int column = 0, n = 0;
    kj_text_puts(&out, "");
    for (const line *l = w->lines; l < end; l++, n--) {
        kj_text_add(&out, w->code.data + l->begin, l->end - l->begin);
        if (has_comment(l)) {
            if (n <= 0)
                n = align(l, end, &column);
            put_blanks(&out, column - l->width);
            kj_text_add(&out, w->text + l->comment.begin, l->comment.end - l->comment.begin);
        }
        kj_text_add(&out, "\n", 1);
    }
    return out;
}

/* Each word, each remark, and an empty line before either, are at most a line. */
static size_t most_lines(const kj_words *words)
{
    size_t n = 0;
    for (int i = 0; i < words->n; i++) {
        n += 2;
        for (const kj_remark *r = words->all[i].remarks; r; r = r->next)
            n += 2;
    }
    return n;
}

kj_text kj_words_write(kj_arena *arena, const kj_words *words)
{
    writer w = {.arena = arena, .text = words->text, .code = {.arena = arena}};
    w.lines = KJ_NEW_ARRAY(arena, line, most_lines(words));
    w.open = KJ_NEW_ARRAY(arena, level, (size_t)words->n);
    kj_text_puts(&w.code, "");
    for (int i = 0; i < words->n; i++)
        write_word(&w, &words->all[i], i == 0);
    return join(&w);
}
