/* Syntax errors in the reader's words: the token bison cannot use and those it could come in, a
 * message goes out.
 *
 * The names of tokens are those of knl.y. What is wanted is told by a token that only it begins
 * or continues with: an expression by "integer", a statement by "let", an item by "kernel", an
 * operator behind an expression by "*". */
#include <string.h>

#include "knl.tab.h"
#include "lang/types.h"
#include "parse/habit.h"
#include "parse/mistake.h"

#define CONST_PLACE "constant arrays stand at the top of a file: const W: f32[] = [1, 2]"

bool kj_wants(const kj_mistake *x, const char *token)
{
    for (int i = 0; i < x->n; i++) {
        if (strcmp(x->expected[i], token) == 0)
            return true;
    }
    return false;
}

bool kj_met(const kj_mistake *x, const char *token)
{
    return strcmp(x->token, token) == 0;
}

const char *kj_mistake_source(kj_parser *p, kj_span span)
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
        return kj_arena_printf(p->arena, "'%s'", kj_mistake_source(p, span));
    const char *text = p->source->text + span.begin, *end = text;
    uint32_t code;
    while (end < text + MOST)
        end += kj_utf8(end, text + (span.end - span.begin), &code);
    span.end = span.begin + (uint32_t)(end - text);
    return kj_arena_printf(p->arena, "'%s...'", kj_mistake_source(p, span));
}

kj_message *kj_mistake_error(const kj_mistake *x, const char *text)
{
    return kj_error(x->p->diag, x->at, KJ_RULE_SYNTAX, "%s", text);
}

void kj_mistake_hint(const kj_mistake *x, kj_message *m, const char *text)
{
    kj_hint(x->p->diag, m, "%s", text);
}

kj_message *kj_expected(const kj_mistake *x, const char *wanted)
{
    return kj_error(x->p->diag, x->at, KJ_RULE_SYNTAX, "expected %s before %s", wanted, x->text);
}

/* ---- Words of other languages and slips of the finger ---- */

#define ENUMS "enums are written 'enum Name { RED, GREEN = 5 }', of a type 'enum Name: u8 { ... }'"

bool kj_line_begins(const kj_parser *p, kj_span at, const char *word)
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

/* ---- What was wanted ---- */

static bool adjacent(const kj_parser *p, int token)
{
    return p->prev == token && p->before_prev == token &&
           p->before_prev_span.end == p->prev_span.begin;
}

/* k<<<1, 32>>>(x) */
static void hint_launch(const kj_mistake *x, kj_message *m)
{
    const char *text = x->p->source->text, *begin = text + x->at.end;
    const char *end = strstr(begin, ">>>"), *line = strchr(begin, '\n');
    if (!end || (line && end > line)) { /* n <<< 3 */
        kj_write(x->p->diag, m, (kj_span){x->p->prev_span.begin, x->at.end}, "<<");
        return;
    }
    kj_mistake_hint(x, m, "a launch is written k[blocks, threads](x)");
    int commas = 0, depth = 0;
    for (const char *c = begin; c < end; c++) {
        depth += (*c == '(') - (*c == ')');
        commas += *c == ',' && depth == 0;
    }
    if (commas > 1) /* CUDA's third is the shared memory's size, which a kernel knows by itself */
        kj_mistake_hint(
            x, m,
            "a launch is written k[blocks, threads](x), in a stream k[blocks, threads, s](x); "
            "the size of shared arrays is what shared.array(...) says");
    else
        kj_fix(x->p->diag, m, (kj_span){x->p->prev_span.begin, (uint32_t)(end + 3 - text)},
               "[%.*s]", (int)(end - begin), begin);
}

