/* Small arrays of which each row of the arguments has its own. */
#include <string.h>

#include "omp.h"

#define ORDER(a, b) \
    do { \
        const float less = (a) < (b) ? (a) : (b); \
        (b) = (a) < (b) ? (b) : (a); \
        (a) = less; \
    } while (0)

/* Each row of eight in order, by a network of 19 comparisons. */
void omp_local_sort(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t r = 0; r < n; r++) {
        float a = x[8 * r], b = x[8 * r + 1], c = x[8 * r + 2], d = x[8 * r + 3], e = x[8 * r + 4],
              f = x[8 * r + 5], g = x[8 * r + 6], h = x[8 * r + 7];
        ORDER(a, b);
        ORDER(c, d);
        ORDER(e, f);
        ORDER(g, h);
        ORDER(a, c);
        ORDER(b, d);
        ORDER(e, g);
        ORDER(f, h);
        ORDER(b, c);
        ORDER(f, g);
        ORDER(a, e);
        ORDER(d, h);
        ORDER(b, f);
        ORDER(c, g);
        ORDER(b, e);
        ORDER(d, g);
        ORDER(c, e);
        ORDER(d, f);
        ORDER(d, e);
        out[8 * r] = a;
        out[8 * r + 1] = b;
        out[8 * r + 2] = c;
        out[8 * r + 3] = d;
        out[8 * r + 4] = e;
        out[8 * r + 5] = f;
        out[8 * r + 6] = g;
        out[8 * r + 7] = h;
    }
}

void omp_local_counts(void *const *buffer, int64_t n)
{
    const uint8_t *restrict x = buffer[0];
    int32_t *restrict out = buffer[1];
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < n; r++) {
        uint8_t counts[16] = {0};
        for (int c = 0; c < 32; c++)
            counts[x[32 * r + c] % 16]++;
        int best = 0;
        for (int k = 0; k < 16; k++) /* the largest count, and of these the first */
            best = best > 16 * counts[k] + 15 - k ? best : 16 * counts[k] + 15 - k;
        out[r] = 15 - best % 16;
    }
}

void omp_local_matrix(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < n; r++) {
        const float *restrict m = x + 16 * r;
        float square[16] = {0};
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 4; k++)
                for (int j = 0; j < 4; j++)
                    square[4 * i + j] += m[4 * i + k] * m[4 * k + j];
        memcpy(out + 16 * r, square, sizeof square);
    }
}

void omp_local_kept(void *const *buffer, int64_t n)
{
    const float *restrict a = buffer[0], *restrict b = buffer[1];
    float *restrict out = buffer[2];
    enum { ROWS = 64, COLUMNS = 256 };
#pragma omp parallel for schedule(static)
    for (int64_t first = 0; first < n; first += COLUMNS) {
        const int width = n - first < COLUMNS ? (int)(n - first) : COLUMNS;
        for (int i = 0; i < ROWS; i++) {
            float sums[COLUMNS] = {0};
            for (int k = 0; k < ROWS; k++)
                for (int j = 0; j < width; j++)
                    sums[j] += a[k * ROWS + i] * b[k * n + first + j];
            memcpy(out + i * n + first, sums, (size_t)width * sizeof *sums);
        }
    }
}

static int32_t count_queens(uint32_t first, uint32_t second)
{
    uint32_t taken[10] = {first | second}, left[10] = {(first << 1 | second) << 1},
             right[10] = {(first >> 1 | second) >> 1}, free[10] = {0};
    int32_t count = 0;
    if ((first | first << 1 | first >> 1) & second)
        return 0;
    free[0] = 1023 & ~(taken[0] | left[0] | right[0]);
    for (int row = 0; row >= 0;) {
        if (!free[row]) {
            row--;
            continue;
        }
        const uint32_t queen = free[row] & -free[row], all = taken[row] | queen;
        free[row] ^= queen;
        if (all == 1023) {
            count++;
            continue;
        }
        taken[row + 1] = all;
        left[row + 1] = (left[row] | queen) << 1;
        right[row + 1] = (right[row] | queen) >> 1;
        row++;
        free[row] = 1023 & ~(all | left[row] | right[row]);
    }
    return count;
}

void omp_local_queens(void *const *buffer, int64_t n)
{
    int32_t *restrict out = buffer[0];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = count_queens(1U << i % 10, 1U << i / 10 % 10);
}
