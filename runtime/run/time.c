/* What --time says: a line a compilation, launch and copy. In: the context's timings; out: text for
 * the report. */
#include "run/run.h"

#include <inttypes.h>
#include <stdio.h>

/* "(64, 4)": without the ones at the end. */
static void put_dims(kj_text *t, const int64_t dims[3])
{
    int n = dims[2] > 1 ? 3 : dims[1] > 1 ? 2 : 1;
    if (n == 1)
        kj_text_printf(t, "%" PRId64, dims[0]);
    else
        kj_text_puts(t, kj_shape_text(n, dims, (char[KJ_SHAPE_TEXT]){0}));
}

static void put_timing(kj_text *t, const kj_timing *timing)
{
    static const char *const kinds[] = {
        [KJ_TIMING_COMPILE] = "compile",
        [KJ_TIMING_LOAD] = "load",
        [KJ_TIMING_LAUNCH] = "launch",
        [KJ_TIMING_COPY] = "copy",
    };
    kj_text what = {0};
    if (timing->kind == KJ_TIMING_COMPILE || timing->kind == KJ_TIMING_LOAD) {
        kj_text_puts(&what, timing->name);
    } else if (timing->kind == KJ_TIMING_LAUNCH) {
        kj_text_printf(&what, "%s[", timing->name);
        put_dims(&what, timing->grid);
        kj_text_puts(&what, ", ");
        put_dims(&what, timing->block);
        kj_text_puts(&what, "]");
    } else {
        kj_text_printf(&what, "%s, %" PRId64 " bytes", timing->name, timing->bytes);
    }
    kj_text_printf(t, "time: %-7s %-44s %10.3f ms", kinds[timing->kind], what.data ? what.data : "",
                   timing->ms);
    if (timing->kind == KJ_TIMING_COPY && timing->ms > 0)
        kj_text_printf(t, " %8.2f GB/s", (double)timing->bytes / timing->ms * 1e-6);
    kj_text_puts(t, "\n");
    kj_text_free(&what);
}

static void report(void *user, const kj_timing *timing)
{
    kj_run *r = user;
    kj_text t = {0};
    put_timing(&t, timing);
    if (!t.failed)
        r->options->report(r->options->user, t.data, t.size);
    kj_text_free(&t);
}

void kj_run_time_begin(kj_run *r)
{
    r->timing = (kj_timing_hook){.report = report, .user = r};
    if (r->options->time && r->options->report)
        kj_set_timing(r->ctx, &r->timing);
}

void kj_run_time_end(kj_run *r)
{
    if (r->options->time && r->options->report)
        kj_set_timing(r->ctx, NULL);
}
