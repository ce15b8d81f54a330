/* Ctrl-C: a signal in, a question answered out. A run asks between statements; where a kernel runs for
 * long nobody does, and a thread of its own ends the process, with what was printed so far. */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
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

/* Says so only where that does not wait for a reader. */
static void end_now(int unused)
{
    static const char text[] = "kjit: interrupted\n";
    struct pollfd standard_error = {.fd = STDERR_FILENO, .events = POLLOUT};
    (void)unused;
    if (poll(&standard_error, 1, 0) == 1 && write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(EXIT_PIPE);
    _exit(EXIT_INTERRUPTED);
}

static void *end_process(void *unused)
{
    (void)unused;
    while (sem_wait(&pressed) != 0) {
    }
    sleep(PATIENCE);
    alarm(PATIENCE); /* for where what was printed goes to a reader that does not read */
    if (ftrylockfile(stdout) == 0)
        fflush(stdout);
    end_now(0);
    return NULL;
}

void catch_interrupts(void)
{
    pthread_t thread;
    struct sigaction old,
        once = {.sa_handler = on_interrupt, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    struct sigaction late = {.sa_handler = end_now};
    sigemptyset(&once.sa_mask);
    sigemptyset(&late.sa_mask);
    if (sigaction(SIGINT, NULL, &old) != 0 || old.sa_handler == SIG_IGN)
        return; /* a background job ignores it already */
    if (sem_init(&pressed, 0, 0) != 0 || pthread_create(&thread, NULL, end_process, NULL) != 0)
        return; /* Ctrl-C ends the process at once */
    pthread_detach(thread);
    sigaction(SIGALRM, &late, NULL);
    sigaction(SIGINT, &once, NULL);
}

bool was_interrupted(void)
{
    return interrupted != 0;
}
