/* What C, CUDA, Python and Rust write, and what it is here: the source around a syntax error in, a hint and a fix out.
 * They read the text and not tokens, as it is that of other languages; what they don't understand they leave alone. */
#include <limits.h>
#include <string.h>

#include "knl.tab.h"
#include "lang/types.h"
#include "parse/habit.h"

enum { MOST_MENDED = 1 << 14 }; /* bytes of a comment or block */

/* ---- Types and declarations ---- */

const char *kj_habit_type_named(const char *word)
{
    static const char *const types[][2] = {
        {"char", "i8"},         {"short", "i16"},          {"int", "i32"},
        {"long", "i64"},        {"unsigned", "u32"},       {"uint", "u32"},
        {"float", "f32"},       {"double", "f64"},         {"half", "f16"},
        {"int8_t", "i8"},       {"int16_t", "i16"},        {"int32_t", "i32"},
        {"int64_t", "i64"},     {"uint8_t", "u8"},         {"uint16_t", "u16"},
        {"uint32_t", "u32"},    {"uint64_t", "u64"},       {"size_t", "i64"},
        {"usize", "i64"},       {"isize", "i64"},          {"ptrdiff_t", "i64"},
        {"uchar", "u8"},        {"ushort", "u16"},         {"ulong", "u64"},
        {"boolean", "bool"},    {"Boolean", "bool"},       {"_Bool", "bool"},
        {"Float16", "f16"},     {"Float32", "f32"},        {"Float64", "f64"},
        {"float32_t", "f32"},   {"float64_t", "f64"},      {"float16_t", "f16"},
        {"__half", "f16"},      {"BFloat16", "bf16"},      {"Int8", "i8"},
        {"Int16", "i16"},       {"Int32", "i32"},          {"Int64", "i64"},
        {"UInt8", "u8"},        {"UInt16", "u16"},         {"UInt32", "u32"},
        {"UInt64", "u64"},      {"Double", "f64"},         {"ComplexF32", "c64"},
        {"ComplexF64", "c128"}, {"__nv_bfloat16", "bf16"},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(word, types[i][0]) == 0)
            return types[i][1];
    }
    return kj_type_named(word) != KJ_VOID ? word : kj_vector_elsewhere(word);
}

static bool takes_type_word(kj_c_type *t, const char *word, bool *is_unsigned)
{
    static const char *const silent[] = {"extern",     "volatile",     "register", "signed",
                                         "constexpr",  "__restrict__", "restrict", "__global",
                                         "__constant", "uniform",      "varying"};
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        if (strcmp(word, silent[i]) == 0)
            return true;
    bool shared = strcmp(word, "__shared__") == 0 || strcmp(word, "__local") == 0 ||
                  strcmp(word, "shared") == 0 || strcmp(word, "threadgroup") == 0 ||
                  strcmp(word, "groupshared") == 0;
    bool constant = strcmp(word, "const") == 0, any = strcmp(word, "auto") == 0;
    const char *type = kj_habit_type_named(word);
    bool small = *is_unsigned && (strcmp(word, "char") == 0 || strcmp(word, "short") == 0);
    bool more = small || strcmp(word, "int") == 0 || strcmp(word, "long") == 0;
    if (!shared && !constant && !any && (!type || (t->name && !more)))
        return false;
    t->is_shared |= shared;
    t->is_const |= constant;
    t->is_auto |= any;
    *is_unsigned |= strcmp(word, "unsigned") == 0;
    if (type && !(t->name && strcmp(word, "int") == 0 && strcmp(t->name, "u32") != 0))
        t->name = type;
    return true;
}

