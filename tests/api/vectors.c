/* Arrays of small vectors through the API: what they are, views of them, copies, launches, files. */
#include "api.h"

static const struct {
    kjit_dtype dtype, of;
    const char *name;
    int n;
} types[] = {
    {KJIT_F32X2, KJIT_F32, "f32x2", 2},    {KJIT_F32X4, KJIT_F32, "f32x4", 4},
    {KJIT_F64X2, KJIT_F64, "f64x2", 2},    {KJIT_I32X2, KJIT_I32, "i32x2", 2},
    {KJIT_I32X4, KJIT_I32, "i32x4", 4},    {KJIT_U8X4, KJIT_U8, "u8x4", 4},
    {KJIT_U32X2, KJIT_U32, "u32x2", 2},    {KJIT_U32X4, KJIT_U32, "u32x4", 4},
    {KJIT_F16X2, KJIT_F16, "f16x2", 2},    {KJIT_F16X4, KJIT_F16, "f16x4", 4},
    {KJIT_BF16X2, KJIT_BF16, "bf16x2", 2}, {KJIT_BF16X4, KJIT_BF16, "bf16x4", 4},
    {KJIT_F32X3, KJIT_F32, "f32x3", 3},    {KJIT_F64X3, KJIT_F64, "f64x3", 3},
    {KJIT_F64X4, KJIT_F64, "f64x4", 4},    {KJIT_F16X3, KJIT_F16, "f16x3", 3},
    {KJIT_BF16X3, KJIT_BF16, "bf16x3", 3}, {KJIT_I8X2, KJIT_I8, "i8x2", 2},
    {KJIT_I8X3, KJIT_I8, "i8x3", 3},       {KJIT_I8X4, KJIT_I8, "i8x4", 4},
    {KJIT_I16X2, KJIT_I16, "i16x2", 2},    {KJIT_I16X3, KJIT_I16, "i16x3", 3},
    {KJIT_I16X4, KJIT_I16, "i16x4", 4},    {KJIT_I32X3, KJIT_I32, "i32x3", 3},
    {KJIT_I64X2, KJIT_I64, "i64x2", 2},    {KJIT_I64X3, KJIT_I64, "i64x3", 3},
    {KJIT_I64X4, KJIT_I64, "i64x4", 4},    {KJIT_U8X2, KJIT_U8, "u8x2", 2},
    {KJIT_U8X3, KJIT_U8, "u8x3", 3},       {KJIT_U16X2, KJIT_U16, "u16x2", 2},
    {KJIT_U16X3, KJIT_U16, "u16x3", 3},    {KJIT_U16X4, KJIT_U16, "u16x4", 4},
    {KJIT_U32X3, KJIT_U32, "u32x3", 3},    {KJIT_U64X2, KJIT_U64, "u64x2", 2},
    {KJIT_U64X3, KJIT_U64, "u64x3", 3},    {KJIT_U64X4, KJIT_U64, "u64x4", 4},
};

static void test_types(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t size = (size_t)types[i].n * kjit_dtype_size(types[i].of);
        assert_int_equal(kjit_dtype_size(types[i].dtype), size);
        assert_string_equal(kjit_dtype_name(types[i].dtype), types[i].name);
        kjit_array *a = create(types[i].dtype, 2, SHAPE(3, 5), 'C'), *view, *back;
        assert_int_equal(kjit_array_strides(a)[0], 5 * size);
        OK(kjit_array_view(a, types[i].of, &view));
        assert_int_equal(kjit_array_ndim(view), 3);
        assert_int_equal(kjit_array_shape(view)[2], types[i].n);
        assert_int_equal(kjit_array_dtype(view), types[i].of);
        OK(kjit_array_view(view, types[i].dtype, &back));
        assert_int_equal(kjit_array_ndim(back), 2);
        assert_ptr_equal(kjit_array_data(back), kjit_array_data(a));
        kjit_array_free(a);
        kjit_array_free(view);
        kjit_array_free(back);
    }
    assert_int_equal(kjit_dtype_size((kjit_dtype)15), 0);
    assert_int_equal(kjit_dtype_size((kjit_dtype)63), 0);
    assert_null(kjit_dtype_name((kjit_dtype)63));
}

