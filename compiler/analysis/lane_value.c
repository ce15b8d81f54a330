/* What the threads of a warp have of an integer: expressions, then variables until none changes. */
#include "analysis/lane_value.h"

/* ---- Values ---- */

static kj_lane_value unknown(bool data)
{
    return (kj_lane_value){.set = true, .data = data};
}

/* One number for a warp, which is such a multiple. */
static kj_lane_value common(int64_t multiple)
{
    return (kj_lane_value){.set = true, .known = true, .multiple = multiple};
}

static kj_lane_value constant(int64_t c)
{
    return (kj_lane_value){.set = true, .known = true, .c = c};
}

/* Is it made of nothing that tells threads apart? */
static bool is_common(const kj_lane_value *v)
{
    return v->known && !v->lane && !v->by;
}

static bool is_constant(const kj_lane_value *v)
{
    return is_common(v) && !v->multiple;
}

static int64_t *numbers(kj_lanes *l)
{
    if (l->room < (size_t)l->n)
        return NULL;
    l->room -= (size_t)l->n;
    return KJ_NEW_ARRAY(l->arena, int64_t, (size_t)l->n + 1);
}

int64_t kj_lane_divisor(int64_t a, int64_t b)
{
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x > INT64_MAX ? 1 : (int64_t)x;
}

bool kj_lanes_are_apart(const kj_lanes *l, const int64_t *a, const int64_t *b, int64_t *by)
{
    *by = (a ? a[0] : 0) - (b ? b[0] : 0);
    for (int t = 0; a != b && t < l->n; t++)
        if ((a ? a[t] : 0) - (b ? b[t] : 0) != *by)
            return false;
    return true;
}

static bool is_same_scale(const kj_lane_value *a, const kj_lane_value *b)
{
    return a->by == b->by || kj_is_same_number(a->by, b->by);
}

/* ---- Arithmetic ---- */

/* lane and other, times sign, added; false: there is no room, or it wraps. */
static bool add_lanes(kj_lanes *l, const int64_t *lane, const int64_t *other, int64_t sign,
                      const int64_t **out)
{
    *out = lane;
    if (!other)
        return true;
    int64_t *sum = numbers(l), scaled;
    if (!sum)
        return false;
    for (int t = 0; t < l->n; t++)
        if (__builtin_mul_overflow(other[t], sign, &scaled) ||
            __builtin_add_overflow(lane ? lane[t] : 0, scaled, &sum[t]))
            return false;
    *out = sum;
    return true;
}

static kj_lane_value sum(kj_lanes *l, const kj_lane_value *a, const kj_lane_value *b, int64_t sign)
{
    kj_lane_value v = *a;
    int64_t c;
    if ((a->edge || b->edge) && a->lane && b->lane)
        return unknown(false);
    v.edge = a->edge || b->edge;
    v.multiple = kj_lane_divisor(a->multiple, b->multiple);
    if (a->by && b->by && !is_same_scale(a, b))
        return unknown(false);
    v.by = a->by ? a->by : b->by;
    bool done = !__builtin_mul_overflow(b->c, sign, &c) && !__builtin_add_overflow(a->c, c, &v.c) &&
                add_lanes(l, a->lane, b->lane, sign, &v.lane) &&
                add_lanes(l, a->by ? a->scaled : NULL, b->by ? b->scaled : NULL, sign, &v.scaled);
    return done ? v : unknown(false);
}

kj_lane_value kj_lane_difference(kj_lanes *l, const kj_lane_value *a, const kj_lane_value *b)
{
    return a->known && b->known ? sum(l, a, b, -1) : unknown(false);
}

static bool scale_lanes(kj_lanes *l, const int64_t **lane, int64_t by)
{
    const int64_t *from = *lane;
    int64_t *out = from ? numbers(l) : NULL;
    for (int t = 0; out && t < l->n; t++)
        if (__builtin_mul_overflow(from[t], by, &out[t]))
            return false;
    *lane = out;
    return out || !from;
}

static kj_lane_value scaled(kj_lanes *l, kj_lane_value v, int64_t by)
{
    if (by == 0)
        return constant(0);
    bool done = !__builtin_mul_overflow(v.c, by, &v.c) &&
                !__builtin_mul_overflow(v.multiple, by, &v.multiple) && v.multiple != INT64_MIN &&
                scale_lanes(l, &v.lane, by) && (!v.by || scale_lanes(l, &v.scaled, by));
    v.multiple = kj_lane_divisor(v.multiple, 0);
    return done ? v : unknown(false);
}

