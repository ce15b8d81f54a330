/* Printing: what NumPy prints for the same elements (checked against NumPy 2.4). */
#include "api.h"

#include <locale.h>
#include <math.h>

static void prints(kjit_array *a, const char *expected)
{
    char *text;
    OK(kjit_array_format(a, &text));
    assert_string_equal(text, expected);
    free(text);
    kjit_array_free(a);
}

#define PRINTS(expected, type, dtype, ...) \
    do { \
        type data_[] = {__VA_ARGS__}; \
        prints(wrap(data_, dtype, 1, SHAPE(sizeof data_ / sizeof *data_)), expected); \
    } while (0)

static void test_integers(void **state)
{
    (void)state;
    PRINTS("[ 0  3  6  9 12]", int32_t, KJIT_I32, 0, 3, 6, 9, 12);
    PRINTS("[-128    5  127]", int8_t, KJIT_I8, -128, 5, 127);
    PRINTS("[18446744073709551615                    0]", uint64_t, KJIT_U64, UINT64_MAX, 0);
    PRINTS("[-9223372036854775808]", int64_t, KJIT_I64, INT64_MIN);
    PRINTS("[65535]", uint16_t, KJIT_U16, 65535);
    PRINTS("[ True False]", uint8_t, KJIT_BOOL, 1, 0);
    PRINTS("[ True  True]", uint8_t, KJIT_BOOL, 1, 1);
}

static void test_floats(void **state)
{
    (void)state;
    PRINTS("[0.  0.5 1. ]", float, KJIT_F32, 0, 0.5f, 1);
    PRINTS("[0.1 0.2 0.3]", float, KJIT_F32, 0.1f, 0.2f, 0.3f);
    PRINTS("[0.33333334]", float, KJIT_F32, 1.0f / 3);
    PRINTS("[0.33333333]", double, KJIT_F64, 1.0 / 3);
    PRINTS("[-1.5   2.25]", double, KJIT_F64, -1.5, 2.25);
    PRINTS("[-0.]", double, KJIT_F64, -0.0);
    PRINTS("[1.e-05 1.e+00]", double, KJIT_F64, 1e-5, 1);
    PRINTS("[1.e+08]", double, KJIT_F64, 1e8);
    PRINTS("[99999999.]", double, KJIT_F64, 99999999);
    PRINTS("[1.e+06]", float, KJIT_F32, 1e6f);
    PRINTS("[999999.9]", float, KJIT_F32, 999999.9f);
    PRINTS("[1.e+100 1.e-100]", double, KJIT_F64, 1e100, 1e-100);
    PRINTS("[1.e+005 1.e+100]", double, KJIT_F64, 1e5, 1e100);
    PRINTS("[ 1. nan inf]", float, KJIT_F32, 1, NAN, INFINITY);
    PRINTS("[  1.  nan -inf]", float, KJIT_F32, 1, NAN, -INFINITY);
    PRINTS("[nan]", double, KJIT_F64, NAN);
    PRINTS("[1.00000000e-03 1.23456789e+03]", double, KJIT_F64, 0.001, 1234.56789);
    PRINTS("[5.e-324]", double, KJIT_F64, 5e-324);
}

static void test_nesting(void **state)
{
    (void)state;
    int32_t data[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    prints(wrap(data, KJIT_I32, 2, SHAPE(3, 4)), "[[ 0  1  2  3]\n [ 4  5  6  7]\n [ 8  9 10 11]]");
    prints(wrap(data, KJIT_I32, 3, SHAPE(2, 2, 3)),
           "[[[ 0  1  2]\n  [ 3  4  5]]\n\n [[ 6  7  8]\n  [ 9 10 11]]]");
    prints(wrap(data, KJIT_I32, 0, NULL), "0");
    prints(wrap(data, KJIT_I32, 2, SHAPE(3, 0)), "[]");
    kjit_array *a = wrap(data, KJIT_I32, 2, SHAPE(3, 4)), *v;
    OK(kjit_array_slice(a, SHAPE(2, 3), SHAPE(-1, -1), SHAPE(-1, -2), &v));
    kjit_array_free(a);
    prints(v, "[[11  9]\n [ 7  5]\n [ 3  1]]");
    float tenth = 0.1f;
    double small = 1e-5;
    prints(wrap(&tenth, KJIT_F32, 0, NULL), "0.1");
    prints(wrap(&small, KJIT_F64, 0, NULL), "1e-05");
}

static void test_lines(void **state)
{
    (void)state;
    kjit_array *a = create(KJIT_I32, 1, SHAPE(30), 'C');
    for (int i = 0; i < 30; i++)
        ((int32_t *)kjit_array_data(a))[i] = i;
    prints(a, "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n 24 25 26 "
              "27 28 29]");
    a = create(KJIT_F32, 1, SHAPE(1001), 'C');
    for (int i = 0; i < 1001; i++)
        ((float *)kjit_array_data(a))[i] = (float)i;
    prints(a, "[   0.    1.    2. ...  998.  999. 1000.]");
    a = create(KJIT_I32, 2, SHAPE(100, 100), 'C');
    for (int i = 0; i < 10000; i++)
        ((int32_t *)kjit_array_data(a))[i] = i;
    prints(a, "[[   0    1    2 ...   97   98   99]\n [ 100  101  102 ...  197  198  199]\n"
              " [ 200  201  202 ...  297  298  299]\n ...\n [9700 9701 9702 ... 9797 9798 9799]\n"
              " [9800 9801 9802 ... 9897 9898 9899]\n [9900 9901 9902 ... 9997 9998 9999]]");
}

/* A program's locale does not change what is printed. */
static void test_locale(void **state)
{
    (void)state;
    static const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    for (size_t i = 0; i < 4 && !setlocale(LC_ALL, commas[i]); i++)
        continue;
    PRINTS("[0.5  2.25]", double, KJIT_F64, 0.5, 2.25);
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers), cmocka_unit_test(test_floats),
        cmocka_unit_test(test_nesting),  cmocka_unit_test(test_lines),
        cmocka_unit_test(test_locale),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
