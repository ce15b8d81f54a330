/* Halves to and from doubles, and the functions that PTX only promises approximately: they are
 * computed in double and rounded once, so they are closer than any chip's. */
#include "ptx_math.h"
#include "ptx_lanes.h"

/* ---- Halves ---- */

/* Whether a magnitude goes up by one, of which that is cut off, in halves of its last place. */
static bool rounds_up(ptx_round round, uint64_t rest, uint64_t half, bool odd, bool negative)
{
    switch (round) {
    case PTX_rz: return false;
    case PTX_rm: return negative && rest > 0;
    case PTX_rp: return !negative && rest > 0;
    default: return rest > half || (rest == half && odd);
    }
}

uint16_t ptx_to_half(double value, bool bf16, ptx_round round)
{
    const int mantissa = bf16 ? 7 : 10, least = bf16 ? -126 : -14, most = 128;
    const uint32_t infinite = bf16 ? 0x7f80 : 0x7c00;
    uint64_t bits;
    memcpy(&bits, &value, 8);
    bool negative = bits >> 63 != 0;
    uint16_t sign = negative ? 0x8000 : 0;
    int biased = (int)(bits >> 52 & 2047), exponent = (biased ? biased : 1) - 1023;
    uint64_t size = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)(biased != 0) << 52;
    if (biased == 2047)
        return size << 12 ? 0x7fff : (uint16_t)(sign | infinite);
    int shift = 52 - mantissa + (exponent < least ? least - exponent : 0);
    shift = shift < 60 ? shift : 60; /* there is less than half a place, whatever it is */
    exponent = exponent < least ? least : exponent > most ? most : exponent;
    uint64_t whole = size >> shift, rest = size & (((uint64_t)1 << shift) - 1);
    whole += rounds_up(round, rest, (uint64_t)1 << (shift - 1), whole & 1, negative);
    uint64_t half = ((uint64_t)(exponent - least) << mantissa) + whole;
    if (half < infinite)
        return (uint16_t)(sign | (uint16_t)half);
    bool to_infinity = rounds_up(round, 3, 2, false, negative);
    return (uint16_t)(sign | (to_infinity ? infinite : infinite - 1));
}

uint16_t ptx_half_fma(double a, double b, double c, bool bf16)
{
    double product = a * b; /* exact */
    double sum = product + c;
    if (isfinite(sum)) {
        double part = sum - product;
        double rest = (product - (sum - part)) + (c - part);
        uint64_t bits;
        memcpy(&bits, &sum, 8);
        if (rest != 0 && !(bits & 1)) { /* to odd, so that the next rounding is the only one */
            bits += (rest > 0) == (sum > 0) ? 1 : (uint64_t)-1;
            memcpy(&sum, &bits, 8);
        }
    }
    return ptx_to_half(sum, bf16, PTX_rn);
}

/* ---- Approximations ---- */

#define APPROXIMATE(name, expr) \
    static void name##_f32(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes) \
    { \
        uint32_t r[PTX_LANES]; \
        bool ftz = PTX_HAS(&inst->form, ftz); \
        EACH_LANE (l) { \
            double a = ftz ? ptx_flush(COLUMN(f32, 1)[l]) : COLUMN(f32, 1)[l]; \
            float result = (float)(expr); \
            memcpy(&r[l], &result, 4); \
            if (result != result) \
                r[l] = 0x7fffffffu; \
            else if (ftz) \
                r[l] = ptx_flush_bits(r[l]); \
        } \
        KEEP(r); \
    }

#define APPROXIMATE_HALF(name, expr) \
    static uint16_t name##_of_half(uint16_t bits, bool bf16) \
    { \
        double a = ptx_from_half(bits, bf16); \
        return ptx_to_half(expr, bf16, PTX_rn); \
    } \
    UNARY(name##_f16, u16, u16, name##_of_half(a, inst->form.type[0] == PTX_bf16)) \
    UNARY(name##_f16x2, u32, u32, \
          name##_of_half((uint16_t)a, inst->form.type[0] == PTX_bf16x2) | \
              (uint32_t)name##_of_half((uint16_t)(a >> 16), inst->form.type[0] == PTX_bf16x2) \
                  << 16)

APPROXIMATE(rsqrt, 1 / sqrt(a))
APPROXIMATE(ex2, exp2(a))
APPROXIMATE(lg2, log2(a))
APPROXIMATE(sin, sin(a))
APPROXIMATE(cos, cos(a))
APPROXIMATE(tanh, tanh(a))
APPROXIMATE_HALF(ex2, exp2(a))
APPROXIMATE_HALF(tanh, tanh(a))
UNARY(rsqrt_f64, f64, f64, 1 / sqrt(a))

/* rcp.approx.ftz.f64 sees and gives the upper words only. */
static void rough_f64(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    uint64_t r[PTX_LANES];
    EACH_LANE (l) {
        uint64_t bits = COLUMN(u64, 1)[l] & 0xffffffff00000000u;
        double a;
        if (!(bits & 0x7ff0000000000000u))
            bits &= 0x8000000000000000u;
        memcpy(&a, &bits, 8);
        a = 1 / a;
        memcpy(&r[l], &a, 8);
        r[l] &= r[l] & 0x7ff0000000000000u ? 0xffffffff00000000u : 0x8000000000000000u;
    }
    KEEP(r);
}

CHOICE(ptx_choose_rsqrt, [PTX_f32] = rsqrt_f32, [PTX_f64] = rsqrt_f64)
CHOICE1(ptx_choose_rough_f64, rough_f64)
CHOICE(ptx_choose_ex2, [PTX_f32] = ex2_f32, [PTX_f16] = ex2_f16, [PTX_bf16] = ex2_f16,
       [PTX_f16x2] = ex2_f16x2, [PTX_bf16x2] = ex2_f16x2)
CHOICE(ptx_choose_tanh, [PTX_f32] = tanh_f32, [PTX_f16] = tanh_f16, [PTX_bf16] = tanh_f16,
       [PTX_f16x2] = tanh_f16x2, [PTX_bf16x2] = tanh_f16x2)
CHOICE1(ptx_choose_lg2, lg2_f32)
CHOICE1(ptx_choose_sin, sin_f32)
CHOICE1(ptx_choose_cos, cos_f32)
