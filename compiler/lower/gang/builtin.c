/* Builtin functions on tiles: LLVM's intrinsics, the math library's functions, and a few of our
 * own. */
#include "base/guard.h"
#include "lang/signature.h"
#include "lower/gang/gang.h"
#include "target/mathlib.h"

#include <math.h>

/* ---- Code of our own, a function a row ---- */

/* part: which of the results. */
typedef kj_tile code_fn(kj_lower *lo, kj_builtin id, int part, const kj_tile *args);

static kj_tile code_extreme(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    (void)part;
    return kj_lower_min(lo, args[0], args[1], id == KJ_BI_MAX);
}

static kj_tile code_clamp(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    (void)id, (void)part;
    return kj_lower_min(lo, kj_lower_min(lo, args[0], args[1], true), args[2], false);
}

static kj_tile code_abs(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    kj_tile a = args[0];
    (void)id, (void)part;
    if (kj_is_float(a.type))
        return kj_tile_intrinsic(lo, "llvm.fabs", &a, 1);
    if (!kj_is_signed(a.type))
        return a;
    a = kj_tile_dense(lo, a);
    kj_tile negative = kj_tile_binary(lo, KJ_OP_LT, a, kj_tile_const(lo, kj_int(a.type, 0)));
    return kj_tile_select(lo, negative, kj_tile_unary(lo, KJ_OP_NEG, a), a);
}

static kj_tile code_ceil_div(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    kj_tile a = args[0], b = args[1], rest = kj_tile_binary(lo, KJ_OP_MOD, a, b);
    kj_tile up = kj_tile_binary(lo, KJ_OP_NE, rest, kj_tile_const(lo, kj_int(a.type, 0)));
    (void)id, (void)part;
    return kj_tile_binary(lo, KJ_OP_ADD, kj_tile_binary(lo, KJ_OP_FLOORDIV, a, b),
                          kj_tile_convert(lo, up, a.type));
}

static kj_tile code_selp(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    (void)id, (void)part;
    return kj_tile_select(lo, args[0], args[1], args[2]);
}

static kj_tile code_bits(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    (void)part;
    return (id == KJ_BI_CLZ ? kj_lower_clz : kj_lower_ffs)(lo, args[0]);
}

static kj_tile code_parts(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    return (id == KJ_BI_MODF ? kj_lower_modf : kj_lower_frexp)(lo, part, args[0]);
}

static kj_tile code_of_two(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    (void)part;
    return (id == KJ_BI_LDEXP      ? kj_lower_ldexp
            : id == KJ_BI_COPYSIGN ? kj_float_copysign
                                   : kj_lower_nextafter)(lo, args[0], args[1]);
}

static kj_tile code_kind(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    (void)part;
    if (kj_is_int(args[0].type))
        return kj_tile_const(lo, kj_int(KJ_BOOL, id == KJ_BI_ISFINITE));
    if (id == KJ_BI_ISNAN)
        return kj_tile_binary(lo, KJ_OP_NE, args[0], args[0]);
    kj_tile size = kj_tile_intrinsic(lo, "llvm.fabs", &args[0], 1);
    kj_tile inf = kj_tile_const(lo, kj_float(size.type, INFINITY));
    return kj_tile_binary(lo, id == KJ_BI_ISINF ? KJ_OP_EQ : KJ_OP_LT, size, inf);
}

static kj_tile code_integers(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    (void)part;
    switch (id) {
    case KJ_BI_MULHI: return kj_lower_mulhi(lo, args[0], args[1]);
    case KJ_BI_ADD_SAT: return kj_lower_saturated(lo, args[0], args[1], false);
    case KJ_BI_SUB_SAT: return kj_lower_saturated(lo, args[0], args[1], true);
    case KJ_BI_HADD: return kj_lower_half_sum(lo, args[0], args[1], false);
    case KJ_BI_RHADD: return kj_lower_half_sum(lo, args[0], args[1], true);
    case KJ_BI_SAD: return kj_lower_sad(lo, args);
    case KJ_BI_FUNNELSHIFT_L: return kj_lower_funnel(lo, args, true, false);
    case KJ_BI_FUNNELSHIFT_R: return kj_lower_funnel(lo, args, false, false);
    case KJ_BI_FUNNELSHIFT_LC: return kj_lower_funnel(lo, args, true, true);
    case KJ_BI_FUNNELSHIFT_RC: return kj_lower_funnel(lo, args, false, true);
    case KJ_BI_BYTE_PERM: return kj_lower_byte_perm(lo, args);
    case KJ_BI_DP2A_LO: return kj_lower_dot_pieces(lo, args, 2, 0);
    case KJ_BI_DP2A_HI: return kj_lower_dot_pieces(lo, args, 2, 2);
    default: return kj_lower_dot_pieces(lo, args, 4, 0);
    }
}

