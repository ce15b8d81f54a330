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
