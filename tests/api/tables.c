/* Tables and pictures by the library: options of loads and saves, and hostile bytes of every kind of file. */
#include "api.h"

#include <stdlib.h>
#include <sys/mman.h>

static kjit_array *load_as(const char *path, kjit_dtype dtype, const char *name)
{
    kjit_array *a;
    OK(kjit_array_load_with(ctx, path,
                            &(kjit_load_options){.as_dtype = 1, .dtype = dtype, .name = name}, &a));
    return a;
}

static const char *text_file(const char *name, const char *text)
{
    write_file(path_of(name), text, strlen(text));
    return path_of(name);
}

static void test_columns(void **state)
{
    (void)state;
    float t[3] = {0, 0.5f, 1e-7f};
    int64_t n[3] = {INT64_MIN, 0, INT64_MAX};
    const kjit_named_array both[] = {{.name = "t", .array = wrap(t, KJIT_F32, 1, SHAPE(3))},
                                     {.name = "a, \"b\"", .array = wrap(n, KJIT_I64, 1, SHAPE(3))}};
    static const char expected[] =
        "t,\"a, \"\"b\"\"\"\n0.0,-9223372036854775808\n0.5,0\n1e-07,9223372036854775807\n";
    OK(kjit_arrays_save(ctx, path_of("t.csv"), both, 2, NULL));
    char got[sizeof expected + 1] = "";
    FILE *file = fopen(path_of("t.csv"), "rb");
    assert_int_equal(fread(got, 1, sizeof got, file), sizeof expected - 1);
    fclose(file);
    assert_string_equal(got, expected);
    kjit_array *a = load_as(path_of("t.csv"), KJIT_F32, "t");
    assert_int_equal(kjit_array_ndim(a), 1);
    assert_memory_equal(kjit_array_data(a), t, sizeof t);
    kjit_array_free(a);
    OK(kjit_arrays_save(ctx, path_of("t.tsv.gz"), both, 2, NULL));
    a = load_as(path_of("t.tsv.gz"), KJIT_F64, NULL);
    assert_int_equal(kjit_array_shape(a)[0], 3);
    assert_int_equal(kjit_array_shape(a)[1], 2);
    assert_true(((double *)kjit_array_data(a))[5] == 0x1p63);
    kjit_array_free(a);
    kjit_array_free(both[0].array);
    kjit_array_free(both[1].array);
}

static void test_errors(void **state)
{
    (void)state;
    kjit_array *a, *f = create(KJIT_F32, 1, SHAPE(3), 'C'), *g = create(KJIT_F32, 1, SHAPE(4), 'C');
    const kjit_named_array apart[] = {{.name = "f", .array = f}, {.name = "g", .array = g}};
    char path[160];
    snprintf(path, sizeof path, "%s", text_file("e.csv", "x,y\n1,2\n3,4.5\n"));
    kjit_load_options o = {.name = "z"};
    FAILS(kjit_array_load_with(ctx, path, &o, &a), KJIT_NOT_FOUND, "it has 'x', 'y'");
    assert_null(a);
    o = (kjit_load_options){.as_dtype = 1, .dtype = KJIT_I32};
    FAILS(kjit_array_load_with(ctx, path, &o, &a), KJIT_FORMAT, "line 3, column 'y': '4.5'");
    assert_null(a);
    snprintf(path, sizeof path, "%s", text_file("e.csv.gz", "x,y\n1,2\n"));
    FAILS(kjit_array_load(ctx, path, &a), KJIT_FORMAT, "not compressed by gzip");
    assert_null(a);
    snprintf(path, sizeof path, "%s", text_file("e2.csv", "x,y,x\n1,2,3\n"));
    o = (kjit_load_options){.name = "x"};
    FAILS(kjit_array_load_with(ctx, path, &o, &a), KJIT_FORMAT, "two columns 'x': 1 and 3");
    assert_null(a);
    o.name = "y";
    OK(kjit_array_load_with(ctx, path, &o, &a));
    kjit_array_free(a);
    o = (kjit_load_options){.as_dtype = 1};
    snprintf(path, sizeof path, "%s", path_of("e.csv"));
    o.dtype = KJIT_C64;
    FAILS(kjit_array_load_with(ctx, path, &o, &a), KJIT_TYPE, "real numbers");
    o.dtype = (kjit_dtype)4000;
    FAILS(kjit_array_load_with(ctx, path, &o, &a), KJIT_TYPE, "4000");
    FAILS(kjit_array_load_with(ctx, NULL, NULL, &a), KJIT_INVALID, "NULL");
    FAILS(kjit_arrays_save(ctx, path, apart, 2, NULL), KJIT_TYPE, "one length");
    FAILS(kjit_arrays_save(ctx, path, apart, 0, NULL), KJIT_INVALID, "no arrays");
    FAILS(kjit_arrays_save(ctx, path, NULL, 1, NULL), KJIT_INVALID, "no arrays");
    FAILS(kjit_arrays_save(ctx, path_of("e.npy"), apart, 2, NULL), KJIT_INVALID, "one array");
    o = (kjit_load_options){.name = "x"};
    OK(kjit_array_save(f, path_of("e.npy")));
    FAILS(kjit_array_load_with(ctx, path_of("e.npy"), &o, &a), KJIT_INVALID, "has no name");
    kjit_array_free(f);
    kjit_array_free(g);
}

