/* Libraries: code that belongs to no context. Its text is checked when it is loaded; each context gets
 * a module of it when it first needs one. */
#include "double.h"
#include <stdlib.h>
#include <string.h>

/* What a context has of it. */
typedef struct loaded {
    struct loaded *next;
    drv_context *context;
    drv_module *module;
} loaded;

typedef struct drv_library {
    drv_object object;
    char *text;
    bool devrt;
    jit_options options;
    ptx_module *ptx; /* to be looked at */
    loaded *loaded;
    struct drv_kernel *kernels;
} drv_library;

typedef struct drv_kernel {
    drv_object object;
    drv_library *library;
    const ptx_kernel *kernel;
    struct drv_kernel *next;
} drv_kernel;

/* ---- Loading ---- */

/* Variables of what is only looked at are the host's own memory. */
static bool find_on_host(void *ctx, uint64_t address, ptx_range *out)
{
    (void)ctx;
    *out = (ptx_range){address, UINT64_MAX, (char *)(uintptr_t)address};
    return true;
}

static uint64_t alloc_on_host(void *ctx, size_t size, size_t align)
{
    (void)ctx;
    align = align < 16 ? 16 : align;
    return (uintptr_t)aligned_alloc(align, (size + align - 1) / align * align);
}

static void release_on_host(void *ctx, uint64_t address)
{
    (void)ctx;
    free((void *)(uintptr_t)address);
}

static CUresult check_text(drv_library *library)
{
    static const ptx_memory host = {NULL, find_on_host, alloc_on_host, release_on_host};
    char log[4096] = "";
    int code = 0;
    const ptx_limits limits = {config()->chip->sm, config_ptx(config()->version), library->devrt};
    library->ptx = ptx_load(library->text, &limits, &host, log, sizeof log, &code);
    jit_say(&library->options, log);
    return library->ptx ? CUDA_SUCCESS : misuse((CUresult)code, "%.500s", log);
}

static void drop(drv_library *library)
{
    object_end(&library->object);
    free(library->text);
    library->text = NULL;
}

CUresult do_cuLibraryLoadData(CUlibrary *out, const void *code, CUjit_option *options,
                              void **values, unsigned count, CUlibraryOption *library_options,
                              void **library_values, unsigned library_count)
{
    jit_options read;
    CUresult result = jit_read(count, options, values, &read);
    (void)library_values;
    if (result)
        return result;
    if (!out || !code || (library_count && !library_options))
        return misuse(CUDA_ERROR_INVALID_VALUE, "no code, or no place for the library");
    for (unsigned i = 0; i < library_count; i++)
        if (library_options[i] != CU_LIBRARY_BINARY_IS_PRESERVED)
            return misuse(CUDA_ERROR_INVALID_VALUE, "library option %d is not modelled",
                          (int)library_options[i]);
    drv_library *made = object_new(sizeof *made, KIND_LIBRARY, NULL);
    made->options = read;
    made->text = image_text(code, &made->devrt, &result);
    if (made->text)
        result = check_text(made);
    made->options = (jit_options){.target = read.target}; /* the others were for this call */
    if (result)
        drop(made);
    else
        *out = object_handle(made);
    return result;
}

CUresult do_cuLibraryUnload(CUlibrary handle)
{
    drv_library *library = object_find(handle, KIND_LIBRARY);
    if (!library)
        return CUDA_ERROR_INVALID_HANDLE;
    for (drv_kernel *k = library->kernels; k; k = k->next)
        object_end(&k->object);
    while (library->loaded) {
        loaded *first = library->loaded;
        library->loaded = first->next;
        if (!first->module->object.dead) /* its context is still there */
            module_end(first->module);
        free(first);
    }
    ptx_unload(library->ptx);
    drop(library);
    return CUDA_SUCCESS;
}

/* The current context's module. */
static drv_module *module_here(drv_library *library, CUresult *result)
{
    drv_context *here = context_current();
    loaded *l = library->loaded;
    CUmodule handle;
    while (l && (l->context != here || l->module->object.dead))
        l = l->next;
    if (l)
        return l->module;
    *result = module_compile(&handle, library->text, library->devrt, &library->options);
    if (*result)
        return NULL;
    l = calloc(1, sizeof *l);
    *l = (loaded){library->loaded, here, object_find(handle, KIND_MODULE)};
    l->module->object.builtin = true;
    library->loaded = l;
    return l->module;
}

CUresult do_cuLibraryGetModule(CUmodule *out, CUlibrary handle)
{
    drv_library *library = object_find(handle, KIND_LIBRARY);
    CUresult result = CUDA_SUCCESS;
    if (!library)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!out)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the module");
    const drv_module *module = module_here(library, &result);
    if (module)
        *out = object_handle(module);
    return result;
}

