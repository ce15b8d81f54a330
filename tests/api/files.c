/* Files: .npy round trips and hostile bytes, .png of every kind, writes that appear whole or not at
 * all. */
#include "api.h"

#include <sys/stat.h>

/* ---- .npy ---- */

static const kjit_dtype all[] = {KJIT_BOOL, KJIT_I8,  KJIT_I16, KJIT_I32, KJIT_I64, KJIT_U8,
                                 KJIT_U16,  KJIT_U32, KJIT_U64, KJIT_F32, KJIT_F64};

static void fill(kjit_array *a)
{
    size_t size = (size_t)kjit_array_size(a) * kjit_dtype_size(kjit_array_dtype(a));
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)kjit_array_data(a))[i] =
            kjit_array_dtype(a) == KJIT_BOOL ? i % 2 : (unsigned char)(i * 37 + 11);
}

static void test_round_trip(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{4, 3, 5}, {1, 1, 1}, {0, 3, 2}};
    for (size_t t = 0; t < sizeof all / sizeof *all; t++) {
        for (int test = 0; test < 2 * 3 * 4; test++) {
            int ndim = test % 4;
            const int64_t *shape = shapes[test / 8];
            kjit_array *a = create(all[t], ndim, shape, test / 4 % 2 ? 'F' : 'C'), *b;
            fill(a);
            const char *path = path_of("x.npy");
            OK(kjit_array_save(a, path));
            OK(kjit_array_load(ctx, path, &b));
            assert_int_equal(kjit_array_dtype(b), all[t]);
            assert_int_equal(kjit_array_ndim(b), ndim);
            assert_memory_equal(kjit_array_shape(b), kjit_array_shape(a),
                                (size_t)ndim * sizeof(int64_t));
            if (kjit_array_size(a) > 1)
                assert_memory_equal(kjit_array_strides(b), kjit_array_strides(a),
                                    (size_t)ndim * sizeof(int64_t));
            assert_memory_equal(kjit_array_data(b), kjit_array_data(a),
                                (size_t)kjit_array_size(a) * kjit_dtype_size(all[t]));
            kjit_array_free(a);
            kjit_array_free(b);
        }
    }
}

/* The bytes numpy.save gives for arange(6, dtype='<i2').reshape(2, 3) and its transpose. */
static void test_bytes(void **state)
{
    (void)state;
    int16_t data[6] = {0, 1, 2, 3, 4, 5};
    char expected[128 + 12], got[sizeof expected + 1];
    kjit_array *a = wrap(data, KJIT_I16, 2, SHAPE(2, 3)), *t;
    OK(kjit_array_wrap(ctx, data, KJIT_I16, 2, SHAPE(3, 2), SHAPE(2, 6), KJIT_HOST, &t));
    for (int f = 0; f < 2; f++) {
        memset(expected, ' ', sizeof expected);
        memcpy(expected, "\x93NUMPY\x01\x00\x76\x00", 10);
        const char *dict = f ? "{'descr': '<i2', 'fortran_order': True, 'shape': (3, 2), }"
                             : "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }";
        memcpy(expected + 10, dict, strlen(dict));
        expected[127] = '\n';
        memcpy(expected + 128, data, 12);
        OK(kjit_array_save(f ? t : a, path_of("bytes.npy")));
        FILE *file = fopen(path_of("bytes.npy"), "rb");
        assert_int_equal(fread(got, 1, sizeof got, file), sizeof expected);
        fclose(file);
        assert_memory_equal(got, expected, sizeof expected);
    }
    kjit_array_free(a);
    kjit_array_free(t);
}

/* Views are packed. */
static void test_view(void **state)
{
    (void)state;
    int32_t *data = malloc(1000 * 1000 * sizeof *data);
    for (int i = 0; i < 1000 * 1000; i++)
        data[i] = i;
    kjit_array *a = wrap(data, KJIT_I32, 2, SHAPE(1000, 1000)), *v, *b;
    OK(kjit_array_slice(a, SHAPE(999, 1), SHAPE(-1, 1000), SHAPE(-1, 2), &v));
    OK(kjit_array_save(v, path_of("view.npy")));
    OK(kjit_array_load(ctx, path_of("view.npy"), &b));
    assert_memory_equal(kjit_array_shape(b), SHAPE(1000, 500), 16);
    const int32_t *got = kjit_array_data(b);
    for (int i = 0; i < 1000; i++) {
        for (int j = 0; j < 500; j++)
            assert_int_equal(got[i * 500 + j], data[(999 - i) * 1000 + 1 + 2 * j]);
    }
    kjit_array_free(a);
    kjit_array_free(v);
    kjit_array_free(b);
    free(data);
}

