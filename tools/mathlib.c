/* Makes the embedded math library, at build time: mathlib libclc.bc out.bin out.inc
 *
 * Enters: libclc's nvptx64--.bc, plain LLVM IR, and the MATH rows of compiler/builtins.def. Leaves: the modules that
 * compiler/mathlib.h describes, one after the other in out.bin, and their rows in out.inc.
 *
 * The scalar functions are libclc's with what could make devices differ taken out: llvm.fmuladd is llvm.fma, and
 * fast-math flags, !fpmath, target attributes and address spaces are gone. The 16-lane functions are made from them by
 * LLVM's loop vectoriser, so that both give the same bits by construction. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

enum { LANES = 16, ALIGNMENT = 16 };
static const LLVMAttributeIndex WHOLE_FUNCTION = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

typedef struct row {
    const char *id, *name, *symbol;
    int nargs;
    bool is_math;
} row;

static const row rows[] = {
#define SEMA false
#define CODE false
#define LLVM false
#define MATH true
#define BUILTIN(id, name, group, signature, how, symbol, ulp32, ulp64, doc) \
    {#id, name, symbol, (int)sizeof(signature) - 4, how},
#include "compiler/builtins.def"
};
enum { NROWS = sizeof rows / sizeof rows[0] };

/* What is being made, and with what. */
typedef struct maker {
    LLVMContextRef context;
    LLVMModuleRef library; /* the scalar functions of all rows, under their own names */
    LLVMTargetMachineRef machine;
    FILE *bytes, *index;
    size_t offset;
} maker;

static _Noreturn void fail(const char *what, const char *detail)
{
    fprintf(stderr, "mathlib: %s: %s\n", what, detail ? detail : "");
    exit(1);
}

static void run_passes(LLVMModuleRef m, const char *passes, LLVMTargetMachineRef machine)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopUnrolling(options, 0);
    LLVMPassBuilderOptionsSetLoopVectorization(options, 0);
    LLVMPassBuilderOptionsSetSLPVectorization(options, 0);
    LLVMErrorRef error = LLVMRunPasses(m, passes, machine, options);
    if (error) {
        fail(passes, LLVMGetErrorMessage(error));
    }
    LLVMDisposePassBuilderOptions(options);
}

/* ---- Reading libclc, and what makes it the same everywhere ---- */

/* The OpenCL name of a row's scalar function: _Z3powff. */
static void opencl_name(char *out, size_t size, const row *r, bool is_double)
{
    int n = snprintf(out, size, "_Z%zu%s", strlen(r->symbol), r->symbol);
    for (int i = 0; i < r->nargs; i++) {
        n += snprintf(out + n, size - (size_t)n, is_double ? "d" : "f");
    }
}

static bool is_wanted(const char *name)
{
    for (int i = 0; i < NROWS; i++) {
        char f32[64], f64[64];
        opencl_name(f32, sizeof f32, &rows[i], false);
        opencl_name(f64, sizeof f64, &rows[i], true);
        if (rows[i].is_math && (strcmp(name, f32) == 0 || strcmp(name, f64) == 0)) {
            return true;
        }
    }
    return false;
}

static void drop_unwanted(LLVMModuleRef m)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f)) {
            bool wanted = is_wanted(LLVMGetValueName(f));
            LLVMSetLinkage(f, wanted ? LLVMExternalLinkage : LLVMInternalLinkage);
        }
    }
    for (LLVMValueRef g = LLVMGetFirstGlobal(m); g; g = LLVMGetNextGlobal(g)) {
        if (!LLVMIsDeclaration(g)) {
            LLVMSetLinkage(g, LLVMInternalLinkage);
        }
    }
    run_passes(m, "globaldce", NULL);
}

/* The length of what is left out of the text at `at`: named metadata (of OpenCL and NVPTX), the address space of the
 * tables, which are plain memory in the library, and fast-math flags. */
static size_t left_out(const char *at, bool line_start)
{
    static const char *const words[] = {" addrspace(4)", " fast", " nnan", " ninf", " nsz",
                                        " arcp", " contract", " afn", " reassoc"};
    if (line_start && at[0] == '!' && (at[1] < '0' || at[1] > '9')) {
        return strcspn(at, "\n");
    }
    for (size_t i = 0; *at == ' ' && i < sizeof words / sizeof words[0]; i++) {
        size_t n = strlen(words[i]);
        if (strncmp(at, words[i], n) == 0 && (i == 0 || at[n] == ' ')) {
            return n;
        }
    }
    return 0;
}

