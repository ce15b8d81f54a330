/* Mistakes with the driver, each of which the double must tell. */
#include "check.h"

enum { BYTES = 4096 };

/* ---- Order of calls, contexts ---- */

static void before_init(void)
{
    int count;
    EXPECT(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
}

static void no_context(void)
{
    CUdeviceptr p;
    OK(cuInit(0));
    EXPECT(cuMemAlloc_v2(&p, BYTES) == CUDA_ERROR_INVALID_CONTEXT);
}

static void pop_too_often(void)
{
    start();
    finish();
    EXPECT(cuCtxPopCurrent_v2(NULL) == CUDA_ERROR_INVALID_CONTEXT);
}

static void release_too_often(void)
{
    start();
    finish();
    EXPECT(cuDevicePrimaryCtxRelease_v2(0) == CUDA_ERROR_INVALID_CONTEXT);
}

static void context_ended_while_current(void)
{
    start();
    OK(cuStreamDestroy_v2(stream));
    OK(cuModuleUnload(module));
    OK(cuDevicePrimaryCtxRelease_v2(0));
    OK(cuCtxPopCurrent_v2(NULL));
}

static void no_such_device(void)
{
    OK(cuInit(0));
    EXPECT(cuDevicePrimaryCtxRetain(&context, 7) == CUDA_ERROR_INVALID_DEVICE);
}

static void free_in_other_context(void)
{
    start();
    CUdeviceptr p = allocate(BYTES);
    CUcontext other = other_context();
    EXPECT(cuMemFree_v2(p) != CUDA_SUCCESS);
    OK(cuCtxDestroy_v2(other));
    OK(cuMemFree_v2(p));
    finish();
}

static void stream_of_other_context(void)
{
    start();
    CUcontext other = other_context();
    EXPECT(cuStreamSynchronize(stream) != CUDA_SUCCESS);
    OK(cuCtxDestroy_v2(other));
    finish();
}

static void event_of_other_context(void)
{
    CUevent event;
    start();
    CUcontext other = other_context();
    OK(cuEventCreate(&event, 0));
    OK(cuCtxPopCurrent_v2(NULL));
    EXPECT(cuEventRecord(event, stream) != CUDA_SUCCESS);
    OK(cuCtxPushCurrent_v2(other));
    OK(cuEventDestroy_v2(event));
    OK(cuCtxDestroy_v2(other));
    finish();
}

static void launch_in_other_context(void)
{
    start();
    CUcontext other = other_context();
    EXPECT(increment(0, 0, NULL) != CUDA_SUCCESS);
    OK(cuCtxDestroy_v2(other));
    finish();
}

/* ---- Memory ---- */

static void free_twice(void)
{
    start();
    CUdeviceptr p = allocate(BYTES);
    OK(cuMemFree_v2(p));
    EXPECT(cuMemFree_v2(p) != CUDA_SUCCESS);
    finish();
}

static void free_inside(void)
{
    start();
    CUdeviceptr p = allocate(BYTES);
    EXPECT(cuMemFree_v2(p + 256) != CUDA_SUCCESS);
    OK(cuMemFree_v2(p));
    finish();
}

static void copy_to_freed(void)
{
    char bytes[16] = {0};
    start();
    CUdeviceptr p = allocate(BYTES);
    OK(cuMemFree_v2(p));
    EXPECT(cuMemcpyHtoD_v2(p, bytes, sizeof bytes) != CUDA_SUCCESS);
    finish();
}

static void copy_past_end(void)
{
    static char bytes[BYTES];
    start();
    CUdeviceptr p = allocate(BYTES - 1);
    EXPECT(cuMemcpyHtoDAsync_v2(p, bytes, BYTES, stream) != CUDA_SUCCESS);
    OK(cuMemFree_v2(p));
    finish();
}

static void copy_onto_itself(void)
{
    start();
    CUdeviceptr p = allocate(BYTES);
    EXPECT(cuMemcpyDtoDAsync_v2(p, p + 16, BYTES - 16, stream) != CUDA_SUCCESS);
    OK(cuMemFree_v2(p));
    finish();
}

static void copy_past_pinned_end(void)
{
    void *host;
    start();
    CUdeviceptr p = allocate(BYTES);
    OK(cuMemAllocHost_v2(&host, BYTES / 2));
    EXPECT(cuMemcpyHtoDAsync_v2(p, host, BYTES, stream) != CUDA_SUCCESS);
    OK(cuMemFreeHost(host));
    OK(cuMemFree_v2(p));
    finish();
}

static void copy_to_host_address(void)
{
    char from[16] = {0}, to[16];
    start();
    EXPECT(cuMemcpyHtoD_v2((uintptr_t)to, from, sizeof to) != CUDA_SUCCESS);
    finish();
}

static void copy_from_device_as_host(void)
{
    start();
    CUdeviceptr p = allocate(BYTES);
    EXPECT(cuMemcpyHtoD_v2(p, (void *)(uintptr_t)p, 16) != CUDA_SUCCESS);
    OK(cuMemFree_v2(p));
    finish();
}

static void pitch_under_width(void)
{
    static char bytes[BYTES];
    start();
    CUdeviceptr p = allocate(BYTES);
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = bytes,
                                .srcPitch = 64,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = p,
                                .dstPitch = 32,
                                .WidthInBytes = 64,
                                .Height = 4};
    EXPECT(cuMemcpy2DAsync_v2(&copy, stream) != CUDA_SUCCESS);
    OK(cuMemFree_v2(p));
    finish();
}

