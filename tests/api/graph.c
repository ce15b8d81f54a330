/* Graphs: what is recorded does not run, and runs as often as the graph is launched, in order, with
 * what it was given; on a GPU as one launch of the driver's. */
#include "api.h"

#include <pthread.h>
#include <stdatomic.h>

#define CONFIG(g, b, s) (&(kjit_config){.grid = {g}, .block = {b}, .stream = s})
#define ARGS(...) \
    (kjit_arg[]){__VA_ARGS__}, (int)(sizeof((kjit_arg[]){__VA_ARGS__}) / sizeof(kjit_arg))
#define A kjit_arg_array
#define I kjit_arg_i64

enum { N = 600 };

static const char source[] =
    "kernel add(x: i32[], n: i32) { let i = grid(1); if i < x.size { x[i] += n } }\n"
    "kernel mul(x: i32[], n: i32) { let i = grid(1); if i < x.size { x[i] *= n } }\n"
    "kernel meet(x: i32[]) { atomic.add(x, 0, 1); grid_sync(); x[1 + grid(1)] = x[0] }\n"
    "kernel say(x: i32[]) { if grid(1) == 0 { print(\"x is\", x[0]) } }\n"
    "kernel need(x: i32[]) { requires x.size > 1000; x[0] = 1 }\n"
    "kernel diverge(x: i32[]) { if threadIdx.x < 17 { syncthreads() }\n    x[threadIdx.x] = 1 }\n"
    "kernel apart(x: i32[]) { if threadIdx.x < 9 { syncthreads() }\n    x[threadIdx.x] = 1 }\n"
    "kernel must(x: i32[]) { assert(x[0] < 0, \"x is not below 0\") }\n";

static kjit_module *mod;
static int32_t ints[N];
static kjit_array *host, *x, *y;
static kjit_stream *stream, *other;

static int set_up(void **state)
{
    if (make_context(state) != 0)
        return 1;
    mod = module(source);
    host = wrap(ints, KJIT_I32, 1, SHAPE(N));
    OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', KJIT_DEVICE, &x));
    OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', KJIT_DEVICE, &y));
    OK(kjit_stream_create(ctx, &stream));
    OK(kjit_stream_create(ctx, &other));
    return 0;
}

static int tear_down(void **state)
{
    kjit_stream_free(stream);
    kjit_stream_free(other);
    kjit_array_free(x);
    kjit_array_free(y);
    kjit_array_free(host);
    kjit_module_free(mod);
    return drop_context(state);
}

static void clear(void)
{
    memset(ints, 0, sizeof ints);
    OK(kjit_copy(x, host, NULL));
    OK(kjit_copy(y, host, NULL));
}

static void expect(kjit_array *a, int32_t value)
{
    OK(kjit_copy(host, a, NULL));
    for (int i = 0; i < N; i++)
        if (ints[i] != value)
            fail_msg("element %d is %d, not %d", i, ints[i], value);
}

static void put(const char *kernel, kjit_array *a, int64_t n, kjit_stream *s)
{
    OK(kjit_launch(mod, kernel, CONFIG(3, 256, s), ARGS(A(a), I(n))));
}

/* x = (x + 1) * 3, then y = x. */
static kjit_graph *record(void)
{
    kjit_graph *graph;
    OK(kjit_graph_begin(stream));
    put("add", x, 1, stream);
    put("mul", x, 3, stream);
    OK(kjit_copy(y, x, stream));
    OK(kjit_graph_end(stream, &graph));
    return graph;
}

static void test_replays(void **state)
{
    (void)state;
    clear();
    kjit_graph *graph = record();
    OK(kjit_stream_synchronize(stream));
    expect(x, 0);
    OK(kjit_graph_launch(graph, stream));
    OK(kjit_stream_synchronize(stream));
    expect(y, 3);
    OK(kjit_graph_launch(graph, NULL));
    expect(y, 12);
    put("add", x, 100, other);
    OK(kjit_graph_launch(graph, other)); /* after what was put there before */
    put("add", x, 1, other);
    OK(kjit_stream_synchronize(other));
    expect(x, 340);
    expect(y, 339);
    for (int i = 0; i < 40; i++) {
        clear();
        OK(kjit_graph_launch(graph, stream));
    }
    kjit_graph_free(graph); /* while it is queued */
    OK(kjit_stream_synchronize(stream));
    expect(y, 3);
    kjit_graph_free(NULL);
}

