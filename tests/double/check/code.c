/* What is compiled: texts and where they end, the JIT's options, links, libraries. And what is left of
 * it when the primary context is reset. */
#include "check.h"

#include <sys/mman.h>

enum { COUNT = 100, BYTES = 4 * COUNT, NAME = 4096 };

static void *text_of(const char *ptx)
{
    return (void *)(uintptr_t)ptx;
}

/* 100 numbers, each one more than it was. */
static void check_runs(CUfunction f)
{
    unsigned values[COUNT], n = COUNT;
    CUdeviceptr p = allocate(BYTES);
    OK(cuMemsetD32Async(p, 4, COUNT, stream));
    OK(cuLaunchKernel(f, 2, 1, 1, 64, 1, 1, 0, stream, (void *[]){&p, &n}, NULL));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(values, p, BYTES));
    for (int i = 0; i < COUNT; i++)
        EXPECT(values[i] == 5);
    OK(cuMemFree_v2(p));
}

/* ---- Texts ---- */

/* At the end of a page that nothing readable follows. */
static char *at_page_end(const char *text, size_t size)
{
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(pages != MAP_FAILED && mprotect(pages + 4096, 4096, PROT_NONE) == 0);
    return memcpy(pages + 4096 - size, text, size);
}

static void text_without_end(void)
{
    CUmodule made;
    start();
    EXPECT(cuModuleLoadData(&made, at_page_end(increment_ptx, strlen(increment_ptx))) ==
           CUDA_ERROR_INVALID_PTX);
    finish();
}

static void text_with_bytes_behind(void)
{
    char text[2000];
    CUmodule made;
    start();
    size_t length = strlen(strcpy(text, increment_ptx));
    memcpy(text + length, "\1\2", 3);
    EXPECT(cuModuleLoadDataEx(&made, text, 0, NULL, NULL) == CUDA_ERROR_INVALID_PTX);
    finish();
}

static void text_to_page_end(void)
{
    CUmodule made;
    start();
    CUmoduleLoadingMode mode;
    OK(cuModuleGetLoadingMode(&mode));
    EXPECT(mode == CU_MODULE_LAZY_LOADING);
    OK(cuModuleLoadData(&made, at_page_end(increment_ptx, strlen(increment_ptx) + 1)));
    OK(cuModuleUnload(made));
    finish();
}

