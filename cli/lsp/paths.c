/* URIs of files <-> paths, and where a file that is used is found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lsp.h"

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Without "." and ".." and doubled slashes, in place: files are compared by their paths. */
static char *normalise(char *path)
{
    if (!path || *path != '/')
        return path;
    char *out = path;
    for (const char *p = path; *p;) {
        p += strspn(p, "/");
        size_t n = strcspn(p, "/");
        if (n == 2 && p[0] == '.' && p[1] == '.') {
            while (out > path && *--out != '/')
                ;
        } else if (n > 0 && !(n == 1 && *p == '.')) {
            *out++ = '/';
            memmove(out, p, n);
            out += n;
        }
        p += n;
    }
    if (out == path)
        *out++ = '/';
    *out = 0;
    return path;
}

char *path_of_uri(const char *uri)
{
    if (strncmp(uri, "file://", 7) != 0)
        return NULL;
    const char *p = uri + 7 + strcspn(uri + 7, "/"); /* behind a host's name */
    char *path = malloc(strlen(p) + 1), *out = path;
    while (path && *p) {
        int high = *p == '%' ? hex(p[1]) : -1, low = high >= 0 ? hex(p[2]) : -1;
        if (low >= 0 && high * 16 + low > 0) {
            *out++ = (char)(high * 16 + low);
            p += 3;
        } else {
            *out++ = *p++;
        }
    }
    if (path)
        *out = 0;
    if (path && *path != '/') {
        free(path);
        return NULL;
    }
    return normalise(path);
}

char *uri_of_path(const char *path)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~/";
    if (*path != '/')
        return strdup(path);
    char *uri = malloc(3 * strlen(path) + 8), *out = uri;
    if (!uri)
        return NULL;
    out += sprintf(out, "file://");
    for (; *path; path++)
        out += strchr(plain, *path) ? sprintf(out, "%c", *path)
                                    : sprintf(out, "%%%02X", (unsigned char)*path);
    return uri;
}

/* folder/path; the folder is of so many bytes. */
static char *joined(const char *folder, size_t size, const char *path)
{
    char *whole;
    if (*path == '/')
        return normalise(strdup(path));
    if (asprintf(&whole, "%.*s/%s", (int)size, folder, path) < 0)
        return NULL;
    return normalise(whole);
}

char *path_beside(const char *from, const char *path)
{
    const char *slash = strrchr(from, '/');
    return joined(from, slash ? (size_t)(slash - from) : 0, path);
}

static document *file_in(server *s, const char *folder, size_t size, const char *path)
{
    char *whole = joined(folder, size, path);
    document *d = whole ? file_document(s, whole) : NULL;
    free(whole);
    return d;
}

static document *file_in_list(server *s, const char *folders, const char *path)
{
    document *d = NULL;
    while (folders && *folders && !d) {
        size_t n = strcspn(folders, ":");
        if (n > 0)
            d = file_in(s, folders, n, path);
        folders += n + (folders[n] == ':');
    }
    return d;
}

/* In the order of kjit_module_load. */
document *used_document(server *s, const char *from, const char *path)
{
    document *d = NULL;
    if (*path == '/' || *from == '/') {
        char *whole = path_beside(from, path);
        d = whole ? file_document(s, whole) : NULL;
        free(whole);
    }
    if (!d)
        d = file_in_list(s, s->o->path, path);
    return d ? d : file_in_list(s, getenv("KJIT_PATH"), path);
}
