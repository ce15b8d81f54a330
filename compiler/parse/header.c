/* What is wrong in headers, declarations and types, where few tokens could come. */
#include <string.h>

#include "knl.tab.h"
#include "parse/habit.h"
#include "parse/mistake.h"

bool kj_before_colon(const kj_mistake *x)
{
    const char *next = x->p->source->text + x->at.end;
    return next[strspn(next, " \t")] == ':';
}

/* Is the line the header of a kernel, which has no result? */
static bool in_kernel_header(const kj_mistake *x)
{
    const char *text = x->p->source->text;
    uint32_t at = x->at.begin;
    while (at > 0 && text[at - 1] != '\n')
        at--;
    while (text[at] == ' ' || text[at] == '\t')
        at++;
    return strncmp(text + at, "kernel ", strlen("kernel ")) == 0;
}

static void fix_comma(const kj_mistake *x, kj_message *m)
{
    kj_fix(x->p->diag, m, (kj_span){x->p->prev_span.end, x->p->prev_span.end}, ",");
    kj_mistake_hint(x, m, "a comma stands between parameters");
}

static void hint_axes(const kj_mistake *x, kj_message *m)
{
    kj_habit_axes(x->p, m, x->at);
    kj_mistake_hint(x, m, ARRAY_TYPES);
}

/* f(x: f32) f32 {, f(x: f32) - > f32 { */
static void fix_arrow(const kj_mistake *x, kj_message *m)
{
    const char *next = x->p->source->text + x->at.end;
    if (kj_met(x, "name") && kj_habit_type_named(kj_mistake_source(x->p, x->at))) {
        kj_mistake_hint(x, m, "a result's type stands behind '->': fn name(x: f32) -> f32 { ... }");
        kj_fix(x->p->diag, m, (kj_span){x->at.begin, x->at.begin}, "-> ");
    } else if (kj_met(x, "-") && strncmp(next, " >", 2) == 0) {
        kj_write(x->p->diag, m, (kj_span){x->at.begin, x->at.end + 2}, "->");
    }
}

/* let y f32 = 1, let f32 y = 1 */
static bool hint_typed(const kj_mistake *x, kj_message *m)
{
    kj_parser *p = x->p;
    const char *before = kj_mistake_source(p, p->prev_span), *here = kj_mistake_source(p, x->at);
    const char *first = kj_habit_type_named(before), *second = kj_habit_type_named(here);
    kj_span both = {p->prev_span.begin, x->at.end};
    if (!kj_met(x, "name") || p->prev != KJ_TK_NAME || (!first && !second))
        return false;
    kj_write(p->diag, m, both, "%s: %s", second ? before : here, second ? second : first);
    return true;
}

/* What is written otherwise where few tokens could come; false: nothing that is known. */
static bool hint_tokens(const kj_mistake *x, kj_message *m)
{
    if (kj_wants(x, ":") && kj_wants(x, "=") && hint_typed(x, m))
        return true;
    const char *text = NULL;
    if (kj_wants(x, "[") && (kj_met(x, "(") || kj_met(x, "<")))
        text = ARRAY_TYPES;
    else if (kj_met(x, "@") &&
             kj_wants(x, "const")) /* @builtin(global_invocation_id) id: vec3<u32> */
        text = "a thread's place is built in: grid(1), threadIdx.x, blockIdx.x";
    else if (kj_wants(x, "]") && kj_wants(x, ",") && x->n == 2)
        text = ARRAY_TYPES;
    else if (kj_wants(x, "in") && kj_met(x, "="))
        text = "loops are written: for i in range(n) { ... }";
    else if (kj_wants(x, "(") && kj_wants(x, "<") && x->n == 2)
        text = in_kernel_header(x) ? "kernels are written 'kernel name(x: f32[]) { ... }'"
                                   : "functions are written 'fn name(x: f32) -> f32 { ... }'";
    if (text)
        kj_mistake_hint(x, m, text);
    return text != NULL;
}

