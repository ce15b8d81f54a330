/* Builtins on constants: those whose result is exact, so that every device agrees with the
 * compiler. */
#include <math.h>
#include <string.h>

#include "lang/half.h"
#include "lang/signature.h"
#include "lang/types.h"

static kj_value int_result(kj_dtype type, uint64_t u)
{
    return kj_fold_convert((kj_value){.type = KJ_U64, .u = u}, type);
}

static bool less(kj_value a, kj_value b)
{
    return kj_fold_binary(KJ_OP_LT, a, b).u != 0;
}

/* The smaller or larger: -0.0 is less than 0.0, and of a number and NaN it is the number. */
static kj_value fold_extreme(kj_value a, kj_value b, bool max)
{
    if (kj_is_float(a.type) && (isnan(a.f) || isnan(b.f)))
        return isnan(a.f) ? b : a;
    if (kj_is_float(a.type) && a.f == 0 && b.f == 0)
        return (signbit(a.f) != 0) != max ? a : b;
    return (max ? less(a, b) : less(b, a)) ? b : a;
}

static kj_value fold_ceil_div(kj_value a, kj_value b)
{
    kj_value q = kj_fold_binary(KJ_OP_FLOORDIV, a, b);
    if (kj_fold_binary(KJ_OP_MOD, a, b).u == 0)
        return q;
    return kj_fold_binary(KJ_OP_ADD, q, int_result(q.type, 1));
}

/* ---- Bits ---- */

__extension__ typedef __int128 product;
__extension__ typedef unsigned __int128 unsigned_product;

/* In type a.type. */
static kj_value fold_mulhi(kj_value a, kj_value b)
{
    int bits = kj_types[a.type].bits;
    if (kj_is_signed(a.type))
        return int_result(a.type, (uint64_t)((product)a.i * b.i >> bits));
    return int_result(a.type, (uint64_t)((unsigned_product)a.u * b.u >> bits));
}

static bool fold_bits(kj_builtin id, kj_value v, kj_value *out)
{
    unsigned width = kj_types[v.type].bits;
    uint64_t bits = width < 64 ? v.u & (((uint64_t)1 << width) - 1) : v.u, reversed = 0;
    unsigned count = 0, highest = 0, lowest = 0;
    for (unsigned i = 0; i < width; i++) {
        bool set = bits >> i & 1;
        count += set;
        highest = set ? i + 1 : highest;
        lowest = set && !lowest ? i + 1 : lowest;
        reversed |= (uint64_t)set << (width - 1 - i);
    }
    switch (id) {
    case KJ_BI_POPC: *out = int_result(v.type, count); return true;
    case KJ_BI_CLZ: *out = int_result(v.type, width - highest); return true;
    case KJ_BI_FFS: *out = int_result(v.type, lowest); return true;
    case KJ_BI_BREV: *out = int_result(v.type, reversed); return true;
    default: return false;
    }
}

/* ---- Floats ---- */

/* What the type decides, or what gives several values: the parts of a float, and a float of parts. */
static bool fold_parts(kj_builtin id, int part, const kj_value *v, kj_value *out)
{
    double x = v[0].f, y, whole;
    kj_dtype type = v[0].type;
    int e = 0;
    switch (id) {
    case KJ_BI_MODF:
        y = modf(x, &whole);
        y = part ? whole : y;
        break;
    case KJ_BI_FREXP:
        y = isfinite(x) ? frexp(x, &e) : x;
        if (part) {
            *out = kj_int(KJ_I32, e);
            return true;
        }
        break;
    case KJ_BI_LDEXP: y = kj_fold_convert(kj_float(KJ_F64, ldexp(x, (int)v[1].i)), type).f; break;
    case KJ_BI_NEXTAFTER:
        y = kj_is_half(type) ? kj_half_next(type, x, v[1].f)
            : type == KJ_F32 ? (double)nextafterf((float)x, (float)v[1].f)
                             : nextafter(x, v[1].f);
        break;
    case KJ_BI_FMA:
        y = kj_is_half(type) ? kj_half_fma(type, x, v[1].f, v[2].f)
            : type == KJ_F32 ? (double)fmaf((float)x, (float)v[1].f, (float)v[2].f)
                             : fma(x, v[1].f, v[2].f);
        break;
    default: return false;
    }
    *out = kj_float(type, y);
    return true;
}

