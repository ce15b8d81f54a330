/* The walk over a kernel that decides its checks: what is known goes along, in the order of execution. */
#include "analysis/limit_walk.h"

#include <string.h>

/* ---- Which variables are assigned ---- */

/* Those that begin in there have the stamp. */
static bool note_assigned(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    kj_limit_walk *w = ctx;
    if (e && e->kind == KJ_TE_INLINE)
        w->stamps[e->u.inline_.result->id] = w->stamp;
    else if (!e && s->kind == KJ_TS_DECL)
        w->stamps[s->u.decl.var->id] = w->stamp;
    else if (!e && s->kind == KJ_TS_ASSIGN && w->stamps[s->u.assign.var->id] != w->stamp)
        kj_limit_assigned(w, s->u.assign.var, w->assigned_from);
    return true;
}

void kj_limit_assigned(kj_limit_walk *w, const kj_var *v, int from)
{
    for (int i = from; i < w->nassigned; i++)
        if (w->assigned[i] == v)
            return;
    if (w->nassigned == w->assigned_cap) {
        int cap = w->assigned_cap ? 2 * w->assigned_cap : 32;
        const kj_var **fresh = KJ_NEW_ARRAY(w->state.arena, const kj_var *, (size_t)cap);
        if (w->nassigned)
            memcpy(fresh, w->assigned, (size_t)w->nassigned * sizeof *fresh);
        w->assigned = fresh;
        w->assigned_cap = cap;
    }
    w->assigned[w->nassigned++] = v;
}

int kj_limit_assigned_in(kj_limit_walk *w, const kj_tstmt *list, const kj_var ***out)
{
    int from = w->assigned_from, n;
    w->assigned_from = w->nassigned;
    w->stamp++;
    kj_walk(list, NULL, note_assigned, w);
    n = w->nassigned - w->assigned_from;
    *out = KJ_NEW_ARRAY(w->state.arena, const kj_var *, (size_t)n + 1);
    if (n)
        memcpy(*out, w->assigned + w->assigned_from, (size_t)n * sizeof **out);
    w->nassigned = w->assigned_from;
    w->assigned_from = from;
    return n;
}

/* ---- Checks ---- */

static int add_test(kj_limit_walk *w, kj_limit_test t)
{
    kj_limit_test *tests = w->tests;
    int i = 0;
    while (i < w->ntests && memcmp(&tests[i], &t, sizeof t) != 0)
        i++;
    if (i == w->ntests && w->ntests == w->test_cap) {
        w->test_cap = w->test_cap ? 2 * w->test_cap : 32;
        w->tests = KJ_NEW_ARRAY(w->state.arena, kj_limit_test, (size_t)w->test_cap);
        if (i)
            memcpy(w->tests, tests, (size_t)i * sizeof t);
    }
    if (i == w->ntests)
        w->tests[w->ntests++] = t;
    return i;
}

/* Does no launch make it hold? */
static bool is_hopeless(const kj_limit_walk *w, const kj_limit_test *t)
{
    const kj_limit *index = &w->state.graph.nodes[t->index],
                   *extent = &w->state.graph.nodes[t->extent];
    if (index->op != KJ_IV_CONST)
        return false;
    return (t->low && index->known.lo < 0) ||
           (t->high && (index->known.hi >= INT32_MAX || extent->op == KJ_IV_CONST));
}

/* Was it decided otherwise where more was known? */
static bool relies(const kj_limit_walk *w, const kj_index_check *c, kj_held held,
                   const kj_limit_test *t)
{
    if (c->held == KJ_HELD_BY_LAUNCH)
        return held != KJ_HELD_ALWAYS &&
               (held == KJ_HELD_NEVER || memcmp(&w->tests[c->test], t, sizeof *t) != 0);
    return c->held == KJ_HELD_ALWAYS && held != KJ_HELD_ALWAYS;
}

static void confirm(const kj_limit_walk *w, kj_index_check *c, kj_held held, const kj_limit_test *t)
{
    if (relies(w, c, held, t))
        c->relies = w->confirms;
    else if (c->relies == w->confirms) /* so it seemed, before more was known of the loop */
        c->relies--;
}

/* Where checks are confirmed, those in loops tell nothing, or only what a loop can look at in front of its turns. */
static bool tells(const kj_limit_walk *w, const kj_index_check *c, kj_texpr *const *index)
{
    return !w->confirms || !w->loop ||
           (w->confirms == KJ_RELIES && kj_is_counted(w->loop->stmt, c, index));
}

