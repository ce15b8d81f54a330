/* Host functions in a stream: callbacks, and what those of copies have in common with them. The
 * driver may leave them out when the device is lost, or still be running one. */
#include <sched.h>
#include <stdlib.h>

#include "device/cuda/cuda_device.h"

enum { RESTING, RUNNING, CANCELLED };

bool kj_cuda_host_begin(atomic_int *state)
{
    int resting = RESTING;
    return atomic_compare_exchange_strong(state, &resting, RUNNING);
}

void kj_cuda_host_end(atomic_int *state)
{
    atomic_store(state, RESTING);
}

void kj_cuda_host_cancel(atomic_int *state)
{
    int resting = RESTING;
    while (!atomic_compare_exchange_weak(state, &resting, CANCELLED)) {
        resting = RESTING;
        sched_yield();
    }
}

/* ---- Callbacks ---- */

typedef struct call_task {
    kj_cuda_task task;
    atomic_int state;
    void (*run)(kj_work *work);
} call_task;

static void run_on_host(void *data)
{
    call_task *c = data;
    if (!kj_cuda_host_begin(&c->state))
        return;
    c->run(c->task.work);
    kj_cuda_host_end(&c->state);
}

static void end_call(kj_device *dev, kj_cuda_task *task, bool lost)
{
    (void)dev;
    if (lost)
        kj_cuda_host_cancel(&((call_task *)task)->state);
}

static kjit_status queue_call(kj_queue *q, call_task *c, kj_failure *why)
{
    kj_device *dev = q->dev;
    pthread_mutex_lock(&q->issue);
    kj_cuda_span_begin(q, &c->task);
    kj_cu_result result = dev->cu->LaunchHostFunc(q->stream, run_on_host, c);
    if (result == KJ_CU_SUCCESS)
        kj_cuda_queued(q, &c->task, false);
    kj_cuda_issued(q);
    return result == KJ_CU_SUCCESS ? KJIT_OK : kj_cuda_failed(dev, result, why, "queue a callback");
}

kjit_status kj_cuda_call(kj_device *dev, kj_queue *queue, void (*run)(kj_work *work), kj_work *work,
                         kj_failure *why)
{
    call_task *c = kj_cuda_task_new(sizeof *c, work, NULL);
    if (!c)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    c->run = run;
    c->task.end = end_call;
    kjit_status status = kj_cuda_enter(dev, why);
    if (status == KJIT_OK) {
        status = queue_call(queue, c, why);
        kj_cuda_leave(dev);
    }
    if (status != KJIT_OK)
        kj_cuda_task_drop(dev, &c->task);
    return status;
}
