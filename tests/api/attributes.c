/* What a device is like: every attribute is a number or KJIT_NO_DEVICE, on either device. */
#include "api.h"

#define NAMES(name, number, text) KJIT_ATTRIBUTE_##name,
static const kjit_attribute all[] = {KJIT_ATTRIBUTE_MAP(NAMES)};

static int64_t of(kjit_attribute attribute)
{
    int64_t value;
    OK(kjit_device_attribute(ctx, attribute, &value));
    return value;
}

static void every_one(void **state)
{
    (void)state;
    int has = 0, has_not = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int64_t value = -1;
        kjit_status status = kjit_device_attribute(ctx, all[i], &value);
        if (status == KJIT_OK) {
            assert_true(value >= 0);
            has++;
        } else {
            FAILS(status, KJIT_NO_DEVICE, "a device of kind 'cpu' has no ");
            has_not++;
        }
    }
    assert_true(on_cpu() ? has > 10 && has_not > 5 : has_not == 0);
}

static void limits(void **state)
{
    (void)state;
    kjit_device_info info;
    OK(kjit_context_device(ctx, &info));
    assert_int_equal(of(KJIT_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
    assert_int_equal(of(KJIT_ATTRIBUTE_MAX_BLOCK_Z), 64);
    assert_int_equal(of(KJIT_ATTRIBUTE_MAX_GRID_X), INT32_MAX);
    assert_int_equal(of(KJIT_ATTRIBUTE_MAX_GRID_Y), 65535);
    assert_int_equal(of(KJIT_ATTRIBUTE_WARP_SIZE), 32);
    assert_int_equal(of(KJIT_ATTRIBUTE_MULTIPROCESSORS), info.units);
    assert_int_equal(of(KJIT_ATTRIBUTE_COOPERATIVE_LAUNCH), 1);
    assert_true(of(KJIT_ATTRIBUTE_SHARED_PER_BLOCK_OPTIN) >= of(KJIT_ATTRIBUTE_SHARED_PER_BLOCK));
}

static void mistakes(void **state)
{
    (void)state;
    int64_t value;
    FAILS(kjit_device_attribute(ctx, KJIT_ATTRIBUTE_WARP_SIZE, NULL), KJIT_INVALID, "out is NULL");
    FAILS(kjit_device_attribute(ctx, (kjit_attribute)0, &value), KJIT_INVALID, "0 is no attribute");
    FAILS(kjit_device_attribute(ctx, (kjit_attribute)-1, &value), KJIT_INVALID, "no attribute");
    FAILS(kjit_device_attribute(ctx, (kjit_attribute)4711, &value), KJIT_INVALID, "no attribute");
    assert_int_equal(kjit_device_attribute(NULL, KJIT_ATTRIBUTE_WARP_SIZE, &value), KJIT_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_one),
        cmocka_unit_test(limits),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
