/* Of the gangs of a region those whose threads have something to do in it (analysis/reach.c): from where, up to where, and by
 * what step, computed once in front of the loop. */
#include "lower/block/block.h"

/* An expression of analysis/reach.c's, of the thread of that number along the lanes. */
static kj_tile value_at(kj_lower *lo, const kj_texpr *e, int64_t thread)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    kj_tile v[KJ_BUILTIN_ARGS];
    if (e->kind == KJ_TE_VAR) {
        const kj_place *p = &lo->regions->places[e->u.var->id];
        bool here = e->u.var->param >= 0 || p->home == KJ_HOME_BLOCK;
        return here ? kj_lower_expr(lo, e, kj_all) : value_at(lo, p->init, thread);
    }
    if (e->kind == KJ_TE_INDEX && e->u.index.which == KJ_THREAD_IDX)
        return kj_tile_int(lo, thread);
    if (e->kind != KJ_TE_CONVERT && e->kind != KJ_TE_UNARY && e->kind != KJ_TE_BINARY)
        return kj_lower_expr(lo, e, kj_all);
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        v[i] = value_at(lo, operands[i], thread);
    return kj_operate(lo, e, v, kj_all);
}

static LLVMValueRef word_at(kj_lower *lo, const kj_texpr *e, int64_t thread)
{
    kj_tile t = kj_tile_convert(lo, value_at(lo, e, thread), KJ_I64);
    return kj_tile_wide(lo, t).v[0];
}

static LLVMValueRef least_of(kj_lower *lo, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef args[2] = {a, b};
    return kj_intrinsic(lo, "llvm.smin", &lo->i64, 1, args, 2);
}

static LLVMValueRef most_of(kj_lower *lo, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef args[2] = {a, b};
    return kj_intrinsic(lo, "llvm.smax", &lo->i64, 1, args, 2);
}

static LLVMValueRef is_less(kj_lower *lo, LLVMValueRef v, int64_t than)
{
    return LLVMBuildICmp(lo->b, LLVMIntULT, v, kj_i64(lo, than), "");
}

/* The index: first + by * thread, where that is `known`, as neither is so large that something wraps. */
typedef struct line {
    LLVMValueRef first, by, known;
} line;

static line line_of(kj_lower *lo, const kj_texpr *index)
{
    enum { FIRST = 1 << 29, BY = 1 << 19 };
    line l = {.first = word_at(lo, index, 0)};
    LLVMValueRef by = LLVMBuildSub(lo->b, word_at(lo, index, 1), l.first, "");
    LLVMValueRef from = LLVMBuildAdd(lo->b, l.first, kj_i64(lo, FIRST), "");
    LLVMValueRef up = is_less(lo, LLVMBuildSub(lo->b, by, kj_i64(lo, 1), ""), BY);
    l.known = LLVMBuildAnd(lo->b, is_less(lo, from, 2 * (int64_t)FIRST), up, "");
    l.by = LLVMBuildSelect(lo->b, l.known, by, kj_i64(lo, 1), "");
    return l;
}

/* The first thread, of 0 to all, whose index is not less than the limit and so much. */
static LLVMValueRef first_from(kj_lower *lo, line l, LLVMValueRef limit, int64_t more, int64_t all)
{
    enum { FAR = 1 << 30 }; /* beyond the indices of all threads */
    limit = least_of(lo, most_of(lo, limit, kj_i64(lo, -(int64_t)FAR)), kj_i64(lo, FAR));
    LLVMValueRef n = LLVMBuildSub(lo->b, limit, l.first, "");
    n = most_of(lo, LLVMBuildAdd(lo->b, n, kj_i64(lo, more), ""), kj_i64(lo, 0));
    n = LLVMBuildAdd(lo->b, n, LLVMBuildSub(lo->b, l.by, kj_i64(lo, 1), ""), "");
    n = LLVMBuildUDiv(lo->b, n, l.by, "");
    return least_of(lo, n, kj_i64(lo, all));
}

static void bound(kj_lower *lo, const kj_reach *r, int64_t all, kj_within *out)
{
    line l = line_of(lo, r->index);
    LLVMValueRef limit = word_at(lo, r->limit, 0);
    if (r->op == KJ_OP_GE || r->op == KJ_OP_GT || r->op == KJ_OP_EQ) {
        LLVMValueRef from = first_from(lo, l, limit, r->op == KJ_OP_GT, all);
        from = LLVMBuildSelect(lo->b, l.known, from, kj_i64(lo, 0), "");
        out->start = out->start ? most_of(lo, out->start, from) : from;
    }
    if (r->op == KJ_OP_LT || r->op == KJ_OP_LE || r->op == KJ_OP_EQ) {
        LLVMValueRef to = first_from(lo, l, limit, r->op != KJ_OP_LT, all);
        to = LLVMBuildSelect(lo->b, l.known, to, kj_i64(lo, all), "");
        out->stop = out->stop ? least_of(lo, out->stop, to) : to;
    }
}

/* The multiples of a number, where those are some; all are multiples of 0. */
static void skip(kj_lower *lo, const kj_reach *r, int64_t all, kj_within *out)
{
    LLVMValueRef by = word_at(lo, r->limit, 0), one = kj_i64(lo, 1);
    LLVMValueRef some = is_less(lo, LLVMBuildSub(lo->b, by, one, ""), all);
    out->step = LLVMBuildSelect(lo->b, some, by, one, "");
}

kj_within kj_within_of(kj_lower *lo, const kj_node *n)
{
    const int64_t *block = lo->kernel->block;
    kj_within out = {NULL, NULL, NULL};
    for (int i = 0; i < n->nreach; i++)
        if (n->reach[i].op != KJ_OP_MOD)
            bound(lo, &n->reach[i], block[0], &out);
    for (int i = 0; i < n->nreach; i++)
        if (n->reach[i].op == KJ_OP_MOD && n->alone && !out.start && !out.step)
            skip(lo, &n->reach[i], block[0], &out);
    return out;
}
