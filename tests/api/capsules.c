/* Capsules: a launch that failed is written to a file and made again from it, in a context of anybody's sources, with
 * the same fault; the file has the arrays as they were before; files that are none, and some hundred that were changed,
 * give a clear failure. */
#include <sys/stat.h>

#include "api.h"

static const char used[] = "fn twice(i: i64) -> i64 { return 2 * i }\n"
                           "record Point { x: f32, n: i64 }\n";
static const char source[] =
    "use \"lib/twice.knl\"\n"
    "use std.order\n"
    "const TABLE: i32[4]\n"
    "kernel fill<T: number>(x: T[], y: T[], value: T, const N: i32, p: twice.Point, on: bool, k: "
    "f64) "
    "{\n"
    "    let i = grid(1)\n"
    "    if on and i < y.size { y[i] = value }\n"
    "    x[twice.twice(i) + p.n + N + TABLE[0]] = value\n"
    "}\n"
    "kernel shift(x: i32[], y: i32[]) { y[threadIdx.x] = x[threadIdx.x] }\n"
    "kernel check(x: i32[], least: i32) { let v = x[grid(1)]; x[grid(1)] = 99; assert(v >= least) "
    "}\n";

static kjit_module *mod;
static kjit_context *anybody; /* whose replays are */

static int set_up(void **state)
{
    static const kjit_source sources[] = {
        {.name = "lib/twice.knl", .text = used, .size = sizeof used - 1}};
    kjit_compile_options options = {.sources = sources, .nsources = 1};
    kjit_limits limits = {.version = KJIT_LIMITS_VERSION, .launch_ms = 300, .compile_ms = 20000};
    kjit_context_options untrusted = {.untrusted = 1, .limits = &limits};
    if (make_context(state) != 0)
        return 1;
    OK(kjit_context_create(&untrusted, &anybody, NULL, 0));
    if (kjit_module_compile(ctx, "test.knl", source, strlen(source), &options, &mod) != KJIT_OK)
        fail_msg("%s", kjit_module_log(mod));
    kjit_array *table = wrap((int32_t[]){1, 2, 3, 4}, KJIT_I32, 1, SHAPE(4));
    OK(kjit_module_set_const(mod, "TABLE", table));
    kjit_array_free(table);
    return 0;
}

static int tear_down(void **state)
{
    kjit_module_free(mod);
    kjit_context_destroy(anybody);
    return drop_context(state);
}

/* Is there libzip? */
static bool has_archives(void)
{
    kjit_status status = kjit_capsule_begin(ctx, path_of("probe.kjc"));
    if (status == KJIT_OK)
        OK(kjit_capsule_end(ctx, NULL));
    return status == KJIT_OK;
}

/* A launch of every kind of argument, which fails at the thread that is beyond x. */
static kjit_status launch_fill(kjit_array *x, kjit_array *y, kjit_stream *s)
{
    struct {
        float x;
        int64_t n;
    } point = {1.5f, 3};
    kjit_dtype record;
    OK(kjit_module_record(mod, "twice.Point", &record));
    kjit_arg args[] = {kjit_arg_array(x),
                       kjit_arg_array(y),
                       kjit_arg_value(KJIT_I32, &(int32_t){7}),
                       kjit_arg_named("N", kjit_arg_i64(2)),
                       kjit_arg_named("p", kjit_arg_value(record, &point)),
                       kjit_arg_named("on", kjit_arg_bool(1)),
                       kjit_arg_named("k", kjit_arg_f64(0.1))};
    return kjit_launch(mod, "fill", &(kjit_config){.grid = {2}, .block = {8}, .stream = s}, args,
                       7);
}

