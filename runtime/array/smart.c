/* Smart arrays: a host array and a device array for the same elements, and which of them has the
 * newest. In: who is about to read, and who has written; out: views, and copies only where the
 * other side is newer.
 *
 * A copy comes after all queued work and has finished when the call returns, for launches in
 * streams too: so nothing that is queued can meet elements that are on their way. */
#include "array/array.h"

typedef enum side { HOST, GPU, NSIDES } side;

struct kjit_smart {
    kj_handle handle;
    atomic_int refs; /* the handle, and prepared launches */
    kjit_context *ctx;
    pthread_mutex_t lock;
    kjit_array *arrays[NSIDES]; /* NULL: not made yet; one and the same where there is one memory */
    bool stale[NSIDES];         /* the other is newer; where they are one, kernels may be at work */
    kjit_arg argument;          /* what launches see: the device's array */
};

static kjit_status enter_smart(const kjit_smart *s)
{
    return kj_lives(s, KJ_SMART) ? kj_enter(s->ctx) : kj_no_handle(s, KJ_SMART);
}

/* Is there anything to move? Under the lock, or with both sides made. */
static bool is_one(const kjit_smart *s)
{
    return s->arrays[HOST] == s->arrays[GPU];
}

/* ---- Lifetime ---- */

void kj_smart_hold(kjit_smart *s)
{
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
}

