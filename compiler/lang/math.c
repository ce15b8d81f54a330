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

double kj_below_one(kj_dtype type)
{
    return type == KJ_F16    ? 1 - 0x1p-11
           : type == KJ_BF16 ? 1 - 0x1p-8
           : type == KJ_F32  ? 1 - 0x1p-24
                             : 1 - 0x1p-53;
}

double kj_turn_factor(bool degrees)
{
    return degrees ? 0x1.ca5dc1a63c1f8p+5 : 0x1.1df46a2529d39p-6;
}

/* With f32's digits for f16 and bf16, which are then rounded. */
static kj_value fold_turn(kj_builtin id, kj_value x)
{
    kj_dtype type = kj_is_half(x.type) ? KJ_F32 : x.type;
    kj_value by = kj_float(KJ_F64, kj_turn_factor(id == KJ_BI_DEGREES));
    kj_value turned =
        kj_fold_binary(KJ_OP_MUL, kj_fold_convert(x, type), kj_fold_convert(by, type));
    return kj_fold_convert(turned, x.type);
}

static kj_value fold_logb(kj_builtin id, kj_value x)
{
    double e = x.f == 0 ? -INFINITY : isfinite(x.f) ? logb(x.f) : fabs(x.f);
    if (id == KJ_BI_LOGB)
        return kj_fold_convert(kj_float(KJ_F64, e), x.type);
    bool none = isnan(e) || e == -INFINITY;
    return kj_int(KJ_I32, none ? INT32_MIN : isinf(e) ? INT32_MAX : (int32_t)e);
}

/* What is made of a few operations, each rounded in the type. */
static bool fold_composed(kj_builtin id, const kj_value *v, kj_value *out)
{
    kj_dtype type = v[0].type;
    kj_value zero = kj_fold_convert(kj_int(KJ_I64, 0), type),
             one = kj_fold_convert(kj_int(KJ_I64, 1), type);
    switch (id) {
    case KJ_BI_SIGN:
        *out = less(zero, v[0])   ? one
               : less(v[0], zero) ? kj_fold_convert(kj_int(KJ_I64, -1), type)
                                  : v[0];
        return true;
    case KJ_BI_SATURATE:
        *out = fold_extreme(fold_extreme(v[0], zero, true), one, false);
        return true;
    case KJ_BI_LERP:
        return fold_parts(KJ_BI_FMA, 0,
                          (kj_value[]){v[2], kj_fold_binary(KJ_OP_SUB, v[1], v[0]), v[0]}, out);
    case KJ_BI_FRACT:
        *out = kj_fold_binary(KJ_OP_SUB, v[0], kj_float(type, floor(v[0].f)));
        if (out->f == 1)
            *out = kj_float(type, kj_below_one(type));
        return true;
    case KJ_BI_FDIM:
        *out = v[0].f <= v[1].f ? zero : kj_fold_binary(KJ_OP_SUB, v[0], v[1]);
        return true;
    case KJ_BI_LOGB:
    case KJ_BI_ILOGB: *out = fold_logb(id, v[0]); return true;
    case KJ_BI_DEGREES:
    case KJ_BI_RADIANS: *out = fold_turn(id, v[0]); return true;
    default: return false;
    }
}

/* Of what is exact: f64 holds the result, or rounds it so that rounding again to the type is harmless
 * (square roots). */
static bool fold_float(kj_builtin id, const kj_value *v, int n, kj_value *out)
{
    double x[KJ_BUILTIN_ARGS], y;
    for (int i = 0; i < n; i++)
        x[i] = v[i].f;
    if (kj_builtins[id].ulp64 > 0 || !kj_host_exact(id, x, &y))
        return false;
    *out = kj_fold_convert(kj_float(KJ_F64, y), v[0].type);
    return true;
}

bool kj_fold_builtin(kj_builtin id, int part, const kj_value *v, int n, kj_value *out)
{
    if (kj_builtin_rounding(id)) {
        *out = kj_fold_directed(id, v, n);
        return true;
    }
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
    case KJ_BI_SELP: *out = v[0].u ? v[1] : v[2]; return true;
    case KJ_BI_ISNAN:
    case KJ_BI_ISINF:
    case KJ_BI_ISFINITE:
        if (kj_is_int(v[0].type)) {
            *out = kj_int(KJ_BOOL, id == KJ_BI_ISFINITE);
            return true;
        }
        *out = kj_int(KJ_BOOL, id == KJ_BI_ISNAN   ? isnan(v[0].f) != 0
                               : id == KJ_BI_ISINF ? isinf(v[0].f) != 0
                                                   : isfinite(v[0].f) != 0);
        return true;
    default: break;
    }
    if (fold_composed(id, v, out))
        return true;
    if (kj_is_float(v[0].type))
        return fold_parts(id, part, v, out) || fold_float(id, v, n, out);
    return kj_is_int(v[0].type) && kj_fold_integers(id, v, out);
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
    if (kj_builtin_is_of_bits(id) || kj_builtin_rounding(id) || id == KJ_BI_NEXTAFTER ||
        kj_builtin_results(id) > 1)
        return false;
    return strchr("fin", *letters) && strspn(letters, (char[]){*letters, 0}) >= (size_t)n;
}

bool kj_fold_builtin_literals(kj_builtin id, const kj_value *args, int n, kj_value *out)
{
    kj_value v[KJ_BUILTIN_ARGS];
    double x[KJ_BUILTIN_ARGS], y;
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
        return out->type == v[0].type;
    if (!real || !kj_literal_math(id, x, &y))
        return false;
    *out = kj_float(KJ_F64, y);
    return true;
}
