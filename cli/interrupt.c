/* Ctrl-C: a signal in, a question answered out. The one piece of state that a signal handler needs
 * is here. */
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "cli.h"

enum { PATIENCE = 1 }; /* seconds for the run to ask was_interrupted; in a launch nobody does */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
    alarm(PATIENCE);
}

static void on_alarm(int number)
{
    (void)number;
    static const char text[] = "kjit: interrupted\n";
    _exit(write(STDERR_FILENO, text, sizeof text - 1) < 0 ? EXIT_PIPE : EXIT_INTERRUPTED);
}

void catch_interrupts(void)
{
    struct sigaction old, once = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    struct sigaction late = {.sa_handler = on_alarm};
    sigemptyset(&once.sa_mask);
    sigemptyset(&late.sa_mask);
    if (sigaction(SIGINT, NULL, &old) != 0 || old.sa_handler == SIG_IGN)
        return; /* a background job ignores it already */
    sigaction(SIGALRM, &late, NULL);
    sigaction(SIGINT, &once, NULL);
}

bool was_interrupted(void)
{
    return interrupted != 0;
}
