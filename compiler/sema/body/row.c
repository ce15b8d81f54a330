/* a[i, :] = b[i] + 1: assignments of views, as loops over their elements.
 *
 * What they give is what they gave if the value was computed whole, before the first element is
 * written. Where the value has views of the array that is written, that decides from which end the loop
 * begins; what no order can do is refused, here or by an assert. */
#include <string.h>

#include "sema/body/body.h"

/* ---- Are two views the same? ---- */

enum { MOST_COMPARED = 200 }; /* nodes; what is larger is taken to differ */

/* What a hidden let stands for. */
static const kj_texpr *behind(const kj_sema *s, const kj_texpr *e)
{
    while (e->kind == KJ_TE_VAR && !e->u.var->mutable && s->vars[e->u.var->id].host)
        e = s->vars[e->u.var->id].host;
    return e;
}

static bool is_same(const kj_sema *s, const kj_texpr *a, const kj_texpr *b, int *left)
{
    if (!a || !b || --*left < 0)
        return a == b;
    if (a->kind == KJ_TE_VAR && b->kind == KJ_TE_VAR && a->u.var == b->u.var)
        return !a->u.var->mutable;
    a = behind(s, a);
    b = behind(s, b);
    if (a->kind != b->kind || a->type != b->type)
        return false;
    switch (a->kind) {
    case KJ_TE_CONST: return a->u.value.u == b->u.value.u;
    case KJ_TE_VAR: return a->u.var == b->u.var && !a->u.var->mutable;
    case KJ_TE_DIM:
        return a->u.dim.array == b->u.dim.array && a->u.dim.axis == b->u.dim.axis &&
               a->u.dim.stride == b->u.dim.stride;
    case KJ_TE_INDEX:
        return a->u.index.which == b->u.index.which && a->u.index.axis == b->u.index.axis;
    case KJ_TE_UNARY:
        return a->u.unary.op == b->u.unary.op && is_same(s, a->u.unary.arg, b->u.unary.arg, left);
    case KJ_TE_CONVERT: return is_same(s, a->u.unary.arg, b->u.unary.arg, left);
    case KJ_TE_SELECT:
        return is_same(s, a->u.select.test, b->u.select.test, left) &&
               is_same(s, a->u.select.yes, b->u.select.yes, left) &&
               is_same(s, a->u.select.no, b->u.select.no, left);
    case KJ_TE_CALL:
        return (a->u.call.id == KJ_BI_MIN || a->u.call.id == KJ_BI_MAX) &&
               a->u.call.id == b->u.call.id &&
               is_same(s, a->u.call.args[0], b->u.call.args[0], left) &&
               is_same(s, a->u.call.args[1], b->u.call.args[1], left);
    case KJ_TE_BINARY:
        return a->u.binary.op == b->u.binary.op &&
               is_same(s, a->u.binary.lhs, b->u.binary.lhs, left) &&
               is_same(s, a->u.binary.rhs, b->u.binary.rhs, left);
    default: return false;
    }
}

static bool same(const kj_sema *s, const kj_texpr *a, const kj_texpr *b)
{
    return is_same(s, a, b, &(int){MOST_COMPARED});
}

bool kj_same_shape(const kj_sema *s, const kj_tarray *a, const kj_tarray *b)
{
    bool ok = a->ndim == b->ndim;
    for (int i = 0; ok && i < a->ndim; i++)
        ok = same(s, a->shape[i], b->shape[i]);
    return ok;
}

static bool same_strides(const kj_sema *s, const kj_tarray *a, const kj_tarray *b)
{
    bool ok = a->ndim == b->ndim;
    for (int i = 0; ok && i < a->ndim; i++)
        ok = same(s, a->stride[i], b->stride[i]);
    return ok;
}

/* ---- From which end? ---- */

/* Where the loop may begin at the first element, and where at the last. */
typedef struct order {
    kj_texpr *up, *down;
    bool before, behind; /* some view begins certainly before the target; behind it */
} order;

static bool is_bool(const kj_texpr *e, bool value)
{
    return kj_is_const(e) && (e->u.value.u != 0) == value;
}

static kj_texpr *either(kj_sema *s, kj_texpr *a, kj_texpr *b, kj_span span)
{
    if (is_bool(a, true) || is_bool(b, false))
        return a;
    return is_bool(a, false) || is_bool(b, true) ? b : kj_te_binary(s, KJ_OP_OR, a, b, span);
}

