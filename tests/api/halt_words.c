/* The words by which a GPU's launches are ended, where the driver gives no memory for them at once: it waits for
 * kernels that run, or fails. Each case is a process of its own, for the double that simulates it. */
#include "api.h"

#include <sys/wait.h>

enum { QUEUED = 1100 /* more than a slab's words */, MOST_SECONDS = 60, ALLOCATIONS = 6 };

static const char source[] =
    "kernel add(x: i32[]) { let i = grid(1); if i < x.size { x[i] += 1 } }\n"
    "kernel spin(x: i32[]) { while x[0] < 1000 { x[1] = 1 } }\n";

static kjit_module *mod;
static kjit_array *x;

static int set_up(void **state)
{
    char error[256];
    kjit_context_options options = {.cancellable = 1};
    (void)state;
    if (kjit_context_create(&options, &ctx, error, sizeof error) != KJIT_OK)
        return 1;
    mod = module(source);
    kjit_status status = kjit_array_create(ctx, KJIT_I32, 1, SHAPE(64), 'C', KJIT_MAPPED, &x);
    if (status == KJIT_OK)
        memset(kjit_array_data(x), 0, 64 * sizeof(int32_t));
    return status != KJIT_OK && status != KJIT_LOST;
}

static int tear_down(void **state)
{
    kjit_array_free(x);
    kjit_module_free(mod);
    return drop_context(state);
}

static kjit_status start(const char *kernel, kjit_stream *s)
{
    kjit_arg args[] = {kjit_arg_array(x)};
    kjit_config config = {.grid = {1}, .block = {64}, .stream = s};
    return kjit_launch(mod, kernel, &config, args, 1);
}

/* The clock ends what the driver waits for. */
static void test_waits(void **state)
{
    kjit_stream *s;
    (void)state;
    OK(kjit_stream_create(ctx, &s));
    OK(start("add", s));
    OK(kjit_stream_synchronize(s));
    OK(kjit_set_deadline(ctx, 500));
    OK(start("spin", s));
    for (int i = 0; i < QUEUED; i++)
        OK(start("add", s));
    FAILS(kjit_stream_synchronize(s), KJIT_TIMEOUT, "kernel 'spin' ran out of time in this loop");
    OK(kjit_set_deadline(ctx, 0));
    assert_int_equal(((int32_t *)kjit_array_data(x))[7], 1);
    OK(start("add", s));
    OK(kjit_stream_synchronize(s));
    assert_int_equal(((int32_t *)kjit_array_data(x))[7], 2);
    kjit_stream_free(s);
}

/* The device is lost in one of the allocations; whichever it is, the launch says that. */
static void test_fails(void **state)
{
    (void)state;
    for (int i = 0; i < 3 && x; i++) {
        kjit_status status = start("add", NULL);
        bool lost = strstr(kjit_last_error(ctx), "the device was lost");
        assert_true(status == KJIT_LOST ? lost : status == KJIT_OK && !lost);
    }
}

/* In a process of its own, whose double has this setting. */
static int run(const struct CMUnitTest *test, const char *name, const char *value)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        if (name)
            setenv(name, value, 1);
        alarm(MOST_SECONDS);
        exit(_cmocka_run_group_tests(test->name, test, 1, NULL, NULL));
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "%s, with %s=%s: %#x\n", test->name, name, value, (unsigned)status);
        return 1;
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest waits = cmocka_unit_test_setup_teardown(test_waits, set_up, tear_down),
                            fails = cmocka_unit_test_setup_teardown(test_fails, set_up, tear_down);
    int wrong = run(&waits, "KJIT_DOUBLE_WAITS", "1");
    for (int i = 1; i <= ALLOCATIONS; i++) {
        char failing[64];
        snprintf(failing, sizeof failing, "cuMemHostAlloc:%d:700", i);
        wrong += run(&fails, "KJIT_DOUBLE_FAIL", failing);
    }
    return wrong != 0;
}
