/* kjit in a process that captures graphs with the CUDA driver: whatever kjit does meanwhile, on
 * that thread or another, the capture goes on; the stream that is captured is left alone. */
#include "guest.h"
#include "on_threads.h"

enum { N = 4000, BYTES = 4 * N };
enum { GLOBAL, THREAD_LOCAL, RELAXED }; /* modes of captures */
enum { BLOCKING, NON_BLOCKING, UNSUPPORTED = 900 };

static const char source[] =
    "kernel add(x: i32[], n: i32) { let i = grid(1); if i < x.size { x[i] += n } }\n"
    "kernel both(x: i32[], n: i32) {\n"
    "    let i = grid(1)\n"
    "    if i < x.size { x[i] += n }\n"
    "    grid_sync()\n"
    "    if i < x.size { x[i] += n }\n"
    "}\n"
    "kernel check(x: i32[], n: i32) { let i = grid(1); assert(i >= x.size or x[i] >= n) }\n";

static kjit_module *mod;
static void *context;

static kjit_status launch(const char *kernel, kjit_array *a, int n, kjit_stream *s)
{
    kjit_config config = {.grid = {(N + 255) / 256}, .block = {256}, .stream = s};
    return kjit_launch(mod, kernel, &config, (kjit_arg[]){kjit_arg_array(a), kjit_arg_i64(n)}, 2);
}

static kjit_array *make(kjit_memory memory, kjit_stream *s)
{
    kjit_array_options options = {.memory = memory, .stream = s};
    kjit_array *a = NULL;
    CHECK(kjit_array_create_with(ctx, KJIT_I32, 1, SHAPE(N), &options, &a) == KJIT_OK);
    return a;
}

/* ---- What kjit does: all kinds of calls that allocate, copy, wait and ask ---- */

static void use_memory(kjit_stream *s, kjit_array *host)
{
    static const kjit_memory kinds[] = {KJIT_PINNED, KJIT_MAPPED, KJIT_MANAGED};
    kjit_memory_info info;
    kjit_array *device = make(KJIT_DEVICE, NULL), *ordered = make(KJIT_DEVICE, s), *locked;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        kjit_array *a = make(kinds[i], NULL);
        CHECK(kjit_copy(a, host, s) == KJIT_OK);
        CHECK(launch("add", a, 1, s) == KJIT_OK);
        kjit_array_free(a);
    }
    CHECK(kjit_copy(ordered, host, s) == KJIT_OK);
    CHECK(launch("add", ordered, 1, s) == KJIT_OK);
    CHECK(kjit_copy(device, ordered, s) == KJIT_OK);
    kjit_array_free(ordered);
    CHECK(kjit_copy(host, device, s) == KJIT_OK);
    kjit_array_free(device);
    CHECK(kjit_array_register(host, &(kjit_array_options){.memory = KJIT_PINNED}, &locked) ==
          KJIT_OK);
    kjit_array_free(locked);
    CHECK(kjit_context_memory(ctx, &info) == KJIT_OK);
    CHECK(kjit_deallocate_pending(ctx) == KJIT_OK);
    CHECK(kjit_memory_trim(ctx, 0) == KJIT_OK);
}

static void use_graph(kjit_stream *s, kjit_array *a)
{
    kjit_graph *graph = NULL;
    CHECK(kjit_graph_begin(s) == KJIT_OK);
    CHECK(launch("add", a, 2, s) == KJIT_OK);
    CHECK(launch("both", a, 3, s) == KJIT_OK);
    CHECK(kjit_graph_end(s, &graph) == KJIT_OK);
    CHECK(kjit_graph_launch(graph, s) == KJIT_OK);
    CHECK(kjit_graph_launch(graph, NULL) == KJIT_OK);
    kjit_graph_free(graph);
}

