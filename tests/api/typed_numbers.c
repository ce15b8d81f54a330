/* Numbers given with a type (kjit_arg_value): what they are for type parameters, what converts, what
 * is refused. */
#include "api.h"

static const char source[] =
    "kernel third<T: float>(x: T, out: f64[]) { out[0] = f64((x * 0 + 1) / 3) }\n"
    "kernel width<T: int>(x: T, out: f64[]) { out[0] = f64(popc(~(x ^ x))) }\n"
    "kernel pair<T: number>(x: T, y: T, out: f64[]) { out[0] = f64(x) + f64(y) }\n"
    "kernel beside<T: number>(x: T, out: T[]) { out[0] = x }\n"
    "kernel fixed(n: i32, x: f32, b: bool, out: f64[]) { out[0] = f64(n) + f64(x) if b else 0.0 }\n"
    "kernel turns<T: complex>(z: T, out: f64[]) { out[0] = f64(abs(z * 0.1)) }\n";

static kjit_module *mod;
static double out[2];
static const kjit_config config = {.grid = {1}, .block = {1}};

/* x, perhaps y, and the array. */
static kjit_status call(const char *kernel, kjit_arg x, const kjit_arg *y)
{
    kjit_arg args[3] = {x, y ? *y : x};
    kjit_array *a = wrap(out, KJIT_F64, 1, SHAPE(2));
    int n = y ? 2 : 1;
    args[n] = kjit_arg_array(a);
    kjit_status status = kjit_launch(mod, kernel, &config, args, n + 1);
    kjit_array_free(a);
    return status;
}

static const float single = 2.5f;
static const double real = 2.5;
static const int32_t i32 = 7;
static const uint8_t u8 = 200;
static const uint32_t u32 = 4000000000u;
static const int64_t i64 = -5, vast = INT64_C(1) << 40;
static const uint64_t u64 = UINT64_MAX;
static const uint8_t yes = 1;

static void test_alone(void **state)
{
    (void)state;
    OK(call("third", kjit_arg_value(KJIT_F32, &single), NULL));
    assert_true(out[0] == (double)(1.0f / 3));
    OK(call("third", kjit_arg_value(KJIT_F64, &real), NULL));
    assert_true(out[0] == 1.0 / 3);
    OK(call("third", kjit_arg_f64(2.5), NULL)); /* a plain one: as a literal */
    assert_true(out[0] == (double)(1.0f / 3));
    OK(call("third", kjit_arg_value(KJIT_I64, &i64), NULL)); /* no float: as a literal would be */
    assert_true(out[0] == (double)(1.0f / 3));
    OK(call("width", kjit_arg_value(KJIT_U8, &u8), NULL));
    assert_true(out[0] == 8);
    OK(call("width", kjit_arg_value(KJIT_I64, &i64), NULL));
    assert_true(out[0] == 64);
    OK(call("width", kjit_arg_i64(7), NULL));
    assert_true(out[0] == 32);
    FAILS(call("width", kjit_arg_value(KJIT_F32, &single), NULL), KJIT_TYPE,
          "'x' is of f32, but T stands for int types");
    OK(call("turns", kjit_arg_value(KJIT_F64, &real), NULL));
    assert_true(out[0] == 0.25);
    OK(call("turns", kjit_arg_value(KJIT_F32, &single), NULL));
    assert_true(out[0] == (double)(2.5f * 0.1f));
}

