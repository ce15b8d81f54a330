/* Arrays in another shape: reshape, ravel, split. In: an array; out: views of its memory. */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

static bool self_array(kj_run *r, const kj_rcall *c, kjit_array **out)
{
    if (c->self.kind != KJ_R_ARRAY)
        return kj_run_lacks(r, c->span, c->self, c->id);
    *out = c->self.u.object->u.array;
    return true;
}

/* Argument i as 'C', which it is when it is not given, or 'F'. */
static bool order_of(kj_run *r, const kj_rcall *c, int i, char *out)
{
    const char *text = "C";
    if (c->given[i] && !kj_run_arg_text(r, c, i, &text))
        return false;
    if (strcmp(text, "C") != 0 && strcmp(text, "F") != 0)
        return kj_run_fail(r, KJIT_TYPE, c->spans[i], "an order is \"C\" or \"F\"");
    *out = *text;
    return true;
}

/* A view of self, which takes over what may be done with its elements. */
static bool view_of(kj_run *r, const kj_rcall *c, kjit_array *view, kj_rvalue *out)
{
    if (!kj_run_array(r, c->span, view, out))
        return false;
    out->u.object->fixed = c->self.u.object->fixed;
    return true;
}

/* kjit_array_reshape's failure, and how to go on where only a copy would do. */
static bool reshaped(kj_run *r, const kj_rcall *c, kjit_status status, char order, kjit_array *view,
                     kj_rvalue *out)
{
    if (status == KJIT_OK)
        return view_of(r, c, view, out);
    kj_run_check(r, status, c->span);
    bool moves = status == KJIT_SHAPE && strstr(kjit_last_error(r->ctx), "copy it");
    kj_quote own = kj_quoted(r->source, c->self_span, order != 'C', "a");
    return moves && kj_run_hint(r,
                                order == 'C' ? "copy(%s) is a copy in C order"
                                             : "copy(%s.T).T is a copy in F order",
                                own.text);
}

/* The extents, each an argument or all in one tuple or list; -1 may stand for one. */
static bool extents(kj_run *r, const kj_rcall *c, int *ndim, int64_t shape[KJIT_MAX_NDIM])
{
    const kj_rvalue *items = c->rest;
    int64_t n = c->nrest;
    if (n == 1 && (items[0].kind == KJ_R_TUPLE || items[0].kind == KJ_R_LIST)) {
        n = items[0].u.object->u.seq.n;
        items = items[0].u.object->u.seq.items;
    }
    if (n < 1 || n > KJIT_MAX_NDIM)
        return kj_run_fail(r, KJIT_SHAPE, c->span, "an array has 1 to %d axes, not %lld",
                           KJIT_MAX_NDIM, (long long)n);
    for (int i = 0; i < n; i++) {
        if (items[i].kind == KJ_R_INT && items[i].dtype == KJIT_U64)
            return kj_run_fail(r, KJIT_SHAPE, c->span, "%s is no extent",
                               kj_run_short(items[i]).text);
        if (items[i].kind != KJ_R_INT) {
            kj_span at = items == c->rest ? c->rest_exprs[i]->span : c->span;
            kj_run_fail(r, KJIT_TYPE, at, "a shape has ints: %s is none",
                        kj_run_is_number(items[i]) ? kj_run_short(items[i]).text
                                                   : kj_run_kind_name(items[i]));
            return items == c->rest && items[i].kind == KJ_R_FLOAT && kj_run_hint_int(r, at);
        }
        shape[i] = items[i].u.i;
    }
    *ndim = (int)n;
    return true;
}

bool kj_run_reshape(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_array *a = NULL, *view = NULL;
    int64_t shape[KJIT_MAX_NDIM];
    int ndim = 0;
    char order;
    if (!self_array(r, c, &a) || !extents(r, c, &ndim, shape) || !order_of(r, c, 1, &order))
        return false;
    kjit_status status = kjit_array_reshape(a, ndim, shape, order, &view);
    return reshaped(r, c, status, order, view, out);
}

bool kj_run_ravel(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_array *a = NULL, *view = NULL;
    char order;
    if (!self_array(r, c, &a) || !order_of(r, c, 0, &order))
        return false;
    kjit_status status = kjit_array_ravel(a, order, &view);
    return reshaped(r, c, status, order, view, out);
}

/* Frees views from `from` on. */
static void free_views(kjit_array **views, int64_t from, int64_t n)
{
    for (int64_t i = from; i < n; i++)
        kjit_array_free(views[i]);
    free(views);
}

bool kj_run_split(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_array *a = NULL;
    int64_t section, n;
    if (!self_array(r, c, &a) || !kj_run_arg_int(r, c, 0, &section) ||
        !kj_run_check(r, kjit_array_split(a, section, NULL, 0, &n), c->span))
        return false;
    size_t each =
        sizeof(kjit_array *) + sizeof(kjit_array) + sizeof(kj_robject) + sizeof(kj_rvalue);
    if (!kj_run_has_room(r, c->span, (size_t)n < SIZE_MAX / each ? (size_t)n * each : SIZE_MAX))
        return false;
    kjit_array **views = calloc((size_t)n + 1, sizeof(kjit_array *));
    if (!views)
        return kj_run_no_memory(r, c->span);
    bool ok = kj_run_check(r, kjit_array_split(a, section, views, n, &n), c->span);
    if (!ok || !kj_run_sequence(r, c->span, KJ_R_LIST, n, out)) {
        free_views(views, 0, ok ? n : 0);
        return false;
    }
    int64_t i = 0;
    while (i < n && ok) { /* the list's from here on, also where that fails */
        kjit_array *view = views[i];
        ok = view_of(r, c, view, &out->u.object->u.seq.items[i++]);
    }
    free_views(views, i, n);
    return ok;
}

bool kj_run_is_contiguous(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_array *a = NULL;
    if (!self_array(r, c, &a))
        return false;
    *out = kj_run_bool(kjit_array_is_contiguous(a, c->id == KJ_RUN_M_IS_F_CONTIGUOUS ? 'F' : 'C'));
    return true;
}
