/* Scratch memory of one call: what it needs beyond the memory on its stack. */
#include "base/room.h"

#include <stdlib.h>

struct kj_more {
    struct kj_more *next;
    _Alignas(KJ_ROOM_ALIGN) unsigned char bytes[];
};

void *kj_room_more(kj_room *room, size_t size)
{
    struct kj_more *more = malloc(sizeof *more + size);
    if (!more)
        return NULL;
    more->next = room->more;
    room->more = more;
    return more->bytes;
}

void kj_room_free_more(kj_room *room)
{
    for (struct kj_more *m = room->more, *next; m; m = next) {
        next = m->next;
        free(m);
    }
    room->more = NULL;
}