/* The steps keep what they were given. */
static void test_keeps(void **state)
{
    (void)state;
    kjit_module *own = module(source);
    kjit_array *a, *rows, *columns;
    kjit_launch_plan *plan;
    kjit_graph *graph;
    kjit_stream *short_lived;
    clear();
    OK(kjit_stream_create(ctx, &short_lived));
    OK(kjit_array_slice(x, SHAPE(0), SHAPE(N), SHAPE(1), &a));
    OK(kjit_array_slice(x, SHAPE(0), SHAPE(N), SHAPE(2), &rows)); /* every other element */
    OK(kjit_array_slice(y, SHAPE(0), SHAPE(N / 2), SHAPE(1), &columns));
    OK(kjit_launch_plan_create(own, "add", CONFIG(3, 256, NULL), ARGS(A(a), I(5)), &plan));
    OK(kjit_graph_begin(short_lived));
    OK(kjit_launch_plan_run(plan, short_lived));
    OK(kjit_launch_plan_set(plan, 1, I(7)));
    OK(kjit_launch_plan_run(plan, short_lived));
    OK(kjit_launch_forall(own, "mul", N, short_lived, ARGS(A(a), I(2))));
    OK(kjit_launch(own, "add", CONFIG(0, 256, short_lived), ARGS(A(a), I(1000))));
    OK(kjit_copy(columns, rows, short_lived));
    OK(kjit_graph_end(short_lived, &graph));
    OK(kjit_launch_plan_set(plan, 1, I(1)));
    kjit_launch_plan_free(plan);
    kjit_module_free(own);
    kjit_array_free(a);
    kjit_array_free(rows);
    kjit_array_free(columns);
    kjit_stream_free(short_lived);
    OK(kjit_graph_launch(graph, stream));
    OK(kjit_stream_synchronize(stream));
    expect(x, 24);
    OK(kjit_copy(host, y, NULL));
    assert_int_equal(ints[N / 2 - 1], 24);
    assert_int_equal(ints[N / 2], 0);
    kjit_graph_free(graph);
}

static void test_nested(void **state)
{
    (void)state;
    kjit_graph *inner = record(), *outer, *empty;
    clear();
    OK(kjit_graph_begin(other));
    OK(kjit_graph_end(other, &empty));
    OK(kjit_graph_launch(empty, other));
    OK(kjit_graph_launch(empty, NULL));
    OK(kjit_graph_begin(other));
    OK(kjit_graph_launch(inner, other));
    OK(kjit_graph_launch(empty, other));
    put("add", x, 10, other);
    OK(kjit_graph_launch(inner, other));
    OK(kjit_graph_end(other, &outer));
    kjit_graph_free(inner);
    kjit_graph_free(empty);
    expect(x, 0);
    OK(kjit_graph_launch(outer, stream));
    OK(kjit_stream_synchronize(stream));
    expect(y, 42);
    kjit_graph_free(outer);
}

static void keep_text(void *user, const char *text, size_t size)
{
    strncat(user, text, size);
}

