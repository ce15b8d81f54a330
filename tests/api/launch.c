/* Launches: what arguments become, every way they can be wrong, limits, layouts, faults,
 * modules. */
#include "api.h"

#include <math.h>

#define CONFIG(g, b) (&(kjit_config){.grid = {g}, .block = {b}})
#define ARGS(...) \
    (kjit_arg[]){__VA_ARGS__}, (int)(sizeof((kjit_arg[]){__VA_ARGS__}) / sizeof(kjit_arg))
#define A kjit_arg_array
#define I kjit_arg_i64
#define F kjit_arg_f64
#define B kjit_arg_bool
#define NAMED kjit_arg_named

static const char source[] =
    "kernel add(x: i32[], n: i32) { let i = grid(1); if i < x.size { x[i] += n } }\n"
    "kernel axpy<T: float>(a: T, x: T[], y: T[]) {\n"
    "    requires x.shape == y.shape\n"
    "    let i = grid(1)\n"
    "    if i < x.size { y[i] += a * x[i] }\n"
    "}\n"
    "kernel fill<T>(x: T[], v: T) { let i = grid(1); if i < x.size { x[i] = v } }\n"
    "kernel put<T: number>(out: f64[], v: T, w: T) { if grid(1) == 0 { out[0] = f64(v); out[1] = "
    "f64(w) } }\n"
    "kernel consts(out: i32[], const N: i32 = 4, const M: i32) { if grid(1) == 0 { out[0] = N; "
    "out[1] = M } }\n"
    "kernel kinds(out: i64[], a: i8, b: u8, c: u32, d: i64, e: u64, f: bool) {\n"
    "    if grid(1) == 0 { out[0] = i64(a); out[1] = i64(b); out[2] = i64(c); out[3] = d; out[4] = "
    "i64(e);\n"
    "        out[5] = i64(f) }\n"
    "}\n"
    "kernel code2(a: i32[,]) { let x, y = grid(2)\n"
    "    if y < a.shape[0] and x < a.shape[1] { a[y, x] = i32(y * 100 + x) } }\n"
    "kernel shape(out: i64[], a: f32[,,]) { if grid(1) == 0 { out[0] = a.size; out[1] = a.shape[0] "
    "} }\n"
    "kernel dims(out: i64[]) { if grid(1) == 0 { out[0] = blockDim.x; out[1] = blockDim.y; out[2] "
    "= blockDim.z\n"
    "    out[3] = gridDim.x; out[4] = gridDim.y; out[5] = gridDim.z } }\n"
    "kernel where(out: i32[,,]) { let x, y, z = grid(3); out[z, y, x] += 1 }\n"
    "@launch_bounds(64) kernel small(x: i32[]) { x[0] = 1 }\n"
    "kernel shared_n(x: i32[], n: i64) { let t = shared.array(n, i32)\n"
    "    t[threadIdx.x] = i32(threadIdx.x); syncthreads(); x[threadIdx.x] = t[n - 1 - threadIdx.x] "
    "}\n"
    "kernel meet(x: i32[], n: i64) { let t = shared.array(n, i32); t[0] = 0\n"
    "    atomic.add(x, 0, 1); grid_sync(); x[1 + grid(1)] = x[0] + t[0] }\n"
    "kernel diverge(x: i32[]) {\n"
    "    if threadIdx.x < 17 {\n"
    "        syncthreads()\n"
    "    }\n"
    "    x[threadIdx.x] = 1\n"
    "}\n"
    "kernel sized(x: i32[], const N: i32) { requires x.size == N * blockDim.x and N > 2\n"
    "    x[grid(1)] = N }\n"
    "kernel parts(x: f32[], y: f32[], alpha: f32) {\n"
    "    requires (0 < y.size < 65 and x.shape == y.shape and\n"
    "        (y.size >= 4 or alpha > 2) and alpha < 9)\n"
    "    y[0] = alpha * x[0]\n"
    "}\n"
    "kernel together(a: f32[], b: f64[]) { let i = grid(1); if i < b.size { b[i] += f64(a[0]) } "
    "}\n";

static kjit_module *mod;
static int32_t ints[64];
static float floats[64];
static double doubles[64];
static int64_t longs[64];
static kjit_array *i32s, *f32s, *f64s, *i64s;

static int set_up(void **state)
{
    if (make_context(state) != 0)
        return 1;
    mod = module(source);
    i32s = wrap(ints, KJIT_I32, 1, SHAPE(64));
    f32s = wrap(floats, KJIT_F32, 1, SHAPE(64));
    f64s = wrap(doubles, KJIT_F64, 1, SHAPE(64));
    i64s = wrap(longs, KJIT_I64, 1, SHAPE(64));
    return 0;
}