static void use_stream(kjit_stream *s, kjit_array *a)
{
    kjit_event *from = NULL, *to = NULL;
    int done;
    double ms;
    CHECK(kjit_event_create(ctx, 1, &from) == KJIT_OK);
    CHECK(kjit_event_create(ctx, 1, &to) == KJIT_OK);
    CHECK(kjit_event_record(from, s) == KJIT_OK);
    for (int i = 0; i < 40; i++)
        CHECK(launch("add", a, 1, s) == KJIT_OK);
    CHECK(launch("check", a, 40, s) == KJIT_OK);
    CHECK(kjit_event_record(to, s) == KJIT_OK);
    CHECK(kjit_stream_wait(s, from) == KJIT_OK);
    CHECK(kjit_stream_query(s, &done) == KJIT_OK);
    CHECK(kjit_event_query(to, &done) == KJIT_OK);
    CHECK(kjit_stream_synchronize(s) == KJIT_OK);
    CHECK(kjit_event_synchronize(to) == KJIT_OK);
    CHECK(kjit_event_elapsed(from, to, &ms) == KJIT_OK);
    kjit_event_free(from);
    kjit_event_free(to);
}

/* Adds 60 to 4000 zeros, and lets the rest come and go; an own module is loaded. */
static void *use_kjit(void *unused)
{
    static const char text[] = "kernel own(x: i32[]) { x[0] = 1 }";
    static const kjit_config one = {.grid = {1}, .block = {32}};
    kjit_stream *s = NULL;
    kjit_module *own = NULL;
    kjit_array *host = make(KJIT_HOST, NULL), *a = make(KJIT_DEVICE, NULL),
               *b = make(KJIT_DEVICE, NULL), *every = NULL, *back = NULL;
    int32_t *values = kjit_array_data(host);
    memset(values, 0, BYTES);
    CHECK(kjit_stream_create(ctx, &s) == KJIT_OK);
    CHECK(kjit_copy(a, host, NULL) == KJIT_OK);
    CHECK(kjit_module_compile(ctx, "own.knl", text, strlen(text), NULL, &own) == KJIT_OK);
    CHECK(kjit_launch(own, "own", &one, (kjit_arg[]){kjit_arg_array(b)}, 1) == KJIT_OK);
    use_stream(s, a);
    use_graph(s, a);
    CHECK(launch("add", a, 4, NULL) == KJIT_OK);
    use_memory(s, host);
    CHECK(kjit_copy(host, a, NULL) == KJIT_OK);
    CHECK(values[0] == 60 && values[N - 1] == 60);
    CHECK(kjit_array_slice(a, SHAPE(0), SHAPE(N), SHAPE(2), &every) == KJIT_OK);
    CHECK(kjit_to_host(every, NULL, &back) == KJIT_OK); /* by memory aside */
    CHECK(((int32_t *)kjit_array_data(back))[1] == 60);
    kjit_array_free(every);
    kjit_array_free(back);
    kjit_module_free(own);
    kjit_array_free(host);
    kjit_array_free(a);
    kjit_array_free(b);
    kjit_stream_free(s);
    CHECK(kjit_synchronize(ctx) == KJIT_OK);
    return unused;
}

