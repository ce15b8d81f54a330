/* Uniformity (divergence) analysis: typed AST in, a dependence set a variable, loop and inlined
 * block out.
 *
 * One walk over the kernel joins, into each variable, the dependences of the values it takes and of
 * the control constructs between its declaration and the assignment. Sets only grow, so the walk is
 * repeated until none changes; variables made of others grow with those at once (flow.c). */
#include "analysis/regions.h"

#include <string.h>

/* A control construct being walked: what is inside runs for the threads `dep` lets through. */
typedef struct frame {
    struct frame *up;
    uint8_t dep;
    const void *target;  /* the loop statement or tblock, for exits; NULL for conditions */
    uint8_t *divergence; /* its dependence, kept from one walk to the next */
    bool loop;
    int depth;
    kj_span span;    /* of what decides who runs */
    uint8_t own;     /* what that depends on, leaving aside */
    uint8_t left;    /* of a block: that of those who have left it so far, in this walk */
    kj_span leaving; /* and where they did */
    bool parted;     /* each thread evaluates what decides */
} frame;

typedef struct walk {
    kj_deps *deps;
    kj_flow *flow;
    int *depth; /* of each variable's declaration, by id */
    kj_arena *arena;
    const kj_tkernel *kernel;
    const kj_tkernel *cut; /* where what is being walked may hold regions that wait; or NULL */
    bool parted;           /* the block is cut into regions (regions.h) */
    bool level;            /* what is being walked is around them */
    bool once;             /* what is being walked is evaluated once for the block */
    bool moves;            /* all is known: declarations go in front of their region */
    bool disjoint;
    bool apart; /* what is being walked runs thread after thread, as it waits for others */
    bool changed;
    kj_diag *diag; /* for grid_sync(); NULL in walks that only collect */
} walk;

enum { HELD = KJ_DEP_ATOMIC | KJ_DEP_GIVEN /* what elements have of what is stored in them */ };

static uint8_t walk_expr(walk *w, const kj_texpr *e, frame *f);
static void walk_stmts(walk *w, kj_tstmt **list, frame *f);

static frame enter(frame *up, uint8_t dep, kj_span span)
{
    return (frame){.up = up, .dep = dep, .depth = up ? up->depth + 1 : 1, .span = span, .own = dep};
}

static void join(walk *w, uint8_t *to, uint8_t dep)
{
    if ((*to | dep) != *to) {
        *to |= dep;
        w->changed = true;
    }
}

/* What a gang's threads share they have each for themselves between regions, and gangs read it of any. Where
 * threads run one after the other only those have it that came there. */
static void set(walk *w, const kj_var *v, uint8_t dep)
{
    uint8_t *to = &w->deps->var[v->id];
    bool own = w->apart && (*to | dep) & KJ_DEP_VARIES;
    uint8_t before = *to;
    join(w, to, dep | (own ? KJ_DEP_THREAD : 0));
    if (*to != before)
        kj_flow_from(w->flow, v->id, w->deps->var);
}

static void declare(walk *w, const kj_var *v, uint8_t dep, const frame *f)
{
    w->depth[v->id] = f ? f->depth : 0;
    set(w, v, dep);
}

static void assign(walk *w, const kj_var *v, uint8_t dep, const frame *f)
{
    for (; f && f->depth > w->depth[v->id]; f = f->up)
        dep |= f->dep;
    set(w, v, dep);
}

/* What decides whether a statement here runs. */
static uint8_t around(const frame *f)
{
    uint8_t dep = 0;
    for (; f; f = f->up)
        dep |= f->dep;
    return dep;
}

/* Threads leave for `target` (NULL: the nearest loop); every construct on the way sees them go. */
static void leave(walk *w, const void *target, frame *f, kj_span span)
{
    uint8_t dep = 0;
    for (; f; f = f->up) {
        if (f->divergence)
            join(w, f->divergence, dep);
        if ((f->left | dep) != f->left)
            f->leaving = span;
        f->left |= dep;
        if (target ? f->target == target : f->loop)
            return;
        dep |= f->dep;
    }
}

static void walk_block(walk *w, kj_tblock *b, frame *up)
{
    frame f = enter(up, b->divergence, b->span);
    f.own = 0;
    f.target = b;
    f.divergence = &b->divergence;
    walk_stmts(w, &b->body, &f);
}

