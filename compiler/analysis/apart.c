/* Operations of a warp and loops that wait for other threads, on a CPU: statements in, barriers of the block between the
 * two.
 *
 * A loop that waits runs thread after thread, and with it all of its region, where no warp is together. So a list of
 * statements that has both is cut in front of the one that brings the other kind, as if the source had syncthreads()
 * there. A statement that holds both is cut within, or between its condition and what stands under that. What stays
 * in one region is told by kj_check_warps: an expression that has both. The barrier is none of the program's: it orders
 * nothing for those who look for races, and a thread that does not come to it is not missed. */
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

static bool finds_atomic(void *found, const kj_tstmt *s, const kj_texpr *e)
{
    (void)s;
    *(bool *)found |= e && e->kind == KJ_TE_ATOMIC;
    return !*(bool *)found;
}

/* An atomic beside an operation of a warp may be what gives a lock back that was taken in front. */
static bool gives_back(const kj_tstmt *s)
{
    bool found = false;
    if (kj_own_warp_operation(s))
        kj_walk_own(s, finds_atomic, &found);
    return found;
}

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
        bool both = mixes(p, s, s->next);
        if (both && part_within(p, s))
            parted = true;
        if (both || s->barrier) {
            run = s->next;
        } else if (!gives_back(s) && mixes(p, run, s->next)) {
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
