/* textDocument/publishDiagnostics: the compiler's messages of a document: kjit_module_log_json of
 * its text, as diagnostics. A message in a file that the document uses stands at the `use` that
 * leads there. */
#include <stdlib.h>
#include <string.h>

#include "lsp.h"

/* ---- Compiling ---- */

typedef struct finding {
    server *s;
    document *d;
} finding;

/* Open documents stand for files of the disk. */
static kjit_status find(void *user, const char *path, const char *from, kjit_source *out)
{
    finding *f = user;
    document *used = used_document(f->s, from, path);
    if (!used)
        return KJIT_NOT_FOUND;
    if (!f->d->uses)
        f->d->uses = json_object();
    json_object_set_new(f->d->uses, used->path, json_true());
    *out = (kjit_source){.name = used->path, .text = used->text, .size = used->size};
    return KJIT_OK;
}

kjit_module *compile_text(server *s, document *d, const char *text, size_t size)
{
    finding f = {s, d};
    kjit_module *mod = NULL;
    kjit_compile_options c = {.warn = s->o->warn, .find = find, .user = &f};
    json_decref(d->uses);
    d->uses = NULL;
    kjit_module_compile(s->ctx, d->path, text, size, &c, &mod);
    return mod;
}

/* ---- Messages ---- */

/* Where begin and end of {line, column, endLine, endColumn} are. */
static void span_of(const document *d, const json_t *place, size_t *begin, size_t *end)
{
    json_int_t line = json_integer_value(json_object_get(place, "line")),
               end_line = json_integer_value(json_object_get(place, "endLine"));
    *begin = offset_of_column(d, line, json_integer_value(json_object_get(place, "column")));
    *end = offset_of_column(d, end_line, json_integer_value(json_object_get(place, "endColumn")));
    *end = *end < *begin ? *begin : *end;
}

/* The words behind `use` that lead to the file, or the text's begin. */
static void span_of_use(server *s, document *d, const char *path, size_t *begin, size_t *end)
{
    *begin = *end = 0;
    const names *n = document_names(d);
    for (int32_t i = 0; n && i < n->ndecls; i++) {
        if (n->decls[i].kind != D_USE)
            continue;
        document *used = used_by(s, d, &n->decls[i], NULL);
        if (*end == 0 || (used && strcmp(used->path, path) == 0)) {
            *begin = n->decls[i].begin;
            *end = n->decls[i].head_end;
        }
        if (used && strcmp(used->path, path) == 0)
            return;
    }
}

/* A place of a message in any file: {"uri":, "range":}; or NULL. */
static json_t *location_of(server *s, const char *path, const json_t *place)
{
    size_t begin, end;
    document *d = path ? file_document(s, path) : NULL;
    if (!d)
        return NULL;
    span_of(d, place, &begin, &end);
    return json_pack("{s:s, s:o}", "uri", d->uri, "range", range_json(s, d, begin, end));
}

static void add_related(server *s, json_t *diagnostic, const char *path, const json_t *place,
                        const json_t *text)
{
    json_t *location = location_of(s, path, place), *list;
    if (!location)
        return;
    list = json_object_get(diagnostic, "relatedInformation");
    if (!list) {
        list = json_array();
        json_object_set_new(diagnostic, "relatedInformation", list);
    }
    json_array_append_new(list, json_pack("{s:o, s:O?}", "location", location, "message", text));
}

/* Of another file with its name. */
static json_t *text_of(const json_t *message, const char *file)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    const char *hint = json_string_value(json_object_get(message, "hint"));
    const char *text = json_string_value(json_object_get(message, "message"));
    return json_sprintf("%s%s%s%s%s%s", file ? "in " : "", file ? slash ? slash + 1 : file : "",
                        file ? ": " : "", text ? text : "", hint ? "\n" : "", hint ? hint : "");
}

/* A line of the log -> a diagnostic. */
static json_t *diagnostic_of(server *s, document *d, const json_t *message)
{
    size_t begin, end;
    const char *file = json_string_value(json_object_get(message, "file"));
    const char *severity = json_string_value(json_object_get(message, "severity"));
    const char *code = json_string_value(json_object_get(message, "code"));
    bool here = !file || strcmp(file, d->path) == 0;
    if (here)
        span_of(d, message, &begin, &end);
    else
        span_of_use(s, d, file, &begin, &end);
    json_t *out = json_pack("{s:o, s:i, s:O?, s:s, s:o}", "range", range_json(s, d, begin, end),
                            "severity", severity && strcmp(severity, "error") == 0 ? 1 : 2, "code",
                            json_object_get(message, "code"), "source", "kjit", "message",
                            text_of(message, here ? NULL : file));
    if (code && strncmp(code, "unused", 6) == 0)
        json_object_set_new(out, "tags", json_pack("[i]", 1));
    const json_t *note = json_object_get(message, "note");
    const char *note_file = json_string_value(json_object_get(note, "file"));
    if (!here)
        add_related(s, out, file, message, json_object_get(message, "message"));
    if (note)
        add_related(s, out, note_file ? note_file : file, note, json_object_get(note, "message"));
    return out;
}

/* The library's log, which may have bytes of files that are no UTF-8. */
static json_t *read_line(const char *line, size_t size)
{
    json_error_t error;
    json_t *message = json_loadb(line, size, 0, &error);
    char *plain = message ? NULL : malloc(size + 1);
    if (!plain)
        return message;
    for (size_t i = 0; i < size; i++)
        plain[i] = (unsigned char)line[i] < 0x80 ? line[i] : '?';
    message = json_loadb(plain, size, 0, &error);
    free(plain);
    return message;
}

static json_t *messages_of(server *s, document *d, const char *log)
{
    json_t *all = json_array();
    while (log && *log) {
        size_t n = strcspn(log, "\n");
        json_t *message = read_line(log, n);
        if (json_is_object(message)) {
            json_object_set_new(message, "diagnostic", diagnostic_of(s, d, message));
            json_array_append(all, message);
        }
        json_decref(message);
        log += n + (log[n] == '\n');
    }
    return all;
}

void publish(server *s, const document *d, json_t *diagnostics)
{
    json_t *params = json_pack("{s:s, s:o}", "uri", d->uri, "diagnostics", diagnostics);
    if (d->versioned)
        json_object_set_new(params, "version", json_integer(d->version));
    notify(s, "textDocument/publishDiagnostics", params);
}

json_t *messages_of_text(server *s, document *d, const char *text, size_t size)
{
    kjit_module *mod = compile_text(s, d, text, size);
    json_t *messages = mod ? messages_of(s, d, kjit_module_log_json(mod)) : NULL;
    kjit_module_free(mod);
    return messages;
}

void diagnose(server *s, document *d)
{
    json_t *list = json_array(), *message;
    size_t i;
    json_decref(d->told);
    d->told = messages_of_text(s, d, d->text, d->size);
    d->dirty = d->quick = false;
    d->whole = d->told != NULL;
    json_array_foreach(d->told, i, message)
        json_array_append(list, json_object_get(message, "diagnostic"));
    if (!d->told)
        json_array_append_new(list, json_pack("{s:o, s:i, s:s, s:s}", "range",
                                              range_json(s, d, 0, 0), "severity", 1, "source",
                                              "kjit", "message", kjit_last_error(s->ctx)));
    publish(s, d, list);
    if (d->whole && d->size >= LONG_TEXT)
        document_names(d); /* for quick.c, before the next change comes */
}

void forget_diagnostics(server *s, const document *d)
{
    publish(s, d, json_array());
}