/* A block in an expression. */
static void walk_called(walk *w, kj_tblock *b, frame *up)
{
    bool level = w->level;
    w->level = false;
    walk_block(w, b, up);
    w->level = level;
}

static uint8_t walk_place(walk *w, const kj_tarray *a, kj_texpr *const *index, frame *f)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    uint8_t dep = 0;
    for (int i = 0, n = kj_access_operands(a, index, operands); i < n; i++)
        dep |= walk_expr(w, operands[i], f);
    return dep;
}

bool kj_is_fetched_again(const kj_tarray *a)
{
    return a->cache && a->root->written &&
           (strcmp(a->cache, "cv") == 0 || strcmp(a->cache, "cg") == 0);
}

static uint8_t element_dep(const kj_deps *deps, const kj_tarray *a, uint8_t index)
{
    uint8_t held =
        deps->element[a->root->id] | (kj_is_fetched_again(a) ? KJ_DEP_ATOMIC | KJ_DEP_AGAIN : 0);
    if (a->root->space == KJ_SHARED)
        return held | index | KJ_DEP_BLOCK | KJ_DEP_GIVEN;
    if (a->root->space == KJ_GLOBAL && (a->root->written || deps->overlap))
        held |= KJ_DEP_GIVEN;
    return held | (a->root->space == KJ_LOCAL ? KJ_DEP_THREAD : index);
}

/* Under a lock each thread finds what the one before has left; and a gang what those before, or other blocks,
 * launches and the host have stored since the last one looked. */
static uint8_t load_dep(const walk *w, const kj_tarray *a, uint8_t index)
{
    uint8_t changes = 0;
    if (kj_is_for_all(a) && w->parted && !w->once && !(index & KJ_DEP_THREAD))
        changes = w->apart ? KJ_DEP_THREAD : KJ_DEP_GANG;
    else if (kj_is_for_all(a) && w->apart && (a->root->written || !w->disjoint))
        changes = KJ_DEP_THREAD;
    return element_dep(w->deps, a, index) | changes;
}

static uint8_t index_dep(const kj_deps *deps, const kj_texpr *e)
{
    switch (e->u.index.which) {
    case KJ_THREAD_IDX: return (uint8_t)(KJ_DEP_X << kj_swapped(e->u.index.axis, deps->lanes));
    case KJ_BLOCK_IDX: return KJ_DEP_BLOCK;
    case KJ_LANE_ID: return deps->lane;
    default: return 0;
    }
}

static uint8_t call_dep(const kj_texpr *e, uint8_t args)
{
    return kj_builtins[e->u.call.id].how == KJ_HOW_WARP ? args | KJ_DEP_THREAD | KJ_DEP_GIVEN
                                                        : args;
}

/* All operands run, whoever the threads are. */
static uint8_t walk_operands(walk *w, const kj_texpr *e, frame *f)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    uint8_t dep = 0;
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        dep |= walk_expr(w, operands[i], f);
    return dep;
}

static uint8_t walk_expr(walk *w, const kj_texpr *e, frame *f)
{
    switch (e->kind) {
    case KJ_TE_VAR: return w->deps->var[e->u.var->id];
    case KJ_TE_INDEX:
        w->deps->warps |= e->u.index.which == KJ_LANE_ID;
        return index_dep(w->deps, e);
    case KJ_TE_CALL:
        w->deps->warps |= kj_builtins[e->u.call.id].how == KJ_HOW_WARP;
        return call_dep(e, walk_operands(w, e, f));
    case KJ_TE_LOGIC: {
        uint8_t dep = walk_expr(w, e->u.logic.lhs, f);
        frame arm = enter(f, dep, e->u.logic.lhs->span);
        return dep | walk_expr(w, e->u.logic.rhs, &arm);
    }
    case KJ_TE_SELECT: {
        uint8_t dep = walk_expr(w, e->u.select.test, f);
        frame arm = enter(f, dep, e->u.select.test->span);
        return dep | walk_expr(w, e->u.select.yes, &arm) | walk_expr(w, e->u.select.no, &arm);
    }
    case KJ_TE_LOAD: return load_dep(w, e->u.load.array, walk_operands(w, e, f));
    case KJ_TE_ATOMIC:
        w->deps->atomics = true;
        join(w, &w->deps->element[e->u.atomic.array->root->id],
             (walk_operands(w, e, f) | around(f)) & HELD);
        return KJ_DEP_THREAD | KJ_DEP_ATOMIC;
    case KJ_TE_INLINE:
        declare(w, e->u.inline_.result, 0, f);
        walk_called(w, e->u.inline_.block, f);
        set(w, e->u.inline_.result, e->u.inline_.block->divergence);
        return w->deps->var[e->u.inline_.result->id];
    default: return walk_operands(w, e, f);
    }
}

