/* Syntax errors in the reader's words: the token bison cannot use and those it could come in, a
 * message goes out.
 *
 * The names of tokens are those of knl.y. What is wanted is told by a token that only it begins
 * or continues with: an expression by "integer", a statement by "let", an item by "kernel", an
 * operator behind an expression by "*". */
#include <string.h>

#include "knl.tab.h"
#include "lang/types.h"
#include "parse/parse.h"

#define GOES_ON "a statement goes on over a line end only inside ( ) or [ ]"
#define BRACE_PLACE "the '{' of a block stands on the line of its header"
#define NO_COMPREHENSIONS "there are no comprehensions: write a loop that fills an array"
#define CONST_PLACE "constant arrays stand at the top of a file: const W: f32[] = [1, 2]"

typedef struct mistake {
    kj_parser *p;
    kj_span at;        /* the unexpected token, or the place behind the last one of its line */
    const char *token; /* its name in the grammar */
    const char *text;  /* as shown: 'else', the end of the line */
    const char *const *expected;
    int n;
} mistake;

static bool wants(const mistake *x, const char *token)
{
    for (int i = 0; i < x->n; i++) {
        if (strcmp(x->expected[i], token) == 0)
            return true;
    }
    return false;
}

static bool is(const mistake *x, const char *token)
{
    return strcmp(x->token, token) == 0;
}

static const char *source_text(kj_parser *p, kj_span span)
{
    return kj_arena_printf(p->arena, "%.*s", (int)(span.end - span.begin),
                           p->source->text + span.begin);
}

/* The token as a message shows it. */
static const char *shown(kj_parser *p, kj_span span, const char *token)
{
    enum { MOST = 40 };
    if (strcmp(token, "end of file") == 0 || span.begin >= p->source->size)
        return "the end of the file";
    if (strcmp(token, "end of line") == 0)
        return "the end of the line";
    if (span.end - span.begin <= MOST)
        return kj_arena_printf(p->arena, "'%s'", source_text(p, span));
    const char *text = p->source->text + span.begin, *end = text;
    uint32_t code;
    while (end < text + MOST)
        end += kj_utf8(end, text + (span.end - span.begin), &code);
    span.end = span.begin + (uint32_t)(end - text);
    return kj_arena_printf(p->arena, "'%s...'", source_text(p, span));
}

static kj_message *error(const mistake *x, const char *text)
{
    return kj_error(x->p->diag, x->at, KJ_RULE_SYNTAX, "%s", text);
}

static void hint(const mistake *x, kj_message *m, const char *text)
{
    kj_hint(x->p->diag, m, "%s", text);
}

static kj_message *expected(const mistake *x, const char *wanted)
{
    return kj_error(x->p->diag, x->at, KJ_RULE_SYNTAX, "expected %s before %s", wanted, x->text);
}

/* ---- Words of other languages and slips of the finger ---- */

#define ENUMS "enums are written 'enum Name { RED, GREEN = 5 }', of a type 'enum Name: u8 { ... }'"

#define ITEMS "'const', 'enum', 'fn', 'kernel', 'record', 'run' or 'type'"
static const char *const item_words[] = {"use",    "const",  "enum", "fn",
                                         "kernel", "record", "run",  "type"};
static const char *const stmt_words[] = {"let",      "var",    "if",   "elif",     "else",
                                         "for",      "while",  "with", "continue", "return",
                                         "requires", "launch", "param"};

/* Is it the first word of the line? */
static bool line_begins(const kj_parser *p, kj_span at, const char *word)
{
    const char *text = p->source->text, *line = text + at.begin;
    while (line > text && line[-1] != '\n')
        line--;
    line += strspn(line, " \t");
    size_t len = strlen(word);
    return strncmp(line, word, len) == 0 && !kj_is_word(line[len]);
}

bool kj_hint_statement(kj_parser *p, kj_message *m, const char *word)
{
    static const char *const alone[] = {"return", "break", "continue"};
    const char *near = kj_nearest(word, alone, sizeof alone / sizeof *alone);
    if (near)
        kj_did_you_mean(p->diag, m, near);
    return near != NULL;
}

