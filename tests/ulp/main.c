/* ulp [options] [function...]: a table of the largest errors that are found, as Markdown.
 *
 *   --all          f32 functions of one argument on every float
 *   --samples=N    arguments drawn for a function where not all are taken (default 2^15)
 *   --device=D     another device than the CPU
 *   --workers=N    threads (default: as many as there are processors)
 *
 * Status 1: an error is beyond the bound that the function's row in the table of builtins states,
 * or a row with a bound is not measured. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ulp.h"

static _Noreturn void usage(const char *wrong)
{
    fprintf(
        stderr,
        "ulp: '%s'\nusage: ulp [--all] [--samples=N] [--device=D] [--workers=N] [function...]\n",
        wrong);
    exit(2);
}

/* ---- Bounds ---- */

static bool find_row(const char *name, kjit_builtin_info *row)
{
    for (int i = 0; kjit_builtin(i, row); i++) {
        if (strcmp(row->name, name) == 0 && strcmp(row->group, "run block") != 0)
            return true;
    }
    return false;
}

/* What is rounded correctly is half a unit away at most. */
static double bound_of(const subject *s, bool is_double)
{
    kjit_builtin_info row;
    if (!find_row(s->name, &row))
        return 0.5;
    int bound = is_double ? row.ulp64 : row.ulp32;
    return bound > 0 ? bound : 0.5;
}

static bool is_subject(const char *name)
{
    for (int i = 0; i < nsubjects; i++) {
        if (strcmp(subjects[i].name, name) == 0)
            return true;
    }
    return false;
}

/* sincos has sin's and cos's rows. */
static bool all_measured(void)
{
    bool all = true;
    kjit_builtin_info row;
    for (int i = 0; kjit_builtin(i, &row); i++) {
        if (row.ulp32 + row.ulp64 > 0 && row.signature[1] == '(' && !is_subject(row.name)) {
            fprintf(stderr, "ulp: '%s' has a bound, and nothing to be measured against\n",
                    row.name);
            all = false;
        }
    }
    return all;
}

/* ---- The table ---- */

/* Rounded up to the digits shown. */
static void print_worst(const subject *s, bool is_double, const worst *w)
{
    if (w->error == 0) {
        printf(" 0 | |");
        return;
    }
    printf(" %.3f | `", ceil(w->error * 1000) / 1000);
    for (int i = 0; i < s->nargs; i++)
        printf("%s%.*g", i ? ", " : "", is_double ? 17 : 9, w->args[i]);
    printf("` |");
}

static bool print_row(const plan *p, const subject *s)
{
    bool ok = true;
    printf("| `%s` |", strcmp(s->name, "/") == 0 ? s->call : s->name);
    for (int is_double = 0; is_double < 2; is_double++) {
        worst w;
        if (!measure(p, s, is_double, &w))
            exit(2);
        print_worst(s, is_double, &w);
        if (w.error > bound_of(s, is_double)) {
            fprintf(stderr, "ulp: %s in %s: %g, and the bound is %g\n", s->name,
                    is_double ? "f64" : "f32", w.error, bound_of(s, is_double));
            ok = false;
        }
    }
    printf("\n");
    fflush(stdout);
    return ok;
}

static void read_option(plan *p, const char *arg)
{
    if (strcmp(arg, "--all") == 0)
        p->all_f32 = true;
    else if (strncmp(arg, "--samples=", 10) == 0)
        p->samples = atoll(arg + 10);
    else if (strncmp(arg, "--workers=", 10) == 0)
        p->workers = atoi(arg + 10);
    else if (strncmp(arg, "--device=", 9) == 0)
        p->device = arg + 9;
    else
        usage(arg);
}

int main(int argc, char **argv)
{
    plan p = {.device = "cpu", .samples = 1 << 15, .workers = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    bool some = false, ok = all_measured();
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-')
            read_option(&p, argv[i]);
        else if (is_subject(argv[i]))
            some = true;
        else
            usage(argv[i]);
    }
    printf("| | f32 | at | f64 | at |\n|---|---|---|---|---|\n");
    for (int i = 0; i < nsubjects; i++) {
        bool chosen = !some;
        for (int a = 1; a < argc; a++)
            chosen = chosen || strcmp(argv[a], subjects[i].name) == 0;
        if (chosen)
            ok = print_row(&p, &subjects[i]) && ok;
    }
    return ok ? 0 : 1;
}
