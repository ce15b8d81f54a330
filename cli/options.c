/* Options: argv in, a struct of what was asked for out. One row an option; the rows are also the
 * help. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct option {
    const char *name;  /* "--device", or "-O" with the value right behind it */
    const char *value; /* how help shows it; NULL: the option takes none */
    unsigned commands;
    bool (*set)(options *o, const char *value); /* false after a complaint */
    const char *help;
} option;

/* ---- Values ---- */

static bool parse_int(const char *text, long long least, long long most, int64_t *out)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (end == text || *end || errno || v < least || v > most)
        return false;
    *out = v;
    return true;
}

/* Those that are kept as they are. */
#define KEPT(name) \
    static bool set_##name(options *o, const char *value) \
    { \
        o->name = value; \
        return true; \
    }
KEPT(trace)
KEPT(device)
KEPT(kernel)
KEPT(arch)
KEPT(cpu)
KEPT(cache)
KEPT(out)
KEPT(against)
KEPT(compare)
KEPT(capsule)
KEPT(filter)
KEPT(junit)
#undef KEPT

static bool set_save(options *o, const char *value)
{
    if (!strchr(value, '=')) {
        complain("--save takes name=file, not '%s'", value);
        return false;
    }
    o->saves[o->nsaves++] = value;
    return true;
}

static bool set_time(options *o, const char *value)
{
    (void)value;
    return o->time = true;
}

/* "10s", "500ms", "2m"; what is no number is none with any unit. */
static bool set_timeout(options *o, const char *value)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}};
    char *unit;
    o->timeout = 0;
    double n = strtod(value, &unit);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (unit != value && strcmp(unit, units[i].name) == 0 && n > 0 &&
            n * units[i].ms <= KJIT_MAX_MS)
            o->timeout = n * units[i].ms;
    if (o->timeout > 0)
        return true;
    complain("--timeout takes a time as 10s, 500ms or 2m, at most %dm: not '%s'",
             KJIT_MAX_MS / 60000, value);
    return false;
}

static bool set_untrusted(options *o, const char *value)
{
    (void)value;
    return o->untrusted = true;
}

static bool set_list(options *o, const char *value)
{
    (void)value;
    return o->list = true;
}

static bool set_sweep(options *o, const char *value)
{
    const char *equals = strchr(value, '=');
    if (!equals || equals == value) {
        complain("--sweep takes a param and its values, n=1e3..1e6:x10 or n=1,2,4: not '%s'",
                 value);
        return false;
    }
    o->sweeps[o->nsweeps++] = value;
    return true;
}

static bool set_digest(options *o, const char *value)
{
    (void)value;
    return o->digest = true;
}

static bool set_workers(options *o, const char *value)
{
    int64_t n;
    if (!parse_int(value, 1, 1024, &n)) {
        complain("--workers takes a number from 1 to 1024, not '%s'", value);
        return false;
    }
    o->workers = (int)n;
    return true;
}

static bool set_level(options *o, const char *value)
{
    int64_t n;
    if (!parse_int(value, 0, 3, &n)) {
        complain("there is no -O%s: -O0, -O1, -O2 and -O3", value);
        return false;
    }
    o->opt_level = n == 0 ? KJIT_UNOPTIMISED : (int)n;
    return true;
}

/* One of two words: the first is false. */
static bool choose(const char *name, const char *value, const char *no, const char *yes, bool *out)
{
    *out = strcmp(value, yes) == 0;
    if (*out || strcmp(value, no) == 0)
        return true;
    complain("%s is %s or %s, not '%s'", name, no, yes, value);
    return false;
}

static bool set_contract(options *o, const char *value)
{
    return choose("--fp-contract", value, "on", "off", &o->no_contract);
}

static bool set_ftz(options *o, const char *value)
{
    (void)value;
    return o->ftz = true;
}

static void unknown_check(const char *word)
{
    enum { MOST = 16 };
    const char *names[MOST];
    char list[256] = "";
    kjit_check_info row;
    int n = 0;
    for (; n < MOST && kjit_check(n, &row); n++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", n ? ", " : "", row.name);
        names[n] = row.name;
    }
    const char *near = nearest(word, names, (size_t)n);
    complain("there is no check '%s'%s%s%s: there are %s", word, near ? " (did you mean '" : "",
             near ? near : "", near ? "'?)" : "", list);
}

