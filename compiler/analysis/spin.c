/* Loops that wait for other threads: a typed loop in; whether what ends it may be what another thread
 * does meanwhile.
 *
 * Such is a value that an atomic gives within the loop, or a load of what threads share, and what is
 * computed from these or assigned under a condition on them. A loop that only counts to what an atomic
 * gave before it waits for nobody. */
#include "analysis/regions.h"

typedef struct search {
    uint64_t *changing; /* variables whose values others may change: bits by id */
    const kj_tstmt *loop;
    bool more;  /* a variable was added */
    bool waits; /* it ends by such a value */
} search;

/* What is being walked runs under such a condition; what a break leaves is the loop itself. */
typedef struct state {
    bool condition, own;
} state;

static void search_stmts(search *w, const kj_tstmt *s, state in);

static bool has(const search *w, const kj_var *v)
{
    return w->changing[v->id / 64] >> (v->id % 64) & 1;
}

static void set(search *w, const kj_var *v, bool changes)
{
    w->more |= changes && !has(w, v);
    if (changes)
        w->changing[v->id / 64] |= (uint64_t)1 << (v->id % 64);
}

static bool changes(search *w, const kj_texpr *e, state in)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    bool any = e->kind == KJ_TE_ATOMIC || (e->kind == KJ_TE_VAR && has(w, e->u.var));
    if (e->kind == KJ_TE_LOAD) {
        kj_space space = e->u.load.array->root->space;
        any = space == KJ_GLOBAL || space == KJ_SHARED;
    }
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        any |= changes(w, operands[i], in);
    if (e->kind == KJ_TE_INLINE) {
        search_stmts(w, e->u.inline_.block->body, in);
        any |= has(w, e->u.inline_.result);
    }
    return any;
}

/* A loop within, or the one itself. */
static void search_loop(search *w, const kj_tstmt *s, state in)
{
    bool counts = s->kind == KJ_TS_FOR, changing;
    if (counts) {
        changing = changes(w, s->u.for_.start, in) | changes(w, s->u.for_.stop, in) |
                   changes(w, s->u.for_.step, in);
        set(w, s->u.for_.var, changing);
    } else {
        changing = changes(w, s->u.while_.test, in);
        w->waits |= changing && s == w->loop;
    }
    state body = {in.condition || changing, s == w->loop};
    search_stmts(w, counts ? s->u.for_.body : s->u.while_.body, body);
}

static void search_if(search *w, const kj_tstmt *s, state in)
{
    in.condition |= changes(w, s->u.if_.test, in);
    search_stmts(w, s->u.if_.yes, in);
    search_stmts(w, s->u.if_.no, in);
}

static void search_stmt(search *w, const kj_tstmt *s, state in)
{
    switch (s->kind) {
    case KJ_TS_DECL:
        if (s->u.decl.init)
            set(w, s->u.decl.var, changes(w, s->u.decl.init, in));
        break;
    case KJ_TS_ASSIGN:
        set(w, s->u.assign.var, changes(w, s->u.assign.value, in) || in.condition);
        break;
    case KJ_TS_EXPR: changes(w, s->u.expr, in); break;
    case KJ_TS_IF: search_if(w, s, in); break;
    case KJ_TS_FOR:
    case KJ_TS_WHILE: search_loop(w, s, in); break;
    case KJ_TS_INLINE: search_stmts(w, s->u.block->body, in); break;
    case KJ_TS_BREAK: w->waits |= in.condition && in.own; break;
    case KJ_TS_LEAVE: w->waits |= in.condition; break;
    case KJ_TS_LAUNCH: set(w, s->u.launch.result, true); break;
    default: break;
    }
}

static void search_stmts(search *w, const kj_tstmt *s, state in)
{
    for (; s; s = s->next)
        search_stmt(w, s, in);
}

bool kj_waits(kj_arena *arena, const kj_tkernel *kernel, const kj_tstmt *loop)
{
    search w = {.changing = KJ_NEW_ARRAY(arena, uint64_t, (size_t)kernel->nvars / 64 + 1),
                .loop = loop};
    do {
        w.more = false;
        search_loop(&w, loop, (state){false, false});
    } while (w.more && !w.waits);
    return w.waits;
}
