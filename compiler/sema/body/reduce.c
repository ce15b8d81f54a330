/* Reductions of views and of expressions of views: sum(a[i] * b), row.max(), dot(u, v): a loop of the
 * thread over the elements, in C order. */
#include <math.h>
#include <string.h>

#include "sema/body/body.h"

/* ---- What is accumulated ---- */

typedef struct reduction {
    kj_builtin id;
    const kj_expr *call;
    kj_each *each, *with; /* with: the other side of a dot, or NULL */
    kj_operand sample;    /* an element; V_NONE: not seen yet */
    kj_operand acc;
} reduction;

static bool is_extreme(kj_builtin id)
{
    return id == KJ_BI_MIN || id == KJ_BI_MAX;
}

static bool is_sum(kj_builtin id)
{
    return id == KJ_BI_SUM || id == KJ_BI_MEAN || id == KJ_BI_DOT;
}

static kj_operand element(kj_sema *s, reduction *r)
{
    kj_operand v = kj_each_value(s, r->each, KJ_VOID);
    if (!r->with)
        return v;
    for (int i = 0; i < r->each->ndim; i++)
        r->with->index[i] = r->each->index[i];
    kj_tstmt **at = s->sink->tail;
    kj_operand w = kj_each_value(s, r->with, KJ_VOID);
    if (kj_could_see(s, at, &w))
        kj_spill(s, &v, &at);
    return kj_binary(s, KJ_OP_MUL, v, w, r->call->span);
}

static void look(kj_sema *s, kj_each *each, void *ctx)
{
    reduction *r = ctx;
    (void)each;
    r->sample = element(s, r);
}

/* Bools count as 0 and 1, small numbers are not added up in their own type. */
static kj_dtype wide(const reduction *r, kj_dtype t)
{
    if (!is_sum(r->id) && r->id != KJ_BI_PROD)
        return t;
    if (kj_is_int(t) || t == KJ_BOOL)
        return t == KJ_BOOL || kj_is_signed(t) ? KJ_I64 : KJ_U64;
    return kj_is_half(t) ? KJ_F32 : t;
}

static kj_value first(const reduction *r, kj_dtype t)
{
    if (t == KJ_BOOL)
        return kj_int(KJ_BOOL, r->id == KJ_BI_ALL);
    if (!is_extreme(r->id))
        return kj_fold_convert(kj_int(KJ_I64, r->id == KJ_BI_PROD), t);
    if (kj_is_float(t)) /* which leaves the other number */
        return kj_fold_convert(kj_float(KJ_F64, (double)NAN), t);
    bool least = r->id == KJ_BI_MAX;
    int bits = kj_is_int(t) ? kj_types[t].bits : 64;
    if (!kj_is_signed(t))
        return kj_fold_convert(kj_int(KJ_U64, least ? 0 : -1), t);
    int64_t low = -(INT64_C(1) << (bits - 2)) * 2;
    return kj_fold_convert(kj_int(KJ_I64, least ? low : -(low + 1)), t);
}

static kj_texpr *first_part(kj_sema *s, void *ctx, const kj_field *part)
{
    const reduction *r = ctx;
    bool imaginary = r->sample.u.tuple.of->kind == KJ_COMPLEX && part->offset > 0;
    kj_value v = first(r, part->type);
    return kj_te_const(s, imaginary ? kj_float(part->type, 0) : v, r->call->span);
}

static bool refuse(kj_sema *s, const reduction *r, kj_span at, const char *of)
{
    kj_sema_error(s, at, KJ_RULE_TYPE_MISMATCH, "'%s' takes %s here, not %s",
                  kj_builtins[r->id].name, of, kj_describe(s, &r->sample));
    return false;
}

/* A variable that begins as what leaves every number as it is. */
static bool declare(kj_sema *s, reduction *r)
{
    kj_span span = r->call->span;
    kj_operand *v = &r->sample, begin;
    if (v->kind == KJ_V_ERROR)
        return false;
    if (kj_is_aggregate(v)) {
        bool numbers = kj_is_complex(v) || v->u.tuple.of->kind == KJ_VECTOR;
        if (!numbers || is_extreme(r->id) || r->id == KJ_BI_ALL || r->id == KJ_BI_ANY)
            return refuse(s, r, r->each->e->span, "views of numbers");
        begin = kj_build(s, v->u.tuple.of, first_part, r, span);
    } else if (v->kind == KJ_V_SCALAR) {
        kj_dtype t = v->u.scalar.e->type;
        bool logic = r->id == KJ_BI_ALL || r->id == KJ_BI_ANY;
        if (t == KJ_BOOL && is_extreme(r->id))
            r->id = r->id == KJ_BI_MIN ? KJ_BI_ALL : KJ_BI_ANY;
        begin = kj_scalar(kj_te_const(s, first(r, logic ? KJ_BOOL : wide(r, t)), span));
    } else {
        return refuse(s, r, r->each->e->span, "views of numbers");
    }
    r->acc = kj_declared(s, kj_builtins[r->id].name, span, true, begin);
    return true;
}

/* ---- The loop ---- */

