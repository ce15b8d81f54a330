/* Had blocks that lie side by side along an axis best run as one, so that a gang's lanes go on across their borders?
 * Typed AST in. That is for blocks whose rows are short, or end in short gangs.
 *
 * They may where the kernel knows a thread's place along the axis by its number in the grid alone, blockIdx * blockDim +
 * threadIdx: then a gang that begins in one block and ends in another has the same numbers as threads of one wider
 * block. So each sum in which threadIdx or blockIdx stands has to have blockDim times as much of the second as of the
 * first; also where a part of it is a variable. */
#include "analysis/uniform.h"

/* How often the axis's threadIdx and blockIdx are in a number, modulo 2^(bits of its type). */
typedef struct share {
    bool sum; /* it is a sum of these and what has none of them */
    int64_t thread, block;
    int places; /* how many of both the expression names */
} share;

typedef struct search {
    const kj_tkernel *kernel;
    int axis;
    share *var;  /* of variables that are assigned once, by id */
    int covered; /* places of the expression that is being walked over, which are in order */
    int budget;
} search;

static bool is_place(const search *f, const kj_texpr *e)
{
    if (e->kind == KJ_TE_VAR)
        return f->var[e->u.var->id].places > 0;
    return e->kind == KJ_TE_INDEX && e->u.index.axis == f->axis &&
           (e->u.index.which == KJ_THREAD_IDX || e->u.index.which == KJ_BLOCK_IDX);
}

static share share_of_place(const search *f, const kj_texpr *e)
{
    share s = {.sum = true, .places = 1};
    if (e->kind == KJ_TE_VAR) {
        s.thread = f->var[e->u.var->id].thread;
        s.block = f->var[e->u.var->id].block;
    } else {
        *(e->u.index.which == KJ_THREAD_IDX ? &s.thread : &s.block) = 1;
    }
    return s;
}

static share share_of(search *f, const kj_texpr *e);

static bool is_within(int64_t n, int64_t most)
{
    return -most < n && n < most;
}

/* a + b * sign; more than fits is no kernel's. */
static share add(share a, share b, int sign)
{
    enum { BITS = 40 };
    share s = {.sum = a.sum && b.sum,
               .thread = a.thread + sign * b.thread,
               .block = a.block + sign * b.block,
               .places = a.places + b.places};
    int64_t most = (int64_t)1 << BITS;
    s.sum &= is_within(s.thread, most) && is_within(s.block, most);
    return s;
}

static share times(share s, const kj_texpr *by)
{
    enum { BITS = 20 };
    int64_t n = by->u.value.i, most = (int64_t)1 << BITS;
    s.sum &= by->kind == KJ_TE_CONST && is_within(n, most) && is_within(s.thread, most) &&
             is_within(s.block, most);
    if (s.sum) {
        s.thread *= n;
        s.block *= n;
    }
    return s;
}

static bool is_balanced(const search *f, share s)
{
    return s.sum && s.block == s.thread * f->kernel->block[f->axis];
}

/* What is no sum of places, and of which they are operands, has its sums in these. */
static share opaque(search *f, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    share s = {.sum = true};
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        s.places += share_of(f, operands[i]).places;
    s.sum = s.places == 0 && e->kind != KJ_TE_INLINE;
    return s;
}

static share share_of_binary(search *f, const kj_texpr *e)
{
    share a = share_of(f, e->u.binary.lhs), b = share_of(f, e->u.binary.rhs);
    switch (e->u.binary.op) {
    case KJ_OP_ADD: return add(a, b, 1);
    case KJ_OP_SUB: return add(a, b, -1);
    case KJ_OP_MUL:
        if (a.places + b.places == 0)
            return (share){.sum = true};
        return a.places ? add(times(a, e->u.binary.rhs), b, 0)
                        : add(times(b, e->u.binary.lhs), a, 0);
    default: return (share){.sum = a.places + b.places == 0, .places = a.places + b.places};
    }
}

static share share_of(search *f, const kj_texpr *e)
{
    if (--f->budget < 0)
        return (share){.places = 1};
    if (is_place(f, e))
        return share_of_place(f, e);
    if (e->kind == KJ_TE_BINARY && kj_is_int(e->type))
        return share_of_binary(f, e);
    if (e->kind != KJ_TE_CONVERT || !kj_is_int(e->type) || !kj_is_int(e->u.unary.arg->type))
        return opaque(f, e);
    share s = share_of(f, e->u.unary.arg);
    bool widens = kj_types[e->type].size > kj_types[e->u.unary.arg->type].size;
    if (widens && is_balanced(f, s)) /* a number like any other, in whatever it is a part of */
        s.thread = s.block = 0;
    else if (widens)
        s.sum = s.places == 0; /* it may have wrapped */
    return s;
}

/* ---- Of a kernel ---- */

static bool visit(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *f = ctx;
    if (!e) {
        share of = {.places = 0};
        if (s->kind == KJ_TS_DECL && s->u.decl.init && !s->u.decl.var->mutable)
            of = share_of(f, s->u.decl.init);
        if (of.sum && of.places > 0) {
            f->covered = of.places;
            f->var[s->u.decl.var->id] = is_balanced(f, of) ? (share){.places = 0} : of;
        }
        return f->budget >= 0;
    }
    if (f->covered == 0) {
        share of = share_of(f, e);
        if (of.sum && of.places > 0 && !is_balanced(f, of))
            return false;
        f->covered = of.sum ? of.places : 0;
    }
    f->covered -= f->covered > 0 && is_place(f, e);
    return f->budget >= 0;
}

/* What threads have in common, and what shows in which order they run, is of one block. */
static bool has_blocks_of_its_own(const kj_tkernel *k)
{
    enum {
        LOCAL = 16 /* scalars of a thread's local arrays: others may be in memory of the block's */
    };
    int64_t locals = 0;
    for (int i = 0; i < k->nroots; i++) {
        const kj_tarray *a = k->roots[i];
        if (a->space == KJ_SHARED)
            return true;
        locals += a->space == KJ_LOCAL ? a->static_count * kj_elem_size(a) / 4 : 0;
    }
    return k->body->barrier || k->checks & KJ_CHECKS_WATCHED || locals > LOCAL || kj_shows_order(k);
}

int kj_least_gang(const kj_tkernel *k)
{
    for (int i = 0; i < k->nroots; i++)
        if (k->roots[i]->param >= 0 && !k->roots[i]->of && kj_is_small_element(k->roots[i]->elem))
            return KJ_GANG_OF_BYTES;
    return KJ_GANG;
}

/* What @fastmath allows may be rounded otherwise in the code of a run's end; that is where a worker's share of the blocks ends,
 * and results do not depend on how many workers there are. */
bool kj_go_across(kj_arena *arena, const kj_tkernel *k, int axis)
{
    enum { BUDGET = 100000 };
    if (!k->small || !(k->wide >> axis & 1) || !kj_is_short(k->block, axis, KJ_GANG_OF_BYTES) ||
        k->fastmath || has_blocks_of_its_own(k))
        return false;
    search f = {.kernel = k,
                .axis = axis,
                .var = KJ_NEW_ARRAY(arena, share, (size_t)k->nvars + 1),
                .budget = BUDGET};
    return kj_walk(k->body->body, NULL, visit, &f);
}
