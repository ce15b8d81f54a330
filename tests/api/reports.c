/* What kernels print and assert, from C: where lines go and when, failed asserts as faults after
 * which everything goes on, with and without streams. */
#include <pthread.h>
#include <stdatomic.h>

#include "api.h"

static const char source[] =
    "kernel tell(n: i32) { if grid(1) < 2 { print(\"line\", n, grid(1)) } }\n"
    "kernel check(x: i32[], most: i32) {\n"
    "    let i = grid(1)\n"
    "    assert(x[i] <= most, \"too large\")\n"
    "    x[i] += 1\n"
    "    if i == 0 { print(\"checked\", x[i]) }\n"
    "}\n"
    "kernel mark(x: i32[]) { x[0] = 5; assert(x[1] > 0) }\n"
    "kernel meet(x: i32[], bad: i32) {\n"
    "    let i = grid(1)\n"
    "    assert(i != bad)\n"
    "    grid_sync()\n"
    "    x[i] = x[gridsize(1) - 1 - i] * 0 + 1\n"
    "    grid_sync()\n"
    "}\n"
    "kernel sum(x: i32[], out: i32[]) {\n"
    "    let i = grid(1)\n"
    "    x[i] = 2\n"
    "    grid_sync()\n"
    "    if i < out.size { out[i] = x[x.size - 1 - i] }\n"
    "}\n"
    "run {\n"
    "    for i in range(20) { tell[1, 1](9) }\n"
    "    print(\"run\")\n"
    "}\n";

static kjit_module *mod;
static char text[4096];
static size_t size;

static void take(void *user, const char *line, size_t n)
{
    assert_ptr_equal(user, &size);
    assert_true(size + n < sizeof text);
    memcpy(text + size, line, n);
    text[size += n] = 0;
}

static int set_up(void **state)
{
    if (make_context(state) != 0)
        return 1;
    mod = module(source);
    kjit_set_print(ctx, take, &size);
    return 0;
}

static int tear_down(void **state)
{
    kjit_module_free(mod);
    return drop_context(state);
}

static void expect(const char *wanted)
{
    assert_string_equal(text, wanted);
    size = 0;
    text[0] = 0;
}

static kjit_status tell(int64_t n, kjit_stream *s)
{
    kjit_arg args[] = {kjit_arg_i64(n)};
    kjit_config config = {.grid = {2}, .block = {32}, .stream = s};
    return kjit_launch(mod, "tell", &config, args, 1);
}

static kjit_status check(kjit_array *a, int64_t most, kjit_stream *s)
{
    kjit_arg args[] = {kjit_arg_array(a), kjit_arg_i64(most)};
    kjit_config config = {.grid = {2}, .block = {32}, .stream = s};
    return kjit_launch(mod, "check", &config, args, 2);
}

static void test_lines(void **state)
{
    (void)state;
    OK(tell(1, NULL));
    expect("line 1 0\nline 1 1\n");
    kjit_set_print(ctx, NULL, NULL);
    OK(tell(2, NULL));
    kjit_set_print(ctx, take, &size);
    expect("");
}

static void test_stream(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_event *e;
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_event_create(ctx, 1, &e));
    OK(tell(1, s));
    OK(tell(2, s));
    expect(""); /* nobody has waited */
    OK(kjit_stream_synchronize(s));
    expect("line 1 0\nline 1 1\nline 2 0\nline 2 1\n");
    OK(tell(3, s));
    OK(kjit_synchronize(ctx));
    expect("line 3 0\nline 3 1\n");
    OK(tell(4, s));
    OK(tell(5, NULL));
    expect("line 4 0\nline 4 1\nline 5 0\nline 5 1\n");
    OK(tell(6, s));
    kjit_event_free(e);
    kjit_stream_free(s); /* does not wait */
    expect("");
    OK(kjit_synchronize(ctx));
    expect("line 6 0\nline 6 1\n");
}

/* Without a stream recording and waiting wait too. */
static void test_events_wait(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_event *e;
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_event_create(ctx, 0, &e));
    OK(tell(1, s));
    OK(kjit_event_record(e, s));
    expect("");
    OK(kjit_stream_wait(NULL, e));
    expect("line 1 0\nline 1 1\n");
    OK(tell(2, s));
    OK(kjit_event_record(e, NULL));
    expect("line 2 0\nline 2 1\n");
    kjit_event_free(e);
    kjit_stream_free(s);
}

