/* One launch: blocks and their warps, in an order that the seed decides. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "ptx_lanes.h"

enum { RESIDENT = 4, SHORT_TURN = 64, LONG_TURN = 512 };

uint64_t ptx_random(ptx_exec *exec)
{
    uint64_t z = exec->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* ---- Faults ---- */

static const char *file_of(const ptx_module *module, int file)
{
    return file >= 0 && (size_t)file < module->nfiles && module->files[file] ? module->files[file]
                                                                             : "";
}

void ptx_raise(ptx_warp *warp, const ptx_inst *inst, int lane, int code, const char *format, ...)
{
    ptx_exec *exec = warp->exec;
    const unsigned *n = exec->launch->block, *id = warp->block->id;
    unsigned thread = (unsigned)warp->index * PTX_LANES + (unsigned)lane;
    char what[360], where[120] = "";
    if (exec->code)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    ptx_fault *fault = exec->fault;
    exec->code = code;
    fault->line = inst->line;
    memcpy(fault->block, id, sizeof fault->block);
    fault->thread[0] = thread % n[0];
    fault->thread[1] = thread / n[0] % n[1];
    fault->thread[2] = thread / n[0] / n[1];
    if (inst->loc_line)
        snprintf(where, sizeof where, " (%.100s:%d)", file_of(exec->module, inst->loc_file),
                 inst->loc_line);
    snprintf(fault->text, sizeof fault->text,
             "%s, kernel %.60s, PTX line %d%s, block (%u, %u, %u), thread (%u, %u, %u)", what,
             exec->entry->name, inst->line, where, id[0], id[1], id[2], fault->thread[0],
             fault->thread[1], fault->thread[2]);
}

/* ---- Blocks ---- */

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static void start_warp(ptx_exec *exec, ptx_block *block, int index)
{
    ptx_warp *warp = &block->warps[index];
    int threads = exec->nthreads - index * PTX_LANES;
    warp->alive = threads >= PTX_LANES ? PTX_FULL : (1u << threads) - 1;
    if (warp->local_size)
        memset(warp->local, 0xcd, ptx_stride(warp->local_size) * PTX_LANES);
    ptx_frame *frame = ptx_enter(warp, exec->entry, NULL, 0);
    warp->groups[0] = (ptx_group){.lanes = warp->alive, .pc = exec->entry->first, .frame = frame};
    warp->ngroups = 1;
    warp->current = 0;
    warp->impatience = warp->steps = 0;
    warp->ncopies = 0;
    memset(warp->batches, 0, sizeof warp->batches);
}

/* Shared memory holds no zeros by chance. */
static void start_block(ptx_exec *exec, ptx_block *block, const unsigned id[3])
{
    block->serial = exec->serial++;
    memcpy(block->id, id, sizeof block->id);
    block->alive = (unsigned)exec->nthreads;
    memset(block->barriers, 0, sizeof block->barriers);
    memset(block->shared, 0xcd, exec->shared_size);
    for (int i = 0; i < block->nwarps; i++)
        start_warp(exec, block, i);
}

static void make_block(ptx_exec *exec, ptx_block *block)
{
    block->nwarps = exec->nwarps;
    block->warps = must(calloc((size_t)exec->nwarps, sizeof *block->warps));
    block->shared = must(ptx_take(exec->shared_size + 1));
    for (int i = 0; i < exec->nwarps; i++) {
        block->warps[i].exec = exec;
        block->warps[i].block = block;
        block->warps[i].index = i;
    }
}

static void free_block(const ptx_exec *exec, ptx_block *block)
{
    for (int i = 0; i < block->nwarps; i++) {
        ptx_warp *warp = &block->warps[i];
        while (warp->frames) {
            ptx_frame *frame = warp->frames;
            warp->frames = frame->next;
            ptx_give(frame->columns, ptx_columns_size(frame->function));
            ptx_give(frame->params, ptx_params_size(frame->function));
            free(frame);
        }
        ptx_give(warp->local, ptx_stride(warp->local_size) * PTX_LANES);
        free(warp->copies);
    }
    free(block->warps);
    ptx_give(block->shared, exec->shared_size + 1);
}