/* Pictures are scaled, other numbers converted. */
static void test_types(void **state)
{
    (void)state;
    uint16_t words[4] = {0, 257, 32768, 65535};
    kjit_array *a = wrap(words, KJIT_U16, 2, SHAPE(2, 2));
    static const char *const kinds[] = {"w.png", "w.pgm"};
    for (int i = 0; i < 2; i++) {
        OK(kjit_array_save(a, path_of(kinds[i])));
        kjit_array *back = load_as(path_of(kinds[i]), KJIT_U16, NULL);
        assert_memory_equal(kjit_array_data(back), words, sizeof words);
        kjit_array_free(back);
        back = load_as(path_of(kinds[i]), KJIT_U8, NULL);
        assert_memory_equal(kjit_array_data(back), "\0\1\x80\xff", 4);
        kjit_array_free(back);
        back = load_as(path_of(kinds[i]), KJIT_F64, NULL);
        const double *real = kjit_array_data(back);
        assert_true(real[0] == 0 && real[1] == 257 / 65535.0 && real[3] == 1);
        kjit_array_free(back);
        back = load_as(path_of(kinds[i]), KJIT_I32, NULL);
        assert_int_equal(((int32_t *)kjit_array_data(back))[2], 32768);
        kjit_array_free(back);
    }
    kjit_array_free(a);
    double real[3] = {-1.5, 300, 0.0 / 1};
    a = wrap(real, KJIT_F64, 1, SHAPE(3));
    OK(kjit_array_save(a, path_of("r.npy")));
    kjit_array_free(a);
    a = load_as(path_of("r.npy"), KJIT_U8, NULL);
    assert_memory_equal(kjit_array_data(a), "\0\xff\0", 3);
    kjit_array_free(a);
}

/* ---- Hostile bytes ---- */

static uint64_t seed = 88172645463325252u;

static int memory;

