/* What a context may take: each limit is reached, told by its name, and the context goes on. */
#include <fcntl.h>
#include <time.h>

#include "api.h"
#include "printed.h"

static const char source[] =
    "kernel add(x: f32[]) { let i = grid(1); if i < x.size { x[i] += 1 } }\n"
    "kernel say(_x: f32[]) { print(\"line\", threadIdx.x) }\n"
    "kernel spin(x: f32[]) { while x[0] < 1000 { x[1] = 1 } }\n"
    "kernel deep(x: f32[], n: i32) {\n"
    "    x[0] = f32(n)\n"
    "    launch deep[1, 1](x, n + 1)\n"
    "}\n"
    "kernel wide(x: f32[], n: i32) {\n"
    "    for i in range(n) { launch add[1, 1](x) }\n"
    "}\n";

/* A context with these limits, in place of the last one, and the module in it. */
static kjit_module *with(const kjit_limits *limits, int cancellable)
{
    char error[256];
    kjit_context_options options = {.limits = limits, .cancellable = cancellable};
    if (kjit_context_create(&options, &ctx, error, sizeof error) != KJIT_OK)
        fail_msg("%s", error);
    return module(source);
}

static void drop(kjit_module *mod)
{
    kjit_module_free(mod);
    kjit_context_destroy(ctx);
}

static kjit_status launch(kjit_module *mod, const char *kernel, kjit_array *x, int threads,
                          kjit_stream *s)
{
    kjit_config config = {.grid = {1}, .block = {threads}, .stream = s};
    return kjit_launch(mod, kernel, &config, (kjit_arg[]){kjit_arg_array(x)}, 1);
}

/* All that was there before can be done. */
static void goes_on(kjit_module *mod)
{
    float data[8] = {0};
    kjit_array *x = wrap(data, KJIT_F32, 1, SHAPE(8));
    OK(launch(mod, "add", x, 8, NULL));
    assert_true(data[7] == 1);
    kjit_array_free(x);
}

static void arrays_of(kjit_module *mod, kjit_memory memory)
{
    enum { N = 1 << 18, MOST = 8 };
    kjit_array *a[MOST] = {NULL}, *more;
    for (int round = 0; round < 30; round++) { /* what is freed gives room, also where that waits */
        OK(kjit_array_create(ctx, KJIT_U8, 1, SHAPE(N), 'C', memory, &a[0]));
        kjit_array_free(a[0]);
    }
    for (int i = 0; i < 4; i++)
        OK(kjit_array_create(ctx, KJIT_U8, 1, SHAPE(N), 'C', memory, &a[i]));
    FAILS(kjit_array_create(ctx, KJIT_U8, 1, SHAPE(N), 'C', memory, &more), KJIT_LIMIT,
          "limit of array_bytes, 1100000, is exceeded: 1048576 are in use, and an array takes "
          "262144");
    assert_null(more);
    kjit_array_free(a[2]);
    OK(kjit_array_create(ctx, KJIT_U8, 1, SHAPE(N), 'C', memory, &a[2]));
    FAILS(kjit_array_like(a[2], NULL, &more), KJIT_LIMIT, "array_bytes");
    goes_on(mod);
    for (int i = 0; i < 4; i++)
        kjit_array_free(a[i]);
    FAILS(kjit_array_create(ctx, KJIT_F64, 1, SHAPE(1 << 20), 'C', memory, &more), KJIT_LIMIT,
          "an array takes 8388608");
    for (int i = 30; i < 63; i++) /* also of more than this machine, or any, has */
        FAILS(kjit_array_create(ctx, KJIT_F64, 1, SHAPE(INT64_C(1) << i), 'C', memory, &more),
              KJIT_LIMIT, "limit of array_bytes, 1100000, is exceeded");
}

static void test_arrays(void **state)
{
    (void)state;
    kjit_module *mod = with(&(kjit_limits){.version = 1, .array_bytes = 1100000}, 0);
    for (kjit_memory memory = KJIT_HOST; memory <= KJIT_MAPPED; memory++)
        arrays_of(mod, memory);
    drop(mod);
}

