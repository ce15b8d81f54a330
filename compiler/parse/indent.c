/* Which of an item's blocks lacks its }: braces tell how many do, indentation tells which. And what braces tell of a run
 * block within a function. */
#include <string.h>

#include "parse/habit.h"

enum { DEEPEST = 64 };

typedef struct block {
    uint32_t brace, header; /* the line where its header begins */
    int indent;             /* of that */
    bool filled;            /* a line stands in it, further in */
} block;

/* A block without its }: the line behind it, and the word with which that begins. */
typedef struct lacking {
    block of;
    uint32_t line, word;
} lacking;

typedef struct scan {
    const kj_source *source;
    block open[DEEPEST];
    int nopen, depth; /* in ( and [ */
    uint32_t line;    /* the last that is not within any */
    int indent;
    int nlacking;  /* blocks that a line shows to have ended without a brace */
    bool mixed;    /* of tabs and blanks, not indented, or too deep: nothing can be told */
    lacking first; /* of them */
} scan;

/* A line that begins at `at`, where no bracket is open: blocks whose header is as far in as it have ended. */
static void see_line(scan *s, uint32_t at)
{
    const char *text = s->source->text;
    uint32_t word = kj_skip_blanks(s->source, at);
    bool tabs = memchr(text + at, '\t', word - at), blanks = memchr(text + at, ' ', word - at);
    if (strchr("\r\n#", text[word]))
        return;
    s->mixed |= tabs && blanks;
    s->indent = (int)(word - at);
    s->line = at;
    bool closes = text[word] == '}';
    while (s->nopen > 0 && s->indent - (closes ? 0 : 1) < s->open[s->nopen - 1].indent) {
        const block *b = &s->open[--s->nopen];
        s->mixed |= !b->filled; /* nor are others indented */
        if (s->nlacking++ == 0)
            s->first = (lacking){*b, at, word};
    }
    if (s->nopen > 0)
        s->open[s->nopen - 1].filled = true;
}

static void see_sign(scan *s, uint32_t at)
{
    char c = s->source->text[at];
    s->depth += (c == '(' || c == '[') - (c == ')' || c == ']');
    if (c == '{' && s->nopen < DEEPEST)
        s->open[s->nopen++] = (block){at, s->line, s->indent, false};
    else if (c == '{')
        s->mixed = true;
    else if (c == '}' && s->nopen > 0)
        s->nopen--;
}

bool kj_told_by_indent(kj_parser *p, uint32_t end)
{
    scan s = {.source = p->source};
    uint32_t at = kj_line_start(p->source, p->open[0].span.begin), first;
    while (at > p->begin && kj_is_blank(p->source->text[at])) /* a header of several lines */
        at = kj_line_start(p->source, at - 1);
    first = at;
    s.line = at;
    s.indent = (int)(kj_skip_blanks(p->source, at) - at);
    while (at < end && !s.mixed) {
        uint32_t next = kj_behind_text(p->source, at);
        if (next == at) {
            see_sign(&s, at);
            next = at + 1;
        }
        bool line = next > first && p->source->text[next - 1] == '\n' && s.depth <= 0;
        if (line && next < end && p->source->text[next])
            see_line(&s, next);
        at = next;
    }
    if (s.mixed || s.nlacking == 0 || s.nlacking + s.nopen != p->nbraces)
        return false;
    const block *b = &s.first.of;
    kj_message *m = kj_error(p->diag, (kj_span){s.first.word, s.first.word + 1},
                             KJ_RULE_MISSING_BRACE, "missing '}' before this line");
    kj_note(p->diag, m, (kj_span){b->brace, b->brace + 1}, "to close the block opened here");
    kj_fix(p->diag, m, (kj_span){s.first.line, s.first.line}, "%.*s}\n", b->indent,
           p->source->text + b->header);
    return true;
}

/* Behind the } of the block that is open at `at`; 0: it does not end. */
static uint32_t block_end(const kj_source *s, uint32_t at)
{
    for (int depth = 0; s->text[at];) {
        uint32_t next = kj_behind_text(s, at);
        depth += next == at ? (s->text[at] == '{') - (s->text[at] == '}') : 0;
        at = next > at ? next : at + 1;
        if (depth == 0)
            return at;
    }
    return 0;
}

kj_span kj_run_within(kj_parser *p, uint32_t run, kj_span *around)
{
    static const char blanks[] = " \t\r\n";
    const kj_source *s = p->source;
    const kj_span none = {run, run};
    uint32_t at = run, open = kj_skip_blanks(s, kj_word_end(s, run)), end;
    while (at > 0 && strchr(blanks, s->text[at - 1]))
        at--;
    if (!kj_is_word_at(s, run, "run") || s->text[open] != '{' || at == 0 || s->text[at - 1] != '{')
        return none;
    uint32_t line = kj_line_start(s, at - 1), name = kj_skip_blanks(s, kj_word_end(s, line));
    uint32_t parameters = kj_word_end(s, name), brace = kj_skip_blanks(s, parameters + 2);
    bool function = kj_is_word_at(s, line, "fn") || kj_is_word_at(s, line, "run");
    if (!function || parameters == name || strncmp(s->text + parameters, "()", 2) != 0 ||
        brace != at - 1 || !(end = block_end(s, open)))
        return none;
    uint32_t close = end + (uint32_t)strspn(s->text + end, blanks);
    *around = (kj_span){line, close + 1};
    return s->text[close] == '}' ? (kj_span){run, end} : none;
}
