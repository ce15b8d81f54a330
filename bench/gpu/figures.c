/* gpu-figures [--small] [--only=PARTS]: what a program pays on this GPU beside its kernels, in
 * tables of Markdown: calls of the driver, code from text to its first launch, copies, memory, work
 * of two streams side by side. Wall-clock time; the least of a few tries where nothing else is
 * said. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common.h"
#include "driver.h"
#include "kjit.h"

typedef struct figures {
    driver driver;
    kjit_context *ctx;
    kjit_stream *streams[2];
    const char *only, *dir;
    bool small;
} figures;

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "gpu-figures: %s: %s\n", what, why);
    exit(1);
}

static void check(figures *f, kjit_status status)
{
    if (status != KJIT_OK)
        die("kjit", kjit_last_error(f->ctx));
}

static void check_driver(int status)
{
    char text[32];
    snprintf(text, sizeof text, "error %d", status);
    if (status != 0)
        die("driver", text);
}

static double least(double a, double b)
{
    return a == 0 || b < a ? b : a;
}

static void title(const char *text)
{
    printf("\n### %s\n\n", text);
}

/* ---- The driver's calls that kjit's are made of ---- */

typedef void call(figures *f);

static void nothing(figures *f)
{
    (void)f;
}

static void push_and_pop(figures *f)
{
    void *left;
    f->driver.push(f->driver.context);
    f->driver.pop(&left);
}

static void exchange_twice(figures *f)
{
    int mode = 2; /* relaxed */
    f->driver.exchange_mode(&mode);
    f->driver.exchange_mode(&mode);
}

static void is_capturing(figures *f)
{
    int status;
    f->driver.is_capturing(f->driver.stream, &status);
}

static void record(figures *f)
{
    f->driver.event_record(f->driver.from, f->driver.stream);
}

static void query(figures *f)
{
    f->driver.event_query(f->driver.from);
}

static void wait_for_nothing(figures *f)
{
    f->driver.stream_wait(f->driver.stream);
}

static void driver_calls(figures *f)
{
    enum { TRIES = 20 };
    static const struct {
        const char *name;
        call *call;
    } rows[] = {{"nothing", nothing},
                {"cuCtxPushCurrent, cuCtxPopCurrent", push_and_pop},
                {"cuThreadExchangeStreamCaptureMode, twice", exchange_twice},
                {"cuStreamIsCapturing", is_capturing},
                {"cuEventRecord", record},
                {"cuEventQuery", query},
                {"cuStreamSynchronize, nothing to wait for", wait_for_nothing}};
    const int calls = f->small ? 10 : 1000;
    title("Calls of the driver");
    puts("| ns, least | |\n| --- | ---: |");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double best = 0;
        for (int t = 0; t < TRIES; t++) {
            const double start = bench_now_ms();
            for (int k = 0; k < calls; k++)
                rows[i].call(f);
            best = least(best, (bench_now_ms() - start) * 1e6 / calls);
            check_driver(f->driver.stream_wait(f->driver.stream));
        }
        printf("| %s | %.0f |\n", rows[i].name, best);
    }
}

/* ---- Code ---- */

static const char empty[] =
    "kernel one(x: f32[]) { if x.size < 0 { x[0] = 1.0 } }\n"
    "kernel add(x: f32[]) { let i = grid(1); if i < x.size { x[i] += 1.0 } }\n"
    "kernel busy(x: f32[], n: i32) {\n"
    "    var s = x[0]\n"
    "    for k in range(n) { s = s * 1.0001 + 0.5 }\n"
    "    x[0] = s\n"
    "}\n";

static kjit_array *device(figures *f, int64_t n)
{
    kjit_array *a;
    check(f, kjit_array_create(f->ctx, KJIT_F32, 1, &n, 'C', KJIT_DEVICE, &a));
    return a;
}

static kjit_module *compile(figures *f, const char *path, double *ms)
{
    char why[WHY_SIZE];
    size_t size;
    kjit_module *mod;
    char *text = path != NULL ? bench_file(path, &size, why) : NULL;
    if (path != NULL && text == NULL)
        die("a kernel", why);
    const double start = bench_now_ms();
    check(f, kjit_module_compile(f->ctx, path != NULL ? path : "figures.knl",
                                 text != NULL ? text : empty,
                                 text != NULL ? size : sizeof empty - 1, NULL, &mod));
    *ms = bench_now_ms() - start;
    free(text);
    return mod;
}

