/* Which loops go by strips: those over a row of each thread's, as `for k in range(a.shape[1]) { s += a[i, k] }`.
 *
 * In such a loop an access walks: its place is one element further in each turn. A strip's loads are made in front of
 * its turns, so nothing in the turns may decide whether a load is made: neither conditions around it, nor what ends
 * the loop or a thread, nor a check that ends the launch and without which the load's place is not known to be inside.
 * What the turns store may be what is loaded ahead; that is looked at when the loop is run (strip_allow.c), for
 * which the stores are listed here. */
#include "analysis/limits.h"
#include "lower/gang/strip.h"

enum { HEAVIEST = 40 /* statements of a loop that there are two of */, MOST_CHANGED = 24 };

typedef struct search {
    const kj_lower *lo;
    const kj_var *var; /* the loop's */
    kj_strip *out;
    const kj_var *changed[MOST_CHANGED]; /* declared or assigned in the loop */
    int nchanged;
    bool refused, sometimes;
    bool within; /* a loop in the loop */
    bool narrow; /* the place that is looked at is by a sum of few bits */
} search;

/* ---- Places ---- */

enum { NO_SLOPE = -1 };

static int slope(search *f, const kj_texpr *e);

static bool is_changed(const search *f, const kj_var *v)
{
    for (int i = 0; i < f->nchanged; i++)
        if (f->changed[i] == v)
            return true;
    return false;
}

static int slope_of_var(search *f, const kj_var *v)
{
    if (v == f->var)
        return 1;
    for (int i = 0; i < f->out->nlets; i++)
        if (f->out->lets[i]->u.decl.var == v)
            return slope(f, f->out->lets[i]->u.decl.init);
    return is_changed(f, v) ? NO_SLOPE : 0;
}

/* Of what is made of operands that do not change. */
static int slope_of_operands(search *f, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        if (slope(f, operands[i]) != 0)
            return NO_SLOPE;
    return 0;
}

/* A sum of fewer than 64 bits, of either signedness, may wrap around: that is looked at when the loop is run (strip_allow.c). */
static int slope_of_sum(search *f, const kj_texpr *e)
{
    int lhs = slope(f, e->u.binary.lhs), rhs = slope(f, e->u.binary.rhs);
    bool minus = e->u.binary.op == KJ_OP_SUB;
    if (lhs < 0 || rhs < 0 || lhs + rhs > 1 || (minus && rhs))
        return lhs == 0 && rhs == 0 ? 0 : NO_SLOPE;
    f->narrow |= lhs + rhs > 0 && kj_types[e->type].size < 8;
    return lhs + rhs;
}

/* Steps that the loop does not change may be 1: that is asked when it is run, too. */
static int slope_of_product(search *f, const kj_texpr *e)
{
    const kj_texpr *i = e->u.binary.lhs, *by = e->u.binary.rhs;
    int lhs = slope(f, i), rhs = slope(f, by);
    kj_strip *out = f->out;
    if (lhs == 0 && rhs == 0)
        return 0;
    if (lhs != 1 || rhs != 0 || by->kind != KJ_TE_VAR || e->type != KJ_I64)
        return NO_SLOPE;
    for (int k = 0; k < out->nones; k++)
        if (out->ones[k]->u.var == by->u.var)
            return 1;
    if (out->nones == KJ_MOST_ONES)
        return NO_SLOPE;
    out->ones[out->nones++] = by;
    return 1;
}

/* By how much it grows when the loop's variable does by 1: 0 or 1. What it is made of can be computed in front of the
 * loop. */
static int slope(search *f, const kj_texpr *e)
{
    if (e->checked)
        return NO_SLOPE;
    switch (e->kind) {
    case KJ_TE_CONST:
    case KJ_TE_DIM:
    case KJ_TE_INDEX: return 0;
    case KJ_TE_VAR: return slope_of_var(f, e->u.var);
    case KJ_TE_CONVERT:
        return kj_keeps_value(e) ? slope(f, e->u.unary.arg) : slope_of_operands(f, e);
    case KJ_TE_BINARY:
        return e->u.binary.op == KJ_OP_ADD || e->u.binary.op == KJ_OP_SUB ? slope_of_sum(f, e)
               : e->u.binary.op == KJ_OP_MUL                              ? slope_of_product(f, e)
                                                                          : slope_of_operands(f, e);
    case KJ_TE_UNARY:
    case KJ_TE_SELECT:
    case KJ_TE_LOGIC: return slope_of_operands(f, e);
    default: return NO_SLOPE;
    }
}