static kj_ground ground_of(const kj_limit_state *s, const kj_limit_test *t)
{
    kj_interval path = kj_known(&s->graph, t->path), i = kj_known(&s->graph, t->index),
                n = kj_known(&s->graph, t->extent);
    kj_ground g = {.unreached = path.lo > path.hi || i.lo > i.hi,
                   .low = t->low,
                   .high = t->high,
                   .least = i.lo,
                   .most = i.hi,
                   .extent = {n.lo, n.hi},
                   .nreasons = t->high ? 0 : s->nreasons};
    memcpy(g.reasons, s->reasons, (size_t)g.nreasons * sizeof *g.reasons);
    return g;
}

static void decide(kj_limit_walk *w, kj_index_check *c, kj_texpr *const *indices)
{
    kj_limit_state *s = &w->state;
    const kj_texpr *index = kj_checked_index(c, indices);
    kj_limit_test t;
    memset(&t, 0, sizeof t); /* they are compared by their bytes */
    t.index = kj_range_of(s, index);
    t.extent = kj_range_of(s, c->extent);
    t.path = s->path;
    kj_interval path = kj_known(&s->graph, t.path), i = kj_known(&s->graph, t.index),
                n = kj_known(&s->graph, t.extent);
    t.low = i.lo < 0;
    s->nreasons = 0;
    t.high = i.hi >= n.lo && !kj_is_less(s, index, c->extent);
    kj_held held = path.lo > path.hi || i.lo > i.hi || (!t.low && !t.high) ? KJ_HELD_ALWAYS
                   : !w->launched || is_hopeless(w, &t)                    ? KJ_HELD_NEVER
                                                                           : KJ_HELD_BY_LAUNCH;
    if (w->confirms) {
        confirm(w, c, held, &t);
    } else {
        c->held = held;
        c->ground = ground_of(s, &t);
        c->test = held == KJ_HELD_BY_LAUNCH ? add_test(w, t) : -1;
    }
    if ((held == KJ_HELD_ALWAYS && !t.low && !t.high) || !tells(w, c, indices))
        return;
    s->why = (kj_reason){KJ_BY_CHECK, c->site->span};
    kj_learn_least(s, index, 0);
    kj_learn_less(s, index, c->extent, false);
}

/* An access has checks of its own, and later an array of its own. */
static kj_tarray *with_own_checks(kj_limit_walk *w, const kj_tarray *a)
{
    kj_tarray *out = KJ_NEW(w->state.arena, kj_tarray);
    *out = *a;
    kj_index_check **tail = &out->checks;
    for (const kj_index_check *c = a->checks; c; c = c->next) {
        kj_index_check *own = KJ_NEW(w->state.arena, kj_index_check);
        *own = *c;
        own->held = KJ_HELD_NEVER;
        *tail = own;
        tail = &own->next;
    }
    out->decided = true;
    return out;
}

static void visit_access(kj_limit_walk *w, kj_tarray **array, kj_texpr *const *index)
{
    if (!(*array)->checks)
        return;
    if (!(*array)->decided) {
        kj_limit_access *access = KJ_NEW(w->state.arena, kj_limit_access);
        *array = with_own_checks(w, *array);
        access->array = *array;
        *w->last = access;
        w->last = &access->next;
    }
    for (kj_index_check *c = (*array)->checks; c; c = c->next)
        decide(w, c, index);
}

/* ---- Expressions ---- */

static void visit_exprs(kj_limit_walk *w, kj_texpr *const *e, int n)
{
    for (int i = 0; i < n; i++)
        kj_limit_expr(w, e[i]);
}

static void visit_where(kj_limit_walk *w, kj_texpr *e, const kj_texpr *test, bool holds)
{
    kj_limit_mark mark = kj_state_mark(&w->state);
    w->state.why = (kj_reason){KJ_BY_CONDITION, test->span};
    kj_learn(&w->state, test, holds);
    kj_limit_expr(w, e);
    kj_state_back(&w->state, mark);
}

static void visit_operands(kj_limit_walk *w, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        kj_limit_expr(w, (kj_texpr *)(uintptr_t)operands[i]);
}