/* The launch that fails, in a file; its sentence, for free(). */
static char *make_capsule(const char *path, kjit_stream *s)
{
    static int32_t data[40];
    int written;
    for (int i = 0; i < 40; i++)
        data[i] = i;
    kjit_array *all = wrap(data, KJIT_I32, 1, SHAPE(40)), *x, *y;
    OK(kjit_array_slice(all, SHAPE(0), SHAPE(36), SHAPE(2), &x));
    OK(kjit_array_slice(all, SHAPE(36), SHAPE(40), SHAPE(1), &y));
    OK(kjit_capsule_begin(ctx, path));
    kjit_status status = launch_fill(x, y, s);
    if (s) {
        OK(status);
        status = kjit_stream_synchronize(s);
    }
    if (status != KJIT_FAULT)
        fail_msg("%s", kjit_last_error(ctx));
    char *told = strdup(kjit_last_error(ctx));
    OK(kjit_capsule_end(ctx, &written));
    assert_int_equal(written, 1);
    assert_int_equal(data[36], 7); /* it has written until it failed */
    kjit_array_free(x);
    kjit_array_free(y);
    kjit_array_free(all);
    return told;
}

static void test_again(void **state)
{
    (void)state;
    if (!has_archives())
        SKIP("libzip is not installed");
    const char *path = path_of("again.kjc");
    kjit_stream *s;
    OK(kjit_stream_create(ctx, &s));
    for (int in_stream = 0; in_stream < 2; in_stream++) {
        char *told = make_capsule(path, in_stream ? s : NULL);
        kjit_fault f = {.size = sizeof f};
        FAILS(kjit_replay(ctx, path, 0), KJIT_FAULT, told);
        assert_int_equal(kjit_replay(anybody, path, 0), KJIT_FAULT);
        assert_string_equal(kjit_last_error(anybody), told);
        assert_int_equal(kjit_last_fault(anybody, &f), 1);
        assert_true(f.kind == KJIT_FAULT_BOUNDS && f.index == 18 && f.extent == 18);
        assert_string_equal(f.file, "test.knl");
        assert_true(f.line == 7 && f.block[0] == 0 && f.thread[0] == 6);
        assert_int_equal(kjit_replay(anybody, path, KJIT_CHECK_NAN | KJIT_CHECK_INDEX), KJIT_FAULT);
        free(told);
    }
    kjit_stream_free(s);
}

static void *member(const char *path, const char *name, int64_t *size)
{
    kjit_array *a;
    kjit_load_options options = {.name = name, .format = "npz"};
    OK(kjit_array_load_with(ctx, path, &options, &a));
    assert_int_equal(kjit_array_dtype(a), KJIT_U8);
    *size = kjit_array_shape(a)[0];
    char *out = malloc((size_t)*size + 1);
    assert_non_null(out);
    memcpy(out, kjit_array_data(a), (size_t)*size);
    out[*size] = 0;
    kjit_array_free(a);
    return out;
}

/* x and y lie in one memory, of which the capsule has one block with both. */
static void test_arrays_before(void **state)
{
    (void)state;
    if (!has_archives())
        SKIP("libzip is not installed");
    const char *path = path_of("before.kjc");
    static int32_t data[8];
    int64_t size;
    for (int i = 0; i < 8; i++)
        data[i] = 10 + i;
    kjit_array *x = wrap(data, KJIT_I32, 1, SHAPE(8));
    kjit_config config = {.grid = {1}, .block = {8}};
    kjit_arg args[] = {kjit_arg_array(x), kjit_arg_i64(10)};
    OK(kjit_capsule_begin(ctx, path));
    OK(kjit_launch(mod, "check", &config, args, 2)); /* the first does not fail */
    for (int i = 0; i < 8; i++)
        data[i] = 20 + i;
    args[1] = kjit_arg_i64(25);
    assert_int_equal(kjit_launch(mod, "check", &config, args, 2), KJIT_FAULT);
    assert_int_equal(data[7], 99);
    assert_int_equal(kjit_launch(mod, "check", &config, args, 2), KJIT_OK);
    args[1] = kjit_arg_i64(1000);
    assert_int_equal(kjit_launch(mod, "check", &config, args, 2), KJIT_FAULT); /* not the first */
    OK(kjit_capsule_end(ctx, NULL));
    kjit_array_free(x);
    char *manifest = member(path, "manifest", &size), *block = member(path, "block0", &size);
    int64_t offset;
    const char *line = strstr(manifest, "\nargument x array 0 ");
    assert_non_null(line);
    assert_int_equal(sscanf(line, "\nargument x array 0 %ld i32 1 8 4", &offset), 1);
    for (int i = 0; i < 8; i++) {
        int32_t was;
        memcpy(&was, block + offset + 4 * i, sizeof was);
        assert_int_equal(was, 20 + i);
    }
    assert_non_null(strstr(manifest, "argument least int 25\n"));
    free(manifest);
    free(block);
}

