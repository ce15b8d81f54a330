/* A builtin's arguments as what it needs. In: a bound call; out: an integer, text, a shape...; a
 * failure names the parameter. */
#include "run/value/value.h"

#include <math.h>
#include <string.h>

/* hint: NULL: what the builtin takes; "": the caller has one. */
static bool wrong(kj_run *r, const kj_rcall *c, int i, const char *needed, const char *hint)
{
    const kj_run_signature *s = &r->signatures[c->id];
    const kj_run_info *info = &kj_run_builtins[c->id];
    const char *name = info->name + (info->name[0] == '.');
    kj_run_fail(r, KJIT_TYPE, c->spans[i], "'%.*s' of %s is %s, not %s", s->params[i].len,
                s->params[i].name, name, needed, kj_run_kind_name(c->args[i]));
    if (hint && !*hint)
        return false;
    if (hint)
        return kj_run_hint(r, "%s", hint);
    return kj_run_hint(r, "%s%s: %s", name, info->signature, info->doc);
}

/* zeros(3, 4) */
static bool gives_extents(const kj_rcall *c, const kj_run_signature *s)
{
    return s->n > 1 && s->params[0].len == 5 && strncmp(s->params[0].name, "shape", 5) == 0 &&
           c->args[0].kind == KJ_R_INT && c->args[0].u.i > 0 && c->args[1].kind == KJ_R_INT;
}

bool kj_run_arg_int(kj_run *r, const kj_rcall *c, int i, int64_t *out)
{
    if (c->args[i].kind == KJ_R_FLOAT && !wrong(r, c, i, "an int", ""))
        return kj_run_hint_int(r, c->spans[i]);
    if (c->args[i].kind != KJ_R_INT)
        return wrong(r, c, i, "an int", NULL);
    if (c->args[i].dtype == KJIT_U64)
        return kj_run_fail(r, KJIT_TYPE, c->spans[i], "%s is too large: it is at most %lld",
                           kj_run_short(c->args[i]).text, (long long)INT64_MAX);
    *out = c->args[i].u.i;
    return true;
}

bool kj_run_arg_float(kj_run *r, const kj_rcall *c, int i, double *out)
{
    if (!kj_run_is_number(c->args[i]))
        return wrong(r, c, i, "a number", NULL);
    *out = kj_run_as_float(c->args[i]);
    return true;
}

bool kj_run_arg_distance(kj_run *r, const kj_rcall *c, double from, double to, double *out)
{
    *out = to - from;
    if (isfinite(from) && isfinite(to) && !isfinite(*out))
        return kj_run_fail(r, KJIT_TYPE, c->span, "from %g to %g is more than an f64 holds", from,
                           to);
    return true;
}

bool kj_run_arg_text(kj_run *r, const kj_rcall *c, int i, const char **out)
{
    if (c->args[i].kind != KJ_R_STRING)
        return wrong(r, c, i, "a string", NULL);
    *out = c->args[i].u.object->u.string.text;
    return true;
}

bool kj_run_arg_array(kj_run *r, const kj_rcall *c, int i, kjit_array **out)
{
    if (c->args[i].kind != KJ_R_ARRAY)
        return wrong(r, c, i, "an array", NULL);
    *out = c->args[i].u.object->u.array;
    return true;
}

bool kj_run_arg_dtype(kj_run *r, const kj_rcall *c, int i, kjit_dtype *out)
{
    if (!c->given[i])
        return true;
    if (c->args[i].kind != KJ_R_DTYPE)
        return wrong(r, c, i, "a type",
                     gives_extents(c, &r->signatures[c->id])
                         ? "a shape of several axes is a tuple: (3, 4)"
                     : c->args[i].kind == KJ_R_INT ? NULL
                                                   : "f32, f64, i32, u8, bool, ...");
    *out = c->args[i].dtype;
    return true;
}

bool kj_run_arg_stream(kj_run *r, const kj_rcall *c, int i, kjit_stream **out)
{
    *out = NULL;
    if (!c->given[i])
        return true;
    if (c->args[i].kind != KJ_R_STREAM)
        return wrong(r, c, i, "a stream", NULL);
    *out = c->args[i].u.object->u.stream;
    r->queued = true;
    return true;
}

static bool extent(kj_run *r, kj_span at, kj_rvalue v, int64_t least, int64_t *out)
{
    if (v.kind != KJ_R_INT) {
        kj_run_fail(r, KJIT_TYPE, at, "a shape is an int or a tuple of ints: %s is none",
                    kj_run_kind_name(v));
        if (v.kind == KJ_R_ARRAY && v.u.object->fixed)
            return kj_run_hint(r, "a constant that is a shape is a tuple: const SHAPE = (3, 4)");
        if (v.kind == KJ_R_ARRAY || v.kind == KJ_R_LAZY)
            return kj_run_hint(r, "the shape of an array is a.shape: full(a.shape, 5)");
        return v.kind == KJ_R_FLOAT ? kj_run_hint_int(r, at) : false;
    }
    if (v.dtype == KJIT_U64 || v.u.i < least)
        return kj_run_fail(r, KJIT_SHAPE, at, "%s is no extent", kj_run_short(v).text);
    *out = v.u.i;
    return true;
}

static bool extents(kj_run *r, const kj_rcall *c, int i, int64_t least, int *ndim,
                    int64_t shape[KJIT_MAX_NDIM])
{
    kj_rvalue v = c->args[i];
    if (v.kind != KJ_R_TUPLE && v.kind != KJ_R_LIST) {
        *ndim = 1;
        return extent(r, c->spans[i], v, least, shape);
    }
    const kj_robject *o = v.u.object;
    if (o->u.seq.n < 1 || o->u.seq.n > KJIT_MAX_NDIM)
        return kj_run_fail(r, KJIT_SHAPE, c->spans[i], "an array has 1 to %d axes, not %lld",
                           KJIT_MAX_NDIM, (long long)o->u.seq.n);
    *ndim = (int)o->u.seq.n;
    for (int k = 0; k < *ndim; k++) {
        if (!extent(r, c->spans[i], o->u.seq.items[k], least, &shape[k]))
            return false;
    }
    return true;
}

bool kj_run_arg_shape(kj_run *r, const kj_rcall *c, int i, int *ndim, int64_t shape[KJIT_MAX_NDIM])
{
    return extents(r, c, i, 0, ndim, shape);
}

bool kj_run_arg_open_shape(kj_run *r, const kj_rcall *c, int i, int *ndim,
                           int64_t shape[KJIT_MAX_NDIM])
{
    return extents(r, c, i, -1, ndim, shape);
}
