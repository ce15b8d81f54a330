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

bool kj_lazy_launch(kj_lazy_kernel *k, const int64_t grid[3], const int64_t block[3],
                    const char *what)
{
    kj_run *r = k->run;
    kj_text text = {0}, label = {0};
    kjit_module *mod = NULL;
    if (k->failed || k->params.failed || k->body.failed)
        return kj_run_no_memory(r, k->at);
    kj_text_printf(&text, "kernel expr(%s) {\n%s}\n", k->params.data, k->body.data);
    put_label(r, k->named, what, &label);
    kjit_config config = {.grid = {grid[0], grid[1], grid[2]},
                          .block = {block[0], block[1], block[2]}};
    kjit_status status = label.failed ? kj_no_memory(r->ctx) : kj_lazy_module(r, &text, &mod);
    if (status == KJIT_OK)
        status = kj_launch_labelled(mod, "expr", label.data, &config, k->args, k->nargs);
    bool ok = kj_run_check(r, status, k->at);
    if (mod)
        kj_module_drop(mod);
    kj_text_free(&text);
    kj_text_free(&label);
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
    kj_text_free(&k->body);
}
