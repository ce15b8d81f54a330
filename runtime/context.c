/* Contexts: a device, opened, with the errors of the threads that use it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "module/module.h"
#include "module/store.h"

enum { PAGE = 4096 };

/* A page that reads 1 here and 0 in every forked child: asking costs one load. Where the system
 * cannot wipe on fork it is left out, and the process's number is compared. */
static const unsigned char *alive_page(void)
{
    unsigned char *page =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return NULL;
    if (madvise(page, PAGE, MADV_WIPEONFORK) != 0) {
        munmap(page, PAGE);
        return NULL;
    }
    *page = 1;
    return page;
}

/* Nobody holds it any more. */
static void end(kjit_context *ctx)
{
    kj_threads_end(ctx);
    kj_allocator_end(ctx);
    kj_untold_free(ctx);
    kj_halts_end(ctx);
    kj_slots_end(ctx);
    ctx->ops->close(ctx->dev);
    if (ctx->alive)
        munmap((void *)(uintptr_t)ctx->alive, PAGE);
    pthread_mutex_destroy(&ctx->lock);
    pthread_mutex_destroy(&ctx->legacy.lock);
    pthread_mutex_destroy(&ctx->tracer.lock);
    pthread_mutex_destroy(&ctx->capsules.lock);
    free(ctx->capsules.path);
    free(ctx->capsules.why);
    pthread_mutex_destroy(&ctx->recycler->lock);
    pthread_mutex_destroy(&ctx->print_lock);
    pthread_mutex_destroy(&ctx->run_lock);
    kj_pendings_destroy(&ctx->pendings);
    kj_text_free(&ctx->printed.text);
    kj_text_free(&ctx->printed_in_run.text);
    if (ctx->store_opened)
        kj_store_close(ctx->store);
    free(ctx->cache_path);
    kj_records_free(ctx->records);
    kj_handle_free(ctx);
}

/* The device a user means by "auto", "cpu", "cuda:1". */
static kjit_status find_device(const char *name, const kj_device_ops **ops, int *ordinal,
                               kj_failure *why)
{
    if (!name || strcmp(name, "auto") == 0) {
        *ordinal = 0;
        for (int i = 0; (*ops = kj_device_kind(i)); i++) {
            if ((*ops)->count() > 0)
                return KJIT_OK;
        }
        return kj_because(why, KJIT_NO_DEVICE, "this machine has no device that kjit can use");
    }
    size_t kind = strcspn(name, ":");
    for (int i = 0; (*ops = kj_device_kind(i)); i++) {
        if (strlen((*ops)->kind) == kind && memcmp((*ops)->kind, name, kind) == 0)
            break;
    }
    if (!*ops)
        return kj_because(why, KJIT_NO_DEVICE,
                          "there is no device '%.64s'; 'kjit devices' lists them", name);
    long number = 0;
    if (name[kind]) {
        char *end;
        number = strtol(name + kind + 1, &end, 10);
        if (end == name + kind + 1 || *end || number < 0)
            return kj_because(why, KJIT_NO_DEVICE, "'%.64s' is no device: a number follows the ':'",
                              name);
    }
    int count = (*ops)->count();
    if (count == 0 && (*ops)->driver)
        return kj_because(why, KJIT_NO_DEVICE, "there is no device '%.64s': %s", name,
                          (*ops)->driver->absent());
    if (number >= count)
        return kj_because(why, KJIT_NO_DEVICE,
                          "there is no device '%.64s': the devices of this kind are %d", name,
                          count);
    *ordinal = (int)number;
    return KJIT_OK;
}

/* A device, found and opened. */
typedef struct opening {
    const kjit_context_options *options;
    const kj_device_ops *ops;
    int ordinal;
    kj_device *dev;
    kjit_device_info info;
    kjit_status status;
    kj_failure *why;
} opening;

static void open_device(void *data)
{
    opening *o = data;
    o->status = find_device(o->options->device, &o->ops, &o->ordinal, o->why);
    if (o->status == KJIT_OK)
        o->status = o->ops->open(o->ordinal, o->options->workers, &o->dev, o->why);
    if (o->status == KJIT_OK)
        o->ops->describe(o->dev, o->ordinal, &o->info);
}

/* What a context has beside its device; *ctx is its own to give back when it fails. */
static kjit_status furnish(kjit_context *ctx, const kjit_context_options *options,
                           uint64_t device_memory, kj_failure *why)
{
    ctx->max_expressions = options->max_expressions;
    ctx->cache_path = options->cache ? strdup(options->cache) : NULL;
    ctx->records = kj_records_new();
    if (!ctx->records || (options->cache && !ctx->cache_path))
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    kjit_status status = kj_limits_init(&ctx->limits, options, why);
    if (status == KJIT_OK)
        status = kj_pendings_init(&ctx->pendings, options, device_memory, why);
    if (status != KJIT_OK)
        return status;
    status = kj_allocator_begin(ctx, options->allocator, why);
    if (status != KJIT_OK)
        kj_pendings_destroy(&ctx->pendings);
    return status;
}

