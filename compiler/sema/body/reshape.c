/* a.T, a.reshape(2, -1), a.ravel(): the elements of an array or view under other indices. Nothing is copied, so
 * what is reshaped has its elements one behind another in C order, or one axis. */
#include <string.h>

#include "sema/body/body.h"

static kj_tarray *same_elements(kj_sema *s, const kj_tarray *a, kj_span span)
{
    kj_tarray *view = KJ_NEW(s->arena, kj_tarray);
    *view = *a;
    view->name = s->naming ? s->naming : a->name;
    view->span = span;
    view->whole = NULL; /* it has other indices */
    view->row = 0;
    view->id = view->param = -1;
    return view;
}

kj_operand kj_transposed(kj_sema *s, const kj_tarray *a, kj_span span)
{
    kj_tarray *view = same_elements(s, a, span);
    for (int i = 0; i < a->ndim; i++) {
        view->shape[i] = a->shape[a->ndim - 1 - i];
        view->stride[i] = a->stride[a->ndim - 1 - i];
    }
    if (a->ndim > 1)
        view->layout = a->layout == KJ_LAYOUT_C   ? KJ_LAYOUT_F
                       : a->layout == KJ_LAYOUT_F ? KJ_LAYOUT_C
                                                  : KJ_LAYOUT_STRIDED;
    return (kj_operand){.kind = KJ_V_ARRAY, .span = span, .u.array = view};
}

/* ---- reshape, ravel ---- */

typedef struct shape {
    kj_texpr *extent[KJ_MAX_NDIM];
    kj_span at[KJ_MAX_NDIM];
    int n, open; /* the axis that is -1, or -1 */
} shape;

static bool take_extent(kj_sema *s, kj_operand v, shape *to)
{
    kj_texpr *e = kj_size_value(s, v, "an extent");
    if (!e)
        return false;
    if (to->n == KJ_MAX_NDIM) {
        kj_sema_error(s, v.span, KJ_RULE_TOO_MANY_AXES, "an array has at most %d axes",
                      KJ_MAX_NDIM);
        return false;
    }
    bool open = kj_is_const_i64(e, -1), negative = kj_is_const(e) && e->u.value.i < 0;
    if (negative && !open && kj_is_hypothetical(s)) {
        e = kj_te_i64(s, 1, v.span);
    } else if (negative && (!open || to->open >= 0)) {
        kj_sema_error(s, v.span, KJ_RULE_EXTENT,
                      open ? "only one extent is -1, which is what is left"
                           : "an extent is 0 or more, not %lld",
                      (long long)e->u.value.i);
        return false;
    }
    if (open)
        to->open = to->n;
    to->at[to->n] = v.span;
    to->extent[to->n++] = kj_hold(s, e, "extent");
    return true;
}

/* The extents, each an argument or all in one tuple; false after an error. */
static bool take_shape(kj_sema *s, const kj_expr *e, const kj_operand *v, int n, shape *to)
{
    *to = (shape){.open = -1};
    if (n < 1) {
        kj_arity_error(s, e, "reshape", "(2, -1), or of a tuple", 1, KJ_MAX_NDIM);
        return false;
    }
    bool tuple = n == 1 && v->kind == KJ_V_TUPLE && !v->u.tuple.of;
    kj_operand item;
    for (int i = 0; i < (tuple ? v->u.tuple.n : n); i++) {
        item = v[tuple ? 0 : i];
        if ((tuple && !kj_size_item(s, v, i, "an extent", &item)) || !take_extent(s, item, to))
            return false;
    }
    return to->n > 0;
}

static kj_texpr *product(kj_sema *s, kj_texpr *const *extent, int n, kj_span span)
{
    kj_texpr *all = kj_te_i64(s, 1, span);
    for (int i = 0; i < n; i++)
        all = kj_i64_mul(s, all, extent[i], span);
    return all;
}

/* What is left for the axis that is -1. */
static void close_shape(kj_sema *s, shape *to, kj_texpr *size, kj_span span)
{
    if (to->open < 0)
        return;
    to->extent[to->open] = kj_te_i64(s, 1, span);
    kj_texpr *others = kj_hold(s, product(s, to->extent, to->n, span), "others");
    to->extent[to->open] =
        kj_hold(s, kj_te_binary(s, KJ_OP_FLOORDIV, size, others, span), "extent");
}

/* Do the extents, none of them negative, multiply to less than 2^63? Products in i64 wrap. In f64 a
 * product that wraps, and so is 2^64 or more if it comes out as a size, stays over 2^63. */
