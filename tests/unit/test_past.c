/* Which launches store past the caches: by what they touch, not by what they are given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device/cpu/cpu.h"

enum { CACHED = 32 << 20 };

/* A launch by so many blocks of 256 of a kernel that writes the first of `n` arrays of f32, [rows, columns] each, that begin at
 * these addresses. */
static bool goes(int64_t blocks, int n, int64_t rows, int64_t columns, const uint64_t *memory,
                 bool shared_out)
{
    kj_param_info params[4];
    kj_host_launch *values = calloc(1, sizeof *values + 20 * sizeof *values->slots);
    assert_non_null(values);
    values->grid[0] = blocks;
    values->block[0] = 256;
    values->grid[1] = values->grid[2] = values->block[1] = values->block[2] = 1;
    for (int i = 0; i < n; i++) {
        uint64_t *slots = values->slots + 5 * i;
        params[i] = (kj_param_info){
            .is_array = true, .read = i > 0, .written = i == 0, .ndim = 2, .size = 4, .unit = 4};
        slots[0] = memory[i];
        slots[1] = (uint64_t)rows;
        slots[2] = (uint64_t)columns;
        slots[3] = 4096;
        slots[4] = 1;
    }
    kj_kernel_info kernel = {.params = params, .nparams = n};
    int16_t past = kj_goes_past(&kernel, values, CACHED, shared_out);
    free(values);
    assert_true(past == 0 || past == -64);
    return past != 0;
}

static void by_what_is_touched(void **state)
{
    (void)state;
    const uint64_t apart[] = {1 << 28, 2 << 28, 3 << 28}, same[] = {1 << 28, 2 << 28, 2 << 28};
    enum { LARGE = 1 << 24, THREADS = LARGE / 256 };
    assert_true(goes(THREADS, 3, 4096, 4096, apart, false));
    assert_false(goes(THREADS / 64, 3, 4096, 4096, apart, false)); /* few threads */
    assert_true(goes(64, 3, 4096, 4096, apart, true));             /* that go on */
    assert_false(goes(THREADS, 3, 4096, 64, apart, false));        /* views of few columns */
    assert_true(goes(THREADS, 3, 4096, 800, apart, false));
    assert_false(goes(THREADS, 3, 4096, 800, same, false)); /* 25 MB of 38 are two */
    assert_false(goes(THREADS, 3, 0, 4096, apart, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_what_is_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
