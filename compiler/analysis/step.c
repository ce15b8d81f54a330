/* How far values move from one thread to the next: is an access contiguous, strided or a gather? */
#include "analysis/step.h"

/* As many as a gang's lanes may be: what is divided by as much is the same for nearly all of them. */
enum { NEIGHBOURS = 64 };

/* One that hardly tells neighbours apart takes nothing from the other. */
static bool adds_nothing(kj_step s)
{
    return s == KJ_STEP_STAYS || s == KJ_STEP_SELDOM;
}

/* Does it go on from thread to thread by the same number? */
static bool is_line(kj_step s)
{
    return s == KJ_STEP_ONE || s == KJ_STEP_TWO || s == KJ_STEP_LINE;
}

static kj_step sum(kj_step a, kj_step b)
{
    bool number = (a == KJ_STEP_ALONG_X && b == KJ_STEP_NUMBER_Y) ||
                  (a == KJ_STEP_NUMBER_Y && b == KJ_STEP_ALONG_X);
    if (adds_nothing(a) || adds_nothing(b))
        return a > b ? a : b;
    if (a == KJ_STEP_ONE && b == KJ_STEP_ONE)
        return KJ_STEP_TWO;
    if (is_line(a) && is_line(b))
        return KJ_STEP_LINE;
    return number ? KJ_STEP_ONE : KJ_STEP_FAR;
}

/* What a number that is not known is taken from i by is as i itself. */
static kj_step difference(const kj_steps *f, kj_step a, kj_step b)
{
    if (f->large && a == b && (a == KJ_STEP_ONE || a == KJ_STEP_TWO))
        return KJ_STEP_SELDOM;
    return f->large && a == KJ_STEP_TWO && b == KJ_STEP_ONE ? KJ_STEP_ONE : sum(a, b);
}

/* Of what is one of the two, as min(i, n) is. */
static kj_step either(kj_step a, kj_step b)
{
    bool short_ = kj_step_is_short(a) && kj_step_is_short(b);
    if (short_ || adds_nothing(a) || adds_nothing(b) || a == b)
        return a > b ? a : b;
    return KJ_STEP_FAR;
}

static bool is_width(const kj_steps *f, const kj_texpr *e)
{
    e = kj_unconverted(e);
    return e->kind == KJ_TE_CONST
               ? e->u.value.i == f->kernel->block[0]
               : e->kind == KJ_TE_INDEX && e->u.index.which == KJ_BLOCK_DIM && e->u.index.axis == 0;
}

static bool is_const(const kj_texpr *e, int64_t *v)
{
    e = kj_unconverted(e);
    bool is = e->kind == KJ_TE_CONST && kj_is_int(e->type);
    *v = is ? e->u.value.i : 0;
    return is;
}

/* Does it go on from thread to thread? */
static bool goes_on(kj_step s)
{
    return s == KJ_STEP_TURNS || s == KJ_STEP_ONE || s == KJ_STEP_TWO;
}

/* Of so many side by side few differ in what is divided by n: its multiples are the gangs', or are few. */
static bool is_many(int64_t n)
{
    return n >= 2 * NEIGHBOURS || n == NEIGHBOURS;
}

/* a // b, a >> b */
static kj_step quotient(const kj_steps *f, kj_step a, const kj_texpr *by, bool shifts)
{
    int64_t n;
    bool many = !is_const(by, &n) ? f->large : shifts ? n >= __builtin_ctz(NEIGHBOURS) : is_many(n);
    return many && goes_on(a) ? KJ_STEP_SELDOM : a; /* mostly */
}

/* a % b */
static kj_step remainder_of(const kj_steps *f, kj_step a, const kj_texpr *by)
{
    int64_t n;
    bool turns = f->large && is_const(by, &n) && !is_many(n);
    return turns && goes_on(a) ? KJ_STEP_TURNS : a; /* mostly */
}

bool kj_mask_is_high(const kj_steps *f, const kj_texpr *by)
{
    enum { LOOKS = 8 };
    bool high = false;
    for (int i = 0; i < LOOKS; i++) {
        const kj_origin *o = by->kind == KJ_TE_VAR && !by->u.var->mutable && f->origins
                                 ? f->origins[by->u.var->id]
                                 : NULL;
        bool turned = by->kind == KJ_TE_UNARY &&
                      (by->u.unary.op == KJ_OP_INVERT || by->u.unary.op == KJ_OP_NEG);
        high ^= turned;
        if (turned || by->kind == KJ_TE_CONVERT)
            by = by->u.unary.arg;
        else if (o && !o->next)
            by = o->value;
    }
    return high;
}

