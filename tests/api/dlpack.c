/* DLPack: what is said of an array, both structures, there and back, what is refused, who frees. */
#include "../../runtime/device/dlpack.h"

#include "api.h"

#include <pthread.h>

typedef struct DLManagedTensor unversioned;
typedef struct DLManagedTensorVersioned versioned;

static int deleted; /* tensors of this file's own */

static void delete_tensor(versioned *self)
{
    (void)self;
    deleted++;
}

static void delete_old_tensor(unversioned *self)
{
    (void)self;
    deleted++;
}

/* A tensor of 24 floats in C order, (2, 3, 4), in host memory. */
static float numbers[24];
static int64_t shape_of_numbers[] = {2, 3, 4};

static versioned tensor(void)
{
    deleted = 0;
    for (int i = 0; i < 24; i++)
        numbers[i] = (float)i;
    return (versioned){.version = {1, 0},
                       .deleter = delete_tensor,
                       .dl_tensor = {.data = numbers,
                                     .device = {KJ_DL_CPU, 0},
                                     .ndim = 3,
                                     .dtype = {KJ_DL_FLOAT, 32, 1},
                                     .shape = shape_of_numbers}};
}

static const struct {
    kjit_dtype dtype;
    kj_dl_dtype type;
} types[] = {
    {KJIT_BOOL, {KJ_DL_BOOL, 8, 1}},      {KJIT_I8, {KJ_DL_INT, 8, 1}},
    {KJIT_I16, {KJ_DL_INT, 16, 1}},       {KJIT_I32, {KJ_DL_INT, 32, 1}},
    {KJIT_I64, {KJ_DL_INT, 64, 1}},       {KJIT_U8, {KJ_DL_UINT, 8, 1}},
    {KJIT_U16, {KJ_DL_UINT, 16, 1}},      {KJIT_U32, {KJ_DL_UINT, 32, 1}},
    {KJIT_U64, {KJ_DL_UINT, 64, 1}},      {KJIT_F32, {KJ_DL_FLOAT, 32, 1}},
    {KJIT_F64, {KJ_DL_FLOAT, 64, 1}},     {KJIT_F16, {KJ_DL_FLOAT, 16, 1}},
    {KJIT_BF16, {KJ_DL_BFLOAT, 16, 1}},   {KJIT_C64, {KJ_DL_COMPLEX, 64, 1}},
    {KJIT_C128, {KJ_DL_COMPLEX, 128, 1}}, {KJIT_F32X2, {KJ_DL_FLOAT, 32, 2}},
    {KJIT_F32X4, {KJ_DL_FLOAT, 32, 4}},   {KJIT_F64X2, {KJ_DL_FLOAT, 64, 2}},
    {KJIT_I32X2, {KJ_DL_INT, 32, 2}},     {KJIT_I32X4, {KJ_DL_INT, 32, 4}},
    {KJIT_U8X4, {KJ_DL_UINT, 8, 4}},      {KJIT_U32X2, {KJ_DL_UINT, 32, 2}},
    {KJIT_U32X4, {KJ_DL_UINT, 32, 4}},    {KJIT_F16X2, {KJ_DL_FLOAT, 16, 2}},
    {KJIT_F16X4, {KJ_DL_FLOAT, 16, 4}},   {KJIT_BF16X2, {KJ_DL_BFLOAT, 16, 2}},
    {KJIT_BF16X4, {KJ_DL_BFLOAT, 16, 4}}, {KJIT_F32X3, {KJ_DL_FLOAT, 32, 3}},
    {KJIT_F64X3, {KJ_DL_FLOAT, 64, 3}},   {KJIT_F64X4, {KJ_DL_FLOAT, 64, 4}},
    {KJIT_F16X3, {KJ_DL_FLOAT, 16, 3}},   {KJIT_BF16X3, {KJ_DL_BFLOAT, 16, 3}},
    {KJIT_I8X2, {KJ_DL_INT, 8, 2}},       {KJIT_I8X3, {KJ_DL_INT, 8, 3}},
    {KJIT_I8X4, {KJ_DL_INT, 8, 4}},       {KJIT_I16X2, {KJ_DL_INT, 16, 2}},
    {KJIT_I16X3, {KJ_DL_INT, 16, 3}},     {KJIT_I16X4, {KJ_DL_INT, 16, 4}},
    {KJIT_I32X3, {KJ_DL_INT, 32, 3}},     {KJIT_I64X2, {KJ_DL_INT, 64, 2}},
    {KJIT_I64X3, {KJ_DL_INT, 64, 3}},     {KJIT_I64X4, {KJ_DL_INT, 64, 4}},
    {KJIT_U8X2, {KJ_DL_UINT, 8, 2}},      {KJIT_U8X3, {KJ_DL_UINT, 8, 3}},
    {KJIT_U16X2, {KJ_DL_UINT, 16, 2}},    {KJIT_U16X3, {KJ_DL_UINT, 16, 3}},
    {KJIT_U16X4, {KJ_DL_UINT, 16, 4}},    {KJIT_U32X3, {KJ_DL_UINT, 32, 3}},
    {KJIT_U64X2, {KJ_DL_UINT, 64, 2}},    {KJIT_U64X3, {KJ_DL_UINT, 64, 3}},
    {KJIT_U64X4, {KJ_DL_UINT, 64, 4}},
};