static void test_views_refused(void **state)
{
    (void)state;
    float data[24] = {0};
    kjit_array *a = wrap(data, KJIT_F32, 2, SHAPE(6, 4)), *b, *view;
    FAILS(kjit_array_view(a, KJIT_F32X2, &view), KJIT_SHAPE, "a last axis of 2 elements");
    FAILS(kjit_array_view(a, KJIT_I32X4, &view), KJIT_TYPE, "an array of f32 has no view as i32x4");
    FAILS(kjit_array_view(a, (kjit_dtype)63, &view), KJIT_TYPE, "a type that does not exist");
    FAILS(kjit_array_field(a, "x", &view), KJIT_NOT_FOUND, "f32 has no field 'x'");
    FAILS(kjit_array_view(a, KJIT_F32X4, NULL), KJIT_INVALID, "out is NULL");
    kjit_array_free(a);
    OK(kjit_array_wrap(ctx, data, KJIT_F32, 2, SHAPE(3, 4), SHAPE(4, 12), KJIT_HOST, &b));
    FAILS(kjit_array_view(b, KJIT_F32X4, &view), KJIT_SHAPE, "side by side");
    kjit_array_free(b);
    a = create(KJIT_F32X4, 6, SHAPE(1, 1, 1, 1, 1, 1), 'C');
    FAILS(kjit_array_view(a, KJIT_F32, &view), KJIT_SHAPE, "6 dimensions");
    FAILS(kjit_array_field(a, "q", &view), KJIT_NOT_FOUND, "f32x4 has no field 'q'");
    kjit_array_free(a);
    a = create(KJIT_F32, 0, NULL, 'C');
    FAILS(kjit_array_view(a, KJIT_F32X4, &view), KJIT_SHAPE, "a last axis of 4");
    kjit_array_free(a);
    assert_int_equal(kjit_array_view(NULL, KJIT_F32, &view), KJIT_INVALID);
}

/* A field of every second vector, through the device and back. */
static void test_fields(void **state)
{
    (void)state;
    float data[8][4], got[4] = {0};
    for (int i = 0; i < 32; i++)
        data[i / 4][i % 4] = (float)i;
    kjit_array *a = wrap(data, KJIT_F32X4, 1, SHAPE(8)), *some, *field, *device, *out;
    OK(kjit_array_slice(a, SHAPE(0), SHAPE(8), SHAPE(2), &some));
    OK(kjit_to_device(some, NULL, &device));
    assert_int_equal(kjit_array_dtype(device), KJIT_F32X4);
    OK(kjit_array_field(device, "z", &field));
    assert_int_equal(kjit_array_strides(field)[0], 16);
    out = wrap(got, KJIT_F32, 1, SHAPE(4));
    OK(kjit_copy(out, field, NULL));
    for (int i = 0; i < 4; i++)
        assert_true(got[i] == data[2 * i][2]);
    FAILS(kjit_copy(out, some, NULL), KJIT_TYPE, "f32x4 to f32");
    OK(kjit_copy(some, device, NULL));
    kjit_array_free(a);
    kjit_array_free(some);
    kjit_array_free(field);
    kjit_array_free(device);
    kjit_array_free(out);
}

static const char source[] = "kernel k<T>(v: f32x4, t: T, a: f32x4[], out: f32[], last: T[]) {\n"
                             "    requires v.x > 0\n"
                             "    let i = grid(1)\n"
                             "    if i < a.size {\n"
                             "        out[i] = dot(v, a[i])\n"
                             "        last[i] = t\n"
                             "    }\n"
                             "}\n";

