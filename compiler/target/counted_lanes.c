/* Additions of a mask's lanes, kept from LLVM's selection of instructions. With AVX-512 x + zext(m) of vectors becomes
 * x - sext(m), and where it knows that lanes of m are off, as of a part of `lane == 0`, sext(m) becomes zext(m) and the
 * sum is made again: for ever (LLVM 22). So such a sum is a selection here, x + 1 of the lanes that are on, which is the
 * masked instruction. */
#include "target/target.h"

typedef LLVMValueRef value;

static bool is_mask(LLVMTypeRef type)
{
    LLVMTypeRef element =
        LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : NULL;
    return element && LLVMGetTypeKind(element) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(element) == 1;
}

/* The mask that is widened; NULL: it is none. */
static value mask_of(value v, bool *sign)
{
    if (!LLVMIsAZExtInst(v) && !LLVMIsASExtInst(v))
        return NULL;
    value mask = LLVMGetOperand(v, 0);
    *sign = LLVMIsASExtInst(v);
    return is_mask(LLVMTypeOf(mask)) ? mask : NULL;
}

static value ones(LLVMTypeRef type, bool sign)
{
    enum { MOST = 64 };
    value v[MOST];
    unsigned n = LLVMGetVectorSize(type);
    if (n > MOST)
        return NULL;
    for (unsigned i = 0; i < n; i++)
        v[i] = LLVMConstInt(LLVMGetElementType(type), sign ? UINT64_MAX : 1, sign);
    return LLVMConstVector(v, n);
}

/* x + zext(m), x - sext(m) and the like. */
static void select_sum(LLVMBuilderRef b, value sum)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(sum);
    bool sign;
    value mask = mask_of(LLVMGetOperand(sum, 1), &sign);
    unsigned other = mask ? 0 : 1;
    if (!mask && op == LLVMAdd)
        mask = mask_of(LLVMGetOperand(sum, 0), &sign);
    value one = mask ? ones(LLVMTypeOf(sum), sign) : NULL;
    if (!one)
        return;
    LLVMPositionBuilderBefore(b, sum);
    value x = LLVMGetOperand(sum, other), more = LLVMBuildBinOp(b, op, x, one, "");
    LLVMReplaceAllUsesWith(sum, LLVMBuildSelect(b, mask, more, x, ""));
    LLVMInstructionEraseFromParent(sum);
    if (LLVMIsABinaryOperator(more)) /* x may be a mask's lanes, too */
        select_sum(b, more);
}

void kj_select_sums(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (value f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
            for (value i = LLVMGetFirstInstruction(k), next; i; i = next) {
                LLVMOpcode op = LLVMGetInstructionOpcode(i);
                next = LLVMGetNextInstruction(i);
                if (op == LLVMAdd || op == LLVMSub)
                    select_sum(b, i);
            }
    LLVMDisposeBuilder(b);
}
