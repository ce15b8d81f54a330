/* Bytes of standard input -> the texts of messages, each behind "Content-Length: N" and an empty line; messages -> bytes
 * of standard output. What is damaged is skipped, to the next header. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "lsp.h"

enum { MOST_HEADER = 4096, MOST_MESSAGE = 128 << 20, READ_SIZE = 1 << 16 };

static const char HEADER[] = "Content-Length:";
enum { HEADER_SIZE = sizeof HEADER - 1 };

/* Moves on to the next header, or to where one may begin. */
static void skip_damage(transport *t)
{
    for (size_t i = t->begin + 1; i + HEADER_SIZE <= t->end; i++)
        if (strncasecmp(t->bytes + i, HEADER, HEADER_SIZE) == 0) {
            t->begin = i;
            return;
        }
    if (t->end - t->begin > HEADER_SIZE)
        t->begin = t->end - HEADER_SIZE;
    else if (t->begin < t->end)
        t->begin++;
}

/* Where the header's empty line ends, or 0. */
static size_t header_end(const transport *t)
{
    size_t most = t->end - t->begin > MOST_HEADER ? t->begin + MOST_HEADER : t->end;
    for (size_t i = t->begin; i < most; i++) {
        const char *p = t->bytes + i;
        if (*p == '\n' && i + 1 < most && p[1] == '\n')
            return i + 2;
        if (*p == '\n' && i + 2 < most && p[1] == '\r' && p[2] == '\n')
            return i + 3;
    }
    return 0;
}

/* The length that a header gives; -1: none that can be. */
static long long body_length(const char *header, const char *end)
{
    long long length = -1;
    while (header < end) {
        if (end - header > HEADER_SIZE && strncasecmp(header, HEADER, HEADER_SIZE) == 0) {
            const char *p = header + HEADER_SIZE;
            p += strspn(p, " \t");
            length = *p >= '0' && *p <= '9' ? 0 : -1;
            for (; *p >= '0' && *p <= '9' && length <= MOST_MESSAGE; p++)
                length = length * 10 + (*p - '0');
        }
        const char *line = memchr(header, '\n', (size_t)(end - header));
        header = line ? line + 1 : end;
    }
    return length <= MOST_MESSAGE ? length : -1;
}

/* The message that the buffer begins with, if all of it is there; *need is what else must come. */
static arrival cut_message(transport *t, const char **text, size_t *size, size_t *need)
{
    *need = 1;
    while (t->begin < t->end && (t->bytes[t->begin] == '\r' || t->bytes[t->begin] == '\n'))
        t->begin++;
    size_t body = header_end(t);
    if (!body && t->end - t->begin < MOST_HEADER)
        return NOTHING_YET;
    long long length = body ? body_length(t->bytes + t->begin, t->bytes + body) : -1;
    if (length < 0) {
        skip_damage(t);
        return DAMAGED;
    }
    if (t->end - body < (size_t)length) {
        *need = (size_t)length - (t->end - body);
        return NOTHING_YET;
    }
    *text = t->bytes + body;
    *size = (size_t)length;
    t->begin = body + (size_t)length;
    return ARRIVED;
}

/* Room for so many more bytes, and a NUL behind them. */
static bool make_room(transport *t, size_t more)
{
    if (t->begin > 0 && (t->begin == t->end || t->end + more >= t->room)) {
        memmove(t->bytes, t->bytes + t->begin, t->end - t->begin);
        t->end -= t->begin;
        t->begin = 0;
    }
    if (t->end + more < t->room)
        return true;
    size_t room = t->end + more + 1;
    char *bytes = realloc(t->bytes, room);
    if (!bytes)
        return false;
    t->bytes = bytes;
    t->room = room;
    return true;
}

/* Does something come within so many ms? */
static bool comes_within(int wait)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, wait) > 0;
}

arrival receive(transport *t, int wait, const char **text, size_t *size)
{
    for (;;) {
        size_t need;
        arrival a = cut_message(t, text, size, &need);
        if (a != NOTHING_YET)
            return a;
        if (t->ended)
            return INPUT_ENDED;
        if (wait >= 0 && !comes_within(wait))
            return NOTHING_YET;
        if (!make_room(t, need < READ_SIZE ? READ_SIZE : need)) {
            skip_damage(t);
            return DAMAGED;
        }
        ssize_t n = read(STDIN_FILENO, t->bytes + t->end, t->room - 1 - t->end);
        if (n > 0) {
            t->end += (size_t)n;
            t->bytes[t->end] = 0;
        } else if (n == 0 || errno != EINTR) {
            t->ended = true;
        }
    }
}

void send_message(server *s, json_t *message)
{
    json_object_set_new(message, "jsonrpc", json_string("2.0"));
    char *text = json_dumps(message, JSON_COMPACT);
    json_decref(message);
    if (text && !s->broken) {
        printf("Content-Length: %zu\r\n\r\n", strlen(text));
        write_output(s->o->output, text, strlen(text));
        s->broken = fflush(stdout) != 0 || s->o->output->failed;
    }
    free(text);
}

void notify(server *s, const char *method, json_t *params)
{
    send_message(s, json_pack("{s:s, s:o}", "method", method, "params", params));
}
