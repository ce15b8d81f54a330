/* Fused multiply-adds for a CPU that has no instruction for them: LLVM would write a call of the C
 * library's function for each lane of each of them. Here they become calls of one function a type.
 *
 * Of f32 it computes in f64, where the product is exact and the sum is rounded to odd before it is
 * rounded, as lowering does (kj_odd_sum). Of f64 product and sums are pairs of numbers; where a lane's
 * numbers are so large or small that these would not be exact, the C library's function is called
 * lane after lane. */
#include <string.h>

#include "target/target.h"

enum { CHUNK = 4 }; /* lanes at a time, so that what is computed stays in registers */

typedef LLVMValueRef value;

/* A vector of `n` lanes that are `scalar`, or that itself. */
static value splat(value scalar, LLVMTypeRef type)
{
    value all[64];
    unsigned n = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
    for (unsigned i = 0; i < n; i++)
        all[i] = scalar;
    return LLVMTypeOf(scalar) == type ? scalar : LLVMConstVector(all, n);
}
static LLVMTypeRef element_of(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}
static value word(LLVMTypeRef type, int64_t x)
{
    return splat(LLVMConstInt(element_of(type), (uint64_t)x, true), type);
}
static value number(LLVMTypeRef type, double x)
{
    return splat(LLVMConstReal(element_of(type), x), type);
}

/* The type's words: i64, or a vector of them. */
static LLVMTypeRef words_of(LLVMTypeRef type)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(LLVMGetTypeContext(type));
    return type == element_of(type) ? i64 : LLVMVectorType(i64, LLVMGetVectorSize(type));
}

/* The sum of two numbers, and what it lost. */
static value two_sum(LLVMBuilderRef b, value p, value c, value *rest)
{
    value sum = LLVMBuildFAdd(b, p, c, ""), part = LLVMBuildFSub(b, sum, p, "");
    *rest = LLVMBuildFSub(b, p, LLVMBuildFSub(b, sum, part, ""), "");
    *rest = LLVMBuildFAdd(b, *rest, LLVMBuildFSub(b, c, part, ""), "");
    return sum;
}

/* p + c, but where that is not exact the neighbour whose last bit is 1. */
static value odd_sum(LLVMBuilderRef b, value p, value c)
{
    value rest, sum = two_sum(b, p, c, &rest);
    LLVMTypeRef bits = words_of(LLVMTypeOf(sum));
    value inexact = LLVMBuildFCmp(b, LLVMRealONE, rest, LLVMConstNull(LLVMTypeOf(rest)), "");
    value s = LLVMBuildBitCast(b, sum, bits, ""), r = LLVMBuildBitCast(b, rest, bits, "");
    value even =
        LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildAnd(b, s, word(bits, 1), ""), word(bits, 0), "");
    value way = LLVMBuildAShr(b, LLVMBuildXor(b, s, r, ""), word(bits, 63),
                              ""); /* -1 where the signs differ */
    value moved = LLVMBuildAdd(b, s, LLVMBuildOr(b, way, word(bits, 1), ""), "");
    s = LLVMBuildSelect(b, LLVMBuildAnd(b, inexact, even, ""), moved, s, "");
    return LLVMBuildBitCast(b, s, LLVMTypeOf(sum), "");
}

/* ---- By chunks of lanes ---- */

static value lane_number(LLVMTypeRef type, int i)
{
    return LLVMConstInt(LLVMInt32TypeInContext(LLVMGetTypeContext(type)), (unsigned)i, false);
}

static value chunk(LLVMBuilderRef b, value v, int lanes, int first)
{
    value index[CHUNK];
    if (lanes <= CHUNK)
        return v;
    for (int i = 0; i < CHUNK; i++)
        index[i] = lane_number(LLVMTypeOf(v), first + i);
    return LLVMBuildShuffleVector(b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(index, CHUNK),
                                  "");
}

static value fma_f32(LLVMBuilderRef b, const value x[3])
{
    LLVMTypeRef f32 = LLVMTypeOf(x[0]), f64 = LLVMDoubleTypeInContext(LLVMGetTypeContext(f32));
    value wide[3];
    if (f32 != element_of(f32))
        f64 = LLVMVectorType(f64, LLVMGetVectorSize(f32));
    for (int i = 0; i < 3; i++)
        wide[i] = LLVMBuildFPExt(b, x[i], f64, "");
    return LLVMBuildFPTrunc(b, odd_sum(b, LLVMBuildFMul(b, wide[0], wide[1], ""), wide[2]), f32,
                            "");
}

