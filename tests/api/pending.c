/* Deferred deallocation: what waits in which queue, what empties it, on both devices. Where the
 * driver double keeps a log, that what was pending was given back then, in order and once. */
#include "api.h"

#include <math.h>
#include <pthread.h>

static kjit_memory_info memory(void)
{
    kjit_memory_info info;
    OK(kjit_context_memory(ctx, &info));
    return info;
}

static kjit_array *device(int64_t bytes)
{
    kjit_array *a;
    OK(kjit_array_create(ctx, KJIT_U8, 1, &bytes, 'C', KJIT_DEVICE, &a));
    return a;
}

static void free_devices(int n, int64_t bytes)
{
    for (int i = 0; i < n; i++)
        kjit_array_free(device(bytes));
}

static void free_event(void)
{
    kjit_event *e;
    OK(kjit_event_create(ctx, 1, &e));
    kjit_event_free(e);
}

/* A context of its own for a test, in place of the one of all. */
static kjit_context *outer;

static void begin(int count, double ratio)
{
    char error[256];
    kjit_context_options options = {.max_pending_count = count, .max_pending_ratio = ratio};
    outer = ctx;
    if (kjit_context_create(&options, &ctx, error, sizeof error) != KJIT_OK)
        fail_msg("%s", error);
}

static void end(void)
{
    kjit_context_destroy(ctx);
    ctx = outer;
}

/* ---- The limits ---- */

static void test_defaults(void **state)
{
    (void)state;
    kjit_device_info device_info;
    OK(kjit_context_device(ctx, &device_info));
    kjit_memory_info info = memory();
    assert_int_equal(info.max_pending_count, 10);
    assert_true(info.max_pending_bytes == (uint64_t)(0.2 * (double)device_info.memory));
    assert_true(info.total > 0 && info.free > 0 && info.free <= info.total);
    assert_int_equal(info.used, 0);
    assert_int_equal(info.failed_deallocations, 0);
}

static void test_count_is_strict(void **state)
{
    (void)state;
    begin(0, 0);
    free_devices(10, 100);
    kjit_memory_info info = memory();
    assert_int_equal(info.pending_memory, 10);
    assert_int_equal(info.pending_bytes, 1000);
    free_devices(1, 100); /* the eleventh is one too many: all go */
    info = memory();
    assert_int_equal(info.pending_memory, 0);
    assert_int_equal(info.pending_bytes, 0);
    free_devices(3, 100);
    assert_int_equal(memory().pending_memory, 3);
    end();
}

static void test_bytes_are_strict(void **state)
{
    (void)state;
    begin(1000, 0.0001);
    int64_t most = (int64_t)memory().max_pending_bytes;
    assert_true(most > 100);
    free_devices(1, most);
    assert_int_equal(memory().pending_bytes, most);
    free_devices(1, 1);
    assert_int_equal(memory().pending_bytes, 0);
    free_devices(1, most + 1);
    assert_int_equal(memory().pending_bytes, 0);
    end();
}

static void test_none(void **state)
{
    (void)state;
    begin(-1, 0);
    assert_int_equal(memory().max_pending_count, 0);
    free_devices(1, 1);
    free_event();
    assert_int_equal(memory().pending_memory, 0);
    assert_int_equal(memory().pending_resources, 0);
    end();
    begin(0, -0.5);
    assert_int_equal(memory().max_pending_bytes, 0);
    free_devices(1, 1);
    assert_int_equal(memory().pending_memory, 0);
    free_devices(10, 0); /* no bytes are not more than none */
    free_event();
    assert_int_equal(memory().pending_memory, 10);
    assert_int_equal(memory().pending_resources, 1);
    end();
}

