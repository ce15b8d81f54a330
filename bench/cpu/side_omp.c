/* An OpenMP side: a shared object with the functions of omp/, built by one compiler. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "omp/omp.h"

typedef struct state {
    void *object;
    omp_entry *entry;
    void *const *data;
    int64_t size;
    int repeat;
} state;

static bool prepare(bench_side *self, const bench_case *c, void *const *data)
{
    state *s = self->state;
    char name[NAME_SIZE];
    void *symbol = dlsym(s->object, bench_function(c, name));
    if (symbol == NULL) {
        snprintf(self->why, sizeof self->why, "%s", dlerror());
        return false;
    }
    memcpy(&s->entry, &symbol,
           sizeof symbol); /* ISO C has no cast from an object to a function pointer */
    s->data = data;
    s->size = c->size;
    s->repeat = c->repeat > 0 ? c->repeat : 1;
    return true;
}

static bool run(bench_side *self)
{
    const state *s = self->state;
    for (int turn = 0; turn < s->repeat; turn++)
        s->entry(s->data, s->size);
    return true;
}

static void release(bench_side *self)
{
    (void)self;
}

static void close_side(bench_side *self)
{
    free(self->state); /* the object stays: its runtime's threads may still be about */
}

/* All runtimes use the cores the process has; none spins between its own runs, when the others want the cores. */
static void set_environment(void)
{
    char cores[16];
    snprintf(cores, sizeof cores, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    setenv("OMP_NUM_THREADS", cores, 0);
    setenv("OMP_DYNAMIC", "false", 1);
    setenv("OMP_WAIT_POLICY", "passive", 1);
    setenv("GOMP_SPINCOUNT", "0", 1);
    setenv("KMP_BLOCKTIME", "0", 1);
}

bool bench_open_omp(bench_side *side, const char *path)
{
    state *s = calloc(1, sizeof *s);
    if (s == NULL) {
        snprintf(side->why, sizeof side->why, "out of memory");
        return false;
    }
    set_environment();
    s->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (s->object == NULL) {
        snprintf(side->why, sizeof side->why, "%s", dlerror());
        free(s);
        return false;
    }
    side->prepare = prepare;
    side->run = run;
    side->release = release;
    side->close = close_side;
    side->state = s;
    return true;
}
