/* Copies between contexts: every two devices, every layout, now and in a stream of either. With the
 * driver double there are two GPUs. */
#include "api.h"
#include <pthread.h>
#include <stdatomic.h>

enum { ROWS = 19, COLUMNS = 23, COUNT = ROWS * COLUMNS, ROOM = 4 * COUNT, MOST = 6 };

static kjit_context *all[MOST];
static const char *names[MOST];
static int count;

static void add(const char *device)
{
    const kjit_context_options options = {.device = device, .cache = "off"};
    if (kjit_context_create(&options, &all[count], NULL, 0) == KJIT_OK)
        names[count++] = device;
}

/* Two of each device: contexts of one GPU are others, too. */
static int open_all(void **state)
{
    (void)state;
    setenv("KJIT_DOUBLE_DEVICES", "2", 1);
    add("cpu");
    add("cpu");
    add("cuda:0");
    add("cuda:0");
    add("cuda:1");
    ctx = all[0];
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    while (count > 0)
        kjit_context_destroy(all[--count]);
    return 0;
}

static bool is_cpu(int i)
{
    return strcmp(names[i], "cpu") == 0;
}

/* Of the array in a context: its memory and how its elements lie there. */
typedef struct layout {
    const char *name;
    kjit_memory memory;
    int64_t offset, strides[2]; /* elements */
} layout;