static void fill_past_end(void)
{
    start();
    CUdeviceptr p = allocate(BYTES);
    EXPECT(cuMemsetD32_v2(p, 0, BYTES / 4 + 1) != CUDA_SUCCESS);
    OK(cuMemFree_v2(p));
    finish();
}

static void free_under_launch(void)
{
    start();
    CUdeviceptr p = allocate(BYTES);
    OK(increment(p, 16, stream));
    OK(cuMemFree_v2(p));
    cuStreamSynchronize(stream); /* a fault, if the memory was gone first */
    finish_lost();
}

static void free_pinned_under_copy(void)
{
    void *host;
    start();
    CUdeviceptr p = allocate(BYTES);
    OK(cuMemAllocHost_v2(&host, BYTES));
    OK(cuMemcpyHtoDAsync_v2(p, host, BYTES, stream));
    OK(cuMemFreeHost(host));
    OK(cuStreamSynchronize(stream));
    OK(cuMemFree_v2(p));
    finish();
}

static void unregister_under_copy(void)
{
    static char host[BYTES];
    start();
    CUdeviceptr p = allocate(BYTES);
    OK(cuMemHostRegister_v2(host, BYTES, 0));
    OK(cuMemcpyDtoHAsync_v2(host, p, BYTES, stream));
    OK(cuMemHostUnregister(host));
    OK(cuStreamSynchronize(stream));
    OK(cuMemFree_v2(p));
    finish();
}

static void register_twice(void)
{
    static char host[BYTES];
    start();
    OK(cuMemHostRegister_v2(host, BYTES, 0));
    EXPECT(cuMemHostRegister_v2(host + 64, 64, 0) == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    OK(cuMemHostUnregister(host));
    finish();
}

static void use_before_allocation(void)
{
    CUstream second;
    CUdeviceptr p;
    start();
    OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    OK(cuMemAllocAsync(&p, BYTES, stream));
    OK(increment(p, 16, second));
    cuStreamSynchronize(second); /* a fault, if the launch was first */
    cuMemFreeAsync(p, stream);
    cuStreamSynchronize(stream);
    cuStreamDestroy_v2(second);
    finish_lost();
}

static void free_in_wrong_stream(void)
{
    CUstream second;
    CUdeviceptr p;
    start();
    OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    OK(cuMemAllocAsync(&p, BYTES, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemsetD8Async(p, 1, BYTES, second));
    OK(cuMemFreeAsync(p, stream));
    cuStreamSynchronize(second); /* a fault, if the memory was gone by then */
    cuStreamDestroy_v2(second);
    finish_lost();
}

/* ---- Streams, events, host functions ---- */

static void stream_destroyed_twice(void)
{
    CUstream second;
    start();
    OK(cuStreamCreate(&second, 0));
    OK(cuStreamDestroy_v2(second));
    EXPECT(cuStreamDestroy_v2(second) == CUDA_ERROR_INVALID_HANDLE);
    finish();
}

static void event_used_after_end(void)
{
    CUevent event;
    start();
    OK(cuEventCreate(&event, 0));
    OK(cuEventDestroy_v2(event));
    EXPECT(cuStreamWaitEvent(stream, event, 0) == CUDA_ERROR_INVALID_HANDLE);
    finish();
}

static void handle_of_other_kind(void)
{
    start();
    EXPECT(cuEventRecord((CUevent)(void *)stream, stream) == CUDA_ERROR_INVALID_HANDLE);
    finish();
}

static void no_handle(void)
{
    int anything;
    start();
    EXPECT(cuStreamSynchronize((CUstream)(void *)&anything) == CUDA_ERROR_INVALID_HANDLE);
    finish();
}

static void time_without_timing(void)
{
    CUevent event;
    float ms;
    start();
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuEventRecord(event, stream));
    OK(cuEventSynchronize(event));
    EXPECT(cuEventElapsedTime(&ms, event, event) == CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventDestroy_v2(event));
    finish();
}

static void time_without_record(void)
{
    CUevent event;
    float ms;
    start();
    OK(cuEventCreate(&event, 0));
    EXPECT(cuEventElapsedTime(&ms, event, event) == CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventDestroy_v2(event));
    finish();
}

static void call_the_driver(void *user)
{
    CUdeviceptr p;
    (void)user;
    EXPECT(cuMemAlloc_v2(&p, BYTES) == CUDA_ERROR_NOT_PERMITTED);
}

static void call_in_host_function(void)
{
    start();
    OK(cuLaunchHostFunc(stream, call_the_driver, NULL));
    finish();
}

/* ---- Launches ---- */

static CUresult launch(const char *name, unsigned gx, unsigned gy, unsigned bx, unsigned shared,
                       void **params, void **extra)
{
    CUfunction f;
    start();
    OK(cuModuleGetFunction(&f, module, name));
    CUresult result = cuLaunchKernel(f, gx, gy, 1, bx, 1, 1, shared, stream, params, extra);
    finish();
    return result;
}

static void *two_params[] = {&(CUdeviceptr){0}, &(unsigned){0}};

static void no_blocks(void)
{
    EXPECT(launch("increment", 0, 1, 32, 0, two_params, NULL) == CUDA_ERROR_INVALID_VALUE);
}

static void block_too_large(void)
{
    EXPECT(launch("increment", 1, 1, 1025, 0, two_params, NULL) == CUDA_ERROR_INVALID_VALUE);
}

static void grid_too_high(void)
{
    EXPECT(launch("increment", 1, 65536, 32, 0, two_params, NULL) == CUDA_ERROR_INVALID_VALUE);
}

static void block_not_required(void)
{
    EXPECT(launch("fixed", 1, 1, 32, 0, NULL, NULL) == CUDA_ERROR_INVALID_VALUE);
}

static void shared_without_opt_in(void)
{
    EXPECT(launch("increment", 1, 1, 32, 49153, two_params, NULL) == CUDA_ERROR_INVALID_VALUE);
}

static void shared_over_chip(void)
{
    start();
    EXPECT(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232449) ==
           CUDA_ERROR_INVALID_VALUE);
    finish();
}