static void accumulate(kj_sema *s, kj_each *each, void *ctx)
{
    reduction *r = ctx;
    kj_operand v = element(s, r), acc = r->acc;
    kj_span span = r->call->span;
    (void)each;
    if (v.kind == KJ_V_ERROR)
        return;
    if (acc.kind == KJ_V_SCALAR) {
        kj_dtype own = v.u.scalar.e->type, to = acc.u.scalar.e->type;
        if (own != to && !v.u.scalar.a)
            v = kj_scalar(kj_te_convert(s, v.u.scalar.e, to, span));
    }
    if (r->id == KJ_BI_ALL || r->id == KJ_BI_ANY)
        v = kj_scalar(kj_te_binary(s, r->id == KJ_BI_ALL ? KJ_OP_AND : KJ_OP_OR, acc.u.scalar.e,
                                   v.u.scalar.e, span));
    else if (is_extreme(r->id))
        v = kj_apply_builtin(s, r->call, r->id, KJ_VOID, (kj_operand[]){acc, v}, 2);
    else
        v = kj_binary(s, is_sum(r->id) ? KJ_OP_ADD : KJ_OP_MUL, acc, v, span);
    if (v.kind == KJ_V_TUPLE) { /* all parts before the first is assigned */
        kj_tstmt **end = s->sink->tail;
        kj_spill(s, &v, &end);
    }
    if (v.kind != KJ_V_ERROR)
        kj_assign_parts(s, &acc, &v);
}

/* Of no elements it is NaN. */
static kj_operand mean(kj_sema *s, const reduction *r, kj_operand sum)
{
    kj_span span = r->call->span;
    kj_texpr *n = kj_te_i64(s, 1, span);
    for (int i = 0; i < r->each->ndim; i++)
        n = kj_i64_mul(s, n, r->each->shape[i], span);
    bool of_ints = sum.kind == KJ_V_SCALAR && kj_is_int(sum.u.scalar.e->type);
    if (of_ints)
        sum = kj_scalar(kj_te_convert(s, sum.u.scalar.e, KJ_F32, span));
    kj_dtype part =
        sum.kind == KJ_V_SCALAR ? sum.u.scalar.e->type : sum.u.tuple.items[0].u.scalar.e->type;
    kj_operand v = kj_binary(s, KJ_OP_DIV, sum, kj_scalar(kj_te_convert(s, n, part, span)), span);
    if (of_ints && v.kind == KJ_V_SCALAR)
        v.u.scalar.e->written = true; /* an f32 by what mean is, not by any literal */
    return v;
}

static kj_operand reduce(kj_sema *s, reduction *r)
{
    kj_branch trial; /* for the type of the elements */
    kj_branch_open(s, &trial, true);
    kj_each_loop(s, r->each, look, r);
    kj_branch_close(s, &trial, (kj_operand){.kind = KJ_V_NONE}, r->call->span);
    if (!declare(s, r))
        return kj_no_value(r->call->span);
    kj_each_loop(s, r->each, accumulate, r);
    kj_operand v = kj_hold_value(s, r->acc, kj_builtins[r->id].name);
    return r->id == KJ_BI_MEAN ? mean(s, r, v) : v;
}

/* ---- Calls ---- */

/* Of one expression. */
static kj_operand reduce_one(kj_sema *s, const kj_expr *call, kj_builtin id, const kj_expr *e,
                             bool *found)
{
    kj_each each;
    reduction r = {.id = id, .call = call, .each = &each, .sample = {.kind = KJ_V_NONE}};
    *found = kj_each_open(s, &each, e, KJ_VOID);
    if (!*found)
        return kj_each_value(s, &each, KJ_VOID);
    return kj_each_over(s, &each, NULL) ? reduce(s, &r) : kj_no_value(call->span);
}

static bool is_one_shape(const kj_sema *s, const kj_each *a, const kj_each *b)
{
    bool same = a->ndim == b->ndim;
    for (int i = 0; same && i < a->ndim && !kj_is_hypothetical(s); i++)
        same = !kj_is_const(a->shape[i]) || !kj_is_const(b->shape[i]) ||
               a->shape[i]->u.value.i == b->shape[i]->u.value.i;
    return same;
}

static kj_operand dot(kj_sema *s, const kj_expr *call, bool *found)
{
    kj_each each[2];
    const kj_expr *arg = call->u.call.args;
    kj_operand v[2];
    bool views = true;
    for (int i = 0; i < 2; i++, arg = arg->next)
        views = kj_each_open(s, &each[i], arg, KJ_VOID) && views;
    *found = views;
    for (int i = 0; i < 2 && !views; i++)
        v[i] = each[i].arrays ? (kj_operand){.kind = KJ_V_ARRAY,
                                             .span = each[i].e->span,
                                             .u.array = each[i].arrays->v.u.array}
                              : kj_each_value(s, &each[i], KJ_VOID);
    if (!views)
        return kj_vector_builtin(s, call, KJ_BI_DOT, v);
    reduction r = {.id = KJ_BI_DOT, .call = call, .each = &each[0], .with = &each[1]};
    if (!kj_each_over(s, &each[0], NULL) || !kj_each_over(s, &each[1], NULL))
        return kj_no_value(call->span);
    each[1].of = NULL; /* the first one's extents are gone through */
    if (is_one_shape(s, &each[0], &each[1]))
        return reduce(s, &r);
    kj_sema_error(s, call->span, KJ_RULE_VIEW_SHAPE, "'dot' takes two views of one shape");
    return kj_no_value(call->span);
}

