/* What is known where a walk over a kernel is: intervals of variables, by what they are made of and by the
 * conditions around; and which expressions are less than which, as loops, conditions and the indices
 * that were looked at say. */
#include "analysis/limits.h"

#include <string.h>

enum {
    DEEPEST = 12,           /* operations that are looked through */
    SIMPLEST = 24,          /* nodes of an expression that facts are kept of */
    LATEST = 48,            /* facts that are looked at */
    STEPS = KJ_MOST_REASONS /* facts that one conclusion takes */
};

/* ---- The state, and back ---- */

void kj_state_init(kj_limit_state *s, kj_arena *arena, const kj_tkernel *kernel)
{
    *s = (kj_limit_state){.arena = arena, .kernel = kernel};
    kj_graph_init(&s->graph, arena);
    s->vars = KJ_NEW_ARRAY(arena, kj_limit_var, (size_t)kernel->nvars + 1);
}

static void *grown(kj_arena *arena, const void *old, int n, int *cap, size_t size)
{
    if (n < *cap)
        return (void *)(uintptr_t)old;
    *cap = *cap ? 2 * *cap : 32;
    void *fresh = kj_arena_calloc(arena, (size_t)*cap, size);
    if (n)
        memcpy(fresh, old, (size_t)n * size);
    return fresh;
}

kj_limit_mark kj_state_mark(const kj_limit_state *s)
{
    return (kj_limit_mark){s->nfacts, s->nundo, s->path};
}

static void note(kj_limit_state *s, kj_limit_undo undo)
{
    s->undo = grown(s->arena, s->undo, s->nundo, &s->undo_cap, sizeof *s->undo);
    s->undo[s->nundo++] = undo;
}

void kj_state_back(kj_limit_state *s, kj_limit_mark mark)
{
    while (s->nundo > mark.nundo) {
        const kj_limit_undo *u = &s->undo[--s->nundo];
        if (u->var >= 0) {
            s->vars[u->var].node = u->node;
        } else {
            s->facts[u->fact].lhs_holds = u->lhs;
            s->facts[u->fact].rhs_holds = u->rhs;
        }
    }
    s->nfacts = mark.nfacts;
    s->path = mark.path;
}

void kj_state_set(kj_limit_state *s, const kj_var *v, int node)
{
    note(s, (kj_limit_undo){.var = v->id, .node = s->vars[v->id].node});
    s->vars[v->id].node = node;
}

bool kj_mentions(const kj_texpr *e, const kj_var *v)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    if (e->kind == KJ_TE_VAR)
        return v ? e->u.var == v : e->u.var->mutable;
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        if (kj_mentions(operands[i], v))
            return true;
    return false;
}

void kj_state_moved(kj_limit_state *s, const kj_var *v)
{
    s->vars[v->id].moved = ++s->born;
    for (int i = 0; i < s->nfacts; i++) {
        kj_limit_fact *f = &s->facts[i];
        if (!f->moves || (!f->lhs_holds && !f->rhs_holds))
            continue;
        bool lhs = kj_mentions(f->lhs, v), rhs = kj_mentions(f->rhs, v);
        if (!lhs && !rhs)
            continue;
        note(s, (kj_limit_undo){.var = -1, .fact = i, .lhs = f->lhs_holds, .rhs = f->rhs_holds});
        f->lhs_holds &= !lhs;
        f->rhs_holds &= !rhs;
    }
}

/* ---- Expressions ---- */

/* It gives the same value again while its variables have theirs. */
static bool is_simple(const kj_texpr *e, int *budget)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    if (--*budget < 0)
        return false;
    switch (e->kind) {
    case KJ_TE_CONST:
    case KJ_TE_VAR:
    case KJ_TE_DIM:
    case KJ_TE_INDEX: return true;
    case KJ_TE_CALL:
        if (e->u.call.id != KJ_BI_MIN && e->u.call.id != KJ_BI_MAX &&
            e->u.call.id != KJ_BI_CEIL_DIV && e->u.call.id != KJ_BI_CLAMP)
            return false;
        break;
    case KJ_TE_UNARY:
    case KJ_TE_BINARY:
    case KJ_TE_LOGIC:
    case KJ_TE_CONVERT: break;
    default: return false;
    }
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        if (!is_simple(operands[i], budget))
            return false;
    return true;
}

