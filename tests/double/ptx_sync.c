/* Lanes and warps that wait for one another. */
#include <stdio.h>

#include "ptx_lanes.h"

/* Lanes that wait at the running group's instruction join it. */
static void gather(ptx_warp *warp)
{
    ptx_group *g = &warp->groups[warp->current];
    for (int i = 0; i < warp->ngroups; i++) {
        ptx_group *other = &warp->groups[i];
        if (i != warp->current && other->state == PTX_WAITS_WARP && other->pc == g->pc &&
            other->frame == g->frame) {
            g->lanes |= other->lanes;
            other->lanes = 0;
        }
    }
    warp->active = g->lanes;
}

static uint32_t guarded_lanes(const ptx_warp *warp, const ptx_inst *inst)
{
    uint32_t lanes = warp->active;
    if (inst->guarded)
        lanes &= *(const ptx_u32 *)(const void *)(warp->columns + inst->guard) ^ inst->guard_flip;
    return lanes;
}

/* The others of the group go on. */
static ptx_group *wait_here(ptx_warp *warp, uint32_t lanes, ptx_state state)
{
    ptx_group *g = &warp->groups[warp->current];
    int pc = g->pc;
    ptx_group *waiting = ptx_split(warp, lanes, pc, state);
    if (waiting != g)
        g->pc = pc + 1;
    return waiting;
}

/* Do lanes that wait at these two meet? Those of bar.warp.sync do wherever they are. */
static bool meet_at(const ptx_warp *warp, const ptx_group *a, const ptx_group *b)
{
    const ptx_inst *code = warp->exec->module->code;
    bool no_values = code[a->pc].noperands == 1 && code[b->pc].noperands == 1;
    return a->mask == b->mask && (no_values || (a->pc == b->pc && a->frame == b->frame));
}

static bool waits_at(const ptx_warp *warp, const ptx_group *g, ptx_control what)
{
    return g->state == PTX_WAITS_WARP && g->lanes &&
           warp->exec->module->code[g->pc].control == what;
}

/* Lanes that wait for the group's lanes, with another instruction or mask, and it for them. */
static void check_crossing(ptx_warp *warp, const ptx_inst *inst, const ptx_group *g)
{
    for (int i = 0; i < warp->ngroups; i++) {
        const ptx_group *other = &warp->groups[i];
        if (other == g || !waits_at(warp, other, PTX_SYNC) || meet_at(warp, g, other))
            continue;
        if ((other->mask & g->lanes) && (g->mask & other->lanes))
            ptx_raise(warp, inst, __builtin_ctz(g->lanes), 719,
                      "lanes 0x%08x come with mask 0x%08x, and lanes 0x%08x wait for them at PTX "
                      "line %d with mask 0x%08x",
                      g->lanes, g->mask, other->lanes, warp->exec->module->code[other->pc].line,
                      other->mask);
    }
}

/* Lanes with one mask: they wait, or all whom it names are here and go on together. */
static void arrive(ptx_warp *warp, const ptx_inst *inst, ptx_group *g)
{
    uint32_t here = 0;
    for (int i = 0; i < warp->ngroups; i++) {
        ptx_group *other = &warp->groups[i];
        if (!waits_at(warp, other, PTX_SYNC) || !meet_at(warp, g, other))
            continue;
        here |= other->lanes;
        if (other != g && other->pc == g->pc && other->frame == g->frame) {
            g->lanes |= other->lanes;
            other->lanes = 0;
        }
    }
    if (g->mask & warp->alive & ~here) {
        check_crossing(warp, inst, g);
        return;
    }
    inst->fn(warp, inst, g->lanes);
    for (int i = 0; i < warp->ngroups; i++) {
        ptx_group *other = &warp->groups[i];
        if (other != g && waits_at(warp, other, PTX_SYNC) && meet_at(warp, g, other)) {
            other->state = PTX_RUNS;
            other->pc++;
        }
    }
    g->state = PTX_RUNS;
    g->pc++;
}

void ptx_meet(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    const ptx_group *g = &warp->groups[warp->current];
    const ptx_u32 *masks = COLUMN(u32, inst->noperands - 1);
    int pc = g->pc;
    if (lanes != g->lanes)
        ptx_split(warp, g->lanes & ~lanes, pc + 1, PTX_RUNS);
    for (uint32_t left = lanes; left && !warp->exec->code;) {
        uint32_t mask = masks[__builtin_ctz(left)], together = 0;
        EACH_LANE (l)
            if ((left & ptx_bit[l]) && masks[l] == mask)
                together |= ptx_bit[l];
        left &= ~together;
        if (together & ~mask) {
            ptx_raise(warp, inst, __builtin_ctz(together & ~mask), 719,
                      "a thread that is not in the mask 0x%08x of its own instruction", mask);
            return;
        }
        ptx_group *arriving = ptx_split(warp, together, pc, PTX_WAITS_WARP);
        arriving->mask = mask;
        arrive(warp, inst, arriving);
    }
}

/* ---- Barriers of a block ---- */

static bool is_reduction(const ptx_inst *inst)
{
    return inst->form.npicks != 0;
}

static void deliver(ptx_warp *warp, const ptx_group *group, const ptx_barrier *barrier)
{
    const ptx_inst *inst = &warp->exec->module->code[group->pc];
    uint32_t r[PTX_LANES];
    if (!is_reduction(inst))
        return;
    warp->columns = group->frame->columns;
    uint32_t lanes = group->lanes;
    if (inst->form.pick[0] == PTX_popc) {
        EACH_LANE (l)
            r[l] = barrier->hits;
        KEEP(r);
        return;
    }
    bool holds =
        inst->form.pick[0] == PTX_and ? barrier->hits == barrier->waiting : barrier->hits != 0;
    ptx_keep_predicate(warp, inst, 0, holds ? PTX_FULL : 0, lanes);
}

