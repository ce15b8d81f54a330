/* Files, and copies between host and device. In: paths and arrays; out: arrays. */
#include "io/file.h"
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

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
bool kj_run_may_use_files(kj_run *r, kj_span at)
{
    return !r->ctx->limits.untrusted ||
           kj_run_fail(r, KJIT_LIMIT, at,
                       "run blocks of an untrusted context use no files but those they are given: "
                       "by name=@file, and --save");
}

/* Positions of load's parameters. */
enum { LOAD_DTYPE = 1, LOAD_NAME, LOAD_SHAPE, LOAD_OFFSET, LOAD_ORDER, LOAD_FORMAT };

/* The order of bytes. */
static bool take_order(kj_run *r, const kj_rcall *c, kjit_load_options *how)
{
    const char *text = "little";
    if (c->given[LOAD_ORDER] && !kj_run_arg_text(r, c, LOAD_ORDER, &text))
        return false;
    how->big_endian = strcmp(text, "big") == 0;
    return how->big_endian || strcmp(text, "little") == 0 ||
           kj_run_fail(r, KJIT_TYPE, c->spans[LOAD_ORDER],
                       "the order of bytes is \"little\" or \"big\"");
}

static bool take_how(kj_run *r, const kj_rcall *c, kjit_load_options *how,
                     int64_t shape[KJIT_MAX_NDIM])
{
    if (c->given[LOAD_SHAPE])
        how->shape = shape;
    how->as_dtype = c->given[LOAD_DTYPE];
    return kj_run_arg_dtype(r, c, LOAD_DTYPE, &how->dtype) &&
           (!c->given[LOAD_NAME] || kj_run_arg_text(r, c, LOAD_NAME, &how->name)) &&
           (!c->given[LOAD_SHAPE] || kj_run_arg_open_shape(r, c, LOAD_SHAPE, &how->ndim, shape)) &&
           (!c->given[LOAD_OFFSET] || kj_run_arg_int(r, c, LOAD_OFFSET, &how->offset)) &&
           take_order(r, c, how) &&
           (!c->given[LOAD_FORMAT] || kj_run_arg_text(r, c, LOAD_FORMAT, &how->format));
}

/* Behind a failed load: what says how the file is to be read. */
static bool hint_load(kj_run *r, kjit_status status, const char *path, const kjit_load_options *how)
{
    const char *format = how->format;
    if (status == KJIT_IO)
        return kj_run_hint_file(r, path);
    if (status == KJIT_TYPE && !how->as_dtype && kj_file_is_raw(path, format) &&
        (format || !kj_table_format(path)))
        return kj_run_hint(r, "load(\"%s\", f32%s%s%s) takes them as f32", path,
                           format ? ", format=\"" : "", format ? format : "", format ? "\"" : "");
    if (status == KJIT_INVALID && how->shape && !kj_file_is_raw(path, format))
        return kj_run_hint(r, "the file has its own shape; another is load(...).reshape(...)");
    return status == KJIT_INVALID && !how->name && kj_file_has_names(path, format) &&
           kj_run_hint(r, "load(\"%s\", name=\"...\") takes the one of that name", path);
}

bool kj_run_load_file(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    const char *path;
    kjit_array *a = NULL;
    kjit_load_options how = {.as_dtype = 0};
    int64_t shape[KJIT_MAX_NDIM];
    if (!kj_run_may_use_files(r, c->span) || !kj_run_arg_text(r, c, 0, &path) ||
        !take_how(r, c, &how, shape))
        return false;
    kjit_status status = kjit_array_load_with(r->ctx, path, &how, &a);
    return status == KJIT_OK ? kj_run_array(r, c->span, a, out)
                             : kj_run_check(r, status, c->span) || hint_load(r, status, path, &how);
}

bool kj_run_sample_rate(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    const char *path;
    int64_t rate;
    if (!kj_run_may_use_files(r, c->span) || !kj_run_arg_text(r, c, 0, &path))
        return false;
    kjit_status status = kjit_sample_rate(r->ctx, path, &rate);
    if (!kj_run_check(r, status, c->span))
        return status == KJIT_IO && kj_run_hint_file(r, path);
    *out = kj_run_int(rate);
    return true;
}

/* Positions of save's parameters behind those that take the arrays. */
enum { SAVE_LOW = 3, SAVE_HIGH, SAVE_RATE, SAVE_FPS };

/* The option of save that is near to a name which is none, where the value is a number, as options are; NULL: there is none. */
static const char *option_meant(const char *name)
{
    static const char *const options[] = {"low", "high", "sample_rate", "fps"};
    static const struct {
        const char *theirs, *ours;
    } others[] = {{"hi", "high"},        {"vmin", "low"},     {"vmax", "high"},
                  {"min", "low"},        {"max", "high"},     {"rate", "sample_rate"},
                  {"frame_rate", "fps"}, {"framerate", "fps"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i].theirs) == 0)
            return others[i].ours;
    return kj_nearest(name, options, sizeof options / sizeof *options);
}