static void test_common(void **state)
{
    (void)state;
    kjit_arg y = kjit_arg_value(KJIT_U8, &u8);
    OK(call("pair", kjit_arg_value(KJIT_I32, &i32), &y)); /* i32 */
    assert_true(out[0] == 207);
    y = kjit_arg_i64(300);
    FAILS(call("pair", kjit_arg_value(KJIT_U8, &u8), &y), KJIT_TYPE,
          "the integer 300 does not fit in 'y' (T with T = u8)");
    y = kjit_arg_value(KJIT_U8, &u8);
    FAILS(call("pair", kjit_arg_i64(-1), &y), KJIT_TYPE,
          "the integer -1 does not fit in 'x' (T with T = u8)");
    y = kjit_arg_f64(0.5);
    OK(call("pair", kjit_arg_value(KJIT_I32, &i32), &y)); /* as literals: f32 */
    assert_true(out[0] == 7.5);
    y = kjit_arg_value(KJIT_F32, &single);
    OK(call("pair", kjit_arg_value(KJIT_I32, &i32), &y));
    assert_true(out[0] == 9.5);
    y = kjit_arg_value(KJIT_U32, &u32);
    OK(call("pair", kjit_arg_value(KJIT_I32, &i32), &y)); /* i64 */
    assert_true(out[0] == 4000000007.0);
    y = kjit_arg_value(KJIT_U64, &u64);
    FAILS(call("pair", kjit_arg_value(KJIT_I64, &i64), &y), KJIT_TYPE,
          "i64 and u64, of 'y', have no type in common");
    y = kjit_arg_value(KJIT_BOOL, &yes);
    FAILS(call("pair", kjit_arg_value(KJIT_I64, &i64), &y), KJIT_TYPE,
          "i64 and bool, of 'y', have no type in common");
    y = kjit_arg_value(KJIT_I32, NULL);
    FAILS(call("pair", kjit_arg_i64(1), &y), KJIT_INVALID, "the value for 'y' is NULL");
}

static void test_fixed(void **state)
{
    (void)state;
    kjit_array *a = wrap(out, KJIT_F64, 1, SHAPE(2));
    kjit_arg args[4] = {kjit_arg_value(KJIT_I64, &i64), kjit_arg_value(KJIT_F64, &real),
                        kjit_arg_value(KJIT_BOOL, &yes), kjit_arg_array(a)};
    OK(kjit_launch(mod, "fixed", &config, args, 4));
    assert_true(out[0] == -2.5);
    args[1] = kjit_arg_value(KJIT_I32, &i32);
    OK(kjit_launch(mod, "fixed", &config, args, 4));
    assert_true(out[0] == 2);
    args[0] = kjit_arg_value(KJIT_I64, &vast);
    FAILS(kjit_launch(mod, "fixed", &config, args, 4), KJIT_TYPE,
          "the i64 1099511627776 does not fit in 'n' (i32)");
    args[0] = kjit_arg_value(KJIT_F32, &single);
    FAILS(kjit_launch(mod, "fixed", &config, args, 4), KJIT_TYPE, "'n' takes i32, not the f32 2.5");
    args[0] = kjit_arg_value(KJIT_BOOL, &yes);
    FAILS(kjit_launch(mod, "fixed", &config, args, 4), KJIT_TYPE,
          "'n' takes i32, not the bool True");
    args[0] = kjit_arg_i64(1);
    args[2] = kjit_arg_value(KJIT_I32, &i32);
    FAILS(kjit_launch(mod, "fixed", &config, args, 4), KJIT_TYPE, "'b' takes bool, not the i32 7");
    args[2] = kjit_arg_bool(1);
    args[3] = kjit_arg_value(KJIT_F64, &real);
    FAILS(kjit_launch(mod, "fixed", &config, args, 4), KJIT_TYPE,
          "'out' takes f64[], not the f64 2.5");
    /* Where an array says the type, a number is converted. */
    OK(call("beside", kjit_arg_value(KJIT_F32, &single), NULL));
    assert_true(out[0] == 2.5);
    OK(call("beside", kjit_arg_value(KJIT_I64, &vast), NULL));
    assert_true(out[0] == 1099511627776.0);
    kjit_array_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_common),
        cmocka_unit_test(test_fixed),
    };
    void *state = NULL;
    if (make_context(&state) != 0)
        return 1;
    mod = module(source);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kjit_module_free(mod);
    return failed + drop_context(&state);
}