static void fix_left_out(const mistake *x, kj_message *m, kj_span word)
{
    const char *next = x->p->source->text + word.end;
    kj_fix(x->p->diag, m, (kj_span){word.begin, word.end + (uint32_t)strspn(next, " ")}, "%s", "");
}

/* Hints about a name that stands where a keyword might. */
static void hint_keyword(const mistake *x, kj_message *m, kj_span name, const char *const *words,
                         size_t n)
{
    const char *word = source_text(x->p, name);
    if (strcmp(word, "pub") == 0 || strcmp(word, "inline") == 0)
        fix_left_out(x, m, name);
    else if (strcmp(word, "func") == 0 || strcmp(word, "function") == 0)
        kj_fix(x->p->diag, m, name, "fn");
    bool statement =
        words == item_words && (strcmp(word, "print") == 0 || strcmp(word, "assert") == 0);
    bool begins_block = false;
    const char *known = statement ? "statements stand in the run block: run { ... }"
                                  : kj_foreign_word(word, &begins_block);
    const char *near = kj_nearest(word, words, n);
    if (known)
        hint(x, m, known);
    if (begins_block)
        kj_layout_skip_block(x->p);
    else if (!known && near)
        kj_did_you_mean(x->p->diag, m, near);
}

/* ---- What was wanted ---- */

/* TPB = 16 */
static bool is_assigned(const mistake *x)
{
    const char *text = x->p->source->text + x->at.end;
    text += strspn(text, " \t");
    return text[0] == '=' && text[1] != '=';
}

/* @cuda.jit before a kernel is left out; the def behind one is not told. */
static void fix_decorator(const mistake *x, kj_message *m)
{
    kj_parser *p = x->p;
    const char *text = p->source->text, *line = text + x->at.begin;
    const char *next = line + strcspn(line, "\n");
    next += strspn(next, "\r\n");
    if (strncmp(next, "def ", 4) == 0)
        p->after_decorator = true;
    else
        kj_fix(p->diag, m, (kj_span){p->before_prev_span.begin, (uint32_t)(next - text)}, "%s", "");
}

/* load "blur.knl" */
static bool is_quoted(const mistake *x)
{
    const char *text = x->p->source->text + x->at.end;
    text += strspn(text, " \t");
    return *text == '"' || *text == '\'';
}

static void at_item(const mistake *x)
{
    if (is(x, "}")) {
        error(x, "unexpected '}': no block is open");
        return;
    }
    if (is(x, "let") || is(x, "var") || is(x, "param")) {
        kj_message *m = expected(x, ITEMS);
        hint(x, m,
             is(x, "param") ? "a param stands in the run block"
                            : "a file's constants are declared with 'const'");
        return;
    }
    kj_message *m = expected(x, ITEMS);
    if (is(x, ".") && x->p->before_prev == KJ_TK_AT) {
        hint(x, m, "a kernel needs no decorator: kernel name(x: f32[]) { ... }");
        fix_decorator(x, m);
    } else if (is(x, "name") && is_assigned(x))
        kj_hint(x->p->diag, m, "a file's constants are declared with 'const': const %s = ...",
                source_text(x->p, x->at));
    else if (is(x, "name") && is_quoted(x) && strcmp(source_text(x->p, x->at), "load") == 0)
        hint(x, m, kj_foreign_word("import", NULL));
    else if (is(x, "name"))
        hint_keyword(x, m, x->at, item_words, sizeof item_words / sizeof *item_words);
    if (!m->hint && !is(x, "end of file"))
        hint(x, m, "statements stand in a fn, a kernel or the run block");
}

static bool adjacent(const kj_parser *p, int token)
{
    return p->prev == token && p->before_prev == token &&
           p->before_prev_span.end == p->prev_span.begin;
}

