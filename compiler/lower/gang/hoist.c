/* Checks of indices in front of loops: of x[k] in a loop over k it is enough to look at the first k and the last,
 * and where both are inside, the turns look at nothing. Where they are not, or some thread's are not, the loop
 * runs that looks in each turn, and tells the first that fails. */
#include "lower/gang/gang.h"

enum { HEAVIEST = 40 }; /* statements of a loop that there are two of */

typedef struct search {
    const kj_tstmt *loop;
    kj_hoisted *out;
    bool refused;
} search;

/* Is it a number of the launch, or of an array that does not change in the loop? */
static bool is_lasting(const kj_texpr *e)
{
    return e->kind == KJ_TE_CONST || (e->kind == KJ_TE_DIM && e->u.dim.array->param >= 0);
}

static void take(search *f, const kj_tarray *a, kj_texpr *const *index)
{
    const kj_var *v = f->loop->u.for_.var;
    for (const kj_index_check *c = a->checks; c; c = c->next) {
        const kj_texpr *i = kj_checked_index(c, index);
        i = kj_keeps_value(i) ? i->u.unary.arg : i; /* so none of u64 */
        bool counts = i->kind == KJ_TE_VAR && i->u.var == v && is_lasting(c->extent);
        if (counts && f->out->n < KJ_MOST_HOISTED)
            f->out->checks[f->out->n++] = c;
    }
}

/* Threads that wait for each other are in one loop. */
static bool visit(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *f = ctx;
    if (!e) {
        f->refused |= s->kind == KJ_TS_FOR || s->kind == KJ_TS_WHILE || s->kind == KJ_TS_BARRIER ||
                      s->kind == KJ_TS_LAUNCH;
        if (s->kind == KJ_TS_STORE)
            take(f, s->u.store.array, s->u.store.index);
    } else if (e->kind == KJ_TE_LOAD) {
        take(f, e->u.load.array, e->u.load.index);
    } else if (e->kind == KJ_TE_ATOMIC) {
        f->refused = true;
    } else if (e->kind == KJ_TE_CALL) {
        f->refused |= kj_builtins[e->u.call.id].how == KJ_HOW_WARP ||
                      kj_builtins[e->u.call.id].how == KJ_HOW_FENCE;
    }
    return !f->refused;
}

bool kj_hoist(const kj_lower *lo, const kj_tstmt *s, kj_hoisted *out)
{
    search f = {.loop = s, .out = out};
    const kj_texpr *step = s->u.for_.step;
    out->n = 0;
    if (lo->hoisted || step->kind != KJ_TE_CONST || step->u.value.i < 1 ||
        (s->divergence & KJ_DEP_ATOMIC))
        return false;
    kj_walk(s->u.for_.body, NULL, visit, &f);
    return !f.refused && out->n > 0 && kj_cost(s->u.for_.body, NULL, HEAVIEST) <= HEAVIEST;
}

/* start >= 0 and stop <= extent; and what has no turn touches nothing. */
kj_mask kj_hoisted_inside(kj_lower *lo, const kj_hoisted *h, kj_tile start, kj_tile stop, kj_mask m)
{
    kj_mask none = kj_mask_of(kj_tile_binary(lo, KJ_OP_GE, start, stop));
    start = kj_tile_convert(lo, start, KJ_I64);
    stop = kj_tile_convert(lo, stop, KJ_I64);
    kj_mask inside = kj_mask_of(kj_tile_binary(lo, KJ_OP_GE, start, kj_tile_int(lo, 0)));
    for (int i = 0; i < h->n; i++) {
        kj_tile extent = kj_lower_expr(lo, h->checks[i]->extent, m);
        kj_mask below = kj_mask_of(kj_tile_binary(lo, KJ_OP_LE, stop, extent));
        inside = kj_mask_and(lo, inside, below);
    }
    return kj_mask_or(lo, inside, none);
}

bool kj_is_hoisted(const kj_lower *lo, const kj_index_check *c)
{
    for (int i = 0; lo->hoisted && i < lo->hoisted->n; i++)
        if (lo->hoisted->checks[i] == c)
            return true;
    return false;
}
