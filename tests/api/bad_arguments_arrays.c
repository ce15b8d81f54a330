/* Bad arguments for what is about arrays: making them, views, elements, copies, files, DLPack. */
#include "bad_arguments.h"

static const int64_t shape[2] = {4, 3}, negative[2] = {4, -3};
static const int64_t huge[6] = {1 << 30, 1 << 30, 1 << 30, 1 << 30, 1 << 30, 1 << 30};
static const int64_t far[2] = {INT64_MAX, INT64_MIN};

static void creation(void **state)
{
    (void)state;
    NONE(kjit_array_create, (NULL, KJIT_F32, 2, shape, 'C', KJIT_HOST, &no_array));
    BAD(kjit_array_create, (own.ctx, KJIT_F32, 2, shape, 'C', KJIT_HOST, NULL), KJIT_INVALID,
        "out is NULL");
    BAD(kjit_array_create, (own.ctx, (kjit_dtype)-1, 2, shape, 'C', KJIT_HOST, &no_array),
        KJIT_TYPE, "-1 is no element type");
    BAD(kjit_array_create, (own.ctx, (kjit_dtype)15, 2, shape, 'C', KJIT_HOST, &no_array),
        KJIT_TYPE, "15 is no element type");
    BAD(kjit_array_create, (own.ctx, KJIT_LAST_RECORD, 2, shape, 'C', KJIT_HOST, &no_array),
        KJIT_TYPE, "no element type");
    BAD(kjit_array_create, (own.ctx, KJIT_F32, -1, shape, 'C', KJIT_HOST, &no_array), KJIT_SHAPE,
        "not -1");
    BAD(kjit_array_create, (own.ctx, KJIT_F32, 7, shape, 'C', KJIT_HOST, &no_array), KJIT_SHAPE,
        "not 7");
    BAD(kjit_array_create, (own.ctx, KJIT_F32, 2, NULL, 'C', KJIT_HOST, &no_array), KJIT_INVALID,
        "shape is NULL");
    BAD(kjit_array_create, (own.ctx, KJIT_F32, 2, negative, 'C', KJIT_HOST, &no_array), KJIT_SHAPE,
        "negative extent");
    BAD(kjit_array_create, (own.ctx, KJIT_F32, 6, huge, 'C', KJIT_HOST, &no_array), KJIT_NO_MEMORY,
        "address space");
    BAD(kjit_array_create, (own.ctx, KJIT_F32, 2, huge, 'C', KJIT_HOST, &no_array), KJIT_NO_MEMORY,
        "out of memory");
    BAD(kjit_array_create, (own.ctx, KJIT_F32, 2, huge, 'F', KJIT_DEVICE, &no_array),
        KJIT_NO_MEMORY, "out of ");
    BAD(kjit_array_create, (own.ctx, KJIT_F32, 2, shape, 'A', KJIT_HOST, &no_array), KJIT_INVALID,
        "order is 'C' or 'F'");
    BAD(kjit_array_create, (own.ctx, KJIT_F32, 2, shape, 'C', (kjit_memory)-1, &no_array),
        KJIT_INVALID, "-1 is no kind of memory");
    BAD(kjit_array_create, (own.ctx, KJIT_F32, 2, shape, 'C', (kjit_memory)99, &no_array),
        KJIT_INVALID, "99 is no kind of memory");
}

