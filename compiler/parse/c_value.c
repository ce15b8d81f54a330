/* What a declaration of C is given, as it is written here: the text of C in, ours out. A quotient of integers is one in C
 * and written // here, numbers have no suffixes. Types are those that the names have in the text above. */
#include <string.h>

#include "knl.tab.h"
#include "lang/types.h"
#include "parse/habit.h"

enum { MOST_QUOTIENTS = 8, MOST_DEPTH = 16 };

/* A text of C that is walked, and what was found in it. */
typedef struct walk {
    kj_parser *p;
    uint32_t at, end;
    uint32_t quotients[MOST_QUOTIENTS]; /* each / of two integers */
    int n, depth;
    bool cuts, failed; /* one of them may be below 0; it is not understood */
} walk;

static kj_c_class class_of_type(const char *type)
{
    kj_dtype t = type ? kj_type_named(type) : KJ_VOID;
    if (t == KJ_VOID || t == KJ_BOOL || !(kj_is_int(t) || kj_is_float(t)))
        return KJ_C_UNKNOWN;
    return kj_is_float(t) ? KJ_C_FLOAT : kj_is_signed(t) ? KJ_C_SIGNED : KJ_C_UNSIGNED;
}

static bool is_word_of_place(const char *word)
{
    static const char *const words[] = {"threadIdx", "blockIdx", "blockDim", "gridDim",
                                        "grid",      "gridsize", "laneid",   "warpsize"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

/* Of what is written from `at` on: a number, or a place in the grid; all else is not known. */
static kj_c_class class_of_start(kj_parser *p, uint32_t at)
{
    const kj_source *s = p->source;
    uint32_t end = kj_word_end(s, at);
    if (is_word_of_place(kj_piece(p, at, end)))
        return KJ_C_UNSIGNED;
    uint32_t next = kj_skip_blanks(s, end);
    bool number = kj_is_digit(s->text[at]) && strchr("\r\n;}#", s->text[next]);
    return number ? KJ_C_SIGNED : KJ_C_UNKNOWN;
}

/* Of a name at `at` where it is declared: x: f32[], float *x, let i = grid(1), for i in range(n). */
static kj_c_class class_declared(kj_parser *p, uint32_t at, bool *array)
{
    const kj_source *s = p->source;
    uint32_t end = kj_word_end(s, at), next = kj_skip_blanks(s, end), before = at;
    if (s->text[next] == ':' && s->text[next + 1] != ':') {
        uint32_t type = kj_skip_blanks(s, next + 1), type_end = kj_word_end(s, type);
        *array = s->text[type_end] == '[';
        return class_of_type(kj_habit_type_named(kj_piece(p, type, type_end)));
    }
    if (kj_is_word_at(s, next, "in")) {
        uint32_t iter = kj_skip_blanks(s, next + 2);
        return kj_is_word_at(s, iter, "range") ? KJ_C_SIGNED : KJ_C_UNKNOWN;
    }
    while (before > 0 && (kj_is_blank(s->text[before - 1]) || s->text[before - 1] == '*'))
        before--;
    bool pointer = memchr(s->text + before, '*', at - before) != NULL;
    uint32_t word = before;
    while (word > 0 && kj_is_word(s->text[word - 1]))
        word--;
    const char *type = kj_piece(p, word, before);
    if (strcmp(type, "var") == 0 || strcmp(type, "let") == 0)
        return s->text[next] == '=' ? class_of_start(p, kj_skip_blanks(s, next + 1)) : KJ_C_UNKNOWN;
    bool is_unsigned = strcmp(type, "unsigned") == 0;
    while (word > 0 && kj_is_blank(s->text[word - 1]))
        word--;
    uint32_t other = word;
    while (other > 0 && kj_is_word(s->text[other - 1]))
        other--;
    is_unsigned |= kj_is_word_at(s, other, "unsigned");
    kj_c_class class = word == before ? KJ_C_UNKNOWN : class_of_type(kj_habit_type_named(type));
    *array = pointer || s->text[next] == '[';
    return class == KJ_C_SIGNED && is_unsigned ? KJ_C_UNSIGNED : class;
}

kj_c_class kj_habit_class_of(kj_parser *p, const char *name, uint32_t before, bool *array)
{
    const kj_source *s = p->source;
    for (uint32_t at = before; at > p->begin; at--) {
        if (s->text[at - 1] == '\n' && s->text[at] == '}') /* the item before this one */
            break;
        if (!kj_is_word_at(s, at, name) || kj_is_word(s->text[at - 1]) || s->text[at - 1] == '.')
            continue;
        kj_c_class class = class_declared(p, at, array);
        if (class != KJ_C_UNKNOWN)
            return class;
    }
    *array = false;
    return KJ_C_UNKNOWN;
}

/* ---- The walk: as C binds ---- */

static kj_c_class sum(walk *w);

static kj_c_class join(kj_c_class a, kj_c_class b)
{
    if (a == KJ_C_FLOAT || b == KJ_C_FLOAT)
        return KJ_C_FLOAT;
    if (a == KJ_C_UNKNOWN || b == KJ_C_UNKNOWN)
        return KJ_C_UNKNOWN;
    return a == KJ_C_SIGNED ? a : b;
}

static char next_of(walk *w)
{
    w->at = kj_skip_blanks(w->p->source, w->at);
    return w->at < w->end ? w->p->source->text[w->at] : '\0';
}

/* Behind the bracket that closes the one there. */
static void skip_brackets(walk *w)
{
    uint32_t close = kj_closing(w->p->source, w->at);
    w->failed |= !close || close >= w->end;
    w->at = close + 1;
}

static kj_c_class number(walk *w)
{
    const char *text = w->p->source->text;
    uint32_t begin = w->at;
    bool hexadecimal = text[begin] == '0' && kj_to_lower(text[begin + 1]) == 'x', real = false;
    while (w->at < w->end && (kj_is_word(text[w->at]) || text[w->at] == '.')) {
        char c = kj_to_lower(text[w->at++]);
        real |= c == '.' || (!hexadecimal && (c == 'e' || c == 'f'));
        if (!hexadecimal && c == 'e' && strchr("+-", text[w->at]))
            w->at++;
    }
    return real ? KJ_C_FLOAT : KJ_C_UNSIGNED;
}

/* n, a[i], threadIdx.x, a.size, f32(n), f(x) */
static kj_c_class name_of(walk *w)
{
    const kj_source *s = w->p->source;
    uint32_t begin = w->at;
    bool array = false;
    w->at = kj_word_end(s, begin);
    const char *word = kj_piece(w->p, begin, w->at);
    kj_c_class class =
        is_word_of_place(word) ? KJ_C_UNSIGNED : kj_habit_class_of(w->p, word, begin, &array);
    if (s->text[w->at] == '(') {
        class = is_word_of_place(word) ? class : class_of_type(kj_habit_type_named(word));
        skip_brackets(w);
    }
    while (!w->failed && w->at < w->end && strchr(".[", s->text[w->at])) {
        if (s->text[w->at] == '[') {
            skip_brackets(w);
            continue;
        }
        uint32_t member = w->at + 1;
        w->at = kj_word_end(s, member);
        if (kj_is_word_at(s, member, "size") || kj_is_word_at(s, member, "shape"))
            class = KJ_C_UNSIGNED;
        else if (!is_word_of_place(word))
            class = KJ_C_UNKNOWN;
    }
    return class;
}

static kj_c_class factor(walk *w)
{
    char c = next_of(w);
    uint32_t behind = 0;
    if (w->failed || ++w->depth > MOST_DEPTH || !c) {
        w->failed = true;
        return KJ_C_UNKNOWN;
    }
    kj_c_class class = KJ_C_UNKNOWN;
    if (c == '-' || c == '+' || c == '~') {
        w->at++;
        class = factor(w);
        class = class == KJ_C_UNSIGNED && c == '-' ? KJ_C_SIGNED : class;
    } else if (c == '(') {
        const char *cast = kj_habit_cast_type(w->p, w->at + 1, &behind);
        if (cast && behind > w->at + 1 && w->p->source->text[behind] == ')') { /* (float)n */
            w->at = behind + 1;
            factor(w);
            class = class_of_type(cast);
        } else {
            w->at++;
            class = sum(w);
            w->failed |= next_of(w) != ')';
            w->at++;
        }
    } else if (kj_is_digit(c) || c == '.') {
        class = number(w);
    } else if (kj_is_word(c)) {
        class = name_of(w);
    } else {
        w->failed = true;
    }
    w->depth--;
    return class;
}

static bool is_whole(kj_c_class class)
{
    return class == KJ_C_SIGNED || class == KJ_C_UNSIGNED;
}

static kj_c_class product(walk *w)
{
    kj_c_class class = factor(w);
    for (char c; !w->failed && (c = next_of(w)) && strchr("*/%", c);) {
        uint32_t sign = w->at++;
        w->failed |= strchr("*/=", w->p->source->text[w->at]) != NULL; /* comments, powers */
        kj_c_class with = factor(w);
        if (c == '/' && is_whole(class) && is_whole(with)) {
            w->failed |= w->n == MOST_QUOTIENTS;
            if (!w->failed)
                w->quotients[w->n++] = sign;
            w->cuts |= class == KJ_C_SIGNED || with == KJ_C_SIGNED;
        }
        class = join(class, with);
    }
    return class;
}

/* Of operators but those of products all are taken alike: what they give of integers is one. */
static kj_c_class sum(walk *w)
{
    kj_c_class class = product(w);
    for (char c; !w->failed && (c = next_of(w)) && strchr("+-&|^<>", c);) {
        const char *text = w->p->source->text;
        bool twice = text[w->at + 1] == c;
        w->failed |=
            text[w->at + 1] == '=' || (twice && !strchr("<>", c)) || (!twice && strchr("<>", c));
        w->at += twice ? 2 : 1;
        class = join(class, product(w));
    }
    return class;
}

kj_c_value kj_habit_c_value(kj_parser *p, uint32_t begin, uint32_t end)
{
    walk w = {.p = p, .at = begin, .end = end};
    kj_c_class class = sum(&w);
    bool whole = !w.failed && !next_of(&w);
    kj_c_value v = {.text = "", .class = whole ? class : KJ_C_UNKNOWN};
    uint32_t from = begin;
    for (int i = 0; whole && i < w.n; i++) {
        v.text = kj_arena_printf(p->arena, "%s%s//", v.text, kj_piece(p, from, w.quotients[i]));
        from = w.quotients[i] + 1;
    }
    v.text = kj_arena_printf(p->arena, "%s%s", v.text, kj_piece(p, from, end));
    v.text = kj_without_suffixes(p, v.text);
    v.cuts = whole && w.cuts;
    v.changed = strcmp(v.text, kj_piece(p, begin, end)) != 0;
    return v;
}

bool kj_hint_pointer(kj_parser *p, kj_message *m, const kj_expr *e)
{
    const kj_expr *type =
        e->kind == KJ_E_BINARY && e->u.binary.op == KJ_OP_MUL ? e->u.binary.lhs : NULL;
    if (!type || type->kind != KJ_E_NAME || !kj_habit_type_named(type->u.name))
        return false;
    const char *elem = kj_habit_type_named(type->u.name);
    if (kj_is_item_of(p->source, m->span.begin, "run"))
        kj_hint(p->diag, m, "there are no pointers: an array is made as let a = zeros(8, %s)",
                elem);
    else
        kj_hint(p->diag, m, "there are no pointers: an array is passed and indexed by its name");
    return true;
}

bool kj_hint_pointer_cast(kj_parser *p, kj_message *m)
{
    if (p->prev != KJ_TK_STAR || p->before_prev != KJ_TK_NAME)
        return false;
    const char *type =
        kj_habit_type_named(kj_piece(p, p->before_prev_span.begin, p->before_prev_span.end));
    if (type)
        kj_hint(p->diag, m, "there are no pointers: elements are converted, %s(a[i])", type);
    return type != NULL;
}
