/* The CPU device's pool: every block runs once, whoever launches and however many do; faults stop;
 * workers' memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fenv.h>

#include "device/cpu/cpu.h"

enum { MAX_BLOCKS = 100000 };

static kj_pool *pool_of(int workers)
{
    kj_pool *pool;
    kj_failure why;
    assert_int_equal(kj_pool_create(workers, &pool, &why), KJIT_OK);
    assert_int_equal(kj_pool_workers(pool), workers);
    return pool;
}

/* A launch with one slot: the counters of its blocks. */
static kj_host_launch *launch_of(int64_t x, int64_t y, int64_t z, atomic_uchar *ran,
                                 kj_host_fault *fault)
{
    kj_host_launch *l = calloc(1, sizeof *l + sizeof(uint64_t));
    memcpy(l->grid, (int64_t[]){x, y, z}, sizeof l->grid);
    memcpy(l->block, (int64_t[]){1, 1, 1}, sizeof l->block);
    l->fault = fault;
    l->slots[0] = (uint64_t)(uintptr_t)ran;
    return l;
}

static int32_t count(const kj_host_launch *l, int64_t first, int64_t last, void *shared)
{
    atomic_uchar *ran = (atomic_uchar *)(uintptr_t)l->slots[0];
    for (int64_t b = first; b < last; b++) {
        if (shared) { /* ours alone while a block runs */
            memset(shared, (int)(b & 127), 1000);
            for (int i = 0; i < 1000; i++)
                if (((char *)shared)[i] != (b & 127))
                    return 1;
        }
        atomic_fetch_add(&ran[b], 1);
    }
    return (uintptr_t)shared % 64 != 0;
}

static void check_counts(kj_pool *pool, int64_t x, int64_t y, int64_t z, size_t scratch,
                         atomic_uint *cost)
{
    kj_failure why;
    kj_host_fault fault = {.kind = KJ_FAULT_NONE};
    atomic_uchar *ran = calloc((size_t)(x * y * z), 1);
    kj_host_launch *l = launch_of(x, y, z, ran, &fault);
    assert_int_equal(kj_pool_run(pool, count, l, scratch, cost, &why), KJIT_OK);
    for (int64_t b = 0; b < x * y * z; b++)
        assert_int_equal(atomic_load(&ran[b]), 1);
    free(l);
    free(ran);
}

static void test_blocks(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 2, 3, 7, 15, 16, 17, 31, 33, 100, 1000, 65537};
    for (int workers = 1; workers <= 5; workers++) {
        kj_pool *pool = pool_of(workers);
        atomic_uint cost;
        atomic_init(&cost, 0);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            check_counts(pool, sizes[i], 1, 1, 0, &cost);
            check_counts(pool, sizes[i], 1, 1, 1000 + i, &cost);
        }
        check_counts(pool, 7, 11, 13, 1000, &cost);
        kj_pool_free(pool);
    }
}

/* Sleeping workers, and a kernel that is thought to be cheap but is not. */
static void test_idle(void **state)
{
    (void)state;
    kj_pool *pool = pool_of(3);
    atomic_uint cost;
    for (int i = 0; i < 50; i++) {
        atomic_init(&cost, (unsigned)i % 2);
        nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
        check_counts(pool, i % 5 == 0 ? MAX_BLOCKS : 40, 1, 1, 0, &cost);
    }
    kj_pool_free(pool);
}

static int32_t fail_at_10(const kj_host_launch *l, int64_t first, int64_t last, void *shared)
{
    (void)shared;
    for (int64_t b = first; b < last; b++) {
        if (b == 10) {
            l->fault->kind = KJ_FAULT_DIVERGENT_BARRIER;
            return 1;
        }
    }
    return 0;
}

static void test_fault(void **state)
{
    (void)state;
    kj_failure why;
    atomic_uint cost;
    atomic_init(&cost, 0);
    for (int workers = 1; workers <= 3; workers++) {
        kj_pool *pool = pool_of(workers);
        for (int64_t blocks = 11; blocks < 3000; blocks += 500) {
            kj_host_fault fault = {0};
            kj_host_launch *l = launch_of(blocks, 1, 1, NULL, &fault);
            assert_int_equal(kj_pool_run(pool, fail_at_10, l, 0, &cost, &why), KJIT_FAULT);
            assert_int_equal(fault.kind, KJ_FAULT_DIVERGENT_BARRIER);
            l->grid[0] = 10;
            fault.kind = KJ_FAULT_NONE;
            assert_int_equal(kj_pool_run(pool, fail_at_10, l, 0, &cost, &why), KJIT_OK);
            free(l);
        }
        kj_pool_free(pool);
    }
}

