/* The math functions that a module calls: their definitions, from the embedded library. */
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <string.h>

#include "mathlib.h"
#include "target.h"

static unsigned count_instructions(LLVMValueRef f)
{
    unsigned n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            n++;
    return n;
}

static bool is_called_once(LLVMValueRef f)
{
    LLVMUseRef use = LLVMGetFirstUse(f);
    return use && !LLVMGetNextUse(use);
}

enum { INLINE_MOST = 80 };

/* Short functions become part of the kernel, where several interleave; long ones are called. Wide
 * vectors are passed in registers only between functions that say so. */
static void adapt(const kj_target *t, LLVMModuleRef module, LLVMValueRef f, LLVMValueRef caller)
{
    static const char *const widths[] = {"prefer-vector-width", "min-legal-vector-width"};
    LLVMAttributeIndex on_function = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    LLVMContextRef ctx = LLVMGetModuleContext(module);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    bool within = count_instructions(f) <= INLINE_MOST || (t->kind->gpu && is_called_once(f));
    const char *how = within ? "alwaysinline" : "noinline";
    unsigned kind = LLVMGetEnumAttributeKindForName(how, strlen(how));
    LLVMAddAttributeAtIndex(f, on_function, LLVMCreateEnumAttribute(ctx, kind, 0));
    for (int i = 0; i < 2; i++) {
        LLVMAttributeRef a = LLVMGetStringAttributeAtIndex(caller, on_function, widths[i],
                                                           (unsigned)strlen(widths[i]));
        if (a)
            LLVMAddAttributeAtIndex(f, on_function, a);
    }
}

static char *link_one(const kj_target *t, LLVMModuleRef module, const kj_math_fn *fn,
                      LLVMValueRef caller)
{
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRange(fn->bitcode, fn->size, fn->symbol, 0);
    LLVMModuleRef part;
    LLVMBool failed = LLVMParseBitcodeInContext2(LLVMGetModuleContext(module), buffer, &part);
    LLVMDisposeMemoryBuffer(buffer);
    if (failed)
        return LLVMCreateMessage("the embedded math library does not load");
    LLVMSetTarget(part, LLVMGetTarget(module));
    LLVMSetDataLayout(part, LLVMGetDataLayoutStr(module));
    if (LLVMLinkModules2(module, part))
        return LLVMCreateMessage("the embedded math library does not link");
    adapt(t, module, LLVMGetNamedFunction(module, fn->symbol), caller);
    return NULL;
}

char *kj_link_math(const kj_target *t, LLVMModuleRef module)
{
    static const int lanes[] = {1, 16};
    LLVMValueRef caller = LLVMGetFirstFunction(module);
    while (caller && LLVMIsDeclaration(caller))
        caller = LLVMGetNextFunction(caller);
    for (int id = 0; id < KJ_NBUILTINS; id++) {
        for (int k = 0; k < 4 && kj_builtins[id].how == KJ_HOW_MATH; k++) {
            const kj_math_fn *fn =
                kj_mathlib_find((kj_builtin)id, k / 2 ? KJ_F64 : KJ_F32, lanes[k % 2]);
            LLVMValueRef f = fn ? LLVMGetNamedFunction(module, fn->symbol) : NULL;
            char *error = f && LLVMIsDeclaration(f) ? link_one(t, module, fn, caller) : NULL;
            if (error)
                return error;
        }
    }
    return NULL;
}