static uint64_t any(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

/* Loads whatever the bytes are: a message or an array. They are in memory, behind a link: thousands of files would keep
 * the disk busy for a minute. */
static void load_any(const char *name, const char *bytes, size_t size, int *arrays, int *messages)
{
    kjit_load_options o = {.as_dtype = any(3) == 0, .dtype = any(2) ? KJIT_F32 : KJIT_I16};
    kjit_array *a;
    assert_int_equal(ftruncate(memory, 0), 0);
    assert_int_equal(pwrite(memory, bytes, size, 0), size);
    if (kjit_array_load_with(ctx, path_of(name), &o, &a) == KJIT_OK) {
        assert_non_null(a);
        ++*arrays;
        kjit_array_free(a);
    } else {
        assert_null(a);
        assert_true(*kjit_last_error(ctx));
        ++*messages;
    }
}

/* The last failure says that no library for .npz is there. */
static bool lacks_libzip(void)
{
    return strstr(kjit_last_error(ctx), "libzip, which is not installed") != NULL;
}

/* Every prefix of a good file, then files with some bytes that are others. */
static void test_hostile(void **state)
{
    (void)state;
    enum { MOST = 1 << 12, TIMES = 2000 };
    static const char *const names[] = {"h.npy", "h.csv", "h.tsv.gz", "h.txt", "h.png", "h.pgm",
                                        "h.ppm", "h.pfm", "h.npz",    "h.wav", "h.raw"};
    static char bytes[MOST], changed[MOST];
    static const char others[] = "\0\1 \n\r\t,;\"#-+.eE019PpfF\x7f\xff";
    float real[2 * 3 * 3];
    for (int i = 0; i < 18; i++)
        real[i] = (float)i / 17;
    kjit_array *grey = wrap(real, KJIT_F32, 2, SHAPE(2, 3)),
               *colour = wrap(real, KJIT_F32, 3, SHAPE(2, 3, 3));
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        int arrays = 0, messages = 0;
        kjit_status saved =
            kjit_array_save(strstr(names[k], ".ppm") ? colour : grey, path_of(names[k]));
        if (saved == KJIT_IO && strstr(names[k], ".npz") && lacks_libzip())
            continue;
        OK(saved);
        FILE *file = fopen(path_of(names[k]), "rb");
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        char target[64];
        snprintf(target, sizeof target, "/proc/self/fd/%d", memory = memfd_create("hostile", 0));
        assert_int_equal(unlink(path_of(names[k])), 0);
        assert_int_equal(symlink(target, path_of(names[k])), 0);
        for (size_t n = 0; n < size; n++)
            load_any(names[k], bytes, n, &arrays, &messages);
        for (int time = 0; time < TIMES; time++) {
            memcpy(changed, bytes, size);
            for (uint64_t n = 1 + any(4); n > 0; n--)
                changed[any(size)] = any(2) ? others[any(sizeof others)] : (char)any(256);
            load_any(names[k], changed, size, &arrays, &messages);
        }
        if (arrays == 0 || messages == 0)
            fail_msg("%s: %d arrays, %d messages", names[k], arrays, messages);
        close(memory);
    }
    kjit_array_free(grey);
    kjit_array_free(colour);
}

/* Netpbm's forms in words, with comments and another largest value. */
static void test_portable_maps(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int ndim, size;
        const char *expected;
    } good[] = {
        {"P1\n# a comment\n2 2\n10\n01", 2, 4, "\0\xff\xff\0"},
        {"P2 2 1 4\n1 # one\n4", 2, 2, "\x40\xff"},
        {"P3 1 1 255 1 2 3", 3, 3, "\1\2\3"},
        {"P4\n9 1\n\x40\x80", 2, 9, "\xff\0\xff\xff\xff\xff\xff\xff\0"},
        {"P2 1 1 1000 500", 2, 2, "\0\x80"},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        kjit_array *a;
        OK(kjit_array_load(ctx, text_file("m.pnm", good[i].text), &a));
        assert_int_equal(kjit_array_ndim(a), good[i].ndim);
        assert_int_equal(kjit_array_size(a) * (int64_t)kjit_dtype_size(kjit_array_dtype(a)),
                         good[i].size);
        assert_memory_equal(kjit_array_data(a), good[i].expected, (size_t)good[i].size);
        kjit_array_free(a);
    }
    static const char *const bad[] = {"",
                                      "P",
                                      "P7 1 1 1",
                                      "P2",
                                      "P2 1",
                                      "P2 0 1 1 1",
                                      "P2 1 1 0 1",
                                      "P2 1 1 70000 1",
                                      "P2 2 1 9 1",
                                      "P2 1 1 9 x",
                                      "P5 1 1 255",
                                      "P5 2147483647 2147483647 255 ",
                                      "P2 99999999999 1 1 1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        kjit_array *a;
        FAILS(kjit_array_load(ctx, text_file("b.pnm", bad[i]), &a), KJIT_FORMAT, "as PNM");
    }
}

