/* Whether a CPU's threads had best run one by one, and not as lanes of gangs: typed AST and dependences in.
 *
 * A gang's operation is one for all of its threads, but an element at a place of each thread's own is gathered, a load
 * a lane; where threads differ in what they do, all go through what any of them does, and as often as the one that does
 * it most. A search with a stack of each thread's own, the fields of large records, a decoder: there the plain code of one
 * thread after the other is several times as fast. This counts what both cost and chooses the gang in doubt. All levels
 * of x86-64 choose alike. */
#include <stdlib.h>

#include "analysis/regions.h"
#include "analysis/step.h"

/* Cycles of a thread. */
typedef struct cost {
    double gang, alone;
} cost;

typedef enum work {
    LOAD,
    STORE,
    STRIP_LOAD,
    STRIP_STORE,
    GATHER,
    NARROW_GATHER, /* of bytes and pairs of them: a load and an insertion a lane */
    SCATTER,
    LOCAL_SCATTER,
    OPERATION,
    WIDE_OPERATION, /* of 64 bits */
    FUNCTION,
    WIDE_MULHI,
    DIVISION_BY_ONE, /* divisor for all */
    WIDE_DIVISION_BY_ONE,
    DIVISION,
    WIDE_DIVISION, /* what doubles do not hold is divided a lane at a time */
    GUESS,         /* of a processor that is wrong half of the time */
    TURN,
    NWORK
} work;

/* Estimates for 16 lanes of AVX-512 on Zen 4, such that of the kernels of bench/cpu and of tests/emit/data/alone.knl the
 * quicker way is taken. */
static const cost costs[NWORK] = {
    [LOAD] = {0.1, 0.5},
    [STORE] = {0.1, 1},
    [STRIP_LOAD] = {0.25, 0.5},
    [STRIP_STORE] = {0.25, 1},
    [GATHER] = {1.5, 0.5},
    [NARROW_GATHER] = {2.2, 0.5},
    [SCATTER] = {2, 1},
    [LOCAL_SCATTER] = {3, 1},
    [OPERATION] = {0.0625, 0.4},
    [WIDE_OPERATION] = {0.125, 0.4},
    [FUNCTION] = {2, 25},
    [WIDE_MULHI] = {1.5, 1.5},
    [DIVISION_BY_ONE] = {0.5, 3},
    [WIDE_DIVISION_BY_ONE] = {1.5, 3},
    [DIVISION] = {0.5, 8},
    [WIDE_DIVISION] = {4, 8},
    [GUESS] = {0, 6},
    [TURN] = {0, 1},
};

typedef struct search {
    const kj_deps *deps;
    kj_arena *arena;
    kj_steps steps;
    kj_steps *rows; /* along the other axis of a gang; NULL: not asked for so far */
    bool *apart;    /* by kj_var.id: threads that turn together may have counted it differently */
    double turns;   /* of the loops around, and how likely a thread is to be here */
    double often;   /* a gang runs this so many times as often as one of its threads does */
    int loops;      /* around */
    int outside;    /* of those around the function that was written in, too */
    bool lines_are_free; /* what goes on by one number from thread to thread costs neither */
    int operations;
    int lines; /* accesses of neighbours side by side */
    cost sum;
} search;

static void add(search *f, cost c)
{
    f->sum.gang += f->turns * f->often * c.gang;
    f->sum.alone += f->turns * c.alone;
}

/* ---- How values move ---- */

static bool visit_apart(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    const search *f = ctx;
    (void)s;
    return !(e && e->kind == KJ_TE_VAR && f->apart[e->u.var->id]);
}

static bool is_apart(const search *f, const kj_texpr *e)
{
    return e && !kj_walk_expr(NULL, e, visit_apart, (void *)f);
}

/* What threads count in while they turn together is one number for those that still do (lower/gang/counter.c), also
 * where they leave the loop one by one; not what some of them count in a turn and others do not. */
static void find_apart(search *f, const kj_tstmt *s, bool turns, bool some);

