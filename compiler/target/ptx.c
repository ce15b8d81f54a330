/* NVIDIA's GPUs as a target: PTX for a chip, in the version that the driver takes. */
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm/Config/llvm-config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "identity.h"
#include "target/ptx_version.h"
#include "target/target.h"

/* Addresses of shared, constant and local memory have 32 bits: as it is in the hardware, and half
 * the arithmetic. To LLVM (up to 23) that is a setting of the process: ours is made only where LLVM
 * is part of the library, and nobody else sees it. Where it is a library of others, too, theirs
 * stay, and addresses are as long as they say. */
static void initialise(void)
{
    static const char *const settings[] = {"kjit", "-nvptx-short-ptr"};
    if (!KJ_LLVM_IS_SHARED)
        LLVMParseCommandLineOptions(2, settings, "");
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
    kj_snprintf(text, sizeof text, "%s needs PTX %d.%d, the driver takes PTX %d.%d", arch,
                needed / 10, needed % 10, version / 10, version % 10);
    return kj_message_of(text);
}

static char *open_ptx(kj_target *t, const kj_compile_options *options)
{
    static bool ready;
    kj_make_ready(initialise, &ready);
    int version = kj_ptx_version(options->arch, options->ptx_version, LLVM_VERSION_MAJOR);
    if (version <= 0)
        return version == 0 ? kj_message_of("there is no such GPU")
                            : too_old(options->arch, options->ptx_version, -version);
    char features[16];
    kj_snprintf(features, sizeof features, "+ptx%d", version);
    t->triple = kj_message_of("nvptx64-nvidia-cuda");
    t->cpu = kj_message_of(options->arch);
    t->features = kj_message_of(features);
    t->vector = 1;
    t->sm = atoi(options->arch + strlen("sm_"));
    return kj_target_machine(t, options->opt_level == 0 ? LLVMCodeGenLevelNone
                                                        : LLVMCodeGenLevelDefault);
}

static const char *name(kj_arena *arena, const kj_compile_options *options)
{
    return kj_arena_printf(arena, "%s PTX %d", options->arch,
                           kj_ptx_version(options->arch, options->ptx_version, LLVM_VERSION_MAJOR));
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
static void drop_params(kj_arena *arena, LLVMModuleRef module, kj_code *out)
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

/* ---- Loads that were joined ---- */

/* The elements that a masked load stands for, each loaded alone. */
static LLVMValueRef expand(LLVMBuilderRef b, LLVMValueRef call)
{
    static const char *const kept[] = {"invariant.load", "alias.scope", "noalias"};
    LLVMTypeRef type = LLVMTypeOf(call), elem = LLVMGetElementType(type);
    LLVMContextRef ctx = LLVMGetTypeContext(type);
    LLVMTypeRef word = LLVMInt32TypeInContext(ctx);
    unsigned last = LLVMGetNumArgOperands(call) - 1;
    LLVMValueRef at = LLVMGetOperand(call, 0), mask = LLVMGetOperand(call, last - 1);
    LLVMValueRef all = LLVMGetOperand(call, last);
    LLVMPositionBuilderBefore(b, call);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(call));
    for (unsigned i = 0; i < LLVMGetVectorSize(type); i++) {
        if (LLVMIsNull(LLVMGetAggregateElement(mask, i)))
            continue;
        LLVMValueRef index = LLVMConstInt(word, i, false);
        LLVMValueRef one = LLVMBuildLoad2(b, elem, LLVMBuildGEP2(b, elem, at, &index, 1, ""), "");
        for (int k = 0; k < 3; k++) {
            unsigned id = LLVMGetMDKindIDInContext(ctx, kept[k], (unsigned)strlen(kept[k]));
            if (LLVMGetMetadata(call, id))
                LLVMSetMetadata(one, id, LLVMGetMetadata(call, id));
        }
        all = LLVMBuildInsertElement(b, all, one, index, "");
    }
    return all;
}

static void tidy_block(LLVMBuilderRef b, LLVMTargetDataRef layout, LLVMBasicBlockRef block)
{
    LLVMValueRef next;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
        next = LLVMGetNextInstruction(i);
        LLVMValueRef f = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
        if (LLVMIsALoadInst(i) && LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVectorTypeKind)
            LLVMSetAlignment(i, LLVMABIAlignmentOfType(layout, LLVMTypeOf(i)));
        size_t size;
        if (!f || strncmp(LLVMGetValueName2(f, &size), "llvm.masked.load.", 17) != 0)
            continue;
        LLVMReplaceAllUsesWith(i, expand(b, i));
        LLVMInstructionEraseFromParent(i);
    }
}

/* LLVM joins loads of neighbours also where one is missing in between or behind them, and loads
 * what is there: within 16 bytes of the array, but perhaps not of it. Those are taken apart again,
 * and what is known of single loads' alignment is forgotten, from which it would be done anew. */
static void take_apart(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(module);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
            tidy_block(b, layout, k);
    LLVMDisposeBuilder(b);
}

