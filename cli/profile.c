/* kjit profile: what the library shows of each piece of work, summed up by what it was, the costliest first; and what of
 * the run's time the host alone took. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "samples.h"

/* Launches of a kernel; or copies of one direction, compilations, ... */
typedef struct group {
    kjit_trace_kind kind;
    char *name;
    int64_t grid[3], block[3]; /* of the first launch */
    bool alike;                /* those of all */
    float *us;                 /* how long each took */
    size_t n, room;
    double total_us, bytes;
} group;

typedef struct span {
    double begin, end;
} span;

struct profile {
    group *groups;
    size_t ngroups, groups_room;
    span *spans; /* of all that ran, by which the host's own time is known */
    size_t nspans, spans_room;
    double begin_us;
    bool failed; /* memory ended: what came then is not counted */
};

enum { MOST_ROWS = 40, MOST_NAME = 60 };

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static group *group_of(profile *p, const kjit_trace_event *e)
{
    for (size_t i = 0; i < p->ngroups; i++)
        if (p->groups[i].kind == e->kind && strcmp(p->groups[i].name, e->name) == 0)
            return &p->groups[i];
    group *groups = with_room(p->groups, p->ngroups, &p->groups_room, sizeof *groups);
    char *name = groups ? strdup(e->name) : NULL;
    if (groups)
        p->groups = groups;
    if (!name)
        return NULL;
    group *g = &groups[p->ngroups++];
    *g = (group){.kind = e->kind, .name = name, .alike = true};
    memcpy(g->grid, e->grid, sizeof g->grid);
    memcpy(g->block, e->block, sizeof g->block);
    return g;
}

/* The library's; one at a time. */
static void take(void *user, const kjit_trace_event *e)
{
    profile *p = user;
    group *g = p->failed ? NULL : group_of(p, e);
    float *us = g ? with_room(g->us, g->n, &g->room, sizeof *us) : NULL;
    if (us)
        g->us = us;
    span *spans = us ? with_room(p->spans, p->nspans, &p->spans_room, sizeof *spans) : NULL;
    if (!spans) {
        p->failed = true;
        return;
    }
    p->spans = spans;
    g->us[g->n++] = (float)e->duration_us;
    g->total_us += e->duration_us;
    g->bytes += (double)e->bytes;
    g->alike &= memcmp(g->grid, e->grid, sizeof g->grid) == 0 &&
                memcmp(g->block, e->block, sizeof g->block) == 0;
    p->spans[p->nspans++] = (span){e->start_us, e->start_us + e->duration_us};
}

profile *begin_profile(kjit_context *ctx)
{
    profile *p = calloc(1, sizeof *p);
    if (!p) {
        complain("out of memory");
        return NULL;
    }
    p->begin_us = now_us();
    kjit_set_trace(ctx, take, p);
    return p;
}

/* ---- The table ---- */

static int by_cost(const void *a, const void *b)
{
    double x = ((const group *)a)->total_us, y = ((const group *)b)->total_us;
    return x < y ? 1 : x > y ? -1 : 0;
}

static int by_begin(const void *a, const void *b)
{
    double x = ((const span *)a)->begin, y = ((const span *)b)->begin;
    return x < y ? -1 : x > y ? 1 : 0;
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

/* Of [from, to): what nothing of the spans covers. */
static double uncovered(profile *p, double from, double to)
{
    double idle = 0, reached = from;
    qsort(p->spans, p->nspans, sizeof *p->spans, by_begin);
    for (size_t i = 0; i < p->nspans; i++) {
        if (p->spans[i].begin > reached)
            idle += p->spans[i].begin - reached;
        if (p->spans[i].end > reached)
            reached = p->spans[i].end;
    }
    return to > reached ? idle + to - reached : idle;
}

/* "(64, 4)": without the ones at the end. */
static void put_dims(const int64_t d[3])
{
    if (d[2] > 1)
        fprintf(stderr, "(%" PRId64 ", %" PRId64 ", %" PRId64 ")", d[0], d[1], d[2]);
    else if (d[1] > 1)
        fprintf(stderr, "(%" PRId64 ", %" PRId64 ")", d[0], d[1]);
    else
        fprintf(stderr, "%" PRId64, d[0]);
}

static void put_group(const group *g, double whole_us)
{
    static const char *const words[] = {
        [KJIT_TRACE_COMPILE] = "compile ",
        [KJIT_TRACE_LOAD] = "load ",
        [KJIT_TRACE_LAUNCH] = "",
        [KJIT_TRACE_COPY] = "copy ",
        [KJIT_TRACE_CALLBACK] = "callback ",
        [KJIT_TRACE_GRAPH] = "graph ",
    };
    qsort(g->us, g->n, sizeof *g->us, by_value);
    fprintf(stderr, "%8zu %12.3f %5.1f %% %10.3f %10.3f %10.3f ", g->n, g->total_us * 1e-3,
            whole_us > 0 ? g->total_us / whole_us * 100 : 0, (double)g->us[0] * 1e-3,
            (double)g->us[g->n / 2] * 1e-3, (double)g->us[g->n - 1] * 1e-3);
    if (g->bytes > 0 && g->total_us > 0)
        fprintf(stderr, "%8.2f", g->bytes / g->total_us * 1e-3);
    else
        fprintf(stderr, "%8s", "");
    fprintf(stderr, "  %s%.*s%s", words[g->kind], MOST_NAME, g->name,
            strlen(g->name) > MOST_NAME ? "..." : "");
    if (g->kind == KJIT_TRACE_LAUNCH && g->alike) {
        fputs("[", stderr);
        put_dims(g->grid);
        fputs(", ", stderr);
        put_dims(g->block);
        fputs("]", stderr);
    }
    fputs("\n", stderr);
}

static void put_rest(const profile *p, double whole_us)
{
    double us = 0;
    size_t n = 0;
    for (size_t i = MOST_ROWS; i < p->ngroups; i++) {
        us += p->groups[i].total_us;
        n += p->groups[i].n;
    }
    if (n > 0)
        fprintf(stderr, "%8zu %12.3f %5.1f %% %42s of %zu others\n", n, us * 1e-3,
                us / whole_us * 100, "", p->ngroups - MOST_ROWS);
}

void end_profile(kjit_context *ctx, profile *p, const char *program)
{
    kjit_device_info device;
    double end = now_us(), whole = end - p->begin_us;
    kjit_set_trace(ctx, NULL, NULL);
    if (kjit_context_device(ctx, &device) != KJIT_OK)
        *device.name = '\0';
    fflush(stdout);
    fprintf(stderr, "profile: %.300s on %s\n", program, device.name);
    fprintf(stderr, "%8s %12s %7s %10s %10s %10s %8s\n", "times", "total ms", "of all", "least ms",
            "median ms", "most ms", "GB/s");
    qsort(p->groups, p->ngroups, sizeof *p->groups, by_cost);
    for (size_t i = 0; i < p->ngroups; i++) {
        if (i < MOST_ROWS)
            put_group(&p->groups[i], whole);
    }
    put_rest(p, whole);
    double idle = uncovered(p, p->begin_us, end);
    fprintf(stderr, "%8s %12.3f %5.1f %% %42s the run block itself, and files\n", "", idle * 1e-3,
            idle / whole * 100, "");
    fprintf(stderr, "%8s %12.3f ms in all\n", "", whole * 1e-3);
    if (p->failed)
        complain("memory ended: the profile is of a part of the run");
    for (size_t i = 0; i < p->ngroups; i++) {
        free(p->groups[i].name);
        free(p->groups[i].us);
    }
    free(p->groups);
    free(p->spans);
    free(p);
}