static void test_launch(void **state)
{
    (void)state;
    float v[4] = {1, 2, 3, 4}, bad[4] = {-1, 2, 3, 4}, data[3][4], got[3];
    uint8_t bytes[4] = {9, 8, 7, 6}, last[3][4];
    for (int i = 0; i < 12; i++)
        data[i / 4][i % 4] = (float)i;
    kjit_module *mod = module(source);
    kjit_config config = {.grid = {1}, .block = {32}};
    kjit_arg args[5] = {kjit_arg_value(KJIT_F32X4, v), kjit_arg_value(KJIT_U8X4, bytes),
                        kjit_arg_array(wrap(data, KJIT_F32X4, 1, SHAPE(3))),
                        kjit_arg_array(wrap(got, KJIT_F32, 1, SHAPE(3))),
                        kjit_arg_array(wrap(last, KJIT_U8X4, 1, SHAPE(3)))};
    OK(kjit_launch(mod, "k", &config, args, 5));
    for (int i = 0; i < 3; i++) {
        assert_true(got[i] == data[i][0] + 2 * data[i][1] + 3 * data[i][2] + 4 * data[i][3]);
        assert_memory_equal(last[i], bytes, 4);
    }
    args[0] = kjit_arg_value(KJIT_F32X4, bad);
    FAILS(kjit_launch(mod, "k", &config, args, 5), KJIT_LAUNCH, "v is (-1.0, 2.0, 3.0, 4.0)");
    args[0] = kjit_arg_value(KJIT_I32X4, v);
    FAILS(kjit_launch(mod, "k", &config, args, 5), KJIT_TYPE,
          "'v' takes f32x4, not a value of type i32x4");
    args[0] = kjit_arg_value(KJIT_F32X4, NULL);
    FAILS(kjit_launch(mod, "k", &config, args, 5), KJIT_INVALID, "NULL");
    args[0] = kjit_arg_f64(1);
    FAILS(kjit_launch(mod, "k", &config, args, 5), KJIT_TYPE, "'v' takes f32x4, not the float 1.0");
    args[0] = kjit_arg_value(KJIT_F32X4, v);
    args[1] = kjit_arg_value(KJIT_F32X2, v);
    FAILS(kjit_launch(mod, "k", &config, args, 5), KJIT_TYPE, "'t' takes T with T = u8x4");
    args[1] = kjit_arg_value(KJIT_F32, v);
    FAILS(kjit_launch(mod, "k", &config, args, 5), KJIT_TYPE, "'t' takes T");
    for (int i = 2; i < 5; i++)
        kjit_array_free(args[i].u.array);
    kjit_module_free(mod);
}

/* What numpy.save gives for the numbers: vectors are one more axis, in any layout. */
static void test_files(void **state)
{
    (void)state;
    for (int f = 0; f < 2; f++) {
        kjit_array *a = create(KJIT_I32X2, 2, SHAPE(2, 3), f ? 'F' : 'C'), *numbers, *back;
        OK(kjit_array_view(a, KJIT_I32, &numbers));
        int32_t *p = kjit_array_data(a);
        for (int i = 0; i < 12; i++)
            p[i] = 10 * i;
        const char *path = path_of("v.npy");
        OK(kjit_array_save(a, path));
        OK(kjit_array_load(ctx, path, &back));
        assert_int_equal(kjit_array_dtype(back), KJIT_I32);
        assert_int_equal(kjit_array_ndim(back), 3);
        assert_memory_equal(kjit_array_shape(back), kjit_array_shape(numbers), 3 * sizeof(int64_t));
        const int64_t *s = kjit_array_strides(numbers);
        const int32_t *q = kjit_array_data(back);
        for (int i = 0; i < 12; i++) {
            int64_t at = i / 6 * s[0] + i / 2 % 3 * s[1] + i % 2 * s[2];
            assert_int_equal(q[i], *(int32_t *)((char *)p + at));
        }
        kjit_array_free(a);
        kjit_array_free(numbers);
        kjit_array_free(back);
    }
}

/* With the vectors' axis there would be one more than a file that is loaded may have. */
static void test_files_of_many_axes(void **state)
{
    (void)state;
    kjit_array *a = create(KJIT_F32X2, 6, SHAPE(1, 1, 1, 1, 1, 2), 'C');
    FAILS(kjit_array_save(a, path_of("many.npy")), KJIT_SHAPE,
          "cannot save f32x2 with 6 axes: with the vectors' own the file has 7, and at most 6");
    kjit_array_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),  cmocka_unit_test(test_views_refused),
        cmocka_unit_test(test_fields), cmocka_unit_test(test_launch),
        cmocka_unit_test(test_files),  cmocka_unit_test(test_files_of_many_axes),
    };
    int failed = cmocka_run_group_tests(tests, make_context, drop_context);
    drop_folder();
    return failed;
}
