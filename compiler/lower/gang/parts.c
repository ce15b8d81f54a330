/* Stores of all parts of an element of a short last axis, `picture[y, x, 0]` to `picture[y, x, 2]`, one statement after
 * another or in a loop over them: they wait for each other, and are one store of what lies in memory side by side.
 * Whatever could see the difference, or may end the launch, has them stored before. */
#include "lower/gang/gang.h"

enum { MOST_PARTS = KJ_SHORT_LAST };

struct kj_waiting {
    const kj_tarray *array;
    kj_texpr *const *index;
    int n; /* so many wait */
    kj_mask m;
    kj_access at[MOST_PARTS];
    kj_tile v[MOST_PARTS];
};

/* ---- The same element ---- */

static bool is_same_element(const kj_waiting *p, const kj_tarray *a, kj_texpr *const *index)
{
    const kj_tarray *b = p->array;
    bool same =
        a->root == b->root && a->ndim == b->ndim &&
        (a->offset && b->offset ? kj_is_same_number(a->offset, b->offset) : a->offset == b->offset);
    for (int i = 0; i < a->ndim - 1 && same; i++)
        same = a->stride[i] == b->stride[i] && kj_is_same_number(index[i], p->index[i]);
    return same;
}

/* The number that an index is known to be; or -1. */
static int64_t known_index(const kj_lower *lo, const kj_texpr *e)
{
    if (e->kind == KJ_TE_CONVERT)
        return known_index(lo, e->u.unary.arg);
    if (e->kind == KJ_TE_CONST)
        return e->u.value.i;
    const kj_slot *s =
        e->kind == KJ_TE_VAR && e->u.var->param < 0 ? &lo->slots[e->u.var->id] : NULL;
    return s && s->known && kj_is_known(s->tile) ? s->tile.bounds.least : -1;
}

/* ---- What they need not wait for ---- */

typedef struct look {
    const kj_lower *lo;
    const kj_waiting *parts;
    const kj_var *var;
    bool found;
} look;

static bool is_waiting(const kj_waiting *p, int64_t part)
{
    for (int i = 0; i < p->n; i++)
        if (p->at[i].part == part)
            return true;
    return false;
}

/* May what is loaded there be waiting to be stored? */
static bool may_wait(const look *l, const kj_tarray *a, kj_texpr *const *index)
{
    if (a->root != l->parts->array->root)
        return a->root->space == KJ_GLOBAL && !l->lo->kernel->disjoint;
    if (!is_same_element(l->parts, a, index))
        return true;
    int64_t last = known_index(l->lo, index[a->ndim - 1]),
            part = last < 0 ? -1 : kj_part_of_row(a, last);
    return part < 0 || is_waiting(l->parts, part);
}

static bool see_loads(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    look *l = ctx;
    (void)s;
    if (e->kind == KJ_TE_LOAD)
        l->found |= may_wait(l, e->u.load.array, e->u.load.index);
    else if (e->kind == KJ_TE_CALL)
        l->found |= kj_builtins[e->u.call.id].how == KJ_HOW_WARP;
    else
        l->found |= e->kind == KJ_TE_ATOMIC || e->kind == KJ_TE_INLINE;
    return !l->found;
}

/* Is what an expression has the same, whether they are stored yet or not? */
static bool is_apart(const kj_lower *lo, const kj_waiting *p, const kj_texpr *e)
{
    look l = {.lo = lo, .parts = p};
    return !e || (!kj_may_fail(e) && kj_walk_expr(NULL, e, see_loads, &l));
}

static bool see_variable(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    look *l = ctx;
    (void)s;
    l->found |= e->kind == KJ_TE_VAR && e->u.var == l->var;
    return !l->found;
}

