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

static const char *hint_for_word(const char *word)
{
#define FUNCTIONS "functions are written 'fn name(x: f32) -> f32 { ... }'"
#define RECORDS "records are written 'record Name { x: f32, y: f32 }'"
#define KERNELS "kernels are written 'kernel name(x: f32[]) { ... }'"
#define SHARED "shared arrays are written 'let s = shared.array((16, 16), f32)'"
#define CHOICES "choices are written 'if n == 1 { ... } elif n == 2 { ... } else { ... }'"
#define VARIABLES "variables are declared with 'let' (fixed) or 'var': "
    static const struct {
        const char *word, *hint;
    } words[] = {
        {"def", FUNCTIONS ", " KERNELS},
        {"func", FUNCTIONS},
        {"function", FUNCTIONS},
        {"void", FUNCTIONS ", " KERNELS},
        {"__global__", KERNELS},
        {"__device__", FUNCTIONS},
        {"__shared__", SHARED},
        {"int", VARIABLES "var i: i32 = 0"},
        {"float", VARIABLES "var x: f32 = 0"},
        {"double", VARIABLES "var x: f64 = 0"},
        {"bool", VARIABLES "var b = false"},
        {"auto", VARIABLES "var x = 0"},
        {"char", VARIABLES "var c: i8 = 0"},
        {"short", VARIABLES "var i: i16 = 0"},
        {"long", VARIABLES "var i: i64 = 0"},
        {"unsigned", VARIABLES "var i: u32 = 0"},
        {"size_t", VARIABLES "var i: i64 = 0"},
        {"half", VARIABLES "var x: f16 = 0"},
        {"mut", VARIABLES "var x = 0"},
        {"shared", SHARED},
        {"extern", SHARED ", also of a size that the launch gives"},
        {"switch", CHOICES},
        {"match", CHOICES},
        {"enum", "names of numbers are constants: const RED = 0"},
        {"typedef", RECORDS},
        {"do", "loops are written 'while condition { ... }'"},
        {"loop", "loops are written 'while true { ... }'"},
        {"until", "loops are written 'while condition { ... }'"},
        {"assert", "assert is a function: assert(condition, \"message\")"},
        {"print", "print is a function: print(x)"},
        {"import", "a file is a program by itself: all builtins are there"},
        {"from", "a file is a program by itself: all builtins are there"},
        {"struct", RECORDS},
        {"class", RECORDS},
        {"pass", "an empty block is written { }"},
        {"lambda", FUNCTIONS ", at the top of a file"},
        {"elseif", "write 'elif'"},
        {"elsif", "write 'elif'"},
    };
#undef FUNCTIONS
#undef SHARED
#undef CHOICES
#undef KERNELS
#undef RECORDS
#undef VARIABLES
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(word, words[i].word) == 0)
            return words[i].hint;
    }
    return NULL;
}

#define ITEMS "'const', 'fn', 'kernel', 'record' or 'run'"
static const char *const item_words[] = {"const", "fn", "kernel", "record", "run"};
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
        kj_hint(p->diag, m, "did you mean '%s'?", near);
    return near != NULL;
}

/* Hints about a name that stands where a keyword might. */
static void hint_keyword(const mistake *x, kj_message *m, kj_span name, const char *const *words,
                         size_t n)
{
    const char *word = source_text(x->p, name);
    bool statement =
        words == item_words && (strcmp(word, "print") == 0 || strcmp(word, "assert") == 0);
    const char *known =
        statement ? "statements stand in the run block: run { ... }" : hint_for_word(word);
    const char *near = kj_nearest(word, words, n);
    if (known)
        hint(x, m, known);
    else if (near)
        kj_hint(x->p->diag, m, "did you mean '%s'?", near);
}

/* ---- Conversions as C writes them ---- */

static const char *type_in_c(const char *word)
{
    static const char *const types[][2] = {
        {"char", "i8"},      {"short", "i16"},  {"int", "i32"},      {"long", "i64"},
        {"unsigned", "u32"}, {"uint", "u32"},   {"float", "f32"},    {"double", "f64"},
        {"half", "f16"},     {"int8_t", "i8"},  {"int16_t", "i16"},  {"int32_t", "i32"},
        {"int64_t", "i64"},  {"uint8_t", "u8"}, {"uint16_t", "u16"}, {"uint32_t", "u32"},
        {"uint64_t", "u64"}, {"size_t", "u64"},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(word, types[i][0]) == 0)
            return types[i][1];
    }
    return kj_type_named(word) != KJ_VOID ? word : NULL;
}

static bool in_word(char c)
{
    return kj_is_word(c);
}

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
        if (depth < 0 || (depth == 0 && !in_word(c) && c != '.' && c != ')' && c != ']'))
            break;
        if (c == '\n' || c == '\0')
            return begin;
    }
    return depth > 0 ? begin : at;
}

