/* Records in the run block. One record is an array without axes: an element is a view of it, and
 * P(...) a new one. In: tuples by place, or records; out: bytes where a record's fields are. */
#include "run/run.h"

#include <string.h>

static bool is_sequence(kj_rvalue v)
{
    return v.kind == KJ_R_TUPLE || v.kind == KJ_R_LIST;
}

static kjit_array *array_of(kj_rvalue v)
{
    return v.u.object->u.array;
}

/* ---- Values to bytes ---- */

/* `what` takes the type; NULL: it has no name, and the text is at the value. */
static bool wrong_value(kj_run *r, kj_span at, const char *what, const char *type, kj_rvalue v)
{
    const char *name = kj_run_is_record(v) ? array_of(v)->of->name : kj_run_kind_name(v);
    char counted[64];
    if (is_sequence(v)) {
        kj_snprintf(counted, sizeof counted, "%s of %lld", name, (long long)v.u.object->u.seq.n);
        name = counted;
    }
    if (!what)
        return kj_run_fail(r, KJIT_TYPE, at, "%s is needed here, not %s", type, name);
    return kj_run_fail(r, KJIT_TYPE, at, "%s is %s, not %s", what, type, name);
}

/* Numbers of an array to those at `to`, which has the shape. */
static bool pack_numbers(kj_run *r, kj_span at, kjit_dtype dtype, int ndim, const int64_t *shape,
                         kj_rvalue v, char *to)
{
    kjit_array *view = NULL;
    if (!kj_run_check(r, kjit_array_wrap(r->ctx, to, dtype, ndim, shape, NULL, KJIT_HOST, &view),
                      at))
        return false;
    bool ok = kj_lazy_store(r, at, at, view, v);
    kjit_array_free(view);
    return ok;
}

static bool pack_number(kj_run *r, kj_span at, kjit_dtype type, kj_rvalue v, char *to)
{
    unsigned char element[KJ_RUN_ELEMENT];
    if (!kj_run_pack(r, at, type, v, element))
        return false;
    memcpy(to, element, kj_dtype_size(r->ctx, type));
    return true;
}

static bool is_number(const kj_aggregate *of)
{
    return !of || of->kind == KJ_COMPLEX;
}

/* Equal parts, along `axis` and those behind it: each is `stride` bytes from the next. */
static bool pack_parts(kj_run *r, kj_span at, const char *what, const kj_aggregate *of, int axis,
                       kj_rvalue v, char **to)
{
    int ndim = kj_is_fixed(of) ? of->ndim : 1;
    int64_t n = kj_is_fixed(of) ? of->shape[axis] : of->n;
    if (!is_sequence(v) || v.u.object->u.seq.n != n)
        return wrong_value(r, at, what, of->name, v);
    for (int64_t i = 0; i < n; i++) {
        kj_rvalue item = v.u.object->u.seq.items[i];
        if (axis + 1 < ndim) {
            if (!pack_parts(r, at, what, of, axis + 1, item, to))
                return false;
            continue;
        }
        if (!kj_run_record_field(r, at, what, &of->fields[0], item, *to))
            return false;
        *to += of->size / of->n;
    }
    return true;
}

/* The record at `to` from another: of the same fields, or by place. */
static bool pack_record(kj_run *r, kj_span at, const char *what, const kj_aggregate *of,
                        kj_rvalue v, char *to)
{
    if (kj_run_is_record(v) && array_of(v)->ndim == 0) {
        kj_rvalue host;
        if (!kj_same_layout(of, array_of(v)->of, NULL))
            return wrong_value(r, at, what, of->name, v);
        if (!kj_run_on_host(r, at, v, &host))
            return false;
        int64_t given = array_of(host)->of->size;
        memcpy(to, array_of(host)->data, (size_t)(given < of->size ? given : of->size));
        kj_run_drop(&host);
        return true;
    }
    if (!is_sequence(v))
        return wrong_value(r, at, what, of->name, v);
    int64_t n = v.u.object->u.seq.n;
    if (n != of->n && of->tuple && !what)
        return kj_run_fail(r, KJIT_TYPE, at, "a tuple of %d is needed here, not of %lld", of->n,
                           (long long)n);
    if (n != of->n && of->tuple)
        return kj_run_fail(r, KJIT_TYPE, at, "%s is a tuple of %d, not of %lld", what, of->n,
                           (long long)n);
    if (n != of->n) {
        kj_run_fail(r, KJIT_TYPE, at, "%s has %d field%s, not %lld", of->name, of->n,
                    of->n == 1 ? "" : "s", (long long)n);
        return kj_run_hint(r, "%s(...) takes them by name, too", of->name);
    }
    for (int i = 0; i < of->n; i++)
        if (!kj_run_record_field(r, at, of->fields[i].name, &of->fields[i],
                                 v.u.object->u.seq.items[i], to + of->fields[i].offset))
            return false;
    return true;
}

