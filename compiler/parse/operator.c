/* What is wrong behind a complete expression, where an operator, what closes a list, a block or the
 * end of the statement could stand. */
#include <stdlib.h>
#include <string.h>

#include "knl.tab.h"
#include "lang/types.h"
#include "parse/habit.h"
#include "parse/mistake.h"

#define NO_PATHS "there are no paths: write sqrt(x), max(x, y)"

/* std::cout << x, std::vector<float> v(n), Vec::new(): what is no function here by another name. */
static const char *hint_for_path(const kj_mistake *x)
{
    const kj_source *s = x->p->source;
    uint32_t name = x->at.end + 1;
    if (kj_is_word_at(s, name, "cout") || kj_is_word_at(s, name, "cerr"))
        return "print takes texts and values: print(\"x is\", x)";
    if (kj_is_word_at(s, name, "vector") ||
        (strcmp(kj_mistake_source(x->p, x->p->prev_span), "Vec") == 0 &&
         (kj_is_word_at(s, name, "new") || kj_is_word_at(s, name, "with_capacity"))))
        return "arrays of a run block are zeros(8, f32), lists [1, 2, 3]; of a kernel "
               "local.array(8, f32)";
    return NO_PATHS;
}

/* What other languages have behind an expression; NULL: nothing that is known. */
static const char *hint_for_operator(const kj_mistake *x)
{
    const kj_parser *p = x->p;
    if (kj_met(x, "in"))
        return "there is no 'in' of values: write x == a or x == b";
    if (kj_met(x, "for") && p->prev == KJ_TK_RBRACKET && p->first == KJ_TK_LBRACKET)
        return "attributes are written @unroll for i in range(4) { ... }";
    if (kj_met(x, "for"))
        return NO_COMPREHENSIONS;
    if (kj_met(x, "as"))
        return "conversions are written f64(x)";
    if (kj_met(x, "->"))
        return "a member is written p.x";
    if (kj_met(x, "not"))
        return "there is no 'in' of values: write x != a and x != b";
    if (kj_met(x, ":") && x->p->source->text[x->at.end] == '=')
        return "an assignment is a statement, before the one that needs its value";
    if (kj_met(x, ":") && x->p->source->text[x->at.end] == ':')
        return hint_for_path(x);
    if (kj_met(x, "string") && p->prev == KJ_TK_NAME && p->prev_span.end == x->at.begin &&
        !kj_follows_call(x))
        return "strings have no prefix: print takes texts and values, print(\"x is\", x)";
    if (kj_met(x, "string") && p->prev == KJ_TK_STRING && p->prev_span.end == x->at.begin)
        return "a comment begins with #";
    if (kj_is_word_at(x->p->source, x->at.begin, "is"))
        return "'==' and '!=' compare, and isnan(x) finds a nan";
    return NULL;
}

/* `is` and `is not` */
static void fix_is(const kj_mistake *x, kj_message *m)
{
    const char *next = x->p->source->text + x->at.end;
    size_t blanks = strspn(next, " ");
    bool not = strncmp(next + blanks, "not ", 4) == 0;
    if (kj_habit_is_nan(x->p, m, x->at, not ))
        return;
    if (strncmp(next + blanks + (not ? 4 : 0), "None", 4) == 0)
        kj_mistake_hint(x, m, "there is no None: what a kernel is given is there");
    else
        kj_fix(x->p->diag, m, (kj_span){x->at.begin, x->at.end + (not ? (uint32_t)blanks + 3 : 0)},
               not ? "!=" : "==");
}

