/* A function over many arguments: threads, each with a context and a kernel of its own, take chunks
 * of them one after the other. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ulp.h"

enum { BLOCK = 256, CHUNK = 1 << 15 };

typedef struct job {
    const plan *plan;
    const subject *subject;
    bool is_double, all;
    int64_t chunks, next;
    pthread_mutex_t lock;
    worst worst;
    bool failed;
} job;

typedef struct worker {
    job *job;
    kjit_context *ctx;
    kjit_module *mod;
    void *memory[MAX_ARGS + 1]; /* arguments, results */
    kjit_array *arrays[MAX_ARGS + 1];
} worker;

static bool complain(const worker *w)
{
    fprintf(stderr, "ulp: %s: %s\n", w->job->subject->name,
            w->mod   ? kjit_module_log(w->mod)
            : w->ctx ? kjit_last_error(w->ctx)
                     : "no device");
    return false;
}

/* ---- The kernel ---- */

static bool compile(worker *w)
{
    static const char *const names[] = {"x", "y", "z", "w"};
    const subject *s = w->job->subject;
    const char *type = w->job->is_double ? "f64" : "f32";
    char text[600];
    int n = snprintf(text, sizeof text, "kernel k(");
    for (int i = 0; i < s->nargs; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "a%d: %s[], ", i, type);
    n += snprintf(text + n, sizeof text - (size_t)n, "out: %s[]) {\n    let i = grid(1)\n", type);
    for (int i = 0; i < s->nargs; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "    let %s = a%d[i]\n", names[i], i);
    n += snprintf(text + n, sizeof text - (size_t)n, "    out[i] = %s\n}\n", s->call);
    return kjit_module_compile(w->ctx, s->name, text, (size_t)n, NULL, &w->mod) == KJIT_OK ||
           complain(w);
}

static bool open_worker(worker *w)
{
    const job *j = w->job;
    kjit_context_options options = {.device = j->plan->device, .workers = 1};
    char error[256];
    if (kjit_context_create(&options, &w->ctx, error, sizeof error) != KJIT_OK) {
        fprintf(stderr, "ulp: %s\n", error);
        return false;
    }
    kjit_dtype dtype = j->is_double ? KJIT_F64 : KJIT_F32;
    const int64_t shape[] = {CHUNK};
    for (int i = 0; i <= j->subject->nargs; i++) {
        w->memory[i] = calloc(CHUNK, kjit_dtype_size(dtype));
        if (!w->memory[i] || kjit_array_wrap(w->ctx, w->memory[i], dtype, 1, shape, NULL, KJIT_HOST,
                                             &w->arrays[i]) != KJIT_OK)
            return complain(w);
    }
    return compile(w);
}

static void close_worker(worker *w)
{
    for (int i = 0; i <= MAX_ARGS; i++) {
        kjit_array_free(w->arrays[i]);
        free(w->memory[i]);
    }
    kjit_module_free(w->mod);
    kjit_context_destroy(w->ctx);
    mpfr_free_cache();
}

static bool run(worker *w)
{
    kjit_arg args[MAX_ARGS + 1];
    int n = w->job->subject->nargs + 1;
    for (int i = 0; i < n; i++)
        args[i] = kjit_arg_array(w->arrays[i]);
    kjit_config config = {.grid = {CHUNK / BLOCK}, .block = {BLOCK}};
    return kjit_launch(w->mod, "k", &config, args, n) == KJIT_OK || complain(w);
}

/* ---- A chunk ---- */

static void put(worker *w, int arg, int64_t i, double value)
{
    if (w->job->is_double)
        ((double *)w->memory[arg])[i] = value;
    else
        ((float *)w->memory[arg])[i] = (float)value;
}

static double get(const worker *w, int arg, int64_t i)
{
    return w->job->is_double ? ((const double *)w->memory[arg])[i]
                             : (double)((const float *)w->memory[arg])[i];
}

static void fill(worker *w, int64_t chunk)
{
    const job *j = w->job;
    if (j->all) {
        uint32_t *bits = w->memory[0];
        for (int64_t i = 0; i < CHUNK; i++)
            bits[i] = (uint32_t)(chunk * CHUNK + i);
        return;
    }
    sampler from = sampler_new(j->subject->name, j->is_double, (uint64_t)chunk);
    for (int64_t i = 0; i < CHUNK; i++) {
        double args[MAX_ARGS];
        sample(&from, j->subject, j->is_double, args);
        for (int k = 0; k < j->subject->nargs; k++)
            put(w, k, i, args[k]);
    }
}

/* What looks worse than all before, and than correct rounding, is looked at closely. */
static void compare(worker *w, worst *most)
{
    const job *j = w->job;
    const subject *s = j->subject;
    for (int64_t i = 0; i < CHUNK; i++) {
        double args[MAX_ARGS], got = get(w, s->nargs, i);
        for (int k = 0; k < s->nargs; k++)
            args[k] = get(w, k, i);
        double size = s->amplitude ? s->amplitude(args[0]) : 0;
        double error = j->is_double ? error_f64(got, wider_value(s, args), size)
                                    : error_f32(got, wide_value(s, args), size);
        if (error <= most->error)
            continue;
        if (error > 0.5)
            error = error_exact(s, j->is_double, got, args);
        if (error > most->error) {
            most->error = error;
            memcpy(most->args, args, sizeof args);
        }
    }
}

static int64_t next_chunk(job *j)
{
    pthread_mutex_lock(&j->lock);
    int64_t chunk = j->failed || j->next == j->chunks ? -1 : j->next++;
    pthread_mutex_unlock(&j->lock);
    return chunk;
}

static void *work(void *arg)
{
    job *j = arg;
    worker w = {.job = j};
    worst most = {.error = 0};
    int64_t chunk;
    bool ok = open_worker(&w);
    while (ok && (chunk = next_chunk(j)) >= 0) {
        fill(&w, chunk);
        ok = run(&w);
        if (ok)
            compare(&w, &most);
    }
    pthread_mutex_lock(&j->lock);
    j->failed |= !ok;
    if (most.error > j->worst.error)
        j->worst = most;
    pthread_mutex_unlock(&j->lock);
    close_worker(&w);
    return NULL;
}

bool measure(const plan *p, const subject *s, bool is_double, worst *out)
{
    enum { MOST = 256 };
    pthread_t threads[MOST];
    job j = {.plan = p, .subject = s, .is_double = is_double};
    j.all = p->all_f32 && !is_double && s->nargs == 1;
    j.chunks = j.all ? ((int64_t)1 << 32) / CHUNK : (p->samples + CHUNK - 1) / CHUNK;
    pthread_mutex_init(&j.lock, NULL);
    int n = 0, wanted = p->workers < MOST ? p->workers : MOST;
    while (n < wanted && pthread_create(&threads[n], NULL, work, &j) == 0)
        n++;
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&j.lock);
    *out = j.worst;
    return n > 0 && !j.failed;
}
