/* Grid-stride loops, whose turns become threads of a larger grid on a CPU: typed AST in and out.
 *
 *     for i in range(grid(1), n, gridsize(1)) { out[i] = f(x[i]) }
 *
 * (or `while i < n { ...; i += gridsize(1) }`) shares the numbers below n out among the threads, whichever grid was
 * launched. A processor that runs thread after thread goes through memory in steps as long as the grid, and has a few
 * elements of each page that it comes to. Where the turns have nothing to do with each other it is all the same whose
 * they are: so the kernel becomes that of a grid of as many blocks as n numbers need, with `if i < n`, and what runs a
 * share of the blocks that there are runs as large a share of those (`lower/block/cpu.c`).
 *
 * Turns are independent where they write what is their own: of each array that is written, the elements at i along one
 * axis; or integers that are only counted in, by one kind of atomic. Nothing may be told of who they are: no index of a
 * thread, no check, no print. */
#include "analysis/regions.h"

enum {
    MOST_NAMES = 8,  /* between a number and its value */
    LEAST_BLOCK = 32 /* where numbers may be many: then those of blocks are below 2^31 */
};

/* What the turns do with a root array. */
typedef struct use {
    bool any, stored, strange; /* strange: accessed elsewhere than at the turn's number */
    int axis;                  /* along which all accesses have it; -1: none */
    bool counted;
    kj_builtin by; /* so */
} use;

/* A loop, and what it counts: its body is [body, end). */
typedef struct turns {
    kj_tstmt *at;
    kj_var *var;
    const kj_texpr *start, *step;
    kj_texpr *stop;
    kj_tstmt *body, *end;
} turns;

typedef struct search {
    const kj_tkernel *kernel;
    turns loop;
    const kj_texpr **init;  /* of variables in front of the loop, by id; of none NULL */
    bool *own;              /* variables that a turn begins itself, by id */
    bool *number;           /* those of them that are its number */
    use *uses;              /* by root id */
    const kj_texpr *effect; /* an expression that is a statement */
    bool refused;
} search;

/* ---- Numbers of the grid ---- */

/* thread * threadIdx.x + block * blockIdx.x + grid * gridDim.x, and nothing else. */
typedef struct place {
    bool known;
    int64_t thread, block, grid;
} place;

static const kj_texpr *meant(const search *f, const kj_texpr *e)
{
    for (int i = 0; i < MOST_NAMES && e->kind == KJ_TE_VAR && f->init[e->u.var->id]; i++)
        e = f->init[e->u.var->id];
    return e;
}

static place place_of_index(const kj_texpr *e)
{
    place p = {.known = e->u.index.axis == 0};
    switch (e->u.index.which) {
    case KJ_THREAD_IDX: p.thread = 1; break;
    case KJ_BLOCK_IDX: p.block = 1; break;
    case KJ_GRID_DIM: p.grid = 1; break;
    default: p.known = false;
    }
    return p;
}

/* A product is that of blockDim.x with one of the others. */
static place place_of(const search *f, const kj_texpr *e)
{
    e = meant(f, e);
    if (e->kind == KJ_TE_INDEX)
        return place_of_index(e);
    if (e->kind != KJ_TE_BINARY || e->type != KJ_I64 || e->checked)
        return (place){false, 0, 0, 0};
    const kj_texpr *a = meant(f, e->u.binary.lhs), *b = meant(f, e->u.binary.rhs);
    if (e->u.binary.op == KJ_OP_MUL) {
        const kj_texpr *by = a->kind == KJ_TE_CONST ? a : b, *of = by == a ? b : a;
        if (by->kind != KJ_TE_CONST || of->kind != KJ_TE_INDEX)
            return (place){false, 0, 0, 0};
        place p = place_of_index(of);
        int64_t n = by->u.value.i;
        return (place){p.known, p.thread * n, p.block * n, p.grid * n};
    }
    if (e->u.binary.op != KJ_OP_ADD || a->kind == KJ_TE_CONST || b->kind == KJ_TE_CONST)
        return (place){false, 0, 0, 0};
    place p = place_of(f, a), q = place_of(f, b);
    return (place){p.known && q.known, p.thread + q.thread, p.block + q.block, p.grid + q.grid};
}

static bool shares_out(const search *f)
{
    int64_t width = f->kernel->block[0];
    place start = place_of(f, f->loop.start), step = place_of(f, f->loop.step);
    return start.known && start.thread == 1 && start.block == width && start.grid == 0 &&
           step.known && step.thread == 0 && step.block == 0 && step.grid == width;
}

/* ---- What a launch has in common ---- */

static bool is_common(search *f, const kj_texpr *e);

/* As what turns load, it may be another's by another name. */
static bool see_common_load(search *f, const kj_tarray *a)
{
    f->uses[a->root->id].any = f->uses[a->root->id].strange = true;
    return a->root->space != KJ_SHARED && !a->root->written && !a->checks;
}

