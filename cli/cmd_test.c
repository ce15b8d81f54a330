/* kjit test: the tests of files, each run by itself. A line a test on standard output, what one that fails
 * printed, and how many passed; why one failed is on standard error. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "junit.h"
#include "samples.h"

/* What a test prints, of which nobody needs to see all where it goes on for ever. */
typedef struct printed {
    FILE *file; /* NULL: out of memory, or not begun */
    char *text;
    size_t size;           /* of both, once the file is closed */
    size_t kept, left_out; /* bytes */
    const output *out;
} printed;

enum { MOST_PRINTED = 1 << 20 };

typedef struct results {
    kjit_context *ctx;
    const options *o;
    bool named;     /* a title has its file's name in front */
    bool in_folder; /* where nobody said that each file has tests */
    int passed, failed, chosen, found;
    int code;   /* of files that cannot be read or have errors */
    junit *xml; /* or NULL */
    bool stopped;
} results;

static void keep_text(void *user, const char *text, size_t size)
{
    printed *p = user;
    size_t most = p->left_out > 0 ? 0 : MOST_PRINTED - p->kept, kept = size < most ? size : most;
    while (kept < size && kept > 0 && ((unsigned char)text[kept] & 0xc0) == 0x80)
        kept--; /* characters are whole */
    kept = p->file ? fwrite(text, 1, kept, p->file) : 0;
    p->kept += kept;
    p->left_out += size - kept;
}

static int stop_running(void *user)
{
    const printed *p = user;
    return p->out->failed || was_interrupted();
}

static kjit_status run_one(kjit_context *ctx, const options *o, kjit_module *mod, const char *title,
                           printed *p)
{
    kjit_run_options run = {
        .test = title, .write = keep_text, .interrupted = stop_running, .user = p, .json = o->json};
    look_at_terminal(&run);
    if (o->timeout > 0 && kjit_set_deadline(ctx, o->timeout) != KJIT_OK)
        return KJIT_INVALID;
    kjit_status status = kjit_run(mod, &run);
    return status == KJIT_OK ? kjit_synchronize(ctx) : status; /* a failed deallocation */
}

static void show(const options *o, const char *text)
{
    write_output(o->output, text, strlen(text));
}

static void show_title(const results *r, const char *file, const char *title)
{
    if (r->named) {
        show(r->o, file);
        show(r->o, ": ");
    }
    show(r->o, title);
}

/* Whole lines, so that the next verdict begins one. */
static void show_printed(const options *o, const printed *p)
{
    char rest[64];
    write_output(o->output, p->text, p->size);
    if (p->size > 0 && p->text[p->size - 1] != '\n')
        show(o, "\n");
    snprintf(rest, sizeof rest, "[%zu more bytes]\n", p->left_out);
    show(o, p->left_out > 0 ? rest : "");
}

/* "ok      sort.knl: keeps equal ones in order  (1.3 ms)" */
static void show_result(const results *r, const char *file, const char *title, bool passed,
                        double ms)
{
    const options *o = r->o;
    char end[48];
    snprintf(end, sizeof end, "  (%.1f ms)\n", ms);
    bool coloured = is_coloured(STDOUT_FILENO);
    show(o, !coloured ? "" : passed ? "\033[32m" : "\033[1;31m");
    show(o, passed ? "ok      " : "FAILED  ");
    show(o, coloured ? "\033[0m" : "");
    show_title(r, file, title);
    show(o, end);
}

static void run_test(results *r, kjit_module *mod, const char *file, const kjit_test_info *test)
{
    const options *o = r->o;
    printed p = {.out = o->output};
    p.file = open_memstream(&p.text, &p.size);
    double begin = now_ms();
    kjit_status status = run_one(r->ctx, o, mod, test->title, &p);
    double ms = now_ms() - begin;
    if (p.file)
        fclose(p.file);
    r->stopped = status == KJIT_INTERRUPTED;
    if (!r->stopped && !(o->quiet && status == KJIT_OK))
        show_result(r, file, test->title, status == KJIT_OK, ms);
    if (!r->stopped && r->xml)
        add_case(r->xml, test->title, test->line, ms,
                 status == KJIT_OK ? NULL : kjit_last_error(r->ctx), p.text ? p.text : "");
    r->passed += status == KJIT_OK;
    r->failed += status != KJIT_OK && !r->stopped;
    if (status != KJIT_OK && !o->output->failed) {
        show_printed(o, &p);
        show_run_failure(o, kjit_last_error(r->ctx));
    }
    free(p.text);
}