static int tear_down(void **state)
{
    kjit_array_free(i32s);
    kjit_array_free(f32s);
    kjit_array_free(f64s);
    kjit_array_free(i64s);
    kjit_module_free(mod);
    return drop_context(state);
}

/* Numbers above the greatest i64. */
static void test_unsigned(void **state)
{
    (void)state;
    uint64_t out[2] = {0};
    kjit_array *u64s = wrap(out, KJIT_U64, 1, SHAPE(2));
    kjit_arg most = kjit_arg_u64(UINT64_MAX), few = kjit_arg_u64(7);
    OK(kjit_launch(mod, "fill", CONFIG(1, 2), ARGS(A(u64s), most)));
    assert_true(out[0] == UINT64_MAX && out[1] == UINT64_MAX);
    OK(kjit_launch(mod, "fill", CONFIG(1, 64), ARGS(A(i64s), few)));
    assert_int_equal(longs[63], 7);
    OK(kjit_launch(mod, "fill", CONFIG(1, 64), ARGS(A(f64s), most)));
    assert_true(doubles[0] == 0x1p64);
    FAILS(kjit_launch(mod, "fill", CONFIG(1, 64), ARGS(A(i64s), most)), KJIT_TYPE,
          "18446744073709551615 does not fit");
    FAILS(kjit_launch(mod, "fill", CONFIG(1, 2), ARGS(A(u64s), I(-1))), KJIT_TYPE,
          "-1 does not fit");
    kjit_array_free(u64s);
}

static void test_numbers(void **state)
{
    (void)state;
    OK(kjit_launch(
        mod, "kinds", CONFIG(1, 1),
        ARGS(A(i64s), I(-128), I(255), I(4294967295), I(INT64_MIN), I(INT64_MAX), B(7))));
    assert_memory_equal(longs, ((int64_t[]){-128, 255, 4294967295, INT64_MIN, INT64_MAX, 1}), 48);
    OK(kjit_launch(mod, "fill", CONFIG(1, 64), ARGS(A(f32s), F(0.1))));
    assert_true(floats[63] == 0.1f);
    OK(kjit_launch(mod, "fill", CONFIG(1, 64), ARGS(A(f32s), I(3))));
    assert_true(floats[0] == 3.0f);
    OK(kjit_launch(mod, "fill", CONFIG(1, 64), ARGS(A(f64s), F(INFINITY))));
    assert_true(isinf(doubles[5]));
    OK(kjit_launch(mod, "fill", CONFIG(1, 64), ARGS(A(f32s), F(NAN))));
    assert_true(isnan(floats[5]));
    /* a type that only numbers give */
    OK(kjit_launch(mod, "put", CONFIG(1, 1), ARGS(A(f64s), I(3), F(0.1))));
    assert_true(doubles[0] == 3.0 && doubles[1] == (double)0.1f);
    OK(kjit_launch(mod, "put", CONFIG(1, 1), ARGS(A(f64s), I(3), I((int64_t)1 << 40))));
    assert_true(doubles[1] == 1099511627776.0);
}

static void test_names(void **state)
{
    (void)state;
    OK(kjit_launch(mod, "consts", CONFIG(1, 1), ARGS(A(i32s), NAMED("M", I(9)))));
    assert_memory_equal(ints, ((int32_t[]){4, 9}), 8);
    OK(kjit_launch(mod, "consts", CONFIG(1, 1),
                   ARGS(NAMED("M", I(1)), NAMED("N", I(2)), NAMED("out", A(i32s)))));
    assert_memory_equal(ints, ((int32_t[]){2, 1}), 8);
    OK(kjit_launch(mod, "consts", CONFIG(1, 1), ARGS(A(i32s), I(5), I(6))));
    assert_memory_equal(ints, ((int32_t[]){5, 6}), 8);
}

