/* What comes before what. A clock names, for each stream, the last piece of its work that is known
 * to have ended; what the host has waited for stands in the streams themselves. */
#include "double.h"
#include <stdlib.h>

static void add(drv_clock *clock, drv_stream *stream, uint64_t turn)
{
    if (turn <= stream->seen)
        return;
    for (int i = 0; i < clock->count; i++) {
        if (clock->ticks[i].stream == stream) {
            if (clock->ticks[i].turn < turn)
                clock->ticks[i].turn = turn;
            return;
        }
    }
    if (clock->count == clock->room) {
        clock->room = clock->room ? 2 * clock->room : 4;
        clock->ticks = realloc(clock->ticks, (size_t)clock->room * sizeof *clock->ticks);
    }
    clock->ticks[clock->count++] = (drv_tick){stream, turn};
}

void clock_add(drv_clock *clock, const drv_op *op)
{
    add(clock, op->stream, op->turn);
}

void clock_join(drv_clock *clock, const drv_clock *other)
{
    for (int i = 0; i < other->count; i++)
        add(clock, other->ticks[i].stream, other->ticks[i].turn);
}

static bool has(const drv_clock *clock, const drv_tick *tick)
{
    if (tick->turn <= tick->stream->seen)
        return true;
    for (int i = 0; clock && i < clock->count; i++) {
        if (clock->ticks[i].stream == tick->stream)
            return tick->turn <= clock->ticks[i].turn;
    }
    return false;
}

const drv_tick *clock_missing(const drv_clock *clock, const drv_clock *needed)
{
    for (int i = 0; i < needed->count; i++) {
        if (!has(clock, &needed->ticks[i]))
            return &needed->ticks[i];
    }
    return NULL;
}

void clock_seen(drv_clock *clock)
{
    for (int i = 0; i < clock->count; i++) {
        drv_tick *tick = &clock->ticks[i];
        if (tick->stream->seen < tick->turn)
            tick->stream->seen = tick->turn;
    }
    clock->count = 0; /* no more is needed to know it */
}

void clock_free(drv_clock *clock)
{
    free(clock->ticks);
    *clock = (drv_clock){0};
}