/* Names as long as C++ makes them. */
static void long_names(void)
{
    static char name[NAME + 2], text[8 * NAME];
    CUmodule made;
    CUfunction f;
    start();
    for (int length = NAME; length <= NAME + 1; length++) {
        memset(name, 'n', (size_t)length);
        snprintf(text, sizeof text,
                 ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry %s(.param .u64 "
                 "%.*s7)\n{ .reg .b64 %%%.*s<2>; ld.param.u64 %%%.*s1, [%.*s7]; ret; }\n",
                 name, NAME - 1, name, NAME - 3, name, NAME - 3, name, NAME - 1, name);
        if (length > NAME) {
            EXPECT(cuModuleLoadData(&made, text) == CUDA_ERROR_INVALID_PTX);
            break;
        }
        OK(cuModuleLoadData(&made, text));
        OK(cuModuleGetFunction(&f, made, name));
        OK(cuModuleUnload(made));
    }
    finish();
}

/* ---- Options ---- */

static CUresult load_with(unsigned count, CUjit_option *options, void **values)
{
    CUmodule made;
    CUresult result = cuModuleLoadDataEx(&made, increment_ptx, count, options, values);
    if (!result)
        OK(cuModuleUnload(made));
    return result;
}

static void options_are_taken(void)
{
    CUjit_option options[] = {
        CU_JIT_MAX_REGISTERS,  CU_JIT_OPTIMIZATION_LEVEL,  CU_JIT_TARGET,
        CU_JIT_LOG_VERBOSE,    CU_JIT_GENERATE_DEBUG_INFO, CU_JIT_GENERATE_LINE_INFO,
        CU_JIT_CACHE_MODE,     CU_JIT_FALLBACK_STRATEGY,   CU_JIT_WALL_TIME,
        CU_JIT_SPLIT_COMPILE,  CU_JIT_FAST_COMPILE,        CU_JIT_MAX_THREADS_PER_BLOCK,
        CU_JIT_MIN_CTA_PER_SM, CU_JIT_NEW_SM3X_OPT,
    };
    void *values[] = {(void *)32, (void *)4,  (void *)86, (void *)1, (void *)1,
                      (void *)1,  (void *)2,  (void *)1,  NULL,      (void *)2,
                      (void *)1,  (void *)64, (void *)1,  NULL};
    CUjit_option mine[] = {CU_JIT_TARGET_FROM_CUCONTEXT, CU_JIT_THREADS_PER_BLOCK};
    void *none[] = {NULL, (void *)64};
    float time;
    start();
    OK(load_with(sizeof options / sizeof *options, options, values));
    memcpy(&time, &values[8], sizeof time);
    EXPECT(time > 0);
    OK(load_with(2, mine, none));
    finish();
}

#define WRONG_OPTION(name, option, value, code) \
    static void name(void) \
    { \
        start(); \
        EXPECT(load_with(1, (CUjit_option[]){option}, (void *[]){(void *)(value)}) == (code)); \
        finish(); \
    }
WRONG_OPTION(option_unknown, (CUjit_option)77, 1, CUDA_ERROR_INVALID_VALUE)
WRONG_OPTION(option_refused, CU_JIT_GLOBAL_SYMBOL_COUNT, 1, CUDA_ERROR_INVALID_VALUE)
WRONG_OPTION(option_too_large, CU_JIT_OPTIMIZATION_LEVEL, 5, CUDA_ERROR_INVALID_VALUE)
WRONG_OPTION(target_unknown, CU_JIT_TARGET, 77, CUDA_ERROR_INVALID_VALUE)
WRONG_OPTION(target_of_other_chip, CU_JIT_TARGET, 86, CUDA_ERROR_NO_BINARY_FOR_GPU)

static void options_exclude_each_other(void)
{
    CUjit_option options[] = {CU_JIT_THREADS_PER_BLOCK, CU_JIT_TARGET};
    void *values[] = {(void *)64, (void *)90};
    start();
    EXPECT(load_with(2, options, values) == CUDA_ERROR_INVALID_VALUE);
    finish();
}

/* ---- Links ---- */

static CUresult link_text(void *text, size_t size, unsigned count, CUjit_option *options,
                          void **values)
{
    CUlinkState link;
    CUmodule made;
    CUfunction f;
    void *image;
    size_t bytes;
    OK(cuLinkCreate_v2(0, NULL, NULL, &link));
    CUresult result =
        cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, text, size, "text", count, options, values);
    if (!result) {
        OK(cuLinkComplete(link, &image, &bytes));
        OK(cuModuleLoadData(&made, image));
        OK(cuModuleGetFunction(&f, made, "increment"));
        check_runs(f);
        OK(cuModuleUnload(made));
    }
    OK(cuLinkDestroy(link));
    return result;
}

/* Its size may count the final 0; nothing behind it is read. */
static void link_takes_sizes(void)
{
    size_t length = strlen(increment_ptx);
    CUjit_option option = CU_JIT_OPTIMIZATION_LEVEL;
    void *value = (void *)1;
    start();
    OK(link_text(at_page_end(increment_ptx, length), length, 0, NULL, NULL));
    OK(link_text(at_page_end(increment_ptx, length + 1), length + 1, 0, NULL, NULL));
    OK(link_text(text_of(increment_ptx), length, 1, &option, &value));
    finish();
}

static void link_past_the_end(void)
{
    char text[2000] = "";
    start();
    strcpy(text, increment_ptx);
    EXPECT(link_text(text, sizeof text, 0, NULL, NULL) == CUDA_ERROR_INVALID_VALUE);
    finish();
}