kj_c_type kj_habit_read_type(kj_parser *p, uint32_t at)
{
    const kj_source *s = p->source;
    kj_c_type t = {.end = at};
    bool is_unsigned = false;
    for (;;) {
        at = kj_skip_blanks(s, at);
        if (s->text[at] == '*') {
            t.pointers++;
            at++;
        } else if (kj_is_word(s->text[at]) &&
                   takes_type_word(&t, kj_piece(p, at, kj_word_end(s, at)), &is_unsigned)) {
            at = kj_word_end(s, at);
        } else {
            break;
        }
        t.end = at;
    }
    if (is_unsigned && t.name && *t.name == 'i')
        t.name = kj_arena_printf(p->arena, "u%s", t.name + 1);
    return t;
}

uint32_t kj_habit_type_end(kj_parser *p, uint32_t at)
{
    return kj_habit_read_type(p, at).end;
}

const char *kj_habit_cast_type(kj_parser *p, uint32_t at, uint32_t *end)
{
    kj_c_type t = kj_habit_read_type(p, at);
    *end = kj_skip_blanks(p->source, t.end);
    return t.pointers ? NULL : t.name;
}

/* fn f(x, y) = x * y, of Julia */
static bool hint_short_function(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t open = at.begin;
    while (open > 0 && !strchr("(\n", s->text[open - 1]))
        open--;
    uint32_t close = open > 0 && s->text[open - 1] == '(' ? kj_closing(s, open - 1) : 0;
    uint32_t equals = kj_skip_blanks(s, close + 1), name = open > 0 ? open - 1 : 0;
    while (name > 0 && kj_is_word(s->text[name - 1]))
        name--;
    uint32_t from = kj_skip_blanks(s, equals + 1), end = kj_code_end(s, from);
    if (close == 0 || s->text[equals] != '=' || end <= from)
        return false;
    const char *typed = "";
    for (uint32_t i = open; i < close;) {
        uint32_t word = kj_skip_blanks(s, i), behind = kj_word_end(s, word);
        uint32_t comma = kj_skip_blanks(s, behind);
        if (behind == word || (comma != close && s->text[comma] != ','))
            return false;
        typed = kj_arena_printf(p->arena, "%s%s%s: f32", typed, *typed ? ", " : "",
                                kj_piece(p, word, behind));
        i = comma + 1;
    }
    const char *value = kj_piece(p, from, end);
    kj_hint(p->diag, m, "a function has types and a block: fn %s%s) -> f32 { return %s }",
            kj_piece(p, name, open), typed, strlen(value) < 40 ? value : "...");
    return true;
}

/* C's [2][3] at `at`, as [2, 3] of a field and [,] of a parameter; *end is behind it. */
static const char *axes_at(kj_parser *p, uint32_t at, bool field, uint32_t *end)
{
    const kj_source *s = p->source;
    const char *all = "";
    for (*end = at; s->text[*end] == '[' && kj_closing(s, *end); *end = kj_closing(s, *end) + 1)
        all = kj_arena_printf(p->arena, "%s%s%s", all,
                              *end == at ? ""
                              : field    ? ", "
                                         : ",",
                              field ? kj_piece(p, *end + 1, kj_closing(s, *end)) : "");
    return kj_arena_printf(p->arena, "[%s]", all);
}

bool kj_habit_parameter(kj_parser *p, kj_message *m, kj_span at)
{
    if (hint_short_function(p, m, at))
        return true;
    const kj_source *s = p->source;
    uint32_t begin = at.begin;
    while (begin > 0 && !strchr("({,;\n", s->text[begin - 1]))
        begin--;
    begin = kj_skip_blanks(s, begin);
    kj_c_type t = kj_habit_read_type(p, begin);
    uint32_t type_end = t.end;
    bool field = p->nopen && p->open[p->nopen - 1].kind == '{';
    const char *axes = t.pointers > 0 ? "[]" : "";
    if (s->text[type_end] == '[' && kj_closing(s, type_end)) /* f32[] x */
        axes = axes_at(p, type_end, field, &type_end);
    uint32_t name = kj_skip_blanks(s, type_end), end = kj_word_end(s, name);
    if (!t.name || end == name)
        return false;
    uint32_t next = end;
    if (s->text[next] == '[' && kj_closing(s, next)) /* float x[] */
        axes = axes_at(p, next, field, &next);
    if (!strchr(field ? ",;\r\n}" : ",)", s->text[kj_skip_blanks(s, next)]))
        return false;
    kj_write_parameter(p, m, (kj_span){begin, next}, kj_piece(p, name, end),
                       kj_arena_printf(p->arena, "%s%s", t.name, axes));
    return true;
}

