/* The operands of typed expressions, for whoever walks over them; and what many look for. */
#include "tast/tast.h"

int kj_access_operands(const kj_tarray *a, kj_texpr *const *index,
                       const kj_texpr *out[KJ_MAX_OPERANDS])
{
    int n = 0;
    if (a->offset)
        out[n++] = a->offset;
    for (int i = 0; i < a->ndim; i++) {
        out[n++] = index[i];
        out[n++] = a->stride[i];
    }
    for (const kj_index_check *c = a->checks; c; c = c->next) {
        if (c->index)
            out[n++] = c->index;
        out[n++] = c->extent;
    }
    return n;
}

const kj_texpr *kj_unconverted(const kj_texpr *e)
{
    while (e->kind == KJ_TE_CONVERT)
        e = e->u.unary.arg;
    return e;
}

int kj_operands(const kj_texpr *e, const kj_texpr *out[KJ_MAX_OPERANDS])
{
    int n = 0;
    switch (e->kind) {
    case KJ_TE_CONST:
    case KJ_TE_VAR:
    case KJ_TE_DIM:
    case KJ_TE_ADDRESS:
    case KJ_TE_INDEX:
    case KJ_TE_INLINE: break;
    case KJ_TE_UNARY:
    case KJ_TE_CONVERT:
    case KJ_TE_BITS: out[n++] = e->u.unary.arg; break;
    case KJ_TE_BINARY:
        out[n++] = e->u.binary.lhs;
        out[n++] = e->u.binary.rhs;
        break;
    case KJ_TE_LOGIC:
        out[n++] = e->u.logic.lhs;
        out[n++] = e->u.logic.rhs;
        break;
    case KJ_TE_SELECT:
        out[n++] = e->u.select.test;
        out[n++] = e->u.select.yes;
        out[n++] = e->u.select.no;
        break;
    case KJ_TE_FMA:
        if (e->u.fma.sum_first)
            out[n++] = e->u.fma.c;
        out[n++] = e->u.fma.a;
        out[n++] = e->u.fma.b;
        if (!e->u.fma.sum_first)
            out[n++] = e->u.fma.c;
        break;
    case KJ_TE_LOAD: n = kj_access_operands(e->u.load.array, e->u.load.index, out); break;
    case KJ_TE_CALL:
        while (n < e->u.call.nargs) {
            out[n] = e->u.call.args[n];
            n++;
        }
        break;
    case KJ_TE_ATOMIC:
        n = kj_access_operands(e->u.atomic.array, e->u.atomic.index, out);
        for (int i = 0; i < 2 && e->u.atomic.args[i]; i++)
            out[n++] = e->u.atomic.args[i];
        break;
    }
    return n;
}

bool kj_keeps_value(const kj_texpr *e)
{
    return e->kind == KJ_TE_CONVERT && kj_is_int(e->u.unary.arg->type) && kj_is_int(e->type) &&
           kj_converts(e->u.unary.arg->type, e->type);
}

bool kj_steps_by_one(const kj_texpr *step)
{
    return step->kind == KJ_TE_CONST &&
           (step->u.value.i == 1 || (step->u.value.i == -1 && kj_is_signed(step->type)));
}

static bool constant_of(const kj_texpr *e, uint64_t *out)
{
    *out = e->kind == KJ_TE_CONST ? (uint64_t)e->u.value.i : 0;
    return e->kind == KJ_TE_CONST;
}

/* How many values range(start, stop, step) has; modulo 2^64 no difference is too great. */
static uint64_t count_values(kj_dtype type, uint64_t start, uint64_t stop, uint64_t step)
{
    bool up = !kj_is_signed(type) || (int64_t)step > 0;
    uint64_t first = up ? start : stop, end = up ? stop : start;
    bool some = kj_is_signed(type) ? (int64_t)first < (int64_t)end : first < end;
    return some ? (end - first - 1) / (up ? step : 0 - step) + 1 : 0;
}

bool kj_known_turns(const kj_tstmt *s, kj_turns *out)
{
    uint64_t start, stop, step;
    if (!constant_of(s->u.for_.start, &start) || !constant_of(s->u.for_.stop, &stop) ||
        !constant_of(s->u.for_.step, &step))
        return false;
    uint64_t n = step ? count_values(s->u.for_.var->type, start, stop, step) : 0;
    *out = (kj_turns){start, step, n};
    return true;
}