static void check_type(kjit_dtype dtype, kj_dl_dtype type, kjit_memory memory)
{
    kjit_array *a, *back;
    versioned *t;
    OK(kjit_array_create(ctx, dtype, 2, SHAPE(3, 5), 'F', memory, &a));
    OK(kjit_array_to_dlpack(a, &t));
    assert_memory_equal(&t->dl_tensor.dtype, &type, sizeof type);
    assert_int_equal(t->version.major, 1);
    assert_int_equal(t->flags, 0);
    assert_int_equal(t->dl_tensor.ndim, 2);
    assert_memory_equal(t->dl_tensor.shape, SHAPE(3, 5), 2 * sizeof(int64_t));
    assert_memory_equal(t->dl_tensor.strides, SHAPE(1, 3), 2 * sizeof(int64_t));
    assert_int_equal(t->dl_tensor.byte_offset, 0);
    assert_ptr_equal(t->dl_tensor.data, kjit_array_data(a));
    bool host = memory == KJIT_HOST || on_cpu();
    assert_int_equal(t->dl_tensor.device.type, host ? KJ_DL_CPU : KJ_DL_CUDA);
    assert_int_equal(t->dl_tensor.device.id, 0);
    OK(kjit_array_from_dlpack(ctx, t, &back));
    assert_int_equal(kjit_array_dtype(back), dtype);
    assert_int_equal(kjit_array_memory(back), host ? KJIT_HOST : KJIT_DEVICE);
    assert_memory_equal(kjit_array_strides(back), kjit_array_strides(a), 2 * sizeof(int64_t));
    kjit_array_free(a);
    kjit_array_free(back);
}

static void test_types(void **state)
{
    (void)state;
    int n = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        check_type(types[i].dtype, types[i].type, KJIT_HOST);
        check_type(types[i].dtype, types[i].type, KJIT_DEVICE);
    }
    for (kjit_dtype d = KJIT_BOOL; d < KJIT_FIRST_RECORD; d++)
        n += kjit_dtype_size(d) > 0;
    assert_int_equal(n, sizeof types / sizeof *types); /* all there are */
}

static void check_round(kjit_memory memory)
{
    kjit_array *a, *part, *view, *back;
    unversioned *t;
    int32_t value;
    OK(kjit_array_create(ctx, KJIT_I32, 2, SHAPE(4, 6), 'C', memory, &a));
    for (int32_t i = 0; i < 24; i++)
        OK(kjit_array_set(a, SHAPE(i / 6, i % 6), &i));
    OK(kjit_array_slice(a, SHAPE(3, 1), SHAPE(-1, 6), SHAPE(-2, 2), &part)); /* [::-2, 1::2] */
    OK(kjit_array_transpose(part, NULL, &view));
    OK(kjit_array_to_dlpack_unversioned(view, &t));
    assert_memory_equal(t->dl_tensor.strides, SHAPE(2, -12), 2 * sizeof(int64_t));
    kjit_array_free(a);
    kjit_array_free(part);
    kjit_array_free(view); /* the tensor keeps the memory */
    OK(kjit_array_from_dlpack_unversioned(ctx, t, &back));
    OK(kjit_array_get(back, SHAPE(2, 1), &value)); /* [1, 5] of it all */
    assert_int_equal(value, 11);
    assert_false(kjit_array_is_read_only(back));
    kjit_array_free(back);
}