static void find_list(search *f, const kj_tstmt *s, bool turns, bool some)
{
    for (; s; s = s->next)
        find_apart(f, s, turns, some);
}

static void find_apart(search *f, const kj_tstmt *s, bool turns, bool some)
{
    switch (s->kind) {
    case KJ_TS_DECL: f->apart[s->u.decl.var->id] |= is_apart(f, s->u.decl.init); break;
    case KJ_TS_ASSIGN:
        f->apart[s->u.assign.var->id] |= (turns && some) || is_apart(f, s->u.assign.value);
        break;
    case KJ_TS_IF:
        some |= turns && kj_dep(f->deps, s->u.if_.test) & KJ_DEP_VARIES;
        find_list(f, s->u.if_.yes, turns, some);
        find_list(f, s->u.if_.no, turns, some);
        break;
    case KJ_TS_FOR: find_list(f, s->u.for_.body, true, some); break;
    case KJ_TS_WHILE: find_list(f, s->u.while_.body, true, some); break;
    case KJ_TS_INLINE: find_list(f, s->u.block->body, turns, some); break;
    default: break;
    }
}

static kj_step step_of(search *f, const kj_texpr *e)
{
    kj_step s = kj_step_of(&f->steps, e);
    return s == KJ_STEP_STAYS && is_apart(f, e) ? KJ_STEP_FAR : s;
}

/* What is alike for all, or moves by an element, is a number of the gang's. */
static bool is_a_thread_s(kj_step s)
{
    return !kj_step_is_short(s);
}

/* Does nothing hold elements together but a number that is the same for all? */
static bool is_far(kj_step s)
{
    return s == KJ_STEP_FAR || s == KJ_STEP_LINE;
}

/* ---- Accesses ---- */

/* Does it move along one axis by few elements from thread to thread? By constants, those are; else where only constants
 * are behind that axis, as the colours of neighbouring points are, they may be. */
static bool is_near(search *f, const kj_tarray *a, kj_texpr *const *index)
{
    enum { FEW = 4 };
    int last = a->ndim - 1;
    if (a->whole && a->whole->of->n > FEW)
        return false;
    while (last > 0 && index[last]->kind == KJ_TE_CONST)
        last--;
    kj_step along = last < 0 ? KJ_STEP_FAR : step_of(f, index[last]);
    if (along == KJ_STEP_STAYS || !kj_step_is_short(along))
        return false;
    const kj_texpr *stride = a->stride[last];
    int64_t most = f->steps.large ? 1 : FEW; /* only rows are looked at (lower/memory/row.c) */
    return stride->kind != KJ_TE_CONST || llabs(stride->u.value.i) <= most;
}

static kj_step step_of_place(search *f, const kj_tarray *a, kj_texpr *const *index)
{
    kj_step s = a->bytes ? KJ_STEP_FAR : kj_step_of_place(&f->steps, a, index);
    for (int i = 0; i < a->ndim && s == KJ_STEP_STAYS; i++)
        s = step_of(f, index[i]);
    if (a->whole && s != KJ_STEP_STAYS)
        return is_near(f, a, index) ? KJ_STEP_ONE : KJ_STEP_FAR;
    return is_far(s) && is_near(f, a, index) ? KJ_STEP_ONE : s;
}

/* A loop along a row of each thread's goes by strips (lower/gang/strip_find.c). */
static bool goes_along(search *f, const kj_tarray *a, kj_texpr *const *index)
{
    return f->loops > 0 && a->ndim > 0 && !a->whole && !a->bytes &&
           kj_goes_by_turns(&f->steps, index[a->ndim - 1]);
}

static cost cost_of_local(const kj_tarray *a, kj_step s, bool stores)
{
    enum {
        OWN = 8 /* of no more elements a thread's own is chosen (lower/memory/own.c) */,
        LANES = 16
    };
    cost c = costs[s == KJ_STEP_STAYS ? (stores ? STORE : LOAD) : stores ? LOCAL_SCATTER : GATHER];
    if (s != KJ_STEP_STAYS && a->root->static_count <= OWN)
        c.gang = (double)a->root->static_count / LANES;
    return c;
}

