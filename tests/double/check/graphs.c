/* Captures of streams and their graphs: what they do, and the mistakes that may be made with
 * them. */
#include "check.h"
#include <pthread.h>

enum { COUNT = 1000, BYTES = 4 * COUNT };

static bool same(const unsigned *values, unsigned wanted)
{
    for (int i = 0; i < COUNT; i++) {
        if (values[i] != wanted)
            return false;
    }
    return true;
}

static void count_up(void *user)
{
    __atomic_fetch_add((int *)user, 1, __ATOMIC_RELEASE);
}

/* What was captured runs at each launch of the graph, and not before. */
static void graphs_replay(void)
{
    unsigned *host;
    int calls = 0;
    CUgraph graph;
    CUgraphExec exec;
    CUstreamCaptureStatus status;
    start();
    CUdeviceptr p = allocate(BYTES);
    OK(cuMemHostAlloc((void **)&host, BYTES, 0));
    OK(cuMemsetD32Async(p, 0, COUNT, stream));
    memset(host, 0, BYTES);
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cuStreamIsCapturing(stream, &status));
    EXPECT(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(increment(p, COUNT, stream));
    OK(increment(p, COUNT, stream));
    OK(cuMemcpyDtoHAsync_v2(host, p, BYTES, stream));
    OK(cuLaunchHostFunc(stream, count_up, &calls));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    OK(cuStreamSynchronize(stream));
    EXPECT(same(host, 0) && calls == 0);
    for (int i = 0; i < 10; i++)
        OK(cuGraphLaunch(exec, i % 2 ? stream : NULL)); /* never two at once */
    OK(cuGraphExecDestroy(exec));
    OK(cuCtxSynchronize());
    EXPECT(same(host, 20) && calls == 10);
    OK(cuMemFreeHost(host));
    OK(cuMemFree_v2(p));
    finish();
}

/* ---- Mistakes ---- */

static void begin(CUstreamCaptureMode mode)
{
    start();
    OK(cuStreamBeginCapture_v2(stream, mode));
}

/* The capture came to nothing. */
static void end_spoilt(void)
{
    CUgraph graph;
    EXPECT(cuStreamEndCapture(stream, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED && !graph);
    finish();
}

static void wait_in_capture(void)
{
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    EXPECT(cuStreamSynchronize(stream) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    end_spoilt();
}

static void event_in_capture(void)
{
    CUevent event;
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    OK(cuEventCreate(&event, 0));
    EXPECT(cuEventRecord(event, stream) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    OK(cuEventDestroy_v2(event));
    end_spoilt();
}

static void pageable_in_capture(void)
{
    static char bytes[BYTES];
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    CUdeviceptr p = allocate(BYTES);
    EXPECT(cuMemcpyHtoDAsync_v2(p, bytes, BYTES, stream) != CUDA_SUCCESS);
    OK(cuMemFree_v2(p));
    end_spoilt();
}

static void allocation_in_capture(void)
{
    CUdeviceptr p;
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    EXPECT(cuMemAlloc_v2(&p, BYTES) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    end_spoilt();
}

static void legacy_waits_for_capture(void)
{
    CUstream blocking;
    CUgraph graph;
    start();
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    OK(cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT(increment(0, 0, NULL) != CUDA_SUCCESS);
    EXPECT(cuStreamEndCapture(blocking, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuStreamDestroy_v2(blocking));
    finish();
}

static void context_waits_for_capture(void)
{
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    EXPECT(cuCtxSynchronize() == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    end_spoilt();
}

/* Whether the default stream can be used is told, and nothing spoilt by asking. */
static void legacy_is_asked(void)
{
    CUstream blocking;
    CUgraph graph;
    CUstreamCaptureStatus status;
    start();
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    OK(cuStreamIsCapturing(NULL, &status));
    EXPECT(status == CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EXPECT(cuStreamIsCapturing(NULL, &status) == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    EXPECT(cuStreamIsCapturing(CU_STREAM_LEGACY, &status) == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    OK(cuStreamEndCapture(blocking, &graph));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy_v2(blocking));
    finish();
}

/* ---- Modes: of captures, and of threads that call ---- */

static CUstreamCaptureMode mode_of_other;
static CUresult result_of_other;

static void *allocate_on_other(void *unused)
{
    CUdeviceptr p;
    CUstreamCaptureMode mode = mode_of_other;
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    EXPECT(mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
    OK(cuCtxPushCurrent_v2(context));
    result_of_other = cuMemAlloc_v2(&p, BYTES);
    if (result_of_other == CUDA_SUCCESS)
        OK(cuMemFree_v2(p));
    OK(cuCtxPopCurrent_v2(NULL));
    return unused;
}

static CUresult on_other_thread(CUstreamCaptureMode mode)
{
    pthread_t thread;
    mode_of_other = mode;
    pthread_create(&thread, NULL, allocate_on_other, NULL);
    pthread_join(thread, NULL);
    return result_of_other;
}

static void modes_allow(void)
{
    CUgraph graph;
    CUdeviceptr p;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    OK(on_other_thread(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(on_other_thread(CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    p = allocate(BYTES);
    OK(cuMemFree_v2(p));
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    EXPECT(mode == CU_STREAM_CAPTURE_MODE_RELAXED);
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphDestroy(graph));
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(on_other_thread(CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphDestroy(graph));
    finish();
}

static void modes_forbid_others(void)
{
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    EXPECT(on_other_thread(CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    end_spoilt();
}

static void modes_forbid_own(void)
{
    CUdeviceptr p;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    EXPECT(cuMemAlloc_v2(&p, BYTES) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    end_spoilt();
}

/* That one is carried out. */
static void code_in_capture(void)
{
    CUmodule made;
    CUfunction f;
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    OK(cuModuleLoadData(&made, increment_ptx));
    OK(cuModuleGetFunction(&f, made, "increment"));
    end_spoilt();
}

static void graph_of_freed(void)
{
    CUgraph graph;
    CUgraphExec exec;
    start();
    CUdeviceptr p = allocate(BYTES);
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(increment(p, 16, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuMemFree_v2(p));
    EXPECT(cuGraphLaunch(exec, stream) == CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    finish();
}

static const check_case cases[] = {
    PROMISE(graphs_replay),
    MISTAKE(wait_in_capture, "is captured, which can have no wait for it"),
    MISTAKE(event_in_capture, "misuse: cuEventRecord"),
    MISTAKE(pageable_in_capture, "which can have no copy of memory that is not page-locked"),
    MISTAKE(allocation_in_capture, "is captured in mode 0"),
    MISTAKE(legacy_waits_for_capture, "the legacy stream waits for stream"),
    MISTAKE(context_waits_for_capture, "is captured, which can have no wait for its context"),
    PROMISE(legacy_is_asked),
    PROMISE(modes_allow),
    MISTAKE(modes_forbid_others, "is captured in mode 0"),
    MISTAKE(modes_forbid_own, "is captured in mode 1"),
    MISTAKE(code_in_capture, "misuse: cuModuleLoadData"),
    MISTAKE(graph_of_freed, "part 0 of the graph, launch increment: what it uses was ended"),
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, cases, sizeof cases / sizeof *cases);
}