/* 0: there is no check of that name. */
static unsigned check_bit(const char *word, size_t n)
{
    char name[32];
    kjit_check_info row;
    snprintf(name, sizeof name, "%.*s", (int)n, word);
    for (int i = 0; kjit_check(i, &row); i++)
        if (strcmp(row.name, name) == 0)
            return row.bit;
    unknown_check(name);
    return 0;
}

static bool set_check(options *o, const char *value)
{
    for (const char *word = value; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
        unsigned bit = check_bit(word, strcspn(word, ","));
        if (!bit)
            return false;
        o->check |= bit;
    }
    return true;
}

static bool set_check_format(options *o, const char *value)
{
    (void)value;
    return o->check_format = true;
}

static bool set_math(options *o, const char *value)
{
    return choose("--math", value, "builtin", "libdevice", &o->libdevice);
}

static bool set_diagnostics(options *o, const char *value)
{
    bool known = choose("--diagnostics", value, "text", "json", &o->json);
    complain_as_json(o->json); /* of options, too */
    return known;
}

static bool set_color(options *o, const char *value)
{
    static const char *const words[] = {"auto", "always", "never"};
    (void)o;
    for (int i = 0; i < 3; i++)
        if (strcmp(value, words[i]) == 0) {
            choose_colour((colour_choice)i);
            return true;
        }
    complain("--color is auto, always or never, not '%s'", value);
    return false;
}

static bool set_quiet(options *o, const char *value)
{
    (void)value;
    return o->quiet = true;
}

/* All of them, one behind the other. */
static bool append(char **list, const char *between, const char *value)
{
    char *longer;
    if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? between : "", value) < 0) {
        complain("out of memory");
        return false;
    }
    free(*list);
    *list = longer;
    return true;
}

/* Several are lines of one text. */
static bool set_text(options *o, const char *value)
{
    return append(&o->text, "\n", value);
}

static bool set_warn(options *o, const char *value)
{
    if (!*value)
        complain("--warn takes off, all, error or names of warnings, not ''");
    return *value && append(&o->warn, ",", value);
}

static bool set_path(options *o, const char *value)
{
    return append(&o->path, ":", value);
}

static bool set_emit(options *o, const char *value)
{
    o->emit = form_named(value);
    return o->emit != NULL;
}

static bool set_block(options *o, const char *value)
{
    int64_t block[3] = {1, 1, 1};
    char text[64];
    int n = 0;
    snprintf(text, sizeof text, "%s", value);
    bool ok = strlen(value) < sizeof text;
    for (char *rest = text, *part; ok && (part = strsep(&rest, ",")); n++)
        ok = n < 3 && parse_int(part, 1, 1024, &block[n]);
    if (!ok) {
        complain("--block takes up to three numbers from 1 to 1024, as 16,16,1: not '%s'", value);
        return false;
    }
    memcpy(o->block, block, sizeof block);
    return true;
}

static bool set_seconds(options *o, const char *value)
{
    char *end;
    o->seconds = strtod(value, &end);
    if (end != value && !*end && o->seconds > 0 && o->seconds <= 3600)
        return true;
    complain("--seconds takes a number up to 3600, not '%s'", value);
    return false;
}

static bool set_trusted(options *o, const char *value)
{
    (void)value;
    return o->trusted = true;
}

static bool set_describe(options *o, const char *value)
{
    (void)value;
    return o->describe = true;
}

static bool set_markdown(options *o, const char *value)
{
    (void)value;
    return o->markdown = true;
}

static bool set_attributes(options *o, const char *value)
{
    (void)value;
    return o->attributes = true;
}

static bool set_stdio(options *o, const char *value)
{
    (void)o, (void)value;
    return true;
}

static bool set_help(options *o, const char *value)
{
    (void)value;
    return o->help = true;
}

static void list_checks(void)
{
    kjit_check_info row;
    for (int i = 0; kjit_check(i, &row); i++)
        printf("  %-26s %s: %s\n", "", row.name, row.what);
}