/* How many rows of a gang lie side by side, where its lanes do not (lower/memory/columns.c). */
static int count_columns(search *f, const kj_tarray *a, kj_texpr *const *index)
{
    const kj_tkernel *k = f->steps.kernel;
    int rows = k->block[1] % 4 == 0 ? 4 : k->block[1] % 2 == 0 ? 2 : 1;
    if (rows == 1 || k->flat || a->whole || a->bytes)
        return 1;
    if (!f->rows) {
        f->rows = KJ_NEW(f->arena, kj_steps);
        if (!kj_steps_find(f->rows, f->arena, k, k->lanes == 1 ? 0 : 1, false, f->steps.large))
            f->rows->kernel = NULL;
    }
    return f->rows->kernel && kj_step_of_place(f->rows, a, index) == KJ_STEP_ONE ? rows : 1;
}

/* Of columns each lane has a load or a store for all rows, and its share of their transposition. */
static cost cost_apart(search *f, const kj_tarray *a, kj_texpr *const *index, kj_step s,
                       bool stores)
{
    bool narrow = kj_types[a->elem].size < 4 && s != KJ_STEP_LINE;
    cost c = costs[stores ? SCATTER : narrow ? NARROW_GATHER : GATHER];
    int columns = count_columns(f, a, index);
    if (columns > 1)
        c.gang = 1.0 / columns + 0.1;
    return c;
}

static void access(search *f, const kj_tarray *a, kj_texpr *const *index, bool stores)
{
    kj_step s = step_of_place(f, a, index);
    f->lines += !is_a_thread_s(s) && s != KJ_STEP_STAYS;
    if (a->root->space == KJ_LOCAL)
        add(f, cost_of_local(a, s, stores));
    else if (!is_a_thread_s(s))
        add(f, costs[stores ? STORE : LOAD]);
    else if (goes_along(f, a, index))
        add(f, costs[stores ? STRIP_STORE : STRIP_LOAD]);
    else
        add(f, cost_apart(f, a, index, s, stores));
}

/* ---- Operations ---- */

static bool divides(const kj_texpr *e)
{
    kj_op op = e->u.binary.op;
    return op == KJ_OP_FLOORDIV || op == KJ_OP_MOD;
}

static work work_of(search *f, const kj_texpr *e)
{
    bool wide = kj_types[e->type].size > 4;
    if (e->kind == KJ_TE_CALL && (kj_builtins[e->u.call.id].how == KJ_HOW_MATH ||
                                  kj_builtins[e->u.call.id].how == KJ_HOW_RANDOM))
        return FUNCTION;
    if (e->kind == KJ_TE_CALL && e->u.call.id == KJ_BI_MULHI && wide)
        return WIDE_MULHI;
    if (e->kind != KJ_TE_BINARY || !divides(e) || !kj_is_int(e->type))
        return wide ? WIDE_OPERATION : OPERATION;
    if (step_of(f, e->u.binary.rhs) == KJ_STEP_STAYS)
        return wide ? WIDE_DIVISION_BY_ONE : DIVISION_BY_ONE;
    return wide ? WIDE_DIVISION : DIVISION;
}

static bool is_computed(const search *f, kj_step s)
{
    return f->lines_are_free ? s > KJ_STEP_LINE : is_a_thread_s(s);
}

/* In large kernels it would take long to look at each operation. */
static bool visit(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    enum { LOOKED_AT = 1024 };
    search *f = ctx;
    (void)s;
    if (!e)
        return true;
    switch (e->kind) {
    case KJ_TE_LOAD: access(f, e->u.load.array, e->u.load.index, false); break;
    case KJ_TE_UNARY:
    case KJ_TE_BINARY:
    case KJ_TE_SELECT:
    case KJ_TE_FMA:
    case KJ_TE_CALL:
        if (++f->operations > LOOKED_AT || is_computed(f, step_of(f, e)))
            add(f, costs[work_of(f, e)]);
        break;
    default: break;
    }
    return true;
}

/* ---- Statements ---- */

