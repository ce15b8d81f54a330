/* Marks: events with their times. A record or a join is a task like any other, so whoever waits for
 * a queue waits for them too. */
#include <stdlib.h>

#include "device/cuda/cuda_device.h"

struct kj_mark {
    kj_device *dev;
    kj_cu_event event;
    /* Of its last record, under the device's lock: the queue, which may be gone, and the ticket
     * there; NULL when it was reached at once. */
    const kj_queue *queue;
    uint64_t ticket;
    bool recorded;
};

kjit_status kj_cuda_mark_create(kj_device *dev, bool timing, kj_mark **out, kj_failure *why)
{
    kj_mark *mark = calloc(1, sizeof *mark);
    if (!mark)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    mark->dev = dev;
    kjit_status status = kj_cuda_enter(dev, why);
    if (status == KJIT_OK) {
        kj_cu_result result = dev->cu->EventCreate(
            &mark->event, timing ? KJ_CU_EVENT_DEFAULT : KJ_CU_EVENT_DISABLE_TIMING);
        if (result != KJ_CU_SUCCESS)
            status = kj_cuda_failed(dev, result, why, "make an event");
        kj_cuda_leave(dev);
    }
    if (status == KJIT_OK)
        *out = mark;
    else
        free(mark);
    return status;
}

kjit_status kj_cuda_mark_free(kj_mark *mark, kj_failure *why)
{
    kj_device *dev = mark->dev;
    kjit_status status;
    if (kj_cuda_enter_to_free(dev, &status, why)) {
        kj_cu_result result = dev->cu->EventDestroy(mark->event);
        if (result != KJ_CU_SUCCESS)
            status = kj_cuda_failed(dev, result, why, "free an event");
        kj_cuda_leave(dev);
    }
    free(mark);
    return status;
}

static void note_record(kj_mark *mark, const kj_queue *queue, uint64_t ticket)
{
    pthread_mutex_lock(&mark->dev->lock);
    mark->recorded = true;
    mark->queue = queue;
    mark->ticket = ticket;
    pthread_mutex_unlock(&mark->dev->lock);
}

/* Puts a record or a join into the stream. */
static kjit_status queue_mark(kj_device *dev, kj_mark *mark, kj_queue *queue, bool record,
                              kj_failure *why)
{
    kj_cuda_task *task = kj_cuda_task_new(sizeof *task, NULL, NULL);
    if (!task)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    pthread_mutex_lock(&queue->issue);
    kj_cu_result result = record ? dev->cu->EventRecord(mark->event, queue->stream)
                                 : dev->cu->StreamWaitEvent(queue->stream, mark->event, 0);
    if (result == KJ_CU_SUCCESS) {
        uint64_t ticket = kj_cuda_queued(queue, task, record);
        if (record)
            note_record(mark, queue, ticket);
    }
    pthread_mutex_unlock(&queue->issue);
    if (result == KJ_CU_SUCCESS)
        return KJIT_OK;
    free(task);
    return kj_cuda_failed(dev, result, why, record ? "record an event" : "wait for an event");
}

static kjit_status record_now(kj_device *dev, kj_mark *mark, kj_failure *why)
{
    kj_cu_result result = dev->cu->EventRecord(mark->event, dev->stream);
    if (result == KJ_CU_SUCCESS)
        result = kj_cuda_sync(dev, dev->stream);
    if (result != KJ_CU_SUCCESS)
        return kj_cuda_failed(dev, result, why, "record an event");
    note_record(mark, NULL, 0);
    return KJIT_OK;
}

/* In a stream that is captured no event can be recorded: what was put there before is waited
 * for. */
static kjit_status record_captured(kj_device *dev, kj_mark *mark, kj_queue *queue, kj_failure *why)
{
    kj_cu_result result = kj_cuda_wait_listed(queue);
    if (result != KJ_CU_SUCCESS)
        return kj_cuda_failed(dev, result, why, "record an event");
    note_record(mark, NULL, 0);
    return KJIT_OK;
}

kjit_status kj_cuda_mark_record(kj_device *dev, kj_mark *mark, kj_queue *queue, kj_failure *why)
{
    if (!queue)
        kj_cuda_wait(dev, NULL);
    kjit_status status = kj_cuda_enter(dev, why);
    if (status != KJIT_OK)
        return status;
    if (!queue)
        status = record_now(dev, mark, why);
    else if (kj_cuda_is_captured(queue))
        status = record_captured(dev, mark, queue, why);
    else
        status = queue_mark(dev, mark, queue, true, why);
    kj_cuda_leave(dev);
    return status;
}

/* The queue of the last record, NULL when that has been reached or there was none. */
static const kj_queue *last_record(kj_mark *mark, uint64_t *ticket)
{
    pthread_mutex_lock(&mark->dev->lock);
    const kj_queue *queue = mark->queue;
    *ticket = mark->ticket;
    pthread_mutex_unlock(&mark->dev->lock);
    return queue;
}

void kj_cuda_mark_wait(kj_mark *mark)
{
    uint64_t ticket;
    const kj_queue *queue = last_record(mark, &ticket);
    if (queue)
        kj_cuda_finish(mark->dev, queue, ticket);
}

bool kj_cuda_mark_reached(kj_mark *mark)
{
    uint64_t ticket;
    const kj_queue *queue = last_record(mark, &ticket);
    return !queue || kj_cuda_ended(mark->dev, queue, ticket);
}

kjit_status kj_cuda_mark_join(kj_device *dev, kj_mark *mark, kj_queue *queue, kj_failure *why)
{
    if (!queue) {
        kj_cuda_mark_wait(mark);
        return kj_cuda_is_lost(dev) ? kj_cuda_gone(dev, why) : KJIT_OK;
    }
    kjit_status status = kj_cuda_enter(dev, why);
    if (status != KJIT_OK)
        return status;
    status = queue_mark(dev, mark, queue, false, why);
    kj_cuda_leave(dev);
    return status;
}

bool kj_cuda_mark_elapsed(kj_mark *from, kj_mark *to, double *ms)
{
    kj_device *dev = from->dev;
    kj_failure why;
    float elapsed;
    pthread_mutex_lock(&dev->lock);
    bool recorded = from->recorded && to->recorded;
    pthread_mutex_unlock(&dev->lock);
    if (!recorded || kj_cuda_enter(dev, &why) != KJIT_OK)
        return false;
    kj_cu_result result = dev->cu->EventElapsedTime(&elapsed, from->event, to->event);
    kj_cuda_note(dev, result);
    kj_cuda_leave(dev);
    if (result != KJ_CU_SUCCESS)
        return false;
    *ms = (double)elapsed;
    return true;
}
