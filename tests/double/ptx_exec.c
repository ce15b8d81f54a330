/* A warp's lanes, run in groups that stand at the same instruction.
 *
 * Unless lanes are to stay apart (ptx_apart.c), the group that is deepest in calls and then at the lowest instruction runs, so that lanes that
 * went apart meet again where their ways do. Lanes may wait for one another all the same (a spin
 * lock), so a group that keeps others from running, most of all with atomic and volatile accesses,
 * loses its turn to one of them now and then. */
#include <stdlib.h>

#include "ptx_lanes.h"

enum {
    PATIENCE = 30000, /* instructions before another group of the warp gets a turn */
    SPIN_COST = 200,  /* what an access that may be a spin counts for */
    MAX_DEPTH = 2000, /* of calls */
};

/* ---- Frames ---- */

static uint32_t special_value(const ptx_warp *warp, ptx_special what, unsigned lane)
{
    const ptx_launch *launch = warp->exec->launch;
    const unsigned *n = launch->block;
    unsigned thread = (unsigned)warp->index * PTX_LANES + lane;
    switch (what) {
    case PTX_SR_tid_x: return thread % n[0];
    case PTX_SR_tid_y: return thread / n[0] % n[1];
    case PTX_SR_tid_z: return thread / n[0] / n[1];
    case PTX_SR_ntid_x: return n[0];
    case PTX_SR_ntid_y: return n[1];
    case PTX_SR_ntid_z: return n[2];
    case PTX_SR_ctaid_x: return warp->block->id[0];
    case PTX_SR_ctaid_y: return warp->block->id[1];
    case PTX_SR_ctaid_z: return warp->block->id[2];
    case PTX_SR_nctaid_x: return launch->grid[0];
    case PTX_SR_nctaid_y: return launch->grid[1];
    case PTX_SR_nctaid_z: return launch->grid[2];
    case PTX_SR_laneid: return lane;
    case PTX_SR_warpid: return (uint32_t)warp->index;
    case PTX_SR_nwarpid: return (uint32_t)warp->exec->nwarps;
    case PTX_SR_smid: return (uint32_t)warp->block->serial % 4;
    case PTX_SR_nsmid: return 4;
    case PTX_SR_lanemask_eq: return 1u << lane;
    case PTX_SR_lanemask_lt: return (1u << lane) - 1;
    case PTX_SR_lanemask_le: return (1u << lane) - 1 + (1u << lane);
    case PTX_SR_lanemask_ge: return ~((1u << lane) - 1);
    case PTX_SR_lanemask_gt: return ~((1u << lane) - 1) - (1u << lane);
    case PTX_SR_warp_size: return PTX_LANES;
    case PTX_SR_dynamic_smem: return (uint32_t)launch->dynamic_shared;
    case PTX_SR_total_smem: return (uint32_t)warp->exec->shared_size;
    default: return 0; /* %gridid */
    }
}

static void fill(char *column, unsigned bytes, uint64_t value)
{
    if (bytes == 0) {
        memcpy(column, &value, 4);
        return;
    }
    for (unsigned l = 0; l < PTX_LANES; l++) {
        if (bytes == 4)
            memcpy(column + l * 4, &value, 4);
        else if (bytes == 8)
            memcpy(column + l * 8, &value, 8);
        else
            memcpy(column + l * bytes, &value, bytes);
    }
}

/* What is different from block to block; the rest is only when the frame is new. */
static bool is_of_block(ptx_special what)
{
    return what == PTX_SR_ctaid_x || what == PTX_SR_ctaid_y || what == PTX_SR_ctaid_z ||
           what == PTX_SR_smid;
}

static void fill_specials(ptx_warp *warp, ptx_frame *frame)
{
    const ptx_function *f = frame->function;
    bool is_new = frame->block < 0;
    for (size_t i = 0; i < f->nspecials; i++) {
        const ptx_special_use *use = &f->specials[i];
        char *column = frame->columns + use->at;
        if (is_of_block(use->what))
            fill(column, use->bytes, special_value(warp, use->what, 0));
        for (unsigned l = 0; l < PTX_LANES && is_new && !is_of_block(use->what); l++) {
            uint64_t value = special_value(warp, use->what, l);
            memcpy(column + l * use->bytes, &value, use->bytes);
        }
    }
    frame->block = warp->block->serial;
}

