/* kjit replay: the launch of a capsule, made again. What it prints goes to standard output. */
#include <string.h>

#include "cli.h"

static void write_text(void *user, const char *text, size_t size)
{
    write_output(user, text, size);
}

static int replay(kjit_context *ctx, const options *o)
{
    kjit_set_print(ctx, write_text, o->output);
    catch_interrupts(ctx);
    explain_crashes(ctx, o);
    kjit_status status = kjit_replay(ctx, o->arguments[0], o->check);
    const char *text = kjit_last_error(ctx);
    fflush(stdout);
    if (status == KJIT_OK)
        fprintf(stderr, "kjit: the launch of '%s' does not fail here\n", o->arguments[0]);
    else if (strstr(text, ": error: ")) /* it has its place */
        show_messages(text);
    else
        complain("%s", text);
    return exit_code_of(status);
}

int command_replay(const options *o)
{
    options own = *o;
    own.untrusted = !o->trusted;
    kjit_context *ctx = open_context(&own);
    if (!ctx)
        return EXIT_FAILED;
    int code = start_clock(ctx, &own);
    if (code == EXIT_OK)
        code = replay(ctx, &own);
    kjit_context_destroy(ctx);
    return code;
}