/* k<<<1, 32>>>(x) */
static void hint_launch(const mistake *x, kj_message *m)
{
    const char *text = x->p->source->text, *begin = text + x->at.end;
    const char *end = strstr(begin, ">>>"), *line = strchr(begin, '\n');
    hint(x, m, "a launch is written k[blocks, threads](x)");
    if (end && (!line || end < line))
        kj_fix(x->p->diag, m, (kj_span){x->p->prev_span.begin, (uint32_t)(end + 3 - text)},
               "[%.*s]", (int)(end - begin), begin);
}

static void at_expression(const mistake *x)
{
    const kj_parser *p = x->p;
    kj_message *m = expected(x, "an expression");
    if (!kj_is_shown(p->diag, m))
        return;
    if (adjacent(p, KJ_TK_PLUS) || adjacent(p, KJ_TK_MINUS))
        kj_habit_step(x->p, m, (kj_span){p->before_prev_span.begin, p->prev_span.end});
    else if (is(x, ":") && p->nopen && p->open[p->nopen - 1].kind == '[') {
        hint(x, m, "types of arrays are written f32[], with two axes f32[,]"); /* not f32[:, :] */
        kj_habit_axes(x->p, m, x->at);
    } else if (is(x, "{") && (p->prev == KJ_TK_ASSIGN || p->prev == KJ_TK_LPAREN ||
                              p->prev == KJ_TK_COMMA || p->prev == KJ_TK_RETURN)) {
        hint(x, m, "lists stand in [ ]; there are no dictionaries");
        kj_layout_skip_block(x->p);
    } else if (is(x, "if")) {
        hint(x, m, "a conditional expression is written: a if test else b");
        kj_layout_skip_block(x->p);
    } else if (is(x, "|"))
        hint(x, m, "there are no closures: a function is declared at the top of a file");
    else if (is(x, "const"))
        hint(x, m, CONST_PLACE);
    else if (is(x, "<") && p->prev == KJ_TK_SHL)
        hint_launch(x, m);
    else if (is(x, "&") && !kj_habit_address(x->p, m, x->at))
        hint(x, m, "there are no addresses: atomics take array and index, atomic.add(a, i, 1)");
    else if (is(x, ".") && p->nopen && p->open[p->nopen - 1].kind == '[')
        hint(x, m, "a[:] is all of an array, a[i, :] a row of it");
    else if (is(x, "end of line") && p->prev != KJ_TK_ASSIGN)
        hint(x, m, GOES_ON);
}

/* What other languages have behind an expression; NULL: nothing that is known. */
static const char *hint_for_operator(const mistake *x)
{
    const kj_parser *p = x->p;
    if (is(x, "in"))
        return "there is no 'in' of values: write x == a or x == b";
    if (is(x, "for"))
        return NO_COMPREHENSIONS;
    if (is(x, "as"))
        return "conversions are written f64(x)";
    if (is(x, "->"))
        return "a member is written p.x";
    if (is(x, "not"))
        return "there is no 'in' of values: write x != a and x != b";
    if (is(x, ":") && x->p->source->text[x->at.end] == '=')
        return "an assignment is a statement, before the one that needs its value";
    if (is(x, ":") && x->p->source->text[x->at.end] == ':')
        return "there are no paths: write sqrt(x), max(x, y)";
    if (is(x, "string") && p->prev == KJ_TK_NAME && p->prev_span.end == x->at.begin)
        return "strings have no prefix: print takes texts and values, print(\"x is\", x)";
    if (is(x, "string") && p->prev == KJ_TK_STRING && p->prev_span.end == x->at.begin)
        return "a comment begins with #";
    if (is(x, "name") && strcmp(source_text(x->p, x->at), "is") == 0)
        return "'==' and '!=' compare, and isnan(x) finds a nan";
    return NULL;
}

