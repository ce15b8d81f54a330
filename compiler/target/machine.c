/* LLVM's target machines: triple, CPU and features, made for a compilation. */
#include <llvm-c/Target.h>

#include "target/target.h"

char *kj_target_machine(kj_target *t, LLVMCodeGenOptLevel level)
{
    LLVMTargetRef target;
    char *error = NULL;
    if (LLVMGetTargetFromTriple(t->triple, &target, &error))
        return kj_llvm_text(error);
    t->machine = LLVMCreateTargetMachine(target, t->triple, t->cpu, t->features, level,
                                         LLVMRelocPIC, LLVMCodeModelDefault);
    return t->machine ? NULL : kj_message_of("LLVM does not compile for this machine");
}