/* So does a copy from or to another context. */
static void test_copies_wait(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_context *other;
    kjit_array *here, *there;
    OK(kjit_context_create(NULL, &other, NULL, 0));
    OK(kjit_array_create(ctx, KJIT_F32, 1, SHAPE(8), 'C', KJIT_DEVICE, &here));
    OK(kjit_array_create(other, KJIT_F32, 1, SHAPE(8), 'C', KJIT_DEVICE, &there));
    OK(kjit_stream_create(ctx, &s));
    OK(tell(1, s));
    OK(kjit_copy(there, here, NULL));
    expect("line 1 0\nline 1 1\n");
    OK(tell(2, s));
    OK(kjit_copy(here, there, NULL));
    expect("line 2 0\nline 2 1\n");
    kjit_stream_free(s);
    kjit_array_free(here);
    kjit_array_free(there);
    kjit_context_destroy(other);
}

static void test_assert(void **state)
{
    (void)state;
    int32_t x[64] = {0};
    kjit_array *a = wrap(x, KJIT_I32, 1, SHAPE(64));
    OK(check(a, 0, NULL));
    expect("checked 1\n");
    assert_int_equal(x[63], 1);
    x[40] = 9;
    FAILS(check(a, 5, NULL), KJIT_FAULT,
          "test.knl:4:12: error: assertion failed in block (1, 0, 0), thread (8, 0, 0): too large "
          "(x[i] is 9, most is 5)");
    size = 0;
    text[0] = 0;
    x[40] = 0;
    OK(check(a, 9, NULL)); /* the device works on */
    assert_int_equal(x[40], 1);
    kjit_array_free(a);
    size = 0;
    text[0] = 0;
}

/* What a kernel did until it failed was done, on every device and with every array. */
static void test_what_was_done(void **state)
{
    (void)state;
    int32_t x[2] = {0};
    kjit_array *a = wrap(x, KJIT_I32, 1, SHAPE(2));
    kjit_arg args[] = {kjit_arg_array(a)};
    kjit_config config = {.grid = {1}, .block = {1}};
    FAILS(kjit_launch(mod, "mark", &config, args, 1), KJIT_FAULT, "x[1] is 0");
    assert_int_equal(x[0], 5);
    kjit_array_free(a);
}

/* Reading an array of the device's, here to print it, waits: the lines of kernels come before. */
static void test_reading_waits(void **state)
{
    (void)state;
    char *shown;
    kjit_stream *s;
    int32_t one = 1;
    kjit_array *a = wrap(&one, KJIT_I32, 1, SHAPE(1)), *d;
    OK(kjit_to_device(a, NULL, &d));
    OK(kjit_stream_create(ctx, &s));
    OK(tell(7, s));
    OK(kjit_array_format(d, &shown));
    expect("line 7 0\nline 7 1\n");
    assert_string_equal(shown, "[1]");
    free(shown);
    kjit_stream_free(s);
    kjit_array_free(d);
    kjit_array_free(a);
}

static void test_assert_in_a_stream(void **state)
{
    (void)state;
    int32_t x[64] = {0};
    x[3] = 7;
    kjit_array *a = wrap(x, KJIT_I32, 1, SHAPE(64)), *d;
    kjit_stream *s, *other;
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_stream_create(ctx, &other));
    OK(kjit_to_device(a, NULL, &d));
    OK(check(d, 6, s));
    OK(tell(1, s));
    OK(tell(2, other));
    OK(kjit_stream_synchronize(other));
    FAILS(kjit_stream_synchronize(s), KJIT_FAULT, "thread (3, 0, 0): too large (x[i] is 7");
    OK(kjit_stream_synchronize(s)); /* it is told once */
    assert_non_null(strstr(text, "line 1 0\nline 1 1\n"));
    assert_non_null(strstr(text, "line 2 0\nline 2 1\n"));
    kjit_stream_free(s);
    kjit_stream_free(other);
    kjit_array_free(d);
    kjit_array_free(a);
}

/* A block that ends by an assert does not come to the barriers of the grid: the next launches, of
 * that kernel and of one without asserts, find theirs as if nothing had been. */
