/* Decimal digits and binary numbers. The fewest digits are found as in "The Schubfach way to render doubles" (Raffaello Giulietti,
 * 2020): the ends of the interval that reads back as the number are scaled by one power of ten, in 128 bits rounded so that
 * comparisons with whole numbers are exact. Elsewhere a product that lies too near to a limit is not decided. */
#include "base/decimal.h"

__extension__ typedef unsigned __int128 product;

/* A power of ten's first 128 bits, of which the first is 1; the rest is cut off. */
typedef struct power {
    uint64_t high, low;
    bool exact; /* nothing was */
} power;

enum { STEP = 27, LEAST = -342, MOST = 342, FIRST = -351 }; /* 5**STEP is less than 2**64 */

/* 10**FIRST, 10**(FIRST + STEP), ...: the first 192 bits. */
static const uint64_t steps[][3] = {
    {0x8049a4ac0c5811ae, 0x205b896d777d6278, 0xac261e9f5141430b}, /* -351 */
    {0xcf42894a5dce35ea, 0x52064cac828675b9, 0x475f2b7d7df1ad7a}, /* -324 */
    {0xa76c582338ed2621, 0xaf2af2b80af6f24e, 0x657c8f4d43323a36}, /* -297 */
    {0x873e4f75e2224e68, 0x5a7744a6e804a291, 0xcc35eddfcf0996d7}, /* -270 */
    {0xda7f5bf590966848, 0xaf39a475506a899e, 0xa30294cc2934e662}, /* -243 */
    {0xb080392cc4349dec, 0xbd8d794d96aacfb3, 0xfe13a5c86af64418}, /* -216 */
    {0x8e938662882af53e, 0x547eb47b7282ee9c, 0x41b0230e1421487d}, /* -189 */
    {0xe65829b3046b0afa, 0x0cb4a5a3112a5112, 0xa3b561b1cb208396}, /* -162 */
    {0xba121a4650e4ddeb, 0x92f34d62616ce413, 0x21a0183e10583cd3}, /* -135 */
    {0x964e858c91ba2655, 0x3a6a07f8d510f86f, 0xe9082f25e9c5e9ec}, /* -108 */
    {0xf2d56790ab41c2a2, 0xfae27299423fb9c3, 0x3695dad7e8858901}, /* -81 */
    {0xc428d05aa4751e4c, 0xaa97e14c3c26b886, 0x96842dc95323f5a8}, /* -54 */
    {0x9e74d1b791e07e48, 0x775ea264cf55347d, 0xca49f1c05120c9c7}, /* -27 */
    {0x8000000000000000, 0x0000000000000000, 0x0000000000000000}, /* 0 */
    {0xcecb8f27f4200f3a, 0x0000000000000000, 0x0000000000000000}, /* 27 */
    {0xa70c3c40a64e6c51, 0x999090b65f67d924, 0x0000000000000000}, /* 54 */
    {0x86f0ac99b4e8dafd, 0x69a028bb3ded71a3, 0xdf9f915627c04e28}, /* 81 */
    {0xda01ee641a708de9, 0xe80e6f4820cc9495, 0xd74baad03bc1d8d3}, /* 108 */
    {0xb01ae745b101e9e4, 0x5ec05dcff72e7f8f, 0xc04c79ffe324301f}, /* 135 */
    {0x8e41ade9fbebc27d, 0x14588f13be847307, 0x23bd6a2059c002f5}, /* 162 */
    {0xe5d3ef282a242e81, 0x8f1668c8a86da5fa, 0xf0b5ccf5176ecc7c}, /* 189 */
    {0xb9a74a0637ce2ee1, 0x6d953e2bd7173692, 0x88efb0037ac08bde}, /* 216 */
    {0x95f83d0a1fb69cd9, 0x4abdaf101564f98e, 0x0d5a4af7b3a98e47}, /* 243 */
    {0xf24a01a73cf2dccf, 0xbc633b39673c8cec, 0x3d9c44cd2f36917c}, /* 270 */
    {0xc3b8358109e84f07, 0x0a862f80ec4700c8, 0x02606ea01029dc37}, /* 297 */
    {0x9e19db92b4e31ba9, 0x6c07a2c26a8346d1, 0x4944d9f52cd0dec2}, /* 324 */
};

/* floor(log2(10**k)) */
static int bits_of_power(int k)
{
    return (int)(((int64_t)k * 1741647) >> 19);
}

/* floor(log10(2**q)), or of three quarters of it */
static int tens_of_power(int q, bool three_quarters)
{
    return (int)(((int64_t)q * 1262611 - (three_quarters ? 524031 : 0)) >> 22);
}

