/* The table that compares two sequences of n (Smith and Waterman), by diagonals, of which three are kept. The second
 * sequence is turned around, so that a diagonal goes forward in both. best is the most in each row. */
#include <stdlib.h>
#include <string.h>

#include "omp.h"

static inline int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static void diagonal(const uint8_t *restrict a, const uint8_t *restrict back, int32_t *const h[3],
                     int32_t *restrict best, int64_t d, int64_t n)
{
    const int64_t first = d < n ? 1 : d - n + 1, stop = d < n ? d : n;
    const int32_t *restrict two = h[(d + 1) % 3], *restrict one = h[(d + 2) % 3];
    int32_t *restrict now = h[d % 3];
    const uint8_t *b = back + (n - 1 - d); /* b[d - i] is back[n - 1 - (d - i)] */
#pragma omp for simd schedule(static)
    for (int64_t i = first; i < stop; i++) {
        const int32_t same = (a[i] >> 6) == (b[i] >> 6) ? 2 : -1;
        const int32_t gap = larger(one[i - 1], one[i]) - 1;
        const int32_t v = larger(larger(two[i - 1] + same, gap), 0);
        now[i] = v;
        best[i] = larger(best[i], v);
    }
}

void omp_align(void *const *buffer, int64_t n)
{
    const uint8_t *a = buffer[0], *b = buffer[1];
    int32_t *h = buffer[2], *best = buffer[3], *const diagonals[3] = {h, h + n, h + 2 * n};
    uint8_t *back = malloc((size_t)n);
    if (back == NULL)
        return;
    for (int64_t i = 0; i < n; i++)
        back[i] = b[n - 1 - i];
    memset(h, 0, (size_t)(3 * n) * sizeof *h);
    memset(best, 0, (size_t)n * sizeof *best);
#pragma omp parallel
    for (int64_t d = 2; d < 2 * n - 1; d++) {
        diagonal(a, back, diagonals, best, d, n);
#pragma omp single
        if (d < n)
            diagonals[d % 3][d] = 0;
    }
    free(back);
}
