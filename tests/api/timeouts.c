/* Launches that run out of time: of their own, or of the context's. */
#include "endless.h"

#include <stdatomic.h>

/* Calls what has KJIT_TIMEOUT with longer and longer times, as a busy machine begins too late what has a short one,
 * until the sentence is that of something that had begun. */
#define FAILS_BEGUN(ms, call, text) \
    do { \
        kjit_status began_; \
        for (ms = 30; (began_ = (call)) == KJIT_TIMEOUT && ms < 20000; ms *= 4) \
            if (strstr(kjit_last_error(ctx), text)) \
                break; \
        FAILS(began_, KJIT_TIMEOUT, text); \
    } while (0)

/* A launch that ends by its timeout, and two behind it that have none, or a long one. */
static kjit_status in_a_row(kjit_stream *s, kjit_array *a, double ms)
{
    int32_t *added = (int32_t *)kjit_array_data(a) + 7, before = *added;
    OK(start("counted", s, a, ms));
    OK(start("add", s, a, 0));
    OK(start("add", s, a, 1e9));
    kjit_status status = kjit_stream_synchronize(s);
    assert_int_equal(*added, before + 2);
    return status;
}

static void test_timeout(void **state)
{
    (void)state;
    double ms;
    kjit_stream *s;
    kjit_array *a = zeros();
    kjit_launch_plan *plan;
    OK(kjit_stream_create(ctx, &s));
    FAILS_BEGUN(ms, start("spin", NULL, a, ms),
                "test.knl:2:36: error: kernel 'spin' ran out of time in this loop (block (");
    FAILS_BEGUN(ms, in_a_row(s, a, ms), "kernel 'counted' ran out of time in this loop");
    kjit_config config = {.grid = {1}, .block = {64}, .timeout_ms = 20};
    OK(kjit_launch_plan_create(mod, "spin", &config, (kjit_arg[]){kjit_arg_array(a)}, 1, &plan));
    FAILS(kjit_launch_plan_run(plan, NULL), KJIT_TIMEOUT, "kernel 'spin' ran out of time");
    OK(kjit_launch_plan_run(plan, s));
    FAILS(kjit_stream_synchronize(s), KJIT_TIMEOUT, "kernel 'spin' ran out of time");
    kjit_launch_plan_free(plan);
    guard();
    int32_t before = ((int32_t *)kjit_array_data(a))[7];
    OK(start_endless("spin", s, a));
    OK(start("add", s, a, 15)); /* waits for longer */
    pause_us(40000);
    OK(kjit_stream_cancel(s));
    ends_cancelled(s, "kernel 'spin'");
    assert_int_equal(((int32_t *)kjit_array_data(a))[7], before);
    FAILS(start("add", s, a, -1), KJIT_INVALID, "config.timeout_ms is -1");
    FAILS(start("add", s, a, KJIT_MAX_MS + 1.0), KJIT_INVALID, "config.timeout_ms is 1.07374e+09");
    FAILS(start("add", s, a, 1e300), KJIT_INVALID, "config.timeout_ms is 1e+300");
    OK(start("add", s, a, KJIT_MAX_MS));
    OK(kjit_stream_synchronize(s));
    goes_on(s, a);
    kjit_stream_free(s);
    kjit_array_free(a);
}

static void stay(kjit_stream *s, kjit_status status, void *user)
{
    (void)s;
    (void)status;
    pause_us(40000);
    atomic_store((atomic_int *)user, 1);
}

/* What is in front of a launch is not ended by its timeout. */
static void test_timeout_in_a_queue(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_array *a = zeros();
    atomic_int stayed;
    atomic_init(&stayed, 0);
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_stream_callback(s, stay, &stayed));
    OK(start("add", s, a, 5));
    OK(start("add", s, a, 0));
    FAILS(kjit_stream_synchronize(s), KJIT_TIMEOUT, "kernel 'add' ran out of time before it began");
    assert_int_equal(atomic_load(&stayed), 1);
    assert_int_equal(((int32_t *)kjit_array_data(a))[7], 1);
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

static kjit_status run_within(kjit_module *runs, const char *param, double ms)
{
    OK(kjit_set_deadline(ctx, ms));
    return kjit_run(runs, &(kjit_run_options){.params = &param, .nparams = 1});
}

static void test_run_block(void **state)
{
    (void)state;
    double ms;
    kjit_module *runs = module("kernel spin(x: i32[]) { while x[0] < 1000 { } }\n"
                               "run {\n"
                               "    param n = 0\n"
                               "    while n == 0 { }\n"
                               "    spin[1, 1](zeros(2, i32))\n"
                               "}\n");
    FAILS_BEGUN(ms, run_within(runs, "n=0", ms), "test.knl:4:11: error: the time has run out");
    FAILS_BEGUN(ms, run_within(runs, "n=1", ms), "test.knl:5:5: note: launched here");
    OK(kjit_set_deadline(ctx, 0));
    kjit_module_free(runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_timeout_in_a_queue),
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_run_block),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
