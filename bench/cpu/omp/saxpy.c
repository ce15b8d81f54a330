/* y = 0.5*x + y in place. */
#include "omp.h"

void omp_saxpy(void *const *buffer, int64_t n)
{
    const float a = 0.5F;
    const float *restrict x = buffer[0];
    float *restrict y = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}
