/* A device that leaves out all that a device may: kernels, copies, streams, events and graphs work
 * as ever, and what it lacks is refused. It takes the place of core/devices.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "device/device.h"

#define OK(call) assert_int_equal(call, KJIT_OK)
#define LACKS(call, text) \
    do { \
        assert_int_equal(call, KJIT_NO_DEVICE); \
        assert_non_null(strstr(kjit_last_error(ctx), text)); \
    } while (0)

enum { N = 600 };

extern const kj_device_ops kj_cpu_device;
static kj_device_ops bare;
static kjit_context *ctx;
static kjit_stream *stream;
static kjit_array *x;

const kj_device_ops *kj_device_kind(int i)
{
    return i == 0 ? &bare : NULL;
}

static int set_up(void **state)
{
    (void)state;
    bare = kj_cpu_device;
    bare.kind = "bare";
    bare.attribute = NULL;
    bare.peer = NULL;
    bare.memory = NULL;
    bare.graphs = NULL;
    bare.code = NULL;
    bare.driver = NULL;
    OK(kjit_context_create(NULL, &ctx, NULL, 0));
    OK(kjit_stream_create(ctx, &stream));
    OK(kjit_array_create(ctx, KJIT_I32, 1, (int64_t[]){N}, 'C', KJIT_DEVICE, &x));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    kjit_array_free(x);
    kjit_stream_free(stream);
    kjit_context_destroy(ctx);
    return 0;
}

static void expect(int32_t value)
{
    for (int64_t i = 0; i < N; i++) {
        int32_t element;
        OK(kjit_array_get(x, &i, &element));
        assert_int_equal(element, value);
    }
}

static void works(void **state)
{
    (void)state;
    static const char text[] = "kernel add(x: i32[]) { if grid(1) < x.size { x[grid(1)] += 1 } }";
    const kjit_config config = {.grid = {3}, .block = {256}, .stream = stream};
    const kjit_arg arg = kjit_arg_array(x);
    const int32_t none = 0;
    kjit_module *mod;
    kjit_graph *graph;
    kjit_event *before, *after;
    double ms;
    OK(kjit_array_fill(x, &none, NULL));
    OK(kjit_module_compile(ctx, "add.knl", text, strlen(text), NULL, &mod));
    OK(kjit_event_create(ctx, 1, &before));
    OK(kjit_event_create(ctx, 1, &after));
    OK(kjit_event_record(before, stream));
    OK(kjit_launch(mod, "add", &config, &arg, 1));
    OK(kjit_event_record(after, stream));
    OK(kjit_event_synchronize(after));
    OK(kjit_event_elapsed(before, after, &ms));
    expect(1);
    OK(kjit_graph_begin(stream));
    OK(kjit_launch(mod, "add", &config, &arg, 1));
    OK(kjit_launch(mod, "add", &config, &arg, 1));
    OK(kjit_graph_end(stream, &graph));
    for (int i = 0; i < 10; i++)
        OK(kjit_graph_launch(graph, i % 2 ? stream : NULL));
    OK(kjit_stream_synchronize(stream));
    expect(21);
    kjit_graph_free(graph);
    kjit_event_free(before);
    kjit_event_free(after);
    kjit_module_free(mod);
}

static void other_context(void **state)
{
    (void)state;
    kjit_context *other;
    kjit_array *y;
    const int32_t seven = 7;
    int can = 1;
    OK(kjit_context_create(NULL, &other, NULL, 0));
    OK(kjit_can_access_peer(ctx, other, &can));
    assert_false(can);
    OK(kjit_array_create(other, KJIT_I32, 1, (int64_t[]){N}, 'C', KJIT_DEVICE, &y));
    OK(kjit_array_fill(y, &seven, NULL));
    OK(kjit_copy(x, y, NULL));
    expect(7);
    kjit_array_free(y);
    kjit_context_destroy(other);
}

static void lacks(void **state)
{
    (void)state;
    const kjit_array_options shareable = {.memory = KJIT_DEVICE, .shareable = 1};
    kjit_ipc_handle handle;
    kjit_memory_info memory;
    static int32_t mine[N];
    int64_t value;
    kjit_array *shared, *host, *pinned;
    OK(kjit_context_memory(ctx, &memory));
    OK(kjit_memory_trim(ctx, 0));
    LACKS(kjit_device_attribute(ctx, KJIT_ATTRIBUTE_WARP_SIZE, &value), "'bare' has no");
    OK(kjit_array_create_with(ctx, KJIT_I32, 1, (int64_t[]){N}, &shareable, &shared));
    LACKS(kjit_array_ipc_handle(shared, &handle), "no memory but its own");
    kjit_array_free(shared);
    OK(kjit_array_wrap(ctx, mine, KJIT_I32, 1, (int64_t[]){N}, NULL, KJIT_HOST, &host));
    LACKS(kjit_array_register(host, NULL, &pinned), "no memory but its own");
    kjit_array_free(host);
    assert_null(kjit_stream_handle(stream));
    assert_null(kjit_device_absent("bare"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(works),
        cmocka_unit_test(other_context),
        cmocka_unit_test(lacks),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
