/* Operations of a warp and loops that wait for other threads, on a CPU: statements in, barriers of the block between the
 * two.
 *
 * A loop that waits runs thread after thread, and with it all of its region, where no warp is together. So a list of
 * statements that has both is cut in front of an operation, or behind one, as if the source had syncthreads() there. A
 * statement that holds both is cut within, or between its condition and what stands under that. The barrier is none of the
 * program's: it orders nothing for those who look for races, and a thread that does not come to it is not missed. What
 * stays in one region is told by kj_check_warps: an expression that has both, and an operation at which a lock is held. The
 * threads that wait for that lock would never come to a barrier. */
#include <string.h>

#include "analysis/regions.h"

typedef struct parting {
    kj_arena *arena;
    const kj_tkernel *kernel;
    const kj_owned **owned; /* NULL there: nobody has asked yet */
} parting;

static bool part_list(const parting *p, kj_tstmt **list);

static bool mixes(const parting *p, const kj_tstmt *s, const kj_tstmt *end)
{
    return kj_warp_operation(s, end) && kj_find_spin(p->arena, p->kernel, s, end);
}

/* ---- Locks ---- */

/* The arrays, by root id, whose elements decide how long a loop waits; a lock is one of them. */
typedef struct waited {
    const parting *in;
    const kj_tstmt *loop;
    bool *root;
    bool swaps; /* what is looked for: compare and swap, and exchange; else what loads, or waits */
    bool found;
} waited;

static bool is_swap(const kj_texpr *e)
{
    return e->kind == KJ_TE_ATOMIC &&
           (e->u.atomic.id == KJ_BI_ATOMIC_CAS || e->u.atomic.id == KJ_BI_ATOMIC_EXCH);
}

/* An operation that gives nothing new when it is done again. */
static bool is_idempotent(const kj_texpr *e)
{
    kj_builtin id = e->u.atomic.id;
    return id == KJ_BI_ATOMIC_OR || id == KJ_BI_ATOMIC_AND || id == KJ_BI_ATOMIC_MIN ||
           id == KJ_BI_ATOMIC_MAX;
}

/* What a loop makes of a variable. */
typedef struct making {
    const kj_var *var;
    const kj_texpr *init;
    bool declares, assigns;
} making;

static bool find_making(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    making *m = ctx;
    if (e)
        return true;
    if (s->kind == KJ_TS_DECL && s->u.decl.var == m->var) {
        m->declares = true;
        m->init = s->u.decl.init;
    }
    m->assigns |= s->kind == KJ_TS_ASSIGN && s->u.assign.var == m->var;
    return !m->assigns;
}

/* Is it the same in each turn of the loop? */
static bool stays(const kj_tstmt *loop, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    if (e->kind == KJ_TE_ATOMIC || e->kind == KJ_TE_INLINE ||
        (e->kind == KJ_TE_LOAD && e->u.load.array->root->written))
        return false;
    if (e->kind == KJ_TE_VAR) {
        making m = {.var = e->u.var};
        kj_walk(loop, loop->next, find_making, &m);
        return !m.assigns && (!m.declares || (m.init && stays(loop, m.init)));
    }
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        if (!stays(loop, operands[i]))
            return false;
    return true;
}

/* Does each turn try the same again, to one element? What makes an element anew of what it was, or looks for a free one,
 * waits for nobody. */
static bool tries_again(const kj_tstmt *loop, const kj_texpr *e)
{
    bool again = stays(loop, e->u.atomic.args[0]);
    for (int i = 0; again && i < e->u.atomic.array->ndim; i++)
        again = stays(loop, e->u.atomic.index[i]);
    return again;
}

static bool finds_others(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    return e ? e->kind != KJ_TE_ATOMIC || e == ctx
             : s->kind != KJ_TS_STORE && s->kind != KJ_TS_LAUNCH;
}

/* Does the loop nothing else? */
static bool only_waits(const kj_tstmt *loop, const kj_texpr *e)
{
    return kj_walk(loop, loop->next, finds_others, (void *)(uintptr_t)e);
}

