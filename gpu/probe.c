/* gpu-probe: what this driver answers where kjit, or the driver double, takes an answer for
 * granted. A line a question: the question, a tab, the answer. The questions are the same on every
 * machine, so that two lists can be laid side by side: gpu-test shows where the machine's differs
 * from the double's. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *library;
static void *context, *stream, *module, *function, *together;
static uintptr_t memory; /* on the device */

enum { BYTES = 4096, NOT_THERE = -1 };
enum { GLOBAL, THREAD_LOCAL, RELAXED };

/* fill(p): p[0] = 7. meet(p): the same, for cooperative launches. */
static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry fill(.param .u64 p)\n{\n"
                          "    .reg .b32 %r<2>;\n    .reg .b64 %rd<3>;\n"
                          "    ld.param.u64 %rd1, [p];\n    cvta.to.global.u64 %rd2, %rd1;\n"
                          "    mov.u32 %r1, 7;\n    st.global.u32 [%rd2], %r1;\n    ret;\n}\n"
                          ".visible .entry meet(.param .u64 p)\n{\n"
                          "    .reg .b32 %r<2>;\n    .reg .b64 %rd<3>;\n"
                          "    ld.param.u64 %rd1, [p];\n    cvta.to.global.u64 %rd2, %rd1;\n"
                          "    mov.u32 %r1, 7;\n    st.global.u32 [%rd2], %r1;\n    ret;\n}\n";

/* ---- Calls: numbers and addresses, at most twelve ---- */

static int call(const char *name, const uintptr_t *a)
{
    int (*f)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
             uintptr_t, uintptr_t, uintptr_t);
    void *symbol = dlsym(library, name);
    if (symbol == NULL)
        return NOT_THERE;
    memcpy(&f, &symbol, sizeof f);
    return f(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10]);
}
#define CU(...) CU_(__VA_ARGS__, 0)
#define CU_(name, ...) call(name, (const uintptr_t[12]){__VA_ARGS__})
#define AT(place) ((uintptr_t)(place))

static void must(const char *what, int result)
{
    if (result == 0)
        return;
    fprintf(stderr, "gpu-probe: %s: the driver's error %d\n", what, result);
    exit(1);
}

static void answer(const char *question, const char *of, int result)
{
    printf("%s%s%s\t%d\n", question, *of ? ": " : "", of, result);
}

static int launch_in(void *s, void *f, bool cooperative)
{
    void *params[] = {&memory};
    return cooperative
               ? CU("cuLaunchCooperativeKernel", AT(f), 1, 1, 1, 1, 1, 1, 0, AT(s), AT(params))
               : CU("cuLaunchKernel", AT(f), 1, 1, 1, 1, 1, 1, 0, AT(s), AT(params), 0);
}

/* ---- The device and its memory ---- */

static void attributes(void)
{
    static const struct {
        const char *name;
        int number;
    } rows[] = {{"memory pools", 115},
                {"cooperative launch", 95},
                {"pageable memory access", 88},
                {"its page tables are the host's", 100},
                {"managed memory", 83},
                {"concurrent managed access", 89},
                {"host memory can be mapped", 19},
                {"unified addressing", 41},
                {"read-only registration", 113},
                {"registered memory by its own address", 91}};
    int mode = NOT_THERE, value;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        value = NOT_THERE;
        CU("cuDeviceGetAttribute", AT(&value), (uintptr_t)rows[i].number, 0);
        answer("attribute", rows[i].name, value);
    }
    CU("cuModuleGetLoadingMode", AT(&mode));
    answer("modules are loaded lazily (2) or at once (1)", "", mode);
}

static void pointer(const char *what, uintptr_t address)
{
    unsigned type = 0;
    uintptr_t device = 0;
    const int result = CU("cuPointerGetAttribute", AT(&type), 2, address);
    printf("memory type of %s\t%d, type %u\n", what, result, type);
    const int other = CU("cuPointerGetAttribute", AT(&device), 3, address);
    printf("device address of %s\t%d, %s\n", what, other,
           other != 0          ? "none"
           : device == address ? "the same"
                               : "another");
}

static void pointers(void)
{
    uintptr_t locked = 0, managed = 0;
    char *plain = aligned_alloc(BYTES, BYTES);
    memset(plain, 1, BYTES);
    pointer("device memory", memory);
    pointer("plain host memory", AT(plain));
    if (CU("cuMemHostAlloc", AT(&locked), BYTES, 0) == 0)
        pointer("page-locked memory", locked);
    answer("register", "a page", CU("cuMemHostRegister_v2", AT(plain), BYTES, 0));
    pointer("registered memory", AT(plain));
    answer("unregister", "a page", CU("cuMemHostUnregister", AT(plain)));
    answer("managed memory", "for all", CU("cuMemAllocManaged", AT(&managed), BYTES, 1));
    if (managed != 0) {
        pointer("managed memory", managed);
        CU("cuMemFree_v2", managed);
    }
    managed = 0;
    answer("managed memory", "attached to the host",
           CU("cuMemAllocManaged", AT(&managed), BYTES, 2));
    if (managed != 0)
        CU("cuMemFree_v2", managed);
    CU("cuMemFreeHost", locked);
    free(plain);
}