void kj_limit_expr(kj_limit_walk *w, kj_texpr *e)
{
    switch (e->kind) {
    case KJ_TE_LOGIC:
        kj_limit_expr(w, e->u.logic.lhs);
        visit_where(w, e->u.logic.rhs, e->u.logic.lhs, !e->u.logic.is_or);
        break;
    case KJ_TE_SELECT:
        kj_limit_expr(w, e->u.select.test);
        visit_where(w, e->u.select.yes, e->u.select.test, true);
        visit_where(w, e->u.select.no, e->u.select.test, false);
        break;
    case KJ_TE_LOAD:
        visit_exprs(w, e->u.load.index, e->u.load.array->ndim);
        visit_access(w, &e->u.load.array, e->u.load.index);
        break;
    case KJ_TE_ATOMIC:
        visit_exprs(w, e->u.atomic.index, e->u.atomic.array->ndim);
        visit_access(w, &e->u.atomic.array, e->u.atomic.index);
        for (int i = 0; i < 2 && e->u.atomic.args[i]; i++)
            kj_limit_expr(w, e->u.atomic.args[i]);
        break;
    case KJ_TE_INLINE:
        kj_limit_born(w, e->u.inline_.result, 0);
        kj_limit_block(w, e->u.inline_.block);
        break;
    default: visit_operands(w, e); break;
    }
}

/* ---- Variables ---- */

void kj_limit_born(kj_limit_walk *w, const kj_var *v, int node)
{
    w->state.vars[v->id].born = ++w->state.born;
    w->state.vars[v->id].init = w->state.vars[v->id].made = NULL;
    kj_state_set(&w->state, v, node);
}

static void visit_decl(kj_limit_walk *w, const kj_tstmt *s)
{
    const kj_var *v = s->u.decl.var;
    kj_texpr *init = s->u.decl.init;
    if (init)
        kj_limit_expr(w, init);
    int range = !kj_has_range(v) ? 0
                : init           ? kj_range_of(&w->state, init)
                                 : kj_graph_const(&w->state.graph, 0, 0);
    kj_limit_born(w, v, range);
    if (!kj_has_range(v) || !init || v->mutable)
        return;
    w->state.vars[v->id].made = init;
    if (kj_is_lasting(init))
        w->state.vars[v->id].init = init;
}

static void visit_assign(kj_limit_walk *w, const kj_tstmt *s)
{
    const kj_var *v = s->u.assign.var;
    kj_limit_expr(w, s->u.assign.value);
    int range = kj_range_of(&w->state, s->u.assign.value);
    if (kj_has_range(v))
        kj_limit_turns(w, v, s->u.assign.value, range);
    kj_state_set(&w->state, v, range);
    kj_state_moved(&w->state, v);
    kj_limit_assigned(w, v, w->assigned_from);
}

/* ---- Statements ---- */

/* What the variables assigned in the branch were then. */
static kj_limit_ends ends_of(kj_limit_walk *w, int from)
{
    int n = w->nassigned - from;
    kj_limit_ends e = {n, KJ_NEW_ARRAY(w->state.arena, kj_limit_end, (size_t)n + 1)};
    for (int i = 0; i < n; i++)
        e.each[i] =
            (kj_limit_end){w->assigned[from + i], w->state.vars[w->assigned[from + i]->id].node};
    return e;
}

static int end_or(const kj_limit_ends *e, const kj_var *v, int otherwise)
{
    for (int i = 0; i < e->n; i++)
        if (e->each[i].var == v)
            return e->each[i].node;
    return otherwise;
}

static void become(kj_limit_walk *w, const kj_var *v, int node)
{
    kj_state_set(&w->state, v, node);
    kj_state_moved(&w->state, v);
}

static void join(kj_limit_walk *w, const kj_limit_ends *yes, const kj_limit_ends *no)
{
    kj_limit_state *s = &w->state;
    const kj_limit_ends *both[2] = {yes, no};
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < both[k]->n; i++) {
            const kj_var *v = both[k]->each[i].var;
            if (k == 1 && end_or(yes, v, -1) >= 0)
                continue;
            int before = s->vars[v->id].node;
            int a = end_or(yes, v, before), b = end_or(no, v, before);
            become(w, v, a && b ? kj_graph_node(&s->graph, KJ_IV_HULL, KJ_I64, a, b, 0) : 0);
        }
    }
}

