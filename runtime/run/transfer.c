/* Files, and copies between host and device. In: paths and arrays; out: arrays. */
#include "io/file.h"
#include "run/run.h"

#include <stdlib.h>

static kjit_array *array_of(kj_rvalue v)
{
    return v.u.object->u.array;
}

static bool self_array(kj_run *r, const kj_rcall *c, kjit_array **out)
{
    if (c->self.kind != KJ_R_ARRAY)
        return kj_run_lacks(r, c->span, c->self, c->id);
    *out = array_of(c->self);
    return true;
}

bool kj_run_view(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_array *a = NULL, *view = NULL;
    kjit_dtype dtype = KJIT_F32;
    if (!self_array(r, c, &a) || !kj_run_arg_dtype(r, c, 0, &dtype) ||
        !kj_run_check(r, kjit_array_view(a, dtype, &view), c->span) ||
        !kj_run_array(r, c->span, view, out))
        return false;
    out->u.object->fixed = c->self.u.object->fixed;
    return true;
}

/* Those of kjit_run_options are the program's own. */
static bool may_use_files(kj_run *r, const kj_rcall *c)
{
    return !r->ctx->limits.untrusted ||
           kj_run_fail(r, KJIT_LIMIT, c->span,
                       "run blocks of an untrusted context use no files but those they are given: "
                       "by name=@file, and --save");
}

bool kj_run_load_file(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    const char *path;
    kjit_array *a = NULL;
    kjit_load_options how = {.as_dtype = c->given[1]};
    if (!may_use_files(r, c) || !kj_run_arg_text(r, c, 0, &path) ||
        !kj_run_arg_dtype(r, c, 1, &how.dtype) ||
        (c->given[2] && !kj_run_arg_text(r, c, 2, &how.name)))
        return false;
    kjit_status status = kjit_array_load_with(r->ctx, path, &how, &a);
    if (status == KJIT_OK)
        return kj_run_array(r, c->span, a, out);
    kj_run_check(r, status, c->span);
    return status == KJIT_INVALID && !how.name && kj_file_has_names(path)
               ? kj_run_hint(r, "load(\"%s\", name=\"...\") takes the one of that name", path)
               : false;
}

/* Positions of save's parameters behind those that take the arrays. */
enum { SAVE_LOW = 3, SAVE_HIGH = 4 };

/* What save was given to write, by name or without. */
static bool arrays_to_save(kj_run *r, const kj_rcall *c, kjit_named_array *arrays)
{
    for (int i = 0; i < c->nrest; i++) {
        const kj_expr *e = c->rest_exprs[i];
        if (c->rest[i].kind != KJ_R_ARRAY)
            return kj_run_fail(r, KJIT_TYPE, e->span, "save writes arrays, not %s",
                               kj_run_kind_name(c->rest[i]));
        arrays[i] = (kjit_named_array){.name = e->keyword, .array = array_of(c->rest[i])};
    }
    if (c->nrest > 0)
        return true;
    kj_run_fail(r, KJIT_TYPE, c->span, "save needs an array");
    return kj_run_hint(r, "save%s", kj_run_builtins[c->id].signature);
}

bool kj_run_save_file(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    const char *path;
    kjit_save_options how = {.low = 0, .high = 1};
    *out = kj_run_none();
    if (!may_use_files(r, c) || !kj_run_arg_text(r, c, 0, &path) ||
        (c->given[SAVE_LOW] && !kj_run_arg_float(r, c, SAVE_LOW, &how.low)) ||
        (c->given[SAVE_HIGH] && !kj_run_arg_float(r, c, SAVE_HIGH, &how.high)))
        return false;
    kjit_named_array *arrays = calloc((size_t)c->nrest + 1, sizeof *arrays);
    if (!arrays)
        return kj_run_no_memory(r, c->span);
    bool ok = arrays_to_save(r, c, arrays) &&
              kj_run_check(r, kjit_arrays_save(r->ctx, path, arrays, c->nrest, &how), c->span);
    free(arrays);
    return ok;
}

bool kj_run_to_device(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_array *from = NULL, *to = NULL;
    kjit_stream *stream;
    bool copies = true;
    if (!kj_run_arg_array(r, c, 0, &from) || !kj_run_arg_stream(r, c, 1, &stream) ||
        (c->given[2] && !kj_run_truth(r, c->spans[2], "copy", c->args[2], &copies)) ||
        (c->given[3] && !kj_run_arg_array(r, c, 3, &to)))
        return false;
    const kjit_array_options device = {.memory = KJIT_DEVICE};
    if (!c->given[3])
        return kj_run_check(r,
                            copies ? kjit_to_device(from, stream, &to)
                                   : kjit_array_like(from, &device, &to),
                            c->span) &&
               kj_run_array(r, c->span, to, out);
    if (kjit_array_memory(to) != KJIT_DEVICE)
        return kj_run_fail(r, KJIT_TYPE, c->spans[3], "'to' is an array in device memory");
    if (copies &&
        (!kj_lazy_settle(r, c->span) || !kj_run_check(r, kjit_copy(to, from, stream), c->span)))
        return false;
    *out = c->args[3];
    kj_run_keep(*out);
    return true;
}

bool kj_run_copy(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_array *a;
    return kj_run_arg_array(r, c, 0, &a) &&
           kj_run_new_array(r, c->span, kjit_array_dtype(a), kjit_array_ndim(a),
                            kjit_array_shape(a), kjit_array_memory(a), out) &&
           kj_run_check(r, kjit_copy(array_of(*out), a, NULL), c->span);
}

bool kj_run_copy_to_host(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_array *from = NULL, *to = NULL;
    kjit_stream *stream;
    if (!self_array(r, c, &from) || !kj_run_arg_stream(r, c, 1, &stream))
        return false;
    if (!c->given[0])
        return kj_run_check(r, kjit_to_host(from, stream, &to), c->span) &&
               kj_run_array(r, c->span, to, out);
    if (!kj_run_arg_array(r, c, 0, &to) || !kj_lazy_settle(r, c->span) ||
        !kj_run_check(r, kjit_copy(to, from, stream), c->span))
        return false;
    *out = c->args[0];
    kj_run_keep(*out);
    return true;
}

bool kj_run_copy_to_device(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_array *from = NULL, *to = NULL;
    kjit_stream *stream;
    *out = kj_run_none();
    return self_array(r, c, &to) && kj_run_arg_array(r, c, 0, &from) &&
           kj_run_arg_stream(r, c, 1, &stream) && kj_lazy_settle(r, c->span) &&
           kj_run_check(r, kjit_copy(to, from, stream), c->span);
}

/* The names change places, the values stay where they are: so `let` is no hindrance. */
bool kj_run_swap(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kj_rbinding *names[2];
    const kj_expr *e = c->args_expr;
    *out = kj_run_none();
    for (int i = 0; i < 2; i++, e = e->next) {
        if (!e || e->kind != KJ_E_NAME || e->keyword || (i == 1 && e->next))
            return kj_run_fail(r, KJIT_TYPE, c->span, "swap takes two names: swap(a, b)");
        names[i] = kj_run_binding_of(r, e->u.name);
        if (!names[i])
            return kj_run_fail(r, KJIT_NOT_FOUND, e->span, "'%s' is not declared", e->u.name);
    }
    kj_rvalue first = names[0]->value;
    names[0]->value = names[1]->value;
    names[1]->value = first;
    return true;
}
