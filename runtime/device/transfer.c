/* Transfers (copies) between host addresses, of any layouts and strides. */
#include <string.h>

#include "device/device.h"

const char *kj_transfer_name(const kj_transfer *t)
{
    static const char *const names[2][2] = {{"host to host", "host to device"},
                                            {"device to host", "device to device"}};
    return names[!kj_host_works(t->src_memory)][!kj_host_works(t->dst_memory)];
}

#define ROW_OF(type) \
    for (int64_t i = 0; i < n; i++) { \
        type v; \
        memcpy(&v, src + i * ss, sizeof v); \
        memcpy(dst + i * ds, &v, sizeof v); \
    }

static void copy_row(char *dst, int64_t ds, const char *src, int64_t ss, int64_t n, size_t size)
{
    if (ds == (int64_t)size && ss == (int64_t)size) {
        memmove(dst, src, (size_t)n * size);
        return;
    }
    switch (size) {
    case 1: ROW_OF(uint8_t) break;
    case 2: ROW_OF(uint16_t) break;
    case 4: ROW_OF(uint32_t) break;
    default: ROW_OF(uint64_t) break;
    }
}

/* Two inner axes by tiles: a transpose then reads and writes whole cache lines. */
static void copy_plane(char *dst, const char *src, const int64_t *shape, const int64_t *ds,
                       const int64_t *ss, size_t size)
{
    enum { TILE = 32 };
    if (ds[1] == (int64_t)size && ss[1] == (int64_t)size) {
        for (int64_t i = 0; i < shape[0]; i++)
            copy_row(dst + i * ds[0], ds[1], src + i * ss[0], ss[1], shape[1], size);
        return;
    }
    for (int64_t i = 0; i < shape[0]; i += TILE) {
        int64_t rows = shape[0] - i < TILE ? shape[0] - i : TILE;
        for (int64_t j = 0; j < shape[1]; j += TILE) {
            int64_t cols = shape[1] - j < TILE ? shape[1] - j : TILE;
            for (int64_t r = i; r < i + rows; r++)
                copy_row(dst + r * ds[0] + j * ds[1], ds[1], src + r * ss[0] + j * ss[1], ss[1],
                         cols, size);
        }
    }
}

static void copy_axes(const kj_transfer *t, int axis, char *dst, const char *src)
{
    int left = t->ndim - axis;
    if (left == 0)
        memmove(dst, src, t->size);
    else if (left == 1)
        copy_row(dst, t->dst_stride[axis], src, t->src_stride[axis], t->shape[axis], t->size);
    else if (left == 2)
        copy_plane(dst, src, t->shape + axis, t->dst_stride + axis, t->src_stride + axis, t->size);
    else
        for (int64_t i = 0; i < t->shape[axis]; i++)
            copy_axes(t, axis + 1, dst + i * t->dst_stride[axis], src + i * t->src_stride[axis]);
}

bool kj_transfer_is_row(const kj_transfer *t, size_t *bytes)
{
    *bytes = t->size;
    if (t->ndim == 0)
        return true;
    *bytes *= (size_t)t->shape[0];
    return t->ndim == 1 && t->dst_stride[0] == (int64_t)t->size &&
           t->src_stride[0] == (int64_t)t->size;
}

void kj_transfer_run(const kj_transfer *t)
{
    copy_axes(t, 0, t->dst, t->src);
}