static void registrations(void)
{
    char *plain = aligned_alloc(BYTES, 4 * BYTES);
    memset(plain, 1, 4 * BYTES);
    answer("register", "half a page", CU("cuMemHostRegister_v2", AT(plain), BYTES / 2, 0));
    const int second = CU("cuMemHostRegister_v2", AT(plain + BYTES / 2), BYTES / 2, 0);
    answer("register", "the other half of that page", second);
    answer("register", "what is registered", CU("cuMemHostRegister_v2", AT(plain), BYTES / 2, 0));
    answer("unregister", "the first half", CU("cuMemHostUnregister", AT(plain)));
    if (second == 0)
        answer("unregister", "the second half", CU("cuMemHostUnregister", AT(plain + BYTES / 2)));
    answer("register", "read-only", CU("cuMemHostRegister_v2", AT(plain + BYTES), BYTES, 8));
    CU("cuMemHostUnregister", AT(plain + BYTES));
    free(plain);
}

static void pools(void)
{
    static const struct {
        const char *name;
        uintptr_t number;
    } rows[] = {{"following events", 1}, {"opportunistic", 2}, {"with dependencies of its own", 3}};
    struct {
        unsigned type, handles, location_type;
        int location;
        void *security;
        size_t max_size;
        unsigned short usage;
        unsigned char reserved[54];
    } properties = {.type = 1, .location_type = 1};
    void *pool = NULL;
    uintptr_t p = 0;
    char handle[64];
    int value = NOT_THERE, no = 0;
    const int made = CU("cuMemPoolCreate", AT(&pool), AT(&properties));
    answer("a pool", "made", made);
    for (size_t i = 0; made == 0 && i < 3; i++) {
        value = NOT_THERE;
        CU("cuMemPoolGetAttribute", AT(pool), rows[i].number, AT(&value));
        answer("a new pool reuses memory", rows[i].name, value);
    }
    if (made == 0) {
        answer("a pool", "set to no dependencies",
               CU("cuMemPoolSetAttribute", AT(pool), 3, AT(&no)));
        CU("cuMemPoolGetAttribute", AT(pool), 3, AT(&value));
        answer("a pool", "what that reads then", value);
        answer("a pool", "an allocation",
               CU("cuMemAllocFromPoolAsync", AT(&p), BYTES, AT(pool), AT(stream)));
        answer("a pool", "no bytes",
               CU("cuMemAllocFromPoolAsync", AT(&value), 0, AT(pool), AT(stream)));
        CU("cuStreamSynchronize", AT(stream));
        answer("another process", "is shown a pool's memory",
               CU("cuIpcGetMemHandle", AT(handle), p) != 0);
        answer("a pool", "a free", CU("cuMemFreeAsync", p, AT(stream)));
        CU("cuStreamSynchronize", AT(stream));
        answer("a pool", "its end", CU("cuMemPoolDestroy", AT(pool)));
    }
    answer("another process", "is shown plain device memory",
           CU("cuIpcGetMemHandle", AT(handle), memory));
}

/* ---- Code ---- */

