/* Built-in functions that PTX has an instruction for. */
#include "lang/signature.h"
#include "lower/nvptx/nvptx.h"

#include <string.h>

/* Of words: what is missing of the arguments, a number of the instruction itself, is given first. */
static kj_tile of_words(kj_lower *lo, const char *name, LLVMValueRef *v, unsigned n, kj_dtype type)
{
    return kj_tile_scalar(type, kj_intrinsic(lo, name, NULL, 0, v, n));
}

/* The fourth bit of a digit would ask for the byte's sign. */
static kj_tile byte_perm(kj_lower *lo, const kj_tile *v)
{
    LLVMValueRef digits = LLVMBuildAnd(lo->b, v[2].v[0], LLVMConstInt(lo->i32, 0x7777, 0), "");
    return of_words(lo, "llvm.nvvm.prmt", (LLVMValueRef[]){v[0].v[0], v[1].v[0], digits}, 3,
                    v[0].type);
}

static kj_tile dot_of_halves(kj_lower *lo, const kj_tile *v, bool upper)
{
    LLVMValueRef is_upper = LLVMConstInt(lo->i1, upper, 0);
    LLVMValueRef args[] = {v[0].v[0], v[1].v[0], is_upper, v[2].v[0]};
    bool is_signed = kj_is_signed(v[0].type);
    return of_words(lo, is_signed ? "llvm.nvvm.idp2a.s.s" : "llvm.nvvm.idp2a.u.u", args, 4,
                    v[0].type);
}

static kj_tile dot_of_bytes(kj_lower *lo, const kj_tile *v)
{
    bool is_signed = kj_is_signed(v[0].type);
    LLVMValueRef args[] = {v[0].v[0], v[1].v[0], v[2].v[0]};
    return of_words(lo, is_signed ? "llvm.nvvm.idp4a.s.s" : "llvm.nvvm.idp4a.u.u", args, 3,
                    v[0].type);
}

/* add_rd and its kin. A difference is the sum with the negated number. */
static bool directed(kj_lower *lo, kj_builtin id, const kj_tile *args, kj_tile *out)
{
    char name[40], to = kj_builtin_rounding(id);
    kj_dtype type = args[0].type;
    if (!to || to == 'n' || kj_builtin_converts(id) || kj_is_half(type))
        return false;
    unsigned n = (unsigned)kj_builtin_arity(id);
    LLVMValueRef v[3];
    for (unsigned i = 0; i < n; i++)
        v[i] = args[i].v[0];
    const char *op = kj_builtins[id].name;
    bool difference = strncmp(op, "sub", 3) == 0;
    if (difference)
        v[1] = LLVMBuildFNeg(lo->b, v[1], "");
    kj_snprintf(name, sizeof name, "llvm.nvvm.%.*s.r%c%s.%c",
                difference ? 3 : (int)strcspn(op, "_"), difference ? "add" : op,
                to == 'd'   ? 'm'
                : to == 'u' ? 'p'
                            : 'z',
                lo->ftz && type == KJ_F32 ? ".ftz" : "", type == KJ_F64 ? 'd' : 'f');
    *out = kj_tile_scalar(type, kj_intrinsic(lo, name, NULL, 0, v, n));
    return true;
}

bool kj_nvptx_instruction(kj_lower *lo, kj_builtin id, const kj_tile *args, kj_tile *out)
{
    switch (id) {
    case KJ_BI_BYTE_PERM: *out = byte_perm(lo, args); return true;
    case KJ_BI_DP4A: *out = dot_of_bytes(lo, args); return true;
    case KJ_BI_DP2A_LO:
    case KJ_BI_DP2A_HI: *out = dot_of_halves(lo, args, id == KJ_BI_DP2A_HI); return true;
    default: return directed(lo, id, args, out);
    }
}
