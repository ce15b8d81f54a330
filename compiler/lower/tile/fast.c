/* What @fastmath changes: the operations of floats that the source writes may be regrouped, fused,
 * and approximated; functions are made of what approximations the target has. NaN and infinities keep
 * their meaning: a program that has some after all would pay for the assumption that there are none
 * with more than their places. */
#include "lower/tile/tile.h"

kj_tile kj_relaxed(kj_lower *lo, kj_tile t)
{
    LLVMFastMathFlags flags = LLVMFastMathAllowReassoc | LLVMFastMathNoSignedZeros |
                              LLVMFastMathAllowReciprocal | LLVMFastMathAllowContract |
                              LLVMFastMathApproxFunc;
    for (int r = 0; r < t.rows && lo->kernel->fastmath && kj_is_float(t.type); r++)
        if (LLVMIsAInstruction(t.v[r]) && LLVMCanValueUseFastMathFlags(t.v[r]))
            LLVMSetFastMathFlags(t.v[r], flags);
    return t;
}
