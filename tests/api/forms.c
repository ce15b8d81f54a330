/* Forms of kernels for the CPU and for GPUs that are not there, and what there is to say of
 * devices. */
#include "api.h"

static const char source[] = "kernel first(x: f32[], y: f32[]) {\n"
                             "    let tile = shared.array(32, f32)\n"
                             "    let i = grid(1)\n"
                             "    tile[threadIdx.x % 32] = x[i]\n"
                             "    syncthreads()\n"
                             "    y[i] = tile[0]\n"
                             "}\n"
                             "kernel second<T>(x: T[]) {\n"
                             "    let tile = shared.array(32, T)\n"
                             "    tile[threadIdx.x % 32] = x[0]\n"
                             "    syncthreads()\n"
                             "    x[1] = tile[5]\n"
                             "}\n";

static int make_cpu_context(void **state)
{
    (void)state;
    return kjit_context_create(&(kjit_context_options){.device = "cpu"}, &ctx, NULL, 0) != KJIT_OK;
}

static kjit_module *module_for(const char *arch)
{
    kjit_module *mod;
    char copy[16] = "";
    kjit_compile_options options = {.verify = 1, .arch = arch ? copy : NULL};
    if (arch)
        snprintf(copy, sizeof copy, "%s", arch);
    OK(kjit_module_compile(ctx, "test.knl", source, strlen(source), &options, &mod));
    memset(copy, 'x', sizeof copy - 1); /* the options were copied */
    return mod;
}

static int count(const char *text, const char *part)
{
    int n = 0;
    while ((text = strstr(text, part))) {
        n++;
        text += strlen(part);
    }
    return n;
}

static void check(kjit_module *mod, const char *what, const char *kernel, const char *has,
                  const char *lacks)
{
    char *text;
    size_t size = 0;
    OK(kjit_module_emit(mod, what, kernel, NULL, &text, &size));
    assert_int_equal(size, strlen(text));
    if (!strstr(text, has) || strstr(text, lacks))
        fail_msg("%s of %s: %s", what, kernel ? kernel : "all", text);
    free(text);
}

static void test_forms_for_a_gpu(void **state)
{
    (void)state;
    char *text;
    kjit_module *mod = module_for("sm_90");
    check(mod, "ptx", NULL, ".target sm_90", ".target sm_80");
    check(mod, "asm", "first", ".entry kj_first(", "kj_second");
    check(mod, "llvm", NULL, "@kj_second(", "x86");
    check(mod, "llvm-opt", "second", "@kj_second(", "kj_first");
    OK(kjit_module_emit(mod, "ptx", NULL, NULL, &text, NULL)); /* one module of both */
    assert_int_equal(count(text, ".version"), 1);
    assert_int_equal(count(text, ".entry"), 2);
    free(text);
    OK(kjit_module_emit(mod, "ptx", NULL, SHAPE(8, 4, 2), &text, NULL));
    assert_int_equal(count(text, ".reqntid 8, 4, 2"), 2);
    free(text);
    FAILS(kjit_module_emit(mod, "ptx", NULL, SHAPE(32, 33, 1), &text, NULL), KJIT_INVALID,
          "(32, 33, 1) is too large");
    FAILS(kjit_module_emit(mod, "cubin", NULL, NULL, &text, NULL), KJIT_NO_DEVICE, "sm_90");
    FAILS(kjit_module_emit(mod, "elf", NULL, NULL, &text, NULL), KJIT_INVALID,
          "tokens, ast, checks, notes, tast, uniform, regions, llvm, opt, asm, ptx, cubin");
    assert_null(text);
    float x[64] = {0}, y[64]; /* launches are the device's all the same */
    kjit_array *a = wrap(x, KJIT_F32, 1, SHAPE(64)), *b = wrap(y, KJIT_F32, 1, SHAPE(64));
    const kjit_arg args[] = {kjit_arg_array(a), kjit_arg_array(b)};
    OK(kjit_launch(mod, "first", &(kjit_config){.grid = {2}, .block = {32}}, args, 2));
    kjit_array_free(a);
    kjit_array_free(b);
    kjit_module_free(mod);
}