/* u32::MAX, f32::EPSILON of Rust: what it is here; NULL: none. */
static const char *limit_of(kj_parser *p, const char *type, const char *name)
{
    static const char *const floats[][4] = {
        {"MAX", "3.4028235e38", "1.7976931348623157e308", "65504"},
        {"MIN", "-3.4028235e38", "-1.7976931348623157e308", "-65504"},
        {"EPSILON", "1.1920929e-07", "2.220446049250313e-16", "0.0009765625"},
        {"MIN_POSITIVE", "1.1754944e-38", "2.2250738585072014e-308", "6.103515625e-05"},
        {"INFINITY", "inf", "inf", "inf"},
        {"NEG_INFINITY", "-inf", "-inf", "-inf"},
        {"NAN", "nan", "nan", "nan"},
    };
    static const char *const types[] = {"f32", "f64", "f16"};
    bool is_unsigned = *type == 'u', most = strcmp(name, "MAX") == 0;
    int bits = kj_is_digit(type[1]) ? (int)strtol(type + 1, NULL, 10) : 0;
    if ((is_unsigned || *type == 'i') && bits > 0 && bits <= 64) {
        uint64_t all = UINT64_MAX >> (64 - bits);
        if (!most && strcmp(name, "MIN") != 0)
            return NULL;
        if (!most && !is_unsigned) /* no literal is that low */
            return kj_arena_printf(p->arena, "%s(-%llu - 1)", type, (unsigned long long)(all >> 1));
        return kj_arena_printf(p->arena, "%s(%llu)", type,
                               !most ? 0ull : (unsigned long long)(is_unsigned ? all : all >> 1));
    }
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t i = 0; strcmp(type, types[t]) == 0 && i < sizeof floats / sizeof *floats; i++)
            if (strcmp(name, floats[i][0]) == 0)
                return kj_arena_printf(p->arena, "%s(%s)", type, floats[i][t + 1]);
    return NULL;
}

/* Color::RED, std::max: of a name of the file it is a member, others are left out. */
void kj_mistake_paths(const kj_mistake *x, kj_message *m)
{
    kj_parser *p = x->p;
    kj_span name = p->prev_span, colons = {x->at.begin, x->at.end + 1};
    bool own = kj_mistake_is_declared(x, name);
    const char *type = kj_mistake_source(p, name);
    uint32_t end = kj_word_end(p->source, colons.end);
    if (kj_type_named(type) != KJ_VOID && p->source->text[end] != '(' &&
        p->source->text[end] != ':') {
        const char *limit = limit_of(p, type, kj_piece(p, colons.end, end));
        if (limit) /* else u32::MAX would be max */
            kj_write(p->diag, m, (kj_span){name.begin, end}, "%s", limit);
        return;
    }
    if (own)
        kj_hint(p->diag, m, "a member is written %s.%s", kj_mistake_source(p, name),
                end > colons.end ? kj_piece(p, colons.end, end) : "x");
    else if (!m->hint)
        kj_mistake_hint(x, m, hint_for_path(x));
    if (!own && strcmp(m->hint ? m->hint : "", NO_PATHS) != 0)
        return; /* nothing of that name */
    uint32_t open = kj_skip_blanks(p->source, end), close = open;
    if (!own && open > end && kj_is_word(p->source->text[open]))
        return; /* cg::thread_block block */
    if (p->source->text[open] == '<')
        close += 1 + (uint32_t)strspn(p->source->text + open + 1,
                                      "abcdefghijklmnopqrstuvwxyz_0123456789 ");
    if (!own && close > open && p->source->text[close] == '>') /* std::max<float>(x, y) */
        kj_fix(p->diag, m, (kj_span){name.begin, close + 1}, "%s", kj_piece(p, colons.end, end));
    else
        kj_fix(p->diag, m, own ? colons : (kj_span){name.begin, colons.end}, "%s", own ? "." : "");
}

/* The fixes that go with it. */
static void fix_operator(const kj_mistake *x, kj_message *m)
{
    kj_parser *p = x->p;
    const char *next = p->source->text + x->at.end;
    if (kj_met(x, "as"))
        kj_habit_as(p, m, x->at);
    else if (kj_met(x, "->"))
        kj_fix(p->diag, m, x->at, ".");
    else if (kj_met(x, ":") && *next == ':' && p->prev == KJ_TK_NAME)
        kj_mistake_paths(x, m);
    else if (kj_met(x, "name") && m->hint && strstr(m->hint, "isnan"))
        fix_is(x, m);
    else if (kj_met(x, "name") || kj_met(x, "integer") || kj_met(x, "number") || kj_met(x, "("))
        kj_habit_cast(p, m, x->at);
}

