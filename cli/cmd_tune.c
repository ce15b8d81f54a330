/* kjit tune: which values of a run block's params make its kernels fastest. All combinations are tried where they are few,
 * else one param after the other, until none gets better; what is slow is given up early, and the fastest few are measured
 * in turn. */
#include <stdlib.h>
#include <string.h>

#include "choices.h"
#include "cli.h"
#include "samples.h"

enum {
    MOST_TUNED = 8,
    FEW_TRIALS = 32, /* so many are all tried */
    MOST_TRIALS = 1 << 16,
    FIRST_RUNS = 3, /* of a trial that may be the best */
    FINALISTS = 4,
    FINAL_RUNS = 15,
    SHOWN = 12,
};

static const double seconds_given = 60;
static const double hopeless = 3;    /* times the best: one run is enough, whatever disturbed it */
static const double too_slow = 1.5;  /* times the best: two are */
static const double close_by = 1.25; /* times the best: measured once more */

/* A value of each tuned param. */
typedef struct trial {
    int at[MOST_TUNED];
    samples times;
    char *failure; /* why it cannot be, or NULL */
} trial;

typedef struct tuning {
    kjit_context *ctx;
    kjit_module *mod;
    const options *o;
    choices of[MOST_TUNED];
    int n;
    trial *trials;
    size_t ntrials, room, runs;
    double best_ms, until_ms;
    const char **params; /* of a run: what is fixed, then what is tuned */
    int nfixed;
    kjit_status status; /* of the last failure */
} tuning;

/* What the kernels of run i took; or, where --kernel says so, that one. */
static double cost(const tuning *t, const trial *x, size_t i)
{
    double ms = 0;
    for (size_t k = 0; k < x->times.n; k++) {
        const series *of = &x->times.of[k];
        bool wanted = t->o->kernel ? strcmp(of->what, t->o->kernel) == 0
                                   : strcmp(of->what, WHOLE_RUN) != 0 &&
                                         strncmp(of->what, COPIES, strlen(COPIES)) != 0;
        ms += wanted ? of->ms[i] : 0;
    }
    return ms;
}

/* What disturbs a run makes it longer, never shorter. */
static double least_of(const tuning *t, const trial *x)
{
    double least = -1;
    for (size_t i = 0; i < x->times.runs; i++) {
        double ms = cost(t, x, i);
        least = least < 0 || ms < least ? ms : least;
    }
    return least;
}

static bool run_trial(tuning *t, trial *x)
{
    for (int i = 0; i < t->n; i++)
        t->params[t->nfixed + i] = t->of[i].params[x->at[i]];
    measured_run run = {t->params, t->nfixed + t->n, false};
    kjit_status status = measure_run(t->ctx, t->mod, &run, &x->times);
    t->runs++;
    if (status == KJIT_OK)
        return true;
    t->status = status;
    x->failure = strdup(kjit_last_error(t->ctx));
    return false;
}

static bool is_over(const tuning *t)
{
    return was_interrupted() || t->status == KJIT_TIMEOUT || t->status == KJIT_NO_MEMORY ||
           now_ms() > t->until_ms;
}

/* The first run compiles, and does not count. */
static void try(tuning *t, trial *x)
{
    if (!run_trial(t, x))
        return;
    clear_samples(&x->times);
    for (int i = 0; i < FIRST_RUNS && run_trial(t, x); i++) {
        double least = least_of(t, x);
        if (t->best_ms < 0 || least < t->best_ms)
            t->best_ms = least;
        if (least > (i == 0 ? hopeless : too_slow) * t->best_ms || is_over(t))
            return;
    }
}

/* The trial of these values, tried if it was not; NULL without memory. */
static trial *trial_of(tuning *t, const int *at)
{
    for (size_t i = 0; i < t->ntrials; i++)
        if (memcmp(t->trials[i].at, at, sizeof t->trials[i].at) == 0)
            return &t->trials[i];
    trial *more = with_room(t->trials, t->ntrials, &t->room, sizeof *more);
    if (!more)
        return NULL;
    t->trials = more;
    trial *x = &more[t->ntrials++];
    *x = (trial){0};
    memcpy(x->at, at, sizeof x->at);
    try(t, x);
    return x;
}

static bool is_better(const tuning *t, const trial *x, double than)
{
    double ms = x->failure || x->times.runs == 0 ? -1 : least_of(t, x);
    return ms >= 0 && (than < 0 || ms < than);
}

static bool try_all(tuning *t, size_t all)
{
    for (size_t i = 0; i < all && !is_over(t); i++) {
        int at[MOST_TUNED] = {0};
        size_t rest = i;
        for (int k = t->n - 1; k >= 0; k--) {
            at[k] = (int)(rest % (size_t)t->of[k].n);
            rest /= (size_t)t->of[k].n;
        }
        if (!trial_of(t, at))
            return false;
    }
    return true;
}

/* All values of one param, the others as they are: the best stays. */
static bool try_param(tuning *t, int param, int *at, double *best, bool *moved)
{
    int now[MOST_TUNED];
    memcpy(now, at, sizeof now);
    for (int i = 0; i < t->of[param].n && !is_over(t); i++) {
        now[param] = i;
        const trial *x = trial_of(t, now);
        if (!x)
            return false;
        if (is_better(t, x, *best)) {
            *best = least_of(t, x);
            *moved |= at[param] != i;
            at[param] = i;
        }
    }
    return true;
}

/* From the middle of each. */
static bool try_params(tuning *t)
{
    int at[MOST_TUNED] = {0};
    double best = -1;
    bool moved = true;
    for (int i = 0; i < t->n; i++)
        at[i] = t->of[i].n / 2;
    while (moved && !is_over(t)) {
        moved = false;
        for (int i = 0; i < t->n; i++)
            if (!try_param(t, i, at, &best, &moved))
                return false;
    }
    return true;
}

