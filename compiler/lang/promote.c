/* Type promotion: the common type of two (u8 with u8, i32 with f32), which conversions the language
 * makes by itself, and the default type of a literal. */
#include "lang/types.h"

static kj_dtype signed_of(int bits)
{
    return bits <= 8    ? KJ_I8
           : bits <= 16 ? KJ_I16
           : bits <= 32 ? KJ_I32
           : bits <= 64 ? KJ_I64
                        : KJ_VOID;
}

/* Of a complex type that of its parts. */
static kj_dtype part_type(kj_dtype t, bool *complex)
{
    *complex = kj_is_complex_type(t);
    return *complex ? kj_aggregate_of(t)->elem : t;
}

kj_dtype kj_common_type(kj_dtype a, kj_dtype b)
{
    bool complex[2];
    if (a == b)
        return a;
    a = part_type(a, &complex[0]);
    b = part_type(b, &complex[1]);
    if (complex[0] || complex[1]) {
        kj_dtype part = kj_common_type(a, b);
        return part == KJ_VOID ? part : kj_complex_of(part)->type;
    }
    if (a >= KJ_NTYPES || b >= KJ_NTYPES || a == KJ_BOOL || b == KJ_BOOL)
        return KJ_VOID;
    if (kj_is_float(a) != kj_is_float(b)) {
        kj_dtype real = kj_is_float(a) ? a : b, whole = kj_is_float(a) ? b : a;
        return kj_converts(whole, real) ? real : KJ_F32; /* f16 ends before most integers do */
    }
    if (kj_is_half(a) && kj_is_half(b))
        return KJ_F32; /* none of the two holds the other */
    if (kj_types[a].class == kj_types[b].class)
        return kj_types[a].bits > kj_types[b].bits ? a : b;
    kj_dtype with_sign = kj_is_signed(a) ? a : b, without = kj_is_signed(a) ? b : a;
    return kj_types[with_sign].bits > kj_types[without].bits
               ? with_sign
               : signed_of(2 * kj_types[without].bits);
}

bool kj_converts(kj_dtype from, kj_dtype to)
{
    bool complex[2];
    if (from == to)
        return true;
    kj_dtype parts[2] = {part_type(from, &complex[0]), part_type(to, &complex[1])};
    if (complex[1])
        return kj_converts(parts[0], parts[1]);
    if (from >= KJ_NTYPES || to >= KJ_NTYPES || from == KJ_BOOL || to == KJ_BOOL)
        return false;
    if (to == KJ_F16 && kj_is_int(from))
        return kj_magnitude_bits(from) <= 15;
    if (kj_is_float(to))
        return !kj_is_float(from) || kj_types[to].bits > kj_types[from].bits;
    if (kj_is_float(from))
        return false;
    return kj_types[to].bits > kj_types[from].bits && (kj_is_signed(to) || !kj_is_signed(from));
}

kj_dtype kj_default_type(kj_value v)
{
    if (kj_is_float(v.type))
        return KJ_F32;
    return kj_value_fits(v, KJ_I32) ? KJ_I32 : v.type;
}