static bool is_one(const kj_texpr *e)
{
    return e->kind == KJ_TE_CONST && e->u.value.i == 1;
}

/* Is it one element further in each turn? */
static bool walks(search *f, const kj_tarray *a, kj_texpr *const *index)
{
    f->narrow = false;
    int sum = a->offset ? slope(f, a->offset) : 0;
    for (int i = 0; i < a->ndim && sum >= 0; i++) {
        int by = slope(f, index[i]), stride = slope(f, a->stride[i]);
        sum = by < 0 || stride != 0 || (by > 0 && !is_one(a->stride[i])) ? NO_SLOPE : sum + by;
    }
    return sum == 1 && !a->bytes;
}

/* Is it the same in all turns? */
static bool stays(search *f, const kj_tarray *a, kj_texpr *const *index)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    for (int i = 0, n = kj_access_operands(a, index, operands); i < n; i++)
        if (slope(f, operands[i]) != 0)
            return false;
    return true;
}

static uint8_t dep_of(const kj_lower *lo, const kj_tarray *a, kj_texpr *const *index)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    uint8_t dep = 0;
    for (int i = 0, n = kj_access_operands(a, index, operands); i < n; i++)
        dep |= kj_dep(lo->deps, operands[i]);
    return dep;
}

/* ---- Accesses ---- */

static bool is_checked(search *f, const kj_tarray *a, kj_texpr *const *index)
{
    bool checked = false;
    for (const kj_index_check *c = a->checks; c; c = c->next) {
        bool left = !kj_is_hoisted(f->lo, c);
        checked |= left;
        f->out->counts |= left && kj_is_counted(f->out->loop, c, index);
    }
    return checked;
}

static void add_root(search *f, kj_roots *all, const kj_tarray *root)
{
    for (int i = 0; i < all->n; i++)
        if (all->root[i] == root)
            return;
    if (all->n == KJ_MOST_ROOTS)
        f->refused = true;
    else
        all->root[all->n++] = root;
}

/* In the order of execution. Threads' own arrays and shared ones are none of the launch's. */
static void see_access(search *f, const kj_tarray *a, kj_texpr *const *index, bool stores)
{
    kj_strip *out = f->out;
    bool global = a->root->space == KJ_GLOBAL;
    bool checked = is_checked(f, a, index),
         candidate = !checked && (global || (!stores && a->root->space == KJ_CONST));
    out->fails |= checked;
    for (int i = 0; i < out->nwalks; i++) /* an expression that stands in two places */
        f->refused |= out->walks[i].index == index;
    if (f->refused)
        return;
    if (candidate && !f->within && out->nwalks < KJ_MOST_WALKS && walks(f, a, index))
        out->walks[out->nwalks++] = (kj_along){.array = a,
                                               .index = index,
                                               .dep = dep_of(f->lo, a, index),
                                               .stores = stores,
                                               .always = !f->sometimes,
                                               .narrow = f->narrow};
    else {
        out->strays |= !stays(f, a, index);
        if (global)
            add_root(f, stores ? &out->stored : &out->loaded, a->root);
    }
}

static void see(search *f, const kj_texpr *e);

/* Only some threads come there, or none. */
static void see_sometimes(search *f, const kj_texpr *e)
{
    bool before = f->sometimes;
    f->sometimes = true;
    see(f, e);
    f->sometimes = before;
}

static void see_operands(search *f, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        see(f, operands[i]);
}

static void see(search *f, const kj_texpr *e)
{
    f->refused |= e->checked != NULL;
    switch (e->kind) {
    case KJ_TE_LOGIC:
        see(f, e->u.logic.lhs);
        see_sometimes(f, e->u.logic.rhs);
        break;
    case KJ_TE_SELECT:
        see(f, e->u.select.test);
        see_sometimes(f, e->u.select.yes);
        see_sometimes(f, e->u.select.no);
        break;
    case KJ_TE_CALL:
        f->refused |= kj_builtins[e->u.call.id].how == KJ_HOW_WARP || e->type == KJ_VOID;
        see_operands(f, e);
        break;
    case KJ_TE_ATOMIC:
    case KJ_TE_INLINE: f->refused = true; break;
    case KJ_TE_LOAD:
        see_operands(f, e);
        see_access(f, e->u.load.array, e->u.load.index, false);
        break;
    default: see_operands(f, e);
    }
}

static void see_store(search *f, const kj_tstmt *s)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    for (int i = 0, n = kj_access_operands(s->u.store.array, s->u.store.index, operands); i < n;
         i++)
        see(f, operands[i]);
    see(f, s->u.store.value);
    see_access(f, s->u.store.array, s->u.store.index, true);
}

