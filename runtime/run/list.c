/* array(items, dtype): nested lists of numbers to an array, and arrays to another element type. */
#include "run/run.h"

#include <string.h>

static bool is_sequence(kj_rvalue v)
{
    return v.kind == KJ_R_TUPLE || v.kind == KJ_R_LIST;
}

/* The shape, from the first items down. */
static bool shape_of(kj_run *r, kj_span at, kj_rvalue v, int *ndim, int64_t shape[KJIT_MAX_NDIM])
{
    for (*ndim = 0; is_sequence(v); v = v.u.object->u.seq.items[0]) {
        if (*ndim == KJIT_MAX_NDIM)
            return kj_run_fail(r, KJIT_SHAPE, at, "an array has at most %d axes", KJIT_MAX_NDIM);
        shape[(*ndim)++] = v.u.object->u.seq.n;
        if (v.u.object->u.seq.n == 0)
            return true;
    }
    return *ndim > 0 || kj_run_fail(r, KJIT_TYPE, at, "array takes a list or an array, not %s",
                                    kj_run_kind_name(v));
}

/* What the numbers have in common: 0 none yet, then bool, i32, i64, u64, f32, c64. */
static bool scan(kj_run *r, kj_span at, kj_rvalue v, int depth, const int64_t *shape, int ndim,
                 kjit_dtype *dtype, bool *any)
{
    if (depth == ndim) {
        if (!kj_run_is_number(v) && !kj_run_is_complex(v))
            return kj_run_fail(r, is_sequence(v) ? KJIT_SHAPE : KJIT_TYPE, at,
                               is_sequence(v) ? "the lists are not of one length"
                                              : "%s is no element of an array",
                               kj_run_kind_name(v));
        kjit_dtype type = v.kind == KJ_R_COMPLEX                     ? KJIT_C64
                          : v.kind == KJ_R_FLOAT                     ? KJIT_F32
                          : v.kind == KJ_R_BOOL                      ? KJIT_BOOL
                          : v.dtype == KJIT_U64                      ? KJIT_U64
                          : v.u.i >= INT32_MIN && v.u.i <= INT32_MAX ? KJIT_I32
                                                                     : KJIT_I64;
        if (*any && (type == KJIT_BOOL) != (*dtype == KJIT_BOOL))
            return kj_run_fail(r, KJIT_TYPE, at, "the list mixes bools and numbers");
        if (!*any || type > *dtype) /* the numbers of kjit_dtype rise in this order */
            *dtype = type;
        *any = true;
        return true;
    }
    if (!is_sequence(v) || v.u.object->u.seq.n != shape[depth])
        return kj_run_fail(r, KJIT_SHAPE, at, "the lists are not of one length");
    if (depth + 1 == ndim && !kj_run_check(r, kj_check_run(r->ctx), at))
        return false;
    for (int64_t i = 0; i < shape[depth]; i++) {
        if (!scan(r, at, v.u.object->u.seq.items[i], depth + 1, shape, ndim, dtype, any))
            return false;
    }
    return true;
}

static bool store(kj_run *r, kj_span at, kj_rvalue v, kjit_dtype dtype, char **p)
{
    if (is_sequence(v)) {
        if (!kj_run_check(r, kj_check_run(r->ctx), at))
            return false;
        for (int64_t i = 0; i < v.u.object->u.seq.n; i++) {
            if (!store(r, at, v.u.object->u.seq.items[i], dtype, p))
                return false;
        }
        return true;
    }
    unsigned char element[KJ_RUN_ELEMENT];
    if (!kj_run_pack(r, at, dtype, v, element))
        return false;
    memcpy(*p, element, kjit_dtype_size(dtype));
    *p += kjit_dtype_size(dtype);
    return true;
}

/* A C-order copy with every element converted as f32(x) does. */
static bool converted(kj_run *r, kj_rcall *c, kjit_dtype dtype, kj_rvalue *out)
{
    kj_rvalue host;
    if (!kj_run_on_host(r, c->span, c->args[0], &host))
        return false;
    kjit_array *from = host.u.object->u.array;
    if (!kj_run_new_array(r, c->span, dtype, kjit_array_ndim(from), kjit_array_shape(from),
                          KJIT_HOST, out))
        return false;
    if (kjit_array_dtype(from) == dtype) {
        if (!kj_run_check(r, kjit_copy(out->u.object->u.array, from, NULL), c->span))
            return false;
    } else {
        kj_rrows w;
        size_t size = kjit_dtype_size(dtype);
        char *p = kjit_array_data(out->u.object->u.array);
        kj_run_rows(&w, from, NULL);
        while (kj_run_next_row(&w)) {
            for (int64_t i = 0; i < w.n; i++, p += size) {
                unsigned char element[KJ_RUN_ELEMENT];
                kj_rvalue v = kj_run_load(kjit_array_dtype(from), w.data[0] + i * w.step[0]);
                if (!kj_run_cast(r, c->span, dtype, v, &v) ||
                    !kj_run_pack(r, c->span, dtype, v, element))
                    return false;
                memcpy(p, element, size);
            }
        }
    }
    kj_run_drop(&host);
    return true;
}

/* Numbers, the last axis of which makes vectors. */
static bool as_vectors(kj_run *r, kj_span at, kjit_dtype dtype, kj_rvalue *numbers)
{
    kjit_array *view = NULL;
    if (!kj_run_check(r, kjit_array_view(numbers->u.object->u.array, dtype, &view), at))
        return false;
    kjit_array_free(numbers->u.object->u.array);
    numbers->u.object->u.array = view;
    return true;
}