/* `is` and `is not` */
static void fix_is(const mistake *x, kj_message *m)
{
    const char *next = x->p->source->text + x->at.end;
    size_t blanks = strspn(next, " ");
    bool not = strncmp(next + blanks, "not ", 4) == 0;
    if (strncmp(next + blanks + (not ? 4 : 0), "None", 4) == 0)
        hint(x, m, "there is no None: what a kernel is given is there");
    else
        kj_fix(x->p->diag, m, (kj_span){x->at.begin, x->at.end + (not ? (uint32_t)blanks + 3 : 0)},
               not ? "!=" : "==");
}

/* The fixes that go with it. */
static void fix_operator(const mistake *x, kj_message *m)
{
    kj_parser *p = x->p;
    const char *next = p->source->text + x->at.end;
    if (is(x, "as"))
        kj_habit_as(p, m, x->at);
    else if (is(x, "->"))
        kj_fix(p->diag, m, x->at, ".");
    else if (is(x, ":") && *next == ':' && p->prev == KJ_TK_NAME)
        kj_fix(p->diag, m, (kj_span){p->prev_span.begin, x->at.end + 1}, "%s", "");
    else if (is(x, "name") && m->hint && strstr(m->hint, "isnan"))
        fix_is(x, m);
    else if (is(x, "name") || is(x, "integer") || is(x, "number") || is(x, "("))
        kj_habit_cast(p, m, x->at);
}

/* switch (n) { */
static void hint_first_word(const mistake *x, kj_message *m)
{
    const char *text = x->p->source->text;
    uint32_t begin = x->at.begin, end;
    while (begin > 0 && text[begin - 1] != '\n')
        begin--;
    begin += (uint32_t)strspn(text + begin, " \t");
    for (end = begin; kj_is_word(text[end]);)
        end++;
    if (end < x->at.begin)
        hint_keyword(x, m, (kj_span){begin, end}, NULL, 0);
}

/* A comma that is missing before another item, or the bracket before what ends the list. */
static void fix_list(const mistake *x, kj_message *m, char closer)
{
    const kj_parser *p = x->p;
    kj_span gap = {p->prev_span.end, p->prev_span.end};
    bool item = is(x, "name") || is(x, "integer") || is(x, "number") || is(x, "string");
    if (item && x->at.begin > gap.end && wants(x, ","))
        kj_fix(p->diag, m, gap, ",");
    else if (is(x, "=") || is(x, "end of line"))
        kj_fix(p->diag, m, gap, "%c", closer);
}

static bool declares(const mistake *x)
{
    return line_begins(x->p, x->at, "let") || line_begins(x->p, x->at, "var");
}

/* Where a statement could end. */
static kj_message *behind_statement(const mistake *x)
{
    const kj_parser *p = x->p;
    kj_message *m = expected(x, "the end of the statement");
    if (is(x, "{"))
        hint_first_word(x, m);
    if (p->prev == KJ_TK_NAME)
        hint_keyword(x, m, p->prev_span, stmt_words, sizeof stmt_words / sizeof *stmt_words);
    if (!kj_is_shown(p->diag, m))
        return m;
    if (p->prev == KJ_TK_NAME &&
        (line_begins(p, x->at, "print") || line_begins(p, x->at, "assert")))
        kj_habit_call(x->p, m, x->at);
    else if (is(x, "name") || is(x, "["))
        kj_habit_declaration(x->p, m, x->at);
    if (!m->hint && is(x, ":") && !strchr(":=", p->source->text[x->at.end])) {
        hint(x, m, "variables are declared with 'let' or 'var': let x: f32 = 1");
        if (p->before_prev == KJ_TK_NEWLINE || p->before_prev == KJ_TK_LBRACE)
            kj_fix(p->diag, m, (kj_span){p->prev_span.begin, p->prev_span.begin}, "var ");
    }
    return m;
}

