/* Which statements meet the seam of a torus, or borders (seam.c): typed AST in, what may be in a second copy out. */
#include "lower/gang/seam.h"

enum {
    HEAVIEST = 240, /* statements worth a second copy */
    NEAR =
        64, /* constants up to it are taken for the lower border, other bounds for the upper one */
    DEEPEST = 12, /* operands of operands */
};

static bool differs(const kj_lower *lo, const kj_texpr *e)
{
    uint8_t dep = kj_dep(lo->deps, e);
    return kj_rows_of(lo, dep) > 1 || kj_lanes_of(lo, dep) > 1;
}

static bool in_lanes(const kj_lower *lo, const kj_texpr *e)
{
    return kj_lanes_of(lo, kj_dep(lo->deps, e)) > 1;
}

/* ---- What meets a seam ---- */

static bool is_wrap(const kj_lower *lo, const kj_texpr *e, int depth);
static bool is_choice(const kj_lower *lo, const kj_texpr *e, int depth);
static bool is_mended(const kj_lower *lo, const kj_var *v, int depth);
static bool is_clamped(const kj_lower *lo, const kj_texpr *e, int depth, kj_clamped *out);

/* What a name stands for that has one value, and whatever type that is converted to. */
static const kj_texpr *meant(const kj_lower *lo, const kj_texpr *e)
{
    for (int depth = 0; depth < DEEPEST; depth++) {
        const kj_origin *o = e->kind == KJ_TE_VAR ? lo->origins[e->u.var->id] : NULL;
        if (o && !o->next && !e->u.var->mutable)
            e = o->value;
        else if (e->kind == KJ_TE_CONVERT && kj_is_int(e->u.unary.arg->type))
            e = e->u.unary.arg;
        else
            break;
    }
    return e;
}

/* Is it a coordinate, as far as the source shows: one more from thread to thread? */
static bool is_line(const kj_lower *lo, const kj_texpr *e, int depth)
{
    if (depth > DEEPEST)
        return false;
    e = meant(lo, e);
    if (e->kind == KJ_TE_BINARY && (e->u.binary.op == KJ_OP_ADD || e->u.binary.op == KJ_OP_SUB))
        return is_line(lo, e->u.binary.lhs, depth + 1) && is_line(lo, e->u.binary.rhs, depth + 1);
    if (e->kind == KJ_TE_VAR && e->u.var->mutable && differs(lo, e))
        return is_mended(lo, e->u.var, depth + 1);
    kj_clamped c;
    return !differs(lo, e) || e->kind == KJ_TE_INDEX || is_wrap(lo, e, depth + 1) ||
           is_choice(lo, e, depth + 1) || is_clamped(lo, e, depth + 1, &c);
}

static bool is_index(const kj_texpr *e, kj_index which)
{
    return e->kind == KJ_TE_INDEX && e->u.index.which == which;
}

/* blockIdx.x * blockDim.x + threadIdx.x */
static bool is_number(const kj_lower *lo, const kj_texpr *sum)
{
    const kj_texpr *block = meant(lo, sum->u.binary.lhs), *thread = meant(lo, sum->u.binary.rhs);
    if (is_index(block, KJ_THREAD_IDX)) {
        const kj_texpr *other = block;
        block = thread;
        thread = other;
    }
    if (block->kind != KJ_TE_BINARY || !is_index(thread, KJ_THREAD_IDX))
        return false;
    return block->u.binary.op == KJ_OP_MUL &&
           (is_index(meant(lo, block->u.binary.lhs), KJ_BLOCK_IDX) ||
            is_index(meant(lo, block->u.binary.rhs), KJ_BLOCK_IDX));
}

/* A neighbour of a coordinate, and not the coordinate itself. */
static bool is_neighbour(const kj_lower *lo, const kj_texpr *e, int depth)
{
    e = meant(lo, e);
    bool sum =
        e->kind == KJ_TE_BINARY && (e->u.binary.op == KJ_OP_ADD || e->u.binary.op == KJ_OP_SUB);
    return ((sum && !is_number(lo, e)) || is_wrap(lo, e, depth + 1)) && is_line(lo, e, depth + 1);
}

static bool has_words(const kj_texpr *e)
{
    return kj_is_int(e->type) && kj_types[e->type].bits >= 32;
}

/* A neighbour modulo the number of those that there are. */
static bool is_wrap(const kj_lower *lo, const kj_texpr *e, int depth)
{
    if (depth > DEEPEST || e->kind != KJ_TE_BINARY || e->u.binary.op != KJ_OP_MOD || !has_words(e))
        return false;
    const kj_texpr *by = e->u.binary.rhs;
    bool few = by->kind == KJ_TE_CONST && (uint64_t)by->u.value.i < 4u * (unsigned)lo->lanes;
    return !few && !differs(lo, by) && (kj_dep(lo->deps, e->u.binary.lhs) & KJ_DEP_VARIES) &&
           is_neighbour(lo, e->u.binary.lhs, depth);
}

