/* Operations of a warp and loops that wait for other threads, on a CPU: statements in, barriers of the block between the
 * two.
 *
 * A loop that waits runs thread after thread, and with it all of its region, where no warp is together. So a list of
 * statements that has both is cut in front of the one that brings the other kind, as if the source had syncthreads()
 * there. A statement that holds both is cut within, or between its condition and what stands under that. The barrier is
 * none of the program's: it orders nothing for those who look for races, and a thread that does not come to it is not
 * missed. What stays in one region is told by kj_check_warps: an expression that has both, and an operation at which a
 * lock is held. The threads that wait for that lock would never come to a barrier. */
#include <string.h>

#include "analysis/regions.h"

typedef struct parting {
    kj_arena *arena;
    const kj_tkernel *kernel;
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
    bool swaps; /* by a compare and swap, or an exchange; else by loads */
} waited;

static bool is_swap(const kj_texpr *e)
{
    return e && e->kind == KJ_TE_ATOMIC &&
           (e->u.atomic.id == KJ_BI_ATOMIC_CAS || e->u.atomic.id == KJ_BI_ATOMIC_EXCH);
}

static bool finds_swap(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    waited *w = ctx;
    (void)s;
    w->swaps |= is_swap(e);
    return !w->swaps;
}

static bool note_waited(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    waited *w = ctx;
    (void)s;
    if (w->swaps && is_swap(e))
        w->root[e->u.atomic.array->root->id] = true;
    bool *root = e && e->kind == KJ_TE_LOAD ? &w->root[e->u.load.array->root->id] : NULL;
    if (!w->swaps && root && !*root)
        *root = kj_ends_by_loads(w->in->arena, w->in->kernel, w->loop, e->u.load.array);
    return true;
}

static bool changes_none(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    const waited *w = ctx;
    const kj_tarray *a = e ? (e->kind == KJ_TE_ATOMIC ? e->u.atomic.array : NULL)
                           : (s->kind == KJ_TS_STORE ? s->u.store.array : NULL);
    return !a || !w->root[a->root->id];
}

typedef struct countdown {
    const kj_var *var;
    bool lasts; /* something may keep the loop from its end */
} countdown;

/* n = n - 1, or by another constant. */
static bool is_step(const kj_tstmt *s, const kj_var *v)
{
    const kj_texpr *value =
        s->kind == KJ_TS_ASSIGN && s->u.assign.var == v ? s->u.assign.value : NULL;
    return value && value->kind == KJ_TE_BINARY && value->u.binary.op == KJ_OP_SUB &&
           value->u.binary.lhs->kind == KJ_TE_VAR && value->u.binary.lhs->u.var == v &&
           value->u.binary.rhs->kind == KJ_TE_CONST && value->u.binary.rhs->u.value.i > 0;
}

static bool find_lasting(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    countdown *c = ctx;
    bool assigns = !e && s->kind == KJ_TS_ASSIGN && s->u.assign.var == c->var;
    c->lasts |= (assigns && !is_step(s, c->var)) || (!e && s->kind == KJ_TS_CONTINUE);
    return !c->lasts;
}

/* Is `test` false when a number that each of the loop's turns makes less is at its end? One that comes there without
 * wrapping: of a signed type, and to 0 or above. */
static bool is_counted_down(const kj_tstmt *loop, const kj_texpr *test)
{
    if (test->kind == KJ_TE_LOGIC && !test->u.logic.is_or)
        return is_counted_down(loop, test->u.logic.lhs) || is_counted_down(loop, test->u.logic.rhs);
    bool compares = test->kind == KJ_TE_BINARY &&
                    (test->u.binary.op == KJ_OP_GT || test->u.binary.op == KJ_OP_GE) &&
                    test->u.binary.lhs->kind == KJ_TE_VAR &&
                    test->u.binary.rhs->kind == KJ_TE_CONST &&
                    kj_is_signed(test->u.binary.lhs->type) && test->u.binary.rhs->u.value.i >= 0;
    if (!compares)
        return false;
    countdown c = {.var = test->u.binary.lhs->u.var};
    const kj_tstmt *s = loop->u.while_.body;
    while (s && !is_step(s, c.var))
        s = s->next;
    kj_walk(loop->u.while_.body, NULL, find_lasting, &c);
    return s && !c.lasts;
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
        is_counted_down(s, s->u.while_.test) ||
        (w->loop && !kj_walk(w->loop, w->loop->next, is_other, (void *)(uintptr_t)s)))
        return true;
    w->swaps = false;
    w->loop = s;
    kj_walk(s, s->next, finds_swap, w);
    kj_walk(s, s->next, note_waited, w);
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
            put_barrier(p, at);
            run = s;
            parted = true;
        }
    }
    return parted;
}

void kj_set_apart(kj_arena *arena, const kj_tkernel *kernel)
{
    parting p = {.arena = arena, .kernel = kernel};
    if (mixes(&p, kernel->body->body, NULL))
        kernel->body->barrier |= part_list(&p, &kernel->body->body);
}
