/* Complex numbers through the API: their types, fields and views, arguments of launches, .npy files
 * of either byte order, text. */
#include <math.h>

#include "api.h"

static void test_types(void **state)
{
    (void)state;
    assert_int_equal(KJIT_C64, 13);
    assert_int_equal(KJIT_C128, 14);
    assert_int_equal(kjit_dtype_size(KJIT_C64), 8);
    assert_int_equal(kjit_dtype_size(KJIT_C128), 16);
    assert_string_equal(kjit_dtype_name(KJIT_C64), "c64");
    double data[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    kjit_array *a = wrap(data, KJIT_C128, 1, SHAPE(3)), *imag, *parts, *back;
    assert_int_equal(kjit_array_strides(a)[0], 16);
    OK(kjit_array_field(a, "imag", &imag));
    assert_int_equal(kjit_array_dtype(imag), KJIT_F64);
    assert_true(((double *)kjit_array_data(imag))[2] == 4);
    OK(kjit_array_view(a, KJIT_F64, &parts));
    assert_int_equal(kjit_array_shape(parts)[1], 2);
    OK(kjit_array_view(parts, KJIT_C128, &back));
    assert_ptr_equal(kjit_array_data(back), data);
    kjit_array_free(back);
    FAILS(kjit_array_view(a, KJIT_F32, &back), KJIT_TYPE, "an array of c128 has no view as f32");
    FAILS(kjit_array_field(a, "x", &back), KJIT_NOT_FOUND, "c128 has no field 'x'");
    kjit_array_free(a);
    kjit_array_free(imag);
    kjit_array_free(parts);
}

static const char source[] = "kernel k<T: complex>(z: c64, t: T, a: T[]) {\n"
                             "    requires z.real > 0\n"
                             "    a[0] = t\n"
                             "    a[1] = t * z\n"
                             "}\n"
                             "kernel alone<T: number>(t: T, out: f64[]) {\n"
                             "    out[0] = abs(t * 0.1)\n"
                             "}\n";

static void test_launch(void **state)
{
    (void)state;
    float z[2] = {2, 0.5f};
    double t[2] = {0.1, 3}, got[2][2], out;
    kjit_module *mod = module(source);
    kjit_config config = {.grid = {1}, .block = {1}};
    kjit_arg args[3] = {kjit_arg_value(KJIT_C64, z), kjit_arg_value(KJIT_C128, t),
                        kjit_arg_array(wrap(got, KJIT_C128, 1, SHAPE(2)))};
    OK(kjit_launch(mod, "k", &config, args, 3));
    assert_memory_equal(got[0], t, sizeof t);
    assert_true(got[1][0] == 0.1 * 2 - 3 * 0.5 && got[1][1] == 3 * 2 + 0.1 * 0.5);
    /* Either complex type, and real numbers. */
    args[0] = kjit_arg_value(KJIT_C128, t);
    args[1] = kjit_arg_value(KJIT_C64, z);
    OK(kjit_launch(mod, "k", &config, args, 3));
    assert_true(got[0][0] == 2 && got[0][1] == 0.5);
    assert_true(got[1][1] == 2 * 3 + (double)0.1f * 0.5);
    args[0] = kjit_arg_i64(4);
    args[1] = kjit_arg_f64(0.1);
    OK(kjit_launch(mod, "k", &config, args, 3));
    assert_true(got[0][0] == 0.1 && got[0][1] == 0 && got[1][0] == 0.4 && got[1][1] == 0);
    args[0] = kjit_arg_f64(-1);
    FAILS(kjit_launch(mod, "k", &config, args, 3), KJIT_LAUNCH, "requires z.real > 0");
    args[0] = kjit_arg_value(KJIT_F32X2, z);
    FAILS(kjit_launch(mod, "k", &config, args, 3), KJIT_TYPE, "'z' takes c64");
    args[0] = kjit_arg_bool(1);
    FAILS(kjit_launch(mod, "k", &config, args, 3), KJIT_TYPE, "'z' takes c64, not the bool true");
    args[0] = kjit_arg_f64(1e300);
    FAILS(kjit_launch(mod, "k", &config, args, 3), KJIT_TYPE, "does not fit in 'z'");
    args[0] = kjit_arg_value(KJIT_C128, ((double[]){1, -1e39}));
    FAILS(kjit_launch(mod, "k", &config, args, 3), KJIT_TYPE,
          "the c128 (1-1e+39j) does not fit in 'z' (c64)");
    args[0] =
        kjit_arg_value(KJIT_C128, ((double[]){INFINITY, 0.5})); /* it is no number beyond others */
    OK(kjit_launch(mod, "k", &config, args, 3));
    assert_true(isinf(got[0][0] + got[1][0]));
    kjit_array_free(args[2].u.array);
    kjit_arg alone[2] = {kjit_arg_value(KJIT_C128, (double[]){30, 40}),
                         kjit_arg_array(wrap(&out, KJIT_F64, 1, SHAPE(1)))};
    OK(kjit_launch(mod, "alone", &config, alone, 2));
    assert_true(out == 5);
    kjit_array_free(alone[1].u.array);
    kjit_module_free(mod);
}

static const char *made(const char *header, const void *data, size_t size)
{
    char bytes[256] = "\x93NUMPY\x01";
    size_t n = strlen(header);
    bytes[8] = (char)n;
    memcpy(bytes + 10, header, n);
    memcpy(bytes + 10 + n, data, size);
    write_file(path_of("made.npy"), bytes, 10 + n + size);
    return path_of("made.npy");
}

static void test_files(void **state)
{
    (void)state;
    char *text;
    kjit_array *a, *b;
    float data[2][3][2];
    for (int i = 0; i < 12; i++)
        data[i / 6][i / 2 % 3][i % 2] = (float)i;
    OK(kjit_array_wrap(ctx, data, KJIT_C64, 2, SHAPE(3, 2), SHAPE(8, 24), KJIT_HOST, &a));
    OK(kjit_array_save(a, path_of("z.npy")));
    OK(kjit_array_load(ctx, path_of("z.npy"), &b));
    assert_int_equal(kjit_array_dtype(b), KJIT_C64);
    assert_int_equal(kjit_array_strides(b)[0], 8); /* F order, as it was */
    assert_memory_equal(kjit_array_data(b), data, sizeof data);
    FILE *file = fopen(path_of("z.npy"), "rb");
    char head[80] = "";
    assert_int_equal(fread(head, 1, 79, file), 79);
    fclose(file);
    assert_non_null(strstr(head + 10, "'descr': '<c8', 'fortran_order': True, 'shape': (3, 2)"));
    kjit_array_free(a);
    kjit_array_free(b);

    OK(kjit_array_load(ctx,
                       made("{'descr': '>c16', 'fortran_order': False, 'shape': (1,)}",
                            "\x3f\xf8\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0", 16),
                       &a));
    OK(kjit_array_format(a, &text));
    assert_string_equal(text, "[1.5-2.j]");
    free(text);
    kjit_array_free(a);
    OK(kjit_array_load(ctx,
                       made("{'descr': '>c8', 'fortran_order': False, 'shape': ()}",
                            "\x3f\x80\0\0\x7f\x80\0\0", 8),
                       &a));
    OK(kjit_array_format(a, &text));
    assert_string_equal(text, "(1+infj)");
    free(text);
    kjit_array_free(a);
    FAILS(
        kjit_array_load(
            ctx, made("{'descr': '<c32', 'fortran_order': False, 'shape': ()}", "12345678", 8), &a),
        KJIT_TYPE, "c32");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_launch),
        cmocka_unit_test(test_files),
    };
    int failed = cmocka_run_group_tests(tests, make_context, drop_context);
    drop_folder();
    return failed;
}
