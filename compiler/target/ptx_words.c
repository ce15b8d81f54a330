/* Products of 64 bits whose low word is zero, which NVIDIA's assembler gets wrong (`ptxas` 13.0 and the driver's
 * compiler of that release, for sm_90).
 *
 * Where an index of 32 bits becomes an address, LLVM writes the extension of i * 112 + 68 as
 * (i * (112 << 32) + (68 << 32)) >> 32. The assembler makes x * (c << 32) + (d << 32) of an instruction whose addend is
 * a pair of registers, and where a kernel has many of them, takes one such pair for another: bytes came from the wrong
 * addresses. The high words are all there is to such values: they are computed in 32 bits here, which is also less
 * work. */
#include <llvm-c/DebugInfo.h>

#include "target/target.h"

enum {
    WORD = 32,
    DEEPEST = 4,   /* operands of operands, of which there may be two each, */
    MOST_WAYS = 4, /* or so many that come together */
};

static bool is_wide(LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 2 * WORD;
}

static bool is_high_constant(LLVMValueRef v)
{
    return LLVMIsAConstantInt(v) && is_wide(v) && (uint32_t)LLVMConstIntGetZExtValue(v) == 0;
}

static LLVMTypeRef word_of(LLVMValueRef v)
{
    return LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(v)));
}

static LLVMValueRef low_word(LLVMBuilderRef b, LLVMValueRef v)
{
    if ((LLVMIsAZExtInst(v) || LLVMIsASExtInst(v)) &&
        LLVMTypeOf(LLVMGetOperand(v, 0)) == word_of(v))
        return LLVMGetOperand(v, 0);
    return LLVMBuildTrunc(b, v, word_of(v), "");
}

static LLVMValueRef high_of_constant(LLVMValueRef v)
{
    return LLVMConstInt(word_of(v), LLVMConstIntGetZExtValue(v) >> WORD, false);
}

/* A shift's distance, when it is a constant from least to 63; else -1. */
static int distance(LLVMValueRef shift, int least)
{
    LLVMValueRef by = LLVMGetOperand(shift, 1);
    if (!LLVMIsAConstantInt(by))
        return -1;
    unsigned long long n = LLVMConstIntGetZExtValue(by);
    return n >= (unsigned)least && n < 2 * WORD ? (int)n : -1;
}

static bool is_high(LLVMValueRef v, int depth);

static bool all_high(LLVMValueRef phi, int depth)
{
    unsigned n = LLVMCountIncoming(phi);
    for (unsigned i = 0; i < n; i++)
        if (!is_high(LLVMGetIncomingValue(phi, i), depth))
            return false;
    return n <= MOST_WAYS;
}

/* Whether v is 64 bits whose low word is zero for what its operands are. */
static bool is_high(LLVMValueRef v, int depth)
{
    if (is_high_constant(v))
        return true;
    if (!LLVMIsAInstruction(v) || !is_wide(v) || depth == DEEPEST)
        return false;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMMul: return is_high_constant(LLVMGetOperand(v, 1));
    case LLVMPHI: return all_high(v, depth + 1);
    case LLVMShl: return distance(v, WORD) >= 0;
    case LLVMAdd:
    case LLVMSub:
    case LLVMOr:
    case LLVMXor:
        return is_high(LLVMGetOperand(v, 0), depth + 1) && is_high(LLVMGetOperand(v, 1), depth + 1);
    default: return false;
    }
}

static LLVMValueRef high_word(LLVMBuilderRef b, LLVMValueRef v);

/* Of one that comes from several blocks, in each of which its high word is computed. */
static LLVMValueRef high_phi(LLVMValueRef phi)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(phi)));
    LLVMPositionBuilderBefore(b, phi);
    LLVMValueRef high = LLVMBuildPhi(b, word_of(phi), "");
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
        LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(from));
        LLVMValueRef v = high_word(b, LLVMGetIncomingValue(phi, i));
        LLVMAddIncoming(high, &v, &from, 1);
    }
    LLVMDisposeBuilder(b);
    return high;
}

/* The high word of what is_high() holds for. */
static LLVMValueRef high_word(LLVMBuilderRef b, LLVMValueRef v)
{
    if (LLVMIsAConstantInt(v))
        return high_of_constant(v);
    if (LLVMIsAPHINode(v))
        return high_phi(v);
    LLVMValueRef x = LLVMGetOperand(v, 0), y = LLVMGetOperand(v, 1);
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if (op == LLVMMul)
        return LLVMBuildMul(b, low_word(b, x), high_of_constant(y), "");
    if (op == LLVMShl)
        return LLVMBuildShl(b, low_word(b, x),
                            LLVMConstInt(word_of(v), (unsigned)(distance(v, WORD) - WORD), false),
                            "");
    return LLVMBuildBinOp(b, op, high_word(b, x), high_word(b, y), "");
}

static LLVMValueRef shifted(LLVMBuilderRef b, LLVMOpcode op, LLVMValueRef v, LLVMTypeRef type,
                            int by)
{
    return by == 0 ? v : LLVMBuildBinOp(b, op, v, LLVMConstInt(type, (unsigned)by, false), "");
}

/* A shift to the right of such a value, or the product itself where it is needed whole. What is shifted there and back
 * is an extension, which keeps LLVM from counting a loop's turns in the high word. */
static LLVMValueRef mend(LLVMBuilderRef b, LLVMValueRef i)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    LLVMTypeRef wide = LLVMTypeOf(i);
    if (!is_wide(i))
        return NULL;
    if (op == LLVMMul && is_high_constant(LLVMGetOperand(i, 1)))
        return shifted(b, LLVMShl, LLVMBuildZExt(b, high_word(b, i), wide, ""), wide, WORD);
    int by = op == LLVMAShr || op == LLVMLShr ? distance(i, 0) : -1;
    LLVMValueRef from = LLVMGetOperand(i, 0);
    if (by < 0 || LLVMIsAConstantInt(from) || !is_high(from, 0))
        return NULL;
    LLVMValueRef high = high_word(b, from);
    if (by > WORD)
        high = shifted(b, op, high, word_of(high), by - WORD);
    high = op == LLVMAShr ? LLVMBuildSExt(b, high, wide, "") : LLVMBuildZExt(b, high, wide, "");
    return by < WORD ? shifted(b, LLVMShl, high, wide, WORD - by) : high;
}

/* Backwards, so that what only a mended shift needed is gone before it would be mended itself. */
static void mend_block(LLVMBuilderRef b, LLVMBasicBlockRef block)
{
    LLVMValueRef before;
    for (LLVMValueRef i = LLVMGetLastInstruction(block); i; i = before) {
        before = LLVMGetPreviousInstruction(i);
        bool merged = LLVMIsAPHINode(i) && is_wide(i);
        if (!LLVMIsABinaryOperator(i) && !(merged && !LLVMGetFirstUse(i)))
            continue;
        LLVMPositionBuilderBefore(b, i);
        LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(i));
        LLVMValueRef in_place = LLVMGetFirstUse(i) ? mend(b, i) : NULL;
        if (in_place)
            LLVMReplaceAllUsesWith(i, in_place);
        if (in_place || !LLVMGetFirstUse(i)) {
            before = LLVMGetPreviousInstruction(i);
            LLVMInstructionEraseFromParent(i);
        }
    }
}

void kj_ptx_mend_words(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef k = LLVMGetLastBasicBlock(f); k; k = LLVMGetPreviousBasicBlock(k))
            mend_block(b, k);
    LLVMDisposeBuilder(b);
}
