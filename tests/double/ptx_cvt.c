/* cvt: between all types, with roundings and saturation. The pairs that code is full of are vector
 * loops; the rest goes lane by lane, through 64-bit integers and doubles that hold every source. */
#include <fenv.h>

#include "ptx_lanes.h"
#include "ptx_math.h"

static bool is_float(ptx_type type)
{
    return ptx_type_class(type) == 'f';
}

static bool is_signed(ptx_type type)
{
    return ptx_type_class(type) == 's';
}

static bool to_integral(ptx_round round)
{
    return round == PTX_rni || round == PTX_rzi || round == PTX_rmi || round == PTX_rpi;
}

/* ---- One value ---- */

typedef struct number {
    uint64_t bits; /* of an integer, extended to 64 */
    double value;  /* of a float */
} number;

static number read_number(const ptx_form *form, ptx_type type, const char *from)
{
    number n = {0};
    size_t bytes = (size_t)ptx_type_bytes(type);
    ptx_copy_bits(&n.bits, from, bytes);
    if (type == PTX_f64) {
        memcpy(&n.value, &n.bits, 8);
    } else if (type == PTX_f32) {
        float value;
        memcpy(&value, &n.bits, 4);
        n.value = PTX_HAS(form, ftz) ? ptx_flush(value) : value;
    } else if (is_float(type)) {
        n.value = ptx_from_half((uint16_t)n.bits, type == PTX_bf16);
    } else if (is_signed(type) && bytes < 8) {
        int shift = 64 - (int)bytes * 8;
        n.bits = (uint64_t)((int64_t)(n.bits << shift) >> shift);
    }
    return n;
}

static double integral(ptx_round round, double value)
{
    switch (round) {
    case PTX_rni: return nearbyint(value);
    case PTX_rzi: return trunc(value);
    case PTX_rmi: return floor(value);
    case PTX_rpi: return ceil(value);
    default: return value;
    }
}

/* A NaN gives 0 where neither side has 64 bits, and otherwise the highest bit (PTX 9.7.9, cvt). */
static uint64_t float_to_int(ptx_type to, ptx_type from, ptx_round round, double value)
{
    int width = ptx_type_bytes(to) * 8;
    if (isnan(value))
        return from != PTX_f64 && width < 64 ? 0 : (uint64_t)1 << (width - 1);
    value = integral(round, value);
    double top = (double)((uint64_t)1 << (width - 1)) * (is_signed(to) ? 1 : 2);
    if (is_signed(to)) {
        if (value >= top)
            return ((uint64_t)1 << (width - 1)) - 1;
        return value < -top ? (uint64_t)INT64_MIN >> (64 - width) : (uint64_t)(int64_t)value;
    }
    if (value >= top)
        return ~(uint64_t)0 >> (64 - width);
    return value <= 0 ? 0 : (uint64_t)value;
}

static uint64_t int_to_int(const ptx_form *form, ptx_type to, ptx_type from, uint64_t bits)
{
    int width = ptx_type_bytes(to) * 8;
    if (!PTX_HAS(form, sat))
        return bits;
    bool negative = is_signed(from) && (int64_t)bits < 0;
    if (is_signed(to)) {
        int64_t least = INT64_MIN >> (64 - width), most = INT64_MAX >> (64 - width);
        if (negative)
            return (int64_t)bits < least ? (uint64_t)least : bits;
        return bits > (uint64_t)most ? (uint64_t)most : bits;
    }
    uint64_t most = ~(uint64_t)0 >> (64 - width);
    return negative ? 0 : bits > most ? most : bits;
}

/* The double that rounds to every half and bfloat as the integer does. */
static double sticky_double(uint64_t bits, bool negative)
{
    uint64_t size = negative ? 0 - bits : bits;
    int shift = 0;
    if (size >> 52) {
        shift = 12;
        size = size >> 12 | ((size & 4095) != 0);
    }
    double value = ldexp((double)size, shift);
    return negative ? -value : value;
}

