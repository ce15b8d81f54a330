/* What the threads of a warp have of variables: a kernel is walked until none changes.
 *
 * A variable that is assigned is what all its values have in common. Where only some threads assign it, as under a condition that
 * splits a warp, nothing is known of it; and of one that a loop assigns, which threads leave at different turns, only in that loop,
 * where they are at the same turn. */
#include "analysis/lane_value.h"

enum { MOST_AROUND = 64, ROUNDS = 8, ROOM = 4 << 20 /* numbers: 32 MiB */ };

/* What stands around a statement. */
typedef struct around {
    const kj_tstmt *loop; /* NULL: a branch, or a block that is left early */
    bool splits;          /* not all threads of a warp do it together */
} around;

typedef struct walk {
    kj_lanes *l;
    around each[MOST_AROUND];
    int n;
    bool deep;
} walk;

/* ---- Values that meet ---- */

static bool is_scaled_alike(const kj_lanes *l, const kj_lane_value *a, const kj_lane_value *b)
{
    int64_t by;
    if (!a->by || !b->by)
        return a->by == b->by;
    return (a->by == b->by || kj_is_same_number(a->by, b->by)) &&
           kj_lanes_are_apart(l, a->scaled, b->scaled, &by) && by == 0;
}

/* What is one or the other, for all threads of a warp at once. */
static kj_lane_value either(const kj_lanes *l, kj_lane_value a, const kj_lane_value *b)
{
    int64_t apart;
    if (!a.set)
        return *b;
    if (!a.known || !b->known || !is_scaled_alike(l, &a, b) ||
        !kj_lanes_are_apart(l, a.lane, b->lane, &apart))
        return (kj_lane_value){.set = true, .data = a.data || b->data};
    a.edge |= b->edge;
    apart += a.c - b->c;
    a.multiple = kj_lane_divisor(kj_lane_divisor(a.multiple, b->multiple), apart);
    return a;
}

static bool is_same_value(const kj_lane_value *a, const kj_lane_value *b)
{
    return a->set == b->set && a->known == b->known && a->data == b->data && a->edge == b->edge &&
           a->multiple == b->multiple && a->within == b->within;
}

/* ---- Assignments ---- */

static void become(walk *w, const kj_var *v, const kj_lane_value *value, const kj_tstmt *within)
{
    kj_lane_value *at = &w->l->var[v->id], made = either(w->l, *at, value);
    made.within = at->within ? at->within : within;
    bool gone = at->set && !at->known; /* for good */
    if (gone || (at->within && within && at->within != within))
        made = (kj_lane_value){.set = true, .data = made.data};
    w->l->changed |= !is_same_value(at, &made);
    *at = made;
}

static void declare(walk *w, const kj_var *v, const kj_lane_value *value)
{
    w->l->depth[v->id] = w->n;
    become(w, v, value, NULL);
}

/* Does only some of a warp's threads come to it, since the variable was declared? */
static void assign(walk *w, const kj_var *v, const kj_texpr *e)
{
    kj_lane_value value = kj_lane_value_of(w->l, e);
    const kj_tstmt *within = NULL;
    bool some = w->deep;
    for (int i = w->l->depth[v->id]; i < w->n; i++) {
        const around *a = &w->each[i];
        bool first = i == w->l->depth[v->id];
        some |= a->splits && (!a->loop || !first);
        within = a->splits && a->loop && first ? a->loop : within;
    }
    if (some)
        value = (kj_lane_value){.set = true, .data = value.data};
    become(w, v, &value, within);
}

/* ---- Statements ---- */

static void walk_stmts(walk *w, const kj_tstmt *s);

static void walk_in(walk *w, const kj_tstmt *body, const kj_tstmt *loop, bool splits)
{
    if (w->n == MOST_AROUND) {
        w->deep = true; /* nothing that is assigned from here on is known */
        return;
    }
    w->each[w->n++] = (around){loop, splits};
    if (loop)
        kj_lanes_enter(w->l, loop);
    walk_stmts(w, body);
    if (loop)
        kj_lanes_leave(w->l);
    w->n--;
}

static bool see_continue(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    bool *any = ctx;
    *any = *any || (!e && s->kind == KJ_TS_CONTINUE);
    return !*any;
}

/* Are some threads done with a turn before others are? */
static bool has_continue(const kj_tstmt *body)
{
    bool any = false;
    kj_walk(body, NULL, see_continue, &any);
    return any;
}

static void walk_loop(walk *w, const kj_tstmt *s, const kj_tstmt *body)
{
    bool skips = has_continue(body) && w->n < MOST_AROUND;
    if (skips)
        w->each[w->n++] = (around){NULL, true};
    walk_in(w, body, s, s->divergence & KJ_DEP_THREAD);
    w->n -= skips;
}

