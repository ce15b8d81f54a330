/* Launches that end soon after their deadline, though nothing in them takes long but all of it together: code looks
 * at the halt where the time since the last look has become long. In processor time of one worker. */
#include <time.h>

#include "api.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

/* What is promised is 100 ms; others that want the processor leave less of the caches. */
enum { TIMEOUT_MS = 30, LATE_MS = 300 };

static double spent_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* A kernel whose body has `part` so many times, %d being a number. */
static kjit_module *made_of(const char *head, const char *part, int n)
{
    static char text[1 << 16];
    size_t length = (size_t)snprintf(text, sizeof text, "%s", head);
    for (int i = 0; i < n; i++) {
        for (const char *p = part; *p; p++) {
            if (*p == '#')
                length += (size_t)snprintf(text + length, sizeof text - length, "%d", i);
            else
                text[length++] = *p;
            assert_true(length < sizeof text - 16);
        }
    }
    snprintf(text + length, sizeof text - length, "    x[1] = i32(b)\n}\n");
    return module(text);
}

/* How a launch with that deadline ends; it is told where `where` is. */
static bool ends_there(kjit_module *mod, kjit_config config, kjit_array *x, const char *where)
{
    kjit_launch_plan *plan;
    OK(kjit_launch_plan_create(mod, "k", &config, (kjit_arg[]){kjit_arg_array(x)}, 1, &plan));
    double begin = spent_ms();
    kjit_status status = kjit_launch_plan_run(plan, NULL);
    double took = spent_ms() - begin;
    if (took > config.timeout_ms + LATE_MS)
        fail_msg("it took %g ms, which is more than %g and %d", took, config.timeout_ms, LATE_MS);
    kjit_launch_plan_free(plan);
    return status == KJIT_TIMEOUT && strstr(kjit_last_error(ctx), where);
}

/* It runs out of time, and says where. On a busy machine it may do so before it begins, or end before somebody has
 * set the halt: then it is tried again, with more time. */
static void ends_in_time(kjit_module *mod, int64_t blocks, int64_t threads, const char *where)
{
    enum { TRIES = 200, LONGER = 16 };
    kjit_array *x;
    kjit_config config = {.grid = {blocks}, .block = {threads}};
    OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(100000), 'C', KJIT_HOST, &x));
    bool told = false;
    for (int i = 0; i < TRIES && !told; i++) {
        config.timeout_ms = TIMEOUT_MS * (1 + i % LONGER);
        told = ends_there(mod, config, x, where);
    }
    if (!told)
        fail_msg("it never ended %s: %s", where, kjit_last_error(ctx));
    kjit_array_free(x);
    kjit_module_free(mod);
}

#define KERNEL "kernel k(x: i32[]) {\n    let t = i64(threadIdx.x)\n    var b = t + i64(x[0])\n"
#define BITS "b ^= b << 3 ^ i64(i# * j#) ^ b // (b | 1)"

static void test_loops_in_a_row(void **state)
{
    (void)state;
    ends_in_time(
        made_of(KERNEL, "    for i# in range(64) { for j# in range(64) { " BITS " } }\n", 60),
        65535, 1024, "ran out of time");
    ends_in_time(made_of(KERNEL,
                         "    for i# in range(4096) { atomic.add(x, (i# * 7 + t) & 1023, 1) }\n",
                         20),
                 65535, 1024, "ran out of time");
}

/* In the only gang of the only block, where no loop is long enough to look itself. */
static void test_one_gang(void **state)
{
    (void)state;
    ends_in_time(made_of(KERNEL, "    for i# in range(4000) { b ^= b // (b | 1) }\n", 200), 1, 32,
                 "in front of this statement (block (0, 0, 0))");
}

/* Of all gangs of blocks that run together, where one gang takes no time. */
static void test_gangs(void **state)
{
    (void)state;
    ends_in_time(made_of(KERNEL, "    for i# in range(1000) { b ^= b << 3 ^ b // (i# | 1) }\n", 1),
                 65535, 1024, "in front of this statement (block (");
}