static void test_assert_before_grid_sync(void **state)
{
    (void)state;
    enum { BLOCKS = 6, THREADS = 32, N = BLOCKS * THREADS };
    int32_t x[N] = {0}, out[N];
    kjit_array *a = wrap(x, KJIT_I32, 1, SHAPE(N)), *b = wrap(out, KJIT_I32, 1, SHAPE(N));
    kjit_stream *s;
    OK(kjit_stream_create(ctx, &s));
    for (int round = 0; round < 2 * BLOCKS; round++) {
        kjit_stream *in = round % 2 ? s : NULL;
        kjit_config config = {.grid = {BLOCKS}, .block = {THREADS}, .stream = in};
        kjit_arg bad[] = {kjit_arg_array(a), kjit_arg_i64(round / 2 * THREADS)},
                 good[] = {kjit_arg_array(a), kjit_arg_i64(-1)},
                 both[] = {kjit_arg_array(a), kjit_arg_array(b)};
        kjit_status status = kjit_launch(mod, "meet", &config, bad, 2);
        FAILS(in ? kjit_stream_synchronize(in) : status, KJIT_FAULT, "assertion failed");
        memset(x, 0, sizeof x);
        memset(out, 0, sizeof out);
        if (round % 3 != 0) {
            OK(kjit_launch(mod, "meet", &config, good, 2));
            OK(kjit_synchronize(ctx));
            for (int i = 0; i < N; i++)
                assert_int_equal(x[i], 1);
        }
        OK(kjit_launch(mod, "sum", &config, both, 2));
        OK(kjit_synchronize(ctx));
        for (int i = 0; i < N; i++)
            assert_int_equal(out[i], 2);
    }
    kjit_stream_free(s);
    kjit_array_free(a);
    kjit_array_free(b);
}

static atomic_bool stop;
static atomic_int runs, others;

/* Of a run: what its own launches printed, and nothing else. */
static void take_of_run(void *user, const char *lines, size_t n)
{
    (void)user;
    for (size_t at = 0; at < n;) {
        const char *end = memchr(lines + at, '\n', n - at);
        assert_non_null(end);
        size_t len = (size_t)(end - lines) - at + 1;
        bool ours = strncmp(lines + at, "line 9 0\n", len) == 0;
        bool last = strncmp(lines + at, "run\n", len) == 0;
        atomic_fetch_add(&others, !ours && !last);
        at += len;
    }
    OK(kjit_synchronize(ctx)); /* it may use the context */
    kjit_set_print(ctx, take, &size);
}

static void *run_on(void *with_write)
{
    const kjit_run_options options = {.write = with_write ? take_of_run : NULL};
    while (!atomic_load(&stop)) {
        OK(kjit_run(mod, &options));
        atomic_fetch_add(&runs, 1);
    }
    return NULL;
}

/* Run blocks on another thread, while this one prints. */
static void among_runs(bool with_write)
{
    pthread_t thread;
    kjit_stream *stream;
    kjit_arg three = kjit_arg_i64(3);
    const kjit_config config = {.grid = {1}, .block = {1}};
    size_t lines = 0;
    atomic_store(&stop, false);
    atomic_store(&runs, 0);
    OK(kjit_stream_create(ctx, &stream));
    assert_int_equal(pthread_create(&thread, NULL, run_on, with_write ? &runs : NULL), 0);
    while (lines < 100 || atomic_load(&runs) < 10) {
        kjit_config in_stream = config;
        in_stream.stream = stream;
        OK(kjit_launch(mod, "tell", &in_stream, &three, 1));
        OK(kjit_stream_synchronize(stream));
        expect("line 3 0\n");
        lines++;
    }
    atomic_store(&stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    kjit_stream_free(stream);
    expect("");
    assert_int_equal(atomic_load(&others), 0);
}

static void test_among_runs(void **state)
{
    (void)state;
    among_runs(true);
    among_runs(false);
}

/* Indices outside of their arrays, without a stream and in one: the array is as it was there, and what comes
 * later works. */
static void test_bounds(void **state)
{
    (void)state;
    static const char fill[] =
        "kernel fill(x: i32[], n: i32) { let i = grid(1); if i < n { x[i] = n } }\n";
    kjit_compile_options options = {.check = KJIT_CHECK_BOUNDS, .verify = 1};
    kjit_module *m;
    kjit_stream *s;
    kjit_array *a;
    int32_t x[41] = {0};
    OK(kjit_module_compile(ctx, "fill.knl", fill, strlen(fill), &options, &m));
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_array_wrap(ctx, x, KJIT_I32, 1, (int64_t[]){40}, NULL, KJIT_HOST, &a));
    for (int turn = 0; turn < 2; turn++) {
        kjit_config config = {.grid = {2}, .block = {32}, .stream = turn ? s : NULL};
        kjit_arg args[] = {kjit_arg_array(a), kjit_arg_i64(41)};
        kjit_status status = kjit_launch(m, "fill", &config, args, 2);
        if (turn)
            status = kjit_stream_synchronize(s);
        assert_int_equal(status, KJIT_FAULT);
        assert_non_null(strstr(kjit_last_error(ctx),
                               "fill.knl:1:63: error: index 40 is outside of 'x', which "
                               "has 40 elements (block (1, 0, 0), thread (8, 0, 0))"));
        args[1] = kjit_arg_i64(40 - turn);
        OK(kjit_launch(m, "fill", &config, args, 2));
        OK(kjit_synchronize(ctx));
        assert_int_equal(x[38], 40 - turn);
        assert_true(x[39] == 40 ||
                    (turn && x[39] == 41)); /* of the thread beside the one that failed */
        assert_int_equal(x[40], 0);
    }
    kjit_array_free(a);
    kjit_stream_free(s);
    kjit_module_free(m);
    options.check = 1u << 31; /* no bit of them */
    assert_int_equal(kjit_module_compile(ctx, "fill.knl", fill, strlen(fill), &options, &m),
                     KJIT_INVALID);
}

