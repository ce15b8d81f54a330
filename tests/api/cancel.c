/* Launches that are ended before they have run by who cancels their stream or context, on another thread. Each says
 * where it was; what is put into the stream afterwards runs. */
#include "endless.h"
#include "on_threads.h"

static void test_each_kind(void **state)
{
    (void)state;
    kjit_stream *s;
    OK(kjit_stream_create(ctx, &s));
    for (int i = 0; i < kinds(); i++) {
        kjit_array *a = zeros();
        OK(start_endless(endless[i].name, s, a));
        wait_for_begin(a);
        OK(kjit_stream_cancel(s));
        FAILS(kjit_stream_synchronize(s), KJIT_CANCELLED, endless[i].where);
        goes_on(s, a);
        kjit_array_free(a);
    }
    kjit_stream_free(s);
}

static void test_queued(void **state)
{
    (void)state;
    kjit_stream *s, *other;
    kjit_array *a = zeros(), *b = zeros(), *c = zeros(), *told = zeros();
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_stream_create(ctx, &other));
    OK(kjit_stream_cancel(s)); /* there is nothing */
    guard();
    OK(start_endless("spin", s, a));
    for (int i = 0; i < 8; i++)
        OK(start("add", s, b, 0));
    for (int i = 0; i < 8; i++)
        OK(start("tells", s, told, 0));
    OK(kjit_copy(c, b, s));
    if (on_cpu()) {
        OK(start("add", other, c, 0)); /* of another stream: runs */
        OK(kjit_stream_synchronize(other));
        assert_int_equal(((int32_t *)kjit_array_data(c))[7], 1);
    }
    wait_for_begin(a);
    OK(kjit_stream_cancel(s));
    if (on_cpu())
        OK(start("add", s, a, 0)); /* behind it: runs */
    ends_cancelled(s, "kernel 'spin'");
    OK(kjit_stream_synchronize(s)); /* of those behind the first nobody is told */
    OK(kjit_synchronize(ctx));
    assert_int_equal(((int32_t *)kjit_array_data(a))[7], on_cpu());
    assert_int_equal(((int32_t *)kjit_array_data(b))[7], 0);
    assert_int_equal(((int32_t *)kjit_array_data(c))[7], 0); /* the copy was made */
    assert_int_equal(((int32_t *)kjit_array_data(told))[7], 0);
    goes_on(s, a);
    kjit_stream_free(s);
    kjit_stream_free(other);
    kjit_array_free(a);
    kjit_array_free(b);
    kjit_array_free(c);
    kjit_array_free(told);
}

/* A block whose first thread alone left would use what that thread did not share. */
static void test_blocks_leave_together(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_array *a = zeros();
    OK(kjit_stream_create(ctx, &s));
    for (int i = 0; i < 5; i++) {
        kjit_config config = {.grid = {20000}, .block = {128}, .stream = s};
        ((int32_t *)kjit_array_data(a))[40] = 0;
        OK(kjit_launch(mod, "shares", &config, (kjit_arg[]){kjit_arg_array(a)}, 1));
        wait_for_begin(a);
        OK(kjit_stream_cancel(s));
        kjit_status status = kjit_stream_synchronize(s);
        if (status != KJIT_OK && status != KJIT_CANCELLED)
            fail_msg("%d: %s", (int)status, kjit_last_error(ctx));
    }
    kjit_array_free(a);
    kjit_stream_free(s);
}

/* More than find room in one piece of the memory that a GPU looks at. */
static void test_many_queued(void **state)
{
    enum { QUEUED = 2100 };
    (void)state;
    kjit_stream *s;
    kjit_array *a = zeros(), *b = zeros();
    OK(kjit_stream_create(ctx, &s));
    for (int i = 0; i < 2; i++) {
        ((int32_t *)kjit_array_data(a))[40] = 0;
        guard();
        OK(start_endless("spin", s, a));
        for (int k = 0; k < QUEUED; k++)
            OK(start("add", s, b, 0));
        wait_for_begin(a);
        OK(kjit_stream_cancel(s));
        ends_cancelled(s, "kernel 'spin'");
        assert_int_equal(((int32_t *)kjit_array_data(b))[7], i);
        goes_on(s, b);
    }
    kjit_stream_free(s);
    kjit_array_free(a);
    kjit_array_free(b);
}