static bool is_low(const kj_texpr *b)
{
    return b->kind == KJ_TE_CONST && b->u.value.i >= -NEAR && b->u.value.i <= NEAR;
}

/* Of `a op b`, where b is one number: is it so far from the borders? Constants are the lower border, or near it. */
static bool holds_inside(kj_op op, const kj_texpr *b)
{
    bool low = is_low(b);
    switch (op) {
    case KJ_OP_GT:
    case KJ_OP_GE: return low;
    case KJ_OP_LT:
    case KJ_OP_LE: return !low;
    default: return op == KJ_OP_NE;
    }
}

/* `a op b`, where a differs between lanes and b does not. */
static bool is_test(const kj_lower *lo, const kj_texpr *test, kj_border *out)
{
    if (test->kind != KJ_TE_BINARY || kj_ops[test->u.binary.op].class != KJ_OPS_COMPARE)
        return false;
    *out = (kj_border){test->u.binary.op, test->u.binary.lhs, test->u.binary.rhs, false};
    if (!in_lanes(lo, out->a))
        *out = (kj_border){kj_mirrored(out->op), out->b, out->a, false};
    out->inside = holds_inside(out->op, meant(lo, out->b));
    return in_lanes(lo, out->a) && has_words(out->a) && !differs(lo, out->b);
}

static bool is_border(const kj_lower *lo, const kj_texpr *test, int depth, kj_border *out)
{
    return is_test(lo, test, out) && is_line(lo, out->a, depth + 1);
}

/* A coordinate away from a border, and something else at it. */
static bool is_choice(const kj_lower *lo, const kj_texpr *e, int depth)
{
    kj_border b;
    if (depth > DEEPEST || e->kind != KJ_TE_SELECT || !has_words(e) ||
        !is_border(lo, e->u.select.test, depth, &b))
        return false;
    const kj_texpr *chosen = b.inside ? e->u.select.yes : e->u.select.no;
    return in_lanes(lo, chosen) && is_line(lo, chosen, depth + 1);
}

/* One number that a coordinate is held at, with nothing else beyond it. */
static bool holds(const kj_lower *lo, const kj_texpr *b, bool above)
{
    const kj_texpr *number = meant(lo, b);
    return !differs(lo, b) &&
           (above ? !is_low(number) : is_low(number) || number->kind != KJ_TE_CONST);
}

/* max(x, 0), min(x, n) or clamp(x, 0, n) of a coordinate. */
static bool is_clamped(const kj_lower *lo, const kj_texpr *e, int depth, kj_clamped *out)
{
    kj_builtin id = e->kind == KJ_TE_CALL ? e->u.call.id : KJ_NBUILTINS;
    if (depth > DEEPEST || (id != KJ_BI_MAX && id != KJ_BI_MIN && id != KJ_BI_CLAMP) ||
        !has_words(e) || !in_lanes(lo, e))
        return false;
    kj_texpr *const *args = e->u.call.args;
    int line = id == KJ_BI_CLAMP || in_lanes(lo, args[0]) ? 0 : 1;
    *out = (kj_clamped){args[line], args[1 - line], args[1 - line]};
    if (id == KJ_BI_CLAMP)
        out->most = args[2];
    else if (id == KJ_BI_MAX)
        out->most = NULL;
    else
        out->least = NULL;
    return (!out->least || holds(lo, out->least, false)) &&
           (!out->most || holds(lo, out->most, true)) && in_lanes(lo, out->line) &&
           is_line(lo, out->line, depth + 1);
}

/* `if l < 0 { l += w }`: a variable gets another value at a border. */
static bool is_mending(const kj_lower *lo, const kj_tstmt *s, kj_border *out)
{
    if (s->kind != KJ_TS_IF || s->u.if_.no)
        return false;
    const kj_tstmt *then = s->u.if_.yes;
    const kj_texpr *test = s->u.if_.test;
    return then && !then->next && then->kind == KJ_TS_ASSIGN && has_words(then->u.assign.value) &&
           is_test(lo, test, out) && !out->inside && out->a->kind == KJ_TE_VAR &&
           out->a->u.var == then->u.assign.var;
}

typedef struct mended {
    const kj_lower *lo;
    const kj_var *var;
    const kj_texpr *init;
    int ndecls, nassigned, nmended;
} mended;

static bool visit_mended(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    mended *f = ctx;
    kj_border b;
    if (e)
        return e->kind != KJ_TE_INLINE || e->u.inline_.result != f->var;
    if (s->kind == KJ_TS_DECL && s->u.decl.var == f->var) {
        f->init = s->u.decl.init;
        f->ndecls++;
    }
    f->nassigned += s->kind == KJ_TS_ASSIGN && s->u.assign.var == f->var;
    f->nmended += is_mending(f->lo, s, &b) && b.a->u.var == f->var;
    return f->nassigned < 4;
}