/* Races and elements that were not written are told like indices outside; the context works on, and other modules' launches
 * are not checked. */
static void test_checks(void **state)
{
    (void)state;
    static const char shift[] = "kernel shift(x: i32[], n: i32) {\n"
                                "    let s = shared.array(64, i32)\n"
                                "    let t = threadIdx.x\n"
                                "    if i32(t) < n { s[t] = x[t] }\n"
                                "    if n < 64 { syncthreads() }\n"
                                "    x[t] = s[t ^ 1]\n"
                                "}\n";
    kjit_compile_options options = {.check = KJIT_CHECK_RACE | KJIT_CHECK_INIT, .verify = 1};
    kjit_module *m, *plain;
    kjit_stream *s;
    kjit_array *a;
    int32_t x[64] = {0};
    if (!on_cpu()) { /* a GPU refuses to */
        FAILS(kjit_module_compile(ctx, "shift.knl", shift, strlen(shift), &options, &m),
              KJIT_INVALID, "cannot check for 'race'");
        return;
    }
    OK(kjit_module_compile(ctx, "shift.knl", shift, strlen(shift), &options, &m));
    OK(kjit_module_compile(ctx, "shift.knl", shift, strlen(shift), NULL, &plain));
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_array_wrap(ctx, x, KJIT_I32, 1, (int64_t[]){64}, NULL, KJIT_HOST, &a));
    for (int turn = 0; turn < 4; turn++) {
        kjit_config config = {.grid = {1}, .block = {64}, .stream = turn % 2 ? s : NULL};
        kjit_arg args[] = {kjit_arg_array(a), kjit_arg_i64(turn < 2 ? 64 : 63)};
        kjit_status status = kjit_launch(m, "shift", &config, args, 2);
        if (turn % 2)
            status = kjit_stream_synchronize(s);
        assert_int_equal(status, KJIT_FAULT);
        const char *told =
            turn < 2 ? "shift.knl:6:12: error: an element of 's' is read by thread (0, 0, 0) and "
                       "written by "
                       "thread (1, 0, 0) of block (0, 0, 0)"
                     : "shift.knl:6:12: error: an element of 's' is read by thread (62, 0, 0)";
        assert_non_null(strstr(kjit_last_error(ctx), told));
        OK(kjit_launch(plain, "shift", &config, args, 2));
        OK(kjit_synchronize(ctx));
    }
    kjit_array_free(a);
    kjit_stream_free(s);
    kjit_module_free(m);
    kjit_module_free(plain);
}

/* A call that has waited for work returns behind the lines of that work, whoever hands them over. */
static atomic_int handing;

static void take_slowly(void *user, const char *lines, size_t n)
{
    atomic_store(&handing, 1);
    usleep(100000);
    take(user, lines, n);
    atomic_store(&handing, 2);
}

static void *synchronize(void *unused)
{
    (void)unused;
    OK(kjit_synchronize(ctx));
    return NULL;
}

static void test_handed_over_elsewhere(void **state)
{
    (void)state;
    pthread_t thread;
    kjit_stream *s;
    atomic_store(&handing, 0);
    OK(kjit_stream_create(ctx, &s));
    kjit_set_print(ctx, take_slowly, &size);
    OK(tell(1, s));
    assert_int_equal(pthread_create(&thread, NULL, synchronize, NULL), 0);
    while (atomic_load(&handing) == 0)
        usleep(100);
    OK(kjit_stream_synchronize(s));
    assert_int_equal(atomic_load(&handing), 2);
    expect("line 1 0\nline 1 1\n");
    assert_int_equal(pthread_join(thread, NULL), 0);
    kjit_set_print(ctx, take, &size);
    kjit_stream_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_assert_before_grid_sync),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_events_wait),
        cmocka_unit_test(test_copies_wait),
        cmocka_unit_test(test_assert),
        cmocka_unit_test(test_what_was_done),
        cmocka_unit_test(test_reading_waits),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_handed_over_elsewhere),
        cmocka_unit_test(test_among_runs),
        cmocka_unit_test(test_assert_in_a_stream),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