/* Cancelled while its loops of few turns go on, of one thread so that they do not look, it ends, and what it launches does
 * not begin. */
static void test_launched(void **state)
{
    enum { TRIES = 500 };
    (void)state;
    kjit_stream *s;
    kjit_array *a = zeros();
    int32_t *x = kjit_array_data(a);
    bool caught = false;
    OK(kjit_stream_create(ctx, &s));
    for (int i = 0; i < TRIES && !caught; i++) {
        memset(x, 0, 64 * sizeof *x);
        kjit_config config = {.grid = {1}, .block = {1}, .stream = s};
        OK(kjit_launch(mod, "ends", &config, (kjit_arg[]){kjit_arg_array(a)}, 1));
        while (__atomic_load_n(x + 40, __ATOMIC_RELAXED) == 0)
            pause_us(20);
        OK(kjit_stream_cancel(s));
        kjit_status status = kjit_stream_synchronize(s);
        assert_int_equal(
            x[42], status == KJIT_OK); /* it came too late, or what it launched did not begin */
        caught = status != KJIT_OK;
    }
    assert_true(caught);
    assert_non_null(strstr(kjit_last_error(ctx),
                           "kernel 'ends' was cancelled in front of a block of its "
                           "own or of a kernel that it launched"));
    assert_int_not_equal(x[41], 0);
    goes_on(s, a);
    kjit_stream_free(s);
    kjit_array_free(a);
}

static void test_graph(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_graph *graph;
    kjit_array *a = zeros(), *b = zeros();
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_graph_begin(s));
    OK(start("add", s, b, 0));
    OK(start("spin", s, a, 0));
    OK(start("add", s, b, 0));
    OK(kjit_graph_end(s, &graph));
    for (int i = 0; i < 3; i++) {
        ((int32_t *)kjit_array_data(a))[40] = 0;
        OK(kjit_deallocate_pending(ctx));
        OK(kjit_graph_launch(graph, s));
        wait_for_begin(a);
        OK(kjit_stream_cancel(s));
        FAILS(kjit_stream_synchronize(s), KJIT_CANCELLED,
              "kernel 'spin' was cancelled in this loop");
    }
    OK(kjit_graph_launch(graph, s));
    OK(kjit_set_deadline(ctx, 20));
    FAILS(kjit_stream_synchronize(s), KJIT_TIMEOUT, "kernel 'spin' ran out of time in this loop");
    OK(kjit_set_deadline(ctx, 0));
    assert_in_range(((int32_t *)kjit_array_data(b))[7], 3,
                    4); /* the first step of each, if it began */
    ((int32_t *)kjit_array_data(a))[0] = 1000;
    OK(kjit_graph_launch(graph, s));
    OK(kjit_stream_synchronize(s));
    goes_on(s, a);
    kjit_graph_free(graph);
    OK(kjit_graph_begin(s)); /* its launches have no timeout of their own */
    FAILS(start("add", s, b, 20), KJIT_INVALID, "config.timeout_ms is 20: a graph's launches have");
    kjit_config config = {.grid = {1}, .block = {64}, .timeout_ms = 20};
    kjit_launch_plan *plan;
    OK(kjit_launch_plan_create(mod, "spin", &config, (kjit_arg[]){kjit_arg_array(a)}, 1, &plan));
    FAILS(kjit_launch_plan_run(plan, s), KJIT_INVALID, "config.timeout_ms is 20");
    OK(kjit_graph_end(s, &graph));
    kjit_launch_plan_free(plan);
    kjit_graph_free(graph);
    kjit_stream_free(s);
    kjit_array_free(a);
    kjit_array_free(b);
}

static void note_status(kjit_stream *s, kjit_status status, void *user)
{
    (void)s;
    atomic_store((atomic_int *)user, (int)status);
}

static void test_callback(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_array *a = zeros();
    atomic_int told;
    atomic_init(&told, -1);
    OK(kjit_stream_create(ctx, &s));
    guard();
    OK(start_endless("spin", s, a));
    wait_for_begin(a);
    OK(kjit_stream_callback(s, note_status, &told));
    OK(kjit_stream_cancel(s));
    kjit_status status = ends_cancelled(s, "kernel 'spin'");
    assert_int_equal(atomic_load(&told), (int)status);
    kjit_stream_free(s);
    kjit_array_free(a);
}

