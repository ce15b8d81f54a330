/* Kernels that do not end unless they are ended, and who launches them: for programs that do that. */
#ifndef ENDLESS_H
#define ENDLESS_H

#include "api.h"

#include <time.h>

static const char source[] =
    "kernel add(x: i32[], n: i32) { let i = grid(1); if i < x.size { x[i] += n } }\n"
    "kernel spin(x: i32[]) { x[40] = 1; while x[0] < 1000 { x[1] = 1 } }\n"
    "kernel empty(x: i32[]) { x[40] = 1; while true { } }\n"
    "kernel nest(x: i32[]) {\n"
    "    var s: i32 = 1\n"
    "    x[40] = 1\n"
    "    for a in range(100000) {\n"
    "        for b in range(100000) { for c in range(3000) { s = s * 1664525 + a } } }\n"
    "    x[0] = s\n"
    "}\n"
    "kernel counted(x: i32[], n: i64) {\n"
    "    var s: i32 = x[0]\n"
    "    x[40] = 1\n"
    "    for a in range(n) { for b in range(n) { s = s * 1664525 + 1013904223 } }\n"
    "    if s == 12345 { x[0] = 1 }\n"
    "}\n"
    "kernel together(x: i32[]) {\n"
    "    let t = shared.array((64,), i32)\n"
    "    x[40] = 1\n"
    "    while x[0] < 1000 {\n"
    "        t[threadIdx.x] = x[threadIdx.x]; syncthreads()\n"
    "        x[threadIdx.x] = t[threadIdx.x] % 100; syncthreads() }\n"
    "}\n"
    "kernel apart(x: i32[]) {\n"
    "    x[40] = 1\n"
    "    while x[threadIdx.x] < 1000 + i32(threadIdx.x) { x[threadIdx.x] = 1 }\n"
    "}\n"
    "kernel waits(x: i32[]) { x[40] = 1; while atomic.add(x, 0, 0) < 1000 { } }\n"
    "kernel grids(x: i32[]) { x[40] = 1; while x[0] < 1000 { grid_sync() } }\n"
    "fn endless(n: i32) -> i32 { var k = n; while k >= 0 { k = (k + 1) % 7 }; return k }\n"
    "kernel within(x: i32[]) {\n"
    "    x[40] = 1\n"
    "    if x[0] > 5 and endless(x[0]) > 3 { x[1] = 1 } else { x[1] = endless(3) }\n"
    "}\n"
    "kernel many(x: i32[]) { if blockIdx.x == 4 { x[40] = 1 } }\n"
    "kernel long_blocks(x: i32[]) {\n"
    "    var s: i32 = x[1] + i32(grid(1))\n"
    "    for k in range(1000) { s = s * 1664525 + 1013904223 }\n"
    "    if s != 12345 and threadIdx.x == 0 { atomic.add(x, 0, 1) }\n"
    "}\n"
    "kernel parent(x: i32[]) { if threadIdx.x == 0 { launch spin[1, 64](x) } }\n"
    "fn few(n: i32) -> i32 { var k = n; for i in range(4096) { k = (k ^ (k >> 7)) * 1664525 + 1 }; "
    "return k }\n"
    "kernel shares(x: i32[]) {\n"
    "    let s = shared.array(1, i32)\n"
    "    if threadIdx.x == 0 { s[0] = 0 }\n"
    "    syncthreads()\n"
    "    x[40] = 1\n"
    "    x[s[0] + i32(threadIdx.x) % 8] = 1\n"
    "}\n"
    "kernel ended(x: i32[]) { x[42] = 1 }\n"
    "kernel nest_of_few(x: i32[]) {\n"
    "    var s: i32 = 1\n"
    "    x[40] = 1\n"
    "    for a in range(3000) {\n"
    "        for b in range(4000) { for c in range(3000) { s = (s ^ a) * 1664525 + b } } }\n"
    "    x[0] = s\n"
    "}\n"
    "kernel tells(x: i32[]) { x[7] = 1; if x[0] == 77 { print(x[0]) } }\n"
    "kernel ends(x: i32[]) {\n"
    "    x[40] = 1\n"
    "    var s = few(few(few(few(x[1]))))\n"
    "    s = few(few(few(few(few(few(few(few(s))))))))\n"
    "    s = few(few(few(few(few(few(few(few(s))))))))\n"
    "    s = few(few(few(few(few(few(few(few(s))))))))\n"
    "    s = few(few(few(few(few(few(few(few(s))))))))\n"
    "    x[41] = s | 1\n"
    "    if threadIdx.x == 0 { launch ended[1, 1](x) }\n"
    "}\n";

