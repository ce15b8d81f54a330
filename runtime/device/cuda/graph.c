/* Graphs: launches and copies that the device makes without the host, captured from a stream of
 * their own, and launched by the driver as one.
 *
 * The driver keeps the order of a graph's launches; its objects are not made to be used by several
 * threads at once, so a lock is held around each call. */
#include <stdlib.h>

#include "device/cuda/cuda_device.h"

struct kj_graph {
    kj_cu_graph_exec exec;
    kj_cuda_counter counter; /* of its own, for its launches never run at once */
    pthread_mutex_t lock;
    const char *what; /* of its first launch, for messages; or NULL */
};

/* ---- Making ---- */

/* Within the device and without anything aside, or what the driver copies by itself. */
static bool is_simple(const kj_transfer *t)
{
    size_t size;
    if (kj_host_works(t->dst_memory) || kj_host_works(t->src_memory))
        return kj_cuda_is_locked_row(t, &size);
    return !kj_transfer_is_row(t, &size) || t->dst >= t->src + size || t->src >= t->dst + size;
}

static bool can_take(const kj_device *dev, const kj_graph_step *steps, int n)
{
    const kj_cuda_driver *cu = dev->cu;
    if (!cu->StreamBeginCapture || !cu->StreamEndCapture || !cu->GraphInstantiateWithFlags ||
        !cu->GraphLaunch || !cu->GraphExecDestroy || !cu->GraphDestroy)
        return false;
    for (int i = 0; i < n; i++) {
        const kj_launch_call *launch = steps[i].launch;
        if (launch ? !kj_cuda_can_launch(dev, launch) : !is_simple(steps[i].copy))
            return false;
    }
    return true;
}

/* What steps ask of the driver at their first use, which no capture may have. */
static kj_cu_result prepare(kj_device *dev, const kj_graph_step *steps, int n, kj_graph *g)
{
    kj_cu_function mover;
    kj_cu_result result = KJ_CU_SUCCESS;
    for (int i = 0; i < n && result == KJ_CU_SUCCESS; i++) {
        size_t size;
        if (steps[i].launch)
            result = kj_cuda_ready_counter(dev, steps[i].launch->exec, &g->counter);
        else if (!kj_transfer_is_row(steps[i].copy, &size))
            result = kj_cuda_mover(dev, &mover);
    }
    return result;
}

static kj_cu_result put(kj_device *dev, kj_cu_stream stream, const kj_graph_step *step, kj_graph *g)
{
    size_t bytes;
    if (!step->launch)
        return kj_cuda_is_locked_row(step->copy, &bytes)
                   ? kj_cuda_put_row(dev, stream, step->copy, bytes)
                   : kj_cuda_move(dev, stream, step->copy);
    if (!g->what)
        g->what = step->launch->what;
    return kj_cuda_put(dev, stream, &g->counter, step->launch);
}

static kj_cu_result capture(kj_device *dev, kj_cu_stream stream, const kj_graph_step *steps, int n,
                            kj_graph *g)
{
    kj_cu_graph graph = NULL;
    kj_cu_result result = dev->cu->StreamBeginCapture(stream, KJ_CU_STREAM_CAPTURE_RELAXED);
    if (result != KJ_CU_SUCCESS)
        return result;
    for (int i = 0; i < n && result == KJ_CU_SUCCESS; i++)
        result = put(dev, stream, &steps[i], g);
    kj_cu_result end = dev->cu->StreamEndCapture(stream, &graph);
    if (result == KJ_CU_SUCCESS)
        result = end;
    if (result == KJ_CU_SUCCESS)
        result = dev->cu->GraphInstantiateWithFlags(&g->exec, graph, 0);
    if (graph)
        kj_cuda_note(dev, dev->cu->GraphDestroy(graph));
    return result;
}

