/* Which stores may all threads make alike? Typed AST in, flags of each store's site out, for code that is
 * checked for races.
 *
 * The language defines what threads leave that all store one value: the same for all of them is what depends on
 * no thread. What others read there meanwhile is the value before or that one; that is meant where the store
 * depends on what stands there, as in `if not seen[v] { seen[v] = true }`, and is not where one thread of its
 * own stores, as in `if threadIdx.x == 0 { sum[0] = 0 }`, nor where the value is made of what stands there, as in
 * `n[0] = n[0] + 1`. So the second question is whether a condition has to do with elements of the store's array:
 * one around it, or one before that leaves the rest.
 *
 * And which loads give what an atomic.cas on the array then expects? Whatever other threads' atomics do meanwhile,
 * the cas tells. */
#include <limits.h>
#include <string.h>

#include "analysis/uniform.h"

/* How statements are left before their end. */
enum { LEFT_LOOP = 1, LEFT_BLOCK = 2, LEFT_TURN = 4 };

/* What goes through more variables of a loop, turn after turn, is taken to be about everything. */
enum { MOST_TURNS = 50 };

/* Sets of roots have a bit for each; of those from this one on, all one. */
enum { FURTHER = 63 };

typedef struct stored {
    const kj_deps *deps;
    uint64_t *made;     /* by kj_var.id: the roots whose elements its values are made of */
    uint64_t *about;    /* and those that decide which value it has */
    uint64_t *expected; /* the roots on which a cas expects it */
    bool *waits;        /* it is in todo */
    const kj_var **todo;
    int ntodo;
    uint64_t *ended; /* by loop, in their order: those that decide whether there is one more turn */
    int nloops, loop, barriers; /* these: seen so far */
    uint64_t tested;            /* the roots that conditions of what comes next have to do with */
    bool changed;
    uint16_t *flags;
} stored;

static uint64_t bit_of(const kj_tarray *a)
{
    return (uint64_t)1 << (a->root->id < FURTHER ? a->root->id : FURTHER);
}

static uint64_t roots_in(const uint64_t *var, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    uint64_t roots = e->kind == KJ_TE_VAR      ? var[e->u.var->id]
                     : e->kind == KJ_TE_INLINE ? var[e->u.inline_.result->id]
                     : e->kind == KJ_TE_LOAD   ? bit_of(e->u.load.array)
                     : e->kind == KJ_TE_ATOMIC ? bit_of(e->u.atomic.array)
                                               : 0;
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        roots |= roots_in(var, operands[i]);
    return roots;
}

/* ---- Stores ---- */

static void add(stored *w, uint64_t *set, uint64_t roots)
{
    w->changed |= (roots & ~*set) != 0;
    *set |= roots;
}

static void take(stored *w, const kj_var *v, const kj_texpr *value)
{
    add(w, &w->made[v->id], roots_in(w->made, value));
    add(w, &w->about[v->id], roots_in(w->about, value) | w->tested);
}

static void flag_store(stored *w, const kj_tstmt *s)
{
    const kj_tarray *a = s->u.store.array;
    uint8_t dep = kj_dep(w->deps, s->u.store.value);
    if (!a->watch || dep & (KJ_DEP_THREAD | KJ_DEP_ATOMIC))
        return;
    bool of_itself = a->root->id < FURTHER && roots_in(w->made, s->u.store.value) & bit_of(a);
    w->flags[a->watch->id] |= KJ_WATCH_SAME | (dep & KJ_DEP_BLOCK ? 0 : KJ_WATCH_SAME_GRID) |
                              (w->tested & bit_of(a) && !of_itself ? KJ_WATCH_TESTED : 0);
}

static unsigned see_list(stored *w, const kj_tstmt *s);

static void see_block(stored *w, const kj_tblock *block)
{
    uint64_t before = w->tested;
    see_list(w, block->body);
    w->tested = before;
}

