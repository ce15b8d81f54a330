/* Arrays: making, wrapping, views, copies of any layout, lifetimes, sizes that cannot be. */
#include "api.h"

#include <sys/wait.h>

static void test_create(void **state)
{
    (void)state;
    kjit_array *a = create(KJIT_F64, 3, SHAPE(2, 3, 4), 'C');
    assert_int_equal(kjit_array_ndim(a), 3);
    assert_int_equal(kjit_array_size(a), 24);
    assert_int_equal(kjit_array_dtype(a), KJIT_F64);
    assert_int_equal(kjit_array_memory(a), KJIT_HOST);
    assert_memory_equal(kjit_array_strides(a), SHAPE(96, 32, 8), 3 * sizeof(int64_t));
    assert_int_equal((uintptr_t)kjit_array_data(a) % 64, 0);
    kjit_array_free(a);
    a = create(KJIT_I16, 3, SHAPE(2, 3, 4), 'F');
    assert_memory_equal(kjit_array_strides(a), SHAPE(2, 4, 12), 3 * sizeof(int64_t));
    kjit_array_free(a);
    a = create(KJIT_I32, 0, NULL, 'C');
    assert_int_equal(kjit_array_size(a), 1);
    kjit_array_free(a);
    a = create(KJIT_I32, 3, SHAPE(5, 0, INT64_MAX), 'C');
    assert_int_equal(kjit_array_size(a), 0);
    kjit_array_free(a);
    a = create(KJIT_U8, 1, SHAPE(5 << 20), 'C'); /* mapped */
    memset(kjit_array_data(a), 7, 5 << 20);
    assert_int_equal((uintptr_t)kjit_array_data(a) % 64, 0);
    kjit_array_free(a);
    kjit_array_free(NULL);
}

static void test_refused(void **state)
{
    (void)state;
    kjit_array *a;
    FAILS(kjit_array_create(ctx, KJIT_F32, 1, SHAPE(-1), 'C', KJIT_HOST, &a), KJIT_SHAPE,
          "negative");
    assert_null(a);
    FAILS(kjit_array_create(ctx, KJIT_F32, 7, SHAPE(1, 1, 1, 1, 1, 1, 1), 'C', KJIT_HOST, &a),
          KJIT_SHAPE, "0 to 6 dimensions");
    FAILS(kjit_array_create(ctx, (kjit_dtype)99, 1, SHAPE(1), 'C', KJIT_HOST, &a), KJIT_TYPE, "99");
    FAILS(kjit_array_create(ctx, KJIT_F32, 1, SHAPE(1), 'X', KJIT_HOST, &a), KJIT_INVALID, "order");
    FAILS(kjit_array_create(ctx, KJIT_F32, 1, SHAPE(1), 'C', (kjit_memory)9, &a), KJIT_INVALID,
          "memory");
    FAILS(kjit_array_create(ctx, KJIT_F32, 1, NULL, 'C', KJIT_HOST, &a), KJIT_INVALID, "NULL");
    FAILS(kjit_array_create(ctx, KJIT_F64, 2, SHAPE(INT64_MAX, INT64_MAX), 'C', KJIT_HOST, &a),
          KJIT_NO_MEMORY, "address space");
    FAILS(kjit_array_create(ctx, KJIT_F64, 1, SHAPE(INT64_MAX / 8), 'C', KJIT_HOST, &a),
          KJIT_NO_MEMORY, "out of memory");
    FAILS(kjit_array_create(ctx, KJIT_U8, 1, SHAPE((int64_t)1 << 45), 'C', KJIT_HOST, &a),
          KJIT_NO_MEMORY, "35184372088832 bytes");
    FAILS(kjit_array_create(ctx, KJIT_U8, 1, SHAPE((int64_t)1 << 45), 'C', KJIT_DEVICE, &a),
          KJIT_NO_MEMORY, "35184372088832 bytes");
    FAILS(kjit_array_wrap(ctx, NULL, KJIT_F32, 1, SHAPE(1), NULL, KJIT_HOST, &a), KJIT_INVALID,
          "data is NULL");
    int32_t ints[16] = {0};
    FAILS(kjit_array_wrap(ctx, ints, KJIT_I32, 2, SHAPE(4, 4), SHAPE(4, 1), KJIT_HOST, &a),
          KJIT_INVALID,
          "the stride of axis 1 is 1: strides are in bytes, and an element of i32 has 4");
    FAILS(kjit_array_wrap(ctx, ints + 8, KJIT_I32, 1, SHAPE(4), SHAPE(-2), KJIT_HOST, &a),
          KJIT_INVALID, "the stride of axis 0 is -2");
    OK(kjit_array_wrap(ctx, ints, KJIT_F32X3, 1, SHAPE(4), SHAPE(4), KJIT_HOST, &a));
    kjit_array_free(a); /* vectors may share their parts */
    OK(kjit_array_wrap(ctx, ints, KJIT_I32, 2, SHAPE(4, 1), SHAPE(5, 1), KJIT_HOST, &a));
    kjit_array_free(a); /* elements may lie anywhere, and nobody steps along one */
    char byte;
    FAILS(kjit_array_wrap(ctx, &byte, KJIT_U8, 2, SHAPE(3, 3), SHAPE(INT64_MAX / 2, 1), KJIT_HOST,
                          &a),
          KJIT_SHAPE, "address space");
    assert_int_equal(kjit_array_create(NULL, KJIT_F32, 1, SHAPE(1), 'C', KJIT_HOST, &a),
                     KJIT_INVALID);
    assert_int_equal(kjit_array_create(ctx, KJIT_F32, 1, SHAPE(1), 'C', KJIT_HOST, NULL),
                     KJIT_INVALID);
    assert_int_equal(kjit_copy(NULL, NULL, NULL), KJIT_INVALID);
}

