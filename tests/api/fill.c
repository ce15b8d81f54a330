/* kjit_array_fill: every kind of memory, layout and type, now, in streams and in graphs. */
#include "api.h"

enum { N = 1000 };

static kjit_stream *stream;

static int set_up(void **state)
{
    if (make_context(state) != 0)
        return 1;
    OK(kjit_stream_create(ctx, &stream));
    return 0;
}

static int tear_down(void **state)
{
    kjit_stream_free(stream);
    return drop_context(state);
}

static void expect(kjit_array *a, int64_t from, int64_t to, int64_t step, int32_t value)
{
    for (int64_t i = from; i < to; i += step) {
        int32_t got;
        OK(kjit_array_get(a, &i, &got));
        if (got != value)
            fail_msg("element %lld is %d, not %d", (long long)i, got, value);
    }
}

static void test_memories(void **state)
{
    (void)state;
    static const kjit_memory memories[] = {KJIT_HOST, KJIT_DEVICE, KJIT_PINNED, KJIT_MAPPED,
                                           KJIT_MANAGED};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++) {
        kjit_array *a;
        int32_t value = 7;
        OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', memories[i], &a));
        OK(kjit_array_fill(a, &value, NULL));
        expect(a, 0, N, 7, 7);
        value = -3;
        OK(kjit_array_fill(a, &value, stream));
        value = 5; /* the call has copied it */
        OK(kjit_stream_synchronize(stream));
        expect(a, 0, N, 7, -3);
        OK(kjit_array_fill(a, &value, stream));
        kjit_array_free(a); /* the queued work holds the memory */
        OK(kjit_stream_synchronize(stream));
    }
}

static void test_views(void **state)
{
    (void)state;
    static const kjit_memory memories[] = {KJIT_HOST, KJIT_DEVICE};
    for (int i = 0; i < 2; i++) {
        kjit_array *a, *odd, *plane, *row, *point, *none;
        int32_t value;
        OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', memories[i], &a));
        OK(kjit_array_fill(a, &(int32_t){1}, NULL));
        OK(kjit_array_slice(a, SHAPE(N - 1), SHAPE(-1), SHAPE(-2), &odd));
        OK(kjit_array_fill(odd, &(int32_t){2}, NULL));
        expect(a, 0, N, 2, 1);
        expect(a, 1, N, 2, 2);
        OK(kjit_array_reshape(a, 2, SHAPE(10, 100), 'F', &plane));
        OK(kjit_array_at(plane, 0, 4, &row));
        OK(kjit_array_fill(row, &(int32_t){3}, NULL));
        expect(a, 4, N, 10, 3);
        expect(a, 5, N, 10, 2);
        OK(kjit_array_at(row, 0, 0, &point));
        OK(kjit_array_fill(point, &(int32_t){4}, NULL));
        OK(kjit_array_get(point, NULL, &value));
        assert_int_equal(value, 4);
        OK(kjit_array_slice(a, SHAPE(3), SHAPE(3), NULL, &none));
        OK(kjit_array_fill(none, &(int32_t){5}, stream));
        kjit_array *const all[] = {a, odd, plane, row, point, none};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            kjit_array_free(all[k]);
    }
}

static void test_types(void **state)
{
    (void)state;
    typedef struct cell {
        double d;
        unsigned char b;
    } cell;
    kjit_module *mod = module("record Cell { d: f64\n b: u8 }\n"
                              "kernel k(x: Cell[]) { x[0].b += 1 }\n");
    kjit_dtype type;
    OK(kjit_module_record(mod, "Cell", &type));
    for (int i = 0; i < 2; i++) {
        kjit_memory memory = i ? KJIT_DEVICE : KJIT_HOST;
        kjit_array *cells, *vectors, *bytes;
        cell c;
        float v[4] = {0};
        unsigned char b = 0;
        OK(kjit_array_create(ctx, type, 2, SHAPE(3, 5), 'F', memory, &cells));
        memset(&c, 0, sizeof c);
        c.d = 2.5;
        c.b = 9;
        OK(kjit_array_fill(cells, &c, NULL));
        memset(&c, 0, sizeof c);
        OK(kjit_array_get(cells, SHAPE(2, 4), &c));
        assert_true(c.d == 2.5 && c.b == 9);
        OK(kjit_array_create(ctx, KJIT_F32X4, 1, SHAPE(9), 'C', memory, &vectors));
        OK(kjit_array_fill(vectors, (float[]){1, 2, 3, 4}, NULL));
        OK(kjit_array_get(vectors, SHAPE(8), v));
        assert_true(v[0] == 1 && v[1] == 2 && v[2] == 3 && v[3] == 4);
        OK(kjit_array_create(ctx, KJIT_U8, 1, SHAPE(N), 'C', memory, &bytes));
        OK(kjit_array_fill(bytes, &(unsigned char){200}, NULL));
        OK(kjit_array_get(bytes, SHAPE(N - 1), &b));
        assert_int_equal(b, 200);
        kjit_array_free(cells);
        kjit_array_free(vectors);
        kjit_array_free(bytes);
    }
    kjit_module_free(mod);
}

static void test_graph(void **state)
{
    (void)state;
    static const kjit_memory memories[] = {KJIT_HOST, KJIT_DEVICE, KJIT_PINNED};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++) {
        kjit_array *a;
        kjit_graph *graph;
        int32_t value = 6;
        OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', memories[i], &a));
        OK(kjit_array_fill(a, &(int32_t){1}, NULL));
        OK(kjit_graph_begin(stream));
        OK(kjit_array_fill(a, &value, stream));
        OK(kjit_graph_end(stream, &graph));
        value = 0;
        expect(a, 0, N, 99, 1); /* recorded, not run */
        for (int k = 0; k < 2; k++) {
            OK(kjit_array_fill(a, &(int32_t){1}, stream));
            OK(kjit_graph_launch(graph, stream));
            OK(kjit_stream_synchronize(stream));
            expect(a, 0, N, 99, 6);
        }
        kjit_graph_free(graph);
        kjit_array_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memories),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_graph),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
