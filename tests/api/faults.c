/* Faults as values (kjit_last_fault): each kind beside its sentence, from launches, streams, graphs and run blocks, and
 * how long they are there. */
#include <pthread.h>

#include "api.h"

static const char source[] =
    "fn at(x: f32[,], i: i64, j: i64) -> f32 { return x[i, j] }\n"
    "kernel bounds(x: f32[,], n: i64) { if grid(1) == 37 { x[0, 0] = at(x, 1, n) } }\n"
    "kernel wide(x: f32[], n: u64) { x[n] = 1 }\n"
    "kernel check(x: f32[], most: f32) { assert(x[grid(1)] <= most, \"too large\") }\n"
    "kernel race(x: f32[]) { let i = grid(1); x[i] = x[0] }\n"
    "kernel unset(out: f32[]) { let s = shared.array(64, f32); out[threadIdx.x] = s[threadIdx.x] "
    "}\n"
    "kernel apart(x: f32[]) { if threadIdx.x < 3 or blockIdx.x == 0 { syncthreads() }; x[0] = 1 }\n"
    "kernel lane(x: f32[]) { x[grid(1)] = shfl_sync(0xffffffdf, x[grid(1)], 0) }\n"
    "kernel nan(x: f32[], y: f32[]) { x[grid(1)] = x[grid(1)] / y[grid(1)] }\n"
    "kernel wraps(x: f32[], n: i32) { let i = i32(grid(1)) * n; if i >= 0 and i < 2 { x[i] = 0 } "
    "}\n"
    "kernel shaped(x: f32[], n: i32) { x[0] = x.reshape(n, -1)[1, 0] }\n"
    "kernel child(x: f32[], at: i64) { requires x.size > 4; x[at + threadIdx.x] = 1 }\n"
    "kernel parent(x: f32[], n: i64, at: i64) { if grid(1) == 0 { launch child[(1, n), 1](x, at) } "
    "}\n"
    "kernel meets(x: f32[]) { if blockIdx.x == 0 { syncthreads() } elif threadIdx.x < 2 { "
    "syncthreads() } }\n"
    "kernel leads(x: f32[]) { launch meets[2, 4](x) }\n"
    "kernel grids(a: i32[]) {\n"
    "    while blockIdx.x == 1 and atomic.add(a, 1, 0) == 0 { }\n"
    "    threadfence()\n"
    "    let seen = a[0]\n"
    "    a[0] = 1\n"
    "    threadfence()\n"
    "    atomic.add(a, 1, 1)\n"
    "    if seen == 0 { grid_sync() }\n"
    "}\n"
    "kernel turns(x: i32[]) { while x[0] < 1000 { x[1] = 1 } }\n"
    "run {\n"
    "    param n = 5\n"
    "    bounds[2, 32](zeros((4, 5), f32), n)\n"
    "    let s = stream()\n"
    "    check[1, 4, s](ones(4, f32), 0)\n"
    "    s.synchronize()\n"
    "}\n";

static kjit_module *mod;

static int set_up(void **state)
{
    if (make_context(state) != 0)
        return 1;
    mod = module(source);
    return 0;
}

static int tear_down(void **state)
{
    kjit_module_free(mod);
    return drop_context(state);
}

/* ---- What a fault is expected to be ---- */

static kjit_fault last(void)
{
    kjit_fault f = {.size = sizeof f};
    if (!kjit_last_fault(ctx, &f))
        fail_msg("this is no fault: %s", kjit_last_error(ctx));
    assert_int_equal(f.size, sizeof f);
    assert_string_equal(f.text, kjit_last_error(ctx));
    assert_non_null(strstr(f.text, f.message));
    assert_string_equal(f.file, "test.knl");
    return f;
}

static void no_fault(void)
{
    kjit_fault f = {.size = sizeof f, .line = 77};
    assert_int_equal(kjit_last_fault(ctx, &f), 0);
    assert_int_equal(f.line, 77);
}

static void is_at(const kjit_fault *f, int line, int column, int end_column)
{
    assert_int_equal(f->line, line);
    assert_int_equal(f->column, column);
    assert_int_equal(f->end_line, line);
    assert_int_equal(f->end_column, end_column);
}

static void is_of(const int64_t at[3], int64_t x, int64_t y, int64_t z)
{
    assert_true(at[0] == x && at[1] == y && at[2] == z);
}

#define NOWHERE -1, -1, -1

static kjit_status start(kjit_module *m, const char *kernel, int64_t grid, int64_t block,
                         kjit_stream *s, const kjit_arg *args, int n)
{
    kjit_config config = {.grid = {grid}, .block = {block}, .stream = s};
    return kjit_launch(m, kernel, &config, args, n);
}