static void fill_constants(ptx_frame *frame)
{
    const ptx_function *f = frame->function;
    for (size_t i = 0; i < f->nconstants; i++) {
        const ptx_constant *c = &f->constants[i];
        uint64_t value = c->value;
        if (c->symbol && c->symbol->kind == PTX_FUNCTION)
            value += PTX_CODE_WINDOW + (uint64_t)c->symbol->function->index * 16;
        else if (c->symbol)
            value +=
                c->symbol->var->address + (c->symbol->var->space == PTX_local ? frame->local : 0);
        fill(frame->columns + c->at, c->bytes, value);
    }
}

static ptx_frame *new_frame(ptx_warp *warp, const ptx_function *f, ptx_frame *caller, int site)
{
    ptx_frame *frame = calloc(1, sizeof *frame);
    char *columns = ptx_take(ptx_columns_size(f)), *params = ptx_take(ptx_params_size(f));
    if (!frame || !columns || !params)
        abort();
    memset(columns, 0xcd, f->frame);
    memset(params, 0, ptx_params_size(f));
    *frame =
        (ptx_frame){.next = warp->frames,
                    .caller = caller,
                    .site = site,
                    .depth = caller ? caller->depth + 1 : 0,
                    .function = f,
                    .columns = columns,
                    .params = params,
                    .local = caller ? (caller->local + caller->function->local + 15) / 16 * 16 : 0,
                    .block = -1};
    warp->frames = frame;
    fill_constants(frame);
    size_t local = frame->local + f->local;
    if (local > warp->local_size) { /* a lane's memory grows; what it held stays */
        size_t stride = ptx_stride(local), before = ptx_stride(warp->local_size);
        char *grown = ptx_take(stride * PTX_LANES);
        if (!grown)
            abort();
        memset(grown, 0xcd, stride * PTX_LANES);
        for (size_t l = 0; l < PTX_LANES && warp->local_size; l++)
            memcpy(grown + l * stride, warp->local + l * before, warp->local_size);
        ptx_give(warp->local, before * PTX_LANES);
        warp->local = grown;
        warp->local_size = local;
    }
    return frame;
}

ptx_frame *ptx_enter(ptx_warp *warp, const ptx_function *function, ptx_frame *caller, int site)
{
    ptx_frame *frame = warp->frames;
    while (frame && (frame->caller != caller || frame->site != site || frame->function != function))
        frame = frame->next;
    if (!frame)
        frame = new_frame(warp, function, caller, site);
    if (frame->block != warp->block->serial)
        fill_specials(warp, frame);
    return frame;
}

/* ---- Groups ---- */

ptx_group *ptx_split(ptx_warp *warp, uint32_t lanes, int pc, ptx_state state)
{
    ptx_group *from = &warp->groups[warp->current];
    if (lanes == from->lanes) {
        from->pc = pc;
        from->state = state;
        return from;
    }
    ptx_group *group = &warp->groups[warp->ngroups++];
    *group = *from;
    from->lanes &= ~lanes;
    group->lanes = lanes;
    group->pc = pc;
    group->state = state;
    return group;
}

static void join(ptx_warp *warp)
{
    for (int i = 0; i < warp->ngroups; i++) {
        ptx_group *a = &warp->groups[i];
        for (int k = i + 1; k < warp->ngroups;) {
            ptx_group *b = &warp->groups[k];
            bool same = a->pc == b->pc && a->frame == b->frame && a->state == PTX_RUNS &&
                        b->state == PTX_RUNS;
            if (same)
                a->lanes |= b->lanes;
            if (same || !b->lanes)
                *b = warp->groups[--warp->ngroups];
            else
                k++;
        }
        if (!a->lanes && i < warp->ngroups)
            warp->groups[i--] = warp->groups[--warp->ngroups];
    }
}

static bool before(const ptx_group *a, const ptx_group *b)
{
    if (a->frame->depth != b->frame->depth)
        return a->frame->depth > b->frame->depth;
    return a->pc < b->pc;
}

/* Where the running group will stand beside another: it joins that one there. */
static void look_ahead(ptx_warp *warp)
{
    const ptx_group *g = &warp->groups[warp->current];
    warp->meets = INT32_MAX;
    for (int i = 0; i < warp->ngroups && !warp->exec->launch->apart; i++) {
        const ptx_group *other = &warp->groups[i];
        if (i != warp->current && other->state == PTX_RUNS && other->frame == g->frame &&
            other->pc > g->pc && other->pc < warp->meets)
            warp->meets = other->pc;
    }
}

static void select_group(ptx_warp *warp, int index)
{
    ptx_group *g = &warp->groups[index];
    warp->current = index;
    warp->frame = g->frame;
    warp->columns = g->frame->columns;
    warp->active = g->lanes;
    look_ahead(warp);
}

/* Joins groups that can run together and picks the one to go on with, for that many turns at most;
 * false when none runs. */
