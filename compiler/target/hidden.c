/* Numbers whose value LLVM's selection of instructions does not see, where it would make wrong code of what it sees. */
#include "target/target.h"

LLVMValueRef kj_hidden(LLVMBuilderRef b, uint64_t number, unsigned bits)
{
    static const char same[] = "=r,0"; /* of no instruction: its result is taken to be any */
    LLVMTypeRef type = LLVMIntTypeInContext(LLVMGetBuilderContext(b), bits);
    LLVMTypeRef fn = LLVMFunctionType(type, &type, 1, false);
    LLVMValueRef code = LLVMGetInlineAsm(fn, "", 0, same, sizeof same - 1, false, false,
                                         LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(b, fn, code, (LLVMValueRef[]){LLVMConstInt(type, number, false)}, 1, "");
}
