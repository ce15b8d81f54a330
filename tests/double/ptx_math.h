/* Numbers that C has no operators for: halves, flushed subnormals, conversions with a rounding. */
#ifndef PTX_MATH_H
#define PTX_MATH_H

#include <math.h>
#include <string.h>

#include "ptx_impl.h"

static inline uint32_t ptx_flush_bits(uint32_t a)
{
    return a & 0x7f800000u ? a : a & 0x80000000u;
}

/* A subnormal's zero, of its sign. */
static inline float ptx_flush(float a)
{
    uint32_t bits;
    memcpy(&bits, &a, 4);
    bits = ptx_flush_bits(bits);
    memcpy(&a, &bits, 4);
    return a;
}

/* Of f16 and bf16 (which is f32's upper half); exact. A magnitude of f16 is read with f32's exponent, which is 2^112 less. */
static inline double ptx_from_half(uint16_t bits, bool bf16)
{
    uint32_t size = (bits & 0x7fffu) << (bf16 ? 16 : 13), sign = (bits & 0x8000u) << 16;
    bool finite = bf16 || size < 0x0f800000u;
    float value;
    size |= sign | (finite ? 0 : 0x7f800000u);
    memcpy(&value, &size, 4);
    return bf16 || !finite ? (double)value : (double)value * 0x1p112;
}
/* Rounded once, from the exact double. Overflow as IEEE has it; NaNs become 0x7fff. */
uint16_t ptx_to_half(double value, bool bf16, ptx_round round);
/* value * a + b of halves, rounded once. */
uint16_t ptx_half_fma(double a, double b, double c, bool bf16);

float ptx_min(float a, float b, bool nan);
float ptx_max(float a, float b, bool nan);

#endif
