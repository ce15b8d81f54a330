/* Typed AST and uniformity in, a block's regions out.
 *
 * Three passes: build the tree (which statements form regions), collect which variables each region
 * uses, and give each variable its home. */
#include "analysis/regions.h"

enum { BLOCK_LEVEL = -2 }; /* as a region number: code that runs once for the block */

/* A construct of the block level that statements may exit. */
typedef struct target {
    struct target *up;
    const void *of; /* loop statement or tblock */
    bool loop, divergent;
} target;

typedef struct cutter {
    kj_arena *arena;
    const kj_tkernel *kernel;
    const kj_deps *deps;
    kj_regions *regions;
    target *targets;
    int nregions;
    const kj_node *loop; /* the innermost loop of the block level around what is being walked */
    int *seen; /* of local arrays, by root id: the region that used it last, -1 for none */
    const kj_node **born; /* and the `loop` around its declaration */
} cutter;

typedef struct list {
    kj_node *first, **last;
} list;

static kj_node *cut_list(cutter *p, const kj_tstmt *s);
static void cut_loop(cutter *p, list *l, const kj_tstmt *s);

static kj_node *add(cutter *p, list *l, kj_node_kind kind, const kj_tstmt *stmt)
{
    kj_node *n = KJ_NEW(p->arena, kj_node);
    n->kind = kind;
    n->stmt = stmt;
    n->region = -1;
    *l->last = n;
    l->last = &n->next;
    return n;
}

static const target *find_target(const cutter *p, const void *of)
{
    for (const target *t = p->targets; t; t = t->up)
        if (of ? t->of == of : t->loop)
            return t;
    return NULL;
}

typedef enum escape { STAYS, ESCAPES_MASKED, ESCAPES_JUMPING } escape;

/* Do threads leave a block-level construct from these statements; and all together, or some? */
static escape escapes(const cutter *p, const kj_tstmt *s, bool in_loop)
{
    escape worst = STAYS;
    for (; s; s = s->next) {
        const target *t = NULL;
        escape e = STAYS;
        switch (s->kind) {
        case KJ_TS_BREAK:
        case KJ_TS_CONTINUE: t = in_loop ? NULL : find_target(p, NULL); break;
        case KJ_TS_LEAVE: t = find_target(p, s->u.leave); break;
        case KJ_TS_IF:
            e = escapes(p, s->u.if_.yes, in_loop);
            escape no = escapes(p, s->u.if_.no, in_loop);
            e = no > e ? no : e;
            break;
        case KJ_TS_FOR: e = escapes(p, s->u.for_.body, true); break;
        case KJ_TS_WHILE: e = escapes(p, s->u.while_.body, true); break;
        default: break;
        }
        if (t)
            e = t->divergent ? ESCAPES_MASKED : ESCAPES_JUMPING;
        worst = e > worst ? e : worst;
    }
    return worst;
}

static escape escapes_one(const cutter *p, const kj_tstmt *s)
{
    kj_tstmt alone = *s;
    alone.next = NULL;
    return escapes(p, &alone, false);
}

static bool is_scalar(const cutter *p, const kj_tstmt *s)
{
    return kj_runs_once(p->kernel, p->deps, s);
}

static void cut_once(cutter *p, list *l, const kj_tstmt *s)
{
    if (s->kind == KJ_TS_FOR)
        cut_loop(p, l, s);
    else
        add(p, l, KJ_N_SCALAR, s);
}

/* The statements [s, end) as a region; what sets uniform variables at either end of it runs once,
 * outside. */
static void flush(cutter *p, list *l, const kj_tstmt *s, const kj_tstmt *end)
{
    while (s != end && is_scalar(p, s) && !p->regions->fused) {
        cut_once(p, l, s);
        s = s->next;
    }
    const kj_tstmt *stop = s; /* after the last statement that needs the threads */
    for (const kj_tstmt *t = s; t != end; t = t->next)
        if (!is_scalar(p, t) || !p->regions->barrier)
            stop = t->next;
    if (s != end && stop != s) {
        kj_node *n = add(p, l, KJ_N_REGION, s);
        n->end = stop;
        n->region = p->nregions++;
        n->spin = kj_find_spin(p->arena, p->kernel, s, stop);
        p->regions->fused &= !n->spin; /* for the block before, to its end */
        for (const kj_tstmt *t = s; t != stop; t = t->next)
            n->exits |= escapes_one(p, t) != STAYS;
        s = stop;
    }
    for (; s != end; s = s->next)
        cut_once(p, l, s);
}