bool kj_is_lasting(const kj_texpr *e)
{
    return is_simple(e, &(int){SIMPLEST}) && !kj_mentions(e, NULL);
}

/* What an immutable variable is a name of, whatever was assigned since; NULL: of nothing such. */
static const kj_texpr *named(const kj_limit_state *s, const kj_texpr *e)
{
    return e->kind == KJ_TE_VAR ? s->vars[e->u.var->id].init : NULL;
}

/* A constant that an i64 holds: a larger one of u64 has the bits of a number below 0. */
static bool is_number(const kj_texpr *e, int64_t *out)
{
    if (e->kind != KJ_TE_CONST || !kj_is_int(e->type) ||
        (!kj_is_signed(e->type) && e->u.value.u > INT64_MAX))
        return false;
    *out = e->u.value.i;
    return true;
}

static bool is_one(const kj_texpr *e)
{
    int64_t number;
    return is_number(e, &number) && number == 1;
}

/* What is multiplied by 1; else NULL. */
static const kj_texpr *times_one(const kj_texpr *e)
{
    if (e->kind != KJ_TE_BINARY || e->u.binary.op != KJ_OP_MUL)
        return NULL;
    return is_one(e->u.binary.lhs)   ? e->u.binary.rhs
           : is_one(e->u.binary.rhs) ? e->u.binary.lhs
                                     : NULL;
}

const kj_texpr *kj_plain(const kj_limit_state *s, const kj_texpr *e)
{
    const kj_texpr *init;
    for (int i = 0; i < DEEPEST; i++) {
        if (kj_keeps_value(e))
            e = e->u.unary.arg;
        else if (times_one(e))
            e = times_one(e);
        else if ((init = named(s, e)) &&
                 (init->kind == KJ_TE_VAR || init->kind == KJ_TE_CONVERT ||
                  init->kind == KJ_TE_DIM || init->kind == KJ_TE_CONST || times_one(init)))
            e = init;
        else
            break;
    }
    return e;
}

static bool is_equal(kj_limit_state *s, const kj_texpr *a, const kj_texpr *b, int depth)
{
    const kj_texpr *x[KJ_MAX_OPERANDS], *y[KJ_MAX_OPERANDS];
    int64_t of_a, of_b;
    a = kj_plain(s, a);
    b = kj_plain(s, b);
    if (a == b)
        return true;
    if (depth > DEEPEST || ++s->looks > s->last_look)
        return false;
    if (is_number(a, &of_a) && is_number(b, &of_b))
        return of_a == of_b;
    if (a->kind != b->kind || a->type != b->type) {
        const kj_texpr *p = named(s, a), *q = named(s, b);
        return (p && is_equal(s, p, b, depth + 1)) || (q && is_equal(s, a, q, depth + 1));
    }
    switch (a->kind) {
    case KJ_TE_CONST: return a->u.value.i == b->u.value.i;
    case KJ_TE_VAR:
        if (a->u.var == b->u.var)
            return true;
        return named(s, a) && named(s, b) && is_equal(s, named(s, a), named(s, b), depth + 1);
    case KJ_TE_DIM:
        return a->u.dim.array == b->u.dim.array && a->u.dim.axis == b->u.dim.axis &&
               a->u.dim.stride == b->u.dim.stride;
    case KJ_TE_INDEX:
        return a->u.index.which == b->u.index.which && a->u.index.axis == b->u.index.axis;
    case KJ_TE_BINARY:
        if (a->u.binary.op != b->u.binary.op)
            return false;
        break;
    case KJ_TE_UNARY:
        if (a->u.unary.op != b->u.unary.op)
            return false;
        break;
    case KJ_TE_CALL:
        if (a->u.call.id != b->u.call.id)
            return false;
        break;
    case KJ_TE_CONVERT: break;
    default: return false;
    }
    int n = kj_operands(a, x);
    if (n != kj_operands(b, y))
        return false;
    if (a->kind == KJ_TE_BINARY && a->u.binary.op == KJ_OP_ADD && kj_is_int(a->type) &&
        is_equal(s, x[0], y[1], depth + 1) && is_equal(s, x[1], y[0], depth + 1))
        return true;
    for (int i = 0; i < n; i++)
        if (x[i]->type != y[i]->type || !is_equal(s, x[i], y[i], depth + 1))
            return false;
    return true;
}

