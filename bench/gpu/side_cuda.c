/* The same kernels in CUDA C, compiled by nvcc, launched through the driver on kjit's arrays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

typedef union value {
    uint64_t memory;
    int32_t i;
    float f;
} value;

typedef struct state {
    driver *d;
    const char *code;
    driver_module_ref module;
    driver_function_ref functions[MAX_STAGES];
    const bench_case *c;
    int64_t size;
    value values[MAX_STAGES][MAX_ARGS];
    void *params[MAX_STAGES][MAX_ARGS];
} state;

static bool fail(bench_side *self, const char *what, int status)
{
    snprintf(self->why, sizeof self->why, "%s: the driver's error %d", what, status);
    return false;
}

static value argument(const bench_run *run, char what)
{
    switch (what) {
    case 'n': return (value){.i = (int32_t)run->size};
    case 'm': return (value){.i = (int32_t)kjit_array_size(run->arrays[1])};
    case 'k': return (value){.i = (int32_t)kjit_array_size(run->arrays[2])};
    case 'l': return (value){.i = 256};
    case 'a': return (value){.f = 0.5F};
    default:
        return (value){.memory = (uint64_t)(uintptr_t)kjit_array_data(run->arrays[what - '0'])};
    }
}

/* name.cubin, name.fatbin or name.ptx */
static bool load(bench_side *self, const char *name)
{
    static const char *const endings[] = {"cubin", "fatbin", "ptx"};
    state *s = self->state;
    char *image = NULL;
    for (int i = 0; i < 3 && image == NULL; i++) {
        char path[512];
        size_t size;
        snprintf(path, sizeof path, "%s/%s.%s", s->code, name, endings[i]);
        image = bench_file(path, &size, self->why);
    }
    if (image == NULL)
        return false;
    const int status = s->d->load(&s->module, image);
    free(image);
    return status == 0 ? true : fail(self, name, status);
}

static bool prepare(bench_side *self, const bench_run *run)
{
    state *s = self->state;
    s->c = run->c;
    s->size = run->size;
    if (!load(self, run->c->cuda))
        return false;
    for (int i = 0; i < MAX_STAGES && s->c->stages[i].kernel != NULL; i++) {
        const bench_stage *stage = &s->c->stages[i];
        const int status = s->d->function(&s->functions[i], s->module, stage->kernel);
        if (status != 0)
            return fail(self, stage->kernel, status);
        for (int j = 0; stage->cuda_args[j] != '\0'; j++) {
            s->values[i][j] = argument(run, stage->cuda_args[j]);
            s->params[i][j] = &s->values[i][j];
        }
    }
    return true;
}

static bool launch(bench_side *self)
{
    state *s = self->state;
    for (int i = 0; i < MAX_STAGES && s->c->stages[i].kernel != NULL; i++) {
        const bench_stage *stage = &s->c->stages[i];
        const int status = s->d->launch(
            s->functions[i], (unsigned)bench_extent(stage->grid[0], s->size),
            (unsigned)bench_extent(stage->grid[1], s->size), 1, (unsigned)stage->block[0],
            (unsigned)stage->block[1], 1, 0, s->d->stream, s->params[i], NULL);
        if (status != 0)
            return fail(self, stage->kernel, status);
    }
    return true;
}

static bool run(bench_side *self, int repeats, double *ms)
{
    state *s = self->state;
    double all = 0;
    bool good = driver_start(s->d);
    for (int i = 0; i < repeats && good; i++)
        if (!launch(self))
            return false;
    if (!good || !driver_stop(s->d, &all))
        return fail(self, s->c->cuda, -1);
    if (ms != NULL)
        *ms = all / repeats;
    return true;
}

static void release(bench_side *self)
{
    state *s = self->state;
    if (s->module != NULL)
        s->d->unload(s->module);
    s->module = NULL;
}

static void close_side(bench_side *self)
{
    free(self->state);
}

bool bench_open_cuda(bench_side *side, driver *d, const char *code)
{
    if (code == NULL) {
        snprintf(side->why, sizeof side->why, "nothing was compiled by nvcc");
        return false;
    }
    state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return false;
    s->d = d;
    s->code = code;
    side->state = s;
    side->prepare = prepare;
    side->run = run;
    side->release = release;
    side->close = close_side;
    return true;
}
