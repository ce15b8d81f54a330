/* Updates of elements as atomics, by their text: a hint that is applied has to compile. */
#include "lang/update.h"

#include <string.h>

#include "base/text.h"

enum { LONGEST = 80 };

typedef struct piece {
    const char *at;
    size_t n;
} piece;

static piece trimmed(piece p)
{
    while (p.n && (*p.at == ' ' || *p.at == '\t')) {
        p.at++;
        p.n--;
    }
    p.n = kj_trimmed(p.at, p.n);
    return p;
}

static piece behind(piece p, size_t n)
{
    return trimmed((piece){p.at + n, p.n - n});
}

static bool begins(piece p, piece with)
{
    return p.n >= with.n && memcmp(p.at, with.at, with.n) == 0;
}

static bool begins_word(piece p, const char *word)
{
    return begins(p, (piece){word, strlen(word)});
}

static int depth_of(char c)
{
    return strchr("([", c) ? 1 : strchr(")]", c) ? -1 : 0;
}

/* The rest of a statement that is on one line. */
static piece rest_of(const kj_source *source, uint32_t from)
{
    const char *at = source->text + from, *end = source->text + source->size, *p = at;
    int depth = 0;
    for (; p < end && *p && depth >= 0; p++) {
        depth += depth_of(*p);
        if (*p == '\n' || *p == '#' || *p == '"' || (depth == 0 && strchr(";{}", *p)))
            break;
    }
    return depth == 0 ? trimmed((piece){at, (size_t)(p - at)}) : (piece){NULL, 0};
}

/* ---- h[x[i]] ---- */

typedef struct element {
    piece all, array, index;
    bool several; /* indices */
} element;

static bool read_element(const kj_source *source, kj_span span, element *out)
{
    const char *text = source->text + span.begin;
    size_t n = span.end - span.begin, name = 0;
    int depth = 0;
    while (name < n && kj_is_word(text[name]))
        name++;
    if (!name || name + 2 >= n || n > LONGEST || text[name] != '[' || text[n - 1] != ']')
        return false;
    *out = (element){.all = {text, n}, .array = {text, name}};
    for (size_t i = name; i < n; i++) {
        depth += depth_of(text[i]);
        if (text[i] == '\n' || text[i] == '"' || (depth == 0 && i + 1 < n))
            return false; /* a[i][j] */
        out->several |= depth == 1 && text[i] == ',';
    }
    out->index = trimmed((piece){text + name + 1, n - name - 2});
    return depth == 0;
}

/* ---- What is added ---- */

typedef struct update {
    const char *atomic;
    piece value;
} update;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Are all operators of the text products', or in brackets? Of a sum, `sums` may be there too. */
static bool binds(piece p, bool sums)
{
    int depth = 0;
    for (size_t i = 0; i < p.n; i++) {
        depth += depth_of(p.at[i]);
        bool between = i > 0 && is_blank(p.at[i - 1]);
        if (depth > 0)
            continue;
        if (strchr("<>=!&|^,?", p.at[i]) || (!sums && between && strchr("+-", p.at[i])))
            return false;
        if (between && (begins_word((piece){p.at + i, p.n - i}, "if ") ||
                        begins_word((piece){p.at + i, p.n - i}, "and ") ||
                        begins_word((piece){p.at + i, p.n - i}, "or ")))
            return false;
    }
    return true;
}

/* `value`, which is assigned to the element, as it and something more. */
static update of_assigned(const element *e, piece value)
{
    static const struct {
        const char *op, *atomic;
    } ops[] = {{"+", "add"}, {"-", "sub"}, {"&", "and_"}, {"|", "or_"}, {"^", "xor"}};
    const bool least = begins_word(value, "min("), most = begins_word(value, "max(");
    if ((least || most) && value.at[value.n - 1] == ')') {
        piece in = behind((piece){value.at, value.n - 1}, 4);
        piece rest = begins(in, e->all) ? behind(in, e->all.n) : (piece){NULL, 0};
        if (rest.n && *rest.at == ',' && binds(behind(rest, 1), true))
            return (update){least ? "min" : "max", behind(rest, 1)};
        return (update){0};
    }
    if (!begins(value, e->all))
        return (update){0};
    piece rest = behind(value, e->all.n);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (begins_word(rest, ops[i].op) && rest.n > 2 && is_blank(rest.at[1]) &&
            binds(behind(rest, 1), ops[i].op[0] == '+'))
            return (update){ops[i].atomic, behind(rest, 1)};
    return (update){0};
}

static update update_of(const element *e, piece rest)
{
    static const struct {
        const char *op, *atomic;
    } ops[] = {{"+=", "add"}, {"-=", "sub"}, {"&=", "and_"}, {"|=", "or_"}, {"^=", "xor"}};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (begins_word(rest, ops[i].op))
            return (update){ops[i].atomic, behind(rest, 2)};
    if (rest.n > 1 && rest.at[0] == '=' && rest.at[1] != '=')
        return of_assigned(e, behind(rest, 1));
    return (update){0};
}

static bool has_atomic(const char *atomic, kj_dtype type)
{
    bool bits = strchr(atomic, '_') || strcmp(atomic, "xor") == 0;
    bool integer = type != KJ_VOID && kj_is_int(type) && kj_types[type].bits >= 32;
    return integer || (!bits && type != KJ_VOID && kj_is_float(type));
}

const char *kj_as_atomic(kj_arena *arena, const kj_source *source, kj_span element_at,
                         kj_dtype type, kj_span *whole)
{
    element e;
    if (!read_element(source, element_at, &e))
        return NULL;
    piece rest = rest_of(source, element_at.end);
    update u = update_of(&e, rest);
    if (!u.atomic || !u.value.n || u.value.n > LONGEST || !has_atomic(u.atomic, type) ||
        !(kj_is_word(u.value.at[u.value.n - 1]) || strchr(")].", u.value.at[u.value.n - 1])))
        return NULL; /* or it goes on in the next line */
    *whole = (kj_span){element_at.begin, (uint32_t)(rest.at + rest.n - source->text)};
    return kj_arena_printf(
        arena, e.several ? "atomic.%s(%.*s, (%.*s), %.*s)" : "atomic.%s(%.*s, %.*s, %.*s)",
        u.atomic, (int)e.array.n, e.array.at, (int)e.index.n, e.index.at, (int)u.value.n,
        u.value.at);
}