static uint64_t bits_of_f32(const ptx_form *form, float value)
{
    uint32_t bits;
    if (PTX_HAS(form, sat))
        value = value > 0 ? (value < 1 ? value : 1) : 0;
    if (PTX_HAS(form, ftz))
        value = ptx_flush(value);
    memcpy(&bits, &value, 4);
    return value == value ? bits : 0x7fffffffu;
}

static uint64_t bits_of_f64(const ptx_form *form, double value)
{
    uint64_t bits;
    if (PTX_HAS(form, sat))
        value = value > 0 ? (value < 1 ? value : 1) : 0;
    memcpy(&bits, &value, 8);
    return bits;
}

static double clamped(const ptx_form *form, double value)
{
    return PTX_HAS(form, sat) ? (value > 0 ? (value < 1 ? value : 1) : 0) : value;
}

/* The host rounds as the form says while this runs. */
static uint64_t int_to_float(const ptx_form *form, ptx_type to, ptx_type from, uint64_t bits)
{
    bool negative = is_signed(from) && (int64_t)bits < 0;
    volatile uint64_t size = negative ? 0 - bits : bits;
    volatile int64_t whole = (int64_t)bits;
    if (to == PTX_f64) {
        volatile double value = is_signed(from) ? (double)whole : (double)size;
        return bits_of_f64(form, value);
    }
    if (to == PTX_f32) {
        volatile float value = is_signed(from) ? (float)whole : (float)size;
        return bits_of_f32(form, value);
    }
    return ptx_to_half(clamped(form, sticky_double(bits, negative)), to == PTX_bf16,
                       (ptx_round)form->round);
}

static uint64_t float_to_float(const ptx_form *form, ptx_type to, double value)
{
    volatile double wide = integral((ptx_round)form->round, value);
    if (to == PTX_f64)
        return bits_of_f64(form, wide);
    if (to == PTX_f32) {
        volatile float narrow = (float)wide;
        return bits_of_f32(form, narrow);
    }
    ptx_round round = to_integral((ptx_round)form->round) ? PTX_rn : (ptx_round)form->round;
    return ptx_to_half(clamped(form, wide), to == PTX_bf16, round);
}

static uint64_t convert(const ptx_form *form, const char *from)
{
    ptx_type to = (ptx_type)form->type[0], source = (ptx_type)form->type[1];
    number n = read_number(form, source, from);
    if (is_float(source))
        return is_float(to) ? float_to_float(form, to, n.value)
                            : float_to_int(to, source, (ptx_round)form->round, n.value);
    return is_float(to) ? int_to_float(form, to, source, n.bits)
                        : int_to_int(form, to, source, n.bits);
}

