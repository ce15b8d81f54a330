/* A sparse matrix by rows (CSR), of n rows and columns, times a vector. */
#include "omp.h"

void omp_sparse_thread(void *const *buffer, int64_t n)
{
    const int32_t *restrict offsets = buffer[0], *restrict columns = buffer[1];
    const float *restrict values = buffer[2], *restrict x = buffer[3];
    float *restrict y = buffer[4];
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < n; r++) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int32_t k = offsets[r]; k < offsets[r + 1]; k++)
            sum += values[k] * x[columns[k]];
        y[r] = sum;
    }
}
