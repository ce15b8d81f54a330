/* LLVM IR -> code for the CPU this runs on: the target, the math library, the optimiser, the
 * emitter. */
#ifndef KJ_TARGET_HOST_H
#define KJ_TARGET_HOST_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "compile.h"

typedef struct kj_host_target {
    LLVMTargetMachineRef machine;
    char *triple, *cpu, *features;
    int vector; /* f32 in the widest vector register */
} kj_host_target;

/* All give NULL, or what is wrong in a string for LLVMDisposeMessage. */
char *kj_host_open(kj_host_target *t, const kj_compile_options *options);
char *kj_host_link_math(LLVMModuleRef module); /* definitions of the math functions it calls */
char *kj_host_optimise(kj_host_target *t, LLVMModuleRef module, const kj_compile_options *options);
char *kj_host_emit(kj_host_target *t, LLVMModuleRef module, LLVMCodeGenFileType type,
                   LLVMMemoryBufferRef *out);

void kj_host_describe(kj_host_target *t, LLVMModuleRef module); /* triple and data layout */
void kj_host_close(kj_host_target *t);

#endif
