/* Variables that a loop's threads count in together: `i += gridsize(1)` in each turn of a loop that threads leave
 * one by one. Such a variable has a value a thread, as those that have left keep theirs; but all that are still
 * in the loop have gone as many steps, so that within it a line remains a line, and one number one number. */
#include "base/guard.h"
#include "lower/gang/gang.h"

__extension__ typedef __int128 wide;

struct kj_counter {
    kj_counter *next;
    const kj_tstmt *loop;
    const kj_var *var;
    const kj_texpr *by, *test; /* the step; what each turn begins with, v < bound, or NULL */
    kj_op op;                  /* ADD or SUB */
    kj_tile shape;             /* bounds: of all that it may be */
    kj_tile limit;             /* the test's bound, where there is one */
    kj_bounds inside;          /* behind the test, in front of the step */
    bool tested;
    LLVMValueRef at[KJ_MAX_ROWS];
};

/* ---- Which they are ---- */

typedef struct assignments {
    const kj_var *var;
    kj_lower *lo;
    int n;
} assignments;

static bool count_assignments(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    assignments *a = ctx;
    a->n += !e && s->kind == KJ_TS_ASSIGN && s->u.assign.var == a->var;
    return a->n < 2;
}

static bool forget(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    assignments *a = ctx;
    if (!e && s->kind == KJ_TS_ASSIGN)
        a->lo->slots[s->u.assign.var->id].begun = false;
    return true;
}

/* May a thread skip what follows and run the next turn? */
static bool continues(const kj_tstmt *s)
{
    for (; s; s = s->next) {
        if (s->kind == KJ_TS_CONTINUE)
            return true;
        if (s->kind == KJ_TS_IF && (continues(s->u.if_.yes) || continues(s->u.if_.no)))
            return true;
    }
    return false;
}

static bool is_var(const kj_texpr *e, const kj_var *v)
{
    return e->kind == KJ_TE_VAR && e->u.var == v;
}

/* v + by, by + v or v - by, whose step is one number for the gang. */
static bool find_step(const kj_lower *lo, const kj_tstmt *s, kj_counter *out)
{
    const kj_texpr *e = s->u.assign.value;
    out->var = s->u.assign.var;
    if (e->kind != KJ_TE_BINARY || e->checked || !kj_is_int(e->type))
        return false;
    out->op = e->u.binary.op;
    bool first = is_var(e->u.binary.lhs, out->var);
    out->by = first ? e->u.binary.rhs : e->u.binary.lhs;
    if (out->op != KJ_OP_ADD && (out->op != KJ_OP_SUB || !first))
        return false;
    uint8_t dep = kj_dep(lo->deps, out->by);
    return (first || is_var(e->u.binary.rhs, out->var)) && kj_rows_of(lo, dep) == 1 &&
           kj_lanes_of(lo, dep) == 1;
}

/* ---- What is known of them ---- */

/* Is it there in front of the loop? The step and the test can name no variables but those, and the body's own. */
static bool is_outside(const kj_var *v, const kj_tstmt *loop)
{
    const kj_tstmt *s = loop->kind == KJ_TS_WHILE ? loop->u.while_.body : loop->u.for_.body;
    for (; s; s = s->next)
        if ((s->kind == KJ_TS_DECL && s->u.decl.var == v) ||
            (s->kind == KJ_TS_LAUNCH && s->u.launch.result == v) ||
            (s->kind == KJ_TS_BARRIER && s->u.barrier.result == v))
            return false;
    return !v->mutable;
}

/* Is it made of numbers that do not change in the loop, and are there in front of it? */
static bool is_plain(const kj_texpr *e, const kj_tstmt *loop)
{
    switch (e->kind) {
    case KJ_TE_CONST:
    case KJ_TE_DIM:
    case KJ_TE_INDEX: return true;
    case KJ_TE_VAR: return e->u.var->param >= 0 || is_outside(e->u.var, loop);
    case KJ_TE_CONVERT: return is_plain(e->u.unary.arg, loop);
    case KJ_TE_BINARY:
        return !e->checked && is_plain(e->u.binary.lhs, loop) && is_plain(e->u.binary.rhs, loop);
    default: return false;
    }
}

/* The conjunct of a test that ends the counting, as v < bound or v > bound. */
static const kj_texpr *find_test(const kj_texpr *e, const kj_counter *c, kj_op *op,
                                 const kj_texpr **bound)
{
    if (e->kind == KJ_TE_LOGIC && !e->u.logic.is_or) {
        const kj_texpr *found = find_test(e->u.logic.lhs, c, op, bound);
        return found ? found : find_test(e->u.logic.rhs, c, op, bound);
    }
    if (e->kind != KJ_TE_BINARY)
        return NULL;
    bool first = is_var(e->u.binary.lhs, c->var);
    *op = first ? e->u.binary.op : kj_mirrored(e->u.binary.op);
    *bound = first ? e->u.binary.rhs : e->u.binary.lhs;
    bool ends = c->op == KJ_OP_ADD ? *op == KJ_OP_LT || *op == KJ_OP_LE
                                   : *op == KJ_OP_GT || *op == KJ_OP_GE;
    return ends && is_plain(*bound, c->loop) && (first || is_var(e->u.binary.rhs, c->var)) ? e
                                                                                           : NULL;
}

/* How far apart its values are at most: as far as they were in front of the loop. */
static wide apart_of(const kj_tile *t)
{
    if (t->rows > 1)
        return (wide)t->bounds.most - t->bounds.least;
    return t->form == KJ_LINEAR ? (wide)(t->lanes - 1) * (t->stride < 0 ? -t->stride : t->stride)
                                : 0;
}

/* Its values, from least to most of threads in the loop, and those of threads that have left, which are `apart`; false
 * if the type has not all of them. */
