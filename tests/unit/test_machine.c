/* Target machines that compilations leave for the next: given to those that are alike, to one at a time, and made anew
 * after a while. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "target/target.h"

/* `arch`: a GPU; NULL: this CPU */
static kj_target opened(const char *arch, int level)
{
    kj_target t;
    kj_compile_options options = {.arch = arch, .opt_level = level};
    assert_null(kj_target_open(&t, &options));
    assert_non_null(t.machine);
    return t;
}

static void the_next_alike_gets_it(void **state)
{
    (void)state;
    kj_target first = opened("sm_75", 3);
    LLVMTargetMachineRef machine = first.machine;
    kj_target beside = opened("sm_75", 3);
    assert_ptr_not_equal(beside.machine, machine); /* that one is in use */
    kj_target_close(&first);
    kj_target this_cpu = opened(NULL, 3), other_level = opened("sm_75", 0);
    assert_ptr_not_equal(this_cpu.machine, machine);
    assert_ptr_not_equal(other_level.machine, machine);
    kj_target other_gpu = opened("sm_90", 3);
    assert_ptr_not_equal(other_gpu.machine, machine);
    kj_target again = opened("sm_75", 3);
    assert_ptr_equal(again.machine, machine);
    assert_int_equal(again.machine_uses, 2);
    kj_target_close(&again);
    kj_target_close(&other_gpu);
    kj_target_close(&other_level);
    kj_target_close(&this_cpu);
    kj_target_close(&beside);
}

/* The machine for large code takes the other's place; both are left. */
static void another_level_of_one_target(void **state)
{
    (void)state;
    kj_target t = opened(NULL, 3);
    LLVMTargetMachineRef fine = t.machine;
    assert_null(kj_target_machine(&t, LLVMCodeGenLevelNone));
    LLVMTargetMachineRef quick = t.machine;
    kj_target_close(&t);
    kj_target one = opened(NULL, 3), two = opened(NULL, 0);
    assert_ptr_equal(one.machine, fine);
    assert_ptr_equal(two.machine, quick);
    kj_target_close(&one);
    kj_target_close(&two);
}

static void few_are_left(void **state)
{
    (void)state;
    enum { MANY = 20 };
    kj_target all[MANY];
    for (int i = 0; i < MANY; i++)
        all[i] = opened(NULL, 3);
    for (int i = 0; i < MANY; i++)
        kj_target_close(&all[i]);
    int left = 0;
    for (int i = 0; i < MANY; i++) {
        all[i] = opened(NULL, 3);
        left += all[i].machine_uses > 1;
    }
    assert_int_equal(left, 8);
    for (int i = 0; i < MANY; i++)
        kj_target_close(&all[i]);
}

static void made_anew_after_a_while(void **state)
{
    (void)state;
    int most = 0, anew = 0;
    for (int i = 0; i < 10050; i++) {
        kj_target t = opened(NULL, 3);
        most = t.machine_uses > most ? t.machine_uses : most;
        anew += t.machine_uses == 1;
        kj_target_close(&t);
    }
    assert_int_equal(most, 1000);
    assert_in_range(anew, 2, 3); /* eight were there, used up one after the other */
}

static void *open_and_close(void *failed)
{
    for (int i = 0; i < 2000; i++) {
        kj_target t;
        kj_compile_options options = {.arch = i % 3   ? NULL
                                              : i % 2 ? "sm_75"
                                                      : "sm_90",
                                      .opt_level = 3};
        char *wrong = kj_target_open(&t, &options);
        if (wrong || !t.machine || t.machine_uses < 1)
            *(int *)failed = 1;
        kj_target_close(&t);
    }
    return NULL;
}

static void threads_at_once(void **state)
{
    (void)state;
    pthread_t threads[4];
    int failed[4] = {0};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, &failed[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(failed[i], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_alike_gets_it), cmocka_unit_test(another_level_of_one_target),
        cmocka_unit_test(few_are_left),           cmocka_unit_test(made_anew_after_a_while),
        cmocka_unit_test(threads_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