/* The branches' assignments are the statement's. */
static void assigned_by(kj_limit_walk *w, const kj_limit_ends *yes, const kj_limit_ends *no, int to)
{
    const kj_limit_ends *both[2] = {yes, no};
    w->nassigned = to;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < both[k]->n; i++)
            kj_limit_assigned(w, both[k]->each[i].var, w->assigned_from);
}

static kj_limit_ends visit_branch(kj_limit_walk *w, kj_tstmt *list, const kj_texpr *test,
                                  bool holds)
{
    int from = w->assigned_from;
    w->assigned_from = w->nassigned;
    w->state.why = (kj_reason){KJ_BY_CONDITION, test->span};
    kj_learn(&w->state, test, holds);
    kj_limit_stmts(w, list);
    kj_limit_ends e = ends_of(w, w->assigned_from);
    w->assigned_from = from;
    return e;
}

static void visit_if(kj_limit_walk *w, const kj_tstmt *st)
{
    kj_limit_state *s = &w->state;
    const kj_texpr *test = st->u.if_.test;
    kj_limit_expr(w, st->u.if_.test);
    kj_limit_mark mark = kj_state_mark(s);
    int outer = w->nassigned;
    bool dead = w->dead;
    kj_limit_ends yes = visit_branch(w, st->u.if_.yes, test, true);
    bool yes_ends = w->dead;
    kj_state_back(s, mark);
    w->dead = dead;
    kj_limit_ends no = visit_branch(w, st->u.if_.no, test, false);
    if (w->dead && !yes_ends) {
        kj_state_back(s, mark);
        s->why = (kj_reason){KJ_BY_CONDITION, test->span};
        kj_learn(s, test, true);
        for (int i = 0; i < yes.n; i++)
            become(w, yes.each[i].var, yes.each[i].node);
        w->dead = false;
    } else if (!yes_ends) {
        kj_state_back(s, mark);
        join(w, &yes, &no);
    } /* else what is known in the other goes on */
    assigned_by(w, &yes, &no, outer);
}

/* The values of a failed assert are parts of its condition, the same nodes: they were decided there, where less was
 * known of them. */
static void visit_report(kj_limit_walk *w, const kj_tstmt *s)
{
    bool fault = s->u.report.site->fault;
    if (!fault)
        visit_exprs(w, s->u.report.values, s->u.report.site->nvalues);
    w->dead |= fault;
}

static void visit_barrier(kj_limit_walk *w, const kj_tstmt *s)
{
    if (s->u.barrier.arg)
        kj_limit_expr(w, s->u.barrier.arg);
    if (s->u.barrier.result)
        kj_limit_born(w, s->u.barrier.result, 0);
}

static void visit(kj_limit_walk *w, kj_tstmt *s)
{
    w->visits++;
    switch (s->kind) {
    case KJ_TS_DECL: visit_decl(w, s); break;
    case KJ_TS_ASSIGN: visit_assign(w, s); break;
    case KJ_TS_STORE:
        kj_limit_expr(w, s->u.store.value);
        visit_exprs(w, s->u.store.index, s->u.store.array->ndim);
        visit_access(w, &s->u.store.array, s->u.store.index);
        break;
    case KJ_TS_EXPR: kj_limit_expr(w, s->u.expr); break;
    case KJ_TS_IF: visit_if(w, s); break;
    case KJ_TS_FOR: kj_limit_for(w, s); break;
    case KJ_TS_WHILE: kj_limit_while(w, s); break;
    case KJ_TS_BREAK:
        w->broke = true;
        w->dead = true;
        break;
    case KJ_TS_CONTINUE: w->dead = true; break;
    case KJ_TS_LEAVE: kj_limit_leave(w, s->u.leave); break;
    case KJ_TS_INLINE: kj_limit_block(w, s->u.block); break;
    case KJ_TS_BARRIER: visit_barrier(w, s); break;
    case KJ_TS_REPORT: visit_report(w, s); break;
    case KJ_TS_LAUNCH:
        visit_exprs(w, s->u.launch.values, s->u.launch.nvalues);
        if (s->u.launch.result)
            kj_limit_born(w, s->u.launch.result, 0);
        break;
    case KJ_TS_ARRAY: break;
    }
}

void kj_limit_stmts(kj_limit_walk *w, kj_tstmt *s)
{
    for (; s; s = s->next)
        visit(w, s);
}
