/* Prepared launches: they do what kjit_launch does, keep what they were given, can be given other
 * arguments, and are run by many threads. And what can be asked of a launch without making it. */
#include "api.h"

#include <pthread.h>

#define CONFIG(g, b) (&(kjit_config){.grid = {g}, .block = {b}})
#define ARGS(...) \
    (kjit_arg[]){__VA_ARGS__}, (int)(sizeof((kjit_arg[]){__VA_ARGS__}) / sizeof(kjit_arg))
#define A kjit_arg_array
#define I kjit_arg_i64
#define F kjit_arg_f64

enum { N = 1000 };

static const char source[] =
    "record P { a: i32, b: i32 }\n"
    "const lut: i32[2]\n"
    "kernel add(x: i32[], n: i32, const K: i32 = 1) { let i = grid(1)\n"
    "    if i < x.size { x[i] += n * K } }\n"
    "kernel axpy<T: float>(a: T, x: T[], y: T[]) { requires x.shape == y.shape\n"
    "    let i = grid(1); if i < x.size { y[i] += a * x[i] } }\n"
    "kernel take(x: i32[], p: P, z: c64) { let i = grid(1)\n"
    "    if i < x.size { x[i] = p.a + 10 * p.b + 100 * i32(z.real) + 1000 * i32(z.imag) } }\n"
    "kernel say(x: i32[]) { if grid(1) == 0 { print(\"x is\", x[0]) } }\n"
    "kernel look(x: i32[]) { let i = grid(1); if i < x.size { x[i] = lut[i % 2] } }\n"
    "kernel meet(x: i32[]) { atomic.add(x, 0, 1); grid_sync(); x[1 + grid(1)] = x[0] }\n"
    "kernel shared_n(x: i32[], n: i64) { let t = shared.array(n, i32)\n"
    "    t[threadIdx.x] = 1; syncthreads(); x[threadIdx.x] = t[n - 1 - threadIdx.x] }\n"
    "kernel diverge(x: i32[]) { if threadIdx.x < 17 { syncthreads() }\n"
    "    x[threadIdx.x] = 1 }\n"
    "kernel must(x: i32[]) { assert(x[0] == 80, \"x is not 80\"); x[0] = 1 }\n";

static kjit_module *mod;
static int32_t ints[N];
static kjit_array *host, *x;
static kjit_stream *stream;

static int set_up(void **state)
{
    if (make_context(state) != 0)
        return 1;
    mod = module(source);
    host = wrap(ints, KJIT_I32, 1, SHAPE(N));
    OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', KJIT_DEVICE, &x));
    OK(kjit_stream_create(ctx, &stream));
    return 0;
}

static int tear_down(void **state)
{
    kjit_stream_free(stream);
    kjit_array_free(x);
    kjit_array_free(host);
    kjit_module_free(mod);
    return drop_context(state);
}

static void clear(void)
{
    memset(ints, 0, sizeof ints);
    OK(kjit_copy(x, host, NULL));
}

/* All elements of x are that. */
static void expect(int32_t value)
{
    OK(kjit_copy(host, x, NULL));
    for (int i = 0; i < N; i++)
        if (ints[i] != value)
            fail_msg("element %d is %d, not %d", i, ints[i], value);
}

static kjit_launch_plan *plan_add(kjit_array *a, int64_t n)
{
    kjit_launch_plan *plan;
    OK(kjit_launch_plan_create(mod, "add", CONFIG(4, 256), ARGS(A(a), I(n)), &plan));
    return plan;
}

static void test_runs(void **state)
{
    (void)state;
    kjit_launch_plan *plan = plan_add(x, 3);
    clear();
    for (int i = 0; i < 5; i++)
        OK(kjit_launch_plan_run(plan, NULL));
    expect(15);
    for (int i = 0; i < 40; i++)
        OK(kjit_launch_plan_run(plan, stream));
    kjit_launch_plan_free(plan); /* while its runs are queued */
    OK(kjit_stream_synchronize(stream));
    expect(135);
    kjit_launch_plan_free(NULL);
}