static void test_environment(void **state)
{
    (void)state;
    setenv("KJIT_MAX_PENDING_DEALLOCS_COUNT", "3", 1);
    setenv("KJIT_MAX_PENDING_DEALLOCS_RATIO", "0.5", 1);
    begin(0, 0);
    kjit_memory_info info = memory();
    assert_int_equal(info.max_pending_count, 3);
    assert_true(info.max_pending_bytes >= info.total / 2 - 1);
    free_devices(3, 8);
    assert_int_equal(memory().pending_memory, 3);
    free_devices(1, 8);
    assert_int_equal(memory().pending_memory, 0);
    end();
    begin(7, 0.25); /* options come before the environment */
    assert_int_equal(memory().max_pending_count, 7);
    assert_true(memory().max_pending_bytes <= memory().total / 4);
    end();
    setenv("KJIT_MAX_PENDING_DEALLOCS_COUNT", "0", 1);
    setenv("KJIT_MAX_PENDING_DEALLOCS_RATIO", "0", 1);
    begin(0, 0);
    assert_int_equal(memory().max_pending_count, 0);
    assert_int_equal(memory().max_pending_bytes, 0);
    end();
    static const char *const nonsense[] = {"", "-3", "many", "5x", "0x10", "1e999", "nan"};
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        setenv("KJIT_MAX_PENDING_DEALLOCS_COUNT", nonsense[i], 1);
        begin(0, 0);
        int count = memory().max_pending_count;
        end();
        assert_int_equal(count, 10);
    }
    setenv("KJIT_MAX_PENDING_DEALLOCS_COUNT", "1e30", 1);
    setenv("KJIT_MAX_PENDING_DEALLOCS_RATIO", "1e30", 1);
    begin(0, 0);
    assert_int_equal(memory().max_pending_count, INT32_MAX);
    assert_true(memory().max_pending_bytes == SIZE_MAX);
    end();
    unsetenv("KJIT_MAX_PENDING_DEALLOCS_COUNT");
    unsetenv("KJIT_MAX_PENDING_DEALLOCS_RATIO");
    char error[256];
    kjit_context *none = ctx;
    kjit_context_options options = {.max_pending_ratio = NAN};
    assert_int_equal(kjit_context_create(&options, &none, error, sizeof error), KJIT_INVALID);
    assert_null(none);
    assert_non_null(strstr(error, "max_pending_ratio"));
}

/* ---- The two queues ---- */

static void test_resources(void **state)
{
    (void)state;
    begin(2, 0);
    kjit_stream *s;
    kjit_module *mod = module("kernel f(x: u8[]) { x[grid(1)] = 1 }"), *cold = module("");
    kjit_array *a = device(64);
    OK(kjit_launch(mod, "f", &(kjit_config){.grid = {1}, .block = {64}},
                   (kjit_arg[]){kjit_arg_array(a)}, 1));
    kjit_module_free(cold); /* it has no code to unload */
    assert_int_equal(memory().pending_resources, 0);
    kjit_module_free(mod);
    OK(kjit_stream_create(ctx, &s));
    kjit_stream_free(s);
    assert_int_equal(memory().pending_resources, 2);
    kjit_array_free(a); /* another queue */
    assert_int_equal(memory().pending_resources, 2);
    assert_int_equal(memory().pending_memory, 1);
    free_event();
    assert_int_equal(memory().pending_resources, 0);
    assert_int_equal(memory().pending_memory, 1);
    end();
}

static void test_host_goes_at_once(void **state)
{
    (void)state;
    begin(0, 0);
    int64_t size = 1000;
    uint8_t own[1000];
    kjit_array *a, *view;
    OK(kjit_array_create(ctx, KJIT_U8, 1, &size, 'C', KJIT_HOST, &a));
    kjit_array_free(a);
    kjit_array_free(wrap(own, KJIT_U8, 1, &size));
    assert_int_equal(memory().pending_memory, 0);
    a = device(1000);
    assert_int_equal(memory().used, 1000);
    OK(kjit_array_slice(a, NULL, NULL, NULL, &view));
    kjit_array_free(a);
    assert_int_equal(memory().pending_memory, 0); /* the view has it */
    kjit_array_free(view);
    assert_int_equal(memory().pending_memory, 1);
    assert_int_equal(memory().used, 0);
    OK(kjit_deallocate_pending(ctx));
    assert_int_equal(memory().pending_memory, 0);
    end();
}

/* ---- Deferring ---- */

