/* Numbers of base 2 as decimal digits and back, in integers: many times as fast as the C library, which stays for what is not decided
 * here. No locale and no rounding mode matters. */
#ifndef KJ_DECIMAL_H
#define KJ_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

/* The whole number digits * 10**exponent. */
typedef struct kj_digits {
    uint64_t digits;
    int exponent;
} kj_digits;

/* The fewest digits, and of these the nearest, that read back as c * 2**q, c > 0, where the neighbours are (c - 1) * 2**q, or
 * half as far away if `edge`, and (c + 1) * 2**q. The numbers are those of a binary64 or of a type with fewer; zeros may end them. */
kj_digits kj_digits_shortest(uint64_t c, int q, bool edge);

/* The n decimal digits nearest to c * 2**q, 10**(n - 1) to 10**n - 1, n at most 17. False where it lies so near to the middle of two
 * that only the exact number tells, or n is out of range. */
bool kj_digits_nearest(uint64_t c, int q, int n, kj_digits *out);

/* d as c * 2**q, rounded to c of `bits` (at most 62), the first of which is 1: d.digits > 0. False as above. */
bool kj_digits_binary(kj_digits d, int bits, uint64_t *c, int *q);

#endif
