/* A step of the lattice Boltzmann method with nine velocities, on the inner points of n x n. */
#include "omp.h"

static const float omega = 1.2F;

static inline float relaxed(float f, float weight, float density, float along, float square)
{
    return f +
           omega * (weight * density * (1.0F + 3.0F * along + 4.5F * along * along - square) - f);
}

void omp_lbm(void *const *buffer, int64_t n)
{
    const float *restrict f = buffer[0];
    float *restrict g = buffer[1];
    const int64_t page = n * n;
    const float w0 = 4.0F / 9.0F, w1 = 1.0F / 9.0F, w2 = 1.0F / 36.0F;
#pragma omp parallel for schedule(static)
    for (int64_t y = 1; y < n - 1; y++)
#pragma omp simd
        for (int64_t x = 1; x < n - 1; x++) {
            const float *p = f + y * n + x;
            float *q = g + y * n + x;
            const float f0 = p[0], f1 = p[page - 1], f2 = p[2 * page - n], f3 = p[3 * page + 1],
                        f4 = p[4 * page + n], f5 = p[5 * page - n - 1], f6 = p[6 * page - n + 1],
                        f7 = p[7 * page + n + 1], f8 = p[8 * page + n - 1];
            const float density = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8 + 1.0F;
            const float u = (f1 - f3 + f5 - f6 - f7 + f8) / density;
            const float v = (f2 - f4 + f5 + f6 - f7 - f8) / density;
            const float square = 1.5F * (u * u + v * v);
            q[0] = relaxed(f0, w0, density, 0.0F, square);
            q[page] = relaxed(f1, w1, density, u, square);
            q[2 * page] = relaxed(f2, w1, density, v, square);
            q[3 * page] = relaxed(f3, w1, density, -u, square);
            q[4 * page] = relaxed(f4, w1, density, -v, square);
            q[5 * page] = relaxed(f5, w2, density, u + v, square);
            q[6 * page] = relaxed(f6, w2, density, v - u, square);
            q[7 * page] = relaxed(f7, w2, density, -u - v, square);
            q[8 * page] = relaxed(f8, w2, density, u - v, square);
        }
}
