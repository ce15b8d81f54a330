/* Between the printing of arrays (format.c) and of single numbers (float_text.c). */
#ifndef KJ_FORMAT_H
#define KJ_FORMAT_H

#include "array/array.h"

enum { KJ_DIGITS = 48 };

/* d.ddd * 10**exponent; zero is the digit 0 with exponent 0. */
typedef struct kj_decimal {
    bool negative;
    int n, exponent;
    char digits[KJ_DIGITS];
} kj_decimal;

/* The fewest digits that read back as the finite v. */
void kj_shortest(double v, kj_dtype type, kj_decimal *d);
/* The same, but at most `precision` digits after the point, as written positionally (fractional; v
 * is 0 or at least 10**-precision) or in d.dd form. */
void kj_rounded(double v, kj_dtype type, int precision, bool fractional, kj_decimal *d);
/* The n digits nearest to v, trailing zeros and all. */
void kj_exact(double v, int n, kj_decimal *d);

/* "12.5", "3." and "1.25e+10", "1.e-05" with `fraction` digits; both give the length. */
int kj_decimal_positional(const kj_decimal *d, char *buf);
int kj_decimal_scientific(const kj_decimal *d, int fraction, int exponent_digits, char *buf);

#endif
