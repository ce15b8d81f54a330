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
