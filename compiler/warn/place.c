/* Where threads are: which of an index comes from threadIdx.x, and from where on it counts. */
#include "warn/body.h"

#include <string.h>

enum { X = 1, Y = 2, Z = 4 };

bool kj_warn_is_builtin(const kj_body *b, const kj_expr *e, const char *name)
{
    return e->kind == KJ_E_NAME && strcmp(e->u.name, name) == 0 && !kj_warn_find(b, e->u.name);
}

/* ---- Axes of the grid ---- */

typedef struct axes_walk {
    const kj_body *b;
    unsigned axes;
} axes_walk;

static void add_axes(void *ctx, const kj_expr *part)
{
    axes_walk *w = ctx;
    w->axes |= kj_axes_of(w->b, part);
}

kj_named_value *kj_grid_of_item(const kj_body *b, const kj_expr *e)
{
    const kj_expr *base = e->kind == KJ_E_INDEX ? e->u.index.base : NULL;
    const kj_expr *nth = base ? e->u.index.args : NULL;
    kj_named_value *v = base && base->kind == KJ_E_NAME ? kj_warn_find(b, base->u.name) : NULL;
    const kj_expr *init = v ? v->init : NULL;
    bool item = nth && !nth->next && nth->kind == KJ_E_INT && nth->u.integer < 3;
    return item && init && init->kind == KJ_E_CALL &&
                   kj_warn_is_builtin(b, init->u.call.callee, "grid")
               ? v
               : NULL;
}

unsigned kj_axes_of(const kj_body *b, const kj_expr *e)
{
    axes_walk w = {b, 0};
    const kj_named_value *v = e->kind == KJ_E_NAME ? kj_warn_find(b, e->u.name) : NULL;
    switch (e->kind) {
    case KJ_E_NAME: return v ? v->axes : 0;
    case KJ_E_INDEX: /* what is loaded, but for p[1] */
        return kj_grid_of_item(b, e) ? 1u << e->u.index.args->u.integer : 0;
    case KJ_E_MEMBER:
        if (kj_warn_is_builtin(b, e->u.member.base, "threadIdx") && e->u.member.name[0] >= 'x' &&
            e->u.member.name[0] <= 'z')
            return 1u << (e->u.member.name[0] - 'x');
        return 0;
    case KJ_E_CALL:
        if (kj_warn_is_builtin(b, e->u.call.callee, "grid"))
            return X;
        break;
    default: break;
    }
    kj_each_part(e, add_axes, &w);
    return w.axes;
}

/* ---- The least value ---- */

static int64_t least_of_call(const kj_body *b, const kj_expr *e)
{
    const kj_expr *callee = e->u.call.callee, *args = e->u.call.args;
    if (callee->kind != KJ_E_NAME || kj_warn_find(b, callee->u.name))
        return -1;
    if (kj_warn_is_builtin(b, callee, "grid") || kj_warn_is_builtin(b, callee, "gridsize"))
        return callee->u.name[4] != 0;
    if (kj_type_named(callee->u.name) != KJ_VOID && args)
        return kj_least_of(b, args);
    if (!args || !args->next)
        return -1;
    int64_t first = kj_least_of(b, args), second = kj_least_of(b, args->next);
    if (kj_warn_is_builtin(b, callee, "max"))
        return first > second ? first : second;
    if (kj_warn_is_builtin(b, callee, "min"))
        return first < second ? first : second;
    return kj_warn_is_builtin(b, callee, "clamp") ? second : -1;
}

static int64_t least_of_binary(const kj_body *b, const kj_expr *e)
{
    const int64_t far = 1 << 30;
    int64_t lhs = kj_least_of(b, e->u.binary.lhs), rhs = kj_least_of(b, e->u.binary.rhs);
    bool both = lhs >= 0 && rhs >= 0;
    lhs = lhs < far ? lhs : far;
    rhs = rhs < far ? rhs : far;
    switch (e->u.binary.op) {
    case KJ_OP_ADD: return both ? lhs + rhs : -1;
    case KJ_OP_MUL: return both ? lhs * rhs : -1;
    case KJ_OP_MOD: return rhs >= 0 ? 0 : -1;
    case KJ_OP_AND: return lhs >= 0 || rhs >= 0 ? 0 : -1;
    case KJ_OP_FLOORDIV:
    case KJ_OP_SHR: return both ? 0 : -1;
    default: return -1;
    }
}

static int64_t least_of_member(const kj_body *b, const kj_expr *base)
{
    if (kj_warn_is_builtin(b, base, "threadIdx") || kj_warn_is_builtin(b, base, "blockIdx"))
        return 0;
    bool dim = kj_warn_is_builtin(b, base, "blockDim") || kj_warn_is_builtin(b, base, "gridDim");
    return dim ? 1 : -1;
}

