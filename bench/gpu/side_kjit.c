/* kjit's side: launches queued in a stream through the public API, timed by its events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

typedef struct state {
    kjit_context *ctx;
    const char *dir;
    kjit_stream *stream;
    kjit_event *from, *to;
    kjit_module *mod;
    const bench_case *c;
    kjit_config configs[MAX_STAGES];
    kjit_arg args[MAX_STAGES][MAX_ARGS];
} state;

static bool fail(bench_side *self, const char *text)
{
    snprintf(self->why, sizeof self->why, "%s", text);
    return false;
}

static kjit_arg argument(const bench_run *run, char what)
{
    switch (what) {
    case 'l': return kjit_arg_i64(256);
    case 'a': return kjit_arg_f64(0.5);
    default: return kjit_arg_array(run->arrays[what - '0']);
    }
}

static bool prepare(bench_side *self, const bench_run *run)
{
    state *s = self->state;
    char path[512];
    size_t size;
    snprintf(path, sizeof path, "%s/../%s.knl", s->dir, run->c->source);
    char *text = bench_file(path, &size, self->why);
    if (text == NULL)
        return false;
    const kjit_status status = kjit_module_compile(s->ctx, path, text, size, NULL, &s->mod);
    free(text);
    if (status != KJIT_OK)
        return fail(self, s->mod != NULL ? kjit_module_log(s->mod) : kjit_last_error(s->ctx));
    s->c = run->c;
    for (int i = 0; i < MAX_STAGES && s->c->stages[i].kernel != NULL; i++) {
        const bench_stage *stage = &s->c->stages[i];
        s->configs[i] = (kjit_config){.grid = {bench_extent(stage->grid[0], run->size),
                                               bench_extent(stage->grid[1], run->size)},
                                      .block = {stage->block[0], stage->block[1]},
                                      .stream = s->stream};
        for (int j = 0; stage->args[j] != '\0'; j++)
            s->args[i][j] = argument(run, stage->args[j]);
    }
    return true;
}

static bool launch(state *s)
{
    for (int i = 0; i < MAX_STAGES && s->c->stages[i].kernel != NULL; i++) {
        const bench_stage *stage = &s->c->stages[i];
        if (kjit_launch(s->mod, stage->kernel, &s->configs[i], s->args[i],
                        (int)strlen(stage->args)) != KJIT_OK)
            return false;
    }
    return true;
}

static bool run(bench_side *self, int repeats, double *ms)
{
    state *s = self->state;
    bool good = kjit_event_record(s->from, s->stream) == KJIT_OK;
    for (int i = 0; i < repeats && good; i++)
        good = launch(s);
    if (good && kjit_event_record(s->to, s->stream) == KJIT_OK &&
        kjit_stream_synchronize(s->stream) == KJIT_OK) {
        double all = 0;
        if (kjit_event_elapsed(s->from, s->to, &all) == KJIT_OK) {
            if (ms != NULL)
                *ms = all / repeats;
            return true;
        }
    }
    return fail(self, kjit_last_error(s->ctx));
}

static void release(bench_side *self)
{
    state *s = self->state;
    kjit_module_free(s->mod);
    s->mod = NULL;
}

static void close_side(bench_side *self)
{
    state *s = self->state;
    kjit_event_free(s->from);
    kjit_event_free(s->to);
    kjit_stream_free(s->stream);
    free(s);
}

bool bench_open_kjit(bench_side *side, kjit_context *ctx, const char *dir)
{
    state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return fail(side, "out of memory");
    side->state = s;
    side->prepare = prepare;
    side->run = run;
    side->release = release;
    side->close = close_side;
    s->ctx = ctx;
    s->dir = dir;
    if (kjit_stream_create(ctx, &s->stream) == KJIT_OK &&
        kjit_event_create(ctx, 1, &s->from) == KJIT_OK &&
        kjit_event_create(ctx, 1, &s->to) == KJIT_OK)
        return true;
    fail(side, kjit_last_error(ctx));
    close_side(side);
    return false;
}