static void test_defer(void **state)
{
    (void)state;
    begin(1, 0);
    FAILS(kjit_defer_cleanup_end(ctx), KJIT_INVALID, "defer_cleanup");
    OK(kjit_defer_cleanup_begin(ctx));
    OK(kjit_defer_cleanup_begin(ctx)); /* they nest */
    free_devices(5, 10);
    for (int i = 0; i < 4; i++)
        free_event();
    OK(kjit_deallocate_pending(ctx));
    assert_int_equal(memory().pending_memory, 5);
    OK(kjit_defer_cleanup_end(ctx));
    free_devices(1, 10);
    assert_int_equal(memory().pending_memory, 6);
    OK(kjit_defer_cleanup_end(ctx)); /* it only counts down */
    assert_int_equal(memory().pending_memory, 6);
    assert_int_equal(memory().pending_resources, 4);
    int64_t one = 1;
    kjit_array *host = create(KJIT_U8, 1, &one, 'C'); /* the next trigger */
    assert_int_equal(memory().pending_memory, 0);
    assert_int_equal(memory().pending_resources, 0);
    kjit_array_free(host);
    FAILS(kjit_defer_cleanup_end(ctx), KJIT_INVALID, "defer_cleanup");
    OK(kjit_defer_cleanup_begin(ctx)); /* destroying the context ends it */
    free_devices(5, 10);
    end();
}

static void test_bad_arguments(void **state)
{
    (void)state;
    kjit_memory_info info;
    assert_int_equal(kjit_context_memory(NULL, &info), KJIT_INVALID);
    FAILS(kjit_context_memory(ctx, NULL), KJIT_INVALID, "out is NULL");
    assert_int_equal(kjit_deallocate_pending(NULL), KJIT_INVALID);
    assert_int_equal(kjit_defer_cleanup_begin(NULL), KJIT_INVALID);
    assert_int_equal(kjit_defer_cleanup_end(NULL), KJIT_INVALID);
}

/* ---- With work under way ---- */

static const char slow_source[] = "kernel slow(x: u8[], n: i32) {\n"
                                  "    var s = 0\n"
                                  "    for i in range(n) { s = s * 3 + i + i32(x[0]) }\n"
                                  "    x[0] = u8(s & 127)\n"
                                  "}";

static void launch_slow(kjit_module *mod, kjit_array *a, kjit_stream *s)
{
    OK(kjit_launch(mod, "slow", &(kjit_config){.grid = {1}, .block = {1}, .stream = s},
                   (kjit_arg[]){kjit_arg_array(a), kjit_arg_i64(20000)}, 2));
}

static void test_work_holds(void **state)
{
    (void)state;
    begin(-1, 0);
    kjit_stream *s;
    kjit_module *mod = module(slow_source);
    kjit_array *a = device(64), *b = device(64);
    OK(kjit_stream_create(ctx, &s));
    for (int i = 0; i < 20; i++)
        launch_slow(mod, i % 2 ? a : b, s);
    kjit_array_free(a); /* the double would tell of memory freed under its work */
    kjit_array_free(b);
    kjit_module_free(mod);
    OK(kjit_stream_synchronize(s));
    free_event(); /* what the work has let go of goes with the next */
    assert_int_equal(memory().pending_memory, 0);
    assert_int_equal(memory().pending_resources, 0);
    kjit_stream_free(s);
    end();
}

/* Freeing a stream does not wait, and what it does is done. */
static void test_stream_runs_on(void **state)
{
    (void)state;
    begin(0, 0);
    kjit_stream *s;
    uint8_t before[64] = {1}, after[64] = {0};
    kjit_array *from = wrap(before, KJIT_U8, 1, SHAPE(64)),
               *to = wrap(after, KJIT_U8, 1, SHAPE(64));
    kjit_array *a = device(64);
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_copy(a, from, s));
    OK(kjit_copy(to, a, s));
    kjit_stream_free(s);
    assert_int_equal(memory().pending_resources, 1);
    OK(kjit_synchronize(ctx));
    assert_memory_equal(before, after, sizeof before);
    OK(kjit_stream_create(ctx, &s));
    after[0] = 0;
    OK(kjit_copy(to, a, s));
    kjit_stream_free(s);
    OK(kjit_deallocate_pending(ctx)); /* waits for it */
    assert_int_equal(after[0], 1);
    kjit_array_free(from);
    kjit_array_free(to);
    kjit_array_free(a);
    end();
}

/* Handles that outlive the context are freed at once. */
static void test_after_destroy(void **state)
{
    (void)state;
    begin(0, 0);
    kjit_stream *s;
    kjit_event *e;
    kjit_module *mod = module(slow_source);
    kjit_array *a = device(64), *b = device(64);
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_event_create(ctx, 1, &e));
    launch_slow(mod, a, s);
    end();
    launch_slow(mod, b, s);
    kjit_array_free(b);
    kjit_module_free(mod);
    kjit_array_free(a);
    kjit_event_free(e);
    kjit_stream_free(s);
}

