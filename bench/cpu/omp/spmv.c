/* y = m @ x, m of n = 2^20 rows with PER_ROW elements each, in columns all over: expr.knl's matrix. */
#include "omp.h"

enum { PER_ROW = 16 };

/* The matrix and the vector are made where they are not there: pages that nobody wrote would all be one. */
static void make(int64_t *offsets, int32_t *columns, float *values, float *x, int64_t n)
{
    if (offsets[n] == PER_ROW * n && columns[1] == (int32_t)(2654435761u >> 12))
        return;
    for (int64_t i = 0; i <= n; i++)
        offsets[i] = PER_ROW * i;
    for (int64_t k = 0; k < PER_ROW * n; k++) {
        columns[k] = (int32_t)((uint32_t)k * 2654435761u >> 12);
        values[k] = 1;
    }
    for (int64_t i = 0; i < n; i++)
        x[i] = 1;
}

void omp_spmv(void *const *buffer, int64_t n)
{
    float *restrict values = buffer[0];
    int32_t *restrict columns = buffer[1];
    int64_t *restrict offsets = buffer[2];
    float *restrict x = (float *)(offsets + 2 * n);
    float *restrict y = (float *)(offsets + 3 * n);
    make(offsets, columns, values, x, n);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float sum = 0;
        for (int64_t k = offsets[i]; k < offsets[i + 1]; k++)
            sum += values[k] * x[columns[k]];
        y[i] = sum;
    }
}
