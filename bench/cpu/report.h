/* What the rounds measured: its table, and its file. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdio.h>

#include "bench.h"

enum { MAX_SIDES = 4, MAX_ROUNDS = 101 };
enum { SIDE_KJIT, SIDE_GCC, SIDE_CLANG, SIDE_POCL }; /* their places in the rows below */

typedef struct bench_samples {
    double ms[MAX_ROUNDS]; /* sorted once bench_sort_rows is done */
    int count;             /* 0: this side did not run the case */
} bench_samples;

typedef struct bench_row {
    const bench_case *c;
    bench_samples side[MAX_SIDES];
} bench_row;

double bench_middle(const bench_samples *s); /* the median of sorted ones; 0 of none */
double bench_least(const bench_samples *s);
/* kjit's time by the better OpenMP build's, of medians and of the least; 0 where one is missing. */
double bench_ratio(const bench_row *row);
double bench_least_ratio(const bench_row *row);

/* Sorts the samples of each row, and the rows: the largest ratio first. */
void bench_sort_rows(bench_row *rows, int nrows);

/* Writes the table, aligned for reading or as Markdown. memory: bytes a millisecond that the machine moves. Gives how many
 * aims were missed. */
int bench_report(FILE *out, const bench_row *rows, int nrows, double memory, bool markdown);

/* A file of the rows for bench_compare and other programs. Both give false with a sentence in why. */
bool bench_save(const char *path, const bench_row *rows, int nrows, char why[WHY_SIZE]);
/* Tells which cases are slower by more than a tenth than in such a file, both in kjit's least time and beside the better
 * OpenMP build, of which one alone says more about the machine. */
bool bench_compare(FILE *out, const char *path, const bench_row *rows, int nrows, int *slower,
                   char why[WHY_SIZE]);

#endif
