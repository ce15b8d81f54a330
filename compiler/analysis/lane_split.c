/* How conditions and turns of loops split warps, and which threads a condition leaves. */
#include "analysis/lane_value.h"

/* ---- Of warps ---- */

static bool is_level(const int64_t *lane, int from, int to)
{
    for (int t = from; lane && t < to; t++)
        if (lane[t] != lane[from])
            return false;
    return true;
}

bool kj_lane_is_same(const kj_lanes *l, const kj_lane_value *v)
{
    for (int t = 0; v->known && t < l->n; t += KJ_WARP_THREADS) {
        int end = t + KJ_WARP_THREADS < l->n ? t + KJ_WARP_THREADS : l->n;
        if (!is_level(v->lane, t, end) || (v->by && !is_level(v->scaled, t, end)))
            return false;
    }
    return v->known;
}

static bool is_and(const kj_texpr *e, bool holds, const kj_texpr *both[2])
{
    if (e->kind == KJ_TE_LOGIC) {
        both[0] = e->u.logic.lhs;
        both[1] = e->u.logic.rhs;
        return e->u.logic.is_or != holds;
    }
    bool binary = e->kind == KJ_TE_BINARY && e->type == KJ_BOOL;
    both[0] = binary ? e->u.binary.lhs : NULL;
    both[1] = binary ? e->u.binary.rhs : NULL;
    return binary && e->u.binary.op == (holds ? KJ_OP_AND : KJ_OP_OR);
}

/* What a name stands for that has one value. */
static const kj_texpr *in_place(const kj_lanes *l, const kj_texpr *e)
{
    enum { NAMES = 8 };
    for (int i = 0; i < NAMES && e->kind == KJ_TE_VAR && !e->u.var->mutable; i++) {
        const kj_origin *o = l->origins[e->u.var->id];
        if (!o || o->next)
            break;
        e = o->value;
    }
    return e;
}

void kj_lanes_narrow(kj_lanes *l, const kj_texpr *test, bool holds, bool *active)
{
    const kj_texpr *both[2];
    kj_lane_value v;
    test = in_place(l, test);
    if (is_and(test, holds, both)) {
        kj_lanes_narrow(l, both[0], holds, active);
        kj_lanes_narrow(l, both[1], holds, active);
    } else if (test->kind == KJ_TE_UNARY && test->u.unary.op == KJ_OP_NOT) {
        kj_lanes_narrow(l, test->u.unary.arg, !holds, active);
    } else if (v = kj_lane_value_of(l, test), kj_lane_is_exact(&v)) {
        for (int t = 0; t < l->n; t++)
            active[t] &= (kj_lane(&v, t) != 0) == holds;
    }
}

/* ---- How conditions split warps ---- */

/* Do rows of threads along x go up, or down, in it? */
static bool is_monotone(const kj_lanes *l, const kj_lane_value *v)
{
    const int64_t *lane = v->lane;
    bool up = true, down = true;
    for (int t = 0; lane && t + 1 < l->n; t++) {
        bool row = (t + 1) % l->kernel->block[0] == 0;
        up &= row || lane[t] <= lane[t + 1];
        down &= row || lane[t] >= lane[t + 1];
    }
    return v->known && (up || down) && (!v->by || kj_lane_is_same(l, v));
}

bool kj_lanes_hold_for_one(kj_lanes *l, const kj_texpr *test)
{
    const kj_texpr *both[2];
    test = in_place(l, test);
    if (is_and(test, true, both))
        return kj_lanes_hold_for_one(l, both[0]) || kj_lanes_hold_for_one(l, both[1]);
    if (test->kind != KJ_TE_BINARY || test->u.binary.op != KJ_OP_EQ ||
        !kj_is_int(test->u.binary.lhs->type))
        return false;
    kj_lane_value a = kj_lane_value_of(l, test->u.binary.lhs),
                  b = kj_lane_value_of(l, test->u.binary.rhs);
    kj_lane_value apart = kj_lane_difference(l, &a, &b);
    if (!apart.known || apart.by || apart.edge)
        return false;
    for (int t = 0; t < l->n; t++) {
        int end = (t / KJ_WARP_THREADS + 1) * KJ_WARP_THREADS;
        for (int k = t + 1; k < end && k < l->n; k++)
            if (kj_lane(&apart, k) == kj_lane(&apart, t))
                return false;
    }
    return true;
}

/* The numbers of a warp's threads: from *low to *high. */
static void reach_of(const kj_lanes *l, const kj_lane_value *v, int from, int64_t *low,
                     int64_t *high)
{
    *low = *high = kj_lane(v, from);
    for (int t = from + 1; t < from + KJ_WARP_THREADS && t < l->n; t++) {
        int64_t x = kj_lane(v, t);
        *low = x < *low ? x : *low;
        *high = x > *high ? x : *high;
    }
}

/* Has each warp of the block numbers of its own? Else a bound may lie among those of all. */
static bool is_apart_by_warp(const kj_lanes *l, const kj_lane_value *v)
{
    int64_t low, high, other_low, other_high;
    for (int t = 0; t < l->n; t += KJ_WARP_THREADS) {
        reach_of(l, v, t, &low, &high);
        for (int k = t + KJ_WARP_THREADS; k < l->n; k += KJ_WARP_THREADS) {
            reach_of(l, v, k, &other_low, &other_high);
            if (low < other_high && other_low < high)
                return false;
        }
    }
    return true;
}

