/* What targets have in common, LLVM's pipeline of passes and code generation: an LLVM module in,
 * optimised IR and code out. */
#include "target/target.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <string.h>

#include "base/guard.h"
#include "identity.h"
#include "target/passes.h"

/* ---- Errors that LLVM does not survive ---- */

/* llvm::install_bad_alloc_error_handler, which LLVM-C has no name for. */
void kj_install_no_memory_handler(void (*handler)(void *user, const char *reason, bool dump),
                                  void *user) __asm__("_ZN4llvm31install_bad_alloc_error_handlerEP"
                                                      "FvPvPKcbES0_");

static void on_fatal(const char *reason)
{
    kj_break(KJ_BROKEN, reason);
}

static void on_no_memory(void *user, const char *reason, bool dump)
{
    (void)user, (void)dump;
    kj_break(KJ_NO_ROOM, reason);
}

/* LLVM has one handler a process: where it is a library of others, too, theirs stays. */
static void take_errors(void)
{
    if (KJ_LLVM_IS_SHARED)
        return;
    LLVMInstallFatalErrorHandler(on_fatal);
    kj_install_no_memory_handler(on_no_memory, NULL);
}

void kj_target_ready(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, take_errors);
}

static void run_initialise(void *data)
{
    void (**initialise)(void) = data;
    (*initialise)();
}

/* What leaves LLVM in the middle of that leaves its locks held: whoever came next would wait for ever. */
void kj_make_ready(void (*initialise)(void), bool *ready)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool lost;
    kj_arena none = {0};
    pthread_mutex_lock(&lock);
    if (!*ready && !lost) {
        *ready = kj_guarded(&none, run_initialise, &initialise, NULL) == KJ_DONE;
        lost = !*ready;
    }
    bool failed = lost;
    pthread_mutex_unlock(&lock);
    if (failed)
        kj_break(KJ_NO_ROOM, "out of memory: there was none when LLVM made itself ready, and this "
                             "process compiles no more");
}

char *kj_llvm_text(char *text)
{
    if (!text)
        kj_break(KJ_NO_ROOM, "out of memory");
    return text;
}

void kj_call_attribute(LLVMValueRef call, LLVMAttributeIndex at, const char *name, uint64_t value)
{
    LLVMContextRef ctx = LLVMGetTypeContext(LLVMTypeOf(call));
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddCallSiteAttribute(call, at, LLVMCreateEnumAttribute(ctx, kind, value));
}

char *kj_message_of(const char *text)
{
    return kj_llvm_text(LLVMCreateMessage(text));
}

/* ---- Targets ---- */

char *kj_target_open(kj_target *t, const kj_compile_options *options)
{
    kj_target_ready();
    *t = (kj_target){.kind = options->arch ? &kj_ptx_target : &kj_host_target};
    return t->kind->open(t, options);
}

const char *kj_target_name(kj_arena *arena, const kj_compile_options *options)
{
    kj_target_ready();
    return (options->arch ? &kj_ptx_target : &kj_host_target)->name(arena, options);
}

void kj_target_close(kj_target *t)
{
    kj_target_leave_machine(t);
    LLVMDisposeMessage(t->triple);
    LLVMDisposeMessage(t->cpu);
    LLVMDisposeMessage(t->features);
}

void kj_target_describe(kj_target *t, LLVMModuleRef module)
{
    LLVMTargetDataRef data = LLVMCreateTargetDataLayout(t->machine);
    char *layout = kj_llvm_text(LLVMCopyStringRepOfTargetData(data));
    LLVMSetTarget(module, t->triple);
    LLVMSetDataLayout(module, layout);
    LLVMDisposeMessage(layout);
    LLVMDisposeTargetData(data);
}

/* ---- Selections of floats ---- */

static bool is_compared(LLVMValueRef test, LLVMValueRef v)
{
    return LLVMGetOperand(test, 0) == v || LLVMGetOperand(test, 1) == v;
}