static bool can_run(const ptx_warp *warp)
{
    for (int i = 0; i < warp->ngroups; i++)
        if (warp->groups[i].state == PTX_RUNS && warp->groups[i].lanes)
            return true;
    return false;
}

/* One turn of one warp of the block. */
static void run_block_turn(ptx_exec *exec, ptx_block *block)
{
    int start = (int)(ptx_random(exec) % (unsigned)block->nwarps);
    for (int i = 0; i < block->nwarps; i++) {
        ptx_warp *warp = &block->warps[(start + i) % block->nwarps];
        if (!can_run(warp))
            continue;
        ptx_run_warp(warp, SHORT_TURN + (int)(ptx_random(exec) % LONG_TURN));
        if (!exec->code && exec->launch->steps && warp->steps > exec->launch->steps)
            ptx_raise(warp, &exec->module->code[warp->groups[0].pc],
                      __builtin_ctz(warp->alive ? warp->alive : 1), 702,
                      "no end after %llu instructions", (unsigned long long)warp->steps);
        return;
    }
    ptx_report_waiting(block);
}

/* ---- The grid ---- */

static uint64_t gcd(uint64_t a, uint64_t b)
{
    return b ? gcd(b, a % b) : a;
}

/* Block k of the order: a walk through the grid in steps that reach each block once. */
typedef struct order {
    uint64_t count, start, step;
} order;

static order make_order(ptx_exec *exec)
{
    const unsigned *g = exec->launch->grid;
    order o = {(uint64_t)g[0] * g[1] * g[2], 0, 1};
    if (exec->launch->seed == 0)
        return o;
    o.start = ptx_random(exec) % o.count;
    o.step = 1 + ptx_random(exec) % (o.count < 1u << 20 ? o.count : 1u << 20);
    while (gcd(o.step, o.count) != 1)
        o.step++;
    return o;
}

static void start_next(ptx_exec *exec, ptx_block *block, const order *o, uint64_t k)
{
    __extension__ typedef unsigned __int128 wide;
    const unsigned *g = exec->launch->grid;
    uint64_t index = (uint64_t)(((wide)k * o->step + o->start) % o->count);
    unsigned id[3] = {(unsigned)(index % g[0]), (unsigned)(index / g[0] % g[1]),
                      (unsigned)(index / g[0] / g[1])};
    start_block(exec, block, id);
}

static void run_grid(ptx_exec *exec)
{
    order o = make_order(exec);
    bool all = exec->launch->cooperative || o.count < RESIDENT;
    int resident = all ? (int)o.count : RESIDENT;
    ptx_block *blocks = must(calloc((size_t)resident, sizeof *blocks));
    uint64_t started = 0, ended = 0;
    for (int i = 0; i < resident; i++) {
        make_block(exec, &blocks[i]);
        start_next(exec, &blocks[i], &o, started++);
    }
    while (ended < o.count && !exec->code) {
        ptx_block *block = &blocks[ptx_random(exec) % (unsigned)resident];
        if (block->alive == 0)
            continue;
        run_block_turn(exec, block);
        if (block->alive == 0 && !exec->code) {
            ended++;
            if (started < o.count)
                start_next(exec, block, &o, started++);
        }
    }
    for (int i = 0; i < resident; i++)
        free_block(exec, &blocks[i]);
    free(blocks);
}

int ptx_run(const ptx_launch *launch, ptx_fault *fault)
{
    const ptx_kernel *kernel = launch->kernel;
    ptx_module *module = kernel->module;
    *fault = (ptx_fault){0};
    ptx_exec exec = {.launch = launch, .module = module, .entry = kernel->function, .fault = fault};
    exec.nthreads = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
    exec.nwarps = (exec.nthreads + PTX_LANES - 1) / PTX_LANES;
    exec.dynamic_shared = PTX_SHARED_BASE + (module->shared + 1023) / 1024 * 1024;
    exec.shared_size = (size_t)(exec.dynamic_shared - PTX_SHARED_BASE) + launch->dynamic_shared;
    exec.launched_end = &exec.launched;
    exec.random = launch->seed;
    exec.spans = must(calloc((size_t)module->spans + 1, sizeof *exec.spans));
    run_grid(&exec);
    ptx_run_pending(&exec);
    ptx_free_marks(&exec);
    free(exec.spans);
    return exec.code;
}
