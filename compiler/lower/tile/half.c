/* f16 and bf16: bits in integers of 16, computed in f32 and rounded once.
 *
 * Sums, differences, products, quotients and square roots of halves come out of f32 as if they had
 * been rounded only once: 24 digits are enough for 11. For what is not so (fused multiply-add, f64
 * and wide integers) the f32 in between is rounded to odd. Conversions are integer code that LLVM
 * finds in no library, but for f16 where the CPU has instructions; a GPU computes f16 itself, bf16
 * where its chip does. */
#include "lower/tile/tile.h"

#include <math.h>
#include <string.h>

static kj_tile integer(kj_lower *lo, kj_dtype type, int64_t i)
{
    return kj_tile_const(lo, kj_int(type, i));
}

static kj_tile real(kj_lower *lo, double x)
{
    return kj_tile_const(lo, kj_float(KJ_F32, x));
}

static kj_tile with(kj_lower *lo, kj_op op, kj_tile a, int64_t i)
{
    return kj_tile_binary(lo, op, a, integer(lo, a.type, i));
}

/* ---- LLVM's types, where the target has instructions for them ---- */

LLVMTypeRef kj_half_type(kj_lower *lo, kj_dtype type, int lanes)
{
    LLVMTypeRef t =
        type == KJ_F16 ? LLVMHalfTypeInContext(lo->ctx) : LLVMBFloatTypeInContext(lo->ctx);
    return lanes == 1 ? t : LLVMVectorType(t, (unsigned)lanes);
}

static kj_tile widen_native(kj_lower *lo, kj_tile a)
{
    kj_tile out = kj_tile_like(KJ_F32, a.rows, a.lanes);
    LLVMTypeRef half = kj_half_type(lo, a.type, a.lanes), type = kj_vec(lo, KJ_F32, a.lanes);
    for (int r = 0; r < a.rows; r++)
        out.v[r] = LLVMBuildFPExt(lo->b, LLVMBuildBitCast(lo->b, a.v[r], half, ""), type, "");
    return out;
}

static kj_tile narrow_native(kj_lower *lo, kj_tile a, kj_dtype to)
{
    kj_tile out = kj_tile_like(to, a.rows, a.lanes);
    if (lo->x86 && a.lanes == 1) {
        for (int r = 0; r < a.rows; r++)
            out.v[r] = lo->target->narrow_f16(lo, a.v[r]);
        return out;
    }
    LLVMTypeRef half = kj_half_type(lo, to, a.lanes), bits = kj_vec(lo, to, a.lanes);
    for (int r = 0; r < a.rows; r++)
        out.v[r] = LLVMBuildBitCast(lo->b, LLVMBuildFPTrunc(lo->b, a.v[r], half, ""), bits, "");
    return out;
}

/* ---- To f32 ---- */

/* The exponent's place is moved, and its bias by a product, which is right for subnormal numbers
 * too; only infinities and NaN get an exponent of their own. */
static kj_tile widen_f16(kj_lower *lo, kj_tile bits)
{
    kj_tile size = with(lo, KJ_OP_SHL, with(lo, KJ_OP_AND, bits, 0x7fff), 13);
    kj_tile moved =
        kj_tile_binary(lo, KJ_OP_MUL, kj_tile_recast(lo, size, KJ_F32), real(lo, 0x1p112));
    moved = kj_tile_recast(lo, moved, KJ_U32);
    kj_tile endless = with(lo, KJ_OP_GE, size, 0x0f800000);
    moved = kj_tile_select(lo, endless, with(lo, KJ_OP_OR, moved, 0x7f800000), moved);
    kj_tile sign = with(lo, KJ_OP_SHL, with(lo, KJ_OP_AND, bits, 0x8000), 16);
    return kj_tile_binary(lo, KJ_OP_OR, moved, sign);
}

