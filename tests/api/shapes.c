/* Views of another shape, and single elements: in every kind of memory. */
#include "api.h"

static char *address(const kjit_array *a, const int64_t *index)
{
    char *at = kjit_array_data(a);
    for (int i = 0; i < kjit_array_ndim(a); i++)
        at += index[i] * kjit_array_strides(a)[i];
    return at;
}

/* Index k of a shape's elements, counted in the order. */
static void index_of(int64_t k, int ndim, const int64_t *shape, char order, int64_t *index)
{
    for (int n = 0; n < ndim; n++) {
        int i = order == 'F' ? n : ndim - 1 - n;
        index[i] = k % shape[i];
        k /= shape[i];
    }
}

static char *kth(const kjit_array *a, int64_t k, char order)
{
    int64_t index[KJIT_MAX_NDIM];
    index_of(k, kjit_array_ndim(a), kjit_array_shape(a), order, index);
    return address(a, index);
}

/* Is there a view of that shape? Its strides would be the distances of the second elements of its
 * axes; they must lead to all others. */
static bool possible(const kjit_array *a, int ndim, const int64_t *shape, char order)
{
    int64_t strides[KJIT_MAX_NDIM] = {0}, step = 1, index[KJIT_MAX_NDIM];
    char *base = kth(a, 0, order);
    for (int n = 0; n < ndim; n++) {
        int i = order == 'F' ? n : ndim - 1 - n;
        if (shape[i] > 1)
            strides[i] = kth(a, step, order) - base;
        step *= shape[i];
    }
    for (int64_t k = 0; k < kjit_array_size(a); k++) {
        char *at = base;
        index_of(k, ndim, shape, order, index);
        for (int i = 0; i < ndim; i++)
            at += index[i] * strides[i];
        if (at != kth(a, k, order))
            return false;
    }
    return true;
}

static void check_reshape(kjit_array *a, int ndim, const int64_t *shape, char order, int tally[2])
{
    kjit_array *v;
    kjit_status status = kjit_array_reshape(a, ndim, shape, order, &v);
    bool expected = possible(a, ndim, shape, order);
    tally[expected]++;
    if (!expected) {
        assert_int_equal(status, KJIT_SHAPE);
        assert_null(v);
        assert_non_null(strstr(kjit_last_error(ctx), "copy it"));
        return;
    }
    OK(status);
    assert_int_equal(kjit_array_ndim(v), ndim);
    for (int64_t k = 0; k < kjit_array_size(a); k++)
        assert_ptr_equal(kth(v, k, order), kth(a, k, order));
    kjit_array_free(v);
}

/* Every shape of 24 elements with up to 4 axes. */
static void check_shapes(kjit_array *a, char order, int tally[2])
{
    for (int64_t i = 1; i <= 24; i++) {
        for (int64_t j = 1; j <= 24; j++) {
            for (int64_t k = 1; k <= 24; k++) {
                if (24 % (i * j * k) == 0)
                    check_reshape(a, 4, SHAPE(i, j, k, 24 / (i * j * k)), order, tally);
            }
        }
    }
    check_reshape(a, 1, SHAPE(24), order, tally);
    check_reshape(a, 6, SHAPE(1, 2, 2, 1, 6, 1), order, tally);
}

/* All views of memory that have these extents in some order, with and without steps. */
static void test_reshape(void **state)
{
    static const int64_t extents[][3] = {{4, 6, 1}, {2, 3, 4}, {24, 1, 1}, {2, 2, 6}, {1, 8, 3}};
    static const int perms[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {2, 0, 1}};
    int tally[2] = {0};
    (void)state;
    for (size_t e = 0; e < sizeof extents / sizeof *extents; e++) {
        for (int cut = 0; cut < 16; cut++) { /* steps along each axis; which end is behind */
            int64_t full[3], stop[3], step[3];
            kjit_array *all, *part, *view;
            for (int i = 0; i < 3; i++) {
                step[i] = cut >> i & 1 ? 2 : 1;
                stop[i] = extents[e][i] * step[i];
                full[i] = stop[i] + (cut >> 3);
            }
            OK(kjit_array_create(ctx, KJIT_I32, 3, full, cut % 5 ? 'C' : 'F', KJIT_DEVICE, &all));
            OK(kjit_array_slice(all, NULL, stop, step, &part));
            OK(kjit_array_transpose(part, perms[cut % 4], &view));
            check_shapes(view, 'C', tally);
            check_shapes(view, 'F', tally);
            kjit_array_free(all);
            kjit_array_free(part);
            kjit_array_free(view);
        }
    }
    assert_true(tally[0] > 1000 && tally[1] > 1000);
}