static void test_there_and_back(void **state)
{
    (void)state;
    check_round(KJIT_HOST);
    check_round(KJIT_DEVICE);
    versioned *t; /* whoever takes none gives it back */
    kjit_array *a = create(KJIT_F32, 0, NULL, 'C');
    OK(kjit_array_to_dlpack(a, &t));
    kjit_array_free(a);
    assert_int_equal(t->dl_tensor.ndim, 0);
    t->deleter(t);
    unversioned *u;
    a = create(KJIT_F32, 2, SHAPE(0, 7), 'C');
    OK(kjit_array_to_dlpack_unversioned(a, &u));
    kjit_array_free(a);
    assert_null(u->dl_tensor.data);
    u->deleter(u);
}

/* Every kind of memory is told, and known again; on a CPU all are the host's. */
static void test_kinds(void **state)
{
    static const struct {
        kjit_memory memory;
        int type;
        kjit_memory back;
    } kinds[] = {{KJIT_HOST, KJ_DL_CPU, KJIT_HOST},
                 {KJIT_DEVICE, KJ_DL_CUDA, KJIT_DEVICE},
                 {KJIT_PINNED, KJ_DL_CUDA_HOST, KJIT_PINNED},
                 {KJIT_MAPPED, KJ_DL_CUDA_HOST, KJIT_PINNED},
                 {KJIT_MANAGED, KJ_DL_CUDA_MANAGED, KJIT_MANAGED}};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        kjit_array *a, *back;
        unversioned *t;
        int32_t value;
        OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(100), 'C', kinds[i].memory, &a));
        OK(kjit_array_set(a, SHAPE(99), &(int32_t){7}));
        OK(kjit_array_to_dlpack_unversioned(a, &t));
        assert_int_equal(t->dl_tensor.device.type, on_cpu() ? KJ_DL_CPU : kinds[i].type);
        assert_int_equal(t->dl_tensor.device.id, 0);
        OK(kjit_array_from_dlpack_unversioned(ctx, t, &back));
        assert_int_equal(kjit_array_memory(back), on_cpu() ? KJIT_HOST : kinds[i].back);
        kjit_array_free(a);
        OK(kjit_array_get(back, SHAPE(99), &value));
        assert_int_equal(value, 7);
        kjit_array_free(back);
    }
    versioned t = tensor();
    kjit_array *a;
    t.dl_tensor.device.type = KJ_DL_CUDA_HOST; /* it is not page-locked */
    if (on_cpu()) {
        OK(kjit_array_from_dlpack(ctx, &t, &a));
        kjit_array_free(a);
        return;
    }
    FAILS(kjit_array_from_dlpack(ctx, &t, &a), KJIT_INVALID, "the memory at");
    assert_int_equal(deleted, 0);
}

/* The tensor is handed out when the array is as the queued work leaves it. */
static void test_after_queued_work(void **state)
{
    enum { N = 100000 };
    (void)state;
    kjit_stream *s;
    versioned *t;
    kjit_array *a = create(KJIT_I32, 1, SHAPE(N), 'C');
    kjit_module *mod = module("kernel f(x: i32[]) { let i = grid(1)\n"
                              "  if i < x.size { x[i] = 0; for k in range(100) { x[i] += 2 } } }");
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_launch_forall(mod, "f", N, s, (kjit_arg[]){kjit_arg_array(a)}, 1));
    OK(kjit_array_to_dlpack(a, &t));
    assert_int_equal(((int32_t *)t->dl_tensor.data)[N - 1], 200);
    t->deleter(t);
    kjit_array_free(a);
    kjit_stream_free(s);
    kjit_module_free(mod);
}