static kj_lane_value counted(walk *w, const kj_tstmt *s)
{
    kj_lane_value from = kj_lane_value_of(w->l, s->u.for_.start),
                  step = kj_lane_value_of(w->l, s->u.for_.step);
    if (!from.known || !step.known || step.lane || step.by)
        return (kj_lane_value){.set = true, .data = from.data || step.data};
    from.multiple = kj_lane_divisor(from.multiple, kj_lane_divisor(step.multiple, step.c));
    return from;
}

static void walk_for(walk *w, const kj_tstmt *s)
{
    kj_lane_value value = counted(w, s);
    declare(w, s->u.for_.var, &value);
    walk_loop(w, s, s->u.for_.body);
}

static bool visit_inline(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    walk *w = ctx;
    kj_lane_value value = {.set = true};
    if (e && e->kind == KJ_TE_INLINE)
        declare(w, e->u.inline_.result, &value);
    else if (!e && s->kind == KJ_TS_ASSIGN)
        become(w, s->u.assign.var, &value, NULL);
    else if (!e && s->kind == KJ_TS_DECL)
        declare(w, s->u.decl.var, &value);
    else if (!e && s->kind == KJ_TS_FOR)
        declare(w, s->u.for_.var, &value);
    return true;
}

/* Of a function in a condition's arm nothing is known. */
static bool visit_own(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    if (e && e->kind == KJ_TE_INLINE)
        kj_walk_expr(s, e, visit_inline, ctx);
    return true;
}

static void walk_decl(walk *w, const kj_tstmt *s)
{
    kj_lane_value value = {.set = true, .known = true};
    if (s->u.decl.init)
        value = kj_lane_value_of(w->l, s->u.decl.init);
    declare(w, s->u.decl.var, &value);
}

static void walk_if(walk *w, const kj_tstmt *s)
{
    int warps;
    bool splits = kj_lanes_split(w->l, s->u.if_.test, &warps) != KJ_SPLIT_NOT;
    walk_in(w, s->u.if_.yes, NULL, splits);
    walk_in(w, s->u.if_.no, NULL, splits);
}

static void walk_stmts(walk *w, const kj_tstmt *s)
{
    kj_lane_value nothing = {.set = true};
    for (; s; s = s->next) {
        if (s->kind != KJ_TS_INLINE)
            kj_walk_own(s, visit_own, w);
        switch (s->kind) {
        case KJ_TS_DECL: walk_decl(w, s); break;
        case KJ_TS_ASSIGN: assign(w, s->u.assign.var, s->u.assign.value); break;
        case KJ_TS_IF: walk_if(w, s); break;
        case KJ_TS_FOR: walk_for(w, s); break;
        case KJ_TS_WHILE: walk_loop(w, s, s->u.while_.body); break;
        case KJ_TS_INLINE:
            walk_in(w, s->u.block->body, NULL, s->u.block->divergence & KJ_DEP_THREAD);
            break;
        case KJ_TS_BARRIER:
            if (s->u.barrier.result)
                declare(w, s->u.barrier.result, &nothing);
            break;
        case KJ_TS_LAUNCH:
            if (s->u.launch.result)
                declare(w, s->u.launch.result, &nothing);
            break;
        default: break;
        }
    }
}

/* ---- Of a kernel ---- */

void kj_lanes_enter(kj_lanes *l, const kj_tstmt *loop)
{
    if (l->nloops < KJ_LOOPS_AROUND)
        l->loops[l->nloops] = loop;
    l->nloops++;
}

void kj_lanes_leave(kj_lanes *l)
{
    l->nloops--;
}

static void set_params(kj_lanes *l)
{
    kj_lane_value number = {.set = true, .known = true, .multiple = 1};
    for (int i = 0; i < l->kernel->nparams; i++)
        if (l->kernel->params[i].var)
            l->var[l->kernel->params[i].var->id] = number;
}

bool kj_lanes_find(kj_lanes *l, kj_arena *arena, const kj_tkernel *k, const kj_deps *deps)
{
    size_t nvars = (size_t)k->nvars + 1;
    int64_t n = k->block[0] * k->block[1] * k->block[2];
    *l = (kj_lanes){.arena = arena,
                    .kernel = k,
                    .deps = deps,
                    .origins = kj_origins(arena, k),
                    .n = (int)n,
                    .room = ROOM,
                    .var = KJ_NEW_ARRAY(arena, kj_lane_value, nvars),
                    .depth = KJ_NEW_ARRAY(arena, int, nvars)};
    if (n < 1 || n > KJ_BLOCK_THREADS)
        return false;
    set_params(l);
    walk w = {.l = l};
    int rounds = 0;
    do {
        l->changed = false;
        walk_stmts(&w, k->body->body);
    } while (l->changed && ++rounds < ROUNDS);
    l->room = l->room < ROOM / 2 ? ROOM / 2 : l->room;
    return !l->changed;
}
