/* kjit bench: a file's run block again and again, until what it and each of its kernels take is known; and how that
 * compares with another file's, or with what was measured before. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "samples.h"
#include "sweep.h"

enum {
    WARM_UP = 2, /* runs: code is compiled, memory and caches are filled */
    LEAST_RUNS = 10,
    FEWEST_RUNS = 8, /* however long they take: all of 8 on one side are so by chance once in 128 */
    MOST_RUNS = 1000,
};

static const double seconds_given = 10; /* where nothing else is asked for */
static const double seconds_of_row = 2; /* the same, of each row of --sweep */
static const double narrow = 0.01;      /* of the median: then it is known well enough */
static const double least_part =
    0.05; /* of a run: what takes less is measured, and not waited for */
static const double least_change = 0.02; /* which a smaller one isn't called */

/* A file that is measured. */
typedef struct subject {
    const char *path;
    kjit_module *mod;
    samples times;
} subject;

/* What it prints is not shown. */
static int run_once(kjit_context *ctx, const options *o, subject *s)
{
    measured_run run = {o->arguments + 1, o->narguments - 1, o->json};
    kjit_status status = measure_run(ctx, s->mod, &run, &s->times);
    if (status == KJIT_OK)
        return EXIT_OK;
    if (s->times.failed)
        complain("out of memory");
    else
        show_run_failure(o, kjit_last_error(ctx));
    return run_code(s->mod, status);
}

/* Each once; which is the first changes from round to round. */
static int run_round(kjit_context *ctx, const options *o, subject *s, int n, int round)
{
    int code = EXIT_OK;
    for (int i = 0; i < n && code == EXIT_OK; i++)
        code = run_once(ctx, o, &s[(i + round) % n]);
    return code;
}

/* Is the median of all that takes a good part of a run known? */
static bool is_known(const samples *times)
{
    double all = median_of(find_series(times, WHOLE_RUN)->ms, times->runs, CONFIDENCE_95).middle;
    for (size_t i = 0; i < times->n; i++) {
        estimate e = median_of(times->of[i].ms, times->runs, CONFIDENCE_95);
        if (e.middle >= least_part * all && (e.high - e.low) / 2 > narrow * e.middle)
            return false;
    }
    return true;
}

static bool are_known(const subject *s, int n)
{
    for (int i = 0; i < n; i++)
        if (!is_known(&s[i].times))
            return false;
    return true;
}

static int measure(kjit_context *ctx, const options *o, subject *s, int n)
{
    double usual = o->nsweeps > 0 ? seconds_of_row : seconds_given;
    double begin = now_ms(), ms = (o->seconds > 0 ? o->seconds : usual) * 1e3;
    int code = EXIT_OK;
    for (int i = 0; i < WARM_UP && code == EXIT_OK; i++)
        code = run_round(ctx, o, s, n, i);
    for (int i = 0; i < n; i++)
        clear_samples(&s[i].times);
    for (int i = 0; i < MOST_RUNS && code == EXIT_OK; i++) {
        bool late = now_ms() - begin > ms;
        if ((late && i >= FEWEST_RUNS) || (i >= LEAST_RUNS && are_known(s, n)))
            break;
        code = run_round(ctx, o, s, n, i);
    }
    return code;
}

/* ---- What is shown ---- */

static int by_median(const void *a, const void *b)
{
    const series *x = a, *y = b;
    double p = median_of(x->ms, x->n, CONFIDENCE_95).middle;
    double q = median_of(y->ms, y->n, CONFIDENCE_95).middle;
    return p < q ? 1 : p > q ? -1 : 0;
}

static void show_times(kjit_context *ctx, subject *s)
{
    kjit_device_info device;
    if (kjit_context_device(ctx, &device) != KJIT_OK)
        *device.name = '\0';
    printf("%s on %s: %zu runs\n", s->path, device.name, s->times.runs);
    printf("%12s %25s %8s\n", "median ms", "95 % of all medians", "+-");
    qsort(s->times.of, s->times.n, sizeof *s->times.of, by_median);
    for (size_t i = 0; i < s->times.n; i++) {
        const series *of = &s->times.of[i];
        estimate e = median_of(of->ms, of->n, CONFIDENCE_95);
        double spread = e.middle > 0 ? (e.high - e.low) / 2 / e.middle * 100 : 0;
        printf("%12.4f %12.4f %12.4f %6.1f %%  %s\n", e.middle, e.low, e.high, spread, of->what);
    }
}

/* "1.08 times as long", and whether that is sure. */
static void show_ratio(const char *what, estimate e, const char *than)
{
    bool slower = e.low > 1 && e.middle >= 1 + least_change;
    bool faster = e.high < 1 && e.middle <= 1 - least_change;
    printf("%8.3f %8.3f %8.3f   ", e.middle, e.low, e.high);
    if (slower || faster)
        printf("%.2fx %s than %s: %s\n", slower ? e.middle : 1 / e.middle,
               slower ? "slower" : "faster", than, what);
    else
        printf("no difference that is sure: %s\n", what);
}

/* Kernels that only one of both has cannot be compared; what takes microseconds isn't: where its code lies and what came
 * before it counts for more than what it does. */
