/* Expressions as C, CUDA, Python and Rust write them, and what they are here: the source around a syntax error in, a hint and
 * a fix out, as in habit.c. */
#include <string.h>

#include "knl.tab.h"
#include "parse/habit.h"

/* ---- Conversions ---- */

/* The end of what a conversion before it would take: a name or number with its members, indices and
 * arguments; `begin` where that is not on the line. */
static uint32_t operand_end(const kj_source *source, uint32_t begin)
{
    int depth = 0;
    uint32_t at = begin;
    for (; at < source->size; at++) {
        char c = source->text[at];
        depth += c == '(' || c == '[';
        depth -= c == ')' || c == ']';
        if (depth < 0 || (depth == 0 && !kj_is_word(c) && c != '.' && c != ')' && c != ']'))
            break;
        if (c == '\n' || c == '\0')
            return begin;
    }
    return depth > 0 ? begin : at;
}

/* And the beginning of what ends there: x[i], f(x).y. */
static uint32_t operand_start(const kj_source *s, uint32_t end)
{
    int depth = 0;
    uint32_t at = end;
    for (; at > 0 && s->text[at - 1] != '\n'; at--) {
        char c = s->text[at - 1];
        depth += c == ')' || c == ']';
        depth -= c == '(' || c == '[';
        if (depth < 0 || (depth == 0 && !kj_is_word(c) && !strchr(".([", c)))
            break;
    }
    return depth > 0 ? end : at;
}

bool kj_habit_cast(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *source = p->source;
    if (p->prev != KJ_TK_RPAREN || !kj_is_word(source->text[at.begin]))
        return false;
    kj_span word = {0, p->prev_span.begin};
    while (word.end > 0 && kj_is_blank(source->text[word.end - 1]))
        word.end--;
    for (word.begin = word.end; word.begin > 0 && kj_is_word(source->text[word.begin - 1]);)
        word.begin--;
    uint32_t open = word.begin;
    while (open > 0 && kj_is_blank(source->text[open - 1]))
        open--;
    const char *type = kj_habit_type_named(kj_piece(p, word.begin, word.end));
    if (!type || open == 0 || source->text[open - 1] != '(')
        return false;
    enum { MOST = 40 };
    kj_span taken = {at.begin, operand_end(source, at.begin)};
    bool shown = taken.end > taken.begin && taken.end - taken.begin <= MOST;
    const char *text = shown ? kj_piece(p, taken.begin, taken.end) : "...";
    kj_hint(p->diag, m, "conversions are written %s(%s)", type, text);
    kj_fix(p->diag, m, (kj_span){open - 1, taken.end}, "%s(%s)", type, text);
    return true;
}

bool kj_habit_as(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t type = kj_skip_blanks(s, at.end), end = kj_word_end(s, type);
    uint32_t begin = operand_start(s, p->prev_span.end);
    const char *to = kj_habit_type_named(kj_piece(p, type, end));
    if (!to || begin == p->prev_span.end)
        return false;
    const char *text = kj_piece(p, begin, p->prev_span.end);
    kj_hint(p->diag, m, "conversions are written %s(%s)", to, text);
    kj_fix(p->diag, m, (kj_span){begin, end}, "%s(%s)", to, text);
    return true;
}

/* ---- Expressions ---- */

void kj_habit_range(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    bool to = s->text[at.end - 1] == '='; /* 0..=n */
    uint32_t end = operand_end(s, at.end), first = at.begin;
    while (s->text[first] != '.')
        first++;
    if (end > at.end)
        kj_write(p->diag, m, (kj_span){at.begin, end}, "range(%s, %s%s)",
                 kj_piece(p, at.begin, first), kj_piece(p, at.end, end), to ? " + 1" : "");
}

