/* kjit fmt: files in, the same files in the one style. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct formatter {
    kjit_context *ctx;
    const options *o;
    int worst; /* the exit code so far */
} formatter;

static void note(formatter *f, int code)
{
    if (code > f->worst)
        f->worst = code;
}

static char *read_path(const char *path, size_t *size)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    char *text = file ? read_all(file, MOST_SOURCE, size) : NULL;
    int error = errno;
    if (file && file != stdin)
        fclose(file);
    if (!text)
        complain("%s: %s", file == stdin ? "<stdin>" : path, strerror(error));
    return text;
}

/* A file that a link leads to is written, and the link stays. */
static int replace(const char *path, const char *text, size_t size)
{
    char *target = realpath(path, NULL);
    bool written = target && write_file(target, text, size);
    if (!written)
        complain("%s: %s", path, strerror(errno));
    free(target);
    return written ? EXIT_OK : EXIT_FAILED;
}

/* What is done with a text that was formatted. */
static int finish(const formatter *f, const char *path, bool changed, const char *text, size_t size)
{
    bool piped = strcmp(path, "-") == 0;
    if (piped && !f->o->check_format)
        write_output(f->o->output, text, size);
    if (!changed)
        return EXIT_OK;
    int code = f->o->check_format ? EXIT_FAILED : piped ? EXIT_OK : replace(path, text, size);
    if (f->o->check_format || (!piped && code == EXIT_OK))
        printf("%s\n", piped ? "<stdin>" : path);
    return code;
}

static bool format_file(void *user, const char *path)
{
    formatter *f = user;
    size_t size, after_size;
    char *after, *before = read_path(path, &size);
    if (!before) {
        note(f, EXIT_FAILED);
        return true;
    }
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    kjit_status status = kjit_format(f->ctx, name, before, size, &after, &after_size);
    if (status != KJIT_OK) {
        note(f, library_failed(f->ctx, status));
    } else {
        bool changed = size != after_size || memcmp(before, after, size) != 0;
        note(f, finish(f, path, changed, after, after_size));
        free(after);
    }
    free(before);
    return true;
}

int command_fmt(const options *o)
{
    options plain = *o;
    plain.device = "cpu";
    formatter f = {.ctx = open_context(&plain), .o = o};
    if (!f.ctx)
        return EXIT_FAILED;
    for (int i = 0; i < o->narguments; i++)
        if (!each_source(o->arguments[i], format_file, &f))
            note(&f, EXIT_FAILED);
    kjit_context_destroy(f.ctx);
    return f.worst;
}