/* switch (n) { */
static void hint_first_word(const kj_mistake *x, kj_message *m)
{
    const char *text = x->p->source->text;
    uint32_t begin = x->at.begin, end;
    while (begin > 0 && text[begin - 1] != '\n')
        begin--;
    begin += (uint32_t)strspn(text + begin, " \t");
    for (end = begin; kj_is_word(text[end]);)
        end++;
    if (end < x->at.begin)
        kj_hint_keyword(x, m, (kj_span){begin, end}, false);
}

/* x .= y, x .+= y of Julia: the dot is left out, of a whole array all elements are named. */
static bool hint_assigned(const kj_mistake *x, kj_message *m)
{
    kj_parser *p = x->p;
    const char *sign = kj_mistake_source(p, x->at);
    if (sign[0] == 0 || sign[strlen(sign) - 1] != '=' || strlen(sign) > 3 || kj_met(x, "==") ||
        strchr("<>!", *sign))
        return false;
    bool whole = kj_met(x, "=") && p->before_prev == KJ_TK_NAME;
    kj_hint(p->diag, m, "operators go over all elements by themselves: write %s%s",
            whole ? "[:] " : "", sign);
    kj_fix(p->diag, m, (kj_span){whole ? p->before_prev_span.end : p->prev_span.begin, x->at.end},
           "%s%s", whole ? "[:] " : "", sign);
    return true;
}

void kj_hint_behind_dot(const kj_mistake *x, kj_message *m)
{
    static const char *const operators[][2] = {
        {"*", "*"},   {"/", "/"}, {"^", "**"},  {"**", "**"}, {"+", "+"},   {"-", "-"},
        {"==", "=="}, {"<", "<"}, {"<=", "<="}, {">", ">"},   {">=", ">="}, {"!=", "!="},
    };
    kj_parser *p = x->p;
    kj_span both = {p->prev_span.begin, x->at.end};
    uint32_t word = p->prev_span.begin;
    while (word > 0 && kj_is_word(p->source->text[word - 1]))
        word--;
    if (word > 0 && word < p->prev_span.begin && kj_hint_dotted(x->p->diag, m, word - 1))
        return;
    if (hint_assigned(x, m))
        return;
    if (kj_met(x, ".")) {
        kj_mistake_hint(x, m, "a range is written range(start, stop)");
    } else if (kj_met(x, "(") && p->before_prev == KJ_TK_NAME) {
        kj_mistake_hint(x, m, "a function of numbers goes over all elements by itself: sin(x)");
        kj_fix(p->diag, m, p->prev_span, "%s", "");
    }
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (kj_met(x, operators[i][0])) {
            kj_hint(p->diag, m, "operators go over all elements by themselves: write %s",
                    operators[i][1]);
            kj_fix(p->diag, m, both, "%s", operators[i][1]);
        }
}

/* A comma that is missing before another item, or the bracket before what ends the list. */
static void fix_list(const kj_mistake *x, kj_message *m, char closer)
{
    const kj_parser *p = x->p;
    kj_span gap = {p->prev_span.end, p->prev_span.end};
    bool item =
        kj_met(x, "name") || kj_met(x, "integer") || kj_met(x, "number") || kj_met(x, "string");
    if ((kj_met(x, "=") && kj_habit_index_names(x, m)) || (closer == ']' && kj_habit_rows(x->p, m)))
        return;
    if (kj_met(x, ":") && p->prev == KJ_TK_NAME && closer == ')' &&
        !strchr(":=", p->source->text[x->at.end])) { /* P(x: 1) */
        kj_mistake_hint(x, m, "a name of an argument or field stands before '=': P(x=1)");
        kj_fix(p->diag, m, x->at, "=");
        return;
    }
    if (kj_met(x, "name") && kj_habit_cast_words(x->p, m))
        return;
    if (item && x->at.begin > gap.end && kj_wants(x, ","))
        kj_fix(p->diag, m, gap, ",");
    else if (kj_met(x, "=") || kj_met(x, "end of line"))
        kj_fix(p->diag, m, gap, "%c", closer);
}

bool kj_has_brace(const kj_mistake *x)
{
    const char *rest = x->p->source->text + x->at.begin;
    return memchr(rest, '{', strcspn(rest, "\n#\"'")) != NULL;
}

