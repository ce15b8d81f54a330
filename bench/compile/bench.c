/* The compile-time benchmark: four kernels to PTX by kjit, NVRTC and nvcc, interleaved. `run` builds and starts it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { MAX_ROUNDS = 201 };

static const bench_case cases[] = {{"vecadd", "../gpu/cuda/vecadd.cu", "256", false},
                                   {"matmul", "cuda/matmul.cu", "32,32", false},
                                   {"nbody", "../gpu/cuda/nbody.cu", "256", false},
                                   {"pricing", "cuda/pricing.cu", "256", true}};
enum { NCASES = sizeof cases / sizeof *cases };

/* A group of columns: kjit beside the peer that has an aim, and one more. */
typedef struct group {
    const char *title;
    int kjit, peer, other; /* other: -1 for none */
    double aim, aim_math;  /* most that kjit's time may be of the peer's */
} group;

static const group groups[] = {
    {"whole process", KJIT_PROCESS, NVRTC_PROCESS, NVCC_PROCESS, 0.5, 0.8},
    {"in process, warm", KJIT_WARM, NVRTC_WARM, -1, 0.5, 0.5}};

static const char *const side_names[NSIDES] = {"kjit", "NVRTC", "nvcc", "kjit in process",
                                               "NVRTC in process"};

typedef struct options {
    bench_paths paths;
    const char *only;
    int rounds;
    bool markdown, strict;
} options;

typedef struct samples {
    double cpu[MAX_ROUNDS], wall[MAX_ROUNDS];
    int count; /* 0: that side is not here */
} samples;

static const char usage[] = "usage: BUILD=dir bench/compile/run [options]\n"
                            "  --rounds=N     interleaved rounds (21)\n"
                            "  --only=TEXT    kernels whose name contains TEXT\n"
                            "  --nvrtc=FILE   NVRTC's library, where it is in no usual place\n"
                            "  --markdown     the tables in Markdown\n"
                            "  --strict       fail when an aim is missed\n";

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "bench: %s: %s\n", what, why);
    exit(1);
}

/* ---- Rounds ---- */

/* One compilation a side and round; the round before the first is not counted: it warms caches and libraries. */
static void run_case(bench_sides *sides, const bool open[NSIDES], const bench_case *c, int rounds,
                     samples result[NSIDES])
{
    char why[WHY_SIZE];
    for (int r = -1; r < rounds; r++)
        for (int i = 0; i < NSIDES; i++) {
            bench_time time;
            if (!open[i])
                continue;
            if (!bench_compile(sides, i, c, &time, why))
                die(c->name, why);
            if (r < 0)
                continue;
            samples *s = &result[i];
            s->cpu[s->count] = time.cpu;
            s->wall[s->count++] = time.wall;
        }
}

/* ---- Tables ---- */

enum { CELL = 32 };

static void put_row(const char *const *cells, int n, bool markdown)
{
    for (int i = 0; i < n; i++)
        printf(i == 0 ? "%s%-18s" : "%s%16s", markdown ? (i == 0 ? "| " : " | ") : "", cells[i]);
    puts(markdown ? " |" : "");
}

static void put_head(const group *g, bool markdown)
{
    const char *const head[] = {g->title, "kjit", "NVRTC", "/ NVRTC", "aim", "nvcc", "/ nvcc"};
    const int n = g->other >= 0 ? 7 : 5;
    put_row(head, n, markdown);
    for (int i = 0; markdown && i < n; i++)
        fputs(i == 0 ? "| ------------------" : " | ---------------:", stdout);
    if (markdown)
        puts(" |");
}

/* Gives the CPU time; the cell shows it with the wall-clock time. */
static double put_time(samples *s, char cell[CELL])
{
    if (s->count == 0) {
        snprintf(cell, CELL, "not here");
        return 0;
    }
    const double cpu = bench_median(s->cpu, s->count), wall = bench_median(s->wall, s->count);
    snprintf(cell, CELL, "%.1f (%.1f)", cpu, wall);
    return cpu;
}

