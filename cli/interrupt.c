/* Ctrl-C: a signal in, a question answered out. A run asks between statements; where a kernel runs for
 * long nobody does, and a thread of its own ends the process, with what was printed so far and which kernel
 * that was. The same thread ends a run whose time is over: at once while its source is being read, later on
 * where the library could not. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
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
static atomic_bool begun; /* it runs, and the library looks at the time */
static struct timespec due,
    late; /* when to end without a Ctrl-C: until then, and from then on; 0: never */

/* Says so only where that does not wait for a reader. */
static void end_with(const char *why, int code)
{
    char text[2400], plain[1200], kernel[1000];
    struct pollfd standard_error = {.fd = STDERR_FILENO, .events = POLLOUT};
    kjit_running(running_in, kernel, sizeof kernel);
    snprintf(plain, sizeof plain, "%s%s%s", why, *kernel ? " in " : "", kernel);
    if (!complaint_line(text, sizeof text, plain))
        snprintf(text, sizeof text, "kjit: %s\n", plain);
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

static bool wait_for_press(const struct timespec *until)
{
    int waited;
    do
        waited =
            until->tv_sec ? sem_clockwait(&pressed, CLOCK_MONOTONIC, until) : sem_wait(&pressed);
    while (waited != 0 && errno == EINTR);
    return waited == 0;
}

static void *end_process(void *unused)
{
    (void)unused;
    if (wait_for_press(&due) || (atomic_load(&begun) && wait_for_press(&late)))
        sleep(PATIENCE);
    alarm(PATIENCE); /* for where what was printed goes to a reader that does not read */
    if (ftrylockfile(stdout) == 0)
        fflush(stdout);
    end_now(0);
    return NULL;
}

static bool start_thread(void)
{
    pthread_t thread;
    struct sigaction stuck = {.sa_handler = end_now};
    sigemptyset(&stuck.sa_mask);
    sigaction(SIGALRM, &stuck, NULL);
    if (sem_init(&pressed, 0, 0) != 0 || pthread_create(&thread, NULL, end_process, NULL) != 0)
        return false;
    pthread_detach(thread);
    return true;
}

bool begin_timeout(kjit_context *ctx, double timeout)
{
    enum { SECOND = 1000000000 };
    running_in = ctx;
    clock_gettime(CLOCK_MONOTONIC, &due);
    double ns = (double)due.tv_nsec + timeout * 1e6;
    due.tv_sec += (time_t)(ns / SECOND);
    due.tv_nsec = (long)fmod(ns, SECOND);
    late = due;
    late.tv_sec += PATIENCE;
    return start_thread();
}

void catch_interrupts(kjit_context *ctx)
{
    struct sigaction old,
        once = {.sa_handler = on_interrupt, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    sigemptyset(&once.sa_mask);
    running_in = ctx;
    kjit_running(ctx, NULL, 0); /* from now on it is noted, for crashes too */
    atomic_store(&begun, true);
    if (sigaction(SIGINT, NULL, &old) != 0 || old.sa_handler == SIG_IGN)
        return;                       /* a background job ignores it already */
    if (due.tv_sec || start_thread()) /* else Ctrl-C ends the process at once */
        sigaction(SIGINT, &once, NULL);
}

bool was_interrupted(void)
{
    return interrupted != 0;
}