/* What it was given may go, and change. */
static void test_keeps(void **state)
{
    (void)state;
    kjit_module *other = module(source);
    kjit_array *view;
    kjit_dtype point;
    kjit_launch_plan *plan;
    int32_t p[2] = {1, 2};
    float z[2] = {3, 4};
    OK(kjit_module_record(other, "P", &point));
    OK(kjit_array_slice(x, NULL, NULL, NULL, &view));
    {
        char name[] = "take";
        kjit_arg args[] = {A(view), kjit_arg_value(point, p), kjit_arg_value(KJIT_C64, z)};
        OK(kjit_launch_plan_create(other, name, CONFIG(4, 256), args, 3, &plan));
        memset(args, 0, sizeof args);
        memset(name, 0, sizeof name);
    }
    kjit_array_free(view);
    kjit_module_free(other);
    p[0] = 7;
    z[0] = 8;
    clear();
    OK(kjit_launch_plan_run(plan, stream));
    expect(4321);
    OK(kjit_launch_plan_set(plan, 1, kjit_arg_value(point, p)));
    p[0] = 9;
    OK(kjit_launch_plan_run(plan, NULL));
    expect(4327);
    kjit_launch_plan_free(plan);
}

static void test_set(void **state)
{
    (void)state;
    kjit_array *y;
    kjit_launch_plan *plan = plan_add(x, 1);
    OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', KJIT_DEVICE, &y));
    clear();
    OK(kjit_launch_plan_run(plan, stream));
    OK(kjit_launch_plan_set(plan, 1, I(10)));
    OK(kjit_launch_plan_run(plan, stream));
    OK(kjit_launch_plan_set(plan, 2, I(100))); /* other code */
    OK(kjit_launch_plan_run(plan, stream));
    OK(kjit_launch_plan_set(plan, 0, A(y)));
    OK(kjit_launch_plan_run(plan, stream));
    OK(kjit_launch_plan_set(plan, 0, kjit_arg_named("n", A(x)))); /* its name is not looked at */
    kjit_array_free(y);
    expect(1011);
    FAILS(kjit_launch_plan_set(plan, 0, F(1)), KJIT_TYPE, "'x' takes i32[], not the float 1");
    FAILS(kjit_launch_plan_set(plan, 0, A(NULL)), KJIT_INVALID, "the array for 'x' is NULL");
    FAILS(kjit_launch_plan_set(plan, 1, I(INT64_MAX)), KJIT_TYPE, "does not fit in 'n'");
    FAILS(kjit_launch_plan_set(plan, 3, I(1)), KJIT_INVALID, "numbered from 0 to 2");
    FAILS(kjit_launch_plan_set(plan, -1, I(1)), KJIT_INVALID, "there is no parameter -1");
    OK(kjit_launch_plan_run(plan, NULL)); /* as it was */
    expect(2011);
    kjit_launch_plan_free(plan);
}

static void keep_text(void *user, const char *text, size_t size)
{
    strncat(user, text, size);
}

/* Launches that take more than what is packed. */
static void test_bound_anew(void **state)
{
    (void)state;
    kjit_launch_plan *plan = plan_add(host, 5); /* is moved there and back on a GPU */
    char printed[64] = "";
    memset(ints, 0, sizeof ints);
    OK(kjit_launch_plan_run(plan, NULL));
    OK(kjit_launch_plan_run(plan, stream));
    OK(kjit_stream_synchronize(stream));
    assert_int_equal(ints[N - 1], 10);
    kjit_launch_plan_free(plan);
    kjit_set_print(ctx, keep_text, printed);
    OK(kjit_launch_plan_create(mod, "say", CONFIG(1, 1), ARGS(A(host)), &plan));
    OK(kjit_launch_plan_run(plan, NULL));
    OK(kjit_launch_plan_run(plan, stream));
    OK(kjit_stream_synchronize(stream));
    assert_string_equal(printed, "x is 10\nx is 10\n");
    kjit_set_print(ctx, NULL, NULL);
    kjit_launch_plan_free(plan);
    OK(kjit_launch_plan_create(mod, "look", CONFIG(4, 256), ARGS(A(x)), &plan));
    FAILS(kjit_launch_plan_run(plan, NULL), KJIT_LAUNCH, "'lut' has no elements yet");
    for (int32_t value = 6; value < 8; value++) {
        kjit_array *lut = wrap((int32_t[]){value, value}, KJIT_I32, 1, SHAPE(2));
        OK(kjit_module_set_const(mod, "lut", lut));
        OK(kjit_launch_plan_run(plan, stream));
        expect(value);
        kjit_array_free(lut);
    }
    kjit_launch_plan_free(plan);
}

