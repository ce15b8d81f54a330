/* Smart arrays: who has the newest elements, and how often they are moved: on a GPU the driver
 * double's log is counted. Another driver has none, and what is there is compared alone. */
#include "api.h"
#include "driver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { N = 1000 };

static const char source[] =
    "kernel add(x: i32[]) { let i = grid(1); if i < x.size { x[i] += 1 } }\n"
    "kernel sum(x: i32[], out: i32[]) {\n"
    "  let i = grid(1); if i < x.size { atomic.add(out, 0, x[i]) } }\n"
    "kernel bump(x: i32[,]) { let i, j = grid(2)\n"
    "  if i < x.shape[0] and j < x.shape[1] { x[i, j] += i32(100 * i + j) } }\n";

static kjit_module *mod;
static const char *log_path;
static bool counted;

static int set_up(void **state)
{
    if (make_context(state) != 0)
        return 1;
    mod = module(source);
    driver_of_context();
    counted = on_cpu() || driver_is_double();
    if (!counted)
        print_message("[  REASON  ] how often elements are moved: the driver has no log\n");
    return 0;
}

static int tear_down(void **state)
{
    kjit_module_free(mod);
    drop_folder();
    return drop_context(state);
}

/* Copies of that direction that the double was asked for so far; none on a CPU. */
static int copies(const char *direction)
{
    char line[512], call[64];
    int n = 0;
    if (on_cpu() || !counted)
        return 0;
    FILE *log = fopen(log_path, "r");
    assert_non_null(log);
    snprintf(call, sizeof call, " cuMemcpy%s", direction);
    while (fgets(line, sizeof line, log))
        n += strstr(line, call) != NULL;
    fclose(log);
    return n;
}

static void expect_copies(const char *direction, int before, int expected)
{
    if (counted)
        assert_int_equal(copies(direction) - before, on_cpu() ? 0 : expected);
}

/* The statement moves so many arrays to the device, and so many back. */
#define MOVES(to_device, to_host, statement) \
    do { \
        int up_ = copies("HtoD"), down_ = copies("DtoH"); \
        statement; \
        expect_copies("HtoD", up_, to_device); \
        expect_copies("DtoH", down_, to_host); \
    } while (0)

static void add_one(kjit_smart *s, kjit_stream *stream)
{
    OK(kjit_launch_forall(mod, "add", N, stream, (kjit_arg[]){kjit_arg_smart(s)}, 1));
}

static void fill(kjit_smart *s, int32_t value)
{
    kjit_array *h;
    OK(kjit_smart_host(s, &h));
    for (int i = 0; i < N; i++)
        ((int32_t *)kjit_array_data(h))[i] = value;
    kjit_array_free(h);
    OK(kjit_smart_host_changed(s));
}

static void check(kjit_smart *s, int32_t expected)
{
    kjit_array *h;
    OK(kjit_smart_host(s, &h));
    assert_true(on_cpu() || kjit_array_memory(h) != KJIT_DEVICE);
    for (int i = 0; i < N; i++)
        assert_int_equal(((int32_t *)kjit_array_data(h))[i], expected);
    kjit_array_free(h);
}

