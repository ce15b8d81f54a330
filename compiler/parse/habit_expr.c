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

uint32_t kj_operand_start(const kj_source *s, uint32_t end)
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

/* Is the text before `at` the end of an operand: i, x[i], f(x)? */
static bool behind_operand(const kj_source *s, uint32_t at)
{
    static const char *const others[] = {"return", "in",  "if", "elif", "else",
                                         "while",  "and", "or", "not"};
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

/* A cast's operand, with the signs before it. */
static uint32_t cast_operand_end(const kj_source *s, uint32_t begin)
{
    uint32_t at = begin;
    while (strchr("-+~", s->text[at]) && s->text[at])
        at = kj_skip_blanks(s, at + 1);
    uint32_t end = operand_end(s, at);
    return end > at ? end : begin;
}

/* (unsigned char)x */
bool kj_habit_cast_words(kj_parser *p, kj_message *m)
{
    const kj_source *s = p->source;
    const kj_bracket *open = p->nopen ? &p->open[p->nopen - 1] : NULL;
    uint32_t type_end;
    const char *type =
        open && open->kind == '(' ? kj_habit_cast_type(p, open->span.end, &type_end) : NULL;
    if (!type || s->text[type_end] != ')')
        return false;
    uint32_t begin = kj_skip_blanks(s, type_end + 1), end = cast_operand_end(s, begin);
    if (end <= begin)
        return false;
    kj_hint(p->diag, m, "conversions are written %s(%s)", type, kj_piece(p, begin, end));
    kj_fix(p->diag, m, (kj_span){open->span.begin, end}, "%s(%s)", type, kj_piece(p, begin, end));
    return true;
}

const char *kj_cast_meant(kj_arena *arena, const kj_source *s, kj_span name, kj_span *all)
{
    const char *word =
        kj_arena_printf(arena, "%.*s", (int)(name.end - name.begin), s->text + name.begin);
    const char *type = kj_habit_type_named(word);
    uint32_t begin = kj_skip_blanks(s, name.end + 1), end = 0;
    if (!type || name.begin == 0 || s->text[name.begin - 1] != '(' || s->text[name.end] != ')' ||
        !strchr("-+~", s->text[begin]) || behind_operand(s, name.begin - 1) ||
        (end = cast_operand_end(s, begin)) <= begin)
        return NULL;
    *all = (kj_span){name.begin - 1, end};
    return kj_arena_printf(arena, "%s(%.*s)", type, (int)(end - begin), s->text + begin);
}

bool kj_habit_as(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t type = kj_skip_blanks(s, at.end), end = kj_word_end(s, type);
    uint32_t begin = kj_operand_start(s, p->prev_span.end);
    const char *to = kj_habit_type_named(kj_piece(p, type, end));
    if (!to || begin == p->prev_span.end)
        return false;
    uint32_t sign = begin; /* as takes it along: (-x) as u8 */
    while (sign > 0 && kj_is_blank(s->text[sign - 1]))
        sign--;
    if (sign > 0 && strchr("-~", s->text[sign - 1]) && !behind_operand(p->source, sign - 1))
        begin = sign - 1;
    const char *text = kj_piece(p, begin, p->prev_span.end);
    kj_hint(p->diag, m, "conversions are written %s(%s)", to, text);
    kj_fix(p->diag, m, (kj_span){begin, end}, "%s(%s)", to, text);
    return true;
}

/* ---- Operators that are words ---- */

static bool stands_alone(const kj_source *s, uint32_t begin, uint32_t end)
{
    while (begin > 0 && kj_is_blank(s->text[begin - 1]))
        begin--;
    end = kj_skip_blanks(s, end);
    bool assigned = begin > 1 && s->text[begin - 1] == '=' && !strchr("=!<>", s->text[begin - 2]);
    return (assigned || (begin > 0 && strchr("(,[", s->text[begin - 1]))) &&
           strchr("),]}#;\n", s->text[end]);
}

bool kj_habit_operator(kj_parser *p, kj_span at)
{
    static const char *const words[][3] = {
        {"xor", "^", "an exclusive or is written a ^ b, of bools a != b"},
        {"mod", "%", "a remainder is written a % b, and has the sign of b"},
        {"rem", NULL, "fmod(x, y) has the sign of x; a % b that of b"},
        {"div", "//", "an integer quotient is written a // b, and rounded down"},
        {"shl", "<<", "a shift is written a << n"},
        {"shr", ">>", "a shift is written a >> n"},
    };
    const char *word = kj_piece(p, at.begin, at.end);
    const kj_source *s = p->source;
    uint32_t right = kj_skip_blanks(s, at.end);
    uint32_t begin = kj_operand_start(s, p->prev_span.end), end = operand_end(s, right);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i][0], word) != 0)
            continue;
        kj_message *m = kj_error(p->diag, at, KJ_RULE_SYNTAX, "there is no '%s'", word);
        kj_hint(p->diag, m, "%s", words[i][2]);
        /* what is more than two operands would be grouped in another way */
        if (words[i][1] && begin < p->prev_span.end && end > right && stands_alone(s, begin, end))
            kj_fix(p->diag, m, at, "%s", words[i][1]);
        return true;
    }
    return false;
}

