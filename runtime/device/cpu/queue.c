/* Queues of work that run in order, each on a thread of its own, and marks in them.
 *
 * A queue's thread is started by its first task. A task stays at the head of its queue while it
 * runs; tickets number the tasks of all queues, so "all that was queued before now" is one
 * comparison a queue. Everything is guarded by the device's one lock; tasks run without it. */
#include <stdlib.h>

#include "device/cpu/cpu.h"

struct kj_queue {
    kj_queues *all;
    kj_queue *next, *prev;
    pthread_cond_t ready; /* a task came, or the queue ends */
    pthread_t thread;
    bool started, ending;
    kj_task *head, *tail;
};

struct kj_mark {
    kj_queues *all;
    int refs;              /* the owner's and the queued tasks' */
    uint64_t issued, done; /* records asked for and reached */
    double ms;             /* of the last one reached */
    /* Of the last record: its queue, which may be gone, and its ticket there; NULL when it was
     * reached at once. Records of several queues are reached in any order. */
    const kj_queue *queue;
    uint64_t ticket;
};

void kj_queues_init(kj_queues *queues)
{
    pthread_mutex_init(&queues->lock, NULL);
    pthread_cond_init(&queues->done, NULL);
    queues->first = NULL;
    queues->tickets = 0;
    atomic_init(&queues->pending, 0);
}

void kj_queues_destroy(kj_queues *queues)
{
    pthread_cond_destroy(&queues->done);
    pthread_mutex_destroy(&queues->lock);
}

/* ---- The thread ---- */

