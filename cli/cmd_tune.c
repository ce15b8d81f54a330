/* kjit tune: which values of a run block's params make its kernels fastest. All combinations are tried where they are few,
 * else one param after the other, until none gets better. Each runs once; those that may be the best then run in turn, the
 * fewer the more often, so that what disturbs the machine for a while meets all of them. */
#include <stdlib.h>
#include <string.h>

#include "choices.h"
#include "cli.h"
#include "samples.h"

enum {
    MOST_TUNED = 8,
    FEW_TRIALS = 32, /* so many are all tried */
    MOST_TRIALS = 1 << 16,
    SHOWN = 12,
};

static const double seconds_given = 60;

/* Who runs again, and how often: of all that take at most so many times what the best takes. */
static const struct {
    double times;
    size_t most;
    int runs;
} rounds[] = {{20, FEW_TRIALS, 2}, {3, 16, 2}, {1.5, 8, 3}, {1.25, 4, 10}};

static const double as_fast = 1.02; /* times the best: nobody can tell the two apart */

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
    double until_ms;
    const char **params; /* of a run: what is fixed, then what is tuned */
    int nfixed;
    kjit_status status; /* of the last failure */
    bool cut;           /* something was left out for the time, or an interrupt */
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
    bool ended = status == KJIT_TIMEOUT || status == KJIT_INTERRUPTED;
    t->cut |= ended;
    if (!ended || x->times.runs == 0) /* else it is known what it takes */
        x->failure = strdup(kjit_last_error(t->ctx));
    return false;
}

/* Asked where there is more to do. */
static bool is_over(tuning *t)
{
    bool over = was_interrupted() || t->status == KJIT_TIMEOUT || t->status == KJIT_NO_MEMORY ||
                now_ms() > t->until_ms;
    t->cut |= over;
    return over;
}

/* The first run compiles, and does not count. */
static void try(tuning *t, trial *x)
{
    if (!run_trial(t, x))
        return;
    clear_samples(&x->times);
    run_trial(t, x);
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

static bool can_be(const trial *x)
{
    return !x->failure && x->times.runs > 0;
}

static bool is_better(const tuning *t, const trial *x, double than)
{
    return can_be(x) && (than < 0 || least_of(t, x) < than);
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

static int by_cost(const void *a, const void *b, void *t)
{
    const trial *x = a, *y = b;
    if (!can_be(x) || !can_be(y))
        return can_be(y) - can_be(x);
    double p = least_of(t, x), q = least_of(t, y);
    return p < q ? -1 : p > q;
}

static void sort_trials(tuning *t)
{
    qsort_r(t->trials, t->ntrials, sizeof *t->trials, by_cost, t);
}

static void run_again(tuning *t)
{
    for (size_t r = 0; r < sizeof rounds / sizeof *rounds; r++) {
        size_t n = 0;
        sort_trials(t);
        double best =
            t->ntrials > 0 && t->trials[0].times.runs > 0 ? least_of(t, &t->trials[0]) : 0;
        while (n < rounds[r].most && n < t->ntrials && can_be(&t->trials[n]) &&
               least_of(t, &t->trials[n]) <= rounds[r].times * best)
            n++;
        for (int i = 0; n > 1 && i < rounds[r].runs; i++)
            for (size_t k = 0; k < n && !is_over(t); k++)
                run_trial(t, &t->trials[k]);
    }
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

/* For a shell, in quotes where it would take it for something else. */
static void put_word(const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=,:@%+-";
    bool quoted = !*word || word[strspn(word, plain)];
    putchar(' ');
    if (quoted)
        putchar('\'');
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*word);
    if (quoted)
        putchar('\'');
}

static void put_fastest(const tuning *t)
{
    const trial *best = &t->trials[0];
    size_t n = 1;
    while (n < t->ntrials && can_be(&t->trials[n]) &&
           least_of(t, &t->trials[n]) <= as_fast * least_of(t, best))
        n++;
    printf(n > 1 ? "the first %zu are as fast as each other: kjit run" : "the fastest: kjit run",
           n);
    if (t->o->text)
        printf(" -e ...");
    else
        put_word(t->o->arguments[0]);
    for (int i = 0; i < t->nfixed + t->n; i++)
        put_word(i < t->nfixed ? t->params[i]
                               : t->of[i - t->nfixed].params[best->at[i - t->nfixed]]);
    putchar('\n');
}

static int show(tuning *t, size_t all)
{
    kjit_device_info device;
    const trial *best = t->ntrials ? &t->trials[0] : NULL;
    if (!best || !can_be(best)) {
        if (best && best->failure)
            show_run_failure(t->o, best->failure);
        return was_interrupted() ? EXIT_INTERRUPTED : run_code(t->mod, t->status);
    }
    if (t->o->kernel && !find_series(&best->times, t->o->kernel)) {
        const char *names[MOST_TUNED];
        size_t n = 0;
        while (n < MOST_TUNED && n < best->times.n) {
            names[n] = best->times.of[n].what;
            n++;
        }
        const char *near = nearest(t->o->kernel, names, n);
        complain("no kernel '%s' was launched%s%s%s", t->o->kernel, near ? ": did you mean '" : "",
                 near ? near : "", near ? "'?" : "");
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
    if (t->cut)
        printf("%s before all was tried\n", was_interrupted() ? "interrupted" : "time ended");
    put_fastest(t);
    return was_interrupted()           ? EXIT_INTERRUPTED
           : t->status == KJIT_TIMEOUT ? EXIT_TIMEOUT
                                       : EXIT_OK;
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
    catch_interrupts(t->ctx);
    bool ok = all <= FEW_TRIALS ? try_all(t, (size_t)all) : try_params(t);
    if (!ok) {
        complain("out of memory");
        return EXIT_FAILED;
    }
    run_again(t);
    return show(t, (size_t)all);
}

static bool is_tuned(const tuning *t, const char *argument)
{
    size_t n = strcspn(argument, "=") + 1;
    for (int i = 0; i < t->n; i++)
        if (strncmp(t->of[i].params[0], argument, n) == 0)
            return true;
    return false;
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
        if (is_tuned(t, o->arguments[i])) {
            complain("'%.*s' is given twice", (int)strcspn(o->arguments[i], "="), o->arguments[i]);
            free_choices(&t->of[t->n]);
            return EXIT_USAGE;
        }
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