static kj_texpr *both(kj_sema *s, kj_texpr *a, kj_texpr *b, kj_span span)
{
    if (is_bool(a, false) || is_bool(b, true))
        return a;
    return is_bool(a, true) || is_bool(b, false) ? b : kj_te_binary(s, KJ_OP_AND, a, b, span);
}

static kj_texpr *compared(kj_sema *s, kj_op op, kj_texpr *e, kj_texpr *with)
{
    return kj_te_binary(s, op, e, with, e->span);
}

static int64_t units(const kj_tarray *a)
{
    return kj_elem_size(a) / kj_unit(a);
}

/* From the first element to the last, in units, and that one's, of so many. */
static kj_texpr *reach(kj_sema *s, const kj_tarray *a, int64_t element, kj_span span)
{
    kj_texpr *n = kj_te_i64(s, element, span);
    for (int i = 0; i < a->ndim; i++) {
        kj_texpr *last = kj_i64_sub(s, a->shape[i], kj_te_i64(s, 1, span), span),
                 *step = kj_te_call(s, KJ_BI_ABS, &a->stride[i], 1, KJ_I64, span);
        n = kj_i64_add(s, n, kj_i64_mul(s, last, step, span), span);
    }
    return n;
}

/* Of one axis. The element that is read in a turn is behind the one written in it by `ahead`, and by a step more in
 * each turn later: up, where the next one's begins behind what is written, or, of negative steps, ends before it. */
static void begin_ends(kj_sema *s, const kj_tarray *target, const kj_tarray *from, kj_texpr *ahead,
                       kj_texpr **up, kj_texpr **down, kj_span span)
{
    kj_texpr *zero = kj_te_i64(s, 0, span), *step = target->stride[0];
    if (units(target) == units(from)) {
        kj_texpr *turns = kj_i64_mul(s, ahead, step, span);
        *up = compared(s, KJ_OP_GE, turns, zero);
        *down = compared(s, KJ_OP_LE, turns, zero);
        return;
    }
    kj_texpr *written = kj_te_i64(s, units(target), span), *read = kj_te_i64(s, -units(from), span);
    kj_texpr *next = kj_i64_add(s, ahead, step, span), *last = kj_i64_sub(s, ahead, step, span);
    kj_texpr *rises = compared(s, KJ_OP_GE, step, zero);
    *up = kj_te_select(s, rises, compared(s, KJ_OP_GE, next, written),
                       compared(s, KJ_OP_LE, next, read), span);
    *down = kj_te_select(s, rises, compared(s, KJ_OP_LE, last, read),
                         compared(s, KJ_OP_GE, last, written), span);
}

/* Is what is read in each turn within what is written in it, or around it? */
static kj_texpr *is_within(kj_sema *s, const kj_tarray *target, const kj_tarray *from,
                           kj_texpr *ahead, kj_span span)
{
    int64_t more = units(target) - units(from);
    kj_texpr *zero = kj_te_i64(s, 0, span), *end = kj_te_i64(s, more, span);
    if (more == 0)
        return compared(s, KJ_OP_EQ, ahead, zero);
    return both(s, compared(s, KJ_OP_GE, ahead, more < 0 ? end : zero),
                compared(s, KJ_OP_LE, ahead, more < 0 ? zero : end), span);
}

/* Does one end before the other begins? */
static kj_texpr *is_far(kj_sema *s, const kj_tarray *target, const kj_tarray *from, kj_texpr *ahead,
                        kj_span span)
{
    int64_t larger = units(from) > units(target) ? units(from) : units(target);
    kj_texpr *far = kj_te_call(s, KJ_BI_ABS, &ahead, 1, KJ_I64, span),
             *whole = reach(s, target, larger, span);
    if (kj_is_const(far) && kj_most(s, whole) <= far->u.value.i)
        return kj_te_bool(s, true, span);
    return compared(s, KJ_OP_GE, far, whole);
}

