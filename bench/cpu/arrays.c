/* The arrays of the cases: memory, what is in it at first, and their elements as numbers. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"

int64_t bench_elements(const bench_buffer *b)
{
    int64_t n = b->shape[0];
    for (int i = 1; i < MAX_AXES && b->shape[i] > 0; i++)
        n *= b->shape[i];
    return n;
}

size_t bench_bytes(const bench_buffer *b)
{
    return (size_t)bench_elements(b) * kjit_dtype_size(b->dtype);
}

double bench_traffic(const bench_case *c)
{
    static const int ways[] = {
        [BENCH_IN] = 1, [BENCH_OUT] = 1, [BENCH_INOUT] = 2, [BENCH_SCRATCH] = 0};
    double bytes = 0;
    for (int i = 0; i < MAX_BUFFERS; i++)
        bytes += ways[c->buffers[i].role] * (double)bench_bytes(&c->buffers[i]);
    return bytes;
}

/* Large pages where the system has them: page walks would cost every side more than the work of the 1-D cases. */
void *bench_allocate(size_t bytes)
{
    const size_t page = (size_t)1 << 21, size = (bytes + page - 1) / page * page;
    void *p = aligned_alloc(page, size);
    if (p == NULL)
        return NULL;
    madvise(p, size, MADV_HUGEPAGE); /* only advice */
    memset(p, 0, size);
    return p;
}

/* ---- What is in them ---- */

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state;
}

/* Of a positive number in [2^-15, 1) the bits as f16, rounded towards 0; 0 of less. */
static uint16_t to_half(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    const uint32_t exponent = bits >> 23;
    return exponent < 113 ? 0 : (uint16_t)((exponent - 112) << 10 | (bits >> 13 & 0x3ff));
}

static float from_half(uint16_t h)
{
    const uint32_t exponent = h >> 10 & 31, fraction = h & 0x3ff;
    const uint32_t bits = (uint32_t)(h & 0x8000) << 16 |
                          (exponent == 0 ? 0 : (exponent + 112) << 23 | fraction << 13);
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static void randomise(const bench_buffer *b, void *data, uint32_t state)
{
    const int64_t n = bench_elements(b);
    for (int64_t i = 0; i < n; i++) {
        const uint32_t bits = next(&state);
        const float unit = (float)(bits >> 8) / 16777216.0F;
        switch (b->dtype) {
        case KJIT_F32: ((float *)data)[i] = unit; break;
        case KJIT_F64: ((double *)data)[i] = (double)unit; break;
        case KJIT_F16: ((uint16_t *)data)[i] = to_half(unit); break;
        case KJIT_U8: ((uint8_t *)data)[i] = (uint8_t)(bits >> 24); break;
        case KJIT_I32: ((int32_t *)data)[i] = (int32_t)(bits >> 1); break;
        default: ((int64_t *)data)[i] = (int64_t)bits << 24; break;
        }
    }
}

void bench_fill_buffer(const bench_case *c, int i, void *data)
{
    const bench_buffer *b = &c->buffers[i];
    if (b->fill != NULL)
        b->fill(data, bench_elements(b), c->size);
    else
        randomise(b, data, (uint32_t)(i + 1) * 0x9e3779b9U + 1);
}

/* Bytes: a third of them 1, the others 0. */
void bench_bits(void *data, int64_t n, int64_t size)
{
    (void)size;
    uint32_t state = 7;
    for (int64_t i = 0; i < n; i++)
        ((uint8_t *)data)[i] = (next(&state) >> 8) % 3 == 0;
}

/* Random indices below the size, of i32 as those that follow. */
void bench_places(void *data, int64_t n, int64_t size)
{
    uint32_t state = 11;
    for (int64_t i = 0; i < n; i++)
        ((int32_t *)data)[i] = (int32_t)((uint64_t)next(&state) * (uint64_t)size >> 32);
}

/* All indices below n, in random order. */
void bench_order(void *data, int64_t n, int64_t size)
{
    (void)size;
    int32_t *order = data;
    uint32_t state = 13;
    for (int64_t i = 0; i < n; i++) {
        const int64_t j = (int64_t)((uint64_t)next(&state) * (uint64_t)(i + 1) >> 32);
        order[i] = order[j];
        order[j] = (int32_t)i;
    }
}

/* Where each of n - 1 rows of 8 to 24 elements begins, and the last ends, 16 a row together. */
void bench_offsets(void *data, int64_t n, int64_t size)
{
    (void)size;
    int32_t *offsets = data;
    for (int64_t i = 0; i < n; i++)
        offsets[i] = (int32_t)(16 * i + (i % 2 != 0 && i < n - 1 ? i * 7 % 17 - 8 : 0));
}

/* ---- Their elements ---- */

double bench_element(kjit_dtype dtype, const void *data, int64_t i)
{
    switch (dtype) {
    case KJIT_F32: return (double)((const float *)data)[i];
    case KJIT_F64: return ((const double *)data)[i];
    case KJIT_F16: return (double)from_half(((const uint16_t *)data)[i]);
    case KJIT_U8: return ((const uint8_t *)data)[i];
    case KJIT_I32: return ((const int32_t *)data)[i];
    default: return (double)((const int64_t *)data)[i];
    }
}