static kj_tile number(kj_lower *lo, kj_dtype type, double x)
{
    return kj_tile_const(lo, kj_fold_convert(kj_float(KJ_F64, x), type));
}

static kj_tile code_sign(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    kj_tile x = args[0], zero = number(lo, x.type, 0), one = number(lo, x.type, 1);
    (void)id, (void)part;
    kj_tile out = x;
    if (kj_is_float(x.type) || kj_is_signed(x.type))
        out = kj_tile_select(lo, kj_tile_binary(lo, KJ_OP_LT, x, zero), number(lo, x.type, -1), x);
    return kj_tile_select(lo, kj_tile_binary(lo, KJ_OP_GT, x, zero), one, out);
}

static kj_tile code_saturate(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    kj_tile v[3] = {args[0], number(lo, args[0].type, 0), number(lo, args[0].type, 1)};
    return code_clamp(lo, id, part, v);
}

static kj_tile code_lerp(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    kj_tile way = kj_tile_binary(lo, KJ_OP_SUB, args[1], args[0]);
    (void)id, (void)part;
    return kj_tile_intrinsic(lo, "llvm.fma", (kj_tile[]){args[2], way, args[0]}, 3);
}

/* Just below a multiple of 1 the difference is rounded to 1. */
static kj_tile code_fract(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    kj_tile x = args[0], one = number(lo, x.type, 1);
    kj_tile rest = kj_tile_binary(lo, KJ_OP_SUB, x, kj_tile_intrinsic(lo, "llvm.floor", &x, 1));
    (void)id, (void)part;
    kj_tile most = number(lo, x.type, kj_below_one(x.type));
    return kj_tile_select(lo, kj_tile_binary(lo, KJ_OP_EQ, rest, one), most, rest);
}

static kj_tile code_fdim(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    kj_tile none = kj_tile_binary(lo, KJ_OP_LE, args[0], args[1]);
    (void)id, (void)part;
    return kj_tile_select(lo, none, number(lo, args[0].type, 0),
                          kj_tile_binary(lo, KJ_OP_SUB, args[0], args[1]));
}

/* Of frexp's exponent. */
static kj_tile code_logb(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    kj_tile x = args[0], size = kj_tile_intrinsic(lo, "llvm.fabs", &x, 1);
    kj_dtype type = id == KJ_BI_ILOGB ? KJ_I32 : x.type;
    (void)part;
    kj_tile e = kj_tile_binary(lo, KJ_OP_SUB, kj_lower_frexp(lo, 1, x),
                               kj_tile_const(lo, kj_int(KJ_I32, 1)));
    kj_tile none = kj_tile_const(lo, kj_int(KJ_I32, INT32_MIN)), all = size, least = none;
    e = kj_tile_convert(lo, e, type);
    if (id == KJ_BI_ILOGB) {
        kj_tile nan = kj_tile_binary(lo, KJ_OP_NE, x, x);
        all = kj_tile_select(lo, nan, none, kj_tile_const(lo, kj_int(KJ_I32, INT32_MAX)));
    } else {
        least = number(lo, type, -INFINITY);
    }
    e = kj_tile_select(lo, code_kind(lo, KJ_BI_ISFINITE, 0, &x), e, all);
    return kj_tile_select(lo, kj_tile_binary(lo, KJ_OP_EQ, x, number(lo, x.type, 0)), least, e);
}

static kj_tile code_turn(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    (void)part;
    return kj_tile_binary(lo, KJ_OP_MUL, args[0],
                          number(lo, args[0].type, kj_turn_factor(id == KJ_BI_DEGREES)));
}

/* A float that was rounded in a direction, to a narrower type in the same. */
static kj_tile narrowed(kj_lower *lo, kj_tile x, kj_dtype type, char to)
{
    kj_tile narrow = kj_tile_convert(lo, x, type), back = kj_tile_convert(lo, narrow, x.type);
    kj_tile beyond;
    if (to == 'z')
        beyond = kj_tile_binary(lo, KJ_OP_GT, kj_tile_intrinsic(lo, "llvm.fabs", &back, 1),
                                kj_tile_intrinsic(lo, "llvm.fabs", &x, 1));
    else
        beyond = kj_tile_binary(lo, to == 'd' ? KJ_OP_GT : KJ_OP_LT, back, x);
    double end = to == 'z' ? 0 : to == 'd' ? -INFINITY : INFINITY;
    kj_tile next = kj_lower_nextafter(lo, narrow, number(lo, type, end));
    return kj_tile_select(lo, beyond, next, narrow);
}

