/* New arrays in memory of a kind: device_array, pinned_array, mapped_array, managed_array, and the
 * same like another. In: shapes, types, options; out: arrays with unspecified elements. */
#include "run/run.h"

#include <string.h>

/* Which of a call's arguments is what; 0: it has none of that. */
typedef struct word {
    kjit_memory memory;
    bool like;
    int order, strides, stream, portable, wc, global;
} word;

static word word_of(kj_run_id id)
{
    switch (id) {
    case KJ_RUN_DEVICE_ARRAY: return (word){KJIT_DEVICE, .order = 2, .stream = 3, .strides = 4};
    case KJ_RUN_DEVICE_ARRAY_LIKE: return (word){KJIT_DEVICE, .like = true, .stream = 1};
    case KJ_RUN_PINNED_ARRAY: return (word){KJIT_PINNED, .order = 2, .strides = 3};
    case KJ_RUN_PINNED_ARRAY_LIKE: return (word){KJIT_PINNED, .like = true};
    case KJ_RUN_MAPPED_ARRAY:
        return (word){KJIT_MAPPED, .order = 2, .portable = 3, .wc = 4, .strides = 5};
    case KJ_RUN_MAPPED_ARRAY_LIKE: return (word){KJIT_MAPPED, .like = true, .portable = 1, .wc = 2};
    case KJ_RUN_MANAGED_ARRAY: return (word){KJIT_MANAGED, .order = 2, .global = 3, .strides = 4};
    default: return (word){KJIT_MANAGED, .like = true, .global = 1};
    }
}

static bool flag(kj_run *r, const kj_rcall *c, int i, bool otherwise, bool *out)
{
    *out = otherwise;
    return i == 0 || !c->given[i] || kj_run_truth(r, c->spans[i], "this option", c->args[i], out);
}

static bool strides_of(kj_run *r, const kj_rcall *c, int i, int ndim,
                       int64_t strides[KJIT_MAX_NDIM])
{
    kj_rvalue v = c->args[i];
    bool one = v.kind == KJ_R_INT;
    bool many = v.kind == KJ_R_TUPLE || v.kind == KJ_R_LIST;
    if ((!one && !many) || (one ? 1 : v.u.object->u.seq.n) != ndim)
        return kj_run_fail(r, KJIT_SHAPE, c->spans[i],
                           "strides are as many ints as the shape has: bytes from one element to "
                           "the next");
    for (int k = 0; k < ndim; k++) {
        kj_rvalue item = one ? v : v.u.object->u.seq.items[k];
        if (item.kind != KJ_R_INT || item.dtype == KJIT_U64)
            return kj_run_fail(r, KJIT_TYPE, c->spans[i], "a stride is an int");
        strides[k] = item.u.i;
    }
    return true;
}

/* What a call asks of the memory; for strides the shape is known already. */
static bool options_of(kj_run *r, const kj_rcall *c, const word *w, kjit_array_options *o)
{
    bool portable, wc, global;
    const char *order = NULL;
    *o = (kjit_array_options){.memory = w->memory};
    if (!flag(r, c, w->portable, false, &portable) || !flag(r, c, w->wc, false, &wc) ||
        !flag(r, c, w->global, true, &global) ||
        (w->stream > 0 && !kj_run_arg_stream(r, c, w->stream, &o->stream)) ||
        (w->order > 0 && c->given[w->order] && !kj_run_arg_text(r, c, w->order, &order)))
        return false;
    if (order && strcmp(order, "C") != 0 && strcmp(order, "F") != 0)
        return kj_run_fail(r, KJIT_TYPE, c->spans[w->order], "an order is \"C\" or \"F\"");
    o->order = order ? *order : 0;
    o->portable = portable;
    o->wc = wc;
    o->attach_host = !global;
    return true;
}

bool kj_run_array_in(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    const word w = word_of(c->id);
    kjit_array_options options;
    kjit_array *like = NULL, *a = NULL;
    kjit_dtype dtype = KJIT_F32;
    int ndim = 0;
    int64_t shape[KJIT_MAX_NDIM], strides[KJIT_MAX_NDIM];
    if (!options_of(r, c, &w, &options))
        return false;
    if (w.like)
        return kj_run_arg_array(r, c, 0, &like) &&
               kj_run_check(r, kjit_array_like(like, &options, &a), c->span) &&
               kj_run_array(r, c->span, a, out);
    if (!kj_run_arg_shape(r, c, 0, &ndim, shape) || !kj_run_arg_dtype(r, c, 1, &dtype))
        return false;
    if (c->given[w.strides]) {
        if (!strides_of(r, c, w.strides, ndim, strides))
            return false;
        options.strides = strides;
    }
    return kj_run_check(r, kjit_array_create_with(r->ctx, dtype, ndim, shape, &options, &a),
                        c->span) &&
           kj_run_array(r, c->span, a, out);
}