static void test_other_forms(void **state)
{
    (void)state;
    kjit_launch_plan *plan;
    OK(kjit_launch_plan_create(mod, "add", CONFIG(0, 256), ARGS(A(x), I(1)), &plan));
    clear();
    OK(kjit_launch_plan_run(plan, NULL));
    OK(kjit_launch_plan_set(plan, 1, I(2)));
    OK(kjit_launch_plan_run(plan, stream));
    expect(0);
    kjit_launch_plan_free(plan);
    OK(kjit_launch_plan_create(mod, "meet", CONFIG(5, 8), ARGS(A(x)), &plan));
    OK(kjit_launch_plan_run(plan, stream));
    OK(kjit_launch_plan_run(plan, NULL));
    OK(kjit_copy(host, x, NULL));
    assert_int_equal(ints[40], 80);
    kjit_launch_plan_free(plan);
    OK(kjit_launch_plan_create(mod, "must", CONFIG(1, 1), ARGS(A(x)), &plan));
    OK(kjit_launch_plan_run(plan, NULL));
    FAILS(kjit_launch_plan_run(plan, NULL), KJIT_FAULT, "x is not 80");
    OK(kjit_launch_plan_run(plan, stream));
    FAILS(kjit_stream_synchronize(stream), KJIT_FAULT, "x is not 80");
    kjit_launch_plan_free(plan);
    if (!on_cpu())
        SKIP("it hangs, or goes on");
    OK(kjit_launch_plan_create(mod, "diverge", CONFIG(1, 32), ARGS(A(x)), &plan));
    FAILS(kjit_launch_plan_run(plan, NULL), KJIT_FAULT, "test.knl:");
    OK(kjit_launch_plan_run(plan, stream));
    FAILS(kjit_stream_synchronize(stream), KJIT_FAULT, "test.knl:");
    kjit_launch_plan_free(plan);
}

#define NO_PLAN(status, text, ...) \
    do { \
        kjit_launch_plan *none_ = (kjit_launch_plan *)(void *)mod; \
        FAILS(kjit_launch_plan_create(__VA_ARGS__, &none_), status, text); \
        assert_null(none_); \
    } while (0)

static void test_mistakes(void **state)
{
    (void)state;
    kjit_launch_plan *plan;
    NO_PLAN(KJIT_NOT_FOUND, "did you mean 'add'?", mod, "ad", CONFIG(1, 1), ARGS(A(x)));
    NO_PLAN(KJIT_INVALID, "config is NULL", mod, "add", NULL, ARGS(A(x), I(1)));
    NO_PLAN(KJIT_LAUNCH, "'n' (i32) was not given", mod, "add", CONFIG(1, 1), ARGS(A(x)));
    NO_PLAN(KJIT_LAUNCH, "the block", mod, "add", CONFIG(1, 2000), ARGS(A(x), I(1)));
    NO_PLAN(KJIT_LAUNCH, "bytes of shared memory", mod, "shared_n", CONFIG(1, 32),
            ARGS(A(x), I(1 << 20)));
    NO_PLAN(KJIT_LAUNCH, "the device holds", mod, "meet", CONFIG(1 << 30, 1024), ARGS(A(x)));
    FAILS(kjit_launch_plan_create(mod, "add", CONFIG(1, 1), ARGS(A(x), I(1)), NULL), KJIT_INVALID,
          "out is NULL");
    kjit_array *a = create(KJIT_F32, 1, SHAPE(4), 'C'), *b = create(KJIT_F32, 1, SHAPE(5), 'C');
    NO_PLAN(KJIT_LAUNCH, "requires", mod, "axpy", CONFIG(1, 32), ARGS(F(1), A(a), A(b)));
    OK(kjit_launch_plan_create(mod, "axpy", CONFIG(1, 32), ARGS(F(1), A(a), A(a)), &plan));
    FAILS(kjit_launch_plan_set(plan, 1, A(b)), KJIT_LAUNCH, "requires");
    OK(kjit_launch_plan_run(plan, NULL));
    kjit_context *own = ctx, *other;
    kjit_stream *foreign;
    assert_int_equal(kjit_context_create(NULL, &other, NULL, 0), KJIT_OK);
    assert_int_equal(kjit_stream_create(other, &foreign), KJIT_OK);
    FAILS(kjit_launch_plan_run(plan, foreign), KJIT_INVALID, "another context");
    kjit_stream_free(foreign);
    kjit_context_destroy(other);
    assert_ptr_equal(own, ctx);
    kjit_launch_plan_free(plan);
    kjit_array_free(a);
    kjit_array_free(b);
    assert_int_equal(kjit_launch_plan_run(NULL, NULL), KJIT_INVALID);
    assert_int_equal(kjit_launch_plan_set(NULL, 0, I(1)), KJIT_INVALID);
    assert_int_equal(kjit_launch_plan_create(NULL, "add", CONFIG(1, 1), ARGS(A(x), I(1)), &plan),
                     KJIT_INVALID);
    assert_null(plan);
}