static void modules(void)
{
    static const char bad[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                              ".visible .entry bad()\n{\n    mov.u32 %r1, nothing;\n    ret;\n}\n";
    static const char newer[] = ".version 99.0\n.target sm_75\n.address_size 64\n"
                                ".visible .entry k()\n{\n    ret;\n}\n";
    static char log[4096];
    void *made = NULL, *found = NULL;
    int options[] = {5, 6};
    void *values[] = {log, (void *)sizeof log};
    answer("PTX that is wrong", "loaded",
           CU("cuModuleLoadDataEx", AT(&made), AT(bad), 2, AT(options), AT(values)));
    answer("PTX that is wrong", "the log says something", log[0] != '\0');
    answer("PTX of a version to come", "loaded", CU("cuModuleLoadData", AT(&made), AT(newer)));
    answer("a function that is not there", "",
           CU("cuModuleGetFunction", AT(&found), AT(module), AT("none")));
}

static void launches(void)
{
    void *params[] = {&memory};
    answer("launch", "a grid of 65536 rows",
           CU("cuLaunchKernel", AT(function), 1, 65536, 1, 1, 1, 1, 0, AT(stream), AT(params), 0));
    answer("launch", "a block of 1025 threads",
           CU("cuLaunchKernel", AT(function), 1, 1, 1, 1025, 1, 1, 0, AT(stream), AT(params), 0));
    answer("launch", "more shared memory than was allowed",
           CU("cuLaunchKernel", AT(function), 1, 1, 1, 1, 1, 1, 60000, AT(stream), AT(params), 0));
    answer("launch", "no blocks",
           CU("cuLaunchKernel", AT(function), 0, 1, 1, 1, 1, 1, 0, AT(stream), AT(params), 0));
    answer("cooperative launch", "of a million blocks",
           CU("cuLaunchCooperativeKernel", AT(together), 1000000, 1, 1, 1024, 1, 1, 0, AT(stream),
              AT(params)));
    answer("cooperative launch", "of one", launch_in(stream, together, true));
    CU("cuStreamSynchronize", AT(stream));
}

/* ---- Captures ---- */

static void *event, *other; /* an event that was reached, and a stream without work */

static int allocate(void)
{
    uintptr_t p = 0;
    const int result = CU("cuMemAlloc_v2", AT(&p), BYTES);
    if (result == 0)
        CU("cuMemFree_v2", p);
    return result;
}

static int lock(void)
{
    uintptr_t p = 0;
    const int result = CU("cuMemHostAlloc", AT(&p), BYTES, 0);
    if (result == 0)
        CU("cuMemFreeHost", p);
    return result;
}

static int load(void)
{
    void *made = NULL;
    const int result = CU("cuModuleLoadData", AT(&made), AT(ptx));
    if (result == 0)
        CU("cuModuleUnload", AT(made));
    return result;
}

static int make_stream(void)
{
    void *made = NULL;
    const int result = CU("cuStreamCreate", AT(&made), 1);
    if (result == 0)
        CU("cuStreamDestroy_v2", AT(made));
    return result;
}

static int make_event(void)
{
    void *made = NULL;
    const int result = CU("cuEventCreate", AT(&made), 2);
    if (result == 0)
        CU("cuEventDestroy_v2", AT(made));
    return result;
}

static int ask_memory(void)
{
    size_t left, all;
    return CU("cuMemGetInfo_v2", AT(&left), AT(&all));
}

static int ask_event(void)
{
    return CU("cuEventQuery", AT(event));
}

static int wait_for_event(void)
{
    return CU("cuEventSynchronize", AT(event));
}

static int ask_stream(void)
{
    return CU("cuStreamQuery", AT(other));
}

static int wait_for_stream(void)
{
    return CU("cuStreamSynchronize", AT(other));
}

static int launch_beside(void)
{
    return launch_in(other, function, false);
}

static int synchronize(void)
{
    return CU("cuCtxSynchronize");
}

static const struct {
    const char *name;
    int (*call)(void);
} calls[] = {{"cuMemAlloc", allocate},
             {"cuMemHostAlloc", lock},
             {"cuModuleLoadData", load},
             {"cuStreamCreate", make_stream},
             {"cuEventCreate", make_event},
             {"cuMemGetInfo", ask_memory},
             {"cuEventQuery of another event", ask_event},
             {"cuEventSynchronize of another event", wait_for_event},
             {"cuStreamQuery of another stream", ask_stream},
             {"cuStreamSynchronize of another stream", wait_for_stream},
             {"cuLaunchKernel in another stream", launch_beside},
             {"cuCtxSynchronize", synchronize}};

typedef struct work {
    size_t call;
    int mode, result;
} work;

static void *on_thread(void *data)
{
    work *w = data;
    void *left;
    int mode = w->mode;
    CU("cuCtxPushCurrent_v2", AT(context));
    CU("cuThreadExchangeStreamCaptureMode", AT(&mode));
    w->result = calls[w->call].call();
    CU("cuCtxPopCurrent_v2", AT(&left));
    return NULL;
}

/* One call while a stream is captured, and how the capture ends; a line a call, whether it is made
 * by the thread that captures or another, in its usual mode or the relaxed one. */
static void captures_meet(int capture, int caller, bool elsewhere)
{
    static const char *const modes[] = {"global", "thread-local", "relaxed"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *graph = NULL;
        work w = {.call = i, .mode = caller};
        int mode = caller;
        must("begin a capture", CU("cuStreamBeginCapture_v2", AT(stream), (uintptr_t)capture));
        launch_in(stream, function, false);
        if (elsewhere) {
            pthread_t thread;
            pthread_create(&thread, NULL, on_thread, &w);
            pthread_join(thread, NULL);
        } else {
            CU("cuThreadExchangeStreamCaptureMode", AT(&mode));
            w.result = calls[i].call();
            CU("cuThreadExchangeStreamCaptureMode", AT(&mode));
        }
        const int end = CU("cuStreamEndCapture", AT(stream), AT(&graph));
        printf("in a %s capture, %s thread, mode %s: %s\t%d, the capture %d\n", modes[capture],
               elsewhere ? "another" : "its", modes[caller], calls[i].name, w.result, end);
        if (graph != NULL)
            CU("cuGraphDestroy", AT(graph));
        CU("cuStreamSynchronize", AT(other));
    }
}

static void captures(void)
{
    void *blocking, *graph = NULL, *exec = NULL;
    int status = NOT_THERE, value = 0;
    captures_meet(GLOBAL, GLOBAL, false);
    captures_meet(GLOBAL, RELAXED, false);
    captures_meet(GLOBAL, GLOBAL, true);
    captures_meet(GLOBAL, RELAXED, true);
    captures_meet(THREAD_LOCAL, GLOBAL, true);
    captures_meet(RELAXED, GLOBAL, false);
    must("make a stream", CU("cuStreamCreate", AT(&blocking), 0));
    must("begin a capture", CU("cuStreamBeginCapture_v2", AT(blocking), GLOBAL));
    answer("is the legacy stream captured, while a blocking one is", "",
           CU("cuStreamIsCapturing", 1, AT(&status)));
    answer("is a stream captured, while it is", "",
           CU("cuStreamIsCapturing", AT(blocking), AT(&status)) * 10 + status);
    answer("that capture ends", "", CU("cuStreamEndCapture", AT(blocking), AT(&graph)));
    if (graph != NULL)
        CU("cuGraphDestroy", AT(graph));
    CU("cuStreamDestroy_v2", AT(blocking));
    graph = NULL;
    must("begin a capture", CU("cuStreamBeginCapture_v2", AT(stream), RELAXED));
    answer("a cooperative launch in a graph", "captured", launch_in(stream, together, true));
    answer("a cooperative launch in a graph", "ended",
           CU("cuStreamEndCapture", AT(stream), AT(&graph)));
    if (graph == NULL)
        return;
    answer("a cooperative launch in a graph", "instantiated",
           CU("cuGraphInstantiateWithFlags", AT(&exec), AT(graph), 0));
    CU("cuMemsetD32Async", memory, 0, 1, AT(stream));
    if (exec != NULL) {
        answer("a cooperative launch in a graph", "launched",
               CU("cuGraphLaunch", AT(exec), AT(stream)));
        answer("a cooperative launch in a graph", "done", CU("cuStreamSynchronize", AT(stream)));
        CU("cuMemcpyDtoH_v2", AT(&value), memory, sizeof value);
        answer("a cooperative launch in a graph", "its result", value);
        CU("cuGraphExecDestroy", AT(exec));
    }
    CU("cuGraphDestroy", AT(graph));
}

/* ---- ---- */

static void open_driver(void)
{
    const char *path = getenv("KJIT_CUDA_DRIVER");
    library = dlopen(path != NULL && *path != '\0' ? path : "libcuda.so.1", RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "gpu-probe: %s\n", dlerror());
        exit(1);
    }
    must("cuInit", CU("cuInit", 0));
    must("open the device", CU("cuDevicePrimaryCtxRetain", AT(&context), 0));
    must("enter it", CU("cuCtxPushCurrent_v2", AT(context)));
    must("make a stream", CU("cuStreamCreate", AT(&stream), 1));
    must("make a stream", CU("cuStreamCreate", AT(&other), 1));
    must("make an event", CU("cuEventCreate", AT(&event), 2));
    must("record it", CU("cuEventRecord", AT(event), AT(other)));
    must("wait", CU("cuStreamSynchronize", AT(other)));
    must("take memory", CU("cuMemAlloc_v2", AT(&memory), BYTES));
    must("load code", CU("cuModuleLoadData", AT(&module), AT(ptx)));
    must("find a function", CU("cuModuleGetFunction", AT(&function), AT(module), AT("fill")));
    must("find a function", CU("cuModuleGetFunction", AT(&together), AT(module), AT("meet")));
}

static void close_driver(void)
{
    void *left;
    CU("cuModuleUnload", AT(module));
    CU("cuMemFree_v2", memory);
    CU("cuEventDestroy_v2", AT(event));
    CU("cuStreamDestroy_v2", AT(other));
    CU("cuStreamDestroy_v2", AT(stream));
    CU("cuCtxPopCurrent_v2", AT(&left));
    CU("cuDevicePrimaryCtxRelease_v2", 0);
}

/* gpu-probe hold: keeps the device's context open until it is ended, so that a GPU which nobody
 * else uses stays awake. */
static _Noreturn void hold(void)
{
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0); /* what was answered before a crash is known */
    open_driver();
    if (argc > 1 && strcmp(argv[1], "hold") == 0)
        hold();
    attributes();
    pointers();
    registrations();
    pools();
    modules();
    launches();
    captures();
    close_driver();
    return 0;
}
