/* Carries out queued work: any work whose turn it is, chosen by the seed and after a delay drawn
 * from it, by threads of the double's own, or by those that wait for it; with KJIT_DOUBLE_SYNC by
 * the thread that queues it. */
#include "double.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

static drv_stream *streams;  /* those with work */
static int started, in_work; /* threads of the double's, and those of all that run something */
static int device_workers;   /* of those started */
static bool host_worker;
static int host_work; /* functions of the host that are queued */
static bool ending;
static uint64_t draws, walks;

/* Of the workers that have nothing to do one watches, and looks for work now and then; only when there has been none for
 * a while it sleeps until some comes. The others sleep until there is more than one can run. */
static bool watched, asleep;
static int sleepers;

enum work_kind { ANY_WORK, DEVICE_WORK, HOST_WORK };
enum { AT_ONCE = 7 }; /* of the eight kinds of delay: a worker that watches is woken */
static const double SHORTEST_LOOK = 1e-3, LONGEST_LOOK = 8e-3; /* s */

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

drv_stream *worker_streams(void)
{
    return streams;
}

bool workers_busy(void)
{
    return in_work > 0;
}

void workers_rest(void)
{
    for (const drv_stream *s = streams; s;) {
        if (s->first->running && !s->first->host) {
            call_wait(WORK_ENDED);
            s = streams;
        } else {
            s = s->next;
        }
    }
}

/* splitmix64 */
static uint64_t draw(uint64_t number)
{
    uint64_t z = config()->seed * 0x9E3779B97F4A7C15 + number * 0xD1342543DE82EF95;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

uint64_t worker_seed(const drv_op *op)
{
    return draw(op->number);
}

/* ---- Choosing ---- */

static bool has_turn(drv_op *op, double time)
{
    if (op->running || op->start > time)
        return false;
    while (op->nafter && op->after[op->nafter - 1]->done)
        op_drop(op->after[--op->nafter]);
    for (int i = 0; i < op->nafter; i++) {
        if (!op->after[i]->done)
            return false;
    }
    return true;
}

static drv_op *choose(enum work_kind kind, double time)
{
    drv_op *chosen = NULL;
    uint64_t count = 0;
    for (drv_stream *s = streams; s; s = s->next) {
        if (s->first->host ? kind == DEVICE_WORK : kind == HOST_WORK)
            continue;
        if (has_turn(s->first, time) && draw(++draws << 20) % ++count == 0)
            chosen = s->first;
    }
    return chosen;
}

/* When the first delay after that time is over; 0: there is none. */
static double next_start(enum work_kind kind, double time)
{
    double first = 0;
    for (drv_stream *s = streams; s; s = s->next) {
        double start = s->first->start;
        if (s->first->host ? kind == DEVICE_WORK : kind == HOST_WORK)
            continue;
        if (!s->first->running && start > time && (first == 0 || start < first))
            first = start;
    }
    return first;
}

/* Work of the device that has its turn, among what `op` needs and that itself. */
static void choose_needed(drv_op *op, drv_op **chosen, uint64_t *count)
{
    drv_op *first = op->stream->first;
    if (op->done || first->walk == walks)
        return;
    first->walk = walks;
    if (first->host || first->running)
        return;
    if (has_turn(first, now())) {
        if (draw(++draws << 20) % ++*count == 0)
            *chosen = first;
        return;
    }
    for (int i = 0; i < first->nafter; i++)
        choose_needed(first->after[i], chosen, count);
}

/* ---- Running ---- */

static void leave_stream(drv_op *op)
{
    drv_stream *stream = op->stream;
    stream->first = op->next;
    if (stream->first)
        return;
    stream->last = NULL;
    for (drv_stream **at = &streams; *at; at = &(*at)->next) {
        if (*at == stream) {
            *at = stream->next;
            break;
        }
    }
}

static void run(drv_op *op, const char *by)
{
    bool host = op->host;
    drv_context *context = op->stream->object.context;
    unsigned long long number = op->number, stream = op->stream->object.number;
    op->running = true;
    in_work++;
    log_line("run %llu %s begin %s stream %llu", number, by, op->what, stream);
    CUresult status = context->error;
    if (op->run && (!status || op->always)) {
        op->status = status;
        call_unlock();
        status = op->run(op);
        call_lock();
    }
    if (status && !context->error)
        context_fail(context, status);
    if (op->finish)
        op->finish(op, context->error);
    log_line("run %llu %s end %s stream %llu = %d", number, by, op->what, stream,
             (int)context->error);
    op_uses_end(op);
    op->ended = now();
    op->done = true;
    leave_stream(op);
    for (int i = 0; i < op->nafter; i++)
        op_drop(op->after[i]);
    op->nafter = 0;
    op_drop(op);
    if (--in_work == 0) {
        memory_sweep();
        pinned_sweep();
    }
    host_work -= host;
    if (host_work)
        call_wake(HOST_CAME);
    call_wake(WORK_ENDED);
}

static void wake_another(void);

/* Does another stream have work that nobody does? */
static bool more_waits(const drv_op *than)
{
    for (const drv_stream *s = streams; s; s = s->next) {
        if (s->first != than && !s->first->running && !s->first->host)
            return true;
    }
    return false;
}

/* What a worker does next; NULL: the process ends. */
static drv_op *next_device_work(void)
{
    double look = SHORTEST_LOOK;
    bool watches = false;
    drv_op *op = NULL;
    while (!ending) {
        double time = now();
        op = choose(DEVICE_WORK, time);
        if (op)
            break;
        if (watched && !watches) {
            sleepers++;
            call_wait(WORK_LEFT);
            sleepers--;
            continue;
        }
        watches = watched = true;
        double until = next_start(DEVICE_WORK, time);
        if (until == 0 || until > time + look)
            until = time + look;
        asleep = !streams && look > LONGEST_LOOK;
        call_wait_until(WORK_CAME, asleep ? 0 : until);
        asleep = false;
        look *= look > LONGEST_LOOK ? 1 : 2;
    }
    if (watches)
        watched = false;
    if (op && more_waits(op))
        wake_another();
    return op;
}

static drv_op *next_host_work(void)
{
    while (!ending) {
        double time = now();
        drv_op *op = choose(HOST_WORK, time);
        if (op)
            return op;
        call_wait_until(HOST_CAME, next_start(HOST_WORK, time));
    }
    return NULL;
}

/* Thread 0 calls the host functions, so that one which blocks holds up no device. */
static void *work(void *number)
{
    char by[16];
    snprintf(by, sizeof by, "W%d", (int)(intptr_t)number);
    call_lock();
    for (drv_op *op; (op = number ? next_device_work() : next_host_work()) != NULL;)
        run(op, by);
    started--;
    call_wake(WORK_ENDED);
    call_unlock();
    return NULL;
}

static void start_worker(intptr_t number)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, work, (void *)number)) {
        fprintf(stderr, "driver double: no thread could be started\n");
        abort();
    }
    pthread_detach(thread);
    started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* One that does nothing and does not watch, or a new one while there are fewer than there may be. */