/* What a block's local and shared arrays take of a CPU's worker has to be free. */
static void test_arrays_of_blocks(void **state)
{
    (void)state;
    static const char text[] =
        "kernel many(x: f32[]) {\n"
        "    let own = local.array(1024, f32)\n"
        "    let all = shared.array(1024, f32)\n"
        "    own[threadIdx.x % 1024] = 1\n"
        "    all[threadIdx.x % 1024] = x[0]\n"
        "    syncthreads()\n"
        "    x[0] = own[(threadIdx.x + i64(x[1])) % 1024] + all[1]\n"
        "}\n"
        "kernel add(x: f32[]) { let i = grid(1); if i < x.size { x[i] += 1 } }\n";
    float data[2] = {0};
    kjit_module *first = with(&(kjit_limits){.version = 1, .array_bytes = 100000}, 0),
                *mod = module(text);
    kjit_array *x = wrap(data, KJIT_F32, 1, SHAPE(2));
    if (on_cpu()) /* 512 threads have 2 MiB; on a GPU they are its own memory's */
        FAILS(launch(mod, "many", x, 512, NULL), KJIT_LIMIT,
              "kernel 'many', its block's local and shared arrays: the context's limit of "
              "array_bytes, 100000, is exceeded");
    goes_on(mod);
    OK(launch(mod, "many", x, 4, NULL));
    kjit_array_free(x);
    kjit_module_free(mod);
    drop(first);
}

/* Single statements of run blocks that would make, walk through or print very much. */
static void test_statements(void **state)
{
    (void)state;
    static const struct {
        const char *text, *limit;
    } runs[] = {
        {"run { let a = zeros(2000000, u8).split(1) }", "value_bytes"},
        {"run {\n    var a = [1] * 200\n    for k in range(5) { a = [a] * 200 }\n    let b = "
         "array(a)\n}",
         "run_ms"},
        {"run {\n    var a = [1] * 100\n    for k in range(5) { a = [a] * 100 }\n    let t = "
         "f\"{a}\"\n}",
         "value_bytes"},
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        /* one limit alone: which of two is first depends on the machine */
        kjit_limits limits = {.version = 1, .value_bytes = 1000000};
        if (strcmp(runs[i].limit, "run_ms") == 0)
            limits.run_ms = 500;
        kjit_module *first = with(&limits, 1), *mod = module(runs[i].text);
        FAILS(kjit_run(mod, NULL), KJIT_LIMIT, runs[i].limit);
        kjit_module_free(mod);
        goes_on(first);
        drop(first);
    }
}

/* What a launch moves to a device counts there. */
static void test_staged(void **state)
{
    (void)state;
    static float data[1 << 18];
    kjit_module *mod = with(&(kjit_limits){.version = 1, .array_bytes = 1000000}, 0);
    kjit_array *x = wrap(data, KJIT_F32, 1, SHAPE(1 << 18)), *part;
    if (on_cpu())
        OK(launch(mod, "add", x, 8, NULL));
    else
        FAILS(launch(mod, "add", x, 8, NULL), KJIT_LIMIT, "array_bytes");
    OK(kjit_array_slice(x, SHAPE(0), SHAPE(100), NULL, &part));
    OK(launch(mod, "add", part, 8, NULL));
    kjit_array_free(part);
    kjit_array_free(x);
    drop(mod);
}

static void test_prints(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_array *x;
    kjit_module *mod = with(&(kjit_limits){.version = 1, .print_bytes = 100}, 0);
    OK(kjit_array_create(ctx, KJIT_F32, 1, SHAPE(8), 'C', KJIT_DEVICE, &x));
    OK(launch(mod, "say", x, 64, NULL)); /* nobody takes it */
    kjit_set_print(ctx, take, NULL);
    printed[0] = 0;
    OK(launch(mod, "say", x, 10, NULL));
    assert_int_equal(strlen(printed), 70);
    FAILS(launch(mod, "say", x, 10, NULL), KJIT_LIMIT,
          "limit of print_bytes, 100, is exceeded: kernel 'say' (test.knl:2)");
    assert_int_equal(strlen(printed), 98); /* whole lines */
    FAILS(launch(mod, "say", x, 1, NULL), KJIT_LIMIT, "print_bytes");
    goes_on(mod);
    kjit_set_print(ctx, take, NULL); /* it begins anew */
    printed[0] = 0;
    OK(kjit_stream_create(ctx, &s));
    OK(launch(mod, "say", x, 64, s));
    OK(launch(mod, "add", x, 8, s));
    FAILS(kjit_stream_synchronize(s), KJIT_LIMIT, "kernel 'say' (test.knl:2) prints more");
    OK(kjit_stream_synchronize(s));
    assert_true(strlen(printed) <= 100 && strstr(printed, "line 12\n"));
    kjit_stream_free(s);
    kjit_array_free(x);
    drop(mod);
}

static void run_fails(const char *text, kjit_status status, const char *words)
{
    kjit_module *run = module(text);
    printed[0] = 0;
    FAILS(kjit_run(run, &(kjit_run_options){.write = take}), status, words);
    FAILS(kjit_run(run, &(kjit_run_options){.write = take}), status, words); /* anew */
    kjit_module_free(run);
}