static void see_value(stored *w, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    uint64_t before = w->tested;
    bool decides = e->kind == KJ_TE_SELECT || e->kind == KJ_TE_LOGIC;
    for (int i = 0, n = kj_operands(e, operands); i < n; i++) {
        see_value(w, operands[i]);
        if (decides && i == 0)
            w->tested |= roots_in(w->about, operands[0]);
    }
    w->tested = before;
    if (e->kind == KJ_TE_INLINE)
        see_block(w, e->u.inline_.block);
}

static void see_values(stored *w, kj_texpr *const *values, int n)
{
    for (int i = 0; i < n; i++)
        see_value(w, values[i]);
}

static void see_store(stored *w, const kj_tstmt *s)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    for (int i = 0, n = kj_access_operands(s->u.store.array, s->u.store.index, operands); i < n;
         i++)
        see_value(w, operands[i]);
    see_value(w, s->u.store.value);
    flag_store(w, s);
}

/* A condition counts for what is within, and behind it where the one or the other is left. */
static unsigned see_if(stored *w, const kj_tstmt *s)
{
    see_value(w, s->u.if_.test);
    uint64_t before = w->tested, test = before | roots_in(w->about, s->u.if_.test);
    w->tested = test;
    unsigned left = see_list(w, s->u.if_.yes);
    uint64_t yes = w->tested;
    w->tested = test;
    left |= see_list(w, s->u.if_.no);
    w->tested = left ? w->tested | yes : before;
    return left;
}

/* What a turn is left by counts for the turns behind it, too, but where barriers are meant to order these. */
static unsigned see_loop(stored *w, const kj_texpr *test, const kj_tstmt *body)
{
    uint64_t before = w->tested, *ended = &w->ended[w->loop < w->nloops ? w->loop++ : w->nloops];
    int barriers = w->barriers;
    w->tested |= *ended;
    if (test) {
        see_value(w, test);
        w->tested |= roots_in(w->about, test);
    }
    unsigned left = see_list(w, body);
    if (left & (LEFT_LOOP | LEFT_BLOCK) && w->barriers == barriers)
        add(w, ended, w->tested);
    w->tested = left & LEFT_BLOCK ? w->tested : before;
    return left & LEFT_BLOCK;
}

static unsigned see_for(stored *w, const kj_tstmt *s)
{
    kj_texpr *bounds[] = {s->u.for_.start, s->u.for_.stop, s->u.for_.step};
    uint64_t before = w->tested;
    see_values(w, bounds, 3);
    for (int i = 0; i < 3; i++)
        w->tested |= roots_in(w->about, bounds[i]);
    take(w, s->u.for_.var, s->u.for_.start);
    take(w, s->u.for_.var, s->u.for_.step);
    unsigned left = see_loop(w, NULL, s->u.for_.body);
    w->tested = left ? w->tested : before;
    return left;
}

static void see_assignment(stored *w, const kj_var *v, const kj_texpr *value)
{
    see_value(w, value);
    take(w, v, value);
}

static unsigned see(stored *w, const kj_tstmt *s)
{
    switch (s->kind) {
    case KJ_TS_DECL:
        if (s->u.decl.init)
            see_assignment(w, s->u.decl.var, s->u.decl.init);
        break;
    case KJ_TS_ASSIGN: see_assignment(w, s->u.assign.var, s->u.assign.value); break;
    case KJ_TS_STORE: see_store(w, s); break;
    case KJ_TS_EXPR: see_value(w, s->u.expr); break;
    case KJ_TS_IF: return see_if(w, s);
    case KJ_TS_FOR: return see_for(w, s);
    case KJ_TS_WHILE: return see_loop(w, s->u.while_.test, s->u.while_.body);
    case KJ_TS_BREAK: return LEFT_LOOP;
    case KJ_TS_CONTINUE: return LEFT_TURN;
    case KJ_TS_LEAVE: return LEFT_BLOCK;
    case KJ_TS_INLINE: see_block(w, s->u.block); break;
    case KJ_TS_BARRIER:
        w->barriers++;
        if (s->u.barrier.arg)
            see_assignment(w, s->u.barrier.result, s->u.barrier.arg);
        break;
    case KJ_TS_REPORT: see_values(w, s->u.report.values, s->u.report.site->nvalues); break;
    case KJ_TS_LAUNCH: see_values(w, s->u.launch.values, s->u.launch.nvalues); break;
    case KJ_TS_ARRAY: break;
    }
    return 0;
}

