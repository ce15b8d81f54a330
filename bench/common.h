/* What the benchmarks share: time, medians, files, options. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <stdbool.h>
#include <stddef.h>

enum { WHY_SIZE = 2048 }; /* of a sentence that says why something is not to be had */

double bench_now_ms(void);
double bench_median(double *values, int count); /* sorts them; 0 of none */
/* The content, for free(), with a NUL behind it; NULL with a sentence in why. */
char *bench_file(const char *path, size_t *size, char why[WHY_SIZE]);
/* "--name=value" for name "--name=". */
bool bench_take(const char *arg, const char *name, const char **value);
/* Is it among those in a list "a,b,c"? The list may be NULL. */
bool bench_listed(const char *list, const char *name);

#endif
