/* What other code of the process captures into graphs, which kjit's calls must not break.
 *
 * While a stream is captured, calls that allocate or wait are forbidden: to the thread that began,
 * or in the driver's default mode to all threads; one that is made fails, and so does the capture.
 * The rule is for code that does not know which work its calls are about. kjit knows: they are
 * about its own streams, memory and events. So entering a context sets the calling thread's mode to
 * the one in which such calls are allowed, and leaving it sets the old one again.
 *
 * A stream that is captured is another matter: work put there becomes a part of the graph, and
 * asking for its end breaks the capture. kjit asks before it touches a stream that others know. */
#include "device/cuda/cuda_device.h"

/* ---- The thread's mode ---- */

/* Contexts are entered within one another: the first entry and the last leaving count. */
static _Thread_local struct {
    int depth;
    bool changed;
    kj_cu_capture_mode mode; /* outside */
} here;

void kj_cuda_allow(const kj_cuda_driver *cu)
{
    if (here.depth++ > 0)
        return;
    here.mode = KJ_CU_STREAM_CAPTURE_RELAXED;
    here.changed = cu->ThreadExchangeStreamCaptureMode &&
                   cu->ThreadExchangeStreamCaptureMode(&here.mode) == KJ_CU_SUCCESS;
}

void kj_cuda_disallow(const kj_cuda_driver *cu)
{
    if (--here.depth == 0 && here.changed)
        (void)cu->ThreadExchangeStreamCaptureMode(&here.mode);
}

/* ---- Streams that others know ---- */

bool kj_cuda_is_shared(const kj_queue *q)
{
    return q->kind == KJ_QUEUE_OWN
               ? atomic_load_explicit(&q->lent, memory_order_relaxed)
               : q->kind != KJ_QUEUE_THREAD || pthread_equal(q->thread, pthread_self());
}

/* The legacy stream cannot be captured, but work there would wait for blocking streams that are. */
kj_cu_result kj_cuda_ask_capture(kj_queue *q)
{
    const kj_cuda_driver *cu = q->dev->cu;
    kj_cu_capture_status status = KJ_CU_STREAM_CAPTURE_NONE;
    if (!kj_cuda_is_shared(q) || !cu->StreamIsCapturing)
        return KJ_CU_SUCCESS;
    kj_cu_result result = cu->StreamIsCapturing(q->stream, &status);
    if (result == KJ_CU_SUCCESS && status != KJ_CU_STREAM_CAPTURE_NONE)
        return KJ_CU_STREAM_CAPTURE_UNSUPPORTED;
    if (result != KJ_CU_STREAM_CAPTURE_IMPLICIT) { /* who cannot be asked has nothing to say */
        kj_cuda_note(q->dev, result);
        return KJ_CU_SUCCESS;
    }
    return result;
}

bool kj_cuda_is_captured(kj_queue *q)
{
    return kj_cuda_ask_capture(q) != KJ_CU_SUCCESS;
}

kjit_status kj_cuda_usable(kj_queue *q, kj_failure *why)
{
    kj_device *dev = q->dev;
    if (!kj_cuda_is_shared(q))
        return KJIT_OK;
    kjit_status status = kj_cuda_enter(dev, why);
    if (status != KJIT_OK)
        return status;
    kj_cu_result result = kj_cuda_ask_capture(q);
    kj_cuda_leave(dev);
    if (result == KJ_CU_STREAM_CAPTURE_IMPLICIT)
        return kj_because(why, KJIT_INVALID,
                          "the legacy default stream cannot be used now: other code in the process "
                          "captures a graph from a stream that it waits for; wait until that has "
                          "ended, or use another stream");
    if (result != KJ_CU_SUCCESS)
        return kj_because(why, KJIT_INVALID,
                          "the stream %p cannot be used now: other code in the process captures a "
                          "graph from it; wait until that has ended, or use another stream",
                          (void *)q->stream);
    return KJIT_OK;
}

/* The last task's event tells of all; one that has none cannot be told apart from other work. */
kj_cu_result kj_cuda_wait_listed(kj_queue *q)
{
    kj_device *dev = q->dev;
    kj_cu_event event = NULL;
    pthread_mutex_lock(&dev->lock);
    bool any = q->tail;
    if (any && q->tail->reached)
        event = q->tail->reached->event;
    pthread_mutex_unlock(&dev->lock);
    if (event)
        return dev->cu->EventSynchronize(event);
    return any ? dev->cu->CtxSynchronize() : KJ_CU_SUCCESS;
}

/* What is in a stream that others get to know has had no event behind each task. */
static void mark_tail(kj_queue *q)
{
    kj_device *dev = q->dev;
    kj_failure why;
    pthread_mutex_lock(&dev->lock);
    bool needed = q->tail && !q->tail->reached;
    pthread_mutex_unlock(&dev->lock);
    kj_cuda_task *task = needed ? kj_cuda_task_new(sizeof *task, NULL, NULL) : NULL;
    if (!task)
        return;
    if (kj_cuda_enter(dev, &why) != KJIT_OK) {
        kj_cuda_task_drop(dev, task);
        return;
    }
    pthread_mutex_lock(&q->issue);
    kj_cuda_queued(q, task, true);
    kj_cuda_issued(q);
    kj_cuda_leave(dev);
}

void *kj_cuda_queue_handle(kj_queue *q)
{
    if (q->kind == KJ_QUEUE_OWN && !atomic_exchange(&q->lent, true))
        mark_tail(q);
    return q->stream;
}
