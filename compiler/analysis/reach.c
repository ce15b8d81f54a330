/* Which threads have something to do in a region: typed AST and homes in.
 *
 * Of a region that is one condition, as `if t < half { ... }` of a sum by halves is, the threads beyond the bound need
 * not be asked. Bounds are comparisons of what goes on by one number from thread to thread along a gang's lanes with
 * what is the block's, and `t % n == 0`; not of the grid's numbers, as `grid(1) < n`, which few blocks have threads
 * beyond. lower/block/reach.c computes them in front of the region's loop; by what numbers a launch has, and whether
 * they wrap, is looked at there. */
#include "analysis/regions.h"

typedef struct finder {
    const kj_tkernel *kernel;
    const kj_deps *deps;
    const kj_regions *regions;
    int region;
    int budget; /* of nodes that are looked at */
} finder;

/* How an integer moves along the lanes. */
typedef enum slope { LEVEL, EVEN, UNKNOWN } slope;

static slope slope_of(finder *f, const kj_texpr *e);

static slope worse(slope a, slope b)
{
    return a > b ? a : b;
}

static bool is_thread(const finder *f, const kj_texpr *e)
{
    return e->kind == KJ_TE_INDEX && e->u.index.which == KJ_THREAD_IDX &&
           kj_swapped(e->u.index.axis, f->kernel->lanes) == 0;
}

/* What a variable was declared as, where that is the same in front of the region: of one that each region computes again, or
 * only this one has, by what does not change in it. NULL: it is not. */
static const kj_texpr *meaning(const finder *f, const kj_var *v)
{
    const kj_place *p = &f->regions->places[v->id];
    bool again = p->home == KJ_HOME_REMAT || (p->home == KJ_HOME_GANG && p->region == f->region);
    return again && !v->mutable && v->param < 0 ? p->init : NULL;
}

static slope slope_of_var(finder *f, const kj_var *v)
{
    const kj_place *p = &f->regions->places[v->id];
    if (v->param >= 0)
        return LEVEL;
    if (p->home == KJ_HOME_BLOCK) /* no region that writes one is bounded */
        return LEVEL;
    const kj_texpr *init = meaning(f, v);
    return init ? slope_of(f, init) : UNKNOWN;
}

/* Is it the thread's number itself, of whatever type? */
static bool is_number(const finder *f, const kj_texpr *e)
{
    enum { LOOKS = 16 };
    for (int i = 0; e && i < LOOKS && !is_thread(f, e); i++)
        e = e->kind == KJ_TE_CONVERT ? e->u.unary.arg
            : e->kind == KJ_TE_VAR   ? meaning(f, e->u.var)
                                     : NULL;
    return e && is_thread(f, e);
}

/* Of these the sum's lower bits are those of what wraps in a narrower one. */
static bool is_word(kj_dtype t)
{
    return t == KJ_I32 || t == KJ_U32 || t == KJ_I64;
}

static slope slope_of_conversion(finder *f, const kj_texpr *e)
{
    const kj_texpr *from = e->u.unary.arg;
    slope s = slope_of(f, from);
    bool wraps = kj_types[from->type].size < kj_types[e->type].size && !is_number(f, from);
    return s == EVEN && (wraps || !is_word(e->type)) ? UNKNOWN : s;
}

static slope slope_of_binary(finder *f, const kj_texpr *e)
{
    slope a = slope_of(f, e->u.binary.lhs), b = slope_of(f, e->u.binary.rhs), both = worse(a, b);
    if (both != EVEN)
        return both;
    switch (e->u.binary.op) {
    case KJ_OP_ADD:
    case KJ_OP_SUB: break;
    case KJ_OP_MUL: both = a == LEVEL || b == LEVEL ? EVEN : UNKNOWN; break;
    case KJ_OP_SHL: both = b == LEVEL ? EVEN : UNKNOWN; break;
    default: return UNKNOWN;
    }
    return is_word(e->type) ? both : UNKNOWN;
}

static slope slope_of(finder *f, const kj_texpr *e)
{
    if (e->checked || --f->budget < 0)
        return UNKNOWN;
    switch (e->kind) {
    case KJ_TE_CONST:
    case KJ_TE_DIM: return LEVEL;
    case KJ_TE_INDEX:
        if (is_thread(f, e))
            return EVEN;
        return e->u.index.which == KJ_THREAD_IDX ? UNKNOWN : LEVEL;
    case KJ_TE_VAR: return slope_of_var(f, e->u.var);
    case KJ_TE_CONVERT: return slope_of_conversion(f, e);
    case KJ_TE_UNARY: {
        slope s = slope_of(f, e->u.unary.arg);
        return s == EVEN && (e->u.unary.op != KJ_OP_NEG || !is_word(e->type)) ? UNKNOWN : s;
    }
    case KJ_TE_BINARY: return slope_of_binary(f, e);
    default: return UNKNOWN;
    }
}

