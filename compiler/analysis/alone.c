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

/* Of a thread, in loads of one element from the first cache. */
typedef struct cost {
    double gang, alone;
} cost;

typedef struct search {
    const kj_deps *deps;
    kj_steps steps;
    bool *apart;  /* by kj_var.id: threads that turn together may have counted it differently */
    double turns; /* of the loops around, and how likely a thread is to be here */
    double often; /* a gang runs this so many times as often as one of its threads does */
    int loops;    /* around */
    int operations;
    cost sum;
} search;

enum { WRONG_GUESS = 6 };

static void add(search *f, double gang, double alone)
{
    f->sum.gang += f->turns * f->often * gang;
    f->sum.alone += f->turns * alone;
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
    return s != KJ_STEP_STAYS && s != KJ_STEP_ONE;
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
    if (last < 0 || step_of(f, index[last]) != KJ_STEP_ONE)
        return false;
    const kj_texpr *stride = a->stride[last];
    return stride->kind != KJ_TE_CONST || llabs(stride->u.value.i) <= FEW;
}

static kj_step step_of_place(search *f, const kj_tarray *a, kj_texpr *const *index)
{
    kj_step s = a->bytes ? KJ_STEP_FAR : kj_step_of_place(&f->steps, a, index);
    for (int i = 0; i < a->ndim && s == KJ_STEP_STAYS; i++)
        s = step_of(f, index[i]);
    if (a->whole && s != KJ_STEP_STAYS)
        return is_near(f, a, index) ? KJ_STEP_ONE : KJ_STEP_FAR;
    return s == KJ_STEP_FAR && is_near(f, a, index) ? KJ_STEP_ONE : s;
}

/* A loop along a row of each thread's goes by strips (lower/gang/strip_find.c). */
static bool goes_along(search *f, const kj_tarray *a, kj_texpr *const *index)
{
    return f->loops > 0 && a->ndim > 0 && !a->whole && !a->bytes &&
           kj_goes_by_turns(&f->steps, index[a->ndim - 1]);
}

static void access_local(search *f, const kj_tarray *a, kj_step s, bool stores)
{
    enum { OWN = 8 /* of no more elements a thread's own is chosen (lower/memory/own.c) */ };
    double lanes = a->root->static_count <= OWN ? (double)a->root->static_count / 16
                   : stores                     ? 3
                                                : 1.5;
    add(f, s == KJ_STEP_STAYS ? 0.1 : lanes, stores ? 1 : 0.5);
}

static void access(search *f, const kj_tarray *a, kj_texpr *const *index, bool stores)
{
    kj_step s = step_of_place(f, a, index);
    if (a->root->space == KJ_LOCAL) {
        access_local(f, a, s, stores);
        return;
    }
    double gathered = stores ? 2 : 1.5;
    double gang = !is_a_thread_s(s) ? 0.1 : goes_along(f, a, index) ? 0.25 : gathered;
    add(f, gang, stores ? 1 : 0.5);
}

/* ---- Operations ---- */

static bool divides(const kj_texpr *e)
{
    kj_op op = e->u.binary.op;
    return op == KJ_OP_FLOORDIV || op == KJ_OP_MOD;
}

/* Those of 64 bits that doubles do not hold are made a lane at a time. */
static void add_division(search *f, bool wide, bool by_one)
{
    if (by_one)
        add(f, wide ? 1.5 : 0.5, 3);
    else
        add(f, wide ? 4 : 0.5, 8);
}

static void operation(search *f, const kj_texpr *e)
{
    double words = kj_types[e->type].size > 4 ? 2 : 1;
    if (e->kind == KJ_TE_CALL && (kj_builtins[e->u.call.id].how == KJ_HOW_MATH ||
                                  kj_builtins[e->u.call.id].how == KJ_HOW_RANDOM))
        add(f, 2, 25);
    else if (e->kind == KJ_TE_CALL && e->u.call.id == KJ_BI_MULHI && words > 1)
        add(f, 1.5, 1.5); /* no vector has it */
    else if (e->kind == KJ_TE_BINARY && divides(e) && kj_is_int(e->type))
        add_division(f, words > 1, step_of(f, e->u.binary.rhs) == KJ_STEP_STAYS);
    else
        add(f, words / 16, 0.4);
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
        if (++f->operations > LOOKED_AT || is_a_thread_s(step_of(f, e)))
            operation(f, e);
        break;
    default: break;
    }
    return true;
}

/* ---- Statements ---- */

static void count(search *f, const kj_tstmt *s);

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
    enum { TURN = 1 };
    double turns = f->turns, often = f->often;
    bool apart = s->divergence & KJ_DEP_VARIES;
    if (s->kind == KJ_TS_FOR)
        kj_walk_own(s, visit, f);
    add(f, 0, apart ? WRONG_GUESS : 0);
    f->turns *= turns_of(s);
    f->loops++;
    double last = s->kind == KJ_TS_WHILE ? 2.5 : 2;
    if (apart && often < last)
        f->often = last;
    add(f, 0, TURN);
    if (s->kind == KJ_TS_WHILE)
        kj_walk_own(s, visit, f);
    count(f, s->kind == KJ_TS_WHILE ? s->u.while_.body : s->u.for_.body);
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
        return step_of(f, e) == KJ_STEP_FAR;
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

/* Where threads differ, each goes one of two ways and a processor guesses which; a gang goes both. */
static void count_if(search *f, const kj_tstmt *s)
{
    double turns = f->turns, often = f->often;
    kj_walk_own(s, visit, f);
    if (is_guessed(f, s->u.if_.test)) {
        add(f, 0, WRONG_GUESS);
        leave(f, 0.5);
    }
    count(f, s->u.if_.yes);
    count(f, s->u.if_.no);
    f->turns = turns;
    f->often = often;
}

static bool ends_by_jump(const kj_tstmt *s)
{
    while (s && s->next)
        s = s->next;
    return s && (s->kind == KJ_TS_BREAK || s->kind == KJ_TS_CONTINUE || s->kind == KJ_TS_LEAVE);
}

/* Behind a condition with a jump there are those threads that have not taken it: most do not. */
static void count(search *f, const kj_tstmt *s)
{
    double turns = f->turns, often = f->often, all = 1;
    for (; s; s = s->next) {
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
        case KJ_TS_INLINE: count(f, s->u.block->body); break;
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

bool kj_run_alone(kj_arena *arena, const kj_tkernel *k, const kj_deps *deps)
{
    enum { ROUNDS = 3 /* of which the last finds hardly anything */ };
    search f = {.deps = deps, .turns = 1, .often = 1};
    if (k->block[0] < 2 || deps->warps || deps->atomics || k->checks & KJ_CHECKS_WATCHED ||
        kj_shows_order(k) || kj_is_narrow(k) ||
        !kj_steps_find(&f.steps, arena, k, k->lanes, k->flat))
        return false;
    f.apart = KJ_NEW_ARRAY(arena, bool, (size_t)k->nvars + 1);
    for (int i = 0; i < ROUNDS; i++)
        find_list(&f, k->body->body, false, false);
    count(&f, k->body->body);
    return f.sum.alone * 1.25 < f.sum.gang;
}
