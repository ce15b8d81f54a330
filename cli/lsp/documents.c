/* The texts that the client has open, and files of the disk that a request looks at. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lsp.h"

static void free_analysed(analysed *a)
{
    free(a->text);
    free_names(a->names);
    json_decref(a->told);
    memset(a, 0, sizeof *a);
}

static void free_document(document *d)
{
    free_analysed(&d->before);
    free(d->uri);
    free(d->path);
    free(d->text);
    free(d->lines);
    free_names(d->names);
    json_decref(d->told);
    json_decref(d->uses);
    free(d);
}

static void free_list(document **list)
{
    while (*list) {
        document *d = *list;
        *list = d->next;
        free_document(d);
    }
}

void release_files(server *s)
{
    free_list(&s->files);
}

void free_documents(server *s)
{
    free_list(&s->files);
    free_list(&s->documents);
}

/* Where each line begins. */
static uint32_t *find_lines(const char *text, size_t size, uint32_t *count)
{
    uint32_t n = 0, room = 256;
    uint32_t *lines = malloc(room * sizeof *lines);
    for (size_t at = 0; lines;) {
        lines[n++] = (uint32_t)at;
        while (at < size && text[at] != '\n' && text[at] != '\r')
            at++;
        if (at == size)
            break;
        at += text[at] == '\r' && at + 1 < size && text[at + 1] == '\n' ? 2 : 1;
        if (n < room)
            continue;
        uint32_t *more = realloc(lines, (room *= 2) * sizeof *lines);
        if (!more)
            free(lines);
        lines = more;
    }
    *count = n;
    return lines;
}

bool set_text(document *d, char *text, size_t size)
{
    uint32_t nlines = 0;
    uint32_t *lines = text && size <= MOST_SOURCE ? find_lines(text, size, &nlines) : NULL;
    if (!lines) {
        free(text);
        return false;
    }
    if (d->whole && d->size >= LONG_TEXT) { /* quick.c goes on from there */
        free_analysed(&d->before);
        d->before = (analysed){d->text, d->size, d->nlines, d->names, json_incref(d->told)};
    } else {
        free(d->text);
        free_names(d->names);
    }
    free(d->lines);
    d->whole = false;
    d->text = text;
    d->size = size;
    d->lines = lines;
    d->nlines = nlines;
    d->names = NULL;
    memset(&d->last, 0, sizeof d->last);
    return true;
}

const names *document_names(document *d)
{
    if (!d->names)
        d->names = read_names(d->text, d->size);
    return d->names;
}

/* Takes the text, also where it fails. */
static document *new_document(const char *uri, const char *path, char *text, size_t size)
{
    document *d = calloc(1, sizeof *d);
    if (!d) {
        free(text);
        return NULL;
    }
    d->uri = uri ? strdup(uri) : uri_of_path(path);
    d->path = path ? strdup(path) : NULL;
    if (!set_text(d, text, size) || !d->uri || !d->path) {
        free_document(d);
        return NULL;
    }
    return d;
}

document *open_document(server *s, const char *uri)
{
    char *path = path_of_uri(uri);
    document *d = s->documents;
    while (d && strcmp(d->path, path ? path : uri) != 0)
        d = d->next;
    free(path);
    return d;
}

/* A plain file's text, for free(); NULL: there is none, or it cannot be read. */
static char *read_plain(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe has nobody wait */
    struct stat st;
    FILE *file = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? fdopen(fd, "rb") : NULL;
    if (!file && fd >= 0)
        close(fd);
    char *text = file ? read_all(file, MOST_SOURCE, size) : NULL;
    if (file)
        fclose(file);
    return text;
}

document *file_document(server *s, const char *path)
{
    for (document *d = s->documents; d; d = d->next)
        if (strcmp(d->path, path) == 0)
            return d;
    for (document *d = s->files; d; d = d->next)
        if (strcmp(d->path, path) == 0)
            return d;
    size_t size = 0;
    char *text = read_plain(path, &size);
    document *d = text ? new_document(NULL, path, text, size) : NULL;
    if (d) {
        d->next = s->files;
        s->files = d;
    }
    return d;
}

document *add_document(server *s, const char *uri, const char *text, size_t size)
{
    char *path = path_of_uri(uri), *copy = malloc(size + 1);
    if (copy) {
        memcpy(copy, text, size);
        copy[size] = 0;
    }
    document *d = copy ? new_document(uri, path ? path : uri, copy, size) : NULL;
    free(path);
    if (d) {
        d->next = s->documents;
        s->documents = d;
    }
    return d;
}

void remove_document(server *s, document *d)
{
    document **link = &s->documents;
    while (*link != d)
        link = &(*link)->next;
    *link = d->next;
    free_document(d);
}

double now_in_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void mark_dirty(server *s, document *d)
{
    double now = now_in_seconds();
    for (document *other = s->documents; other; other = other->next) {
        if (other != d && !json_object_get(other->uses, d->path))
            continue;
        if (!other->dirty)
            other->since = now;
        other->changed = now;
        other->dirty = true;
        other->quick = false;
    }
}
