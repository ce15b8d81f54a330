/* Diagnostics, errors, warnings, hints, notes and fixes: what a stage has to say comes in, one list
 * in the compilation's arena results (shown by show.c). Which warnings are wanted, what is dropped,
 * and "did you mean": which names are near. */
#include "base/diag.h"

#include <string.h>

const kj_rule_info kj_rules[KJ_NRULES] = {
#define RULE(id, code, severity, text) {code, KJ_##severity, text},
#include "base/diag.def"
};

void kj_diag_init(kj_diag *d, kj_arena *arena, const kj_source *source)
{
    *d = (kj_diag){.arena = arena, .source = source};
}

/* A message nobody will see, so that callers never ask whether theirs was kept. */
static kj_message *scratch(kj_diag *d)
{
    if (!d->scratch)
        d->scratch = KJ_NEW(d->arena, kj_message);
    return d->scratch;
}

static bool said_before(const kj_diag *d, kj_span at, const char *text)
{
    for (const kj_message *m = d->first; m; m = m->next) {
        if (m->span.begin == at.begin && m->span.end == at.end && strcmp(m->text, text) == 0)
            return true;
    }
    return false;
}

/* Whatever its words are: those of messages that are not kept are not found out. */
static bool said_there(const kj_diag *d, kj_span at, kj_rule rule)
{
    for (const kj_message *m = d->first; m; m = m->next)
        if (m->span.begin == at.begin && m->span.end == at.end && m->rule == rule)
            return true;
    return false;
}

bool kj_diag_has_room(const kj_diag *d)
{
    return d->errors < KJ_MAX_ERRORS;
}

bool kj_is_shown(const kj_diag *d, const kj_message *m)
{
    return m != d->scratch;
}

/* The message at the end of the list; scratch where that was said before. */
static kj_message *add(kj_diag *d, kj_span at, kj_rule rule, const char *text)
{
    if (said_before(d, at, text))
        return scratch(d);
    kj_message *m = KJ_NEW(d->arena, kj_message);
    *m = (kj_message){.span = at, .rule = rule, .severity = kj_rules[rule].severity, .text = text};
    if (d->last)
        d->last->next = m;
    else
        d->first = m;
    d->last = m;
    return m;
}

kj_message *kj_error(kj_diag *d, kj_span at, kj_rule rule, const char *format, ...)
{
    if (d->muted)
        return scratch(d);
    if (!kj_diag_has_room(d)) {
        bool more = !said_there(d, at, rule);
        d->errors += more;
        d->full |= more;
        return scratch(d);
    }
    va_list args;
    va_start(args, format);
    kj_message *m = add(d, at, rule, kj_arena_vprintf(d->arena, format, args));
    va_end(args);
    d->errors += kj_is_shown(d, m);
    return m;
}

/* ---- Warnings ---- */

bool kj_warns(const kj_diag *d, kj_rule rule)
{
    return d->wanted && !d->wanted->off[rule] && d->warnings < KJ_MAX_WARNINGS;
}

kj_message *kj_warn(kj_diag *d, kj_span at, kj_rule rule, const char *format, ...)
{
    if (d->source->nparts && at.begin > d->source->parts[0].end)
        return scratch(d);
    if (!kj_warns(d, rule)) {
        d->warnings += d->wanted && !d->wanted->off[rule] && !said_there(d, at, rule);
        return scratch(d);
    }
    va_list args;
    va_start(args, format);
    kj_message *m = add(d, at, rule, kj_arena_vprintf(d->arena, format, args));
    va_end(args);
    d->warnings += kj_is_shown(d, m);
    return m;
}

void kj_warnings_settle(kj_diag *d)
{
    kj_message **at = &d->first;
    bool failed = d->errors > 0, promoted = d->wanted && d->wanted->error;
    d->last = NULL;
    while (*at) {
        kj_message *m = *at;
        bool warning = m->severity == KJ_WARNING;
        if (warning && failed) {
            *at = m->next;
            continue;
        }
        if (warning && promoted) {
            m->severity = KJ_ERROR;
            d->errors++;
        }
        d->last = m;
        at = &m->next;
    }
    if (failed)
        d->warnings = 0;
}

static kj_rule warning_named(const char *code, size_t len)
{
    for (int i = 0; i < KJ_NRULES; i++)
        if (kj_rules[i].severity == KJ_WARNING && strlen(kj_rules[i].code) == len &&
            memcmp(kj_rules[i].code, code, len) == 0)
            return (kj_rule)i;
    return KJ_NRULES;
}

static bool is_word(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && memcmp(text, word, len) == 0;
}

bool kj_warnings_read(kj_warnings *w, const char *list, kj_span *wrong)
{
    for (const char *word = list; *word;) {
        size_t len = strcspn(word, ",");
        bool no = len > 3 && memcmp(word, "no-", 3) == 0;
        kj_rule rule = no ? warning_named(word + 3, len - 3) : warning_named(word, len);
        bool off = is_word(word, len, "off") || is_word(word, len, "no-all");
        if (off || is_word(word, len, "all"))
            memset(w->off, off, sizeof w->off);
        else if (is_word(word, len, "error") || is_word(word, len, "no-error"))
            w->error = !no;
        else if (rule < KJ_NRULES)
            w->off[rule] = no;
        else if (len > 0) {
            *wrong = (kj_span){(uint32_t)(word - list), (uint32_t)(word - list + (long)len)};
            return false;
        }
        word += len + (word[len] == ',');
    }
    return true;
}

