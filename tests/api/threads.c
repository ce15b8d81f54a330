/* Many threads on one context: launches, compilations of one variant, streams, each thread's own
 * error. */
#include "on_threads.h"

enum { THREADS = 8, ROUNDS = 200, N = 3000 };

static const char source[] =
    "kernel add(x: i32[], const K: i32 = 1) { let i = grid(1); if i < x.size { x[i] += K } }\n"
    "kernel rotate(x: i32[]) {\n"
    "    let t = shared.array(blockDim.x, i32)\n"
    "    let i = grid(1)\n"
    "    t[threadIdx.x] = x[i]\n"
    "    syncthreads()\n"
    "    x[i] = t[(threadIdx.x + 1) % blockDim.x]\n"
    "}\n";

static kjit_module *mod;

static int set_up(void **state)
{
    if (make_context(state) != 0)
        return 1;
    mod = module(source);
    return 0;
}

static int tear_down(void **state)
{
    kjit_module_free(mod);
    return drop_context(state);
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

static void *launch_much(void *data)
{
    int self = *(int *)data;
    int32_t *x = calloc(N, sizeof *x);
    kjit_array *a;
    CHECK(kjit_array_wrap(ctx, x, KJIT_I32, 1, SHAPE(N), NULL, KJIT_HOST, &a) == KJIT_OK);
    for (int i = 0; i < ROUNDS; i++) {
        kjit_arg args[] = {kjit_arg_array(a), kjit_arg_named("K", kjit_arg_i64(i % 3 + self % 2))};
        CHECK(kjit_launch(mod, "add", &(kjit_config){.grid = {N / 100}, .block = {100}}, args, 2) ==
              KJIT_OK);
        CHECK(kjit_launch(mod, "rotate", &(kjit_config){.grid = {N / 50}, .block = {50}}, args,
                          1) == KJIT_OK);
    }
    int32_t expected = 0;
    for (int i = 0; i < ROUNDS; i++)
        expected += i % 3 + self % 2;
    for (int i = 0; i < N; i++)
        CHECK(x[i] == expected);
    kjit_array_free(a);
    free(x);
    return NULL;
}

static void test_launches(void **state)
{
    (void)state;
    run_threads(launch_much);
}

static void *stream_much(void *data)
{
    (void)data;
    kjit_stream *s;
    kjit_array *a, *b;
    CHECK(kjit_stream_create(ctx, &s) == KJIT_OK);
    for (int i = 0; i < 20; i++) {
        CHECK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', KJIT_HOST, &a) == KJIT_OK);
        memset(kjit_array_data(a), 0, N * 4);
        CHECK(kjit_to_device(a, s, &b) == KJIT_OK);
        kjit_arg args[] = {kjit_arg_array(b)};
        for (int k = 0; k < 10; k++)
            CHECK(kjit_launch_forall(mod, "add", N, s, args, 1) == KJIT_OK);
        CHECK(kjit_copy(a, b, s) == KJIT_OK);
        kjit_array_free(b);
        CHECK(kjit_stream_synchronize(s) == KJIT_OK);
        CHECK(((int32_t *)kjit_array_data(a))[N - 1] == 10);
        kjit_array_free(a);
    }
    kjit_stream_free(s);
    return NULL;
}

static void test_streams(void **state)
{
    (void)state;
    run_threads(stream_much);
}

/* Each thread reads its own last failure. */
static void *fail_much(void *data)
{
    char name[32], expected[48];
    snprintf(name, sizeof name, "missing%d", *(int *)data);
    snprintf(expected, sizeof expected, "'%s'", name);
    CHECK(*kjit_last_error(ctx) == '\0');
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(kjit_launch(mod, name, &(kjit_config){.grid = {1}, .block = {1}}, NULL, 0) ==
              KJIT_NOT_FOUND);
        CHECK(strstr(kjit_last_error(ctx), expected));
    }
    return NULL;
}

static void test_errors(void **state)
{
    (void)state;
    run_threads(fail_much);
}

/* Modules and contexts come and go beside each other. */
static void *come_and_go(void *data)
{
    (void)data;
    for (int i = 0; i < 5; i++) {
        kjit_context *own;
        kjit_module *m;
        kjit_array *a;
        CHECK(kjit_context_create(&(kjit_context_options){.workers = 2}, &own, NULL, 0) == KJIT_OK);
        CHECK(kjit_module_compile(own, "m.knl", source, strlen(source), NULL, &m) == KJIT_OK);
        CHECK(kjit_array_create(own, KJIT_I32, 1, SHAPE(N), 'C', KJIT_DEVICE, &a) == KJIT_OK);
        kjit_arg args[] = {kjit_arg_array(a)};
        CHECK(kjit_launch_forall(m, "add", N, NULL, args, 1) == KJIT_OK);
        kjit_array_free(a);
        kjit_module_free(m);
        kjit_context_destroy(own);
    }
    return NULL;
}

static void test_contexts(void **state)
{
    (void)state;
    run_threads(come_and_go);
}

static void *fail_and_go(void *data)
{
    const int64_t shape = -1;
    kjit_array *a;
    kjit_stream *s;
    CHECK(kjit_array_create(ctx, KJIT_F32, 1, &shape, 'C', KJIT_HOST, &a) == KJIT_SHAPE);
    CHECK(kjit_stream_per_thread_default(ctx, &s) == KJIT_OK);
    atomic_store((atomic_bool *)data, true);
    return NULL;
}

/* A thread that has done its work may still be on its way out when the context ends. */
static void test_both_end(void **state)
{
    (void)state;
    kjit_context *whole = ctx;
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 500; i++) {
        const kjit_context_options options = {.workers = 1, .cache = "off"};
        pthread_t thread;
        atomic_bool gone = false;
        assert_int_equal(kjit_context_create(&options, &ctx, NULL, 0), KJIT_OK);
        assert_int_equal(pthread_create(&thread, &detached, fail_and_go, &gone), 0);
        while (!atomic_load(&gone))
            ;
        for (volatile int k = 0; k < i * 37 % 20000; k++)
            ;
        kjit_context_destroy(ctx);
    }
    ctx = whole;
    pthread_attr_destroy(&detached);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launches), cmocka_unit_test(test_streams),
        cmocka_unit_test(test_errors),   cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_both_end),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
