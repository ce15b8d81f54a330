/* The running sums of x, in double as kjit's: the sum of each thread's stretch, then each goes through it again. */
#include <stdlib.h>

#include <omp.h>

#include "omp.h"

void omp_scan(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
    double *sums = malloc((size_t)omp_get_max_threads() * sizeof *sums);
#pragma omp parallel
    {
        const int t = omp_get_thread_num(), all = omp_get_num_threads();
        const int64_t start = n * t / all, stop = n * (t + 1) / all;
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = start; i < stop; i++)
            sum += x[i];
        sums[t] = sum;
#pragma omp barrier
        double up_to = 0;
        for (int before = 0; before < t; before++)
            up_to += sums[before];
        for (int64_t i = start; i < stop; i++) {
            up_to += x[i];
            out[i] = (float)up_to;
        }
    }
    free(sums);
}

/* The running sums of each 256 elements. */
void omp_scan_block(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < n; b += 256) {
        float sum = 0;
#pragma omp simd reduction(inscan, + : sum)
        for (int64_t i = b; i < b + 256; i++) {
            sum += x[i];
#pragma omp scan inclusive(sum)
            out[i] = sum;
        }
    }
}
