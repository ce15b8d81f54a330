/* A context for anybody's sources: checks that nothing turns off, memory that begins as zeros, time and files that
 * have an end. */
#include "api.h"
#include "printed.h"

static const char source[] =
    "@unchecked kernel outside(x: i32[], i: i64) { x[i] = 1 }\n"
    "kernel partly(x: i32[], i: i64) { @unchecked { x[0] = x[i] } }\n"
    "fn seen(n: i32) -> i32 { return 1 if n != 0 else 0 }\n"
    "kernel shares(x: i32[], n: i64, fresh: bool) {\n"
    "    let a = shared.array(100, i32)\n"
    "    let b = shared.array(n, i32)\n"
    "    let c = shared.array(5, u8)\n"
    "    let t = i64(threadIdx.x)\n"
    "    if fresh {\n"
    "        var s = 0\n"
    "        for i in range(100) { s += seen(a[i]) }\n"
    "        for i in range(n) { s += seen(b[i]) }\n"
    "        for i in range(5) { s += i32(c[i]) }\n"
    "        x[grid(1)] = s\n"
    "    } else {\n"
    "        for i in range(t, 100, blockDim.x) { a[i] = 77 }\n"
    "        for i in range(t, n, blockDim.x) { b[i] = 77 }\n"
    "        if t < 5 { c[t] = 77 }\n"
    "        syncthreads()\n"
    "        x[grid(1)] = a[t % 100] + b[t % n] + i32(c[t % 5])\n"
    "    }\n"
    "}\n"
    "kernel big(x: i32[], fresh: bool) {\n" /* more than is known when compiling */
    "    let a = shared.array(20000, i32)\n"
    "    let t = i64(threadIdx.x)\n"
    "    var s = 0\n"
    "    for i in range(t, 20000, blockDim.x) { s += seen(a[i]) }\n"
    "    syncthreads()\n"
    "    for i in range(t, 20000, blockDim.x) { a[i] = 1 if not fresh else 0 }\n"
    "    syncthreads()\n"
    "    x[grid(1)] = s + a[t] * 0\n"
    "}\n"
    "kernel small(x: i32[], fresh: bool) {\n"
    "    let a = shared.array(1000, i32)\n"
    "    let t = i64(threadIdx.x)\n"
    "    var s = 0\n"
    "    for i in range(t, 1000, blockDim.x) { s += seen(a[i]) }\n"
    "    syncthreads()\n"
    "    for i in range(t, 1000, blockDim.x) { a[i] = 1 }\n"
    "    syncthreads()\n"
    "    x[grid(1)] = s + (a[t] - 1) + (0 if fresh else 0)\n"
    "}\n"
    "kernel own(x: i32[], fresh: bool) {\n"
    "    let a = local.array(9, i32)\n"
    "    let b = local.array((4, 4), i32)\n"
    "    var s = 0\n"
    "    for i in range(9) { s += seen(a[i]); a[i] = 3 }\n"
    "    for i in range(16) { s += seen(b[(i + x[grid(1)]) % 4, i // 4]) }\n"
    "    syncthreads()\n"
    "    for i in range(16) { s += seen(b[i % 4, (i + x[grid(1)]) // 4 % 4]) }\n"
    "    for i in range(16) { b[i // 4, i % 4] = 5 }\n"
    "    for k in range(3) {\n"
    "        let c = local.array(7, i32)\n"
    "        for i in range(7) { s += seen(c[(i + x[grid(1)]) % 7]); c[i] = k + 1 }\n"
    "    }\n"
    "    syncthreads()\n"
    "    x[grid(1)] = s + (a[0] + b[1, 1]) * 0\n"
    "}\n"
    "kernel grids(x: i32[], fresh: bool) {\n"
    "    let a = shared.array(40, i32)\n"
    "    let b = local.array(6, i32)\n"
    "    var s = 0\n"
    "    for i in range(40) { s += seen(a[i]) }\n"
    "    for i in range(6) { s += seen(b[i]) }\n"
    "    syncthreads()\n"
    "    if threadIdx.x < 40 { a[threadIdx.x] = 6 }\n"
    "    grid_sync()\n"
    "    if a[39] != 6 { s += 1000 }\n"
    "    x[grid(1)] = s\n"
    "}\n"
    "kernel parent(x: i32[], fresh: bool) { if threadIdx.x == 0 { launch small[8, 64](x, fresh) } "
    "}\n"
    "run {\n"
    "    param path = \"\"\n"
    "    param given: f32[] = zeros(1)\n"
    "    let sum = zeros(given.shape[0])\n"
    "    sum[:] = given + 1\n"
    "    if path != \"\" { let a = load(path); print(a) }\n"
    "    print(sum)\n"
    "}\n";

