/* Beside kernels/border.knl. */
#include <stdint.h>
#include <string.h>

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t held(int64_t i, int64_t n)
{
    return most(0, least(i, n - 1));
}

enum { PIECE = 4096 };

void omp_border_box(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict y = buffer[1];
#pragma omp parallel for schedule(static)
    for (int64_t from = 0; from < n; from += PIECE) {
        int64_t to = least(n, from + PIECE), inner = most(from, 8),
                outer = most(inner, least(to, n - 8));
        memset(y + from, 0, (size_t)(to - from) * sizeof *y);
#pragma omp simd
        for (int64_t i = inner; i < outer; i++) {
            float s = 0;
            for (int64_t k = -8; k < 9; k++)
                s += x[i + k];
            y[i] = s;
        }
        for (int64_t i = from; i < to; i++)
            if (i < inner || i >= outer)
                for (int64_t k = most(0, i - 8); k < least(n, i + 9); k++)
                    y[i] += x[k];
    }
}

void omp_border_dilate(void *const *buffer, int64_t n)
{
    const uint8_t *restrict src = buffer[0];
    uint8_t *restrict dst = buffer[1];
#pragma omp parallel for schedule(static)
    for (int64_t y = 0; y < n; y++) {
        uint8_t *restrict row = dst + y * n;
        memset(row, 0, (size_t)n);
        for (int64_t b = most(0, y - 3); b < least(n, y + 4); b++)
            for (int64_t a = -3; a < 4; a++) {
                const uint8_t *from = src + b * n;
#pragma omp simd
                for (int64_t x = most(0, -a); x < least(n, n - a); x++)
                    row[x] = row[x] > from[x + a] ? row[x] : from[x + a];
            }
    }
}

void omp_border_mean(void *const *buffer, int64_t n)
{
    const float *restrict src = buffer[0];
    float *restrict dst = buffer[1];
#pragma omp parallel for schedule(static)
    for (int64_t y = 0; y < n; y++) {
        const float *rows[5];
        for (int64_t b = 0; b < 5; b++)
            rows[b] = src + held(y + b - 2, n) * n;
#pragma omp simd
        for (int64_t x = 2; x < n - 2; x++) {
            float s = 0;
            for (int64_t b = 0; b < 5; b++)
                for (int64_t a = -2; a < 3; a++)
                    s += rows[b][x + a];
            dst[y * n + x] = s * 0.04F;
        }
        for (int64_t x = 0; x < n; x += x == 1 ? n - 3 : 1) {
            float s = 0;
            for (int64_t b = 0; b < 5; b++)
                for (int64_t a = -2; a < 3; a++)
                    s += rows[b][held(x + a, n)];
            dst[y * n + x] = s * 0.04F;
        }
    }
}
