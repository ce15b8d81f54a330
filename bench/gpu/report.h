/* What the rounds measured, and its table. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "bench.h"

enum { SIDE_KJIT, SIDE_CUDA, SIDE_NUMBA, SIDE_CUPY, MAX_SIDES };
enum { MAX_ROUNDS = 101 };

typedef struct bench_samples {
    double ms[MAX_ROUNDS];
    int count; /* 0: this side did not run the case */
} bench_samples;

typedef struct bench_row {
    const bench_case *c;
    int64_t size;
    bench_samples side[MAX_SIDES];
} bench_row;

/* What rates are compared with; 0 where it is not known. */
typedef struct bench_limits {
    double bandwidth; /* measured, GB/s */
    double peak;      /* GFLOP/s */
} bench_limits;

/* Sorts the samples and writes the table, aligned for reading or as Markdown. */
void bench_report(bench_row *rows, int nrows, const bench_limits *limits, bool markdown);

#endif