/* The driver's part alone: PTX to a function. */
static double load(figures *f, kjit_module *mod, const char *kernel, size_t *size)
{
    char *ptx, entry[80];
    driver_module_ref module;
    driver_function_ref function;
    check(f, kjit_module_emit(mod, "ptx", kernel, NULL, &ptx, size));
    snprintf(entry, sizeof entry, "kj_%s", kernel);
    const double start = bench_now_ms();
    check_driver(f->driver.load(&module, ptx));
    check_driver(f->driver.function(&function, module, entry));
    const double ms = bench_now_ms() - start;
    check_driver(f->driver.unload(module));
    free(ptx);
    return ms;
}

static void code(figures *f)
{
    static const struct {
        const char *file, *kernel;
    } rows[] = {{NULL, "add"},
                {"cpu/kernels/reduce.knl", "reduce"},
                {"cpu/kernels/matmul.knl", "matmul_tuned"},
                {"cpu/kernels/nbody.knl", "nbody"}};
    title("Code: from text to a loaded function, once each");
    puts("| ms | parse and check | PTX, bytes | PTX by the driver |\n| --- | ---: | ---: | ---: |");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[512];
        double parsed;
        size_t size;
        snprintf(path, sizeof path, "%s/../%s", f->dir, rows[i].file != NULL ? rows[i].file : "");
        kjit_module *mod = compile(f, rows[i].file != NULL ? path : NULL, &parsed);
        const double loaded = load(f, mod, rows[i].kernel, &size);
        printf("| %s | %.2f | %zu | %.2f |\n", rows[i].kernel, parsed, size, loaded);
        kjit_module_free(mod);
    }
    double ms;
    kjit_module *mod = compile(f, NULL, &ms);
    kjit_array *x = device(f, 256);
    const kjit_config config = {.grid = {1}, .block = {256}};
    puts("\n| µs until done | |\n| --- | ---: |");
    for (int i = 0; i < 4; i++) {
        const double start = bench_now_ms();
        check(f, kjit_launch(mod, "add", &config, (kjit_arg[]){kjit_arg_array(x)}, 1));
        printf("| launch %d of a new kernel | %.1f |\n", i + 1, (bench_now_ms() - start) * 1e3);
    }
    kjit_array_free(x);
    kjit_module_free(mod);
}

/* ---- Copies ---- */

typedef struct pair {
    kjit_array *host, *device;
} pair;

static pair make_pair(figures *f, int64_t bytes, kjit_memory memory)
{
    pair p;
    int64_t n = bytes / 4;
    check(f, kjit_array_create(f->ctx, KJIT_F32, 1, &n, 'C', memory, &p.host));
    memset(kjit_array_data(p.host), 1, (size_t)bytes);
    p.device = device(f, n);
    return p;
}

static void free_pair(pair *p)
{
    kjit_array_free(p->host);
    kjit_array_free(p->device);
}

/* GB/s of a copy each way that is named, at once. */
static double copy_rate(figures *f, pair p[2], int64_t bytes, bool to, bool from)
{
    enum { TRIES = 7 };
    double best = 0;
    for (int t = 0; t < TRIES; t++) {
        const double start = bench_now_ms();
        if (to)
            check(f, kjit_copy(p[0].device, p[0].host, f->streams[0]));
        if (from)
            check(f, kjit_copy(p[1].host, p[1].device, f->streams[1]));
        check(f, kjit_stream_synchronize(f->streams[0]));
        check(f, kjit_stream_synchronize(f->streams[1]));
        best = least(best, bench_now_ms() - start);
    }
    return (double)bytes * (to + from) / best / 1e6;
}

/* The same without a stream. */
static double rate_now(figures *f, pair *p, int64_t bytes, bool to)
{
    enum { TRIES = 7 };
    double best = 0;
    for (int t = 0; t < TRIES; t++) {
        const double start = bench_now_ms();
        check(f, to ? kjit_copy(p->device, p->host, NULL) : kjit_copy(p->host, p->device, NULL));
        best = least(best, bench_now_ms() - start);
    }
    return (double)bytes / best / 1e6;
}

