/* 32 threads that compile and launch beside one another: modules of their own, and new variants of
 * one module that all of them want at the same time, which are compiled once. KJIT_TEST_ROUNDS is
 * how often (10). */
#include "on_threads.h"

enum { THREADS = 32, N = 500, ROUNDS = 10 };

static const char shared_source[] =
    "kernel add(x: i32[], const K: i32 = 1) { let i = grid(1); if i < x.size { x[i] += K } }\n";

static kjit_module *shared;
static pthread_barrier_t together;
static int rounds = ROUNDS;

static int set_up(void **state)
{
    const char *asked = getenv("KJIT_TEST_ROUNDS");
    if (asked && atoi(asked) > 0)
        rounds = atoi(asked);
    if (make_context(state) != 0)
        return 1;
    shared = module(shared_source);
    return pthread_barrier_init(&together, NULL, THREADS);
}

static int tear_down(void **state)
{
    pthread_barrier_destroy(&together);
    kjit_module_free(shared);
    return drop_context(state);
}

/* A kernel that no other thread has. */
static void compile_own(int self, int round, kjit_array *a)
{
    char source[160];
    kjit_module *own;
    snprintf(source, sizeof source,
             "kernel own(x: i32[]) { let i = grid(1); if i < x.size { x[i] = x[i] * %d + %d } }",
             2 * self + 1, round);
    CHECK(kjit_module_compile(ctx, "own.knl", source, strlen(source), NULL, &own) == KJIT_OK);
    CHECK(kjit_launch_forall(own, "own", N, NULL, (kjit_arg[]){kjit_arg_array(a)}, 1) == KJIT_OK);
    kjit_module_free(own);
}

static void *compile_much(void *data)
{
    int self = *(int *)data;
    int32_t x[N] = {0};
    uint32_t expected = 0;
    kjit_array *a;
    CHECK(kjit_array_wrap(ctx, x, KJIT_I32, 1, SHAPE(N), NULL, KJIT_HOST, &a) == KJIT_OK);
    for (int i = 0; i < rounds; i++) {
        compile_own(self, i, a);
        expected = expected * (uint32_t)(2 * self + 1) + (uint32_t)i;
        pthread_barrier_wait(&together);
        kjit_arg args[] = {kjit_arg_array(a), kjit_arg_named("K", kjit_arg_i64(i))};
        CHECK(kjit_launch_forall(shared, "add", N, NULL, args, 2) == KJIT_OK);
        expected += (uint32_t)i;
        CHECK((uint32_t)x[0] == expected && (uint32_t)x[N - 1] == expected);
    }
    kjit_array_free(a);
    return NULL;
}

static void run_threads(void *(*work)(void *))
{
    pthread_t threads[THREADS];
    static int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&wrong), 0);
}

static void test_compile_and_launch(void **state)
{
    (void)state;
    run_threads(compile_much);
}

/* ---- How often ---- */

/* Kernels compiled, and taken from the cache. */
typedef struct counts {
    int compiled, loaded;
} counts;

static void count(void *user, const kjit_trace_event *e)
{
    counts *c = user;
    c->compiled += e->kind == KJIT_TRACE_COMPILE;
    c->loaded += e->kind == KJIT_TRACE_LOAD;
}

static void *want_the_same(void *data)
{
    int32_t x[N] = {0};
    kjit_array *a;
    (void)data;
    CHECK(kjit_array_wrap(ctx, x, KJIT_I32, 1, SHAPE(N), NULL, KJIT_HOST, &a) == KJIT_OK);
    for (int i = 0; i < rounds; i++) {
        pthread_barrier_wait(&together);
        kjit_arg args[] = {kjit_arg_array(a), kjit_arg_named("K", kjit_arg_i64(1000 + i))};
        CHECK(kjit_launch_forall(shared, "add", N, NULL, args, 2) == KJIT_OK);
    }
    kjit_array_free(a);
    return NULL;
}

/* A variant is compiled by the first thread that wants it; the others wait for it. */
static void test_once_a_module(void **state)
{
    counts c = {0, 0};
    (void)state;
    kjit_set_trace(ctx, count, &c);
    run_threads(want_the_same);
    kjit_set_trace(ctx, NULL, NULL);
    assert_int_equal(c.compiled + c.loaded, rounds);
}

static void *want_a_module(void *data)
{
    int32_t x[N] = {0};
    kjit_module *own;
    kjit_array *a;
    (void)data;
    CHECK(kjit_module_compile(ctx, "s.knl", shared_source, strlen(shared_source), NULL, &own) ==
          KJIT_OK);
    CHECK(kjit_array_wrap(ctx, x, KJIT_I32, 1, SHAPE(N), NULL, KJIT_HOST, &a) == KJIT_OK);
    pthread_barrier_wait(&together);
    CHECK(kjit_launch_forall(own, "add", N, NULL, (kjit_arg[]){kjit_arg_array(a)}, 1) == KJIT_OK);
    CHECK(x[N - 1] == 1);
    kjit_array_free(a);
    kjit_module_free(own);
    return NULL;
}

/* Modules of one source have one entry in the cache, which the first of them makes. */
static void test_once_a_cache(void **state)
{
    char error[256];
    counts c = {0, 0};
    kjit_context *before = ctx;
    kjit_context_options options = {.cache = path_of("cache")};
    (void)state;
    if (kjit_context_create(&options, &ctx, error, sizeof error) != KJIT_OK)
        fail_msg("%s", error);
    kjit_set_trace(ctx, count, &c);
    run_threads(want_a_module);
    kjit_context_destroy(ctx);
    ctx = before;
    assert_int_equal(c.compiled, 1);
    assert_int_equal(c.loaded, THREADS - 1);
    drop_folder();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compile_and_launch),
        cmocka_unit_test(test_once_a_module),
        cmocka_unit_test(test_once_a_cache),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
