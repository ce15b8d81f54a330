/* What CUDA's functions of halves, integers and bytes give, in C: for foreign.c. */
#ifndef FOREIGN_H
#define FOREIGN_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

typedef uint32_t u32;

/* ---- Halves: of that many bits of fraction, 10 (f16) or 7 (bf16) ---- */

static inline u32 round_to(double v, int fraction)
{
    int bias = fraction == 10 ? 15 : 127, exponent = ilogb(v);
    u32 sign = signbit(v) ? 0x8000 : 0, infinite = fraction == 10 ? 0x7c00 : 0x7f80;
    if (v == 0)
        return sign;
    exponent = exponent < 1 - bias ? 1 - bias : exponent;
    u32 bits = (u32)(((exponent + bias - 1) << fraction) +
                     (int)nearbyint(ldexp(fabs(v), fraction - exponent)));
    return sign | (bits < infinite ? bits : infinite);
}

static inline double read_half(u32 h, int fraction)
{
    int bias = fraction == 10 ? 15 : 127, exponent = (int)((h & 0x7fff) >> fraction);
    double part = (double)(h & ((1u << fraction) - 1)) + (exponent ? 1 << fraction : 0);
    double v = ldexp(part, (exponent ? exponent : 1) - bias - fraction);
    return h & 0x8000 ? -v : v;
}

/* ---- Integers ---- */

static inline u32 pick_bytes(u32 a, u32 b, u32 selector)
{
    uint64_t bytes = (uint64_t)b << 32 | a;
    u32 r = 0;
    for (int k = 0; k < 4; k++)
        r |= (u32)(bytes >> (selector >> 4 * k & 7) * 8 & 255) << 8 * k;
    return r;
}

static inline u32 reversed(u32 a)
{
    u32 r = 0;
    for (int k = 0; k < 32; k++)
        r |= (a >> k & 1) << (31 - k);
    return r;
}

static inline int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static inline int32_t most(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Both halves of (max(a, b), not below 0) ^ (min(a, c), not below 0) ^ max of three without signs ^
 * max(a + b, c). */
static inline u32 of_halves(u32 a, u32 b, u32 c)
{
    u32 r = 0;
    for (int k = 0; k < 32; k += 16) {
        int16_t x = (int16_t)(a >> k), y = (int16_t)(b >> k), z = (int16_t)(c >> k);
        u32 larger = (uint16_t)x > (uint16_t)y ? (uint16_t)x : (uint16_t)y;
        u32 one = (u32)most(most(x, y), 0) ^ (u32)most(least(x, z), 0);
        one ^= larger > (uint16_t)z ? larger : (uint16_t)z;
        one ^= (u32)most((int16_t)(x + y), z);
        r |= (one & 0xffff) << k;
    }
    return r;
}

static inline u32 of_bytes(u32 a, u32 b, u32 c)
{
    u32 sum = (a >> 16) + (b >> 16), low = (a + b) & 0xffff, differences = 0;
    for (int k = 0; k < 32; k += 8)
        differences |= (u32)abs((int)(a >> k & 255) - (int)(b >> k & 255)) << k;
    int64_t far = (int64_t)(int)a - (int)b;
    return (u32)(far < 0 ? -far : far) + c + (sum << 16 | low) + differences;
}

static inline u32 dots(u32 a, u32 b, u32 c)
{
    u32 four = c, two = c;
    for (int k = 0; k < 32; k += 8)
        four += (u32)((int8_t)(a >> k) * (int8_t)(b >> k));
    for (int k = 0; k < 2; k++)
        two += (a >> 16 * k & 0xffff) * (b >> 8 * k & 255);
    return four + two;
}

static inline u32 third_bit(u32 a)
{
    a &= a - 1;
    a &= a - 1;
    return a ? (u32)__builtin_ctz(a) : ~0u;
}

static inline u32 signed24(u32 a)
{
    return (u32)((int32_t)(a << 8) >> 8);
}

#endif