static void copies(figures *f)
{
    static const struct {
        const char *name;
        kjit_memory memory;
    } kinds[] = {{"pageable", KJIT_HOST}, {"page-locked", KJIT_PINNED}};
    title("Copies between host and device, GB/s");
    puts("| | KiB | to the device, now | from it, now | to, in a stream | from, in a stream | both "
         "ways at once |\n"
         "| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (int k = 0; k < 2; k++) {
        for (int64_t kib = 64; kib <= (f->small ? 64 : 1 << 18); kib *= 64) {
            const int64_t bytes = kib << 10;
            pair p[2] = {make_pair(f, bytes, kinds[k].memory),
                         make_pair(f, bytes, kinds[k].memory)};
            printf("| %s | %lld | %.2f | %.2f | %.2f | %.2f | %.2f |\n", kinds[k].name,
                   (long long)kib, rate_now(f, p, bytes, true), rate_now(f, p, bytes, false),
                   copy_rate(f, p, bytes, true, false), copy_rate(f, p, bytes, false, true),
                   copy_rate(f, p, bytes, true, true));
            free_pair(&p[0]);
            free_pair(&p[1]);
        }
    }
}

/* ---- Memory ---- */

static void allocate_plain(figures *f, int64_t bytes)
{
    int64_t n = bytes / 4;
    kjit_array *a;
    check(f, kjit_array_create(f->ctx, KJIT_F32, 1, &n, 'C', KJIT_DEVICE, &a));
    kjit_array_free(a);
}

static void allocate_in_order(figures *f, int64_t bytes)
{
    int64_t n = bytes / 4;
    kjit_array *a;
    const kjit_array_options options = {.memory = KJIT_DEVICE, .stream = f->streams[0]};
    check(f, kjit_array_create_with(f->ctx, KJIT_F32, 1, &n, &options, &a));
    kjit_array_free(a);
}

static void allocate_by_driver(figures *f, int64_t bytes)
{
    driver_memory memory;
    check_driver(f->driver.alloc(&memory, (size_t)bytes));
    check_driver(f->driver.release_memory(memory));
}

static void allocate_locked(figures *f, int64_t bytes)
{
    int64_t n = bytes / 4;
    kjit_array *a;
    check(f, kjit_array_create(f->ctx, KJIT_F32, 1, &n, 'C', KJIT_PINNED, &a));
    kjit_array_free(a);
}

static void memory(figures *f)
{
    static const struct {
        const char *name;
        void (*take)(figures *f, int64_t bytes);
    } rows[] = {{"an array of the device", allocate_plain},
                {"in a stream's order", allocate_in_order},
                {"cuMemAlloc, cuMemFree", allocate_by_driver},
                {"a page-locked array", allocate_locked}};
    static const int64_t sizes[] = {1 << 10, 1 << 20, 1 << 28};
    const int times = f->small ? 3 : 50, nsizes = f->small ? 2 : 3;
    int64_t on = 0;
    kjit_device_attribute(f->ctx, KJIT_ATTRIBUTE_MEMORY_POOLS, &on);
    title("Memory: taken and given back");
    printf("Pools: %s.\n\n| µs each, of %d | 1 KiB | 1 MiB | 256 MiB |\n| --- | ---: | ---: | ---: "
           "|\n",
           on ? "yes" : "none", times);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        printf("| %s |", rows[i].name);
        for (int s = 0; s < 3; s++) {
            if (s >= nsizes) {
                printf(" - |");
                continue;
            }
            rows[i].take(f, sizes[s]);
            const double start = bench_now_ms();
            for (int k = 0; k < times; k++)
                rows[i].take(f, sizes[s]);
            check(f, kjit_deallocate_pending(f->ctx));
            printf(" %.1f |", (bench_now_ms() - start) * 1e3 / times);
        }
        puts("");
    }
}

/* ---- Two streams ---- */

typedef enum arrays { KEPT, ORDERED, PLAIN } arrays;

/* Kernels of one thread in one stream or in turn in both, each on an array of its own, which comes
 * and goes in the stream's order or without one. */
