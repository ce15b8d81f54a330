/* Copies of every layout between every two kinds of memory, now and in a stream: each has the
 * elements that the same copy within the host has. */
#include "api.h"

enum { ALL = 3 << 20 }; /* bytes behind each array: more than a GPU's copies take in one piece */

/* A view of memory: an offset, extents and strides, all in elements. */
typedef struct view {
    const char *name;
    int64_t offset, stride[3];
} view;

typedef struct shape {
    int ndim;
    int64_t extent[3];
    view views[6];
    int nviews;
} shape;

static const shape shapes[] = {
    {0, {0}, {{"one", 5, {0}}}, 1},
    {1, {1000}, {{"row", 0, {1}}, {"steps", 3, {7}}, {"backwards", 999, {-1}}}, 3},
    {1, {300000}, {{"row", 8, {1}}, {"steps", 0, {2}}, {"backwards", 600000, {-2}}}, 3},
    {2,
     {37, 53},
     {{"C", 0, {53, 1}},
      {"F", 0, {1, 37}},
      {"columns", 11, {200, 1}},
      {"holes", 0, {300, 3}},
      {"F backwards", 37 * 53, {-1, -37}}},
     5},
    {2, {700, 401}, {{"C", 0, {401, 1}}, {"F", 0, {1, 700}}, {"columns", 1, {402, 1}}}, 3},
    {3,
     {9, 8, 7},
     {{"C", 0, {56, 7, 1}},
      {"F", 0, {1, 9, 72}},
      {"mixed", 0, {7, 63, 1}},
      {"holes", 2, {500, 50, 2}},
      {"mirrored", 6, {56, 7, -1}}},
     5},
};

static const kjit_dtype dtypes[] = {KJIT_U8, KJIT_I16, KJIT_F32, KJIT_U8X4};

static unsigned char *host[2], *result, *expected;
static kjit_array *device[2];

static int set_up(void **state)
{
    if (make_context(state) != 0)
        return 1;
    result = malloc(ALL);
    expected = malloc(ALL);
    for (int i = 0; i < 2; i++) {
        host[i] = malloc(ALL);
        OK(kjit_array_create(ctx, KJIT_U8, 1, SHAPE(ALL), 'C', KJIT_DEVICE, &device[i]));
    }
    return 0;
}

static int tear_down(void **state)
{
    for (int i = 0; i < 2; i++) {
        kjit_array_free(device[i]);
        free(host[i]);
    }
    free(result);
    free(expected);
    return drop_context(state);
}

static kjit_array *view_of(unsigned char *memory, kjit_memory where, kjit_dtype dtype,
                           const shape *s, const view *v)
{
    kjit_array *a;
    int64_t strides[3];
    size_t size = kjit_dtype_size(dtype);
    for (int i = 0; i < s->ndim; i++)
        strides[i] = v->stride[i] * (int64_t)size;
    OK(kjit_array_wrap(ctx, memory + v->offset * (int64_t)size, dtype, s->ndim, s->extent, strides,
                       where, &a));
    return a;
}

static kjit_array *bytes_of(unsigned char *memory)
{
    return wrap(memory, KJIT_U8, 1, SHAPE(ALL));
}

static void fill(unsigned char *memory, unsigned seed)
{
    for (size_t i = 0; i < ALL; i++)
        memory[i] = (unsigned char)((seed = seed * 1664525 + 1013904223) >> 24);
}

/* From one view to the other: host[0] and device[0] have the source, host[1] and device[1] what
 * is there before. */
