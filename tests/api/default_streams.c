/* The default streams, callbacks, and what events tell without waiting. */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>

#include "stream_work.h"

#include "driver.h"

static const char source[] = ADD_AND_SCALE
    "kernel slow(x: i32[], n: i64) {\n"
    "    var s: i32 = x[0]\n"
    "    for k in range(n) { s = s * 1664525 + 1013904223 }\n"
    "    if s != 12345 { x[0] += 1 }\n"
    "}\n"
    "kernel count(x: i32[], n: i32) { if grid(1) == 0 { atomic.add(x, 0, n) } }\n"
    "kernel check(x: i32[], n: i32) { let i = grid(1); assert(i >= n or x[i] == n) }\n"
    "kernel tell(x: i32[], n: i32) { if grid(1) == 0 { print(n) } }\n";

enum { LONG = 2000000, SHORT = 10000 };

static int set_up(void **state)
{
    if (make_context(state) != 0)
        return 1;
    mod = module(source);
    driver_of_context();
    return 0;
}

static int tear_down(void **state)
{
    kjit_module_free(mod);
    return drop_context(state);
}

/* ---- The legacy stream ---- */

static void test_legacy(void **state)
{
    (void)state;
    kjit_stream *legacy, *again, *s, *t;
    kjit_array *a = zeros();
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_stream_legacy_default(ctx, &legacy));
    OK(kjit_stream_default(ctx, &again));
    assert_ptr_equal(legacy, again);
    kjit_stream_free(legacy); /* nothing */
    OK(launch("slow", s, a, LONG));
    OK(launch("scale", legacy, a, 5)); /* waits for s */
    OK(kjit_stream_create(ctx, &t));   /* made after legacy work, and waits for it */
    OK(launch("add", t, a, 3));
    OK(launch("scale", legacy, a, 2));
    OK(launch("slow", legacy, a, LONG));
    OK(launch("add", s, a, 100));
    OK(kjit_stream_synchronize(s));
    assert_int_equal(first_of(a), ((1 * 5 + 3) * 2 + 1) + 100);
    kjit_stream_free(s);
    kjit_stream_free(t);
    kjit_array_free(a);
}

/* Any way of putting work into a stream is ordered: copies, events, callbacks too. */
static void test_legacy_and_all_else(void **state)
{
    (void)state;
    kjit_stream *legacy, *s[3];
    kjit_array *a = zeros(), *b = zeros();
    int32_t expected = 0;
    OK(kjit_stream_legacy_default(ctx, &legacy));
    for (int i = 0; i < 3; i++)
        OK(kjit_stream_create(ctx, &s[i]));
    for (int round = 0; round < 30; round++) {
        kjit_stream *own = s[round % 3];
        OK(launch("slow", own, a, SHORT));
        OK(kjit_copy(b, a, legacy));
        OK(launch("add", s[(round + 1) % 3], b, 1));
        OK(kjit_copy(a, b, legacy));
        expected += 2;
    }
    OK(kjit_stream_synchronize(legacy));
    assert_int_equal(first_of(a), expected);
    for (int i = 0; i < 3; i++)
        kjit_stream_free(s[i]);
    kjit_array_free(a);
    kjit_array_free(b);
}

static void wait_at(kjit_stream *s, kjit_status status, void *gate)
{
    (void)s, (void)status;
    while (!atomic_load((atomic_bool *)gate))
        usleep(100);
}

/* What has not been put into the legacy stream orders nothing: streams go on side by side. */
static void test_apart(void **state)
{
    (void)state;
    kjit_stream *s, *t;
    kjit_array *a = zeros(), *b = zeros();
    atomic_bool open = false;
    int done;
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_stream_create(ctx, &t));
    OK(kjit_stream_callback(s, wait_at, &open));
    OK(launch("add", s, a, 1));
    OK(launch("add", t, b, 1));
    OK(kjit_stream_synchronize(t));
    OK(kjit_stream_query(s, &done));
    atomic_store(&open, true);
    assert_false(done);
    OK(kjit_stream_synchronize(s));
    assert_int_equal(first_of(a), 1);
    kjit_stream_free(s);
    kjit_stream_free(t);
    kjit_array_free(a);
    kjit_array_free(b);
}

