/* Smart arrays of run blocks. In: an array; out: a value that launches take, and its two sides. */
#include "run/run.h"

bool kj_run_smart_array(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_array *a = NULL;
    kjit_smart *s = NULL;
    if (!kj_run_arg_array(r, c, 0, &a))
        return false;
    if (c->args[0].u.object->fixed)
        return kj_run_fail(r, KJIT_TYPE, c->spans[0], "the elements of a const cannot be assigned");
    return kj_run_check(r, kjit_smart_from(a, &s), c->span) && kj_run_smart(r, c->span, s, out);
}

bool kj_run_side(kj_run *r, kj_span at, kj_run_id id, kj_rvalue base, kj_rvalue *out)
{
    kjit_smart *s = base.u.object->u.smart;
    kjit_array *view = NULL;
    switch (id) {
    case KJ_RUN_M_SHAPE:
    case KJ_RUN_M_SIZE:
    case KJ_RUN_M_NDIM:
    case KJ_RUN_M_DTYPE: return kj_run_measure(r, at, id, kj_smart_either(s), out);
    case KJ_RUN_M_HOST:
        return kj_run_check(r, kjit_smart_host(s, &view), at) && kj_run_array(r, at, view, out);
    case KJ_RUN_M_GPU:
        return kj_run_check(r, kjit_smart_gpu(s, &view), at) && kj_run_array(r, at, view, out);
    default:
        kj_run_fail(r, KJIT_NOT_FOUND, at, "a smart array has no '%s'",
                    kj_run_builtins[id].name + 1);
        return kj_run_hint(r, ".host and .gpu are its arrays");
    }
}

bool kj_run_changed(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    *out = kj_run_none();
    if (c->self.kind != KJ_R_SMART)
        return kj_run_fail(r, KJIT_NOT_FOUND, c->span, "%s has no '%s'", kj_run_kind_name(c->self),
                           kj_run_builtins[c->id].name + 1);
    kjit_smart *s = c->self.u.object->u.smart;
    return kj_run_check(
        r, c->id == KJ_RUN_M_HOST_CHANGED ? kjit_smart_host_changed(s) : kjit_smart_gpu_changed(s),
        c->span);
}
