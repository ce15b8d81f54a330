/* Masks of stores, kept from LLVM's selection of instructions. Where it sees that a store of integers has
 * one lane, of all or of those that fit a register, it stores that lane as the integer that it was narrowed
 * from: `o[i] = u8(y[i])` of an i64 writes eight bytes (LLVM 22, on AVX-512). A mask whose value is not to
 * be seen stays one. */
#include <string.h>

#include "target/target.h"

typedef LLVMValueRef value;

static bool is_masked_store(value i)
{
    static const char name[] = "llvm.masked.store.";
    size_t size;
    value f = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    return f && !LLVMIsAInlineAsm(f) &&
           strncmp(LLVMGetValueName2(f, &size), name, sizeof name - 1) == 0;
}

/* The mask's lanes as bits, where all of them are known. */
static bool bits_of(value mask, unsigned lanes, uint64_t *out)
{
    *out = 0;
    if (!LLVMIsConstant(mask) || lanes > 64)
        return false;
    for (unsigned i = 0; i < lanes; i++) {
        value lane = LLVMGetAggregateElement(mask, i);
        if (!lane || !LLVMIsAConstantInt(lane))
            return false;
        *out |= (uint64_t)LLVMConstIntGetZExtValue(lane) << i;
    }
    return true;
}

static void hide_mask(LLVMBuilderRef b, value store)
{
    unsigned last = LLVMGetNumArgOperands(store) - 1;
    value mask = LLVMGetOperand(store, last), stored = LLVMGetOperand(store, 0);
    LLVMTypeRef type = LLVMTypeOf(mask), element = LLVMGetElementType(LLVMTypeOf(stored));
    unsigned lanes = LLVMGetVectorSize(type), width = 8; /* of a register */
    uint64_t bits;
    if (LLVMGetTypeKind(element) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(element) >= 64 ||
        !bits_of(mask, lanes, &bits))
        return;
    while (width < lanes)
        width *= 2;
    LLVMPositionBuilderBefore(b, store);
    LLVMTypeRef all = LLVMVectorType(LLVMGetElementType(type), width);
    value seen = LLVMBuildBitCast(b, kj_hidden_number(b, bits, width), all, "");
    if (width > lanes) { /* the first of them */
        value at[64];
        LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetBuilderContext(b));
        for (unsigned i = 0; i < lanes; i++)
            at[i] = LLVMConstInt(i32, i, false);
        seen = LLVMBuildShuffleVector(b, seen, LLVMGetPoison(all), LLVMConstVector(at, lanes), "");
    }
    LLVMSetOperand(store, last, seen);
}

void kj_hide_store_masks(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (value f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
            for (value i = LLVMGetFirstInstruction(k); i; i = LLVMGetNextInstruction(i))
                if (is_masked_store(i))
                    hide_mask(b, i);
    LLVMDisposeBuilder(b);
}