static void walk_loop(walk *w, kj_tstmt *s, frame *up)
{
    uint8_t own = 0;
    if (s->kind == KJ_TS_FOR) {
        uint8_t step = walk_expr(w, s->u.for_.start, up) | walk_expr(w, s->u.for_.step, up);
        own = step | walk_expr(w, s->u.for_.stop, up);
        join(w, &s->divergence, own);
        /* Around a barrier a loop that threads leave one by one counts for each of them. */
        declare(w, s->u.for_.var, s->barrier ? step | s->divergence : step, up);
    }
    kj_span span = s->kind == KJ_TS_FOR ? s->u.for_.stop->span : s->u.while_.test->span;
    frame f = enter(up, s->divergence, span);
    f.target = s;
    f.divergence = &s->divergence;
    f.loop = true;
    f.parted = !w->once;
    if (s->kind == KJ_TS_WHILE)
        own = walk_expr(w, s->u.while_.test, &f);
    join(w, &s->divergence, own);
    f.own = own;
    f.dep = s->divergence;
    walk_stmts(w, s->kind == KJ_TS_FOR ? &s->u.for_.body : &s->u.while_.body, &f);
}

/* ---- Barriers of the grid ---- */

/* What an atomic gave and was stored is there for all threads. */
enum { NOT_THE_GRIDS = KJ_DEP_THREAD | KJ_DEP_BLOCK | KJ_DEP_AGAIN };

/* How the threads differ that the construct lets come to the statement being walked. A loop is left for
 * all its turns; what leaves a body behind the statement does not matter. */
static uint8_t parting(const frame *f)
{
    bool body = f->target && !f->loop;
    return (body ? f->left : f->dep) & NOT_THE_GRIDS;
}

static void check_grid_sync(walk *w, const kj_tstmt *s, const frame *f)
{
    while (f && !parting(f))
        f = f->up;
    if (!f)
        return;
    const char *units = parting(f) == KJ_DEP_BLOCK ? "blocks" : "threads";
    kj_message *m = kj_error(w->diag, s->span, KJ_RULE_GRID_BARRIER,
                             "not all %s of the grid may come to this grid_sync()", units);
    if (f->own & NOT_THE_GRIDS)
        kj_note(w->diag, m, f->span, "this may differ between %s", units);
    else if (f->left & NOT_THE_GRIDS)
        kj_note(w->diag, m, f->leaving, "some %s may leave here", units);
    else
        kj_note(w->diag, m, f->span, "some %s may leave this loop before others", units);
    kj_hint(w->diag, m,
            "put only the work under the condition: all threads of the grid go to grid_sync()");
}

static void walk_stmt(walk *w, kj_tstmt *s, frame *f)
{
    switch (s->kind) {
    case KJ_TS_DECL:
        declare(w, s->u.decl.var, s->u.decl.init ? walk_expr(w, s->u.decl.init, f) : 0, f);
        break;
    case KJ_TS_ASSIGN: assign(w, s->u.assign.var, walk_expr(w, s->u.assign.value, f), f); break;
    case KJ_TS_STORE:
        join(w, &w->deps->element[s->u.store.array->root->id],
             (walk_place(w, s->u.store.array, s->u.store.index, f) |
              walk_expr(w, s->u.store.value, f) | around(f)) &
                 HELD);
        break;
    case KJ_TS_EXPR: walk_expr(w, s->u.expr, f); break;
    case KJ_TS_IF: {
        frame arm = enter(f, walk_expr(w, s->u.if_.test, f), s->u.if_.test->span);
        walk_stmts(w, &s->u.if_.yes, &arm);
        walk_stmts(w, &s->u.if_.no, &arm);
        break;
    }
    case KJ_TS_FOR:
    case KJ_TS_WHILE: walk_loop(w, s, f); break;
    case KJ_TS_BREAK:
    case KJ_TS_CONTINUE: leave(w, NULL, f, s->span); break;
    case KJ_TS_LEAVE: leave(w, s->u.leave, f, s->span); break;
    case KJ_TS_INLINE: walk_block(w, s->u.block, f); break;
    case KJ_TS_REPORT:
        for (int i = 0; i < s->u.report.site->nvalues; i++)
            walk_expr(w, s->u.report.values[i], f);
        break;
    case KJ_TS_LAUNCH:
        for (int i = 0; i < s->u.launch.nvalues; i++)
            walk_expr(w, s->u.launch.values[i], f);
        declare(w, s->u.launch.result, KJ_DEP_THREAD, f);
        break;
    case KJ_TS_BARRIER:
        if (s->u.barrier.arg) {
            uint8_t atomic = walk_expr(w, s->u.barrier.arg, f) & KJ_DEP_ATOMIC;
            declare(w, s->u.barrier.result, KJ_DEP_BLOCK | KJ_DEP_GIVEN | atomic, f);
        }
        if (w->diag && s->u.barrier.id == KJ_BI_GRID_SYNC)
            check_grid_sync(w, s, f);
        break;
    case KJ_TS_ARRAY: break;
    }
}

