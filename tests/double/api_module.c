/* Modules: PTX text, or an image that api_link.c made of it; functions and variables. */
#include "double.h"
#include <stdlib.h>
#include <string.h>

/* ---- Modules ---- */

static uint64_t new_variable(void *ctx, size_t size, size_t align)
{
    const drv_memory *made =
        memory_new(((drv_module *)ctx)->object.context, size, align, OWNER_MODULE);
    return made ? made->begin : 0;
}

static void end_variable(void *ctx, uint64_t address)
{
    drv_memory *found = memory_at(address);
    (void)ctx;
    memory_end(found);
    memory_give_back(found);
}

CUresult module_compile(CUmodule *out, const char *text, bool devrt, const jit_options *options)
{
    char log[4096] = "";
    int code = 0, chip = options->target ? options->target : config()->chip->sm;
    drv_module *made = object_new(sizeof *made, KIND_MODULE, context_current());
    made->memory = (ptx_memory){made, memory_find, new_variable, end_variable};
    pthread_mutex_init(&made->launching, NULL);
    const ptx_limits limits = {chip, config_ptx(config()->version), devrt};
    made->ptx = ptx_load(text, &limits, &made->memory, log, sizeof log, &code);
    jit_say(options, log);
    if (made->ptx) {
        *out = object_handle(made);
        return CUDA_SUCCESS;
    }
    object_end(&made->object);
    return code == CUDA_ERROR_OUT_OF_MEMORY ? CUDA_ERROR_OUT_OF_MEMORY
                                            : misuse((CUresult)code, "%.500s", log);
}

CUresult module_load(CUmodule *out, const void *image, const jit_options *options)
{
    bool devrt = false;
    CUresult result = CUDA_SUCCESS;
    if (!out || !image)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no image, or no place for the module");
    if (options->target && !chip_runs(options->target))
        return misuse(CUDA_ERROR_NO_BINARY_FOR_GPU, "CU_JIT_TARGET is sm_%d, the device sm_%d",
                      options->target, config()->chip->sm);
    char *text = image_text(image, &devrt, &result);
    if (!text)
        return result;
    result = module_compile(out, text, devrt, options);
    free(text);
    return result;
}

CUresult do_cuModuleLoadData(CUmodule *out, const void *image)
{
    return module_load(out, image, &(jit_options){0});
}

CUresult do_cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned count,
                               CUjit_option *options, void **values)
{
    jit_options read;
    CUresult result = jit_read(count, options, values, &read);
    return result ? result : module_load(out, image, &read);
}

void module_end(drv_module *module)
{
    object_end(&module->object);
    for (drv_function *f = module->functions; f; f = f->next)
        object_end(&f->object);
    if (clock_missing(NULL, &module->uses))
        misuse(CUDA_ERROR_INVALID_HANDLE,
               "the module is unloaded and nobody waited for its launches");
    if (!module->pending)
        ptx_unload(module->ptx);
}

CUresult do_cuModuleUnload(CUmodule handle)
{
    drv_module *module = object_here(handle, KIND_MODULE);
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    if (module->object.builtin)
        return misuse(CUDA_ERROR_NOT_PERMITTED, "module %p is a library's", (void *)handle);
    module_end(module);
    return CUDA_SUCCESS;
}

CUresult do_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    if (!mode)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the mode");
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

CUresult do_cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *size, CUmodule handle,
                                 const char *name)
{
    uint64_t begin;
    size_t bytes;
    const drv_module *module = object_here(handle, KIND_MODULE);
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!name)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no name");
    if (!ptx_find_global(module->ptx, name, &begin, &bytes))
        return CUDA_ERROR_NOT_FOUND;
    if (address)
        *address = begin;
    if (size)
        *size = bytes;
    return CUDA_SUCCESS;
}

/* ---- Functions ---- */