static void no_params(void)
{
    EXPECT(launch("increment", 1, 1, 32, 0, NULL, NULL) == CUDA_ERROR_INVALID_VALUE);
}

static void param_missing(void)
{
    void *params[] = {two_params[0], NULL};
    EXPECT(launch("increment", 1, 1, 32, 0, params, NULL) == CUDA_ERROR_INVALID_VALUE);
}

static void params_too_short(void)
{
    CUdeviceptr p = 0;
    size_t size = sizeof p;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &p, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    EXPECT(launch("increment", 1, 1, 32, 0, NULL, extra) == CUDA_ERROR_INVALID_VALUE);
}

static void launch_on_freed(void)
{
    start();
    CUdeviceptr p = allocate(BYTES);
    OK(cuMemFree_v2(p));
    OK(increment(p, 0, stream));
    finish();
}

/* ---- Modules ---- */

static void unload_under_launch(void)
{
    CUmodule second;
    start();
    OK(cuModuleLoadData(&second, increment_ptx));
    OK(cuModuleGetFunction(&function, second, "increment"));
    OK(increment(0, 0, stream));
    OK(cuModuleUnload(second));
    finish();
}

static void function_after_unload(void)
{
    CUmodule second;
    int value;
    start();
    OK(cuModuleLoadData(&second, increment_ptx));
    OK(cuModuleGetFunction(&function, second, "increment"));
    OK(cuModuleUnload(second));
    EXPECT(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function) != CUDA_SUCCESS);
    finish();
}

/* Loading fails with that code and says why. */
static void load(const char *text, CUresult code)
{
    char log[1000] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    CUmodule made;
    start();
    EXPECT(cuModuleLoadDataEx(&made, text, 2, options, values) == code);
    EXPECT(log[0]);
    finish();
}

