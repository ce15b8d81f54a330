/* Accesses that say how they are to be cached: ld.global.cg and the like, which LLVM has no words
 * for. What goes in is an address and perhaps a value, what comes out one instruction as text. */
#include "lower/nvptx/nvptx.h"

#include <stdio.h>
#include <string.h>

#include "target/target.h"

enum { READS = 1, WRITES = 2 }; /* LLVM's memory(argmem: ...) */

/* The instruction moves `a->type` as bits; registers have 16 at least. */
static LLVMTypeRef register_type(kj_lower *lo, const kj_access *a)
{
    unsigned bits = 8u * kj_types[a->type].size;
    return LLVMIntTypeInContext(lo->ctx, bits < 16 ? 16 : bits);
}

static const char *register_letter(const kj_access *a)
{
    int size = kj_types[a->type].size;
    return size == 8 ? "l" : size == 4 ? "r" : "h";
}

/* `effect`: what it does to the memory it is given; 0 for any: then it stays where it is. What machine code is moved over,
 * LLVM asks the clobbers: the attribute alone is forgotten by then, and loads in front of a store went behind it. */
static LLVMValueRef instruction(kj_lower *lo, const kj_access *a, const char *text,
                                const char *constraints, LLVMTypeRef type, LLVMValueRef *args,
                                unsigned n, uint64_t effect)
{
    const LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    char all[32];
    kj_snprintf(all, sizeof all, "%s%s", constraints, effect == READS ? "" : ",~{memory}");
    LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), all, strlen(all), true, false,
                                         LLVMInlineAsmDialectATT, false);
    LLVMValueRef call = LLVMBuildCall2(lo->b, type, code, args, n, "");
    kj_call_attribute(call, whole, "nounwind", 0);
    kj_call_attribute(call, whole, "willreturn", 0);
    if (effect) {
        kj_call_attribute(call, whole, "memory", effect);
        kj_alias_mark(lo, call, a->scope);
    }
    return call;
}

LLVMValueRef kj_nvptx_load_cached(kj_lower *lo, const kj_access *a, LLVMValueRef at)
{
    char text[48], constraints[8];
    LLVMTypeRef word = register_type(lo, a), pointer = LLVMTypeOf(at),
                type = LLVMFunctionType(word, &pointer, 1, false);
    /* ld.volatile is the same instruction as ld.cv, but only in a loop that waits by the former does
     * ptxas let other threads of the warp go on. */
    bool again = strcmp(a->cache, "cv") == 0;
    kj_snprintf(text, sizeof text, "ld.%s%s.b%d $0, [$1];", again ? "volatile.global" : "global.",
                again ? "" : a->cache, 8 * kj_types[a->type].size);
    kj_snprintf(constraints, sizeof constraints, "=%s,l", register_letter(a));
    LLVMValueRef v = instruction(lo, a, text, constraints, type, &at, 1, again ? 0 : READS);
    LLVMTypeRef bits = LLVMIntTypeInContext(lo->ctx, 8u * kj_types[a->type].size);
    return LLVMBuildBitCast(lo->b, LLVMBuildTrunc(lo->b, v, bits, ""),
                            lo->types[kj_memory_type(a->type)], "");
}

void kj_nvptx_store_cached(kj_lower *lo, const kj_access *a, LLVMValueRef v, LLVMValueRef at)
{
    char text[48], constraints[8];
    LLVMTypeRef word = register_type(lo, a), types[2] = {LLVMTypeOf(at), word},
                type = LLVMFunctionType(LLVMVoidTypeInContext(lo->ctx), types, 2, false),
                bits = LLVMIntTypeInContext(lo->ctx, 8u * kj_types[a->type].size);
    kj_snprintf(text, sizeof text, "st.global.%s.b%d [$0], $1;", a->cache,
                8 * kj_types[a->type].size);
    kj_snprintf(constraints, sizeof constraints, "l,%s", register_letter(a));
    v = LLVMBuildZExt(lo->b, LLVMBuildBitCast(lo->b, v, bits, ""), word, "");
    instruction(lo, a, text, constraints, type, (LLVMValueRef[]){at, v}, 2, WRITES);
}