/* What the sentence has of where it was. */
static const struct {
    const char *name, *where;
} endless[] = {
    {"spin", "test.knl:2:36: error: kernel 'spin' was cancelled in this loop (block ("},
    {"empty", "test.knl:3:37: error: kernel 'empty' was cancelled in this loop"},
    {"nest", "test.knl:8:9: error: kernel 'nest' was cancelled in this loop"},
    {"nest_of_few", "error: kernel 'nest_of_few' was cancelled in this loop"},
    {"counted", "error: kernel 'counted' was cancelled in this loop"},
    {"together", "test.knl:20:5: error: kernel 'together' was cancelled in this loop"},
    {"apart", "error: kernel 'apart' was cancelled in this loop"},
    {"waits", "error: kernel 'waits' was cancelled in this loop"},
    {"grids", "error: kernel 'grids' was cancelled "},
    {"within", "error: kernel 'within' was cancelled in this loop"},
    {"parent", "error: kernel 'parent', or one that it launched, was cancelled in this loop"},
    {"many", "error: kernel 'many' was cancelled in front of block ("},
};

enum { KINDS = sizeof endless / sizeof *endless };

/* All but the last: a GPU begins its blocks all the same. */
static inline int kinds(void)
{
    return on_cpu() ? KINDS : KINDS - 1;
}

static kjit_module *mod;

static inline int set_up(void **state)
{
    char error[256];
    kjit_context_options options = {.cancellable = 1};
    (void)state;
    if (kjit_context_create(&options, &ctx, error, sizeof error) != KJIT_OK) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    mod = module(source);
    return 0;
}

static inline int tear_down(void **state)
{
    kjit_module_free(mod);
    return drop_context(state);
}

static inline void pause_us(long us)
{
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

static inline double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* 64 zeros that kernels work on where they are. */
static inline kjit_array *zeros(void)
{
    kjit_array *a;
    OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(64), 'C', KJIT_MAPPED, &a));
    memset(kjit_array_data(a), 0, 64 * sizeof(int32_t));
    return a;
}

/* How kernels are launched that take more than an array, or have more than 2 blocks of 64. */
static const struct {
    const char *name;
    int64_t grid, block, n;
    int nargs;
} launched[] = {
    {"add", 1, 64, 1, 2},         {"counted", 2, 64, 3000000, 2},     {"grids", 3, 64, 0, 1},
    {"many", INT32_MAX, 1, 0, 1}, {"long_blocks", 1000000, 64, 0, 1}, {"tells", 100, 64, 0, 1},
    {NULL, 2, 64, 0, 1}};

static inline kjit_status start(const char *kernel, kjit_stream *s, kjit_array *a,
                                double timeout_ms)
{
    int i = 0;
    while (launched[i].name && strcmp(kernel, launched[i].name) != 0)
        i++;
    kjit_arg args[] = {kjit_arg_array(a), kjit_arg_i64(launched[i].n)};
    kjit_config config = {.grid = {launched[i].grid},
                          .block = {launched[i].block},
                          .stream = s,
                          .timeout_ms = timeout_ms};
    return kjit_launch(mod, kernel, &config, args, launched[i].nargs);
}

/* A GPU's driver may let an allocation or a free wait for kernels that run: what launches others behind an
 * endless one sees to it that this has an end. */
static inline void guard(void)
{
    if (!on_cpu())
        OK(kjit_set_deadline(ctx, 3000));
}

/* Was it cancelled, or, on a GPU, ended by the guard? */
static inline kjit_status ends_cancelled(kjit_stream *s, const char *kernel)
{
    kjit_status status = kjit_stream_synchronize(s);
    assert_true(status == KJIT_CANCELLED || (status == KJIT_TIMEOUT && !on_cpu()));
    assert_non_null(strstr(kjit_last_error(ctx), kernel));
    OK(kjit_set_deadline(ctx, 0));
    return status;
}

/* Nothing is left to be freed while one runs that nobody ends. */
static inline kjit_status start_endless(const char *kernel, kjit_stream *s, kjit_array *a)
{
    OK(kjit_deallocate_pending(ctx));
    return start(kernel, s, a, 0);
}

/* Until the kernel has begun. */
static inline void wait_for_begin(kjit_array *a)
{
    while (__atomic_load_n((int32_t *)kjit_array_data(a) + 40, __ATOMIC_RELAXED) == 0)
        pause_us(200);
    pause_us(1000);
}

/* The stream and the context go on. */
static inline void goes_on(kjit_stream *s, kjit_array *a)
{
    int32_t *x = kjit_array_data(a);
    int32_t before = x[7];
    OK(start("add", s, a, 0));
    OK(kjit_stream_synchronize(s));
    assert_int_equal(x[7], before + 1);
}

#endif
