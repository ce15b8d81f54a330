/* What `kjit doc` tells beside the built-in functions: words of the language and codes of messages, by their tables, and files of the library and
 * what is called of them, by their texts. */
#include <string.h>

#include "base/c_locale.h"
#include "kjit.h"
#include "lang/library.h"
#include "module/library.h"

#define ROW(name_, group_, form_, text_) \
    {.name = name_, \
     .group = group_, \
     .form = form_, \
     .text = text_, \
     .form_size = sizeof(form_) - 1, \
     .text_size = sizeof(text_) - 1},

static const kjit_word_info words[] = {
#define WORD(use, name, group, form, text) ROW(name, group, form, text)
#include "lang/words.def"
#undef WORD
};

enum { NWORDS = sizeof words / sizeof *words };

static const kjit_word_info rules[] = {
#define ERROR "error"
#define WARNING "warning"
#define RULE(id, code, severity, text) ROW(code, severity, code, text)
#include "base/diag.def"
#undef ERROR
#undef WARNING
};

enum { NRULES = sizeof rules / sizeof *rules };

/* The next line behind `at` that declares a function for callers: none of the file's own. */
static const char *next_declaration(const char *at)
{
    while ((at = strchr(at, '\n')) && !kj_is_own_heading(++at))
        if (strncmp(at, "fn ", 3) == 0 || strncmp(at, "run ", 4) == 0)
            return at;
    return NULL;
}

static const char *line_before(const char *line, const char *text)
{
    if (line == text)
        return NULL;
    const char *at = line - 1;
    while (at > text && at[-1] != '\n')
        at--;
    return at;
}

/* The lines of comments that end at `end`, or begin there. */
static void take_comment(kjit_word_info *out, const char *begin, const char *end)
{
    out->text = begin;
    out->text_size = (size_t)(end - begin) - (end > begin && end[-1] == '\n');
}

static void describe_file(const kj_library_file *f, kjit_word_info *out)
{
    const char *at = f->begin;
    while (*at == '#')
        at += strcspn(at, "\n") + 1;
    kj_snprintf(out->name, sizeof out->name, "std.%s", f->name);
    out->form = "";
    take_comment(out, f->begin, at);
}

static bool is_empty(const char *line)
{
    return line && (*line == '\n' || *line == '\r');
}

/* The function whose declaration begins at `line`. Of several with one comment, that stands above the first: no empty line
 * is between them. */
static void describe_function(const kj_library_file *f, const char *line, kjit_word_info *out)
{
    const char *name = line + strcspn(line, " ") + 1, *brace = strchr(line, '{');
    const char *end = line, *at = line_before(line, f->begin);
    while (at && *at != '#' && !is_empty(at)) {
        end = at;
        at = line_before(at, f->begin);
    }
    const char *begin = end;
    for (; at && *at == '#' && strncmp(at, "# ----", 6) != 0; at = line_before(at, f->begin))
        begin = at;
    kj_snprintf(out->name, sizeof out->name, "%s.%.*s", f->name, (int)strcspn(name, "(<"), name);
    out->form = line;
    out->form_size = brace ? (size_t)(brace - line) - 1 : strcspn(line, "\n");
    take_comment(out, begin, end);
}

int kjit_word(int i, kjit_word_info *out)
{
    kjit_word_info unused;
    out = out ? out : &unused;
    *out = (kjit_word_info){0};
    if (i < 0)
        return 0;
    if (i < NWORDS) {
        *out = words[i];
        return 1;
    }
    i -= NWORDS;
    if (i < NRULES) {
        *out = rules[i];
        return 1;
    }
    i -= NRULES;
    for (int k = 0; k < kj_nlibrary; k++) {
        const kj_library_file *f = &kj_library[k];
        *out = (kjit_word_info){.group = "std"};
        if (i-- == 0) {
            describe_file(f, out);
            return 1;
        }
        for (const char *at = f->begin; (at = next_declaration(at));) {
            describe_function(f, at, out);
            if (i-- == 0)
                return 1;
        }
    }
    *out = (kjit_word_info){0};
    return 0;
}