/* `=>` for >=, `= =` for ==: what stands there, and what is meant; NULL: neither. */
static const char *comparison(const char *text, uint32_t *end)
{
    static const char *const pairs[][2] = {
        {"=>", ">="}, {"=<", "<="}, {"=!", "!="}, {"~=", "!="}, {"= =", "=="}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        size_t n = strlen(pairs[i][0]);
        if (strncmp(text, pairs[i][0], n) == 0 && text[n] != '=') {
            *end = (uint32_t)n;
            return pairs[i][1];
        }
    }
    return NULL;
}

/* Where the parameters begin that end at `end`, of x => x + 1 or (x, y) -> x * y; `end`: there are none. */
static uint32_t lambda_start(const kj_source *s, uint32_t end)
{
    while (end > 0 && kj_is_blank(s->text[end - 1]))
        end--;
    uint32_t begin = end;
    if (end > 0 && s->text[end - 1] == ')') {
        for (begin--;
             begin > 0 && (kj_is_word(s->text[begin - 1]) || strchr(", :", s->text[begin - 1]));)
            begin--;
        if (begin == 0 || s->text[begin - 1] != '(')
            return end;
        begin--;
    } else
        while (begin > 0 && kj_is_word(s->text[begin - 1]))
            begin--;
    uint32_t before = begin;
    while (before > 0 && kj_is_blank(s->text[before - 1]))
        before--;
    char last = before > 0 ? s->text[before - 1] : '\n',
         other = before > 1 ? s->text[before - 2] : '\n';
    bool assigned = last == '=' && !strchr("=<>!", other);
    bool passed = (last == '(' || last == ',') && s->text[begin] != '(';
    bool group = last == '(' || last == ','; /* map((x) -> x + 1, a) */
    return assigned || passed || group ? begin : end;
}

/* x => x + 1, (x) -> x + 1 with its arrow there: reported; false: it is none. A name that is declared and does not stand
 * behind the arrow too may be compared, or have a member. */
static bool is_lambda(const kj_mistake *x, uint32_t arrow)
{
    kj_parser *p = x->p;
    const kj_source *s = p->source;
    uint32_t begin = lambda_start(s, arrow), name = begin + (s->text[begin] == '('),
             end = kj_word_end(s, name);
    uint32_t behind = kj_skip_blanks(s, arrow + 2);
    if (begin >= arrow || end == name || (s->text[arrow] == '-' && behind == arrow + 2) ||
        kj_is_digit(s->text[name]))
        return false;
    bool again = name > begin;
    for (uint32_t at = behind; at < kj_code_end(s, behind); at++)
        again |= !kj_is_word(s->text[at - 1]) && kj_is_word_at(s, at, kj_piece(p, name, end));
    if (!again && kj_mistake_is_declared(x, (kj_span){name, end}))
        return false;
    kj_message *m =
        kj_error(p->diag, (kj_span){arrow, arrow + 2}, KJ_RULE_SYNTAX, "there are no lambdas");
    kj_hint(p->diag, m,
            "a function is declared at the top of a file: fn name(x: f32) -> f32 { return ... }");
    return true;
}

/* f(b => 2): the name of an argument, where nothing is called so. */
static bool fix_named_argument(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t end = at.begin, before;
    while (end > 0 && kj_is_blank(s->text[end - 1]))
        end--;
    uint32_t name = end;
    while (name > 0 && kj_is_word(s->text[name - 1]))
        name--;
    for (before = name; before > 0 && kj_is_blank(s->text[before - 1]);)
        before--;
    const kj_bracket *open = p->nopen ? &p->open[p->nopen - 1] : NULL;
    const char *what = kj_piece(p, name, end);
    if (!open || open->kind != '(' || open->behind != KJ_TK_NAME || name == end || before == 0 ||
        !strchr("(,", s->text[before - 1]) || s->text[at.begin] != '=' ||
        s->text[at.begin + 1] != '>')
        return false;
    if (kj_habit_is_known(p, what, name))
        return false;
    kj_hint(p->diag, m, "an argument's name stands before '=': %s=...", what);
    kj_fix(p->diag, m, (kj_span){end, kj_skip_blanks(s, at.end)}, "=");
    return true;
}