/* What no array uses yet is promised all the same: the sum is bounded. */
static void test_promises(void **state)
{
    (void)state;
    kjit_device_info info;
    kjit_array *list[64];
    int n = 0;
    kjit_status status = KJIT_OK;
    if (!on_cpu())
        SKIP("the memory of the device is not the host's");
    OK(kjit_context_device(ctx, &info));
    int64_t part = (int64_t)(info.memory / 10);
    for (; n < 64 && status == KJIT_OK; n += status == KJIT_OK)
        status = kjit_array_create(ctx, KJIT_U8, 1, &part, 'C', KJIT_HOST, &list[n]);
    assert_int_equal(status, KJIT_NO_MEMORY);
    assert_in_range(n, 0, 10);
    while (n > 0)
        kjit_array_free(list[--n]);
}

static void test_views(void **state)
{
    (void)state;
    int32_t data[4][5];
    for (int i = 0; i < 20; i++)
        data[i / 5][i % 5] = i;
    kjit_array *a = wrap(data, KJIT_I32, 2, SHAPE(4, 5)), *v, *w;
    OK(kjit_array_slice(a, SHAPE(1, 4), SHAPE(4, -1), SHAPE(2, -2), &v)); /* a[1:4:2, ::-2] */
    assert_memory_equal(kjit_array_shape(v), SHAPE(2, 3), 2 * sizeof(int64_t));
    assert_memory_equal(kjit_array_strides(v), SHAPE(40, -8), 2 * sizeof(int64_t));
    assert_int_equal(*(int32_t *)kjit_array_data(v), 9);
    OK(kjit_array_at(v, 1, 2, &w));
    assert_int_equal(kjit_array_ndim(w), 1);
    assert_int_equal(*(int32_t *)kjit_array_data(w), 5);
    kjit_array_free(w);
    OK(kjit_array_at(v, 0, 1, &w));
    assert_int_equal(*(int32_t *)kjit_array_data(w), 19);
    kjit_array_free(w);
    kjit_array_free(v);
    OK(kjit_array_slice(a, SHAPE(4, 0), SHAPE(4, 5), NULL, &v)); /* a[4:4] */
    assert_int_equal(kjit_array_size(v), 0);
    kjit_array_free(v);
    OK(kjit_array_slice(a, NULL, NULL, SHAPE(INT64_MAX, INT64_MIN + 1), &v));
    assert_memory_equal(kjit_array_shape(v), SHAPE(1, 1), 2 * sizeof(int64_t));
    assert_int_equal(*(int32_t *)kjit_array_data(v), 4);
    kjit_array_free(v);
    OK(kjit_array_slice(a, NULL, NULL, SHAPE(-1, -2), &v)); /* a[::-1, ::-2] */
    assert_memory_equal(kjit_array_shape(v), SHAPE(4, 3), 2 * sizeof(int64_t));
    assert_int_equal(*(int32_t *)kjit_array_data(v), 19);
    kjit_array_free(v);
    OK(kjit_array_slice(a, SHAPE(2, 3), NULL, SHAPE(-1, 1), &v)); /* a[2::-1, 3:] */
    assert_memory_equal(kjit_array_shape(v), SHAPE(3, 2), 2 * sizeof(int64_t));
    assert_int_equal(*(int32_t *)kjit_array_data(v), 13);
    kjit_array_free(v);
    FAILS(kjit_array_slice(a, NULL, NULL, SHAPE(1, 0), &v), KJIT_INVALID, "step");
    FAILS(kjit_array_slice(a, SHAPE(0, 6), NULL, NULL, &v), KJIT_SHAPE, "axis 1");
    FAILS(kjit_array_slice(a, SHAPE(-1, 0), NULL, NULL, &v), KJIT_SHAPE, "axis 0");
    FAILS(kjit_array_at(a, 2, 0, &v), KJIT_SHAPE, "no axis 2");
    FAILS(kjit_array_at(a, 0, 4, &v), KJIT_SHAPE, "index 4");
    FAILS(kjit_array_at(a, 0, -1, &v), KJIT_SHAPE, "index -1");
    kjit_array_free(a);
}