static bool takes_lock(const waited *w, const kj_texpr *e)
{
    const kj_tstmt *loop = w->loop;
    if (is_swap(e))
        return w->swaps && tries_again(loop, e);
    return !w->swaps &&
           (kj_is_poll(e) || (is_idempotent(e) && only_waits(loop, e) && tries_again(loop, e)));
}

/* The array that an access of the kind looked for is of, or NULL. */
static const kj_tarray *looked_for(const waited *w, const kj_texpr *e)
{
    if (e->kind == KJ_TE_LOAD)
        return w->swaps ? NULL : e->u.load.array;
    return e->kind == KJ_TE_ATOMIC && takes_lock(w, e) ? e->u.atomic.array : NULL;
}

static bool note_waited(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    waited *w = ctx;
    const parting *p = w->in;
    const kj_tarray *a = e ? looked_for(w, e) : NULL;
    (void)s;
    if (!a)
        return true;
    bool *root = &w->root[a->root->id];
    *root = *root || (e->kind == KJ_TE_LOAD ? kj_ends_by_loads(p->arena, p->kernel, w->loop, a)
                                            : kj_ends_by_atomics(p->arena, p->kernel, w->loop, a));
    w->found |= *root;
    return true;
}

static const kj_owned *owned(const parting *p)
{
    if (!*p->owned)
        *p->owned = kj_find_owned(p->arena, p->kernel);
    return *p->owned;
}

/* By loads alone it waits for a lock if what it waits for is a thread's own, as a ticket is: what all wait for lets all
 * go on. */
static void note_lock(waited *w, const kj_tstmt *loop)
{
    w->loop = loop;
    w->found = false;
    w->swaps = true;
    kj_walk(loop, loop->next, note_waited, w);
    w->swaps = false;
    if (!w->found && kj_ends_by_own(w->in->arena, w->in->kernel, owned(w->in), loop))
        kj_walk(loop, loop->next, note_waited, w);
}

static bool changes_none(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    const waited *w = ctx;
    const kj_tarray *a = e ? (e->kind == KJ_TE_ATOMIC ? e->u.atomic.array : NULL)
                           : (s->kind == KJ_TS_STORE ? s->u.store.array : NULL);
    return !a || !w->root[a->root->id];
}

/* A number that each turn of a loop brings nearer to a constant, at which it ends. */
typedef struct counting {
    const kj_var *var;    /* of a signed type */
    kj_op by;             /* KJ_OP_ADD, KJ_OP_SUB: by how much is a constant, too */
    int64_t limit;        /* to which it comes without wrapping */
    const kj_tstmt *step; /* once a turn */
    bool lasts;           /* something may keep the loop from its end */
} counting;

/* A loop, and at how many numbers of its tests there may still be looked: each is a walk through its body. */
typedef struct counted {
    const kj_tstmt *loop;
    int looks;
} counted;

/* n = n - 1, or by another constant; down to 0 or above, up to what leaves room for a step. */
static bool is_step(const kj_tstmt *s, const counting *c)
{
    const kj_texpr *value =
        s->kind == KJ_TS_ASSIGN && s->u.assign.var == c->var ? s->u.assign.value : NULL;
    if (!value || value->kind != KJ_TE_BINARY || value->u.binary.op != c->by ||
        value->u.binary.lhs->kind != KJ_TE_VAR || value->u.binary.lhs->u.var != c->var ||
        value->u.binary.rhs->kind != KJ_TE_CONST)
        return false;
    int64_t most = INT64_MAX >> (64 - 8 * kj_types[c->var->type].size);
    int64_t by = value->u.binary.rhs->u.value.i;
    return by > 0 && (c->by == KJ_OP_SUB ? c->limit >= 0 : c->limit <= most - by);
}

static bool find_lasting(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    counting *c = ctx;
    bool assigns = !e && s->kind == KJ_TS_ASSIGN && s->u.assign.var == c->var;
    bool anew = !e && s->kind == KJ_TS_DECL && s->u.decl.var == c->var;
    c->lasts |= (assigns && s != c->step) || anew;
    return !c->lasts;
}

