/* One run of a run block, measured: what its kernels and copies took, and the whole. */
#include <string.h>
#include <time.h>

#include "cli.h"
#include "samples.h"

double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* The library's; one at a time. What is compiled is so once, and is no part of what is measured. */
static void take(void *user, const kjit_trace_event *e)
{
    samples *times = user;
    char what[256];
    if (e->kind == KJIT_TRACE_COMPILE || e->kind == KJIT_TRACE_LOAD)
        return;
    snprintf(what, sizeof what, "%s%s", e->kind == KJIT_TRACE_COPY ? COPIES : "", e->name);
    add_sample(times, what, e->duration_us * 1e-3);
}

static int stop_running(void *user)
{
    (void)user;
    return was_interrupted();
}

kjit_status measure_run(kjit_context *ctx, kjit_module *mod, const measured_run *m, samples *times)
{
    kjit_run_options run = {
        .params = m->params,
        .nparams = m->nparams,
        .interrupted = stop_running,
        .json = m->json,
    };
    kjit_set_trace(ctx, take, times);
    double begin = now_ms();
    kjit_status status = kjit_run(mod, &run);
    if (status == KJIT_OK)
        status = kjit_synchronize(ctx);
    double took = now_ms() - begin;
    kjit_set_trace(ctx, NULL, NULL);
    if (status != KJIT_OK) {
        drop_sample(times);
        return status;
    }
    add_sample(times, WHOLE_RUN, took);
    end_sample(times);
    return times->failed ? KJIT_NO_MEMORY : KJIT_OK;
}
