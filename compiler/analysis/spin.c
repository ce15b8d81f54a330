/* Loops that wait for other threads (spin locks, flags): statements in, the first loop among them
 * whose end depends on what other threads do meanwhile.
 *
 * That is a question of flow within the loop. What an atomic in it gives may be news of another
 * thread; so may what a load gives that is fetched again each time, or stands beside an atomic or a
 * fence, from memory that the kernel writes. News spreads through variables and local arrays, by
 * value and by the conditions under which they are assigned, as in uniform.c. The loop waits when
 * news decides its condition or a way out of it. One that counts to what an atomic gave before it
 * does not, nor one that does atomics and ends by something else.
 *
 * The same flow, of what a thread has for itself instead of news, tells whether all may leave a loop at once, or one
 * after the other, as they do where they take a lock (kj_ends_by_own). */
#include "analysis/regions.h"

/* What news ends a turn of: a loop or an inlined block. */
typedef struct parted {
    struct parted *next;
    const void *of; /* loop statement or tblock */
} parted;

/* The loop, and loops and inlined blocks in it, around what is being walked. */
typedef struct inside {
    struct inside *up;
    const void *of;
    bool loop, parted;
    bool rest; /* some have gone on with the next turn: what follows in this one */
} inside;

typedef bool tells_fn(const kj_texpr *atomic);

typedef struct look {
    bool *var;     /* by kj_var.id: may hold news */
    bool *element; /* by root id: its elements may */
    parted *parted;
    inside *in;
    kj_arena *arena;
    tells_fn *tells;       /* whether what an atomic gives counts; NULL: of none */
    bool deaf;             /* no load counts */
    bool plain;            /* all do */
    const kj_tarray *only; /* accesses of this array alone count, as it is named there; or NULL */
    bool own;              /* what a thread has for itself counts */
    const void *kernel;    /* its body: who leaves that is not missed; or NULL */
    bool ordered;          /* the loop has an atomic or a fence: plain loads count */
    bool news;             /* is in a condition around what is being walked */
    bool waits;
    bool changed;
} look;

static void see_list(look *l, const kj_tstmt *s);

static bool is_atomic(const kj_texpr *e)
{
    return e->kind == KJ_TE_ATOMIC;
}

static void set(look *l, bool *to, bool value)
{
    l->changed |= value && !*to;
    *to |= value;
}

static bool is_fetched(const look *l, const kj_tarray *array)
{
    const kj_tarray *root = array->root;
    bool others = root->space == KJ_GLOBAL || root->space == KJ_SHARED;
    if (l->deaf || (l->only && array != l->only))
        return false;
    return kj_is_fetched_again(array) || (others && root->written && (l->plain || l->ordered));
}

/* Is what an atomic gives news? */
static bool tells(const look *l, const kj_texpr *e)
{
    return l->tells && l->tells(e) && (!l->only || e->u.atomic.array == l->only);
}

/* Is it news of others, by a load or an atomic that does the same? Outside of the loop that is what is fetched again. */
static bool finds_of_others(const look *l, const kj_texpr *e)
{
    const kj_tarray *a = e->kind == KJ_TE_LOAD ? e->u.load.array : NULL;
    bool plain = a && !l->kernel && kj_is_for_all(a) && a->root->written;
    return plain || (a && kj_is_fetched_again(a)) || kj_is_poll(e);
}

static bool is_own_index(const kj_texpr *e)
{
    return e->u.index.which == KJ_THREAD_IDX || e->u.index.which == KJ_LANE_ID;
}

static inside enter(look *l, const void *of, bool loop)
{
    const parted *p = l->parted;
    while (p && p->of != of)
        p = p->next;
    return (inside){.up = l->in,
                    .of = of,
                    .loop = loop,
                    .parted = p || (l->in && l->in->parted),
                    .rest = l->in && l->in->rest};
}