/* n >>> 3, of Java and JavaScript: `at` from the first sign to the last. */
void kj_habit_shift(kj_parser *p, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t end = at.begin, right = kj_skip_blanks(s, at.end), stop = operand_end(s, right);
    while (end > 0 && kj_is_blank(s->text[end - 1]))
        end--;
    uint32_t begin = kj_operand_start(s, end);
    const char *what = begin < end && end - begin < 40 ? kj_piece(p, begin, end) : "a";
    if (*what == '(')
        what = kj_piece(p, begin + 1, end - 1);
    const char *by = stop > right && stop - right < 40 ? kj_piece(p, right, stop) : "n";
    kj_message *m =
        kj_error(p->diag, at, KJ_RULE_SYNTAX, "there is no '%s'", kj_piece(p, at.begin, at.end));
    kj_hint(p->diag, m,
            "'>>' shifts zeros into unsigned numbers: u32(%s) >> %s, of 64 bits u64(...)", what,
            by);
}

/* ---- Records ---- */

/* Is it a record that the file declares? */
static bool names_record(const kj_parser *p, kj_span name)
{
    const char *text = p->source->text,
               *head = kj_arena_printf(p->arena, "record %.*s", (int)(name.end - name.begin),
                                       text + name.begin);
    for (const char *at = strstr(text, head); at; at = strstr(at + 1, head))
        if (!kj_is_word(at[strlen(head)]) && (at == text || at[-1] == '\n'))
            return true;
    return false;
}

/* The fields of P{x: 1, y: 2}, P{.x = 1, .y = 2} or P{1, 2} as arguments; NULL: it is not written so, on one line, or
 * they are many. */
static const char *as_arguments(kj_parser *p, uint32_t begin, uint32_t end, bool unnamed)
{
    enum { MOST = 64 };
    const char *out = "", *text = p->source->text;
    for (int n = 0; begin < end; n++) {
        if (n == MOST)
            return NULL;
        uint32_t first = kj_skip_blanks(p->source, begin), name = first + (text[first] == '.'), at;
        uint32_t name_end = kj_word_end(p->source, name),
                 sign = kj_skip_blanks(p->source, name_end);
        bool named = name_end > name && (name > first ? text[sign] == '=' : text[name_end] == ':');
        if (!named && (name > first || !unnamed))
            return NULL;
        uint32_t value = named ? kj_skip_blanks(p->source, sign + 1) : first;
        int depth = 0;
        for (at = value; at < end && (depth > 0 || text[at] != ','); at++) {
            depth += strchr("([{", text[at]) != NULL;
            depth -= strchr(")]}", text[at]) != NULL;
        }
        uint32_t last = at;
        while (last > value && kj_is_blank(text[last - 1]))
            last--;
        out = kj_arena_printf(p->arena, "%s%s%s%s%s", out, *out ? ", " : "",
                              named ? kj_piece(p, name, name_end) : "", named ? "=" : "",
                              kj_piece(p, value, last));
        begin = at + 1;
    }
    return out;
}

