/* Modules as images: what is in one, whose code it has, and for which launches; what is no image of this context. */
#include "api.h"

#include <pthread.h>

/* Levels of the CPUs that this runs on. */
#if defined(__aarch64__)
#define LOWEST "armv8-a"
#define NEXT "armv8.1-a"
#define HIGHEST "armv8.1-a"
#else
#define LOWEST "x86-64-v2"
#define NEXT "x86-64-v3"
#define HIGHEST "x86-64-v4"
#endif

static const char source[] =
    "record Pair { a: f32, b: i32 }\n"
    "const table: f32[3]\n"
    "const FIXED = 5 # of all\n"
    "# Scales.\n"
    "kernel scale<T: number>(x: T[], s: T) {\n"
    "    let i = grid(1)\n"
    "    if i < x.size { x[i] *= s }\n"
    "}\n"
    "kernel fill(x: f32[,], const N: i32) {\n"
    "    let i, j = grid(2)\n"
    "    if j < x.shape[0] and i < x.shape[1] { x[j, i] = table[N] + f32(i) }\n"
    "}\n"
    "kernel pairs(p: Pair[], v: Pair) { p[grid(1)].b = v.b + FIXED }\n"
    "kernel usual(x: f32[]) { x[grid(1)] = 1.0 }\n";

typedef struct image {
    void *bytes;
    size_t size;
} image;

static const kjit_config one_block = {.grid = {1}, .block = {64}};

static kjit_status scale(kjit_module *mod, kjit_dtype type, void *x, int64_t n, int64_t threads)
{
    kjit_array *a = wrap(x, type, 1, SHAPE(n));
    kjit_arg args[] = {kjit_arg_array(a), kjit_arg_i64(3)};
    kjit_config config = {.grid = {(n + threads - 1) / threads}, .block = {threads}};
    kjit_status status = kjit_launch(mod, "scale", &config, args, 2);
    kjit_array_free(a);
    return status;
}

static kjit_status fill(kjit_module *mod, kjit_array *a, int64_t n)
{
    kjit_arg args[] = {kjit_arg_array(a), kjit_arg_named("N", kjit_arg_i64(n))};
    kjit_config config = {.grid = {2, 2}, .block = {16, 4}};
    return kjit_launch(mod, "fill", &config, args, 2);
}

static void set_table(kjit_module *mod, float first)
{
    float values[3] = {first, first + 1, first + 2};
    kjit_array *a = wrap(values, KJIT_F32, 1, SHAPE(3));
    OK(kjit_module_set_const(mod, "table", a));
    kjit_array_free(a);
}

/* Of launches of scale with i32, of fill with N = 1, and of none of the others. */
static image make(void)
{
    int32_t x[100] = {0};
    float y[4][20] = {{0}};
    image made;
    kjit_module *mod = module(source);
    kjit_array *a = wrap(y, KJIT_F32, 2, SHAPE(4, 20));
    OK(scale(mod, KJIT_I32, x, 100, 64));
    set_table(mod, 1);
    OK(fill(mod, a, 1));
    kjit_array_free(a);
    kjit_image_options options = {.size = sizeof options,
                                  .cpus = on_cpu() ? LOWEST ", " NEXT : "",
                                  .archs = on_cpu() ? NULL : "sm_75,sm_80"};
    OK(kjit_module_image(mod, &options, &made.bytes, &made.size));
    kjit_module_free(mod);
    return made;
}

static kjit_module *load(const image *made)
{
    kjit_module *mod;
    OK(kjit_module_from_image(ctx, made->bytes, made->size, &mod));
    return mod;
}

