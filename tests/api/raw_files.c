/* Raw bytes and sound by the library: every type and order of bytes, headers of every kind, wrong ones, and bytes that were changed. */
#include "api.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

static int memory; /* in memory: thousands of files would keep the disk busy */

static const char *memory_file(const char *name, const void *bytes, size_t size)
{
    char target[64];
    if (memory == 0)
        assert_true((memory = memfd_create("raw_files", 0)) > 0);
    assert_int_equal(ftruncate(memory, 0), 0);
    assert_int_equal(pwrite(memory, bytes, size, 0), size);
    snprintf(target, sizeof target, "/proc/self/fd/%d", memory);
    unlink(path_of(name));
    assert_int_equal(symlink(target, path_of(name)), 0);
    return path_of(name);
}

static size_t bytes_of(const char *path, void *out, size_t room)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(out, 1, room, f);
    fclose(f);
    return n;
}

/* ---- Raw bytes ---- */

static void test_types(void **state)
{
    (void)state;
    static const struct {
        kjit_dtype dtype;
        size_t part; /* bytes that are swapped together */
    } types[] = {{KJIT_BOOL, 1}, {KJIT_U8, 1},  {KJIT_U16, 2}, {KJIT_U32, 4}, {KJIT_U64, 8},
                 {KJIT_I8, 1},   {KJIT_I16, 2}, {KJIT_I32, 4}, {KJIT_I64, 8}, {KJIT_F16, 2},
                 {KJIT_F32, 4},  {KJIT_F64, 8}, {KJIT_C64, 4}, {KJIT_C128, 8}};
    unsigned char data[6 * 16], turned[6 * 16], got[6 * 16 + 1];
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        size_t elem = kjit_dtype_size(types[t].dtype), size = 6 * elem, part = types[t].part;
        for (size_t i = 0; i < size; i++)
            data[i] = types[t].dtype == KJIT_BOOL ? i % 2 : (unsigned char)(i * 7 + 1);
        for (size_t i = 0; i < size; i++)
            turned[i] = data[i / part * part + part - 1 - i % part];
        kjit_array *a = wrap(data, types[t].dtype, 2, SHAPE(2, 3)), *b, *c;
        OK(kjit_array_save(a, path_of("t.raw")));
        assert_int_equal(bytes_of(path_of("t.raw"), got, sizeof got), size);
        assert_memory_equal(got, data, size);
        kjit_load_options how = {
            .as_dtype = 1, .dtype = types[t].dtype, .shape = SHAPE(-1, 3), .ndim = 2};
        OK(kjit_array_load_with(ctx, path_of("t.raw"), &how, &b));
        assert_memory_equal(kjit_array_data(b), data, size);
        assert_memory_equal(kjit_array_shape(b), SHAPE(2, 3), 2 * sizeof(int64_t));
        how.big_endian = 1;
        how.format = "raw";
        OK(kjit_array_load_with(ctx, memory_file("t.any", turned, size), &how, &c));
        assert_memory_equal(kjit_array_data(c), data, size);
        kjit_array_free(a);
        kjit_array_free(b);
        kjit_array_free(c);
    }
}

/* What lies in another order is written in C order; what is no bool becomes one. */
static void test_views(void **state)
{
    (void)state;
    int16_t data[6] = {1, 2, 3, 4, 5, 6}, got[7], turned[6] = {1, 4, 2, 5, 3, 6};
    kjit_array *a = wrap(data, KJIT_I16, 2, SHAPE(2, 3)), *t, *b;
    OK(kjit_array_transpose(a, NULL, &t));
    OK(kjit_array_save(t, path_of("v.bin")));
    assert_int_equal(bytes_of(path_of("v.bin"), got, sizeof got), sizeof turned);
    assert_memory_equal(got, turned, sizeof turned);
    kjit_load_options how = {.as_dtype = 1, .dtype = KJIT_BOOL, .offset = 2};
    OK(kjit_array_load_with(ctx, memory_file("b.dat", "\0\0\2\0\xff", 5), &how, &b));
    assert_int_equal(kjit_array_size(b), 3);
    assert_memory_equal(kjit_array_data(b), "\1\0\1", 3);
    kjit_array_free(a);
    kjit_array_free(t);
    kjit_array_free(b);
}

