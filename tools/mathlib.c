/* Makes the embedded math library, at build time: mathlib libclc.bc out.bin out.inc
 *
 * Enters: libclc's nvptx64--.bc, plain LLVM IR, and the MATH rows of compiler/lang/builtins.def. Leaves:
 * the modules that compiler/target/mathlib.h describes, one after the other in out.bin, and their rows in
 * out.inc.
 *
 * The scalar functions are libclc's with what could make devices differ taken out: llvm.fmuladd is
 * llvm.fma, and fast-math flags, !fpmath, target attributes and address spaces are gone. The
 * 16-lane functions are made from them by LLVM's loop vectoriser, so that both give the same bits
 * by construction. */
#include "mathlib.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>

enum { ALIGNMENT = 16 };

typedef struct row {
    const char *id, *name, *symbol;
    int nargs;
    bool is_math;
} row;

enum { MATH, LLVM, CODE, RANDOM, WARP, FENCE, ATOMIC, SEMA };

static const row rows[] = {
#define BUILTIN(id, name, group, signature, how, symbol, ulp32, ulp64, doc) \
    {#id, name, symbol, (int)sizeof(signature) - 4, how == MATH},
#include "lang/builtins.def"
};
enum { NROWS = sizeof rows / sizeof rows[0] };

/* What is being made, and with what. */
typedef struct maker {
    LLVMContextRef context;
    LLVMModuleRef libclc; /* the scalar functions of all rows, under their own names */
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
    LLVMModuleRef m = LLVMCloneModule(mk->libclc);
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

/* ---- Writing ---- */

static void write_module(maker *mk, LLVMModuleRef m, const row *r, bool is_double, bool wide,
                         const char *symbol)
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
    fprintf(mk->index, "MATH_FN(%s, %d, %d, \"%s\", %zu, %zu)\n", r->id, is_double, wide, symbol,
            mk->offset, size);
    mk->offset += size + padding;
    LLVMDisposeMemoryBuffer(buffer);
}

static void make_row(maker *mk, const row *r, bool is_double)
{
    char name[64], scalar[64], wide[64];
    snprintf(scalar, sizeof scalar, "kj$%s_f%d", r->name, is_double ? 64 : 32);
    snprintf(wide, sizeof wide, "kj$%s_v16f%d", r->name, is_double ? 64 : 32);
    opencl_name(name, sizeof name, r, is_double);
    bool is_own = LLVMGetNamedFunction(mk->libclc, scalar);
    LLVMModuleRef m = extract(mk, is_own ? scalar : name, scalar);
    write_module(mk, m, r, is_double, false, scalar);
    if (LLVMGetNamedFunction(mk->libclc, wide)) {
        LLVMDisposeModule(m);
        m = extract(mk, wide, wide);
        write_module(mk, m, r, is_double, true, wide);
    } else if (widen(m, mk->machine, scalar, wide)) {
        LLVMSetModuleIdentifier(m, wide, strlen(wide));
        LLVMSetSourceFileName(m, wide, strlen(wide));
        write_module(mk, m, r, is_double, true, wide);
    }
    LLVMDisposeModule(m);
}

/* LLVM 19's has no way to ask for loads and stores too */
#if LLVM_VERSION_MAJOR >= 20
#define SCALARIZER "scalarizer<load-store>"
#else
#define SCALARIZER "scalarizer"
#endif

int main(int argc, char **argv)
{
    if (argc != 4) {
        fail("usage", "mathlib libclc.bc out.bin out.inc");
    }
    maker mk = {.context = LLVMContextCreate(), .machine = vector_machine()};
    mk.libclc = read_library(mk.context, argv[1], is_wanted);
    run_passes(mk.libclc, "always-inline,function(lower-switch," SCALARIZER ")", NULL);
    add_own_functions(mk.libclc);
    run_passes(
        mk.libclc,
        "always-inline,default<O1>,function(gvn,instcombine<no-verify-fixpoint>,simplifycfg)",
        NULL);
    split_words(mk.libclc);
    bound_tables(mk.libclc);
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
    LLVMDisposeModule(mk.libclc);
    LLVMDisposeTargetMachine(mk.machine);
    LLVMContextDispose(mk.context);
    return 0;
}
