/* Comparing and choosing. A comparison gives a word, a bit a lane. */
#include "ptx_lanes.h"
#include "ptx_math.h"

typedef uint32_t compare_fn(const void *as, const void *bs, bool ftz);

/* One loop a comparison and type, for the compiler to make vectors of. */
#define COMPARE(name, T, expr) \
    static uint32_t name##_##T(const void *as, const void *bs, bool ftz) \
    { \
        const ptx_##T *x = as, *y = bs; \
        uint32_t word = 0; \
        (void)ftz; \
        EACH_LANE (l) { \
            ptx_##T a = x[l], b = y[l]; \
            word |= (expr) ? ptx_bit[l] : 0; \
        } \
        return word; \
    }
#define ORDERED(T) \
    COMPARE(eq, T, a == b) \
    COMPARE(ne, T, a != b) \
    COMPARE(lt, T, a < b) \
    COMPARE(le, T, a <= b) \
    COMPARE(gt, T, a > b) \
    COMPARE(ge, T, a >= b)
ORDERED(u16)
ORDERED(s16)
ORDERED(u32)
ORDERED(s32)
ORDERED(u64)
ORDERED(s64)

#define FLOATING(T) \
    COMPARE(eq, T, a == b) \
    COMPARE(ne, T, a<b || a> b) \
    COMPARE(lt, T, a < b) \
    COMPARE(le, T, a <= b) \
    COMPARE(gt, T, a > b) \
    COMPARE(ge, T, a >= b) \
    COMPARE(equ, T, !(a < b || a > b)) \
    COMPARE(neu, T, a != b) \
    COMPARE(ltu, T, !(a >= b)) \
    COMPARE(leu, T, !(a > b)) \
    COMPARE(gtu, T, !(a <= b)) \
    COMPARE(geu, T, !(a < b)) \
    COMPARE(num, T, a == a && b == b) \
    COMPARE(nan, T, a != a || b != b)
FLOATING(f32)
FLOATING(f64)

#define ORDERED_ROW(T) \
    { \
        [PTX_eq] = eq_##T, [PTX_ne] = ne_##T, [PTX_lt] = lt_##T, [PTX_le] = le_##T, \
        [PTX_gt] = gt_##T, [PTX_ge] = ge_##T \
    }
/* lo, ls, hi and hs say that the comparison is of unsigned numbers. */
#define UNSIGNED_ROW(T) \
    { \
        [PTX_eq] = eq_##T, [PTX_ne] = ne_##T, [PTX_lt] = lt_##T, [PTX_le] = le_##T, \
        [PTX_gt] = gt_##T, [PTX_ge] = ge_##T, [PTX_lo] = lt_##T, [PTX_ls] = le_##T, \
        [PTX_hi] = gt_##T, [PTX_hs] = ge_##T \
    }
#define BITS_ROW(T) \
    { \
        [PTX_eq] = eq_##T, [PTX_ne] = ne_##T \
    }
#define FLOATING_ROW(T) \
    { \
        [PTX_eq] = eq_##T, [PTX_ne] = ne_##T, [PTX_lt] = lt_##T, [PTX_le] = le_##T, \
        [PTX_gt] = gt_##T, [PTX_ge] = ge_##T, [PTX_equ] = equ_##T, [PTX_neu] = neu_##T, \
        [PTX_ltu] = ltu_##T, [PTX_leu] = leu_##T, [PTX_gtu] = gtu_##T, [PTX_geu] = geu_##T, \
        [PTX_num] = num_##T, [PTX_nan] = nan_##T \
    }

static compare_fn *comparison(ptx_pick pick, ptx_type type)
{
    static compare_fn *const rows[PTX_TYPES][PTX_PICKS] = {
        [PTX_b16] = BITS_ROW(u16),      [PTX_u16] = UNSIGNED_ROW(u16),
        [PTX_s16] = ORDERED_ROW(s16),   [PTX_b32] = BITS_ROW(u32),
        [PTX_u32] = UNSIGNED_ROW(u32),  [PTX_s32] = ORDERED_ROW(s32),
        [PTX_b64] = BITS_ROW(u64),      [PTX_u64] = UNSIGNED_ROW(u64),
        [PTX_s64] = ORDERED_ROW(s64),   [PTX_f32] = FLOATING_ROW(f32),
        [PTX_f64] = FLOATING_ROW(f64),  [PTX_f16] = FLOATING_ROW(f32),
        [PTX_bf16] = FLOATING_ROW(f32),
    };
    return rows[type][pick];
}

