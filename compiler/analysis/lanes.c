/* Which axis of threadIdx a CPU's vectors (lanes) run along: typed AST in, the axis out.
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
#include "analysis/step.h"

enum { FEW = 8 /* lanes: fewer are not worth it */ };

typedef struct search {
    kj_steps steps;
    bool narrow; /* the block is only a few threads wide */
    int depth;   /* loops around */
    int operations;
    double cost;
    bool moves;   /* some access does, by an element */
    bool follows; /* or by more */
    bool loops;   /* there are some, which rows of a gang have in common */
    bool apart;   /* some access moves otherwise than by a few elements from lane to lane */
    bool turns;   /* a loop has more than a few of them, or nobody knows how many */
    bool dear;    /* a row has a quotient or a function's value in common */
} search;

/* ---- Accesses ---- */

/* Does a loop go along a row of each thread's? Such are loaded by strips (lower/gang/strip_find.c). */
static bool goes_along(const search *f, const kj_tarray *a, kj_texpr *const *index)
{
    const kj_texpr *last = a->ndim ? index[a->ndim - 1] : NULL;
    return f->depth > 0 && last && kj_step_of(&f->steps, last) == KJ_STEP_STAYS &&
           kj_goes_by_turns(&f->steps, last);
}

/* Of narrow blocks costs are those of 16 threads: so many rows, each an operation. */
enum { THREADS = 16 };

static double count_rows(const search *f)
{
    int64_t extent = f->steps.flat ? THREADS : f->steps.kernel->block[f->steps.axis];
    return extent < THREADS ? (double)THREADS / (double)extent : 1;
}

/* Lanes along another axis than x gather from a line of the cache each. */
static double cost_narrow(const search *f, const kj_tarray *a, kj_texpr *const *index, kj_step s)
{
    enum { STRIP = 6, GATHER = 32, LINES = 48 };
    if (kj_step_is_short(s))
        return 2 * count_rows(f);
    return count_rows(f) + (goes_along(f, a, index) ? STRIP : f->steps.axis == 0 ? GATHER : LINES);
}

static double turns_around(const search *f)
{
    enum { TURNS = 8 };
    double times = 1;
    for (int i = 0; i < f->depth; i++)
        times *= TURNS;
    return times;
}

/* A constant, or what the launch says of a short last axis; else 0. */
static int64_t known_number(const kj_texpr *e)
{
    if (e->kind == KJ_TE_CONST)
        return e->u.value.i;
    bool last =
        e->kind == KJ_TE_DIM && !e->u.dim.stride && e->u.dim.axis == e->u.dim.array->ndim - 1;
    return last ? e->u.dim.array->last : 0;
}

/* How many elements apart neighbours are, where it is a few, as in pictures whose last axis is a point's colours: so
 * many vectors are loaded for one (lower/memory/interleaved.c). Else 0. */
static int64_t elements_apart(const search *f, const kj_tarray *a, kj_texpr *const *index)
{
    int64_t apart = 0;
    if (a->offset && kj_step_of(&f->steps, a->offset) != KJ_STEP_STAYS)
        return 0;
    for (int i = 0; i < a->ndim; i++) {
        kj_step s = kj_step_of(&f->steps, index[i]);
        if (s == KJ_STEP_STAYS)
            continue;
        if (s != KJ_STEP_ONE || apart)
            return 0;
        apart = known_number(a->stride[i]);
        if (apart < 1 || apart > KJ_SHORT_LAST)
            return 0;
    }
    return apart;
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
    kj_step s = kj_step_of_place(&f->steps, a, index);
    int64_t apart = elements_apart(f, a, index);
    double once = kj_step_is_short(s) ? 1 : apart ? (double)apart : GATHER;
    f->cost += times * (f->narrow ? cost_narrow(f, a, index, s) : once);
    f->moves |= s == KJ_STEP_ONE || s == KJ_STEP_SELDOM;
    f->follows |= s != KJ_STEP_STAYS;
    f->apart |= !kj_step_is_short(s) && apart == 0;
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
    kj_step s = ++f->operations <= LOOKED_AT ? kj_step_of(&f->steps, e) : KJ_STEP_FAR;
    return kj_step_is_short(s) ? 0 : math ? MATH : 1;
}

static bool is_dear(const kj_texpr *e)
{
    return (e->kind == KJ_TE_BINARY && e->u.binary.op == KJ_OP_DIV) ||
           (e->kind == KJ_TE_CALL && kj_builtins[e->u.call.id].how == KJ_HOW_MATH);
}

static bool visit_access(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *f = ctx;
    f->dear = f->dear || (e && is_dear(e) && kj_step_of(&f->steps, e) == KJ_STEP_STAYS);
    if (e && f->narrow)
        f->cost += turns_around(f) * count_rows(f) * count_operations(f, e);
    if (!e && s->kind == KJ_TS_STORE)
        access(f, s->u.store.array, s->u.store.index);
    if (e && e->kind == KJ_TE_LOAD)
        access(f, e->u.load.array, e->u.load.index);
    return true;
}

static void count(search *f, const kj_tstmt *s);