/* x is the sum of two numbers of 26 bits. */
static value split(LLVMBuilderRef b, value x, value *low)
{
    value t = LLVMBuildFMul(b, x, number(LLVMTypeOf(x), 0x1p27 + 1), "");
    value high = LLVMBuildFSub(b, t, LLVMBuildFSub(b, t, x, ""), "");
    *low = LLVMBuildFSub(b, x, high, "");
    return high;
}

/* What is not in the product's and the sum's first numbers is added to odd, so that the last sum alone rounds. */
static value fma_f64(LLVMBuilderRef b, const value x[3])
{
    value a_low, b_low, a_high = split(b, x[0], &a_low), b_high = split(b, x[1], &b_low);
    value product = LLVMBuildFMul(b, x[0], x[1], "");
    value low = LLVMBuildFSub(b, LLVMBuildFMul(b, a_high, b_high, ""), product, "");
    low = LLVMBuildFAdd(b, low, LLVMBuildFMul(b, a_high, b_low, ""), "");
    low = LLVMBuildFAdd(b, low, LLVMBuildFMul(b, a_low, b_high, ""), "");
    low = LLVMBuildFAdd(b, low, LLVMBuildFMul(b, a_low, b_low, ""), "");
    value first_rest, second_rest, first = two_sum(b, x[2], low, &first_rest);
    value second = two_sum(b, product, first, &second_rest);
    value r = LLVMBuildFAdd(b, second, odd_sum(b, first_rest, second_rest), "");
    /* a zero has the sign that the plain sum has */
    value none = LLVMBuildFCmp(b, LLVMRealOEQ, r, LLVMConstNull(LLVMTypeOf(r)), "");
    return LLVMBuildSelect(b, none, LLVMBuildFAdd(b, product, x[2], ""), r, "");
}

static void give_chunks(LLVMBuilderRef b, value f, LLVMTypeRef type, int lanes)
{
    value out = LLVMGetPoison(type), x[3];
    bool is_f32 = LLVMGetTypeKind(element_of(type)) == LLVMFloatTypeKind;
    for (int first = 0; first < lanes; first += CHUNK) {
        for (unsigned i = 0; i < 3; i++)
            x[i] = chunk(b, LLVMGetParam(f, i), lanes, first);
        value r = is_f32 ? fma_f32(b, x) : fma_f64(b, x);
        for (int i = 0; i < CHUNK && lanes > CHUNK; i++) {
            value one = LLVMBuildExtractElement(b, r, lane_number(type, i), "");
            out = LLVMBuildInsertElement(b, out, one, lane_number(type, first + i), "");
        }
        out = lanes > CHUNK ? out : r;
    }
    LLVMBuildRet(b, out);
}

/* A loop, which the C library's function is called in. */
static void give_lanes(LLVMBuilderRef b, value f, LLVMTypeRef type, int lanes)
{
    LLVMContextRef ctx = LLVMGetTypeContext(type);
    LLVMTypeRef element = LLVMGetElementType(type), i64 = LLVMInt64TypeInContext(ctx);
    LLVMBasicBlockRef entry = LLVMGetInsertBlock(b),
                      loop = LLVMAppendBasicBlockInContext(ctx, f, "lane"),
                      done = LLVMAppendBasicBlockInContext(ctx, f, "done");
    value memory[3], out = LLVMBuildAlloca(b, type, "out"), x[3];
    for (unsigned i = 0; i < 3; i++)
        LLVMBuildStore(b, LLVMGetParam(f, i), memory[i] = LLVMBuildAlloca(b, type, ""));
    LLVMBuildBr(b, loop);
    LLVMPositionBuilderAtEnd(b, loop);
    value lane = LLVMBuildPhi(b, i64, "lane");
    for (unsigned i = 0; i < 3; i++)
        x[i] = LLVMBuildLoad2(b, element, LLVMBuildGEP2(b, element, memory[i], &lane, 1, ""), "");
    value one = LLVMGetIntrinsicDeclaration(LLVMGetGlobalParent(f),
                                            LLVMLookupIntrinsicID("llvm.fma", 8), &element, 1);
    value r = LLVMBuildCall2(b, LLVMGlobalGetValueType(one), one, x, 3, "");
    LLVMBuildStore(b, r, LLVMBuildGEP2(b, element, out, &lane, 1, ""));
    value next = LLVMBuildAdd(b, lane, LLVMConstInt(i64, 1, false), "");
    value more = LLVMBuildICmp(b, LLVMIntULT, next, LLVMConstInt(i64, (unsigned)lanes, false), "");
    LLVMBuildCondBr(b, more, loop, done);
    LLVMAddIncoming(lane, (value[]){LLVMConstInt(i64, 0, false), next},
                    (LLVMBasicBlockRef[]){entry, loop}, 2);
    LLVMPositionBuilderAtEnd(b, done);
    LLVMBuildRet(b, LLVMBuildLoad2(b, type, out, ""));
}