static bool is_half(ptx_type type)
{
    return type == PTX_f16 || type == PTX_bf16;
}

/* Halves as floats, which compare the same. */
static void widen(const void *halves, int step, bool bf16, bool ftz, float out[PTX_LANES])
{
    const ptx_u16 *h = halves;
    EACH_LANE (l) {
        uint16_t bits = h[l * step];
        if (ftz && !(bits & 0x7c00))
            bits &= 0x8000;
        out[l] = (float)ptx_from_half(bits, bf16);
    }
}

/* The comparison's word of the columns. */
static uint32_t compared(const ptx_form *form, ptx_type type, const void *as, const void *bs,
                         int step)
{
    compare_fn *compare = comparison((ptx_pick)form->pick[0], type);
    bool ftz = PTX_HAS(form, ftz);
    if (!is_half(type) && !(ftz && type == PTX_f32))
        return compare(as, bs, ftz);
    float a[PTX_LANES], b[PTX_LANES];
    if (is_half(type)) {
        widen(as, step, type == PTX_bf16, ftz, a);
        widen(bs, step, type == PTX_bf16, ftz, b);
    } else {
        const ptx_f32 *x = as, *y = bs;
        EACH_LANE (l) {
            a[l] = ptx_flush(x[l]);
            b[l] = ptx_flush(y[l]);
        }
    }
    return compare(a, b, ftz);
}

static uint32_t combined(const ptx_form *form, uint32_t word, uint32_t with)
{
    switch (form->npicks > 1 ? (ptx_pick)form->pick[1] : PTX_NO_PICK) {
    case PTX_and: return word & with;
    case PTX_or: return word | with;
    case PTX_xor: return word ^ with;
    default: return word;
    }
}

static ptx_fn *if_compares(const ptx_form *form, ptx_type type, ptx_fn *fn)
{
    return comparison((ptx_pick)form->pick[0], type) ? fn : NULL;
}

/* p|q: the result, and what it would be were the comparison the opposite. */
static void setp(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    uint32_t word =
        compared(&inst->form, (ptx_type)inst->form.type[0], COLUMN(u8, 2), COLUMN(u8, 3), 1);
    ptx_keep_predicate(warp, inst, 1, ~word, lanes);
    ptx_keep_predicate(warp, inst, 0, word, lanes);
}

static void setp_bool(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    uint32_t word =
        compared(&inst->form, (ptx_type)inst->form.type[0], COLUMN(u8, 2), COLUMN(u8, 3), 1);
    uint32_t with = ptx_read_predicate(warp, inst, 4);
    ptx_keep_predicate(warp, inst, 1, combined(&inst->form, ~word, with), lanes);
    ptx_keep_predicate(warp, inst, 0, combined(&inst->form, word, with), lanes);
}

ptx_fn *ptx_choose_setp(const ptx_form *form)
{
    return if_compares(form, (ptx_type)form->type[0], setp);
}

ptx_fn *ptx_choose_setp_bool(const ptx_form *form)
{
    return if_compares(form, (ptx_type)form->type[0], setp_bool);
}

/* Of pairs: p is of the lower halves, q of the upper. */
static void setp_x2(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    ptx_type type = inst->form.type[0] == PTX_f16x2 ? PTX_f16 : PTX_bf16;
    uint32_t low = compared(&inst->form, type, COLUMN(u16, 2), COLUMN(u16, 3), 2);
    uint32_t high = compared(&inst->form, type, COLUMN(u16, 2) + 1, COLUMN(u16, 3) + 1, 2);
    uint32_t with = ptx_read_predicate(warp, inst, 4);
    ptx_keep_predicate(warp, inst, 0, combined(&inst->form, low, with), lanes);
    ptx_keep_predicate(warp, inst, 1, combined(&inst->form, high, with), lanes);
}

ptx_fn *ptx_choose_setp_x2(const ptx_form *form)
{
    return if_compares(form, PTX_f16, setp_x2);
}

/* ---- set: all ones or 1.0 where it holds ---- */

static uint32_t one_of(ptx_type type)
{
    switch (type) {
    case PTX_f32: return 0x3f800000u;
    case PTX_f16:
    case PTX_f16x2: return 0x3c00;
    case PTX_bf16:
    case PTX_bf16x2: return 0x3f80;
    default: return PTX_FULL;
    }
}