/* What the driver's graphs cannot have. */
static void test_list(void **state)
{
    (void)state;
    kjit_graph *graph;
    kjit_array *shifted, *rest;
    char printed[64] = "";
    clear();
    OK(kjit_array_slice(x, SHAPE(0), SHAPE(N - 1), NULL, &rest));
    OK(kjit_array_slice(x, SHAPE(1), SHAPE(N), NULL, &shifted));
    kjit_set_print(ctx, keep_text, printed);
    OK(kjit_graph_begin(stream));
    put("add", host, 1, stream);
    OK(kjit_launch(mod, "say", CONFIG(1, 1, stream), ARGS(A(host))));
    OK(kjit_copy(x, host, stream));
    OK(kjit_copy(shifted, rest, stream)); /* overlapping */
    OK(kjit_copy(host, x, stream));
    OK(kjit_graph_end(stream, &graph));
    OK(kjit_graph_launch(graph, stream));
    OK(kjit_graph_launch(graph, stream));
    OK(kjit_stream_synchronize(stream));
    assert_int_equal(ints[N - 1], 2);
    OK(kjit_graph_launch(graph, NULL));
    assert_int_equal(ints[N - 1], 3);
    assert_string_equal(printed, "x is 1\nx is 2\nx is 3\n");
    kjit_set_print(ctx, NULL, NULL);
    kjit_graph_free(graph);
    kjit_array_free(shifted);
    kjit_array_free(rest);
    OK(kjit_graph_begin(stream));
    OK(kjit_launch(mod, "must", CONFIG(1, 1, stream), ARGS(A(x))));
    OK(kjit_graph_end(stream, &graph));
    FAILS(kjit_graph_launch(graph, NULL), KJIT_FAULT, "x is not below 0");
    OK(kjit_graph_launch(graph, stream));
    FAILS(kjit_stream_synchronize(stream), KJIT_FAULT, "x is not below 0");
    kjit_graph_free(graph);
}

/* A copy of a row onto a part of itself, beside launches and copies that a driver's graph can have. */
static void test_overlap(void **state)
{
    (void)state;
    kjit_graph *graph;
    kjit_array *low, *high;
    for (int i = 0; i < N; i++)
        ints[i] = i;
    OK(kjit_copy(x, host, NULL));
    OK(kjit_array_slice(x, SHAPE(0), SHAPE(N - 100), NULL, &low));
    OK(kjit_array_slice(x, SHAPE(100), SHAPE(N), NULL, &high));
    OK(kjit_graph_begin(stream));
    put("add", x, 1000, stream);
    OK(kjit_copy(high, low, stream));
    OK(kjit_copy(y, x, stream));
    OK(kjit_graph_end(stream, &graph));
    OK(kjit_graph_launch(graph, stream));
    OK(kjit_stream_synchronize(stream));
    OK(kjit_copy(host, y, NULL));
    for (int i = 0; i < N; i++)
        assert_int_equal(ints[i], 1000 + (i < 100 ? i : i - 100));
    OK(kjit_graph_launch(graph, NULL));
    OK(kjit_copy(host, y, NULL));
    for (int i = 0; i < N; i++)
        assert_int_equal(ints[i], 2000 + (i < 200 ? i % 100 : i - 200));
    kjit_graph_free(graph);
    kjit_array_free(low);
    kjit_array_free(high);
}

/* On a CPU a step may fail: which is told, and the others are done. */
static void test_fault(void **state)
{
    (void)state;
    kjit_graph *graph;
    if (!on_cpu())
        SKIP("a GPU does not say where its kernels fail");
    kjit_module *own = module("kernel first(x: i32[]) { x[0] += 0 }");
    clear();
    OK(kjit_graph_begin(stream));
    put("add", x, 1, stream);
    OK(kjit_launch(mod, "add", CONFIG(0, 1, stream), ARGS(A(x), I(1))));
    OK(kjit_launch(own, "first", CONFIG(1, 1, stream), ARGS(A(x))));
    kjit_module_free(own);
    OK(kjit_launch(mod, "diverge", CONFIG(1, 32, stream), ARGS(A(y))));
    put("add", x, 1, stream);
    OK(kjit_graph_end(stream, &graph));
    for (int i = 1; i <= 2; i++) {
        OK(kjit_graph_launch(graph, stream));
        FAILS(kjit_stream_synchronize(stream), KJIT_FAULT, "test.knl:6:");
        expect(x, 2 * i);
    }
    FAILS(kjit_graph_launch(graph, NULL), KJIT_FAULT, "test.knl:6:");
    kjit_graph_free(graph);
    OK(kjit_graph_begin(stream)); /* of several the first is told */
    OK(kjit_launch(mod, "diverge", CONFIG(1, 32, stream), ARGS(A(y))));
    OK(kjit_launch(mod, "apart", CONFIG(1, 32, stream), ARGS(A(y))));
    OK(kjit_graph_end(stream, &graph));
    OK(kjit_graph_launch(graph, stream));
    FAILS(kjit_stream_synchronize(stream), KJIT_FAULT, "test.knl:6:");
    kjit_graph_free(graph);
}