bool kj_comparison_reversed(const kj_mistake *x)
{
    kj_parser *p = x->p;
    bool here = kj_met(x, "=") || kj_met(x, "~");
    uint32_t begin = here ? x->at.begin : p->prev_span.begin, n;
    const char *meant = comparison(p->source->text + begin, &n);
    if (!meant)
        return false;
    if (*meant == '>' && is_lambda(x, begin))
        return true;
    kj_span at = {begin, begin + n};
    kj_message *m =
        kj_error(p->diag, at, KJ_RULE_SYNTAX, "there is no '%s'", kj_mistake_source(p, at));
    if (!fix_named_argument(p, m, at))
        kj_write(p->diag, m, at, "%s", meant);
    return true;
}

/* `> =`, `===`, `+ =`: an operator in two parts. */
bool kj_operator_parted(const kj_mistake *x)
{
    static const char *const all[] = {"==", "!=",  "<=",  ">=",  "+=", "-=", "*=", "/=", "//=",
                                      "%=", "**=", "<<=", ">>=", "@=", "&=", "|=", "^="};
    kj_parser *p = x->p;
    const char *before = kj_mistake_source(p, p->prev_span);
    kj_span at = {p->prev_span.begin, x->at.end};
    bool equal = strcmp(before, "==") == 0 || strcmp(before, "!=") == 0; /* === */
    const char *whole = equal ? before : kj_arena_printf(p->arena, "%s=", before);
    for (size_t i = 0; kj_met(x, "=") && i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i], whole) != 0 || p->prev == KJ_TK_ASSIGN)
            continue;
        kj_message *m =
            kj_error(p->diag, at, KJ_RULE_SYNTAX, "there is no '%s'", kj_mistake_source(p, at));
        kj_write(p->diag, m, at, "%s", whole);
        return true;
    }
    return false;
}

/* if n > 0 then { */
static void leave_out(const kj_mistake *x, kj_message *m)
{
    kj_mistake_hint(x, m, "a block stands in braces: { ... }");
    if (kj_has_brace(x))
        kj_fix(x->p->diag, m, (kj_span){x->p->prev_span.end, x->at.end}, "%s", "");
}

static bool declares(const kj_mistake *x)
{
    return kj_line_begins(x->p, x->at, "let") || kj_line_begins(x->p, x->at, "var");
}

/* Does a { follow a = in the rest of the line? */
static bool is_list_in_braces(const kj_mistake *x)
{
    const kj_source *s = x->p->source;
    uint32_t at = x->at.end;
    while (!strchr("={#\n", s->text[at]) && s->text[at])
        at++;
    return s->text[at] == '=' && s->text[kj_skip_blanks(s, at + 1)] == '{';
}

/* let x = 1:3, and no x: f32 = 1 */
static bool is_given(const kj_source *s, uint32_t at)
{
    uint32_t start = kj_statement_start(s, at);
    return memchr(s->text + start, '=', at - start) != NULL;
}