static void test_wrong_arguments(void **state)
{
    (void)state;
    FAILS(kjit_launch(mod, "ad", CONFIG(1, 1), NULL, 0), KJIT_NOT_FOUND, "did you mean 'add'");
    FAILS(kjit_launch(mod, "add", CONFIG(1, 1), ARGS(A(i32s))), KJIT_LAUNCH,
          "'n' (i32) was not given: there is 1 argument for 2 parameters");
    FAILS(kjit_launch(mod, "add", CONFIG(1, 1), NULL, 0), KJIT_LAUNCH,
          "'x' (i32[]) was not given: there are 0 arguments for 2 parameters");
    FAILS(kjit_launch(mod, "add", CONFIG(1, 1), ARGS(A(i32s), I(1), I(2))), KJIT_LAUNCH,
          "3 arguments were given");
    FAILS(kjit_launch(mod, "add", CONFIG(1, 1), ARGS(A(i32s), NAMED("m", I(1)))), KJIT_LAUNCH,
          "no parameter 'm'");
    FAILS(kjit_launch(mod, "parts", CONFIG(1, 1), ARGS(NAMED("alfa", F(1)))), KJIT_LAUNCH,
          "there is no parameter 'alfa'; did you mean 'alpha'?");
    FAILS(kjit_launch(mod, "add", CONFIG(1, 1), ARGS(A(i32s), NAMED("x", A(i32s)))), KJIT_LAUNCH,
          "given twice");
    FAILS(kjit_launch(mod, "consts", CONFIG(1, 1), ARGS(A(i32s))), KJIT_LAUNCH,
          "const parameter 'M'");
    FAILS(kjit_launch(mod, "add", CONFIG(1, 1), ARGS(I(1), I(1))), KJIT_TYPE,
          "'x' takes i32[], not the integer 1");
    FAILS(kjit_launch(mod, "add", CONFIG(1, 1), ARGS(A(i32s), A(i32s))), KJIT_TYPE,
          "'n' takes i32, not an array");
    FAILS(kjit_launch(mod, "add", CONFIG(1, 1), ARGS(A(f32s), I(1))), KJIT_TYPE,
          "not an array of f32, shape (64,)");
    FAILS(kjit_launch(mod, "add", CONFIG(1, 1), ARGS(A(NULL), I(1))), KJIT_INVALID, "NULL");
    FAILS(kjit_launch(mod, "add", CONFIG(1, 1), ARGS(A(i32s), A(NULL))), KJIT_INVALID, "NULL");
    FAILS(kjit_launch(mod, "add", CONFIG(1, 1), ARGS(A(i32s), F(1))), KJIT_TYPE,
          "not the float 1.0");
    FAILS(kjit_launch(mod, "add", CONFIG(1, 1), ARGS(A(i32s), B(1))), KJIT_TYPE,
          "not the bool true");
    FAILS(kjit_launch(mod, "add", CONFIG(1, 1), ARGS(A(i32s), I(2147483648))), KJIT_TYPE,
          "does not fit in 'n'");
    FAILS(kjit_launch(mod, "fill", CONFIG(1, 1), ARGS(A(f32s), F(1e300))), KJIT_TYPE,
          "does not fit");
    FAILS(kjit_launch(mod, "kinds", CONFIG(1, 1),
                      ARGS(A(i64s), I(-129), I(0), I(0), I(0), I(0), B(0))),
          KJIT_TYPE, "'a' (i8)");
    FAILS(
        kjit_launch(mod, "kinds", CONFIG(1, 1), ARGS(A(i64s), I(0), I(-1), I(0), I(0), I(0), B(0))),
        KJIT_TYPE, "'b' (u8)");
    FAILS(
        kjit_launch(mod, "kinds", CONFIG(1, 1), ARGS(A(i64s), I(0), I(0), I(0), I(0), I(-1), B(0))),
        KJIT_TYPE, "'e' (u64)");
    FAILS(
        kjit_launch(mod, "kinds", CONFIG(1, 1), ARGS(A(i64s), I(0), I(0), I(0), I(0), I(0), I(1))),
        KJIT_TYPE, "'f' takes bool");
    FAILS(kjit_launch(mod, "axpy", CONFIG(1, 1), ARGS(F(1), A(i32s), A(i32s))), KJIT_TYPE,
          "T stands for float");
    FAILS(kjit_launch(mod, "axpy", CONFIG(1, 1), ARGS(F(1), A(f32s), A(f64s))), KJIT_TYPE,
          "T[] with T = f32");
    FAILS(kjit_launch(mod, "code2", CONFIG(1, 1), ARGS(A(i32s))), KJIT_SHAPE, "i32[,]");
    FAILS(kjit_launch(mod, "add", NULL, ARGS(A(i32s), I(1))), KJIT_INVALID, "config");
    FAILS(kjit_launch(mod, NULL, CONFIG(1, 1), ARGS(A(i32s), I(1))), KJIT_INVALID, "name");
    FAILS(kjit_launch(mod, "add", CONFIG(1, 1), NULL, 2), KJIT_INVALID, "NULL");
    assert_int_equal(kjit_launch(NULL, "add", CONFIG(1, 1), NULL, 0), KJIT_INVALID);
    kjit_array *odd;
    OK(kjit_array_wrap(ctx, (char *)ints + 1, KJIT_I32, 1, SHAPE(4), NULL, KJIT_HOST, &odd));
    FAILS(kjit_launch(mod, "add", CONFIG(1, 1), ARGS(A(odd), I(1))), KJIT_INVALID, "not aligned");
    kjit_array_free(odd);
    OK(kjit_array_wrap(ctx, ints, KJIT_I32, 1, SHAPE(2), SHAPE(5), KJIT_HOST, &odd));
    FAILS(kjit_launch(mod, "add", CONFIG(1, 1), ARGS(A(odd), I(1))), KJIT_INVALID,
          "by its strides");
    kjit_array_free(odd);
}

