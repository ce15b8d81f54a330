/* Operations of a warp by instructions of PTX. */
#include "lower/nvptx/nvptx.h"

/* One of the words that a value is made of goes from lane to lane. */
static LLVMValueRef shuffle_word(kj_lower *lo, kj_builtin id, LLVMValueRef mask, LLVMValueRef word,
                                 LLVMValueRef by)
{
    unsigned last = id == KJ_BI_SHFL_UP_SYNC ? 0 : KJ_WARP - 1; /* of the segment: the warp */
    LLVMValueRef args[4] = {mask, word, by, LLVMConstInt(lo->i32, last, false)};
    return kj_intrinsic(lo, kj_builtins[id].symbol, NULL, 0, args, 4);
}

static LLVMValueRef shuffle_wide(kj_lower *lo, kj_builtin id, LLVMValueRef mask, LLVMValueRef v,
                                 LLVMValueRef by)
{
    LLVMValueRef half = kj_i64(lo, 32), words[2];
    words[0] = LLVMBuildTrunc(lo->b, v, lo->i32, "");
    words[1] = LLVMBuildTrunc(lo->b, LLVMBuildLShr(lo->b, v, half, ""), lo->i32, "");
    for (int i = 0; i < 2; i++)
        words[i] = LLVMBuildZExt(lo->b, shuffle_word(lo, id, mask, words[i], by), lo->i64, "");
    return LLVMBuildOr(lo->b, LLVMBuildShl(lo->b, words[1], half, ""), words[0], "");
}

static kj_tile shuffle(kj_lower *lo, kj_builtin id, const LLVMValueRef *args, kj_tile v)
{
    kj_tile out = kj_tile_like(v.type, 1, 1);
    LLVMTypeRef type = LLVMTypeOf(v.v[0]);
    unsigned bits = v.narrow ? 32 : kj_types[v.type].bits;
    LLVMValueRef word = LLVMBuildBitCast(lo->b, v.v[0], LLVMIntTypeInContext(lo->ctx, bits), "");
    if (bits == 64) {
        word = shuffle_wide(lo, id, args[0], word, args[2]);
    } else {
        word = LLVMBuildZExt(lo->b, word, lo->i32, "");
        word = shuffle_word(lo, id, args[0], word, args[2]);
        word = LLVMBuildTrunc(lo->b, word, LLVMIntTypeInContext(lo->ctx, bits), "");
    }
    out.v[0] = LLVMBuildBitCast(lo->b, word, type, "");
    if (v.narrow) {
        out.narrow = true;
        out.bounds = kj_type_bounds(KJ_I32);
    }
    return out;
}

static kj_tile match(kj_lower *lo, kj_builtin id, const LLVMValueRef *args, kj_tile v)
{
    v = kj_tile_wide(lo, v);
    unsigned bits = kj_types[v.type].bits;
    LLVMTypeRef word = bits == 64 ? lo->i64 : lo->i32;
    LLVMValueRef in[2] = {args[0],
                          LLVMBuildBitCast(lo->b, v.v[0], LLVMIntTypeInContext(lo->ctx, bits), "")};
    in[1] = LLVMBuildZExt(lo->b, in[1], word, "");
    bool all = id == KJ_BI_MATCH_ALL_SYNC;
    const char *name = kj_arena_printf(lo->arena, "%s.%s%s", kj_builtins[id].symbol,
                                       bits == 64 ? "i64" : "i32", all ? "p" : "");
    LLVMValueRef lanes = kj_intrinsic(lo, name, NULL, 0, in, 2);
    if (all)
        lanes = LLVMBuildExtractValue(lo->b, lanes, 0, "");
    return kj_tile_scalar(KJ_U32, lanes);
}

kj_tile kj_nvptx_warp(kj_lower *lo, const kj_texpr *e, const kj_tile *args, kj_mask m)
{
    (void)m; /* those that run are there */
    LLVMValueRef v[3];
    int n = e->u.call.nargs;
    for (int i = 0; i < n; i++)
        v[i] = args[i].v[0];
    switch (e->u.call.id) {
    case KJ_BI_SHFL_SYNC:
    case KJ_BI_SHFL_UP_SYNC:
    case KJ_BI_SHFL_DOWN_SYNC:
    case KJ_BI_SHFL_XOR_SYNC: return shuffle(lo, e->u.call.id, v, args[1]);
    case KJ_BI_MATCH_ANY_SYNC:
    case KJ_BI_MATCH_ALL_SYNC: return match(lo, e->u.call.id, v, args[1]);
    default: break;
    }
    const char *name = kj_builtins[e->u.call.id].symbol;
    LLVMValueRef out = kj_intrinsic(lo, name, NULL, 0, v, (unsigned)n);
    return e->type == KJ_VOID ? kj_tile_int(lo, 0) : kj_tile_scalar(e->type, out);
}
