/* What the analyses promise, looked at in another way than they come to it, for tests: a typed kernel
 * and what was found in; the first promise that does not hold out, NULL when all do. */
#include "analysis/regions.h"

typedef struct check {
    kj_arena *arena;
    const kj_tkernel *kernel;
    const kj_deps *deps;
    const kj_regions *regions;
    int *depth;        /* constructs around each variable's declaration, by id */
    int *owner;        /* the region that uses a local array, by root id; -1: none yet */
    bool *seen;        /* regions met, by number */
    const char *wrong; /* the first */
} check;

static void wrong(check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void wrong(check *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!c->wrong)
        c->wrong = kj_arena_vprintf(c->arena, format, args);
    va_end(args);
}

/* ---- Uniformity: each set holds what it is made from ---- */

/* A construct around what is being looked at: who runs it depends on `dep`. */
typedef struct around {
    const struct around *up;
    int depth;
    uint8_t dep;
    const void *target; /* a loop or tblock, which has a divergence; else NULL */
    bool loop;
} around;

static void uniform_stmts(check *c, const kj_tstmt *s, const around *up);

static around within(const around *up, uint8_t dep, const void *target, bool loop)
{
    return (around){up, up ? up->depth + 1 : 1, dep, target, loop};
}

static void holds(check *c, const kj_var *v, uint8_t dep)
{
    if (dep & ~c->deps->var[v->id])
        wrong(c, "%s#%d depends on more than its set has", v->name, v->id);
}

static void declares(check *c, const kj_var *v, uint8_t dep, const around *up)
{
    c->depth[v->id] = up ? up->depth : 0;
    holds(c, v, dep);
}

static void uniform_block(check *c, const kj_tblock *b, const around *up)
{
    around block = within(up, b->divergence, b, false);
    uniform_stmts(c, b->body, &block);
}

static void uniform_expr(check *c, const kj_texpr *e, const around *up)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    around arm = within(up, 0, NULL, false);
    int n = kj_operands(e, operands);
    bool arms = e->kind == KJ_TE_LOGIC || e->kind == KJ_TE_SELECT;
    if (arms)
        arm.dep = kj_dep(c->deps, operands[0]);
    for (int i = 0; i < n; i++)
        uniform_expr(c, operands[i], arms && i > 0 ? &arm : up);
    if (e->kind == KJ_TE_INLINE) {
        declares(c, e->u.inline_.result, e->u.inline_.block->divergence, up);
        uniform_block(c, e->u.inline_.block, up);
    }
}

static void uniform_assign(check *c, const kj_tstmt *s, const around *up)
{
    const kj_var *v = s->u.assign.var;
    uint8_t dep = kj_dep(c->deps, s->u.assign.value);
    for (const around *a = up; a && a->depth > c->depth[v->id]; a = a->up)
        dep |= a->dep;
    holds(c, v, dep);
}

/* All that threads go through on their way to `target`, NULL: the nearest loop, sees them go. */
static void uniform_leave(check *c, const void *target, const around *up)
{
    uint8_t dep = 0;
    for (const around *a = up; a; a = a->up) {
        if (a->target && dep & ~a->dep)
            wrong(c, "threads leave a %s that does not say so", a->loop ? "loop" : "call");
        if (target ? a->target == target : a->loop)
            return;
        dep |= a->dep;
    }
    wrong(c, "a statement leaves what is not around it");
}

static void uniform_loop(check *c, const kj_tstmt *s, const around *up)
{
    bool counted = s->kind == KJ_TS_FOR;
    around loop = within(up, s->divergence, s, true);
    uint8_t turns = 0;
    if (counted) {
        uint8_t step = kj_dep(c->deps, s->u.for_.start) | kj_dep(c->deps, s->u.for_.step);
        turns = step | kj_dep(c->deps, s->u.for_.stop);
        declares(c, s->u.for_.var, step | (s->barrier ? s->divergence : 0), up);
    } else {
        turns = kj_dep(c->deps, s->u.while_.test);
        uniform_expr(c, s->u.while_.test, &loop);
    }
    if (turns & ~s->divergence)
        wrong(c, "a loop's turns depend on more than its divergence says");
    uniform_stmts(c, counted ? s->u.for_.body : s->u.while_.body, &loop);
}

static void uniform_values(check *c, kj_texpr *const *values, int n, const around *up)
{
    for (int i = 0; i < n; i++)
        uniform_expr(c, values[i], up);
}

static void uniform_if(check *c, const kj_tstmt *s, const around *up)
{
    around arm = within(up, kj_dep(c->deps, s->u.if_.test), NULL, false);
    uniform_expr(c, s->u.if_.test, up);
    uniform_stmts(c, s->u.if_.yes, &arm);
    uniform_stmts(c, s->u.if_.no, &arm);
}

