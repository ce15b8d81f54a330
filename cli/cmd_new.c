/* kjit new: a file to begin with. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static const char beginning[] =
    "# y = a * x + y, element by element: a thread an element.\n"
    "kernel saxpy(a: f32, x: f32[], y: f32[]) {\n"
    "    let i = grid(1)              # this thread's place among all of the launch\n"
    "    if i < x.size {              # the last block may have threads that no element is for\n"
    "        y[i] = a * x[i] + y[i]\n"
    "    }\n"
    "}\n"
    "\n"
    "run {\n"
    "    param n = 1000               # another one: kjit run FILE n=5000\n"
    "    let x = arange(n, f32)\n"
    "    let y = ones(n)\n"
    "    saxpy[ceil_div(n, 128), 128](2.0, x, y)    # [blocks, threads of a block]\n"
    "    assert_close(y, 2 * x + 1)\n"
    "    print(y[:8])\n"
    "}\n";

int command_new(const options *o)
{
    const char *name = o->arguments[0], *end = strrchr(name, '.');
    bool has_end = end && strcmp(end, ".knl") == 0;
    char *path;
    if (asprintf(&path, "%s%s", name, has_end ? "" : ".knl") < 0) {
        complain("out of memory");
        return EXIT_FAILED;
    }
    size_t size = strlen(beginning);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool written = file >= 0 && write(file, beginning, size) == (ssize_t)size;
    if (!written && errno == EEXIST)
        complain("'%s' is there already", path);
    else if (!written)
        complain("'%s' cannot be written: %s", path, strerror(errno));
    else
        printf("%s: try kjit run %s, and kjit watch %s while you change it\n", path, path, path);
    if (file >= 0)
        close(file);
    free(path);
    return written ? EXIT_OK : EXIT_FAILED;
}