static bool see_common(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *f = ctx;
    (void)s;
    if (e->kind == KJ_TE_VAR)
        return is_common(f, e);
    if (e->kind == KJ_TE_LOAD && !see_common_load(f, e->u.load.array))
        return false;
    return !e->checked && e->kind != KJ_TE_INDEX && e->kind != KJ_TE_ADDRESS &&
           e->kind != KJ_TE_ATOMIC && e->kind != KJ_TE_INLINE &&
           (e->kind != KJ_TE_CALL || kj_builtins[e->u.call.id].how == KJ_HOW_MATH ||
            kj_builtins[e->u.call.id].how == KJ_HOW_CODE);
}

/* The same number for all threads, and nothing else: who asks for it more or less often changes nothing. */
static bool is_common(search *f, const kj_texpr *e)
{
    if (e->kind != KJ_TE_VAR)
        return kj_walk_expr(NULL, e, see_common, f);
    const kj_texpr *init = f->init[e->u.var->id];
    return e->u.var->param >= 0 || (init && is_common(f, init));
}

/* ---- What a turn does ---- */

static bool is_number(const search *f, const kj_texpr *e)
{
    return e->kind == KJ_TE_VAR && f->number[e->u.var->id];
}

/* Has it the root's axes, and no others? */
static bool is_whole(const kj_tarray *a)
{
    const kj_tarray *root = a->root;
    bool same = a->ndim == root->ndim && !a->offset && !a->bytes && root->space == KJ_GLOBAL;
    for (int i = 0; i < a->ndim && same; i++)
        same = a == root || kj_is_same_number(a->stride[i], root->stride[i]);
    return same;
}

/* An access that is no atomic: along which axis is the turn's number? */
static void see_access(search *f, const kj_tarray *a, kj_texpr *const *index, bool stores)
{
    use *u = &f->uses[a->root->id];
    int axis = -1;
    bool whole = is_whole(a);
    for (int i = 0; i < a->ndim && whole && axis < 0; i++)
        if (is_number(f, index[i]))
            axis = i;
    u->strange |= axis < 0 || (u->any && u->axis != axis);
    u->axis = axis;
    u->any = true;
    u->stored |= stores;
    /* elements of other strides may be each other's */
    u->strange |= stores && a->root->layout != KJ_LAYOUT_C && a->root->layout != KJ_LAYOUT_F;
    f->refused |= a->checks || a->root->space == KJ_SHARED || kj_is_fetched_again(a);
}

static bool keeps_order(kj_builtin id)
{
    switch (id) {
    case KJ_BI_ATOMIC_ADD:
    case KJ_BI_ATOMIC_SUB:
    case KJ_BI_ATOMIC_MIN:
    case KJ_BI_ATOMIC_MAX:
    case KJ_BI_ATOMIC_AND:
    case KJ_BI_ATOMIC_OR:
    case KJ_BI_ATOMIC_XOR: return false;
    default: return true;
    }
}

/* Counting in an array, whose old value nobody asks for. */
static void see_atomic(search *f, const kj_texpr *e)
{
    const kj_tarray *a = e->u.atomic.array;
    kj_builtin id = e->u.atomic.id;
    use *u = &f->uses[a->root->id];
    f->refused |= e != f->effect || keeps_order(id) || !kj_is_int(a->elem) || a->checks ||
                  a->elem != a->root->elem || a->root->space != KJ_GLOBAL ||
                  (u->counted && u->by != id);
    u->counted = true;
    u->by = id;
}

static bool see_expr(search *f, const kj_texpr *e)
{
    f->refused |= e->checked != NULL;
    switch (e->kind) {
    case KJ_TE_VAR: f->refused |= !f->own[e->u.var->id] && !is_common(f, e); break;
    case KJ_TE_INDEX:
    case KJ_TE_ADDRESS: f->refused = true; break;
    case KJ_TE_LOAD: see_access(f, e->u.load.array, e->u.load.index, false); break;
    case KJ_TE_ATOMIC: see_atomic(f, e); break;
    case KJ_TE_CALL: {
        kj_how how = kj_builtins[e->u.call.id].how;
        f->refused |= how == KJ_HOW_WARP || how == KJ_HOW_FENCE;
        break;
    }
    default: break;
    }
    return !f->refused;
}

static void see_variable(search *f, const kj_var *v, const kj_texpr *init)
{
    f->own[v->id] = true;
    f->number[v->id] = init && !v->mutable && is_number(f, init);
}