/* Where a statement could end. */
static kj_message *behind_statement(const kj_mistake *x)
{
    const kj_parser *p = x->p;
    if (kj_habit_raise(x->p) || kj_misspelled_statement(x))
        return NULL;
    kj_message *m = kj_expected(x, "the end of the statement");
    if (p->prev == KJ_TK_NAME && (kj_habit_record(x->p, m, x->at) || kj_habit_new(x->p, m, x->at)))
        return m;
    if (kj_met(x, ",") && p->first == KJ_TK_REQUIRES) { /* requires n > 0, "text" */
        kj_hint(p->diag, m, "a requirement is its own text: write %s",
                kj_piece(x->p, p->first_span.begin, x->at.begin));
        kj_fix(p->diag, m, (kj_span){x->at.begin, kj_statement_end(p->source, x->at.begin, false)},
               "%s", "");
        return m;
    }
    if (kj_met(x, "{"))
        hint_first_word(x, m);
    uint32_t close = kj_met(x, "{") ? kj_closing(p->source, x->at.begin) : 0;
    if (close && !m->hint && p->prev == KJ_TK_NAME &&
        p->prev_span.end == x->at.begin) { /* a{0} = 1 */
        kj_hint(p->diag, m, "an element is written a[i]");
        kj_fix(p->diag, m, (kj_span){x->at.begin, close + 1}, "[%s]",
               kj_piece(x->p, x->at.end, close));
        kj_layout_skip_block(x->p);
        return m;
    }
    if (p->prev == KJ_TK_NAME && !kj_mistake_is_declared(x, p->prev_span))
        kj_hint_keyword(x, m, p->prev_span, false);
    if (!kj_is_shown(p->diag, m))
        return m;
    if (kj_follows_call(x))
        kj_habit_call(x->p, m, x->at);
    else if (kj_met(x, "name") || kj_met(x, "["))
        kj_habit_declaration(x->p, m, x->at);
    if (kj_met(x, "name") && is_list_in_braces(x)) /* float t[2] = {1, 2} */
        kj_layout_skip_block(x->p);
    if (!m->hint && kj_met(x, "name") && p->prev == KJ_TK_RPAREN &&
        (kj_line_begins(p, x->at, "local") || kj_line_begins(p, x->at, "shared")))
        kj_habit_array(x->p, m, x->at);
    if (!m->hint && kj_met(x, ":") && is_given(p->source, x->at.begin)) {
        kj_mistake_hint(
            x, m,
            kj_is_item_of(p->source, x->at.begin, "run")
                ? "a row of numbers is written arange(start, stop), and stop is not in it"
                : "a range is a loop's: for i in range(start, stop), and stop is not in it");
        return m;
    }
    if (!m->hint && kj_met(x, ":") && !strchr(":=", p->source->text[x->at.end])) {
        kj_mistake_hint(x, m, "variables are declared with 'let' or 'var': let x: f32 = 1");
        if (p->before_prev == KJ_TK_NEWLINE || p->before_prev == KJ_TK_LBRACE)
            kj_fix(p->diag, m, (kj_span){p->prev_span.begin, p->prev_span.begin}, "var ");
    }
    return m;
}

/* Where its { is missing: it takes the place of `then`. */
static kj_span block_begin(const kj_mistake *x)
{
    bool word = strcmp(x->text, "'then'") == 0 || strcmp(x->text, "'do'") == 0;
    return word ? (kj_span){x->p->prev_span.end, x->at.end} : (kj_span){x->at.begin, x->at.begin};
}

/* while ((v = f()) < n), while v = f(): what is assigned is new each time, or is compared itself. */
static bool takes_what_is_assigned(const kj_mistake *x)
{
    const char *text = x->p->source->text;
    uint32_t at = x->at.end;
    bool calls = false, looped = kj_line_begins(x->p, x->at, "while");
    for (int depth = 0; text[at] && !strchr("\n{#", text[at]); at++) {
        calls |= text[at] == '(' && kj_is_word(text[at - 1]);
        depth += strchr("([", text[at]) != NULL;
        depth -= strchr(")]", text[at]) != NULL;
        if (depth >= 0)
            continue;
        at++;
        at += (uint32_t)strspn(text + at, " \t");
        return strchr("<>!=", text[at]) || (looped && calls);
    }
    return looped && calls;
}