static kjit_module *mod;

static int set_up(void **state)
{
    char error[256];
    kjit_limits limits = {.version = KJIT_LIMITS_VERSION, .launch_ms = 100000}; /* a busy machine */
    kjit_context_options options = {.untrusted = 1, .limits = &limits};
    (void)state;
    if (kjit_context_create(&options, &ctx, error, sizeof error) != KJIT_OK) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    mod = module(source);
    return 0;
}

static int tear_down(void **state)
{
    kjit_module_free(mod);
    drop_folder();
    return drop_context(state);
}

static void test_checks(void **state)
{
    (void)state;
    int32_t data[4] = {0};
    kjit_module *none = NULL;
    kjit_array *x = wrap(data, KJIT_I32, 1, SHAPE(4));
    kjit_arg args[] = {kjit_arg_array(x), kjit_arg_i64(1000000)};
    kjit_config config = {.grid = {1}, .block = {1}};
    FAILS(kjit_launch(mod, "outside", &config, args, 2), KJIT_FAULT,
          "test.knl:1:49: error: index 1000000 is outside");
    FAILS(kjit_launch(mod, "partly", &config, args, 2), KJIT_FAULT,
          "index 1000000 is outside of 'x'");
    FAILS(kjit_module_compile(ctx, "a.knl", source, strlen(source),
                              &(kjit_compile_options){.check = KJIT_CHECK_NONE}, &none),
          KJIT_INVALID, "the context is untrusted: there indices are always looked at");
    assert_null(none);
    args[1] = kjit_arg_i64(3);
    OK(kjit_launch(mod, "outside", &config, args, 2));
    assert_int_equal(data[3], 1);
    kjit_array_free(x);
}

/* Memory that was used before is zeros. */
static void test_fresh_arrays(void **state)
{
    enum { MOST = 300000 };
    static const int64_t sizes[] = {1, 100, 5000, MOST};
    static unsigned char bytes[MOST];
    kjit_module *run;
    (void)state;
    for (kjit_memory memory = KJIT_HOST; memory <= KJIT_MANAGED; memory++) {
        for (int i = 0; i < 4 * 4; i++) {
            kjit_array *a, *host = wrap(bytes, KJIT_U8, 1, &sizes[i % 4]);
            kjit_status status = kjit_array_create(ctx, KJIT_U8, 1, &sizes[i % 4], 'C', memory, &a);
            if (status == KJIT_NO_DEVICE && memory == KJIT_MANAGED)
                status = kjit_array_create(ctx, KJIT_U8, 1, &sizes[i % 4], 'C', KJIT_HOST, &a);
            OK(status);
            memset(bytes, 1, sizeof bytes);
            OK(kjit_copy(host, a, NULL));
            for (int64_t k = 0; k < sizes[i % 4]; k++)
                assert_int_equal(bytes[k], 0);
            OK(kjit_array_fill(a, &(unsigned char){0x5a}, NULL));
            kjit_array_free(a);
            kjit_array_free(host);
            OK(kjit_deallocate_pending(ctx));
        }
    }
    run = module("run {\n"
                 "    for k in range(3) {\n"
                 "        let a = empty(100000, i32)\n"
                 "        let b = device_array(100000, i32)\n"
                 "        assert(a.max() == 0 and b.copy_to_host().max() == 0)\n"
                 "        a[:] = 7\n"
                 "        b[:] = 7\n"
                 "    }\n"
                 "}\n");
    OK(kjit_run(run, NULL));
    kjit_module_free(run);
}

