/* What stands where an item of the file could begin, and is none; words of other languages that begin a line. */
#include <string.h>

#include "knl.tab.h"
#include "lang/types.h"
#include "lang/words.h"
#include "parse/habit.h"
#include "parse/mistake.h"

/* 'const', 'enum', ... or 'type': `use`, the last of the words, stands before all others. */
static const char *items(const kj_mistake *x)
{
    const char *all = "";
    for (int i = 0; kj_item_word(i + 1); i++)
        all = kj_arena_printf(x->p->arena, "%s%s'%s'", all,
                              i == 0                ? ""
                              : kj_item_word(i + 2) ? ", "
                                                    : " or ",
                              kj_item_word(i));
    return all;
}

static const char *nearest_item(const char *word)
{
    enum { MOST = 16 };
    const char *all[MOST];
    int n = 0;
    while (n < MOST && (all[n] = kj_item_word(n)))
        n++;
    return kj_nearest(word, all, (size_t)n);
}

static void fix_left_out(const kj_mistake *x, kj_message *m, kj_span word)
{
    const char *next = x->p->source->text + word.end;
    kj_fix(x->p->diag, m, (kj_span){word.begin, word.end + (uint32_t)strspn(next, " ")}, "%s", "");
}

static bool before_function(const kj_mistake *x, kj_span word)
{
    const char *next = x->p->source->text + word.end;
    next += strspn(next, " ");
    return strncmp(next, "fn ", 3) == 0 || strncmp(next, "kernel ", 7) == 0;
}

/* static fn, private kernel: words of others that say who may call it. */
static bool is_of_function(const kj_mistake *x, kj_span word)
{
    static const char *const all[] = {"static",  "extern",    "public", "private",
                                      "export",  "protected", "unsafe", "async",
                                      "virtual", "internal",  "final",  "global"};
    const char *name = kj_mistake_source(x->p, word);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(name, all[i]) == 0)
            return before_function(x, word);
    return false;
}

void kj_hint_keyword(const kj_mistake *x, kj_message *m, kj_span name, bool item)
{
    const char *word = kj_mistake_source(x->p, name);
    if (item && is_of_function(x, name)) {
        kj_mistake_hint(x, m, "all functions can be called everywhere: leave the word out");
        fix_left_out(x, m, name);
        return;
    }
    if (strcmp(word, "foreach") == 0)
        kj_fix(x->p->diag, m, name, "for");
    if (strcmp(word, "pub") == 0 || strcmp(word, "inline") == 0 ||
        (strcmp(word, "device") == 0 && before_function(x, name)))
        fix_left_out(x, m, name);
    else if (strcmp(word, "func") == 0 || strcmp(word, "function") == 0 || strcmp(word, "fun") == 0)
        kj_fix(x->p->diag, m, name, "fn");
    bool statement = item && (strcmp(word, "print") == 0 || strcmp(word, "assert") == 0);
    bool begins_block = false;
    const char *known = statement ? "statements stand in the run block: run { ... }"
                                  : kj_foreign_word(word, &begins_block);
    const char *near = item ? nearest_item(word) : NULL;
    if (known)
        kj_mistake_hint(x, m, known);
    if (begins_block)
        kj_layout_skip_block(x->p);
    else if (!known && near)
        kj_did_you_mean(x->p->diag, m, near);
}

const char *kj_foreign_variable(const kj_parser *p, kj_span at)
{
    uint32_t word = kj_skip_blanks(p->source, at.end);
    if (kj_is_word_at(p->source, word, "workgroup"))
        return "shared arrays are written 'let s = shared.array((16, 16), f32)', in the kernel";
    if (kj_is_word_at(p->source, word, "private") || kj_is_word_at(p->source, word, "function"))
        return "a thread's own variables are written 'var x = 0', in the kernel";
    return "arrays and numbers are parameters of a kernel: kernel name(data: f32[], n: i32) { ... "
           "}";
}

/* TPB = 16 */
static bool is_assigned(const kj_mistake *x)
{
    const char *text = x->p->source->text + x->at.end;
    text += strspn(text, " \t");
    return text[0] == '=' && text[1] != '=';
}

/* Is something called in the rest of the line? */
static bool is_computed(const kj_mistake *x)
{
    const char *line = x->p->source->text + x->at.end;
    return memchr(line, '(', strcspn(line, "\r\n#")) != NULL;
}

