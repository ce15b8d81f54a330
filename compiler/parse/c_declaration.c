/* Declarations of C within a body, and what they are here: the source around a syntax error in, a hint and a fix out. */
#include <string.h>

#include "parse/habit.h"

/* [16][17] behind a name; the shape as it is written here, and where it ends. */
static const char *read_shape(kj_parser *p, uint32_t at, uint32_t *end)
{
    const kj_source *s = p->source;
    const char *shape = NULL;
    bool several = false;
    while (s->text[at] == '[') {
        uint32_t close = kj_closing(s, at);
        if (!close || close == at + 1)
            return NULL;
        several |= shape != NULL;
        shape = kj_arena_printf(p->arena, "%s%s%s", shape ? shape : "", shape ? ", " : "",
                                kj_piece(p, at + 1, close));
        *end = at = close + 1;
    }
    return shape && several ? kj_arena_printf(p->arena, "(%s)", shape) : shape;
}

/* What makes an array there: in a run block one of zeros. */
static const char *maker(const kj_parser *p, uint32_t at, bool shared)
{
    return kj_is_item_of(p->source, at, "run") ? "zeros" : shared ? "shared.array" : "local.array";
}

/* Of indices of threads, which are i64: a variable of another type would not take it. */
static bool computes_place(kj_parser *p, uint32_t begin, uint32_t end)
{
    static const char *const words[] = {"threadIdx", "blockIdx", "blockDim",
                                        "gridDim",   "grid(",    "gridsize("};
    const char *text = kj_piece(p, begin, end);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i]))
            return true;
    return false;
}

/* Does more than one thing stand there: int a = 1, b = 2? */
static bool is_list(const kj_source *s, uint32_t at, uint32_t end)
{
    for (int depth = 0; at < end; at++) {
        depth += (strchr("([{", s->text[at]) != NULL) - (strchr(")]}", s->text[at]) != NULL);
        if (depth == 0 && strchr(",;", s->text[at]))
            return true;
    }
    return false;
}

kj_c_variable kj_habit_c_variable(kj_parser *p, const char *text, const char *type, uint32_t from,
                                  uint32_t stop)
{
    bool place = computes_place(p, from, stop);
    if (place && type &&
        (strcmp(type, "i32") == 0 || strcmp(type, "i64") == 0 || strcmp(type, "bool") == 0))
        type = NULL;
    kj_c_value v = kj_habit_c_value(p, from, stop);
    bool whole = v.class == KJ_C_SIGNED || v.class == KJ_C_UNSIGNED;
    bool cut = type && v.class == KJ_C_FLOAT && kj_is_int(kj_type_named(type)); /* int i = 2.5 */
    bool converts = type && (place || cut || (whole && v.changed && *type == 'f'));
    kj_c_variable out = {.value = v, .changed = converts || v.changed};
    out.declared = type ? kj_arena_printf(p->arena, "%s: %s", text, type) : text;
    out.given = converts ? kj_arena_printf(p->arena, "%s(%s)", type, v.text) : v.text;
    out.short_given = converts ? kj_arena_printf(p->arena, "%s(...)", type) : "...";
    return out;
}

/* int i = n / 2 from its `=` on, of a name that is declared with `text` ("var i"). */
static void fix_initialised(kj_parser *p, kj_message *m, kj_span names, const char *text,
                            const char *type, uint32_t equals)
{
    const kj_source *s = p->source;
    uint32_t from = kj_skip_blanks(s, equals + 1), stop = kj_statement_end(s, from, false);
    kj_c_variable v = kj_habit_c_variable(p, text, type, from, stop);
    if (from == stop || is_list(s, names.end, stop)) {
        kj_hint(p->diag, m, "write %s = ...", v.declared);
        return;
    }
    kj_hint(p->diag, m, "write %s = %s%s", v.declared,
            stop - names.end < 40 ? v.given : v.short_given,
            v.value.cuts ? ", which rounds down where C cuts: -7 // 2 is -4" : "");
    if (v.changed)
        kj_fix(p->diag, m, (kj_span){names.begin, stop}, "%s = %s", v.declared, v.given);
    else
        kj_fix(p->diag, m, names, "%s", v.declared);
}

/* float t[2] = {1, 2}, float t[] = {1, 2}; `shape`: the array's, NULL: it is as long as the list. What a list does not have
 * is 0 in C. */