void kj_behind_expression(const kj_mistake *x)
{
    const kj_parser *p = x->p;
    if (kj_met(x, "assignment operator")) {
        kj_message *m = kj_mistake_error(
            x, kj_arena_printf(p->arena, "unexpected %s in an expression", x->text));
        if (strcmp(x->text, "'/='") == 0) /* of Fortran and Haskell */
            kj_write(p->diag, m, x->at, "!=");
        else
            kj_mistake_hint(x, m, "an assignment is a statement of its own");
        return;
    }
    if (kj_wants(x, "else") && !kj_wants(x, "if") && !kj_is_word_at(p->source, x->at.begin, "is")) {
        if (kj_misspelled_operator(x))
            return;
        kj_mistake_hint(x, kj_expected(x, "'else'"),
                        "a conditional expression is written: a if test else b");
        return;
    }
    if (((kj_met(x, "=") || kj_met(x, "~")) && kj_comparison_reversed(x)) ||
        (kj_met(x, "->") && is_lambda(x, x->at.begin)))
        return;
    if (kj_met(x, "=") && !kj_wants(x, "]")) {
        kj_message *m = kj_mistake_error(x, "unexpected '=' in an expression");
        bool compares = !kj_wants(x, "end of line") || kj_line_begins(x->p, x->at, "requires");
        if (compares && takes_what_is_assigned(x)) {
            kj_mistake_hint(x, m, "an assignment is a statement of its own");
            return;
        }
        kj_mistake_hint(x, m, compares ? "'==' compares" : "a statement assigns once");
        if (compares)
            kj_fix(p->diag, m, x->at, "==");
        else if (p->prev == KJ_TK_NAME && p->before_prev == KJ_TK_COMMA && declares(x) &&
                 !kj_habit_closed_early(x->p, m, x->at)) {
            kj_mistake_hint(x, m, "each name is declared by itself: let a = 1; let b = 2");
            kj_fix(p->diag, m, (kj_span){p->before_prev_span.begin, p->prev_span.begin}, "; %s ",
                   kj_line_begins(p, x->at, "let") ? "let" : "var");
        }
        return;
    }
    kj_message *m;
    if (kj_misspelled_operator(x))
        return;
    if (kj_wants(x, "{")) {
        m = kj_expected(x, kj_has_brace(x) ? "an operator" : "'{'");
        if (kj_met(x, "end of line"))
            kj_mistake_hint(x, m, BRACE_PLACE);
        else if (strcmp(x->text, "'then'") == 0 || strcmp(x->text, "'do'") == 0)
            leave_out(x, m);
        else if ((kj_met(x, "name") || kj_met(x, "return") || kj_met(x, "break") ||
                  kj_met(x, "continue")) &&
                 !kj_has_brace(x))
            kj_mistake_hint(x, m, "a block stands in braces: { ... }");
        if (m->hint && kj_is_shown(p->diag, m) && !kj_has_brace(x) &&
            !kj_is_word_at(x->p->source, x->at.begin, "is"))
            kj_habit_block(x->p, m, block_begin(x));
    } else if (kj_wants(x, ")") || kj_wants(x, "]")) {
        const char *closer = kj_wants(x, ")") ? "')'" : "']'";
        m = kj_expected(x,
                        kj_wants(x, ",") ? kj_arena_printf(p->arena, "',' or %s", closer) : closer);
        if (p->prev == KJ_TK_NAME && strcmp(kj_mistake_source(x->p, p->prev_span), "lambda") == 0)
            kj_mistake_hint(x, m, kj_foreign_word("lambda", NULL));
        else
            fix_list(x, m, closer[1]);
        if (kj_met(x, "string") && p->prev == KJ_TK_STRING) { /* "a" "b" */
            kj_mistake_hint(x, m, "texts that stand beside each other are not joined: write one");
            kj_fix(p->diag, m, (kj_span){p->prev_span.end - 1, x->at.begin + 1}, "%s", "");
        }
    } else if (kj_wants(x, "end of line")) {
        m = behind_statement(x);
        if (!m)
            return;
    } else {
        m = kj_expected(x, "an operator");
    }
    const char *known = hint_for_operator(x);
    if (known)
        kj_mistake_hint(x, m, known);
    if (kj_is_shown(p->diag, m))
        fix_operator(x, m);
}

bool kj_divides(const kj_mistake *x, uint32_t slashes)
{
    const char *text = x->p->source->text;
    uint32_t begin = slashes + 2, end;
    begin += (uint32_t)strspn(text + begin, " \t");
    begin += (uint32_t)strspn(text + begin, "-+~");
    for (end = begin; kj_is_word(text[end]) || text[end] == '.';)
        end++;
    bool number = text[begin] >= '0' && text[begin] <= '9';
    if (end == begin || (!number && !kj_mistake_is_name(x, (kj_span){begin, end})))
        return false;
    const char *next = text + end + strspn(text + end, " \t");
    bool word = kj_is_word(*next) && !(*next >= '0' && *next <= '9');
    bool alone = x->at.begin == slashes && (kj_wants(x, "let") || kj_wants(x, "kernel"));
    return !(alone && (word || kj_wants(x, "kernel"))); /* nothing stands before it: // 2 threads */
}