/* ---- What is less than what ---- */

static int node(kj_limit_state *s, kj_interval_op op, int a, int b)
{
    return kj_graph_node(&s->graph, op, KJ_I64, a, b, 0);
}

static int one(kj_limit_state *s, int64_t i)
{
    return kj_graph_const(&s->graph, i, i);
}

const kj_texpr *kj_sum_of(const kj_limit_state *s, const kj_texpr *e)
{
    e = kj_plain(s, e);
    e = named(s, e) ? named(s, e) : e;
    return e->kind == KJ_TE_BINARY && e->u.binary.op == KJ_OP_ADD ? e : NULL;
}

/* An expression as another one and a constant; of a constant alone NULL. */
kj_limit_sum kj_parts_of(kj_limit_state *s, const kj_texpr *e)
{
    enum { MOST_ADDED = 1 << 30 };
    const int64_t farthest = (int64_t)1 << 56; /* sums of several do not wrap */
    int64_t by = 0, number;
    for (int i = 0; i < DEEPEST; i++) {
        e = kj_plain(s, e);
        if (is_number(e, &number) && number <= farthest && number >= -farthest)
            return (kj_limit_sum){NULL, by + number};
        const kj_texpr *sum = named(s, e) ? named(s, e) : e;
        if (sum->kind != KJ_TE_BINARY ||
            (sum->u.binary.op != KJ_OP_ADD && sum->u.binary.op != KJ_OP_SUB))
            break;
        const kj_texpr *a = sum->u.binary.lhs, *b = kj_plain(s, sum->u.binary.rhs);
        bool less = sum->u.binary.op == KJ_OP_SUB;
        if (!less && b->kind != KJ_TE_CONST) {
            a = sum->u.binary.rhs;
            b = kj_plain(s, sum->u.binary.lhs);
        }
        if (!is_number(b, &number) || number > MOST_ADDED || number < -MOST_ADDED ||
            !kj_interval_fits(kj_known(&s->graph, kj_exact_range(s, sum)), sum->type))
            break;
        by += less ? -number : number;
        e = a;
    }
    return (kj_limit_sum){e, by};
}

bool kj_is_same(kj_limit_state *s, const kj_texpr *a, const kj_texpr *b)
{
    enum { MOST = 200 }; /* pairs of expressions: of sums of sums both orders are looked at */
    int left = KJ_MOST_LOOKS - s->looks;
    s->last_look = s->looks + (left < MOST ? left : MOST);
    return a == b || (a && b && is_equal(s, a, b, 0));
}

/* Narrowed by facts of the very expression, or of it and a constant. */
int kj_told_range(kj_limit_state *s, const kj_texpr *e, int range)
{
    int from = s->nfacts > LATEST ? s->nfacts - LATEST : 0;
    for (int i = s->nfacts - 1; i >= from; i--) {
        const kj_limit_fact *f = &s->facts[i];
        int64_t apart = !f->or_equal;
        if (f->lhs_holds && f->less.of && f->less.of->kind == e->kind &&
            kj_is_same(s, f->less.of, e)) {
            int most = node(s, KJ_IV_SUB, f->most, one(s, f->less.by + apart));
            range = node(s, KJ_IV_MOST, range, most);
        }
        if (f->rhs_holds && f->more.of && f->more.of->kind == e->kind &&
            kj_is_same(s, f->more.of, e)) {
            int least = node(s, KJ_IV_SUB, f->least, one(s, f->more.by - apart));
            range = node(s, KJ_IV_LEAST, range, least);
        }
    }
    return range;
}