/* ---- A thread's own ---- */

static int threads_now(void)
{
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks)
        return 0;
    while (readdir(tasks))
        n++;
    closedir(tasks);
    return n;
}

typedef struct guest {
    kjit_stream *hosts, *own;
    kjit_array *a;
} guest;

static void *visit(void *data)
{
    guest *g = data;
    kjit_stream *again;
    OK(kjit_stream_per_thread_default(ctx, &g->own));
    OK(kjit_stream_per_thread_default(ctx, &again));
    assert_ptr_equal(again, g->own);
    assert_ptr_not_equal(g->own, g->hosts);
    FAILS(launch("add", g->hosts, g->a, 1), KJIT_INVALID, "another thread's");
    OK(launch("count", g->own, g->a, 1));
    OK(launch("count", g->own, g->a, 1));
    OK(kjit_stream_synchronize(g->hosts)); /* waiting is for all */
    return NULL;
}

static void test_per_thread(void **state)
{
    (void)state;
    guest g = {.a = zeros()};
    kjit_stream *legacy;
    OK(kjit_stream_per_thread_default(ctx, &g.hosts));
    OK(kjit_stream_legacy_default(ctx, &legacy));
    OK(launch("slow", g.hosts, g.a, LONG));
    OK(launch("add", legacy, g.a, 9));
    OK(launch("scale", g.hosts, g.a, 10));
    OK(kjit_stream_synchronize(g.hosts));
    assert_int_equal(first_of(g.a), 100);
    int threads = 0;
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, visit, &g), 0);
        pthread_join(thread, NULL);
        if (i == 0)
            threads = threads_now();
    }
    assert_true(threads_now() <= threads + 12); /* the streams went with their threads */
    OK(kjit_synchronize(ctx));
    assert_int_equal(first_of(g.a), 300);
    kjit_array_free(g.a);
}

/* ---- Handles ---- */

static void test_handles(void **state)
{
    (void)state;
    kjit_stream *s, *legacy, *own;
    OK(kjit_stream_legacy_default(ctx, &legacy));
    OK(kjit_stream_per_thread_default(ctx, &own));
    OK(kjit_stream_external(ctx, (void *)1, &s));
    assert_ptr_equal(s, legacy);
    OK(kjit_stream_external(ctx, (void *)2, &s));
    assert_ptr_equal(s, own);
    FAILS(kjit_stream_external(ctx, NULL, &s), KJIT_INVALID, "the stream's handle is 0");
    assert_null(s);
    assert_null(kjit_stream_handle(NULL));
    assert_ptr_equal(kjit_stream_handle(legacy), on_cpu() ? NULL : (void *)1);
    assert_ptr_equal(kjit_stream_handle(own), on_cpu() ? NULL : (void *)2);
    OK(kjit_stream_create(ctx, &s));
    assert_int_equal(kjit_stream_handle(s) == NULL, on_cpu());
    kjit_stream_free(s);
    if (!on_cpu())
        return;
    FAILS(kjit_stream_external(ctx, &s, &s), KJIT_NO_DEVICE, "no streams of other libraries");
    assert_null(s);
}

/* ---- Callbacks ---- */

typedef struct told {
    atomic_int n;
    struct {
        kjit_stream *stream;
        kjit_status status;
        void *user;
        bool elsewhere;
    } calls[8];
    pthread_t home;
} told;

typedef struct note {
    told *told;
    int value;
} note;

static void tell(kjit_stream *s, kjit_status status, void *user)
{
    told *t = ((note *)user)->told;
    int i = atomic_load(&t->n);
    t->calls[i].stream = s;
    t->calls[i].status = status;
    t->calls[i].user = user;
    t->calls[i].elsewhere = !pthread_equal(t->home, pthread_self());
    atomic_store(&t->n, i + 1);
}