static void part(look *l, inside *in)
{
    if (in->parted)
        return;
    parted *p = KJ_NEW(l->arena, parted);
    *p = (parted){.next = l->parted, .of = in->of};
    l->parted = p;
    in->parted = l->changed = true;
}

/* Do some threads alone come to what is being walked, by news? */
static bool is_some(const look *l)
{
    return l->news || l->in->parted || l->in->rest;
}

static void see_block(look *l, const kj_tblock *b)
{
    inside in = enter(l, b, false);
    l->in = &in;
    see_list(l, b->body);
    l->in = in.up;
}

static bool see(look *l, const kj_texpr *e);

/* What is evaluated only when a condition says so. */
static bool see_arm(look *l, bool condition, const kj_texpr *e)
{
    bool above = l->news;
    l->news |= condition;
    bool news = see(l, e);
    l->news = above;
    return news;
}

/* May the expression's value be news? */
static bool see(look *l, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    bool news = false;
    if (e->kind == KJ_TE_LOGIC) {
        news = see(l, e->u.logic.lhs);
        return see_arm(l, news, e->u.logic.rhs) || news;
    }
    if (e->kind == KJ_TE_SELECT) {
        news = see(l, e->u.select.test);
        bool yes = see_arm(l, news, e->u.select.yes), no = see_arm(l, news, e->u.select.no);
        return news || yes || no;
    }
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        news |= see(l, operands[i]);
    if (l->own && finds_of_others(l, e))
        news = false; /* where it looks for that may be its own */
    switch (e->kind) {
    case KJ_TE_VAR: return l->var[e->u.var->id];
    case KJ_TE_INDEX: return l->own && is_own_index(e);
    case KJ_TE_ATOMIC: set(l, &l->ordered, true); return news || tells(l, e);
    case KJ_TE_LOAD:
        return news || is_fetched(l, e->u.load.array) || l->element[e->u.load.array->root->id];
    case KJ_TE_CALL:
        set(l, &l->ordered, kj_builtins[e->u.call.id].how == KJ_HOW_FENCE); /* nanosleep too */
        return news || (l->own && kj_builtins[e->u.call.id].how == KJ_HOW_WARP);
    case KJ_TE_INLINE: see_block(l, e->u.inline_.block); return l->var[e->u.inline_.result->id];
    default: return news;
    }
}

static void see_under(look *l, bool news, const kj_tstmt *body)
{
    bool above = l->news;
    l->news |= news;
    see_list(l, body);
    l->news = above;
}

static void see_loop(look *l, const kj_tstmt *s)
{
    inside in = enter(l, s, true);
    l->in = &in;
    if (s->kind == KJ_TS_WHILE) {
        bool ends = see(l, s->u.while_.test);
        l->waits |= ends && !in.up;
        see_under(l, ends, s->u.while_.body);
    } else {
        bool turns = see(l, s->u.for_.start);
        turns |= see(l, s->u.for_.stop);
        turns |= see(l, s->u.for_.step);
        turns &= in.up != NULL; /* the loop itself has them from before */
        set(l, &l->var[s->u.for_.var->id], turns);
        see_under(l, turns, s->u.for_.body);
    }
    l->in = in.up;
}

/* A way out of `of`, of the nearest loop where that is NULL, and of all within. Who goes on with the loop has left what
 * follows in its turn alone: all come to the next one. */
static void see_exit(look *l, const void *of, bool goes_on)
{
    if (!is_some(l))
        return;
    inside *in = l->in;
    for (; in && (of ? in->of != of : !in->loop); in = in->up)
        part(l, in);
    if (in && goes_on)
        in->rest = true;
    else if (in)
        part(l, in);
    l->waits |= !in || (!in->up && !goes_on);
}

static bool see_place(look *l, const kj_tarray *a, kj_texpr *const *index)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    bool news = false;
    for (int i = 0, n = kj_access_operands(a, index, operands); i < n; i++)
        news |= see(l, operands[i]);
    return news;
}