/* Views keep the memory; the context outlives its last array. */
static void test_lifetimes(void **state)
{
    (void)state;
    for (int memory = KJIT_HOST; memory <= KJIT_DEVICE; memory++) {
        kjit_context *own;
        kjit_array *a, *v;
        assert_int_equal(kjit_context_create(NULL, &own, NULL, 0), KJIT_OK);
        assert_int_equal(
            kjit_array_create(own, KJIT_I32, 1, SHAPE(100), 'C', (kjit_memory)memory, &a), KJIT_OK);
        assert_int_equal(kjit_array_slice(a, SHAPE(50), NULL, NULL, &v), KJIT_OK);
        kjit_array_free(a);
        kjit_context_destroy(own);
        if (memory == KJIT_HOST)
            ((int32_t *)kjit_array_data(v))[49] = 5;
        kjit_array_free(v);
    }
}

static int64_t mix(const int64_t *i, int ndim)
{
    int64_t v = 0;
    for (int k = 0; k < ndim; k++)
        v = v * 31 + i[k];
    return v;
}

static char *element(const kjit_array *a, const int64_t *i)
{
    char *at = kjit_array_data(a);
    for (int k = 0; k < kjit_array_ndim(a); k++)
        at += i[k] * kjit_array_strides(a)[k];
    return at;
}

/* Runs over all indices, writing or comparing each element's own value. */
static void each(kjit_array *a, bool write)
{
    int ndim = kjit_array_ndim(a);
    size_t size = kjit_dtype_size(kjit_array_dtype(a));
    int64_t i[KJIT_MAX_NDIM] = {0};
    for (int64_t n = kjit_array_size(a); n > 0; n--) {
        int64_t value = mix(i, ndim);
        if (write)
            memcpy(element(a, i), &value, size);
        else
            assert_memory_equal(element(a, i), &value, size);
        for (int k = ndim - 1; k >= 0 && ++i[k] == kjit_array_shape(a)[k]; k--)
            i[k] = 0;
    }
}

