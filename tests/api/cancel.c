/* Launches that are ended before they have run: by who cancels their stream or context, on another thread, and
 * by deadlines. Each says where it was; what is put into the stream afterwards runs. */
#include "on_threads.h"

#include <time.h>

static const char source[] =
    "kernel add(x: i32[], n: i32) { let i = grid(1); if i < x.size { x[i] += n } }\n"
    "kernel spin(x: i32[]) { x[40] = 1; while x[0] < 1000 { x[1] = 1 } }\n"
    "kernel empty(x: i32[]) { x[40] = 1; while true { } }\n"
    "kernel nest(x: i32[]) {\n"
    "    var s: i32 = 1\n"
    "    x[40] = 1\n"
    "    for a in range(100000) {\n"
    "        for b in range(100000) { for c in range(3000) { s = s * 1664525 + a } } }\n"
    "    x[0] = s\n"
    "}\n"
    "kernel counted(x: i32[], n: i64) {\n"
    "    var s: i32 = x[0]\n"
    "    x[40] = 1\n"
    "    for a in range(n) { for b in range(n) { s = s * 1664525 + 1013904223 } }\n"
    "    if s == 12345 { x[0] = 1 }\n"
    "}\n"
    "kernel together(x: i32[]) {\n"
    "    let t = shared.array((64,), i32)\n"
    "    x[40] = 1\n"
    "    while x[0] < 1000 {\n"
    "        t[threadIdx.x] = x[threadIdx.x]; syncthreads()\n"
    "        x[threadIdx.x] = t[threadIdx.x] % 100; syncthreads() }\n"
    "}\n"
    "kernel apart(x: i32[]) {\n"
    "    x[40] = 1\n"
    "    while x[threadIdx.x] < 1000 + i32(threadIdx.x) { x[threadIdx.x] = 1 }\n"
    "}\n"
    "kernel waits(x: i32[]) { x[40] = 1; while atomic.add(x, 0, 0) < 1000 { } }\n"
    "kernel grids(x: i32[]) { x[40] = 1; while x[0] < 1000 { grid_sync() } }\n"
    "fn endless(n: i32) -> i32 { var k = n; while k >= 0 { k = (k + 1) % 7 }; return k }\n"
    "kernel within(x: i32[]) {\n"
    "    x[40] = 1\n"
    "    if x[0] > 5 and endless(x[0]) > 3 { x[1] = 1 } else { x[1] = endless(3) }\n"
    "}\n"
    "kernel many(x: i32[]) { if blockIdx.x == 4 { x[40] = 1 } }\n"
    "kernel long_blocks(x: i32[]) {\n"
    "    var s: i32 = x[1] + i32(grid(1))\n"
    "    for k in range(1000) { s = s * 1664525 + 1013904223 }\n"
    "    if s != 12345 and threadIdx.x == 0 { atomic.add(x, 0, 1) }\n"
    "}\n"
    "kernel parent(x: i32[]) { if threadIdx.x == 0 { launch spin[1, 64](x) } }\n";

/* What the sentence has of where it was. */
static const struct {
    const char *name, *where;
} endless[] = {
    {"spin", "test.knl:2:36: error: kernel 'spin' was cancelled in this loop (block ("},
    {"empty", "test.knl:3:37: error: kernel 'empty' was cancelled in this loop"},
    {"nest", "test.knl:8:9: error: kernel 'nest' was cancelled in this loop"},
    {"counted", "error: kernel 'counted' was cancelled in this loop"},
    {"together", "test.knl:20:5: error: kernel 'together' was cancelled in this loop"},
    {"apart", "error: kernel 'apart' was cancelled in this loop"},
    {"waits", "error: kernel 'waits' was cancelled in this loop"},
    {"grids", "error: kernel 'grids' was cancelled "},
    {"within", "error: kernel 'within' was cancelled in this loop"},
    {"parent", "error: kernel 'parent' was cancelled in this loop"},
    {"many", "error: kernel 'many' was cancelled in front of block ("},
};

/* All but the last: a GPU begins its blocks all the same. */
static int kinds(void)
{
    int n = sizeof endless / sizeof *endless;
    return on_cpu() ? n : n - 1;
}

static kjit_module *mod;

static int set_up(void **state)
{
    char error[256];
    kjit_context_options options = {.cancellable = 1};
    (void)state;
    if (kjit_context_create(&options, &ctx, error, sizeof error) != KJIT_OK) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    mod = module(source);
    return 0;
}

static int tear_down(void **state)
{
    kjit_module_free(mod);
    return drop_context(state);
}

static void pause_us(long us)
{
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* 64 zeros that kernels work on where they are. */
static kjit_array *zeros(void)
{
    kjit_array *a;
    OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(64), 'C', KJIT_MAPPED, &a));
    memset(kjit_array_data(a), 0, 64 * sizeof(int32_t));
    return a;
}

