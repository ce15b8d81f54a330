/* Graphs: steps that a queue's thread does one after the other as one task. A step that fails is
 * told when the others have been done, as if each were a task of its own. */
#include <stdlib.h>
#include <string.h>

#include "device/cpu/cpu.h"

struct kj_graph {
    int n;
    size_t room; /* bytes of the largest launch's values */
    kj_graph_step steps[];
};

typedef struct graph_task {
    kj_task task;
    kj_device *dev;
    const kj_graph *graph;
    kj_work *work;
    kjit_status status; /* of the first step that failed */
    kj_host_fault fault;
    kj_failure why;
    kj_host_launch *values; /* behind the task: of the step that runs */
} graph_task;

static size_t size_of(const kj_launch_call *call)
{
    return sizeof *call->values + call->nslots * sizeof call->values->slots[0];
}

kjit_status kj_cpu_graph_create(kj_device *dev, const kj_graph_step *steps, int n, kj_graph **out,
                                kj_failure *why)
{
    (void)dev;
    kj_graph *g = malloc(sizeof *g + (size_t)n * sizeof *steps);
    *out = NULL;
    if (!g)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    *g = (kj_graph){.n = n};
    memcpy(g->steps, steps, (size_t)n * sizeof *steps);
    for (int i = 0; i < n; i++)
        if (steps[i].launch && size_of(steps[i].launch) > g->room)
            g->room = size_of(steps[i].launch);
    *out = g;
    return KJIT_OK;
}

void kj_cpu_graph_free(kj_device *dev, kj_graph *graph)
{
    (void)dev;
    free(graph);
}

static void launch(graph_task *t, int step)
{
    const kj_launch_call *call = t->graph->steps[step].launch;
    kj_host_fault fault = {.kind = KJ_FAULT_NONE};
    kj_failure why;
    memcpy(t->values, call->values, size_of(call));
    t->values->fault = &fault;
    kj_set_halt(t->values, t->work->halt);
    kjit_status status = kj_cpu_run(t->dev, call, t->values, &why);
    if (status == KJIT_OK || t->status != KJIT_OK)
        return;
    t->status = status;
    t->work->step = step;
    if (status == KJIT_FAULT)
        t->fault = fault;
    else
        t->why = why;
}

static void run_graph(kj_task *task)
{
    graph_task *t = (graph_task *)task;
    kj_task_begins(t->work);
    for (int i = 0; i < t->graph->n; i++) {
        if (t->graph->steps[i].launch)
            launch(t, i);
        else
            kj_transfer_run(t->graph->steps[i].copy);
    }
    if (t->status != KJIT_OK && t->status != KJIT_FAULT)
        t->work->why = t->why.text;
    kj_task_ends(t->work, t->status, &t->fault);
}

kjit_status kj_cpu_graph_launch(kj_device *dev, kj_queue *queue, kj_graph *graph, kj_work *work,
                                kj_failure *why)
{
    graph_task *t = malloc(sizeof *t + graph->room);
    if (!t)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    t->task.run = run_graph;
    t->dev = dev;
    t->graph = graph;
    t->work = work;
    t->status = KJIT_OK;
    t->values = (kj_host_launch *)(t + 1);
    kjit_status status = kj_queue_add(queue, &t->task, why);
    if (status != KJIT_OK)
        free(t);
    return status;
}
