/* f16 and bf16 on the host.
 *
 * What does not fit is first rounded to odd: of the two neighbours to the one whose last bit is
 * set. Two bits more than the result has are then enough to round that to nearest as if it were
 * exact. */
#include "lang/half.h"

#include <math.h>
#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

static uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static float single_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* The bits of v as an f32, rounded to odd. */
static uint32_t odd_single(double v)
{
    uint32_t bits = bits_of((float)v);
    double back = (double)single_of(bits);
    if (!isnan(v) && back != v && !(bits & 1))
        bits += fabs(back) < fabs(v) ? 1 : UINT32_MAX;
    return bits;
}

static uint32_t to_f16(uint32_t size)
{
    if (size > 0x7f800000)
        return 0x7e00;
    if (size >= bits_of(0x1p16f))
        return 0x7c00;
    if (size < bits_of(0x1p-14f)) /* the unit of 0.5 is that of subnormal numbers */
        return bits_of(single_of(size) + 0.5f) - bits_of(0.5f);
    return (size + 0xfff + (size >> 13 & 1) - (112u << 23)) >> 13;
}

static uint32_t to_bf16(uint32_t size)
{
    if (size > 0x7f800000)
        return size >> 16 | 0x40;
    return (size + 0x7fff + (size >> 16 & 1)) >> 16;
}

uint16_t kj_half_write(kj_dtype type, double v)
{
    uint32_t bits = odd_single(v), size = bits & INT32_MAX;
    return (uint16_t)((bits >> 16 & 0x8000) | (type == KJ_F16 ? to_f16(size) : to_bf16(size)));
}

double kj_half_read(kj_dtype type, uint16_t bits)
{
    if (type == KJ_BF16)
        return (double)single_of((uint32_t)bits << 16);
    int exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    double size = exponent == 31  ? (fraction ? NAN : INFINITY)
                  : exponent == 0 ? ldexp(fraction, -24)
                                  : ldexp(1024 + fraction, exponent - 25);
    return bits & 0x8000 ? -size : size;
}

double kj_half_round(kj_dtype type, double v)
{
    return kj_half_read(type, kj_half_write(type, v));
}

double kj_half_of_int(kj_dtype type, bool is_signed, uint64_t u)
{
    bool negative = is_signed && (int64_t)u < 0;
    uint64_t size = negative ? 0 - u : u;
    if (size >> 53) /* a bit for all that a double does not hold */
        size = (size & ~(uint64_t)0xfff) | (size & 0xfff ? 0x800 : 0);
    return kj_half_round(type, negative ? -(double)size : (double)size);
}

double kj_half_fma(kj_dtype type, double a, double b, double c)
{
    double product = a * b, sum = product + c; /* the product is exact */
    double part = sum - product, rest = (product - (sum - part)) + (c - part);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (isfinite(sum) && rest != 0 && !(bits & 1))
        bits += (rest > 0) == (sum > 0) ? 1 : UINT64_MAX;
    memcpy(&sum, &bits, sizeof bits);
    return kj_half_round(type, sum);
}

double kj_half_next(kj_dtype type, double x, double y)
{
    if (isnan(x) || isnan(y))
        return x + y;
    if (x == y)
        return y;
    uint16_t bits = kj_half_write(type, x);
    if (x == 0)
        return copysign(kj_half_read(type, 1), y);
    return kj_half_read(type, (uint16_t)(bits + ((x < y) == (x > 0) ? 1 : -1)));
}