int kj_told_difference(kj_limit_state *s, const kj_texpr *e, int range)
{
    const kj_texpr *a = kj_plain(s, e->u.binary.lhs), *b = kj_plain(s, e->u.binary.rhs);
    int from = s->nfacts > LATEST ? s->nfacts - LATEST : 0;
    if (b->kind == KJ_TE_CONST || kj_known(&s->graph, range).lo >= 0)
        return range;
    for (int i = s->nfacts - 1; i >= from; i--) {
        const kj_limit_fact *f = &s->facts[i];
        if (f->lhs_holds && f->rhs_holds && kj_is_same(s, f->less.of, b) &&
            kj_is_same(s, f->more.of, a))
            range = node(s, KJ_IV_LEAST, range, one(s, f->less.by - f->more.by + !f->or_equal));
    }
    return range;
}

/* a < b, by facts? */
static bool follows(kj_limit_state *s, kj_limit_sum a, kj_limit_sum b, int steps)
{
    if (kj_is_same(s, a.of, b.of)) {
        s->nreasons = STEPS - steps;
        return a.by < b.by;
    }
    int from = s->nfacts > LATEST ? s->nfacts - LATEST : 0;
    for (int i = s->nfacts - 1; i >= from && steps > 0; i--) {
        const kj_limit_fact *f = &s->facts[i];
        if (!f->lhs_holds || !f->rhs_holds || !kj_is_same(s, f->less.of, a.of))
            continue;
        int64_t by = f->more.by + a.by - f->less.by - !f->or_equal;
        s->reasons[STEPS - steps] = f->why;
        if (follows(s, (kj_limit_sum){f->more.of, by}, b, steps - 1))
            return true;
    }
    return false;
}

bool kj_is_less(kj_limit_state *s, const kj_texpr *a, const kj_texpr *b)
{
    return is_simple(a, &(int){SIMPLEST}) && is_simple(b, &(int){SIMPLEST}) &&
           follows(s, kj_parts_of(s, a), kj_parts_of(s, b), STEPS);
}

/* ---- What conditions tell ---- */

/* e is at most, at least, or not, what the node is. */
static void narrow(kj_limit_state *s, const kj_texpr *e, kj_interval_op how, int by, int depth);

/* The operands of one that did not wrap. */
static void narrow_operands(kj_limit_state *s, const kj_texpr *e, kj_interval_op how, int by,
                            int depth)
{
    const kj_texpr *x = e->u.binary.lhs, *y = e->u.binary.rhs;
    bool minus = e->u.binary.op == KJ_OP_SUB, scaled = e->u.binary.op == KJ_OP_MUL;
    kj_interval_op against = how == KJ_IV_MOST ? KJ_IV_LEAST : KJ_IV_MOST;
    int exact = kj_exact_range(s, e), a = kj_range_of(s, x), b = kj_range_of(s, y), of_x, of_y = 0;
    kj_interval factor = kj_known(&s->graph, b);
    if (scaled && (factor.lo != factor.hi || factor.lo <= 0))
        return;
    if (scaled) {
        of_x = node(s, how == KJ_IV_MOST ? KJ_IV_DIV : KJ_IV_CEIL, by, b);
    } else if (minus) {
        of_x = node(s, KJ_IV_ADD, by, b);
        of_y = node(s, KJ_IV_SUB, a, by);
    } else {
        of_x = node(s, KJ_IV_SUB, by, b);
        of_y = node(s, KJ_IV_SUB, by, a);
    }
    narrow(s, x, how, kj_graph_node(&s->graph, KJ_IV_WHERE_FIT, e->type, exact, of_x, 0), depth);
    if (!scaled)
        narrow(s, y, minus ? against : how,
               kj_graph_node(&s->graph, KJ_IV_WHERE_FIT, e->type, exact, of_y, 0), depth);
}

