/* The running sums of x, in double as kjit's: the sums of each thread's stretches, then each goes through its own again, four
 * at a time, as an addition waits for the one before it. */
#include <stdlib.h>

#include <omp.h>

#include "omp.h"

enum { WAYS = 4 };

static double sum_of(const float *restrict x, int64_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

/* What comes before each stretch: sums[k], of those before it. */
static double before(const double *sums, int k)
{
    double sum = 0;
    for (int i = 0; i < k; i++)
        sum += sums[i];
    return sum;
}

/* Of WAYS stretches of `length` elements, which lie one behind the other; exclusive: without the element itself. */
static void run_through(const float *restrict x, float *restrict out, int64_t length,
                        double up_to[WAYS], int exclusive)
{
    double a = up_to[0], b = up_to[1], c = up_to[2], d = up_to[3];
    const float *restrict y = x + length, *restrict z = y + length, *restrict w = z + length;
    float *restrict p = out + length, *restrict q = p + length, *restrict r = q + length;
    if (exclusive)
        for (int64_t i = 0; i < length; i++) {
            out[i] = (float)a, p[i] = (float)b, q[i] = (float)c, r[i] = (float)d;
            a += x[i], b += y[i], c += z[i], d += w[i];
        }
    else
        for (int64_t i = 0; i < length; i++) {
            a += x[i], b += y[i], c += z[i], d += w[i];
            out[i] = (float)a, p[i] = (float)b, q[i] = (float)c, r[i] = (float)d;
        }
    up_to[3] = d;
}

static void scan(void *const *buffer, int64_t n, int exclusive)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
    double *sums = malloc((size_t)omp_get_max_threads() * WAYS * sizeof *sums);
#pragma omp parallel
    {
        const int t = omp_get_thread_num(), all = omp_get_num_threads() * WAYS;
        const int64_t length = n / all;
        for (int k = t * WAYS; k < (t + 1) * WAYS; k++)
            sums[k] = sum_of(x + k * length, length);
#pragma omp barrier
        double up_to[WAYS];
        for (int k = 0; k < WAYS; k++)
            up_to[k] = before(sums, t * WAYS + k);
        run_through(x + t * WAYS * length, out + t * WAYS * length, length, up_to, exclusive);
        if ((t + 1) * WAYS == all) /* what is left over */
            for (int64_t i = all * length; i < n; i++) {
                const double with = up_to[WAYS - 1] + x[i];
                out[i] = (float)(exclusive ? up_to[WAYS - 1] : with);
                up_to[WAYS - 1] = with;
            }
    }
    free(sums);
}

void omp_scan(void *const *buffer, int64_t n)
{
    scan(buffer, n, 0);
}

void omp_scan_exclusive(void *const *buffer, int64_t n)
{
    scan(buffer, n, 1);
}

/* The running sums of each 256 elements. */
void omp_scan_block(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < n; b += 256) {
        float sum = 0;
#pragma omp simd reduction(inscan, + : sum)
        for (int64_t i = b; i < b + 256; i++) {
            sum += x[i];
#pragma omp scan inclusive(sum)
            out[i] = sum;
        }
    }
}
