/* How much code statements become, roughly: for those who think about a second copy of them. */
#include "lower/gang/gang.h"

/* Up to `most`: what is heavier is not looked at to its end. */
typedef struct scale {
    int64_t weight, most;
} scale;

/* A call of the math library, or a load of bytes, is as much as a few statements; a test of the value
 * (value_check.c) with what tells of it, as much as many. */
static void weigh_expr(scale *w, const kj_texpr *e)
{
    enum { HEAVY = 4, TESTED = 16 };
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    bool math = e->kind == KJ_TE_CALL && kj_builtins[e->u.call.id].how == KJ_HOW_MATH;
    bool bytes = e->kind == KJ_TE_LOAD && kj_types[e->type].bits < 32;
    w->weight += (math || bytes ? HEAVY : 0) + (e->checked ? TESTED : 0);
    for (int i = 0, n = kj_operands(e, operands); i < n && w->weight <= w->most; i++)
        weigh_expr(w, operands[i]);
}

/* The turns of a loop that may be unrolled, with a body of that weight. */
static bool turns_of(const kj_tstmt *s, int64_t weight, kj_turns *out)
{
    if (!s->u.for_.unroll || !kj_known_turns(s, out) || out->step == 0)
        return false;
    return out->n <= KJ_UNROLL_TURNS && (int64_t)out->n * weight <= KJ_UNROLL_MOST;
}

static void weigh(scale *w, const kj_tstmt *s, const kj_tstmt *end);

/* A loop whose turns are apart is as heavy as all of them. */
static void weigh_for(scale *w, const kj_tstmt *s)
{
    kj_turns turns;
    int64_t before = w->weight;
    weigh(w, s->u.for_.body, NULL);
    int64_t body = w->weight - before;
    if (w->weight <= w->most && turns_of(s, body, &turns))
        w->weight = before + body * (int64_t)turns.n;
}

static void weigh(scale *w, const kj_tstmt *s, const kj_tstmt *end)
{
    for (; s != end && w->weight <= w->most; s = s->next) {
        w->weight += 1;
        if (s->kind == KJ_TS_DECL && s->u.decl.init)
            weigh_expr(w, s->u.decl.init);
        else if (s->kind == KJ_TS_ASSIGN)
            weigh_expr(w, s->u.assign.value);
        else if (s->kind == KJ_TS_STORE)
            weigh_expr(w, s->u.store.value);
        else if (s->kind == KJ_TS_IF) {
            weigh(w, s->u.if_.yes, NULL);
            weigh(w, s->u.if_.no, NULL);
        } else if (s->kind == KJ_TS_FOR)
            weigh_for(w, s);
        else if (s->kind == KJ_TS_WHILE)
            weigh(w, s->u.while_.body, NULL);
        else if (s->kind == KJ_TS_INLINE)
            weigh(w, s->u.block->body, NULL);
    }
}

int kj_cost(const kj_tstmt *s, const kj_tstmt *end, int most)
{
    scale w = {.most = most};
    weigh(&w, s, end);
    return w.weight > most ? most + 1 : (int)w.weight;
}

bool kj_unroll_turns(const kj_tstmt *s, kj_turns *out)
{
    return turns_of(s, kj_cost(s->u.for_.body, NULL, KJ_UNROLL_MOST), out);
}

/* Multiplies by the turns of a loop that has a known number of them; one that has not polls in each of
 * its own. */
static bool count_turns(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    uint64_t *product = ctx;
    kj_turns turns;
    if (e || s->kind != KJ_TS_FOR || !kj_known_turns(s, &turns) || turns.n == 0)
        return true;
    if (turns.n > KJ_FEW_TURNS || *product > KJ_FEW_TURNS)
        *product = UINT64_MAX;
    else
        *product *= turns.n;
    return *product <= KJ_FEW_TURNS;
}

bool kj_is_long(const kj_tstmt *loop)
{
    kj_turns turns;
    uint64_t product = 1;
    if (loop->kind != KJ_TS_FOR || !kj_known_turns(loop, &turns))
        return true;
    return !kj_walk(loop, loop->next, count_turns, &product);
}

typedef struct small_look {
    bool small, loops;
} small_look;

enum { WRITTEN_OUT = 4 /* turns */ };

static bool look_small(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    small_look *l = ctx;
    const kj_tarray *a = e && e->kind == KJ_TE_LOAD     ? e->u.load.array
                         : !e && s->kind == KJ_TS_STORE ? s->u.store.array
                                                        : NULL;
    l->small |= a && kj_types[a->elem].size < 4;
    kj_turns turns; /* few are written out */
    bool loop = !e && (s->kind == KJ_TS_FOR || s->kind == KJ_TS_WHILE);
    l->loops |=
        loop && !(s->kind == KJ_TS_FOR && kj_known_turns(s, &turns) && turns.n <= WRITTEN_OUT);
    return !l->loops;
}

bool kj_has_dear_masks(const kj_tstmt *s, const kj_tstmt *end)
{
    small_look l = {false, false};
    kj_walk(s, end, look_small, &l);
    return l.small && !l.loops;
}