bool kj_leave_qualifier(const kj_mistake *x, kj_message *m, kj_span word)
{
    static const char *const words[] = {"mut",  "mutable", "out",     "inout",   "in",
                                        "ref",  "var",     "let",     "const",   "own",
                                        "move", "uniform", "varying", "__global"};
    kj_parser *p = x->p;
    const char *name = kj_mistake_source(p, word);
    uint32_t next = kj_skip_blanks(p->source, word.end);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(name, words[i]) != 0 || next == word.end)
            continue;
        kj_hint(p->diag, m, "leave '%s' out: %s", name,
                p->first == KJ_TK_LET || p->first == KJ_TK_VAR
                    ? "what is assigned again is declared with 'var'"
                : strcmp(name, "uniform") == 0 || strcmp(name, "varying") == 0
                    ? "what is the same in all threads is found"
                    : "arrays can be read and written as they are");
        kj_fix(p->diag, m, (kj_span){word.begin, next}, "%s", "");
        return true;
    }
    return false;
}

/* x: mut f32[], f(out x: f32[]) */
static bool fix_qualifier(const kj_mistake *x, kj_message *m)
{
    const kj_parser *p = x->p;
    bool type = p->before_prev == KJ_TK_COLON || p->before_prev == KJ_TK_ARROW;
    bool name = p->before_prev == KJ_TK_LPAREN || p->before_prev == KJ_TK_COMMA;
    return kj_met(x, "name") && p->prev == KJ_TK_NAME &&
           (type || (name && kj_wants(x, ":") && kj_before_colon(x))) &&
           kj_leave_qualifier(x, m, p->prev_span);
}

/* fn f(x: f32) -> f32 = x * 2 of Kotlin and Scala, fn f(x: f32) -> f32, f32 */
static bool fix_result(const kj_mistake *x, kj_message *m)
{
    kj_parser *p = x->p;
    const kj_source *s = p->source;
    uint32_t end = kj_code_end(s, x->at.end), from = kj_skip_blanks(s, x->at.end);
    bool typed = p->before_prev == KJ_TK_ARROW && p->prev == KJ_TK_NAME;
    if (kj_met(x, "=") && s->text[x->at.end] != '>' && end > from && !kj_has_brace(x)) {
        const char *value = kj_piece(p, from, end);
        kj_hint(p->diag, m, "a function has a block: %s{ return %s }", typed ? "" : "-> f32 ",
                end - from < 40 ? value : "...");
        if (typed)
            kj_fix(p->diag, m, (kj_span){x->at.begin, end}, "{ return %s }", value);
        return true;
    }
    if (!kj_met(x, ",") || !typed)
        return false;
    for (end = x->at.end;
         kj_is_word(s->text[end]) || kj_is_blank(s->text[end]) || strchr(",[]", s->text[end]);)
        if (!s->text[end++])
            return false;
    while (kj_is_blank(s->text[end - 1]))
        end--;
    kj_span all = {p->prev_span.begin, end};
    kj_hint(p->diag, m, "several results are a tuple: -> (%s)", kj_piece(p, all.begin, all.end));
    kj_fix(p->diag, m, all, "(%s)", kj_piece(p, all.begin, all.end));
    return true;
}

/* var y: f32[3], at the end of it */
static bool fix_extents(const kj_mistake *x, kj_message *m)
{
    kj_parser *p = x->p;
    const kj_source *s = p->source;
    uint32_t name = kj_skip_blanks(s, p->first_span.end), end = kj_word_end(s, name);
    uint32_t type = kj_skip_blanks(s, kj_skip_blanks(s, end) + 1), open = kj_word_end(s, type);
    uint32_t close = s->text[open] == '[' ? kj_closing(s, open) : 0;
    if ((p->first != KJ_TK_VAR && p->first != KJ_TK_LET) || p->prev != KJ_TK_RBRACKET ||
        s->text[kj_skip_blanks(s, end)] != ':' || !close || close + 1 != p->prev_span.end)
        return false;
    const char *shape = kj_piece(p, open + 1, close), *what = kj_piece(p, name, end);
    if (strspn(shape, ", ") == strlen(shape))
        return false;
    bool several = strchr(shape, ',') != NULL, run = kj_is_item_of(s, name, "run");
    kj_write(p->diag, m, (kj_span){p->first_span.begin, close + 1},
             several ? "let %s = %s((%s), %s)" : "let %s = %s(%s, %s)", what,
             run ? "zeros" : "local.array", shape, kj_piece(p, type, open));
    return true;
}

