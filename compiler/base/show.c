/* Messages as people and editors read them: a kj_diag in, text or JSON out.
 *
 *     heat.knl:12:9: error: 'lenght' is not declared
 *        12 |     let n = lenght
 *           |             ^~~~~~
 *     hint: did you mean 'length'?
 *     heat.knl:3:7: note: declared here
 */
#include <string.h>

#include "base/diag.h"

enum {
    WINDOW = 100, /* characters of a long line that are shown */
    BEFORE = 40,  /* of them before the place in question */
};

/* Message pointers in the order of their places; at one place as reported. */
typedef struct sorted {
    const kj_message **messages;
    size_t n;
} sorted;

/* An insertion sort: it is stable, and there are few. */
static sorted in_order(const kj_diag *d)
{
    sorted s = {0};
    for (const kj_message *m = d->first; m; m = m->next)
        s.n++;
    s.messages = KJ_NEW_ARRAY(d->arena, const kj_message *, s.n);
    size_t n = 0;
    for (const kj_message *m = d->first; m; m = m->next) {
        size_t i = n++;
        for (; i > 0 && s.messages[i - 1]->span.begin > m->span.begin; i--)
            s.messages[i] = s.messages[i - 1];
        s.messages[i] = m;
    }
    return s;
}

static const char *severity_name(kj_severity s)
{
    return s == KJ_ERROR ? "error" : "warning";
}

/* ---- Text ---- */

/* Columns a character takes on a terminal: marks that combine take none, East Asian ones and
 * pictures two. */
static int cells(uint32_t c)
{
    static const struct {
        uint32_t first, last;
        int cells;
    } ranges[] = {
        {0x0300, 0x036f, 0},   {0x1100, 0x115f, 2}, {0x200b, 0x200f, 0}, {0x2e80, 0xa4cf, 2},
        {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2}, {0xfe00, 0xfe0f, 0}, {0xfe30, 0xfe6f, 2},
        {0xfeff, 0xfeff, 0},   {0xff00, 0xff60, 2}, {0xffe0, 0xffe6, 2}, {0x1f300, 0x1faff, 2},
        {0x20000, 0x3fffd, 2},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (c >= ranges[i].first && c <= ranges[i].last)
            return ranges[i].cells;
    }
    return 1;
}

/* What stands for a control, and for a byte that is no UTF-8, takes one. */
static int cells_shown(uint32_t c)
{
    return kj_is_control(c) ? 1 : cells(c);
}

/* The part of a line that is shown: all of a short one, a window around the place of a long one. */
typedef struct excerpt {
    const char *begin, *end;
    bool cut_before, cut_after;
} excerpt;

/* The start of the character `n` before p, not before `first`. */
static const char *back(const char *p, const char *first, int n)
{
    while (p > first && n > 0) {
        p--;
        if (((unsigned char)*p & 0xc0) != 0x80)
            n--;
    }
    return p;
}

static const char *forward(const char *p, const char *last, int n)
{
    uint32_t code;
    for (; p < last && n > 0; n--)
        p += kj_utf8(p, last, &code);
    return p;
}

static excerpt excerpt_at(const kj_source *s, uint32_t offset)
{
    const char *text_end = s->text + s->size;
    const char *at = s->text + (offset < s->size ? offset : s->size);
    const char *first = back(at, s->text, WINDOW), *last = forward(at, text_end, WINDOW);
    const char *p = at;
    while (p > first && p[-1] != '\n')
        p--;
    const char *e = at;
    while (e < last && *e != '\n')
        e++;
    excerpt x = {p, e, p > s->text && p[-1] != '\n', e < text_end && *e != '\n'};
    if (x.cut_before || x.cut_after || forward(p, e, WINDOW) < e) {
        const char *begin = back(at, x.begin, BEFORE);
        x.cut_before |= begin > x.begin;
        x.begin = begin;
        const char *end = forward(begin, x.end, WINDOW);
        x.cut_after |= end < x.end;
        x.end = end;
    }
    if (x.end > x.begin && x.end[-1] == '\r')
        x.end--;
    return x;
}

static void put_line(kj_text *t, const excerpt *x)
{
    uint32_t c;
    if (x->cut_before)
        kj_text_printf(t, "...");
    for (const char *p = x->begin; p < x->end;) {
        size_t len = kj_utf8(p, x->end, &c);
        if (c == 0xfffd || kj_is_control(c))
            kj_text_printf(t, "\xef\xbf\xbd"); /* U+FFFD */
        else
            kj_text_add(t, p, len);
        p += len;
    }
    kj_text_printf(t, x->cut_after ? "...\n" : "\n");
}

