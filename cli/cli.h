/* The kjit command: a table of commands (main.c), a table of options (options.c), a file a command.
 * All of it stands on kjit.h alone. Nothing here is freed twice or kept: a command frees what it
 * makes, and the process ends after it. */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <kjit.h>

/* What the process gives back; `kjit --help` documents them. */
enum {
    EXIT_OK = 0,
    EXIT_FAILED = 1, /* the program failed, or a file or device could not be used */
    EXIT_USAGE = 2,
    EXIT_SOURCE = 3, /* the source has errors */
    EXIT_INTERRUPTED = 130,
    EXIT_TIMEOUT = 124, /* as of timeout(1) */
    EXIT_PIPE = 141,    /* nobody reads our output: as if ended by SIGPIPE */
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

const command *command_at(int i); /* of all; NULL past the last */

enum {
    IN_RUN = 1,
    IN_CHECK = 2,
    IN_BUILD = 4,
    IN_INFO = 8,
    IN_DEVICES = 16,
    IN_BUILTINS = 32,
    IN_CACHE = 64,
    IN_FMT = 128,
    IN_DOC = 256,
    IN_ENV = 512,
    IN_COMPLETIONS = 1024,
    IN_PROFILE = 2048,
    IN_BENCH = 4096,
    IN_TUNE = 8192,
    IN_REPLAY = 16384,
    IN_LSP = 32768,
    IN_WATCH = 65536,
    IN_NEW = 131072,
    IN_TEST = 262144,
    IN_EXPLAIN = 524288,
    IN_ALL = 1048575,
    IN_TELLS = IN_INFO | IN_EXPLAIN, /* what a GPU makes of kernels */
    /* commands that run a file's run block, and show what it prints */
    IN_SHOWS = IN_RUN | IN_PROFILE | IN_WATCH,
    IN_MEASURES = IN_BENCH | IN_TUNE,
    IN_RUNS = IN_SHOWS | IN_MEASURES,
    IN_EXECUTES = IN_RUNS | IN_TEST,
    /* that show messages of sources */
    IN_SPEAKS = IN_EXECUTES | IN_REPLAY | IN_CHECK | IN_FMT | IN_BUILD | IN_TELLS | IN_CACHE,
};

/* ---- options.c ---- */

struct options {
    output *output;
    const char **arguments; /* what is no option, in order */
    int narguments;
    const char **saves;
    int nsaves;
    const char **sweeps; /* "n=1,2,4" */
    int nsweeps;
    char *text; /* the program itself, in the place of a file's name */
    const char *device, *emit, *kernel, *out, *arch, *cpu, *cache, *trace, *capsule;
    const char *filter;               /* of tests: what their titles hold; or NULL */
    const char *junit;                /* of tests: the file of what came of them; or NULL */
    const char *against, *compare;    /* another program, and times of an earlier bench */
    const char *cpu_list, *arch_list; /* of build --emit=c: set by it */
    int workers, opt_level;
    unsigned check;   /* KJIT_CHECK_... */
    double timeout;   /* milliseconds; 0: any time */
    double seconds;   /* for measuring; 0: what is usual */
    int64_t block[3]; /* all 0: not given */
    bool untrusted, trusted, time, digest, no_contract, ftz, libdevice, json, markdown, attributes,
        help, quiet;
    char *warn;        /* a list, or NULL */
    char *path;        /* folders, with colons between them; or NULL */
    bool check_format; /* tell what is not formatted, and leave it */
    bool describe;     /* info tells what the file declares, as JSON; explain tells as JSON */
    bool list;         /* tests are listed, not run */
    bool gpu;          /* the command is about a GPU's code: set by it */
    bool profile;      /* the run is one of kjit profile: likewise */
    bool runs;         /* the command is one of IN_RUNS: behind the file's name stand params */
};

/* Reads argv for a command into *out, whose output is set. EXIT_OK, or EXIT_USAGE after a message.
 * free_options in either case. */
int parse_options(const command *c, int argc, char **argv, options *out);
void free_options(options *o);
void print_options(const command *c);
/* The name of an option, and what it does (NULL: another name of the one before); NULL past the last. */
const char *option_at(int i, const char **help);
bool is_option_of(int i, const command *c);

/* ---- forms.c: those of build ---- */

enum { FORMS_TEXT = 192 }; /* bytes of list_forms */

/* A line each, and their names in a sentence. */
void print_forms(void);
const char *list_forms(char out[FORMS_TEXT]);
/* NULL after a complaint. */
const char *form_named(const char *name);

/* ---- emit_c.c ---- */

int emit_c(kjit_context *ctx, const options *o, kjit_module *mod);

/* ---- say.c: what is told to people ---- */

/* A character of a text as JSON strings have it: bytes that are no UTF-8 are U+FFFD. Returns how many bytes of the text it is. */
enum { JSON_CHAR = 8 /* bytes: \u001f and the zero */ };
size_t json_char(char out[JSON_CHAR], const char *text);
typedef enum colour_choice { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER } colour_choice;
/* --color: by itself on terminals, where NO_COLOR does not say otherwise. */
void choose_colour(colour_choice choice);
bool is_coloured(int file); /* what is written there, STDOUT_FILENO or STDERR_FILENO */
/* From now on complaints are objects of JSON, a line each, without a file. */
void complain_as_json(bool json);
/* Such a line for `text`, cut to fit; false: complaints are text. */
bool complaint_line(char *out, size_t size, const char *text);
/* "kjit: sentence" on standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Messages of the library, which name their place; coloured on a terminal. */
void show_messages(const char *text);
/* How a built-in function is called, in `out`, and what is left to be said of it; the largest error, in words. */
const char *call_text(const kjit_builtin_info *b, char *out, size_t size);
void accuracy(const kjit_builtin_info *b, char *out, size_t size);

/* The candidate nearest to name, or NULL. */
const char *nearest(const char *name, const char *const *candidates, size_t n);

void write_output(output *o, const char *text, size_t size);
/* Of what printf writes there: false when somebody cannot read it. */
bool flush_output(output *o);
/* Flushes, at the very end; returns `code`, or what a failed output makes of it, after a message
 * unless the reader went away. */
int end_output(output *o, int code);

/* ---- file.c ---- */

/* To a temporary file beside the target, which is then renamed: the target is whole or as it was, and has the mode that
 * it had. What exists and is no plain file (a device, a pipe, a link) is written as it is. False: errno says why. */
bool write_file(const char *path, const char *text, size_t size);
/* As far as that is certain before, without touching it: false, and errno says why not. */
bool can_write(const char *path);

/* ---- folder.c ---- */

bool is_folder(const char *path);
/* Calls step for a file, or for each .knl in a folder and in those below, until it returns false; links are not followed, and what
 * is hidden is left out. False after a complaint about a folder that cannot be read. */
typedef bool source_step(void *user, const char *path);
bool each_source(const char *path, source_step *step, void *user);

/* ---- source.c ---- */

enum { MOST_SOURCE = 64 << 20 }; /* bytes; the library says so of what is longer */

/* All of a file, with a NUL behind it, for free(), or of a longer one more than `most` bytes; NULL with errno. */
char *read_all(FILE *file, size_t most, size_t *size);
/* Does it begin an item of a file: "kernel", "test"? */
bool is_item_word(const char *word, size_t size);
/* The library's sentence for the last failure; returns the exit code. */
int library_failed(kjit_context *ctx, kjit_status status);
/* The architecture that a command about a GPU's code works for: --arch; without it NULL, the
 * context's, where that is a GPU, else sm_80. */
const char *gpu_arch(kjit_context *ctx, const options *o);

/* Says to people that the file has no kernel, where it has none, so that nothing will come: that is no mistake. */
void note_no_kernels(const options *o, kjit_module *mod);
/* A context, or NULL after a message. */
kjit_context *open_context(const options *o);
/* The time that the options give begins: EXIT_OK, or another code after a complaint. */
int start_clock(kjit_context *ctx, const options *o);
/* Loads and checks a file ("-" is standard input). Diagnostics are shown. EXIT_OK gives a module to
 * free. */
int open_module(kjit_context *ctx, const options *o, const char *path, kjit_module **out);
/* The arguments behind the file, name=value: what const parameters stand as in forms. EXIT_OK, or EXIT_USAGE after a
 * complaint. */
int assume_values(kjit_context *ctx, const options *o, kjit_module *mod);
int assume_value(kjit_context *ctx, kjit_module *mod, const char *text); /* one of them */
/* The exit code of several files, one of which came to `code`: the first that is no success, or that something failed. */
int worse_code(int before, int code);
/* What `step` gives for the first argument's module; its own exit code when there is none. */
typedef int module_step(kjit_context *ctx, const options *o, kjit_module *mod);
int with_module(const options *o, module_step *step);

/* ---- toolkit.c ---- */

/* What ptxas made of PTX, and all it said, verbosely. */
typedef struct assembly {
    char *code, *log;
    size_t size;
    bool absent; /* there is no ptxas */
} assembly;

/* EXIT_OK, or another code after a complaint. free_assembly in either case. */
int run_ptxas(const char *ptx, size_t size, const char *arch, assembly *out);
/* The same, but without one it is EXIT_OK and says nothing. */
int try_ptxas(const char *ptx, size_t size, const char *arch, assembly *out);
void complain_of_ptxas(const char *arch); /* that there is none */
void free_assembly(assembly *a);
/* The path of the toolkit's math library; NULL after a complaint. */
const char *find_libdevice(void);

/* ---- description.c ---- */

/* What the file of the first argument declares, as JSON. */
int describe_module(kjit_context *ctx, const options *o, kjit_module *mod);

/* ---- figures.c ---- */

/* What a kernel takes of a multiprocessor, by the driver where the GPU is, else by ptxas. */
typedef struct figures {
    kjit_kernel_info info;
    int stores, loads; /* bytes spilled */
    bool spills;       /* are they known? */
    bool occupied;     /* are blocks and occupancy known? */
    bool by_driver;
    bool absent; /* there is neither: nothing is known */
} figures;

/* EXIT_OK, also where nothing is known, or another code after a complaint. */
int find_figures(kjit_context *ctx, const options *o, kjit_module *mod, const char *kernel,
                 const int64_t block[3], figures *f);
/* Which indices of a kernel are looked at; likewise. */
typedef struct check_counts {
    int proved, by_launch, tested;
} check_counts;
int count_checks(kjit_context *ctx, kjit_module *mod, const char *kernel, const int64_t block[3],
                 check_counts *counts);
/* A block as the form of notes writes it, "16x16x1". */
void read_block(const char *text, int64_t block[3]);
/* The block that is asked for, else the one that the kernel requires, else the usual one; likewise. */
int block_of(kjit_context *ctx, const options *o, kjit_module *mod, const char *kernel,
             int64_t block[3]);

/* ---- occupancy.c ---- */

/* Fills blocks and occupancy for a block of that many threads, from registers and shared; false for
 * an architecture that is not known. */
bool occupancy(const char *arch, int64_t threads, kjit_kernel_info *info);
/* What lets no more blocks fit: "registers", say; NULL where that is not known. */
const char *occupancy_limit(const char *arch, int64_t threads, const kjit_kernel_info *info);

/* ---- trace.c ---- */

/* All that runs in the context until end_trace, in a file for chrome://tracing and Perfetto. NULL,
 * or false, after a complaint. */
typedef struct trace trace;
trace *begin_trace(kjit_context *ctx, const char *path);
bool end_trace(kjit_context *ctx, trace *t, const char *program);

/* ---- profile.c ---- */

/* All that runs in the context until end_profile, summed up on standard error. NULL, said why: without memory. */
typedef struct profile profile;
profile *begin_profile(kjit_context *ctx);
void end_profile(kjit_context *ctx, profile *p, const char *program);

/* ---- interrupt.c ---- */

/* The process ends when the time, in ms, is over; from catch_interrupts on a second later, for what the library
 * did not end. False: the system gives no thread. */
bool begin_timeout(kjit_context *ctx, double timeout);
/* The run begins. Ctrl-C asks it to stop; if it does not hear that it is ended a second later, and by a second
 * Ctrl-C at once. */
void catch_interrupts(kjit_context *ctx);
bool was_interrupted(void);

/* ---- crash.c ---- */

/* From now on a segmentation fault is told with what may be its cause. */
void explain_crashes(kjit_context *ctx, const options *o);

/* ---- cmd_run.c ---- */

/* What the process gives back for what a run came to. */
int exit_code_of(kjit_status status);

/* What the run block of the first argument, a file, takes; of one that cannot be read, why. */
void print_params(const options *o);
/* The text of a run's failure; and the exit code of its status. */
void show_run_failure(const options *o, const char *text);
/* What plot and show draw for. */
void look_at_terminal(kjit_run_options *run);
int run_code(kjit_module *mod, kjit_status status);

/* ---- lsp ---- */

/* Of the library that `kjit lsp` reads JSON with; NULL: it was built without. */
const char *lsp_version(void);

/* ---- cmd_doc.c ---- */

/* What `kjit doc` tells of a name. False: nothing is known of it. */
bool tell_name(FILE *to, const char *name);

/* ---- Commands ---- */

int command_run(const options *o);
int command_profile(const options *o);
int command_bench(const options *o);
int command_test(const options *o);
int command_watch(const options *o);
int command_new(const options *o);
int command_tune(const options *o);
int command_replay(const options *o);
int command_check(const options *o);
int command_fmt(const options *o);
int command_build(const options *o);
int command_info(const options *o);
int command_explain(const options *o);
int command_devices(const options *o);
int command_builtins(const options *o);
int command_doc(const options *o);
int command_lsp(const options *o);
int command_env(const options *o);
int command_completions(const options *o);
int command_cache(const options *o);

#endif
