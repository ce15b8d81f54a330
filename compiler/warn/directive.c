/* Lines of C's preprocessor: they are comments, so that what they mean to leave out is compiled. */
#include "warn/warn.h"

#include <string.h>

#include "base/c_locale.h"
#include "parse/directive.h"

static bool begins_group(const kj_directive *d)
{
    return kj_directive_is(d, "if") || kj_directive_is(d, "ifdef") || kj_directive_is(d, "ifndef");
}

static void warn_of_group(kj_diag *diag, const kj_directive *d)
{
    kj_message *m = kj_warn(diag, d->span, KJ_RULE_DIRECTIVE,
                            "this is a comment: the lines up to its #endif are compiled");
    if (kj_directive_is(d, "if") && *d->value == '0')
        kj_hint(diag, m,
                "there is no preprocessor: what is left out begins with # in each line; in front "
                "of a comment "
                "that is meant stands '# '");
    else
        kj_hint(
            diag, m,
            "there is no preprocessor: write const NAME = true, and if NAME { ... }; in front of a "
            "comment that is meant stands '# '");
}

/* #pragma unroll, over a loop. */
static void warn_of_pragma(kj_diag *diag, const kj_directive *d)
{
    const char *next = d->value + strcspn(d->value, "\n");
    const char *count = d->value + strlen("unroll");
    next += strspn(next, " \t\r\n");
    count += strspn(count, " \t(");
    if (strncmp(d->value, "unroll", strlen("unroll")) != 0 ||
        kj_is_word(d->value[strlen("unroll")]) || strncmp(next, "for ", 4) != 0)
        return;
    if (strchr("01", *count) && !kj_is_digit(count[1]))
        return; /* which is not to be */
    kj_message *m =
        kj_warn(diag, d->span, KJ_RULE_DIRECTIVE, "this is a comment, and unrolls nothing");
    kj_hint(diag, m, "write @unroll; in front of a comment that is meant stands '# '");
    kj_fix(diag, m, d->span, "%s", "@unroll");
}

void kj_warn_of_directives(kj_diag *diag, const kj_file *file)
{
    const kj_source *source = file->source;
    uint32_t end = kj_source_at(source, file->begin).end;
    kj_directive group = {
        0}; /* the outermost that is open; without an #endif it is code that was put aside */
    int depth = 0;
    for (kj_directive d = kj_next_directive(source, file->begin, end); d.span.begin < d.span.end;
         d = kj_next_directive(source, d.next, end)) {
        if (begins_group(&d) && depth++ == 0)
            group = d;
        else if (kj_directive_is(&d, "endif") && depth > 0 && --depth == 0)
            warn_of_group(diag, &group);
        else if (kj_directive_is(&d, "pragma"))
            warn_of_pragma(diag, &d);
    }
}
