/* What --time says: a line a compilation, launch and copy; of what comes often a line for the rest. In: the context's
 * timings; out: text for the report. */
#include "run/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "(64, 4)": without the ones at the end. */
static void put_dims(kj_text *t, const int64_t dims[3])
{
    int n = dims[2] > 1 ? 3 : dims[1] > 1 ? 2 : 1;
    if (n == 1)
        kj_text_printf(t, "%" PRId64, dims[0]);
    else
        kj_text_puts(t, kj_shape_text(n, dims, (char[KJ_SHAPE_TEXT]){0}));
}

/* "launch  add[40, 256]": what it was, as often as it comes. */
static void put_what(kj_text *t, const kj_timing *timing)
{
    static const char *const kinds[] = {
        [KJ_TIMING_COMPILE] = "compile",
        [KJ_TIMING_LOAD] = "load",
        [KJ_TIMING_LAUNCH] = "launch",
        [KJ_TIMING_COPY] = "copy",
    };
    kj_text_printf(t, "%-7s %s", kinds[timing->kind], timing->name);
    if (timing->kind == KJ_TIMING_LAUNCH) {
        kj_text_puts(t, "[");
        put_dims(t, timing->grid);
        kj_text_puts(t, ", ");
        put_dims(t, timing->block);
        kj_text_puts(t, "]");
    } else if (timing->kind == KJ_TIMING_COPY) {
        kj_text_printf(t, ", %" PRId64 " bytes", timing->bytes);
    }
}

static void put_line(kj_text *t, const char *what, const kj_timing *timing)
{
    kj_text_printf(t, "time: %-52s %10.3f ms", what, timing->ms);
    if (timing->kind == KJ_TIMING_COPY && timing->ms > 0)
        kj_text_printf(t, " %8.2f GB/s", (double)timing->bytes / timing->ms * 1e-6);
    kj_text_puts(t, "\n");
}

/* ---- What comes often ---- */

/* It has a line of its own the first times, and one for all others together. */
typedef struct kj_often {
    struct kj_often *next;
    int64_t lines, more;
    double least, total; /* of the others, in milliseconds */
    char what[];
} kj_often;

enum { MOST_LINES = 8, MOST_OFTEN = 1000 };

/* NULL where there are so many different ones that each has its line. */
static kj_often *often_of(kj_run *r, const char *what)
{
    int n = 0;
    kj_often **at = &r->often;
    for (; *at; at = &(*at)->next, n++)
        if (strcmp((*at)->what, what) == 0)
            return *at;
    size_t size = strlen(what) + 1;
    kj_often *o = n < MOST_OFTEN ? calloc(1, sizeof *o + size) : NULL;
    if (o)
        memcpy(o->what, what, size);
    return *at = o;
}

static void write_report(const kj_run *r, kj_text *line)
{
    if (!line->failed)
        r->options->report(r->options->user, line->data, line->size);
    kj_text_free(line);
}

static void report(void *user, const kj_timing *timing)
{
    kj_run *r = user;
    kj_text what = {0}, line = {0};
    put_what(&what, timing);
    kj_often *o = what.failed ? NULL : often_of(r, what.data);
    if (o && o->lines == MOST_LINES) {
        o->least = o->more++ ? fmin(o->least, timing->ms) : timing->ms;
        o->total += timing->ms;
    } else if (!what.failed) {
        put_line(&line, what.data, timing);
        write_report(r, &line);
        if (o)
            o->lines++;
    }
    kj_text_free(&what);
}

static void report_often(kj_run *r)
{
    for (kj_often *o = r->often, *next; o; o = next) {
        kj_text line = {0};
        next = o->next;
        if (o->more) {
            kj_text_printf(&line, "time: %-52s %10.3f ms, %" PRId64 " more; the least %.3f ms\n",
                           o->what, o->total, o->more, o->least);
            write_report(r, &line);
        }
        free(o);
    }
    r->often = NULL;
}

void kj_run_time_begin(kj_run *r)
{
    r->timing = (kj_timing_hook){.report = report, .user = r};
    if (r->options->time && r->options->report)
        kj_set_timing(r->ctx, &r->timing);
}

void kj_run_time_end(kj_run *r)
{
    if (!r->options->time || !r->options->report)
        return;
    kj_set_timing(r->ctx, NULL);
    report_often(r);
}