#define ARGS(...) \
    (const kjit_arg[]){__VA_ARGS__}, \
        (int)(sizeof((const kjit_arg[]){__VA_ARGS__}) / sizeof(kjit_arg))

static kjit_array *zeros(int n)
{
    kjit_array *a = create(KJIT_F32, 1, SHAPE(n), 'C');
    memset(kjit_array_data(a), 0, (size_t)n * sizeof(float));
    return a;
}

/* Of the same source, with checks. */
static kjit_module *checked(unsigned checks)
{
    kjit_module *m;
    OK(kjit_module_compile(ctx, "test.knl", source, strlen(source),
                           &(kjit_compile_options){.check = checks}, &m));
    return m;
}

/* ---- Kinds ---- */

static void is_out_of_bounds(const kjit_fault *f)
{
    assert_int_equal(f->kind, KJIT_FAULT_BOUNDS);
    assert_int_equal(f->status, KJIT_FAULT);
    assert_string_equal(f->kernel, "bounds");
    assert_string_equal(f->array, "x");
    is_at(f, 1, 55, 56);
    is_of(f->block, 1, 0, 0);
    is_of(f->thread, 5, 0, 0);
    assert_true(f->axis == 1 && f->index == 5 && f->extent == 5 && !f->index_unsigned);
    is_of(f->other_block, NOWHERE);
    assert_null(f->other_file);
    assert_null(f->hint);
    assert_string_equal(f->message, "index 5 is outside of 'x', whose axis 1 has 5 elements "
                                    "(block (1, 0, 0), thread (5, 0, 0))");
}

static kjit_status start_bounds(kjit_stream *s, kjit_array *a, int64_t n)
{
    return start(mod, "bounds", 2, 32, s, ARGS(kjit_arg_array(a), kjit_arg_i64(n)));
}

static void test_bounds(void **state)
{
    (void)state;
    kjit_array *a = create(KJIT_F32, 2, SHAPE(4, 5), 'C'), *b = zeros(3);
    assert_int_equal(start_bounds(NULL, a, 5), KJIT_FAULT);
    kjit_fault f = last();
    is_out_of_bounds(&f);
    assert_int_equal(start_bounds(NULL, a, -2), KJIT_FAULT);
    assert_int_equal(last().index, -2);
    kjit_arg large = kjit_arg_value(KJIT_U64, &(uint64_t){UINT64_MAX - 1});
    assert_int_equal(start(mod, "wide", 1, 1, NULL, ARGS(kjit_arg_array(b), large)), KJIT_FAULT);
    f = last();
    assert_true(f.axis == 0 && f.index == -2 && f.index_unsigned && f.extent == 3);
    kjit_array_free(a);
    kjit_array_free(b);
}

static void test_assert(void **state)
{
    (void)state;
    kjit_array *a = zeros(64);
    ((float *)kjit_array_data(a))[40] = 9;
    ((float *)kjit_array_data(a))[44] = 9;
    kjit_arg args[] = {kjit_arg_array(a), kjit_arg_f64(5)};
    assert_int_equal(start(mod, "check", 2, 32, NULL, args, 2), KJIT_FAULT);
    kjit_fault f = last();
    assert_int_equal(f.kind, KJIT_FAULT_ASSERT);
    assert_string_equal(f.kernel, "check");
    assert_null(f.array);
    assert_int_equal(f.axis, -1);
    is_at(&f, 4, 44, 62);
    is_of(f.block, 1, 0, 0);
    is_of(f.thread, 8, 0, 0);
    assert_non_null(strstr(f.message, "too large (x[grid(1)] is 9"));
    kjit_array_free(a);
}