/* Pictures of one colour, 9 by 5; read where the library that reads them is there. */
static void test_jpeg(void **state)
{
    (void)state;
    static const char grey[] = "ffd8ffe000104a46494600010100000100010000ffdb00430002010101010102010"
                               "10102020202020403020202020504040304060506"
                               "060605060606070908060709070606080b08090a0a0a0a0a06080b0c0b0a0c090a0"
                               "a0affc0000b080005000901011100ffc400150001"
                               "0100000000000000000000000000000008ffc400141001000000000000000000000"
                               "00000000000ffda0008010100003f008cc7ffd9";
    static const char colour[] = "ffd8ffe000104a46494600010100000100010000ffdb004300020101010101020"
                                 "1010102020202020403020202020504040304060506"
                                 "060605060606070908060709070606080b08090a0a0a0a0a06080b0c0b0a0c090"
                                 "a0a0affdb004301020202020202050303050a070607"
                                 "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0"
                                 "a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0affc00011"
                                 "080005000903012200021101031101ffc40015000101000000000000000000000"
                                 "00000000005ffc40014100100000000000000000000"
                                 "000000000000ffc40014010100000000000000000000000000000008ffc400141"
                                 "10100000000000000000000000000000000ffda000c"
                                 "03010002110311003f009e00ae6c3fffd9";
    static const struct {
        const char *digits;
        int channels, expected[3];
    } pictures[] = {{grey, 1, {77}}, {colour, 3, {200, 100, 50}}};
    for (int i = 0; i < 2; i++) {
        unsigned char bytes[512];
        size_t size = strlen(pictures[i].digits) / 2;
        kjit_array *a;
        for (size_t k = 0; k < size; k++)
            assert_int_equal(sscanf(pictures[i].digits + 2 * k, "%2hhx", &bytes[k]), 1);
        write_file(path_of("p.jpg"), bytes, size);
        if (kjit_array_load(ctx, path_of("p.jpg"), &a) == KJIT_IO) {
            assert_non_null(strstr(kjit_last_error(ctx), "is not installed"));
            SKIP(kjit_last_error(ctx));
        }
        assert_int_equal(kjit_array_ndim(a), i == 0 ? 2 : 3);
        assert_memory_equal(kjit_array_shape(a), SHAPE(5, 9, 3), (size_t)(i + 2) * sizeof(int64_t));
        for (int64_t k = 0; k < kjit_array_size(a); k++)
            assert_in_range(((unsigned char *)kjit_array_data(a))[k] + 3 -
                                pictures[i].expected[k % pictures[i].channels],
                            0, 6);
        kjit_array_free(a);
        for (size_t n = 0; n + 2 < size; n++) {
            write_file(path_of("p.jpg"), bytes, n);
            if (kjit_array_load(ctx, path_of("p.jpg"), &a) == KJIT_OK)
                fail_msg("%zu of %zu bytes made a picture", n, size);
        }
    }
    kjit_array *a = create(KJIT_U8, 2, SHAPE(2, 2), 'C');
    FAILS(kjit_array_save(a, path_of("s.jpg")), KJIT_INVALID, "saved as .npy");
    kjit_array_free(a);
}

/* Arrays of several types and shapes, by their names; and an archive is no array. */
static void test_archive(void **state)
{
    (void)state;
    float t[2 * 3] = {0, 0.5f, -1, 1e30f, 2, 3};
    int64_t n[4] = {INT64_MIN, 0, 1, INT64_MAX};
    kjit_array *a;
    const kjit_named_array three[] = {
        {.name = "t", .array = wrap(t, KJIT_F32, 2, SHAPE(2, 3))},
        {.array = wrap(n, KJIT_I64, 1, SHAPE(4))},
        {.name = "none", .array = create(KJIT_F64, 2, SHAPE(0, 7), 'C')}};
    if (kjit_arrays_save(ctx, path_of("a.npz"), three, 3, NULL) == KJIT_IO && lacks_libzip())
        SKIP(kjit_last_error(ctx));
    const kjit_load_options named = {.name = "t"}, second = {.name = "arr_1"},
                            empty = {.name = "none"};
    OK(kjit_array_load_with(ctx, path_of("a.npz"), &named, &a));
    assert_memory_equal(kjit_array_shape(a), SHAPE(2, 3), 2 * sizeof(int64_t));
    assert_memory_equal(kjit_array_data(a), t, sizeof t);
    kjit_array_free(a);
    OK(kjit_array_load_with(ctx, path_of("a.npz"), &second, &a));
    assert_memory_equal(kjit_array_data(a), n, sizeof n);
    kjit_array_free(a);
    OK(kjit_array_load_with(ctx, path_of("a.npz"), &empty, &a));
    assert_memory_equal(kjit_array_shape(a), SHAPE(0, 7), 2 * sizeof(int64_t));
    kjit_array_free(a);
    a = load_as(path_of("a.npz"), KJIT_F64, "t");
    assert_true(((double *)kjit_array_data(a))[5] == 3);
    kjit_array_free(a);
    FAILS(kjit_array_load(ctx, path_of("a.npz"), &a), KJIT_INVALID,
          "3 arrays, and no name says which: t, arr_1, none");
    FAILS(kjit_array_load_with(ctx, path_of("a.npz"), &(kjit_load_options){.name = "u"}, &a),
          KJIT_NOT_FOUND, "no array 'u': it has t, arr_1, none");
    const kjit_named_array same[] = {three[0], three[0]};
    FAILS(kjit_arrays_save(ctx, path_of("b.npz"), same, 2, NULL), KJIT_FORMAT,
          "two of its arrays are called 't'");
    FAILS(kjit_array_load(ctx, path_of("b.npz"), &a), KJIT_IO, "No such file");
    for (int i = 0; i < 3; i++)
        kjit_array_free(three[i].array);
}