static unsigned see_list(stored *w, const kj_tstmt *s)
{
    unsigned left = 0;
    for (; s; s = s->next)
        left |= see(w, s);
    return left;
}

/* ---- Loads that a cas expects ---- */

/* What the value is itself: not what chooses it or says where it stands. */
static void expect(stored *w, const kj_texpr *e, uint64_t roots)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    if (e->kind == KJ_TE_VAR || e->kind == KJ_TE_INLINE) {
        const kj_var *v = e->kind == KJ_TE_VAR ? e->u.var : e->u.inline_.result;
        if (roots & ~w->expected[v->id] && !w->waits[v->id]) {
            w->todo[w->ntodo++] = v;
            w->waits[v->id] = true;
        }
        w->expected[v->id] |= roots;
    } else if (e->kind == KJ_TE_LOAD) {
        const kj_tarray *a = e->u.load.array;
        if (a->watch && bit_of(a) & roots)
            w->flags[a->watch->id] |= KJ_WATCH_GUESS;
    } else if (e->kind == KJ_TE_SELECT) {
        expect(w, e->u.select.yes, roots);
        expect(w, e->u.select.no, roots);
    } else if (e->kind != KJ_TE_ATOMIC) {
        for (int i = 0, n = kj_operands(e, operands); i < n; i++)
            expect(w, operands[i], roots);
    }
}

static bool visit_cas(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    (void)s;
    if (e && e->kind == KJ_TE_ATOMIC && e->u.atomic.id == KJ_BI_ATOMIC_CAS)
        expect(ctx, e->u.atomic.args[0], bit_of(e->u.atomic.array));
    return true;
}

static void find_guesses(stored *w, kj_arena *arena, const kj_tkernel *kernel)
{
    kj_walk(kernel->body->body, NULL, visit_cas, w);
    kj_origin **origins = w->ntodo ? kj_origins(arena, kernel) : NULL;
    while (w->ntodo) {
        const kj_var *v = w->todo[--w->ntodo];
        w->waits[v->id] = false;
        for (const kj_origin *o = origins[v->id]; o; o = o->next)
            expect(w, o->value, w->expected[v->id]);
    }
}

static bool count_loop(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    *(int *)ctx += !e && s && (s->kind == KJ_TS_FOR || s->kind == KJ_TS_WHILE);
    return true;
}

const uint16_t *kj_stored_alike(kj_arena *arena, const kj_tkernel *kernel, const kj_deps *deps)
{
    size_t vars = (size_t)kernel->nvars + 1, sites = (size_t)kernel->nsites + 1;
    stored w = {.deps = deps,
                .made = KJ_NEW_ARRAY(arena, uint64_t, vars),
                .about = KJ_NEW_ARRAY(arena, uint64_t, vars),
                .expected = KJ_NEW_ARRAY(arena, uint64_t, vars),
                .waits = KJ_NEW_ARRAY(arena, bool, vars),
                .todo = KJ_NEW_ARRAY(arena, const kj_var *, vars),
                .flags = KJ_NEW_ARRAY(arena, uint16_t, sites)};
    kj_walk(kernel->body->body, NULL, count_loop, &w.nloops);
    w.ended = KJ_NEW_ARRAY(arena, uint64_t, (size_t)w.nloops + 1);
    w.changed = true;
    for (int turn = 0; w.changed && turn <= MOST_TURNS; turn++) {
        w.changed = false;
        w.loop = w.barriers = 0;
        memset(w.flags, 0, sites * sizeof *w.flags);
        if (turn == MOST_TURNS)
            memset(w.about, UCHAR_MAX, vars * sizeof *w.about);
        see_block(&w, kernel->body);
    }
    find_guesses(&w, arena, kernel);
    kj_find_deciding(arena, kernel, w.flags);
    return w.flags;
}
