/* Loops that wait for other threads: a typed loop in; whether what ends it may be what another thread
 * does meanwhile.
 *
 * That takes an atomic within the loop, or a load of what threads share, and an end that is not
 * settled before the first turn. A loop without the first sees nothing of others; one over a range that
 * nothing leaves turns as often as it was to, whatever it sees. All others may wait. */
#include "analysis/regions.h"

typedef struct look {
    bool sees;   /* it has an atomic or a load of shared elements */
    bool leaves; /* it has a way out besides its end */
} look;

static bool visit(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    look *l = ctx;
    if (!e) {
        l->leaves |= s->kind == KJ_TS_BREAK || s->kind == KJ_TS_LEAVE;
    } else if (e->kind == KJ_TE_ATOMIC) {
        l->sees = true;
    } else if (e->kind == KJ_TE_LOAD) {
        kj_space space = e->u.load.array->root->space;
        l->sees |= space == KJ_GLOBAL || space == KJ_SHARED;
    }
    return !(l->sees && l->leaves);
}

bool kj_waits(const kj_tstmt *loop)
{
    look l = {.leaves = loop->kind == KJ_TS_WHILE};
    kj_walk(loop, loop->next, visit, &l);
    return l.sees && l.leaves;
}