/* Does the item assign to the parameter whose type begins at `at`? */
static bool is_changed(const kj_source *s, uint32_t at)
{
    uint32_t end = at, begin;
    while (end > 0 && (kj_is_blank(s->text[end - 1]) || s->text[end - 1] == ':'))
        end--;
    for (begin = end; begin > 0 && kj_is_word(s->text[begin - 1]);)
        begin--;
    for (; s->text[at] && !(s->text[at] == '\n' && kj_is_word(s->text[at + 1])); at++) {
        if (s->text[at] == '#')
            at = kj_line_end(s, at) - 1;
        uint32_t before = at; /* f(v=3) names an argument */
        while (before > 0 && kj_is_blank(s->text[before - 1]))
            before--;
        bool same = !kj_is_word(s->text[at - 1]) && !strchr(".(,", s->text[before - 1]) &&
                    strncmp(s->text + at, s->text + begin, end - begin) == 0;
        uint32_t sign = kj_skip_blanks(s, at + end - begin);
        if (!same || kj_is_word(s->text[at + end - begin]))
            continue;
        sign += (uint32_t)strspn(s->text + sign, "+-*/%&|^<>");
        if (s->text[sign] == '=' && s->text[sign + 1] != '=' &&
            !(strchr("<>", s->text[sign - 1]) && s->text[sign - 1] != s->text[sign - 2]))
            return true;
    }
    return false;
}

/* *f32, &f32, &mut f32, &[f32], [f32], []f32 where a type stands. */
bool kj_habit_type(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t i = at.begin;
    bool array = false, inside;
    kj_c_type c = kj_habit_read_type(p, i);
    bool axis = s->text[c.end] == '[' && s->text[c.end + 1] == ']';
    if (c.is_const && c.name) { /* const float[] */
        kj_write(p->diag, m, (kj_span){i, c.end + (axis ? 2 : 0)}, "%s%s", c.name,
                 axis || c.pointers ? "[]" : "");
        return true;
    }
    if (s->text[i] == '*' || s->text[i] == '&')
        array = s->text[i++] == '*';
    bool is_mut = kj_is_word_at(s, i, "mut");
    if (is_mut)
        i = kj_skip_blanks(s, i + 3);
    inside = s->text[i] == '[' && s->text[i + 1] != ']';
    if (s->text[i] == '[') {
        i += inside ? 1 : 2;
        array = true;
    }
    uint32_t end = kj_word_end(s, i);
    const char *type = kj_habit_type_named(kj_piece(p, i, end));
    if (!type || (inside && s->text[end] != ']'))
        return false;
    uint32_t axes = end; /* &mut f32[,] */
    if (!inside && s->text[axes] == '[' && kj_closing(s, axes) &&
        kj_closing(s, axes) == axes + 1 + strspn(s->text + axes + 1, ", "))
        axes = kj_closing(s, axes) + 1;
    if (axes > end)
        kj_write(p->diag, m, (kj_span){at.begin, axes}, "%s%s", type, kj_piece(p, end, axes));
    else if (s->text[at.begin] == '&' && !array && kj_is_item_of(s, at.begin, "kernel") &&
             (is_mut || is_changed(s, at.begin)))
        kj_hint(p->diag, m,
                "what a kernel changes is in arrays: the parameter is %s[], and [0] its element",
                type);
    else if (s->text[at.begin] == '&' && !array && (is_mut || is_changed(s, at.begin)))
        kj_hint(
            p->diag, m,
            "what a function changes it gives back: a parameter is %s, behind ')' is -> %s, and "
            "the call is written x = f(x)",
            type, type);
    else
        kj_write(p->diag, m, (kj_span){at.begin, end + inside}, "%s%s", type, array ? "[]" : "");
    return true;
}

