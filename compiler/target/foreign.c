/* Code for CPUs of other families, where LLVM's part for them is linked in. An LLVM may have been built without. */
#include "target/foreign.h"

#include <llvm-c/Target.h>

#include "identity.h"
#include "target/target.h"

static void initialise(void)
{
#if KJ_HAS_X86_64 && !defined(__x86_64__)
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
#endif
#if KJ_HAS_AARCH64 && !defined(__aarch64__)
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
#endif
}

char *kj_foreign_ready(void)
{
    static bool ready;
    kj_make_ready(initialise, &ready);
    return NULL;
}
