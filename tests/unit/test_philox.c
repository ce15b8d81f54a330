/* The random generator's words: the known answers its authors publish. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/run.h"

static void known_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], words[4];
    } answers[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        uint32_t words[4];
        kj_philox(answers[i].counter, answers[i].key, words);
        for (int k = 0; k < 4; k++)
            assert_int_equal(words[k], answers[i].words[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_answers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
