/* Ranges in dots and choices with ?, which reach to the ends of the expression that they are in: the source around the
 * sign in, a hint and a fix out, as in habit.c. */
#include <stdlib.h>
#include <string.h>

#include "knl.tab.h"
#include "parse/habit.h"

/* Where an expression ends that begins at `at`: at the end of the line or what is around it. */
static uint32_t expression_end(const kj_source *s, uint32_t at)
{
    int depth = 0;
    for (; s->text[at] && !strchr("\n;#", s->text[at]); at++) {
        char c = s->text[at];
        depth += c == '(' || c == '[';
        depth -= c == ')' || c == ']';
        if (depth < 0 || (depth == 0 && (c == ',' || c == '{')))
            break;
    }
    return at;
}

static kj_span trimmed(const kj_source *s, uint32_t begin, uint32_t end)
{
    begin = kj_skip_blanks(s, begin);
    while (end > begin && kj_is_blank(s->text[end - 1]))
        end--;
    return (kj_span){begin, end};
}

/* [0..n]: the list that the range is all of, if one may stand for the other; else where it ends before it begins. */
static kj_span list_of_range(const kj_parser *p, const kj_bracket *open, kj_span at, uint32_t stop)
{
    const kj_source *s = p->source;
    uint32_t close = kj_skip_blanks(s, stop);
    bool whole = kj_skip_blanks(s, open->span.end) == at.begin && s->text[close] == ']';
    return whole && open->behind == KJ_TK_IN ? (kj_span){open->span.begin, close + 1}
                                             : (kj_span){1, 0};
}

/* Where what a `..` begins with does, of which a token is at `at`: behind the in, or what opens the brackets. */
static uint32_t range_start(const kj_source *s, uint32_t at)
{
    uint32_t begin = at;
    for (int depth = 0; begin > 0 && !strchr("\n{};=,", s->text[begin - 1]); begin--) {
        char c = s->text[begin - 1];
        depth += (c == ')' || c == ']') - (c == '(' || c == '[');
        bool word = kj_is_blank(c) && begin > 2 && (begin == 3 || !kj_is_word(s->text[begin - 4]));
        if (depth < 0 || (word && depth == 0 && kj_is_word_at(s, begin - 3, "in")))
            break;
    }
    return kj_skip_blanks(s, begin);
}

/* What is behind the last, which a range of others has in it. */
static const char *behind_last(kj_parser *p, kj_span last)
{
    enum { DIGITS = 9 };
    const char *text = kj_piece(p, last.begin, last.end);
    size_t n = strlen(text);
    return n <= DIGITS && strspn(text, "0123456789") == n
               ? kj_arena_printf(p->arena, "%ld", strtol(text, NULL, 10) + 1)
               : kj_arena_printf(p->arena, "%s + 1", text);
}

void kj_habit_range_to(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t dots = (uint32_t)strspn(s->text + at.begin, "."), next = at.begin + dots;
    bool to = dots == 2 && s->text[next] == '=';
    uint32_t begin = next + to;
    kj_span stop = trimmed(s, begin, expression_end(s, begin));
    if (dots == 2 && stop.end > stop.begin)
        kj_write(p->diag, m, (kj_span){at.begin, stop.end}, ":%s",
                 to ? behind_last(p, stop) : kj_piece(p, stop.begin, stop.end));
    else if (dots == 2 && !to) /* a[..] */
        kj_write(p->diag, m, (kj_span){at.begin, next}, ":");
    else
        kj_hint(p->diag, m, "a[:] is all of an array, a[i, :] a row of it");
}

/* 0..n - 1, 1..=n: `..` takes all that is behind it, and before it. Within x[...] a slice is meant. */
void kj_habit_range(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    const kj_bracket *open = p->nopen ? &p->open[p->nopen - 1] : NULL;
    bool to = s->text[at.end - 1] == '=', within = open && open->kind == '[';
    bool index = within && (open->behind == KJ_TK_NAME || open->behind == KJ_TK_RPAREN ||
                            open->behind == KJ_TK_RBRACKET);
    kj_span stop = trimmed(s, at.end, expression_end(s, at.end));
    uint32_t first = at.begin;
    while (s->text[first] != '.')
        first++;
    if (stop.end <= stop.begin && (to || !index))
        return;
    at.begin = range_start(s, at.begin);
    kj_span all = {at.begin, stop.end > stop.begin ? stop.end : at.end};
    if (within && !index)
        all = list_of_range(p, open, at, stop.end);
    if (all.end <= all.begin)
        return;
    kj_span from = trimmed(s, at.begin, first);
    kj_write(p->diag, m, all, index ? "%s:%s" : "range(%s, %s)", kj_piece(p, from.begin, from.end),
             stop.end <= stop.begin ? ""
             : to                   ? behind_last(p, stop)
                                    : kj_piece(p, stop.begin, stop.end));
}

/* The ? and the : that belongs to it, neither within brackets. */
static bool find_ternary(const kj_source *s, kj_span at, uint32_t *mark, uint32_t *colon)
{
    int depth = 0, open = 0;
    *mark = *colon = at.end;
    for (uint32_t i = at.begin; i < at.end; i++) {
        char c = s->text[i];
        depth += c == '(' || c == '[';
        depth -= c == ')' || c == ']';
        if (depth == 0 && c == '?' && open++ == 0)
            *mark = i;
        if (depth == 0 && c == ':' && *mark < i && --open == 0) {
            *colon = i;
            return true;
        }
    }
    return false;
}

/* What a ? b : c is here, with what is nested in it; NULL: it is not understood. */
static const char *ternary_text(kj_parser *p, kj_span at, bool within, int depth)
{
    enum { MOST = 8 };
    const kj_source *s = p->source;
    uint32_t mark, colon;
    if (at.end <= at.begin || depth > MOST)
        return NULL;
    if (!find_ternary(s, at, &mark, &colon))
        return mark < at.end ? NULL : kj_piece(p, at.begin, at.end);
    kj_span test = trimmed(s, at.begin, mark);
    const char *yes = ternary_text(p, trimmed(s, mark + 1, colon), true, depth + 1);
    const char *no = ternary_text(p, trimmed(s, colon + 1, at.end), false, depth + 1);
    if (test.end <= test.begin || !yes || !no)
        return NULL;
    return kj_arena_printf(p->arena, within ? "(%s if %s else %s)" : "%s if %s else %s", yes,
                           kj_piece(p, test.begin, test.end), no);
}

/* a ? b : c */
void kj_habit_ternary(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    int depth = 0;
    uint32_t begin = at.begin;
    for (; begin > 0 && s->text[begin - 1] != '\n'; begin--) {
        char c = s->text[begin - 1], before = begin > 1 ? s->text[begin - 2] : '\n';
        bool assigns = c == '=' && s->text[begin] != '=' && !strchr("=<>!", before);
        depth += c == ')' || c == ']';
        depth -= c == '(' || c == '[';
        if (depth < 0 || (depth == 0 && (strchr(",{;", c) || assigns)))
            break;
    }
    begin = kj_skip_blanks(s, begin);
    if (kj_is_word_at(s, begin, "return"))
        begin = kj_skip_blanks(s, begin + 6);
    kj_span all = trimmed(s, begin, expression_end(s, begin));
    if (all.end > begin && s->text[all.end - 1] == '}')
        all = trimmed(s, begin, all.end - 1);
    const char *text = ternary_text(p, all, false, 0);
    if (text && all.end > at.begin)
        kj_fix(p->diag, m, all, "%s", text);
}