static void check_shape(kjit_array *a, int ndim, const int64_t *shape)
{
    assert_int_equal(kjit_array_ndim(a), ndim);
    assert_memory_equal(kjit_array_shape(a), shape, (size_t)ndim * sizeof *shape);
    kjit_array_free(a);
}

static void test_reshape_rules(void **state)
{
    (void)state;
    kjit_array *a = create(KJIT_F32, 2, SHAPE(4, 6), 'C'), *v;
    OK(kjit_array_reshape(a, 3, SHAPE(2, -1, 3), 'C', &v));
    check_shape(v, 3, SHAPE(2, 4, 3));
    OK(kjit_array_reshape(a, 1, SHAPE(-1), 'C', &v));
    check_shape(v, 1, SHAPE(24));
    FAILS(kjit_array_reshape(a, 2, SHAPE(-1, -1), 'C', &v), KJIT_SHAPE, "only one");
    FAILS(kjit_array_reshape(a, 2, SHAPE(-2, -12), 'C', &v), KJIT_SHAPE, "negative");
    FAILS(kjit_array_reshape(a, 2, SHAPE(5, -1), 'C', &v), KJIT_SHAPE, "(4, 6)");
    FAILS(kjit_array_reshape(a, 2, SHAPE(5, 5), 'C', &v), KJIT_SHAPE, "(5, 5)");
    FAILS(kjit_array_reshape(a, 2, SHAPE(0, -1), 'C', &v), KJIT_SHAPE, "(0, -1)");
    FAILS(kjit_array_reshape(a, 2, SHAPE(INT64_MAX, INT64_MAX), 'C', &v), KJIT_SHAPE, "(4, 6)");
    FAILS(kjit_array_reshape(a, 0, NULL, 'C', &v), KJIT_SHAPE, "()");
    FAILS(kjit_array_reshape(a, 7, SHAPE(1, 1, 1, 1, 1, 1, 24), 'C', &v), KJIT_SHAPE, "0 to 6");
    FAILS(kjit_array_reshape(a, 1, NULL, 'C', &v), KJIT_INVALID, "shape is NULL");
    FAILS(kjit_array_reshape(a, 1, SHAPE(24), 'A', &v), KJIT_INVALID, "order");
    FAILS(kjit_array_reshape(a, 1, SHAPE(24), 'F', &v), KJIT_SHAPE, "F order: copy it");
    FAILS(kjit_array_reshape(a, 1, SHAPE(24), 'C', NULL), KJIT_INVALID, "out is NULL");
    assert_int_equal(kjit_array_reshape(NULL, 1, SHAPE(24), 'C', &v), KJIT_INVALID);
    assert_null(v);
    kjit_array_free(a);
    a = create(KJIT_F32, 3, SHAPE(0, 3, INT64_MAX), 'C');
    OK(kjit_array_reshape(a, 2, SHAPE(-1, 5), 'F', &v));
    check_shape(v, 2, SHAPE(0, 5));
    OK(kjit_array_reshape(a, 3, SHAPE(7, 0, INT64_MAX), 'C', &v));
    check_shape(v, 3, SHAPE(7, 0, INT64_MAX));
    FAILS(kjit_array_reshape(a, 2, SHAPE(-1, 0), 'C', &v), KJIT_SHAPE, "(-1, 0)");
    kjit_array_free(a);
    a = create(KJIT_F32, 0, NULL, 'C');
    OK(kjit_array_reshape(a, 2, SHAPE(1, -1), 'C', &v));
    check_shape(v, 2, SHAPE(1, 1));
    OK(kjit_array_ravel(a, 'F', &v));
    check_shape(v, 1, SHAPE(1));
    kjit_array_free(a);
}

static void test_ravel_and_contiguous(void **state)
{
    (void)state;
    kjit_array *a = create(KJIT_F32X4, 2, SHAPE(3, 5), 'F'), *v, *w;
    assert_false(kjit_array_is_contiguous(a, 'C'));
    assert_true(kjit_array_is_contiguous(a, 'F'));
    OK(kjit_array_ravel(a, 'F', &v));
    assert_ptr_equal(kjit_array_data(v), kjit_array_data(a));
    assert_int_equal(kjit_array_strides(v)[0], 16);
    assert_true(kjit_array_is_contiguous(v, 'C') && kjit_array_is_contiguous(v, 'F'));
    OK(kjit_array_slice(v, NULL, NULL, SHAPE(2), &w));
    assert_false(kjit_array_is_contiguous(w, 'C') || kjit_array_is_contiguous(w, 'F'));
    kjit_array_free(v);
    kjit_array_free(w);
    FAILS(kjit_array_ravel(a, 'C', &v), KJIT_SHAPE, "copy it");
    OK(kjit_array_transpose(a, NULL, &v));
    assert_true(kjit_array_is_contiguous(v, 'C'));
    assert_memory_equal(kjit_array_shape(v), SHAPE(5, 3), 2 * sizeof(int64_t));
    kjit_array_free(v);
    OK(kjit_array_slice(a, SHAPE(1, 2), SHAPE(2, 3), NULL, &v)); /* one element in the middle */
    assert_true(kjit_array_is_contiguous(v, 'C') && kjit_array_is_contiguous(v, 'F'));
    kjit_array_free(v);
    OK(kjit_array_slice(a, SHAPE(1, 2), SHAPE(1, 5), SHAPE(1, 2), &v)); /* none */
    assert_true(kjit_array_is_contiguous(v, 'C') && kjit_array_is_contiguous(v, 'F'));
    kjit_array_free(v);
    assert_false(kjit_array_is_contiguous(a, 'A') || kjit_array_is_contiguous(NULL, 'C'));
    kjit_array_free(a);
}