/* LLVM's instruction selection takes `x < 0.0 ? x : 0.0` for a minimum, whose zeros may have either
 * sign. Frozen, what is chosen is not what was compared. */
static void keep_selection(LLVMBuilderRef b, LLVMValueRef select)
{
    LLVMTypeRef type = LLVMTypeOf(select);
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    if (kind == LLVMVectorTypeKind)
        kind = LLVMGetTypeKind(LLVMGetElementType(type));
    LLVMValueRef test = LLVMGetOperand(select, 0);
    bool real = kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind ||
                kind == LLVMHalfTypeKind || kind == LLVMBFloatTypeKind;
    if (!real || !LLVMIsAFCmpInst(test))
        return;
    LLVMPositionBuilderBefore(b, select);
    for (unsigned arm = 1; arm <= 2; arm++) {
        LLVMValueRef v = LLVMGetOperand(select, arm);
        if (!LLVMIsConstant(v) && is_compared(test, v))
            LLVMSetOperand(select, arm, LLVMBuildFreeze(b, v, ""));
    }
}

static void keep_selections(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
            for (LLVMValueRef i = LLVMGetFirstInstruction(k); i; i = LLVMGetNextInstruction(i))
                if (LLVMIsASelectInst(i))
                    keep_selection(b, i);
    LLVMDisposeBuilder(b);
}

/* ---- Long blocks ---- */

/* The first instruction that is not to be in a block with the first, or NULL. */
static LLVMValueRef cut_of(LLVMBasicBlockRef block)
{
    enum { LONGEST = 1000 };
    bool entry = block == LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(block));
    LLVMValueRef last = LLVMGetBasicBlockTerminator(block), cut = NULL;
    int n = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != last;
         i = LLVMGetNextInstruction(i)) {
        if (LLVMIsAPHINode(i) || (entry && LLVMIsAAllocaInst(i))) /* these come first */
            n = 0, cut = NULL;
        else if (n++ == LONGEST)
            cut = i;
    }
    return cut;
}

static void move_to_end(LLVMBuilderRef b, LLVMBasicBlockRef block, LLVMValueRef instruction)
{
    LLVMInstructionRemoveFromParent(instruction);
    LLVMPositionBuilderAtEnd(b, block);
    LLVMInsertIntoBuilder(b, instruction);
}

/* Moves what comes before `cut` into a block of its own, which all that went to this one go to. */
static void cut_block(LLVMBuilderRef b, LLVMBasicBlockRef block, LLVMValueRef cut)
{
    LLVMContextRef ctx = LLVMGetTypeContext(LLVMTypeOf(cut));
    LLVMBasicBlockRef head = LLVMInsertBasicBlockInContext(ctx, block, "");
    LLVMValueRef i, last = LLVMGetBasicBlockTerminator(block);
    while ((i = LLVMGetFirstInstruction(block)) != cut)
        move_to_end(b, head, i);
    LLVMInstructionRemoveFromParent(last); /* its successors' phis go on naming this block */
    LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(block), LLVMBasicBlockAsValue(head));
    LLVMPositionBuilderAtEnd(b, block);
    LLVMInsertIntoBuilder(b, last);
    LLVMPositionBuilderAtEnd(b, head);
    LLVMBuildBr(b, block);
}

/* Much of what selects instructions takes as long as a block is long, for each of its
 * instructions. */
static void cut_blocks(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
            for (LLVMValueRef cut = cut_of(k); cut; cut = cut_of(k))
                cut_block(b, k, cut);
    LLVMDisposeBuilder(b);
}

/* ---- Passes and code ---- */

static int one(const kj_target *t, LLVMValueRef instruction)
{
    (void)t, (void)instruction;
    return 1;
}