static void wake_another(void)
{
    if (sleepers)
        call_wake_one(WORK_LEFT);
    else if (device_workers < config()->workers)
        start_worker(++device_workers);
}

static void tell_workers(const drv_op *op)
{
    bool at_once = worker_seed(op) % 8 == AT_ONCE;
    if (op->host && !host_worker) {
        host_worker = true;
        start_worker(0);
    } else if (op->host) {
        call_wake(HOST_CAME);
    } else if (!watched) {
        wake_another();
    } else if (asleep || at_once) {
        call_wake_one(WORK_CAME);
    }
}

/* Half of the work may start at once, or when a worker next looks; the rest within 0.2 or 3 ms. */
static double delay(const drv_op *op)
{
    uint64_t random = worker_seed(op);
    double part = (double)(random >> 40) / (double)(1 << 24);
    switch (random % 8) {
    case 0: return 3e-3 * part;
    case 1:
    case 2:
    case 3: return 2e-4 * part;
    default: return 0;
    }
}

void worker_accept(drv_op *op)
{
    drv_stream *stream = op->stream;
    if (stream->first == op) {
        stream->next = streams;
        streams = stream;
    }
    host_work += op->host;
    if (config()->sync) {
        op_keep(op);
        for (drv_op *next; !op->done && (next = choose(ANY_WORK, now()));)
            run(next, "W0");
        op_drop(op);
        return;
    }
    op->start = now() + delay(op);
    tell_workers(op);
}

static void hurry(drv_op *op)
{
    for (drv_op *o = op->stream->first; o; o = o->next) {
        if (!o->hurried) {
            o->hurried = true;
            o->start = 0;
            for (int i = 0; i < o->nafter; i++) {
                if (!o->after[i]->done)
                    hurry(o->after[i]);
            }
        }
        if (o == op)
            break;
    }
}

/* Work that somebody waits for, and all before it, is not delayed. */
void worker_hurry(drv_op *op)
{
    hurry(op);
    if (host_work)
        call_wake(HOST_CAME);
}

bool worker_help(drv_op *const *needed, size_t count)
{
    char by[16];
    drv_op *chosen = NULL;
    uint64_t found = 0;
    walks++;
    for (size_t i = 0; i < count && !ending; i++)
        choose_needed(needed[i], &chosen, &found);
    if (!chosen)
        return false;
    snprintf(by, sizeof by, "T%d", thread_self()->number);
    run(chosen, by);
    return true;
}

void workers_stop(void)
{
    ending = true;
    for (call_sign sign = 0; sign < SIGNS; sign++)
        call_wake(sign);
    double until = now() + 2;
    while ((started || in_work) && now() < until)
        call_wait_until(WORK_ENDED, until);
}

void workers_end(void)
{
    call_lock();
    workers_stop();
    call_unlock();
}