static void test_runs(void **state)
{
    (void)state;
    kjit_limits limits = {
        .version = 1, .print_bytes = 100, .value_bytes = 100000, .array_bytes = 100000};
    kjit_module *mod = with(&limits, 0);
    run_fails("run { for i in range(1000) { print(\"number\", i) } }", KJIT_LIMIT,
              "test.knl:1:30: error: the context's limit of print_bytes, 100, is exceeded");
    run_fails("run { plot([1, 2, 3]) }", KJIT_LIMIT,
              "test.knl:1:7: error: the context's limit of print_bytes, 100, is exceeded");
    run_fails("run { show(ones((20, 20))) }", KJIT_LIMIT, "print_bytes");
    run_fails("run { var l = [1]; while true { l.append(1) } }", KJIT_LIMIT, "value_bytes");
    run_fails("run { var s = \"x\"; while true { s = s + s } }", KJIT_LIMIT, "value_bytes");
    run_fails("run { var l = [1]; for i in range(60) { l = [l, l] }; print(l) }", KJIT_LIMIT,
              "value_bytes");
    run_fails("run { let x = zeros(10000); let y = zeros(10000); let z = x * y + zeros(10000); "
              "print(z) }",
              KJIT_LIMIT, "array_bytes");
    goes_on(mod);
    drop(mod);
}

/* With longer and longer times: on a busy machine a short one is over before the kernel begins, which is told as such. */
static void kernel_of_run_ends(void)
{
    static const char text[] = "kernel spin(x: f32[]) { while x[0] < 1000 { x[1] = 1 } }\n"
                               "run { let x = zeros(4); spin[1, 2](x) }";
    kjit_status status = KJIT_LIMIT;
    for (uint64_t ms = 300; status == KJIT_LIMIT && ms < 20000; ms *= 4) {
        kjit_module *mod = with(&(kjit_limits){.version = 1, .run_ms = ms}, 1), *run = module(text);
        status = kjit_run(run, &(kjit_run_options){.write = take});
        if (status == KJIT_LIMIT)
            FAILS(status, KJIT_LIMIT, "run_ms");
        else
            FAILS(status, KJIT_TIMEOUT, "kernel 'spin' ran out of time");
        assert_non_null(strstr(kjit_last_error(ctx), "limit of run_ms, "));
        goes_on(mod);
        kjit_module_free(run);
        drop(mod);
    }
    assert_int_equal(status, KJIT_TIMEOUT);
}

static void test_time_of_runs(void **state)
{
    (void)state;
    kjit_module *mod = with(&(kjit_limits){.version = 1, .run_ms = 300}, 1);
    run_fails("run { var l = [1]; var m = [1]; for i in range(60) { l = [l, l]; m = [m, m] }; "
              "print(l == m) }",
              KJIT_LIMIT, "run_ms");
    run_fails("run { var l = [1]; for i in range(100000) { l = [2] }; while true { } }", KJIT_LIMIT,
              "limit of run_ms, 300, is exceeded");
    goes_on(mod);
    drop(mod);
    kernel_of_run_ends();
}

static void test_time(void **state)
{
    (void)state;
    float data[2] = {0};
    kjit_module *mod = with(&(kjit_limits){.version = 1, .launch_ms = 200}, 1);
    kjit_array *x = wrap(data, KJIT_F32, 1, SHAPE(2));
    kjit_config patient = {.grid = {1}, .block = {2}, .timeout_ms = 100000};
    FAILS(launch(mod, "spin", x, 2, NULL), KJIT_TIMEOUT, "kernel 'spin' ran out of time");
    assert_non_null(strstr(kjit_last_error(ctx), "the context's limit of launch_ms, 200"));
    kjit_config hasty = {.grid = {1}, .block = {2}, .timeout_ms = 50};
    FAILS(kjit_launch(mod, "spin", &hasty, (kjit_arg[]){kjit_arg_array(x)}, 1), KJIT_TIMEOUT,
          "kernel 'spin' ran out of time");
    assert_null(strstr(kjit_last_error(ctx), "limit")); /* it was not that one */
    OK(kjit_set_deadline(ctx, 50));
    FAILS(kjit_launch(mod, "spin", &patient, (kjit_arg[]){kjit_arg_array(x)}, 1), KJIT_TIMEOUT,
          "kernel 'spin' ran out of time");
    assert_non_null(strstr(kjit_last_error(ctx), "the context's deadline has passed"));
    OK(kjit_set_deadline(ctx, 0));
    data[1] = 0;
    OK(kjit_launch(mod, "add", &patient, (kjit_arg[]){kjit_arg_array(x)}, 1));
    assert_true(data[1] == 1);
    kjit_array_free(x);
    drop(mod);
}

