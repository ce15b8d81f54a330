/* Floats where the language says more than the instructions do: remainders, min and max (of NaNs
 * and zeros too), signs.
 *
 * a % b is what Python's and NumPy's is: the exact remainder with b's sign, and a // b belongs to it.
 * Where the quotient is not large, one fused multiply-add gives the remainder exactly, for the
 * quotient rounded down is an integer that is right or one too large; else fmod does, which takes
 * longer. f16 and bf16 are computed in f32. */
#include "lang/half.h"
#include "lower/tile/tile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static kj_tile real(kj_lower *lo, kj_dtype type, double x)
{
    return kj_tile_const(lo, kj_float(type, x));
}

static kj_tile binary(kj_lower *lo, kj_op op, kj_tile a, kj_tile b)
{
    return kj_tile_binary(lo, op, a, b);
}

static kj_tile unary(kj_lower *lo, const char *name, kj_tile a)
{
    return kj_tile_intrinsic(lo, name, &a, 1);
}

static kj_tile is_nan(kj_lower *lo, kj_tile a)
{
    return binary(lo, KJ_OP_NE, a, a);
}

/* ---- Signs ---- */

static kj_tile with_sign(kj_lower *lo, kj_tile a, kj_tile sign)
{
    return kj_tile_intrinsic(lo, "llvm.copysign", (kj_tile[]){a, sign}, 2);
}

/* A NaN has no sign that a program could see. */
kj_tile kj_float_copysign(kj_lower *lo, kj_tile a, kj_tile sign)
{
    return kj_tile_select(lo, is_nan(lo, sign), unary(lo, "llvm.fabs", a), with_sign(lo, a, sign));
}

kj_tile kj_float_signed_zero(kj_lower *lo, kj_tile result, kj_tile x)
{
    kj_tile none = binary(lo, KJ_OP_EQ, result, real(lo, result.type, 0));
    return kj_tile_select(lo, none, with_sign(lo, result, x), result);
}

/* ---- The smaller and the larger ---- */

/* Is it a number that is known now? */
static bool constant(kj_tile t, double *out)
{
    LLVMBool lossy;
    if (t.lanes > 1 || t.rows > 1 || !LLVMIsConstant(t.v[0]))
        return false;
    if (kj_is_half(t.type) && LLVMIsAConstantInt(t.v[0]))
        *out = kj_half_read(t.type, (uint16_t)LLVMConstIntGetZExtValue(t.v[0]));
    else if (LLVMIsAConstantFP(t.v[0]))
        *out = LLVMConstRealGetDouble(t.v[0], &lossy);
    else
        return false;
    return !isnan(*out);
}

/* Of a number and a constant: one comparison, which is false for NaN and for those that go before
 * the constant. */
static kj_tile extreme_of_constant(kj_lower *lo, kj_tile x, kj_tile c, double value, bool max)
{
    bool wins = value == 0 && (signbit(value) != 0) != max; /* against the other zero */
    kj_op op = max ? (wins ? KJ_OP_GT : KJ_OP_GE) : (wins ? KJ_OP_LT : KJ_OP_LE);
    return kj_tile_select(lo, binary(lo, op, x, c), x, c);
}

static kj_dtype bits_of(kj_dtype type)
{
    return kj_types[type].bits == 16 ? KJ_U16 : kj_types[type].bits == 32 ? KJ_U32 : KJ_U64;
}

kj_tile kj_float_extreme(kj_lower *lo, kj_tile a, kj_tile b, bool max)
{
    double value;
    kj_dtype type = a.type;
    if (constant(b, &value))
        return extreme_of_constant(lo, a, b, value, max);
    if (constant(a, &value))
        return extreme_of_constant(lo, b, a, value, max);
    kj_tile first = binary(lo, max ? KJ_OP_GT : KJ_OP_LT, a, b);
    first = binary(lo, KJ_OP_OR, first, is_nan(lo, b));
    kj_tile out = kj_tile_select(lo, first, a, b);
    /* equal ones have the same bits, but for zeros: -0.0 is the smaller */
    kj_tile both = binary(lo, max ? KJ_OP_AND : KJ_OP_OR, kj_tile_recast(lo, a, bits_of(type)),
                          kj_tile_recast(lo, b, bits_of(type)));
    return kj_tile_select(lo, binary(lo, KJ_OP_EQ, a, b), kj_tile_recast(lo, both, type), out);
}

/* ---- Fused multiply-adds ---- */

/* In f64 the product is exact. The C library's function would be called lane by lane. */
kj_tile kj_float_fma(kj_lower *lo, const kj_tile abc[3])
{
    kj_tile x[3];
    for (int i = 0; i < 3; i++)
        x[i] = kj_tile_convert(lo, abc[i], KJ_F64);
    return kj_tile_convert(lo, kj_odd_sum(lo, binary(lo, KJ_OP_MUL, x[0], x[1]), x[2]), KJ_F32);
}

/* ---- Quotients and remainders ---- */