/* Such that LLVM makes no operation of halves of one of f32 and the conversions around it; of a GPU's thread. */
static kj_tile opaque(kj_lower *lo, kj_tile a)
{
    static const char text[] = "mov.b32 $0, $1;", constraints[] = "=f,f";
    LLVMTypeRef f32 = lo->types[KJ_F32], type = LLVMFunctionType(f32, &f32, 1, false);
    LLVMValueRef code =
        LLVMGetInlineAsm(type, text, sizeof text - 1, constraints, sizeof constraints - 1, false,
                         false, LLVMInlineAsmDialectATT, false);
    return kj_tile_scalar(KJ_F32, LLVMBuildCall2(lo->b, type, code, &a.v[0], 1, ""));
}

static kj_tile widen(kj_lower *lo, kj_tile a)
{
    if (lo->target->has_half(lo, a.type, KJ_HALF_WIDEN))
        return lo->ftz ? opaque(lo, widen_native(lo, a)) : widen_native(lo, a);
    kj_tile bits = kj_tile_convert(lo, kj_tile_recast(lo, a, KJ_U16), KJ_U32);
    bits = a.type == KJ_F16 ? widen_f16(lo, bits) : with(lo, KJ_OP_SHL, bits, 16);
    return kj_tile_recast(lo, bits, KJ_F32);
}

kj_tile kj_half_widen(kj_lower *lo, kj_tile a)
{
    return kj_is_half(a.type) ? widen(lo, a) : a;
}

/* ---- From f32 ---- */

/* Rounds off the lower `n` bits, to nearest even. */
static kj_tile round_off(kj_lower *lo, kj_tile bits, int n)
{
    kj_tile odd = with(lo, KJ_OP_AND, with(lo, KJ_OP_SHR, bits, n), 1);
    bits = with(lo, KJ_OP_ADD, bits, ((int64_t)1 << (n - 1)) - 1);
    return with(lo, KJ_OP_SHR, kj_tile_binary(lo, KJ_OP_ADD, bits, odd), n);
}

/* Of numbers without sign. Those below 2^-14 are rounded by the addition of 0.5, whose unit is
 * that of subnormal numbers. */
static kj_tile narrow_f16(kj_lower *lo, kj_tile size)
{
    kj_tile small = kj_tile_binary(lo, KJ_OP_ADD, kj_tile_recast(lo, size, KJ_F32), real(lo, 0.5));
    small = with(lo, KJ_OP_SUB, kj_tile_recast(lo, small, KJ_U32), 0x3f000000);
    kj_tile usual = round_off(lo, with(lo, KJ_OP_SUB, size, 112 << 23), 13);
    kj_tile out = kj_tile_select(lo, with(lo, KJ_OP_LT, size, 113 << 23), small, usual);
    out = kj_tile_select(lo, with(lo, KJ_OP_LT, size, 143 << 23), out, integer(lo, KJ_U32, 0x7c00));
    return kj_tile_select(lo, with(lo, KJ_OP_GT, size, 0x7f800000), integer(lo, KJ_U32, 0x7e00),
                          out);
}

static kj_tile narrow_bf16(kj_lower *lo, kj_tile size)
{
    kj_tile nan = with(lo, KJ_OP_OR, with(lo, KJ_OP_SHR, size, 16), 0x40);
    return kj_tile_select(lo, with(lo, KJ_OP_GT, size, 0x7f800000), nan, round_off(lo, size, 16));
}

static kj_tile narrow(kj_lower *lo, kj_tile a, kj_dtype to)
{
    if (lo->target->has_half(lo, to, KJ_HALF_NARROW))
        return narrow_native(lo, a, to);
    kj_tile bits = kj_tile_recast(lo, a, KJ_U32), size = with(lo, KJ_OP_AND, bits, INT32_MAX);
    kj_tile sign = with(lo, KJ_OP_AND, with(lo, KJ_OP_SHR, bits, 16), 0x8000);
    size = to == KJ_F16 ? narrow_f16(lo, size) : narrow_bf16(lo, size);
    bits = kj_tile_convert(lo, kj_tile_binary(lo, KJ_OP_OR, size, sign), KJ_U16);
    return kj_tile_recast(lo, bits, to);
}

