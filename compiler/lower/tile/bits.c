/* Builtins that take numbers apart: the bits of integers; sign, exponent and fraction of floats.
 * All are exact, or rounded once, in the operations of tiles. */
#include "lower/tile/tile.h"

#include <math.h>

/* ---- Integers ---- */

/* Counts of zeros, in `bits` for 0. */
static kj_tile count_zeros(kj_lower *lo, const char *name, kj_tile a)
{
    kj_tile out = kj_tile_like(a.type, a.rows, a.lanes);
    LLVMTypeRef type = kj_vec(lo, a.type, a.lanes);
    for (int r = 0; r < a.rows; r++) {
        LLVMValueRef args[2] = {kj_tile_vector(lo, a, r, a.lanes), LLVMConstInt(lo->i1, 0, false)};
        out.v[r] = kj_intrinsic(lo, name, &type, 1, args, 2);
    }
    kj_bound(&out, 0, kj_types[a.type].bits);
    return out;
}

kj_tile kj_lower_clz(kj_lower *lo, kj_tile a)
{
    return count_zeros(lo, "llvm.ctlz", a);
}

kj_tile kj_lower_ffs(kj_lower *lo, kj_tile a)
{
    kj_tile zero = kj_tile_const(lo, kj_int(a.type, 0)), one = kj_tile_const(lo, kj_int(a.type, 1));
    kj_tile place = kj_tile_binary(lo, KJ_OP_ADD, count_zeros(lo, "llvm.cttz", a), one);
    return kj_tile_select(lo, kj_tile_binary(lo, KJ_OP_EQ, a, zero), zero, place);
}

/* ---- Floats ---- */

/* How a type's bits lie: below the sign the exponent, `bias` for 1, and the fraction. */
typedef struct format {
    kj_dtype bits;
    int fraction, bias;
} format;

static format format_of(kj_dtype type)
{
    switch (type) {
    case KJ_F16: return (format){KJ_I16, 10, 15};
    case KJ_BF16: return (format){KJ_I16, 7, 127};
    case KJ_F32: return (format){KJ_I32, 23, 127};
    default: return (format){KJ_I64, 52, 1023};
    }
}

static kj_tile real(kj_lower *lo, kj_dtype type, double x)
{
    return kj_tile_const(lo, kj_float(type, x));
}

static kj_tile integer(kj_lower *lo, kj_dtype type, int64_t i)
{
    return kj_tile_const(lo, kj_int(type, i));
}

static kj_tile with_sign(kj_lower *lo, kj_tile a, kj_tile sign)
{
    return kj_tile_intrinsic(lo, "llvm.copysign", (kj_tile[]){a, sign}, 2);
}

static kj_tile magnitude(kj_lower *lo, kj_tile a)
{
    return kj_tile_intrinsic(lo, "llvm.fabs", &a, 1);
}

kj_tile kj_lower_modf(kj_lower *lo, int part, kj_tile x)
{
    kj_tile whole = kj_tile_intrinsic(lo, "llvm.trunc", &x, 1);
    if (part == 1)
        return whole;
    kj_tile infinite = kj_tile_binary(lo, KJ_OP_EQ, magnitude(lo, x), real(lo, x.type, INFINITY));
    kj_tile rest = kj_tile_binary(lo, KJ_OP_SUB, x, whole);
    return with_sign(lo, kj_tile_select(lo, infinite, real(lo, x.type, 0), rest), x);
}

