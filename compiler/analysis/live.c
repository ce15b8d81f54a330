/* How many of its values a thread has at once, in registers of a gang's lanes: typed AST in, a number out.
 *
 * A variable that differs from thread to thread is there from where it is set first to where it is looked at last; one that
 * a loop finds set, and looks at, is there to the loop's end. Integers that are computed of a thread's place alone are no vectors,
 * as lanes count up by one, and bools are masks. What is there within one expression alone is not counted.
 *
 * Where there are loops of many turns, the innermost of these count, and what is touched in them: the rest is stored in front
 * of them, if need be, and loaded behind. */
#include "analysis/uniform.h"

typedef struct search {
    const kj_deps *deps;
    const kj_var **vars; /* by kj_var.id; of those that were not seen NULL */
    int *first, *last;   /* where */
    int *seen;           /* where last, whatever loops there are around */
    bool *loaded;        /* made of what stands in memory, or of a function's value */
    int nvars, at;
    bool loads;  /* the expression is */
    bool loops;  /* a loop of many turns has been seen */
    int looping; /* bytes at once in such a loop, the most */
    kj_arena *arena;
} search;

static void see_list(search *f, const kj_tstmt *s);

static void see_var(search *f, const kj_var *v)
{
    if (!f->vars[v->id])
        f->first[v->id] = f->at;
    f->vars[v->id] = v;
    f->last[v->id] = f->seen[v->id] = f->at;
}

static bool visit(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *f = ctx;
    f->at++;
    if (!e && s->kind == KJ_TS_DECL)
        see_var(f, s->u.decl.var);
    else if (!e && s->kind == KJ_TS_ASSIGN)
        see_var(f, s->u.assign.var);
    else if (e && e->kind == KJ_TE_VAR)
        see_var(f, e->u.var);
    if (e)
        f->loads |= e->kind == KJ_TE_LOAD || e->kind == KJ_TE_ATOMIC || e->kind == KJ_TE_CALL ||
                    (e->kind == KJ_TE_VAR && f->loaded[e->u.var->id]);
    return true;
}

static void see_value(search *f, const kj_tstmt *s, const kj_texpr *e)
{
    f->loads = false;
    kj_walk_expr(s, e, visit, f);
}

static void set(search *f, const kj_tstmt *s, const kj_var *v, const kj_texpr *value)
{
    f->loads = false;
    if (value)
        see_value(f, s, value);
    f->at++;
    see_var(f, v);
    f->loaded[v->id] |= f->loads;
}

/* What a lane has of it; none of masks and of places. */
static int bytes_of(const search *f, const kj_var *v)
{
    if (!(f->deps->var[v->id] & KJ_DEP_THREAD) || v->type == KJ_BOOL)
        return 0;
    if (kj_is_int(v->type) && !f->loaded[v->id])
        return 0;
    return kj_types[v->type].size;
}

/* The most bytes at once from one place to another, of what is touched there. */
static int measure(search *f, int begin, int end)
{
    int *more = KJ_NEW_ARRAY(f->arena, int, (size_t)(end - begin) + 2), now = 0, most = 0;
    for (int id = 0; id < f->nvars; id++) {
        if (!f->vars[id] || f->seen[id] < begin)
            continue;
        more[f->first[id] > begin ? f->first[id] - begin : 0] += bytes_of(f, f->vars[id]);
        more[f->last[id] - begin + 1] -= bytes_of(f, f->vars[id]);
    }
    for (int at = 0; at <= end - begin; at++) {
        now += more[at];
        most = now > most ? now : most;
    }
    return most;
}

/* So many turns that what rests meanwhile is stored and loaded for nothing. */
static bool turns_often(const kj_tstmt *s)
{
    enum { FEW = 16 };
    return s->kind == KJ_TS_WHILE || s->u.for_.start->kind != KJ_TE_CONST ||
           s->u.for_.stop->kind != KJ_TE_CONST ||
           s->u.for_.stop->u.value.i - s->u.for_.start->u.value.i > FEW;
}

static void see_loop(search *f, const kj_tstmt *s)
{
    int begin = f->at;
    bool above = f->loops;
    f->loops = false;
    if (s->kind == KJ_TS_WHILE)
        see_value(f, s, s->u.while_.test);
    see_list(f, s->kind == KJ_TS_WHILE ? s->u.while_.body : s->u.for_.body);
    f->at++;
    for (int id = 0; id < f->nvars; id++)
        if (f->vars[id] && f->first[id] <= begin && f->last[id] > begin)
            f->last[id] = f->at;
    if (!f->loops && turns_often(s)) {
        int bytes = measure(f, begin + 1, f->at);
        f->looping = bytes > f->looping ? bytes : f->looping;
        f->loops = true;
    }
    f->loops |= above;
}

static void see_list(search *f, const kj_tstmt *s)
{
    for (; s; s = s->next) {
        switch (s->kind) {
        case KJ_TS_DECL: set(f, s, s->u.decl.var, s->u.decl.init); break;
        case KJ_TS_ASSIGN: set(f, s, s->u.assign.var, s->u.assign.value); break;
        case KJ_TS_IF:
            see_value(f, s, s->u.if_.test);
            see_list(f, s->u.if_.yes);
            see_list(f, s->u.if_.no);
            break;
        case KJ_TS_FOR:
            see_value(f, s, s->u.for_.start);
            see_value(f, s, s->u.for_.stop);
            see_loop(f, s);
            break;
        case KJ_TS_WHILE: see_loop(f, s); break;
        case KJ_TS_INLINE: see_list(f, s->u.block->body); break;
        default: kj_walk(s, s->next, visit, f);
        }
    }
}

int kj_live_values(kj_arena *arena, const kj_tkernel *k, const kj_deps *deps)
{
    size_t n = (size_t)k->nvars + 1;
    search f = {.arena = arena,
                .deps = deps,
                .vars = KJ_NEW_ARRAY(arena, const kj_var *, n),
                .first = KJ_NEW_ARRAY(arena, int, n),
                .last = KJ_NEW_ARRAY(arena, int, n),
                .seen = KJ_NEW_ARRAY(arena, int, n),
                .loaded = KJ_NEW_ARRAY(arena, bool, n),
                .nvars = k->nvars};
    see_list(&f, k->body->body);
    int bytes = f.loops ? f.looping : measure(&f, 0, f.at);
    return (bytes + 3) / 4;
}
