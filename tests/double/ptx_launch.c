/* CUDA's device runtime: grids that kernels launch run when theirs has ended. Those that one block launched run in the
 * order of its launches, each with all that comes of it, since a block's threads share a stream. */
#include <stdlib.h>
#include <string.h>

#include "ptx_lanes.h"

enum {
    MAX_PENDING = 2048, /* what a driver has room for, unless it is told otherwise */
    ROOM = 1 << 16,     /* addresses of a buffer */
};

/* A buffer of parameters, and when it is launched a grid. */
struct ptx_pending {
    ptx_pending *next;
    const ptx_kernel *kernel;
    unsigned grid[3], block[3], number;
    int by; /* which block, by its serial number */
    char *params;
};

static uint64_t address_of(const ptx_pending *p)
{
    return PTX_LAUNCH_WINDOW + (uint64_t)p->number * ROOM;
}

static ptx_pending *buffer_at(const ptx_exec *exec, uint64_t address)
{
    ptx_pending *p = exec->buffers;
    while (p && address - address_of(p) >= ROOM)
        p = p->next;
    return p;
}

bool ptx_find_buffer(const ptx_exec *exec, uint64_t address, ptx_span *span)
{
    const ptx_pending *p = buffer_at(exec, address);
    if (!p)
        return false;
    *span =
        (ptx_span){address_of(p), p->kernel->info.param_size, (uintptr_t)p->params, PTX_ABSOLUTE};
    return address - span->begin < span->size;
}

/* ---- Calls ---- */

/* Argument or result k of a lane's call, in the caller's parameter memory. */
static char *passed(ptx_warp *warp, ptx_var *const *vars, int k, int lane)
{
    size_t stride = ptx_stride(warp->frame->function->call_params);
    return warp->frame->params + (size_t)lane * stride + vars[k]->address - PTX_CALL_PARAMS;
}

static const ptx_kernel *kernel_at(const ptx_module *m, uint64_t address)
{
    for (int i = 0; i < m->nkernels; i++)
        if (PTX_CODE_WINDOW + (uint64_t)m->kernels[i].function->index * 16 == address)
            return &m->kernels[i];
    return NULL;
}

static bool fits(const ptx_pending *p, unsigned shared)
{
    const ptx_kernel_info *info = &p->kernel->info;
    uint64_t threads = (uint64_t)p->block[0] * p->block[1] * p->block[2];
    bool wanted = !info->required[0] || !memcmp(info->required, p->block, sizeof p->block);
    bool some = p->grid[0] && p->grid[1] && p->grid[2] && threads;
    return wanted && some && shared == 0 && threads <= (uint64_t)info->max_threads &&
           p->grid[0] <= INT32_MAX && p->grid[1] <= 65535 && p->grid[2] <= 65535;
}

static bool call_get_buffer(ptx_warp *warp, const ptx_inst *inst, const ptx_call *call, int lane)
{
    ptx_exec *exec = warp->exec;
    ptx_pending made = {.next = exec->buffers, .number = exec->npending, .by = warp->block->serial};
    uint64_t function, buffer = 0;
    unsigned shared;
    memcpy(&function, passed(warp, call->args, 0, lane), sizeof function);
    memcpy(made.grid, passed(warp, call->args, 1, lane), sizeof made.grid);
    memcpy(made.block, passed(warp, call->args, 2, lane), sizeof made.block);
    memcpy(&shared, passed(warp, call->args, 3, lane), sizeof shared);
    made.kernel = kernel_at(exec->module, function);
    if (!made.kernel) {
        ptx_raise(warp, inst, lane, 719, "a launch of what is no kernel");
        return false;
    }
    if (fits(&made, shared) && exec->npending < MAX_PENDING) {
        ptx_pending *p = malloc(sizeof *p);
        made.params = malloc(made.kernel->info.param_size + 1);
        if (!p || !made.params)
            abort();
        memset(made.params, 0xcd, made.kernel->info.param_size);
        *p = made;
        exec->buffers = p;
        exec->npending++;
        buffer = address_of(p);
    }
    memcpy(passed(warp, call->results, 0, lane), &buffer, sizeof buffer);
    return true;
}

static void take_out(ptx_pending **list, const ptx_pending *p)
{
    while (*list != p)
        list = &(*list)->next;
    *list = p->next;
}

static bool call_launch(ptx_warp *warp, const ptx_inst *inst, const ptx_call *call, int lane)
{
    uint64_t buffer, stream;
    uint32_t status = 0;
    memcpy(&buffer, passed(warp, call->args, 0, lane), sizeof buffer);
    memcpy(&stream, passed(warp, call->args, 1, lane), sizeof stream);
    ptx_pending *p = buffer_at(warp->exec, buffer);
    if (!p || address_of(p) != buffer || stream) {
        ptx_raise(warp, inst, lane, 719, "a launch of no buffer, or in a stream");
        return false;
    }
    take_out(&warp->exec->buffers, p);
    p->next = NULL;
    *warp->exec->launched_end = p;
    warp->exec->launched_end = &p->next;
    memcpy(passed(warp, call->results, 0, lane), &status, sizeof status);
    return true;
}

bool ptx_call_devrt(ptx_warp *warp, const ptx_inst *inst, const ptx_call *call, uint32_t lanes)
{
    bool get = call->callee->devrt == PTX_GET_BUFFER;
    for (; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        if (!(get ? call_get_buffer : call_launch)(warp, inst, call, lane))
            return false;
    }
    return true;
}

/* ---- What was launched ---- */

static void run_one(ptx_exec *exec, const ptx_pending *p)
{
    ptx_launch launch = {.kernel = p->kernel,
                         .params = p->params,
                         .seed = exec->launch->seed ? ptx_random(exec) : 0,
                         .steps = exec->launch->steps,
                         .apart = exec->launch->apart};
    memcpy(launch.grid, p->grid, sizeof launch.grid);
    memcpy(launch.block, p->block, sizeof launch.block);
    if (!exec->code)
        exec->code = ptx_run(&launch, exec->fault);
}

static void free_list(ptx_pending *p)
{
    for (ptx_pending *next; p; p = next) {
        next = p->next;
        free(p->params);
        free(p);
    }
}

/* In an order of the seed's: those of the blocks from some block on, and then those of the blocks before it. */
void ptx_run_pending(ptx_exec *exec)
{
    int first = exec->launched ? (int)(ptx_random(exec) % (unsigned)exec->serial) : 0;
    for (const ptx_pending *p = exec->launched; p; p = p->next)
        if (p->by >= first)
            run_one(exec, p);
    for (const ptx_pending *p = exec->launched; p; p = p->next)
        if (p->by < first)
            run_one(exec, p);
    free_list(exec->launched);
    free_list(exec->buffers);
}
