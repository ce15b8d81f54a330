/* Times of many runs: kept, ordered, compared, written and read. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "samples.h"

enum { FIRST_ROOM = 16, MOST_COMPARED = 1000, MOST_FILE = 64 << 20 };

void *with_room(void *items, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return items;
    size_t wanted = *room ? *room * 2 : FIRST_ROOM;
    void *more = realloc(items, wanted * size);
    if (more)
        *room = wanted;
    return more;
}

static bool append_ms(series *of, double ms)
{
    double *longer = with_room(of->ms, of->n, &of->room, sizeof *longer);
    if (!longer)
        return false;
    of->ms = longer;
    of->ms[of->n++] = ms;
    return true;
}

const series *find_series(const samples *s, const char *what)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->of[i].what, what) == 0)
            return &s->of[i];
    return NULL;
}

/* One that had no part of the runs so far has 0 of each. */
static series *series_of(samples *s, const char *what)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->of[i].what, what) == 0)
            return &s->of[i];
    series *of = with_room(s->of, s->n, &s->room, sizeof *of);
    char *name = of ? strdup(what) : NULL;
    if (of)
        s->of = of;
    if (!name)
        return NULL;
    of = &s->of[s->n++];
    *of = (series){.what = name};
    for (size_t i = 0; i < s->runs; i++)
        if (!append_ms(of, 0))
            return NULL;
    return of;
}

void add_sample(samples *s, const char *what, double ms)
{
    series *of = s->failed ? NULL : series_of(s, what);
    if (of)
        of->open += ms;
    else
        s->failed = true;
}

void end_sample(samples *s)
{
    for (size_t i = 0; i < s->n; i++) {
        s->failed |= !append_ms(&s->of[i], s->of[i].open);
        s->of[i].open = 0;
    }
    s->runs++;
}

void drop_sample(samples *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->of[i].open = 0;
}

void clear_samples(samples *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->of[i].n = 0;
    s->runs = 0;
}

void free_samples(samples *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->of[i].what);
        free(s->of[i].ms);
    }
    free(s->of);
    *s = (samples){0};
}

/* ---- What is known of them ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

/* Of sorted values: so many from either end are outside. */
static estimate between(const double *sorted, size_t n, size_t k)
{
    double middle = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    return (estimate){middle, sorted[k], sorted[n - 1 - k]};
}

static double *copy_of(const double *values, size_t n)
{
    double *copy = n ? malloc(n * sizeof *copy) : NULL;
    if (copy)
        memcpy(copy, values, n * sizeof *copy);
    return copy;
}

/* How many standard deviations of the normal distribution both sides of it lie off. */
static double deviations(double confidence)
{
    return confidence > 0.95 ? 2.576 : 1.960;
}

/* So many of n samples may be left out at either end: that the median is among them has a chance of at most 1 -
 * confidence, each sample lying on either side with the same. */
static size_t outside_of(size_t n, double confidence)
{
    double one = ldexp(1, -(int)(n < MOST_COMPARED ? n : MOST_COMPARED)), tail = 0;
    if (n > MOST_COMPARED)
        return (size_t)(((double)n - deviations(confidence) * sqrt((double)n)) / 2 - 1);
    for (size_t k = 0; k <= n / 2; k++) {
        tail += 2 * one;
        if (tail > 1 - confidence)
            return k;
        one *= (double)(n - k) / (double)(k + 1);
    }
    return n / 2;
}

estimate median_of(const double *ms, size_t n, double confidence)
{
    double *sorted = copy_of(ms, n);
    if (!sorted)
        return (estimate){0};
    qsort(sorted, n, sizeof *sorted, by_value);
    estimate e = between(sorted, n, outside_of(n, confidence));
    free(sorted);
    return e;
}

static double log_ratio(double a, double b)
{
    const double least = 1e-6; /* ms: what the clock tells apart */
    return log(fmax(b, least) / fmax(a, least));
}

static estimate as_ratios(estimate e)
{
    return (estimate){exp(e.middle), exp(e.low), exp(e.high)};
}

estimate ratio_of_pairs(const double *a, const double *b, size_t n, double confidence)
{
    double *ratios = copy_of(a, n);
    if (!ratios)
        return (estimate){1, 1, 1};
    for (size_t i = 0; i < n; i++)
        ratios[i] = log_ratio(a[i], b[i]);
    estimate e = median_of(ratios, n, confidence);
    free(ratios);
    return as_ratios(e);
}

estimate ratio_of(const double *a, size_t na, const double *b, size_t nb, double confidence)
{
    na = na < MOST_COMPARED ? na : MOST_COMPARED;
    nb = nb < MOST_COMPARED ? nb : MOST_COMPARED;
    size_t n = na * nb;
    double *ratios = n ? malloc(n * sizeof *ratios) : NULL;
    if (!ratios)
        return (estimate){1, 1, 1};
    for (size_t i = 0; i < na; i++)
        for (size_t k = 0; k < nb; k++)
            ratios[i * nb + k] = log_ratio(a[i], b[k]);
    qsort(ratios, n, sizeof *ratios, by_value);
    double deviation = sqrt((double)n * (double)(na + nb + 1) / 12);
    double outside = (double)n / 2 - deviations(confidence) * deviation - 0.5;
    estimate e = between(ratios, n, outside > 0 ? (size_t)outside : 0);
    free(ratios);
    return as_ratios(e);
}

/* ---- Files ---- */

bool save_samples(const char *path, const samples *s)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return false;
    fputs("ms,what\n", file);
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->of[i].n; k++)
            fprintf(file, "%.6f,%s\n", s->of[i].ms[k], s->of[i].what);
    bool written = fclose(file) == 0 && write_file(path, text, size);
    free(text);
    return written;
}

/* A line without its end; false after a complaint. */
static bool load_line(const char *path, int line, char *text, samples *out)
{
    char *end;
    double ms = strtod(text, &end);
    if (end == text || *end != ',' || !end[1] || !(ms >= 0) || isinf(ms)) {
        complain("%s:%d: this is no 'milliseconds,what' of kjit bench", path, line);
        return false;
    }
    series *of = series_of(out, end + 1);
    if (!of || !append_ms(of, ms)) {
        complain("out of memory");
        return false;
    }
    return true;
}

bool load_samples(const char *path, samples *out)
{
    size_t size = 0;
    FILE *file = fopen(path, "rb");
    char *text = file ? read_all(file, MOST_FILE, &size) : NULL;
    int error = errno, line = 1;
    *out = (samples){0};
    if (file)
        fclose(file);
    if (!text) {
        complain("'%s' cannot be read: %s", path, strerror(error));
        return false;
    }
    bool ok = size <= MOST_FILE && strlen(text) == size;
    char *rest = text, *next = strsep(&rest, "\n");
    ok = ok && strcmp(next, "ms,what") == 0;
    if (!ok)
        complain("'%s' was not written by kjit bench", path);
    while (ok && (next = strsep(&rest, "\n"))) {
        line++;
        if (*next || rest)
            ok = load_line(path, line, next, out);
    }
    free(text);
    if (!ok)
        free_samples(out);
    return ok;
}