/* print(var(a)), where the word begins a variable. */
static bool hint_variance(const kj_mistake *x, kj_message *m)
{
    const kj_source *s = x->p->source;
    uint32_t close = s->text[x->at.end] == '(' ? kj_closing(s, x->at.end) : 0;
    if (!kj_met(x, "var") || !close)
        return false;
    const char *a = kj_piece(x->p, x->at.end + 1, close);
    bool name = kj_word_end(s, x->at.end + 1) == close && close > x->at.end + 1;
    a = name ? a : "a";
    kj_hint(x->p->diag, m, "write ((%s - %s.mean()) ** 2).mean()", a, a);
    if (name)
        kj_fix(x->p->diag, m, (kj_span){x->at.begin, close + 1}, "((%s - %s.mean()) ** 2).mean()",
               a, a);
    return true;
}

static void at_expression(const kj_mistake *x)
{
    const kj_parser *p = x->p;
    bool in_brackets = p->nopen && p->open[p->nopen - 1].kind != '{';
    if (kj_operator_parted(x) ||
        (p->prev == KJ_TK_ASSIGN && in_brackets && kj_comparison_reversed(x)))
        return;
    if (adjacent(p, KJ_TK_PLUS) || adjacent(p, KJ_TK_MINUS)) {
        kj_habit_step(x->p, (kj_span){p->before_prev_span.begin, p->prev_span.end});
        return;
    }
    if ((kj_met(x, ">") || kj_met(x, ">=")) && p->prev == KJ_TK_SHR &&
        p->prev_span.end == x->at.begin) {
        kj_habit_shift(x->p, (kj_span){p->prev_span.begin, x->at.end});
        return;
    }
    kj_message *m = kj_expected(x, "an expression");
    if (!kj_is_shown(p->diag, m) || kj_habit_only_part_at(x, m))
        return;
    if (kj_met(x, ":") && p->nopen && p->open[p->nopen - 1].kind == '[') {
        kj_mistake_hint(x, m, ARRAY_TYPES); /* not f32[:, :] */
        kj_habit_axes(x->p, m, x->at);
    } else if (kj_met(x, "{") && (p->prev == KJ_TK_ASSIGN || p->prev == KJ_TK_LPAREN ||
                                  p->prev == KJ_TK_COMMA || p->prev == KJ_TK_RETURN)) {
        if (kj_habit_record(x->p, m, x->at))
            return;
        kj_mistake_hint(x, m, "lists stand in [ ]; there are no dictionaries");
        kj_layout_skip_block(x->p);
    } else if (kj_met(x, "if")) {
        kj_mistake_hint(x, m, "a conditional expression is written: a if test else b");
        kj_layout_skip_block(x->p);
    } else if (hint_variance(x, m) || (kj_met(x, ")") && kj_hint_pointer_cast(x->p, m)) ||
               (kj_met(x, "*") && kj_habit_dereference(x->p, m, x->at)))
        ;
    else if (kj_met(x, "let"))
        kj_mistake_hint(x, m, "there are no options: a value is there");
    else if (kj_met(x, "fn"))
        kj_mistake_hint(x, m, "a function is declared at the top of a file");
    else if (kj_met(x, "not"))
        kj_habit_not_operand(x->p, m, x->at);
    else if (kj_met(x, "|"))
        kj_mistake_hint(x, m, "there are no closures: a function is declared at the top of a file");
    else if (kj_met(x, "const"))
        kj_mistake_hint(x, m, CONST_PLACE);
    else if (kj_met(x, ".") && kj_hint_dotted(x->p->diag, m, x->at.begin))
        ;
    else if (kj_met(x, "<") && p->prev == KJ_TK_SHL)
        hint_launch(x, m);
    else if (kj_met(x, "&") && !kj_habit_address(x->p, m, x->at))
        kj_mistake_hint(
            x, m,
            kj_is_item_of(p->source, x->at.begin, "run")
                ? "there are no addresses: an array is passed as it is, a part of it as a view, "
                  "a[1:]"
                : "there are no addresses: atomics take array and index, atomic.add(a, i, 1)");
    else if (kj_met(x, ".") && p->nopen && p->open[p->nopen - 1].kind == '[')
        kj_habit_range_to(x->p, m, x->at);
    else if (kj_met(x, "=") && p->prev == KJ_TK_LBRACKET)
        kj_mistake_hint(x, m, ARRAY_TYPES);
    else if (p->prev == KJ_TK_LBRACKET && kj_habit_array_type(x->p, m, x->at))
        ;
    else if (kj_met(x, "end of line") && p->prev != KJ_TK_ASSIGN)
        kj_mistake_hint(x, m, GOES_ON);
}

