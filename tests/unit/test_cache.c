/* Compiled code in the store: what is kept comes back, and what is no code goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <malloc.h>

#include "module/cache.h"

static char folder[] = "/tmp/kjit-cache-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : 1;
}

static int tear_down(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* Code is looked for twice, before the lock and behind it: what the first found and could not use goes. */
static void unusable_values_go(void **state)
{
    (void)state;
    enum { SIZE = 1 << 16, ROUNDS = 100 };
    kj_store s;
    kj_store_open(&s, folder);
    char *value = calloc(1, SIZE); /* no code of ours */
    assert_non_null(value);
    kj_store_put(&s, "key", 3, value, SIZE);
    free(value);
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < ROUNDS; i++) {
        kj_cached c = {.store = &s, .lock = -1};
        kj_code code = {0};
        kj_text_puts(&c.key, "key");
        assert_false(kj_cached_get(&c, NULL, &code));
        assert_int_equal(c.stored.value_size, SIZE); /* it was found */
        assert_false(kj_cached_get(&c, NULL, &code));
        kj_cached_end(&c);
    }
    assert_true(mallinfo2().uordblks < before + (size_t)ROUNDS / 2 * SIZE);
    kj_store_close(&s);
}

/* All that is known of code comes back with it. */
static void code_comes_back(void **state)
{
    (void)state;
    static char bytes[] = "code";
    static int args[] = {2, 0};
    kj_store s;
    kj_arena arena;
    jmp_buf fail;
    assert_int_equal(setjmp(fail), 0);
    kj_arena_init(&arena, &fail);
    kj_store_open(&s, folder);
    kj_code child = {.scratch = 64, .stack = 3}, code = {.bytes = bytes,
                                                         .size = sizeof bytes,
                                                         .scratch = 128,
                                                         .stack = 7,
                                                         .args = args,
                                                         .nargs = 2,
                                                         .shared = 5,
                                                         .children = &child,
                                                         .nchildren = 1};
#define FLAG(name) code.name = true;
    KJ_CODE_FLAGS(FLAG)
#undef FLAG
    kj_cached c = {.store = &s, .lock = -1};
    kj_text_puts(&c.key, "key");
    kj_text_puts(&c.label, "label");
    kj_cached_put(&c, &code);
    kj_code found_child = {0}, found = {.children = &found_child, .nchildren = 1};
    assert_true(kj_cached_get(&c, &arena, &found));
    assert_int_equal(found.size, sizeof bytes);
    assert_memory_equal(found.bytes, bytes, sizeof bytes);
    assert_int_equal(found.scratch, 128);
    assert_int_equal(found.stack, 7);
    assert_int_equal(found.shared, 5);
    assert_int_equal(found.nargs, 2);
    assert_memory_equal(found.args, args, sizeof args);
    assert_int_equal(found_child.scratch, 64);
#define FLAG(name) assert_true(found.name && !found_child.name);
    KJ_CODE_FLAGS(FLAG)
#undef FLAG
    free(found.bytes);
    kj_arena_free(&arena);
    kj_text_free(&c.label);
    kj_cached_end(&c);
    kj_store_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unusable_values_go),
        cmocka_unit_test(code_comes_back),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
