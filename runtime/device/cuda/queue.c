/* Queues: streams with lists of what was put into them, and who ends it. */
#include <stdlib.h>

#include "device/cuda/cuda_device.h"

/* An event recorded in the stream now; NULL when that cannot be had: then the stream is asked. */
static kj_cuda_event *record_event(kj_queue *q)
{
    kj_device *dev = q->dev;
    kj_cuda_event *e = kj_cuda_event_take(dev, false);
    if (!e)
        return NULL;
    kj_cu_result result = dev->cu->EventRecord(e->event, q->stream);
    if (result == KJ_CU_SUCCESS)
        return e;
    kj_cuda_note(dev, result);
    kj_cuda_event_give(dev, e);
    return NULL;
}

/* ---- Listing tasks ---- */

void kj_cuda_launch_begin(kj_device *dev, kj_cuda_launch *launch)
{
    pthread_mutex_lock(&dev->lock);
    launch->prev = NULL;
    launch->next = dev->launches;
    if (launch->next)
        launch->next->prev = launch;
    dev->launches = launch;
    pthread_mutex_unlock(&dev->lock);
}

void kj_cuda_launch_end(kj_device *dev, kj_cuda_launch *launch)
{
    pthread_mutex_lock(&dev->lock);
    if (launch->prev)
        launch->prev->next = launch->next;
    else
        dev->launches = launch->next;
    if (launch->next)
        launch->next->prev = launch->prev;
    pthread_mutex_unlock(&dev->lock);
}

void *kj_cuda_task_new(size_t size, kj_work *work, const char *what)
{
    kj_cuda_task *task = calloc(1, size);
    if (!task)
        return NULL;
    task->work = work;
    task->launch.what = what;
    return task;
}

uint64_t kj_cuda_queued(kj_queue *q, kj_cuda_task *task, bool exact)
{
    enum { GROUP = 16 }; /* tasks that share an event */
    kj_device *dev = q->dev;
    if (task->launch.what)
        kj_cuda_launch_begin(dev, &task->launch);
    kj_cuda_span_end(q, task);
    if (++q->unmarked >= GROUP) {
        q->unmarked = 0;
        q->due = true;
        exact = true;
    }
    if (exact || q->kind != KJ_QUEUE_OWN || atomic_load_explicit(&q->lent, memory_order_relaxed))
        task->reached = record_event(q);
    pthread_mutex_lock(&dev->lock);
    uint64_t ticket = task->ticket = ++dev->tickets;
    if (q->tail)
        q->tail->next = task;
    else
        q->head = task;
    q->tail = task;
    atomic_fetch_add(&dev->pending, 1);
    pthread_mutex_unlock(&dev->lock);
    return ticket;
}

/* ---- Ending tasks: by one thread a queue at a time, the one that has set `draining` ---- */

/* The task up to which the next event, or the stream as a whole, tells; NULL: nothing is listed. */
static kj_cuda_task *next_group(const kj_queue *q)
{
    pthread_mutex_lock(&q->dev->lock);
    kj_cuda_task *t = q->head;
    while (t && !t->reached)
        t = t->next;
    if (!t)
        t = q->tail;
    pthread_mutex_unlock(&q->dev->lock);
    return t;
}

/* Asks or waits for the work up to a task. A thread's stream cannot be named by others, and one
 * that others know may be captured: their tasks have an event each, and where one could not be made
 * all work is waited for. */
static kj_cu_result ask(kj_queue *q, kj_cuda_task *last, bool wait)
{
    const kj_cuda_driver *cu = q->dev->cu;
    if (!last->reached && (q->kind == KJ_QUEUE_THREAD || kj_cuda_is_captured(q)))
        return wait ? cu->CtxSynchronize() : KJ_CU_NOT_READY;
    if (wait && !last->reached)
        last->reached = record_event(q);
    if (last->reached)
        return (wait ? cu->EventSynchronize : cu->EventQuery)(last->reached->event);
    return (wait ? cu->StreamSynchronize : cu->StreamQuery)(q->stream);
}

