/* What a launch costs the program that makes it: an empty kernel by kjit_launch, by a plan that was
 * prepared, as one of ten in a graph, and by the driver's cuLaunchKernel, queued and until done,
 * interleaved. Queued launches
 * are counted in processor time of the launching thread, those until done in time that passes; the
 * least of many rounds is shown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../common.h"
#include "driver.h"
#include "kjit.h"

enum { MAX_ROUNDS = 1001, BATCH = 100, MOST_ARGS = 8, GRAPH = 10 };

static const char source[] =
    "kernel one(x: f32[]) { if x.size < 0 { x[0] = 1.0 } }\n"
    "kernel eight(x: f32[], y: f32[], z: f32[], w: f32[], n: i32, a: f32, b: f32, c: f64) {\n"
    "    if x.size < 0 { x[0] = a; y[0] = b; z[0] = f32(n); w[0] = f32(c) }\n"
    "}\n";

/* The same by hand: a pointer, and four with four numbers. */
static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry one(.param .u64 x)\n{\n\tret;\n}\n"
    ".visible .entry eight(.param .u64 x, .param .u64 y, .param .u64 z, .param .u64 w, "
    ".param .u32 n, .param .f32 a, .param .f32 b, .param .f64 c)\n{\n\tret;\n}\n";

typedef struct bench {
    driver driver;
    driver_module_ref module;
    kjit_context *ctx;
    kjit_module *mod;
    kjit_array *arrays[4];
    kjit_stream *stream;
    int rounds;
    bool markdown, cancellable;
} bench;

typedef struct row {
    const char *title, *kernel;
    int nargs;
    bool wait; /* for each launch to be done */
} row;

static const row rows[] = {{"queued, 1 argument", "one", 1, false},
                           {"queued, 8 arguments", "eight", 8, false},
                           {"until done, 1 argument", "one", 1, true},
                           {"until done, 8 arguments", "eight", 8, true}};

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

