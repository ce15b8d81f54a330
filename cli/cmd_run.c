/* kjit run, and kjit profile: a file's run block, with params from the command line. Its prints go to standard
 * output. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"
#include "sweep.h"

static void write_text(void *user, const char *text, size_t size)
{
    write_output(user, text, size);
}

/* --time: on standard error, in step with what is printed. */
static void write_report(void *user, const char *text, size_t size)
{
    (void)user;
    fflush(stdout);
    fwrite(text, 1, size, stderr);
}

static int stop_running(void *user)
{
    const output *o = user;
    return o->failed || was_interrupted();
}

int exit_code_of(kjit_status status)
{
    switch (status) {
    case KJIT_OK: return EXIT_OK;
    case KJIT_INVALID: /* the params or saves are not as the block has them */ return EXIT_USAGE;
    case KJIT_COMPILE: return EXIT_SOURCE;
    case KJIT_INTERRUPTED: return EXIT_INTERRUPTED;
    case KJIT_TIMEOUT: return EXIT_TIMEOUT;
    default: return EXIT_FAILED;
    }
}

int run_code(kjit_module *mod, kjit_status status)
{
    return kjit_module_has_run(mod) ? exit_code_of(status) : EXIT_USAGE;
}

void show_run_failure(const options *o, const char *text)
{
    fflush(stdout);
    if (o->json)
        fprintf(stderr, "%s\n", text);
    else
        show_messages(text);
}

/* Says whether there is one now. */
static void end_capsule(kjit_context *ctx, const options *o)
{
    int written;
    if (kjit_capsule_end(ctx, &written) != KJIT_OK)
        complain("there is no capsule of the launch that failed: %s", kjit_last_error(ctx));
    else if (written && !o->json && !o->quiet)
        fprintf(stderr, "kjit: the launch that failed is in '%s': kjit replay makes it again\n",
                o->capsule);
}

void look_at_terminal(kjit_run_options *run)
{
    struct winsize size;
    run->colours = is_coloured(STDOUT_FILENO);
    if (!isatty(STDOUT_FILENO))
        return;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        run->columns = size.ws_col;
}

static int run_module(kjit_context *ctx, const options *o, kjit_module *mod)
{
    kjit_run_options run = {
        .params = o->arguments + 1,
        .nparams = o->narguments - 1,
        .saves = o->saves,
        .nsaves = o->nsaves,
        .time = o->time,
        .digest = o->digest,
        .write = write_text,
        .report = write_report,
        .interrupted = stop_running,
        .user = o->output,
        .json = o->json,
    };
    look_at_terminal(&run);
    trace *traced = o->trace ? begin_trace(ctx, o->trace) : NULL;
    if (o->trace && !traced)
        return EXIT_FAILED;
    profile *profiled = o->profile ? begin_profile(ctx) : NULL;
    if (o->profile && !profiled)
        return EXIT_FAILED;
    if (o->capsule && kjit_capsule_begin(ctx, o->capsule) != KJIT_OK) {
        complain("%s", kjit_last_error(ctx));
        return EXIT_FAILED;
    }
    catch_interrupts(ctx);
    explain_crashes(ctx, o);
    kjit_status status = kjit_run(mod, &run);
    if (status == KJIT_OK)
        status = kjit_synchronize(ctx); /* a failed deallocation */
    if (profiled)
        end_profile(ctx, profiled, o->arguments[0]);
    bool written = !traced || end_trace(ctx, traced, o->arguments[0]);
    bool unread =
        status == KJIT_INTERRUPTED && o->output->failed; /* main has the last word on that */
    if (status != KJIT_OK && !unread)
        show_run_failure(o, kjit_last_error(ctx));
    if (o->capsule)
        end_capsule(ctx, o);
    if (status == KJIT_OK && !written)
        return EXIT_FAILED;
    return run_code(mod, status);
}

/* ---- The file's params, for --help ---- */

static void print_param(const kjit_param_info *p)
{
    printf("  %s", p->name);
    if (p->type)
        printf(": %s", p->type);
    fputs(p->value ? " = " : "   (required)", stdout);
    fputs(p->value ? p->value : "", stdout);
    printf(p->doc ? "   # %s\n" : "\n", p->doc);
}

/* Of a file that has none for its errors, or cannot be read, these are told. */
void print_params(const options *o)
{
    options plain = *o;
    kjit_context *ctx;
    kjit_module *mod;
    kjit_param_info p;
    plain.device = "cpu";
    plain.warn = "off";
    fflush(stdout);
    if (!(ctx = open_context(&plain)))
        return;
    if (open_module(ctx, &plain, o->arguments[0], &mod) != EXIT_OK)
        complain("the params of '%s' cannot be listed", o->arguments[0]);
    for (int i = 0; mod && kjit_module_param(mod, i, &p); i++) {
        if (i == 0)
            printf("\nParams of %s:\n", o->arguments[0]);
        print_param(&p);
    }
    kjit_module_free(mod);
    kjit_context_destroy(ctx);
}

/* ---- The run ---- */

/* What is made of one run, not of many. */
static const char *not_swept(const options *o)
{
    return o->nsaves > 0 ? "--save"
           : o->time     ? "--time"
           : o->digest   ? "--digest"
           : o->trace    ? "--trace"
           : o->capsule  ? "--capsule"
                         : NULL;
}

int command_run(const options *o)
{
    const char *other = o->nsweeps > 0 ? not_swept(o) : NULL;
    if (!other)
        return with_module(o, o->nsweeps > 0 ? sweep_runs : run_module);
    complain("--sweep and %s: leave one out", other);
    return EXIT_USAGE;
}

int command_profile(const options *o)
{
    options profiled = *o;
    profiled.profile = true;
    return with_module(&profiled, run_module);
}