/* A layout of the shape: C, F, padded, reversed, axes swapped. */
static kjit_array *laid_out(kjit_dtype dtype, int ndim, const int64_t *shape, int how)
{
    kjit_array *a, *v;
    int64_t more[KJIT_MAX_NDIM], start[KJIT_MAX_NDIM], stop[KJIT_MAX_NDIM], step[KJIT_MAX_NDIM];
    if (how < 2)
        return create(dtype, ndim, shape, how == 0 ? 'C' : 'F');
    for (int k = 0; k < ndim; k++) {
        more[k] = shape[k] * 2 + 1;
        start[k] = how == 2 ? 1 : shape[k] * 2 - 1;
        stop[k] = how == 2 ? shape[k] + 1 : -1;
        step[k] = how == 2 ? 1 : -2;
    }
    a = create(dtype, ndim, more, how == 4 ? 'F' : 'C');
    OK(kjit_array_slice(a, start, stop, step, &v));
    kjit_array_free(a);
    assert_memory_equal(kjit_array_shape(v), shape, (size_t)ndim * sizeof *shape);
    return v;
}

static void test_copies(void **state)
{
    (void)state;
    static const kjit_dtype dtypes[] = {KJIT_U8, KJIT_I16, KJIT_I32, KJIT_F64};
    static const int64_t shapes[][KJIT_MAX_NDIM] = {
        {1, 1, 1, 1, 1, 1}, {3, 5, 2, 4, 1, 2}, {70, 40, 3, 1, 2, 1}};
    for (int ndim = 0; ndim <= KJIT_MAX_NDIM; ndim++) {
        for (int test = 0; test < 3 * 25; test++) {
            kjit_dtype dtype = dtypes[(ndim + test) % 4];
            kjit_array *a = laid_out(dtype, ndim, shapes[test / 25], test % 5);
            kjit_array *b = laid_out(dtype, ndim, shapes[test / 25], test / 5 % 5), *c;
            each(a, true);
            OK(kjit_copy(b, a, NULL));
            each(b, false);
            OK(kjit_to_device(b, NULL, &c));
            assert_int_equal(kjit_array_memory(c), KJIT_DEVICE);
            kjit_array_free(a);
            OK(kjit_to_host(c, NULL, &a));
            each(a, false);
            kjit_array_free(a);
            kjit_array_free(b);
            kjit_array_free(c);
        }
    }
}

static void test_copy_refused(void **state)
{
    (void)state;
    kjit_array *a = create(KJIT_F32, 2, SHAPE(2, 3), 'C'),
               *b = create(KJIT_F64, 2, SHAPE(2, 3), 'C');
    kjit_array *c = create(KJIT_F32, 2, SHAPE(3, 2), 'C'), *d = create(KJIT_F32, 1, SHAPE(6), 'C');
    FAILS(kjit_copy(a, b, NULL), KJIT_TYPE, "f64 to f32");
    FAILS(kjit_copy(a, c, NULL), KJIT_SHAPE, "(3, 2) to (2, 3)");
    FAILS(kjit_copy(a, d, NULL), KJIT_SHAPE, "(6,) to (2, 3)");
    kjit_array_free(a);
    kjit_array_free(b);
    kjit_array_free(c);
    kjit_array_free(d);
}

