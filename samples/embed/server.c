/* A small server: clients put requests into a queue, a pool of worker threads answers them. All
 * workers share one context and one module; each has a stream and arrays of its own, so that their
 * copies and kernels run beside one another.
 *
 *     server [device [workers [requests]]] */
#include <kjit.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 4, MAX_WORKERS = 64, QUEUE = 32, LONGEST = 20000 };

static const char source[] = "kernel scale(x: f64[], c: f64) {\n"
                             "    let i = grid(1)\n"
                             "    if i < x.size { x[i] *= c }\n"
                             "}\n"
                             "kernel shift(x: f64[], c: f64) {\n"
                             "    let i = grid(1)\n"
                             "    if i < x.size { x[i] += c }\n"
                             "}\n"
                             "kernel square(x: f64[], c: f64) {\n"
                             "    let i = grid(1)\n"
                             "    if i < x.size { x[i] = x[i] * x[i] + c }\n"
                             "}\n";
static const char *const kernels[] = {"scale", "shift", "square"};

/* The client's, which waits until it is answered. */
typedef struct request {
    const char *kernel;
    double *data;
    int64_t n;
    double c;
    bool answered;
    char error[256]; /* "": it went well */
} request;

typedef struct server {
    kjit_context *ctx;
    kjit_module *mod;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    request *queue[QUEUE];
    int first, count;
    bool ending;
    long answers;
} server;

/* ---- The queue ---- */

static void submit(server *s, request *r)
{
    pthread_mutex_lock(&s->lock);
    while (s->count == QUEUE)
        pthread_cond_wait(&s->changed, &s->lock);
    s->queue[(s->first + s->count++) % QUEUE] = r;
    pthread_cond_broadcast(&s->changed);
    while (!r->answered)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

/* NULL: the server ends. */
static request *take(server *s)
{
    request *r = NULL;
    pthread_mutex_lock(&s->lock);
    while (s->count == 0 && !s->ending)
        pthread_cond_wait(&s->changed, &s->lock);
    if (s->count > 0) {
        r = s->queue[s->first];
        s->first = (s->first + 1) % QUEUE;
        s->count--;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return r;
}

static void answer(server *s, request *r)
{
    pthread_mutex_lock(&s->lock);
    r->answered = true;
    s->answers++;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* ---- Workers ---- */

/* What a worker keeps between requests. */
typedef struct worker {
    kjit_stream *stream;
    kjit_array *device; /* of LONGEST elements */
} worker;

/* The request's data to the device, the kernel, and back: queued in the worker's stream, waited for
 * there. */
static kjit_status work(server *s, worker *w, const request *r)
{
    kjit_array *host = NULL, *part = NULL;
    kjit_status status =
        kjit_array_wrap(s->ctx, r->data, KJIT_F64, 1, &r->n, NULL, KJIT_HOST, &host);
    if (status == KJIT_OK)
        status = kjit_array_slice(w->device, NULL, &r->n, NULL, &part);
    if (status == KJIT_OK)
        status = kjit_copy(part, host, w->stream);
    kjit_arg args[] = {kjit_arg_array(part), kjit_arg_f64(r->c)};
    if (status == KJIT_OK)
        status = kjit_launch_forall(s->mod, r->kernel, r->n, w->stream, args, 2);
    if (status == KJIT_OK)
        status = kjit_copy(host, part, w->stream);
    /* whatever was queued is over before the client gets its memory back */
    kjit_status ended = kjit_stream_synchronize(w->stream);
    kjit_array_free(part);
    kjit_array_free(host);
    return status != KJIT_OK ? status : ended;
}

static void *worker_main(void *data)
{
    server *s = data;
    worker w = {NULL, NULL};
    request *r;
    kjit_status ready = kjit_stream_create(s->ctx, &w.stream);
    if (ready == KJIT_OK)
        ready = kjit_array_create(s->ctx, KJIT_F64, 1, (int64_t[]){LONGEST}, 'C', KJIT_DEVICE,
                                  &w.device);
    while ((r = take(s))) {
        kjit_status status = ready == KJIT_OK ? work(s, &w, r) : ready;
        if (status != KJIT_OK) /* the sentence of this thread's last failure */
            snprintf(r->error, sizeof r->error, "%s", kjit_last_error(s->ctx));
        answer(s, r);
    }
    kjit_array_free(w.device);
    kjit_stream_free(w.stream);
    return NULL;
}

/* ---- Clients ---- */

typedef struct client {
    server *server;
    unsigned seed;
    int requests, wrong;
} client;

static bool right(const request *r, int64_t i)
{
    double x = (double)i;
    double expected = r->kernel == kernels[0]   ? x * r->c
                      : r->kernel == kernels[1] ? x + r->c
                                                : x * x + r->c;
    return r->data[i] == expected; /* all of these are exact */
}

static void *client_main(void *data)
{
    client *c = data;
    double *values = malloc(LONGEST * sizeof *values);
    for (int k = 0; values && k < c->requests; k++) {
        request r = {.kernel = kernels[rand_r(&c->seed) % 3],
                     .data = values,
                     .n = 1 + rand_r(&c->seed) % LONGEST,
                     .c = rand_r(&c->seed) % 100};
        for (int64_t i = 0; i < r.n; i++)
            values[i] = (double)i;
        submit(c->server, &r);
        bool good = *r.error == '\0';
        for (int64_t i = 0; i < r.n && good; i++)
            good = right(&r, i);
        if (!good && c->wrong++ == 0)
            fprintf(stderr, "%s of %lld: %s\n", r.kernel, (long long)r.n,
                    *r.error ? r.error : "wrong numbers");
    }
    c->wrong += !values;
    free(values);
    return NULL;
}

static int serve(server *s, int nworkers, int requests)
{
    pthread_t workers[MAX_WORKERS], threads[CLIENTS];
    client clients[CLIENTS];
    int started = 0, nclients = 0, wrong = 0;
    while (started < nworkers && pthread_create(&workers[started], NULL, worker_main, s) == 0)
        started++;
    for (; started > 0 && nclients < CLIENTS; nclients++) {
        clients[nclients] =
            (client){.server = s, .seed = (unsigned)nclients, .requests = requests / CLIENTS};
        if (pthread_create(&threads[nclients], NULL, client_main, &clients[nclients]) != 0)
            break;
    }
    for (int i = 0; i < nclients; i++) {
        pthread_join(threads[i], NULL);
        wrong += clients[i].wrong;
    }
    pthread_mutex_lock(&s->lock);
    s->ending = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    for (int i = 0; i < started; i++)
        pthread_join(workers[i], NULL);
    return wrong + (CLIENTS - nclients);
}

int main(int argc, char **argv)
{
    int nworkers = argc > 2 ? atoi(argv[2]) : 8, requests = argc > 3 ? atoi(argv[3]) : 400;
    nworkers = nworkers < 1 ? 1 : nworkers > MAX_WORKERS ? MAX_WORKERS : nworkers;
    server s = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    kjit_context_options options = {.device = argc > 1 ? argv[1] : NULL};
    char error[256];
    if (kjit_context_create(&options, &s.ctx, error, sizeof error) != KJIT_OK) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    int wrong = 1;
    if (kjit_module_compile(s.ctx, "server.knl", source, strlen(source), NULL, &s.mod) == KJIT_OK)
        wrong = serve(&s, nworkers, requests);
    else
        fprintf(stderr, "%s\n", kjit_last_error(s.ctx));
    kjit_module_free(s.mod);
    kjit_context_destroy(s.ctx);
    printf("%ld requests answered by %d workers, %d wrong\n", s.answers, nworkers, wrong);
    return wrong != 0;
}
