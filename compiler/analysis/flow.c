/* Flow between variables: typed AST in, which variables are made of which out.
 *
 * What an analysis knows of a variable it then knows of all that are made of it at once. By walks over the kernel that
 * are repeated until nothing changes, a value handed from each variable to the one declared before it would take a walk
 * a variable. */
#include "analysis/uniform.h"

typedef struct edge {
    int to;
    const struct edge *next;
} edge;

struct kj_flow {
    kj_arena *arena;
    const edge **of; /* by the id of a variable, those made of it */
    int *todo;       /* variables, whose edges are to be followed, each once */
    bool *waiting;   /* is it one of them? */
};

/* Of all that the value is made of by arithmetic and functions: what loads, atomics and inlined blocks give does not
 * grow by each of their operands. */
static void made_of(kj_flow *f, int to, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    if (e->kind == KJ_TE_VAR) {
        edge *new = KJ_NEW(f->arena, edge);
        *new = (edge){.to = to, .next = f->of[e->u.var->id]};
        f->of[e->u.var->id] = new;
        return;
    }
    if (e->kind == KJ_TE_LOAD || e->kind == KJ_TE_ATOMIC || e->kind == KJ_TE_INLINE)
        return;
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        made_of(f, to, operands[i]);
}

static bool visit(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    if (!e && s->kind == KJ_TS_ASSIGN)
        made_of(ctx, s->u.assign.var->id, s->u.assign.value);
    if (!e && s->kind == KJ_TS_DECL && s->u.decl.init)
        made_of(ctx, s->u.decl.var->id, s->u.decl.init);
    return true;
}

kj_flow *kj_find_flow(kj_arena *arena, const kj_tkernel *kernel)
{
    size_t n = (size_t)kernel->nvars + 1;
    kj_flow *f = KJ_NEW(arena, kj_flow);
    f->arena = arena;
    f->of = KJ_NEW_ARRAY(arena, const edge *, n);
    f->todo = KJ_NEW_ARRAY(arena, int, n);
    f->waiting = KJ_NEW_ARRAY(arena, bool, n);
    kj_walk(kernel->body->body, NULL, visit, f);
    return f;
}

void kj_flow_from(kj_flow *f, int var, uint8_t *sets)
{
    int n = 0;
    f->todo[n++] = var;
    while (n > 0) {
        int from = f->todo[--n];
        f->waiting[from] = false;
        for (const edge *e = f->of[from]; e; e = e->next) {
            if ((sets[e->to] | sets[from]) == sets[e->to])
                continue;
            sets[e->to] |= sets[from];
            if (!f->waiting[e->to])
                f->todo[n++] = e->to;
            f->waiting[e->to] = true;
        }
    }
}