static void check_copy(kjit_memory to, const view *dv, kjit_memory from, const view *sv,
                       kjit_dtype dtype, const shape *s, kjit_stream *stream)
{
    static const char *const where[] = {"host", "device"};
    kjit_array *all = bytes_of(host[1]), *out = bytes_of(result);
    memcpy(expected, host[1], ALL);
    kjit_array *src = view_of(host[0], KJIT_HOST, dtype, s, sv);
    kjit_array *dst = view_of(expected, KJIT_HOST, dtype, s, dv);
    OK(kjit_copy(dst, src, NULL));
    kjit_array_free(src);
    kjit_array_free(dst);

    unsigned char *before = malloc(ALL);
    memcpy(before, host[1], ALL);
    OK(kjit_copy(device[1], all, stream));
    src = view_of(from == KJIT_HOST ? host[0] : kjit_array_data(device[0]), from, dtype, s, sv);
    dst = view_of(to == KJIT_HOST ? host[1] : kjit_array_data(device[1]), to, dtype, s, dv);
    OK(kjit_copy(dst, src, stream));
    kjit_array_free(src);
    kjit_array_free(dst);
    OK(kjit_copy(out, to == KJIT_HOST ? all : device[1], stream));
    if (stream)
        OK(kjit_stream_synchronize(stream));
    if (memcmp(result, expected, ALL) != 0)
        fail_msg("%s '%s' to %s '%s', %s, %d axes%s", where[from], sv->name, where[to], dv->name,
                 kjit_dtype_name(dtype), s->ndim, stream ? ", in a stream" : "");
    memcpy(host[1], before, ALL);
    free(before);
    kjit_array_free(all);
    kjit_array_free(out);
}

static void check_all(kjit_memory to, kjit_memory from, kjit_stream *stream)
{
    fill(host[0], 1);
    fill(host[1], 2);
    kjit_array *all = bytes_of(host[0]);
    OK(kjit_copy(device[0], all, NULL));
    kjit_array_free(all);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const shape *s = &shapes[i];
        for (int d = 0; d < s->nviews; d++) {
            for (int v = 0; v < s->nviews; v++)
                check_copy(to, &s->views[d], from, &s->views[v],
                           dtypes[(i + (size_t)d + (size_t)v) % 4], s, stream);
        }
        if (i % 2 == 1) {
            check_copy(to, &s->views[1], from, &s->views[2], KJIT_F64, s, stream);
            check_copy(to, &s->views[2], from, &s->views[1], KJIT_F32X2, s, stream);
        }
    }
}

static void test_now(void **state)
{
    (void)state;
    check_all(KJIT_DEVICE, KJIT_HOST, NULL);
    check_all(KJIT_HOST, KJIT_DEVICE, NULL);
    check_all(KJIT_DEVICE, KJIT_DEVICE, NULL);
    check_all(KJIT_HOST, KJIT_HOST, NULL);
}

static void test_in_a_stream(void **state)
{
    kjit_stream *s;
    (void)state;
    OK(kjit_stream_create(ctx, &s));
    check_all(KJIT_DEVICE, KJIT_HOST, s);
    check_all(KJIT_HOST, KJIT_DEVICE, s);
    check_all(KJIT_DEVICE, KJIT_DEVICE, s);
    check_all(KJIT_HOST, KJIT_HOST, s);
    kjit_stream_free(s);
}

/* Within one array, to either side, near and far: as memmove does it. */
static void test_overlapping(void **state)
{
    static const int64_t steps[] = {0, 1, 4, 12345, 1 << 20, -1, -3, -70000, -(1 << 20)};
    kjit_stream *s;
    (void)state;
    OK(kjit_stream_create(ctx, &s));
    fill(host[0], 3);
    kjit_array *all = bytes_of(host[0]), *out = bytes_of(result);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        kjit_stream *stream = i % 2 ? s : NULL;
        int64_t from = steps[i] < 0 ? -steps[i] : 0, n = ALL - llabs(steps[i]);
        kjit_array *src, *dst;
        OK(kjit_array_slice(device[0], SHAPE(from), SHAPE(from + n), NULL, &src));
        OK(kjit_array_slice(device[0], SHAPE(from + steps[i]), SHAPE(from + steps[i] + n), NULL,
                            &dst));
        OK(kjit_copy(device[0], all, stream));
        OK(kjit_copy(dst, src, stream));
        OK(kjit_copy(out, device[0], stream));
        if (stream)
            OK(kjit_stream_synchronize(stream));
        memcpy(expected, host[0], ALL);
        memmove(expected + from + steps[i], host[0] + from, (size_t)n);
        assert_memory_equal(result, expected, ALL);
        kjit_array_free(src);
        kjit_array_free(dst);
    }
    kjit_array_free(all);
    kjit_array_free(out);
    kjit_stream_free(s);
}

