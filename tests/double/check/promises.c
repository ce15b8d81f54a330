/* What the double does that a CUDA driver does, or may do. */
#include "check.h"
#include <pthread.h>

enum { COUNT = 1000, BYTES = 4 * COUNT };

/* A host function that holds a stream up until it is let go. */
static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static bool gate_open;

static void wait_at_gate(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&gate_lock);
    while (!gate_open)
        pthread_cond_wait(&gate_moved, &gate_lock);
    pthread_mutex_unlock(&gate_lock);
}

static void close_gate(CUstream in)
{
    gate_open = false;
    OK(cuLaunchHostFunc(in, wait_at_gate, NULL));
}

static void open_gate(void)
{
    pthread_mutex_lock(&gate_lock);
    gate_open = true;
    pthread_cond_broadcast(&gate_moved);
    pthread_mutex_unlock(&gate_lock);
}

static bool all(const unsigned *values, unsigned wanted)
{
    for (int i = 0; i < COUNT; i++) {
        if (values[i] != wanted)
            return false;
    }
    return true;
}

/* ---- Memory ---- */

static void memory_is_poisoned(void)
{
    unsigned values[COUNT];
    start();
    CUdeviceptr p = allocate(BYTES);
    OK(cuMemcpyDtoH_v2(values, p, BYTES));
    EXPECT(all(values, 0xCBCBCBCB));
    EXPECT(p % 256 == 0 && p % 512 != 0); /* no more alignment than is promised */
    OK(cuMemFree_v2(p));
    EXPECT(allocate(BYTES) != p);
    OK(cuMemFree_v2(p + 0x400000)); /* where the next is */
    finish();
}

static void memory_runs_out(void)
{
    size_t available, total;
    CUdeviceptr p, q;
    start();
    OK(cuMemGetInfo_v2(&available, &total));
    EXPECT(total == 1000000 && available == total);
    p = allocate(600000);
    EXPECT(cuMemAlloc_v2(&q, 500000) == CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemGetInfo_v2(&available, &total));
    EXPECT(available < 400000);
    OK(cuMemFree_v2(p));
    q = allocate(500000);
    OK(cuMemFree_v2(q));
    finish();
}

