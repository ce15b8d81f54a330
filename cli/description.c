/* kjit info --json: what a file declares, as one object for programs. In: a checked module; out: JSON on standard output. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct json {
    output *out;
    int depth;
    bool follows; /* a member or an item stands before: a comma comes */
} json;

/* ---- The form ---- */

static void put(json *j, const char *text)
{
    write_output(j->out, text, strlen(text));
}

static void put_string(json *j, const char *text)
{
    put(j, "\"");
    while (*text) {
        char c[JSON_CHAR];
        text += json_char(c, text);
        put(j, c);
    }
    put(j, "\"");
}

/* In a line of its own; the name is NULL in an array. */
static void begin_member(json *j, const char *name)
{
    char blanks[64];
    snprintf(blanks, sizeof blanks, "%s\n%*s", j->follows ? "," : "", 2 * j->depth, "");
    put(j, j->depth > 0 ? blanks : "");
    if (name) {
        put_string(j, name);
        put(j, ": ");
    }
    j->follows = true;
}

static void open(json *j, const char *name, const char *bracket)
{
    begin_member(j, name);
    put(j, bracket);
    j->depth++;
    j->follows = false;
}

static void close_with(json *j, const char *bracket)
{
    char blanks[64];
    j->depth--;
    snprintf(blanks, sizeof blanks, "\n%*s", 2 * j->depth, "");
    put(j, j->follows ? blanks : "");
    put(j, bracket);
    j->follows = true;
}

/* NULL is null. */
static void text(json *j, const char *name, const char *value)
{
    begin_member(j, name);
    if (value)
        put_string(j, value);
    else
        put(j, "null");
}

static void number(json *j, const char *name, long long value)
{
    char digits[32];
    begin_member(j, name);
    snprintf(digits, sizeof digits, "%lld", value);
    put(j, digits);
}

static void truth(json *j, const char *name, bool value)
{
    begin_member(j, name);
    put(j, value ? "true" : "false");
}

/* An array of the text's lines, as strings or, of JSON, as they are. */
static void lines(json *j, const char *name, const char *all, bool as_json)
{
    open(j, name, "[");
    while (all && *all) {
        size_t n = strcspn(all, "\n");
        char *line = strndup(all, n);
        if (line && as_json) {
            begin_member(j, NULL);
            put(j, line);
        } else if (line) {
            text(j, NULL, line);
        }
        free(line);
        all += n + (all[n] == '\n');
    }
    close_with(j, "]");
}

/* ---- What there is ---- */

static void describe_parameter(json *j, const kjit_kernel_param *p)
{
    open(j, NULL, "{");
    text(j, "name", p->name);
    text(j, "type", p->type);
    text(j, "default", p->value);
    text(j, "doc", p->doc);
    text(j, "generic", p->generic);
    text(j, "bound", p->bound);
    number(j, "axes", p->ndim);
    truth(j, "const", p->is_const);
    truth(j, "may_be_written", p->may_be_written);
    close_with(j, "}");
}

static void describe_kernel(json *j, kjit_module *mod, const char *name)
{
    kjit_kernel_decl k = {.size = sizeof k};
    kjit_kernel_param p = {.size = sizeof p};
    if (kjit_module_kernel_decl(mod, name, &k) != KJIT_OK)
        return;
    open(j, NULL, "{");
    text(j, "name", k.name);
    text(j, "head", k.head);
    text(j, "doc", k.doc);
    text(j, "file", k.file);
    number(j, "line", k.line);
    text(j, "attributes", k.attributes);
    number(j, "max_threads", k.max_threads);
    number(j, "min_blocks", k.min_blocks);
    lines(j, "requires", k.requirements, false);
    open(j, "params", "[");
    for (int i = 0; i < k.nparams; i++)
        if (kjit_module_kernel_param(mod, name, i, &p) == KJIT_OK)
            describe_parameter(j, &p);
    close_with(j, "]");
    close_with(j, "}");
}

static void describe_field(json *j, kjit_context *ctx, const kjit_field *f)
{
    kjit_record of;
    const char *type = kjit_dtype_name(f->dtype);
    if (!type && kjit_record_info(ctx, f->dtype, &of) == KJIT_OK)
        type = of.name;
    open(j, NULL, "{");
    text(j, "name", f->name);
    text(j, "type", type);
    number(j, "offset", (long long)f->offset);
    open(j, "shape", "[");
    for (int i = 0; i < f->ndim; i++)
        number(j, NULL, f->shape[i]);
    close_with(j, "]");
    close_with(j, "}");
}

static void describe_record(json *j, kjit_context *ctx, kjit_module *mod, const char *name)
{
    kjit_dtype dtype;
    kjit_record r;
    kjit_field f;
    if (kjit_module_record(mod, name, &dtype) != KJIT_OK ||
        kjit_record_info(ctx, dtype, &r) != KJIT_OK)
        return;
    open(j, NULL, "{");
    text(j, "name", name);
    number(j, "size", (long long)r.size);
    number(j, "align", (long long)r.align);
    open(j, "fields", "[");
    for (int i = 0; i < r.nfields; i++)
        if (kjit_record_field(ctx, dtype, i, &f) == KJIT_OK)
            describe_field(j, ctx, &f);
    close_with(j, "]");
    close_with(j, "}");
}

/* Constants and params are told alike. */
static void describe_value(json *j, const char *name, const char *type, const char *value_name,
                           const char *value, const char *doc)
{
    open(j, NULL, "{");
    text(j, "name", name);
    text(j, "type", type);
    text(j, value_name, value);
    text(j, "doc", doc);
    close_with(j, "}");
}

static void describe_values(json *j, kjit_module *mod)
{
    kjit_const_info c;
    kjit_param_info p;
    open(j, "consts", "[");
    for (int i = 0; kjit_module_const(mod, i, &c); i++)
        describe_value(j, c.name, c.type, "value", c.value, c.doc);
    close_with(j, "]");
    truth(j, "has_run", kjit_module_has_run(mod));
    open(j, "params", "[");
    for (int i = 0; kjit_module_param(mod, i, &p); i++)
        describe_value(j, p.name, p.type, "default", p.value, p.doc);
    close_with(j, "]");
}

static void describe_tests(json *j, kjit_module *mod)
{
    kjit_test_info t;
    open(j, "tests", "[");
    for (int i = 0; kjit_module_test(mod, i, &t); i++) {
        open(j, NULL, "{");
        text(j, "title", t.title);
        text(j, "fails", t.fails);
        number(j, "line", t.line);
        close_with(j, "}");
    }
    close_with(j, "]");
}

int describe_module(kjit_context *ctx, const options *o, kjit_module *mod)
{
    json j = {.out = o->output};
    const char *name;
    open(&j, NULL, "{");
    text(&j, "file", o->arguments[0]);
    open(&j, "kernels", "[");
    for (int i = 0; (name = kjit_module_kernel(mod, i)); i++)
        describe_kernel(&j, mod, name);
    close_with(&j, "]");
    open(&j, "records", "[");
    for (int i = 0; (name = kjit_module_record_name(mod, i)); i++)
        describe_record(&j, ctx, mod, name);
    close_with(&j, "]");
    describe_values(&j, mod);
    describe_tests(&j, mod);
    lines(&j, "warnings", kjit_module_log_json(mod), true);
    close_with(&j, "}");
    put(&j, "\n");
    return EXIT_OK;
}