/* Is it made of variables that may have other values elsewhere? */
static bool is_assigned(const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    bool any = e->kind == KJ_TE_VAR && e->u.var->mutable;
    for (int i = 0, n = any ? 0 : kj_operands(e, operands); i < n && !any; i++)
        any = is_assigned(operands[i]);
    return any;
}

/* Threads' numbers times one that they have in common and nobody knows. */
static kj_lane_value product_by(kj_lanes *l, const kj_lane_value *v, const kj_texpr *by)
{
    if (v->by || is_assigned(by))
        return unknown(false);
    kj_lane_value out = common(1);
    out.edge = v->edge;
    const int64_t *lane = v->lane;
    int64_t *all = numbers(l);
    if (!all)
        return unknown(false);
    for (int t = 0; t < l->n; t++)
        all[t] = lane[t];
    out.by = by;
    out.scaled = all;
    return out;
}

/* Of two that a warp has in common: multiples of what theirs are. */
static kj_lane_value common_product(const kj_lane_value *a, const kj_lane_value *b)
{
    int64_t most, x = kj_lane_divisor(a->multiple, a->c), y = kj_lane_divisor(b->multiple, b->c);
    return common(__builtin_mul_overflow(x, y, &most) || most == 0 ? 1 : most);
}

static kj_lane_value by_lane(kj_lanes *l, kj_op op, const kj_lane_value *a, const kj_lane_value *b);

static kj_lane_value product(kj_lanes *l, const kj_lane_value *a, const kj_texpr *x,
                             const kj_lane_value *b, const kj_texpr *y)
{
    if (is_constant(b))
        return scaled(l, *a, b->c);
    if (is_constant(a))
        return scaled(l, *b, a->c);
    if (kj_lane_is_exact(a) && kj_lane_is_exact(b))
        return by_lane(l, KJ_OP_MUL, a, b);
    if (is_common(a) && is_common(b))
        return common_product(a, b);
    return is_common(b) && a->lane   ? product_by(l, a, y)
           : is_common(a) && b->lane ? product_by(l, b, x)
                                     : unknown(false);
}

/* ---- Operators that are known thread by thread ---- */