bool kj_habit_record(kj_parser *p, kj_message *m, kj_span at)
{
    kj_span before = p->prev_span; /* type P = struct { x: f32 } */
    if (p->first == KJ_TK_TYPE && (kj_is_word_at(p->source, before.begin, "struct") ||
                                   kj_is_word_at(p->source, before.begin, "class"))) {
        uint32_t name = kj_skip_blanks(p->source, p->first_span.end);
        const char *own = kj_piece(p, name, kj_word_end(p->source, name));
        kj_hint(p->diag, m, "records are written record %s { x: f32, y: f32 }", own);
        kj_fix(p->diag, m, (kj_span){p->first_span.begin, at.begin}, "record %s ", own);
        kj_layout_skip_block(p);
        return true;
    }
    bool typed = p->prev == KJ_TK_ASSIGN; /* let a: P = {1, 2} */
    kj_span name = typed ? p->before_prev_span : before;
    uint32_t close = p->source->text[at.begin] == '{' ? kj_closing(p->source, at.begin) : 0;
    bool is_record = close && names_record(p, name);
    if (!close || (typed && !is_record))
        return false;
    const char *fields = as_arguments(p, at.begin + 1, close, is_record);
    if (!fields || !*fields)
        return false;
    kj_write(p->diag, m, (kj_span){typed ? at.begin : name.begin, close + 1}, "%s(%s)",
             kj_piece(p, name.begin, name.end), fields);
    kj_layout_skip_block(p);
    return true;
}

/* ---- Expressions ---- */

/* q == !p, n & !m: what stands there binds closer than a not. */
static bool is_right_operand(const kj_source *s, uint32_t at)
{
    while (at > 0 && kj_is_blank(s->text[at - 1]))
        at--;
    char last = at > 0 ? s->text[at - 1] : '\n', before = at > 1 ? s->text[at - 2] : '\n';
    if (last == '=')
        return strchr("=!<>", before) != NULL;
    return strchr("&|^<>+-*/%", last) && !(strchr("&|", last) && before == last);
}

bool kj_not_is_joined(const kj_source *s, kj_span at)
{
    const char *next = s->text + kj_skip_blanks(s, at.end);
    bool joined = *next && strchr("&|^=!<>+-*/%", *next) && strncmp(next, "&&", 2) != 0 &&
                  strncmp(next, "||", 2) != 0;
    return joined || is_right_operand(s, at.begin);
}

/* !a & b: C's ! takes a alone, not takes what follows it up to `and`. */
void kj_habit_not(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t begin = kj_skip_blanks(s, at.end), end = operand_end(s, begin);
    while (end > begin && kj_is_blank(s->text[end - 1]))
        end--;
    bool before = at.begin > 0 && kj_is_word(s->text[at.begin - 1]);
    if (end > begin && kj_not_is_joined(s, (kj_span){at.begin, end}))
        kj_fix(p->diag, m, (kj_span){at.begin, end}, "%s(not %s)", before ? " " : "",
               kj_piece(p, begin, end));
    else
        kj_fix(p->diag, m, at, "%snot%s", before ? " " : "",
               kj_is_blank(s->text[at.end]) ? "" : " ");
}