/* What a table takes while it is read counts as arrays do: few bytes of a gzip file may be many, and cells of a row take more
 * than their text. */
static void test_limit(void **state)
{
    (void)state;
    enum { LONG = 1 << 20, WIDE = 100000, BOTH = 250000 };
    kjit_limits limits = {.version = KJIT_LIMITS_VERSION, .array_bytes = 1500000};
    kjit_context *all = ctx;
    char error[256];
    kjit_array *a = create(KJIT_U8, 1, SHAPE(LONG), 'C'),
               *wide = create(KJIT_U8, 2, SHAPE(1, WIDE), 'C'),
               *few = create(KJIT_F32, 2, SHAPE(10, 5), 'C'),
               *both = create(KJIT_U8, 1, SHAPE(BOTH), 'C');
    OK(kjit_array_save(a, path_of("long.csv.gz")));
    OK(kjit_array_save(wide, path_of("wide.csv")));
    OK(kjit_array_save(few, path_of("few.csv.gz")));
    OK(kjit_array_save(both, path_of("both.csv.gz")));
    kjit_array_free(a);
    kjit_array_free(wide);
    kjit_array_free(few);
    kjit_array_free(both);
    OK(kjit_context_create(&(kjit_context_options){.limits = &limits}, &ctx, error, sizeof error));
    kjit_load_options bytes = {.as_dtype = 1, .dtype = KJIT_U8},
                      floats = {.as_dtype = 1, .dtype = KJIT_F32};
    for (int turn = 0; turn < 20; turn++) { /* and nothing of it stays counted */
        FAILS(kjit_array_load_with(ctx, path_of("long.csv.gz"), &bytes, &a), KJIT_LIMIT,
              "array_bytes, 1500000, is exceeded");
        FAILS(kjit_array_load_with(ctx, path_of("wide.csv"), &bytes, &a), KJIT_LIMIT,
              "array_bytes, 1500000, is exceeded");
        FAILS(kjit_array_load_with(ctx, path_of("both.csv.gz"), &floats, &a), KJIT_LIMIT,
              "array_bytes, 1500000, is exceeded"); /* the text and the array together */
        OK(kjit_array_load(ctx, path_of("few.csv.gz"), &a));
        assert_int_equal(kjit_array_size(a), 50);
        kjit_array_free(a);
    }
    OK(kjit_array_create(ctx, KJIT_U8, 1, SHAPE(1400000), 'C', KJIT_HOST, &a));
    kjit_array_free(a);
    kjit_context_destroy(ctx);
    ctx = all;
    OK(kjit_array_load_with(ctx, path_of("long.csv.gz"), &bytes, &a));
    assert_int_equal(kjit_array_size(a), LONG);
    kjit_array_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),       cmocka_unit_test(test_errors),
        cmocka_unit_test(test_types),         cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_portable_maps), cmocka_unit_test(test_jpeg),
        cmocka_unit_test(test_archive),       cmocka_unit_test(test_limit),
    };
    int failed = cmocka_run_group_tests(tests, make_context, drop_context);
    drop_folder();
    return failed;
}