/* Are the product's parts and the sums of all lanes normal numbers, or 0? */
static value are_moderate(LLVMBuilderRef b, value f, LLVMTypeRef type)
{
    value all = NULL, zero = LLVMConstNull(type);
    for (unsigned i = 0; i < 3; i++) {
        value x = LLVMGetParam(f, i), least = number(type, 0x1p-400),
              most = number(type, i < 2 ? 0x1p400 : 0x1p900);
        value fabs = LLVMGetIntrinsicDeclaration(LLVMGetGlobalParent(f),
                                                 LLVMLookupIntrinsicID("llvm.fabs", 9), &type, 1);
        value size = LLVMBuildCall2(b, LLVMGlobalGetValueType(fabs), fabs, &x, 1, "");
        value ok = LLVMBuildFCmp(b, LLVMRealOLT, size, most, "");
        if (i < 2) {
            value normal = LLVMBuildFCmp(b, LLVMRealOGE, size, least, "");
            normal = LLVMBuildOr(b, normal, LLVMBuildFCmp(b, LLVMRealOEQ, x, zero, ""), "");
            ok = LLVMBuildAnd(b, ok, normal, "");
        }
        all = all ? LLVMBuildAnd(b, all, ok, "") : ok;
    }
    LLVMTypeRef lanes = LLVMTypeOf(all);
    unsigned id = LLVMLookupIntrinsicID("llvm.vector.reduce.and", strlen("llvm.vector.reduce.and"));
    value reduce = LLVMGetIntrinsicDeclaration(LLVMGetGlobalParent(f), id, &lanes, 1);
    return LLVMBuildCall2(b, LLVMGlobalGetValueType(reduce), reduce, &all, 1, "");
}

static void give_f64(LLVMBuilderRef b, value f, LLVMTypeRef type, int lanes)
{
    LLVMContextRef ctx = LLVMGetTypeContext(type);
    LLVMBasicBlockRef moderate = LLVMAppendBasicBlockInContext(ctx, f, "moderate"),
                      others = LLVMAppendBasicBlockInContext(ctx, f, "others");
    LLVMBuildCondBr(b, are_moderate(b, f, type), moderate, others);
    LLVMPositionBuilderAtEnd(b, moderate);
    give_chunks(b, f, type, lanes);
    LLVMPositionBuilderAtEnd(b, others);
    give_lanes(b, f, type, lanes);
}

static void define(LLVMModuleRef module, value fma, void (*adapt)(LLVMModuleRef module, value f))
{
    char name[64];
    LLVMTypeRef signature = LLVMGlobalGetValueType(fma), type = LLVMGetReturnType(signature);
    int lanes = type == element_of(type) ? 1 : (int)LLVMGetVectorSize(type);
    LLVMTypeKind kind = LLVMGetTypeKind(element_of(type));
    bool is_f32 = kind == LLVMFloatTypeKind;
    if ((lanes > CHUNK && lanes % CHUNK) || lanes > 64 ||
        !(is_f32 || (kind == LLVMDoubleTypeKind && lanes > 1)))
        return;
    kj_snprintf(name, sizeof name, "kj$fma_v%d%s", lanes, is_f32 ? "f32" : "f64");
    value f = LLVMAddFunction(module, name, signature);
    LLVMContextRef ctx = LLVMGetModuleContext(module);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(ctx);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(ctx, f, "entry"));
    is_f32 ? give_chunks(b, f, type, lanes) : give_f64(b, f, type, lanes);
    LLVMDisposeBuilder(b);
    LLVMReplaceAllUsesWith(fma, f);
    adapt(module, f);
}

void kj_soften_fma(LLVMModuleRef module, void (*adapt)(LLVMModuleRef module, LLVMValueRef f))
{
    for (value f = LLVMGetFirstFunction(module), next; f; f = next) {
        next = LLVMGetNextFunction(f);
        if (LLVMIsDeclaration(f) && strncmp(LLVMGetValueName(f), "llvm.fma.", 9) == 0 &&
            LLVMGetFirstUse(f))
            define(module, f, adapt);
    }
}