int64_t kj_least_of(const kj_body *b, const kj_expr *e)
{
    const kj_named_value *v;
    switch (e->kind) {
    case KJ_E_INT: return e->u.integer <= INT32_MAX ? (int64_t)e->u.integer : INT32_MAX;
    case KJ_E_NAME: v = kj_warn_find(b, e->u.name); return v ? v->least : -1;
    case KJ_E_MEMBER: return least_of_member(b, e->u.member.base);
    case KJ_E_INDEX: return kj_grid_of_item(b, e) ? 0 : -1;
    case KJ_E_CALL: return least_of_call(b, e);
    case KJ_E_BINARY: return least_of_binary(b, e);
    default: return -1;
    }
}

static bool meets_in_binary(const kj_body *b, const kj_expr *e)
{
    const kj_expr *lhs = e->u.binary.lhs, *rhs = e->u.binary.rhs;
    const bool left = kj_meets_least(b, lhs), right = kj_meets_least(b, rhs);
    const bool zero = left && kj_least_of(b, lhs) == 0, other = right && kj_least_of(b, rhs) == 0;
    switch (e->u.binary.op) {
    case KJ_OP_ADD: return left && right;
    case KJ_OP_MUL:
    case KJ_OP_AND: return (left && right) || zero || other;
    case KJ_OP_MOD:
    case KJ_OP_FLOORDIV:
    case KJ_OP_SHR: return zero;
    default: return false;
    }
}

bool kj_meets_least(const kj_body *b, const kj_expr *e)
{
    const kj_named_value *v;
    bool all = true;
    switch (e->kind) {
    case KJ_E_INT: return true;
    case KJ_E_NAME: v = kj_warn_find(b, e->u.name); return v && v->meets;
    case KJ_E_CALL:
        for (const kj_expr *arg = e->u.call.args; arg; arg = arg->next)
            all = all && kj_meets_least(b, arg);
        return all && !kj_warn_is_builtin(b, e->u.call.callee, "gridsize");
    case KJ_E_BINARY: return meets_in_binary(b, e);
    default: return kj_least_of(b, e) == 0; /* threadIdx.x */
    }
}

/* ---- Its type ---- */

static bool is_wide_type(const char *name)
{
    kj_dtype t = name ? kj_type_named(name) : KJ_VOID;
    return t == KJ_I32 || t == KJ_I64;
}

bool kj_is_wide_as(const kj_type_ref *t)
{
    return t && !t->space && is_wide_type(t->name);
}

static bool is_wide_call(const kj_body *b, const kj_expr *e)
{
    const kj_expr *callee = e->u.call.callee;
    if (callee->kind != KJ_E_NAME || kj_warn_find(b, callee->u.name))
        return false;
    if (kj_warn_is_builtin(b, callee, "grid") || kj_warn_is_builtin(b, callee, "gridsize") ||
        is_wide_type(callee->u.name))
        return true;
    bool wide = kj_warn_is_builtin(b, callee, "min") || kj_warn_is_builtin(b, callee, "max") ||
                kj_warn_is_builtin(b, callee, "clamp");
    for (const kj_expr *arg = e->u.call.args; arg && wide; arg = arg->next)
        wide = kj_is_wide(b, arg);
    return wide;
}

/* threadIdx.x, a.size; of arrays and of the grid: those have no narrow ones. */
static bool is_wide_member(const kj_body *b, const kj_expr *e)
{
    const kj_expr *base = e->u.member.base;
    const kj_named_value *v = base->kind == KJ_E_NAME ? kj_warn_find(b, base->u.name) : NULL;
    const char *name = e->u.member.name;
    return v ? v->array && (strcmp(name, "size") == 0 || strcmp(name, "shape") == 0)
             : least_of_member(b, base) >= 0;
}

bool kj_is_wide(const kj_body *b, const kj_expr *e)
{
    const kj_named_value *v;
    switch (e->kind) {
    case KJ_E_INT: return true;
    case KJ_E_NAME: v = kj_warn_find(b, e->u.name); return v && v->wide;
    case KJ_E_MEMBER: return is_wide_member(b, e);
    case KJ_E_INDEX: return kj_grid_of_item(b, e) || kj_is_wide(b, e->u.index.base);
    case KJ_E_UNARY: return e->u.unary.op != KJ_OP_NOT && kj_is_wide(b, e->u.unary.arg);
    case KJ_E_BINARY:
        return kj_ops[e->u.binary.op].class != KJ_OPS_COMPARE && kj_is_wide(b, e->u.binary.lhs) &&
               kj_is_wide(b, e->u.binary.rhs);
    case KJ_E_COND: return kj_is_wide(b, e->u.cond.yes) && kj_is_wide(b, e->u.cond.no);
    case KJ_E_CALL: return is_wide_call(b, e);
    default: return false;
    }
}

/* ---- Indices ---- */

