/* Makes the embedded math library, at build time: mathlib libclc.bc out.bin out.inc
 *
 * Enters: libclc's nvptx64--.bc, plain LLVM IR, and the MATH rows of compiler/builtins.def. Leaves: the modules that
 * compiler/mathlib.h describes, one after the other in out.bin, and their rows in out.inc.
 *
 * The scalar functions are libclc's with what could make devices differ taken out: llvm.fmuladd is llvm.fma, and
 * fast-math flags, !fpmath, target attributes and address spaces are gone. The 16-lane functions are made from them by
 * LLVM's loop vectoriser, so that both give the same bits by construction. */
#include "tools/mathlib.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Transforms/PassBuilder.h>

enum { ALIGNMENT = 16 };

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

_Noreturn void fail(const char *what, const char *detail)
{
    fprintf(stderr, "mathlib: %s: %s\n", what, detail ? detail : "");
    exit(1);
}

void run_passes(LLVMModuleRef m, const char *passes, LLVMTargetMachineRef machine)
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

/* ---- The rows' functions ---- */

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
    return is_own_part(name);
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
    snprintf(scalar, sizeof scalar, "kj_%s_f%d", r->name, is_double ? 64 : 32);
    snprintf(wide, sizeof wide, "kj_%s_v16f%d", r->name, is_double ? 64 : 32);
    opencl_name(name, sizeof name, r, is_double);
    bool is_own = LLVMGetNamedFunction(mk->library, scalar);
    LLVMModuleRef m = extract(mk, is_own ? scalar : name, scalar);
    write_module(mk, m, r, is_double, false, scalar);
    if (LLVMGetNamedFunction(mk->library, wide)) {
        LLVMDisposeModule(m);
        m = extract(mk, wide, wide);
        write_module(mk, m, r, is_double, true, wide);
    } else if (widen(mk, m, scalar, wide)) {
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
    mk.library = read_library(mk.context, argv[1], is_wanted);
    add_own_functions(mk.library);
    run_passes(mk.library, "always-inline,function(lower-switch,scalarizer<load-store>),default<O1>,function(gvn,instcombine,simplifycfg)", NULL);
    split_words(mk.library);
    bound_tables(mk.library);
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