CUresult do_cuLibraryGetGlobal(CUdeviceptr *address, size_t *size, CUlibrary handle,
                               const char *name)
{
    CUmodule module = NULL;
    CUresult result = do_cuLibraryGetModule(&module, handle);
    return result ? result : do_cuModuleGetGlobal_v2(address, size, module, name);
}

/* ---- Kernels ---- */

static CUkernel kernel_handle(drv_library *library, const ptx_kernel *kernel)
{
    drv_kernel *k = library->kernels;
    while (k && k->kernel != kernel)
        k = k->next;
    if (!k) {
        k = object_new(sizeof *k, KIND_KERNEL, NULL);
        k->library = library;
        k->kernel = kernel;
        k->next = library->kernels;
        library->kernels = k;
    }
    return object_handle(k);
}

CUresult do_cuLibraryGetKernel(CUkernel *out, CUlibrary handle, const char *name)
{
    drv_library *library = object_find(handle, KIND_LIBRARY);
    if (!library)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!out || !name)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no name, or no place for the kernel");
    const ptx_kernel *kernel = ptx_find_kernel(library->ptx, name);
    if (!kernel)
        return CUDA_ERROR_NOT_FOUND;
    *out = kernel_handle(library, kernel);
    return CUDA_SUCCESS;
}

CUresult do_cuLibraryGetKernelCount(unsigned *count, CUlibrary handle)
{
    const drv_library *library = object_find(handle, KIND_LIBRARY);
    if (!library)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!count)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the number");
    for (*count = 0; ptx_kernel_at(library->ptx, (int)*count);)
        ++*count;
    return CUDA_SUCCESS;
}

CUresult do_cuLibraryEnumerateKernels(CUkernel *kernels, unsigned count, CUlibrary handle)
{
    drv_library *library = object_find(handle, KIND_LIBRARY);
    if (!library)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!kernels)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the kernels");
    for (unsigned i = 0; i < count && ptx_kernel_at(library->ptx, (int)i); i++)
        kernels[i] = kernel_handle(library, ptx_kernel_at(library->ptx, (int)i));
    return CUDA_SUCCESS;
}

CUresult do_cuKernelGetLibrary(CUlibrary *library, CUkernel handle)
{
    const drv_kernel *kernel = object_find(handle, KIND_KERNEL);
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!library)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the library");
    *library = object_handle(kernel->library);
    return CUDA_SUCCESS;
}

CUresult do_cuKernelGetName(const char **name, CUkernel handle)
{
    const drv_kernel *kernel = object_find(handle, KIND_KERNEL);
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!name)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the name");
    *name = ptx_kernel_name(kernel->kernel);
    return CUDA_SUCCESS;
}

CUresult do_cuKernelGetParamInfo(CUkernel handle, size_t index, size_t *offset, size_t *size)
{
    const drv_kernel *kernel = object_find(handle, KIND_KERNEL);
    return kernel ? kernel_param(ptx_kernel_about(kernel->kernel), index, offset, size)
                  : CUDA_ERROR_INVALID_HANDLE;
}

CUresult do_cuKernelGetFunction(CUfunction *out, CUkernel handle)
{
    const drv_kernel *kernel = object_find(handle, KIND_KERNEL);
    CUresult result = CUDA_SUCCESS;
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    const drv_module *module = module_here(kernel->library, &result);
    return module
               ? do_cuModuleGetFunction(out, object_handle(module), ptx_kernel_name(kernel->kernel))
               : result;
}

/* Of a device: that of its primary context, or of the current context if it is of that device. */
static drv_function *function_on(CUkernel handle, CUdevice device)
{
    CUfunction function;
    const drv_context *here = context_current();
    if (device < 0 || device >= config()->devices || !here || here->device != device) {
        misuse(CUDA_ERROR_INVALID_DEVICE,
               "a kernel's attributes are modelled for the current context's device alone, not %d",
               device);
        return NULL;
    }
    return do_cuKernelGetFunction(&function, handle) ? NULL : object_here(function, KIND_FUNCTION);
}

CUresult do_cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel handle,
                                 CUdevice device)
{
    const drv_function *function = function_on(handle, device);
    return function ? function_attribute(function, attribute, value) : CUDA_ERROR_INVALID_VALUE;
}

CUresult do_cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel handle,
                                 CUdevice device)
{
    drv_function *function = function_on(handle, device);
    return function ? function_set_attribute(function, attribute, value) : CUDA_ERROR_INVALID_VALUE;
}

CUresult do_cuKernelSetCacheConfig(CUkernel handle, CUfunc_cache preference, CUdevice device)
{
    (void)preference;
    return function_on(handle, device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
