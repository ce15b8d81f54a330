/* Code that is made ahead of time does what code does that is compiled for a launch: a file's run block is run with one,
 * then with the other, also for other params than the image was made by, and all arrays that it leaves are compared.
 *
 * test_image FILE [name=value ...] [-- name=value ...]: of such a file, whose image is made by the first params; the
 * second are for runs that are compared, too. $KJIT_IMAGE_DEVICE is the device, $KJIT_IMAGE_CPUS for which levels of a CPU
 * there is to be code, $KJIT_IMAGE_SHOW shows what runs print and leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "module/image.h"

static const char *device;

static void add_text(void *user, const char *text, size_t size)
{
    kj_text_add(user, text, size);
}

/* What is printed and left, or the failure. */
static char *run(kjit_module *mod, const char **params, int n)
{
    kj_text text = {0};
    kjit_run_options o = {
        .params = params, .nparams = n, .digest = 1, .write = add_text, .user = &text};
    kjit_status status = kjit_run(mod, &o);
    if (status != KJIT_OK)
        kj_text_printf(&text, "%d: %s\n", status, kjit_last_error(mod->ctx));
    kj_text_puts(&text, "");
    return text.data;
}

static kjit_context *context(void)
{
    kjit_context *ctx;
    kjit_context_options options = {.device = device};
    char why[200];
    if (kjit_context_create(&options, &ctx, why, sizeof why) != KJIT_OK)
        fail_msg("%s", why);
    return ctx;
}

static kjit_module *module(kjit_context *ctx, const char *name, const char *text)
{
    kjit_module *mod;
    kjit_status status = text ? kjit_module_compile(ctx, name, text, strlen(text), NULL, &mod)
                              : kjit_module_load(ctx, name, NULL, &mod);
    if (status != KJIT_OK)
        fail_msg("%s", kjit_last_error(ctx));
    return mod;
}

/* Like `run`, with the image's code for the module's own kernels. */
static char *run_image(const char *name, const char *text, const void *image, size_t size,
                       const char **params, int n)
{
    kjit_context *ctx = context();
    kjit_module *made, *mod = module(ctx, name, text);
    if (kjit_module_from_image(ctx, image, size, &made) != KJIT_OK)
        fail_msg("%s", kjit_last_error(ctx));
    mod->image = made->image;
    char *result = run(mod, params, n);
    kjit_module_free(mod);
    kjit_module_free(made);
    kjit_context_destroy(ctx);
    return result;
}

static char *run_plain(const char *name, const char *text, const char **params, int n)
{
    kjit_context *ctx = context();
    kjit_module *mod = module(ctx, name, text);
    char *result = run(mod, params, n);
    kjit_module_free(mod);
    kjit_context_destroy(ctx);
    return result;
}

/* The image that is made of a run with the params. */
static void *image_of(const char *name, const char *text, const char **params, int n, size_t *size)
{
    kjit_context *ctx = context();
    kjit_module *mod = module(ctx, name, text);
    bool gpu = ctx->ops->code;
    kjit_image_options options = {.size = sizeof options,
                                  .cpus = gpu ? "" : getenv("KJIT_IMAGE_CPUS"),
                                  .archs = gpu ? "sm_75" : NULL};
    void *image;
    free(run(mod, params, n));
    if (kjit_module_image(mod, &options, &image, size) != KJIT_OK)
        fail_msg("%s", kjit_last_error(ctx));
    kjit_module_free(mod);
    kjit_context_destroy(ctx);
    return image;
}

static int compare(const char *name, const char *text, const void *image, size_t size,
                   const char **params, int n)
{
    char *one = run_plain(name, text, params, n),
         *other = run_image(name, text, image, size, params, n);
    int differ = strcmp(one, other) != 0;
    if (getenv("KJIT_IMAGE_SHOW"))
        printf("%s", other);
    if (differ)
        printf("compiled for the launch:\n%smade ahead of time:\n%s", one, other);
    free(one);
    free(other);
    return differ;
}