static void test_other_context(void **state)
{
    (void)state;
    kjit_context *own;
    kjit_array *a;
    kjit_stream *s;
    assert_int_equal(kjit_context_create(NULL, &own, NULL, 0), KJIT_OK);
    assert_int_equal(kjit_array_create(own, KJIT_I32, 1, SHAPE(4), 'C', KJIT_HOST, &a), KJIT_OK);
    assert_int_equal(kjit_stream_create(own, &s), KJIT_OK);
    FAILS(kjit_launch(mod, "add", CONFIG(1, 1), ARGS(A(a), I(1))), KJIT_INVALID, "another context");
    FAILS(kjit_launch(mod, "add", &(kjit_config){.grid = {1}, .block = {1}, .stream = s},
                      ARGS(A(i32s), I(1))),
          KJIT_INVALID, "another context");
    kjit_stream_free(s);
    kjit_array_free(a);
    kjit_context_destroy(own);
}

static void test_dimensions(void **state)
{
    (void)state;
    static const struct {
        kjit_config config;
        const char *text;
    } bad[] = {
        {{.grid = {-1}, .block = {1}}, "grid (-1, 1, 1)"},
        {{.grid = {(int64_t)1 << 31}, .block = {1}}, "grid (2147483648, 1, 1)"},
        {{.grid = {1, 65536}, .block = {1}}, "(2147483647, 65535, 65535)"},
        {{.grid = {1, 1, 65536}, .block = {1}}, "out of range"},
        {{.grid = {1}, .block = {0}}, "config.block[0] is 0: a block has 1 to (1024, 1024, 64)"},
        {{.grid = {1}, .block = {-5}}, "block (-5, 1, 1)"},
        {{.grid = {1}, .block = {1025}}, "(1024, 1024, 64)"},
        {{.grid = {1}, .block = {1, 1, 65}}, "out of range"},
        {{.grid = {1}, .block = {32, 33}}, "1056 threads"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        FAILS(kjit_launch(mod, "add", &bad[i].config, ARGS(A(i32s), I(1))), KJIT_LAUNCH,
              bad[i].text);
    FAILS(kjit_launch(mod, "small", CONFIG(1, 65), ARGS(A(i32s))), KJIT_LAUNCH, "@launch_bounds");
    OK(kjit_launch(mod, "small", CONFIG(1, 64), ARGS(A(i32s))));
    kjit_config config = {.grid = {3, 0, 2}, .block = {4, 5}};
    OK(kjit_launch(mod, "dims", &config, ARGS(A(i64s))));
    assert_memory_equal(longs, ((int64_t[]){4, 5, 1, 3, 1, 2}), 48);
    /* an empty grid launches nothing, but its arguments are checked */
    ints[0] = 5;
    OK(kjit_launch(mod, "add", CONFIG(0, 1), ARGS(A(i32s), I(1))));
    assert_int_equal(ints[0], 5);
    FAILS(kjit_launch(mod, "add", CONFIG(0, 1), ARGS(A(f32s), I(1))), KJIT_TYPE, "f32");
    OK(kjit_launch_forall(mod, "add", 0, NULL, ARGS(A(i32s), I(1))));
    FAILS(kjit_launch_forall(mod, "add", -1, NULL, ARGS(A(i32s), I(1))), KJIT_LAUNCH, "-1");
    OK(kjit_launch_forall(mod, "add", 64, NULL, ARGS(A(i32s), I(1))));
    assert_int_equal(ints[0], 6);
}

/* Every block and thread of a 3-D launch runs once. */
static void test_every_thread(void **state)
{
    (void)state;
    kjit_array *a = create(KJIT_I32, 3, SHAPE(6, 35, 128), 'C');
    memset(kjit_array_data(a), 0, 6 * 35 * 128 * 4);
    OK(kjit_launch(mod, "where", &(kjit_config){.grid = {8, 7, 3}, .block = {16, 5, 2}},
                   ARGS(A(a))));
    for (int i = 0; i < 6 * 35 * 128; i++)
        assert_int_equal(((int32_t *)kjit_array_data(a))[i], 1);
    kjit_array_free(a);
}

static void test_layouts(void **state)
{
    (void)state;
    kjit_array *whole = create(KJIT_I32, 2, SHAPE(40, 60), 'C'), *a, *b;
    for (int how = 0; how < 4; how++) {
        if (how < 2)
            a = create(KJIT_I32, 2, SHAPE(9, 13), how ? 'F' : 'C');
        else
            OK(kjit_array_slice(whole, SHAPE(20, 30), how == 2 ? SHAPE(29, 43) : SHAPE(11, 4),
                                how == 2 ? NULL : SHAPE(-1, -2), &a));
        OK(kjit_launch(mod, "code2", &(kjit_config){.grid = {2, 2}, .block = {8, 8}}, ARGS(A(a))));
        OK(kjit_to_host(a, NULL, &b));
        for (int y = 0; y < 9; y++)
            for (int x = 0; x < 13; x++)
                assert_int_equal(*(int32_t *)((char *)kjit_array_data(b) +
                                              y * kjit_array_strides(b)[0] +
                                              x * kjit_array_strides(b)[1]),
                                 y * 100 + x);
        kjit_array_free(a);
        kjit_array_free(b);
    }
    kjit_array_free(whole);
    /* an empty array, whatever its strides say */
    kjit_array *empty;
    OK(kjit_array_wrap(ctx, NULL, KJIT_F32, 3, SHAPE(2, 0, 4), SHAPE(7, 7, 7), KJIT_HOST, &empty));
    OK(kjit_launch(mod, "shape", CONFIG(1, 1), ARGS(A(i64s), A(empty))));
    assert_int_equal(longs[0], 0);
    assert_int_equal(longs[1], 2);
    kjit_array_free(empty);
}

static void test_requires(void **state)
{
    (void)state;
    kjit_array *half, *few, *none;
    OK(kjit_array_slice(f32s, NULL, SHAPE(32), NULL, &half));
    OK(kjit_array_slice(f32s, NULL, SHAPE(2), NULL, &few));
    OK(kjit_array_slice(f32s, NULL, SHAPE(0), NULL, &none));
    FAILS(kjit_launch(mod, "axpy", CONFIG(1, 64), ARGS(F(1), A(half), A(f32s))), KJIT_LAUNCH,
          "kernel 'axpy' requires x.shape == y.shape (test.knl:3:14), but x.shape is (32,), "
          "y.shape is (64,)");
    FAILS(kjit_launch(mod, "sized", CONFIG(1, 16), ARGS(A(i32s), NAMED("N", I(5)))), KJIT_LAUNCH,
          "x.shape is (64,), N is 5, blockDim is (16, 1, 1)");
    /* of several conditions the one that does not hold */
    FAILS(kjit_launch(mod, "parts", CONFIG(1, 1), ARGS(A(half), A(f32s), F(1))), KJIT_LAUNCH,
          "kernel 'parts' requires x.shape == y.shape (test.knl:34:35), but x.shape is (32,), "
          "y.shape is (64,)");
    FAILS(kjit_launch(mod, "parts", CONFIG(1, 1), ARGS(A(few), A(few), F(1))), KJIT_LAUNCH,
          "kernel 'parts' requires y.size >= 4 or alpha > 2 (test.knl:35:10), but y.shape is "
          "(2,), alpha is 1.0");
    FAILS(kjit_launch(mod, "parts", CONFIG(1, 1), ARGS(A(half), A(half), F(9))), KJIT_LAUNCH,
          "kernel 'parts' requires alpha < 9 (test.knl:35:40), but alpha is 9.0");
    FAILS(kjit_launch(mod, "parts", CONFIG(1, 1), ARGS(A(none), A(none), F(1))), KJIT_LAUNCH,
          "kernel 'parts' requires 0 < y.size < 65 (test.knl:34:15), but y.shape is (0,)");
    OK(kjit_launch(mod, "parts", CONFIG(1, 1), ARGS(A(few), A(few), F(3))));
    kjit_array_free(few);
    kjit_array_free(none);
    OK(kjit_launch(mod, "sized", CONFIG(4, 16), ARGS(A(i32s), NAMED("N", I(4)))));
    assert_int_equal(ints[63], 4);
    kjit_array_free(half);
}

static void test_shared(void **state)
{
    (void)state;
    OK(kjit_launch(mod, "shared_n", CONFIG(1, 64), ARGS(A(i32s), I(64))));
    for (int i = 0; i < 64; i++)
        assert_int_equal(ints[i], 63 - i);
    FAILS(kjit_launch(mod, "shared_n", CONFIG(1, 64), ARGS(A(i32s), I(1 << 20))), KJIT_LAUNCH,
          "4194304 bytes of shared memory");
    FAILS(kjit_launch(mod, "shared_n", CONFIG(1, 64), ARGS(A(i32s), I(300 << 8))), KJIT_LAUNCH,
          "307200 bytes of shared memory"); /* no device has as much */
    FAILS(kjit_launch(mod, "shared_n", CONFIG(1, 64), ARGS(A(i32s), I(-1))), KJIT_LAUNCH,
          "below 0");
    FAILS(kjit_launch(mod, "shared_n", CONFIG(1, 64), ARGS(A(i32s), I(INT64_MAX))), KJIT_LAUNCH,
          "shared");
}

static void test_fault(void **state)
{
    (void)state;
    kjit_stream *s;
    if (!on_cpu())
        SKIP("a GPU does not say where its kernels fail");
    OK(kjit_launch(mod, "diverge", CONFIG(1, 17), ARGS(A(i32s))));
    FAILS(kjit_launch(mod, "diverge", CONFIG(100, 64), ARGS(A(i32s))), KJIT_FAULT,
          "error: syncthreads() reached by 17 of 64 threads of block (");
    assert_non_null(strstr(kjit_last_error(ctx), "syncthreads()\n"));
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_launch(mod, "diverge", &(kjit_config){.grid = {1}, .block = {64}, .stream = s},
                   ARGS(A(i32s))));
    OK(kjit_launch(mod, "add", &(kjit_config){.grid = {1}, .block = {64}, .stream = s},
                   ARGS(A(i32s), I(1))));
    FAILS(kjit_stream_synchronize(s), KJIT_FAULT, "17 of 64 threads of block (0, 0, 0)");
    OK(kjit_stream_synchronize(s)); /* told once */
    OK(kjit_launch(mod, "diverge", &(kjit_config){.grid = {1}, .block = {64}, .stream = s},
                   ARGS(A(i32s))));
    FAILS(kjit_synchronize(ctx), KJIT_FAULT, "17 of 64");
    OK(kjit_synchronize(ctx));
    kjit_stream_free(s);
}

static void test_modules(void **state)
{
    (void)state;
    kjit_module *m;
    kjit_diagnostic d[4];
    char *text;
    static const char broken[] = "kernel k(x: f32[]) {\n    x[0] = lenght\n    y = 2\n}\n";
    FAILS(kjit_module_compile(ctx, "b.knl", broken, strlen(broken), NULL, &m), KJIT_COMPILE,
          "b.knl:2:12: error: ");
    assert_non_null(strstr(kjit_last_error(ctx), "    2 |     x[0] = lenght\n"));
    assert_non_null(strstr(kjit_last_error(ctx), "b.knl:3:5: error: "));
    assert_non_null(m);
    assert_int_equal(kjit_module_diagnostics(m, d, 4), 2);
    assert_int_equal(d[0].line, 2);
    assert_int_equal(d[0].column, 12);
    assert_int_equal(d[0].end_column, 18);
    assert_int_equal(d[1].line, 3);
    assert_string_equal(d[0].file, "b.knl");
    assert_non_null(strstr(kjit_module_log(m), "b.knl:3:5: error: "));
    assert_int_equal(kjit_module_log_json(m)[0], '{');
    assert_null(kjit_module_kernel(m, 0));
    FAILS(kjit_launch(m, "k", CONFIG(1, 1), NULL, 0), KJIT_COMPILE, "errors");
    FAILS(kjit_module_emit(m, "llvm", NULL, NULL, &text, NULL), KJIT_COMPILE, "errors");
    kjit_module_free(m);

    assert_string_equal(kjit_module_kernel(mod, 0), "add");
    assert_null(kjit_module_kernel(mod, 100));
    assert_null(kjit_module_kernel(mod, -1));
    assert_false(kjit_module_has_run(mod));
    static const char *const forms[] = {"tokens", "ast", "tast",     "uniform", "regions",
                                        "llvm",   "opt", "llvm-opt", "asm"};
    for (int i = 0; i < 5; i++) {
        OK(kjit_module_emit(mod, forms[i], i ? "axpy" : NULL, NULL, &text, NULL));
        assert_non_null(strstr(text, "axpy"));
        free(text);
    }
    OK(kjit_module_emit(mod, "tast", NULL, SHAPE(8, 8, 1), &text, NULL));
    assert_non_null(strstr(text, "diverge"));
    free(text);
    FAILS(kjit_module_emit(mod, "elf", NULL, NULL, &text, NULL), KJIT_INVALID, "'elf'");
    FAILS(kjit_module_emit(mod, "asm", "nothing", NULL, &text, NULL), KJIT_NOT_FOUND, "'nothing'");

    write_file(path_of("k.knl"), source, strlen(source));
    OK(kjit_module_load(ctx, path_of("k.knl"),
                        &(kjit_compile_options){.opt_level = KJIT_UNOPTIMISED, .verify = 1}, &m));
    ints[0] = 1;
    OK(kjit_launch(m, "add", CONFIG(1, 64), ARGS(A(i32s), I(1))));
    assert_int_equal(ints[0], 2);
    kjit_module_free(m);
    FAILS(kjit_module_load(ctx, path_of("none.knl"), NULL, &m), KJIT_IO, "No such file");
    FAILS(kjit_module_load(ctx, folder, NULL, &m), KJIT_IO, "directory");
    OK(kjit_module_compile(ctx, NULL, NULL, 0, NULL, &m)); /* nothing is a file too */
    OK(kjit_module_emit(m, "asm", NULL, NULL, &text, NULL));
    assert_string_equal(text, "");
    free(text);
    kjit_module_free(m);
    kjit_module_free(NULL);
}

/* What a compilation says, as it is said. */
typedef struct said {
    int n;
    kjit_diagnostic d[4];
    char first[200];
} said;

static void hear(void *user, const kjit_diagnostic *d)
{
    said *s = user;
    assert_true(s->n < 4);
    if (s->n == 0)
        snprintf(s->first, sizeof s->first, "%s", d->message);
    s->d[s->n++] = *d;
}

static void test_warnings(void **state)
{
    (void)state;
    static const char odd[] = "kernel k(x: f32[], n: i32) {\n"
                              "    let y = 2\n"
                              "    x[0] = 1\n}\n";
    said s = {0};
    kjit_module *m;
    kjit_compile_options options = {.diagnose = hear, .user = &s};
    OK(kjit_module_compile(ctx, "w.knl", odd, strlen(odd), &options, &m));
    assert_int_equal(s.n, 2);
    assert_int_equal(s.d[0].severity, 1);
    assert_string_equal(s.d[0].code, "unused-parameter");
    assert_string_equal(s.d[1].code, "unused-variable");
    assert_non_null(strstr(kjit_module_log(m), "w.knl:2:9: warning: 'y' is never used"));
    assert_non_null(strstr(kjit_module_log_json(m), "\"severity\":\"warning\""));
    kjit_module_free(m);
    s.n = 0;
    options.warn = "no-unused-variable,no-unused-parameter";
    OK(kjit_module_compile(ctx, "w.knl", odd, strlen(odd), &options, &m));
    assert_int_equal(s.n, 0);
    assert_string_equal(kjit_module_log(m), "");
    kjit_module_free(m);
    options.warn = "error,no-unused-parameter";
    FAILS(kjit_module_compile(ctx, "w.knl", odd, strlen(odd), &options, &m), KJIT_COMPILE,
          "'y' is never used");
    assert_int_equal(s.n, 1);
    assert_int_equal(s.d[0].severity, 0);
    kjit_module_free(m);
    options.warn = "unused-varable";
    FAILS(kjit_module_compile(ctx, "w.knl", odd, strlen(odd), &options, &m), KJIT_INVALID,
          "there is no warning 'unused-varable': did you mean 'unused-variable'?");
}

static void test_diagnose(void **state)
{
    (void)state;
    static const char broken[] = "kernel k(x: f32[], lenght: i32) {\n"
                                 "    y = 2\n"
                                 "    x[0] = lenth\n}\n";
    said s = {0};
    kjit_diagnostic d[4];
    kjit_module *m;
    kjit_compile_options options = {.diagnose = hear, .user = &s};
    FAILS(kjit_module_compile(ctx, "b.knl", broken, strlen(broken), &options, &m), KJIT_COMPILE,
          s.first);
    assert_int_equal(kjit_module_diagnostics(m, d, 4), s.n);
    assert_int_equal(s.n, 2);
    for (int i = 0; i < s.n; i++) {
        assert_string_equal(s.d[i].file, "b.knl");
        assert_int_equal(s.d[i].line, 2 + i);
        assert_int_equal(s.d[i].column, d[i].column);
        assert_int_equal(s.d[i].end_column, d[i].end_column);
        assert_int_equal(s.d[i].severity, 0);
        assert_string_equal(s.d[i].message, d[i].message);
        assert_string_equal(s.d[i].code, d[i].code);
    }
    assert_non_null(strstr(s.d[1].hint, "lenght"));
    kjit_fix fix;
    assert_int_equal(kjit_module_fix(m, 0, &fix), 1);
    assert_string_equal(fix.text, "var ");
    assert_int_equal(fix.line, 2);
    assert_int_equal(fix.column, 5);
    assert_int_equal(fix.end_column, 5);
    assert_int_equal(kjit_module_fix(m, 1, &fix), 1);
    assert_string_equal(fix.text, "lenght");
    assert_int_equal(fix.line, 3);
    assert_int_equal(fix.column, s.d[1].column);
    assert_int_equal(fix.end_column, s.d[1].end_column);
    assert_int_equal(kjit_module_fix(m, 2, &fix), 0);
    kjit_module_free(m);
    s.n = 0;
    OK(kjit_module_compile(ctx, "s.knl", source, strlen(source), &options, &m));
    assert_int_equal(s.n, 0);
    kjit_module_free(m);
}

/* Elements anywhere can be copied, and worked on where they lie as their type wants it. */
static void test_misaligned(void **state)
{
    (void)state;
    _Alignas(8) char bytes[64] = {0};
    kjit_array *odd, *own;
    for (int shift = 1; shift < 4; shift++) {
        OK(kjit_array_wrap(ctx, bytes + shift, KJIT_I32, 1, SHAPE(8), NULL, KJIT_HOST, &odd));
        FAILS(kjit_launch(mod, "add", CONFIG(1, 8), ARGS(A(odd), I(shift))), KJIT_INVALID,
              "not aligned to 4 bytes");
        OK(kjit_to_device(odd, NULL, &own));
        OK(kjit_launch(mod, "add", CONFIG(1, 8), ARGS(A(own), I(shift))));
        OK(kjit_copy(odd, own, NULL));
        int32_t last;
        memcpy(&last, bytes + shift + 28, sizeof last);
        assert_int_equal(last, shift);
        memset(bytes, 0, sizeof bytes);
        kjit_array_free(own);
        kjit_array_free(odd);
    }
}

/* Arrays of several types in one piece of memory are aligned as they are, also where that is copied. */
static void test_types_together(void **state)
{
    (void)state;
    _Alignas(256) char bytes[64] = {0};
    float first = 2;
    double sums[2];
    kjit_array *a, *b;
    memcpy(bytes + 4, &first, sizeof first);
    OK(kjit_array_wrap(ctx, bytes + 4, KJIT_F32, 1, SHAPE(4), NULL, KJIT_HOST, &a));
    OK(kjit_array_wrap(ctx, bytes + 8, KJIT_F64, 1, SHAPE(2), NULL, KJIT_HOST, &b));
    for (int i = 1; i <= 3; i++) {
        OK(kjit_launch(mod, "together", CONFIG(1, 8), ARGS(A(a), A(b))));
        memcpy(sums, bytes + 8, sizeof sums);
        assert_true(sums[0] == 2 * i && sums[1] == 2 * i);
    }
    kjit_array_free(a);
    kjit_array_free(b);
}

static void test_cooperative(void **state)
{
    int64_t most, fewer;
    const int64_t block[3] = {32, 1, 1};
    (void)state;
    OK(kjit_max_cooperative_blocks(mod, "meet", block, ARGS(A(i32s), I(16)), &most));
    OK(kjit_max_cooperative_blocks(mod, "meet", block, ARGS(A(i32s), I(8000)), &fewer));
    assert_true(fewer > 0 && fewer < most);
    FAILS(kjit_max_cooperative_blocks(mod, "meet", NULL, ARGS(A(i32s), I(16)), &most), KJIT_INVALID,
          "block");
    FAILS(kjit_max_cooperative_blocks(mod, "meet", (int64_t[3]){2000}, ARGS(A(i32s), I(16)), &most),
          KJIT_LAUNCH, "block");
    FAILS(kjit_launch(mod, "meet", CONFIG(most + 1, 32), ARGS(A(i32s), I(16))), KJIT_LAUNCH,
          "the device holds");
    ints[0] = 0;
    OK(kjit_launch(mod, "meet", CONFIG(5, 8), ARGS(A(i32s), I(16))));
    for (int i = 0; i <= 40; i++)
        assert_int_equal(ints[i], 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unsigned),       cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_names),          cmocka_unit_test(test_wrong_arguments),
        cmocka_unit_test(test_other_context),  cmocka_unit_test(test_dimensions),
        cmocka_unit_test(test_every_thread),   cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_requires),       cmocka_unit_test(test_shared),
        cmocka_unit_test(test_fault),          cmocka_unit_test(test_modules),
        cmocka_unit_test(test_warnings),       cmocka_unit_test(test_diagnose),
        cmocka_unit_test(test_cooperative),    cmocka_unit_test(test_misaligned),
        cmocka_unit_test(test_types_together),
    };
    int failed = cmocka_run_group_tests(tests, set_up, tear_down);
    drop_folder();
    return failed;
}