/* A thread that goes on along something has a cache to fill of its own. */
static bool is_long_loop(const kj_tstmt *s)
{
    enum { FEW_TURNS = 8 };
    kj_turns turns;
    return s->kind != KJ_TS_FOR || !kj_known_turns(s, &turns) || turns.n > FEW_TURNS;
}

static void count_loop(search *f, const kj_tstmt *s)
{
    f->depth++;
    f->loops = true;
    f->turns |= is_long_loop(s);
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
static double cost_along(search *f, kj_arena *arena, const kj_tkernel *k, int axis, bool flat)
{
    if (!kj_steps_find(&f->steps, arena, k, axis, flat, false))
        return axis == 0 && !flat ? 0 : INFINITY;
    count(f, k->body->body);
    bool any = axis == 0 || f->moves || (f->narrow && f->follows && k->block[axis] >= FEW);
    return any ? f->cost : INFINITY;
}

/* ---- The choice ---- */

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

static bool has_length(const kj_tkernel *k, int axis)
{
    return k->block[axis] >= (k->block[0] < FEW ? k->block[0] : FEW) && k->block[axis] > 1;
}

bool kj_is_narrow(const kj_tkernel *k)
{
    return k->block[0] < FEW && k->block[1] * k->block[2] > 1;
}

bool kj_shows_order(const kj_tkernel *k)
{
    bool shows = k->grid_sync != NULL;
    kj_walk(k->body->body, NULL, visit_order, &shows);
    return shows;
}

/* Several rows of a gang have a vector of what is dear to one. */
static bool may_stream(const search *f)
{
    return !f->apart && !f->turns && !f->dear;
}

/* How a CPU's lanes had best run: along that axis of threadIdx; or `flat`, by the threads' numbers. `streams`: rows of
 * blocks side by side are gone through from end to end, as each line of memory is of use to one row, or the next few. */
typedef struct lanes_of_gang {
    int axis;
    bool flat, loops, apart, streams; /* loops and apart: of `search` */
} lanes_of_gang;

/* `across`: by axis, do they go on into the next block? Then blocks are not narrow. */
static lanes_of_gang choose(kj_arena *arena, const kj_tkernel *k, const bool across[3])
{
    lanes_of_gang best = {.axis = 0};
    bool narrow = kj_is_narrow(k) && !across[0];
    if (k->block[1] * k->block[2] == 1)
        return best;
    bool shows = kj_shows_order(k);
    search x = {.narrow = narrow};
    double least = cost_along(&x, arena, k, 0, false);
    best.loops = x.loops;
    best.apart = x.apart;
    best.streams = !shows && may_stream(&x);
    if (narrow) {
        double flat = cost_along(&(search){.narrow = true}, arena, k, 0, true);
        best.flat = flat <= least;
        least = best.flat ? flat : least;
    }
    least = narrow ? least : least * 2 / 3;
    for (int axis = 1; axis < 3 && !shows; axis++) {
        search f = {.narrow = narrow};
        bool enough = has_length(k, axis) || (across[axis] && k->block[axis] > 1);
        double cost = enough ? cost_along(&f, arena, k, axis, false) : INFINITY;
        if (cost < least) {
            best = (lanes_of_gang){
                .axis = axis, .loops = f.loops, .apart = f.apart, .streams = may_stream(&f)};
            least = cost;
        }
    }
    return best;
}

/* Half vectors of words in several rows are as many instructions as whole ones of one, and more values than there are
 * registers for; in loops they share what the rows have in common. */
static bool has_words(const kj_tkernel *k)
{
    for (int i = 0; i < k->nroots; i++)
        if (kj_elem_size(k->roots[i]) > 4)
            return false;
    return true;
}

static bool had_best_go_on(const kj_tkernel *k, lanes_of_gang l)
{
    int gang = l.streams && has_words(k) ? KJ_GANG_OF_BYTES : kj_least_gang(k);
    return !l.apart && kj_is_short(k->block, l.axis, gang);
}

/* Where elements are gathered, or rows are strips or columns, those of a block are better off. */
static lanes_of_gang choose_across(kj_arena *arena, const kj_tkernel *k, bool across[3])
{
    for (int axis = 0; axis < 3; axis++)
        across[axis] = kj_go_across(arena, k, axis);
    lanes_of_gang best = choose(arena, k, across);
    if (!across[best.axis] || had_best_go_on(k, best))
        return best;
    for (int axis = 0; axis < 3; axis++)
        across[axis] = false;
    return choose(arena, k, across);
}

const kj_tkernel *kj_with_lanes(kj_arena *arena, const kj_tkernel *k)
{
    bool across[3] = {false, false, false};
    bool watched = k->checks & KJ_CHECKS_WATCHED; /* who knows the source's axes alone */
    lanes_of_gang best =
        watched ? (lanes_of_gang){.flat = kj_is_narrow(k)} : choose_across(arena, k, across);
    if (best.axis == 0 && !best.flat && !across[0] && !best.streams)
        return k;
    kj_tkernel *turned = KJ_NEW(arena, kj_tkernel);
    *turned = *k;
    turned->flat = best.flat;
    turned->across = !best.flat && across[best.axis];
    turned->shares = best.loops;
    turned->streams = best.streams && !best.flat;
    turned->lanes = best.axis;
    turned->block[0] = k->block[best.axis];
    turned->block[best.axis] = k->block[0];
    return turned;
}