CUresult do_cuModuleGetFunction(CUfunction *out, CUmodule handle, const char *name)
{
    drv_module *module = object_here(handle, KIND_MODULE);
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!out || !name)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no name, or no place for the function");
    const ptx_kernel *kernel = ptx_find_kernel(module->ptx, name);
    if (!kernel)
        return CUDA_ERROR_NOT_FOUND;
    drv_function *made = module->functions;
    while (made && made->kernel != kernel)
        made = made->next;
    if (!made) {
        made = object_new(sizeof *made, KIND_FUNCTION, module->object.context);
        made->module = module;
        made->kernel = kernel;
        made->info = ptx_kernel_about(kernel);
        made->name = strdup(name);
        made->dynamic = 49152 - (int)made->info->shared;
        made->carveout = -1;
        made->next = module->functions;
        module->functions = made;
    }
    *out = object_handle(made);
    return CUDA_SUCCESS;
}

drv_function *function_find(CUfunction handle)
{
    CUfunction found = handle;
    if (object_is(handle, KIND_KERNEL) && do_cuKernelGetFunction(&found, (CUkernel)handle))
        return NULL;
    return object_here(found, KIND_FUNCTION);
}

/* As few as the most threads of a block need. */
int function_registers(const drv_function *function)
{
    int threads =
        function->info->max_threads > 0 ? (function->info->max_threads + 31) / 32 * 32 : 1024;
    int most = 65536 / threads / 8 * 8;
    int registers = function->info->registers < 16 ? 16 : function->info->registers;
    most = most > 255 ? 255 : most;
    return registers < most ? registers : most;
}

CUresult function_attribute(const drv_function *function, CUfunction_attribute attribute,
                            int *value)
{
    if (!value)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the value");
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = function->info->max_threads; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)function->info->shared; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = 0; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)function->info->local; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = function_registers(function); break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = config()->chip->sm; break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = 0; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = function->dynamic; break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = function->carveout; break;
    default:
        return misuse(CUDA_ERROR_INVALID_VALUE, "attribute %d is not modelled", (int)attribute);
    }
    return CUDA_SUCCESS;
}

CUresult do_cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle)
{
    const drv_function *function = object_here(handle, KIND_FUNCTION);
    return function ? function_attribute(function, attribute, value) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult function_set_attribute(drv_function *function, CUfunction_attribute attribute, int value)
{
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || (size_t)value + function->info->shared > (size_t)config()->chip->optin)
            return misuse(CUDA_ERROR_INVALID_VALUE,
                          "%d bytes of dynamic and %zu of static shared memory of %d", value,
                          function->info->shared, config()->chip->optin);
        function->dynamic = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100)
            return misuse(CUDA_ERROR_INVALID_VALUE, "a carveout of %d percent", value);
        function->carveout = value;
        return CUDA_SUCCESS;
    default: return misuse(CUDA_ERROR_INVALID_VALUE, "attribute %d cannot be set", (int)attribute);
    }
}

CUresult do_cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value)
{
    drv_function *function = object_here(handle, KIND_FUNCTION);
    return function ? function_set_attribute(function, attribute, value)
                    : CUDA_ERROR_INVALID_HANDLE;
}

CUresult do_cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache preference)
{
    (void)preference;
    return object_here(handle, KIND_FUNCTION) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult do_cuFuncLoad(CUfunction handle)
{
    return object_here(handle, KIND_FUNCTION) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult do_cuFuncGetName(const char **name, CUfunction handle)
{
    const drv_function *function = object_here(handle, KIND_FUNCTION);
    if (!function)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!name)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the name");
    *name = function->name;
    return CUDA_SUCCESS;
}

CUresult do_cuFuncGetModule(CUmodule *module, CUfunction handle)
{
    const drv_function *function = object_here(handle, KIND_FUNCTION);
    if (!function)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!module)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the module");
    *module = object_handle(function->module);
    return CUDA_SUCCESS;
}

CUresult kernel_param(const ptx_kernel_info *info, size_t index, size_t *offset, size_t *size)
{
    if (index >= (size_t)info->nparams)
        return CUDA_ERROR_INVALID_VALUE; /* as a program that counts them asks */
    if (!offset)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the offset");
    *offset = info->params[index].offset;
    if (size)
        *size = info->params[index].size;
    return CUDA_SUCCESS;
}

CUresult do_cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *size)
{
    const drv_function *function = object_here(handle, KIND_FUNCTION);
    return function ? kernel_param(function->info, index, offset, size) : CUDA_ERROR_INVALID_HANDLE;
}