static void uniform_stmt(check *c, const kj_tstmt *s, const around *up)
{
    switch (s->kind) {
    case KJ_TS_DECL:
        if (s->u.decl.init)
            uniform_expr(c, s->u.decl.init, up);
        declares(c, s->u.decl.var, s->u.decl.init ? kj_dep(c->deps, s->u.decl.init) : 0, up);
        break;
    case KJ_TS_ASSIGN:
        uniform_expr(c, s->u.assign.value, up);
        uniform_assign(c, s, up);
        break;
    case KJ_TS_STORE:
        uniform_values(c, s->u.store.index, s->u.store.array->ndim, up);
        uniform_expr(c, s->u.store.value, up);
        break;
    case KJ_TS_EXPR: uniform_expr(c, s->u.expr, up); break;
    case KJ_TS_IF: uniform_if(c, s, up); break;
    case KJ_TS_FOR:
        uniform_expr(c, s->u.for_.start, up);
        uniform_expr(c, s->u.for_.stop, up);
        uniform_expr(c, s->u.for_.step, up);
        uniform_loop(c, s, up);
        break;
    case KJ_TS_WHILE: uniform_loop(c, s, up); break;
    case KJ_TS_BREAK:
    case KJ_TS_CONTINUE: uniform_leave(c, NULL, up); break;
    case KJ_TS_LEAVE: uniform_leave(c, s->u.leave, up); break;
    case KJ_TS_INLINE: uniform_block(c, s->u.block, up); break;
    case KJ_TS_REPORT: uniform_values(c, s->u.report.values, s->u.report.site->nvalues, up); break;
    case KJ_TS_LAUNCH:
        uniform_values(c, s->u.launch.values, s->u.launch.nvalues, up);
        declares(c, s->u.launch.result, KJ_DEP_THREAD, up);
        break;
    case KJ_TS_BARRIER:
        if (s->u.barrier.arg) {
            uniform_expr(c, s->u.barrier.arg, up);
            declares(c, s->u.barrier.result, KJ_DEP_BLOCK, up);
        }
        break;
    case KJ_TS_ARRAY: break;
    }
}

static void uniform_stmts(check *c, const kj_tstmt *s, const around *up)
{
    for (; s; s = s->next)
        uniform_stmt(c, s, up);
}

const char *kj_uniform_check(kj_arena *arena, const kj_tkernel *kernel, const kj_deps *deps)
{
    check c = {.arena = arena, .kernel = kernel, .deps = deps};
    c.depth = KJ_NEW_ARRAY(arena, int, (size_t)kernel->nvars + 1);
    uniform_block(&c, kernel->body, NULL);
    return c.wrong;
}

/* ---- Regions: every statement is in one, and what crosses is kept ---- */

enum { ONCE = -1 }; /* as a region's number: code that runs once for the block */

/* Who uses a variable. */
typedef struct user {
    check *c;
    int region;
} user;

static void used(const user *u, const kj_var *v)
{
    check *c = u->c;
    const kj_place *p = &c->regions->places[v->id];
    bool own = p->home == KJ_HOME_GANG;
    if (p->var != v)
        wrong(c, "%s#%d has no place", v->name, v->id);
    else if (u->region == ONCE ? own : own && p->region != u->region)
        wrong(c, "%s#%d is used outside of its one region", v->name, v->id);
    else if (u->region != ONCE && !kj_region_uses(c->regions, u->region, v->id))
        wrong(c, "region %d does not say that it needs %s#%d", u->region, v->name, v->id);
    else if (p->home == KJ_HOME_BLOCK && c->deps->var[v->id] & KJ_DEP_VARIES)
        wrong(c, "threads share %s#%d and differ about it", v->name, v->id);
    else if (p->home == KJ_HOME_REMAT && v->mutable)
        wrong(c, "%s#%d is computed again and may change", v->name, v->id);
}

static void written(const user *u, const kj_var *v)
{
    used(u, v);
    if (u->region != ONCE && !kj_region_writes(u->c->regions, u->region, v->id))
        wrong(u->c, "region %d does not say that it sets %s#%d", u->region, v->name, v->id);
}

static void touched(const user *u, const kj_tarray *root)
{
    int *owner = &u->c->owner[root->id];
    if (root->space != KJ_LOCAL)
        return;
    if (*owner >= 0 && *owner != u->region && !u->c->regions->crossing[root->id])
        wrong(u->c, "local array %s is not kept between two regions", root->name);
    *owner = u->region;
}

