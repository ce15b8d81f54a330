/* Expressions of views, element by element: what is no operator is evaluated once, and then the rest
 * is walked again as the body of loops over the elements, where a view stands for one of its elements. */
#include "sema/body/body.h"

/* ---- What an expression is made of ---- */

static kj_each_leaf **bucket(kj_each *each, const kj_expr *e)
{
    return &each->parts[((uintptr_t)e / sizeof(kj_expr)) % KJ_EACH_BUCKETS];
}

static const kj_operand *leaf(kj_each *each, const kj_expr *e)
{
    const kj_each_leaf *p = *bucket(each, e);
    while (p && p->e != e)
        p = p->next;
    return p ? &p->v : NULL;
}

/* A function whose parameters are no arrays is called for each element. */
static bool takes_elements(const kj_symbol *fn)
{
    for (const kj_param_decl *p = fn->item->params; p; p = p->next)
        if (!p->type || !p->type->name || p->type->ndim)
            return false;
    return fn->item->params != NULL;
}

static bool is_call_of_elements(kj_sema *s, const kj_expr *e)
{
    const kj_symbol *callee = kj_named(s, e->u.call.callee);
    if (!callee || !e->u.call.args)
        return false;
    if (callee->kind == KJ_SYM_FN)
        return takes_elements(callee);
    for (const kj_expr *arg = e->u.call.args; arg; arg = arg->next)
        if (arg->keyword)
            return false;
    if (callee->kind == KJ_SYM_TYPE)
        return true;
    if (callee->kind != KJ_SYM_BUILTIN || kj_builtins[callee->builtin].signature[0] == '*')
        return false;
    bool extreme = callee->builtin == KJ_BI_MIN || callee->builtin == KJ_BI_MAX;
    return kj_builtins[callee->builtin].how != KJ_HOW_WARP &&
           kj_builtins[callee->builtin].how != KJ_HOW_FENCE && (!extreme || e->u.call.args->next);
}

typedef struct walk {
    kj_sema *s;
    kj_each *each;
    bool arrays;
} walk;

static bool take(kj_sema *s, kj_each *each, const kj_expr *e, kj_dtype want);

static void take_part(void *ctx, const kj_expr *e)
{
    walk *w = ctx;
    w->arrays |= take(w->s, w->each, e, KJ_VOID);
}

/* Evaluates what the expression is made of, from left to right. Is it one of views? If not, it is a part
 * itself. */
static bool take(kj_sema *s, kj_each *each, const kj_expr *e, kj_dtype want)
{
    walk w = {s, each, false};
    bool deep = ++s->depth > KJ_MAX_NESTING; /* evaluation says so */
    if (!deep && e->kind == KJ_E_BINARY) {
        take_part(&w, e->u.binary.lhs);
        take_part(&w, e->u.binary.rhs);
    } else if (!deep && e->kind == KJ_E_UNARY) {
        take_part(&w, e->u.unary.arg);
    } else if (!deep && e->kind == KJ_E_CALL && is_call_of_elements(s, e)) {
        for (const kj_expr *arg = e->u.call.args; arg; arg = arg->next)
            take_part(&w, arg);
    }
    s->depth--;
    if (w.arrays)
        return true;
    kj_each_leaf *p = KJ_NEW(s->arena, kj_each_leaf), **in = bucket(each, e);
    p->e = e;
    p->v = kj_expr_untyped(s, e, want);
    kj_tstmt **end = s->sink->tail;
    kj_spill(s, &p->v, &end);
    p->next = *in;
    *in = p;
    if (p->v.kind != KJ_V_ARRAY)
        return false;
    p->next_array = NULL;
    *each->last = p;
    each->last = &p->next_array;
    return true;
}

bool kj_each_open(kj_sema *s, kj_each *each, const kj_expr *e, kj_dtype want)
{
    *each = (kj_each){.e = e, .up = s->each};
    each->last = &each->arrays;
    s->each = each;
    bool arrays = take(s, each, e, want);
    s->each = each->up;
    return arrays;
}

/* ---- Elements ---- */

/* Has it an element for each turn? */
static bool has_all(const kj_sema *s, const kj_each *each, const kj_tarray *a)
{
    return a == each->of || (each->of && kj_same_shape(s, a, each->of));
}

/* The element of a turn, checked where the view may have none: whose index that is, its own place says. */
static kj_tarray *element(kj_sema *s, const kj_each *each, const kj_operand *v, kj_texpr **index)
{
    kj_tarray *a = v->u.array;
    kj_written as[KJ_MAX_NDIM];
    for (int i = 0; i < a->ndim; i++) {
        index[i] = each->index[each->ndim - a->ndim + i];
        as[i] = (kj_written){.at = v->span, .type = KJ_I64};
    }
    return has_all(s, each, a) ? a : kj_index_checked(s, a, index, as);
}

