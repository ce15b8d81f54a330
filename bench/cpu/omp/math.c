/* Functions of an array's elements on one thread. */
#include "omp.h"
#include "vecmath.h"

void omp_exp(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        out[i] = expf(20.0F * x[i] - 10.0F);
}

void omp_tanh(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        out[i] = tanhf(8.0F * x[i] - 4.0F);
}

void omp_sin(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        out[i] = sinf(20.0F * x[i] - 10.0F);
}

void omp_pow(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    const float *restrict y = buffer[1];
    float *restrict out = buffer[2];
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        out[i] = powf(10.0F * x[i], 8.0F * y[i] - 4.0F);
}

void omp_log(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        out[i] = logf(100.0F * x[i] + 0.01F);
}

void omp_cos(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        out[i] = cosf(20.0F * x[i] - 10.0F);
}

void omp_erf(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        out[i] = erff(6.0F * x[i] - 3.0F);
}
