/* Samples of every side in; the table out: medians with the minimum beside, kjit's time relative to the better OpenMP
 * build, and how many times it is ahead of PoCL. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 8, CELL = 32 };

typedef char line[COLUMNS][CELL];

static double median(const bench_samples *s)
{
    return s->count > 0 ? s->ms[s->count / 2] : 0;
}

/* The better OpenMP build's median; 0 when there is none. */
static double best_omp(const bench_row *row)
{
    const double gcc = median(&row->side[SIDE_GCC]), clang = median(&row->side[SIDE_CLANG]);
    if (gcc <= 0 || clang <= 0)
        return gcc + clang;
    return fmin(gcc, clang);
}

static void fill(line cells, bench_row *row, int *missed)
{
    snprintf(cells[0], CELL, "%s", row->c->name);
    for (int i = 0; i < MAX_SIDES; i++) {
        bench_samples *s = &row->side[i];
        bench_median(s->ms, s->count); /* sorts */
        if (s->count > 0)
            snprintf(cells[1 + i], CELL, "%.2f (%.2f)", median(s), s->ms[0]);
        else
            snprintf(cells[1 + i], CELL, "n/a");
    }
    const double kjit = median(&row->side[SIDE_KJIT]), omp = best_omp(row),
                 pocl = median(&row->side[SIDE_POCL]);
    snprintf(cells[5], CELL, "n/a");
    if (kjit > 0 && omp > 0)
        snprintf(cells[5], CELL, "%.2f", kjit / omp);
    snprintf(cells[6], CELL, "-");
    if (row->c->target > 0) {
        const bool miss = omp > 0 && kjit / omp > row->c->target;
        *missed += miss;
        snprintf(cells[6], CELL, "%.2f%s", row->c->target, miss ? " missed" : "");
    }
    snprintf(cells[7], CELL, "n/a");
    if (kjit > 0 && pocl > 0)
        snprintf(cells[7], CELL, "%.1fx", pocl / kjit);
}

static void put(FILE *out, const line cells, const int width[COLUMNS], bool markdown)
{
    for (int i = 0; i < COLUMNS; i++) {
        const char *edge = markdown ? (i == 0 ? "| " : " | ") : (i == 0 ? "" : "  ");
        fprintf(out, i == 0 ? "%s%-*s" : "%s%*s", edge, width[i], cells[i]);
    }
    fputs(markdown ? " |\n" : "\n", out);
}

static void put_rule(FILE *out, const int width[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++) {
        fputs(i == 0 ? "| " : " | ", out);
        for (int j = 0; j < width[i] - (i > 0); j++)
            fputc('-', out);
        if (i > 0)
            fputc(':', out);
    }
    fputs(" |\n", out);
}

static double pocl_mean(const bench_row *rows, int nrows)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < nrows; i++) {
        const double kjit = median(&rows[i].side[SIDE_KJIT]),
                     pocl = median(&rows[i].side[SIDE_POCL]);
        if (kjit > 0 && pocl > 0) {
            sum += log(pocl / kjit);
            count++;
        }
    }
    return count > 0 ? exp(sum / count) : 0;
}

int bench_report(FILE *out, bench_row *rows, int nrows, bool markdown)
{
    static const line head = {"median ms (min)", "kjit", "gcc OpenMP",   "clang OpenMP", "PoCL",
                              "/ OpenMP",        "aim",  "ahead of PoCL"};
    int width[COLUMNS] = {0}, missed = 0;
    line *cells = calloc((size_t)nrows, sizeof *cells);
    if (cells == NULL)
        return 0;
    for (int i = 0; i < nrows; i++)
        fill(cells[i], &rows[i], &missed);
    for (int j = 0; j < COLUMNS; j++) {
        width[j] = (int)strlen(head[j]);
        for (int i = 0; i < nrows; i++) {
            const int length = (int)strlen(cells[i][j]);
            width[j] = length > width[j] ? length : width[j];
        }
    }
    put(out, head, width, markdown);
    if (markdown)
        put_rule(out, width);
    for (int i = 0; i < nrows; i++)
        put(out, (const char(*)[CELL])cells[i], width, markdown);
    const double mean = pocl_mean(rows, nrows);
    if (mean > 0)
        fprintf(out, "\nahead of PoCL in the geometric mean: %.1fx\n", mean);
    free(cells);
    return missed;
}