/* After a wait that failed: waits for all there is, else the device is lost, for there is no way to
 * know any more. */
static void settle(kj_device *dev, kj_cu_result result)
{
    kj_cuda_note(dev, result);
    if (!kj_cuda_is_lost(dev) && dev->cu->CtxSynchronize() != KJ_CU_SUCCESS)
        kj_cuda_lose(dev, result);
}

/* Has the work up to a task ended? On a lost device all has. */
static bool has_ended(kj_queue *q, kj_cuda_task *last, bool wait)
{
    kj_device *dev = q->dev;
    if (kj_cuda_is_lost(dev))
        return true;
    kj_cu_result result = ask(q, last, wait);
    if (result == KJ_CU_SUCCESS)
        return true;
    if (result == KJ_CU_NOT_READY && !wait)
        return false;
    settle(dev, result);
    return true;
}

/* Frees a task; of a lost device, one that host functions might still look at is kept. */
static void forget(kj_device *dev, kj_cuda_task *task, bool lost)
{
    if (!lost || !task->end) {
        free(task);
        return;
    }
    pthread_mutex_lock(&dev->lock);
    task->next = dev->remains;
    dev->remains = task;
    pthread_mutex_unlock(&dev->lock);
}

void kj_cuda_task_drop(kj_device *dev, kj_cuda_task *task)
{
    bool lost = kj_cuda_is_lost(dev);
    kj_cuda_span_drop(dev, task, false);
    if (task->end)
        task->end(dev, task, lost);
    forget(dev, task, lost);
}

/* The head of the list; the place is kept until its owner has been told. */
static void end_task(kj_queue *q, kj_cuda_task *task)
{
    kj_device *dev = q->dev;
    bool lost = kj_cuda_is_lost(dev);
    if (task->launch.what)
        kj_cuda_launch_end(dev, &task->launch);
    if (task->reached)
        kj_cuda_event_give(dev, task->reached);
    kj_cuda_span_drop(dev, task, !lost);
    if (task->end)
        task->end(dev, task, lost);
    if (task->work) {
        task->work->why = lost ? dev->lost_text : NULL;
        task->work->done(task->work, lost ? KJIT_LOST : KJIT_OK, NULL);
    }
    pthread_mutex_lock(&dev->lock);
    q->head = task->next;
    if (!q->head)
        q->tail = NULL;
    atomic_fetch_sub(&dev->pending, 1);
    pthread_cond_broadcast(&dev->ended);
    pthread_mutex_unlock(&dev->lock);
    forget(dev, task, lost);
}

/* Ends what has been reached; when it waits, all up to the ticket at least. */
static void drain(kj_queue *q, bool wait, uint64_t ticket)
{
    for (;;) {
        kj_cuda_task *last = next_group(q);
        if (!last || (wait && q->head->ticket > ticket) || !has_ended(q, last, wait))
            return;
        while (q->head != last)
            end_task(q, q->head);
        end_task(q, last);
    }
}

/* Under the lock. */
static void stop_draining(kj_queue *q)
{
    q->draining = false;
    pthread_cond_broadcast(&q->dev->ended);
}

void kj_cuda_issued(kj_queue *q)
{
    bool due = q->due;
    q->due = false;
    pthread_mutex_unlock(&q->issue);
    if (due)
        kj_cuda_drain(q);
}

void kj_cuda_drain(kj_queue *q)
{
    kj_device *dev = q->dev;
    pthread_mutex_lock(&dev->lock);
    bool mine = q->head && !q->draining;
    if (mine)
        q->draining = true;
    pthread_mutex_unlock(&dev->lock);
    if (!mine)
        return;
    drain(q, false, 0);
    pthread_mutex_lock(&dev->lock);
    stop_draining(q);
    pthread_mutex_unlock(&dev->lock);
}