static void *queue_main(void *data)
{
    kj_queue *q = data;
    kj_queues *all = q->all;
    pthread_mutex_lock(&all->lock);
    for (;;) {
        while (!q->head && !q->ending)
            pthread_cond_wait(&q->ready, &all->lock);
        kj_task *task = q->head;
        if (!task)
            break;
        pthread_mutex_unlock(&all->lock);
        task->run(task);
        pthread_mutex_lock(&all->lock);
        q->head = task->next;
        if (!q->head)
            q->tail = NULL;
        atomic_fetch_sub(&all->pending, 1);
        pthread_cond_broadcast(&all->done);
        free(task);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

/* Under the lock; then the thread is told, without it, so that it need not wait for it again. */
static bool add(kj_queue *q, kj_task *task)
{
    if (!q->started)
        q->started = kj_thread_start(&q->thread, KJ_WORKER_STACK, queue_main, q);
    if (!q->started)
        return false;
    task->next = NULL;
    task->ticket = ++q->all->tickets;
    if (q->tail)
        q->tail->next = task;
    else
        q->head = task;
    q->tail = task;
    atomic_fetch_add(&q->all->pending, 1);
    return true;
}

void kj_task_begins(kj_work *work)
{
    if (work->times)
        work->times->begin = kj_now_ms();
}

void kj_task_ends(kj_work *work, kjit_status status, const kj_host_fault *fault)
{
    if (work->times)
        work->times->end = kj_now_ms();
    work->done(work, status, fault);
}

/* ---- Queues ---- */

/* One thread's default stream, or that of all, is a queue like any other. */
kjit_status kj_queue_create(kj_device *dev, kj_queue_kind kind, void *handle, kj_queue **out,
                            kj_failure *why)
{
    (void)handle;
    if (kind == KJ_QUEUE_EXTERNAL)
        return kj_because(why, KJIT_NO_DEVICE, "a CPU has no streams of other libraries");
    kj_queue *q = calloc(1, sizeof *q);
    if (!q)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    q->all = &dev->queues;
    pthread_cond_init(&q->ready, NULL);
    pthread_mutex_lock(&q->all->lock);
    q->next = q->all->first;
    if (q->next)
        q->next->prev = q;
    q->all->first = q;
    pthread_mutex_unlock(&q->all->lock);
    *out = q;
    return KJIT_OK;
}

kjit_status kj_queue_free(kj_queue *q, kj_failure *why)
{
    (void)why;
    pthread_mutex_lock(&q->all->lock);
    q->ending = true;
    pthread_cond_signal(&q->ready);
    pthread_mutex_unlock(&q->all->lock);
    if (q->started)
        pthread_join(q->thread, NULL); /* it ends when its tasks have */
    pthread_mutex_lock(&q->all->lock);
    if (q->prev)
        q->prev->next = q->next;
    else
        q->all->first = q->next;
    if (q->next)
        q->next->prev = q->prev;
    pthread_mutex_unlock(&q->all->lock);
    pthread_cond_destroy(&q->ready);
    free(q);
    return KJIT_OK;
}

kjit_status kj_queue_add(kj_queue *q, kj_task *task, kj_failure *why)
{
    pthread_mutex_lock(&q->all->lock);
    bool added = add(q, task);
    pthread_mutex_unlock(&q->all->lock);
    pthread_cond_signal(&q->ready);
    return added ? KJIT_OK : kj_because(why, KJIT_NO_MEMORY, "the system gives no more threads");
}

/* Is a task up to the ticket still queued or running? */
static bool busy(const kj_queues *all, const kj_queue *only, uint64_t ticket)
{
    for (const kj_queue *q = all->first; q; q = q->next) {
        if ((!only || q == only) && q->head && q->head->ticket <= ticket)
            return true;
    }
    return false;
}

/* For a record of a mark; NULL is none. Under the lock. */
static void wait_for(kj_queues *all, const kj_queue *queue, uint64_t ticket)
{
    while (queue && busy(all, queue, ticket))
        pthread_cond_wait(&all->done, &all->lock);
}

/* NULL: for all queues. */
static void wait_for_all(kj_queues *all, const kj_queue *queue)
{
    if (atomic_load(&all->pending) == 0)
        return;
    pthread_mutex_lock(&all->lock);
    uint64_t ticket = all->tickets;
    while (busy(all, queue, ticket))
        pthread_cond_wait(&all->done, &all->lock);
    pthread_mutex_unlock(&all->lock);
}

void kj_queue_wait(kj_device *dev, kj_queue *queue)
{
    wait_for_all(&dev->queues, queue);
}

void kj_queue_finish(kj_queue *queue)
{
    wait_for_all(queue->all, queue);
}

bool kj_queue_idle(kj_queue *q)
{
    pthread_mutex_lock(&q->all->lock);
    bool idle = !q->head;
    pthread_mutex_unlock(&q->all->lock);
    return idle;
}

/* ---- Marks ---- */

typedef struct mark_task {
    kj_task task;
    kj_mark *mark;
    uint64_t number;       /* of the record that is made */
    const kj_queue *queue; /* of the one that is waited for, and its ticket */
    uint64_t ticket;
} mark_task;

/* Under the lock. */
static void drop(kj_mark *mark)
{
    if (--mark->refs == 0)
        free(mark);
}

/* Under the lock. */
static void reach(kj_mark *mark, uint64_t number, double ms)
{
    if (number <= mark->done)
        return;
    mark->done = number;
    mark->ms = ms;
    pthread_cond_broadcast(&mark->all->done);
}

static void run_record(kj_task *task)
{
    mark_task *t = (mark_task *)task;
    kj_queues *all = t->mark->all;
    double ms = kj_now_ms();
    pthread_mutex_lock(&all->lock);
    reach(t->mark, t->number, ms);
    drop(t->mark);
    pthread_mutex_unlock(&all->lock);
}

static void run_join(kj_task *task)
{
    mark_task *t = (mark_task *)task;
    kj_queues *all = t->mark->all;
    pthread_mutex_lock(&all->lock);
    wait_for(all, t->queue, t->ticket);
    drop(t->mark);
    pthread_mutex_unlock(&all->lock);
}

static kjit_status add_mark_task(kj_mark *mark, kj_queue *queue, bool record, kj_failure *why)
{
    mark_task *t = calloc(1, sizeof *t);
    if (!t)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    t->task.run = record ? run_record : run_join;
    t->mark = mark;
    pthread_mutex_lock(&mark->all->lock);
    t->number = mark->issued + 1;
    t->queue = mark->queue;
    t->ticket = mark->ticket;
    bool added = add(queue, &t->task);
    if (added)
        mark->refs++;
    if (added && record) {
        mark->issued = t->number;
        mark->queue = queue;
        mark->ticket = t->task.ticket;
    }
    pthread_mutex_unlock(&mark->all->lock);
    pthread_cond_signal(&queue->ready);
    if (added)
        return KJIT_OK;
    free(t);
    return kj_because(why, KJIT_NO_MEMORY, "the system gives no more threads");
}

kjit_status kj_mark_create(kj_device *dev, bool timing, kj_mark **out, kj_failure *why)
{
    (void)timing;
    kj_mark *mark = calloc(1, sizeof *mark);
    if (!mark)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    mark->all = &dev->queues;
    mark->refs = 1;
    *out = mark;
    return KJIT_OK;
}

kjit_status kj_mark_free(kj_mark *mark, kj_failure *why)
{
    (void)why;
    kj_queues *all = mark->all;
    pthread_mutex_lock(&all->lock);
    drop(mark);
    pthread_mutex_unlock(&all->lock);
    return KJIT_OK;
}

kjit_status kj_mark_record(kj_device *dev, kj_mark *mark, kj_queue *queue, kj_failure *why)
{
    if (queue)
        return add_mark_task(mark, queue, true, why);
    kj_queue_wait(dev, NULL);
    double ms = kj_now_ms();
    pthread_mutex_lock(&mark->all->lock);
    mark->queue = NULL;
    reach(mark, ++mark->issued, ms);
    pthread_mutex_unlock(&mark->all->lock);
    return KJIT_OK;
}

void kj_mark_wait(kj_mark *mark)
{
    kj_queues *all = mark->all;
    pthread_mutex_lock(&all->lock);
    wait_for(all, mark->queue, mark->ticket);
    pthread_mutex_unlock(&all->lock);
}

bool kj_mark_reached(kj_mark *mark)
{
    pthread_mutex_lock(&mark->all->lock);
    bool reached = mark->done == mark->issued;
    pthread_mutex_unlock(&mark->all->lock);
    return reached;
}

kjit_status kj_mark_join(kj_device *dev, kj_mark *mark, kj_queue *queue, kj_failure *why)
{
    (void)dev;
    if (queue)
        return add_mark_task(mark, queue, false, why);
    kj_mark_wait(mark);
    return KJIT_OK;
}

bool kj_mark_elapsed(kj_mark *from, kj_mark *to, double *ms)
{
    pthread_mutex_lock(&from->all->lock);
    bool reached =
        from->issued && to->issued && from->done == from->issued && to->done == to->issued;
    if (reached)
        *ms = to->ms - from->ms;
    pthread_mutex_unlock(&from->all->lock);
    return reached;
}
