/* Launches with host arrays, and whatever else touches elements, on a device whose memory the host
 * cannot read. That device is the CPU's behind addresses that fault: its memory is mapped twice, and
 * what is handed out is the mapping without rights. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch/launch.h"

extern const kj_device_ops kj_cpu_device;

enum { ROOM = 1 << 26, PAST_POISON = 0xdd };

static char *outside, *inside; /* the addresses handed out, and where the bytes are */
static size_t used;
static atomic_int live, loads, steps;
static int fail_at; /* which of the next steps fails; 0: none */
static atomic_llong moved[2][2];

static uintptr_t translate(uintptr_t address)
{
    uintptr_t at = address - (uintptr_t)outside;
    return at < ROOM ? (uintptr_t)inside + at : address;
}

static bool fails(void)
{
    return atomic_fetch_add(&steps, 1) + 1 == fail_at;
}

static kjit_status far_alloc(kj_device *dev, kj_chunk *chunk, kj_failure *why)
{
    (void)dev;
    size_t whole = (chunk->size + 255) / 256 * 256;
    if (fails()) /* for want of memory it would be tried again */
        return kj_because(why, KJIT_LOST, "planned: no allocation");
    if (used + whole > ROOM)
        return kj_because(why, KJIT_NO_MEMORY, "there is no more room");
    chunk->data = outside + used;
    chunk->device = (uintptr_t)chunk->data;
    chunk->queue = NULL;
    used += whole;
    atomic_fetch_add(&live, 1);
    return KJIT_OK;
}

static kjit_status far_release(kj_device *dev, const kj_chunk *chunk, kj_failure *why)
{
    (void)dev, (void)why;
    memset((void *)translate((uintptr_t)chunk->data), PAST_POISON, chunk->size);
    atomic_fetch_sub(&live, 1);
    return KJIT_OK;
}

static kjit_status far_copy(kj_device *dev, kj_queue *queue, const kj_transfer *transfer,
                            kj_work *work, kj_failure *why)
{
    kj_transfer t = *transfer;
    long long bytes = (long long)t.size;
    if (fails())
        return kj_because(why, KJIT_LOST, "planned: no copy");
    for (int i = 0; i < t.ndim; i++)
        bytes *= t.shape[i];
    atomic_fetch_add(&moved[t.src_memory][t.dst_memory], bytes);
    if (t.dst_memory == KJIT_DEVICE)
        t.dst = (char *)translate((uintptr_t)t.dst);
    if (t.src_memory == KJIT_DEVICE)
        t.src = (char *)translate((uintptr_t)t.src);
    return kj_cpu_device.copy(dev, queue, &t, work, why);
}

static kjit_status far_launch(kj_device *dev, kj_queue *queue, const kj_launch_call *call,
                              kj_work *work, kj_host_fault *fault, kj_failure *why)
{
    if (fails())
        return kj_because(why, KJIT_LOST, "planned: %s was not launched", call->what);
    size_t size = sizeof *call->values + call->nslots * sizeof call->values->slots[0];
    kj_launch_call there = *call;
    there.values = malloc(size);
    assert_non_null(there.values);
    memcpy(there.values, call->values, size);
    for (size_t i = 0; i < call->nslots; i++)
        there.values->slots[i] = translate(there.values->slots[i]);
    kjit_status status = kj_cpu_device.launch(dev, queue, &there, work, fault, why);
    free(there.values);
    return status;
}

static kjit_status far_load(kj_device *dev, const kj_code *code, kj_exec **out, kj_failure *why)
{
    atomic_fetch_add(&loads, 1);
    return kj_cpu_device.load(dev, code, out, why);
}

static kj_device_ops far_device;
static kjit_context *ctx;

