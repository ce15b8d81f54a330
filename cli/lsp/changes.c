/* didOpen, didChange, didSave, didClose: what the client says of its texts. */
#include <stdlib.h>
#include <string.h>

#include "lsp.h"

json_t *on_open(server *s, const json_t *params, failure *f)
{
    const json_t *item = json_object_get(params, "textDocument"),
                 *text = json_object_get(item, "text"), *version = json_object_get(item, "version");
    const char *uri = json_string_value(json_object_get(item, "uri"));
    if (!uri || !json_is_string(text)) {
        fail_with(f, INVALID_PARAMS, "didOpen takes a textDocument with uri and text");
        return NULL;
    }
    document *old = open_document(s, uri);
    if (old)
        remove_document(s, old);
    document *d = add_document(s, uri, json_string_value(text), json_string_length(text));
    if (!d) {
        fail_with(f, INTERNAL_ERROR, "the text is too long");
        return NULL;
    }
    d->versioned = json_is_integer(version);
    d->version = json_integer_value(version);
    mark_dirty(s, d);
    return NULL;
}

/* One of contentChanges: of a range, or of all. */
static bool change(const server *s, document *d, const json_t *one)
{
    const json_t *text = json_object_get(one, "text"), *range = json_object_get(one, "range");
    size_t begin = 0, end = d->size;
    if (!json_is_string(text))
        return false;
    if (json_is_object(range) && (!offset_of(s, d, json_object_get(range, "start"), &begin) ||
                                  !offset_of(s, d, json_object_get(range, "end"), &end)))
        return false;
    end = end < begin ? begin : end;
    size_t n = json_string_length(text), size = begin + n + (d->size - end);
    char *whole = malloc(size + 1);
    if (!whole)
        return false;
    memcpy(whole, d->text, begin);
    memcpy(whole + begin, json_string_value(text), n);
    memcpy(whole + begin + n, d->text + end, d->size - end);
    whole[size] = 0;
    return set_text(d, whole, size);
}

json_t *on_change(server *s, const json_t *params, failure *f)
{
    document *d = asked_document(s, params, f);
    const json_t *changes = json_object_get(params, "contentChanges"), *one,
                 *version = json_object_get(json_object_get(params, "textDocument"), "version");
    size_t i;
    if (!d)
        return NULL;
    json_array_foreach(changes, i, one) if (!change(s, d, one))
        fail_with(f, INVALID_PARAMS, "a change has a text, and a range or none");
    d->versioned = json_is_integer(version);
    d->version = json_integer_value(version);
    mark_dirty(s, d);
    return NULL;
}

json_t *on_save(server *s, const json_t *params, failure *f)
{
    document *d = asked_document(s, params, f);
    if (d)
        mark_dirty(s, d);
    return NULL;
}

json_t *on_close(server *s, const json_t *params, failure *f)
{
    document *d = asked_document(s, params, f);
    if (!d)
        return NULL;
    mark_dirty(s, d); /* who uses it has the disk's from now on */
    forget_diagnostics(s, d);
    remove_document(s, d);
    return NULL;
}

/* Files changed on the disk: who uses any is looked at again. */
json_t *on_watched(server *s, const json_t *params, failure *f)
{
    (void)params, (void)f;
    for (document *d = s->documents; d; d = d->next)
        if (json_object_size(d->uses) > 0)
            mark_dirty(s, d);
    return NULL;
}