static int64_t floor_quotient(int64_t x, int64_t y)
{
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

static bool fold(kj_op op, int64_t x, int64_t y, int64_t *out)
{
    switch (op) {
    case KJ_OP_MUL: return !__builtin_mul_overflow(x, y, out);
    case KJ_OP_FLOORDIV:
    case KJ_OP_MOD:
        if (y == 0 || (x == INT64_MIN && y == -1))
            return false;
        *out = floor_quotient(x, y);
        *out = op == KJ_OP_MOD ? x - *out * y : *out;
        return true;
    case KJ_OP_AND: *out = x & y; return true;
    case KJ_OP_OR: *out = x | y; return true;
    case KJ_OP_XOR: *out = x ^ y; return true;
    case KJ_OP_SHL:
        return x >= 0 && y >= 0 && y < 62 && !__builtin_mul_overflow(x, (int64_t)1 << y, out);
    case KJ_OP_SHR: *out = y < 64 ? x >> (y & 63) : 0; return x >= 0 && y >= 0;
    case KJ_OP_LT: *out = x < y; return true;
    case KJ_OP_LE: *out = x <= y; return true;
    case KJ_OP_GT: *out = x > y; return true;
    case KJ_OP_GE: *out = x >= y; return true;
    case KJ_OP_EQ: *out = x == y; return true;
    case KJ_OP_NE: *out = x != y; return true;
    default: return false;
    }
}

/* What stands beside what a warp has in common. */
static kj_lane_value by_lane(kj_lanes *l, kj_op op, const kj_lane_value *a, const kj_lane_value *b)
{
    int64_t *out = numbers(l);
    for (int t = 0; out && t < l->n; t++)
        if (!fold(op, kj_lane(a, t), kj_lane(b, t), &out[t]))
            return unknown(false);
    if (!out)
        return unknown(false);
    kj_lane_value v = constant(out[0]);
    int64_t by;
    if (!kj_lanes_are_apart(l, out, NULL, &by))
        v = (kj_lane_value){.set = true, .known = true, .lane = out};
    return v;
}

/* Are the numbers beside a multiple of n that a warp has in common below it? */
static bool is_below(const kj_lanes *l, const kj_lane_value *v, int64_t n)
{
    for (int t = 0; t < l->n; t++)
        if (kj_lane(v, t) < 0 || kj_lane(v, t) >= n)
            return false;
    return true;
}

/* Of a // d and a % d: what a warp has in common is a multiple of d. */
static kj_lane_value divided(kj_lanes *l, kj_op op, const kj_lane_value *a, int64_t d)
{
    if (d <= 0 || a->by || a->edge || a->multiple % d != 0)
        return is_common(a) ? common(1) : unknown(false);
    kj_lane_value by = constant(d), v = by_lane(l, op, a, &by);
    if (v.known && op == KJ_OP_FLOORDIV)
        v.multiple = a->multiple / d;
    return v;
}

/* Bits of numbers below those that a warp has in common. */
static kj_lane_value bitwise(kj_lanes *l, kj_op op, const kj_lane_value *a, const kj_lane_value *b)
{
    if (kj_lane_is_exact(a) && kj_lane_is_exact(b))
        return by_lane(l, op, a, b);
    bool mask = op == KJ_OP_AND && is_constant(b) && b->c >= 0 && (b->c & (b->c + 1)) == 0;
    if (mask)
        return divided(l, KJ_OP_MOD, a, b->c + 1);
    int64_t lowest = a->multiple & -a->multiple;
    bool apart = op != KJ_OP_AND && !a->by && kj_lane_is_exact(b) && lowest &&
                 is_below(l, a, lowest) && is_below(l, b, lowest);
    if (!apart)
        return is_common(a) && is_common(b) ? common(1) : unknown(false);
    kj_lane_value v = by_lane(l, op, a, b);
    v.multiple = v.known ? lowest : 0;
    return v;
}

static kj_lane_value shifted(kj_lanes *l, kj_op op, const kj_lane_value *a, const kj_lane_value *b)
{
    if (is_constant(b) && b->c >= 0 && b->c < 62)
        return op == KJ_OP_SHL ? scaled(l, *a, (int64_t)1 << b->c)
                               : divided(l, KJ_OP_FLOORDIV, a, (int64_t)1 << b->c);
    if (kj_lane_is_exact(a) && kj_lane_is_exact(b))
        return by_lane(l, op, a, b);
    return is_common(a) && is_common(b) ? common(1) : unknown(false);
}

static kj_lane_value of_binary(kj_lanes *l, const kj_texpr *e)
{
    const kj_texpr *x = e->u.binary.lhs, *y = e->u.binary.rhs;
    kj_op op = e->u.binary.op;
    kj_lane_value a = kj_lane_value_of(l, x), b = kj_lane_value_of(l, y);
    if (!a.known || !b.known)
        return unknown(a.data || b.data);
    switch (op) {
    case KJ_OP_ADD: return sum(l, &a, &b, 1);
    case KJ_OP_SUB: return sum(l, &a, &b, -1);
    case KJ_OP_MUL: return product(l, &a, x, &b, y);
    case KJ_OP_FLOORDIV:
    case KJ_OP_MOD:
        if (is_constant(&b))
            return divided(l, op, &a, b.c);
        break;
    case KJ_OP_AND:
    case KJ_OP_OR:
    case KJ_OP_XOR: return bitwise(l, op, &a, &b);
    case KJ_OP_SHL:
    case KJ_OP_SHR: return shifted(l, op, &a, &b);
    default: break;
    }
    if (kj_lane_is_exact(&a) && kj_lane_is_exact(&b))
        return by_lane(l, op, &a, &b);
    return is_common(&a) && is_common(&b) ? common(1) : unknown(false);
}

/* ---- Types ---- */

static bool holds(kj_dtype type, int64_t x)
{
    unsigned bits = (unsigned)kj_types[type].bits;
    if (!kj_is_signed(type))
        return x >= 0 && (bits >= 64 || x >> bits == 0);
    return bits >= 64 || (x >= -((int64_t)1 << (bits - 1)) && x < (int64_t)1 << (bits - 1));
}

/* The number as its type has it: very numbers wrap, others must be in reach of it. */
static kj_lane_value fitted(kj_lanes *l, kj_dtype type, kj_lane_value v)
{
    bool all = v.known && kj_is_int(type) && holds(type, v.c);
    for (int t = 0; all && t < l->n; t++)
        all = kj_lane_is_exact(&v) ? holds(type, kj_lane(&v, t))
                                   : kj_types[type].bits >= 64 || !v.lane ||
                                         holds(type, v.lane[t] < 0 ? -v.lane[t] : v.lane[t]);
    if (all || !v.known || !kj_is_int(type))
        return v;
    int64_t *out = kj_lane_is_exact(&v) && kj_types[type].bits < 64 ? numbers(l) : NULL;
    if (!out)
        return unknown(false);
    for (int t = 0; t < l->n; t++) {
        kj_value x = kj_fold_convert(kj_int(KJ_I64, kj_lane(&v, t)), type);
        out[t] = x.i;
    }
    int64_t by;
    return kj_lanes_are_apart(l, out, NULL, &by)
               ? constant(by)
               : (kj_lane_value){.set = true, .known = true, .lane = out, .edge = v.edge};
}

/* ---- Expressions ---- */

static kj_lane_value of_index(kj_lanes *l, const kj_texpr *e)
{
    const int64_t *block = l->kernel->block;
    int axis = e->u.index.axis;
    bool lane = e->u.index.which == KJ_LANE_ID;
    if (e->u.index.which == KJ_BLOCK_DIM)
        return constant(block[axis]);
    if (e->u.index.which != KJ_THREAD_IDX && !lane)
        return common(1);
    if (!lane && block[axis] == 1)
        return constant(0);
    int64_t *out = numbers(l);
    for (int t = 0; out && t < l->n; t++)
        out[t] = lane        ? t % KJ_WARP_THREADS
                 : axis == 0 ? t % block[0]
                 : axis == 1 ? t / block[0] % block[1]
                             : t / (block[0] * block[1]);
    return out ? (kj_lane_value){.set = true, .known = true, .lane = out} : unknown(false);
}

bool kj_lane_is_data(const kj_lanes *l, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    if (e->kind == KJ_TE_VAR)
        return l->var[e->u.var->id].data;
    bool any = e->kind == KJ_TE_LOAD || e->kind == KJ_TE_ATOMIC;
    for (int i = 0, n = any ? 0 : kj_operands(e, operands); i < n && !any; i++)
        any = kj_lane_is_data(l, operands[i]);
    return any;
}

/* A number with bounds, as min(i, n): but for the warps in which a thread comes to one it is the number. */
static kj_lane_value within_bounds(kj_lane_value v, bool bounded)
{
    if (!bounded || !v.known || v.by)
        return unknown(v.data);
    v.multiple = 1;
    v.edge |= v.lane != NULL;
    return v;
}

/* The lesser, or the greater, of two very numbers. */
static kj_lane_value exact_bound(kj_lanes *l, const kj_lane_value *a, const kj_lane_value *b,
                                 bool least)
{
    int64_t *out = numbers(l), by;
    if (!out)
        return unknown(false);
    for (int t = 0; t < l->n; t++) {
        int64_t x = kj_lane(a, t), y = kj_lane(b, t);
        out[t] = (x < y) == least ? x : y;
    }
    return kj_lanes_are_apart(l, out, NULL, &by)
               ? constant(by)
               : (kj_lane_value){.set = true, .known = true, .lane = out};
}

/* min(i, n), max(i, n) and clamp(i, low, high) of bounds that a warp has in common. */
static kj_lane_value of_bounded(kj_lanes *l, const kj_texpr *e)
{
    kj_lane_value v = kj_lane_value_of(l, e->u.call.args[0]);
    for (int i = 1; i < e->u.call.nargs; i++) {
        kj_lane_value other = kj_lane_value_of(l, e->u.call.args[i]);
        bool swap = is_common(&v) && !is_common(&other);
        if (kj_lane_is_exact(&v) && kj_lane_is_exact(&other) && !v.edge && !other.edge) {
            bool least = e->u.call.id == KJ_BI_MIN || (e->u.call.id == KJ_BI_CLAMP && i == 2);
            v = exact_bound(l, &v, &other, least);
            continue;
        }
        v = within_bounds(swap ? other : v, is_common(swap ? &v : &other));
    }
    return v;
}

static bool is_bounding(const kj_texpr *e)
{
    return e->kind == KJ_TE_CALL &&
           (e->u.call.id == KJ_BI_MIN || e->u.call.id == KJ_BI_MAX || e->u.call.id == KJ_BI_CLAMP);
}

/* Memory, and what a warp says, are looked into by nobody here: they are the same where kj_uniform says so. */
static kj_lane_value of_other(const kj_lanes *l, const kj_texpr *e)
{
    bool same = !(kj_dep(l->deps, e) & KJ_DEP_THREAD);
    return same ? common(1) : unknown(kj_lane_is_data(l, e));
}

/* All threads of a warp make a load together: from one place they get one value. */
static bool loads_same(kj_lanes *l, const kj_texpr *e)
{
    if (e->kind != KJ_TE_LOAD || e->u.load.array->root->space == KJ_LOCAL)
        return false;
    kj_lane_value at = kj_lane_value_of_place(l, e->u.load.array, e->u.load.index);
    return kj_lane_is_same(l, &at);
}

static bool is_around(const kj_lanes *l, const kj_tstmt *loop)
{
    for (int i = 0; i < l->nloops && i < KJ_LOOPS_AROUND; i++)
        if (l->loops[i] == loop)
            return true;
    return false;
}

static kj_lane_value of_var(const kj_lanes *l, const kj_var *v)
{
    kj_lane_value of = l->var[v->id];
    bool same = !(l->deps->var[v->id] & KJ_DEP_THREAD);
    if (!of.set || (of.within && !is_around(l, of.within)))
        of = unknown(of.data);
    of.within = NULL;
    return !of.known && same ? common(1) : of;
}

/* Does the conversion give the very number? Of 32 bits and more none is too large. */
static bool keeps(const kj_texpr *e)
{
    return kj_is_int(e->type) && (kj_types[e->type].bits >= 32 || kj_keeps_value(e));
}

static bool is_whole(const kj_texpr *e)
{
    return kj_is_int(e->type) || e->type == KJ_BOOL;
}

kj_lane_value kj_lane_value_of(kj_lanes *l, const kj_texpr *e)
{
    kj_lane_value v;
    if (loads_same(l, e))
        return common(1);
    if (!is_whole(e))
        return of_other(l, e);
    switch (e->kind) {
    case KJ_TE_CONST: return constant(e->u.value.i);
    case KJ_TE_VAR: return of_var(l, e->u.var);
    case KJ_TE_DIM: return common(1);
    case KJ_TE_INDEX: return of_index(l, e);
    case KJ_TE_CALL:
        v = is_bounding(e) ? of_bounded(l, e) : unknown(false);
        if (v.known)
            return v;
        break;
    case KJ_TE_BINARY:
        if (is_whole(e->u.binary.lhs))
            return fitted(l, e->type, of_binary(l, e));
        break;
    case KJ_TE_UNARY:
        if (e->u.unary.op != KJ_OP_NEG)
            break;
        v = kj_lane_value_of(l, e->u.unary.arg);
        return v.known ? fitted(l, e->type, scaled(l, v, -1)) : v;
    case KJ_TE_CONVERT:
        v = is_whole(e->u.unary.arg) ? kj_lane_value_of(l, e->u.unary.arg) : unknown(false);
        if (v.known ? keeps(e) : v.data)
            return fitted(l, e->type, v);
        break;
    default: break;
    }
    return of_other(l, e);
}

kj_lane_value kj_lane_value_of_place(kj_lanes *l, const kj_tarray *a, kj_texpr *const *index)
{
    kj_lane_value all = a->offset ? kj_lane_value_of(l, a->offset) : constant(0);
    for (int i = 0; i < a->ndim && all.known; i++) {
        kj_lane_value at = kj_lane_value_of(l, index[i]), by = kj_lane_value_of(l, a->stride[i]);
        if (!at.known || !by.known)
            return unknown(at.data || by.data);
        kj_lane_value step = product(l, &at, index[i], &by, a->stride[i]);
        all = step.known ? sum(l, &all, &step, 1) : step;
    }
    return all;
}