/* A queue that still has work up to the ticket. Under the lock. */
static kj_queue *unfinished(const kj_device *dev, const kj_queue *only, uint64_t ticket)
{
    kj_queue *q = dev->queues;
    while (q && !((!only || q == only) && q->head && q->head->ticket <= ticket))
        q = q->next;
    return q;
}

void kj_cuda_finish(kj_device *dev, const kj_queue *only, uint64_t ticket)
{
    kj_queue *q;
    kj_failure why;
    if (atomic_load(&dev->pending) == 0)
        return;
    bool entered = kj_cuda_enter(dev, &why) == KJIT_OK;
    if (!entered && !kj_cuda_is_lost(dev))
        kj_cuda_lose(dev, KJ_CU_INVALID_CONTEXT); /* without it nothing can be waited for */
    pthread_mutex_lock(&dev->lock);
    while ((q = unfinished(dev, only, ticket))) {
        if (q->draining) {
            pthread_cond_wait(&dev->ended, &dev->lock);
            continue;
        }
        q->draining = true;
        pthread_mutex_unlock(&dev->lock);
        drain(q, true, ticket);
        pthread_mutex_lock(&dev->lock);
        stop_draining(q);
    }
    pthread_mutex_unlock(&dev->lock);
    if (entered)
        kj_cuda_leave(dev);
}

bool kj_cuda_ended(kj_device *dev, const kj_queue *only, uint64_t ticket)
{
    kj_failure why;
    bool entered = kj_cuda_enter(dev, &why) == KJIT_OK;
    pthread_mutex_lock(&dev->lock);
    kj_queue *q = unfinished(dev, only, ticket);
    if (q && !q->draining && (entered || kj_cuda_is_lost(dev))) {
        q->draining = true;
        pthread_mutex_unlock(&dev->lock);
        drain(q, false, 0);
        pthread_mutex_lock(&dev->lock);
        stop_draining(q);
    }
    bool ended = !unfinished(dev, only, ticket);
    pthread_mutex_unlock(&dev->lock);
    if (entered)
        kj_cuda_leave(dev);
    return ended;
}

kj_cu_result kj_cuda_sync(kj_device *dev, kj_cu_stream stream)
{
    kj_cu_result result = dev->cu->StreamSynchronize(stream);
    if (result == KJ_CU_SUCCESS)
        return result;
    settle(dev, result);
    return kj_cuda_is_lost(dev) ? result : KJ_CU_SUCCESS;
}

/* ---- Queues ---- */

/* A stream of the queue's own, or the one it is to use. */
static kjit_status open_stream(kj_device *dev, kj_queue *q, void *handle, kj_failure *why)
{
    static void *const names[] = {
        [KJ_QUEUE_LEGACY] = KJ_CU_STREAM_LEGACY, [KJ_QUEUE_THREAD] = KJ_CU_STREAM_PER_THREAD};
    kj_cu_context context;
    kj_cu_result result;
    if (q->kind == KJ_QUEUE_OWN) {
        result = dev->cu->StreamCreate(&q->stream, KJ_CU_STREAM_NON_BLOCKING);
        return result == KJ_CU_SUCCESS ? KJIT_OK
                                       : kj_cuda_failed(dev, result, why, "make a stream");
    }
    q->stream = q->kind == KJ_QUEUE_EXTERNAL ? handle : names[q->kind];
    if (q->kind != KJ_QUEUE_EXTERNAL)
        return KJIT_OK;
    result = dev->cu->StreamGetCtx(q->stream, &context);
    if (result == KJ_CU_INVALID_HANDLE)
        return kj_because(why, KJIT_INVALID, "there is no stream %p", handle);
    if (result != KJ_CU_SUCCESS)
        return kj_cuda_failed(dev, result, why, "use the stream %p", handle);
    if (context != dev->context)
        return kj_because(why, KJIT_INVALID, "the stream %p is of another device or driver context",
                          handle);
    return KJIT_OK;
}