static void used_in_expr(const user *u, const kj_texpr *e)
{
    if (e->kind == KJ_TE_VAR)
        used(u, e->u.var);
    else if (e->kind == KJ_TE_LOAD)
        touched(u, e->u.load.array->root);
    else if (e->kind == KJ_TE_INLINE)
        written(u, e->u.inline_.result);
}

/* What each gang loads for itself is not the block's. */
static void loaded(const user *u, const kj_var *v, const kj_texpr *e)
{
    check *c = u->c;
    if (u->region != ONCE && c->regions->barrier && e && kj_loads(e, kj_is_for_all) &&
        !(c->deps->var[v->id] & KJ_DEP_VARIES))
        wrong(c, "each gang of region %d loads %s#%d for itself", u->region, v->name, v->id);
}

static bool visit_uses(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    const user *u = ctx;
    if (e)
        used_in_expr(u, e);
    else if (s->kind == KJ_TS_DECL)
        written(u, s->u.decl.var), loaded(u, s->u.decl.var, s->u.decl.init);
    else if (s->kind == KJ_TS_ASSIGN)
        written(u, s->u.assign.var), loaded(u, s->u.assign.var, s->u.assign.value);
    else if (s->kind == KJ_TS_STORE)
        touched(u, s->u.store.array->root);
    else if (s->kind == KJ_TS_BARRIER)
        wrong(u->c, "region %d holds a barrier", u->region);
    return !u->c->wrong;
}

static void numbered(check *c, int region)
{
    if (region < 0 || region >= c->regions->nregions || c->seen[region])
        wrong(c, "there are two regions %d, or none is", region);
    else
        c->seen[region] = true;
}

static void cover(check *c, const kj_node *n, const kj_tstmt *s);

/* A construct around regions: its own expressions, and what is within. */
static void cover_construct(check *c, const kj_node *n)
{
    const kj_tstmt *s = n->stmt;
    user u = {c, n->region >= 0 ? n->region : ONCE};
    if (n->region >= 0)
        numbered(c, n->region);
    if (s->kind == KJ_TS_IF) {
        kj_walk_expr(s, s->u.if_.test, visit_uses, &u);
        cover(c, n->yes, s->u.if_.yes);
        cover(c, n->no, s->u.if_.no);
    } else if (s->kind == KJ_TS_FOR) {
        kj_walk_expr(s, s->u.for_.start, visit_uses, &u);
        kj_walk_expr(s, s->u.for_.stop, visit_uses, &u);
        kj_walk_expr(s, s->u.for_.step, visit_uses, &u);
        cover(c, n->yes, s->u.for_.body);
    } else if (s->kind == KJ_TS_WHILE) {
        kj_walk_expr(s, s->u.while_.test, visit_uses, &u);
        cover(c, n->yes, s->u.while_.body);
    } else if (s->kind == KJ_TS_INLINE) {
        cover(c, n->yes, s->u.block->body);
    } else if (s->kind == KJ_TS_BARRIER && s->u.barrier.arg) {
        kj_walk_expr(s, s->u.barrier.arg, visit_uses, &u);
    }
}

/* The nodes are the statements from s on, each once and in their order. */
static void cover(check *c, const kj_node *n, const kj_tstmt *s)
{
    for (; n && !c->wrong; n = n->next) {
        if (n->stmt != s) {
            wrong(c, "a statement is in no region, or in two");
        } else if (n->kind == KJ_N_REGION) {
            numbered(c, n->region);
            kj_walk(s, n->end, visit_uses, &(user){c, n->region});
            s = n->end;
        } else if (n->kind == KJ_N_SCALAR) {
            kj_walk(s, s->next, visit_uses, &(user){c, ONCE});
            s = s->next;
        } else {
            cover_construct(c, n);
            s = s->next;
        }
    }
    if (s)
        wrong(c, "a statement is in no region");
}

const char *kj_regions_check(kj_arena *arena, const kj_tkernel *kernel, const kj_deps *deps,
                             const kj_regions *regions)
{
    check c = {.arena = arena, .kernel = kernel, .deps = deps, .regions = regions};
    c.owner = KJ_NEW_ARRAY(arena, int, (size_t)kernel->nroots + 1);
    c.seen = KJ_NEW_ARRAY(arena, bool, (size_t)regions->nregions + 1);
    for (int i = 0; i < kernel->nroots; i++)
        c.owner[i] = -1;
    cover(&c, regions->body, kernel->body->body);
    for (int i = 0; i < regions->nregions; i++)
        if (!c.seen[i])
            wrong(&c, "there is no region %d", i);
    return c.wrong;
}
