/* What checks of indices cost, and looking whether to end: the cases of the CPU benchmark with and without them and in
 * a cancellable context, in turns, on the same arrays. By one worker, in processor time: what else the machine does
 * takes its turns, not its time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

enum { WITH, WITHOUT, CANCELLABLE, SIDES };

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "checks: %s: %s\n", what, why);
    exit(1);
}

static void *allocate(const bench_case *c, int i)
{
    void *p = bench_allocate(bench_bytes(&c->buffers[i]));
    if (p == NULL)
        die("arrays", "out of memory");
    bench_fill_buffer(c, i, p);
    return p;
}

static double spent_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double run_once(const bench_case *c, bench_side *side)
{
    const double start = spent_ms();
    if (!side->run(side))
        die(c->name, side->why);
    return spent_ms() - start;
}

/* What is added to the default's least time. */
typedef struct costs {
    double checks, cancellable; /* factors */
} costs;

static costs run_case(const bench_case *c, bench_side *sides, int rounds)
{
    void *data[MAX_BUFFERS] = {NULL};
    double least[SIDES] = {INFINITY, INFINITY, INFINITY};
    for (int i = 0; i < MAX_BUFFERS && bench_elements(&c->buffers[i]) > 0; i++)
        data[i] = allocate(c, i);
    for (int i = 0; i < SIDES; i++) {
        if (!sides[i].prepare(&sides[i], c, data))
            die(c->name, sides[i].why);
        run_once(c, &sides[i]);
    }
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < SIDES; i++)
            least[i] = fmin(least[i], run_once(c, &sides[i]));
    for (int i = 0; i < SIDES; i++)
        sides[i].release(&sides[i]);
    for (int i = 0; i < MAX_BUFFERS; i++)
        free(data[i]);
    const costs found = {least[WITH] / least[WITHOUT], least[CANCELLABLE] / least[WITH]};
    printf("%-14s %8.2f %8.2f %6.2f %12.2f %6.2f\n", c->name, least[WITH], least[WITHOUT],
           found.checks, least[CANCELLABLE], found.cancellable);
    fflush(stdout);
    return found;
}

int main(int argc, char **argv)
{
    static const int check[SIDES] = {KJIT_CHECK_BOUNDS, KJIT_CHECK_NONE, KJIT_CHECK_BOUNDS};
    bench_side sides[SIDES] = {{.name = "with"}, {.name = "without"}, {.name = "cancellable"}};
    double logs[2] = {0};
    int n = 0;
    const char *dir = argc > 1 ? argv[1] : "bench/cpu", *only = argc > 3 ? argv[3] : "";
    const int rounds = argc > 2 ? atoi(argv[2]) : 7;
    for (int i = 0; i < SIDES; i++) {
        const kjit_context_options options = {
            .device = "cpu", .workers = 1, .cancellable = i == CANCELLABLE};
        if (!bench_open_kjit(&sides[i], dir, &options, check[i]))
            die("kjit", sides[i].why);
    }
    printf("ms, least of %d      with  without  ratio  cancellable  ratio\n", rounds);
    for (int i = 0; i < bench_ncases; i++) {
        if (strstr(bench_cases[i].name, only) == NULL)
            continue;
        const costs found = run_case(&bench_cases[i], sides, rounds);
        logs[0] += log(found.checks);
        logs[1] += log(found.cancellable);
        n++;
    }
    for (int i = 0; i < SIDES; i++)
        sides[i].close(&sides[i]);
    printf("geometric means of %d: %.3f, cancellable %.3f\n", n, exp(logs[0] / (n > 0 ? n : 1)),
           exp(logs[1] / (n > 0 ? n : 1)));
    return 0;
}