/* In a stream's order, too. */
static void test_fresh_in_stream(void **state)
{
    (void)state;
    static unsigned char bytes[10000];
    kjit_stream *s;
    kjit_array *a, *host = wrap(bytes, KJIT_U8, 1, SHAPE(10000));
    OK(kjit_stream_create(ctx, &s));
    for (int i = 0; i < 4; i++) {
        kjit_array_options options = {.memory = KJIT_DEVICE, .stream = s};
        OK(kjit_array_create_with(ctx, KJIT_U8, 1, SHAPE(10000), &options, &a));
        memset(bytes, 1, sizeof bytes);
        OK(kjit_copy(host, a, s));
        OK(kjit_array_fill(a, &(unsigned char){0x5a}, s));
        kjit_array_free(a);
        OK(kjit_stream_synchronize(s));
        for (int k = 0; k < 10000; k++)
            assert_int_equal(bytes[k], 0);
    }
    kjit_stream_free(s);
    kjit_array_free(host);
}

static void look(const char *kernel, int threads, int nargs, bool fresh, int expected)
{
    static int32_t data[8 * 64];
    memset(data, 0, sizeof data);
    kjit_array *x = wrap(data, KJIT_I32, 1, SHAPE(8 * 64));
    kjit_arg args[] = {kjit_arg_array(x), kjit_arg_i64(33), kjit_arg_bool(fresh)};
    kjit_config config = {.grid = {8}, .block = {threads}};
    if (nargs == 2)
        args[1] = args[2];
    OK(kjit_launch(mod, kernel, &config, args, nargs));
    for (int i = 0; i < 8 * threads; i++)
        if (data[i] != expected)
            fail_msg("%s: %d has %d rather than %d", kernel, i, (int)data[i], expected);
    kjit_array_free(x);
}

static void look_at_all(void)
{
    static const int threads[] = {64, 1, 31};
    for (int round = 0; round < 2; round++) {
        for (int t = 0; t < 3; t++) {
            if (threads[t] >= 5)
                look("shares", threads[t], 3, false, 3 * 77);
            look("big", threads[t], 2, false, 0);
            look("shares", threads[t], 3, true, 0);
            look("big", threads[t], 2, true, 0);
            look("own", threads[t], 2, true, 0);
        }
        look("grids", 64, 2, true, 0);
        look("big", 64, 2, false, 0);
        look("parent", 64, 2, true, 0);
    }
}

static void test_kernels_arrays(void **state)
{
    (void)state;
    kjit_module *optimised = mod;
    look_at_all();
    OK(kjit_module_compile(ctx, "test.knl", source, strlen(source),
                           &(kjit_compile_options){.opt_level = KJIT_UNOPTIMISED}, &mod));
    look_at_all();
    kjit_module_free(mod);
    mod = optimised;
}

/* Of a launch that says nothing about it, and of one that does. */
static void test_time(void **state)
{
    (void)state;
    int32_t data[2] = {0};
    kjit_context *others = ctx;
    kjit_limits limits = {.version = KJIT_LIMITS_VERSION, .launch_ms = 200};
    OK(kjit_context_create(&(kjit_context_options){.untrusted = 1, .limits = &limits}, &ctx, NULL,
                           0));
    kjit_module *spins = module("kernel spin(x: i32[]) { while x[0] < 1000 { x[1] = 1 } }\n"
                                "kernel one(x: i32[]) { x[0] = 5 }\n");
    kjit_array *x = wrap(data, KJIT_I32, 1, SHAPE(2));
    kjit_arg args[] = {kjit_arg_array(x)};
    kjit_config config = {.grid = {2}, .block = {2}};
    FAILS(kjit_launch(spins, "spin", &config, args, 1), KJIT_TIMEOUT,
          "kernel 'spin' ran out of time");
    config.timeout_ms = 50;
    FAILS(kjit_launch(spins, "spin", &config, args, 1), KJIT_TIMEOUT,
          "kernel 'spin' ran out of time");
    config.timeout_ms = 100000;
    OK(kjit_launch(spins, "one", &config, args, 1));
    assert_int_equal(data[0], 5);
    kjit_array_free(x);
    kjit_module_free(spins);
    kjit_context_destroy(ctx);
    ctx = others;
}

