/* Expressions of whole arrays in run blocks, beside kernels written by hand and OpenMP:
 * kernels/expr.knl says which. Its run block does the work and prints who is next; here is taken
 * how long it is until the next line, and here the OpenMP functions run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

enum { CASES = 12, WHO = 3, ROUNDS = 101, ARRAYS = 7, ELEMENTS = 1 << 24 };

static const char *const who[WHO] = {"by hand", "expression", "OpenMP"};

typedef struct row {
    char name[32];
    double ms[WHO][ROUNDS];
    int count[WHO];
} row;

typedef struct state {
    bench_side omp;
    bool has_omp;
    void *data[ARRAYS]; /* three of floats, three that hold other bits too, what is sorted */
    row rows[CASES];
    int nrows;
    row *open; /* what is being measured: rows' who */
    int side;
    double start;
} state;

/* And which of the arrays is the first of the function's: integers as floats are subnormal, which takes long. */
static const struct {
    bench_case c;
    int first;
} functions[] = {
    {{.name = "saxpy", .omp = "omp_saxpy", .size = ELEMENTS}, 0},
    {{.name = "sum", .omp = "omp_reduce", .size = ELEMENTS}, 0},
    {{.name = "sort", .omp = "omp_sort", .size = ELEMENTS}, 3},
    {{.name = "cumsum", .omp = "omp_scan", .size = ELEMENTS}, 0},
    {{.name = "scan inclusive", .omp = "omp_scan", .size = ELEMENTS}, 0},
    {{.name = "scan exclusive", .omp = "omp_scan_exclusive", .size = ELEMENTS}, 0},
    {{.name = "spmv", .omp = "omp_spmv", .size = 1 << 20}, 3},
    {{.name = "gemm 1024", .omp = "omp_matmul_tuned", .size = 1024}, 0},
    {{.name = "matmul 512", .omp = "omp_matmul_tuned", .size = 512}, 0},
    {{.name = "matmul 1024", .omp = "omp_matmul_tuned", .size = 1024}, 0},
};

static row *row_named(state *s, const char *name, size_t length)
{
    for (int i = 0; i < s->nrows; i++)
        if (strlen(s->rows[i].name) == length && memcmp(s->rows[i].name, name, length) == 0)
            return &s->rows[i];
    if (s->nrows == CASES || length >= sizeof s->rows[0].name)
        return NULL;
    memcpy(s->rows[s->nrows].name, name, length);
    return &s->rows[s->nrows++];
}

/* The first time is not counted: it compiles, and touches pages. */
static void note(row *r, int side, double ms)
{
    if (r->count[side] <= ROUNDS && r->count[side]++ > 0)
        r->ms[side][r->count[side] - 2] = ms;
}

static void run_omp(state *s, row *r)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (!s->has_omp || strcmp(functions[i].c.name, r->name) != 0 ||
            !s->omp.prepare(&s->omp, &functions[i].c, s->data + functions[i].first))
            continue;
        const double start = bench_now_ms();
        s->omp.run(&s->omp);
        note(r, 2, bench_now_ms() - start);
    }
}

/* A line: what ran since the one before has ended. */
static void write_line(void *user, const char *text, size_t size)
{
    state *s = user;
    const double now = bench_now_ms();
    if (s->open != NULL)
        note(s->open, s->side, now - s->start);
    s->open = NULL;
    const char *colon = memchr(text, ':', size);
    row *r = colon != NULL ? row_named(s, text, (size_t)(colon - text)) : NULL;
    for (int i = 0; r != NULL && i < WHO; i++) {
        if (strncmp(colon + 2, who[i], strlen(who[i])) == 0)
            s->side = i;
    }
    if (r != NULL && s->side == 2)
        run_omp(s, r);
    else
        s->open = r;
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL); /* the threads go to sleep */
    s->start = bench_now_ms();
}

static double median(row *r, int side, char *cell, size_t size)
{
    const int n = r->count[side] - 1;
    snprintf(cell, size, "-");
    if (n < 1)
        return 0;
    const double ms = bench_median(r->ms[side], n);
    snprintf(cell, size, "%.2f (%.2f)", ms, r->ms[side][0]);
    return ms;
}

