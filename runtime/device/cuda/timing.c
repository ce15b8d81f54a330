/* When pieces of queued work began and ended: events with times around each, compared with one
 * whose time on the host's clock is known. */
#include <stdlib.h>

#include "device/cuda/cuda_device.h"

/* The driver gives milliseconds as a float: half a microsecond of it after so many. */
enum { BASE_MS = 8000 };

/* An event that was reached, and when. */
struct kj_cuda_base {
    int refs; /* the device's and the spans'; under the device's lock */
    kj_cuda_event *event;
    double ms;
};

struct kj_cuda_span {
    kj_cuda_base *base;
    kj_cuda_event *begin, *end; /* end: NULL until it was recorded */
};

/* ---- The base ---- */

static void drop_base(kj_device *dev, kj_cuda_base *base)
{
    pthread_mutex_lock(&dev->lock);
    bool last = base && --base->refs == 0;
    pthread_mutex_unlock(&dev->lock);
    if (!last)
        return;
    kj_cuda_event_give(dev, base->event);
    free(base);
}

/* In a stream without work, so that it is reached at once; NULL when that cannot be had. */
static kj_cuda_base *new_base(kj_device *dev)
{
    kj_cuda_base *base = calloc(1, sizeof *base);
    if (!base)
        return NULL;
    base->refs = 1;
    base->event = kj_cuda_event_take(dev, true);
    double before = kj_now_ms();
    kj_cu_result result =
        base->event ? dev->cu->EventRecord(base->event->event, dev->memory_stream) : KJ_CU_SUCCESS;
    if (base->event && result == KJ_CU_SUCCESS)
        result = dev->cu->EventSynchronize(base->event->event);
    base->ms = (before + kj_now_ms()) / 2;
    if (base->event && result == KJ_CU_SUCCESS)
        return base;
    kj_cuda_note(dev, result);
    drop_base(dev, base);
    return NULL;
}

/* The device's, held once more; a new one when that is too old. */
static kj_cuda_base *hold_base(kj_device *dev)
{
    kj_cuda_base *old = NULL;
    pthread_mutex_lock(&dev->first_lock);
    if (!dev->base || kj_now_ms() - dev->base->ms > BASE_MS) {
        old = dev->base;
        dev->base = new_base(dev);
    }
    kj_cuda_base *base = dev->base;
    pthread_mutex_lock(&dev->lock);
    if (base)
        base->refs++;
    pthread_mutex_unlock(&dev->lock);
    pthread_mutex_unlock(&dev->first_lock);
    drop_base(dev, old);
    return base;
}

void kj_cuda_base_free(kj_device *dev)
{
    drop_base(dev, dev->base);
    dev->base = NULL;
}

/* ---- Spans ---- */

static void record(kj_device *dev, kj_cuda_event **event, kj_cu_stream stream)
{
    kj_cuda_event *e = kj_cuda_event_take(dev, true);
    if (!e)
        return;
    kj_cu_result result = dev->cu->EventRecord(e->event, stream);
    if (result == KJ_CU_SUCCESS) {
        *event = e;
        return;
    }
    kj_cuda_note(dev, result);
    kj_cuda_event_give(dev, e);
}

void kj_cuda_span_begin(kj_queue *q, kj_cuda_task *task)
{
    kj_device *dev = q->dev;
    if (!task->work || !task->work->times)
        return;
    kj_cuda_span *span = calloc(1, sizeof *span);
    if (!span)
        return;
    task->span = span;
    span->base = hold_base(dev);
    if (span->base)
        record(dev, &span->begin, q->stream);
}

void kj_cuda_span_end(kj_queue *q, kj_cuda_task *task)
{
    if (task->span && task->span->begin)
        record(q->dev, &task->span->end, q->stream);
}

static void read_times(kj_device *dev, const kj_cuda_span *span, kj_times *times)
{
    float begin, length;
    kj_cu_result result =
        dev->cu->EventElapsedTime(&begin, span->base->event->event, span->begin->event);
    if (result == KJ_CU_SUCCESS)
        result = dev->cu->EventElapsedTime(&length, span->begin->event, span->end->event);
    kj_cuda_note(dev, result);
    if (result != KJ_CU_SUCCESS)
        return;
    times->begin = span->base->ms + (double)begin;
    times->end = times->begin + (double)length;
}

void kj_cuda_span_drop(kj_device *dev, kj_cuda_task *task, bool reached)
{
    kj_cuda_span *span = task->span;
    if (!span)
        return;
    if (reached && span->end)
        read_times(dev, span, task->work->times);
    if (span->begin)
        kj_cuda_event_give(dev, span->begin);
    if (span->end)
        kj_cuda_event_give(dev, span->end);
    drop_base(dev, span->base);
    free(span);
    task->span = NULL;
}
