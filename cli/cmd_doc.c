/* kjit doc NAME: built-in functions and members, words of the language, and the library's files and functions. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* Does `name` mean what is called `whole`: all of it, or what stands behind its dot, as cas of atomic.cas? */
static bool means(const char *name, const char *whole, bool all)
{
    const char *dot = strrchr(whole, '.'), *at = strrchr(whole, '@');
    if (all)
        return strcmp(whole + (*whole == '.'), name + (*name == '.')) == 0;
    return (dot && dot > whole && strcmp(dot + 1, name + (*name == '.')) == 0) ||
           (at && strcmp(at + 1, name) == 0);
}

static void show_builtin(FILE *to, const kjit_builtin_info *b)
{
    char call[256], ulp[48];
    const char *doc = call_text(b, call, sizeof call);
    accuracy(b, ulp, sizeof ulp);
    fprintf(to, "%s\n    %s%s%s%s\n    of: %s\n", call, doc, *ulp ? " (" : "", ulp, *ulp ? ")" : "",
            b->group);
}

/* The lines of a comment, without its marks. */
static void show_lines(FILE *to, const char *text, size_t size)
{
    const char *end = text + size;
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        stop = stop ? stop : end;
        size_t mark = *text != '#' ? 0 : stop - text > 1 && text[1] == ' ' ? 2 : 1;
        const char *line = text + mark;
        fprintf(to, "%s%.*s\n", line < stop ? "    " : "", (int)(stop - line), line);
        text = stop + 1;
    }
}

static void show_word(FILE *to, const kjit_word_info *w)
{
    bool library = strcmp(w->group, "std") == 0;
    if (library && w->form_size == 0)
        fprintf(to, "use %s\n", w->name);
    else if (library)
        fprintf(to, "%s: %.*s\n", w->name, (int)w->form_size, w->form);
    else
        fprintf(to, "%.*s\n", (int)w->form_size, w->form);
    show_lines(to, w->text, w->text_size);
    if (library && w->form_size)
        fprintf(to, "    of: std.%.*s\n", (int)strcspn(w->name, "."), w->name);
    else
        fprintf(to, "    of: %s\n", library ? "the library" : w->group);
}

static bool show(FILE *to, const char *name, bool all)
{
    kjit_builtin_info b;
    kjit_word_info w;
    bool found = false;
    for (int i = 0; kjit_builtin(i, &b); i++)
        if (means(name, b.name, all)) {
            show_builtin(to, &b);
            found = true;
        }
    for (int i = 0; kjit_word(i, &w); i++)
        if (means(name, w.name, all)) {
            show_word(to, &w);
            found = true;
        }
    kjit_check_info c;
    for (int i = 0; all && kjit_check(i, &c); i++)
        if (strcmp(name, c.name) == 0) {
            fprintf(to, "--check=%s\n    %s\n    of: check\n", c.name, c.what);
            found = true;
        }
    return found;
}

/* What stands behind a name and a dot: atomic.add of atomic. */
static bool show_members(FILE *to, const char *name)
{
    kjit_builtin_info b;
    kjit_word_info w;
    size_t n = strlen(name);
    bool found = false;
    for (int i = 0; kjit_builtin(i, &b); i++)
        if (strncmp(b.name, name, n) == 0 && b.name[n] == '.' && n > 0) {
            char call[256];
            call_text(&b, call, sizeof call);
            fprintf(to, "%s%s", found ? ", " : "", call);
            found = true;
        }
    for (int i = 0; kjit_word(i, &w); i++)
        if (strncmp(w.name, name, n) == 0 && w.name[n] == '.' && n > 0) {
            fprintf(to, "%s%s", found ? ", " : "", w.name);
            found = true;
        }
    if (found)
        fprintf(to, "\n    'kjit doc NAME' tells more of each\n");
    return found;
}

/* threadIdx.x is told with threadIdx. */
static bool show_axis(FILE *to, const char *name)
{
    kjit_builtin_info b;
    size_t n = strlen(name);
    bool found = false;
    if (n < 3 || name[n - 2] != '.' || !strchr("xyz", name[n - 1]))
        return false;
    for (int i = 0; kjit_builtin(i, &b); i++)
        if (strlen(b.name) == n - 2 && strncmp(b.name, name, n - 2) == 0) {
            show_builtin(to, &b);
            found = true;
        }
    return found;
}

