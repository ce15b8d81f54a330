/* Words: the tokens without the ends of statements, each with the comments before it, and where lines end. */
#include <string.h>

#include "format/format.h"
#include "knl.tab.h"

/* ---- What is between two words ---- */

static void add_remark(kj_arena *arena, kj_word *w, kj_remark ***end, kj_span span, bool blank)
{
    kj_remark *r = KJ_NEW(arena, kj_remark);
    *r = (kj_remark){.span = span, .blank = blank};
    if (!w->remarks)
        *end = &w->remarks;
    **end = r;
    *end = &r->next;
}

/* From `begin`, behind the word before (NULL: none), up to w. A `;` there ended a line anyway. */
static void read_gap(kj_arena *arena, const char *text, uint32_t begin, kj_word *before, kj_word *w)
{
    kj_remark **end = NULL;
    int ends = 0; /* of lines, since the last word or comment */
    w->breaks = !before || w->kind == KJ_TK_END;
    for (uint32_t at = begin; at < w->span.begin;) {
        if (text[at] == '\n') {
            w->breaks = true;
            ends++;
            at++;
        } else if (text[at] == '#') {
            uint32_t size = (uint32_t)strcspn(text + at, "\r\n");
            kj_span span = {at, at + (uint32_t)kj_trimmed(text + at, size)};
            if (before && ends == 0)
                before->comment = span;
            else
                add_remark(arena, w, &end, span, ends > 1);
            at += size;
            ends = 0;
        } else {
            at++;
        }
    }
    w->blank = ends > 1;
}

static bool has_line_end(const char *text, uint32_t begin, uint32_t end)
{
    return memchr(text + begin, '\n', end - begin) != NULL;
}

/* ---- The words ---- */

/* The f-string that begins with the i-th token is one word, the token after it the next. */
static int behind_format(const kj_tokens *t, int i)
{
    for (int depth = 0;; i++) {
        depth += t->all[i].kind == KJ_TK_FORMAT;
        depth -= t->all[i].kind == KJ_TK_FORMAT_END;
        if (depth == 0)
            return i + 1;
    }
}

static int behind_semicolons(const kj_tokens *t, int i)
{
    while (t->all[i].kind == KJ_TK_SEMICOLON)
        i++;
    return i;
}

/* Do `;`, of which the token at i is behind the last, end what nothing else would? */
static bool separates(const kj_tokens *t, const char *text, int i, const kj_word *before)
{
    const kj_token *next = &t->all[i];
    return before && before->kind != KJ_TK_SEMICOLON && before->kind != KJ_TK_LBRACE &&
           next->kind != KJ_TK_RBRACE && next->kind != KJ_TK_END &&
           !has_line_end(text, before->span.end, next->span.begin);
}

static void collect(kj_arena *arena, kj_words *words, const kj_tokens *t, uint32_t begin)
{
    for (int i = 0, next; i < t->n; i = next) {
        kj_word *w = &words->all[words->n], *before = words->n > 0 ? w - 1 : NULL;
        int last = t->all[i].kind == KJ_TK_FORMAT ? behind_format(t, i) - 1 : i;
        next = t->all[i].kind == KJ_TK_SEMICOLON ? behind_semicolons(t, i) : last + 1;
        if (t->all[i].kind == KJ_TK_SEMICOLON && !separates(t, words->text, next, before))
            continue;
        w->kind = t->all[i].kind; /* the first of several `;` */
        w->span = (kj_span){t->all[i].span.begin, t->all[last].span.end};
        read_gap(arena, words->text, before ? before->span.end : begin, before, w);
        words->n++;
    }
}

/* ---- Where lines end ---- */

static bool is_else(int kind)
{
    return kind == KJ_TK_ELSE || kind == KJ_TK_ELIF;
}

/* Behind a block of several lines; those of one line may stand below one another. */
static void join_else(kj_words *words)
{
    for (int i = 1; i < words->n; i++) {
        kj_word *w = &words->all[i], *before = w - 1;
        if (is_else(w->kind) && !w->remarks && before->kind == KJ_TK_RBRACE && before->breaks &&
            before->comment.begin == before->comment.end)
            w->breaks = w->blank = false;
    }
}

/* A statement that follows a block begins a line. */
static bool follows_block(const kj_word *w)
{
    return w[-1].kind == KJ_TK_RBRACE && w->kind != KJ_TK_RBRACE && !is_else(w->kind) &&
           w->kind != KJ_TK_SEMICOLON;
}

/* A block with a line end in it ends and begins lines with its braces. */
static void break_blocks(kj_arena *arena, kj_words *words)
{
    struct {
        int word, breaks; /* how many there were before it */
    } *open = kj_arena_calloc(arena, (size_t)words->n, sizeof *open);
    int nopen = 0, breaks = 0;
    for (int i = 1; i < words->n; i++) {
        kj_word *w = &words->all[i];
        w->breaks |= follows_block(w);
        if (w->kind == KJ_TK_RBRACE && nopen > 0) {
            nopen--;
            kj_word *first = &words->all[open[nopen].word + 1];
            if (breaks + w->breaks > open[nopen].breaks)
                first->breaks = w->breaks = true;
        }
        breaks += w->breaks;
        if (w->kind == KJ_TK_LBRACE) {
            open[nopen].word = i;
            open[nopen++].breaks = breaks;
        }
    }
}

/* No empty line begins or ends a block, or the file. */
static void trim_blocks(kj_words *words)
{
    for (int i = 0; i < words->n; i++) {
        kj_word *w = &words->all[i];
        if (w->kind == KJ_TK_RBRACE)
            w->blank = false;
        if (i > 0 && w[-1].kind != KJ_TK_LBRACE)
            continue;
        if (w->remarks)
            w->remarks->blank = false;
        else
            w->blank = false;
    }
}

kj_words kj_words_read(kj_arena *arena, const kj_source *source)
{
    kj_tokens tokens = kj_tokens_read(arena, source);
    kj_words words = {.text = source->text};
    words.all = KJ_NEW_ARRAY(arena, kj_word, (size_t)tokens.n);
    collect(arena, &words, &tokens, (uint32_t)kj_byte_order_mark(source->text, source->size));
    break_blocks(arena, &words);
    join_else(&words);
    trim_blocks(&words);
    return words;
}
