/* buffer[0]: the 32-bit numbers of buffer[3] in ascending order, by digits of 8 bits; buffer[1]: room for them. */
#include <stdlib.h>
#include <string.h>

#include <omp.h>

#include "omp.h"

enum { DIGITS = 256, LINE = 16 };

typedef struct place {
    int64_t next[DIGITS];
} place;

/* What the threads before it and the digits before it have goes before: of counts, where to begin. */
static void add_up(place *threads, int n)
{
    int64_t sum = 0;
    for (int d = 0; d < DIGITS; d++) {
        for (int t = 0; t < n; t++) {
            const int64_t count = threads[t].next[d];
            threads[t].next[d] = sum;
            sum += count;
        }
    }
}

/* Keys of a digit are gathered until they fill a line of the cache. */
static void move_keys(const uint32_t *restrict from, uint32_t *restrict to, int64_t start,
                      int64_t stop, int shift, int64_t *restrict next)
{
    uint32_t lines[DIGITS][LINE];
    uint8_t filled[DIGITS] = {0};
    for (int64_t i = start; i < stop; i++) {
        const int d = from[i] >> shift & 255;
        lines[d][filled[d]++] = from[i];
        if (filled[d] == LINE) {
            memcpy(to + next[d], lines[d], sizeof lines[d]);
            next[d] += LINE;
            filled[d] = 0;
        }
    }
    for (int d = 0; d < DIGITS; d++)
        memcpy(to + next[d], lines[d], filled[d] * sizeof(uint32_t));
}

void omp_sort(void *const *buffer, int64_t n)
{
    place *threads = malloc((size_t)omp_get_max_threads() * sizeof *threads);
#pragma omp parallel
    {
        const int t = omp_get_thread_num(), all = omp_get_num_threads();
        const int64_t start = n * t / all, stop = n * (t + 1) / all;
        memcpy((uint32_t *)buffer[0] + start, (const uint32_t *)buffer[3] + start,
               (size_t)(stop - start) * sizeof(uint32_t));
        for (int shift = 0; shift < 32; shift += 8) {
            const uint32_t *from = buffer[shift / 8 % 2];
            int64_t *next = threads[t].next;
#pragma omp barrier
            memset(next, 0, sizeof threads[t].next);
            for (int64_t i = start; i < stop; i++)
                next[from[i] >> shift & 255]++;
#pragma omp barrier
#pragma omp single
            add_up(threads, all);
            move_keys(from, buffer[1 - shift / 8 % 2], start, stop, shift, next);
        }
    }
    free(threads);
}

/* The step of the bitonic sort whose partners are `j` apart. n and j are powers of two. */
static void bitonic(float *restrict x, int64_t n, int64_t j, int64_t k)
{
#pragma omp parallel for schedule(static)
    for (int64_t base = 0; base < n; base += 2 * j) {
        float *restrict first = x + base, *restrict second = x + base + j;
        if ((base & k) == 0)
#pragma omp simd
            for (int64_t i = 0; i < j; i++) {
                const float a = first[i], b = second[i];
                first[i] = a < b ? a : b;
                second[i] = a < b ? b : a;
            }
        else
#pragma omp simd
            for (int64_t i = 0; i < j; i++) {
                const float a = first[i], b = second[i];
                first[i] = a < b ? b : a;
                second[i] = a < b ? a : b;
            }
    }
}

void omp_sort_step(void *const *buffer, int64_t n)
{
    bitonic(buffer[0], n, 256, n / 2);
}