/* let mut i, a list without a comma, f32[][], => for -> */
static void fix_tokens(const kj_mistake *x, kj_message *m)
{
    const kj_parser *p = x->p;
    if (!kj_is_shown(p->diag, m))
        return;
    if (kj_wants(x, "=") && kj_met(x, "name") && p->prev == KJ_TK_NAME &&
        (p->before_prev == KJ_TK_LET || p->before_prev == KJ_TK_VAR) &&
        strcmp(kj_mistake_source(x->p, p->prev_span), "mut") == 0)
        kj_fix(p->diag, m, (kj_span){p->before_prev_span.begin, p->prev_span.end}, "var");
    else if (kj_wants(x, ",") && kj_wants(x, ")") && kj_met(x, "name") && kj_before_colon(x))
        fix_comma(x, m);
    else if (kj_met(x, "[") && p->prev == KJ_TK_RBRACKET)
        hint_axes(x, m);
    else if (kj_wants(x, "->") && (kj_met(x, "name") || kj_met(x, "-")))
        fix_arrow(x, m);
    else if (kj_wants(x, "->") && kj_met(x, "=") && p->source->text[x->at.end] == '>' &&
             !kj_has_brace(x)) /* fn f(x: f32) => x + 1 */
        kj_mistake_hint(x, m, "functions are written 'fn name(x: f32) -> f32 { return x + 1 }'");
    else if (kj_wants(x, "->") && kj_met(x, "=") && p->source->text[x->at.end] == '>')
        kj_write(p->diag, m, (kj_span){x->at.begin, x->at.end + 1}, "->");
}

/* def norm(self): and the like, where a field's name stands */
static bool is_method(const kj_mistake *x)
{
    static const char *const words[] = {"def", "func", "function", "fun", "void", "__device__"};
    const kj_parser *p = x->p;
    if (!kj_wants(x, ":") || x->n != 1 || p->prev != KJ_TK_NAME || !kj_met(x, "name") ||
        !kj_is_item_of(p->source, x->at.begin, "record"))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (kj_is_word_at(p->source, p->prev_span.begin, words[i]))
            return true;
    return false;
}

/* kernel k(x: f32[]) @launch_bounds(256) {, or CUDA's __launch_bounds__(256) */
static bool hint_attribute(const kj_mistake *x, kj_message *m)
{
    const kj_source *source = x->p->source;
    bool bounds = kj_is_word_at(source, x->at.begin, "__launch_bounds__");
    uint32_t begin = bounds ? kj_word_end(source, x->at.begin) : x->at.begin, end = begin;
    while (source->text[end] && !strchr("{\n", source->text[end]))
        end++;
    while (end > begin && kj_is_blank(source->text[end - 1]))
        end--;
    if (!bounds && !kj_met(x, "@"))
        return false;
    kj_hint(x->p->diag, m, "write %s%s in front of 'kernel'", bounds ? "@launch_bounds" : "",
            kj_piece(x->p, begin, end));
    return true;
}

/* Whatever is left: names the tokens when they are few. */
/* run() {: the block has no name, and takes nothing */
static void hint_run(const kj_mistake *x, kj_message *m)
{
    const kj_source *s = x->p->source;
    uint32_t close = kj_closing(s, x->at.begin), brace = kj_skip_blanks(s, close + 1);
    bool empty = close == x->at.begin + 1 && s->text[brace] == '{';
    kj_hint(x->p->diag, m, "the run block is written run { ... }%s",
            empty ? "" : ", what it is given stands in it: param n = 3");
    if (empty)
        kj_fix(x->p->diag, m, (kj_span){x->at.begin, brace}, "%s",
               s->text[x->at.begin - 1] == ' ' ? "" : " ");
    kj_layout_skip_block(x->p);
}

/* run f(a) -> f32 { and run f(a): f32 {, at what stands before the type: is a type all, before the block? */
static bool leave_result(const kj_mistake *x, kj_message *m)
{
    const char *text = x->p->source->text, *type = text + x->at.end;
    type += strspn(type, " ");
    size_t word = 0;
    while (kj_is_word(type[word]))
        word++;
    size_t end = word + strspn(type + word, "[], ");
    if (word == 0 || type[end] != '{')
        return false;
    while (type[end - 1] == ' ')
        end--;
    kj_mistake_hint(x, m, "what a function of run blocks returns has no declared type");
    uint32_t begin = x->at.begin, spaces = x->at.begin > 0 && text[begin - 1] == ' ';
    kj_fix(x->p->diag, m, (kj_span){begin - spaces, (uint32_t)(type + end - text)}, "%s", "");
    return true;
}