/* In the device's context. */
static kj_cu_result make(kj_device *dev, const kj_graph_step *steps, int n, kj_graph *g)
{
    kj_cu_stream stream;
    kj_cu_result result = dev->cu->StreamCreate(&stream, KJ_CU_STREAM_NON_BLOCKING);
    if (result != KJ_CU_SUCCESS)
        return result;
    result = prepare(dev, steps, n, g);
    if (result == KJ_CU_SUCCESS)
        result = capture(dev, stream, steps, n, g);
    kj_cuda_note(dev, dev->cu->StreamDestroy(stream));
    return result;
}

static void free_counter(kj_device *dev, kj_graph *g)
{
    if (g->counter.at)
        kj_cuda_note(dev, dev->cu->MemFree(g->counter.at));
}

kjit_status kj_cuda_graph_create(kj_device *dev, const kj_graph_step *steps, int n, kj_graph **out,
                                 kj_failure *why)
{
    *out = NULL;
    if (!can_take(dev, steps, n))
        return KJIT_OK;
    kj_graph *g = calloc(1, sizeof *g);
    if (!g)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    kjit_status status = kj_cuda_enter(dev, why);
    if (status == KJIT_OK) {
        kj_cu_result result = make(dev, steps, n, g);
        if (result != KJ_CU_SUCCESS) {
            status = kj_cuda_failed(dev, result, why, "make a graph of %d steps", n);
            free_counter(dev, g);
        }
        kj_cuda_leave(dev);
    }
    if (status != KJIT_OK) {
        free(g);
        return status;
    }
    pthread_mutex_init(&g->lock, NULL);
    *out = g;
    return KJIT_OK;
}

void kj_cuda_graph_free(kj_device *dev, kj_graph *g)
{
    kj_failure why;
    if (kj_cuda_enter(dev, &why) == KJIT_OK) {
        kj_cuda_note(dev, dev->cu->GraphExecDestroy(g->exec));
        free_counter(dev, g);
        kj_cuda_leave(dev);
    }
    pthread_mutex_destroy(&g->lock);
    free(g);
}

/* ---- Launching ---- */

static const char *name_of(const kj_graph *g)
{
    return g->what ? g->what : "a graph";
}

static kj_cu_result launch(kj_device *dev, kj_graph *g, kj_cu_stream stream)
{
    pthread_mutex_lock(&g->lock);
    kj_cu_result result = dev->cu->GraphLaunch(g->exec, stream);
    pthread_mutex_unlock(&g->lock);
    return result;
}

static kjit_status launch_now(kj_device *dev, kj_graph *g, kj_failure *why)
{
    kj_cuda_launch note = {.what = name_of(g)};
    kj_cuda_wait(dev, NULL);
    kjit_status status = kj_cuda_enter(dev, why);
    if (status != KJIT_OK)
        return status;
    kj_cuda_launch_begin(dev, &note);
    kj_cu_result result = launch(dev, g, dev->stream);
    if (result == KJ_CU_SUCCESS)
        result = kj_cuda_sync(dev, dev->stream);
    if (result != KJ_CU_SUCCESS)
        status = kj_cuda_failed(dev, result, why, "run a graph with %s", name_of(g));
    kj_cuda_launch_end(dev, &note);
    kj_cuda_leave(dev);
    return status;
}

kjit_status kj_cuda_graph_launch(kj_device *dev, kj_queue *q, kj_graph *g, kj_work *work,
                                 kj_failure *why)
{
    if (!q)
        return launch_now(dev, g, why);
    kj_cuda_task *task = kj_cuda_task_new(sizeof *task, work, name_of(g));
    if (!task)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    kjit_status status = kj_cuda_enter(dev, why);
    if (status == KJIT_OK) {
        pthread_mutex_lock(&q->issue);
        kj_cuda_span_begin(q, task);
        kj_cu_result result = launch(dev, g, q->stream);
        if (result == KJ_CU_SUCCESS)
            kj_cuda_queued(q, task, false);
        kj_cuda_issued(q);
        if (result != KJ_CU_SUCCESS)
            status = kj_cuda_failed(dev, result, why, "launch a graph with %s", name_of(g));
        kj_cuda_leave(dev);
    }
    if (status != KJIT_OK)
        kj_cuda_task_drop(dev, task);
    return status;
}