static bool is_bound(kj_lanes *l, const kj_texpr *e)
{
    kj_op op = e->kind == KJ_TE_BINARY ? e->u.binary.op : KJ_NOPS;
    if ((op != KJ_OP_LT && op != KJ_OP_LE && op != KJ_OP_GT && op != KJ_OP_GE) ||
        !kj_is_int(e->u.binary.lhs->type))
        return false;
    kj_lane_value a = kj_lane_value_of(l, e->u.binary.lhs),
                  b = kj_lane_value_of(l, e->u.binary.rhs);
    const kj_lane_value *own = a.lane ? &a : &b;
    if (kj_lane_is_exact(own) && !is_apart_by_warp(l, own))
        return false;
    kj_lane_value apart = kj_lane_difference(l, &a, &b);
    return is_monotone(l, &apart);
}

/* Of the threads that come there. */
static bool splits_warp(const kj_lanes *l, const kj_lane_value *v, int from)
{
    int first = -1;
    for (int t = from; t < from + KJ_WARP_THREADS && t < l->n; t++) {
        if (l->active && !l->active[t])
            continue;
        first = first < 0 ? t : first;
        if (kj_lane(v, t) != kj_lane(v, first))
            return true;
    }
    return false;
}

static int count_split(const kj_lanes *l, const kj_lane_value *v)
{
    int n = 0;
    for (int t = 0; t < l->n; t += KJ_WARP_THREADS)
        n += splits_warp(l, v, t);
    return n;
}

kj_split kj_lanes_split(kj_lanes *l, const kj_texpr *test, int *warps)
{
    const kj_texpr *both[2];
    test = in_place(l, test);
    kj_lane_value v = kj_lane_value_of(l, test);
    if (kj_lane_is_same(l, &v) || !(kj_dep(l->deps, test) & KJ_DEP_THREAD))
        return KJ_SPLIT_NOT;
    if (kj_lane_is_exact(&v)) {
        *warps = count_split(l, &v);
        return *warps ? KJ_SPLIT_SOME : KJ_SPLIT_NOT;
    }
    if (kj_lanes_hold_for_one(l, test))
        return KJ_SPLIT_ONE;
    if (is_bound(l, test))
        return KJ_SPLIT_AT_EDGE;
    if (test->kind == KJ_TE_UNARY && test->u.unary.op == KJ_OP_NOT)
        return kj_lanes_split(l, test->u.unary.arg, warps);
    if (is_and(test, true, both) || is_and(test, false, both)) {
        kj_split a = kj_lanes_split(l, both[0], warps), b = kj_lanes_split(l, both[1], warps);
        if (a <= KJ_SPLIT_AT_EDGE && b <= KJ_SPLIT_AT_EDGE)
            return a > b ? a : b;
    }
    return v.data || kj_lane_is_data(l, test) ? KJ_SPLIT_DATA : KJ_SPLIT_UNKNOWN;
}

static int64_t turns_of(int64_t start, int64_t stop, int64_t step)
{
    if (step > 0)
        return start < stop ? (stop - start - 1) / step + 1 : 0;
    return step < 0 && start > stop ? (start - stop - 1) / -step + 1 : 0;
}

/* Of threads whose range is known: -1, they differ. */
static int64_t common_turns(const kj_lanes *l, const kj_lane_value *start,
                            const kj_lane_value *stop, const kj_lane_value *step)
{
    int64_t turns = turns_of(kj_lane(start, 0), kj_lane(stop, 0), kj_lane(step, 0));
    for (int t = 1; t < l->n; t++)
        if (turns_of(kj_lane(start, t), kj_lane(stop, t), kj_lane(step, t)) != turns)
            return -1;
    return turns;
}

/* Does a turn go on farther than the block's threads lie apart? Then they differ by one turn at most. */
static bool is_beyond_all(const kj_lanes *l, const kj_lane_value *step, const kj_lane_value *apart)
{
    int64_t low = kj_lane(apart, 0), high = low, far = step->multiple ? step->multiple : step->c;
    for (int t = 1; t < l->n; t++) {
        int64_t x = kj_lane(apart, t);
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    bool same = step->known && !step->by && !step->lane && (!step->multiple || !step->c);
    return same && !apart->by && (far < 0 ? -far : far) > high - low;
}

kj_split kj_lanes_split_turns(kj_lanes *l, const kj_tstmt *loop, int64_t *turns)
{
    kj_lane_value start = kj_lane_value_of(l, loop->u.for_.start),
                  stop = kj_lane_value_of(l, loop->u.for_.stop),
                  step = kj_lane_value_of(l, loop->u.for_.step);
    *turns = -1;
    if (!start.known || !stop.known || !step.known)
        return start.data || stop.data || step.data ? KJ_SPLIT_DATA : KJ_SPLIT_UNKNOWN;
    if (kj_lane_is_exact(&start) && kj_lane_is_exact(&stop) && kj_lane_is_exact(&step))
        *turns = common_turns(l, &start, &stop, &step);
    if (*turns >= 0 ||
        (kj_lane_is_same(l, &start) && kj_lane_is_same(l, &stop) && kj_lane_is_same(l, &step)))
        return KJ_SPLIT_NOT;
    kj_lane_value apart = kj_lane_difference(l, &start, &stop);
    return is_monotone(l, &apart) && is_beyond_all(l, &step, &apart) ? KJ_SPLIT_AT_EDGE
                                                                     : KJ_SPLIT_UNKNOWN;
}