/* f32[:, :] and f32[][]. */
bool kj_habit_axes(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t begin = at.begin, end;
    while (begin > 0 && strchr("[]:, ", s->text[begin - 1]))
        begin--;
    while (s->text[begin] != '[' && begin < at.begin)
        begin++;
    int axes = 1;
    for (end = begin; strchr("[]:, ", s->text[end]) && s->text[end];) {
        if (s->text[end] == ',')
            axes++;
        if (s->text[end] == '[' && end > begin)
            axes++;
        if (s->text[end++] == ']' && s->text[end] != '[')
            break;
    }
    if (end == begin || s->text[end - 1] != ']' || axes > 6)
        return false;
    kj_fix(p->diag, m, (kj_span){begin, end}, "[%.*s]", axes - 1, ",,,,,");
    return true;
}

/* ---- Statements ---- */

static uint32_t indentation(const kj_source *s, uint32_t line)
{
    return kj_skip_blanks(s, line) - line;
}

/* a; else if (c) b; else d: with braces around each. */
static const char *in_braces(kj_parser *p, uint32_t begin, uint32_t end)
{
    const kj_source *s = p->source;
    const char *text = "";
    for (;;) {
        uint32_t other = begin;
        while (other < end && !(kj_is_word_at(s, other, "else") && !kj_is_word(s->text[other - 1])))
            other++;
        uint32_t stop = other;
        while (stop > begin && strchr(" \t;", s->text[stop - 1]))
            stop--;
        bool closed = other == end && stop > begin && s->text[stop - 1] == '}';
        text = kj_arena_printf(p->arena, "%s{ %s%s", text, kj_piece(p, begin, stop),
                               closed ? "" : " }");
        if (other == end)
            return text;
        begin = kj_skip_blanks(s, other + 4);
        uint32_t open = kj_skip_blanks(s, begin + 2), close = 0;
        if (kj_is_word_at(s, begin, "if") && s->text[open] == '(')
            close = kj_closing(s, open);
        text = kj_arena_printf(p->arena, close ? "%s elif %s " : "%s else ", text,
                               kj_piece(p, open, close + 1));
        begin = close ? kj_skip_blanks(s, close + 1) : begin;
        begin = begin < end ? begin : end; /* nothing is behind it */
    }
}

/* How many more braces are opened than closed from `at` to the end of the item, or of what is looked at. */
static int braces_behind(const kj_source *s, uint32_t at)
{
    int depth = 0;
    for (uint32_t begin = at; s->text[at] && at - begin < MOST_MENDED;) {
        uint32_t next = kj_behind_text(s, at);
        depth += next == at ? (s->text[at] == '{') - (s->text[at] == '}') : 0;
        at = next > at ? next : at + 1;
        if (s->text[at - 1] == '\n' && kj_is_word(s->text[at])) /* another item */
            break;
    }
    return depth;
}

/* Where what the block has on the header's line ends. A } there is of what is around, where the item closes what it
 * opened; behind a colon or `then` all statements are of the block, else the first, and in C what its `else` has. */
static uint32_t block_end(const kj_parser *p, kj_span at)
{
    const kj_source *s = p->source;
    if (braces_behind(s, at.end) + p->nbraces != 0)
        return kj_code_end(s, at.end);
    bool all = at.end > at.begin;
    uint32_t end = kj_statement_end(s, at.end, all), next;
    while (!all && s->text[end] == ';' &&
           kj_is_word_at(s, next = kj_skip_blanks(s, end + 1), "else"))
        end = kj_statement_end(s, next, false);
    return end;
}