/* The name of the function whose parameters stand there: of fn f(a, b) the f; an empty span: of no function. */
static kj_span function_around(const kj_source *s, uint32_t at)
{
    uint32_t open = at;
    while (open > 0 && s->text[open] != '(' && !strchr(")]}{;\n", s->text[open]))
        open--;
    uint32_t begin = open;
    while (begin > 0 && kj_is_word(s->text[begin - 1]))
        begin--;
    bool is_fn = s->text[open] == '(' && begin >= 3 && begin < open &&
                 memcmp(s->text + begin - 3, "fn ", 3) == 0 &&
                 (begin == 3 || !kj_is_word(s->text[begin - 4]));
    return is_fn ? (kj_span){begin, open} : (kj_span){0, 0};
}

static void hint_parameter(const kj_mistake *x, kj_message *m, bool in_braces)
{
    const kj_source *s = x->p->source;
    kj_span name = in_braces ? (kj_span){0, 0} : function_around(s, x->p->prev_span.begin);
    if (in_braces)
        kj_mistake_hint(x, m, "a field has a type: x: f32");
    else if (name.begin == name.end)
        kj_mistake_hint(x, m, "a parameter has a type: x: f32");
    else
        kj_hint(x->p->diag, m,
                "a parameter has a type: x: f32; it needs none in a function that only run "
                "blocks call, which is written run %.*s(...) { ... }",
                (int)(name.end - name.begin), s->text + name.begin);
}

void kj_at_tokens(const kj_mistake *x)
{
    enum { MOST = 4 };
    kj_arena *arena = x->p->arena;
    if (x->n == 0 || x->n > MOST) {
        kj_error(x->p->diag, x->at, KJ_RULE_SYNTAX, "unexpected %s", x->text);
        return;
    }
    if (is_method(x)) {
        kj_layout_refuse_method(x->p, x->p->prev_span);
        return;
    }
    if (x->n == 2 && kj_wants(x, "->") && kj_wants(x, "{") && in_kernel_header(x)) {
        kj_message *m = kj_expected(x, "'{'");
        if (hint_attribute(x, m))
            return;
        kj_mistake_hint(
            x, m, kj_met(x, "end of line") ? BRACE_PLACE : "a block stands in braces: { ... }");
        if (kj_is_shown(x->p->diag, m))
            kj_habit_block(x->p, m, (kj_span){x->at.begin, x->at.begin});
        return;
    }
    if (kj_misspelled_operator(x) || (kj_wants(x, ":") && x->n == 1 && kj_misspelled_parameter(x)))
        return;
    const char *list = "";
    for (int i = 0; i < x->n; i++) {
        const char *between = i == 0 ? "" : i == x->n - 1 ? " or " : ", ";
        const char *how = "%s%s'%s'";
        if (strcmp(x->expected[i], "name") == 0)
            how = x->p->first == KJ_TK_TEST ? "%s%s'fails'" : "%s%sa %s";
        else if (strncmp(x->expected[i], "end ", 4) == 0)
            how = "%s%sthe %s";
        list = kj_arena_printf(arena, how, list, between, x->expected[i]);
    }
    kj_message *m = kj_expected(x, list);
    bool shown = kj_is_shown(x->p->diag, m);
    if (kj_met(x, "(") && x->p->prev == KJ_TK_RUN && kj_wants(x, "{")) {
        hint_run(x, m);
        return;
    }
    if (fix_qualifier(x, m) || (shown && kj_wants(x, "{") && fix_result(x, m)))
        return;
    if (shown && kj_wants(x, "=") && (kj_met(x, "end of line") || kj_met(x, ";")) &&
        fix_extents(x, m))
        return;
    if (x->p->first == KJ_TK_ENUM && kj_met(x, "name") && kj_wants(x, "{") &&
        (strcmp(kj_mistake_source(x->p, x->p->prev_span), "class") == 0 ||
         strcmp(kj_mistake_source(x->p, x->p->prev_span), "struct") == 0)) { /* of C++ */
        kj_hint(x->p->diag, m, "write enum %s", kj_mistake_source(x->p, x->at));
        kj_fix(x->p->diag, m, (kj_span){x->p->prev_span.begin, x->at.begin}, "%s", "");
        return;
    }
    if (kj_wants(x, "in") && x->p->before_prev == KJ_TK_FOR &&
        kj_habit_for_open(x->p, m, x->p->prev_span.begin))
        return;
    fix_tokens(x, m);
    if (kj_met(x, "*") && kj_wants(x, "["))
        kj_mistake_hint(x, m,
                        "arrays are written f32[], with two axes f32[,]; they know their sizes");
    bool in_braces = x->p->nopen && x->p->open[x->p->nopen - 1].kind == '{';
    if (hint_tokens(x, m))
        return;
    if (kj_wants(x, "=") && kj_met(x, "name") && x->p->prev == KJ_TK_NAME)
        kj_hint_keyword(x, m, x->p->prev_span, false); /* let mut i */
    else if (kj_wants(x, "=") && (kj_met(x, "end of line") || kj_met(x, "}") || kj_met(x, ";")))
        kj_mistake_hint(x, m, "a value is given at the declaration");
    else if (kj_wants(x, "{") && x->p->prev == KJ_TK_ELSE && kj_met(x, "name")) {
        kj_mistake_hint(x, m, "a block stands in braces: { ... }");
        if (kj_is_shown(x->p->diag, m))
            kj_habit_block(x->p, m, (kj_span){x->at.begin, x->at.begin});
    } else if (kj_wants(x, "{") && kj_met(x, "end of line")) {
        kj_mistake_hint(x, m, BRACE_PLACE);
        if (kj_is_shown(x->p->diag, m))
            kj_habit_block(x->p, m, (kj_span){x->at.begin, x->at.begin});
    } else if (kj_wants(x, "{") && kj_met(x, "->"))
        leave_result(x, m);
    else if (kj_wants(x, ":") && x->n == 1 && !kj_habit_parameter(x->p, m, x->at))
        hint_parameter(x, m, in_braces);
}

