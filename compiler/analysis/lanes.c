/* Which axis of threadIdx a CPU's lanes run along: typed AST in, the axis out.
 *
 * Threads side by side along x are not always those that access neighbouring elements: in
 * `let i, j = grid(2)` and a[i, j] those along y do. For each axis this counts what the kernel's
 * accesses cost when the lanes run along it: one that moves by an element from lane to lane, or not
 * at all, is one load; any other is a gather. Where blocks are only a few threads wide, rows of them are short
 * vectors, and lanes may go by the threads' numbers in their place: then one load is what moves with the number.
 * What a thread computes is the same either way, and so is all that a kernel can observe: where the
 * order of a block's threads shows (operations of warps, atomics, printed lines, launches, loops that
 * wait), they stay along x. */
#include <math.h>

#include "analysis/regions.h"

enum { FEW = 8 /* lanes: fewer are not worth it */ };

/* How far a value moves from one thread to the next along an axis; where lanes go by the threads' numbers, NUMBER_Y is
 * blockDim.x * threadIdx.y, of which threadIdx.x, ALONG_X, makes the number, ONE. */
typedef enum step { STAYS, ONE, ALONG_X, ALONG_Y, NUMBER_Y, FAR } step;

typedef struct search {
    const kj_tkernel *kernel;
    int axis;
    bool narrow; /* the block is only a few threads wide */
    bool flat;   /* the lanes go by the threads' numbers */
    step *var;   /* by kj_var.id: what is known of it so far */
    bool *turns; /* likewise: a loop counts in it, by ones */
    int depth;   /* loops around */
    int operations;
    double cost;
    bool moves;   /* some access does, by an element */
    bool follows; /* or by more */
    bool changed;
} search;

static step step_of(const search *f, const kj_texpr *e);

/* Of a sum or difference, x - x aside. */
static step sum(step a, step b)
{
    bool number = (a == ALONG_X && b == NUMBER_Y) || (a == NUMBER_Y && b == ALONG_X);
    return a == STAYS ? b : b == STAYS ? a : number ? ONE : FAR;
}

/* Of what is one of the two, as min(i, n) is. */
static step either(step a, step b)
{
    return a == STAYS || a == b ? b : b == STAYS ? a : FAR;
}

static bool is_width(const search *f, const kj_texpr *e)
{
    while (e->kind == KJ_TE_CONVERT)
        e = e->u.unary.arg;
    return e->kind == KJ_TE_CONST
               ? e->u.value.i == f->kernel->block[0]
               : e->kind == KJ_TE_INDEX && e->u.index.which == KJ_BLOCK_DIM && e->u.index.axis == 0;
}

static step step_of_binary(const search *f, const kj_texpr *e)
{
    step a = step_of(f, e->u.binary.lhs), b = step_of(f, e->u.binary.rhs);
    switch (e->u.binary.op) {
    case KJ_OP_ADD:
    case KJ_OP_SUB: return sum(a, b);
    case KJ_OP_FLOORDIV:
    case KJ_OP_MOD:
    case KJ_OP_AND:
    case KJ_OP_SHR: return b == STAYS ? a : FAR; /* mostly */
    case KJ_OP_MUL:
        if ((a == ALONG_Y && is_width(f, e->u.binary.rhs)) ||
            (b == ALONG_Y && is_width(f, e->u.binary.lhs)))
            return NUMBER_Y;
        /* fall through */
    default: return a == STAYS && b == STAYS ? STAYS : FAR;
    }
}

/* Where an access is in its array. */
static step step_of_place(const search *f, const kj_tarray *a, kj_texpr *const *index)
{
    step all = a->offset ? step_of(f, a->offset) : STAYS;
    for (int i = 0; i < a->ndim; i++) {
        step s = step_of(f, index[i]);
        const kj_texpr *stride = a->stride[i];
        bool unit = stride->kind == KJ_TE_CONST && stride->u.value.i == 1;
        all = sum(all, s == STAYS || unit ? s : FAR);
    }
    return all;
}

static step step_of_thread(const search *f, int axis)
{
    const int64_t *block = f->kernel->block;
    if (!f->flat)
        return axis == f->axis ? ONE : STAYS;
    if (block[axis] == 1)
        return STAYS;
    if (block[axis] == block[0] * block[1] * block[2])
        return ONE;
    return axis == 0 ? ALONG_X : axis == 1 ? ALONG_Y : FAR;
}

