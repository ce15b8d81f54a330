/* Loops whose turns lie far apart in memory, as `for i in range(grid(1), n, gridsize(1))` and those down the columns
 * of a matrix do: what a turn accesses is fetched some turns before, into the second cache. The lines of one turn do
 * not follow those of the one before, and are often on another page, so that no processor guesses them. It is only a
 * guess here, too, that need not be right: nothing is computed of what is fetched. */
#include "lower/gang/gang.h"

enum {
    TURNS = 16,    /* ahead */
    MOST_ROWS = 4, /* of a gang's, in a turn */
    MOST_SEEN = 4,
    MOST_LOOKS = 64 /* at the parts of an index */
};

struct kj_ahead {
    const kj_var *var;
    const kj_tstmt *body;
    LLVMValueRef stop; /* where it ends: an i64 */
    LLVMValueRef far;  /* how much the variable grows in those turns: an i64; */
    LLVMValueRef some; /* does it go on for so long? */
    int left;          /* rows that may still be fetched in this turn */
    struct {
        const kj_tarray *array;
        kj_texpr *const *index;
    } seen[MOST_SEEN]; /* accesses of the turn that are fetched */
    int nseen;
    int looks; /* left, of an access */
};

/* ---- Loops ---- */

static bool is_scalar(kj_tile t)
{
    return t.rows == 1 && t.lanes == 1;
}

static LLVMValueRef word_of(kj_lower *lo, kj_tile t)
{
    return kj_tile_convert(lo, t, KJ_I64).v[0];
}

/* The first thread's. */
static LLVMValueRef first_of(kj_lower *lo, kj_tile t)
{
    if (t.form == KJ_LINEAR) {
        t.form = KJ_DENSE;
        t.rows = t.lanes = 1;
    }
    LLVMValueRef v = kj_tile_vector(lo, t, 0, t.lanes);
    if (t.lanes > 1)
        v = LLVMBuildExtractElement(lo->b, v, kj_i64(lo, 0), "");
    return LLVMBuildIntCast2(lo->b, v, lo->i64, true, "");
}

/* One that counts up. */
static kj_ahead *begin(kj_lower *lo, const kj_var *var, const kj_tstmt *body, kj_tile stop,
                       kj_tile step)
{
    if (!lo->target->serial || lo->lanes == 1 || lo->slots == lo->home || lo->watch ||
        !is_scalar(stop) || !is_scalar(step) || !kj_is_positive(step))
        return NULL;
    kj_ahead *a = KJ_NEW(lo->arena, kj_ahead);
    *a = (kj_ahead){.var = var, .body = body};
    a->stop = word_of(lo, stop);
    a->far = LLVMBuildMul(lo->b, word_of(lo, step), kj_i64(lo, TURNS), "");
    return a;
}

kj_ahead *kj_ahead_for(kj_lower *lo, const kj_tstmt *s, kj_tile stop, kj_tile step)
{
    kj_turns turns;
    bool few = kj_known_turns(s, &turns) && turns.n <= TURNS;
    return few ? NULL : begin(lo, s->u.for_.var, s->u.for_.body, stop, step);
}

kj_ahead *kj_ahead_while(kj_lower *lo, const kj_tstmt *s, const kj_counter *counters, kj_mask m)
{
    kj_tile stop;
    const kj_var *var;
    const kj_texpr *by = kj_counter_bounded(counters, &var, &stop);
    return by ? begin(lo, var, s->u.while_.body, stop, kj_lower_expr(lo, by, m)) : NULL;
}

void kj_ahead_turn(kj_lower *lo, kj_ahead *a)
{
    lo->ahead = a;
    if (!a)
        return;
    kj_tile i = kj_slot_read(lo, a->var);
    LLVMValueRef first = first_of(lo, i);
    LLVMValueRef left = LLVMBuildSub(lo->b, a->stop, first, "");
    a->some = LLVMBuildICmp(lo->b, LLVMIntSGT, left, a->far, "");
    a->left = MOST_ROWS;
    a->nseen = 0;
}

/* ---- Places ---- */

static const kj_texpr *let_of(const kj_tstmt *body, const kj_var *v)
{
    for (const kj_tstmt *s = body; s && !v->mutable; s = s->next)
        if (s->kind == KJ_TS_DECL && s->u.decl.var == v)
            return s->u.decl.init;
    return NULL;
}

/* Is it at hand, and the gang's? */
static bool is_factor(const kj_lower *lo, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    bool is = !e->checked && (e->kind == KJ_TE_CONST || e->kind == KJ_TE_DIM ||
                              e->kind == KJ_TE_VAR || e->kind == KJ_TE_CONVERT ||
                              (e->kind == KJ_TE_BINARY && !(kj_dep(lo->deps, e) & ~KJ_DEP_GIVEN)));
    for (int i = 0, n = kj_operands(e, operands); i < n && is; i++)
        is = is_factor(lo, operands[i]);
    return is;
}

