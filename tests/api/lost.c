/* A kernel that goes astray on a GPU: the device is lost, every call says why, and the process goes
 * on. (On the CPU it is the process that goes astray.) */
#include "api.h"

#include "driver.h"

static const char source[] =
    "kernel add(x: i32[]) { let i = grid(1); if i < x.size { x[i] += 1 } }\n"
    "kernel astray(nowhere: i32[], x: i32[]) { nowhere[grid(1)] = x[0] }\n";

static kjit_module *mod;
static kjit_array *x, *y, *nowhere;

static int set_up(void **state)
{
    if (make_context(state) != 0)
        return 1;
    mod = module(source);
    OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(1000), 'C', KJIT_DEVICE, &x));
    OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(1000), 'C', KJIT_DEVICE, &y));
    nowhere = NULL;
    if (!on_cpu())
        OK(kjit_array_wrap(ctx, driver_nowhere(), KJIT_I32, 1, SHAPE(NOWHERE / 4), NULL,
                           KJIT_DEVICE, &nowhere));
    return 0;
}

static int tear_down(void **state)
{
    kjit_array_free(x);
    kjit_array_free(y);
    if (nowhere)
        driver_give_back(kjit_array_data(nowhere));
    kjit_array_free(nowhere);
    kjit_module_free(mod);
    return drop_context(state);
}

static kjit_status run_on(kjit_array *a, const char *kernel, kjit_stream *s)
{
    kjit_arg args[] = {kjit_arg_array(nowhere), kjit_arg_array(a)};
    kjit_config config = {.grid = {4}, .block = {256}, .stream = s};
    bool adds = strcmp(kernel, "add") == 0;
    return kjit_launch(mod, kernel, &config, args + adds, adds ? 1 : 2);
}

static kjit_status run(const char *kernel, kjit_stream *s)
{
    return run_on(x, kernel, s);
}

#define LOST(call) FAILS(call, KJIT_LOST, "the device was lost: ")

/* Nothing works on the device, and everything says so. */
static void check_lost(void)
{
    int32_t data[1000];
    kjit_array *host = wrap(data, KJIT_I32, 1, SHAPE(1000)), *a;
    kjit_stream *s;
    kjit_event *e;
    LOST(kjit_synchronize(ctx));
    LOST(run("add", NULL));
    LOST(kjit_copy(host, x, NULL));
    LOST(kjit_copy(x, host, NULL));
    LOST(kjit_to_device(host, NULL, &a));
    LOST(kjit_array_create(ctx, KJIT_U8, 1, SHAPE(1), 'C', KJIT_DEVICE, &a));
    LOST(kjit_stream_create(ctx, &s));
    LOST(kjit_event_create(ctx, 1, &e));
    kjit_array_free(host);
}

static void test_now(void **state)
{
    (void)state;
    if (on_cpu())
        SKIP("a CPU is not lost");
    OK(run("add", NULL));
    FAILS(run("astray", NULL), KJIT_LOST, "in kernel 'astray' (test.knl:2): ");
    FAILS(run("astray", NULL), KJIT_LOST, "CUDA_ERROR_ILLEGAL_ADDRESS");
    check_lost();
}

static void tell(kjit_stream *s, kjit_status status, void *user)
{
    (void)s;
    *(kjit_status *)user = status;
}

/* What is queued ends, with that failure; callbacks come all the same; who waits on an event is told too. */
static void test_in_a_stream(void **state)
{
    static int32_t data[1000];
    kjit_stream *s[2];
    kjit_event *from, *to;
    double ms;
    int done;
    (void)state;
    if (on_cpu())
        SKIP("a CPU is not lost");
    kjit_array *host = wrap(data, KJIT_I32, 1, SHAPE(1000));
    for (int i = 0; i < 2; i++)
        OK(kjit_stream_create(ctx, &s[i]));
    OK(kjit_event_create(ctx, 1, &from));
    OK(kjit_event_create(ctx, 1, &to));
    OK(kjit_event_record(from, s[0]));
    kjit_status status = KJIT_OK;
    for (int i = 0; i < 20 && status == KJIT_OK; i++) {
        kjit_array *a = i % 2 == 0 ? x : y;
        status = kjit_copy(a, host, s[i % 2]);
        if (status == KJIT_OK)
            status = run_on(a, i == 10 ? "astray" : "add", s[i % 2]);
    }
    if (status == KJIT_OK)
        status = kjit_event_record(to, s[0]);
    kjit_status told = KJIT_LOST;
    if (status == KJIT_OK) {
        told = KJIT_OK;
        status = kjit_stream_callback(s[0], tell, &told);
        if (status != KJIT_OK)
            told = status;
    }
    if (status != KJIT_OK)
        assert_int_equal(status, KJIT_LOST);
    LOST(kjit_stream_synchronize(s[0]));
    assert_int_equal(told, KJIT_LOST);
    LOST(kjit_stream_callback(s[0], tell, &told));
    LOST(kjit_event_query(to, &done));
    LOST(kjit_event_synchronize(to));
    LOST(kjit_event_elapsed(from, to, &ms));
    if (!strstr(kjit_last_error(ctx), "kernel 'astray' (test.knl:2)"))
        fail_msg("%s", kjit_last_error(ctx));
    OK(kjit_stream_query(s[1], &done));
    assert_int_equal(done, 1);
    LOST(kjit_stream_synchronize(s[1]));
    LOST(run("add", s[1]));
    LOST(kjit_copy(host, x, s[0]));
    LOST(kjit_event_record(to, s[0]));
    LOST(kjit_stream_wait(s[1], from));
    check_lost();
    kjit_array_free(host);
    kjit_event_free(from);
    kjit_event_free(to);
    for (int i = 0; i < 2; i++)
        kjit_stream_free(s[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_now, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_in_a_stream, set_up, tear_down),
    };
    int failed = 0;
    if (!driver_load())
        return 0;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        failed += driver_run_alone(&tests[i]);
    return failed;
}
