/* Handles: numbers that no pointer of the host can be, one for each object that ever was. */
#include "double.h"
#include <stdlib.h>

static const uint64_t FIRST = 0x0005000000000000; /* and 16 between two */

static drv_object **objects;
static size_t object_count, object_room;

const char *object_kind(drv_kind kind)
{
    static const char *const names[] = {
        [KIND_CONTEXT] = "context",
        [KIND_STREAM] = "stream",
        [KIND_EVENT] = "event",
        [KIND_MODULE] = "module",
        [KIND_FUNCTION] = "function",
        [KIND_POOL] = "pool",
        [KIND_LINK] = "link",
        [KIND_GRAPH] = "graph",
        [KIND_EXEC] = "executable graph",
        [KIND_LIBRARY] = "library",
        [KIND_KERNEL] = "kernel",
        [KIND_RANGE] = "range of addresses",
    };
    return names[kind];
}

void *object_new(size_t size, drv_kind kind, drv_context *context)
{
    if (object_count == object_room) {
        object_room = object_room ? 2 * object_room : 256;
        objects = realloc(objects, object_room * sizeof *objects);
    }
    drv_object *made = calloc(1, size);
    *made = (drv_object){
        .kind = kind, .number = object_count, .context = context, .made = call_number()};
    objects[object_count++] = made;
    return made;
}

void object_end(drv_object *object)
{
    object->dead = true;
    object->ended = call_number();
}

void *object_handle(const void *object)
{
    return (void *)(uintptr_t)(FIRST + 16 * ((const drv_object *)object)->number);
}

void *object_find(const void *handle, drv_kind kind)
{
    uint64_t number = ((uint64_t)(uintptr_t)handle - FIRST) / 16;
    if ((uint64_t)(uintptr_t)handle < FIRST || number >= object_count) {
        misuse(CUDA_ERROR_INVALID_HANDLE, "%p is no %s", handle, object_kind(kind));
        return NULL;
    }
    drv_object *found = objects[number];
    if (found->kind != kind) {
        misuse(CUDA_ERROR_INVALID_HANDLE, "%p is no %s but a %s", handle, object_kind(kind),
               object_kind(found->kind));
        return NULL;
    }
    if (found->dead) {
        misuse(CUDA_ERROR_INVALID_HANDLE, "%s %p was ended by call %llu", object_kind(kind), handle,
               (unsigned long long)found->ended);
        return NULL;
    }
    return found;
}

bool object_is(const void *handle, drv_kind kind)
{
    uint64_t number = ((uint64_t)(uintptr_t)handle - FIRST) / 16;
    return (uint64_t)(uintptr_t)handle >= FIRST && number < object_count &&
           objects[number]->kind == kind;
}

void *object_here(const void *handle, drv_kind kind)
{
    drv_object *found = object_find(handle, kind);
    if (found && found->context != context_current()) {
        misuse(CUDA_ERROR_INVALID_CONTEXT, "%s %p is of context %p, not of the current one",
               object_kind(kind), handle, object_handle(found->context));
        return NULL;
    }
    return found;
}

drv_object *object_next(const drv_object *after, drv_kind kind)
{
    for (size_t i = after ? (size_t)after->number + 1 : 0; i < object_count; i++) {
        if (objects[i]->kind == kind && !objects[i]->dead)
            return objects[i];
    }
    return NULL;
}