static const option table[] = {
    {"--filter", "TEXT", IN_TEST, set_filter, "tests with this in their title"},
    {"--list", NULL, IN_TEST, set_list, "show the titles, and run nothing"},
    {"--junit", "FILE", IN_TEST, set_junit,
     "write what came of each test there, as XML that CI services read"},
    {"-e", "TEXT", IN_RUNS, set_text,
     "run this text, not a FILE: a file's, or the statements of a run block; several are its "
     "lines"},
    {"--save", "NAME=FILE", IN_SHOWS, set_save,
     "save an array of the run block at its end (.npy, .csv, .png, .wav, .raw, ...; floats as a "
     "picture: x.png,low=0,high=9)"},
    {"--sweep", "NAME=VALUES", IN_RUN | IN_BENCH, set_sweep,
     "a run for each value of a param, as rows of a table: n=1e3..1e6:x10, n=0..8:+2, n=1,2,4"},
    {"--time", NULL, IN_RUN | IN_WATCH, set_time,
     "report each launch and copy (eight of what comes often, and the rest in one line)"},
    {"--timeout", "TIME", IN_RUNS | IN_REPLAY, set_timeout,
     "end the run after 10s, 500ms or 2m, wherever it is then"},
    {"--timeout", "TIME", IN_TEST, set_timeout, "a test that takes longer fails: 10s, 500ms or 2m"},
    {"--untrusted", NULL, IN_EXECUTES, set_untrusted,
     "the file may be anybody's: limits on memory, time, output and files"},
    {"--trace", "FILE", IN_RUN, set_trace,
     "write when all that ran did so, for chrome://tracing or Perfetto"},
    {"--capsule", "FILE", IN_RUN, set_capsule,
     "write a launch that fails there, with its arrays as they were before it: kjit replay"},
    {"--trusted", NULL, IN_REPLAY, set_trusted,
     "the capsule is one's own: no limits on memory and time, and @unchecked is heard"},
    {"--digest", NULL, IN_SHOWS, set_digest,
     "at the end a line for each array: name, type, shape, hash"},
    {"--device", "DEVICE", IN_EXECUTES | IN_REPLAY | IN_CACHE, set_device,
     "auto (the default: a GPU if there is one), cpu, cuda, cuda:1"},
    {"--workers", "N", IN_EXECUTES | IN_REPLAY, set_workers,
     "threads of the CPU device (default: one a core)"},
    {"--emit", "FORM", IN_BUILD, set_emit, "what to show: see above"},
    {"--kernel", "NAME", IN_BUILD | IN_TELLS | IN_TUNE, set_kernel, "this kernel only"},
    {"--block", "X,Y,Z", IN_BUILD | IN_TELLS, set_block,
     "the block the kernel is compiled for (default: what it requires, else 256)"},
    {"--arch", "sm_XY", IN_BUILD | IN_TELLS, set_arch,
     "compile for that GPU: sm_75, sm_80, sm_90 ..."},
    {"--cpu", "LEVEL", IN_EXECUTES | IN_BUILD | IN_CACHE, set_cpu,
     "code for a CPU is for x86-64-v2 to v4, armv8-a, armv8.1-a or native (the default)"},
    {"--against", "FILE", IN_BENCH, set_against,
     "another program, run in turn with the first: their times are compared"},
    {"--compare", "FILE", IN_BENCH, set_compare,
     "what -o of an earlier bench wrote: its times are compared"},
    {"--seconds", "N", IN_MEASURES, set_seconds,
     "measure for at most so long (bench 10, tune 60), however wide the spread still is"},
    {"-o", "FILE", IN_BENCH, set_out,
     "write the times there: milliseconds and what took them, a line a run"},
    {"-o", "FILE", IN_BUILD, set_out, "write there, not to standard output"},
    {"-O", "LEVEL", IN_EXECUTES | IN_BUILD | IN_TELLS | IN_CACHE, set_level,
     "optimisation: -O0, -O1, -O2, -O3 (the default)"},
    {"--fp-contract", "on|off", IN_EXECUTES | IN_BUILD | IN_TELLS | IN_CACHE, set_contract,
     "off: a*b + c rounds twice, not once"},
    {"--check", "LIST", IN_EXECUTES | IN_REPLAY | IN_BUILD | IN_TELLS | IN_CACHE, set_check,
     "what running kernels are checked for, by commas:"},
    {"--check", NULL, IN_FMT, set_check_format, "change nothing; fail where a file would change"},
    {"--ftz", NULL, IN_EXECUTES | IN_BUILD | IN_TELLS | IN_CACHE, set_ftz,
     "a GPU takes subnormal f32 for zeros, for speed"},
    {"--math", "builtin|libdevice", IN_EXECUTES | IN_BUILD | IN_TELLS | IN_CACHE, set_math,
     "libdevice: a GPU's functions are the CUDA toolkit's"},
    {"--diagnostics", "text|json", IN_EXECUTES | IN_CHECK | IN_BUILD | IN_TELLS, set_diagnostics,
     "how errors and warnings are shown; json: an object a line"},
    {"--color", "auto|always|never", IN_SPEAKS, set_color,
     "colours in messages and drawings; auto: on a terminal, unless NO_COLOR is set"},
    {"--quiet", NULL, IN_EXECUTES | IN_CHECK | IN_BUILD | IN_TELLS, set_quiet,
     "or -q: errors only, no warnings but those of --warn, no notes; of tests those that fail"},
    {"-q", NULL, IN_EXECUTES | IN_CHECK | IN_BUILD | IN_TELLS, set_quiet, NULL},
    {"--warn", "LIST", IN_EXECUTES | IN_CHECK | IN_LSP | IN_BUILD | IN_TELLS | IN_CACHE, set_warn,
     "or -W: off, error, or warnings by name: no-shadowed,no-unused-value"},
    {"-W", "LIST", IN_EXECUTES | IN_CHECK | IN_LSP | IN_BUILD | IN_TELLS | IN_CACHE, set_warn,
     NULL},
    {"--path", "DIR:DIR", IN_EXECUTES | IN_CHECK | IN_LSP | IN_BUILD | IN_TELLS | IN_CACHE,
     set_path, "or -I: folders where files that others use are looked for"},
    {"-I", "DIR", IN_EXECUTES | IN_CHECK | IN_LSP | IN_BUILD | IN_TELLS | IN_CACHE, set_path, NULL},
    {"--cache", "DIR|off", IN_EXECUTES | IN_REPLAY | IN_CACHE, set_cache,
     "where compiled code is kept (default: ~/.cache/kjit)"},
    {"--json", NULL, IN_INFO, set_describe,
     "an object of what the file declares: kernels, records, constants, params, tests, warnings"},
    {"--json", NULL, IN_EXPLAIN, set_describe, "the same as an object for programs"},
    {"--markdown", NULL, IN_BUILTINS, set_markdown, "as tables for a document"},
    {"--attributes", NULL, IN_DEVICES, set_attributes,
     "tell also what each of them has and can do"},
    {"--stdio", NULL, IN_LSP, set_stdio, "what the server does anyway: some editors say it"},
    {"--help", NULL, IN_ALL, set_help, "this"},
    {"-h", NULL, IN_ALL, set_help, NULL},
};