static LLVMValueRef factor(kj_lower *lo, const kj_texpr *e)
{
    kj_tile t = is_factor(lo, e) ? kj_lower_expr(lo, e, kj_all) : (kj_tile){.rows = 0};
    return is_scalar(t) && kj_is_int(t.type) ? word_of(lo, t) : NULL;
}

static LLVMValueRef product(kj_lower *lo, LLVMValueRef a, LLVMValueRef b)
{
    return a && b ? LLVMBuildMul(lo->b, a, b, "") : NULL;
}

/* By how much it grows with the variable; NULL where that is nothing, or not seen. */
static LLVMValueRef slope(kj_lower *lo, const kj_texpr *e)
{
    if (--lo->ahead->looks < 0)
        return NULL;
    const kj_texpr *of = e->kind == KJ_TE_VAR ? let_of(lo->ahead->body, e->u.var) : NULL;
    if (e->kind == KJ_TE_VAR && e->u.var == lo->ahead->var)
        return kj_i64(lo, 1);
    if (e->kind == KJ_TE_CONVERT || of)
        return slope(lo, of ? of : e->u.unary.arg);
    if (e->kind != KJ_TE_BINARY || !kj_is_int(e->type))
        return NULL;
    kj_op op = e->u.binary.op;
    if (op == KJ_OP_MOD || op == KJ_OP_AND) /* a column, mostly: the row's end is seldom */
        return slope(lo, e->u.binary.lhs);
    LLVMValueRef lhs = op == KJ_OP_ADD || op == KJ_OP_SUB || op == KJ_OP_MUL
                           ? slope(lo, e->u.binary.lhs)
                           : NULL,
                 rhs = !lhs && (op == KJ_OP_ADD || op == KJ_OP_MUL) ? slope(lo, e->u.binary.rhs)
                                                                    : NULL;
    if (op == KJ_OP_MUL && lhs)
        return product(lo, lhs, factor(lo, e->u.binary.rhs));
    if (op == KJ_OP_MUL && rhs)
        return product(lo, rhs, factor(lo, e->u.binary.lhs));
    return lhs ? lhs : rhs;
}

static LLVMValueRef slope_of_access(kj_lower *lo, const kj_tarray *a, kj_texpr *const *index)
{
    for (int i = 0; i < a->ndim; i++) {
        LLVMValueRef by = slope(lo, index[i]);
        if (by)
            return product(lo, by, factor(lo, a->stride[i]));
    }
    return a->offset ? slope(lo, a->offset) : NULL;
}

/* An access at the place of one before. */
static bool is_seen(kj_ahead *ahead, const kj_tarray *a, kj_texpr *const *index)
{
    for (int i = 0; i < ahead->nseen; i++) {
        const kj_tarray *before = ahead->seen[i].array;
        bool same = before->root == a->root && before->ndim == a->ndim;
        for (int k = 0; k < a->ndim && same; k++)
            same = ahead->seen[i].index[k] == index[k] ||
                   kj_is_same_number(ahead->seen[i].index[k], index[k]);
        if (same)
            return true;
    }
    if (ahead->nseen < MOST_SEEN) {
        ahead->seen[ahead->nseen].array = a;
        ahead->seen[ahead->nseen++].index = index;
    }
    return false;
}

void kj_fetch_ahead(kj_lower *lo, const kj_tarray *a, kj_texpr *const *index, const kj_access *at)
{
    kj_ahead *ahead = lo->ahead;
    if (!ahead || ahead->left < at->offset.rows || a->root->space != KJ_GLOBAL ||
        at->offset.lanes == 1 ||
        (!kj_is_unit(at->offset) && kj_runs(at->offset) != KJ_RUNS_OFTEN) ||
        is_seen(ahead, a, index))
        return;
    ahead->looks = MOST_LOOKS;
    LLVMValueRef by = slope_of_access(lo, a, index);
    if (!by || (LLVMIsConstant(by) && LLVMIsConstant(ahead->far) &&
                LLVMConstIntGetSExtValue(by) * LLVMConstIntGetSExtValue(ahead->far) <=
                    (int64_t)at->offset.lanes * TURNS))
        return;
    LLVMBasicBlockRef fetch = kj_new_block(lo, "fetch"), on = kj_new_block(lo, "fetched");
    LLVMBuildCondBr(lo->b, ahead->some, fetch, on);
    LLVMPositionBuilderAtEnd(lo->b, fetch);
    ahead->left -= at->offset.rows;
    for (int r = 0; r < at->offset.rows; r++)
        kj_fetch_row(lo, at, r, LLVMBuildMul(lo->b, ahead->far, by, ""));
    LLVMBuildBr(lo->b, on);
    LLVMPositionBuilderAtEnd(lo->b, on);
}