#define OK(call) \
    do { \
        kjit_status status_ = (call); \
        if (status_ != KJIT_OK) \
            fail_msg("%s: %s: %s", #call, kjit_status_name(status_), kjit_last_error(ctx)); \
    } while (0)

/* All that was let go of has been released. */
static void expect_none(void)
{
    OK(kjit_deallocate_pending(ctx));
    assert_int_equal(atomic_load(&live), 0);
}

static int open_far(void **state)
{
    (void)state;
    int fd = memfd_create("far", 0);
    if (fd < 0 || ftruncate(fd, ROOM) != 0)
        return 1;
    outside = mmap(NULL, ROOM, PROT_NONE, MAP_SHARED, fd, 0);
    inside = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    far_device = kj_cpu_device;
    far_device.host_memory = false;
    far_device.variants = true;
    far_device.alloc = far_alloc;
    far_device.release = far_release;
    far_device.copy = far_copy;
    far_device.launch = far_launch;
    far_device.load = far_load;
    if (outside == MAP_FAILED || inside == MAP_FAILED ||
        kjit_context_create(&(kjit_context_options){.device = "cpu", .workers = 2}, &ctx, NULL,
                            0) != KJIT_OK)
        return 1;
    ctx->ops = &far_device;
    return 0;
}

static int close_far(void **state)
{
    (void)state;
    kjit_context_destroy(ctx);
    munmap(outside, ROOM);
    munmap(inside, ROOM);
    return atomic_load(&live) != 0;
}

static int reset(void **state)
{
    (void)state;
    if (kjit_deallocate_pending(ctx) != KJIT_OK)
        return 1;
    used = 0;
    fail_at = 0;
    atomic_store(&steps, 0);
    atomic_store(&loads, 0);
    memset((void *)moved, 0, sizeof moved);
    memset(inside, PAST_POISON, 1 << 20);
    return atomic_load(&live) != 0;
}

static const char source[] =
    "kernel copy(x: f32[], y: f32[]) {\n"
    "    let i = grid(1)\n"
    "    if i < y.size { y[i] = x[i] + 1.0 }\n"
    "}\n"
    "kernel bump(y: f32[]) {\n"
    "    let i = grid(1)\n"
    "    if i < y.size { y[i] += 1.0 }\n"
    "}\n"
    "kernel add(x: f32[,], y: f32[,], out: f32[,]) {\n"
    "    let i, j = grid(2)\n"
    "    if i < out.shape[0] and j < out.shape[1] { out[i, j] = x[i, j] + y[i, j] }\n"
    "}\n"
    "kernel fill(like: f32[], y: f32[]) {\n"
    "    let i = grid(1)\n"
    "    if i < like.size { y[i] = 7.0 }\n"
    "}\n";

static kjit_module *module(const char *text)
{
    kjit_module *mod;
    if (kjit_module_compile(ctx, "far.knl", text, strlen(text), NULL, &mod) != KJIT_OK)
        fail_msg("%s", kjit_module_log(mod));
    return mod;
}

static kjit_array *wrap(float *data, int ndim, const int64_t *shape, const int64_t *strides)
{
    kjit_array *a;
    OK(kjit_array_wrap(ctx, data, KJIT_F32, ndim, shape, strides, KJIT_HOST, &a));
    return a;
}

/* Every `step`th element from `first` on. */
static kjit_array *line(float *data, int64_t n, int64_t step)
{
    return wrap(data, 1, &n, (int64_t[]){step * (int64_t)sizeof *data});
}

/* Launches and frees the arrays at once. */
static kjit_status launch(kjit_module *mod, const char *name, kjit_stream *stream, int n,
                          kjit_array *const *arrays)
{
    kjit_arg args[4];
    for (int i = 0; i < n; i++)
        args[i] = kjit_arg_array(arrays[i]);
    kjit_config config = {.grid = {4}, .block = {64}, .stream = stream};
    if (arrays[0]->ndim == 2)
        config = (kjit_config){.grid = {2, 2}, .block = {8, 8}, .stream = stream};
    kjit_status status = kjit_launch(mod, name, &config, args, n);
    for (int i = 0; i < n; i++)
        kjit_array_free(arrays[i]);
    return status;
}

#define LAUNCH(mod, name, stream, ...) \
    launch(mod, name, stream, (int)(sizeof((kjit_array *[]){__VA_ARGS__}) / sizeof(kjit_array *)), \
           (kjit_array *[]){__VA_ARGS__})

static void number(float *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = (float)i;
}

/* What the kernel reads goes there; what it writes goes there and comes back. */
static void test_only_written_arrays_return(void **state)
{
    (void)state;
    float x[200], y[200];
    kjit_module *mod = module(source);
    number(x, 200);
    number(y, 200);
    OK(LAUNCH(mod, "copy", NULL, line(x, 200, 1), line(y, 200, 1)));
    for (int i = 0; i < 200; i++) {
        assert_true(x[i] == (float)i);
        assert_true(y[i] == (float)i + 1);
    }
    assert_int_equal(moved[KJIT_HOST][KJIT_DEVICE], sizeof x + sizeof y);
    assert_int_equal(moved[KJIT_DEVICE][KJIT_HOST], sizeof y);
    expect_none();
    OK(LAUNCH(mod, "fill", NULL, line(x, 150, 1), line(y, 200, 1))); /* only x's size is used */
    assert_true(y[149] == 7 && y[150] == 151);
    assert_int_equal(moved[KJIT_HOST][KJIT_DEVICE], sizeof x + 2 * sizeof y);
    kjit_module_free(mod);
}

/* In goes there only, Out comes back only; what is given as both, both. */
static void test_forced_ways(void **state)
{
    (void)state;
    float x[200], y[200];
    kjit_module *mod = module(source);
    number(x, 200);
    number(y, 200);
    kjit_array *a = line(x, 200, 1), *b = line(y, 200, 1);
    kjit_config config = {.grid = {4}, .block = {64}};
    OK(kjit_launch(mod, "copy", &config, (kjit_arg[]){kjit_arg_array(a), kjit_arg_out(b)}, 2));
    assert_true(y[0] == 1 && y[199] == 200);
    assert_int_equal(moved[KJIT_HOST][KJIT_DEVICE], sizeof x);
    assert_int_equal(moved[KJIT_DEVICE][KJIT_HOST], sizeof y);
    number(y, 200);
    OK(kjit_launch(mod, "copy", &config, (kjit_arg[]){kjit_arg_in(a), kjit_arg_in(b)}, 2));
    assert_true(y[0] == 0 && y[199] == 199);
    assert_int_equal(moved[KJIT_HOST][KJIT_DEVICE], 2 * sizeof x + sizeof y);
    assert_int_equal(moved[KJIT_DEVICE][KJIT_HOST], sizeof y);
    OK(kjit_launch(mod, "copy", &config, (kjit_arg[]){kjit_arg_in(a), kjit_arg_out(a)}, 2));
    assert_true(x[0] == 1 && x[199] == 200);
    expect_none();
    kjit_array_free(a);
    kjit_array_free(b);
    kjit_module_free(mod);
}

/* Views that share bytes, or stand between one another. */
static void test_overlapping_arrays(void **state)
{
    (void)state;
    float x[201];
    kjit_module *mod = module(source);
    number(x, 201);
    OK(LAUNCH(mod, "copy", NULL, line(x, 100, 2), line(x + 1, 100, 2)));
    for (int i = 0; i < 200; i++)
        assert_true(x[i] == (float)(i / 2 * 2 + i % 2));
    assert_true(x[200] == 200);
    number(x, 201);
    OK(LAUNCH(mod, "copy", NULL, line(x, 200, 1), line(x, 200, 1))); /* one view twice */
    assert_true(x[0] == 1 && x[199] == 200 && x[200] == 200);
    number(x, 201);
    OK(LAUNCH(mod, "copy", NULL, line(x + 200, 64, -1), line(x, 64, 1))); /* apart */
    assert_true(x[0] == 201 && x[63] == 138 && x[64] == 64);
    number(x, 201); /* the halves of one piece, then the piece */
    OK(LAUNCH(mod, "copy", NULL, line(x + 100, 101, 1), line(x, 101, 1)));
    assert_true(x[0] == 101 && x[99] == 200 && x[101] == 101);
    kjit_module_free(mod);
}

/* What lies between a view's elements is never written, not even with what was there. */
static void test_gaps_are_left_alone(void **state)
{
    (void)state;
    float x[16 * 32], y[16], one = 100, *gap;
    kjit_module *mod = module(source);
    number(x, 16 * 32);
    number(y, 16);
    const int64_t shape[] = {16, 16}, pitch[] = {32 * 4, 4}, rows[] = {0, 4}, none[] = {0, 0},
                  back[] = {-32 * 4, -4};
    OK(LAUNCH(mod, "add", NULL, wrap(y, 2, shape, rows), wrap(&one, 2, shape, none),
              wrap(x, 2, shape, pitch)));
    for (int i = 0; i < 16 * 32; i++)
        assert_true(x[i] == (i % 32 < 16 ? 100 + (float)(i % 32) : (float)i));
    assert_int_equal(moved[KJIT_HOST][KJIT_DEVICE], sizeof y + sizeof one + 16 * 16 * 4);
    assert_int_equal(moved[KJIT_DEVICE][KJIT_HOST], 16 * 16 * 4);
    OK(LAUNCH(mod, "add", NULL, wrap(&one, 2, shape, none), wrap(&one, 2, shape, none),
              wrap(x + 15 * 32 + 31, 2, shape, back)));
    for (int i = 0; i < 16 * 32; i++)
        assert_true(x[i] == (i % 32 < 16 ? 100 + (float)(i % 32) : 200));
    gap = mmap(NULL, 3 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(gap, MAP_FAILED);
    munmap((char *)gap + (1 << 20), 1 << 20); /* a hole between two elements */
    OK(LAUNCH(mod, "bump", NULL, line(gap, 2, 1 << 19)));
    assert_true(gap[0] == 1 && gap[1 << 19] == 1);
    munmap(gap, 1 << 20);
    munmap((char *)gap + (2 << 20), 1 << 20);
    kjit_module_free(mod);
}

/* The variants that are compiled: apart or not, aligned or not; host arrays as device arrays. */
static void test_variants(void **state)
{
    (void)state;
    _Alignas(16) float x[256];
    int64_t n = 64;
    kjit_array *d, *e;
    kjit_module *mod = module(source);
    number(x, 256);
    OK(LAUNCH(mod, "copy", NULL, line(x, 64, 1), line(x + 64, 64, 1)));
    assert_int_equal(atomic_load(&loads), 1);
    OK(LAUNCH(mod, "copy", NULL, line(x + 64, 64, 1), line(x + 128, 60, 1)));
    assert_int_equal(atomic_load(&loads), 1);
    OK(LAUNCH(mod, "copy", NULL, line(x, 64, 1), line(x, 64, 1)));
    assert_int_equal(atomic_load(&loads), 2); /* not apart */
    OK(LAUNCH(mod, "copy", NULL, line(x + 1, 60, 1), line(x + 64, 60, 1)));
    assert_int_equal(atomic_load(&loads), 3); /* not aligned */
    OK(LAUNCH(mod, "copy", NULL, line(x + 1, 0, 1), line(x + 1, 0, 1)));
    assert_int_equal(atomic_load(&loads), 3); /* empty: both */
    OK(kjit_array_create(ctx, KJIT_F32, 1, &n, 'C', KJIT_DEVICE, &d));
    OK(kjit_array_slice(d, (int64_t[]){1}, (int64_t[]){33}, NULL, &e));
    OK(LAUNCH(mod, "copy", NULL, line(x, 64, 1), d));
    assert_int_equal(atomic_load(&loads), 3); /* a host array and one of the device are apart */
    OK(LAUNCH(mod, "copy", NULL, line(x, 64, 1), e));
    assert_int_equal(atomic_load(&loads), 3);
    kjit_module_free(mod);
}

/* A stream: everything is queued, handles may go at once. */
static void test_in_a_stream(void **state)
{
    (void)state;
    enum { N = 200, ROUNDS = 50 };
    float x[N], y[N];
    kjit_stream *s;
    kjit_module *mod = module(source);
    number(x, N);
    OK(kjit_stream_create(ctx, &s));
    for (int i = 0; i < ROUNDS; i++) {
        OK(LAUNCH(mod, "copy", s, line(x, N, 1), line(y, N, 1)));
        OK(LAUNCH(mod, "copy", s, line(y, N, 1), line(x, N, 1)));
    }
    kjit_module_free(mod);
    OK(kjit_stream_synchronize(s));
    kjit_stream_free(s);
    for (int i = 0; i < N; i++)
        assert_true(x[i] == (float)(i + 2 * ROUNDS));
    expect_none();
}

/* Whichever step fails: a sentence, nothing left, and the next launch works. */
static void test_each_step_fails(void **state)
{
    (void)state;
    float x[200], y[200];
    kjit_stream *s;
    kjit_module *mod = module(source);
    number(x, 200);
    OK(kjit_stream_create(ctx, &s));
    for (int queued = 0; queued < 2; queued++) {
        kjit_status status = KJIT_INVALID;
        int n = 0;
        for (; status != KJIT_OK; n++) {
            assert_in_range(n, 0, 9);
            number(y, 200);
            atomic_store(&steps, 0);
            fail_at = n + 1;
            status = LAUNCH(mod, "copy", queued ? s : NULL, line(x, 200, 1), line(y, 200, 1));
            if (status != KJIT_OK)
                assert_non_null(strstr(kjit_last_error(ctx), "planned"));
            OK(kjit_stream_synchronize(s));
            expect_none();
            assert_true(y[5] == (status == KJIT_OK ? 6 : 5));
        }
        assert_int_equal(n, 7); /* two pieces, two copies, the launch, a copy back, success */
    }
    fail_at = 0;
    kjit_stream_free(s);
    kjit_module_free(mod);
}

/* The launch's message names the kernel and its line. */
static void test_failures_name_the_kernel(void **state)
{
    (void)state;
    kjit_array *d;
    kjit_module *mod = module(source);
    OK(kjit_array_create(ctx, KJIT_F32, 1, (int64_t[]){64}, 'C', KJIT_DEVICE, &d));
    atomic_store(&steps, 0);
    fail_at = 1;
    assert_int_equal(LAUNCH(mod, "bump", NULL, d), KJIT_LOST);
    assert_string_equal(kjit_last_error(ctx),
                        "planned: kernel 'bump' (far.knl:5) was not launched");
    fail_at = 0;
    kjit_module_free(mod);
}

/* A run block that reads and writes device arrays in every way there is. */
static const char block[] =
    "kernel bump(y: f32[,]) {\n"
    "    let i, j = grid(2)\n"
    "    if i < y.shape[0] and j < y.shape[1] { y[i, j] += 1.0 }\n"
    "}\n"
    "run {\n"
    "    let h = arange(12, dtype=f32)\n"
    "    let d = device_array((3, 4), f32)\n"
    "    let e = to_device(h)\n"
    "    d[:, :] = 1.0\n"
    "    d[1, 2] = 5\n"
    "    d[2, :] = e[4:8]\n"
    "    print(d, d[1, 2], d[:, ::-1][0, 0], e[-3:], d.sum(), e.max(), e.mean())\n"
    "    bump[(1, 1), (8, 8)](d)\n"
    "    bump[(1, 1), (8, 8)](d[:, 1:3])\n"
    "    print(d, (d, 1), str(e[:2]), (d[:, ::2]).all())\n"
    "    for v in e[:3] { print(v) }\n"
    "    for row in d { print(row[0], row) }\n"
    "    assert_close(d[0, 0], 2.0)\n"
    "    assert_close(e, h)\n"
    "    let back = zeros((3, 4))\n"
    "    copy(d[:, ::-1]).copy_to_host(back)\n"
    "    print(back, copy(e)[3], e.copy_to_host()[2])\n"
    "    var x, y = e, copy(e)\n"
    "    y[0:4] = d[0, :]\n"
    "    y[4:12] = y[3:11]\n"
    "    swap(x, y)\n"
    "    e.copy_to_device(h[::-1])\n"
    "    print(x, y, e.min())\n"
    "}\n";

static void collect(void *user, const char *text, size_t size)
{
    kj_text_add(user, text, size);
}

static kj_text output_of(kjit_context *on)
{
    kj_text text = {0};
    kjit_module *mod;
    kjit_run_options options = {.write = collect, .user = &text};
    if (kjit_module_compile(on, "far.knl", block, strlen(block), NULL, &mod) != KJIT_OK)
        fail_msg("%s", kjit_module_log(mod));
    if (kjit_run(mod, &options) != KJIT_OK)
        fail_msg("%s", kjit_last_error(on));
    kjit_module_free(mod);
    return text;
}

static void test_run_blocks_print_the_same(void **state)
{
    (void)state;
    kjit_context *near;
    assert_int_equal(kjit_context_create(&(kjit_context_options){.device = "cpu"}, &near, NULL, 0),
                     KJIT_OK);
    kj_text expected = output_of(near), text = output_of(ctx);
    assert_string_equal(text.data, expected.data);
    kj_text_free(&expected);
    kj_text_free(&text);
    kjit_context_destroy(near);
    expect_none();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_only_written_arrays_return, reset),
        cmocka_unit_test_setup(test_forced_ways, reset),
        cmocka_unit_test_setup(test_overlapping_arrays, reset),
        cmocka_unit_test_setup(test_gaps_are_left_alone, reset),
        cmocka_unit_test_setup(test_variants, reset),
        cmocka_unit_test_setup(test_in_a_stream, reset),
        cmocka_unit_test_setup(test_each_step_fails, reset),
        cmocka_unit_test_setup(test_failures_name_the_kernel, reset),
        cmocka_unit_test_setup(test_run_blocks_print_the_same, reset),
    };
    return cmocka_run_group_tests(tests, open_far, close_far);
}