static bool set_bounds(kj_tile *t, wide least, wide most, wide apart)
{
    kj_bounds type = kj_type_bounds(t->type);
    least -= apart;
    most += apart;
    bool fits = least >= type.least && most <= (wide)type.most && most >= least;
    t->bounds = fits ? (kj_bounds){(int64_t)least, (uint64_t)(most < 0 ? 0 : most)} : type;
    return fits;
}

/* Finds what bounds it; false where nothing does. */
static bool bound_counter(kj_lower *lo, kj_counter *c, kj_mask m)
{
    kj_op op;
    const kj_texpr *bound;
    if (c->loop->kind == KJ_TS_WHILE && is_plain(c->by, c->loop))
        c->test = find_test(c->loop->u.while_.test, c, &op, &bound);
    if (!c->test)
        return false;
    kj_tile by = kj_lower_expr(lo, c->by, m), limit = kj_lower_expr(lo, bound, m), in = c->shape;
    wide least = c->shape.bounds.least, most = (wide)c->shape.bounds.most;
    wide last = (wide)limit.bounds.most - (op == KJ_OP_LT), step = (wide)by.bounds.most;
    wide first = (wide)limit.bounds.least + (op == KJ_OP_GT);
    c->limit = limit;
    if (by.bounds.least < 0)
        return false;
    wide apart = apart_of(&c->shape);
    bool up = c->op == KJ_OP_ADD,
         fits = up ? set_bounds(&in, least, last, apart) : set_bounds(&in, first, most, apart);
    c->inside = in.bounds;
    c->shape.even = c->shape.even < by.even ? c->shape.even : by.even;
    if (up)
        most = most > last + step ? most : last + step;
    else
        least = least < first - step ? least : first - step;
    return fits & set_bounds(&c->shape, least, most, apart);
}

/* ---- Their values ---- */

static kj_counter *new_counter(kj_lower *lo, kj_counter c, kj_mask m)
{
    const kj_slot *s = &lo->slots[c.var->id];
    c.shape = s->tile;
    bool one = c.shape.lanes == 1 && !c.shape.narrow;
    if (!s->begun || s->counter || s->rows * s->lanes == 1 || !(one || c.shape.form == KJ_LINEAR))
        return NULL;
    if (!bound_counter(lo, &c, m)) {
        if (!one)
            return NULL;
        c.test = NULL;
        c.shape.even = 0;
        c.shape.bounds = kj_type_bounds(c.shape.type);
    }
    c.shape.wraps = !c.test;
    for (int r = 0; r < c.shape.rows; r++) {
        c.at[r] = kj_alloca(lo, LLVMTypeOf(c.shape.v[r]), c.var->name);
        LLVMBuildStore(lo->b, c.shape.v[r], c.at[r]);
    }
    kj_counter *made = KJ_NEW(lo->arena, kj_counter);
    *made = c;
    return made;
}

kj_counter *kj_counters_open(kj_lower *lo, const kj_tstmt *s, kj_mask m)
{
    const kj_tstmt *body = s->kind == KJ_TS_WHILE ? s->u.while_.body : s->u.for_.body;
    kj_counter *all = NULL;
    if (lo->rows * lo->lanes == 1 || lo->slots == lo->home)
        return NULL;
    for (const kj_tstmt *t = continues(body) ? NULL : body; t; t = t->next) {
        kj_counter c = {.next = all, .loop = s}, *made = NULL;
        assignments a = {.var = t->kind == KJ_TS_ASSIGN ? t->u.assign.var : NULL};
        if (a.var && find_step(lo, t, &c) && kj_walk(s, s->next, count_assignments, &a))
            made = new_counter(lo, c, m);
        all = made ? made : all;
    }
    assignments a = {.lo = lo};
    kj_walk(s, s->next, forget, &a);
    for (kj_counter *c = all; c; c = c->next)
        lo->slots[c->var->id].counter = c;
    return all;
}

void kj_counters_close(kj_lower *lo, kj_counter *all)
{
    for (; all; all = all->next)
        lo->slots[all->var->id].counter = NULL;
}

void kj_counters_tested(kj_counter *all, const kj_texpr *test)
{
    for (; all; all = all->next)
        all->tested |= all->test && (!test || all->test == test);
}

const kj_texpr *kj_counter_bounded(const kj_counter *all, const kj_var **var, kj_tile *stop)
{
    for (; all; all = all->next)
        if (all->test && all->op == KJ_OP_ADD) {
            *var = all->var;
            *stop = all->limit;
            return all->by;
        }
    return NULL;
}

kj_tile kj_counter_read(kj_lower *lo, const kj_counter *c)
{
    kj_tile t = c->shape;
    if (c->tested)
        t.bounds = c->inside;
    for (int r = 0; r < t.rows; r++)
        t.v[r] = LLVMBuildLoad2(lo->b, LLVMTypeOf(c->shape.v[r]), c->at[r], "");
    return t;
}

kj_tile kj_counter_step(kj_lower *lo, kj_counter *c, kj_tile own, kj_mask m)
{
    kj_tile t = kj_counter_read(lo, c), by = kj_tile_dense(lo, kj_lower_expr(lo, c->by, m));
    LLVMOpcode op = c->op == KJ_OP_ADD ? LLVMAdd : LLVMSub;
    KJ_REQUIRE(by.rows == 1 && by.lanes == 1);
    for (int r = 0; r < t.rows; r++) {
        LLVMValueRef next = LLVMBuildBinOp(lo->b, op, t.v[r], by.v[0], "");
        if (c->test && kj_is_signed(t.type))
            LLVMSetNSW(next, true);
        LLVMBuildStore(lo->b, next, c->at[r]);
    }
    c->tested = false;
    return kj_tile_binary(lo, c->op, own, by);
}