/* Behind a complete expression. */
static void at_operator(const mistake *x)
{
    const kj_parser *p = x->p;
    if (wants(x, "else") && !wants(x, "if")) {
        kj_message *m = expected(x, "'else'");
        hint(x, m, "a conditional expression is written: a if test else b");
        return;
    }
    if (is(x, ")") || is(x, "]")) {
        kj_fix(p->diag,
               kj_error(p->diag, x->at, KJ_RULE_SYNTAX, "unexpected '%s': no '%c' is open",
                        x->token, *x->token == ')' ? '(' : '['),
               x->at, "%s", "");
        return;
    }
    if (is(x, "=") && !wants(x, "]")) {
        kj_message *m = error(x, "unexpected '=' in an expression");
        bool compares = !wants(x, "end of line") || line_begins(x->p, x->at, "requires");
        hint(x, m, compares ? "'==' compares" : "a statement assigns once");
        if (compares)
            kj_fix(p->diag, m, x->at, "==");
        else if (p->prev == KJ_TK_NAME && p->before_prev == KJ_TK_COMMA && declares(x)) {
            hint(x, m, "each name is declared by itself: let a = 1; let b = 2");
            kj_fix(p->diag, m, (kj_span){p->before_prev_span.begin, p->prev_span.begin}, "; %s ",
                   line_begins(p, x->at, "let") ? "let" : "var");
        }
        return;
    }
    kj_message *m;
    if (wants(x, "{")) {
        m = expected(x, "'{'");
        if (is(x, "end of line"))
            hint(x, m, BRACE_PLACE);
        else if (is(x, "name"))
            hint(x, m, "a block stands in braces: { ... }");
        if (m->hint && kj_is_shown(p->diag, m) && strcmp(source_text(x->p, x->at), "is") != 0)
            kj_habit_block(x->p, m, (kj_span){x->at.begin, x->at.begin});
    } else if (wants(x, ")") || wants(x, "]")) {
        const char *closer = wants(x, ")") ? "')'" : "']'";
        m = expected(x, wants(x, ",") ? kj_arena_printf(p->arena, "',' or %s", closer) : closer);
        fix_list(x, m, closer[1]);
    } else if (wants(x, "end of line")) {
        m = behind_statement(x);
    } else {
        m = expected(x, "an operator");
    }
    const char *known = hint_for_operator(x);
    if (known)
        hint(x, m, known);
    if (kj_is_shown(p->diag, m))
        fix_operator(x, m);
}

/* Where a statement begins. */
static void at_statement(const mistake *x)
{
    static const char *const operators[] = {
        "*",  "/",  "//", "%",  "**", "|",  "^",   "&",  "<<", ">>",
        "==", "!=", "<",  "<=", ">",  ">=", "and", "or", ","};
    kj_message *m = expected(x, "a statement");
    if (!kj_is_shown(x->p->diag, m))
        return;
    if (is(x, "const") && !kj_habit_declaration(x->p, m, x->at)) {
        hint(x, m, "write let here: constants stand at the top of a file");
        kj_fix(x->p->diag, m, x->at, "let");
    }
    if (is(x, "*") && kj_habit_dereference(x->p, m, x->at))
        return;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (is(x, operators[i]))
            hint(x, m, GOES_ON);
    }
}

/* The keyword is a name from here to the end of the item, but for those that begin statements which
 * may look alike, or stand within expressions. */
static void take_for_name(kj_parser *p, int token)
{
    static const int never[] = {KJ_TK_BREAK, KJ_TK_CONTINUE, KJ_TK_RETURN, KJ_TK_WHILE, KJ_TK_LET,
                                KJ_TK_VAR,   KJ_TK_CONST,    KJ_TK_IF,     KJ_TK_ELSE,  KJ_TK_AND,
                                KJ_TK_OR,    KJ_TK_NOT,      KJ_TK_TRUE,   KJ_TK_FALSE};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (token == never[i])
            return;
    if (p->nmisnamed < (int)(sizeof p->misnamed / sizeof *p->misnamed))
        p->misnamed[p->nmisnamed++] = token;
}

kj_message *kj_misnamed(kj_parser *p, kj_span at, int token)
{
    take_for_name(p, token);
    return kj_error(p->diag, at, KJ_RULE_SYNTAX, "'%.*s' is a keyword and cannot be a name",
                    (int)(at.end - at.begin), p->source->text + at.begin);
}

