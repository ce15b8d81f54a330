/* What the rounds measured, and its table. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdio.h>

#include "bench.h"

enum { MAX_SIDES = 4, MAX_ROUNDS = 101 };
enum { SIDE_KJIT, SIDE_GCC, SIDE_CLANG, SIDE_POCL }; /* their places in the rows below */

typedef struct bench_samples {
    double ms[MAX_ROUNDS];
    int count; /* 0: this side did not run the case */
} bench_samples;

typedef struct bench_row {
    const bench_case *c;
    bench_samples side[MAX_SIDES];
} bench_row;

/* Sorts the samples and writes the table, aligned for reading or as Markdown. Gives how many aims were missed. */
int bench_report(FILE *out, bench_row *rows, int nrows, bool markdown);

#endif
