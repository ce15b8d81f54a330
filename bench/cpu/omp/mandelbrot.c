/* The iterations a point of [-2, 1] x [-1.5, 1.5] takes to leave the circle of radius 2, at most 256. */
#include "omp.h"

void omp_mandelbrot(void *const *buffer, int64_t n)
{
    int32_t *restrict out = buffer[0];
#pragma omp parallel for schedule(dynamic, 8)
    for (int64_t y = 0; y < n; y++)
        for (int64_t x = 0; x < n; x++) {
            const float cr = -2.0F + 3.0F * (float)x / (float)n;
            const float ci = -1.5F + 3.0F * (float)y / (float)n;
            float zr = 0, zi = 0;
            int32_t i = 0;
            while (i < 256 && zr * zr + zi * zi <= 4.0F) {
                const float next = zr * zr - zi * zi + cr;
                zi = 2.0F * zr * zi + ci;
                zr = next;
                i++;
            }
            out[y * n + x] = i;
        }
}
