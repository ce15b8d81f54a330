/* Queues of work: what waits for what. Work is carried out by worker.c. */
#include "double.h"
#include <stdarg.h>
#include <stdlib.h>

static uint64_t ops_made;

/* ---- Streams ---- */

struct drv_own_stream {
    struct drv_own_stream *next;
    int thread;
    drv_stream *stream;
};

drv_stream *stream_new(drv_context *context, unsigned flags, int priority)
{
    drv_stream *made = object_new(sizeof *made, KIND_STREAM, context);
    made->flags = flags;
    made->blocking = !(flags & CU_STREAM_NON_BLOCKING);
    made->priority = priority;
    made->sibling = context->streams;
    context->streams = made;
    return made;
}

/* The calling thread's, from its first use until the context ends. */
static drv_stream *own_stream(drv_context *context)
{
    struct drv_own_stream *own = context->own;
    while (own && own->thread != thread_self()->number)
        own = own->next;
    if (!own) {
        own = malloc(sizeof *own);
        *own = (struct drv_own_stream){.next = context->own, .thread = thread_self()->number};
        own->stream = stream_new(context, CU_STREAM_DEFAULT, 0);
        own->stream->object.builtin = true;
        own->stream->alias = CU_STREAM_PER_THREAD;
        context->own = own;
    }
    return own->stream;
}

drv_stream *stream_find(CUstream handle)
{
    drv_context *context = context_current();
    if (!handle || handle == CU_STREAM_LEGACY)
        return capture_is_implied(context) ? NULL : context->legacy;
    if (handle == CU_STREAM_PER_THREAD)
        return own_stream(context);
    return object_here(handle, KIND_STREAM);
}

/* Its work goes on. */
void stream_end(drv_stream *stream)
{
    drv_context *context = stream->object.context;
    capture_drop(stream);
    for (drv_stream **at = &context->streams; *at; at = &(*at)->sibling) {
        if (*at == stream) {
            *at = stream->sibling;
            break;
        }
    }
    if (stream->tail && stream->blocking)
        clock_join(&context->departed, &stream->tail->clock);
    op_drop(stream->tail);
    stream->tail = NULL;
    object_end(&stream->object);
}

bool stream_idle(drv_stream *stream)
{
    return !stream->tail || op_done(stream->tail);
}

/* ---- Work ---- */

void *op_new(size_t size, drv_stream *stream, const char *format, ...)
{
    drv_op *made = calloc(1, size);
    made->number = ++ops_made;
    made->stream = stream;
    made->refs = 1;
    va_list args;
    va_start(args, format);
    vsnprintf(made->what, sizeof made->what, format, args);
    va_end(args);
    return made;
}

drv_op *op_keep(drv_op *op)
{
    op->refs++;
    return op;
}

void op_drop(drv_op *op)
{
    if (!op || --op->refs)
        return;
    clock_free(&op->clock);
    free(op->after);
    free(op);
}

void op_after(drv_op *op, drv_op *earlier)
{
    if (!earlier)
        return;
    clock_join(&op->clock, &earlier->clock);
    if (earlier->done)
        return;
    op->after = realloc(op->after, (size_t)(op->nafter + 1) * sizeof(drv_op *));
    op->after[op->nafter++] = op_keep(earlier);
}

void op_uses(drv_op *op, drv_memory *memory)
{
    struct use *use = malloc(sizeof *use);
    *use = (struct use){.next = op->uses, .memory = memory};
    op->uses = use;
    memory->pending++;
}

void op_uses_module(drv_op *op, drv_module *module)
{
    struct use *use = malloc(sizeof *use);
    *use = (struct use){.next = op->uses, .module = module};
    op->uses = use;
    module->pending++;
}

void op_uses_end(drv_op *op)
{
    while (op->uses) {
        struct use *use = op->uses;
        op->uses = use->next;
        use->memory ? use->memory->pending-- : use->module->pending--;
        free(use);
    }
}

/* The legacy stream's work waits for all that was queued in the streams that are not non-blocking,
 * and theirs for it. */