/* ---- From other threads ---- */

static atomic_bool over;

static void *cancel_all(void *unused)
{
    unsigned seed = 1;
    (void)unused;
    while (!atomic_load(&over)) {
        pause_us(200 + rand_r(&seed) % 2000);
        CHECK(kjit_cancel(ctx) == KJIT_OK);
    }
    return NULL;
}

static void test_without_stream(void **state)
{
    (void)state;
    kjit_array *a = zeros();
    pthread_t thread;
    atomic_store(&over, false);
    pthread_create(&thread, NULL, cancel_all, NULL);
    for (int i = 0; i < kinds(); i++)
        FAILS(start(endless[i].name, NULL, a, 0), KJIT_CANCELLED, " was cancelled ");
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    kjit_array_free(a);
    assert_int_equal(atomic_load(&wrong), 0);
}

static void *cancel_once(void *a)
{
    wait_for_begin(a);
    CHECK(kjit_cancel(ctx) == KJIT_OK);
    return NULL;
}

/* Behind the cancelled step of a graph copies are made, and launches are not. */
static void test_graph_without_stream(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_graph *graph;
    kjit_array *a = zeros(), *b = zeros(), *c = zeros();
    pthread_t thread;
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_graph_begin(s));
    OK(start("add", s, b, 0));
    OK(start("spin", s, a, 0));
    OK(start("add", s, b, 0));
    OK(kjit_copy(c, b, s));
    OK(kjit_graph_end(s, &graph));
    pthread_create(&thread, NULL, cancel_once, a);
    FAILS(kjit_graph_launch(graph, NULL), KJIT_CANCELLED, "kernel 'spin' was cancelled");
    pthread_join(thread, NULL);
    assert_int_equal(((int32_t *)kjit_array_data(b))[7], 1);
    assert_int_equal(((int32_t *)kjit_array_data(c))[7], 1);
    kjit_graph_free(graph);
    kjit_stream_free(s);
    kjit_array_free(a);
    kjit_array_free(b);
    kjit_array_free(c);
    assert_int_equal(atomic_load(&wrong), 0);
}

/* A stream, who puts work into it, and who cancels that. */
typedef struct pair {
    kjit_stream *s;
    kjit_array *a;
    unsigned seed;
    int rounds, kinds;
    atomic_bool done;
} pair;

static void *cancel_one(void *data)
{
    pair *p = data;
    unsigned seed = p->seed + 100;
    while (!atomic_load(&p->done)) {
        pause_us(rand_r(&seed) % 1500);
        CHECK(kjit_stream_cancel(p->s) == KJIT_OK);
    }
    return NULL;
}

static void *launch_many(void *data)
{
    pair *p = data;
    for (int i = 0; i < p->rounds; i++) {
        int kind = rand_r(&p->seed) % (p->kinds + 2), n = rand_r(&p->seed) % 4;
        for (int k = 0; k <= n; k++)
            CHECK(start(kind < p->kinds ? endless[kind].name : "add", p->s, p->a, 0) == KJIT_OK);
        kjit_status status = kjit_stream_synchronize(p->s);
        CHECK(status == KJIT_CANCELLED || (status == KJIT_OK && kind >= p->kinds));
    }
    atomic_store(&p->done, true);
    return NULL;
}

static void test_random(void **state)
{
    enum { PAIRS = 3, ROUNDS = 100 };
    (void)state;
    pair pairs[PAIRS];
    pthread_t threads[2 * PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        pairs[i] = (pair){.a = zeros(),
                          .seed = (unsigned)i,
                          .rounds = on_cpu() ? ROUNDS : ROUNDS / 5,
                          .kinds = kinds()};
        atomic_init(&pairs[i].done, false);
        OK(kjit_stream_create(ctx, &pairs[i].s));
    }
    for (int i = 0; i < 2 * PAIRS; i++)
        pthread_create(&threads[i], NULL, i % 2 ? cancel_one : launch_many, &pairs[i / 2]);
    for (int i = 0; i < 2 * PAIRS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&wrong), 0);
    for (int i = 0; i < PAIRS; i++) {
        goes_on(pairs[i].s, pairs[i].a);
        kjit_stream_free(pairs[i].s);
        kjit_array_free(pairs[i].a);
    }
    OK(kjit_synchronize(ctx));
}