/* ---- Rounding to odd ---- */

/* `a`, a float rounded to nearest, as rounded to odd: it is cut where it is larger than what it
 * stands for, and `rest`, what it leaves out, gives it its last bit. */
static kj_tile make_odd(kj_lower *lo, kj_tile a, kj_tile rest, kj_tile exact)
{
    kj_dtype type = a.type == KJ_F32 ? KJ_I32 : KJ_I64;
    kj_tile bits = kj_tile_recast(lo, a, type);
    kj_tile cut = kj_tile_binary(lo, KJ_OP_XOR, bits, kj_tile_recast(lo, rest, type));
    cut = with(lo, KJ_OP_SHR, cut, kj_types[type].bits - 1);
    cut = with(lo, KJ_OP_OR, kj_tile_binary(lo, KJ_OP_ADD, bits, cut), 1);
    return kj_tile_recast(lo, kj_tile_select(lo, exact, bits, cut), a.type);
}

/* Also of what is no number. */
static kj_tile is_nothing(kj_lower *lo, kj_tile rest)
{
    kj_tile zero = kj_tile_const(lo, kj_float(rest.type, 0));
    kj_tile some = kj_tile_binary(lo, KJ_OP_OR, kj_tile_binary(lo, KJ_OP_LT, rest, zero),
                                  kj_tile_binary(lo, KJ_OP_GT, rest, zero));
    return kj_tile_unary(lo, KJ_OP_NOT, some);
}

static kj_tile odd_f32(kj_lower *lo, kj_tile a)
{
    kj_tile near = kj_tile_convert(lo, a, KJ_F32);
    kj_tile rest = kj_tile_binary(lo, KJ_OP_SUB, a, kj_tile_convert(lo, near, KJ_F64));
    return make_odd(lo, near, kj_tile_convert(lo, rest, KJ_F32), is_nothing(lo, rest));
}

/* What the sum leaves out is a float again. */
kj_tile kj_odd_sum(kj_lower *lo, kj_tile p, kj_tile c)
{
    kj_tile sum = kj_tile_binary(lo, KJ_OP_ADD, p, c), part = kj_tile_binary(lo, KJ_OP_SUB, sum, p);
    kj_tile rest = kj_tile_binary(lo, KJ_OP_SUB, sum, part);
    rest = kj_tile_binary(lo, KJ_OP_ADD, kj_tile_binary(lo, KJ_OP_SUB, p, rest),
                          kj_tile_binary(lo, KJ_OP_SUB, c, part));
    return make_odd(lo, sum, rest, is_nothing(lo, rest));
}

/* ---- Conversions ---- */

/* An integer as f32, such that rounding that to a half is as if the integer had been. */
static kj_tile from_int(kj_lower *lo, kj_tile a, kj_dtype to)
{
    if (to == KJ_F16 || kj_types[a.type].bits < 32) /* beyond f32's digits f16 ends */
        return kj_tile_convert(lo, a, KJ_F32);
    if (kj_types[a.type].bits == 64) { /* a bit for all that an f64 does not hold */
        a = kj_tile_wide(lo, a);
        kj_tile low = with(lo, KJ_OP_AND, a, 0xfff), high = with(lo, KJ_OP_AND, a, ~0xfff);
        kj_tile rest = kj_tile_select(lo, with(lo, KJ_OP_NE, low, 0), integer(lo, a.type, 0x800),
                                      integer(lo, a.type, 0));
        kj_tile large = with(lo, KJ_OP_GT, a, (int64_t)1 << 53);
        if (kj_is_signed(a.type))
            large = kj_tile_binary(lo, KJ_OP_OR, large, with(lo, KJ_OP_LT, a, -((int64_t)1 << 53)));
        a = kj_tile_select(lo, large, kj_tile_binary(lo, KJ_OP_OR, high, rest), a);
    }
    return odd_f32(lo, kj_tile_convert(lo, a, KJ_F64));
}