static void count(search *f, const kj_tstmt *s, const kj_tstmt *end);

/* Loops of many turns are often left early. */
static double turns_of(const kj_tstmt *s)
{
    enum { TURNS = 8 };
    kj_turns turns;
    bool few = s->kind == KJ_TS_FOR && kj_known_turns(s, &turns) && turns.n < TURNS;
    return few ? (double)turns.n : TURNS;
}

/* Of threads that turn each as often as it has to, a gang turns as often as the last; searches differ by more than
 * ranges. */
static void count_loop(search *f, const kj_tstmt *s)
{
    double turns = f->turns, often = f->often;
    bool apart = s->divergence & KJ_DEP_VARIES;
    if (s->kind == KJ_TS_FOR)
        kj_walk_own(s, visit, f);
    if (apart)
        add(f, costs[GUESS]);
    f->turns *= turns_of(s);
    f->loops++;
    double last = s->kind == KJ_TS_WHILE ? 2.5 : 2;
    if (apart && often < last)
        f->often = last;
    add(f, costs[TURN]);
    if (s->kind == KJ_TS_WHILE)
        kj_walk_own(s, visit, f);
    count(f, s->kind == KJ_TS_WHILE ? s->u.while_.body : s->u.for_.body, NULL);
    f->turns = turns;
    f->often = often;
    f->loops--;
}

/* Does it ask what each thread has computed or loaded? Where a thread is, as in i < n, is alike for most of a gang. */
static bool is_guessed(search *f, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    bool any = false;
    if (e->type != KJ_BOOL ||
        (e->kind != KJ_TE_BINARY && e->kind != KJ_TE_LOGIC && e->kind != KJ_TE_UNARY))
        return f->lines_are_free ? step_of(f, e) > KJ_STEP_LINE : is_far(step_of(f, e));
    for (int i = 0, n = kj_operands(e, operands); i < n && !any; i++)
        any = is_guessed(f, operands[i]);
    return any;
}

/* So many of a gang's threads are left. */
static void leave(search *f, double left)
{
    f->turns *= left;
    f->often /= left;
}

static const kj_tstmt *last_of(const kj_tstmt *s)
{
    while (s && s->next)
        s = s->next;
    return s;
}

/* Do the statements end the loop around them? Not where they end a function in it. A processor is wrong of that once a loop (count_loop). */
static bool ends_loop(const search *f, const kj_tstmt *s)
{
    s = last_of(s);
    return s && ((s->kind == KJ_TS_BREAK && f->loops > 0) ||
                 (s->kind == KJ_TS_LEAVE && f->loops > f->outside));
}

/* Where threads differ, each goes one of two ways and a processor guesses which; a gang goes both. */
static void count_if(search *f, const kj_tstmt *s)
{
    double turns = f->turns, often = f->often;
    kj_walk_own(s, visit, f);
    if (is_guessed(f, s->u.if_.test)) {
        if (!ends_loop(f, s->u.if_.yes))
            add(f, costs[GUESS]);
        leave(f, 0.5);
    }
    count(f, s->u.if_.yes, NULL);
    count(f, s->u.if_.no, NULL);
    f->turns = turns;
    f->often = often;
}

static bool ends_by_jump(const kj_tstmt *s)
{
    s = last_of(s);
    return s && (s->kind == KJ_TS_BREAK || s->kind == KJ_TS_CONTINUE || s->kind == KJ_TS_LEAVE);
}

static void count_inline(search *f, const kj_tblock *block)
{
    int outside = f->outside;
    f->outside = f->loops;
    count(f, block->body, NULL);
    f->outside = outside;
}

