/* Sums along the rows and columns of an n x n matrix. */
#include <string.h>

#include "omp.h"
#include "vecmath.h"

void omp_rows_sum(void *const *buffer, int64_t n)
{
    const float *restrict a = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < n; r++) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t c = 0; c < n; c++)
            sum += a[r * n + c];
        out[r] = sum;
    }
}

/* Stretches of columns that stay in registers or the nearest cache, row by row. */
void omp_rows_columns(void *const *buffer, int64_t n)
{
    enum { STRETCH = 256 };
    const float *restrict a = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for schedule(static)
    for (int64_t first = 0; first < n; first += STRETCH) {
        const int64_t width = n - first < STRETCH ? n - first : STRETCH;
        float sum[STRETCH] = {0};
        for (int64_t r = 0; r < n; r++)
#pragma omp simd
            for (int64_t c = 0; c < width; c++)
                sum[c] += a[r * n + first + c];
        memcpy(out + first, sum, (size_t)width * sizeof *sum);
    }
}

/* Eight rows at a time: one sum would wait for itself. n is a multiple of 8. */
void omp_rows_running(void *const *buffer, int64_t n)
{
    const float *restrict a = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < n; r += 8) {
        const float *restrict from = a + r * n;
        float *restrict to = out + r * n;
        float s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
        for (int64_t c = 0; c < n; c++) {
            to[c] = s0 += from[c];
            to[n + c] = s1 += from[n + c];
            to[2 * n + c] = s2 += from[2 * n + c];
            to[3 * n + c] = s3 += from[3 * n + c];
            to[4 * n + c] = s4 += from[4 * n + c];
            to[5 * n + c] = s5 += from[5 * n + c];
            to[6 * n + c] = s6 += from[6 * n + c];
            to[7 * n + c] = s7 += from[7 * n + c];
        }
    }
}

void omp_rows_dot(void *const *buffer, int64_t n)
{
    const float *restrict a = buffer[0], *restrict b = buffer[1];
    float *restrict out = buffer[2];
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < n; r++) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t c = 0; c < n; c++)
            sum += a[r * n + c] * b[r * n + c];
        out[r] = sum;
    }
}

/* Four rows at a time, which share what is read of x. n is a multiple of 4. */
void omp_rows_product(void *const *buffer, int64_t n)
{
    const float *restrict a = buffer[0], *restrict x = buffer[1];
    float *restrict out = buffer[2];
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < n; r += 4) {
        const float *restrict row = a + r * n;
        float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
        for (int64_t c = 0; c < n; c++) {
            s0 += row[c] * x[c];
            s1 += row[n + c] * x[c];
            s2 += row[2 * n + c] * x[c];
            s3 += row[3 * n + c] * x[c];
        }
        out[r] = s0;
        out[r + 1] = s1;
        out[r + 2] = s2;
        out[r + 3] = s3;
    }
}

void omp_rows_softmax(void *const *buffer, int64_t n)
{
    const float *restrict a = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < n; r++) {
        const float *restrict from = a + r * n;
        float *restrict to = out + r * n;
        float most = from[0], sum = 0;
#pragma omp simd reduction(max : most)
        for (int64_t c = 0; c < n; c++)
            most = from[c] > most ? from[c] : most;
#pragma omp simd reduction(+ : sum)
        for (int64_t c = 0; c < n; c++)
            sum += to[c] = expf(from[c] - most);
        const float by = 1.0F / sum;
#pragma omp simd
        for (int64_t c = 0; c < n; c++)
            to[c] *= by;
    }
}

void omp_rows_three(void *const *buffer, int64_t n)
{
    const float *restrict a = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t r = 0; r < n; r++) {
        const float *p = a + 3 * r;
        float *q = out + 3 * r;
        q[0] = p[1] - p[2];
        q[1] = p[2] - p[0];
        q[2] = p[0] - p[1];
    }
}

void omp_rows_subtract(void *const *buffer, int64_t n)
{
    const float *restrict a = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < n; r++) {
        const float first = a[r * n];
#pragma omp simd
        for (int64_t c = 0; c < n; c++)
            out[r * n + c] = a[r * n + c] - first * a[c];
    }
}
