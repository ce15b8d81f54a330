/* Kernels of expressions, launched. In: parameters, a body and arguments; out: a launch that has
 * finished. */
#include "run/lazy/lazy.h"

#include <stdlib.h>
#include <string.h>

/* The expression as it is written, on one line, shortened: "expr: 2 * x + sin(z)". */
static void put_label(const kj_run *r, kj_span at, const char *what, kj_text *t)
{
    enum { LONGEST = 60 };
    const char *text = r->source->text;
    size_t n = 0;
    kj_text_puts(t, "expr: ");
    for (uint32_t i = at.begin; i < at.end && at.end <= r->source->size; i++) {
        bool blank = strchr(" \t\r\n", text[i]), next = i + 1 < at.end;
        if (blank && next && strchr(" \t\r\n", text[i + 1]))
            continue;
        if (n++ == LONGEST) {
            while (((unsigned char)t->data[t->size - 1] & 0xc0) == 0x80)
                t->size--; /* no half characters */
            kj_text_puts(t, "...");
            break;
        }
        kj_text_add(t, blank ? " " : &text[i], 1);
    }
    kj_text_puts(t, what);
}

/* Functions, records and constants stand where they stand in the file, so that what fails in them is told
 * there; instead of all else there are blanks. */
static void put_file(kj_run *r, kj_text *t)
{
    const kj_source *s = r->source;
    kj_source_part first = kj_source_at(s, 0);
    for (size_t i = 0; i < first.end; i++)
        kj_text_add(t, s->text[i] == '\n' ? "\n" : " ", 1);
    for (const kj_item *item = r->program->file->items; item && !t->failed; item = item->next) {
        bool kept = item->kind == KJ_I_USE || item->kind == KJ_I_TYPE || item->kind == KJ_I_FN ||
                    item->kind == KJ_I_RECORD || (item->kind == KJ_I_CONST && item->value);
        if (kept)
            memcpy(t->data + item->span.begin, s->text + item->span.begin,
                   item->span.end - item->span.begin);
    }
    kj_text_puts(t, "\n");
}

static void add_functions(const kj_lazy_kernel *k, kj_text *text)
{
    kj_text *file = &k->run->functions;
    if (file->size == 0)
        put_file(k->run, file);
    kj_text_add(text, file->data ? file->data : "", file->size);
    kj_text_add(text, k->functions.data, k->functions.size);
    text->failed |= file->failed;
}

/* The kernel's text is nobody's: that it ran out of time, or was cancelled, is told of the expression, unless it was in
 * a function of the file. */
static void tell_of_expression(kj_run *r, bool functions)
{
    bool cancelled = r->status == KJIT_CANCELLED, ended = cancelled || r->status == KJIT_TIMEOUT;
    char *text = ended ? r->message : NULL, *hint;
    if (!text || !strchr(text, '\n') ||
        (functions && (strstr(text, "in this loop") || strstr(text, "of this statement"))))
        return;
    free(r->json);
    r->json = NULL;
    r->message =
        strdup(cancelled ? "this expression was cancelled" : "this expression ran out of time");
    hint = strstr(text, "\nhint: ");
    if (hint) {
        hint += strlen("\nhint: ");
        kj_run_hint(r, "%.*s", (int)strcspn(hint, "\n"), hint);
    }
    free(text);
}

bool kj_lazy_launch(kj_lazy_kernel *k, const int64_t grid[3], const int64_t block[3],
                    const char *what)
{
    kj_run *r = k->run;
    kj_text text = {0}, label = {0};
    kjit_module *mod = NULL;
    if (k->failed || k->params.failed || k->body.failed)
        return kj_run_no_memory(r, k->at);
    bool functions = k->functions.size > 0;
    kj_text name = {0};
    kj_lazy_name(k, &name);
    if (functions)
        add_functions(k, &text);
    kj_text_printf(&text, "kernel %s(%s) {\n%s}\n", name.data ? name.data : "",
                   k->params.data ? k->params.data : "", k->body.data);
    put_label(r, k->named, what, &label);
    kjit_config config = {.grid = {grid[0], grid[1], grid[2]},
                          .block = {block[0], block[1], block[2]}};
    kjit_status status = label.failed || name.failed ? kj_no_memory(r->ctx)
                                                     : kj_lazy_module(r, functions, &text, &mod);
    if (status == KJIT_OK)
        status = kj_launch_labelled(mod, name.data, label.data, &config, k->args, k->nargs);
    bool ok = kj_run_check(r, status, k->at);
    if (!ok)
        tell_of_expression(r, functions);
    if (mod)
        kj_module_drop(mod);
    kj_text_free(&text);
    kj_text_free(&label);
    kj_text_free(&name);
    return ok;
}

void kj_lazy_free(kj_lazy_kernel *k)
{
    kj_domain_free(&k->domain);
    if (k->args != k->few)
        free(k->args);
    k->args = NULL;
    kj_text_free(&k->params);
    kj_text_free(&k->lets);
    kj_text_free(&k->functions);
    kj_text_free(&k->body);
}