void kj_hint(kj_diag *d, kj_message *m, const char *format, ...)
{
    if (!kj_is_shown(d, m))
        return;
    va_list args;
    va_start(args, format);
    m->hint = kj_arena_vprintf(d->arena, format, args);
    va_end(args);
}

void kj_note(kj_diag *d, kj_message *m, kj_span at, const char *format, ...)
{
    if (!kj_is_shown(d, m))
        return;
    va_list args;
    va_start(args, format);
    m->note = kj_arena_vprintf(d->arena, format, args);
    m->note_span = at;
    va_end(args);
}

static void set_fix(kj_message *m, kj_span at, const char *text)
{
    if (at.begin > at.end || strstr(text, "..."))
        return;
    m->fix = text;
    m->fix_span = at;
}

void kj_fix(kj_diag *d, kj_message *m, kj_span at, const char *format, ...)
{
    if (!kj_is_shown(d, m))
        return;
    va_list args;
    va_start(args, format);
    set_fix(m, at, kj_arena_vprintf(d->arena, format, args));
    va_end(args);
}

void kj_write(kj_diag *d, kj_message *m, kj_span at, const char *format, ...)
{
    if (!kj_is_shown(d, m))
        return;
    va_list args;
    va_start(args, format);
    const char *text = kj_arena_vprintf(d->arena, format, args);
    va_end(args);
    kj_hint(d, m, "write %s", text);
    set_fix(m, at, text);
}

void kj_did_you_mean(kj_diag *d, kj_message *m, const char *name)
{
    kj_hint(d, m, "did you mean '%s'?", name);
    kj_fix(d, m, m->span, "%s", name);
}

/* ---- Did you mean ---- */

enum { LONGEST_NAME = 48 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Insertions, deletions, replacements and swaps of neighbours that turn a into b; both at most
 * LONGEST_NAME long. */
static size_t distance(const char *a, size_t m, const char *b, size_t n)
{
    size_t rows[3][LONGEST_NAME + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= n; j++)
        above[j] = j;
    for (size_t i = 1; i <= m; i++) {
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            row[j] = least(above[j] + 1, row[j - 1] + 1);
            row[j] = least(row[j], above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[n];
}

static bool same_but_for_case(const char *a, const char *b)
{
    while (*a && kj_to_lower(*a) == kj_to_lower(*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

/* The same but for case and underscores? */
static bool same_but_for_style(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, "_");
        b += strspn(b, "_");
        if (!*a || kj_to_lower(*a) != kj_to_lower(*b))
            return *a == *b;
    }
}

static bool differ_in_a_digit(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return kj_is_digit(*a) || kj_is_digit(*b);
}

bool kj_is_slip(const char *name, const char *meant)
{
    size_t m = strlen(name), n = strlen(meant), same = 0;
    if (same_but_for_style(name, meant))
        return true;
    if (m > LONGEST_NAME || n > LONGEST_NAME || least(m, n) < 4 || distance(name, m, meant, n) != 1)
        return false;
    while (name[same] == meant[same])
        same++;
    bool swapped = m == n && name[same] == meant[same + 1] && name[same + 1] == meant[same];
    return swapped || (least(m, n) > 4 && !differ_in_a_digit(name, meant));
}

kj_near kj_near_to(const char *name)
{
    return (kj_near){.name = name, .distance = LONGEST_NAME};
}

/* A third of the letters, those of the longer name where it is no mere x or out; where the first letter is another,
 * of a short name one: else each is near to many that have nothing to do with it. */
static size_t edits_allowed(const char *name, size_t len, const char *candidate, size_t other)
{
    size_t longer = len > other ? len : other;
    bool same_start = kj_to_lower(*name) == kj_to_lower(*candidate);
    if (len < 3)
        return len == 2 && (other == 2 || same_start);
    if (same_start)
        return ((len > 3 ? longer : len) + 1) / 3;
    return longer < 6 ? 1 : longer < 10 ? 2 : 3;
}

void kj_near_offer(kj_near *near, const char *candidate)
{
    size_t len = strlen(near->name), other = strlen(candidate);
    size_t longer = len > other ? len : other;
    size_t allowed = edits_allowed(near->name, len, candidate, other);
    if (longer > LONGEST_NAME || longer - least(len, other) > allowed ||
        strcmp(near->name, candidate) == 0)
        return;
    size_t d =
        same_but_for_case(near->name, candidate) ? 0 : distance(near->name, len, candidate, other);
    size_t apart = longer - least(len, other);
    bool same = d == near->distance && near->best, nearer = d < near->distance;
    if (same)
        nearer = apart < near->apart || (apart == near->apart && strcmp(candidate, near->best) < 0);
    if (nearer && d <= allowed) {
        near->best = candidate;
        near->distance = d;
        near->apart = apart;
    }
}

const char *kj_nearest(const char *name, const char *const *candidates, size_t n)
{
    kj_near near = kj_near_to(name);
    for (size_t i = 0; i < n; i++)
        kj_near_offer(&near, candidates[i]);
    return near.best;
}
