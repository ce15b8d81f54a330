/* A run that breaks memory: which kernel ran, and what may have done it, in a sentence, before the signal takes its course. Only
 * the command does that; the library leaves signals to its host. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static const char *advice;
static kjit_context *running_in;

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

static void tell(int signal)
{
    const char *what = signal == SIGABRT ? "kjit: the process's memory was found broken"
                                         : "kjit: memory was accessed that is not there";
    char kernel[1000];
    say(what);
    kjit_running(running_in, kernel, sizeof kernel);
    if (*kernel) {
        say(" in ");
        say(kernel);
    }
    say(advice);
    raise(signal); /* once more, by SA_RESETHAND: it ends as it would have */
}

void explain_crashes(kjit_context *ctx, const options *o)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT};
    running_in = ctx;
    advice = o->check & KJIT_CHECK_NONE
                 ? ": if a kernel has an index outside of an array, a run without --check=none "
                   "tells where\n"
             : o->untrusted
                 ? ", though indices were checked: this is a defect of kjit's, please report it\n"
                 : ": if there is @unchecked code, a run with --untrusted, which looks at its "
                   "indices too, "
                   "tells where; else this is a defect of kjit's, please report it\n";
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action = {.sa_handler = tell, .sa_flags = (int)SA_RESETHAND}, old;
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
    }
}
