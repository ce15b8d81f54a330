/* Shuffles, votes and matches (shfl.sync, vote.sync, match.sync): values exchanged by the lanes of a warp; `lanes` are
 * those whose partners are all here. */
#include "ptx_lanes.h"
#include "ptx_math.h"

/* What a lane gets from one that takes no part: PTX leaves it open. */
#define NOBODYS 0xdeadbeefu

/* PTX 9.7.9: c holds the last lane of a segment and, from bit 8, the bits that name it. */
static void shfl(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    uint32_t r[PTX_LANES], valid = 0;
    EACH_LANE (l) {
        uint32_t lane = (uint32_t)l, b = COLUMN(u32, 3)[l] & 31, c = COLUMN(u32, 4)[l];
        uint32_t segment = c >> 8 & 31, last = (lane & segment) | (c & 31 & ~segment), from;
        bool in_range;
        switch ((ptx_pick)inst->form.pick[0]) {
        case PTX_up:
            from = lane - b;
            in_range = (int32_t)from >= (int32_t)last;
            break;
        case PTX_down:
            from = lane + b;
            in_range = from <= last;
            break;
        case PTX_bfly:
            from = lane ^ b;
            in_range = from <= last;
            break;
        default:
            from = (lane & segment) | (b & ~segment);
            in_range = from <= last;
            break;
        }
        if (!in_range)
            from = lane;
        r[l] = lanes >> from & 1 ? COLUMN(u32, 2)[from] : NOBODYS;
        valid |= (uint32_t)in_range << l;
    }
    ptx_keep_predicate(warp, inst, 1, valid, lanes);
    KEEP(r);
}
CHOICE1(ptx_choose_shfl, shfl)

static void ballot(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    uint32_t r[PTX_LANES], word = ptx_read_predicate(warp, inst, 1) & lanes;
    EACH_LANE (l)
        r[l] = word;
    KEEP(r);
}

static void vote(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    uint32_t word = ptx_read_predicate(warp, inst, 1) & lanes;
    bool all = word == lanes, any = word != 0;
    bool holds = inst->form.pick[0] == PTX_all   ? all
                 : inst->form.pick[0] == PTX_any ? any
                                                 : all || !any;
    ptx_keep_predicate(warp, inst, 0, holds ? PTX_FULL : 0, lanes);
}

ptx_fn *ptx_choose_vote(const ptx_form *form)
{
    return form->type[0] == PTX_b32 ? ballot : vote;
}

static uint64_t value_of(const ptx_warp *warp, const ptx_inst *inst, int k, int lane)
{
    return inst->bytes[k] == 8 ? COLUMN(u64, k)[lane] : COLUMN(u32, k)[lane];
}

static void match_any(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    uint32_t r[PTX_LANES];
    EACH_LANE (l) {
        r[l] = 0;
        for (int k = 0; k < PTX_LANES; k++)
            if ((lanes >> k & 1) && value_of(warp, inst, 1, k) == value_of(warp, inst, 1, l))
                r[l] |= ptx_bit[k];
    }
    KEEP(r);
}

static void match_all(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    uint32_t r[PTX_LANES];
    uint64_t first = value_of(warp, inst, 2, __builtin_ctz(lanes));
    bool same = true;
    EACH_LANE (l)
        if (ACTIVE(l))
            same &= value_of(warp, inst, 2, l) == first;
    EACH_LANE (l)
        r[l] = same ? lanes : 0;
    ptx_keep_predicate(warp, inst, 1, same ? PTX_FULL : 0, lanes);
    KEEP(r);
}

ptx_fn *ptx_choose_match(const ptx_form *form)
{
    return form->pick[0] == PTX_all ? match_all : match_any;
}

static uint32_t reduced(const ptx_form *form, uint32_t a, uint32_t b)
{
    bool is_signed = form->type[0] == PTX_s32;
    bool less = is_signed ? (int32_t)a < (int32_t)b : a < b;
    switch ((ptx_pick)form->pick[0]) {
    case PTX_add: return a + b;
    case PTX_min: return less ? a : b;
    case PTX_max: return less ? b : a;
    case PTX_and: return a & b;
    case PTX_or: return a | b;
    default: return a ^ b;
    }
}

static uint32_t reduced_float(const ptx_form *form, uint32_t a, uint32_t b)
{
    float x, y, r;
    if (PTX_HAS(form, abs)) {
        a &= 0x7fffffffu;
        b &= 0x7fffffffu;
    }
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    r = form->pick[0] == PTX_min ? ptx_min(x, y, PTX_HAS(form, NaN))
                                 : ptx_max(x, y, PTX_HAS(form, NaN));
    memcpy(&a, &r, 4);
    return a;
}

static void redux(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    uint32_t r[PTX_LANES], total = COLUMN(u32, 1)[__builtin_ctz(lanes)];
    bool floating = inst->form.type[0] == PTX_f32;
    if (floating)
        total = reduced_float(&inst->form, total, total);
    EACH_LANE (l)
        if ((lanes & (lanes - 1)) & ptx_bit[l]) {
            uint32_t value = COLUMN(u32, 1)[l];
            total = floating ? reduced_float(&inst->form, total, value)
                             : reduced(&inst->form, total, value);
        }
    EACH_LANE (l)
        r[l] = total;
    KEEP(r);
}
CHOICE1(ptx_choose_redux, redux)

static void elect(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    uint32_t r[PTX_LANES], leader = (uint32_t)__builtin_ctz(lanes);
    EACH_LANE (l)
        r[l] = leader;
    ptx_keep_predicate(warp, inst, 1, ptx_bit[leader], lanes);
    KEEP(r);
}
CHOICE1(ptx_choose_elect, elect)
