/* What is known of integers: between which bounds a tile's values lie, and which power of two divides
 * them.
 *
 * Bounds are of the values as the language computes them, of the threads that run: of others they
 * say nothing, so what must not happen in any lane (a division by zero) may trust those of values
 * alone that all threads share. A result that may leave its type's range has that range for bounds,
 * and `wraps`. A linear tile's bounds hold for all lanes of a row of which any runs, since the
 * others are computed from its base; `wraps` says of one that lanes may lie on both sides of the
 * jump, and what is linear in it has it, too. */
#include "lower/tile/tile.h"

__extension__ typedef __int128 wide; /* holds every bound, and sums of them */

kj_bounds kj_type_bounds(kj_dtype t)
{
    uint8_t bits = kj_magnitude_bits(t);
    uint64_t most = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    return (kj_bounds){kj_is_signed(t) ? -(int64_t)most - 1 : 0, most};
}

int kj_bits(kj_tile t)
{
    uint64_t most = t.bounds.least < 0 ? ~(uint64_t)t.bounds.least : 0;
    most = most > t.bounds.most ? most : t.bounds.most;
    int bits = 0;
    while (bits < 64 && most >> bits)
        bits++;
    return bits;
}

void kj_bound(kj_tile *t, int64_t least, uint64_t most)
{
    t->bounds = (kj_bounds){least, most};
}

kj_bounds kj_either(kj_bounds a, kj_bounds b)
{
    return (kj_bounds){a.least < b.least ? a.least : b.least, a.most > b.most ? a.most : b.most};
}

static wide max_wide(wide a, wide b)
{
    return a > b ? a : b;
}

static wide min_wide(wide a, wide b)
{
    return a < b ? a : b;
}

/* The values from least to most, as far as they are the type's. */
static void settle(kj_tile *t, wide least, wide most)
{
    kj_bounds type = kj_type_bounds(t->type);
    t->wraps = least < type.least || most > (wide)type.most;
    t->bounds = t->wraps ? type : (kj_bounds){(int64_t)least, (uint64_t)max_wide(most, 0)};
}

/* Of two large u64 it is more than there is room for: then something that no type holds. */
static wide product(wide a, wide b)
{
    wide p, most = (wide)1 << 126;
    if (__builtin_mul_overflow(a, b, &p))
        p = (a < 0) != (b < 0) ? -most : most;
    return p;
}

static void settle_product(kj_tile *t, kj_bounds a, kj_bounds b)
{
    wide corners[4] = {product(a.least, b.least), product(a.least, (wide)b.most),
                       product((wide)a.most, b.least), product((wide)a.most, (wide)b.most)};
    wide least = corners[0], most = corners[0];
    for (int i = 1; i < 4; i++) {
        least = min_wide(least, corners[i]);
        most = max_wide(most, corners[i]);
    }
    settle(t, least, most);
}

/* Is it linear, or crossed, but for a jump? */
static bool is_broken(kj_tile t)
{
    return kj_is_line(t) && t.wraps;
}

bool kj_counts(kj_dtype type, kj_tile b)
{
    return b.bounds.least >= 0 && b.bounds.most < kj_types[type].bits;
}

static void know_division(kj_tile *t, kj_op op, kj_bounds a, kj_bounds b)
{
    bool both = a.least >= 0 && b.least >= 0;
    wide size = max_wide((wide)a.most, -(wide)a.least);
    if (op == KJ_OP_FLOORDIV)
        settle(t, both ? 0 : -size,
               both ? (wide)(a.most / (b.least > 0 ? (uint64_t)b.least : 1)) : size);
    else if (both)
        settle(t, 0, min_wide(a.most, max_wide((wide)b.most - 1, 0)));
    else
        settle(t, min_wide(b.least < 0 ? (wide)b.least + 1 : 0, 0), max_wide((wide)b.most - 1, 0));
}

/* Of constants it follows from the value; they may be one more than signed numbers go, a zero is
 * every power's multiple. */
static int evenness(kj_tile t)
{
    if (!kj_is_known(t))
        return t.even;
    return t.bounds.most ? __builtin_ctzll(t.bounds.most) : 63;
}

static void know_even(kj_tile *t, kj_op op, kj_tile a, kj_tile b)
{
    int x = evenness(a), y = evenness(b), even = 0;
    if (op == KJ_OP_ADD || op == KJ_OP_SUB)
        even = x < y ? x : y;
    else if (op == KJ_OP_MUL)
        even = x + y;
    else if (op == KJ_OP_SHL && kj_is_known(b) && kj_counts(t->type, b))
        even = x + (int)b.bounds.most;
    t->even = (uint8_t)(even < 63 ? even : 63);
}

void kj_know(kj_tile *t, kj_op op, kj_tile ta, kj_tile tb)
{
    kj_bounds a = ta.bounds, b = tb.bounds;
    know_even(t, op, ta, tb);
    switch (op) {
    case KJ_OP_ADD: settle(t, (wide)a.least + b.least, (wide)a.most + (wide)b.most); break;
    case KJ_OP_SUB: settle(t, (wide)a.least - (wide)b.most, (wide)a.most - b.least); break;
    case KJ_OP_MUL: settle_product(t, a, b); break;
    case KJ_OP_FLOORDIV:
    case KJ_OP_MOD: know_division(t, op, a, b); break;
    case KJ_OP_SHL:
        if (kj_counts(t->type, tb))
            settle_product(t, a,
                           (kj_bounds){(int64_t)1 << min_wide(b.least, 62), (uint64_t)1 << b.most});
        break;
    case KJ_OP_SHR:
        settle(t, min_wide(a.least, 0),
               (wide)(kj_counts(t->type, tb) ? a.most >> b.least : a.most));
        break;
    case KJ_OP_AND:
        if (a.least >= 0 || b.least >= 0)
            settle(t, 0,
                   a.least < 0   ? (wide)b.most
                   : b.least < 0 ? (wide)a.most
                                 : min_wide(a.most, b.most));
        break;
    default: break;
    }
    if (kj_is_line(*t))
        t->wraps |= is_broken(ta) || is_broken(tb);
}

/* The lanes of a linear counter step together, those that have left with those that go on. */
void kj_know_range(kj_tile *t, kj_tile start, kj_tile stop, kj_tile step, bool beyond)
{
    bool up = step.bounds.most > 0, down = step.bounds.least < 0;
    wide least = start.bounds.least, most = (wide)start.bounds.most;
    wide last = (wide)stop.bounds.most - 1, first = (wide)stop.bounds.least + 1;
    if (beyond) {
        last += (wide)step.bounds.most;
        first += step.bounds.least;
    } else if (!down) {
        most = least;
    } else if (!up) {
        least = most;
    }
    if (t->form == KJ_LINEAR) {
        wide apart = (wide)(t->lanes - 1) * (t->stride < 0 ? -t->stride : t->stride);
        last += apart;
        first -= apart;
    }
    settle(t, down ? min_wide(least, first) : least, up ? max_wide(most, last) : most);
    t->wraps |= is_broken(start);
    know_even(t, KJ_OP_ADD, start, step);
}
