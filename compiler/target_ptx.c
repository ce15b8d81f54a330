/* NVIDIA's GPUs as a target: PTX for a chip, in the version that the driver takes. */
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <llvm/Config/llvm-config.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "ptx_version.h"
#include "target.h"

static void initialise(void)
{
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
}

const char *kj_gpu(int i)
{
    return kj_ptx_chip(i, LLVM_VERSION_MAJOR);
}

static char *too_old(const char *arch, int version, int needed)
{
    char text[120];
    snprintf(text, sizeof text, "%s needs PTX %d.%d, the driver takes PTX %d.%d", arch, needed / 10,
             needed % 10, version / 10, version % 10);
    return LLVMCreateMessage(text);
}

static char *open_ptx(kj_target *t, const kj_compile_options *options)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialise);
    int version = kj_ptx_version(options->arch, options->ptx_version, LLVM_VERSION_MAJOR);
    if (version <= 0)
        return version == 0 ? LLVMCreateMessage("there is no such GPU")
                            : too_old(options->arch, options->ptx_version, -version);
    char features[16];
    snprintf(features, sizeof features, "+ptx%d", version);
    t->triple = LLVMCreateMessage("nvptx64-nvidia-cuda");
    t->cpu = LLVMCreateMessage(options->arch);
    t->features = LLVMCreateMessage(features);
    t->vector = 1;
    return kj_target_machine(t, options->opt_level == 0 ? LLVMCodeGenLevelNone
                                                        : LLVMCodeGenLevelDefault);
}

/* ---- The parameters that are used ---- */

static void copy_attributes(LLVMValueRef from, LLVMAttributeIndex at, LLVMValueRef to,
                            LLVMAttributeIndex place)
{
    LLVMAttributeRef list[16];
    unsigned n = LLVMGetAttributeCountAtIndex(from, at);
    if (n > sizeof list / sizeof *list)
        return;
    LLVMGetAttributesAtIndex(from, at, list);
    for (unsigned i = 0; i < n; i++)
        LLVMAddAttributeAtIndex(to, place, list[i]);
}

static void move_body(LLVMValueRef from, LLVMValueRef to)
{
    LLVMBasicBlockRef block;
    while ((block = LLVMGetFirstBasicBlock(from))) {
        LLVMRemoveBasicBlockFromParent(block);
        LLVMAppendExistingBasicBlock(to, block);
    }
}

/* The entry again, without the parameters that nothing uses. */
static void finish(kj_arena *arena, LLVMModuleRef module, kj_code *out)
{
    LLVMValueRef old = LLVMGetNamedFunction(module, out->entry);
    int *args = KJ_NEW_ARRAY(arena, int, (size_t)out->nargs + 1), n = 0;
    LLVMTypeRef *types = KJ_NEW_ARRAY(arena, LLVMTypeRef, (size_t)out->nargs + 1);
    for (int i = 0; i < out->nargs; i++) {
        LLVMValueRef param = LLVMGetParam(old, (unsigned)i);
        if (!LLVMGetFirstUse(param))
            continue;
        types[n] = LLVMTypeOf(param);
        args[n++] = i;
    }
    LLVMTypeRef none = LLVMVoidTypeInContext(LLVMGetModuleContext(module));
    LLVMTypeRef type = LLVMFunctionType(none, types, (unsigned)n, false);
    LLVMValueRef new = LLVMAddFunction(module, "", type);
    LLVMSetFunctionCallConv(new, LLVMGetFunctionCallConv(old));
    LLVMAttributeIndex on_function = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    copy_attributes(old, on_function, new, on_function);
    LLVMSetSubprogram(new, LLVMGetSubprogram(old));
    move_body(old, new);
    for (int i = 0; i < n; i++) {
        LLVMValueRef from = LLVMGetParam(old, (unsigned)args[i]),
                     to = LLVMGetParam(new, (unsigned)i);
        size_t size;
        const char *name = LLVMGetValueName2(from, &size);
        LLVMSetValueName2(to, name, size);
        LLVMReplaceAllUsesWith(from, to);
        copy_attributes(old, 1 + (unsigned)args[i], new, 1 + (unsigned)i);
        args[i] = out->args[args[i]];
    }
    LLVMDeleteFunction(old);
    LLVMSetValueName2(new, out->entry, strlen(out->entry));
    out->args = args;
    out->nargs = n;
}

/* ---- The target ---- */

/* What threads have in common is a scalar already, and there are no vectors: wanted are registers,
 * clean-up, and loops unrolled, so that loads are under way together. */
static const char pipeline[] =
    "always-inline,"
    "function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint;max-"
    "iterations=1>,"
    "loop-simplify,lcssa,loop-mssa(loop-rotate<header-duplication>,licm<allowspeculation>,"
    "simple-loop-unswitch<no-nontrivial;trivial>),simplifycfg,loop(indvars,loop-deletion),"
    "loop-unroll<O3;upperbound>,"
    "sroa<modify-cfg>,gvn,instcombine<no-verify-fixpoint;max-iterations=1>,"
    "loop-mssa(licm<allowspeculation>),dse,adce,simplifycfg,infer-alignment,load-store-vectorizer),"
    "globaldce";

const kj_target_kind kj_ptx_target = {
    .open = open_ptx,
    .lower = kj_lower_ptx,
    .pipelines = {"always-inline", "default<O1>", pipeline, pipeline},
    .finish = finish,
    .gpu = true,
};