static void test_beginning_and_end(void **state)
{
    (void)state;
    int written = 7;
    if (!has_archives())
        SKIP("libzip is not installed");
    const char *path = path_of("none.kjc");
    FAILS(kjit_capsule_end(ctx, &written), KJIT_INVALID, "no capsule was begun");
    FAILS(kjit_capsule_begin(ctx, "/nowhere/x.kjc"), KJIT_IO, "cannot write '/nowhere/x.kjc'");
    FAILS(kjit_capsule_begin(ctx, ""), KJIT_IO, "cannot write '': it names no file");
    OK(kjit_capsule_begin(ctx, path));
    FAILS(kjit_capsule_begin(ctx, path), KJIT_INVALID, "begun already");
    FAILS(kjit_launch(mod, "none", &(kjit_config){.grid = {1}, .block = {1}}, NULL, 0),
          KJIT_NOT_FOUND, "no kernel 'none'");
    OK(kjit_capsule_end(ctx, &written));
    assert_int_equal(written, 0);
    assert_int_equal(access(path, F_OK), -1);
    FAILS(kjit_replay(ctx, path, 0), KJIT_IO, "none.kjc': No such file");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("a text", f);
    fclose(f);
    FAILS(kjit_replay(ctx, path, 0), KJIT_FORMAT, "");
    free(make_capsule(path, NULL));
    FAILS(kjit_replay(ctx, path, 1 << 20), KJIT_INVALID, "check is ");
    assert_int_equal(kjit_replay(anybody, path, KJIT_CHECK_NONE), KJIT_INVALID);
    assert_non_null(strstr(kjit_last_error(anybody), "untrusted"));
    OK(kjit_capsule_begin(ctx, path)); /* it is not ended */
}

/* A launch that fails, of a source with that name, is made again from its capsule. */
static void replay_named(const char *source_name, const char *text, const char *kernel)
{
    char *path = strdup(path_of("named.kjc"));
    kjit_module *m;
    static int32_t few[8];
    kjit_array *a = wrap(few, KJIT_I32, 1, SHAPE(8)), *filled = wrap(few, KJIT_I32, 1, SHAPE(8));
    kjit_config config = {.grid = {1}, .block = {9}};
    kjit_arg args[] = {kjit_arg_array(a)};
    int written;
    if (kjit_module_compile(ctx, source_name, text, strlen(text), NULL, &m) != KJIT_OK)
        fail_msg("%s", kjit_module_log(m));
    char *name = strdup(strstr(text, "const ") + 6);
    name[strcspn(name, ":")] = 0;
    OK(kjit_module_set_const(m, name, filled));
    OK(kjit_capsule_begin(ctx, path));
    FAILS(kjit_launch(m, kernel, &config, args, 1), KJIT_FAULT, "");
    OK(kjit_capsule_end(ctx, &written));
    assert_int_equal(written, 1);
    kjit_status status = kjit_replay(ctx, path, 0);
    if (status != KJIT_FAULT)
        fail_msg("'%s': %s", source_name, kjit_last_error(ctx));
    kjit_array_free(a);
    kjit_array_free(filled);
    kjit_module_free(m);
    free(name);
    free(path);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const names[] = {"",
                                        " ",
                                        "a b.knl",
                                        "a\nb",
                                        "a\nkernel none",
                                        "\r\n\t\x1b[31m",
                                        "a:1:2: b",
                                        "\xc3\xa9\xff",
                                        "'%s'"};
    static const size_t lengths[] = {1, 254, 255, 256, 257, 5000};
    static char text[31000], name[6000];
    if (!has_archives())
        SKIP("libzip is not installed");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        replay_named(names[i], "const T: i32[8]\nkernel k(x: i32[]) { x[threadIdx.x] = T[0] }",
                     "k");
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        size_t n = lengths[i];
        if (n > 4000 && !on_cpu())
            continue; /* more than PTX has */
        memset(name, 'n', n);
        name[n] = 0;
        snprintf(text, sizeof text,
                 "const C%s: i32[8]\nkernel k%s(%s: i32[]) { %s[threadIdx.x] = C%s[0] }", name,
                 name, name, name, name);
        memmove(name + 1, name, n + 1);
        name[0] = 'k';
        replay_named(name, text, name);
    }
}