kjit_status kj_cuda_queue_create(kj_device *dev, kj_queue_kind kind, void *handle, kj_queue **out,
                                 kj_failure *why)
{
    kj_queue *q = calloc(1, sizeof *q);
    if (!q)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    q->kind = kind;
    q->thread = pthread_self();
    atomic_init(&q->lent, false);
    kjit_status status = kj_cuda_enter(dev, why);
    if (status == KJIT_OK) {
        status = open_stream(dev, q, handle, why);
        kj_cuda_leave(dev);
    }
    if (status != KJIT_OK) {
        free(q);
        return status;
    }
    q->dev = dev;
    pthread_mutex_init(&q->issue, NULL);
    pthread_mutex_lock(&dev->lock);
    q->next = dev->queues;
    if (q->next)
        q->next->prev = q;
    dev->queues = q;
    pthread_mutex_unlock(&dev->lock);
    *out = q;
    return KJIT_OK;
}

kjit_status kj_cuda_queue_free(kj_queue *q, kj_failure *why)
{
    kj_device *dev = q->dev;
    kjit_status status;
    pthread_mutex_lock(&dev->lock);
    while (q->draining)
        pthread_cond_wait(&dev->ended, &dev->lock);
    if (q->prev)
        q->prev->next = q->next;
    else
        dev->queues = q->next;
    if (q->next)
        q->next->prev = q->prev;
    pthread_mutex_unlock(&dev->lock);
    kj_cuda_stage_give(dev, q->stage);
    if (kj_cuda_enter_to_free(dev, &status, why)) {
        kj_cu_result result = q->counter.at ? dev->cu->MemFree(q->counter.at) : KJ_CU_SUCCESS;
        kj_cu_result end =
            q->kind == KJ_QUEUE_OWN ? dev->cu->StreamDestroy(q->stream) : KJ_CU_SUCCESS;
        if (result == KJ_CU_SUCCESS)
            result = end;
        if (result != KJ_CU_SUCCESS)
            status = kj_cuda_failed(dev, result, why, "free a stream");
        kj_cuda_leave(dev);
    }
    pthread_mutex_destroy(&q->issue);
    free(q);
    return status;
}

/* Of what is captured nothing runs. */
static void wait_for_others(kj_queue *q)
{
    kj_failure why;
    if (kj_cuda_enter(q->dev, &why) != KJIT_OK)
        return;
    if (!kj_cuda_is_captured(q))
        kj_cuda_sync(q->dev, q->stream);
    kj_cuda_leave(q->dev);
}

static bool others_idle(kj_queue *q)
{
    kj_failure why;
    if (kj_cuda_enter(q->dev, &why) != KJIT_OK)
        return true;
    kj_cu_result result =
        kj_cuda_is_captured(q) ? KJ_CU_SUCCESS : q->dev->cu->StreamQuery(q->stream);
    if (result != KJ_CU_NOT_READY)
        kj_cuda_note(q->dev, result);
    kj_cuda_leave(q->dev);
    return result != KJ_CU_NOT_READY;
}

/* NULL: of every queue. */
static void wait_for_own(kj_device *dev, kj_queue *queue)
{
    if (atomic_load(&dev->pending) == 0)
        return;
    pthread_mutex_lock(&dev->lock);
    uint64_t ticket = dev->tickets;
    pthread_mutex_unlock(&dev->lock);
    kj_cuda_finish(dev, queue, ticket);
}

void kj_cuda_queue_finish(kj_queue *queue)
{
    wait_for_own(queue->dev, queue);
}

static int count_shared(kj_device *dev)
{
    int n = 0;
    pthread_mutex_lock(&dev->lock);
    for (const kj_queue *q = dev->queues; q; q = q->next)
        n += kj_cuda_is_shared(q);
    pthread_mutex_unlock(&dev->lock);
    return n;
}