static void test_race(void **state)
{
    (void)state;
    if (!on_cpu())
        SKIP("a CPU finds them");
    kjit_module *m = checked(KJIT_CHECK_RACE | KJIT_CHECK_INIT);
    kjit_array *a = zeros(64);
    assert_int_equal(start(m, "race", 2, 32, NULL, ARGS(kjit_arg_array(a))), KJIT_FAULT);
    kjit_fault f = last();
    assert_int_equal(f.kind, KJIT_FAULT_RACE);
    assert_string_equal(f.array, "x");
    assert_string_equal(f.other_file, "test.knl");
    assert_int_equal(f.other_line, 5);
    assert_true(f.access != f.other_access && f.access && f.other_access);
    assert_true(memcmp(f.thread, f.other_thread, sizeof f.thread) ||
                memcmp(f.block, f.other_block, sizeof f.block));
    bool writes = f.access == KJIT_ACCESS_WRITE;
    assert_int_equal(writes ? f.other_access : f.access, KJIT_ACCESS_READ);
    assert_int_equal(writes ? f.column : f.other_column, 42);
    assert_int_equal(writes ? f.other_column : f.column, 49);
    assert_non_null(f.hint);
    assert_non_null(strstr(f.text, f.hint));
    assert_int_equal(start(m, "unset", 1, 64, NULL, ARGS(kjit_arg_array(a))), KJIT_FAULT);
    f = last();
    assert_int_equal(f.kind, KJIT_FAULT_INIT);
    assert_string_equal(f.array, "s");
    assert_int_equal(f.access, KJIT_ACCESS_READ);
    assert_int_equal(f.other_access, KJIT_ACCESS_NONE);
    is_of(f.thread, 0, 0, 0);
    is_of(f.other_thread, NOWHERE);
    kjit_array_free(a);
    kjit_module_free(m);
}

static void test_barriers(void **state)
{
    (void)state;
    if (!on_cpu())
        SKIP("a CPU finds them");
    kjit_array *a = zeros(64), *two;
    assert_int_equal(start(mod, "apart", 3, 32, NULL, ARGS(kjit_arg_array(a))), KJIT_FAULT);
    kjit_fault f = last();
    assert_int_equal(f.kind, KJIT_FAULT_BARRIER);
    is_at(&f, 7, 66, 79);
    is_of(f.block, 1, 0, 0);
    is_of(f.thread, NOWHERE);
    assert_true(f.arrived == 3 && f.expected == 32);
    assert_int_equal(start(mod, "leads", 1, 1, NULL, ARGS(kjit_arg_array(a))), KJIT_FAULT);
    f = last();
    assert_int_equal(f.kind, KJIT_FAULT_BARRIER);
    assert_string_equal(f.kernel, "meets");
    is_of(f.block, 1, 0, 0);
    assert_true(f.arrived == 2 && f.expected == 4);
    two = create(KJIT_I32, 1, SHAPE(2), 'C');
    memset(kjit_array_data(two), 0, 8);
    assert_int_equal(start(mod, "grids", 2, 1, NULL, ARGS(kjit_arg_array(two))), KJIT_FAULT);
    f = last();
    assert_int_equal(f.kind, KJIT_FAULT_GRID_BARRIER);
    assert_true(f.arrived == 1 && f.expected == 2);
    is_of(f.block, NOWHERE);
    kjit_array_free(two);
    kjit_array_free(a);
}

static void test_values(void **state)
{
    (void)state;
    kjit_module *m = checked(KJIT_CHECK_WARP | KJIT_CHECK_NAN | KJIT_CHECK_INDEX);
    kjit_array *a = zeros(32), *b = zeros(32);
    assert_int_equal(start(m, "lane", 1, 32, NULL, ARGS(kjit_arg_array(a))), KJIT_FAULT);
    kjit_fault f = last();
    assert_int_equal(f.kind, KJIT_FAULT_WARP);
    is_of(f.thread, 5, 0, 0);
    kjit_arg args[] = {kjit_arg_array(a), kjit_arg_array(b)};
    assert_int_equal(start(m, "nan", 1, 32, NULL, args, 2), KJIT_FAULT);
    f = last();
    assert_int_equal(f.kind, KJIT_FAULT_NAN);
    is_of(f.thread, 0, 0, 0);
    is_at(&f, 9, 47, 70);
    args[1] = kjit_arg_i64(1000000000);
    assert_int_equal(start(m, "wraps", 1, 32, NULL, args, 2), KJIT_FAULT);
    f = last();
    assert_int_equal(f.kind, KJIT_FAULT_INDEX);
    is_of(f.thread, 3, 0, 0);
    args[1] = kjit_arg_i64(5);
    assert_int_equal(start(mod, "shaped", 1, 1, NULL, args, 2), KJIT_FAULT);
    assert_int_equal(last().kind, KJIT_FAULT_SHAPE);
    kjit_array_free(a);
    kjit_array_free(b);
    kjit_module_free(m);
}

static kjit_status start_parent(kjit_array *a, int64_t n, int64_t at)
{
    return start(mod, "parent", 1, 8, NULL,
                 ARGS(kjit_arg_array(a), kjit_arg_i64(n), kjit_arg_i64(at)));
}