/* ---- What runs once for the block ---- */

static bool is_shared(const kj_tarray *a)
{
    return a->root->space == KJ_SHARED;
}

/* Do all threads leave a construct around regions together from these statements? */
static bool jump(const kj_tstmt *s, const frame *f, bool in_loop)
{
    const void *target = s->kind == KJ_TS_LEAVE ? s->u.leave : NULL;
    switch (s->kind) {
    case KJ_TS_BREAK:
    case KJ_TS_CONTINUE:
        if (in_loop)
            return false;
        break;
    case KJ_TS_LEAVE: break;
    case KJ_TS_IF:
        for (const kj_tstmt *t = s->u.if_.yes; t; t = t->next)
            if (jump(t, f, in_loop))
                return true;
        for (const kj_tstmt *t = s->u.if_.no; t; t = t->next)
            if (jump(t, f, in_loop))
                return true;
        return false;
    case KJ_TS_FOR:
    case KJ_TS_WHILE:
        for (const kj_tstmt *t = s->kind == KJ_TS_FOR ? s->u.for_.body : s->u.while_.body; t;
             t = t->next)
            if (jump(t, f, true))
                return true;
        return false;
    default: return false;
    }
    while (f && !(target ? f->target == target : f->loop))
        f = f->up;
    return f && !f->parted && !(*f->divergence & KJ_DEP_VARIES);
}

/* Does it stand between regions? */
static bool splits(const kj_tstmt *s, const frame *f)
{
    return s->barrier || jump(s, f, false);
}

/* The statements of a region, as they are walked: what sets common variables at either end of it runs once. */
typedef struct region {
    kj_tstmt **front; /* behind those that do at its beginning; NULL: what follows stays behind */
    const kj_tstmt *tail; /* the first of those that do at its end */
    bool passed;          /* some could wait */
    bool behind;          /* the tail has come */
} region;

static region open_region(const walk *w, kj_tstmt **list, const frame *f)
{
    region r = {.front = list, .tail = *list};
    for (const kj_tstmt *s = *list; s && !splits(s, f); s = s->next)
        if (!kj_runs_once(w->kernel, w->deps, s))
            r.tail = s->next;
    return r;
}

/* In front of its region goes what loads, behind what it may be made of. Gives the place of what follows it. */
static kj_tstmt **move(const walk *w, region *r, const kj_tstmt *s)
{
    kj_tstmt **at = r->front;
    for (bool done = false; !done;) {
        kj_tstmt *t = *at;
        done = t == s;
        if (!done && (t->kind != KJ_TS_DECL || !kj_runs_once(w->kernel, w->deps, t))) {
            at = &t->next;
            continue;
        }
        bool first = at == r->front;
        *at = t->next;
        t->next = *r->front;
        *r->front = t;
        r->front = &t->next;
        at = first ? r->front : at;
    }
    return at;
}

/* Is the statement at `**at` evaluated once? Then it may be put in front of its region. */
static bool sets_once(const walk *w, region *r, kj_tstmt ***at)
{
    kj_tstmt *s = **at;
    bool common = kj_runs_once(w->kernel, w->deps, s);
    r->behind |= s == r->tail;
    if (r->behind || !r->front)
        return r->behind && common;
    if (common && !r->passed) {
        r->front = &s->next;
        return true;
    }
    const kj_texpr *init = s->kind == KJ_TS_DECL ? s->u.decl.init : NULL;
    if (common && s->kind == KJ_TS_DECL && !(init && kj_loads(init, is_shared))) {
        if (w->moves && init && kj_loads(init, NULL))
            *at = move(w, r, s);
        return true;
    }
    r->passed = true;
    if (!kj_can_wait(s))
        r->front = NULL;
    return false;
}

