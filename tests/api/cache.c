/* The cache of compiled code: what a launch finds there, by everything that it depends on, and what
 * can be asked about it. */
#include "api.h"

static char folder[] = "/tmp/kjit-cache-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : 1;
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static void open_context(const char *cache)
{
    char error[256];
    kjit_context_options options = {.cache = cache};
    if (kjit_context_create(&options, &ctx, error, sizeof error) != KJIT_OK)
        fail_msg("%s", error);
}

typedef struct seen {
    int entries, unusable;
    char last[200];
} seen;

static void see(void *user, const kjit_cache_entry *e)
{
    seen *s = user;
    assert_non_null(e->file);
    assert_non_null(e->kernel);
    assert_non_null(e->variant);
    assert_true(e->size > 0 && e->used > 0);
    s->entries++;
    s->unusable += e->unusable != NULL;
    snprintf(s->last, sizeof s->last, "%s", e->unusable ? e->unusable : "");
}

static int count(void)
{
    seen s = {0};
    OK(kjit_cache_list(ctx, NULL, see, &s));
    return s.entries;
}

static const char source[] = "kernel scale<T: number>(x: T[], y: T[], const K: i32, k: i32) {\n"
                             "    let i = grid(1)\n"
                             "    if i < x.size { y[i] = x[i] * T(K * k) }\n"
                             "}\n";

/* Launches it, and gives how many entries that made. */
static int launch(const char *text, const kjit_compile_options *options, int64_t block,
                  kjit_dtype dtype, int64_t K, int64_t step)
{
    int before = count();
    kjit_module *mod;
    kjit_array *x, *y, *slice;
    OK(kjit_module_compile(ctx, "cache.knl", text, strlen(text), options, &mod));
    OK(kjit_array_create(ctx, dtype, 1, SHAPE(10), 'C', KJIT_HOST, &x));
    OK(kjit_array_create(ctx, dtype, 1, SHAPE(10), 'C', KJIT_HOST, &y));
    memset(kjit_array_data(x), 0, 10 * kjit_dtype_size(dtype));
    OK(kjit_array_slice(x, NULL, NULL, SHAPE(step), &slice));
    OK(kjit_launch(mod, "scale", &(kjit_config){.grid = {1}, .block = {block}},
                   (kjit_arg[]){kjit_arg_array(slice), kjit_arg_array(y),
                                kjit_arg_named("K", kjit_arg_i64(K)),
                                kjit_arg_named("k", kjit_arg_i64(3))},
                   4));
    kjit_array_free(slice);
    kjit_array_free(x);
    kjit_array_free(y);
    kjit_module_free(mod);
    return count() - before;
}

/* Each thing that code depends on, changed alone, is another entry; the same again is none. */
static void everything_counts(void **state)
{
    static const kjit_compile_options plain = {.opt_level = 3}, quick = {.opt_level = 1},
                                      apart = {.opt_level = 3, .no_contract = 1},
                                      flushed = {.opt_level = 3, .ftz = 1},
                                      verified = {.opt_level = 3, .verify = 1};
    char other[sizeof source];
    (void)state;
    memcpy(other, source, sizeof source);
    memcpy(strstr(other, "K * k"), "K + k", 5);
    for (int round = 0; round < 2; round++) {
        int made = round == 0;
        open_context(folder);
        assert_int_equal(launch(source, &plain, 32, KJIT_F32, 2, 1), made);
        assert_int_equal(launch(source, NULL, 32, KJIT_F32, 2, 1), 0);
        assert_int_equal(launch(source, &quick, 32, KJIT_F32, 2, 1), made);
        assert_int_equal(launch(source, &apart, 32, KJIT_F32, 2, 1), made);
        assert_int_equal(launch(source, &flushed, 32, KJIT_F32, 2, 1), made);
        assert_int_equal(launch(source, &verified, 32, KJIT_F32, 2, 1), 0); /* never */
        assert_int_equal(launch(source, &plain, 64, KJIT_F32, 2, 1), made);
        assert_int_equal(launch(source, &plain, 32, KJIT_F64, 2, 1), made);
        assert_int_equal(launch(source, &plain, 32, KJIT_F32, 3, 1), made);
        assert_int_equal(launch(source, &plain, 32, KJIT_F32, 2, 2), made);
        assert_int_equal(launch(other, &plain, 32, KJIT_F32, 2, 1), made);
        kjit_context_destroy(ctx);
    }
}

