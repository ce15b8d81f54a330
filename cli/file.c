/* Files that commands write (--out, --junit, fmt). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static bool write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        text += n;
        size -= (size_t)n;
    }
    return true;
}

bool can_write(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct stat st;
    if (stat(path, &st) == 0)
        return access(path, W_OK) == 0;
    char *folder = strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
    bool may = folder && access(*folder ? folder : ".", W_OK) == 0;
    int error = errno;
    free(folder);
    errno = error;
    return may;
}

bool write_file(const char *path, const char *text, size_t size)
{
    struct stat st;
    bool exists = lstat(path, &st) == 0, plain = !exists || S_ISREG(st.st_mode);
    char temporary[4096];
    if (snprintf(temporary, sizeof temporary, "%s.XXXXXX", path) >= (int)sizeof temporary) {
        errno = ENAMETOOLONG;
        return false;
    }
    int fd = plain ? mkstemp(temporary) : open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd < 0)
        return false;
    mode_t mask = umask(0);
    umask(mask);
    mode_t mode = exists ? st.st_mode & 07777 : 0666 & ~mask;
    bool ok = write_all(fd, text, size) && (!plain || fchmod(fd, mode) == 0);
    ok = close(fd) == 0 && ok;
    if (!plain)
        return ok;
    ok = ok && rename(temporary, path) == 0;
    if (!ok) {
        int error = errno;
        unlink(temporary);
        errno = error;
    }
    return ok;
}