static void test_launched(void **state)
{
    (void)state;
    kjit_array *a = zeros(8), *few = zeros(3);
    assert_int_equal(start_parent(a, 3, 8), KJIT_FAULT);
    kjit_fault f = last();
    assert_int_equal(f.kind, KJIT_FAULT_BOUNDS);
    assert_string_equal(f.kernel, "child");
    assert_int_equal(f.line, 12);
    assert_int_equal(start_parent(few, 1, 0), KJIT_FAULT);
    f = last();
    assert_int_equal(f.kind, KJIT_FAULT_REQUIRES);
    assert_string_equal(f.kernel, "child");
    is_at(&f, 12, 44, 54);
    assert_int_equal(start_parent(a, 70000, 0), KJIT_FAULT);
    f = last();
    assert_int_equal(f.kind, KJIT_FAULT_LAUNCH);
    assert_string_equal(f.kernel, "parent");
    assert_int_equal(f.line, 13);
    kjit_array_free(a);
    kjit_array_free(few);
}

/* ---- Who is told ---- */

static void test_streams(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_graph *g;
    kjit_array *a;
    OK(kjit_array_create(ctx, KJIT_F32, 2, SHAPE(4, 5), 'C', KJIT_DEVICE, &a));
    FAILS(kjit_copy(a, NULL, NULL), KJIT_INVALID, "src is NULL");
    OK(kjit_stream_create(ctx, &s));
    OK(start_bounds(s, a, 5));
    OK(start_bounds(s, a, 6));
    no_fault();
    assert_int_equal(kjit_stream_synchronize(s), KJIT_FAULT);
    kjit_fault f = last();
    is_out_of_bounds(&f);
    OK(kjit_stream_synchronize(s));
    OK(kjit_graph_begin(s));
    OK(start_bounds(s, a, 1));
    OK(start_bounds(s, a, 5));
    OK(start_bounds(s, a, 6));
    OK(kjit_graph_end(s, &g));
    assert_int_equal(kjit_graph_launch(g, NULL), KJIT_FAULT);
    f = last();
    is_out_of_bounds(&f);
    OK(kjit_graph_launch(g, s));
    assert_int_equal(kjit_stream_synchronize(s), KJIT_FAULT);
    f = last();
    is_out_of_bounds(&f);
    OK(start_bounds(s, a, 5));
    kjit_stream_free(s);
    FAILS(kjit_copy(a, NULL, NULL), KJIT_INVALID, "src is NULL");
    assert_int_equal(kjit_synchronize(ctx), KJIT_FAULT);
    f = last();
    is_out_of_bounds(&f);
    OK(kjit_stream_create(ctx, &s));
    OK(start_bounds(s, a, 5)); /* nobody asks */
    kjit_stream_free(s);
    kjit_graph_free(g);
    kjit_array_free(a);
}

static void test_run(void **state)
{
    (void)state;
    const char *params[] = {"n=5"};
    assert_int_equal(kjit_run(mod, &(kjit_run_options){.params = params, .nparams = 1}),
                     KJIT_FAULT);
    kjit_fault f = last();
    is_out_of_bounds(&f);
    assert_non_null(strstr(f.text, "note: launched here"));
    assert_int_equal(kjit_run(mod, &(kjit_run_options){.params = params, .nparams = 1, .json = 1}),
                     KJIT_FAULT);
    f = (kjit_fault){.size = sizeof f};
    assert_int_equal(kjit_last_fault(ctx, &f), 1);
    is_out_of_bounds(&f);
    assert_int_equal(f.text[0], '{');
    params[0] = "n=4";
    assert_int_equal(kjit_run(mod, &(kjit_run_options){.params = params, .nparams = 1}),
                     KJIT_FAULT);
    f = last();
    assert_int_equal(f.kind, KJIT_FAULT_ASSERT);
    params[0] = "m=4";
    assert_int_equal(kjit_run(mod, &(kjit_run_options){.params = params, .nparams = 1}),
                     KJIT_INVALID);
    no_fault();
}

