/* The sum of x; buffer[1] is the other sides' room for partial sums. In pieces, so that both compilers vectorise it. */
#include "omp.h"

enum { PIECE = 8192 };

void omp_reduce(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int64_t i = 0; i < n; i += PIECE) {
        const int64_t stop = i + PIECE < n ? i + PIECE : n;
        float piece = 0;
#pragma omp simd reduction(+ : piece)
        for (int64_t j = i; j < stop; j++)
            piece += x[j];
        sum += piece;
    }
    *(float *)buffer[2] = sum;
}

void omp_reduce_atomic(void *const *buffer, int64_t n)
{
    const uint8_t *restrict x = buffer[0];
    uint32_t sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    *(uint32_t *)buffer[1] = sum;
}

void omp_reduce_stride(void *const *buffer, int64_t n)
{
    omp_reduce((void *const[]){buffer[0], 0, buffer[1]}, n);
}

void omp_reduce_max(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float most = 0;
#pragma omp parallel for simd schedule(static) reduction(max : most)
    for (int64_t i = 0; i < n; i++)
        most = x[i] > most ? x[i] : most;
    *(float *)buffer[1] = most;
}

/* The least of each 256, and where it is. */
void omp_reduce_place(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict least = buffer[1];
    int32_t *restrict place = buffer[2];
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < n / 256; b++) {
        const float *restrict part = x + 256 * b;
        float value = part[0];
#pragma omp simd reduction(min : value)
        for (int i = 0; i < 256; i++)
            value = part[i] < value ? part[i] : value;
        int32_t at = 255;
#pragma omp simd reduction(min : at)
        for (int32_t i = 0; i < 256; i++)
            at = part[i] == value && i < at ? i : at;
        least[b] = value;
        place[b] = (int32_t)(256 * b) + at;
    }
}
