/* The iterations a point of [-2, 1] x [-1.5, 1.5] takes to leave the circle of radius 2, at most 256: of vectors of
 * points, of which those that have left stay where they are. n is a multiple of 32. */
#include "omp.h"

enum { LANES = 32 };

typedef struct points {
    float cr[LANES], ci, zr[LANES], zi[LANES];
    int32_t count[LANES];
} points;

static int step(points *p)
{
    int inside = 0;
#pragma omp simd reduction(| : inside)
    for (int j = 0; j < LANES; j++) {
        const float zr = p->zr[j], zi = p->zi[j];
        const int in = zr * zr + zi * zi <= 4.0F;
        p->zr[j] = in ? zr * zr - zi * zi + p->cr[j] : zr;
        p->zi[j] = in ? 2.0F * zr * zi + p->ci : zi;
        p->count[j] += in;
        inside |= in;
    }
    return inside;
}

void omp_mandelbrot(void *const *buffer, int64_t n)
{
    int32_t *restrict out = buffer[0];
#pragma omp parallel for schedule(dynamic, 8)
    for (int64_t y = 0; y < n; y++)
        for (int64_t x = 0; x < n; x += LANES) {
            points p = {.ci = -1.5F + 3.0F * (float)y / (float)n};
            for (int j = 0; j < LANES; j++)
                p.cr[j] = -2.0F + 3.0F * (float)(x + j) / (float)n;
            for (int i = 0; i < 256 && step(&p); i++)
                ;
            for (int j = 0; j < LANES; j++)
                out[y * n + x + j] = p.count[j];
        }
}