static const layout layouts[] = {
    {"C", KJIT_DEVICE, 0, {COLUMNS, 1}},
    {"F", KJIT_DEVICE, 0, {1, ROWS}},
    {"holes", KJIT_DEVICE, 3, {2 * COLUMNS, 2}},
    {"mirrored", KJIT_DEVICE, COUNT - 1, {-COLUMNS, -1}},
    {"host", KJIT_HOST, 0, {COLUMNS, 1}},
    {"host holes", KJIT_HOST, 1, {3 * COLUMNS, 3}},
    {"pinned", KJIT_PINNED, 0, {COLUMNS, 1}},
    {"mapped holes", KJIT_MAPPED, 0, {2 * COLUMNS, 2}},
    {"managed", KJIT_MANAGED, 0, {COLUMNS, 1}},
    {"managed holes", KJIT_MANAGED, 5, {2 * COLUMNS, 2}},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* ROWS x COLUMNS floats in ROOM of them, all -1 but for the elements: their number plus `first`. */
static kjit_array *make(int of, const layout *l, float first, kjit_array **whole)
{
    static float values[ROOM];
    kjit_array *wrapped, *made;
    const int64_t shape[2] = {ROWS, COLUMNS};
    int64_t strides[2] = {4 * l->strides[0], 4 * l->strides[1]};
    for (int i = 0; i < ROOM; i++)
        values[i] = -1;
    for (int i = 0; i < COUNT; i++)
        values[l->offset + i / COLUMNS * l->strides[0] + i % COLUMNS * l->strides[1]] =
            first + (float)i;
    ctx = all[of];
    OK(kjit_array_create(ctx, KJIT_F32, 1, SHAPE(ROOM), 'C', l->memory, whole));
    wrapped = wrap(values, KJIT_F32, 1, SHAPE(ROOM));
    OK(kjit_copy(*whole, wrapped, NULL));
    kjit_array_free(wrapped);
    char *data = kjit_array_data(*whole);
    OK(kjit_array_wrap(ctx, data + 4 * l->offset, KJIT_F32, 2, shape, strides, l->memory, &made));
    return made;
}

/* The elements are numbered from `first` on, and around them all is as it was. */
static void check(kjit_array *whole, int of, const layout *l, float first, const char *what)
{
    kjit_array *host;
    float expected[ROOM];
    ctx = all[of];
    OK(kjit_to_host(whole, NULL, &host));
    const float *values = kjit_array_data(host);
    for (int i = 0; i < ROOM; i++)
        expected[i] = -1;
    for (int i = 0; i < COUNT; i++)
        expected[l->offset + i / COLUMNS * l->strides[0] + i % COLUMNS * l->strides[1]] =
            first + (float)i;
    if (memcmp(values, expected, sizeof expected) != 0)
        fail_msg("%s, to %s of %s", what, l->name, names[of]);
    kjit_array_free(host);
}

static void one_copy(int to, const layout *dst, int from, const layout *src, int in)
{
    kjit_array *whole_dst, *whole_src;
    kjit_stream *stream = NULL;
    char what[200];
    snprintf(what, sizeof what, "from %s of %s, stream of %s", src->name, names[from],
             in < 0 ? "none" : names[in]);
    kjit_array *d = make(to, dst, 1000, &whole_dst), *s = make(from, src, 7, &whole_src);
    if (in >= 0) {
        ctx = all[in];
        OK(kjit_stream_create(ctx, &stream));
    }
    ctx = all[to];
    OK(kjit_copy(d, s, stream));
    kjit_array_free(s); /* queued work keeps it */
    kjit_array_free(d);
    if (stream) {
        ctx = all[in];
        OK(kjit_stream_synchronize(stream));
        kjit_stream_free(stream);
    }
    check(whole_dst, to, dst, 7, what);
    kjit_array_free(whole_dst);
    kjit_array_free(whole_src);
}

static void every_two(void **state)
{
    (void)state;
    for (int i = 0; i < count * count; i++) {
        int to = i / count, from = i % count;
        for (int k = 0; k < LAYOUTS * LAYOUTS && to != from; k++) {
            const layout *dst = &layouts[k / LAYOUTS], *src = &layouts[k % LAYOUTS];
            one_copy(to, dst, from, src, -1);
            if (is_cpu(to) == is_cpu(from) || !is_cpu(to))
                one_copy(to, dst, from, src, to);
            if (is_cpu(to) == is_cpu(from) || !is_cpu(from))
                one_copy(to, dst, from, src, from);
        }
    }
}

/* A copy without a stream comes after what is queued in both contexts. */
static void after_both(void **state)
{
    static const char source[] = "kernel fill(x: f32[], v: f32) {\n"
                                 "    var s = v\n"
                                 "    for i in range(20000) {\n"
                                 "        s = s * 0.5 + v * 0.5\n"
                                 "    }\n"
                                 "    if grid(1) < x.size { x[grid(1)] = s }\n"
                                 "}\n";
    (void)state;
    for (int i = 0; i < count * count; i++) {
        int sides[2] = {i / count, i % count};
        kjit_array *arrays[2];
        kjit_stream *streams[2];
        kjit_module *modules[2];
        if (sides[0] == sides[1])
            continue;
        for (int k = 0; k < 2; k++) {
            ctx = all[sides[k]];
            modules[k] = module(source);
            OK(kjit_stream_create(ctx, &streams[k]));
            OK(kjit_array_create(ctx, KJIT_F32, 1, SHAPE(64), 'C', KJIT_DEVICE, &arrays[k]));
            OK(kjit_launch(modules[k], "fill",
                           &(kjit_config){.grid = {1}, .block = {64}, .stream = streams[k]},
                           (kjit_arg[]){kjit_arg_array(arrays[k]), kjit_arg_f64(k + 1)}, 2));
        }
        ctx = all[sides[0]];
        OK(kjit_copy(arrays[0], arrays[1], NULL));
        kjit_array *host;
        OK(kjit_to_host(arrays[0], NULL, &host));
        for (int e = 0; e < 64; e++)
            assert_true(((float *)kjit_array_data(host))[e] == 2);
        kjit_array_free(host);
        for (int k = 0; k < 2; k++) {
            kjit_stream_free(streams[k]);
            kjit_array_free(arrays[k]);
            kjit_module_free(modules[k]);
        }
    }
}

/* Another thread's default stream is refused, whichever way the copy would go. */
typedef struct attempt {
    kjit_array *dst, *src;
    kjit_stream *stream;
    kjit_status status;
} attempt;

static void *try_copy(void *data)
{
    attempt *t = data;
    t->status = kjit_copy(t->dst, t->src, t->stream);
    return NULL;
}

static void of_another_thread(void **state)
{
    (void)state;
    for (int k = 0; k < LAYOUTS; k++) {
        pthread_t thread;
        kjit_array *whole[2];
        int to = count - 1, from = is_cpu(to) ? 0 : count - 2;
        attempt t = {.dst = make(to, &layouts[k], 0, &whole[0])};
        t.src = make(from, &layouts[k], 0, &whole[1]);
        ctx = all[to];
        OK(kjit_stream_per_thread_default(ctx, &t.stream));
        assert_int_equal(pthread_create(&thread, NULL, try_copy, &t), 0);
        pthread_join(thread, NULL);
        assert_int_equal(t.status, KJIT_INVALID);
        OK(kjit_copy(t.dst, t.src, t.stream));
        OK(kjit_stream_synchronize(t.stream));
        kjit_array_free(t.dst);
        kjit_array_free(t.src);
        kjit_array_free(whole[0]);
        kjit_array_free(whole[1]);
    }
}

/* A graph keeps the copy, and does it anew at each launch. */
static void recorded(void **state)
{
    (void)state;
    for (int i = 0; i < count * count; i++) {
        kjit_array *arrays[2];
        kjit_stream *stream;
        kjit_graph *graph;
        int to = i / count, from = i % count;
        if (to == from || is_cpu(to) != is_cpu(from))
            continue;
        for (int k = 0; k < 2; k++)
            OK(kjit_array_create(all[k ? from : to], KJIT_F32, 1, SHAPE(5), 'C', KJIT_DEVICE,
                                 &arrays[k]));
        ctx = all[to];
        OK(kjit_array_set(arrays[0], SHAPE(0), &(float){1}));
        OK(kjit_stream_create(ctx, &stream));
        OK(kjit_graph_begin(stream));
        OK(kjit_copy(arrays[0], arrays[1], stream));
        OK(kjit_graph_end(stream, &graph));
        for (int k = 2; k < 4; k++) {
            float value = (float)k;
            ctx = all[from];
            OK(kjit_array_set(arrays[1], SHAPE(0), &value));
            ctx = all[to];
            OK(kjit_array_get(arrays[0], SHAPE(0), &value));
            assert_true(value == (float)(k - 1));
            OK(kjit_graph_launch(graph, stream));
            OK(kjit_stream_synchronize(stream));
        }
        kjit_graph_free(graph);
        kjit_stream_free(stream);
        kjit_array_free(arrays[0]);
        kjit_array_free(arrays[1]);
    }
}

/* Of the same host memory. */
static void overlapping(void **state)
{
    (void)state;
    float values[100];
    kjit_array *d, *s;
    for (int i = 0; i < 100; i++)
        values[i] = (float)i;
    ctx = all[0];
    d = wrap(values + 1, KJIT_F32, 1, SHAPE(99));
    ctx = all[count - 1];
    s = wrap(values, KJIT_F32, 1, SHAPE(99));
    ctx = all[0];
    OK(kjit_copy(d, s, NULL));
    for (int i = 1; i < 100; i++)
        assert_true(values[i] == (float)(i - 1));
    kjit_array_free(d);
    kjit_array_free(s);
}

/* Records are compared by their fields: their numbers are each context's own. */
static void records(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "record A { x: f32\n y: i32 }\nrecord P { i: i32\n f: f32 }\n",
        "record P { i: i32\n f: f32 }\n"};
    kjit_array *arrays[2], *other;
    kjit_module *modules[2];
    kjit_dtype types[2], a;
    for (int k = 0; k < 2; k++) {
        ctx = all[k];
        modules[k] = module(sources[k]);
        OK(kjit_module_record(modules[k], "P", &types[k]));
        OK(kjit_array_create(ctx, types[k], 1, SHAPE(10), 'C', KJIT_DEVICE, &arrays[k]));
    }
    ctx = all[0];
    OK(kjit_module_record(modules[0], "A", &a));
    OK(kjit_array_create(ctx, a, 1, SHAPE(10), 'C', KJIT_DEVICE, &other));
    memset(kjit_array_data(arrays[1]), 5, 80);
    OK(kjit_copy(arrays[0], arrays[1], NULL));
    assert_memory_equal(kjit_array_data(arrays[0]), kjit_array_data(arrays[1]), 80);
    FAILS(kjit_copy(other, arrays[1], NULL), KJIT_TYPE, "the element types differ: ");
    kjit_array_free(other);
    for (int k = 0; k < 2; k++) {
        kjit_array_free(arrays[k]);
        kjit_module_free(modules[k]);
    }
}