/* Where there is no room for a copy before it the launch is not made; behind it the launch has failed as it would have,
 * and the end says why there is no capsule. */
static void test_no_room(void **state)
{
    (void)state;
    enum { N = 1 << 18 };
    static int32_t few[8];
    kjit_limits limits = {.version = KJIT_LIMITS_VERSION, .array_bytes = 100000};
    kjit_context *own;
    kjit_module *m;
    kjit_array *large, *small;
    int written = 7;
    if (!has_archives())
        SKIP("libzip is not installed");
    char *path = strdup(path_of("room.kjc"));
    static const char text[] =
        "kernel f(x: i32[], y: i32[]) { y[threadIdx.x] = x[0]; assert(y[0] > 9) }";
    int32_t *data = calloc(N, sizeof *data);
    OK(kjit_context_create(&(kjit_context_options){.device = "cpu", .limits = &limits}, &own, NULL,
                           0));
    OK(kjit_module_compile(own, "f.knl", text, strlen(text), NULL, &m));
    OK(kjit_array_wrap(own, data, KJIT_I32, 1, SHAPE(N), NULL, KJIT_HOST, &large));
    OK(kjit_array_wrap(own, few, KJIT_I32, 1, SHAPE(8), NULL, KJIT_HOST, &small));
    kjit_config config = {.grid = {1}, .block = {8}};
    kjit_arg args[] = {kjit_arg_array(small), kjit_arg_array(large)};
    OK(kjit_capsule_begin(own, path));
    assert_int_equal(kjit_launch(m, "f", &config, args, 2), KJIT_LIMIT);
    assert_non_null(strstr(kjit_last_error(own), "limit of array_bytes"));
    args[0] = kjit_arg_array(large);
    args[1] = kjit_arg_array(small);
    assert_int_equal(kjit_launch(m, "f", &config, args, 2), KJIT_FAULT);
    assert_non_null(strstr(kjit_last_error(own), "f.knl:1:"));
    assert_int_equal(kjit_last_fault(own, &(kjit_fault){.size = sizeof(kjit_fault)}), 1);
    assert_int_equal(kjit_capsule_end(own, &written), KJIT_LIMIT);
    assert_non_null(strstr(kjit_last_error(own), "limit of array_bytes"));
    assert_int_equal(written, 0);
    assert_int_equal(access(path, F_OK), -1);
    OK(kjit_capsule_begin(own, path));
    args[0] = kjit_arg_array(small);
    assert_int_equal(mkdir(path, 0700), 0); /* it cannot be written any more */
    assert_int_equal(kjit_launch(m, "f", &config, args, 2), KJIT_FAULT);
    assert_int_equal(kjit_capsule_end(own, &written), KJIT_IO);
    assert_int_equal(rmdir(path), 0);
    kjit_array_free(large);
    kjit_array_free(small);
    kjit_module_free(m);
    kjit_context_destroy(own);
    free(data);
    free(path);
}

/* ---- Capsules of strangers ---- */

static uint64_t seed = 1;

static size_t any(size_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(seed >> 33) % n;
}

static const char *const words[] = {
    "-1",
    "0",
    "1",
    "2",
    "9223372036854775807",
    "-9223372036854775808",
    "4096",
    "in",
    "out",
    "array",
    "value",
    "f32x4",
    "twice.Point",
    "u8",
    "bool",
    "check",
    "const",
    "TABLE",
    "block",
    "file",
    "x",
    "y",
    "c64",
    "",
    "99999999999999999999999",
    "281474976710656",
    "3",
};

/* Another text in the place of a word, or a line less, or twice. */
static char *changed(const char *text)
{
    size_t size = strlen(text), at = any(size), n = strcspn(text + at, " \n");
    while (at > 0 && !strchr(" \n", text[at - 1]))
        at--, n++;
    const char *to = words[any(sizeof words / sizeof *words)];
    char *out = malloc(2 * size + 32);
    assert_non_null(out);
    size_t how = any(8);
    if (how < 6) {
        sprintf(out, "%.*s%s%s", (int)at, text, to, text + at + n);
        return out;
    }
    while (at > 0 && text[at - 1] != '\n')
        at--;
    n = strcspn(text + at, "\n") + 1;
    n = at + n > size ? size - at : n;
    sprintf(out, "%.*s%s", (int)at, text, how == 6 ? text + at + n : "");
    if (how == 7)
        sprintf(out + at, "%.*s%s", (int)n, text + at, text + at);
    return out;
}