kj_tile kj_lower_frexp(kj_lower *lo, int part, kj_tile x)
{
    format f = format_of(x.type);
    int64_t one = (int64_t)1 << f.fraction;
    kj_tile size = magnitude(lo, x), zero = real(lo, x.type, 0);
    kj_tile subnormal = kj_tile_binary(lo, KJ_OP_LT, size, real(lo, x.type, ldexp(1, 1 - f.bias)));
    kj_tile scaled = kj_tile_binary(lo, KJ_OP_MUL, x, real(lo, x.type, (double)one));
    kj_tile bits = kj_tile_recast(lo, kj_tile_select(lo, subnormal, scaled, x), f.bits);
    kj_tile usual = kj_tile_binary(lo, KJ_OP_AND,
                                   kj_tile_binary(lo, KJ_OP_LT, size, real(lo, x.type, INFINITY)),
                                   kj_tile_binary(lo, KJ_OP_NE, x, zero));
    if (part == 0) {
        /* the exponent's field for [0.5, 1) in place of its own */
        int64_t half = (f.bias - 1) * one, field = (2 * (int64_t)f.bias + 1) * one;
        bits = kj_tile_binary(lo, KJ_OP_AND, bits, integer(lo, f.bits, ~field));
        bits = kj_tile_binary(lo, KJ_OP_OR, bits, integer(lo, f.bits, half));
        return kj_tile_select(lo, usual, kj_tile_recast(lo, bits, x.type), x);
    }
    kj_tile e = kj_tile_binary(lo, KJ_OP_SHR, bits, integer(lo, f.bits, f.fraction));
    e = kj_tile_binary(lo, KJ_OP_AND, e, integer(lo, f.bits, 2 * (int64_t)f.bias + 1));
    e = kj_tile_convert(lo, e, KJ_I32);
    kj_tile less = kj_tile_select(lo, subnormal, integer(lo, KJ_I32, f.bias - 1 + f.fraction),
                                  integer(lo, KJ_I32, f.bias - 1));
    e = kj_tile_binary(lo, KJ_OP_SUB, e, less);
    return kj_tile_select(lo, usual, e, integer(lo, KJ_I32, 0));
}

/* Multiplies x by 2^step and takes the step off e where e is beyond `limit` (below it, for steps
 * downwards). */
static void scale_step(kj_lower *lo, kj_tile *x, kj_tile *e, int limit, int step)
{
    kj_tile beyond =
        kj_tile_binary(lo, step > 0 ? KJ_OP_GT : KJ_OP_LT, *e, integer(lo, KJ_I32, limit));
    kj_tile scaled = kj_tile_binary(lo, KJ_OP_MUL, *x, real(lo, x->type, ldexp(1, step)));
    kj_tile rest = kj_tile_binary(lo, KJ_OP_SUB, *e, integer(lo, KJ_I32, step));
    *x = kj_tile_select(lo, beyond, scaled, *x);
    *e = kj_tile_select(lo, beyond, rest, *e);
}

/* Powers of two, as many as it takes. A step downwards is one fraction short of the least exponent:
 * what it leaves is rounded only where the rest gives 0. */
kj_tile kj_lower_ldexp(kj_lower *lo, kj_tile x, kj_tile e)
{
    format f = format_of(x.type);
    int most = f.bias, least = 1 - f.bias;
    for (int i = 0; i < 2; i++) {
        scale_step(lo, &x, &e, most, most);
        scale_step(lo, &x, &e, least, least + f.fraction + 1);
    }
    e = kj_lower_min(lo, e, integer(lo, KJ_I32, most), false);
    e = kj_lower_min(lo, e, integer(lo, KJ_I32, least), true);
    e = kj_tile_convert(lo, kj_tile_binary(lo, KJ_OP_ADD, e, integer(lo, KJ_I32, most)), f.bits);
    e = kj_tile_binary(lo, KJ_OP_SHL, e, integer(lo, f.bits, f.fraction));
    return kj_tile_binary(lo, KJ_OP_MUL, x, kj_tile_recast(lo, e, x.type));
}

/* Beyond 0 the numbers of one sign are in the order of their bits. */
kj_tile kj_lower_nextafter(kj_lower *lo, kj_tile x, kj_tile y)
{
    format f = format_of(x.type);
    kj_tile zero = real(lo, x.type, 0), one = integer(lo, f.bits, 1);
    kj_tile away = kj_tile_binary(lo, KJ_OP_EQ, kj_tile_binary(lo, KJ_OP_LT, x, y),
                                  kj_tile_binary(lo, KJ_OP_LT, zero, x));
    kj_tile step = kj_tile_select(lo, away, one, integer(lo, f.bits, -1));
    kj_tile next = kj_tile_recast(
        lo, kj_tile_binary(lo, KJ_OP_ADD, kj_tile_recast(lo, x, f.bits), step), x.type);
    kj_tile least = with_sign(lo, real(lo, x.type, ldexp(1, 1 - f.bias - f.fraction)), y);
    next = kj_tile_select(lo, kj_tile_binary(lo, KJ_OP_EQ, x, zero), least, next);
    next = kj_tile_select(lo, kj_tile_binary(lo, KJ_OP_EQ, x, y), y, next);
    kj_tile nan = kj_tile_binary(lo, KJ_OP_OR, kj_tile_binary(lo, KJ_OP_NE, x, x),
                                 kj_tile_binary(lo, KJ_OP_NE, y, y));
    return kj_tile_select(lo, nan, kj_tile_binary(lo, KJ_OP_ADD, x, y), next);
}