/* More launches at once than the pool has slots. */
static void *launch_many(void *data)
{
    atomic_uint cost;
    atomic_init(&cost, 0);
    atomic_uchar *ran = calloc(500, 1);
    kj_failure why;
    kj_host_fault fault = {.kind = KJ_FAULT_NONE};
    kj_host_launch *l = launch_of(500, 1, 1, ran, &fault);
    uintptr_t wrong = 0;
    for (int i = 1; i <= 200; i++) {
        wrong += kj_pool_run(data, count, l, 1000, &cost, &why) != KJIT_OK;
        for (int b = 0; b < 500; b++)
            wrong += atomic_load(&ran[b]) != i;
    }
    free(l);
    free(ran);
    return (void *)wrong;
}

static void test_many(void **state)
{
    (void)state;
    pthread_t threads[24];
    kj_pool *pool = pool_of(4);
    for (int i = 0; i < 24; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_many, pool), 0);
    for (int i = 0; i < 24; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    kj_pool_free(pool);
}

static int32_t rounding(const kj_host_launch *l, int64_t first, int64_t last, void *shared)
{
    (void)l;
    (void)first;
    (void)last;
    (void)shared;
    volatile float one = 1.0f, tiny = 1e-30f;
    return one + tiny != 1.0f;
}

/* A kernel's arithmetic is not the launching thread's: and that one has its own back after. */
static void test_rounding(void **state)
{
    (void)state;
    kj_pool *pool = pool_of(2);
    kj_failure why;
    kj_host_fault fault = {.kind = KJ_FAULT_NONE};
    atomic_uint cost;
    atomic_init(&cost, 0);
    fesetround(FE_UPWARD);
    for (int64_t blocks = 1; blocks < 100; blocks += 49) {
        kj_host_launch *l = launch_of(blocks, 1, 1, NULL, &fault);
        volatile float one = 1.0f, tiny = 1e-30f;
        assert_int_equal(kj_pool_run(pool, rounding, l, 0, &cost, &why), KJIT_OK);
        assert_true(one + tiny > 1.0f);
        free(l);
    }
    fesetround(FE_TONEAREST);
    kj_pool_free(pool);
}

static void test_machine(void **state)
{
    (void)state;
    kj_failure why;
    void *memory;
    assert_true(kj_machine_cpus() >= 1);
    assert_true(kj_machine_memory() > 1 << 20);
    assert_true(kj_machine_memory_free() > 0);
    assert_int_equal(kj_memory_alloc(SIZE_MAX, &memory, &why), KJIT_NO_MEMORY);
    assert_int_equal(kj_memory_alloc((size_t)1 << 46, &memory, &why), KJIT_NO_MEMORY);
    assert_non_null(strstr(why.text, "70368744177664 bytes were asked for"));
    for (size_t size = 0; size < (size_t)64 << 20; size = size * 3 + 1) {
        assert_int_equal(kj_memory_alloc(size, &memory, &why), KJIT_OK);
        assert_int_equal((uintptr_t)memory % 64, 0);
        memset(memory, 1, size);
        kj_memory_free(memory, size);
    }
}

/* What was freed fits the next request of its size, though small things lie around it. */
static void test_memory_is_used_again(void **state)
{
    (void)state;
    enum { SIZE = 400000, SMALL = 16 };
    kj_failure why;
    void *memory, *last = NULL, *small[SMALL] = {0};
    int moves = 0;
    for (int i = 0; i < 400; i++) {
        assert_int_equal(kj_memory_alloc(SIZE, &memory, &why), KJIT_OK);
        moves += memory != last;
        last = memory;
        for (int k = 0; k < SMALL; k++) {
            free(small[k]);
            small[k] = malloc(24 + 16 * (size_t)k);
        }
        kj_memory_free(memory, SIZE);
    }
#ifndef __SANITIZE_ADDRESS__ /* which keeps freed memory for a while */
    assert_in_range(moves, 1, 40);
#endif
    for (int k = 0; k < SMALL; k++)
        free(small[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_fault),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_machine),
        cmocka_unit_test(test_memory_is_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
