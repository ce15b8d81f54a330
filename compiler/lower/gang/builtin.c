/* Builtin functions on tiles: LLVM's intrinsics, the math library's functions, and a few of our
 * own. */
#include "base/guard.h"
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
    if (id == KJ_BI_ISNAN)
        return kj_tile_binary(lo, KJ_OP_NE, args[0], args[0]);
    kj_tile size = kj_tile_intrinsic(lo, "llvm.fabs", &args[0], 1);
    kj_tile inf = kj_tile_const(lo, kj_float(size.type, INFINITY));
    return kj_tile_binary(lo, id == KJ_BI_ISINF ? KJ_OP_EQ : KJ_OP_LT, size, inf);
}

static kj_tile code_mulhi(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    (void)id, (void)part;
    return kj_lower_mulhi(lo, args[0], args[1]);
}

static code_fn *const codes[KJ_NBUILTINS] = {
    [KJ_BI_MIN] = code_extreme,      [KJ_BI_MAX] = code_extreme,       [KJ_BI_CLAMP] = code_clamp,
    [KJ_BI_ABS] = code_abs,          [KJ_BI_CEIL_DIV] = code_ceil_div, [KJ_BI_SELP] = code_selp,
    [KJ_BI_MULHI] = code_mulhi,      [KJ_BI_CLZ] = code_bits,          [KJ_BI_FFS] = code_bits,
    [KJ_BI_MODF] = code_parts,       [KJ_BI_FREXP] = code_parts,       [KJ_BI_LDEXP] = code_of_two,
    [KJ_BI_NEXTAFTER] = code_of_two, [KJ_BI_COPYSIGN] = code_of_two,   [KJ_BI_ISNAN] = code_kind,
    [KJ_BI_ISINF] = code_kind,       [KJ_BI_ISFINITE] = code_kind,
};

static kj_tile lower_code(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    KJ_REQUIRE(codes[id] != NULL);
    return codes[id](lo, id, part, args);
}

/* ---- The math library ---- */

static kj_tile lower_math(kj_lower *lo, kj_builtin id, const kj_tile *args, int nargs)
{
    kj_tile out;
    bool fast = lo->kernel->fastmath && lo->target->approximate;
    if (fast && lo->target->approximate(lo, id, args, &out))
        return out;
    return kj_lower_math(lo, id, args, nargs);
}

/* Functions that f16 and bf16 share with f32: of the library, and what takes numbers apart. */
static bool in_f32(kj_builtin id)
{
    return kj_builtins[id].how == KJ_HOW_MATH || id == KJ_BI_MODF || id == KJ_BI_FREXP ||
           id == KJ_BI_LDEXP;
}

static kj_tile call_in_f32(kj_lower *lo, const kj_texpr *e, kj_tile *args)
{
    kj_builtin id = e->u.call.id;
    for (int i = 0; i < e->u.call.nargs; i++)
        args[i] = kj_half_widen(lo, args[i]);
    kj_tile out = kj_builtins[id].how == KJ_HOW_MATH ? lower_math(lo, id, args, e->u.call.nargs)
                                                     : lower_code(lo, id, e->u.call.part, args);
    return kj_tile_convert(lo, out, e->type);
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
    case KJ_HOW_WARP: return lo->target->warp(lo, e, args, m);
    case KJ_HOW_FENCE: lo->target->fence(lo, id, args); break;
    case KJ_HOW_ATOMIC:
    case KJ_HOW_SEMA: KJ_REQUIRE(info->how != KJ_HOW_ATOMIC && info->how != KJ_HOW_SEMA);
    }
    return kj_tile_int(lo, 0);
}
