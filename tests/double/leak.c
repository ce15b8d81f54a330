/* What is left: at the end of a context, and of the process. */
#include "double.h"

static void left_objects(const drv_context *context)
{
    for (int k = KIND_STREAM; k < KIND_COUNT; k++) {
        if (k == KIND_FUNCTION || k == KIND_KERNEL) /* its module's, its library's */
            continue;
        for (drv_object *o = object_next(NULL, (drv_kind)k); o; o = object_next(o, (drv_kind)k)) {
            if (o->context != context || o->builtin)
                continue;
            if (k == KIND_POOL && device_lost(pool_device(o)))
                continue;
            leak("%s %p, made by call %llu", object_kind((drv_kind)k), object_handle(o),
                 (unsigned long long)o->made);
        }
    }
}

static void left_memory(const drv_context *context)
{
    for (drv_memory *m = memory_next(NULL); m; m = memory_next(m)) {
        if (m->context != context || m->freed || m->owner == OWNER_MODULE)
            continue;
        leak("%zu bytes of device memory at %#llx, made by call %llu", m->size,
             (unsigned long long)m->begin, (unsigned long long)m->made);
    }
    for (drv_memory *m = pinned_next(NULL); m; m = pinned_next(m)) {
        if (m->context == context)
            leak("%zu bytes of %s memory at %p, made by call %llu", m->size,
                 m->owner == OWNER_MANAGED ? "managed" : "page-locked", (void *)m->host,
                 (unsigned long long)m->made);
    }
}

/* Ended with their context, so that they are not reported again. */
static void end_all(const drv_context *context)
{
    for (int k = KIND_STREAM; k < KIND_COUNT; k++) {
        for (drv_object *o = object_next(NULL, (drv_kind)k); o; o = object_next(o, (drv_kind)k)) {
            if (o->context == context && k != KIND_POOL)
                object_end(o);
        }
    }
    for (drv_memory *m = memory_next(NULL); m; m = memory_next(m)) {
        if (m->context == context && !m->freed) {
            memory_end(m);
            memory_give_back(m);
        }
    }
}

void report_reset(const drv_context *context)
{
    end_all(context);
    for (drv_memory *m = pinned_next(NULL), *next; m; m = next) {
        next = pinned_next(m);
        if (m->context == context)
            pinned_drop(m);
    }
}

void report_left(drv_context *context)
{
    if (!context->error && !inject_excuses_leaks()) { /* else nothing can be freed */
        left_objects(context);
        left_memory(context);
    }
    end_all(context);
}

void report_leaks(void)
{
    if (inject_shut_down())
        return;
    for (const drv_thread *t = thread_first(); t; t = t->next) {
        if (t->depth)
            leak("%d contexts on the stack of thread T%d", t->depth, t->number);
    }
    for (drv_object *o = object_next(NULL, KIND_CONTEXT); o; o = object_next(o, KIND_CONTEXT)) {
        drv_context *context = (drv_context *)o;
        if (context->primary)
            leak("the primary context of device %d, retained %d times", context->device,
                 context->retained);
        else
            leak("context %p, made by call %llu", object_handle(o), (unsigned long long)o->made);
        report_left(context);
    }
    if (!inject_excuses_leaks())
        left_objects(NULL); /* pools, libraries */
}