static void test_raw_errors(void **state)
{
    (void)state;
    const struct {
        kjit_load_options how;
        kjit_status status;
        const char *text;
    } bad[] = {
        {{.as_dtype = 0}, KJIT_TYPE, "do not say of what type"},
        {{.as_dtype = 1, .dtype = KJIT_F32},
         KJIT_FORMAT,
         "10 bytes, which is no multiple of the 4"},
        {{.as_dtype = 1, .dtype = KJIT_F32, .offset = 3},
         KJIT_FORMAT,
         "7 bytes behind the first 3"},
        {{.as_dtype = 1, .dtype = KJIT_U8, .offset = 11}, KJIT_FORMAT, "the offset is 11"},
        {{.as_dtype = 1, .dtype = KJIT_U8, .offset = INT64_MAX}, KJIT_FORMAT, "the offset is 92"},
        {{.as_dtype = 1, .dtype = KJIT_U8, .offset = -1}, KJIT_INVALID, "-1 is no offset"},
        {{.as_dtype = 1, .dtype = KJIT_U8, .shape = SHAPE(2, 6), .ndim = 2},
         KJIT_FORMAT,
         "10 bytes, not the 12 that u8 of shape (2, 6) takes"},
        {{.as_dtype = 1, .dtype = KJIT_F64, .shape = SHAPE(1 << 30, 1 << 30, 8), .ndim = 3},
         KJIT_SHAPE,
         "more than a file can hold"},
        {{.as_dtype = 1, .dtype = KJIT_U8, .shape = SHAPE(-1, -1), .ndim = 2},
         KJIT_SHAPE,
         "only one extent may be -1"},
        {{.as_dtype = 1, .dtype = KJIT_U8, .shape = SHAPE(-2), .ndim = 1}, KJIT_SHAPE, "-2 is no"},
        {{.as_dtype = 1, .dtype = KJIT_U8, .shape = SHAPE(0, -1), .ndim = 2},
         KJIT_SHAPE,
         "beside an extent of 0"},
        {{.as_dtype = 1, .dtype = KJIT_U8, .shape = SHAPE(1), .ndim = KJIT_MAX_NDIM + 1},
         KJIT_SHAPE,
         "dimensions"},
        {{.as_dtype = 1, .dtype = KJIT_U8, .shape = SHAPE(1), .ndim = -1}, KJIT_SHAPE, "not -1"},
        {{.name = "x"}, KJIT_INVALID, "without name="},
        {{.format = "doc"}, KJIT_INVALID, "there is no format 'doc'"},
        {{.format = "a name that is longer than any"}, KJIT_INVALID, "there is no format"},
        {{.format = "npy", .offset = 1}, KJIT_INVALID, "without shape=, offset= and order="},
    };
    kjit_array *a;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        FAILS(kjit_array_load_with(ctx, memory_file("e.raw", "0123456789", 10), &bad[i].how, &a),
              bad[i].status, bad[i].text);
    /* without axes, and none of it; what is behind the shape is left */
    kjit_load_options how = {.as_dtype = 1, .dtype = KJIT_U8, .shape = SHAPE(0), .ndim = 0};
    OK(kjit_array_load_with(ctx, path_of("e.raw"), &how, &a));
    assert_int_equal(kjit_array_ndim(a), 0);
    assert_int_equal(*(char *)kjit_array_data(a), '0');
    kjit_array_free(a);
    how = (kjit_load_options){.as_dtype = 1, .dtype = KJIT_F64, .offset = 10};
    OK(kjit_array_load_with(ctx, path_of("e.raw"), &how, &a));
    assert_int_equal(kjit_array_size(a), 0);
    kjit_array_free(a);
    how.offset = 0;
    how.format = "raw";
    FAILS(kjit_array_load_with(ctx, folder, &how, &a), KJIT_IO, "directory");
    OK(kjit_array_load_with(ctx, "/dev/null", &how, &a)); /* no regular file: all that comes */
    assert_int_equal(kjit_array_size(a), 0);
    kjit_array_free(a);
}

