/* The GPU benchmark: every case by kjit, by nvcc's code, by NVIDIA's libraries, and by Numba, CuPy and Triton where python3
 * has them, interleaved, with equal results. Times are the GPU's own, by events round several launches in a stream; compilation comes before. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

typedef struct options {
    const char *dir, *cuda, *libraries, *only, *without;
    int rounds;
    bool small, markdown, cancellable;
} options;

typedef struct bench {
    options opt;
    driver driver;
    kjit_context *ctx;
    bench_side sides[MAX_SIDES];
    bool open[MAX_SIDES];
    bench_run run;
    void *initial[MAX_BUFFERS]; /* on the host; of the buffers that are read */
    double checksum;            /* of the first side's results */
    const char *referee;
} bench;

static const char usage[] =
    "usage: gpu-bench [options]\n"
    "  --dir=DIR        bench/gpu\n"
    "  --cuda=DIR       where nvcc's code is: NAME.cubin, .fatbin or .ptx\n"
    "  --libraries=DIR  where libgpu-cub.so is\n"
    "  --rounds=N       interleaved rounds (15)\n"
    "  --only=TEXT      cases whose name contains TEXT\n"
    "  --without=SIDES  leave out sides: nvcc, library, numba, cupy, triton; separated by commas\n"
    "  --small          small arrays\n"
    "  --cancellable    kjit's context is\n"
    "  --markdown       the table in Markdown\n";

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "gpu-bench: %s: %s\n", what, why);
    exit(1);
}

static void check(bench *b, kjit_status status)
{
    if (status != KJIT_OK)
        die(b->run.c != NULL ? b->run.c->name : "kjit", kjit_last_error(b->ctx));
}

/* ---- Arrays ---- */

/* Element i of buffer `seed`; peers.py makes the same ones. */
static uint32_t hash(uint32_t i, uint32_t seed)
{
    uint32_t h = (i * 2654435761U) ^ (seed * 0x9e3779b9U);
    h ^= h >> 15;
    h *= 0x2c1b3c6dU;
    return h ^ (h >> 12);
}

static void fill(const bench_buffer *buffer, void *data, int64_t n, uint32_t seed)
{
    for (int64_t i = 0; i < n; i++) {
        const uint32_t h = hash((uint32_t)i, seed);
        if (buffer->dtype == KJIT_F32)
            ((float *)data)[i] = (float)(h >> 8) / 16777216.0F;
        else if (buffer->dtype == KJIT_I32)
            ((int32_t *)data)[i] = (int32_t)(h >> 28);
        else
            ((uint8_t *)data)[i] = (uint8_t)(h >> 24);
    }
}

/* Copies between an array and as many elements on the host. */
static void transfer(bench *b, int i, void *data, bool upload)
{
    kjit_array *device = b->run.arrays[i], *host;
    check(b, kjit_array_wrap(b->ctx, data, kjit_array_dtype(device), kjit_array_ndim(device),
                             kjit_array_shape(device), NULL, KJIT_HOST, &host));
    check(b, upload ? kjit_copy(device, host, NULL) : kjit_copy(host, device, NULL));
    kjit_array_free(host);
}

static void *allocate(size_t count, size_t size)
{
    void *p = calloc(count, size);
    if (p == NULL)
        die("arrays", "out of memory");
    return p;
}

static void make_arrays(bench *b)
{
    const bench_case *c = b->run.c;
    for (int i = 0; i < MAX_BUFFERS && bench_elements(&c->buffers[i], b->run.size) > 0; i++) {
        const bench_buffer *buffer = &c->buffers[i];
        const int64_t n = bench_elements(buffer, b->run.size);
        const int64_t shape[] = {bench_extent(buffer->shape[0], b->run.size),
                                 bench_extent(buffer->shape[1], b->run.size)};
        check(b, kjit_array_create(b->ctx, buffer->dtype, buffer->shape[1] != 0 ? 2 : 1, shape, 'C',
                                   KJIT_DEVICE, &b->run.arrays[i]));
        b->initial[i] = allocate((size_t)n, kjit_dtype_size(buffer->dtype));
        if (buffer->role == BENCH_IN || buffer->role == BENCH_INOUT)
            fill(buffer, b->initial[i], n, (uint32_t)i + 1);
        transfer(b, i, b->initial[i], true);
    }
    b->referee = NULL;
}

