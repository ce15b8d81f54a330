/* What is wrong behind a complete expression, where an operator, what closes a list, a block or the
 * end of the statement could stand. */
#include <string.h>

#include "knl.tab.h"
#include "parse/mistake.h"

static const char *const stmt_words[] = {"let",      "var",    "if",   "elif",     "else",
                                         "for",      "while",  "with", "continue", "return",
                                         "requires", "launch", "param"};

/* What other languages have behind an expression; NULL: nothing that is known. */
static const char *hint_for_operator(const kj_mistake *x)
{
    const kj_parser *p = x->p;
    if (kj_met(x, "in"))
        return "there is no 'in' of values: write x == a or x == b";
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
        return "there are no paths: write sqrt(x), max(x, y)";
    if (kj_met(x, "string") && p->prev == KJ_TK_NAME && p->prev_span.end == x->at.begin)
        return "strings have no prefix: print takes texts and values, print(\"x is\", x)";
    if (kj_met(x, "string") && p->prev == KJ_TK_STRING && p->prev_span.end == x->at.begin)
        return "a comment begins with #";
    if (kj_met(x, "name") && strcmp(kj_mistake_source(x->p, x->at), "is") == 0)
        return "'==' and '!=' compare, and isnan(x) finds a nan";
    return NULL;
}

/* `is` and `is not` */
static void fix_is(const kj_mistake *x, kj_message *m)
{
    const char *next = x->p->source->text + x->at.end;
    size_t blanks = strspn(next, " ");
    bool not = strncmp(next + blanks, "not ", 4) == 0;
    if (strncmp(next + blanks + (not ? 4 : 0), "None", 4) == 0)
        kj_mistake_hint(x, m, "there is no None: what a kernel is given is there");
    else
        kj_fix(x->p->diag, m, (kj_span){x->at.begin, x->at.end + (not ? (uint32_t)blanks + 3 : 0)},
               not ? "!=" : "==");
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
        kj_fix(p->diag, m, (kj_span){p->prev_span.begin, x->at.end + 1}, "%s", "");
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
        kj_hint_keyword(x, m, (kj_span){begin, end}, NULL, 0);
}

/* A comma that is missing before another item, or the bracket before what ends the list. */
static void fix_list(const kj_mistake *x, kj_message *m, char closer)
{
    const kj_parser *p = x->p;
    kj_span gap = {p->prev_span.end, p->prev_span.end};
    bool item =
        kj_met(x, "name") || kj_met(x, "integer") || kj_met(x, "number") || kj_met(x, "string");
    if (item && x->at.begin > gap.end && kj_wants(x, ","))
        kj_fix(p->diag, m, gap, ",");
    else if (kj_met(x, "=") || kj_met(x, "end of line"))
        kj_fix(p->diag, m, gap, "%c", closer);
}

static bool declares(const kj_mistake *x)
{
    return kj_line_begins(x->p, x->at, "let") || kj_line_begins(x->p, x->at, "var");
}

/* Where a statement could end. */
static kj_message *behind_statement(const kj_mistake *x)
{
    const kj_parser *p = x->p;
    kj_message *m = kj_expected(x, "the end of the statement");
    if (kj_met(x, "{"))
        hint_first_word(x, m);
    if (p->prev == KJ_TK_NAME)
        kj_hint_keyword(x, m, p->prev_span, stmt_words, sizeof stmt_words / sizeof *stmt_words);
    if (!kj_is_shown(p->diag, m))
        return m;
    if (p->prev == KJ_TK_NAME &&
        (kj_line_begins(p, x->at, "print") || kj_line_begins(p, x->at, "assert")))
        kj_habit_call(x->p, m, x->at);
    else if (kj_met(x, "name") || kj_met(x, "["))
        kj_habit_declaration(x->p, m, x->at);
    if (!m->hint && kj_met(x, ":") && !strchr(":=", p->source->text[x->at.end])) {
        kj_mistake_hint(x, m, "variables are declared with 'let' or 'var': let x: f32 = 1");
        if (p->before_prev == KJ_TK_NEWLINE || p->before_prev == KJ_TK_LBRACE)
            kj_fix(p->diag, m, (kj_span){p->prev_span.begin, p->prev_span.begin}, "var ");
    }
    return m;
}

void kj_behind_expression(const kj_mistake *x)
{
    const kj_parser *p = x->p;
    if (kj_wants(x, "else") && !kj_wants(x, "if")) {
        kj_message *m = kj_expected(x, "'else'");
        kj_mistake_hint(x, m, "a conditional expression is written: a if test else b");
        return;
    }
    if (kj_met(x, ")") || kj_met(x, "]")) {
        kj_fix(p->diag,
               kj_error(p->diag, x->at, KJ_RULE_SYNTAX, "unexpected '%s': no '%c' is open",
                        x->token, *x->token == ')' ? '(' : '['),
               x->at, "%s", "");
        return;
    }
    if (kj_met(x, "=") && !kj_wants(x, "]")) {
        kj_message *m = kj_mistake_error(x, "unexpected '=' in an expression");
        bool compares = !kj_wants(x, "end of line") || kj_line_begins(x->p, x->at, "requires");
        kj_mistake_hint(x, m, compares ? "'==' compares" : "a statement assigns once");
        if (compares)
            kj_fix(p->diag, m, x->at, "==");
        else if (p->prev == KJ_TK_NAME && p->before_prev == KJ_TK_COMMA && declares(x)) {
            kj_mistake_hint(x, m, "each name is declared by itself: let a = 1; let b = 2");
            kj_fix(p->diag, m, (kj_span){p->before_prev_span.begin, p->prev_span.begin}, "; %s ",
                   kj_line_begins(p, x->at, "let") ? "let" : "var");
        }
        return;
    }
    kj_message *m;
    if (kj_wants(x, "{")) {
        m = kj_expected(x, "'{'");
        if (kj_met(x, "end of line"))
            kj_mistake_hint(x, m, BRACE_PLACE);
        else if (kj_met(x, "name"))
            kj_mistake_hint(x, m, "a block stands in braces: { ... }");
        if (m->hint && kj_is_shown(p->diag, m) && strcmp(kj_mistake_source(x->p, x->at), "is") != 0)
            kj_habit_block(x->p, m, (kj_span){x->at.begin, x->at.begin});
    } else if (kj_wants(x, ")") || kj_wants(x, "]")) {
        const char *closer = kj_wants(x, ")") ? "')'" : "']'";
        m = kj_expected(x,
                        kj_wants(x, ",") ? kj_arena_printf(p->arena, "',' or %s", closer) : closer);
        fix_list(x, m, closer[1]);
    } else if (kj_wants(x, "end of line")) {
        m = behind_statement(x);
    } else {
        m = kj_expected(x, "an operator");
    }
    const char *known = hint_for_operator(x);
    if (known)
        kj_mistake_hint(x, m, known);
    if (kj_is_shown(p->diag, m))
        fix_operator(x, m);
}
