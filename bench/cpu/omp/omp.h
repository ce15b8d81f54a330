/* The OpenMP side's entries, one a case of the benchmark. buffer[] are the case's arrays in the table's order (see
 * cases.c; omp_empty has none), n its size: elements, or the side of a square. */
#ifndef BENCH_OMP_H
#define BENCH_OMP_H

#include <stdint.h>

typedef void omp_entry(void *const *buffer, int64_t n);

omp_entry omp_vecadd, omp_saxpy, omp_matmul, omp_matmul_naive, omp_matmul_tuned, omp_reduce,
    omp_histogram, omp_heat, omp_blur, omp_mandelbrot, omp_nbody, omp_exp, omp_tanh, omp_sin,
    omp_pow, omp_sort, omp_scan, omp_spmv, omp_empty;

#endif