/* Each thread evaluates what s does itself. */
static void evaluate(cutter *p, kj_node *n)
{
    n->region = p->nregions++;
    n->spin = kj_find_own_spin(p->arena, p->kernel, n->stmt);
}

static void cut_barrier(cutter *p, list *l, const kj_tstmt *s)
{
    kj_node *n = add(p, l, KJ_N_BARRIER, s);
    if (s->u.barrier.arg)
        evaluate(p, n);
}

static void cut_if(cutter *p, list *l, const kj_tstmt *s)
{
    kj_node *n = add(p, l, KJ_N_IF, s);
    n->divergent = !kj_asks_once(p->kernel, p->deps, s);
    if (n->divergent)
        evaluate(p, n);
    n->yes = cut_list(p, s->u.if_.yes);
    n->no = cut_list(p, s->u.if_.no);
}

static void cut_loop(cutter *p, list *l, const kj_tstmt *s)
{
    kj_node *n = add(p, l, KJ_N_LOOP, s);
    n->divergent = !kj_asks_once(p->kernel, p->deps, s) || (s->divergence & KJ_DEP_VARIES);
    if (n->divergent)
        evaluate(p, n);
    target t = {.up = p->targets, .of = s, .loop = true, .divergent = n->divergent};
    p->targets = &t;
    n->yes = cut_list(p, s->kind == KJ_TS_FOR ? s->u.for_.body : s->u.while_.body);
    p->targets = t.up;
}

static kj_node *cut_block(cutter *p, const kj_tblock *b)
{
    target t = {.up = p->targets, .of = b, .divergent = b->divergence & KJ_DEP_VARIES};
    p->targets = &t;
    kj_node *body = cut_list(p, b->body);
    p->targets = t.up;
    return body;
}

static kj_node *cut_list(cutter *p, const kj_tstmt *s)
{
    list l = {.first = NULL};
    l.last = &l.first;
    const kj_tstmt *run = s; /* where the region being gathered begins */
    for (; s; s = s->next) {
        if (!s->barrier && escapes_one(p, s) != ESCAPES_JUMPING)
            continue;
        flush(p, &l, run, s);
        run = s->next;
        switch (s->kind) {
        case KJ_TS_BARRIER: cut_barrier(p, &l, s); break;
        case KJ_TS_IF: cut_if(p, &l, s); break;
        case KJ_TS_FOR:
        case KJ_TS_WHILE: cut_loop(p, &l, s); break;
        case KJ_TS_INLINE: {
            kj_node *n = add(p, &l, KJ_N_INLINE, s);
            n->divergent = s->u.block->divergence & KJ_DEP_VARIES;
            n->yes = cut_block(p, s->u.block);
            break;
        }
        default: add(p, &l, KJ_N_EXIT, s); break;
        }
    }
    flush(p, &l, run, NULL);
    return l.first;
}

/* ---- Uses ---- */

static void use_var(cutter *p, int region, const kj_var *v)
{
    kj_place *place = &p->regions->places[v->id];
    if (!place->var) {
        place->var = v;
        place->region = region;
    } else if (place->region != region) {
        place->region = -1;
    }
    if (region == BLOCK_LEVEL)
        place->region = -1;
    else
        p->regions->uses[region * p->regions->words + v->id / 64] |= (uint64_t)1 << (v->id % 64);
}

static void write_var(cutter *p, int region, const kj_var *v)
{
    if (region != BLOCK_LEVEL)
        p->regions->writes[region * p->regions->words + v->id / 64] |= (uint64_t)1 << (v->id % 64);
}

/* A local array that two regions use has to live between them; so has one that keeps its elements
 * from one turn of a loop around the region to the next. */
static void use_local(cutter *p, int region, const kj_tarray *root)
{
    int *seen = &p->seen[root->id];
    if (root->space != KJ_LOCAL)
        return;
    if ((*seen >= 0 && *seen != region) || p->born[root->id] != p->loop)
        p->regions->crossing[root->id] = true;
    *seen = region;
}

/* Whose uses are being collected: a region's, or the block's. */
typedef struct user {
    cutter *p;
    int region;
} user;

static void use_and_write(const user *u, const kj_var *v)
{
    use_var(u->p, u->region, v);
    write_var(u->p, u->region, v);
}

static void use_in_expr(const user *u, const kj_texpr *e)
{
    switch (e->kind) {
    case KJ_TE_VAR: use_var(u->p, u->region, e->u.var); break;
    case KJ_TE_LOAD: use_local(u->p, u->region, e->u.load.array->root); break;
    case KJ_TE_ATOMIC: use_local(u->p, u->region, e->u.atomic.array->root); break;
    case KJ_TE_INLINE: use_and_write(u, e->u.inline_.result); break;
    default: break;
    }
}