/* A fifo is opened once: what its writer gave is not lost, and no second writer is waited for. What never ends gives
 * what the shape takes; a file of /proc says it has no bytes. */
static void test_raw_streams(void **state)
{
    (void)state;
    enum { N = 100000 };
    static float data[N];
    for (int i = 0; i < N; i++)
        data[i] = (float)i;
    const char *path = path_of("fifo");
    kjit_array *a;
    kjit_load_options how = {.as_dtype = 1, .dtype = KJIT_F32, .format = "raw", .offset = 4};
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(60);
    pid_t writer = fork();
    if (writer == 0) {
        int fd = open(path, O_WRONLY);
        _exit(write(fd, data, sizeof data) == sizeof data ? 0 : 1);
    }
    int end;
    OK(kjit_array_load_with(ctx, path, &how, &a));
    assert_int_equal(waitpid(writer, &end, 0), writer);
    assert_int_equal(end, 0);
    assert_int_equal(kjit_array_size(a), N - 1);
    assert_memory_equal(kjit_array_data(a), data + 1, sizeof data - 4);
    kjit_array_free(a);
    how.shape = SHAPE(16);
    how.ndim = 1;
    OK(kjit_array_load_with(ctx, "/dev/zero", &how, &a));
    assert_int_equal(kjit_array_size(a), 16);
    assert_true(((float *)kjit_array_data(a))[15] == 0);
    kjit_array_free(a);
    alarm(0);
    FAILS(kjit_array_load_with(ctx, "/dev/null", &how, &a), KJIT_FORMAT, "the offset is 4");
    how.offset = 0;
    FAILS(kjit_array_load_with(ctx, "/dev/null", &how, &a), KJIT_FORMAT, "0 bytes, not the 64");
    how = (kjit_load_options){.as_dtype = 1, .dtype = KJIT_U8, .format = "raw"};
    OK(kjit_array_load_with(ctx, "/proc/self/stat", &how, &a));
    assert_true(kjit_array_size(a) > 0);
    kjit_array_free(a);
}

/* ---- Sound ---- */

/* A file as it is wanted: the samples' bytes, what the header says of them, and chunks before. */
typedef struct form {
    unsigned tag, channels, bits;
    const char *data;
    uint32_t size;
    bool extended, junk;
    uint32_t says; /* of the size, or 0 */
    unsigned frame, rate;
} form;

static char *put(char *at, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *at++ = (char)(v >> 8 * i & 0xff);
    return at;
}

static size_t make(const form *f, char *out)
{
    static const char sub[] = "\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71";
    char *at = out;
    memcpy(at, "RIFF\0\0\0\0WAVE", 12);
    at += 12;
    if (f->junk) { /* of an odd length */
        memcpy(at, "LIST\3\0\0\0abc\0", 12);
        at += 12;
    }
    memcpy(at, "fmt ", 4);
    at = put(at + 4, f->extended ? 40 : 16, 4);
    at = put(at, f->extended ? 0xfffe : f->tag, 2);
    at = put(at, f->channels, 2);
    at = put(at, f->rate, 4);
    at = put(at, (uint64_t)f->rate * f->channels * (f->bits / 8), 4);
    at = put(at, f->frame ? f->frame : f->channels * (f->bits / 8), 2);
    at = put(at, f->bits, 2);
    if (f->extended) {
        at = put(at, 22, 2);
        at = put(at, f->bits, 2);
        at = put(at, 3, 4);
        at = put(at, f->tag, 2);
        memcpy(at, sub, 14);
        at += 14;
    }
    memcpy(at, "data", 4);
    at = put(at + 4, f->says ? f->says : f->size, 4);
    memcpy(at, f->data, f->size);
    return (size_t)(at - out) + f->size;
}

