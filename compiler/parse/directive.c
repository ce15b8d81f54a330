/* Lines of C's preprocessor, by the text. */
#include "parse/directive.h"

#include "parse/habit.h"

static const char *const names[] = {"include", "define", "undef", "if",     "ifdef", "ifndef",
                                    "elif",    "else",   "endif", "pragma", "error"};

/* Behind the name of a directive that stands at `at`; 0: none does. */
static uint32_t behind_name(const kj_source *source, uint32_t at)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (kj_is_word_at(source, at, names[i]))
            return at + (uint32_t)strlen(names[i]);
    return 0;
}

kj_directive kj_next_directive(const kj_source *source, uint32_t at, uint32_t end)
{
    for (const char *text = source->text; at < end; at = kj_line_end(source, at) + 1) {
        uint32_t begin = kj_skip_blanks(source, at);
        uint32_t behind = text[begin] == '#' ? behind_name(source, begin + 1) : 0;
        if (!behind)
            continue;
        return (kj_directive){.span = {begin, kj_code_end(source, behind)},
                              .name = text + begin + 1,
                              .value = text + kj_skip_blanks(source, behind),
                              .next = kj_line_end(source, behind) + 1};
    }
    return (kj_directive){.span = {end, end}};
}

bool kj_directive_is(const kj_directive *d, const char *name)
{
    size_t len = strlen(name);
    return d->span.end > d->span.begin && strncmp(d->name, name, len) == 0 &&
           !kj_is_word(d->name[len]);
}
