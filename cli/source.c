/* From a file's name to a checked module. Diagnostics and complaints go to standard error on the
 * way. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define DEFAULT_ARCH "sm_80" /* the oldest that is in wide use */

/* Where no device is asked for, what only a CPU can look for is looked for there. */
static const char *device_for(const options *o)
{
    const unsigned of_cpu = KJIT_CHECK_RACE | KJIT_CHECK_INIT;
    return !o->device && o->check & of_cpu ? "cpu" : o->device;
}

kjit_context *open_context(const options *o)
{
    char error[512];
    kjit_context *ctx = NULL;
    kjit_context_options c = {.device = device_for(o),
                              .workers = o->workers,
                              .cache = o->cache,
                              .cancellable = o->timeout > 0,
                              .untrusted = o->untrusted};
    if (kjit_context_create(&c, &ctx, error, sizeof error) != KJIT_OK)
        complain("%s", error);
    return ctx;
}

char *read_all(FILE *file, size_t most, size_t *size)
{
    size_t room = 1 << 16, n = 0;
    char *text = malloc(room + 1);
    while (text && (n += fread(text + n, 1, room - n, file)) == room && n <= most) {
        char *more = realloc(text, (room *= 2) + 1);
        if (!more)
            free(text);
        text = more;
    }
    if (text && ferror(file)) {
        int error = errno;
        free(text);
        errno = error;
        return NULL;
    }
    if (text)
        text[n] = 0;
    *size = n;
    return text;
}

int library_failed(kjit_context *ctx, kjit_status status)
{
    const char *text = kjit_last_error(ctx);
    if (status == KJIT_COMPILE && strstr(text, ": error: ")) { /* it has its place */
        show_messages(text);
        return EXIT_SOURCE;
    }
    complain("%s", text);
    return status == KJIT_NOT_FOUND || status == KJIT_INVALID ? EXIT_USAGE : EXIT_FAILED;
}

const char *gpu_arch(kjit_context *ctx, const options *o)
{
    kjit_device_info device;
    bool here = kjit_context_device(ctx, &device) == KJIT_OK && strcmp(device.kind, "cpu") != 0;
    return o->arch || here ? o->arch : DEFAULT_ARCH;
}

void note_no_kernels(const options *o, kjit_module *mod)
{
    if (o->json || o->quiet || o->kernel || kjit_module_kernel(mod, 0))
        return; /* or what it asks for is not there, which the library tells */
    bool piped = !o->text && strcmp(o->arguments[0], "-") == 0;
    fprintf(stderr, "%s: note: there is no kernel in this file\n",
            piped ? "<stdin>" : o->arguments[0]);
}

static void show_log(const options *o, kjit_module *mod)
{
    if (o->json)
        fputs(kjit_module_log_json(mod), stderr);
    else
        show_messages(kjit_module_log(mod));
}

/* Is it standard input, or a text of the command line? */
static bool is_piped(const options *o, const char *path)
{
    return o->text || strcmp(path, "-") == 0;
}

bool is_item_word(const char *word, size_t size)
{
    kjit_word_info w;
    for (int i = 0; kjit_word(i, &w) && strcmp(w.group, "declaration") == 0; i++)
        if (strlen(w.name) == size && memcmp(w.name, word, size) == 0)
            return strncmp(w.form, word, size) == 0; /* not of `fails` */
    return false;
}

/* Of -e: does it begin as a file does, not as a statement? */
static bool is_file_text(const char *text)
{
    for (text += strspn(text, " \t\r\n"); *text == '#'; text += strspn(text, " \t\r\n"))
        text += strcspn(text, "\n");
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    if (n == strlen("test") && strncmp(text, "test", n) == 0) /* else a name: test = 3 */
        return text[n + strspn(text + n, " \t")] == '"';
    return *text == '@' || (is_item_word(text, n) && strchr(" \t\r\n{", text[n]));
}

/* The text of standard input, or of -e; NULL after a complaint. */
static char *read_text(const options *o, size_t *size)
{
    char *text = o->text ? strdup(o->text) : read_all(stdin, MOST_SOURCE, size);
    if (o->text && text)
        *size = strlen(text);
    if (!text && o->text)
        complain("out of memory");
    else if (!text)
        complain("standard input cannot be read: %s", strerror(errno));
    return text;
}

/* What the file's params are given, swept ones among them; NULL: nothing, or no memory. */
static const char **params_of(const options *o, int *n)
{
    *n = o->runs ? o->narguments - 1 + o->nsweeps : 0;
    const char **all = *n > 0 ? malloc((size_t)*n * sizeof *all) : NULL;
    for (int i = 0; all && i < *n; i++)
        all[i] = i + 1 < o->narguments ? o->arguments[i + 1] : o->sweeps[i + 1 - o->narguments];
    *n = all ? *n : 0;
    return all;
}

static kjit_status load(kjit_context *ctx, const options *o, const char *path,
                        const kjit_compile_options *c, kjit_module **out)
{
    if (!is_piped(o, path))
        return kjit_module_load(ctx, path, c, out);
    size_t size;
    char *text = read_text(o, &size);
    if (!text)
        return KJIT_IO;
    const char *more = getenv("KJIT_PATH");
    char *folders;
    if (asprintf(&folders, ".:%s:%s", o->path ? o->path : "", more ? more : "") < 0)
        folders = NULL;
    kjit_compile_options mine = *c;
    mine.path = folders;
    mine.statements = o->text && !is_file_text(o->text);
    kjit_status status =
        kjit_module_compile(ctx, o->text ? path : "<stdin>", text, size, &mine, out);
    free(folders);
    if (status != KJIT_OK && status != KJIT_COMPILE)
        complain("%s", kjit_last_error(ctx));
    free(text);
    return status;
}

