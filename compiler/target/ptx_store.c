/* Stores of a float's bits. PTX keeps no types in its registers, but NVIDIA's assembler does: where
 * an instruction of floats made a register and a store is narrower than it, `ptxas` (up to 13.0 and
 * the driver's, for every chip) converts the number to an integer, as cvt does, and stores that. LLVM
 * writes such stores for the low bits of a float. A mov in between, of bits, makes them bits again,
 * and costs nothing: it is gone from the machine code. */
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "target/target.h"

enum { DEEPEST = 8 };

/* May the value's register be a float's, though its type is an integer? What only combines or
 * chooses bits might be left out where the low ones alone are wanted. */
static bool may_be_float(LLVMValueRef v, int depth)
{
    if (!LLVMIsAInstruction(v))
        return false;
    if (depth == DEEPEST)
        return true;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMBitCast: {
        LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(v, 0)));
        return kind != LLVMIntegerTypeKind && kind != LLVMVectorTypeKind;
    }
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMSelect:
    case LLVMFreeze:
    case LLVMTrunc:
        for (int i = 0; i < LLVMGetNumOperands(v); i++)
            if (may_be_float(LLVMGetOperand(v, (unsigned)i), depth + 1))
                return true;
        return false;
    case LLVMPHI:
        for (unsigned i = 0; i < LLVMCountIncoming(v); i++)
            if (may_be_float(LLVMGetIncomingValue(v, i), depth + 1))
                return true;
        return false;
    default: return false;
    }
}

static LLVMValueRef as_bits(LLVMBuilderRef b, LLVMValueRef v)
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

static void mend_block(LLVMBuilderRef b, LLVMBasicBlockRef block)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        if (!LLVMIsATruncInst(i) || LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMIntegerTypeKind)
            continue;
        LLVMValueRef wide = LLVMGetOperand(i, 0);
        unsigned width = LLVMGetIntTypeWidth(LLVMTypeOf(wide));
        if ((width != 16 && width != 32 && width != 64) || !may_be_float(wide, 0))
            continue;
        LLVMPositionBuilderBefore(b, i);
        LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(i));
        LLVMSetOperand(i, 0, as_bits(b, wide));
    }
}

void kj_ptx_keep_bits(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
            mend_block(b, k);
    LLVMDisposeBuilder(b);
}