/* What fits no kind of memory, or not the one that is asked for. */
static void kinds(void **state)
{
    (void)state;
    static const kjit_array_options wrongs_[] = {
        {.memory = (kjit_memory)99},
        {.memory = (kjit_memory)-1},
        {.order = 'K'},
        {.portable = 1},
        {.wc = 1, .memory = KJIT_DEVICE},
        {.portable = 1, .memory = KJIT_MANAGED},
        {.attach_host = 1},
        {.attach_host = 1, .memory = KJIT_PINNED},
        {.shareable = 1},
        {.shareable = 1, .memory = KJIT_MAPPED},
    };
    static const kjit_array_options good = {.memory = KJIT_PINNED}, strided = {.strides = far};
    for (size_t i = 0; i < sizeof wrongs_ / sizeof *wrongs_; i++) {
        BAD(kjit_array_create_with, (own.ctx, KJIT_F32, 2, shape, &wrongs_[i], &no_array),
            KJIT_INVALID, "");
        BAD(kjit_array_like, (own.x, &wrongs_[i], &no_array), KJIT_INVALID, "");
        BAD(kjit_array_register, (own.x, &wrongs_[i], &no_array), KJIT_INVALID, "");
    }
    const kjit_array_options streams[] = {
        {.stream = own.stream},
        {.stream = foreign.stream, .memory = KJIT_DEVICE},
        {.stream = own.stream, .memory = KJIT_DEVICE, .shareable = 1},
    };
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        BAD(kjit_array_create_with, (own.ctx, KJIT_F32, 2, shape, &streams[i], &no_array),
            KJIT_INVALID, "stream");
        BAD(kjit_array_like, (own.x, &streams[i], &no_array), KJIT_INVALID, "stream");
    }
    NONE(kjit_array_create_with, (NULL, KJIT_F32, 2, shape, &good, &no_array));
    BAD(kjit_array_create_with, (own.ctx, KJIT_F32, 2, shape, &good, NULL), KJIT_INVALID,
        "out is NULL");
    BAD(kjit_array_create_with, (own.ctx, (kjit_dtype)99, 2, shape, &good, &no_array), KJIT_TYPE,
        "no element type");
    BAD(kjit_array_create_with, (own.ctx, KJIT_F32, 2, NULL, &good, &no_array), KJIT_INVALID,
        "shape is NULL");
    BAD(kjit_array_create_with, (own.ctx, KJIT_F32, 2, negative, &good, &no_array), KJIT_SHAPE,
        "negative");
    BAD(kjit_array_create_with, (own.ctx, KJIT_F32, 7, shape, NULL, &no_array), KJIT_SHAPE,
        "not 7");
    BAD(kjit_array_create_with, (own.ctx, KJIT_F32, 6, huge, &good, &no_array), KJIT_NO_MEMORY,
        "address space");
    BAD(kjit_array_create_with, (own.ctx, KJIT_F32, 2, huge, &good, &no_array), KJIT_NO_MEMORY, "");
    BAD(kjit_array_create_with, (own.ctx, KJIT_F32, 2, shape, &strided, &no_array), KJIT_SHAPE, "");
    NONE(kjit_array_like, (NULL, NULL, &no_array));
    BAD(kjit_array_like, (own.x, NULL, NULL), KJIT_INVALID, "out is NULL");
    NONE(kjit_array_register, (NULL, NULL, &no_array));
    BAD(kjit_array_register, (own.x, NULL, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_array_register, (own.device, NULL, &no_array), KJIT_INVALID, "plain host memory");
    BAD(kjit_array_register, (own.x, &strided, &no_array), KJIT_INVALID, "");
}

