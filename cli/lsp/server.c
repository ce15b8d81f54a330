/* The server's life: messages -> handlers, in order; what a document changed in is analysed when no more has come. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lsp.h"

enum {
    LATE = 1,   /* s: so long at most a stream of messages puts off what is said of a text */
    PAUSE = 300 /* ms without a change, after which a long text is analysed whole */
};

void fail_with(failure *f, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    f->code = code;
    vsnprintf(f->message, sizeof f->message, format, args);
    va_end(args);
}

document *asked_document(server *s, const json_t *params, failure *f)
{
    const char *uri =
        json_string_value(json_object_get(json_object_get(params, "textDocument"), "uri"));
    document *d = uri ? open_document(s, uri) : NULL;
    if (!d)
        fail_with(f, INVALID_PARAMS, uri ? "the document is not open" : "textDocument has no uri");
    return d;
}

document *asked_place(server *s, const json_t *params, size_t *offset, failure *f)
{
    document *d = asked_document(s, params, f);
    if (!d || offset_of(s, d, json_object_get(params, "position"), offset))
        return d;
    fail_with(f, INVALID_PARAMS, "a position has a line and a character, from 0");
    return NULL;
}

uint32_t asked_name(server *s, const json_t *params, document **d, failure *f)
{
    size_t offset;
    *d = asked_place(s, params, &offset, f);
    const names *n = *d ? document_names(*d) : NULL;
    return n ? name_at(n, offset) : NO_TOKEN;
}

/* ---- The session ---- */

static json_t *capabilities(const server *s)
{
    static const char *const plain[] = {"documentFormattingProvider", "hoverProvider",
                                        "definitionProvider",         "referencesProvider",
                                        "documentSymbolProvider",     "documentHighlightProvider"};
    json_t *out =
        json_pack("{s:s, s:{s:b, s:i, s:b}, s:{s:[s]}, s:{s:b}, s:{s:[s]}, s:{s:[s, s]}}",
                  "positionEncoding", s->utf8 ? "utf-8" : "utf-16", "textDocumentSync", "openClose",
                  1, "change", 2, "save", 1, "codeActionProvider", "codeActionKinds", "quickfix",
                  "renameProvider", "prepareProvider", 1, "completionProvider", "triggerCharacters",
                  ".", "signatureHelpProvider", "triggerCharacters", "(", ",");
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        json_object_set_new(out, plain[i], json_true());
    return out;
}

static void add_root(server *s, const json_t *uri)
{
    char *path = json_is_string(uri) ? path_of_uri(json_string_value(uri)) : NULL;
    if (path)
        json_array_append_new(s->roots, json_string(path));
    free(path);
}

static json_t *on_initialize(server *s, const json_t *params, failure *f)
{
    const json_t *general = json_object_get(json_object_get(params, "capabilities"), "general"),
                 *folders = json_object_get(params, "workspaceFolders"), *one;
    size_t i;
    if (s->state != BEFORE) {
        fail_with(f, INVALID_REQUEST, "the server was initialized before");
        return NULL;
    }
    json_array_foreach(json_object_get(general, "positionEncodings"), i, one) s->utf8 |=
        json_is_string(one) && strcmp(json_string_value(one), "utf-8") == 0;
    json_array_foreach(folders, i, one) add_root(s, json_object_get(one, "uri"));
    if (json_array_size(folders) == 0)
        add_root(s, json_object_get(params, "rootUri"));
    s->state = RUNNING;
    return json_pack("{s:o, s:{s:s, s:s}}", "capabilities", capabilities(s), "serverInfo", "name",
                     "kjit", "version", kjit_version());
}

static json_t *on_shutdown(server *s, const json_t *params, failure *f)
{
    (void)params, (void)f;
    s->state = SHUT;
    s->shut = true;
    return NULL;
}

static json_t *on_exit_now(server *s, const json_t *params, failure *f)
{
    (void)params, (void)f;
    s->state = ENDED;
    return NULL;
}