static kjit_status start(const char *kernel, kjit_stream *s, kjit_array *a, double timeout_ms)
{
    bool two = strcmp(kernel, "add") == 0 || strcmp(kernel, "counted") == 0;
    bool many = strcmp(kernel, "many") == 0;
    kjit_arg args[] = {kjit_arg_array(a), kjit_arg_i64(strcmp(kernel, "add") == 0 ? 1 : 3000000)};
    kjit_config config = {.grid = {many                           ? INT32_MAX
                                   : strcmp(kernel, "grids") == 0 ? 3
                                                                  : 2},
                          .block = {many ? 1 : 64},
                          .stream = s,
                          .timeout_ms = timeout_ms};
    if (strcmp(kernel, "add") == 0)
        config.grid[0] = 1;
    else if (strcmp(kernel, "long_blocks") == 0)
        config.grid[0] = 1000000;
    return kjit_launch(mod, kernel, &config, args, two ? 2 : 1);
}

/* A GPU's driver may let an allocation or a free wait for kernels that run: what launches others behind an
 * endless one sees to it that this has an end. */
static void guard(void)
{
    if (!on_cpu())
        OK(kjit_set_deadline(ctx, 3000));
}

/* Was it cancelled, or, on a GPU, ended by the guard? */
static void ends_cancelled(kjit_stream *s, const char *kernel)
{
    kjit_status status = kjit_stream_synchronize(s);
    assert_true(status == KJIT_CANCELLED || (status == KJIT_TIMEOUT && !on_cpu()));
    assert_non_null(strstr(kjit_last_error(ctx), kernel));
    OK(kjit_set_deadline(ctx, 0));
}

/* Nothing is left to be freed while one runs that nobody ends. */
static kjit_status start_endless(const char *kernel, kjit_stream *s, kjit_array *a)
{
    OK(kjit_deallocate_pending(ctx));
    return start(kernel, s, a, 0);
}

/* Until the kernel has begun. */
static void wait_for_begin(kjit_array *a)
{
    while (__atomic_load_n((int32_t *)kjit_array_data(a) + 40, __ATOMIC_RELAXED) == 0)
        pause_us(200);
    pause_us(1000);
}

/* The stream and the context go on. */
static void goes_on(kjit_stream *s, kjit_array *a)
{
    int32_t *x = kjit_array_data(a);
    int32_t before = x[7];
    OK(start("add", s, a, 0));
    OK(kjit_stream_synchronize(s));
    assert_int_equal(x[7], before + 1);
}

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
    kjit_array *a = zeros(), *b = zeros(), *c = zeros();
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_stream_create(ctx, &other));
    OK(kjit_stream_cancel(s)); /* there is nothing */
    guard();
    OK(start_endless("spin", s, a));
    for (int i = 0; i < 8; i++)
        OK(start("add", s, b, 0));
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
    goes_on(s, a);
    kjit_stream_free(s);
    kjit_stream_free(other);
    kjit_array_free(a);
    kjit_array_free(b);
    kjit_array_free(c);
}

static void test_timeout(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_array *a = zeros();
    kjit_launch_plan *plan;
    OK(kjit_stream_create(ctx, &s));
    FAILS(start("spin", NULL, a, 30), KJIT_TIMEOUT,
          "test.knl:2:36: error: kernel 'spin' ran out of time in this loop (block (");
    OK(start("counted", s, a, 30));
    OK(start("add", s, a, 0)); /* has none */
    OK(start("add", s, a, 1e9));
    FAILS(kjit_stream_synchronize(s), KJIT_TIMEOUT,
          "kernel 'counted' ran out of time in this loop");
    assert_int_equal(((int32_t *)kjit_array_data(a))[7], 2);
    kjit_config config = {.grid = {1}, .block = {64}, .timeout_ms = 20};
    OK(kjit_launch_plan_create(mod, "spin", &config, (kjit_arg[]){kjit_arg_array(a)}, 1, &plan));
    FAILS(kjit_launch_plan_run(plan, NULL), KJIT_TIMEOUT, "kernel 'spin' ran out of time");
    OK(kjit_launch_plan_run(plan, s));
    FAILS(kjit_stream_synchronize(s), KJIT_TIMEOUT, "kernel 'spin' ran out of time");
    kjit_launch_plan_free(plan);
    guard();
    OK(start_endless("spin", s, a));
    OK(start("add", s, a, 15)); /* waits for longer */
    pause_us(40000);
    OK(kjit_stream_cancel(s));
    ends_cancelled(s, "kernel 'spin'");
    assert_int_equal(((int32_t *)kjit_array_data(a))[7], 2);
    FAILS(start("add", s, a, -1), KJIT_INVALID, "config.timeout_ms is -1");
    FAILS(start("add", s, a, 1e300), KJIT_INVALID, "config.timeout_ms is 1e+300");
    goes_on(s, a);
    kjit_stream_free(s);
    kjit_array_free(a);
}