static double work(figures *f, kjit_module *mod, int nstreams, arrays kind, int turns)
{
    enum { LAUNCHES = 16 };
    int64_t n = 1 << 18;
    const double start = bench_now_ms();
    for (int i = 0; i < LAUNCHES; i++) {
        for (int s = 0; s < nstreams; s++) {
            kjit_array *a;
            const kjit_array_options options = {.memory = KJIT_DEVICE,
                                                .stream = kind == ORDERED ? f->streams[s] : NULL};
            const kjit_config config = {.grid = {1}, .block = {1}, .stream = f->streams[s]};
            check(f, kjit_array_create_with(f->ctx, KJIT_F32, 1, &n, &options, &a));
            check(f, kjit_launch(mod, "busy", &config,
                                 (kjit_arg[]){kjit_arg_array(a), kjit_arg_i64(turns)}, 2));
            kjit_array_free(a);
        }
    }
    for (int s = 0; s < nstreams; s++)
        check(f, kjit_stream_synchronize(f->streams[s]));
    return bench_now_ms() - start;
}

/* The same without arrays that come and go. */
static double work_kept(figures *f, kjit_module *mod, int nstreams, int turns)
{
    enum { LAUNCHES = 16 };
    kjit_array *a[2] = {device(f, 1 << 18), device(f, 1 << 18)};
    const double start = bench_now_ms();
    for (int i = 0; i < LAUNCHES; i++) {
        for (int s = 0; s < nstreams; s++) {
            const kjit_config config = {.grid = {1}, .block = {1}, .stream = f->streams[s]};
            check(f, kjit_launch(mod, "busy", &config,
                                 (kjit_arg[]){kjit_arg_array(a[s]), kjit_arg_i64(turns)}, 2));
        }
    }
    for (int s = 0; s < nstreams; s++)
        check(f, kjit_stream_synchronize(f->streams[s]));
    const double ms = bench_now_ms() - start;
    kjit_array_free(a[0]);
    kjit_array_free(a[1]);
    return ms;
}

static void overlap(figures *f)
{
    static const struct {
        const char *name;
        arrays kind;
    } rows[] = {{"arrays that are kept", KEPT},
                {"arrays in the streams' order", ORDERED},
                {"arrays without a stream", PLAIN}};
    const int turns = f->small ? 50 : 200000;
    double ms;
    kjit_module *mod = compile(f, NULL, &ms);
    title("Two streams: 16 kernels each, whose arrays come and go");
    puts("| ms | one stream | two streams | twice the work in |\n| --- | ---: | ---: | ---: |");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double times[2] = {0, 0};
        for (int t = 0; t < 4; t++) {
            for (int n = 1; n <= 2; n++)
                times[n - 1] = least(times[n - 1], rows[i].kind == KEPT
                                                       ? work_kept(f, mod, n, turns)
                                                       : work(f, mod, n, rows[i].kind, turns));
        }
        printf("| %s | %.2f | %.2f | %.2f of the time |\n", rows[i].name, times[0], times[1],
               times[1] / times[0]);
    }
    kjit_module_free(mod);
}

/* ---- The program ---- */

static void parse(figures *f, int argc, char **argv)
{
    f->dir = "bench/gpu";
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--small") == 0)
            f->small = true;
        else if (!bench_take(argv[i], "--only=", &f->only) &&
                 !bench_take(argv[i], "--dir=", &f->dir))
            die("usage", "gpu-figures [--small] [--dir=bench/gpu] "
                         "[--only=calls,code,copies,memory,overlap]");
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(figures *f);
    } parts[] = {{"calls", driver_calls},
                 {"code", code},
                 {"copies", copies},
                 {"memory", memory},
                 {"overlap", overlap}};
    static figures f;
    char why[DRIVER_WHY];
    const kjit_context_options on_gpu = {.device = "cuda", .cache = "off"};
    parse(&f, argc, argv);
    if (!driver_open(&f.driver, why))
        die("driver", why);
    if (kjit_context_create(&on_gpu, &f.ctx, why, sizeof why) != KJIT_OK)
        die("kjit", why);
    for (int i = 0; i < 2; i++)
        check(&f, kjit_stream_create(f.ctx, &f.streams[i]));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (f.only == NULL || bench_listed(f.only, parts[i].name))
            parts[i].run(&f);
        fflush(stdout);
    }
    for (int i = 0; i < 2; i++)
        kjit_stream_free(f.streams[i]);
    kjit_context_destroy(f.ctx);
    driver_close(&f.driver);
    return 0;
}
