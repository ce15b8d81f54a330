/* Memory that something else owns: its deleter is called once, after everything that used it. The
 * device memory of a GPU is the driver's own, allocated beside kjit. */
#include "api.h"

#include <stdatomic.h>

#include "driver.h"

typedef struct owner {
    void *memory;
    atomic_int deleted;
} owner;

static int call(const char *name, size_t first, size_t second)
{
    int (*function)(size_t, size_t);
    *(void **)&function = driver_symbol(name);
    return function(first, second);
}

/* On the device's primary context, which kjit uses too. */
static void call_in_context(const char *name, size_t first, size_t second)
{
    void *context;
    assert_int_equal(call("cuDevicePrimaryCtxRetain", (size_t)&context, 0), 0);
    assert_int_equal(call("cuCtxPushCurrent_v2", (size_t)context, 0), 0);
    assert_int_equal(call(name, first, second), 0);
    assert_int_equal(call("cuCtxPopCurrent_v2", (size_t)&context, 0), 0);
    assert_int_equal(call("cuDevicePrimaryCtxRelease_v2", 0, 0), 0);
}

static owner *new_owner(size_t size, kjit_memory memory)
{
    owner *o = calloc(1, sizeof *o);
    if (memory == KJIT_DEVICE && driver)
        call_in_context("cuMemAlloc_v2", (size_t)&o->memory, size);
    else
        o->memory = malloc(size);
    assert_non_null(o->memory);
    return o;
}

static void delete_host(void *data)
{
    owner *o = data;
    free(o->memory);
    atomic_fetch_add(&o->deleted, 1);
}

static void delete_device(void *data)
{
    owner *o = data;
    if (!driver) {
        delete_host(data);
        return;
    }
    call_in_context("cuMemFree_v2", (size_t)o->memory, 0);
    atomic_fetch_add(&o->deleted, 1);
}

static void (*deleter_of(kjit_memory memory))(void *)
{
    return memory == KJIT_DEVICE ? delete_device : delete_host;
}

static kjit_array *wrap_owner(owner *o, int64_t n, kjit_memory memory)
{
    kjit_array *a;
    OK(kjit_array_wrap_owned(ctx, o->memory, KJIT_I32, 1, &n, NULL, memory, o, deleter_of(memory),
                             &a));
    return a;
}

/* Arrays and views hold it, in whatever order they go. */
static void check_views(kjit_memory memory)
{
    owner *o = new_owner(400, memory);
    kjit_array *a = wrap_owner(o, 100, memory), *square, *row;
    int32_t value;
    assert_ptr_equal(kjit_array_data(a), o->memory);
    assert_int_equal(kjit_array_memory(a), memory);
    OK(kjit_array_reshape(a, 2, SHAPE(10, -1), 'C', &square));
    OK(kjit_array_at(square, 0, 9, &row));
    kjit_array_free(a);
    kjit_array_free(square);
    OK(kjit_array_set(row, SHAPE(9), &(int32_t){12}));
    OK(kjit_array_get(row, SHAPE(9), &value));
    assert_int_equal(value, 12);
    assert_int_equal(o->deleted, 0);
    kjit_array_free(row);
    assert_int_equal(o->deleted, 1);
    free(o);
}

/* So does queued work: the array is freed while a stream has yet to fill it and to read it. */
static void check_queued(kjit_memory memory)
{
    enum { N = 300000 };
    kjit_stream *s;
    kjit_array *copy;
    kjit_module *mod = module("kernel f(x: i32[]) { let i = grid(1)\n"
                              "  if i < x.size { for k in range(50) { x[i] = x[i] // 2 + k } } }\n"
                              "kernel fill(x: i32[]) { let i = grid(1); if i < x.size { x[i] = 0 } "
                              "}");
    OK(kjit_stream_create(ctx, &s));
    owner *o = new_owner(4 * N, memory);
    kjit_array *a = wrap_owner(o, N, memory);
    OK(kjit_launch_forall(mod, "fill", N, s, (kjit_arg[]){kjit_arg_array(a)}, 1));
    OK(kjit_launch_forall(mod, "f", N, s, (kjit_arg[]){kjit_arg_array(a)}, 1));
    OK(kjit_to_host(a, s, &copy));
    kjit_array_free(a);
    OK(kjit_stream_synchronize(s));
    assert_int_equal(((int32_t *)kjit_array_data(copy))[N - 1], 96);
    kjit_array_free(copy);
    OK(kjit_synchronize(ctx));
    assert_int_equal(o->deleted, 1);
    free(o);
    kjit_stream_free(s);
    kjit_module_free(mod);
}

