/* What `with` takes, and what it does when its block begins and ends. In: a value; out: what `as`
 * names. */
#include <stdlib.h>

#include "run/run.h"

/* ---- What only `with` takes ---- */

bool kj_run_defer_cleanup(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    return kj_run_scope(r, c->span, KJ_SCOPE_DEFER, kj_run_none(), out);
}

bool kj_run_page_locked(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kj_rvalue arrays;
    const char *name = kj_run_builtins[c->id].name;
    if (c->nrest == 0)
        return kj_run_fail(r, KJIT_TYPE, c->span, "%s() takes host arrays", name);
    if (!kj_run_sequence(r, c->span, KJ_R_TUPLE, c->nrest, &arrays))
        return false;
    for (int i = 0; i < c->nrest; i++) {
        if (c->rest[i].kind != KJ_R_ARRAY)
            return kj_run_fail(r, KJIT_TYPE, c->span, "%s() takes host arrays, not %s", name,
                               kj_run_kind_name(c->rest[i]));
        kj_run_keep(c->rest[i]);
        arrays.u.object->u.seq.items[i] = c->rest[i];
    }
    return kj_run_scope(r, c->span, c->id == KJ_RUN_MAPPED ? KJ_SCOPE_MAPPED : KJ_SCOPE_PINNED,
                        arrays, out);
}

/* ---- Arrays that are page-locked for a while ---- */

/* Puts the first n arrays back in their places. */
static void unlock_pages(kj_robject *scope, int64_t n)
{
    kj_rvalue *items = scope->u.scope.arrays.u.object->u.seq.items;
    while (n-- > 0) {
        kj_robject *o = items[n].u.object;
        kjit_array *locked = o->u.array;
        o->u.array = scope->u.scope.kept[n];
        kjit_array_free(locked);
    }
    free(scope->u.scope.kept);
    scope->u.scope.kept = NULL;
}

/* Does number i stand before it in the list too? */
static bool is_twin(const kj_robject *arrays, int64_t i)
{
    const kj_rvalue *items = arrays->u.seq.items;
    int64_t k = 0;
    while (k < i && items[k].u.object != items[i].u.object)
        k++;
    return k < i;
}

/* Whoever has one of the arrays has its page-locked view in its place until then. */
static bool lock_pages(kj_run *r, kj_span at, kj_robject *scope)
{
    const kj_robject *arrays = scope->u.scope.arrays.u.object;
    const kjit_array_options options = {
        .memory = scope->u.scope.kind == KJ_SCOPE_MAPPED ? KJIT_MAPPED : KJIT_PINNED};
    if (scope->u.scope.kept)
        return kj_run_fail(r, KJIT_TYPE, at, "these arrays are page-locked already");
    kjit_array **kept = calloc((size_t)arrays->u.seq.n, sizeof *kept);
    if (!kept)
        return kj_run_no_memory(r, at);
    scope->u.scope.kept = kept;
    for (int64_t i = 0; i < arrays->u.seq.n; i++) {
        kj_robject *o = arrays->u.seq.items[i].u.object;
        kjit_array *locked = NULL;
        bool ok = is_twin(arrays, i)
                      ? kj_run_fail(r, KJIT_TYPE, at, "an array is given twice")
                      : kj_run_check(r, kjit_array_register(o->u.array, &options, &locked), at);
        if (!ok) {
            unlock_pages(scope, i);
            return false;
        }
        kept[i] = o->u.array;
        o->u.array = locked;
    }
    return true;
}

/* ---- The block ---- */

/* What `as` names: one array, or the tuple of several. */
static kj_rvalue arrays_of(const kj_robject *scope)
{
    kj_rvalue arrays = scope->u.scope.arrays;
    kj_rvalue named = arrays.u.object->u.seq.n == 1 ? arrays.u.object->u.seq.items[0] : arrays;
    kj_run_keep(named);
    return named;
}

static bool enter_scope(kj_run *r, kj_span at, kj_robject *scope, kj_rvalue *named)
{
    if (scope->u.scope.kind == KJ_SCOPE_DEFER)
        return kj_run_check(r, kjit_defer_cleanup_begin(r->ctx), at);
    if (!lock_pages(r, at, scope))
        return false;
    *named = arrays_of(scope);
    return true;
}

bool kj_run_enter(kj_run *r, kj_span at, kj_rvalue v, kj_rvalue *named)
{
    *named = kj_run_none();
    if (v.kind == KJ_R_SCOPE)
        return enter_scope(r, at, v.u.object, named);
    if (v.kind == KJ_R_STREAM) {
        kj_run_keep(v);
        *named = v;
        return true;
    }
    kj_run_fail(r, KJIT_TYPE, at, "'with' cannot take %s", kj_run_kind_name(v));
    return kj_run_hint(r, "with stream() as s { ... }, with defer_cleanup() { ... }, "
                          "with pinned(a) { ... }");
}

bool kj_run_exit(kj_run *r, kj_span at, kj_rvalue v)
{
    kjit_status status = KJIT_OK;
    bool ok = r->status == KJIT_OK;
    if (v.kind == KJ_R_STREAM)
        status = ok ? kjit_stream_synchronize(v.u.object->u.stream) : status;
    else if (v.u.object->u.scope.kind == KJ_SCOPE_DEFER)
        status = kjit_defer_cleanup_end(r->ctx);
    else
        unlock_pages(v.u.object, v.u.object->u.scope.arrays.u.object->u.seq.n);
    return ok && kj_run_check(r, status, at);
}
