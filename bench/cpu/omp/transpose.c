/* The transpose of an n x n matrix, n a multiple of 16: by tiles of 16 x 16, which vectors of 16 turn around. */
#include "omp.h"

void omp_transpose(void *const *buffer, int64_t n)
{
    enum { TILE = 16 };
    const float *restrict a = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for collapse(2) schedule(static)
    for (int64_t x = 0; x < n; x += TILE)
        for (int64_t y = 0; y < n; y += TILE) {
            const float *restrict from = a + y * n + x;
            float *restrict to = out + x * n + y;
            for (int i = 0; i < TILE; i++)
#pragma omp simd
                for (int j = 0; j < TILE; j++)
                    to[i * n + j] = from[j * n + i];
        }
}