/* Of a kernel 'long'. */
static kjit_status compile(const char *text, bool launched)
{
    kjit_module *mod;
    float data[2] = {0};
    kjit_status status = kjit_module_compile(ctx, "long.knl", text, strlen(text), NULL, &mod);
    if (status != KJIT_OK)
        return status;
    kjit_array *x = wrap(data, KJIT_F32, 1, SHAPE(2));
    if (launched)
        status = launch(mod, "long", x, 2, NULL);
    kjit_array_free(x);
    kjit_module_free(mod);
    return status;
}

/* A kernel that is long, for which enough of it is `n`. */
static kjit_status compile_long(int n, bool launched)
{
    size_t room = (size_t)n * 64 + 100;
    char *text = malloc(room), *at = text;
    assert_non_null(text);
    at += sprintf(at, "kernel long(x: f32[]) {\n");
    for (int i = 0; i < n; i++)
        at += sprintf(at, "x[(i32(threadIdx.x) + %d) %% 2] += sin(x[0] + %d)\n", i % 7, i);
    sprintf(at, "}\n");
    kjit_status status = compile(text, launched);
    free(text);
    return status;
}

static void test_compilation(void **state)
{
    (void)state;
    kjit_module *mod = with(&(kjit_limits){.version = 1, .compile_bytes = 2000000}, 0);
    FAILS(compile_long(10000, false), KJIT_LIMIT,
          "limit of compile_bytes, 2000000, is exceeded: a compilation takes more");
    goes_on(mod);
    drop(mod);
    mod = with(&(kjit_limits){.version = 1, .compile_ms = 20}, 0);
    FAILS(compile_long(100000, false), KJIT_LIMIT, "limit of compile_ms, 20, is exceeded");
    drop(mod);
    mod = with(&(kjit_limits){.version = 1, .compile_code = 300}, 0);
    FAILS(compile_long(300, true), KJIT_COMPILE, "that is the context's limit of compile_code");
    /* its loop is not unrolled, as that would be too large */
    OK(compile("kernel long(x: f32[]) {\n"
               "@unroll for i in range(100) { x[i % 2] += sin(x[0] + i) }\n"
               "}\n",
               true));
    goes_on(mod);
    drop(mod);
}

static void test_launches(void **state)
{
    (void)state;
    float data[2] = {0};
    kjit_module *mod = with(&(kjit_limits){.version = 1, .launch_depth = 3, .launches = 10}, 0);
    kjit_array *x = wrap(data, KJIT_F32, 1, SHAPE(2));
    kjit_arg args[] = {kjit_arg_array(x), kjit_arg_i64(0)};
    kjit_config one = {.grid = {1}, .block = {1}};
    if (!on_cpu()) { /* a driver has limits of its own */
        args[1] = kjit_arg_i64(11);
        OK(kjit_launch(mod, "wide", &one, args, 2));
        kjit_array_free(x);
        drop(mod);
        return;
    }
    FAILS(kjit_launch(mod, "deep", &one, args, 2), KJIT_FAULT,
          "test.knl:6:12: error: launch failed in block (0, 0, 0), thread (0, 0, 0): the context's "
          "limit of "
          "launch_depth is exceeded");
    assert_true(data[0] == 3);
    args[1] = kjit_arg_i64(10);
    OK(kjit_launch(mod, "wide", &one, args, 2));
    args[1] = kjit_arg_i64(11);
    FAILS(kjit_launch(mod, "wide", &one, args, 2), KJIT_FAULT,
          "the context's limit of launches is exceeded");
    goes_on(mod);
    kjit_array_free(x);
    drop(mod);
}

static void refused(const kjit_limits *limits, const char *words)
{
    char error[256];
    kjit_context *none;
    assert_int_equal(
        kjit_context_create(&(kjit_context_options){.limits = limits}, &none, error, sizeof error),
        KJIT_INVALID);
    assert_null(none);
    if (!strstr(error, words))
        fail_msg("the sentence is: %s", error);
}

static void test_options(void **state)
{
    (void)state;
    refused(&(kjit_limits){.version = 0}, "the limits' version is 0: it must be 1");
    refused(&(kjit_limits){.version = 1, .launch_ms = 5},
            "the limits have launch_ms, and the context is not cancellable");
    refused(&(kjit_limits){.version = 1, .run_ms = 5}, "the limits have run_ms");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays),           cmocka_unit_test(test_staged),
        cmocka_unit_test(test_prints),           cmocka_unit_test(test_runs),
        cmocka_unit_test(test_time_of_runs),     cmocka_unit_test(test_time),
        cmocka_unit_test(test_arrays_of_blocks), cmocka_unit_test(test_statements),
        cmocka_unit_test(test_compilation),      cmocka_unit_test(test_launches),
        cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