/* Overlapping views read all before they write. */
static void test_overlap(void **state)
{
    (void)state;
    int32_t data[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    kjit_array *a = wrap(data, KJIT_I32, 1, SHAPE(12)), *to, *from;
    OK(kjit_array_slice(a, SHAPE(1), SHAPE(12), NULL, &to));
    OK(kjit_array_slice(a, SHAPE(0), SHAPE(11), NULL, &from));
    OK(kjit_copy(to, from, NULL));
    assert_memory_equal(data, ((int32_t[]){0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), sizeof data);
    kjit_array_free(to);
    kjit_array_free(from);
    OK(kjit_array_slice(a, SHAPE(11), SHAPE(-1), SHAPE(-1), &from));
    OK(kjit_copy(a, from, NULL)); /* reversed in place */
    assert_memory_equal(data, ((int32_t[]){10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0}), sizeof data);
    kjit_array_free(from);
    kjit_array_free(a);
    int32_t m[3][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    a = wrap(m, KJIT_I32, 2, SHAPE(3, 3));
    OK(kjit_array_wrap(ctx, m, KJIT_I32, 2, SHAPE(3, 3), SHAPE(4, 12), KJIT_HOST, &to));
    OK(kjit_copy(to, a, NULL)); /* transposed in place */
    assert_memory_equal(m, ((int32_t[]){1, 4, 7, 2, 5, 8, 3, 6, 9}), sizeof m);
    kjit_array_free(to);
    kjit_array_free(a);
}

/* A child of a fork is told so, and neither hangs nor frees the parent's things. */
static void test_fork(void **state)
{
    (void)state;
    static kjit_array *a; /* where leak checkers see it: the child cannot free it */
    kjit_array *b;
    a = create(KJIT_F32, 1, SHAPE(10), 'C');
    pid_t child = fork();
    if (child == 0) {
        int wrong =
            kjit_array_create(ctx, KJIT_F32, 1, SHAPE(1), 'C', KJIT_HOST, &b) != KJIT_NO_DEVICE;
        wrong |= !strstr(kjit_last_error(ctx), "fork");
        wrong |= kjit_synchronize(ctx) != KJIT_NO_DEVICE;
        kjit_array_free(a);
        kjit_context_destroy(ctx);
        kjit_context *own;
        wrong |= kjit_context_create(NULL, &own, NULL, 0) != KJIT_OK;
        wrong |= kjit_array_create(own, KJIT_F32, 1, SHAPE(1), 'C', KJIT_HOST, &b) != KJIT_OK;
        kjit_array_free(b);
        kjit_context_destroy(own);
        _exit(wrong);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    kjit_array_free(a);
}

static void test_contexts(void **state)
{
    (void)state;
    char error[128];
    kjit_context *own;
    kjit_device_info info;
    assert_int_equal(
        kjit_context_create(&(kjit_context_options){.device = "tpu"}, &own, error, sizeof error),
        KJIT_NO_DEVICE);
    assert_null(own);
    assert_non_null(strstr(error, "'tpu'"));
    assert_int_equal(
        kjit_context_create(&(kjit_context_options){.device = "cpu:7"}, &own, error, sizeof error),
        KJIT_NO_DEVICE);
    assert_int_equal(kjit_context_create(&(kjit_context_options){.device = "cpu:x"}, &own, NULL, 0),
                     KJIT_NO_DEVICE);
    assert_int_equal(kjit_context_create(&(kjit_context_options){.workers = -1}, &own, error, 4),
                     KJIT_INVALID);
    assert_int_equal(strlen(error), 3);
    kjit_context_options crowd = {.device = "cpu", .workers = 1025};
    assert_int_equal(kjit_context_create(&crowd, &own, error, sizeof error), KJIT_INVALID);
    assert_string_equal(error, "workers is 1025: it must be 1024 at most");
    assert_null(own);
    for (int workers = 1; workers <= 3; workers++) {
        kjit_context_options options = {.device = "cpu:0", .workers = workers};
        assert_int_equal(kjit_context_create(&options, &own, NULL, 0), KJIT_OK);
        assert_int_equal(kjit_context_device(own, &info), KJIT_OK);
        assert_string_equal(info.kind, "cpu");
        assert_int_equal(info.units, workers);
        assert_string_equal(kjit_last_error(own), "workers is 1025: it must be 1024 at most");
        kjit_context_destroy(own);
    }
    assert_true(kjit_devices(&info, 1) >= 1);
    assert_true(info.memory > 0 && info.units > 0 && info.name[0]);
    kjit_context_destroy(NULL);
    assert_string_equal(kjit_status_name(KJIT_NO_DEVICE), "KJIT_NO_DEVICE");
    assert_string_equal(kjit_status_message((kjit_status)99), "unknown status");
    assert_string_equal(kjit_dtype_name(KJIT_U16), "u16");
    assert_null(kjit_dtype_name((kjit_dtype)-1));
    assert_int_equal(kjit_dtype_size((kjit_dtype)60), 0);
    assert_string_equal(kjit_version(), "0.1.0");
    kjit_builtin_info builtin;
    int n = 0;
    while (kjit_builtin(n, &builtin))
        n++;
    assert_true(n > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create),       cmocka_unit_test(test_refused),
        cmocka_unit_test(test_promises),     cmocka_unit_test(test_views),
        cmocka_unit_test(test_lifetimes),    cmocka_unit_test(test_copies),
        cmocka_unit_test(test_copy_refused), cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_fork),         cmocka_unit_test(test_contexts),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
