/* Values that LLVM does not see through, where what it makes of what it sees is wrong, or slow. */
#include "target/target.h"

LLVMValueRef kj_hidden(LLVMBuilderRef b, LLVMValueRef v)
{
    static const char same[] = "=r,0"; /* of no instruction: its result is taken to be any */
    const LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    LLVMTypeRef type = LLVMTypeOf(v), fn = LLVMFunctionType(type, &type, 1, false);
    LLVMValueRef code = LLVMGetInlineAsm(fn, "", 0, same, sizeof same - 1, false, false,
                                         LLVMInlineAsmDialectATT, false);
    LLVMValueRef call = LLVMBuildCall2(b, fn, code, &v, 1, "");
    kj_call_attribute(call, whole, "memory", 0); /* none */
    kj_call_attribute(call, whole, "nounwind", 0);
    kj_call_attribute(call, whole, "willreturn", 0);
    return call;
}

LLVMValueRef kj_hidden_number(LLVMBuilderRef b, uint64_t number, unsigned bits)
{
    LLVMTypeRef type = LLVMIntTypeInContext(LLVMGetBuilderContext(b), bits);
    return kj_hidden(b, LLVMConstInt(type, number, false));
}
