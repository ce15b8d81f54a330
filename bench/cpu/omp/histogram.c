/* How often each byte occurs: a private histogram a thread. */
#include <string.h>

#include "omp.h"

void omp_histogram(void *const *buffer, int64_t n)
{
    const uint8_t *restrict x = buffer[0];
    int32_t *restrict bins = buffer[1];
    memset(bins, 0, 256 * sizeof *bins);
#pragma omp parallel for schedule(static) reduction(+ : bins[:256])
    for (int64_t i = 0; i < n; i++)
        bins[x[i]]++;
}

void omp_histogram_few(void *const *buffer, int64_t n)
{
    const uint8_t *restrict x = buffer[0];
    int32_t *restrict bins = buffer[1], b0 = 0, b1 = 0, b2 = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : b0, b1, b2)
    for (int64_t i = 0; i < n; i++) {
        b0 += x[i] < 64;
        b1 += x[i] < 128;
        b2 += x[i] < 192;
    }
    bins[0] = b0;
    bins[1] = b1 - b0;
    bins[2] = b2 - b1;
    bins[3] = (int32_t)n - b2;
}
