/* The math functions that a module calls: their definitions, from the embedded library or from the
 * CUDA toolkit's. */
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <stdio.h>
#include <string.h>

#include "target/mathlib.h"
#include "target/target.h"

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

static bool has_fma(LLVMValueRef f)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsACallInst(i) &&
                strncmp(LLVMGetValueName(LLVMGetCalledValue(i)), "llvm.fma.", 9) == 0)
                return true;
    return false;
}

enum { INLINE_MOST = 80 };

/* Short functions become part of the kernel, where several interleave; long ones are called, but on
 * a GPU not for a single call. One whose fused multiply-adds are calls themselves is long. */
static bool is_inlined(const kj_target *t, LLVMValueRef f)
{
    if (t->kind->gpu && is_called_once(f))
        return true;
    return count_instructions(f) <= INLINE_MOST && !(t->no_fma && has_fma(f));
}

static void set_inline(LLVMModuleRef module, LLVMValueRef f, bool within)
{
    LLVMAttributeIndex on_function = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    LLVMContextRef ctx = LLVMGetModuleContext(module);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    static const char *const ways[] = {"noinline", "alwaysinline"};
    unsigned kinds[2];
    for (int i = 0; i < 2; i++) {
        kinds[i] = LLVMGetEnumAttributeKindForName(ways[i], strlen(ways[i]));
        LLVMRemoveEnumAttributeAtIndex(f, on_function, kinds[i]);
    }
    LLVMAddAttributeAtIndex(f, on_function, LLVMCreateEnumAttribute(ctx, kinds[within], 0));
}

static void adapt(const kj_target *t, LLVMModuleRef module, LLVMValueRef f)
{
    set_inline(module, f, is_inlined(t, f));
}

static void retarget(LLVMModuleRef part, LLVMModuleRef module)
{
    LLVMSetTarget(part, LLVMGetTarget(module));
    LLVMSetDataLayout(part, LLVMGetDataLayoutStr(module));
}

/* ---- The embedded library ---- */

/* Wide vectors are passed in registers only between functions that say so; subnormal numbers are
 * the same to all of a module. */
static void share_attributes(LLVMModuleRef module, LLVMValueRef f)
{
    static const char *const shared[] = {"prefer-vector-width", "min-legal-vector-width",
                                         "denormal-fp-math-f32"};
    LLVMAttributeIndex on_function = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    LLVMValueRef caller = LLVMGetFirstFunction(module);
    while (LLVMIsDeclaration(caller))
        caller = LLVMGetNextFunction(caller);
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        LLVMAttributeRef a = LLVMGetStringAttributeAtIndex(caller, on_function, shared[i],
                                                           (unsigned)strlen(shared[i]));
        if (a)
            LLVMAddAttributeAtIndex(f, on_function, a);
    }
}

/* A function that stands for an instruction. */
static void adapt_soft(LLVMModuleRef module, LLVMValueRef f)
{
    set_inline(module, f, false);
    share_attributes(module, f);
}

static char *link_embedded(const kj_target *t, LLVMModuleRef module, const kj_math_fn *fn)
{
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRange(fn->bitcode, fn->size, fn->symbol, 0);
    LLVMModuleRef part;
    LLVMBool failed = LLVMParseBitcodeInContext2(LLVMGetModuleContext(module), buffer, &part);
    LLVMDisposeMemoryBuffer(buffer);
    if (failed)
        return kj_message_of("the embedded math library does not load");
    retarget(part, module);
    if (LLVMLinkModules2(module, part))
        return kj_message_of("the embedded math library does not link");
    LLVMValueRef f = LLVMGetNamedFunction(module, fn->symbol);
    adapt(t, module, f);
    share_attributes(module, f);
    return NULL;
}

static char *link_called(const kj_target *t, LLVMModuleRef module)
{
    static const int lanes[] = {1, 16};
    for (int id = 0; id < KJ_NBUILTINS; id++) {
        for (int k = 0; k < 4 && kj_builtins[id].how == KJ_HOW_MATH; k++) {
            const kj_math_fn *fn =
                kj_mathlib_find((kj_builtin)id, k / 2 ? KJ_F64 : KJ_F32, lanes[k % 2]);
            LLVMValueRef f = fn ? LLVMGetNamedFunction(module, fn->symbol) : NULL;
            char *error = f && LLVMIsDeclaration(f) ? link_embedded(t, module, fn) : NULL;
            if (error)
                return error;
        }
    }
    if (t->no_fma)
        kj_soften_fma(module, adapt_soft);
    return NULL;
}

/* ---- The toolkit's library ---- */

static char *complaint(const char *path, const char *what, const char *name)
{
    char text[600];
    kj_snprintf(text, sizeof text, "'%.400s' %s%s", path, what, name);
    return kj_message_of(text);
}

/* Calls of our names become calls of the library's; returns how many functions there are. */
static int rename_called(LLVMModuleRef module, LLVMValueRef called[2 * KJ_NBUILTINS])
{
    int n = 0;
    for (int id = 0; id < KJ_NBUILTINS; id++) {
        for (int k = 0; k < 2 && kj_builtins[id].how == KJ_HOW_MATH; k++) {
            const kj_math_fn *fn = kj_mathlib_find((kj_builtin)id, k ? KJ_F64 : KJ_F32, 1);
            LLVMValueRef f = LLVMGetNamedFunction(module, fn->symbol);
            if (!f)
                continue;
            char name[40];
            kj_snprintf(name, sizeof name, "__nv_%s%s", kj_builtins[id].symbol, k ? "" : "f");
            LLVMSetValueName2(f, name, strlen(name));
            called[n++] = f;
        }
    }
    return n;
}

/* Links what is called and what that calls: the rest of the library is only there where it is
 * wanted. */
static char *link_part(LLVMModuleRef module, LLVMModuleRef library, const char *path,
                       LLVMValueRef *called, int n)
{
    retarget(library, module);
    for (LLVMValueRef f = LLVMGetFirstFunction(library); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            LLVMSetLinkage(f, LLVMLinkOnceODRLinkage);
    for (int i = 0; i < n; i++) {
        size_t size;
        const char *name = LLVMGetValueName2(called[i], &size);
        if (!LLVMGetNamedFunction(library, name)) {
            LLVMDisposeModule(library);
            return complaint(path, "has no function ", name);
        }
    }
    return LLVMLinkModules2(module, library) ? complaint(path, "does not link", "") : NULL;
}

static char *link_libdevice(const kj_target *t, LLVMModuleRef module, const char *path)
{
    LLVMValueRef called[2 * KJ_NBUILTINS];
    int n = rename_called(module, called);
    if (n == 0)
        return NULL;
    LLVMMemoryBufferRef buffer;
    LLVMModuleRef library;
    char *error;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &error)) {
        char *text = complaint(path, "cannot be read: ", kj_llvm_text(error));
        LLVMDisposeMessage(error);
        return text;
    }
    if (LLVMGetBitcodeModuleInContext2(LLVMGetModuleContext(module), buffer, &library)) {
        LLVMDisposeMemoryBuffer(buffer);
        return complaint(path, "is no bitcode", "");
    }
    if ((error = link_part(module, library, path, called, n)))
        return error;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (LLVMGetLinkage(f) == LLVMLinkOnceODRLinkage)
            adapt(t, module, f);
    return NULL;
}

char *kj_link_math(const kj_target *t, LLVMModuleRef module, const char *libdevice)
{
    return libdevice && t->kind->gpu ? link_libdevice(t, module, libdevice)
                                     : link_called(t, module);
}
