/* The pieces of tools/mathlib.c, a build-time program: an error ends it. */
#ifndef KJ_TOOLS_MATHLIB_H
#define KJ_TOOLS_MATHLIB_H

#include <stdbool.h>
#include <stddef.h>

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

enum { LANES = 16, MOST_ARGS = 4 };

static const LLVMAttributeIndex WHOLE_FUNCTION = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

_Noreturn void fail(const char *what, const char *detail);
void run_passes(LLVMModuleRef m, const char *passes, LLVMTargetMachineRef machine);

/* mathlib_read.c: libclc's file with the functions for which `wanted` is true, cleaned: no trace of
 * a target, of fast-math, of address spaces or of poison that a branch depends on. split_words and
 * bound_tables complete that once it is optimised. */
LLVMModuleRef read_library(LLVMContextRef context, const char *path,
                           bool (*wanted)(const char *name));
void split_words(LLVMModuleRef m);
void bound_tables(LLVMModuleRef m);
void strip_attributes(LLVMValueRef f, LLVMValueRef call);

/* mathlib_wide.c: puts the 16-lane function `symbol` in the place of m's scalar one, which has the
 * same bits in every lane; false where that does not work. The machine is one whose vectoriser has
 * gathers and masks. */
LLVMTargetMachineRef vector_machine(void);
bool widen(LLVMModuleRef m, LLVMTargetMachineRef machine, const char *name, const char *symbol);

/* mathlib_own.c: adds kj$<name>_<type> functions for what libclc gets wrong, made from its other
 * functions where that is possible; it uses the functions `is_own_part` names. */
void add_own_functions(LLVMModuleRef m);
bool is_own_part(const char *opencl_name);

#endif