/* for i in 1:4 { and, of Julia, for i in 1:n without a brace; in Python a statement follows, or nothing. */
static bool is_range(const kj_mistake *x)
{
    static const char *const statements[] = {"pass", "break", "continue", "return"};
    const kj_source *s = x->p->source;
    uint32_t next = kj_skip_blanks(s, x->at.end), end = kj_word_end(s, next);
    if (kj_has_brace(x))
        return s->text[next] != '{';
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (kj_is_word_at(s, next, statements[i]))
            return false;
    return end > next && (x->p->prev == KJ_TK_INT || kj_code_end(s, next) == end);
}

/* A colon where a block begins: Python's, or what other languages have for '->'. */
void kj_at_colon(const kj_mistake *x)
{
    const char *text = x->p->source->text + x->at.end;
    kj_parser *p = x->p;
    if (*text == ':' && p->prev == KJ_TK_NAME) { /* Color::RED */
        kj_mistake_paths(x, kj_mistake_error(x, "there is no '::'"));
        return;
    }
    if (p->first == KJ_TK_FOR && is_range(x)) { /* Julia's has its end */
        kj_mistake_hint(x, kj_mistake_error(x, "there is no range of ':'"),
                        "a range is written range(start, stop), and stop is not in it");
        if (kj_has_brace(x))
            kj_layout_skip_block(p);
        return;
    }
    kj_message *m = kj_mistake_error(x, "a block begins with '{', not ':'");
    while (*text == ' ')
        text++;
    if (!kj_is_shown(x->p->diag, m))
        return;
    if (kj_wants(x, "->") && kj_is_word(*text) && !in_kernel_header(x)) {
        kj_mistake_hint(x, m, "a result's type stands behind '->': fn name(x: f32) -> f32 { ... }");
        kj_fix(x->p->diag, m, x->at, " ->");
    } else if (in_kernel_header(x) && strncmp(text, "void", 4) == 0 && !kj_is_word(text[4])) {
        text += 4;
        kj_mistake_hint(x, m, "a kernel has no result: leave ': void' out");
        kj_fix(x->p->diag, m, (kj_span){x->at.begin, (uint32_t)(text - x->p->source->text)}, "%s",
               "");
    } else if (x->p->first == KJ_TK_RUN && leave_result(x, m)) {
        return;
    } else if (*text == '{') { /* else: { */
        kj_mistake_hint(x, m, "leave the ':' out");
        kj_fix(x->p->diag, m, x->at, "%s", x->p->source->text[x->at.end] == '{' ? " " : "");
    } else {
        kj_habit_block(x->p, m, x->at);
    }
}