/* a & b */
static kj_step masked(const kj_steps *f, kj_step a, const kj_texpr *by)
{
    int64_t n;
    if (!goes_on(a))
        return a;
    if (!is_const(by, &n))
        return f->large && kj_mask_is_high(f, by) ? KJ_STEP_SELDOM : a;
    if (n % NEIGHBOURS == 0)
        return KJ_STEP_SELDOM;
    return f->large && (n & (NEIGHBOURS - 1)) != NEIGHBOURS - 1 ? KJ_STEP_TURNS : a; /* mostly */
}

/* a * b, a << b, of a b that stays */
static kj_step product(kj_step a, const kj_texpr *by, bool shifts)
{
    int64_t n;
    if (adds_nothing(a))
        return a;
    bool twice = is_const(by, &n) && n == (shifts ? 1 : 2);
    return a == KJ_STEP_ONE && twice ? KJ_STEP_TWO : is_line(a) ? KJ_STEP_LINE : KJ_STEP_FAR;
}

static bool is_number_y(const kj_steps *f, kj_step a, const kj_texpr *by)
{
    return a == KJ_STEP_ALONG_Y && is_width(f, by);
}

static kj_step step_of_binary(const kj_steps *f, const kj_texpr *e)
{
    const kj_texpr *x = e->u.binary.lhs, *y = e->u.binary.rhs;
    kj_step a = kj_step_of(f, x), b = kj_step_of(f, y);
    kj_op op = e->u.binary.op;
    bool commutes = op == KJ_OP_MUL || op == KJ_OP_AND || op == KJ_OP_XOR;
    if (commutes && a == KJ_STEP_STAYS && b != KJ_STEP_STAYS) {
        const kj_texpr *other = x;
        x = y;
        y = other;
        a = b;
        b = KJ_STEP_STAYS;
    }
    if (op == KJ_OP_ADD || op == KJ_OP_SUB)
        return op == KJ_OP_ADD ? sum(a, b) : difference(f, a, b);
    if (op == KJ_OP_OR && (a == KJ_STEP_SELDOM || b == KJ_STEP_SELDOM))
        return sum(a, b);
    if (op == KJ_OP_MUL && is_number_y(f, a, y))
        return KJ_STEP_NUMBER_Y;
    bool scales = op == KJ_OP_MUL || op == KJ_OP_SHL;
    if (b != KJ_STEP_STAYS || (a == KJ_STEP_LINE && !scales)) /* a hash, as (i * n) >> 22 */
        return KJ_STEP_FAR;
    switch (op) {
    case KJ_OP_FLOORDIV:
    case KJ_OP_SHR: return quotient(f, a, y, op == KJ_OP_SHR);
    case KJ_OP_MOD: return remainder_of(f, a, y);
    case KJ_OP_AND: return masked(f, a, y);
    case KJ_OP_XOR:
        return a; /* the same lines, their elements exchanged (lower/memory/crossed.c) */
    case KJ_OP_MUL:
    case KJ_OP_SHL: return product(a, y, op == KJ_OP_SHL);
    default: return adds_nothing(a) ? a : KJ_STEP_FAR;
    }
}

kj_step kj_step_of_place(const kj_steps *f, const kj_tarray *a, kj_texpr *const *index)
{
    kj_step all = a->offset ? kj_step_of(f, a->offset) : KJ_STEP_STAYS;
    for (int i = 0; i < a->ndim; i++) {
        kj_step s = kj_step_of(f, index[i]);
        const kj_texpr *stride = a->stride[i];
        bool unit = stride->kind == KJ_TE_CONST && stride->u.value.i == 1;
        all = sum(all, s == KJ_STEP_STAYS || unit ? s : is_line(s) ? KJ_STEP_LINE : KJ_STEP_FAR);
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

/* Too few for a strip (lower/gang/strip_find.c), or written out. */
static bool has_no_strips(const kj_tstmt *loop)
{
    enum { LEAST = 4 };
    kj_turns turns;
    return kj_known_turns(loop, &turns) &&
           (turns.n < LEAST || (loop->u.for_.unroll && turns.n <= KJ_UNROLL_TURNS));
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
        f->turns[s->u.for_.var->id] = kj_steps_by_one(s->u.for_.step) && !has_no_strips(s);
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

bool kj_steps_find(kj_steps *f, kj_arena *arena, const kj_tkernel *k, int axis, bool flat,
                   bool large)
{
    enum { ROUNDS = 8 };
    size_t nvars = (size_t)k->nvars + 1;
    *f = (kj_steps){.kernel = k,
                    .axis = axis,
                    .flat = flat,
                    .large = large,
                    .origins = large ? kj_origins(arena, k) : NULL,
                    .var = KJ_NEW_ARRAY(arena, kj_step, nvars),
                    .turns = KJ_NEW_ARRAY(arena, bool, nvars)};
    int rounds = 0;
    do {
        f->changed = false;
        kj_walk(k->body->body, NULL, visit_assignment, f);
    } while (f->changed && ++rounds < ROUNDS);
    return !f->changed;
}
