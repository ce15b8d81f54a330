/* Which loads decide whether threads come to a barrier? Typed AST in; out, KJ_WATCH_DECIDES of their sites, for
 * code that is checked for races.
 *
 * What a thread reads beside a store that all may make alike is the value before or that one, and mostly either is fine. It
 * is not where the threads of a block that read one of each go on to different barriers. So this is about the conditions
 * of what holds a barrier, of what leaves it, and all that these are made of: the values of variables, and
 * what decides which of them they have. A vote is one for all threads, whatever each of them has read; and a thread
 * that returns from its kernel is waited for by nobody. */
#include "analysis/uniform.h"

/* A construct around what is looked at. */
typedef struct around {
    struct around *up;
    const void *of; /* the block that leaves may be for; NULL: no block */
    bool loop;
    bool barrier;             /* one stands in it */
    bool behind;              /* and one behind what is looked at */
    const kj_texpr *tests[3]; /* what decides how often it runs */
    bool decides;             /* these do: that has been followed */
} around;

typedef struct given {
    const struct given *next;
    const kj_texpr *value;
    around *up;
} given;

typedef struct deciding {
    kj_arena *arena;
    const given **given; /* by kj_var.id: what it is assigned */
    bool *decides;       /* its value does */
    const kj_var **todo;
    int ntodo;
    uint16_t *flags;
} deciding;

/* ---- What decides ---- */

static void decide_var(deciding *w, const kj_var *v)
{
    if (!w->decides[v->id])
        w->todo[w->ntodo++] = v;
    w->decides[v->id] = true;
}

static void decide(deciding *w, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    if (e->kind == KJ_TE_VAR)
        decide_var(w, e->u.var);
    else if (e->kind == KJ_TE_INLINE)
        decide_var(w, e->u.inline_.result);
    else if (e->kind == KJ_TE_LOAD && e->u.load.array->watch)
        w->flags[e->u.load.array->watch->id] |= KJ_WATCH_DECIDES;
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        decide(w, operands[i]);
}

static void decide_tests(deciding *w, around *a)
{
    bool before = a->decides;
    a->decides = true;
    for (int i = 0; i < 3 && a->tests[i] && !before; i++)
        decide(w, a->tests[i]);
}

static void decide_given(deciding *w)
{
    while (w->ntodo) {
        const kj_var *v = w->todo[--w->ntodo];
        for (const given *g = w->given[v->id]; g; g = g->next) {
            decide(w, g->value);
            for (around *a = g->up; a; a = a->up)
                decide_tests(w, a);
        }
    }
}

/* ---- What is left ---- */

/* Is a barrier passed over on the way to the end of the block, or of the nearest loop, where that is NULL; or of a turn
 * of it? */
static bool passes_to(const around *up, const void *block, bool again)
{
    bool passed = false;
    for (const around *a = up; a; a = a->up) {
        bool last = block ? a->of == block : a->loop;
        passed |= a->behind || (a->loop && a->barrier && !(last && again));
        if (last)
            return passed;
    }
    return false; /* it is left within, or is the kernel */
}

/* Do these statements leave what is around them so, or around the loop that they stand in? */
static bool pass(const kj_tstmt *s, const around *up, bool in_loop)
{
    bool any = false;
    for (; s && !any; s = s->next) {
        switch (s->kind) {
        case KJ_TS_BREAK:
        case KJ_TS_CONTINUE:
            any = !in_loop && passes_to(up, NULL, s->kind == KJ_TS_CONTINUE);
            break;
        case KJ_TS_LEAVE: any = passes_to(up, s->u.leave, false); break;
        case KJ_TS_IF:
            any = pass(s->u.if_.yes, up, in_loop) || pass(s->u.if_.no, up, in_loop);
            break;
        case KJ_TS_FOR: any = pass(s->u.for_.body, up, true); break;
        case KJ_TS_WHILE: any = pass(s->u.while_.body, up, true); break;
        case KJ_TS_INLINE: any = pass(s->u.block->body, up, true); break;
        default: break;
        }
    }
    return any;
}

/* ---- The walk ---- */

static void see_list(deciding *w, const kj_tstmt *s, around *in);

static around *enter(deciding *w, around *up, const kj_tstmt *s)
{
    around *in = KJ_NEW(w->arena, around);
    in->up = up;
    in->barrier = s && s->barrier;
    return in;
}

static void see_block(deciding *w, const kj_tblock *block, around *up)
{
    around *in = enter(w, up, NULL);
    in->of = block;
    see_list(w, block->body, in);
}

static void see_value(deciding *w, const kj_texpr *e, around *up)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        see_value(w, operands[i], up);
    if (e->kind == KJ_TE_INLINE)
        see_block(w, e->u.inline_.block, up);
}

