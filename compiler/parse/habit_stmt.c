/* Statements, lists and attributes of other languages: the text around a mistake in, hints and fixes out. */
#include <stdlib.h>

#include "knl.tab.h"
#include "lang/types.h"
#include "parse/habit.h"
#include "parse/mistake.h"

/* ---- new f32[10], new P(1) ---- */

bool kj_habit_new(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t type_end = kj_habit_type_end(p, at.begin), open = kj_skip_blanks(s, type_end);
    uint32_t close = type_end > at.begin && s->text[open] == '[' ? kj_closing(s, open) : 0;
    kj_span word = p->prev_span;
    if (!kj_is_word_at(s, word.begin, "new"))
        return false;
    const char *type = close ? kj_habit_read_type(p, at.begin).name : NULL;
    if (!type || close == open + 1) {
        kj_hint(p->diag, m, "a record is made by its name alone: P(1, 2)");
        kj_fix(p->diag, m, (kj_span){word.begin, at.begin}, "%s", "");
        return true;
    }
    const char *made = kj_is_item_of(s, word.begin, "run") ? "zeros" : "local.array";
    bool axes = memchr(s->text + open, ',', close - open) != NULL; /* new float[3, 4] of C# */
    kj_write(p->diag, m, (kj_span){word.begin, close + 1}, axes ? "%s((%s), %s)" : "%s(%s, %s)",
             made, kj_piece(p, open + 1, close), type);
    return true;
}

/* ---- raise, throw ---- */

bool kj_habit_raise(kj_parser *p)
{
    const kj_source *s = p->source;
    kj_span word = p->prev_span;
    bool first = p->prev == KJ_TK_NAME && word.begin == p->first_span.begin;
    if (!first || !(kj_is_word_at(s, word.begin, "raise") || kj_is_word_at(s, word.begin, "throw")))
        return false;
    uint32_t end = kj_statement_end(s, word.end, false), text = word.end;
    while (text < end && s->text[text] != '"')
        text++;
    uint32_t behind = text < end ? kj_behind_text(s, text) : end;
    const char *said = behind > text && behind <= end && s->text[behind - 1] == '"'
                           ? kj_piece(p, text, behind)
                           : "\"...\"";
    kj_message *m = kj_error(p->diag, word, KJ_RULE_SYNTAX, "there is no '%s': nothing is thrown",
                             kj_piece(p, word.begin, word.end));
    kj_hint(p->diag, m, "write assert(false, %s), which ends the %s", said,
            kj_is_item_of(s, word.begin, "run") ? "run" : "launch");
    kj_fix(p->diag, m, (kj_span){word.begin, end}, "assert(false, %s)", said);
    return true;
}

/* ---- [1, 2; 3, 4] of MATLAB and Julia ---- */

/* Its rows as lists; NULL where there is more in them than numbers and names. */
static const char *rows_of(kj_parser *p, uint32_t begin, uint32_t end)
{
    const char *text = p->source->text, *out = "[";
    enum { MOST = 1000 };
    bool row = false, item = false;
    if (end - begin > MOST)
        return NULL;
    for (uint32_t at = begin; at < end;) {
        uint32_t next = at + (uint32_t)strspn(text + at, "+-");
        while (next < end && (kj_is_word(text[next]) || text[next] == '.'))
            next++;
        if (next > at && (kj_is_word(text[next - 1]) || text[next - 1] == '.')) {
            out = kj_arena_printf(p->arena, "%s%s%s", out,
                                  !row   ? "["
                                  : item ? ", "
                                         : "",
                                  kj_piece(p, at, next));
            row = item = true;
            at = next;
            continue;
        }
        if (!strchr(" \t\r\n,;", text[at]))
            return NULL;
        if (text[at] == ';' && row) {
            out = kj_arena_printf(p->arena, "%s], ", out);
            row = item = false;
        }
        at++;
    }
    size_t n = strlen(out);
    return row     ? kj_arena_printf(p->arena, "%s]]", out)
           : n > 2 ? kj_arena_printf(p->arena, "%.*s]", (int)n - 2, out)
                   : NULL;
}

