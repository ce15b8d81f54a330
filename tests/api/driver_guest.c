/* kjit as a guest in a process that uses the CUDA driver too, and forks: its calls leave the current
 * context as it was. Without a driver there is nothing to see. */
#include "api.h"

#include "driver.h"

static void *host_context;

static int call(const char *name, void *first, size_t second, size_t third)
{
    int (*function)(void *, size_t, size_t);
    *(void **)&function = driver_symbol(name);
    return function(first, second, third);
}

/* False where the driver has no device, which is printed. */
static bool start_driver(int *device)
{
    int result = call("cuInit", NULL, 0, 0);
    if (!result)
        result = call("cuDeviceGet", device, 0, 0);
    if (result)
        print_message("skipped: the CUDA driver has no device: error %d\n", result);
    return !result;
}

static void check_current(void)
{
    void *current = NULL;
    assert_int_equal(call("cuCtxGetCurrent", &current, 0, 0), 0);
    assert_ptr_equal(current, host_context);
}

static void use_device(void)
{
    kjit_stream *s;
    kjit_event *e;
    kjit_array *a, *b, *nowhere;
    double ms;
    kjit_module *mod = module("kernel f(x: i32[]) { let i = grid(1); if i < x.size { x[i] += 1 } }"
                              "kernel g(x: i32[]) { x[0] = 1 }");
    OK(kjit_stream_create(ctx, &s));
    check_current();
    OK(kjit_event_create(ctx, 1, &e));
    check_current();
    OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(1000), 'C', KJIT_DEVICE, &a));
    check_current();
    OK(kjit_launch_forall(mod, "f", 1000, s, (kjit_arg[]){kjit_arg_array(a)}, 1));
    check_current();
    OK(kjit_event_record(e, s));
    OK(kjit_to_host(a, s, &b));
    check_current();
    OK(kjit_event_synchronize(e));
    OK(kjit_event_elapsed(e, e, &ms));
    check_current();
    OK(kjit_launch_forall(mod, "f", 1000, NULL, (kjit_arg[]){kjit_arg_array(b)}, 1));
    check_current();
    kjit_array_free(b);
    FAILS(kjit_array_create(ctx, KJIT_U8, 1, SHAPE((int64_t)1 << 45), 'C', KJIT_DEVICE, &b),
          KJIT_NO_MEMORY, "memory");
    check_current();
    kjit_stream_free(s);
    kjit_event_free(e);
    check_current();
    OK(kjit_array_wrap(ctx, driver_nowhere(), KJIT_I32, 1, SHAPE(4), NULL, KJIT_DEVICE, &nowhere));
    FAILS(kjit_launch_forall(mod, "g", 1, NULL, (kjit_arg[]){kjit_arg_array(nowhere)}, 1),
          KJIT_LOST, "kernel 'g'");
    check_current();
    driver_give_back(kjit_array_data(nowhere));
    kjit_array_free(nowhere);
    kjit_array_free(a);
    kjit_module_free(mod);
    check_current();
}

/* What kjit's context lost may be lost to all of the process: what the host's context gives from then
 * on is the driver's affair, but it is the current one still. */
static void test_current_context(void **state)
{
    int device;
    if (!start_driver(&device))
        skip();
    assert_int_equal(call("cuCtxCreate_v2", &host_context, 0, (size_t)device), 0);
    assert_int_equal(make_context(state), 0);
    check_current();
    use_device();
    drop_context(state);
    check_current();
    call("cuCtxDestroy_v2", host_context, 0, 0);
}

static void test_fork(void **state)
{
    kjit_context *own;
    char error[500];
    int status, device;
    if (!start_driver(&device))
        skip();
    assert_int_equal(make_context(state), 0);
    pid_t child = fork();
    if (child == 0) {
        kjit_context_options options = {.device = "cuda"};
        kjit_status found = kjit_context_create(&options, &own, error, sizeof error);
        bool told = found == KJIT_NO_DEVICE && strstr(error, "forked");
        options.device = "auto";
        found = kjit_context_create(&options, &own, error, sizeof error);
        kjit_context_destroy(own);
        _exit(told && found == KJIT_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    drop_context(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_current_context),
        cmocka_unit_test(test_fork),
    };
    int failed = 0;
    if (!driver_load())
        return 0;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        failed += driver_run_alone(&tests[i]);
    return failed;
}