/* b.sum(axis=0), sum(b, axis=0): a kernel reduces a view to one value. */
static void refuse_axis(kj_sema *s, const kj_expr *call, kj_builtin id, const kj_expr *base,
                        const kj_expr *axis)
{
    kj_each each;
    const char *name = kj_builtins[id].name;
    if (!kj_each_open(s, &each, base, KJ_VOID)) {
        kj_operand v = kj_each_value(s, &each, KJ_VOID);
        if (v.kind == KJ_V_ERROR)
            return;
        kj_message *m = kj_sema_error(s, base->span, KJ_RULE_NOT_AN_ARRAY,
                                      "'%s' is of views, not of %s", name, kj_describe(s, &v));
        const kj_expr *first = axis; /* x.max(1.0) of Rust */
        if (!first->next && (id == KJ_BI_MIN || id == KJ_BI_MAX))
            kj_write(s->diag, m, call->span, "%s(%s, %s)", name,
                     kj_source_text(s, base->span, "..."), kj_source_text(s, first->span, "..."));
        return;
    }
    kj_message *m =
        kj_sema_error(s, call->span, KJ_RULE_ARGUMENT_COUNT,
                      "'%s' takes no axis in kernels: it is of all elements of a view", name);
    int ndim = each.arrays->v.u.array->ndim;
    bool named = base->kind == KJ_E_NAME || base->kind == KJ_E_INDEX;
    bool first = axis->kind == KJ_E_INT && axis->u.integer == 0;
    const char *view = kj_source_text(s, base->span, "...");
    if (ndim == 1)
        kj_write(s->diag, m, call->span, "%s(%s)", name, view);
    else if (named && ndim == 2 && first)
        kj_hint(s->diag, m, "write %s(%s[:, i]), for each column i", name, view);
    else if (named)
        kj_hint(s->diag, m, "write %s(%s[i]), for each row i", name, view);
}

bool kj_axis_call(kj_sema *s, const kj_expr *e, kj_builtin id)
{
    const kj_expr *axis = e->u.call.args ? e->u.call.args->next : NULL;
    if (!kj_builtin_reduces(id, 1) || !axis || e->u.call.args->keyword || !axis->keyword ||
        strcmp(axis->keyword, "axis") != 0)
        return false;
    refuse_axis(s, e, id, e->u.call.args, axis);
    return true;
}

bool kj_reduce_call(kj_sema *s, const kj_expr *e, kj_builtin id, kj_operand *out)
{
    bool found;
    if (!kj_builtin_reduces(id, kj_count(e->u.call.args)))
        return false;
    if (id == KJ_BI_DOT) {
        *out = dot(s, e, &found);
        return true;
    }
    const kj_expr *arg = e->u.call.args;
    *out = reduce_one(s, e, id, arg, &found);
    if (found || out->kind == KJ_V_ERROR)
        return true;
    if (id == KJ_BI_ALL || id == KJ_BI_ANY) {
        *out = kj_vector_builtin(s, e, id, out);
        return true;
    }
    kj_message *m = kj_sema_error(s, arg->span, KJ_RULE_NOT_AN_ARRAY,
                                  "'%s' of one argument takes a view, not %s", kj_builtins[id].name,
                                  kj_describe(s, out));
    if (!kj_hint_of_held(s, m, out) && is_extreme(id))
        kj_hint(s->diag, m, "%s%s", kj_builtins[id].name, kj_builtin_words(s, id));
    *out = kj_no_value(e->span);
    return true;
}

bool kj_reduce_method(kj_sema *s, const kj_expr *e, kj_operand *out)
{
    const kj_expr *callee = e->u.call.callee;
    if (callee->kind != KJ_E_MEMBER || kj_named(s, callee))
        return false;
    const kj_expr *base = callee->u.member.base;
    if (base->kind == KJ_E_NAME && kj_is_module(base->u.name) &&
        !kj_scope_find(s->scope, base->u.name))
        return false;
    for (int id = 0; id < KJ_NBUILTINS; id++) {
        bool found;
        if (!kj_builtin_reduces((kj_builtin)id, 1) ||
            strcmp(kj_builtins[id].name, callee->u.member.name) != 0)
            continue;
        if (e->u.call.args) {
            refuse_axis(s, e, (kj_builtin)id, base, e->u.call.args);
            *out = kj_no_value(e->span);
            return true;
        }
        *out = reduce_one(s, e, (kj_builtin)id, base, &found);
        if (!found && out->kind != KJ_V_ERROR) {
            kj_sema_error(s, base->span, KJ_RULE_NOT_AN_ARRAY, "'%s' is of views, not of %s",
                          kj_builtins[id].name, kj_describe(s, out));
            *out = kj_no_value(e->span);
        }
        return true;
    }
    return false;
}
