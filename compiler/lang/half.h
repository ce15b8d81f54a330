/* f16 and bf16 on the host: numbers as bits, and rounded to them, once and to nearest even. */
#ifndef KJ_HALF_H
#define KJ_HALF_H

#include "lang/types.h"

double kj_half_read(kj_dtype type, uint16_t bits);
uint16_t kj_half_write(kj_dtype type, double v); /* NaN stays NaN, and quiet */
double kj_half_round(kj_dtype type, double v);
/* An integer, sign- or zero-extended to 64 bits. */
double kj_half_of_int(kj_dtype type, bool is_signed, uint64_t u);
double kj_half_fma(kj_dtype type, double a, double b, double c); /* of numbers of that type */
/* The number of that type next to x, towards y. */
double kj_half_next(kj_dtype type, double x, double y);

#endif
