/* The CPU as a target: an LLVM module in, an optimised object or assembly text out. */
#include "target_host.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mathlib.h"

static void initialise(void)
{
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
}

static int vector_width(const char *features)
{
    if (strstr(features, "+avx512f"))
        return 16;
    return strstr(features, "+avx2") ? 8 : 4;
}

static char *dup_message(const char *s)
{
    return LLVMCreateMessage(s);
}

char *kj_host_open(kj_host_target *t, const kj_compile_options *options)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialise);
    memset(t, 0, sizeof *t);
    t->triple = LLVMGetDefaultTargetTriple();
    bool given = options->cpu != NULL;
    t->cpu = given ? dup_message(options->cpu) : LLVMGetHostCPUName();
    if (given)
        t->features = dup_message(options->features ? options->features : "");
    else
        t->features = LLVMGetHostCPUFeatures();
    t->vector = vector_width(t->features);
    LLVMTargetRef target;
    char *error = NULL;
    if (LLVMGetTargetFromTriple(t->triple, &target, &error))
        return error;
    LLVMCodeGenOptLevel level =
        options->opt_level == 0 ? LLVMCodeGenLevelNone : LLVMCodeGenLevelLess;
    t->machine = LLVMCreateTargetMachine(target, t->triple, t->cpu, t->features, level,
                                         LLVMRelocPIC, LLVMCodeModelDefault);
    return t->machine ? NULL : dup_message("this CPU is not one LLVM compiles for");
}

void kj_host_close(kj_host_target *t)
{
    if (t->machine)
        LLVMDisposeTargetMachine(t->machine);
    LLVMDisposeMessage(t->triple);
    LLVMDisposeMessage(t->cpu);
    LLVMDisposeMessage(t->features);
}

void kj_host_describe(kj_host_target *t, LLVMModuleRef module)
{
    LLVMTargetDataRef data = LLVMCreateTargetDataLayout(t->machine);
    char *layout = LLVMCopyStringRepOfTargetData(data);
    LLVMSetTarget(module, t->triple);
    LLVMSetDataLayout(module, layout);
    LLVMDisposeMessage(layout);
    LLVMDisposeTargetData(data);
}

/* ---- The math library ---- */

static unsigned count_instructions(LLVMValueRef f)
{
    unsigned n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            n++;
    return n;
}

enum { INLINE_MOST = 80 };

/* Short functions become part of the kernel, where several interleave; long ones are called. Wide
 * vectors are passed in registers only between functions that say so. */
static void adapt(LLVMModuleRef module, LLVMValueRef f, LLVMValueRef caller)
{
    static const char *const widths[] = {"prefer-vector-width", "min-legal-vector-width"};
    LLVMAttributeIndex on_function = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    LLVMContextRef ctx = LLVMGetModuleContext(module);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    const char *how = count_instructions(f) <= INLINE_MOST ? "alwaysinline" : "noinline";
    unsigned kind = LLVMGetEnumAttributeKindForName(how, strlen(how));
    LLVMAddAttributeAtIndex(f, on_function, LLVMCreateEnumAttribute(ctx, kind, 0));
    for (int i = 0; i < 2; i++) {
        LLVMAttributeRef a = LLVMGetStringAttributeAtIndex(caller, on_function, widths[i],
                                                           (unsigned)strlen(widths[i]));
        if (a)
            LLVMAddAttributeAtIndex(f, on_function, a);
    }
}

static char *link_one(LLVMModuleRef module, const kj_math_fn *fn, LLVMValueRef caller)
{
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRange(fn->bitcode, fn->size, fn->symbol, 0);
    LLVMModuleRef part;
    LLVMBool failed = LLVMParseBitcodeInContext2(LLVMGetModuleContext(module), buffer, &part);
    LLVMDisposeMemoryBuffer(buffer);
    if (failed)
        return dup_message("the embedded math library does not load");
    LLVMSetTarget(part, LLVMGetTarget(module));
    LLVMSetDataLayout(part, LLVMGetDataLayoutStr(module));
    if (LLVMLinkModules2(module, part))
        return dup_message("the embedded math library does not link");
    adapt(module, LLVMGetNamedFunction(module, fn->symbol), caller);
    return NULL;
}

char *kj_host_link_math(LLVMModuleRef module)
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
            char *error = f && LLVMIsDeclaration(f) ? link_one(module, fn, caller) : NULL;
            if (error)
                return error;
        }
    }
    return NULL;
}

/* ---- Optimising and emitting ---- */

static char *message_of(LLVMErrorRef e)
{
    if (!e)
        return NULL;
    char *text = LLVMGetErrorMessage(e), *copy = dup_message(text);
    LLVMDisposeErrorMessage(text);
    return copy;
}

/* The code is vectors already: what is wanted of LLVM is registers, scalar clean-up and loops, once
 * each. The default pipelines take twice as long for the same code. */
static const char pipeline[] =
    "always-inline,"
    "function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint;max-"
    "iterations=1>,"
    "loop-simplify,lcssa,loop-mssa(loop-rotate<header-duplication>,licm<allowspeculation>,"
    "simple-loop-unswitch<no-nontrivial;trivial>),simplifycfg,loop(indvars,loop-deletion,loop-"
    "unroll-full),"
    "sroa<modify-cfg>,gvn,loop-unroll<O2>,instcombine<no-verify-fixpoint;max-iterations=1>,"
    "loop-mssa(licm<allowspeculation>),dse,adce,simplifycfg),globaldce";

char *kj_host_optimise(kj_host_target *t, LLVMModuleRef module, const kj_compile_options *options)
{
    static const char *const pipelines[] = {"always-inline", "default<O1>", pipeline, pipeline};
    int level = options->opt_level < 0 || options->opt_level > 3 ? 3 : options->opt_level;
    if (options->verify) {
        char *error = NULL;
        if (LLVMVerifyModule(module, LLVMReturnStatusAction, &error))
            return error;
        LLVMDisposeMessage(error);
    }
    LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopVectorization(o, false);
    LLVMPassBuilderOptionsSetSLPVectorization(o, false);
    LLVMPassBuilderOptionsSetLoopInterleaving(o, false);
    LLVMPassBuilderOptionsSetVerifyEach(o, false);
    LLVMErrorRef error = LLVMRunPasses(module, pipelines[level], t->machine, o);
    LLVMDisposePassBuilderOptions(o);
    return message_of(error);
}

char *kj_host_emit(kj_host_target *t, LLVMModuleRef module, LLVMCodeGenFileType type,
                   LLVMMemoryBufferRef *out)
{
    char *error = NULL;
    return LLVMTargetMachineEmitToMemoryBuffer(t->machine, module, type, &error, out) ? error
                                                                                      : NULL;
}
