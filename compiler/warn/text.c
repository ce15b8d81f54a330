/* Texts in print(...) with formats in them that nothing fills: of printf, of Python's format, of an f-string without
 * its f. They are printed as they stand, the values behind them. */
#include "warn/body.h"

#include <string.h>

#include "base/c_locale.h"

/* A place for a value in a text: "%5.2f", "{}", "{n:x}". */
typedef struct place {
    const char *begin, *end;
    const char *format, *format_end; /* "5.2f" */
    const char *name, *name_end;     /* "n" */
} place;

static const char *skip(const char *at, const char *end, const char *any)
{
    while (at < end && strchr(any, *at))
        at++;
    return at;
}

/* printf's: a "%" with one of its letters, which begins no word. */
static bool percent(const char *at, const char *end, place *out)
{
    *out = (place){.begin = at, .format = at + 1};
    at = skip(skip(at + 1, end, "-+#0123456789."), end, "hlz");
    if (at == end || !strchr("diufFeEgGxXcs", *at))
        return false;
    out->format_end = out->end = at + 1;
    return at + 1 == end || !kj_is_word(at[1]);
}

/* Does what stands behind a name go on as an expression does: [0], .x, + 1? */
static bool goes_on(const char *at, const char *close)
{
    bool blank = *at == ' ';
    at += blank;
    return at + 1 < close &&
           (blank ? at[1] == ' ' && strchr("+-*/%", *at) : strchr("[.+-*/", *at) && at[1] != ' ');
}

/* "{}", "{0}", "{n}", "{a[0]}", with a format or without. */
static bool braces(const char *at, const char *end, place *out)
{
    const char *close = memchr(at, '}', (size_t)(end - at)), *name = at + 1;
    if (!close || at + 1 == end)
        return false;
    const char *name_end = name;
    while (name_end < close && kj_is_word(*name_end))
        name_end++;
    bool more = name_end > name && !kj_is_digit(*name) && goes_on(name_end, close);
    if (more && !memchr(name, '"', (size_t)(close - name))) {
        *out = (place){at, close + 1, close, close, name, name_end};
        return true;
    }
    if (name_end != close && *name_end != ':')
        return false;
    *out = (place){.begin = at, .end = close + 1, .name = name, .name_end = name_end};
    out->format = name_end < close ? name_end + 1 : close;
    out->format_end = close;
    return true;
}

/* The first place in a text from `at` on. A sign that stands twice is meant as it is. */
static bool next_place(const char *at, const char *end, place *out)
{
    for (; at < end; at++)
        if (at + 1 < end && at[0] == at[1] && strchr("%{", *at))
            at++;
        else if ((*at == '%' && percent(at, end, out)) || (*at == '{' && braces(at, end, out)))
            return true;
    return false;
}

/* The variable of that name that is in reach; or NULL. */
static kj_named_value *named(const kj_body *b, const char *name, size_t n)
{
    for (kj_named_value *v = b->last; v; v = v->before)
        if (strlen(v->name) == n && memcmp(v->name, name, n) == 0)
            return kj_warn_find(b, v->name);
    return NULL;
}

/* Has it signs that mean something in an f-string, or stand for themselves only in other texts? */
static bool has_signs(const char *at, const char *end)
{
    for (; at < end; at++)
        if (strchr("{}%", *at))
            return true;
    return false;
}

/* The text with the values in it, as an f-string; NULL: they do not fit its places one by one, or it has formats, which
 * depend on what the values are. */
static const char *filled(const kj_body *b, const char *at, const char *end, const kj_expr *values)
{
    enum { MOST = 100 };
    const char *text = b->diag->source->text, *made = "f", *done = at;
    place p;
    for (; next_place(at, end, &p); at = p.end) {
        bool own = p.name && p.name < p.name_end;
        bool plain = p.name ? p.format == p.format_end
                            : p.format + 1 == p.format_end && strchr("dius", *p.format);
        if (own ? !named(b, p.name, (size_t)(p.name_end - p.name)) : !values || !plain)
            return NULL;
        const char *begin = own ? p.begin + 1 : text + values->span.begin;
        const char *stop = own ? p.end - 1 : text + values->span.end;
        const char *value = kj_arena_printf(b->arena, "%.*s", (int)(stop - begin), begin);
        if (has_signs(done, p.begin) || strpbrk(value, own ? "{\n" : "\"'{}:!\n\\") ||
            strlen(made) > MOST)
            return NULL;
        made = kj_arena_printf(b->arena, "%s%.*s{%s}", made, (int)(p.begin - done), done, value);
        done = p.end;
        values = own ? values : values->next;
    }
    return values || has_signs(done, end) || end - done > MOST
               ? NULL
               : kj_arena_printf(b->arena, "%s%.*s", made, (int)(end - done), done);
}

/* What is named up to the end counts as read. */
static void read_names(const kj_body *b, const char *at, const char *end)
{
    while (at < end) {
        size_t n = 0;
        while (at + n < end && kj_is_word(at[n]))
            n++;
        kj_named_value *v = n ? named(b, at, n) : NULL;
        if (v)
            v->read = true;
        at += n + (n == 0);
    }
}

/* A text whose places the values behind it, or variables, are meant for. */
static void warn_of_text(kj_body *b, const kj_expr *arg)
{
    const char *text = b->diag->source->text, *begin = text + arg->span.begin;
    const char *end = text + arg->span.end;
    place p;
    if (!next_place(begin, end, &p))
        return;
    kj_named_value *v = p.name ? named(b, p.name, (size_t)(p.name_end - p.name)) : NULL;
    bool numbered = p.name && (p.name == p.name_end || kj_is_digit(*p.name));
    if (v ? false : !arg->next || (p.name && !numbered))
        return;
    if (v)
        read_names(b, p.name, p.end);
    kj_span at = {(uint32_t)(p.begin - text), (uint32_t)(p.end - text)};
    kj_message *m = kj_warn(b->diag, at, KJ_RULE_TEXT_FORMAT, "this is printed as it stands%s",
                            !v                  ? ", and the value behind the text"
                            : kj_warn_in_run(b) ? ": the text has no f in front"
                                                : "");
    const char *made = kj_warn_in_run(b) && !(p.name && p.name < p.name_end && numbered)
                           ? filled(b, begin, end, arg->next)
                           : NULL;
    if (made)
        kj_hint(b->diag, m, "write %s", made);
    else
        kj_hint(b->diag, m,
                kj_warn_in_run(b)
                    ? "values stand in the text where it begins with f: f\"{n} of {m:8.3f}\""
                    : "texts and values stand side by side: print(\"n is\", n)");
}

void kj_warn_of_print(kj_body *b, const kj_expr *call)
{
    if (!kj_warns(b->diag, KJ_RULE_TEXT_FORMAT))
        return;
    for (const kj_expr *arg = call->u.call.args; arg; arg = arg->next)
        if (arg->kind == KJ_E_STRING && !arg->keyword)
            warn_of_text(b, arg);
}
