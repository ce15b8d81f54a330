/* Arrays whose stores may go past a CPU's caches: typed AST in, kj_tarray.past out.
 *
 * A processor that stores to a line fetches it first, and has it in its caches afterwards. Where a launch's arrays are more
 * than these hold, both are for nothing: a whole line can be written to memory as it is, which leaves a third of the traffic of
 * `c[i] = a[i] + b[i]` out. Which launches do so is decided when they run (kj_host_launch.past), and which lines, when
 * they are stored.
 *
 * A line that is written to memory twice takes twice as long, and one that is read meanwhile comes back from there. So the
 * kernel has one store to such an array, in no loop, and nothing in it looks at the array. Nor does anybody else who is told
 * before the launch has ended, for whom it would have to be in order: there are no atomics, fences or barriers of the grid, and
 * no launches. */
#include "analysis/regions.h"

typedef struct search {
    int *stores;   /* by root id */
    bool *strange; /* there is something else, or a loop around a store */
    bool tells;    /* others are told of what has been done */
} search;

static bool mark_in_loop(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *f = ctx;
    if (!e && s->kind == KJ_TS_STORE)
        f->strange[s->u.store.array->root->id] = true;
    return true;
}

static void see_statement(search *f, const kj_tstmt *s)
{
    if (s->kind == KJ_TS_STORE)
        f->stores[s->u.store.array->root->id]++;
    else if (s->kind == KJ_TS_FOR)
        kj_walk(s->u.for_.body, NULL, mark_in_loop, f);
    else if (s->kind == KJ_TS_WHILE)
        kj_walk(s->u.while_.body, NULL, mark_in_loop, f);
    else if (s->kind == KJ_TS_LAUNCH)
        f->tells = true;
}

static bool visit(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *f = ctx;
    if (!e)
        see_statement(f, s);
    else if (e->kind == KJ_TE_LOAD)
        f->strange[e->u.load.array->root->id] = true;
    else if (e->kind == KJ_TE_ADDRESS)
        f->strange[e->u.dim.array->root->id] = true;
    else if (e->kind == KJ_TE_ATOMIC)
        f->tells = true;
    else if (e->kind == KJ_TE_CALL)
        f->tells |= kj_builtins[e->u.call.id].how == KJ_HOW_FENCE;
    return true;
}

void kj_find_past(kj_arena *arena, const kj_tkernel *k)
{
    size_t n = (size_t)k->nroots + 1;
    search f = {.stores = KJ_NEW_ARRAY(arena, int, n), .strange = KJ_NEW_ARRAY(arena, bool, n)};
    kj_walk(k->body->body, NULL, visit, &f);
    bool alone = !f.tells && !k->grid_sync && !k->child;
    for (int i = 0; i < k->nroots; i++)
        k->roots[i]->past = alone && k->roots[i]->param >= 0 && f.stores[i] == 1 && !f.strange[i];
}
