/* Ctrl-C: a signal in, a question answered out. A run asks between statements; where a kernel runs for
 * long nobody does, and a thread of its own ends the process, with what was printed so far and which kernel
 * that was. The same thread ends a run whose timeout the library could not keep. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

enum { PATIENCE = 1 }; /* seconds for the run to ask was_interrupted */

static volatile sig_atomic_t interrupted;
static sem_t pressed;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
    sem_post(&pressed);
}

static kjit_context *running_in;
static struct timespec late; /* when to end without a Ctrl-C; 0: never */

/* Says so only where that does not wait for a reader. */
static void end_with(const char *why, int code)
{
    char text[1200], kernel[1000];
    struct pollfd standard_error = {.fd = STDERR_FILENO, .events = POLLOUT};
    kjit_running(running_in, kernel, sizeof kernel);
    snprintf(text, sizeof text, "kjit: %s%s%s\n", why, *kernel ? " in " : "", kernel);
    if (poll(&standard_error, 1, 0) == 1 && write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(EXIT_PIPE);
    _exit(code);
}

static void end_now(int unused)
{
    (void)unused;
    end_with(interrupted ? "interrupted" : "the time has run out",
             interrupted ? EXIT_INTERRUPTED : EXIT_TIMEOUT);
}

static bool wait_for_press(void)
{
    int waited;
    do
        waited = late.tv_sec ? sem_clockwait(&pressed, CLOCK_MONOTONIC, &late) : sem_wait(&pressed);
    while (waited != 0 && errno == EINTR);
    return waited == 0;
}

static void *end_process(void *unused)
{
    (void)unused;
    if (wait_for_press())
        sleep(PATIENCE);
    alarm(PATIENCE); /* for where what was printed goes to a reader that does not read */
    if (ftrylockfile(stdout) == 0)
        fflush(stdout);
    end_now(0);
    return NULL;
}

static void set_late(double timeout)
{
    enum { SECOND = 1000000000 };
    if (timeout <= 0)
        return;
    clock_gettime(CLOCK_MONOTONIC, &late);
    double ns = (double)late.tv_nsec + timeout * 1e6;
    late.tv_sec += (time_t)(ns / SECOND) + PATIENCE;
    late.tv_nsec = (long)fmod(ns, SECOND);
}

void catch_interrupts(kjit_context *ctx, double timeout)
{
    pthread_t thread;
    struct sigaction old,
        once = {.sa_handler = on_interrupt, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    struct sigaction stuck = {.sa_handler = end_now};
    sigemptyset(&once.sa_mask);
    sigemptyset(&stuck.sa_mask);
    running_in = ctx;
    kjit_running(ctx, (char[1]){0}, 1); /* from now on it is noted */
    set_late(timeout);
    bool ignored = sigaction(SIGINT, NULL, &old) != 0 || old.sa_handler == SIG_IGN;
    if (ignored && timeout <= 0)
        return; /* a background job ignores it already */
    if (sem_init(&pressed, 0, 0) != 0 || pthread_create(&thread, NULL, end_process, NULL) != 0)
        return; /* Ctrl-C ends the process at once */
    pthread_detach(thread);
    sigaction(SIGALRM, &stuck, NULL);
    if (!ignored)
        sigaction(SIGINT, &once, NULL);
}

bool was_interrupted(void)
{
    return interrupted != 0;
}
