/* Formatting: text -> tokens -> words and remarks -> text. What comes out is parsed again: another tree than before
 * would be our mistake, and the text stays as it was. */
#include <string.h>

#include "format/format.h"

static const char *tree(kj_arena *arena, kj_diag *diag)
{
    kj_file *file = kj_parse(arena, diag, 0, KJ_TREE_MAX);
    return diag->errors > 0 ? NULL : kj_ast_dump(arena, file);
}

static bool is_same_program(kj_arena *arena, const kj_source *source, const char *before,
                            kj_text after)
{
    kj_source again = {.name = source->name, .text = after.data, .size = after.size};
    kj_diag diag;
    kj_diag_init(&diag, arena, &again);
    const char *dump = tree(arena, &diag);
    return dump && strcmp(dump, before) == 0;
}

const char *kj_formatted(kj_arena *arena, kj_diag *diag, size_t *size)
{
    const kj_source *source = diag->source;
    const char *before = tree(arena, diag);
    if (!before)
        return NULL;
    kj_words words = kj_words_read(arena, source);
    kj_words_space(arena, &words);
    kj_text after = kj_words_write(arena, &words);
    if (!is_same_program(arena, source, before, after)) {
        kj_error(diag, (kj_span){0, 0}, KJ_RULE_INTERNAL,
                 "formatted it would be another program: please report this");
        return NULL;
    }
    *size = after.size;
    return after.data;
}
