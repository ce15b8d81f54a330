/* The algorithms of a block, by the same steps: a loop over the block's threads each, one behind the other. */
#include <math.h>

#include "omp.h"

#define BLOCKS _Pragma("omp parallel for schedule(static)") for (int64_t b = 0; b < blocks; b++)

enum { PAIR = 512, TILE = 256, SHORT = 128 };

static void sums_of_pairs(float *s)
{
    int offset = 1;
    for (int d = PAIR / 2; d > 0; d /= 2, offset *= 2)
        for (int t = 0; t < d; t++)
            s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    s[PAIR - 1] = 0;
    for (int d = 1; d < PAIR; d *= 2) {
        offset /= 2;
        for (int t = 0; t < d; t++) {
            const int at = offset * (2 * t + 1) - 1, next = at + offset;
            const float left = s[at];
            s[at] = s[next];
            s[next] += left;
        }
    }
}

void omp_block_scan(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
    const int64_t blocks = n / PAIR;
    BLOCKS
    {
        float s[PAIR];
        for (int t = 0; t < PAIR; t++)
            s[t] = x[b * PAIR + t];
        sums_of_pairs(s);
        for (int t = 0; t < PAIR; t++)
            out[b * PAIR + t] = s[t];
    }
}

static void sums_by_last(float *s)
{
    for (int stride = 1; stride <= PAIR / 2; stride *= 2)
        for (int i = 2 * stride - 1; i < PAIR; i += 2 * stride)
            s[i] += s[i - stride];
    for (int stride = PAIR / 4; stride > 0; stride /= 2)
        for (int i = 2 * stride - 1; i + stride < PAIR; i += 2 * stride)
            s[i + stride] += s[i];
}

void omp_block_brent(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
    const int64_t blocks = n / PAIR;
    BLOCKS
    {
        float s[PAIR];
        for (int t = 0; t < PAIR; t++)
            s[t] = x[b * PAIR + t];
        sums_by_last(s);
        for (int t = 0; t < PAIR; t++)
            out[b * PAIR + t] = s[t];
    }
}

void omp_block_hillis(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
    const int64_t blocks = n / TILE;
    BLOCKS
    {
        float s[2][TILE];
        int to = 0;
        for (int t = 0; t < TILE; t++)
            s[0][t] = x[b * TILE + t];
        for (int offset = 1; offset < TILE; offset *= 2) {
            to = 1 - to;
            for (int t = 0; t < offset; t++)
                s[to][t] = s[1 - to][t];
            for (int t = offset; t < TILE; t++)
                s[to][t] = s[1 - to][t] + s[1 - to][t - offset];
        }
        for (int t = 0; t < TILE; t++)
            out[b * TILE + t] = s[to][t];
    }
}

void omp_block_halves(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
    const int64_t blocks = n / TILE;
    BLOCKS
    {
        float s[TILE];
        for (int t = 0; t < TILE; t++)
            s[t] = x[b * TILE + t];
        for (int half = TILE / 2; half > 0; half /= 2)
            for (int t = 0; t < half; t++)
                s[t] += s[t + half];
        out[b] = s[0];
    }
}

void omp_block_pairs(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
    const int64_t blocks = n / TILE;
    BLOCKS
    {
        float s[TILE];
        for (int t = 0; t < TILE; t++)
            s[t] = x[b * TILE + t];
        for (int stride = 1; stride < TILE; stride *= 2)
            for (int i = 0; i < TILE; i += 2 * stride)
                s[i] += s[i + stride];
        out[b] = s[0];
    }
}

/* The lesser one of two to the front, or to the back. */
static void exchange(int32_t *restrict s, int at, int next, int up)
{
    const int32_t a = s[at], b = s[next], less = a < b ? a : b, more = a < b ? b : a;
    s[at] = up ? less : more;
    s[next] = up ? more : less;
}

