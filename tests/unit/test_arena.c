/* The arena: alignment, zeroing, growth, names, formatted text, and what happens when memory
 * ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"

static void aligned_and_zeroed(void **state)
{
    (void)state;
    jmp_buf fail;
    kj_arena a;
    kj_arena_init(&a, &fail);
    for (size_t size = 0; size < 5000; size = size * 2 + 1) {
        unsigned char *p = kj_arena_alloc(&a, size);
        assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, size);
    }
    kj_arena_free(&a);
}

static void pieces_do_not_overlap(void **state)
{
    (void)state;
    enum { N = 2000 };
    static unsigned char *pieces[N];
    static size_t sizes[N];
    jmp_buf fail;
    kj_arena a;
    kj_arena_init(&a, &fail);
    size_t total = 0;
    for (size_t i = 0; i < N; i++) {
        sizes[i] = i % 97 == 0  ? 40000 + i
                   : i % 7 == 0 ? 3000
                                : i % 64 + 1; /* some get a chunk alone */
        pieces[i] = kj_arena_alloc(&a, sizes[i]);
        memset(pieces[i], (int)(i % 251), sizes[i]);
        total += sizes[i];
    }
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(pieces[i][0], i % 251);
        assert_int_equal(pieces[i][sizes[i] - 1], i % 251);
    }
    assert_true(a.used >= total);
    kj_arena_free(&a);
    assert_int_equal(a.used, 0);
    assert_non_null(kj_arena_alloc(&a, 10)); /* usable again */
    kj_arena_free(&a);
}

static void names_are_unique(void **state)
{
    (void)state;
    jmp_buf fail;
    kj_arena a;
    kj_arena_init(&a, &fail);
    const char *first[1000];
    char text[32];
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "name%d", i);
        first[i] = kj_intern(&a, text, strlen(text));
        assert_string_equal(first[i], text);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "name%d", i);
        assert_ptr_equal(kj_intern(&a, text, strlen(text)), first[i]);
    }
    assert_ptr_equal(kj_intern(&a, "name1xyz", 5), first[1]);
    assert_ptr_not_equal(kj_intern(&a, "a\0b", 3), kj_intern(&a, "a", 1));
    assert_string_equal(kj_intern(&a, "", 0), "");
    kj_arena_free(&a);
}

static void formatted_text(void **state)
{
    (void)state;
    jmp_buf fail;
    kj_arena a;
    kj_arena_init(&a, &fail);
    assert_string_equal(kj_arena_printf(&a, "%d %s", 3, "x"), "3 x");
    assert_string_equal(kj_arena_printf(&a, "%s", ""), "");
    for (int len = 250; len < 260; len++) {
        const char *text = kj_arena_printf(&a, "%*d", len, 7);
        assert_int_equal(strlen(text), len);
    }
    char *before = setlocale(LC_NUMERIC, NULL);
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8"))
        assert_string_equal(kj_arena_printf(&a, "%.2f", 1.5), "1.50");
    setlocale(LC_NUMERIC, before);
    kj_arena_free(&a);
}

static void growing_text(void **state)
{
    (void)state;
    jmp_buf fail;
    kj_arena a;
    kj_arena_init(&a, &fail);
    kj_text t = {.arena = &a};
    for (int i = 0; i < 10000; i++)
        kj_text_printf(&t, "%d,", i % 10);
    kj_text_add(&t, "end\0!", 5);
    assert_int_equal(t.size, 20005);
    assert_memory_equal(t.data, "0,1,2,3,4,5,6,7,8,9,0,", 22);
    assert_memory_equal(t.data + 20000, "end\0!", 6);
    kj_text_printf(&t, "%*d", 100000, 1);
    assert_int_equal(t.size, 120005);
    assert_int_equal(t.data[120005], 0);
    kj_arena_free(&a);
}

typedef enum request { HUGE_ALLOC, HUGE_CALLOC, OVER_LIMIT } request;

/* Gives whether the request came back by the jump. */
static int fails(request r)
{
    jmp_buf fail;
    kj_arena a;
    kj_arena_init(&a, &fail);
    volatile int failed = 0;
    if (setjmp(fail) == 0) {
        kj_arena_alloc(&a, 100);
        a.limit = 1000;
        if (r == HUGE_ALLOC)
            a.limit = SIZE_MAX, kj_arena_alloc(&a, SIZE_MAX - 64);
        else if (r == HUGE_CALLOC)
            kj_arena_calloc(&a, SIZE_MAX / 2, 3);
        else
            kj_arena_alloc(&a, 1000);
    } else {
        failed = 1;
    }
    kj_arena_free(&a);
    return failed;
}

static void out_of_memory_jumps(void **state)
{
    (void)state;
    assert_true(fails(HUGE_ALLOC));
    assert_true(fails(HUGE_CALLOC));
    assert_true(fails(OVER_LIMIT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aligned_and_zeroed), cmocka_unit_test(pieces_do_not_overlap),
        cmocka_unit_test(names_are_unique),   cmocka_unit_test(formatted_text),
        cmocka_unit_test(growing_text),       cmocka_unit_test(out_of_memory_jumps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