/* A failed assert ends its kernel, not the steps behind it: in a stream, and without one. */
static void test_goes_on(void **state)
{
    (void)state;
    kjit_graph *g;
    OK(kjit_graph_begin(stream));
    OK(kjit_launch(mod, "must", CONFIG(1, 1, stream), ARGS(A(x))));
    OK(kjit_launch(mod, "add", CONFIG(1, 32, stream), ARGS(A(y), I(5))));
    OK(kjit_graph_end(stream, &g));
    clear();
    FAILS(kjit_graph_launch(g, NULL), KJIT_FAULT, "x is not below 0");
    OK(kjit_copy(host, y, NULL));
    assert_int_equal(ints[0], 5);
    clear();
    OK(kjit_graph_launch(g, stream));
    FAILS(kjit_stream_synchronize(stream), KJIT_FAULT, "x is not below 0");
    OK(kjit_copy(host, y, NULL));
    assert_int_equal(ints[0], 5);
    kjit_graph_free(g);
}

/* A copy from another context is a step too. */
static void test_between(void **state)
{
    (void)state;
    kjit_graph *graph;
    kjit_context *foreign;
    kjit_array *far;
    int32_t values[N];
    clear();
    assert_int_equal(kjit_context_create(NULL, &foreign, NULL, 0), KJIT_OK);
    assert_int_equal(kjit_array_wrap(foreign, values, KJIT_I32, 1, SHAPE(N), NULL, KJIT_HOST, &far),
                     KJIT_OK);
    OK(kjit_graph_begin(stream));
    OK(kjit_copy(x, far, stream));
    put("add", x, 1, stream);
    OK(kjit_graph_end(stream, &graph));
    expect(x, 0);
    kjit_array_free(far);
    for (int i = 0; i < N; i++)
        values[i] = 5;
    OK(kjit_graph_launch(graph, stream));
    OK(kjit_stream_synchronize(stream));
    expect(x, 6);
    kjit_graph_free(graph);
    kjit_context_destroy(foreign);
}

static void test_cooperative(void **state)
{
    (void)state;
    kjit_graph *graph;
    clear();
    OK(kjit_graph_begin(stream));
    for (int i = 0; i < 2; i++)
        OK(kjit_launch(mod, "meet", CONFIG(4, 8, stream), ARGS(A(x))));
    OK(kjit_graph_end(stream, &graph));
    OK(kjit_graph_launch(graph, stream));
    OK(kjit_graph_launch(graph, other));
    OK(kjit_synchronize(ctx));
    OK(kjit_copy(host, x, NULL));
    assert_int_equal(ints[0], 128);
    kjit_graph_free(graph);
}