/* A block within a block, {{ ... }} */
static void at_second_brace(const kj_mistake *x, kj_message *m)
{
    const kj_parser *p = x->p;
    const char *between = p->source->text + p->prev_span.end;
    if (p->prev != KJ_TK_LBRACE ||
        between + strspn(between, " \t") != p->source->text + x->at.begin) {
        kj_mistake_hint(x, m, "a block stands behind a header: if, for, while, @unchecked");
        return;
    }
    kj_mistake_hint(x, m, "a block has one pair of braces: { ... }");
    if (!kj_habit_braces(x->p, m, x->at))
        kj_layout_lacks_brace(x->p);
}

/* Where a statement begins. */
static void at_statement(const kj_mistake *x)
{
    static const char *const operators[] = {
        "*",  "/",  "//", "%",  "**", "|",  "^",   "&",  "<<", ">>",
        "==", "!=", "<",  "<=", ">",  ">=", "and", "or", ","};
    kj_message *m = kj_expected(x, "a statement");
    if (!kj_is_shown(x->p->diag, m))
        return;
    if (kj_met(x, "const") && !kj_habit_declaration(x->p, m, x->at)) {
        kj_mistake_hint(x, m, "write let here: constants stand at the top of a file");
        kj_fix(x->p->diag, m, x->at, "let");
    }
    if (kj_met(x, "*") && kj_habit_dereference(x->p, m, x->at))
        return;
    if (kj_met(x, "{"))
        at_second_brace(x, m);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (kj_met(x, operators[i]))
            kj_mistake_hint(x, m, GOES_ON);
    }
}

/* atomic.and: what is there has a '_' behind it. */
static void hint_for_member(const kj_mistake *x, kj_message *m)
{
    static const char before[] = "atomic.";
    const char *text = x->p->source->text + x->at.begin;
    size_t len = sizeof before - 1;
    if (x->at.begin >= len && memcmp(text - len, before, len) == 0 &&
        (x->p->token == KJ_TK_AND || x->p->token == KJ_TK_OR))
        kj_write(x->p->diag, m, (kj_span){x->at.begin - (uint32_t)len, x->at.end}, "%s%s_", before,
                 x->token);
}

