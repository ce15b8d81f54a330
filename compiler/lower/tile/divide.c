/* Integer division of tiles: floor division and modulo as the language defines them. */
#include <string.h>

#include "base/c_locale.h"
#include "lower/tile/tile.h"

/* So many divisions of 64 bits stand in place, which takes a dozen instructions a lane. The rest of a
 * kernel's are calls, so that it compiles in the time that its length lets expect. */
enum { FEW = 64 };

static LLVMTypeRef double_like(kj_lower *lo, LLVMTypeRef type)
{
    LLVMTypeRef f64 = LLVMDoubleTypeInContext(lo->ctx);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind
               ? LLVMVectorType(f64, LLVMGetVectorSize(type))
               : f64;
}

/* The quotients of two vectors, lane after lane, as a function of its own. */
static LLVMValueRef divide_function(kj_lower *lo, LLVMTypeRef type, LLVMTypeRef signature,
                                    const char *name, bool is_signed)
{
    LLVMValueRef f = LLVMAddFunction(lo->module, name, signature);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(lo->ctx);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(lo->ctx, f, "entry"),
                      loop = LLVMAppendBasicBlockInContext(lo->ctx, f, "lane"),
                      end = LLVMAppendBasicBlockInContext(lo->ctx, f, "end");
    LLVMValueRef zero = LLVMConstInt(lo->i32, 0, false), one = LLVMConstInt(lo->i32, 1, false),
                 lanes = LLVMConstInt(lo->i32, LLVMGetVectorSize(type), false);
    unsigned noinline_kind = LLVMGetEnumAttributeKindForName("noinline", strlen("noinline"));
    LLVMSetLinkage(f, LLVMInternalLinkage);
    LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(lo->ctx, noinline_kind, 0));
    LLVMPositionBuilderAtEnd(b, entry);
    LLVMBuildBr(b, loop);
    LLVMPositionBuilderAtEnd(b, loop);
    LLVMValueRef lane = LLVMBuildPhi(b, lo->i32, ""), made = LLVMBuildPhi(b, type, "");
    LLVMValueRef x = LLVMBuildExtractElement(b, LLVMGetParam(f, 0), lane, ""),
                 y = LLVMBuildExtractElement(b, LLVMGetParam(f, 1), lane, "");
    LLVMValueRef q = is_signed ? LLVMBuildSDiv(b, x, y, "") : LLVMBuildUDiv(b, x, y, "");
    LLVMValueRef all = LLVMBuildInsertElement(b, made, q, lane, ""),
                 next = LLVMBuildAdd(b, lane, one, "");
    LLVMAddIncoming(lane, (LLVMValueRef[]){zero, next}, (LLVMBasicBlockRef[]){entry, loop}, 2);
    LLVMAddIncoming(made, (LLVMValueRef[]){LLVMConstNull(type), all},
                    (LLVMBasicBlockRef[]){entry, loop}, 2);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, next, lanes, ""), end, loop);
    LLVMPositionBuilderAtEnd(b, end);
    LLVMBuildRet(b, all);
    LLVMDisposeBuilder(b);
    return f;
}

static LLVMValueRef divide_by_call(kj_lower *lo, LLVMValueRef x, LLVMValueRef y, bool is_signed)
{
    char name[32];
    LLVMTypeRef type = LLVMTypeOf(x), params[2] = {type, type};
    LLVMTypeRef signature = LLVMFunctionType(type, params, 2, false);
    kj_snprintf(name, sizeof name, "kj.%sdiv.%u", is_signed ? "s" : "u", LLVMGetVectorSize(type));
    LLVMValueRef f = LLVMGetNamedFunction(lo->module, name);
    if (!f)
        f = divide_function(lo, type, signature, name, is_signed);
    LLVMValueRef args[2] = {LLVMBuildFreeze(lo->b, x, ""), LLVMBuildFreeze(lo->b, y, "")};
    return LLVMBuildCall2(lo->b, signature, f, args, 2, "");
}

/* Truncating division of a vector by one of no zeros. No CPU divides integer vectors; doubles do,
 * exactly while the operands stay below 2^50: then the quotient cannot round up to an integer it
 * has not reached. */
static LLVMValueRef divide(kj_lower *lo, kj_tile t, LLVMValueRef a, LLVMValueRef b, bool is_signed,
                           int bits)
{
    bool vector = t.lanes > 1;
    if (vector && bits <= 50 && !LLVMIsConstant(b)) {
        LLVMTypeRef f = double_like(lo, LLVMTypeOf(a));
        LLVMValueRef x =
            is_signed ? LLVMBuildSIToFP(lo->b, a, f, "") : LLVMBuildUIToFP(lo->b, a, f, "");
        LLVMValueRef y =
            is_signed ? LLVMBuildSIToFP(lo->b, b, f, "") : LLVMBuildUIToFP(lo->b, b, f, "");
        LLVMValueRef q = LLVMBuildFDiv(lo->b, x, y, "");
        q = is_signed ? LLVMBuildFPToSI(lo->b, q, LLVMTypeOf(a), "")
                      : LLVMBuildFPToUI(lo->b, q, LLVMTypeOf(a), "");
        return LLVMBuildFreeze(lo->b, q, ""); /* threads that do not run may have any operands */
    }
    if (vector && kj_types[t.type].bits == 64 && ++lo->divisions > FEW)
        return divide_by_call(lo, a, b, is_signed);
    return is_signed ? LLVMBuildSDiv(lo->b, a, b, "") : LLVMBuildUDiv(lo->b, a, b, "");
}