static kj_tile lower_math(kj_lower *lo, kj_builtin id, const kj_tile *args, int nargs);

/* An integer of 64 bits in f64: the sum of two that are exact. */
static kj_tile wide_integer(kj_lower *lo, kj_tile x, char to)
{
    kj_builtin sum = to == 'd' ? KJ_BI_ADD_RD : to == 'u' ? KJ_BI_ADD_RU : KJ_BI_ADD_RZ;
    kj_tile width = kj_tile_const(lo, kj_int(x.type, 32));
    kj_tile half = kj_tile_binary(lo, KJ_OP_SHR, x, width);
    kj_tile high = kj_tile_binary(lo, KJ_OP_MUL, kj_tile_convert(lo, half, KJ_F64),
                                  number(lo, KJ_F64, 0x1p32));
    kj_tile low = kj_tile_convert(lo, kj_tile_convert(lo, x, KJ_U32), KJ_F64);
    return lower_math(lo, sum, (kj_tile[]){high, low}, 2);
}

/* f32_rd and its kin. */
static kj_tile code_converted(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    kj_tile x = args[0];
    kj_dtype type = kj_builtin_result(id, part, KJ_VOID);
    char to = kj_builtin_rounding(id);
    if (kj_is_int(x.type))
        x = kj_types[x.type].bits < 64 ? kj_tile_convert(lo, x, KJ_F64) : wide_integer(lo, x, to);
    return x.type == KJ_F64 && type == KJ_F32 ? narrowed(lo, x, type, to)
                                              : kj_tile_convert(lo, x, type);
}

/* add_rn and its kin, which no @fastmath reaches. */
static kj_tile code_nearest(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    (void)part;
    switch (id) {
    case KJ_BI_ADD_RN: return kj_tile_binary(lo, KJ_OP_ADD, args[0], args[1]);
    case KJ_BI_SUB_RN: return kj_tile_binary(lo, KJ_OP_SUB, args[0], args[1]);
    case KJ_BI_MUL_RN: return kj_tile_binary(lo, KJ_OP_MUL, args[0], args[1]);
    case KJ_BI_DIV_RN: return kj_tile_binary(lo, KJ_OP_DIV, args[0], args[1]);
    case KJ_BI_SQRT_RN: return kj_tile_intrinsic(lo, "llvm.sqrt", args, 1);
    default: return kj_tile_intrinsic(lo, "llvm.fma", args, 3);
    }
}

static code_fn *const codes[KJ_NBUILTINS] = {
    [KJ_BI_MIN] = code_extreme,
    [KJ_BI_MAX] = code_extreme,
    [KJ_BI_CLAMP] = code_clamp,
    [KJ_BI_ABS] = code_abs,
    [KJ_BI_CEIL_DIV] = code_ceil_div,
    [KJ_BI_SELP] = code_selp,
    [KJ_BI_MULHI] = code_integers,
    [KJ_BI_ADD_SAT] = code_integers,
    [KJ_BI_SUB_SAT] = code_integers,
    [KJ_BI_HADD] = code_integers,
    [KJ_BI_RHADD] = code_integers,
    [KJ_BI_SAD] = code_integers,
    [KJ_BI_FUNNELSHIFT_L] = code_integers,
    [KJ_BI_FUNNELSHIFT_R] = code_integers,
    [KJ_BI_FUNNELSHIFT_LC] = code_integers,
    [KJ_BI_FUNNELSHIFT_RC] = code_integers,
    [KJ_BI_BYTE_PERM] = code_integers,
    [KJ_BI_DP4A] = code_integers,
    [KJ_BI_DP2A_LO] = code_integers,
    [KJ_BI_DP2A_HI] = code_integers,
    [KJ_BI_SIGN] = code_sign,
    [KJ_BI_SATURATE] = code_saturate,
    [KJ_BI_LERP] = code_lerp,
    [KJ_BI_FRACT] = code_fract,
    [KJ_BI_FDIM] = code_fdim,
    [KJ_BI_LOGB] = code_logb,
    [KJ_BI_ILOGB] = code_logb,
    [KJ_BI_DEGREES] = code_turn,
    [KJ_BI_RADIANS] = code_turn,
    [KJ_BI_ADD_RN] = code_nearest,
    [KJ_BI_SUB_RN] = code_nearest,
    [KJ_BI_MUL_RN] = code_nearest,
    [KJ_BI_DIV_RN] = code_nearest,
    [KJ_BI_SQRT_RN] = code_nearest,
    [KJ_BI_FMA_RN] = code_nearest,
    [KJ_BI_F32_RD] = code_converted,
    [KJ_BI_F32_RU] = code_converted,
    [KJ_BI_F32_RZ] = code_converted,
    [KJ_BI_F64_RD] = code_converted,
    [KJ_BI_F64_RU] = code_converted,
    [KJ_BI_F64_RZ] = code_converted,
    [KJ_BI_CLZ] = code_bits,
    [KJ_BI_FFS] = code_bits,
    [KJ_BI_MODF] = code_parts,
    [KJ_BI_FREXP] = code_parts,
    [KJ_BI_LDEXP] = code_of_two,
    [KJ_BI_NEXTAFTER] = code_of_two,
    [KJ_BI_COPYSIGN] = code_of_two,
    [KJ_BI_ISNAN] = code_kind,
    [KJ_BI_ISINF] = code_kind,
    [KJ_BI_ISFINITE] = code_kind,
};