/* LLVM-C can change neither the type of a pointer nor clear a fast-math flag, so the module goes through text once. */
static LLVMModuleRef through_text(LLVMContextRef context, LLVMModuleRef m)
{
    char *text = LLVMPrintModuleToString(m), *to = text;
    for (const char *from = text; *from;) {
        size_t n = left_out(from, from == text || from[-1] == '\n');
        from += n;
        if (n == 0) {
            *to++ = *from++;
        }
    }
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text, (size_t)(to - text), "libclc");
    LLVMDisposeMessage(text);
    LLVMDisposeModule(m);
    LLVMModuleRef plain;
    char *message = NULL;
    if (LLVMParseIRInContext(context, buffer, &plain, &message)) {
        fail("libclc as text", message);
    }
    return plain;
}

/* Removes the attributes that name a target, or that keep code from being moved and inlined; `call` or `f` is NULL. */
static void strip_attributes(LLVMValueRef f, LLVMValueRef call)
{
    static const char *const dropped[] = {"convergent", "noinline", "optnone", "alwaysinline", "nobuiltin"};
    for (size_t i = 0; i < sizeof dropped / sizeof dropped[0]; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(dropped[i], strlen(dropped[i]));
        f ? LLVMRemoveEnumAttributeAtIndex(f, WHOLE_FUNCTION, kind)
          : LLVMRemoveCallSiteEnumAttribute(call, WHOLE_FUNCTION, kind);
    }
    LLVMAttributeRef attributes[64];
    unsigned n = f ? LLVMGetAttributeCountAtIndex(f, WHOLE_FUNCTION)
                   : LLVMGetCallSiteAttributeCount(call, WHOLE_FUNCTION);
    if (n > sizeof attributes / sizeof attributes[0]) {
        fail("too many attributes", f ? LLVMGetValueName(f) : NULL);
    }
    f ? LLVMGetAttributesAtIndex(f, WHOLE_FUNCTION, attributes)
      : LLVMGetCallSiteAttributes(call, WHOLE_FUNCTION, attributes);
    for (unsigned i = 0; i < n; i++) {
        if (LLVMIsStringAttribute(attributes[i])) {
            unsigned length;
            const char *kind = LLVMGetStringAttributeKind(attributes[i], &length);
            f ? LLVMRemoveStringAttributeAtIndex(f, WHOLE_FUNCTION, kind, length)
              : LLVMRemoveCallSiteStringAttribute(call, WHOLE_FUNCTION, kind, length);
        }
    }
}

/* Gives operand i of the instruction some fixed value where it is poison. */
static void freeze_operand(LLVMBuilderRef b, LLVMValueRef inst, unsigned i)
{
    LLVMValueRef operand = LLVMGetOperand(inst, i);
    if (!LLVMIsConstant(operand)) {
        LLVMPositionBuilderBefore(b, inst);
        LLVMSetOperand(inst, i, LLVMBuildFreeze(b, operand, ""));
    }
}

/* libclc computes what it then selects away (an integer from an argument that is out of range), which is poison to
 * LLVM: harmless in a select, but a branch that depends on it would let LLVM drop the code around it. */
static void defuse_poison(LLVMBuilderRef b, LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMAdd: case LLVMSub: case LLVMMul: case LLVMShl:
        LLVMSetNSW(inst, 0);
        LLVMSetNUW(inst, 0);
        break;
    case LLVMBr:
        if (LLVMIsConditional(inst)) {
            freeze_operand(b, inst, 0);
        }
        break;
    case LLVMSwitch:
        freeze_operand(b, inst, 0);
        break;
    default:
        break;
    }
}

