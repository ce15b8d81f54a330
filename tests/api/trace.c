/* Traces: what is shown of compilations, launches, copies and callbacks, when it ran, and that
 * nothing waits for it. */
#include "api.h"

#include <pthread.h>

static const char source[] =
    "kernel add(x: i32[], n: i32) { let i = grid(1); if i < x.size { x[i] += n } }\n"
    "kernel slow(x: i32[], n: i64) {\n"
    "    var s: i32 = x[0]\n"
    "    for k in range(n) { s = s * 1664525 + 1013904223 }\n"
    "    if s != 12345 { x[0] += 1 }\n"
    "}\n"
    "kernel check(x: i32[], n: i32) { let i = grid(1); assert(i >= n or x[i] == n) }\n";

enum { MOST = 64, SHORT = 20000 };

static kjit_module *mod;

/* What was shown, by the time the events began. */
static struct {
    int n;
    kjit_trace_event events[MOST];
    char names[MOST][32];
} shown;

static void take(void *user, const kjit_trace_event *event)
{
    int i = shown.n++;
    assert_ptr_equal(user, &shown);
    assert_true(i < MOST);
    while (i > 0 && shown.events[i - 1].start_us > event->start_us) {
        shown.events[i] = shown.events[i - 1];
        memcpy(shown.names[i], shown.names[i - 1], sizeof shown.names[i]);
        i--;
    }
    shown.events[i] = *event;
    snprintf(shown.names[i], sizeof shown.names[i], "%s", event->name);
}

static int set_up(void **state)
{
    if (make_context(state) != 0)
        return 1;
    mod = module(source);
    kjit_set_trace(ctx, take, &shown);
    return 0;
}

static int tear_down(void **state)
{
    kjit_module_free(mod);
    return drop_context(state);
}

static kjit_status launch(const char *kernel, kjit_stream *s, kjit_array *a, int64_t n)
{
    kjit_arg args[] = {kjit_arg_array(a), kjit_arg_i64(n)};
    bool one = strcmp(kernel, "slow") == 0;
    kjit_config config = {.grid = {one ? 1 : 2}, .block = {one ? 1 : 64}, .stream = s};
    return kjit_launch(mod, kernel, &config, args, 2);
}

/* 100 numbers on the device. */
static kjit_array *numbers(void)
{
    static int32_t data[100];
    kjit_array *host = wrap(data, KJIT_I32, 1, SHAPE(100)), *device;
    OK(kjit_to_device(host, NULL, &device));
    kjit_array_free(host);
    return device;
}

/* Event i is this one; the next begins when it has ended, where they are of one stream. */
static const kjit_trace_event *expect(int i, kjit_trace_kind kind, const char *name, int stream)
{
    assert_true(i < shown.n);
    const kjit_trace_event *e = &shown.events[i];
    assert_int_equal(e->kind, kind);
    assert_string_equal(shown.names[i], name);
    assert_int_equal(e->stream, stream);
    assert_true(e->start_us > 0 && e->duration_us >= 0 && e->duration_us < 60e6);
    for (int k = i + 1; k < shown.n; k++) {
        if (shown.events[k].stream == stream)
            assert_true(e->start_us + e->duration_us <= shown.events[k].start_us + 2);
    }
    return e;
}

static void test_without_a_stream(void **state)
{
    (void)state;
    shown.n = 0;
    kjit_array *a = numbers(), *host;
    OK(launch("add", NULL, a, 1));
    OK(launch("add", NULL, a, 2));
    OK(kjit_to_host(a, NULL, &host));
    assert_int_equal(shown.n, 5);
    const kjit_trace_event *e = expect(0, KJIT_TRACE_COPY, "host to device", 0);
    assert_int_equal(e->bytes, 400);
    assert_int_equal(e->from, KJIT_HOST);
    assert_int_equal(e->to, KJIT_DEVICE);
    assert_true(shown.events[1].kind == KJIT_TRACE_COMPILE ||
                shown.events[1].kind == KJIT_TRACE_LOAD);
    expect(1, shown.events[1].kind, "add", 0);
    e = expect(2, KJIT_TRACE_LAUNCH, "add", 0);
    assert_int_equal(e->grid[0], 2);
    assert_int_equal(e->grid[1], 1);
    assert_int_equal(e->block[0], 64);
    assert_int_equal(e->bytes, 800); /* read and written */
    expect(3, KJIT_TRACE_LAUNCH, "add", 0);
    expect(4, KJIT_TRACE_COPY, "device to host", 0);
    kjit_array_free(a);
    kjit_array_free(host);
}

static void tell(kjit_stream *s, kjit_status status, void *user)
{
    (void)s;
    (void)status;
    (void)user;
}

static void test_in_a_stream(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_array *a = numbers(), *b = numbers();
    OK(kjit_stream_create(ctx, &s));
    OK(launch("slow", NULL, a, 1));
    FAILS(launch("check", NULL, a, 77), KJIT_FAULT, "assert");
    shown.n = 0;
    int number = kjit_stream_number(s);
    assert_true(number > 0);
    OK(launch("slow", s, a, SHORT));
    OK(kjit_copy(b, a, s));
    OK(kjit_stream_callback(s, tell, NULL));
    OK(launch("check", s, a, 77)); /* one that fails has run too */
    OK(launch("slow", s, a, SHORT));
    FAILS(kjit_stream_synchronize(s), KJIT_FAULT, "assert");
    int first = 0; /* on a device with memory of its own, reports go there and back */
    for (int i = 0; i < shown.n; i++) {
        if (shown.events[i].kind != KJIT_TRACE_COPY || shown.events[i].bytes == 400) {
            shown.events[first] = shown.events[i];
            memmove(shown.names[first++], shown.names[i], sizeof shown.names[i]);
        }
    }
    shown.n = first;
    expect(0, KJIT_TRACE_LAUNCH, "slow", number);
    expect(1, KJIT_TRACE_COPY, "device to device", number);
    expect(2, KJIT_TRACE_CALLBACK, "callback", number);
    expect(3, KJIT_TRACE_LAUNCH, "check", number);
    expect(4, KJIT_TRACE_LAUNCH, "slow", number);
    assert_int_equal(shown.n, 5);
    assert_true(shown.events[0].duration_us > 0);
    kjit_stream_free(s);
    kjit_array_free(a);
    kjit_array_free(b);
}

