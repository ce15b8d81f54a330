/* Ctrl-C: a signal in, a question answered out. The one piece of state that a signal handler needs
 * is here. */
#include <signal.h>
#include <stddef.h>

#include "cli.h"

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

void catch_interrupts(void)
{
    struct sigaction old, new = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&new.sa_mask);
    if (sigaction(SIGINT, NULL, &old) == 0 &&
        old.sa_handler != SIG_IGN) /* a background job ignores it already */
        sigaction(SIGINT, &new, NULL);
}

bool was_interrupted(void)
{
    return interrupted != 0;
}
