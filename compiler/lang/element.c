/* Values as elements of arrays: their bytes in memory, read and written. */
#include <string.h>

#include "lang/half.h"

kj_value kj_value_read(const void *data, kj_dtype type, int64_t at)
{
    size_t size = kj_types[type].size;
    const char *from = (const char *)data + (size_t)at * size;
    if (type == KJ_F32) {
        float f;
        memcpy(&f, from, sizeof f);
        return kj_float(type, (double)f);
    }
    kj_value v = {.type = KJ_U64, .u = 0};
    uint8_t bytes[8];
    memcpy(bytes, from, size);
    if (type == KJ_F64) {
        memcpy(&v.f, bytes, sizeof v.f);
        v.type = type;
        return v;
    }
    uint64_t u8;
    uint32_t u4;
    uint16_t u2;
    if (size == 8)
        memcpy(&u8, bytes, 8), v.u = u8;
    else if (size == 4)
        memcpy(&u4, bytes, 4), v.u = u4;
    else if (size == 2)
        memcpy(&u2, bytes, 2), v.u = u2;
    else
        v.u = bytes[0];
    if (kj_is_half(type))
        return kj_float(type, kj_half_read(type, (uint16_t)v.u));
    return kj_fold_convert(v, type); /* extends the sign */
}

void kj_value_write(void *data, int64_t at, kj_value v)
{
    size_t size = kj_types[v.type].size;
    char *to = (char *)data + (size_t)at * size;
    float f = kj_is_float(v.type) ? (float)v.f : 0;
    uint32_t u4 = (uint32_t)v.u;
    uint64_t u8 = kj_is_half(v.type) ? kj_half_write(v.type, v.f) : v.u;
    uint16_t u2 = (uint16_t)u8;
    uint8_t u1 = (uint8_t)u8;
    const void *from = v.type == KJ_F32 ? (const void *)&f
                       : size == 8      ? (const void *)&u8
                       : size == 4      ? (const void *)&u4
                       : size == 2      ? (const void *)&u2
                                        : (const void *)&u1;
    memcpy(to, from, size);
}

kj_value kj_fold_bits(kj_value v, kj_dtype to)
{
    char bytes[8];
    kj_value_write(bytes, 0, v);
    return kj_value_read(bytes, to, 0);
}