static void pageable_is_read_at_once(void)
{
    unsigned values[COUNT];
    start();
    CUdeviceptr p = allocate(BYTES);
    close_gate(stream);
    memset(values, 1, BYTES);
    OK(cuMemcpyHtoDAsync_v2(p, values, BYTES, stream));
    memset(values, 2, BYTES);
    open_gate();
    OK(cuMemcpyDtoHAsync_v2(values, p, BYTES, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT(all(values, 0x01010101));
    OK(cuMemFree_v2(p));
    finish();
}

/* The mistake of using a buffer again too soon is seen in the data. */
static void pinned_is_read_late(void)
{
    unsigned values[COUNT], *host;
    start();
    CUdeviceptr p = allocate(BYTES);
    OK(cuMemHostAlloc((void **)&host, BYTES, 0));
    close_gate(stream);
    memset(host, 1, BYTES);
    OK(cuMemcpyHtoDAsync_v2(p, host, BYTES, stream));
    memset(host, 2, BYTES);
    open_gate();
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(values, p, BYTES));
    EXPECT(all(values, 0x02020202));
    OK(cuMemFreeHost(host));
    OK(cuMemFree_v2(p));
    finish();
}

static void host_is_written_late(void)
{
    unsigned values[COUNT] = {0};
    start();
    CUdeviceptr p = allocate(BYTES);
    OK(cuMemsetD32Async(p, 7, COUNT, stream));
    close_gate(stream);
    OK(cuMemcpyDtoHAsync_v2(values, p, BYTES, stream));
    EXPECT(cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
    EXPECT(all(values, 0));
    open_gate();
    OK(cuStreamSynchronize(stream));
    EXPECT(all(values, 7));
    OK(cuMemFree_v2(p));
    finish();
}

static void rows_are_copied(void)
{
    unsigned char from[8][10], to[8][10] = {{0}};
    start();
    CUdeviceptr p = allocate(8 * 16);
    for (int i = 0; i < 80; i++)
        from[i / 10][i % 10] = (unsigned char)i;
    CUDA_MEMCPY2D copy = {.srcXInBytes = 2,
                          .srcY = 1,
                          .srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = from,
                          .srcPitch = 10,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = p,
                          .dstPitch = 16,
                          .WidthInBytes = 5,
                          .Height = 6};
    OK(cuMemcpy2DAsync_v2(&copy, stream));
    CUDA_MEMCPY3D back = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = p,
                          .srcPitch = 16,
                          .srcHeight = 2,
                          .dstXInBytes = 2,
                          .dstY = 1,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = to,
                          .dstPitch = 10,
                          .dstHeight = 2,
                          .WidthInBytes = 5,
                          .Height = 2,
                          .Depth = 3};
    OK(cuMemcpy3DAsync_v2(&back, stream));
    OK(cuStreamSynchronize(stream));
    for (int i = 0; i < 80; i++) {
        bool inside = i / 10 >= 1 && i / 10 < 7 && i % 10 >= 2 && i % 10 < 7;
        EXPECT(to[i / 10][i % 10] == (inside ? i : 0));
    }
    OK(cuMemFree_v2(p));
    finish();
}

/* ---- Order ---- */

/* Each of two streams waits for the other's last step, by events. */
static void events_order_streams(void)
{
    CUstream streams[2];
    CUevent event;
    unsigned values[COUNT];
    start();
    CUdeviceptr p = allocate(BYTES);
    OK(cuStreamCreate(&streams[0], CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&streams[1], CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuMemsetD32Async(p, 0, COUNT, streams[0]));
    for (int i = 0; i < 20; i++) {
        OK(cuEventRecord(event, streams[i % 2]));
        OK(cuStreamWaitEvent(streams[(i + 1) % 2], event, 0));
        OK(increment(p, COUNT, streams[(i + 1) % 2]));
    }
    OK(cuMemcpyDtoHAsync_v2(values, p, BYTES, streams[0]));
    OK(cuStreamSynchronize(streams[0]));
    EXPECT(all(values, 20));
    OK(cuEventDestroy_v2(event));
    OK(cuStreamDestroy_v2(streams[0]));
    OK(cuStreamDestroy_v2(streams[1]));
    OK(cuMemFree_v2(p));
    finish();
}

/* The default stream waits for a stream that is not non-blocking, and that for it. */
static void default_stream_orders(void)
{
    CUstream blocking;
    unsigned values[COUNT];
    start();
    CUdeviceptr p = allocate(BYTES);
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    OK(cuMemsetD32Async(p, 0, COUNT, blocking));
    for (int i = 0; i < 10; i++) {
        OK(increment(p, COUNT, NULL));
        OK(increment(p, COUNT, blocking));
    }
    OK(cuMemcpyDtoH_v2(values, p, BYTES));
    EXPECT(all(values, 20));
    OK(cuStreamDestroy_v2(blocking));
    OK(cuMemFree_v2(p));
    finish();
}

/* A non-blocking stream does not. */
static void default_stream_passes(void)
{
    unsigned values[COUNT];
    start();
    CUdeviceptr p = allocate(BYTES);
    close_gate(stream);
    OK(cuMemsetD32_v2(p, 3, COUNT));
    OK(cuMemcpyDtoH_v2(values, p, BYTES));
    EXPECT(all(values, 3));
    EXPECT(cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
    open_gate();
    OK(cuMemFree_v2(p));
    finish();
}

static void pool_memory_in_order(void)
{
    CUstream second;
    CUevent event;
    CUdeviceptr p;
    start();
    OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < 20; i++) {
        OK(cuMemAllocAsync(&p, BYTES, stream));
        OK(cuEventRecord(event, stream));
        OK(cuStreamWaitEvent(second, event, 0));
        OK(increment(p, COUNT, second));
        OK(cuEventRecord(event, second));
        OK(cuStreamWaitEvent(stream, event, 0));
        OK(cuMemFreeAsync(p, stream));
    }
    OK(cuCtxSynchronize());
    OK(cuEventDestroy_v2(event));
    OK(cuStreamDestroy_v2(second));
    finish();
}

/* While memory waits to be freed in one stream another allocates as much: unless it was told not
 * to, the pool lets that wait for the first. */
static void pool_depends(void)
{
    CUstream second;
    CUmemoryPool pools[2];
    CUdeviceptr p, q;
    int no = 0, yes;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location.type = CU_MEM_LOCATION_TYPE_DEVICE};
    start();
    OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 2; i++) {
        OK(cuMemPoolCreate(&pools[i], &props));
        OK(cuMemAllocFromPoolAsync(&p, 0, pools[i], stream));
        OK(cuMemPoolGetAttribute(pools[i], CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
                                 &yes));
        EXPECT(yes == 1);
    }
    OK(cuMemPoolSetAttribute(pools[1], CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &no));
    for (int i = 0; i < 2; i++) {
        OK(cuMemAllocFromPoolAsync(&p, BYTES, pools[i], stream));
        close_gate(stream);
        OK(cuMemFreeAsync(p, stream));
        OK(cuMemAllocFromPoolAsync(&q, BYTES, pools[i], second));
        if (i == 1)
            OK(cuStreamSynchronize(second));
        usleep(5000);
        EXPECT(cuStreamQuery(second) == (i == 0 ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS));
        open_gate();
        OK(cuMemFreeAsync(q, second));
        OK(cuCtxSynchronize());
        OK(cuMemPoolDestroy(pools[i]));
    }
    OK(cuStreamDestroy_v2(second));
    finish();
}

