/* Atomics and fences by instructions of PTX. */
#include "lower/nvptx/nvptx.h"

#include <llvm/Config/llvm-config.h>
#include <string.h>

/* LLVM before 20 has no scopes for a GPU, and what it writes then means the device. */
#if LLVM_VERSION_MAJOR >= 20
LLVMValueRef kj_nvptx_scope(kj_lower *lo, LLVMValueRef atomic, bool shared)
{
    const char *scope = shared ? "block" : "device";
    LLVMSetAtomicSyncScopeID(atomic, LLVMGetSyncScopeID(lo->ctx, scope, strlen(scope)));
    return atomic;
}

void kj_nvptx_order(kj_lower *lo, bool shared)
{
    kj_nvptx_scope(lo, LLVMBuildFence(lo->b, LLVMAtomicOrderingAcquireRelease, false, ""), shared);
}
#else
LLVMValueRef kj_nvptx_scope(kj_lower *lo, LLVMValueRef atomic, bool shared)
{
    (void)lo;
    (void)shared;
    return atomic;
}

void kj_nvptx_order(kj_lower *lo, bool shared)
{
    kj_intrinsic(lo, shared ? "llvm.nvvm.membar.cta" : "llvm.nvvm.membar.gl", NULL, 0, NULL, 0);
}
#endif

/* The instruction for 16 bits, as text: LLVM makes one for 32 of it, which reaches over the end of
 * an array. */
static LLVMValueRef swap_half(kj_lower *lo, LLVMValueRef at, LLVMValueRef old, LLVMValueRef new,
                              bool orders, bool shared)
{
    char text[64];
    LLVMTypeRef i16 = lo->types[KJ_I16];
    LLVMTypeRef type = LLVMFunctionType(i16, (LLVMTypeRef[]){LLVMTypeOf(at), i16, i16}, 3, false);
    unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(at));
    kj_snprintf(text, sizeof text, "atom.%s.%s%s.cas.b16 $0, [$1], $2, $3;",
                orders ? "acq_rel" : "relaxed", shared ? "cta" : "gpu",
                space == 1   ? ".global"
                : space == 3 ? ".shared"
                             : "");
    const char *constraints = "=h,l,h,h,~{memory}";
    LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints),
                                         true, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef seen = LLVMBuildCall2(lo->b, type, code, (LLVMValueRef[]){at, old, new}, 3, "");
    LLVMTypeRef parts[2] = {i16, lo->i1};
    LLVMValueRef pair = LLVMGetPoison(LLVMStructTypeInContext(lo->ctx, parts, 2, false));
    pair = LLVMBuildInsertValue(lo->b, pair, seen, 0, "");
    LLVMValueRef same = LLVMBuildICmp(lo->b, LLVMIntEQ, seen, old, "");
    return LLVMBuildInsertValue(lo->b, pair, same, 1, "");
}

/* LLVM before 21 takes the order and writes none into the instruction. */
LLVMValueRef kj_nvptx_compare_swap(kj_lower *lo, LLVMValueRef at, LLVMValueRef old,
                                   LLVMValueRef new, bool orders, bool shared)
{
    if (LLVMTypeOf(old) == lo->types[KJ_I16])
        return swap_half(lo, at, old, new, orders, shared);
    bool fenced = orders && LLVM_VERSION_MAJOR < 21;
    LLVMAtomicOrdering relaxed = LLVMAtomicOrderingMonotonic,
                       order = orders && !fenced ? LLVMAtomicOrderingAcquireRelease : relaxed;
    if (fenced)
        kj_nvptx_order(lo, shared);
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(lo->b, at, old, new, order, relaxed, false);
    if (fenced)
        kj_nvptx_order(lo, shared);
    return kj_nvptx_scope(lo, pair, shared);
}

void kj_nvptx_fence(kj_lower *lo, kj_builtin id, const kj_tile *args)
{
    bool sleeps = id == KJ_BI_NANOSLEEP;
    LLVMValueRef ns = sleeps ? kj_tile_vector(lo, args[0], 0, 1) : NULL;
    kj_intrinsic(lo, kj_builtins[id].symbol, NULL, 0, &ns, sleeps ? 1 : 0);
}