bool kj_run_record_field(kj_run *r, kj_span at, const char *what, const kj_field *f, kj_rvalue v,
                         char *to)
{
    const kj_aggregate *of = f->of;
    if (is_number(of))
        return pack_number(r, at, (kjit_dtype)f->type, v, to);
    if (kj_is_record(of))
        return pack_record(r, at, what, of, v, to);
    if (kj_is_array(v) && is_number(of->fields[0].of)) {
        int64_t n = of->n;
        bool fixed = kj_is_fixed(of);
        return pack_numbers(r, at, (kjit_dtype)of->elem, fixed ? of->ndim : 1,
                            fixed ? of->shape : &n, v, to);
    }
    return pack_parts(r, at, what, of, 0, v, &to);
}

/* ---- One record, many ---- */

static bool new_record(kj_run *r, kj_span at, const kj_aggregate *of, kj_rvalue *out)
{
    if (!kj_run_new_array(r, at, (kjit_dtype)of->type, 0, NULL, KJIT_HOST, out))
        return false;
    memset(array_of(*out)->data, 0, (size_t)of->size);
    return true;
}

bool kj_run_record_of(kj_run *r, kj_span at, const kj_aggregate *of, kj_rvalue v, kj_rvalue *out)
{
    return new_record(r, at, of, out) && pack_record(r, at, NULL, of, v, array_of(*out)->data);
}

static int field_named(const kj_aggregate *of, const char *name)
{
    for (int i = 0; i < of->n; i++)
        if (strcmp(of->fields[i].name, name) == 0)
            return i;
    return -1;
}

static bool no_field(kj_run *r, const kj_expr *arg, const kj_aggregate *of)
{
    enum { MOST = 64 };
    const char *names[MOST];
    int n = 0;
    for (; n < of->n && n < MOST; n++)
        names[n] = of->fields[n].name;
    const char *near = kj_nearest(arg->keyword, names, (size_t)n);
    kj_run_fail(r, KJIT_NOT_FOUND, arg->keyword_span, "%s has no field '%s'", of->name,
                arg->keyword);
    return near ? kj_run_hint(r, "did you mean '%s'?", near) : false;
}

/* How many of the arguments before `end` are for field i. No array counts: calls stand in calls. */
static int times_given(const kj_expr *args, const kj_expr *end, const kj_aggregate *of, int i)
{
    int n = 0, place = 0;
    for (; args != end; args = args->next)
        n += args->keyword ? strcmp(args->keyword, of->fields[i].name) == 0 : place++ == i;
    return n;
}

/* P(a, b=1), P(): as in kernels. */
bool kj_run_record_call(kj_run *r, const kj_expr *e, const kj_aggregate *of, kj_rvalue *out)
{
    int place = 0;
    if (!new_record(r, e->span, of, out))
        return false;
    for (const kj_expr *arg = e->u.call.args; arg; arg = arg->next) {
        kj_rvalue v;
        int i = arg->keyword ? field_named(of, arg->keyword) : place++;
        if (i < 0)
            return no_field(r, arg, of);
        if (i >= of->n)
            return kj_run_fail(r, KJIT_TYPE, arg->span, "%s has %d field%s", of->name, of->n,
                               of->n == 1 ? "" : "s");
        const kj_field *f = &of->fields[i];
        if (times_given(e->u.call.args, arg, of, i))
            return kj_run_fail(r, KJIT_TYPE, arg->span, "the field '%s' is given twice", f->name);
        if (!kj_run_eval(r, arg, &v) ||
            !kj_run_record_field(r, arg->span, f->name, f, v, array_of(*out)->data + f->offset))
            return false;
        kj_run_drop(&v);
    }
    for (int i = place; e->u.call.args && i < of->n; i++)
        if (!times_given(e->u.call.args, NULL, of, i))
            return kj_run_fail(r, KJIT_TYPE, e->span, "the field '%s' of %s is missing",
                               of->fields[i].name, of->name);
    return true;
}

