/* PTX -> a module of the driver's, machine code as a file, and what code takes of the device. */
#include <stdlib.h>
#include <string.h>

#include "device/cuda/cuda_device.h"

/* What the driver's compiler says, and the options that make it do so. */
typedef struct jit_log {
    char errors[4096], notes[1024];
    kj_cu_jit_option options[4];
    void *values[4];
} jit_log;

enum { NOPTIONS = 4 };

static void log_init(jit_log *log)
{
    static const kj_cu_jit_option options[NOPTIONS] = {
        KJ_CU_JIT_ERROR_LOG_BUFFER, KJ_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        KJ_CU_JIT_INFO_LOG_BUFFER, KJ_CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    log->errors[0] = log->notes[0] = '\0';
    memcpy(log->options, options, sizeof options);
    log->values[0] = log->errors;
    log->values[1] = (void *)sizeof log->errors;
    log->values[2] = log->notes;
    log->values[3] = (void *)sizeof log->notes;
}

/* What kjit was doing, what the result means, and the compiler's own words below. */
static kjit_status refused(kj_device *dev, kj_cu_result result, jit_log *log, const char *doing,
                           const char *name, kj_failure *why)
{
    kjit_status status = kj_cuda_failed(dev, result, why, "%s%s", doing, name);
    log->errors[sizeof log->errors - 1] = '\0';
    size_t size = kj_trimmed(log->errors, strlen(log->errors)), at = strlen(why->text);
    if (status == KJIT_LOST || size == 0 || at + 2 >= sizeof why->text)
        return status;
    why->text[at++] = '\n';
    if (size > sizeof why->text - 1 - at)
        size = sizeof why->text - 1 - at;
    memcpy(why->text + at, log->errors, size);
    why->text[at + size] = '\0';
    return status;
}

/* ---- Machine code ---- */

/* Adds the text, and behind it the device runtime if the text calls it, and links them. */
static kj_cu_result add_and_link(const kj_cuda_driver *cu, kj_cu_link link, const char *ptx,
                                 char *devrt, size_t devrt_size, void **cubin, size_t *size)
{
    kj_cu_result result = cu->LinkAddData(link, KJ_CU_JIT_INPUT_PTX, (void *)(uintptr_t)ptx,
                                          strlen(ptx) + 1, "kernels.ptx", 0, NULL, NULL);
    if (result == KJ_CU_SUCCESS && devrt)
        result = cu->LinkAddData(link, KJ_CU_JIT_INPUT_LIBRARY, devrt, devrt_size, "cudadevrt", 0,
                                 NULL, NULL);
    return result == KJ_CU_SUCCESS ? cu->LinkComplete(link, cubin, size) : result;
}

/* In the device's context; the driver's copy goes with the link. */
static kjit_status link_with(kj_device *dev, const char *ptx, char *devrt, size_t devrt_size,
                             void **out, size_t *size, kj_failure *why)
{
    const kj_cuda_driver *cu = dev->cu;
    static const char doing[] = "assemble the code";
    jit_log log;
    kj_cu_link link;
    void *cubin;
    log_init(&log);
    kj_cu_result result = cu->LinkCreate(NOPTIONS, log.options, log.values, &link);
    if (result != KJ_CU_SUCCESS)
        return kj_cuda_failed(dev, result, why, "%s", doing);
    result = add_and_link(cu, link, ptx, devrt, devrt_size, &cubin, size);
    kjit_status status = KJIT_OK;
    if (result != KJ_CU_SUCCESS)
        status = refused(dev, result, &log, doing, "", why);
    else if (!(*out = malloc(*size)))
        status = kj_because(why, KJIT_NO_MEMORY, "out of memory");
    else
        memcpy(*out, cubin, *size);
    kj_cuda_note(dev, cu->LinkDestroy(link));
    return status;
}

static kjit_status link_ptx(kj_device *dev, const char *ptx, void **out, size_t *size,
                            kj_failure *why)
{
    const kj_cuda_driver *cu = dev->cu;
    char *devrt = NULL;
    size_t devrt_size = 0;
    if (!cu->LinkCreate || !cu->LinkAddData || !cu->LinkComplete || !cu->LinkDestroy)
        return kj_because(why, KJIT_NO_DEVICE, "the driver has no assembler");
    kjit_status status = KJIT_OK;
    if (strstr(ptx, KJ_DEVRT_SYMBOL))
        status = kj_cuda_devrt(cu, &devrt, &devrt_size, why);
    if (status == KJIT_OK)
        status = link_with(dev, ptx, devrt, devrt_size, out, size, why);
    free(devrt);
    return status;
}

kjit_status kj_cuda_assemble(kj_device *dev, const char *ptx, void **out, size_t *size,
                             kj_failure *why)
{
    kjit_status status = kj_cuda_enter(dev, why);
    if (status != KJIT_OK)
        return status;
    status = link_ptx(dev, ptx, out, size, why);
    kj_cuda_leave(dev);
    return status;
}

/* ---- Loading ---- */

/* Lets launches ask for all the shared memory a block of the device can have. */
static kj_cu_result allow_shared(kj_device *dev, kj_cu_function function)
{
    int in_code;
    kj_cu_result result =
        dev->cu->FuncGetAttribute(&in_code, KJ_CU_FUNC_SHARED_SIZE_BYTES, function);
    if (result != KJ_CU_SUCCESS || in_code >= dev->max_shared)
        return result;
    return dev->cu->FuncSetAttribute(function, KJ_CU_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                     dev->max_shared - in_code);
}

/* Shared arrays that are not in the code: all of them, or those whose shapes the launch knows. */
static bool has_dynamic_shared(const kj_code *code)
{
    int64_t all = code->kernel->shared;
    return all < 0 || (all > 0 && code->shared == 0);
}

/* In the device's context. `image` is PTX, or machine code. */
static kjit_status load_image(kj_device *dev, const kj_code *code, const void *image, kj_exec *exec,
                              kj_failure *why)
{
    const kj_cuda_driver *cu = dev->cu;
    const char *name = code->kernel->name;
    jit_log log;
    log_init(&log);
    kj_cu_result result =
        cu->ModuleLoadDataEx(&exec->module, image, NOPTIONS, log.options, log.values);
    if (result == KJ_CU_OUT_OF_MEMORY) {
        kj_cuda_scrape(dev);
        log_init(&log);
        result = cu->ModuleLoadDataEx(&exec->module, image, NOPTIONS, log.options, log.values);
    }
    if (result != KJ_CU_SUCCESS)
        return refused(dev, result, &log, "load kernel ", name, why);
    result = cu->ModuleGetFunction(&exec->function, exec->module, code->entry);
    if (result == KJ_CU_SUCCESS && has_dynamic_shared(code))
        result = allow_shared(dev, exec->function);
    if (result == KJ_CU_SUCCESS)
        return KJIT_OK;
    kj_cuda_note(dev, cu->ModuleUnload(exec->module));
    return kj_cuda_failed(dev, result, why, "load kernel %s", name);
}

static kjit_status load_module(kj_device *dev, const kj_code *code, kj_exec *exec, kj_failure *why)
{
    void *linked = NULL;
    size_t size;
    kjit_status status = KJIT_OK;
    if (code->nchildren > 0)
        status = link_ptx(dev, code->bytes, &linked, &size, why);
    if (status == KJIT_OK)
        status = load_image(dev, code, linked ? linked : code->bytes, exec, why);
    free(linked);
    return status;
}

kjit_status kj_cuda_load(kj_device *dev, const kj_code *code, kj_exec **out, kj_failure *why)
{
    if (code->nargs > KJ_CUDA_MAX_ARGS)
        return kj_because(why, KJIT_COMPILE, "kernel %s has too many parameters for a GPU",
                          code->kernel->name);
    size_t size = (size_t)code->nargs * sizeof *code->args;
    kj_exec *exec = calloc(1, sizeof *exec + size);
    if (!exec)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    exec->shared = code->shared;
    exec->grid_sync = code->kernel->grid_sync;
    for (int i = 0; i < code->kernel->nsites; i++)
        exec->ends_early |= code->kernel->sites[i]->fault;
    exec->ends_early |= code->kernel->polls;
    exec->nargs = code->nargs;
    if (size > 0)
        memcpy(exec->args, code->args, size);
    kjit_status status = kj_cuda_enter(dev, why);
    if (status == KJIT_OK) {
        status = load_module(dev, code, exec, why);
        kj_cuda_leave(dev);
    }
    if (status == KJIT_OK)
        *out = exec;
    else
        free(exec);
    return status;
}

kjit_status kj_cuda_unload(kj_device *dev, kj_exec *exec, kj_failure *why)
{
    kjit_status status;
    if (kj_cuda_enter_to_free(dev, &status, why)) {
        kj_cu_result result = dev->cu->ModuleUnload(exec->module);
        if (result != KJ_CU_SUCCESS)
            status = kj_cuda_failed(dev, result, why, "unload code");
        kj_cuda_leave(dev);
    }
    free(exec);
    return status;
}

kjit_status kj_cuda_fill(kj_device *dev, kj_exec *exec, const char *symbol, const void *data,
                         size_t size, kj_failure *why)
{
    kj_cu_address at;
    size_t there;
    kjit_status status = kj_cuda_enter(dev, why);
    if (status != KJIT_OK)
        return status;
    kj_cu_result result = dev->cu->ModuleGetGlobal(&at, &there, exec->module, symbol);
    if (result == KJ_CU_SUCCESS)
        result = dev->cu->MemcpyHtoDAsync(at, data, size < there ? size : there, dev->stream);
    if (result == KJ_CU_SUCCESS)
        result = kj_cuda_sync(dev, dev->stream);
    if (result != KJ_CU_SUCCESS)
        status = kj_cuda_failed(dev, result, why, "fill a const array");
    kj_cuda_leave(dev);
    return status;
}

/* ---- What code takes ---- */

/* In the device's context. */
static kj_cu_result ask(kj_device *dev, kj_cu_function function, int threads, size_t dynamic,
                        kjit_kernel_info *out)
{
    int local, shared, constant;
    const struct {
        kj_cu_function_attribute attribute;
        int *value;
    } questions[] = {{KJ_CU_FUNC_NUM_REGS, &out->registers},
                     {KJ_CU_FUNC_LOCAL_SIZE_BYTES, &local},
                     {KJ_CU_FUNC_SHARED_SIZE_BYTES, &shared},
                     {KJ_CU_FUNC_CONST_SIZE_BYTES, &constant},
                     {KJ_CU_FUNC_MAX_THREADS_PER_BLOCK, &out->max_threads}};
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        kj_cu_result result =
            dev->cu->FuncGetAttribute(questions[i].value, questions[i].attribute, function);
        if (result != KJ_CU_SUCCESS)
            return result;
    }
    out->local = local;
    out->shared = shared;
    out->constant = constant;
    return dev->cu->OccupancyMaxActiveBlocksPerMultiprocessor(&out->blocks, function, threads,
                                                              dynamic);
}

