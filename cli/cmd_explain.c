/* kjit explain: a kernel's lines, and below each what becomes of it on a GPU: the library's notes (--emit=notes) and the figures
 * of kjit info, as a listing or JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json.h"

/* ---- The library's notes ---- */

typedef struct line {
    const char *file, *number, *text;
} line;

typedef struct note {
    const char *file, *line, *column, *kind, *subject, *text, *hint;
    bool shown;
} note;

/* Of one kernel. The texts are those of the form. */
typedef struct notes {
    char *form;
    const char *kernel, *block, *file; /* block: "256x1x1" */
    long first, last;                  /* lines of the kernel */
    line *lines;
    note *notes;
    int nlines, nnotes;
} notes;

/* The next text up to a tab; the rest. */
static const char *field(char **rest)
{
    const char *text = strsep(rest, "\t");
    return text ? text : "";
}

static void read_note(notes *n, char *rest)
{
    note *out = &n->notes[n->nnotes++];
    const char **fields[] = {&out->file,    &out->line, &out->column, &out->kind,
                             &out->subject, &out->text, &out->hint};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        *fields[i] = field(&rest);
}

static void read_line(notes *n, char *rest)
{
    line *out = &n->lines[n->nlines++];
    out->file = field(&rest);
    out->number = field(&rest);
    out->text = rest ? rest : "";
}

/* Of the first kernel; those that it launches stand behind it. False: out of memory. */
static bool read_form(notes *n)
{
    size_t most = 1;
    for (const char *p = n->form; *p; p++)
        most += *p == '\n';
    n->lines = calloc(most, sizeof *n->lines);
    n->notes = calloc(most, sizeof *n->notes);
    if (!n->lines || !n->notes) {
        complain("out of memory");
        return false;
    }
    for (char *rest = n->form, *text; (text = strsep(&rest, "\n"));) {
        const char *kind = field(&text);
        if (strcmp(kind, "kernel") == 0 && n->kernel)
            break;
        if (strcmp(kind, "kernel") == 0) {
            n->kernel = field(&text);
            n->block = field(&text);
            n->file = field(&text);
            n->first = atol(field(&text));
            n->last = atol(field(&text));
        } else if (strcmp(kind, "note") == 0) {
            read_note(n, text);
        } else if (strcmp(kind, "line") == 0) {
            read_line(n, text);
        }
    }
    return true;
}

static void free_notes(notes *n)
{
    free(n->form);
    free(n->lines);
    free(n->notes);
}

/* ---- As a listing ---- */

enum { MARGIN = 7 };

static bool is_at(const note *n, const line *l)
{
    return strcmp(n->line, l->number) == 0 && strcmp(n->file, l->file) == 0;
}

static bool says_the_same(const note *a, const note *b)
{
    return strcmp(a->kind, b->kind) == 0 && strcmp(a->text, b->text) == 0 &&
           strcmp(a->hint, b->hint) == 0;
}

/* The subjects of notes of the line that say the same: each once, with how often it does. */
static void put_subjects(notes *n, int first, const line *l)
{
    bool any = false;
    for (int i = first; i < n->nnotes; i++) {
        int times = 0;
        if (n->notes[i].shown || !is_at(&n->notes[i], l) ||
            !says_the_same(&n->notes[first], &n->notes[i]))
            continue;
        for (int k = i; k < n->nnotes; k++) {
            bool again = !n->notes[k].shown && is_at(&n->notes[k], l) &&
                         says_the_same(&n->notes[i], &n->notes[k]) &&
                         strcmp(n->notes[i].subject, n->notes[k].subject) == 0;
            times += again;
            n->notes[k].shown |= again;
        }
        printf("%s%s", any ? ", " : "", n->notes[i].subject);
        if (times > 1)
            printf(" (%d times)", times);
        any = true;
    }
}

/* In this order. */
static const char *const kinds[] = {"block",  "loop",   "branch",     "barrier",
                                    "memory", "atomic", "arithmetic", "bounds"};