/* The same of a row that takes several pieces on the way. */
static void test_overlapping_far(void **state)
{
    enum { MANY = (16 << 20) + 300000, STEP = 100000 };
    kjit_array *a = create(KJIT_U8, 1, SHAPE(MANY), 'C'), *d, *low, *high, *back;
    char *data = kjit_array_data(a);
    (void)state;
    for (int64_t i = 0; i < MANY; i++)
        data[i] = (char)(i * 2654435761u >> 13);
    OK(kjit_to_device(a, NULL, &d));
    OK(kjit_array_slice(d, SHAPE(0), SHAPE(MANY - STEP), NULL, &low));
    OK(kjit_array_slice(d, SHAPE(STEP), SHAPE(MANY), NULL, &high));
    OK(kjit_copy(high, low, NULL));
    memmove(data + STEP, data, MANY - STEP);
    for (int way = 0; way < 2; way++) {
        OK(kjit_to_host(d, NULL, &back));
        assert_memory_equal(kjit_array_data(back), data, MANY);
        kjit_array_free(back);
        OK(kjit_copy(low, high, NULL));
        memmove(data, data + STEP, MANY - STEP);
    }
    kjit_array_free(low);
    kjit_array_free(high);
    kjit_array_free(d);
    kjit_array_free(a);
}

/* A stream reads and writes the host's memory when it gets there, not when it is asked to. */
static void test_order(void **state)
{
    enum { N = 1 << 20 };
    kjit_stream *s;
    kjit_array *a = create(KJIT_I32, 1, SHAPE(N), 'C'), *b = create(KJIT_I32, 1, SHAPE(N), 'C'), *d;
    kjit_module *mod =
        module("kernel add(x: i32[]) { let i = grid(1); if i < x.size { x[i] += 1 } }");
    (void)state;
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', KJIT_DEVICE, &d));
    int32_t *data = kjit_array_data(a);
    for (int i = 0; i < N; i++)
        data[i] = i;
    for (int k = 0; k < 3; k++) { /* a goes to the device, comes back one more, and goes again */
        OK(kjit_copy(d, a, s));
        OK(kjit_launch_forall(mod, "add", N, s, (kjit_arg[]){kjit_arg_array(d)}, 1));
        OK(kjit_copy(b, d, s));
        OK(kjit_copy(a, b, s));
    }
    OK(kjit_stream_synchronize(s));
    for (int i = 0; i < N; i++)
        assert_int_equal(data[i], i + 3);
    kjit_array_free(a);
    kjit_array_free(b);
    kjit_array_free(d);
    kjit_module_free(mod);
    kjit_stream_free(s);
}

/* Much more is queued than is copied at once, and every handle is freed right away. */
static void test_many(void **state)
{
    enum { STREAMS = 5, COPIES = 40 };
    kjit_stream *s[STREAMS];
    (void)state;
    fill(host[0], 4);
    for (int i = 0; i < STREAMS; i++)
        OK(kjit_stream_create(ctx, &s[i]));
    for (int k = 0; k < COPIES; k++) {
        kjit_array *from = bytes_of(host[0]), *to;
        OK(kjit_to_device(from, s[k % STREAMS], &to));
        kjit_array_free(from);
        kjit_array_free(to);
    }
    for (int i = 0; i < STREAMS; i++)
        kjit_stream_free(s[i]);
    OK(kjit_synchronize(ctx));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_now),         cmocka_unit_test(test_in_a_stream),
        cmocka_unit_test(test_overlapping), cmocka_unit_test(test_overlapping_far),
        cmocka_unit_test(test_order),       cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