static void hint_assigned(const kj_mistake *x, kj_message *m)
{
    kj_parser *p = x->p;
    uint32_t end = kj_code_end(p->source, x->at.begin);
    const char *name = kj_mistake_source(p, x->at), *all = kj_piece(p, x->at.begin, end);
    if (is_computed(x))
        kj_hint(p->diag, m,
                "what is computed stands in the run block: run { let %s }; a file's constants are "
                "declared with 'const'",
                strlen(all) < 60 ? all : kj_arena_printf(p->arena, "%s = ...", name));
    else
        kj_hint(p->diag, m, "a file's constants are declared with 'const': const %s = ...", name);
}

/* @cuda.reduce before the function that joins two values. */
static bool is_reducer(const kj_mistake *x)
{
    const char *text = x->p->source->text + x->at.begin;
    return strncmp(text, ".reduce", 7) == 0 && strchr(" \t\r\n", text[7]);
}

/* @cuda.jit before a kernel is left out; the def behind one is not told. */
static void fix_decorator(const kj_mistake *x, kj_message *m)
{
    kj_parser *p = x->p;
    const char *text = p->source->text, *line = text + x->at.begin;
    const char *next = line + strcspn(line, "\n");
    next += strspn(next, "\r\n");
    const char *fast = strstr(line, "fastmath");
    if (strncmp(next, "def ", 4) == 0)
        p->after_decorator = true;
    else if (fast && fast < next)
        kj_hint(p->diag, m, "a kernel needs no decorator but what changes its results: @fastmath");
    else
        kj_fix(p->diag, m, (kj_span){p->before_prev_span.begin, (uint32_t)(next - text)}, "%s", "");
}

static void hint_decorator(const kj_mistake *x, kj_message *m)
{
    if (is_reducer(x)) {
        x->p->after_decorator = true;
        kj_mistake_hint(
            x, m, "fn add(a: f32, b: f32) -> f32 { ... }, and in the run block reduce(add, x, 0)");
        return;
    }
    kj_mistake_hint(x, m, "a kernel needs no decorator: kernel name(x: f32[]) { ... }");
    fix_decorator(x, m);
}

/* load "blur.knl" */
static bool is_quoted(const kj_mistake *x)
{
    const char *text = x->p->source->text + x->at.end;
    text += strspn(text, " \t");
    return *text == '"' || *text == '\'';
}

/* import std.sort of Python, from std import sort */
static bool is_use_of_others(const kj_mistake *x)
{
    kj_parser *p = x->p;
    const kj_source *s = p->source;
    bool import = strcmp(x->text, "'import'") == 0, from = strcmp(x->text, "'from'") == 0;
    uint32_t std = kj_skip_blanks(s, x->at.end), word = kj_word_end(s, std), name = word + 1;
    if ((!import && !from) || !kj_is_word_at(s, std, "std"))
        return false;
    if (from && s->text[word] != '.') {
        name = kj_skip_blanks(s, word);
        name = kj_is_word_at(s, name, "import") ? kj_skip_blanks(s, kj_word_end(s, name)) : word;
    }
    uint32_t end = kj_word_end(s, name);
    if (end == name || (import && s->text[word] != '.'))
        return false;
    kj_message *m = kj_expected(x, items(x));
    kj_write(p->diag, m, (kj_span){x->at.begin, kj_code_end(s, x->at.begin)}, "use std.%s",
             kj_piece(p, name, end));
    return true;
}

/* int main() {, main {, void main(void) { of other languages: where what the program does stands. */
static bool is_main(const kj_mistake *x, kj_message *m)
{
    const kj_source *s = x->p->source;
    uint32_t at = x->at.begin, end = kj_word_end(s, at);
    while (end > at && !kj_is_word_at(s, at, "main")) {
        at = end + (uint32_t)strspn(s->text + end, " \t*");
        end = kj_word_end(s, at);
    }
    uint32_t next = kj_skip_blanks(s, end);
    uint32_t close = s->text[next] == '(' ? kj_closing(s, next) : 0;
    uint32_t brace = kj_skip_blanks(s, close ? close + 1 : next);
    if (end == at || (s->text[next] != '(' && s->text[next] != '{'))
        return false;
    kj_hint(x->p->diag, m, "what the program does stands in the run block: run { ... }");
    const char *given = close ? kj_piece(x->p, next + 1, close) : "";
    if (s->text[brace] == '{' && (!*given || strcmp(given, "void") == 0) &&
        !strstr(s->text + brace, "return ")) /* whose value nobody would take */
        kj_fix(x->p->diag, m, (kj_span){x->at.begin, brace}, "run ");
    kj_layout_skip_block(x->p);
    return true;
}

