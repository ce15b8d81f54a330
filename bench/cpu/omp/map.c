/* Loops over the elements of arrays. */
#include <stdint.h>
#ifdef __F16C__
#include <immintrin.h>
#endif

#include "omp.h"
#include "vecmath.h"

void omp_map_copy(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = x[i];
}

void omp_map_polynomial(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float v = x[i];
        float sum = 0.1F;
        for (int k = 0; k < 16; k++)
            sum = sum * v + 0.5F;
        out[i] = sum;
    }
}

void omp_map_exp(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = expf(-x[i] * x[i]);
}

void omp_map_three(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = expf(-x[i]) * sinf(6.0F * x[i]) + logf(1.0F + x[i]);
}

void omp_map_six(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0], *restrict y = buffer[1];
    float *restrict out = buffer[2];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float a = x[i], b = y[i];
        out[i] = sinf(3.0F * a) + cosf(4.0F * b) + expf(-a) * logf(1.5F + b) + tanhf(a - b) +
                 sqrtf(a * b);
    }
}

void omp_map_price(void *const *buffer, int64_t n)
{
    const float *restrict s = buffer[0], *restrict k = buffer[1], *restrict t = buffer[2];
    float *restrict out = buffer[3];
    const float half = 0.70710678F;
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float price = 50.0F + 50.0F * s[i], strike = 50.0F + 50.0F * k[i],
                    years = 0.1F + t[i];
        const float spread = 0.3F * sqrtf(years);
        const float d1 = (logf(price / strike) + (0.02F + 0.045F) * years) / spread;
        out[i] = price * (0.5F + 0.5F * erff(d1 * half)) -
                 strike * expf(-0.02F * years) * (0.5F + 0.5F * erff((d1 - spread) * half));
    }
}

void omp_map_exp64(void *const *buffer, int64_t n)
{
    const double *restrict x = buffer[0];
    double *restrict out = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = exp(-x[i]);
}

void omp_map_branch(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float v = x[i], root = sqrtf(v), square = v * v + 1.0F;
        out[i] = v > 0.5F ? root : square;
    }
}

void omp_map_store_if(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        if (x[i] > 0.5F)
            out[i] = 2.0F * x[i];
}

void omp_map_exp_if(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float e = expf(-x[i]);
        if (x[i] > 0.5F)
            out[i] = e;
    }
}

void omp_map_elif(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float v = x[i], root = sqrtf(v);
        const float low = v < 0.2F ? 3.0F * v : 0.6F + v * v;
        const float high = v < 0.8F ? root : 1.0F;
        out[i] = v < 0.4F ? low : v < 0.6F ? 1.0F - v : high;
    }
}

/* y = 0.5*x + y in place. */
void omp_map_half(void *const *buffer, int64_t n)
{
#ifdef __F16C__
    const uint16_t *restrict x = buffer[0];
    uint16_t *restrict y = buffer[1];
    const __m256 a = _mm256_set1_ps(0.5F);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i += 8) { /* n is a multiple of 8 */
        const __m256 u = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(x + i)));
        const __m256 v = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(y + i)));
        const __m256 sum = _mm256_add_ps(_mm256_mul_ps(a, u), v);
        _mm_storeu_si128((__m128i *)(y + i), _mm256_cvtps_ph(sum, _MM_FROUND_TO_NEAREST_INT));
    }
#else
    const _Float16 *restrict x = buffer[0];
    _Float16 *restrict y = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        y[i] = (_Float16)(0.5F * (float)x[i] + (float)y[i]);
#endif
}

void omp_map_int64(void *const *buffer, int64_t n)
{
    const int64_t *restrict x = buffer[0];
    int64_t *restrict out = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        int64_t v = x[i];
        v = (int64_t)((uint64_t)(v ^ (v >> 30)) * 0x3f58476d1ce4e5b9U);
        v = (int64_t)((uint64_t)(v ^ (v >> 27)) * 0x14d049bb133111ebU);
        out[i] = v ^ (v >> 31);
    }
}

/* An n x n product of a column and a row. */
void omp_map_outer(void *const *buffer, int64_t n)
{
    const float *restrict column = buffer[0], *restrict row = buffer[1];
    float *restrict out = buffer[2];
#pragma omp parallel for schedule(static)
    for (int64_t y = 0; y < n; y++)
#pragma omp simd
        for (int64_t x = 0; x < n; x++)
            out[y * n + x] = column[y] * row[x];
}

void omp_map_divide(void *const *buffer, int64_t n)
{
    const int32_t *restrict x = buffer[0], *restrict y = buffer[1];
    int32_t *restrict out = buffer[2];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = (int32_t)((double)x[i] / (double)(y[i] % 1000 + 1)); /* exact: none is below 0 */
}

void omp_map_pairs(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = x[2 * i] + x[2 * i + 1];
}

void omp_map_third(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = x[3 * i];
}

void omp_map_swap(void *const *buffer, int64_t n)
{
    float *restrict x = buffer[0];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n / 2; i++) {
        const float v = x[2 * i];
        x[2 * i] = x[2 * i + 1];
        x[2 * i + 1] = v;
    }
}

void omp_map_stride(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = 2.0F * x[i] + 1.0F;
}

void omp_map_reverse(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = x[n - 1 - i];
}