static void narrow(kj_limit_state *s, const kj_texpr *e, kj_interval_op how, int by, int depth)
{
    for (; depth <= DEEPEST && kj_is_int(e->type); depth++) {
        if (e->kind == KJ_TE_VAR)
            kj_state_set(s, e->u.var, node(s, how, kj_range_of(s, e), by));
        if (named(s, e))
            e = named(s, e);
        else if (kj_keeps_value(e))
            e = e->u.unary.arg;
        else
            break;
    }
    bool sum =
        e->kind == KJ_TE_BINARY && how != KJ_IV_OTHER && kj_is_int(e->type) &&
        (e->u.binary.op == KJ_OP_ADD || e->u.binary.op == KJ_OP_SUB || e->u.binary.op == KJ_OP_MUL);
    if (sum && depth <= DEEPEST)
        narrow_operands(s, e, how, by, depth + 1);
}

void kj_learn_least(kj_limit_state *s, const kj_texpr *e, int64_t least)
{
    narrow(s, e, KJ_IV_LEAST, one(s, least), 0);
}

static const kj_texpr *extreme(const kj_limit_state *s, const kj_texpr *e, kj_builtin id)
{
    e = kj_plain(s, e);
    e = named(s, e) ? named(s, e) : e;
    return e->kind == KJ_TE_CALL && e->u.call.id == id && e->u.call.nargs == 2 ? e : NULL;
}

/* Of x < a - b, where nothing wraps: x + b < a. */
static bool as_sum(kj_limit_state *s, kj_limit_fact *f)
{
    const kj_texpr *minus = kj_plain(s, f->rhs);
    minus = named(s, minus) ? named(s, minus) : minus;
    if (minus->kind != KJ_TE_BINARY || minus->u.binary.op != KJ_OP_SUB ||
        kj_plain(s, minus->u.binary.rhs)->kind == KJ_TE_CONST || minus->type != f->lhs->type ||
        kj_known(&s->graph, f->least).lo < 0 ||
        kj_known(&s->graph, kj_range_of(s, minus->u.binary.rhs)).lo < 0 ||
        !kj_interval_fits(kj_known(&s->graph, kj_exact_range(s, minus)), minus->type))
        return false;
    kj_texpr *sum = KJ_NEW(s->arena, kj_texpr);
    *sum = *minus;
    sum->u.binary.op = KJ_OP_ADD;
    sum->u.binary.lhs = (kj_texpr *)(uintptr_t)f->lhs;
    f->lhs = sum;
    f->rhs = minus->u.binary.lhs;
    f->least = kj_range_of(s, f->lhs);
    f->most = kj_range_of(s, f->rhs);
    return true;
}

/* And what follows of the parts of max and min: in so many steps at most, as names of such double with each. */
static void add_fact(kj_limit_state *s, kj_limit_fact f, int *steps)
{
    kj_limit_fact sum = f;
    if (--*steps < 0)
        return;
    const kj_texpr *low = extreme(s, f.lhs, KJ_BI_MAX), *high = extreme(s, f.rhs, KJ_BI_MIN);
    const kj_texpr *both = low ? low : high;
    for (int i = 0; both && i < 2; i++) {
        kj_limit_fact part = f;
        *(low ? &part.lhs : &part.rhs) = both->u.call.args[i];
        add_fact(s, part, steps);
    }
    if (as_sum(s, &sum))
        add_fact(s, sum, steps);
    f.less = kj_parts_of(s, f.lhs);
    f.more = kj_parts_of(s, f.rhs);
    f.moves = kj_mentions(f.lhs, NULL) || kj_mentions(f.rhs, NULL);
    f.lhs_holds = f.rhs_holds = true;
    s->facts = grown(s->arena, s->facts, s->nfacts, &s->fact_cap, sizeof *s->facts);
    s->facts[s->nfacts++] = f;
}

/* Is it one number in all threads of a launch, which the launch gives? */
static bool is_of_launch(const kj_limit_state *s, const kj_texpr *e, int *budget)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    e = kj_plain(s, e);
    e = named(s, e) ? named(s, e) : e;
    if (--*budget < 0)
        return false;
    if (e->kind == KJ_TE_VAR)
        return e->u.var->param >= 0;
    if (e->kind == KJ_TE_INDEX)
        return e->u.index.which == KJ_GRID_DIM || e->u.index.which == KJ_BLOCK_DIM;
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        if (!is_of_launch(s, operands[i], budget))
            return false;
    return is_simple(e, &(int){SIMPLEST});
}