/* The exponent of a power of two; negative: it is none. */
static int exponent(uint64_t v)
{
    return v > 0 && (v & (v - 1)) == 0 ? __builtin_ctzll(v) : -1;
}

/* The same of a constant. */
static int power_of_two(kj_tile t)
{
    return kj_is_known(t) ? exponent(t.bounds.most) : -1;
}

/* The exponent of the power of two that a op b divides by, or takes the remainder of. */
static int divisor(kj_op op, kj_tile a, kj_tile b)
{
    if (!kj_is_known(b) || b.lanes > 1)
        return -1;
    switch (op) {
    case KJ_OP_FLOORDIV:
    case KJ_OP_MOD: return power_of_two(b);
    case KJ_OP_SHR: return b.bounds.most < kj_types[a.type].bits ? (int)b.bounds.most : -1;
    case KJ_OP_AND: return exponent(b.bounds.most + 1);
    default: return -1;
    }
}

bool kj_divide_linear(kj_lower *lo, kj_op op, kj_tile a, kj_tile b, kj_tile *out)
{
    if (a.form != KJ_LINEAR || a.stride != 1)
        return false;
    int shift = divisor(op, a, b), row = __builtin_ctz(a.lanes);
    if (shift < row || a.even < row)
        return false;
    kj_tile first = a;
    first.form = KJ_DENSE;
    first.lanes = 1;
    first.stride = 0;
    *out = kj_tile_binary(lo, op, first, b);
    if (op == KJ_OP_MOD || op == KJ_OP_AND) {
        out->form = KJ_LINEAR;
        out->lanes = a.lanes;
        out->stride = 1;
        out->even = (uint8_t)row;
        kj_bound(out, 0, ((uint64_t)1 << shift) - 1);
    }
    return true;
}

/* What a truncating division leaves: a - q * b. Of one lane as a remainder, which LLVM makes of that
 * too, in time that grows with the square of how many there are. */
static LLVMValueRef remainder_of(kj_lower *lo, kj_tile t, LLVMValueRef a, LLVMValueRef b,
                                 LLVMValueRef q, bool is_signed)
{
    if (t.lanes > 1)
        return LLVMBuildSub(lo->b, a, LLVMBuildMul(lo->b, q, b, ""), "");
    return is_signed ? LLVMBuildSRem(lo->b, a, b, "") : LLVMBuildURem(lo->b, a, b, "");
}

LLVMValueRef kj_floor_div(kj_lower *lo, kj_tile t, kj_tile ta, kj_tile tb, LLVMValueRef a,
                          LLVMValueRef b, bool mod)
{
    int shift = power_of_two(tb);
    if (kj_is_signed(t.type) && shift >= 0) {
        int64_t by = mod ? ((int64_t)1 << shift) - 1 : shift;
        LLVMValueRef v = LLVMConstInt(lo->types[t.type], (uint64_t)by, false);
        v = kj_splat(lo, v, t.lanes);
        return mod ? LLVMBuildAnd(lo->b, a, v, "") : LLVMBuildAShr(lo->b, a, v, "");
    }
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef zero = LLVMConstNull(type),
                 one = kj_splat(lo, LLVMConstInt(lo->types[t.type], 1, false), t.lanes);
    LLVMValueRef by_zero = LLVMBuildICmp(lo->b, LLVMIntEQ, b, zero, "");
    bool is_signed = kj_is_signed(t.type), natural = kj_is_natural(ta) && kj_is_natural(tb);
    int bits = kj_bits(ta) > kj_bits(tb) ? kj_bits(ta) : kj_bits(tb),
        most = kj_magnitude_bits(t.type);
    bits = bits < most ? bits : most;
    if (natural || !is_signed) {
        bool positive = kj_is_positive(tb) && tb.rows == 1 && tb.lanes == 1; /* in every lane */
        LLVMValueRef safe = positive ? b : LLVMBuildSelect(lo->b, by_zero, one, b, "");
        LLVMValueRef q = divide(lo, t, a, safe, false, bits);
        LLVMValueRef out = mod ? remainder_of(lo, t, a, safe, q, false) : q;
        return positive ? out : LLVMBuildSelect(lo->b, by_zero, zero, out, "");
    }
    /* -1 is divided by as 1 and negated after: the least integer by -1 would trap. */
    LLVMValueRef by_minus = LLVMBuildICmp(lo->b, LLVMIntEQ, b, LLVMConstAllOnes(type), "");
    LLVMValueRef odd = LLVMBuildOr(lo->b, by_zero, by_minus, "");
    LLVMValueRef safe = LLVMBuildSelect(lo->b, odd, one, b, "");
    LLVMValueRef q = divide(lo, t, a, safe, true, bits);
    LLVMValueRef r = remainder_of(lo, t, a, safe, q, true);
    LLVMValueRef inexact = LLVMBuildICmp(lo->b, LLVMIntNE, r, zero, "");
    LLVMValueRef apart =
        LLVMBuildICmp(lo->b, LLVMIntSLT, LLVMBuildXor(lo->b, r, safe, ""), zero, "");
    LLVMValueRef down = LLVMBuildAnd(lo->b, inexact, apart, "");
    if (mod)
        return LLVMBuildSelect(lo->b, down, LLVMBuildAdd(lo->b, r, safe, ""), r, "");
    q = LLVMBuildSelect(lo->b, down, LLVMBuildSub(lo->b, q, one, ""), q, "");
    q = LLVMBuildSelect(lo->b, by_minus, LLVMBuildNeg(lo->b, a, ""), q, "");
    return LLVMBuildSelect(lo->b, by_zero, zero, q, "");
}
