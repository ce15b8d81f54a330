/* Blocks a few threads wide are loops over rows here; tiles of 7 x 7 are loops of 7. */
#include "omp.h"

void omp_narrow_scale(void *const *buffer, int64_t n)
{
    const float *restrict a = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n * n; i++)
        out[i] = a[i] * 2;
}

void omp_narrow_bytes(void *const *buffer, int64_t n)
{
    const uint8_t *restrict a = buffer[0];
    uint8_t *restrict out = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n * n; i++)
        out[i] = (uint8_t)(a[i] + 3);
}

enum { TILE = 7 };

static inline void shortest(const int32_t *restrict a, int32_t *restrict out, int64_t n)
{
    int32_t d[TILE][TILE];
    for (int y = 0; y < TILE; y++)
        for (int x = 0; x < TILE; x++)
            d[y][x] = a[y * n + x];
    for (int k = 0; k < TILE; k++) {
        int32_t row[TILE], column[TILE];
        for (int i = 0; i < TILE; i++) {
            row[i] = d[k][i];
            column[i] = d[i][k];
        }
        for (int y = 0; y < TILE; y++)
            for (int x = 0; x < TILE; x++) {
                int32_t way = column[y] + row[x];
                d[y][x] = way < d[y][x] ? way : d[y][x];
            }
    }
    for (int y = 0; y < TILE; y++)
        for (int x = 0; x < TILE; x++)
            out[y * n + x] = d[y][x];
}

/* n is a side's length that may leave a part of a tile, which stays as it is. */
void omp_narrow_tiles(void *const *buffer, int64_t n)
{
    const int32_t *restrict a = buffer[0];
    int32_t *restrict out = buffer[1];
#pragma omp parallel for schedule(static)
    for (int64_t y = 0; y < n / TILE; y++)
        for (int64_t x = 0; x < n / TILE; x++)
            shortest(a + (y * n + x) * TILE, out + (y * n + x) * TILE, n);
}