static json_t *on_nothing(server *s, const json_t *params, failure *f)
{
    (void)s, (void)params, (void)f;
    return NULL;
}

static const struct method {
    const char *name;
    handler *handle;
    bool request; /* it has an answer */
} methods[] = {
    {"initialize", on_initialize, true},
    {"initialized", on_nothing, false},
    {"shutdown", on_shutdown, true},
    {"exit", on_exit_now, false},
    {"textDocument/didOpen", on_open, false},
    {"textDocument/didChange", on_change, false},
    {"textDocument/didSave", on_save, false},
    {"textDocument/didClose", on_close, false},
    {"workspace/didChangeWatchedFiles", on_watched, false},
    {"textDocument/codeAction", on_code_action, true},
    {"textDocument/formatting", on_formatting, true},
    {"textDocument/hover", on_hover, true},
    {"textDocument/definition", on_definition, true},
    {"textDocument/references", on_references, true},
    {"textDocument/documentHighlight", on_highlight, true},
    {"textDocument/documentSymbol", on_symbols, true},
    {"textDocument/prepareRename", on_prepare_rename, true},
    {"textDocument/rename", on_rename, true},
    {"textDocument/completion", on_completion, true},
    {"textDocument/signatureHelp", on_signature, true},
};

static const struct method *find_method(const char *name)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].name, name) == 0)
            return &methods[i];
    return NULL;
}

/* ---- Messages ---- */

/* Takes the result. */
static void answer(server *s, json_t *id, json_t *result, const failure *f)
{
    json_t *message = json_pack("{s:O?}", "id", id);
    if (!id)
        json_object_set_new(message, "id", json_null());
    if (f->code) {
        json_decref(result);
        json_t *error = json_pack("{s:i, s:s}", "code", f->code, "message", f->message);
        if (!error) /* what it says is cut within a character */
            error = json_pack("{s:i, s:s}", "code", f->code, "message", "the request failed");
        json_object_set_new(message, "error", error);
    } else {
        json_object_set_new(message, "result", result ? result : json_null());
    }
    send_message(s, message);
}

/* Why it is not handled now. */
static bool is_refused(const server *s, const char *method, const struct method *m, failure *f)
{
    if (s->state == BEFORE && strcmp(method, "initialize") != 0)
        fail_with(f, NOT_INITIALIZED, "the first request is initialize");
    else if (s->state == SHUT)
        fail_with(f, INVALID_REQUEST, "the server was shut down");
    else if (!m)
        fail_with(f, METHOD_NOT_FOUND, "there is no method '%s'", method);
    return f->code != 0;
}

static void handle(server *s, const json_t *message)
{
    failure f = {0};
    json_t *id = json_object_get(message, "id"), *result = NULL;
    const char *method = json_string_value(json_object_get(message, "method"));
    const struct method *m = method ? find_method(method) : NULL;
    if (!method && (json_object_get(message, "result") || json_object_get(message, "error")))
        return; /* an answer: the server asks nothing */
    if (m && m->handle == on_exit_now) {
        s->state = ENDED;
        return;
    }
    if (!method || (id && !json_is_string(id) && !json_is_number(id)))
        fail_with(&f, INVALID_REQUEST, "that is no request");
    else if (!is_refused(s, method, m, &f) && m->request == (id != NULL))
        result = m->handle(s, json_object_get(message, "params"), &f);
    else if (m && m->request != (id != NULL))
        fail_with(&f, INVALID_REQUEST, "'%s' is %s", method,
                  m->request ? "a request" : "a notification");
    if (id || !method)
        answer(s, id, result, &f);
    else
        json_decref(result);
    release_files(s);
}

/* The request with that id is answered unseen, if it still waits. */
static void cancel(server *s, const json_t *id)
{
    for (int i = 0; i < s->nqueued; i++) {
        json_t *other = json_object_get(s->queue[i], "id");
        if (!other || !json_equal(other, id))
            continue;
        failure f = {0};
        fail_with(&f, REQUEST_CANCELLED, "cancelled");
        answer(s, other, NULL, &f);
        json_decref(s->queue[i]);
        memmove(s->queue + i, s->queue + i + 1, (size_t)(--s->nqueued - i) * sizeof *s->queue);
        return;
    }
}