/* A file from a header's text, its version and its elements. */
static const char *npy(int version, const char *header, const void *data, size_t size)
{
    static char bytes[4096];
    size_t length = strlen(header), at = version == 1 ? 10 : 12;
    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (char)version;
    bytes[7] = 0;
    memset(bytes + 8, 0, 4);
    bytes[8] = (char)(length & 255);
    bytes[9] = (char)(length >> 8);
    memcpy(bytes + at, header, length);
    if (size > 0)
        memcpy(bytes + at + length, data, size);
    write_file(path_of("made.npy"), bytes, at + length + size);
    return path_of("made.npy");
}

static void test_foreign(void **state)
{
    (void)state;
    static const struct {
        int version;
        const char *header;
    } good[] = {
        {1, "{'descr': '>i4', 'fortran_order': False, 'shape': (3,), }\n"},
        {2, "{\"shape\":(3L,),\"fortran_order\":False,\"descr\":\">i4\"}"},
        {3, " { 'fortran_order' : True , 'shape' : ( 1, 3 ) , 'descr' : '>i4' , } \n"},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        kjit_array *a;
        OK(kjit_array_load(
            ctx, npy(good[i].version, good[i].header, "\0\0\1\2\xff\xff\xff\xff\0\0\0\7", 12), &a));
        assert_memory_equal(kjit_array_data(a), ((int32_t[]){258, -1, 7}), 12);
        kjit_array_free(a);
    }
    kjit_array *a;
    OK(kjit_array_load(
        ctx, npy(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", "\0\2\xff", 3), &a));
    assert_memory_equal(kjit_array_data(a), "\0\1\1", 3);
    kjit_array_free(a);
}

static void test_hostile_headers(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        kjit_status status;
        const char *text;
    } bad[] = {
        {"", KJIT_FORMAT, "no dict"},
        {"{}", KJIT_FORMAT, "lacks"},
        {"{'descr': '<f4', 'fortran_order': False}", KJIT_FORMAT, "lacks"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", KJIT_FORMAT, "unknown"},
        {"{'descr': '<f4', 'descr': '<f4', 'shape': (2,)}", KJIT_FORMAT, "repeated"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", KJIT_TYPE, "'|O'"},
        {"{'descr': '<c32', 'fortran_order': False, 'shape': (2,)}", KJIT_TYPE, "'<c32'"},
        {"{'descr': '', 'fortran_order': False, 'shape': (2,)}", KJIT_TYPE, "''"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", KJIT_TYPE, "records"},
        {"{'descr': '<f4', 'fortran_order': 1, 'shape': (2,)}", KJIT_FORMAT, "fortran_order"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", KJIT_FORMAT, "sizes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,,)}", KJIT_FORMAT, "sizes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': [2]}", KJIT_FORMAT, "tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2", KJIT_FORMAT, "closed"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", KJIT_FORMAT, "closed"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", KJIT_FORMAT,
         "sizes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", KJIT_FORMAT,
         "no file"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}", KJIT_FORMAT,
         "truncated"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", KJIT_FORMAT, "truncated"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1)}", KJIT_SHAPE,
         "6 dimensions"},
        {"{'descr': '<f4\\x00', 'fortran_order': False, 'shape': (1,)}", KJIT_FORMAT, "string"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        for (int version = 1; version <= 3; version++) {
            kjit_array *a;
            FAILS(kjit_array_load(ctx, npy(version, bad[i].header, "12345678", 8), &a),
                  bad[i].status, bad[i].text);
            assert_null(a);
        }
    }
}

/* Every prefix of a good file, and every byte of its head set to something else: a message or an
 * array. */
static void test_hostile_bytes(void **state)
{
    (void)state;
    char bytes[256], changed[256];
    double data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    kjit_array *a = wrap(data, KJIT_F64, 2, SHAPE(2, 4)), *b;
    OK(kjit_array_save(a, path_of("good.npy")));
    kjit_array_free(a);
    FILE *file = fopen(path_of("good.npy"), "rb");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t n = 0; n < size; n++) {
        write_file(path_of("cut.npy"), bytes, n);
        FAILS(kjit_array_load(ctx, path_of("cut.npy"), &b), KJIT_FORMAT, "cut.npy");
    }
    static const unsigned char others[] = {0,   1,   '\'', '(', ')',  ',',
                                           '9', '-', '{',  '}', 0x7f, 0xff};
    for (size_t n = 0; n < 128; n++) {
        for (size_t k = 0; k < sizeof others; k++) {
            memcpy(changed, bytes, size);
            changed[n] = (char)others[k];
            write_file(path_of("changed.npy"), changed, size);
            if (kjit_array_load(ctx, path_of("changed.npy"), &b) == KJIT_OK)
                kjit_array_free(b);
        }
    }
}

static void test_read_errors(void **state)
{
    (void)state;
    kjit_array *a;
    FAILS(kjit_array_load(ctx, path_of("none.npy"), &a), KJIT_IO, "No such file");
    FAILS(kjit_array_load(ctx, path_of("none.png"), &a), KJIT_IO, "No such file");
    FAILS(kjit_array_load(ctx, folder, &a), KJIT_IO, "directory");
    FAILS(kjit_array_load(ctx, NULL, &a), KJIT_INVALID, "NULL");
    write_file(path_of("text.npy"), "hello, this is no array\n", 24);
    FAILS(kjit_array_load(ctx, path_of("text.npy"), &a), KJIT_FORMAT, "begin");
    FAILS(kjit_array_load(ctx, path_of("text.npy"), &a), KJIT_FORMAT, "text.npy");
}

/* ---- Writing ---- */

static int count_files(void)
{
    char command[128];
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", folder);
    FILE *pipe = popen(command, "r");
    int n = -1;
    assert_int_equal(fscanf(pipe, "%d", &n), 1);
    pclose(pipe);
    return n;
}

static void test_write_errors(void **state)
{
    (void)state;
    float data[4] = {1, 2, 3, 4};
    char target[160], link[160];
    struct stat st;
    kjit_array *a = wrap(data, KJIT_F32, 1, SHAPE(4)), *b;
    int before = (path_of(""), count_files());
    FAILS(kjit_array_save(a, path_of("no/such/x.npy")), KJIT_IO, "No such file");
    FAILS(kjit_array_save(a, path_of("x.doc")), KJIT_INVALID, ".npy, .npz, .csv");
    FAILS(kjit_array_save(a, "/dev/full.npy/x.npy"), KJIT_IO, "cannot write");
    assert_int_equal(mkdir(path_of("dir.npy"), 0700), 0);
    FAILS(kjit_array_save(a, path_of("dir.npy")), KJIT_IO, "not a regular file");
    assert_int_equal(mkfifo(path_of("fifo.npy"), 0700), 0);
    FAILS(kjit_array_save(a, path_of("fifo.npy")), KJIT_IO, "not a regular file");
    snprintf(link, sizeof link, "%s", path_of("broken.npy"));
    assert_int_equal(symlink(path_of("nothing"), link), 0);
    FAILS(kjit_array_save(a, link), KJIT_IO, "link to nothing");
    assert_int_equal(count_files(), before + 3);
    /* through a link, keeping the mode of what was there */
    snprintf(target, sizeof target, "%s", path_of("target.npy"));
    write_file(target, "old", 3);
    assert_int_equal(chmod(target, 0604), 0);
    snprintf(link, sizeof link, "%s", path_of("link.npy"));
    assert_int_equal(symlink("target.npy", link), 0);
    OK(kjit_array_save(a, link));
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(target, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0604);
    OK(kjit_array_load(ctx, target, &b));
    kjit_array_free(b);
    assert_int_equal(count_files(), before + 5);
    kjit_array_free(a);
}

/* ---- .png ---- */

static void test_png_round_trip(void **state)
{
    (void)state;
    for (int ndim = 2; ndim <= 3; ndim++) {
        kjit_array *a = create(KJIT_U8, ndim, SHAPE(13, 7, 3), 'C'), *f, *b;
        fill(a);
        OK(kjit_array_save(a, path_of("x.png")));
        OK(kjit_array_load(ctx, path_of("x.png"), &b));
        assert_int_equal(kjit_array_ndim(b), ndim);
        assert_int_equal(kjit_array_dtype(b), KJIT_U8);
        assert_memory_equal(kjit_array_shape(b), SHAPE(13, 7, 3), (size_t)ndim * 8);
        assert_memory_equal(kjit_array_data(b), kjit_array_data(a), (size_t)kjit_array_size(a));
        kjit_array_free(b);
        f = create(KJIT_U8, ndim, SHAPE(13, 7, 3), 'F');
        OK(kjit_copy(f, a, NULL));
        OK(kjit_array_save(f, path_of("x.PNG")));
        OK(kjit_array_load(ctx, path_of("x.PNG"), &b));
        assert_memory_equal(kjit_array_data(b), kjit_array_data(a), (size_t)kjit_array_size(a));
        kjit_array_free(a);
        kjit_array_free(b);
        kjit_array_free(f);
    }
}

/* Beyond what libpng takes by itself; and one that says so without having it. */
static void test_png_wide(void **state)
{
    enum { WIDE = 1200000, AT_WIDTH = 16, CRC = 29, UP_TO_CRC = 33 };
    static const unsigned char widest[] = {0x7f, 0xff, 0xff, 0xff};
    (void)state;
    for (int across = 0; across < 2; across++) {
        const int64_t *shape = across ? SHAPE(1, WIDE) : SHAPE(WIDE, 1);
        kjit_array *a = create(KJIT_U8, 2, shape, 'C'), *b;
        fill(a);
        OK(kjit_array_save(a, path_of("wide.png")));
        OK(kjit_array_load(ctx, path_of("wide.png"), &b));
        assert_memory_equal(kjit_array_data(b), kjit_array_data(a), WIDE);
        kjit_array_free(a);
        kjit_array_free(b);
    }
    FILE *f = fopen(path_of("wide.png"), "r+b");
    unsigned char begin[UP_TO_CRC];
    kjit_array *none;
    assert_int_equal(fread(begin, 1, sizeof begin, f), sizeof begin);
    memcpy(begin + AT_WIDTH, widest, sizeof widest);
    uint32_t crc = UINT32_MAX;
    for (int i = 12; i < CRC; i++) {
        crc ^= begin[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    for (int i = 0; i < 4; i++)
        begin[CRC + i] = (unsigned char)(~crc >> (24 - 8 * i));
    rewind(f);
    assert_int_equal(fwrite(begin, 1, sizeof begin, f), sizeof begin);
    fclose(f);
    FAILS(kjit_array_load(ctx, path_of("wide.png"), &none), KJIT_FORMAT, "too short");
    assert_null(none);
}

static void test_png_shades(void **state)
{
    (void)state;
    float real[6] = {-1, 0, 1, 3, (float)(0.0 / 1e-300), 1.0f / 0.0f};
    double wide[4] = {-1.7e308, 1.7e308, 0, 1};
    uint8_t truth[2] = {0, 1};
    real[4] = real[5] - real[5]; /* NaN */
    const struct {
        kjit_array *a;
        double low, high;
        size_t n;
        unsigned char expected[6];
    } cases[] = {
        {wrap(real, KJIT_F32, 2, SHAPE(2, 3)), -1, 3, 6, {0, 64, 128, 255, 0, 255}},
        {wrap(real, KJIT_F32, 2, SHAPE(2, 3)), 3, -1, 6, {255, 191, 128, 0, 0, 0}},
        {wrap(real, KJIT_F32, 3, SHAPE(1, 2, 3)), 0, 0, 6, {0, 0, 255, 255, 0, 255}},
        {wrap(wide, KJIT_F64, 2, SHAPE(2, 2)), -1.7e308, 1.7e308, 4, {0, 255, 128, 128}},
        {wrap(truth, KJIT_BOOL, 2, SHAPE(1, 2)), 0, 9, 2, {0, 255}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kjit_array *b;
        const kjit_save_options how = {.low = cases[i].low, .high = cases[i].high};
        OK(kjit_arrays_save(ctx, path_of("shade.png"), &(kjit_named_array){.array = cases[i].a}, 1,
                            &how));
        OK(kjit_array_load(ctx, path_of("shade.png"), &b));
        assert_memory_equal(kjit_array_data(b), cases[i].expected, cases[i].n);
        kjit_array_free(b);
        kjit_array_free(cases[i].a);
    }
}

static void test_png_refused(void **state)
{
    (void)state;
    kjit_array *a = create(KJIT_I32, 2, SHAPE(2, 2), 'C');
    FAILS(kjit_array_save(a, path_of("no.png")), KJIT_TYPE, "a picture is [h, w], [h, w, 2]");
    kjit_array_free(a);
    a = create(KJIT_U8, 3, SHAPE(2, 2, 5), 'C');
    FAILS(kjit_array_save(a, path_of("no.png")), KJIT_TYPE, "(2, 2, 5)");
    kjit_array_free(a);
    a = create(KJIT_U8, 2, SHAPE(2, 0), 'C');
    FAILS(kjit_array_save(a, path_of("no.png")), KJIT_SHAPE, "(2, 0)");
    kjit_array_free(a);
    assert_int_not_equal(access(path_of("no.png"), F_OK), 0);
}

/* A file from hexadecimal digits. */
static const char *hex_file(const char *name, const char *digits)
{
    unsigned char bytes[256];
    size_t size = strlen(digits) / 2;
    assert_true(size <= sizeof bytes);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(sscanf(digits + 2 * i, "%2hhx", &bytes[i]), 1);
    write_file(path_of(name), bytes, size);
    return path_of(name);
}

/* Pictures of 2 by 2 of the kinds that there are. */
static void test_png_kinds(void **state)
{
    (void)state;
    static const struct {
        int ndim;
        unsigned char expected[16];
        const char *file;
    } kinds[] = {
        {/* 1-bit grey */ 2,
         {0, 255, 255, 0},
         "89504e470d0a1a0a0000000d49484452000000020000000201000000005acd30890000000c49444154789c637"
         "0606800"
         "00014400c13a7a1c560000000049454e44ae426082"},
        {/* 16-bit grey */ 2,
         {0x34, 0x12, 0x78, 0x56, 0xff, 0xff, 0, 0},
         "89504e470d0a1a0a0000000d4948445200000002000000021000000000074d8ebb0000001249444154789c631"
         "03209ab"
         "60f8ff9f8101000e6f0313beadcff30000000049454e44ae426082"},
        {/* grey and alpha */ 3,
         {97, 98, 99, 100, 101, 102, 103, 104},
         "89504e470d0a1a0a0000000d4948445200000002000000020804000000d8bfc5af0000001249444154789c634"
         "84c4a4e"
         "61484d4bcf00000f8c0325a64f0d9e0000000049454e44ae426082"},
        {/* RGBA, interlaced */ 3,
         {97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112},
         "89504e470d0a1a0a0000000d494844520000000200000002080600000105b13db20000001b49444154789c634"
         "84c4a4e"
         "61484d4bcf60c8cccacec9cdcb2f00003af10689377f01b70000000049454e44ae426082"},
        {/* palette */ 3,
         {10, 20, 30, 40, 50, 60, 40, 50, 60, 10, 20, 30},
         "89504e470d0a1a0a0000000d494844520000000200000002010300000048789f6700000006504c54450a141e2"
         "8323cd5"
         "1bb4e90000000c49444154789c637060680000014400c13a7a1c560000000049454e44ae426082"},
        {/* palette with a colour that is transparent */ 3,
         {10, 20, 30, 255, 40, 50, 60, 0, 40, 50, 60, 0, 10, 20, 30, 255},
         "89504e470d0a1a0a0000000d494844520000000200000002010300000048789f6700000006504c54450a141e2"
         "8323cd5"
         "1bb4e90000000274524e53ff00e5b7304a0000000c49444154789c637060680000014400c13a7a1c560000000"
         "049454e44ae426082"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        kjit_array *a;
        OK(kjit_array_load(ctx, hex_file("kind.png", kinds[i].file), &a));
        assert_int_equal(kjit_array_ndim(a), kinds[i].ndim);
        assert_memory_equal(kjit_array_data(a), kinds[i].expected,
                            (size_t)kjit_array_size(a) * kjit_dtype_size(kjit_array_dtype(a)));
        kjit_array_free(a);
    }
}

static void test_png_hostile(void **state)
{
    (void)state;
    char bytes[512], changed[512];
    kjit_array *a = create(KJIT_U8, 3, SHAPE(5, 5, 3), 'C'), *b;
    fill(a);
    OK(kjit_array_save(a, path_of("good.png")));
    kjit_array_free(a);
    FILE *file = fopen(path_of("good.png"), "rb");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t n = 0; n < size; n++) {
        write_file(path_of("cut.png"), bytes, n);
        if (kjit_array_load(ctx, path_of("cut.png"), &b) == KJIT_OK)
            fail_msg("%zu of %zu bytes made a picture", n, size);
        memcpy(changed, bytes, size);
        changed[n] = (char)~changed[n];
        write_file(path_of("changed.png"), changed, size);
        if (kjit_array_load(ctx, path_of("changed.png"), &b) == KJIT_OK)
            kjit_array_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_view),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_hostile_headers),
        cmocka_unit_test(test_hostile_bytes),
        cmocka_unit_test(test_read_errors),
        cmocka_unit_test(test_write_errors),
        cmocka_unit_test(test_png_round_trip),
        cmocka_unit_test(test_png_wide),
        cmocka_unit_test(test_png_shades),
        cmocka_unit_test(test_png_refused),
        cmocka_unit_test(test_png_kinds),
        cmocka_unit_test(test_png_hostile),
    };
    int failed = cmocka_run_group_tests(tests, make_context, drop_context);
    drop_folder();
    return failed;
}