static void count_up(void *user)
{
    __atomic_fetch_add((int *)user, 1, __ATOMIC_RELEASE);
}

/* Whoever is told by a host function has waited for what came before it. */
static void host_function_tells(void)
{
    int calls = 0;
    start();
    CUdeviceptr p = allocate(BYTES);
    OK(increment(p, COUNT, stream));
    OK(cuLaunchHostFunc(stream, count_up, &calls));
    while (!__atomic_load_n(&calls, __ATOMIC_ACQUIRE))
        usleep(100);
    OK(cuMemFree_v2(p));
    finish();
}

static void times_are_measured(void)
{
    CUevent from, to;
    float ms;
    start();
    OK(cuEventCreate(&from, 0));
    OK(cuEventCreate(&to, 0));
    OK(cuEventRecord(from, stream));
    close_gate(stream);
    OK(cuEventRecord(to, stream));
    EXPECT(cuEventQuery(to) == CUDA_ERROR_NOT_READY);
    EXPECT(cuEventElapsedTime(&ms, from, to) == CUDA_ERROR_NOT_READY);
    usleep(3000);
    open_gate();
    OK(cuEventSynchronize(to));
    OK(cuEventElapsedTime(&ms, from, to));
    EXPECT(ms >= 0 && ms < 1e5f);
    OK(cuEventDestroy_v2(from));
    OK(cuEventDestroy_v2(to));
    finish();
}

/* Each thread has a stream of its own, ordered with the default one. */
static void *fill_by_thread(void *address)
{
    CUdeviceptr p = *(CUdeviceptr *)address;
    OK(cuCtxPushCurrent_v2(context));
    OK(cuMemsetD32Async(p, 5, COUNT, CU_STREAM_PER_THREAD));
    OK(cuCtxPopCurrent_v2(NULL));
    return NULL;
}