/* Cut to the type's width, then extended to the register's. */
static uint64_t extended(ptx_type type, uint64_t bits)
{
    int shift = 64 - ptx_type_bytes(type) * 8;
    bits <<= shift;
    return is_signed(type) ? (uint64_t)((int64_t)bits >> shift) : bits >> shift;
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

static void cvt(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    const ptx_form *form = &inst->form;
    const char *from = warp->columns + inst->at[1];
    char *to = warp->columns + inst->at[0];
    uint64_t r[PTX_LANES];
    int before = fegetround();
    fesetround(host_rounding((ptx_round)form->round));
    EACH_LANE (l)
        r[l] = extended((ptx_type)form->type[0], convert(form, from + l * inst->bytes[1]));
    fesetround(before);
    EACH_LANE (l)
        if (ACTIVE(l))
            ptx_copy_bits(to + l * inst->bytes[0], &r[l], inst->bytes[0]);
}

/* Whether PTX has that conversion with that rounding. */
static bool is_legal(const ptx_form *form)
{
    ptx_type to = (ptx_type)form->type[0], from = (ptx_type)form->type[1];
    ptx_round round = (ptx_round)form->round;
    bool narrower = ptx_type_bytes(to) < ptx_type_bytes(from) ||
                    (to != from && ptx_type_bytes(to) == ptx_type_bytes(from));
    if (!is_float(from) && !is_float(to))
        return round == PTX_NO_ROUND;
    if (!is_float(to))
        return to_integral(round);
    if (!is_float(from))
        return round != PTX_NO_ROUND && !to_integral(round);
    if (narrower)
        return round != PTX_NO_ROUND && !to_integral(round);
    return round == PTX_NO_ROUND || (to == from && to_integral(round));
}

ptx_fn *ptx_choose_cvt(const ptx_form *form)
{
    return is_legal(form) ? cvt : NULL;
}

/* ---- The frequent pairs, in registers of just their types ---- */

#define INT32_OF_FLOAT(a) \
    ((a) != (a) ? 0 : (a) >= 0x1p31f ? INT32_MAX : (a) < -0x1p31f ? INT32_MIN : (int32_t)(a))
#define INT_OF_DOUBLE(a, LEAST, MOST, TOP) \
    ((a) != (a) || (a) < -(TOP) ? (LEAST) : (a) >= (TOP) ? (MOST) : (int64_t)(a))
#define FLOAT_OF_DOUBLE(a) ((a) != (a) ? __builtin_nanf("0x3fffff") : (float)(a))
UNARY(u64_u32, u64, u32, a)
UNARY(s64_s32, s64, s32, a)
UNARY(u32_u64, u32, u64, a)
UNARY(u32_u16, u32, u16, a)
UNARY(s32_s16, s32, s16, a)
UNARY(u16_u32, u16, u32, a)
UNARY(f32_s32, f32, s32, a)
UNARY(f32_u32, f32, u32, a)
UNARY(f64_s32, f64, s32, a)
UNARY(f64_u32, f64, u32, a)
UNARY(s32_f32, s32, f32, INT32_OF_FLOAT(a))
UNARY(u32_f32, u32, f32, (a) >= 0x1p32f ? UINT32_MAX : (a) > 0 ? (uint32_t)(a) : 0)
UNARY(s64_f32, s64, f32, INT_OF_DOUBLE(a, INT64_MIN, INT64_MAX, 0x1p63f))
UNARY(f32_u16, f32, u16, a)
UNARY(f32_f16, f32, u16, FLOAT_OF_DOUBLE(ptx_from_half(a, false)))
UNARY(f32_bf16, f32, u16, FLOAT_OF_DOUBLE(ptx_from_half(a, true)))
UNARY(f16_f32, u16, f32, ptx_to_half(a, false, PTX_rn))
UNARY(bf16_f32, u16, f32, ptx_to_half(a, true, PTX_rn))
UNARY(f32_s64, f32, s64, a)
UNARY(f32_u64, f32, u64, a)
UNARY(f64_s64, f64, s64, a)
UNARY(f64_u64, f64, u64, a)
UNARY(f64_f32, f64, f32, a)
UNARY(f32_f64, f32, f64, FLOAT_OF_DOUBLE(a))
UNARY(s32_f64, s32, f64, INT_OF_DOUBLE(a, INT32_MIN, INT32_MAX, 0x1p31))
UNARY(s64_f64, s64, f64, INT_OF_DOUBLE(a, INT64_MIN, INT64_MAX, 0x1p63))
#define INTEGRAL(round, of) \
    UNARY(f32_##round, f32, f32, (a) != (a) ? __builtin_nanf("0x3fffff") : __builtin_##of##f(a)) \
    UNARY(f64_##round, f64, f64, __builtin_##of(a))
INTEGRAL(rni, rint)
INTEGRAL(rzi, trunc)
INTEGRAL(rmi, floor)
INTEGRAL(rpi, ceil)

static const struct {
    ptx_type to, from;
    ptx_round round;
    ptx_fn *fn;
} frequent[] = {
    {PTX_u64, PTX_u32, PTX_NO_ROUND, u64_u32}, {PTX_s64, PTX_s32, PTX_NO_ROUND, s64_s32},
    {PTX_s64, PTX_u32, PTX_NO_ROUND, u64_u32}, {PTX_u64, PTX_s32, PTX_NO_ROUND, s64_s32},
    {PTX_u32, PTX_u64, PTX_NO_ROUND, u32_u64}, {PTX_u32, PTX_s64, PTX_NO_ROUND, u32_u64},
    {PTX_s32, PTX_u64, PTX_NO_ROUND, u32_u64}, {PTX_s32, PTX_s64, PTX_NO_ROUND, u32_u64},
    {PTX_u32, PTX_u16, PTX_NO_ROUND, u32_u16}, {PTX_s32, PTX_u16, PTX_NO_ROUND, u32_u16},
    {PTX_s32, PTX_s16, PTX_NO_ROUND, s32_s16}, {PTX_u32, PTX_s16, PTX_NO_ROUND, s32_s16},
    {PTX_u16, PTX_u32, PTX_NO_ROUND, u16_u32}, {PTX_s16, PTX_s32, PTX_NO_ROUND, u16_u32},
    {PTX_f32, PTX_s32, PTX_rn, f32_s32},       {PTX_f32, PTX_u32, PTX_rn, f32_u32},
    {PTX_f64, PTX_s32, PTX_rn, f64_s32},       {PTX_f64, PTX_u32, PTX_rn, f64_u32},
    {PTX_s32, PTX_f32, PTX_rzi, s32_f32},      {PTX_f32, PTX_s64, PTX_rn, f32_s64},
    {PTX_f32, PTX_u64, PTX_rn, f32_u64},       {PTX_f64, PTX_s64, PTX_rn, f64_s64},
    {PTX_f64, PTX_u64, PTX_rn, f64_u64},       {PTX_f64, PTX_f32, PTX_NO_ROUND, f64_f32},
    {PTX_f32, PTX_f64, PTX_rn, f32_f64},       {PTX_s32, PTX_f64, PTX_rzi, s32_f64},
    {PTX_s64, PTX_f64, PTX_rzi, s64_f64},      {PTX_u32, PTX_f32, PTX_rzi, u32_f32},
    {PTX_s64, PTX_f32, PTX_rzi, s64_f32},      {PTX_f32, PTX_u16, PTX_rn, f32_u16},
    {PTX_f32, PTX_f16, PTX_NO_ROUND, f32_f16}, {PTX_f32, PTX_bf16, PTX_NO_ROUND, f32_bf16},
    {PTX_f16, PTX_f32, PTX_rn, f16_f32},       {PTX_bf16, PTX_f32, PTX_rn, bf16_f32},
    {PTX_f32, PTX_f32, PTX_rni, f32_rni},      {PTX_f64, PTX_f64, PTX_rni, f64_rni},
    {PTX_f32, PTX_f32, PTX_rzi, f32_rzi},      {PTX_f64, PTX_f64, PTX_rzi, f64_rzi},
    {PTX_f32, PTX_f32, PTX_rmi, f32_rmi},      {PTX_f64, PTX_f64, PTX_rmi, f64_rmi},
    {PTX_f32, PTX_f32, PTX_rpi, f32_rpi},      {PTX_f64, PTX_f64, PTX_rpi, f64_rpi},
};

ptx_fn *ptx_choose_conversion(const ptx_inst *inst)
{
    const ptx_form *form = &inst->form;
    ptx_type to = (ptx_type)form->type[0], from = (ptx_type)form->type[1];
    bool exact = inst->bytes[0] == ptx_type_bytes(to) && inst->bytes[1] == ptx_type_bytes(from);
    if (!exact || form->flags)
        return inst->fn;
    for (size_t i = 0; i < sizeof frequent / sizeof *frequent; i++)
        if (frequent[i].to == to && frequent[i].from == from && frequent[i].round == form->round)
            return frequent[i].fn;
    return inst->fn;
}

/* ---- Two floats to a pair of halves: the first operand is the upper half ---- */

static uint16_t to_half_of_pair(const ptx_form *form, float value)
{
    if (PTX_HAS(form, relu) && !(value > 0) && value == value)
        value = 0;
    return ptx_to_half(value, form->type[0] == PTX_bf16x2, (ptx_round)form->round);
}

static void cvt_pack(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    const ptx_form *form = &inst->form;
    uint32_t r[PTX_LANES];
    EACH_LANE (l)
        r[l] = (uint32_t)to_half_of_pair(form, COLUMN(f32, 1)[l]) << 16 |
               to_half_of_pair(form, COLUMN(f32, 2)[l]);
    KEEP(r);
}
CHOICE1(ptx_choose_cvt_pack, cvt_pack)
