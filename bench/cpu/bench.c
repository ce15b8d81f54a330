/* The CPU benchmark: every case by kjit, the two OpenMP builds and PoCL, interleaved, on the same arrays, with equal
 * results. `run` builds and starts it. The times are those of whole launches, from the call until the result is
 * there; compilation and first touches come before. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report.h"

typedef struct options {
    const char *dir, *omp[2], *only, *without, *json, *compare;
    int rounds, threads;
    bool markdown, strict, tiny, quick, cpu_time;
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
    "  --quick          3 rounds, less where they take long\n"
    "  --tiny           small arrays and no times: whether all sides agree\n"
    "  --threads=N      threads of kjit and of OpenMP (one a core)\n"
    "  --cpu-time       the processor's time: with --threads=1, where others use the machine\n"
    "  --only=TEXT,...  cases whose name contains one of these\n"
    "  --without=SIDES  leave out sides: kjit, gcc, clang, pocl; separated by commas\n"
    "  --markdown       the table in Markdown\n"
    "  --json=FILE      write the times\n"
    "  --compare=FILE   tell which cases are slower by more than 10 % than in such a file\n"
    "  --strict         fail when an aim is missed or a case is slower\n";

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "bench: %s: %s\n", what, why);
    exit(1);
}

/* ---- Arrays ---- */

