/* Why a launch was refused or failed, said in terms of the source. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/launch.h"

/* ---- Clauses of requires ---- */

/* What a clause speaks of, each once. Found in its text: what the launch fixed stands in its tree
 * as a constant. */
typedef struct subjects {
    kj_binding *b;
    kj_text text;
    bool params[KJ_MAX_PARAMS];
    bool dims[2]; /* block, grid */
} subjects;

static void separate(subjects *s)
{
    if (s->text.size > 0)
        kj_text_puts(&s->text, ", ");
}

static const char *value_text(kj_value v, char buf[KJ_SCALAR_TEXT])
{
    uint64_t element = 0;
    kj_value_write(&element, 0, v);
    return kj_scalar_text((kjit_dtype)v.type, &element, buf);
}

static kj_dtype param_type(const subjects *s, int param)
{
    const kj_kernel_param *p = &s->b->kernel->decl->params[param];
    return p->generic >= 0 ? s->b->generics[p->generic] : p->type;
}

/* "v is (1.0, 2.0)", "z is (1+2j)" */
static void add_parts(subjects *s, int param)
{
    char number[KJ_SCALAR_TEXT];
    const char *before = "(";
    bool complex = kj_is_complex_type(param_type(s, param));
    kj_text_printf(&s->text, "%s is ", s->b->kernel->decl->params[param].name);
    for (int i = 0; i < s->b->nruntime; i++) {
        if (s->b->runtime[i] != param)
            continue;
        if (complex) {
            kj_value re = kj_binding_scalar(s->b, i), im = kj_binding_scalar(s->b, i + 1);
            kj_text_puts(&s->text, kj_complex_text(re.f, im.f, re.type, number));
            return;
        }
        kj_text_printf(&s->text, "%s%s", before, value_text(kj_binding_scalar(s->b, i), number));
        before = ", ";
    }
    kj_text_puts(&s->text, ")");
}

static void add_param(subjects *s, int i)
{
    const kj_kernel_decl *decl = s->b->kernel->decl;
    char shape[KJ_SHAPE_TEXT], number[KJ_SCALAR_TEXT];
    if (s->params[i])
        return;
    s->params[i] = true;
    separate(s);
    if (decl->params[i].ndim > 0) {
        const kjit_array *a = s->b->args[i]->u.array;
        kj_text_printf(&s->text, "%s.shape is %s", decl->params[i].name,
                       kj_shape_text(a->ndim, a->shape, shape));
        return;
    }
    if (!kj_is_scalar(param_type(s, i))) {
        add_parts(s, i);
        return;
    }
    int nth = 0;
    for (int k = 0; k < i; k++)
        nth += decl->params[k].is_const;
    kj_value v = decl->params[i].is_const ? s->b->consts[nth] : s->b->scalars[i];
    kj_text_printf(&s->text, "%s is %s", decl->params[i].name, value_text(v, number));
}

static void add_dims(subjects *s, bool grid)
{
    char buf[KJ_SHAPE_TEXT];
    if (s->dims[grid])
        return;
    s->dims[grid] = true;
    separate(s);
    kj_text_printf(&s->text, "%s is %s", grid ? "gridDim" : "blockDim",
                   kj_shape_text(3, grid ? s->b->grid : s->b->block, buf));
}

static void add_name(subjects *s, const char *name, size_t size)
{
    const kj_kernel_decl *decl = s->b->kernel->decl;
    for (int i = 0; i < decl->nparams; i++) {
        if (strlen(decl->params[i].name) == size && memcmp(decl->params[i].name, name, size) == 0)
            add_param(s, i);
    }
    if (size == 8 && memcmp(name, "blockDim", size) == 0)
        add_dims(s, false);
    if (size == 7 && memcmp(name, "gridDim", size) == 0)
        add_dims(s, true);
}

/* Every name of the text that is no member: `shape` of x.shape is not the parameter shape. */
static void collect(subjects *s, const char *text)
{
    bool member = false;
    while (*text) {
        size_t size = 0;
        while (kj_is_word(text[size]))
            size++;
        if (size > 0 && !member)
            add_name(s, text, size);
        member = *text == '.';
        text += size ? size : 1;
    }
}

/* The source between two places, on one line. */
static void add_source(kj_text *t, const kj_source *source, kj_span span)
{
    enum { MOST = 200 };
    uint32_t end = span.end - span.begin > MOST ? span.begin + MOST : span.end;
    bool space = false;
    for (uint32_t i = span.begin; i < end && i < source->size; i++) {
        char c = source->text[i];
        bool blank = strchr(" \t\r\n\v\f", c) != NULL; /* a NUL, too */
        if (!blank || !space)
            kj_text_add(t, blank ? " " : &c, 1);
        space = blank;
    }
    if (end < span.end)
        kj_text_puts(t, "...");
}

static kjit_status refuse(kj_binding *b, const kj_variant *variant, kj_span at)
{
    kjit_module *mod = b->kernel->mod;
    kj_text clause = {0};
    subjects s = {.b = b};
    kj_position where = kj_where(&mod->source, at.begin);
    add_source(&clause, &mod->source, at);
    collect(&s, clause.data ? clause.data : "");
    kjit_status status;
    if (clause.failed || s.text.failed)
        status = kj_no_memory(mod->ctx);
    else
        status =
            kj_fail(mod->ctx, KJIT_LAUNCH, "kernel '%s' requires %s (%s:%u:%u)%s%s",
                    variant->kernel->name, clause.data ? clause.data : "", where.file, where.line,
                    where.column, s.text.size ? ", but " : "", s.text.size ? s.text.data : "");
    kj_text_free(&clause);
    kj_text_free(&s.text);
    return status;
}

kjit_status kj_check_requires(kj_binding *b, const kj_variant *variant)
{
    kj_span failed;
    kj_eval_env env = kj_binding_env(b);
    if (kj_requires_hold(variant->kernel, &env, &failed))
        return KJIT_OK;
    if (failed.end == 0)
        return kj_fail(b->kernel->mod->ctx, KJIT_INTERNAL,
                       "kernel '%s': a requires cannot be evaluated", variant->kernel->name);
    return refuse(b, variant, failed);
}

kjit_status kj_check_writes(const kj_binding *b, const kj_variant *variant)
{
    for (int i = 0; i < b->nruntime; i++) {
        const kj_param_info *p = &variant->kernel->params[i];
        if (p->is_array && p->written && b->args[b->runtime[i]]->u.array->buffer->read_only)
            return kj_fail(b->kernel->mod->ctx, KJIT_INVALID,
                           "kernel '%.100s' writes '%s', and the array for it is read-only",
                           b->kernel->decl->name, b->kernel->decl->params[b->runtime[i]].name);
    }
    return KJIT_OK;
}
