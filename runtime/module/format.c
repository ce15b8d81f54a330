/* kjit_format: source text in, laid out in the one style out. */
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "module/module.h"

typedef struct formatting {
    kj_arena arena;
    kj_source source; /* first the caller's text */
    const char *text; /* NULL: it has errors */
    size_t size;
    const char *errors;
} formatting;

static void format(void *data)
{
    formatting *f = data;
    char *copy =
        kj_arena_alloc(&f->arena, f->source.size + 1); /* the parser wants a NUL behind it */
    if (f->source.size > 0 && f->source.size <= KJ_SOURCE_MAX)
        memcpy(copy, f->source.text, f->source.size);
    f->source.text = copy;
    kj_diag diag;
    kj_diag_init(&diag, &f->arena, &f->source);
    f->text = kj_formatted(&f->arena, &diag, &f->size);
    f->errors = kj_diag_text(&diag);
}

/* What is handed out is for free(). */
static kjit_status hand_out(kjit_context *ctx, const formatting *f, char **out, size_t *size)
{
    if (!f->text)
        return kj_fail_lines(ctx, KJIT_COMPILE, f->errors);
    *out = malloc(f->size + 1);
    if (!*out)
        return kj_no_memory(ctx);
    memcpy(*out, f->text, f->size + 1);
    if (size)
        *size = f->size;
    return KJIT_OK;
}

kjit_status kjit_format(kjit_context *ctx, const char *name, const char *source, size_t size,
                        char **out, size_t *out_size)
{
    kjit_status status = KJ_MAKES(out, kj_enter_context(ctx), ctx);
    if (status != KJIT_OK)
        return status;
    if (!source && size > 0)
        return kj_fail(ctx, KJIT_INVALID, "source is NULL");
    formatting f = {.source = {.name = name ? name : "<source>"}};
    f.source.text = source;
    f.source.size =
        size > KJ_SOURCE_MAX ? KJ_SOURCE_MAX + 1 : size; /* enough for the parser to refuse it */
    kj_compiling_begin(ctx, &f.arena);
    kj_complaint complaint;
    kj_outcome outcome = kj_guarded_apart(&f.arena, format, &f, &complaint);
    status = outcome == KJ_DONE ? hand_out(ctx, &f, out, out_size)
                                : kj_fail_early(ctx, &f.arena, outcome, &complaint);
    kj_arena_free(&f.arena);
    return status;
}