static double now_ns(const row *r)
{
    struct timespec t;
    clock_gettime(r->wait ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* With a plan, by it. */
static double time_kjit(bench *b, const row *r, const kjit_config *config, const kjit_arg *args,
                        kjit_launch_plan *plan)
{
    const double start = now_ns(r);
    for (int i = 0; i < BATCH; i++) {
        check(b, plan != NULL ? kjit_launch_plan_run(plan, b->stream)
                              : kjit_launch(b->mod, r->kernel, config, args, r->nargs));
        if (r->wait)
            check(b, kjit_stream_synchronize(b->stream));
    }
    const double spent = now_ns(r) - start;
    check(b, kjit_stream_synchronize(b->stream));
    return spent / BATCH;
}

/* Of one of its launches; `wait` is for all of them. */
static double time_graph(bench *b, const row *r, kjit_graph *graph)
{
    const double start = now_ns(r);
    for (int i = 0; i < BATCH / GRAPH; i++) {
        check(b, kjit_graph_launch(graph, b->stream));
        if (r->wait)
            check(b, kjit_stream_synchronize(b->stream));
    }
    const double spent = now_ns(r) - start;
    check(b, kjit_stream_synchronize(b->stream));
    return spent / BATCH;
}

static kjit_graph *record(bench *b, kjit_launch_plan *plan)
{
    kjit_graph *graph;
    check(b, kjit_graph_begin(b->stream));
    for (int i = 0; i < GRAPH; i++)
        check(b, kjit_launch_plan_run(plan, b->stream));
    check(b, kjit_graph_end(b->stream, &graph));
    return graph;
}

static double time_raw(bench *b, const row *r)
{
    driver *d = &b->driver;
    driver_function_ref function;
    uint64_t x = (uint64_t)(uintptr_t)kjit_array_data(b->arrays[0]);
    int n = 1;
    float a = 0.5F;
    double c = 0.25;
    void *one[] = {&x}, *eight[] = {&x, &x, &x, &x, &n, &a, &a, &c};
    check_driver(d->function(&function, b->module, r->kernel));
    const double start = now_ns(r);
    for (int i = 0; i < BATCH; i++) {
        check_driver(d->launch(function, 1, 1, 1, 128, 1, 1, 0, d->stream,
                               r->nargs == 1 ? one : eight, NULL));
        if (r->wait)
            check_driver(d->stream_wait(d->stream));
    }
    const double spent = now_ns(r) - start;
    check_driver(d->stream_wait(d->stream));
    return spent / BATCH;
}

static void note(double *least, double value)
{
    if (*least == 0 || value < *least)
        *least = value;
}

static void run(bench *b, const row *r)
{
    kjit_arg args[MOST_ARGS];
    kjit_launch_plan *plan;
    const kjit_config config = {.grid = {1}, .block = {128}, .stream = b->stream};
    double launch = 0, planned = 0, together = 0, raw = 0;
    for (int i = 0; i < 4; i++)
        args[i] = kjit_arg_array(b->arrays[i]);
    args[4] = kjit_arg_i64(1);
    for (int i = 5; i < MOST_ARGS; i++)
        args[i] = kjit_arg_f64(0.5);
    check(b, kjit_launch_plan_create(b->mod, r->kernel, &config, args, r->nargs, &plan));
    kjit_graph *graph = record(b, plan);
    for (int i = 0; i < b->rounds; i++) {
        note(&launch, time_kjit(b, r, &config, args, NULL));
        note(&planned, time_kjit(b, r, &config, args, plan));
        note(&together, time_graph(b, r, graph));
        note(&raw, time_raw(b, r));
    }
    kjit_graph_free(graph);
    kjit_launch_plan_free(plan);
    printf(b->markdown ? "| %-24s | %11.0f | %8.0f | %8.0f | %14.0f | %12.0f | %10.0f |\n"
                       : "%-24s %11.0f %8.0f %8.0f %14.0f %12.0f %10.0f\n",
           r->title, launch, planned, together, raw, launch - raw, planned - raw);
}

static void open_kjit(bench *b)
{
    char why[DRIVER_WHY];
    const kjit_context_options options = {.device = "cuda", .cancellable = b->cancellable};
    if (kjit_context_create(&options, &b->ctx, why, sizeof why) != KJIT_OK)
        die("kjit", why);
    check(b, kjit_module_compile(b->ctx, "empty.knl", source, strlen(source), NULL, &b->mod));
    for (int i = 0; i < 4; i++)
        check(b, kjit_array_create(b->ctx, KJIT_F32, 1, (int64_t[]){256}, 'C', KJIT_DEVICE,
                                   &b->arrays[i]));
    check(b, kjit_stream_create(b->ctx, &b->stream));
}

static void close_kjit(bench *b)
{
    kjit_stream_free(b->stream);
    for (int i = 0; i < 4; i++)
        kjit_array_free(b->arrays[i]);
    kjit_module_free(b->mod);
    kjit_context_destroy(b->ctx);
}

static void parse(bench *b, int argc, char **argv)
{
    b->rounds = 201;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--rounds=", 9) == 0)
            b->rounds = (int)strtol(argv[i] + 9, NULL, 10);
        else if (strcmp(argv[i], "--markdown") == 0)
            b->markdown = true;
        else if (strcmp(argv[i], "--cancellable") == 0)
            b->cancellable = true;
        else
            die("usage", "gpu-launch [--rounds=N] [--markdown] [--cancellable]");
    }
    if (b->rounds < 1 || b->rounds > MAX_ROUNDS)
        die("--rounds", "must be from 1 to 1001");
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
        puts("| ns a launch, least       | kjit_launch |     plan | in graph | cuLaunchKernel | "
             "launch adds  | plan adds  |\n"
             "| ------------------------ | ----------: | -------: | -------: | -------------: | "
             "-----------: | ---------: |");
    else
        printf("%-24s %11s %8s %8s %14s %12s %10s\n", "ns a launch, least", "kjit_launch", "plan",
               "in graph", "cuLaunchKernel", "launch adds", "plan adds");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        run(&b, &rows[i]);
    close_kjit(&b);
    check_driver(b.driver.unload(b.module));
    driver_close(&b.driver);
    return 0;
}
