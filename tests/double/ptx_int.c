/* Integer arithmetic. Sums and low products are the same for both signs. */
#include "ptx_lanes.h"

/* The same expression for the six types; U is the unsigned one as wide as T. */
#define INT_TYPES(X, name, expr) \
    X(name##_u16, u16, expr) \
    X(name##_s16, s16, expr) \
    X(name##_u32, u32, expr) \
    X(name##_s32, s32, expr) \
    X(name##_u64, u64, expr) \
    X(name##_s64, s64, expr)
#define BITS_TYPES(X, name, expr) \
    X(name##_16, u16, expr) \
    X(name##_32, u32, expr) \
    X(name##_64, u64, expr)
#define AS_UNARY(name, T, expr) UNARY(name, T, T, expr)
#define AS_BINARY(name, T, expr) BINARY(name, T, T, T, expr)
#define AS_TERNARY(name, T, expr) TERNARY(name, T, T, T, T, expr)

#define BY_TYPE(name) \
    [PTX_u16] = name##_u16, [PTX_s16] = name##_s16, [PTX_u32] = name##_u32, \
    [PTX_s32] = name##_s32, [PTX_u64] = name##_u64, [PTX_s64] = name##_s64
#define BY_SIZE(name) \
    [PTX_u16] = name##_16, [PTX_s16] = name##_16, [PTX_u32] = name##_32, [PTX_s32] = name##_32, \
    [PTX_u64] = name##_64, [PTX_s64] = name##_64

BITS_TYPES(AS_BINARY, add, a + b)
BITS_TYPES(AS_BINARY, sub, a - b)
BINARY(mul_16, u16, u16, u16, (uint32_t)a *b)
BINARY(mul_32, u32, u32, u32, a *b)
BINARY(mul_64, u64, u64, u64, a *b)
TERNARY(mad_16, u16, u16, u16, u16, (uint32_t)a *b + c)
TERNARY(mad_32, u32, u32, u32, u32, a *b + c)
TERNARY(mad_64, u64, u64, u64, u64, a *b + c)
CHOICE(ptx_choose_add, BY_SIZE(add))
CHOICE(ptx_choose_sub, BY_SIZE(sub))
CHOICE(ptx_choose_mul_lo, BY_SIZE(mul))
CHOICE(ptx_choose_mad_lo, BY_SIZE(mad))

/* ---- High halves and wide products ---- */

__extension__ typedef __int128 wide_s;
__extension__ typedef unsigned __int128 wide_u;

static inline uint16_t hi_u16(uint16_t a, uint16_t b)
{
    return (uint16_t)((uint32_t)a * b >> 16);
}

static inline uint16_t hi_s16(int16_t a, int16_t b)
{
    return (uint16_t)((int32_t)a * b >> 16);
}

static inline uint32_t hi_u32(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

static inline uint32_t hi_s32(int32_t a, int32_t b)
{
    return (uint32_t)((int64_t)a * b >> 32);
}

static inline uint64_t hi_u64(uint64_t a, uint64_t b)
{
    return (uint64_t)((wide_u)a * b >> 64);
}

static inline uint64_t hi_s64(int64_t a, int64_t b)
{
    return (uint64_t)((wide_s)a * b >> 64);
}

#define HI(T, U) \
    BINARY(mul_hi_##T, U, T, T, hi_##T(a, b)) \
    TERNARY(mad_hi_##T, U, T, T, U, hi_##T(a, b) + c)
HI(u16, u16)
HI(s16, u16)
HI(u32, u32)
HI(s32, u32)
HI(u64, u64)
HI(s64, u64)
CHOICE(ptx_choose_mul_hi, BY_TYPE(mul_hi))
CHOICE(ptx_choose_mad_hi, BY_TYPE(mad_hi))

BINARY(mul_wide_u16, u32, u16, u16, (uint32_t)a *b)
BINARY(mul_wide_s16, s32, s16, s16, (int32_t)a *b)
BINARY(mul_wide_u32, u64, u32, u32, (uint64_t)a *b)
BINARY(mul_wide_s32, s64, s32, s32, (int64_t)a *b)
TERNARY(mad_wide_u16, u32, u16, u16, u32, (uint32_t)a *b + c)
TERNARY(mad_wide_s16, u32, s16, s16, u32, (uint32_t)((int32_t)a *b) + c)
TERNARY(mad_wide_u32, u64, u32, u32, u64, (uint64_t)a *b + c)
TERNARY(mad_wide_s32, u64, s32, s32, u64, (uint64_t)((int64_t)a *b) + c)
#define BY_NARROW(name) \
    [PTX_u16] = name##_u16, [PTX_s16] = name##_s16, [PTX_u32] = name##_u32, [PTX_s32] = name##_s32
CHOICE(ptx_choose_mul_wide, BY_NARROW(mul_wide))
CHOICE(ptx_choose_mad_wide, BY_NARROW(mad_wide))

static inline int32_t signed24(uint32_t a)
{
    return (int32_t)(a << 8) >> 8;
}

BINARY(mul24_u32, u32, u32, u32, (a & 0xffffff) * (b & 0xffffff))
BINARY(mul24_s32, u32, u32, u32, (uint32_t)signed24(a) * (uint32_t)signed24(b))
CHOICE(ptx_choose_mul24, [PTX_u32] = mul24_u32, [PTX_s32] = mul24_s32)

/* ---- Division: by zero PTX leaves it open; chips give all ones, and the dividend as rest ---- */

#define DIV_UNSIGNED(T) \
    BINARY(div_##T, T, T, T, b ? a / b : (ptx_##T) - 1) \
    BINARY(rem_##T, T, T, T, b ? a % b : a)
#define DIV_SIGNED(T, U) \
    BINARY(div_##T, T, T, T, b == 0 ? -1 : b == -1 ? (ptx_##T)(0 - (ptx_##U)a) : a / b) \
    BINARY(rem_##T, T, T, T, b == 0 ? a : b == -1 ? 0 : a % b)
DIV_UNSIGNED(u16)
DIV_UNSIGNED(u32)
DIV_UNSIGNED(u64)
DIV_SIGNED(s16, u16)
DIV_SIGNED(s32, u32)
DIV_SIGNED(s64, u64)
CHOICE(ptx_choose_div_int, BY_TYPE(div))
CHOICE(ptx_choose_rem, BY_TYPE(rem))

/* ---- Signs, minima, sums of differences ---- */

#define SIGN(T, U) \
    UNARY(abs_##T, U, T, a < 0 ? (ptx_##U)(0 - (ptx_##U)a) : (ptx_##U)a) \
    UNARY(neg_##T, U, U, 0 - a)
SIGN(s16, u16)
SIGN(s32, u32)
SIGN(s64, u64)
CHOICE(ptx_choose_abs_int, [PTX_s16] = abs_s16, [PTX_s32] = abs_s32, [PTX_s64] = abs_s64)
CHOICE(ptx_choose_neg_int, [PTX_s16] = neg_s16, [PTX_s32] = neg_s32, [PTX_s64] = neg_s64)

INT_TYPES(AS_BINARY, min, a < b ? a : b)
INT_TYPES(AS_BINARY, max, a > b ? a : b)
CHOICE(ptx_choose_min_int, BY_TYPE(min))
CHOICE(ptx_choose_max_int, BY_TYPE(max))

#define SAD(T, U) \
    TERNARY(sad_##T, U, T, T, U, (a < b ? (ptx_##U)b - (ptx_##U)a : (ptx_##U)a - (ptx_##U)b) + c)
SAD(u16, u16)
SAD(s16, u16)
SAD(u32, u32)
SAD(s32, u32)
SAD(u64, u64)
SAD(s64, u64)
CHOICE(ptx_choose_sad, BY_TYPE(sad))

static inline int32_t saturated(int64_t value)
{
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

BINARY(add_sat, s32, s32, s32, saturated((int64_t)a + b))
BINARY(sub_sat, s32, s32, s32, saturated((int64_t)a - b))
CHOICE1(ptx_choose_add_sat, add_sat)
CHOICE1(ptx_choose_sub_sat, sub_sat)

/* ---- Carries: a bit a lane, kept by the warp ---- */

#define CARRY(name, T, sum, carry_out) \
    static void name(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes) \
    { \
        ptx_##T r[PTX_LANES]; \
        uint32_t out = 0; \
        EACH_LANE (l) { \
            ptx_##T a = COLUMN(T, 1)[l], b = COLUMN(T, 2)[l], c = warp->carry >> l & 1; \
            (void)c; \
            r[l] = sum; \
            out |= (uint32_t)(carry_out) << l; \
        } \
        if (PTX_HAS(&inst->form, cc)) \
            warp->carry = (warp->carry & ~lanes) | (out & lanes); \
        KEEP(r); \
    }
CARRY(add_carry_32, u32, a + b, r[l] < a)
CARRY(add_carry_64, u64, a + b, r[l] < a)
CARRY(addc_32, u32, a + b + c, c ? r[l] <= a : r[l] < a)
CARRY(addc_64, u64, a + b + c, c ? r[l] <= a : r[l] < a)
CARRY(sub_borrow_32, u32, a - b, a < b)
CARRY(sub_borrow_64, u64, a - b, a < b)
CARRY(subc_32, u32, a - b - c, c ? a <= b : a < b)
CARRY(subc_64, u64, a - b - c, c ? a <= b : a < b)
#define BY_LARGE_SIZE(name) \
    [PTX_u32] = name##_32, [PTX_s32] = name##_32, [PTX_u64] = name##_64, [PTX_s64] = name##_64
CHOICE(ptx_choose_add_carry, BY_LARGE_SIZE(add_carry))
CHOICE(ptx_choose_addc, BY_LARGE_SIZE(addc))
CHOICE(ptx_choose_sub_borrow, BY_LARGE_SIZE(sub_borrow))
CHOICE(ptx_choose_subc, BY_LARGE_SIZE(subc))

/* A half of the product, and a sum with its carry. */
#define MAD_CARRY(name, T, carry_in) \
    static void name##_##T(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes) \
    { \
        uint##T##_t r[PTX_LANES]; \
        bool high = inst->form.pick[0] == PTX_hi; \
        bool is_signed = ptx_type_class((ptx_type)inst->form.type[0]) == 's'; \
        uint32_t out = 0; \
        EACH_LANE (l) { \
            uint##T##_t a = COLUMN(u##T, 1)[l], b = COLUMN(u##T, 2)[l], c = COLUMN(u##T, 3)[l]; \
            uint##T##_t upper = is_signed ? hi_s##T((int##T##_t)a, (int##T##_t)b) : hi_u##T(a, b); \
            wide_u sum = (wide_u)(high ? upper : (uint##T##_t)(a * b)) + c + (carry_in); \
            r[l] = (uint##T##_t)sum; \
            out |= (uint32_t)(sum >> T & 1) << l; \
        } \
        if (PTX_HAS(&inst->form, cc)) \
            warp->carry = (warp->carry & ~lanes) | (out & lanes); \
        KEEP(r); \
    }
MAD_CARRY(mad_carry, 32, 0)
MAD_CARRY(mad_carry, 64, 0)
MAD_CARRY(madc, 32, warp->carry >> l & 1)
MAD_CARRY(madc, 64, warp->carry >> l & 1)
CHOICE(ptx_choose_mad_carry, BY_LARGE_SIZE(mad_carry))
CHOICE(ptx_choose_madc, BY_LARGE_SIZE(madc))

/* ---- Two halves at once, dot products ---- */

#define HALVES(expr_of) ((uint32_t)expr_of(a >> 16, b >> 16) << 16 | expr_of(a, b))
#define MIN_U(a, b) (uint16_t)((uint16_t)(a) < (uint16_t)(b) ? (a) : (b))
#define MAX_U(a, b) (uint16_t)((uint16_t)(a) > (uint16_t)(b) ? (a) : (b))
#define MIN_S(a, b) (uint16_t)((int16_t)(a) < (int16_t)(b) ? (a) : (b))
#define MAX_S(a, b) (uint16_t)((int16_t)(a) > (int16_t)(b) ? (a) : (b))
#define RELU(a) (uint16_t)((int16_t)(a) < 0 ? 0 : (a))
#define MIN_RELU(a, b) RELU(MIN_S(a, b))
#define MAX_RELU(a, b) RELU(MAX_S(a, b))
#define SUM(a, b) (uint16_t)((a) + (b))
BINARY(add_x2, u32, u32, u32, HALVES(SUM))
BINARY(min_u16x2, u32, u32, u32, HALVES(MIN_U))
BINARY(max_u16x2, u32, u32, u32, HALVES(MAX_U))
BINARY(min_s16x2, u32, u32, u32, HALVES(MIN_S))
BINARY(max_s16x2, u32, u32, u32, HALVES(MAX_S))
BINARY(min_relu_s16x2, u32, u32, u32, HALVES(MIN_RELU))
BINARY(max_relu_s16x2, u32, u32, u32, HALVES(MAX_RELU))
BINARY(min_relu_s32, s32, s32, s32, (a < b ? a : b) < 0 ? 0 : a < b ? a : b)
BINARY(max_relu_s32, s32, s32, s32, (a > b ? a : b) < 0 ? 0 : a > b ? a : b)
CHOICE1(ptx_choose_add_x2, add_x2)
CHOICE(ptx_choose_min_relu, [PTX_s32] = min_relu_s32, [PTX_s16x2] = min_relu_s16x2)
CHOICE(ptx_choose_max_relu, [PTX_s32] = max_relu_s32, [PTX_s16x2] = max_relu_s16x2)
CHOICE(ptx_choose_min_x2, [PTX_u16x2] = min_u16x2, [PTX_s16x2] = min_s16x2)
CHOICE(ptx_choose_max_x2, [PTX_u16x2] = max_u16x2, [PTX_s16x2] = max_s16x2)

/* Differences of bytes, without their signs: four bytes, or their sum and c. */
static inline uint32_t absolute_differences(uint32_t a, uint32_t b, uint32_t c, bool add)
{
    uint32_t bytes = 0;
    for (int k = 0; k < 32; k += 8) {
        int difference = (int)(a >> k & 255) - (int)(b >> k & 255);
        uint32_t d = (uint32_t)(difference < 0 ? -difference : difference);
        bytes |= d << k;
        c += d;
    }
    return add ? c : bytes;
}

TERNARY(vabsdiff4, u32, u32, u32, u32, absolute_differences(a, b, c, inst->form.pick[0] == PTX_add))
CHOICE1(ptx_choose_vabsdiff4, vabsdiff4)

/* The part of a word at a bit, of that many bits. */
static inline int32_t piece(uint32_t word, int at, int bits, bool is_signed)
{
    int32_t value = (int32_t)(word << (32 - at - bits));
    return is_signed ? value >> (32 - bits) : (int32_t)((uint32_t)value >> (32 - bits));
}

static inline uint32_t dot(const ptx_form *form, uint32_t a, uint32_t b, uint32_t c, int bits,
                           int from)
{
    bool a_signed = form->type[0] == PTX_s32, b_signed = form->type[1] == PTX_s32;
    for (int k = 0; k < 32 / bits; k++)
        c += (uint32_t)(piece(a, k * bits, bits, a_signed) * piece(b, from + k * 8, 8, b_signed));
    return c;
}

TERNARY(dp4a, u32, u32, u32, u32, dot(&inst->form, a, b, c, 8, 0))
TERNARY(dp2a_lo, u32, u32, u32, u32, dot(&inst->form, a, b, c, 16, 0))
TERNARY(dp2a_hi, u32, u32, u32, u32, dot(&inst->form, a, b, c, 16, 16))
CHOICE1(ptx_choose_dp4a, dp4a)
CHOICE1(ptx_choose_dp2a, form->pick[0] == PTX_hi ? dp2a_hi : dp2a_lo)