/* ---- Tests ---- */

/* t % n == 0 */
static bool is_multiple(finder *f, const kj_texpr *e, kj_reach *out)
{
    const kj_texpr *x = e->u.binary.lhs, *zero = e->u.binary.rhs;
    if (e->u.binary.op != KJ_OP_EQ || x->kind != KJ_TE_BINARY || x->u.binary.op != KJ_OP_MOD ||
        x->checked || zero->kind != KJ_TE_CONST || zero->u.value.i != 0 ||
        !is_number(f, x->u.binary.lhs) || slope_of(f, x->u.binary.rhs) != LEVEL)
        return false;
    *out = (kj_reach){.op = KJ_OP_MOD, .index = x->u.binary.lhs, .limit = x->u.binary.rhs};
    return true;
}

static bool is_bound(finder *f, const kj_texpr *e, kj_reach *out)
{
    if (e->kind != KJ_TE_BINARY || e->checked || !is_word(e->u.binary.lhs->type))
        return false;
    if (is_multiple(f, e, out))
        return true;
    kj_op op = e->u.binary.op;
    if (op != KJ_OP_LT && op != KJ_OP_LE && op != KJ_OP_GT && op != KJ_OP_GE && op != KJ_OP_EQ)
        return false;
    slope a = slope_of(f, e->u.binary.lhs), b = slope_of(f, e->u.binary.rhs);
    if (a == LEVEL && b == EVEN)
        *out = (kj_reach){kj_mirrored(op), e->u.binary.rhs, e->u.binary.lhs};
    else if (a == EVEN && b == LEVEL)
        *out = (kj_reach){op, e->u.binary.lhs, e->u.binary.rhs};
    else
        return false;
    return !(kj_dep(f->deps, out->index) & KJ_DEP_BLOCK);
}

/* Those that a test needs, as far as what is asked before them has no effect. False where nothing behind may count. */
static bool take_bounds(finder *f, const kj_texpr *test, kj_node *n)
{
    if (test->kind == KJ_TE_LOGIC && !test->u.logic.is_or && !test->checked)
        return take_bounds(f, test->u.logic.lhs, n) && take_bounds(f, test->u.logic.rhs, n);
    f->budget = 64;
    if (n->nreach < KJ_REACHES && is_bound(f, test, &n->reach[n->nreach]))
        n->nreach++;
    return kj_is_harmless(test);
}

/* ---- Regions ---- */

/* Does nothing outlive the region that other threads than the condition's set, and nothing that is the block's? */
static bool is_the_threads(const finder *f, const kj_tstmt *s, const kj_tstmt *end)
{
    const kj_regions *r = f->regions;
    for (int id = 0; id < f->kernel->nvars; id++)
        if (r->places[id].home == KJ_HOME_BLOCK && kj_region_writes(r, f->region, id))
            return false;
    for (; s != end; s = s->next)
        if (s->kind == KJ_TS_DECL && r->places[s->u.decl.var->id].home == KJ_HOME_THREAD)
            return false;
    return true;
}

/* The one condition of the region, where all beside it are declarations of what can wait. */
static const kj_tstmt *only_condition(const kj_node *n)
{
    const kj_tstmt *found = NULL;
    for (const kj_tstmt *s = n->stmt; s != n->end; s = s->next) {
        if (s->kind == KJ_TS_IF && !found && !s->u.if_.no)
            found = s;
        else if (s->kind != KJ_TS_DECL || !kj_can_wait(s))
            return NULL;
    }
    return found;
}

static void find(finder *f, kj_node *n)
{
    const int64_t *block = f->kernel->block;
    f->region = n->region;
    const kj_tstmt *s = n->exits || n->spin ? NULL : only_condition(n);
    if (!s || !is_the_threads(f, n->stmt, n->end) ||
        (f->kernel->flat && block[0] < block[0] * block[1] * block[2]))
        return;
    take_bounds(f, s->u.if_.test, n);
}

static void find_all(finder *f, kj_node *n)
{
    for (; n; n = n->next) {
        if (n->kind == KJ_N_REGION)
            find(f, n);
        find_all(f, n->yes);
        find_all(f, n->no);
    }
}

void kj_find_reaches(const kj_tkernel *kernel, const kj_deps *deps, kj_regions *regions)
{
    finder f = {.kernel = kernel, .deps = deps, .regions = regions};
    if (regions->barrier && !deps->warps && !(kernel->checks & KJ_CHECKS_WATCHED))
        find_all(&f, regions->body);
}
