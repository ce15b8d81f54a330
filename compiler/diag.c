/* Messages: what a stage has to say comes in, one list in the compilation's arena results. Shown
 * by diag_show.c. */
#include "diag.h"

#include <string.h>

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

kj_message *kj_error(kj_diag *d, kj_span at, const char *code, const char *format, ...)
{
    if (d->errors >= KJ_MAX_ERRORS) {
        d->errors++;
        d->full = true;
        return scratch(d);
    }
    va_list args;
    va_start(args, format);
    const char *text = kj_arena_vprintf(d->arena, format, args);
    va_end(args);
    if (said_before(d, at, text))
        return scratch(d);
    kj_message *m = KJ_NEW(d->arena, kj_message);
    *m = (kj_message){.severity = KJ_ERROR, .span = at, .code = code, .text = text};
    if (d->last)
        d->last->next = m;
    else
        d->first = m;
    d->last = m;
    d->errors++;
    return m;
}

void kj_hint(kj_diag *d, kj_message *m, const char *format, ...)
{
    if (m == d->scratch)
        return;
    va_list args;
    va_start(args, format);
    m->hint = kj_arena_vprintf(d->arena, format, args);
    va_end(args);
}

void kj_note(kj_diag *d, kj_message *m, kj_span at, const char *format, ...)
{
    if (m == d->scratch)
        return;
    va_list args;
    va_start(args, format);
    m->note = kj_arena_vprintf(d->arena, format, args);
    m->note_span = at;
    va_end(args);
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

const char *kj_nearest(const char *name, const char *const *candidates, size_t n)
{
    size_t len = strlen(name);
    const char *best = NULL;
    if (len > LONGEST_NAME)
        return NULL;
    size_t best_distance = LONGEST_NAME;
    for (size_t i = 0; i < n; i++) {
        size_t other = strlen(candidates[i]);
        if (other > LONGEST_NAME || strcmp(name, candidates[i]) == 0)
            continue;
        size_t d =
            same_but_for_case(name, candidates[i]) ? 0 : distance(name, len, candidates[i], other);
        /* near enough: a third of the letters, those of the longer name where it is no mere x or out */
        size_t letters = len > 3 && other > len ? other : len;
        if (d < best_distance && d <= (letters + 1) / 3) {
            best = candidates[i];
            best_distance = d;
        }
    }
    return best;
}
