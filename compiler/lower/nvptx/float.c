/* Floats by instructions of PTX: the smaller of two, integers, what @fastmath approximates. */
#include "lower/nvptx/nvptx.h"

#include <llvm/Config/llvm-config.h>
#include <string.h>

/* There is an instruction, which orders zeros as the language does. As text: what LLVM calls so
 * may order them as it likes. */
static kj_tile extreme(kj_lower *lo, kj_tile a, kj_tile b, bool max)
{
    char text[40], constraints[8];
    bool f64 = a.type == KJ_F64;
    LLVMTypeRef value = lo->types[a.type],
                type = LLVMFunctionType(value, (LLVMTypeRef[]){value, value}, 2, false);
    kj_snprintf(text, sizeof text, "%s%s.f%d $0, $1, $2;", max ? "max" : "min",
                lo->ftz && !f64 ? ".ftz" : "", f64 ? 64 : 32);
    kj_snprintf(constraints, sizeof constraints, f64 ? "=d,d,d" : "=f,f,f");
    LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints),
                                         false, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef args[2] = {a.v[0], b.v[0]};
    return kj_tile_scalar(a.type, LLVMBuildCall2(lo->b, type, code, args, 2, ""));
}

kj_tile kj_nvptx_extreme(kj_lower *lo, kj_tile a, kj_tile b, bool max)
{
    kj_tile out = extreme(lo, kj_half_widen(lo, a), kj_half_widen(lo, b), max);
    return kj_tile_convert(lo, out, a.type);
}

/* LLVM's general form becomes many instructions; that of PTX means what it does from LLVM 22 on. */
LLVMValueRef kj_nvptx_to_int(kj_lower *lo, LLVMValueRef v, kj_dtype to, LLVMTypeRef value)
{
    if (LLVM_VERSION_MAJOR < 22)
        return kj_float_to_int(lo, v, to, value);
    /* The instruction keeps to the range by itself. For NaN it gives 0 only from f32 to 32 bits. */
    bool f64 = LLVMTypeOf(v) == lo->types[KJ_F64], is_signed = kj_is_signed(to);
    bool wide = kj_types[to].bits == 64;
    char name[32];
    kj_snprintf(name, sizeof name, "llvm.nvvm.%c2%s%s.rz", f64 ? 'd' : 'f', is_signed ? "" : "u",
                wide ? "ll" : "i");
    kj_dtype type = is_signed ? wide ? KJ_I64 : KJ_I32 : wide ? KJ_U64 : KJ_U32;
    kj_tile t = kj_tile_scalar(type, kj_intrinsic(lo, name, NULL, 0, &v, 1));
    if (f64 || wide) {
        LLVMValueRef nan = LLVMBuildFCmp(lo->b, LLVMRealUNO, v, v, "");
        t.v[0] = LLVMBuildSelect(lo->b, nan, LLVMConstNull(lo->types[type]), t.v[0], "");
    }
    if (kj_types[to].bits >= 32)
        return t.v[0];
    int64_t most = ((int64_t)1 << kj_magnitude_bits(to)) - 1;
    t = kj_lower_min(lo, t, kj_tile_const(lo, kj_int(type, most)), false);
    if (is_signed)
        t = kj_lower_min(lo, t, kj_tile_const(lo, kj_int(type, -most - 1)), true);
    return LLVMBuildTrunc(lo->b, t.v[0], lo->types[to], "");
}

/* ---- Approximations ---- */

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

bool kj_nvptx_approximate(kj_lower *lo, kj_builtin id, const kj_tile *args, kj_tile *out)
{
    if (args[0].type != KJ_F32)
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