static int compare_file(int argc, char **argv)
{
    int first = 2, second;
    while (first < argc && strcmp(argv[first], "--") != 0)
        first++;
    const char **params = (const char **)argv + 2;
    size_t size;
    void *image = image_of(argv[1], NULL, params, first - 2, &size);
    int differ = compare(argv[1], NULL, image, size, params, first - 2);
    while (first < argc) {
        for (second = ++first; first < argc && strcmp(argv[first], "--") != 0;)
            first++;
        differ |= compare(argv[1], NULL, image, size, (const char **)argv + second, first - second);
    }
    free(image);
    return differ;
}

/* ---- Cases ---- */

static void check(const char *text, const char *param, const char *other)
{
    size_t size;
    void *image = image_of("k.knl", text, &param, 1, &size);
    assert_int_equal(compare("k.knl", text, image, size, &param, 1), 0);
    assert_int_equal(compare("k.knl", text, image, size, &other, 1), 0);
    free(image);
}

static void sizes_strides_and_types(void **state)
{
    (void)state;
    check("kernel scale<T: number>(x: T[], a: T) {\n"
          "    let i = grid(1)\n"
          "    if i < x.size { x[i] = x[i] * a }\n"
          "}\n"
          "run {\n"
          "    param n = 1024\n"
          "    var x = arange(n, dtype=f32)\n"
          "    var y = arange(2 * n, dtype=i64)\n"
          "    scale[(n + 127) // 128, 128](x, 2.5)\n"
          "    scale[(n + 127) // 128, 128](y[::2], 3)\n"
          "    scale[(n + 127) // 128, 128](y[1::2], 5)\n"
          "}\n",
          "n=1024", "n=777");
}

static void the_first_thread_that_fails(void **state)
{
    (void)state;
    check("kernel k(x: i32[], at: i32) {\n"
          "    let i = grid(1)\n"
          "    assert(x[i % x.size] != 7, \"seven\")\n"
          "    x[i * at] = 1\n"
          "}\n"
          "run {\n"
          "    param at = 1\n"
          "    var x = zeros(300, dtype=i32)\n"
          "    k[3, 100](x, at)\n"
          "}\n",
          "at=1", "at=2");
}

/* Of a gang's threads that fail it is not the first that is found first: where it is told, the block was run again, also
 * of arrays that overlap. */
static void a_thread_that_fails_later_but_comes_before(void **state)
{
    (void)state;
    static const char text[] = "kernel k(x: i32[], y: i32[], at: i32) {\n"
                               "    let i = grid(1)\n"
                               "    assert(i != 12, \"twelve\")\n"
                               "    y[i * at] = x[i]\n"
                               "}\n"
                               "run {\n"
                               "    param at = 1\n"
                               "    param same = false\n"
                               "    var x = zeros(300, dtype=i32)\n"
                               "    var y = zeros(300, dtype=i32)\n"
                               "    k[3, 100](x, x if same else y, at)\n"
                               "}\n";
    const char *apart = "at=60", *same[] = {"at=60", "same=true"};
    size_t size;
    void *image = image_of("k.knl", text, &apart, 1, &size);
    char *told = run_image("k.knl", text, image, size, &apart, 1);
    assert_non_null(strstr(told, "thread (5, 0, 0)"));
    free(told);
    told = run_image("k.knl", text, image, size, same, 2);
    assert_non_null(strstr(told, "thread (5, 0, 0)"));
    free(told);
    assert_int_equal(compare("k.knl", text, image, size, same, 2), 0);
    free(image);
}

static void conditions_and_shared_arrays_of_any_size(void **state)
{
    (void)state;
    check("kernel k(x: f32[], y: f32[], n: i32) {\n"
          "    requires x.size == y.size and n > 0 and blockDim.x % 2 == 0\n"
          "    let s = shared.array(n, f32)\n"
          "    let t = threadIdx.x\n"
          "    for i in range(t, n, blockDim.x) { s[i] = x[i] }\n"
          "    syncthreads()\n"
          "    for i in range(t, n, blockDim.x) { y[i] = s[n - 1 - i] }\n"
          "}\n"
          "run {\n"
          "    param n = 100\n"
          "    param m = 100\n"
          "    let x = arange(m, dtype=f32)\n"
          "    var y = zeros(100, dtype=f32)\n"
          "    k[1, 64](x, y, n)\n"
          "}\n",
          "n=100", "m=90");
}