static void other_processes(void **state)
{
    (void)state;
    kjit_ipc_handle handle = {{0}};
    NONE(kjit_array_ipc_handle, (NULL, &handle));
    BAD(kjit_array_ipc_handle, (own.device, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_array_ipc_handle, (own.device, &handle), KJIT_INVALID, "not made to be shared");
    BAD(kjit_array_ipc_handle, (own.x, &handle), KJIT_INVALID, "not made to be shared");
    BAD(kjit_array_ipc_handle, (own.records, &handle), KJIT_TYPE, "P");
    NONE(kjit_ipc_open, (NULL, &handle, &no_array));
    BAD(kjit_ipc_open, (own.ctx, NULL, &no_array), KJIT_INVALID, "handle is NULL");
    BAD(kjit_ipc_open, (own.ctx, &handle, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_ipc_open, (own.ctx, &handle, &no_array), KJIT_FORMAT, "no handle");
}

static void never(void *owner)
{
    (void)owner;
    wrong("the deleter is called though the call failed");
}

static void wrap_memory(void **state)
{
    (void)state;
    float data[12];
    NONE(kjit_array_wrap, (NULL, data, KJIT_F32, 2, shape, NULL, KJIT_HOST, &no_array));
    BAD(kjit_array_wrap, (own.ctx, data, KJIT_F32, 2, shape, NULL, KJIT_HOST, NULL), KJIT_INVALID,
        "out is NULL");
    BAD(kjit_array_wrap, (own.ctx, NULL, KJIT_F32, 2, shape, NULL, KJIT_HOST, &no_array),
        KJIT_INVALID, "data is NULL");
    BAD(kjit_array_wrap, (own.ctx, data, (kjit_dtype)99, 2, shape, NULL, KJIT_HOST, &no_array),
        KJIT_TYPE, "no element type");
    BAD(kjit_array_wrap, (own.ctx, data, KJIT_F32, 99, shape, NULL, KJIT_HOST, &no_array),
        KJIT_SHAPE, "not 99");
    BAD(kjit_array_wrap, (own.ctx, data, KJIT_F32, 2, NULL, NULL, KJIT_HOST, &no_array),
        KJIT_INVALID, "shape is NULL");
    BAD(kjit_array_wrap, (own.ctx, data, KJIT_F32, 2, negative, NULL, KJIT_HOST, &no_array),
        KJIT_SHAPE, "negative");
    BAD(kjit_array_wrap, (own.ctx, data, KJIT_F32, 6, huge, NULL, KJIT_HOST, &no_array),
        KJIT_NO_MEMORY, "address space");
    BAD(kjit_array_wrap, (own.ctx, data, KJIT_F32, 2, shape, far, KJIT_HOST, &no_array), KJIT_SHAPE,
        "address space");
    BAD(kjit_array_wrap, (own.ctx, data, KJIT_F32, 2, shape, NULL, (kjit_memory)99, &no_array),
        KJIT_INVALID, "no kind of memory");
    NONE(kjit_array_wrap_owned,
         (NULL, data, KJIT_F32, 2, shape, NULL, KJIT_HOST, data, never, &no_array));
    BAD(kjit_array_wrap_owned,
        (own.ctx, data, KJIT_F32, 2, shape, NULL, KJIT_HOST, data, never, NULL), KJIT_INVALID,
        "out is NULL");
    BAD(kjit_array_wrap_owned,
        (own.ctx, NULL, KJIT_F32, 2, shape, NULL, KJIT_HOST, data, never, &no_array), KJIT_INVALID,
        "data is NULL");
    BAD(kjit_array_wrap_owned,
        (own.ctx, data, KJIT_F32, 2, shape, far, KJIT_HOST, data, never, &no_array), KJIT_SHAPE,
        "address space");
    BAD(kjit_array_wrap_owned,
        (own.ctx, data, (kjit_dtype)99, 2, shape, NULL, KJIT_HOST, data, never, &no_array),
        KJIT_TYPE, "no element type");
    HARMLESS(kjit_array_free, (NULL));
}

static void slices(void **state)
{
    (void)state;
    static const int64_t zero[2] = {0, 0}, below[2] = {-2, 0}, above[2] = {5, 0}, none[2] = {0, 0},
                         at_end[2] = {4, 0}, back[2] = {INT64_MIN, -1};
    NONE(kjit_array_slice, (NULL, NULL, NULL, NULL, &no_array));
    BAD(kjit_array_slice, (own.x, NULL, NULL, NULL, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_array_slice, (own.x, below, NULL, NULL, &no_array), KJIT_SHAPE, "-2");
    BAD(kjit_array_slice, (own.x, above, NULL, NULL, &no_array), KJIT_SHAPE, "5");
    BAD(kjit_array_slice, (own.x, far, NULL, NULL, &no_array), KJIT_SHAPE, "outside");
    BAD(kjit_array_slice, (own.x, NULL, far, NULL, &no_array), KJIT_SHAPE, "outside");
    BAD(kjit_array_slice, (own.x, NULL, NULL, none, &no_array), KJIT_INVALID, "step of a slice");
    BAD(kjit_array_slice, (own.x, at_end, below + 1, back, &no_array), KJIT_SHAPE, "");
    BAD(kjit_array_slice, (own.x, at_end, zero, back, &no_array), KJIT_SHAPE, "starts at 4");
    NONE(kjit_array_at, (NULL, 0, 0, &no_array));
    BAD(kjit_array_at, (own.x, 0, 0, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_array_at, (own.x, -1, 0, &no_array), KJIT_SHAPE, "no axis -1");
    BAD(kjit_array_at, (own.x, 2, 0, &no_array), KJIT_SHAPE, "no axis 2");
    BAD(kjit_array_at, (own.x, 0, -1, &no_array), KJIT_SHAPE, "-1");
    BAD(kjit_array_at, (own.x, 0, 4, &no_array), KJIT_SHAPE, "4");
    BAD(kjit_array_at, (own.x, 1, INT64_MIN, &no_array), KJIT_SHAPE, "outside");
}

static void other_types(void **state)
{
    (void)state;
    NONE(kjit_array_view, (NULL, KJIT_F32, &no_array));
    BAD(kjit_array_view, (own.x, KJIT_F32, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_array_view, (own.x, KJIT_I64, &no_array), KJIT_TYPE, "i64");
    BAD(kjit_array_view, (own.x, KJIT_F32X2, &no_array), KJIT_SHAPE, "3");
    BAD(kjit_array_view, (own.x, (kjit_dtype)-1, &no_array), KJIT_TYPE, "");
    BAD(kjit_array_view, (own.records, KJIT_F32, &no_array), KJIT_TYPE, "P");
    NONE(kjit_array_protect, (NULL));
    NONE(kjit_array_field, (NULL, "x", &no_array));
    BAD(kjit_array_field, (own.x, "x", NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_array_field, (own.records, NULL, &no_array), KJIT_INVALID, "name is NULL");
    BAD(kjit_array_field, (own.x, "x", &no_array), KJIT_NOT_FOUND, "f32");
    BAD(kjit_array_field, (own.records, "g", &no_array), KJIT_NOT_FOUND, "g");
}

static void other_shapes(void **state)
{
    (void)state;
    static const int64_t two[2] = {-1, -1}, five[2] = {5, -1}, less[2] = {-2, -6},
                         zero[2] = {0, -1};
    static const int twice[2] = {0, 0}, beyond[2] = {0, 2}, below[2] = {-1, 0};
    kjit_array *many[3];
    NONE(kjit_array_reshape, (NULL, 2, shape, 'C', &no_array));
    BAD(kjit_array_reshape, (own.x, 2, shape, 'C', NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_array_reshape, (own.x, 2, NULL, 'C', &no_array), KJIT_INVALID, "shape is NULL");
    BAD(kjit_array_reshape, (own.x, 2, shape, 'K', &no_array), KJIT_INVALID, "order");
    BAD(kjit_array_reshape, (own.x, -1, shape, 'C', &no_array), KJIT_SHAPE, "-1");
    BAD(kjit_array_reshape, (own.x, 7, shape, 'C', &no_array), KJIT_SHAPE, "7");
    BAD(kjit_array_reshape, (own.x, 2, two, 'C', &no_array), KJIT_SHAPE, "-1");
    BAD(kjit_array_reshape, (own.x, 2, five, 'C', &no_array), KJIT_SHAPE, "5");
    BAD(kjit_array_reshape, (own.x, 2, less, 'C', &no_array), KJIT_SHAPE, "-2");
    BAD(kjit_array_reshape, (own.x, 2, zero, 'C', &no_array), KJIT_SHAPE, "");
    BAD(kjit_array_reshape, (own.x, 6, huge, 'C', &no_array), KJIT_SHAPE, "");
    BAD(kjit_array_reshape, (own.x, 2, far, 'C', &no_array), KJIT_SHAPE, "");
    NONE(kjit_array_ravel, (NULL, 'C', &no_array));
    BAD(kjit_array_ravel, (own.x, 'C', NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_array_ravel, (own.x, 'K', &no_array), KJIT_INVALID, "order");
    BAD(kjit_array_ravel, (own.x, 'F', &no_array), KJIT_SHAPE, "");
    NONE(kjit_array_transpose, (NULL, NULL, &no_array));
    BAD(kjit_array_transpose, (own.x, NULL, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_array_transpose, (own.x, twice, &no_array), KJIT_SHAPE, "0");
    BAD(kjit_array_transpose, (own.x, beyond, &no_array), KJIT_SHAPE, "2");
    BAD(kjit_array_transpose, (own.x, below, &no_array), KJIT_SHAPE, "-1");
    NONE(kjit_array_split, (NULL, 2, many, 3, &number));
    BAD(kjit_array_split, (own.whole, 2, many, 3, NULL), KJIT_INVALID, "n is NULL");
    BAD(kjit_array_split, (own.whole, 2, NULL, 3, &number), KJIT_INVALID, "out is NULL");
    BAD(kjit_array_split, (own.whole, 0, many, 3, &number), KJIT_SHAPE, "section");
    BAD(kjit_array_split, (own.whole, -5, many, 3, &number), KJIT_SHAPE, "section");
    BAD(kjit_array_split, (own.whole, 2, many, -1, &number), KJIT_INVALID, "negative length");
    BAD(kjit_array_split, (own.x, 2, many, 3, &number), KJIT_SHAPE, "2");
}

static void answers(void **state)
{
    (void)state;
    GIVES(kjit_array_dtype, (NULL), == KJIT_BOOL);
    GIVES(kjit_array_ndim, (NULL), == 0);
    GIVES(kjit_array_size, (NULL), == 0);
    GIVES(kjit_array_shape, (NULL), == NULL);
    GIVES(kjit_array_strides, (NULL), == NULL);
    GIVES(kjit_array_memory, (NULL), == KJIT_HOST);
    GIVES(kjit_array_data, (NULL), == NULL);
    GIVES(kjit_array_is_contiguous, (NULL, 'C'), == 0);
    GIVES(kjit_array_is_contiguous, (own.x, 'K'), == 0);
    GIVES(kjit_array_is_read_only, (NULL), == 0);
}

static void elements(void **state)
{
    (void)state;
    static const int64_t below[2] = {-1, 0}, beyond[2] = {0, 3};
    float value = 1;
    NONE(kjit_array_get, (NULL, below, &value));
    BAD(kjit_array_get, (own.x, NULL, &value), KJIT_INVALID, "index is NULL");
    BAD(kjit_array_get, (own.x, shape, NULL), KJIT_INVALID, "value is NULL");
    BAD(kjit_array_get, (own.x, below, &value), KJIT_SHAPE, "-1");
    BAD(kjit_array_get, (own.device, beyond, &value), KJIT_SHAPE, "3");
    BAD(kjit_array_get, (own.device, far, &value), KJIT_SHAPE, "");
    NONE(kjit_array_set, (NULL, below, &value));
    BAD(kjit_array_set, (own.x, NULL, &value), KJIT_INVALID, "index is NULL");
    BAD(kjit_array_set, (own.x, shape, NULL), KJIT_INVALID, "value is NULL");
    BAD(kjit_array_set, (own.x, below, &value), KJIT_SHAPE, "-1");
    BAD(kjit_array_set, (own.device, beyond, &value), KJIT_SHAPE, "3");
    NONE(kjit_array_fill, (NULL, &value, NULL));
    BAD(kjit_array_fill, (own.x, NULL, NULL), KJIT_INVALID, "value is NULL");
    BAD(kjit_array_fill, (own.device, &value, foreign.stream), KJIT_INVALID, "another context");
}

static void copies(void **state)
{
    (void)state;
    kjit_array *turned;
    NONE(kjit_copy, (NULL, NULL, NULL));
    BAD(kjit_copy, (NULL, own.x, NULL), KJIT_INVALID, "dst is NULL");
    BAD(kjit_copy, (own.x, NULL, NULL), KJIT_INVALID, "src is NULL");
    BAD(kjit_copy, (own.fixed, own.whole, NULL), KJIT_TYPE, "from i32 to f32");
    BAD(kjit_copy, (own.x, own.fixed, NULL), KJIT_SHAPE, "(2,) to (4, 3)");
    BAD(kjit_copy, (own.x, own.records, NULL), KJIT_TYPE, "from P to f32");
    BAD(kjit_copy, (own.x, own.device, foreign.stream), KJIT_INVALID, "context");
    BAD(kjit_copy, (own.x, foreign.fixed, NULL), KJIT_SHAPE, "(2,) to (4, 3)");
    BAD(kjit_copy, (own.x, foreign.whole, NULL), KJIT_TYPE, "from i32 to f32");
    OK(kjit_array_transpose(own.x, NULL, &turned));
    BAD(kjit_copy, (turned, own.x, NULL), KJIT_SHAPE, "(4, 3) to (3, 4)");
    kjit_array_free(turned);
    NONE(kjit_to_device, (NULL, NULL, &no_array));
    BAD(kjit_to_device, (own.x, NULL, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_to_device, (own.x, foreign.stream, &no_array), KJIT_INVALID, "context");
    NONE(kjit_to_host, (NULL, NULL, &no_array));
    BAD(kjit_to_host, (own.device, NULL, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_to_host, (own.device, foreign.stream, &no_array), KJIT_INVALID, "context");
}

static void files(void **state)
{
    (void)state;
    kjit_dtype p = kjit_array_dtype(own.records);
    char path[200];
    int64_t rate;
    snprintf(path, sizeof path, "%s", path_of("empty.npy"));
    write_file(path, "", 0);
    NONE(kjit_array_load, (NULL, path, &no_array));
    BAD(kjit_array_load, (own.ctx, NULL, &no_array), KJIT_INVALID, "path is NULL");
    BAD(kjit_array_load, (own.ctx, path, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_array_load, (own.ctx, "", &no_array), KJIT_IO, "");
    BAD(kjit_array_load, (own.ctx, "/nowhere/x.npy", &no_array), KJIT_IO, "/nowhere/x.npy");
    BAD(kjit_array_load, (own.ctx, path, &no_array), KJIT_FORMAT, "empty.npy");
    NONE(kjit_array_load_records, (NULL, path, p, &no_array));
    BAD(kjit_array_load_records, (own.ctx, NULL, p, &no_array), KJIT_INVALID, "path is NULL");
    BAD(kjit_array_load_records, (own.ctx, path, p, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_array_load_records, (own.ctx, path, KJIT_F32, &no_array), KJIT_TYPE, "not f32");
    BAD(kjit_array_load_records, (own.ctx, path, KJIT_LAST_RECORD, &no_array), KJIT_TYPE, "");
    BAD(kjit_array_load_records, (own.ctx, path, p, &no_array), KJIT_FORMAT, "empty.npy");
    NONE(kjit_array_load_with, (NULL, path, NULL, &no_array));
    BAD(kjit_array_load_with, (own.ctx, NULL, NULL, &no_array), KJIT_INVALID, "path is NULL");
    BAD(kjit_array_load_with, (own.ctx, path, NULL, NULL), KJIT_INVALID, "out is NULL");
    NONE(kjit_sample_rate, (NULL, path, &rate));
    BAD(kjit_sample_rate, (own.ctx, NULL, &rate), KJIT_INVALID, "path is NULL");
    BAD(kjit_sample_rate, (own.ctx, path, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_sample_rate, (own.ctx, path, &rate), KJIT_INVALID, "no sound");
    BAD(kjit_sample_rate, (own.ctx, "/nowhere/x.wav", &rate), KJIT_IO, "/nowhere/x.wav");
    NONE(kjit_arrays_save, (NULL, path, &(kjit_named_array){.array = own.x}, 1, NULL));
    BAD(kjit_arrays_save, (own.ctx, NULL, &(kjit_named_array){.array = own.x}, 1, NULL),
        KJIT_INVALID, "path is NULL");
    BAD(kjit_arrays_save, (own.ctx, path, NULL, 1, NULL), KJIT_INVALID, "no arrays");
    NONE(kjit_array_save, (NULL, path));
    BAD(kjit_array_save, (own.x, NULL), KJIT_INVALID, "path is NULL");
    BAD(kjit_array_save, (own.x, "x.doc"), KJIT_INVALID, "x.doc");
    BAD(kjit_array_save, (own.x, "/nowhere/x.npy"), KJIT_IO, "/nowhere/x.npy");
    BAD(kjit_array_save, (own.records, "/tmp/x.png"), KJIT_TYPE, "P");
    NONE(kjit_array_format, (NULL, &no_text));
    BAD(kjit_array_format, (own.x, NULL), KJIT_INVALID, "out is NULL");
}

static void tensors(void **state)
{
    (void)state;
    NONE(kjit_array_to_dlpack, (NULL, &no_tensor));
    BAD(kjit_array_to_dlpack, (own.x, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_array_to_dlpack, (own.records, &no_tensor), KJIT_TYPE, "P");
    NONE(kjit_array_to_dlpack_unversioned, (NULL, &no_old_tensor));
    BAD(kjit_array_to_dlpack_unversioned, (own.x, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_array_to_dlpack_unversioned, (own.records, &no_old_tensor), KJIT_TYPE, "P");
    NONE(kjit_array_from_dlpack, (NULL, NULL, &no_array));
    BAD(kjit_array_from_dlpack, (own.ctx, NULL, &no_array), KJIT_INVALID, "tensor is NULL");
    BAD(kjit_array_from_dlpack, (own.ctx, NULL, NULL), KJIT_INVALID, "NULL");
    NONE(kjit_array_from_dlpack_unversioned, (NULL, NULL, &no_array));
    BAD(kjit_array_from_dlpack_unversioned, (own.ctx, NULL, &no_array), KJIT_INVALID,
        "tensor is NULL");
}

static kjit_smart *parents;

static void smart_arrays(void **state)
{
    (void)state;
    NONE(kjit_smart_create, (NULL, KJIT_F32, 2, shape, 'C', &no_smart));
    BAD(kjit_smart_create, (own.ctx, KJIT_F32, 2, shape, 'C', NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_smart_create, (own.ctx, KJIT_F32, 2, NULL, 'C', &no_smart), KJIT_INVALID,
        "shape is NULL");
    BAD(kjit_smart_create, (own.ctx, (kjit_dtype)-1, 2, shape, 'C', &no_smart), KJIT_TYPE,
        "no element type");
    BAD(kjit_smart_create, (own.ctx, KJIT_F32, 7, shape, 'C', &no_smart), KJIT_SHAPE, "not 7");
    BAD(kjit_smart_create, (own.ctx, KJIT_F32, 2, shape, 'K', &no_smart), KJIT_INVALID, "order");
    BAD(kjit_smart_create, (own.ctx, KJIT_F32, 6, huge, 'C', &no_smart), KJIT_NO_MEMORY,
        "address space");
    NONE(kjit_smart_from, (NULL, &no_smart));
    BAD(kjit_smart_from, (own.x, NULL), KJIT_INVALID, "out is NULL");
    NONE(kjit_smart_host, (NULL, &no_array));
    NONE(kjit_smart_gpu, (NULL, &no_array));
    NONE(kjit_smart_host_changed, (NULL));
    NONE(kjit_smart_gpu_changed, (NULL));
    HARMLESS(kjit_smart_free, (NULL));
    BAD(kjit_smart_host, (parents, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_smart_gpu, (parents, NULL), KJIT_INVALID, "out is NULL");
}

static void child(void)
{
    float data[12];
    kjit_array *many[3];
    FORKED(kjit_array_create, (own.ctx, KJIT_F32, 2, shape, 'C', KJIT_HOST, &no_array));
    FORKED(kjit_array_create_with, (own.ctx, KJIT_F32, 2, shape, NULL, &no_array));
    FORKED(kjit_array_like, (own.x, NULL, &no_array));
    FORKED(kjit_array_register, (own.x, NULL, &no_array));
    FORKED(kjit_array_ipc_handle, (own.device, &(kjit_ipc_handle){{0}}));
    FORKED(kjit_ipc_open, (own.ctx, &(kjit_ipc_handle){{0}}, &no_array));
    FORKED(kjit_array_wrap, (own.ctx, data, KJIT_F32, 2, shape, NULL, KJIT_HOST, &no_array));
    FORKED(kjit_array_wrap_owned,
           (own.ctx, data, KJIT_F32, 2, shape, NULL, KJIT_HOST, data, never, &no_array));
    FORKED(kjit_array_slice, (own.x, NULL, NULL, NULL, &no_array));
    FORKED(kjit_array_at, (own.x, 0, 0, &no_array));
    FORKED(kjit_array_view, (own.x, KJIT_F32, &no_array));
    FORKED(kjit_array_protect, (own.records));
    FORKED(kjit_array_field, (own.records, "f", &no_array));
    FORKED(kjit_array_reshape, (own.x, 2, shape, 'C', &no_array));
    FORKED(kjit_array_ravel, (own.x, 'C', &no_array));
    FORKED(kjit_array_transpose, (own.x, NULL, &no_array));
    FORKED(kjit_array_split, (own.whole, 2, many, 3, &number));
    FORKED(kjit_array_get, (own.x, SHAPE(0, 0), data));
    FORKED(kjit_array_set, (own.x, SHAPE(0, 0), data));
    FORKED(kjit_array_fill, (own.x, data, NULL));
    FORKED(kjit_copy, (own.x, own.device, NULL));
    FORKED(kjit_to_device, (own.x, NULL, &no_array));
    FORKED(kjit_to_host, (own.device, NULL, &no_array));
    FORKED(kjit_array_load, (own.ctx, "x.npy", &no_array));
    FORKED(kjit_array_load_with, (own.ctx, "x.npy", NULL, &no_array));
    FORKED(kjit_sample_rate, (own.ctx, "x.wav", &(int64_t){0}));
    FORKED(kjit_arrays_save,
           (own.ctx, "/tmp/kjit-forked.npy", &(kjit_named_array){.array = own.x}, 1, NULL));
    FORKED(kjit_array_load_records, (own.ctx, "x.npy", KJIT_FIRST_RECORD, &no_array));
    FORKED(kjit_array_save, (own.x, "/tmp/kjit-forked.npy"));
    FORKED(kjit_array_format, (own.x, &no_text));
    FORKED(kjit_array_to_dlpack, (own.x, &no_tensor));
    FORKED(kjit_array_to_dlpack_unversioned, (own.x, &no_old_tensor));
    FORKED(kjit_array_from_dlpack, (own.ctx, NULL, &no_array));
    FORKED(kjit_array_from_dlpack_unversioned, (own.ctx, NULL, &no_array));
    FORKED(kjit_smart_create, (own.ctx, KJIT_F32, 2, shape, 'C', &no_smart));
    FORKED(kjit_smart_from, (own.x, &no_smart));
    FORKED(kjit_smart_host, (parents, &no_array));
    FORKED(kjit_smart_gpu, (parents, &no_array));
    FORKED(kjit_smart_host_changed, (parents));
    FORKED(kjit_smart_gpu_changed, (parents));
    kjit_smart_free(parents);
    kjit_array_free(own.x);
}

static int make_smart(void **state)
{
    if (make_both(state) != 0)
        return 1;
    OK(kjit_smart_from(own.x, &parents));
    return 0;
}

static int drop_smart(void **state)
{
    kjit_smart_free(parents);
    return drop_both(state);
}

static void forked(void **state)
{
    (void)state;
    in_child(child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SWEEP(creation),     SWEEP(kinds),       SWEEP(other_processes), SWEEP(wrap_memory),
        SWEEP(slices),       SWEEP(other_types), SWEEP(other_shapes),    SWEEP(answers),
        SWEEP(elements),     SWEEP(copies),      SWEEP(files),           SWEEP(tensors),
        SWEEP(smart_arrays), SWEEP(forked),
    };
    return cmocka_run_group_tests(tests, make_smart, drop_smart);
}