static kj_texpr *fits(kj_sema *s, kj_texpr *const *extent, int n, kj_span span)
{
    kj_texpr *all = kj_te_const(s, kj_float(KJ_F64, 1), span);
    for (int i = 0; i < n; i++)
        all = kj_te_binary(s, KJ_OP_MUL, all, kj_te_convert(s, extent[i], KJ_F64, span), span);
    return kj_te_binary(s, KJ_OP_LT, all, kj_te_const(s, kj_float(KJ_F64, 0x1p63), span), span);
}

/* As many elements as before? Told here where both are known, by the thread where they are not. */
static bool check_size(kj_sema *s, const kj_expr *e, const shape *to, kj_texpr *size)
{
    kj_texpr *made = product(s, to->extent, to->n, e->span);
    if (kj_is_const(made) && kj_is_const(size) && made->u.value.i != size->u.value.i &&
        !kj_is_hypothetical(s)) {
        kj_sema_error(s, e->span, KJ_RULE_RESHAPE, "this has %lld elements, and the shape %lld",
                      (long long)size->u.value.i, (long long)made->u.value.i);
        return false;
    }
    kj_texpr *test = kj_te_binary(s, KJ_OP_EQ, made, size, e->span);
    if (to->n > 1)
        test = kj_te_binary(s, KJ_OP_AND, test, fits(s, to->extent, to->n, e->span), e->span);
    for (int i = 0; i < to->n; i++) {
        kj_texpr *zero = kj_te_i64(s, 0, e->span);
        if (kj_least(s, to->extent[i]) < 0)
            test = kj_te_binary(s, KJ_OP_AND, test,
                                kj_te_binary(s, KJ_OP_GE, to->extent[i], zero, e->span), e->span);
    }
    kj_emit_assert(s, e, test, KJ_SITE_SHAPE, "the shape has another number of elements", NULL);
    return true;
}

static bool can_reshape(kj_sema *s, const kj_expr *e, const kj_tarray *a)
{
    if (a->ndim == 1 || a->layout == KJ_LAYOUT_C)
        return true;
    bool given = a->root == a && a->param >= 0;
    const char *name = e->u.call.callee->u.member.name;
    kj_message *m =
        given ? kj_sema_error(s, e->span, KJ_RULE_RESHAPE,
                              "'%s' is not in C order here, and %s would have to copy it", a->name,
                              name)
              : kj_sema_error(s, e->span, KJ_RULE_RESHAPE,
                              "these elements do not lie one behind another, and %s would have to "
                              "copy them",
                              name);
    kj_hint(s->diag, m,
            given ? "give the launch a copy in C order: copy(a) in a run block"
                  : "%s is of whole arrays in C order, of rows a[i:j] of them, and of one axis",
            name);
    return false;
}

static kj_operand reshaped(kj_sema *s, const kj_expr *e, const kj_tarray *a, const shape *to)
{
    kj_tarray *view = same_elements(s, a, e->span);
    kj_texpr *step =
        a->ndim == 1 ? a->stride[0] : kj_te_i64(s, kj_elem_size(a) / kj_unit(a), e->span);
    if (a->ndim > 1 || to->n > 1)
        view->layout = a->layout == KJ_LAYOUT_C ? KJ_LAYOUT_C : KJ_LAYOUT_STRIDED;
    view->ndim = to->n;
    for (int i = to->n - 1; i >= 0; i--) {
        view->shape[i] = to->extent[i];
        view->stride[i] = kj_hold(s, step, kj_arena_printf(s->arena, "%s.stride%d", view->name, i));
        step = kj_i64_mul(s, step, to->extent[i], e->span);
    }
    return (kj_operand){.kind = KJ_V_ARRAY, .span = e->span, .u.array = view};
}

kj_operand kj_reshape(kj_sema *s, const kj_expr *e, kj_operand base, const kj_operand *v, int n,
                      bool any_order)
{
    bool ravel = strcmp(e->u.call.callee->u.member.name, "ravel") == 0;
    const kj_tarray *a = base.u.array;
    if (base.kind != KJ_V_ARRAY) {
        kj_sema_error(s, base.span, KJ_RULE_NOT_AN_ARRAY, "'%s' is of arrays, not of %s",
                      e->u.call.callee->u.member.name, kj_describe(s, &base));
        return kj_no_value(e->span);
    }
    shape to = {.n = 1, .open = -1};
    kj_texpr *size = kj_hold(s, product(s, a->shape, a->ndim, e->span), "size");
    to.extent[0] = size;
    if (ravel && n)
        return kj_arity_error(s, e, "ravel", "()", 0, 0);
    if ((!ravel && !take_shape(s, e, v, n, &to)) || (!any_order && !can_reshape(s, e, a)))
        return kj_no_value(e->span);
    close_shape(s, &to, size, e->span);
    return ravel || check_size(s, e, &to, size) ? reshaped(s, e, a, &to) : kj_no_value(e->span);
}