static void strip_instruction(LLVMBuilderRef b, LLVMValueRef inst)
{
    if (LLVMCanValueUseFastMathFlags(inst) && LLVMGetFastMathFlags(inst) != LLVMFastMathNone) {
        fail("a fast-math flag is left", LLVMPrintValueToString(inst));
    }
    if (LLVMIsACallInst(inst)) {
        LLVMSetInstructionCallConv(inst, LLVMCCallConv);
        strip_attributes(NULL, inst);
    }
    size_t n;
    LLVMValueMetadataEntry *entries = LLVMInstructionGetAllMetadataOtherThanDebugLoc(inst, &n);
    for (unsigned i = 0; i < n; i++) {
        LLVMSetMetadata(inst, LLVMValueMetadataEntriesGetKind(entries, i), NULL);
    }
    LLVMDisposeValueMetadataEntries(entries);
    defuse_poison(b, inst);
}

/* a * b + c rounds once on every device: calls of llvm.fmuladd become calls of llvm.fma. */
static void fuse(LLVMModuleRef m, LLVMValueRef fmuladd)
{
    char name[64];
    snprintf(name, sizeof name, "llvm.fma.%s", LLVMGetValueName(fmuladd) + strlen("llvm.fmuladd."));
    LLVMValueRef fma = LLVMGetNamedFunction(m, name);
    if (!fma) {
        fma = LLVMAddFunction(m, name, LLVMGlobalGetValueType(fmuladd));
    }
    LLVMReplaceAllUsesWith(fmuladd, fma);
}

static void make_portable(LLVMModuleRef m)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));
    LLVMSetTarget(m, "");
    LLVMSetDataLayout(m, "");
    for (LLVMValueRef f = LLVMGetFirstFunction(m), next; f; f = next) {
        next = LLVMGetNextFunction(f);
        LLVMSetFunctionCallConv(f, LLVMCCallConv);
        if (strncmp(LLVMGetValueName(f), "llvm.fmuladd.", 13) == 0) {
            fuse(m, f);
        }
        if (LLVMIsDeclaration(f)) {
            continue;
        }
        strip_attributes(f, NULL);
        for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb)) {
            for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i)) {
                strip_instruction(b, i);
            }
        }
    }
    LLVMDisposeBuilder(b);
}

/* ---- Table look-ups ---- */

/* The bytes that loads reach through a pointer into a table: [low, high) from where its variable index leads. */
typedef struct reach {
    int64_t low, high;
} reach;

static void add_loads(LLVMTargetDataRef layout, LLVMValueRef pointer, int64_t offset, reach *r)
{
    for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsALoadInst(user)) {
            int64_t end = offset + (int64_t)LLVMABISizeOfType(layout, LLVMTypeOf(user));
            r->low = offset < r->low ? offset : r->low;
            r->high = end > r->high ? end : r->high;
        } else if (LLVMIsAGetElementPtrInst(user) && LLVMGetNumOperands(user) == 2 &&
                   LLVMIsAConstantInt(LLVMGetOperand(user, 1))) {
            uint64_t stride = LLVMABISizeOfType(layout, LLVMGetGEPSourceElementType(user));
            int64_t index = LLVMConstIntGetSExtValue(LLVMGetOperand(user, 1));
            add_loads(layout, user, offset + index * (int64_t)stride, r);
        } else {
            fail("a table is used in an unknown way", LLVMPrintValueToString(user));
        }
    }
}

static LLVMValueRef bounded(LLVMBuilderRef b, LLVMModuleRef m, const char *intrinsic, LLVMValueRef v, int64_t bound)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    unsigned id = LLVMLookupIntrinsicID(intrinsic, strlen(intrinsic));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(m, id, &type, 1);
    LLVMValueRef args[] = {v, LLVMConstInt(type, (uint64_t)bound, 0)};
    return LLVMBuildCall2(b, LLVMGlobalGetValueType(f), f, args, 2, "");
}

/* Keeps a look-up inside its table whatever the index: libclc looks up first and selects for arguments that are out of
 * range afterwards. LLVM drops the bounds again where it sees that the index keeps to them. */