static void test_owned(void **state)
{
    (void)state;
    check_views(KJIT_HOST);
    check_views(KJIT_DEVICE);
    check_queued(KJIT_HOST);
    check_queued(KJIT_DEVICE);
}

/* The context may be gone first. */
static void test_after_the_context(void **state)
{
    (void)state;
    kjit_context *own;
    kjit_array *a, *v;
    owner *o = new_owner(40, KJIT_HOST);
    assert_int_equal(kjit_context_create(NULL, &own, NULL, 0), KJIT_OK);
    assert_int_equal(kjit_array_wrap_owned(own, o->memory, KJIT_I32, 1, SHAPE(10), NULL, KJIT_HOST,
                                           o, delete_host, &a),
                     KJIT_OK);
    assert_int_equal(kjit_array_slice(a, NULL, NULL, NULL, &v), KJIT_OK);
    kjit_array_free(a);
    kjit_context_destroy(own);
    assert_int_equal(o->deleted, 0);
    kjit_array_free(v);
    assert_int_equal(o->deleted, 1);
    free(o);
}

/* A call that fails leaves the memory to its owner. */
static void test_refused(void **state)
{
    (void)state;
    owner o = {NULL, 0};
    kjit_array *a;
    char byte;
#define WRAP(data, dtype, shape, strides, memory) \
    kjit_array_wrap_owned(ctx, data, dtype, 1, shape, strides, memory, &o, delete_host, &a)
    FAILS(WRAP(NULL, KJIT_I32, SHAPE(1), NULL, KJIT_HOST), KJIT_INVALID, "data is NULL");
    FAILS(WRAP(&byte, (kjit_dtype)99, SHAPE(1), NULL, KJIT_HOST), KJIT_TYPE, "99");
    FAILS(WRAP(&byte, KJIT_I32, NULL, NULL, KJIT_HOST), KJIT_INVALID, "shape is NULL");
    FAILS(WRAP(&byte, KJIT_I32, SHAPE(-1), NULL, KJIT_HOST), KJIT_SHAPE, "negative");
    FAILS(WRAP(&byte, KJIT_I32, SHAPE(INT64_MAX), NULL, KJIT_HOST), KJIT_NO_MEMORY, "address");
    FAILS(WRAP(&byte, KJIT_I32, SHAPE(3), SHAPE(INT64_MAX), KJIT_HOST), KJIT_SHAPE, "strides");
    FAILS(WRAP(&byte, KJIT_I32, SHAPE(1), NULL, (kjit_memory)77), KJIT_INVALID, "77");
    assert_null(a);
    FAILS(kjit_array_wrap_owned(ctx, &byte, KJIT_U8, 1, SHAPE(1), NULL, KJIT_HOST, &o, delete_host,
                                NULL),
          KJIT_INVALID, "out is NULL");
    assert_int_equal(kjit_array_wrap_owned(NULL, &byte, KJIT_U8, 1, SHAPE(1), NULL, KJIT_HOST, &o,
                                           delete_host, &a),
                     KJIT_INVALID);
    assert_int_equal(o.deleted, 0);
    OK(kjit_array_wrap_owned(ctx, &byte, KJIT_U8, 1, SHAPE(1), NULL, KJIT_HOST, NULL, NULL, &a));
    kjit_array_free(a);
    OK(kjit_array_wrap_owned(ctx, NULL, KJIT_U8, 1, SHAPE(0), NULL, KJIT_HOST, &o, delete_host,
                             &a)); /* nothing to own is owned all the same */
    kjit_array_free(a);
    assert_int_equal(o.deleted, 1);
}

/* A forked child leaves it alone. */
static void test_fork(void **state)
{
    (void)state;
    int status;
    owner *o = new_owner(40, KJIT_HOST);
    static kjit_array *a; /* where leak checkers see it: the child cannot free it */
    a = wrap_owner(o, 10, KJIT_HOST);
    pid_t child = fork();
    if (child == 0) {
        kjit_array_free(a);
        _exit(o->deleted);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    kjit_array_free(a);
    assert_int_equal(o->deleted, 1);
    free(o);
}

static int set_up(void **state)
{
    int failed = make_context(state);
    if (!failed)
        driver_of_context();
    return failed;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_owned),
        cmocka_unit_test(test_after_the_context),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_fork),
    };
    return cmocka_run_group_tests(tests, set_up, drop_context);
}