static void learn_path(kj_limit_state *s, const kj_limit_fact *f, int most)
{
    if (is_of_launch(s, f->lhs, &(int){SIMPLEST}) && is_of_launch(s, f->rhs, &(int){SIMPLEST}))
        s->path = node(s, KJ_IV_BOTH, s->path, node(s, KJ_IV_MOST, f->least, most));
}

void kj_learn_less(kj_limit_state *s, const kj_texpr *lhs, const kj_texpr *rhs, bool or_equal)
{
    if (!kj_is_int(lhs->type) || !kj_is_int(rhs->type))
        return;
    kj_limit_fact f = {.lhs = lhs,
                       .rhs = rhs,
                       .least = kj_range_of(s, lhs),
                       .most = kj_range_of(s, rhs),
                       .why = s->why,
                       .or_equal = or_equal};
    int apart = one(s, !or_equal), most = node(s, KJ_IV_SUB, f.most, apart), steps = LATEST;
    learn_path(s, &f, most);
    narrow(s, lhs, KJ_IV_MOST, most, 0);
    narrow(s, rhs, KJ_IV_LEAST, node(s, KJ_IV_ADD, f.least, apart), 0);
    if (is_simple(lhs, &(int){SIMPLEST}) && is_simple(rhs, &(int){SIMPLEST}))
        add_fact(s, f, &steps);
}

static void learn_comparison(kj_limit_state *s, kj_op op, const kj_texpr *a, const kj_texpr *b,
                             bool holds)
{
    if (!kj_is_int(a->type))
        return;
    switch (op) {
    case KJ_OP_LT:
    case KJ_OP_GE:
        if (holds == (op == KJ_OP_LT))
            kj_learn_less(s, a, b, false);
        else
            kj_learn_less(s, b, a, true);
        break;
    case KJ_OP_GT:
    case KJ_OP_LE:
        if (holds == (op == KJ_OP_GT))
            kj_learn_less(s, b, a, false);
        else
            kj_learn_less(s, a, b, true);
        break;
    case KJ_OP_EQ:
    case KJ_OP_NE:
        if (holds == (op == KJ_OP_EQ)) {
            kj_learn_less(s, a, b, true);
            kj_learn_less(s, b, a, true);
        } else {
            int x = kj_range_of(s, a), y = kj_range_of(s, b);
            narrow(s, a, KJ_IV_OTHER, y, 0);
            narrow(s, b, KJ_IV_OTHER, x, 0);
        }
        break;
    default: break;
    }
}

/* Through so many names at most: names of names of both sides double with each. */
static void learn(kj_limit_state *s, const kj_texpr *test, bool holds, int *names)
{
    const kj_texpr *init = named(s, test);
    if (init) {
        if (--*names >= 0)
            learn(s, init, holds, names);
    } else if (test->kind == KJ_TE_UNARY && test->u.unary.op == KJ_OP_NOT) {
        learn(s, test->u.unary.arg, !holds, names);
    } else if (test->kind == KJ_TE_LOGIC && test->u.logic.is_or != holds) {
        learn(s, test->u.logic.lhs, holds, names);
        learn(s, test->u.logic.rhs, holds, names);
    } else if (test->kind == KJ_TE_BINARY && test->type == KJ_BOOL) {
        kj_op op = test->u.binary.op;
        if ((op == KJ_OP_AND && holds) || (op == KJ_OP_OR && !holds)) {
            learn(s, test->u.binary.lhs, holds, names);
            learn(s, test->u.binary.rhs, holds, names);
        } else {
            learn_comparison(s, op, test->u.binary.lhs, test->u.binary.rhs, holds);
        }
    }
}

void kj_learn(kj_limit_state *s, const kj_texpr *test, bool holds)
{
    enum { MOST = 64 };
    learn(s, test, holds, &(int){MOST});
}
