/* Launches, and how many blocks fit. */
#include "double.h"
#include <stdlib.h>
#include <string.h>

typedef struct drv_launch_op {
    drv_op op;
    drv_module *module;
    ptx_launch launch;
    ptx_fault fault;
    _Alignas(16) char params[];
} drv_launch_op;

/* ---- What may be launched ---- */

static CUresult check_sizes(const drv_function *f, const unsigned grid[3], const unsigned block[3],
                            unsigned shared)
{
    static const unsigned most_block[3] = {1024, 1024, 64},
                          most_grid[3] = {INT32_MAX, 65535, 65535};
    const ptx_kernel_info *info = f->info;
    for (int i = 0; i < 3; i++) {
        if (block[i] == 0 || block[i] > most_block[i] || grid[i] == 0 || grid[i] > most_grid[i])
            return misuse(CUDA_ERROR_INVALID_VALUE,
                          "%s: a grid of %u x %u x %u blocks of %u x %u x %u threads", f->name,
                          grid[0], grid[1], grid[2], block[0], block[1], block[2]);
    }
    unsigned threads = block[0] * block[1] * block[2];
    if (threads > 1024 || threads > (unsigned)info->max_threads)
        return misuse(CUDA_ERROR_INVALID_VALUE, "%s: %u threads a block, more than %d", f->name,
                      threads, info->max_threads < 1024 ? info->max_threads : 1024);
    if (info->required[0] && memcmp(info->required, block, sizeof info->required))
        return misuse(CUDA_ERROR_INVALID_VALUE,
                      "%s: blocks of %u x %u x %u threads, compiled for %u x %u x %u", f->name,
                      block[0], block[1], block[2], info->required[0], info->required[1],
                      info->required[2]);
    if (shared > (unsigned)(f->dynamic < 0 ? 0 : f->dynamic) ||
        shared + info->shared > (size_t)config()->chip->optin)
        return misuse(CUDA_ERROR_INVALID_VALUE,
                      "%s: %u bytes of dynamic and %zu of static shared memory; the function "
                      "allows %d and the chip %d",
                      f->name, shared, info->shared, f->dynamic, config()->chip->optin);
    return CUDA_SUCCESS;
}

static CUresult buffer_params(const drv_function *f, void **extra, char *out)
{
    const char *buffer = NULL;
    const size_t *size = NULL;
    for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            size = extra[1];
        else
            return misuse(CUDA_ERROR_INVALID_VALUE, "%s: an entry of `extra` that is not known",
                          f->name);
    }
    if (!buffer || !size || *size != f->info->param_size)
        return misuse(CUDA_ERROR_INVALID_VALUE, "%s: %zu bytes of parameters, not %zu", f->name,
                      size ? *size : 0, f->info->param_size);
    memcpy(out, buffer, f->info->param_size);
    return CUDA_SUCCESS;
}

static CUresult read_params(const drv_function *f, void **params, void **extra, char *out)
{
    if (params && extra)
        return misuse(CUDA_ERROR_INVALID_VALUE, "%s: both kernelParams and extra", f->name);
    if (extra)
        return buffer_params(f, extra, out);
    if (!params && f->info->nparams)
        return misuse(CUDA_ERROR_INVALID_VALUE, "%s: no parameters, but it takes %d", f->name,
                      f->info->nparams);
    for (int i = 0; i < f->info->nparams; i++) {
        if (!params[i])
            return misuse(CUDA_ERROR_INVALID_VALUE, "%s: parameter %d of %d is not there", f->name,
                          i + 1, f->info->nparams);
        memcpy(out + f->info->params[i].offset, params[i], f->info->params[i].size);
    }
    return CUDA_SUCCESS;
}

/* Any parameter that is an address in an allocation is a use of it. */
static void add_uses(drv_launch_op *launch, const drv_function *f)
{
    for (int i = 0; i < f->info->nparams; i++) {
        uint64_t value;
        if (f->info->params[i].size != sizeof value)
            continue;
        memcpy(&value, launch->params + f->info->params[i].offset, sizeof value);
        drv_memory *found =
            memory_is_device(value) ? memory_at(value) : pinned_at((const void *)(uintptr_t)value);
        if (!found)
            continue;
        if (found->freed) {
            misuse(CUDA_ERROR_INVALID_VALUE, "%s: parameter %d, %#llx, was freed by call %llu",
                   f->name, i + 1, (unsigned long long)value, (unsigned long long)found->ended);
            continue;
        }
        if (memory_is_device(value) && !memory_in_reach(found))
            misuse(CUDA_ERROR_INVALID_VALUE,
                   "%s: parameter %d, %#llx, is of device %d, whose memory this one cannot reach",
                   f->name, i + 1, (unsigned long long)value, found->context->device);
        op_uses(&launch->op, found);
    }
}

