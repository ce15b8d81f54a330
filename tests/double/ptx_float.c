/* Floating arithmetic, as IEEE has it. A NaN that f32 arithmetic gives is the chips' canonical one;
 * f64 keeps payloads. The plain forms (to nearest, subnormals kept) are vector loops; .ftz, .sat
 * and directed roundings go lane by lane. */
#include <fenv.h>
#include <math.h>

#include "ptx_lanes.h"
#include "ptx_math.h"

#define CANONICAL 0x7fffffffu

static inline void canonical(ptx_u32 *bits, int count)
{
    for (int l = 0; l < count; l++)
        bits[l] = (bits[l] & 0x7fffffffu) > 0x7f800000u ? CANONICAL : bits[l];
}

static int host_rounding(ptx_round round)
{
    switch (round) {
    case PTX_rz: return FE_TOWARDZERO;
    case PTX_rm: return FE_DOWNWARD;
    case PTX_rp: return FE_UPWARD;
    default: return FE_TONEAREST;
    }
}

static bool is_plain(const ptx_form *form)
{
    return form->round <= PTX_rn && !PTX_HAS(form, ftz) && !PTX_HAS(form, sat);
}

static float finish(const ptx_form *form, float r)
{
    if (PTX_HAS(form, ftz))
        r = ptx_flush(r);
    if (PTX_HAS(form, sat))
        r = r > 0 ? (r < 1 ? r : 1) : 0; /* a NaN gives 0 */
    return r;
}

/* An operation on n columns, in its four versions. Operands go through volatile variables where the
 * rounding is changed, so that no compiler moves the operation out of the changed part. */
#define PLAIN(name, T, LANES, NAN, expr, attribute) \
    attribute static void name(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes) \
    { \
        ptx_##T r[PTX_LANES * LANES]; \
        const ptx_##T *as = COLUMN(T, 1), *bs = COLUMN(T, 2), *cs = COLUMN(T, 3); \
        (void)bs, (void)cs; \
        for (int l = 0; l < PTX_LANES * LANES; l++) { \
            ptx_##T a = as[l], b = bs[l], c = cs[l]; \
            (void)b, (void)c; \
            r[l] = expr; \
        } \
        NAN; \
        KEEP_WIDE(r, LANES); \
    }
#define GENERAL(name, T, LANES, NAN, READ, FINISH, expr) \
    static void name(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes) \
    { \
        ptx_##T r[PTX_LANES * LANES]; \
        const ptx_##T *as = COLUMN(T, 1), *bs = COLUMN(T, 2), *cs = COLUMN(T, 3); \
        const ptx_form *form = &inst->form; \
        int before = fegetround(); \
        fesetround(host_rounding((ptx_round)form->round)); \
        for (int l = 0; l < PTX_LANES * LANES; l++) { \
            volatile ptx_##T a = READ(form, as[l]), b = READ(form, bs[l]), c = READ(form, cs[l]); \
            (void)b, (void)c; \
            volatile ptx_##T result = expr; \
            r[l] = FINISH(form, result); \
        } \
        fesetround(before); \
        NAN; \
        KEEP_WIDE(r, LANES); \
    }
/* f32x2 is twice as many floats, a lane's two side by side. */
#define KEEP_WIDE(r, LANES) KEEP_WIDE_##LANES(r)
#define KEEP_WIDE_1(r) KEEP(r)
#define KEEP_WIDE_2(r) ptx_keep64(COLUMN(u64, 0), r, lanes)
#define CANONICAL_1 canonical((ptx_u32 *)(void *)r, PTX_LANES)
#define CANONICAL_2 canonical((ptx_u32 *)(void *)r, PTX_LANES * 2)
#define READ_F32(form, x) (PTX_HAS(form, ftz) ? ptx_flush(x) : (x))
#define AS_IT_IS(form, x) (x)
#define NOTHING

