/* kjit run --trace=FILE: what the library shows of each piece of work, as a file in Chrome's trace
 * format, which chrome://tracing and Perfetto open: a row a stream, and one for the host. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

struct trace {
    FILE *file;
    const char *path;
    int streams; /* the highest number seen */
    bool any;    /* something was written */
};

static const char *const kinds[] = {
    [KJIT_TRACE_COMPILE] = "compile",   [KJIT_TRACE_LOAD] = "load",
    [KJIT_TRACE_LAUNCH] = "launch",     [KJIT_TRACE_COPY] = "copy",
    [KJIT_TRACE_CALLBACK] = "callback", [KJIT_TRACE_GRAPH] = "graph",
};

static void put_string(FILE *file, const char *text)
{
    fputc('"', file);
    while (*text) {
        char c[JSON_CHAR];
        text += json_char(c, text);
        fputs(c, file);
    }
    fputc('"', file);
}

static void put_dims(FILE *file, const char *name, const int64_t dims[3])
{
    fprintf(file, "\"%s\": [%" PRId64 ", %" PRId64 ", %" PRId64 "]", name, dims[0], dims[1],
            dims[2]);
}

static void start_entry(trace *t)
{
    fputs(t->any ? ",\n" : "\n", t->file);
    t->any = true;
}

/* The library's; one at a time. */
static void take(void *user, const kjit_trace_event *event)
{
    trace *t = user;
    if (event->stream > t->streams)
        t->streams = event->stream;
    start_entry(t);
    fputs("{\"ph\": \"X\", \"name\": ", t->file);
    put_string(t->file, event->name);
    fprintf(t->file, ", \"cat\": \"%s\", \"pid\": 1, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f",
            kinds[event->kind], event->stream, event->start_us, event->duration_us);
    if (event->kind == KJIT_TRACE_LAUNCH) {
        fputs(", \"args\": {", t->file);
        put_dims(t->file, "grid", event->grid);
        fputs(", ", t->file);
        put_dims(t->file, "block", event->block);
        fputs("}", t->file);
    } else if (event->kind == KJIT_TRACE_COPY) {
        fprintf(t->file, ", \"args\": {\"bytes\": %" PRId64 "}", event->bytes);
    }
    fputs("}", t->file);
}

static void put_name(trace *t, const char *what, int row, const char *name)
{
    start_entry(t);
    fprintf(t->file,
            "{\"ph\": \"M\", \"name\": \"%s\", \"pid\": 1, \"tid\": %d, \"args\": {\"name\": ",
            what, row);
    put_string(t->file, name);
    fputs("}}", t->file);
}

trace *begin_trace(kjit_context *ctx, const char *path)
{
    trace *t = calloc(1, sizeof *t);
    if (!t) {
        complain("out of memory");
        return NULL;
    }
    t->path = path;
    t->file = fopen(path, "we");
    if (!t->file) {
        complain("cannot write '%s': %s", path, strerror(errno));
        free(t);
        return NULL;
    }
    fputs("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [", t->file);
    kjit_set_trace(ctx, take, t);
    return t;
}

bool end_trace(kjit_context *ctx, trace *t, const char *program)
{
    kjit_device_info device;
    char name[512];
    kjit_set_trace(ctx, NULL, NULL);
    if (kjit_context_device(ctx, &device) != KJIT_OK)
        *device.name = '\0';
    snprintf(name, sizeof name, "%.300s on %s", program, device.name);
    put_name(t, "process_name", 0, name);
    put_name(t, "thread_name", 0, "host and calls without a stream");
    for (int i = 1; i <= t->streams; i++) {
        snprintf(name, sizeof name, "stream %d", i);
        put_name(t, "thread_name", i, name);
    }
    fputs("\n]}\n", t->file);
    bool failed = ferror(t->file);
    if (fclose(t->file) != 0 || failed) {
        complain("cannot write '%s': %s", t->path, strerror(errno));
        failed = true;
    }
    free(t);
    return !failed;
}
