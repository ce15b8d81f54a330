/* The kernels of array expressions that a context keeps: a limited number, the one that was used longest
 * ago goes first, and takes its memory along. */
#include "api.h"

#include <malloc.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { HEAP_IS_SEEN = 0 };
#else
enum { HEAP_IS_SEEN = 1 };
#endif

enum { DEFAULT_MOST = 256, HEAP_ROOM = 1 << 20 };

static kjit_context *outer;
static int compiled;

static void count(void *user, const kjit_trace_event *e)
{
    (void)user;
    compiled += e->kind == KJIT_TRACE_COMPILE;
}

/* A context of its own for a test, in place of the one of all. */
static void begin(int most)
{
    char error[256];
    kjit_context_options options = {.cache = "off", .max_expressions = most};
    outer = ctx;
    if (kjit_context_create(&options, &ctx, error, sizeof error) != KJIT_OK)
        fail_msg("%s", error);
    kjit_set_trace(ctx, count, NULL);
}

static void end(void)
{
    kjit_context_destroy(ctx);
    ctx = outer;
}

/* How many kernels the run block of a module of its own compiles. */
static int compiles(const char *text)
{
    kjit_module *mod;
    kjit_compile_options options = {.opt_level = KJIT_UNOPTIMISED};
    OK(kjit_module_compile(ctx, "generated.knl", text, strlen(text), &options, &mod));
    compiled = 0;
    OK(kjit_run(mod, NULL));
    kjit_module_free(mod);
    return compiled;
}

static int compiles_sum(int number)
{
    char text[120];
    snprintf(text, sizeof text,
             "run {\n    let x = zeros(10, i32) + %d\n    assert(x[9] == %d)\n}\n", number, number);
    return compiles(text);
}

static void test_least_recently_used(void **state)
{
    (void)state;
    begin(3);
    for (int i = 1; i <= 3; i++)
        assert_int_equal(compiles_sum(i), 1);
    for (int i = 1; i <= 3; i++)
        assert_int_equal(compiles_sum(i), 0);
    assert_int_equal(compiles_sum(1), 0);
    assert_int_equal(compiles_sum(4), 1); /* in place of 2 */
    assert_int_equal(compiles_sum(1), 0);
    assert_int_equal(compiles_sum(3), 0);
    assert_int_equal(compiles_sum(4), 0);
    assert_int_equal(compiles_sum(2), 1); /* in place of 1 */
    assert_int_equal(compiles_sum(3), 0);
    assert_int_equal(compiles_sum(1), 1);
    end();
}

static void test_one_run_has_more(void **state)
{
    static const char text[] =
        "fn twice(x: i32) -> i32 { return 2 * x }\n"
        "run {\n"
        "    let x = arange(10)\n"
        "    for turn in range(3) {\n"
        "        assert(all(x + 1 == arange(1, 11)) and all(twice(x) == x + x))\n"
        "        assert((x * x).sum() == 285 and (x @ x) == 285)\n"
        "    }\n"
        "}\n";
    (void)state;
    begin(-1);
    int none = compiles(text), again = compiles(text);
    end();
    begin(2);
    int few = compiles(text);
    end();
    begin(0);
    int all = compiles(text);
    assert_int_equal(compiles(text), 0);
    end();
    assert_int_equal(none, again);
    assert_int_equal(none % 3, 0);
    assert_int_equal(all, none / 3);
    assert_true(few > all && few <= none);
}

static void test_default(void **state)
{
    (void)state;
    begin(0);
    for (int i = 0; i < DEFAULT_MOST; i++)
        assert_int_equal(compiles_sum(i), 1);
    assert_int_equal(compiles_sum(0), 0);
    assert_int_equal(compiles_sum(DEFAULT_MOST), 1); /* in place of 1 */
    assert_int_equal(compiles_sum(0), 0);
    assert_int_equal(compiles_sum(1), 1);
    end();
}

static size_t heap(void)
{
    OK(kjit_deallocate_pending(ctx));
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void test_memory(void **state)
{
    enum { WARM = 120, MORE = 120 }; /* handles of freed modules are kept, a hundred of them */
    (void)state;
    begin(8);
    for (int i = 0; i < WARM; i++)
        compiles_sum(i);
    size_t before = heap();
    for (int i = 0; i < MORE; i++)
        assert_int_equal(compiles_sum(WARM + i), 1);
    size_t after = heap();
    printf("heap %zu to %zu\n", before, after);
    if (HEAP_IS_SEEN)
        assert_true(after < before + HEAP_ROOM);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_least_recently_used),
        cmocka_unit_test(test_one_run_has_more),
        cmocka_unit_test(test_default),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
