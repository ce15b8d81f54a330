/* Files that a module uses: from a table, from a function, from folders; and what a text may not read. */
#include "api.h"

#include <pthread.h>

static const char blur[] = "record P { s: f32 }\n"
                           "const T: f32[2]\n"
                           "fn twice(x: f32) -> f32 { return 2 * x }\n"
                           "kernel rows(a: f32[], p: P) { a[grid(1)] = twice(p.s) + T[1] }\n";
static const char text[] = "use \"blur.knl\"\n"
                           "kernel k(a: f32[]) { a[grid(1)] = blur.twice(f32(3)) }\n";

static kjit_status compile(const char *source, const kjit_compile_options *o, kjit_module **out)
{
    return kjit_module_compile(ctx, "lib/main.knl", source, strlen(source), o, out);
}

static float run(kjit_module *m, const char *kernel, const kjit_arg *more)
{
    kjit_array *a = NULL;
    kjit_config one = {.grid = {1}, .block = {1}};
    OK(kjit_array_create(ctx, KJIT_F32, 1, &(int64_t){1}, 'C', KJIT_HOST, &a));
    kjit_arg args[2] = {kjit_arg_array(a)};
    if (more)
        args[1] = *more;
    OK(kjit_launch(m, kernel, &one, args, more ? 2 : 1));
    float value = *(const float *)kjit_array_data(a);
    kjit_array_free(a);
    return value;
}

/* A kernel, a record and a const array by their names; only the module's own kernels are listed. */
static void test_table(void **state)
{
    (void)state;
    kjit_module *m;
    kjit_dtype p;
    kjit_array *t;
    kjit_source sources[] = {{.name = "other.knl", .text = ""},
                             {.name = "lib/blur.knl", .text = blur, .size = sizeof blur - 1}};
    kjit_compile_options o = {.sources = sources, .nsources = 2};
    OK(compile(text, &o, &m));
    sources[1].text = NULL; /* copied */
    assert_string_equal(kjit_module_kernel(m, 0), "k");
    assert_null(kjit_module_kernel(m, 1));
    assert_true(run(m, "k", NULL) == 6);
    OK(kjit_array_create(ctx, KJIT_F32, 1, &(int64_t){2}, 'C', KJIT_HOST, &t));
    ((float *)kjit_array_data(t))[1] = 0.5f;
    OK(kjit_module_set_const(m, "blur.T", t));
    FAILS(kjit_module_set_const(m, "T", t), KJIT_NOT_FOUND, "no const array 'T'");
    OK(kjit_module_record(m, "blur.P", &p));
    FAILS(kjit_module_record(m, "P", &p), KJIT_NOT_FOUND, "no record 'P'");
    kjit_arg arg = kjit_arg_value(p, &(float){4});
    assert_true(run(m, "blur.rows", &arg) == 8.5f);
    kjit_array_free(t);
    kjit_module_free(m);
}

/* A file that is used by two names is one, and known by both. */
static void test_two_names(void **state)
{
    (void)state;
    static const char both[] = "use \"blur.knl\" as one\nuse \"blur.knl\" as two\n"
                               "kernel k(a: f32[]) { a[grid(1)] = two.twice(f32(3)) + one.T[0] }\n";
    kjit_module *m;
    kjit_array *t;
    kjit_dtype p, q;
    kjit_kernel_decl decl = {.size = sizeof decl};
    kjit_source source = {.name = "lib/blur.knl", .text = blur, .size = sizeof blur - 1};
    kjit_compile_options o = {.sources = &source, .nsources = 1};
    OK(compile(both, &o, &m));
    OK(kjit_array_create(ctx, KJIT_F32, 1, &(int64_t){2}, 'C', KJIT_HOST, &t));
    ((float *)kjit_array_data(t))[1] = 0.5f;
    OK(kjit_module_set_const(m, "two.T", t));
    OK(kjit_module_record(m, "one.P", &p));
    OK(kjit_module_record(m, "two.P", &q));
    assert_int_equal(p, q);
    kjit_arg arg = kjit_arg_value(p, &(float){4});
    assert_true(run(m, "one.rows", &arg) == 8.5f);
    assert_true(run(m, "two.rows", &arg) == 8.5f);
    OK(kjit_module_kernel_decl(m, "two.rows", &decl));
    assert_string_equal(decl.name, "one.rows");
    FAILS(kjit_module_kernel_decl(m, "three.rows", &decl), KJIT_NOT_FOUND, "no kernel");
    FAILS(kjit_module_kernel_decl(m, "two.row", &decl), KJIT_NOT_FOUND, "no kernel");
    FAILS(kjit_module_set_const(m, "two.U", t), KJIT_NOT_FOUND, "no const array");
    kjit_array_free(t);
    kjit_module_free(m);
}

typedef struct asked {
    pthread_t thread;
    int n;
    kjit_status status;
    const char *text;
    char path[64], from[64];
} asked;