static void bound_index(LLVMBuilderRef b, LLVMModuleRef m, LLVMTargetDataRef layout, LLVMValueRef gep)
{
    LLVMValueRef table = LLVMGetOperand(gep, 0), index = LLVMGetOperand(gep, 1);
    if (!LLVMIsAGlobalVariable(table) || LLVMIsConstant(index) || LLVMGetNumOperands(gep) != 2) {
        return;
    }
    reach r = {.low = INT64_MAX, .high = INT64_MIN};
    add_loads(layout, gep, 0, &r);
    int64_t size = (int64_t)LLVMABISizeOfType(layout, LLVMGlobalGetValueType(table));
    int64_t stride = (int64_t)LLVMABISizeOfType(layout, LLVMGetGEPSourceElementType(gep));
    int64_t first = r.low < 0 ? (-r.low + stride - 1) / stride : 0, last = (size - r.high) / stride;
    LLVMPositionBuilderBefore(b, gep);
    bool extended = LLVMIsASExtInst(index) || LLVMIsAZExtInst(index);
    LLVMValueRef narrow = LLVMBuildFreeze(b, extended ? LLVMGetOperand(index, 0) : index, "");
    narrow = bounded(b, m, "llvm.umin", narrow, last);
    if (first > 0) {
        narrow = bounded(b, m, "llvm.umax", narrow, first);
    }
    LLVMSetOperand(gep, 1, LLVMBuildZExt(b, narrow, LLVMTypeOf(index), ""));
}

static void bound_tables(LLVMModuleRef m)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(m);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb)) {
            for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i)) {
                if (LLVMIsAGetElementPtrInst(i)) {
                    bound_index(b, m, layout, i);
                }
            }
        }
    }
    LLVMDisposeBuilder(b);
    run_passes(m, "function(instcombine,simplifycfg,gvn,instcombine)", NULL);
}

static LLVMModuleRef read_library(LLVMContextRef context, const char *path)
{
    LLVMMemoryBufferRef buffer;
    char *message = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message)) {
        fail(path, message);
    }
    LLVMModuleRef m;
    if (LLVMParseBitcodeInContext2(context, buffer, &m)) {
        fail(path, "not LLVM bitcode that this LLVM can read");
    }
    LLVMDisposeMemoryBuffer(buffer);
    drop_unwanted(m);
    m = through_text(context, m);
    make_portable(m);
    run_passes(m, "always-inline,function(lower-switch),default<O1>,function(gvn,instcombine,simplifycfg)", NULL);
    bound_tables(m);
    return m;
}

/* ---- One function as a module of its own ---- */

/* A module with `name` alone, called `symbol` there. */
static LLVMModuleRef extract(const maker *mk, const char *name, const char *symbol)
{
    LLVMModuleRef m = LLVMCloneModule(mk->library);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f)) {
            LLVMSetLinkage(f, LLVMInternalLinkage);
        }
    }
    LLVMValueRef f = LLVMGetNamedFunction(m, name);
    if (!f) {
        fail("libclc has no", name);
    }
    LLVMSetLinkage(f, LLVMExternalLinkage);
    LLVMSetValueName2(f, symbol, strlen(symbol));
    LLVMSetModuleIdentifier(m, symbol, strlen(symbol));
    LLVMSetSourceFileName(m, symbol, strlen(symbol));
    run_passes(m, "globaldce", NULL);
    return m;
}

static LLVMMetadataRef loop_option(LLVMContextRef c, const char *name, LLVMValueRef value)
{
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(c, name, strlen(name)), LLVMValueAsMetadata(value)};
    return LLVMMDNodeInContext2(c, parts, 2);
}

/* !{self, vectorize in steps of LANES}; the node's first operand is the node itself, as loops' are. */
static LLVMValueRef vectorize_metadata(LLVMContextRef c)
{
    LLVMValueRef on = LLVMConstInt(LLVMInt1TypeInContext(c), 1, 0);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(c);
    LLVMMetadataRef self = LLVMTemporaryMDNode(c, NULL, 0);
    LLVMMetadataRef parts[] = {
        self,
        loop_option(c, "llvm.loop.vectorize.enable", on),
        loop_option(c, "llvm.loop.vectorize.width", LLVMConstInt(i32, LANES, 0)),
        loop_option(c, "llvm.loop.interleave.count", LLVMConstInt(i32, 1, 0)),
    };
    LLVMMetadataRef loop = LLVMMDNodeInContext2(c, parts, 4);
    LLVMMetadataReplaceAllUsesWith(self, loop);
    return LLVMMetadataAsValue(c, loop);
}