static void test_in(void **state)
{
    (void)state;
    kjit_array *a, *v;
    float value;
    versioned t = tensor();
    OK(kjit_array_from_dlpack(ctx, &t, &a));
    OK(kjit_array_get(a, SHAPE(1, 2, 3), &value));
    assert_float_equal(value, 23, 0);
    OK(kjit_array_at(a, 0, 1, &v));
    kjit_array_free(a);
    assert_int_equal(deleted, 0);
    kjit_array_free(v);
    assert_int_equal(deleted, 1);

    t = tensor(); /* an offset, and strides: every other number from the third on, backwards */
    t.dl_tensor.byte_offset = 22 * sizeof(float);
    t.dl_tensor.ndim = 1;
    t.dl_tensor.shape = (int64_t[]){11};
    t.dl_tensor.strides = (int64_t[]){-2};
    OK(kjit_array_from_dlpack(ctx, &t, &a));
    OK(kjit_array_get(a, SHAPE(10), &value));
    assert_float_equal(value, 2, 0);
    kjit_array_free(a);
    assert_int_equal(deleted, 1);

    t = tensor(); /* without a deleter, as vectors, of a later minor version with flags to come */
    t.version.minor = 9;
    t.flags = 0xff00;
    t.deleter = NULL;
    t.dl_tensor.ndim = 1;
    t.dl_tensor.shape = (int64_t[]){6};
    t.dl_tensor.dtype.lanes = 4;
    OK(kjit_array_from_dlpack(ctx, &t, &a));
    assert_int_equal(kjit_array_dtype(a), KJIT_F32X4);
    kjit_array_free(a);
    assert_int_equal(deleted, 0);

    unversioned old = {.dl_tensor = tensor().dl_tensor, .deleter = delete_old_tensor};
    OK(kjit_array_from_dlpack_unversioned(ctx, &old, &a));
    kjit_array_free(a);
    assert_int_equal(deleted, 1);
}

/* The same of memory that the program wraps and protects, whatever its elements are. */
static void test_protected(void **state)
{
    (void)state;
    kjit_module *mod = module("record P { at: f32[2], weight: f32 }\n"
                              "kernel read(p: P[], y: f32[]) { y[0] = p[1].at[1] + p[0].weight }\n"
                              "kernel write(p: P[]) { p[1].at[0] = 5 }");
    static const float memory[6] = {1, 2, 3, 4, 5, 6};
    kjit_dtype dtype;
    kjit_array *a, *y;
    kjit_config one = {.grid = {1}, .block = {1}};
    OK(kjit_module_record(mod, "P", &dtype));
    OK(kjit_array_wrap(ctx, (void *)memory, dtype, 1, SHAPE(2), NULL, KJIT_HOST, &a));
    OK(kjit_array_create(ctx, KJIT_F32, 1, SHAPE(1), 'C', KJIT_HOST, &y));
    OK(kjit_array_protect(a));
    assert_true(kjit_array_is_read_only(a));
    OK(kjit_launch(mod, "read", &one, (kjit_arg[]){kjit_arg_array(a), kjit_arg_array(y)}, 2));
    assert_true(*(float *)kjit_array_data(y) == 5 + 3);
    FAILS(kjit_launch(mod, "write", &one, (kjit_arg[]){kjit_arg_array(a)}, 1), KJIT_INVALID,
          "kernel 'write' writes 'p', and the array for it is read-only");
    FAILS(kjit_array_set(a, SHAPE(0), &memory), KJIT_INVALID, "read-only");
    kjit_array_free(a);
    kjit_array_free(y);
    kjit_module_free(mod);
}