static bool is_negative(const kj_expr *e)
{
    return e->kind == KJ_E_UNARY && e->u.unary.op == KJ_OP_NEG && e->u.unary.arg->kind == KJ_E_INT;
}

/* -1 - i and -i - 1, where i is 0 or more; the most that such an index can be, or 0. */
static int64_t most_below(const kj_body *b, const kj_expr *e)
{
    if (e->kind == KJ_E_UNARY && e->u.unary.op == KJ_OP_NEG) {
        int64_t least = kj_least_of(b, e->u.unary.arg);
        return least > 0 ? -least : 0;
    }
    if (e->kind != KJ_E_BINARY || e->u.binary.op != KJ_OP_SUB)
        return 0;
    const kj_expr *lhs = e->u.binary.lhs, *rhs = e->u.binary.rhs;
    const bool from = lhs->kind == KJ_E_UNARY && lhs->u.unary.op == KJ_OP_NEG &&
                      kj_least_of(b, lhs->u.unary.arg) >= 0 && kj_least_of(b, rhs) >= 0;
    int64_t sum = from ? kj_least_of(b, lhs->u.unary.arg) + kj_least_of(b, rhs) : 0;
    return -sum;
}

/* Python's from the end: of all threads and turns it is outside. */
static void warn_of_end(kj_body *b, const kj_expr *e)
{
    if (most_below(b, e) >= 0 || !kj_is_wide(b, e))
        return; /* of a type that is narrow or has no sign it may be anywhere */
    kj_message *m =
        kj_warn(b->diag, e->span, KJ_RULE_INDEX_BELOW_ZERO, "this index is always below 0");
    kj_hint(b->diag, m, "no index counts from the end: that of the last element is its extent - 1");
}

/* i - 1, -1 + i or i + -1, where i may be 0. */
static void see_step_back(kj_body *b, const kj_expr *e)
{
    if (e->kind != KJ_E_BINARY)
        return;
    kj_op op = e->u.binary.op;
    const kj_expr *from = e->u.binary.lhs, *by = e->u.binary.rhs;
    if (op == KJ_OP_ADD && is_negative(from)) {
        from = e->u.binary.rhs;
        by = e->u.binary.lhs->u.unary.arg;
    } else if (op == KJ_OP_ADD && is_negative(by)) {
        by = by->u.unary.arg;
    } else if (op != KJ_OP_SUB || by->kind != KJ_E_INT) {
        return;
    }
    kj_named_value *v =
        from->kind == KJ_E_NAME ? kj_warn_find(b, from->u.name) : kj_grid_of_item(b, from);
    if (v && v->least >= 0 && kj_meets_least(b, from) && kj_is_wide(b, from) && !v->below &&
        by->u.integer > (uint64_t)v->least)
        v->below = e;
}

void kj_see_bounds(kj_body *b, const kj_expr *index)
{
    see_step_back(b, index);
    warn_of_end(b, index);
}

/* ---- Guards ---- */

static void guard_part(void *ctx, const kj_expr *part)
{
    kj_guard(ctx, part);
}

void kj_guard(kj_body *b, const kj_expr *e)
{
    enum { DEEPEST = 8 };
    kj_named_value *v = e->kind == KJ_E_NAME ? kj_warn_find(b, e->u.name) : NULL;
    bool asks = v && v->init && !v->guarded && b->inits < DEEPEST;
    if (v)
        v->guarded = true;
    b->inits += asks;
    if (asks)
        kj_guard(b, v->init);
    b->inits -= asks;
    kj_each_part(e, guard_part, b);
}

/* What is less than something: that says nothing of the low end of i, i + 1 and i * n. */
static void guard_falling(kj_body *b, const kj_expr *e)
{
    kj_op op = e->kind == KJ_E_BINARY ? e->u.binary.op : KJ_NOPS;
    if (e->kind == KJ_E_NAME)
        return;
    if (op != KJ_OP_ADD && op != KJ_OP_MUL && op != KJ_OP_SUB) {
        kj_guard(b, e);
        return;
    }
    guard_falling(b, e->u.binary.lhs);
    if (op == KJ_OP_SUB)
        kj_guard(b, e->u.binary.rhs);
    else
        guard_falling(b, e->u.binary.rhs);
}

void kj_see_comparison(kj_body *b, kj_op op, const kj_expr *lhs, const kj_expr *rhs)
{
    bool number = lhs->kind == KJ_E_INT || rhs->kind == KJ_E_INT; /* i < 1 asks for the first */
    bool less = !number && (op == KJ_OP_LT || op == KJ_OP_LE),
         more = !number && (op == KJ_OP_GT || op == KJ_OP_GE);
    if (less)
        guard_falling(b, lhs);
    else
        kj_guard(b, lhs);
    if (more)
        guard_falling(b, rhs);
    else
        kj_guard(b, rhs);
}
