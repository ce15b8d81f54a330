/* Streams and events: order within a stream, waiting between streams, lifetimes of what is queued,
 * times. */
#include "api.h"

#include <pthread.h>
#include <stdatomic.h>

static const char source[] =
    "kernel add(x: i32[], n: i32) { let i = grid(1); if i < x.size { x[i] += n } }\n"
    "kernel scale(x: i32[], n: i32) { let i = grid(1); if i < x.size { x[i] *= n } }\n"
    "kernel slow(x: i32[], n: i64) {\n"
    "    var s: i32 = x[0]\n"
    "    for k in range(n) { s = s * 1664525 + 1013904223 }\n"
    "    if s != 12345 { x[0] += 1 }\n"
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

static void launch(const char *kernel, kjit_stream *s, kjit_array *a, int64_t n)
{
    kjit_arg args[] = {kjit_arg_array(a), kjit_arg_i64(n)};
    bool one = strcmp(kernel, "slow") == 0;
    kjit_config config = {.grid = {one ? 1 : (kjit_array_size(a) + 255) / 256},
                          .block = {one ? 1 : 256},
                          .stream = s};
    OK(kjit_launch(mod, kernel, &config, args, 2));
}

static kjit_array *zeros(int64_t n, kjit_memory memory)
{
    kjit_array *a, *device;
    OK(kjit_array_create(ctx, KJIT_I32, 1, &n, 'C', KJIT_HOST, &a));
    memset(kjit_array_data(a), 0, (size_t)n * 4);
    if (memory == KJIT_HOST)
        return a;
    OK(kjit_to_device(a, NULL, &device));
    kjit_array_free(a);
    return device;
}

static void test_order(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_array *host = zeros(100000, KJIT_HOST), *device;
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_to_device(host, s, &device));
    for (int i = 0; i < 50; i++) {
        launch("add", s, device, 1);
        launch("scale", s, device, 2);
    }
    OK(kjit_copy(host, device, s));
    int done;
    OK(kjit_stream_query(s, &done));
    assert_true(done == 0 || done == 1);
    OK(kjit_stream_synchronize(s));
    OK(kjit_stream_query(s, &done));
    assert_int_equal(done, 1);
    uint32_t expected = 0;
    for (int i = 0; i < 50; i++)
        expected = (expected + 1) * 2;
    for (int i = 0; i < 100000; i++)
        assert_int_equal(((uint32_t *)kjit_array_data(host))[i], expected);
    kjit_stream_free(s);
    kjit_array_free(host);
    kjit_array_free(device);
}

/* Handles may go while the work that uses them is queued. */
static void test_lifetimes(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_array *a = zeros(1000, KJIT_DEVICE), *host = zeros(1000, KJIT_HOST), *v;
    kjit_module *own = module(source);
    OK(kjit_stream_create(ctx, &s));
    launch("slow", s, a, 20000000);
    kjit_arg args[] = {kjit_arg_array(a), kjit_arg_i64(7)};
    OK(kjit_launch(own, "add", &(kjit_config){.grid = {4}, .block = {256}, .stream = s}, args, 2));
    OK(kjit_array_slice(a, NULL, NULL, NULL, &v));
    OK(kjit_copy(host, v, s));
    kjit_array_free(v);
    kjit_array_free(a);
    kjit_module_free(own);
    OK(kjit_stream_synchronize(s));
    assert_int_equal(((int32_t *)kjit_array_data(host))[999], 7);
    /* freeing a stream does not wait, and its work is done all the same */
    a = zeros(1, KJIT_HOST);
    launch("slow", s, a, 20000000);
    kjit_stream_free(s);
    OK(kjit_synchronize(ctx));
    assert_int_equal(*(int32_t *)kjit_array_data(a), 1);
    kjit_array_free(a);
    kjit_array_free(host);
}

/* Work without a stream comes after all that was queued before it. */
static void test_default_stream(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_array *a = zeros(1, KJIT_HOST);
    char *text;
    OK(kjit_stream_create(ctx, &s));
    launch("slow", s, a, 20000000);
    launch("scale", NULL, a, 5);
    assert_int_equal(*(int32_t *)kjit_array_data(a), 5);
    launch("slow", s, a, 20000000);
    OK(kjit_array_format(a, &text));
    assert_string_equal(text, "[6]");
    free(text);
    kjit_stream_free(s);
    kjit_array_free(a);
}