/* a & not b */
void kj_habit_not_operand(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t begin = kj_skip_blanks(s, at.end), end = operand_end(s, begin);
    while (end > begin && kj_is_blank(s->text[end - 1]))
        end--;
    if (end > begin && !is_right_operand(s, at.begin))
        return;
    const char *next = s->text + kj_skip_blanks(s, end);
    if (end > begin && !(*next && strchr("=!<>+-*/%", *next)))
        kj_write(p->diag, m, (kj_span){at.begin, end}, "(not %s)", kj_piece(p, begin, end));
    else
        kj_hint(p->diag, m, "behind an operator it stands in parentheses: (not a)");
}

/* Of x[i][j] the index "i, j", and where the last bracket ends; NULL: there is none. */
static const char *address_index(kj_parser *p, uint32_t bracket, uint32_t *end)
{
    const kj_source *s = p->source;
    const char *index = NULL;
    while (s->text[bracket] == '[') {
        uint32_t close = kj_closing(s, bracket);
        if (!close || close == bracket + 1)
            return NULL;
        const char *one = kj_piece(p, bracket + 1, close);
        index = index ? kj_arena_printf(p->arena, "%s, %s", index, one) : one;
        *end = bracket = close + 1;
    }
    return index;
}

/* sincosf(x, &s, &c) */
static bool hint_results(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t open = at.begin, begin;
    for (int depth = 0; open > 0 && s->text[open - 1] != '\n'; open--) {
        depth += s->text[open - 1] == ')';
        if (s->text[open - 1] == '(' && depth-- == 0)
            break;
    }
    begin = open > 0 ? kj_operand_start(s, open - 1) : open;
    uint32_t close = open > 0 ? kj_closing(s, open - 1) : 0, first = kj_word_end(s, at.end),
             second = kj_skip_blanks(s, first + 1);
    const char *name = kj_piece(p, begin, open > begin ? open - 1 : begin);
    const char *own = strcmp(name, "sincos") == 0 || strcmp(name, "sincosf") == 0 ||
                              strcmp(name, "__sincosf") == 0
                          ? "sincos"
                      : strncmp(name, "sincospi", 8) == 0 ? "sincospi"
                                                          : NULL;
    if (!close || !own || first == at.end || s->text[first] != ',' || s->text[second] != '&' ||
        kj_word_end(s, second + 1) != close) {
        kj_hint(p->diag, m,
                "there are no addresses: an array is passed as it is, and a function gives back "
                "what is new, return a, b");
        return close > 0;
    }
    uint32_t angle = at.begin;
    while (kj_is_blank(s->text[angle - 1]) || s->text[angle - 1] == ',')
        angle--;
    kj_write(p->diag, m, (kj_span){begin, close + 1}, "%s, %s = %s(%s)", kj_piece(p, at.end, first),
             kj_piece(p, second + 1, close), own, kj_piece(p, open, angle));
    return true;
}

