/* kjit info --json: what a file declares, as one object for programs. In: a checked module; out: JSON on standard output. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json.h"

/* An array of the text's lines, as strings or, of JSON, as they are. */
static void lines(json *j, const char *name, const char *all, bool as_json)
{
    out_open(j, name, "[");
    while (all && *all) {
        size_t n = strcspn(all, "\n");
        char *line = strndup(all, n);
        if (line && as_json) {
            out_member(j, NULL);
            out_put(j, line);
        } else if (line) {
            out_text(j, NULL, line);
        }
        free(line);
        all += n + (all[n] == '\n');
    }
    out_close(j, "]");
}

/* ---- What there is ---- */

static void describe_parameter(json *j, const kjit_kernel_param *p)
{
    out_open(j, NULL, "{");
    out_text(j, "name", p->name);
    out_text(j, "type", p->type);
    out_text(j, "default", p->value);
    out_text(j, "doc", p->doc);
    out_text(j, "generic", p->generic);
    out_text(j, "bound", p->bound);
    out_number(j, "axes", p->ndim);
    out_truth(j, "const", p->is_const);
    out_truth(j, "may_be_written", p->may_be_written);
    out_close(j, "}");
}

static void describe_kernel(json *j, kjit_module *mod, const char *name)
{
    kjit_kernel_decl k = {.size = sizeof k};
    kjit_kernel_param p = {.size = sizeof p};
    if (kjit_module_kernel_decl(mod, name, &k) != KJIT_OK)
        return;
    out_open(j, NULL, "{");
    out_text(j, "name", k.name);
    out_text(j, "head", k.head);
    out_text(j, "doc", k.doc);
    out_text(j, "file", k.file);
    out_number(j, "line", k.line);
    out_text(j, "attributes", k.attributes);
    out_number(j, "max_threads", k.max_threads);
    out_number(j, "min_blocks", k.min_blocks);
    lines(j, "requires", k.requirements, false);
    out_open(j, "params", "[");
    for (int i = 0; i < k.nparams; i++)
        if (kjit_module_kernel_param(mod, name, i, &p) == KJIT_OK)
            describe_parameter(j, &p);
    out_close(j, "]");
    out_close(j, "}");
}

static void describe_field(json *j, kjit_context *ctx, const kjit_field *f)
{
    kjit_record of;
    const char *type = kjit_dtype_name(f->dtype);
    if (!type && kjit_record_info(ctx, f->dtype, &of) == KJIT_OK)
        type = of.name;
    out_open(j, NULL, "{");
    out_text(j, "name", f->name);
    out_text(j, "type", type);
    out_number(j, "offset", (long long)f->offset);
    out_open(j, "shape", "[");
    for (int i = 0; i < f->ndim; i++)
        out_number(j, NULL, f->shape[i]);
    out_close(j, "]");
    out_close(j, "}");
}

static void describe_record(json *j, kjit_context *ctx, kjit_module *mod, const char *name)
{
    kjit_dtype dtype;
    kjit_record r;
    kjit_field f;
    if (kjit_module_record(mod, name, &dtype) != KJIT_OK ||
        kjit_record_info(ctx, dtype, &r) != KJIT_OK)
        return;
    out_open(j, NULL, "{");
    out_text(j, "name", name);
    out_number(j, "size", (long long)r.size);
    out_number(j, "align", (long long)r.align);
    out_open(j, "fields", "[");
    for (int i = 0; i < r.nfields; i++)
        if (kjit_record_field(ctx, dtype, i, &f) == KJIT_OK)
            describe_field(j, ctx, &f);
    out_close(j, "]");
    out_close(j, "}");
}

/* Constants and params are told alike. */
static void describe_value(json *j, const char *name, const char *type, const char *value_name,
                           const char *value, const char *doc)
{
    out_open(j, NULL, "{");
    out_text(j, "name", name);
    out_text(j, "type", type);
    out_text(j, value_name, value);
    out_text(j, "doc", doc);
    out_close(j, "}");
}

static void describe_values(json *j, kjit_module *mod)
{
    kjit_const_info c;
    kjit_param_info p;
    out_open(j, "consts", "[");
    for (int i = 0; kjit_module_const(mod, i, &c); i++)
        describe_value(j, c.name, c.type, "value", c.value, c.doc);
    out_close(j, "]");
    out_truth(j, "has_run", kjit_module_has_run(mod));
    out_open(j, "params", "[");
    for (int i = 0; kjit_module_param(mod, i, &p); i++)
        describe_value(j, p.name, p.type, "default", p.value, p.doc);
    out_close(j, "]");
}

static void describe_tests(json *j, kjit_module *mod)
{
    kjit_test_info t;
    out_open(j, "tests", "[");
    for (int i = 0; kjit_module_test(mod, i, &t); i++) {
        out_open(j, NULL, "{");
        out_text(j, "title", t.title);
        out_text(j, "fails", t.fails);
        out_number(j, "line", t.line);
        out_close(j, "}");
    }
    out_close(j, "]");
}

int describe_module(kjit_context *ctx, const options *o, kjit_module *mod)
{
    json j = {.out = o->output};
    const char *name;
    out_open(&j, NULL, "{");
    out_text(&j, "file", o->arguments[0]);
    out_open(&j, "kernels", "[");
    for (int i = 0; (name = kjit_module_kernel(mod, i)); i++)
        describe_kernel(&j, mod, name);
    out_close(&j, "]");
    out_open(&j, "records", "[");
    for (int i = 0; (name = kjit_module_record_name(mod, i)); i++)
        describe_record(&j, ctx, mod, name);
    out_close(&j, "]");
    describe_values(&j, mod);
    describe_tests(&j, mod);
    lines(&j, "warnings", kjit_module_log_json(mod), true);
    out_close(&j, "}");
    out_put(&j, "\n");
    return EXIT_OK;
}