static int came[KJIT_LIMIT + 1]; /* by status */

static void replay_changed(const char *path)
{
    kjit_status status = kjit_replay(anybody, path, 0);
    came[status]++;
    const char *told = kjit_last_error(anybody);
    if (status == KJIT_OK)
        return;
    assert_int_not_equal(status, KJIT_INTERNAL);
    assert_true(*told != 0);
}

static kjit_array *bytes(const void *data, int64_t size)
{
    kjit_array *a = create(KJIT_U8, 1, SHAPE(size), 'C');
    memcpy(kjit_array_data(a), data, (size_t)size);
    return a;
}

static void test_changed_manifests(void **state)
{
    (void)state;
    static const char *const names[] = {"manifest", "file0", "file1", "block0", "block1", "block2"};
    enum { N = sizeof names / sizeof *names };
    kjit_named_array arrays[N];
    if (!has_archives())
        SKIP("libzip is not installed");
    char *path = strdup(path_of("whole.kjc")), *to = strdup(path_of("changed.npz"));
    free(make_capsule(path, NULL));
    int64_t size;
    char *manifest = member(path, "manifest", &size);
    for (int i = 1; i < N; i++) {
        void *data = member(path, names[i], &size);
        arrays[i] = (kjit_named_array){.name = names[i], .array = bytes(data, size)};
        free(data);
    }
    for (int i = 0; i < 500; i++) {
        char *text = changed(manifest);
        while (any(3) == 0) {
            char *more = changed(text);
            free(text);
            text = more;
        }
        arrays[0] =
            (kjit_named_array){.name = names[0], .array = bytes(text, (int64_t)strlen(text))};
        OK(kjit_arrays_save(ctx, to, arrays, N, NULL));
        replay_changed(to);
        kjit_array_free(arrays[0].array);
        free(text);
    }
    for (int i = 0; getenv("KJIT_TEST_ALL") && i <= KJIT_LIMIT; i++)
        print_message("%s %d\n", kjit_status_name((kjit_status)i), came[i]);
    assert_true(came[KJIT_FORMAT] > 50); /* both what is no capsule, and what is another */
    assert_true(came[KJIT_FAULT] > 20 && came[KJIT_LAUNCH] > 10 && came[KJIT_COMPILE] > 0);
    arrays[0] =
        (kjit_named_array){.name = names[0], .array = bytes(manifest, (int64_t)strlen(manifest))};
    OK(kjit_arrays_save(ctx, to, arrays, N, NULL));
    assert_int_equal(kjit_replay(anybody, to, 0), KJIT_FAULT);
    for (int i = 0; i < N; i++)
        kjit_array_free(arrays[i].array);
    free(manifest);
    free(path);
    free(to);
}

static void test_changed_bytes(void **state)
{
    (void)state;
    static char all[1 << 16], some[1 << 16];
    if (!has_archives())
        SKIP("libzip is not installed");
    char *path = strdup(path_of("whole.kjc")), *to = strdup(path_of("bytes.kjc"));
    free(make_capsule(path, NULL));
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t size = fread(all, 1, sizeof all, f);
    fclose(f);
    assert_true(size > 1000 && size < sizeof all);
    for (int i = 0; i < 400; i++) {
        size_t n = i % 4 == 0 ? any(size) : size;
        memcpy(some, all, size);
        for (size_t k = any(4) + (n == size); k > 0; k--)
            some[any(size)] = (char)any(256);
        f = fopen(to, "wb");
        assert_non_null(f);
        fwrite(some, 1, n, f);
        fclose(f);
        replay_changed(to);
    }
    free(path);
    free(to);
}

static int end(void **state)
{
    (void)state;
    drop_folder();
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_arrays_before, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_beginning_and_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_changed_manifests, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_changed_bytes, set_up, tear_down),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, end);
}
