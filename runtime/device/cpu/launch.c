/* Launches on the CPU: on the calling thread and the pool, or in a queue. */
#include <stdlib.h>
#include <string.h>

#include "base/float_env.h"
#include "device/cpu/cpu.h"

typedef struct launch_task {
    kj_task task;
    kj_device *dev;
    kj_launch_call call;
    kj_work *work;
    kj_host_fault fault;
    kj_host_launch *values; /* behind the task */
} launch_task;

static kjit_status run(kj_device *dev, const kj_launch_call *call, kj_host_launch *values,
                       kj_failure *why)
{
    kj_exec *exec = call->exec;
    kjit_status status;
    if (exec->past)
        values->past = kj_goes_past(exec->kernel, values, dev->cached, exec->shared_out);
    kj_running *running = atomic_load_explicit(&dev->asked, memory_order_relaxed)
                              ? kj_running_begin(dev, call->what, values)
                              : NULL;
    if (exec->children)
        status = kj_pool_run_family(dev->pool, call, values, why);
    else if (!exec->counts || !kj_pool_run_counting(dev->pool, call, values, &status, why))
        status = (exec->grid_sync ? kj_pool_run_grid : kj_pool_run)(
            dev->pool, exec->entry, values, call->scratch, &exec->cost, why);
    if (running)
        kj_running_end(running);
    return status;
}

kjit_status kj_cpu_run(kj_device *dev, const kj_launch_call *call, kj_host_launch *values,
                       kj_failure *why)
{
    const kj_exec *exec = call->exec;
    kj_host_spawner told = {.watch = NULL};
    values->spawner = NULL;
    values->own_tallies = 0;
    values->past = 0;
    if (!exec->watched)
        return run(dev, call, values, why);
    told.watch = kj_watch_begin(dev, exec->kernel, values);
    if (!told.watch)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    values->spawner = &told;
    kjit_status status = run(dev, call, values, why);
    return kj_watch_end(dev, told.watch, status, values->fault, why);
}

/* A launch of a thread whose stack has too little left. */
typedef struct errand {
    kj_device *dev;
    const kj_launch_call *call;
    kjit_status status;
    kj_failure *why;
} errand;

static void run_errand(void *data)
{
    errand *e = data;
    e->status = kj_cpu_run(e->dev, e->call, e->call->values, e->why);
}

/* The calling thread takes part in the work if its stack has room for that. */
static kjit_status run_here(kj_device *dev, const kj_launch_call *call, kj_failure *why)
{
    enum { FEW = 8 << 10, MARGIN = 16 << 10 };
    size_t stack = call->exec->stack;
    if (stack <= FEW)
        return kj_cpu_run(dev, call, call->values, why);
    errand e = {.dev = dev, .call = call, .why = why};
    if (!kj_with_stack(stack + MARGIN, run_errand, &e))
        return kj_because(why, KJIT_NO_MEMORY,
                          "the system gives no thread with stack enough for the kernel");
    return e.status;
}

static void run_launch(kj_task *task)
{
    launch_task *t = (launch_task *)task;
    kj_failure why;
    kj_task_begins(t->work);
    kjit_status status = kj_cpu_run(t->dev, &t->call, t->values, &why);
    if (status != KJIT_OK && status != KJIT_FAULT)
        t->work->why = why.text;
    kj_task_ends(t->work, status, &t->fault);
}

static kjit_status queue_launch(kj_device *dev, kj_queue *queue, const kj_launch_call *call,
                                kj_work *work, kj_failure *why)
{
    size_t size = sizeof *call->values + call->nslots * sizeof call->values->slots[0];
    launch_task *t = malloc(sizeof *t + size);
    if (!t)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    *t = (launch_task){.task.run = run_launch,
                       .dev = dev,
                       .call = *call,
                       .work = work,
                       .values = (kj_host_launch *)(t + 1)};
    memcpy(t->values, call->values, size);
    t->values->fault = &t->fault;
    kj_set_halt(t->values, call->halt);
    kjit_status status = kj_queue_add(queue, &t->task, why);
    if (status != KJIT_OK)
        free(t);
    return status;
}

kjit_status kj_cpu_launch(kj_device *dev, kj_queue *queue, const kj_launch_call *call,
                          kj_work *work, kj_host_fault *fault, kj_failure *why)
{
    if (queue)
        return queue_launch(dev, queue, call, work, why);
    kj_queue_wait(dev, NULL);
    *fault = (kj_host_fault){.kind = KJ_FAULT_NONE};
    call->values->fault = fault;
    kj_set_halt(call->values, call->halt);
    return run_here(dev, call, why);
}

/* ---- Once more ---- */

typedef struct replay {
    const kj_launch_call *call;
    int64_t first, last;
    void *memory;
    int32_t end;
} replay;

static void run_replay(void *data)
{
    replay *r = data;
    kj_float_env env = kj_float_enter();
    r->end = r->call->exec->entry(r->call->values, r->first, r->last, r->memory);
    kj_float_leave(env);
}

kjit_status kj_cpu_replay(kj_device *dev, const kj_launch_call *call, int64_t first, int64_t count,
                          kj_host_fault *fault, kj_failure *why)
{
    enum { MARGIN = 16 << 10 };
    replay r = {.call = call, .first = first, .last = first + count, .end = KJ_HOST_DONE};
    (void)dev;
    *fault = (kj_host_fault){.kind = KJ_FAULT_NONE};
    call->values->fault = fault;
    r.memory = aligned_alloc(KJ_LINE, (call->scratch / KJ_LINE + 1) * KJ_LINE);
    bool runs = r.memory && kj_with_stack(call->exec->stack + MARGIN, run_replay, &r);
    free(r.memory);
    if (!runs)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    return r.end == KJ_HOST_FAULT ? KJIT_FAULT : KJIT_OK;
}