static void at_name(const kj_mistake *x)
{
    static const char *const classes[] = {"integer", "number", "string", "assignment operator"};
    bool keyword = x->token[0] >= 'a' && x->token[0] <= 'z' && x->at.begin < x->at.end;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        keyword &= !kj_met(x, classes[i]);
    const char *here = x->p->source->text + x->at.begin;
    bool declares = x->p->token == KJ_TK_VAR || x->p->token == KJ_TK_LET;
    if (declares && x->p->prev == KJ_TK_FOR && strcspn(here, ";") < strcspn(here, "{#\n")) {
        kj_habit_for_open(x->p, kj_expected(x, "a name"), x->at.begin);
        return;
    }
    if (keyword) {
        kj_message *m = kj_misnamed(x->p, x->at, x->p->token);
        if (kj_met(x, "const") && x->p->prev == KJ_TK_DOT)
            kj_mistake_hint(x, m, CONST_PLACE);
        else if (x->p->prev == KJ_TK_DOT && kj_hint_dotted(x->p->diag, m, x->p->prev_span.begin))
            return;
        hint_for_member(x, m);
        if (x->p->prev == KJ_TK_CONST &&
            (x->p->token == KJ_TK_FN || x->p->token == KJ_TK_KERNEL)) { /* const fn */
            kj_mistake_hint(x, m, "leave 'const' out");
            kj_fix(x->p->diag, m, (kj_span){x->p->prev_span.begin, x->at.begin}, "%s", "");
        }
        return;
    }
    kj_message *m = kj_expected(x, "a name");
    int before = x->p->prev;
    if (kj_habit_only_part_at(x, m))
        return;
    if (kj_met(x, "(") && before == KJ_TK_FOR && kj_unwrap_names(x, m)) {
        ;
    } else if (kj_met(x, "(") && before == KJ_TK_FOR) {
        kj_mistake_hint(x, m, "loops are written: for i in range(n) { ... }");
        if (kj_is_shown(x->p->diag, m))
            kj_habit_for(x->p, m, x->at);
    } else if (kj_met(x, "<") && before == KJ_TK_VAR) /* var<workgroup> */
        kj_mistake_hint(x, m, kj_foreign_variable(x->p, x->at));
    else if (before == KJ_TK_DOT)
        kj_hint_behind_dot(x, m);
    else if (before == KJ_TK_COMMA && kj_met(x, "("))
        kj_mistake_hint(x, m,
                        "a tuple within has one name, and a let of its own: for k, q in ... { let "
                        "x, y = q }");
    else if ((before == KJ_TK_LET || before == KJ_TK_VAR) && !kj_unwrap_declared(x, m) &&
             kj_met(x, "("))
        kj_mistake_hint(x, m, "several names stand without parentheses: let a, b = ...");
}

static void at_type(const kj_mistake *x)
{
    kj_message *m = kj_expected(x, "a type");
    const kj_parser *p = x->p;
    if (kj_met(x, ":") && p->prev == KJ_TK_COLON &&
        p->prev_span.end == x->at.begin) { /* x::Float32 */
        kj_mistake_hint(x, m, "a type stands behind one ':', x: f32");
        kj_fix(p->diag, m, x->at, "%s", kj_is_word(p->source->text[x->at.end]) ? " " : "");
        return;
    }
    if (kj_is_shown(x->p->diag, m) && !kj_habit_type(x->p, m, x->at) && kj_met(x, "in"))
        kj_leave_qualifier(x, m, x->at);
}

/* f( and `var n = 3` in a line below: no parameter, which has no value. */
static bool declares_below(const kj_mistake *x)
{
    const char *behind = x->p->source->text + x->at.end;
    return x->p->held && behind[strcspn(behind, ",:)=\n")] == '=';
}

/* A bracket was open when a token came that shows it should have been closed. */
static bool unclosed_bracket(const kj_mistake *x)
{
    kj_parser *p = x->p;
    if (!p->unclosed.kind)
        return false;
    kj_message *m = kj_error(p->diag, x->at, KJ_RULE_SYNTAX, "missing '%c' before %s",
                             p->unclosed.kind == '(' ? ')' : ']', x->text);
    kj_note(p->diag, m, p->unclosed.span, "to close the '%c' opened here", p->unclosed.kind);
    if (hint_variance(x, m))
        return true;
    bool first = p->prev == KJ_TK_LPAREN || p->prev == KJ_TK_COMMA; /* f(var x: f32) */
    if (kj_met(x, "for"))
        kj_mistake_hint(x, m, NO_COMPREHENSIONS);
    else if ((!first || declares_below(x) || !kj_leave_qualifier(x, m, x->at)) &&
             !(p->held && p->prev == KJ_TK_LBRACKET)) /* x[]: an index is missing, too */
        kj_fix(p->diag, m, p->wrong_closer ? x->at : (kj_span){p->prev_span.end, p->prev_span.end},
               "%c", p->unclosed.kind == '(' ? ')' : ']');
    return true;
}