static kjit_status find(void *user, const char *path, const char *from, kjit_source *out)
{
    asked *a = user;
    assert_true(pthread_equal(a->thread, pthread_self()));
    snprintf(a->path, sizeof a->path, "%s", path);
    snprintf(a->from, sizeof a->from, "%s", from);
    a->n++;
    *out = (kjit_source){.name = path, .text = a->text, .size = strlen(a->text)};
    return a->status;
}

static void test_function(void **state)
{
    (void)state;
    kjit_module *m;
    kjit_diagnostic d;
    asked a = {.thread = pthread_self(), .text = blur};
    kjit_compile_options o = {.find = find, .user = &a};
    OK(compile(text, &o, &m));
    assert_int_equal(a.n, 1);
    assert_string_equal(a.path, "blur.knl");
    assert_string_equal(a.from, "lib/main.knl");
    assert_true(run(m, "k", NULL) == 6);
    kjit_module_free(m);

    a.status = KJIT_NO_MEMORY;
    FAILS(compile(text, &o, &m), KJIT_COMPILE, "'blur.knl' was not given: out of memory");
    kjit_module_free(m);
    a.status = KJIT_NOT_FOUND;
    FAILS(compile(text, &o, &m), KJIT_COMPILE, "there is no file 'blur.knl'");
    kjit_module_free(m);

    a.status = KJIT_OK;
    a.text = "fn twice(x: f32) -> f32 {\n    return y\n}\n";
    FAILS(compile(text, &o, &m), KJIT_COMPILE, "blur.knl:2:12: error: 'y' is not declared");
    assert_int_equal(kjit_module_diagnostics(m, &d, 1), 1);
    assert_string_equal(d.file, "blur.knl");
    assert_int_equal(d.line, 2);
    kjit_module_free(m);
    a.text = text; /* it uses itself */
    FAILS(compile(text, &o, &m), KJIT_COMPILE, "in a circle: blur.knl -> blur.knl");
    kjit_module_free(m);
}

/* What a text reads of the file system: nothing, unless it is given folders. */
static void test_folders(void **state)
{
    (void)state;
    kjit_module *m;
    FILE *file = fopen("use_blur.knl", "w");
    assert_non_null(file);
    fputs(blur, file);
    fclose(file);
    static const char local[] =
        "use \"use_blur.knl\" as blur\nkernel k(a: f32[]) { a[0] = blur.twice(f32(1)) }\n";
    static const char out[] = "use \"x/../use_blur.knl\" as blur\n";
    static const char absolute[] = "use \"/etc/passwd\" as passwd\n";
    kjit_compile_options o = {.path = "nowhere:."};
    FAILS(compile(local, NULL, &m), KJIT_COMPILE, "reads no files");
    kjit_module_free(m);
    OK(compile(local, &o, &m));
    kjit_module_free(m);
    FAILS(compile(out, &o, &m), KJIT_COMPILE, "there is no file");
    kjit_module_free(m);
    FAILS(compile(absolute, &o, &m), KJIT_COMPILE, "there is no file '/etc/passwd'");
    kjit_module_free(m);
    remove("use_blur.knl");
}

static void test_library(void **state)
{
    (void)state;
    kjit_module *m;
    OK(compile("use std.warp\nkernel k(a: f32[]) { a[0] = warp.sum(f32(1)) }\n", NULL, &m));
    kjit_module_free(m);
}

static void test_wrong(void **state)
{
    (void)state;
    kjit_module *m;
    kjit_source nameless = {.text = ""}, empty = {.name = "a", .size = 1};
    kjit_compile_options o = {.nsources = 1};
    FAILS(compile(text, &o, &m), KJIT_INVALID, "sources is NULL");
    o.nsources = -1;
    FAILS(compile(text, &o, &m), KJIT_INVALID, "nsources is -1");
    o = (kjit_compile_options){.nparams = 1};
    FAILS(compile(text, &o, &m), KJIT_INVALID, "params is NULL");
    o.nparams = -1;
    FAILS(compile(text, &o, &m), KJIT_INVALID, "nparams is -1");
    o = (kjit_compile_options){.sources = &nameless, .nsources = 1};
    FAILS(compile(text, &o, &m), KJIT_INVALID, "sources[0].name is NULL");
    o.sources = &empty;
    FAILS(compile(text, &o, &m), KJIT_INVALID, "sources[0].text is NULL");
}

static void *compile_many(void *user)
{
    (void)user;
    for (int i = 0; i < 8; i++) {
        kjit_module *m = NULL;
        asked a = {.thread = pthread_self(), .text = blur};
        kjit_compile_options o = {.find = find, .user = &a};
        kjit_status status = compile(text, &o, &m);
        kjit_module_free(m);
        if (status != KJIT_OK)
            return m;
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, compile_many, NULL), 0);
    for (int i = 0; i < 4; i++) {
        void *failed = &threads;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),     cmocka_unit_test(test_function),
        cmocka_unit_test(test_folders),   cmocka_unit_test(test_library),
        cmocka_unit_test(test_wrong),     cmocka_unit_test(test_threads),
        cmocka_unit_test(test_two_names),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
