/* Places that are in memory. */
#include "omp.h"

void omp_index_gather(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    const int32_t *restrict at = buffer[1];
    float *restrict out = buffer[2];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = x[at[i]];
}

void omp_index_scatter(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    const int32_t *restrict at = buffer[1];
    float *restrict out = buffer[2];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[at[i]] = x[i];
}

void omp_index_table(void *const *buffer, int64_t n)
{
    const uint8_t *restrict x = buffer[0];
    const float *restrict table = buffer[1];
    float *restrict out = buffer[2];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = table[x[i]];
}
