/* Rows to a file in JSON, a case a line, and such a file beside other rows. */
#include <errno.h>
#include <string.h>

#include "report.h"

static const char *const sides[MAX_SIDES] = {
    [SIDE_KJIT] = "kjit", [SIDE_GCC] = "gcc", [SIDE_CLANG] = "clang", [SIDE_POCL] = "pocl"};

static FILE *open_file(const char *path, const char *mode, char why[WHY_SIZE])
{
    FILE *f = fopen(path, mode);
    if (f == NULL)
        snprintf(why, WHY_SIZE, "%s: %s", path, strerror(errno));
    return f;
}

/* kjit's times come first: read_line() has the same order. */
static void write_line(FILE *f, const bench_row *row)
{
    fprintf(f, "{\"case\": \"%s\", \"ratio\": %.4f, \"least_ratio\": %.4f", row->c->name,
            bench_ratio(row), bench_least_ratio(row));
    for (int i = 0; i < MAX_SIDES; i++)
        if (row->side[i].count > 0)
            fprintf(f, ", \"%s\": {\"median_ms\": %.5f, \"least_ms\": %.5f, \"rounds\": %d}",
                    sides[i], bench_middle(&row->side[i]), bench_least(&row->side[i]),
                    row->side[i].count);
    fputs("}", f);
}

bool bench_save(const char *path, const bench_row *rows, int nrows, char why[WHY_SIZE])
{
    FILE *f = open_file(path, "w", why);
    if (f == NULL)
        return false;
    fputs("[\n", f);
    for (int i = 0; i < nrows; i++) {
        write_line(f, &rows[i]);
        fputs(i < nrows - 1 ? ",\n" : "\n", f);
    }
    fputs("]\n", f);
    const bool written = ferror(f) == 0;
    if (fclose(f) == 0 && written)
        return true;
    snprintf(why, WHY_SIZE, "%s: not all was written", path);
    return false;
}

typedef struct before {
    char name[NAME_SIZE];
    double ratio, least_ratio, median_ms, least_ms;
} before;

static bool read_line(const char *text, before *b)
{
    return sscanf(text,
                  "{\"case\": \"%63[^\"]\", \"ratio\": %lf, \"least_ratio\": %lf, "
                  "\"kjit\": {\"median_ms\": %lf, \"least_ms\": %lf",
                  b->name, &b->ratio, &b->least_ratio, &b->median_ms, &b->least_ms) == 5;
}

static const bench_row *find(const bench_row *rows, int nrows, const char *name)
{
    for (int i = 0; i < nrows; i++)
        if (strcmp(rows[i].c->name, name) == 0 && rows[i].side[SIDE_KJIT].count > 0)
            return &rows[i];
    return NULL;
}

bool bench_compare(FILE *out, const char *path, const bench_row *rows, int nrows, int *slower,
                   char why[WHY_SIZE])
{
    FILE *f = open_file(path, "r", why);
    if (f == NULL)
        return false;
    char text[1024];
    int common = 0;
    *slower = 0;
    while (fgets(text, sizeof text, f) != NULL) {
        before then;
        const bench_row *now = read_line(text, &then) ? find(rows, nrows, then.name) : NULL;
        if (now == NULL)
            continue;
        common++;
        const double ms = bench_least(&now->side[SIDE_KJIT]), beside = bench_least_ratio(now);
        if (ms > 1.1 * then.least_ms && beside > 1.1 * then.least_ratio) {
            ++*slower;
            fprintf(out,
                    "slower: %s: %.2f ms at least, %.2f before; %.2f of OpenMP's, %.2f before\n",
                    then.name, ms, then.least_ms, beside, then.least_ratio);
        }
    }
    fclose(f);
    if (common == 0) {
        snprintf(why, WHY_SIZE, "%s: no case that was run is in it", path);
        return false;
    }
    fprintf(out, "%d of %d cases are slower by more than 10 %% than in %s\n", *slower, common,
            path);
    return true;
}