#define OPERATION(name, expr32, expr64, attribute) \
    PLAIN(name##_f32, f32, 1, CANONICAL_1, expr32, attribute) \
    PLAIN(name##_f32x2, f32, 2, CANONICAL_2, expr32, attribute) \
    PLAIN(name##_f64, f64, 1, (void)0, expr64, attribute)

#define GENERAL_OPERATION(name, expr32, expr64) \
    GENERAL(name##_f32_general, f32, 1, CANONICAL_1, READ_F32, finish, expr32) \
    GENERAL(name##_f32x2_general, f32, 2, CANONICAL_2, READ_F32, finish, expr32) \
    GENERAL(name##_f64_general, f64, 1, (void)0, AS_IT_IS, AS_IT_IS, expr64)

#define PICK(name, plain) \
    ((plain) ? (form->type[0] == PTX_f32     ? name##_f32 \
                : form->type[0] == PTX_f32x2 ? name##_f32x2 \
                                             : name##_f64) \
             : (form->type[0] == PTX_f32     ? name##_f32_general \
                : form->type[0] == PTX_f32x2 ? name##_f32x2_general \
                                             : name##_f64_general))

#define FLOAT(name, choice, expr32, expr64) \
    OPERATION(name, expr32, expr64, NOTHING) \
    GENERAL_OPERATION(name, expr32, expr64) \
    ptx_fn *choice(const ptx_form *form) \
    { \
        return PICK(name, is_plain(form)); \
    }

FLOAT(add, ptx_choose_add_float, a + b, a + b)
FLOAT(sub, ptx_choose_sub_float, a - b, a - b)
FLOAT(mul, ptx_choose_mul_float, a *b, a *b)
/* .approx and .full are rounded as .rn is: within what PTX allows them. */
FLOAT(div, ptx_choose_div_float, a / b, a / b)
FLOAT(sqrt, ptx_choose_sqrt, __builtin_sqrtf(a), __builtin_sqrt(a))
FLOAT(rcp, ptx_choose_rcp, 1 / a, 1 / a)

/* The C library's fma is exact everywhere, and slow where it is called a lane at a time. */
OPERATION(fma, __builtin_fmaf(a, b, c), __builtin_fma(a, b, c), NOTHING)
GENERAL_OPERATION(fma, __builtin_fmaf(a, b, c), __builtin_fma(a, b, c))
#if defined(__x86_64__)
OPERATION(fma_fast, __builtin_fmaf(a, b, c), __builtin_fma(a, b, c),
          __attribute__((target("fma,avx2"))))
#define fma_fast_f32_general fma_f32_general
#define fma_fast_f32x2_general fma_f32x2_general
#define fma_fast_f64_general fma_f64_general
#endif

ptx_fn *ptx_choose_fma_float(const ptx_form *form)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2"))
        return PICK(fma_fast, is_plain(form));
#endif
    return PICK(fma, is_plain(form));
}

/* ---- Signs: bits only, also of a NaN ---- */

#define MASK_F32 0x7fffffffu
#define MASK_F64 0x7fffffffffffffffu
UNARY(neg_f16, u16, u16, a ^ 0x8000)
UNARY(neg_f16x2, u32, u32, a ^ 0x80008000u)
UNARY(neg_f32, u32, u32, a ^ 0x80000000u)
UNARY(neg_f64, u64, u64, a ^ ~MASK_F64)
UNARY(neg_f32_ftz, u32, u32, ptx_flush_bits(a) ^ 0x80000000u)
UNARY(abs_f16, u16, u16, a & 0x7fff)
UNARY(abs_f16x2, u32, u32, a & 0x7fff7fffu)
UNARY(abs_f32, u32, u32, a &MASK_F32)
UNARY(abs_f64, u64, u64, a &MASK_F64)
UNARY(abs_f32_ftz, u32, u32, ptx_flush_bits(a) & MASK_F32)

static ptx_fn *with_ftz(const ptx_form *form, ptx_fn *const functions[PTX_TYPES], ptx_fn *ftz)
{
    if (!PTX_HAS(form, ftz))
        return functions[form->type[0]];
    return form->type[0] == PTX_f32 ? ftz : NULL;
}

#define SIGN_CHOICE(choice, name) \
    ptx_fn *choice(const ptx_form *form) \
    { \
        static ptx_fn *const functions[PTX_TYPES] = { \
            [PTX_f16] = name##_f16,      [PTX_bf16] = name##_f16, [PTX_f16x2] = name##_f16x2, \
            [PTX_bf16x2] = name##_f16x2, [PTX_f32] = name##_f32,  [PTX_f64] = name##_f64}; \
        return with_ftz(form, functions, name##_f32_ftz); \
    }
SIGN_CHOICE(ptx_choose_neg_float, neg)
SIGN_CHOICE(ptx_choose_abs_float, abs)

/* The first operand's sign on the second's magnitude (PTX's order). */
BINARY(copysign_f32, u32, u32, u32, (a & ~MASK_F32) | (b & MASK_F32))
BINARY(copysign_f64, u64, u64, u64, (a & ~MASK_F64) | (b & MASK_F64))
CHOICE(ptx_choose_copysign, [PTX_f32] = copysign_f32, [PTX_f64] = copysign_f64)

/* ---- Minima and maxima: -0 below +0; a number wins over a NaN, unless .NaN ---- */

#define EXTREME(name, T, U, NAN, COMPARE) \
    static inline ptx_##T name##_of_##T(ptx_##T a, ptx_##T b, bool nan) \
    { \
        ptx_##T canonical_nan; \
        ptx_##U bits = NAN; \
        memcpy(&canonical_nan, &bits, sizeof bits); \
        if (a != a || b != b) \
            return nan || (a != a && b != b) ? canonical_nan : a != a ? b : a; \
        if (a == b) \
            return (__builtin_signbit(a) != 0) COMPARE(__builtin_signbit(b) != 0) ? b : a; \
        return b COMPARE a ? b : a; \
    }
EXTREME(min, f32, u32, CANONICAL, <)
EXTREME(max, f32, u32, CANONICAL, >)
EXTREME(min, f64, u64, MASK_F64, <)
EXTREME(max, f64, u64, MASK_F64, >)

/* .xorsign.abs: of the magnitudes, and negative if one operand is. */
static inline uint32_t with_signs(const ptx_form *form, uint32_t a, uint32_t b,
                                  float (*extreme)(float a, float b, bool nan))
{
    uint32_t sign = (a ^ b) & ~MASK_F32, bits;
    float x, y;
    a = (PTX_HAS(form, ftz) ? ptx_flush_bits(a) : a) & MASK_F32;
    b = (PTX_HAS(form, ftz) ? ptx_flush_bits(b) : b) & MASK_F32;
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    x = extreme(x, y, PTX_HAS(form, NaN));
    memcpy(&bits, &x, 4);
    return x == x ? bits | sign : bits;
}

#define READ_32(form, x) (PTX_HAS(form, abs) ? fabsf(READ_F32(form, x)) : READ_F32(form, x))
#define EXTREME_32(name, a, b) READ_F32(&inst->form, name##_of_f32(a, b, PTX_HAS(&inst->form, NaN)))
#define EXTREMES(name) \
    BINARY(name##_2, f32, f32, f32, \
           EXTREME_32(name, READ_F32(&inst->form, a), READ_F32(&inst->form, b))) \
    TERNARY(name##_3, f32, f32, f32, f32, \
            EXTREME_32(name, EXTREME_32(name, READ_32(&inst->form, a), READ_32(&inst->form, b)), \
                       READ_32(&inst->form, c))) \
    BINARY(name##_signs, u32, u32, u32, with_signs(&inst->form, a, b, name##_of_f32)) \
    BINARY(name##_f64, f64, f64, f64, name##_of_f64(a, b, false)) \
    static void name##_f32(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes) \
    { \
        (inst->noperands == 4 ? name##_3 : name##_2)(warp, inst, lanes); \
    } \
    ptx_fn *ptx_choose_##name##_float(const ptx_form *form) \
    { \
        if (PTX_HAS(form, xorsign)) \
            return PTX_HAS(form, abs) ? name##_signs : NULL; \
        return form->type[0] == PTX_f32 ? name##_f32 : name##_f64; \
    }
EXTREMES(min)
EXTREMES(max)

float ptx_min(float a, float b, bool nan)
{
    return min_of_f32(a, b, nan);
}

float ptx_max(float a, float b, bool nan)
{
    return max_of_f32(a, b, nan);
}

/* ---- What kind of number ---- */

static bool is_of_kind(ptx_pick kind, int class, bool subnormal)
{
    switch (kind) {
    case PTX_finite: return class != FP_INFINITE && class != FP_NAN;
    case PTX_infinite: return class == FP_INFINITE;
    case PTX_number: return class != FP_NAN;
    case PTX_notanumber: return class == FP_NAN;
    case PTX_normal: return class == FP_NORMAL || class == FP_ZERO; /* PTX counts zeros as normal */
    default: return subnormal;
    }
}

#define TESTP(T) \
    static void testp_##T(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes) \
    { \
        uint32_t out = 0; \
        EACH_LANE (l) { \
            int class = fpclassify(COLUMN(T, 1)[l]); \
            bool is = is_of_kind((ptx_pick)inst->form.pick[0], class, class == FP_SUBNORMAL); \
            out |= (uint32_t)is << l; \
        } \
        ptx_keep_predicate(warp, inst, 0, out, lanes); \
    }
TESTP(f32)
TESTP(f64)
CHOICE(ptx_choose_testp, [PTX_f32] = testp_f32, [PTX_f64] = testp_f64)