static void test_wav_forms(void **state)
{
    (void)state;
    static const struct {
        form form;
        int ndim;
        float first, second;
    } good[] = {
        {{1, 1, 8, "\x00\xc0", 2, .rate = 8000}, 1, -1, 0.5},
        {{1, 2, 16, "\x00\x80\x00\x20", 4, .rate = 44100}, 2, -1, 0.25},
        {{1, 1, 24, "\x00\x00\x80\x00\x00\x40", 6, .rate = 1}, 1, -1, 0.5},
        {{1, 2, 24, "\x00\x00\xc0\x00\x00\x10", 6, true, true, .rate = 96000}, 2, -0.5, 0.125},
        {{1, 1, 32, "\0\0\0\x80\0\0\0\x40", 8, .rate = UINT32_MAX}, 1, -1, 0.5},
        {{3, 1, 32, "\0\0\x80\x3f\0\0\0\xc1", 8, .rate = 5, .junk = true}, 1, 1, -8},
        {{3, 2, 64, "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\x20\xc0", 16, true, .rate = 5}, 2, 1, -8},
        {{1, 1, 8, "\x40\x80", 2, .says = UINT32_MAX, .rate = 7}, 1, -0.5, 0},
    };
    char bytes[256];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        kjit_array *a;
        int64_t rate;
        const char *path = memory_file("g.wav", bytes, make(&good[i].form, bytes));
        OK(kjit_array_load(ctx, path, &a));
        OK(kjit_sample_rate(ctx, path, &rate));
        assert_int_equal(rate, good[i].form.rate);
        assert_int_equal(kjit_array_ndim(a), good[i].ndim);
        assert_int_equal(kjit_array_dtype(a), KJIT_F32);
        assert_int_equal(kjit_array_size(a), 2);
        assert_int_equal(kjit_array_shape(a)[0], good[i].ndim == 1 ? 2 : 1);
        const float *v = kjit_array_data(a);
        assert_true(v[0] == good[i].first && v[1] == good[i].second);
        kjit_array_free(a);
    }
}

static void test_wav_errors(void **state)
{
    (void)state;
    static const struct {
        form form;
        const char *text;
    } bad[] = {
        {{1, 1, 16, "1234", 4, .says = 6, .rate = 1}, "take 6 bytes, it has 4"},
        {{1, 1, 16, "1234", 4, .says = UINT32_MAX - 1, .rate = 1}, "take 4294967294 bytes, it"},
        {{1, 2, 16, "123456", 6, .rate = 1}, "6 bytes, which is no multiple of the 4 of a frame"},
        {{1, 0, 16, "1234", 4, .rate = 1}, "no channels"},
        {{1, 1, 16, "1234", 4, .rate = 0}, "no samples a second"},
        {{1, 1, 16, "1234", 4, .frame = 4, .rate = 1}, "the bytes of a frame"},
        {{1, 65535, 32, "1234", 4, .rate = 1}, "the bytes of a frame"},
        {{1, 1, 12, "1234", 4, .rate = 1}, "integers of 12 bits"},
        {{1, 1, 64, "12345678", 8, .rate = 1}, "integers of 64 bits"},
        {{1, 1, 0, "1234", 4, .rate = 1}, "integers of 0 bits"},
        {{3, 1, 16, "1234", 4, .rate = 1}, "floats of 16 bits"},
        {{2, 1, 4, "1234", 4, .rate = 1}, "compressed (format 2)"},
        {{0x55, 1, 16, "1234", 4, true, .rate = 1}, "compressed (format 85)"},
    };
    char bytes[256];
    kjit_array *a;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        FAILS(kjit_array_load(ctx, memory_file("b.wav", bytes, make(&bad[i].form, bytes)), &a),
              KJIT_FORMAT, bad[i].text);
    }
    static const char *const heads[] = {"", "RIFF", "RIFX....WAVE", "RIFF....AVI fmt ", "wave"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        FAILS(kjit_array_load(ctx, memory_file("b.wav", heads[i], strlen(heads[i])), &a),
              KJIT_FORMAT, "does not begin with RIFF and WAVE");
    FAILS(kjit_array_load(ctx, memory_file("b.wav", "RIFF....WAVEdata\0\0\0\0", 20), &a),
          KJIT_FORMAT, "before their format");
    FAILS(kjit_array_load(ctx, memory_file("b.wav", "RIFF....WAVEfmt \2\0\0\0..", 22), &a),
          KJIT_FORMAT, "its format is too short");
    FAILS(kjit_array_load(ctx, memory_file("b.wav", "RIFF....WAVEfmt \xff\xff\xff\xff..", 22), &a),
          KJIT_FORMAT, "truncated");
}

