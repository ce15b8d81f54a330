/* Logic, shifts and fields of bits. */
#include "ptx_lanes.h"

#define BY_BITS(name) [PTX_b16] = name##_16, [PTX_b32] = name##_32, [PTX_b64] = name##_64
#define LOGIC(name, expr) \
    BINARY(name##_16, u16, u16, u16, expr) \
    BINARY(name##_32, u32, u32, u32, expr) \
    BINARY(name##_64, u64, u64, u64, expr) \
    static void name##_pred(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes) \
    { \
        uint32_t a = ptx_read_predicate(warp, inst, 1), b = ptx_read_predicate(warp, inst, 2); \
        ptx_keep_predicate(warp, inst, 0, expr, lanes); \
    } \
    CHOICE(ptx_choose_##name, BY_BITS(name)) \
    CHOICE1(ptx_choose_##name##_pred, name##_pred)
LOGIC(and, a &b)
LOGIC(or, a | b)
LOGIC(xor, a ^ b)

static void not_pred(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    ptx_keep_predicate(warp, inst, 0, ~ptx_read_predicate(warp, inst, 1), lanes);
}
CHOICE1(ptx_choose_not_pred, not_pred)

UNARY(not_16, u16, u16, ~a)
UNARY(not_32, u32, u32, ~a)
UNARY(not_64, u64, u64, ~a)
UNARY(cnot_16, u16, u16, a == 0)
UNARY(cnot_32, u32, u32, a == 0)
UNARY(cnot_64, u64, u64, a == 0)
CHOICE(ptx_choose_not, BY_BITS(not ))
CHOICE(ptx_choose_cnot, BY_BITS(cnot))

/* Any function of three bits, by its table of eight. */
static void lop3(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    uint32_t r[PTX_LANES];
    EACH_LANE (l) {
        uint32_t a = COLUMN(u32, 1)[l], b = COLUMN(u32, 2)[l], c = COLUMN(u32, 3)[l],
                 table = COLUMN(u32, 4)[l];
        r[l] = 0;
        for (int k = 0; k < 8; k++)
            if (table >> k & 1)
                r[l] |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    }
    KEEP(r);
}
CHOICE1(ptx_choose_lop3, lop3)

/* ---- Shifts: counts past the width are the width (PTX 9.7.8) ---- */

BINARY(shl_16, u16, u16, u32, b > 15 ? 0 : (uint32_t)a << b)
BINARY(shl_32, u32, u32, u32, b > 31 ? 0 : a << b)
BINARY(shl_64, u64, u64, u32, b > 63 ? 0 : a << b)
BINARY(shr_u16, u16, u16, u32, b > 15 ? 0 : a >> b)
BINARY(shr_u32, u32, u32, u32, b > 31 ? 0 : a >> b)
BINARY(shr_u64, u64, u64, u32, b > 63 ? 0 : a >> b)
BINARY(shr_s16, s16, s16, u32, a >> (b > 15 ? 15 : b))
BINARY(shr_s32, s32, s32, u32, a >> (b > 31 ? 31 : b))
BINARY(shr_s64, s64, s64, u32, a >> (b > 63 ? 63 : b))
CHOICE(ptx_choose_shl, BY_BITS(shl))
CHOICE(ptx_choose_shr, [PTX_b16] = shr_u16, [PTX_u16] = shr_u16, [PTX_s16] = shr_s16,
       [PTX_b32] = shr_u32, [PTX_u32] = shr_u32, [PTX_s32] = shr_s32, [PTX_b64] = shr_u64,
       [PTX_u64] = shr_u64, [PTX_s64] = shr_s64)

static inline uint32_t funnel_count(const ptx_form *form, uint32_t count)
{
    return form->pick[0] == PTX_wrap ? count & 31 : count > 32 ? 32 : count;
}

/* b:a as 64 bits: the upper word of it shifted left, the lower of it shifted right. */
TERNARY(shf_l, u32, u32, u32, u32, (((uint64_t)b << 32 | a) << funnel_count(&inst->form, c)) >> 32)
TERNARY(shf_r, u32, u32, u32, u32, ((uint64_t)b << 32 | a) >> funnel_count(&inst->form, c))
CHOICE1(ptx_choose_shf_l, shf_l)
CHOICE1(ptx_choose_shf_r, shf_r)

/* ---- Counting and finding ---- */

UNARY(popc_32, u32, u32, __builtin_popcount(a))
UNARY(popc_64, u32, u64, __builtin_popcountll(a))
UNARY(clz_32, u32, u32, a ? __builtin_clz(a) : 32)
UNARY(clz_64, u32, u64, a ? __builtin_clzll(a) : 64)
CHOICE(ptx_choose_popc, [PTX_b32] = popc_32, [PTX_b64] = popc_64)
CHOICE(ptx_choose_clz, [PTX_b32] = clz_32, [PTX_b64] = clz_64)

/* The highest bit that is no copy of the sign; as a shift that would bring it to the top. */
static inline uint32_t find_bit(const ptx_form *form, uint64_t a, unsigned width)
{
    if (a == 0)
        return UINT32_MAX;
    unsigned at = 63u - (unsigned)__builtin_clzll(a);
    return PTX_HAS(form, shiftamt) ? width - 1 - at : at;
}
UNARY(bfind_u32, u32, u32, find_bit(&inst->form, a, 32))
UNARY(bfind_s32, u32, s32, find_bit(&inst->form, (uint32_t)(a < 0 ? ~a : a), 32))
UNARY(bfind_u64, u32, u64, find_bit(&inst->form, a, 64))
UNARY(bfind_s64, u32, s64, find_bit(&inst->form, (uint64_t)(a < 0 ? ~a : a), 64))
CHOICE(ptx_choose_bfind, [PTX_u32] = bfind_u32, [PTX_s32] = bfind_s32, [PTX_u64] = bfind_u64,
       [PTX_s64] = bfind_s64)

static inline uint64_t reversed(uint64_t a)
{
    a = (a >> 1 & 0x5555555555555555u) | (a & 0x5555555555555555u) << 1;
    a = (a >> 2 & 0x3333333333333333u) | (a & 0x3333333333333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0f0f0f0f0fu) | (a & 0x0f0f0f0f0f0f0f0fu) << 4;
    return __builtin_bswap64(a);
}
UNARY(brev_32, u32, u32, reversed(a) >> 32)
UNARY(brev_64, u64, u64, reversed(a))
CHOICE(ptx_choose_brev, [PTX_b32] = brev_32, [PTX_b64] = brev_64)

/* ---- Fields: of positions and lengths the low 8 bits count ---- */

static inline uint64_t extract(uint64_t a, uint32_t from, uint32_t length, unsigned width,
                               bool is_signed)
{
    from &= 255;
    length &= 255;
    if (length == 0)
        return 0;
    uint32_t top = from + length - 1 < width - 1 ? from + length - 1 : width - 1;
    uint64_t sign = is_signed ? a >> top & 1 : 0;
    uint64_t field = from < width ? a >> from : 0;
    uint32_t have = from < width ? top - from + 1 : 0;
    if (have < 64)
        field = (field & (((uint64_t)1 << have) - 1)) | (sign ? ~(uint64_t)0 << have : 0);
    return field;
}
TERNARY(bfe_u32, u32, u32, u32, u32, extract(a, b, c, 32, false))
TERNARY(bfe_s32, u32, u32, u32, u32, extract(a, b, c, 32, true))
TERNARY(bfe_u64, u64, u64, u32, u32, extract(a, b, c, 64, false))
TERNARY(bfe_s64, u64, u64, u32, u32, extract(a, b, c, 64, true))
CHOICE(ptx_choose_bfe, [PTX_u32] = bfe_u32, [PTX_s32] = bfe_s32, [PTX_u64] = bfe_u64,
       [PTX_s64] = bfe_s64)

static inline uint64_t insert(uint64_t field, uint64_t into, uint32_t from, uint32_t length,
                              unsigned width)
{
    from &= 255;
    length &= 255;
    if (length == 0 || from >= width)
        return into;
    uint64_t mask = (length < 64 ? ((uint64_t)1 << length) - 1 : ~(uint64_t)0) << from;
    return (into & ~mask) | (field << from & mask);
}

#define BFI(bits) \
    static void bfi_##bits(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes) \
    { \
        ptx_u##bits r[PTX_LANES]; \
        EACH_LANE (l) \
            r[l] = (ptx_u##bits)insert(COLUMN(u##bits, 1)[l], COLUMN(u##bits, 2)[l], \
                                       COLUMN(u32, 3)[l], COLUMN(u32, 4)[l], bits); \
        KEEP(r); \
    }
BFI(32)
BFI(64)
CHOICE(ptx_choose_bfi, [PTX_b32] = bfi_32, [PTX_b64] = bfi_64)

/* A mask of b ones from bit a on. */
static inline uint32_t mask_of(const ptx_form *form, uint32_t a, uint32_t b)
{
    bool wrap = form->pick[0] == PTX_wrap;
    a = wrap ? a & 31 : a > 32 ? 32 : a;
    b = wrap ? b & 31 : b > 32 ? 32 : b;
    uint64_t ones = ((uint64_t)1 << b) - 1;
    return (uint32_t)(ones << a);
}
BINARY(bmsk, u32, u32, u32, mask_of(&inst->form, a, b))
CHOICE1(ptx_choose_bmsk, bmsk)

/* The low b bits, extended. */
static inline uint32_t extend(const ptx_form *form, uint32_t a, uint32_t b)
{
    b = form->pick[0] == PTX_wrap ? b & 31 : b > 32 ? 32 : b;
    if (b == 0)
        return 0;
    if (b == 32)
        return a;
    return form->type[0] == PTX_s32 ? (uint32_t)((int32_t)(a << (32 - b)) >> (32 - b))
                                    : a & ((1u << b) - 1);
}
BINARY(szext, u32, u32, u32, extend(&inst->form, a, b))
CHOICE1(ptx_choose_szext, szext)

/* The nth set bit of a mask from a base on; upwards for n > 0, downwards for n < 0. */
static uint32_t find_nth(uint32_t mask, uint32_t base, int32_t offset)
{
    if (base > 31)
        return UINT32_MAX;
    if (offset == 0)
        return mask >> base & 1 ? base : UINT32_MAX;
    int step = offset > 0 ? 1 : -1, left = offset > 0 ? offset : -offset;
    for (int at = (int)base; at >= 0 && at < 32; at += step)
        if ((mask >> at & 1) && --left == 0)
            return (uint32_t)at;
    return UINT32_MAX;
}
TERNARY(fns, u32, u32, u32, s32, find_nth(a, b, c))
CHOICE1(ptx_choose_fns, fns)

/* ---- Bytes: four of b:a, by the selectors of the mode ---- */

static uint32_t pick_bytes(ptx_pick mode, uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t r = 0, k = c & 3;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t from, byte;
        switch (mode) {
        case PTX_f4e: from = k + i; break;
        case PTX_b4e: from = (k - i) & 7; break;
        case PTX_rc8: from = k; break;
        case PTX_ecl: from = i > k ? i : k; break;
        case PTX_ecr: from = i < k ? i : k; break;
        case PTX_rc16: from = (k & 1) * 2 + (i & 1); break;
        default: from = c >> i * 4 & 7; break;
        }
        byte = (uint32_t)(bytes >> from * 8) & 0xff;
        if (mode == PTX_NO_PICK && (c >> i * 4 & 8))
            byte = byte & 0x80 ? 0xff : 0;
        r |= byte << i * 8;
    }
    return r;
}
TERNARY(prmt, u32, u32, u32, u32, pick_bytes((ptx_pick)inst->form.pick[0], a, b, c))
CHOICE1(ptx_choose_prmt, prmt)