static void damaged(server *s, const char *what)
{
    failure f = {0};
    fail_with(&f, PARSE_ERROR, "%s", what);
    answer(s, NULL, NULL, &f);
}

static void enqueue(server *s, const char *text, size_t size)
{
    json_error_t error;
    json_t *message = json_loadb(text, size, JSON_ALLOW_NUL, &error);
    const char *method = json_string_value(json_object_get(message, "method"));
    if (!json_is_object(message)) {
        failure f = {0};
        fail_with(&f, INVALID_REQUEST, "a message is an object");
        if (message)
            answer(s, NULL, NULL, &f);
        else
            damaged(s, error.text);
        json_decref(message);
    } else if (method && strcmp(method, "$/cancelRequest") == 0) {
        cancel(s, json_object_get(json_object_get(message, "params"), "id"));
        json_decref(message);
    } else {
        s->queue[s->nqueued++] = message;
    }
}

/* All that has come, or that comes first. False: no more will. */
static bool take_input(server *s, int wait)
{
    const char *text;
    size_t size;
    while (s->nqueued < MOST_QUEUED) {
        switch (receive(&s->in, wait, &text, &size)) {
        case ARRIVED: enqueue(s, text, size); break;
        case DAMAGED: damaged(s, "a message begins with Content-Length, of at most 128 MiB"); break;
        case NOTHING_YET: return true;
        case INPUT_ENDED: return false;
        }
        wait = 0;
    }
    return true;
}

/* The document to analyse now, or NULL; then *wait is for how many ms nothing has to be done, -1: for ever. */
static document *due_document(const server *s, int *wait)
{
    double now = now_in_seconds();
    *wait = -1;
    for (document *d = s->documents; d; d = d->next) {
        double left = d->quick ? d->changed + 1e-3 * PAUSE - now : 0;
        if (d->dirty && left <= 0)
            return d;
        if (d->dirty && (*wait < 0 || left * 1e3 < *wait))
            *wait = (int)(left * 1e3) + 1;
    }
    return NULL;
}

/* One that has waited too long for an end of the messages. */
static document *late_document(const server *s)
{
    double then = now_in_seconds() - LATE;
    document *d = s->documents;
    while (d && (!d->dirty || d->quick || d->since > then))
        d = d->next;
    return d;
}

static void analyse(server *s, document *d)
{
    if (d->quick || !diagnose_quickly(s, d))
        diagnose(s, d);
    else
        d->quick = true;
    release_files(s);
}

static void serve(server *s)
{
    bool open = true;
    int wait;
    while (s->state != ENDED && !s->broken) {
        document *d = due_document(s, &wait);
        open = take_input(s, s->nqueued > 0 || d ? 0 : wait) && open;
        if (s->nqueued > 0)
            d = late_document(s);
        if (d) {
            analyse(s, d);
        } else if (s->nqueued > 0) {
            json_t *message = s->queue[0];
            memmove(s->queue, s->queue + 1, (size_t)--s->nqueued * sizeof *s->queue);
            handle(s, message);
            json_decref(message);
        } else if (!open) {
            return;
        }
    }
}

const char *lsp_version(void)
{
    return jansson_version_str();
}

int command_lsp(const options *o)
{
    options plain = *o;
    plain.device = "cpu";
    server *s = calloc(1, sizeof *s);
    if (!s)
        return complain("out of memory"), EXIT_FAILED;
    s->o = &plain;
    s->roots = json_array();
    s->ctx = open_context(&plain);
    if (s->ctx)
        serve(s);
    int code = s->ctx && s->shut ? EXIT_OK : EXIT_FAILED;
    for (int i = 0; i < s->nqueued; i++)
        json_decref(s->queue[i]);
    free_documents(s);
    json_decref(s->roots);
    free(s->in.bytes);
    kjit_context_destroy(s->ctx);
    free(s);
    return code;
}
