/* c = a @ b for n x n, n a multiple of 256. omp_matmul_naive has the three loops in the order that runs along rows;
 * omp_matmul works in tiles that fit the caches, four rows of c at a time. */
#include <string.h>

#include "omp.h"

void omp_matmul_naive(void *const *buffer, int64_t n)
{
    const float *restrict a = buffer[0], *restrict b = buffer[1];
    float *restrict c = buffer[2];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float *restrict row = c + i * n;
        memset(row, 0, (size_t)n * sizeof *row);
        for (int64_t k = 0; k < n; k++) {
            const float v = a[i * n + k];
#pragma omp simd
            for (int64_t j = 0; j < n; j++)
                row[j] += v * b[k * n + j];
        }
    }
}

enum {
    ROWS = 64,
    DEPTH = 64,
    COLS = 256
}; /* a tile: c[ROWS][COLS] += a[ROWS][DEPTH] @ b[DEPTH][COLS] */

static inline void add_rows(const float *restrict a, const float *restrict b, float *restrict c,
                            int64_t n)
{
    float *restrict c0 = c, *restrict c1 = c + n, *restrict c2 = c + 2 * n,
                    *restrict c3 = c + 3 * n;
    for (int64_t k = 0; k < DEPTH; k++) {
        const float a0 = a[k], a1 = a[n + k], a2 = a[2 * n + k], a3 = a[3 * n + k];
#pragma omp simd
        for (int64_t j = 0; j < COLS; j++) {
            const float v = b[k * n + j];
            c0[j] += a0 * v;
            c1[j] += a1 * v;
            c2[j] += a2 * v;
            c3[j] += a3 * v;
        }
    }
}

void omp_matmul(void *const *buffer, int64_t n)
{
    const float *restrict a = buffer[0], *restrict b = buffer[1];
    float *restrict c = buffer[2];
#pragma omp parallel for schedule(static)
    for (int64_t i0 = 0; i0 < n; i0 += ROWS) {
        memset(c + i0 * n, 0, (size_t)(ROWS * n) * sizeof *c);
        for (int64_t k0 = 0; k0 < n; k0 += DEPTH)
            for (int64_t j0 = 0; j0 < n; j0 += COLS)
                for (int64_t i = i0; i < i0 + ROWS; i += 4)
                    add_rows(a + i * n + k0, b + k0 * n + j0, c + i * n + j0, n);
    }
}
