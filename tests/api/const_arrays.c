/* Const arrays that a program fills: by name, with checks, again between launches, with work
 * queued. */
#include "api.h"

static const char source[] = "const lut: i32[4]\n"
                             "const table: f32[2, 3]\n"
                             "const fixed: i32[] = [1, 2]\n"
                             "kernel look(x: i32[]) { x[grid(1)] = lut[grid(1) % 4] }\n"
                             "kernel sum(x: f32[]) { x[0] = table[0, 2] + table[1, 0] }\n"
                             "kernel none(x: i32[]) { x[0] = fixed[1] }\n";

static kjit_module *mod;

static int set_up(void **state)
{
    if (make_context(state) != 0)
        return 1;
    mod = module(source);
    return 0;
}

static int tear_down(void **state)
{
    kjit_module_free(mod);
    return drop_context(state);
}

static kjit_status launch(const char *kernel, kjit_array *a, kjit_stream *s)
{
    kjit_arg args[] = {kjit_arg_array(a)};
    kjit_config config = {.grid = {1}, .block = {4}, .stream = s};
    return kjit_launch(mod, kernel, &config, args, 1);
}

static void test_filling(void **state)
{
    (void)state;
    int32_t x[4] = {0}, elements[8] = {4, 0, 5, 0, 6, 0, 7, 0};
    kjit_array *a = wrap(x, KJIT_I32, 1, SHAPE(4)), *from, *d;
    OK(launch("none", a, NULL));
    assert_int_equal(x[0], 2);
    FAILS(launch("look", a, NULL), KJIT_LAUNCH, "test.knl:1:7: error: 'lut' has no elements yet");
    OK(kjit_array_wrap(ctx, elements, KJIT_I32, 1, SHAPE(4), SHAPE(8), KJIT_HOST, &from));
    OK(kjit_module_set_const(mod, "lut", from));
    OK(launch("look", a, NULL));
    for (int i = 0; i < 4; i++)
        assert_int_equal(x[i], 4 + i);
    kjit_stream *s;
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_to_device(a, NULL, &d));
    OK(launch("look", d, s));
    elements[2] = 50;
    OK(kjit_module_set_const(mod, "lut", from)); /* the launch has the old elements */
    OK(kjit_copy(a, d, NULL));
    assert_int_equal(x[1], 5);
    OK(launch("look", d, s));
    OK(kjit_stream_synchronize(s));
    OK(kjit_copy(a, d, NULL));
    assert_int_equal(x[1], 50);
    kjit_stream_free(s);
    kjit_array_free(d);
    kjit_array_free(from);
    kjit_array_free(a);
}

static void test_device_array(void **state)
{
    (void)state;
    float x[4] = {0}, elements[6] = {1, 2, 3, 4, 5, 6};
    kjit_array *a = wrap(x, KJIT_F32, 1, SHAPE(4)), *from, *d;
    from = wrap(elements, KJIT_F32, 2, SHAPE(2, 3));
    OK(kjit_to_device(from, NULL, &d));
    OK(kjit_module_set_const(mod, "table", d));
    kjit_array_free(d);
    OK(launch("sum", a, NULL));
    assert_true(x[0] == 7);
    kjit_array_free(from);
    kjit_array_free(a);
}

static void test_mistakes(void **state)
{
    (void)state;
    int32_t x[6] = {0};
    kjit_array *four = wrap(x, KJIT_I32, 1, SHAPE(4)), *five = wrap(x, KJIT_I32, 1, SHAPE(5)),
               *six = wrap(x, KJIT_I32, 2, SHAPE(2, 3));
    FAILS(kjit_module_set_const(mod, "fixed", four), KJIT_NOT_FOUND, "no const array 'fixed'");
    FAILS(kjit_module_set_const(mod, "look", four), KJIT_NOT_FOUND, "no const array 'look'");
    FAILS(kjit_module_set_const(mod, "lut", five), KJIT_SHAPE, "(4,), not (5,)");
    FAILS(kjit_module_set_const(mod, "lut", six), KJIT_SHAPE, "(4,), not (2, 3)");
    FAILS(kjit_module_set_const(mod, "table", six), KJIT_TYPE, "f32, not i32");
    FAILS(kjit_module_set_const(mod, "lut", NULL), KJIT_INVALID, "NULL");
    assert_int_equal(kjit_module_set_const(NULL, "lut", four), KJIT_INVALID);
    kjit_array_free(four);
    kjit_array_free(five);
    kjit_array_free(six);
}

/* What a test of the file fills is as it was before, once the test has ended, however it ends. */
static void test_tests(void **state)
{
    (void)state;
    static const char text[] = "const lut: i32[4]\n"
                               "const own: i32[2]\n"
                               "kernel look(x: i32[]) { x[grid(1)] = lut[grid(1) % 4] }\n"
                               "kernel owns(x: i32[]) { x[grid(1)] = own[grid(1) % 2] }\n"
                               "test \"fills\" {\n"
                               "    lut = array([1, 2, 3, 4], i32)\n"
                               "    own = array([8, 9], i32)\n"
                               "    let x = zeros(4, i32)\n"
                               "    look[1, 4](x)\n"
                               "    assert(x[3] == 4)\n"
                               "    owns[1, 4](x)\n"
                               "    assert(x[3] == 9)\n"
                               "}\n"
                               "test \"fails\" { lut = array([1, 2, 3, 5], i32); assert(false) }\n";
    int32_t x[4] = {0}, elements[4] = {4, 5, 6, 7};
    kjit_module *tests = module(text), *first = mod;
    kjit_array *a = wrap(x, KJIT_I32, 1, SHAPE(4)), *from = wrap(elements, KJIT_I32, 1, SHAPE(4));
    OK(kjit_module_set_const(tests, "lut", from));
    mod = tests;
    for (int turn = 0; turn < 2; turn++) {
        OK(launch("look", a, NULL));
        assert_int_equal(x[3], 7);
        OK(kjit_run(tests, &(kjit_run_options){.test = "fills"}));
        OK(launch("look", a, NULL));
        assert_int_equal(x[3], 7);
        FAILS(kjit_run(tests, &(kjit_run_options){.test = "fails"}), KJIT_ASSERT, "assertion");
        OK(launch("look", a, NULL));
        assert_int_equal(x[3], 7);
        FAILS(launch("owns", a, NULL), KJIT_LAUNCH, "no elements yet");
    }
    mod = first;
    kjit_array_free(a);
    kjit_array_free(from);
    kjit_module_free(tests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filling),
        cmocka_unit_test(test_device_array),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_tests),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
