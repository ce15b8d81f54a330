/* kjit's side: kernels/<source>.knl through the public API, on the CPU device, launches that return when done. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

typedef struct state {
    const char *dir;
    int check; /* of kjit_compile_options */
    kjit_context *ctx;
    kjit_context *all, *one; /* of all cores, of one */
    kjit_module *mod;
    kjit_array *arrays[MAX_BUFFERS];
    const bench_case *current;
    int nstages;
    char kernels[MAX_STAGES][NAME_SIZE];
    kjit_config configs[MAX_STAGES];
    kjit_arg args[MAX_STAGES][MAX_ARGS];
    kjit_arg *turn[MAX_STAGES]; /* that of them which is the turn */
} state;

static bool fail(bench_side *self, const char *text)
{
    snprintf(self->why, sizeof self->why, "%s", text);
    return false;
}

static bool bind_buffers(bench_side *self, const bench_case *c, void *const *data)
{
    state *s = self->state;
    for (int i = 0; i < MAX_BUFFERS && bench_elements(&c->buffers[i]) > 0; i++) {
        const bench_buffer *b = &c->buffers[i];
        kjit_dtype dtype = b->dtype;
        int ndim = 0;
        while (ndim < MAX_AXES && b->shape[ndim] > 0)
            ndim++;
        if (b->record != NULL) {
            ndim--;
            if (kjit_module_record(s->mod, b->record, &dtype) != KJIT_OK)
                return fail(self, kjit_last_error(s->ctx));
        }
        if (kjit_array_wrap(s->ctx, data[i], dtype, ndim, b->shape, NULL, KJIT_DEVICE,
                            &s->arrays[i]) != KJIT_OK)
            return fail(self, kjit_last_error(s->ctx));
    }
    return true;
}

static kjit_arg bind_arg(const state *s, const bench_case *c, char what)
{
    switch (what) {
    case 'n': return kjit_arg_i64(c->size);
    case 'h': return kjit_arg_i64(c->size / 2);
    case 'q': return kjit_arg_i64(c->size / 4);
    case 'l': return kjit_arg_i64(256);
    case 'a': return kjit_arg_f64(0.5);
    default: return kjit_arg_array(s->arrays[what - '0']);
    }
}

static bool prepare(bench_side *self, const bench_case *c, void *const *data)
{
    state *s = self->state;
    s->ctx = c->single ? s->one : s->all;
    char path[512], source[NAME_SIZE];
    size_t size;
    snprintf(path, sizeof path, "%s/kernels/%s.knl", s->dir, bench_source(c, source));
    char *text = bench_file(path, &size, self->why);
    if (text == NULL)
        return false;
    const kjit_status status = kjit_module_compile(
        s->ctx, source, text, strlen(text), &(kjit_compile_options){.check = s->check}, &s->mod);
    free(text);
    if (status != KJIT_OK)
        return fail(self, s->mod != NULL ? kjit_module_log(s->mod) : kjit_last_error(s->ctx));
    if (!bind_buffers(self, c, data))
        return false;
    s->current = c;
    s->nstages = bench_stages(c);
    for (int i = 0; i < bench_stages(c); i++) {
        const bench_stage *stage = &c->stages[i];
        bench_kernel(c, i, s->kernels[i]);
        s->configs[i] = (kjit_config){.grid = {stage->grid[0], stage->grid[1], stage->grid[2]},
                                      .block = {stage->block[0], stage->block[1], stage->block[2]}};
        s->turn[i] = NULL;
        for (int j = 0; stage->args[j] != '\0'; j++)
            if (stage->args[j] == 't')
                s->turn[i] = &s->args[i][j];
            else
                s->args[i][j] = bind_arg(s, c, stage->args[j]);
    }
    return true;
}

static bool run(bench_side *self)
{
    state *s = self->state;
    const bench_case *c = s->current;
    const int turns = c->turns > 0 ? c->turns : 1, all = turns * (c->repeat > 0 ? c->repeat : 1);
    for (int turn = 0; turn < all; turn++)
        for (int i = 0; i < s->nstages; i++) {
            if (s->turn[i] != NULL)
                *s->turn[i] = kjit_arg_i64(turn % turns);
            if (kjit_launch(s->mod, s->kernels[i], &s->configs[i], s->args[i],
                            (int)strlen(c->stages[i].args)) != KJIT_OK)
                return fail(self, kjit_last_error(s->ctx));
        }
    return true;
}

static void release(bench_side *self)
{
    state *s = self->state;
    for (int i = 0; i < MAX_BUFFERS; i++) {
        kjit_array_free(s->arrays[i]);
        s->arrays[i] = NULL;
    }
    kjit_module_free(s->mod);
    s->mod = NULL;
}

static void close_side(bench_side *self)
{
    state *s = self->state;
    kjit_context_destroy(s->all);
    kjit_context_destroy(s->one);
    free(s);
}

bool bench_open_kjit(bench_side *side, const char *dir, const kjit_context_options *options,
                     int check)
{
    state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return fail(side, "out of memory");
    kjit_context_options one = *options;
    one.workers = 1;
    if (kjit_context_create(options, &s->all, side->why, sizeof side->why) != KJIT_OK ||
        kjit_context_create(&one, &s->one, side->why, sizeof side->why) != KJIT_OK) {
        kjit_context_destroy(s->all);
        free(s);
        return false;
    }
    s->dir = dir;
    s->check = check;
    side->prepare = prepare;
    side->run = run;
    side->release = release;
    side->close = close_side;
    side->state = s;
    return true;
}