static bool find_mended(const kj_lower *lo, const kj_var *v, int depth)
{
    mended f = {.lo = lo, .var = v};
    return kj_walk(lo->kernel->body->body, NULL, visit_mended, &f) && f.ndecls == 1 && f.init &&
           f.nmended > 0 && f.nassigned == f.nmended && in_lanes(lo, f.init) &&
           is_line(lo, f.init, depth);
}

/* Is that all that the variable is assigned, so that away from the borders it is what it began with? */
static bool is_mended(const kj_lower *lo, const kj_var *v, int depth)
{
    enum { UNKNOWN, NO, YES };
    uint8_t *known = &lo->mended[v->id];
    if (*known == UNKNOWN && depth <= DEEPEST) {
        *known = NO;
        *known = find_mended(lo, v, depth + 1) ? YES : NO;
    }
    return *known == YES;
}

bool kj_is_mended(kj_lower *lo, const kj_var *v)
{
    return is_mended(lo, v, 0);
}

bool kj_is_mending(const kj_lower *lo, const kj_tstmt *s, kj_border *out)
{
    return is_mending(lo, s, out) && is_mended(lo, out->a->u.var, 0);
}

bool kj_is_wrap(const kj_lower *lo, const kj_texpr *e)
{
    return is_wrap(lo, e, 0);
}

bool kj_is_choice(const kj_lower *lo, const kj_texpr *e, kj_border *out)
{
    return is_choice(lo, e, 0) && is_border(lo, e->u.select.test, 0, out);
}

bool kj_is_clamped(const kj_lower *lo, const kj_texpr *e, kj_clamped *out)
{
    return is_clamped(lo, e, 0, out);
}

/* Does it ask for a neighbour that may lie beyond a border? */
static bool may_meet(const kj_lower *lo, const kj_texpr *e)
{
    kj_clamped c;
    return is_wrap(lo, e, 0) || is_choice(lo, e, 0) || is_clamped(lo, e, 0, &c);
}

/* ---- Statements that meet one ---- */

typedef struct search {
    kj_lower *lo;
    kj_seam *out;
    bool any;   /* some expression meets a seam, */
    bool wide;  /* and is a vector; */
    bool stays; /* or is not to be had in front of the statements */
    bool acts;  /* something happens that others see, */
    bool early; /* and more is computed behind it in the statement */
    bool refused;
    const kj_tstmt *top; /* the statement itself */
    int nlocals;
    const kj_tarray *locals[KJ_SEAM_VARS]; /* they begin there */
} search;

static void assign(search *f, const kj_var *v)
{
    kj_seam *s = f->out;
    for (int i = 0; i < s->nvars; i++)
        if (s->vars[i] == v)
            return;
    if (s->nvars == KJ_SEAM_VARS || f->lo->slots[v->id].counter)
        f->refused = true;
    else
        s->vars[s->nvars++] = v;
}

static bool begins_there(const search *f, const kj_tarray *root)
{
    for (int i = 0; i < f->nlocals; i++)
        if (f->locals[i] == root)
            return true;
    return false;
}

/* A store or an atomic that is the statement is the last that the statement does. */
static void act(search *f, bool last)
{
    f->acts = true;
    f->early |= !last;
}

static void visit_stmt(search *f, const kj_tstmt *s)
{
    switch (s->kind) {
    case KJ_TS_ASSIGN: assign(f, s->u.assign.var); break;
    case KJ_TS_STORE:
        if (!begins_there(f, s->u.store.array->root))
            act(f, s == f->top);
        break;
    case KJ_TS_REPORT: act(f, s == f->top); break;
    case KJ_TS_ARRAY:
        f->refused |= s->u.array->space != KJ_LOCAL || f->nlocals == KJ_SEAM_VARS;
        if (!f->refused)
            f->locals[f->nlocals++] = s->u.array;
        break;
    case KJ_TS_WHILE:
    case KJ_TS_BARRIER:
    case KJ_TS_LAUNCH: f->refused = true; break;
    default: break;
    }
}

/* Is the variable declared in the statements? */
static bool declares(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    const kj_var *v = ctx;
    if (e)
        return e->kind != KJ_TE_INLINE || e->u.inline_.result != v;
    return !(s->kind == KJ_TS_DECL && s->u.decl.var == v) &&
           !(s->kind == KJ_TS_FOR && s->u.for_.var == v);
}

bool kj_seam_declares(const kj_seam *s, const kj_var *v)
{
    return v->param < 0 && !kj_walk(s->first, s->end, declares, (void *)(uintptr_t)v);
}