int open_module(kjit_context *ctx, const options *o, const char *path, kjit_module **out)
{
    *out = NULL;
    const char *libdevice = o->libdevice ? find_libdevice() : NULL;
    if (o->libdevice && !libdevice)
        return EXIT_FAILED;
    int nparams;
    const char **params = params_of(o, &nparams);
    kjit_compile_options c = {.opt_level = o->opt_level,
                              .no_contract = o->no_contract,
                              .verify = o->emit || getenv("KJIT_VERIFY"),
                              .arch = o->gpu ? gpu_arch(ctx, o) : o->arch,
                              .libdevice = libdevice,
                              .ftz = o->ftz,
                              .cpu = o->cpu,
                              .warn = o->warn,
                              .check = o->check,
                              .path = o->path,
                              .params = params,
                              .nparams = nparams};
    kjit_status status = load(ctx, o, path, &c, out);
    free(params);
    bool wants_tree = o->emit && strcmp(o->emit, "ast") ==
                                     0; /* there is one before names and types are looked at */
    char *tree = NULL;
    if (status == KJIT_COMPILE && wants_tree &&
        kjit_module_emit(*out, "ast", NULL, NULL, &tree, NULL) == KJIT_OK) {
        free(tree);
        return EXIT_OK;
    }
    if (*out && !(o->describe && status == KJIT_OK)) /* else the description has them */
        show_log(o, *out);
    if (status == KJIT_OK)
        return EXIT_OK;
    if (status != KJIT_COMPILE && !is_piped(o, path))
        complain("%s", kjit_last_error(ctx));
    kjit_module_free(*out);
    *out = NULL;
    return status == KJIT_COMPILE ? EXIT_SOURCE : status == KJIT_INVALID ? EXIT_USAGE : EXIT_FAILED;
}

/* "16", "-1", "0x10", "1e6", "0.5", "true"; false: it is none of these. */
static bool read_number(const char *text, kjit_arg *out)
{
    char *end;
    const char *digits = text + (*text == '-' || *text == '+');
    int base = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') ? 16 : 10;
    errno = 0;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        *out = kjit_arg_bool(*text == 't');
        return true;
    }
    long long i = strtoll(text, &end, base);
    *out = kjit_arg_i64(i);
    if (end != text && !*end && !errno)
        return true;
    errno = 0;
    unsigned long long u = strtoull(text, &end, base);
    *out = kjit_arg_u64(u);
    if (end != text && !*end && !errno && *text != '-')
        return true;
    double f = strtod(text, &end);
    bool whole = f > -0x1p53 && f < 0x1p53 && f == (double)(int64_t)f && !strchr(text, '.');
    *out = whole ? kjit_arg_i64((int64_t)f) : kjit_arg_f64(f);
    return end != text && !*end && strspn(text, "+-.0123456789eE") == strlen(text);
}

int assume_value(kjit_context *ctx, kjit_module *mod, const char *text)
{
    const char *equals = strchr(text, '=');
    kjit_arg value;
    if (!equals || equals == text) {
        complain("'%s' is one argument too many: a const parameter is given as name=value", text);
        return EXIT_USAGE;
    }
    if (!read_number(equals + 1, &value)) {
        complain("'%s': a const parameter is a number, true or false", text);
        return EXIT_USAGE;
    }
    if (value.kind == KJIT_ARG_FLOAT && isinf(value.u.f)) {
        complain("'%s': the number is too large for f64", text);
        return EXIT_USAGE;
    }
    char *name = strndup(text, (size_t)(equals - text));
    bool ok = name && kjit_module_assume(mod, name, value) == KJIT_OK;
    if (!ok)
        complain("%s", name ? kjit_last_error(ctx) : "out of memory");
    free(name);
    return ok ? EXIT_OK : EXIT_USAGE;
}

int assume_values(kjit_context *ctx, const options *o, kjit_module *mod)
{
    int code = EXIT_OK;
    for (int i = 1; i < o->narguments && code == EXIT_OK; i++)
        code = assume_value(ctx, mod, o->arguments[i]);
    return code;
}

/* How long a run of anybody's file takes at most where no timeout is given: the library's default. */
enum {
#define LIMIT(name, untrusted, text) untrusted_##name = (untrusted),
    KJIT_LIMIT_MAP(LIMIT)
#undef LIMIT
};

/* It counts from before the source is read, which may take for ever. */
int start_clock(kjit_context *ctx, const options *o)
{
    double timeout = o->untrusted && o->timeout <= 0 ? untrusted_run_ms : o->timeout;
    if (timeout <= 0)
        return EXIT_OK;
    if (kjit_set_deadline(ctx, timeout) != KJIT_OK)
        return library_failed(ctx, KJIT_INVALID);
    if (begin_timeout(ctx, timeout))
        return EXIT_OK;
    complain("the system gives no more threads");
    return EXIT_FAILED;
}

int worse_code(int before, int code)
{
    return code == EXIT_FAILED || before == EXIT_OK ? code : before;
}

int with_module(const options *o, module_step *step)
{
    kjit_module *mod = NULL;
    kjit_context *ctx = open_context(o);
    if (!ctx)
        return EXIT_FAILED;
    int code = start_clock(ctx, o);
    if (code == EXIT_OK)
        code = open_module(ctx, o, o->arguments[0], &mod);
    if (code == EXIT_OK)
        code = step(ctx, o, mod);
    kjit_module_free(mod);
    kjit_context_destroy(ctx);
    return code;
}