/* Behind an attribute within a body. */
static void at_attribute(const kj_mistake *x)
{
    const kj_parser *p = x->p;
    kj_message *m = kj_expected(x, "'for', 'while' or '{'");
    if (p->prev == KJ_TK_NAME && strcmp(kj_mistake_source(x->p, p->prev_span), "unchecked") == 0)
        kj_mistake_hint(x, m, "write @unchecked { ... }, around the statements");
    else if (p->prev == KJ_TK_NAME && p->prev_span.begin > 0 &&
             (strcmp(kj_mistake_source(x->p, p->prev_span), "inbounds") == 0 ||
              strcmp(kj_mistake_source(x->p, p->prev_span), "simd") == 0)) {
        kj_mistake_hint(x, m,
                        "leave it out: indices that are known to be inside are not looked at");
        kj_fix(p->diag, m, (kj_span){p->prev_span.begin - 1, x->at.begin}, "%s", "");
    } else if (p->prev == KJ_TK_NAME && kj_habit_timing(kj_mistake_source(x->p, p->prev_span))) {
        kj_mistake_hint(x, m, kj_habit_timing(kj_mistake_source(x->p, p->prev_span)));
        kj_fix(p->diag, m, (kj_span){p->prev_span.begin - 1, x->at.begin}, "%s", "");
    } else
        kj_mistake_hint(x, m,
                        "of statements there are @unroll for ... { ... } and @unchecked { ... }");
}

/* x: Array{Float32} of Julia, and what follows is Julia too. */
static bool type_in_braces(const kj_mistake *x)
{
    kj_parser *p = x->p;
    if (!kj_met(x, "{") || p->prev != KJ_TK_NAME || p->before_prev != KJ_TK_COLON ||
        !p->unclosed.kind)
        return false;
    kj_error(p->diag, (kj_span){p->prev_span.begin, x->at.end}, KJ_RULE_SYNTAX,
             "a type has no braces");
    kj_mistake_hint(x, p->diag->last, ARRAY_TYPES);
    p->stopped = true;
    return true;
}

/* unsigned char, long long: a type of several words, where no name of a variable stands behind it. */
static bool type_of_words(const kj_mistake *x)
{
    static const char *const first[] = {"unsigned", "signed", "long", "short"};
    kj_parser *p = x->p;
    const char *before = p->source->text + p->prev_span.begin - 1;
    bool known = false, cast = p->prev_span.begin > 1 && p->before_prev == KJ_TK_LPAREN &&
                               *before == '(' && !kj_is_word(before[-1]);
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        known |= kj_is_word_at(p->source, p->prev_span.begin, first[i]);
    if (!kj_met(x, "name") || p->prev != KJ_TK_NAME || !known || cast)
        return false;
    kj_c_type t = kj_habit_read_type(p, p->prev_span.begin);
    if (!t.name || t.pointers || t.end < x->at.end ||
        !strchr("[]),>={\r\n#", p->source->text[kj_skip_blanks(p->source, t.end)]))
        return false;
    kj_span words = {p->prev_span.begin, t.end};
    kj_write(p->diag,
             kj_error(p->diag, words, KJ_RULE_SYNTAX, "there is no type '%s'",
                      kj_piece(p, words.begin, words.end)),
             words, "%s", t.name);
    return true;
}

