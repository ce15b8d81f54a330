/* Records, as the public API tells of them. */
#include <string.h>

#include "module/module.h"

/* Of a module that has no syntax tree: by the name that it has for messages. */
static const kj_aggregate *named(const kjit_module *mod, const char *name)
{
    for (int i = 0; i < mod->program->ndeclared; i++) {
        const kj_aggregate *of = mod->program->declared[i].of;
        if (strcmp(of->name, name) == 0 || kj_is_called(mod, of->name, name))
            return of;
    }
    return NULL;
}

kjit_status kjit_module_record(kjit_module *mod, const char *name, kjit_dtype *out)
{
    enum { MOST = 64 };
    const char *names[MOST];
    int n = 0;
    kjit_status status = kj_enter_compiled(mod);
    if (status != KJIT_OK)
        return status;
    if (!name || !out)
        return kj_fail(mod->ctx, KJIT_INVALID, name ? "out is NULL" : "name is NULL");
    const kj_aggregate *record =
        mod->image ? named(mod, name) : kj_record_named(mod->program, mod->program->file, name);
    if (record) {
        *out = (kjit_dtype)record->type;
        return KJIT_OK;
    }
    for (; n < MOST && n < mod->program->ndeclared; n++)
        names[n] = mod->program->declared[n].of->name;
    const char *near = kj_nearest(name, names, (size_t)n);
    if (near)
        return kj_fail(mod->ctx, KJIT_NOT_FOUND, "%s has no record '%.100s'; did you mean '%s'?",
                       mod->source.name, name, near);
    return kj_fail(mod->ctx, KJIT_NOT_FOUND, "%s has no record '%.100s'", mod->source.name, name);
}

static kjit_status find(kjit_context *ctx, kjit_dtype dtype, const void *out,
                        const kj_aggregate **of)
{
    kjit_status status = kj_enter_context(ctx);
    if (status != KJIT_OK)
        return status;
    if (!out)
        return kj_no_out(ctx);
    *of = kj_dtype_aggregate(ctx, dtype);
    return kj_is_record(*of) ? KJIT_OK : kj_fail(ctx, KJIT_TYPE, "%d is no record", (int)dtype);
}

kjit_status kjit_record_info(kjit_context *ctx, kjit_dtype dtype, kjit_record *out)
{
    const kj_aggregate *of;
    kjit_status status = find(ctx, dtype, out, &of);
    if (status == KJIT_OK)
        *out = (kjit_record){.name = of->name,
                             .size = (size_t)of->size,
                             .align = (size_t)of->align,
                             .nfields = of->n};
    return status;
}

kjit_status kjit_record_field(kjit_context *ctx, kjit_dtype dtype, int i, kjit_field *out)
{
    const kj_aggregate *of;
    kjit_status status = find(ctx, dtype, out, &of);
    if (status != KJIT_OK)
        return status;
    if (i < 0 || i >= of->n)
        return kj_fail(ctx, KJIT_NOT_FOUND, "%s has %d fields: there is no number %d", of->name,
                       of->n, i);
    const kj_field *f = &of->fields[i];
    *out = (kjit_field){.name = f->name, .dtype = (kjit_dtype)f->type, .offset = (size_t)f->offset};
    if (!kj_is_fixed(f->of))
        return KJIT_OK;
    out->dtype = (kjit_dtype)f->of->elem;
    out->ndim = f->of->ndim;
    memcpy(out->shape, f->of->shape, sizeof out->shape);
    return KJIT_OK;
}
