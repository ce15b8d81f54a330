/* Fission: typed AST and uniformity in, the plan of a block out.
 *
 * Three passes: build the tree (which statements form regions), collect which variables each region
 * uses, and give each variable its home. */
#include "analysis/fission.h"

enum { BLOCK_LEVEL = -2 }; /* as a region number: code that runs once for the block */

/* A construct of the block level that statements may exit. */
typedef struct target {
    struct target *up;
    const void *of; /* loop statement or tblock */
    bool loop, divergent;
} target;

typedef struct planner {
    kj_arena *arena;
    const kj_deps *deps;
    kj_plan *plan;
    target *targets;
    int nregions;
    const kj_node *loop; /* the innermost loop of the block level around what is being walked */
    int *seen; /* of local arrays, by root id: the region that used it last, -1 for none */
    const kj_node **born; /* and the `loop` around its declaration */
} planner;

typedef struct list {
    kj_node *first, **last;
} list;

static kj_node *plan_list(planner *p, const kj_tstmt *s);

static kj_node *add(planner *p, list *l, kj_node_kind kind, const kj_tstmt *stmt)
{
    kj_node *n = KJ_NEW(p->arena, kj_node);
    n->kind = kind;
    n->stmt = stmt;
    n->region = -1;
    *l->last = n;
    l->last = &n->next;
    return n;
}

static const target *find_target(const planner *p, const void *of)
{
    for (const target *t = p->targets; t; t = t->up)
        if (of ? t->of == of : t->loop)
            return t;
    return NULL;
}

typedef enum escape { STAYS, ESCAPES_MASKED, ESCAPES_JUMPING } escape;

/* Do threads leave a block-level construct from these statements; and all together, or some? */
static escape escapes(const planner *p, const kj_tstmt *s, bool in_loop)
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

static escape escapes_one(const planner *p, const kj_tstmt *s)
{
    kj_tstmt alone = *s;
    alone.next = NULL;
    return escapes(p, &alone, false);
}

/* Has the expression no effect and no statements of its own? */
static bool is_plain(const kj_texpr *e)
{
    if (e->kind == KJ_TE_ATOMIC || e->kind == KJ_TE_INLINE)
        return false;
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        if (!is_plain(operands[i]))
            return false;
    return true;
}

static bool is_uniform(const planner *p, const kj_texpr *e)
{
    return is_plain(e) && !(kj_dep(p->deps, e) & KJ_DEP_THREAD);
}

/* A statement that may as well run once for the block: it only sets a uniform variable. */
static bool is_scalar(const planner *p, const kj_tstmt *s)
{
    const kj_var *v;
    const kj_texpr *e;
    if (s->kind == KJ_TS_DECL)
        v = s->u.decl.var, e = s->u.decl.init;
    else if (s->kind == KJ_TS_ASSIGN)
        v = s->u.assign.var, e = s->u.assign.value;
    else
        return false;
    return !(p->deps->var[v->id] & KJ_DEP_THREAD) && (!e || is_uniform(p, e));
}

/* Does a loop wait for what an atomic gives? One that holds an operation of a warp does not: its
 * threads go through it together anyway. */
static bool waits(const kj_tstmt *s)
{
    return s->mark & KJ_DEP_ATOMIC && !kj_warp_operation(s, s->next);
}

static const kj_tstmt *find_spin(const kj_tstmt *s, const kj_tstmt *end)
{
    const kj_tstmt *found = NULL;
    for (; s != end && !found; s = s->next) {
        bool loop = s->kind == KJ_TS_FOR || s->kind == KJ_TS_WHILE;
        if (loop && waits(s))
            found = s;
        else if (loop)
            found = find_spin(s->kind == KJ_TS_FOR ? s->u.for_.body : s->u.while_.body, NULL);
        else if (s->kind == KJ_TS_IF && !(found = find_spin(s->u.if_.yes, NULL)))
            found = find_spin(s->u.if_.no, NULL);
        else if (s->kind == KJ_TS_INLINE)
            found = find_spin(s->u.block->body, NULL);
    }
    return found;
}