static void test_forms_for_the_cpu(void **state)
{
    (void)state;
    char *text;
    kjit_module *mod = module_for(NULL);
    check(mod, "llvm", NULL, "@kj_first(", "nvptx");
    check(mod, "tast", NULL, "second", "kj_");
    FAILS(kjit_module_emit(mod, "ptx", NULL, NULL, &text, NULL), KJIT_NO_DEVICE, "sm_80");
    FAILS(kjit_module_emit(mod, "cubin", NULL, NULL, &text, NULL), KJIT_NO_DEVICE, "sm_80");
    kjit_module_free(mod);
}

/* The first loop of a form, from its label to the next block. */
static char *first_loop(char *text)
{
    char *from = strstr(text, "\nbody:"), *to = from ? strstr(from + 1, "\n\n") : NULL;
    assert_non_null(to);
    *to = '\0';
    return from;
}

/* In code that looks whether it is to end, what a loop loads again and again moves out of it, as in any other. */
static void test_loops_that_look(void **state)
{
    static const char pull[] = "kernel pull(x: f32[], at: i32[], y: f32[], out: f32[]) {\n"
                               "    let i = grid(1)\n"
                               "    if i < out.size {\n"
                               "        var s = 0.0\n"
                               "        for j in range(y.size) { s += x[at[i]] * y[j] }\n"
                               "        out[i] = s\n"
                               "    }\n"
                               "}\n";
    (void)state;
    for (int cancellable = 0; cancellable < 2; cancellable++) {
        kjit_context *own;
        kjit_module *mod;
        char *text;
        OK(kjit_context_create(&(kjit_context_options){.device = "cpu", .cancellable = cancellable},
                               &own, NULL, 0));
        OK(kjit_module_compile(own, "t.knl", pull, strlen(pull), NULL, &mod));
        OK(kjit_module_emit(mod, "opt", NULL, NULL, &text, NULL));
        const char *loop = first_loop(text);
        if (!!strstr(loop, "load atomic") != cancellable || strstr(loop, "gather") ||
            strstr(loop, "masked.load"))
            fail_msg("%s", loop);
        free(text);
        kjit_module_free(mod);
        kjit_context_destroy(own);
    }
}

static void test_unknown_architectures(void **state)
{
    (void)state;
    char *text;
    const char *const names[] = {"sm_12", "", "hopper", "sm_90 "};
    for (int i = 0; i < 4; i++) {
        kjit_module *mod = module_for(names[i]);
        FAILS(kjit_module_emit(mod, "ptx", NULL, NULL, &text, NULL), KJIT_INVALID, "sm_75, sm_80");
        assert_null(text);
        kjit_module_free(mod);
    }
}

static void test_levels_of_cpus(void **state)
{
    (void)state;
    kjit_module *mod;
    char copy[16] = "x86-64-v2";
    kjit_compile_options options = {.verify = 1, .cpu = copy};
    OK(kjit_module_compile(ctx, "test.knl", source, strlen(source), &options, &mod));
    memset(copy, 'x', sizeof copy - 1); /* the options were copied */
    check(mod, "asm", "first", "xmm", "ymm");
    kjit_module_free(mod);
    options.cpu = "x86-64-v3";
    OK(kjit_module_compile(ctx, "test.knl", source, strlen(source), &options, &mod));
    check(mod, "asm", "first", "ymm", "zmm");
    kjit_module_free(mod);
    static const char *const names[] = {"x86-64", "", "Native", "x86-64-v2 ", "sm_90"};
    for (int i = 0; i < 5; i++) {
        options.cpu = names[i];
        FAILS(kjit_module_compile(ctx, "test.knl", source, strlen(source), &options, &mod),
              KJIT_INVALID, "armv8.1-a, and native");
        assert_null(mod);
    }
}