/* Does the region that begins there wait for others, or what a statement around a barrier evaluates? */
static bool waits(const walk *w, const kj_tstmt *s)
{
    const kj_tstmt *end = s;
    while (end && !end->barrier)
        end = end->next;
    return end == s ? kj_find_own_spin(w->arena, w->cut, s)
                    : kj_find_spin(w->arena, w->cut, s, end);
}

static void walk_stmts(walk *w, kj_tstmt **list, frame *f)
{
    const kj_tkernel *cut = w->cut;
    bool apart = w->apart, level = w->level, once = w->once, begins = true, opens = true;
    region r = {.front = NULL};
    for (kj_tstmt **at = list; *at;) {
        kj_tstmt *s = *at;
        if (cut && (begins || s->barrier))
            w->apart = apart || waits(w, s);
        begins = s->barrier;
        w->cut = s->barrier ? cut : NULL; /* regions have none within */
        w->level = level && splits(s, f);
        if (level && opens)
            r = open_region(w, at, f);
        opens = w->level;
        if (level)
            w->once = w->level ? kj_asks_once(w->kernel, w->deps, s) : sets_once(w, &r, &at);
        walk_stmt(w, s, f);
        w->cut = cut;
        if (*at == s)
            at = &s->next;
    }
    w->apart = apart;
    w->level = level;
    w->once = once;
}

static void walk_kernel(walk *w, const kj_tkernel *kernel)
{
    do {
        w->changed = false;
        w->level = w->parted;
        walk_block(w, kernel->body, NULL);
    } while (w->changed);
}

static kj_deps *analyse(kj_arena *arena, const kj_tkernel *kernel, kj_diag *diag)
{
    kj_deps *deps = KJ_NEW(arena, kj_deps);
    deps->lanes = kernel->lanes;
    size_t n = (size_t)kernel->nvars + 1;
    deps->var = KJ_NEW_ARRAY(arena, uint8_t, n);
    deps->element = KJ_NEW_ARRAY(arena, uint8_t, (size_t)kernel->nroots + 1);
    bool along_x = kernel->block[0] > 0 && kernel->block[0] % KJ_WARP == 0;
    deps->lane = along_x ? KJ_DEP_X : KJ_DEP_THREAD;
    walk w = {.deps = deps, .depth = KJ_NEW_ARRAY(arena, int, n), .arena = arena};
    w.kernel = kernel;
    w.flow = kj_find_flow(arena, kernel);
    w.disjoint = kernel->disjoint;
    for (int i = 0; i < kernel->nroots; i++)
        deps->overlap |=
            !kernel->disjoint && kernel->roots[i]->space == KJ_GLOBAL && kernel->roots[i]->written;
    w.parted = kernel->body->barrier && !diag;
    w.cut = w.parted && kj_may_spin(arena, kernel) ? kernel : NULL;
    walk_kernel(&w, kernel);
    w.diag = diag;
    w.moves = w.parted;
    if (w.diag || w.moves)
        walk_kernel(&w, kernel);
    return deps;
}

kj_deps *kj_uniform(kj_arena *arena, const kj_tkernel *kernel)
{
    return analyse(arena, kernel, NULL);
}

void kj_check_grid(kj_arena *arena, kj_diag *diag, const kj_tkernel *kernel)
{
    analyse(arena, kernel, diag);
}

uint8_t kj_dep(const kj_deps *deps, const kj_texpr *e)
{
    switch (e->kind) {
    case KJ_TE_VAR: return deps->var[e->u.var->id];
    case KJ_TE_INDEX: return index_dep(deps, e);
    case KJ_TE_ATOMIC: return KJ_DEP_THREAD | KJ_DEP_ATOMIC;
    case KJ_TE_INLINE: return deps->var[e->u.inline_.result->id];
    default: {
        const kj_texpr *operands[KJ_MAX_OPERANDS];
        uint8_t dep = 0;
        for (int i = 0, n = kj_operands(e, operands); i < n; i++)
            dep |= kj_dep(deps, operands[i]);
        if (e->kind == KJ_TE_CALL)
            return call_dep(e, dep);
        return e->kind == KJ_TE_LOAD ? element_dep(deps, e->u.load.array, dep) : dep;
    }
    }
}
