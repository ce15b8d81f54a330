/* Threads and their stacks of contexts; primary contexts and others. */
#include "double.h"
#include <pthread.h>
#include <stdlib.h>

static _Thread_local drv_thread *self;
static drv_thread *threads;
static pthread_key_t at_thread_end;
static drv_context *primaries[64]; /* by device */
static CUresult lost[64];

static void end_thread(void *of)
{
    const drv_thread *ending = of;
    call_lock();
    if (ending->depth && !calls_forked() && !report_ended())
        leak("thread T%d ended with %d contexts on its stack", ending->number, ending->depth);
    for (drv_thread **at = &threads; *at; at = &(*at)->next) {
        if (*at == ending) {
            *at = ending->next;
            break;
        }
    }
    call_unlock();
    free(of);
}

drv_thread *thread_self(void)
{
    static int count;
    if (!self) {
        if (!count)
            pthread_key_create(&at_thread_end, end_thread);
        self = calloc(1, sizeof *self);
        self->number = ++count;
        self->next = threads;
        threads = self;
        pthread_setspecific(at_thread_end, self);
    }
    return self;
}

drv_thread *thread_first(void)
{
    return threads;
}

drv_context *context_current(void)
{
    const drv_thread *here = thread_self();
    return here->depth ? here->stack[here->depth - 1] : NULL;
}

void context_fail(drv_context *context, CUresult error)
{
    context->error = error;
    lost[context->device] = error;
}

bool device_lost(int device)
{
    return lost[device] != CUDA_SUCCESS;
}

static CUresult check_device(CUdevice device)
{
    if (device < 0 || device >= config()->devices)
        return misuse(CUDA_ERROR_INVALID_DEVICE, "there is no device %d", device);
    return CUDA_SUCCESS;
}

static void context_start(drv_context *context)
{
    context->streams = NULL;
    context->own = NULL;
    context->legacy = stream_new(context, CU_STREAM_DEFAULT, 0);
    context->legacy->object.builtin = true;
}

static drv_context *context_new(CUdevice device)
{
    drv_context *made = object_new(sizeof *made, KIND_CONTEXT, NULL);
    made->device = device;
    made->error = lost[device];
    context_start(made);
    return made;
}

static void context_end(drv_context *context)
{
    context_wait(context);
    for (const drv_thread *t = threads; t; t = t->next) {
        for (int i = 0; i < t->depth; i++) {
            if (t->stack[i] == context)
                misuse(CUDA_ERROR_INVALID_CONTEXT,
                       "the context ends while it is on the stack of thread T%d", t->number);
        }
    }
    report_left(context);
    object_end(&context->object);
}

/* What is in it is gone, and so is it until it is retained again; who retained it still has to
 * release it. */
CUresult do_cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    CUresult result = check_device(device);
    drv_context *primary = result ? NULL : primaries[device];
    if (!primary || primary->reset)
        return result;
    context_wait(primary);
    report_reset(primary);
    primary->reset = true;
    primary->error = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return CUDA_SUCCESS;
}

CUresult do_cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device)
{
    CUresult result = check_device(device);
    if (result)
        return result;
    if (!out)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the context");
    if (!primaries[device]) {
        primaries[device] = context_new(device);
        primaries[device]->primary = true;
    }
    if (primaries[device]->reset) {
        primaries[device]->reset = false;
        primaries[device]->error = lost[device];
        context_start(primaries[device]);
    }
    primaries[device]->retained++;
    *out = object_handle(primaries[device]);
    return CUDA_SUCCESS;
}

CUresult do_cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    CUresult result = check_device(device);
    if (result)
        return result;
    drv_context *primary = primaries[device];
    if (!primary)
        return misuse(CUDA_ERROR_INVALID_CONTEXT,
                      "the primary context of device %d is not retained", device);
    if (--primary->retained == 0) {
        primaries[device] = NULL;
        context_end(primary);
    }
    return CUDA_SUCCESS;
}

CUresult do_cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    CUresult result = check_device(device);
    if (result)
        return result;
    if (!flags || !active)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the state");
    *flags = 0;
    *active = primaries[device] && !primaries[device]->reset;
    return CUDA_SUCCESS;
}

CUresult do_cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice device)
{
    CUresult result = check_device(device);
    if (result)
        return result;
    if (!out || flags)
        return misuse(CUDA_ERROR_INVALID_VALUE,
                      "no place for the context, or flags that are not modelled");
    drv_context *made = context_new(device);
    *out = object_handle(made);
    return do_cuCtxPushCurrent_v2(*out);
}

CUresult do_cuCtxDestroy_v2(CUcontext handle)
{
    drv_context *context = object_find(handle, KIND_CONTEXT);
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (context->primary)
        return misuse(CUDA_ERROR_INVALID_CONTEXT, "a primary context is released, not destroyed");
    if (context_current() == context)
        thread_self()->depth--;
    context_end(context);
    return CUDA_SUCCESS;
}

CUresult do_cuCtxPushCurrent_v2(CUcontext handle)
{
    drv_context *context = object_find(handle, KIND_CONTEXT);
    drv_thread *here = thread_self();
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (here->depth == (int)(sizeof here->stack / sizeof *here->stack))
        return misuse(CUDA_ERROR_INVALID_VALUE, "%d contexts are pushed and none popped",
                      here->depth);
    here->stack[here->depth++] = context;
    return CUDA_SUCCESS;
}

CUresult do_cuCtxPopCurrent_v2(CUcontext *out)
{
    drv_thread *here = thread_self();
    if (!here->depth)
        return misuse(CUDA_ERROR_INVALID_CONTEXT, "the stack of contexts is empty");
    const drv_context *top = here->stack[--here->depth];
    if (out)
        *out = object_handle(top);
    return CUDA_SUCCESS;
}

CUresult do_cuCtxGetCurrent(CUcontext *out)
{
    if (!out)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the context");
    const drv_context *current = context_current();
    *out = current ? object_handle(current) : NULL;
    return CUDA_SUCCESS;
}

CUresult do_cuCtxSetCurrent(CUcontext handle)
{
    drv_thread *here = thread_self();
    drv_context *context = NULL;
    if (handle && !(context = object_find(handle, KIND_CONTEXT)))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (here->depth)
        here->depth--;
    if (context)
        here->stack[here->depth++] = context;
    return CUDA_SUCCESS;
}

CUresult do_cuCtxGetDevice(CUdevice *out)
{
    const drv_context *current = context_current();
    if (!current)
        return misuse(CUDA_ERROR_INVALID_CONTEXT, "no context is current");
    if (!out)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the device");
    *out = current->device;
    return CUDA_SUCCESS;
}

CUresult do_cuCtxGetApiVersion(CUcontext handle, unsigned *version)
{
    const drv_context *context = handle ? object_find(handle, KIND_CONTEXT) : context_current();
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!version)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the version");
    *version = 3020;
    return CUDA_SUCCESS;
}

CUresult do_cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return CUDA_SUCCESS;
}

CUresult do_cuCtxSynchronize(void)
{
    if (capture_is_waited_for(context_current()))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return context_wait(context_current());
}