void kj_at_item(const kj_mistake *x)
{
    if (kj_closed_too_early(x) || is_use_of_others(x))
        return;
    if (kj_met(x, "}")) {
        kj_mistake_error(x, "unexpected '}': no block is open");
        return;
    }
    if (kj_met(x, "let") || kj_met(x, "var") || kj_met(x, "param")) {
        kj_message *m = kj_expected(x, items(x));
        if (x->p->source->text[x->at.end] == '<') {
            kj_mistake_hint(x, m, kj_foreign_variable(x->p, (kj_span){x->at.end, x->at.end + 1}));
            return;
        }
        kj_mistake_hint(x, m,
                        kj_met(x, "param") ? "a param stands in the run block"
                        : is_computed(x)
                            ? "what is computed stands in the run block: run { let a = ... }; "
                              "a file's constants are declared with 'const'"
                            : "a file's constants are declared with 'const'");
        return;
    }
    kj_message *m = kj_expected(x, items(x));
    if (kj_met(x, "name") && is_main(x, m))
        return;
    if (kj_met(x, "{")) {
        kj_mistake_hint(x, m, "statements stand in the run block: run { ... }");
        kj_fix(x->p->diag, m, (kj_span){x->at.begin, x->at.begin}, "run ");
        kj_layout_skip_block(x->p);
        return;
    }
    if (kj_met(x, ".") && x->p->before_prev == KJ_TK_AT) {
        hint_decorator(x, m);
    } else if (kj_met(x, "=") && x->p->before_prev == KJ_TK_AT) /* @fastmath=True */
        kj_mistake_hint(x, m,
                        "an attribute stands alone, @fastmath, or with values in parentheses");
    else if (kj_met(x, "name") && is_assigned(x))
        hint_assigned(x, m);
    else if (kj_met(x, "name") && is_quoted(x) &&
             strcmp(kj_mistake_source(x->p, x->at), "load") == 0)
        kj_mistake_hint(x, m, kj_foreign_word("import", NULL));
    else if (kj_met(x, "name") && is_quoted(x) &&
             strcmp(kj_mistake_source(x->p, x->at), "extern") == 0)
        kj_mistake_hint(x, m, "names stay as they are written: kernel name(x: f32[]) { ... }");
    else if (kj_met(x, "name") && kj_is_word_at(x->p->source, x->at.begin, "test"))
        kj_mistake_hint(x, m, "a test is written test \"adds\" { ... }");
    else if (kj_met(x, "name") && !kj_hint_c_item(x, m))
        kj_hint_keyword(x, m, x->at, true);
    if (!m->hint && !kj_met(x, "end of file"))
        kj_mistake_hint(x, m, "statements stand in a fn, a kernel or the run block");
}

/* ---- test ---- */

/* A test within a block: test "adds" { behind a statement. */
static bool is_nested_test(const kj_mistake *x)
{
    kj_parser *p = x->p;
    if (p->prev != KJ_TK_NAME || !kj_is_word_at(p->source, p->prev_span.begin, "test"))
        return false;
    kj_hint(
        p->diag,
        kj_error(p->diag, p->prev_span, KJ_RULE_MISPLACED, "'test' stands at the top of a file"),
        "tests are declared beside functions and kernels, in any order");
    kj_layout_skip_block(p);
    return true;
}

bool kj_wrong_test(const kj_mistake *x)
{
    kj_parser *p = x->p;
    if (kj_met(x, "string") && is_nested_test(x))
        return true;
    if (!kj_wants(x, "string") || p->first != KJ_TK_TEST)
        return false;
    bool title = p->prev == KJ_TK_TEST;
    kj_message *m =
        kj_error(p->diag, x->at, KJ_RULE_TEST,
                 title ? "a test has a title in double quotes"
                       : "behind 'fails' stands what the message holds, in double quotes");
    if (title && kj_met(x, "name"))
        kj_write(p->diag, m, x->at, "\"%s\"", kj_mistake_source(p, x->at));
    else
        kj_hint(p->diag, m,
                title ? "test \"adds\" { ... }" : "test \"adds\" fails \"sizes differ\" { ... }");
    return true;
}