static void test_events(void **state)
{
    (void)state;
    kjit_stream *s, *t;
    kjit_event *begin, *end;
    kjit_array *a = zeros(1, KJIT_HOST);
    double ms;
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_stream_create(ctx, &t));
    OK(kjit_event_create(ctx, 1, &begin));
    OK(kjit_event_create(ctx, 1, &end));
    FAILS(kjit_event_elapsed(begin, end, &ms), KJIT_INVALID, "not recorded");
    OK(kjit_event_synchronize(begin)); /* nothing to wait for */
    OK(kjit_stream_wait(t, begin));
    OK(kjit_event_record(begin, s));
    launch("slow", s, a, 20000000);
    OK(kjit_event_record(end, s));
    OK(kjit_stream_wait(t, end));
    launch("scale", t, a, 10);
    OK(kjit_event_synchronize(end));
    OK(kjit_event_elapsed(begin, end, &ms));
    assert_true(ms > 0 && ms < 60000);
    OK(kjit_stream_synchronize(t));
    assert_int_equal(*(int32_t *)kjit_array_data(a), 10);
    /* recorded again, and freed while it is awaited */
    launch("slow", s, a, 20000000);
    OK(kjit_event_record(end, s));
    OK(kjit_stream_wait(t, end));
    kjit_event_free(end);
    launch("scale", t, a, 2);
    OK(kjit_synchronize(ctx));
    assert_int_equal(*(int32_t *)kjit_array_data(a), 22);
    OK(kjit_event_record(begin, NULL));
    OK(kjit_stream_wait(NULL, begin));
    kjit_event_free(begin);
    kjit_event_free(NULL);
    kjit_stream_free(NULL);
    kjit_stream_free(s);
    kjit_stream_free(t);
    kjit_array_free(a);
}

static void test_many_streams(void **state)
{
    (void)state;
    enum { STREAMS = 24, N = 5000 };
    kjit_stream *s[STREAMS];
    kjit_array *a[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        OK(kjit_stream_create(ctx, &s[i]));
        a[i] = zeros(N, KJIT_DEVICE);
    }
    for (int k = 0; k < 20; k++) {
        for (int i = 0; i < STREAMS; i++) {
            launch("add", s[i], a[i], i);
            launch("scale", s[i], a[i], 2);
        }
    }
    OK(kjit_synchronize(ctx));
    for (int i = 0; i < STREAMS; i++) {
        uint32_t expected = 0;
        for (int k = 0; k < 20; k++)
            expected = (expected + (uint32_t)i) * 2;
        kjit_array *host;
        OK(kjit_to_host(a[i], NULL, &host));
        assert_int_equal(((uint32_t *)kjit_array_data(host))[N - 1], expected);
        kjit_array_free(host);
        kjit_stream_free(s[i]);
        kjit_array_free(a[i]);
    }
}

static void wait_at(kjit_stream *s, kjit_status status, void *gate)
{
    (void)s, (void)status;
    while (!atomic_load((atomic_bool *)gate))
        usleep(100);
}

/* As wait_at, and says when it has been called. Functions of different streams may come one after the
 * other: of two doors the one that opens first must have been entered first. */
typedef struct door {
    atomic_bool entered, open;
} door;

static void enter_at(kjit_stream *s, kjit_status status, void *user)
{
    door *d = user;
    atomic_store(&d->entered, true);
    wait_at(s, status, &d->open);
}

/* A queued launch is all that still has its arrays' memory: nobody else gets it until it has run. */
static void test_freed_while_queued(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    for (int memory = KJIT_HOST; memory <= KJIT_DEVICE; memory++) {
        kjit_stream *s;
        kjit_array *a = zeros(N, (kjit_memory)memory), *others[12];
        atomic_bool open = false;
        OK(kjit_stream_create(ctx, &s));
        OK(kjit_stream_callback(s, wait_at, &open));
        launch("add", s, a, 7);
        kjit_array_free(a);
        for (int i = 0; i < 12; i++) {
            others[i] = zeros(N, KJIT_HOST);
            if (i % 2) /* and what is freed is given back in between */
                continue;
            kjit_array_free(others[i]);
            others[i] = zeros(N, KJIT_HOST);
        }
        atomic_store(&open, true);
        OK(kjit_stream_synchronize(s));
        for (int i = 0; i < 12; i++) {
            const int32_t *data = kjit_array_data(others[i]);
            for (int k = 0; k < N; k += 64)
                assert_int_equal(data[k], 0);
            kjit_array_free(others[i]);
        }
        kjit_stream_free(s);
    }
}

