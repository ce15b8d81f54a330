/* Replays: typed AST in; out, may a block that has failed be run again, to see which of its threads was
 * the first to fail? A CPU runs threads side by side, and sees only that some of them failed.
 *
 * It may where the same comes of it: where no index, condition or value that a failure tells depends
 * on memory that the launch has changed, in arrays that it writes or by atomics. The second run does
 * not write there. Loops that wait for other threads ask such memory, and so are never replayed. */
#include "analysis/regions.h"

/* What may be another value in a second run. */
typedef struct search {
    const kj_tkernel *kernel;
    bool *vars, *arrays; /* by id; of arrays shared and local ones */
    bool writes, changed, refused;
} search;

static bool changes(const search *f, const kj_tarray *a)
{
    if (a->root->space == KJ_GLOBAL)
        return a->root->written || (f->writes && !f->kernel->disjoint);
    return f->arrays[a->root->id];
}

static bool differs(const search *f, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    switch (e->kind) {
    case KJ_TE_VAR: return f->vars[e->u.var->id];
    case KJ_TE_INLINE: return f->vars[e->u.inline_.result->id];
    case KJ_TE_ATOMIC: return true;
    case KJ_TE_LOAD:
        if (changes(f, e->u.load.array))
            return true;
        break;
    case KJ_TE_CALL:
        if (kj_builtins[e->u.call.id].how == KJ_HOW_WARP)
            return true;
        break;
    default: break;
    }
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        if (differs(f, operands[i]))
            return true;
    return false;
}

static bool find_access(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    (void)ctx;
    (void)s;
    return !e || (!e->checked && e->kind != KJ_TE_LOAD && e->kind != KJ_TE_ATOMIC &&
                  e->kind != KJ_TE_INLINE);
}

static bool accesses(const kj_texpr *e)
{
    return !kj_walk_expr(NULL, e, find_access, NULL);
}

static void mark(search *f, bool *at, bool differing)
{
    f->changed |= differing && !*at;
    *at |= differing;
}

static void refuse_places(search *f, const kj_tarray *a, kj_texpr *const *index)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    for (int i = 0, n = kj_access_operands(a, index, operands); i < n; i++)
        f->refused |= differs(f, operands[i]);
}

/* What decides whether another part is evaluated has to stay as it was if an element is touched there. */
static void visit_expr(search *f, const kj_texpr *e)
{
    f->refused |= e->checked && differs(f, e);
    switch (e->kind) {
    case KJ_TE_LOAD: refuse_places(f, e->u.load.array, e->u.load.index); break;
    case KJ_TE_ATOMIC: refuse_places(f, e->u.atomic.array, e->u.atomic.index); break;
    case KJ_TE_LOGIC: f->refused |= differs(f, e->u.logic.lhs) && accesses(e->u.logic.rhs); break;
    case KJ_TE_SELECT:
        f->refused |=
            differs(f, e->u.select.test) && (accesses(e->u.select.yes) || accesses(e->u.select.no));
        break;
    case KJ_TE_CALL: f->refused |= kj_builtins[e->u.call.id].how == KJ_HOW_WARP; break;
    default: break;
    }
}

static void visit_report(search *f, const kj_tstmt *s)
{
    const kj_site *site = s->u.report.site;
    for (int i = 0; i < site->nvalues && site->fault; i++)
        f->refused |= differs(f, s->u.report.values[i]);
}

static void visit_store(search *f, const kj_tstmt *s)
{
    const kj_tarray *root = s->u.store.array->root;
    refuse_places(f, s->u.store.array, s->u.store.index);
    if (root->space != KJ_GLOBAL)
        mark(f, &f->arrays[root->id], differs(f, s->u.store.value));
}

static bool visit(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *f = ctx;
    if (e) {
        visit_expr(f, e);
        return !f->refused;
    }
    switch (s->kind) {
    case KJ_TS_DECL:
        if (s->u.decl.init)
            mark(f, &f->vars[s->u.decl.var->id], differs(f, s->u.decl.init));
        break;
    case KJ_TS_ASSIGN: mark(f, &f->vars[s->u.assign.var->id], differs(f, s->u.assign.value)); break;
    case KJ_TS_STORE: visit_store(f, s); break;
    case KJ_TS_IF: f->refused |= differs(f, s->u.if_.test); break;
    case KJ_TS_WHILE: f->refused |= differs(f, s->u.while_.test); break;
    case KJ_TS_FOR:
        f->refused |=
            differs(f, s->u.for_.start) || differs(f, s->u.for_.stop) || differs(f, s->u.for_.step);
        break;
    case KJ_TS_BARRIER:
        if (s->u.barrier.arg)
            mark(f, &f->vars[s->u.barrier.result->id], differs(f, s->u.barrier.arg));
        break;
    case KJ_TS_REPORT: visit_report(f, s); break;
    case KJ_TS_LAUNCH: f->refused = true; break;
    default: break;
    }
    return !f->refused;
}

bool kj_may_replay(kj_arena *arena, const kj_tkernel *kernel)
{
    search f = {.kernel = kernel,
                .vars = KJ_NEW_ARRAY(arena, bool, (size_t)kernel->nvars + 1),
                .arrays = KJ_NEW_ARRAY(arena, bool, (size_t)kernel->nroots + 1),
                .refused =
                    kernel->grid_sync || kj_find_spin(arena, kernel, kernel->body->body, NULL)};
    for (int i = 0; i < kernel->nroots; i++)
        f.writes |= kernel->roots[i]->space == KJ_GLOBAL && kernel->roots[i]->written;
    do {
        f.changed = false;
        kj_walk(kernel->body->body, NULL, visit, &f);
    } while (f.changed && !f.refused);
    return !f.refused;
}
