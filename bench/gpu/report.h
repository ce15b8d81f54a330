/* What the rounds measured, and its table. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "bench.h"

enum { SIDE_KJIT, SIDE_CUDA, SIDE_LIBRARY, SIDE_NUMBA, SIDE_CUPY, SIDE_TRITON, MAX_SIDES };
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

/* Writes the table, aligned for reading or as Markdown: each row when it is known, so that what comes to a bad end later
 * does not take it along. Sorts the samples. */
void bench_report_head(bool markdown);
void bench_report_row(bench_row *row, const bench_limits *limits, bool markdown);

#endif
