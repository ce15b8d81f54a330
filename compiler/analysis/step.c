/* How far values move from one thread to the next. */
#include "analysis/step.h"

/* Of a sum or difference, x - x aside. */
static kj_step sum(kj_step a, kj_step b)
{
    bool number = (a == KJ_STEP_ALONG_X && b == KJ_STEP_NUMBER_Y) ||
                  (a == KJ_STEP_NUMBER_Y && b == KJ_STEP_ALONG_X);
    return a == KJ_STEP_STAYS ? b : b == KJ_STEP_STAYS ? a : number ? KJ_STEP_ONE : KJ_STEP_FAR;
}

/* Of what is one of the two, as min(i, n) is. */
static kj_step either(kj_step a, kj_step b)
{
    return a == KJ_STEP_STAYS || a == b ? b : b == KJ_STEP_STAYS ? a : KJ_STEP_FAR;
}

static bool is_width(const kj_steps *f, const kj_texpr *e)
{
    while (e->kind == KJ_TE_CONVERT)
        e = e->u.unary.arg;
    return e->kind == KJ_TE_CONST
               ? e->u.value.i == f->kernel->block[0]
               : e->kind == KJ_TE_INDEX && e->u.index.which == KJ_BLOCK_DIM && e->u.index.axis == 0;
}

static kj_step step_of_binary(const kj_steps *f, const kj_texpr *e)
{
    kj_step a = kj_step_of(f, e->u.binary.lhs), b = kj_step_of(f, e->u.binary.rhs);
    switch (e->u.binary.op) {
    case KJ_OP_ADD:
    case KJ_OP_SUB: return sum(a, b);
    case KJ_OP_FLOORDIV:
    case KJ_OP_MOD:
    case KJ_OP_AND:
    case KJ_OP_SHR: return b == KJ_STEP_STAYS ? a : KJ_STEP_FAR; /* mostly */
    case KJ_OP_MUL:
        if ((a == KJ_STEP_ALONG_Y && is_width(f, e->u.binary.rhs)) ||
            (b == KJ_STEP_ALONG_Y && is_width(f, e->u.binary.lhs)))
            return KJ_STEP_NUMBER_Y;
        /* fall through */
    default: return a == KJ_STEP_STAYS && b == KJ_STEP_STAYS ? KJ_STEP_STAYS : KJ_STEP_FAR;
    }
}

kj_step kj_step_of_place(const kj_steps *f, const kj_tarray *a, kj_texpr *const *index)
{
    kj_step all = a->offset ? kj_step_of(f, a->offset) : KJ_STEP_STAYS;
    for (int i = 0; i < a->ndim; i++) {
        kj_step s = kj_step_of(f, index[i]);
        const kj_texpr *stride = a->stride[i];
        bool unit = stride->kind == KJ_TE_CONST && stride->u.value.i == 1;
        all = sum(all, s == KJ_STEP_STAYS || unit ? s : KJ_STEP_FAR);
    }
    return all;
}

static kj_step step_of_thread(const kj_steps *f, int axis)
{
    const int64_t *block = f->kernel->block;
    if (!f->flat)
        return axis == f->axis ? KJ_STEP_ONE : KJ_STEP_STAYS;
    if (block[axis] == 1)
        return KJ_STEP_STAYS;
    if (block[axis] == block[0] * block[1] * block[2])
        return KJ_STEP_ONE;
    return axis == 0 ? KJ_STEP_ALONG_X : axis == 1 ? KJ_STEP_ALONG_Y : KJ_STEP_FAR;
}

kj_step kj_step_of(const kj_steps *f, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    kj_step s = KJ_STEP_STAYS;
    switch (e->kind) {
    case KJ_TE_VAR: return f->var[e->u.var->id];
    case KJ_TE_INDEX:
        return e->u.index.which == KJ_THREAD_IDX ? step_of_thread(f, e->u.index.axis)
                                                 : KJ_STEP_STAYS;
    case KJ_TE_CONVERT: return kj_step_of(f, e->u.unary.arg);
    case KJ_TE_BINARY: return step_of_binary(f, e);
    case KJ_TE_SELECT: return either(kj_step_of(f, e->u.select.yes), kj_step_of(f, e->u.select.no));
    case KJ_TE_CALL:
        if (e->u.call.id == KJ_BI_MIN || e->u.call.id == KJ_BI_MAX || e->u.call.id == KJ_BI_CLAMP)
            break;
        /* fall through */
    default:
        for (int i = 0, n = kj_operands(e, operands); i < n; i++)
            if (kj_step_of(f, operands[i]) != KJ_STEP_STAYS)
                return KJ_STEP_FAR;
        return e->kind == KJ_TE_INLINE ? KJ_STEP_FAR : KJ_STEP_STAYS;
    }
    for (int i = 0; i < e->u.call.nargs; i++)
        s = either(s, kj_step_of(f, e->u.call.args[i]));
    return s;
}

/* ---- Variables: until none changes ---- */

static void assign(kj_steps *f, const kj_var *v, kj_step s)
{
    s = either(f->var[v->id], s);
    f->changed |= s != f->var[v->id];
    f->var[v->id] = s;
}

/* Too few for a strip (lower/gang/strip_find.c). */
static bool has_few_turns(const kj_tstmt *loop)
{
    enum { LEAST = 4 };
    kj_turns turns;
    return kj_known_turns(loop, &turns) && turns.n < LEAST;
}

static bool visit_assignment(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    kj_steps *f = ctx;
    if (e && e->kind == KJ_TE_INLINE)
        assign(f, e->u.inline_.result, KJ_STEP_FAR);
    if (e)
        return true;
    if (s->kind == KJ_TS_DECL && s->u.decl.init)
        assign(f, s->u.decl.var, kj_step_of(f, s->u.decl.init));
    if (s->kind == KJ_TS_ASSIGN)
        assign(f, s->u.assign.var, kj_step_of(f, s->u.assign.value));
    if (s->kind == KJ_TS_FOR) {
        assign(f, s->u.for_.var,
               sum(kj_step_of(f, s->u.for_.start), kj_step_of(f, s->u.for_.step)));
        f->turns[s->u.for_.var->id] = kj_steps_by_one(s->u.for_.step) && !has_few_turns(s);
    }
    return true;
}

/* ---- Loops ---- */

bool kj_goes_by_turns(const kj_steps *f, const kj_texpr *e)
{
    switch (e->kind) {
    case KJ_TE_VAR: return f->turns[e->u.var->id];
    case KJ_TE_CONVERT: return kj_goes_by_turns(f, e->u.unary.arg);
    case KJ_TE_BINARY:
        if (e->u.binary.op != KJ_OP_ADD && e->u.binary.op != KJ_OP_SUB)
            return false;
        return kj_goes_by_turns(f, e->u.binary.lhs) != kj_goes_by_turns(f, e->u.binary.rhs);
    default: return false;
    }
}

/* ---- Of a kernel ---- */

bool kj_steps_find(kj_steps *f, kj_arena *arena, const kj_tkernel *k, int axis, bool flat)
{
    enum { ROUNDS = 8 };
    size_t nvars = (size_t)k->nvars + 1;
    *f = (kj_steps){.kernel = k,
                    .axis = axis,
                    .flat = flat,
                    .var = KJ_NEW_ARRAY(arena, kj_step, nvars),
                    .turns = KJ_NEW_ARRAY(arena, bool, nvars)};
    int rounds = 0;
    do {
        f->changed = false;
        kj_walk(k->body->body, NULL, visit_assignment, f);
    } while (f->changed && ++rounds < ROUNDS);
    return !f->changed;
}