static void test_what_a_kernel_takes(void **state)
{
    (void)state;
    kjit_kernel_info info;
    kjit_module *mod = module_for(NULL);
    FAILS(kjit_module_kernel_info(mod, "first", NULL, &info), KJIT_NO_DEVICE, "GPU");
    FAILS(kjit_module_kernel_info(mod, "third", NULL, &info), KJIT_NOT_FOUND, "'third'");
    FAILS(kjit_module_kernel_info(mod, "first", SHAPE(INT64_MAX, INT64_MAX, 4), &info),
          KJIT_INVALID, "too large");
    FAILS(kjit_module_kernel_info(mod, NULL, NULL, &info), KJIT_INVALID, "kernel is NULL");
    FAILS(kjit_module_kernel_info(mod, "first", NULL, NULL), KJIT_INVALID, "out");
    assert_int_equal(kjit_module_kernel_info(NULL, "first", NULL, &info), KJIT_INVALID);
    kjit_module_free(mod);
}

static void test_devices(void **state)
{
    (void)state;
    kjit_device_info devices[8];
    int n = kjit_devices(devices, 8), gpus = 0;
    assert_in_range(n, 1, 8);
    for (int i = 0; i < n; i++)
        gpus += strcmp(devices[i].kind, "cuda") == 0;
    assert_string_equal(devices[n - 1].kind, "cpu"); /* GPUs come first */
    if (gpus == 0)
        assert_non_null(kjit_device_absent("cuda"));
    else
        assert_null(kjit_device_absent("cuda"));
    assert_null(kjit_device_absent("cpu"));
    assert_null(kjit_device_absent("abacus"));
    assert_null(kjit_device_absent(NULL));
    char error[256];
    kjit_context *own;
    assert_int_equal(
        kjit_context_create(&(kjit_context_options){.device = "cuda:9"}, &own, error, sizeof error),
        KJIT_NO_DEVICE);
    assert_null(own);
    assert_non_null(strstr(error, "there is no device 'cuda:9': "));
}

static void collect(void *user, const char *text, size_t size)
{
    strncat(user, text, size);
}

static void test_digest(void **state)
{
    (void)state;
    static const char block[] = "run { let a = arange(5, dtype=f32)\n let b = to_device(a)\n }";
    char text[200] = "";
    kjit_module *mod = module(block);
    kjit_run_options options = {.digest = 1, .write = collect, .user = text};
    OK(kjit_run(mod, &options));
    assert_int_equal(count(text, " f32 (5,) "), 2);
    assert_memory_equal(text, "a f32", 5);
    const char *second = strstr(text, "\nb f32");
    assert_non_null(second);
    assert_memory_equal(strstr(text, ") "), strstr(second, ") "), 2 + 16 + 1);
    options.write = NULL;
    OK(kjit_run(mod, &options));
    kjit_module_free(mod);
}

/* What is handed in is not changed, and need not end with a NUL. */
static void test_format(void **state)
{
    (void)state;
    static const char untidy[] = "run{let a=unknown( 1 )}xxx",
                      tidy[] = "run { let a = unknown(1) }\n";
    char *text;
    size_t size = 0;
    OK(kjit_format(ctx, "t.knl", untidy, strlen(untidy) - 3, &text, &size));
    assert_string_equal(text, tidy);
    assert_int_equal(size, strlen(tidy));
    free(text);
    OK(kjit_format(ctx, NULL, NULL, 0, &text, NULL));
    assert_string_equal(text, "");
    free(text);
    FAILS(kjit_format(ctx, "t.knl", untidy, strlen(untidy), &text, &size), KJIT_COMPILE,
          "t.knl:1:");
    assert_null(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms_for_a_gpu), cmocka_unit_test(test_forms_for_the_cpu),
        cmocka_unit_test(test_loops_that_look), cmocka_unit_test(test_unknown_architectures),
        cmocka_unit_test(test_levels_of_cpus),  cmocka_unit_test(test_what_a_kernel_takes),
        cmocka_unit_test(test_devices),         cmocka_unit_test(test_digest),
        cmocka_unit_test(test_format),
    };
    return cmocka_run_group_tests(tests, make_cpu_context, drop_context);
}