static void test_calls(void **state)
{
    (void)state;
    ends_in_time(made_of("fn f(a: i64) -> i64 {\n    var b = a\n    if a == 12345 { return 0 }\n"
                         "    for i in range(64) { for j in range(64) { b ^= b << 3 ^ i64(i * j) ^ "
                         "b // (b | 1) } }\n"
                         "    return b\n}\n" KERNEL,
                         "    b = f(f(f(b)))\n    if b == # { b = f(b) }\n", 10),
                 65535, 1024, "ran out of time");
}

/* A turn of one takes little, for all gangs together; there is one block, so that nothing else looks. */
static void test_loop_of_blocks(void **state)
{
    (void)state;
    ends_in_time(made_of("fn f(a: i64, i: i64) -> i64 { return a // (a + i) + a // (a ^ i) + a // "
                         "(i + 1) }\n" KERNEL "    let s = shared.array(1024, i64)\n",
                         "    for i# in range(4096) {\n"
                         "        s[t] += f(b, i#) + f(s[t], i#) + f(t + 1, i#) + f(s[t] ^ b, i#)\n"
                         "        syncthreads()\n    }\n",
                         1),
                 1, 1024, "in this loop");
}

/* Of loops written out, which code of anybody's is not so long: the turns that would be long enough to look are none. */
static void test_copies(void **state)
{
    (void)state;
    kjit_context *of_anybody = ctx;
    kjit_context_options options = {
        .cancellable = 1, .cache = "off", .device = "cpu", .workers = 1};
    assert_int_equal(kjit_context_create(&options, &ctx, NULL, 0), KJIT_OK);
    ends_in_time(made_of(KERNEL,
                         "    @unroll\n    for i# in range(128) {\n"
                         "        @unroll\n        for c# in range(1) {\n"
                         "            for j# in range(4096) { b ^= i64(j#) ^ b // (b | 1) }\n"
                         "        }\n    }\n",
                         3),
                 1, 32, "ran out of time");
    kjit_context_destroy(ctx);
    ctx = of_anybody;
}

/* Regions that each take little. */
static void test_regions_in_a_row(void **state)
{
    (void)state;
    ends_in_time(made_of(KERNEL "    let s = shared.array(1024, i64)\n",
                         "    for j# in range(90) { s[t] += b // (b + j#) }\n    syncthreads()\n",
                         150),
                 1, 1024, "in front of this statement");
}

/* Which are cleared when the block begins. */
static void test_large_arrays(void **state)
{
    (void)state;
    ends_in_time(made_of(KERNEL,
                         "    let l# = local.array(29000, i32)\n    l#[b % 29000] = 1\n"
                         "    syncthreads()\n    b += i64(l#[t])\n",
                         8),
                 65535, 1024, "before it began");
}

/* Which stand on the stack and are cleared in each turn, of one gang. */
static void test_small_arrays(void **state)
{
    (void)state;
    ends_in_time(
        made_of("fn f(a: i64) -> i64 {\n    let l = local.array(800, i32)\n    l[a & 255] = 1\n"
                "    return a + i64(l[a * 5 & 255])\n}\n" KERNEL
                "    let s = shared.array(64, i64)\n    s[t] = 1\n",
                "    for i# in range(4000) { b += f(b) }\n", 1),
        1000, 64, "in this loop");
}

int main(int argc, char **argv)
{
    kjit_limits limits = {.version = KJIT_LIMITS_VERSION, .launch_ms = 10000};
    kjit_context_options options = {
        .untrusted = 1, .limits = &limits, .cache = "off", .device = "cpu", .workers = 1};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops_in_a_row),
        cmocka_unit_test(test_one_gang),
        cmocka_unit_test(test_gangs),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_loop_of_blocks),
        cmocka_unit_test(test_regions_in_a_row),
        cmocka_unit_test(test_large_arrays),
        cmocka_unit_test(test_small_arrays),
    };
#ifdef __GLIBC__
    mallopt(M_PERTURB, 0); /* which would fill arrays of a gigabyte in a launch's time */
#endif
    if (kjit_context_create(&options, &ctx, NULL, 0) != KJIT_OK)
        return 1;
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kjit_context_destroy(ctx);
    return failed;
}