static bool fix_list_of_values(kj_parser *p, kj_message *m, uint32_t begin, const char *what,
                               const char *type, const char *shape, uint32_t equals)
{
    enum { MOST = 16 };
    const kj_source *s = p->source;
    uint32_t open = kj_skip_blanks(s, equals + 1), close = 0;
    if (s->text[equals] != '=' || s->text[open] != '{' || !(close = kj_closing(s, open)) ||
        kj_statement_end(s, close + 1, false) > close + 1)
        return false;
    const char *values = "";
    int n = 0;
    for (uint32_t at = kj_skip_blanks(s, open + 1), end; at < close && n <= MOST; n++) {
        for (end = at; end < close && s->text[end] != ',';) {
            uint32_t inner = strchr("([{", s->text[end]) ? kj_closing(s, end) : 0;
            if (s->text[end] == '{') /* a row */
                return false;
            end = inner ? inner + 1 : end + 1;
        }
        kj_c_value v = kj_habit_c_value(p, at, end);
        values = kj_arena_printf(p->arena, "%s; %s[%d] = %s", values, what, n, v.text);
        at = kj_skip_blanks(s, end + (end < close));
    }
    if (n > MOST || (n == 0 && !shape))
        return false;
    const char *count = kj_arena_printf(p->arena, "%d", n);
    bool zeros = n <= 1 && shape && strcmp(shape, "1") != 0;
    bool one_zero = n == 0 || strcmp(values + strcspn(values, "=") + 2, "0") == 0 ||
                    strcmp(values + strcspn(values, "=") + 2, "0.0") == 0;
    const char *axes = shape && *shape == '(' ? ":, :" : ":";
    if (shape && *shape == '(' && !one_zero)
        return false;
    const char *made = maker(p, begin, false);
    bool less = strcmp(made, "zeros") != 0 && (zeros || (shape && strcmp(shape, count) != 0));
    kj_write(p->diag, m, (kj_span){begin, close + 1}, "let %s = %s(%s, %s)%s%s", what, made,
             shape ? shape : count, type,
             less ? kj_arena_printf(p->arena, "; %s[%s] = 0", what, axes) : "",
             one_zero && (less || strcmp(made, "zeros") == 0) ? "" : values);
    return true;
}

/* float x = linspace(0, 1, 5) of a run block: what makes an array is of no such type. */
static bool makes_array(kj_parser *p, uint32_t begin, uint32_t value)
{
    uint32_t end = kj_word_end(p->source, value);
    int row = p->source->text[end] == '(' && kj_is_item_of(p->source, begin, "run")
                  ? kj_run_builtin_named(kj_piece(p, value, end))
                  : -1;
    return row >= 0 && kj_run_builtins[row].gives >= KJ_GIVES_ARRAY;
}

/* Is the name assigned behind `at`, x = ... or x += ...? */
static bool is_assigned_behind(const kj_source *s, uint32_t at, const char *name)
{
    size_t len = strlen(name);
    for (const char *c = s->text + at; (c = strstr(c, name)); c += len) {
        const char *next = c + len + strspn(c + len, " ");
        if (kj_is_word(c[-1]) || c[-1] == '.' || kj_is_word(c[len]))
            continue;
        next += strspn(next, "+-*/%&|^@");
        if (next[0] == '=' && next[1] != '=')
            return true;
    }
    return false;
}

bool kj_habit_declaration(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t begin = kj_skip_blanks(s, kj_statement_start(s, at.begin)), shape_end = 0;
    kj_c_type t = kj_habit_read_type(p, begin);
    uint32_t name = kj_skip_blanks(s, t.end), end = kj_word_end(s, name),
             next = kj_skip_blanks(s, end);
    if ((!t.name && !t.is_auto) || t.pointers || end == name || t.end == begin)
        return false;
    const char *text = NULL, *what = kj_piece(p, name, end);
    const char *shape = t.name ? read_shape(p, next, &shape_end) : NULL;
    bool open = s->text[next] == '[' && s->text[next + 1] == ']';
    uint32_t equals = kj_skip_blanks(s, shape ? shape_end : open ? next + 2 : next);
    if ((shape || open) && t.name && !t.is_shared &&
        fix_list_of_values(p, m, begin, what, t.name, shape, equals))
        return true;
    bool ends = kj_statement_end(s, next, false) <= next;
    if (shape && kj_statement_end(s, shape_end, false) <= shape_end) {
        text = kj_arena_printf(p->arena, "let %s = %s(%s, %s)", what, maker(p, begin, t.is_shared),
                               shape, t.name);
        end = shape_end;
    } else if (s->text[next] == '=' && s->text[next + 1] != '=') {
        bool made = makes_array(p, begin, kj_skip_blanks(s, next + 1));
        bool fixed = t.is_const || (made && !is_assigned_behind(s, next, what));
        text = kj_arena_printf(p->arena, "%s %s", fixed ? "let" : "var", what);
        if (made)
            t.name = NULL;
        fix_initialised(p, m, (kj_span){begin, end}, text, t.name, next);
        return true;
    } else if (ends && t.name && !t.is_shared) {
        const char *zero = strcmp(t.name, "bool") == 0 ? "false" : "0";
        text = kj_arena_printf(p->arena, "var %s: %s = %s", what, t.name, zero);
    }
    if (!text)
        return false;
    uint32_t stop = kj_statement_end(s, end, false);
    bool one = !memchr(s->text + end, ';', stop - end) && !memchr(s->text + end, ',', stop - end);
    kj_hint(p->diag, m, "write %s%s", text,
            one && stop - end < 40 ? kj_piece(p, end, stop) : " = ...");
    if (one || shape)
        kj_fix(p->diag, m, (kj_span){begin, end}, "%s", text);
    return true;
}
