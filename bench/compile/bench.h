/* The pieces of the compile-time benchmark: the ways to PTX (sides.c) and the program that goes through them (bench.c). */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>

#include "../common.h"

#define BENCH_ARCH "90"

/* kernels/<name>.knl and the CUDA C are one algorithm. */
typedef struct bench_case {
    const char *name;
    const char *cuda;  /* from bench/compile: some are the GPU benchmark's */
    const char *block; /* what kjit compiles for */
    bool math;         /* calls functions of a math library */
} bench_case;

/* Milliseconds of one compilation: of the processor, and of the clock. */
typedef struct bench_time {
    double cpu, wall;
} bench_time;

/* Where things are: bench/compile, the build directory, a place for files, NVRTC's library (NULL: the usual places). */
typedef struct bench_paths {
    const char *dir, *build, *out, *nvrtc;
} bench_paths;

/* The order of a round. */
enum { KJIT_PROCESS, NVRTC_PROCESS, NVCC_PROCESS, KJIT_WARM, NVRTC_WARM, NSIDES };

typedef struct bench_sides bench_sides;

/* Says which ways there are on this machine; kjit's have to be. why[i] is the sentence for one that is missing. */
bench_sides *bench_open(const bench_paths *paths, bool open[NSIDES], char why[NSIDES][WHY_SIZE]);
void bench_close(bench_sides *sides);
/* The versions of those found, one line, or "". */
const char *bench_versions(const bench_sides *sides);

/* Compiles the case once. False with a sentence in `why`. */
bool bench_compile(bench_sides *sides, int side, const bench_case *c, bench_time *out,
                   char why[WHY_SIZE]);

#endif