/* What comes from the cache computes what the compiler's does, of kernels of every kind. */
static void code_works(void **state)
{
    static const char kernels[] =
        "const table: i32[] = [5, 6, 7]\nconst filled: i32[3]\n"
        "kernel all(x: i32[], n: i32) {\n"
        "    let t = shared.array(blockDim.x, i32)\n"
        "    let i = grid(1)\n"
        "    t[threadIdx.x] = table[i % 3] + filled[i % 3]\n"
        "    syncthreads()\n"
        "    assert(n > 0, \"n is {n}\")\n"
        "    if i < x.size { x[i] = t[blockDim.x - 1 - threadIdx.x] + n }\n"
        "}\n";
    (void)state;
    for (int round = 0; round < 2; round++) {
        int32_t x[4] = {0}, filled[3] = {100, 200, 300};
        open_context(folder);
        int before = count();
        kjit_module *mod = module(kernels);
        kjit_array *to = wrap(x, KJIT_I32, 1, SHAPE(4)),
                   *from = wrap(filled, KJIT_I32, 1, SHAPE(3));
        kjit_config config = {.grid = {1}, .block = {4}};
        OK(kjit_module_set_const(mod, "filled", from));
        OK(kjit_launch(mod, "all", &config, (kjit_arg[]){kjit_arg_array(to), kjit_arg_i64(1000)},
                       2));
        assert_int_equal(x[0], 1105);
        assert_int_equal(x[1], 1307);
        assert_int_equal(x[2], 1206);
        assert_int_equal(x[3], 1105);
        FAILS(
            kjit_launch(mod, "all", &config, (kjit_arg[]){kjit_arg_array(to), kjit_arg_i64(-1)}, 2),
            KJIT_FAULT, "n is -1");
        int codes = on_cpu() ? 2 : 1; /* of a CPU also that which looks for the first fault */
        assert_int_equal(count() - before, round == 0 ? codes : 0);
        kjit_array_free(to);
        kjit_array_free(from);
        kjit_module_free(mod);
        kjit_context_destroy(ctx);
    }
}

static void entries_are_explained(void **state)
{
    seen s = {0};
    kjit_module *mod;
    (void)state;
    open_context(folder);
    OK(kjit_cache_clear(ctx, NULL));
    launch(source, NULL, 32, KJIT_F32, 2, 1);
    OK(kjit_module_compile(ctx, "elsewhere/cache.knl", source, strlen(source), NULL, &mod));
    OK(kjit_cache_list(ctx, mod, see, &s));
    assert_int_equal(s.entries, 1);
    assert_int_equal(s.unusable, 0);
    kjit_module_free(mod);
    OK(kjit_module_compile(ctx, "cache.knl", "kernel scale() {}", 17,
                           &(kjit_compile_options){.opt_level = 2}, &mod));
    OK(kjit_cache_list(ctx, mod, see, &s));
    assert_int_equal(s.unusable, 1);
    assert_string_equal(
        s.last, "it was made with -O3, not with -O2; the source has changed, from line 1 on");
    kjit_module_free(mod);
    s = (seen){0};
    OK(kjit_module_compile(ctx, "other.knl", "kernel other() {}", 17, NULL, &mod));
    OK(kjit_cache_list(ctx, mod, see, &s));
    assert_int_equal(s.entries, 0);
    kjit_module_free(mod);
    kjit_context_destroy(ctx);
}

static void wrong_arguments(void **state)
{
    kjit_cache_info info;
    kjit_module *mod;
    int removed = 7;
    (void)state;
    open_context(folder);
    FAILS(kjit_cache_list(ctx, NULL, NULL, NULL), KJIT_INVALID, "visit is NULL");
    FAILS(kjit_cache_describe(ctx, NULL), KJIT_INVALID, "out is NULL");
    OK(kjit_cache_describe(ctx, &info));
    assert_string_equal(info.directory, folder);
    assert_null(info.off);
    OK(kjit_module_compile(ctx, "a.knl", "", 0, NULL, &mod));
    assert_int_equal(kjit_cache_describe(NULL, &info), KJIT_INVALID);
    assert_int_equal(kjit_cache_list(NULL, mod, see, NULL), KJIT_INVALID);
    assert_int_equal(kjit_cache_clear(NULL, &removed), KJIT_INVALID);
    assert_int_equal(removed, 7);
    kjit_context *first = ctx;
    open_context("off");
    FAILS(kjit_cache_list(ctx, mod, see, NULL), KJIT_INVALID, "another context");
    OK(kjit_cache_describe(ctx, &info));
    assert_null(info.directory);
    assert_string_equal(info.off, "it is switched off");
    assert_int_equal(launch(source, NULL, 32, KJIT_F32, 2, 1), 0);
    OK(kjit_cache_clear(ctx, &removed));
    assert_int_equal(removed, 0);
    kjit_context_destroy(ctx);
    kjit_module_free(mod);
    kjit_context_destroy(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_counts),
        cmocka_unit_test(code_works),
        cmocka_unit_test(entries_are_explained),
        cmocka_unit_test(wrong_arguments),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