/* Of what is exact: f64 holds the result, or rounds it so that rounding again to the type is harmless
 * (square roots). */
static bool fold_float(kj_builtin id, const kj_value *v, int n, kj_value *out)
{
    double x[3], y;
    for (int i = 0; i < n; i++)
        x[i] = v[i].f;
    if (kj_builtins[id].ulp64 > 0 || !kj_host_math(id, x, &y))
        return false;
    *out = kj_fold_convert(kj_float(KJ_F64, y), v[0].type);
    return true;
}

bool kj_fold_builtin(kj_builtin id, int part, const kj_value *v, int n, kj_value *out)
{
    switch (id) {
    case KJ_BI_MIN:
    case KJ_BI_MAX: *out = fold_extreme(v[0], v[1], id == KJ_BI_MAX); return true;
    case KJ_BI_CLAMP: *out = fold_extreme(fold_extreme(v[0], v[1], true), v[2], false); return true;
    case KJ_BI_ABS:
        if (kj_is_float(v[0].type))
            *out = kj_float(v[0].type, fabs(v[0].f));
        else
            *out = kj_is_signed(v[0].type) && v[0].i < 0 ? kj_fold_unary(KJ_OP_NEG, v[0]) : v[0];
        return true;
    case KJ_BI_CEIL_DIV: *out = fold_ceil_div(v[0], v[1]); return true;
    case KJ_BI_MULHI: *out = fold_mulhi(v[0], v[1]); return true;
    case KJ_BI_SELP: *out = v[0].u ? v[1] : v[2]; return true;
    case KJ_BI_ISNAN:
    case KJ_BI_ISINF:
    case KJ_BI_ISFINITE:
        *out = kj_int(KJ_BOOL, id == KJ_BI_ISNAN   ? isnan(v[0].f) != 0
                               : id == KJ_BI_ISINF ? isinf(v[0].f) != 0
                                                   : isfinite(v[0].f) != 0);
        return true;
    default: break;
    }
    if (kj_is_float(v[0].type))
        return fold_parts(id, part, v, out) || fold_float(id, v, n, out);
    return kj_is_int(v[0].type) && fold_bits(id, v[0], out);
}

/* ---- Literals ---- */

kj_value kj_fold_literals(kj_op op, kj_value a, kj_value b)
{
    kj_value x = kj_fold_convert(a, KJ_F64), y = kj_fold_convert(b, KJ_F64), power;
    if (op == KJ_OP_POW && kj_fold_builtin_literals(KJ_BI_POW, (kj_value[]){x, y}, 2, &power))
        return power;
    return kj_fold_binary(op, x, y);
}

/* All arguments are numbers of one type, whose bits it doesn't ask for; there is one result. */
static bool takes_literals(kj_builtin id, int n)
{
    const char *letters = kj_builtin_letters(id);
    if (kj_builtin_is_of_bits(id) || id == KJ_BI_NEXTAFTER || kj_builtin_results(id) > 1)
        return false;
    return strchr("fin", *letters) && strspn(letters, (char[]){*letters, 0}) >= (size_t)n;
}

bool kj_fold_builtin_literals(kj_builtin id, const kj_value *args, int n, kj_value *out)
{
    kj_value v[3];
    double x[3], y;
    char letter = *kj_builtin_letters(id);
    bool real = letter == 'f', wide = false;
    for (int i = 0; i < n; i++) {
        real |= kj_is_float(args[i].type);
        wide |= args[i].type == KJ_U64;
    }
    if (!takes_literals(id, n) || (real ? letter == 'i' : wide))
        return false;
    for (int i = 0; i < n; i++) {
        v[i] = kj_fold_convert(args[i], real ? KJ_F64 : KJ_I64);
        x[i] = v[i].f;
    }
    if (kj_fold_builtin(id, 0, v, n, out))
        return out->type != KJ_BOOL;
    if (!real || !kj_literal_math(id, x, &y))
        return false;
    *out = kj_float(KJ_F64, y);
    return true;
}
