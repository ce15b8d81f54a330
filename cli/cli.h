/* The kjit command: a table of commands (main.c), a table of options (options.c), a file a command.
 * All of it stands on kjit.h alone. Nothing here is freed twice or kept: a command frees what it
 * makes, and the process ends after it. */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>

#include <kjit.h>

/* What the process gives back; `kjit --help` documents them. */
enum {
    EXIT_OK = 0,
    EXIT_FAILED = 1, /* the program failed, or a file or device could not be used */
    EXIT_USAGE = 2,
    EXIT_SOURCE = 3, /* the source has errors */
    EXIT_INTERRUPTED = 130,
    EXIT_PIPE = 141, /* nobody reads our output: as if ended by SIGPIPE */
};

typedef struct options options;

/* Standard output, watched: after a failure nothing more is written. */
typedef struct output {
    bool failed;
    int error; /* errno of the failure */
} output;

/* ---- main.c ---- */

typedef struct command {
    const char *name, *arguments, *summary;
    unsigned bit;             /* which options are its own */
    int min_files, max_files; /* arguments; a negative maximum: any number */
    int (*run)(const options *o);
    const char *more; /* paragraphs for its --help, or NULL */
} command;

enum { IN_RUN = 1, IN_CHECK = 2, IN_BUILD = 4, IN_DEVICES = 8, IN_BUILTINS = 16, IN_ALL = 31 };

/* ---- options.c ---- */

struct options {
    output *output;
    const char **arguments; /* what is no option, in order */
    int narguments;
    const char **saves;
    int nsaves;
    const char *device, *emit, *kernel, *out, *arch;
    int workers, opt_level;
    int64_t block[3]; /* all 0: not given */
    bool time, digest, no_contract, json, markdown, help;
};

/* Reads argv for a command into *out, whose output is set. EXIT_OK, or EXIT_USAGE after a message.
 * free_options in either case. */
int parse_options(const command *c, int argc, char **argv, options *out);
void free_options(options *o);
void print_options(const command *c);

/* ---- say.c: what is told to people ---- */

/* "kjit: sentence" on standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Messages of the library, which name their place; coloured on a terminal. */
void show_messages(const char *text);
/* The candidate nearest to name, or NULL. */
const char *nearest(const char *name, const char *const *candidates, size_t n);

void write_output(output *o, const char *text, size_t size);
/* Flushes, at the very end; gives `code`, or what a failed output makes of it, after a message
 * unless the reader went away. */
int end_output(output *o, int code);

/* ---- source.c ---- */

/* A context, or NULL after a message. */
kjit_context *open_context(const options *o);
/* Loads and checks a file ("-" is standard input). Diagnostics are shown. EXIT_OK gives a module to
 * free. */
int open_module(kjit_context *ctx, const options *o, const char *path, kjit_module **out);
/* What `step` gives for the first argument's module; its own exit code when there is none. */
typedef int module_step(kjit_context *ctx, const options *o, kjit_module *mod);
int with_module(const options *o, module_step *step);

/* ---- interrupt.c ---- */

/* Ctrl-C asks the run to stop; a run that does not hear it is ended a second later, and by a second
 * Ctrl-C at once. */
void catch_interrupts(void);
bool was_interrupted(void);

/* ---- Commands ---- */

int command_run(const options *o);
int command_check(const options *o);
int command_build(const options *o);
int command_devices(const options *o);
int command_builtins(const options *o);

#endif
