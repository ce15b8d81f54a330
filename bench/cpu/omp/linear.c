/* Steps of linear algebra, on n x n matrices. */
#include <string.h>

#include "omp.h"

enum {
    ROWS = 4,
    DEPTH = 64,
    COLUMNS = 128
}; /* a tile: c[ROWS][COLUMNS] += a[ROWS][DEPTH] @ b[DEPTH][COLUMNS] */

static inline void add_tile(const double *restrict a, const double *restrict b, double *restrict c,
                            int64_t n)
{
    double *restrict c0 = c, *restrict c1 = c + n, *restrict c2 = c + 2 * n,
                     *restrict c3 = c + 3 * n;
    for (int64_t k = 0; k < DEPTH; k++) {
        const double a0 = a[k], a1 = a[n + k], a2 = a[2 * n + k], a3 = a[3 * n + k];
#pragma omp simd
        for (int64_t j = 0; j < COLUMNS; j++) {
            const double v = b[k * n + j];
            c0[j] += a0 * v;
            c1[j] += a1 * v;
            c2[j] += a2 * v;
            c3[j] += a3 * v;
        }
    }
}

/* n is a multiple of 128. */
void omp_linear_product64(void *const *buffer, int64_t n)
{
    const double *restrict a = buffer[0], *restrict b = buffer[1];
    double *restrict c = buffer[2];
#pragma omp parallel for schedule(static)
    for (int64_t first = 0; first < n; first += 64) {
        memset(c + first * n, 0, (size_t)(64 * n) * sizeof *c);
        for (int64_t k = 0; k < n; k += DEPTH)
            for (int64_t j = 0; j < n; j += COLUMNS)
                for (int64_t i = first; i < first + 64; i += ROWS)
                    add_tile(a + i * n + k, b + k * n + j, c + i * n + j, n);
    }
}

void omp_linear_eliminate(void *const *buffer, int64_t n)
{
    float *restrict a = buffer[0];
    const int64_t k = n / 4;
    const float *pivot = a + k * n;
#pragma omp parallel for schedule(static)
    for (int64_t i = k + 1; i < n; i++) {
        float *row = a + i * n;
        const float by = row[k] / pivot[k];
#pragma omp simd
        for (int64_t j = k + 1; j < n; j++)
            row[j] -= by * pivot[j];
    }
}

void omp_linear_closest(void *const *buffer, int64_t n)
{
    float *d = buffer[0];
    const int64_t k = n / 4;
    const float *by = d + k * n;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float *row = d + i * n;
        const float to = row[k];
#pragma omp simd
        for (int64_t j = 0; j < n; j++) {
            const float through = to + by[j];
            row[j] = through < row[j] ? through : row[j];
        }
    }
}
