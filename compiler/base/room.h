/* Memory for one call: a little that stands on the caller's stack, for nearly all calls enough, and
 * more from the heap. Stacks of programs that embed the library may be small. */
#ifndef KJ_ROOM_H
#define KJ_ROOM_H

#include <stddef.h>

enum { KJ_ROOM_ALIGN = 16, KJ_ROOM = 2048 };

typedef struct kj_room {
    size_t used;
    struct kj_more *more;
    _Alignas(KJ_ROOM_ALIGN) unsigned char few[KJ_ROOM];
} kj_room;

void *kj_room_more(kj_room *room, size_t size);
void kj_room_free_more(kj_room *room);

static inline void kj_room_begin(kj_room *room)
{
    room->used = 0;
    room->more = NULL;
}

static inline void kj_room_end(kj_room *room)
{
    if (room->more)
        kj_room_free_more(room);
}

/* Until the call's end; NULL: there is none. */
static inline void *kj_room_take(kj_room *room, size_t size)
{
    if (size > KJ_ROOM - room->used)
        return kj_room_more(room, size);
    void *at = room->few + room->used;
    room->used += (size + KJ_ROOM_ALIGN - 1) / KJ_ROOM_ALIGN * KJ_ROOM_ALIGN;
    return at;
}

#endif