/* The statements [s, end) as a region; what sets uniform variables at either end of it runs once,
 * outside. */
static void flush(planner *p, list *l, const kj_tstmt *s, const kj_tstmt *end)
{
    while (s != end && is_scalar(p, s) && !p->plan->fused) {
        add(p, l, KJ_N_SCALAR, s);
        s = s->next;
    }
    const kj_tstmt *stop = s; /* after the last statement that needs the threads */
    for (const kj_tstmt *t = s; t != end; t = t->next)
        if (!is_scalar(p, t) || !p->plan->barrier)
            stop = t->next;
    if (s != end && stop != s) {
        kj_node *n = add(p, l, KJ_N_REGION, s);
        n->end = stop;
        n->region = p->nregions++;
        n->spin = find_spin(s, stop);
        for (const kj_tstmt *t = s; t != stop; t = t->next)
            n->exits |= escapes_one(p, t) != STAYS;
        s = stop;
    }
    for (; s != end; s = s->next)
        add(p, l, KJ_N_SCALAR, s);
}

static void plan_barrier(planner *p, list *l, const kj_tstmt *s)
{
    kj_node *n = add(p, l, KJ_N_BARRIER, s);
    if (s->u.barrier.arg)
        n->region = p->nregions++;
}

static void plan_if(planner *p, list *l, const kj_tstmt *s)
{
    kj_node *n = add(p, l, KJ_N_IF, s);
    n->divergent = !is_uniform(p, s->u.if_.test);
    if (n->divergent)
        n->region = p->nregions++;
    n->yes = plan_list(p, s->u.if_.yes);
    n->no = plan_list(p, s->u.if_.no);
}

static void plan_loop(planner *p, list *l, const kj_tstmt *s)
{
    kj_node *n = add(p, l, KJ_N_LOOP, s);
    bool uniform = s->kind == KJ_TS_FOR
                       ? is_uniform(p, s->u.for_.start) && is_uniform(p, s->u.for_.stop) &&
                             is_uniform(p, s->u.for_.step)
                       : is_uniform(p, s->u.while_.test);
    n->divergent = !uniform || (s->mark & KJ_DEP_THREAD);
    if (n->divergent)
        n->region = p->nregions++;
    target t = {.up = p->targets, .of = s, .loop = true, .divergent = n->divergent};
    p->targets = &t;
    n->yes = plan_list(p, s->kind == KJ_TS_FOR ? s->u.for_.body : s->u.while_.body);
    p->targets = t.up;
}

static kj_node *plan_block(planner *p, const kj_tblock *b)
{
    target t = {.up = p->targets, .of = b, .divergent = b->mark & KJ_DEP_THREAD};
    p->targets = &t;
    kj_node *body = plan_list(p, b->body);
    p->targets = t.up;
    return body;
}

static kj_node *plan_list(planner *p, const kj_tstmt *s)
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
        case KJ_TS_BARRIER: plan_barrier(p, &l, s); break;
        case KJ_TS_IF: plan_if(p, &l, s); break;
        case KJ_TS_FOR:
        case KJ_TS_WHILE: plan_loop(p, &l, s); break;
        case KJ_TS_INLINE: {
            kj_node *n = add(p, &l, KJ_N_INLINE, s);
            n->divergent = s->u.block->mark & KJ_DEP_THREAD;
            n->yes = plan_block(p, s->u.block);
            break;
        }
        default: add(p, &l, KJ_N_EXIT, s); break;
        }
    }
    flush(p, &l, run, NULL);
    return l.first;
}

/* ---- Uses ---- */

static void use_expr(planner *p, int region, const kj_texpr *e);
static void use_stmts(planner *p, int region, const kj_tstmt *s, const kj_tstmt *end);

static void use_var(planner *p, int region, const kj_var *v)
{
    kj_place *place = &p->plan->places[v->id];
    if (!place->var) {
        place->var = v;
        place->region = region;
    } else if (place->region != region) {
        place->region = -1;
    }
    if (region == BLOCK_LEVEL)
        place->region = -1;
    else
        p->plan->uses[region * p->plan->words + v->id / 64] |= (uint64_t)1 << (v->id % 64);
}

