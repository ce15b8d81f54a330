/* Arithmetic on f16 and bf16, alone and in pairs: in double, where sums and products of halves are
 * exact, and rounded once. */
#include "ptx_lanes.h"
#include "ptx_math.h"

typedef uint16_t half_op(const ptx_form *form, bool bf16, uint16_t a, uint16_t b, uint16_t c);

static bool is_bf16(const ptx_form *form)
{
    return form->type[0] == PTX_bf16 || form->type[0] == PTX_bf16x2;
}

static uint16_t flushed(const ptx_form *form, uint16_t a)
{
    return PTX_HAS(form, ftz) && !(a & 0x7c00) ? a & 0x8000 : a;
}

static uint16_t finish(const ptx_form *form, uint16_t r)
{
    bool nan = (r & 0x7fff) > (is_bf16(form) ? 0x7f80 : 0x7c00);
    if (PTX_HAS(form, sat)) {
        uint16_t one = is_bf16(form) ? 0x3f80 : 0x3c00;
        return nan || (r & 0x8000) ? 0 : r > one ? one : r;
    }
    if (PTX_HAS(form, relu))
        return nan ? 0x7fff : r & 0x8000 ? 0 : r;
    return nan ? 0x7fff : flushed(form, r);
}

static void each_half(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes, half_op *op)
{
    const ptx_form *form = &inst->form;
    bool bf16 = is_bf16(form);
    int parts = ptx_type_bytes((ptx_type)form->type[0]) / 2;
    const ptx_u16 *as = COLUMN(u16, 1), *bs = COLUMN(u16, 2), *cs = COLUMN(u16, 3);
    uint16_t r[PTX_LANES * 2];
    for (int l = 0; l < PTX_LANES * parts; l++)
        r[l] = finish(
            form, op(form, bf16, flushed(form, as[l]), flushed(form, bs[l]), flushed(form, cs[l])));
    if (parts == 1)
        ptx_keep16(COLUMN(u16, 0), r, lanes);
    else
        ptx_keep32(COLUMN(u32, 0), r, lanes);
}

#define HALF(name, expr) \
    static uint16_t name##_one(const ptx_form *form, bool bf16, uint16_t x, uint16_t y, \
                               uint16_t z) \
    { \
        double a = ptx_from_half(x, bf16), b = ptx_from_half(y, bf16), c = ptx_from_half(z, bf16); \
        (void)form, (void)a, (void)b, (void)c; \
        return expr; \
    } \
    static void name##_half(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes) \
    { \
        each_half(warp, inst, lanes, name##_one); \
    } \
    CHOICE1(ptx_choose_##name##_half, name##_half)

HALF(add, ptx_to_half(a + b, bf16, PTX_rn))
HALF(sub, ptx_to_half(a - b, bf16, PTX_rn))
HALF(mul, ptx_to_half(a *b, bf16, PTX_rn))
HALF(fma, ptx_half_fma(a, b, c, bf16))

/* .xorsign.abs: of the magnitudes, and negative if one operand is. */
static uint16_t extreme(const ptx_form *form, bool bf16, uint16_t x, uint16_t y,
                        float (*of)(float a, float b, bool nan))
{
    uint16_t sign = 0;
    if (PTX_HAS(form, xorsign)) {
        sign = (x ^ y) & 0x8000;
        x &= 0x7fff;
        y &= 0x7fff;
    }
    float r = of((float)ptx_from_half(x, bf16), (float)ptx_from_half(y, bf16), PTX_HAS(form, NaN));
    return ptx_to_half(r, bf16, PTX_rn) | sign;
}

HALF(min, extreme(form, bf16, x, y, ptx_min))
HALF(max, extreme(form, bf16, x, y, ptx_max))

/* ---- Halves with an f32: the halves are widened ---- */

static float mixed_result(const ptx_form *form, float r)
{
    uint32_t canonical = 0x7fffffffu;
    if (PTX_HAS(form, sat))
        return r > 0 ? (r < 1 ? r : 1) : 0;
    if (r != r)
        memcpy(&r, &canonical, 4);
    return r;
}

#define WIDE(x) ((float)ptx_from_half(x, inst->form.type[1] == PTX_bf16))
BINARY(add_mixed, f32, u16, f32, mixed_result(&inst->form, WIDE(a) + b))
BINARY(sub_mixed, f32, u16, f32, mixed_result(&inst->form, WIDE(a) - b))
TERNARY(fma_mixed, f32, u16, u16, f32,
        mixed_result(&inst->form, __builtin_fmaf(WIDE(a), WIDE(b), c)))
CHOICE1(ptx_choose_add_mixed, add_mixed)
CHOICE1(ptx_choose_sub_mixed, sub_mixed)
CHOICE1(ptx_choose_fma_mixed, fma_mixed)
