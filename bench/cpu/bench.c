/* The CPU benchmark: every case by kjit, the two OpenMP builds and PoCL, interleaved, on the same arrays, with equal
 * results. `run` builds and starts it. The times are those of whole launches, from the call until the result is
 * there; compilation and first touches come before. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "report.h"

typedef struct options {
    const char *dir, *omp[2], *only, *without;
    int rounds;
    bool markdown, strict;
} options;

typedef struct bench {
    options opt;
    bench_side sides[MAX_SIDES];
    bool open[MAX_SIDES];
    void *data[MAX_BUFFERS];
    void *initial[MAX_BUFFERS];   /* of BENCH_INOUT buffers */
    void *reference[MAX_BUFFERS]; /* of those and BENCH_OUT ones; what the first side gave */
    const char *referee;          /* that side's name */
} bench;

static const char usage[] =
    "usage: BUILD=dir bench/cpu/run [options]\n"
    "  --rounds=N       interleaved rounds (15)\n"
    "  --only=TEXT      cases whose name contains TEXT\n"
    "  --without=SIDES  leave out sides: kjit, gcc, clang, pocl; separated by commas\n"
    "  --markdown       the table in Markdown\n"
    "  --strict         fail when an aim is missed\n";

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "bench: %s: %s\n", what, why);
    exit(1);
}

/* ---- Arrays ---- */

/* Large pages where the system has them: page walks would cost every side more than the work of the 1-D cases. */
static void *allocate(size_t bytes)
{
    const size_t page = (size_t)1 << 21, size = (bytes + page - 1) / page * page;
    void *p = aligned_alloc(page, size);
    if (p == NULL)
        die("arrays", "out of memory");
    madvise(p, size, MADV_HUGEPAGE); /* only advice */
    memset(p, 0, size);
    return p;
}

/* Bytes, or floats in [0, 1): always the same ones. */
static void randomise(const bench_buffer *b, void *data, uint32_t seed)
{
    const int64_t n = bench_elements(b);
    uint32_t state = seed * 0x9e3779b9U + 1;
    for (int64_t i = 0; i < n; i++) {
        state = state * 1664525U + 1013904223U;
        if (b->dtype == KJIT_F32)
            ((float *)data)[i] = (float)(state >> 8) / 16777216.0F;
        else
            ((uint8_t *)data)[i] = (uint8_t)(state >> 24);
    }
}

static bool is_result(const bench_buffer *b)
{
    return b->role == BENCH_OUT || b->role == BENCH_INOUT;
}

static void make_arrays(bench *b, const bench_case *c)
{
    for (int i = 0; i < MAX_BUFFERS && bench_elements(&c->buffers[i]) > 0; i++) {
        const bench_buffer *buffer = &c->buffers[i];
        b->data[i] = allocate(bench_bytes(buffer));
        if (buffer->role == BENCH_IN || buffer->role == BENCH_INOUT)
            randomise(buffer, b->data[i], (uint32_t)i + 1);
        if (buffer->role == BENCH_INOUT) {
            b->initial[i] = allocate(bench_bytes(buffer));
            memcpy(b->initial[i], b->data[i], bench_bytes(buffer));
        }
        if (is_result(buffer))
            b->reference[i] = allocate(bench_bytes(buffer));
    }
    b->referee = NULL;
}

static void free_arrays(bench *b)
{
    for (int i = 0; i < MAX_BUFFERS; i++) {
        free(b->data[i]);
        free(b->initial[i]);
        free(b->reference[i]);
        b->data[i] = b->initial[i] = b->reference[i] = NULL;
    }
}

/* ---- Equal results ---- */

static double element(kjit_dtype dtype, const void *data, int64_t i)
{
    return dtype == KJIT_F32 ? (double)((const float *)data)[i]
                             : (double)((const int32_t *)data)[i];
}

static void compare(const bench *b, const bench_case *c, const char *who, int i)
{
    const bench_buffer *buffer = &c->buffers[i];
    const int64_t n = bench_elements(buffer);
    int64_t wrong = 0, first = 0;
    for (int64_t j = 0; j < n; j++) {
        const double got = element(buffer->dtype, b->data[i], j),
                     want = element(buffer->dtype, b->reference[i], j);
        if (!(fabs(got - want) <= c->tolerance * (fabs(want) + 1)) && wrong++ == 0)
            first = j;
    }
    if ((double)wrong <= c->stray * (double)n)
        return;
    fprintf(stderr,
            "bench: %s: %s differs from %s in %lld of %lld elements of array %d; the first is "
            "%lld: %.9g, not %.9g\n",
            c->name, who, b->referee, (long long)wrong, (long long)n, i, (long long)first,
            element(buffer->dtype, b->data[i], first),
            element(buffer->dtype, b->reference[i], first));
    exit(1);
}

/* Runs the case once on fresh arrays and compares what it gives with what the first side gave. */
static void check(bench *b, const bench_case *c, bench_side *side)
{
    for (int i = 0; i < MAX_BUFFERS; i++) {
        if (b->initial[i] != NULL)
            memcpy(b->data[i], b->initial[i], bench_bytes(&c->buffers[i]));
        else if (b->reference[i] != NULL)
            memset(b->data[i], 0x41, bench_bytes(&c->buffers[i]));
    }
    if (!side->run(side))
        die(c->name, side->why);
    for (int i = 0; i < MAX_BUFFERS; i++) {
        if (b->reference[i] == NULL)
            continue;
        if (b->referee == NULL)
            memcpy(b->reference[i], b->data[i], bench_bytes(&c->buffers[i]));
        else
            compare(b, c, side->name, i);
    }
    if (b->referee == NULL)
        b->referee = side->name;
}