static bool settle(ptx_warp *warp, int *turns)
{
    int best = -1, running = 0;
    if (warp->exec->launch->apart) {
        best = ptx_pick_apart(warp, turns);
        if (best >= 0)
            select_group(warp, best);
        return best >= 0;
    }
    join(warp);
    for (int i = 0; i < warp->ngroups; i++) {
        if (warp->groups[i].state != PTX_RUNS)
            continue;
        running++;
        if (best < 0 || before(&warp->groups[i], &warp->groups[best]))
            best = i;
    }
    if (best < 0)
        return false;
    if (running == 1) {
        warp->impatience = 0;
    } else if (warp->impatience > PATIENCE) { /* anyone's turn */
        int turn = (int)(ptx_random(warp->exec) % (unsigned)running);
        for (best = 0; warp->groups[best].state != PTX_RUNS || turn-- > 0;)
            best++;
        if (warp->impatience > PATIENCE + PATIENCE / 8)
            warp->impatience = 0;
    }
    select_group(warp, best);
    return true;
}

/* ---- Control ---- */

static void branch(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    ptx_group *g = &warp->groups[warp->current];
    if (lanes == g->lanes) {
        g->pc = inst->target;
        return;
    }
    g->pc++;
    if (lanes)
        ptx_split(warp, lanes, inst->target, PTX_RUNS);
}

static void branch_table(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    const ptx_targets *targets = warp->exec->module->targets[inst->target];
    const ptx_u32 *index = COLUMN(u32, 0);
    ptx_group *g = &warp->groups[warp->current];
    int pc = g->pc;
    for (uint32_t left = lanes; left;) {
        uint32_t first = (uint32_t)__builtin_ctz(left), together = 0;
        if (index[first] >= (uint32_t)targets->count) {
            ptx_raise(warp, inst, (int)first, 719, "brx.idx with %u of %d targets", index[first],
                      targets->count);
            return;
        }
        EACH_LANE (l)
            if ((left & ptx_bit[l]) && index[l] == index[first])
                together |= ptx_bit[l];
        left &= ~together;
        g = &warp->groups[warp->current];
        if (together == g->lanes) {
            g->pc = targets->at[index[first]];
            return;
        }
        ptx_split(warp, together, targets->at[index[first]], PTX_RUNS);
    }
    g->pc = pc + 1; /* lanes that did not branch */
}

static void copy_params(ptx_frame *to, ptx_var *const *to_vars, const ptx_frame *from,
                        ptx_var *const *from_vars, int count, uint32_t lanes)
{
    for (int k = 0; k < count; k++) {
        size_t size = to_vars[k]->size;
        EACH_LANE (l)
            if (ACTIVE(l)) {
                memcpy(to->params + (size_t)l * ptx_stride(to->function->call_params) +
                           to_vars[k]->address - PTX_CALL_PARAMS,
                       from->params + (size_t)l * ptx_stride(from->function->call_params) +
                           from_vars[k]->address - PTX_CALL_PARAMS,
                       size);
            }
    }
}

static bool sizes_fit(const ptx_call *call, const ptx_function *f)
{
    if (call->nargs != f->nparams || call->nresults != f->nresults)
        return false;
    for (int k = 0; k < call->nargs; k++)
        if (call->args[k]->size != f->params[k]->size)
            return false;
    for (int k = 0; k < call->nresults; k++)
        if (call->results[k]->size != f->results[k]->size)
            return false;
    return true;
}

static const ptx_function *callee_of(ptx_warp *warp, const ptx_inst *inst, const ptx_call *call,
                                     int lane)
{
    if (call->callee)
        return call->callee;
    uint64_t index = (COLUMN(u64, 0)[lane] - PTX_CODE_WINDOW) / 16;
    return index < (uint64_t)warp->exec->module->nfunctions ? warp->exec->module->by_index[index]
                                                            : NULL;
}