static void at_name(const mistake *x)
{
    static const char *const classes[] = {"integer", "number", "string", "assignment operator"};
    bool keyword = x->token[0] >= 'a' && x->token[0] <= 'z' && x->at.begin < x->at.end;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        keyword &= !is(x, classes[i]);
    if (keyword) {
        kj_message *m = kj_misnamed(x->p, x->at, x->p->token);
        if (is(x, "const") && x->p->prev == KJ_TK_DOT)
            hint(x, m, CONST_PLACE);
        return;
    }
    kj_message *m = expected(x, "a name");
    int before = x->p->prev;
    if (is(x, "(") && before == KJ_TK_FOR) {
        hint(x, m, "loops are written: for i in range(n) { ... }");
        if (kj_is_shown(x->p->diag, m))
            kj_habit_for(x->p, m, x->at);
    } else if (is(x, ".") && before == KJ_TK_DOT)
        hint(x, m, "a range is written range(start, stop)");
    else if (is(x, "(") && (before == KJ_TK_LET || before == KJ_TK_VAR))
        hint(x, m, "several names stand without parentheses: let a, b = ...");
}

/* Is the line the header of a kernel, which has no result? */
static bool in_kernel_header(const mistake *x)
{
    const char *text = x->p->source->text;
    uint32_t at = x->at.begin;
    while (at > 0 && text[at - 1] != '\n')
        at--;
    while (text[at] == ' ' || text[at] == '\t')
        at++;
    return strncmp(text + at, "kernel ", strlen("kernel ")) == 0;
}

/* let mut i, a list without a comma, f32[][], => for -> */
static void fix_tokens(const mistake *x, kj_message *m)
{
    const kj_parser *p = x->p;
    if (!kj_is_shown(p->diag, m))
        return;
    if (wants(x, "=") && is(x, "name") && p->prev == KJ_TK_NAME &&
        strcmp(source_text(x->p, p->prev_span), "mut") == 0)
        kj_fix(p->diag, m, (kj_span){p->before_prev_span.begin, p->prev_span.end}, "var");
    else if (wants(x, ",") && wants(x, ")") && is(x, "name"))
        kj_fix(p->diag, m, (kj_span){p->prev_span.end, p->prev_span.end}, ",");
    else if (wants(x, ",") && wants(x, ")") && is(x, "[") && kj_habit_axes(x->p, m, x->at))
        hint(x, m, "types of arrays are written f32[], with two axes f32[,]");
    else if (wants(x, "->") && is(x, "=") && p->source->text[x->at.end] == '>')
        kj_write(p->diag, m, (kj_span){x->at.begin, x->at.end + 1}, "->");
}

/* Whatever is left: names the tokens when they are few. */
static void at_tokens(const mistake *x)
{
    enum { MOST = 4 };
    kj_arena *arena = x->p->arena;
    if (x->n == 0 || x->n > MOST) {
        kj_error(x->p->diag, x->at, KJ_RULE_SYNTAX, "unexpected %s", x->text);
        return;
    }
    if (x->n == 2 && wants(x, "->") && wants(x, "{") && in_kernel_header(x)) {
        kj_message *m = expected(x, "'{'");
        hint(x, m, is(x, "end of line") ? BRACE_PLACE : "a block stands in braces: { ... }");
        if (kj_is_shown(x->p->diag, m))
            kj_habit_block(x->p, m, (kj_span){x->at.begin, x->at.begin});
        return;
    }
    const char *list = "";
    for (int i = 0; i < x->n; i++) {
        const char *between = i == 0 ? "" : i == x->n - 1 ? " or " : ", ";
        const char *how = "%s%s'%s'";
        if (strcmp(x->expected[i], "name") == 0)
            how = "%s%sa %s";
        else if (strncmp(x->expected[i], "end ", 4) == 0)
            how = "%s%sthe %s";
        list = kj_arena_printf(arena, how, list, between, x->expected[i]);
    }
    kj_message *m = expected(x, list);
    fix_tokens(x, m);
    if (is(x, "*") && wants(x, "["))
        hint(x, m, "arrays are written f32[], with two axes f32[,]; they know their sizes");
    bool in_braces = x->p->nopen && x->p->open[x->p->nopen - 1].kind == '{';
    if (wants(x, "=") && is(x, "name") && x->p->prev == KJ_TK_NAME)
        hint_keyword(x, m, x->p->prev_span, NULL, 0); /* let mut i */
    else if (wants(x, "=") && (is(x, "end of line") || is(x, "}")))
        hint(x, m, "a value is given at the declaration");
    else if (wants(x, "{") && is(x, "end of line"))
        hint(x, m, BRACE_PLACE);
    else if (wants(x, "{") && is(x, "->"))
        hint(x, m, "what a function of run blocks returns has no declared type");
    else if (wants(x, ":") && x->n == 1 && !kj_habit_parameter(x->p, m, x->at))
        hint(x, m, in_braces ? "a field has a type: x: f32" : "a parameter has a type: x: f32");
}