static void test_deadline(void **state)
{
    (void)state;
    kjit_stream *s[2];
    kjit_array *a = zeros(), *b = zeros();
    OK(kjit_deallocate_pending(ctx));
    OK(kjit_set_deadline(ctx, 2000));
    for (int i = 0; i < 2; i++) {
        OK(kjit_stream_create(ctx, &s[i]));
        OK(start(i ? "counted" : "spin", s[i], a, 0));
        for (int k = 0; k < 5; k++)
            OK(start("add", s[i], b, 0));
    }
    OK(kjit_set_deadline(ctx, 30));
    FAILS(kjit_stream_synchronize(s[0]), KJIT_TIMEOUT, "kernel 'spin' ran out of time ");
    FAILS(kjit_stream_synchronize(s[1]), KJIT_TIMEOUT, "kernel 'counted' ran out of time ");
    pause_us(50000); /* of those two it may have been the first deadline */
    FAILS(start("add", NULL, b, 0), KJIT_TIMEOUT, "kernel 'add' ran out of time before it began");
    OK(start("add", s[0], b, 0));
    FAILS(kjit_synchronize(ctx), KJIT_TIMEOUT, "kernel 'add' ran out of time before it began");
    assert_int_equal(((int32_t *)kjit_array_data(b))[7], 0);
    OK(kjit_set_deadline(ctx, 0));
    for (int i = 0; i < 2; i++) {
        goes_on(s[i], b);
        kjit_stream_free(s[i]);
    }
    OK(kjit_set_deadline(ctx, 1)); /* while nothing runs */
    pause_us(20000);
    OK(kjit_set_deadline(ctx, 0));
    OK(start("add", NULL, b, 0));
    kjit_array_free(a);
    kjit_array_free(b);
}

static void test_run_block(void **state)
{
    (void)state;
    kjit_module *runs = module("kernel spin(x: i32[]) { while x[0] < 1000 { } }\n"
                               "run {\n"
                               "    param n = 0\n"
                               "    while n == 0 { }\n"
                               "    spin[1, 1](zeros(2, i32))\n"
                               "}\n");
    const char *one = "n=1";
    OK(kjit_set_deadline(ctx, 30));
    FAILS(kjit_run(runs, NULL), KJIT_TIMEOUT, "test.knl:4:11: error: the time has run out");
    OK(kjit_set_deadline(ctx, 30));
    FAILS(kjit_run(runs, &(kjit_run_options){.params = &one, .nparams = 1}), KJIT_TIMEOUT,
          "test.knl:5:5: note: launched here");
    OK(kjit_set_deadline(ctx, 0));
    kjit_module_free(runs);
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
    ends_cancelled(s, "kernel 'spin'");
    assert_true(atomic_load(&told) == KJIT_CANCELLED || !on_cpu());
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

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The least tells what it takes: the rest is whatever else the machine does. */
static void test_latency(void **state)
{
    enum { TIMES = 41 };
    (void)state;
    kjit_stream *s;
    kjit_array *a = zeros();
    double took[TIMES], late[TIMES];
    OK(kjit_stream_create(ctx, &s));
    for (int i = 0; i < TIMES; i++) {
        const char *name = endless[i % kinds()].name;
        OK(start_endless(name, s, a));
        pause_us(2000);
        double begin = now_ms();
        OK(kjit_stream_cancel(s));
        FAILS(kjit_stream_synchronize(s), KJIT_CANCELLED, name);
        took[i] = now_ms() - begin;
        begin = now_ms();
        FAILS(start(name, NULL, a, 5), KJIT_TIMEOUT, name);
        late[i] = now_ms() - begin - 5;
    }
    qsort(took, TIMES, sizeof *took, compare);
    qsort(late, TIMES, sizeof *late, compare);
    print_message(
        "cancelled in %.3f ms (median; %.3f to %.3f), %.3f ms behind a deadline (%.3f to %.3f)\n",
        took[TIMES / 2], took[0], took[TIMES - 1], late[TIMES / 2], late[0], late[TIMES - 1]);
    assert_true(!on_cpu() || (took[TIMES / 4] < 10 && late[TIMES / 4] < 100));
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
        cmocka_unit_test(test_each_kind),       cmocka_unit_test(test_queued),
        cmocka_unit_test(test_timeout),         cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_run_block),       cmocka_unit_test(test_graph),
        cmocka_unit_test(test_callback),        cmocka_unit_test(test_without_stream),
        cmocka_unit_test(test_random),          cmocka_unit_test(test_latency),
        cmocka_unit_test(test_not_cancellable),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