/* ---- Memory in a stream's order ---- */

static const char add_source[] = "kernel add(x: u8[]) {\n"
                                 "    let i = grid(1)\n"
                                 "    if i < x.size { x[i] += 1 }\n"
                                 "}";

static void test_stream_ordered(void **state)
{
    (void)state;
    enum { N = 1000 };
    begin(0, 0);
    kjit_stream *s, *other;
    kjit_array *a;
    uint8_t before[N] = {7}, after[N] = {0};
    int64_t n = N;
    kjit_array *from = wrap(before, KJIT_U8, 1, &n), *to = wrap(after, KJIT_U8, 1, &n);
    kjit_module *mod = module(add_source);
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_stream_create(ctx, &other));
    kjit_array_options options = {.memory = KJIT_DEVICE, .stream = s};
    for (int i = 0; i < 12; i++) {
        OK(kjit_array_create_with(ctx, KJIT_U8, 1, &n, &options, &a));
        bool ordered = memory().pool_used > 0;
        assert_true(!ordered || memory().used == N);
        OK(kjit_copy(a, from, s));
        OK(kjit_launch_forall(mod, "add", N, s, (kjit_arg[]){kjit_arg_array(a)}, 1));
        OK(kjit_copy(to, a, s));
        kjit_array_free(a); /* while all that is queued */
        assert_true(!ordered || memory().pending_memory == 0);
    }
    OK(kjit_stream_synchronize(s));
    assert_int_equal(after[0], 8);
    assert_int_equal(after[N - 1], 1);
    OK(kjit_array_create_with(ctx, KJIT_U8, 1, &n, &options, &a));
    OK(kjit_copy(a, from, NULL)); /* after all streams */
    kjit_stream_free(s);          /* the array has it */
    OK(kjit_launch_forall(mod, "add", N, other, (kjit_arg[]){kjit_arg_array(a)}, 1));
    kjit_array_free(a);
    OK(kjit_synchronize(ctx));
    OK(kjit_stream_create(ctx, &s));
    options.stream = s;
    OK(kjit_array_create_with(ctx, KJIT_U8, 1, SHAPE(0), &options, &a));
    kjit_array_free(a);
    OK(kjit_array_create_with(ctx, KJIT_U8, 1, &n, &options, &a));
    kjit_stream_free(s);
    kjit_stream_free(other);
    kjit_array_free(from);
    kjit_array_free(to);
    kjit_module_free(mod);
    end();
    kjit_array_free(a); /* the last of all */
}

/* An allocation is work of its stream: the legacy stream comes after it. */
static void test_stream_ordered_legacy(void **state)
{
    (void)state;
    begin(0, 0);
    kjit_stream *s, *legacy;
    kjit_array *a;
    uint8_t before[64] = {7}, after[64] = {0};
    kjit_array *from = wrap(before, KJIT_U8, 1, SHAPE(64)),
               *to = wrap(after, KJIT_U8, 1, SHAPE(64));
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_stream_legacy_default(ctx, &legacy));
    kjit_array_options options = {.memory = KJIT_DEVICE, .stream = s};
    OK(kjit_array_create_with(ctx, KJIT_U8, 1, SHAPE(64), &options, &a));
    OK(kjit_copy(a, from, legacy));
    OK(kjit_copy(to, a, legacy));
    OK(kjit_stream_synchronize(legacy));
    assert_int_equal(after[0], 7);
    kjit_array_free(a);
    kjit_array_free(from);
    kjit_array_free(to);
    kjit_stream_free(s);
    end();
}

/* A stream is held up by a function of the host until others have done their work. */
static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static bool gate_open, gave_up;

static void wait_at_gate(kjit_stream *s, kjit_status status, void *user)
{
    enum { SECONDS = 30 };
    struct timespec until;
    (void)s, (void)status, (void)user;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SECONDS;
    pthread_mutex_lock(&gate_lock);
    while (!gate_open && !gave_up)
        gave_up = pthread_cond_timedwait(&gate_moved, &gate_lock, &until) != 0;
    pthread_mutex_unlock(&gate_lock);
}

static void open_gate(void)
{
    pthread_mutex_lock(&gate_lock);
    gate_open = true;
    pthread_cond_broadcast(&gate_moved);
    pthread_mutex_unlock(&gate_lock);
}

/* Memory that is yet to be freed in one stream holds up nobody who wants as much in another, or
 * without one. */