/* One that a place may be made of. */
static void see_let(search *f, const kj_tstmt *s)
{
    kj_strip *out = f->out;
    bool let = s->u.decl.init && !s->u.decl.var->mutable && !f->sometimes &&
               kj_is_int(s->u.decl.var->type) && slope(f, s->u.decl.init) >= 0;
    if (let && out->nlets < KJ_MOST_LETS)
        out->lets[out->nlets++] = s;
}

static void see_list(search *f, const kj_tstmt *s);

/* One in it, which has none in it and no strips. */
static void see_loop(search *f, const kj_tstmt *s)
{
    kj_strip *inner = KJ_NEW(f->lo->arena, kj_strip);
    bool before = f->sometimes, is_for = s->kind == KJ_TS_FOR;
    f->refused |= f->within || (is_for && kj_strip_find(f->lo, s, inner));
    f->within = f->sometimes = true;
    if (is_for) {
        see(f, s->u.for_.start);
        see(f, s->u.for_.stop);
        see(f, s->u.for_.step);
    } else {
        see(f, s->u.while_.test);
    }
    see_list(f, is_for ? s->u.for_.body : s->u.while_.body);
    f->within = false;
    f->sometimes = before;
}

static void see_list(search *f, const kj_tstmt *s)
{
    bool before = f->sometimes;
    for (; s && !f->refused; s = s->next) {
        switch (s->kind) {
        case KJ_TS_DECL:
            if (s->u.decl.init)
                see(f, s->u.decl.init);
            see_let(f, s);
            break;
        case KJ_TS_ASSIGN: see(f, s->u.assign.value); break;
        case KJ_TS_STORE: see_store(f, s); break;
        case KJ_TS_EXPR: see(f, s->u.expr); break;
        case KJ_TS_IF:
            see(f, s->u.if_.test);
            f->sometimes = true;
            see_list(f, s->u.if_.yes);
            see_list(f, s->u.if_.no);
            f->sometimes = before;
            break;
        case KJ_TS_FOR:
        case KJ_TS_WHILE: see_loop(f, s); break;
        default: f->refused = true;
        }
    }
}

/* ---- Loops ---- */

static bool find_changed(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *f = ctx;
    const kj_var *v = e                         ? NULL
                      : s->kind == KJ_TS_DECL   ? s->u.decl.var
                      : s->kind == KJ_TS_ASSIGN ? s->u.assign.var
                      : s->kind == KJ_TS_FOR    ? s->u.for_.var
                                                : NULL;
    if (v && f->nchanged < MOST_CHANGED)
        f->changed[f->nchanged++] = v;
    else if (v)
        f->refused = true;
    return !f->refused;
}

/* How many turns make a strip, as all threads take one after the other together; 0: it has none. */
static int length_of(const kj_lower *lo, const kj_tstmt *s)
{
    kj_turns turns;
    if (!kj_steps_by_one(s->u.for_.step) || lo->kernel->checks & ~(unsigned)KJ_CHECK_BOUNDS)
        return 0;
    if (!kj_known_turns(s, &turns) || turns.n >= KJ_STRIP)
        return KJ_STRIP;
    return turns.n >= KJ_STRIP / 2 ? KJ_STRIP / 2 : turns.n >= KJ_STRIP / 4 ? KJ_STRIP / 4 : 0;
}

/* Has an access whose lanes are in rows of their own? */
static bool has_rows(const kj_strip *strip, const kj_lower *lo)
{
    for (int i = 0; i < strip->nwalks; i++) {
        const kj_along *w = &strip->walks[i];
        if (w->always && kj_lanes_of(lo, w->dep) > 1 &&
            kj_has_strips(lo, w->array->elem, strip->length))
            return true;
    }
    return false;
}

bool kj_strip_find(const kj_lower *lo, const kj_tstmt *loop, kj_strip *out)
{
    search f = {.lo = lo, .var = loop->u.for_.var, .out = out};
    const kj_tstmt *body = loop->u.for_.body;
    *out = (kj_strip){.loop = loop};
    if (lo->lanes == 1 || lo->slots == lo->home || lo->waits || lo->strip)
        return false;
    out->length = length_of(lo, loop);
    if (!out->length || kj_cost(body, NULL, HEAVIEST) > HEAVIEST)
        return false;
    out->down = loop->u.for_.step->u.value.i < 0;
    kj_walk(body, NULL, find_changed, &f);
    if (!f.refused)
        see_list(&f, body);
    return !f.refused && has_rows(out, lo) && !kj_waits(lo->arena, lo->kernel, loop);
}
