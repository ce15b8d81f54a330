/* kjit fmt: files in, the same files in the one style. Of folders all .knl below them. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static void format_file(formatter *f, const char *path)
{
    size_t size, after_size;
    char *after, *before = read_path(path, &size);
    if (!before) {
        note(f, EXIT_FAILED);
        return;
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
}

static int is_shown(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static bool is_folder(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_source(const char *path)
{
    struct stat st;
    size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".knl") == 0 && lstat(path, &st) == 0 &&
           S_ISREG(st.st_mode);
}

/* Links are not followed: what they lead to may be anywhere. */
static void format_folder(formatter *f, const char *path)
{
    struct dirent **entries;
    int n = scandir(path, &entries, is_shown, alphasort);
    if (n < 0) {
        complain("%s: %s", path, strerror(errno));
        note(f, EXIT_FAILED);
        return;
    }
    for (int i = 0; i < n; i++) {
        char *inner;
        if (asprintf(&inner, "%s/%s", path, entries[i]->d_name) < 0) {
            complain("out of memory");
            note(f, EXIT_FAILED);
        } else {
            if (is_folder(inner))
                format_folder(f, inner);
            else if (is_source(inner))
                format_file(f, inner);
            free(inner);
        }
        free(entries[i]);
    }
    free(entries);
}

static void format_path(formatter *f, const char *path)
{
    struct stat st;
    if (strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        format_folder(f, path);
    else
        format_file(f, path);
}

int command_fmt(const options *o)
{
    options plain = *o;
    plain.device = "cpu";
    formatter f = {.ctx = open_context(&plain), .o = o};
    if (!f.ctx)
        return EXIT_FAILED;
    for (int i = 0; i < o->narguments; i++)
        format_path(&f, o->arguments[i]);
    kjit_context_destroy(f.ctx);
    return f.worst;
}
