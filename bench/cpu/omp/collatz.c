/* How often a number is halved, or tripled and one added, until it is 1: of vectors of numbers, of which those that
 * have come to 1 stay there. n is a multiple of 16. */
#include "omp.h"

enum { LANES = 16 };

static int step(int64_t v[LANES], int32_t count[LANES])
{
    int more = 0;
#pragma omp simd reduction(| : more)
    for (int j = 0; j < LANES; j++) {
        const int64_t at = v[j], next = (at & 1) == 0 ? at >> 1 : 3 * at + 1;
        count[j] += at != 1;
        v[j] = at != 1 ? next : 1;
        more |= v[j] != 1;
    }
    return more;
}

void omp_collatz(void *const *buffer, int64_t n)
{
    int32_t *restrict out = buffer[0];
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < n; i += LANES) {
        int64_t v[LANES];
        int32_t count[LANES] = {0};
        for (int j = 0; j < LANES; j++)
            v[j] = i + j + 1;
        while (step(v, count))
            ;
        for (int j = 0; j < LANES; j++)
            out[i + j] = count[j];
    }
}