static void test_files(void **state)
{
    (void)state;
    char path[160], asked[200], given[200], out[200];
    float data[3] = {1, 2, 3};
    kjit_array *x = wrap(data, KJIT_F32, 1, SHAPE(3));
    snprintf(path, sizeof path, "%s", path_of("a.npy"));
    snprintf(asked, sizeof asked, "path=%s", path);
    snprintf(given, sizeof given, "given=@%s", path);
    snprintf(out, sizeof out, "sum=%s", path_of("out.npy"));
    OK(kjit_array_save(x, path)); /* the program's own */
    kjit_run_options options = {.params = (const char *[]){asked}, .nparams = 1, .write = take};
    FAILS(kjit_run(mod, &options), KJIT_LIMIT,
          "run blocks of an untrusted context use no files but those they are given");
    options.params = (const char *[]){given};
    options.saves = (const char *[]){out};
    options.nsaves = 1;
    printed[0] = 0;
    OK(kjit_run(mod, &options));
    assert_string_equal(printed, "[2. 3. 4.]\n");
    kjit_module *saves = module("run { let a = zeros(3); save(\"b.npy\", a) }");
    FAILS(kjit_run(saves, NULL), KJIT_LIMIT, "use no files");
    kjit_module_free(saves);
    kjit_module *asks = module("run { print(sample_rate(\"b.wav\")) }");
    FAILS(kjit_run(asks, NULL), KJIT_LIMIT, "use no files");
    kjit_module_free(asks);
    kjit_array_free(x);
}

static kjit_status load(const char *path, const char *folders)
{
    kjit_module *m;
    kjit_status status = kjit_module_load(ctx, path, &(kjit_compile_options){.path = folders}, &m);
    kjit_module_free(m);
    return status;
}

static void test_used_files(void **state)
{
    (void)state;
    char main[160], outer[160], text[400];
    static const char used[] = "fn one() -> f32 { return 1.0 }\n";
    snprintf(main, sizeof main, "%s", path_of("main.knl"));
    snprintf(outer, sizeof outer, "%s", path_of("outer.knl"));
    write_file(path_of("used.knl"), used, strlen(used));
    snprintf(text, sizeof text, "use \"used.knl\"\nkernel k(x: f32[]) { x[0] = used.one() }\n");
    write_file(main, text, strlen(text));
    FAILS(load(main, NULL), KJIT_COMPILE, "there is no file 'used.knl'");
    OK(load(main, folder));
    snprintf(text, sizeof text, "use \"%s\"\nkernel k(x: f32[]) { x[0] = used.one() }\n",
             path_of("used.knl"));
    write_file(outer, text, strlen(text));
    FAILS(load(outer, folder), KJIT_COMPILE, "there is no file '/tmp/");
    snprintf(text, sizeof text,
             "use \"../%s/used.knl\"\nkernel k(x: f32[]) { x[0] = used.one() }\n",
             strrchr(folder, '/'));
    write_file(outer, text, strlen(text));
    FAILS(load(outer, folder), KJIT_COMPILE, "there is no file '../");
    setenv("KJIT_PATH", folder, 1);
    FAILS(load(main, NULL), KJIT_COMPILE, "there is no file 'used.knl'");
    unsetenv("KJIT_PATH");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_fresh_arrays),
        cmocka_unit_test(test_fresh_in_stream),
        cmocka_unit_test(test_kernels_arrays),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_used_files),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
