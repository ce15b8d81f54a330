/* Samples of every side in; the table out: medians with the minimum beside, kjit's time relative to the better OpenMP
 * build, what it does in a second, and how many times it is ahead of PoCL. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 10, CELL = 32 };

typedef char line[COLUMNS][CELL];

double bench_middle(const bench_samples *s)
{
    return s->count > 0 ? s->ms[s->count / 2] : 0;
}

double bench_least(const bench_samples *s)
{
    return s->count > 0 ? s->ms[0] : 0;
}

static double ratio(const bench_row *row, double of(const bench_samples *s))
{
    const double gcc = of(&row->side[SIDE_GCC]), clang = of(&row->side[SIDE_CLANG]);
    const double omp = gcc > 0 && clang > 0 ? fmin(gcc, clang) : gcc + clang;
    return omp > 0 ? of(&row->side[SIDE_KJIT]) / omp : 0;
}

double bench_ratio(const bench_row *row)
{
    return ratio(row, bench_middle);
}

double bench_least_ratio(const bench_row *row)
{
    return ratio(row, bench_least);
}

static int by_ratio(const void *a, const void *b)
{
    const double x = bench_ratio(a), y = bench_ratio(b);
    return (x < y) - (x > y);
}

void bench_sort_rows(bench_row *rows, int nrows)
{
    for (int i = 0; i < nrows; i++)
        for (int j = 0; j < MAX_SIDES; j++)
            bench_median(rows[i].side[j].ms, rows[i].side[j].count);
    qsort(rows, (size_t)nrows, sizeof *rows, by_ratio);
}

/* Bytes a second, as a part of what the machine moves; of others operations a second. */
static void fill_speed(char cell[CELL], const bench_row *row, double memory)
{
    const double ms = bench_middle(&row->side[SIDE_KJIT]),
                 times = row->c->repeat > 0 ? row->c->repeat : 1,
                 bytes = bench_traffic(row->c) * times;
    if (ms <= 0)
        snprintf(cell, CELL, "n/a");
    else if (row->c->ops > 0)
        snprintf(cell, CELL, "%.2f Gop/s", row->c->ops * times / ms * 1e-6);
    else if (memory > 0)
        snprintf(cell, CELL, "%.2f GB/s (%.0f %%)", bytes / ms * 1e-6, 100 * bytes / ms / memory);
    else
        snprintf(cell, CELL, "%.2f GB/s", bytes / ms * 1e-6);
}

static void fill(line cells, const bench_row *row, double memory, int *missed)
{
    snprintf(cells[0], CELL, "%s", row->c->name);
    for (int i = 0; i < MAX_SIDES; i++) {
        const bench_samples *s = &row->side[i];
        if (s->count > 0)
            snprintf(cells[1 + i], CELL, "%.2f (%.2f)", bench_middle(s), bench_least(s));
        else
            snprintf(cells[1 + i], CELL, "n/a");
    }
    const double kjit = bench_middle(&row->side[SIDE_KJIT]), beside = bench_ratio(row),
                 pocl = bench_middle(&row->side[SIDE_POCL]);
    snprintf(cells[5], CELL, "n/a");
    snprintf(cells[6], CELL, "n/a");
    if (kjit > 0 && beside > 0) {
        snprintf(cells[5], CELL, "%.2f", beside);
        snprintf(cells[6], CELL, "%.2f", bench_least_ratio(row));
    }
    snprintf(cells[7], CELL, "-");
    if (row->c->target > 0) {
        const bool miss = beside > row->c->target;
        *missed += miss;
        snprintf(cells[7], CELL, "%.2f%s", row->c->target, miss ? " missed" : "");
    }
    fill_speed(cells[8], row, memory);
    snprintf(cells[9], CELL, "n/a");
    if (kjit > 0 && pocl > 0)
        snprintf(cells[9], CELL, "%.1fx", pocl / kjit);
}

/* A column of width 0 is left out. */
static void put(FILE *out, const line cells, const int width[COLUMNS], bool markdown)
{
    for (int i = 0; i < COLUMNS; i++) {
        const char *edge = markdown ? (i == 0 ? "| " : " | ") : (i == 0 ? "" : "  ");
        if (width[i] > 0)
            fprintf(out, i == 0 ? "%s%-*s" : "%s%*s", edge, width[i], cells[i]);
    }
    fputs(markdown ? " |\n" : "\n", out);
}

static void put_rule(FILE *out, const int width[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++) {
        if (width[i] == 0)
            continue;
        fputs(i == 0 ? "| " : " | ", out);
        for (int j = 0; j < width[i] - (i > 0); j++)
            fputc('-', out);
        if (i > 0)
            fputc(':', out);
    }
    fputs(" |\n", out);
}

static void measure(const line *head, const line *cells, int nrows, int width[COLUMNS])
{
    for (int j = 0; j < COLUMNS; j++) {
        bool told = false;
        width[j] = (int)strlen((*head)[j]);
        for (int i = 0; i < nrows; i++) {
            const int length = (int)strlen(cells[i][j]);
            width[j] = length > width[j] ? length : width[j];
            told |= strcmp(cells[i][j], "n/a") != 0;
        }
        width[j] = told ? width[j] : 0;
    }
}

static void put_means(FILE *out, const bench_row *rows, int nrows, double memory)
{
    double pocl = 0, omp = 0;
    int npocl = 0, nomp = 0;
    for (int i = 0; i < nrows; i++) {
        const double kjit = bench_middle(&rows[i].side[SIDE_KJIT]),
                     other = bench_middle(&rows[i].side[SIDE_POCL]), beside = bench_ratio(&rows[i]);
        pocl += kjit > 0 && other > 0 ? log(other / kjit) : 0;
        npocl += kjit > 0 && other > 0;
        omp += beside > 0 ? log(beside) : 0;
        nomp += beside > 0;
    }
    fputs("\n", out);
    if (nomp > 0)
        fprintf(out, "/ OpenMP in the geometric mean of %d: %.2f\n", nomp, exp(omp / nomp));
    if (npocl > 0)
        fprintf(out, "ahead of PoCL in the geometric mean of %d: %.1fx\n", npocl,
                exp(pocl / npocl));
    if (memory > 0)
        fprintf(out, "memory: %.2f GB/s (the better of vecadd and saxpy, by OpenMP)\n",
                memory * 1e-6);
}

int bench_report(FILE *out, const bench_row *rows, int nrows, double memory, bool markdown)
{
    static const line head = {
        "median ms (min)", "kjit",       "gcc OpenMP", "clang OpenMP", "PoCL",
        "/ OpenMP",        "of the min", "aim",        "kjit does",    "ahead of PoCL"};
    int width[COLUMNS] = {0}, missed = 0;
    line *cells = calloc((size_t)nrows + 1, sizeof *cells);
    if (cells == NULL)
        return 0;
    for (int i = 0; i < nrows; i++)
        fill(cells[i], &rows[i], memory, &missed);
    measure(&head, (const line *)cells, nrows, width);
    put(out, head, width, markdown);
    if (markdown)
        put_rule(out, width);
    for (int i = 0; i < nrows; i++)
        put(out, (const char(*)[CELL])cells[i], width, markdown);
    put_means(out, rows, nrows, memory);
    free(cells);
    return missed;
}