static void test_mistakes(void **state)
{
    (void)state;
    kjit_graph *graph = (kjit_graph *)(void *)mod;
    kjit_context *foreign;
    kjit_stream *far;
    kjit_event *event;
    OK(kjit_event_create(ctx, 1, &event));
    assert_int_equal(kjit_graph_begin(NULL), KJIT_INVALID);
    assert_int_equal(kjit_graph_end(NULL, &graph), KJIT_INVALID);
    assert_null(graph);
    assert_int_equal(kjit_graph_launch(NULL, stream), KJIT_INVALID);
    FAILS(kjit_graph_end(stream, &graph), KJIT_INVALID, "records no graph");
    clear();
    OK(kjit_graph_begin(stream));
    FAILS(kjit_graph_begin(stream), KJIT_INVALID, "records a graph already");
    FAILS(kjit_stream_synchronize(stream), KJIT_INVALID, "records a graph");
    FAILS(kjit_event_record(event, stream), KJIT_INVALID, "records a graph");
    FAILS(kjit_stream_wait(stream, event), KJIT_INVALID, "records a graph");
    kjit_event_free(event);
    FAILS(kjit_graph_end(stream, NULL), KJIT_INVALID, "out is NULL");
    put("add", x, 1, stream);
    FAILS(kjit_launch(mod, "need", CONFIG(1, 1, stream), ARGS(A(x))), KJIT_LAUNCH, "requires");
    FAILS(kjit_launch(mod, "add", CONFIG(1, 1, stream), ARGS(A(x))), KJIT_LAUNCH, "not given");
    OK(kjit_copy(y, x, NULL)); /* what is in no stream, or another, goes on */
    OK(kjit_synchronize(ctx));
    OK(kjit_graph_end(stream, &graph)); /* what was right is there */
    OK(kjit_graph_launch(graph, NULL));
    expect(x, 1);
    assert_int_equal(kjit_context_create(NULL, &foreign, NULL, 0), KJIT_OK);
    assert_int_equal(kjit_stream_create(foreign, &far), KJIT_OK);
    FAILS(kjit_graph_launch(graph, far), KJIT_INVALID, "another context");
    OK(kjit_graph_begin(far));
    kjit_stream_free(far); /* drops what it recorded */
    kjit_context_destroy(foreign);
    kjit_graph_free(graph);
}

enum { THREADS = 4, RUNS = 50 };

static void *launch_many(void *data)
{
    kjit_status status = KJIT_OK;
    for (int i = 0; i < RUNS && status == KJIT_OK; i++)
        status = kjit_graph_launch(data, i % 2 ? stream : other);
    return (void *)(intptr_t)status;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    kjit_graph *graph;
    clear();
    OK(kjit_graph_begin(stream));
    OK(kjit_launch(mod, "meet", CONFIG(1, 1, stream), ARGS(A(x)))); /* adds atomically */
    OK(kjit_graph_end(stream, &graph));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_many, graph), 0);
    for (int i = 0; i < THREADS; i++) {
        void *status;
        assert_int_equal(pthread_join(threads[i], &status), 0);
        assert_int_equal((intptr_t)status, KJIT_OK);
    }
    kjit_graph_free(graph);
    OK(kjit_synchronize(ctx));
    OK(kjit_copy(host, x, NULL));
    assert_int_equal(ints[0], THREADS * RUNS);
}

static atomic_bool begun_enough;

static void *end_and_free(void *data)
{
    (void)data;
    while (!atomic_load(&begun_enough)) {
        kjit_graph *graph = NULL;
        if (kjit_graph_end(stream, &graph) == KJIT_OK)
            kjit_graph_free(graph);
    }
    return NULL;
}

/* What one thread begins another may end, and free, before the first returns. */
static void test_ended_at_once(void **state)
{
    (void)state;
    pthread_t thread;
    kjit_graph *graph = NULL;
    atomic_store(&begun_enough, false);
    assert_int_equal(pthread_create(&thread, NULL, end_and_free, NULL), 0);
    for (int i = 0; i < 20000; i++)
        kjit_graph_begin(stream); /* KJIT_INVALID where the other has not ended it yet */
    atomic_store(&begun_enough, true);
    pthread_join(thread, NULL);
    if (kjit_graph_end(stream, &graph) == KJIT_OK)
        kjit_graph_free(graph);
    OK(kjit_graph_begin(stream));
    OK(kjit_graph_end(stream, &graph));
    kjit_graph_free(graph);
}

static int count(const char *path, const char *text)
{
    char line[600];
    int n = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        n += strstr(line, text) != NULL;
    fclose(file);
    return n;
}

/* Page-locked memory is copied by the driver when it gets there. */
static kjit_array *add_pinned_copies(kjit_graph **graph)
{
    kjit_array *pinned;
    OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', KJIT_PINNED, &pinned));
    OK(kjit_graph_begin(stream));
    OK(kjit_copy(x, pinned, stream));
    put("add", x, 1, stream);
    OK(kjit_copy(pinned, x, stream));
    OK(kjit_graph_end(stream, graph));
    return pinned;
}

