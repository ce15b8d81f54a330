/* The failure of a run as text or as JSON: a sentence at a place of the run block, or what a kernel was told at a
 * place of its own; then who launched and called it. */
#include "run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Who called ---- */

/* `at` NULL: of no place. */
typedef void put_note(const kj_run *r, kj_arena *arena, const kj_span *at, const char *note,
                      kj_text *t);

/* The innermost first; of many the outermost behind those. */
static void put_callers(const kj_run *r, kj_arena *arena, put_note *put, kj_text *t)
{
    enum { MOST = sizeof r->callers.at / sizeof *r->callers.at };
    int n = r->callers.n < MOST ? r->callers.n : MOST, left = r->callers.n - n;
    if (r->inside.end > r->inside.begin)
        put(r, arena, &r->inside, "found here", t);
    for (int i = 0; i < n; i++) {
        int times = r->callers.at[i].times;
        if (i == MOST - 1 && left > 0)
            put(r, arena, NULL,
                kj_arena_printf(arena,
                                left == 1 ? "%d more call stands between these"
                                          : "%d more calls stand between these",
                                left),
                t);
        put(r, arena, &r->callers.at[i].span,
            times > 1 ? kj_arena_printf(arena, "called here, %d times", times) : "called here", t);
    }
}

static void put_wanted(const kj_run *r, kj_arena *arena, put_note *put, kj_text *t)
{
    if (r->wanted.end > r->wanted.begin)
        put(r, arena, &r->wanted, "the message was to hold this", t);
}

/* ---- In the library ---- */

static bool is_in_library(const kj_run *r, kj_span at)
{
    const char *name = kj_where(r->source, at.begin).file;
    return name != r->source->name && strncmp(name, "std/", 4) == 0;
}

/* Without memory it stays as it is. */
static void retell(char **text, const char *other)
{
    char *own = strdup(other);
    if (own) {
        free(*text);
        *text = own;
    }
}

/* What a function of the library refuses is told of its call in the user's file, by the name it has there. */
static void leave_library(kj_run *r, kj_arena *arena)
{
    enum { MOST = sizeof r->callers.at / sizeof *r->callers.at };
    kj_rcallers *c = &r->callers;
    int n = c->n < MOST ? c->n : MOST, i = 0;
    if (strchr(r->message, '\n') || !is_in_library(r, r->at))
        return;
    while (i < n && is_in_library(r, c->at[i].span))
        i++;
    if (i == n || c->n > MOST)
        return;
    const char *call = r->source->text + c->at[i].span.begin;
    int len = (int)strcspn(call, "( \t\n");
    r->inside = r->at;
    r->at = c->at[i].span;
    memmove(&c->at[i], &c->at[i + 1], (size_t)(n - i - 1) * sizeof *c->at);
    c->n--;
    if (strncmp(r->message, "assertion failed", 16) != 0)
        retell(&r->message, kj_arena_printf(arena, "%.*s: %s", len, call, r->message));
    if (r->hint &&
        strncmp(r->hint, "an array of it has", 18) == 0) /* which the function asked for */
        retell(&r->hint, "make an array of it: array(...)");
}

/* ---- As text ---- */

static void put_text_note(const kj_run *r, kj_arena *arena, const kj_span *at, const char *note,
                          kj_text *t)
{
    if (!at) {
        kj_text_printf(t, "%s: note: %s\n", r->source->name, note);
        return;
    }
    kj_diag d;
    kj_diag_init(&d, arena, r->source);
    kj_error(&d, *at, KJ_RULE_RUN, "%s", "");
    const char *text = kj_diag_text(&d), *what = strstr(text, " error: \n");
    kj_text_add(t, text, what ? (size_t)(what - text) : 0);
    kj_text_printf(t, " note: %s\n", note);
    kj_text_puts(t, what ? what + strlen(" error: \n") : text);
}