static void test_moves(void **state)
{
    (void)state;
    kjit_smart *s;
    kjit_array *g;
    MOVES(0, 0, OK(kjit_smart_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', &s)));
    MOVES(0, 0, fill(s, 5));
    MOVES(1, 0, add_one(s, NULL));
    MOVES(0, 0, add_one(s, NULL));
    MOVES(0, 1, check(s, 7));
    MOVES(0, 0, check(s, 7));
    MOVES(0, 0, add_one(s, NULL)); /* both sides are the same still */
    MOVES(0, 1, check(s, 8));
    MOVES(0, 0, fill(s, 20));
    MOVES(1, 0, OK(kjit_smart_gpu(s, &g)));
    MOVES(0, 0, add_one(s, NULL));
    MOVES(0, 1, check(s, 21));
    OK(kjit_launch_forall(mod, "add", N, NULL, (kjit_arg[]){kjit_arg_array(g)}, 1));
    OK(kjit_smart_gpu_changed(s)); /* the launch knew the view alone */
    MOVES(0, 1, check(s, 22));
    kjit_array_free(g);
    kjit_smart_free(s);
    kjit_smart_free(NULL);
}

/* What a kernel only reads is the newest on both sides; what it writes, on the device. */
static void test_read_by_kernels(void **state)
{
    (void)state;
    kjit_smart *s, *total;
    kjit_array *h;
    int32_t value;
    OK(kjit_smart_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', &s));
    OK(kjit_smart_create(ctx, KJIT_I32, 1, SHAPE(1), 'C', &total));
    fill(s, 2);
    OK(kjit_smart_host(total, &h));
    OK(kjit_array_set(h, SHAPE(0), &(int32_t){1}));
    kjit_arg args[] = {kjit_arg_smart(s), kjit_arg_named("out", kjit_arg_smart(total))};
    MOVES(2, 0, OK(kjit_launch_forall(mod, "sum", N, NULL, args, 2)));
    MOVES(0, 0, OK(kjit_launch_forall(mod, "sum", N, NULL, args, 2)));
    MOVES(0, 0, check(s, 2));
    kjit_array_free(h);
    MOVES(0, 1, OK(kjit_smart_host(total, &h)));
    OK(kjit_array_get(h, SHAPE(0), &value));
    assert_int_equal(value, 1 + 4 * N);
    kjit_array_free(h);
    kjit_smart_free(s);
    kjit_smart_free(total);
}

/* Launches in streams: the host's side waits for all of them. */
static void test_streams(void **state)
{
    (void)state;
    kjit_stream *streams[2];
    kjit_smart *s;
    for (int i = 0; i < 2; i++)
        OK(kjit_stream_create(ctx, &streams[i]));
    OK(kjit_smart_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', &s));
    for (int turn = 0; turn < 20; turn++) {
        fill(s, turn);
        MOVES(1, 0, for (int k = 0; k < 5; k++) add_one(s, streams[turn % 2]));
        check(s, turn + 5);
    }
    fill(s, 1);
    add_one(s, streams[0]);
    kjit_smart_free(s); /* queued work keeps what it uses */
    for (int i = 0; i < 2; i++)
        kjit_stream_free(streams[i]);
}

/* A plan keeps the smart arrays it is given, and moves them as launches do. */
static void late(kjit_stream *s, kjit_status status, void *user)
{
    (void)s;
    (void)status;
    (void)user;
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
}

/* One side's array was given to a stream by itself: the other side, asked for, waits for that. */
static void test_queued_by_itself(void **state)
{
    (void)state;
    kjit_smart *s;
    kjit_array *side[2], *seen;
    kjit_stream *stream;
    int32_t zero = 0, seven = 7;
    OK(kjit_stream_create(ctx, &stream));
    OK(kjit_smart_create(ctx, KJIT_I32, 1, SHAPE(4), 'C', &s));
    OK(kjit_smart_host(s, &side[0]));
    OK(kjit_array_fill(side[0], &zero, NULL));
    OK(kjit_smart_host_changed(s));
    OK(kjit_smart_gpu(s, &side[1]));
    kjit_arg args[] = {kjit_arg_array(side[1])};
    OK(kjit_stream_callback(stream, late, NULL));
    OK(kjit_launch(mod, "add", &(kjit_config){.grid = {1}, .block = {32}, .stream = stream}, args,
                   1));
    OK(kjit_smart_gpu_changed(s));
    OK(kjit_smart_host(s, &seen));
    assert_int_equal(*(int32_t *)kjit_array_data(seen), 1);
    kjit_array_free(seen);
    OK(kjit_stream_callback(stream, late, NULL));
    OK(kjit_array_fill(side[0], &seven, stream));
    OK(kjit_smart_host_changed(s));
    OK(kjit_smart_gpu(s, &seen));
    kjit_array *back;
    OK(kjit_to_host(seen, NULL, &back));
    assert_int_equal(*(int32_t *)kjit_array_data(back), 7);
    kjit_array_free(back);
    kjit_array_free(seen);
    kjit_array_free(side[0]);
    kjit_array_free(side[1]);
    kjit_smart_free(s);
    kjit_stream_free(stream);
}

static void test_plans(void **state)
{
    (void)state;
    kjit_smart *s, *t;
    kjit_array *h;
    kjit_launch_plan *plan;
    OK(kjit_smart_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', &s));
    OK(kjit_smart_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', &t));
    fill(s, 1);
    fill(t, 50);
    kjit_config config = {.grid = {4}, .block = {256}};
    MOVES(0, 0,
          OK(kjit_launch_plan_create(mod, "add", &config, (kjit_arg[]){kjit_arg_smart(s)}, 1,
                                     &plan)));
    MOVES(1, 0, OK(kjit_launch_plan_run(plan, NULL)));
    MOVES(0, 0, OK(kjit_launch_plan_run(plan, NULL)));
    MOVES(0, 1, check(s, 3));
    fill(s, 10);
    MOVES(1, 0, OK(kjit_launch_plan_run(plan, NULL)));
    check(s, 11);
    OK(kjit_smart_host(s, &h));
    kjit_smart_free(s);
    OK(kjit_launch_plan_run(plan, NULL)); /* on what is not seen any more */
    OK(kjit_launch_plan_set(plan, 0, kjit_arg_smart(t)));
    MOVES(1, 0, OK(kjit_launch_plan_run(plan, NULL)));
    MOVES(0, 1, check(t, 51));
    FAILS(kjit_launch_plan_set(plan, 0, kjit_arg_smart(NULL)), KJIT_INVALID, "smart array is NULL");
    kjit_array_free(h);
    kjit_smart_free(t);
    kjit_launch_plan_free(plan);
}

/* So does a graph, whose launches are recorded and move nothing then. */
static void test_graphs(void **state)
{
    (void)state;
    kjit_smart *s;
    kjit_graph *graph;
    kjit_stream *stream;
    OK(kjit_stream_create(ctx, &stream));
    OK(kjit_smart_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', &s));
    fill(s, 1);
    OK(kjit_graph_begin(stream));
    MOVES(0, 0, add_one(s, stream); add_one(s, stream));
    OK(kjit_graph_end(stream, &graph));
    check(s, 1);
    MOVES(1, 0, OK(kjit_graph_launch(graph, stream)));
    MOVES(0, 0, OK(kjit_graph_launch(graph, NULL)));
    MOVES(0, 1, check(s, 5));
    fill(s, 20);
    MOVES(1, 0, OK(kjit_graph_launch(graph, stream)));
    check(s, 22);
    kjit_smart_free(s);
    OK(kjit_graph_launch(graph, stream));
    kjit_graph_free(graph);
    kjit_stream_free(stream);
}

/* Threads that read one of them and write their own: it is moved once. */
typedef struct reader {
    pthread_t thread;
    kjit_smart *shared, *own;
    int failures;
} reader;

static void *read_shared(void *data)
{
    reader *r = data;
    for (int i = 0; i < 20; i++) {
        kjit_array *h = NULL;
        kjit_arg args[] = {kjit_arg_smart(r->shared), kjit_arg_smart(r->own)};
        r->failures += kjit_launch_forall(mod, "sum", N, NULL, args, 2) != KJIT_OK ||
                       kjit_smart_host(r->shared, &h) != KJIT_OK;
        kjit_array_free(h);
    }
    return NULL;
}

static void test_threads(void **state)
{
    enum { THREADS = 4 };
    (void)state;
    reader readers[THREADS] = {0};
    kjit_smart *shared;
    OK(kjit_smart_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', &shared));
    fill(shared, 3);
    int up = copies("HtoD");
    for (int i = 0; i < THREADS; i++) {
        kjit_array *h;
        OK(kjit_smart_create(ctx, KJIT_I32, 1, SHAPE(1), 'C', &readers[i].own));
        OK(kjit_smart_host(readers[i].own, &h));
        OK(kjit_array_set(h, SHAPE(0), &(int32_t){0}));
        kjit_array_free(h);
        readers[i].shared = shared;
        assert_int_equal(pthread_create(&readers[i].thread, NULL, read_shared, &readers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        kjit_array *h;
        pthread_join(readers[i].thread, NULL);
        assert_int_equal(readers[i].failures, 0);
        OK(kjit_smart_host(readers[i].own, &h));
        assert_int_equal(*(int32_t *)kjit_array_data(h), 20 * 3 * N);
        kjit_array_free(h);
        kjit_smart_free(readers[i].own);
    }
    expect_copies("HtoD", up, 1 + THREADS);
    kjit_smart_free(shared);
}

/* Over arrays of the caller's, of both memories, in F order and with gaps. */
static void test_from(void **state)
{
    (void)state;
    int32_t data[6][8];
    kjit_smart *s;
    kjit_array *all = wrap(data, KJIT_I32, 2, SHAPE(6, 8)), *part, *view, *d, *h;
    int32_t value;
    memset(data, 0, sizeof data);
    OK(kjit_array_slice(all, NULL, NULL, SHAPE(2, 3), &part)); /* [::2, ::3]: 3 x 3 */
    OK(kjit_array_transpose(part, NULL, &view));
    OK(kjit_smart_from(view, &s));
    kjit_array_free(part);
    kjit_array_free(view);
    kjit_config config = {.grid = {1}, .block = {4, 4}};
    OK(kjit_launch(mod, "bump", &config, (kjit_arg[]){kjit_arg_smart(s)}, 1));
    OK(kjit_smart_host(s, &h));
    assert_int_equal(data[4][6], 202); /* [2, 2] of the view */
    assert_int_equal(data[2][0], 1);   /* [0, 1] */
    assert_int_equal(data[0][3], 100);
    assert_int_equal(data[1][1], 0); /* between */
    assert_ptr_equal(kjit_array_data(h), data);
    kjit_array_free(h);
    kjit_smart_free(s);

    OK(kjit_array_create(ctx, KJIT_I32, 2, SHAPE(3, 2), 'F', KJIT_DEVICE, &d));
    for (int i = 0; i < 6; i++)
        OK(kjit_array_set(d, SHAPE(i / 2, i % 2), &(int32_t){i}));
    OK(kjit_smart_from(d, &s));
    MOVES(0, 0, OK(kjit_launch(mod, "bump", &config, (kjit_arg[]){kjit_arg_smart(s)}, 1)));
    MOVES(0, 1, OK(kjit_smart_host(s, &h)));
    assert_true(kjit_array_is_contiguous(h, 'F'));
    OK(kjit_array_get(h, SHAPE(2, 1), &value));
    assert_int_equal(value, 5 + 201);
    kjit_array_free(h);
    kjit_array_free(d);
    kjit_smart_free(s);
    kjit_array_free(all);
}

/* Page-locked memory is the host's side, mapped memory both, managed memory the device's. */
static void check_kind(kjit_memory memory, int up, int down)
{
    kjit_smart *s;
    kjit_array *a;
    OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', memory, &a));
    for (int i = 0; i < N; i++)
        ((int32_t *)kjit_array_data(a))[i] = 3;
    OK(kjit_smart_from(a, &s));
    kjit_array_free(a);
    MOVES(up, 0, add_one(s, NULL));
    MOVES(0, down, check(s, 4));
    MOVES(0, 0, add_one(s, NULL));
    kjit_smart_free(s);
}

static void test_kinds(void **state)
{
    (void)state;
    check_kind(KJIT_PINNED, 1, 1);
    check_kind(KJIT_MAPPED, 0, 0);
    check_kind(KJIT_MANAGED, 0, 1);
}

static void test_refused(void **state)
{
    (void)state;
    kjit_smart *s, *foreign;
    kjit_array *a;
    kjit_context *other;
    FAILS(kjit_smart_create(ctx, (kjit_dtype)99, 1, SHAPE(1), 'C', &s), KJIT_TYPE, "99");
    FAILS(kjit_smart_create(ctx, KJIT_I32, 1, SHAPE(-1), 'C', &s), KJIT_SHAPE, "negative");
    FAILS(kjit_smart_create(ctx, KJIT_I32, 1, SHAPE(1), 'X', &s), KJIT_INVALID, "order");
    FAILS(kjit_smart_create(ctx, KJIT_I32, 1, SHAPE(INT64_MAX), 'C', &s), KJIT_NO_MEMORY, "memory");
    assert_null(s);
    FAILS(kjit_smart_create(ctx, KJIT_I32, 1, SHAPE(1), 'C', NULL), KJIT_INVALID, "out is NULL");
    assert_int_equal(kjit_smart_create(NULL, KJIT_I32, 1, SHAPE(1), 'C', &s), KJIT_INVALID);
    assert_int_equal(kjit_smart_from(NULL, &s), KJIT_INVALID);
    assert_int_equal(kjit_smart_host(NULL, &a), KJIT_INVALID);
    assert_int_equal(kjit_smart_gpu(NULL, &a), KJIT_INVALID);
    assert_null(a);
    assert_int_equal(kjit_smart_host_changed(NULL), KJIT_INVALID);
    assert_int_equal(kjit_smart_gpu_changed(NULL), KJIT_INVALID);
    OK(kjit_smart_create(ctx, KJIT_F32, 1, SHAPE(8), 'C', &s));
    FAILS(kjit_smart_host(s, NULL), KJIT_INVALID, "out is NULL");
    FAILS(kjit_smart_gpu(s, NULL), KJIT_INVALID, "out is NULL");
    FAILS(kjit_launch_forall(mod, "add", 8, NULL, (kjit_arg[]){kjit_arg_smart(s)}, 1), KJIT_TYPE,
          "f32");
    FAILS(kjit_launch_forall(mod, "add", 8, NULL, (kjit_arg[]){kjit_arg_smart(NULL)}, 1),
          KJIT_INVALID, "smart array is NULL");
    assert_int_equal(kjit_context_create(NULL, &other, NULL, 0), KJIT_OK);
    assert_int_equal(kjit_smart_create(other, KJIT_I32, 1, SHAPE(8), 'C', &foreign), KJIT_OK);
    kjit_context_destroy(other); /* what belongs to it keeps it */
    FAILS(kjit_launch_forall(mod, "add", 8, NULL, (kjit_arg[]){kjit_arg_smart(foreign)}, 1),
          KJIT_INVALID, "another context");
    kjit_smart_free(foreign);
    kjit_smart_free(s);
}

/* Asks for the host's side all the time. */
typedef struct watcher {
    pthread_t thread;
    kjit_smart *s;
    atomic_bool ends;
    int failures;
} watcher;

static void *watch(void *data)
{
    watcher *w = data;
    while (!atomic_load(&w->ends)) {
        kjit_array *h = NULL;
        w->failures += kjit_smart_host(w->s, &h) != KJIT_OK;
        kjit_array_free(h);
    }
    return NULL;
}

/* A launch is seen by who made it, whoever asked for the host's side at the same time. */
static void test_watched(void **state)
{
    (void)state;
    kjit_stream *stream;
    watcher w = {.ends = false};
    int launches = on_cpu() ? 2000 : 200;
    OK(kjit_stream_create(ctx, &stream));
    OK(kjit_smart_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', &w.s));
    fill(w.s, 0);
    assert_int_equal(pthread_create(&w.thread, NULL, watch, &w), 0);
    int wrong = 0;
    for (int i = 1; i <= launches; i++) {
        kjit_array *h;
        add_one(w.s, i % 2 ? stream : NULL);
        OK(kjit_smart_host(w.s, &h));
        wrong += ((int32_t *)kjit_array_data(h))[N - 1] != i;
        kjit_array_free(h);
    }
    atomic_store(&w.ends, true);
    pthread_join(w.thread, NULL);
    assert_int_equal(wrong + w.failures, 0);
    kjit_smart_free(w.s);
    kjit_stream_free(stream);
}

/* Elements that could not be moved are moved the next time. */
static void test_failure(void **state)
{
    (void)state;
    kjit_smart *s;
    if (!double_fails("cuMemcpyHtoDAsync"))
        SKIP("the driver double fails when it is told to");
    OK(kjit_smart_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', &s));
    fill(s, 5);
    add_one(s, NULL);
    check(s, 6);
    fill(s, 100);
    kjit_arg args[] = {kjit_arg_smart(s)};
    FAILS(kjit_launch_forall(mod, "add", N, NULL, args, 1), KJIT_INTERNAL, "cannot copy");
    add_one(s, NULL);
    check(s, 101);
    add_one(s, NULL);
    kjit_array *h;
    FAILS(kjit_smart_host(s, &h), KJIT_INTERNAL, "cannot copy");
    check(s, 102);
    kjit_smart_free(s);
}

/* With a name: that test alone. */
int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves),   cmocka_unit_test(test_read_by_kernels),
        cmocka_unit_test(test_streams), cmocka_unit_test(test_plans),
        cmocka_unit_test(test_graphs),  cmocka_unit_test(test_threads),
        cmocka_unit_test(test_watched), cmocka_unit_test(test_from),
        cmocka_unit_test(test_kinds),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_failure), cmocka_unit_test(test_queued_by_itself),
    };
    static char path[200];
    snprintf(path, sizeof path, "%s", path_of("log"));
    log_path = path;
    setenv("KJIT_DOUBLE_LOG", path, 1);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