/* a ? b : c */
void kj_habit_ternary(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    int depth = 0;
    uint32_t begin = at.begin, end = at.end, colon = 0;
    for (; begin > 0 && s->text[begin - 1] != '\n'; begin--) {
        char c = s->text[begin - 1], before = begin > 1 ? s->text[begin - 2] : '\n';
        bool assigns = c == '=' && s->text[begin] != '=' && !strchr("=<>!", before);
        depth += c == ')' || c == ']';
        depth -= c == '(' || c == '[';
        if (depth < 0 || (depth == 0 && (c == ',' || assigns)))
            break;
    }
    begin = kj_skip_blanks(s, begin);
    if (kj_is_word_at(s, begin, "return"))
        begin = kj_skip_blanks(s, begin + 6);
    for (depth = 0; s->text[end] && !strchr("\n;,#?", s->text[end]) && depth >= 0; end++) {
        char c = s->text[end];
        depth += c == '(' || c == '[';
        depth -= c == ')' || c == ']';
        if (c == ':' && depth == 0 && !colon)
            colon = end;
        if (depth < 0)
            break;
    }
    while (end > at.end && kj_is_blank(s->text[end - 1]))
        end--;
    uint32_t test = at.begin, yes = kj_skip_blanks(s, at.end), yes_end = colon;
    while (test > begin && kj_is_blank(s->text[test - 1]))
        test--;
    while (yes_end > yes && kj_is_blank(s->text[yes_end - 1]))
        yes_end--;
    if (!colon || test == begin || yes_end <= yes || s->text[end] == '?' || end <= colon + 1)
        return;
    uint32_t no = kj_skip_blanks(s, colon + 1);
    kj_fix(p->diag, m, (kj_span){begin, end}, "%s if %s else %s", kj_piece(p, yes, yes_end),
           kj_piece(p, begin, test), kj_piece(p, no, end));
}

/* atomicAdd(&x[i] */
bool kj_habit_address(kj_parser *p, kj_message *m, kj_span at)
{
    static const char *const names[][2] = {
        {"atomicAdd", "add"},  {"atomicSub", "sub"},   {"atomicMin", "min"}, {"atomicMax", "max"},
        {"atomicAnd", "and_"}, {"atomicOr", "or_"},    {"atomicXor", "xor"}, {"atomicInc", "inc"},
        {"atomicDec", "dec"},  {"atomicExch", "exch"}, {"atomicCAS", "cas"},
    };
    const kj_source *s = p->source;
    uint32_t open = at.begin;
    while (open > 0 && kj_is_blank(s->text[open - 1]))
        open--;
    if (open == 0 || s->text[open - 1] != '(')
        return false;
    uint32_t begin = operand_start(s, open - 1), array = at.end, bracket = array;
    while (kj_is_word(s->text[bracket]) || s->text[bracket] == '.')
        bracket++;
    uint32_t close = s->text[bracket] == '[' ? kj_closing(s, bracket) : 0;
    if (!close || bracket == array)
        return false;
    const char *name = kj_piece(p, begin, open - 1), *known = NULL;
    if (strncmp(name, "atomic.", 7) == 0)
        known = name + 7;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], name) == 0)
            known = names[i][1];
    if (!known)
        return false;
    const char *index = kj_piece(p, bracket + 1, close);
    bool several = strchr(index, ',') != NULL;
    kj_hint(p->diag, m,
            "there are no addresses: atomics take array and index, atomic.%s(%s, %s%s%s, ...)",
            known, kj_piece(p, array, bracket), several ? "(" : "", index, several ? ")" : "");
    kj_fix(p->diag, m, (kj_span){begin, close + 1}, "atomic.%s(%s, %s%s%s", known,
           kj_piece(p, array, bracket), several ? "(" : "", index, several ? ")" : "");
    return true;
}

/* *x = 1 */
bool kj_habit_dereference(kj_parser *p, kj_message *m, kj_span at)
{
    uint32_t end = kj_word_end(p->source, at.end);
    if (end == at.end)
        return false;
    kj_hint(p->diag, m, "there are no pointers: the first element is %s[0]",
            kj_piece(p, at.end, end));
    kj_fix(p->diag, m, (kj_span){at.begin, end}, "%s[0]", kj_piece(p, at.end, end));
    return true;
}

