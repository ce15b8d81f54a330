/* Kernels whose threads are gangs, or run one by one, as numbers of the launch say (analysis/large.c). */
#include "lower/block/block.h"

/* A number of the launch's, through its names. */
static kj_tile number(kj_lower *lo, kj_origin *const *origins, const kj_texpr *e)
{
    switch (e->kind) {
    case KJ_TE_VAR:
        return e->u.var->param >= 0 ? kj_lower_expr(lo, e, kj_all)
                                    : number(lo, origins, origins[e->u.var->id]->value);
    case KJ_TE_CONVERT: return kj_tile_convert(lo, number(lo, origins, e->u.unary.arg), e->type);
    case KJ_TE_UNARY: return kj_tile_unary(lo, e->u.unary.op, number(lo, origins, e->u.unary.arg));
    case KJ_TE_BINARY:
        return kj_tile_binary(lo, e->u.binary.op, number(lo, origins, e->u.binary.lhs),
                              number(lo, origins, e->u.binary.rhs));
    default: return kj_lower_expr(lo, e, kj_all);
    }
}

/* A number that is no multiple of the lanes parts some gangs: of twice as many and more, less than half of them. */
static LLVMValueRef is_large(kj_lower *lo, const kj_large *l, LLVMValueRef by)
{
    int64_t lanes = lo->gang_lanes;
    LLVMValueRef low = kj_i64(lo, lanes - 1), none = kj_i64(lo, 0), least;
    LLVMValueRef bits = LLVMBuildAnd(lo->b, by, low, "");
    if (l->op == KJ_OP_AND)
        return LLVMBuildICmp(lo->b, LLVMIntEQ, bits, l->high ? none : low, "");
    if (l->op == KJ_OP_SHR)
        least = kj_i64(lo, __builtin_ctzll((uint64_t)lanes));
    else
        least = LLVMBuildSelect(lo->b, LLVMBuildICmp(lo->b, LLVMIntEQ, bits, none, ""),
                                kj_i64(lo, lanes), kj_i64(lo, 2 * lanes), "");
    return LLVMBuildICmp(lo->b, LLVMIntSGE, by, least, "");
}

LLVMValueRef kj_numbers_are_large(kj_lower *lo)
{
    kj_origin **origins = kj_origins(lo->arena, lo->kernel);
    LLVMValueRef all = LLVMConstInt(lo->i1, 1, false);
    for (const kj_large *l = lo->deps->large; l; l = l->next) {
        kj_tile by = kj_tile_convert(lo, number(lo, origins, l->by), KJ_I64);
        all = LLVMBuildAnd(lo->b, all, is_large(lo, l, by.v[0]), "");
    }
    return all;
}