static void at_type(const mistake *x)
{
    kj_message *m = expected(x, "a type");
    if (kj_is_shown(x->p->diag, m))
        kj_habit_type(x->p, m, x->at);
}

/* A colon where a block begins: Python's, or what other languages have for '->'. */
static void at_colon(const mistake *x)
{
    const char *text = x->p->source->text + x->at.end;
    kj_message *m = error(x, "a block begins with '{', not ':'");
    while (*text == ' ')
        text++;
    if (!kj_is_shown(x->p->diag, m))
        return;
    if (wants(x, "->") && kj_is_word(*text) && !in_kernel_header(x)) {
        hint(x, m, "a result's type stands behind '->': fn name(x: f32) -> f32 { ... }");
        kj_fix(x->p->diag, m, x->at, " ->");
    } else {
        kj_habit_block(x->p, m, x->at);
    }
}

/* use blur, use lib/blur.knl */
static bool wrong_use(const mistake *x)
{
    const kj_parser *p = x->p;
    bool named = p->prev == KJ_TK_NAME && p->before_prev == KJ_TK_USE;
    if (!named && p->prev != KJ_TK_USE)
        return false;
    kj_span path = {named ? p->prev_span.begin : x->at.begin, x->at.end};
    while (p->source->text[path.end] && !strchr(" \t\r\n;#", p->source->text[path.end]))
        path.end++;
    kj_message *m = kj_error(p->diag, named ? path : x->at, KJ_RULE_USE,
                             "use takes a file's name in quotes, or std.NAME");
    if (named && strcmp(source_text(x->p, p->prev_span), "std") == 0)
        hint(x, m, "write use std.warp");
    else if (named && path.end - path.begin < 100)
        kj_hint(p->diag, m, "write use \"%s%s\"", source_text(x->p, path),
                is(x, "end of line") ? ".knl" : "");
    else
        hint(x, m, "write use \"blur.knl\"");
    return true;
}

/* A bracket was open when a token came that shows it should have been closed. */
static bool unclosed_bracket(const mistake *x)
{
    kj_parser *p = x->p;
    if (!p->unclosed.kind)
        return false;
    kj_message *m = kj_error(p->diag, x->at, KJ_RULE_SYNTAX, "missing '%c' before %s",
                             p->unclosed.kind == '(' ? ')' : ']', x->text);
    kj_note(p->diag, m, p->unclosed.span, "to close the '%c' opened here", p->unclosed.kind);
    if (is(x, "for"))
        hint(x, m, NO_COMPREHENSIONS);
    else
        kj_fix(p->diag, m, (kj_span){p->prev_span.end, p->prev_span.end}, "%c",
               p->unclosed.kind == '(' ? ')' : ']');
    return true;
}