/* NULL for a type whose elements are single numbers. */
static const kj_aggregate *vector_type(kjit_dtype dtype)
{
    const kj_aggregate *of = kj_aggregate_of((kj_dtype)dtype);
    return of && of->kind == KJ_VECTOR ? of : NULL;
}

bool kj_run_items_array(kj_run *r, kj_span at, kj_rvalue items, kjit_dtype dtype, kj_rvalue *out)
{
    kj_rcall c = {.id = KJ_RUN_ARRAY, .span = at};
    c.args[0] = items;
    c.args[1] = (kj_rvalue){.kind = KJ_R_DTYPE, .dtype = dtype};
    c.given[0] = c.given[1] = true;
    c.spans[0] = c.spans[1] = at;
    return kj_run_make_array(r, &c, out);
}

/* What a list's numbers are by themselves as an array, of which no float is rounded: the place of the widest in number_types;
 * -1: they are something else, or in lists that are deeper than an array has axes. */
static const kj_dtype number_types[] = {KJ_BOOL, KJ_I64, KJ_U64, KJ_F64, KJ_C128};

static int widest_of(kj_rvalue v, int depth)
{
    int widest = -1;
    for (int64_t i = 0; i < v.u.object->u.seq.n && depth <= KJIT_MAX_NDIM; i++) {
        kj_rvalue item = v.u.object->u.seq.items[i];
        bool items = item.kind == KJ_R_LIST || item.kind == KJ_R_TUPLE;
        int own = items                     ? widest_of(item, depth + 1)
                  : kj_run_is_complex(item) ? 4
                  : item.kind == KJ_R_FLOAT ? 3
                  : item.kind == KJ_R_INT   ? 1 + (item.dtype == KJIT_U64)
                  : item.kind == KJ_R_BOOL  ? 0
                                            : -1;
        if (own < 0)
            return -1;
        widest = own > widest ? own : widest;
    }
    return widest;
}

bool kj_run_take_list(kj_run *r, kj_rcall *c, kj_rvalue *made)
{
    bool method = kj_run_builtins[c->id].name[0] == '.';
    kj_rvalue *v = method ? &c->self : &c->args[0];
    int type = v->kind == KJ_R_LIST || v->kind == KJ_R_TUPLE ? widest_of(*v, 1) : -1;
    *made = kj_run_none();
    if (type < 0)
        return true;
    kj_span at = method ? c->span : c->spans[0];
    if (!kj_run_items_array(r, at, *v, (kjit_dtype)number_types[type], made))
        return false;
    *v = *made;
    return true;
}

/* A new array of records, from a list of them or from others. */
static bool records(kj_run *r, const kj_rcall *c, const kj_aggregate *of, kj_rvalue *out)
{
    kj_span at = c->spans[0];
    if (c->args[0].kind == KJ_R_LIST)
        return kj_run_record_list(r, at, c->args[0], of, out);
    if (!kj_run_is_record(c->args[0]))
        return kj_run_record_of(r, at, of, c->args[0], out);
    kjit_array *from = c->args[0].u.object->u.array;
    return kj_run_new_array(r, at, (kjit_dtype)of->type, from->ndim, from->shape, KJIT_HOST, out) &&
           kj_run_record_store(r, at, out->u.object->u.array, c->args[0]);
}

/* array(where(c, 0.1, 0.2), f64): the choice is in that type before it is computed. */
static bool computed(kj_run *r, const kj_rcall *c, kj_rvalue *v)
{
    kj_rvalue typed;
    bool scalar = c->given[1] && c->args[1].kind == KJ_R_DTYPE &&
                  kj_is_scalar((kj_dtype)c->args[1].dtype) && c->args[1].dtype != KJIT_BOOL;
    if (v->kind == KJ_R_LAZY && kj_lazy_is_untyped(*v) && scalar) {
        if (!kj_lazy_cast(r, c->spans[0], (kj_dtype)c->args[1].dtype, *v, &typed))
            return false;
        kj_run_drop(v);
        *v = typed;
    }
    return kj_lazy_finish(r, c->spans[0], v);
}

bool kj_run_make_array(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kj_span at = c->spans[0];
    if (!computed(r, c, &c->args[0]))
        return false;
    if (c->given[1] && c->args[1].kind == KJ_R_DTYPE &&
        kj_is_record(kj_dtype_aggregate(r->ctx, c->args[1].dtype)))
        return records(r, c, kj_dtype_aggregate(r->ctx, c->args[1].dtype), out);
    if (c->args[0].kind == KJ_R_ARRAY) {
        kjit_dtype to = kjit_array_dtype(c->args[0].u.object->u.array);
        if (!kj_run_no_records(r, at, c->args[0]) || !kj_run_arg_dtype(r, c, 1, &to))
            return false;
        const kj_aggregate *of = vector_type(to);
        return converted(r, c, of ? (kjit_dtype)of->elem : to, out) &&
               (!of || as_vectors(r, at, to, out));
    }
    int ndim;
    int64_t shape[KJIT_MAX_NDIM];
    kjit_dtype dtype = KJIT_F32, vector;
    bool any = false;
    if (!shape_of(r, at, c->args[0], &ndim, shape) ||
        !scan(r, at, c->args[0], 0, shape, ndim, &dtype, &any) ||
        !kj_run_arg_dtype(r, c, 1, &dtype))
        return false;
    const kj_aggregate *of = vector_type(vector = dtype);
    if (of)
        dtype = (kjit_dtype)of->elem;
    if (!kj_run_new_array(r, c->span, dtype, ndim, shape, KJIT_HOST, out))
        return false;
    char *p = kjit_array_data(out->u.object->u.array);
    return store(r, at, c->args[0], dtype, &p) && (!of || as_vectors(r, c->span, vector, out));
}