static void test_callbacks(void **state)
{
    (void)state;
    told t = {.home = pthread_self()};
    note notes[4] = {{&t, 0}, {&t, 1}, {&t, 2}, {&t, 3}};
    kjit_stream *s;
    kjit_array *a = zeros();
    OK(kjit_stream_create(ctx, &s));
    OK(launch("slow", s, a, LONG));
    OK(kjit_stream_callback(s, tell, &notes[0]));
    OK(launch("check", s, a, 77)); /* fails */
    OK(kjit_stream_callback(s, tell, &notes[1]));
    OK(launch("add", s, a, 1)); /* runs all the same */
    OK(kjit_stream_callback(s, tell, &notes[2]));
    FAILS(kjit_stream_synchronize(s), KJIT_FAULT, "assert");
    assert_int_equal(atomic_load(&t.n), 3);
    OK(kjit_stream_callback(s, tell, &notes[3]));
    OK(kjit_stream_synchronize(s));
    assert_int_equal(atomic_load(&t.n), 4);
    static const kjit_status statuses[] = {KJIT_OK, KJIT_FAULT, KJIT_FAULT, KJIT_OK};
    for (int i = 0; i < 4; i++) {
        assert_ptr_equal(t.calls[i].user, &notes[i]);
        assert_ptr_equal(t.calls[i].stream, s);
        assert_int_equal(t.calls[i].status, statuses[i]);
        assert_true(t.calls[i].elsewhere);
    }
    assert_int_equal(first_of(a), 2);
    kjit_stream_free(s);
    kjit_array_free(a);
}

/* What would wait for its own end is refused, in each function that a context calls. */
typedef struct caller {
    kjit_stream *stream;
    kjit_event *events[32];      /* more than wait to be freed */
    kjit_array *from, *to;       /* of this context, and of another */
    atomic_int refused, allowed; /* calls of the function, by what kjit said there */
} caller;

static void refused(caller *c)
{
    int done;
    bool all = kjit_synchronize(ctx) == KJIT_INVALID &&
               strstr(kjit_last_error(ctx), "a function that the context calls") &&
               kjit_stream_synchronize(c->stream) == KJIT_INVALID &&
               kjit_stream_query(c->stream, &done) == KJIT_INVALID &&
               kjit_copy(c->to, c->from, NULL) == KJIT_INVALID &&
               kjit_copy(c->to, c->from, c->stream) == KJIT_INVALID;
    kjit_set_print(ctx, NULL, NULL); /* does nothing, and so do these */
    kjit_stream_free(c->stream);
    kjit_context_destroy(ctx);
    for (int i = 0; i < 32; i++) {
        kjit_event_free(c->events[i]);
        c->events[i] = NULL;
    }
    atomic_fetch_add(all ? &c->refused : &c->allowed, 1);
}

static void call_from_stream(kjit_stream *s, kjit_status status, void *user)
{
    (void)s;
    (void)status;
    refused(user);
}

static void call_from_trace(void *user, const kjit_trace_event *event)
{
    (void)event;
    refused(user);
}

static void call_from_print(void *user, const char *text, size_t size)
{
    (void)text;
    (void)size;
    refused(user);
}