static void test_launches(void **state)
{
    (void)state;
    image made = make();
    kjit_module *mod = load(&made);
    int32_t x[1000];
    int64_t wide[4] = {1, 2, 3, 4};
    for (int n = 0; n < 1000; n += 37) {
        for (int i = 0; i < 1000; i++)
            x[i] = i;
        OK(scale(mod, KJIT_I32, x, n, 64));
        for (int i = 0; i < 1000; i++)
            assert_int_equal(x[i], i < n ? 3 * i : i);
    }
    FAILS(scale(mod, KJIT_I32, x, 10, 32), KJIT_COMPILE,
          "kernel 'scale': its module was made ahead of time, and has no code for block (32, 1, "
          "1), T = "
          "i32; there is code for block (64, 1, 1), T = i32 (kjit build makes it for what the run "
          "block launches)");
    FAILS(scale(mod, KJIT_I64, wide, 4, 64), KJIT_COMPILE, "T = i64");
    kjit_module_free(mod);
    free(made.bytes);
}

/* What is filled belongs to the module that is launched. */
static void test_strides_and_consts(void **state)
{
    (void)state;
    float y[8][50] = {{0}};
    image made = make();
    kjit_module *mod = load(&made), *other = load(&made);
    kjit_array *all = wrap(y, KJIT_F32, 2, SHAPE(8, 50)), *turned;
    OK(kjit_array_transpose(all, NULL, &turned));
    FAILS(fill(mod, all, 1), KJIT_LAUNCH, "table");
    set_table(mod, 10);
    set_table(other, 20);
    OK(fill(mod, all, 1));
    assert_true(y[3][19] == 11 + 19 && y[7][31] == 11 + 31 && y[7][32] == 0);
    OK(fill(other, turned, 1));
    assert_true(y[3][7] == 21 + 3 && y[7][7] == 21 + 7);
    FAILS(fill(mod, all, 2), KJIT_COMPILE, "N = 2");
    kjit_array_free(turned);
    kjit_array_free(all);
    kjit_module_free(other);
    kjit_module_free(mod);
    free(made.bytes);
}

/* A kernel that was not launched has code for what forms show; records have this context's numbers. */
static void test_others(void **state)
{
    (void)state;
    float x[256] = {0};
    struct {
        float a;
        int32_t b;
    } p[256] = {{0}}, v = {1, 7};
    image made = make();
    kjit_module *mod = load(&made);
    kjit_dtype pair;
    kjit_kernel_decl decl = {.size = sizeof decl};
    kjit_kernel_param param = {.size = sizeof param};
    kjit_const_info info;
    kjit_array *a = wrap(x, KJIT_F32, 1, SHAPE(256)), *b;
    kjit_config config = {.grid = {1}, .block = {256}};
    OK(kjit_launch(mod, "usual", &config, (kjit_arg[]){kjit_arg_array(a)}, 1));
    assert_true(x[255] == 1);
    x[255] = 0;
    OK(kjit_launch_forall(mod, "usual", 256, NULL, (kjit_arg[]){kjit_arg_array(a)}, 1));
    assert_true(x[255] == 1);
    int32_t few[100] = {1};
    kjit_array *f = wrap(few, KJIT_I32, 1, SHAPE(100)); /* there is code for blocks of 64 alone */
    OK(kjit_launch_forall(mod, "scale", 100, NULL, (kjit_arg[]){kjit_arg_array(f), kjit_arg_i64(2)},
                          2));
    assert_int_equal(few[0], 2);
    kjit_array_free(f);
    OK(kjit_module_record(mod, "Pair", &pair));
    assert_string_equal(kjit_module_record_name(mod, 0), "Pair");
    FAILS(kjit_module_record(mod, "Pairs", &pair), KJIT_NOT_FOUND, "did you mean 'Pair'?");
    b = wrap(p, pair, 1, SHAPE(256));
    OK(kjit_launch(mod, "pairs", &config, (kjit_arg[]){kjit_arg_array(b), kjit_arg_value(pair, &v)},
                   2));
    assert_int_equal(p[200].b, 12);
    assert_string_equal(kjit_module_kernel(mod, 1), "fill");
    assert_null(kjit_module_kernel(mod, 4));
    OK(kjit_module_kernel_decl(mod, "scale", &decl));
    assert_string_equal(decl.head, "kernel scale<T: number>(x: T[], s: T)");
    assert_string_equal(decl.doc, "Scales.");
    assert_int_equal(decl.line, 5);
    OK(kjit_module_kernel_param(mod, "pairs", 1, &param));
    assert_int_equal(param.dtype, pair);
    assert_int_equal(kjit_module_const(mod, 1, &info), 1);
    assert_string_equal(info.name, "FIXED");
    assert_string_equal(info.doc, "of all");
    assert_int_equal(kjit_module_has_run(mod), 0);
    FAILS(kjit_launch(mod, "scala", &one_block, NULL, 0), KJIT_NOT_FOUND, "did you mean 'scale'?");
    kjit_array_free(a);
    kjit_array_free(b);
    kjit_module_free(mod);
    free(made.bytes);
}

