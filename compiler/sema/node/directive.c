/* Hints about names that lines of C's preprocessor would have declared, which are comments. */
#include <string.h>

#include "base/c_locale.h"
#include "parse/directive.h"
#include "sema/node/node.h"

/* The first line of that name behind another (NULL: of all) in the file where the message is; an empty one: there is none. */
static kj_directive next_called(const kj_sema *s, const kj_message *m, const char *name,
                                const kj_directive *behind)
{
    const kj_source *source = s->diag->source;
    kj_source_part part = kj_source_at(source, m->span.begin);
    kj_directive d = {.next = behind ? behind->next : part.begin};
    do
        d = kj_next_directive(source, d.next, part.end);
    while (d.span.begin < d.span.end && !kj_directive_is(&d, name));
    return d;
}

/* #define N 32 and #define SQ(x) ((x) * (x)). */
bool kj_hint_defined(kj_sema *s, kj_message *m, const char *name)
{
    kj_directive d = next_called(s, m, "define", NULL);
    size_t len = strlen(name);
    while (d.span.begin < d.span.end &&
           (strncmp(d.value, name, len) != 0 || kj_is_word(d.value[len])))
        d = next_called(s, m, "define", &d);
    if (d.span.begin == d.span.end)
        return false;
    const char *at = d.value + len, *end = s->diag->source->text + d.span.end;
    if (*at == '(') {
        kj_hint(s->diag, m,
                "'#' begins a comment: write fn %s<T: number>(x: T) -> T { return ... }", name);
        return true;
    }
    at += strspn(at, " \t");
    size_t n = 0;
    bool quoted = false;
    while (at + n < end &&
           (quoted || (strncmp(at + n, "//", 2) != 0 && strncmp(at + n, "/*", 2) != 0)))
        quoted ^= at[n++] == '"';
    while (n > 0 && strchr(" \t", at[n - 1]))
        n--;
    const char *value = n == 0   ? "true"
                        : n < 40 ? kj_arena_printf(s->arena, "%.*s", (int)n, at)
                                 : "...";
    kj_hint(s->diag, m, "'#' begins a comment: write const %s = %s in a line of its own", name,
            value);
    return true;
}

/* The files of #include "help.knl" and "help.cuh" are not here. */
void kj_hint_included(kj_sema *s, kj_message *m, const char *name)
{
    kj_directive d = next_called(s, m, "include", NULL);
    while (d.span.begin < d.span.end && *d.value != '"')
        d = next_called(s, m, "include", &d);
    if (d.span.begin == d.span.end)
        return;
    const char *file = d.value + 1, *base = file;
    int len = (int)strcspn(file, "\"\n");
    for (const char *at = file; at < file + len; at++)
        if (*at == '/')
            base = at + 1;
    size_t stem = 0;
    while (kj_is_word(base[stem]))
        stem++;
    if (stem == 0)
        return;
    bool of_it = strlen(name) == stem && strncmp(name, base, stem) == 0; /* it is the file's own */
    const char *use =
        kj_arena_printf(s->diag->arena, "#include is a comment: write use \"%.*s.knl\" at the top",
                        (int)(base + stem - file), file);
    if (of_it)
        kj_hint(s->diag, m, "%s", use);
    else
        kj_hint(s->diag, m, "%s, and then %.*s.%s", use, (int)stem, base, name);
}