kjit_status kj_cuda_resident(kj_device *dev, const kj_exec *exec, int threads, size_t scratch,
                             int64_t *out, kj_failure *why)
{
    int blocks = 0;
    kjit_status status = kj_cuda_enter(dev, why);
    if (status != KJIT_OK)
        return status;
    kj_cu_result result = dev->cu->OccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, exec->function, threads, (size_t)((int64_t)scratch - exec->shared));
    if (result != KJ_CU_SUCCESS)
        status = kj_cuda_failed(dev, result, why, "ask how many blocks are resident");
    kj_cuda_leave(dev);
    *out = (int64_t)blocks * dev->multiprocessors;
    return status;
}

kjit_status kj_cuda_inspect(kj_device *dev, const kj_exec *exec, int threads, size_t shared,
                            kjit_kernel_info *out, kj_failure *why)
{
    enum { WARP = 32 };
    size_t own = (size_t)exec->shared, dynamic = shared > own ? shared - own : 0;
    kjit_status status = kj_cuda_enter(dev, why);
    if (status != KJIT_OK)
        return status;
    *out = (kjit_kernel_info){0};
    kj_cu_result result = ask(dev, exec->function, threads, dynamic, out);
    if (result != KJ_CU_SUCCESS)
        status = kj_cuda_failed(dev, result, why, "ask what a kernel takes");
    kj_cuda_leave(dev);
    if (dev->multiprocessor_threads > 0)
        out->occupancy = (double)(out->blocks * ((threads + WARP - 1) / WARP * WARP)) /
                         dev->multiprocessor_threads;
    return status;
}