/* Do the two share nothing: as one ends before the other begins, or as parts beside one another? */
static kj_texpr *is_apart(kj_sema *s, const kj_tarray *target, const kj_tarray *from,
                          kj_texpr *ahead, kj_span span)
{
    kj_texpr *apart = is_far(s, target, from, ahead, span);
    if (target->ndim > 1 || kj_is_const(apart))
        return apart;
    kj_texpr *step = kj_te_call(s, KJ_BI_ABS, &target->stride[0], 1, KJ_I64, span);
    kj_texpr *part = kj_te_binary(s, KJ_OP_MOD, ahead, step, span);
    kj_texpr *room = kj_i64_sub(s, step, kj_te_i64(s, units(from), span), span);
    kj_texpr *beside = both(s, compared(s, KJ_OP_GE, part, kj_te_i64(s, units(target), span)),
                            compared(s, KJ_OP_LE, part, room), span);
    return either(s, apart, beside, span);
}

/* What a view of the array that is written asks. It has the target's strides, so the element that is read
 * in a turn is written in one that is as far from it as the view begins from the target. */
static void meet(kj_sema *s, order *o, const kj_tarray *target, const kj_tarray *from, bool alone,
                 kj_span span)
{
    kj_texpr *zero = kj_te_i64(s, 0, span);
    kj_texpr *ahead = kj_i64_sub(s, from->offset ? from->offset : zero,
                                 target->offset ? target->offset : zero, span);
    ahead = kj_hold(s, ahead, "ahead");
    kj_texpr *up = NULL, *down = NULL, *none = kj_te_bool(s, false, span);
    if (target->ndim == 1)
        begin_ends(s, target, from, ahead, &up, &down, span);
    else
        up = down = is_within(s, target, from, ahead, span);
    kj_texpr *apart = !alone || target->ndim > 1 ? is_apart(s, target, from, ahead, span)
                      : kj_is_const(ahead)       ? none
                                                 : is_far(s, target, from, ahead, span);
    bool near = kj_is_const(ahead) && !is_bool(apart, true);
    o->before |= near && ahead->u.value.i < 0;
    o->behind |= near && ahead->u.value.i > 0;
    o->up = both(s, o->up, either(s, up, apart, span), span);
    o->down = both(s, o->down, either(s, down, apart, span), span);
}

static void refuse_overlap(kj_sema *s, kj_span at, const kj_tarray *target, const char *shares)
{
    kj_message *m = kj_sema_error(
        s, at, KJ_RULE_OVERLAP, "this %s elements with what is assigned, in another order", shares);
    kj_hint(s->diag, m, "write to another array than '%s', or a loop that says what is read when",
            target->root->name);
}

/* Of one array, as far as that can be told? Of chosen ones the arms that belong together may differ. */
static bool apart(const kj_sema *s, const kj_tarray *a, const kj_tarray *b)
{
    if (!kj_may_share(a, b))
        return true;
    const kj_tarray *x = a->root, *y = b->root;
    return kj_is_chosen(a) && kj_is_chosen(b) && same(s, x->test, y->test) &&
           apart(s, x->arms[0], y->arms[0]) && apart(s, x->arms[1], y->arms[1]);
}

/* The views of the value that are other ones of the array that is written: how many; -1 after an error. */
static int count_meeting(kj_sema *s, kj_each *each, const kj_tarray *target)
{
    int n = 0;
    for (kj_each_leaf *p = each->arrays; p; p = p->next_array) {
        const kj_tarray *from = p->v.u.array;
        bool fields = !from->of && !target->of, alike = kj_unit(from) == kj_unit(target);
        if (apart(s, from, target) || (fields && !alike) ||
            (from->whole && target->whole && from->part != target->part))
            continue; /* a field of another size is another field */
        if (from->root != target->root || !alike || !same_strides(s, from, target)) {
            refuse_overlap(s, p->v.span, target, "may share");
            return -1;
        }
        p->meets = !same(s, from->offset, target->offset);
        n += p->meets;
    }
    return n;
}