/* 192 bits of a step, times a power of five: enough that the first 128 of the product are those of 10**k, for each k. */
static power power_of_ten(int k)
{
    int step = (k - FIRST) / STEP, rest = (k - FIRST) % STEP;
    const uint64_t *s = steps[step];
    uint64_t five = 1;
    for (uint64_t base = 5; rest; rest >>= 1, base *= base)
        five *= rest & 1 ? base : 1;
    product low = (product)s[2] * five;
    product middle = (product)s[1] * five + (uint64_t)(low >> 64);
    product high = (product)s[0] * five + (uint64_t)(middle >> 64);
    int spare = __builtin_clzll((uint64_t)(high >> 64) | !(high >> 64)) + !(high >> 64);
    high = high << spare | (uint64_t)middle >> (64 - spare);
    return (power){
        .high = (uint64_t)(high >> 64), .low = (uint64_t)high, .exact = k >= 0 && k <= 55};
}

static power rounded_up(power p)
{
    if (p.exact)
        return p;
    p.low++;
    p.high += p.low == 0;
    return p;
}

/* floor(p * x / 2**128), the last bit being set where that is not exact. p is the power rounded up: a fraction that it alone
 * makes is less than 2 / 2**64. */
static uint64_t scaled(power p, uint64_t x)
{
    product low = (product)p.low * x;
    product high = (product)p.high * x + (uint64_t)(low >> 64);
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

kj_digits kj_digits_shortest(uint64_t c, int q, bool edge)
{
    bool even = c % 2 == 0;
    int k = tens_of_power(q, edge);
    int h = q + bits_of_power(-k) + 1;
    power p = rounded_up(power_of_ten(-k));
    uint64_t least = scaled(p, (4 * c - 2 + edge) << h) + !even; /* in quarters */
    uint64_t value = scaled(p, (4 * c) << h);
    uint64_t most = scaled(p, (4 * c + 2) << h) - !even;
    uint64_t s = value / 4;
    if (s >= 10) {
        uint64_t tens = s / 10;
        bool below = least <= 40 * tens, above = 40 * tens + 40 <= most;
        if (below != above)
            return (kj_digits){.digits = tens + above, .exponent = k + 1};
    }
    bool below = least <= 4 * s, above = 4 * s + 4 <= most;
    bool up = value > 4 * s + 2 || (value == 4 * s + 2 && (s & 1));
    return (kj_digits){.digits = s + (below != above ? above : up), .exponent = k};
}

/* x, whose first bit is 1, times 10**k: the first 128 bits, and how many come behind. The exact product is less than 3 of the
 * last of these larger. */
static product times_power(uint64_t x, int k, int *behind)
{
    power p = power_of_ten(k);
    product low = (product)p.low * x;
    product high = (product)p.high * x + (uint64_t)(low >> 64);
    *behind = 64 + bits_of_power(k) - 127;
    if (high >> 127)
        return high;
    --*behind;
    return high << 1 | ((uint64_t)low >> 63);
}

/* The number of `bits` that x begins with, rounded; false where what is cut off may be half of the last bit, or all of it. */
static bool round_off(product x, int bits, uint64_t *out)
{
    enum { SHORT = 3 }; /* x is less than this too small */
    int cut = 128 - bits;
    product half = (product)1 << (cut - 1), rest = x & ((half << 1) - 1);
    if ((rest <= half && rest + SHORT >= half) || rest + SHORT >= half << 1)
        return false;
    *out = (uint64_t)(x >> cut) + (rest > half);
    return true;
}

static uint64_t ten_to(int n)
{
    uint64_t ten = 1;
    for (int i = 0; i < n; i++)
        ten *= 10;
    return ten;
}

bool kj_digits_nearest(uint64_t c, int q, int n, kj_digits *out)
{
    if (n < 1 || n > 17)
        return false;
    int shift = __builtin_clzll(c);
    c <<= shift;
    q -= shift;
    int exponent = tens_of_power(q + 63, false); /* of the first digit; perhaps one less */
    for (int i = 0; i < 2; i++, exponent++) {
        int k = n - 1 - exponent, behind;
        uint64_t digits;
        if (k < LEAST || k > MOST)
            return false;
        product x = times_power(c, k, &behind);
        int bits = 128 + behind + q; /* before the point */
        if (bits < 1 || bits > 63 || !round_off(x, bits, &digits))
            return false;
        if (digits < ten_to(n)) {
            *out = (kj_digits){.digits = digits, .exponent = -k};
            return digits >= ten_to(n - 1);
        }
    }
    return false;
}

bool kj_digits_binary(kj_digits d, int bits, uint64_t *c, int *q)
{
    if (d.exponent < LEAST || d.exponent > MOST)
        return false;
    int shift = __builtin_clzll(d.digits), behind;
    product x = times_power(d.digits << shift, d.exponent, &behind);
    if (!round_off(x, bits, c))
        return false;
    *q = behind - shift + 128 - bits;
    if (*c >> bits) { /* rounded up to a power of two */
        *c >>= 1;
        ++*q;
    }
    return true;
}