static void records_consts_and_printed_lines(void **state)
{
    (void)state;
    check("record Body { pos: f32x2, mass: f64, id: u8[3] }\n"
          "const TABLE = [1.0, 2.0, 4.0, 8.0]\n"
          "kernel k(b: Body[], one: Body, const N: i32 = 4) {\n"
          "    let i = grid(1)\n"
          "    if i >= b.size { return }\n"
          "    b[i].mass = one.mass * f64(TABLE[i % N]) + f64(i)\n"
          "    b[i].pos.y = one.pos.x\n"
          "    b[i].id[1] = u8(i)\n"
          "    if i == 3 { print(\"three\", b[i].mass) }\n"
          "}\n"
          "run {\n"
          "    param n = 5\n"
          "    var b = zeros(n, dtype=Body)\n"
          "    var one = zeros(1, dtype=Body)\n"
          "    one[0].mass = 1.5\n"
          "    k[1, 32](b, one[0])\n"
          "    let m = b.mass\n"
          "    print(m)\n"
          "}\n",
          "n=5", "n=31");
}

static void grids_that_wait_and_kernels_that_launch(void **state)
{
    (void)state;
    check("kernel child(x: i32[], v: i32) { let i = grid(1)\n if i < x.size { x[i] += v } }\n"
          "kernel parent(x: i32[]) {\n"
          "    if grid(1) == 0 { launch child[(x.size + 63) // 64, 64](x, 5) }\n"
          "}\n"
          "kernel wait(x: i32[], y: i32[]) {\n"
          "    let i = grid(1)\n"
          "    if i < x.size { x[i] = i32(i) }\n"
          "    grid_sync()\n"
          "    if i < x.size { y[i] = x[x.size - 1 - i] }\n"
          "}\n"
          "run {\n"
          "    param n = 256\n"
          "    var x = zeros(n, dtype=i32)\n"
          "    var y = zeros(n, dtype=i32)\n"
          "    wait[(n + 63) // 64, 64](x, y)\n"
          "    parent[1, 32](y)\n"
          "}\n",
          "n=256", "n=201");
}

/* ---- What is no image ---- */

static void bytes_that_are_none(void **state)
{
    (void)state;
    size_t size;
    char *image = image_of("k.knl", "kernel k(x: f32[]) { x[0] = 1.0 }\n", NULL, 0, &size);
    kjit_context *ctx = context();
    kjit_module *mod;
    assert_int_equal(kjit_module_from_image(ctx, image, size, &mod), KJIT_OK);
    assert_string_equal(kjit_module_kernel(mod, 0), "k");
    kjit_module_free(mod);
    for (size_t cut = 0; cut < size; cut += 1 + size / 50)
        assert_int_equal(kjit_module_from_image(ctx, image, cut, &mod), KJIT_INVALID);
    for (size_t at = 0; at < size; at += 1 + size / 200) {
        image[at] ^= 4;
        assert_int_equal(kjit_module_from_image(ctx, image, size, &mod), KJIT_INVALID);
        image[at] ^= 4;
    }
    assert_int_equal(kjit_module_from_image(ctx, NULL, size, &mod), KJIT_INVALID);
    for (size_t cut = KJ_IMAGE_HEAD; cut < size; cut += 1 + cut / 40) { /* whose sum is right */
        char *part = malloc(cut);
        assert_non_null(part);
        memcpy(part, image, cut);
        uint64_t sum = kj_image_sum(part, cut);
        memcpy(part + KJ_IMAGE_HEAD - sizeof sum, &sum, sizeof sum);
        assert_int_equal(kjit_module_from_image(ctx, part, cut, &mod), KJIT_INVALID);
        free(part);
    }
    kjit_context_destroy(ctx);
    free(image);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_strides_and_types),
        cmocka_unit_test(the_first_thread_that_fails),
        cmocka_unit_test(a_thread_that_fails_later_but_comes_before),
        cmocka_unit_test(conditions_and_shared_arrays_of_any_size),
        cmocka_unit_test(records_consts_and_printed_lines),
        cmocka_unit_test(grids_that_wait_and_kernels_that_launch),
        cmocka_unit_test(bytes_that_are_none),
    };
    device = getenv("KJIT_IMAGE_DEVICE");
    device = device ? device : "cpu";
    if (argc > 1)
        return compare_file(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
