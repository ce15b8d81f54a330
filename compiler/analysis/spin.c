/* Loops that wait for other threads: a typed loop in; whether what ends it may be what another thread
 * does meanwhile.
 *
 * That takes an atomic or a fence within the loop, or a load that is fetched again each time, and an end
 * that is not settled before the first turn. A loop without the first need see nothing of others: its
 * plain loads may give in each turn what they gave in the first, but programs are written as if they did
 * not. A loop over a range that nothing leaves turns as often as it was to, whatever it sees. All others
 * may wait. */
#include "analysis/regions.h"

#include <string.h>

typedef struct look {
    bool plain;  /* do plain loads count? */
    bool sees;   /* it has what brings others' stores to this thread */
    bool leaves; /* it has a way out besides its end */
} look;

static bool load_sees(const look *l, const kj_tarray *array)
{
    bool again =
        array->cache && (strcmp(array->cache, "cv") == 0 || strcmp(array->cache, "cg") == 0);
    kj_space space = array->root->space;
    return again || (l->plain && (space == KJ_GLOBAL || space == KJ_SHARED));
}

static bool visit(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    look *l = ctx;
    if (!e)
        l->leaves |= s->kind == KJ_TS_BREAK || s->kind == KJ_TS_LEAVE;
    else if (e->kind == KJ_TE_ATOMIC)
        l->sees = true;
    else if (e->kind == KJ_TE_CALL)
        l->sees |= kj_builtins[e->u.call.id].how == KJ_HOW_FENCE; /* nanosleep too */
    else if (e->kind == KJ_TE_LOAD)
        l->sees |= load_sees(l, e->u.load.array);
    return !(l->sees && l->leaves);
}

bool kj_waits(const kj_tstmt *loop, bool plain)
{
    look l = {.plain = plain, .leaves = loop->kind == KJ_TS_WHILE};
    kj_walk(loop, loop->next, visit, &l);
    return l.sees && l.leaves;
}