static void *open_soon(void *gate)
{
    usleep(20000);
    atomic_store((atomic_bool *)gate, true);
    return NULL;
}

/* A launch, and a copy, without a stream come after all that is queued, though it be slow. */
static void test_after_what_is_queued(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_array *a = zeros(300, KJIT_DEVICE), *b = zeros(300, KJIT_DEVICE), *back;
    atomic_bool open = false;
    pthread_t thread;
    OK(kjit_stream_create(ctx, &s));
    for (int copies = 0; copies < 2; copies++) {
        atomic_store(&open, false);
        OK(kjit_stream_callback(s, wait_at, &open));
        launch("add", s, a, 1);
        assert_int_equal(pthread_create(&thread, NULL, open_soon, &open), 0);
        if (copies)
            OK(kjit_copy(b, a, NULL));
        else
            launch("scale", NULL, a, 5);
        pthread_join(thread, NULL);
    }
    OK(kjit_synchronize(ctx));
    OK(kjit_to_host(b, NULL, &back));
    for (int i = 0; i < 300; i++)
        assert_int_equal(((int32_t *)kjit_array_data(back))[i], 6);
    kjit_array_free(back);
    kjit_array_free(a);
    kjit_array_free(b);
    kjit_stream_free(s);
}

/* Who waits for an event waits for the record that was the last then, whatever comes later. */
static void test_recorded_again(void **state)
{
    (void)state;
    kjit_stream *late, *early, *waits;
    kjit_event *e;
    atomic_bool open = false;
    int done;
    OK(kjit_event_create(ctx, 0, &e));
    OK(kjit_stream_create(ctx, &late));
    OK(kjit_stream_create(ctx, &early));
    OK(kjit_stream_create(ctx, &waits));
    OK(kjit_stream_callback(late, wait_at, &open));
    OK(kjit_event_record(e, late));
    OK(kjit_stream_wait(waits, e));
    OK(kjit_event_record(e, early));
    OK(kjit_event_synchronize(e));
    OK(kjit_event_query(e, &done));
    assert_true(done);
    usleep(20000);
    OK(kjit_stream_query(waits, &done));
    atomic_store(&open, true);
    assert_false(done);
    OK(kjit_stream_synchronize(waits));
    door first = {.open = false}; /* nor is the last record reached with the first */
    OK(kjit_stream_callback(early, enter_at, &first));
    OK(kjit_event_record(e, early));
    while (!atomic_load(&first.entered))
        usleep(100);
    atomic_store(&open, false);
    OK(kjit_stream_callback(late, wait_at, &open));
    OK(kjit_event_record(e, late));
    atomic_store(&first.open, true);
    OK(kjit_stream_synchronize(early));
    OK(kjit_event_query(e, &done));
    atomic_store(&open, true);
    assert_false(done);
    OK(kjit_event_synchronize(e));
    OK(kjit_event_query(e, &done));
    assert_true(done);
    kjit_stream_free(late);
    kjit_stream_free(early);
    kjit_stream_free(waits);
    kjit_event_free(e);
}

/* Of the failures of several streams the first that happened is told first, whichever was made when. */
static void test_first_failure(void **state)
{
    (void)state;
    static const char fails[] = "kernel a(x: i32[]) { assert(x[0] < 0, \"first\") }\n"
                                "kernel b(x: i32[]) { assert(x[0] < 0, \"second\") }\n";
    kjit_module *failing = module(fails);
    int32_t zero[1] = {0};
    kjit_array *host = wrap(zero, KJIT_I32, 1, SHAPE(1)), *x;
    OK(kjit_to_device(host, NULL, &x));
    for (int order = 0; order < 2; order++) {
        kjit_stream *s[2];
        kjit_event *e;
        kjit_arg args[] = {kjit_arg_array(x)};
        OK(kjit_stream_create(ctx, &s[order]));
        OK(kjit_stream_create(ctx, &s[1 - order]));
        OK(kjit_event_create(ctx, 0, &e));
        OK(kjit_launch_forall(failing, "a", 1, s[0], args, 1));
        OK(kjit_event_record(e, s[0]));
        OK(kjit_event_synchronize(e));
        OK(kjit_launch_forall(failing, "b", 1, s[1], args, 1));
        FAILS(kjit_synchronize(ctx), KJIT_FAULT, "first");
        FAILS(kjit_synchronize(ctx), KJIT_FAULT, "second");
        OK(kjit_synchronize(ctx));
        kjit_event_free(e);
        kjit_stream_free(s[0]);
        kjit_stream_free(s[1]);
    }
    kjit_array_free(x);
    kjit_array_free(host);
    kjit_module_free(failing);
}