/* May it go on with the next turn of the loop around it? */
static bool goes_on(const kj_tstmt *s)
{
    bool some = s->kind == KJ_TS_CONTINUE;
    for (const kj_tstmt *t = s->kind == KJ_TS_IF ? s->u.if_.yes : NULL; t && !some; t = t->next)
        some = goes_on(t);
    for (const kj_tstmt *t = s->kind == KJ_TS_IF ? s->u.if_.no : NULL; t && !some; t = t->next)
        some = goes_on(t);
    return some;
}

/* What follows in the loop's body, if each turn comes there. */
static const kj_tstmt *next_of_all(const kj_tstmt *s)
{
    return goes_on(s) ? NULL : s->next;
}

static bool counts(counted *f, counting c)
{
    const kj_tstmt *loop = f->loop;
    if (--f->looks < 0)
        return false;
    c.step = loop->u.while_.body;
    while (c.step && !is_step(c.step, &c))
        c.step = next_of_all(c.step);
    kj_walk(loop->u.while_.body, NULL, find_lasting, &c);
    return c.step && !c.lasts;
}

/* The number that each of the loop's turns counts and by which `test` is so, in the end and until it would wrap; NULL when
 * there is none. Two that must have come to their ends at once are one number: else the first may have wrapped by then. */
static const kj_var *comes_to(counted *f, const kj_texpr *test, bool so)
{
    if (test->kind == KJ_TE_LOGIC) {
        const kj_var *one = comes_to(f, test->u.logic.lhs, so),
                     *other = comes_to(f, test->u.logic.rhs, so);
        bool either = test->u.logic.is_or == so;
        return either ? (one ? one : other) : one == other ? one : NULL;
    }
    if (test->kind == KJ_TE_UNARY && test->u.unary.op == KJ_OP_NOT)
        return comes_to(f, test->u.unary.arg, !so);
    if (test->kind != KJ_TE_BINARY || kj_ops[test->u.binary.op].class != KJ_OPS_COMPARE)
        return NULL;
    const kj_texpr *n = test->u.binary.lhs, *limit = test->u.binary.rhs;
    kj_op op = test->u.binary.op;
    bool less = op == KJ_OP_LT || op == KJ_OP_LE, more = op == KJ_OP_GT || op == KJ_OP_GE;
    if (!less && !more)
        return NULL;
    if (n->kind == KJ_TE_CONST) {
        const kj_texpr *first = n;
        n = limit;
        limit = first;
        less = !less;
    }
    if (n->kind != KJ_TE_VAR || limit->kind != KJ_TE_CONST || !kj_is_signed(n->type))
        return NULL;
    kj_op by = less == so ? KJ_OP_SUB : KJ_OP_ADD;
    return counts(f, (counting){.var = n->u.var, .by = by, .limit = limit->u.value.i}) ? n->u.var
                                                                                       : NULL;
}

/* Does the loop end by a count, by its condition or a break that each turn comes by? */
static bool is_counted(const kj_tstmt *loop)
{
    counted f = {loop, 8};
    bool ends = comes_to(&f, loop->u.while_.test, false);
    for (const kj_tstmt *s = loop->u.while_.body; s && !ends && f.looks > 0; s = next_of_all(s)) {
        const kj_tstmt *yes = s->kind == KJ_TS_IF ? s->u.if_.yes : NULL;
        ends = yes && yes->kind == KJ_TS_BREAK && comes_to(&f, s->u.if_.test, true);
    }
    return ends;
}

static bool is_other(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    return e || s != ctx;
}

/* Each loop that waits and is in none that has been noted. One that counts takes no lock, as it ends by itself, but those
 * in it may. */
static bool note_loop(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    waited *w = ctx;
    const parting *p = w->in;
    if (e || s->kind != KJ_TS_WHILE || kj_find_spin(p->arena, p->kernel, s, s->next) != s ||
        is_counted(s) ||
        (w->loop && !kj_walk(w->loop, w->loop->next, is_other, (void *)(uintptr_t)s)))
        return true;
    note_lock(w, s);
    return true;
}

/* Is a lock that was taken in [run, s) given back only from s on? What changes its array first there is no loop that
 * waits for it anew. */