/* Samples as other types, and as what does not hold them. */
static void test_wav_types(void **state)
{
    (void)state;
    static const form forms[] = {{1, 1, 8, "\x00\xff", 2, .rate = 1},
                                 {1, 1, 16, "\x00\x80\xff\x7f", 4, .rate = 1},
                                 {1, 1, 24, "\x00\x00\x80\xff\xff\x7f", 6, .rate = 1},
                                 {3, 1, 32, "\0\0\0\xc1\0\0\x80\x3f", 8, .rate = 1}};
    static const struct {
        int form;
        kjit_dtype dtype;
        int64_t first, second; /* 0 and 0: refused */
    } cases[] = {{0, KJIT_U8, 0, 255},
                 {0, KJIT_I8, 0, 0},
                 {0, KJIT_I16, 0, 255},
                 {1, KJIT_I16, -32768, 32767},
                 {1, KJIT_I64, -32768, 32767},
                 {1, KJIT_U16, 0, 0},
                 {2, KJIT_I32, -8388608, 8388607},
                 {2, KJIT_I16, 0, 0},
                 {3, KJIT_I32, 0, 0},
                 {3, KJIT_BOOL, 0, 0},
                 {1, KJIT_C64, 0, 0},
                 {1, KJIT_F32X2, 0, 0}};
    char bytes[256];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kjit_load_options how = {.as_dtype = 1, .dtype = cases[i].dtype};
        const char *path = memory_file("t.wav", bytes, make(&forms[cases[i].form], bytes));
        kjit_array *a;
        kjit_status status = kjit_array_load_with(ctx, path, &how, &a);
        assert_int_equal(status, cases[i].second == 0 ? KJIT_TYPE : KJIT_OK);
        if (status != KJIT_OK)
            continue;
        size_t elem = kjit_dtype_size(cases[i].dtype);
        assert_memory_equal(kjit_array_data(a), &cases[i].first, elem);
        assert_memory_equal((char *)kjit_array_data(a) + elem, &cases[i].second, elem);
        kjit_array_free(a);
    }
    kjit_load_options how = {.as_dtype = 1, .dtype = KJIT_F64};
    kjit_array *a;
    OK(kjit_array_load_with(ctx, memory_file("t.wav", bytes, make(&forms[2], bytes)), &how, &a));
    assert_true(((double *)kjit_array_data(a))[1] == 8388607.0 / 8388608);
    kjit_array_free(a);
}