/* A } within a body closed the item: this statement, which is indented, was of it. */
bool kj_closed_too_early(const kj_mistake *x)
{
    const kj_parser *p = x->p;
    const char *text = p->source->text;
    uint32_t line = p->before_prev_span.begin;
    if (p->prev != KJ_TK_NEWLINE || p->before_prev != KJ_TK_RBRACE || x->at.begin == 0 ||
        text[x->at.begin - 1] == '\n')
        return false;
    while (line > 0 && text[line - 1] != '\n')
        line--;
    if (text[line] != ' ' && text[line] != '\t')
        return false;
    kj_message *m = kj_error(p->diag, p->before_prev_span, KJ_RULE_SYNTAX,
                             "one '}' too many: it ends the item, and statements follow");
    kj_note(p->diag, m, x->at, "this stands outside of it");
    kj_fix(p->diag, m, p->before_prev_span, "%s", "");
    return true;
}

/* Is a closer behind one operand that has nothing before it, so that what it closes could not be around more:
 * f(x)), not a * b + (c))? */
static bool is_extra(const kj_mistake *x)
{
    const kj_source *s = x->p->source;
    uint32_t at = x->at.begin, next = kj_skip_blanks(s, x->at.end);
    int depth = 0;
    bool digit = at > 0 && kj_is_digit(s->text[at - 1]) && x->p->prev == KJ_TK_NAME; /* shape1] */
    if (at == 0 || digit || !strchr("\r\n;#{}=,)", s->text[next]) ||
        (s->text[next] == '=' && s->text[next + 1] == '='))
        return false;
    do {
        at--;
        depth += strchr(")]", s->text[at]) ? 1 : strchr("([", s->text[at]) ? -1 : 0;
    } while (at > 0 && s->text[at] != '\n' &&
             (depth > 0 || kj_is_word(s->text[at - 1]) || strchr(".)]([", s->text[at - 1])));
    while (at > 0 && kj_is_blank(s->text[at - 1]))
        at--;
    char last = at > 0 ? s->text[at - 1] : '\n', before = at > 1 ? s->text[at - 2] : '\n';
    bool word = kj_is_word(last); /* return, if, while, in */
    return depth == 0 &&
           (strchr("\n;{,:", last) || word || (last == '=' && !strchr("=<>!", before)));
}

bool kj_closes_nothing(const kj_mistake *x)
{
    kj_parser *p = x->p;
    if (!p->unopened || kj_wants(x, "integer")) /* x[0] = ) */
        return false;
    kj_message *m = kj_error(p->diag, x->at, KJ_RULE_SYNTAX, "unexpected '%s': no '%c' is open",
                             x->token, *x->token == ')' ? '(' : '[');
    bool field = p->nopen && p->open[p->nopen - 1].kind == '{' && p->first == KJ_TK_NAME;
    bool type = !field && kj_met(x, "]") && p->prev == KJ_TK_NAME && kj_wants(x, "[") &&
                (p->before_prev == KJ_TK_COLON || p->before_prev == KJ_TK_ARROW); /* x: f32] */
    if (type)
        kj_mistake_hint(x, m, ARRAY_TYPES);
    else if (!is_extra(x))
        kj_hint(p->diag, m, "write the '%c' that it closes, or leave it out",
                *x->token == ')' ? '(' : '[');
    if (!m->hint || type)
        kj_fix(p->diag, m, x->at, "%s", type ? "[]" : "");
    return true;
}

void kj_at_field_end(const kj_mistake *x)
{
    kj_message *m = kj_expected(x, "',' or the end of the line");
    if (kj_met(x, "[") && x->p->prev == KJ_TK_RBRACKET)
        hint_axes(x, m);
}

