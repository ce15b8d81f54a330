/* Convolutions of n x n images and n x n x n cubes whose weights are an array. */
#include "omp.h"

static void row_inside(const float *restrict src, const float w[5][5], float *restrict dst,
                       int64_t n, int64_t y)
{
#pragma omp simd
    for (int64_t x = 2; x < n - 2; x++) {
        float sum = 0;
        for (int dy = 0; dy < 5; dy++)
            for (int dx = 0; dx < 5; dx++)
                sum += w[dy][dx] * src[(y + dy - 2) * n + x + dx - 2];
        dst[y * n + x] = sum;
    }
}

static int64_t clamp(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static void point_at_edge(const float *restrict src, const float w[5][5], float *restrict dst,
                          int64_t n, int64_t y, int64_t x)
{
    float sum = 0;
    for (int dy = 0; dy < 5; dy++)
        for (int dx = 0; dx < 5; dx++)
            sum += w[dy][dx] * src[clamp(y + dy - 2, n) * n + clamp(x + dx - 2, n)];
    dst[y * n + x] = sum;
}

static void copy_weights(const float *from, float w[5][5])
{
    for (int i = 0; i < 25; i++)
        w[i / 5][i % 5] = from[i];
}

/* Beyond the edge is what is at the edge. */
void omp_conv_image(void *const *buffer, int64_t n)
{
    const float *restrict src = buffer[0];
    float *restrict dst = buffer[2];
    float w[5][5];
    copy_weights(buffer[1], w);
#pragma omp parallel for schedule(static)
    for (int64_t y = 0; y < n; y++) {
        const int inside = y >= 2 && y < n - 2;
        if (inside)
            row_inside(src, w, dst, n, y);
        for (int64_t x = 0; x < n; x += inside && x == 1 ? n - 3 : 1)
            point_at_edge(src, w, dst, n, y, x);
    }
}

void omp_conv_inner(void *const *buffer, int64_t n)
{
    const float *restrict src = buffer[0];
    float *restrict dst = buffer[2];
    float w[5][5];
    copy_weights(buffer[1], w);
#pragma omp parallel for schedule(static)
    for (int64_t y = 2; y < n - 2; y++)
        row_inside(src, w, dst, n, y);
}

void omp_conv_cube(void *const *buffer, int64_t n)
{
    const float *restrict src = buffer[0], *restrict from = buffer[1];
    float *restrict dst = buffer[2];
    const int64_t page = n * n;
    float w[27];
    for (int i = 0; i < 27; i++)
        w[i] = from[i];
#pragma omp parallel for collapse(2) schedule(static)
    for (int64_t z = 1; z < n - 1; z++)
        for (int64_t y = 1; y < n - 1; y++)
#pragma omp simd
            for (int64_t x = 1; x < n - 1; x++) {
                const float *p = src + z * page + y * n + x;
                float sum = 0;
                for (int dz = 0; dz < 3; dz++)
                    for (int dy = 0; dy < 3; dy++)
                        for (int dx = 0; dx < 3; dx++)
                            sum += w[9 * dz + 3 * dy + dx] *
                                   p[(dz - 1) * page + (dy - 1) * n + dx - 1];
                dst[z * page + y * n + x] = sum;
            }
}