static const tuning *sorted; /* qsort gives no context */

static int by_cost(const void *a, const void *b)
{
    const trial *x = a, *y = b;
    bool no = x->failure || x->times.runs == 0, neither = y->failure || y->times.runs == 0;
    if (no || neither)
        return no - neither;
    double p = least_of(sorted, x), q = least_of(sorted, y);
    return p < q ? -1 : p > q;
}

static void sort_trials(tuning *t)
{
    sorted = t;
    qsort(t->trials, t->ntrials, sizeof *t->trials, by_cost);
}

/* The fastest few in turn: what disturbs the machine meets all of them. */
static void measure_finalists(tuning *t)
{
    size_t n = 0;
    sort_trials(t);
    while (n < FINALISTS && n < t->ntrials && is_better(t, &t->trials[n], close_by * t->best_ms))
        n++;
    for (int i = 0; n > 1 && i < FINAL_RUNS && !is_over(t); i++)
        for (size_t k = 0; k < n && !is_over(t); k++)
            run_trial(t, &t->trials[k]);
    sort_trials(t);
}

/* ---- What is shown ---- */

static void put_values(const tuning *t, const trial *x)
{
    for (int i = 0; i < t->n; i++)
        printf(" %s", t->of[i].params[x->at[i]]);
}

static void put_trial(const tuning *t, const trial *x)
{
    if (x->failure) {
        const char *line = strstr(x->failure, "error: ");
        line = line ? line + strlen("error: ") : x->failure;
        printf("%12s %6s  ", "-", "");
        put_values(t, x);
        printf(": %.*s\n", (int)strcspn(line, "\n"), line);
        return;
    }
    printf("%12.4f %6zu  ", least_of(t, x), x->times.runs);
    put_values(t, x);
    putchar('\n');
}

static int show(tuning *t, size_t all)
{
    kjit_device_info device;
    const trial *best = t->ntrials ? &t->trials[0] : NULL;
    if (!best || best->failure || best->times.runs == 0) {
        if (best && best->failure)
            show_run_failure(t->o, best->failure);
        return was_interrupted() ? EXIT_INTERRUPTED : run_code(t->mod, t->status);
    }
    if (t->o->kernel && !find_series(&best->times, t->o->kernel)) {
        complain("no kernel '%s' was launched", t->o->kernel);
        return EXIT_USAGE;
    }
    if (kjit_context_device(t->ctx, &device) != KJIT_OK)
        *device.name = '\0';
    printf("%s on %s: %zu of %zu combinations, %zu runs\n", t->o->arguments[0], device.name,
           t->ntrials, all, t->runs);
    printf("%12s %6s   %s\n", "least ms", "runs", t->o->kernel ? t->o->kernel : "of all kernels");
    for (size_t i = 0; i < t->ntrials && i < SHOWN; i++)
        put_trial(t, &t->trials[i]);
    if (t->ntrials > SHOWN)
        printf("%12s %6s   %zu slower ones\n", "", "", t->ntrials - SHOWN);
    if (is_over(t))
        printf("time ended before all was tried\n");
    printf("the fastest: kjit run %s", t->o->arguments[0]);
    for (int i = 0; i < t->nfixed; i++)
        printf(" %s", t->params[i]);
    put_values(t, best);
    putchar('\n');
    return was_interrupted() ? EXIT_INTERRUPTED : EXIT_OK;
}

static int tune(tuning *t)
{
    double all = 1;
    for (int i = 0; i < t->n; i++)
        all *= t->of[i].n;
    if (all > MOST_TRIALS) {
        complain("these are %.0f combinations, and %d are the most", all, MOST_TRIALS);
        return EXIT_USAGE;
    }
    double seconds = t->o->seconds > 0 ? t->o->seconds : seconds_given;
    t->until_ms = now_ms() + seconds * 1e3;
    t->best_ms = -1;
    catch_interrupts(t->ctx);
    bool ok = all <= FEW_TRIALS ? try_all(t, (size_t)all) : try_params(t);
    if (!ok) {
        complain("out of memory");
        return EXIT_FAILED;
    }
    measure_finalists(t);
    return show(t, (size_t)all);
}

/* name=value is fixed, name=value,value is tuned. */
static int take_arguments(tuning *t)
{
    const options *o = t->o;
    for (int i = 1; i < o->narguments; i++) {
        if (!has_choices(o->arguments[i])) {
            t->params[t->nfixed++] = o->arguments[i];
            continue;
        }
        if (t->n == MOST_TUNED) {
            complain("more than %d params at once are not tuned", MOST_TUNED);
            return EXIT_USAGE;
        }
        if (!read_choices(o->arguments[i], &t->of[t->n]))
            return EXIT_USAGE;
        t->n++;
    }
    if (t->n > 0)
        return EXIT_OK;
    complain("tune needs a param with several values, as in tile=8,16,32 or block=64..1024:x2");
    return EXIT_USAGE;
}

static int tune_module(kjit_context *ctx, const options *o, kjit_module *mod)
{
    tuning t = {.ctx = ctx, .mod = mod, .o = o};
    t.params = calloc((size_t)o->narguments + 1, sizeof *t.params);
    if (!t.params) {
        complain("out of memory");
        return EXIT_FAILED;
    }
    int code = take_arguments(&t);
    if (code == EXIT_OK)
        code = tune(&t);
    for (size_t i = 0; i < t.ntrials; i++) {
        free_samples(&t.trials[i].times);
        free(t.trials[i].failure);
    }
    for (int i = 0; i < t.n; i++)
        free_choices(&t.of[i]);
    free(t.trials);
    free(t.params);
    return code;
}

int command_tune(const options *o)
{
    return with_module(o, tune_module);
}