static void report(const kj_mistake *x)
{
    if (type_in_braces(x) || type_of_words(x))
        return;
    if (unclosed_bracket(x) || kj_wrong_use(x) || kj_wrong_test(x) || kj_closes_nothing(x))
        return;
    if (kj_met(x, ":") && kj_wants(x, "{"))
        kj_at_colon(x);
    else if ((kj_met(x, "else") || kj_met(x, "elif")) &&
             (kj_is_told(x->p, x->at) || kj_is_told_above(x->p, x->at)))
        return; /* if (c) a; else b; */
    else if (kj_met(x, "else") || kj_met(x, "elif"))
        kj_error(x->p->diag, x->at, KJ_RULE_SYNTAX, "unexpected '%s': no if ends before it",
                 x->token);
    else if (kj_wants(x, "kernel"))
        kj_at_item(x);
    else if (kj_wants(x, "let"))
        at_statement(x);
    else if (kj_wants(x, "@") && !kj_wants(x, "*"))
        at_attribute(x);
    else if (kj_wants(x, "integer"))
        at_expression(x);
    else if (kj_wants(x, "}") && kj_wants(x, "name"))
        kj_expected(x, x->p->enumerates ? "a name of the enum" : "a field, as in x: f32");
    else if (kj_wants(x, "}") && kj_wants(x, ",") && !kj_wants(x, "*"))
        kj_at_field_end(x);
    else if (kj_wants(x, "*") || kj_wants(x, "end of line"))
        kj_behind_expression(x);
    else if (kj_wants(x, "name") && kj_wants(x, "("))
        at_type(x);
    else if (kj_wants(x, "name") && x->n <= 2 && !kj_wants(x, "{"))
        at_name(x);
    else
        kj_at_tokens(x);
}

#define COMMENTS "a comment begins with #; // divides and rounds down"

static void at_comment(const kj_mistake *x, uint32_t begin)
{
    kj_span at = {begin, begin + 2};
    kj_message *m = kj_error(x->p->diag, at, KJ_RULE_SPELLING, "use '#' instead of '//'");
    kj_mistake_hint(x, m, COMMENTS);
    kj_fix(x->p->diag, m, at, "#");
}

/* Does the token begin a line where the ( or [ open before it could have been closed? */
static bool closer_forgotten(const kj_mistake *x)
{
    const kj_parser *p = x->p;
    if (!p->nopen || p->open[p->nopen - 1].kind == '{' || x->at.begin <= p->prev_span.end)
        return false;
    if (p->open[p->nopen - 1].kind == '(' && kj_met(x, "name") &&
        kj_before_colon(x)) /* a parameter, and no comma before it */
        return false;
    return kj_wants(x, p->open[p->nopen - 1].kind == '(' ? ")" : "]") &&
           memchr(p->source->text + p->prev_span.end, '\n', x->at.begin - p->prev_span.end);
}

/* Behind an item's header that is wrong, or a header of another language: is this of its body? */
static bool of_lost_body(const kj_mistake *x)
{
    if (!x->p->astray || !kj_wants(x, "kernel"))
        return false;
    if (x->p->after_decorator && strcmp(kj_mistake_source(x->p, x->at), "def") == 0)
        return true;
    return kj_met(x, "}") || (x->at.begin > 0 && x->p->source->text[x->at.begin - 1] != '\n');
}

/* Its block, whose names are no statements, is not looked at. */
static bool is_enum_header(const kj_mistake *x, const kj_message *before)
{
    kj_message *m = x->p->diag->last;
    if (x->p->nbraces > kj_met(x, "{") || !kj_line_begins(x->p, x->at, "enum"))
        return false;
    if (m != before && m && !m->hint)
        kj_mistake_hint(x, m, ENUMS);
    return true;
}

/* x: f32[ of a field or parameter, and the next one in the line below: the tokens `y:` within the brackets. */
static bool field_in_brackets(const kj_mistake *x)
{
    kj_parser *p = x->p;
    uint32_t end = p->before_prev_span.end, next = p->prev_span.begin;
    if (!p->nopen || p->open[p->nopen - 1].kind != '[' || !kj_met(x, ":") ||
        p->prev != KJ_TK_NAME || !kj_wants(x, "]") || next <= end ||
        !memchr(p->source->text + end, '\n', next - end))
        return false;
    kj_message *m = kj_error(p->diag, p->prev_span, KJ_RULE_SYNTAX, "missing ']' before '%s'",
                             kj_mistake_source(p, p->prev_span));
    kj_note(p->diag, m, p->open[p->nopen - 1].span, "to close the '[' opened here");
    if (--p->nopen && p->open[p->nopen - 1].kind == '{')
        kj_mistake_hint(x, m, "an array in a record has a size: f32[3]");
    else
        kj_fix(p->diag, m, (kj_span){end, end}, "]");
    return true;
}