/* load("a.npy", f32[,]), zeros(n, f32[]): the type of an array where a value stands. */
bool kj_habit_array_type(kj_parser *p, kj_message *m, kj_span at)
{
    const char *text = p->source->text;
    uint32_t open = at.begin;
    while (open > 0 && kj_is_blank(text[open - 1]))
        open--;
    if (open < 2 || text[open - 1] != '[')
        return false;
    uint32_t begin = kj_operand_start(p->source, open - 1);
    const char *name = kj_piece(p, begin, open - 1);
    if (begin + 1 >= open || kj_type_named(name) == KJ_VOID)
        return false;
    kj_hint(p->diag, m, "the type of an array stands in a declaration, let a: %s[,] = ...; here %s",
            name, name);
    return true;
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
    if (open > 0 && s->text[open - 1] == ',')
        return hint_results(p, m, at);
    if (open > 0 && s->text[open - 1] == '(' && kj_hint_memory(p, m, open - 1, at.end))
        return true;
    bool assigned = open > 1 && s->text[open - 1] == '=' && !strchr("=!<>", s->text[open - 2]);
    if (open == 0 || (s->text[open - 1] != '(' && !assigned))
        return false;
    uint32_t begin = assigned ? open - 1 : kj_operand_start(s, open - 1), array = at.end,
             bracket = array;
    while (kj_is_word(s->text[bracket]) || s->text[bracket] == '.')
        bracket++;
    uint32_t close = bracket, field;
    const char *index = address_index(p, bracket, &close), *known = NULL;
    if (!index && strncmp(s->text + close, "->", 2) == 0) { /* &p->n */
        index = "0";
        field = close + 2;
    } else
        field = close + (index && s->text[close] == '.');
    if (bracket == array || (assigned && !index))
        return false;
    const char *name = kj_piece(p, begin, open - 1), *of = kj_piece(p, array, bracket);
    if (strcmp(name, "__ldg") == 0 && index && s->text[close] == ')') {
        kj_hint(p->diag, m,
                "there are no addresses: write %s[%s], arrays that are only read are cached so", of,
                index);
        kj_fix(p->diag, m, (kj_span){begin, close + 1}, "%s[%s]", of, index);
        return true;
    }
    if (strncmp(name, "curand", 6) == 0) {
        kj_hint(p->diag, m, "random numbers have no state: random.%s(seed, i)",
                strstr(name, "normal") ? "normal" : "uniform");
        return true;
    }
    if (strncmp(name, "atomic.", 7) == 0)
        known = name + 7;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len = strlen(names[i][0]);
        if (strncmp(names[i][0], name, len) == 0 &&
            (!name[len] || strcmp(name + len, "_block") == 0 || strcmp(name + len, "_system") == 0))
            known = names[i][1];
    }
    if (known && field > close && kj_word_end(s, field) > field) { /* the field's array is p.n */
        close = kj_word_end(s, field);
        of = kj_arena_printf(p->arena, "%s.%s", of, kj_piece(p, field, close));
    }
    if (!known && index) {
        kj_hint(p->diag, m, "there are no addresses: what begins there is a view, %s[%s:]", of,
                index);
        kj_fix(p->diag, m, (kj_span){at.begin, close}, "%s[%s:]", of, index);
        return true;
    }
    if (!known) {
        kj_hint(p->diag, m,
                "there are no addresses: an array is passed as it is, and a function gives back "
                "what is new, "
                "return a, b");
        return true;
    }
    if (!index)
        return false;
    bool several = strchr(index, ',') != NULL;
    const char *open_index = several ? "(" : "", *close_index = several ? ")" : "";
    kj_hint(p->diag, m,
            "there are no addresses: atomics take array and index, atomic.%s(%s, %s%s%s, ...)",
            known, of, open_index, index, close_index);
    kj_fix(p->diag, m, (kj_span){begin, close}, "atomic.%s(%s, %s%s%s", known, of, open_index,
           index, close_index);
    return true;
}

/* Is the statement that begins there all that its line has, and no header, so that another line may be beside it? One
 * that computes only some of its parts has no such place: what is beside it is always done. */