static void free_arrays(bench *b)
{
    for (int i = 0; i < MAX_BUFFERS; i++) {
        kjit_array_free(b->run.arrays[i]);
        free(b->initial[i]);
        b->run.arrays[i] = NULL;
        b->initial[i] = NULL;
    }
}

/* ---- Equal results ---- */

/* All results in one number: the sign counts, and nothing cancels out. */
static double checksum(bench *b)
{
    double sum = 0;
    for (int i = 0; i < MAX_BUFFERS && b->run.arrays[i] != NULL; i++) {
        const bench_buffer *buffer = &b->run.c->buffers[i];
        const int64_t n = bench_elements(buffer, b->run.size);
        if (buffer->role != BENCH_OUT && buffer->role != BENCH_INOUT)
            continue;
        void *data = allocate((size_t)n, kjit_dtype_size(buffer->dtype));
        transfer(b, i, data, false);
        for (int64_t j = 0; j < n; j++) {
            const double x = buffer->dtype == KJIT_F32 ? (double)((float *)data)[j]
                                                       : (double)((int32_t *)data)[j];
            sum += (x + 2 * fabs(x)) * (double)(1 + j % 7);
        }
        free(data);
    }
    return sum;
}

#define SUMMED 1e-9 /* what the order of a checksum's own sum may change of it */

/* Runs the case once on fresh arrays and compares with what the first side gave. */
static bool check_side(bench *b, bench_side *side)
{
    double sum = 0;
    for (int i = 0; i < MAX_BUFFERS && b->run.arrays[i] != NULL; i++)
        if (b->run.c->buffers[i].role != BENCH_IN)
            transfer(b, i, b->initial[i], true);
    if (!side->run(side, 1, NULL) || (side->checksum != NULL && !side->checksum(side, &sum)))
        return false;
    if (side->checksum == NULL)
        sum = checksum(b);
    if (b->referee == NULL) {
        b->checksum = sum;
        b->referee = side->name;
    } else if (!(fabs(sum - b->checksum) <=
                 fmax(b->run.c->tolerance, SUMMED) * fabs(b->checksum))) {
        snprintf(side->why, sizeof side->why, "the result's checksum is %.9g, %s's %.9g", sum,
                 b->referee, b->checksum);
        return false;
    }
    return true;
}

/* ---- Rounds ---- */

enum { SAMPLE_MS = 4, MOST_REPEATS = 200 };

/* Launches in a sample, so that it takes a few milliseconds. */
static int count_repeats(bench_side *side)
{
    double ms = 0;
    if (!side->run(side, 1, &ms))
        return 0;
    const double repeats = ms > 0 ? SAMPLE_MS / ms : MOST_REPEATS;
    return repeats < 1 ? 1 : repeats > MOST_REPEATS ? MOST_REPEATS : (int)repeats;
}

/* A side that fails is named and left out of the case; kjit's failure ends the program. */
static bool start_side(bench *b, int i, int *repeats)
{
    bench_side *side = &b->sides[i];
    const bool good = side->prepare(side, &b->run) && check_side(b, side);
    if (good)
        *repeats = b->opt.small ? 1 : count_repeats(side);
    if (good && *repeats > 0)
        return true;
    if (i == SIDE_KJIT)
        die(b->run.c->name, side->why);
    if (side->why[0] != '\0')
        fprintf(stderr, "gpu-bench: %s: without %s: %s\n", b->run.c->name, side->name, side->why);
    side->release(side);
    return false;
}

static void run_case(bench *b, bench_row *row)
{
    bool here[MAX_SIDES] = {false};
    int repeats[MAX_SIDES] = {0};
    b->run.c = row->c;
    b->run.size = row->size;
    make_arrays(b);
    for (int i = 0; i < MAX_SIDES; i++)
        here[i] = b->open[i] && start_side(b, i, &repeats[i]);
    for (int r = 0; r < b->opt.rounds; r++)
        for (int i = 0; i < MAX_SIDES; i++) {
            bench_samples *s = &row->side[i];
            if (here[i] && !b->sides[i].run(&b->sides[i], repeats[i], &s->ms[s->count++]))
                die(row->c->name, b->sides[i].why);
        }
    for (int i = 0; i < MAX_SIDES; i++)
        if (here[i])
            b->sides[i].release(&b->sides[i]);
    free_arrays(b);
}