/* ---- How long it takes ---- */

/* Of the kind that takes longest: the rest is whatever else the machine does. */
static double longest(const double *least)
{
    double ms = 0;
    for (int i = 0; i < kinds(); i++)
        ms = least[i] > ms ? least[i] : ms;
    return ms;
}

static void test_latency(void **state)
{
    enum { TIMES = 4, MOST_TIMES = 40 }; /* as many where the machine is busy */
    (void)state;
    const double limit = on_cpu() ? 100 : 500;
    kjit_stream *s;
    kjit_array *a = zeros();
    double took[KINDS], late[KINDS];
    int times = 0;
    OK(kjit_stream_create(ctx, &s));
    for (int i = 0; i < TIMES * kinds() || (i < MOST_TIMES * kinds() &&
                                            (longest(took) >= limit || longest(late) >= limit));
         i++) {
        int kind = i % kinds();
        times = i / kinds() + 1;
        const char *name = endless[kind].name;
        OK(start_endless(name, s, a));
        pause_us(2000);
        double begin = now_ms();
        OK(kjit_stream_cancel(s));
        FAILS(kjit_stream_synchronize(s), KJIT_CANCELLED, name);
        double middle = now_ms();
        FAILS(start(name, NULL, a, 5), KJIT_TIMEOUT, name);
        double ms[] = {middle - begin, now_ms() - middle - 5};
        took[kind] = i == kind || ms[0] < took[kind] ? ms[0] : took[kind];
        late[kind] = i == kind || ms[1] < late[kind] ? ms[1] : late[kind];
    }
    print_message(
        "the slowest of %d kinds, least of %d: cancelled in %.3f ms, %.3f ms behind a deadline\n",
        kinds(), times, longest(took), longest(late));
    assert_true(longest(took) < limit);
    assert_true(longest(late) < limit);
    kjit_stream_free(s);
    kjit_array_free(a);
}

/* ---- A context that is not cancellable ---- */

static void test_not_cancellable(void **state)
{
    (void)state;
    kjit_context *before = ctx;
    kjit_module *mine = mod;
    make_context(NULL);
    mod = module(source);
    kjit_stream *s;
    kjit_array *a = zeros();
    OK(kjit_stream_create(ctx, &s));
    FAILS(start("add", NULL, a, 5), KJIT_INVALID, "the context is not cancellable");
    FAILS(kjit_set_deadline(ctx, 5), KJIT_INVALID, "the context is not cancellable");
    OK(kjit_set_deadline(ctx, 0));
    if (on_cpu()) { /* between blocks it ends all the same, and what waits does not begin */
        int32_t *x = kjit_array_data(a);
        OK(start("long_blocks", s, a, 0));
        OK(start("add", s, a, 0));
        while (__atomic_load_n(x, __ATOMIC_RELAXED) == 0)
            pause_us(100);
        OK(kjit_stream_cancel(s));
        FAILS(kjit_stream_synchronize(s), KJIT_CANCELLED,
              "kernel 'long_blocks' was cancelled in front of block (");
        assert_in_range(x[0], 1, 999999);
        assert_int_equal(x[7], 0);
    } else { /* nothing ends, nothing is dropped */
        for (int i = 0; i < 100; i++)
            OK(start("add", s, a, 0));
        OK(kjit_stream_cancel(s));
        OK(kjit_stream_synchronize(s));
        assert_int_equal(((int32_t *)kjit_array_data(a))[7], 100);
    }
    goes_on(s, a);
    kjit_stream_free(s);
    kjit_array_free(a);
    kjit_module_free(mod);
    kjit_context_destroy(ctx);
    mod = mine;
    ctx = before;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind),
        cmocka_unit_test(test_queued),
        cmocka_unit_test(test_many_queued),
        cmocka_unit_test(test_launched),
        cmocka_unit_test(test_blocks_leave_together),
        cmocka_unit_test(test_graph),
        cmocka_unit_test(test_callback),
        cmocka_unit_test(test_without_stream),
        cmocka_unit_test(test_graph_without_stream),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_latency),
        cmocka_unit_test(test_not_cancellable),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