static void *allocate(size_t bytes)
{
    void *p = bench_allocate(bytes);
    if (p == NULL)
        die("arrays", "out of memory");
    return p;
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
            bench_fill_buffer(c, i, b->data[i]);
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

static void compare(const bench *b, const bench_case *c, const char *who, int i)
{
    const bench_buffer *buffer = &c->buffers[i];
    const int64_t n = bench_elements(buffer);
    int64_t wrong = 0, first = 0;
    for (int64_t j = 0; j < n; j++) {
        const double got = bench_element(buffer->dtype, b->data[i], j),
                     want = bench_element(buffer->dtype, b->reference[i], j);
        if (!(fabs(got - want) <= c->tolerance * (fabs(want) + 1)) && wrong++ == 0)
            first = j;
    }
    if ((double)wrong <= c->stray * (double)n)
        return;
    fprintf(stderr,
            "bench: %s: %s differs from %s in %lld of %lld elements of array %d; the first is "
            "%lld: %.9g, not %.9g\n",
            c->name, who, b->referee, (long long)wrong, (long long)n, i, (long long)first,
            bench_element(buffer->dtype, b->data[i], first),
            bench_element(buffer->dtype, b->reference[i], first));
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

static double now_ms(const bench *b)
{
    struct timespec t;
    clock_gettime(b->opt.cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double time_once(const bench *b, const bench_case *c, bench_side *side)
{
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL); /* the side before goes to sleep */
    const double start = now_ms(b);
    if (!side->run(side))
        die(c->name, side->why);
    return now_ms(b) - start;
}

static bool takes_part(const bench *b, const bench_case *c, int side)
{
    return b->open[side] && (side != SIDE_POCL || bench_has_opencl(c));
}

/* A side is left out of further rounds when it has three samples and spent two seconds; in a hurry sooner. */
static void run_rounds(bench *b, bench_row *row)
{
    const int few = b->opt.quick ? 1 : 3;
    const double long_ms = b->opt.quick ? 500 : 2000;
    double spent[MAX_SIDES] = {0};
    for (int r = 0; r < b->opt.rounds; r++)
        for (int i = 0; i < MAX_SIDES; i++) {
            bench_samples *s = &row->side[i];
            if (!takes_part(b, row->c, i) || (s->count >= few && spent[i] > long_ms))
                continue;
            const double ms = time_once(b, row->c, &b->sides[i]);
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
        if (!b->opt.tiny)
            time_once(b, c, side);
    }
    if (!b->opt.tiny)
        run_rounds(b, row);
    for (int i = 0; i < MAX_SIDES; i++)
        if (takes_part(b, c, i))
            b->sides[i].release(&b->sides[i]);
    free_arrays(b);
}

/* ---- The program ---- */

/* Bytes a millisecond that a case moves at most, by the better OpenMP build. */
static double speed_of(bench *b, const bench_case *c)
{
    double least = INFINITY;
    make_arrays(b, c);
    for (int i = SIDE_GCC; i <= SIDE_CLANG; i++) {
        bench_side *side = &b->sides[i];
        if (!b->open[i])
            continue;
        if (!side->prepare(side, c, b->data))
            die(c->name, side->why);
        for (int r = 0; r < (b->opt.quick ? 2 : 7); r++)
            least = fmin(least, time_once(b, c, side));
        side->release(side);
    }
    free_arrays(b);
    return bench_traffic(c) / least;
}

/* What memory can give: a result over one of the operands is written without being read for that. */
static double memory_speed(bench *b)
{
    double most = 0;
    for (int i = 0; i < bench_ncases; i++)
        if (strcmp(bench_cases[i].name, "vecadd") == 0 || strcmp(bench_cases[i].name, "saxpy") == 0)
            most = fmax(most, speed_of(b, &bench_cases[i]));
    return most;
}

static void open_sides(bench *b)
{
    static const char *const names[MAX_SIDES] = {"kjit", "gcc", "clang", "pocl"};
    const kjit_context_options on_cpu = {.device = "cpu", .workers = b->opt.threads};
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

static int number(const char *option, const char *text, int most)
{
    const long n = strtol(text, NULL, 10);
    if (n < 1 || n > most) {
        fprintf(stderr, "bench: %s must be from 1 to %d\n", option, most);
        exit(2);
    }
    return (int)n;
}

static bool take_flag(options *opt, const char *arg)
{
    if (strcmp(arg, "--markdown") == 0)
        opt->markdown = true;
    else if (strcmp(arg, "--strict") == 0)
        opt->strict = true;
    else if (strcmp(arg, "--tiny") == 0)
        opt->tiny = true;
    else if (strcmp(arg, "--quick") == 0)
        opt->quick = true;
    else if (strcmp(arg, "--cpu-time") == 0)
        opt->cpu_time = true;
    else
        return false;
    return true;
}

static options parse(int argc, char **argv)
{
    options opt = {.dir = "bench/cpu"};
    const char *rounds = NULL, *threads = NULL;
    for (int i = 1; i < argc; i++)
        if (!take_flag(&opt, argv[i]) && !bench_take(argv[i], "--rounds=", &rounds) &&
            !bench_take(argv[i], "--threads=", &threads) &&
            !bench_take(argv[i], "--dir=", &opt.dir) &&
            !bench_take(argv[i], "--gcc=", &opt.omp[0]) &&
            !bench_take(argv[i], "--clang=", &opt.omp[1]) &&
            !bench_take(argv[i], "--only=", &opt.only) &&
            !bench_take(argv[i], "--json=", &opt.json) &&
            !bench_take(argv[i], "--compare=", &opt.compare) &&
            !bench_take(argv[i], "--without=", &opt.without)) {
            fputs(usage, stderr);
            exit(2);
        }
    opt.rounds = rounds != NULL ? number("--rounds", rounds, MAX_ROUNDS) : opt.quick ? 3 : 15;
    if (threads != NULL) {
        opt.threads = number("--threads", threads, 1024);
        setenv("OMP_NUM_THREADS", threads, 1);
    }
    return opt;
}

/* Of all names if there is no list, else of those that contain one of it. */
static bool wanted(const char *list, const char *name)
{
    if (list == NULL)
        return true;
    for (const char *at = list; *at != '\0'; at += strcspn(at, ","), at += *at == ',') {
        char part[NAME_SIZE];
        snprintf(part, sizeof part, "%.*s", (int)strcspn(at, ","), at);
        if (part[0] != '\0' && strstr(name, part) != NULL)
            return true;
    }
    return false;
}

static bool run_all(bench *b, bench_row *rows)
{
    const bench_case *cases = b->opt.tiny ? bench_tiny_cases : bench_cases;
    int nrows = 0, missed = 0, slower = 0;
    for (int i = 0; i < bench_ncases; i++)
        if (wanted(b->opt.only, cases[i].name)) {
            rows[nrows].c = &cases[i];
            run_case(b, &rows[nrows++]);
        }
    if (nrows == 0)
        die("--only", "there is no such case");
    if (b->opt.tiny) {
        printf("%d cases agree\n", nrows);
        return true;
    }
    bench_sort_rows(rows, nrows);
    missed = bench_report(stdout, rows, nrows, memory_speed(b), b->opt.markdown);
    char why[WHY_SIZE];
    if (b->opt.compare != NULL && !bench_compare(stdout, b->opt.compare, rows, nrows, &slower, why))
        die("--compare", why);
    if (b->opt.json != NULL && !bench_save(b->opt.json, rows, nrows, why))
        die("--json", why);
    return !b->opt.strict || missed + slower == 0;
}

int main(int argc, char **argv)
{
    bench *b = calloc(1, sizeof *b);
    bench_row *rows = calloc((size_t)bench_ncases, sizeof *rows);
    if (b == NULL || rows == NULL)
        die("bench", "out of memory");
    b->opt = parse(argc, argv);
    open_sides(b);
    const bool good = run_all(b, rows);
    for (int i = 0; i < MAX_SIDES; i++)
        if (b->open[i])
            b->sides[i].close(&b->sides[i]);
    free(rows);
    free(b);
    return good ? 0 : 1;
}