static bool is_harmless(const kj_texpr *e, int *budget)
{
    if (--*budget < 0 || e->checked)
        return false;
    switch (e->kind) {
    case KJ_TE_CONST:
    case KJ_TE_VAR:
    case KJ_TE_DIM:
    case KJ_TE_ADDRESS:
    case KJ_TE_INDEX: return true;
    case KJ_TE_UNARY:
    case KJ_TE_CONVERT:
    case KJ_TE_BITS: return is_harmless(e->u.unary.arg, budget);
    case KJ_TE_BINARY:
        return is_harmless(e->u.binary.lhs, budget) && is_harmless(e->u.binary.rhs, budget);
    case KJ_TE_LOGIC:
        return is_harmless(e->u.logic.lhs, budget) && is_harmless(e->u.logic.rhs, budget);
    case KJ_TE_SELECT:
        return is_harmless(e->u.select.test, budget) && is_harmless(e->u.select.yes, budget) &&
               is_harmless(e->u.select.no, budget);
    case KJ_TE_FMA:
        return is_harmless(e->u.fma.a, budget) && is_harmless(e->u.fma.b, budget) &&
               is_harmless(e->u.fma.c, budget);
    case KJ_TE_CALL:
        for (int i = 0; i < e->u.call.nargs; i++)
            if (!is_harmless(e->u.call.args[i], budget))
                return false;
        return kj_builtins[e->u.call.id].how == KJ_HOW_LLVM ||
               kj_builtins[e->u.call.id].how == KJ_HOW_CODE;
    default: return false;
    }
}

bool kj_is_harmless(const kj_texpr *e)
{
    int budget = 12;
    return is_harmless(e, &budget);
}

bool kj_is_same_number(const kj_texpr *a, const kj_texpr *b)
{
    if (a->kind != b->kind || a->type != b->type || a->checked || b->checked)
        return false;
    switch (a->kind) {
    case KJ_TE_CONST: return a->u.value.u == b->u.value.u;
    case KJ_TE_VAR: return a->u.var == b->u.var;
    case KJ_TE_DIM:
        return a->u.dim.array == b->u.dim.array && a->u.dim.axis == b->u.dim.axis &&
               a->u.dim.stride == b->u.dim.stride;
    case KJ_TE_INDEX:
        return a->u.index.which == b->u.index.which && a->u.index.axis == b->u.index.axis;
    case KJ_TE_UNARY:
        return a->u.unary.op == b->u.unary.op && kj_is_same_number(a->u.unary.arg, b->u.unary.arg);
    case KJ_TE_CONVERT: return kj_is_same_number(a->u.unary.arg, b->u.unary.arg);
    case KJ_TE_BINARY:
        return a->u.binary.op == b->u.binary.op &&
               kj_is_same_number(a->u.binary.lhs, b->u.binary.lhs) &&
               kj_is_same_number(a->u.binary.rhs, b->u.binary.rhs);
    default: return false;
    }
}

bool kj_may_fail(const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    bool any = e->checked || e->kind == KJ_TE_INLINE ||
               (e->kind == KJ_TE_LOAD && e->u.load.array->checks) ||
               (e->kind == KJ_TE_ATOMIC && e->u.atomic.array->checks);
    for (int i = 0, n = kj_operands(e, operands); i < n && !any; i++)
        any = kj_may_fail(operands[i]);
    return any;
}

/* ---- Visits ---- */

typedef struct walk {
    kj_visit *visit;
    void *ctx;
} walk;

static bool walk_expr(const walk *w, const kj_tstmt *s, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    bool on = w->visit(w->ctx, s, e);
    for (int i = 0, n = kj_operands(e, operands); i < n && on; i++)
        on = walk_expr(w, s, operands[i]);
    return on &&
           (e->kind != KJ_TE_INLINE || kj_walk(e->u.inline_.block->body, NULL, w->visit, w->ctx));
}

static bool walk_values(const walk *w, const kj_tstmt *s, kj_texpr *const *values, int n)
{
    bool on = true;
    for (int i = 0; i < n && on; i++)
        on = walk_expr(w, s, values[i]);
    return on;
}

static bool walk_store(const walk *w, const kj_tstmt *s)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    bool on = true;
    for (int i = 0, n = kj_access_operands(s->u.store.array, s->u.store.index, operands);
         i < n && on; i++)
        on = walk_expr(w, s, operands[i]);
    return on && walk_expr(w, s, s->u.store.value);
}

static bool walk_list(const walk *w, const kj_tstmt *s)
{
    return kj_walk(s, NULL, w->visit, w->ctx);
}

