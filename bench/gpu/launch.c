/* What a launch costs the program that makes it: an empty kernel by kjit_launch and by the driver's cuLaunchKernel,
 * queued and until done, interleaved. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common.h"
#include "driver.h"
#include "kjit.h"

enum { MAX_ROUNDS = 101, BATCH = 200 };

static const char source[] = "kernel one(x: f32[]) { if x.size < 0 { x[0] = 1.0 } }\n"
                             "kernel six(x: f32[], y: f32[], z: f32[], n: i32, a: f32, b: f32) {\n"
                             "    if x.size < 0 { x[0] = a; y[0] = b; z[0] = f32(n) }\n"
                             "}\n";

/* The same by hand: a pointer, and three with three numbers. */
static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry one(.param .u64 x)\n{\n\tret;\n}\n"
    ".visible .entry six(.param .u64 x, .param .u64 y, .param .u64 z, .param .u32 n, "
    ".param .f32 a, .param .f32 b)\n{\n\tret;\n}\n";

typedef struct bench {
    driver driver;
    driver_module_ref module;
    kjit_context *ctx;
    kjit_module *mod;
    kjit_array *x;
    kjit_stream *stream;
    int rounds;
    bool markdown;
} bench;

typedef struct row {
    const char *title, *kernel;
    int nargs;
    bool wait; /* for each launch to be done */
} row;

static const row rows[] = {{"queued, 1 argument", "one", 1, false},
                           {"queued, 6 arguments", "six", 6, false},
                           {"until done, 1 argument", "one", 1, true},
                           {"until done, 6 arguments", "six", 6, true}};

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "gpu-launch: %s: %s\n", what, why);
    exit(1);
}

static void check(bench *b, kjit_status status)
{
    if (status != KJIT_OK)
        die("kjit", kjit_last_error(b->ctx));
}

static void check_driver(int status)
{
    char text[32];
    snprintf(text, sizeof text, "error %d", status);
    if (status != 0)
        die("driver", text);
}

static double time_kjit(bench *b, const row *r)
{
    const kjit_arg x = kjit_arg_array(b->x);
    const kjit_arg args[] = {x, x, x, kjit_arg_i64(1), kjit_arg_f64(0.5), kjit_arg_f64(0.25)};
    const kjit_config config = {.grid = {1}, .block = {128}, .stream = b->stream};
    const double start = bench_now_ms();
    for (int i = 0; i < BATCH; i++) {
        check(b, kjit_launch(b->mod, r->kernel, &config, args, r->nargs));
        if (r->wait)
            check(b, kjit_stream_synchronize(b->stream));
    }
    const double spent = (bench_now_ms() - start) * 1e6;
    check(b, kjit_stream_synchronize(b->stream));
    return spent / BATCH;
}

static double time_raw(bench *b, const row *r)
{
    driver *d = &b->driver;
    driver_function_ref function;
    uint64_t x = (uint64_t)(uintptr_t)kjit_array_data(b->x);
    int n = 1;
    float a = 0.5F, c = 0.25F;
    void *params[] = {&x, &x, &x, &n, &a, &c};
    check_driver(d->function(&function, b->module, r->kernel));
    const double start = bench_now_ms();
    for (int i = 0; i < BATCH; i++) {
        check_driver(d->launch(function, 1, 1, 1, 128, 1, 1, 0, d->stream, params, NULL));
        if (r->wait)
            check_driver(d->stream_wait(d->stream));
    }
    const double spent = (bench_now_ms() - start) * 1e6;
    check_driver(d->stream_wait(d->stream));
    return spent / BATCH;
}

static void run(bench *b, const row *r)
{
    double kjit[MAX_ROUNDS], raw[MAX_ROUNDS];
    for (int i = -1; i < b->rounds; i++) { /* the first round compiles and warms up */
        const double k = time_kjit(b, r), d = time_raw(b, r);
        if (i >= 0) {
            kjit[i] = k;
            raw[i] = d;
        }
    }
    const double k = bench_median(kjit, b->rounds), d = bench_median(raw, b->rounds);
    printf(b->markdown ? "| %-30s | %10.0f | %14.0f | %10.0f |\n" : "%-30s %10.0f %14.0f %10.0f\n",
           r->title, k, d, k - d);
}

static void open_kjit(bench *b)
{
    char why[DRIVER_WHY];
    const kjit_context_options options = {.device = "cuda"};
    if (kjit_context_create(&options, &b->ctx, why, sizeof why) != KJIT_OK)
        die("kjit", why);
    check(b, kjit_module_compile(b->ctx, "empty.knl", source, strlen(source), NULL, &b->mod));
    check(b, kjit_array_create(b->ctx, KJIT_F32, 1, (int64_t[]){256}, 'C', KJIT_DEVICE, &b->x));
    check(b, kjit_stream_create(b->ctx, &b->stream));
}

static void close_kjit(bench *b)
{
    kjit_stream_free(b->stream);
    kjit_array_free(b->x);
    kjit_module_free(b->mod);
    kjit_context_destroy(b->ctx);
}

static void parse(bench *b, int argc, char **argv)
{
    b->rounds = 31;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--rounds=", 9) == 0)
            b->rounds = (int)strtol(argv[i] + 9, NULL, 10);
        else if (strcmp(argv[i], "--markdown") == 0)
            b->markdown = true;
        else
            die("usage", "gpu-launch [--rounds=N] [--markdown]");
    }
    if (b->rounds < 1 || b->rounds > MAX_ROUNDS)
        die("--rounds", "must be from 1 to 101");
}

int main(int argc, char **argv)
{
    static bench b;
    char why[DRIVER_WHY];
    parse(&b, argc, argv);
    if (!driver_open(&b.driver, why))
        die("driver", why);
    check_driver(b.driver.load(&b.module, ptx));
    open_kjit(&b);
    if (b.markdown)
        puts("| ns a launch, median            |       kjit | cuLaunchKernel | difference |\n"
             "| ------------------------------ | ---------: | -------------: | ---------: |");
    else
        printf("%-30s %10s %14s %10s\n", "ns a launch, median", "kjit", "cuLaunchKernel",
               "difference");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        run(&b, &rows[i]);
    close_kjit(&b);
    check_driver(b.driver.unload(b.module));
    driver_close(&b.driver);
    return 0;
}