/* Blanks as wide as the text before the place (tabs as tabs), then ^~~~ under it, to the end of
 * the line at most. */
static void put_caret(kj_text *t, const kj_source *s, kj_span span, const excerpt *x)
{
    const char *at = s->text + span.begin, *stop = s->text + span.end;
    uint32_t c;
    if (x->cut_before)
        kj_text_printf(t, "   ");
    const char *p = x->begin;
    while (p < at && p < x->end) {
        p += kj_utf8(p, x->end, &c);
        kj_text_printf(t, "%*s", c == '\t' ? 0 : cells_shown(c), "");
        if (c == '\t')
            kj_text_printf(t, "\t");
    }
    kj_text_printf(t, "^");
    if (p < x->end && p < stop) {
        p += kj_utf8(p, x->end, &c);
        if (cells_shown(c) == 2)
            kj_text_printf(t, "~");
    }
    while (p < stop && p < x->end) {
        p += kj_utf8(p, x->end, &c);
        for (int n = cells_shown(c); n > 0; n--)
            kj_text_printf(t, "~");
    }
    kj_text_printf(t, "\n");
}

static void put_lines(kj_text *t, const char *text)
{
    kj_text_plain(t, text, strlen(text), true);
    kj_text_puts(t, "\n");
}

static void put_place(kj_text *t, const kj_source *s, kj_span span, const char *what,
                      const char *text, const char *hint)
{
    if (span.begin > s->size)
        span.begin = span.end = (uint32_t)s->size;
    kj_position at = kj_where(s, span.begin);
    kj_text_plain(t, at.file, strlen(at.file), false);
    kj_text_printf(t, ":%u:%u: %s: ", at.line, at.column, what);
    put_lines(t, text);
    if (s->size <= KJ_SOURCE_MAX) { /* else nobody has its text */
        excerpt x = excerpt_at(s, span.begin);
        kj_text_printf(t, "%5u | ", at.line);
        put_line(t, &x);
        kj_text_printf(t, "      | ");
        put_caret(t, s, span, &x);
    }
    if (hint) {
        kj_text_puts(t, "hint: ");
        put_lines(t, hint);
    }
}

static void put_limit(kj_text *t, const kj_source *s, const char *what, int most)
{
    kj_text_plain(t, s->name, strlen(s->name), false);
    kj_text_printf(t, ": too many %s, the first %d are shown\n", what, most);
}

enum { MOST_CALLS = 8 }; /* that are shown */

/* Was it made for an expression, so that it stands in no file? */
static bool is_made(const kj_source *s, kj_span at)
{
    return s->written && at.begin >= s->written && at.begin < kj_source_at(s, 0).end;
}

/* A call that stands in no file is shown to nobody. */
static const kj_called *first_written(const kj_source *s, const kj_called *c)
{
    while (c && is_made(s, c->at))
        c = c->up;
    return c;
}

/* What a note says there is said of the message's own place. */
static kj_span place_of_note(const kj_source *s, const kj_message *m)
{
    return is_made(s, m->note_span) ? m->span : m->note_span;
}

static void show_calls(kj_text *t, const kj_source *s, const kj_called *calls)
{
    int n = 0;
    for (const kj_called *c = first_written(s, calls); c && n < MOST_CALLS;
         c = first_written(s, c->up), n++)
        put_place(t, s, c->at, "note", "called here", NULL);
}

const char *kj_diag_text(const kj_diag *d)
{
    kj_text t = {.arena = d->arena};
    sorted s = in_order(d);
    kj_text_add(&t, "", 0);
    for (size_t i = 0; i < s.n; i++) {
        const kj_message *m = s.messages[i];
        const char *text =
            kj_rules[m->rule].severity == KJ_ERROR
                ? m->text
                : kj_arena_printf(d->arena, "%s [%s]", m->text, kj_rules[m->rule].code);
        put_place(&t, d->source, m->span, severity_name(m->severity), text, m->hint);
        show_calls(&t, d->source, m->calls);
        if (m->note)
            put_place(&t, d->source, place_of_note(d->source, m), "note", m->note, NULL);
        show_calls(&t, d->source, m->note_calls);
    }
    if (d->full)
        put_limit(&t, d->source, "errors", KJ_MAX_ERRORS);
    if (d->warnings > KJ_MAX_WARNINGS)
        put_limit(&t, d->source, "warnings", KJ_MAX_WARNINGS);
    return t.data;
}

