/* What @fastmath changes: the operations of floats that the source writes may be regrouped, fused,
 * and approximated; on a GPU f32 functions are made of the approximations that it has instructions
 * for. NaN and infinities keep their meaning: a program that has some after all would pay for the
 * assumption that there are none with more than their places. */
#include "lower/tile/tile.h"

#include <stdio.h>
#include <string.h>

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

/* ---- A GPU's approximations ---- */

/* op.approx.f32, as text: LLVM's names for it change with its versions. */
static kj_tile approximate(kj_lower *lo, const char *op, kj_tile x)
{
    static const char constraints[] = "=f,f";
    LLVMTypeRef f32 = lo->types[KJ_F32], type = LLVMFunctionType(f32, &f32, 1, false);
    char text[40];
    bool flushes = lo->ftz && strcmp(op, "tanh") != 0; /* it has no such form */
    kj_snprintf(text, sizeof text, "%s.approx%s.f32 $0, $1;", op, flushes ? ".ftz" : "");
    LLVMValueRef code =
        LLVMGetInlineAsm(type, text, strlen(text), constraints, sizeof constraints - 1, false,
                         false, LLVMInlineAsmDialectATT, false);
    kj_tile out = kj_tile_like(KJ_F32, 1, 1);
    out.v[0] = LLVMBuildCall2(lo->b, type, code, x.v, 1, "");
    return out;
}

static kj_tile times(kj_lower *lo, kj_tile x, kj_tile y)
{
    return kj_relaxed(lo, kj_tile_binary(lo, KJ_OP_MUL, x, y));
}

static kj_tile scaled(kj_lower *lo, kj_tile x, double factor)
{
    return factor == 1 ? x : times(lo, x, kj_tile_const(lo, kj_float(KJ_F32, factor)));
}

/* result * op(argument * x) */
typedef struct shape {
    const char *op;
    double argument, result;
} shape;

static const shape shapes[KJ_NBUILTINS] = {
    [KJ_BI_EXP] = {"ex2", 0x1.715476p+0, 1}, /* log2(e) */
    [KJ_BI_EXP2] = {"ex2", 1, 1},
    [KJ_BI_EXP10] = {"ex2", 0x1.a934fp+1, 1}, /* log2(10) */
    [KJ_BI_LOG] = {"lg2", 1, 0x1.62e43p-1},   /* log(2) */
    [KJ_BI_LOG2] = {"lg2", 1, 1},
    [KJ_BI_LOG10] = {"lg2", 1, 0x1.344136p-2}, /* log10(2) */
    [KJ_BI_SIN] = {"sin", 1, 1},
    [KJ_BI_COS] = {"cos", 1, 1},
    [KJ_BI_TANH] = {"tanh", 1, 1},
    [KJ_BI_RSQRT] = {"rsqrt", 1, 1},
};

bool kj_lower_fast(kj_lower *lo, kj_builtin id, const kj_tile *args, kj_tile *out)
{
    if (!lo->ptx || !lo->kernel->fastmath || args[0].type != KJ_F32)
        return false;
    const shape *s = &shapes[id];
    if (s->op) {
        *out = scaled(lo, approximate(lo, s->op, scaled(lo, args[0], s->argument)), s->result);
    } else if (id == KJ_BI_POW) {
        *out = approximate(lo, "ex2", times(lo, args[1], approximate(lo, "lg2", args[0])));
    } else if (id == KJ_BI_TAN) {
        kj_tile sine = approximate(lo, "sin", args[0]), cosine = approximate(lo, "cos", args[0]);
        *out = kj_relaxed(lo, kj_tile_binary(lo, KJ_OP_DIV, sine, cosine));
    } else {
        return false;
    }
    return true;
}
