/* Numbers of a launch that decide how accesses lie: typed AST in.
 *
 * `i % h` and `i & (h - 1)` go on from thread to thread as i does, and `i // h` stays, but at every h-th thread. So in a
 * butterfly, whose pairs are h apart, elements lie side by side where h is as large as a gang, which is known when the
 * kernel is launched: its code has both ways (lower/block/ways.c). */
#include "analysis/regions.h"
#include "analysis/step.h"

enum {
    MOST = 4,     /* numbers */
    LOOKS = 32,   /* at the parts of one */
    NODES = 1024, /* of a kernel, whose code is there twice */
};

typedef struct search {
    const kj_steps *steps;
    kj_arena *arena;
    kj_large *found;
    int n, nodes;
    bool given; /* all are the launch's */
} search;

/* Of its parameters alone? */
static bool is_given(const search *f, const kj_texpr *e, int *looks)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    if (--*looks < 0 || !kj_is_int(e->type) || e->checked)
        return false;
    if (e->kind == KJ_TE_VAR) {
        const kj_origin *o = f->steps->origins[e->u.var->id];
        return !e->u.var->mutable &&
               (e->u.var->param >= 0 || (o && !o->next && is_given(f, o->value, looks)));
    }
    if (e->kind == KJ_TE_DIM)
        return e->u.dim.array->param >= 0;
    bool given = e->kind == KJ_TE_CONST || e->kind == KJ_TE_UNARY || e->kind == KJ_TE_BINARY ||
                 e->kind == KJ_TE_CONVERT;
    for (int i = 0, n = given ? kj_operands(e, operands) : 0; i < n && given; i++)
        given = is_given(f, operands[i], looks);
    return given;
}

static bool moves(const search *f, const kj_texpr *e)
{
    kj_step s = kj_step_of(f->steps, e);
    return s == KJ_STEP_TURNS || s == KJ_STEP_ONE || s == KJ_STEP_TWO;
}

static void add(search *f, kj_op op, const kj_texpr *by)
{
    bool high = op == KJ_OP_AND && kj_mask_is_high(f->steps, by);
    for (const kj_large *l = f->found; l; l = l->next)
        if (l->op == op && l->high == high && (l->by == by || kj_is_same_number(l->by, by)))
            return;
    f->given &= ++f->n <= MOST && is_given(f, by, &(int){LOOKS});
    kj_large *l = KJ_NEW(f->arena, kj_large);
    *l = (kj_large){f->found, op, high, by};
    f->found = l;
}

static bool visit(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *f = ctx;
    (void)s;
    f->given &= ++f->nodes <= NODES;
    if (!e || e->kind != KJ_TE_BINARY || !kj_is_int(e->type))
        return true;
    kj_op op = e->u.binary.op;
    const kj_texpr *a = e->u.binary.lhs, *by = e->u.binary.rhs;
    bool is = op == KJ_OP_FLOORDIV || op == KJ_OP_MOD || op == KJ_OP_SHR || op == KJ_OP_AND;
    if (is && op == KJ_OP_AND && !moves(f, a)) {
        by = a;
        a = e->u.binary.rhs;
    }
    if (is && by->kind != KJ_TE_CONST && moves(f, a) && kj_step_of(f->steps, by) == KJ_STEP_STAYS)
        add(f, op, by);
    return f->given;
}

/* Has it nothing but what lies in global memory, and no barriers? */
static bool is_plain(const kj_tkernel *k)
{
    for (int i = 0; i < k->nroots; i++)
        if (k->roots[i]->space == KJ_SHARED || k->roots[i]->space == KJ_LOCAL)
            return false;
    return !k->body->barrier && !k->grid_sync;
}

bool kj_find_large(kj_arena *arena, const kj_steps *steps, const kj_large **out)
{
    search f = {.steps = steps, .arena = arena, .given = true};
    kj_walk(steps->kernel->body->body, NULL, visit, &f);
    bool ways = !f.found || is_plain(steps->kernel);
    *out = f.given && ways ? f.found : NULL;
    return f.given && ways;
}