/* False after an error. */
static bool find_order(kj_sema *s, kj_each *each, const kj_tarray *target)
{
    kj_span span = each->e->span;
    order o = {kj_te_bool(s, true, span), kj_te_bool(s, true, span), false, false};
    int n = count_meeting(s, each, target);
    for (const kj_each_leaf *p = each->arrays; n > 0 && p; p = p->next_array)
        if (p->meets)
            meet(s, &o, target, p->v.u.array, n == 1, p->v.span);
    if (n <= 0 || is_bool(o.up, true))
        return n >= 0;
    bool one_axis = target->ndim == 1;
    if (n > 1 || !one_axis) {
        kj_texpr *test = one_axis ? either(s, o.up, o.down, span) : o.up;
        bool never = one_axis && o.before && o.behind && !target->root->of;
        if (never || is_bool(test, false)) {
            refuse_overlap(s, span, target, "shares");
            return false;
        }
        kj_emit_assert(s, each->e, test, KJ_SITE_OVERLAP,
                       "the value shares elements with what is assigned, in another order", NULL);
    }
    if (!one_axis)
        return true;
    kj_texpr *up = kj_hold(s, o.up, "up"), *one = kj_te_i64(s, 1, span);
    kj_texpr *last = kj_i64_sub(s, target->shape[0], one, span);
    each->start = kj_hold(s, kj_te_select(s, up, kj_te_i64(s, 0, span), last, span), "start");
    each->step = kj_hold(s, kj_te_select(s, up, one, kj_te_i64(s, -1, span), span), "step");
    return true;
}

/* ---- Assignments ---- */

typedef struct row {
    kj_tarray *target;
    const kj_stmt *st;
} row;

/* image[y, x] = (r, g, b): each part is an element of the row. */
static bool refuse_parts(kj_sema *s, const row *r, const kj_operand *v, const char *what)
{
    enum { MOST = 4 };
    const kj_expr *value = r->st->u.assign.value, *target = r->st->u.assign.targets;
    const char *of = kj_source_text(s, target->span, ""), *to = "", *from = "";
    size_t n = strlen(of);
    bool whole = r->target->ndim == 1 && n > 0 && of[n - 1] == ']' && !strchr(of, ':');
    if (r->st->u.assign.augmented || r->target->of || v->kind != KJ_V_TUPLE || v->u.tuple.of ||
        value->kind != KJ_E_TUPLE || !whole || v->u.tuple.n > MOST)
        return false;
    const kj_expr *item = value->u.list.items;
    for (int i = 0; item; item = item->next, i++) {
        to = kj_arena_printf(s->diag->arena, "%s%s%.*s, %d]", to, i ? ", " : "", (int)n - 1, of, i);
        from = kj_arena_printf(s->diag->arena, "%s%s%s", from, i ? ", " : "",
                               kj_source_text(s, item->span, "..."));
    }
    kj_message *m = kj_sema_error(s, value->span, KJ_RULE_TYPE_MISMATCH, "%s is %s, not %s", what,
                                  kj_type_name(r->target->elem), kj_describe(s, v));
    kj_hint(s->diag, m, "write %s = %s", to, from);
    if (!strstr(from, "..."))
        kj_fix(s->diag, m, r->st->span, "%s = %s", to, from);
    return true;
}

static void assign_element(kj_sema *s, kj_each *each, void *ctx)
{
    const row *r = ctx;
    kj_tarray *a = r->target;
    const kj_expr *value = r->st->u.assign.value;
    kj_operand old = {.kind = KJ_V_ERROR};
    kj_tstmt **at = s->sink->tail;
    if (r->st->u.assign.augmented) {
        old = kj_load_element(s, a, each->index, value->span);
        at = s->sink->tail;
    }
    kj_operand from, to = {.kind = KJ_V_PLACE, .span = r->st->span};
    if (!r->st->u.assign.augmented && kj_is_copied(a->of) && kj_each_place(s, each, &from) &&
        kj_same_aggregate(from.u.place.array->of, a->of)) {
        to.u.place.array = a;
        to.u.place.index = each->index;
        kj_copy_element(s, &to, &from, r->st->span);
        return;
    }
    kj_operand v = kj_each_value(s, each, a->elem);
    if (r->st->u.assign.augmented) {
        if (kj_could_see(s, at, &v))
            kj_spill(s, &old, &at);
        v = kj_binary(s, r->st->u.assign.op, old, v, r->st->span);
        v.span = value->span;
    }
    const char *what = kj_arena_printf(s->diag->arena, "an element of '%s'", a->name);
    if (refuse_parts(s, r, &v, what))
        return;
    v = a->of ? kj_coerce_aggregate(s, v, a->of, what) : kj_scalar(kj_coerce(s, v, a->elem, what));
    if (v.kind != KJ_V_ERROR)
        kj_store_element(s, a, each->index, v, r->st->span);
}

void kj_assign_row(kj_sema *s, kj_each *each, const kj_stmt *st, kj_tarray *target)
{
    row r = {target, st};
    if (kj_each_over(s, each, target) && find_order(s, each, target))
        kj_each_loop(s, each, assign_element, &r);
}
