/* The table of medians: a row a case, kjit's time, its rate and part of what the GPU can do, and the peers' times with
 * kjit's ratio to each. */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 4 + 2 * (MAX_SIDES - 1), CELL = 32 };

static const int width[COLUMNS] = {14, 9, 12, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};

static double median(bench_samples *s)
{
    return bench_median(s->ms, s->count);
}

static void put_row(char cells[COLUMNS][CELL], bool markdown)
{
    for (int i = 0; i < COLUMNS; i++) {
        const char *edge = markdown ? (i == 0 ? "| " : " | ") : (i == 0 ? "" : "  ");
        printf(i == 0 ? "%s%-*s" : "%s%*s", edge, width[i], cells[i]);
    }
    puts(markdown ? " |" : "");
}

static void put_head(bool markdown)
{
    char head[COLUMNS][CELL] = {"ms, median", "kjit",    "rate",   "of limit", "nvcc",
                                "/ nvcc",     "library", "/ lib",  "Numba",    "/ Numba",
                                "CuPy",       "/ CuPy",  "Triton", "/ Triton"};
    put_row(head, markdown);
    for (int i = 0; markdown && i < COLUMNS; i++) {
        fputs(i == 0 ? "| " : " | ", stdout);
        for (int j = 0; j < width[i] - (i > 0); j++)
            putchar('-');
        if (i > 0)
            putchar(':');
    }
    if (markdown)
        puts(" |");
}

static void put_rate(const bench_row *row, double ms, const bench_limits *limits, char rate[CELL],
                     char part[CELL])
{
    const double work = row->c->work * pow((double)row->size, row->c->power);
    const bool bytes = row->c->unit == BENCH_BYTES;
    const double giga = work / ms / 1e6, limit = bytes ? limits->bandwidth : limits->peak;
    snprintf(rate, CELL, "-");
    snprintf(part, CELL, "-");
    if (row->c->unit == BENCH_NONE || ms <= 0)
        return;
    snprintf(rate, CELL, "%.0f %s", giga, bytes ? "GB/s" : "GF/s");
    if (limit > 0)
        snprintf(part, CELL, "%.0f %%", giga / limit * 100);
}

/* A peer's time, and kjit's in terms of it. */
static void put_peer(bench_samples *s, double kjit, char time[CELL], char ratio[CELL])
{
    const double ms = median(s);
    snprintf(time, CELL, "-");
    snprintf(ratio, CELL, "-");
    if (ms <= 0)
        return;
    snprintf(time, CELL, "%.4f", ms);
    snprintf(ratio, CELL, "%.2f", kjit / ms);
}

void bench_report_head(bool markdown)
{
    put_head(markdown);
    fflush(stdout);
}

void bench_report_row(bench_row *row, const bench_limits *limits, bool markdown)
{
    char cells[COLUMNS][CELL];
    const double kjit = median(&row->side[SIDE_KJIT]);
    snprintf(cells[0], CELL, "%s", row->c->name);
    snprintf(cells[1], CELL, "%.4f", kjit);
    put_rate(row, kjit, limits, cells[2], cells[3]);
    for (int side = SIDE_CUDA; side < MAX_SIDES; side++)
        put_peer(&row->side[side], kjit, cells[2 * side + 2], cells[2 * side + 3]);
    put_row(cells, markdown);
    fflush(stdout);
}
