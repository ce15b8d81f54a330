/* n x n pictures of bytes. */
#include "omp.h"

void omp_picture_gray(void *const *buffer, int64_t n)
{
    const uint8_t *restrict rgb = buffer[0];
    uint8_t *restrict gray = buffer[1];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n * n; i++)
        gray[i] = (uint8_t)((77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8);
}

/* The quotients by 255 of two numbers of 16 bits, at most 255 * 255, without a division. */
static inline uint32_t by_255(uint32_t two)
{
    return (two + 0x10001 + (two >> 8 & 0xff00ff)) >> 8 & 0xff00ff;
}

/* Two colours at a time, in halves of a word. */
void omp_picture_blend(void *const *buffer, int64_t n)
{
    const uint32_t *restrict over = buffer[0], *restrict under = buffer[1];
    uint32_t *restrict out = buffer[2];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n * n; i++) {
        const uint32_t o = over[i], u = under[i], alpha = o >> 24;
        const uint32_t rb = by_255((o & 0xff00ff) * alpha + (u & 0xff00ff) * (255 - alpha));
        const uint32_t g = by_255((o >> 8 & 0xff) * alpha + (u >> 8 & 0xff) * (255 - alpha));
        out[i] = rb | g << 8 | 0xff000000;
    }
}

#define LESS(a, b) ((a) < (b) ? (a) : (b))
#define MORE(a, b) ((a) > (b) ? (a) : (b))
#define ORDER(a, b) \
    do { \
        const uint8_t less = LESS(a, b); \
        (b) = MORE(a, b); \
        (a) = less; \
    } while (0)

/* The columns' orders come first; then the largest of the least, the middle one of the middle and the least of the
 * largest have the median in their middle. */
void omp_picture_median(void *const *buffer, int64_t n)
{
    const uint8_t *restrict src = buffer[0];
    uint8_t *restrict dst = buffer[1];
#pragma omp parallel for schedule(static)
    for (int64_t y = 1; y < n - 1; y++)
#pragma omp simd
        for (int64_t x = 1; x < n - 1; x++) {
            const uint8_t *p = src + y * n + x;
            uint8_t a = p[-n - 1], b = p[-n], c = p[-n + 1], d = p[-1], e = p[0], f = p[1],
                    g = p[n - 1], h = p[n], i = p[n + 1];
            ORDER(b, c);
            ORDER(e, f);
            ORDER(h, i);
            ORDER(a, b);
            ORDER(d, e);
            ORDER(g, h);
            ORDER(b, c);
            ORDER(e, f);
            ORDER(h, i);
            d = MORE(a, d);
            g = MORE(d, g);
            f = LESS(f, i);
            c = LESS(c, f);
            ORDER(e, h);
            b = MORE(b, e);
            b = LESS(b, h);
            ORDER(b, c);
            b = MORE(g, b);
            dst[y * n + x] = LESS(b, c);
        }
}

static inline uint8_t next_state(const uint8_t *up, const uint8_t *mid, const uint8_t *down,
                                 int64_t left, int64_t x, int64_t right)
{
    const uint8_t alive = (uint8_t)(up[left] + up[x] + up[right] + mid[left] + mid[right] +
                                    down[left] + down[x] + down[right]);
    return (uint8_t)((alive == 3) | ((alive == 2) & mid[x]));
}

void omp_picture_life(void *const *buffer, int64_t n)
{
    const uint8_t *restrict src = buffer[0];
    uint8_t *restrict dst = buffer[1];
#pragma omp parallel for schedule(static)
    for (int64_t y = 0; y < n; y++) {
        const uint8_t *up = src + (y > 0 ? y - 1 : n - 1) * n, *mid = src + y * n,
                      *down = src + (y < n - 1 ? y + 1 : 0) * n;
        uint8_t *restrict row = dst + y * n;
        row[0] = next_state(up, mid, down, n - 1, 0, 1);
#pragma omp simd
        for (int64_t x = 1; x < n - 1; x++)
            row[x] = next_state(up, mid, down, x - 1, x, x + 1);
        row[n - 1] = next_state(up, mid, down, n - 2, n - 1, 0);
    }
}

void omp_picture_cells(void *const *buffer, int64_t n)
{
    const uint8_t *restrict src = buffer[0];
    uint8_t *restrict dst = buffer[1];
#pragma omp parallel for schedule(static)
    for (int64_t y = 1; y < n - 1; y++) {
        const uint8_t *mid = src + y * n;
        uint8_t *restrict row = dst + y * n;
#pragma omp simd
        for (int64_t x = 1; x < n - 1; x++)
            row[x] = next_state(mid - n, mid, mid + n, x - 1, x, x + 1);
    }
}
