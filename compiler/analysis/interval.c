/* Interval arithmetic of integers: what operators make of the least and the greatest value. */
#include "analysis/interval.h"

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool is_open(int64_t end)
{
    return end == kj_no_least || end == kj_no_most;
}

kj_interval kj_interval_of_type(kj_dtype type)
{
    int bits = kj_types[type].bits;
    if (type == KJ_BOOL)
        return (kj_interval){0, 1};
    if (!kj_is_int(type) || (bits == 64 && kj_is_signed(type)))
        return (kj_interval){kj_no_least, kj_no_most};
    if (!kj_is_signed(type))
        return (kj_interval){0, bits == 64 ? kj_no_most : ((int64_t)1 << bits) - 1};
    return (kj_interval){-((int64_t)1 << (bits - 1)), ((int64_t)1 << (bits - 1)) - 1};
}

kj_interval kj_interval_of_const(kj_value v)
{
    if (v.type == KJ_BOOL)
        return (kj_interval){v.b, v.b};
    if (!kj_is_signed(v.type) && v.u > INT64_MAX)
        return (kj_interval){kj_no_most, kj_no_most};
    return (kj_interval){v.i, v.i};
}

bool kj_interval_fits(kj_interval x, kj_dtype type)
{
    kj_interval t = kj_interval_of_type(type);
    return !is_open(x.lo) && !is_open(x.hi) && x.lo >= t.lo && x.hi <= t.hi;
}

/* ---- Ends ---- */

static int64_t add(int64_t a, int64_t b, int64_t open)
{
    int64_t sum;
    if (a == open || b == open)
        return open;
    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? kj_no_least : kj_no_most;
    return sum;
}

/* The lower end of what has this upper one turned round, and the upper of a lower. */
static int64_t negative_low(int64_t hi)
{
    return hi == kj_no_most ? kj_no_least : hi == kj_no_least ? kj_no_most : -hi;
}

static int64_t negative_high(int64_t lo)
{
    return lo == kj_no_least ? kj_no_most : -lo;
}

/* `open`: one of the two is. */
static int64_t product(int64_t a, int64_t b, bool open)
{
    int64_t out;
    if (a == 0 || b == 0)
        return 0;
    if (open || __builtin_mul_overflow(a, b, &out))
        return (a < 0) == (b < 0) ? kj_no_most : kj_no_least;
    return out;
}

/* b > 0; where that end is open, a's quotient is next to 0. */
static int64_t floored(int64_t a, int64_t b, bool open)
{
    return open ? -(a < 0) : a / b - (a % b < 0);
}

static int64_t raised(int64_t a, int64_t b, bool open)
{
    return open ? a > 0 : a / b + (a % b > 0);
}

/* The least number of ones that is not below a natural a. */
static int64_t filled(int64_t a)
{
    return a == 0 ? 0 : (int64_t)(UINT64_MAX >> __builtin_clzll((uint64_t)a));
}

/* ---- Operators ---- */

static const kj_interval everything = {INT64_MIN, INT64_MAX};

static kj_interval multiply(kj_interval a, kj_interval b)
{
    bool lows[2] = {a.lo == kj_no_least, b.lo == kj_no_least},
         highs[2] = {a.hi == kj_no_most, b.hi == kj_no_most};
    int64_t p[4] = {
        product(a.lo, b.lo, lows[0] || lows[1]), product(a.lo, b.hi, lows[0] || highs[1]),
        product(a.hi, b.lo, highs[0] || lows[1]), product(a.hi, b.hi, highs[0] || highs[1])};
    return (kj_interval){min(min(p[0], p[1]), min(p[2], p[3])),
                         max(max(p[0], p[1]), max(p[2], p[3]))};
}

typedef int64_t quotient(int64_t a, int64_t b, bool open);

/* Ends that are open stay so; b > 0. */
static kj_interval parted(kj_interval a, kj_interval b, quotient *of)
{
    bool open = b.hi == kj_no_most;
    kj_interval out = a;
    if (a.lo != kj_no_least)
        out.lo = a.lo < 0 ? of(a.lo, b.lo, false) : of(a.lo, b.hi, open);
    if (a.hi != kj_no_most)
        out.hi = a.hi < 0 ? of(a.hi, b.hi, open) : of(a.hi, b.lo, false);
    return out;
}

static kj_interval divide(kj_interval a, kj_interval b)
{
    if (b.lo < 0)
        return everything;
    kj_interval out = parted(a, (kj_interval){max(b.lo, 1), max(b.hi, 1)}, floored);
    if (b.lo <= 0) /* by 0 it is 0 */
        out = (kj_interval){min(out.lo, 0), max(out.hi, 0)};
    return out;
}

static kj_interval modulo(kj_interval a, kj_interval b)
{
    if (b.lo < 0)
        return everything;
    if (a.lo >= 0 && a.hi < b.lo)
        return a;
    int64_t most = b.hi == kj_no_most ? b.hi : max(b.hi - 1, 0);
    return (kj_interval){0, a.lo >= 0 ? min(most, a.hi) : most};
}

static kj_interval both_bits(kj_interval a, kj_interval b)
{
    if (a.lo < 0 && b.lo < 0)
        return everything;
    return (kj_interval){0, a.lo < 0 ? b.hi : b.lo < 0 ? a.hi : min(a.hi, b.hi)};
}