static void put_notes(notes *n, const line *l, const char *kind)
{
    for (int i = 0; i < n->nnotes; i++) {
        const note *of = &n->notes[i];
        if (of->shown || !is_at(of, l) || strcmp(of->kind, kind) != 0)
            continue;
        printf("%*s> %s", MARGIN, "", strcmp(kind, "bounds") == 0 ? "index " : "");
        put_subjects(n, i, l);
        printf(": %s\n", of->text);
        if (*of->hint)
            printf("%*s  hint: %s\n", MARGIN, "", of->hint);
    }
}

static bool is_own(const notes *n, const line *l)
{
    long number = atol(l->number);
    return strcmp(l->file, n->file) == 0 && number >= n->first && number <= n->last;
}

/* The kernel's, then those of functions that have notes. */
static void put_lines(notes *n)
{
    const char *file = n->file;
    bool own = true;
    for (int i = 0; i < n->nlines; i++) {
        const line *l = &n->lines[i], *before = i ? l - 1 : NULL;
        if (before && strcmp(l->number, before->number) == 0 && strcmp(l->file, before->file) == 0)
            continue;
        if (strcmp(l->file, file) != 0 || (own && !is_own(n, l)))
            printf("\n  of functions that it calls, in %s:\n", l->file);
        own = is_own(n, l);
        file = l->file;
        printf("%*s  %s\n", MARGIN - 2, l->number, l->text);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            put_notes(n, l, kinds[k]);
    }
}

static void put_figures(kjit_context *ctx, const options *o, const figures *f, int64_t threads)
{
    const kjit_kernel_info *i = &f->info;
    const char *arch = gpu_arch(ctx, o), *limit;
    kjit_device_info device;
    if (f->absent) {
        printf("  registers and occupancy: neither a GPU nor ptxas is here to tell them\n");
        return;
    }
    printf("  %d registers a thread, ", i->registers);
    if (f->spills)
        printf(f->stores + f->loads ? "spills %d/%d bytes (stores/loads), " : "no spills, ",
               f->stores, f->loads);
    printf("%lld bytes of local memory, %lld of shared memory a block", (long long)i->local,
           (long long)i->shared);
    if (f->by_driver && kjit_context_device(ctx, &device) == KJIT_OK)
        printf("; %s\n", device.name);
    else
        printf("; %s by ptxas\n", arch);
    if (!f->occupied)
        return;
    limit = f->by_driver && !arch ? NULL : occupancy_limit(arch, threads, i);
    printf("  %d block%s a multiprocessor, occupancy %.0f%%", i->blocks, i->blocks == 1 ? "" : "s",
           i->occupancy * 100);
    printf(limit ? ", limited by %s\n" : "\n", limit);
}

static bool is_given(const options *o, const char *name)
{
    size_t n = strlen(name);
    for (int i = 1; i < o->narguments; i++)
        if (strncmp(o->arguments[i], name, n) == 0 && o->arguments[i][n] == '=')
            return true;
    return false;
}

/* Const parameters that nobody gave a value. */
static void put_consts(const options *o, kjit_module *mod, const char *kernel)
{
    kjit_kernel_param p = {.size = sizeof p};
    for (int i = 0; kjit_module_kernel_param(mod, kernel, i, &p) == KJIT_OK; i++)
        if (p.is_const && !p.value && !is_given(o, p.name))
            printf("  %s stands as %s: %s=... behind the file's name gives it a value\n", p.name,
                   p.type && strcmp(p.type, "bool") == 0 ? "true" : "1", p.name);
}

static void show_listing(kjit_context *ctx, const options *o, kjit_module *mod, notes *n,
                         const int64_t block[3], const figures *f, const check_counts *c)
{
    printf("kernel %s, blocks of %s threads\n", n->kernel, n->block);
    put_consts(o, mod, n->kernel);
    put_figures(ctx, o, f, block[0] * block[1] * block[2]);
    printf("  indices: %d proved, %d tested once a launch, %d tested on each run\n\n", c->proved,
           c->by_launch, c->tested);
    put_lines(n);
}