static void keep_set(ptx_warp *warp, const ptx_inst *inst, uint32_t word, uint32_t lanes)
{
    uint32_t r[PTX_LANES], one = one_of((ptx_type)inst->form.type[0]);
    uint16_t half[PTX_LANES];
    EACH_LANE (l) {
        r[l] = word & ptx_bit[l] ? one : 0;
        half[l] = (uint16_t)r[l];
    }
    if (ptx_type_bytes((ptx_type)inst->form.type[0]) == 2)
        KEEP(half);
    else
        KEEP(r);
}

static void set(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    keep_set(warp, inst,
             compared(&inst->form, (ptx_type)inst->form.type[1], COLUMN(u8, 1), COLUMN(u8, 2), 1),
             lanes);
}

static void set_bool(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    uint32_t word =
        compared(&inst->form, (ptx_type)inst->form.type[1], COLUMN(u8, 1), COLUMN(u8, 2), 1);
    keep_set(warp, inst, combined(&inst->form, word, ptx_read_predicate(warp, inst, 3)), lanes);
}

/* Whole results of 16 bits are of halves only. */
static bool sets(const ptx_form *form)
{
    return (form->type[0] != PTX_u16 && form->type[0] != PTX_s16) ||
           is_half((ptx_type)form->type[1]);
}

ptx_fn *ptx_choose_set(const ptx_form *form)
{
    return sets(form) ? if_compares(form, (ptx_type)form->type[1], set) : NULL;
}

ptx_fn *ptx_choose_set_bool(const ptx_form *form)
{
    return sets(form) ? if_compares(form, (ptx_type)form->type[1], set_bool) : NULL;
}

/* Of pairs: each half of the result is its own. */
static void set_x2(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    ptx_type type = inst->form.type[1] == PTX_f16x2 ? PTX_f16 : PTX_bf16;
    uint32_t r[PTX_LANES], one = one_of((ptx_type)inst->form.type[0]) & 0xffff;
    uint32_t with = inst->form.npicks > 1 ? ptx_read_predicate(warp, inst, 3) : 0, words[2];
    for (int k = 0; k < 2; k++)
        words[k] =
            combined(&inst->form,
                     compared(&inst->form, type, COLUMN(u16, 1) + k, COLUMN(u16, 2) + k, 2), with);
    EACH_LANE (l)
        r[l] = (words[0] >> l & 1) * one | (words[1] >> l & 1) * one << 16;
    KEEP(r);
}

ptx_fn *ptx_choose_set_x2(const ptx_form *form)
{
    bool whole = form->type[0] == PTX_u32 || form->type[0] == PTX_s32;
    return whole || form->type[0] == form->type[1] ? if_compares(form, PTX_f16, set_x2) : NULL;
}

/* ---- selp, slct ---- */

#define SELP(bits) \
    static void selp_##bits(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes) \
    { \
        ptx_u##bits r[PTX_LANES]; \
        const ptx_u##bits *as = COLUMN(u##bits, 1), *bs = COLUMN(u##bits, 2); \
        uint32_t word = ptx_read_predicate(warp, inst, 3); \
        EACH_LANE (l) \
            r[l] = word & ptx_bit[l] ? as[l] : bs[l]; \
        KEEP(r); \
    } \
    static void slct_##bits(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes) \
    { \
        ptx_u##bits r[PTX_LANES]; \
        const ptx_u##bits *as = COLUMN(u##bits, 1), *bs = COLUMN(u##bits, 2); \
        EACH_LANE (l) \
            r[l] = not_negative(&inst->form, COLUMN(u32, 3)[l]) ? as[l] : bs[l]; \
        KEEP(r); \
    }

/* -0 counts as 0; a NaN does not count. */
static bool not_negative(const ptx_form *form, uint32_t c)
{
    if (form->type[1] == PTX_s32)
        return (int32_t)c >= 0;
    float value;
    memcpy(&value, &c, 4);
    return (PTX_HAS(form, ftz) ? ptx_flush(value) : value) >= 0;
}
SELP(16)
SELP(32)
SELP(64)
#define BY_WIDTH(name) \
    [PTX_b16] = name##_16, [PTX_u16] = name##_16, [PTX_s16] = name##_16, [PTX_b32] = name##_32, \
    [PTX_u32] = name##_32, [PTX_s32] = name##_32, [PTX_f32] = name##_32, [PTX_b64] = name##_64, \
    [PTX_u64] = name##_64, [PTX_s64] = name##_64, [PTX_f64] = name##_64
CHOICE(ptx_choose_selp, BY_WIDTH(selp))
CHOICE(ptx_choose_slct, BY_WIDTH(slct))
