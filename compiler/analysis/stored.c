/* Which stores may all threads make alike? Typed AST in, flags of each store's site out, for code that is
 * checked for races.
 *
 * The language defines what threads leave that all store one value: the same for all of them is what depends on
 * no thread. What others read there meanwhile is the value before or that one; that is meant where the store
 * depends on what stands there, as in `if not seen[v] { seen[v] = true }`, and is not where one thread of its
 * own stores, as in `if threadIdx.x == 0 { sum[0] = 0 }`. So the second question is whether a condition in front
 * of the store has to do with elements of its array.
 *
 * And which loads give what an atomic.cas then expects? A loop around that begins with a plain load; whatever other
 * threads' atomics do meanwhile, the cas tells. */
#include "analysis/uniform.h"

typedef struct stored {
    const kj_deps *deps;
    uint64_t *var;    /* by kj_var.id: the roots whose elements it has to do with, a bit each */
    uint64_t tested;  /* the roots that conditions had to do with so far */
    uint64_t guessed; /* those whose elements a cas on them expects */
    uint16_t *flags;
} stored;

static uint64_t bit_of(const kj_tarray *a)
{
    return a->root->id < 64 ? (uint64_t)1 << a->root->id : 0;
}

static uint64_t roots_in(const stored *w, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    uint64_t roots = e->kind == KJ_TE_VAR      ? w->var[e->u.var->id]
                     : e->kind == KJ_TE_INLINE ? w->var[e->u.inline_.result->id]
                     : e->kind == KJ_TE_LOAD   ? bit_of(e->u.load.array)
                     : e->kind == KJ_TE_ATOMIC ? bit_of(e->u.atomic.array)
                                               : 0;
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        roots |= roots_in(w, operands[i]);
    return roots;
}

static void flag_store(stored *w, const kj_tstmt *s)
{
    const kj_tarray *a = s->u.store.array;
    uint8_t dep = kj_dep(w->deps, s->u.store.value);
    if (!a->watch || dep & (KJ_DEP_THREAD | KJ_DEP_ATOMIC))
        return;
    w->flags[a->watch->id] |= KJ_WATCH_SAME | (dep & KJ_DEP_BLOCK ? 0 : KJ_WATCH_SAME_GRID) |
                              (w->tested & bit_of(a) ? KJ_WATCH_TESTED : 0);
}

static bool visit(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    stored *w = ctx;
    if (e) {
        if (e->kind == KJ_TE_SELECT)
            w->tested |= roots_in(w, e->u.select.test);
        if (e->kind == KJ_TE_ATOMIC && e->u.atomic.id == KJ_BI_ATOMIC_CAS)
            w->guessed |= roots_in(w, e->u.atomic.args[0]) & bit_of(e->u.atomic.array);
        if (e->kind == KJ_TE_LOAD && e->u.load.array->watch && w->guessed & bit_of(e->u.load.array))
            w->flags[e->u.load.array->watch->id] |= KJ_WATCH_GUESS;
        return true;
    }
    switch (s->kind) {
    case KJ_TS_DECL:
        w->var[s->u.decl.var->id] |= s->u.decl.init ? roots_in(w, s->u.decl.init) : 0;
        break;
    case KJ_TS_ASSIGN: w->var[s->u.assign.var->id] |= roots_in(w, s->u.assign.value); break;
    case KJ_TS_IF: w->tested |= roots_in(w, s->u.if_.test); break;
    case KJ_TS_WHILE: w->tested |= roots_in(w, s->u.while_.test); break;
    case KJ_TS_STORE: flag_store(w, s); break;
    default: break;
    }
    return true;
}

const uint16_t *kj_stored_alike(kj_arena *arena, const kj_tkernel *kernel, const kj_deps *deps)
{
    stored w = {.deps = deps,
                .var = KJ_NEW_ARRAY(arena, uint64_t, (size_t)kernel->nvars + 1),
                .flags = KJ_NEW_ARRAY(arena, uint16_t, (size_t)kernel->nsites + 1)};
    for (int turn = 0; turn < 2;
         turn++) { /* what variables have to do with is known in the second */
        w.tested = 0;
        kj_walk(kernel->body->body, NULL, visit, &w);
    }
    return w.flags;
}