void omp_block_bitonic(void *const *buffer, int64_t n)
{
    const int32_t *restrict x = buffer[0];
    int32_t *restrict out = buffer[1];
    const int64_t blocks = n / PAIR;
    BLOCKS
    {
        int32_t s[PAIR];
        for (int t = 0; t < PAIR; t++)
            s[t] = x[b * PAIR + t];
        for (int size = 2; size <= PAIR; size *= 2)
            for (int stride = size / 2; stride > 0; stride /= 2)
                for (int t = 0; t < PAIR / 2; t++) {
                    const int at = 2 * t - (t & (stride - 1));
                    exchange(s, at, at + stride, (t & (size / 2)) == 0);
                }
        for (int t = 0; t < PAIR; t++)
            out[b * PAIR + t] = s[t];
    }
}

void omp_block_partner(void *const *buffer, int64_t n)
{
    const int32_t *restrict x = buffer[0];
    int32_t *restrict out = buffer[1];
    const int64_t blocks = n / TILE;
    BLOCKS
    {
        int32_t s[TILE];
        for (int t = 0; t < TILE; t++)
            s[t] = x[b * TILE + t];
        for (int k = 2; k <= TILE; k *= 2)
            for (int j = k / 2; j > 0; j /= 2)
                for (int t = 0; t < TILE; t++)
                    if ((t ^ j) > t)
                        exchange(s, t, t ^ j, (t & k) == 0);
        for (int t = 0; t < TILE; t++)
            out[b * TILE + t] = s[t];
    }
}

void omp_block_neighbours(void *const *buffer, int64_t n)
{
    const int32_t *restrict x = buffer[0];
    int32_t *restrict out = buffer[1];
    const int64_t blocks = n / SHORT;
    BLOCKS
    {
        int32_t s[SHORT];
        for (int t = 0; t < SHORT; t++)
            s[t] = x[b * SHORT + t];
        for (int turn = 0; turn < SHORT; turn++)
            for (int t = turn % 2; t + 1 < SHORT; t += 2)
                exchange(s, t, t + 1, 1);
        for (int t = 0; t < SHORT; t++)
            out[b * SHORT + t] = s[t];
    }
}

void omp_block_turns(void *const *buffer, int64_t n)
{
    const int32_t *restrict x = buffer[0];
    int32_t *restrict out = buffer[1];
    const int64_t blocks = n / TILE;
    BLOCKS
    {
        int32_t s[TILE];
        for (int t = 0; t < TILE; t++)
            s[t] = x[b * TILE + t];
        for (int turn = 0; turn < TILE; turn++)
            for (int i = turn % 2; i + 1 < TILE; i += 2)
                exchange(s, i, i + 1, 1);
        for (int t = 0; t < TILE; t++)
            out[b * TILE + t] = s[t];
    }
}

/* Of each 8 x 8 of an image with sides of n. */
void omp_block_dct(void *const *buffer, int64_t n)
{
    const float *restrict x = buffer[0];
    float *restrict out = buffer[1];
    float c[8][8];
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < 8; i++)
            c[k][i] = (k == 0 ? 0.35355339F : 0.5F) * cosf((float)((2 * i + 1) * k) * 0.19634954F);
    const int64_t blocks = n / 8 * (n / 8);
    BLOCKS
    {
        const int64_t base = b / (n / 8) * 8 * n + b % (n / 8) * 8;
        float half[8][8];
        for (int y = 0; y < 8; y++)
            for (int i = 0; i < 8; i++) {
                float sum = 0;
                for (int k = 0; k < 8; k++)
                    sum += c[y][k] * x[base + k * n + i];
                half[y][i] = sum;
            }
        for (int y = 0; y < 8; y++)
            for (int i = 0; i < 8; i++) {
                float sum = 0;
                for (int k = 0; k < 8; k++)
                    sum += half[y][k] * c[i][k];
                out[base + y * n + i] = sum;
            }
    }
}