static void write_var(planner *p, int region, const kj_var *v)
{
    if (region != BLOCK_LEVEL)
        p->plan->writes[region * p->plan->words + v->id / 64] |= (uint64_t)1 << (v->id % 64);
}

/* A local array that two regions use has to live between them; so has one that keeps its elements
 * from one turn of a loop around the region to the next. */
static void use_local(planner *p, int region, const kj_tarray *root)
{
    int *seen = &p->seen[root->id];
    if (root->space != KJ_LOCAL)
        return;
    if ((*seen >= 0 && *seen != region) || p->born[root->id] != p->loop)
        p->plan->crossing[root->id] = true;
    *seen = region;
}

static void use_expr(planner *p, int region, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        use_expr(p, region, operands[i]);
    if (e->kind == KJ_TE_VAR) {
        use_var(p, region, e->u.var);
    } else if (e->kind == KJ_TE_LOAD) {
        use_local(p, region, e->u.load.array->root);
    } else if (e->kind == KJ_TE_INLINE) {
        use_stmts(p, region, e->u.inline_.block->body, NULL);
        use_var(p, region, e->u.inline_.result);
        write_var(p, region, e->u.inline_.result);
    }
}

static void use_store(planner *p, int region, const kj_tstmt *s)
{
    const kj_tarray *a = s->u.store.array;
    if (a->offset)
        use_expr(p, region, a->offset);
    for (int i = 0; i < a->ndim; i++) {
        use_expr(p, region, s->u.store.index[i]);
        use_expr(p, region, a->stride[i]);
    }
    use_local(p, region, a->root);
    use_expr(p, region, s->u.store.value);
}

static void use_stmts(planner *p, int region, const kj_tstmt *s, const kj_tstmt *end)
{
    for (; s != end; s = s->next) {
        switch (s->kind) {
        case KJ_TS_DECL:
            use_var(p, region, s->u.decl.var);
            write_var(p, region, s->u.decl.var);
            p->plan->places[s->u.decl.var->id].init = s->u.decl.init;
            if (s->u.decl.init)
                use_expr(p, region, s->u.decl.init);
            break;
        case KJ_TS_ASSIGN:
            use_var(p, region, s->u.assign.var);
            write_var(p, region, s->u.assign.var);
            use_expr(p, region, s->u.assign.value);
            break;
        case KJ_TS_STORE: use_store(p, region, s); break;
        case KJ_TS_EXPR: use_expr(p, region, s->u.expr); break;
        case KJ_TS_IF:
            use_expr(p, region, s->u.if_.test);
            use_stmts(p, region, s->u.if_.yes, NULL);
            use_stmts(p, region, s->u.if_.no, NULL);
            break;
        case KJ_TS_FOR:
            use_var(p, region, s->u.for_.var);
            use_expr(p, region, s->u.for_.start);
            use_expr(p, region, s->u.for_.stop);
            use_expr(p, region, s->u.for_.step);
            use_stmts(p, region, s->u.for_.body, NULL);
            break;
        case KJ_TS_WHILE:
            use_expr(p, region, s->u.while_.test);
            use_stmts(p, region, s->u.while_.body, NULL);
            break;
        case KJ_TS_INLINE: use_stmts(p, region, s->u.block->body, NULL); break;
        case KJ_TS_ARRAY: p->born[s->u.array->id] = p->loop; break;
        case KJ_TS_LAUNCH:
            for (int i = 0; i < s->u.launch.nvalues; i++)
                use_expr(p, region, s->u.launch.values[i]);
            use_var(p, region, s->u.launch.result);
            write_var(p, region, s->u.launch.result);
            break;
        case KJ_TS_REPORT:
            for (int i = 0; i < s->u.report.site->nvalues; i++)
                use_expr(p, region, s->u.report.values[i]);
            break;
        default: break;
        }
    }
}

