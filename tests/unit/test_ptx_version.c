/* Versions of PTX, drivers, chips and LLVM, brought together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "target/ptx_version.h"

static void of_driver(void **state)
{
    (void)state;
    static const struct {
        int driver, ptx;
    } rows[] = {{11080, 78}, {12000, 80}, {12010, 81}, {12020, 82}, {12030, 83},
                {12040, 84}, {12050, 85}, {12060, 85}, {12070, 86}, {12080, 87},
                {12090, 88}, {13000, 90}, {13010, 91}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(kj_ptx_of_driver(rows[i].driver), rows[i].ptx);
}

static void of_drivers_outside_the_table(void **state)
{
    (void)state;
    assert_int_equal(kj_ptx_of_driver(0), 0);
    assert_int_equal(kj_ptx_of_driver(11070), 0);
    assert_int_equal(kj_ptx_of_driver(99990), 91); /* newer drivers take older PTX */
}

static void target_is_the_newest_that_runs(void **state)
{
    (void)state;
    static const struct {
        int capability, ptx;
        const char *target;
    } rows[] = {
        {75, 78, "sm_75"}, {80, 78, "sm_80"},   {86, 84, "sm_86"},   {87, 84, "sm_87"},
        {89, 84, "sm_89"}, {90, 84, "sm_90"},   {100, 88, "sm_100"}, {103, 88, "sm_103"},
        {88, 90, "sm_88"}, {110, 90, "sm_110"}, {120, 88, "sm_120"}, {121, 88, "sm_121"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(kj_ptx_target_of(rows[i].capability, rows[i].ptx, 22), rows[i].target);
}

static void target_of_chips_beyond_the_table(void **state)
{
    (void)state;
    assert_string_equal(kj_ptx_target_of(76, 90, 22), "sm_75");
    assert_string_equal(kj_ptx_target_of(101, 90, 22), "sm_100");
    assert_string_equal(kj_ptx_target_of(150, 91, 22), "sm_121");
    assert_null(kj_ptx_target_of(70, 90, 22));
    assert_null(kj_ptx_target_of(0, 90, 22));
}

static void target_keeps_to_what_the_driver_takes(void **state)
{
    (void)state;
    assert_string_equal(kj_ptx_target_of(120, 86, 22), "sm_100");
    assert_string_equal(kj_ptx_target_of(100, 84, 22), "sm_90");
    assert_string_equal(kj_ptx_target_of(89, 78, 22), "sm_89");
    assert_string_equal(kj_ptx_target_of(88, 78, 22), "sm_87");
}

static void target_keeps_to_what_llvm_knows(void **state)
{
    (void)state;
    assert_string_equal(kj_ptx_target_of(120, 90, 19), "sm_90");
    assert_string_equal(kj_ptx_target_of(103, 90, 20), "sm_100");
    assert_string_equal(kj_ptx_target_of(121, 90, 20), "sm_120");
    assert_string_equal(kj_ptx_target_of(110, 90, 21), "sm_103");
}

static void version_without_a_driver_is_the_oldest_that_has_the_chip(void **state)
{
    (void)state;
    assert_int_equal(kj_ptx_version("sm_75", 0, 22), 78);
    assert_int_equal(kj_ptx_version("sm_90", 0, 22), 78);
    assert_int_equal(kj_ptx_version("sm_100", 0, 22), 86);
    assert_int_equal(kj_ptx_version("sm_120", 0, 22), 87);
    assert_int_equal(kj_ptx_version("sm_121", 0, 22), 88);
}

static void version_is_the_newest_that_both_know(void **state)
{
    (void)state;
    assert_int_equal(kj_ptx_version("sm_75", 84, 22), 84);
    assert_int_equal(kj_ptx_version("sm_75", 91, 22), 90); /* LLVM 22 ends at 9.0 */
    assert_int_equal(kj_ptx_version("sm_90", 90, 19), 85);
    assert_int_equal(kj_ptx_version("sm_90", 89, 22), 88); /* there is no 8.9 */
    assert_int_equal(kj_ptx_version("sm_120", 87, 20), 87);
}

static void version_of_unknown_targets(void **state)
{
    (void)state;
    assert_int_equal(kj_ptx_version("sm_70", 90, 22), 0);
    assert_int_equal(kj_ptx_version("sm_90a", 90, 22), 0);
    assert_int_equal(kj_ptx_version("", 90, 22), 0);
    assert_int_equal(kj_ptx_version("sm_110", 90, 21), 0);
}

static void version_of_drivers_that_are_too_old(void **state)
{
    (void)state;
    assert_int_equal(kj_ptx_version("sm_100", 85, 22), -86);
    assert_int_equal(kj_ptx_version("sm_75", 77, 22), -78);
}

/* Whatever the driver, the chip and LLVM: the target that is chosen has a version. */
static void chosen_targets_have_versions(void **state)
{
    (void)state;
    static const int drivers[] = {11080, 12000, 12040, 12060, 12070, 12080, 12090, 13000, 13020};
    for (int capability = 75; capability < 140; capability++)
        for (int llvm = 19; llvm < 24; llvm++)
            for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
                int ptx = kj_ptx_of_driver(drivers[i]);
                const char *target = kj_ptx_target_of(capability, ptx, llvm);
                assert_non_null(target);
                int version = kj_ptx_version(target, ptx, llvm);
                assert_true(version >= 78 && version <= ptx);
            }
}

static void chips_are_listed_oldest_first(void **state)
{
    (void)state;
    assert_string_equal(kj_ptx_chip(0, 22), "sm_75");
    assert_string_equal(kj_ptx_chip(11, 22), "sm_121");
    assert_null(kj_ptx_chip(12, 22));
    assert_string_equal(kj_ptx_chip(5, 19), "sm_90");
    assert_null(kj_ptx_chip(6, 19));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_driver),
        cmocka_unit_test(of_drivers_outside_the_table),
        cmocka_unit_test(target_is_the_newest_that_runs),
        cmocka_unit_test(target_of_chips_beyond_the_table),
        cmocka_unit_test(target_keeps_to_what_the_driver_takes),
        cmocka_unit_test(target_keeps_to_what_llvm_knows),
        cmocka_unit_test(version_without_a_driver_is_the_oldest_that_has_the_chip),
        cmocka_unit_test(version_is_the_newest_that_both_know),
        cmocka_unit_test(version_of_unknown_targets),
        cmocka_unit_test(version_of_drivers_that_are_too_old),
        cmocka_unit_test(chosen_targets_have_versions),
        cmocka_unit_test(chips_are_listed_oldest_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