static step step_of(const search *f, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    step s = STAYS;
    switch (e->kind) {
    case KJ_TE_VAR: return f->var[e->u.var->id];
    case KJ_TE_INDEX:
        return e->u.index.which == KJ_THREAD_IDX ? step_of_thread(f, e->u.index.axis) : STAYS;
    case KJ_TE_CONVERT: return step_of(f, e->u.unary.arg);
    case KJ_TE_BINARY: return step_of_binary(f, e);
    case KJ_TE_SELECT: return either(step_of(f, e->u.select.yes), step_of(f, e->u.select.no));
    case KJ_TE_CALL:
        if (e->u.call.id == KJ_BI_MIN || e->u.call.id == KJ_BI_MAX || e->u.call.id == KJ_BI_CLAMP)
            break;
        /* fall through */
    default:
        for (int i = 0, n = kj_operands(e, operands); i < n; i++)
            if (step_of(f, operands[i]) != STAYS)
                return FAR;
        return e->kind == KJ_TE_INLINE ? FAR : STAYS;
    }
    for (int i = 0; i < e->u.call.nargs; i++)
        s = either(s, step_of(f, e->u.call.args[i]));
    return s;
}

/* ---- Variables: until none changes ---- */

static void assign(search *f, const kj_var *v, step s)
{
    s = either(f->var[v->id], s);
    f->changed |= s != f->var[v->id];
    f->var[v->id] = s;
}

static bool visit_assignment(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *f = ctx;
    if (e && e->kind == KJ_TE_INLINE)
        assign(f, e->u.inline_.result, FAR);
    if (e)
        return true;
    if (s->kind == KJ_TS_DECL && s->u.decl.init)
        assign(f, s->u.decl.var, step_of(f, s->u.decl.init));
    if (s->kind == KJ_TS_ASSIGN)
        assign(f, s->u.assign.var, step_of(f, s->u.assign.value));
    if (s->kind == KJ_TS_FOR) {
        assign(f, s->u.for_.var, sum(step_of(f, s->u.for_.start), step_of(f, s->u.for_.step)));
        f->turns[s->u.for_.var->id] = kj_steps_by_one(s->u.for_.step);
    }
    return true;
}

/* ---- Accesses ---- */

/* Does it move by one from turn to turn? */
static bool goes_by_turns(const search *f, const kj_texpr *e)
{
    switch (e->kind) {
    case KJ_TE_VAR: return f->turns[e->u.var->id];
    case KJ_TE_CONVERT: return goes_by_turns(f, e->u.unary.arg);
    case KJ_TE_BINARY:
        if (e->u.binary.op != KJ_OP_ADD && e->u.binary.op != KJ_OP_SUB)
            return false;
        return goes_by_turns(f, e->u.binary.lhs) != goes_by_turns(f, e->u.binary.rhs);
    default: return false;
    }
}

/* Does a loop go along a row of each thread's? Such are loaded by strips (lower/gang/strip_find.c). */
static bool goes_along(const search *f, const kj_tarray *a, kj_texpr *const *index)
{
    const kj_texpr *last = a->ndim ? index[a->ndim - 1] : NULL;
    return f->depth > 0 && last && step_of(f, last) == STAYS && goes_by_turns(f, last);
}

/* Of narrow blocks costs are those of 16 threads: so many rows, each an operation. */
enum { THREADS = 16 };

static double count_rows(const search *f)
{
    int64_t extent = f->flat ? THREADS : f->kernel->block[f->axis];
    return extent < THREADS ? (double)THREADS / (double)extent : 1;
}

/* Lanes along another axis than x gather from a line of the cache each. */
static double cost_narrow(const search *f, const kj_tarray *a, kj_texpr *const *index, step s)
{
    enum { STRIP = 6, GATHER = 32, LINES = 48 };
    if (s == STAYS || s == ONE)
        return 2 * count_rows(f);
    return count_rows(f) + (goes_along(f, a, index) ? STRIP : f->axis == 0 ? GATHER : LINES);
}

static double turns_around(const search *f)
{
    enum { TURNS = 8 };
    double times = 1;
    for (int i = 0; i < f->depth; i++)
        times *= TURNS;
    return times;
}

/* Of local arrays every thread has its own, wherever the lanes run. */
static void access(search *f, const kj_tarray *a, kj_texpr *const *index)
{
    enum { GATHER = 8 };
    double times = turns_around(f);
    if (a->root->space == KJ_LOCAL) {
        f->cost += f->narrow ? times * count_rows(f) : 0;
        return;
    }
    step s = step_of_place(f, a, index);
    double once = s == STAYS || s == ONE ? 1 : GATHER;
    f->cost += times * (f->narrow ? cost_narrow(f, a, index, s) : once);
    f->moves |= s == ONE;
    f->follows |= s != STAYS;
}

/* How many operations of vectors an expression is, without its operands. What moves by an element is a number. Of
 * large kernels all that is computed counts, as it would take long to look at each. */
static int count_operations(search *f, const kj_texpr *e)
{
    enum { MATH = 16, LOOKED_AT = 256 };
    bool math = false;
    switch (e->kind) {
    case KJ_TE_UNARY:
    case KJ_TE_BINARY:
    case KJ_TE_SELECT:
    case KJ_TE_FMA: break;
    case KJ_TE_CALL:
        math = kj_builtins[e->u.call.id].how == KJ_HOW_MATH ||
               kj_builtins[e->u.call.id].how == KJ_HOW_RANDOM;
        break;
    default: return 0;
    }
    step s = ++f->operations <= LOOKED_AT ? step_of(f, e) : FAR;
    return s == STAYS || s == ONE ? 0 : math ? MATH : 1;
}