static void threads_have_streams(void)
{
    unsigned values[COUNT];
    pthread_t thread;
    start();
    CUdeviceptr p = allocate(BYTES);
    close_gate(CU_STREAM_PER_THREAD);
    pthread_create(&thread, NULL, fill_by_thread, &p);
    pthread_join(thread, NULL);
    EXPECT(cuStreamQuery(CU_STREAM_PER_THREAD) == CUDA_ERROR_NOT_READY);
    open_gate();
    OK(cuMemcpyDtoH_v2(values, p, BYTES));
    EXPECT(all(values, 5));
    OK(cuStreamQuery(CU_STREAM_PER_THREAD));
    OK(cuMemFree_v2(p));
    finish();
}

/* ---- Errors ---- */

static void callback(CUstream in, CUresult status, void *user)
{
    EXPECT(in == stream && status == CUDA_ERROR_ILLEGAL_ADDRESS);
    count_up(user);
}

/* A fault is told by a later call, and by every one after it. */
static void faults_stay(void)
{
    int functions = 0, callbacks = 0;
    CUdeviceptr q;
    start();
    CUdeviceptr p = allocate(BYTES);
    OK(increment(p, COUNT + 1, stream));
    cuLaunchHostFunc(stream, count_up, &functions);
    cuStreamAddCallback(stream, callback, &callbacks, 0);
    EXPECT(cuStreamSynchronize(stream) == CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT(cuMemAlloc_v2(&q, BYTES) == CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT(cuMemFree_v2(p) == CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT(functions == 0);
    finish_lost();
    OK(cuDevicePrimaryCtxRetain(&context, 0)); /* for good */
    OK(cuCtxPushCurrent_v2(context));
    EXPECT(cuMemAlloc_v2(&q, BYTES) == CUDA_ERROR_ILLEGAL_ADDRESS);
    OK(cuCtxPopCurrent_v2(NULL));
    OK(cuDevicePrimaryCtxRelease_v2(0));
}

static void failures_are_injected(void)
{
    CUdeviceptr p, q;
    start();
    p = allocate(BYTES);
    EXPECT(cuMemAlloc_v2(&q, BYTES) == CUDA_ERROR_OUT_OF_MEMORY);
    q = allocate(BYTES);
    EXPECT(cuMemFree_v2(p) == CUDA_ERROR_INVALID_VALUE); /* and has freed it */
    EXPECT(cuMemFree_v2(q) == CUDA_ERROR_INVALID_VALUE);
    finish();
}

static void grids_are_resident(void)
{
    int most;
    unsigned n = COUNT;
    start();
    CUdeviceptr p = allocate(BYTES);
    void *params[] = {&p, &n};
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&most, function, 64, 0));
    EXPECT(most == 32); /* of 132 */
    OK(cuLaunchCooperativeKernel(function, 32 * 132, 1, 1, 64, 1, 1, 0, stream, params));
    EXPECT(cuLaunchCooperativeKernel(function, 32 * 132 + 1, 1, 1, 64, 1, 1, 0, stream, params) ==
           CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    OK(cuStreamSynchronize(stream));
    OK(cuMemFree_v2(p));
    finish();
}

static void injected_faults_stay(void)
{
    start();
    CUdeviceptr p = allocate(BYTES);
    EXPECT(increment(p, COUNT, stream) == CUDA_ERROR_LAUNCH_FAILED);
    EXPECT(cuStreamSynchronize(stream) == CUDA_ERROR_LAUNCH_FAILED);
    finish_lost();
}

/* ---- Versions and chips ---- */

static void calls_have_versions(void)
{
    void *entry;
    int count;
    EXPECT(!cuGetProcAddress_v2 && cuGetProcAddress);
    OK(cuGetProcAddress("cuMemAlloc", &entry, 11080, 0));
    EXPECT(entry);
    OK(cuGetProcAddress("cuMemAllocAsync", &entry, 11080, 0));
    EXPECT(cuGetProcAddress("cuMemAllocAsync", &entry, 11010, 0) == CUDA_ERROR_NOT_FOUND);
    EXPECT(cuGetProcAddress("cuFuncLoad", &entry, 13000, 0) == CUDA_ERROR_NOT_FOUND && !entry);
    OK(cuInit(0));
    OK(cuDeviceGetCount(&count));
    EXPECT(count == 1);
}

static void old_driver(void)
{
    int version;
    EXPECT(!cuGetProcAddress && !cuMemAllocAsync && cuMemAlloc_v2);
    OK(cuDriverGetVersion(&version));
    EXPECT(version == 11010);
}

static void no_device(void)
{
    EXPECT(cuInit(0) == CUDA_ERROR_NO_DEVICE);
}

static int attribute(CUdevice_attribute which)
{
    int value;
    OK(cuDeviceGetAttribute(&value, which, 0));
    return value;
}

static void chips_differ(void)
{
    OK(cuInit(0));
    EXPECT(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) == 8);
    EXPECT(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) == 6);
    EXPECT(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) == 101376);
    EXPECT(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) == 82);
}