static void report(const mistake *x)
{
    if (unclosed_bracket(x) || wrong_use(x))
        return;
    if (is(x, ":") && wants(x, "{"))
        at_colon(x);
    else if (is(x, "else") || is(x, "elif"))
        kj_error(x->p->diag, x->at, KJ_RULE_SYNTAX, "unexpected '%s': no if ends before it",
                 x->token);
    else if (wants(x, "kernel"))
        at_item(x);
    else if (wants(x, "let"))
        at_statement(x);
    else if (wants(x, "@") && !wants(x, "*"))
        expected(x, "'for' or 'while'");
    else if (wants(x, "integer"))
        at_expression(x);
    else if (wants(x, "}") && wants(x, "name"))
        expected(x, x->p->enumerates ? "a name of the enum" : "a field, as in x: f32");
    else if (wants(x, "}") && wants(x, ",") && !wants(x, "*"))
        expected(x, "',' or the end of the line");
    else if (wants(x, "*") || wants(x, "end of line"))
        at_operator(x);
    else if (wants(x, "name") && wants(x, "("))
        at_type(x);
    else if (wants(x, "name") && x->n <= 2 && !wants(x, "{"))
        at_name(x);
    else
        at_tokens(x);
}

static void at_comment(const mistake *x, uint32_t begin)
{
    kj_span at = {begin, begin + 2};
    kj_message *m = kj_error(x->p->diag, at, KJ_RULE_SPELLING, "use '#' instead of '//'");
    hint(x, m, "a comment begins with #; // divides and rounds down");
    kj_fix(x->p->diag, m, at, "#");
}

/* Does the token begin a line where the ( or [ open before it could have been closed? */
static bool closer_forgotten(const mistake *x)
{
    const kj_parser *p = x->p;
    if (!p->nopen || p->open[p->nopen - 1].kind == '{' || x->at.begin <= p->prev_span.end)
        return false;
    return wants(x, p->open[p->nopen - 1].kind == '(' ? ")" : "]") &&
           memchr(p->source->text + p->prev_span.end, '\n', x->at.begin - p->prev_span.end);
}

/* Behind an item's header that is wrong, or a header of another language: is this of its body? */
static bool of_lost_body(const mistake *x)
{
    if (!x->p->astray || !wants(x, "kernel"))
        return false;
    if (x->p->after_decorator && strcmp(source_text(x->p, x->at), "def") == 0)
        return true;
    return is(x, "}") || (x->at.begin > 0 && x->p->source->text[x->at.begin - 1] != '\n');
}

/* Its block, whose names are no statements, is not looked at. */
static bool is_enum_header(const mistake *x, const kj_message *before)
{
    kj_message *m = x->p->diag->last;
    if (x->p->nbraces > is(x, "{") || !line_begins(x->p, x->at, "enum"))
        return false;
    if (m != before && m && !m->hint)
        hint(x, m, ENUMS);
    return true;
}

void kj_syntax_error(kj_parser *p, kj_span at, const char *unexpected,
                     const char *const *expected_tokens, int n)
{
    if (p->stopped || p->stray || (p->held && !p->unclosed.kind))
        return;
    if (p->held) {
        at = p->held_span;
        unexpected = "the token held";
    }
    mistake x = {p, at, unexpected, shown(p, at, unexpected), expected_tokens, n};
    bool at_end = is(&x, "end of line") || is(&x, "end of file");
    if (at_end && p->prev)
        x.at = (kj_span){p->prev_span.end, p->prev_span.end};
    if (closer_forgotten(&x)) {
        p->unclosed = p->open[p->nopen - 1];
        kj_layout_close(p);
    }
    const kj_message *before = p->diag->last;
    if (of_lost_body(&x) || (before && x.at.begin < x.at.end && before->span.begin == x.at.begin))
        return;
    uint32_t comment = kj_habit_comment(p, x.at);
    if (comment < p->source->size)
        at_comment(&x, comment);
    else
        report(&x);
    if (is_enum_header(&x, before))
        kj_layout_skip_block(p);
    p->astray |= p->nbraces == 0;
    p->stopped = p->diag->full;
}