static int blocks_per_multiprocessor(const drv_function *f, int threads, size_t shared)
{
    const drv_chip *chip = config()->chip;
    int warps = (threads + 31) / 32, registers = (function_registers(f) * 32 + 255) / 256 * 256;
    size_t reserved = chip->sm >= 80 ? 1024 : 0;
    size_t bytes = (f->info->shared + shared + reserved + 127) / 128 * 128;
    int blocks = chip->blocks;
    int by_threads = chip->threads / 32 / warps, by_registers = 65536 / registers / warps;
    blocks = by_threads < blocks ? by_threads : blocks;
    blocks = by_registers < blocks ? by_registers : blocks;
    if (bytes && chip->shared / (int)bytes < blocks)
        blocks = chip->shared / (int)bytes;
    return blocks;
}

/* ---- Launching ---- */

static CUresult run_launch(drv_op *op)
{
    drv_launch_op *launch = (drv_launch_op *)op;
    if (config()->noop)
        return CUDA_SUCCESS;
    pthread_mutex_lock(&launch->module->launching);
    int result = ptx_run(&launch->launch, &launch->fault);
    pthread_mutex_unlock(&launch->module->launching);
    return (CUresult)result;
}

static void finish_launch(drv_op *op, CUresult status)
{
    drv_launch_op *launch = (drv_launch_op *)op;
    if (status && launch->fault.text[0])
        note("%s: %s", error_name(status) ? error_name(status) : "fault", launch->fault.text);
}

/* How a launch is made. */
typedef struct drv_shape {
    unsigned grid[3], block[3], shared;
    bool cooperative;
} drv_shape;

static CUresult check_resident(const drv_function *f, const drv_shape *s)
{
    unsigned threads = s->block[0] * s->block[1] * s->block[2];
    int most = blocks_per_multiprocessor(f, (int)threads, s->shared);
    uint64_t blocks = (uint64_t)s->grid[0] * s->grid[1] * s->grid[2];
    return blocks <= (uint64_t)most * (unsigned)config()->chip->multiprocessors
               ? CUDA_SUCCESS
               : CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

static CUresult launch(CUfunction handle, const drv_shape *s, CUstream in, void **params,
                       void **extra)
{
    const drv_function *function = function_find(handle);
    drv_stream *stream = stream_find(in);
    if (!function || !stream)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = check_sizes(function, s->grid, s->block, s->shared);
    if (!result && s->cooperative)
        result = check_resident(function, s);
    if (result)
        return result;
    drv_launch_op *op =
        op_new(sizeof *op + function->info->param_size, stream, "launch %s", function->name);
    result = read_params(function, params, extra, op->params);
    if (result) {
        op_drop(&op->op);
        return result;
    }
    op->module = function->module;
    op->launch = (ptx_launch){.kernel = function->kernel,
                              .params = op->params,
                              .grid = {s->grid[0], s->grid[1], s->grid[2]},
                              .block = {s->block[0], s->block[1], s->block[2]},
                              .dynamic_shared = s->shared,
                              .cooperative = s->cooperative,
                              .seed = worker_seed(&op->op),
                              .steps = config()->steps,
                              .apart = config()->apart};
    op->op.run = run_launch;
    op->op.finish = finish_launch;
    op->op.replays = true;
    op_uses_module(&op->op, op->module);
    add_uses(op, function);
    op_queue(&op->op);
    return CUDA_SUCCESS;
}

CUresult do_cuLaunchKernel(CUfunction handle, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                           unsigned by, unsigned bz, unsigned shared, CUstream in, void **params,
                           void **extra)
{
    drv_shape s = {{gx, gy, gz}, {bx, by, bz}, shared, false};
    return launch(handle, &s, in, params, extra);
}

CUresult do_cuLaunchCooperativeKernel(CUfunction handle, unsigned gx, unsigned gy, unsigned gz,
                                      unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                      CUstream in, void **params)
{
    drv_shape s = {{gx, gy, gz}, {bx, by, bz}, shared, true};
    return launch(handle, &s, in, params, NULL);
}

/* ---- Occupancy ---- */

CUresult do_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction handle, int threads,
                                                        size_t shared)
{
    const drv_function *function = function_find(handle);
    if (!function)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!blocks || threads < 1 || shared > INT32_MAX / 2)
        return misuse(CUDA_ERROR_INVALID_VALUE, "blocks of %d threads with %zu bytes", threads,
                      shared);
    *blocks = threads > function->info->max_threads
                  ? 0
                  : blocks_per_multiprocessor(function, threads, shared);
    return CUDA_SUCCESS;
}

CUresult do_cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction handle,
                                             CUoccupancyB2DSize of_block, size_t shared, int limit)
{
    const drv_function *function = function_find(handle);
    if (!function)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!grid || !block)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the sizes");
    int most = function->info->max_threads, best = 0;
    if (limit > 0 && limit < most)
        most = limit;
    for (int threads = most < 32 ? most : most / 32 * 32; threads > 0; threads -= 32) {
        int blocks =
            blocks_per_multiprocessor(function, threads, of_block ? of_block(threads) : shared);
        if (blocks * threads > best) {
            best = blocks * threads;
            *block = threads;
            *grid = blocks * config()->chip->multiprocessors;
        }
    }
    return best ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
