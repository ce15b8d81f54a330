/* The OpenMP side's functions: all that begin with omp_ are of this type and found by their names. buffer[] are a case's
 * arrays in the table's order (see cases.def), n its size: elements, or the side of a square. */
#ifndef BENCH_OMP_H
#define BENCH_OMP_H

#include <stdint.h>

typedef void omp_entry(void *const *buffer, int64_t n);

#endif