static void test_calls_within(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_context *other;
    kjit_array *a = zeros(), *b;
    OK(kjit_context_create(&(kjit_context_options){.device = "cpu"}, &other, NULL, 0));
    OK(kjit_array_create(other, KJIT_I32, 1, SHAPE(64), 'C', KJIT_HOST, &b));
    caller from_stream = {.from = a, .to = b}, from_trace = from_stream, from_print = from_stream;
    OK(kjit_stream_create(ctx, &s));
    from_stream.stream = from_trace.stream = from_print.stream = s;
    for (int i = 0; i < 32; i++) {
        OK(kjit_event_create(ctx, 0, &from_stream.events[i]));
        OK(kjit_event_create(ctx, 0, &from_print.events[i]));
    }
    OK(kjit_stream_callback(s, call_from_stream, &from_stream));
    OK(kjit_stream_synchronize(s));
    assert_int_equal(atomic_load(&from_stream.refused), 1);
    kjit_set_trace(ctx, call_from_trace, &from_trace);
    OK(launch("add", s, a, 1));
    OK(kjit_stream_synchronize(s));
    kjit_set_trace(ctx, NULL, NULL);
    assert_true(atomic_load(&from_trace.refused) > 0);
    kjit_set_print(ctx, call_from_print, &from_print);
    OK(launch("tell", s, a, 1));
    OK(kjit_stream_synchronize(s));
    kjit_set_print(ctx, NULL, NULL);
    assert_int_equal(atomic_load(&from_print.refused), 1);
    assert_int_equal(from_stream.allowed + from_trace.allowed + from_print.allowed, 0);
    kjit_stream_free(s);
    kjit_array_free(a);
    kjit_array_free(b);
    kjit_context_destroy(other);
}

/* What the device has of a graph goes back later. */
static void free_graph(kjit_stream *s, kjit_status status, void *user)
{
    (void)s;
    (void)status;
    kjit_graph_free(user);
}

static void test_graph_freed_within(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_graph *g;
    kjit_array *a = zeros();
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_graph_begin(s));
    OK(launch("add", s, a, 1));
    OK(launch("add", s, a, 1));
    OK(kjit_graph_end(s, &g));
    OK(kjit_graph_launch(g, s));
    OK(kjit_stream_synchronize(s));
    OK(kjit_stream_callback(s, free_graph, g));
    OK(kjit_stream_synchronize(s));
    assert_int_equal(first_of(a), 2);
    kjit_stream_free(s);
    kjit_array_free(a);
}

/* Calls without a stream wait for those that have one, also when they have nothing to do. */
static void fill_none(kjit_array *none)
{
    int32_t v = 7;
    OK(kjit_array_fill(none, &v, NULL));
}

static void copy_none(kjit_array *none)
{
    kjit_array *host;
    OK(kjit_to_host(none, NULL, &host));
    kjit_array_free(host);
}

static void launch_none(kjit_array *none)
{
    kjit_arg args[] = {kjit_arg_array(none), kjit_arg_i64(1)};
    OK(kjit_launch(mod, "add", &(kjit_config){.grid = {0}, .block = {64}}, args, 2));
}

static void launch_for_none(kjit_array *none)
{
    kjit_arg args[] = {kjit_arg_array(none), kjit_arg_i64(1)};
    OK(kjit_launch_forall(mod, "add", 0, NULL, args, 2));
}

static void launch_no_graph(kjit_array *none)
{
    kjit_stream *s;
    kjit_graph *g;
    (void)none;
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_graph_begin(s));
    OK(kjit_graph_end(s, &g));
    OK(kjit_graph_launch(g, NULL));
    kjit_graph_free(g);
    kjit_stream_free(s);
}

static void test_nothing_waits(void **state)
{
    (void)state;
    static void (*const calls[])(kjit_array *) = {fill_none, copy_none, launch_none,
                                                  launch_for_none, launch_no_graph};
    kjit_stream *s;
    kjit_array *a = zeros(), *none;
    int done;
    OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(0), 'C', KJIT_DEVICE, &none));
    OK(kjit_stream_create(ctx, &s));
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        OK(launch("slow", s, a, LONG));
        calls[i](none);
        OK(kjit_stream_query(s, &done));
        assert_true(done);
    }
    kjit_stream_free(s);
    kjit_array_free(a);
    kjit_array_free(none);
}