static void use_in_stmt(const user *u, const kj_tstmt *s)
{
    cutter *p = u->p;
    switch (s->kind) {
    case KJ_TS_DECL:
        use_and_write(u, s->u.decl.var);
        p->regions->places[s->u.decl.var->id].init = s->u.decl.init;
        break;
    case KJ_TS_ASSIGN: use_and_write(u, s->u.assign.var); break;
    case KJ_TS_STORE: use_local(p, u->region, s->u.store.array->root); break;
    case KJ_TS_FOR: use_var(p, u->region, s->u.for_.var); break;
    case KJ_TS_ARRAY:
        p->born[s->u.array->id] = p->loop;
        if (p->kernel->untrusted) /* it is cleared here */
            use_local(p, u->region, s->u.array);
        break;
    case KJ_TS_LAUNCH: use_and_write(u, s->u.launch.result); break;
    default: break;
    }
}

static bool visit_use(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    if (e)
        use_in_expr(ctx, e);
    else
        use_in_stmt(ctx, s);
    return true;
}

static void use_stmts(cutter *p, int region, const kj_tstmt *s, const kj_tstmt *end)
{
    kj_walk(s, end, visit_use, &(user){p, region});
}

static void use_expr(cutter *p, int region, const kj_texpr *e)
{
    kj_walk_expr(NULL, e, visit_use, &(user){p, region});
}

static void use_nodes(cutter *p, const kj_node *n)
{
    for (; n; n = n->next) {
        int region = n->region >= 0 ? n->region : BLOCK_LEVEL;
        const kj_tstmt *s = n->stmt;
        const kj_node *around = p->loop;
        if (n->kind == KJ_N_LOOP)
            p->loop = n;
        if (n->kind == KJ_N_REGION) {
            use_stmts(p, region, s, n->end);
        } else if (n->kind == KJ_N_SCALAR) {
            use_stmts(p, BLOCK_LEVEL, s, s->next);
        } else if (n->kind == KJ_N_IF) {
            use_expr(p, region, s->u.if_.test);
        } else if (n->kind == KJ_N_BARRIER && s->u.barrier.arg) {
            use_expr(p, region, s->u.barrier.arg);
            use_var(p, BLOCK_LEVEL, s->u.barrier.result);
        } else if (n->kind == KJ_N_LOOP && s->kind == KJ_TS_WHILE) {
            use_expr(p, region, s->u.while_.test);
        } else if (n->kind == KJ_N_LOOP) {
            use_var(p, region, s->u.for_.var);
            use_var(p, BLOCK_LEVEL, s->u.for_.var);
            use_expr(p, region, s->u.for_.start);
            use_expr(p, region, s->u.for_.stop);
            use_expr(p, region, s->u.for_.step);
        }
        use_nodes(p, n->yes);
        use_nodes(p, n->no);
        p->loop = around;
    }
}

/* ---- Homes ---- */

/* Is it cheap and always possible to compute `e` again wherever its variables are in scope? */
static bool can_repeat(const cutter *p, const kj_texpr *e, int budget)
{
    if (budget <= 0 || e->checked)
        return false;
    switch (e->kind) {
    case KJ_TE_CONST:
    case KJ_TE_DIM:
    case KJ_TE_ADDRESS:
    case KJ_TE_INDEX: return true;
    case KJ_TE_VAR: {
        const kj_var *v = e->u.var;
        const kj_place *place = &p->regions->places[v->id];
        if (v->param >= 0)
            return true;
        if (v->mutable)
            return false;
        if (!(p->deps->var[v->id] & KJ_DEP_VARIES))
            return true;
        return place->init && can_repeat(p, place->init, budget - 1);
    }
    case KJ_TE_UNARY:
    case KJ_TE_CONVERT:
    case KJ_TE_BITS: return can_repeat(p, e->u.unary.arg, budget - 1);
    case KJ_TE_BINARY:
        if (e->u.binary.op == KJ_OP_DIV)
            return false;
        return can_repeat(p, e->u.binary.lhs, budget - 1) &&
               can_repeat(p, e->u.binary.rhs, budget - 1);
    case KJ_TE_SELECT:
        return can_repeat(p, e->u.select.test, budget - 1) &&
               can_repeat(p, e->u.select.yes, budget - 1) &&
               can_repeat(p, e->u.select.no, budget - 1);
    default: return false;
    }
}

