/* Arrays that a kernel's threads only count in, as histograms are (for copies of each worker's):
 * typed AST in, kj_tarray.tally out.
 *
 * hist[x[i]] += 1 as an atomic is a locked instruction on a CPU, which takes several times as long as all the
 * rest of such a kernel. Where the sum, minimum, ... of integers is the only thing that a kernel does to an array,
 * and none of its threads looks at it, it is the same whether each worker first counts in a copy of its own. Not where
 * threads wait for something: what they have counted may be what that waits for. */
#include "analysis/regions.h"

/* By root id. */
typedef struct search {
    bool *looked; /* something else is done to it */
} search;

static void update(search *f, const kj_tstmt *s, const kj_texpr *e)
{
    const kj_tarray *a = e->u.atomic.array;
    kj_tarray *root = a->root;
    kj_tally_op op = kj_tally_of(e->u.atomic.id, e->type);
    bool dropped = s->kind == KJ_TS_EXPR && s->u.expr == e;
    bool whole = op && kj_types[e->type].size == kj_elem_size(root);
    bool alike = !root->tally || (root->tally == op && root->tallied == e->type);
    if (!dropped || !whole || root->of || !alike)
        f->looked[root->id] = true;
    root->tally = op;
    root->tallied = e->type;
}

static bool visit(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *f = ctx;
    if (!e && s->kind == KJ_TS_STORE)
        f->looked[s->u.store.array->root->id] = true;
    if (e && e->kind == KJ_TE_LOAD)
        f->looked[e->u.load.array->root->id] = true;
    if (e && e->kind == KJ_TE_ADDRESS)
        f->looked[e->u.dim.array->root->id] = true;
    if (e && e->kind == KJ_TE_ATOMIC)
        update(f, s, e);
    return true;
}

void kj_find_tallies(kj_arena *arena, kj_tkernel *k)
{
    size_t n = (size_t)k->nroots + 1;
    search f = {.looked = KJ_NEW_ARRAY(arena, bool, n)};
    bool alone =
        !k->grid_sync && !k->children && !(k->checks & KJ_CHECKS_WATCHED) && !kj_may_spin(arena, k);
    kj_walk(k->body->body, NULL, visit, &f);
    for (int i = 0; i < k->nroots; i++) {
        kj_tarray *root = k->roots[i];
        if (!alone || root->param < 0 || f.looked[i])
            root->tally = KJ_TALLY_NONE;
    }
}