static void see_stmt(look *l, const kj_tstmt *s)
{
    bool under = is_some(l);
    switch (s->kind) {
    case KJ_TS_DECL:
        if (s->u.decl.init)
            set(l, &l->var[s->u.decl.var->id], see(l, s->u.decl.init));
        break;
    case KJ_TS_ASSIGN:
        set(l, &l->var[s->u.assign.var->id], see(l, s->u.assign.value) || under);
        break;
    case KJ_TS_STORE:
        under |= see_place(l, s->u.store.array, s->u.store.index);
        under |= see(l, s->u.store.value);
        if (s->u.store.array->root->space == KJ_LOCAL)
            set(l, &l->element[s->u.store.array->root->id], under);
        break;
    case KJ_TS_EXPR: see(l, s->u.expr); break;
    case KJ_TS_IF: {
        bool news = see(l, s->u.if_.test);
        see_under(l, news, s->u.if_.yes);
        see_under(l, news, s->u.if_.no);
        break;
    }
    case KJ_TS_FOR:
    case KJ_TS_WHILE: see_loop(l, s); break;
    case KJ_TS_BREAK: see_exit(l, NULL, false); break;
    case KJ_TS_CONTINUE: see_exit(l, NULL, true); break;
    case KJ_TS_LEAVE:
        if (s->u.leave != l->kernel)
            see_exit(l, s->u.leave, false);
        break;
    case KJ_TS_INLINE: see_block(l, s->u.block); break;
    case KJ_TS_LAUNCH:
        for (int i = 0; i < s->u.launch.nvalues; i++)
            see(l, s->u.launch.values[i]);
        set(l, &l->var[s->u.launch.result->id], true);
        break;
    case KJ_TS_BARRIER: /* in a loop of which every thread takes every turn */
        if (s->u.barrier.arg)
            see(l, s->u.barrier.arg);
        break;
    case KJ_TS_REPORT:
        for (int i = 0; i < s->u.report.site->nvalues; i++)
            see(l, s->u.report.values[i]);
        break;
    case KJ_TS_ARRAY: break;
    }
}

static void see_list(look *l, const kj_tstmt *s)
{
    for (; s; s = s->next)
        see_stmt(l, s);
}

static void know_nothing(look *l, const kj_tkernel *kernel)
{
    l->var = KJ_NEW_ARRAY(l->arena, bool, (size_t)kernel->nvars + 1);
    l->element = KJ_NEW_ARRAY(l->arena, bool, (size_t)kernel->nroots + 1);
}

static bool loop_waits(const look *as, const kj_tkernel *kernel, const kj_tstmt *loop)
{
    look l = *as;
    if (!l.var)
        know_nothing(&l, kernel);
    do {
        l.changed = false;
        see_loop(&l, loop);
    } while (l.changed && !l.waits);
    return l.waits;
}

typedef struct search {
    look as;
    const kj_tkernel *kernel;
    const kj_tstmt *found;
} search;

static bool tells_nothing(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    (void)ctx;
    (void)s;
    if (e && e->kind == KJ_TE_LOAD)
        return !kj_is_fetched_again(e->u.load.array);
    return !e || (e->kind != KJ_TE_ATOMIC &&
                  (e->kind != KJ_TE_CALL || kj_builtins[e->u.call.id].how != KJ_HOW_FENCE));
}

/* Do its threads go different ways by what atomics gave, or has it an atomic, a fence or a load that is fetched again
 * itself? */
static bool may_wait(const kj_tstmt *loop)
{
    return (loop->divergence & KJ_DEP_ATOMIC) || !kj_walk(loop, loop->next, tells_nothing, NULL);
}