static bool see(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *f = ctx;
    if (e)
        return see_expr(f, e);
    switch (s->kind) {
    case KJ_TS_DECL: see_variable(f, s->u.decl.var, s->u.decl.init); break;
    case KJ_TS_FOR: f->own[s->u.for_.var->id] = true; break;
    case KJ_TS_ARRAY: f->refused |= s->u.array->space != KJ_LOCAL; break;
    case KJ_TS_ASSIGN:
        f->refused |= !f->own[s->u.assign.var->id] || s->u.assign.var == f->loop.var;
        break;
    case KJ_TS_STORE: see_access(f, s->u.store.array, s->u.store.index, true); break;
    case KJ_TS_EXPR: f->effect = s->u.expr; break;
    case KJ_TS_LEAVE: f->refused |= s->u.leave == f->kernel->body; break;
    case KJ_TS_IF:
    case KJ_TS_WHILE:
    case KJ_TS_INLINE:
    case KJ_TS_BREAK: /* see leaves_loop */
    case KJ_TS_CONTINUE: break;
    default: f->refused = true; /* barriers, reports, launches */
    }
    return !f->refused;
}

/* Do its own turns end it, or each other? */
static bool leaves_loop(const kj_tstmt *s, const kj_tstmt *end)
{
    bool leaves = false;
    for (; s != end && !leaves; s = s->next)
        leaves = s->kind == KJ_TS_BREAK || s->kind == KJ_TS_CONTINUE ||
                 (s->kind == KJ_TS_IF &&
                  (leaves_loop(s->u.if_.yes, NULL) || leaves_loop(s->u.if_.no, NULL)));
    return leaves;
}

/* What is written is each turn's own, and nobody else's by another name. */
static bool are_apart(const search *f)
{
    int stored = 0, used = 0;
    for (int i = 0; i < f->kernel->nroots; i++) {
        const use *u = &f->uses[i];
        used += u->any || u->counted;
        stored += u->stored || u->counted;
        if ((u->stored && u->strange) || (u->counted && u->any))
            return false;
    }
    return stored > 0 && (used == 1 || f->kernel->disjoint);
}

static bool is_independent(search *f)
{
    const turns *t = &f->loop;
    f->own[t->var->id] = f->number[t->var->id] = true;
    return !leaves_loop(t->body, t->end) && kj_walk(t->body, t->end, see, f) && are_apart(f);
}

/* ---- The kernel ---- */

/* `while i < stop { ...; i += step }`, behind `var i = start`, with which i is declared. */
static bool counts_up(kj_tstmt *decl, turns *out)
{
    kj_tstmt *s = decl->next, *last = s && s->kind == KJ_TS_WHILE ? s->u.while_.body : NULL;
    const kj_texpr *test = last ? s->u.while_.test : NULL;
    kj_var *v = decl->u.decl.var;
    while (last && last->next)
        last = last->next;
    if (!last || last->kind != KJ_TS_ASSIGN || last->u.assign.var != v || s->next ||
        test->kind != KJ_TE_BINARY || test->u.binary.op != KJ_OP_LT ||
        test->u.binary.lhs->kind != KJ_TE_VAR || test->u.binary.lhs->u.var != v)
        return false;
    const kj_texpr *sum = last->u.assign.value;
    if (sum->kind != KJ_TE_BINARY || sum->u.binary.op != KJ_OP_ADD || sum->checked ||
        sum->u.binary.lhs->kind != KJ_TE_VAR || sum->u.binary.lhs->u.var != v)
        return false;
    *out = (turns){.at = s,
                   .var = v,
                   .start = decl->u.decl.init,
                   .stop = test->u.binary.rhs,
                   .step = sum->u.binary.rhs,
                   .body = s->u.while_.body,
                   .end = last};
    return true;
}

/* The loop that ends the kernel, in front of which there are but names for values. */
static bool find_last_loop(search *f)
{
    kj_tstmt *s = f->kernel->body->body;
    for (; s && s->kind == KJ_TS_DECL && s->u.decl.init; s = s->next) {
        if (s->u.decl.var->mutable)
            return counts_up(s, &f->loop);
        if (!place_of(f, s->u.decl.init).known && !is_common(f, s->u.decl.init))
            return false;
        f->init[s->u.decl.var->id] = s->u.decl.init;
    }
    if (!s || s->kind != KJ_TS_FOR || s->next)
        return false;
    f->loop = (turns){.at = s,
                      .var = s->u.for_.var,
                      .start = s->u.for_.start,
                      .stop = s->u.for_.stop,
                      .step = s->u.for_.step,
                      .body = s->u.for_.body};
    return true;
}

static bool is_plain(const kj_tkernel *k)
{
    return k->block[0] > 0 && k->block[1] == 1 && k->block[2] == 1 && !k->grid_sync &&
           !k->launches && !(k->checks & KJ_CHECKS_WATCHED) && !k->body->leaves;
}

