/* Quotients and remainders of few bytes, by constants, are computed in 16 bits: `a[i] // 10` of `u8` in a gang of eight.
 * LLVM makes products of them in a register's half. Where such a quotient's lanes are in another order and multiplied, its
 * selection of instructions for AVX2 finds all of that to be 0 (LLVM 14 to 22, of vectors of 4 and 8 bytes). In 16
 * bits it is one product of words, which is less code, too. */
#include "target/target.h"

typedef LLVMValueRef value;

enum { BYTE = 8, HALF = 16, MOST = 8 }; /* bits; lanes */

static bool is_of_few_bytes(value v)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind && LLVMGetVectorSize(type) <= MOST &&
           LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(LLVMGetElementType(type)) == BYTE;
}

static bool is_quotient(value v)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    return (op == LLVMUDiv || op == LLVMSDiv || op == LLVMURem || op == LLVMSRem) &&
           LLVMIsConstant(LLVMGetOperand(v, 1)) && is_of_few_bytes(v);
}

static value widened(LLVMBuilderRef b, value quotient)
{
    LLVMTypeRef type = LLVMTypeOf(quotient),
                half = LLVMIntTypeInContext(LLVMGetTypeContext(type), HALF),
                wide = LLVMVectorType(half, LLVMGetVectorSize(type));
    LLVMOpcode op = LLVMGetInstructionOpcode(quotient),
               extend = op == LLVMSDiv || op == LLVMSRem ? LLVMSExt : LLVMZExt;
    value x = LLVMBuildCast(b, extend, LLVMGetOperand(quotient, 0), wide, ""),
          y = LLVMBuildCast(b, extend, LLVMGetOperand(quotient, 1), wide, "");
    return LLVMBuildTrunc(b, LLVMBuildBinOp(b, op, x, y, ""), type, "");
}

void kj_widen_byte_quotients(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (value fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(fn); k; k = LLVMGetNextBasicBlock(k))
            for (value next, i = LLVMGetFirstInstruction(k); i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (!is_quotient(i))
                    continue;
                LLVMPositionBuilderBefore(b, i);
                LLVMReplaceAllUsesWith(i, widened(b, i));
                LLVMInstructionEraseFromParent(i);
            }
    LLVMDisposeBuilder(b);
}