static void note_none(const results *r, const char *where)
{
    if (!r->o->json && !r->o->quiet)
        fprintf(stderr, "%s: note: there is no test in this %s\n",
                strcmp(where, "-") == 0 ? "<stdin>" : where, is_folder(where) ? "folder" : "file");
}

/* All that the options choose. */
static void take_tests(results *r, kjit_module *mod, const char *file)
{
    kjit_test_info test;
    int n = 0;
    for (; !r->stopped && kjit_module_test(mod, n, &test); n++) {
        if (r->o->filter && !strstr(test.title, r->o->filter))
            continue;
        r->chosen++;
        if (!r->o->list) {
            run_test(r, mod, file, &test);
            continue;
        }
        show_title(r, file, test.title);
        show(r->o, "\n");
    }
    r->found += n;
    if (n == 0 && !r->in_folder)
        note_none(r, file);
}

static bool test_file(void *user, const char *file)
{
    results *r = user;
    kjit_module *mod;
    if (r->xml)
        begin_suite(r->xml, file);
    int code = open_module(r->ctx, r->o, file, &mod);
    if (r->xml && code != EXIT_OK)
        add_error(r->xml, kjit_last_error(r->ctx));
    if (code == EXIT_OK)
        take_tests(r, mod, file);
    r->code = worse_code(r->code, code);
    if (r->xml)
        end_suite(r->xml);
    kjit_module_free(mod);
    return !r->stopped;
}

static void test_files(results *r)
{
    for (int i = 0; i < r->o->narguments && !r->stopped; i++) {
        const char *path = r->o->arguments[i];
        int found = r->found;
        r->in_folder = is_folder(path);
        r->named = r->o->narguments > 1 || r->in_folder;
        if (!each_source(path, test_file, r))
            r->code = EXIT_FAILED;
        if (r->in_folder && r->found == found && !r->stopped)
            note_none(r, path);
    }
}

static int end_tests(const options *o, const results *r)
{
    char line[64];
    if (r->stopped)
        return EXIT_INTERRUPTED;
    if (o->filter && r->chosen == 0 && r->code == EXIT_OK) {
        complain("no test has '%s' in its title", o->filter);
        return EXIT_USAGE;
    }
    snprintf(line, sizeof line, "%d passed, %d failed\n", r->passed, r->failed);
    if (!o->list)
        show(o, line);
    return r->code != EXIT_OK ? r->code : r->failed > 0 ? EXIT_FAILED : EXIT_OK;
}

/* Before minutes are spent: can it be written? */
static bool begin_xml(const options *o, results *r)
{
    if (!o->junit || o->list)
        return true;
    if (!can_write(o->junit)) {
        complain("'%s' cannot be written: %s", o->junit, strerror(errno));
        return false;
    }
    r->xml = begin_junit();
    if (!r->xml)
        complain("out of memory");
    return r->xml != NULL;
}

static bool end_xml(const options *o, const results *r)
{
    if (!r->xml || end_junit(r->xml, o->junit))
        return true;
    complain("'%s' cannot be written: %s", o->junit, strerror(errno));
    return false;
}

int command_test(const options *o)
{
    results r = {.o = o, .code = EXIT_OK};
    options listing = *o;
    if (o->list)
        listing.device = "cpu"; /* nothing runs: none is looked for */
    r.ctx = open_context(&listing);
    if (!r.ctx)
        return EXIT_FAILED;
    catch_interrupts(r.ctx);
    explain_crashes(r.ctx, o);
    bool begun = begin_xml(o, &r);
    if (begun)
        test_files(&r);
    bool written = begun && end_xml(o, &r);
    kjit_context_destroy(r.ctx);
    int code = begun ? end_tests(o, &r) : EXIT_FAILED;
    return code == EXIT_OK && !written ? EXIT_FAILED : code;
}