/* Nobody waits for the stream: the callback comes all the same. */
static void test_callback_alone(void **state)
{
    (void)state;
    told t = {.home = pthread_self()};
    note only = {&t, 0};
    kjit_stream *s;
    kjit_array *a = zeros();
    OK(kjit_stream_create(ctx, &s));
    OK(launch("slow", s, a, LONG));
    OK(kjit_stream_callback(s, tell, &only));
    while (atomic_load(&t.n) == 0)
        usleep(100);
    kjit_stream_free(s);
    kjit_array_free(a);
}

/* ---- Events ---- */

static void test_events(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_event *timed, *plain;
    kjit_array *a = zeros();
    atomic_bool open = false;
    double ms;
    int done;
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_event_create(ctx, 1, &timed));
    OK(kjit_event_create(ctx, 0, &plain));
    OK(kjit_event_query(plain, &done));
    assert_int_equal(done, 1); /* never recorded */
    OK(kjit_stream_callback(s, wait_at, &open));
    OK(launch("slow", s, a, LONG));
    OK(kjit_event_record(timed, s));
    OK(kjit_event_record(plain, s));
    OK(kjit_event_query(plain, &done));
    atomic_store(&open, true);
    assert_int_equal(done, 0);
    while (!done) {
        usleep(100);
        OK(kjit_event_query(plain, &done));
    }
    OK(kjit_event_query(timed, &done));
    assert_int_equal(done, 1);
    FAILS(kjit_event_elapsed(timed, plain, &ms), KJIT_INVALID, "without timing");
    OK(kjit_event_elapsed(timed, timed, &ms));
    assert_true(ms == 0);
    kjit_event_free(timed);
    kjit_event_free(plain);
    kjit_stream_free(s);
    kjit_array_free(a);
}

static void test_refused(void **state)
{
    (void)state;
    kjit_stream *s;
    int done;
    assert_int_equal(kjit_stream_default(NULL, &s), KJIT_INVALID);
    FAILS(kjit_stream_default(ctx, NULL), KJIT_INVALID, "out is NULL");
    FAILS(kjit_stream_legacy_default(ctx, NULL), KJIT_INVALID, "out is NULL");
    FAILS(kjit_stream_per_thread_default(ctx, NULL), KJIT_INVALID, "out is NULL");
    FAILS(kjit_stream_external(ctx, (void *)1, NULL), KJIT_INVALID, "out is NULL");
    assert_int_equal(kjit_stream_callback(NULL, tell, NULL), KJIT_INVALID);
    OK(kjit_stream_default(ctx, &s));
    FAILS(kjit_stream_callback(s, NULL, NULL), KJIT_INVALID, "the function is NULL");
    assert_int_equal(kjit_event_query(NULL, &done), KJIT_INVALID);
}

/* The default streams end with their context, what uses them later among it. */
static void test_end(void **state)
{
    (void)state;
    char error[256];
    kjit_context *own;
    kjit_stream *s, *t;
    told early = {.home = pthread_self()}, later = {.home = pthread_self()};
    note first = {&early, 0}, second = {&later, 0};
    assert_int_equal(kjit_context_create(NULL, &own, error, sizeof error), KJIT_OK);
    OK(kjit_stream_create(own, &s));
    OK(kjit_stream_legacy_default(own, &t));
    OK(kjit_stream_callback(t, tell, &first));
    OK(kjit_stream_per_thread_default(own, &t));
    kjit_context_destroy(own);
    OK(kjit_stream_synchronize(s)); /* one of the program's own holds it */
    OK(kjit_stream_callback(s, tell, &second));
    OK(kjit_stream_synchronize(s));
    assert_int_equal(atomic_load(&later.n), 1);
    kjit_stream_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_legacy),
        cmocka_unit_test(test_legacy_and_all_else),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_per_thread),
        cmocka_unit_test(test_handles),
        cmocka_unit_test(test_callbacks),
        cmocka_unit_test(test_callback_alone),
        cmocka_unit_test(test_calls_within),
        cmocka_unit_test(test_graph_freed_within),
        cmocka_unit_test(test_nothing_waits),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_end),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