static void link_input_option(void)
{
    CUjit_option option = CU_JIT_TARGET;
    void *value = (void *)90;
    start();
    EXPECT(link_text(text_of(increment_ptx), strlen(increment_ptx), 1, &option, &value) ==
           CUDA_ERROR_INVALID_VALUE);
    finish();
}

static void link_for_another_chip(void)
{
    CUlinkState link;
    CUmodule made;
    CUjit_option option = CU_JIT_TARGET;
    void *value = (void *)86, *image;
    size_t bytes;
    start();
    OK(cuLinkCreate_v2(1, &option, &value, &link));
    OK(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, text_of(increment_ptx), strlen(increment_ptx), "t",
                        0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &bytes));
    EXPECT(cuModuleLoadData(&made, image) == CUDA_ERROR_NO_BINARY_FOR_GPU);
    OK(cuLinkDestroy(link));
    finish();
}

/* ---- Libraries ---- */

static const char *const library_ptx =
    ".version 7.0\n.target sm_75\n.address_size 64\n.visible .global .align 4 .u32 counter = 7;\n"
    ".visible .entry count(.param .u64 p)\n"
    "{ .reg .b32 %r<3>; .reg .b64 %d<3>; ld.param.u64 %d1, [p]; ld.global.u32 %r1, [counter];\n"
    "add.u32 %r2, %r1, 1; st.global.u32 [counter], %r2; st.global.u32 [%d1], %r1; ret; }\n"
    ".visible .entry other() { ret; }\n";

static unsigned count_once(CUkernel kernel)
{
    unsigned value;
    CUdeviceptr p = allocate(4);
    OK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&p}, NULL));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(&value, p, 4));
    OK(cuMemFree_v2(p));
    return value;
}

/* Each context has its own copy of it. */
static void libraries_load(void)
{
    CUlibrary library, of;
    CUkernel kernel, all[3];
    CUmodule made, again;
    CUfunction f;
    CUdeviceptr at;
    const char *name;
    unsigned count;
    size_t size, offset;
    int threads;
    CUlibraryOption option = CU_LIBRARY_BINARY_IS_PRESERVED;
    OK(cuInit(0));
    OK(cuLibraryLoadData(&library, library_ptx, NULL, NULL, 0, &option, (void *[]){NULL}, 1));
    OK(cuLibraryGetKernel(&kernel, library, "count"));
    EXPECT(cuLibraryGetKernel(&kernel, library, "none") == CUDA_ERROR_NOT_FOUND);
    start();
    OK(cuLibraryGetKernelCount(&count, library));
    OK(cuLibraryEnumerateKernels(all, 3, library));
    EXPECT(count == 2 && (all[0] == kernel || all[1] == kernel));
    EXPECT(count_once(kernel) == 7 && count_once(kernel) == 8);
    OK(cuLibraryGetModule(&made, library));
    OK(cuKernelGetFunction(&f, kernel));
    OK(cuFuncGetModule(&again, f));
    OK(cuKernelGetLibrary(&of, kernel));
    EXPECT(again == made && of == library);
    OK(cuFuncGetName(&name, f));
    EXPECT(strcmp(name, "count") == 0);
    OK(cuKernelGetName(&name, kernel));
    OK(cuKernelGetParamInfo(kernel, 0, &offset, &size));
    EXPECT(strcmp(name, "count") == 0 && offset == 0 && size == 8);
    EXPECT(cuFuncGetParamInfo(f, 1, &offset, &size) == CUDA_ERROR_INVALID_VALUE);
    OK(cuKernelGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 0));
    OK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000, kernel, 0));
    OK(cuLibraryGetGlobal(&at, &size, library, "counter"));
    EXPECT(threads == 1024 && size == 4);
    finish();
    start(); /* a new context */
    EXPECT(count_once(kernel) == 7);
    OK(cuLibraryUnload(library));
    finish();
}

static void library_is_left(void)
{
    CUlibrary library;
    OK(cuInit(0));
    OK(cuLibraryLoadData(&library, library_ptx, NULL, NULL, 0, NULL, NULL, 0));
}