/* An integer as f16, which ends at 65504: beyond it is infinite. LLVM, which makes one conversion of
 * several, forgets that of some (InstCombine takes fpext(sitofp) for exact where the digits are
 * enough, without a look at the exponent: LLVM 22). */
static kj_tile within(kj_lower *lo, kj_tile a, kj_tile half)
{
    enum { LAST = 65519 }; /* is rounded down */
    if (half.type != KJ_F16 || a.type == KJ_BOOL ||
        (a.bounds.least >= -LAST && a.bounds.most <= LAST))
        return half;
    kj_tile bits = kj_tile_recast(lo, half, KJ_U16);
    bits = kj_tile_select(lo, with(lo, KJ_OP_GT, a, LAST), integer(lo, KJ_U16, 0x7c00), bits);
    if (kj_is_signed(a.type))
        bits = kj_tile_select(lo, with(lo, KJ_OP_LT, a, -LAST), integer(lo, KJ_U16, 0xfc00), bits);
    return kj_tile_recast(lo, bits, KJ_F16);
}

kj_tile kj_half_convert(kj_lower *lo, kj_tile a, kj_dtype to)
{
    if (to == KJ_BOOL)
        return with(lo, KJ_OP_NE, with(lo, KJ_OP_AND, kj_tile_recast(lo, a, KJ_U16), 0x7fff), 0);
    if (!kj_is_half(to))
        return kj_tile_convert(lo, widen(lo, a), to);
    if (kj_is_half(a.type))
        return narrow(lo, widen(lo, a), to);
    if (a.type == KJ_F64)
        return narrow(lo, odd_f32(lo, a), to);
    if (a.type == KJ_F32)
        return narrow(lo, a, to);
    return within(lo, a, narrow(lo, from_int(lo, a, to), to));
}

/* ---- Arithmetic ---- */

/* Is there an instruction that rounds once and keeps subnormal numbers? */
static bool is_native(const kj_lower *lo, kj_dtype type, kj_op op)
{
    bool own =
        op == KJ_OP_ADD || op == KJ_OP_SUB || op == KJ_OP_MUL || kj_ops[op].class == KJ_OPS_COMPARE;
    return own && lo->target->has_half(lo, type, KJ_HALF_ADD);
}

/* A GPU's threads are alone. */
static LLVMValueRef as_native(kj_lower *lo, kj_tile a)
{
    return LLVMBuildBitCast(lo->b, a.v[0], kj_half_type(lo, a.type, 1), "");
}

static kj_tile from_native(kj_lower *lo, LLVMValueRef v, kj_dtype type)
{
    return kj_tile_scalar(type, LLVMBuildBitCast(lo->b, v, lo->types[type], ""));
}

kj_tile kj_half_binary(kj_lower *lo, kj_op op, kj_tile a, kj_tile b)
{
    kj_dtype type = a.type;
    bool compares = kj_ops[op].class == KJ_OPS_COMPARE;
    if (is_native(lo, type, op)) {
        LLVMValueRef v = kj_float_binary(lo, op, as_native(lo, a), as_native(lo, b));
        return compares ? kj_tile_scalar(KJ_BOOL, v) : from_native(lo, v, type);
    }
    kj_tile out = kj_tile_binary(lo, op, widen(lo, a), widen(lo, b));
    return compares ? out : narrow(lo, out, type);
}

kj_tile kj_half_negate(kj_lower *lo, kj_tile a)
{
    return kj_tile_recast(lo, with(lo, KJ_OP_XOR, kj_tile_recast(lo, a, KJ_U16), 0x8000), a.type);
}

static kj_tile size_of(kj_lower *lo, kj_tile a)
{
    return with(lo, KJ_OP_AND, kj_tile_recast(lo, a, KJ_U32), INT32_MAX);
}