/* LLVM before 21 reads what is said of a launch not from the entry's attributes, but from a list of
 * the module's: the attribute's numbers, each under a name. */
static void annotate(LLVMModuleRef module, LLVMValueRef fn, const char *attribute,
                     const char *const names[3])
{
    LLVMAttributeIndex on_function = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    LLVMAttributeRef a =
        LLVMGetStringAttributeAtIndex(fn, on_function, attribute, (unsigned)strlen(attribute));
    unsigned size;
    const char *at = a ? LLVMGetStringAttributeValue(a, &size) : NULL;
    LLVMContextRef ctx = LLVMGetModuleContext(module);
    for (int i = 0; i < 3 && at && names[i]; i++) {
        LLVMValueRef number = LLVMConstInt(LLVMInt32TypeInContext(ctx), strtoul(at, NULL, 10), 0);
        LLVMMetadataRef parts[3] = {LLVMValueAsMetadata(fn),
                                    LLVMMDStringInContext2(ctx, names[i], strlen(names[i])),
                                    LLVMValueAsMetadata(number)};
        LLVMMetadataRef node = LLVMMDNodeInContext2(ctx, parts, 3);
        LLVMAddNamedMetadataOperand(module, "nvvm.annotations", LLVMMetadataAsValue(ctx, node));
        at = strchr(at, ',');
        at = at ? at + 1 : NULL;
    }
}

static void annotate_entry(LLVMModuleRef module, const char *entry)
{
    LLVMValueRef fn = LLVMGetNamedFunction(module, entry);
    annotate(module, fn, "nvvm.reqntid", (const char *const[]){"reqntidx", "reqntidy", "reqntidz"});
    annotate(module, fn, "nvvm.maxntid", (const char *const[]){"maxntidx", NULL, NULL});
    annotate(module, fn, "nvvm.minctasm", (const char *const[]){"minctasm", NULL, NULL});
    annotate(module, fn, "nvvm.maxnreg", (const char *const[]){"maxnreg", NULL, NULL});
}

/* ---- How much an entry takes ---- */

/* Bytes of parameters that any chip takes, by the version of PTX. */
static int64_t param_limit(const kj_compile_options *options)
{
    int version = kj_ptx_version(options->arch, options->ptx_version, LLVM_VERSION_MAJOR);
    return version < 81 ? 4352 : 32764;
}

static void limit_params(kj_diag *diag, const kj_compile_options *options, LLVMModuleRef module,
                         const kj_code *code)
{
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(module);
    LLVMValueRef fn = LLVMGetNamedFunction(module, code->entry);
    int64_t bytes = 0, limit = param_limit(options);
    for (LLVMValueRef p = LLVMGetFirstParam(fn); p; p = LLVMGetNextParam(p)) {
        int64_t size = (int64_t)LLVMABISizeOfType(layout, LLVMTypeOf(p));
        bytes = (bytes + size - 1) / size * size + size;
    }
    if (bytes <= limit)
        return;
    int version = kj_ptx_version(options->arch, options->ptx_version, LLVM_VERSION_MAJOR);
    kj_message *m = kj_error(diag, code->kernel->span, KJ_RULE_TOO_LARGE,
                             "'%s' takes %lld bytes of parameters, and PTX %d.%d at most %lld",
                             code->kernel->name, (long long)bytes, version / 10, version % 10,
                             (long long)limit);
    kj_hint(diag, m, "an array takes 8 bytes, and up to 16 more for each of its dimensions");
}

static void finish(kj_arena *arena, kj_diag *diag, const kj_compile_options *options,
                   LLVMModuleRef module, kj_code *out, int n)
{
    take_apart(module);
    kj_ptx_mend_floats(module);
    kj_ptx_mend_words(module);
    for (int i = 0; i < n; i++) {
        drop_params(arena, module, &out[i]); /* a child has what those who launch it give */
        for (int k = -1; k < out[i].nchildren; k++)
            limit_params(diag, options, module, k < 0 ? &out[i] : &out[i].children[k]);
        if (LLVM_VERSION_MAJOR >= 21)
            continue;
        annotate_entry(module, out[i].entry);
        for (int k = 0; k < out[i].nchildren; k++)
            annotate_entry(module, out[i].children[k].entry);
    }
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
    "loop-mssa(licm<allowspeculation>),dse,adce,simplifycfg,infer-alignment),"
    "globaldce";

/* What takes the time of a driver, too, is loops that are unrolled. */
static const char large[] =
    "always-inline,function(sroa<modify-cfg>,early-cse,simplifycfg,"
    "instcombine<no-verify-fixpoint;max-iterations=1>,infer-alignment),globaldce";

const kj_target_kind kj_ptx_target = {
    .open = open_ptx,
    .name = name,
    .pipelines = {"always-inline", kj_light_pipeline, pipeline, pipeline},
    .large = large,
    .large_code = 8000,
    .large_registers = 32000,
    .last = "function(load-store-vectorizer)",
    .finish = finish,
    .gpu = true,
};