/* A launch of `check` that fails, at its first thread; what it compiled and loaded. */
static void fail_once(kjit_stream *s, int *compiled, int *loaded)
{
    kjit_array *a = numbers();
    shown.n = *compiled = *loaded = 0;
    if (s) {
        OK(launch("check", s, a, 3));
        FAILS(kjit_stream_synchronize(s), KJIT_FAULT, "thread (0, 0, 0)");
    } else {
        FAILS(launch("check", NULL, a, 3), KJIT_FAULT, "thread (0, 0, 0)");
    }
    for (int i = 0; i < shown.n; i++) {
        bool made = shown.events[i].kind == KJIT_TRACE_COMPILE;
        *compiled += made;
        *loaded += shown.events[i].kind == KJIT_TRACE_LOAD;
        if (made)
            assert_string_equal(shown.names[i], "check");
    }
    kjit_array_free(a);
}

/* A CPU runs a block that has failed again, by code that is made for that, once, and kept on disk, too. */
static void test_faults(void **state)
{
    char error[256], folder_of_cache[200];
    kjit_context *outer = ctx;
    kjit_module *own = mod;
    int compiled, loaded, codes = on_cpu() ? 2 : 1;
    (void)state;
    snprintf(folder_of_cache, sizeof folder_of_cache, "%s", path_of("cache"));
    for (int run = 0; run < 2; run++) {
        if (kjit_context_create(&(kjit_context_options){.cache = folder_of_cache}, &ctx, error,
                                sizeof error) != KJIT_OK)
            fail_msg("%s", error);
        mod = module(source);
        kjit_stream *s;
        kjit_set_trace(ctx, take, &shown);
        OK(kjit_stream_create(ctx, &s));
        fail_once(NULL, &compiled, &loaded);
        assert_int_equal(compiled, run == 0 ? codes : 0);
        assert_int_equal(loaded, run == 0 ? 0 : codes);
        for (int again = 0; again < 3; again++) {
            fail_once(again ? s : NULL, &compiled, &loaded);
            assert_int_equal(compiled + loaded, 0);
        }
        kjit_stream_free(s);
        kjit_module_free(mod);
        kjit_context_destroy(ctx);
    }
    mod = own;
    ctx = outer;
}

/* As one piece of work where the device has it so. */
static void test_graph(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_graph *graph;
    kjit_array *a = numbers();
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_graph_begin(s));
    OK(launch("slow", s, a, 1));
    OK(launch("add", s, a, 1));
    OK(kjit_graph_end(s, &graph));
    shown.n = 0;
    OK(kjit_graph_launch(graph, s));
    OK(kjit_stream_synchronize(s));
    expect(0, KJIT_TRACE_GRAPH, "graph", kjit_stream_number(s));
    assert_int_equal(shown.n, 1);
    kjit_graph_free(graph);
    kjit_stream_free(s);
    kjit_array_free(a);
}

static void hold(kjit_stream *s, kjit_status status, void *user)
{
    (void)s;
    (void)status;
    pthread_mutex_lock(user);
    pthread_mutex_unlock(user);
}

/* What is put into a stream does not wait until it can be shown; other streams go on. */
static void test_nothing_waits(void **state)
{
    (void)state;
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    kjit_stream *s, *t;
    kjit_array *a = numbers(), *b = numbers();
    int done;
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_stream_create(ctx, &t));
    shown.n = 0;
    pthread_mutex_lock(&gate);
    OK(kjit_stream_callback(s, hold, &gate));
    OK(launch("add", s, a, 1));
    OK(launch("add", t, b, 1));
    OK(kjit_stream_synchronize(t));
    OK(kjit_stream_query(s, &done));
    assert_int_equal(done, 0);
    assert_int_equal(shown.n, 1); /* t's launch, while s is held */
    expect(0, KJIT_TRACE_LAUNCH, "add", kjit_stream_number(t));
    pthread_mutex_unlock(&gate);
    OK(kjit_synchronize(ctx));
    assert_int_equal(shown.n, 3);
    kjit_stream_free(s);
    kjit_stream_free(t);
    kjit_array_free(a);
    kjit_array_free(b);
}

/* Work that was queued while somebody traced is not shown to nobody. */
static void test_taken_away(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_array *a = numbers();
    OK(kjit_stream_create(ctx, &s));
    OK(launch("slow", s, a, SHORT));
    kjit_set_trace(ctx, NULL, NULL);
    shown.n = 0;
    OK(launch("slow", s, a, SHORT));
    OK(kjit_stream_synchronize(s));
    assert_int_equal(shown.n, 0);
    kjit_set_trace(ctx, take, &shown);
    OK(launch("slow", s, a, SHORT));
    OK(kjit_stream_synchronize(s));
    assert_int_equal(shown.n, 1);
    kjit_set_trace(NULL, take, &shown);
    assert_int_equal(kjit_stream_number(NULL), 0);
    kjit_stream_free(s);
    kjit_array_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_a_stream), cmocka_unit_test(test_in_a_stream),
        cmocka_unit_test(test_faults),           cmocka_unit_test(test_graph),
        cmocka_unit_test(test_nothing_waits),    cmocka_unit_test(test_taken_away),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
