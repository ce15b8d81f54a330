/* What a process may leave behind, each kind of which the double must tell. */
#include "check.h"
#include <pthread.h>

enum { BYTES = 4096 };

static void leave_memory(void)
{
    start();
    allocate(BYTES);
    finish();
}

static void leave_pool_memory(void)
{
    CUdeviceptr p;
    start();
    OK(cuMemAllocAsync(&p, BYTES, stream));
    finish();
}

static void leave_pinned(void)
{
    void *host;
    start();
    OK(cuMemHostAlloc(&host, BYTES, CU_MEMHOSTALLOC_PORTABLE));
    finish();
}

static void leave_registered(void)
{
    static char host[BYTES];
    start();
    OK(cuMemHostRegister_v2(host, BYTES, 0));
    finish();
}

static void leave_stream(void)
{
    CUstream second;
    start();
    OK(cuStreamCreate(&second, 0));
    finish();
}

static void leave_event(void)
{
    CUevent event;
    start();
    OK(cuEventCreate(&event, 0));
    finish();
}

static void leave_module(void)
{
    CUmodule second;
    start();
    OK(cuModuleLoadData(&second, increment_ptx));
    finish();
}

static void leave_link(void)
{
    CUlinkState link;
    start();
    OK(cuLinkCreate_v2(0, NULL, NULL, &link));
    finish();
}

static void leave_pool(void)
{
    CUmemoryPool pool;
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    start();
    OK(cuMemPoolCreate(&pool, &props));
    finish();
}

static void leave_managed(void)
{
    CUdeviceptr p;
    start();
    OK(cuMemAllocManaged(&p, BYTES, CU_MEM_ATTACH_GLOBAL));
    finish();
}

static void leave_graph(void)
{
    CUgraph graph;
    start();
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuStreamEndCapture(stream, &graph));
    finish();
}

static void leave_context(void)
{
    start();
    other_context();
    OK(cuCtxPopCurrent_v2(NULL));
    finish();
}

static void pop_forgotten(void)
{
    start();
    OK(cuCtxPushCurrent_v2(context));
    finish();
}

static void *push_only(void *unused)
{
    OK(cuCtxPushCurrent_v2(context));
    return unused;
}

static void pop_forgotten_in_thread(void)
{
    pthread_t thread;
    start();
    pthread_create(&thread, NULL, push_only, NULL);
    pthread_join(thread, NULL);
    finish();
}

static void release_forgotten(void)
{
    CUcontext again;
    start();
    OK(cuDevicePrimaryCtxRetain(&again, 0));
    finish();
}

static const check_case cases[] = {
    MISTAKE(leave_memory, "leak: 4096 bytes of device memory at 0x1000000000100, made by call 7"),
    MISTAKE(leave_pool_memory, "leak: 4096 bytes of device memory"),
    MISTAKE(leave_pinned, "leak: 4096 bytes of page-locked memory"),
    MISTAKE(leave_registered, "leak: 4096 bytes of page-locked memory"),
    MISTAKE(leave_stream, "leak: stream"),
    MISTAKE(leave_event, "leak: event"),
    MISTAKE(leave_module, "leak: module"),
    MISTAKE(leave_link, "leak: link"),
    MISTAKE(leave_pool, "leak: pool"),
    MISTAKE(leave_managed, "leak: 4096 bytes of managed memory"),
    MISTAKE(leave_graph, "leak: graph"),
    MISTAKE(leave_context, "leak: context"),
    MISTAKE(pop_forgotten, "leak: 1 contexts on the stack of thread T1"),
    MISTAKE(pop_forgotten_in_thread, "leak: thread T2 ended with 1 contexts on its stack"),
    MISTAKE(release_forgotten, "leak: the primary context of device 0, retained 1 times"),
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, cases, sizeof cases / sizeof *cases);
}