/* Lets everybody who waits go on when all have come. */
static void complete(ptx_block *block, int id)
{
    ptx_barrier *barrier = &block->barriers[id];
    unsigned needed = barrier->expected ? barrier->expected : block->alive;
    unsigned have = barrier->expected ? barrier->arrived : barrier->waiting;
    if (have == 0 || have < needed)
        return;
    for (int w = 0; w < block->nwarps; w++) {
        ptx_warp *warp = &block->warps[w];
        for (int i = 0; i < warp->ngroups; i++) {
            ptx_group *g = &warp->groups[i];
            if (g->state != PTX_WAITS_BLOCK || g->barrier != id || !g->lanes)
                continue;
            deliver(warp, g, barrier);
            g->state = PTX_RUNS;
            g->pc++;
        }
    }
    *barrier = (ptx_barrier){0};
}

static bool check_barrier(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes, uint32_t id,
                          uint32_t count)
{
    const char *mistake = NULL;
    const ptx_barrier *barrier = &warp->block->barriers[id % PTX_BARRIERS];
    if (id >= PTX_BARRIERS)
        mistake = "there are 16 barriers only";
    else if (count % PTX_LANES != 0)
        mistake = "a barrier's threads are whole warps";
    else if ((barrier->waiting || barrier->arrived) && barrier->expected != count)
        mistake = "threads come to a barrier with different counts";
    if (mistake)
        ptx_raise(warp, inst, __builtin_ctz(lanes), 719, "%s", mistake);
    return !mistake;
}

void ptx_barrier_arrive(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    bool aligned = PTX_HAS(&inst->form, aligned), arrives = PTX_HAS(&inst->form, arrive);
    int first_operand = is_reduction(inst) ? 1 : 0;
    gather(warp);
    lanes = guarded_lanes(warp, inst);
    if (aligned && lanes != warp->alive) { /* the others must come here, too */
        wait_here(warp, lanes, PTX_WAITS_WARP);
        return;
    }
    int first = __builtin_ctz(lanes);
    uint32_t id = COLUMN(u32, first_operand)[first];
    uint32_t count = inst->bytes[first_operand + 1] ? COLUMN(u32, first_operand + 1)[first] : 0;
    if (!check_barrier(warp, inst, lanes, id, count))
        return;
    ptx_barrier *barrier = &warp->block->barriers[id];
    unsigned threads = (unsigned)__builtin_popcount(lanes);
    barrier->expected = count;
    barrier->arrived += aligned ? PTX_LANES : threads;
    if (is_reduction(inst))
        barrier->hits += (unsigned)__builtin_popcount(ptx_read_predicate(warp, inst, 3) & lanes);
    if (arrives) {
        warp->groups[warp->current].pc++;
    } else {
        barrier->waiting += threads;
        wait_here(warp, lanes, PTX_WAITS_BLOCK)->barrier = (int)id;
    }
    complete(warp->block, (int)id);
}

/* bar.sync is barrier.sync.aligned: the parser says so in the form. */
ptx_fn *ptx_choose_bar(const ptx_form *form)
{
    return ptx_choose_nothing(form);
}

void ptx_leave(ptx_warp *warp, uint32_t lanes)
{
    ptx_block *block = warp->block;
    warp->alive &= ~lanes;
    block->alive -= (unsigned)__builtin_popcount(lanes);
    for (int i = 0; i < warp->ngroups; i++)
        if (warp->groups[i].state == PTX_WAITS_WARP)
            warp->groups[i].state = PTX_RUNS;
    for (int id = 0; id < PTX_BARRIERS; id++)
        complete(block, id);
}

/* ---- Nobody can run ---- */

/* Where others of the warp wait: ", 0xffff0000 at PTX line 40". */
static void tell_others(const ptx_warp *warp, const ptx_group *g, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < warp->ngroups; i++) {
        const ptx_group *other = &warp->groups[i];
        if (other != g && other->lanes && used < size)
            used += (size_t)snprintf(text + used, size - used, ", 0x%08x at PTX line %d",
                                     other->lanes, warp->exec->module->code[other->pc].line);
    }
}

/* The first that wait in that state are told; false when none does. */
static bool report_group(ptx_warp *warp, ptx_state state)
{
    char others[120];
    for (int i = 0; i < warp->ngroups; i++) {
        const ptx_group *g = &warp->groups[i];
        const ptx_inst *inst = &warp->exec->module->code[g->pc];
        if (!g->lanes || g->state != state)
            continue;
        const char *what = inst->control == PTX_SYNC
                               ? "lanes wait for others of their warp that never come"
                           : g->state == PTX_WAITS_WARP
                               ? "divergent barrier: not all threads of the warp come to it"
                               : "threads wait at a barrier that others never reach";
        tell_others(warp, g, others, sizeof others);
        ptx_raise(warp, inst, __builtin_ctz(g->lanes), 719, "%s: lanes 0x%08x here%s", what,
                  g->lanes, others);
        return true;
    }
    return false;
}

void ptx_check_waiting(ptx_warp *warp)
{
    for (int i = 0; i < warp->ngroups; i++)
        if (warp->groups[i].lanes && warp->groups[i].state == PTX_WAITS_BLOCK)
            return; /* another warp may let them go on */
    report_group(warp, PTX_WAITS_WARP);
}

bool ptx_report_waiting(ptx_block *block)
{
    static const ptx_state states[] = {PTX_WAITS_WARP, PTX_WAITS_BLOCK};
    for (int s = 0; s < 2; s++)
        for (int w = 0; w < block->nwarps; w++)
            if (report_group(&block->warps[w], states[s]))
                return true;
    return false;
}
