/* Carries out queued work: any work whose turn it is, chosen by the seed and after a delay drawn
 * from it, by threads of the double's own; with KJIT_DOUBLE_SYNC by the thread that queues it. */
#include "double.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

static drv_stream *streams;  /* those with work */
static int started, in_work; /* threads, and those of them that run something */
static bool ending;
static uint64_t draws;

enum work_kind { ANY_WORK, DEVICE_WORK, HOST_WORK };

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
            call_wait();
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
static double next_start(double time)
{
    double first = 0;
    for (drv_stream *s = streams; s; s = s->next) {
        double start = s->first->start;
        if (!s->first->running && start > time && (first == 0 || start < first))
            first = start;
    }
    return first;
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
    call_wake();
}

/* Thread 0 calls the host functions, so that one which blocks holds up no device. */
static void *work(void *number)
{
    char by[16];
    snprintf(by, sizeof by, "W%d", (int)(intptr_t)number);
    enum work_kind kind = number ? DEVICE_WORK : HOST_WORK;
    call_lock();
    while (!ending) {
        double time = now();
        drv_op *op = choose(kind, time);
        if (op)
            run(op, by);
        else
            call_wait_until(next_start(time));
    }
    started--;
    call_wake();
    call_unlock();
    return NULL;
}

static void start_workers(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (intptr_t i = 0; i <= config()->workers; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, (void *)i)) {
            fprintf(stderr, "driver double: no thread could be started\n");
            abort();
        }
        pthread_detach(thread);
        started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Half of the work may start at once, the rest within 0.2 or 3 ms. */
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
    if (config()->sync) {
        op_keep(op);
        for (drv_op *next; !op->done && (next = choose(ANY_WORK, now()));)
            run(next, "W0");
        op_drop(op);
        return;
    }
    if (!started)
        start_workers();
    op->start = now() + delay(op);
    call_wake();
}

/* Work that somebody waits for, and all before it, is not delayed. */
void worker_hurry(drv_op *op)
{
    for (drv_op *o = op->stream->first; o; o = o->next) {
        if (!o->hurried) {
            o->hurried = true;
            o->start = 0;
            for (int i = 0; i < o->nafter; i++) {
                if (!o->after[i]->done)
                    worker_hurry(o->after[i]);
            }
        }
        if (o == op)
            break;
    }
    call_wake();
}

void workers_stop(void)
{
    ending = true;
    call_wake();
    double until = now() + 2;
    while (started && now() < until)
        call_wait_until(until);
}

void workers_end(void)
{
    call_lock();
    workers_stop();
    call_unlock();
}
