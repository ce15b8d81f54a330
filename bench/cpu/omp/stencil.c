/* On the inner points of an n x n image: a step of the heat equation, and a 5x5 convolution with constant weights. */
#include "omp.h"

void omp_heat(void *const *buffer, int64_t n)
{
    const float alpha = 0.1F;
    const float *restrict src = buffer[0];
    float *restrict dst = buffer[1];
#pragma omp parallel for schedule(static)
    for (int64_t y = 1; y < n - 1; y++)
#pragma omp simd
        for (int64_t x = 1; x < n - 1; x++) {
            const float *p = src + y * n + x;
            dst[y * n + x] = p[0] + alpha * (p[-n] + p[n] + p[-1] + p[1] - 4.0F * p[0]);
        }
}

static const float weight[5][5] = {{0.00390625F, 0.015625F, 0.0234375F, 0.015625F, 0.00390625F},
                                   {0.015625F, 0.0625F, 0.09375F, 0.0625F, 0.015625F},
                                   {0.0234375F, 0.09375F, 0.140625F, 0.09375F, 0.0234375F},
                                   {0.015625F, 0.0625F, 0.09375F, 0.0625F, 0.015625F},
                                   {0.00390625F, 0.015625F, 0.0234375F, 0.015625F, 0.00390625F}};

void omp_blur(void *const *buffer, int64_t n)
{
    const float *restrict src = buffer[0];
    float *restrict dst = buffer[1];
#pragma omp parallel for schedule(static)
    for (int64_t y = 2; y < n - 2; y++)
#pragma omp simd
        for (int64_t x = 2; x < n - 2; x++) {
            float sum = 0;
            for (int dy = 0; dy < 5; dy++)
                for (int dx = 0; dx < 5; dx++)
                    sum += weight[dy][dx] * src[(y + dy - 2) * n + x + dx - 2];
            dst[y * n + x] = sum;
        }
}