void kj_parts_renew(kj_lower *lo, const kj_var *v)
{
    look l = {.var = v};
    const kj_waiting *p = lo->parts;
    for (int i = 0; p && i < p->array->ndim - 1 && !l.found; i++)
        kj_walk_expr(NULL, p->index[i], see_variable, &l);
    if (p && p->array->offset && !l.found)
        kj_walk_expr(NULL, p->array->offset, see_variable, &l);
    if (l.found)
        kj_parts_end(lo);
}

void kj_parts_before(kj_lower *lo, const kj_tstmt *s)
{
    const kj_waiting *p = lo->parts;
    if (!p)
        return;
    bool waits = false;
    if (s->kind == KJ_TS_DECL)
        waits = is_apart(lo, p, s->u.decl.init);
    else if (s->kind == KJ_TS_ASSIGN)
        waits = is_apart(lo, p, s->u.assign.value);
    else if (s->kind == KJ_TS_STORE)
        waits = is_same_element(p, s->u.store.array, s->u.store.index) &&
                !s->u.store.array->checks && is_apart(lo, p, s->u.store.value) &&
                is_apart(lo, p, s->u.store.index[s->u.store.array->ndim - 1]);
    else
        waits = s->kind == KJ_TS_FOR && kj_is_over_parts(lo, s);
    if (!waits)
        kj_parts_end(lo);
    else if (s->kind == KJ_TS_DECL || s->kind == KJ_TS_ASSIGN)
        kj_parts_renew(lo, s->kind == KJ_TS_DECL ? s->u.decl.var : s->u.assign.var);
}

/* ---- Waiting ---- */

bool kj_is_over_parts(const kj_lower *lo, const kj_tstmt *s)
{
    enum { HEAVIEST = 16 };
    kj_turns turns;
    if (lo->rows * lo->lanes == 1 || lo->watch || !kj_known_turns(s, &turns) ||
        turns.n > MOST_PARTS || kj_cost(s->u.for_.body, NULL, HEAVIEST) > HEAVIEST)
        return false;
    for (const kj_tstmt *t = s->u.for_.body; t; t = t->next) {
        const kj_tarray *a = t->kind == KJ_TS_STORE ? t->u.store.array : NULL;
        if (!a || a->ndim == 0 || kj_part_of_row(a, (int64_t)turns.n - 1) < 0)
            continue;
        const kj_texpr *last = t->u.store.index[a->ndim - 1];
        last = last->kind == KJ_TE_CONVERT ? last->u.unary.arg : last;
        if (last->kind == KJ_TE_VAR && last->u.var == s->u.for_.var)
            return true;
    }
    return false;
}

bool kj_parts_take(kj_lower *lo, const kj_tarray *a, kj_texpr *const *index, const kj_access *at,
                   kj_tile v, kj_mask m)
{
    kj_waiting *p = lo->parts;
    bool may = at->group && !a->whole && !a->checks && !lo->watch &&
               (!a->offset || kj_is_same_number(a->offset, a->offset));
    for (int i = 0; i < a->ndim - 1 && may; i++)
        may = kj_is_same_number(index[i], index[i]);
    if (!may || (p && is_waiting(p, at->part))) { /* what follows is stored behind them */
        kj_parts_end(lo);
        p = NULL;
    }
    if (!may)
        return false;
    if (!p) {
        p = lo->parts = KJ_NEW(lo->arena, kj_waiting);
        p->array = a;
        p->index = index;
        p->m = m;
    }
    p->at[p->n] = *at;
    p->v[p->n++] = v;
    if (p->n == at->group)
        kj_parts_end(lo);
    return true;
}

void kj_parts_end(kj_lower *lo)
{
    kj_waiting *p = lo->parts;
    lo->parts = NULL;
    if (!p)
        return;
    kj_tile ordered[MOST_PARTS];
    bool all = p->n == p->at[0].group;
    for (int i = 0; i < p->n; i++) {
        if (all)
            ordered[p->at[i].part] = p->v[i];
        else
            kj_store_access(lo, &p->at[i], p->v[i], p->m);
    }
    if (all)
        kj_store_parts(lo, &p->at[0], ordered, p->m);
}