static void use_nodes(planner *p, const kj_node *n)
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
static bool can_repeat(const planner *p, const kj_texpr *e, int budget)
{
    if (budget <= 0)
        return false;
    switch (e->kind) {
    case KJ_TE_CONST:
    case KJ_TE_DIM:
    case KJ_TE_ADDRESS:
    case KJ_TE_INDEX: return true;
    case KJ_TE_VAR: {
        const kj_var *v = e->u.var;
        const kj_place *place = &p->plan->places[v->id];
        if (v->param >= 0)
            return true;
        if (v->mutable)
            return false;
        if (!(p->deps->var[v->id] & KJ_DEP_THREAD))
            return true;
        return place->init && can_repeat(p, place->init, budget - 1);
    }
    case KJ_TE_UNARY:
    case KJ_TE_CONVERT: return can_repeat(p, e->u.unary.arg, budget - 1);
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
static void need(planner *p, int region, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        need(p, region, operands[i]);
    if (e->kind != KJ_TE_VAR || e->u.var->param >= 0 || kj_plan_uses(p->plan, region, e->u.var->id))
        return;
    const kj_place *place = &p->plan->places[e->u.var->id];
    use_var(p, region, e->u.var);
    if (place->init && p->deps->var[e->u.var->id] & KJ_DEP_THREAD)
        need(p, region, place->init);
}

static bool is_remat(const planner *p, const kj_place *place)
{
    return place->var && place->region < 0 && place->var->param < 0 && !place->var->mutable &&
           place->init && (p->deps->var[place->var->id] & KJ_DEP_THREAD) &&
           can_repeat(p, place->init, 12);
}

static void give_homes(planner *p, int nvars)
{
    for (int v = 0; v < nvars; v++)
        if (is_remat(p, &p->plan->places[v]))
            for (int r = 0; r < p->nregions; r++)
                if (kj_plan_uses(p->plan, r, v))
                    need(p, r, p->plan->places[v].init);
    for (int v = 0; v < nvars; v++) {
        kj_place *place = &p->plan->places[v];
        if (!place->var || place->region >= 0)
            place->home = KJ_HOME_GANG;
        else if (!(p->deps->var[v] & KJ_DEP_THREAD))
            place->home = KJ_HOME_BLOCK;
        else
            place->home = is_remat(p, place) ? KJ_HOME_REMAT : KJ_HOME_CONTEXT;
    }
}

kj_plan *kj_fission(kj_arena *arena, const kj_tkernel *kernel, const kj_deps *deps)
{
    kj_plan *plan = KJ_NEW(arena, kj_plan);
    planner p = {.arena = arena, .deps = deps, .plan = plan};
    plan->barrier = kernel->body->barrier;
    plan->fused = !plan->barrier;
    for (int i = 0; i < kernel->nroots; i++)
        plan->fused = plan->fused && kernel->roots[i]->space != KJ_SHARED;
    if (plan->barrier) {
        plan->body = plan_block(&p, kernel->body);
    } else {
        list l = {.first = NULL};
        l.last = &l.first;
        flush(&p, &l, kernel->body->body, NULL);
        plan->body = l.first;
    }
    plan->nregions = p.nregions;
    plan->words = kernel->nvars / 64 + 1;
    plan->uses = KJ_NEW_ARRAY(arena, uint64_t, (size_t)(plan->words * (plan->nregions + 1)));
    plan->writes = KJ_NEW_ARRAY(arena, uint64_t, (size_t)(plan->words * (plan->nregions + 1)));
    plan->places = KJ_NEW_ARRAY(arena, kj_place, (size_t)kernel->nvars + 1);
    plan->crossing = KJ_NEW_ARRAY(arena, bool, (size_t)kernel->nroots + 1);
    p.seen = KJ_NEW_ARRAY(arena, int, (size_t)kernel->nroots + 1);
    p.born = KJ_NEW_ARRAY(arena, const kj_node *, (size_t)kernel->nroots + 1);
    for (int i = 0; i < kernel->nroots; i++)
        p.seen[i] = -1;
    use_nodes(&p, plan->body);
    give_homes(&p, kernel->nvars);
    return plan;
}