static bool is_simple_line(const kj_source *s, uint32_t begin, uint32_t end)
{
    static const char *const words[] = {"if",  "elif",   "else", "while",
                                        "for", "return", "and",  "or"};
    int depth = 0;
    for (uint32_t i = begin; i < end && depth >= 0; i++) {
        if (strchr("{};#?\"", s->text[i]))
            return false;
        bool starts = kj_is_word(s->text[i]) && (i == begin || !kj_is_word(s->text[i - 1]));
        for (size_t w = 0; starts && w < sizeof words / sizeof *words; w++)
            if (kj_is_word_at(s, i, words[w]))
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
    if (!is_simple_line(s, begin, end) || kj_is_used_beside(s, (kj_span){begin, end}, target)) {
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

static bool ends_statement(const kj_source *s, uint32_t at)
{
    return strchr("\r\n#;}", s->text[kj_skip_blanks(s, at)]) != NULL;
}

/* i++ and --i; a--b is a - -b. */
void kj_habit_step(kj_parser *p, kj_span at)
{
    const kj_source *s = p->source;
    char op = s->text[at.begin];
    bool operand = behind_operand(p->source, at.begin);
    bool follows = kj_is_word(s->text[at.end]) || s->text[at.end] == '(';
    kj_span target = operand ? (kj_span){kj_operand_start(s, at.begin), at.begin}
                             : (kj_span){at.end, operand_end(s, at.end)};
    while (target.end > target.begin && kj_is_blank(s->text[target.end - 1]))
        target.end--;
    kj_message *m = kj_error(p->diag, at, KJ_RULE_SYNTAX, "there is no '%c%c'", op, op);
    if (!kj_is_shown(p->diag, m))
        return;
    char first = s->text[target.begin];
    uint32_t next = kj_skip_blanks(s, at.end);
    bool comment = operand && op == '-' && at.begin > 0 && kj_is_blank(s->text[at.begin - 1]) &&
                   next > at.end && kj_is_letter(s->text[next]);
    if (comment && !kj_habit_is_known(p, kj_piece(p, next, kj_word_end(s, next)), at.begin)) {
        kj_hint(p->diag, m, "a comment begins with #");
        kj_fix(p->diag, m, at, "#");
        return;
    }
    if ((operand && follows) || target.begin == target.end || strchr("0123456789(.\"", first)) {
        kj_hint(p->diag, m, "two signs stand apart: %c %c", op, op);
        kj_fix(p->diag, m, at, "%c %c", op, op);
        return;
    }
    uint32_t begin = kj_skip_blanks(s, kj_statement_start(s, at.begin));
    bool alone = operand ? target.begin == begin && ends_statement(s, at.end)
                         : at.begin == begin && ends_statement(s, target.end);
    if (alone)
        kj_write(p->diag, m, (kj_span){begin, operand ? at.end : target.end}, "%s %c= 1",
                 kj_piece(p, target.begin, target.end), op);
    else
        hint_step_within(p, m, at, target, !operand);
}

/* m(0, 0) = 1 of Fortran, Julia and Matlab: [] in place of (). */
void kj_habit_element(kj_parser *p, kj_message *m, const kj_expr *call)
{
    const kj_source *s = p->source;
    uint32_t open = call->u.call.callee->span.end;
    const char *name = kj_piece(p, call->u.call.callee->span.begin, open);
    if (strstr(s->text, kj_arena_printf(p->arena, "fn %s(", name)))
        return;
    if (!call->u.call.args || s->text[open] != '(' || s->text[call->span.end - 1] != ')')
        return;
    kj_write(p->diag, m, call->span, "%s[%s]", kj_piece(p, call->u.call.callee->span.begin, open),
             kj_piece(p, open + 1, call->span.end - 1));
}

/* var a, b: i32 = 0, 1: a statement for each. */
void kj_habit_typed_names(kj_parser *p, kj_message *m, const kj_stmt *stmt)
{
    const kj_expr *init = stmt->u.let.init;
    const kj_expr *value = init && init->kind == KJ_E_TUPLE ? init->u.list.items : init;
    const char *word = kj_is_word_at(p->source, stmt->span.begin, "var") ? "var" : "let",
               *text = "";
    const char *type = kj_piece(p, stmt->u.let.type->span.begin, stmt->u.let.type->span.end);
    for (const kj_name *name = stmt->u.let.names; name; name = name->next) {
        if (!value)
            return;
        text = kj_arena_printf(p->arena, "%s%s%s %s: %s = %s", text, *text ? "; " : "", word,
                               name->name, type, kj_piece(p, value->span.begin, value->span.end));
        value = value == init ? value : value->next; /* one for all stands for each */
    }
    bool one = init->kind == KJ_E_INT || init->kind == KJ_E_FLOAT || init->kind == KJ_E_BOOL;
    if (!value || (value == init && one))
        kj_write(p->diag, m, (kj_span){stmt->span.begin, init->span.end}, "%s", text);
}