/* Is it the same in front of the statements? */
static bool is_lasting(const kj_lower *lo, const kj_seam *s, const kj_texpr *e, int depth)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    kj_clamped c;
    if (depth > DEEPEST || e->checked)
        return false;
    if (e->kind == KJ_TE_VAR) {
        const kj_origin *o = lo->origins[e->u.var->id];
        return !e->u.var->mutable && (!kj_seam_declares(s, e->u.var) ||
                                      (o && !o->next && is_lasting(lo, s, o->value, depth + 1)));
    }
    bool lasts = e->kind == KJ_TE_CONST || e->kind == KJ_TE_DIM || e->kind == KJ_TE_INDEX ||
                 e->kind == KJ_TE_BINARY || e->kind == KJ_TE_CONVERT || e->kind == KJ_TE_SELECT ||
                 kj_is_clamped(lo, e, &c);
    for (int i = 0, n = lasts ? kj_operands(e, operands) : 0; i < n && lasts; i++)
        lasts = is_lasting(lo, s, operands[i], depth + 1);
    return lasts;
}

static void meet(search *f, const kj_texpr *e)
{
    f->any = true;
    f->wide |= in_lanes(f->lo, e);
    f->stays |= f->out->nahead == KJ_SEAM_VARS || !is_lasting(f->lo, f->out, e, 0);
    if (!f->stays)
        f->out->ahead[f->out->nahead++] = e;
}

static bool visit(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *f = ctx;
    kj_border b;
    if (!e && kj_is_mending(f->lo, s, &b) && kj_seam_declares(f->out, b.a->u.var)) {
        f->any = f->wide = f->stays = true;
        f->out->mends = true;
    } else if (!e) {
        visit_stmt(f, s);
    } else if (may_meet(f->lo, e)) {
        meet(f, e);
    } else if (e->kind == KJ_TE_ATOMIC) {
        act(f, f->top->kind == KJ_TS_EXPR && f->top->u.expr == e);
    } else if (e->kind == KJ_TE_CALL) {
        kj_how how = kj_builtins[e->u.call.id].how;
        if (how == KJ_HOW_WARP || how == KJ_HOW_FENCE || how == KJ_HOW_ATOMIC ||
            how == KJ_HOW_RANDOM)
            act(f, false);
    }
    return !f->refused;
}

static bool visit_any(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    const kj_lower *lo = ctx;
    kj_border b;
    if (!e)
        return !kj_is_mending(lo, s, &b);
    return !in_lanes(lo, e) || !may_meet(lo, e);
}

/* Has the kernel any? */
static bool has_seams(kj_lower *lo)
{
    if (!lo->origins) {
        lo->origins = kj_origins(lo->arena, lo->kernel);
        lo->mended = KJ_NEW_ARRAY(lo->arena, uint8_t, (size_t)lo->kernel->nvars + 1);
        lo->seams = !kj_walk(lo->kernel->body->body, NULL, visit_any, lo);
    }
    return lo->seams;
}

static bool may_have(kj_lower *lo, const kj_tstmt *s, const kj_tstmt *end)
{
    return lo->lanes > 1 && lo->thread[0].form == KJ_LINEAR && !lo->seam && !lo->watch &&
           !lo->waits && has_seams(lo) && kj_cost(s, end, HEAVIEST) <= HEAVIEST;
}

bool kj_has_seams(kj_lower *lo, const kj_tstmt *s, const kj_tstmt *end)
{
    return may_have(lo, s, end) && !kj_walk(s, end, visit_any, lo);
}

/* Under a condition that differs, the statements there are better asked. */
static bool parts_threads(const kj_lower *lo, const kj_tstmt *s)
{
    kj_border b;
    return s->kind == KJ_TS_IF && differs(lo, s->u.if_.test) && !kj_is_mending(lo, s, &b);
}

/* One of them. Where something has happened nothing can be begun again: what is computed behind it is looked at in
 * front of all. */
static void look_at(search *f, const kj_tstmt *s)
{
    bool acted = f->acts;
    int nahead = f->out->nahead;
    f->any = f->stays = f->acts = f->early = false;
    f->top = s;
    kj_walk(s, s->next, visit, f);
    bool late = acted || f->early;
    f->refused |= f->any && (parts_threads(f->lo, s) || (late && f->stays));
    f->acts |= acted;
    if (!late) {
        f->out->nahead = nahead;
        f->out->last = f->any ? s : f->out->last;
    }
}

kj_seam *kj_seam_find(kj_lower *lo, const kj_tstmt *s, const kj_tstmt *end)
{
    if (!may_have(lo, s, end))
        return NULL;
    kj_seam *out = KJ_NEW(lo->arena, kj_seam);
    search f = {.lo = lo, .out = out};
    *out = (kj_seam){.first = s, .end = end};
    for (; s != end && !f.refused; s = s->next)
        look_at(&f, s);
    return f.wide && !f.refused ? out : NULL;
}