/* ---- Rounds ---- */

static double time_once(const bench_case *c, bench_side *side)
{
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL); /* the side before goes to sleep */
    const double start = bench_now_ms();
    if (!side->run(side))
        die(c->name, side->why);
    return bench_now_ms() - start;
}

static bool takes_part(const bench *b, const bench_case *c, int side)
{
    return b->open[side] && !(side == SIDE_POCL && c->no_opencl);
}

/* A side is left out of further rounds when it has three samples and spent two seconds. */
static void run_rounds(bench *b, bench_row *row)
{
    double spent[MAX_SIDES] = {0};
    for (int r = 0; r < b->opt.rounds; r++)
        for (int i = 0; i < MAX_SIDES; i++) {
            bench_samples *s = &row->side[i];
            if (!takes_part(b, row->c, i) || (s->count >= 3 && spent[i] > 2000))
                continue;
            const double ms = time_once(row->c, &b->sides[i]);
            s->ms[s->count++] = ms;
            spent[i] += ms;
        }
}

static void run_case(bench *b, bench_row *row)
{
    const bench_case *c = row->c;
    make_arrays(b, c);
    /* The OpenMP builds first: theirs is the reference. */
    static const int order[MAX_SIDES] = {SIDE_GCC, SIDE_CLANG, SIDE_POCL, SIDE_KJIT};
    for (int i = 0; i < MAX_SIDES; i++) {
        bench_side *side = &b->sides[order[i]];
        if (!takes_part(b, c, order[i]))
            continue;
        if (!side->prepare(side, c, b->data))
            die(c->name, side->why);
        check(b, c, side);
        time_once(c, side);
    }
    run_rounds(b, row);
    for (int i = 0; i < MAX_SIDES; i++)
        if (takes_part(b, c, i))
            b->sides[i].release(&b->sides[i]);
    free_arrays(b);
}

/* ---- The program ---- */

static void open_sides(bench *b)
{
    static const char *const names[MAX_SIDES] = {"kjit", "gcc", "clang", "pocl"};
    const kjit_context_options on_cpu = {.device = "cpu"};
    for (int i = 0; i < MAX_SIDES; i++) {
        bench_side *side = &b->sides[i];
        side->name = names[i];
        if (bench_listed(b->opt.without, side->name))
            continue;
        switch (i) {
        case SIDE_KJIT: b->open[i] = bench_open_kjit(side, b->opt.dir, &on_cpu, 0); break;
        case SIDE_POCL: b->open[i] = bench_open_opencl(side, b->opt.dir); break;
        default:
            b->open[i] =
                b->opt.omp[i - SIDE_GCC] != NULL && bench_open_omp(side, b->opt.omp[i - SIDE_GCC]);
            break;
        }
        if (!b->open[i] && i == SIDE_KJIT)
            die("kjit", side->why);
        if (!b->open[i])
            fprintf(stderr, "bench: without %s: %s\n", side->name,
                    side->why[0] != '\0' ? side->why : "no such compiler");
    }
    if (!b->open[SIDE_GCC] && !b->open[SIDE_CLANG])
        die("OpenMP", "neither gcc's nor clang's build is there");
}

static options parse(int argc, char **argv)
{
    options opt = {.dir = "bench/cpu", .rounds = 15};
    for (int i = 1; i < argc; i++) {
        const char *rounds = NULL;
        if (bench_take(argv[i], "--rounds=", &rounds))
            opt.rounds = (int)strtol(rounds, NULL, 10);
        else if (strcmp(argv[i], "--markdown") == 0)
            opt.markdown = true;
        else if (strcmp(argv[i], "--strict") == 0)
            opt.strict = true;
        else if (!bench_take(argv[i], "--dir=", &opt.dir) &&
                 !bench_take(argv[i], "--gcc=", &opt.omp[0]) &&
                 !bench_take(argv[i], "--clang=", &opt.omp[1]) &&
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

int main(int argc, char **argv)
{
    bench *b = calloc(1, sizeof *b);
    bench_row *rows = calloc((size_t)bench_ncases, sizeof *rows);
    if (b == NULL || rows == NULL)
        die("bench", "out of memory");
    b->opt = parse(argc, argv);
    open_sides(b);
    int nrows = 0;
    for (int i = 0; i < bench_ncases; i++) {
        if (b->opt.only != NULL && strstr(bench_cases[i].name, b->opt.only) == NULL)
            continue;
        rows[nrows].c = &bench_cases[i];
        run_case(b, &rows[nrows++]);
    }
    const int missed = bench_report(stdout, rows, nrows, b->opt.markdown);
    for (int i = 0; i < MAX_SIDES; i++)
        if (b->open[i])
            b->sides[i].close(&b->sides[i]);
    const bool failed = b->opt.strict && missed > 0;
    free(rows);
    free(b);
    return failed ? 1 : 0;
}