/* Is the text before `at` the end of an operand: i, x[i], f(x)? */
static bool behind_operand(kj_parser *p, uint32_t at)
{
    static const char *const others[] = {"return", "in",  "if", "elif", "else",
                                         "while",  "and", "or", "not"};
    const kj_source *s = p->source;
    while (at > 0 && kj_is_blank(s->text[at - 1]))
        at--;
    if (at == 0 || !(kj_is_word(s->text[at - 1]) || strchr(")]\"", s->text[at - 1])))
        return false;
    uint32_t word = at;
    while (word > 0 && kj_is_word(s->text[word - 1]))
        word--;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (kj_is_word_at(s, word, others[i]))
            return false;
    return true;
}

/* Is the statement that begins there all that its line has, and no header, so that another line may be beside it? */
static bool is_simple_line(const kj_source *s, uint32_t begin, uint32_t end)
{
    static const char *const words[] = {"if", "elif", "else", "while", "for", "return"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (kj_is_word_at(s, begin, words[i]))
            return false;
    int depth = 0;
    for (uint32_t i = begin; i < end && depth >= 0; i++) {
        if (strchr("{};#\"", s->text[i]))
            return false;
        depth += strchr("([", s->text[i]) ? 1 : strchr(")]", s->text[i]) ? -1 : 0;
    }
    return depth == 0;
}

/* Of x[i++] = 1: what stands for the line is two. */
static void hint_step_within(kj_parser *p, kj_message *m, kj_span at, kj_span target, bool in_front)
{
    const kj_source *s = p->source;
    uint32_t line = kj_line_start(s, at.begin), begin = kj_skip_blanks(s, line),
             end = kj_code_end(s, at.begin);
    const char *step = kj_arena_printf(p->arena, "%s %c= 1", kj_piece(p, target.begin, target.end),
                                       s->text[at.begin]);
    if (!is_simple_line(s, begin, end)) {
        kj_hint(p->diag, m, "write %s in a statement of its own", step);
        return;
    }
    kj_hint(p->diag, m, "write %s in a statement of its own, %s this one", step,
            in_front ? "before" : "behind");
    const char *rest =
        kj_arena_printf(p->arena, "%s%s", kj_piece(p, begin, at.begin), kj_piece(p, at.end, end));
    const char *first = in_front ? step : rest, *second = in_front ? rest : step;
    kj_fix(p->diag, m, (kj_span){begin, end}, "%s\n%s%s", first, kj_piece(p, line, begin), second);
}

/* i++ and --i; a--b is a - -b. */
void kj_habit_step(kj_parser *p, kj_span at)
{
    const kj_source *s = p->source;
    char op = s->text[at.begin];
    bool operand = behind_operand(p, at.begin);
    bool follows = kj_is_word(s->text[at.end]) || s->text[at.end] == '(';
    kj_span target = operand ? (kj_span){operand_start(s, at.begin), at.begin}
                             : (kj_span){at.end, operand_end(s, at.end)};
    while (target.end > target.begin && kj_is_blank(s->text[target.end - 1]))
        target.end--;
    kj_message *m = kj_error(p->diag, at, KJ_RULE_SYNTAX, "there is no '%c%c'", op, op);
    if (!kj_is_shown(p->diag, m))
        return;
    char first = s->text[target.begin];
    if ((operand && follows) || target.begin == target.end || strchr("0123456789(.\"", first)) {
        kj_hint(p->diag, m, "two signs stand apart: %c %c", op, op);
        kj_fix(p->diag, m, at, "%c %c", op, op);
        return;
    }
    uint32_t begin = kj_skip_blanks(s, kj_line_start(s, at.begin));
    bool alone = operand ? target.begin == begin && kj_code_end(s, at.end) <= at.end
                         : at.begin == begin && kj_code_end(s, target.end) <= target.end;
    if (alone)
        kj_write(p->diag, m, (kj_span){begin, operand ? at.end : target.end}, "%s %c= 1",
                 kj_piece(p, target.begin, target.end), op);
    else
        hint_step_within(p, m, at, target, !operand);
}