static kj_tile lower_code(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    kj_tile out;
    KJ_REQUIRE(codes[id] != NULL);
    if (lo->target->instruction && lo->target->instruction(lo, id, args, &out))
        return out;
    return codes[id](lo, id, part, args);
}

/* ---- The math library ---- */

static kj_tile lower_math(kj_lower *lo, kj_builtin id, const kj_tile *args, int nargs)
{
    kj_tile out;
    if (lo->target->instruction && lo->target->instruction(lo, id, args, &out))
        return out;
    bool fast = lo->kernel->fastmath && lo->target->approximate;
    if (fast && lo->target->approximate(lo, id, args, &out))
        return out;
    return kj_lower_math(lo, id, args, nargs);
}

/* Functions that f16 and bf16 share with f32: of the library, and what takes numbers apart. */
static bool in_f32(kj_builtin id)
{
    return kj_builtins[id].how == KJ_HOW_MATH || id == KJ_BI_MODF || id == KJ_BI_FREXP ||
           id == KJ_BI_LDEXP || id == KJ_BI_LOGB || id == KJ_BI_ILOGB || id == KJ_BI_DEGREES ||
           id == KJ_BI_RADIANS;
}

static kj_tile call_in_f32(kj_lower *lo, const kj_texpr *e, kj_tile *args)
{
    kj_builtin id = e->u.call.id;
    for (int i = 0; i < e->u.call.nargs; i++)
        args[i] = kj_half_widen(lo, args[i]);
    kj_tile out = kj_builtins[id].how == KJ_HOW_MATH ? lower_math(lo, id, args, e->u.call.nargs)
                                                     : lower_code(lo, id, e->u.call.part, args);
    char to = kj_builtin_rounding(id);
    return to ? narrowed(lo, out, e->type, to) : kj_tile_convert(lo, out, e->type);
}

kj_tile kj_lower_call(kj_lower *lo, const kj_texpr *e, kj_tile *args, kj_mask m)
{
    kj_builtin id = e->u.call.id;
    const kj_builtin_info *info = &kj_builtins[id];
    if (in_f32(id) && kj_is_half(args[0].type))
        return call_in_f32(lo, e, args);
    switch (info->how) {
    case KJ_HOW_MATH: return lower_math(lo, id, args, e->u.call.nargs);
    case KJ_HOW_LLVM:
        return kj_relaxed(lo, kj_tile_intrinsic(lo, info->symbol, args, e->u.call.nargs));
    case KJ_HOW_CODE: return lower_code(lo, id, e->u.call.part, args);
    case KJ_HOW_RANDOM: return kj_lower_random(lo, e, args);
    case KJ_HOW_WARP: kj_watch_warp(lo, id, args, m); return lo->target->warp(lo, e, args, m);
    case KJ_HOW_FENCE:
        kj_watch_fence(lo, id, m);
        lo->target->fence(lo, id, args);
        break;
    case KJ_HOW_ATOMIC:
    case KJ_HOW_SEMA: KJ_REQUIRE(info->how != KJ_HOW_ATOMIC && info->how != KJ_HOW_SEMA);
    }
    return kj_tile_int(lo, 0);
}