/* (double)a[i]: the ')' is read, and 'a' was not expected. */
static void hint_cast(const mistake *x, kj_message *m)
{
    const kj_source *source = x->p->source;
    if (x->p->prev != KJ_TK_RPAREN || !in_word(source->text[x->at.begin]))
        return;
    kj_span word = {0, x->p->prev_span.begin};
    while (word.end > 0 && source->text[word.end - 1] == ' ')
        word.end--;
    for (word.begin = word.end; word.begin > 0 && in_word(source->text[word.begin - 1]);)
        word.begin--;
    uint32_t open = word.begin;
    while (open > 0 && source->text[open - 1] == ' ')
        open--;
    const char *type = type_in_c(source_text(x->p, word));
    if (!type || open == 0 || source->text[open - 1] != '(')
        return;
    enum { MOST = 40 };
    kj_span taken = {x->at.begin, operand_end(source, x->at.begin)};
    bool shown = taken.end > taken.begin && taken.end - taken.begin <= MOST;
    kj_hint(x->p->diag, m, "conversions are written %s(%s)", type,
            shown ? source_text(x->p, taken) : "...");
}

/* ---- What was wanted ---- */

/* TPB = 16 */
static bool is_assigned(const mistake *x)
{
    const char *text = x->p->source->text + x->at.end;
    text += strspn(text, " \t");
    return text[0] == '=' && text[1] != '=';
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
    if (is(x, ".") && x->p->before_prev == KJ_TK_AT)
        hint(x, m, "a kernel needs no decorator: kernel name(x: f32[]) { ... }");
    else if (is(x, "name") && is_assigned(x))
        kj_hint(x->p->diag, m, "a file's constants are declared with 'const': const %s = ...",
                source_text(x->p, x->at));
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

static void at_expression(const mistake *x)
{
    const kj_parser *p = x->p;
    kj_message *m = expected(x, "an expression");
    if (adjacent(p, KJ_TK_PLUS))
        hint(x, m, "there is no '++': write i += 1");
    else if (adjacent(p, KJ_TK_MINUS))
        hint(x, m, "there is no '--': write i -= 1");
    else if (is(x, ":") && p->nopen && p->open[p->nopen - 1].kind == '[')
        hint(x, m, "types of arrays are written f32[], with two axes f32[,]"); /* not f32[:, :] */
    else if (is(x, "const"))
        hint(x, m, CONST_PLACE);
    else if (is(x, "<") && p->prev == KJ_TK_SHL)
        hint(x, m, "a launch is written k[blocks, threads](x)");
    else if (is(x, "&"))
        hint(x, m, "there are no addresses: atomics take array and index, atomic.add(a, i, 1)");
    else if (is(x, ".") && p->nopen && p->open[p->nopen - 1].kind == '[')
        hint(x, m, "a[:] is all of an array, a[i, :] a row of it");
    else if (is(x, "end of line") && p->prev != KJ_TK_ASSIGN)
        hint(x, m, GOES_ON);
}

/* Is the mistake where a comment of C's goes wrong? At its beginning, or behind its first word. */
static bool is_comment(const mistake *x)
{
    const char *text = x->p->source->text;
    uint32_t at = x->at.begin, end = x->at.end;
    if (at < end && text[at] == '/' && (text[at + 1] == '/' || text[at + 1] == '*'))
        return true;
    if (at > 0 && at < end && text[at - 1] == '/' && text[at] == '*')
        return true;
    while (at > 0 && text[at - 1] == ' ')
        at--;
    uint32_t word = at;
    while (at > 0 && kj_is_word(text[at - 1]))
        at--;
    bool any = at < word;
    while (at > 0 && text[at - 1] == ' ')
        at--;
    return any && at >= 2 && text[at - 1] == '/' && text[at - 2] == '/';
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
    if (is(x, "string") && p->prev == KJ_TK_NAME && p->prev_span.end == x->at.begin)
        return "strings have no prefix: print takes texts and values, print(\"x is\", x)";
    if (is(x, "string") && p->prev == KJ_TK_STRING && p->prev_span.end == x->at.begin)
        return "a comment begins with #";
    if (is(x, "name") && strcmp(source_text(x->p, x->at), "is") == 0)
        return "'==' compares, and isnan(x) finds a nan";
    return NULL;
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
        kj_error(p->diag, x->at, KJ_RULE_SYNTAX, "unexpected '%s': no '%c' is open", x->token,
                 *x->token == ')' ? '(' : '[');
        return;
    }
    if (is(x, "=") && !wants(x, "]")) {
        kj_message *m = error(x, "unexpected '=' in an expression");
        bool compares = !wants(x, "end of line") || line_begins(x->p, x->at, "requires");
        hint(x, m, compares ? "'==' compares" : "a statement assigns once");
        return;
    }
    kj_message *m;
    if (wants(x, "{")) {
        m = expected(x, "'{'");
        if (is(x, "end of line"))
            hint(x, m, BRACE_PLACE);
        else if (is(x, "name"))
            hint(x, m, "a block stands in braces: { ... }");
    } else if (wants(x, ")") || wants(x, "]")) {
        const char *closer = wants(x, ")") ? "')'" : "']'";
        m = expected(x, wants(x, ",") ? kj_arena_printf(p->arena, "',' or %s", closer) : closer);
    } else if (wants(x, "end of line")) {
        m = expected(x, "the end of the statement");
        if (p->prev == KJ_TK_NAME)
            hint_keyword(x, m, p->prev_span, stmt_words, sizeof stmt_words / sizeof *stmt_words);
        if (!m->hint && is(x, ":"))
            hint(x, m, "variables are declared with 'let' or 'var': let x: f32 = 1");
    } else {
        m = expected(x, "an operator");
    }
    const char *known = hint_for_operator(x);
    if (known)
        hint(x, m, known);
    hint_cast(x, m);
}