/* A region that computes a variable again needs what that is computed from. */
static void need(cutter *p, int region, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        need(p, region, operands[i]);
    if (e->kind != KJ_TE_VAR || e->u.var->param >= 0 ||
        kj_region_uses(p->regions, region, e->u.var->id))
        return;
    const kj_place *place = &p->regions->places[e->u.var->id];
    use_var(p, region, e->u.var);
    if (place->init && p->deps->var[e->u.var->id] & KJ_DEP_VARIES)
        need(p, region, place->init);
}

static bool is_remat(const cutter *p, const kj_place *place)
{
    return place->var && place->region < 0 && place->var->param < 0 && !place->var->mutable &&
           place->init && (p->deps->var[place->var->id] & KJ_DEP_VARIES) &&
           can_repeat(p, place->init, 12);
}

static void give_homes(cutter *p, int nvars)
{
    for (int v = 0; v < nvars; v++)
        if (is_remat(p, &p->regions->places[v]))
            for (int r = 0; r < p->nregions; r++)
                if (kj_region_uses(p->regions, r, v))
                    need(p, r, p->regions->places[v].init);
    for (int v = 0; v < nvars; v++) {
        kj_place *place = &p->regions->places[v];
        if (!place->var || place->region >= 0)
            place->home = KJ_HOME_GANG;
        else if (!(p->deps->var[v] & KJ_DEP_VARIES))
            place->home = KJ_HOME_BLOCK;
        else
            place->home = is_remat(p, place) ? KJ_HOME_REMAT : KJ_HOME_THREAD;
    }
}

kj_regions *kj_cut(kj_arena *arena, const kj_tkernel *kernel, const kj_deps *deps)
{
    kj_regions *all = KJ_NEW(arena, kj_regions);
    cutter p = {.arena = arena, .kernel = kernel, .deps = deps, .regions = all};
    all->barrier = kernel->body->barrier;
    all->fused =
        !all->barrier && !(kernel->checks & KJ_CHECKS_WATCHED); /* it counts block by block */
    for (int i = 0; i < kernel->nroots; i++)
        all->fused = all->fused && kernel->roots[i]->space != KJ_SHARED;
    if (all->barrier) {
        all->body = cut_block(&p, kernel->body);
    } else {
        list l = {.first = NULL};
        l.last = &l.first;
        flush(&p, &l, kernel->body->body, NULL);
        all->body = l.first;
    }
    all->nregions = p.nregions;
    all->words = kernel->nvars / 64 + 1;
    all->uses = KJ_NEW_ARRAY(arena, uint64_t, (size_t)(all->words * (all->nregions + 1)));
    all->writes = KJ_NEW_ARRAY(arena, uint64_t, (size_t)(all->words * (all->nregions + 1)));
    all->places = KJ_NEW_ARRAY(arena, kj_place, (size_t)kernel->nvars + 1);
    all->crossing = KJ_NEW_ARRAY(arena, bool, (size_t)kernel->nroots + 1);
    p.seen = KJ_NEW_ARRAY(arena, int, (size_t)kernel->nroots + 1);
    p.born = KJ_NEW_ARRAY(arena, const kj_node *, (size_t)kernel->nroots + 1);
    for (int i = 0; i < kernel->nroots; i++)
        p.seen[i] = -1;
    use_nodes(&p, all->body);
    give_homes(&p, kernel->nvars);
    kj_find_reaches(kernel, deps, all);
    return all;
}

/* What runs thread after thread cannot hold what a warp's threads do together. */
static void check_warps(kj_diag *diag, const kj_node *n)
{
    for (; n; n = n->next) {
        const kj_texpr *e = !n->spin                 ? NULL
                            : n->kind == KJ_N_REGION ? kj_warp_operation(n->stmt, n->end)
                                                     : kj_own_warp_operation(n->stmt);
        check_warps(diag, n->yes);
        check_warps(diag, n->no);
        if (!e)
            continue;
        kj_message *m = kj_error(diag, e->span, KJ_RULE_WARP,
                                 "the CPU runs one thread after the other here, and '%s' needs a "
                                 "warp together",
                                 kj_builtins[e->u.call.id].name);
        kj_note(diag, m, n->spin->span, "because what other threads do may end this loop");
        kj_hint(
            diag, m,
            "let each of the two be a statement of its own, and no lock be held at the operation");
    }
}

void kj_check_warps(kj_diag *diag, const kj_regions *regions)
{
    check_warps(diag, regions->body);
}