/* Who waits by an event asks the stream for its failure, which is told once; what comes later is not waited for. */
static void test_failure_of_a_stream(void **state)
{
    (void)state;
    kjit_module *bad = module("kernel bad(x: i32[], n: i32) { assert(x[0] > n, \"of it\") }");
    kjit_array *a = zeros(1, KJIT_HOST);
    kjit_stream *s;
    kjit_event *e;
    atomic_bool open = false;
    kjit_arg args[] = {kjit_arg_array(a), kjit_arg_i64(5)};
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_event_create(ctx, 0, &e));
    OK(kjit_stream_failure(s));
    OK(kjit_launch(bad, "bad", &(kjit_config){.grid = {1}, .block = {1}, .stream = s}, args, 2));
    OK(kjit_event_record(e, s));
    OK(kjit_stream_callback(s, wait_at, &open));
    OK(kjit_event_synchronize(e));
    kjit_status status = kjit_stream_failure(s);
    atomic_store(&open, true);
    assert_int_equal(status, KJIT_FAULT);
    assert_non_null(strstr(kjit_last_error(ctx), "of it"));
    OK(kjit_stream_failure(s));
    OK(kjit_stream_synchronize(s));
    kjit_event_free(e);
    kjit_stream_free(s);
    kjit_array_free(a);
    kjit_module_free(bad);
}

/* Streams' failures outlive them, until someone is told of each, in their order, and in full. */
static void test_failures_of_freed_streams(void **state)
{
    (void)state;
    enum { N = 3 };
    kjit_module *bad = module("kernel bad(x: i32[], n: i32) { assert(x[0] > n, \"told whole\") }");
    kjit_array *a = zeros(1, KJIT_HOST);
    for (int ended = 0; ended < 2; ended++) { /* given back meanwhile, or not */
        char wanted[8];
        for (int i = 0; i < N; i++) {
            kjit_stream *s;
            kjit_arg args[] = {kjit_arg_array(a), kjit_arg_i64(40 + i)};
            OK(kjit_stream_create(ctx, &s));
            OK(kjit_launch(bad, "bad", &(kjit_config){.grid = {1}, .block = {1}, .stream = s}, args,
                           2));
            for (int done = 0; !done; usleep(100))
                OK(kjit_stream_query(s, &done));
            kjit_stream_free(s);
        }
        if (ended)
            OK(kjit_deallocate_pending(ctx));
        for (int i = 0; i < N; i++) {
            assert_int_equal(kjit_synchronize(ctx), KJIT_FAULT);
            snprintf(wanted, sizeof wanted, "n is %d", 40 + i);
            assert_non_null(strstr(kjit_last_error(ctx), wanted));
        }
        OK(kjit_synchronize(ctx));
    }
    kjit_array_free(a);
    kjit_module_free(bad);
}

static void test_refused(void **state)
{
    (void)state;
    kjit_stream *s;
    assert_int_equal(kjit_stream_create(NULL, &s), KJIT_INVALID);
    assert_int_equal(kjit_stream_create(ctx, NULL), KJIT_INVALID);
    assert_int_equal(kjit_stream_synchronize(NULL), KJIT_INVALID);
    assert_int_equal(kjit_event_create(ctx, 1, NULL), KJIT_INVALID);
    assert_int_equal(kjit_event_record(NULL, NULL), KJIT_INVALID);
    assert_int_equal(kjit_event_elapsed(NULL, NULL, NULL), KJIT_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_lifetimes),
        cmocka_unit_test(test_default_stream),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_many_streams),
        cmocka_unit_test(test_recorded_again),
        cmocka_unit_test(test_first_failure),
        cmocka_unit_test(test_failure_of_a_stream),
        cmocka_unit_test(test_failures_of_freed_streams),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_after_what_is_queued),
        cmocka_unit_test(test_freed_while_queued),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
