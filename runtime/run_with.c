/* What `with` takes, and what it does when its block begins and ends. In: a value; out: what `as`
 * names. */
#include "run.h"

bool kj_run_defer_cleanup(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    return kj_run_scope(r, c->span, KJ_SCOPE_DEFER, kj_run_none(), out);
}

bool kj_run_enter(kj_run *r, kj_span at, kj_rvalue v, kj_rvalue *named)
{
    *named = kj_run_none();
    if (v.kind == KJ_R_STREAM) {
        kj_run_keep(v);
        *named = v;
        return true;
    }
    if (v.kind == KJ_R_SCOPE)
        return kj_run_check(r, kjit_defer_cleanup_begin(r->ctx), at);
    kj_run_fail(r, KJIT_TYPE, at, "'with' cannot take %s", kj_run_kind_name(v));
    return kj_run_hint(r, "with stream() as s { ... }, with defer_cleanup() { ... }");
}

bool kj_run_exit(kj_run *r, kj_span at, kj_rvalue v)
{
    kjit_status status = KJIT_OK;
    bool ok = r->status == KJIT_OK;
    if (v.kind == KJ_R_SCOPE)
        status = kjit_defer_cleanup_end(r->ctx);
    else if (ok)
        status = kjit_stream_synchronize(v.u.object->u.stream);
    return ok && kj_run_check(r, status, at);
}