static void test_pinned(void **state)
{
    (void)state;
    kjit_graph *graph;
    kjit_array *pinned = add_pinned_copies(&graph);
    int32_t *elements = kjit_array_data(pinned);
    memset(elements, 0, N * sizeof *elements);
    for (int i = 0; i < 3; i++)
        OK(kjit_graph_launch(graph, stream));
    OK(kjit_stream_synchronize(stream));
    assert_int_equal(elements[N - 1], 3);
    elements[N - 1] = 10;
    OK(kjit_graph_launch(graph, NULL));
    assert_int_equal(elements[N - 1], 11);
    kjit_array_free(pinned);
    OK(kjit_graph_launch(graph, stream)); /* which keeps the memory */
    kjit_graph_free(graph);
    OK(kjit_stream_synchronize(stream));
}

/* By the double's log: three steps, launched as one. */
static void test_one_call(void **state)
{
    const char *log = getenv("KJIT_DOUBLE_LOG");
    (void)state;
    if (on_cpu() || !log || access(log, R_OK) != 0)
        SKIP("there is no log of the driver's calls");
    kjit_graph *graph = record(), *between;
    kjit_array_free(add_pinned_copies(&between));
    int launches = count(log, " cuLaunchKernel("), copies = count(log, " cuMemcpyDtoDAsync_v2("),
        graphs = count(log, " cuGraphLaunch(");
    for (int i = 0; i < 5; i++)
        OK(kjit_graph_launch(i % 2 ? graph : between, stream));
    OK(kjit_stream_synchronize(stream));
    assert_int_equal(count(log, " cuGraphLaunch("), graphs + 5);
    assert_int_equal(count(log, " cuLaunchKernel("), launches);
    assert_int_equal(count(log, " cuMemcpyDtoDAsync_v2("), copies);
    kjit_graph_free(graph);
    kjit_graph_free(between);
    OK(kjit_deallocate_pending(ctx));
    assert_int_equal(count(log, " cuGraphExecDestroy("), count(log, " cuGraphDestroy("));
}

/* A graph goes with its last launch. Who sees that end gives nothing back: among what is pending is
 * the stream whose work it is just ending. */
static void test_last_reference(void **state)
{
    enum { MANY = 20 };
    (void)state;
    kjit_stream *streams[MANY];
    kjit_graph *graph;
    kjit_array *own;
    OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', KJIT_DEVICE, &own));
    for (int i = 0; i < MANY; i++)
        OK(kjit_stream_create(ctx, &streams[i]));
    OK(kjit_graph_begin(streams[0]));
    OK(kjit_launch(mod, "add", CONFIG(3, 256, streams[0]), ARGS(A(own), I(1))));
    OK(kjit_copy(own, x, streams[0]));
    OK(kjit_graph_end(streams[0], &graph));
    OK(kjit_graph_launch(graph, streams[0]));
    OK(kjit_defer_cleanup_begin(ctx));
    kjit_array_free(own);
    kjit_graph_free(graph);
    for (int i = 0; i < MANY; i++)
        kjit_stream_free(streams[i]);
    OK(kjit_defer_cleanup_end(ctx));
    OK(kjit_synchronize(ctx));
    OK(kjit_deallocate_pending(ctx));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replays),        cmocka_unit_test(test_keeps),
        cmocka_unit_test(test_nested),         cmocka_unit_test(test_list),
        cmocka_unit_test(test_pinned),         cmocka_unit_test(test_one_call),
        cmocka_unit_test(test_cooperative),    cmocka_unit_test(test_fault),
        cmocka_unit_test(test_between),        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_threads),        cmocka_unit_test(test_ended_at_once),
        cmocka_unit_test(test_last_reference), cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_goes_on),
    };
    if (getenv("KJIT_CUDA_DRIVER"))
        setenv("KJIT_DOUBLE_LOG", path_of("log"), 1);
    int failed = cmocka_run_group_tests(tests, set_up, tear_down);
    drop_folder();
    return failed;
}