/* Is no capture of the stream open? Who cannot be asked has nothing to wait for. */
static bool is_running(const kj_device *dev, const kj_queue *q, kj_cu_result *asked)
{
    kj_cu_capture_status capture = KJ_CU_STREAM_CAPTURE_NONE;
    *asked = KJ_CU_SUCCESS;
    if (dev->cu->StreamIsCapturing)
        *asked = dev->cu->StreamIsCapturing(q->stream, &capture);
    return *asked == KJ_CU_SUCCESS && capture == KJ_CU_STREAM_CAPTURE_NONE;
}

/* What was recorded behind the work of shared queues; what the driver said; is there work that no event
 * is behind? */
typedef struct shared_marks {
    kj_cuda_event *recorded;
    kj_cu_result said;
    bool short_of;
} shared_marks;

/* Takes what it records from the events. */
static void mark(kj_queue *q, kj_cuda_event **events, shared_marks *marks)
{
    kj_cuda_event *e = *events;
    kj_cu_result said;
    bool running = is_running(q->dev, q, &said);
    if (running)
        said = e ? q->dev->cu->EventRecord(e->event, q->stream) : KJ_CU_OUT_OF_MEMORY;
    if (said != KJ_CU_SUCCESS) {
        marks->said = said;
        marks->short_of |= running;
    } else if (running) {
        *events = e->next;
        e->next = marks->recorded;
        marks->recorded = e;
    }
}

static shared_marks mark_shared(kj_device *dev, kj_cuda_event **events)
{
    shared_marks marks = {NULL, KJ_CU_SUCCESS, false};
    pthread_mutex_lock(&dev->lock);
    for (kj_queue *q = dev->queues; q; q = q->next)
        if (kj_cuda_is_shared(q))
            mark(q, events, &marks);
    pthread_mutex_unlock(&dev->lock);
    return marks;
}

/* In all queues. They are told by events, as another thread may end a queue meanwhile. */
static void wait_for_all_others(kj_device *dev)
{
    kj_failure why;
    kj_cuda_event *unused = NULL, *e;
    int n = count_shared(dev);
    if (n == 0 || kj_cuda_enter(dev, &why) != KJIT_OK)
        return;
    for (; n > 0 && (e = kj_cuda_event_take(dev, false)); n--) {
        e->next = unused;
        unused = e;
    }
    shared_marks marks = mark_shared(dev, &unused);
    kj_cuda_note(dev, marks.said);
    while ((e = marks.recorded)) {
        marks.recorded = e->next;
        kj_cu_result result = dev->cu->EventSynchronize(e->event);
        if (result != KJ_CU_SUCCESS)
            settle(dev, result);
        kj_cuda_event_give(dev, e);
    }
    if (marks.short_of && !kj_cuda_is_lost(dev))
        kj_cuda_note(dev, dev->cu->CtxSynchronize());
    while ((e = unused)) {
        unused = e->next;
        kj_cuda_event_give(dev, e);
    }
    kj_cuda_leave(dev);
}

void kj_cuda_wait(kj_device *dev, kj_queue *queue)
{
    wait_for_own(dev, queue);
    if (!queue)
        wait_for_all_others(dev);
    else if (kj_cuda_is_shared(queue))
        wait_for_others(queue);
}

bool kj_cuda_idle(kj_queue *q)
{
    kj_device *dev = q->dev;
    kj_failure why;
    if (kj_cuda_is_shared(q) && !others_idle(q))
        return false;
    if (atomic_load(&dev->pending) == 0)
        return true;
    bool entered = kj_cuda_enter(dev, &why) == KJIT_OK;
    if (entered || kj_cuda_is_lost(dev))
        kj_cuda_drain(q);
    if (entered)
        kj_cuda_leave(dev);
    pthread_mutex_lock(&dev->lock);
    bool idle = !q->head;
    pthread_mutex_unlock(&dev->lock);
    return idle;
}