static void call(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    const ptx_call *call = &warp->exec->module->calls[inst->target];
    ptx_frame *frame = warp->frame;
    int site = warp->groups[warp->current].pc;
    if (lanes != warp->groups[warp->current].lanes)
        ptx_split(warp, warp->groups[warp->current].lanes & ~lanes, site + 1, PTX_RUNS);
    while (lanes) {
        int first = __builtin_ctz(lanes);
        const ptx_function *f = callee_of(warp, inst, call, first);
        uint32_t together = 0;
        if (f && f->devrt && sizes_fit(call, f)) {
            if (ptx_call_devrt(warp, inst, call, lanes))
                warp->groups[warp->current].pc = site + 1;
            return;
        }
        if (!f || !f->defined || !sizes_fit(call, f)) {
            ptx_raise(warp, inst, first, 719, "a call of no function of that kind");
            return;
        }
        if (frame->depth >= MAX_DEPTH) {
            ptx_raise(warp, inst, first, 700, "calls too deep");
            return;
        }
        EACH_LANE (l)
            if ((lanes & ptx_bit[l]) && callee_of(warp, inst, call, l) == f)
                together |= ptx_bit[l];
        ptx_frame *inner = ptx_enter(warp, f, frame, site);
        copy_params(inner, f->params, frame, call->args, call->nargs, together);
        lanes &= ~together;
        ptx_group *g = ptx_split(warp, together, f->first, PTX_RUNS);
        g->frame = inner;
    }
}

static void give_back(ptx_warp *warp, uint32_t lanes)
{
    ptx_group *g = &warp->groups[warp->current];
    ptx_frame *frame = g->frame, *caller = frame->caller;
    const ptx_call *call = &warp->exec->module->calls[warp->exec->module->code[frame->site].target];
    int next = g->pc + 1;
    copy_params(caller, call->results, frame, frame->function->results, call->nresults, lanes);
    if (lanes != g->lanes)
        ptx_split(warp, g->lanes & ~lanes, next, PTX_RUNS);
    g = &warp->groups[warp->current];
    g->pc = frame->site + 1;
    g->frame = caller;
}

static void end_lanes(ptx_warp *warp, uint32_t lanes)
{
    ptx_group *g = &warp->groups[warp->current];
    g->lanes &= ~lanes;
    g->pc++;
    ptx_leave(warp, lanes);
}

/* What the executor does itself; the group's pc is the instruction's. */
static void control(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes)
{
    ptx_group *g = &warp->groups[warp->current];
    switch ((ptx_control)inst->control) {
    case PTX_BRA: branch(warp, inst, lanes); return;
    case PTX_BRX: branch_table(warp, inst, lanes); return;
    case PTX_PAUSE:
        warp->impatience += PATIENCE;
        g->pc++;
        return;
    default: break;
    }
    if (!lanes) {
        g->pc++;
        return;
    }
    switch ((ptx_control)inst->control) {
    case PTX_CALL: call(warp, inst, lanes); break;
    case PTX_RET: give_back(warp, lanes); break;
    case PTX_EXIT: end_lanes(warp, lanes); break;
    case PTX_SYNC: ptx_meet(warp, inst, lanes); break;
    case PTX_BARRIER: ptx_barrier_arrive(warp, inst, lanes); break;
    default: ptx_raise(warp, inst, __builtin_ctz(lanes), 719, "trap"); break;
    }
}

/* Runs the selected group until it branches apart, meets another, waits, or has used its turns;
 * those that are left. */
static int straight(ptx_warp *warp, int turns)
{
    const ptx_exec *exec = warp->exec;
    ptx_group *g = &warp->groups[warp->current];
    const ptx_inst *code = exec->module->code;
    const uint32_t group = g->lanes;
    int pc = g->pc;
    while (turns-- > 0) {
        const ptx_inst *inst = &code[pc];
        uint32_t lanes = group;
        if (inst->guarded)
            lanes &=
                *(const ptx_u32 *)(const void *)(warp->columns + inst->guard) ^ inst->guard_flip;
        if (inst->control <= PTX_CHECK) {
            if (lanes) {
                inst->fn(warp, inst, lanes);
                if (inst->control == PTX_CHECK) {
                    if (exec->code)
                        return 0;
                    warp->impatience += (unsigned)inst->spins * SPIN_COST;
                }
            }
            pc++;
        } else if (inst->control == PTX_BRA && (lanes == group || !lanes)) {
            bool back = lanes && inst->target <= pc;
            pc = lanes ? inst->target : pc + 1;
            if (back && warp->ngroups > 1) {
                g->pc = pc;
                look_ahead(warp);
            }
        } else {
            g->pc = pc;
            control(warp, inst, lanes);
            return inst->control == PTX_PAUSE ? 0 : turns;
        }
        if (pc >= warp->meets)
            break;
    }
    g->pc = pc;
    return turns;
}

void ptx_run_warp(ptx_warp *warp, int turns)
{
    int most = turns;
    while (turns > 0 && settle(warp, &most)) {
        int used = most - straight(warp, most);
        if (warp->exec->code)
            return;
        warp->steps += (uint64_t)used;
        warp->impatience += (uint64_t)used;
        most = turns -= used;
    }
    if (turns > 0)
        ptx_check_waiting(warp);
}