static bool visit_access(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *f = ctx;
    if (e && f->narrow)
        f->cost += turns_around(f) * count_rows(f) * count_operations(f, e);
    if (!e && s->kind == KJ_TS_STORE)
        access(f, s->u.store.array, s->u.store.index);
    if (e && e->kind == KJ_TE_LOAD)
        access(f, e->u.load.array, e->u.load.index);
    return true;
}

static void count(search *f, const kj_tstmt *s);

static void count_loop(search *f, const kj_tstmt *s)
{
    f->depth++;
    if (s->kind == KJ_TS_WHILE)
        kj_walk_expr(s, s->u.while_.test, visit_access, f);
    count(f, s->kind == KJ_TS_WHILE ? s->u.while_.body : s->u.for_.body);
    f->depth--;
}

static void count(search *f, const kj_tstmt *s)
{
    for (; s; s = s->next) {
        switch (s->kind) {
        case KJ_TS_IF:
            kj_walk_expr(s, s->u.if_.test, visit_access, f);
            count(f, s->u.if_.yes);
            count(f, s->u.if_.no);
            break;
        case KJ_TS_FOR:
        case KJ_TS_WHILE: count_loop(f, s); break;
        case KJ_TS_INLINE: count(f, s->u.block->body); break;
        default: kj_walk(s, s->next, visit_access, f);
        }
    }
}

/* Along an axis that nothing follows the lanes would all do the same. Variables that take many rounds
 * to be known are not worth the time: then x is the best. */
static double cost_along(kj_arena *arena, const kj_tkernel *k, int axis, bool flat)
{
    size_t nvars = (size_t)k->nvars + 1;
    search f = {.kernel = k,
                .axis = axis,
                .narrow = kj_is_narrow(k),
                .flat = flat,
                .var = KJ_NEW_ARRAY(arena, step, nvars),
                .turns = KJ_NEW_ARRAY(arena, bool, nvars)};
    enum { ROUNDS = 8 };
    int rounds = 0;
    do {
        f.changed = false;
        kj_walk(k->body->body, NULL, visit_assignment, &f);
    } while (f.changed && ++rounds < ROUNDS);
    if (f.changed)
        return axis == 0 && !flat ? 0 : INFINITY;
    count(&f, k->body->body);
    bool any = axis == 0 || f.moves || (f.narrow && f.follows && k->block[axis] >= FEW);
    return any ? f.cost : INFINITY;
}

/* ---- The choice ---- */

/* Does it show in which order a block's threads run? */
static bool visit_order(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    bool *shows = ctx;
    if (!e)
        *shows |= s->kind == KJ_TS_LAUNCH || (s->kind == KJ_TS_REPORT && !s->u.report.site->fault);
    else if (e->kind == KJ_TE_CALL)
        *shows |= kj_builtins[e->u.call.id].how == KJ_HOW_WARP ||
                  kj_builtins[e->u.call.id].how == KJ_HOW_FENCE;
    else if (e->kind == KJ_TE_LOAD)
        *shows |= kj_is_fetched_again(e->u.load.array);
    else
        *shows |=
            e->kind == KJ_TE_ATOMIC || (e->kind == KJ_TE_INDEX && e->u.index.which == KJ_LANE_ID);
    return !*shows;
}

static bool is_long(const kj_tkernel *k, int axis)
{
    return k->block[axis] >= (k->block[0] < FEW ? k->block[0] : FEW) && k->block[axis] > 1;
}

bool kj_is_narrow(const kj_tkernel *k)
{
    return k->block[0] < FEW && k->block[1] * k->block[2] > 1;
}

kj_lanes kj_choose_lanes(kj_arena *arena, const kj_tkernel *k)
{
    bool shows = k->grid_sync != NULL;
    kj_lanes best = {0, false};
    if (!is_long(k, 1) && !is_long(k, 2) && !kj_is_narrow(k))
        return best;
    kj_walk(k->body->body, NULL, visit_order, &shows);
    double least = cost_along(arena, k, 0, false);
    if (kj_is_narrow(k)) {
        double flat = cost_along(arena, k, 0, true);
        best.flat = flat <= least;
        least = best.flat ? flat : least;
    }
    least = kj_is_narrow(k) ? least : least * 2 / 3;
    for (int axis = 1; axis < 3 && !shows; axis++) {
        double cost = is_long(k, axis) ? cost_along(arena, k, axis, false) : INFINITY;
        if (cost < least) {
            best = (kj_lanes){axis, false};
            least = cost;
        }
    }
    return best;
}