static void ptx_too_new(void)
{
    load(".version 8.7\n.target sm_75\n.address_size 64\n.visible .entry f() { ret; }\n",
         CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
}

static void ptx_for_other_chip(void)
{
    load(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry f() { ret; }\n",
         CUDA_ERROR_NO_BINARY_FOR_GPU);
}

static void ptx_malformed(void)
{
    load(".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry f() { mov.u32 %r1; ret; "
         "}\n",
         CUDA_ERROR_INVALID_PTX);
}

static void image_of_others(void)
{
    static const char image[256] = "\177ELF";
    CUmodule made;
    start();
    EXPECT(cuModuleLoadData(&made, image) == CUDA_ERROR_INVALID_IMAGE);
    finish();
}

static void not_modelled(void)
{
    void *library = dlopen(getenv("KJIT_CUDA_DRIVER"), RTLD_NOW);
    CUresult (*attach)(CUcontext *, unsigned);
    *(void **)&attach = dlsym(library, "cuCtxAttach");
    start();
    EXPECT(attach(&context, 0) == CUDA_ERROR_NOT_SUPPORTED);
    finish();
}

#define MISTAKE(name, line) \
    { \
#name, name, line, NULL \
    }

static const check_case cases[] = {
    MISTAKE(before_init, "cuDeviceGetCount (call 1, T1): called before cuInit"),
    MISTAKE(no_context, "cuMemAlloc_v2 (call 2, T1): no context is current"),
    MISTAKE(pop_too_often, "the stack of contexts is empty"),
    MISTAKE(release_too_often, "the primary context of device 0 is not retained"),
    MISTAKE(context_ended_while_current, "the context ends while it is on the stack of thread T1"),
    MISTAKE(no_such_device, "there is no device 7"),
    MISTAKE(free_in_other_context,
            "cuMemFree_v2 (call 9, T1): 0x1000000000100 is of another context"),
    MISTAKE(stream_of_other_context, "is of context 0x5000000000000, not of the current one"),
    MISTAKE(event_of_other_context, "misuse: cuEventRecord (call 10, T1): event 0x"),
    MISTAKE(launch_in_other_context, "misuse: cuLaunchKernel (call 8, T1): function 0x"),
    MISTAKE(free_twice, "was freed by call 8"),
    MISTAKE(free_inside, "is inside the 4096 bytes at"),
    MISTAKE(copy_to_freed, "destination 0x1000000000100 was freed by call 8"),
    MISTAKE(copy_past_end, "destination: 4096 bytes at 0x1000000000100 reach past the 4095 bytes"),
    MISTAKE(copy_onto_itself, "4080 bytes at 0x1000000000110 are copied onto themselves"),
    MISTAKE(copy_past_pinned_end, "source: 4096 bytes at"),
    MISTAKE(copy_to_host_address, "is no device address"),
    MISTAKE(copy_from_device_as_host, "source 0x1000000000100 is no host address"),
    MISTAKE(pitch_under_width, "a pitch of 32 for rows of 64 bytes"),
    MISTAKE(fill_past_end, "reach past the 4096 bytes"),
    MISTAKE(free_under_launch, "is freed and nobody waited for the work that uses it"),
    MISTAKE(free_pinned_under_copy, "misuse: cuMemFreeHost"),
    MISTAKE(unregister_under_copy, "misuse: cuMemHostUnregister"),
    MISTAKE(register_twice, "are page-locked already"),
    MISTAKE(use_before_allocation, "nothing orders it after the allocation of"),
    MISTAKE(free_in_wrong_stream, "nothing orders it after the use of that memory in stream"),
    MISTAKE(stream_destroyed_twice, "misuse: cuStreamDestroy_v2 (call 9, T1): stream"),
    MISTAKE(event_used_after_end, "was ended by call 8"),
    MISTAKE(handle_of_other_kind, "is no event but a stream"),
    MISTAKE(no_handle, "is no stream"),
    MISTAKE(time_without_timing, "an event without timing"),
    MISTAKE(time_without_record, "an event that was not recorded"),
    MISTAKE(call_in_host_function, "called in a host function"),
    MISTAKE(no_blocks, "increment: a grid of 0 x 1 x 1 blocks"),
    MISTAKE(block_too_large, "blocks of 1025 x 1 x 1 threads"),
    MISTAKE(grid_too_high, "a grid of 1 x 65536 x 1 blocks"),
    MISTAKE(block_not_required, "fixed: blocks of 32 x 1 x 1 threads, compiled for 64 x 1 x 1"),
    MISTAKE(shared_without_opt_in, "49153 bytes of dynamic and 0 of static shared memory"),
    MISTAKE(shared_over_chip, "misuse: cuFuncSetAttribute"),
    MISTAKE(no_params, "no parameters, but it takes 2"),
    MISTAKE(param_missing, "parameter 2 of 2 is not there"),
    MISTAKE(params_too_short, "8 bytes of parameters, not 12"),
    MISTAKE(launch_on_freed, "parameter 1, 0x1000000000100, was freed by call 8"),
    MISTAKE(unload_under_launch, "the module is unloaded and nobody waited for its launches"),
    MISTAKE(function_after_unload, "was ended by call"),
    {"ptx_too_new", ptx_too_new, "misuse: cuModuleLoadDataEx", "KJIT_DOUBLE_CUDA=12060"},
    {"ptx_for_other_chip", ptx_for_other_chip, "misuse: cuModuleLoadDataEx", "KJIT_DOUBLE_CHIP=75"},
    MISTAKE(ptx_malformed, "misuse: cuModuleLoadDataEx"),
    MISTAKE(image_of_others, "an image that is not the double's"),
    MISTAKE(not_modelled, "the double does not model it"),
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, cases, sizeof cases / sizeof *cases);
}