/* A context, and what it points to. */
typedef struct context_parts {
    kjit_context ctx;
    kj_store store;
    kj_recycler recycler;
} context_parts;

static kjit_context *new_context(const opening *o)
{
    context_parts *all = kj_handle_new(KJ_CONTEXT, sizeof *all);
    if (!all)
        return NULL;
    kjit_context *ctx = &all->ctx;
    ctx->store = &all->store;
    ctx->recycler = &all->recycler;
    ctx->end = end;
    ctx->ops = o->ops;
    ctx->dev = o->dev;
    ctx->ordinal = o->ordinal;
    ctx->pid = getpid();
    atomic_init(&ctx->refs, 1);
    atomic_init(&ctx->timing, NULL);
    atomic_init(&ctx->has_printed, false);
    atomic_init(&ctx->legacy.issued, 0);
    atomic_init(&ctx->tracer.on, false);
    atomic_init(&ctx->capsules.on, false);
    return ctx;
}

/* What a launch prints may be taken by a function that launches. */
static void init_recursive(pthread_mutex_t *lock)
{
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(lock, &how);
    pthread_mutexattr_destroy(&how);
}

static kjit_status create(const kjit_context_options *options, kjit_context **out, kj_failure *why)
{
    opening o = {.options = options, .why = why};
    if (!kj_threads_begin())
        return kj_because(why, KJIT_NO_MEMORY, "the system has no place for what threads have");
    if (!kj_with_stack(KJ_DRIVER_STACK, open_device, &o))
        return kj_because(why, KJIT_NO_MEMORY, KJ_NO_THREAD);
    if (o.status != KJIT_OK)
        return o.status;
    kjit_context *ctx = new_context(&o);
    kjit_status status = ctx ? furnish(ctx, options, o.info.memory, why)
                             : kj_because(why, KJIT_NO_MEMORY, "out of memory");
    if (status != KJIT_OK) {
        if (ctx) {
            kj_records_free(ctx->records);
            free(ctx->cache_path);
            kj_handle_free(ctx);
        }
        o.ops->close(o.dev);
        return status;
    }
    ctx->memory = kj_machine_memory();
    pthread_mutex_init(&ctx->lock, NULL);
    kj_slots_init(&ctx->slots);
    kj_halts_init(&ctx->halts, options->cancellable || options->untrusted);
    pthread_mutex_init(&ctx->legacy.lock, NULL);
    pthread_mutex_init(&ctx->tracer.lock, NULL);
    init_recursive(&ctx->capsules.lock);
    pthread_mutex_init(&ctx->recycler->lock, NULL);
    pthread_mutex_init(&ctx->print_lock, NULL);
    pthread_mutex_init(&ctx->run_lock, NULL);
    ctx->alive = alive_page();
    *out = ctx;
    return KJIT_OK;
}

kjit_status kjit_context_create(const kjit_context_options *options, kjit_context **out,
                                char *error, size_t error_size)
{
    static const kjit_context_options defaults = {0};
    kj_failure why = {0};
    if (error && error_size)
        *error = '\0';
    kjit_status status = KJIT_INVALID;
    if (out)
        *out = NULL;
    if (!out)
        kj_because(&why, status, "out is NULL");
    else if (options && options->workers < 0)
        kj_because(&why, status, "workers is %d: it must be 0 or more", options->workers);
    else if (!options ||
             (status = kj_reserved_because(&why, KJ_RESERVED(options, "the options'"))) == KJIT_OK)
        status = create(options ? options : &defaults, out, &why);
    if (status != KJIT_OK && error && error_size)
        kj_snprintf(error, error_size, "%s", why.text);
    return status == KJIT_OK ? status : kj_fail_why(NULL, status, &why);
}

void kjit_context_destroy(kjit_context *ctx)
{
    if (!kj_can_free(ctx, KJ_CONTEXT) || kj_enter(ctx) != KJIT_OK || !kj_handle_close(ctx))
        return;
    ctx->ops->wait(ctx->dev, NULL);
    kj_default_streams_free(ctx);
    kj_lazy_cache_free(ctx);
    kj_pending_close(ctx);
    kj_print_flush(ctx);
    kj_context_drop(ctx);
}

int kjit_devices(kjit_device_info *out, int max)
{
    int n = 0;
    const kj_device_ops *ops;
    for (int i = 0; (ops = kj_device_kind(i)); i++) {
        int count = ops->count();
        for (int ordinal = 0; ordinal < count; ordinal++, n++) {
            if (out && n < max)
                ops->describe(NULL, ordinal, &out[n]);
        }
    }
    return n;
}

const char *kjit_device_absent(const char *kind)
{
    const kj_device_ops *ops;
    for (int i = 0; kind && (ops = kj_device_kind(i)); i++) {
        if (strcmp(ops->kind, kind) == 0 && ops->driver && ops->count() == 0)
            return ops->driver->absent();
    }
    return NULL;
}
