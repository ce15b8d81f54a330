/* cp.async: copies to shared memory that arrive as late as they may, when their thread waits for them;
 * until then their place holds no value. What is not waited for never arrives. */
#include <string.h>

#include "ptx_lanes.h"

struct ptx_copy {
    int lane;
    unsigned batch; /* how many batches the lane had committed before */
    unsigned size, from_size;
    char *to;
    const char *from;
};

static void copy(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    const ptx_inst *from = inst + 1; /* see parse_origin */
    bool partial = inst->noperands == 1 && inst->bytes[0] == 4;
    for (uint32_t left = lanes; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        ptx_copy made = {l, warp->batches[l], inst->size, inst->size, NULL, NULL};
        if (partial && COLUMN(u32, 0)[l] > made.size) {
            ptx_raise(warp, inst, l, 715, "a copy of %u bytes from %u", made.size,
                      COLUMN(u32, 0)[l]);
            return;
        }
        made.from_size = partial ? COLUMN(u32, 0)[l] : made.size;
        made.to = (char *)ptx_locate_piece(warp, inst, l, made.size, made.size, true);
        if (made.to && made.from_size)
            made.from =
                (const char *)ptx_locate_piece(warp, from, l, made.size, made.from_size, false);
        if (!made.to || (made.from_size && !made.from))
            return;
        memset(made.to, 0xcd, made.size);
        warp->copies =
            ptx_grow(warp->copies, warp->ncopies, &warp->copies_room, sizeof *warp->copies);
        warp->copies[warp->ncopies++] = made;
    }
}
CHOICE1(ptx_choose_copy, copy)

static void commit(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    (void)inst;
    EACH_LANE (l)
        warp->batches[l] += ACTIVE(l);
}
CHOICE1(ptx_choose_copy_commit, commit)

/* Of the lanes, all but the newest batches arrive. */
static void deliver(ptx_warp *warp, uint32_t lanes, uint64_t newest)
{
    size_t kept = 0;
    for (size_t i = 0; i < warp->ncopies; i++) {
        const ptx_copy *c = &warp->copies[i];
        if (!(lanes >> c->lane & 1) || c->batch + newest >= warp->batches[c->lane]) {
            warp->copies[kept++] = *c;
            continue;
        }
        if (c->from_size)
            memcpy(c->to, c->from, c->from_size);
        memset(c->to + c->from_size, 0, c->size - c->from_size);
    }
    warp->ncopies = kept;
}

static void wait(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    deliver(warp, lanes, (uint64_t)inst->imm);
}
CHOICE1(ptx_choose_copy_wait, wait)

static void wait_all(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    commit(warp, inst, lanes);
    deliver(warp, lanes, 0);
}
CHOICE1(ptx_choose_copy_wait_all, wait_all)
