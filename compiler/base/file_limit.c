/* The signal SIGXFSZ comes to the thread that writes: it is blocked meanwhile, and taken back before that ends,
 * so that the host's handler, or the process's end, is for its own files. */
#include "base/file_limit.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

typedef struct quiet {
    sigset_t before, signal;
    bool pending; /* the host's own, which waits */
} quiet;

static void begin(quiet *q)
{
    sigset_t waiting;
    sigemptyset(&q->signal);
    sigaddset(&q->signal, SIGXFSZ);
    sigpending(&waiting);
    q->pending = sigismember(&waiting, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &q->signal, &q->before);
}

static void end(const quiet *q)
{
    int error = errno;
    while (!q->pending && sigtimedwait(&q->signal, NULL, &(struct timespec){0}) < 0 &&
           errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, &q->before, NULL);
    errno = error;
}

bool kj_write_all(int fd, const void *data, size_t size)
{
    const size_t most = (size_t)1 << 30;
    const char *at = data;
    bool done = true;
    quiet q;
    begin(&q);
    while (size > 0 && done) {
        ssize_t n = write(fd, at, size < most ? size : most);
        done = n >= 0 || errno == EINTR;
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    end(&q);
    return done;
}

int kj_set_file_size(int fd, off_t size)
{
    quiet q;
    begin(&q);
    int result = ftruncate(fd, size);
    end(&q);
    return result;
}
