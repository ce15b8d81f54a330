/* Host arrays of a launch that are not worked on where they are. In: a bound launch; out: copies of
 * its host arrays in device memory, and what the kernel wrote back in their place.
 *
 * On a device with memory of its own these are all host arrays; on one that works on the host's, those
 * that the kernel writes and that are not to change, In(a), and what shares memory with them.
 *
 * Arrays whose ranges overlap on the host do so on the device: overlapping ranges make one piece of
 * device memory. A piece keeps its place within 256 bytes, so addresses are aligned as they were.
 * Only elements are moved, never what lies between them: a kernel's write to one view cannot bring
 * back old bytes beside it. In a stream the copies are queued around the launch, and the pieces are
 * the stream's where it can order them; each queued step holds the other memory that it uses. */
#include "launch/launch.h"

enum { ALIGNMENT = 256 };

static bool same_view(const kjit_array *a, const kjit_array *b)
{
    if (a->data != b->data || a->dtype != b->dtype || a->ndim != b->ndim)
        return false;
    for (int i = 0; i < a->ndim; i++) {
        if (a->shape[i] != b->shape[i] || a->strides[i] != b->strides[i])
            return false;
    }
    return true;
}

/* The host array behind a launch's parameter if the kernel touches it, else NULL. */
static kjit_array *host_array(const kj_binding *b, const kj_variant *variant, int i)
{
    const kj_param_info *p = &variant->kernel->params[i];
    if (!p->is_array || (!p->read && !p->written))
        return NULL;
    kjit_array *a = b->args[b->runtime[i]]->u.array;
    return !kj_device_works(a->buffer->memory) && a->size > 0 ? a : NULL;
}

/* Is the kernel to leave the array as it was, though it writes it? */
static bool stays(kjit_arg_kind kind, const kj_param_info *p)
{
    return kind == KJIT_ARG_IN && p->written;
}

bool kj_staging_needed(const kj_binding *b, const kj_variant *variant)
{
    bool in_place = b->kernel->mod->ctx->ops->host_memory;
    for (int i = 0; (!in_place || b->in) && i < b->nruntime; i++) {
        kjit_array *a = host_array(b, variant, i);
        if (a && (!in_place || stays(b->args[b->runtime[i]]->kind, &variant->kernel->params[i])))
            return true;
    }
    return false;
}

/* Adds the array of a launch's parameter, in the order of addresses; one that is there already only
 * once. */
static void add(kj_staging *s, kjit_array *a, const kj_param_info *p, kjit_arg_kind kind)
{
    int at = s->narrays;
    bool goes = kind != KJIT_ARG_OUT && !a->overwritten;
    bool comes = kind != KJIT_ARG_IN && p->written, stay = stays(kind, p);
    for (int i = 0; i < s->narrays; i++) {
        if (same_view(s->arrays[i].array, a)) {
            s->arrays[i].goes |= goes;
            s->arrays[i].comes |= comes;
            s->arrays[i].stays |= stay;
            return;
        }
    }
    for (; at > 0 && s->arrays[at - 1].array->low > a->low; at--)
        s->arrays[at] = s->arrays[at - 1];
    s->arrays[at] = (kj_staging_array){.array = a, .goes = goes, .comes = comes, .stays = stay};
    s->narrays++;
}

/* Device memory for the arrays from `first` on whose ranges hang together, unless the device may work
 * on them where they are; returns the next one. */
static kjit_status add_piece(kj_staging *s, kjit_context *ctx, kjit_stream *stream, int first,
                             int *next)
{
    uintptr_t low = s->arrays[first].array->low, high = s->arrays[first].array->high;
    bool moves = !ctx->ops->host_memory;
    int end = first;
    for (; end < s->narrays && (end == first || s->arrays[end].array->low < high); end++) {
        if (s->arrays[end].array->high > high)
            high = s->arrays[end].array->high;
        moves = moves || (s->arrays[end].stays && !s->arrays[end].comes);
    }
    *next = end;
    if (!moves) {
        for (int i = first; i < end; i++)
            s->arrays[i].goes = s->arrays[i].comes = false;
        return KJIT_OK;
    }
    uintptr_t before = low % ALIGNMENT;
    kj_buffer *piece;
    kj_chunk chunk = {.memory = KJIT_DEVICE, .size = before + (high - low)};
    kjit_status status = kj_buffer_create_as(ctx, &chunk, stream, &piece);
    if (status != KJIT_OK)
        return status;
    s->pieces[s->npieces++] = piece;
    for (int i = first; i < end; i++) {
        s->arrays[i].piece = piece;
        s->arrays[i].shift = (uintptr_t)piece->data + before - low;
    }
    return KJIT_OK;
}

/* The elements from the host to the device, or back. */
static kjit_status move(const kj_staging_array *m, bool back, kjit_stream *stream)
{
    kj_transfer t;
    kj_transfer_init(&t, m->array, m->array);
    while (t.ndim > 0 && t.dst_stride[t.ndim - 1] == 0) /* the same elements again */
        t.ndim--;
    if (back) {
        t.src_memory = KJIT_DEVICE;
        t.src = (char *)((uintptr_t)t.src + m->shift);
        return kj_transfer_submit(&t, m->array->buffer, m->piece, stream);
    }
    t.dst_memory = KJIT_DEVICE;
    t.dst = (char *)((uintptr_t)t.dst + m->shift);
    return kj_transfer_submit(&t, m->piece, m->array->buffer, stream);
}

kjit_status kj_staging_in(kj_binding *b, const kj_variant *variant, kjit_stream *stream,
                          kj_staging *s)
{
    kjit_status status = KJIT_OK;
    size_t most = (size_t)b->nruntime;
    *s = (kj_staging){.arrays = kj_room_take(&b->room, most * sizeof *s->arrays),
                      .pieces = kj_room_take(&b->room, most * sizeof *s->pieces)};
    if (!s->arrays || !s->pieces)
        return kj_no_memory(b->kernel->mod->ctx);
    for (int i = 0; i < b->nruntime; i++) {
        kjit_array *a = host_array(b, variant, i);
        if (a)
            add(s, a, &variant->kernel->params[i], b->args[b->runtime[i]]->kind);
    }
    for (int i = 0; i < s->narrays && status == KJIT_OK;)
        status = add_piece(s, b->kernel->mod->ctx, stream, i, &i);
    for (int i = 0; i < s->narrays && status == KJIT_OK; i++) {
        if (s->arrays[i].goes)
            status = move(&s->arrays[i], false, stream);
    }
    if (status != KJIT_OK)
        kj_staging_drop(s);
    return status;
}

kjit_status kj_staging_out(const kj_staging *s, kjit_stream *stream)
{
    kjit_status status = KJIT_OK;
    for (int i = 0; i < s->narrays && status == KJIT_OK; i++) {
        if (s->arrays[i].comes)
            status = move(&s->arrays[i], true, stream);
    }
    return status;
}

void kj_staging_drop(kj_staging *s)
{
    for (int i = 0; i < s->npieces; i++)
        kj_buffer_drop(s->pieces[i]);
    s->npieces = 0;
}

uintptr_t kj_staging_address(const kj_staging *s, const kjit_array *a)
{
    for (int i = 0; i < s->narrays; i++) {
        if (same_view(s->arrays[i].array, a))
            return (uintptr_t)a->data + s->arrays[i].shift;
    }
    return kj_array_address(a);
}