/* A message that is a diagnostic itself, of a place in a kernel. */
static bool is_diagnostic(const kj_run *r)
{
    return strchr(r->message, '\n') != NULL;
}

static const char *found(const kj_run *r)
{
    return r->launching ? "launched here" : "found here";
}

static void say(kj_run *r, kj_arena *arena, kj_diag *d)
{
    kj_diag_init(d, arena, r->source);
    kj_message *m = kj_error(d, r->at, KJ_RULE_RUN, "%s", r->message);
    if (r->hint)
        kj_hint(d, m, "%s", r->hint);
    if (r->declared.end > r->declared.begin)
        kj_note(d, m, r->declared, "declared here");
}

/* One that is a diagnostic stands first; then who launched it, and who called that. */
static void put_located(kj_run *r, kj_arena *arena, kj_text *t)
{
    if (is_diagnostic(r)) {
        kj_text_puts(t, r->message);
        kj_text_puts(t, r->message[strlen(r->message) - 1] == '\n' ? "" : "\n");
        put_text_note(r, arena, &r->at, found(r), t);
    } else {
        kj_diag d;
        say(r, arena, &d);
        kj_text_puts(t, kj_diag_text(&d));
    }
    put_callers(r, arena, put_text_note, t);
    put_wanted(r, arena, put_text_note, t);
}

/* ---- As JSON: an object a line, notes too ---- */

static void put_json_note(const kj_run *r, kj_arena *arena, const kj_span *at, const char *note,
                          kj_text *t)
{
    (void)arena;
    kj_json_begin(t, r->source, at, "note", KJ_RULE_RUN, note, NULL);
    kj_text_puts(t, "}\n");
}

static void put_json(kj_run *r, kj_arena *arena, kj_text *t)
{
    kj_diag d;
    if (r->json) {
        kj_text_puts(t, r->json);
        put_json_note(r, arena, &r->at, found(r), t);
    } else {
        say(r, arena, &d);
        kj_text_puts(t, kj_diag_json(&d));
    }
    put_callers(r, arena, put_json_note, t);
    put_wanted(r, arena, put_json_note, t);
}

static void put_nowhere(const kj_source *source, bool json, const char *message, const char *hint,
                        kj_text *t)
{
    if (json) {
        kj_json_begin(t, source, NULL, "error", KJ_RULE_RUN, message, hint);
        kj_text_puts(t, "}\n");
        return;
    }
    kj_text_printf(t, "%s: error: %s", source->name, message);
    if (hint)
        kj_text_printf(t, "\nhint: %s", hint);
}

kjit_status kj_run_fail_nowhere(kjit_module *mod, const kjit_run_options *options,
                                kjit_status status, const char *message, const char *hint)
{
    kj_text t = {0};
    put_nowhere(&mod->source, options && options->json == 1, message, hint, &t);
    status = t.failed ? kj_no_memory(mod->ctx) : kj_fail_lines(mod->ctx, status, t.data);
    kj_text_free(&t);
    return status;
}

kjit_status kj_run_give_failure(kj_run *r)
{
    kj_text t = {0};
    const char *message = r->message ? r->message : kjit_status_message(r->status);
    bool json = r->options->json == 1, nowhere = !r->message || r->at.begin == kj_run_nowhere.begin;
    if (nowhere) {
        put_nowhere(r->source, json, message, r->hint, &t);
    } else {
        jmp_buf no_memory;
        kj_arena arena;
        kj_arena_init(&arena, &no_memory);
        if (setjmp(no_memory) == 0) {
            leave_library(r, &arena);
            (json ? put_json : put_located)(r, &arena, &t);
        } else
            t.failed = true;
        kj_arena_free(&arena);
    }
    if (t.failed)
        kj_text_free(&t); /* then the status's sentence is left */
    kjit_fault *fault = r->fault;
    r->fault = NULL;
    return kj_fail_telling(r->ctx, r->status, (kj_telling){t.data, fault});
}