static void test_frees_hold_up_nobody(void **state)
{
    (void)state;
    enum { N = 100000 };
    kjit_stream *s, *other;
    kjit_array *a, *b;
    int64_t n = N;
    gate_open = gave_up = false;
    begin(0, 0);
    kjit_module *mod = module(add_source);
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_stream_create(ctx, &other));
    kjit_array_options in_s = {.memory = KJIT_DEVICE, .stream = s}, in_other = in_s;
    in_other.stream = other;
    OK(kjit_array_create_with(ctx, KJIT_U8, 1, &n, &in_s, &a));
    OK(kjit_launch_forall(mod, "add", N, s, (kjit_arg[]){kjit_arg_array(a)}, 1));
    if (memory().pool_used > 0) { /* else memory comes back when the work has ended */
        OK(kjit_stream_callback(s, wait_at_gate, NULL));
        kjit_array_free(a);
        OK(kjit_array_create_with(ctx, KJIT_U8, 1, &n, &in_other, &b));
        OK(kjit_launch_forall(mod, "add", N, other, (kjit_arg[]){kjit_arg_array(b)}, 1));
        OK(kjit_stream_synchronize(other));
        a = device(N);
        kjit_array_free(b);
        OK(kjit_stream_synchronize(other));
    }
    open_gate();
    OK(kjit_synchronize(ctx));
    assert_false(gave_up);
    kjit_array_free(a);
    kjit_module_free(mod);
    kjit_stream_free(s);
    kjit_stream_free(other);
    end();
}

static void test_stream_refused(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_array *a;
    OK(kjit_stream_create(ctx, &s));
    kjit_array_options options = {.memory = KJIT_PINNED, .stream = s};
    FAILS(kjit_array_create_with(ctx, KJIT_U8, 1, SHAPE(1), &options, &a), KJIT_INVALID, "stream");
    options = (kjit_array_options){.memory = KJIT_DEVICE, .stream = s, .shareable = 1};
    FAILS(kjit_array_create_with(ctx, KJIT_U8, 1, SHAPE(1), &options, &a), KJIT_INVALID, "stream");
    begin(0, 0);
    options = (kjit_array_options){.memory = KJIT_DEVICE, .stream = s};
    FAILS(kjit_array_create_with(ctx, KJIT_U8, 1, SHAPE(1), &options, &a), KJIT_INVALID, "context");
    assert_null(a);
    end();
    kjit_stream_free(s);
}

static void test_pool(void **state)
{
    (void)state;
    enum { N = 64 << 20 }; /* a driver takes memory from the device some megabytes at a time */
    begin(-1, 0);
    kjit_memory_info info = memory();
    uint64_t base = info.pool_reserved;
    assert_int_equal(info.pool_used, 0);
    kjit_array *a = device(N), *b = device(N);
    info = memory();
    bool pools = info.pool_used > 0;
    assert_true(pools || info.pool_reserved == base);
    if (pools) {
        assert_true(info.pool_used >= 2 * N && info.pool_reserved >= info.pool_used);
        assert_true(info.pool_highest >= 2 * N);
    }
    kjit_array_free(a);
    OK(kjit_memory_trim(ctx, (uint64_t)4 << 30)); /* as much as that may stay */
    info = memory();
    assert_true(!pools || info.pool_reserved >= 2 * N);
    OK(kjit_memory_trim(ctx, 0));
    info = memory();
    assert_true(!pools || (info.pool_used < 2 * N && info.pool_reserved < 2 * N));
    OK(kjit_memory_trim(ctx, UINT64_MAX));
    kjit_array_free(b);
    assert_int_equal(kjit_memory_trim(NULL, 0), KJIT_INVALID);
    end();
}

/* ---- When memory runs out ---- */