/* Braces around what is indented behind a header that ends at `at`, or around the rest of its line; the first alone
 * where there is the other. */
void kj_habit_block(kj_parser *p, kj_message *m, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t line = kj_line_start(s, at.begin), end = block_end(p, at);
    uint32_t own = indentation(s, line);
    if (end > at.end) {
        uint32_t begin = kj_skip_blanks(s, at.end), last = end;
        while (last > begin && kj_is_word(s->text[last - 1]))
            last--;
        bool closed = last > begin && kj_is_blank(s->text[last - 1]) &&
                      (kj_is_word_at(s, last, "end") || kj_is_word_at(s, last, "endif") ||
                       kj_is_word_at(s, last, "done") || kj_is_word_at(s, last, "fi"));
        last = closed ? last : end;
        while (last > begin && strchr(" \t;", s->text[last - 1]))
            last--;
        if (s->text[begin] != '(')
            kj_fix(p->diag, m, (kj_span){at.begin, kj_before_else(s, end)}, "%s%s",
                   at.begin > 0 && kj_is_blank(s->text[at.begin - 1]) ? "" : " ",
                   in_braces(p, begin, last));
        return;
    }
    uint32_t last = kj_line_end(s, at.end), next = last;
    while (s->text[next] == '\n') {
        uint32_t begin = next + 1, stop = kj_line_end(s, begin);
        bool empty = kj_skip_blanks(s, begin) >= stop;
        if (!empty && indentation(s, begin) <= own)
            break;
        last = empty ? last : stop;
        next = stop;
    }
    uint32_t after = s->text[next] ? next + 1 : next;
    bool level = indentation(s, after) == own;
    if (level && (kj_is_word_at(s, after + own, "end") || kj_is_word_at(s, after + own, "done")))
        return;
    if (level && s->text[after + own] == '}')
        kj_fix(p->diag, m, at, " {");
    else if (last > kj_line_end(s, at.end) && last - at.end < MOST_MENDED)
        kj_fix(p->diag, m, (kj_span){at.begin, last}, " {%s\n%.*s}", kj_piece(p, at.end, last),
               (int)own, s->text + line);
}

/* Stands the name before `end` in the item there, in a block that is open still? There it may be declared. A loop's are
 * of its block; what stands before a quote is a text's. */
bool kj_habit_is_known(const kj_parser *p, const char *name, uint32_t end)
{
    const kj_source *s = p->source;
    uint32_t at = end;
    while (at > p->begin && !(s->text[at - 1] == '\n' && kj_is_word(s->text[at])))
        at--;
    int depth = 0, known = INT_MAX, loop = 0; /* known: the block's depth, the outermost's */
    while (at < end) {
        uint32_t next = kj_behind_text(s, at);
        char c = s->text[at];
        if (next == at && kj_is_word(c)) {
            next = kj_word_end(s, at);
            if (kj_is_word_at(s, at, "for"))
                loop = 1;
            bool other = (at > 0 && s->text[at - 1] == '.') || s->text[next] == '"';
            if (!other && kj_is_word_at(s, at, name) && depth + loop < known)
                known = depth + loop;
        } else if (next == at) {
            next++;
            depth += (c == '{') - (c == '}');
            loop = c == '{' || c == '\n' ? 0 : loop;
            known = c == '}' && depth < known ? INT_MAX : known;
        }
        at = next;
    }
    return known != INT_MAX;
}

bool kj_habit_walrus(kj_parser *p, kj_span at)
{
    if (p->first != KJ_TK_NAME || p->first_span.begin != p->span.begin || !kj_layout_assigns(p))
        return false;
    const char *name = kj_piece(p, p->span.begin, p->span.end);
    if (kj_habit_is_known(p, name, p->span.begin))
        return false;
    kj_message *m = kj_error(p->diag, at, KJ_RULE_SPELLING, "use '=' instead of ':='");
    kj_hint(p->diag, m, "a variable is declared first: var %s = ...", name);
    kj_fix(p->diag, m, (kj_span){p->span.begin, at.end}, "var %s =", name);
    return true;
}