static kjit_status swap(kjit_module *mod, const char *record)
{
    struct {
        float a;
        int32_t b;
    } p[2] = {{1, 2}, {3, 4}};
    kjit_dtype type;
    OK(kjit_module_record(mod, record, &type));
    kjit_array *a = wrap(p, type, 1, SHAPE(2));
    kjit_config config = {.grid = {1}, .block = {2}};
    kjit_status status = kjit_launch(mod, "swap", &config, (kjit_arg[]){kjit_arg_array(a)}, 1);
    kjit_array_free(a);
    if (status == KJIT_OK)
        assert_true(p[0].a == 3 && p[0].b == 4 && p[1].a == 1 && p[1].b == 2);
    return status;
}

/* A record's number is its context's, also where it is what a generic type is. */
static void test_generic_records(void **state)
{
    (void)state;
    static const char text[] = "record P { a: f32, b: i32 }\n"
                               "record Q { x: i32, y: f32 }\n"
                               "kernel swap<T>(x: T[]) {\n"
                               "    let i = threadIdx.x\n"
                               "    let v = x[1 - i]\n"
                               "    syncthreads()\n"
                               "    x[i] = v\n"
                               "}\n";
    kjit_context *plain = ctx;
    kjit_image_options options = {
        .size = sizeof options, .cpus = on_cpu() ? LOWEST : "", .archs = on_cpu() ? NULL : "sm_75"};
    image made;
    kjit_module *mod = module(text), *other;
    OK(swap(mod, "P"));
    OK(kjit_module_image(mod, &options, &made.bytes, &made.size));
    kjit_module_free(mod);
    OK(kjit_context_create(NULL, &ctx, NULL, 0));
    other = module("record Before { z: f64 }\nrecord Q { x: i32, y: f32 }\nkernel k(q: Q[], b: "
                   "Before[]) { }\n");
    mod = load(&made);
    OK(swap(mod, "P"));
    FAILS(swap(mod, "Q"), KJIT_COMPILE, "T = Q");
    kjit_module_free(mod);
    kjit_module_free(other);
    kjit_context_destroy(ctx);
    ctx = plain;
    free(made.bytes);
}

static void test_faults(void **state)
{
    (void)state;
    int32_t x[10] = {0};
    image made = make();
    kjit_module *mod = load(&made);
    kjit_array *a = wrap(x, KJIT_F32, 1, SHAPE(10));
    kjit_config config = {.grid = {1}, .block = {256}};
    FAILS(kjit_launch(mod, "usual", &config, (kjit_arg[]){kjit_arg_array(a)}, 1), KJIT_FAULT,
          "test.knl:14:28: error: index 10 is outside of 'x', which has 10 elements (block (0, 0, "
          "0), "
          "thread (10, 0, 0))");
    kjit_array_free(a);
    kjit_module_free(mod);
    free(made.bytes);
}

static void *launch_many(void *data)
{
    kjit_module *mod = data;
    for (int n = 1; n < 200; n++) {
        int32_t x[200] = {1, 1, 1};
        if (scale(mod, KJIT_I32, x, n, 64) != KJIT_OK || x[0] != 3)
            return data;
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    image made = make();
    kjit_module *mod = load(&made);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_many, mod), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    kjit_module_free(mod);
    free(made.bytes);
}

/* ---- What there is code for ---- */

typedef struct told {
    int n;
    char all[1000];
} told;