/* Neither 0 nor infinite nor NaN. */
static kj_tile is_regular(kj_lower *lo, kj_tile a)
{
    return with(lo, KJ_OP_LT, with(lo, KJ_OP_SUB, size_of(lo, a), 1), 0x7f7fffff);
}

/* The product of two regular numbers is one too, whatever is added to it. */
static kj_tile regular_product(kj_lower *lo, kj_tile a, kj_tile b)
{
    kj_tile product = kj_tile_binary(lo, KJ_OP_MUL, a, b), size = size_of(lo, product);
    size = kj_lower_min(lo, size, integer(lo, KJ_U32, 1), true);
    size = kj_lower_min(lo, size, integer(lo, KJ_U32, 0x7f000000), false);
    kj_tile bits = kj_tile_recast(lo, product, KJ_U32);
    kj_tile sign = with(lo, KJ_OP_AND, bits, 0x80000000);
    kj_tile both = kj_tile_binary(lo, KJ_OP_AND, is_regular(lo, a), is_regular(lo, b));
    bits = kj_tile_select(lo, both, kj_tile_binary(lo, KJ_OP_OR, size, sign), bits);
    return kj_tile_recast(lo, bits, KJ_F32);
}

/* a * b + c in f32, rounded to odd. Products are exact, but those of bf16 at the ends of the range.
 * Of too small ones the sign is all that c leaves, or what they would be rounded to; too large
 * ones, which c may bring back, are scaled down with it. */
static kj_tile odd_fma(kj_lower *lo, kj_dtype type, kj_tile a, kj_tile b, kj_tile c)
{
    kj_tile product = kj_tile_binary(lo, KJ_OP_MUL, a, b), one = real(lo, 1);
    if (type == KJ_F16)
        return kj_odd_sum(lo, product, c);
    kj_tile large = with(lo, KJ_OP_GT, size_of(lo, product), (int64_t)(127 + 100) << 23);
    kj_tile down = kj_tile_select(lo, large, real(lo, 0x1p-16), one);
    product = regular_product(lo, kj_tile_binary(lo, KJ_OP_MUL, a, down), b);
    kj_tile sum = kj_odd_sum(lo, product, kj_tile_binary(lo, KJ_OP_MUL, c, down));
    return kj_tile_binary(lo, KJ_OP_MUL, sum, kj_tile_select(lo, large, real(lo, 0x1p16), one));
}

static kj_tile fused(kj_lower *lo, const kj_tile *args)
{
    kj_dtype type = args[0].type;
    if (lo->target->has_half(lo, type, KJ_HALF_FMA)) {
        LLVMValueRef v[3];
        LLVMTypeRef half = kj_half_type(lo, type, 1);
        for (int i = 0; i < 3; i++)
            v[i] = as_native(lo, args[i]);
        return from_native(lo, kj_intrinsic(lo, "llvm.fma", &half, 1, v, 3), type);
    }
    kj_tile x[3];
    for (int i = 0; i < 3; i++)
        x[i] = widen(lo, args[i]);
    return narrow(lo, odd_fma(lo, type, x[0], x[1], x[2]), type);
}

kj_tile kj_half_intrinsic(kj_lower *lo, const char *name, const kj_tile *args, int nargs)
{
    kj_dtype type = args[0].type;
    if (strcmp(name, "llvm.fma") == 0)
        return fused(lo, args);
    if (strcmp(name, "llvm.fabs") == 0) {
        kj_tile bits = kj_tile_recast(lo, args[0], KJ_U16);
        return kj_tile_recast(lo, with(lo, KJ_OP_AND, bits, 0x7fff), type);
    }
    kj_tile x[3];
    for (int i = 0; i < nargs; i++)
        x[i] = widen(lo, args[i]);
    return narrow(lo, kj_tile_intrinsic(lo, name, x, nargs), type);
}