/* class Cell(IntEnum): with its names in the lines below, NAME = 1 or NAME = auto(), which count from 1. */
static bool hint_python_enum(const kj_mistake *x, kj_message *m)
{
    enum { MOST = 64 };
    kj_parser *p = x->p;
    const kj_source *s = p->source;
    uint32_t name = kj_skip_blanks(s, x->at.end), open = kj_word_end(s, name);
    uint32_t end = kj_line_end(s, open), last = end;
    const char *base = kj_piece(p, open, end), *names = "";
    if (strcmp(kj_mistake_source(p, x->at), "class") != 0 || *base != '(' || !strstr(base, "Enum)"))
        return false;
    const char *what = kj_piece(p, name, open);
    int n = 0;
    bool plain = true;
    while (s->text[end] == '\n' && kj_is_blank(s->text[end + 1]) && n < MOST) {
        uint32_t at = kj_skip_blanks(s, end + 1), word = kj_word_end(s, at);
        uint32_t equals = kj_skip_blanks(s, word), value = kj_skip_blanks(s, equals + 1);
        uint32_t stop = kj_code_end(s, value);
        end = kj_line_end(s, at);
        if (word == at || s->text[equals] != '=' || stop <= value) {
            plain &= kj_code_end(s, at) <= at; /* an empty line, or a comment */
            continue;
        }
        const char *given = kj_piece(p, value, stop);
        bool next = strcmp(given, "auto()") == 0;
        plain &= next || given[strspn(given, "0123456789")] == '\0';
        names = kj_arena_printf(p->arena, "%s%s%s%s%s", names, n ? ", " : "", kj_piece(p, at, word),
                                next && n ? "" : " = ",
                                !next ? given
                                : n   ? ""
                                      : "1");
        n++;
        last = end;
    }
    bool fits = plain && n > 0 && n < MOST;
    kj_hint(p->diag, m, "enums are written enum %s { %s }", what,
            fits && strlen(names) < 60 ? names : "RED, GREEN = 5");
    if (fits)
        kj_fix(p->diag, m, (kj_span){x->at.begin, last}, "enum %s { %s }", what, names);
    return true;
}

/* float f(float x) {, int n = 3; */
bool kj_hint_c_item(const kj_mistake *x, kj_message *m)
{
    kj_parser *p = x->p;
    if (kj_is_shown(p->diag, m) && hint_python_enum(x, m))
        return true;
    const char *text = p->source->text, *type = kj_habit_type_named(kj_mistake_source(p, x->at));
    uint32_t name = x->at.end + (uint32_t)strspn(text + x->at.end, " \t*"), end = name;
    while (kj_is_word(text[end]))
        end++;
    const char *next = text + end + strspn(text + end, " \t");
    if (!type || end == name || !kj_is_shown(p->diag, m))
        return false;
    if (*next == '(') {
        kj_hint(p->diag, m, "functions are written 'fn %.*s(x: f32) -> %s { ... }'",
                (int)(end - name), text + name, type);
        kj_layout_skip_block(p);
    } else if (*next == '=') {
        kj_hint(p->diag, m, "a file's constants are declared with 'const': const %.*s: %s = ...",
                (int)(end - name), text + name, type);
    }
    return *next == '(' || *next == '=';
}

bool kj_unwrap_names(const kj_mistake *x, kj_message *m)
{
    const char *text = x->p->source->text, *open = text + x->at.begin, *at = open + 1;
    while (kj_is_word(*at) || *at == ' ' || *at == ',')
        at++;
    size_t n = (size_t)(at - open);
    if (*at != ')' || strncmp(at + 1, " in ", 4) != 0 || n > 60 || !memchr(open, ',', n))
        return false;
    kj_write(x->p->diag, m, (kj_span){x->at.begin, x->at.begin + (uint32_t)n + 1}, "%.*s",
             (int)n - 1, open + 1);
    return true;
}

bool kj_unwrap_declared(const kj_mistake *x, kj_message *m)
{
    const kj_source *s = x->p->source;
    uint32_t open = x->at.begin, close = kj_closing(s, open);
    if ((s->text[open] != '(' && s->text[open] != '[') || !close)
        return false;
    for (uint32_t at = open + 1; at < close; at++)
        if (!kj_is_word(s->text[at]) && s->text[at] != ' ' && s->text[at] != ',')
            return false;
    kj_write(x->p->diag, m, (kj_span){open, close + 1}, "%.*s", (int)(close - open) - 1,
             s->text + open + 1);
    return true;
}