/* Is a number not 0, and of the other sign than b? */
static kj_tile is_apart(kj_lower *lo, kj_tile r, kj_tile b)
{
    kj_tile zero = real(lo, r.type, 0);
    kj_tile signs =
        binary(lo, KJ_OP_XOR, binary(lo, KJ_OP_LT, r, zero), binary(lo, KJ_OP_LT, b, zero));
    return binary(lo, KJ_OP_AND, signs, binary(lo, KJ_OP_NE, r, zero));
}

/* a % b, or with `quotient` a // b, where the quotient `q`, rounded down, is not large. */
static kj_tile near(kj_lower *lo, kj_tile a, kj_tile b, kj_tile q, bool quotient)
{
    kj_tile fma[3] = {kj_tile_unary(lo, KJ_OP_NEG, q), b, a};
    kj_tile r = kj_tile_intrinsic(lo, "llvm.fma", fma, 3), past = is_apart(lo, r, b);
    if (quotient)
        return kj_tile_select(lo, past, binary(lo, KJ_OP_SUB, q, real(lo, q.type, 1)), q);
    return with_sign(lo, kj_tile_select(lo, past, binary(lo, KJ_OP_ADD, r, b), r), b);
}

/* The same for any quotient, step by step as NumPy does it. */
static kj_tile far(kj_lower *lo, kj_tile a, kj_tile b, bool quotient)
{
    kj_tile r = kj_lower_math(lo, KJ_BI_FMOD, (kj_tile[]){a, b}, 2), moved = is_apart(lo, r, b);
    if (!quotient)
        return with_sign(lo, kj_tile_select(lo, moved, binary(lo, KJ_OP_ADD, r, b), r), b);
    kj_tile zero = real(lo, a.type, 0), one = real(lo, a.type, 1), half = real(lo, a.type, 0.5);
    kj_tile q = binary(lo, KJ_OP_DIV, binary(lo, KJ_OP_SUB, a, r), b);
    q = kj_tile_select(lo, moved, binary(lo, KJ_OP_SUB, q, one), q);
    kj_tile whole = unary(lo, "llvm.floor", q);
    kj_tile below = binary(lo, KJ_OP_GT, binary(lo, KJ_OP_SUB, q, whole), half);
    whole = kj_tile_select(lo, below, binary(lo, KJ_OP_ADD, whole, one), whole);
    kj_tile exact = binary(lo, KJ_OP_DIV, a, b), none = with_sign(lo, zero, exact);
    whole = kj_tile_select(lo, binary(lo, KJ_OP_NE, q, zero), whole, none);
    return kj_tile_select(lo, binary(lo, KJ_OP_EQ, b, zero), exact, whole);
}

/* The lanes for which fma does not give the remainder: large quotients, but of zeros, and infinite
 * divisors. */
static kj_tile needs_fmod(kj_lower *lo, kj_tile b, kj_tile q)
{
    double limit = q.type == KJ_F64 ? 0x1p51 : 0x1p22;
    kj_tile large = binary(lo, KJ_OP_GE, unary(lo, "llvm.fabs", q), real(lo, q.type, limit));
    large = binary(lo, KJ_OP_AND, large, binary(lo, KJ_OP_NE, b, real(lo, b.type, 0)));
    kj_tile endless = binary(lo, KJ_OP_EQ, unary(lo, "llvm.fabs", b), real(lo, b.type, INFINITY));
    return binary(lo, KJ_OP_OR, large, endless);
}

kj_tile kj_float_divide(kj_lower *lo, kj_op op, kj_tile a, kj_tile b)
{
    bool quotient = op == KJ_OP_FLOORDIV;
    if (kj_is_half(a.type)) {
        kj_tile out = kj_float_divide(lo, op, kj_half_widen(lo, a), kj_half_widen(lo, b));
        return kj_tile_convert(lo, out, a.type);
    }
    kj_tile q = unary(lo, "llvm.floor", binary(lo, KJ_OP_DIV, a, b));
    kj_tile out[2] = {near(lo, a, b, q, quotient)};
    kj_mask rare = kj_mask_of(needs_fmod(lo, b, q));
    LLVMBasicBlockRef from[2] = {NULL, kj_new_block(lo, "fmod")}, done = kj_new_block(lo, "modulo");
    LLVMValueRef any = kj_mask_any(lo, rare);
    from[0] = LLVMGetInsertBlock(lo->b);
    LLVMBuildCondBr(lo->b, any, from[1], done);
    LLVMPositionBuilderAtEnd(lo->b, from[1]);
    out[1] = far(lo, a, b, quotient);
    from[1] = LLVMGetInsertBlock(lo->b);
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, done);
    for (int r = 0; r < out[0].rows; r++) {
        LLVMValueRef both = LLVMBuildPhi(lo->b, LLVMTypeOf(out[0].v[r]), "");
        LLVMAddIncoming(both, (LLVMValueRef[]){out[0].v[r], out[1].v[r]}, from, 2);
        out[0].v[r] = both;
    }
    return out[0];
}

kj_tile kj_lower_min(kj_lower *lo, kj_tile a, kj_tile b, bool max)
{
    if (kj_is_float(a.type))
        return lo->target->extreme(lo, a, b, max);
    return kj_tile_select(lo, kj_tile_binary(lo, max ? KJ_OP_GT : KJ_OP_LT, a, b), a, b);
}
