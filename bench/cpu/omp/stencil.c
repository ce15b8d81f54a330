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

void omp_stencil_ij(void *const *buffer, int64_t n)
{
    const float *restrict src = buffer[0];
    float *restrict dst = buffer[1];
#pragma omp parallel for schedule(static)
    for (int64_t y = 1; y < n - 1; y++)
#pragma omp simd
        for (int64_t x = 1; x < n - 1; x++) {
            const float *p = src + y * n + x;
            dst[y * n + x] = 0.25F * (p[-n] + p[n] + p[-1] + p[1]);
        }
}

void omp_stencil_line(void *const *buffer, int64_t n)
{
    const float *restrict src = buffer[0];
    float *restrict dst = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 3; i < n - 3; i++)
        dst[i] = 0.4F * src[i] + 0.15F * (src[i - 1] + src[i + 1]) +
                 0.1F * (src[i - 2] + src[i + 2]) + 0.05F * (src[i - 3] + src[i + 3]);
}

void omp_stencil_cube(void *const *buffer, int64_t n)
{
    const float *restrict src = buffer[0];
    float *restrict dst = buffer[1];
    const int64_t page = n * n;
#pragma omp parallel for collapse(2) schedule(static)
    for (int64_t z = 1; z < n - 1; z++)
        for (int64_t y = 1; y < n - 1; y++)
#pragma omp simd
            for (int64_t x = 1; x < n - 1; x++) {
                const float *p = src + z * page + y * n + x;
                dst[z * page + y * n + x] =
                    0.4F * p[0] + 0.1F * (p[-page] + p[page] + p[-n] + p[n] + p[-1] + p[1]);
            }
}