/* Neither copies, elements nor kernels write it; what only reads it may. */
static void test_read_only(void **state)
{
    (void)state;
    kjit_array *a, *v, *b;
    unversioned *u;
    versioned *again, t = tensor();
    kjit_module *mod = module("kernel add(x: f32[], y: f32[]) {\n"
                              "  let i = grid(1); if i < y.size { y[i] = x[i] + 1 } }\n"
                              "kernel count(x: f32[]) { atomic.add(x, 0, 1) }");
    t.flags = KJ_DL_READ_ONLY;
    OK(kjit_array_from_dlpack(ctx, &t, &a));
    assert_true(kjit_array_is_read_only(a));
    OK(kjit_array_ravel(a, 'C', &v));
    assert_true(kjit_array_is_read_only(v));
    OK(kjit_to_device(v, NULL, &b));
    assert_false(kjit_array_is_read_only(b) || kjit_array_is_read_only(NULL));
    kjit_array *locked;
    OK(kjit_array_register(v, NULL, &locked));
    assert_true(kjit_array_is_read_only(locked));
    kjit_array_free(locked);
    OK(kjit_launch_forall(mod, "add", 24, NULL, (kjit_arg[]){kjit_arg_array(v), kjit_arg_array(b)},
                          2));
    FAILS(kjit_launch_forall(mod, "add", 24, NULL,
                             (kjit_arg[]){kjit_arg_array(b), kjit_arg_array(v)}, 2),
          KJIT_INVALID, "kernel 'add' writes 'y', and the array for it is read-only");
    FAILS(kjit_launch(mod, "count", &(kjit_config){.grid = {1}, .block = {1}},
                      (kjit_arg[]){kjit_arg_array(v)}, 1),
          KJIT_INVALID, "writes 'x'");
    FAILS(kjit_copy(v, b, NULL), KJIT_INVALID, "read-only");
    FAILS(kjit_array_set(v, SHAPE(0), &(float){1}), KJIT_INVALID, "read-only");
    FAILS(kjit_array_fill(v, &(float){1}, NULL), KJIT_INVALID, "read-only");
    FAILS(kjit_array_to_dlpack_unversioned(v, &u), KJIT_INVALID, "read-only");
    assert_null(u);
    OK(kjit_array_to_dlpack(v, &again));
    assert_int_equal(again->flags, KJ_DL_READ_ONLY);
    again->deleter(again);
    float value;
    OK(kjit_array_get(b, SHAPE(23), &value));
    assert_float_equal(value, 24, 0);
    for (int i = 0; i < 24; i++)
        assert_float_equal(numbers[i], i, 0);
    kjit_array_free(a);
    kjit_array_free(v);
    kjit_array_free(b);
    kjit_module_free(mod);
    assert_int_equal(deleted, 1);
}

/* What fails leaves the tensor to its owner. */
static void test_refused_in(void **state)
{
    (void)state;
    kjit_array *a;
    versioned t;
#define REFUSED(change, status, text) \
    do { \
        t = tensor(); \
        change; \
        FAILS(kjit_array_from_dlpack(ctx, &t, &a), status, text); \
        assert_null(a); \
        assert_int_equal(deleted, 0); \
    } while (0)
    REFUSED(t.version.major = 2, KJIT_FORMAT, "DLPack 2.0");
    REFUSED(t.version.major = 0, KJIT_FORMAT, "DLPack 0.0");
    REFUSED(t.dl_tensor.dtype.bits = 4, KJIT_TYPE, "4 bits");
    REFUSED(t.dl_tensor.dtype.code = 3, KJIT_TYPE, "type code 3");
    REFUSED(t.dl_tensor.dtype.lanes = 5, KJIT_TYPE, "5 lanes");
    REFUSED(t.dl_tensor.dtype.lanes = 0, KJIT_TYPE, "0 lanes");
    REFUSED(t.dl_tensor.device.type = 10, KJIT_NO_DEVICE, "DLPack's type 10");
    REFUSED((t.dl_tensor.device = (kj_dl_device){KJ_DL_CUDA, 7}), KJIT_NO_DEVICE, "device 7");
    REFUSED(t.dl_tensor.ndim = 7, KJIT_SHAPE, "0 to 6");
    REFUSED(t.dl_tensor.ndim = -1, KJIT_SHAPE, "0 to 6");
    REFUSED(t.dl_tensor.shape = NULL, KJIT_INVALID, "shape is NULL");
    REFUSED(t.dl_tensor.data = NULL, KJIT_INVALID, "data is NULL");
    REFUSED(t.dl_tensor.byte_offset = UINT64_MAX - 64, KJIT_INVALID, "byte_offset");
    REFUSED(t.dl_tensor.shape = ((int64_t[]){2, -3, 4}), KJIT_SHAPE, "negative");
    REFUSED(t.dl_tensor.shape = ((int64_t[]){2, INT64_MAX, 4}), KJIT_NO_MEMORY, "address space");
    REFUSED(t.dl_tensor.strides = ((int64_t[]){INT64_MAX, 4, 1}), KJIT_SHAPE, "strides");
    REFUSED(t.dl_tensor.strides = ((int64_t[]){INT64_MAX / 4, 4, 1}), KJIT_SHAPE, "strides");
    FAILS(kjit_array_from_dlpack(ctx, NULL, &a), KJIT_INVALID, "tensor is NULL");
    FAILS(kjit_array_from_dlpack_unversioned(ctx, NULL, &a), KJIT_INVALID, "tensor is NULL");
    FAILS(kjit_array_from_dlpack(ctx, &t, NULL), KJIT_INVALID, "out is NULL");
    assert_int_equal(kjit_array_from_dlpack(NULL, &t, &a), KJIT_INVALID);
    assert_int_equal(kjit_array_from_dlpack_unversioned(NULL, NULL, &a), KJIT_INVALID);
}