/* ---- The program ---- */

static void open_sides(bench *b)
{
    static const char *const names[MAX_SIDES] = {"kjit",  "nvcc", "library",
                                                 "numba", "cupy", "triton"};
    char script[512];
    snprintf(script, sizeof script, "%s/peers.py", b->opt.dir);
    for (int i = 0; i < MAX_SIDES; i++) {
        bench_side *side = &b->sides[i];
        side->name = names[i];
        if (i != SIDE_KJIT && bench_listed(b->opt.without, names[i]))
            continue;
        switch (i) {
        case SIDE_KJIT: b->open[i] = bench_open_kjit(side, b->ctx, b->opt.dir); break;
        case SIDE_CUDA: b->open[i] = bench_open_cuda(side, &b->driver, b->opt.cuda); break;
        case SIDE_LIBRARY:
            b->open[i] = bench_open_library(side, &b->driver, b->opt.libraries);
            break;
        default: b->open[i] = bench_open_python(side, script, names[i]); break;
        }
        if (!b->open[i] && i == SIDE_KJIT)
            die("kjit", side->why);
        if (!b->open[i])
            fprintf(stderr, "gpu-bench: without %s: %s\n", side->name, side->why);
    }
}

static options parse(int argc, char **argv)
{
    options opt = {.dir = "bench/gpu", .rounds = 15};
    for (int i = 1; i < argc; i++) {
        const char *rounds = NULL;
        if (bench_take(argv[i], "--rounds=", &rounds))
            opt.rounds = (int)strtol(rounds, NULL, 10);
        else if (strcmp(argv[i], "--markdown") == 0)
            opt.markdown = true;
        else if (strcmp(argv[i], "--small") == 0)
            opt.small = true;
        else if (strcmp(argv[i], "--cancellable") == 0)
            opt.cancellable = true;
        else if (!bench_take(argv[i], "--dir=", &opt.dir) &&
                 !bench_take(argv[i], "--cuda=", &opt.cuda) &&
                 !bench_take(argv[i], "--libraries=", &opt.libraries) &&
                 !bench_take(argv[i], "--only=", &opt.only) &&
                 !bench_take(argv[i], "--without=", &opt.without)) {
            fputs(usage, stderr);
            exit(2);
        }
    }
    if (opt.rounds < 1 || opt.rounds > MAX_ROUNDS)
        die("--rounds", "must be from 1 to 101");
    return opt;
}

static bench_limits measure_limits(bench *b)
{
    const size_t size = (size_t)1 << (b->opt.small ? 16 : 28);
    const bench_limits limits = {driver_bandwidth(&b->driver, size), driver_peak(&b->driver)};
    printf("%s, compute capability %d.%d, driver for CUDA %d.%d; cuMemcpyDtoD moves %.0f GB/s; f32 "
           "peak %.0f GF/s\n\n",
           b->driver.name, b->driver.capability / 10, b->driver.capability % 10,
           b->driver.driver_version / 1000, b->driver.driver_version % 1000 / 10, limits.bandwidth,
           limits.peak);
    return limits;
}

int main(int argc, char **argv)
{
    static bench b;
    char why[DRIVER_WHY];
    b.opt = parse(argc, argv);
    signal(SIGPIPE, SIG_IGN); /* a side that ended is a message */
    if (!driver_open(&b.driver, why))
        die("driver", why);
    const kjit_context_options on_gpu = {.device = "cuda", .cancellable = b.opt.cancellable};
    if (kjit_context_create(&on_gpu, &b.ctx, why, sizeof why) != KJIT_OK)
        die("kjit", why);
    const bench_limits limits = measure_limits(&b);
    open_sides(&b);
    bench_report_head(b.opt.markdown);
    for (int i = 0; i < bench_ncases; i++) {
        const bench_case *c = &bench_cases[i];
        bench_row row = {.c = c, .size = b.opt.small ? c->small : c->size};
        if (b.opt.only != NULL && strstr(c->name, b.opt.only) == NULL)
            continue;
        run_case(&b, &row);
        bench_report_row(&row, &limits, b.opt.markdown);
    }
    for (int i = 0; i < MAX_SIDES; i++)
        if (b.open[i])
            b.sides[i].close(&b.sides[i]);
    kjit_context_destroy(b.ctx);
    driver_close(&b.driver);
    return 0;
}
