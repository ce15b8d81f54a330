/* NVIDIA's libraries: cuBLAS's product of matrices, CUB's sum and scan, on kjit's arrays. cuBLAS is
 * loaded where the machine has it; CUB is headers, so what nvcc made of cub/cub.cu comes with the
 * benchmark. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

typedef struct cublas *cublas_ref;
typedef int cub_function(void *temporary, size_t *bytes, const void *x, void *out, int n,
                         driver_stream_ref stream);

typedef struct state {
    driver *d;
    void *cublas_library, *cub_library;
    cublas_ref cublas;
    int (*destroy)(cublas_ref cublas);
    int (*sgemm)(cublas_ref cublas, int turn_a, int turn_b, int m, int n, int k, const float *alpha,
                 const float *a, int lda, const float *b, int ldb, const float *beta, float *c,
                 int ldc);
    cub_function *sum, *scan;
    cub_function *now; /* of the case; NULL: sgemm */
    driver_memory temporary;
    size_t bytes;
    const bench_run *run;
} state;

static bool fail(bench_side *self, const char *what, int status)
{
    snprintf(self->why, sizeof self->why, "%s: error %d", what, status);
    return false;
}

static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static void *array(const state *s, int i)
{
    return kjit_array_data(s->run->arrays[i]);
}

/* One run of the case. */
static int go(state *s)
{
    const int n = (int)s->run->size;
    const float one = 1, zero = 0;
    if (s->now != NULL)
        return s->now((void *)(uintptr_t)s->temporary, &s->bytes, array(s, 0),
                      array(s, s->now == s->sum ? 2 : 1), n, s->d->stream);
    /* by columns: the product of what it takes for the transposed matrices, the other way round */
    return s->sgemm(s->cublas, 0, 0, n, n, n, &one, array(s, 1), n, array(s, 0), n, &zero,
                    array(s, 2), n);
}

static bool prepare(bench_side *self, const bench_run *run)
{
    state *s = self->state;
    s->run = run;
    self->why[0] = '\0';
    s->now = strcmp(run->c->name, "reduce") == 0 ? s->sum
             : strcmp(run->c->name, "scan") == 0 ? s->scan
                                                 : NULL;
    if (s->now == NULL)
        return s->cublas != NULL && strcmp(run->c->name, "matmul tuned") == 0;
    s->temporary = 0;
    s->bytes = 0;
    int status = go(s); /* says what it wants */
    if (status == 0)
        status = s->d->alloc(&s->temporary, s->bytes);
    return status == 0 ? true : fail(self, run->c->name, status);
}

static bool run(bench_side *self, int repeats, double *ms)
{
    state *s = self->state;
    double all = 0;
    int status = 0;
    bool good = driver_start(s->d);
    for (int i = 0; i < repeats && status == 0; i++)
        status = go(s);
    if (status != 0)
        return fail(self, s->run->c->name, status);
    if (!good || !driver_stop(s->d, &all))
        return fail(self, s->run->c->name, -1);
    if (ms != NULL)
        *ms = all / repeats;
    return true;
}

static void release(bench_side *self)
{
    state *s = self->state;
    if (s->temporary != 0)
        s->d->release_memory(s->temporary);
    s->temporary = 0;
}

static void close_side(bench_side *self)
{
    state *s = self->state;
    if (s->cublas != NULL)
        s->destroy(s->cublas);
    free(s);
}

static void open_cublas(state *s)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                                        "/usr/local/cuda/lib64/libcublas.so.13",
                                        "/usr/local/cuda/lib64/libcublas.so.12"};
    int (*create)(cublas_ref * cublas);
    int (*set_stream)(cublas_ref cublas, driver_stream_ref stream);
    for (size_t i = 0; i < sizeof names / sizeof *names && s->cublas_library == NULL; i++)
        s->cublas_library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (s->cublas_library == NULL || !find(s->cublas_library, "cublasCreate_v2", &create) ||
        !find(s->cublas_library, "cublasSetStream_v2", &set_stream) ||
        !find(s->cublas_library, "cublasDestroy_v2", &s->destroy) ||
        !find(s->cublas_library, "cublasSgemm_v2", &s->sgemm) || create(&s->cublas) != 0) {
        s->cublas = NULL;
        return;
    }
    set_stream(s->cublas, s->d->stream);
}

bool bench_open_library(bench_side *side, driver *d, const char *code)
{
    char path[512];
    state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return false;
    s->d = d;
    open_cublas(s);
    snprintf(path, sizeof path, "%s/libgpu-cub.so", code != NULL ? code : ".");
    s->cub_library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (s->cub_library == NULL || !find(s->cub_library, "bench_cub_sum", &s->sum) ||
        !find(s->cub_library, "bench_cub_scan", &s->scan))
        s->sum = s->scan = NULL;
    side->state = s;
    side->prepare = prepare;
    side->run = run;
    side->release = release;
    side->close = close_side;
    if (s->cublas != NULL || s->sum != NULL)
        return true;
    snprintf(side->why, sizeof side->why, "neither cuBLAS nor what nvcc makes of CUB is here");
    close_side(side);
    return false;
}