/* Adds to m: symbol(<16 x T>...) { for (i = 0; i < 16; i++) out[i] = scalar(in[i]...); } */
static void add_lane_loop(LLVMContextRef c, LLVMModuleRef m, LLVMValueRef scalar, const char *symbol)
{
    LLVMTypeRef scalar_type = LLVMGlobalGetValueType(scalar);
    LLVMTypeRef element = LLVMGetReturnType(scalar_type), i64 = LLVMInt64TypeInContext(c);
    LLVMTypeRef wide = LLVMVectorType(element, LANES), params[] = {wide, wide};
    unsigned nargs = LLVMCountParams(scalar);
    LLVMValueRef f = LLVMAddFunction(m, symbol, LLVMFunctionType(wide, params, nargs, 0));
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(c, f, "");
    LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(c, f, "");
    LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(c, f, "");
    LLVMBuilderRef b = LLVMCreateBuilderInContext(c);

    LLVMPositionBuilderAtEnd(b, entry);
    LLVMValueRef memory[2], args[2], out = LLVMBuildAlloca(b, wide, "");
    for (unsigned i = 0; i < nargs; i++) {
        memory[i] = LLVMBuildAlloca(b, wide, "");
        LLVMBuildStore(b, LLVMGetParam(f, i), memory[i]);
    }
    LLVMBuildBr(b, body);

    LLVMPositionBuilderAtEnd(b, body);
    LLVMValueRef lane = LLVMBuildPhi(b, i64, "");
    for (unsigned i = 0; i < nargs; i++) {
        args[i] = LLVMBuildLoad2(b, element, LLVMBuildInBoundsGEP2(b, element, memory[i], &lane, 1, ""), "");
    }
    LLVMValueRef result = LLVMBuildCall2(b, scalar_type, scalar, args, nargs, "");
    LLVMBuildStore(b, result, LLVMBuildInBoundsGEP2(b, element, out, &lane, 1, ""));
    LLVMValueRef next = LLVMBuildNUWAdd(b, lane, LLVMConstInt(i64, 1, 0), "");
    LLVMValueRef more = LLVMBuildICmp(b, LLVMIntNE, next, LLVMConstInt(i64, LANES, 0), "");
    LLVMSetMetadata(LLVMBuildCondBr(b, more, body, end), LLVMGetMDKindIDInContext(c, "llvm.loop", 9),
                    vectorize_metadata(c));
    LLVMAddIncoming(lane, (LLVMValueRef[]){LLVMConstInt(i64, 0, 0), next}, (LLVMBasicBlockRef[]){entry, body}, 2);

    LLVMPositionBuilderAtEnd(b, end);
    LLVMBuildRet(b, LLVMBuildLoad2(b, wide, out, ""));
    LLVMDisposeBuilder(b);
}

/* Is it straight vector code: no loop or branch left, no call, nothing lane by lane? */
static bool is_vector_code(LLVMValueRef f)
{
    if (LLVMCountBasicBlocks(f) != 1) {
        return false;
    }
    for (LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f)); i; i = LLVMGetNextInstruction(i)) {
        switch (LLVMGetInstructionOpcode(i)) {
        case LLVMExtractElement: case LLVMInsertElement: case LLVMAlloca:
            return false;
        case LLVMCall:
            if (strncmp(LLVMGetValueName(LLVMGetCalledValue(i)), "llvm.", 5) != 0) {
                return false;
            }
            break;
        default:
            break;
        }
    }
    return true;
}

/* The 16-lane function from the scalar one of module m (which it replaces there); false where that does not work. */
static bool widen(const maker *mk, LLVMModuleRef m, const char *name, const char *symbol)
{
    LLVMValueRef scalar = LLVMGetNamedFunction(m, name);
    unsigned inlined = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
    LLVMAttributeRef inline_it = LLVMCreateEnumAttribute(mk->context, inlined, 0);
    LLVMAddAttributeAtIndex(scalar, WHOLE_FUNCTION, inline_it);
    LLVMSetLinkage(scalar, LLVMInternalLinkage);
    add_lane_loop(mk->context, m, scalar, symbol);

    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(mk->machine);
    char *triple = LLVMGetTargetMachineTriple(mk->machine);
    LLVMSetTarget(m, triple);
    LLVMSetModuleDataLayout(m, layout);
    LLVMValueRef f = LLVMGetNamedFunction(m, symbol);
    run_passes(m,
               "always-inline,globaldce,function(instcombine,simplifycfg,lower-switch,loop-vectorize,instcombine,simplifycfg,"
               "sroa,early-cse<memssa>,instcombine,gvn,adce,simplifycfg)",
               mk->machine);
    LLVMSetTarget(m, "");
    LLVMSetDataLayout(m, "");
    LLVMDisposeMessage(triple);
    LLVMDisposeTargetData(layout);
    strip_attributes(f, NULL);
    return is_vector_code(f);
}