static void report(state *s)
{
    static const double aim = 1.2;
    printf("%-18s %16s %16s %16s %10s %5s %9s\n", "median ms (min)", "expression", who[0], who[2],
           "/ by hand", "aim", "/ OpenMP");
    for (int i = 0; i < s->nrows; i++) {
        char cells[WHO][32], ratio[2][16] = {"-", "-"};
        double ms[WHO];
        for (int k = 0; k < WHO; k++)
            ms[k] = median(&s->rows[i], k, cells[k], sizeof cells[k]);
        for (int k = 0; k < WHO; k += 2)
            if (ms[k] > 0)
                snprintf(ratio[k / 2], sizeof ratio[0], "%.2f", ms[1] / ms[k]);
        printf("%-18s %16s %16s %16s %10s %5.2f %9s%s\n", s->rows[i].name, cells[1], cells[0],
               cells[2], ratio[0], aim, ratio[1],
               ms[0] > 0 && ms[1] > aim * ms[0] ? "  missed" : "");
    }
}

static char *source(const char *dir, char why[WHY_SIZE])
{
    static const char *const parts[] = {"std", "saxpy", "reduce", "matmul", "expr"};
    enum { LIMIT = 1 << 16 };
    char *all = calloc(1, LIMIT);
    for (int i = 0; all != NULL && i < 5; i++) {
        char path[512];
        size_t size;
        snprintf(path, sizeof path, "%s/kernels/%s.knl", dir, parts[i]);
        char *text = bench_file(path, &size, why);
        if (text == NULL || strlen(all) + strlen(text) >= LIMIT) {
            free(text);
            free(all);
            return NULL;
        }
        strcat(all, text);
        free(text);
    }
    return all;
}

/* Numbers of Knuth's linear congruential generator, the upper half of each. */
static void fill(uint32_t *keys)
{
    uint64_t x = 1;
    for (int i = 0; i < ELEMENTS; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        keys[i] = (uint32_t)(x >> 32);
    }
}

static bool allocate(void *data[ARRAYS])
{
    static const bench_case floats = {.buffers = {{.dtype = KJIT_F32, .shape = {ELEMENTS}},
                                                  {.dtype = KJIT_F32, .shape = {ELEMENTS}},
                                                  {.dtype = KJIT_F32, .shape = {ELEMENTS}}}};
    for (int i = 0; i < ARRAYS; i++) {
        data[i] = bench_allocate(ELEMENTS * sizeof(float));
        if (data[i] == NULL)
            return false;
        if (bench_elements(&floats.buffers[i]) > 0)
            bench_fill_buffer(&floats, i, data[i]);
    }
    fill(data[ARRAYS - 1]);
    return true;
}

/* usage: expr DIR [OMP.so] */
int main(int argc, char **argv)
{
    static state s;
    kjit_context *ctx;
    kjit_module *mod = NULL;
    char *text = argc > 1 ? source(argv[1], s.omp.why) : NULL;
    s.has_omp = argc > 2 && bench_open_omp(&s.omp, argv[2]);
    const bool room = allocate(s.data);
    const kjit_context_options options = {.device = "cpu"};
    if (text == NULL || !room ||
        kjit_context_create(&options, &ctx, s.omp.why, sizeof s.omp.why) != KJIT_OK) {
        fprintf(stderr, "expr: %s\n", room ? s.omp.why : "out of memory");
        return 1;
    }
    const kjit_run_options run = {.write = write_line, .user = &s};
    kjit_status status = kjit_module_compile(ctx, "expr.knl", text, strlen(text), NULL, &mod);
    if (status == KJIT_OK)
        status = kjit_run(mod, &run);
    if (status != KJIT_OK)
        fprintf(stderr, "expr: %s\n",
                mod != NULL && status == KJIT_COMPILE ? kjit_module_log(mod)
                                                      : kjit_last_error(ctx));
    else
        report(&s);
    kjit_module_free(mod);
    kjit_context_destroy(ctx);
    for (int i = 0; i < ARRAYS; i++)
        free(s.data[i]);
    free(text);
    return status == KJIT_OK ? 0 : 1;
}