static bool holds_lock(const parting *p, const kj_tstmt *run, const kj_tstmt *s)
{
    size_t n = (size_t)p->kernel->nroots + 1;
    waited w = {.in = p, .root = KJ_NEW_ARRAY(p->arena, bool, n)};
    bool behind = false;
    for (const kj_tstmt *t = run; t; t = t->next) {
        const kj_tstmt *loop = kj_find_spin(p->arena, p->kernel, t, t->next);
        bool changes = !kj_walk(t, t->next, changes_none, &w);
        behind |= t == s;
        if (behind && changes)
            return !loop;
        if (changes)
            memset(w.root, 0, n * sizeof *w.root);
        if (!behind && loop)
            kj_walk(t, t->next, note_loop, &w);
    }
    return false;
}

/* ---- Barriers ---- */

static void put_barrier(const parting *p, kj_tstmt **at)
{
    kj_tstmt *s = KJ_NEW(p->arena, kj_tstmt);
    *s = (kj_tstmt){.kind = KJ_TS_BARRIER, .span = (*at)->span, .next = *at, .barrier = true};
    s->u.barrier.id = KJ_BI_SYNCTHREADS;
    s->u.barrier.implied = true;
    *at = s;
}

/* The statement has both, and they may be apart: one in its condition, the other in what stands under that. */
static bool part_condition(const parting *p, kj_tstmt *s, kj_tstmt **under)
{
    if (!*under || !kj_own_warp_operation(s) == !kj_find_own_spin(p->arena, p->kernel, s))
        return false;
    put_barrier(p, under);
    return true;
}

static bool part_within(const parting *p, kj_tstmt *s)
{
    bool parted = false;
    switch (s->kind) {
    case KJ_TS_IF: {
        bool yes = part_list(p, &s->u.if_.yes), no = part_list(p, &s->u.if_.no);
        parted = yes || no || part_condition(p, s, s->u.if_.yes ? &s->u.if_.yes : &s->u.if_.no);
        break;
    }
    case KJ_TS_FOR:
        parted = part_list(p, &s->u.for_.body) || part_condition(p, s, &s->u.for_.body);
        break;
    case KJ_TS_WHILE:
        parted = part_list(p, &s->u.while_.body) || part_condition(p, s, &s->u.while_.body);
        break;
    case KJ_TS_INLINE:
        parted = part_list(p, &s->u.block->body);
        s->u.block->barrier |= parted;
        break;
    default: break;
    }
    s->barrier |= parted;
    return parted;
}

/* Where the barrier goes that parts s from what is in [run, s): in front of an operation of a warp, or behind the last
 * one, so that what leads to a loop, as the taking of a ticket, runs thread after thread with it. */
static kj_tstmt **parting_of(kj_tstmt **list, const kj_tstmt *run, kj_tstmt **at)
{
    kj_tstmt **behind = at, **from = list;
    if (kj_warp_operation(*at, (*at)->next))
        return at;
    while (*from != run)
        from = &(*from)->next;
    for (; from != at; from = &(*from)->next)
        if (kj_warp_operation(*from, (*from)->next))
            behind = &(*from)->next;
    return behind;
}

static bool part_list(const parting *p, kj_tstmt **list)
{
    const kj_tstmt *run = *list; /* where the region begins */
    bool parted = false;
    for (kj_tstmt **at = list, *s; (s = *at); at = &s->next) {
        bool both = mixes(p, s, s->next), apart = !both && mixes(p, run, s->next);
        if ((both || apart) && !s->barrier && holds_lock(p, run, s))
            continue;
        if (both)
            parted |= part_within(p, s);
        if (both || s->barrier) {
            run = s->next;
        } else if (apart) {
            kj_tstmt **to = parting_of(list, run, at);
            run = *to;
            put_barrier(p, to);
            parted = true;
        }
    }
    return parted;
}

void kj_set_apart(kj_arena *arena, const kj_tkernel *kernel)
{
    const kj_owned *owned = NULL;
    parting p = {.arena = arena, .kernel = kernel, .owned = &owned};
    if (mixes(&p, kernel->body->body, NULL))
        kernel->body->barrier |= part_list(&p, &kernel->body->body);
}