/* Behind a condition with a jump there are those threads that have not taken it: most do not. */
static void count(search *f, const kj_tstmt *s, const kj_tstmt *end)
{
    double turns = f->turns, often = f->often, all = 1;
    for (; s != end; s = s->next) {
        switch (s->kind) {
        case KJ_TS_IF:
            count_if(f, s);
            if (all > 0.25 && ends_by_jump(s->u.if_.yes) != ends_by_jump(s->u.if_.no) &&
                is_guessed(f, s->u.if_.test)) {
                leave(f, 0.7);
                all *= 0.7;
            }
            break;
        case KJ_TS_FOR:
        case KJ_TS_WHILE: count_loop(f, s); break;
        case KJ_TS_INLINE: count_inline(f, s->u.block); break;
        case KJ_TS_STORE:
            access(f, s->u.store.array, s->u.store.index, true);
            /* fall through */
        default: kj_walk_own(s, visit, f);
        }
    }
    f->turns = turns;
    f->often = often;
}

/* ---- The choice ---- */

/* Finds how values move; large: kj_steps'. */
static bool begin(search *f, const kj_tkernel *k, bool large)
{
    enum { ROUNDS = 3 /* of which the last finds hardly anything */ };
    *f = (search){.deps = f->deps, .arena = f->arena, .turns = 1, .often = 1};
    if (!kj_steps_find(&f->steps, f->arena, k, k->lanes, k->flat, large))
        return false;
    f->apart = KJ_NEW_ARRAY(f->arena, bool, (size_t)k->nvars + 1);
    for (int i = 0; i < ROUNDS; i++)
        find_list(f, k->body->body, false, false);
    return true;
}

static bool is_quicker_alone(search *f, const kj_tkernel *k, bool large)
{
    if (!begin(f, k, large))
        return false;
    count(f, k->body->body, NULL);
    return f->sum.alone * 1.25 < f->sum.gang;
}

/* Rows that lie so only where numbers are large are looked at, few of them. */
static bool is_quicker_where_large(search *f, const kj_tkernel *k)
{
    return !is_quicker_alone(f, k, true) && f->lines <= KJ_ROWS_LOOKED_AT;
}

/* May a block's threads run in any order between its barriers? */
static bool has_no_order(const kj_tkernel *k, const kj_deps *deps)
{
    return k->block[0] >= 2 && !deps->warps && !deps->atomics && !(k->checks & KJ_CHECKS_WATCHED) &&
           !kj_shows_order(k);
}

void kj_run_alone(kj_arena *arena, const kj_tkernel *k, kj_deps *deps)
{
    search f = {.deps = deps, .arena = arena};
    if (!has_no_order(k, deps) || (kj_is_narrow(k) && !k->across) ||
        !is_quicker_alone(&f, k, false))
        return;
    deps->alone = true;
    if (is_quicker_where_large(&f, k) && kj_find_large(arena, &f.steps, &deps->large))
        deps->alone = deps->large != NULL; /* constants are known to be */
}

/* ---- Regions ---- */

/* Only those that some threads have something to do in, which are bounded: where all have, and elements are gathered, lanes
 * share what they compute. Numbers that go on from thread to thread are added up. */
static void choose_region(search *f, kj_node *n)
{
    enum {
        SELDOM = 16
    }; /* of n threads one is a multiple of n; mostly n doubles from region to region */
    f->sum = (cost){0, 0};
    f->lines_are_free = true;
    f->often = 1;
    for (int i = 0; i < n->nreach; i++)
        if (n->reach[i].op == KJ_OP_MOD)
            f->often = SELDOM;
    count(f, n->stmt, n->end);
    n->alone = f->sum.alone * 1.25 < f->sum.gang;
}

static bool has_reach(const kj_node *n)
{
    for (; n; n = n->next)
        if (n->nreach || has_reach(n->yes) || has_reach(n->no))
            return true;
    return false;
}

static void choose_regions(search *f, kj_node *n)
{
    for (; n; n = n->next) {
        if (n->nreach)
            choose_region(f, n);
        choose_regions(f, n->yes);
        choose_regions(f, n->no);
    }
}

void kj_run_regions_alone(kj_arena *arena, const kj_tkernel *k, const kj_deps *deps,
                          kj_regions *regions)
{
    search f = {.deps = deps, .arena = arena};
    if (has_reach(regions->body) && !deps->alone && has_no_order(k, deps) && begin(&f, k, false))
        choose_regions(&f, regions->body);
}
