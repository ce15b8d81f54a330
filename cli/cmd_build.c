/* kjit build: a form of a file's kernels, on standard output or in a file. */
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

/* To a temporary file beside the target, which is then renamed: the target is whole or as it was.
 * What exists and is no plain file (a device, a pipe, a link) is written as it is. */
static bool write_file(const char *path, const char *text)
{
    struct stat st;
    bool plain = lstat(path, &st) != 0 || S_ISREG(st.st_mode);
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
    bool ok = write_all(fd, text, strlen(text)) && (!plain || fchmod(fd, 0666 & ~mask) == 0);
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

static int emit(kjit_context *ctx, const options *o, kjit_module *mod)
{
    char *text = NULL;
    kjit_status status =
        kjit_module_emit(mod, o->emit, o->kernel, o->block[0] ? o->block : NULL, &text, NULL);
    if (status != KJIT_OK) {
        complain("%s", kjit_last_error(ctx));
        return status == KJIT_NOT_FOUND || status == KJIT_INVALID ? EXIT_USAGE : EXIT_FAILED;
    }
    int code = EXIT_OK;
    if (!o->out || strcmp(o->out, "-") == 0) {
        write_output(o->output, text, strlen(text));
    } else if (!write_file(o->out, text)) {
        complain("'%s' cannot be written: %s", o->out, strerror(errno));
        code = EXIT_FAILED;
    }
    free(text);
    return code;
}

int command_build(const options *o)
{
    if (!o->emit) {
        complain("build needs --emit=ast, tast, llvm, llvm-opt or asm");
        return EXIT_USAGE;
    }
    return with_module(o, emit);
}