static bool show_ratios(const samples *now, const samples *before, bool pairs, const char *than)
{
    const double least = 5e-3; /* ms */
    size_t shown = 0;
    for (size_t i = 0; i < now->n; i++) {
        const series *b = &now->of[i], *a = find_series(before, b->what);
        if (!a || a->n == 0 || median_of(b->ms, b->n, CONFIDENCE_95).middle < least)
            continue;
        if (shown++ == 0)
            printf("%8s %17s\n", "ratio", "99 % of ratios");
        show_ratio(b->what,
                   pairs ? ratio_of_pairs(a->ms, b->ms, a->n < b->n ? a->n : b->n, CONFIDENCE_99)
                         : ratio_of(a->ms, a->n, b->ms, b->n, CONFIDENCE_99),
                   than);
    }
    if (shown == 0)
        complain("%s has no times of what runs here, or of nothing that takes 5 microseconds",
                 than);
    return shown > 0;
}

/* Before minutes are spent: can the times be written? A file of something else stays. */
static bool can_save(const char *path)
{
    char begin[8] = "";
    FILE *there = fopen(path, "rb");
    size_t n = there ? fread(begin, 1, sizeof begin - 1, there) : 0;
    bool ours = n == 0 || strncmp(begin, "ms,what", n) == 0;
    bool may = can_write(path);
    if (!may)
        complain("'%s' cannot be written: %s", path, strerror(errno));
    else if (!ours)
        complain("'%s' is there, and was not written by kjit bench", path);
    if (there)
        fclose(there);
    return may && ours;
}

static int show_all(kjit_context *ctx, const options *o, subject *s, int n, const samples *before)
{
    bool compared = true;
    for (int i = 0; i < n; i++)
        show_times(ctx, &s[i]);
    if (n > 1)
        compared = show_ratios(&s[0].times, &s[1].times, true, s[1].path);
    if (o->compare)
        compared &= show_ratios(&s[0].times, before, false, o->compare);
    if (o->out && !save_samples(o->out, &s[0].times)) {
        complain("'%s' cannot be written: %s", o->out, strerror(errno));
        return EXIT_FAILED;
    }
    return compared ? EXIT_OK : EXIT_FAILED;
}

static int bench_all(kjit_context *ctx, const options *o, subject *s, int n)
{
    samples before = {0};
    if ((o->out && !can_save(o->out)) || (o->compare && !load_samples(o->compare, &before)))
        return EXIT_FAILED;
    int code = measure(ctx, o, s, n);
    bool some = code == EXIT_OK || (code == EXIT_INTERRUPTED && s[n - 1].times.runs > 1);
    int shown = some ? show_all(ctx, o, s, n, &before) : EXIT_OK;
    free_samples(&before);
    return code == EXIT_OK ? shown : code;
}

/* ---- --sweep ---- */

/* The whole, and what of it takes longest. */
static void show_row(sweep *s, subject *of)
{
    enum { SHOWN = 4 };
    estimate all = median_of(find_series(&of->times, WHOLE_RUN)->ms, of->times.runs, CONFIDENCE_95);
    show_row_values(s);
    printf("%12.4f %6.1f %%", all.middle,
           all.middle > 0 ? (all.high - all.low) / 2 / all.middle * 100 : 0);
    qsort(of->times.of, of->times.n, sizeof *of->times.of, by_median);
    int shown = 0;
    for (size_t i = 0; i < of->times.n && shown < SHOWN; i++) {
        const series *part = &of->times.of[i];
        if (strcmp(part->what, WHOLE_RUN) != 0)
            printf("%s%s %.4f", shown++ ? ", " : "  ", part->what,
                   median_of(part->ms, part->n, CONFIDENCE_95).middle);
    }
    puts("");
}

static int bench_row(kjit_context *ctx, const options *o, kjit_module *mod, sweep *s, void *user)
{
    options row = *o;
    subject of = {.path = o->arguments[0], .mod = mod};
    (void)user;
    row.arguments = s->arguments;
    row.narguments = s->narguments;
    int code = measure(ctx, &row, &of, 1);
    if (code == EXIT_OK)
        show_row(s, &of);
    free_samples(&of.times);
    return code;
}

static int bench_sweep(kjit_context *ctx, const options *o, kjit_module *mod)
{
    const char *other = o->against ? "--against" : o->compare ? "--compare" : o->out ? "-o" : NULL;
    if (!other)
        return sweep_values(ctx, o, mod, "   median ms       +-  of that ms", bench_row, NULL);
    complain("--sweep and %s: leave one out", other);
    return EXIT_USAGE;
}

static int bench_module(kjit_context *ctx, const options *o, kjit_module *mod)
{
    catch_interrupts(ctx);
    if (o->nsweeps > 0)
        return bench_sweep(ctx, o, mod);
    subject s[2] = {{.path = o->arguments[0], .mod = mod}, {.path = o->against}};
    int code = o->against ? open_module(ctx, o, o->against, &s[1].mod) : EXIT_OK;
    if (code == EXIT_OK)
        code = bench_all(ctx, o, s, o->against ? 2 : 1);
    kjit_module_free(s[1].mod);
    free_samples(&s[0].times);
    free_samples(&s[1].times);
    return code;
}

int command_bench(const options *o)
{
    return with_module(o, bench_module);
}