static void who_reaches(void **state)
{
    (void)state;
    for (int i = 0; i < count * count; i++) {
        int can = -1;
        ctx = all[i / count];
        OK(kjit_can_access_peer(ctx, all[i % count], &can));
        bool connected =
            !getenv("KJIT_DOUBLE_PEERS") || strcmp(names[i / count], names[i % count]) == 0;
        assert_int_equal(can, is_cpu(i / count) == is_cpu(i % count) && connected);
    }
}

static void mistakes(void **state)
{
    (void)state;
    int can;
    kjit_array *a, *b, *c;
    kjit_stream *foreign;
    ctx = all[0];
    OK(kjit_array_create(all[0], KJIT_F32, 1, SHAPE(4), 'C', KJIT_DEVICE, &a));
    OK(kjit_array_create(all[count - 1], KJIT_F32, 1, SHAPE(5), 'C', KJIT_DEVICE, &b));
    OK(kjit_array_create(all[count - 1], KJIT_I32, 1, SHAPE(4), 'C', KJIT_DEVICE, &c));
    FAILS(kjit_copy(a, b, NULL), KJIT_SHAPE, "a copy from shape (5,) to (4,)");
    FAILS(kjit_copy(a, c, NULL), KJIT_TYPE, "a copy from i32 to f32");
    FAILS(kjit_can_access_peer(ctx, NULL, &can), KJIT_INVALID, "other is NULL");
    FAILS(kjit_can_access_peer(ctx, ctx, NULL), KJIT_INVALID, "can is NULL");
    assert_int_equal(kjit_can_access_peer(NULL, ctx, &can), KJIT_INVALID);
    if (count > 2) {
        OK(kjit_stream_create(all[0], &foreign));
        FAILS(kjit_copy(a, c, foreign), KJIT_INVALID, "takes a stream of the GPU's context");
        kjit_stream_free(foreign);
        OK(kjit_stream_create(all[2], &foreign));
        FAILS(kjit_copy(a, c, foreign), KJIT_INVALID, "belongs to neither array's context");
        kjit_stream_free(foreign);
    }
    kjit_array_free(a);
    kjit_array_free(b);
    kjit_array_free(c);
}