static void test_transpose(void **state)
{
    (void)state;
    kjit_array *a = create(KJIT_U8, 3, SHAPE(2, 3, 4), 'C'), *v;
    OK(kjit_array_transpose(a, (int[]){1, 2, 0}, &v));
    assert_memory_equal(kjit_array_strides(v), SHAPE(4, 1, 12), 3 * sizeof(int64_t));
    check_shape(v, 3, SHAPE(3, 4, 2));
    FAILS(kjit_array_transpose(a, (int[]){0, 1, 3}, &v), KJIT_SHAPE, "no axis 3");
    FAILS(kjit_array_transpose(a, (int[]){0, -1, 2}, &v), KJIT_SHAPE, "no axis -1");
    FAILS(kjit_array_transpose(a, (int[]){0, 1, 1}, &v), KJIT_SHAPE, "axis 1 twice");
    FAILS(kjit_array_transpose(a, NULL, NULL), KJIT_INVALID, "out");
    assert_int_equal(kjit_array_transpose(NULL, NULL, &v), KJIT_INVALID);
    kjit_array_free(a);
}

static void test_split(void **state)
{
    (void)state;
    kjit_array *a, *step, *v[8], *m;
    int64_t n;
    float value;
    OK(kjit_array_create(ctx, KJIT_F32, 1, SHAPE(10), 'C', KJIT_DEVICE, &a));
    for (int64_t i = 0; i < 10; i++)
        OK(kjit_array_set(a, &i, &(float){(float)i}));
    OK(kjit_array_split(a, 4, v, 8, &n));
    assert_int_equal(n, 3); /* 4, 4, 2 */
    assert_null(v[3]);
    OK(kjit_array_set(v[2], SHAPE(1), &(float){99}));
    OK(kjit_array_get(a, SHAPE(9), &value));
    assert_float_equal(value, 99, 0);
    kjit_array_free(a); /* the views keep its memory */
    OK(kjit_array_get(v[1], SHAPE(3), &value));
    assert_float_equal(value, 7, 0);
    FAILS(kjit_array_get(v[2], SHAPE(2), &value), KJIT_SHAPE, "index 2");
    OK(kjit_array_slice(v[0], SHAPE(3), SHAPE(-1), SHAPE(-1), &step)); /* 3 2 1 0 */
    kjit_array *half[2];
    OK(kjit_array_split(step, 3, half, 1, &n));
    assert_int_equal(n, 2); /* one more than there was room for */
    OK(kjit_array_get(half[0], SHAPE(2), &value));
    assert_float_equal(value, 1, 0);
    kjit_array_free(half[0]);
    kjit_array_free(step);
    OK(kjit_array_split(v[0], INT64_MAX, NULL, 0, &n));
    assert_int_equal(n, 1);
    FAILS(kjit_array_split(v[0], 0, half, 2, &n), KJIT_SHAPE, "at least 1");
    FAILS(kjit_array_split(v[0], 1, NULL, 2, &n), KJIT_INVALID, "out");
    FAILS(kjit_array_split(v[0], 1, half, -1, &n), KJIT_INVALID, "out");
    FAILS(kjit_array_split(v[0], 1, half, 2, NULL), KJIT_INVALID, "n is NULL");
    assert_int_equal(kjit_array_split(NULL, 1, half, 2, &n), KJIT_INVALID);
    for (int i = 0; i < 3; i++)
        kjit_array_free(v[i]);
    m = create(KJIT_F32, 2, SHAPE(2, 2), 'C');
    FAILS(kjit_array_split(m, 1, half, 2, &n), KJIT_SHAPE, "1 dimension");
    kjit_array_free(m);
    m = create(KJIT_F32, 1, SHAPE(0), 'C');
    OK(kjit_array_split(m, 5, half, 2, &n));
    assert_int_equal(n, 0);
    kjit_array_free(m);
}

