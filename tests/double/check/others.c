/* Memory that the host, other GPUs or other processes reach too. */
#include "check.h"

enum { COUNT = 1000, BYTES = 4 * COUNT };

static bool same(const unsigned *values, unsigned wanted)
{
    for (int i = 0; i < COUNT; i++) {
        if (values[i] != wanted)
            return false;
    }
    return true;
}

static void managed_is_the_hosts(void)
{
    CUdeviceptr p;
    unsigned type;
    start();
    OK(cuMemAllocManaged(&p, BYTES, CU_MEM_ATTACH_HOST));
    OK(cuStreamAttachMemAsync(stream, p, 0, CU_MEM_ATTACH_SINGLE));
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_IS_MANAGED, p));
    EXPECT(type == 1);
    memset((void *)(uintptr_t)p, 0, BYTES);
    OK(increment(p, COUNT, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT(same((const unsigned *)(uintptr_t)p, 1));
    OK(cuMemsetD32Async(p, 9, COUNT, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT(same((const unsigned *)(uintptr_t)p, 9));
    OK(cuMemFree_v2(p));
    finish();
}

/* It is addresses, whatever memory there is behind them. */
static void managed_without_end(void)
{
    CUdeviceptr p;
    start();
    OK(cuMemAllocManaged(&p, (size_t)64 << 40, CU_MEM_ATTACH_GLOBAL));
    memset((void *)(uintptr_t)(p + ((size_t)32 << 40)), 0, BYTES);
    OK(increment(p + ((size_t)32 << 40), COUNT, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT(same((const unsigned *)(uintptr_t)(p + ((size_t)32 << 40)), 1));
    OK(cuMemFree_v2(p));
    EXPECT(cuMemAllocManaged(&p, SIZE_MAX / 2, CU_MEM_ATTACH_GLOBAL) == CUDA_ERROR_OUT_OF_MEMORY);
    finish();
}

static void peers_copy(void)
{
    unsigned values[COUNT];
    int can;
    CUcontext second;
    start();
    CUdeviceptr p = allocate(BYTES);
    OK(cuMemsetD32Async(p, 3, COUNT, stream));
    OK(cuDevicePrimaryCtxRetain(&second, 1));
    OK(cuCtxPushCurrent_v2(second));
    CUdeviceptr q = allocate(BYTES);
    OK(cuCtxPopCurrent_v2(NULL));
    OK(cuMemcpyPeerAsync(q, second, p, context, BYTES, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuDeviceCanAccessPeer(&can, 0, 1));
    EXPECT(can == 1);
    OK(cuCtxEnablePeerAccess(second, 0));
    EXPECT(cuCtxEnablePeerAccess(second, 0) == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    OK(increment(q, COUNT, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyPeer(p, context, q, second, BYTES));
    OK(cuMemcpyDtoH_v2(values, p, BYTES));
    EXPECT(same(values, 4));
    OK(cuMemFree_v2(p));
    OK(cuCtxPushCurrent_v2(second));
    OK(cuMemFree_v2(q));
    OK(cuCtxPopCurrent_v2(NULL));
    OK(cuDevicePrimaryCtxRelease_v2(1));
    finish();
}

static void peers_apart(void)
{
    int can;
    CUcontext second;
    start();
    OK(cuDevicePrimaryCtxRetain(&second, 1));
    OK(cuDeviceCanAccessPeer(&can, 0, 1));
    EXPECT(can == 0);
    EXPECT(cuCtxEnablePeerAccess(second, 0) == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    OK(cuDevicePrimaryCtxRelease_v2(1));
    finish();
}

/* The process that shows its memory: adds 1 to what the other puts there. */
static void show(int to, int from)
{
    CUipcMemHandle handle;
    CUdeviceptr again;
    char byte;
    start();
    CUdeviceptr p = allocate(BYTES);
    OK(cuMemsetD32_v2(p, 6, COUNT));
    OK(cuCtxSynchronize());
    OK(cuIpcGetMemHandle(&handle, p));
    EXPECT(cuIpcOpenMemHandle_v2(&again, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) ==
           CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(write(to, &handle, sizeof handle) == sizeof handle && read(from, &byte, 1) == 1);
    OK(increment(p, COUNT, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT(write(to, &byte, 1) == 1 && read(from, &byte, 1) == 1);
    OK(cuMemFree_v2(p));
    finish();
    exit(0);
}

static void processes_share(void)
{
    int there[2], back[2], status;
    CUipcMemHandle handle;
    CUdeviceptr p, again;
    char byte = 0;
    unsigned values[COUNT];
    EXPECT(pipe(there) == 0 && pipe(back) == 0);
    pid_t child = fork();
    if (child == 0)
        show(there[1], back[0]);
    start();
    EXPECT(read(there[0], &handle, sizeof handle) == sizeof handle);
    OK(cuIpcOpenMemHandle_v2(&p, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    OK(cuIpcOpenMemHandle_v2(&again, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    EXPECT(p == again);
    OK(cuIpcCloseMemHandle(p));
    OK(increment(p, COUNT, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT(write(back[1], &byte, 1) == 1 && read(there[0], &byte, 1) == 1);
    OK(cuMemcpyDtoH_v2(values, p, BYTES));
    EXPECT(same(values, 8));
    OK(cuIpcCloseMemHandle(p));
    handle.reserved[9] ^= 1;
    EXPECT(cuIpcOpenMemHandle_v2(&p, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) ==
           CUDA_ERROR_INVALID_VALUE);
    EXPECT(write(back[1], &byte, 1) == 1 && waitpid(child, &status, 0) == child && status == 0);
    finish();
}

/* ---- Mistakes ---- */

static CUcontext second_context;

static CUdeviceptr allocate_there(void)
{
    start();
    OK(cuDevicePrimaryCtxRetain(&second_context, 1));
    OK(cuCtxPushCurrent_v2(second_context));
    CUdeviceptr p = allocate(BYTES);
    OK(cuCtxPopCurrent_v2(NULL));
    return p;
}

static void finish_there(CUdeviceptr p)
{
    OK(cuCtxPushCurrent_v2(second_context));
    OK(cuMemFree_v2(p));
    OK(cuCtxPopCurrent_v2(NULL));
    OK(cuDevicePrimaryCtxRelease_v2(1));
    finish();
}

static void launch_on_other_device(void)
{
    CUdeviceptr p = allocate_there();
    OK(increment(p, 16, stream));
    OK(cuStreamSynchronize(stream));
    finish_there(p);
}

static void copy_of_other_device(void)
{
    CUdeviceptr p = allocate_there();
    EXPECT(cuMemcpyDtoDAsync_v2(p, p, 16, stream) != CUDA_SUCCESS);
    finish_there(p);
}

static void show_pool_memory(void)
{
    CUdeviceptr p;
    CUipcMemHandle handle;
    start();
    OK(cuMemAllocAsync(&p, BYTES, stream));
    EXPECT(cuIpcGetMemHandle(&handle, p) == CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFreeAsync(p, stream));
    finish();
}

/* Reserved addresses have no memory, and nobody gets them. */
static void reserved_is_nowhere(void)
{
    CUdeviceptr p, q;
    start();
    OK(cuMemAddressReserve(&p, 1 << 21, 0, 0, 0));
    q = allocate(BYTES);
    EXPECT(p % 4096 == 0 && (q + BYTES <= p || q >= p + (1 << 21)));
    OK(cuMemFree_v2(q));
    OK(increment(p, COUNT, stream));
    EXPECT(cuStreamSynchronize(stream) == CUDA_ERROR_ILLEGAL_ADDRESS);
    OK(cuMemAddressFree(p, 1 << 21));
    finish_lost();
}

static void reserved_is_copied_to(void)
{
    CUdeviceptr p;
    start();
    OK(cuMemAddressReserve(&p, 4096, 0, 0, 0));
    EXPECT(cuMemsetD32_v2(p, 0, 1) == CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAddressFree(p, 4096));
    finish();
}

static void reserved_is_left(void)
{
    CUdeviceptr p;
    start();
    OK(cuMemAddressReserve(&p, 4096, 0, 0, 0));
    EXPECT(cuMemAddressFree(p, 8192) == CUDA_ERROR_INVALID_VALUE);
    finish();
}

static const check_case cases[] = {
    PROMISE(reserved_is_nowhere),
    MISTAKE(reserved_is_copied_to, "misuse: cuMemsetD32_v2"),
    MISTAKE(reserved_is_left, "leak: range of addresses"),
    PROMISE(managed_is_the_hosts),
    PROMISE(managed_without_end),
    {"peers_copy", peers_copy, NULL, "KJIT_DOUBLE_DEVICES=2"},
    {"peers_apart", peers_apart, NULL, "KJIT_DOUBLE_DEVICES=2 KJIT_DOUBLE_PEERS=0"},
    PROMISE(processes_share),
    {"launch_on_other_device", launch_on_other_device, "whose memory this one cannot reach",
     "KJIT_DOUBLE_DEVICES=2"},
    {"copy_of_other_device", copy_of_other_device, "is of another context",
     "KJIT_DOUBLE_DEVICES=2"},
    MISTAKE(show_pool_memory, "is not of cuMemAlloc"),
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, cases, sizeof cases / sizeof *cases);
}
