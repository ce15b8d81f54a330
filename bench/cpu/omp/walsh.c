/* A step of the Walsh-Hadamard transform in place. */
#include "omp.h"

/* Pairs are `h` apart. n and h are powers of two. */
static void step(float *restrict x, int64_t n, int64_t h)
{
#pragma omp parallel for schedule(static)
    for (int64_t base = 0; base < n; base += 2 * h) {
        float *restrict first = x + base, *restrict second = x + base + h;
#pragma omp simd
        for (int64_t i = 0; i < h; i++) {
            const float a = first[i], b = second[i];
            first[i] = a + b;
            second[i] = a - b;
        }
    }
}

void omp_walsh(void *const *buffer, int64_t n)
{
    step(buffer[0], n, 256);
}
