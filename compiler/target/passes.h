/* LLVM's passes: what enters is a module, what leaves the module after the pipeline's passes. */
#ifndef KJ_PASSES_H
#define KJ_PASSES_H

#include <llvm-c/TargetMachine.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* False, and nothing was run: the pipeline names a pass that is not in passes.cc. */
bool kj_run_passes(LLVMModuleRef module, const char *pipeline, LLVMTargetMachineRef machine);

#ifdef __cplusplus
}
#endif

#endif
