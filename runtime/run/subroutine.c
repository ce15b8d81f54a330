/* Calls of functions of run blocks: `run name(a, n = 10) { ... }`. In: a call that sema has checked; out:
 * what the function returns. Its names begin a frame of their own; parameters are the first of them. */
#include <stdio.h>
#include <string.h>

#include "run/run.h"

static int count_params(const kj_item *fn)
{
    int n = 0;
    for (const kj_param_decl *p = fn->params; p; p = p->next)
        n++;
    return n;
}

static bool evaluate(kj_run *r, const kj_expr *e, kj_rvalue *out)
{
    if (!kj_run_eval(r, e, out))
        return false;
    if (out->kind == KJ_R_NONE)
        return kj_run_fail(r, KJIT_TYPE, e->span, "this call gives no value");
    out->literal = false;
    return true;
}

/* The arguments in their places from `first` on, where no name can be seen yet. */
static bool take_arguments(kj_run *r, const kj_expr *call, const kj_item *fn, int first)
{
    int n = count_params(fn), nth = 0;
    for (int i = 0; i < n; i++)
        if (!kj_run_bind(r, call->span, NULL, kj_run_none(), true))
            return false;
    for (const kj_expr *arg = call->u.call.args; arg; arg = arg->next) {
        kj_rvalue v;
        if (!evaluate(r, arg, &v))
            return false;
        r->names[first + kj_param_of(fn, arg, nth++)].value = v;
    }
    return true;
}

/* Where the i-th parameter's value stands: in the call, or it is the default. */
static kj_span place_of_value(const kj_expr *call, const kj_item *fn, const kj_param_decl *p, int i)
{
    int nth = 0;
    for (const kj_expr *arg = call->u.call.args; arg; arg = arg->next)
        if (kj_param_of(fn, arg, nth++) == i)
            return arg->span;
    return p->init->span;
}

/* Not inlined: its text would lie in the frame of each call under way. */
__attribute__((noinline)) static bool convert(kj_run *r, kj_span at, const kj_item *fn,
                                              const kj_param_decl *p, kj_rvalue *v)
{
    char what[96];
    kj_snprintf(what, sizeof what, "parameter '%s' of '%s'", p->name, fn->name);
    return kj_run_convert(r, at, p->type, what, v);
}

/* One after the other the parameters get their names, and those that are not given their defaults.
 * A value of the call that does not fit is the caller's fault: *inside stays false. */
static bool name_parameters(kj_run *r, const kj_expr *call, const kj_item *fn, bool *inside)
{
    int i = 0;
    for (const kj_param_decl *p = fn->params; p; p = p->next, i++) {
        kj_rvalue v = r->names[r->frame + i].value;
        *inside = v.kind == KJ_R_NONE;
        if (*inside && !evaluate(r, p->init, &v))
            return false;
        if (p->type && !convert(r, place_of_value(call, fn, p, i), fn, p, &v))
            return false;
        r->names[r->frame + i].value = v;
        r->names[r->frame + i].name = p->name;
    }
    *inside = true;
    return true;
}

static void note_caller(kj_run *r, kj_span at)
{
    enum { MOST = sizeof r->callers.at / sizeof *r->callers.at };
    kj_rcallers *c = &r->callers;
    int last = c->n < MOST ? c->n - 1 : MOST - 1;
    if (last >= 0 && c->at[last].span.begin == at.begin) {
        c->at[last].times++;
        return;
    }
    last = c->n < MOST ? c->n : MOST - 1;
    c->at[last].span = at;
    c->at[last].times = 1;
    c->n++;
}

bool kj_run_subroutine(kj_run *r, const kj_expr *e, const kj_item *fn, kj_rvalue *out)
{
    int first = r->nnames, frame = r->frame, withs = r->withs;
    const kj_file *file = r->file;
    bool inside = false;
    if (r->calls >= KJ_RUN_MAX_CALLS)
        return kj_run_too_deep(r, e->span, NULL);
    if (!take_arguments(r, e, fn, first) || !kj_lazy_settle(r, e->span))
        return false;
    r->frame = first;
    r->file = fn->file;
    r->withs = 0;
    r->calls++;
    if (!name_parameters(r, e, fn, &inside) || !kj_run_statements(r, fn->body)) {
        if (inside)
            note_caller(r, e->span);
        return false;
    }
    r->calls--;
    r->withs = withs;
    r->frame = frame;
    r->file = file;
    r->flow = KJ_FLOW_NEXT;
    *out = r->result;
    r->result = kj_run_none();
    kj_run_leave(r, first);
    return true;
}

bool kj_run_return(kj_run *r, const kj_expr *e)
{
    kj_rvalue v = kj_run_none();
    bool ok = !e || (kj_run_eval_lazily(r, e, &v) &&
                     (r->withs == 0 || /* what it needs ends with the block */
                      kj_lazy_finish(r, e->span, &v)));
    if (!ok)
        return false;
    if (e && v.kind == KJ_R_NONE)
        return kj_run_fail(r, KJIT_TYPE, e->span, "this call gives no value");
    v.literal = false;
    r->result = v;
    r->flow = KJ_FLOW_RETURN;
    return true;
}