static bool visit_loop(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *f = ctx;
    bool loop = !e && (s->kind == KJ_TS_FOR || s->kind == KJ_TS_WHILE);
    /* Threads go together through one that holds an operation of a warp. */
    if (loop && !kj_warp_operation(s, s->next) && may_wait(s) && loop_waits(&f->as, f->kernel, s))
        f->found = s;
    return !f->found;
}

static search begin(kj_arena *arena, const kj_tkernel *kernel, bool plain)
{
    look as = {.arena = arena, .tells = is_atomic, .plain = plain};
    return (search){.as = as, .kernel = kernel};
}

/* One that waits by plain loads has no right to: beside an operation of a warp it is none. */
const kj_tstmt *kj_find_spin(kj_arena *arena, const kj_tkernel *kernel, const kj_tstmt *s,
                             const kj_tstmt *end)
{
    search f = begin(arena, kernel, !kj_warp_operation(s, end));
    kj_walk(s, end, visit_loop, &f);
    return f.found;
}

const kj_tstmt *kj_find_own_spin(kj_arena *arena, const kj_tkernel *kernel, const kj_tstmt *s)
{
    search f = begin(arena, kernel, !kj_own_warp_operation(s));
    kj_walk_own(s, visit_loop, &f);
    return f.found;
}

bool kj_may_spin(kj_arena *arena, const kj_tkernel *kernel)
{
    search f = begin(arena, kernel, true);
    kj_walk(kernel->body->body, NULL, visit_loop, &f);
    return f.found;
}

bool kj_waits_by_loads(kj_arena *arena, const kj_tkernel *kernel, const kj_tstmt *loop,
                       const kj_tarray *only)
{
    look as = {.arena = arena, .only = only};
    return may_wait(loop) && loop_waits(&as, kernel, loop);
}

bool kj_ends_by_loads(kj_arena *arena, const kj_tkernel *kernel, const kj_tstmt *loop,
                      const kj_tarray *only)
{
    look as = {.arena = arena, .only = only, .plain = true};
    return loop_waits(&as, kernel, loop);
}

bool kj_ends_by_atomics(kj_arena *arena, const kj_tkernel *kernel, const kj_tstmt *loop,
                        const kj_tarray *only)
{
    look as = {.arena = arena, .only = only, .tells = is_atomic, .deaf = true};
    return loop_waits(&as, kernel, loop);
}

bool kj_is_poll(const kj_texpr *e)
{
    const kj_texpr *v = e->kind == KJ_TE_ATOMIC ? e->u.atomic.args[0] : NULL;
    bool adds = v && (e->u.atomic.id == KJ_BI_ATOMIC_ADD || e->u.atomic.id == KJ_BI_ATOMIC_OR ||
                      e->u.atomic.id == KJ_BI_ATOMIC_XOR);
    return adds && v->kind == KJ_TE_CONST && v->u.value.u == 0;
}

static bool takes(const kj_texpr *e)
{
    return !kj_is_poll(e);
}

const kj_owned *kj_find_owned(kj_arena *arena, const kj_tkernel *kernel)
{
    look l = {.arena = arena, .tells = takes, .deaf = true, .own = true, .kernel = kernel->body};
    know_nothing(&l, kernel);
    do {
        l.changed = false;
        see_block(&l, kernel->body);
    } while (l.changed);
    kj_owned *out = KJ_NEW(arena, kj_owned);
    *out = (kj_owned){l.var, l.element};
    return out;
}

bool kj_ends_by_own(kj_arena *arena, const kj_tkernel *kernel, const kj_owned *owned,
                    const kj_tstmt *loop)
{
    look as = {.arena = arena,
               .tells = takes,
               .deaf = true,
               .own = true,
               .var = owned->var,
               .element = owned->element};
    return loop_waits(&as, kernel, loop);
}

bool kj_waits(kj_arena *arena, const kj_tkernel *kernel, const kj_tstmt *loop)
{
    look as = {.arena = arena, .tells = is_atomic};
    return may_wait(loop) && loop_waits(&as, kernel, loop);
}