static void tell(void *user, const char *kernel, const char *launch)
{
    told *t = user;
    size_t size = strlen(t->all);
    snprintf(t->all + size, sizeof t->all - size, "%s: %s\n", kernel, launch);
    t->n++;
}

static void test_told(void **state)
{
    (void)state;
    int32_t x[100] = {0};
    told t = {0};
    void *bytes;
    size_t size;
    kjit_module *mod = module(source);
    kjit_image_options options = {
        .size = sizeof options, .cpus = LOWEST, .archs = "sm_75", .told = tell, .user = &t};
    OK(scale(mod, KJIT_I32, x, 100, 64));
    OK(scale(mod, KJIT_I32, x, 64, 64)); /* takes no more for granted */
    OK(scale(mod, KJIT_I32, x, 10, 128));
    OK(kjit_module_image(mod, &options, &bytes, &size));
    assert_int_equal(t.n, 4); /* fill has no N */
    assert_non_null(strstr(t.all, "scale: block (64, 1, 1), T = i32\n"));
    assert_non_null(strstr(t.all, "scale: block (128, 1, 1), T = i32\n"));
    assert_non_null(strstr(t.all, "pairs: block (256, 1, 1)\n"));
    assert_non_null(strstr(t.all, "usual: block (256, 1, 1)\n"));
    free(bytes);
    options.cpus = "x86-64-v7";
    FAILS(kjit_module_image(mod, &options, &bytes, &size), KJIT_COMPILE,
          "'x86-64-v7' is no level of CPUs");
    options.cpus = "";
    options.archs = "sm_80,sm_1";
    FAILS(kjit_module_image(mod, &options, &bytes, &size), KJIT_COMPILE, "'sm_1' is no GPU");
    options.size = 3;
    FAILS(kjit_module_image(mod, &options, &bytes, &size), KJIT_INVALID, "options->size is 3");
    kjit_module_free(mod);
}

static void test_other_devices(void **state)
{
    (void)state;
    kjit_module *mod = module(source), *from;
    kjit_image_options options = {
        .size = sizeof options, .cpus = on_cpu() ? "" : NULL, .archs = on_cpu() ? "sm_75" : NULL};
    image made;
    OK(kjit_module_image(mod, &options, &made.bytes, &made.size));
    FAILS(kjit_module_from_image(ctx, made.bytes, made.size, &from), KJIT_NO_DEVICE,
          on_cpu() ? "its code is for sm_75, which this CPU does not run"
                   : HIGHEST ", which this GPU does not run");
    assert_null(from);
    free(made.bytes);
    kjit_module_free(mod);
}

/* ---- What is none ---- */

static void no_entry(void *user, const kjit_cache_entry *entry)
{
    (void)user, (void)entry;
}

static void test_other_contexts(void **state)
{
    (void)state;
    static const char *const forms[] = {"tokens", "ast", "tast", "llvm", "asm", "ptx", "cubin"};
    char *text;
    kjit_kernel_info info;
    kjit_test_info test;
    image made = make(), of_image;
    kjit_module *mod = load(&made), *other;
    kjit_context *plain = ctx;
    FAILS(kjit_module_image(mod, NULL, &of_image.bytes, &of_image.size), KJIT_INVALID,
          "is of an image itself");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        FAILS(kjit_module_emit(mod, forms[i], NULL, NULL, &text, NULL), KJIT_INVALID,
              "test.knl was made ahead of time: its kernels are code, without a form");
    FAILS(kjit_module_kernel_info(mod, "scale", NULL, &info), KJIT_INVALID, "without a form");
    FAILS(kjit_run(mod, NULL), KJIT_NOT_FOUND, "there are the kernels, and no run block");
    FAILS(kjit_cache_list(ctx, mod, no_entry, NULL), KJIT_INVALID, "ahead of time");
    assert_int_equal(kjit_module_test(mod, 0, &test), 0);
    assert_int_equal(kjit_module_diagnostics(mod, NULL, 0), 0);
    OK(kjit_module_assume(mod, "N", kjit_arg_i64(2)));
    assert_null(of_image.bytes);
    OK(kjit_context_create(&(kjit_context_options){.cancellable = 1}, &ctx, NULL, 0));
    FAILS(kjit_module_from_image(ctx, made.bytes, made.size, &other), KJIT_INVALID,
          "its launches cannot be ended, and the context is cancellable");
    kjit_context_destroy(ctx);
    OK(kjit_context_create(&(kjit_context_options){.untrusted = 1}, &ctx, NULL, 0));
    FAILS(kjit_module_from_image(ctx, made.bytes, made.size, &other), KJIT_INVALID, "");
    kjit_context_destroy(ctx);
    ctx = plain;
    kjit_module_free(mod);
    ((char *)made.bytes)[made.size / 2] ^= 1;
    FAILS(kjit_module_from_image(ctx, made.bytes, made.size, &other), KJIT_INVALID,
          "no image of a module, or not as it was made");
    FAILS(kjit_module_from_image(ctx, "kjimage1", 8, &other), KJIT_INVALID,
          "these 8 bytes are no image");
    free(made.bytes);
}

