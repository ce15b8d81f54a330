/* The language's arithmetic on constants (constant folding): two values in, the value every device
 * would compute out.
 *
 * Everything is total. Integers are computed in uint64_t and wrapped to their width; floats are
 * rounded after each operation, f16 and bf16 from a double, which has enough digits for that. `**`
 * exists here for constant expressions; kernels get products or a call of pow. */
#include <float.h>
#include <math.h>

#include "lang/half.h"

static kj_value boolean(bool b)
{
    return (kj_value){.type = KJ_BOOL, .u = b ? 1 : 0};
}

/* The low bits of `u` as a value of an integer type, sign- or zero-extended. */
static kj_value wrap(kj_dtype t, uint64_t u)
{
    unsigned bits = kj_types[t].bits;
    if (bits < 64) {
        uint64_t mask = ((uint64_t)1 << bits) - 1;
        u &= mask;
        if (kj_is_signed(t) && (u >> (bits - 1)) != 0)
            u |= ~mask;
    }
    return (kj_value){.type = t, .u = u};
}

static kj_value real(kj_dtype t, double f)
{
    return kj_float(t, kj_is_half(t) ? kj_half_round(t, f) : t == KJ_F32 ? (double)(float)f : f);
}

static int64_t floor_div(int64_t a, int64_t b)
{
    if (b == -1)
        return (int64_t)(0 - (uint64_t)a);
    int64_t q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

static int64_t floor_mod(int64_t a, int64_t b)
{
    if (b == -1)
        return 0;
    int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static kj_value fold_divide(kj_op op, kj_value a, kj_value b)
{
    if (b.u == 0)
        return wrap(a.type, 0);
    if (kj_is_signed(a.type))
        return wrap(a.type,
                    (uint64_t)(op == KJ_OP_MOD ? floor_mod(a.i, b.i) : floor_div(a.i, b.i)));
    return wrap(a.type, op == KJ_OP_MOD ? a.u % b.u : a.u / b.u);
}

/* An integer to an integer power; a negative exponent gives 0 but for bases 1 and -1, as 1 //
 * base**n would. */
static kj_value fold_power(kj_value a, kj_value b)
{
    if (kj_is_signed(b.type) && b.i < 0) {
        bool minus = kj_is_signed(a.type) && a.i == -1;
        if (a.u == 1 || (minus && b.u % 2 == 0))
            return wrap(a.type, 1);
        return wrap(a.type, minus ? UINT64_MAX : 0);
    }
    uint64_t product = 1, base = a.u;
    for (uint64_t n = b.u; n != 0; n >>= 1, base *= base)
        if (n & 1)
            product *= base;
    return wrap(a.type, product);
}

static kj_value fold_shift(kj_op op, kj_value a, kj_value count)
{
    uint64_t bits = kj_types[a.type].bits;
    bool minus = kj_is_signed(a.type) && a.i < 0;
    if (count.u >= bits) /* one below 0, too */
        return wrap(a.type, op == KJ_OP_SHR && minus ? UINT64_MAX : 0);
    if (op == KJ_OP_SHL)
        return wrap(a.type, a.u << count.u);
    return wrap(a.type, minus ? ~(~a.u >> count.u) : a.u >> count.u);
}

static bool compare(kj_op op, int less, int greater, int equal)
{
    switch (op) {
    case KJ_OP_EQ: return equal;
    case KJ_OP_NE: return !equal;
    case KJ_OP_LT: return less;
    case KJ_OP_LE: return less || equal;
    case KJ_OP_GT: return greater;
    default: return greater || equal;
    }
}

/* a // b and a % b as Python and NumPy have them: of the exact remainder, in the type that they are
 * computed in. */
#define FOLD_DIVIDE(type, fmod, floor, copysign) \
    static type divide_##type(kj_op op, type a, type b) \
    { \
        type r = fmod(a, b), q = (a - r) / b, whole; \
        bool moved = r != 0 && (r < 0) != (b < 0); \
        if (b == 0) \
            return op == KJ_OP_MOD ? r : a / b; \
        if (op == KJ_OP_MOD) \
            return copysign(moved ? r + b : r, b); \
        q -= moved ? 1 : 0; \
        if (q == 0) \
            return copysign((type)0, a / b); \
        whole = floor(q); \
        return q - whole > (type)0.5 ? whole + 1 : whole; \
    }
FOLD_DIVIDE(float, fmodf, floorf, copysignf)
FOLD_DIVIDE(double, fmod, floor, copysign)
#undef FOLD_DIVIDE

static kj_value fold_f32(kj_op op, float a, float b)
{
    switch (op) {
    case KJ_OP_ADD: return kj_float(KJ_F32, (double)(float)(a + b));
    case KJ_OP_SUB: return kj_float(KJ_F32, (double)(float)(a - b));
    case KJ_OP_MUL: return kj_float(KJ_F32, (double)(float)(a * b));
    case KJ_OP_DIV: return kj_float(KJ_F32, (double)(float)(a / b));
    case KJ_OP_POW: return kj_float(KJ_F32, (double)powf(a, b));
    default: return kj_float(KJ_F32, (double)divide_float(op, a, b));
    }
}

static kj_value fold_f64(kj_op op, double a, double b)
{
    switch (op) {
    case KJ_OP_ADD: return kj_float(KJ_F64, a + b);
    case KJ_OP_SUB: return kj_float(KJ_F64, a - b);
    case KJ_OP_MUL: return kj_float(KJ_F64, a * b);
    case KJ_OP_DIV: return kj_float(KJ_F64, a / b);
    case KJ_OP_POW: return kj_float(KJ_F64, pow(a, b));
    default: return kj_float(KJ_F64, divide_double(op, a, b));
    }
}

static kj_value fold_half(kj_op op, kj_dtype type, double a, double b)
{
    bool single = op == KJ_OP_FLOORDIV || op == KJ_OP_MOD || op == KJ_OP_POW;
    return real(type, single ? fold_f32(op, (float)a, (float)b).f : fold_f64(op, a, b).f);
}

static kj_value fold_int(kj_op op, kj_value a, kj_value b)
{
    switch (op) {
    case KJ_OP_ADD: return wrap(a.type, a.u + b.u);
    case KJ_OP_SUB: return wrap(a.type, a.u - b.u);
    case KJ_OP_MUL: return wrap(a.type, a.u * b.u);
    case KJ_OP_POW: return fold_power(a, b);
    case KJ_OP_SHL:
    case KJ_OP_SHR: return fold_shift(op, a, b);
    case KJ_OP_AND: return wrap(a.type, a.u & b.u);
    case KJ_OP_OR: return wrap(a.type, a.u | b.u);
    case KJ_OP_XOR: return wrap(a.type, a.u ^ b.u);
    default: /* FLOORDIV, MOD; DIV of integers never reaches here */ return fold_divide(op, a, b);
    }
}

kj_value kj_fold_binary(kj_op op, kj_value a, kj_value b)
{
    if (kj_ops[op].class == KJ_OPS_COMPARE) {
        if (kj_is_float(a.type))
            return boolean(compare(op, a.f<b.f, a.f> b.f, a.f == b.f));
        if (kj_is_signed(a.type))
            return boolean(compare(op, a.i<b.i, a.i> b.i, a.i == b.i));
        return boolean(compare(op, a.u<b.u, a.u> b.u, a.u == b.u));
    }
    if (a.type == KJ_F32)
        return fold_f32(op, (float)a.f, (float)b.f);
    if (a.type == KJ_F64)
        return fold_f64(op, a.f, b.f);
    if (kj_is_half(a.type))
        return fold_half(op, a.type, a.f, b.f);
    if (a.type == KJ_BOOL)
        return boolean((op == KJ_OP_AND ? a.u & b.u : op == KJ_OP_OR ? a.u | b.u : a.u ^ b.u) != 0);
    return fold_int(op, a, b);
}

kj_value kj_fold_unary(kj_op op, kj_value a)
{
    if (op == KJ_OP_PLUS)
        return a;
    if (a.type == KJ_BOOL)
        return boolean(a.u == 0);
    if (kj_is_float(a.type))
        return kj_float(a.type, -a.f);
    return wrap(a.type, op == KJ_OP_NEG ? 0 - a.u : ~a.u);
}

static uint64_t type_max(kj_dtype t)
{
    return UINT64_MAX >> (64 - kj_magnitude_bits(t));
}

static kj_value float_to_int(double f, kj_dtype to)
{
    if (isnan(f))
        return wrap(to, 0);
    double limit = ldexp(1.0, (int)kj_magnitude_bits(to)); /* one past the greatest */
    if (f >= limit)
        return wrap(to, type_max(to));
    if (!kj_is_signed(to))
        return wrap(to, f <= 0 ? 0 : (uint64_t)f);
    if (f <= -limit)
        return wrap(to, ~type_max(to));
    return wrap(to, (uint64_t)(int64_t)f);
}

kj_value kj_fold_convert(kj_value v, kj_dtype to)
{
    bool from_float = kj_is_float(v.type);
    if (to == KJ_BOOL)
        return boolean(from_float ? v.f != 0 : v.u != 0);
    if (kj_is_float(to)) {
        if (from_float)
            return real(to, v.f);
        if (kj_is_half(to))
            return kj_float(to, kj_half_of_int(to, kj_is_signed(v.type), v.u));
        if (to == KJ_F32) /* from the integer itself: rounded once */
            return kj_float(to, kj_is_signed(v.type) ? (double)(float)v.i : (double)(float)v.u);
        return kj_float(to, kj_is_signed(v.type) ? (double)v.i : (double)v.u);
    }
    return from_float ? float_to_int(v.f, to) : wrap(to, v.u);
}

bool kj_value_fits(kj_value v, kj_dtype to)
{
    if (to >= KJ_NTYPES)
        return false;
    if (kj_is_float(to)) {
        if (kj_is_float(v.type) && !isfinite(v.f))
            return true;
        return isfinite(kj_fold_convert(v, to).f);
    }
    if (kj_is_float(v.type)) {
        if (to == KJ_BOOL)
            return v.f == 0 || v.f == 1;
        kj_value i = kj_fold_convert(v, to);
        double limit = ldexp(1.0, kj_types[to].bits - (kj_is_signed(to) ? 1 : 0));
        return (kj_is_signed(to) ? (double)i.i : (double)i.u) == v.f && v.f < limit;
    }
    if (to == KJ_BOOL)
        return v.u <= 1;
    if (kj_is_signed(v.type) && v.i < 0)
        return kj_is_signed(to) && v.i >= (int64_t)~type_max(to);
    return v.u <= type_max(to);
}

bool kj_default_as(kj_value v, kj_dtype to, kj_value *out)
{
    if (!kj_is_scalar(to) || (v.type == KJ_BOOL) != (to == KJ_BOOL) ||
        (kj_is_float(v.type) && !kj_is_float(to)) || !kj_value_fits(v, to))
        return false;
    *out = kj_fold_convert(v, to);
    return true;
}