static void put_ratio(double kjit, double peer, char cell[CELL])
{
    if (peer > 0)
        snprintf(cell, CELL, "%.2f", kjit / peer);
    else
        snprintf(cell, CELL, "-");
}

/* Gives whether the aim is missed. */
static bool put_case(const group *g, const bench_case *c, samples result[NSIDES], bool markdown)
{
    char text[7][CELL];
    const char *cells[7];
    for (int i = 0; i < 7; i++)
        cells[i] = text[i];
    const double aim = c->math ? g->aim_math : g->aim;
    snprintf(text[0], CELL, "%s", c->name);
    const double kjit = put_time(&result[g->kjit], text[1]),
                 peer = put_time(&result[g->peer], text[2]);
    put_ratio(kjit, peer, text[3]);
    const bool missed = peer > 0 && kjit > aim * peer;
    snprintf(text[4], CELL, "%.2f%s", aim, missed ? " missed" : "");
    if (g->other >= 0)
        put_ratio(kjit, put_time(&result[g->other], text[5]), text[6]);
    put_row(cells, g->other >= 0 ? 7 : 5, markdown);
    return missed;
}

/* ---- The program ---- */

static options parse(int argc, char **argv)
{
    options opt = {.paths = {.dir = "bench/compile", .build = "build", .out = "build/bench"},
                   .rounds = 21};
    for (int i = 1; i < argc; i++) {
        const char *rounds = NULL;
        if (bench_take(argv[i], "--rounds=", &rounds))
            opt.rounds = (int)strtol(rounds, NULL, 10);
        else if (strcmp(argv[i], "--markdown") == 0)
            opt.markdown = true;
        else if (strcmp(argv[i], "--strict") == 0)
            opt.strict = true;
        else if (!bench_take(argv[i], "--dir=", &opt.paths.dir) &&
                 !bench_take(argv[i], "--build=", &opt.paths.build) &&
                 !bench_take(argv[i], "--out=", &opt.paths.out) &&
                 !bench_take(argv[i], "--nvrtc=", &opt.paths.nvrtc) &&
                 !bench_take(argv[i], "--only=", &opt.only)) {
            fputs(usage, stderr);
            exit(2);
        }
    }
    if (opt.rounds < 1 || opt.rounds > MAX_ROUNDS)
        die("--rounds", "must be from 1 to 201");
    return opt;
}

static int report(const options *opt, samples result[NCASES][NSIDES])
{
    int missed = 0;
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        if (g > 0)
            putchar('\n');
        put_head(&groups[g], opt->markdown);
        for (int i = 0; i < NCASES; i++)
            if (result[i][KJIT_WARM].count > 0)
                missed += put_case(&groups[g], &cases[i], result[i], opt->markdown);
    }
    return missed;
}

int main(int argc, char **argv)
{
    const options opt = parse(argc, argv);
    static samples result[NCASES][NSIDES];
    static char why[NSIDES][WHY_SIZE];
    bool open[NSIDES];
    bench_sides *sides = bench_open(&opt.paths, open, why);
    if (sides == NULL)
        die("bench", "out of memory");
    for (int i = 0; i < NSIDES; i++)
        if (!open[i])
            fprintf(stderr, "bench: without %s: %s\n", side_names[i], why[i]);
    if (!open[KJIT_WARM])
        return 1;
    for (int i = 0; i < NCASES; i++)
        if (opt.only == NULL || strstr(cases[i].name, opt.only) != NULL)
            run_case(sides, open, &cases[i], opt.rounds, result[i]);
    printf("PTX for compute capability 9.0, ms of CPU (wall), median of %d; %s\n\n", opt.rounds,
           bench_versions(sides));
    const int missed = report(&opt, result);
    bench_close(sides);
    return opt.strict && missed > 0 ? 1 : 0;
}