/* ---- use ---- */

/* use math, of other languages' modules. */
static bool is_built_in(const char *name)
{
    static const char *const modules[] = {"math",   "cmath", "numpy", "np",
                                          "random", "cuda",  "numba"};
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (strcmp(name, modules[i]) == 0)
            return true;
    return false;
}

/* What others have behind std:: that is built in here, or is not. */
static bool is_of_other_library(const char *module)
{
    static const char *const all[] = {
        "array", "cell",   "cmp", "collections", "convert", "env",    "fmt",     "fs",  "io",
        "iter",  "marker", "mem", "num",         "ops",     "path",   "process", "ptr", "rc",
        "simd",  "slice",  "str", "string",      "sync",    "thread", "time",    "vec"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i], module) == 0)
            return true;
    return kj_type_named(module) != KJ_VOID;
}

/* What stands behind std: ::sort, /sort, .*, .sort.keys, .{sort, warp}, .sort, std.warp */
static void hint_library(const kj_mistake *x, kj_message *m, kj_span path)
{
    enum { MOST = 8, LONGEST = 40 };
    kj_parser *p = x->p;
    const kj_source *s = p->source;
    if (memchr(s->text + path.begin, '{', kj_line_end(s, path.begin) - path.begin))
        kj_layout_skip_block(p);
    uint32_t end = kj_statement_end(s, path.begin, false), at = path.begin, next;
    bool several = memchr(s->text + at, ',', end - at) != NULL, other = false;
    const char *uses = "";
    int n = 0;
    for (; at < end && n < MOST && (n == 0 || several); at = next) {
        at += (uint32_t)strspn(s->text + at, "{}, :/.");
        next = kj_word_end(s, at);
        if (next == at || next - at > LONGEST)
            break;
        const char *word = kj_piece(p, at, next);
        if (strcmp(word, "std") == 0)
            continue;
        other |= is_of_other_library(word);
        uses = kj_arena_printf(p->arena, "%s%sstd.%s", uses, n++ ? "; use " : "", word);
    }
    if (other) {
        kj_mistake_hint(x, m,
                        "leave it out: functions as max(x, y) and numbers as pi are built in");
        kj_fix(p->diag, m, (kj_span){p->first_span.begin, end}, "%s", "");
    } else if (n == 0)
        kj_mistake_hint(x, m, "each file of the library is used by its name: use std.sort");
    else
        kj_write(p->diag, m, (kj_span){path.begin, end}, "%s", uses);
}

bool kj_wrong_use(const kj_mistake *x)
{
    const kj_parser *p = x->p;
    const kj_source *s = p->source;
    bool named = p->prev == KJ_TK_NAME && p->before_prev == KJ_TK_USE;
    bool further = p->first == KJ_TK_USE && p->first_span.end < x->at.begin &&
                   kj_is_word_at(s, kj_skip_blanks(s, p->first_span.end), "std");
    if (!named && !further && p->prev != KJ_TK_USE)
        return false;
    kj_span path = {named ? p->prev_span.begin : x->at.begin, x->at.end};
    if (further)
        path.begin = kj_skip_blanks(s, p->first_span.end);
    while (s->text[path.end] && !strchr(" \t\r\n;#", s->text[path.end]))
        path.end++;
    kj_message *m = kj_error(p->diag, named || further ? path : x->at, KJ_RULE_USE,
                             "use takes a file's name in quotes, or std.NAME");
    if (further || (named && strcmp(kj_mistake_source(x->p, p->prev_span), "std") == 0))
        hint_library(x, m, path);
    else if (named && is_built_in(kj_mistake_source(x->p, path)))
        kj_hint(p->diag, m,
                "leave it away: sqrt(x), random.uniform(...) and the like are built in");
    else if (named && path.end - path.begin < 100)
        kj_hint(p->diag, m, "write use \"%s%s\"", kj_mistake_source(x->p, path),
                kj_met(x, "end of line") ? ".knl" : "");
    else
        kj_mistake_hint(x, m, "write use \"blur.knl\"");
    return true;
}
