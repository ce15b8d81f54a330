/* out = x + y. */
#include "omp.h"

void omp_vecadd(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0], *restrict y = buffer[1];
    float *restrict out = buffer[2];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = x[i] + y[i];
}