/* All vectors are told with f32x4. */
static bool show_vector(FILE *to, const char *name)
{
    char number;
    unsigned bits, parts;
    int end = 0;
    bool is_vector = sscanf(name, "%c%2ux%1u%n", &number, &bits, &parts, &end) == 3 &&
                     name[end] == '\0' && strchr("ifu", number) && parts >= 2 && parts <= 4;
    return is_vector && bits >= 8 && bits <= 64 && (bits & (bits - 1)) == 0 &&
           (number != 'f' || bits > 8) && show(to, "f32x4", true);
}

/* ---- Names of other languages ---- */

/* What the compiler says of a program in which the name is not declared, where that is more than a name that is near. */
static bool hint_of(kjit_context *ctx, const char *source, char *out, size_t size)
{
    enum { MOST = 8 };
    kjit_module *mod = NULL;
    kjit_diagnostic found[MOST];
    bool told = false;
    kjit_module_compile(ctx, "doc", source, strlen(source), NULL, &mod);
    int n = mod ? kjit_module_diagnostics(mod, found, MOST) : 0;
    for (int i = 0; i < n && i < MOST && !told; i++) {
        const char *hint = found[i].hint;
        bool undeclared =
            strstr(found[i].message, "is not declared") || strstr(found[i].message, "has a member");
        told = hint && undeclared && strncmp(hint, "did you mean", strlen("did you mean")) != 0 &&
               !strstr(hint, "kjit builtins");
        if (told)
            snprintf(out, size, "%s", hint);
    }
    kjit_module_free(mod);
    return told;
}

/* Of gif, atomicAdd or astype: as a value of a run block, one of a kernel, what stands behind a dot. */
static bool elsewhere(const options *o, const char *name, char *out, size_t size)
{
    static const char *const programs[][2] = {
        {"run {\n    let it = ", "\n}\n"},
        {"kernel k(x: f32[]) {\n    x[0] = ", "\n}\n"},
        {"run {\n    let a = zeros(2)\n    print(a.", ")\n}\n"}};
    const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    char source[256];
    if (!*name || name[strspn(name, letters)] || strlen(name) > sizeof source / 2)
        return false;
    kjit_context *ctx = open_context(&(options){.device = "cpu", .workers = 1, .cache = o->cache});
    bool told = false;
    for (size_t i = 0; ctx && i < sizeof programs / sizeof *programs && !told; i++) {
        snprintf(source, sizeof source, "%s%s%s", programs[i][0], name, programs[i][1]);
        told = hint_of(ctx, source, out, size);
    }
    kjit_context_destroy(ctx);
    return told;
}

static int unknown(const options *o, const char *name)
{
    char hint[512];
    enum { MOST = 1024 };
    static kjit_word_info words[MOST];
    static const char *names[4 * MOST];
    static char heads[2 * MOST][32];
    kjit_builtin_info b;
    size_t n = 0, nheads = 0;
    for (int i = 0; i < MOST && kjit_builtin(i, &b); i++)
        names[n++] = b.name + (*b.name == '.');
    for (int i = 0; i < MOST && kjit_word(i, &words[i]); i++)
        names[n++] = words[i].name;
    for (size_t i = 0, all = n; i < all; i++) {
        size_t length = strcspn(names[i], ".");
        if (names[i][length] && length < sizeof heads[0]) {
            memcpy(heads[nheads], names[i], length);
            names[n++] = heads[nheads++];
        }
    }
    const char *near = *name ? nearest(name, names, n) : NULL;
    if (elsewhere(o, name, hint, sizeof hint))
        complain("there is no '%s': %s", name, hint);
    else if (near)
        complain("there is no '%s': did you mean '%s'?", name, near);
    else
        complain(
            "there is no '%s'; 'kjit builtins' lists the functions, 'kjit doc std' the library",
            name);
    return EXIT_USAGE;
}

bool tell_name(FILE *to, const char *name)
{
    bool found = *name && show(to, name, true), members = show_members(to, name);
    if (*name && (members || !found))
        found |= show(to, name, false);
    return found || members || show_axis(to, name) || show_vector(to, name);
}

int command_doc(const options *o)
{
    int code = EXIT_OK;
    for (int k = 0; k < o->narguments; k++)
        if (!tell_name(stdout, o->arguments[k]))
            code = unknown(o, o->arguments[k]);
    return code;
}