static void library_of_no_ptx(void)
{
    CUlibrary library;
    OK(cuInit(0));
    EXPECT(cuLibraryLoadData(&library, ".version 7.0\n.target sm_75\nnonsense", NULL, NULL, 0, NULL,
                             NULL, 0) == CUDA_ERROR_INVALID_PTX);
}

static void kernel_after_unload(void)
{
    CUlibrary library;
    CUkernel kernel;
    start();
    OK(cuLibraryLoadData(&library, library_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "other"));
    OK(cuLibraryUnload(library));
    EXPECT(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL) ==
           CUDA_ERROR_INVALID_HANDLE);
    finish();
}

static void unload_a_librarys_module(void)
{
    CUlibrary library;
    CUmodule made;
    start();
    OK(cuLibraryLoadData(&library, library_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetModule(&made, library));
    EXPECT(cuModuleUnload(made) == CUDA_ERROR_NOT_PERMITTED);
    OK(cuLibraryUnload(library));
    finish();
}

/* ---- Reset ---- */

/* All that was in it is gone, and it is to be had again when it is retained again. */
static void reset_ends_all(void)
{
    void *host;
    unsigned flags;
    int active;
    start();
    CUdeviceptr p = allocate(BYTES);
    OK(cuMemHostAlloc(&host, BYTES, 0));
    OK(increment(p, COUNT, stream));
    OK(cuDevicePrimaryCtxReset_v2(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EXPECT(!active && cuMemFree_v2(p) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    OK(cuCtxPopCurrent_v2(NULL));
    start();
    check_runs(function);
    finish();
    OK(cuDevicePrimaryCtxRelease_v2(0));
}

static void memory_after_reset(void)
{
    start();
    CUdeviceptr p = allocate(BYTES);
    OK(cuDevicePrimaryCtxReset_v2(0));
    OK(cuCtxPopCurrent_v2(NULL));
    start();
    EXPECT(cuMemsetD32_v2(p, 0, COUNT) == CUDA_ERROR_INVALID_VALUE);
    finish();
    OK(cuDevicePrimaryCtxRelease_v2(0));
}

static const check_case cases[] = {
    MISTAKE(text_without_end, "the text has no final 0 before its memory ends"),
    MISTAKE(text_with_bytes_behind, "the byte 1 in the text, which has no final 0"),
    PROMISE(text_to_page_end),
    MISTAKE(long_names, "a name of 4097 bytes, more than 4096"),
    {"options_are_taken", options_are_taken, NULL, "KJIT_DOUBLE_CHIP=89"},
    MISTAKE(option_unknown, "there is no JIT option 77"),
    MISTAKE(option_refused, "CU_JIT_GLOBAL_SYMBOL_COUNT is not modelled"),
    MISTAKE(option_too_large, "CU_JIT_OPTIMIZATION_LEVEL of 5"),
    MISTAKE(target_unknown, "CU_JIT_TARGET of 77"),
    MISTAKE(target_of_other_chip, "CU_JIT_TARGET is sm_86, the device sm_90"),
    MISTAKE(options_exclude_each_other, "cannot be combined with CU_JIT_THREADS_PER_BLOCK"),
    PROMISE(link_takes_sizes),
    MISTAKE(link_past_the_end, "bytes before its size"),
    MISTAKE(link_input_option, "CU_JIT_TARGET for one input of a link"),
    MISTAKE(link_for_another_chip, "an image for sm_86 on sm_90"),
    PROMISE(libraries_load),
    MISTAKE(library_is_left, "leak: library 0x"),
    MISTAKE(library_of_no_ptx, "misuse: cuLibraryLoadData"),
    MISTAKE(kernel_after_unload, "was ended by call"),
    MISTAKE(unload_a_librarys_module, "is a library's"),
    PROMISE(reset_ends_all),
    MISTAKE(memory_after_reset, "was freed by call"),
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, cases, sizeof cases / sizeof *cases);
}