static void give(deciding *w, const kj_var *v, const kj_texpr *value, around *up)
{
    given *g = KJ_NEW(w->arena, given);
    *g = (given){w->given[v->id], value, up};
    w->given[v->id] = g;
}

static void see_if(deciding *w, const kj_tstmt *s, around *up)
{
    around *in = enter(w, up, s);
    see_value(w, s->u.if_.test, up);
    in->tests[0] = s->u.if_.test;
    if (s->barrier || pass(s->u.if_.yes, up, false) || pass(s->u.if_.no, up, false))
        decide_tests(w, in);
    see_list(w, s->u.if_.yes, in);
    see_list(w, s->u.if_.no, in);
}

static void see_loop(deciding *w, const kj_tstmt *s, const kj_tstmt *body, around *in)
{
    in->loop = true;
    if (s->barrier || pass(body, in->up, true))
        decide_tests(w, in);
    see_list(w, body, in);
}

static void see_for(deciding *w, const kj_tstmt *s, around *up)
{
    around *in = enter(w, up, s);
    in->tests[0] = s->u.for_.start;
    in->tests[1] = s->u.for_.stop;
    in->tests[2] = s->u.for_.step;
    for (int i = 0; i < 3; i++)
        see_value(w, in->tests[i], up);
    give(w, s->u.for_.var, s->u.for_.start, in);
    see_loop(w, s, s->u.for_.body, in);
}

static void see_while(deciding *w, const kj_tstmt *s, around *up)
{
    around *in = enter(w, up, s);
    in->tests[0] = s->u.while_.test;
    see_value(w, s->u.while_.test, up);
    see_loop(w, s, s->u.while_.body, in);
}

static void see_values(deciding *w, kj_texpr *const *values, int n, around *up)
{
    for (int i = 0; i < n; i++)
        see_value(w, values[i], up);
}

static void see_given(deciding *w, const kj_var *v, const kj_texpr *value, around *up)
{
    see_value(w, value, up);
    give(w, v, value, up);
}

static void see_store(deciding *w, const kj_tstmt *s, around *up)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    for (int i = 0, n = kj_access_operands(s->u.store.array, s->u.store.index, operands); i < n;
         i++)
        see_value(w, operands[i], up);
    see_value(w, s->u.store.value, up);
}

static void see(deciding *w, const kj_tstmt *s, around *up)
{
    switch (s->kind) {
    case KJ_TS_DECL:
        if (s->u.decl.init)
            see_given(w, s->u.decl.var, s->u.decl.init, up);
        break;
    case KJ_TS_ASSIGN: see_given(w, s->u.assign.var, s->u.assign.value, up); break;
    case KJ_TS_STORE: see_store(w, s, up); break;
    case KJ_TS_EXPR: see_value(w, s->u.expr, up); break;
    case KJ_TS_IF: see_if(w, s, up); break;
    case KJ_TS_FOR: see_for(w, s, up); break;
    case KJ_TS_WHILE: see_while(w, s, up); break;
    case KJ_TS_INLINE: see_block(w, s->u.block, up); break;
    case KJ_TS_BARRIER:
        if (s->u.barrier.arg)
            see_value(w, s->u.barrier.arg, up);
        break;
    case KJ_TS_REPORT: see_values(w, s->u.report.values, s->u.report.site->nvalues, up); break;
    case KJ_TS_LAUNCH: see_values(w, s->u.launch.values, s->u.launch.nvalues, up); break;
    case KJ_TS_ARRAY:
    case KJ_TS_BREAK:
    case KJ_TS_CONTINUE:
    case KJ_TS_LEAVE: break;
    }
}

static void see_list(deciding *w, const kj_tstmt *s, around *in)
{
    const kj_tstmt *last = NULL; /* that holds a barrier */
    for (const kj_tstmt *t = s; t; t = t->next)
        last = t->barrier ? t : last;
    in->behind = last != NULL;
    for (; s; s = s->next) {
        in->behind &= s != last;
        see(w, s, in);
    }
}

void kj_find_deciding(kj_arena *arena, const kj_tkernel *kernel, uint16_t *flags)
{
    size_t vars = (size_t)kernel->nvars + 1;
    if (!kernel->body->barrier)
        return;
    deciding w = {.arena = arena,
                  .given = KJ_NEW_ARRAY(arena, const given *, vars),
                  .decides = KJ_NEW_ARRAY(arena, bool, vars),
                  .todo = KJ_NEW_ARRAY(arena, const kj_var *, vars),
                  .flags = flags};
    see_list(&w, kernel->body->body, enter(&w, NULL, NULL));
    decide_given(&w);
}