/* One that is made in a cancellable context is for such. */
static void test_cancellable(void **state)
{
    (void)state;
    kjit_context *plain = ctx;
    kjit_module *other;
    int32_t x[64] = {1};
    OK(kjit_context_create(&(kjit_context_options){.cancellable = 1}, &ctx, NULL, 0));
    image made = make();
    kjit_module *mod = load(&made);
    OK(scale(mod, KJIT_I32, x, 64, 64));
    assert_int_equal(x[0], 3);
    kjit_module_free(mod);
    kjit_context_destroy(ctx);
    ctx = plain;
    FAILS(kjit_module_from_image(ctx, made.bytes, made.size, &other), KJIT_INVALID,
          "it is for cancellable contexts, and this one is not");
    free(made.bytes);
}

static int deleted;
static void wipe(void *owner)
{
    image *of = owner;
    memset(of->bytes, 0xa5, of->size);
    free(of->bytes);
    deleted++;
}

/* The bytes live as long as work of the module, which the program may have freed; one that was not made leaves them. */
static void test_owned(void **state)
{
    (void)state;
    image made = make();
    kjit_module *mod;
    kjit_stream *stream;
    kjit_graph *graph;
    int32_t data[64] = {1};
    deleted = 0;
    FAILS(kjit_module_from_image_owned(ctx, made.bytes, made.size - 1, &made, wipe, &mod),
          KJIT_INVALID, "no image");
    FAILS(kjit_module_from_image_owned(ctx, NULL, 0, &made, wipe, &mod), KJIT_INVALID,
          "image is NULL");
    assert_int_equal(deleted, 0);
    OK(kjit_module_from_image_owned(ctx, made.bytes, made.size, &made, wipe, &mod));
    OK(kjit_stream_create(ctx, &stream));
    kjit_array *a = wrap(data, KJIT_I32, 1, SHAPE(64));
    kjit_arg args[] = {kjit_arg_array(a), kjit_arg_i64(3)};
    kjit_config config = {.grid = {1}, .block = {64}, .stream = stream};
    OK(kjit_graph_begin(stream));
    OK(kjit_launch(mod, "scale", &config, args, 2));
    OK(kjit_graph_end(stream, &graph));
    kjit_module_free(mod);
    kjit_array_free(a);
    OK(kjit_graph_launch(graph, stream));
    OK(kjit_stream_synchronize(stream));
    assert_int_equal(data[0], 3);
    assert_int_equal(deleted, 0);
    kjit_graph_free(graph);
    kjit_stream_free(stream);
    OK(kjit_synchronize(ctx));
    OK(kjit_deallocate_pending(ctx));
    assert_int_equal(deleted, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launches),       cmocka_unit_test(test_strides_and_consts),
        cmocka_unit_test(test_others),         cmocka_unit_test(test_generic_records),
        cmocka_unit_test(test_faults),         cmocka_unit_test(test_threads),
        cmocka_unit_test(test_told),           cmocka_unit_test(test_other_devices),
        cmocka_unit_test(test_other_contexts), cmocka_unit_test(test_cancellable),
        cmocka_unit_test(test_owned),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