enum { NOPTIONS = sizeof table / sizeof *table };

const char *option_at(int i, const char **help)
{
    if (help && i < NOPTIONS)
        *help = table[i].help;
    return i < NOPTIONS ? table[i].name : NULL;
}

bool is_option_of(int i, const command *c)
{
    return (table[i].commands & c->bit) != 0;
}

void print_options(const command *c)
{
    puts("\nOptions:");
    for (int i = 0; i < NOPTIONS; i++) {
        const option *p = &table[i];
        if (!(p->commands & c->bit) || !p->help)
            continue;
        char shown[40];
        const char *join = !p->value || strcmp(p->name, "-O") == 0 ? ""
                           : p->name[1] == '-'                     ? "="
                                                                   : " ";
        snprintf(shown, sizeof shown, "%s%s%s", p->name, join, p->value ? p->value : "");
        printf("  %-26s %s\n", shown, p->help);
        if (p->set == set_check)
            list_checks();
    }
}

/* ---- argv ---- */

/* The row of an argument among those of the commands, and where its value stands in it (NULL: in the next argument). */
static const option *find(unsigned commands, const char *argument, const char **value)
{
    for (int i = 0; i < NOPTIONS; i++) {
        if (!(table[i].commands & commands))
            continue;
        size_t n = strlen(table[i].name);
        bool joins = strcmp(table[i].name, "-W") == 0 || strcmp(table[i].name, "-I") == 0;
        bool glued = strcmp(table[i].name, "-O") == 0 || (joins && argument[n]);
        *value = NULL;
        if (strncmp(argument, table[i].name, n) != 0)
            continue;
        if (argument[n] == 0 && !glued)
            return &table[i];
        if (glued || (argument[n] == '=' && table[i].name[1] == '-')) {
            *value = argument + n + !glued;
            return &table[i];
        }
    }
    return NULL;
}

