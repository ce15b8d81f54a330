/* kjit: the command's name in, its function's exit code out. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static const command commands[] = {
    {
        .name = "run",
        .arguments = "FILE [name=value ...]",
        .summary = "run a file's run block",
        .bit = IN_RUN,
        .min_files = 1,
        .max_files = -1,
        .run = command_run,
        .more =
            "FILE is a .knl file, or - for standard input. name=value sets a param of the run "
            "block:\n"
            "  n=5000  dt=0.1  fast=true  x=@data.npy  y=@data.npz:y  image=@photo.png\n"
            "  z=@volume.raw,dtype=f32,shape=64x64x64  seeds=1,2,3\n"
            "\n"
            "--sweep runs it for each value of a param, given as a list or a range; several are "
            "combined. A row\n"
            "has the values, what the run took without compiling and what of it its kernels "
            "took, and the\n"
            "last line that it printed. Rows that fail say so, the others come all the same.\n"
            "\n"
            "Examples:\n"
            "  kjit run heat.knl --sweep n=1e3..1e6:x10\n"
            "  kjit run vecadd.knl n=1000 --time\n"
            "  kjit run blur.knl image=@photo.png --save out=blurred.png\n",
    },
    {
        .name = "test",
        .arguments = "FILE|FOLDER...",
        .summary = "run the tests of files, or of all in folders",
        .bit = IN_TEST,
        .min_files = 1,
        .max_files = -1,
        .run = command_test,
        .more =
            "A test is a block beside the run block, with asserts:\n"
            "  test \"halves\" { ... }\n"
            "  test \"refuses none\" fails \"is empty\" { ... }   passes where it ends with an "
            "error "
            "that says so\n"
            "Each runs by itself. A line says how it went; of one that fails also where and why, "
            "and "
            "what it\n"
            "printed. The exit code is 0 where all pass, 1 where one does not, 3 where a file has "
            "errors.\n"
            "\n"
            "  kjit test sort.knl --filter=empty --device=cpu\n"
            "  kjit test *.knl --junit=results.xml\n",
    },
    {
        .name = "watch",
        .arguments = "FILE [name=value ...]",
        .summary = "run a file's run block, again whenever the file changes",
        .bit = IN_WATCH,
        .min_files = 1,
        .max_files = -1,
        .run = command_watch,
        .more =
            "It also runs again when another .knl file of the same folder changes; a run that is "
            "under way\nis ended for that. Ctrl-C ends the watching.\n",
    },
    {
        .name = "new",
        .arguments = "NAME",
        .summary = "write a file to begin with",
        .bit = IN_NEW,
        .min_files = 1,
        .max_files = 1,
        .run = command_new,
        .more =
            "NAME.knl has a kernel and a run block that launches it. A file that is there stays "
            "as it is.\n",
    },
    {
        .name = "profile",
        .arguments = "FILE [name=value ...]",
        .summary = "run a file's run block, and tell what took how long",
        .bit = IN_PROFILE,
        .min_files = 1,
        .max_files = -1,
        .run = command_profile,
        .more =
            "When it has ended a line for each kernel, direction of copies and compiled kernel, "
            "the\n"
            "costliest first, goes to standard error: how often it ran, milliseconds of all that\n"
            "together, of the shortest, the median and the longest. GB/s is of copies their "
            "bytes,\n"
            "of launches those of the arrays that they read and of those that they write, as if\n"
            "each element were taken once. A launch's grid and block stand where all had the "
            "same.\n",
    },
    {
        .name = "bench",
        .arguments = "FILE [name=value ...]",
        .summary = "measure what a file's run block and its kernels take",
        .bit = IN_BENCH,
        .min_files = 1,
        .max_files = -1,
        .run = command_bench,
        .more =
            "The run block is run twice, which doesn't count, and then again until the medians "
            "are known\n"
            "to 1 % or the time is over, eight times at least and 1000 at most; what it prints is "
            "not shown.\n"
            "A line for each kernel, direction of copies and the whole: the median of the "
            "milliseconds that\n"
            "a run's launches of it take together, and where the medians of as many other runs "
            "would be, 95\n"
            "of 100.\n"
            "\n"
            "A ratio is called slower or faster where it is so with 99 % confidence, by 2 % or "
            "more. Of\n"
            "--compare that holds as long as the machine is the same as before; with --against "
            "both run in\n"
            "turn. What takes less than 5 microseconds is not compared.\n"
            "\n"
            "--sweep measures each value of a param, for 2 seconds at most where --seconds does "
            "not "
            "say\n"
            "otherwise: a row has the median of a run, and the medians of what takes longest in "
            "it.\n"
            "\n"
            "  kjit bench heat.knl --sweep n=1e3..1e6:x10\n"
            "  kjit bench new.knl n=1e6 --against=old.knl\n"
            "  kjit bench heat.knl -o before.csv; kjit bench heat.knl --compare=before.csv\n",
    },
    {
        .name = "tune",
        .arguments = "FILE name=8,16,32 ...",
        .summary = "find the values of params that make a file's kernels fastest",
        .bit = IN_TUNE,
        .min_files = 1,
        .max_files = -1,
        .run = command_tune,
        .more =
            "A param is given several values, as a list or a range, and the run block is run with "
            "them:\n"
            "  tile=8,16,32    block=64..1024:x2    n=100..1000:+100    lanes=1..8 (:+1)\n"
            "What counts is the least that all kernels of a run take together, or --kernel; copies "
            "and the\n"
            "host do not. Of up to 32 combinations all are tried, of more one param after the "
            "other, from\n"
            "the middle, until none gets better. Each runs twice, the first time to be compiled; "
            "those that\n"
            "may be the fastest run again in turn. Combinations that fail are shown, and are none. "
            "--seconds\n"
            "is looked at between runs.\n"
            "\n"
            "  kjit tune samples/matmul.knl n=1000 tile=4,8,16,32\n",
    },
    {
        .name = "replay",
        .arguments = "CAPSULE",
        .summary = "make the launch of a capsule again",
        .bit = IN_REPLAY,
        .min_files = 1,
        .max_files = 1,
        .run = command_replay,
        .more = "A capsule is what kjit run --capsule=FILE writes of a launch that fails: source, "
                "arguments\n"
                "and arrays. It may be anybody's: it runs as of kjit run --untrusted, but with "
                "--trusted.\n"
                "Exit codes are those of kjit run: 0 where the launch does not fail here.\n"
                "\n"
                "Examples:\n"
                "  kjit run blur.knl image=@photo.png --capsule=blur.kjc\n"
                "  kjit replay blur.kjc --check=all\n",
    },
    {
        .name = "check",
        .arguments = "FILE|FOLDER...",
        .summary = "check files without running them",
        .bit = IN_CHECK,
        .min_files = 1,
        .max_files = -1,
        .run = command_check,
        .more =
            "Nothing is printed for a file without errors and warnings. A folder stands for all\n"
            ".knl in it and in its folders. - is standard input.\n",
    },
    {
        .name = "fmt",
        .arguments = "FILE|FOLDER...",
        .summary = "lay files out in the one style",
        .bit = IN_FMT,
        .min_files = 1,
        .max_files = -1,
        .run = command_fmt,
        .more =
            "Files are written where they change, and named; a folder stands for all .knl in it "
            "and\n"
            "in its folders, but for those that links lead to and hidden ones. - is standard\n"
            "input, its text is written on standard output. What has errors of syntax stays as it\n"
            "is.\n",
    },
    {
        .name = "build",
        .arguments = "FILE [name=value ...] --emit=FORM",
        .summary = "show what the compiler makes of a file",
        .bit = IN_BUILD,
        .min_files = 1,
        .max_files = -1,
        .run = command_build,
        .more =
            "name=value is what a const parameter stands as, TILE=16 say: else it is its "
            "default, or 1.\n"
            "\n"
            "With --arch llvm, opt and asm are a GPU's too. Without it ptx and cubin are\n"
            "for the GPU that is here, and where there is none for sm_80.\n"
            "\n"
            "For the form c the run block is run: what it launches is what there is code for.\n"
            "--cpu and --arch are lists for it, by default all levels of CPUs; name=value may be\n"
            "a param of it, too; -o NAME.c says which files are written, else it is the file's\n"
            "name.\n",
    },
    {
        .name = "info",
        .arguments = "FILE [name=value ...]",
        .summary = "show what kernels take of a GPU",
        .bit = IN_INFO,
        .min_files = 1,
        .max_files = -1,
        .run = command_info,
        .more =
            "A line a kernel: registers a thread, bytes spilled from registers (stores/loads),\n"
            "bytes of local memory a thread, of shared memory a block (arrays whose size is an\n"
            "argument's are not counted), of constants; how many blocks fit on a multiprocessor,\n"
            "and their part of the threads it can hold. name=value is what a const parameter "
            "stands as, TILE=16\n"
            "say: else it is its default, or 1.\n"
            "\n"
            "The GPU's driver says it, and where there is none ptxas, for sm_80 or --arch.\n"
            "\n"
            "With --json an object tells instead what the file declares: kernels with their "
            "parameters,\n"
            "requirements and attributes, records and fields, constants, params, tests, and its "
            "warnings.\n",
    },
    {
        .name = "explain",
        .arguments = "FILE [name=value ...]",
        .summary = "show line by line what a GPU makes of kernels",
        .bit = IN_EXPLAIN,
        .min_files = 1,
        .max_files = -1,
        .run = command_explain,
        .more =
            "Each kernel's text, and below a line what is known of it without running: how a "
            "warp's threads\n"
            "touch memory (coalesced, strided, gathered; bank conflicts of shared memory), which "
            "indices are\n"
            "proved to be inside, tested once a launch or on each run, and by what; branches and "
            "loops that\n"
            "diverge, atomics on one address, divisions of 64 bits; and what to write instead. Of "
            "what is not\n"
            "known there is no note. Registers, spills and occupancy are those of kjit info; a "
            "line says so\n"
            "where there is neither a GPU nor ptxas. Numbers are of a warp of the block, --block, "
            "whose threads\n"
            "all come there. name=value is what a const parameter stands as.\n"
            "\n"
            "  kjit explain samples/transpose.knl --kernel=transpose_naive --block=32,8\n",
    },
    {
        .name = "cache",
        .arguments = "list|clear|explain FILE",
        .summary = "show or remove compiled code that was kept",
        .bit = IN_CACHE,
        .min_files = 1,
        .max_files = 2,
        .run = command_cache,
        .more =
            "  list          every entry, the last used first\n"
            "  clear         remove all\n"
            "  explain FILE  the entries of the file's kernels: would a run now use them, and\n"
            "                if not, why\n"
            "\n"
            "The directory is --cache, else $KJIT_CACHE_DIR, else kjit in $XDG_CACHE_HOME, else\n"
            "~/.cache/kjit; 'off' is none. $KJIT_CACHE_SIZE limits it (512M).\n",
    },
    {
        .name = "devices",
        .arguments = "",
        .summary = "list the devices of this machine",
        .bit = IN_DEVICES,
        .run = command_devices,
    },
    {
        .name = "builtins",
        .arguments = "",
        .summary = "list the functions of kernels and run blocks",
        .bit = IN_BUILTINS,
        .run = command_builtins,
    },
    {
        .name = "doc",
        .arguments = "NAME...",
        .summary = "tell what a function, member or word does",
        .bit = IN_DOC,
        .min_files = 1,
        .max_files = -1,
        .run = command_doc,
        .more = "Built-in functions and members, words of the language, and the library: its files "
                "and their\n"
                "functions. Of a name in front of a dot what is behind it.\n\n"
                "  kjit doc clamp atomic .sum while std.sort sort.keys\n",
    },
    {
        .name = "lsp",
        .arguments = "",
        .summary = "serve an editor with what it shows of .knl files",
        .bit = IN_LSP,
        .run = command_lsp,
        .more = "A language server (LSP 3.17) over standard input and output, which editors start: "
                "messages\n"
                "and their fixes, layout, hover, definitions, references, renaming, completion. "
                "docs/editors.md\n"
                "has what Neovim, VS Code and Emacs need to be told.\n",
    },
    {
        .name = "env",
        .arguments = "",
        .summary = "tell what there is here, for reports of mistakes",
        .bit = IN_ENV,
        .run = command_env,
    },
    {
        .name = "completions",
        .arguments = "bash|zsh|fish",
        .summary = "print what a shell completes commands and options with",
        .bit = IN_COMPLETIONS,
        .min_files = 1,
        .max_files = 1,
        .run = command_completions,
        .more = "  source <(kjit completions bash)\n"
                "  kjit completions zsh > ~/.zfunc/_kjit\n"
                "  kjit completions fish > ~/.config/fish/completions/kjit.fish\n",
    },
};

enum { NCOMMANDS = sizeof commands / sizeof *commands };

static void print_exit_codes(void)
{
    puts("\nExit codes:\n"
         "  0    success\n"
         "  1    the program failed: an assertion, a fault, a file, a device\n"
         "  2    the command line is wrong\n"
         "  3    the source has errors\n"
         "  124  the time it was given has run out\n"
         "  130  interrupted by Ctrl-C");
}

static int help(void)
{
    puts("kjit compiles kernels written in .knl files and runs them.\n\nusage: kjit COMMAND "
         "[arguments] [options]\n");
    for (int i = 0; i < NCOMMANDS; i++)
        printf("  %-11s %-24s %s\n", commands[i].name, commands[i].arguments, commands[i].summary);
    puts("\n  kjit COMMAND --help tells more; kjit --version");
    print_exit_codes();
    return EXIT_OK;
}

static int command_help(const command *c, const options *o)
{
    printf("usage: kjit %s%s%s [options]\n\n%c%s.\n", c->name, *c->arguments ? " " : "",
           c->arguments, c->summary[0] - 'a' + 'A', c->summary + 1);
    if (c->bit & IN_BUILD)
        print_forms();
    if (c->more)
        printf("\n%s", c->more);
    print_options(c);
    if (c->bit & IN_RUNS && o->narguments > 0 && !o->text)
        print_params(o);
    print_exit_codes();
    return EXIT_OK;
}

static int unknown_command(const char *name)
{
    const char *names[NCOMMANDS];
    size_t n = strlen(name);
    for (int i = 0; i < NCOMMANDS; i++)
        names[i] = commands[i].name;
    const char *near = nearest(name, names, NCOMMANDS);
    if (n > 4 && strcmp(name + n - 4, ".knl") == 0)
        complain("there is no command '%s': did you mean 'kjit run %s'?", name, name);
    else if (near)
        complain("there is no command '%s': did you mean '%s'?", name, near);
    else
        complain("there is no command '%s'; 'kjit --help' lists them", name);
    return EXIT_USAGE;
}

static int dispatch(const command *c, int argc, char **argv, output *out)
{
    options o = {.output = out};
    int code = parse_options(c, argc, argv, &o);
    if (code == EXIT_OK && o.help) {
        code = command_help(c, &o);
    } else if (code == EXIT_OK && o.narguments < c->min_files) {
        const char *what = strncmp(c->arguments, "FILE", 4) == 0 ? "a FILE" : c->arguments;
        complain("%s needs %s; 'kjit %s --help' tells more", c->name, what, c->name);
        code = EXIT_USAGE;
    } else if (code == EXIT_OK && c->max_files >= 0 && o.narguments > c->max_files) {
        complain("'%s' is one argument too many", o.arguments[c->max_files]);
        code = EXIT_USAGE;
    } else if (code == EXIT_OK) {
        code = c->run(&o);
    }
    free_options(&o);
    return code;
}

static const command *find_command(const char *name)
{
    for (int i = 0; i < NCOMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    return NULL;
}

const command *command_at(int i)
{
    return i < NCOMMANDS ? &commands[i] : NULL;
}

static int run_command(int argc, char **argv, output *out)
{
    const char *name = argc > 1 ? argv[1] : "--help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        printf("kjit %s\n", kjit_version());
        return EXIT_OK;
    }
    if (strcmp(name, "-e") == 0) /* kjit run -e */
        return dispatch(find_command("run"), argc - 1, argv + 1, out);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        char *asked[] = {"--help"};
        if (argc < 3)
            return help();
        const command *about = find_command(argv[2]);
        return about ? dispatch(about, 1, asked, out) : unknown_command(argv[2]);
    }
    const command *c = find_command(name);
    return c ? dispatch(c, argc - 2, argv + 2, out) : unknown_command(name);
}

int main(int argc, char **argv)
{
    output out = {0};
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away is a failed write: see end_output */
    signal(SIGXFSZ, SIG_IGN); /* so is a file that may not grow: what is half-written is removed */
    if (!isatty(STDOUT_FILENO))
        setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    int code = run_command(argc, argv, &out);
    return end_output(&out, argc > 1 ? code : EXIT_USAGE);
}