/* Each dtype's bytes, through any alignment of the caller's. */
static void check_items(kjit_dtype dtype, kjit_memory memory)
{
    unsigned char in[64], out[64];
    size_t size = kjit_dtype_size(dtype);
    kjit_array *a, *v;
    OK(kjit_array_create(ctx, dtype, 2, SHAPE(3, 4), 'F', memory, &a));
    OK(kjit_array_slice(a, NULL, SHAPE(3, 3), SHAPE(2, 1), &v)); /* [::2, :3] */
    for (int64_t k = 0; k < 6; k++) {
        memset(in, (int)k + 1, sizeof in);
        OK(kjit_array_set(v, SHAPE(k / 3, k % 3), in + 1));
    }
    for (int64_t k = 0; k < 6; k++) {
        memset(in, 0xee, sizeof in);
        memset(in + 3, (int)k + 1, size);
        memset(out, 0xee, sizeof out);
        OK(kjit_array_get(a, SHAPE(k / 3 * 2, k % 3), out + 3));
        assert_memory_equal(in, out, sizeof in);
    }
    kjit_array_free(a);
    kjit_array_free(v);
}

static void test_items(void **state)
{
    (void)state;
    for (kjit_dtype dtype = KJIT_I8; dtype <= KJIT_BF16X4; dtype++) {
        for (int memory = KJIT_HOST; memory <= KJIT_MANAGED && kjit_dtype_size(dtype) > 0; memory++)
            check_items(dtype, (kjit_memory)memory);
    }
    int32_t value = 7;
    kjit_array *a = create(KJIT_I32, 2, SHAPE(2, 3), 'C'), *zero, *none;
    FAILS(kjit_array_get(a, SHAPE(2, 0), &value), KJIT_SHAPE, "index 2 is outside of axis 0");
    FAILS(kjit_array_get(a, SHAPE(0, -1), &value), KJIT_SHAPE, "index -1 is outside of axis 1");
    FAILS(kjit_array_set(a, SHAPE(0, INT64_MIN), &value), KJIT_SHAPE, "axis 1");
    FAILS(kjit_array_set(a, NULL, &value), KJIT_INVALID, "index is NULL");
    FAILS(kjit_array_get(a, SHAPE(0, 0), NULL), KJIT_INVALID, "value is NULL");
    FAILS(kjit_array_set(a, SHAPE(0, 0), NULL), KJIT_INVALID, "value is NULL");
    assert_int_equal(kjit_array_get(NULL, SHAPE(0), &value), KJIT_INVALID);
    assert_int_equal(kjit_array_set(NULL, SHAPE(0), &value), KJIT_INVALID);
    assert_int_equal(value, 7);
    OK(kjit_array_create(ctx, KJIT_I32, 0, NULL, 'C', KJIT_DEVICE, &zero));
    OK(kjit_array_set(zero, NULL, &(int32_t){41}));
    OK(kjit_array_get(zero, NULL, &value));
    assert_int_equal(value, 41);
    none = create(KJIT_I32, 2, SHAPE(3, 0), 'C');
    FAILS(kjit_array_get(none, SHAPE(0, 0), &value), KJIT_SHAPE, "axis 1 with 0 elements");
    kjit_array_free(a);
    kjit_array_free(zero);
    kjit_array_free(none);
}

/* An element is read after the work that was queued before, whatever stream it is in. */
static void test_item_order(void **state)
{
    enum { N = 50000 };
    (void)state;
    kjit_stream *s;
    kjit_array *a;
    int32_t value;
    kjit_module *mod =
        module("kernel add(x: i32[]) { let i = grid(1); if i < x.size { x[i] += 1 } }");
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', KJIT_DEVICE, &a));
    OK(kjit_array_set(a, SHAPE(N - 1), &(int32_t){5}));
    for (int k = 0; k < 3; k++)
        OK(kjit_launch_forall(mod, "add", N, s, (kjit_arg[]){kjit_arg_array(a)}, 1));
    OK(kjit_array_get(a, SHAPE(N - 1), &value));
    assert_int_equal(value, 8);
    OK(kjit_launch_forall(mod, "add", N, s, (kjit_arg[]){kjit_arg_array(a)}, 1));
    OK(kjit_array_set(a, SHAPE(N - 1), &(int32_t){100}));
    OK(kjit_launch_forall(mod, "add", N, s, (kjit_arg[]){kjit_arg_array(a)}, 1));
    OK(kjit_array_get(a, SHAPE(N - 1), &value));
    assert_int_equal(value, 101);
    kjit_array_free(a);
    kjit_stream_free(s);
    kjit_module_free(mod);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reshape),
        cmocka_unit_test(test_reshape_rules),
        cmocka_unit_test(test_ravel_and_contiguous),
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_items),
        cmocka_unit_test(test_item_order),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