/* ---- Writing ---- */

static void write_module(maker *mk, LLVMModuleRef m, const row *r, bool is_double, bool wide, const char *symbol)
{
    char *message = NULL;
    if (LLVMVerifyModule(m, LLVMReturnStatusAction, &message)) {
        fail(symbol, message);
    }
    LLVMDisposeMessage(message);
    LLVMMemoryBufferRef buffer = LLVMWriteBitcodeToMemoryBuffer(m);
    size_t size = LLVMGetBufferSize(buffer), padding = (ALIGNMENT - size % ALIGNMENT) % ALIGNMENT;
    static const char zeros[ALIGNMENT];
    fwrite(LLVMGetBufferStart(buffer), 1, size, mk->bytes);
    fwrite(zeros, 1, padding, mk->bytes);
    fprintf(mk->index, "MATH_FN(%s, %d, %d, \"%s\", %zu, %zu)\n", r->id, is_double, wide, symbol, mk->offset, size);
    mk->offset += size + padding;
    LLVMDisposeMemoryBuffer(buffer);
}

static void make_row(maker *mk, const row *r, bool is_double)
{
    char name[64], scalar[64], wide[64];
    opencl_name(name, sizeof name, r, is_double);
    snprintf(scalar, sizeof scalar, "kj_%s_f%d", r->name, is_double ? 64 : 32);
    snprintf(wide, sizeof wide, "kj_%s_v16f%d", r->name, is_double ? 64 : 32);
    LLVMModuleRef m = extract(mk, name, scalar);
    write_module(mk, m, r, is_double, false, scalar);
    if (widen(mk, m, scalar, wide)) {
        LLVMSetModuleIdentifier(m, wide, strlen(wide));
        LLVMSetSourceFileName(m, wide, strlen(wide));
        write_module(mk, m, r, is_double, true, wide);
    }
    if (getenv("MATHLIB_DUMP")) {
        LLVMDumpModule(m);
    }
    LLVMDisposeModule(m);
}

/* A machine whose vectoriser has gathers and masks; what it makes runs on every CPU. */
static LLVMTargetMachineRef vector_machine(void)
{
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMTargetRef target;
    char *message = NULL;
    if (LLVMGetTargetFromTriple("x86_64-unknown-linux-gnu", &target, &message)) {
        fail("x86-64", message);
    }
    return LLVMCreateTargetMachine(target, "x86_64-unknown-linux-gnu", "znver4", "", LLVMCodeGenLevelDefault,
                                   LLVMRelocPIC, LLVMCodeModelDefault);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fail("usage", "mathlib libclc.bc out.bin out.inc");
    }
    maker mk = {.context = LLVMContextCreate(), .machine = vector_machine()};
    mk.library = read_library(mk.context, argv[1]);
    mk.bytes = fopen(argv[2], "wb");
    mk.index = fopen(argv[3], "w");
    if (!mk.bytes || !mk.index) {
        fail("cannot write", mk.bytes ? argv[3] : argv[2]);
    }
    for (int i = 0; i < NROWS; i++) {
        if (rows[i].is_math) {
            make_row(&mk, &rows[i], false);
            make_row(&mk, &rows[i], true);
        }
    }
    bool failed = ferror(mk.bytes) || ferror(mk.index);
    if (fclose(mk.bytes) || fclose(mk.index) || failed) {
        fail("cannot write", argv[2]);
    }
    LLVMDisposeModule(mk.library);
    LLVMDisposeTargetMachine(mk.machine);
    LLVMContextDispose(mk.context);
    return 0;
}