/* ---- Into arrays ---- */

/* One record to all elements. */
static bool fill_records(kj_run *r, kj_span at, kjit_array *to, kj_rvalue one)
{
    const int64_t still[KJIT_MAX_NDIM] = {0};
    kjit_array *many = NULL;
    kj_rvalue host;
    if (!kj_run_on_host(r, at, one, &host) ||
        !kj_run_check(r, kj_array_restride(array_of(host), to->ndim, to->shape, still, &many), at))
        return false;
    bool ok = kj_run_check(r, kjit_copy(to, many, NULL), at);
    kjit_array_free(many);
    kj_run_drop(&host);
    return ok;
}

bool kj_run_record_store(kj_run *r, kj_span at, kjit_array *to, kj_rvalue v)
{
    kj_rvalue made = v;
    bool one = v.kind == KJ_R_TUPLE || (v.kind == KJ_R_LIST && to->ndim == 0);
    if (one && !kj_run_record_of(r, at, to->of, v, &made))
        return false;
    if (!one && v.kind == KJ_R_LIST && !kj_run_record_list(r, at, v, to->of, &made))
        return false;
    if (made.kind != KJ_R_ARRAY || array_of(made)->dtype != to->dtype)
        return wrong_value(r, at, NULL, to->of->name, v);
    bool ok = array_of(made)->ndim == 0 && to->ndim > 0
                  ? fill_records(r, at, to, made)
                  : kj_run_check(r, kjit_copy(to, array_of(made), NULL), at);
    if (is_sequence(v))
        kj_run_drop(&made);
    return ok;
}

/* Lists are axes, and what is none is a record. */
static bool list_shape(kj_run *r, kj_span at, kj_rvalue v, int *ndim, int64_t *shape)
{
    for (*ndim = 0; v.kind == KJ_R_LIST; v = v.u.object->u.seq.items[0]) {
        if (*ndim == KJIT_MAX_NDIM)
            return kj_run_fail(r, KJIT_SHAPE, at, "an array has at most %d axes", KJIT_MAX_NDIM);
        shape[(*ndim)++] = v.u.object->u.seq.n;
        if (v.u.object->u.seq.n == 0)
            break;
    }
    return true;
}

static bool store_list(kj_run *r, kj_span at, const kj_aggregate *of, kj_rvalue v, int depth,
                       int ndim, const int64_t *shape, char **to)
{
    if (depth == ndim) {
        bool ok = pack_record(r, at, "an element", of, v, *to);
        *to += of->size;
        return ok;
    }
    if (v.kind != KJ_R_LIST || v.u.object->u.seq.n != shape[depth])
        return kj_run_fail(r, KJIT_SHAPE, at, "the lists are not of one length");
    for (int64_t i = 0; i < shape[depth]; i++)
        if (!store_list(r, at, of, v.u.object->u.seq.items[i], depth + 1, ndim, shape, to))
            return false;
    return true;
}

bool kj_run_record_list(kj_run *r, kj_span at, kj_rvalue v, const kj_aggregate *of, kj_rvalue *out)
{
    int ndim;
    int64_t shape[KJIT_MAX_NDIM];
    if (!list_shape(r, at, v, &ndim, shape) ||
        !kj_run_new_array(r, at, (kjit_dtype)of->type, ndim, shape, KJIT_HOST, out))
        return false;
    kjit_array *a = array_of(*out);
    char *to = a->data;
    memset(a->data, 0, (size_t)a->size * (size_t)of->size);
    return store_list(r, at, of, v, 0, ndim, shape, &to);
}