/* Where a statement begins. */
static void at_statement(const mistake *x)
{
    static const char *const operators[] = {
        "*",  "/",  "//", "%",  "**", "|",  "^",   "&",  "<<", ">>",
        "==", "!=", "<",  "<=", ">",  ">=", "and", "or", ","};
    kj_message *m = expected(x, "a statement");
    if (is(x, "const"))
        hint(x, m, "write let here: constants stand at the top of a file");
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
    if (is(x, "(") && before == KJ_TK_FOR)
        hint(x, m, "loops are written: for i in range(n) { ... }");
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
        hint(x, expected(x, "'{'"),
             is(x, "end of line") ? BRACE_PLACE : "a block stands in braces: { ... }");
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
    else if (wants(x, ":") && x->n == 1)
        hint(x, m, in_braces ? "a field has a type: x: f32" : "a parameter has a type: x: f32");
}

/* A colon where a block begins: Python's, or what other languages have for '->'. */
static void at_colon(const mistake *x)
{
    const char *text = x->p->source->text + x->at.end;
    kj_message *m = error(x, "a block begins with '{', not ':'");
    while (*text == ' ')
        text++;
    if (wants(x, "->") && kj_is_word(*text) && !in_kernel_header(x))
        hint(x, m, "a result's type stands behind '->': fn name(x: f32) -> f32 { ... }");
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
    return true;
}

static void report(const mistake *x)
{
    if (unclosed_bracket(x))
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
        expected(x, "a field, as in x: f32");
    else if (wants(x, "}") && wants(x, ",") && !wants(x, "*"))
        expected(x, "',' or the end of the line");
    else if (wants(x, "*") || wants(x, "end of line"))
        at_operator(x);
    else if (wants(x, "name") && wants(x, "("))
        expected(x, "a type");
    else if (wants(x, "name") && x->n <= 2 && !wants(x, "{"))
        at_name(x);
    else
        at_tokens(x);
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
    return is(x, "}") || (x->at.begin > 0 && x->p->source->text[x->at.begin - 1] != '\n');
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
    report(&x);
    p->astray |= p->nbraces == 0;
    if (p->diag->last != before && is_comment(&x))
        kj_hint(p->diag, p->diag->last, "a comment begins with #; // divides and rounds down");
    p->stopped = p->diag->full;
}

/* ---- Stray characters ---- */

void kj_stray_brace(kj_parser *p, kj_span span, const char *text)
{
    if (!p->stray)
        kj_error(p->diag, span, KJ_RULE_STRING, "%s", text);
    p->stray = true;
}

void kj_stray_conversion(kj_parser *p, kj_span span)
{
    if (!p->stray)
        kj_hint(
            p->diag,
            kj_error(p->diag, span, KJ_RULE_STRAY, "the values of an f-string have no conversions"),
            "a value and its format are written {x:8.3f}");
    p->stray = true;
}

void kj_stray_character(kj_parser *p, kj_span span, const char *text, size_t len)
{
    static const struct {
        char character;
        const char *hint;
    } known[] = {
        {'?', "a conditional expression is written: a if test else b"},
        {'\\', GOES_ON},
        {'$', "names are of letters, digits and '_'"},
        {'`', "strings stand in double quotes: \"text\""},
        {'\r', "a line ends in \\n or \\r\\n"},
    };
    uint32_t code;
    size_t first = kj_utf8(text, text + len, &code);
    kj_message *m;
    if (p->stray)
        return;
    p->stray = true;
    if ((unsigned char)text[0] >= 0x80 && first == 1) {
        kj_error(p->diag, span, KJ_RULE_STRAY, "byte 0x%02x is not UTF-8 text",
                 (unsigned char)text[0]);
        return;
    }
    if (code < 0x20 || code == 0x7f || code == 0xa0 || code == 0xfeff ||
        (code >= 0x2000 && code <= 0x206f))
        m = kj_error(p->diag, span, KJ_RULE_STRAY, "unexpected character U+%04X", code);
    else
        m = kj_error(p->diag, span, KJ_RULE_STRAY, "unexpected character '%.*s'", (int)first, text);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (text[0] == known[i].character)
            kj_hint(p->diag, m, "%s", known[i].hint);
    }
    if (code >= 0x2018 && code <= 0x201f)
        kj_hint(p->diag, m, "strings stand in double quotes: \"text\"");
    else if (code >= 0x80)
        kj_hint(p->diag, m,
                "names are of the letters a-z and A-Z, digits and '_'; other characters stand in "
                "strings and "
                "comments");
}
