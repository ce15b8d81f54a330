/* c = a @ b for n x n, n a multiple of 256, as BLAS libraries do it: panels of a and b are packed for the caches, and a
 * piece of c stays in vector registers. About as fast as the machine goes. */
#include <string.h>

#include "omp.h"

enum {
    ROWS = 8,
    COLS = 32,
    DEPTH = 256,
    PANEL = 128
}; /* a panel of b: DEPTH x COLS; of a: PANEL x DEPTH */

typedef float lane16 __attribute__((vector_size(64), aligned(4)));

/* c[ROWS][COLS] += a[ROWS][depth] @ b[depth][COLS]; a is packed by column, b by row. */
static inline void kernel(const float *restrict a, const float *restrict b, float *restrict c,
                          int64_t stride)
{
    lane16 sum[ROWS][2];
    for (int i = 0; i < ROWS; i++) {
        sum[i][0] = *(const lane16 *)(c + i * stride);
        sum[i][1] = *(const lane16 *)(c + i * stride + 16);
    }
    for (int64_t k = 0; k < DEPTH; k++) {
        const lane16 b0 = *(const lane16 *)(b + k * COLS);
        const lane16 b1 = *(const lane16 *)(b + k * COLS + 16);
        for (int i = 0; i < ROWS; i++) {
            sum[i][0] += a[k * ROWS + i] * b0;
            sum[i][1] += a[k * ROWS + i] * b1;
        }
    }
    for (int i = 0; i < ROWS; i++) {
        *(lane16 *)(c + i * stride) = sum[i][0];
        *(lane16 *)(c + i * stride + 16) = sum[i][1];
    }
}

void omp_matmul_tuned(void *const *buffer, int64_t n)
{
    const float *restrict a = buffer[0], *restrict b = buffer[1];
    float *restrict c = buffer[2];
#pragma omp parallel
    {
        _Alignas(64) float pa[PANEL * DEPTH], pb[DEPTH * COLS];
#pragma omp for schedule(static)
        for (int64_t i0 = 0; i0 < n; i0 += PANEL) {
            memset(c + i0 * n, 0, (size_t)(PANEL * n) * sizeof *c);
            for (int64_t k0 = 0; k0 < n; k0 += DEPTH) {
                for (int64_t i = 0; i < PANEL; i++)
                    for (int64_t k = 0; k < DEPTH; k++)
                        pa[(i / ROWS * DEPTH + k) * ROWS + i % ROWS] = a[(i0 + i) * n + k0 + k];
                for (int64_t j0 = 0; j0 < n; j0 += COLS) {
                    for (int64_t k = 0; k < DEPTH; k++)
                        memcpy(pb + k * COLS, b + (k0 + k) * n + j0, COLS * sizeof *pb);
                    for (int64_t i = 0; i < PANEL; i += ROWS)
                        kernel(pa + i * DEPTH, pb, c + (i0 + i) * n + j0, n);
                }
            }
        }
    }
}