/* ---- As JSON ---- */

static void put_json_figures(json *j, const figures *f)
{
    out_open(j, "figures", "{");
    if (!f->absent) {
        out_number(j, "registers", f->info.registers);
        out_number(j, "local", f->info.local);
        out_number(j, "shared", f->info.shared);
    }
    if (f->spills) {
        out_number(j, "spill_stores", f->stores);
        out_number(j, "spill_loads", f->loads);
    }
    if (f->occupied)
        out_number(j, "blocks", f->info.blocks);
    out_close(j, "}");
}

static void put_json(json *j, const notes *n, const figures *f, const check_counts *c)
{
    out_open(j, NULL, "{");
    out_text(j, "kernel", n->kernel);
    out_text(j, "block", n->block);
    put_json_figures(j, f);
    out_open(j, "checks", "{");
    out_number(j, "proved", c->proved);
    out_number(j, "by_launch", c->by_launch);
    out_number(j, "tested", c->tested);
    out_close(j, "}");
    out_open(j, "notes", "[");
    for (int i = 0; i < n->nnotes; i++) {
        const note *of = &n->notes[i];
        out_open(j, NULL, "{");
        out_text(j, "file", of->file);
        out_number(j, "line", atoll(of->line));
        out_number(j, "column", atoll(of->column));
        out_text(j, "kind", of->kind);
        out_text(j, "subject", of->subject);
        out_text(j, "text", of->text);
        out_text(j, "hint", *of->hint ? of->hint : NULL);
        out_close(j, "}");
    }
    out_close(j, "]");
    out_close(j, "}");
}

/* ---- The command ---- */

static int explain(kjit_context *ctx, const options *o, kjit_module *mod, const char *kernel,
                   json *j, bool first)
{
    int64_t block[3];
    notes n = {.form = NULL};
    figures f;
    check_counts counts = {0};
    kjit_status status =
        kjit_module_emit(mod, "notes", kernel, o->block[0] ? o->block : NULL, &n.form, NULL);
    if (status != KJIT_OK)
        return library_failed(ctx, status);
    int code = read_form(&n) ? EXIT_OK : EXIT_FAILED;
    if (code == EXIT_OK) /* where none is asked for, that which the kernel requires */
        read_block(n.block, block);
    if (code == EXIT_OK)
        code = find_figures(ctx, o, mod, kernel, block, &f);
    if (code == EXIT_OK)
        code = count_checks(ctx, mod, kernel, block, &counts);
    if (code == EXIT_OK && j) {
        put_json(j, &n, &f, &counts);
    } else if (code == EXIT_OK) {
        printf("%s", first ? "" : "\n");
        show_listing(ctx, o, mod, &n, block, &f, &counts);
    }
    free_notes(&n);
    return code;
}

static int explain_all(kjit_context *ctx, const options *o, kjit_module *mod)
{
    json all = {.out = o->output}, *j = o->describe ? &all : NULL;
    int code = assume_values(ctx, o, mod);
    if (code != EXIT_OK)
        return code;
    if (j)
        out_open(j, NULL, "[");
    else
        note_no_kernels(o, mod);
    const char *kernel;
    if (o->kernel)
        code = explain(ctx, o, mod, o->kernel, j, true);
    for (int i = 0; !o->kernel && code == EXIT_OK && (kernel = kjit_module_kernel(mod, i)); i++)
        code = explain(ctx, o, mod, kernel, j, i == 0);
    if (j) {
        out_close(j, "]");
        out_put(j, "\n");
    }
    return code;
}

int command_explain(const options *o)
{
    options mine = *o;
    mine.gpu = true;
    return with_module(&mine, explain_all);
}