static void no_pools(void)
{
    CUdeviceptr p;
    start();
    EXPECT(attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) == 0);
    EXPECT(cuMemAllocAsync(&p, BYTES, stream) == CUDA_ERROR_NOT_SUPPORTED);
    finish();
}

static void child_is_told(void)
{
    int count, status;
    start();
    pid_t child = fork();
    if (child == 0)
        exit(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
    waitpid(child, &status, 0);
    EXPECT(status == 0);
    finish();
}

static void images_are_linked(void)
{
    CUlinkState link;
    CUmodule second;
    void *image;
    size_t size;
    start();
    OK(cuLinkCreate_v2(0, NULL, NULL, &link));
    OK(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)increment_ptx,
                        strlen(increment_ptx) + 1, "increment", 0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &size));
    OK(cuModuleLoadData(&second, image));
    OK(cuLinkDestroy(link));
    OK(cuModuleGetFunction(&function, second, "increment"));
    OK(cuModuleUnload(second));
    finish();
}

#define PROMISE(name) \
    { \
#name, name, NULL, NULL \
    }

static const check_case cases[] = {
    PROMISE(memory_is_poisoned),
    {"memory_runs_out", memory_runs_out, NULL, "KJIT_DOUBLE_MEMORY=1000000"},
    PROMISE(pageable_is_read_at_once),
    PROMISE(pinned_is_read_late),
    PROMISE(host_is_written_late),
    PROMISE(rows_are_copied),
    PROMISE(events_order_streams),
    PROMISE(default_stream_orders),
    PROMISE(default_stream_passes),
    PROMISE(pool_memory_in_order),
    PROMISE(pool_depends),
    PROMISE(host_function_tells),
    PROMISE(times_are_measured),
    PROMISE(threads_have_streams),
    PROMISE(faults_stay),
    {"failures_are_injected", failures_are_injected, NULL,
     "KJIT_DOUBLE_FAIL=cuMemAlloc:2:2,cuMemFree_v2:1:1:always"},
    PROMISE(grids_are_resident),
    {"injected_faults_stay", injected_faults_stay, NULL, "KJIT_DOUBLE_FAIL=cuLaunchKernel:1:719"},
    {"calls_have_versions", calls_have_versions, NULL, "KJIT_DOUBLE_CUDA=11080"},
    {"old_driver", old_driver, NULL, "KJIT_DOUBLE_CUDA=11010"},
    {"no_device", no_device, NULL, "KJIT_DOUBLE_DEVICES=0"},
    {"chips_differ", chips_differ, NULL, "KJIT_DOUBLE_CHIP=86"},
    {"no_pools", no_pools, NULL, "KJIT_DOUBLE_POOLS=0"},
    PROMISE(child_is_told),
    PROMISE(images_are_linked),
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, cases, sizeof cases / sizeof *cases);
}