static void test_refused_out(void **state)
{
    (void)state;
    versioned *t;
    unversioned *u;
    kjit_dtype dtype;
    kjit_module *mod = module("record P { at: f32x2, weight: f32 }\nkernel f(x: P[]) { }");
    OK(kjit_module_record(mod, "P", &dtype));
    kjit_array *a = create(dtype, 1, SHAPE(5), 'C'), *at, *weight;
    FAILS(kjit_array_to_dlpack(a, &t), KJIT_TYPE, "DLPack has no type for P");
    assert_null(t);
    OK(kjit_array_field(a, "at", &at)); /* 8 bytes every 12 */
    FAILS(kjit_array_to_dlpack_unversioned(at, &u), KJIT_SHAPE, "stride of 12 bytes");
    assert_null(u);
    OK(kjit_array_field(a, "weight", &weight));
    OK(kjit_array_to_dlpack(weight, &t));
    assert_int_equal(t->dl_tensor.strides[0], 3);
    t->deleter(t);
    FAILS(kjit_array_to_dlpack(a, NULL), KJIT_INVALID, "out is NULL");
    assert_int_equal(kjit_array_to_dlpack(NULL, &t), KJIT_INVALID);
    assert_int_equal(kjit_array_to_dlpack_unversioned(NULL, &u), KJIT_INVALID);
    kjit_array_free(a);
    kjit_array_free(at);
    kjit_array_free(weight);
    kjit_module_free(mod);
}

static kjit_status end_context(void *user)
{
    ++*(int *)user;
    return KJIT_OK;
}

/* The last that a context has may be a tensor: what its array had goes with it, whatever memory. */
static void test_outlives_context(void **state)
{
    (void)state;
    for (kjit_memory memory = KJIT_HOST; memory <= KJIT_MAPPED; memory++) {
        int ended = 0;
        kjit_array *a;
        versioned *out;
        kjit_context *own;
        const kjit_allocator allocator = {
            .version = KJIT_ALLOCATOR_VERSION, .user = &ended, .reset = end_context};
        const kjit_context_options options = {.cache = "off", .allocator = &allocator};
        OK(kjit_context_create(&options, &own, NULL, 0));
        OK(kjit_array_create(own, KJIT_F32, 1, SHAPE(8), 'C', memory, &a));
        OK(kjit_array_to_dlpack(a, &out));
        kjit_array_free(a);
        kjit_context_destroy(own);
        assert_int_equal(ended, 0);
        out->deleter(out);
        assert_int_equal(ended, 1);
    }
}

enum { TAKERS = 4 };

static pthread_barrier_t together;

static void *delete_one(void *tensor)
{
    versioned *t = tensor;
    pthread_barrier_wait(&together);
    t->deleter(t);
    return NULL;
}

/* The same on threads of their takers, all at once. */
static void test_deleted_by_threads(void **state)
{
    (void)state;
    const kjit_context_options options = {.cache = "off", .workers = 1};
    pthread_t threads[TAKERS];
    kjit_context *own;
    kjit_array *a;
    versioned *out[TAKERS];
    pthread_barrier_init(&together, NULL, TAKERS);
    for (int round = 0; round < 1000; round++) {
        OK(kjit_context_create(&options, &own, NULL, 0));
        for (int i = 0; i < TAKERS; i++) {
            OK(kjit_array_create(own, KJIT_F32, 1, SHAPE(8), 'C', KJIT_DEVICE, &a));
            OK(kjit_array_to_dlpack(a, &out[i]));
            kjit_array_free(a);
        }
        kjit_context_destroy(own);
        for (int i = 0; i < TAKERS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, delete_one, out[i]), 0);
        for (int i = 0; i < TAKERS; i++)
            pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&together);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_after_queued_work),
        cmocka_unit_test(test_in),
        cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_protected),
        cmocka_unit_test(test_refused_in),
        cmocka_unit_test(test_refused_out),
        cmocka_unit_test(test_outlives_context),
        cmocka_unit_test(test_deleted_by_threads),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