static void test_out_of_memory(void **state)
{
    (void)state;
    begin(1000, 10);
    int64_t most = (int64_t)memory().total, part = most / 2 + most / 8;
    kjit_array *a;
    if (!on_cpu()) { /* there it would take the machine's memory */
        free_devices(1, part);
        assert_int_equal(memory().pending_memory, 1);
        kjit_array_free(device(part)); /* only fits when the first has gone */
        assert_int_equal(memory().pending_memory, 1);
        OK(kjit_defer_cleanup_begin(ctx));
        FAILS(kjit_array_create(ctx, KJIT_U8, 1, &part, 'C', KJIT_DEVICE, &a), KJIT_NO_MEMORY,
              "memory");
        assert_null(a);
        assert_int_equal(memory().pending_memory, 1);
        OK(kjit_defer_cleanup_end(ctx));
    }
    /* A copy that takes memory of its own; where it is the double's, and nobody else has some. */
    if (!on_cpu() && most < 1 << 30) {
        int64_t n = 50000, step = 2, rest = most - 4 * n;
        kjit_array *from, *to = device(2 * n), *view;
        OK(kjit_array_create(ctx, KJIT_U8, 1, &n, 'C', KJIT_HOST, &from));
        OK(kjit_array_slice(to, NULL, NULL, &step, &view));
        OK(kjit_deallocate_pending(ctx));
        free_devices(1, rest);
        assert_int_equal(memory().pending_memory, 1);
        OK(kjit_copy(view, from, NULL));
        assert_int_equal(memory().pending_memory, 0);
        kjit_array_free(view);
        kjit_array_free(to);
        kjit_array_free(from);
    }
    free_devices(3, 100);
    for (int i = 0; i < 2; i++) { /* host memory too */
        int64_t all = (int64_t)1 << 46;
        FAILS(kjit_array_create(ctx, KJIT_U8, 1, &all, 'C', i ? KJIT_HOST : KJIT_DEVICE, &a),
              KJIT_NO_MEMORY, "memory");
        assert_null(a);
        assert_int_equal(memory().pending_memory, 0);
        free_devices(3, 100);
    }
    end();
}

/* ---- Threads ---- */

static void *churn(void *data)
{
    (void)data;
    for (int i = 0; i < 300; i++) {
        int64_t size = 64 + i % 7;
        kjit_array *a;
        kjit_event *e;
        kjit_memory_info info;
        if (kjit_array_create(ctx, KJIT_U8, 1, &size, 'C', KJIT_DEVICE, &a) != KJIT_OK ||
            kjit_event_create(ctx, 1, &e) != KJIT_OK)
            return ctx;
        kjit_array_free(a);
        kjit_event_free(e);
        if (i % 50 == 0 &&
            (kjit_defer_cleanup_begin(ctx) != KJIT_OK || kjit_deallocate_pending(ctx) != KJIT_OK ||
             kjit_defer_cleanup_end(ctx) != KJIT_OK || kjit_context_memory(ctx, &info) != KJIT_OK))
            return ctx;
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    begin(0, 0);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, NULL), 0);
    for (int i = 0; i < 4; i++) {
        void *bad;
        pthread_join(threads[i], &bad);
        assert_null(bad);
    }
    OK(kjit_deallocate_pending(ctx));
    assert_int_equal(memory().pending_memory, 0);
    assert_int_equal(memory().used, 0);
    end();
}

/* ---- Failures: where the driver double was asked for one ---- */

static void test_failure(void **state)
{
    (void)state;
    if (!double_fails("cuMemFree"))
        SKIP("the driver double fails when it is told to");
    begin(2, 0);
    free_devices(3, 8); /* the second fails, and the third goes all the same */
    assert_int_equal(memory().pending_memory, 0);
    assert_int_equal(memory().failed_deallocations, 1);
    FAILS(kjit_deallocate_pending(ctx), KJIT_INTERNAL, "cannot free 8 bytes of device memory");
    OK(kjit_deallocate_pending(ctx)); /* it is told once */
    free_devices(3, 16);
    FAILS(kjit_synchronize(ctx), KJIT_INTERNAL, "cannot free 16 bytes of device memory");
    OK(kjit_synchronize(ctx));
    assert_int_equal(memory().failed_deallocations, 2);
    free_devices(1, 8);
    end();
}

/* With a name: that test alone. */
int main(int argc, char **argv)
{
    setenv("KJIT_DOUBLE_MEMORY", "268435456", 0); /* the double fills what it gives */
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_count_is_strict),
        cmocka_unit_test(test_bytes_are_strict),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_resources),
        cmocka_unit_test(test_host_goes_at_once),
        cmocka_unit_test(test_defer),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_work_holds),
        cmocka_unit_test(test_stream_runs_on),
        cmocka_unit_test(test_after_destroy),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_stream_ordered),
        cmocka_unit_test(test_stream_ordered_legacy),
        cmocka_unit_test(test_frees_hold_up_nobody),
        cmocka_unit_test(test_stream_refused),
        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_failure),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