/* ---- JSON ---- */

static void put_string(kj_text *t, const char *text)
{
    const char *end = text + strlen(text);
    uint32_t c;
    kj_text_printf(t, "\"");
    while (text < end) {
        size_t len = kj_utf8(text, end, &c);
        if (c == '"' || c == '\\')
            kj_text_printf(t, "\\%c", (char)c);
        else if (kj_is_control(c) || c == '\t' || c == 0xfffd)
            kj_text_printf(t, "\\u%04x", c);
        else
            kj_text_add(t, text, len);
        text += len;
    }
    kj_text_printf(t, "\"");
}

static void put_file(kj_text *t, const kj_source *s, kj_span span)
{
    kj_text_printf(t, "\"file\":");
    put_string(t, kj_where(s, span.begin).file);
    kj_text_printf(t, ",");
}

static void put_range(kj_text *t, const kj_source *s, kj_span span)
{
    kj_position begin = kj_where(s, span.begin), end = kj_where(s, span.end);
    kj_text_printf(t, "\"line\":%u,\"column\":%u,\"endLine\":%u,\"endColumn\":%u", begin.line,
                   begin.column, end.line, end.column);
}

static void put_field(kj_text *t, const char *name, const char *text)
{
    kj_text_printf(t, ",\"%s\":", name);
    put_string(t, text);
}

void kj_json_begin(kj_text *t, const kj_source *s, const kj_span *at, const char *severity,
                   kj_rule rule, const char *message, const char *hint)
{
    kj_text_printf(t, "{");
    if (at) {
        put_file(t, s, *at);
        put_range(t, s, *at);
    } else {
        kj_text_printf(t, "\"file\":");
        put_string(t, s->name);
    }
    put_field(t, "severity", severity);
    put_field(t, "code", kj_rules[rule].code);
    put_field(t, "message", message);
    if (hint)
        put_field(t, "hint", hint);
}

/* The names of a list, "shape, reshape(...)", without what they are called with. */
static void put_members(kj_text *t, const char *list)
{
    kj_text_printf(t, ",\"members\":[");
    for (const char *begin = list; *list; list += strspn(list, ", ")) {
        kj_text_printf(t, "%s\"%.*s\"", list == begin ? "" : ",", (int)strcspn(list, "(,"), list);
        list += strcspn(list, ",");
    }
    kj_text_printf(t, "]");
}

static void put_calls(kj_text *t, const kj_source *s, const kj_called *calls)
{
    int n = 0;
    kj_text_printf(t, ",\"calls\":[");
    for (const kj_called *c = first_written(s, calls); c && n < MOST_CALLS;
         c = first_written(s, c->up), n++) {
        kj_text_printf(t, "%s{", n ? "," : "");
        put_file(t, s, c->at);
        put_range(t, s, c->at);
        kj_text_printf(t, "}");
    }
    kj_text_printf(t, "]");
}

const char *kj_diag_json(const kj_diag *d)
{
    kj_text t = {.arena = d->arena};
    sorted s = in_order(d);
    kj_text_add(&t, "", 0);
    for (size_t i = 0; i < s.n; i++) {
        const kj_message *m = s.messages[i];
        kj_json_begin(&t, d->source, &m->span, severity_name(m->severity), m->rule, m->text,
                      m->hint);
        if (m->members)
            put_members(&t, m->members);
        if (m->fix) {
            kj_text_printf(&t, ",\"fix\":{");
            put_range(&t, d->source, m->fix_span);
            put_field(&t, "text", m->fix);
            kj_text_printf(&t, "}");
        }
        if (m->note) {
            kj_text_printf(&t, ",\"note\":{");
            put_file(&t, d->source, place_of_note(d->source, m));
            put_range(&t, d->source, place_of_note(d->source, m));
            put_field(&t, "message", m->note);
            if (m->note_calls)
                put_calls(&t, d->source, m->note_calls);
            kj_text_printf(&t, "}");
        }
        if (first_written(d->source, m->calls))
            put_calls(&t, d->source, m->calls);
        kj_text_printf(&t, "}\n");
    }
    return t.data;
}

const char *kj_diag_told(const kj_diag *d, bool json)
{
    const char *text = kj_diag_text(d);
    if (!json)
        return text;
    return kj_arena_printf(d->arena, "%.*s%c%s", (int)kj_trimmed(text, strlen(text)), text,
                           KJ_TOLD_AS_JSON, kj_diag_json(d));
}
