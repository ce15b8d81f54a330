/* Slots: memory of a device that a launch writes to, and page-locked memory that it comes back to, for launches of a
 * few words each. A slot is used again and again: making memory, and clearing it, would take longer than the launch. */
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

enum { SLOTS = 64 /* of a slab */ };

struct kj_slot_slab {
    kj_slot_slab *next;
    kj_chunk host, device;
    kj_slot slots[SLOTS];
};

static void release(kjit_context *ctx, kj_slot_slab *s)
{
    kj_failure why;
    if (s->device.data)
        ctx->ops->release(ctx->dev, &s->device, &why);
    if (s->host.data)
        ctx->ops->release(ctx->dev, &s->host, &why);
    free(s);
}

static kj_slot_slab *new_slab(kjit_context *ctx)
{
    kj_failure why;
    kj_slot_slab *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->host = (kj_chunk){.memory = KJIT_PINNED, .size = SLOTS * (size_t)KJ_SLOT_BYTES};
    s->device = (kj_chunk){.memory = KJIT_DEVICE, .size = s->host.size};
    if (ctx->ops->alloc(ctx->dev, &s->host, &why) != KJIT_OK ||
        ctx->ops->alloc(ctx->dev, &s->device, &why) != KJIT_OK) {
        release(ctx, s);
        return NULL;
    }
    for (int i = 0; i < SLOTS; i++) {
        size_t at = (size_t)i * KJ_SLOT_BYTES;
        s->slots[i] = (kj_slot){.next = i + 1 < SLOTS ? &s->slots[i + 1] : NULL,
                                .host = (char *)s->host.data + at,
                                .device = (uintptr_t)s->device.data + at};
    }
    return s;
}

/* The device allocates without the lock: that may wait for kernels that run. */
kj_slot *kj_slot_take(kjit_context *ctx)
{
    kj_slots *slots = &ctx->slots;
    pthread_mutex_lock(&slots->lock);
    if (!slots->free) {
        pthread_mutex_unlock(&slots->lock);
        kj_slot_slab *s = new_slab(ctx);
        if (!s)
            return NULL;
        pthread_mutex_lock(&slots->lock);
        s->next = slots->slabs;
        slots->slabs = s;
        s->slots[SLOTS - 1].next = slots->free;
        slots->free = s->slots;
    }
    kj_slot *slot = slots->free;
    slots->free = slot->next;
    pthread_mutex_unlock(&slots->lock);
    return slot;
}

void kj_slot_give(kjit_context *ctx, kj_slot *slot)
{
    kj_slots *slots = &ctx->slots;
    pthread_mutex_lock(&slots->lock);
    slot->next = slots->free;
    slots->free = slot;
    pthread_mutex_unlock(&slots->lock);
}

void kj_slots_init(kj_slots *slots)
{
    pthread_mutex_init(&slots->lock, NULL);
}

void kj_slots_end(kjit_context *ctx)
{
    for (kj_slot_slab *s = ctx->slots.slabs, *next; s; s = next) {
        next = s->next;
        release(ctx, s);
    }
    pthread_mutex_destroy(&ctx->slots.lock);
}