static bool hint_separator(kj_run *r, const char *name)
{
    static const char *const theirs[] = {"delimiter", "sep", "separator", "fieldsep"};
    bool meant = kj_nearest(name, theirs, sizeof theirs / sizeof *theirs) != NULL;
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
        meant |= strcmp(name, theirs[i]) == 0;
    return meant &&
           (kj_run_hint(r, "the path's ending says what is between columns: a comma in .csv, "
                           "a tab in .tsv, a blank in .txt"),
            true);
}

/* What is given by name is an array's column, or an option. */
static bool no_array(kj_run *r, const kj_expr *e, kj_rvalue v)
{
    bool number = v.kind == KJ_R_INT || v.kind == KJ_R_FLOAT;
    const char *near = e->keyword && number ? option_meant(e->keyword) : NULL;
    if (near) {
        kj_run_fail(r, KJIT_TYPE, e->keyword_span, "'save' has no parameter '%s'", e->keyword);
        return kj_run_hint(r, "did you mean '%s'?", near);
    }
    kj_run_fail(r, KJIT_TYPE, e->span, "save writes arrays, not %s", kj_run_kind_name(v));
    if (!e->keyword || (v.kind == KJ_R_STRING && hint_separator(r, e->keyword)))
        return false;
    return kj_run_hint(r, "'%s=' is a column of that name; save%s", e->keyword,
                       kj_run_builtins[KJ_RUN_SAVE].signature);
}

/* What save was given to write, by name or without. */
static bool arrays_to_save(kj_run *r, const kj_rcall *c, kjit_named_array *arrays)
{
    for (int i = 0; i < c->nrest; i++) {
        const kj_expr *e = c->rest_exprs[i];
        if (c->rest[i].kind != KJ_R_ARRAY)
            return no_array(r, e, c->rest[i]);
        arrays[i] = (kjit_named_array){.name = e->keyword, .array = array_of(c->rest[i])};
    }
    if (c->nrest > 0)
        return true;
    kj_run_fail(r, KJIT_TYPE, c->span, "save needs an array");
    return kj_run_hint(r, "save%s", kj_run_builtins[c->id].signature);
}

static bool take_rate(kj_run *r, const kj_rcall *c, int64_t *out)
{
    if (!c->given[SAVE_RATE])
        return true;
    return kj_run_arg_int(r, c, SAVE_RATE, out) &&
           (*out > 0 || kj_run_fail(r, KJIT_TYPE, c->spans[SAVE_RATE], "%lld is no sample_rate",
                                    (long long)*out));
}

static bool take_fps(kj_run *r, const kj_rcall *c, double *out)
{
    if (!c->given[SAVE_FPS])
        return true;
    return kj_run_arg_float(r, c, SAVE_FPS, out) &&
           (*out > 0 || kj_run_fail(r, KJIT_TYPE, c->spans[SAVE_FPS],
                                    "there are more than 0 pictures a second, not %g", *out));
}

static bool check_shades(kj_run *r, const kj_rcall *c, const char *path,
                         const kjit_named_array *arrays)
{
    for (int i = SAVE_LOW; i <= SAVE_HIGH; i++) {
        if (!c->given[i])
            continue;
        if (kj_file_kind(r->ctx, path) == KJIT_OK && !kj_file_is_shaded(path))
            return kj_run_fail(r, KJIT_INVALID, c->spans[i],
                               "low and high are of pictures of shades, and '%s' is none", path);
        for (int k = 0; k < c->nrest; k++)
            if (!kj_run_check_shades(r, c->spans[i], arrays[k].array))
                return false;
    }
    return true;
}

bool kj_run_save_file(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    const char *path;
    kjit_save_options how = {.low = 0, .high = 1};
    *out = kj_run_none();
    if (!kj_run_may_use_files(r, c->span) || !kj_run_arg_text(r, c, 0, &path) ||
        (c->given[SAVE_LOW] && !kj_run_arg_float(r, c, SAVE_LOW, &how.low)) ||
        (c->given[SAVE_HIGH] && !kj_run_arg_float(r, c, SAVE_HIGH, &how.high)) ||
        !take_rate(r, c, &how.sample_rate) || !take_fps(r, c, &how.fps))
        return false;
    kjit_named_array *arrays = calloc((size_t)c->nrest + 1, sizeof *arrays);
    if (!arrays)
        return kj_run_no_memory(r, c->span);
    bool ok = arrays_to_save(r, c, arrays) && check_shades(r, c, path, arrays) &&
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