void kj_habit_array(kj_parser *p, kj_message *m, kj_span name)
{
    const kj_source *s = p->source;
    uint32_t begin = kj_skip_blanks(s, kj_line_start(s, name.begin));
    if (kj_code_end(s, name.end) <= name.end)
        kj_write(p->diag, m, (kj_span){begin, name.end}, "let %s = %s",
                 kj_piece(p, name.begin, name.end), kj_piece(p, begin, p->prev_span.end));
}

/* The call that an expression begins with; NULL: it begins with another. */
static const kj_expr *leading_call(const kj_expr *e)
{
    for (;;) {
        switch (e->kind) {
        case KJ_E_CALL:
            if (e->u.call.callee->kind == KJ_E_NAME)
                return e;
            e = e->u.call.callee;
            break;
        case KJ_E_MEMBER: e = e->u.member.base; break;
        case KJ_E_INDEX: e = e->u.index.base; break;
        case KJ_E_BINARY: e = e->u.binary.lhs; break;
        case KJ_E_LOGIC: e = e->u.logic.lhs; break;
        case KJ_E_CHAIN: e = e->u.chain.operands; break;
        case KJ_E_TUPLE:
            if (!e->u.list.items)
                return NULL;
            e = e->u.list.items;
            break;
        default: return NULL;
        }
    }
}

bool kj_habit_statement_word(kj_parser *p, const kj_expr *e, kj_span span)
{
    const kj_expr *call = leading_call(e);
    const char *name = call && call != e ? call->u.call.callee->u.name : "";
    if (!call || call == e || call->span.begin != span.begin ||
        (strcmp(name, "assert") != 0 && strcmp(name, "print") != 0))
        return false;
    kj_message *m =
        kj_error(p->diag, span, KJ_RULE_SYNTAX,
                 "'%s' is a function: all that it is given stands in its parentheses", name);
    uint32_t open = kj_skip_blanks(p->source, call->u.call.callee->span.end);
    const char *given = kj_piece(p, open, span.end);
    kj_write(p->diag, m, span, "%s(%s)", name, given);
    return true;
}

/* Do the item's braces from `at` on close the one there, and the `open` ones around it? */
static bool are_balanced(const kj_source *s, uint32_t at, int open)
{
    int depth = open;
    for (uint32_t begin = at; s->text[at] && at - begin < MOST_MENDED;) {
        uint32_t next = kj_behind_text(s, at);
        depth += next == at ? (s->text[at] == '{') - (s->text[at] == '}') : 0;
        at = next > at ? next : at + 1;
        if (depth == 0)
            return true;
        if (s->text[at - 1] == '\n' && kj_is_word(s->text[at])) /* another item */
            return false;
    }
    return false;
}

/* {{ ... }}: without the brace at `at`, and its own; false: that one is not there. Texts and comments end the search. */
bool kj_habit_braces(kj_parser *p, kj_message *m, kj_span at)
{
    const char *text = p->source->text;
    uint32_t i = at.begin;
    int depth = 0;
    do {
        depth += (text[i] == '{') - (text[i] == '}');
    } while (depth > 0 && text[++i] && i - at.begin < MOST_MENDED && !strchr("\"#", text[i]));
    bool found = depth == 0, own = found && are_balanced(p->source, at.begin, p->nbraces - 1);
    if (own)
        kj_fix(p->diag, m, (kj_span){at.begin, i + 1}, "%s", kj_piece(p, at.end, i));
    else if (found)
        kj_fix(p->diag, m, at, "%s", "");
    return own || !found;
}

/* ---- Comments ---- */