/* The same number, made of what the launch gives. */
static kj_texpr *given(kj_arena *arena, const search *f, kj_texpr *e)
{
    kj_texpr *copy = KJ_NEW(arena, kj_texpr);
    e = (kj_texpr *)meant(f, e);
    *copy = *e;
    if (e->checked)
        return NULL;
    switch (e->kind) {
    case KJ_TE_CONST:
    case KJ_TE_DIM: return copy;
    case KJ_TE_VAR: return e->u.var->param >= 0 ? copy : NULL;
    case KJ_TE_CONVERT:
        copy->u.unary.arg = given(arena, f, e->u.unary.arg);
        return copy->u.unary.arg ? copy : NULL;
    case KJ_TE_BINARY:
        copy->u.binary.lhs = given(arena, f, e->u.binary.lhs);
        copy->u.binary.rhs = given(arena, f, e->u.binary.rhs);
        return copy->u.binary.lhs && copy->u.binary.rhs ? copy : NULL;
    default: return NULL;
    }
}

static kj_tstmt *up_to(kj_tstmt *list, const kj_tstmt *end)
{
    kj_tstmt *s = list;
    while (s && s != end && s->next != end)
        s = s->next;
    if (s == end)
        return NULL;
    s->next = NULL;
    return list;
}

/* `let i = grid(1)`, `if i < n { ... }` in the loop's place. */
static void take_one_turn(kj_arena *arena, const turns *t)
{
    kj_span span = t->at->span;
    kj_texpr *less = KJ_NEW(arena, kj_texpr), *i = KJ_NEW(arena, kj_texpr);
    kj_tstmt *test = t->at;
    if (t->at->kind == KJ_TS_FOR) {
        test = KJ_NEW(arena, kj_tstmt);
        *t->at = (kj_tstmt){.kind = KJ_TS_DECL, .span = span, .next = test};
        t->at->u.decl.var = t->var;
        t->at->u.decl.init = (kj_texpr *)t->start;
    }
    *i = (kj_texpr){.kind = KJ_TE_VAR, .type = t->var->type, .span = span, .u.var = t->var};
    *less = (kj_texpr){.kind = KJ_TE_BINARY, .type = KJ_BOOL, .span = span};
    less->u.binary.op = KJ_OP_LT;
    less->u.binary.lhs = i;
    less->u.binary.rhs = t->stop;
    *test = (kj_tstmt){.kind = KJ_TS_IF, .span = span};
    test->u.if_.test = less;
    test->u.if_.yes = up_to(t->body, t->end);
    t->var->mutable = false;
}

/* Of a kernel whose extents are small: is that many small, too? What wraps, as u32(n) - 1 does, may be many. */
static bool is_extent(const kj_texpr *e)
{
    if (e->type != KJ_I64)
        return false;
    if (e->kind == KJ_TE_CONST)
        return e->u.value.i <= KJ_SMALL;
    if (e->kind == KJ_TE_DIM)
        return !e->u.dim.stride;
    return e->kind == KJ_TE_BINARY && e->u.binary.op == KJ_OP_SUB &&
           e->u.binary.rhs->kind == KJ_TE_CONST && e->u.binary.rhs->u.value.i >= 0 &&
           is_extent(e->u.binary.lhs);
}

/* Numbers of threads are small where those of elements are: of what is stored there are no more, and no more are run
 * (`find_share` of `lower/block/cpu.c`); who counts may have more numbers than that. */
static bool stays_small(const search *f, const kj_texpr *numbers)
{
    bool counts = false;
    for (int i = 0; i < f->kernel->nroots; i++)
        counts |= f->uses[i].counted;
    return f->kernel->small && (!counts || is_extent(numbers));
}

const kj_tkernel *kj_with_turns_shared_out(kj_arena *arena, const kj_tkernel *kernel)
{
    size_t vars = (size_t)kernel->nvars + 1, roots = (size_t)kernel->nroots + 1;
    if (!is_plain(kernel))
        return kernel;
    search f = {.kernel = kernel,
                .init = KJ_NEW_ARRAY(arena, const kj_texpr *, vars),
                .own = KJ_NEW_ARRAY(arena, bool, vars),
                .number = KJ_NEW_ARRAY(arena, bool, vars),
                .uses = KJ_NEW_ARRAY(arena, use, roots)};
    if (!find_last_loop(&f) || f.loop.var->type != KJ_I64 || !shares_out(&f))
        return kernel;
    kj_texpr *numbers = given(arena, &f, f.loop.stop);
    if (!numbers || !is_independent(&f))
        return kernel;
    bool small = stays_small(&f, numbers);
    if (!small && kernel->block[0] < LEAST_BLOCK)
        return kernel;
    kj_tkernel *out = KJ_NEW(arena, kj_tkernel);
    *out = *kernel;
    out->numbers = numbers;
    out->turns = f.loop.at->span;
    out->small = small;
    out->wide |= 1; /* along x: as many threads as there are numbers */
    take_one_turn(arena, &f.loop);
    return out;
}
