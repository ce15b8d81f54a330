/* Builtins of integers on constants: what every device computes of their bits. */
#include "lang/signature.h"
#include "lang/types.h"

__extension__ typedef __int128 product;
__extension__ typedef unsigned __int128 unsigned_product;

static kj_value as(kj_dtype type, uint64_t u)
{
    return kj_fold_convert((kj_value){.type = KJ_U64, .u = u}, type);
}

static bool less(kj_value a, kj_value b)
{
    return kj_is_signed(a.type) ? a.i < b.i : a.u < b.u;
}

/* The type's own bits of a value, zeros above. */
static uint64_t own_bits(kj_value v)
{
    unsigned width = kj_types[v.type].bits;
    return width < 64 ? v.u & (((uint64_t)1 << width) - 1) : v.u;
}

/* In type a.type. */
static kj_value mulhi(kj_value a, kj_value b)
{
    int bits = kj_types[a.type].bits;
    if (kj_is_signed(a.type))
        return as(a.type, (uint64_t)((product)a.i * b.i >> bits));
    return as(a.type, (uint64_t)((unsigned_product)a.u * b.u >> bits));
}

/* a + b or a - b, or the number of the type that is nearest to it. */
static kj_value saturated(kj_value a, kj_value b, bool minus)
{
    unsigned magnitude = kj_magnitude_bits(a.type);
    bool is_signed = kj_is_signed(a.type);
    product x = is_signed ? (product)a.i : (product)a.u,
            y = is_signed ? (product)b.i : (product)b.u;
    product one = 1, most = (one << magnitude) - 1, least = is_signed ? -(one << magnitude) : 0;
    product sum = minus ? x - y : x + y;
    sum = sum > most ? most : sum < least ? least : sum;
    return as(a.type, (uint64_t)sum);
}

/* Half of the sum of twice the bits, rounded down or up. */
static kj_value half_sum(kj_value a, kj_value b, bool up)
{
    bool is_signed = kj_is_signed(a.type);
    product x = is_signed ? (product)a.i : (product)a.u,
            y = is_signed ? (product)b.i : (product)b.u;
    return as(a.type, (uint64_t)((x + y + up) >> 1));
}

static kj_value sad(const kj_value *v)
{
    return as(v[0].type, (less(v[0], v[1]) ? v[1].u - v[0].u : v[0].u - v[1].u) + v[2].u);
}

/* The upper half of hi:lo moved to the left, or the lower half of it moved to the right. */
static kj_value funnel(kj_builtin id, kj_value lo, kj_value hi, kj_value by)
{
    unsigned width = kj_types[lo.type].bits;
    uint64_t count = (uint32_t)by.u;
    bool left = id == KJ_BI_FUNNELSHIFT_L || id == KJ_BI_FUNNELSHIFT_LC;
    bool clamps = id == KJ_BI_FUNNELSHIFT_LC || id == KJ_BI_FUNNELSHIFT_RC;
    count = clamps && count > width ? width : clamps ? count : count % width;
    unsigned_product both = (unsigned_product)own_bits(hi) << width | own_bits(lo);
    return as(lo.type, (uint64_t)(left ? both >> (width - count) : both >> count));
}

static kj_value byte_perm(const kj_value *v)
{
    uint64_t both = own_bits(v[1]) << 32 | own_bits(v[0]), out = 0;
    for (int i = 0; i < 4; i++)
        out |= (both >> (8 * (v[2].u >> 4 * i & 7)) & 255) << 8 * i;
    return as(v[0].type, out);
}

static kj_value dp4a(const kj_value *v)
{
    uint64_t sum = v[2].u;
    kj_dtype byte = kj_is_signed(v[0].type) ? KJ_I8 : KJ_U8;
    for (int i = 0; i < 4; i++)
        sum += as(byte, v[0].u >> 8 * i).u * as(byte, v[1].u >> 8 * i).u;
    return as(v[0].type, sum);
}

/* The two halves of a word and two bytes of another one, from byte `from` on. */
static kj_value dp2a(const kj_value *v, int from)
{
    uint64_t sum = v[2].u;
    bool is_signed = kj_is_signed(v[0].type);
    for (int i = 0; i < 2; i++)
        sum += as(is_signed ? KJ_I16 : KJ_U16, v[0].u >> 16 * i).u *
               as(is_signed ? KJ_I8 : KJ_U8, v[1].u >> 8 * (from + i)).u;
    return as(v[0].type, sum);
}

/* ---- Of one ---- */

static bool count(kj_builtin id, kj_value v, kj_value *out)
{
    unsigned width = kj_types[v.type].bits;
    uint64_t bits = own_bits(v), reversed = 0;
    unsigned ones = 0, highest = 0, lowest = 0;
    for (unsigned i = 0; i < width; i++) {
        bool set = bits >> i & 1;
        ones += set;
        highest = set ? i + 1 : highest;
        lowest = set && !lowest ? i + 1 : lowest;
        reversed |= (uint64_t)set << (width - 1 - i);
    }
    switch (id) {
    case KJ_BI_POPC: *out = as(v.type, ones); return true;
    case KJ_BI_CLZ: *out = as(v.type, width - highest); return true;
    case KJ_BI_FFS: *out = as(v.type, lowest); return true;
    case KJ_BI_BREV: *out = as(v.type, reversed); return true;
    default: return false;
    }
}

bool kj_fold_integers(kj_builtin id, const kj_value *v, kj_value *out)
{
    switch (id) {
    case KJ_BI_MULHI: *out = mulhi(v[0], v[1]); return true;
    case KJ_BI_ADD_SAT:
    case KJ_BI_SUB_SAT: *out = saturated(v[0], v[1], id == KJ_BI_SUB_SAT); return true;
    case KJ_BI_HADD:
    case KJ_BI_RHADD: *out = half_sum(v[0], v[1], id == KJ_BI_RHADD); return true;
    case KJ_BI_SAD: *out = sad(v); return true;
    case KJ_BI_FUNNELSHIFT_L:
    case KJ_BI_FUNNELSHIFT_R:
    case KJ_BI_FUNNELSHIFT_LC:
    case KJ_BI_FUNNELSHIFT_RC: *out = funnel(id, v[0], v[1], v[2]); return true;
    case KJ_BI_BYTE_PERM: *out = byte_perm(v); return true;
    case KJ_BI_DP4A: *out = dp4a(v); return true;
    case KJ_BI_DP2A_LO:
    case KJ_BI_DP2A_HI: *out = dp2a(v, id == KJ_BI_DP2A_HI ? 2 : 0); return true;
    default: return count(id, v[0], out);
    }
}