static void on_both_threads(void)
{
    pthread_t thread;
    atomic_store(&wrong, 0);
    use_kjit(NULL);
    assert_int_equal(pthread_create(&thread, NULL, use_kjit, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(atomic_load(&wrong), 0);
}

/* ---- The program's capture: a fill of its own memory before kjit's work, another after it ---- */

typedef struct capture {
    void *stream;
    uintptr_t memory;
    int mode;
} capture;

static void open_capture(capture *c, int flags, int mode)
{
    c->mode = mode;
    CU_OK("cuStreamCreate", AT(&c->stream), (uintptr_t)flags);
    CU_OK("cuMemAlloc_v2", AT(&c->memory), BYTES);
    CU_OK("cuMemsetD32Async", c->memory, 1, N, AT(c->stream));
    CU_OK("cuStreamSynchronize", AT(c->stream));
}

static void begin_capture(const capture *c)
{
    CU_OK("cuStreamBeginCapture_v2", AT(c->stream), (uintptr_t)c->mode);
    CU_OK("cuMemsetD32Async", c->memory, 7, N, AT(c->stream));
}

/* Nothing but the two fills is in the graph, and nothing else has broken it. */
static void end_capture(const capture *c)
{
    void *graph = NULL, *exec;
    int32_t values[N];
    size_t count = 0;
    CU_OK("cuMemsetD32Async", c->memory, 9, N / 2, AT(c->stream));
    CU_OK("cuStreamEndCapture", AT(c->stream), AT(&graph));
    assert_non_null(graph);
    CU_OK("cuGraphGetNodes", AT(graph), 0, AT(&count));
    assert_int_equal(count, 2);
    CU_OK("cuGraphInstantiateWithFlags", AT(&exec), AT(graph), 0);
    CU_OK("cuGraphLaunch", AT(exec), AT(c->stream));
    CU_OK("cuStreamSynchronize", AT(c->stream));
    CU_OK("cuMemcpyDtoH_v2", AT(values), c->memory, BYTES);
    assert_int_equal(values[0], 9);
    assert_int_equal(values[N - 1], 7);
    CU_OK("cuGraphExecDestroy", AT(exec));
    CU_OK("cuGraphDestroy", AT(graph));
}

static void close_capture(const capture *c)
{
    CU_OK("cuMemFree_v2", c->memory);
    CU_OK("cuStreamDestroy_v2", AT(c->stream));
}

/* ---- Streams that are captured ---- */

static void called(kjit_stream *s, kjit_status status, void *user)
{
    (void)s, (void)status, (void)user;
    fail_msg("a callback of a stream that is captured");
}

/* Whatever would put something there, or ask for the stream's end. */
static void check_refused(kjit_stream *s, kjit_array *a, kjit_graph *graph, kjit_event *e)
{
    int done;
    static int32_t values[N];
    kjit_array *host = wrap(values, KJIT_I32, 1, SHAPE(N)), *b;
    FAILS(launch("add", a, 1, s), KJIT_INVALID, "captures a graph from it");
    FAILS(launch("both", a, 1, s), KJIT_INVALID, "captures a graph from it");
    FAILS(launch("check", a, 0, s), KJIT_INVALID, "captures a graph from it");
    FAILS(launch("add", host, 1, s), KJIT_INVALID, "captures a graph from it");
    FAILS(kjit_copy(a, host, s), KJIT_INVALID, "captures a graph from it");
    FAILS(kjit_to_host(a, s, &b), KJIT_INVALID, "captures a graph from it");
    FAILS(kjit_event_record(e, s), KJIT_INVALID, "captures a graph from it");
    FAILS(kjit_stream_wait(s, e), KJIT_INVALID, "captures a graph from it");
    FAILS(kjit_stream_callback(s, called, NULL), KJIT_INVALID, "captures a graph from it");
    FAILS(kjit_graph_launch(graph, s), KJIT_INVALID, "captures a graph from it");
    FAILS(kjit_stream_synchronize(s), KJIT_INVALID, "captures a graph from it");
    FAILS(kjit_stream_query(s, &done), KJIT_INVALID, "captures a graph from it");
    kjit_array_free(make(KJIT_DEVICE, s)); /* which the stream has nothing to do with then */
    kjit_array_free(host);
}

/* What was put there before goes on, and is waited for by its own events. */
static void check_stream(const capture *c, kjit_stream *s, bool blocking)
{
    kjit_array *a = make(KJIT_DEVICE, s);
    kjit_stream *other, *legacy;
    kjit_graph *graph;
    kjit_event *e;
    OK(kjit_event_create(ctx, 0, &e));
    OK(kjit_stream_create(ctx, &other));
    OK(kjit_stream_legacy_default(ctx, &legacy));
    OK(kjit_graph_begin(other));
    OK(launch("add", a, 1, other));
    OK(kjit_graph_end(other, &graph));
    OK(launch("add", a, 1, legacy)); /* other streams are to wait for it */
    for (int i = 0; i < 5; i++)
        OK(launch("add", a, 1, s));
    begin_capture(c);
    check_refused(s, a, graph, e);
    OK(launch("add", a, 1, other));
    if (blocking)
        FAILS(launch("add", a, 1, legacy), KJIT_INVALID, "the legacy default stream cannot be");
    else
        OK(launch("add", a, 1, legacy));
    on_both_threads();
    OK(kjit_synchronize(ctx));
    kjit_array_free(a);
    end_capture(c);
    OK(kjit_stream_synchronize(s));
    OK(kjit_graph_launch(graph, s));
    OK(kjit_stream_synchronize(s));
    kjit_graph_free(graph);
    kjit_event_free(e);
    kjit_stream_free(other);
}

/* ---- Tests ---- */

static void test_modes(void **state)
{
    (void)state;
    if (!driver)
        SKIP("KJIT_CUDA_DRIVER does not name the driver");
    for (int mode = GLOBAL; mode <= RELAXED; mode++) {
        for (int flags = BLOCKING; flags <= NON_BLOCKING; flags++) {
            capture c;
            kjit_stream *s;
            open_capture(&c, flags, mode);
            OK(kjit_stream_external(ctx, c.stream, &s));
            check_stream(&c, s, flags == BLOCKING);
            kjit_stream_free(s);
            close_capture(&c);
        }
    }
}

/* A stream of kjit's own, which a program may capture too. */
static void test_own_stream(void **state)
{
    (void)state;
    if (!driver)
        SKIP("KJIT_CUDA_DRIVER does not name the driver");
    capture c, own;
    kjit_stream *s;
    open_capture(&c, NON_BLOCKING, GLOBAL);
    OK(kjit_stream_create(ctx, &s));
    kjit_array *a = make(KJIT_DEVICE, s);
    OK(launch("add", a, 1, s)); /* before anybody else knows the stream */
    own = c;
    own.stream = kjit_stream_handle(s);
    kjit_array_free(a);
    check_stream(&own, s, false);
    close_capture(&c);
    kjit_stream_free(s);
}

/* The thread's own default stream; what others put there is not known by that name. */
static void test_thread_stream(void **state)
{
    (void)state;
    if (!driver)
        SKIP("KJIT_CUDA_DRIVER does not name the driver");
    capture c, own;
    kjit_stream *s;
    open_capture(&c, NON_BLOCKING, THREAD_LOCAL);
    OK(kjit_stream_per_thread_default(ctx, &s));
    own = c;
    own.stream = kjit_stream_handle(s);
    check_stream(&own, s, true);
    close_capture(&c);
}

/* The mode that a thread has chosen is its own again after each call. */
static void test_mode_is_kept(void **state)
{
    (void)state;
    if (!driver)
        SKIP("KJIT_CUDA_DRIVER does not name the driver");
    for (int chosen = GLOBAL; chosen <= RELAXED; chosen++) {
        int mode = chosen;
        CU_OK("cuThreadExchangeStreamCaptureMode", AT(&mode));
        atomic_store(&wrong, 0);
        use_kjit(NULL);
        assert_int_equal(atomic_load(&wrong), 0);
        mode = GLOBAL;
        CU_OK("cuThreadExchangeStreamCaptureMode", AT(&mode));
        assert_int_equal(mode, chosen);
    }
}

/* Contexts come and go while the program captures. */
static void test_contexts(void **state)
{
    (void)state;
    if (!driver)
        SKIP("KJIT_CUDA_DRIVER does not name the driver");
    capture c;
    kjit_context *outer = ctx;
    open_capture(&c, NON_BLOCKING, GLOBAL);
    begin_capture(&c);
    for (int i = 0; i < 2; i++) {
        kjit_module *other = mod;
        assert_int_equal(make_context(state), 0);
        mod = module(source);
        on_both_threads();
        kjit_module_free(mod);
        drop_context(state);
        ctx = outer;
        mod = other;
    }
    end_capture(&c);
    close_capture(&c);
}

static int set_up(void **state)
{
    find_driver();
    if (make_context(state) != 0)
        return 1;
    if (on_cpu())
        driver = NULL;
    if (!driver)
        return 0;
    mod = module(source);
    return CU("cuDevicePrimaryCtxRetain", AT(&context), 0) ||
           CU("cuCtxPushCurrent_v2", AT(context));
}

static int tear_down(void **state)
{
    void *left;
    int failed = 0;
    kjit_module_free(mod);
    drop_context(state);
    if (driver)
        failed = CU("cuCtxPopCurrent_v2", AT(&left)) || CU("cuDevicePrimaryCtxRelease_v2", 0);
    return failed;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modes),         cmocka_unit_test(test_own_stream),
        cmocka_unit_test(test_thread_stream), cmocka_unit_test(test_mode_is_kept),
        cmocka_unit_test(test_contexts),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