/* The // of a comment in which the parser went astray; its place, or the source's size. */
uint32_t kj_habit_comment(const kj_parser *p, kj_span at)
{
    const kj_source *s = p->source;
    uint32_t i = at.begin;
    if (s->text[i] == '/' && s->text[i + 1] == '/')
        return i;
    while (i > 1 && (kj_is_word(s->text[i - 1]) || strchr(" -.'", s->text[i - 1])))
        i--;
    bool words = i < at.begin && i > 1 && s->text[i - 1] == '/' && s->text[i - 2] == '/';
    return words && at.begin < at.end && kj_is_word(s->text[at.begin]) ? i - 2 : (uint32_t)s->size;
}

/* The lines of a comment of C or a docstring from `begin` to `end`, each with a # of its own; NULL where code
 * follows on the last. */
static const char *as_comment(kj_parser *p, kj_span all, uint32_t mark)
{
    const kj_source *s = p->source;
    uint32_t at = all.begin + mark, stop = all.end - mark;
    const char *text = "";
    if (kj_code_end(s, all.end) > all.end || all.end - all.begin > MOST_MENDED)
        return NULL;
    for (bool first = true; at < stop || first; first = false) {
        uint32_t end = kj_line_end(s, at), from = kj_skip_blanks(s, at);
        end = end > stop ? stop : end;
        const char *indent = first ? "" : kj_piece(p, at, from < end ? from : at);
        if (!first && s->text[from] == '*')
            from = kj_skip_blanks(s, from + 1);
        from = from > end ? end : from;
        uint32_t to = end;
        while (to > from && strchr(" \t\r*", s->text[to - 1]))
            to--;
        if (first || end < stop || to > from)
            text = kj_arena_printf(p->arena, "%s%s%s#%s%s", text, first ? "" : "\n", indent,
                                   to > from ? " " : "", kj_piece(p, from, to));
        at = end + 1;
    }
    return text;
}

void kj_habit_mend_comment(kj_parser *p, kj_message *m, kj_span all, uint32_t mark)
{
    const char *text = as_comment(p, all, mark);
    kj_hint(p->diag, m, "a comment begins with #, in each line");
    if (text)
        kj_fix(p->diag, m, all, "%s", text);
}

bool kj_is_used_beside(const kj_source *s, kj_span text, kj_span target)
{
    uint32_t end = kj_word_end(s, target.begin);
    for (uint32_t at = text.begin; at < text.end; at++) {
        bool begins = at == 0 || (!kj_is_word(s->text[at - 1]) && s->text[at - 1] != '.');
        bool same =
            begins && strncmp(s->text + at, s->text + target.begin, end - target.begin) == 0;
        if (same && at != target.begin && !kj_is_word(s->text[at + end - target.begin]))
            return true;
    }
    return false;
}

bool kj_habit_is_nan(kj_parser *p, kj_message *m, kj_span at, bool negated)
{
    static const char *const words[] = {"nan",      "NaN", "np.nan",   "np.NaN",
                                        "math.nan", "NAN", "numpy.nan"};
    const kj_source *s = p->source;
    uint32_t value = kj_skip_blanks(s, at.end), end, begin = kj_operand_start(s, p->prev_span.end);
    if (negated)
        value = kj_skip_blanks(s, value + (uint32_t)strlen("not"));
    for (end = value; kj_is_word(s->text[end]) || s->text[end] == '.';)
        end++;
    bool nan = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        nan |= strcmp(kj_piece(p, value, end), words[i]) == 0;
    if (!nan || begin == p->prev_span.end)
        return false;
    uint32_t before = begin;
    while (before > 0 && kj_is_blank(s->text[before - 1]))
        before--;
    if (before > 0 && strchr("+-*/%&|^<>~@", s->text[before - 1])) /* x + 1 is nan: of the sum */
        return true;
    kj_write(p->diag, m, (kj_span){begin, end}, "%sisnan(%s)", negated ? "not " : "",
             kj_piece(p, begin, p->prev_span.end));
    return true;
}