bool kj_habit_rows(kj_parser *p, kj_message *m)
{
    enum { SHOWN = 60 };
    const kj_bracket *open = p->nopen ? &p->open[p->nopen - 1] : NULL;
    const char *text = p->source->text;
    uint32_t begin = open ? open->span.end : 0, end = begin;
    if (!open || open->kind != '[' || open->behind == KJ_TK_NAME)
        return false;
    while (text[end] && !strchr("]{}\"#", text[end]))
        end++;
    if (text[end] != ']' || !memchr(text + begin, ';', end - begin))
        return false;
    const char *rows = rows_of(p, begin, end);
    bool shown = rows && strlen(rows) < SHOWN;
    kj_hint(p->diag, m,
            shown ? "rows are lists of their own: write %s"
                  : "rows are lists of their own, as in %s",
            shown ? rows : "[[1, 2], [3, 4]]");
    if (rows)
        kj_fix(p->diag, m, (kj_span){open->span.begin, end + 1}, "%s", rows);
    return true;
}

/* ---- .gt. and .and. of Fortran, which begins with the dot there ---- */

const char *kj_dotted_meant(const kj_source *s, uint32_t dot)
{
    static const char *const words[][2] = {
        {"gt", ">"},    {"lt", "<"},      {"ge", ">="},       {"le", "<="},   {"eq", "=="},
        {"ne", "!="},   {"and", "and"},   {"or", "or"},       {"not", "not"}, {"eqv", "=="},
        {"neqv", "!="}, {"true", "true"}, {"false", "false"},
    };
    uint32_t end = kj_word_end(s, dot + 1);
    char word[8] = "";
    if (s->text[dot] != '.' || s->text[end] != '.' || end - dot > sizeof word)
        return NULL;
    for (uint32_t i = dot + 1; i < end; i++)
        word[i - dot - 1] = kj_to_lower(s->text[i]);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i][0]) == 0)
            return words[i][1];
    return NULL;
}

bool kj_hint_dotted(kj_diag *diag, kj_message *m, uint32_t dot)
{
    const kj_source *s = diag->source;
    const char *meant = kj_dotted_meant(s, dot);
    if (!meant)
        return false;
    uint32_t end = kj_word_end(s, dot + 1);
    bool before = dot > 0 && (kj_is_word(s->text[dot - 1]) || strchr(")]", s->text[dot - 1]));
    bool behind = kj_is_word(s->text[end + 1]);
    kj_hint(diag, m, "write %s", meant);
    kj_fix(diag, m, (kj_span){dot, end + 1}, "%s%s%s", before ? " " : "", meant, behind ? " " : "");
    return true;
}

/* ---- @time of Julia ---- */

const char *kj_habit_timing(const char *attribute)
{
    static const char *const all[] = {"time",     "btime",  "elapsed",   "belapsed",
                                      "timed",    "timeit", "benchmark", "profile",
                                      "profview", "timer",  "CUDA",      "timev"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i], attribute) == 0)
            return "leave it out: kjit run --time tells how long each launch and copy takes; in a "
                   "run block elapsed(a, b) is between two events";
    return NULL;
}

bool kj_habit_closed_early(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t comma = p->before_prev_span.begin, close = comma;
    int depth = 0;
    for (const char *c = s->text + at.end; *c && !strchr("\r\n#", *c) && depth >= 0; c++)
        depth += (strchr("([", *c) != NULL) - (strchr(")]", *c) != NULL);
    while (close > 0 && kj_is_blank(s->text[close - 1]))
        close--;
    if (depth >= 0 || close == 0 || s->text[close - 1] != ')')
        return false;
    kj_hint(p->diag, m, "leave out the ')' before ',': it closes the call");
    kj_fix(p->diag, m, (kj_span){close - 1, close}, "%s", "");
    return true;
}

/* ---- k[grid=1, block=4], a[i=0]: what stands in brackets has no names ---- */