static void test_wav_saved(void **state)
{
    (void)state;
    double data[4] = {1, -0.5, 1e300, 0.1};
    kjit_array *a = wrap(data, KJIT_F64, 2, SHAPE(2, 2)), *b;
    const kjit_named_array one = {.array = a};
    int64_t rate;
    OK(kjit_arrays_save(ctx, path_of("s.wav"), &one, 1, &(kjit_save_options){.sample_rate = 8000}));
    OK(kjit_sample_rate(ctx, path_of("s.wav"), &rate));
    assert_int_equal(rate, 8000);
    OK(kjit_array_load(ctx, path_of("s.wav"), &b));
    const float *v = kjit_array_data(b);
    assert_true(v[0] == 1 && v[1] == -0.5f && v[2] > 3e38f && v[3] == 0.1f);
    kjit_array_free(b);
    FAILS(kjit_arrays_save(ctx, path_of("s.wav"), &one, 1, &(kjit_save_options){.sample_rate = -1}),
          KJIT_INVALID, "a sample_rate is a whole number");
    FAILS(kjit_arrays_save(ctx, path_of("s.wav"), &one, 1,
                           &(kjit_save_options){.sample_rate = UINT32_MAX}),
          KJIT_INVALID, "a sample_rate is at most 536870911");
    FAILS(kjit_arrays_save(ctx, path_of("s.npy"), &one, 1, &(kjit_save_options){.sample_rate = 1}),
          KJIT_INVALID, "is none");
    kjit_array_free(a);
    unsigned char odd[3] = {1, 2, 3}, got[64];
    a = wrap(odd, KJIT_U8, 1, SHAPE(3));
    OK(kjit_array_save(a, path_of("o.wav"))); /* a byte makes it even */
    assert_int_equal(bytes_of(path_of("o.wav"), got, sizeof got), 48);
    kjit_array_free(a);
    static const struct {
        int64_t shape[3];
        int ndim;
        kjit_dtype dtype;
        kjit_status status;
        const char *text;
    } bad[] = {{{2, 2, 2}, 3, KJIT_F32, KJIT_TYPE, "sound is [frames] or [frames, channels]"},
               {{2}, 1, KJIT_U16, KJIT_TYPE, "of u8, i16, i32 or floats"},
               {{2}, 1, KJIT_BOOL, KJIT_TYPE, "cannot save bool"},
               {{2}, 1, KJIT_C64, KJIT_TYPE, "cannot save c64"},
               {{2, 0}, 2, KJIT_F32, KJIT_SHAPE, "1 to 16383 channels"},
               {{1, 16384}, 2, KJIT_F64, KJIT_SHAPE, "1 to 16383 channels"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        a = create(bad[i].dtype, bad[i].ndim, bad[i].shape, 'C');
        FAILS(kjit_array_save(a, path_of("x.wav")), bad[i].status, bad[i].text);
        kjit_array_free(a);
    }
    float all = 0;
    OK(kjit_array_wrap(ctx, &all, KJIT_F32, 1, SHAPE((int64_t)1 << 30), SHAPE(0), KJIT_HOST, &a));
    FAILS(kjit_array_save(a, path_of("x.wav")), KJIT_SHAPE, "at most 4 GB");
    kjit_array_free(a);
    assert_int_equal(access(path_of("x.wav"), F_OK), -1);
}

static uint64_t seed = 88172645463325252;

static uint64_t any(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

/* Every prefix, then bytes of the header that are others. */
static void test_wav_hostile(void **state)
{
    (void)state;
    enum { TIMES = 8000 };
    static const form forms[] = {
        {1, 2, 24, "\x00\x00\xc0\x00\x00\x10", 6, true, true, .rate = 9},
        {3, 1, 64, "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\x20\xc0", 16, .rate = 9}};
    static const char others[] = "\0\1\2\3\x10\x18\x20\x40\x7f\x80\xfe\xff";
    for (int k = 0; k < 2; k++) {
        char bytes[256], changed[256];
        int arrays = 0, messages = 0;
        size_t size = make(&forms[k], bytes);
        for (size_t time = 0; time < TIMES + size; time++) {
            size_t n = time < size ? time : size;
            memcpy(changed, bytes, size);
            for (uint64_t c = 1 + any(4); n == size && c > 0; c--)
                changed[any(size)] = any(2) ? others[any(sizeof others)] : (char)any(256);
            kjit_load_options how = {.as_dtype = any(2) == 0,
                                     .dtype = any(2) ? KJIT_I32 : KJIT_F64};
            kjit_array *a;
            int64_t rate;
            const char *path = memory_file("h.wav", changed, n);
            if (kjit_array_load_with(ctx, path, &how, &a) == KJIT_OK) {
                assert_true(n == size && kjit_array_size(a) <= (int64_t)size);
                arrays++;
                kjit_array_free(a);
            } else {
                assert_null(a);
                assert_true(*kjit_last_error(ctx));
                messages++;
            }
            if (kjit_sample_rate(ctx, path, &rate) == KJIT_OK)
                assert_in_range(rate, 1, UINT32_MAX);
        }
        if (arrays == 0 || messages == 0)
            fail_msg("%d arrays, %d messages", arrays, messages);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),       cmocka_unit_test(test_views),
        cmocka_unit_test(test_raw_errors),  cmocka_unit_test(test_raw_streams),
        cmocka_unit_test(test_wav_forms),   cmocka_unit_test(test_wav_errors),
        cmocka_unit_test(test_wav_types),   cmocka_unit_test(test_wav_saved),
        cmocka_unit_test(test_wav_hostile),
    };
    int failed = cmocka_run_group_tests(tests, make_context, drop_context);
    drop_folder();
    return failed;
}
