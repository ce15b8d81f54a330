/* Moving: registers, packing and taking apart, addresses between windows. */
#include "ptx_lanes.h"

UNARY(mov_16, u16, u16, a)
UNARY(mov_32, u32, u32, a)
UNARY(mov_64, u64, u64, a)

static void mov_128(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    char *to = warp->columns + inst->at[0];
    const char *from = warp->columns + inst->at[1];
    EACH_LANE (l)
        if (ACTIVE(l))
            memmove(to + l * 16, from + l * 16, 16);
}

ptx_fn *ptx_choose_mov(const ptx_form *form)
{
    switch (ptx_type_bytes((ptx_type)form->type[0])) {
    case 2: return mov_16;
    case 4: return mov_32;
    case 8: return mov_64;
    default: return mov_128;
    }
}

static void mov_pred(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    ptx_keep_predicate(warp, inst, 0, ptx_read_predicate(warp, inst, 1), lanes);
}
CHOICE1(ptx_choose_mov_pred, mov_pred)

/* Operand 0 is the whole, 1 to vec its parts, the lowest first. The whole is built apart, as a part
 * may be the whole's own register. */
void ptx_pack(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    size_t bytes = inst->bytes[0], part = bytes / inst->form.vec;
    char whole[PTX_LANES * 16];
    for (size_t k = 0; k < inst->form.vec; k++) {
        const char *from = warp->columns + inst->at[k + 1];
        for (size_t l = 0; l < PTX_LANES; l++)
            ptx_copy_bits(whole + l * bytes + k * part, from + l * part, part);
    }
    for (size_t l = 0; l < PTX_LANES; l++)
        if (lanes >> l & 1)
            ptx_copy_bits(warp->columns + inst->at[0] + l * bytes, whole + l * bytes, bytes);
}

void ptx_unpack(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    size_t bytes = inst->bytes[0], part = bytes / inst->form.vec;
    char whole[PTX_LANES * 16];
    memcpy(whole, warp->columns + inst->at[0], bytes * PTX_LANES);
    for (size_t k = 0; k < inst->form.vec; k++) {
        char *to = warp->columns + inst->at[k + 1];
        for (size_t l = 0; l < PTX_LANES; l++)
            if (lanes >> l & 1)
                ptx_copy_bits(to + l * part, whole + l * bytes + k * part, part);
    }
}

/* ---- Addresses ---- */

static uint64_t window_of(const ptx_form *form)
{
    return form->space == PTX_shared ? PTX_SHARED_WINDOW : PTX_LOCAL_WINDOW;
}

UNARY(cvta_to_generic, u64, u64, a + window_of(&inst->form))
UNARY(cvta_to_space, u64, u64, a - window_of(&inst->form))

ptx_fn *ptx_choose_cvta(const ptx_form *form)
{
    if (form->type[0] != PTX_u64)
        return NULL;
    return PTX_HAS(form, to) ? cvta_to_space : cvta_to_generic;
}

static void isspacep(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    uint32_t out = 0;
    EACH_LANE (l) {
        uint64_t a = COLUMN(u64, 1)[l];
        uint64_t window = a >= PTX_CODE_WINDOW     ? PTX_CODE_WINDOW
                          : a >= PTX_LOCAL_WINDOW  ? PTX_LOCAL_WINDOW
                          : a >= PTX_SHARED_WINDOW ? PTX_SHARED_WINDOW
                                                   : 0;
        bool is = inst->form.space == PTX_shared  ? window == PTX_SHARED_WINDOW
                  : inst->form.space == PTX_local ? window == PTX_LOCAL_WINDOW
                                                  : window == 0;
        out |= (uint32_t)is << l;
    }
    ptx_keep_predicate(warp, inst, 0, out, lanes);
}
CHOICE1(ptx_choose_isspacep, isspacep)

/* ---- What changes as it is read ---- */

/* Cycles are instructions of the warp, so that a seed gives the same; imm is 32 of %clock_hi. */
enum { CYCLES = 256 }; /* of an instruction of a warp among many */

void ptx_read_clock(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    uint64_t now = warp->steps * CYCLES >> inst->imm;
    uint64_t r64[PTX_LANES];
    uint32_t r32[PTX_LANES];
    EACH_LANE (l) {
        r64[l] = now;
        r32[l] = (uint32_t)now;
    }
    if (inst->bytes[0] == 8)
        KEEP(r64);
    else
        KEEP(r32);
}

static void activemask(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    uint32_t r[PTX_LANES];
    EACH_LANE (l)
        r[l] = lanes;
    KEEP(r);
}
CHOICE1(ptx_choose_activemask, activemask)

static void nothing(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    (void)warp, (void)inst, (void)lanes;
}
CHOICE1(ptx_choose_nothing, nothing)