/* Vector registers that a value takes, of which there is an instruction each. */
static int registers(const kj_target *t, LLVMValueRef instruction)
{
    LLVMTypeRef type = LLVMTypeOf(instruction);
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return 1;
    LLVMTypeRef element = LLVMGetElementType(type);
    LLVMTypeKind kind = LLVMGetTypeKind(element);
    unsigned bits = kind == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(element)
                    : kind == LLVMFloatTypeKind ? 32
                    : kind == LLVMHalfTypeKind || kind == LLVMBFloatTypeKind ? 16
                                                                             : 64;
    unsigned n = LLVMGetVectorSize(type) * bits / (32 * (unsigned)t->vector);
    return n ? (int)n : 1;
}

/* Of the largest function, its instructions weighed. */
static int largest(const kj_target *t, LLVMModuleRef module,
                   int (*weigh)(const kj_target *t, LLVMValueRef instruction))
{
    int most = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        int n = 0;
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
            for (LLVMValueRef i = LLVMGetFirstInstruction(k); i; i = LLVMGetNextInstruction(i))
                n += weigh(t, i);
        most = n > most ? n : most;
    }
    return most;
}

int kj_target_code(LLVMModuleRef module)
{
    int n = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
            for (LLVMValueRef i = LLVMGetFirstInstruction(k); i; i = LLVMGetNextInstruction(i))
                n++;
    return n;
}

int kj_target_largest(LLVMModuleRef module)
{
    return largest(NULL, module, one);
}

const char kj_light_pipeline[] =
    "always-inline,"
    "function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint;max-"
    "iterations=1>,"
    "loop-simplify,lcssa,loop-mssa(loop-rotate<header-duplication>,licm<allowspeculation>),"
    "simplifycfg,early-cse<memssa>,dse,adce,simplifycfg),globaldce";

static char *run(kj_target *t, LLVMModuleRef module, const char *pipeline)
{
    return kj_run_passes(module, pipeline, t->machine) ? NULL : kj_message_of("no such pass");
}

char *kj_target_verify(LLVMModuleRef module)
{
    char *error = NULL;
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &error))
        return kj_llvm_text(error);
    LLVMDisposeMessage(error);
    return NULL;
}

char *kj_target_optimise(kj_target *t, LLVMModuleRef module, const kj_compile_options *options)
{
    int level = options->opt_level < 0 || options->opt_level > 3 ? 3 : options->opt_level;
    bool large = level > 0 && largest(t, module, one) > t->kind->large_code;
    char *error = run(t, module, large ? t->kind->large : t->kind->pipelines[level]);
    /* loops are written out by now */
    large = large || (level > 0 && largest(t, module, registers) > t->kind->large_registers);
    if (!error && large)
        error = kj_target_machine(t, LLVMCodeGenLevelNone);
    if (error)
        return error;
    if (!t->x86) /* its own minimum chooses as the selection does */
        keep_selections(module);
    cut_blocks(module);
    if (level > 1 && t->kind->last)
        error = run(t, module, t->kind->last);
    bool sums = !t->kind->gpu && level > 1 && !large;
    /* a sum of nine less the one in the middle is one of eight, which has room in fewer bits */
    if (!error && sums && kj_widens_bytes(module))
        error = run(t, module, "function(reassociate)");
    if (!error && sums)
        kj_narrow_sums(module);
    if (!error && !t->kind->gpu)
        kj_narrow_high_products(module);
    if (!error && t->x86)
        kj_widen_byte_quotients(module);
    if (!error && t->features && strstr(t->features, "+avx512f")) {
        kj_hide_store_masks(module);
        kj_select_sums(module);
    }
    return error;
}

char *kj_target_emit(kj_target *t, LLVMModuleRef module, LLVMCodeGenFileType type,
                     LLVMMemoryBufferRef *out)
{
    char *error = NULL;
    if (t->kind->gpu)
        type = LLVMAssemblyFile;
    if (LLVMTargetMachineEmitToMemoryBuffer(t->machine, module, type, &error, out))
        return kj_llvm_text(error);
    if (*out && t->kind->gpu)
        *out = kj_ptx_mend_text(*out);
    if (!*out) /* it has no error for that */
        kj_break(KJ_NO_ROOM, "out of memory");
    return NULL;
}
