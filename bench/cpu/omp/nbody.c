/* The softened gravity of all n bodies on each. */
#include <math.h>

#include "omp.h"

void omp_nbody(void *const *buffer, int64_t n)
{
    const float softening = 0.01F;
    const float *restrict x = buffer[0], *restrict y = buffer[1], *restrict z = buffer[2],
                          *restrict m = buffer[3];
    float *restrict ax = buffer[4], *restrict ay = buffer[5], *restrict az = buffer[6];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float xi = x[i], yi = y[i], zi = z[i];
        float fx = 0, fy = 0, fz = 0;
#pragma omp simd reduction(+ : fx, fy, fz)
        for (int64_t j = 0; j < n; j++) {
            const float dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
            const float inv = 1.0F / sqrtf(dx * dx + dy * dy + dz * dz + softening);
            const float w = m[j] * inv * inv * inv;
            fx += w * dx;
            fy += w * dy;
            fz += w * dz;
        }
        ax[i] = fx;
        ay[i] = fy;
        az[i] = fz;
    }
}
