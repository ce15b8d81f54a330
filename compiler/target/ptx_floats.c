/* What NVIDIA's assembler makes of floats that is not what PTX says: code is written around it, for every chip, since
 * `ptxas` (up to 13.0) and the driver's compiler do the same.
 *
 * PTX keeps no types in its registers, but the assembler does: where instructions of floats made a register and a
 * store is narrower than it, the number is converted to an integer, as by cvt, and that is stored. LLVM writes such
 * stores for the low bits of a float. A mov of bits in between makes them bits again; it is gone from the machine
 * code.
 *
 * Of min and max, -0.0 as a constant counts as 0.0 where another of them is around: min(max(x, -0.0), 1.0) becomes
 * an instruction that saturates. A comparison and a choice do the same. */
#include <llvm-c/DebugInfo.h>
#include <math.h>
#include <string.h>

#include "target/target.h"

static bool is_float(LLVMTypeRef type)
{
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    return kind == LLVMHalfTypeKind || kind == LLVMBFloatTypeKind || kind == LLVMFloatTypeKind ||
           kind == LLVMDoubleTypeKind;
}

static LLVMValueRef mov(LLVMBuilderRef b, LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v), fn = LLVMFunctionType(type, &type, 1, false);
    unsigned width = LLVMGetIntTypeWidth(type);
    char text[24];
    const char *constraints = width == 64 ? "=l,l" : width == 32 ? "=r,r" : "=h,h";
    kj_snprintf(text, sizeof text, "mov.b%u $0, $1;", width);
    LLVMValueRef code = LLVMGetInlineAsm(fn, text, strlen(text), constraints, strlen(constraints),
                                         false, false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(b, fn, code, &v, 1, "");
}

/* A float's bits as something else: all but stores as wide as they are may come to the low ones alone. */
static LLVMValueRef mend_cast(LLVMBuilderRef b, LLVMTargetDataRef layout, LLVMValueRef cast)
{
    LLVMValueRef from = LLVMGetOperand(cast, 0);
    LLVMTypeRef type = LLVMTypeOf(cast);
    bool kept = true;
    if (!is_float(LLVMTypeOf(from)) || is_float(type))
        return NULL;
    for (LLVMUseRef u = LLVMGetFirstUse(cast); u && kept; u = LLVMGetNextUse(u))
        kept = LLVMIsAStoreInst(LLVMGetUser(u)) != NULL;
    if (kept)
        return NULL;
    unsigned width = (unsigned)LLVMSizeOfTypeInBits(layout, type);
    LLVMTypeRef bits = LLVMIntTypeInContext(LLVMGetTypeContext(type), width);
    return LLVMBuildBitCast(b, mov(b, LLVMBuildBitCast(b, from, bits, "")), type, "");
}

/* A store by bytes, where LLVM no longer knows that the place is aligned, as where it has moved one behind a loop: a byte
 * is narrower than the register. */
static void mend_store(LLVMBuilderRef b, LLVMTargetDataRef layout, LLVMValueRef store)
{
    LLVMValueRef v = LLVMGetOperand(store, 0);
    bool bits = LLVMIsABitCastInst(v) && is_float(LLVMTypeOf(LLVMGetOperand(v, 0)));
    LLVMTypeRef type = LLVMTypeOf(v);
    if ((!bits && !is_float(type)) || LLVMIsConstant(v) ||
        LLVMGetAlignment(store) >= LLVMStoreSizeOfType(layout, type))
        return;
    unsigned width = (unsigned)LLVMSizeOfTypeInBits(layout, type);
    LLVMTypeRef whole = LLVMIntTypeInContext(LLVMGetTypeContext(type), width);
    LLVMSetOperand(store, 0, mov(b, LLVMBuildBitCast(b, v, whole, "")));
}

static bool is_negative_zero(LLVMValueRef v)
{
    LLVMBool loses;
    if (!LLVMIsAConstantFP(v))
        return false;
    double value = LLVMConstRealGetDouble(v, &loses);
    return value == 0 && signbit(value) != 0;
}

/* min or max, as the lowering writes it, with -0.0: of a number x and that, x where it is at least 0 (max), or below
 * (min). */
static LLVMValueRef mend_extreme(LLVMBuilderRef b, LLVMValueRef call)
{
    LLVMValueRef code = LLVMGetCalledValue(call);
    size_t size;
    if (!LLVMIsAInlineAsm(code) || LLVMGetNumArgOperands(call) != 2)
        return NULL;
    const char *text = LLVMGetInlineAsmAsmString(code, &size);
    bool max = size > 4 && strncmp(text, "max.", 4) == 0;
    if (!max && (size <= 4 || strncmp(text, "min.", 4) != 0))
        return NULL;
    LLVMValueRef x = LLVMGetOperand(call, 0), zero = LLVMGetOperand(call, 1);
    if (!is_negative_zero(zero)) {
        LLVMValueRef first = x;
        x = zero;
        zero = first;
    }
    if (!is_negative_zero(zero))
        return NULL;
    LLVMValueRef is = LLVMBuildFCmp(b, max ? LLVMRealOGE : LLVMRealOLT, x, zero, "");
    return LLVMBuildSelect(b, is, x, zero, "");
}

static void mend_block(LLVMBuilderRef b, LLVMTargetDataRef layout, LLVMBasicBlockRef block)
{
    LLVMValueRef next;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
        next = LLVMGetNextInstruction(i);
        LLVMValueRef in_place = NULL;
        LLVMPositionBuilderBefore(b, i);
        LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(i));
        if (LLVMGetInstructionOpcode(i) == LLVMBitCast)
            in_place = mend_cast(b, layout, i);
        else if (LLVMIsAStoreInst(i))
            mend_store(b, layout, i);
        else if (LLVMIsACallInst(i))
            in_place = mend_extreme(b, i);
        if (!in_place)
            continue;
        LLVMReplaceAllUsesWith(i, in_place);
        LLVMInstructionEraseFromParent(i);
    }
}

void kj_ptx_mend_floats(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(module);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
            mend_block(b, layout, k);
    LLVMDisposeBuilder(b);
}