static kjit_status end_context(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
    return KJIT_OK;
}

static void wait_at(kjit_stream *s, kjit_status status, void *gate)
{
    (void)s, (void)status;
    while (!atomic_load((atomic_bool *)gate))
        usleep(100);
}

/* A copy in another context's stream may be the last that holds a context. */
static void outlived(void **state)
{
    (void)state;
    for (int i = 0; i < count; i++) {
        atomic_int ended = 0;
        atomic_bool open = false;
        kjit_stream *s;
        kjit_array *to, *from;
        kjit_context *other;
        const kjit_allocator allocator = {
            .version = KJIT_ALLOCATOR_VERSION, .user = &ended, .reset = end_context};
        const kjit_context_options options = {
            .device = names[i], .cache = "off", .allocator = &allocator};
        ctx = all[i];
        OK(kjit_context_create(&options, &other, NULL, 0));
        OK(kjit_array_create(ctx, KJIT_F32, 1, SHAPE(64), 'C', KJIT_DEVICE, &to));
        OK(kjit_array_create(other, KJIT_F32, 1, SHAPE(64), 'C', KJIT_DEVICE, &from));
        OK(kjit_stream_create(ctx, &s));
        OK(kjit_stream_callback(s, wait_at, &open));
        OK(kjit_copy(to, from, s));
        kjit_array_free(from);
        kjit_context_destroy(other);
        assert_int_equal(ended, 0);
        atomic_store(&open, true);
        OK(kjit_stream_synchronize(s));
        assert_int_equal(ended, 1);
        kjit_stream_free(s);
        kjit_array_free(to);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_two),   cmocka_unit_test(after_both),
        cmocka_unit_test(overlapping), cmocka_unit_test(of_another_thread),
        cmocka_unit_test(recorded),    cmocka_unit_test(records),
        cmocka_unit_test(who_reaches), cmocka_unit_test(mistakes),
        cmocka_unit_test(outlived),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