void kj_smart_drop(kjit_smart *s)
{
    if (atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    kjit_context *ctx = s->ctx;
    if (!is_one(s))
        kj_array_drop(s->arrays[GPU]);
    kj_array_drop(s->arrays[HOST]);
    pthread_mutex_destroy(&s->lock);
    kj_handle_free(s);
    kj_context_drop(ctx);
}

void kjit_smart_free(kjit_smart *s)
{
    if (!kj_can_free(s, KJ_SMART) || kj_forked(s->ctx) || !kj_handle_close(s))
        return;
    kjit_context *ctx = s->ctx;
    kj_context_hold(ctx);
    kj_smart_drop(s);
    kj_freed(ctx);
}

/* The device's array, which is there from now on, to launches. */
static void show(kjit_smart *s)
{
    s->arrays[GPU]->smart = s;
    s->argument = kjit_arg_array(s->arrays[GPU]);
}

/* Takes the array over when it succeeds. Memory that both work on is both sides. */
static kjit_status new_smart(kjit_array *a, kjit_smart **out)
{
    kjit_context *ctx = a->ctx;
    kjit_smart *s = kj_handle_new(KJ_SMART, sizeof *s);
    if (!s)
        return kj_no_memory(ctx);
    bool host = ctx->ops->host_memory || kj_host_works(a->buffer->memory);
    bool device = ctx->ops->host_memory || kj_device_works(a->buffer->memory);
    atomic_init(&s->refs, 1);
    s->ctx = ctx;
    pthread_mutex_init(&s->lock, NULL);
    if (host)
        s->arrays[HOST] = a;
    if (device)
        s->arrays[GPU] = a;
    s->stale[device ? HOST : GPU] = true;
    if (s->arrays[GPU])
        show(s);
    kj_context_hold(ctx);
    kj_handle_hide(a);
    *out = s;
    return KJIT_OK;
}

kjit_status kjit_smart_create(kjit_context *ctx, kjit_dtype dtype, int ndim, const int64_t *shape,
                              char order, kjit_smart **out)
{
    kjit_array *a;
    kjit_status status = KJ_MAKES(out, kj_enter_context(ctx), ctx);
    if (status == KJIT_OK)
        status = kj_array_create(ctx, dtype, ndim, shape, order, KJIT_HOST, &a);
    if (status != KJIT_OK)
        return status;
    status = new_smart(a, out);
    if (status != KJIT_OK)
        kjit_array_free(a);
    return status;
}

kjit_status kjit_smart_from(kjit_array *a, kjit_smart **out)
{
    kjit_array *own;
    kjit_status status = KJ_MAKES(out, kj_enter_array(a), a->ctx);
    if (status != KJIT_OK)
        return status;
    if (a->buffer->read_only)
        return kj_fail(a->ctx, KJIT_INVALID,
                       "the array is read-only, and a smart array is written");
    status = kj_array_restride(a, a->ndim, a->shape, a->strides, &own);
    if (status != KJIT_OK)
        return status;
    status = new_smart(own, out);
    if (status != KJIT_OK)
        kjit_array_free(own);
    return status;
}

/* ---- Moving ---- */

/* The side's array, made if it is not there. Under the lock. */
static kjit_status make(kjit_smart *s, side which)
{
    const kjit_array *other = s->arrays[!which];
    if (s->arrays[which])
        return KJIT_OK;
    char order = other->layout == KJ_LAYOUT_F ? 'F' : 'C';
    kjit_status status =
        kj_array_create(s->ctx, other->dtype, other->ndim, other->shape, order,
                        which == HOST ? KJIT_HOST : KJIT_DEVICE, &s->arrays[which]);
    if (status != KJIT_OK)
        return status;
    kj_handle_hide(s->arrays[which]);
    if (which == GPU)
        show(s);
    return status;
}

/* Of one memory, a side only has to wait for what was queued for the other. */
static kjit_status move(kjit_smart *s, side to)
{
    kjit_context *ctx = s->ctx;
    if (!is_one(s))
        return kjit_copy(s->arrays[to], s->arrays[!to], NULL);
    ctx->ops->wait(ctx->dev, NULL);
    kj_waited(ctx);
    return KJIT_OK;
}

/* The side's array with the newest elements. Under the lock. */
static kjit_status refresh(kjit_smart *s, side which)
{
    kjit_status status = make(s, which);
    if (status != KJIT_OK || !s->stale[which])
        return status;
    status = move(s, which);
    if (status == KJIT_OK)
        s->stale[which] = false;
    return status;
}

static kjit_status view(kjit_smart *s, side which, kjit_array **out)
{
    kjit_status status = KJ_MAKES(out, enter_smart(s), s->ctx);
    if (status != KJIT_OK)
        return status;
    pthread_mutex_lock(&s->lock);
    status = refresh(s, which);
    pthread_mutex_unlock(&s->lock);
    if (status != KJIT_OK)
        return status;
    kjit_array *a = s->arrays[which];
    return kj_array_restride(a, a->ndim, a->shape, a->strides, out);
}

kjit_status kjit_smart_host(kjit_smart *s, kjit_array **out)
{
    return view(s, HOST, out);
}

kjit_status kjit_smart_gpu(kjit_smart *s, kjit_array **out)
{
    return view(s, GPU, out);
}

const kjit_array *kj_smart_either(kjit_smart *s)
{
    pthread_mutex_lock(&s->lock);
    const kjit_array *a = s->arrays[s->arrays[HOST] ? HOST : GPU];
    pthread_mutex_unlock(&s->lock);
    return a;
}

static kjit_status changed(kjit_smart *s, side which)
{
    kjit_status status = enter_smart(s);
    if (status != KJIT_OK)
        return status;
    pthread_mutex_lock(&s->lock);
    status = make(s, which);
    if (status == KJIT_OK && !is_one(s))
        s->stale[which] = false;
    if (status == KJIT_OK)
        s->stale[!which] = true;
    pthread_mutex_unlock(&s->lock);
    return status;
}

kjit_status kjit_smart_host_changed(kjit_smart *s)
{
    return changed(s, HOST);
}

kjit_status kjit_smart_gpu_changed(kjit_smart *s)
{
    return changed(s, GPU);
}

/* ---- Launches ---- */

kjit_status kj_smart_argument(kjit_context *ctx, const kjit_arg *given, const kjit_arg **out)
{
    kjit_smart *s = given->u.smart;
    if (!kj_lives(s, KJ_SMART))
        return kj_fail(ctx, KJIT_INVALID, "a smart array %s", s ? "was freed" : "is NULL");
    if (s->ctx != ctx)
        return kj_fail(ctx, KJIT_INVALID, "a smart array belongs to another context");
    pthread_mutex_lock(&s->lock);
    kjit_status status = make(s, GPU);
    pthread_mutex_unlock(&s->lock);
    *out = &s->argument;
    return status;
}

kjit_status kj_smart_enter(kjit_smart *s)
{
    pthread_mutex_lock(&s->lock);
    kjit_status status = is_one(s) ? KJIT_OK : refresh(s, GPU);
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* Not before: another thread that asks for the host's side meanwhile would take that for what the
 * kernel is going to write. Should the launch have failed, nothing is lost: both sides are the
 * same. */
void kj_smart_leave(kjit_smart *s, bool written)
{
    pthread_mutex_lock(&s->lock);
    if (written)
        s->stale[GPU] = false;
    if (written || is_one(s))
        s->stale[HOST] = true;
    pthread_mutex_unlock(&s->lock);
}
