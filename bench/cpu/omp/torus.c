/* Beside kernels/torus.knl. */
#include <stdint.h>

void omp_torus_heat(void *const *buffer, int64_t n)
{
    const float *restrict src = buffer[0];
    float *restrict dst = buffer[1];
#pragma omp parallel for schedule(static)
    for (int64_t y = 0; y < n; y++) {
        const float *up = src + (y > 0 ? y - 1 : n - 1) * n, *mid = src + y * n,
                    *down = src + (y < n - 1 ? y + 1 : 0) * n;
        float *restrict row = dst + y * n;
        row[0] = mid[0] + 0.1F * (up[0] + down[0] + mid[n - 1] + mid[1] - 4.0F * mid[0]);
#pragma omp simd
        for (int64_t x = 1; x < n - 1; x++)
            row[x] = mid[x] + 0.1F * (up[x] + down[x] + mid[x - 1] + mid[x + 1] - 4.0F * mid[x]);
        row[n - 1] =
            mid[n - 1] + 0.1F * (up[n - 1] + down[n - 1] + mid[n - 2] + mid[0] - 4.0F * mid[n - 1]);
    }
}

/* Rows above, at and below a place. */
typedef struct rows {
    const float *up, *mid, *down;
} rows;

static inline float laplacian(rows r, int64_t left, int64_t x, int64_t right)
{
    return r.up[x] + r.down[x] + r.mid[left] + r.mid[right] - 4.0F * r.mid[x];
}

static inline void react(rows u, rows v, float *u2, float *v2, int64_t left, int64_t x,
                         int64_t right)
{
    float a = u.mid[x], b = v.mid[x], reaction = a * b * b;
    u2[x] = a + 0.16F * laplacian(u, left, x, right) - reaction + 0.035F * (1.0F - a);
    v2[x] = b + 0.08F * laplacian(v, left, x, right) + reaction - 0.1F * b;
}

static rows rows_at(const float *a, int64_t y, int64_t n)
{
    return (rows){a + (y > 0 ? y - 1 : n - 1) * n, a + y * n, a + (y < n - 1 ? y + 1 : 0) * n};
}

void omp_torus_scott(void *const *buffer, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t y = 0; y < n; y++) {
        rows u = rows_at(buffer[0], y, n), v = rows_at(buffer[1], y, n);
        float *restrict u2 = (float *)buffer[2] + y * n;
        float *restrict v2 = (float *)buffer[3] + y * n;
        react(u, v, u2, v2, n - 1, 0, 1);
#pragma omp simd
        for (int64_t x = 1; x < n - 1; x++)
            react(u, v, u2, v2, x - 1, x, x + 1);
        react(u, v, u2, v2, n - 2, n - 1, 0);
    }
}