bool kj_habit_index_names(const kj_mistake *x, kj_message *m)
{
    static const char *const first[] = {"grid", "blocks", "griddim", "grid_dim", "gridDim"};
    static const char *const second[] = {"block", "threads", "blockdim", "block_dim", "blockDim"};
    kj_parser *p = x->p;
    const kj_bracket *open = p->nopen ? &p->open[p->nopen - 1] : NULL;
    uint32_t end = open && open->kind == '[' ? kj_closing(p->source, open->span.begin) : 0;
    if (!end || p->prev != KJ_TK_NAME)
        return false;
    const char *inside = kj_piece(p, open->span.end, end),
               *name = kj_mistake_source(p, p->prev_span);
    bool launch = false;
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        launch |= strcmp(name, first[i]) == 0 || strcmp(name, second[i]) == 0;
    if (strcmp(name, "stream") == 0) {
        kj_mistake_hint(x, m, "a launch in a stream is written k[blocks, threads, stream](x)");
        kj_fix(p->diag, m, (kj_span){p->prev_span.begin, x->at.end}, "%s", "");
        return true;
    }
    kj_mistake_hint(x, m,
                    launch ? "a launch is written k[blocks, threads](x)"
                           : "an index has no name: a[i]; '==' compares");
    for (size_t i = 0; launch && i < sizeof first / sizeof *first; i++) {
        const char *a = inside + strspn(inside, " "), *b = a;
        size_t n = strlen(first[i]), depth = 0;
        for (; *b && (*b != ',' || depth > 0); b++)
            depth += (*b == '(') - (size_t)(*b == ')');
        const char *value = b + (*b == ',');
        value += strspn(value, " ");
        size_t k = strlen(second[i]);
        if (*b && strncmp(a, first[i], n) == 0 && a[n] == '=' &&
            strncmp(value, second[i], k) == 0 && value[k] == '=' && !strchr(value + k + 1, '='))
            kj_fix(p->diag, m, (kj_span){open->span.end, end}, "%.*s, %s",
                   (int)(b - a - (long)n - 1), a + n + 1, value + k + 1);
    }
    return true;
}

uint32_t kj_before_else(const kj_source *s, uint32_t end)
{
    uint32_t next = kj_skip_blanks(s, end);
    if (s->text[next] != ';')
        return end;
    uint32_t line = kj_line_end(s, next + 1), word = line;
    word += (uint32_t)strspn(s->text + line, " \t\r\n");
    bool alone = kj_skip_blanks(s, next + 1) == line;
    return alone && (kj_is_word_at(s, word, "else") || kj_is_word_at(s, word, "elif")) ? next + 1
                                                                                       : end;
}

/* cudaMalloc(&d, n), hipMemcpy(&d, ...) */
bool kj_hint_memory(kj_parser *p, kj_message *m, uint32_t open, uint32_t pointer)
{
    uint32_t begin = kj_operand_start(p->source, open);
    const char *name = kj_piece(p, begin, open);
    if (strncmp(name, "cuda", 4) != 0 && strncmp(name, "hip", 3) != 0)
        return false;
    uint32_t end = kj_word_end(p->source, pointer);
    if (strstr(name, "Malloc"))
        kj_hint(p->diag, m,
                "let %s = zeros(n, f32) makes an array, device_array(n, f32) one on the device",
                end > pointer ? kj_piece(p, pointer, end) : "a");
    else
        kj_hint(p->diag, m, "launches copy arrays of the host by themselves, b[:] = a copies them");
    return true;
}

/* n, = a.shape of Python, which takes the only part out; also (n,) = a.shape. */
bool kj_habit_only_part(kj_parser *p, kj_message *m, uint32_t name)
{
    const kj_source *s = p->source;
    const char *text = s->text;
    uint32_t begin = name;
    bool bracketed = text[name] == '(';
    name = bracketed ? kj_skip_blanks(s, name + 1) : name;
    uint32_t end = kj_word_end(s, name), at = kj_skip_blanks(s, end);
    if (end == name || text[at] != ',')
        return false;
    at = kj_skip_blanks(s, at + 1);
    if (bracketed && text[at] != ')')
        return false;
    at = bracketed ? kj_skip_blanks(s, at + 1) : at;
    if (text[at] != '=' || text[at + 1] == '=')
        return false;
    at = kj_skip_blanks(s, at + 1);
    uint32_t stop = kj_statement_end(s, at, false);
    if (stop <= at)
        return false;
    bool plain = kj_operand_start(s, stop) == at;
    uint32_t first = kj_statement_start(s, begin);
    first += (uint32_t)strspn(text + first, " \t");
    const char *own = kj_piece(p, name, end);
    bool declares = first == begin && !kj_habit_is_known(p, own, begin);
    kj_write(p->diag, m, (kj_span){begin, stop}, plain ? "%s%s = %s[0]" : "%s%s = (%s)[0]",
             declares ? "let " : "", own, kj_piece(p, at, stop));
    return true;
}

bool kj_habit_only_part_at(const kj_mistake *x, kj_message *m)
{
    const kj_parser *p = x->p;
    if (kj_met(x, "=") && p->prev == KJ_TK_COMMA)
        return kj_habit_only_part(x->p, m, kj_operand_start(p->source, p->prev_span.begin));
    return kj_met(x, "(") && kj_habit_only_part(x->p, m, x->at.begin);
}