static int unknown(const command *c, const char *argument)
{
    const char *names[NOPTIONS], *value;
    size_t n = 0, len = strcspn(argument, "=");
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)len, argument);
    for (int i = 0; i < NOPTIONS; i++) {
        if (table[i].commands & c->bit && strncmp(table[i].name, "--", 2) == 0)
            names[n++] = table[i].name + 2;
    }
    const char *near = nearest(name + strspn(name, "-"), names, n);
    if (strcmp(name, "--threads") == 0 && c->bit & IN_EXECUTES)
        complain("there is no option --threads: threads of the CPU device are --workers%s%s",
                 argument + len, argument[len] ? "" : "=N");
    else if (find(IN_ALL, argument, &value))
        complain("%s has no option %s; 'kjit %s --help' lists them", c->name, name, c->name);
    else if (strcmp(name, "-e") == 0 || strcmp(name, "-c") == 0)
        complain("there is no option %s: 'kjit %s -' reads a program from standard input", name,
                 c->name);
    else if (!near && argument[len] && c->bit & (IN_RUNS | IN_BUILD | IN_TELLS))
        complain("there is no option %s: a %s is written %s", name,
                 c->bit & IN_RUNS ? "param" : "const parameter", argument + strspn(argument, "-"));
    else if (near && len > 2)
        complain("there is no option %s: did you mean --%s?", name, near);
    else
        complain("there is no option %s; 'kjit %s --help' lists them", name, c->name);
    return EXIT_USAGE;
}

/* One option and its value; *i moves on past a value of its own. */
static int take(const command *c, int argc, char **argv, int *i, options *o)
{
    const char *value;
    const option *p = find(c->bit, argv[*i], &value);
    if (!p)
        return unknown(c, argv[*i]);
    if (!p->value && value) {
        complain("%s takes no value", p->name);
        return EXIT_USAGE;
    }
    if (p->value && !value) {
        if (*i + 1 == argc) {
            complain("%s needs a value: %s", p->name, p->value);
            return EXIT_USAGE;
        }
        value = argv[++*i];
    }
    return p->set(o, value) ? EXIT_OK : EXIT_USAGE;
}

int parse_options(const command *c, int argc, char **argv, options *o)
{
    *o = (options){.output = o->output, .runs = (c->bit & IN_RUNS) != 0};
    o->arguments = calloc((size_t)argc + 2, sizeof *o->arguments);
    o->saves = calloc((size_t)argc + 1, sizeof *o->saves);
    o->sweeps = calloc((size_t)argc + 1, sizeof *o->sweeps);
    if (!o->arguments || !o->saves || !o->sweeps) {
        complain("out of memory");
        return EXIT_FAILED;
    }
    bool only_arguments = false;
    for (int i = 0; i < argc; i++) {
        int code = EXIT_OK;
        if (only_arguments || argv[i][0] != '-' || argv[i][1] == 0)
            o->arguments[o->narguments++] = argv[i];
        else if (strcmp(argv[i], "--") == 0)
            only_arguments = true;
        else
            code = take(c, argc, argv, &i, o);
        if (code != EXIT_OK)
            return code;
    }
    if (o->quiet && !o->warn && !append(&o->warn, ",", "off"))
        return EXIT_FAILED;
    if (o->check & KJIT_CHECK_NONE && o->check & (KJIT_CHECK_BOUNDS | KJIT_CHECK_ALL)) {
        complain("--check=none leaves indices alone, and --check=%s looks at them: leave one out",
                 o->check & KJIT_CHECK_BOUNDS ? "bounds" : "all");
        return EXIT_USAGE;
    }
    if (o->untrusted && o->check & KJIT_CHECK_NONE) {
        complain("--check=none is not for --untrusted: there indices are always looked at");
        return EXIT_USAGE;
    }
    if (o->text) { /* where the file's name would stand */
        memmove(o->arguments + 1, o->arguments, (size_t)o->narguments * sizeof *o->arguments);
        o->arguments[0] = "<text>";
        o->narguments++;
    }
    return EXIT_OK;
}

void free_options(options *o)
{
    free(o->arguments);
    free(o->text);
    free(o->warn);
    free(o->path);
    free(o->saves);
    free(o->sweeps);
}