enum { THREADS = 4, RUNS = 250 };

static void *run_many(void *data)
{
    kjit_launch_plan *plan = data;
    kjit_status status = KJIT_OK;
    for (int i = 0; i < RUNS && status == KJIT_OK; i++)
        status = kjit_launch_plan_run(plan, i % 10 ? stream : NULL);
    return (void *)(intptr_t)status;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    kjit_launch_plan *plan;
    OK(kjit_launch_plan_create(mod, "meet", CONFIG(1, 1), ARGS(A(x)), &plan));
    clear();
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_many, plan), 0);
    for (int i = 0; i < THREADS; i++) {
        void *status;
        assert_int_equal(pthread_join(threads[i], &status), 0);
        assert_int_equal((intptr_t)status, KJIT_OK);
    }
    OK(kjit_stream_synchronize(stream));
    OK(kjit_copy(host, x, NULL));
    assert_int_equal(ints[0], THREADS * RUNS); /* added atomically */
    kjit_launch_plan_free(plan);
}

static void test_questions(void **state)
{
    (void)state;
    int64_t threads = -1;
    kjit_kernel_info info = {.registers = -1}, more;
    OK(kjit_forall_block(mod, "add", ARGS(A(x), I(1)), &threads));
    assert_true(threads > 0 && threads <= 1024 && threads % 32 == 0);
    FAILS(kjit_forall_block(mod, "add", ARGS(A(x)), &threads), KJIT_LAUNCH, "was not given");
    assert_int_equal(threads, 0);
    FAILS(kjit_forall_block(mod, "add", ARGS(A(x), I(1)), NULL), KJIT_INVALID, "place is NULL");
    FAILS(kjit_forall_block(mod, NULL, ARGS(A(x), I(1)), &threads), KJIT_INVALID, "name is NULL");
    assert_int_equal(kjit_forall_block(NULL, "add", ARGS(A(x), I(1)), &threads), KJIT_INVALID);
    FAILS(kjit_launch_info(mod, "add", CONFIG(1, 64), ARGS(A(x), I(1)), NULL), KJIT_INVALID,
          "place is NULL");
    FAILS(kjit_launch_info(mod, "add", NULL, ARGS(A(x), I(1)), &info), KJIT_INVALID, "config");
    FAILS(kjit_launch_info(mod, "add", CONFIG(1, 64), ARGS(A(x)), &info), KJIT_LAUNCH, "not given");
    assert_int_equal(info.registers, 0);
    assert_int_equal(kjit_launch_info(NULL, "add", CONFIG(1, 64), ARGS(A(x)), &info), KJIT_INVALID);
    if (on_cpu()) {
        FAILS(kjit_launch_info(mod, "add", CONFIG(1, 64), ARGS(A(x), I(1)), &info), KJIT_NO_DEVICE,
              "only a GPU");
        return;
    }
    OK(kjit_launch_info(mod, "shared_n", CONFIG(1, 64), ARGS(A(x), I(64)), &info));
    OK(kjit_launch_info(mod, "shared_n", CONFIG(1, 64), ARGS(A(x), I(16384)), &more));
    assert_true(info.registers > 0 && info.max_threads >= 64);
    assert_true(info.occupancy > more.occupancy && more.blocks > 0 && more.blocks < info.blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),        cmocka_unit_test(test_keeps),
        cmocka_unit_test(test_set),         cmocka_unit_test(test_bound_anew),
        cmocka_unit_test(test_other_forms), cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_threads),     cmocka_unit_test(test_questions),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