static void add_legacy_order(drv_op *op)
{
    const drv_stream *own = op->stream;
    const drv_context *context = own->object.context;
    if (own != context->legacy) {
        if (own->blocking)
            op_after(op, context->legacy->tail);
        return;
    }
    for (const drv_stream *s = context->streams; s; s = s->sibling) {
        if (s != own && s->blocking)
            op_after(op, s->tail);
    }
    for (const drv_stream *s = worker_streams(); s; s = s->next) {
        if (s->object.dead && s->blocking && s->object.context == context)
            op_after(op, s->last);
    }
    clock_join(&op->clock, &context->departed);
}

/* Memory that was allocated in stream order is used after that and freed after its uses. */
static void check_order(drv_op *op)
{
    for (const struct use *use = op->uses; use; use = use->next) {
        drv_memory *memory = use->memory;
        if (!memory) {
            clock_add(&use->module->uses, op);
            continue;
        }
        if (clock_missing(&op->clock, &memory->born))
            misuse(CUDA_ERROR_INVALID_VALUE,
                   "%s: nothing orders it after the allocation of %#llx (call %llu)", op->what,
                   (unsigned long long)memory->begin, (unsigned long long)memory->made);
        clock_add(&memory->uses, op);
    }
    const drv_tick *early = op->frees ? clock_missing(&op->clock, &op->frees->uses) : NULL;
    if (early)
        misuse(CUDA_ERROR_INVALID_VALUE,
               "%s: nothing orders it after the use of that memory in stream %p", op->what,
               object_handle(early->stream));
}

void op_queue(drv_op *op)
{
    drv_stream *stream = op->stream;
    if (stream->capture) {
        capture_add(op);
        return;
    }
    add_legacy_order(op);
    if (stream->tail)
        clock_join(&op->clock, &stream->tail->clock);
    op->turn = ++stream->turns;
    clock_add(&op->clock, op);
    check_order(op);
    op_drop(stream->tail);
    stream->tail = op_keep(op);
    if (stream->last)
        stream->last->next = op;
    else
        stream->first = op;
    stream->last = op;
    worker_accept(op);
}

bool op_done(drv_op *op)
{
    if (op->done)
        clock_seen(&op->clock);
    return op->done;
}

static bool all_done(drv_op *const *ops, size_t count)
{
    bool done = true;
    for (size_t i = 0; i < count; i++)
        done &= op_done(ops[i]);
    return done;
}

/* The thread that waits does what it waits for, as far as nobody else does: handing each piece to another thread would
 * take longer than most pieces do. */
static void wait_for(drv_op *const *ops, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!ops[i]->done)
            worker_hurry(ops[i]);
    }
    while (!all_done(ops, count) && !inject_shut_down()) {
        if (!worker_help(ops, count))
            call_wait(WORK_ENDED);
    }
}

CUresult op_wait(drv_op *op)
{
    const drv_context *context = op->stream->object.context;
    op_keep(op);
    wait_for(&op, 1);
    op_drop(op);
    return inject_shut_down() ? CUDA_ERROR_DEINITIALIZED : context->error;
}

CUresult stream_wait(drv_stream *stream)
{
    return stream->tail ? op_wait(stream->tail) : stream->object.context->error;
}

/* Others may queue more and destroy streams meanwhile: what is waited for is gathered first. */
CUresult context_wait(drv_context *context)
{
    drv_op **tails = NULL;
    size_t count = 0;
    for (drv_stream *s = context->streams; s; s = s->sibling) {
        if (s->tail) {
            tails = realloc(tails, (count + 1) * sizeof *tails);
            tails[count++] = op_keep(s->tail);
        }
    }
    for (drv_stream *s = worker_streams(); s; s = s->next) {
        if (s->object.dead && s->object.context == context) {
            tails = realloc(tails, (count + 1) * sizeof *tails);
            tails[count++] = op_keep(s->last);
        }
    }
    wait_for(tails, count);
    for (size_t i = 0; i < count; i++)
        op_drop(tails[i]);
    free(tails);
    clock_seen(&context->departed);
    return context->error;
}