static bool walk_own(const walk *w, const kj_tstmt *s)
{
    switch (s->kind) {
    case KJ_TS_DECL: return !s->u.decl.init || walk_expr(w, s, s->u.decl.init);
    case KJ_TS_ASSIGN: return walk_expr(w, s, s->u.assign.value);
    case KJ_TS_STORE: return walk_store(w, s);
    case KJ_TS_EXPR: return walk_expr(w, s, s->u.expr);
    case KJ_TS_IF: return walk_expr(w, s, s->u.if_.test);
    case KJ_TS_FOR:
        return walk_expr(w, s, s->u.for_.start) && walk_expr(w, s, s->u.for_.stop) &&
               walk_expr(w, s, s->u.for_.step);
    case KJ_TS_WHILE: return walk_expr(w, s, s->u.while_.test);
    case KJ_TS_REPORT: return walk_values(w, s, s->u.report.values, s->u.report.site->nvalues);
    case KJ_TS_LAUNCH: return walk_values(w, s, s->u.launch.values, s->u.launch.nvalues);
    case KJ_TS_BARRIER: return !s->u.barrier.arg || walk_expr(w, s, s->u.barrier.arg);
    case KJ_TS_INLINE:
    case KJ_TS_ARRAY:
    case KJ_TS_BREAK:
    case KJ_TS_CONTINUE:
    case KJ_TS_LEAVE: break;
    }
    return true;
}

static bool walk_stmt(const walk *w, const kj_tstmt *s)
{
    if (!walk_own(w, s))
        return false;
    switch (s->kind) {
    case KJ_TS_IF: return walk_list(w, s->u.if_.yes) && walk_list(w, s->u.if_.no);
    case KJ_TS_FOR: return walk_list(w, s->u.for_.body);
    case KJ_TS_WHILE: return walk_list(w, s->u.while_.body);
    case KJ_TS_INLINE: return walk_list(w, s->u.block->body);
    default: return true;
    }
}

bool kj_walk(const kj_tstmt *s, const kj_tstmt *end, kj_visit *visit, void *ctx)
{
    walk w = {visit, ctx};
    for (; s != end; s = s->next)
        if (!visit(ctx, s, NULL) || !walk_stmt(&w, s))
            return false;
    return true;
}

bool kj_walk_own(const kj_tstmt *s, kj_visit *visit, void *ctx)
{
    return walk_own(&(walk){visit, ctx}, s);
}

bool kj_walk_expr(const kj_tstmt *s, const kj_texpr *e, kj_visit *visit, void *ctx)
{
    return walk_expr(&(walk){visit, ctx}, s, e);
}

/* ---- Where values come from ---- */

typedef struct origins {
    kj_arena *arena;
    kj_origin **var;
} origins;

static void add_origin(const origins *f, const kj_var *v, const kj_texpr *value)
{
    kj_origin *o = KJ_NEW(f->arena, kj_origin);
    *o = (kj_origin){f->var[v->id], value};
    f->var[v->id] = o;
}

static bool find_origins(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    const origins *f = ctx;
    if (e)
        return true;
    if (s->kind == KJ_TS_DECL && s->u.decl.init)
        add_origin(f, s->u.decl.var, s->u.decl.init);
    else if (s->kind == KJ_TS_ASSIGN)
        add_origin(f, s->u.assign.var, s->u.assign.value);
    else if (s->kind == KJ_TS_FOR) {
        add_origin(f, s->u.for_.var, s->u.for_.start);
        add_origin(f, s->u.for_.var, s->u.for_.step);
    }
    return true;
}

kj_origin **kj_origins(kj_arena *arena, const kj_tkernel *kernel)
{
    origins f = {arena, KJ_NEW_ARRAY(arena, kj_origin *, (size_t)kernel->nvars + 1)};
    kj_walk(kernel->body->body, NULL, find_origins, &f);
    return f.var;
}

/* ---- Operations of a warp ---- */

static bool find_warp(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    (void)s;
    const kj_texpr **found = ctx;
    if (e && e->kind == KJ_TE_CALL && kj_builtins[e->u.call.id].how == KJ_HOW_WARP)
        *found = e;
    return !*found;
}

const kj_texpr *kj_warp_operation(const kj_tstmt *s, const kj_tstmt *end)
{
    const kj_texpr *found = NULL;
    kj_walk(s, end, find_warp, &found);
    return found;
}

const kj_texpr *kj_own_warp_operation(const kj_tstmt *s)
{
    const kj_texpr *found = NULL;
    kj_walk_own(s, find_warp, &found);
    return found;
}
