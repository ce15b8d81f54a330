/* textDocument/codeAction, quick fixes: the edits that messages carry. */
#include <string.h>

#include "lsp.h"

/* Does the range, of bytes, touch the other? */
static bool touch(size_t begin, size_t end, size_t other_begin, size_t other_end)
{
    return begin <= other_end && other_begin <= end;
}

static bool range_of(const server *s, const document *d, const json_t *range, size_t *begin,
                     size_t *end)
{
    return offset_of(s, d, json_object_get(range, "start"), begin) &&
           offset_of(s, d, json_object_get(range, "end"), end);
}

/* The title: what is to be written, or the hint. */
static json_t *title_of(const json_t *message, const char *fix, bool inserts)
{
    const char *hint = json_string_value(json_object_get(message, "hint"));
    if (hint && strncmp(hint, "did you mean", 12) != 0)
        return json_string(hint);
    if (strchr(fix, '\n'))
        return json_string("fix it");
    return *fix ? json_sprintf(inserts ? "insert '%s'" : "write '%s'", fix)
                : json_string("remove it");
}

static json_t *action_of(server *s, document *d, const json_t *message)
{
    const json_t *fix = json_object_get(message, "fix");
    const char *text = json_string_value(json_object_get(fix, "text"));
    const char *file = json_string_value(json_object_get(message, "file"));
    if (!text || (file && strcmp(file, d->path) != 0))
        return NULL;
    json_int_t line = json_integer_value(json_object_get(fix, "line")),
               column = json_integer_value(json_object_get(fix, "column")),
               end_line = json_integer_value(json_object_get(fix, "endLine")),
               end_column = json_integer_value(json_object_get(fix, "endColumn"));
    size_t begin = offset_of_column(d, line, column),
           end = offset_of_column(d, end_line, end_column);
    json_t *edit = json_pack("{s:o, s:s}", "range", range_json(s, d, begin, end), "newText", text);
    json_t *changes = json_object();
    json_object_set_new(changes, d->uri, json_pack("[o]", edit));
    return json_pack("{s:o, s:s, s:[O], s:b, s:{s:o}}", "title",
                     title_of(message, text, begin == end), "kind", "quickfix", "diagnostics",
                     json_object_get(message, "diagnostic"), "isPreferred", 1, "edit", "changes",
                     changes);
}

/* Are quick fixes wanted? */
static bool wants_fixes(const json_t *context)
{
    const json_t *only = json_object_get(context, "only"), *kind;
    size_t i;
    if (!json_is_array(only))
        return true;
    json_array_foreach(only, i, kind)
    {
        const char *name = json_string_value(kind);
        if (name && (!*name || strcmp(name, "quickfix") == 0))
            return true;
    }
    return false;
}

json_t *on_code_action(server *s, const json_t *params, failure *f)
{
    size_t begin, end, from, to, i;
    json_t *out = json_array(), *message;
    document *d = asked_document(s, params, f);
    if (!d)
        return json_decref(out), NULL;
    if (d->dirty)
        diagnose(s, d);
    if (!range_of(s, d, json_object_get(params, "range"), &begin, &end)) {
        fail_with(f, INVALID_PARAMS, "codeAction takes a range");
        return json_decref(out), NULL;
    }
    if (!wants_fixes(json_object_get(params, "context")))
        return out;
    json_array_foreach(d->told, i, message)
    {
        const json_t *place = json_object_get(json_object_get(message, "diagnostic"), "range");
        if (!range_of(s, d, place, &from, &to) || !touch(begin, end, from, to))
            continue;
        json_t *action = action_of(s, d, message);
        if (action)
            json_array_append_new(out, action);
    }
    return out;
}