bool kj_each_find(kj_sema *s, const kj_expr *e, kj_operand *out)
{
    kj_each *each = s->each;
    const kj_operand *v = leaf(each, e);
    kj_texpr *index[KJ_MAX_NDIM];
    if (!v)
        return false;
    *out = *v;
    if (v->kind != KJ_V_ARRAY)
        return true;
    kj_tarray *a = element(s, each, v, index);
    *out = kj_load_element(s, a, index, e->span);
    return true;
}

bool kj_each_place(kj_sema *s, kj_each *each, kj_operand *out)
{
    const kj_operand *v = leaf(each, each->e);
    if (!v || v->kind != KJ_V_ARRAY || !v->u.array->of)
        return false;
    kj_texpr **index = KJ_NEW_ARRAY(s->arena, kj_texpr *, KJ_MAX_NDIM);
    kj_tarray *a = element(s, each, v, index);
    *out = (kj_operand){.kind = KJ_V_PLACE, .span = each->e->span};
    out->u.place.array = a;
    out->u.place.index = index;
    return true;
}

kj_operand kj_each_value(kj_sema *s, kj_each *each, kj_dtype want)
{
    s->each = each;
    kj_operand v = kj_expr_value(s, each->e, want);
    s->each = each->up;
    return v;
}

static bool is_short(const kj_each *each)
{
    enum { SHORT = 16 };
    int64_t n = 1;
    for (int i = 0; i < each->ndim; i++) {
        if (!kj_is_const(each->shape[i]) || each->shape[i]->u.value.i > SHORT)
            return false;
        n *= each->shape[i]->u.value.i;
        if (n > SHORT)
            return false;
    }
    return true;
}

static void loop(kj_sema *s, kj_each *each, int axis, kj_each_body *body, void *ctx)
{
    if (axis == each->ndim) {
        body(s, each, ctx);
        return;
    }
    kj_span span = each->e->span;
    kj_sink sink;
    kj_texpr *zero = kj_te_i64(s, 0, span), *one = kj_te_i64(s, 1, span);
    kj_var *v = kj_new_var(s, "i", span, KJ_I64, false);
    s->vars[v->id].least = 0;
    kj_sink_open(s, &sink);
    each->index[axis] = kj_te_var(s, v, span);
    if (axis == 0 && each->step) /* of one axis: from an end to the other */
        each->index[axis] = kj_hold(
            s, kj_i64_add(s, each->start, kj_i64_mul(s, each->index[axis], each->step, span), span),
            "index");
    loop(s, each, axis + 1, body, ctx);
    bool barrier = sink.barrier;
    kj_tstmt *list = kj_sink_close(s, &sink), *made = kj_emit(s, KJ_TS_FOR, span);
    made->u.for_.var = v;
    made->u.for_.start = zero;
    made->u.for_.stop = each->shape[axis];
    made->u.for_.step = one;
    made->u.for_.body = list;
    made->u.for_.unroll = is_short(each);
    made->barrier = barrier;
    s->sink->barrier |= barrier;
}

void kj_each_loop(kj_sema *s, kj_each *each, kj_each_body *body, void *ctx)
{
    loop(s, each, 0, body, ctx);
}

/* ---- Shapes ---- */

static void refuse_shape(kj_sema *s, const kj_operand *v, const char *target, int axis,
                         int64_t extent)
{
    const kj_tarray *a = v->u.array;
    kj_sema_error(s, v->span, KJ_RULE_VIEW_SHAPE, "axis %d of this has %lld elements, and %s %lld",
                  axis, (long long)a->shape[axis]->u.value.i, target, (long long)extent);
}

/* The last axes of each view are those of the loops. */
static bool check_shapes(kj_sema *s, const kj_each *each, const char *target)
{
    for (const kj_each_leaf *p = each->arrays; p; p = p->next_array) {
        const kj_tarray *a = p->v.u.array;
        if (a->ndim > each->ndim) {
            kj_sema_error(s, p->v.span, KJ_RULE_VIEW_SHAPE, "this has %d axes, and %s %d", a->ndim,
                          target, each->ndim);
            return false;
        }
        for (int i = 0; i < a->ndim; i++) {
            const kj_texpr *own = a->shape[i], *wanted = each->shape[each->ndim - a->ndim + i];
            if (kj_is_const(own) && kj_is_const(wanted) && own->u.value.i != wanted->u.value.i &&
                !kj_is_hypothetical(s)) {
                refuse_shape(s, &p->v, target, i, wanted->u.value.i);
                return false;
            }
        }
    }
    return true;
}

bool kj_each_over(kj_sema *s, kj_each *each, const kj_tarray *target)
{
    for (const kj_each_leaf *p = each->arrays; !target && p; p = p->next_array)
        each->ndim = p->v.u.array->ndim > each->ndim ? p->v.u.array->ndim : each->ndim;
    const kj_tarray *of = target;
    for (const kj_each_leaf *p = each->arrays; !of && p; p = p->next_array)
        if (p->v.u.array->ndim == each->ndim)
            of = p->v.u.array;
    each->of = of;
    each->ndim = of->ndim;
    for (int i = 0; i < of->ndim; i++)
        each->shape[i] = of->shape[i];
    return check_shapes(s, each, target ? "what is assigned" : "the first view");
}
