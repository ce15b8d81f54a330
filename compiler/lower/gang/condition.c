/* `if` of a gang: a branch where the condition is the same for all threads, else a part of the mask for each side.
 *
 * What the condition has loaded is at hand in its sides, as in `if s[i] > s[j] { let kept = s[i] ... }`: under
 * a part of the mask LLVM doesn't see that a load is the same, and lanes that are not neighbours are gathered one by one.
 * It is until something may have changed an element, or what the index is made of. */
#include "analysis/uniform.h"
#include "lower/gang/gang.h"

/* ---- What is at hand ---- */

struct kj_loaded {
    const kj_tarray *array;
    kj_texpr *const *index;
    kj_tile v;
    const kj_loaded *up;
};

static bool is_same(const kj_texpr *a, const kj_texpr *b)
{
    return a == b || (a && b && kj_is_same_number(a, b));
}

static bool is_same_place(const kj_loaded *l, const kj_tarray *a, kj_texpr *const *index)
{
    const kj_tarray *b = l->array;
    bool same = a->root == b->root && a->elem == b->elem && a->ndim == b->ndim &&
                is_same(a->offset, b->offset);
    for (int i = 0; i < a->ndim && same; i++)
        same = is_same(a->stride[i], b->stride[i]) && is_same(index[i], l->index[i]);
    return same;
}

/* Is a load of it what another one is? Not of parts of elements, nor where others write meanwhile. */
static bool may_stay(const kj_lower *lo, const kj_tarray *a)
{
    bool several = lo->rows * lo->lanes > 1 && !lo->watch && !lo->strip && !lo->waits;
    return several && !a->whole && !a->bytes && !a->root->of && !a->cache &&
           !kj_is_fetched_again(a);
}

bool kj_is_at_hand(const kj_lower *lo, const kj_tarray *a, kj_texpr *const *index, kj_tile *out)
{
    for (const kj_loaded *l = may_stay(lo, a) ? lo->at_hand : NULL; l; l = l->up)
        if (is_same_place(l, a, index)) {
            *out = l->v;
            return true;
        }
    return false;
}

void kj_have_at_hand(kj_lower *lo, const kj_tarray *a, kj_texpr *const *index, kj_tile v)
{
    if (!lo->loads_stay || !may_stay(lo, a))
        return;
    kj_loaded *l = KJ_NEW(lo->arena, kj_loaded);
    *l = (kj_loaded){a, index, v, lo->at_hand};
    lo->at_hand = l;
}

static bool only_loads(const kj_texpr *e);

static bool operands_only_load(const kj_texpr *const *operands, int n)
{
    bool only = true;
    for (int i = 0; i < n && only; i++)
        only = only_loads(operands[i]);
    return only;
}

/* Is all of it evaluated, and nothing but loaded? */
static bool only_loads(const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    switch (e->kind) {
    case KJ_TE_LOGIC:
    case KJ_TE_SELECT:
    case KJ_TE_INLINE:
    case KJ_TE_ATOMIC: return false;
    default:
        return (e->kind != KJ_TE_CALL || kj_builtins[e->u.call.id].how < KJ_HOW_WARP) &&
               operands_only_load(operands, kj_operands(e, operands));
    }
}

bool kj_loads_at_hand(const kj_tstmt *s)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    switch (s->kind) {
    case KJ_TS_DECL: return !s->u.decl.init || only_loads(s->u.decl.init);
    case KJ_TS_ASSIGN: return only_loads(s->u.assign.value);
    case KJ_TS_IF: return only_loads(s->u.if_.test);
    case KJ_TS_EXPR:
        return s->u.expr->kind == KJ_TE_ATOMIC &&
               operands_only_load(operands, kj_operands(s->u.expr, operands));
    case KJ_TS_STORE:
        return only_loads(s->u.store.value) &&
               operands_only_load(operands,
                                  kj_access_operands(s->u.store.array, s->u.store.index, operands));
    default: return false;
    }
}

/* ---- Conditions ---- */

static kj_mask lower_if_uniform(kj_lower *lo, const kj_tstmt *s, LLVMValueRef test, kj_mask m)
{
    bool exits = kj_loses(s->u.if_.yes, NULL, false) || kj_loses(s->u.if_.no, NULL, false);
    LLVMBasicBlockRef yes = kj_new_block(lo, "if"), no = kj_new_block(lo, "else"),
                      done = kj_new_block(lo, "endif");
    kj_mask_slot arrived;
    if (exits)
        arrived = kj_mask_new(lo, "arrived", kj_none);
    bool reached = false, lost = false;
    const kj_loaded *at_hand = lo->at_hand;
    LLVMBuildCondBr(lo->b, test, yes, no);
    for (int side = 0; side < 2; side++) {
        LLVMPositionBuilderAtEnd(lo->b, side ? no : yes);
        lo->at_hand = at_hand;
        kj_mask after = kj_lower_stmts(lo, side ? s->u.if_.no : s->u.if_.yes, NULL, m);
        if (kj_has_ended(lo))
            continue;
        reached = true;
        lost |= after.kind != m.kind || after.kind == KJ_SOME;
        if (exits)
            kj_mask_store(lo, &arrived, after);
        LLVMBuildBr(lo->b, done);
    }
    LLVMPositionBuilderAtEnd(lo->b, done);
    if (!reached) {
        LLVMBuildUnreachable(lo->b);
        return kj_none;
    }
    return exits && lost ? kj_mask_load(lo, &arrived) : m;
}

static kj_mask lower_if_masked(kj_lower *lo, const kj_tstmt *s, kj_tile test, kj_mask m)
{
    bool exits = kj_loses(s->u.if_.yes, NULL, false) || kj_loses(s->u.if_.no, NULL, false);
    kj_mask yes = kj_mask_and(lo, m, kj_mask_of(test)),
            no = kj_mask_andnot(lo, m, kj_mask_of(test));
    const kj_loaded *at_hand = lo->at_hand;
    if (!exits) {
        kj_lower_part(lo, s->u.if_.yes, NULL, m, yes, NULL);
        lo->at_hand = at_hand;
        if (s->u.if_.no)
            kj_lower_part(lo, s->u.if_.no, NULL, m, no, NULL);
        return m;
    }
    kj_mask_slot arrived = kj_mask_new(lo, "arrived", s->u.if_.no ? kj_none : no);
    kj_lower_part(lo, s->u.if_.yes, NULL, m, yes, &arrived);
    lo->at_hand = at_hand;
    if (s->u.if_.no)
        kj_lower_part(lo, s->u.if_.no, NULL, m, no, &arrived);
    return kj_mask_load(lo, &arrived);
}

kj_mask kj_lower_if(kj_lower *lo, const kj_tstmt *s, kj_mask m)
{
    if (kj_seam_mends(lo, s, m))
        return m;
    lo->loads_stay = only_loads(s->u.if_.test);
    kj_tile test = kj_lower_expr(lo, s->u.if_.test, m);
    lo->loads_stay = false;
    kj_mask after = test.rows == 1 && test.lanes == 1 ? lower_if_uniform(lo, s, test.v[0], m)
                                                      : lower_if_masked(lo, s, test, m);
    /* a side's loads are not others', and it may have changed what was loaded */
    lo->at_hand = NULL;
    return after;
}