static void test_halted(void **state)
{
    (void)state;
    kjit_context *own;
    kjit_module *m;
    kjit_array *a;
    OK(kjit_context_create(&(kjit_context_options){.cancellable = 1}, &own, NULL, 0));
    OK(kjit_module_compile(own, "test.knl", source, strlen(source), NULL, &m));
    OK(kjit_array_create(own, KJIT_I32, 1, SHAPE(64), 'C', KJIT_HOST, &a));
    memset(kjit_array_data(a), 0, 256);
    kjit_fault f = {.size = sizeof f};
    for (double ms = 30; f.block[0] != 0 || f.line == 0; ms *= 4) { /* until it has begun */
        kjit_config config = {.grid = {1}, .block = {32}, .timeout_ms = ms};
        kjit_arg arg = kjit_arg_array(a);
        assert_int_equal(kjit_launch(m, "turns", &config, &arg, 1), KJIT_TIMEOUT);
        assert_int_equal(kjit_last_fault(own, &f), 1);
        assert_int_equal(f.kind, KJIT_FAULT_TIMEOUT);
        assert_int_equal(f.status, KJIT_TIMEOUT);
        assert_string_equal(f.kernel, "turns");
        assert_string_equal(f.text, kjit_last_error(own));
        is_of(f.thread, NOWHERE);
        assert_true(ms < 20000);
    }
    is_at(&f, 25, 26, 31);
    kjit_stream *s;
    OK(kjit_stream_create(own, &s));
    kjit_arg arg = kjit_arg_array(a);
    OK(kjit_launch(m, "turns", &(kjit_config){.grid = {1}, .block = {32}, .stream = s}, &arg, 1));
    OK(kjit_cancel(own));
    assert_int_equal(kjit_stream_synchronize(s), KJIT_CANCELLED);
    assert_int_equal(kjit_last_fault(own, &f), 1);
    assert_int_equal(f.kind, KJIT_FAULT_CANCELLED);
    assert_int_equal(f.status, KJIT_CANCELLED);
    kjit_stream_free(s);
    kjit_array_free(a);
    kjit_module_free(m);
    kjit_context_destroy(own);
}

/* ---- Sizes, threads, lifetimes ---- */

static void test_sizes(void **state)
{
    (void)state;
    struct {
        kjit_fault f;
        char later[16], behind[16];
    } out;
    kjit_array *a = create(KJIT_F32, 2, SHAPE(4, 5), 'C');
    assert_int_equal(start_bounds(NULL, a, 5), KJIT_FAULT);
    assert_int_equal(kjit_last_fault(ctx, NULL), 0);
    memset(&out, 7, sizeof out);
    out.f.size = 0;
    assert_int_equal(kjit_last_fault(ctx, &out.f), 0);
    out.f.size = offsetof(kjit_fault, line); /* one that knew no more */
    assert_int_equal(kjit_last_fault(ctx, &out.f), 1);
    assert_int_equal(out.f.kind, KJIT_FAULT_BOUNDS);
    assert_string_equal(out.f.kernel, "bounds");
    assert_int_equal(out.f.size, offsetof(kjit_fault, line));
    assert_int_equal(out.f.line, 0x07070707);
    memset(&out, 7, sizeof out);
    out.f.size = offsetof(__typeof__(out), behind); /* one that knows more */
    assert_int_equal(kjit_last_fault(ctx, &out.f), 1);
    is_out_of_bounds(&out.f);
    for (int i = 0; i < 16; i++)
        assert_true(out.later[i] == 0 && out.behind[i] == 7);
    FAILS(start_bounds(NULL, NULL, 5), KJIT_INVALID, "");
    no_fault();
    OK(kjit_synchronize(ctx));
    no_fault();
    assert_string_equal(kjit_fault_kind_name(KJIT_FAULT_BOUNDS), "KJIT_FAULT_BOUNDS");
    assert_string_equal(kjit_fault_kind_name(KJIT_FAULT_TIMEOUT), "KJIT_FAULT_TIMEOUT");
    assert_null(kjit_fault_kind_name((kjit_fault_kind)0));
    kjit_array_free(a);
}

static void *ask(void *user)
{
    kjit_array *a = user;
    no_fault();
    assert_int_equal(start_bounds(NULL, a, 7), KJIT_FAULT);
    assert_int_equal(last().index, 7);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t thread;
    kjit_context *other;
    kjit_array *a = create(KJIT_F32, 2, SHAPE(4, 5), 'C');
    assert_int_equal(start_bounds(NULL, a, 5), KJIT_FAULT);
    assert_int_equal(pthread_create(&thread, NULL, ask, a), 0);
    pthread_join(thread, NULL);
    kjit_fault f = last(); /* its own, and nobody else's */
    is_out_of_bounds(&f);
    OK(kjit_context_create(NULL, &other, NULL, 0));
    f.kind = (kjit_fault_kind)99;
    assert_int_equal(kjit_last_fault(other, &f), 0);
    assert_int_equal(f.kind, 99);
    assert_int_equal(kjit_last_fault(NULL, &f), 1); /* of all contexts */
    is_out_of_bounds(&f);
    kjit_context_destroy(other);
    kjit_array_free(a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_bounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_assert, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_race, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_barriers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_launched, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_streams, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_halted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sizes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_threads, set_up, tear_down),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
