/* Atomic updates: lane after lane, as nothing else runs meanwhile. */
#include "ptx_lanes.h"
#include "ptx_math.h"

/* What stands in memory after an update of `old` with b (and, of cas, c). */
typedef uint64_t update_fn(ptx_pick op, uint64_t old, uint64_t b, uint64_t c);

#define INTEGER(T, U) \
    static uint64_t update_##T(ptx_pick op, uint64_t old, uint64_t operand, uint64_t other) \
    { \
        ptx_##T a = (ptx_##T)old, b = (ptx_##T)operand; \
        switch (op) { \
        case PTX_add: return (ptx_##U)((ptx_##U)a + (ptx_##U)b); \
        case PTX_min: return (ptx_##U)(a < b ? a : b); \
        case PTX_max: return (ptx_##U)(a > b ? a : b); \
        case PTX_inc: return (ptx_##U)((ptx_##U)a >= (ptx_##U)b ? 0 : a + 1); \
        case PTX_dec: return (ptx_##U)(a == 0 || (ptx_##U)a > (ptx_##U)b ? b : a - 1); \
        case PTX_and: return (ptx_##U)(a & b); \
        case PTX_or: return (ptx_##U)(a | b); \
        case PTX_xor: return (ptx_##U)(a ^ b); \
        case PTX_exch: return (ptx_##U)b; \
        default: return a == b ? (ptx_##U)other : (ptx_##U)a; /* cas */ \
        } \
    }
INTEGER(u16, u16)
INTEGER(u32, u32)
INTEGER(s32, u32)
INTEGER(u64, u64)
INTEGER(s64, u64)

static float float_of(uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, 4);
    return value;
}

static uint64_t add_f32(float a, float b, bool ftz)
{
    float sum = ftz ? ptx_flush(ptx_flush(a) + ptx_flush(b)) : a + b;
    uint32_t bits;
    memcpy(&bits, &sum, 4);
    return sum == sum ? bits : 0x7fffffffu;
}

/* atom.add.f32 flushes subnormals in global memory and keeps them in shared memory (PTX 9.7.13). */
static uint64_t add_f32_global(ptx_pick op, uint64_t old, uint64_t b, uint64_t c)
{
    (void)op, (void)c;
    return add_f32(float_of(old), float_of(b), true);
}

static uint64_t add_f32_shared(ptx_pick op, uint64_t old, uint64_t b, uint64_t c)
{
    (void)op, (void)c;
    return add_f32(float_of(old), float_of(b), false);
}

static uint64_t add_f64(ptx_pick op, uint64_t old, uint64_t operand, uint64_t c)
{
    double a, b;
    (void)op, (void)c;
    memcpy(&a, &old, 8);
    memcpy(&b, &operand, 8);
    a += b;
    memcpy(&old, &a, 8);
    return old;
}

static uint64_t add_halves(uint64_t old, uint64_t b, bool bf16, int count)
{
    uint64_t result = 0;
    for (int k = 0; k < count * 16; k += 16) {
        double sum =
            ptx_from_half((uint16_t)(old >> k), bf16) + ptx_from_half((uint16_t)(b >> k), bf16);
        result |= (uint64_t)ptx_to_half(sum, bf16, PTX_rn) << k;
    }
    return result;
}

#define HALVES(name, bf16, count) \
    static uint64_t name(ptx_pick op, uint64_t old, uint64_t b, uint64_t c) \
    { \
        (void)op, (void)c; \
        return add_halves(old, b, bf16, count); \
    }
HALVES(add_f16, false, 1)
HALVES(add_f16x2, false, 2)
HALVES(add_bf16, true, 1)
HALVES(add_bf16x2, true, 2)

static update_fn *update_of(const ptx_form *form, bool shared)
{
    static update_fn *const updates[PTX_TYPES] = {
        [PTX_b16] = update_u16,     [PTX_b32] = update_u32, [PTX_u32] = update_u32,
        [PTX_s32] = update_s32,     [PTX_b64] = update_u64, [PTX_u64] = update_u64,
        [PTX_s64] = update_s64,     [PTX_f64] = add_f64,    [PTX_f16] = add_f16,
        [PTX_f16x2] = add_f16x2,    [PTX_bf16] = add_bf16,  [PTX_bf16x2] = add_bf16x2,
        [PTX_f32] = add_f32_global,
    };
    return form->type[0] == PTX_f32 && shared ? add_f32_shared : updates[form->type[0]];
}

static bool is_legal(const ptx_form *form)
{
    ptx_type type = (ptx_type)form->type[0];
    ptx_pick op = (ptx_pick)form->pick[0];
    if (ptx_type_class(type) == 'f')
        return op == PTX_add;
    if (op == PTX_inc || op == PTX_dec)
        return type == PTX_u32;
    return op != PTX_add || type != PTX_s64;
}

/* The first of the operands read is slot `from`. */
static void update(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes, int from, bool keeps)
{
    unsigned bytes = (unsigned)ptx_type_bytes((ptx_type)inst->form.type[0]);
    EACH_LANE (l)
        if (ACTIVE(l)) {
            uintptr_t where = ptx_locate(warp, inst, l, bytes, true);
            if (!where)
                return;
            bool shared = warp->exec->spans[inst->span].base == PTX_OF_BLOCK;
            uint64_t old = 0, b = 0, c = 0;
            ptx_copy_bits(&old, (const void *)where, bytes);
            ptx_copy_bits(&b, COLUMN(u8, from) + (unsigned)l * bytes, bytes);
            if (inst->form.pick[0] == PTX_cas)
                ptx_copy_bits(&c, COLUMN(u8, from + 1) + (unsigned)l * bytes, bytes);
            uint64_t now = update_of(&inst->form, shared)((ptx_pick)inst->form.pick[0], old, b, c);
            ptx_copy_bits((void *)where, &now, bytes);
            if (keeps)
                ptx_copy_bits(COLUMN(u8, 0) + (unsigned)l * bytes, &old, bytes);
        }
}

static void atom(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    update(warp, inst, lanes, 1, true);
}

static void red(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    update(warp, inst, lanes, 0, false);
}

ptx_fn *ptx_choose_atom(const ptx_form *form)
{
    return is_legal(form) ? atom : NULL;
}

ptx_fn *ptx_choose_red(const ptx_form *form)
{
    return is_legal(form) ? red : NULL;
}