static kj_interval either_bits(kj_interval a, kj_interval b)
{
    if (a.lo < 0 || b.lo < 0 || a.hi < 0 || b.hi < 0)
        return everything;
    return (kj_interval){0, filled(max(a.hi, b.hi))};
}

/* Of an open end nothing is known but the type's own. */
static kj_interval shifted(kj_dtype type, kj_interval a, kj_interval by)
{
    if (by.lo < 0 || by.hi > 62)
        return everything;
    int64_t hi = a.hi < 0 ? -1 : a.hi >> by.lo;
    if (a.hi == kj_no_most && !kj_is_signed(type))
        hi = by.lo == 0 ? kj_no_most : (int64_t)(UINT64_MAX >> by.lo);
    return (kj_interval){a.lo < 0 ? a.lo : a.lo >> by.hi, hi};
}

/* What a loop's variable reaches of its last value, when all is known but that. */
static int64_t last(int64_t start, int64_t beyond, int64_t step)
{
    int64_t reach;
    bool far = step == -1 || __builtin_sub_overflow(beyond, start, &reach);
    return far ? beyond : start + reach / step * step;
}

static kj_interval turns(kj_interval start, kj_interval stop, kj_interval step)
{
    bool exact = start.lo == start.hi && step.lo == step.hi && !is_open(start.lo);
    int64_t most = add(stop.hi, -1, kj_no_most), least = add(stop.lo, 1, kj_no_least);
    if (step.lo > 0)
        return (kj_interval){start.lo, exact && !is_open(most) && most >= start.lo
                                           ? last(start.lo, most, step.lo)
                                           : most};
    if (step.hi < 0)
        return (kj_interval){
            exact && !is_open(least) && least <= start.lo ? last(start.lo, least, step.lo) : least,
            start.hi};
    return (kj_interval){min(start.lo, least), max(start.hi, most)};
}

static kj_interval other(kj_interval a, kj_interval b)
{
    if (b.lo != b.hi || is_open(b.lo))
        return a;
    return (kj_interval){a.lo + (a.lo == b.lo), a.hi - (a.hi == b.lo)};
}

static kj_interval absolute(kj_interval a)
{
    if (a.lo >= 0)
        return a;
    return (kj_interval){a.hi < 0 ? negative_low(a.hi) : 0, max(negative_high(a.lo), a.hi)};
}

static bool is_empty(kj_interval x)
{
    return x.lo > x.hi;
}

static kj_interval apply(kj_interval_op op, kj_dtype type, kj_interval a, kj_interval b,
                         kj_interval c)
{
    switch (op) {
    case KJ_IV_ADD: return (kj_interval){add(a.lo, b.lo, kj_no_least), add(a.hi, b.hi, kj_no_most)};
    case KJ_IV_SUB:
        return (kj_interval){add(a.lo, negative_low(b.hi), kj_no_least),
                             add(a.hi, negative_high(b.lo), kj_no_most)};
    case KJ_IV_MUL: return multiply(a, b);
    case KJ_IV_DIV: return divide(a, b);
    case KJ_IV_MOD: return modulo(a, b);
    case KJ_IV_CEIL:
        if (b.lo <= 0)
            return everything;
        return parted(a, b, raised);
    case KJ_IV_SHR: return shifted(type, a, b);
    case KJ_IV_AND: return both_bits(a, b);
    case KJ_IV_OR: return either_bits(a, b);
    case KJ_IV_MIN: return (kj_interval){min(a.lo, b.lo), min(a.hi, b.hi)};
    case KJ_IV_MAX: return (kj_interval){max(a.lo, b.lo), max(a.hi, b.hi)};
    case KJ_IV_ABS: return absolute(a);
    case KJ_IV_HULL: return (kj_interval){min(a.lo, b.lo), max(a.hi, b.hi)};
    case KJ_IV_ENDS: return (kj_interval){a.lo, b.hi};
    case KJ_IV_MOST: return (kj_interval){a.lo, min(a.hi, b.hi)};
    case KJ_IV_LEAST: return (kj_interval){max(a.lo, b.lo), a.hi};
    case KJ_IV_OTHER: return other(a, b);
    case KJ_IV_RANGE: return turns(a, b, c);
    case KJ_IV_FIT: return kj_interval_fits(a, type) ? a : kj_interval_of_type(type);
    case KJ_IV_WHERE_FIT: return kj_interval_fits(a, type) ? b : c;
    case KJ_IV_BOTH:
    case KJ_IV_CONST:
    case KJ_IV_EXTENT:
    case KJ_IV_PARAM:
    case KJ_IV_BLOCK:
    case KJ_IV_GRID: break; /* leaves are of a launch */
    }
    return everything;
}

kj_interval kj_interval_apply(kj_interval_op op, kj_dtype type, kj_interval a, kj_interval b,
                              kj_interval c)
{
    bool either = op == KJ_IV_HULL;
    if (is_empty(a))
        return either ? b : a;
    if (is_empty(b) && op != KJ_IV_WHERE_FIT)
        return either ? a : b;
    if (is_empty(c) && op == KJ_IV_RANGE)
        return c;
    return apply(op, type, a, b, c);
}
