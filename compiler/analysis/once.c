/* What may run once for a block that is cut into regions, and not for each thread: expressions, and
 * statements at the ends of a region. */
#include "analysis/uniform.h"

/* Has the expression no effect and no statements of its own? */
static bool is_plain(const kj_texpr *e)
{
    if (e->kind == KJ_TE_ATOMIC || e->kind == KJ_TE_INLINE)
        return false;
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        if (!is_plain(operands[i]))
            return false;
    return true;
}

/* Where threads may have returned before, what fails does so in one that has not: each computes it. */
bool kj_is_common(const kj_tkernel *kernel, const kj_deps *deps, const kj_texpr *e)
{
    bool left = kernel->body->divergence & KJ_DEP_VARIES;
    return is_plain(e) && !(kj_dep(deps, e) & KJ_DEP_VARIES) && !(left && kj_may_fail(e));
}

bool kj_loads(const kj_texpr *e, bool (*which)(const kj_tarray *a))
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    bool any = e->kind == KJ_TE_LOAD && (!which || which(e->u.load.array));
    for (int i = 0, n = kj_operands(e, operands); i < n && !any; i++)
        any = kj_loads(operands[i], which);
    return any;
}

static bool sets_common(const kj_tkernel *kernel, const kj_deps *deps, const kj_tstmt *s)
{
    const kj_var *v;
    const kj_texpr *e;
    if (s->kind == KJ_TS_DECL)
        v = s->u.decl.var, e = s->u.decl.init;
    else if (s->kind == KJ_TS_ASSIGN)
        v = s->u.assign.var, e = s->u.assign.value;
    else
        return false;
    if (e && kernel->checks & KJ_CHECKS_WATCHED &&
        kj_loads(e, NULL)) /* each thread does: that is told */
        return false;
    return !(deps->var[v->id] & KJ_DEP_VARIES) && (!e || kj_is_common(kernel, deps, e));
}

bool kj_asks_once(const kj_tkernel *kernel, const kj_deps *deps, const kj_tstmt *s)
{
    switch (s->kind) {
    case KJ_TS_IF: return kj_is_common(kernel, deps, s->u.if_.test);
    case KJ_TS_WHILE: return kj_is_common(kernel, deps, s->u.while_.test);
    case KJ_TS_FOR:
        return kj_is_common(kernel, deps, s->u.for_.start) &&
               kj_is_common(kernel, deps, s->u.for_.stop) &&
               kj_is_common(kernel, deps, s->u.for_.step);
    default: return false;
    }
}

/* A loop that turns as often for all threads, and sets only what they have in common. */
static bool turns_once(const kj_tkernel *kernel, const kj_deps *deps, const kj_tstmt *s)
{
    if (s->kind != KJ_TS_FOR || s->barrier || s->divergence & KJ_DEP_VARIES ||
        kernel->checks & KJ_CHECKS_WATCHED || !kernel->body->barrier ||
        !kj_asks_once(kernel, deps, s))
        return false;
    for (const kj_tstmt *t = s->u.for_.body; t; t = t->next)
        if (!kj_runs_once(kernel, deps, t))
            return false;
    return true;
}

bool kj_runs_once(const kj_tkernel *kernel, const kj_deps *deps, const kj_tstmt *s)
{
    return sets_common(kernel, deps, s) || turns_once(kernel, deps, s);
}

bool kj_can_wait(const kj_tstmt *s)
{
    const kj_texpr *e = s->kind == KJ_TS_DECL ? s->u.decl.init : NULL;
    return s->kind == KJ_TS_ARRAY ||
           (s->kind == KJ_TS_DECL &&
            (!e || (is_plain(e) && !kj_may_fail(e) && !kj_loads(e, NULL))));
}
