/* Files: whole reads, and writes that appear under their name only when they are complete. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_limit.h"
#include "io/file.h"

int64_t kj_file_read(int fd, void *data, size_t size)
{
    size_t done = 0;
    while (done < size) {
        size_t want = size - done < (size_t)1 << 30 ? size - done : (size_t)1 << 30;
        ssize_t n = read(fd, (char *)data + done, want);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (int64_t)done;
}

kjit_status kj_file_error(kjit_context *ctx, const char *what, const char *path)
{
    return kj_fail(ctx, KJIT_IO, "cannot %s '%s': %s", what, path, strerror(errno));
}

/* Opens a new file beside file->path, under a name nobody else has. */
static bool open_temp(kj_out_file *file)
{
    size_t size = strlen(file->path) + 32;
    const char *slash = strrchr(file->path, '/');
    int dir = slash ? (int)(slash - file->path) + 1 : 0;
    file->temp = malloc(size);
    for (int tries = 0; file->temp && tries < 100; tries++) {
        uint64_t random = 0;
        if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
            random = (uint64_t)getpid() * 1000003u + (uintptr_t)file + (uint64_t)tries;
        kj_snprintf(file->temp, size, "%.*s.kjit-%016llx.tmp", dir, file->path,
                    (unsigned long long)random);
        file->fd = open(file->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (file->fd >= 0 || errno != EEXIST)
            break;
    }
    return file->fd >= 0;
}

/* A new file beside it will take its place: that is the folder's to allow. */
static bool folder_takes_files(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    bool takes = folder && access(folder, W_OK | X_OK) == 0;
    free(folder);
    return takes;
}

kjit_status kj_file_target(kjit_context *ctx, const char *path)
{
    struct stat st;
    bool exists = stat(path, &st) == 0;
    if (exists && !S_ISREG(st.st_mode))
        return kj_fail(ctx, KJIT_IO, "cannot write '%s': it is not a regular file", path);
    if (!*path || path[strlen(path) - 1] == '/')
        return kj_fail(ctx, KJIT_IO, "cannot write '%s': it names no file", path);
    if (exists ? access(path, W_OK) != 0 : !folder_takes_files(path))
        return kj_file_error(ctx, "write", path);
    return KJIT_OK;
}

kjit_status kj_file_begin(kjit_context *ctx, const char *path, kj_out_file *file)
{
    *file = (kj_out_file){.fd = -1};
    kjit_status is = kj_file_target(ctx, path);
    if (is != KJIT_OK)
        return is;
    struct stat st;
    bool exists = stat(path, &st) == 0;
    file->path = exists ? realpath(path, NULL) : strdup(path); /* through links */
    if (!file->path)
        return errno == ENOMEM ? kj_no_memory(ctx) : kj_file_error(ctx, "write", path);
    if (!exists && lstat(path, &st) == 0) {
        kj_file_abandon(file);
        return kj_fail(ctx, KJIT_IO, "cannot write '%s': it is a link to nothing", path);
    }
    if (!open_temp(file)) {
        kjit_status status = file->temp ? kj_file_error(ctx, "write", path) : kj_no_memory(ctx);
        free(file->temp); /* nothing to remove */
        file->temp = NULL;
        kj_file_abandon(file);
        return status;
    }
    if (exists && fchmod(file->fd, st.st_mode & 0777) != 0) {
        kjit_status status = kj_file_error(ctx, "write", path);
        kj_file_abandon(file);
        return status;
    }
    return KJIT_OK;
}

kjit_status kj_file_write(kjit_context *ctx, kj_out_file *file, const void *data, size_t size)
{
    if (!kj_write_all(file->fd, data, size))
        return kj_file_error(ctx, "write", file->path);
    return KJIT_OK;
}

kjit_status kj_file_commit(kjit_context *ctx, kj_out_file *file)
{
    kjit_status status = KJIT_OK;
    int closed = close(file->fd);
    file->fd = -1;
    if (closed != 0 || rename(file->temp, file->path) != 0) {
        status = kj_file_error(ctx, "write", file->path);
    } else {
        free(file->temp); /* it has gone */
        file->temp = NULL;
    }
    kj_file_abandon(file);
    return status;
}

void kj_file_abandon(kj_out_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    if (file->temp)
        unlink(file->temp);
    free(file->temp);
    free(file->path);
    *file = (kj_out_file){.fd = -1};
}

kjit_status kj_file_get_from(kjit_context *ctx, int fd, const char *path, int64_t most, char **text,
                             size_t *size)
{
    enum { PIECE = 1 << 16 };
    struct stat st;
    size_t used = 0, wanted = most < INT64_MAX ? (size_t)most : SIZE_MAX,
           room = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (size_t)st.st_size + 1 : PIECE;
    char *data = malloc(room);
    int64_t got = 0;
    while (data && used < wanted) {
        size_t space = room - used, left = wanted - used;
        got = kj_file_read(fd, data + used, left < space ? left : space);
        if (got <= 0)
            break;
        used += (size_t)got;
        if (used < room)
            continue;
        char *more = realloc(data, room += room / 2 + PIECE);
        if (!more)
            free(data);
        data = more;
    }
    if (!data)
        return kj_no_memory(ctx);
    if (got < 0) {
        free(data);
        return kj_file_error(ctx, "read", path);
    }
    data[used] = '\0'; /* less than room */
    *text = data;
    *size = used;
    return KJIT_OK;
}

kjit_status kj_file_get(kjit_context *ctx, const char *path, char **text, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return kj_file_error(ctx, "read", path);
    kjit_status status = kj_file_get_from(ctx, fd, path, INT64_MAX, text, size);
    close(fd);
    return status;
}