/* Does the rest of the line close a bracket that is open before it? */
static bool closes_in_line(const char *text)
{
    int depth = 0;
    for (; *text && !strchr("\r\n#", *text) && depth >= 0; text++)
        depth += (strchr("([", *text) != NULL) - (strchr(")]", *text) != NULL);
    return depth < 0;
}

static uint32_t line_begin(const char *text, uint32_t at)
{
    while (at > 0 && text[at - 1] != '\n')
        at--;
    return at;
}

/* Where the last code before the line that begins there ends; 0: there is none. */
static uint32_t code_before(const kj_source *s, uint32_t line)
{
    while (line > 0) {
        line = line_begin(s->text, line - 1);
        uint32_t begin = kj_skip_blanks(s, line), end = kj_code_end(s, begin);
        if (end > begin)
            return end;
    }
    return 0;
}

/* f( and s += 1 in the line below: nothing in brackets is assigned so. */
static bool update_in_brackets(const kj_mistake *x)
{
    kj_parser *p = x->p;
    const char *text = p->source->text;
    if (!p->nopen || p->open[p->nopen - 1].kind == '{' || p->nformats || p->token != KJ_TK_UPDATE)
        return false;
    uint32_t line = line_begin(text, x->at.begin);
    uint32_t begin = kj_skip_blanks(p->source, line), end = code_before(p->source, line);
    char kind = p->open[p->nopen - 1].kind;
    kj_span open = p->open[p->nopen - 1].span;
    if (open.end > line || closes_in_line(text + x->at.end))
        return false;
    kj_message *m = kj_error(p->diag, (kj_span){begin, kj_word_end(p->source, begin)},
                             KJ_RULE_SYNTAX, "missing '%c' before '%s'", kind == '(' ? ')' : ']',
                             kj_piece(p, begin, kj_word_end(p->source, begin)));
    kj_note(p->diag, m, open, "to close the '%c' opened here", kind);
    if (kind == '(' && end > 0 && text[end - 1] != ',')
        kj_fix(p->diag, m, (kj_span){end, end}, ")");
    kj_layout_close(p);
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
    kj_mistake x = {p, at, unexpected, shown(p, at, unexpected), expected_tokens, n};
    bool at_end = kj_met(&x, "end of line") || kj_met(&x, "end of file");
    if (at_end && p->prev)
        x.at = (kj_span){p->prev_span.end, p->prev_span.end};
    if (field_in_brackets(&x) || update_in_brackets(&x)) {
        p->stopped |= p->diag->full;
        return;
    }
    if (closer_forgotten(&x)) {
        p->unclosed = p->open[p->nopen - 1];
        kj_layout_close(p);
    }
    if (p->lost_else && (kj_met(&x, "else") || kj_met(&x, "elif"))) {
        p->lost_else = false;
        return;
    }
    const kj_message *before = p->diag->last;
    if (of_lost_body(&x) || (before && x.at.begin < x.at.end && before->span.begin == x.at.begin))
        return;
    uint32_t comment = kj_habit_comment(p, x.at);
    bool slashes = comment < p->source->size;
    if (slashes && !kj_divides(&x, comment))
        at_comment(&x, comment);
    else
        report(&x);
    kj_message *m = p->diag->last;
    if (slashes && m && m != before && !m->hint)
        kj_mistake_hint(&x, m, COMMENTS);
    if (kj_wants(&x, "{") && m != before && !kj_has_brace(&x))
        kj_layout_lose_block(p, x.at);
    if (is_enum_header(&x, before))
        kj_layout_skip_block(p);
    p->astray |= p->nbraces == 0;
    p->stopped |= p->diag->full;
}
